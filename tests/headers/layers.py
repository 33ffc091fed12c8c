#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The layers of include/threadmap: a header includes only those of its layer or of lower ones, and
no header outside papers/ includes one of papers/.

A header that is on no list is held to the rules of a pure map, layer 1. CONTRIBUTING.md has a table
that `layers.py --update` makes from this file; without an argument the script says what is stale.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def paths(*names):
    return {f"threadmap/{name}.h" for name in names}


# 0: portability and versions
GROUND = paths("core", "version")

# 2: a warp, a block, tiles; in CUDA code alone
COOPERATIVE = paths("check", "forest", "warp", "reduce", "value", "fold",
                    "fractal/warp", "fractal/rows", "fractal/compact_stencil",
                    "adaptive/olt", "papers/olt_blocks",
                    "papers/group", "papers/mma", "papers/block", "papers/box",
                    "papers/wmma", "papers/tensor", "papers/drmsd_slides")

# 3: plans, launches, and the functions that a kernel of the user's calls; and the one include of
# a folder
ENGINES = paths("launch", "cxx", "cxx_near", "nccl", "share_memory",
                "fractal/each", "fractal/fold", "fractal/stencil",
                "fractal/each3", "fractal/each3_plan", "fractal/stencil3", "fractal/halo",
                "triangle/near", "triangle/near_cell", "triangle/near_nearest", "triangle/near_rows",
                "triangle/near_select", "triangle/near_set",
                "triangle/pairs", "triangle/pairs_frames", "triangle/pairs_rows",
                "triangle/pairs_select", "triangle/pairs_store", "triangle/pairs_store_plan",
                "triangle/pairs_store_tiles", "triangle/triples",
                "triangle/triples_tables",
                "adaptive/ask", "adaptive/ask_plan",
                "papers/ask_sbr")
# Headers that need a library beyond CUDA's runtime: compiled by the tests of what uses them.
OPTIONAL = {"threadmap/nccl.h": {"nccl.h"}, "threadmap/share_memory.h": {"cuda.h", "string.h"},
            "threadmap/fractal/halo.h": {"stdlib.h", "string.h"},
            "threadmap/triangle/near_sort.h": {"cub/device/device_radix_sort.cuh"},
            "threadmap/raster/stripes_base.h": {"nccl.h"}, "threadmap/raster/stripes.h": {"nccl.h"},
            "threadmap/raster/stripes_flood.h": {"nccl.h"}}
WINGS = paths("fractal", "fractal3", "triangle", "adaptive")
# What fractal3.h has of fractal/, in place of fractal.h.
THREE = paths("fractal/nbb3", "fractal/catalogue3", "fractal/turned", "fractal/each3_plan", "fractal/each3",
              "fractal/stencil3")

# 4: ready kernels with their launches
CLIENTS = paths("fractal/ready", "fractal/sw", "fractal/rd", "fractal/ca", "fractal/compact_life", "fractal/life3",
                "fractal/compact_move", "fractal/diffusion", "fractal/ising",
                "triangle/near_graph", "triangle/near_groups", "triangle/near_prepare", "triangle/near_sort", "triangle/pdist",
                "adaptive/mandelbrot", "adaptive/mandelbrot_pixels", "library",
                "molecules/drmsd", "molecules/drmsd_frames", "molecules/drmsd_matrix",
                "molecules/drmsd_mma", "molecules/drmsd_pair", "molecules/cluster", "molecules/gromos", "molecules/linkage",
                "molecules/rmsd",
                "raster/map", "raster/flood", "raster/flood_base", "raster/flood_last", "raster/flood_local",
                "raster/label", "raster/label_plan", "raster/label_local", "raster/label_measure", "raster/label_base",
                "raster/label3", "raster/label3_base", "raster/label_tools", "raster/spill", "raster/spill_tile",
                "raster/stripes_base", "raster/stripes", "raster/stripes_flood",
                "papers/box_bits", "papers/box_kernels", "papers/box_published", "papers/flood_slides",
                "papers/mandelbrot_approaches", "papers/mandelbrot_dp",
                "papers/mandelbrot_published", "papers/triangle_published")

# What the limits of cost_test.py are not for: nothing.
HEAVY = paths()

# What is in no include of a folder either: what serves clients alone, and engines that are large or
# need more than CUDA.
SERVING = paths("fractal/ca_rule", "fractal/halo", "triangle/image", "triangle/near", "triangle/near_cell",
                "triangle/near_key", "triangle/near_nearest", "triangle/near_rows",
                "triangle/near_select", "triangle/near_set")


def layer(header):
    if header in GROUND:
        return 0
    if header in COOPERATIVE:
        return 2
    if header in ENGINES or header in WINGS:
        return 3
    return 4 if header in CLIENTS else 1


def is_published(header):
    """Of papers/: what a paper describes, as published."""
    return header.startswith("threadmap/papers/")


NAMES = {0: ("ground", "nothing"),
         1: ("maps", "layers 0 and 1, and no system header, so that they compile as C11, C++17, CUDA and "
                     "under NVRTC"),
         2: ("cooperative code", "layers 0 to 2"),
         3: ("engines", "layers 0 to 3, `<cuda_runtime.h>`"),
         4: ("ready kernels", "all")}


def table():
    """The table of CONTRIBUTING.md."""
    found = {}
    for folder, _, names in os.walk(os.path.join(ROOT, "include/threadmap")):
        for name in names:
            header = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "include"))
            if not is_published(header):
                found.setdefault(layer(header), []).append(header[len("threadmap/"):-len(".h")])
    lines = ["| layer | may include | headers |", "| --- | --- | --- |"]
    for number, (name, may) in NAMES.items():
        headers = ", ".join(f"`{header}`" for header in sorted(
            found.get(number, ()), key=lambda path: ("/" in path, path)))
        lines.append(f"| {number} {name} | {may} | {headers} |")
    return "\n".join(lines)


def main():
    path = os.path.join(ROOT, "CONTRIBUTING.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    new = re.sub(r"(<!-- table: layers -->\n).*?(\n<!-- /table -->)",
                 lambda match: match.group(1) + table() + match.group(2), text, flags=re.S)
    if "--update" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
    elif new != text or table() not in text:
        sys.exit("CONTRIBUTING.md: the table of layers is stale; tests/headers/layers.py --update")


if __name__ == "__main__":
    main()
