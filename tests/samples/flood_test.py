#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs sample 20_flood on small maps of files: areas and volumes of its lakes and the cells of its
picture, against a fill of its own; words that it must refuse; and --help.

    flood_test.py PROGRAM
"""
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

from pictures import PICTURE_PROBLEMS, pixels_of

NODATA = -9999
PLACE = 'XLLCORNER 7\nYLLCORNER 50\nCELLSIZE 0.5\n'
MARGIN, TOP, LEGEND = 12, 28, 40  # pixels left of the map, above it and below it
WHITE = b'\xff\xff\xff'
program = os.path.abspath(sys.argv[1])
errors = []
runs = 0


def run(*words):
    global runs
    runs += 1
    return subprocess.run([program, *words], capture_output=True, text=True,
                          check=False)


def fail(what, *more):
    errors.append(what)
    print('FAILED:', what, *more, sep='\n    ')


def write(path, rows, corner=''):
    """A .flt of GDAL's with its .hdr."""
    with open(path[:-3] + 'hdr', 'w', encoding='ascii') as file:
        file.write(f'NCOLS {len(rows[0])}\nNROWS {len(rows)}\n{corner}NODATA {NODATA}\n')
    with open(path, 'wb') as file:
        file.write(struct.pack(f'<{len(rows) * len(rows[0])}f', *sum(rows, [])))


def fill(rows, x, y, level, ways):
    """The cells of a lake, as (x, y)."""
    lake, todo = set(), [(x, y)]
    while todo:
        x, y = todo.pop()
        if (not (0 <= x < len(rows[0]) and 0 <= y < len(rows)) or (x, y) in lake
                or rows[y][x] >= level or rows[y][x] == NODATA):
            continue
        lake.add((x, y))
        todo += [(x + u, y + v) for u in (-1, 0, 1) for v in (-1, 0, 1)
                 if ways == 8 or u == 0 or v == 0]
    return lake


