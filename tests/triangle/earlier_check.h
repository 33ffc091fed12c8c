// SPDX-License-Identifier: MIT
// earlier_check.h: an error of the user's, which a later call neither reports nor clears.
#ifndef TESTS_TRIANGLE_EARLIER_CHECK_H
#define TESTS_TRIANGLE_EARLIER_CHECK_H

#include <cuda_runtime.h>

// Leaves an error: there is no such memory.
static inline void earlier_error(void) {
    void *none;
    (void)cudaMalloc(&none, (size_t)1 << 60);
}

// 1 if that error, and no other, is still there to be asked for; afterwards there is none.
static inline int earlier_error_is_there(void) {
    const cudaError_t first = cudaGetLastError();
    return first == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess;
}

#endif
