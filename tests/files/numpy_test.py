#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""numpy's .npy files of every type, order and number of dimensions, read and written again by
samples/files/npy.h, are the same arrays for numpy.

usage: numpy_test.py PROGRAM    (test_heights, which does so with two paths)
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print('SKIP: no numpy')
    sys.exit(77)

wrong = 0
with tempfile.TemporaryDirectory() as folder:
    before, after = (os.path.join(folder, name) for name in ('before.npy', 'after.npy'))
    for code in ('|u1', '|i1', '<u2', '>u2', '<i2', '>i2', '<i4', '>i4', '<f4', '>f4', '<f8',
                 '>f8'):
        for shape, version in (((5,), 1), ((0,), 2), ((3, 4), 3), ((1, 0), 1), ((2, 3, 5), 2)):
            array = numpy.arange(numpy.prod(shape)) * 7.3 + (0 if 'u' in code else -20)
            array = array.astype(code).reshape(shape)
            with open(before, 'wb') as file:
                numpy.lib.format.write_array(file, array, version=(version, 0))
            r = subprocess.run([sys.argv[1], before, after], capture_output=True, text=True,
                               check=False)
            got = numpy.load(after) if r.returncode == 0 else None
            if got is None or got.dtype != array.dtype.newbyteorder('=') or \
                    got.shape != shape or not (got == array).all():
                wrong += 1
                print(f'{code} {shape} version {version}: {r.stderr}{got}')
print(f'numpy_test: {wrong} arrays differ')
sys.exit(wrong != 0)
