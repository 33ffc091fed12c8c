# SPDX-License-Identifier: MIT
"""Ready kernels on arrays: what threadmap/library.h has, as functions.

CuPy arrays, PyTorch tensors of a GPU, and anything else there with DLPack or
__cuda_array_interface__ (results are then CuPy's) go to libthreadmap.so, on the caller's current
stream. All else becomes a NumPy array and goes to libthreadmap-cpu.so, the CPU machine of the
tests: right and very slow. Floats of 32 bits are computed and returned as such, all other numbers
as doubles. Mistakes raise ValueError or TypeError; what the library reports raises threadmap.Error.
"""
import ctypes
import importlib
import math
import re

from .spaces import _at, _name, device, release

METRICS = ("euclidean", "sqeuclidean", "cityblock", "cosine", "chebyshev", "correlation")

def _reals(space, x, axes):
    """(points as floats or doubles, their dtype, the library's number of it)"""
    if len(x.shape) != 2 or axes and x.shape[1] not in axes:
        wanted = " or ".join(f"(n, {axis})" for axis in axes or "d")
        raise ValueError(f"points of shape {wanted}, not {tuple(x.shape)}")
    dtype = _name(x.dtype)
    if "complex" in dtype:
        raise TypeError(f"real numbers, not {dtype}")
    dtype = "float32" if dtype in ("float32", "float16", "bfloat16") else "float64"
    return space.cast(x, dtype), dtype, int(dtype == "float64")


