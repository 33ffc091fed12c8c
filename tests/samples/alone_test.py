#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies each sample and include/ into an empty folder and compiles it there with the line in its
top comment; also checks that it is short and that its snippets are closed."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

root = os.environ['TMAP_ROOT']
samples = sorted(f for f in os.listdir(os.path.join(root, 'samples')) if f.endswith('.cu'))
nvcc = shutil.which('nvcc')


def check(name):
    """What is wrong with a sample."""
    with open(os.path.join(root, 'samples', name), encoding='utf-8') as file:
        text = file.read()
    problems = []
    if text.count('\n') >= 200:
        problems.append('200 lines or more')
    if len(re.findall(r'// \[snippet: ', text)) != text.count('// [/snippet]'):
        problems.append('a snippet is not closed')
    lines = re.findall(r'^// Compile: (nvcc .*)$', text, re.M)
    if len(lines) != 1:
        problems.append('no line that compiles it')
    elif nvcc:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(root, 'samples', name), folder)
            shutil.copytree(os.path.join(root, 'include'), os.path.join(folder, 'include'))
            r = subprocess.run(lines[0], shell=True, cwd=folder, capture_output=True, text=True,
                               check=False)
            if r.returncode or 'warning' in r.stderr:
                problems.append(f'{lines[0]}\n{r.stdout}{r.stderr}')
    return problems


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = list(pool.map(check, samples))
for name, problems in zip(samples, found):
    for problem in problems:
        print(f'{name}: {problem}')
errors = sum(map(len, found))
if not errors and not nvcc:
    print('SKIP: no nvcc')
    sys.exit(77)
print(f'{len(samples)} samples, {errors} problems')
sys.exit(1 if errors else 0)
