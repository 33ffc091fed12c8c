// SPDX-License-Identifier: MIT
// check.h: what the samples share: CUDA calls that fail, a missing GPU, and the last line.
#ifndef SAMPLES_CHECK_H
#define SAMPLES_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// Ends the program with status 1 if a CUDA call fails, and says which call and why.
#define CHECK(call) \
    do { \
        const cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

// Ends the program with status 77 if there is no GPU.
static inline void check_gpu(void) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        puts("SKIP: no NVIDIA GPU here");
        exit(77);
    }
}

// Prints the last line. wrong: how many values differ from the host's. Returns the exit status.
static inline int check_result(const char *what, unsigned long long wrong) {
    if (wrong) printf("%llu values are wrong\n", wrong);
    printf("%s: %s\n", what, wrong ? "WRONG" : "ok");
    return wrong != 0;
}

#endif
