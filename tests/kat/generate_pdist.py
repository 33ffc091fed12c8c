#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known answers for pdist.h, from scipy.spatial.distance.pdist in double precision.

    generate_pdist.py            write pdist.txt beside this file
    generate_pdist.py --check    exit with 1 if pdist.txt is not what scipy gives, 77 without scipy

The tests need no scipy: they read pdist.txt. Coordinates are multiples of 1/256, so that a float
holds them exactly.
"""
import math
import os
import random
import re
import sys

from common import run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OWN = ["canberra", "braycurtis"]  # the metrics of test_pdist.cu itself
SIZES = [(2, 1), (3, 2), (5, 3), (9, 4), (8, 5), (6, 16), (7, 17), (4, 100), (33, 3), (20, 2)]
INF, NAN = math.inf, math.nan
# Zero vectors, equal, opposite and parallel points, NaN and infinities.
SPECIAL = [[0, 0, 0], [1, 2, 3], [NAN, 1, 2], [INF, 1, 2], [-INF, 1, 2], [INF, 5, 6], [2, 4, 6],
           [-1, -2, -3], [1, 2, 3], [1, 2, 3.00390625]]
HEADER = """\
# SPDX-License-Identifier: MIT
# Known answers for pdist.h: what scipy.spatial.distance.pdist gives. Written by generate_pdist.py:
# change that, not this.
#
# points N D VALUE ...   N points of D coordinates, row by row
# METRIC VALUE ...       their N(N-1)/2 condensed distances
"""


def all_points():
    draw = random.Random(1)
    for n, d in SIZES:
        yield [[draw.randrange(-1024, 1024) / 256 for _ in range(d)] for _ in range(n)]
    yield SPECIAL


def metrics():
    """The metrics of pdist.h, and those that the test computes with kernels of its own."""
    with open(os.path.join(ROOT, "include/threadmap/triangle/pdist.h")) as file:
        return re.findall(r"^    X\([A-Z]+, ([a-z]+),", file.read(), re.MULTILINE) + OWN


def text():
    import numpy
    from scipy.spatial.distance import pdist
    numpy.seterr(all="ignore")
    out = [HEADER]
    for points in all_points():
        values = " ".join(f"{x:.9g}" for row in points for x in row)
        out.append(f"points {len(points)} {len(points[0])} {values}\n")
        for metric in metrics():
            distances = pdist(numpy.array(points, dtype=float), metric)
            out.append(f"{metric} {' '.join(f'{x:.17g}' for x in distances)}\n")
    return "".join(out)


def same(a, b):
    """Equal but for the last digits of the numbers, which another version may round otherwise."""
    a, b = a.split(), b.split()
    return len(a) == len(b) and all(x == y or number(x) and number(y) and
                                    math.isclose(float(x), float(y), rel_tol=1e-13, abs_tol=1e-15)
                                    for x, y in zip(a, b))


def number(word):
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


try:
    run("pdist.txt", text(), __doc__, same)
except ImportError:
    print("SKIP: no scipy")
    sys.exit(77)
