#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known answers for the maps of triangles and of the simplex, from their definition: the cells in
their order, one by one, and never from our maps.

    generate_triangle.py            write triangle.txt beside this file
    generate_triangle.py --check    exit with 1 if triangle.txt is not what this program writes

Small domains are enumerated whole. Large numbers are sums of whole rows in Python's unbounded
integers. The hashes stand for many random numbers, whose cells come from an integer root.
"""
import itertools
import math
import os
import sys

U32, U64 = 2**32 - 1, 2**64 - 1
SMALL = [1, 2, 3, 4, 9]
HASHED = 4096  # numbers under one hash

HEADER = """\
# SPDX-License-Identifier: MIT
# Known answers for the maps of triangle/. Written by
# generate_triangle.py: change that, not this.
#
# cells ORDER N I,J[,K] ...   all cells of the domain of side N; entry l, from 0, has number l
# cell ORDER N L I J K        one cell of number L; K is 0 but for the simplex
# count N LOWER STRICT SIMPLEX  cells of side N; 2^64 - 1 for what does not fit
# tiles N RHO I,J,ROWS,COLUMNS,DIAGONAL,CELLS,STRICT ...   all tiles, in the order of their number
# hash ORDER BITS COUNT SUM   sum of cell hashes of COUNT random numbers of so many bits
# ORDER: lower (i >= j), strict (i > j), upper (i <= j), condensed (i < j), simplex (i >= j >= k)
"""


class Random:
    """xorshift64*; the tests draw the same numbers."""

    def __init__(self, seed):
        self.state = seed

    def bits(self, n):
        self.state ^= self.state >> 12
        self.state = (self.state ^ self.state << 25) & U64
        self.state ^= self.state >> 27
        return (self.state * 0x2545F4914F6CDD1D & U64) >> (64 - n)


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
    """n - gap, n - gap - 1, ...: the cells of so many rows of an upper triangle."""
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


# ---- the lines ----------------------------------------------------------------------------------


def small_lines():
    for order, cells in ORDERS.items():
        for n in SMALL + ([17] if order == "lower" else []):
            listed = cells(n)
            for l, c in enumerate(listed):
                assert number(order, n, *c) == l
            yield f"cells {order} {n} " + " ".join(",".join(map(str, c)) for c in listed)


def one(order, n, *c):
    i, j, k = (*c, 0)[:3]
    return f"cell {order} {n} {number(order, n, *c)} {i} {j} {k}"


def large_lines(random):
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


def count_lines():
    edges = {2**b + d for b in range(1, 64) for d in (-1, 0, 1)} | {0, 46341, 65537, U64}
    for f, most in ((lower, U32), (lower, U64), (layers, U32), (layers, U64)):
        edges |= {root(f, most) + d for d in (-1, 0, 1, 2)}
    for n in sorted(edges):
        counts = (lower(n), lower(n - 1) if n else 0, layers(n))
        yield f"count {n} " + " ".join(str(min(c, U64)) for c in counts)


def tile_lines():
    for n, rho in ((0, 4), (1, 1), (1, 16), (5, 1), (7, 3), (16, 4), (17, 4), (33, 32), (100, 16)):
        tiles = {}
        for i, j in ORDERS["lower"](n):
            tiles.setdefault((i // rho, j // rho), []).append((i, j))
        entries = []
        for (ti, tj), cells in sorted(tiles.items()):
            rows, columns = ({c[axis] for c in cells} for axis in (0, 1))
            entries.append([min(rows), min(columns), len(rows), len(columns), int(ti == tj),
                            len(cells), sum(i != j for i, j in cells)])
        yield f"tiles {n} {rho} " + " ".join(",".join(map(str, e)) for e in entries)


def cell_hash(c):
    h = 0
    for x in c:
        h = ((h ^ x) * 0x9E3779B97F4A7C15) & U64
        h ^= h >> 29
    return h


def hash_lines():
    for order in ("lower", "strict", "simplex"):
        for bits in (20, 32, 48, 63, 64):
            random = Random(bits)
            total = sum(cell_hash(cell(order, random.bits(bits))) for _ in range(HASHED)) & U64
            yield f"hash {order} {bits} {HASHED} {total}"


def generate():
    yield HEADER
    for lines in (small_lines(), large_lines(Random(20140501)), count_lines(), tile_lines(),
                  hash_lines()):
        yield "".join(line.rstrip() + "\n" for line in lines)


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triangle.txt")
    text = "".join(generate())
    if sys.argv[1:] == ["--check"]:
        with open(path, encoding="ascii") as file:
            if file.read() != text:
                sys.exit(f"{path} is not what generate_triangle.py writes: run it")
        print(f"{path}: {len(text)} bytes, reproduced")
    elif len(sys.argv) == 1:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    else:
        sys.exit(__doc__)


main()
