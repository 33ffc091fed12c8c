#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what other libraries offer for the works of bench_flood, where they can be imported: CuPy's
labelling on the GPU, SciPy's and OpenCV's on the CPU, and OpenCV's flood fill.

    peers_flood.py [--n N,N,...] [--inputs NAME,...] [--connectivity 4|8] [--only TEXT]
                   [--seconds S] [--limit MS] [--volume N] [--out FILE]

Maps are those of bench_flood, and so is the source: the first cell of the largest region. Prints a
Markdown table of medians, and writes the same as JSON in the form of the other results: `work`
flood or label, variant cupy_label and so on, `device` where. A flood by labels is the comparison of
the heights with the level, the labelling, and the selection of the source's label. Each flood is
checked against a region that another library has found, in every cell; of labels, the number. Maps
beyond what a library takes, and what has not begun after so many seconds, are left out; a peer that
takes longer than the limit is left out of that input's larger maps. --volume N: then also labels a
volume of N x N x N cells, noise_50 of bench_label3, with 26 neighbours.
"""
import ctypes
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
from peers import module  # noqa: E402  # pylint: disable=wrong-import-position

INPUTS = ("terrain", "serpentine_h", "serpentine_v", "spiral", "noise_593", "noise_650",
          "checkerboard", "wet", "dry", "maze")

parser = common.parser(__doc__, 120)
parser.add_argument("--n", default="1024,4096,16384", help="widths of maps (%(default)s)")
parser.add_argument("--inputs", default=",".join(INPUTS), help="inputs (all of them)")
parser.add_argument("--connectivity", type=int, default=4, choices=(4, 8))
parser.add_argument("--limit", type=float, default=5000, help="milliseconds (%(default)s)")
parser.add_argument("--volume", type=int, default=0, help="width of a volume (none)")
args = parser.parse_args()
for text in args.inputs.split(","):
    if text not in INPUTS:
        parser.error(f"--inputs: bad value '{text}'")

np = module("numpy")
cupy = common.cupy_on_gpu()
cupy_ndimage = module("cupyx.scipy.ndimage") if cupy is not None else None
scipy_ndimage = module("scipy.ndimage")
cv2 = module("cv2")
if np is None or (cupy_ndimage is None and scipy_ndimage is None and cv2 is None):
    common.skip()


# ---- the maps of tests/raster/flood_inputs.h, by the C compiler ----------------------------------

MAPS = r"""
#include "tests/raster/flood_inputs.h"
void heights(int input, unsigned n, short *out) {
#pragma omp parallel for
    for (unsigned y = 0; y < n; ++y)
        for (unsigned x = 0; x < n; ++x)
            out[(tmap_u64)y * n + x] = (short)flood_input(input, x, y, n, n);
}
void noise_50(unsigned n, unsigned char *out) {
#pragma omp parallel for
    for (unsigned z = 0; z < n; ++z)
        for (unsigned y = 0; y < n; ++y)
            for (unsigned x = 0; x < n; ++x)
                out[((tmap_u64)z * n + y) * n + x] = flood_hash_cell(x, y, z) % 100 < 50;
}
"""


def compiled(text):
    """The functions of a text in C."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "maps")
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["cc", "-O3", "-fopenmp", "-shared", "-fPIC", "-I", root, "-I",
                        os.path.join(root, "include"), path + ".c", "-o", path + ".so"], check=True)
        return ctypes.CDLL(path + ".so")


maps = compiled(MAPS)


class Map:
    """Heights on both machines, its largest region, and the number of regions."""

    def __init__(self, name, n):
        self.name, self.n, self.heights = name, n, np.empty((n, n), dtype=np.int16)
        maps.heights(INPUTS.index(name), n, self.heights.ctypes.data_as(ctypes.c_void_p))
        self.on_gpu = cupy.asarray(self.heights) if cupy is not None else None
        self.mask, self.known = None, None
        self.regions, self.region, self.seed = {}, {}, None

    def find(self):
        """By each of the libraries that can: the number of regions, and the largest one. The first
        also tells the source."""
        if self.seed is not None:
            return
        self.mask = (self.heights < 0).astype(np.uint8)
        for library, label in labellings(self).items():
            labels, count = label()
            if library == "cupy":
                sizes = cupy.asnumpy(cupy.bincount(labels.ravel(), minlength=2))
            else:
                sizes = np.bincount(labels.ravel(), minlength=2)
            sizes[0] = 0
            # Of regions as large as each other, the first. Labels need not be in order.
            if self.seed is None:
                largest = np.flatnonzero(sizes == sizes.max()) if sizes.max() else []
                flat = labels.ravel()
                first = [int((flat == int(k)).argmax()) for k in largest[:64]]
                self.seed = divmod(min(first), self.n) if first else (0, 0)
            chosen = labels[self.seed]
            flood = (labels == chosen) & (labels > 0)
            self.region[library] = cupy.asnumpy(flood) if library == "cupy" else flood
            self.regions[library] = int(count)

    def other(self, of, library):
        """What a library other than this one has found."""
        for key, value in of.items():
            if not library.startswith(key):
                return value
        raise ValueError("there is nothing to compare with")


# ---- works ---------------------------------------------------------------------------------------

def structure(xp):
    eight = args.connectivity == 8
    return xp.ones((3, 3), dtype=int) if eight else xp.asarray([[0, 1, 0], [1, 1, 1], [0, 1, 0]])


