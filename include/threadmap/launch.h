// SPDX-License-Identifier: MIT
// launch.h: what every launcher and plan maker needs of the device before it launches a kernel.
#ifndef TMAP_LAUNCH_H
#define TMAP_LAUNCH_H

#include "core.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Sets the limit of a kernel's dynamic shared memory on a device. cudaFuncSetAttribute clears an
// error that an earlier call of the user's has left (measured with CUDA 13.0); the call that came
// with CUDA 12.8 leaves it alone.
static inline cudaError_t tmapi_launch_set_shared(const void *kernel, int device, int bytes) {
#if CUDART_VERSION >= 12080
    cudaKernel_t handle;
    cudaError_t error = cudaGetKernel(&handle, kernel);
    if (error) return error;
    return cudaKernelSetAttributeForDevice(handle, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           bytes, device);
#else
    (void)device;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
#endif
}

// Lets a kernel be launched with `bytes` of dynamic shared memory on the current device.
//
// The limit is set once, to all that the device has beside the kernel's static shared memory: every
// thread that sets it writes the same number, and none ever lowers it, so that plans made earlier
// or by other threads stay valid. The limit changes neither occupancy nor a launch that asks for
// less. A limit that the user has set by cudaFuncSetAttribute is the user's and stays.
// Returns cudaErrorInvalidConfiguration if the device has less, or the error of a CUDA call. From
// CUDA 12.8 on an error that an earlier call has left is neither reported nor cleared.
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
    return tmapi_launch_set_shared(kernel, device, most - (int)attributes.sharedSizeBytes);
}

#endif
#endif
