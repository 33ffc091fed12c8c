#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known answers for fractal/nbb.h and nbb3.h and their catalogues, from the definition of a fractal and never from our maps.

    generate.py            write nbb.txt and nbb3.txt beside this file
    generate.py --check    exit with 1 if they are not what this program writes

Small levels are drawn by brute force: level r is k copies of the picture of level r - 1, put side
by side, and each copy carries on the labels of its cells. Large levels, whose pictures fit no
memory, are sums over random digits in Python's unbounded integers. The replicas are read off the
rows of text here; the packed constants of the catalogues play no part. The files have hashes of all
vectors and a few of them in full.
"""
from math import prod

from common import Random, U32, U64, mix, run

CATALOGUE = [  # in the order of catalogue.h
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
CATALOGUE3 = [
    ("menger", "###/#.#/###//#.#/.../#.#//###/#.#/###"),
    ("tetrahedron", "##/#.//#./.."),
    ("dust", "#.#/.../#.#//.../.../...//#.#/.../#.#"),
    ("vicsek3", ".../.#./...//.#./###/.#.//.../.#./..."),
    ("octahedron", ".../.#./...//.#./#.#/.#.//.../.#./..."),
    ("mosely", ".#./###/.#.//###/#.#/###//.#./###/.#."),
    ("mosely_heavy", ".#./###/.#.//###/###/###//.#./###/.#."),
]
OWN3 = [
    ("own-point", "#"),
    ("own-corner", "../..//../.#"),
    ("own-full2", "##/##//##/##"),
    ("own-even", "#./.#//.#/#."),  # a regular tetrahedron in 2 x 2 x 2
    ("own-layer", "#./##"),  # the gasket, flat in three dimensions
    ("own-needle", "#//.//#//#"),  # 1 wide, 1 high and 4 deep
    ("own-slab", "#..#/.##."),  # 4 wide, 2 high and 1 deep
    ("own-box", ".#/#./##//#./.#/.."),  # 2 wide, 3 high and 2 deep
    ("own-sixteen", "####/####//####/####"),  # as many replicas as fit 32 bits
    ("own-seventeen", "####/####//####/####//#.../...."),  # and one more
    ("own-full32", "####/####/####/####//####/####/####/####"),  # 32 replicas
    ("own-large", "//".join("/".join("".join("#" if (x + y + z) % 2 == 0 else "." for x in range(4))
                                     for y in range(4)) for z in range(4))),  # 32 in 4 x 4 x 4
]
CELLS_MAX = 260  # levels of at most this number of cells are listed whole
PLACES_MAX = 800  # levels of at most this number of places are drawn whole

HEADER = """\
# SPDX-License-Identifier: MIT
# Known answers for fractal/nbb{n}.h and fractal/catalogue{n}.h. Written by generate.py: change that, not this.
#
# NAME {text} A B C D SIZES SMALL LARGE
#
# A to D: level_max32, level_max64, linear_level_max32, linear_level_max64. SIZES: the hash of the boxes
# of the replicas, and of the sizes of 10 to 14 levels. SMALL: of all blanks and cells of small levels.
# LARGE: of random cells and holes of large levels, each fractal's from random digits of its own. The readers
# make the same vectors by replication and from the same digits, compare the hashes, and ask the maps of each
# vector. The numbers of the fractal in catalogue{n}.h, and a few of the vectors, follow each line, to be read:
#
"""


def header(n, text, side, thread, place):
    words = [
        (f"size R {side} V {thread}", "sides, cells, orthotope of level R; 2^64 - 1 for what does not fit"),
        (f"cell R {thread} I {place}", "one thread and its cell; I, the linear index, is '-' past 64 bits"),
        (f"hole R {place}", "a place that is not a cell"),
    ]
    width = max(len(word) for word, _ in words) + 3
    return (HEADER.format(n=n, text=text) +
            "".join(f"# {word:{width}}{meaning}\n" for word, meaning in words))


class Fractal:
    """In two dimensions from rows, or in three from layers of rows; axes in the order x, y, z."""

    def __init__(self, text, dims):
        self.dims = dims
        layers = [layer.split("/") for layer in text.split("//")]
        self.sides = (len(layers[0][0]), len(layers[0]), len(layers))[:dims]
        places = [((x, y, z)[:dims], c) for z, layer in enumerate(layers)
                  for y, row in enumerate(layer) for x, c in enumerate(row)]
        self.tau = [box for box, c in places if c == "#"]
        self.empty = [box for box, c in places if c != "#"]
        self.k = len(self.tau)

    def grow(self, cells, r):
        """Level r from level r - 1: cells (w, place) in the order of their linear index."""
        # the orthotope grows k-fold along one axis after another
        step = [self.k ** ((r - 1) // self.dims) * ((r - 1) % self.dims == a)
                for a in range(self.dims)]
        return [(tuple(n + beta * s for n, s in zip(w, step)),
                 tuple(n + t * s ** (r - 1) for n, t, s in zip(place, tau, self.sides)))
                for beta, tau in enumerate(self.tau) for w, place in cells]

    def draw(self, picture, r):
        """The picture of level r, a list of the places that are blank and of those that are not, in
        the order of reading: for each box a copy of that of level r - 1, or a blank one."""
        boxes = [(box, True) for box in self.tau] + [(box, False) for box in self.empty]
        places = [(tuple(n + t * s ** (r - 1) for n, t, s in zip(place, box, self.sides)), c and full)
                  for box, full in boxes for place, c in picture]
        return sorted(places, key=lambda place: place[0][::-1])

    def place(self, boxes):
        """The place whose box at level mu is boxes[mu - 1]."""
        return tuple(sum(box[a] * s**i for i, box in enumerate(boxes))
                     for a, s in enumerate(self.sides))

    def cell(self, digits):
        """A thread, its linear index and its cell, from beta_1, beta_2, ..."""
        index = lambda ds: sum(d * self.k**i for i, d in enumerate(ds))
        return (*[index(digits[a::self.dims]) for a in range(self.dims)], index(digits),
                *self.place([self.tau[d] for d in digits]))

    def orthotope(self, r):
        return [self.k ** len(range(a, r, self.dims)) for a in range(self.dims)]

    def level_max(self, limit, linear):
        """The largest level, up to 64, whose last coordinates and indices are at most limit."""
        fits = lambda r: (all(s**r - 1 <= limit for s in self.sides) and
                          self.orthotope(r)[0] - 1 <= limit and
                          (not linear or self.k**r - 1 <= limit))
        return max(r for r in range(65) if all(fits(q) for q in range(r + 1)))


def size_vectors(f, limits):
    for r in sorted({0, 1, 2, 3, 7, 16, 21, 40, 63, 64, *limits}):
        sizes = [*[s**r for s in f.sides], f.k**r, *f.orthotope(r)]
        yield "size", r, *[min(n, U64) for n in sizes]


def small_vectors(f):
    origin = (0,) * f.dims
    r, picture, cells = 0, [(origin, True)], [(origin, origin)]
    while r <= 9:
        drawn, listed = prod(s**r for s in f.sides) <= PLACES_MAX, len(cells) <= CELLS_MAX
        if drawn:
            assert {place for _, place in cells} == {place for place, c in picture if c}
            yield from (("hole", r, *place) for place, c in picture if not c)
        if listed:
            yield from (("cell", r, *w, i, *place) for i, (w, place) in enumerate(cells))
        if not drawn and not listed:
            break
        r += 1
        picture = f.draw(picture, r) if drawn else picture
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
        place = f.place([f.tau[d] for d in draws[0]])
        for a, s in enumerate(f.sides):  # a whole side further: outside
            if place[a] + s**r <= U64:
                yield "hole", r, *place[:a], place[a] + s**r, *place[a + 1:]


def numbers(vectors, dims):
    """What is hashed: 0, 1 or 2 for a hole, a cell and a cell with a linear index; its numbers."""
    for word, *values in vectors:
        if word != "size":
            yield 0 if word == "hole" else 1 if values[1 + dims] > U64 else 2
        yield from (x for x in values if x <= U64)


def fractal_lines(name, text, dims):
    f = Fractal(text, dims)
    limits = [f.level_max(U32, False), f.level_max(U64, False),
              f.level_max(U32, True), f.level_max(U64, True)]
    sizes, small = list(size_vectors(f, limits)), list(small_vectors(f))
    large = list(large_vectors(f, limits, Random(mix(name.encode()))))
    boxes = [n for box in f.tau for n in box]
    hashes = [mix(boxes + list(numbers(sizes, dims))), mix(numbers(small, dims)), mix(numbers(large, dims))]
    yield " ".join(map(str, (name, text, *limits, *hashes)))
    digits = [sum(box[a] << 8 // dims * i for i, box in enumerate(f.tau)) for a in range(dims)]
    yield "# numbers " + ", ".join([*map(str, (f.k, *f.sides)), *(f"{n:#x}ull" for n in digits)])
    holes = [v for v in large if v[0] == "hole"]
    cells = [v for v in large if v[0] == "cell"]
    for word, *values in (sizes[-3], small[-1], cells[4], cells[-1], holes[len(holes) // 2]):
        yield " ".join(["#", word, *(str(x) if x <= U64 else "-" for x in values)])


def generate(top, fractals, dims):
    yield top
    for name, text in fractals:
        yield "".join(line + "\n" for line in fractal_lines(name, text, dims))


if __name__ == "__main__":
    flat = header("", "ROWS", "SX SY", "WX WY", "X Y")
    deep = header(3, "LAYERS", "SX SY SZ", "WX WY WZ", "X Y Z")
    run("nbb.txt", "".join(generate(flat, CATALOGUE + OWN, 2)), __doc__)
    run("nbb3.txt", "".join(generate(deep, CATALOGUE3 + OWN3, 3)), __doc__)
