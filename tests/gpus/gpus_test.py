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

MPIRUN, MACHINE = sys.argv[1:3]
if not sys.argv[3:]:
    print('SKIP: no MPI' + (' (libopenmpi-dev, openmpi-bin)' if MACHINE == 'cpu' else ' or no NCCL'))
    sys.exit(77)
PROGRAMS = {re.sub('-cpu$', '', os.path.basename(path)): path for path in sys.argv[3:]}
SAMPLE, LIFE, MATRIX, LABELS = [PROGRAMS['gpus_' + name] for name in ('energy', 'life', 'matrix', 'labels')]
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
           OMPI_MCA_btl_base_warn_component_unused='0', PMIX_MCA_gds='hash',
           SIMT_DEVICES=os.environ.get('SIMT_DEVICES', '64'))
SECONDS = 120  # in which all ranks must have ended after one has failed; on an idle machine they take 2
failed = []
runs = 0


def start(*parts, **more):
    """Starts mpirun. parts: (ranks, program, arguments...), several for ranks that differ."""
    command = [MPIRUN, '--oversubscribe', '--bind-to', 'none']
    for i, (ranks, *program) in enumerate(parts):
        command += [':'] * (i > 0) + ['-n', str(ranks)] + [str(word) for word in program]
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
    """All ranks end soon, not with status 0, and one says `line`."""
    text, failing = ended(start(*parts, **more))
    check(what, failing and line in text, text)


def killed(what, ranks, *program):
    """One rank is killed in the middle of its work: the others end."""
    process = start((ranks, *program))
    names = []
    while len(names) < ranks and process.poll() is None:
        time.sleep(0.2)
        names = subprocess.run(['pgrep', '-f', '^' + re.escape(str(program[0]))],
                               capture_output=True, text=True, check=False).stdout.split()
    time.sleep(1.5)
    if len(names) == ranks:
        os.kill(int(names[-1]), signal.SIGKILL)
    text, failing = ended(process)
    check(what, len(names) == ranks and failing, text)


def main():
    most = 64
    if MACHINE == 'gpu':
        listed = subprocess.run(['nvidia-smi', '-L'], capture_output=True, text=True, check=False)
        most = listed.stdout.count('GPU ')
        if most < 2:
            print(f'SKIP: {most} GPUs here, and two are needed')
            sys.exit(77)
    size = 1200 if MACHINE == 'cpu' else 50000
    level, steps = (9, 10) if MACHINE == 'cpu' else (18, 100)
    points, side = (700, 700) if MACHINE == 'cpu' else (100000, 32768)
    energies, states, lakes = set(), set(), set()
    for ranks in (1, 2, 3, 4, 7):
        if ranks <= most:
            for test in ('test_nccl', 'test_stripes'):
                good(f'{test} with {ranks} ranks', (ranks, PROGRAMS[test]))
            text = good(f'sample with {ranks} ranks', (ranks, SAMPLE, size))
            energies.update(re.findall(r'energy \S+', text))
            text = good(f'life with {ranks} ranks', (ranks, LIFE, level, steps))
            states.update(re.findall(r'hash \S+', text))
            good(f'matrix with {ranks} ranks', (ranks, MATRIX, points))
            text = good(f'labels with {ranks} ranks', (ranks, LABELS, side))
            lakes.update(re.findall(r'\d+ lakes', text))
    check('the same energy with any number of ranks', len(energies) == 1, sorted(energies))
    check('the same state with any number of ranks', len(states) == 1, sorted(states))
    check('the same lakes with any number of ranks', len(lakes) == 1, sorted(lakes))
    good('more ranks than rows', (min(most, 7), LABELS, 5))
    good('more ranks than tiles', (min(most, 7), LIFE, 4, 3))
    good('more ranks than pairs', (min(most, 7), SAMPLE, 2))

    two = min(most, 3) - 1
    bad('a rank with other work', 'the ranks have different plans', (1, SAMPLE, size),
        (two, SAMPLE, size + 1))
    bad('a wrong argument', 'the number of charges', (two + 1, SAMPLE, -1))
    bad('a rank with another map', 'the ranks have different plans', (1, LABELS, 300),
        (two, LABELS, 301))
    bad('a wrong side', 'the side of the map', (two + 1, LABELS, 0))
    devices = 4 if MACHINE == 'cpu' else most
    bad('more ranks than GPUs', 'more processes than GPUs', (devices + 1, SAMPLE, size),
        SIMT_DEVICES=str(devices))
    if MACHINE == 'cpu':
        bad('a rank without memory', 'cudaMalloc', (1, '/usr/bin/env', 'SIMT_MEMORY=4096', SAMPLE, size),
            (two, SAMPLE, size))
    killed('a rank that is killed', two + 1, SAMPLE, 20000 if MACHINE == 'cpu' else 3000000)

    if failed:
        sys.exit(f'gpus_test: {len(failed)} of {runs} checks failed')
    print(f'gpus_test: {runs} checks')


main()