def _box(box, d):
    """Members of a job: of a box of d lengths, or of 3 vectors of 3."""
    if box is None:
        return {}
    rows = [row.tolist() if hasattr(row, "tolist") else row
            for row in (box.tolist() if hasattr(box, "tolist") else box)]
    cell = d == 3 and len(rows) == 3 and all(isinstance(row, (list, tuple)) and len(row) == 3
                                             for row in rows)
    if not cell and (len(rows) != d or any(isinstance(row, (list, tuple)) for row in rows)):
        raise ValueError("a box: a length for each coordinate, or 3 vectors of 3 coordinates")
    if cell:
        return {f"cell{k}": float(rows[k // 3][k % 3]) for k in range(9)}
    return {f"box{k}": float(length) for k, length in enumerate(rows)}


def _near(space, x, radius, box, y=None):
    """(dtype, members of the job)"""
    x, dtype, number = _reals(space, x, (2, 3))
    n, d = x.shape
    if not radius >= 0:
        raise ValueError(f"a radius of 0 or more, not {radius}")
    members = {"points": x, "n": n, "d": d, "type": number, "radius": float(radius),
               **_box(box, d)}
    if y is not None:
        y, other, _ = _reals(space, space.array(y), (d,))
        if other != dtype:
            dtype = "float64"
            members.update(points=space.cast(x, dtype), type=1)
        # no set is empty: a point that is not finite is near nothing
        y = space.cast(y if len(y) else space.array([[float("nan")] * d]), dtype)
        members.update(others=y, m=len(y))
    return dtype, members


def _choice(value, choices, what):
    if value not in choices:
        raise ValueError(f"{what} {value!r}: one of {', '.join(map(str, choices))}")
    return choices.index(value)


# ---- points -------------------------------------------------------------------------------------


def pdist(x, metric="euclidean", square=False):
    """Distances of all pairs of n points, x of shape (n, d), as scipy.spatial.distance.pdist: n (n
    - 1) / 2 of them, or (n, n) with square."""
    metric = _choice(metric, METRICS, "metric")
    with _at(x) as (space, x):
        x, dtype, number = _reals(space, x, ())
        n, d = x.shape
        out = space.empty((n, n) if square else (n * (n - 1) // 2,), dtype)
        space.run("pdist", dict(points=x, out=out, n=n, d=d, type=number, metric=metric,
                                layout=int(square)))
        return out


def _listed(space, near, name, lists, values, found, **more):
    """Calls a function that lists pairs, and again with more room if there are more: the arrays of
    the job's members `lists` and, with values, distances, in one block. found: gives their number
    after a call."""
    dtype, members = near
    room, last = 16 * members["n"] + 1024, 4 if values and dtype == "float32" else 8
    lists = [*lists, "values"] if values else lists
    while True:
        block, begin = space.block(8 * room * (len(lists) - 1) + last * (room + room % 2))
        for k, member in enumerate(lists):
            members[member] = begin + 8 * room * k
        space.run(name, dict(members, capacity=room, wide=1, **more))
        count = found()
        if count <= room:
            parts = [space.part(block, 8 * room * k, count,
                                dtype if member == "values" else "int64")
                     for k, member in enumerate(lists)]
            if room < 2**16 or 4 * count > room:
                return parts
            return [part * 1 for part in parts]  # copies: a short list frees the block
        room = count


def pairs_within(x, radius, box=None, both=True, values=True, y=None):
    """Pairs of points, x of shape (n, 2) or (n, 3), at most a radius apart: i, j and, with values,
    distances. both: (i, j) and (j, i), else i < j. box: of periodic space: its lengths, 0: an open
    axis; or its three vectors, of any shape. y: other points: the pairs of an i of x and a j of
    y."""
    with _at(x) as (space, x):
        return tuple(_listed(space, _near(space, x, radius, box, y), "pairs", ("i", "j"), values,
                             space.counted, count=space.counter(), both=int(both)))


def graph_within(x, radius, box=None, values=True, y=None):
    """The same pairs, both ways, in compressed rows: starts (n + 1), columns, ascending in a row,
    and, with values, distances: scipy.sparse.csr_array((distances, columns, starts))."""
    with _at(x) as (space, x):
        near = _near(space, x, radius, box, y)
        starts = space.empty((near[1]["n"] + 1,), "int64")
        return (starts, *_listed(space, near, "graph", ("columns",), values,
                                 lambda: space.last(starts), starts=starts))


def nearest(x, k, radius=0, include_self=True, box=None, y=None):
    """Distances and numbers, (n, k), of the k nearest (1 to 64) of each point, as
    scipy.spatial.KDTree(x).query(x, k): nearest first, itself included, infinity and n where there
    is none. radius: only nearer points; 0: any. y: other points: the nearest of these, as
    KDTree(y).query(x, k). box: as of pairs_within."""
    if not 1 <= k <= 64:
        raise ValueError(f"k from 1 to 64, not {k}")
    with _at(x) as (space, x):
        dtype, members = _near(space, x, radius, box, y)
        numbers = space.empty((members["n"], int(k)), "int64")
        distances = space.empty((members["n"], int(k)), dtype)
        space.run("nearest", dict(members, numbers=numbers, distances=distances, k=int(k),
                                  self=int(include_self), wide=1))
        return distances, numbers if y is None or len(y) else numbers * 0


def near_set(x):
    """A prepared set of points, x of shape (n, 2) to (n, 8), for kernels of your own that call
    tmap_near_each and others with Planner.near: uint8, at a multiple of 128."""
    with _at(x) as (space, x):
        x, _, number = _reals(space, x, range(2, 9))
        members = {"points": x, "n": x.shape[0], "d": x.shape[1], "type": number}
        job = space.job(space.library.calls["near_set"], dict(members))
        size = space.library.threadmap_near_set_bytes(job)
        room = space.empty((size + 128,), "uint8")
        begin = -space.address(room) % 128
        out = room[begin:begin + size]
        if size:
            space.run("near_set", dict(members, set=out))
        return out


def groups(x, radius, box=None, min_points=1):
    """Groups of points that are linked by pairs at most a radius apart, friends of friends: their
    number, and int32 labels 0, 1, ... as scipy.sparse.csgraph.connected_components. With
    min_points more than 1: clusters as of sklearn.cluster.DBSCAN(radius, min_samples=min_points),
    and the label -1 for noise."""
    with _at(x) as (space, x):
        _, members = _near(space, x, radius, box)
        if not 1 <= min_points < 2**32:
            raise ValueError(f"min_points from 1 to 2^32 - 1, not {min_points}")
        labels, count = space.empty((members["n"],), "int32"), space.sum()
        space.run("groups", dict(members, labels=labels, count=count, dense=1,
                                 min_points=int(min_points)))
        return space.last(count, ctypes.c_int32), labels


def histogram(x, bins, maximum, box=None, y=None):
    """How many pairs lie at which distance, each pair once: int64 counts of equal bins from 0 up to
    the maximum, as numpy.histogram(pdist(x), bins, (0, maximum)); a distance within rounding of two
    bins may be in either. In a periodic box of volume V, g(r) is V / (n (n - 1) / 2) times the
    counts divided by the volumes of the bins' shells, up to half of the shortest length. y: other
    points: the pairs of one of x and one of y."""
    with _at(x) as (space, x):
        _, members = _near(space, x, maximum, box, y)
        if not 1 <= bins <= 2**31 or not 0 < maximum < 1e30:
            raise ValueError(f"bins from 1 to 2^31 and a maximum above 0, not {bins} and {maximum}")
        counts = space.empty((int(bins),), "int64")
        space.run("histogram", dict(members, counts=counts, bins=int(bins)))
        return counts


# ---- maps ---------------------------------------------------------------------------------------


def _bytes(space, mask):
    """A contiguous mask of bytes: those of the mask itself, if it has bytes."""
    mask = space.array(mask)
    if _name(mask.dtype) in ("bool", "uint8", "int8"):
        return space.cast(mask, _name(mask.dtype))
    return space.cast(mask != 0, "bool")


# THREADMAP_LABEL3_U8 to _F32 by dtype.
_VALUES = {"bool": 2, "uint8": 2, "int8": 2, "int16": 3, "uint16": 3, "int32": 4, "uint32": 4,
           "float32": 5}
_MASK = 4  # THREADMAP_MASK


def _axes(x, wanted=(2, 3)):
    """The number of axes of a map."""
    if len(x.shape) not in wanted:
        raise ValueError(f"cells of {' or '.join(map(str, wanted))} axes, not {tuple(x.shape)}")
    return len(x.shape)


def _periodic(periodic, axes):
    """The sum of THREADMAP_PERIODIC_X, ... for numbers of axes; True: all."""
    if not periodic:
        return 0
    wrapped = range(axes) if periodic is True else periodic
    if not set(wrapped) <= set(range(-axes, axes)):
        raise ValueError(f"periodic {periodic}: numbers of {axes} axes")
    return sum(0x100 << axis for axis in {axes - 1 - int(axis) % axes for axis in wrapped})


def _extents(x):
    """Members of a job."""
    return {"width": x.shape[-1], "height": x.shape[-2], "depth": x.shape[0] if len(x.shape) > 2
            else 1}


def _components(space, cells, kind, connectivity, images=False, flags=0, nodata=None,
                dtype="int32"):
    """Labels of cells, and their number: of each image, if slices are images. kind: 0, a mask, or
    of values, of which nodata belongs to none. flags: of periodic axes."""
    axes = _axes(cells) - images
    at = _choice(connectivity, tuple(range(1, axes + 1)), "connectivity")
    picture = axes == 2 and not kind and not flags  # or an image, which is quicker than a volume
    wide = _choice(dtype, ("int32", "int64"), "labels of dtype")
    labels = space.empty(tuple(cells.shape), dtype)
    count = space.empty((cells.shape[0],), "int64") if images else space.counter()
    if picture:
        space.run("label", dict(cells=cells, width=cells.shape[-1], height=cells.shape[-2],
                                type=_MASK, connectivity=(4, 8)[at], labels=labels, count=count,
                                wide=wide, batch=int(images),
                                images=cells.shape[0] if images else 0))
    else:
        space.run("label3", dict(cells=cells, **_extents(cells), kind=kind, labels=labels,
                                 count=count, wide=wide, neighbours=(6, 18, 26)[at] + flags,
                                 has_nodata=int(nodata is not None), nodata=float(nodata or 0)))
    return labels, count


def _cell(name, value):
    """The number of a cell of a dtype for the library, which has int8 as uint8 and uint32 as int32;
    None: no cell can have it."""
    bits = name.strip("uint")
    if not bits.isdigit() or value is None:
        return value
    value = value.item() if hasattr(value, "item") else value  # NumPy's overflow
    low = 0 if name[0] == "u" else -2 ** (int(bits) - 1)
    if not low <= value < low + 2 ** int(bits):
        return None
    low = {"int8": 0, "uint32": -2**31}.get(name, low)
    return low + (value - low) % 2 ** int(bits)


def label(mask, connectivity=1, images=False, values=False, periodic=(), nodata=0, dtype="int32"):
    """Connected components of cells that are not 0, of 2 or 3 axes, as scipy.ndimage.label: labels
    from 1 on, int32 or int64, and their number. connectivity: as in generate_binary_structure, 1 to
    the number of axes. images: the slices of three axes are images of their own, with an int64
    number each. values: components are of one value each, as skimage.measure.label, and none of
    nodata; None: of all. periodic: numbers of the axes whose ends are neighbours; True: all."""
    with _at(mask) as (space, mask):
        axes = _axes(mask, (3,) if images else (2, 3))
        flags = _periodic(periodic, axes)
        if images and (values or flags):
            raise ValueError("images have neither periodic axes nor values")
        if values:
            kind = _VALUES.get(_name(mask.dtype))
            if not kind:
                raise ValueError(f"values of dtype {', '.join(_VALUES)}, not {_name(mask.dtype)}")
            cells, nodata = space.cast(mask, _name(mask.dtype)), _cell(_name(mask.dtype), nodata)
        else:
            kind, cells = 0, _bytes(space, mask)
        labels, count = _components(space, cells, kind, connectivity, bool(images), flags, nodata,
                                    dtype)
        return labels, count if images else space.counted()


def _labels(space, labels):
    """Members of a job: labels of int32 or int64."""
    _axes(labels)
    wide = _name(labels.dtype) != "int32"
    labels = space.cast(labels, "int64" if wide else "int32")
    return {"labels": labels, **_extents(labels), "components": 0, "images": 0, "wide": int(wide)}


def shapes(labels):
    """The cells of each label 1, 2, ... of 2 or 3 axes, and its box: int64, and int64 of shape (n,
    4) or (n, 6): the first cell of each axis, then the one behind the last, as skimage.measure's
    regionprops. Labels of no cell have boxes without a meaning."""
    with _at(labels) as (space, labels):
        of, axes = _labels(space, labels), _axes(labels)
        number = of["components"] = max(0, int(labels.max())) if 0 not in labels.shape else 0
        table = space.empty((number, 5), "int64")
        space.run("shapes", dict(of, shapes=table))
        ends = [part for k in (2, 3, 4) for part in (table[:, k] & 0xffffffff, table[:, k] >> 32)]
        boxes = space.empty((number, 2 * axes), "int64")
        for axis in range(axes):  # left, top, front, right, bottom, back
            boxes[:, axis] = ends[axes - 1 - axis]
            boxes[:, axes + axis] = ends[3 + axes - 1 - axis] + 1
        return table[:, 0], boxes


def contacts(labels):
    """Which labels of 2 or 3 axes, 0 to 2^32 - 1, touch over faces of cells, 0 with none: int64 i < j
    of each pair, in ascending order, and the number of faces between them."""
    with _at(labels) as (space, labels):
        of, count, room = _labels(space, labels), space.sum(), 4096
        while True:
            table = space.empty((room, 2), "int64")
            space.run("contacts", dict(of, contacts=table, room=room, count=count))
            found = space.last(count)
            if found <= room:
                break
            room = min(8 * room, 2**32 - 1)
        table = table[table[:, 1] > 0]
        table = table[table[:, 0].argsort()]
        return table[:, 0] >> 32, table[:, 0] & 0xffffffff, table[:, 1]


def remove_small_objects(x, min_size, connectivity=1):
    """Labels without the components of fewer than min_size cells, whose cells become 0; or a mask
    of bool without its own such components: as skimage.morphology.remove_small_objects."""
    with _at(x) as (space, x):
        mask = _name(x.dtype) == "bool"
        if mask:
            labels, count = _components(space, _bytes(space, x), 0, connectivity)
            of = {**_labels(space, labels), "components": space.counted()}
        else:
            of = _labels(space, x)
            of["labels"] = labels = of["labels"] + 0  # a copy
            of["components"] = max(0, int(labels.max())) if 0 not in labels.shape else 0
        space.run("dust", dict(of, least=max(0, int(min_size))))
        return of["labels"] != 0 if mask else of["labels"]


def binary_fill_holes(mask, connectivity=1):
    """A mask of bool, of 2 or 3 axes, whose holes are filled, as scipy.ndimage.binary_fill_holes:
    cells of 0 from which no path of cells of 0 leads to a border. connectivity: of such paths. A
    volume of one slice is filled as a picture."""
    with _at(mask) as (space, mask):
        cells = space.cast(mask != 0, "uint8")
        labels, count = _components(space, cells, _VALUES["uint8"], connectivity)
        of = {**_labels(space, labels), "components": space.counted()}
        space.run("fill", dict(of, mask=cells))
        return cells != 0


def _heights(space, heights, connectivity, nodata):
    """(heights, their dtype, members of a job)"""
    if len(heights.shape) != 2:
        raise ValueError(f"heights of two axes, not {tuple(heights.shape)}")
    dtype = _name(heights.dtype)
    number = _choice(dtype, ("int16", "int32", "float32"), "heights of dtype")
    heights, (height, width) = space.cast(heights, dtype), heights.shape
    return heights, dtype, {
        "cells": heights, "width": width, "height": height, "type": number,
        "connectivity": 4 * (1 + _choice(connectivity, (1, 2), "connectivity")),
        "has_nodata": int(nodata is not None), "nodata": float(nodata or 0)}


def spill(heights, connectivity=2, outlets=None, border=True, nodata=None, depth=False):
    """The level at which water from the outlets reaches each cell of a map of int16, int32 or
    float32: filled depressions. connectivity: 1: 4 neighbours, 2: 8. outlets: a mask of cells;
    border: those of the map's border and beside cells of the value nodata, too. depth: float32,
    level - height."""
    with _at(heights) as (space, heights):
        heights, dtype, members = _heights(space, heights, connectivity, nodata)
        if outlets is not None:
            outlets = _bytes(space, outlets)
            if outlets.shape != heights.shape:
                raise ValueError("outlets: a mask of the shape of the heights")
        out = space.empty(tuple(heights.shape), "float32" if depth else dtype)
        space.run("spill", dict(members, mask=outlets, out=out, depth=int(depth),
                                outlets=3 if border else 0))
        return out


def flood(heights, seeds, level, connectivity=2, nodata=None, depth=False):
    """The cells below a level that water from the seeds reaches, a mask of bool; heights as of
    spill. seeds: row and column of each. depth: float32, level - height there, 0 elsewhere."""
    with _at(heights) as (space, heights):
        heights, _, members = _heights(space, heights, connectivity, nodata)
        rows = seeds.tolist() if hasattr(seeds, "tolist") else [*map(list, seeds)]
        height, width = heights.shape
        if not all(len(row) == 2 and 0 <= row[0] < height and 0 <= row[1] < width
                   and [*map(int, row)] == [*row] for row in rows):
            raise ValueError("seeds: row and column of cells of the map")
        out = space.empty(tuple(heights.shape), "float32" if depth else "bool")
        cells = space.cast(space.array([[x, y] for y, x in rows]), "int64")
        space.run("flood", dict(members, seeds=cells, count=len(rows), level=float(level), out=out,
                                form=2 if depth else 0))
        return out


# ---- frames -------------------------------------------------------------------------------------


def _frames(name, frames, reference, atoms, weights):
    """The result of drmsd or rmsd."""
    with _at(frames) as (space, frames):
        frames = space.cast(frames, "float32")
        if len(frames.shape) != 3 or frames.shape[2] != 3:
            raise ValueError(f"frames of shape (frames, atoms, 3), not {tuple(frames.shape)}")
        count, n, _ = frames.shape
        if reference is not None:
            reference = space.cast(space.array(reference), "float32")
            if tuple(reference.shape) != (n, 3):
                raise ValueError(f"a reference of shape ({n}, 3), not {tuple(reference.shape)}")
        if atoms is not None:
            atoms = space.array(atoms)
            if len(atoms.shape) != 1 or len(atoms) and not (
                    "int" in _name(atoms.dtype) and 0 <= atoms.min() and atoms.max() < n):
                raise ValueError(f"numbers of atoms from 0 to {n - 1}")
            atoms = space.cast(atoms, "int32")
        if weights is not None:
            weights = space.cast(space.array(weights), "float32")
            if tuple(weights.shape) != (n if atoms is None else len(atoms),):
                raise ValueError("a weight of each atom that counts")
        values = count if reference is not None else count * (count - 1) // 2
        out = space.empty((values,), "float32")
        space.run(name, dict(reference=reference, out=out, xyz=frames, frames=count, n=n,
                             atoms=atoms, weights=weights,
                             atom_count=0 if atoms is None else len(atoms)))
        return out


def drmsd(frames, reference=None, atoms=None, weights=None):
    """The dRMSD of all pairs of frames, of shape (frames, atoms, 3), in scipy's condensed order, or
    of each frame and a reference (atoms, 3). atoms: numbers of those that count; weights: of
    these."""
    return _frames("drmsd", frames, reference, atoms, weights)


def rmsd(frames, reference=None, atoms=None, weights=None):
    """The RMSD after superposition, else as drmsd."""
    return _frames("rmsd", frames, reference, atoms, weights)


# ---- clusters -----------------------------------------------------------------------------------


def _condensed(space, distances):
    """(members of a job, n): distances of all pairs of n in scipy's condensed order, as floats."""
    distances = space.cast(distances, "float32")
    n = (1 + math.isqrt(1 + 8 * len(distances))) // 2
    if len(distances.shape) != 1 or n * (n - 1) // 2 != len(distances):
        raise ValueError(f"n (n - 1) / 2 distances, condensed; not {tuple(distances.shape)}")
    return {"distances": distances, "n": n}, n


def gromos(distances, cutoff):
    """Clusters by the greedy algorithm of Daura et al., gmx cluster -method gromos, from condensed
    distances, in the order in which it finds them: the cluster of each frame, from 0 on, and each
    cluster's centre and size, all int32. Neighbours: distance <= cutoff."""
    with _at(distances) as (space, distances):
        members, n = _condensed(space, distances)
        labels, centres, sizes = (space.empty((n,), "int32") for _ in range(3))
        space.run("gromos", dict(members, labels=labels, centres=centres, sizes=sizes,
                                 count=space.counter(), cutoff=float(cutoff)))
        found = space.counted()
        return labels, centres[:found], sizes[:found]


def linkage(distances):
    """scipy.cluster.hierarchy.linkage(distances, "single") of condensed distances: float64 (n - 1,
    4). The minimum spanning tree is found there, its matrix is made on the host. With equal
    distances scipy may join in another order."""
    with _at(distances) as (space, distances):
        members, n = _condensed(space, distances)
        numpy, library = importlib.import_module("numpy"), space.library
        edges = space.empty((n - 1, 3), "int32")
        space.run("linkage", dict(members, edges=edges))
        host = numpy.empty((n - 1, 3), "int32")
        scratch, matrix = numpy.empty(2 * n, "uint32"), numpy.empty((n - 1, 4))
        code = library.threadmap_copy(host.ctypes.data, space.address(edges), host.nbytes,
                                      space.stream)
        space.check(code or library.threadmap_linkage_matrix(
            *map(ctypes.c_void_p, (host.ctypes.data, n, scratch.ctypes.data, matrix.ctypes.data))),
            "linkage")
        return space.array(matrix)


# ---- fractals -----------------------------------------------------------------------------------


def _level(sides, extents):
    """The level at which a fractal of these sides has these extents."""
    level = 0
    while level < 64 and any(side ** level < extent for side, extent in zip(sides, extents)):
        level += 1
    if any(side ** level != extent for side, extent in zip(sides, extents)):
        raise ValueError(f"a state of {tuple(extents)}: powers of {tuple(sides)}")
    return level


def life(state, fractal=None, steps=1, rule="B3/S23", periodic=()):
    """A state after steps of a cellular automaton: uint8, 0 and 1. state: alive where it is not 0;
    of any shape of two axes, of which those of `periodic` (True: both) have neighbouring ends. With
    a threadmap.Fractal only its cells count: of shape (sy^r, sx^r) and 0 outside the fractal; or of
    k^r cells in the order of tmap_nbb_lambda_linear, which is computed with a bit a cell. rule: as
    that of Conway's Life."""
    said = re.fullmatch("[Bb]([0-8]*)/[Ss]([0-8]*)", rule)
    if not said or steps < 1:
        raise ValueError(f"a rule as B3/S23 and 1 step or more, not {rule!r} and {steps}")
    born, survive = (sum(1 << int(digit) for digit in set(digits)) for digits in said.groups())
    with _at(state) as (space, state):
        state = _bytes(space, state)
        axes = _axes(state, (1, 2) if fractal else (2,))
        flags, compact = _periodic(periodic, axes), axes == 1
        if fractal and flags:
            raise ValueError("a fractal has no periodic axes")
        out = words = space.empty(tuple(state.shape), "uint8")
        if fractal:
            k, sx, sy, tau_x, tau_y = fractal.numbers
            members = {"k": k, "sx": sx, "sy": sy, "tau_x": tau_x, "tau_y": tau_y,
                       "r": _level((k,) if compact else (sy, sx), state.shape)}
        else:
            members = {"height": state.shape[0], "width": state.shape[1], "periodic": flags}
        if compact:
            job = space.job(space.library.calls["bits"], dict(members))  # begins with the fractal
            size = space.library.threadmap_bits_bytes(job) // 2
            words, new = space.empty((size,), "int16"), space.empty((size,), "int16")
            space.run("bits", dict(members, bytes=state, words=words))
            state, words = words, new
        space.run("life", dict(members, out=words, steps=int(steps), born=born, survive=survive,
                               compact=int(compact), **{"in": state}))
        if compact:
            space.run("bits", dict(members, bytes=out, words=words, unpack=1))
        return out


def mandelbrot(shape, window=(-1.5, 0.5, -1.0, 1.0), dwell=512, doubles=False, like=None):
    """The dwells of a picture of the Mandelbrot set by adaptive subdivision, int32 of that shape:
    steps before |z| >= 2, at most `dwell`. Pixel [y, x] is c = x0 + (x1 - x0) / width x, and
    likewise y, in the window (x0, x1, y0, y1). doubles: for small windows. like: an array where it
    is computed; None: NumPy's."""
    height, width = shape
    if not (1 <= height <= 2**24 and 1 <= width <= 2**24 and 1 <= dwell <= 2**30):
        raise ValueError(f"sides from 1 to 2^24, dwell from 1 to 2^30; not {shape} and {dwell}")
    x0, x1, y0, y1 = map(float, window)
    with _at(() if like is None else like) as (space, _):
        out = space.empty((height, width), "int32")
        space.run("mandelbrot", dict(out=out, nx=int(width), ny=int(height), x0=x0, x1=x1, y0=y0,
                                     y1=y1, dwell=int(dwell), options=2 if doubles else 0))
        return out
