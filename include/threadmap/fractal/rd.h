// SPDX-License-Identifier: MIT
// rd.h: reduction (RD): the sum of all cells of a fractal embedded in a matrix.
//
// The second of the three tests of Navarro et al., FGCS 113 (2020), section 6.2. Made with fold.h,
// ready to launch, for the usual types:
//
//     tmap_each_plan plan;
//     cudaError_t error = tmap_rd_plan_make(tmap_fractal_gasket(), 10, 0, TMAP_RD_I32, &plan);
//     ... to.workspace: tmap_each_fold_bytes(&plan, 8) bytes, cleared once; to.result: a tmap_i64
//     if (!error) error = tmap_rd(&plan, in, to, stream);
#ifndef TMAP_FRACTAL_RD_H
#define TMAP_FRACTAL_RD_H

#include "fold.h"
#include "ready.h"

// The type of an element. Sums of integers are 64-bit integers, exact where they fit and modulo
// 2^64 where they do not; sums of floats are doubles, added in double.
typedef enum tmap_rd_type {
    TMAP_RD_I8,
    TMAP_RD_U8,
    TMAP_RD_I32,
    TMAP_RD_U32,
    TMAP_RD_F32,
    TMAP_RD_F64
} tmap_rd_type;

#define TMAP_RD_TYPE_COUNT 6

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_rd {
    const void *in;
    tmap_fold_to to;
    tmap_u64 bias;  // added to a signed element to make it an unsigned one
    tmap_u64 first; // start value of the sum: minus the bias of all cells
} tmapi_rd;

// How an element is added, how sums are joined, and the kernel, for one type of element.
#define TMAPI_RD_KERNEL(name, type, sum_type, biased) \
    TMAP_DEVICE void tmapi_rd_add_##name(void *job, void *sum, tmap_cell cell, \
                                         const void *value) { \
        (void)job, (void)cell; \
        *(sum_type *)sum += *(const type *)value biased; \
    } \
    TMAP_DEVICE void tmapi_rd_join_##name(void *job, void *sum, const void *other) { \
        (void)job; \
        *(sum_type *)sum += *(const sum_type *)other; \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_rd_##name##_kernel(tmap_each_plan plan, tmapi_rd job) { \
        sum_type sum = 0; \
        const sum_type zero = 0; \
        const tmap_array in = {job.in, sizeof(type)}; \
        const tmap_fold fold = {&zero, sizeof zero, tmapi_rd_join_##name}; \
        if (blockIdx.x == 0 && threadIdx.x == 0) sum = (sum_type)job.first; \
        tmapi_each_fold_cells(&plan, in, tmapi_rd_add_##name, &sum, &job); \
        tmap_fold_grid(&sum, fold, job.to, 0); \
    }
TMAPI_RD_KERNEL(u8, unsigned char, tmap_u64, ^(unsigned char)((const tmapi_rd *)job)->bias)
TMAPI_RD_KERNEL(u32, tmap_u32, tmap_u64, ^(tmap_u32)((const tmapi_rd *)job)->bias)
TMAPI_RD_KERNEL(f32, float, double, )
TMAPI_RD_KERNEL(f64, double, double, )
#undef TMAPI_RD_KERNEL

static inline const void *tmapi_rd_kernel(int type) {
    const void *const kernels[TMAP_RD_TYPE_COUNT] = {
        (const void *)tmapi_rd_u8_kernel,  (const void *)tmapi_rd_u8_kernel,
        (const void *)tmapi_rd_u32_kernel, (const void *)tmapi_rd_u32_kernel,
        (const void *)tmapi_rd_f32_kernel, (const void *)tmapi_rd_f64_kernel};
    return type >= 0 && type < TMAP_RD_TYPE_COUNT ? kernels[type] : 0;
}

// Makes a plan for tmap_rd. type: a tmap_rd_type; another value returns cudaErrorInvalidValue.
// Other parameters and errors as for tmap_each_plan_make.
static inline cudaError_t tmap_rd_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, int type,
                                            tmap_each_plan *out) {
    cudaError_t error =
        tmap_each_plan_make(TMAP_EACH_FOLD, f, r, pitch, tmapi_rd_kernel(type), out);
    if (!error) out->type = TMAPI_READY_RD | (tmap_u32)type;
    return error;
}

// Sets *to.result, a tmap_i64 or a double, to the sum of the cells of the plan's share. Where cells
// are read 16 bytes at a time, the places between them are read, too, and not added; no place
// outside the fractal's width and height is read.
// in: the matrix in device memory, of the plan's type, at a multiple of its size.
// to.result: at a multiple of 8. to.workspace: tmap_each_fold_bytes(plan, 8) bytes, see ../fold.h.
// Returns cudaErrorInvalidValue for a null or misaligned pointer or a plan of another maker;
// otherwise the launch's error. The sum of floats is the same in every run of one plan. Cost:
// as tmap_each_fold.
static inline cudaError_t tmap_rd(const tmap_each_plan *plan, const void *in, tmap_fold_to to,
                                  cudaStream_t stream) {
    static const unsigned char bytes[TMAP_RD_TYPE_COUNT] = {1, 1, 4, 4, 4, 8};
    tmapi_rd job = {in, to, 0, 0};
    tmap_u32 type;
    if (!plan || !in || !to.result || !to.workspace ||
        !tmapi_ready(plan->type, TMAPI_READY_RD, &type) || type >= TMAP_RD_TYPE_COUNT ||
        (tmap_u64)in % bytes[type] || (tmap_u64)to.result % 8 || (tmap_u64)to.workspace % 16)
        return cudaErrorInvalidValue;
    if (type == TMAP_RD_I8 || type == TMAP_RD_I32) {
        job.bias = 1ull << (8u * bytes[type] - 1);
        job.first = 0 - job.bias * plan->count * tmapi_pow64(plan->f.k, plan->tile_level);
    }
    return tmap_each_launch(plan, &job, stream);
}

#endif
#endif
