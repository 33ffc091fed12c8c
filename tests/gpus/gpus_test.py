#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs for several GPUs, with several numbers of ranks, and what happens when one fails.

usage: gpus_test.py MPIRUN cpu|gpu PROGRAM...

cpu: each rank is a process of the CPU machine. gpu: 1, 2, ... ranks, up to the number of GPUs. Without programs, which need
MPI (and NCCL), the exit status is 77.
"""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../bench'))
import gpus as bench  # noqa: E402

MPIRUN, MACHINE = sys.argv[1:3]
if not sys.argv[3:]:
    print('SKIP: no MPI' + (' (libopenmpi-dev, openmpi-bin)' if MACHINE == 'cpu' else ' or no NCCL'))
    sys.exit(77)
PROGRAMS = {re.sub('-cpu$', '', os.path.basename(path)): path for path in sys.argv[3:]}
SAMPLE, LIFE, MATRIX, LABELS, FRAMES, MANDELBROT = [
    PROGRAMS['gpus_' + name] for name in ('energy', 'life', 'matrix', 'labels', 'frames', 'mandelbrot')]
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
           OMPI_MCA_btl_base_warn_component_unused='0', PMIX_MCA_gds='hash', GPUS_SECONDS='100',
           SIMT_DEVICES=os.environ.get('SIMT_DEVICES', '64'))
SECONDS = 120  # in which all ranks must have ended after one has failed; on an idle machine they take 2
failed = []
runs = 0


def start(*parts, **more):
    """Starts ranks. parts: (ranks, program, arguments...), several for processes that differ; or
    (-ranks, program, arguments...): threads of one process."""
    command = [MPIRUN, '--oversubscribe', '--bind-to', 'none']
    for i, (ranks, *program) in enumerate(parts):
        command += [':'] * (i > 0) + ['-n', str(ranks)] + [str(word) for word in program]
    if parts[0][0] <= 0:
        ranks, program, *words = parts[0]
        command = [program, '--threads', str(-ranks)] + [str(word) for word in words]
    return subprocess.Popen(command, env=dict(ENV, **more), text=True, start_new_session=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def ended(process):
    """The output of ranks of which one fails, and whether they have ended by themselves, with an error."""
    try:
        text = process.communicate(timeout=SECONDS)[0]
        return text, process.returncode != 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0] + f'\nstill running after {SECONDS} s', False


def check(what, right, text):
    global runs
    runs += 1
    if not right:
        failed.append(what)
        print(f'FAILED: {what}\n{text}')


def good(what, *parts):
    process = start(*parts)
    text = process.communicate()[0]
    check(what, process.returncode == 0, text)
    return text


def bad(what, line, *parts, **more):
    """All ranks end soon, not with status 0, and one says `line`; of threads there is no other line."""
    text, failing = ended(start(*parts, **more))
    check(what, failing and line in text and (parts[0][0] > 0 or text.count('\n') == 1), text)


def struck(what, sign, line, ranks, *program, **more):
    """One rank receives a signal in the middle of its work: the others end, and one says `line`."""
    process = start((ranks, *program), **more)
    names = []
    while len(names) < ranks and process.poll() is None:
        time.sleep(0.2)
        names = subprocess.run(['pgrep', '-f', '^' + re.escape(str(program[0]))],
                               capture_output=True, text=True, check=False).stdout.split()
    time.sleep(1.5 + 2 * int(more.get('GPUS_SECONDS', 0)))
    working = len(names) == ranks and process.poll() is None
    if working:
        os.kill(int(names[-1]), sign)
    text, failing = ended(process)
    check(what, working and failing and line in text, text)


def efficiencies():
    """What bench/gpus.py says of two times as fast, of all but a fill, and of other amounts of work."""
    rows = [bench.row_of(('pdist', size, (), weak), gpus, f'x\n{gpus} GPUs: {ms} ms\n1.00 TB/s, 80.0% of a fill')
            for size, gpus, weak, ms in ((100, 1, 0, 8.0), (100, 2, 0, 4.0), (10, 1, 1, 1.0), (200, 4, 4, 10.0))]
    got = [(row['efficiency_pct'], row['fill_pct']) for row in bench.efficiencies(rows)]
    check('efficiencies', got == [(100.0, 80.0), (100.0, 80.0), (100.0, 80.0), (80.0, 80.0)], got)


def main():
    most = 64
    efficiencies()
    if MACHINE == 'gpu':
        listed = subprocess.run(['nvidia-smi', '-L'], capture_output=True, text=True, check=False)
        most = listed.stdout.count('GPU ')
        if most < 2:
            print(f'SKIP: {most} GPUs here, and two are needed')
            sys.exit(77)
    size = 1200 if MACHINE == 'cpu' else 50000
    level, steps = (9, 10) if MACHINE == 'cpu' else (18, 100)
    points, side = (700, 700) if MACHINE == 'cpu' else (100000, 32768)
    frames, pixels = ((1100, 8), 300) if MACHINE == 'cpu' else ((20000, 200), 16384)
    samples = ((SAMPLE, (size,), r'energy \S+'), (LIFE, (level, steps), r'hash \S+'),
               (MATRIX, (points,), r'[\d.]+ GB'), (LABELS, (side,), r'\d+ lakes'),
               (FRAMES, frames, r'hash [^,]+'), (MANDELBROT, (pixels,), r'hash \S+'))
    found = {program: set() for program, _, _ in samples}
    counts = [ranks for ranks in (1, 2, 3, 4, 7) if ranks <= most]
    for ranks in counts:
        for test in ('test_nccl', 'test_stripes'):
            good(f'{test} with {ranks} ranks', (ranks, PROGRAMS[test]))
    for program, words, shown in samples:
        for ranks in counts + [-ranks for ranks in counts]: # processes, then threads
            text = good(f'{program} with {ranks} ranks', (ranks, program, *words))
            found[program].update(re.findall(shown, text))
            line = f'{abs(ranks)} GPU{"s" * (abs(ranks) > 1)}: '
            check('the time of a sample', line in text and bench.time_of(text, abs(ranks)) is not None, text)
        check(f'{program}: the same with any number of ranks', len(found[program]) == 1, found[program])
    many = min(most, 7)
    for ranks in (many, -many):
        good('more ranks than rows', (ranks, LABELS, 5))
        good('more ranks than tiles', (ranks, LIFE, 4, 3))
        good('more ranks than pairs', (ranks, SAMPLE, 2))
        good('more ranks than elements', (ranks, MATRIX, 2))
        good('more ranks than squares', (ranks, FRAMES, 3, 2))
        good('more ranks than pixels', (ranks, MANDELBROT, 1))

    two = min(most, 3) - 1
    for program, (first, *words), _ in samples:
        bad(f'a rank with other work: {program}', 'the ranks have different plans',
            (1, program, first, *words), (two, program, first + 1, *words))
        for ranks in (two + 1, -two - 1):
            bad(f'a wrong argument: {program}', ': arguments: the ', (ranks, program, -1))
    bad('a rank with other steps', 'the ranks have different plans', (1, LIFE, 4, 3), (two, LIFE, 4, 5))
    devices = 4 if MACHINE == 'cpu' else most
    bad('more ranks than GPUs', 'more processes than GPUs', (devices + 1, SAMPLE, size),
        SIMT_DEVICES=str(devices))
    for ranks in (devices + 1, 0):
        bad(f'{ranks} threads', 'the number of threads', (-ranks, SAMPLE, size), SIMT_DEVICES=str(devices))
    for ranks in (two + 1, -two - 1):
        bad('more than the memory', 'tmap_share_memory_create', (ranks, MATRIX, 4000000))
    if MACHINE == 'cpu':
        bad('a rank without memory', 'cudaMalloc', (1, '/usr/bin/env', 'SIMT_MEMORY=4096', SAMPLE, size),
            (two, SAMPLE, size))
        bad('threads without memory', 'cudaMalloc', (-two - 1, SAMPLE, size), SIMT_MEMORY='4096')
    struck('a rank that is killed', signal.SIGKILL, '', two + 1, SAMPLE, 20000 if MACHINE == 'cpu' else 3000000)
    struck('a rank that stops', signal.SIGSTOP, 'waiting for the GPU: a rank does not answer', two + 1, LIFE,
           level, 1000000, GPUS_SECONDS='3', SIMT_NCCL_SECONDS='3')
    if MACHINE == 'cpu':  # a call that does not return
        struck('a rank that stops, and others in NCCL', signal.SIGSTOP, 'a call does not return', two + 1,
               LIFE, level, 1000000, GPUS_SECONDS='3')

    if failed:
        sys.exit(f'gpus_test: {len(failed)} of {runs} checks failed')
    print(f'gpus_test: {runs} checks')


main()
