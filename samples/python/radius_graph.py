#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""radius_graph.py [N] [PICTURE]: the radius graph of a folded chain, as of the residues of a protein: who is
within 8 of whom, each with all neighbours, in compressed rows. The chain is a walk of steps of 3.8 that
stays in a ball. N: links of the chain, 600, or 200000 with a GPU. PICTURE: radius_graph.png, the map of
contacts, with matplotlib.
"""
import importlib
import sys

try:
    import numpy
    import threadmap
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)

RADIUS = 8.0


def chain(n, random):
    """Each step turns back where it would leave the ball."""
    ball = 3.5 * n**(1 / 3)
    steps = random.normal(size=(n, 3))
    steps *= 3.8 / numpy.sqrt((steps**2).sum(1, keepdims=True))
    at, x = numpy.zeros(3), numpy.empty((n, 3), "float32")
    for i, step in enumerate(steps):
        out = at + step
        at = out if out @ out < ball**2 else at - step
        x[i] = at
    return x


def draw(rows, columns, n, name):
    try:
        from matplotlib import pyplot
    except ImportError as error:
        return print(f"no picture: {error}")
    figure, axes = pyplot.subplots(figsize=(6, 6))
    axes.plot(rows, columns, ",", color="C0")
    axes.set(xlabel="link", ylabel="link", xlim=(0, n), ylim=(n, 0), aspect="equal",
             title=f"Contacts: links within {RADIUS:g}")
    figure.savefig(name, dpi=100, bbox_inches="tight")
    return print(f"wrote {name}")


def main():
    arrays = importlib.import_module("cupy" if threadmap.device() == "gpu" else "numpy")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200000 if arrays is not numpy else 600
    x = chain(n, numpy.random.default_rng(1))
    starts, columns, distances = (a if arrays is numpy else a.get() for a in threadmap.graph_within(
        arrays.asarray(x), RADIUS))
    degrees = numpy.diff(starts)
    print(f"{n} links, {len(columns)} edges, {degrees.min()} to {degrees.max()} neighbours")
    rows = numpy.repeat(numpy.arange(n), degrees)
    apart = numpy.sqrt(((x[rows].astype(float) - x[columns]) ** 2).sum(1))
    wrong = not numpy.allclose(apart, distances, 1e-5) or (rows == columns).any()
    for i in numpy.linspace(0, n - 1, 50).astype(int):  # some rows, against all distances
        near = numpy.flatnonzero(numpy.sqrt(((x.astype(float) - x[i]) ** 2).sum(1)) <= RADIUS)
        wrong |= abs(len(near) - 1 - degrees[i]) > 1e-4 * n  # one may be rounded to the other side
    if len(sys.argv) > 2:
        draw(rows, columns, n, sys.argv[2])
    print("wrong" if wrong else "ok")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
