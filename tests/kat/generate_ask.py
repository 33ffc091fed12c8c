#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known answers for adaptive/region.h and papers/ask_model.h, in exact fractions from the definitions.

    generate_ask.py            write ask.txt beside this file
    generate_ask.py --check    exit with 1 if ask.txt is not what the definitions give

The work of the Mandelbrot set is summed level by level, never by the closed form. The file has hashes
of the vectors of whole numbers, a few of them in full, and all vectors of the cost model.
"""
import itertools
import math
from fractions import Fraction

from common import Random, U64, mix, run

HEADER = """\
# SPDX-License-Identifier: MIT
# Known answers for adaptive/region.h and papers/ask_model.h. Written by generate_ask.py: change that, not this.
#
# hash WORD HASH                    of all vectors of a word, which the reader makes as well
# edge N PARTS I FIRST              part I of N elements cut into PARTS begins at FIRST
# levels N G R B TAU
# olt REGIONS R K ENTRIES           2^64 - 1 for what does not fit
# canonical K N0 .. X0 .. S         K axes: sides, coordinates, scalar
# morton2 X Y S
# morton3 X Y Z S
# model N G R B A P LAMBDA Q C W_E W_S OMEGA BOUND T_E T_SBR T_MBR S_SBR S_MBR
# work ELEMENTS A G TAU P0 .. R0 .. Q0 .. S0 .. T0 .. REGIONS W_S   TAU - 1 of each; the regions
#                                   are those of the last level
"""


def edges(draw):
    """The first element of part I is the first whose end lies beyond the fraction I / PARTS."""
    cases = [(n, parts, i) for n in (1, 2, 7, 10, 27, 100) for parts in (1, 2, 3, 4, 7, 12)
             for i in range(parts + 1)]
    for _ in range(200):
        n = draw.bits(1 + draw.below(64))
        parts = max(draw.bits(1 + draw.below(32)), 1)
        cases.append((n, parts, draw.below(parts + 1)))
    cases += [(U64, 2**32, 2**32 - 1), (U64, 2**32, 2**32), (2**32 - 1, 2**32, 2**31)]
    for n, parts, i in cases:
        yield "edge", n, parts, i, math.floor(Fraction(n) * i / parts)


def levels(n, g, r, b):
    """floor(log_r(n / (g b))), at least 1, by comparing whole powers."""
    tau = 0
    while Fraction(n, g * b) >= r ** (tau + 1):
        tau += 1
    return max(tau, 1)


def all_levels():
    cases = [(65536, 32, 2, 32), (2**24, 8, 2, 8), (1024, 2, 2, 1), (1000, 3, 5, 2), (7, 7, 2, 1)]
    for r in (2, 3, 5, 6, 7, 10):
        for e in range(1, 16):
            for g, b in ((1, 1), (2, 3), (5, 4)):
                cases += [(r**e * g * b + d, g, r, b) for d in (-1, 0, 1) if r**e + d >= 1]
    for n, g, r, b in cases:
        if g * b <= n:
            yield "levels", n, g, r, b, levels(n, g, r, b)


def olts():
    for regions, r, k in itertools.product((0, 1, 1000, 2**40, 2**60), (2, 3, 16), range(1, 9)):
        yield "olt", regions, r, k, min(regions * r**k, U64)


def scalars(draw):
    for k in range(1, 7):
        for _ in range(20):
            sides = [max(draw.bits(60 // k if k > 1 else 32), 1) for _ in range(k)]
            place = [draw.below(side) for side in sides]
            scalar = sum(x * math.prod(sides[:i]) for i, x in enumerate(place))
            yield "canonical", k, *sides, *place, scalar
    for k, bits in ((2, 32), (3, 21)):
        for _ in range(30):
            place = [draw.bits(1 + draw.below(bits)) for _ in range(k)]
            digits = ("".join(bit) for bit in zip(*(f"{x:0{bits}b}" for x in reversed(place))))
            yield f"morton{k}", *place, int("".join(digits), 2)


def wholes(draw):
    """The hash of each word's vectors, and five of them."""
    vectors = [*edges(draw), *all_levels(), *olts(), *scalars(draw)]
    for word in dict.fromkeys(vector[0] for vector in vectors):
        some = [vector for vector in vectors if vector[0] == word]
        yield f"hash {word} {mix(x for vector in some for x in vector[1:])}"
        yield from (" ".join(map(str, v)) for v in some[len(some) // 10::len(some) // 5])


def model(n, g, r, b, a, p, lam, q, c):
    """Work by equation 20, times by 22 to 24, all in fractions."""
    m = levels(n, g, r, b) - 1
    work, sbr, mbr = Fraction(0), Fraction(0), Fraction(0)
    flat = math.ceil(Fraction(n * n) / (q * c))
    for i in range(m):
        side = Fraction(n, g * r**i)
        regions = g * g * r**(2 * i)
        waves = math.ceil(regions / q)
        work += p**i * regions * (4 * a * side + p * lam * a + (1 - p) * side**2)
        sbr += p**i * waves * (math.ceil(4 * a * side / c) + p * lam * a +
                               (1 - p) * math.ceil(side**2 / c))
        mbr += p**i * (a * math.ceil(4 * side / c) * waves + p * lam * a * waves + (1 - p) * flat)
    side, regions = Fraction(n, g * r**m), g * g * r**(2 * m)
    work += p**m * regions * a * side**2
    sbr += a * p**m * math.ceil(side**2 / c) * math.ceil(regions / q)
    mbr += a * p**m * flat
    whole, time = a * n * n, a * flat
    return [whole, work, whole / work, a / (1 + (a - 1) * p**m), time, sbr, mbr, time / sbr,
            time / mbr]


def number(x):
    return f"{float(x):.15g}"


def models(draw):
    cases = [(65536, 32, 2, 32, "8", "0.7", "100", "128", "64"),
             (2**24, 8, 2, 8, "8", "0.7", "100", "128", "64"),
             (16384, 32, 2, 32, "512", "0.75", "10", "132", "128"),
             (1000, 3, 5, 2, "7.5", "0.4", "0", "6", "32"), (64, 64, 2, 1, "1", "1", "1", "1", "1")]
    # the ratios P r and P R at 1, and beside it
    for r, p in ((2, "0.5"), (2, "0.25"), (4, "0.25"), (4, "0.0625"), (2, "0.5000001"),
                 (2, "0.2499999"), (3, "0.333333333333333"), (2, "0.5003"), (2, "0"), (2, "1")):
        cases.append((65536 * 9, 4, r, 3, "100", p, "25", "108", "64"))
    for _ in range(100):
        n, g = max(draw.bits(6 + draw.below(19)), 1), 1 + draw.below(64)
        r, b = (2, 2, 2, 3, 4, 5, 8, 16)[draw.below(8)], (1, 2, 5, 8, 16, 32, 64)[draw.below(7)]
        if g * b <= n:
            cases.append((n, g, r, b, str(1 + draw.below(1024)), f"{draw.below(1001) / 1000}",
                          str(draw.below(1000)), str(1 + draw.below(199)),
                          str((32, 64, 128)[draw.below(3)])))
    for n, g, r, b, *rest in cases:
        answers = model(n, g, r, b, *map(Fraction, rest))
        yield " ".join(map(str, ["model", n, g, r, b, *rest, *map(number, answers)]))


def works(draw):
    """W_S of equation 16 from regions that are counted on level by level."""
    for tau in list(range(1, 9)) * 4:
        elements, a, first = 1 + draw.below(10**6), 1 + draw.below(600), 1 + draw.below(98)
        p = [Fraction(draw.below(101), 100) for _ in range(tau - 1)]
        r = [(4, 9, 16)[draw.below(3)] for _ in range(tau - 1)]
        q, s, t = ([draw.below(1000) for _ in range(tau - 1)] for _ in range(3))
        regions, size, work = Fraction(first), Fraction(elements, first), Fraction(0)
        for i in range(tau - 1):
            work += regions * q[i] + regions * p[i] * s[i] + regions * (1 - p[i]) * t[i]
            regions *= p[i] * r[i]
            size /= r[i]
        work += regions * size * a
        yield " ".join(map(str, ["work", elements, a, first, tau, *map(float, p), *r, *q, *s, *t,
                                 number(regions), number(work)]))


def text():
    draw = Random(3)
    parts = (wholes(draw), models(draw), works(draw))
    return HEADER + "".join(f"{line}\n" for line in itertools.chain(*parts))


run("ask.txt", text(), __doc__)
