// SPDX-License-Identifier: MIT
// sw.h: single write (SW): writes one value to every cell of a fractal embedded in a matrix.
//
// The first of the three tests of Navarro et al., FGCS 113 (2020), section 6.2: only the map and
// one store. Made with each.h, ready to launch, for elements of 1, 2, 4, 8 or 16 bytes:
//
//     tmap_each_plan plan;
//     const int seven = 7;
//     cudaError_t error = tmap_sw_plan_make(tmap_fractal_gasket(), 10, 0, sizeof seven, &plan);
//     if (!error) error = tmap_sw(&plan, &seven, out, stream);
#ifndef TMAP_FRACTAL_SW_H
#define TMAP_FRACTAL_SW_H

#include "each.h"
#include "ready.h"

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_sw {
    tmapi_value value;
    unsigned char *out;
} tmapi_sw;

// The kernel for elements of one size.
#define TMAPI_SW_KERNEL(size) \
    TMAP_DEVICE void tmapi_sw_cell_##size(void *job, tmap_cell cell) { \
        const tmapi_sw *s = (const tmapi_sw *)job; \
        tmapi_value_copy(s->out + cell.at * size, &s->value, size); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_sw_kernel_##size(tmap_each_plan plan, tmapi_sw job) { \
        const tmap_array out = {job.out, size}; \
        tmap_each_into(&plan, tmapi_sw_cell_##size, out, &job); \
    }
TMAPI_SW_KERNEL(1)
TMAPI_SW_KERNEL(2)
TMAPI_SW_KERNEL(4)
TMAPI_SW_KERNEL(8)
TMAPI_SW_KERNEL(16)
#undef TMAPI_SW_KERNEL

static inline const void *tmapi_sw_kernel(tmap_u32 size) {
    const void *const kernels[] = {(const void *)tmapi_sw_kernel_1, (const void *)tmapi_sw_kernel_2,
                                   (const void *)tmapi_sw_kernel_4, (const void *)tmapi_sw_kernel_8,
                                   (const void *)tmapi_sw_kernel_16};
    return tmapi_value_kernel(size, kernels);
}

// Makes a plan for tmap_sw. size: bytes of an element, 1, 2, 4, 8 or 16. Returns
// cudaErrorInvalidValue for another size; other parameters and errors as for tmap_each_plan_make.
static inline cudaError_t tmap_sw_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, tmap_u32 size,
                                            tmap_each_plan *out) {
    cudaError_t error =
        tmap_each_plan_make(TMAP_EACH_VISIT, f, r, pitch, tmapi_sw_kernel(size), out);
    if (!error) out->type = TMAPI_READY_SW | size;
    return error;
}

// Writes a value to every cell of the plan's share and to no other place. value: an element in host
// memory, read before the call returns. out: the matrix in device memory, at a multiple of an
// element's size.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for a plan of another maker;
// otherwise the launch's error. Cost: one store per cell.
static inline cudaError_t tmap_sw(const tmap_each_plan *plan, const void *value, void *out,
                                  cudaStream_t stream) {
    tmapi_sw job;
    tmap_u32 size;
    if (!plan || !value || !out || !tmapi_ready(plan->type, TMAPI_READY_SW, &size) ||
        !tmapi_value_size_fits(size, out))
        return cudaErrorInvalidValue;
    for (tmap_u32 i = 0; i < 16; ++i) job.value.bytes[i] = ((const unsigned char *)value)[i % size];
    job.out = (unsigned char *)out;
    return tmap_each_launch(plan, &job, stream);
}

#endif
#endif
