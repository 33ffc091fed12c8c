#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the samples of adaptive subdivision over sizes, subdivisions, drivers and bad input."""
import glob
import os

from harness import PICTURE_PROBLEMS, QUICK, bad, bad_options, fail, good, picture, test

SET, SURFACE = '07_mandelbrot', '08_implicit_surface'
NONE = {SET: ['--picture', 'none', '--regions', 'none'], SURFACE: ['--picture', 'none']}


def plain(sample, *args):
    """Without pictures."""
    return good(sample, *args, *NONE[sample])


def pictures(sample, want, *args):
    """Runs with pictures a and b; their size must be `want`."""
    names = ['a'] if sample == SURFACE else ['a', 'b']
    options = [o for pair in zip(['--picture', '--regions'], names) for o in pair]
    if not good(sample, *args, *options):
        return
    for name in names:
        try:
            found = picture(name)
            if found != (*want, 'rgb'):
                fail(f'{sample} {args}: picture of {found}')
        except PICTURE_PROBLEMS as problem:
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
    rows = plain(SET, '--g', str(g), '--r', str(r), *args)
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
        plain(SET, '--n', '48x33', '--dwell', '60', '--approach', approach, '--B', '2')
    check_levels(2, 2, '--n', '64', '--dwell', '50', '--B', '4')
    pictures(SET, (20, 30), '--n', '20x30', '--dwell', '20', '--g', '2', '--B', '3')
    for surface in ('sphere', 'torus', 'gyroid'):
        plain(SURFACE, '--n', '20', '--surface', surface)
    pictures(SURFACE, (780, 780), '--n', '20')
    for sample in (SET, SURFACE):
        bad(sample, '--n', '0')
        bad(sample, '--picture', 'none/such', *(['--n', '16']))


def mandelbrot():
    for approach in ('exhaustive', 'unrolled', 'ask_sbr', 'ask_mbr'):
        for driver in ('host', 'stream', 'cooperative'):
            plain(SET, '--n', '96', '--approach', approach, '--driver', driver)
        for n in ('8', '100x37', '37x100', '129'):
            plain(SET, '--n', n, '--dwell', '100', '--approach', approach, '--g', '3', '--B', '2')
    for g, r, more in ((1, 2, ['--B', '1']), (2, 2, ['--B', '4']), (3, 3, ['--B', '2']),
                       (8, 4, ['--B', '8']), (5, 7, ['--B', '1'])):
        check_levels(g, r, '--n', '210', '--dwell', '40', *more)
    plain(SET, '--n', '1', '--g', '1', '--B', '1')
    plain(SET, '--n', '64', '--dwell', '1', '--g', '4')
    plain(SET, '--n', '64', '--window', '-0.75,-0.74,0.1,0.11', '--dwell', '300')
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
                rows = plain(SURFACE, '--surface', kind, '--form', form, '--n', str(n), '--g',
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
        bad_options(sample, '--n')
        others = ['--regions', 'none'] if sample == SET else []
        for path in ('none/such', 'folder', 'folder/', '', 'a' * 2000):
            bad(*small, '--g', '2', '--picture', path, *others)


def main():
    if QUICK:
        return quick()
    good(SET)
    good(SURFACE)
    for path in glob.glob('*.p[np][gm]'):
        os.remove(path)
    os.mkdir('folder')
    mandelbrot()
    surface()
    both()
    os.rmdir('folder')


test(main)
