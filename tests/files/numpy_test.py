#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""numpy's .npy files of every type, order and number of dimensions are the same arrays for
samples/files/npy.h; and states that samples/files/state.h writes are
what the code in samples/files/README.md says, place by place, and are read when numpy saves them.

usage: numpy_test.py PROGRAM PROGRAM    (test_heights and test_state, which read and write with such words)
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print('SKIP: no numpy')
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
wrong = []


def program(*words):
    """Runs one of the programs; its status and what it says."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def check_arrays(path):
    """Arrays that test_heights prints."""
    for code in ('|u1', '|i1', '<u2', '>u2', '<i2', '>i2', '<i4', '>i4', '<f4', '>f4', '<f8',
                 '>f8'):
        for shape, version in (((5,), 1), ((0,), 2), ((3, 4), 3), ((1, 0), 1), ((2, 3, 5), 2)):
            array = numpy.arange(numpy.prod(shape)) * 7.3 + (0 if 'u' in code else -20)
            array = array.astype(code).reshape(shape)
            with open(path, 'wb') as file:
                numpy.lib.format.write_array(file, array, version=(version, 0))
            status, said = program(sys.argv[1], path)
            head, *values = said.splitlines()
            want = ' '.join(map(str, (code[1:], len(shape), *shape, *[1] * (3 - len(shape)))))
            if status or head != want or list(map(float, values)) != array.ravel().tolist():
                wrong.append(f'{code} {shape} version {version}: {said}')


def cells(rows, level):
    """The cells of a fractal in the order of compact storage: replica by replica."""
    if level == 0:
        return [(0, 0)]
    below, sx, sy = cells(rows, level - 1), len(rows[0]) ** (level - 1), len(rows) ** (level - 1)
    return [(bx * sx + x, by * sy + y) for by, row in enumerate(rows) for bx, c in enumerate(row)
            if c == '#' for x, y in below]


def check_state(load, path, rows, level, code):
    """A state that test_state writes, of bytes i * 7 % 251, but for idle bits, which load skips."""
    status, said = program(sys.argv[2], path, rows, str(level), code)
    if status:
        return wrong.append(f'{rows} {level} {code}: {said}')
    step, x, y, got = load(path)
    places = cells(rows.split('/'), level)
    count = len(numpy.load(path))
    raw = numpy.frombuffer(bytes(i * 7 % 251 for i in range(count * int(code[1]))), code)
    want = raw if code in ('u1', 'f4') else numpy.array(
        [int(raw[i % count]) >> i // count & 1 for i in range(len(places))])
    if step != 77 or list(zip(x.tolist(), y.tolist())) != places or \
            not numpy.array_equal(got, want, equal_nan=code == 'f4'):
        wrong.append(f'{rows} {level} {code}: other places or values')
    numpy.save(path, numpy.load(path))
    status, said = program(sys.argv[2], path)
    if status:
        wrong.append(f'{rows} {level} {code}, as numpy saves it: {said}')
    return None


with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, 'state.npy')
    check_arrays(name)
    with open(os.path.join(ROOT, 'samples', 'files', 'README.md'), encoding='utf-8') as page:
        text, = re.findall(r'^```python\n(.*?)^```$', page.read(), re.M | re.S)
    names = {}
    exec(compile(text, 'README.md', 'exec'), names)  # pylint: disable=exec-used
    for fractal in ('#./##', '###/#.#/###', '#.#', '#..#/####/####/#..#', '#'):
        for r in range(4):
            check_state(names['load_state'], name, fractal, r, ('u1', 'f4')[r % 2])
    for fractal, r, word in (('#./##', 0, 'u2'), ('#./##', 5, 'u4'), ('###/#.#/###', 3, 'u8'),
                             ('#.#', 3, 'u2'), ('#.#', 7, 'u8'), ('#', 9, 'u2')):
        check_state(names['load_state'], name, fractal, r, word)
print('\n'.join(wrong))
print(f'numpy_test: {len(wrong)} wrong')
sys.exit(bool(wrong))
