// SPDX-License-Identifier: MIT
// diffusion.h: a step of the diffusion equation (of heat, of a concentration, of the probability of
// a random walk) on the cells of a fractal, in a matrix or in compact storage.
//
//     next = here + rate * (sum over the four neighbours at the sides that are cells of
//                           (neighbour - here))
//
// This is u_t = D (u_xx + u_yy) by the explicit Euler scheme, with rate = D dt / dx^2, and no flow
// between a cell and a place that is no cell. For float and double:
//
//     tmap_each_plan plan;
//     cudaError_t error =
//         tmap_diffusion_plan_make(tmap_fractal_carpet(), 10, 0, TMAP_DIFFUSION_F32, &plan);
//     for (int t = 0; !error && t < 1000; t += 2) {
//         error = tmap_diffusion(&plan, 0.2, a, b, stream);
//         if (!error) error = tmap_diffusion(&plan, 0.2, b, a, stream);
//     }
//
// Stability: with 0 <= rate <= 1/4 a cell's next value is between the least and the greatest of its
// own and its neighbours' values. Conservation: the sum of all cells is constant, up to the
// rounding of a step. A state of equal values remains the same bit for bit.
// Exactness: the flows of the north, west, east and south are rounded and added in that order, and
// the last product and sum are one fma, written as such. Every plan, in a matrix and in compact
// storage, and every run gives the same bits, and a host's fma as well, unless the program is
// compiled to flush denormals (-ftz=true, -use_fast_math).
#ifndef TMAP_FRACTAL_DIFFUSION_H
#define TMAP_FRACTAL_DIFFUSION_H

#include "ready.h"
#include "stencil.h"

// The type of an element.
typedef enum tmap_diffusion_type { TMAP_DIFFUSION_F32, TMAP_DIFFUSION_F64 } tmap_diffusion_type;

#define TMAP_DIFFUSION_TYPE_COUNT 2

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_diffusion {
    const void *in;
    void *out;
    double rate;
} tmapi_diffusion;

// The rule and the kernel of one type.
#define TMAPI_DIFFUSION_KERNEL(name, type, fma) \
    TMAP_DEVICE void tmapi_diffusion_rule_##name(void *job, tmap_cell cell, tmap_u32 around, \
                                                 const void *nine, void *next) { \
        const type *v = (const type *)nine, here = v[TMAP_HERE]; \
        type sum = 0; \
        (void)cell; \
        for (int i = TMAP_NORTH; i <= TMAP_SOUTH; i += 2) /* north, west, east, south */ \
            if (around >> i & 1) sum += v[i] - here; \
        *(type *)next = fma((type)((const tmapi_diffusion *)job)->rate, sum, here); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_diffusion_kernel_##name(tmap_each_plan plan, tmapi_diffusion job) { \
        const tmap_array in = {job.in, sizeof(type)}; \
        tmap_each_stencil(&plan, in, tmapi_diffusion_rule_##name, job.out, &job); \
    }
TMAPI_DIFFUSION_KERNEL(f32, float, fmaf)
TMAPI_DIFFUSION_KERNEL(f64, double, fma)
#undef TMAPI_DIFFUSION_KERNEL

static inline const void *tmapi_diffusion_kernel(int type) {
    return type == TMAP_DIFFUSION_F32   ? (const void *)tmapi_diffusion_kernel_f32
           : type == TMAP_DIFFUSION_F64 ? (const void *)tmapi_diffusion_kernel_f64
                                        : 0;
}

// Makes a plan for tmap_diffusion. pitch: elements from one row of the matrix to the next; 0: the
// fractal's width; TMAP_COMPACT: compact storage. type: a tmap_diffusion_type. Returns
// cudaErrorInvalidValue for another type; other errors as for tmap_each_plan_make.
static inline cudaError_t tmap_diffusion_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, int type,
                                                   tmap_each_plan *out) {
    const cudaError_t error =
        tmap_each_plan_make(TMAP_EACH_STENCIL, f, r, pitch, tmapi_diffusion_kernel(type), out);
    if (!error) out->type = TMAPI_READY_DIFFUSION | (tmap_u32)type;
    return error;
}

// Computes one step for every cell of the plan's share; other places are neither read nor written.
// rate: see above; rounded to a float for floats. in, out: the states in device memory, of the
// plan's type at a multiple of its size, not overlapping; exchange them after each step.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, equal states, a rate beyond
// +-3e38 or NaN, and a plan of another maker; otherwise the launch's own error.
// Cost: about that of reading one state and writing the other.
// Example: gasket, r = 1, rate 1/4, the values 4, 0, 0 of cells (0,0), (0,1), (1,1): 3, 1, 0.
static inline cudaError_t tmap_diffusion(const tmap_each_plan *plan, double rate, const void *in,
                                         void *out, cudaStream_t stream) {
    const tmapi_diffusion job = {in, out, rate};
    tmap_u32 type;
    if (!plan || !in || !out || in == out ||
        !tmapi_ready(plan->type, TMAPI_READY_DIFFUSION, &type) ||
        type >= TMAP_DIFFUSION_TYPE_COUNT ||
        ((tmap_u64)in | (tmap_u64)out) % (type == TMAP_DIFFUSION_F64 ? 8 : 4))
        return cudaErrorInvalidValue;
    if (!(rate >= -3e38 && rate <= 3e38)) return cudaErrorInvalidValue; // no number, or no float
    return tmap_each_launch(plan, &job, stream);
}

#endif
#endif
