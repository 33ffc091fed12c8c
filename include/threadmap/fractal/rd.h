// SPDX-License-Identifier: MIT
// rd.h: reduction (RD): the sum of all cells of a fractal embedded in a matrix.
//
// The second of the three tests of Navarro et al., FGCS 113 (2020), section 6.2. A client of
// fold.h, ready to launch, for the usual types; those of other elements and operations are a few
// lines of fold.h each:
//
//     tmap_each_plan plan;
//     void *blocks; // tmap_fold_grid_bytes(&plan, 8) bytes of device memory, cleared once
//     cudaError_t error = tmap_rd_plan_make(tmap_fractal_gasket(), 10, 0, TMAP_RD_I32, &plan);
//     ...
//     error = tmap_rd(&plan, in, sum, blocks, stream); // sum: a tmap_i64 in device memory
#ifndef TMAP_FRACTAL_RD_H
#define TMAP_FRACTAL_RD_H

#include "fold.h"

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
    void *sum, *blocks;
    tmap_u64 bias;  // turns a signed element into an unsigned one that is so much larger
    tmap_u64 first; // what the sum begins with: the bias of all cells, taken away
} tmapi_rd;

// An element as a number that is not negative, to the sum.
#define TMAPI_RD_INTEGER(type, bits) \
    TMAP_DEVICE void tmapi_rd_add_u##bits(void *job, void *sum, tmap_cell cell, \
                                          const void *value) { \
        (void)cell; \
        *(tmap_u64 *)sum += *(const type *)value ^ (type)((const tmapi_rd *)job)->bias; \
    }
TMAPI_RD_INTEGER(unsigned char, 8)
TMAPI_RD_INTEGER(tmap_u32, 32)
#undef TMAPI_RD_INTEGER
TMAP_DEVICE void tmapi_rd_add_f32(void *job, void *sum, tmap_cell cell, const void *value) {
    (void)job, (void)cell;
    *(double *)sum += *(const float *)value;
}
TMAP_DEVICE void tmapi_rd_add_f64(void *job, void *sum, tmap_cell cell, const void *value) {
    (void)job, (void)cell;
    *(double *)sum += *(const double *)value;
}
TMAP_DEVICE void tmapi_rd_join_integer(void *job, void *sum, const void *other) {
    (void)job;
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
TMAP_DEVICE void tmapi_rd_join_float(void *job, void *sum, const void *other) {
    (void)job;
    *(double *)sum += *(const double *)other;
}

// The kernel of one type of element.
#define TMAPI_RD_KERNEL(name, size, sum_type, join) \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_rd_##name##_kernel(tmap_each_plan plan, tmapi_rd job) { \
        __shared__ sum_type scratch[32]; \
        sum_type sum = 0, zero = 0; \
        if (blockIdx.x == 0 && threadIdx.x == 0) sum = (sum_type)job.first; \
        tmap_fold(&plan, job.in, size, tmapi_rd_add_##name, &sum, &job); \
        tmap_fold_grid(&sum, &zero, 8, join, 0, scratch, job.blocks, job.sum); \
    }
TMAPI_RD_KERNEL(u8, 1, tmap_u64, tmapi_rd_join_integer)
TMAPI_RD_KERNEL(u32, 4, tmap_u64, tmapi_rd_join_integer)
TMAPI_RD_KERNEL(f32, 4, double, tmapi_rd_join_float)
TMAPI_RD_KERNEL(f64, 8, double, tmapi_rd_join_float)
#undef TMAPI_RD_KERNEL

static inline const void *tmapi_rd_kernel(int type) {
    switch (type) {
    case TMAP_RD_I8:
    case TMAP_RD_U8: return (const void *)tmapi_rd_u8_kernel;
    case TMAP_RD_I32:
    case TMAP_RD_U32: return (const void *)tmapi_rd_u32_kernel;
    case TMAP_RD_F32: return (const void *)tmapi_rd_f32_kernel;
    case TMAP_RD_F64: return (const void *)tmapi_rd_f64_kernel;
    default: return 0;
    }
}

// A plan for tmap_rd. type: a tmap_rd_type. Other parameters and errors: as tmap_each_plan_make.
static inline cudaError_t tmap_rd_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, int type,
                                            tmap_each_plan *out) {
    cudaError_t error = tmap_fold_plan_make(f, r, pitch, tmapi_rd_kernel(type), out);
    if (!error) out->type = (tmap_u32)type;
    return error;
}

// Sets *sum to the sum of the cells of the plan's share; no other place is read.
// in: the matrix in device memory, of the plan's type, at a multiple of its size. sum: a tmap_i64
// or a double in device memory. blocks: tmap_fold_grid_bytes(plan, 8) bytes of device memory at a
// multiple of 16, of which the first 16 have been cleared once; one launch at a time may use them.
// Returns cudaErrorInvalidValue for a null or misaligned pointer or a plan of another maker; else
// the launch's error. The sum of floats is the same in every run of one plan.
static inline cudaError_t tmap_rd(const tmap_each_plan *plan, const void *in, void *sum,
                                  void *blocks, cudaStream_t stream) {
    static const unsigned char bytes[TMAP_RD_TYPE_COUNT] = {1, 1, 4, 4, 4, 8};
    tmapi_rd job;
    tmap_u32 bits;
    if (!plan || !in || !sum || !blocks || plan->type >= TMAP_RD_TYPE_COUNT)
        return cudaErrorInvalidValue;
    if (plan->kernel != tmapi_rd_kernel((int)plan->type)) return cudaErrorInvalidValue;
    if ((tmap_u64)in % bytes[plan->type] || (tmap_u64)sum % 8 || (tmap_u64)blocks % 16)
        return cudaErrorInvalidValue;
    bits = 8u * bytes[plan->type];
    job.in = in, job.sum = sum, job.blocks = blocks, job.bias = job.first = 0;
    if (plan->type == TMAP_RD_I8 || plan->type == TMAP_RD_I32) {
        job.bias = 1ull << (bits - 1);
        job.first = 0 - job.bias * plan->count * tmapi_pow64(plan->f.k, plan->tile_level);
    }
    return tmap_each_launch(plan, &job, stream);
}

#endif
#endif
