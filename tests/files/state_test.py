#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""States that samples/files/state.h writes are for numpy what the page in samples/files/README.md
says, by its own code, place by place; and what numpy and json write is read.

usage: state_test.py PROGRAM    (test_state, with the words read and write)
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy
except ImportError:
    print('SKIP: no numpy')
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
with open(os.path.join(ROOT, 'samples', 'files', 'README.md'), encoding='utf-8') as page:
    code = re.findall(r'^```python\n(.*?)^```$', page.read(), re.M | re.S)
assert len(code) == 1 and 'def load_state' in code[0]
names = {}
exec(compile(code[0], 'README.md', 'exec'), names)  # pylint: disable=exec-used


def cells(rows, level):
    """The cells of a fractal in the order of compact storage: replica by replica."""
    if level == 0:
        return [(0, 0)]
    below, sx, sy = cells(rows, level - 1), len(rows[0]) ** (level - 1), len(rows) ** (level - 1)
    return [(bx * sx + x, by * sy + y) for by, row in enumerate(rows) for bx, c in enumerate(row)
            if c == '#' for x, y in below]


def program(*words):
    """(exit status, what it said)."""
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


wrong = []


def check(right, *what):
    """Notes what is wrong."""
    if not right:
        wrong.append(what)


def check_state(path, rows, level, word_level, code_of, values):
    """A state that the program writes, of bytes i * 7 % 251, but for idle bits."""
    what = (rows, level, word_level, code_of, values)
    status, said = program('write', path, rows, str(level), str(word_level), code_of, str(values))
    check(status == 0, *what, said)
    about, x, y, got = names['load_state'](path)
    places = cells(rows.split('/'), level)
    check(list(zip(x.tolist(), y.tolist())) == places, *what, 'places')
    raw = numpy.frombuffer(bytes(i * 7 % 251 for i in range(about['elements'] * values
                                                            * int(code_of[1]))), code_of)
    if word_level >= 0:
        count = len(raw)  # idle bits are cleared by both, and looked at by neither
        want = [int(raw[i % count]) >> i // count & 1 for i in range(len(places))]
        check(got.tolist() == want, *what, 'bits')
    else:
        shape = (len(places), values) if values > 1 else (len(places),)
        check(got.shape == shape and got.tobytes() == raw.tobytes(), *what, 'values')
    # numpy and json write it again, in another form: it is read
    numpy.save(path, numpy.load(path))
    with open(path[:-3] + 'json', 'w', encoding='ascii') as file:
        json.dump(dict(reversed(about.items())), file)
    check(program('read', path) == (0, f"{rows} level {level}, {about['layout']}, "
                                    f"{about['elements']} elements, step 0\n"), *what, 'again')


def check_made(path):
    """A state that Python makes alone, then with values that are others."""
    array = numpy.arange(81, dtype='f8')
    about = {'format': 'threadmap compact state 1', 'fractal': '#./##', 'k': 3, 'sx': 2, 'sy': 2,
             'level': 4, 'layout': 'cells', 'word_level': 0, 'type': 'f8', 'values': 1,
             'elements': 81, 'step': 12, 'crc32': f'{zlib.crc32(array):08x}'}
    with open(path[:-3] + 'json', 'w', encoding='ascii') as file:
        json.dump(about, file)
    numpy.save(path, array)
    check(program('read', path) == (0, '#./## level 4, cells, 81 elements, step 12\n'), 'made')
    numpy.save(path, array + 1)
    check('its CRC-32 is' in program('read', path)[1], 'another checksum is read')
    numpy.save(path, array.astype('>f8'))
    check('other byte order' in program('read', path)[1], 'another byte order is read')
    try:
        names['load_state'](path)
        check(False, 'load_state takes another checksum')
    except ValueError:
        pass


with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, 'state.npy')
    for which in ('#./##', '###/#.#/###', '#.#', '#..#/####/####/#..#', '#'):
        for r in range(4):
            check_state(name, which, r, -1, 'u1 i2 u4 u8'.split()[r], 1 + r % 2 * 2)
    for which, r, j, kind in (('#./##', 5, 0, 'u2'), ('#./##', 5, 2, 'u2'),
                              ('###/#.#/###', 3, 2, 'u8'), ('#.#', 5, 5, 'u4'),
                              ('#.#', 7, 4, 'u2'), ('#', 9, 9, 'u2')):
        check_state(name, which, r, j, kind, 1)
    check_made(name)
print('\n'.join(map(str, wrong)))
print(f'state_test: {len(wrong)} wrong')
sys.exit(bool(wrong))
