#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""halos.py [N] [PICTURE]: groups of points, as halos are found among the particles of a simulation
(friends of friends): clusters in a cube with a uniform background, linked by 0.2 of the mean distance.
The largest are listed; each must lie about a centre that was drawn. On CuPy arrays with a GPU, else on
NumPy's, which is slow: N is 4000 then, else a million. PICTURE: halos.png, with matplotlib.
"""
import importlib
import sys

try:
    import numpy
    import threadmap
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)


def points(n, random):
    """Half of them in 40 clusters. Returns them and the centres."""
    centres = random.random((40, 3))
    wide = random.uniform(0.002, 0.01, (40, 1))
    at = random.integers(0, 40, n // 2)
    inside = centres[at] + wide[at] * random.normal(size=(n // 2, 3))
    return numpy.concatenate([inside % 1, random.random((n - n // 2, 3))]).astype("float32"), centres


def draw(x, labels, large, name):
    try:
        from matplotlib import pyplot
    except ImportError as error:
        return print(f"no picture: {error}")
    figure, axes = pyplot.subplots(figsize=(6, 6))
    axes.scatter(x[:, 0], x[:, 1], s=1, c="lightgrey", label="others")
    for number, group in enumerate(large[:10]):
        mine = labels == group
        axes.scatter(x[mine, 0], x[mine, 1], s=2, color=f"C{number}", label=f"{mine.sum()} points")
    axes.set(xlabel="x", ylabel="y", aspect="equal", title="The ten largest groups")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), markerscale=5)
    figure.savefig(name, dpi=100, bbox_inches="tight")
    return print(f"wrote {name}")


def main():
    arrays = importlib.import_module("cupy" if threadmap.device() == "gpu" else "numpy")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000 if arrays is not numpy else 4000
    x, centres = points(n, numpy.random.default_rng(1))
    count, labels = threadmap.groups(arrays.asarray(x), 0.2 / n**(1 / 3), box=(1, 1, 1))
    labels = labels if arrays is numpy else labels.get()
    sizes = numpy.bincount(labels, minlength=count)
    large = numpy.argsort(-sizes)[:20]
    print(f"{n} points, {count} groups, {(sizes == 1).sum()} of one point")
    wrong = int(sizes.sum() != n)
    for group in large:
        apart = x[labels == group].astype(float)[:, None] - centres
        apart = numpy.sqrt(((apart - numpy.rint(apart)) ** 2).sum(2)).mean(0)
        wrong += apart.min() > 0.03
        print(f"{sizes[group]:8} points about {centres[apart.argmin()].round(3)}")
    if len(sys.argv) > 2:
        draw(x, labels, large, sys.argv[2])
    print("wrong" if wrong else "ok")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
