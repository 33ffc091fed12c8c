#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the samples of fractals over fractals, levels, block sizes and bad input."""
import glob
import os
import re

from harness import PICTURE_PROBLEMS, QUICK, bad, bad_options, fail, test
import harness

FRACTALS = ['gasket', 'carpet', 'vicsek', 'x', 'h', 'cantor', 'chandelier', 'candy', 'bottles',
            '##./#.#', '#', '.#\n##', r'#.\n.#\n##', '#/#']
SIDES = {'gasket': (2, 2), 'carpet': (3, 3), 'vicsek': (3, 3), 'x': (3, 3), 'h': (3, 3),
         'cantor': (3, 1), 'chandelier': (3, 2), 'candy': (4, 4), 'bottles': (3, 3)}
SAMPLES = ['01_first_map', '02_single_write', '03_reduction', '04_life']


def side(fractal):
    if fractal in SIDES:
        return SIDES[fractal]
    rows = re.split(r'\n|/|\\n', fractal)
    return len(rows[0]), len(rows)


def good(sample, fractal, level, rho, *more):
    """The words of the row, which names the sides; [] where the run failed."""
    rows = harness.good(sample, '--fractal', fractal, '--level', str(level), '--rho', str(rho),
                        *more)
    sx, sy = side(fractal)
    if rows and f'{sx**level}x{sy**level}' not in rows[0]:
        fail(f'{sample} {fractal} {level} {rho}', rows[0])
    return rows[0] if rows else []


def picture(path, fractal, level):
    sx, sy = side(fractal)
    if not os.path.exists(path):
        return fail(f'{path}: not written')
    try:
        width, height, kind = harness.picture(path)
    except PICTURE_PROBLEMS as problem:
        return fail(f'{path}: {problem}')
    if kind != ('palette' if path.endswith('png') else 'rgb'):
        fail(f'{path}: {kind}')
    # Whole pixels for each place, and at least 512.
    if width < 512 or width % sx**level or height % sy**level or height < width * sy // sx:
        fail(f'{path}: {width} x {height} pixels')
    os.remove(path)


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
        bad_options(sample, '--level', 'gasket')
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
    os.rmdir('folder')


test(quick if QUICK else full)
