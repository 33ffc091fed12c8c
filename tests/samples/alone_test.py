#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles each sample, and explore, by the line in its top comment, a sample in a folder that
holds include/, samples/check.h, samples/picture.h and, for those that read files of others,
samples/files. Also checks that samples are short, numbered without gaps, and have the snippets that
documents quote."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

LINES = range(30, 165)  # of a sample
SNIPPETS = {
    '01': ['first-map', 'first-launch'],
    '02': ['each', 'each-launch'],
    '03': ['update', 'fold', 'fold-launch'],
    '04': [],
    '05': ['stencil'],
    '06': ['pairs', 'pairs-launch'],
    '07': ['distances'],
    '08': [],
    '09': ['warp-sum'],
    '10': [],
    '11': ['ask', 'ask-launch'],
    '12': ['mandelbrot'],
    '13': [],
    '14': ['each-pair'],
    '15': ['farthest-pair', 'farthest-pair-launch'],
    '16': ['radius-graph'],
    '17': ['rows'],
    '18': ['own-metric', 'own-metric-launch'],
    '19': ['matrix-and-clusters'],
    '20': ['flood'],
    '21': ['compact-life', 'compact-window'],
    '22': [],
    '23': [],
    '24': ['ltm-rsqrt'],
    '25': [],
    '26': ['components'],
    '27': ['axilrod-teller'],
    '28': ['epistasis'],
    '29': [],
    '30': ['each3', 'each3-launch'],
    '31': [],
    '32': [],
    '33': ['turned-launch'],
    '34': ['near-list', 'near-graph', 'near-list-launch', 'near-graph-launch'],
    '35': ['near-rows'],
    '36': ['friends'],
    '37': ['nearest'],
    '38': ['rmsd-and-clusters'],
    '39': ['spill'],
    '41': ['segmentation'],
    '42': [],
    '43': [],
}
# What a sample must not compile with: its text, what replaces it, and what the compiler then says.
REFUSED = {'14': ('SIDE = 30,', 'SIDE = 1001,', 'more points need several launches')}
TIMED = ['29']  # compares the times of two launches
READERS = ['19', '20', '38', '39']  # take the name of a file, and include samples/files
root = os.environ['TMAP_ROOT']
samples = sorted((os.path.relpath(path, root)
                  for path in glob.glob(os.path.join(root, 'samples', '*', '[0-9]*.cu'))),
                 key=os.path.basename)
tool = os.path.join('samples', 'explore', 'explore.cu')
nvcc = shutil.which('nvcc')


def text_of(path):
    with open(os.path.join(root, path), encoding='utf-8') as file:
        return file.read()


def check_text(path):
    """What is wrong with the text of a sample."""
    text = text_of(path)
    number = os.path.basename(path)[:2]
    reads = number in READERS
    if text.count('\n') not in LINES:
        yield f'{text.count(chr(10))} lines, not {LINES[0]} to {LINES[-1]}'
    beside = re.findall(r'#include "(.*)"', text)
    if not all(name in ('../check.h', '../picture.h') or reads and name.startswith('../files/')
               for name in beside):
        yield 'includes a file that is neither check.h nor picture.h'
    if 'argc' in text and not reads or 'cudaEvent' in text and number not in TIMED:
        yield 'has options or times'
    inside = re.findall(r'^ *// \[snippet: (\S+)\]\n(?:(?! *// \[).*\n)+ *// \[/snippet\]$', text,
                        re.M)
    if inside != SNIPPETS.get(number) or len(re.findall(r'// \[/?snip', text)) != 2 * len(inside):
        yield f'snippets {inside} instead of {SNIPPETS.get(number)}'


def check_compile(path):
    """What nvcc says to the line in the top comment, for an architecture that needs no GPU here."""
    lines = re.findall(r'^// (nvcc .*)$', text_of(path), re.M)
    name = r'samples/explore/\*' if path == tool else re.escape(path[:-3])
    form = r'nvcc -O3 -arch=native -I include ' + name + r'\.cu -o \w+'
    if len(lines) != 1 or not re.fullmatch(form, lines[0]):
        return 'no line, or another one, that compiles it'
    if not nvcc:
        return ''
    # To PTX without the optimizer, which is six times as fast; the same sources are compiled for the
    # CPU machine, and for the GPU where there is one, and run there.
    command = lines[0].replace('-O3 -arch=native', '-ptx -Xcicc -O0 -arch=compute_75 -Werror '
                               'all-warnings').rpartition(' -o ')[0]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(root, 'include'), os.path.join(folder, 'include'))
        if path == tool:  # which stands on the files of its folder, and writes as benchmarks do
            shutil.copytree(os.path.join(root, 'samples'), os.path.join(folder, 'samples'))
            os.mkdir(os.path.join(folder, 'bench'))
            shutil.copy(os.path.join(root, 'bench', 'output.h'), os.path.join(folder, 'bench'))
        else:
            os.makedirs(os.path.dirname(os.path.join(folder, path)))
            for file in (path, 'samples/check.h', 'samples/picture.h'):
                shutil.copy(os.path.join(root, file), os.path.join(folder, file))
            if os.path.basename(path)[:2] in READERS:
                shutil.copytree(os.path.join(root, 'samples', 'files'),
                                os.path.join(folder, 'samples', 'files'))
        r = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True,
                           check=False)
        said = (r.stdout + r.stderr).strip()
        if r.returncode or said:
            return f'{command}\n{said}'
        old, new, why = REFUSED.get(os.path.basename(path)[:2], (None, None, None))
        if old is None:
            return ''
        with open(os.path.join(folder, path), 'w', encoding='utf-8') as file:
            file.write(text_of(path).replace(old, new))
        r = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True,
                           check=False)
        return '' if r.returncode and why in r.stderr else f'compiles with {new}'


problems = [f'{path}: {problem}' for path in samples for problem in check_text(path)]
numbers = [os.path.basename(path)[:2] for path in samples]
if numbers != sorted(SNIPPETS):
    problems.append(f'samples {numbers}')
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    paths = [tool, *samples]  # the longest first
    for path, problem in zip(paths, pool.map(check_compile, paths)):
        if problem:
            problems.append(f'{path}: {problem}')
print('\n'.join(problems))
if not problems and not nvcc:
    print('SKIP: no nvcc')
    sys.exit(77)
print(f'{len(samples)} samples and explore, {len(problems)} problems')
sys.exit(1 if problems else 0)
