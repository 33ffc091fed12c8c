#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_test.py FOLDER: the functions of python/threadmap/arrays.py on NumPy arrays, with the library
of the CPU machine in that folder: against scipy where it is there and by brute force, at random; the
examples of docs/python.md; refusals; structs as the C compiler has them. Skipped without numpy.
python_test.py installed: the same of the module and the library that are installed.
python_test.py FOLDER gpu: the functions alone, on arrays of CuPy and of PyTorch, whichever is there,
with the library of a GPU in that folder. Skipped without a GPU."""
import ast
import collections
import contextlib
import ctypes
import functools
import importlib
import io
import itertools
import os
import re
import subprocess
import sys
import tempfile
import threading
import types
import warnings

ROOT = os.environ.get("TMAP_ROOT") or \
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if sys.argv[1] != "installed":
    sys.path.insert(0, os.path.join(ROOT, "python"))
    os.environ["THREADMAP_LIBRARY"] = sys.argv[1]
try:
    import numpy as np
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(77)
import threadmap
module = threadmap

try:
    import scipy.cluster.hierarchy
    import scipy.ndimage
    import scipy.spatial
except ImportError:
    scipy = None

PROBLEMS = []


def check(right, what):
    if not np.all(right):
        PROBLEMS.append(what)


def close(got, want, what, rounding=1e-12):
    got, want = np.asarray(got, float), np.asarray(want, float)
    check(got.shape == want.shape and np.allclose(got, want, rounding, rounding), what)


def far(a, b, box=None):
    """The distances of all points of two sets."""
    d = a[:, None, :].astype(float) - b[None, :, :]
    if np.ndim(box) == 2:  # the nearest of many images: differences are below 120
        steps = np.stack(np.meshgrid(*[range(-5, 6)] * 3), -1).reshape(-1, 3) @ np.array(box, float)
        return np.sqrt(np.min([((d - step) ** 2).sum(axis=2) for step in steps], axis=0))
    if box is not None:
        lengths = np.array(box, float)
        d -= np.where(lengths > 0, lengths * np.rint(d / np.where(lengths > 0, lengths, 1)), 0)
    return np.sqrt((d * d).sum(axis=2))


def points(rng):
    """(points of whole numbers, some as another dtype or not contiguous, radius, box)"""
    n, d = int(rng.integers(0, 120)), int(rng.integers(2, 4))
    x = rng.integers(0, rng.choice([8, 60]), (n, d)).astype(
        rng.choice(["int32", "float16", "float32", "float64"]))
    x = [x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x[::-1][::-1]][rng.integers(4)]
    box = [None, tuple(map(int, rng.integers(10, 70, d) * rng.integers(0, 2, d)))][rng.integers(2)]
    if d == 3 and rng.integers(3) == 0:
        box = np.diag(rng.integers(40, 70, 3)) + np.tril(rng.integers(-20, 21, (3, 3)), -1)
        box = [box, box.tolist(), list(box)][rng.integers(3)]
        x = x % 40
    return x, float(rng.choice([0, 3, 7.5, 20])), box


def dbscan(within, least):
    """Labels by the serial algorithm: a cluster grows from its first core point before the next."""
    labels, clusters = np.full(len(within), -1), 0
    core = within.sum(axis=1) + 1 >= least
    for i in np.flatnonzero(core):
        todo = [i] if labels[i] < 0 else []
        clusters += len(todo)
        while todo:
            at = todo.pop()
            labels[at] = clusters - 1
            todo += [j for j in np.flatnonzero(within[at] & (labels < 0)) if core[at]]
    return labels


def near(rng):
    x, radius, box = points(rng)
    what = f"{len(x)} points of {x.shape[1]}, {x.dtype}, radius {radius}, box {box}"
    distance = far(x, x, box)
    within = (distance <= radius) & ~np.eye(len(x), dtype=bool)
    rounding = 1e-6 if x.dtype in ("float16", "float32") else 1e-12
    both = bool(rng.integers(2))
    i, j, values = threadmap.pairs_within(x, radius, box, both=both)
    check(values.dtype == ("float32" if rounding > 1e-9 else "float64"), f"dtype: {what}")
    listed = np.zeros_like(within)
    listed[i, j] = True
    check(np.array_equal(listed, within if both else np.triu(within)) and len(i) == listed.sum(),
          f"pairs_within: {what}")
    close(values, distance[i, j], f"pairs_within, values: {what}", rounding)
    starts, columns, values = threadmap.graph_within(x, radius, box)
    check(np.array_equal(np.diff(starts), within.sum(axis=1)) and
          np.array_equal(columns, np.nonzero(within)[1]), f"graph_within: {what}")
    close(values, distance[within], f"graph_within, values: {what}", rounding)
    check(len(threadmap.graph_within(x, radius, box, values=False)) == 2, "without values")
    count, labels = threadmap.groups(x, radius, box)
    reached = within | np.eye(len(x), dtype=bool)
    for _ in range(8):  # 2^8 steps
        reached = (reached.astype(int) @ reached) > 0
    first = reached.argmax(axis=1) if len(x) else np.zeros(0, int)
    check(np.array_equal(labels, np.unique(first, return_inverse=True)[1]) and
          count == len(set(first.tolist())) and labels.dtype == np.int32, f"groups: {what}")
    least = int(rng.integers(2, 9))
    got, want = threadmap.groups(x, radius, box, least), dbscan(within, least)
    check(got[0] == want.max(initial=-1) + 1 and np.array_equal(got[1], want),
          f"groups, {least} points: {what}")
    bins, most = int(rng.integers(1, 50)), float(rng.choice([radius or 1, 11.3]))
    got, pairs = threadmap.histogram(x, bins, most, box), distance[np.triu_indices(len(x), 1)]
    edges = np.arange(1, bins) * (most / bins)
    low, high = ((pairs[:, None] < edges + by).sum(axis=0) for by in (-1e-4, 1e-4))
    check(got.dtype == np.int64 and got.sum() == (pairs <= most).sum() and
          ((low <= got.cumsum()[:-1]) & (got.cumsum()[:-1] <= high)).all(),
          f"histogram, {bins} bins up to {most}: {what}")
    sets(x)
    distance = far(x, x, box)
    k, own = int(rng.integers(1, 65)), bool(rng.integers(2))
    if not own:
        np.fill_diagonal(distance, np.inf)
    nearest(distance, threadmap.nearest(x, k, 0, own, box), f"{k}, self {own}: {what}", rounding)
    y = points(rng)[0]
    if y.shape[1] != x.shape[1]:
        return
    y = y % 40
    what, rounding = f"{what}; {len(y)} of {y.dtype}", max(rounding, 1e-6 * (y.dtype.itemsize == 2))
    distance = far(x, y, box)
    nearest(distance, threadmap.nearest(x, k, 0, own, box, y), f"{k}, {what}", rounding)
    i, j, values = threadmap.pairs_within(x, radius, box, both, y=y)
    within = distance <= radius
    listed = np.zeros_like(within)
    listed[i, j] = True
    check(np.array_equal(listed, within) and len(i) == within.sum(), f"pairs_within: {what}")
    close(values, distance[i, j], f"pairs_within, values: {what}", 1e-6)
    starts, columns = threadmap.graph_within(x, radius, box, False, y)
    check(np.array_equal(np.diff(starts), within.sum(axis=1)) and
          np.array_equal(columns, np.nonzero(within)[1]), f"graph_within: {what}")
    check(threadmap.histogram(x, bins, most, box, y).sum() == (distance <= most).sum(),
          f"histogram: {what}")


def sets(x):
    """The leaves of a prepared set have each point once; a leaf is its coordinates and numbers."""
    kind = "f4" if x.dtype in ("float16", "float32") else "f8"
    (n, d), size = x.shape, int(kind[1])
    leaves = -(-n // 32)
    got = threadmap.near_set(x)
    leaf = got[:leaves * 32 * (d * size + 4)].reshape(leaves, 32 * (d * size + 4))
    numbers = np.ascontiguousarray(leaf[:, 32 * d * size:]).view("u4").ravel()[:n]
    found = np.ascontiguousarray(leaf[:, :32 * d * size]).view(kind).reshape(-1, d, 32)
    found = found.transpose(0, 2, 1).reshape(-1, d)[:n]
    check(np.array_equal(np.sort(numbers), np.arange(n)) and np.array_equal(found, x[numbers]),
          f"near_set: {x.shape}, {x.dtype}")


def nearest(distance, got, what, rounding):
    """The k nearest against sorting all distances."""
    (values, numbers), (n, m) = got, distance.shape
    k = numbers.shape[1]
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    want = np.full((n, k), np.inf)
    want[:, :order.shape[1]] = np.take_along_axis(distance, order, axis=1)
    right = np.full((n, k), m)
    right[:, :order.shape[1]] = order
    right[~np.isfinite(want)] = m
    check(np.array_equal(numbers, right) and numbers.dtype == np.int64, f"nearest, k = {what}")
    close(np.nan_to_num(values, posinf=1e30), np.nan_to_num(want, posinf=1e30),
          f"nearest, distances, k = {what}", rounding)


def distances(rng):
    n, d = int(rng.integers(0, 40)), int(rng.integers(1, 20))
    x = rng.random((n, d)).astype(rng.choice(["float32", "float64"]))
    rounding = 1e-5 if x.dtype == np.float32 else 1e-12
    close(threadmap.pdist(x), far(x, x)[np.triu_indices(n, 1)], f"pdist, {n} x {d}", rounding)
    if not scipy or n < 2 or d < 3:
        return
    for metric in threadmap.arrays.METRICS:
        want = scipy.spatial.distance.pdist(x.astype(float), metric)
        close(threadmap.pdist(x, metric), want, f"pdist, {metric}, {n} x {d}", rounding)
        close(threadmap.pdist(x, metric, square=True), scipy.spatial.distance.squareform(want),
              f"pdist, {metric}, square", rounding)


def maps(rng):
    axes = int(rng.integers(2, 4))
    shape = tuple(rng.integers(0, 30 if axes == 3 else 90, axes))
    mask = rng.random(shape) < rng.random()
    if scipy:
        for connectivity in range(1, axes + 1):
            structure = scipy.ndimage.generate_binary_structure(axes, connectivity)
            want, number = scipy.ndimage.label(mask, structure)
            got, count = threadmap.label(mask * rng.integers(1, 3), connectivity)
            check(np.array_equal(got, want) and count == number and got.dtype == np.int32,
                  f"label, {shape}, connectivity {connectivity}")
            if axes == 3 and connectivity < 3:
                got, counts = threadmap.label(mask, connectivity, images=True)
                for z, image in enumerate(mask):
                    want, number = scipy.ndimage.label(image, structure[1])
                    check(np.array_equal(got[z], want) and counts[z] == number, "label, images")
    labels(rng, tuple(rng.integers(0, 11 if axes == 3 else 25, axes)))
    heights = rng.integers(0, 9, shape[:2]).astype(rng.choice(["int16", "int32", "float32"]))
    outlets, border = rng.random(shape[:2]) < 0.02, bool(rng.integers(2))
    connectivity = int(rng.integers(1, 3))
    out = outlets | border
    out[1:-1, 1:-1] &= outlets[1:-1, 1:-1]
    want = np.where(out, heights, 1e9)
    shifts = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if 0 < abs(y) + abs(x) <= connectivity]
    padded = np.pad(want, 1, constant_values=1e9)
    for _ in range(heights.size):
        least = np.min([np.roll(padded, shift, (0, 1))[1:-1, 1:-1] for shift in shifts], axis=0)
        new = np.minimum(padded[1:-1, 1:-1], np.maximum(least, heights))
        if np.array_equal(new, padded[1:-1, 1:-1]):
            break
        padded[1:-1, 1:-1] = new
    wet = padded[1:-1, 1:-1] < 1e9
    got = threadmap.spill(heights, connectivity, outlets, border)
    check(got.dtype == heights.dtype and np.array_equal(got[wet], padded[1:-1, 1:-1][wet]),
          f"spill, {heights.shape}, {heights.dtype}, connectivity {connectivity}, border {border}")
    level, seeds = int(rng.integers(0, 9)), np.argwhere(outlets)
    below, _ = connected((heights < level).astype(int), connectivity, ())
    want = np.isin(below, below[outlets]) & (below > 0)
    got = threadmap.flood(heights, [seeds, seeds.tolist()][rng.integers(2)], level, connectivity)
    check(got.dtype == bool and np.array_equal(got, want), f"flood, {heights.shape}, level {level}")
    got = threadmap.flood(heights, seeds, level, connectivity, depth=True)
    check(np.array_equal(got, np.where(want, level - heights, 0)), "flood, depth")
    depth = threadmap.spill(heights, connectivity, outlets, border, depth=True)
    check(np.array_equal(depth[wet], (padded[1:-1, 1:-1] - heights)[wet]), "spill, depth")


def connected(cells, connectivity, wrap):
    """(labels of components of equal cells that are not 0, their number), by the definition."""
    steps = np.stack(np.meshgrid(*[(-1, 0, 1)] * cells.ndim, indexing="ij"), -1)
    steps = steps.reshape(-1, cells.ndim)
    steps = steps[np.abs(steps).sum(axis=1) <= connectivity]
    pad = [(1, 1)] * cells.ndim
    inside = tuple(slice(1, -1) for _ in pad)

    def around(x, step):
        x = np.pad(x, pad)
        for axis in wrap:
            x = np.moveaxis(x, axis, 0)
            x[0], x[-1] = x[-2], x[1]
            x = np.moveaxis(x, 0, axis)
        return np.roll(x, step, range(cells.ndim))[inside]
    found = np.arange(1, cells.size + 1).reshape(cells.shape) * (cells != 0)
    same = [around(cells, step) == cells for step in steps]
    while cells.size:
        best = [np.where(one, around(found, step), found) for one, step in zip(same, steps)]
        new = np.min(best, axis=0)
        if np.array_equal(new, found):
            break
        found = new
    first = np.unique(found[found > 0])
    return np.where(found > 0, np.searchsorted(first, found) + 1, 0), len(first)


def labels(rng, shape):
    """Labels of values and with periodic axes, and what is done with labels."""
    dtypes = [name for name in threadmap.arrays._VALUES  # PyTorch has few operations of the others
              if threadmap is module or name not in ("uint16", "uint32")]
    cells = (rng.integers(0, 3, shape) - rng.integers(2)).astype(rng.choice(dtypes))  # or 255, 0, 1
    ends = np.array([[-1, 0, 1]]).astype(cells.dtype)
    count = threadmap.label(ends, values=True, nodata=ends[0, 0])[1]
    check(count == 2 - (ends.dtype == bool), f"label of {ends.dtype}")
    connectivity = int(rng.integers(1, len(shape) + 1))
    wrap = np.flatnonzero(rng.integers(0, 2, len(shape)))
    left = [None, 0, 1, 2, -1, 2**32 - 1, 0.5][rng.integers(7)] if cells.dtype != bool else 0
    what = f"{shape}, {cells.dtype}, connectivity {connectivity}, periodic {wrap}, nodata {left}"
    dtype = str(rng.choice(["int32", "int64"]))
    for values in True, False:
        got, count = threadmap.label(cells, connectivity, values=values, nodata=left, periodic=[
            axis - rng.integers(2) * len(shape) for axis in wrap], dtype=dtype)
        kinds = cells.astype(int) % 2**32 + 1 if values else (cells != 0).astype(int)
        if values and left is not None:
            kinds[cells == left] = 0
        want, number = connected(kinds, connectivity, wrap)
        check(np.array_equal(got, want) and count == number and got.dtype == dtype,
              f"label: {what}, values {values}")
    faces = collections.Counter()
    for axis in range(len(shape)):
        a, b = (np.moveaxis(want, axis, 0)[part].ravel() for part in (slice(1, None), slice(-1)))
        faces.update((min(p), max(p)) for p in zip(a.tolist(), b.tolist()) if 0 < min(p) < max(p))
    got = threadmap.contacts(want.astype(rng.choice(["int32", "int64"])))
    check(sorted((i, j, n) for (i, j), n in faces.items()) == list(zip(*(x.tolist() for x in got))),
          f"contacts: {what}")
    areas, boxes = threadmap.shapes(want.astype(rng.choice(["int32", "int64"])))
    check(np.array_equal(areas, np.bincount(want.ravel(), minlength=1)[1:]), f"shapes: {what}")
    for name, box in enumerate(boxes, 1):
        at = np.argwhere(want == name)
        check(np.array_equal(box, [*at.min(axis=0), *at.max(axis=0) + 1]), f"shapes, box: {what}")
    least = int(rng.integers(0, 6))
    big = np.bincount(want.ravel(), minlength=number + 1) >= least
    labels = want.astype(rng.choice(["int32", "int64"]))
    before = labels.copy()
    got = threadmap.remove_small_objects(labels, least)
    check(np.array_equal(got, want * big[want]) and got.dtype == labels.dtype and
          np.array_equal(before, labels), f"remove_small_objects: {what}")
    found, _ = connected((want > 0).astype(int), connectivity, ())
    big = np.bincount(found.ravel(), minlength=1) >= least
    got = threadmap.remove_small_objects(want > 0, least, connectivity)
    check(np.array_equal(got, (found > 0) & big[found]), f"remove_small_objects, a mask: {what}")
    mask = rng.random(shape) < 0.8
    holes, number = connected(1 - mask.astype(int), connectivity, ())
    border = np.ones(shape, bool)
    border[tuple(slice(1, -1) for _ in shape)] = False
    border[:] |= 1 in shape
    full = mask | ~np.isin(holes, holes[border])
    got = threadmap.binary_fill_holes(mask * 2, connectivity)
    if not (len(shape) == 3 and shape[0] == 1):  # a volume of one slice has no border there
        check(np.array_equal(got, full) and got.dtype == bool, f"binary_fill_holes: {what}")
        if scipy and connectivity == 1:
            check(np.array_equal(scipy.ndimage.binary_fill_holes(mask), got), "that of scipy")


def frames(rng):
    n, count = int(rng.integers(2, 30)), int(rng.integers(1, 12))
    xyz = rng.random((count, n, 3)) * 10
    atoms = rng.permutation(n)[:max(2, n // 2)] if rng.integers(2) else None
    weights = rng.random(n if atoms is None else len(atoms)) + 0.5 if rng.integers(2) else None
    w = np.ones(n if atoms is None else len(atoms)) if weights is None else weights

    def apart(a, b, turned):
        a, b = (f if atoms is None else f[atoms] for f in (a, b))
        if not turned:
            i, j = np.triu_indices(len(a), 1)
            d = far(a, a)[i, j] - far(b, b)[i, j]
            return np.sqrt((w[i] * w[j] * d * d).sum() / (w[i] * w[j]).sum())
        a, b = ((f - np.average(f, axis=0, weights=w)) * np.sqrt(w)[:, None] for f in (a, b))
        u, s, v = np.linalg.svd(a.T @ b)
        s[2] *= np.sign(np.linalg.det(u) * np.linalg.det(v))
        return np.sqrt(max(0, ((a * a).sum() + (b * b).sum() - 2 * s.sum()) / w.sum()))
    for turned, call in enumerate((threadmap.drmsd, threadmap.rmsd)):
        want = [apart(xyz[a], xyz[b], turned) for a in range(count) for b in range(a + 1, count)]
        close(call(xyz, atoms=atoms, weights=weights), want, f"{call.__name__}, {xyz.shape}", 1e-4)
        want = [apart(frame, xyz[0], turned) for frame in xyz]
        close(call(xyz, xyz[0], atoms, weights), want, f"{call.__name__}, reference", 1e-3)


def clusters(rng):
    n = int(rng.integers(2, 60))
    d = rng.permutation(n * (n - 1) // 2).astype("float32")  # all different
    square, cutoff = np.full((n, n), 0.0), float(rng.random() ** 2 * len(d))
    i, j = np.triu_indices(n, 1)
    square[i, j] = square[j, i] = d
    labels, centres, sizes = threadmap.gromos(d, cutoff)
    left, want = np.ones(n, bool), np.zeros(n, int)
    for at, (centre, size) in enumerate(zip(centres, sizes)):
        near = (square <= cutoff) & left & left[:, None]
        check(centre == near.sum(axis=1).argmax() and size == near[centre].sum(), "gromos")
        want[near[centre]], left = at, left & ~near[centre]
    check(not left.any() and np.array_equal(labels, want), f"gromos of {n}, labels")
    got = threadmap.linkage(d)
    check(got.shape == (n - 1, 4) and got.dtype == np.float64, "linkage, shape")
    if scipy:
        check(np.array_equal(got, scipy.cluster.hierarchy.linkage(d)), f"linkage of {n}")


def fractals(rng):
    rows = ["".join(row) for row in rng.choice(list("#.#"), rng.integers(1, 4, 2))]
    rows[0] = "#" + rows[0][1:]
    fractal, cells, r = module.Fractal(*rows), np.ones((1, 1), bool), int(rng.integers(0, 4))
    for _ in range(r):
        cells = np.kron(np.array([[mark == "#" for mark in row] for row in rows]), cells)
    born, survive = (sorted(rng.permutation(9)[:4].tolist()) for _ in range(2))
    rule = f"B{''.join(map(str, born))}/S{''.join(map(str, survive))}"
    state, steps = cells * rng.integers(0, 3, cells.shape).astype("uint8"), int(rng.integers(1, 5))
    want = state != 0
    for _ in range(steps):
        padded = np.pad(want.astype(int), 1)
        near = sum(np.roll(padded, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1))
        near = near[1:-1, 1:-1] - want
        want = cells & np.where(want, np.isin(near, survive), np.isin(near, born))
    got = threadmap.life(state, fractal, steps, rule)
    check(np.array_equal(got, want) and got.dtype == np.uint8, f"life, {rows}, {r}, {rule}")
    after, board = want, rng.integers(0, 3, rng.integers(1, 40, 2)).astype("uint8")
    want, wrapped = board != 0, [axis for axis in (0, 1) if rng.integers(2)]
    for _ in range(steps):
        near = 0 - want.astype(int)
        for shift in np.ndindex(3, 3):
            part = want.astype(int)
            for axis in (0, 1):
                part = np.roll(part, shift[axis] - 1, axis)
                if axis not in wrapped and shift[axis] != 1:  # what came over the edge
                    part[(slice(None),) * axis + (0 if shift[axis] == 2 else -1,)] = 0
            near = near + part
        want = np.where(want, np.isin(near, survive), np.isin(near, born))
    got = threadmap.life(board, steps=steps, rule=rule, periodic=wrapped)
    check(np.array_equal(got, want), f"life, {board.shape}, periodic {wrapped}, {rule}")
    (k, sx, sy, *_), x, y = fractal.numbers, 0, 0
    marks = [(v, u) for v, row in enumerate(rows) for u, mark in enumerate(row) if mark == "#"]
    i = np.arange(k ** r)
    for m in range(r):  # digit m of i is the replica of level m
        v, u = np.array(marks).T[:, i // k ** m % k]
        x, y = x + u * sx ** m, y + v * sy ** m
    x, y = np.zeros(len(i), int) + x, np.zeros(len(i), int) + y
    if k > 1:
        got = threadmap.life(state[y, x], fractal, steps, rule)
        check(np.array_equal(got, after[y, x]), f"life, compact, {rows}, {r}, {rule}")


def pictures(rng):
    height, width, dwell = map(int, rng.integers(1, 70, 3))
    c = np.add.outer(1j * (-1 + 2 / height * np.arange(height)),
                     -1.5 + 2 / width * np.arange(width))
    near = np.stack([c + move for move in (0, 1e-13, -1e-13, 1e-13j, -1e-13j)])
    z, all_of = near.copy(), np.zeros(near.shape, int)
    for _ in range(dwell):
        inside = np.abs(z) < 2
        all_of += inside
        z = np.where(inside, z * z + near, z)
    want, sure = all_of[0], (all_of == all_of[0]).all(axis=0)  # rounding cannot change those
    like = threadmap.moved(np.zeros(1)) if threadmap is not module else None
    got = threadmap.mandelbrot((height, width), dwell=dwell, doubles=True, like=like)
    check(got.dtype == np.int32 and ((got == want) | ~sure).all() and sure.any(),
          f"mandelbrot, {c.shape}, {dwell}")


TESTS = distances, near, maps, frames, clusters, fractals, pictures


def older():
    spaces = threadmap.spaces
    loaded, version = dict(spaces._library.loaded), spaces.version
    spaces._library.loaded.clear()
    spaces._at.spaces.clear()
    spaces.version = lambda: "0.1.9"
    try:
        threadmap.pdist(np.zeros((3, 2)))
    finally:
        spaces.version = version
        spaces._library.loaded.update(loaded)


def refusals():
    x = np.zeros((5, 3))
    bad = {"one axis": (ValueError, lambda: threadmap.pdist(x[0])),
           "4 coordinates": (ValueError, lambda: threadmap.groups(np.zeros((5, 4)), 1)),
           "an unknown metric": (ValueError, lambda: threadmap.pdist(x, "minkowski")),
           "min_points 0": (ValueError, lambda: threadmap.groups(x, 1, min_points=0)),
           "no bins": (ValueError, lambda: threadmap.histogram(x, 0, 1)),
           "a maximum of 0": (ValueError, lambda: threadmap.histogram(x, 3, 0)),
           "a radius of NaN": (ValueError, lambda: threadmap.groups(x, float("nan"))),
           "a negative radius": (ValueError, lambda: threadmap.pairs_within(x, -1)),
           "a box of two": (ValueError, lambda: threadmap.pairs_within(x, 1, (5, 5))),
           "a box of 2 x 3": (ValueError, lambda: threadmap.pairs_within(x, 1, np.eye(3)[:2])),
           "a cell of 2 axes": (ValueError, lambda: threadmap.groups(x[:, :2], 1, np.eye(2))),
           "parallel vectors": (threadmap.Error, lambda: threadmap.groups(x, 1, np.ones((3, 3)))),
           "y of 2 axes": (ValueError, lambda: threadmap.nearest(x, 1, y=x[:, :2])),
           "a box of -1": (threadmap.Error, lambda: threadmap.pairs_within(x, 1, (5, 5, -1))),
           "k = 65": (ValueError, lambda: threadmap.nearest(x, 65)),
           "complex numbers": (TypeError, lambda: threadmap.pdist(x + 1j)),
           "text": (ValueError, lambda: threadmap.pdist([["a", "b"]])),
           "values of float64": (ValueError, lambda: threadmap.label(x, values=True)),
           "labels of int8": (ValueError, lambda: threadmap.label(x, dtype="int8")),
           "periodic images": (ValueError, lambda: threadmap.label(
               x[None], images=True, periodic=True)),
           "a periodic axis 2 of 2": (ValueError, lambda: threadmap.label(x, periodic=[2])),
           "2^70 cells": (ValueError, lambda: threadmap.remove_small_objects(
               np.ones((2, 2), "int32"), 2**70)),
           "labels of 1 axis": (ValueError, lambda: threadmap.contacts([1, 2])),
           "a mask of 4 axes": (ValueError, lambda: threadmap.label(np.zeros((2, 2, 2, 2)))),
           "images of 2 axes": (ValueError, lambda: threadmap.label(x, images=True)),
           "connectivity 3 of 2 axes": (ValueError, lambda: threadmap.label(x, 3)),
           "heights of float64": (ValueError, lambda: threadmap.spill(x)),
           "a seed outside": (ValueError, lambda: threadmap.flood(x.astype("f"), [(5, 0)], 1)),
           "a seed of 3 numbers": (ValueError, lambda: threadmap.flood(x.astype("f"), [[1] * 3], 1)),
           "a mask of another shape": (ValueError, lambda: threadmap.spill(
               x.astype("f"), outlets=np.ones((2, 2)))),
           "frames of 2 coordinates": (ValueError, lambda: threadmap.drmsd(np.zeros((5, 5, 2)))),
           "a reference of another shape": (ValueError, lambda: threadmap.rmsd(
               np.zeros((5, 5, 3)), np.zeros((4, 3)))),
           "an atom that is not there": (ValueError, lambda: threadmap.rmsd(
               np.zeros((5, 5, 3)), atoms=[0, 5])),
           "a weight too few": (ValueError, lambda: threadmap.rmsd(
               np.zeros((5, 5, 3)), weights=[1, 1])),
           "distances of no n": (ValueError, lambda: threadmap.linkage(np.zeros(5))),
           "a matrix of distances": (ValueError, lambda: threadmap.gromos(np.zeros((3, 2)), 1)),
           "a rule of 9": (ValueError, lambda: threadmap.life(x, threadmap.gasket, 1, "B9/S")),
           "no step": (ValueError, lambda: threadmap.life(x, threadmap.gasket, 0)),
           "a state of 5 x 3": (ValueError, lambda: threadmap.life(x, threadmap.gasket)),
           "a periodic fractal": (ValueError, lambda: threadmap.life(
               [[1, 0], [1, 1]], threadmap.gasket, periodic=True)),
           "a board of one axis": (ValueError, lambda: threadmap.life([1, 0])),
           "a picture without pixels": (ValueError, lambda: threadmap.mandelbrot((0, 5))),
           "a window of one line": (threadmap.Error, lambda: threadmap.mandelbrot(
               (5, 5), (0, 1, 2, 2))),
           "a library of another version": (threadmap.Error, older),
           "an unknown name": (AttributeError, lambda: threadmap.sort)}
    for what, (kind, call) in bad.items():
        try:
            call()
        except kind as error:
            check(str(error), f"{what}: an error without a text")
        except Exception as error:
            check(False, f"{what}: {error!r}")
        else:
            check(False, f"{what} is taken")


Device = collections.namedtuple("Device", "id index")


class Pointer:
    """Memory of CuPy: a place in the bytes of an array."""
    def __init__(self, of, begin=0, device=1):
        self.of, self.begin, self.device_id = of, begin, device
        self.ptr = of.ctypes.data + begin if device else 0  # device 1 cannot read device 0

    def __add__(self, begin):
        return Pointer(self.of, self.begin + begin)


class Elsewhere:
    """An array that claims to be on GPU number 1, with the names that spaces.py and arrays.py use of
    CuPy's and of PyTorch's: what is called and what comes back, without a GPU."""
    is_cuda, __cuda_array_interface__ = True, None

    def __init__(self, of, dtype=None, at=None, device=1):
        if dtype is not None:
            check(self.said[-1] == 1, "the device of a result")
            of = np.ndarray(of, dtype, *[] if at is None else [at.of, at.begin])
        self.of, self.shape, self.dtype, self.flags = of, of.shape, of.dtype, of.flags
        self.data, self.device = Pointer(of, device=device), Device(device, device)

    def __array__(self, *_, **__):
        raise TypeError("it is not the host's")

    def __len__(self):
        return len(self.of)

    def __getitem__(self, at):
        return type(self)(self.of[getattr(at, "of", at)])

    def swapaxes(self, a, b):
        return type(self)(self.of.swapaxes(a, b))

    def __setitem__(self, at, value):
        self.of[at] = value.of

    def argsort(self):
        return type(self)(self.of.argsort())

    def min(self):
        return self.of.min()

    def max(self):
        return self.of.max()

    def get(self):
        return self.of

    numpy = get

    def cpu(self):
        return self

    def data_ptr(self):
        return self.data.ptr

    def get_device(self):
        return 1

    def new_empty(self, shape):
        return type(self)(np.empty(shape, self.dtype))

    def tolist(self):
        return self.of.tolist()

    def to(self, dtype):
        return type(self)(self.of.astype(dtype))

    def view(self, dtype):
        return type(self)(self.of.view(dtype))

    def element_size(self):
        return self.of.itemsize

    def is_contiguous(self):
        return self.of.flags.c_contiguous

    def contiguous(self):
        return type(self)(np.ascontiguousarray(self.of))


for name in "add", "mul", "ne", "gt", "rshift", "and":
    name = f"__{name}__"
    setattr(Elsewhere, name, lambda self, other, name=name: type(self)(
        getattr(self.of, name)(other)))


def elsewhere(kind, raw):
    """The module named cupy or torch, whose arrays are those; the type of these; and the numbers of
    the devices that became current: 0 is at first. raw: PyTorch has its faster name of a stream."""
    said = [0]
    array = type("array", (Elsewhere,), {"__module__": kind, "said": said})
    module = types.ModuleType(kind)

    def make(x, dtype=None, device=None):
        check(kind == "cupy" or device in (None, "cuda", Device(1, 1)), "torch: a wrong device")
        return x if isinstance(x, array) and dtype is None and x.data.device_id else array(
            np.array(getattr(x, "of", x), dtype, order="C"))

    def empty(shape, dtype, device=None, pin_memory=False):
        check(pin_memory != (device == Device(1, 1)), "the device of a result")
        return array(np.empty(shape, dtype))

    def alloc(size):
        check(said[-1] == 1, "the device of a block")
        return Pointer(np.empty(size, "uint8"))

    @contextlib.contextmanager
    def switch(device):
        said.append(getattr(device, "index", device))
        try:
            yield
        finally:
            said.append(0)

    def stream(device=None):
        check(said[-1] == 1 and device in (None, 1, Device(1, 1)), "the stream of a device")
        return types.SimpleNamespace(ptr=7, cuda_stream=7, is_capturing=lambda: module.recorded)
    module.recorded = False
    module.asarray = module.as_tensor = module.ascontiguousarray = make
    module.ndarray, module.Tensor, module.empty = array, array, empty
    module.device = lambda name, number: Device(number, number)
    module.cuda = types.SimpleNamespace(
        device=switch, Device=switch, get_current_stream=stream, current_stream=stream,
        is_current_stream_capturing=lambda: module.recorded,
        alloc=alloc, alloc_pinned_memory=lambda size: Pointer(np.empty(size, "uint8")),
        current_device=lambda: said[-1], runtime=types.SimpleNamespace(getDevice=lambda: said[-1]))
    module._C = types.SimpleNamespace()
    if raw:
        module._C._cuda_getCurrentRawStream = lambda device: stream(device).ptr
    for dtype in "bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64":
        setattr(module, dtype, np.dtype(dtype))
    return module, array, said


def table(rng):
    """Of each function: arguments; what comes of an empty array in place of the first one, a shape for
    zeros, or an error; and the forms of arrays that are refused."""
    x, images, few = rng.random((50, 3)), rng.random((4, 20, 30)) < 0.5, rng.integers(0, 4, (9, 9))
    heights, xyz = rng.integers(0, 9, (20, 30)).astype("int32"), rng.random((4, 6, 3))
    seeds, atoms, weights = np.array([[3, 4]]), np.array([0, 2, 5]), np.array([1, 2, 3])
    return [
        ("pdist", (x,), [(0,)]), ("pairs_within", (x, 0.3), [(0,)] * 3), ("near_set", (x,), [(0,)]),
        ("graph_within", (x, 0.3), [(1,), (0,), (0,)]), ("groups", (x, 0.2, None, 3), [0, (0,)]),
        ("nearest", (x, 3, 0, True, 2 * np.eye(3), x[:9]), [(0, 3)] * 2),
        ("histogram", (x, 9, 0.4), [(9,)]), ("label", (images, 1, True), [(0, 20, 30), (0,)]),
        ("label", (images[0],), [(0, 30), 0]), ("shapes", (few,), [(0,), (0, 4)]),
        ("label", (few.astype("u1"), 2, False, True, [0]), [(0, 9), 0], "float16"),
        ("contacts", (few,), [(0,)] * 3), ("remove_small_objects", (few, 9), [(0, 9)]),
        ("remove_small_objects", (images, 9), [(0, 20, 30)]),
        ("binary_fill_holes", (images[0],), [(0, 30)]), ("spill", (heights,), [(0, 30)], "float16"),
        ("spill", (heights, 1, heights > 7), ValueError, "float16"),
        ("flood", (heights, seeds, 7), ValueError, "float16"), ("drmsd", (xyz,), [(0,)]),
        ("drmsd", (xyz, None, atoms > 0), ValueError),
        ("rmsd", (xyz, xyz[0], atoms, weights), [(0,)]), ("linkage", (rng.random(45),), [(0, 4)]),
        ("gromos", (rng.random(45), 0.3), [(1,), (1,), [1]]), ("life", (few, None, 2), [(0, 9)]),
        ("life", (np.ones((4, 4)), module.gasket), ValueError),
        ("mandelbrot", ((5, 7), (-9, -8, 0, 1), 50, True, x), [(5, 7)])]


def same(x):
    return x


def unaligned(x):
    out = np.ndarray(x.shape, x.dtype, bytearray(x.nbytes + 1), 1)
    out[...] = x
    return out


# Of arrays with the same numbers: what is done in memory of the host, and where the array is.
FORMS = {"as they are": (same, same),
         "by columns": (lambda x: np.ascontiguousarray(x.swapaxes(0, -1)), lambda x: x.swapaxes(0, -1)),
         "every other": (lambda x: np.repeat(x, 2, axis=-1), lambda x: x[..., ::2]),
         "backwards": (lambda x: x[::-1].copy(), lambda x: x[::-1]),
         "float16": (lambda x: x.astype("float16"), same), "unaligned": (unaligned, same)}


def forms(rng, moved=None, away=None, said=None):
    """Each function with each form of its arrays gives what it gives for contiguous ones, of float32 in
    the place of float16, as arrays of the same kind. moved: of CuPy or PyTorch; then also with all but
    the first in memory of the host, and with away, which takes an array to another device; with
    that also with the first alone in memory of the host, when an error will do. said: of elsewhere()."""
    there, home = (moved.moved, moved.back) if moved else (same, same)
    kind = moved.module.__name__ if moved else "numpy"

    def outcome(place, back=home):
        count, (said or [])[1:] = iter(range(9)), []
        try:
            out = call(*(place(next(count), x) if isinstance(x, np.ndarray) else x for x in args))
            return [x if type(x) is int else back(x) for x in (out if isinstance(out, tuple) else (out,))]
        except Exception as error:
            check(str(error), f"{name}: an error without a text")
            return type(error)

    def right(got, want):
        return got is want or type(got) is type(want) is list and len(got) == len(want) and all(
            np.array_equal(a, np.zeros(b) if type(b) is tuple else b) for a, b in zip(got, want))
    tests = table(rng)
    check({name for name, *_ in tests} == {*module.ARRAYS} - {"device", "release"}, "a function without a test")
    for name, args, empty, *refused in tests:
        call = getattr(module, name)
        for form, (before, after) in FORMS.items():
            if (kind, form) == ("torch", "backwards") or form == "unaligned" and moved:
                continue  # there are no such arrays
            places = {"here": lambda k, x: after(there(before(x)))}
            if moved:
                places["the others on the host"] = lambda k, x: (same if k else there)(after(before(x)))
            if away:
                places["the others away"] = lambda k, x: (away if k else there)(after(before(x)))
                places["the first on the host"] = lambda k, x: (there if k else same)(after(before(x)))
            want = ValueError if form in refused else outcome(
                lambda k, x: there(x.astype("float16").astype("float32") if form == "float16" else x))
            for where, place in places.items():
                host = where == "the first on the host"
                got = outcome(place, same if host else home)
                check(right(got, want) or host and got is TypeError, f"{kind}, {name}, {form}, {where}: {got}")
                check(not said or said == [0] + [1, 0] * (not host), f"{kind}, {name}: devices {said}")
        got = outcome(lambda k, x: there(x if k else x[:0]))
        check(right(got, empty), f"{kind}, {name}, empty: {got}")


def gpus(rng):
    """The functions with arrays that claim to be on a GPU: forms, and the random tests."""
    global threadmap
    forms(rng)
    threadmap.spaces._library.loaded[False] = threadmap.spaces._library(True)
    for kind, raw in ("cupy", 0), ("torch", 0), ("torch", 1):
        sys.modules[kind], array, said = elsewhere(kind, raw)
        threadmap.spaces._at.spaces.clear()
        forms(rng, Moved(kind), lambda x: array(x, device=0), said)
        kept(kind, array)
        del said[1:]
        threadmap = Moved(kind)
        for _ in range(3):
            for some in TESTS:
                some(rng)
        threadmap = module
        del sys.modules[kind]
    threadmap.spaces._at.spaces.clear()
    del threadmap.spaces._library.loaded[False]


def kept(kind, array):
    """What calls keep: by stream and thread, not for graphs that are recorded, and until release."""
    space, = (space for space in threadmap.spaces._at.spaces.values() if not space.cpu)
    before = dict(space.kept.__dict__)

    def room(space):
        return int.from_bytes(space.kept.__dict__[7].size, sys.byteorder)
    call = functools.partial(threadmap.histogram, array(np.eye(3, dtype="f")), 3, 6)
    sys.modules[kind].recorded = True
    want = call().get()
    check(np.array_equal(call().get(), want), f"{kind}: a graph")
    check(space.kept.__dict__ == before and list(before) == [7], f"{kind}: a graph's workspace is kept")
    sys.modules[kind].recorded = False
    other = threading.Thread(target=lambda: check(not space.kept.__dict__, f"{kind}: threads share"))
    other.start()
    other.join()
    limit, threadmap.spaces._KEPT = threadmap.spaces._KEPT, 0
    threadmap.release()
    check(np.array_equal(call().get(), want) and space.kept.__dict__[7].room is None,
          f"{kind}: a large workspace is kept")
    threadmap.spaces._KEPT = limit
    call()
    small = room(space)
    threadmap.drmsd(array(np.ones((100, 60, 3), "f")))
    check(room(space) > small, f"{kind}: the workspace does not grow")
    threadmap.release()
    check(not space.kept.__dict__, f"{kind}: release keeps")


class Moved:
    """The module's functions, called with arrays of cupy or torch on the GPU; their results, which
    must be such arrays, become NumPy's."""

    def __init__(self, kind):
        self.module = importlib.import_module(kind)
        self.moved = {"cupy": lambda x: self.module.asarray(x),
                      "torch": lambda x: self.module.as_tensor(x.copy(), device="cuda")}[kind]
        self.back = {"cupy": lambda x: x.get(), "torch": lambda x: x.cpu().numpy()}[kind]
        self.arrays = module.arrays

    def result(self, out):
        if isinstance(out, tuple):
            return tuple(map(self.result, out))
        return out if isinstance(out, int) else self.back(out)

    def __getattr__(self, name):
        def call(*args, **named):
            args = [self.moved(x) if isinstance(x, np.ndarray) else x for x in args]
            named = {key: self.moved(x) if isinstance(x, np.ndarray) else x
                     for key, x in named.items()}
            return self.result(getattr(module, name)(*args, **named))
        call.__name__ = name
        return call


