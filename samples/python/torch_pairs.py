#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_pairs.py: one value of all pairs of points, by a function of your own, on PyTorch tensors:
here the number of pairs that are nearer than a radius.

python3 samples/python/torch_pairs.py, with `threadmap` installed or PYTHONPATH=python
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
#include <threadmap/triangle.h>
static __device__ void count(void *job, void *sum, tmap_pair, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    *(tmap_u64 *)sum += x * x + y * y + z * z < *(float *)job;
}
static __device__ void join(void *, void *sum, const void *other) {
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
extern "C" __global__ void __launch_bounds__(TMAP_PAIRS_THREADS)
near_pairs(tmap_pairs_plan plan, const float *xyz, float radius2, void *workspace, tmap_u64 *out) {
    const tmap_u64 zero = 0;
    const tmap_points points = {xyz, 0, sizeof(float), 3};
    const tmap_fold fold = {&zero, sizeof zero, join};
    const tmap_fold_to to = {workspace, out};
    tmap_pairs_fold(&plan, points, count, fold, to, &radius2);
}
"""


def main():
    if not torch.cuda.is_available():
        print("SKIP: no GPU")
        return 77
    points = torch.rand(N, 3, device="cuda")
    kernel = threadmap.Kernel(SOURCE, "near_pairs")
    plan = kernel.pairs(N, d=3)
    workspace = torch.zeros(plan.workspace(8), dtype=torch.uint8, device="cuda")
    count = torch.zeros(1, dtype=torch.int64, device="cuda")
    kernel(plan, points, ctypes.c_float(RADIUS ** 2), workspace, count,
           stream=torch.cuda.current_stream())

    exact = points.double()  # a pair at the radius to a rounding may fall on either side
    low = high = 0
    for i in range(0, N, 2000):
        apart = torch.cdist(exact[i:i + 2000], exact)
        low += int((apart < RADIUS * (1 - 1e-6)).sum())
        high += int((apart < RADIUS * (1 + 1e-6)).sum())
    right = (low - N) // 2 <= int(count) <= (high - N) // 2
    print(f"{int(count)} of {N * (N - 1) // 2} pairs: {'ok' if right else 'WRONG'}")
    return not right


if __name__ == "__main__":
    sys.exit(main())
