#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs explore compact over fractals, levels, windows and files of states, whose cells are compared
with Life as it is played here, place by place; and over bad input."""
import json
import os
import struct
import zlib

from harness import QUICK, bad, bad_options, check_picture, fail, good, run, test

ROWS = {'gasket': '#./##', 'carpet': '###/#.#/###', 'vicsek': '.#./###/.#.', 'x': '#.#/.#./#.#',
        'h': '#.#/###/#.#', 'cantor': '#.#', 'chandelier': '.#./###',
        'candy': '#..#/####/####/#..#', 'bottles': '.#./###/###'}
NONE = ('--picture', 'none')


def places(rows, level):
    """The cells in the order of compact storage."""
    if level == 0:
        return [(0, 0)]
    sx, sy = len(rows[0]) ** (level - 1), len(rows) ** (level - 1)
    below = places(rows, level - 1)
    return [(bx * sx + x, by * sy + y) for by, row in enumerate(rows) for bx, c in enumerate(row)
            if c == '#' for x, y in below]


def load(name):
    """The description of a state of words, and its cells as a list of 0 and 1."""
    with open(name + '.json', encoding='ascii') as file:
        about = json.load(file)
    with open(name + '.npy', 'rb') as file:
        data = file.read()[128:]
    assert f'{zlib.crc32(data):08x}' == about['crc32'], 'checksum'
    count = about['elements']
    words = struct.unpack(f"<{count}{dict(u2='H', u4='I', u8='Q')[about['type']]}", data)
    return about, [words[i % count] >> i // count & 1 for i in range(about['k'] ** about['level'])]


def save(name, rows, level, code, values):
    """A state of cells."""
    data = struct.pack(f'<{len(values)}{code[1]}', *values)
    head = f"{{'descr': '{code[0]}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    with open(name + '.npy', 'wb') as file:
        file.write(b'\x93NUMPY\1\0\x76\0' + head.ljust(117).encode() + b'\n' + data)
    about = {'format': 'threadmap compact state 1', 'fractal': rows, 'k': rows.count('#'),
             'sx': len(rows.split('/')[0]), 'sy': len(rows.split('/')), 'level': level,
             'layout': 'cells', 'word_level': 0, 'type': code[0][1:], 'values': 1,
             'elements': len(values), 'step': 7, 'crc32': f'{zlib.crc32(data):08x}'}
    with open(name + '.json', 'w', encoding='ascii') as file:
        json.dump(about, file)


def remove(*names):
    for name in names:
        for ending in ('.npy', '.json'):
            os.remove(name + ending)


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
        (about, first), (_, last) = load('a'), load('b')
        if life(places(rows.split('/'), level), first, steps, **kwargs) != last or \
                about['fractal'] != rows or load('b')[0]['step'] != steps:
            fail(f'{name} {level}: another state')
        if len(first) > 50 and not 0.3 < sum(first) / len(first) < 0.7:
            fail(f'{name} {level}: {sum(first)} of {len(first)}')
        remove('a', 'b')
    except (OSError, AssertionError, KeyError, struct.error) as problem:
        fail(f'{name} {level}: {problem}')


def check_cells():
    """States of bytes, which become words, and of floats."""
    cells = [(i * 5 % 7 == 0) * (i % 255) for i in range(243)]
    save('a', '#./##', 5, ('|u1', 'B'), cells)
    good('compact', '--state', 'a.npy', '--steps', '4', '--out', 'b.npy', *NONE)
    about, last = load('b')
    want = life(places(['#.', '##'], 5), [int(c != 0) for c in cells], 4)
    if last != want or about['step'] != 11:
        fail('a state of bytes')
    save('a', '#./##', 5, ('<f4', 'f'), [i / 8 for i in range(243)])
    for zoom in range(6):
        good('compact', '--state', 'a.npy', '--zoom', str(zoom), '--picture', 'c')
        check_picture('c', lambda w, h: w == 512 and h == 584, 'floats')
    bad('compact', '--state', 'a.npy', '--steps', '1')
    remove('a', 'b')


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
                          ('--seed', 'x'), ('--picture', 'none/a'), ('--out', 'a'),
                          ('--out', 'none/a.npy'), ('--out', '.npy'), ('--state', 'a.npy'),
                          ('--state', 'a')):
        bad('compact', option, value)
    bad('compact', '--picture', 'a.npy', '--out', 'a.npy')
    bad('compact', '--picture', 'a.json', '--out', 'a.npy')
    good('compact', '--level', '3', '--out', 'a.npy', *NONE)
    bad('compact', '--state', 'a.npy', '--out', 'a.npy')
    bad('compact', '--state', 'a.npy', '--fractal', 'gasket')
    bad('compact', '--state', 'a.npy', '--level', '3')
    with open('a.npy', 'r+b') as file:
        file.seek(128)
        file.write(b'\x55')
    bad('compact', '--state', 'a.npy')
    remove('a')
    save('a', '#./##', 3, ('<f8', 'd'), range(27))
    bad('compact', '--state', 'a.npy')
    remove('a')
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
