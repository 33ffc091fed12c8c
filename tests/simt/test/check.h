// SPDX-License-Identifier: MIT
// CHECK for these programs. They are plain CUDA: the same sources run on a GPU.
#ifndef CHECK_H
#define CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                   \
        }                                                                                          \
    } while (0)
#define CHECK_EQUAL(a, b)                                                                          \
    do {                                                                                           \
        long long check_a = (long long)(a), check_b = (long long)(b);                              \
        if (check_a != check_b) {                                                                  \
            failures++;                                                                            \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #a, check_a, check_b);     \
        }                                                                                          \
    } while (0)
#define CHECK_CUDA(call) CHECK_EQUAL(call, cudaSuccess)

static inline int check_result(void) {
    if (failures) printf("%d checks failed\n", failures);
    return failures != 0;
}

#endif