def on_gpu(rng):
    """The random tests on a GPU. Returns the names of what was used."""
    global threadmap
    used = []
    for kind in ("cupy", "torch") if module.device() == "gpu" else ():
        with contextlib.suppress(ImportError):
            threadmap = Moved(kind)
            forms(rng, threadmap)
            for _ in range(25):
                for some in TESTS:
                    some(rng)
            used.append(kind)
    return used


def examples():
    """Each line of docs/python.md that prints says what."""
    with open(os.path.join(ROOT, "docs/python.md"), encoding="utf-8") as file:
        text = "".join(re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S))
    want = re.findall(r"^print\(.*\)  # (.*)$", text, re.M)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(text, "docs/python.md", "exec"), {})
    for line, right in zip(said.getvalue().splitlines() + 99 * ["nothing"], want):
        check(line == right, f"docs/python.md: {line}, not {right}")
    called = {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
    check(not set(threadmap.ARRAYS) - called - {"device", "release"}, "docs/python.md: a function is not shown")


def structures():
    """The bytes of each struct, as the C compiler has them."""
    with open(os.path.join(ROOT, "include/threadmap/library.h"), encoding="utf-8") as file:
        made = threadmap.spaces._structures(file.read())
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "sizes.c"), os.path.join(folder, "sizes")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stddef.h>\n#include <stdio.h>\n#include <threadmap/library.h>\n"
                       "int main(void) {\n")
            for name, kind in made.items():
                file.write(f'    printf("%d", (int)sizeof({name}));\n')
                for member, _ in kind._fields_:
                    file.write(f'    printf(" %d", (int)offsetof({name}, {member}));\n')
                file.write('    puts("");\n')
            file.write("    return 0;\n}\n")
        subprocess.run([*(os.environ.get("CC") or "cc").split(), "-I", os.path.join(ROOT, "include"),
                        source, "-o", program], check=True)
        said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for (name, kind), line in zip(made.items(), said.splitlines()):
        mine = [ctypes.sizeof(kind), *(getattr(kind, member).offset
                                                        for member, _ in kind._fields_)]
        check(mine == list(map(int, line.split())), f"{name}: {mine}, not {line}")
    check(len(made) > 10, "structs are missing")


def main():
    rng = np.random.default_rng(1)
    if sys.argv[2:] == ["gpu"]:
        used = on_gpu(rng)
        print("\n".join(PROBLEMS[:20]) or (f"arrays of {' and '.join(used)}: ok" if used else
                                           "SKIP: no GPU, or neither CuPy nor PyTorch"))
        return 1 if PROBLEMS else 0 if used else 77
    loaded = subprocess.run([sys.executable, "-c", "import sys, threadmap\n"
                             "print({'numpy', 'threadmap.arrays'} & set(sys.modules))"], check=True,
                            capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": os.path.dirname(threadmap.HERE)}).stdout
    check(loaded == "set()\n", f"the import loads {loaded}")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        threadmap.pdist(np.zeros((3, 2)))
        threadmap.pdist(np.zeros((3, 2)))
        check(len(said) == 1 and "CPU machine" in str(said[0].message) and
              said[0].filename == __file__, "one warning, of the caller's line")
    for _ in range(25):
        for some in TESTS:
            some(rng)
    gpus(rng)
    refusals()
    examples()
    structures()
    print("\n".join(PROBLEMS[:20]) or f"arrays{'' if scipy else ', without scipy'}: ok")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
