// SPDX-License-Identifier: MIT
// compact_matrix.h: states from an embedding in a matrix to compact storage (compact.h) and back.
//
// A client of update.h, ready to launch, for elements of 1, 2, 4, 8 or 16 bytes:
//
//     tmap_compact_matrix_plan plan; // of a matrix whose rows are as long as the fractal is wide
//     cudaError_t error = tmap_compact_matrix_plan_make(f, r, 0, sizeof(float), &plan);
//     if (!error) error = tmap_compact_matrix_load(&plan, matrix, cells, stream);
//     ... error = tmap_compact_matrix_store(&plan, cells, matrix, stream);
#ifndef TMAP_FRACTAL_COMPACT_MATRIX_H
#define TMAP_FRACTAL_COMPACT_MATRIX_H

#include "update.h"

#if TMAP_CUDA && !TMAP_NVRTC

// A plan for tmap_compact_matrix_load and _store.
typedef struct tmap_compact_matrix_plan {
    tmap_each_plan each; // of compact storage; each.offset is its first element
    tmap_u64 pitch;      // of the matrix, in elements
    tmap_u64 offset;     // its element of cell (0, 0); 0 unless the user sets it
    tmap_u32 size;       // of an element
} tmap_compact_matrix_plan;

typedef struct tmapi_compact_matrix {
    const unsigned char *from;
    unsigned char *to;
    tmap_u64 pitch, offset;
    int store;
} tmapi_compact_matrix;

TMAP_DEVICE tmap_u64 tmapi_compact_matrix_at(const tmapi_compact_matrix *j, tmap_cell cell,
                                             int matrix) {
    return matrix ? j->offset + cell.y * j->pitch + cell.x : cell.at;
}

#define TMAPI_COMPACT_MATRIX_KERNEL(bytes) \
    TMAP_DEVICE void tmapi_compact_matrix_read_##bytes(void *job, tmap_cell cell, void *value) { \
        const tmapi_compact_matrix *j = (const tmapi_compact_matrix *)job; \
        tmapi_value_copy(value, j->from + tmapi_compact_matrix_at(j, cell, !j->store) * bytes, \
                         bytes); \
    } \
    TMAP_DEVICE void tmapi_compact_matrix_use_##bytes(void *job, tmap_cell cell, \
                                                      const void *value) { \
        const tmapi_compact_matrix *j = (const tmapi_compact_matrix *)job; \
        tmapi_value_copy(j->to + tmapi_compact_matrix_at(j, cell, j->store) * bytes, value, \
                         bytes); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_compact_matrix_kernel_##bytes(tmap_each_plan plan, tmapi_compact_matrix job) { \
        tmapi_each_calls calls; \
        calls.visit = 0, calls.job = &job, calls.into = 0, calls.size = 0; \
        calls.read = tmapi_compact_matrix_read_##bytes; \
        calls.use = tmapi_compact_matrix_use_##bytes; \
        tmapi_each_compact(&plan, calls); /* tmap_update without the loops over matrices */ \
    }
TMAPI_COMPACT_MATRIX_KERNEL(1)
TMAPI_COMPACT_MATRIX_KERNEL(2)
TMAPI_COMPACT_MATRIX_KERNEL(4)
TMAPI_COMPACT_MATRIX_KERNEL(8)
TMAPI_COMPACT_MATRIX_KERNEL(16)
#undef TMAPI_COMPACT_MATRIX_KERNEL

static inline const void *tmapi_compact_matrix_kernel(tmap_u32 size) {
    switch (size) {
    case 1: return (const void *)tmapi_compact_matrix_kernel_1;
    case 2: return (const void *)tmapi_compact_matrix_kernel_2;
    case 4: return (const void *)tmapi_compact_matrix_kernel_4;
    case 8: return (const void *)tmapi_compact_matrix_kernel_8;
    case 16: return (const void *)tmapi_compact_matrix_kernel_16;
    default: return 0;
    }
}

// A plan for fractal f of level r, in a matrix with `pitch` elements from a row to the next (0: as
// many as the fractal is wide), of elements of `size` bytes. Returns cudaErrorInvalidValue for a
// null pointer, another size, what tmap_nbb_check refuses, and a pitch below the fractal's width;
// cudaErrorInvalidConfiguration for a level whose coordinates do not fit 32 bits, whose matrix does
// not fit 64, or that has more than 2^32 - 1 tiles (gasket 26, carpet 14); else a CUDA error. *out
// is written only on success.
static inline cudaError_t tmap_compact_matrix_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                                        tmap_u32 size,
                                                        tmap_compact_matrix_plan *out) {
    tmap_compact_matrix_plan p;
    tmap_each_plan matrix; // checks the pitch
    const void *kernel = tmapi_compact_matrix_kernel(size);
    cudaError_t error;
    if (!out || pitch == TMAP_COMPACT) return cudaErrorInvalidValue;
    error = tmap_update_plan_make(f, r, pitch, kernel, &matrix);
    if (!error) error = tmap_update_plan_make(f, r, TMAP_COMPACT, kernel, &p.each);
    if (!error) error = tmap_each_plan_loop(&p.each, TMAP_EACH_COMPACT);
    if (error) return error;
    p.each.type = size;
    p.pitch = matrix.pitch, p.offset = 0, p.size = size;
    *out = p;
    return cudaSuccess;
}

static inline cudaError_t tmapi_compact_matrix_move(const tmap_compact_matrix_plan *plan, int store,
                                                    const void *from, void *to,
                                                    cudaStream_t stream) {
    tmapi_compact_matrix job;
    if (!plan || !from || !to || from == to) return cudaErrorInvalidValue;
    if (plan->each.kernel != tmapi_compact_matrix_kernel(plan->size) ||
        plan->each.loop != TMAP_EACH_COMPACT)
        return cudaErrorInvalidValue;
    if (!tmapi_value_size_fits(plan->size, from) || !tmapi_value_size_fits(plan->size, to))
        return cudaErrorInvalidValue;
    job.from = (const unsigned char *)from, job.to = (unsigned char *)to;
    job.pitch = plan->pitch, job.offset = plan->offset, job.store = store;
    return tmap_each_launch(&plan->each, &job, stream);
}

// Copies every cell of the plan's share from a matrix to compact storage. matrix, cells: in device
// memory, at multiples of an element's size, not overlapping. Returns cudaErrorInvalidValue for a
// null or misaligned pointer, and for another plan than tmap_compact_matrix_plan_make's or one with
// another loop; else the launch's own error. Cost: what memory takes to read the sectors of the
// matrix that hold cells, and to write the cells.
static inline cudaError_t tmap_compact_matrix_load(const tmap_compact_matrix_plan *plan,
                                                   const void *matrix, void *cells,
                                                   cudaStream_t stream) {
    return tmapi_compact_matrix_move(plan, 0, matrix, cells, stream);
}

// The way back. Places of the matrix that are no cells are left alone. Errors and cost: the same.
static inline cudaError_t tmap_compact_matrix_store(const tmap_compact_matrix_plan *plan,
                                                    const void *cells, void *matrix,
                                                    cudaStream_t stream) {
    return tmapi_compact_matrix_move(plan, 1, cells, matrix, stream);
}

#endif
#endif
