// SPDX-License-Identifier: MIT
// driver.h: as much of the CUDA driver as it takes to run a kernel from PTX, found at run time, so
// that tests that use it build without CUDA. C11, POSIX.
#ifndef TEST_DRIVER_H
#define TEST_DRIVER_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long driver_memory; // an address on the GPU

// As <cuda.h> declares them. 0 is success.
typedef struct driver {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int number);
    int (*context_retain)(void **context, int device);
    int (*context_set)(void *context);
    int (*module_load)(void **module, const void *ptx);
    int (*function_get)(void **function, void *module, const char *name);
    int (*alloc)(driver_memory *memory, size_t size);
    int (*release)(driver_memory memory);
    int (*to_gpu)(driver_memory to, const void *from, size_t size);
    int (*from_gpu)(void *to, driver_memory from, size_t size);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **args, void **extra);
    int (*synchronize)(void);
} driver;

static inline void driver_symbol(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "libcuda has no %s\n", name);
        exit(1);
    }
    memcpy(function, &symbol, sizeof symbol);
}

// A failed call ends the test.
static inline void driver_must(int code, const char *what) {
    if (code == 0) return;
    fprintf(stderr, "%s: CUDA driver error %d\n", what, code);
    exit(1);
}

// Loads the driver and makes GPU 0 current, or ends the program as skipped.
static inline driver driver_load(void) {
    driver d;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context;
    int device;
    if (!library) {
        printf("SKIP: no GPU (no libcuda.so.1)\n");
        exit(77);
    }
    driver_symbol(library, "cuInit", &d.init);
    driver_symbol(library, "cuDeviceGet", &d.device_get);
    driver_symbol(library, "cuDevicePrimaryCtxRetain", &d.context_retain);
    driver_symbol(library, "cuCtxSetCurrent", &d.context_set);
    driver_symbol(library, "cuModuleLoadData", &d.module_load);
    driver_symbol(library, "cuModuleGetFunction", &d.function_get);
    driver_symbol(library, "cuMemAlloc_v2", &d.alloc);
    driver_symbol(library, "cuMemFree_v2", &d.release);
    driver_symbol(library, "cuMemcpyHtoD_v2", &d.to_gpu);
    driver_symbol(library, "cuMemcpyDtoH_v2", &d.from_gpu);
    driver_symbol(library, "cuLaunchKernel", &d.launch);
    driver_symbol(library, "cuCtxSynchronize", &d.synchronize);
    if (d.init(0) != 0 || d.device_get(&device, 0) != 0) {
        printf("SKIP: no GPU\n");
        exit(77);
    }
    driver_must(d.context_retain(&context, device), "context");
    driver_must(d.context_set(context), "context");
    return d;
}

#endif
