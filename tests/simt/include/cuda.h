// SPDX-License-Identifier: MIT
// cuda.h: the driver's functions for virtual memory (fractal/halo.h), by mmap: an address that is
// reserved and not mapped ends the program.
#ifndef SIMT_CUDA_H
#define SIMT_CUDA_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <sys/mman.h>

typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2
} CUresult;
typedef enum { CU_MEM_ALLOCATION_TYPE_PINNED = 1 } CUmemAllocationType;
typedef enum { CU_MEM_LOCATION_TYPE_DEVICE = 1 } CUmemLocationType;
typedef enum { CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 } CUmemAccess_flags;
typedef enum { CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0 } CUmemAllocationGranularity_flags;
typedef struct {
    CUmemLocationType type;
    int id;
} CUmemLocation;
typedef struct {
    CUmemAllocationType type;
    CUmemLocation location;
} CUmemAllocationProp;
typedef struct {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc;

inline CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *,
                                              CUmemAllocationGranularity_flags) {
    return *bytes = 4096, CUDA_SUCCESS;
}
inline CUresult cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t, CUdeviceptr,
                                    unsigned long long) {
    void *memory = mmap(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    return *at = (CUdeviceptr)memory, CUDA_SUCCESS;
}
inline CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes) {
    return munmap((void *)at, bytes) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
inline CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                            const CUmemAllocationProp *, unsigned long long) {
    if (bytes > simt::memory.capacity - simt::memory.used) return CUDA_ERROR_OUT_OF_MEMORY;
    return *handle = bytes, CUDA_SUCCESS;
}
inline CUresult cuMemRelease(CUmemGenericAllocationHandle) { return CUDA_SUCCESS; }
inline CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                         unsigned long long) {
    return CUDA_SUCCESS;
}
inline CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *, size_t) {
    if (mprotect((void *)at, bytes, PROT_READ | PROT_WRITE)) return CUDA_ERROR_INVALID_VALUE;
    const simt::Turn mine;
    memset((void *)at, 0xA5, bytes);
    simt::memory.allocations[at] = simt::Allocation{bytes, simt::Space::device};
    simt::memory.used += bytes;
    return CUDA_SUCCESS;
}
inline CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) {
    const simt::Turn mine;
    if (!simt::memory.allocations.erase(at)) return CUDA_ERROR_INVALID_VALUE;
    simt::memory.used -= bytes;
    return madvise((void *)at, bytes, MADV_DONTNEED) || mprotect((void *)at, bytes, PROT_NONE)
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

#endif
