#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known answers for the maps of triangles and of the simplex, from their definition: the cells in
their order, one by one, and never from our maps.

    generate_triangle.py            write triangle.txt beside this file
    generate_triangle.py --check    exit with 1 if triangle.txt is not what this program writes

Small domains are enumerated whole. Large numbers are sums of whole rows in Python's unbounded
integers. The random numbers' cells come from an integer root. The file has hashes of all vectors and a
few of them in full.
"""
import itertools
import math

from common import Random, U32, U64, mix, run

SMALL = [1, 2, 3, 4, 9]
HASHED = 4096  # numbers under one hash

HEADER = """\
# SPDX-License-Identifier: MIT
# Known answers for the maps of triangle/. Written by
# generate_triangle.py: change that, not this.
#
# vectors ORDER SMALL LARGE     hashes: of all cells of small domains, of chosen ones of large domains
# counts HASH                   of all sides with their counts
# tiles HASH                    of all tiles of some domains
# random ORDER BITS COUNT SUM   sum of cell hashes of COUNT random numbers of BITS bits
# ORDER: lower (i >= j), strict (i > j), upper (i <= j), condensed (i < j), simplex (i >= j >= k)
#
# The readers make the same vectors by the definition, compare the hashes, and ask the maps of each
# vector. A few of the vectors, to be read, are at the end:
#
# cell ORDER N L I J K          one cell of number L; K is 0 but for the simplex
# count N LOWER STRICT SIMPLEX  cells of side N; 2^64 - 1 for what does not fit
"""


# ---- the definitions ----------------------------------------------------------------------------

ORDERS = {
    "lower": lambda n: [(i, j) for i in range(n) for j in range(i + 1)],
    "strict": lambda n: [(i, j) for i in range(n) for j in range(i)],
    "upper": lambda n: list(itertools.combinations_with_replacement(range(n), 2)),
    "condensed": lambda n: list(itertools.combinations(range(n), 2)),
    "simplex": lambda n: [(i, j, k) for i in range(n) for j in range(i + 1) for k in range(j + 1)],
}


def lower(n):
    """The cells in n rows."""
    return n * (n + 1) // 2


def layers(n):
    return n * (n + 1) * (n + 2) // 6


def number(order, n, i, j, k=0):
    """How many cells come before (i, j, k)."""
    return {
        "lower": lambda: lower(i) + j,
        "strict": lambda: lower(i - 1) + j,
        "upper": lambda: sum_rows(n, i, 0) + j - i,
        "condensed": lambda: sum_rows(n, i, 1) + j - i - 1,
        "simplex": lambda: layers(i) + lower(j) + k,
    }[order]()


def sum_rows(n, rows, gap):
    """n - gap, n - gap - 1, ...: the numbers of cells of the rows of an upper triangle."""
    return rows * (2 * (n - gap) - rows + 1) // 2


def root(function, value):
    """The largest n with function(n) <= value."""
    low, high = 0, 1
    while function(high) <= value:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if function(middle) <= value else (low, middle)
    return low


def cell(order, value):
    """The cell of a number, for orders without n."""
    if order == "simplex":
        i = root(layers, value)
        return (i, *cell("lower", value - layers(i)))
    i = (math.isqrt(8 * value + 1) - 1) // 2
    assert lower(i) <= value < lower(i + 1)
    return (i + (order == "strict"), value - lower(i))


# ---- the vectors --------------------------------------------------------------------------------


def small_vectors(order):
    for n in SMALL + ([17] if order == "lower" else []):
        for l, c in enumerate(ORDERS[order](n)):
            assert number(order, n, *c) == l
            yield n, l, *c


def one(order, n, *c):
    i, j, k = (*c, 0)[:3]
    return order, n, number(order, n, *c), i, j, k


def large_vectors(random):
    """Both ends of rows around every power of two and around each type's last row."""
    most = {"lower": root(lower, U64), "strict": root(lower, U64) + 1}
    for order in ("lower", "strict"):
        first = order == "strict"
        rows = {(1 << b) + d for b in range(4, 33) for d in (-1, 0, 1)}
        rows |= {root(lower, U32) + first, 92680, 2055, 4096, 46341, 65537, most[order] - 1}
        for i in sorted(rows):
            for j in sorted({0, random.bits(32) % i, i - first}):
                yield one(order, 0, i, j)
        for value in (U32 - 1, U32, U32 + 1, U64 >> 1, (U64 >> 1) + 1, U64 - 1, U64):
            yield one(order, 0, *cell(order, value))
    for n in (92681, 92682, 131072, 2**31, 2**32 - 1, most["lower"], most["strict"]):
        for order, gap in (("upper", 0), ("condensed", 1)):
            if number(order, n, n - 1 - gap, n - 1) > U64:
                continue
            for i in sorted({0, 1, random.bits(63) % n, n // 2, n - 2 - gap, n - 1 - gap}):
                for j in sorted({i + gap, (i + gap + n) // 2, n - 1}):
                    if j < n:
                        yield one(order, n, i, j)
    last = root(layers, U64)
    for i in sorted({(1 << b) + d for b in range(4, 23) for d in (-1, 0, 1)} |
                    {root(layers, U32), last - 1}):
        for j in sorted({0, random.bits(32) % i, i}):
            yield one("simplex", 0, i, j, 0)
            yield one("simplex", 0, i, j, j)
    for value in (U32 - 1, U32, U32 + 1, U64 >> 1, U64 - 1, U64):
        yield one("simplex", 0, *cell("simplex", value))


def counts():
    edges = {2**b + d for b in range(1, 64) for d in (-1, 0, 1)} | {0, 46341, 65537, U64}
    for f, most in ((lower, U32), (lower, U64), (layers, U32), (layers, U64)):
        edges |= {root(f, most) + d for d in (-1, 0, 1, 2)}
    for n in sorted(edges):
        yield n, *(min(c, U64) for c in (lower(n), lower(n - 1) if n else 0, layers(n)))


def tiles():
    for n, rho in ((0, 4), (1, 1), (1, 16), (5, 1), (7, 3), (16, 4), (17, 4), (33, 32), (100, 16)):
        tiles = {}
        for i, j in ORDERS["lower"](n):
            tiles.setdefault((i // rho, j // rho), []).append((i, j))
        yield n, rho
        for (ti, tj), cells in sorted(tiles.items()):
            rows, columns = ({c[axis] for c in cells} for axis in (0, 1))
            yield (min(rows), min(columns), len(rows), len(columns), int(ti == tj), len(cells),
                   sum(i != j for i, j in cells))


# ---- the lines ----------------------------------------------------------------------------------


def hash_of(vectors):
    return mix(itertools.chain(*vectors))


def lines():
    large = list(large_vectors(Random(20140501)))
    for order in ORDERS:
        yield (f"vectors {order} {hash_of(small_vectors(order))} "
               f"{hash_of(v[1:] for v in large if v[0] == order)}")
    yield f"counts {hash_of(counts())}"
    yield f"tiles {hash_of(tiles())}"
    for order in ("lower", "strict", "simplex"):
        for bits in (20, 32, 48, 63, 64):
            random = Random(bits)
            total = sum(mix(cell(order, random.bits(bits))) for _ in range(HASHED)) & U64
            yield f"random {order} {bits} {HASHED} {total}"
    for order in ORDERS:
        some = [v for v in large if v[0] == order]
        for v in some[::len(some) // 15 + 1] + some[-1:]:
            yield "# cell " + " ".join(map(str, v))
    for count in list(counts())[5::20]:
        yield "# count " + " ".join(map(str, count))


def generate():
    yield HEADER
    yield from (line + "\n" for line in lines())


run("triangle.txt", "".join(generate()), __doc__)