def check_picture(rows, source, lake, what):
    """A title above the map, a legend below it, a red square at the source, and the colours of the
    other cells."""
    mark = 1 + max(len(rows[0]), len(rows)) // 60
    names = [name for name in os.listdir() if name.startswith('flood.')]
    if len(names) != 1:
        return fail(f'{what}: {names} instead of one picture')
    with open(names[0], 'rb') as file:
        data = file.read()
    os.remove(names[0])
    try:
        width, height, pixels = pixels_of(data)
    except PICTURE_PROBLEMS as problem:
        return fail(f'{what}: {problem}')
    zoom = max(1, min(8, 800 // max(len(rows[0]), len(rows))))
    if width < MARGIN + len(rows[0]) * zoom + MARGIN or height != TOP + len(rows) * zoom + LEGEND:
        return fail(f'{what}: a picture of {width} x {height}')
    lines = [pixels[3 * width * y:3 * width * (y + 1)] for y in range(height)]
    if not (has_ink(lines[:TOP]) and has_ink(lines[-LEGEND:])):
        return fail(f'{what}: no title, or no legend')
    for y, row in enumerate(rows):
        for x, level in enumerate(row):
            left = 3 * (MARGIN + x * zoom)
            cell = [line[left:left + 3 * zoom] for line in lines[TOP + y * zoom:][:zoom]]
            red, _, blue = colour = cell[0][:3]
            if 0 <= x - source[0] < mark and 0 <= y - source[1] < mark:
                if any(line != b'\xc4\x38\x20' * zoom for line in cell):
                    return fail(f'{what}: no source in column {x}, row {y}')
                continue
            if (any(line != colour * zoom for line in cell)
                    or (red + 30 < blue) != ((x, y) in lake)
                    or (colour == b'\0\0\0') != (level == NODATA)):
                return fail(f'{what}: column {x}, row {y} is {tuple(colour)}')
    return None


def has_ink(lines):
    return any(line != WHITE * (len(line) // 3) for line in lines)


def good(rows, x, y, level, ways, *words):
    """words: the place of the source where it is not told by (x, y)."""
    words = ('map.flt', str(level), *(words or (str(x), str(y))), *(['8'] if ways == 8 else []))
    r = run(*words)
    if r.returncode == 77:
        print(r.stdout.strip() or 'SKIP: cannot run here')
        sys.exit(77)
    what = f'{words} on {rows}'
    dry = rows[y][x] >= level or rows[y][x] == NODATA
    deep = 0 if dry else level - rows[y][x]
    lines = r.stdout.splitlines()
    if dry:
        height = f'the source is dry: its height is {rows[y][x]:g}'
        if lines[:1] != [height + ', no data' * (rows[y][x] == NODATA)]:
            fail(what, 'a dry source', r.stdout)
        lines = lines[1:]
    if r.returncode or r.stderr or len(lines) != 5 or not lines[-1].endswith(': ok'):
        return fail(what, f'status {r.returncode}', r.stdout, r.stderr)
    for k, line in enumerate(lines[:4]):
        at = level - (3 - k) / 4 * deep
        lake = fill(rows, x, y, at, ways)
        volume = sum(at - rows[v][u] for u, v in lake)
        if line != f'level {at:g}: {len(lake)} cells, volume {volume:.10g}':
            fail(what, line, f'{at:g}, {len(lake)}, {volume:.10g}')
    return check_picture(rows, (x, y), lake, what)


def bad(*words):
    """Must end with 2 after one line, and leave no picture."""
    r = run(*words)
    left = [name for name in os.listdir() if name.startswith('flood.')]
    if r.returncode != 2 or r.stdout or not re.fullmatch(r'[^\n]+\n', r.stderr) or left:
        fail(f'{words}: status {r.returncode}, {left}', r.stdout, r.stderr)
    for name in left:
        os.remove(name)


def shows_help():
    """--help prints one usage line and leaves no picture."""
    r = run('--help')
    if r.returncode or r.stderr or not re.fullmatch(r'usage: [^\n]+\n', r.stdout) or os.listdir():
        fail(f'--help: status {r.returncode}, {os.listdir()}', r.stdout, r.stderr)


def main():
    shows_help()
    chance = random.Random(20)
    for i in range(12):
        width, height = chance.choice(((1, 1), (1, 9), (13, 1), (8, 8), (33, 17), (40, 40)))
        rows = [[chance.choice((-3, -2, 0, 1, 2, 5, 7, NODATA)) for _ in range(width)]
                for _ in range(height)]
        if i % 3 == 0:  # floats
            rows = [[h if h == NODATA else h + 0.5 for h in row] for row in rows]
        write('map.flt', rows)
        good(rows, chance.randrange(width), chance.randrange(height), chance.choice((2, 3, 6.5, 9)),
             4 if i % 2 else 8)
    # a wall without data, which is the lowest of all; past its corner with 8 ways
    rows = [[1, 1, NODATA, 1], [1, 1, NODATA, 1], [NODATA, NODATA, 1, 1]]
    write('map.flt', rows, PLACE)
    for ways in 4, 8:
        good(rows, 0, 0, 4, ways)
        good(rows, 2, 0, 4, ways)
        good(rows, 3, 1, 4, ways, '8.75', '50.75', 'map')
        good(rows, 0, 2, 4, ways, '7', '50.01', 'map')
    write('map.flt', [[1, 2]])
    good([[1, 2]], 0, 0, 2.5, 4)
    bad('map.flt')
    bad('map.flt', '1', '0')
    for word in '', '1x', 'x', ' 1', '1 ', '1,5', 'nan', 'inf', '-inf', '1e11', '0x1', '1\n2':
        bad('map.flt', word, '0', '0')
        bad('map.flt', '1', word, '0')
        bad('map.flt', '1', '0', word)
    for x, y in ('-1', '0'), ('-0.001', '0'), ('2', '0'), ('0', '1'), ('0', '-1'), ('1e10', '0'):
        bad('map.flt', '1', x, y)
    bad('map.flt', '1', '0', '0', 'map')  # whose position is unknown
    for word in '', '5', '48', 'Map', '8x':
        bad('map.flt', '1', '0', '0', word)
    bad('no.flt', '1', '0', '0')
    bad('map.tif', '1', '0', '0')
    write('place.flt', [[1, 2]], PLACE)
    for x, y in ('6.99', '50.1'), ('8', '50.1'), ('7.1', '49.99'), ('7.1', '50.51'):
        bad('place.flt', '1', x, y, 'map')
    os.mkdir('flood.png')
    os.mkdir('flood.ppm')
    r = run('place.flt', '3', '0', '0')
    if r.returncode != 2 or 'ok' in r.stdout or r.stderr.count('\n') != 1:
        fail(f'a picture that cannot be written: {r.returncode}', r.stdout, r.stderr)


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
    os.chdir('/')
print(f'{runs} runs, {len(errors)} wrong')
sys.exit(1 if errors else 0)
