// SPDX-License-Identifier: MIT
// cuda_check.h: what tests of kernels share, and benchmarks: a call that must succeed, a hash, and
// which cases a run takes.
#ifndef TESTS_CUDA_CHECK_H
#define TESTS_CUDA_CHECK_H

#include "hash.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) \
    do { \
        cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                    cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

// 1 if this run takes the next case. On the CPU machine under sanitizers, which is slow, with random
// orders of threads (SIMT_SEED), each order takes every third case, and three orders take them all.
// TMAP_TEST_PART=N: every Nth case (tests/sanitize).
static inline int check_turn(void) {
    static unsigned number;
    const char *seed = getenv("SIMT_SEED"), *part = getenv("TMAP_TEST_PART");
    const unsigned take = part ? (unsigned)atoi(part) : seed ? 3 : 1;
    return number++ % (take ? take : 1) == (seed ? (unsigned)atoi(seed) % 3 : 0);
}

#endif