def scipy_label(m):
    return scipy_ndimage.label(m.mask, structure=structure(np))


def cupy_label(mask):
    return cupy_ndimage.label(mask, structure=structure(cupy))


def opencv_label(m):
    count, labels = cv2.connectedComponents(m.mask, connectivity=args.connectivity,
                                            ltype=cv2.CV_32S)
    return labels, count - 1


def labellings(m):
    """Every library's, for truths."""
    known = {}
    if scipy_ndimage is not None:
        known["scipy"] = lambda: scipy_label(m)
    if cv2 is not None and m.n <= 46340:
        known["opencv"] = lambda: opencv_label(m)
    if cupy_ndimage is not None:
        known["cupy"] = lambda: cupy_label(m.on_gpu < 0)
    return known


def selected(labels, seed):
    chosen = labels[seed]
    return ((labels == chosen) & (chosen > 0)).astype("uint8")


def flood_by_opencv_fill(m):
    """floodFill of a mask, in place, as it would be called on the heights by type. A copy first."""
    def call():
        image = (m.heights < 0).astype(np.uint8)
        if image[m.seed]:
            cv2.floodFill(image, None, (m.seed[1], m.seed[0]), 2, flags=args.connectivity)
        return (image == 2).astype(np.uint8)
    return call


def peers(m):
    """(work, variant, device, function that makes the call)"""
    def on_host(label):
        def call():
            m.mask = (m.heights < 0).astype(np.uint8)
            return selected(label(m)[0], m.seed)
        return call
    if cupy_ndimage is not None:
        def by_cupy():
            return selected(cupy_label(m.on_gpu < 0)[0], m.seed)
        mask = (m.on_gpu < 0).astype(cupy.uint8)
        yield "flood", "cupy_label", "cuda", lambda: by_cupy
        yield "label", "cupy_label", "cuda", lambda: lambda: cupy_label(mask)
    if cv2 is not None and m.n <= 46340:
        yield "flood", "opencv_flood_fill", "cpu", lambda: flood_by_opencv_fill(m)
        yield "flood", "opencv_components", "cpu", lambda: on_host(opencv_label)
        yield "label", "opencv_components", "cpu", lambda: lambda: opencv_label(m)
    if scipy_ndimage is not None:
        yield "flood", "scipy_label", "cpu", lambda: on_host(scipy_label)
        yield "label", "scipy_label", "cpu", lambda: lambda: scipy_label(m)


def check(m, work, variant, result):
    if work == "label":
        got, want = int(result[1]), m.other(m.regions, variant)
        if got != want:
            raise ValueError(f"wrong: {got} regions instead of {want}")
        return
    got = cupy.asnumpy(result) if variant.startswith("cupy") else result
    wrong = int((got != m.other(m.region, variant)).sum())
    if wrong:
        raise ValueError(f"wrong in {wrong} cells")


# ---- times ---------------------------------------------------------------------------------------

table, late = common.Table(args, ("size", "input", "work", "variant", "device"), "mpix_s"), set()
for size in sorted(int(text) for text in args.n.split(",")):
    for input_name in args.inputs.split(","):
        if common.over(args.seconds):
            print(f"| {size} | {input_name} | skipped: {args.seconds:g} seconds are over |", flush=True)
            continue
        map_ = Map(input_name, size)
        map_.find()
        for work_, name, where, maker in peers(map_):
            if (input_name, work_, name) in late:
                continue
            row = {"work": work_, "variant": name, "domain": "map", "input": input_name, "size": size,
                   "connectivity": args.connectivity, "dtype": "i16" if work_ == "flood" else "u8",
                   "device": where}
            milliseconds = table.time(
                row, maker, cupy if where == "cuda" else None,
                lambda result, m=map_, w=work_, v=name: check(m, w, v, result), size * size / 1e3,
                where == "cpu", 500)
            if milliseconds is not None and milliseconds > args.limit:
                late.add((input_name, work_, name))


def volume_peers(n):
    """(variant, device, call) that labels noise of n x n x n cells, with 26 neighbours."""
    host = np.empty((n, n, n), dtype=np.uint8)
    maps.noise_50(n, host.ctypes.data_as(ctypes.c_void_p))
    if cupy_ndimage is not None:
        mask, whole = cupy.asarray(host), cupy.ones((3, 3, 3), dtype=int)
        yield "cupy_label", "cuda", lambda: cupy_ndimage.label(mask, structure=whole)
    if scipy_ndimage is not None:
        cube = np.ones((3, 3, 3), dtype=int)
        yield "scipy_label", "cpu", lambda: scipy_ndimage.label(host, structure=cube)


components = []  # that each peer has found in the volume


def same_components(result):
    components.append(int(result[1]))
    if components[-1] != components[0]:
        raise ValueError(f"wrong: {components[-1]} components instead of {components[0]}")


for name, where, label_volume in volume_peers(args.volume) if args.volume else ():
    row = {"work": "label", "variant": name, "domain": "volume", "input": "noise_50",
           "size": args.volume, "connectivity": 26, "dtype": "u8", "device": where}
    table.time(row, lambda call=label_volume: call, cupy if where == "cuda" else None, same_components,
               args.volume ** 3 / 1e3)
if len(components) == 1:  # there was nothing to compare with
    table.rows = [row for row in table.rows if row["domain"] != "volume"]
table.write("peers_flood", ("numpy", "scipy", "cupy", "cv2"))
