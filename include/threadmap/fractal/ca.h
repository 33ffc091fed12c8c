// SPDX-License-Identifier: MIT
// ca.h: cellular automata (CA) on a fractal embedded in a matrix: the Moore neighbourhood, of which
// only cells of the fractal count, and a rule of the family of Conway's Life.
//
// The third of the three tests of Navarro et al., FGCS 113 (2020), section 6.2. A client of
// stencil.h, ready to launch, for cells of one or four bytes; bytes go by whole sectors (life.h)
// where the matrices allow it. Rules of one's own with any number of states are a function for
// tmap_stencil.
//
//     tmap_ca_plan plan;
//     cudaError_t error = tmap_ca_plan_make(tmap_fractal_carpet(), 6, 0, 1, &plan);
//     if (!error) error = tmap_ca(&plan, tmap_ca_life(), a, b, stream);
//
// The matrix holds 0 outside the fractal, as the paper's does: then a neighbour that is no cell
// counts as dead without a test. A step writes cells, and may write 0 beside them, so two matrices
// cleared once stay that way.
#ifndef TMAP_FRACTAL_CA_H
#define TMAP_FRACTAL_CA_H

#include "ca_rule.h"
#include "life.h"
#include "stencil.h"

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_ca {
    const void *in;
    void *out;
    tmap_ca_rule rule;
} tmapi_ca;

TMAP_DEVICE void tmapi_ca_rule_u8(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                  void *next) {
    const unsigned char *v = (const unsigned char *)nine;
    tmap_u32 neighbours = 0;
    (void)cell, (void)around;
#pragma unroll
    for (int i = 0; i < 9; ++i) neighbours += i != TMAP_HERE && v[i];
    *(unsigned char *)next =
        (unsigned char)tmap_ca_next(((const tmapi_ca *)job)->rule, v[TMAP_HERE] != 0, neighbours);
}

TMAP_DEVICE void tmapi_ca_rule_u32(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                   void *next) {
    const tmap_u32 *v = (const tmap_u32 *)nine;
    tmap_u32 neighbours = 0;
    (void)cell, (void)around;
#pragma unroll
    for (int i = 0; i < 9; ++i) neighbours += i != TMAP_HERE && v[i];
    *(tmap_u32 *)next =
        (tmap_u32)tmap_ca_next(((const tmapi_ca *)job)->rule, v[TMAP_HERE] != 0, neighbours);
}

static __global__ void __launch_bounds__(512, 2)
    tmapi_ca_u8_kernel(tmap_each_plan plan, tmapi_ca job) {
    tmap_stencil(&plan, job.in, job.out, 1, tmapi_ca_rule_u8, &job);
}
static __global__ void __launch_bounds__(512, 2)
    tmapi_ca_u32_kernel(tmap_each_plan plan, tmapi_ca job) {
    tmap_stencil(&plan, job.in, job.out, 4, tmapi_ca_rule_u32, &job);
}

static inline const void *tmapi_ca_kernel(tmap_u32 size) {
    return size == 1 ? (const void *)tmapi_ca_u8_kernel : (const void *)tmapi_ca_u32_kernel;
}

// A plan for tmap_ca. An offset is set, and a share taken, in `each`.
typedef struct tmap_ca_plan {
    tmap_each_plan each;
    tmap_life_plan life;
    int by_sectors; // 1: by `life` where the matrices' addresses allow it; a share by `each`
    tmap_u32 size;  // of a cell
} tmap_ca_plan;

// A plan for tmap_ca. size: bytes of a cell, 1 or 4. Returns cudaErrorInvalidValue for another
// size; other parameters and errors as for tmap_each_plan_make.
static inline cudaError_t tmap_ca_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, tmap_u32 size,
                                            tmap_ca_plan *out) {
    tmap_ca_plan p;
    cudaError_t error;
    if (!out || (size != 1 && size != 4)) return cudaErrorInvalidValue;
    p.size = size;
    error = tmap_stencil_plan_make(f, r, pitch, tmapi_ca_kernel(size), &p.each);
    p.by_sectors =
        !error && size == 1 && p.each.pitch == tmap_nbb_side_x(f, r) && tmap_life_fits(f, r);
    if (p.by_sectors) error = tmap_life_plan_make(f, r, &p.life);
    if (!error) *out = p;
    return error;
}

// One step of the automaton: out = rule(in) for every cell of the plan's share; other places of
// `out` between the fractal's first row and its last are left alone or set to 0. in, out: the
// matrices in device memory, of cells of the plan's size at a multiple of it, not overlapping; a
// cell is alive where `in` is not 0, and `in` holds 0 outside the fractal. Live cells are written
// as 1, dead ones as 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, equal matrices, a rule past nine
// bits and a plan of another maker; else the launch's own error.
static inline cudaError_t tmap_ca(const tmap_ca_plan *plan, tmap_ca_rule rule, const void *in,
                                  void *out, cudaStream_t stream) {
    tmapi_ca job;
    if (!plan || !in || !out || in == out) return cudaErrorInvalidValue;
    if (plan->each.kernel != tmapi_ca_kernel(plan->size)) return cudaErrorInvalidValue;
    if (!tmapi_value_size_fits(plan->size, in) || !tmapi_value_size_fits(plan->size, out))
        return cudaErrorInvalidValue;
    if (rule.born > 0x1ff || rule.survive > 0x1ff) return cudaErrorInvalidValue;
    if (plan->by_sectors && plan->each.count == plan->each.items &&
        (((tmap_u64)in ^ (tmap_u64)out) & 31) == 0)
        return tmap_life(&plan->life, rule, (const unsigned char *)in + plan->each.offset,
                         (unsigned char *)out + plan->each.offset, stream);
    job.in = in, job.out = out, job.rule = rule;
    return tmap_each_launch(&plan->each, &job, stream);
}

#endif
#endif
