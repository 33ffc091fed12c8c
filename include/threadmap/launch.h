// SPDX-License-Identifier: MIT
// launch.h: what every launcher and plan maker needs of the device before it launches a kernel.
#ifndef TMAP_LAUNCH_H
#define TMAP_LAUNCH_H

#include "core.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Lets a kernel be launched with `bytes` of dynamic shared memory on the current device.
//
// The limit is set once, to all that the device has beside the kernel's static shared memory: every
// thread that sets it writes the same number, and none ever lowers it, so that plans made earlier
// or by other threads stay valid. The limit changes neither occupancy nor a launch that asks for
// less.
// Returns cudaErrorInvalidConfiguration if the device has less, or the error of a CUDA call.
// Cost: one query where the limit suffices already.
static inline cudaError_t tmapi_launch_shared(const void *kernel, size_t bytes) {
    cudaFuncAttributes attributes;
    int device, most;
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error) return error;
    if ((size_t)attributes.maxDynamicSharedSizeBytes >= bytes) return cudaSuccess;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error) return error;
    if (attributes.sharedSizeBytes + bytes > (size_t)most) return cudaErrorInvalidConfiguration;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                most - (int)attributes.sharedSizeBytes);
}

#endif
#endif
