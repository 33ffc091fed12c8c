// SPDX-License-Identifier: MIT
// share_memory.h: memory for a GPU's share of a large array, at the addresses of the complete one.
//
// The engines write and read a share at the places that it has in the complete array. A GPU that
// keeps its share alone reserves the addresses of the array, and allocates only the pages with
// bytes of the share:
//
//     const tmap_share mine = {first_byte, bytes};
//     tmap_share_memory_create(all_bytes, &mine, 1, (void **)&matrix);
//     ... matrix[i] is element i of the complete matrix; other elements must not be touched
//     tmap_share_memory_destroy(all_bytes, &mine, 1, matrix);
//
// It uses the driver's functions for virtual memory: link with -lcuda.
#ifndef TMAP_SHARE_MEMORY_H
#define TMAP_SHARE_MEMORY_H

#include "launch.h"
#include "share.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda.h>
#include <string.h>

// The next run of consecutive pages with bytes of the ranges, from range *next on: bytes run->first
// to run->first + run->count - 1. Returns 0 after the last one.
static inline int tmapi_share_memory_next(tmap_u64 page, const tmap_share *ranges, tmap_u64 count,
                                          tmap_u64 *next, tmap_share *run) {
    run->count = 0;
    for (; *next < count; ++*next) {
        const tmap_share r = ranges[*next];
        const tmap_u64 first = r.first / page * page;
        const tmap_u64 end = (r.first + r.count + page - 1) / page * page;
        if (!r.count) continue;
        if (run->count && first > run->first + run->count) return 1;
        if (!run->count) run->first = first;
        run->count = end - run->first;
    }
    return run->count != 0;
}

// Allocates a run of pages at an address. An error leaves nothing there.
static inline CUresult tmapi_share_memory_map(CUdeviceptr at, tmap_u64 bytes,
                                              const CUmemAllocationProp *of) {
    CUmemAccessDesc access;
    CUmemGenericAllocationHandle handle;
    CUresult error = cuMemCreate(&handle, bytes, of, 0);
    if (error) return error;
    access.location = of->location, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    error = cuMemMap(at, bytes, 0, handle, 0);
    (void)cuMemRelease(handle); // the mapping keeps it
    if (error) return error;
    error = cuMemSetAccess(at, bytes, &access, 1);
    if (error) (void)cuMemUnmap(at, bytes);
    return error;
}

// Creates memory, or destroys it.
static inline cudaError_t tmapi_share_memory(tmap_u64 bytes, const tmap_share *ranges,
                                             tmap_u64 count, void **memory, int create) {
    CUmemAllocationProp of;
    CUdeviceptr base = create ? 0 : (CUdeviceptr)*memory;
    size_t page = 1; // 2 MiB on current GPUs
    int device;
    tmap_u64 next = 0, end = ~0ull; // runs of pages before byte `end` have memory
    tmap_share run;
    CUresult error, other;
    cudaError_t begun = cudaGetDevice(&device);
    // The driver's calls need the device's context, and to unmap memory waits for nothing.
    if (!begun) begun = create ? cudaFree(0) : cudaDeviceSynchronize();
    if (begun) return begun;
    memset(&of, 0, sizeof of), of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    of.location.type = CU_MEM_LOCATION_TYPE_DEVICE, of.location.id = device;
    error = cuMemGetAllocationGranularity(&page, &of, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    bytes = (bytes + page - 1) / page * page;
    if (!error && create) error = cuMemAddressReserve(&base, bytes, 0, 0, 0);
    if (error) return (cudaError_t)error;
    while (create && !error && tmapi_share_memory_next(page, ranges, count, &next, &run))
        error = tmapi_share_memory_map(base + run.first, run.count, &of), end = run.first;
    if (create && !error) {
        *memory = (void *)base;
        return cudaSuccess;
    }
    for (next = 0; tmapi_share_memory_next(page, ranges, count, &next, &run) && run.first < end;) {
        other = cuMemUnmap(base + run.first, run.count);
        if (!error) error = other;
    }
    other = cuMemAddressFree(base, bytes);
    return (cudaError_t)(error ? error : other);
}

// Reserves addresses for an array of `bytes` bytes, and allocates on the current device the pages
// with bytes of the ranges, `count` of them in ascending order, whose members count bytes. *out is
// the address of byte 0; the content is anything. Returns cudaErrorInvalidValue for a null pointer
// or no bytes, else the error of a call of CUDA or its driver; nothing remains allocated then.
static inline cudaError_t tmap_share_memory_create(tmap_u64 bytes, const tmap_share *ranges,
                                                   tmap_u64 count, void **out) {
    if (!bytes || !ranges || !out) return cudaErrorInvalidValue;
    return tmapi_share_memory(bytes, ranges, count, out, 1);
}

// Frees memory of tmap_share_memory_create; bytes, ranges and count: the same as there, and the
// same device is current. Waits for the device first, as cudaFree does. Returns the error of a call
// of CUDA or its driver.
static inline cudaError_t tmap_share_memory_destroy(tmap_u64 bytes, const tmap_share *ranges,
                                                    tmap_u64 count, void *memory) {
    if (!bytes || !ranges || !memory) return cudaErrorInvalidValue;
    return tmapi_share_memory(bytes, ranges, count, &memory, 0);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
