#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_near.py: a value for each point from the points near it, by a function of your own, on PyTorch
tensors: here a density, the sum of 1 - distance / radius.

python3 samples/python/torch_near.py, with `threadmap` installed or PYTHONPATH=python, and the library
(docs/python.md), which prepares the points
"""
import ctypes
import sys

try:
    import torch
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)
import threadmap

N = 20000
RADIUS = 0.1
SOURCE = """
#include <threadmap/triangle/near_rows.h>
static __device__ int reach(void *radius, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_within(a, b, 3, *(const float *)radius);
}
static __device__ void add(void *radius, tmap_pair, const void *a, const void *b, void *to_i, void *) {
    const float *u = (const float *)a, *v = (const float *)b, r = *(const float *)radius;
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    *(float *)to_i += fmaxf(0, 1 - sqrtf(x * x + y * y + z * z) / r);
}
static __device__ void join(void *, void *sum, const void *other) {
    *(float *)sum += *(const float *)other;
}
extern "C" __global__ void __launch_bounds__(TMAP_NEAR_THREADS)
densities(tmap_near_plan plan, const void *set, float radius, float *out) {
    const float zero = 0;
    const tmap_near points = {{set, 0, sizeof(float), 3}, reach, 0};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_near_rows(&plan, points, add, fold, out, &radius);
}
"""


def main():
    if not torch.cuda.is_available() or threadmap.device() != "gpu":
        print("SKIP: no GPU, or no library for it")
        return 77
    points = torch.rand(N, 3, device="cuda")
    kernel = threadmap.Kernel(SOURCE, "densities")
    plan = kernel.near_rows(N, 3, accumulator=4)
    out = torch.empty(N, device="cuda")
    kernel(plan, threadmap.near_set(points), ctypes.c_float(RADIUS), out,
           stream=torch.cuda.current_stream())

    exact = points.double()
    rows = [(1 - torch.cdist(some, exact) / RADIUS).clamp(min=0).sum(dim=1) - 1 for some in exact.split(2000)]
    right = torch.allclose(out.double(), torch.cat(rows), rtol=1e-4, atol=1e-4)
    print(f"densities of {N} points, on average {float(out.mean()):.2f}: {'ok' if right else 'WRONG'}")
    return not right


if __name__ == "__main__":
    sys.exit(main())
