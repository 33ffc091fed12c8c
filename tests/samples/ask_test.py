#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the samples of adaptive subdivision over sizes, subdivisions, drivers and bad input.

    ask_test.py FOLDER SUFFIX [--quick]

FOLDER holds 07_mandelbrot and 08_implicit_surface with SUFFIX added to their names. --quick, for
sanitized builds, is a handful of small runs.
"""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

SET, SURFACE = '07_mandelbrot', '08_implicit_surface'
NONE = {SET: ['--picture', 'none', '--regions', 'none'], SURFACE: ['--picture', 'none']}
errors = []
runs = 0


def fail(what, *more):
    errors.append(what)
    print('FAILED:', what, *more, sep='\n    ')


def run(sample, *args):
    global runs
    runs += 1
    return subprocess.run([os.path.join(folder, sample + suffix), *args], capture_output=True,
                          text=True, timeout=120, errors='replace')


def good(sample, *args, pictures=False):
    """The lines of numbers, as words; [] where the run failed."""
    args = [*args, *([] if pictures else NONE[sample])]
    r = run(sample, *args)
    if r.returncode == 77:
        print(r.stdout.strip() or 'SKIP: cannot run here')
        sys.exit(77)
    rows = [line.split() for line in r.stdout.splitlines()]
    if r.returncode or r.stderr or len(rows) < 2 or rows[1][-1] != 'yes':
        fail(' '.join([sample, *args]), f'status {r.returncode}', r.stdout, r.stderr)
        return []
    return rows[1:]


def bad(sample, *args):
    r = run(sample, *args)
    name = ' '.join([sample, *map(repr, args)])
    if r.returncode != 2 or r.stdout or not re.fullmatch(r'[^\n]+\n', r.stderr):
        fail(name, f'status {r.returncode}', r.stdout, r.stderr)
    left = [f for f in glob.glob('**', recursive=True) if not os.path.isdir(f)]
    if left:
        fail(f'{name}: leaves {left}')
        for path in left:
            os.remove(path)


def picture(path):
    """Width and height of a whole PPM, or of a PNG with right check sums."""
    with open(path, 'rb') as file:
        data = file.read()
    if data.startswith(b'P6\n'):
        size, most, pixels = data[3:].split(b'\n', 2)
        width, height = map(int, size.split())
        assert most == b'255' and len(pixels) == 3 * width * height, 'pixels'
        return width, height
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'signature'
    at, pixels, last = 8, b'', b''
    while at < len(data):
        length, last = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        crc, = struct.unpack('>I', data[at + 8 + length:at + 12 + length])
        assert crc == zlib.crc32(last + body), 'check sum'
        if last == b'IHDR':
            width, height, depth, colour = struct.unpack('>IIBB', body[:10])
            assert (depth, colour) == (8, 2), 'kind'
        elif last == b'IDAT':
            pixels += body
        at += 12 + length
    assert last == b'IEND' and len(zlib.decompress(pixels)) == height * (1 + 3 * width), 'chunks'
    return width, height


def pictures(sample, want, *args):
    """Runs with pictures a and b; their size must be `want`."""
    names = ['a'] if sample == SURFACE else ['a', 'b']
    options = [o for pair in zip(['--picture', '--regions'], names) for o in pair]
    if not good(sample, *args, *options, pictures=True):
        return
    for name in names:
        try:
            size = picture(name)
            if size != want:
                fail(f'{sample} {args}: picture of {size}')
        except (OSError, AssertionError, ValueError, struct.error, zlib.error) as problem:
            fail(f'{sample} {args}: {problem}')
    for name in names:
        if os.path.exists(name):
            os.remove(name)


def levels(rows):
    """The table of 07: each level has the children of what the level before subdivided."""
    table = [[float(x) for x in row] for row in rows if len(row) == 8 and row[0].isdigit()]
    return [(int(level), regions, cut, filled, leaves)
            for level, _, regions, cut, filled, leaves, _, _ in table]


def check_levels(g, r, *args):
    rows = good(SET, '--g', str(g), '--r', str(r), *args)
    table = levels(rows[2:]) if rows else []
    expected = g * g
    for level, regions, cut, filled, leaves in table:
        if regions != expected or regions != cut + filled + leaves:
            fail(f'{args}: level {level} of {table}')
        expected = cut * r * r
    if not table or expected or [row[0] for row in table] != list(range(len(table))):
        fail(f'{args}: levels {table}')


def quick():
    for approach in ('exhaustive', 'ask_sbr', 'ask_mbr'):
        good(SET, '--n', '48x33', '--dwell', '60', '--approach', approach, '--B', '2')
    check_levels(2, 2, '--n', '64', '--dwell', '50', '--B', '4')
    pictures(SET, (20, 30), '--n', '20x30', '--dwell', '20', '--g', '2', '--B', '3')
    for surface in ('sphere', 'torus', 'gyroid'):
        good(SURFACE, '--n', '20', '--surface', surface)
    pictures(SURFACE, (780, 780), '--n', '20')
    for sample in (SET, SURFACE):
        bad(sample, '--n', '0')
        bad(sample, '--picture', 'none/such', *(['--n', '16']))


def mandelbrot():
    for approach in ('exhaustive', 'unrolled', 'ask_sbr', 'ask_mbr'):
        for driver in ('host', 'stream', 'cooperative'):
            good(SET, '--n', '96', '--approach', approach, '--driver', driver)
        for n in ('8', '100x37', '37x100', '129'):
            good(SET, '--n', n, '--dwell', '100', '--approach', approach, '--g', '3', '--B', '2')
    for g, r, more in ((1, 2, ['--B', '1']), (2, 2, ['--B', '4']), (3, 3, ['--B', '2']),
                       (8, 4, ['--B', '8']), (5, 7, ['--B', '1'])):
        check_levels(g, r, '--n', '210', '--dwell', '40', *more)
    good(SET, '--n', '1', '--g', '1', '--B', '1')
    good(SET, '--n', '64', '--dwell', '1', '--g', '4')
    good(SET, '--n', '64', '--window', '-0.75,-0.74,0.1,0.11', '--dwell', '300')
    pictures(SET, (210, 64), '--n', '210x64', '--g', '3', '--B', '5', '--dwell', '90')
    pictures(SET, (700, 10), '--n', '1400x20', '--g', '2', '--B', '5', '--dwell', '30')
    for n in ('0', '-1', 'x', '', '0x5', '5x0', '5x', '5x5x5', '32769', '5x40000', '9' * 40, '1.5'):
        bad(SET, '--n', n)
    for dwell in ('0', '-1', 'x', '', '1073741825', '9' * 40):
        bad(SET, '--dwell', dwell)
    for window in ('0.5,-1.5,-1,1', '-1.5,0.5,1,-1', '0,0,0,1', '0,1,0', '0,1,0,1,2', '0,1,0,x', '',
                   'nan,1,0,1', '0,inf,0,1', '-inf,inf,0,1'):
        bad(SET, '--window', window)
    for approach in ('dp_sbr', 'dp_mbr', 'ask', '', '?'):
        bad(SET, '--approach', approach)
    for driver in ('graphs', '', '?'):
        bad(SET, '--driver', driver)
    for path in ('none/such', 'folder', 'folder/', '', 'a' * 2000):
        bad(SET, '--n', '16', '--g', '2', '--regions', path, '--picture', 'none')


def surface():
    for kind in ('sphere', 'torus', 'gyroid'):
        for form in ('sbr', 'mbr'):
            for n, g, r, b in ((1, 1, 2, 1), (2, 2, 2, 1), (30, 2, 2, 3), (33, 4, 3, 1),
                               (48, 1, 4, 2), (17, 5, 2, 1)):
                rows = good(SURFACE, '--surface', kind, '--form', form, '--n', str(n), '--g',
                            str(g), '--r', str(r), '--B', str(b))
                if rows and int(rows[0][-6]) < 1:  # evaluations
                    fail(f'{kind} {n}: {rows[0]}')
    pictures(SURFACE, (810, 810), '--n', '30')
    for n in ('0', '-1', 'x', '', '1025', '9' * 40, '5x5', '1.5'):
        bad(SURFACE, '--n', n)
    for kind in ('cube', ''):
        bad(SURFACE, '--surface', kind)
    bad(SURFACE, '--form', 'dp')


def both():
    for sample in (SET, SURFACE):
        small = [sample, '--n', '16']
        for option in ('--g', '--r', '--B'):
            for value in ('0', '-1', 'x', '', '9' * 40):
                bad(*small, option, value)
        bad(*small, '--r', '1')
        bad(*small, '--B', '9', '--g', '2')
        bad(*small, '--g', '17', '--B', '1')
        bad(sample, '--no-such-option', '1')
        bad(sample, 'x')
        bad(sample, '--n')
        others = ['--regions', 'none'] if sample == SET else []
        for path in ('none/such', 'folder', 'folder/', '', 'a' * 2000):
            bad(*small, '--g', '2', '--picture', path, *others)
        help_text = run(sample, '--help')
        if help_text.returncode or not help_text.stdout.startswith('usage: ' + sample):
            fail(f'{sample} --help')


def main():
    if '--quick' in sys.argv:
        return quick()
    good(SET, pictures=True)
    good(SURFACE, pictures=True)
    for path in glob.glob('*.p[np][gm]'):
        os.remove(path)
    os.mkdir('folder')
    mandelbrot()
    surface()
    both()
    os.rmdir('folder')


folder, suffix = os.path.abspath(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
    if os.listdir():
        fail(f'unexpected {os.listdir()}')
    os.chdir('/')
print(f'{runs} runs, {len(errors)} wrong')
sys.exit(1 if errors else 0)
