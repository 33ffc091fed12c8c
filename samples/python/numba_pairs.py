#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""numba_pairs.py: one value of all pairs of points, by a function of your own in Python: here the
number of pairs that are nearer than a radius. numba compiles that function and the kernel, NVRTC the
lines of C between them, and the linker inlines each into the next.

python3 samples/python/numba_pairs.py, with `threadmap` installed or PYTHONPATH=python
Needs numba and numba-cuda: with numpy 2.5 numba 0.67 or later.
"""
import importlib.metadata
import sys


def versions():
    names = "numba", "numba-cuda", "numpy"
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


try:
    import numpy
    # numba-cuda, up to 0.30.4 at least, wants this name of vstack, which numpy 2.5 no longer has.
    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack
    from numba import cuda, float32, int32, types, uint64
    from numba.cuda import config
    from numba.cuda.np import arrayobj  # noqa: F401, fails where numpy is too new for numba-cuda
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)
except AttributeError as error:
    print(f"SKIP: {versions()}: {error}")
    sys.exit(77)
import threadmap

N = 20000
RADIUS = 0.1
THREADS = 128  # TMAP_PAIRS_THREADS
PARAMETERS = types.void(uint64, uint64, float32, uint64, uint64)
# The engine takes structs, which numba has not: C hands them over, numba knows addresses alone.
GLUE = """
#include <threadmap/triangle.h>
extern "C" __device__ int nearer(const float *a, const float *b, float radius2);
static __device__ void count(void *job, void *sum, tmap_pair, const void *a, const void *b) {
    *(tmap_u64 *)sum += nearer((const float *)a, (const float *)b, *(const float *)job);
}
static __device__ void join(void *, void *sum, const void *other) {
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
extern "C" __device__ int near_pairs(tmap_u64 plan, tmap_u64 xyz, float radius2,
                                     tmap_u64 workspace, tmap_u64 out) {
    const tmap_pairs_plan p = *(const tmap_pairs_plan *)plan;
    const tmap_u64 zero = 0;
    const tmap_points points = {(const float *)xyz, 0, sizeof(float), 3};
    const tmap_fold fold = {&zero, sizeof zero, join};
    const tmap_fold_to to = {(void *)workspace, (void *)out};
    tmap_pairs_fold(&p, points, count, fold, to, &radius2);
    return 0;
}
"""


def nearer(a, b, radius2):
    """The visitor: a and b point to the coordinates of two points."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return int32(x * x + y * y + z * z < radius2)


def make_kernel():
    config.CUDA_NVRTC_EXTRA_SEARCH_PATHS = threadmap.include()
    point = types.CPointer(float32)
    visitor, _ = cuda.compile_for_current_device(
        nearer, int32(point, point, float32), device=True, abi="c", output="ltoir",
        abi_info={"abi_name": "nearer"})
    near_pairs = cuda.declare_device(
        "near_pairs", int32(uint64, uint64, float32, uint64, uint64), abi="c",
        link=[cuda.CUSource(GLUE, name="near_pairs.cu"), cuda.LTOIR(visitor, name="nearer")])

    @cuda.jit(PARAMETERS, lto=True, launch_bounds=THREADS)
    def kernel(plan, xyz, radius2, workspace, out):
        near_pairs(plan, xyz, radius2, workspace, out)
    return kernel


def address(array):
    return numpy.uint64(array.__cuda_array_interface__["data"][0])


def main():
    if not cuda.is_available():
        print("SKIP: no GPU")
        return 77
    kernel = make_kernel()
    plans = threadmap.Planner(kernel.get_regs_per_thread(PARAMETERS),
                              kernel.get_shared_mem_per_block(PARAMETERS),
                              kernel.get_max_threads_per_block(PARAMETERS))
    plan = plans.pairs(N, d=3)

    points = numpy.random.default_rng(1).random((N, 3), numpy.float32)
    xyz = cuda.to_device(points)
    plan_there = cuda.to_device(numpy.frombuffer(plan.data, numpy.uint8))
    workspace = cuda.to_device(numpy.zeros(plan.workspace(8), numpy.uint8))
    out = cuda.to_device(numpy.zeros(1, numpy.uint64))
    launch = kernel[plan.grid, plan.block, 0, plan.shared]
    launch(address(plan_there), address(xyz), numpy.float32(RADIUS ** 2), address(workspace),
           address(out))
    count = int(out.copy_to_host()[0])

    low = high = 0  # a pair at the radius to a rounding may fall on either side
    exact = points.astype(numpy.float64)
    for i in range(0, N, 500):
        apart = ((exact[i:i + 500, None] - exact[None]) ** 2).sum(axis=2)
        low += int((apart < (RADIUS * (1 - 1e-6)) ** 2).sum())
        high += int((apart < (RADIUS * (1 + 1e-6)) ** 2).sum())
    right = (low - N) // 2 <= count <= (high - N) // 2
    print(f"{versions()}: {count} of {N * (N - 1) // 2} pairs: {'ok' if right else 'WRONG'}")
    return not right


if __name__ == "__main__":
    sys.exit(main())
