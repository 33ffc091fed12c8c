#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scan.py [SIDE] [PICTURE]: the components of a scan in three dimensions and their sizes: balls of several
sizes, and noise, which makes components of a few cells. On CuPy arrays with a GPU, else on NumPy's,
which is slow: SIDE is 48 then, else 240. PICTURE: scan.png, a slice, with matplotlib.
"""
import importlib
import sys

try:
    import numpy
    import threadmap
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)

CUBE = 24  # of each cube a ball is in the middle


def scan(side, random):
    """(brightness, how many balls): balls do not touch."""
    at = numpy.stack(numpy.mgrid[0:side, 0:side, 0:side]) % CUBE - CUBE / 2
    cubes = -(-side // CUBE)
    radii = random.uniform(3, CUBE / 2 - 1, (cubes,) * 3)
    for axis in range(3):
        radii = radii.repeat(CUBE, axis)
    ball = (at**2).sum(0) < radii[:side, :side, :side] ** 2
    return (ball + 0.16 * random.normal(size=ball.shape)).astype("float32"), (side // CUBE) ** 3


def draw(labels, name):
    try:
        from matplotlib import pyplot
    except ImportError as error:
        return print(f"no picture: {error}")
    figure, axes = pyplot.subplots(figsize=(6, 6))
    colours = pyplot.get_cmap("tab20")(labels % 19)
    axes.imshow(numpy.where(labels[..., None] > 0, colours, 1))
    axes.set(xlabel="x", ylabel="y", title="A slice: a colour for each component")
    figure.savefig(name, dpi=100, bbox_inches="tight")
    return print(f"wrote {name}")


def main():
    arrays = importlib.import_module("cupy" if threadmap.device() == "gpu" else "numpy")
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 240 if arrays is not numpy else 48
    side -= side % CUBE  # whole balls
    bright, balls = scan(side, numpy.random.default_rng(1))
    labels, count = threadmap.label(arrays.asarray(bright) > 0.5, connectivity=3)
    labels = labels if arrays is numpy else labels.get()
    sizes = numpy.bincount(labels.ravel(), minlength=count + 1)[1:]
    large = sizes >= 20
    print(f"{side}^3 cells, {count} components, {(~large).sum()} of fewer than 20 cells")
    print(f"{large.sum()} balls of {sizes[large].min()} to {sizes.max()} cells, {balls} were drawn")
    if len(sys.argv) > 2:
        draw(labels[side // 2], sys.argv[2])
    wrong = large.sum() != balls
    print("wrong" if wrong else "ok")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
