#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs explore compact over fractals, levels, windows and files of states, whose cells are compared
with Life as it is played here, place by place; and over bad input."""
import ast
import os
import struct

from harness import CATALOGUE, QUICK, bad, bad_options, check_picture, fail, good, run, test

ROWS = dict(CATALOGUE)
NONE = ('--picture', 'none')


def places(rows, level):
    """The cells in the order of compact storage."""
    if level == 0:
        return [(0, 0)]
    sx, sy = len(rows[0]) ** (level - 1), len(rows) ** (level - 1)
    below = places(rows, level - 1)
    return [(bx * sx + x, by * sy + y) for by, row in enumerate(rows) for bx, c in enumerate(row)
            if c == '#' for x, y in below]


def load(path):
    """The fractal, level and step of a state of words, and its cells as a list of 0 and 1."""
    with open(path, 'rb') as file:
        data = file.read()
    start = 10 + struct.unpack_from('<H', data, 8)[0]
    (name, code), = ast.literal_eval(data[10:start].decode())['descr']
    rows, _, level, _, step = name.split()
    code, cells = {'u2': 'H', 'u4': 'I', 'u8': 'Q'}[code[1:]], rows.count('#') ** int(level)
    words = [word for word, in struct.iter_unpack('<' + code, data[start:])]
    return (rows, int(level), int(step)), [words[i % len(words)] >> i // len(words) & 1
                                           for i in range(cells)]


def save(path, name, code, values):
    """A state of cells."""
    head = f"{{'descr': [('{name}', '{code[0]}')], 'fortran_order': False, " \
        f"'shape': ({len(values)},), }}"
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\1\0\xb6\0' + head.ljust(181).encode() + b'\n'
                   + struct.pack(f'<{len(values)}{code[1]}', *values))


def remove(*names):
    for name in names:
        os.remove(name)


def life(cells, state, steps, born=(3,), survive=(2, 3)):
    """Life among cells alone."""
    for _ in range(steps):
        living = {c for c, alive in zip(cells, state) if alive}
        around = [sum((x + i, y + j) in living for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
                  for x, y in cells]
        state = [int(n in (survive if alive else born)) for n, alive in zip(around, state)]
    return state


def check_life(name, level, steps, rule=(), **kwargs):
    """A random state, and another one so many steps later, of which the first is the beginning."""
    rows = ROWS.get(name, name)
    more = ('--rule', rule) if rule else ()
    good('compact', '--fractal', name, '--level', str(level), '--steps', '0', '--out', 'a.npy',
         '--seed', str(level), *NONE)
    good('compact', '--state', 'a.npy', '--steps', str(steps), '--out', 'b.npy', *more, *NONE)
    try:
        (_, first), (about, last) = load('a.npy'), load('b.npy')
        if life(places(rows.split('/'), level), first, steps, **kwargs) != last or \
                about != (rows, level, steps):
            fail(f'{name} {level}: another state')
        if len(first) > 50 and not 0.3 < sum(first) / len(first) < 0.7:
            fail(f'{name} {level}: {sum(first)} of {len(first)}')
        remove('a.npy', 'b.npy')
    except (OSError, KeyError, ValueError, struct.error) as problem:
        fail(f'{name} {level}: {problem}')


def check_cells():
    """States of bytes, which become words, and of floats."""
    cells = [(i * 5 % 7 == 0) * (i % 255) for i in range(243)]
    save('a.npy', '#./## level 5 step 7', ('|u1', 'B'), cells)
    good('compact', '--state', 'a.npy', '--steps', '4', '--out', 'b.npy', *NONE)
    about, last = load('b.npy')
    want = life(places(['#.', '##'], 5), [int(c != 0) for c in cells], 4)
    if last != want or about != ('#./##', 5, 11):
        fail('a state of bytes')
    save('a.npy', '#./## level 5 step 7', ('<f4', 'f'), [i / 8 for i in range(243)])
    for zoom in range(6):
        good('compact', '--state', 'a.npy', '--zoom', str(zoom), '--picture', 'c')
        check_picture('c', lambda w, h: w == 512 and h == 584, 'floats')
    bad('compact', '--state', 'a.npy', '--steps', '1')
    good('compact', '--state', 'a.npy', '--out', 'b.npy', *NONE)
    with open('a.npy', 'rb') as before, open('b.npy', 'rb') as after:
        if after.read()[-4 * 243:] != before.read()[-4 * 243:]:
            fail('a state of floats is saved as another one')
    remove('a.npy', 'b.npy')


def check_windows():
    """Pixels are as large as they say."""
    for args, size in ((('--size', '300x7'), (600, 86)), (('--size', '4000x2'), (4000, 74)),
                       (('--at', '1000,1020'), (528, 160)), (('--zoom', '10'), (512, 584)),
                       (('--zoom', '3', '--at', '100,100', '--size', '64x64'), (512, 584))):
        good('compact', '--level', '10', '--picture', 'c', *args)
        check_picture('c', lambda w, h, want=size: (w, h) == want, args)


def refused():
    for level in ('-1', 'x', '65', '64', '50', '41', '35', ''):
        bad('compact', '--level', level)
    for fractal in ('##\n#', '', 'circle'):
        bad('compact', '--fractal', fractal)
    for zoom in ('-1', '11', 'x', ''):
        bad('compact', '--level', '10', '--zoom', zoom)
    for at in ('1024,0', '0,1024', '-1,0', '1', '1,', '1,1,1', 'x', '', '99999999999,0'):
        bad('compact', '--level', '10', '--at', at)
    for size in ('0x1', '1x0', '4097x1', '1x4097', '1', '1x', '-1x1', '1x1x1', '', '100000x1'):
        bad('compact', '--size', size)
    for option, value in (('--rule', 'B9/S'), ('--steps', '-1'), ('--steps', '4294967296'),
                          ('--seed', 'x'), ('--picture', 'none/a'), ('--out', 'none/a.npy'),
                          ('--state', 'a.npy')):
        bad('compact', option, value)
    bad('compact', '--picture', 'a.npy', '--out', 'a.npy')
    good('compact', '--level', '3', '--out', 'a.npy', *NONE)
    bad('compact', '--state', 'a.npy', '--out', 'a.npy')
    bad('compact', '--state', 'a.npy', '--picture', './a.npy')
    bad('compact', '--state', 'a.npy', '--fractal', 'gasket')
    bad('compact', '--state', 'a.npy', '--level', '3')
    with open('a.npy', 'rb') as file:
        whole = file.read()
    with open('b.npy', 'w', encoding='ascii') as file:  # an old file stays if a run fails
        file.write('old')
    for content in (whole[:-1], whole + b'\0', b'', whole[:64],  # cut, or too long
                    whole.replace(b'step', b'sted'), whole.replace(b'#./##', b'##/##'),
                    whole.replace(b'level 3', b'level 4'), whole[:-1] + b'\xff'):  # an idle bit
        with open('a.npy', 'wb') as file:
            file.write(content)
        bad('compact', '--state', 'a.npy', '--out', 'b.npy')
        with open('a.npy', 'rb') as state, open('b.npy', 'rb') as file:
            if state.read() != content or file.read() != b'old':
                fail('a run that failed has changed its files')
    good('compact', '--level', '3', '--out', 'b.npy', *NONE)
    if load('b.npy')[0] != ('#./##', 3, 16):
        fail('a run did not replace its file')
    remove('a.npy', 'b.npy')
    save('a.npy', '#./## level 3 step 0', ('<f8', 'd'), range(27))
    bad('compact', '--state', 'a.npy')
    remove('a.npy')
    bad_options('compact', '--level', '3')
    said = run('compact', '--level', '28', '--steps', '0').stderr
    if '--level asks for' not in said or 'GB' not in said:
        fail('the message for too large a level', said)


def main():
    check_life('gasket', 5, 3)
    check_life('candy', 2, 2)
    check_cells()
    if QUICK:
        return
    for name in ROWS:
        for level in (0, 1, 2, 3):
            check_life(name, level, 5)
    for name in ('##./#.#', '#', '#/#', '.#/##'):
        check_life(name, 4, 4)
    check_life('carpet', 3, 20, 'B1357/S2468', born=(1, 3, 5, 7), survive=(2, 4, 6, 8))
    good('compact')
    check_picture('compact.' + ('png' if os.path.exists('compact.png') else 'ppm'),
                  lambda w, h: (w, h) == (1024, 1096), 'default')
    check_windows()
    refused()


test(main)
