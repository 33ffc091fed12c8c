#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_pdist.py: the condensed distances of n points by tmap_pdist_f32, in place of torch.pdist,
which takes no more than some 65536 points.

    from torch_pdist import pdist
    distances = pdist(points)  # n x d floats on a GPU -> n (n - 1) / 2 floats, scipy's order

The first call compiles with nvcc (torch.utils.cpp_extension.load_inline).
"""
import sys

try:
    import torch
    from torch.utils import cpp_extension
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)
import threadmap

SOURCE = """
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>
#include <threadmap/triangle/pdist.h>
torch::Tensor pdist(torch::Tensor points) {
    TORCH_CHECK(points.is_cuda() && points.dim() == 2 && points.scalar_type() == torch::kFloat,
                "points: n x d floats on a GPU");
    points = points.contiguous();
    const tmap_pdist_points at = {points.data_ptr<float>(), (tmap_u64)points.size(0),
                                  (tmap_u64)points.size(1)};
    torch::Tensor out = torch::empty(
        {(int64_t)tmap_pdist_values(at.n, TMAP_PAIRS_CONDENSED)}, points.options());
    const cudaError_t error = tmap_pdist_f32(at, TMAP_PDIST_EUCLIDEAN, TMAP_PAIRS_CONDENSED,
                                             out.data_ptr<float>(),
                                             at::cuda::getCurrentCUDAStream());
    TORCH_CHECK(error == cudaSuccess, cudaGetErrorString(error));
    return out;
}
"""


def pdist(points):
    if pdist.extension is None:
        pdist.extension = cpp_extension.load_inline(
            "threadmap_pdist", cpp_sources="torch::Tensor pdist(torch::Tensor points);",
            cuda_sources=SOURCE, functions=["pdist"], extra_include_paths=[threadmap.include()])
    return pdist.extension.pdist(points)


pdist.extension = None


def main():
    if not torch.cuda.is_available():
        print("SKIP: no GPU")
        return 77
    wrong = 0
    for n, d in (1000, 3), (4097, 17), (70000, 3):
        points = torch.rand(n, d, device="cuda")
        got = pdist(points)
        # some rows against double precision: row i begins at i (2 n - i - 1) / 2
        for i in {0, 1, n // 3, n - 2}:
            begin = i * (2 * n - i - 1) // 2
            row = got[begin:begin + n - 1 - i]
            want = torch.cdist(points[i:i + 1].double(), points[i + 1:].double())[0]
            wrong += not torch.allclose(row.double(), want, rtol=1e-5, atol=1e-6)
        wrong += got.numel() != n * (n - 1) // 2
        print(f"{n} points of {d} coordinates: {got.numel()} distances")
    print("WRONG" if wrong else "ok")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
