// SPDX-License-Identifier: MIT
// drmsd_finite.h: whether all coordinates of frames are numbers, and if not, where the first one is
// that is none.
#ifndef TMAP_TRIANGLE_DRMSD_FINITE_H
#define TMAP_TRIANGLE_DRMSD_FINITE_H

#include "../core.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

static __global__ void tmapi_drmsd_finite(const tmap_u32 *floats, tmap_u64 count, tmap_u64 *first) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < count; i += stride)
        if ((floats[i] & 0x7f800000u) == 0x7f800000u) atomicMin(first, i / 3);
}

// Writes to *first which atom is the first one that has a coordinate that is not a number or
// infinite: number f * n + i for atom i of frame f; or 2^64 - 1 where there is none. frames: device
// memory of shape (count, n, 3). first: device memory.
// Returns cudaErrorInvalidValue for a null pointer, or what a copy or launch returns. Can be
// captured.
// Cost: frames are read once, at the speed of the memory.
// Example: two frames of 100 atoms, z of atom 7 of the second one not a number: 107.
static inline cudaError_t tmap_drmsd_finite(const float *frames, tmap_u64 count, tmap_u32 n,
                                            tmap_u64 *first, cudaStream_t stream) {
    tmap_u64 floats = tmap_mul_saturate(tmap_mul_saturate(count, n), 3), blocks = floats / 1024 + 1;
    void *arguments[3] = {(void *)&frames, &floats, &first};
    cudaError_t error;
    if (!frames || !first) return cudaErrorInvalidValue;
    error = cudaMemsetAsync(first, 0xff, sizeof *first, stream);
    if (error) return error;
    return cudaLaunchKernel((const void *)tmapi_drmsd_finite,
                            dim3(blocks < 8192 ? (tmap_u32)blocks : 8192), dim3(256), arguments, 0,
                            stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
