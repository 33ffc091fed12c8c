#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known answers for fractal/nbb.h and fractal/catalogue.h, from the definition of a fractal and never from our maps.

    generate.py            write nbb.txt beside this file
    generate.py --check    exit with 1 if nbb.txt is not what this program writes

Small levels are drawn by brute force: level r is k copies of the picture of level r - 1, put side
by side, and each copy carries on the labels of its cells. Large levels, whose pictures fit no
memory, are sums over random digits in Python's unbounded integers. The replicas are read off the
rows of text here; the packed constants of catalogue.h play no part. The file has hashes of all
vectors and a few of them in full.
"""
from common import Random, U32, U64, mix, run

CATALOGUE = [
    ("gasket", "#./##"),
    ("carpet", "###/#.#/###"),
    ("vicsek", ".#./###/.#."),
    ("x", "#.#/.#./#.#"),
    ("h", "#.#/###/#.#"),
    ("cantor", "#.#"),
    ("chandelier", ".#./###"),
    ("candy", "#..#/####/####/#..#"),
    ("bottles", ".#./###/###"),
]
OWN = [
    ("own-point", "#"),  # one cell at every level
    ("own-corner", "../.#"),  # one replica, which moves outwards
    ("own-mirror", ".#/##"),  # 2 x 2 fractals other than the gasket have a path of their own
    ("own-diagonal", "#./.#"),
    ("own-full2", "##/##"),
    ("own-row", "#..............#"),  # as wide as may be, 1 high
    ("own-column", "#/./#/./#"),  # 1 wide
    ("own-wave", "#..#/.##."),  # 4 wide and 2 high
    ("own-tall", ".#/#./.#/##/#."),  # 2 wide and 5 high
    ("own-full3", "###/###/###"),  # 9 replicas: one more than fit 32 bits
    ("own-full4", "####/####/####/####"),  # 16 replicas
    ("own-wide16", "################"),  # 16 replicas in 16 columns
    ("own-large", "/".join("".join("#" if x == y * 7 % 16 else "." for x in range(16))
                           for y in range(16))),  # 16 replicas in 16 x 16
]
CELLS_MAX = 260  # levels of at most this number of cells are listed whole
PLACES_MAX = 800  # levels of at most this number of places are drawn whole

HEADER = """\
# SPDX-License-Identifier: MIT
# Known answers for fractal/nbb.h and fractal/catalogue.h. Written by generate.py: change that, not this.
#
# fractal NAME ROWS K SX SY   begins a fractal; the lines after it speak of this one
# limits A B C D              level_max32, level_max64, linear_level_max32, linear_level_max64
# hash SIZES SMALL LARGE      hashes of all vectors, in the order of generate.py
# size R SX SY V WX WY        sides, cells, orthotope of level R; 2^64 - 1 for what does not fit
# cell R WX WY I X Y          one thread and its cell; I, the linear index, is '-' past 64 bits
# hole R X Y                  a place that is not a cell
#
# SIZES: the boxes of the replicas, and the sizes of 10 to 14 levels. SMALL: all blanks and cells of
# small levels. LARGE: random cells and holes of large levels. The readers make the same vectors by
# replication and from the same random digits, compare the hashes, and ask the maps of each vector.
# The lines size, cell and hole are a few of the vectors, to be read.
"""


class Fractal:
    def __init__(self, rows):
        self.rows = rows.split("/")
        self.sx, self.sy = len(self.rows[0]), len(self.rows)
        places = [(x, y) for y in range(self.sy) for x in range(self.sx)]
        self.tau = [(x, y) for x, y in places if self.rows[y][x] == "#"]
        self.empty = [(x, y) for x, y in places if self.rows[y][x] != "#"]
        self.k = len(self.tau)

    def grow(self, cells, r):
        """Level r from level r - 1: cells (wx, wy, x, y) in the order of their linear index."""
        width, height = self.sx ** (r - 1), self.sy ** (r - 1)
        # the orthotope grows k-fold along x with each odd level, along y with each even one
        step = self.k ** ((r - 1) // 2)
        return [(wx + (beta * step if r % 2 else 0), wy + (0 if r % 2 else beta * step),
                 x + tx * width, y + ty * height)
                for beta, (tx, ty) in enumerate(self.tau) for wx, wy, x, y in cells]

    def draw(self, picture):
        """The next level's picture: a copy of this one for each '#', a blank for each '.'."""
        blank = ["." * len(row) for row in picture]
        out = []
        for row in self.rows:
            boxes = [picture if c == "#" else blank for c in row]
            out += ["".join(parts) for parts in zip(*boxes)]
        return out

    def place(self, boxes):
        """The place whose box at level mu is boxes[mu - 1]."""
        return (sum(x * self.sx**i for i, (x, _) in enumerate(boxes)),
                sum(y * self.sy**i for i, (_, y) in enumerate(boxes)))

    def cell(self, digits):
        """A thread, its linear index and its cell, from beta_1, beta_2, ..."""
        index = lambda ds: sum(d * self.k**i for i, d in enumerate(ds))
        return (index(digits[0::2]), index(digits[1::2]), index(digits),
                *self.place([self.tau[d] for d in digits]))

    def level_max(self, limit, linear):
        """The largest level, up to 64, whose last coordinates and indices are at most limit."""
        fits = lambda r: (self.sx**r - 1 <= limit and self.sy**r - 1 <= limit and
                          self.k ** (r - r // 2) - 1 <= limit and
                          (not linear or self.k**r - 1 <= limit))
        return max(r for r in range(65) if all(fits(q) for q in range(r + 1)))


def size_vectors(f, limits):
    for r in sorted({0, 1, 2, 3, 7, 16, 21, 40, 63, 64, *limits}):
        sizes = [f.sx**r, f.sy**r, f.k**r, f.k ** (r - r // 2), f.k ** (r // 2)]
        yield "size", r, *[min(n, U64) for n in sizes]


def small_vectors(f):
    r, picture, cells = 0, ["#"], [(0, 0, 0, 0)]
    while r <= 9:
        drawn, listed = len(picture) * len(picture[0]) <= PLACES_MAX, len(cells) <= CELLS_MAX
        if drawn:
            places = [(x, y, c) for y, row in enumerate(picture) for x, c in enumerate(row)]
            assert {c[2:] for c in cells} == {(x, y) for x, y, c in places if c == "#"}
            yield from (("hole", r, x, y) for x, y, c in places if c != "#")
        if listed:
            yield from (("cell", r, wx, wy, i, x, y) for i, (wx, wy, x, y) in enumerate(cells))
        if not drawn and not listed:
            break
        r += 1
        picture = f.draw(picture) if drawn else picture
        cells = f.grow(cells, r)


def large_vectors(f, limits, random):
    last = f.k - 1
    for r in sorted({*limits, limits[0] - 1, limits[1] - 1, 5, 6, 11, 1 + random.below(limits[1])}):
        if r > limits[1]:
            continue
        draws = [[random.below(f.k) for _ in range(r)] for _ in range(6)]
        # all-last is the far corner of the orthotope; one lone digit shows a level that is mixed up
        for digits in [[last] * r, [last] + [0] * (r - 1), [0] * (r - 1) + [last], *draws]:
            yield "cell", r, *f.cell(digits)
        for draw in draws[:3]:
            boxes = [f.tau[d] for d in draw]
            if f.empty:  # one empty box at any one level makes a hole
                boxes[random.below(r)] = f.empty[random.below(len(f.empty))]
                yield "hole", r, *f.place(boxes)
        x, y = f.place([f.tau[d] for d in draws[0]])
        for hx, hy in [(x + f.sx**r, y), (x, y + f.sy**r)]:  # a whole side further: outside
            if max(hx, hy) <= U64:
                yield "hole", r, hx, hy


def numbers(vectors):
    """What is hashed: 0, 1 or 2 for a hole, a cell and a cell with a linear index; its numbers."""
    for word, *values in vectors:
        if word != "size":
            yield 0 if word == "hole" else 1 if values[3] > U64 else 2
        yield from (x for x in values if x <= U64)


def fractal_lines(name, rows, random):
    f = Fractal(rows)
    limits = [f.level_max(U32, False), f.level_max(U64, False),
              f.level_max(U32, True), f.level_max(U64, True)]
    sizes, small = list(size_vectors(f, limits)), list(small_vectors(f))
    large = list(large_vectors(f, limits, random))
    boxes = [n for box in f.tau for n in box]
    yield f"fractal {name} {rows} {f.k} {f.sx} {f.sy}"
    yield "limits " + " ".join(map(str, limits))
    yield f"hash {mix(boxes + list(numbers(sizes)))} {mix(numbers(small))} {mix(numbers(large))}"
    holes = [v for v in large if v[0] == "hole"]
    cells = [v for v in large if v[0] == "cell"]
    for word, *values in (sizes[-3], small[-1], cells[4], cells[-1], holes[len(holes) // 2]):
        yield " ".join([word, *(str(x) if x <= U64 else "-" for x in values)])


def generate():
    random = Random(20240229)
    yield HEADER
    for name, rows in CATALOGUE + OWN:
        yield "".join(line + "\n" for line in fractal_lines(name, rows, random))


if __name__ == "__main__":
    run("nbb.txt", "".join(generate()), __doc__)
