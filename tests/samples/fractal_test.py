#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs explore fractal over works, fractals, levels, block sizes and bad input."""
import re

from harness import QUICK, bad, bad_options, check_picture, fail, rows_of, run, test
import harness

ROWS = dict(harness.CATALOGUE)
FRACTALS = [*ROWS, '##./#.#', '#', '.#\n##', r'#.\n.#\n##', '#/#']
RHOS = (1, 2, 8, 16, 32)
NONE = ('--picture', 'none')


def side(fractal):
    rows = re.split(r'\n|/|\\n', ROWS.get(fractal, fractal))
    return len(rows[0]), len(rows)


def good(work, fractal, level, rho, *more):
    """Three rows, whose first line names the sides, and a bounding box of as many threads."""
    lines = harness.good('fractal', '--work', work, '--fractal', fractal, '--level', str(level),
                         '--rho', str(rho), *more)
    sx, sy = (s**level for s in side(fractal))
    threads = -(-sx // rho) * -(-sy // rho) * rho**2
    rows = rows_of(lines)
    if lines and (len(rows) != 3 or f'{sx} x {sy} places' not in ' '.join(lines[0]) or
                  rows[0][2] != str(threads)):
        fail(f'{work} {fractal} {level} {rho}', lines)


def quick():
    for fractal, level, rho in [('gasket', 5, 4), ('carpet', 2, 32), ('cantor', 3, 2),
                                ('chandelier', 2, 8), ('#', 3, 1), ('##./#.#', 0, 16)]:
        for work in ('write', 'sum', 'life'):
            good(work, fractal, level, rho, *NONE)
    good('write', 'gasket', 3, 8, '--picture', 'a')
    check_picture('a', lambda w, h: (w, h) == (512, 512 + 40), 'gasket')
    good('life', 'vicsek', 2, 8, '--picture', 'a', '--steps', '2')
    check_picture('a', lambda w, h: w > 3 * 160 and h > 160, 'vicsek')
    bad('fractal', '--fractal', '##\n#')
    bad('fractal', '--level', '40')


def full():
    harness.good('fractal')
    for path in harness.files():
        check_picture(path, lambda w, h: (w, h) == (512, 512 + 40), 'default')
    harness.good('fractal', '--work', 'life')
    for path in harness.files():
        check_picture(path, lambda w, h: w > 600 and h > 500, 'default of life')
    for number, fractal in enumerate(FRACTALS):
        sx, sy = side(fractal)
        small = {1: 6, 2: 5, 3: 3, 4: 3}.get(max(sx, sy), 2)
        for turn, level in enumerate((0, 1, 2, small), number):
            for rho in (RHOS[turn % 5], RHOS[(turn + 2) % 5]):  # all five for each fractal
                good('write', fractal, level, rho, *NONE)
                good('sum', fractal, level, rho, '--seed', str(level))
                good('life', fractal, level, rho, *NONE)
        # Whole pixels for each place, at least 512 wide, with a title and a legend.
        good('write', fractal, small, 16, '--picture', 'a')
        check_picture('a', lambda w, h: w >= 512 and w % sx**small == 0 and
                      (h - 40) % sy**small == 0 and h - 40 >= w * sy // sx, fractal)
        good('life', fractal, small, 16, '--picture', 'a', '--steps', '5')
        check_picture('a', lambda w, h: w >= 432 and h > 2 * sy**small, fractal)
    good('life', 'carpet', 3, 16, '--rule', 'b1357/s2468', '--seed', '7', *NONE)
    good('write', 'cantor', 8, 16, '--picture', 'a')  # drawn as level 6
    check_picture('a', lambda w, h: w == 729, 'cantor')
    good('life', 'cantor', 8, 16, '--picture', 'a', '--steps', '0')  # drawn as a tile
    check_picture('a', lambda w, h: w >= 432, 'cantor')


def refused():
    for fractal in ('##\n#', r'##\n#', '##/#', '', '..', 'circle', '#' * 17, '####/' * 4 + '#...'):
        bad('fractal', '--fractal', fractal)
    for level in ('-1', '99', '65', '64', '40', '20', '5x', 'x', '', ' 3', '+3', '1e1', '9' * 40):
        for work in ('write', 'sum', 'life'):
            bad('fractal', '--level', level, '--work', work, '--fractal', 'carpet')
    for rho in ('0', '33', '-1', '5x', '', '4294967297'):
        bad('fractal', '--rho', rho)
    for seed in ('-1', 'x', '1.5', '9' * 40):
        bad('fractal', '--seed', seed)
    for rule in ('B9/S23', 'B3', 'life', 'B33/S2', 'B3/S23x', ''):
        bad('fractal', '--rule', rule)
    for steps in ('-1', '100', 'x', ''):
        bad('fractal', '--steps', steps)
    for work in ('', 'writes', 'WRITE'):
        bad('fractal', '--work', work)
    bad('fractal', '--work', 'sum', '--picture', 'a')
    bad_options('fractal', '--level', 'gasket')
    # What lacks memory is told so, with the option at fault.
    said = run('fractal', '--fractal', 'gasket', '--level', '30').stderr
    if '--level asks for' not in said or 'GB' not in said:
        fail('the message for too large a level', said)


def commands():
    for name in ('', 'x', 'fractals', '--level'):
        bad(name)
    for words in ((), ('--help',)):
        r = run(*words)
        if r.returncode or any(name not in r.stdout
                               for name in ('fractal', 'compact', 'pairs', 'distances',
                                            'mandelbrot')):
            fail('the usage of explore', r.stdout)


def main():
    if QUICK:
        return quick()
    full()
    refused()
    return commands()


test(main)
