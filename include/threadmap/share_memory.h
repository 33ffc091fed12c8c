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

// What the driver is asked for, and the size of a page: 2 MiB on current GPUs.
typedef struct tmapi_share_pages {
    CUmemAllocationProp of;
    tmap_u64 page;
} tmapi_share_pages;

static inline cudaError_t tmapi_share_pages_get(tmapi_share_pages *p) {
    size_t page;
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (!error) error = cudaFree(0); // the driver's calls need the device's context
    if (error) return error;
    memset(p, 0, sizeof *p);
    p->of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p->of.location.type = CU_MEM_LOCATION_TYPE_DEVICE, p->of.location.id = device;
    error =
        (cudaError_t)cuMemGetAllocationGranularity(&page, &p->of, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    p->page = page;
    return error;
}

// The next run of consecutive pages with bytes of the ranges, from range *next on: bytes run->first
// to run->first + run->count - 1. Returns 0 after the last one.
static inline int tmapi_share_pages_next(tmap_u64 page, const tmap_share *ranges, tmap_u64 count,
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

// Unmaps the runs of pages before byte `end` and frees the addresses.
static inline cudaError_t tmapi_share_memory_free(tmap_u64 page, tmap_u64 bytes,
                                                  const tmap_share *ranges, tmap_u64 count,
                                                  tmap_u64 end, CUdeviceptr base) {
    tmap_u64 next = 0;
    tmap_share run;
    cudaError_t error = cudaSuccess, other;
    while (tmapi_share_pages_next(page, ranges, count, &next, &run) && run.first < end) {
        other = (cudaError_t)cuMemUnmap(base + run.first, run.count);
        if (!error) error = other;
    }
    other = (cudaError_t)cuMemAddressFree(base, (bytes + page - 1) / page * page);
    return error ? error : other;
}

// Reserves addresses for an array of `bytes` bytes, and allocates on the current device the pages
// with bytes of the ranges, `count` of them in ascending order, whose members count bytes. *out is
// the address of byte 0; the content is anything. Returns cudaErrorInvalidValue for a null pointer
// or no bytes, else the error of a call of CUDA or its driver; nothing remains allocated then.
static inline cudaError_t tmap_share_memory_create(tmap_u64 bytes, const tmap_share *ranges,
                                                   tmap_u64 count, void **out) {
    tmapi_share_pages p;
    CUmemAccessDesc access;
    CUdeviceptr base;
    tmap_u64 next = 0;
    tmap_share run = {0, 0};
    cudaError_t error;
    if (!bytes || !ranges || !out) return cudaErrorInvalidValue;
    if ((error = tmapi_share_pages_get(&p)) != cudaSuccess) return error;
    error =
        (cudaError_t)cuMemAddressReserve(&base, (bytes + p.page - 1) / p.page * p.page, 0, 0, 0);
    if (error) return error;
    access.location = p.of.location, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    while (!error && tmapi_share_pages_next(p.page, ranges, count, &next, &run)) {
        CUmemGenericAllocationHandle handle;
        error = (cudaError_t)cuMemCreate(&handle, run.count, &p.of, 0);
        if (error) break;
        error = (cudaError_t)cuMemMap(base + run.first, run.count, 0, handle, 0);
        (void)cuMemRelease(handle); // the mapping keeps it
        if (error) break;
        error = (cudaError_t)cuMemSetAccess(base + run.first, run.count, &access, 1);
        if (error) (void)cuMemUnmap(base + run.first, run.count);
    }
    if (error)
        (void)tmapi_share_memory_free(p.page, bytes, ranges, count, run.first, base);
    else
        *out = (void *)base;
    return error;
}

// Frees memory of tmap_share_memory_create; bytes, ranges and count: the same as there. It does not
// wait for kernels that use the memory. Returns the error of a call of CUDA or its driver.
static inline cudaError_t tmap_share_memory_destroy(tmap_u64 bytes, const tmap_share *ranges,
                                                    tmap_u64 count, void *memory) {
    tmapi_share_pages p;
    cudaError_t error;
    if (!bytes || !ranges || !memory) return cudaErrorInvalidValue;
    if ((error = tmapi_share_pages_get(&p)) != cudaSuccess) return error;
    return tmapi_share_memory_free(p.page, bytes, ranges, count, ~0ull, (CUdeviceptr)memory);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
