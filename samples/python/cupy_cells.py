#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cupy_cells.py: a function of your own for every cell of a fractal, on CuPy arrays.

python3 samples/python/cupy_cells.py, with `threadmap` installed or PYTHONPATH=python
"""
import sys

try:
    import cupy
    import numpy
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)
import ctypes

import threadmap

R = 10
SIDE = 2 ** R
SOURCE = """
#include <threadmap/fractal.h>
struct drawing { int *out; int ink; };
static __device__ void dab(void *job, tmap_cell cell) {
    drawing *d = (drawing *)job;
    d->out[cell.at] = d->ink + (int)cell.x;
}
extern "C" __global__ void draw(tmap_each_plan plan, int *out, int ink) {
    drawing d = {out, ink};
    tmap_each(&plan, dab, &d);
}
"""


def main():
    try:
        kernel = threadmap.Kernel(SOURCE, "draw")
    except threadmap.Error as error:
        print(f"SKIP: {error}")
        return 77
    plan = kernel.each(threadmap.gasket, R, SIDE)
    out = cupy.zeros((SIDE, SIDE), cupy.int32)
    kernel(plan, out, ctypes.c_int(5), stream=cupy.cuda.get_current_stream())

    y, x = numpy.mgrid[:SIDE, :SIDE]
    want = numpy.where(x & ~y, 0, 5 + x)  # the gasket's cells: x & ~y == 0
    wrong = int((out.get() != want).sum())
    print(f"{3 ** R} cells of {SIDE} x {SIDE} places: {'WRONG' if wrong else 'ok'}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
