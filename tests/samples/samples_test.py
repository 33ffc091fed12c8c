#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs samples over fractals, levels, block sizes and bad input.

    samples_test.py FOLDER SUFFIX [--quick]

FOLDER holds 01_first_map, ... with SUFFIX added to their names. --quick, for sanitized builds, is a
handful of small runs.
"""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

FRACTALS = ['gasket', 'carpet', 'vicsek', 'x', 'h', 'cantor', 'chandelier', 'candy', 'bottles',
            '##./#.#', '#', '.#\n##', r'#.\n.#\n##', '#/#']
SIDES = {'gasket': (2, 2), 'carpet': (3, 3), 'vicsek': (3, 3), 'x': (3, 3), 'h': (3, 3),
         'cantor': (3, 1), 'chandelier': (3, 2), 'candy': (4, 4), 'bottles': (3, 3)}
SAMPLES = ['01_first_map', '02_single_write', '03_reduction', '04_life']
errors = []
runs = 0


def side(fractal):
    if fractal in SIDES:
        return SIDES[fractal]
    rows = re.split(r'\n|/|\\n', fractal)
    return len(rows[0]), len(rows)


def fail(what, *more):
    errors.append(what)
    print('FAILED:', what, *more, sep='\n    ')


def run(sample, *args):
    global runs
    runs += 1
    return subprocess.run([os.path.join(folder, sample + suffix), *args], capture_output=True,
                          text=True, timeout=120)


def good(sample, fractal, level, rho, *more):
    args = ['--fractal', fractal, '--level', str(level), '--rho', str(rho), *more]
    r = run(sample, *args)
    name = ' '.join([sample, *args])
    if r.returncode == 77:
        print(r.stdout.strip() or 'SKIP: cannot run here')
        sys.exit(77)
    rows = r.stdout.splitlines()
    sx, sy = side(fractal)
    if r.returncode or r.stderr or len(rows) < 2:
        return fail(name, f'status {r.returncode}', r.stdout, r.stderr)
    words = rows[1].split()
    if words[-1] != 'yes' or f'{sx**level}x{sy**level}' not in words:
        fail(name, rows[1])
    return words


def png_size(path):
    """Width and height of a PNG with right check sums and as much data as it needs."""
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'signature'
    at, pixels, header, last = 8, b'', None, None
    while at < len(data):
        length, last = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        crc, = struct.unpack('>I', data[at + 8 + length:at + 12 + length])
        assert crc == zlib.crc32(last + body), 'check sum'
        if last == b'IHDR':
            header = struct.unpack('>IIBBBBB', body)
        elif last == b'IDAT':
            pixels += body
        at += 12 + length
    width, height, depth, colour, _, _, interlace = header
    assert last == b'IEND' and colour == 3 and interlace == 0, 'chunks'
    assert len(zlib.decompress(pixels)) == height * (1 + (width * depth + 7) // 8), 'pixels'
    return width, height


def ppm_size(path):
    with open(path, 'rb') as file:
        magic, size, most, pixels = file.read().split(b'\n', 3)
    width, height = map(int, size.split())
    assert (magic, most) == (b'P6', b'255') and len(pixels) == 3 * width * height
    return width, height


def picture(path, fractal, level):
    sx, sy = side(fractal)
    if not os.path.exists(path):
        return fail(f'{path}: not written')
    try:
        width, height = (png_size if path.endswith('png') else ppm_size)(path)
    except (AssertionError, ValueError, struct.error, zlib.error) as problem:
        return fail(f'{path}: {problem}')
    # Whole pixels for each place, and at least 512.
    if width < 512 or width % sx**level or height % sy**level or height < width * sy // sx:
        fail(f'{path}: {width} x {height} pixels')
    os.remove(path)


def bad(sample, *args):
    r = run(sample, *args)
    name = ' '.join([sample, *map(repr, args)])
    if r.returncode == 77:
        return
    if r.returncode != 2 or r.stdout or not re.fullmatch(r'[^\n]+\n', r.stderr):
        fail(name, f'status {r.returncode}', r.stdout, r.stderr)
    left = [f for f in glob.glob('**', recursive=True) if not os.path.isdir(f)]
    if left:
        fail(f'{name}: leaves {left}')
        for f in left:
            os.remove(f)


def quick():
    for fractal, level, rho in [('gasket', 5, 4), ('carpet', 2, 32), ('cantor', 3, 2),
                                ('chandelier', 2, 8), ('#', 3, 1), ('##./#.#', 0, 16)]:
        for sample in SAMPLES:
            more = {'02_single_write': ['--picture', 'none'],
                    '04_life': ['--frames', 'none', '--steps', '2']}.get(sample, [])
            good(sample, fractal, level, rho, *more)
    good('02_single_write', 'gasket', 3, 8)
    good('04_life', 'vicsek', 2, 8, '--steps', '2')
    for path in glob.glob('*.p[np]m*') + glob.glob('*.png'):
        os.remove(path)
    for sample in SAMPLES:
        bad(sample, '--fractal', '##\n#')
        bad(sample, '--level', '40')


def full():
    pictures = None
    for fractal in FRACTALS:
        small = {1: 6, 2: 5, 3: 3, 4: 3}[max(side(fractal))]
        for level in (0, 1, 2, small):
            for rho in (1, 2, 4, 8, 16, 32):
                good('01_first_map', fractal, level, rho)
                good('02_single_write', fractal, level, rho, '--picture', 'none')
                good('03_reduction', fractal, level, rho, '--seed', str(level))
                good('04_life', fractal, level, rho, '--steps', '3', '--frames', 'none')
        if not pictures:
            good('02_single_write', fractal, small, 16)
            pictures = os.listdir()[0].rsplit('.', 1)[1]
        good('02_single_write', fractal, small, 16, '--picture', 'a.' + pictures)
        picture('a.' + pictures, fractal, small)
        good('04_life', fractal, small, 16, '--steps', '5', '--every', '2', '--frames', 'life')
        for step in (0, 2, 4):
            picture(f'life{step:04}.{pictures}', fractal, small)
        for path in glob.glob('single_write.*'):
            os.remove(path)
        if os.listdir():
            fail(f'{fractal}: unexpected {os.listdir()}')
    for name in ('lambda', 'lambda_shuffle', 'lambda_redux', 'lambda_ballot'):
        for sample in SAMPLES[1:]:
            more = {'02_single_write': ['--picture', 'none'], '04_life': ['--frames', 'none']}
            words = good(sample, 'gasket', 5, 8, '--map', name, *more.get(sample, []))
            if words and name not in words:
                fail(f'{sample} --map {name}')
    good('04_life', 'carpet', 3, 16, '--rule', 'b1357/s2468', '--frames', 'none', '--seed', '7')

    # A large fractal is drawn as a smaller one.
    good('02_single_write', 'cantor', 8, 16, '--picture', 'a.' + pictures)
    picture('a.' + pictures, 'cantor', 6)

    os.mkdir('folder')
    for sample in SAMPLES:
        bad(sample, '--fractal', '##\n#')
        for fractal in (r'##\n#', '##/#', '', '..', 'circle', '#' * 17, '####/' * 4 + '#...'):
            bad(sample, '--fractal', fractal)
        for level in ('-1', '99', '65', '64', '40', '20', '5x', 'x', '', ' 3', '+3', '1e1', '9' * 40):
            bad(sample, '--level', level)
        for rho in ('0', '33', '-1', '5x', '', '4294967297'):
            bad(sample, '--rho', rho)
        bad(sample, '--fractal', 'candy', '--level', '33')
        bad(sample, '--no-such-option', '1')
        bad(sample, 'gasket')
        bad(sample, '--level')
        help_text = run(sample, '--help')
        if help_text.returncode or not help_text.stdout.startswith('usage: ' + sample):
            fail(f'{sample} --help')
    for sample in SAMPLES[1:]:
        bad(sample, '--map', 'mu')
        bad(sample, '--map', 'lambda_ballot', '--fractal', 'carpet')
    for path in ('none/such.png', 'folder', 'folder/', ''):
        bad('02_single_write', '--picture', path)
    bad('02_single_write', '--picture', 'a' * 2000)
    for prefix in ('none/such', 'a' * 2000):
        bad('04_life', '--frames', prefix)
    for seed in ('-1', 'x', '1.5', '9' * 40):
        bad('03_reduction', '--seed', seed)
        bad('04_life', '--seed', seed)
    for rule in ('B9/S23', 'B3', 'life', 'B33/S2', 'B3/S23x', ''):
        bad('04_life', '--rule', rule)
    for number in ('0', '10000', '-1', 'x'):
        bad('04_life', '--steps', number)
        bad('04_life', '--every', number)


folder, suffix = os.path.abspath(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    quick() if '--quick' in sys.argv else full()
    os.chdir('/')
print(f'{runs} runs, {len(errors)} wrong')
sys.exit(1 if errors else 0)
