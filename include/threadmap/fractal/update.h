// SPDX-License-Identifier: MIT
// update.h: read, then use: work of the user's own that reads at every cell of a fractal and then
// computes, stores or adds up.
//
//     typedef struct fade { float *a; float s; } fade;
//     static __device__ void fade_read(void *job, tmap_cell cell, void *value) {
//         *(float *)value = ((fade *)job)->a[cell.at];
//     }
//     static __device__ void fade_use(void *job, tmap_cell cell, const void *value) {
//         fade *j = (fade *)job;
//         j->a[cell.at] = j->s * *(const float *)value;
//     }
//     __global__ void __launch_bounds__(512, 2) fade_cells(tmap_each_plan plan, fade j) {
//         tmap_update(&plan, fade_read, fade_use, &j);
//     }
//     ... tmap_update_plan_make(f, r, 0, (const void *)fade_cells, &plan);
//     ... tmap_each_launch(&plan, &j, stream);
//
// Between the two steps stand the reads of eight cells of each lane, so that memory delivers them
// together and does not turn from reading to writing with every cell.
#ifndef TMAP_FRACTAL_UPDATE_H
#define TMAP_FRACTAL_UPDATE_H

#include "each_walk.h"

#if TMAP_CUDA

// Calls read(job, cell, value) and later use(job, cell, value) once for every cell of the plan's
// share, both by the same thread. value: 16 bytes at a multiple of 16, which belong to the cell
// between the two; read writes there what use will need, of whatever type. Otherwise as tmap_each:
// all threads of all blocks call it, and no collective may stand in read or use. What one cell's
// use writes must not be what another cell's read reads.
// Cost: as tmap_each. Registers: about 64 with values of 4 bytes; __launch_bounds__(512, 2) holds
// a kernel to that.
TMAP_DEVICE void tmap_update(const tmap_each_plan *plan, tmap_update_read read, tmap_update_use use,
                             void *job) {
    tmapi_each_calls calls;
    calls.visit = 0, calls.read = read, calls.use = use, calls.job = job;
    calls.into = 0, calls.size = 0;
    tmapi_each_walk(plan, calls);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// The plan of a kernel that calls tmap_update. Parameters and errors: as tmap_each_plan_make.
static inline cudaError_t tmap_update_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                                const void *kernel, tmap_each_plan *out) {
    return tmapi_each_plan_make(TMAP_EACH_UPDATE, f, r, pitch, kernel, out);
}

#endif
#endif
