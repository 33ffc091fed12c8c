#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/same_code.py, on the commits of a small checkout made here."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = '''// What a comment says does not matter.
static __device__ int by_three(int x) { return 3 * x; }
'''
KERNELS = '''#include "by_three.h"
static __global__ void scale(int *a) { a[threadIdx.x] = by_three(a[threadIdx.x]); }
static __global__ void __launch_bounds__(1024) reverse(int *a) {
    __shared__ int s[1024];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[1023 - threadIdx.x];
}
int main() {
    scale<<<1, 32>>>(0);
    reverse<<<1, 1024>>>(0);
    return 0;
}
'''
errors = []


def expect(what, holds, *more):
    if not holds:
        errors.append(what)
        print('FAILED:', what, *more, sep='\n    ')


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


class Checkout:
    def __init__(self, folder):
        self.folder = folder
        self.git('init', '-q')
        for name in 'bench', 'samples':
            self.write(name + '/empty', '')
        self.write('include/by_three.h', HEADER)
        self.write('tests/one/kernels.cu', KERNELS)
        shutil.copy(os.path.join(ROOT, 'tests/same_code.py'), os.path.join(folder, 'tests'))
        self.git('add', '.')
        self.git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'first')

    def git(self, *words):
        subprocess.run(['git', *words], cwd=self.folder, check=True)

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def compare(self, *words):
        return run(os.path.join(self.folder, 'tests/same_code.py'), *words)


def test_same(c):
    """Comments, names and code of the host do not matter."""
    c.write('include/by_three.h', HEADER.replace('does not matter', 'has changed'))
    result = c.compare()
    expect('a comment: nothing is compiled', result.returncode == 0 and
           '1 files, 1 of them with the same preprocessed text' in result.stdout and
           '0 kernels compared, all the same' in result.stdout, result)
    c.write('tests/one/kernels.cu', KERNELS.replace('reverse', 'turned').replace('<<<1, 32>>>(0)',
                                                                                 '<<<2, 64>>>(0)'))
    result = c.compare()
    expect('other names', result.returncode == 0 and
           result.stdout.endswith('2 kernels compared, all the same\n'), result)
    os.rename(os.path.join(c.folder, 'tests/one'), os.path.join(c.folder, 'tests/two'))
    result = c.compare('--old', 'HEAD')
    expect('a file that moved', result.returncode == 0 and
           result.stdout.endswith('2 kernels compared, all the same\n'), result)


def test_differs(c):
    c.write('tests/one/kernels.cu', KERNELS.replace('1023 - ', '1023 ^ 5 * '))
    result = c.compare()
    expect('one kernel differs, by its name', result.returncode == 1 and re.findall(
        r'(?m)^differs: .*', result.stdout) == re.findall(
            r'(?m)^differs: tests/one/kernels.cu: reverse: \d+ -> \d+ instructions.*',
            result.stdout) != [] and result.stdout.endswith('2 kernels compared, 1 differ\n'), result)
    c.write('tests/one/kernels.cu', KERNELS.replace('s[1024]', 's[2048]'))
    result = c.compare()
    expect('shared memory', result.returncode == 1 and
           re.search(r'reverse: .* \d+ -> \d+ shared', result.stdout), result)
    c.write('tests/one/kernels.cu', re.sub(r'(?s)static __global__ void scale.*?}\n',
                                           '', KERNELS).replace('scale<<<1, 32>>>(0);', ''))
    result = c.compare()
    expect('a kernel that is gone', result.returncode == 1 and
           'gone: tests/one/kernels.cu: scale' in result.stdout and
           result.stdout.endswith('1 kernels compared, 1 gone\n'), result)
    c.write('include/by_three.h', 'this is no C\n')
    result = c.compare()
    expect('a file that does not compile', result.returncode == 1 and
           'failed: tests/one/kernels.cu: ' in result.stdout, result)


def test_cache(c):
    """What was compiled once is not compiled again: here there is no compiler any more."""
    c.write('tests/one/kernels.cu', KERNELS.replace('1023 - ', '1023 ^ 5 * '))
    before = c.compare()
    fake = os.path.join(c.folder, 'commands')
    c.write('commands/ptxas', '#!/bin/sh\nexit 1\n')
    os.chmod(os.path.join(fake, 'ptxas'), 0o755)
    path = fake + os.pathsep + os.environ['PATH']
    again = run(os.path.join(c.folder, 'tests/same_code.py'), env={**os.environ, 'PATH': path})
    expect('from the cache', before.returncode == 1 and again.stdout == before.stdout,
           before, again)
    # Other code of the host gives other text and the same PTX.
    c.write('tests/one/kernels.cu', KERNELS.replace('return 0;', 'return 5;'))
    again = run(os.path.join(c.folder, 'tests/same_code.py'), env={**os.environ, 'PATH': path})
    expect('by the PTX', again.returncode == 0 and
           again.stdout.endswith('2 kernels compared, all the same\n'), again)


if not shutil.which('nvcc') or not shutil.which('git'):
    print('SKIP: there is no nvcc or no git')
    sys.exit(77)
for test in test_same, test_differs, test_cache:
    with tempfile.TemporaryDirectory() as where:
        test(Checkout(where))
print(f'same_code: {len(errors)} failures')
sys.exit(bool(errors))
