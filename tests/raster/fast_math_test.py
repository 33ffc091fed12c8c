#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Labels, floods and spill levels are the same instructions with --use_fast_math, which takes floats
below 2^-126 for 0: they compare the bits of floats, and convert them by instructions without .ftz.
Reads their PTX.

A kernel that compares floats as floats must differ, so that the test is not blind.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../include')
HEADERS = ('flood', 'label', 'label3', 'label_measure', 'spill')
CONTROL = 'extern "C" __global__ void control(const float *f, int *out) { *out = *f == 0; }\n'


def kernels(source, *flags):
    """The body of each kernel and function."""
    done = subprocess.run(['nvcc', '-std=c++17', '-arch=sm_90', '-ptx', '-I', INCLUDE, *flags, source,
                           '-o', '-'], stdout=subprocess.PIPE, text=True, check=True)
    bodies = re.split(r'^(?:\.visible )?\.(?:entry|func)\b', done.stdout, flags=re.M)[1:]
    return {re.search(r'\w*(tmapi_\w+|control)', body).group(): body for body in bodies}


def main():
    if not shutil.which('nvcc'):
        print('SKIP: no nvcc')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'raster.cu')
        with open(source, 'w', encoding='ascii') as file:
            file.write(''.join(f'#include <threadmap/raster/{name}.h>\n' for name in HEADERS) + CONTROL)
        plain, fast = kernels(source), kernels(source, '-use_fast_math')
    other = sorted(name for name, body in plain.items() if fast.get(name) != body)
    print(f'{len(plain)} kernels and functions; other with -use_fast_math: {" ".join(other)}')
    sys.exit(other != ['control'] or len(plain) < 20)


main()
