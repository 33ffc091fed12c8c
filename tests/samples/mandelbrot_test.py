#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs explore mandelbrot over sizes, subdivisions and bad input."""
from harness import QUICK, bad, bad_options, check_picture, fail, files, good, rows_of, test

SET = 'mandelbrot'
NONE = ('--picture', 'none', '--regions', 'none')


def pictures(side_x, side_y, *args):
    """Runs with pictures a and b, which must hold side_x x side_y pixels, a title and a legend."""
    if good(SET, *args, '--picture', 'a', '--regions', 'b'):
        for name in ('a', 'b'):
            check_picture(name, lambda w, h: w == max(side_x, 512) and h == side_y + 60, args)


def check_levels(g, r, *args):
    """Each level has the children of what the level before subdivided."""
    lines = good(SET, '--g', str(g), '--r', str(r), *args, *NONE)
    table = [[int(x) for x in (line[0], *line[2:6])] for line in lines
             if len(line) == 6 and line[0].isdigit()]
    expected = g * g
    for level, regions, cut, filled, leaves in table:
        if regions != expected or regions != cut + filled + leaves:
            fail(f'{args}: level {level} of {table}')
        expected = cut * r * r
    if not table or expected or [row[0] for row in table] != list(range(len(table))):
        fail(f'{args}: levels {table}')


def check_exhaustive(*args):
    """The picture is compared with every pixel: a window larger than the set has none wrong."""
    lines = good(SET, *args, *NONE)
    if not any(line[:4] == ['subdivision:', '0', 'of', '9216'] for line in lines):
        fail(f'{args}: wrong pixels of {lines}')


def quick():
    if len(rows_of(good(SET, '--n', '48x33', '--dwell', '60', '--B', '2', *NONE))) != 3:
        fail('three ways')
    check_exhaustive('--n', '96', '--dwell', '60', '--window', '-18.9,14.7,-18.9,14.7', '--g', '1')
    check_levels(2, 2, '--n', '64', '--dwell', '50', '--B', '4')
    pictures(20 * 17, 30 * 17, '--n', '20x30', '--dwell', '20', '--g', '2', '--B', '3')
    bad(SET, '--n', '0')


def full():
    good(SET)
    if len(files()) != 2:
        fail(f'pictures {files()}')
    for path in files():
        check_picture(path, lambda w, h: (w, h) == (1024, 1024 + 60), 'default')
    for n in ('8', '100x37', '37x100', '129'):
        good(SET, '--n', n, '--dwell', '100', '--g', '3', '--B', '2', *NONE)
    for g, r, more in ((1, 2, ['--B', '1']), (2, 2, ['--B', '4']), (3, 3, ['--B', '2']),
                       (8, 4, ['--B', '8']), (5, 7, ['--B', '1'])):
        check_levels(g, r, '--n', '210', '--dwell', '40', *more)
    good(SET, '--n', '1', '--g', '1', '--B', '1', *NONE)
    good(SET, '--n', '64', '--dwell', '1', '--g', '4', *NONE)
    good(SET, '--n', '64', '--window', '-0.75,-0.74,0.1,0.11', '--dwell', '300', *NONE)
    for window in ('-6,6,-6,6', '-18.9,14.7,-18.9,14.7', '-500,600,-700,300'):
        for g in ('1', '2', '4'):
            check_exhaustive('--n', '96', '--window', window, '--g', g)
    close = '-0.7453,-0.7452999,0.1127,0.1127001'  # rounding decides: there are no regions
    lines = good(SET, '--n', '64', '--window', close, *NONE)
    if not any(line[:2] == ['no', 'regions:'] for line in lines):
        fail('pixels that rounding blurs')
    pictures(2 * 210, 2 * 64, '--n', '210x64', '--g', '3', '--B', '5', '--dwell', '90')
    pictures(700, 10, '--n', '1400x20', '--g', '2', '--B', '5', '--dwell', '30')


def refused():
    for n in ('0', '-1', 'x', '', '0x5', '5x0', '5x', '5x5x5', '32769', '5x40000', '9' * 40, '1.5'):
        bad(SET, '--n', n)
    for dwell in ('0', '-1', 'x', '', '1073741825', '9' * 40):
        bad(SET, '--dwell', dwell)
    for window in ('0.5,-1.5,-1,1', '-1.5,0.5,1,-1', '0,0,0,1', '0,1,0', '0,1,0,1,2', '0,1,0,x', '',
                   'nan,1,0,1', '0,inf,0,1', '-inf,inf,0,1'):
        bad(SET, '--window', window)
    small = (SET, '--n', '16', *NONE)
    for option in ('--g', '--r', '--B'):
        for value in ('0', '-1', 'x', '', '9' * 40):
            bad(*small, option, value)
    bad(*small, '--r', '1')
    bad(*small, '--B', '9', '--g', '2')
    bad(*small, '--g', '17', '--B', '1')
    bad_options(SET, '--n')


def main():
    if QUICK:
        return quick()
    full()
    return refused()


test(main)
