#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs explore pairs and explore distances over sizes, files of points and bad input.

Files are written and read without numpy; where numpy and scipy can be imported, they must
understand what was written, too.
"""
import math
import os
import random
import struct

from harness import (PICTURE_PROBLEMS, QUICK, bad, bad_options, check_picture, fail, files, good,
                     rows_of, test)

PAIRS, MATRIX = 'pairs', 'distances'
ANGLES = ['cosine', 'correlation']  # points of one coordinate have none
METRICS = ['euclidean', 'sqeuclidean', 'cityblock', 'chebyshev', *ANGLES]


# ---- files --------------------------------------------------------------------------------------

def write(path, content):
    with open(path, 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def npy(rows, kind='<f4', order='False', shape=None, version=1, cut=0, extra=b''):
    """The bytes of an .npy file."""
    shape = shape or f'({len(rows)}, {len(rows[0])})'
    text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"
    text += ' ' * (-(len(text) + (11 if version == 1 else 13)) % 64) + '\n'
    data = b''.join(struct.pack('<f' if kind == '<f4' else '<d', x) for row in rows for x in row)
    head = b'\x93NUMPY' + bytes([version, 0])
    head += struct.pack('<H' if version == 1 else '<I', len(text)) + text.encode()
    return (head + data)[:-cut or None] + extra


def read_npy(path):
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:8] == b'\x93NUMPY\x01\x00', 'magic'
    length, = struct.unpack('<H', data[8:10])
    assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b'\n', 'header'
    header = eval(data[10:10 + length].decode(), {'__builtins__': {}})  # a dictionary of literals
    assert header['descr'] == '<f4' and header['fortran_order'] is False, 'type'
    count, = header['shape']
    assert len(data) == 10 + length + 4 * count, 'length'
    return struct.unpack(f'<{count}f', data[10 + length:])


def distance(u, v, metric):
    if metric == 'cityblock':
        return sum(abs(a - b) for a, b in zip(u, v))
    if metric == 'chebyshev':
        return max(abs(a - b) for a, b in zip(u, v))
    if metric == 'correlation':
        u, v = ([a - sum(w) / len(w) for a in w] for w in (u, v))
    if metric in ANGLES:
        norms = math.sqrt(sum(a * a for a in u) * sum(b * b for b in v))
        return 1 - sum(a * b for a, b in zip(u, v)) / norms
    square = sum((a - b)**2 for a, b in zip(u, v))
    return math.sqrt(square) if metric == 'euclidean' else square


def matrix(points, metric, content, name):
    """Runs on a file of these points and compares the distances."""
    rows = good(MATRIX, '--input', write(name, content), '--metric', metric, '--out', 'out.npy',
                '--picture', 'picture')
    if rows:
        if rows[0][:5] != f'{len(points)} points of {len(points[0])} coordinates,'.split():
            fail(f'{name}: {rows[0]}')
        if len(rows_of(rows)) != 2:
            fail(f'{name}: {rows}')
        try:
            got = read_npy('out.npy')
            want = [distance(u, v, metric) for i, u in enumerate(points) for v in points[i + 1:]]
            assert len(got) == len(want)
            for a, b in zip(got, want):
                assert abs(a - b) <= 3e-6 * b + (1e-6 if metric in ANGLES else 0), (a, b)
            scipy_opens(points, metric)
        except PICTURE_PROBLEMS as problem:
            fail(f'{name}, {metric}: {problem}')
        os.remove('out.npy')
        n = len(points)
        side = n * (512 // n if n < 512 else 1)
        check_picture('picture', lambda w, h: h == side + 60 and w >= side, name)
    os.remove(name)


def scipy_opens(points, metric):
    try:
        import numpy
        from scipy.spatial.distance import pdist, squareform
    except ImportError:
        return
    got = numpy.load('out.npy')
    square = squareform(got)
    assert square.shape == (len(points), len(points)) and square[0][1] == got[0]
    assert numpy.allclose(got, pdist(numpy.array(points), metric), rtol=1e-5, atol=1e-6)


def text_of(points, comma=',', end='\n'):
    return ''.join(comma.join(repr(x) for x in row) + end for row in points)


def random_points(n, d):
    return [[struct.unpack('<f', struct.pack('<f', random.uniform(-9, 9)))[0] for _ in range(d)]
            for _ in range(n)]


# ---- the tests ----------------------------------------------------------------------------------

def pairs():
    for n in ['0', '1', '2', '3', '16', '17', '31', '33', '300']:
        rows = good(PAIRS, '--points', n, '--cutoff', '30000')
        if rows and (len(rows_of(rows)) != 3 or rows[0][2] != str(int(n) * (int(n) - 1) // 2)):
            fail(f'{PAIRS} {n}: {rows}')
    good(PAIRS, '--points', '100', '--cutoff', '200000', '--seed', '7')
    for number in ('-1', 'x', '1.5', '9' * 40, '', '1000001'):
        bad(PAIRS, '--points', number)
    for number in ('0', '-1', '200001', 'x'):
        bad(PAIRS, '--cutoff', number)
    bad(PAIRS, '--seed', '-1')


def bad_points():
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    texts = ['', '\n', '# nothing\n', '1,2\n', '1,2\n3\n', '1,2\n3,4,5\n', '1,2\n3,x\n',
             'a,b\n1,2\n', '1,2\nnan,4\n', '1,2\ninf,4\n', '1,2\n-inf,4\n', '1,2\n1e300,4\n',
             '1,2\n3,,\n', '1;2x\n']
    files = [npy(rows, kind) for kind in ('<i4', '|f4', '<f2', '|S8')]
    files += [npy(rows, cut=1), npy(rows, cut=20), npy(rows, extra=b'x')]
    files += [npy(rows, shape=shape) for shape in
              ('(6,)', '()', '(3, 2, 1)', '(3, 0)', '(0, 2)', '(-3, 2)', '(99999999999, 2)',
               '(4, 2)')]
    files += [npy(rows, version=4), npy(rows)[:6], npy(rows)[:9], npy(rows)[:40], npy([[1.0, 2.0]]),
              npy([[1.0, math.nan], [1.0, 2.0]]), npy([[1.0, math.inf], [1.0, 2.0]], '<f8'),
              npy([[1.0, 1e200], [1.0, 2.0]], '<f8'), npy(rows, '<f8', version=2, cut=8)]
    for content in texts + files:
        bad(MATRIX, '--input', write('points', content))
        os.remove('points')


def options():
    bad_options(PAIRS, '--points')
    bad_options(MATRIX, '--input')
    bad(MATRIX, '--metric', 'hamming')
    bad(MATRIX, '--input', 'no such file')
    os.mkdir('folder')
    bad(MATRIX, '--input', 'folder')
    small = write('small', '1 2\n3 4\n')
    for path in ('none/such', 'folder', 'folder/', '', 'a' * 2000):
        bad(MATRIX, '--input', small, '--out', path, '--picture', 'none')
        bad(MATRIX, '--input', small, '--picture', path, '--out', 'none')
    os.remove(small)
    os.rmdir('folder')


def main():
    points = random_points(40, 3)
    for metric in METRICS:
        matrix(points, metric, npy(points), 'points.npy')
    matrix(points, 'euclidean', text_of(points), 'points.csv')
    if QUICK:
        good(PAIRS, '--points', '100')
        bad_points()
        return
    good(PAIRS)
    good(MATRIX)
    os.remove('distances.npy')
    for path in files():
        check_picture(path, lambda w, h: h == 300 + 60, 'default')
    pairs()
    for n, d in ((2, 1), (3, 2), (129, 5), (64, 17), (30, 100)):
        points = random_points(n, d)
        for metric in METRICS[:-len(ANGLES)] if d == 1 else METRICS:
            matrix(points, metric, npy(points), 'a.npy')
        matrix(points, 'cityblock', npy(points, '<f8'), 'b.npy')
        columns = [list(column) for column in zip(*points)]
        matrix(points, 'cityblock', npy(columns, order='True', shape=f'({n}, {d})'), 'f.npy')
        matrix(points, 'sqeuclidean', npy(points, '<f8', version=2), 'c.npy')
        matrix(points, 'euclidean', '# x y z\n\n' + text_of(points, ' ; ', ' # end\r\n'), 'd.csv')
        matrix(points, 'euclidean', text_of(points, '\t').rstrip('\n'), 'e.txt')
    bad_points()
    options()


random.seed(1)
test(main)
