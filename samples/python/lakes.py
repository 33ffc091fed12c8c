#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lakes.py [SIDE] [PICTURE]: the lakes of a terrain, which fill its depressions up to where they
spill, and their areas. The terrain is a sum of waves; water leaves over its border. On CuPy arrays with
a GPU, else on NumPy's, which is slow: SIDE is 200 then, else 4096. PICTURE: lakes.png, with matplotlib.
"""
import importlib
import sys

try:
    import numpy
    import threadmap
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)


def terrain(side, random):
    """Heights in metres, float32: longer waves are higher."""
    y, x = numpy.mgrid[0:side, 0:side] / side
    heights = numpy.zeros((side, side))
    for waves in range(1, 40):
        turn, at = random.uniform(0, 2 * numpy.pi, 2)
        heights += numpy.sin(6.283 * waves * (x * numpy.cos(turn) + y * numpy.sin(turn)) + at) / waves
    return (100 * heights).astype("float32")


def draw(heights, depth, name):
    try:
        from matplotlib import pyplot
    except ImportError as error:
        return print(f"no picture: {error}")
    figure, axes = pyplot.subplots(figsize=(8, 6))
    land = axes.imshow(heights, cmap="YlOrBr_r")
    water = axes.imshow(numpy.where(depth > 0, depth, numpy.nan), cmap="Blues", vmin=-20)
    figure.colorbar(land, ax=axes, label="height, m")
    figure.colorbar(water, ax=axes, label="depth of a lake, m")
    axes.set(title="Depressions filled up to where they spill")
    figure.savefig(name, dpi=100, bbox_inches="tight")
    return print(f"wrote {name}")


def main():
    arrays = importlib.import_module("cupy" if threadmap.device() == "gpu" else "numpy")
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 4096 if arrays is not numpy else 200
    heights = arrays.asarray(terrain(side, numpy.random.default_rng(1)))
    level = threadmap.spill(heights)
    labels, count = threadmap.label(level > heights, connectivity=2)
    areas = numpy.bincount((labels if arrays is numpy else labels.get()).ravel(), minlength=count + 1)[1:]
    print(f"{side} x {side} cells, {count} lakes, {100 * areas.sum() / side**2:.1f}% of the area")
    print("the largest:", *sorted(areas.tolist(), reverse=True)[:5], "cells")
    wrong = bool((level < heights).any())  # water is not below the ground,
    wrong |= bool((threadmap.spill(level) != level).any())  # full lakes do not fill again,
    inside = level[1:-1, 1:-1]  # and each has one level
    lake = labels[1:-1, 1:-1]
    for dy, dx in (0, 1), (1, 0), (1, 1):
        there = (lake > 0) & (lake == labels[1 + dy:side - 1 + dy, 1 + dx:side - 1 + dx])
        wrong |= bool((inside != level[1 + dy:side - 1 + dy, 1 + dx:side - 1 + dx])[there].any())
    if len(sys.argv) > 2:
        heights, level = (x if arrays is numpy else x.get() for x in (heights, level))
        draw(heights, level - heights, sys.argv[2])
    print("wrong" if wrong else "ok")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
