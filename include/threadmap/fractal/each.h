// SPDX-License-Identifier: MIT
// each.h: work of the user's own on every cell of a fractal.
//
//     typedef struct paint { int *out; int colour; } paint;
//     static __device__ void dab(void *job, tmap_cell cell) {
//         paint *p = (paint *)job;
//         p->out[cell.at] = p->colour;
//     }
//     __global__ void __launch_bounds__(512, 2) paint_cells(tmap_each_plan plan, paint p) {
//         tmap_each(&plan, dab, &p);
//     }
//     ... tmap_each_plan_make(f, r, 0, (const void *)paint_cells, &plan);
//     ... tmap_each_launch(&plan, &p, stream);
//
// What only stores is in its place here. What reads memory, and then uses or writes it, is quicker
// by tmap_update (update.h), and what adds up by tmap_fold (fold.h).
#ifndef TMAP_FRACTAL_EACH_H
#define TMAP_FRACTAL_EACH_H

#include "each_walk.h"

#if TMAP_CUDA

// Calls visit(job, cell) once for every cell of the plan's share, by some thread of the launch, in
// no particular order. All threads of all blocks call it, with the same arguments; visit: a
// __device__ function, which must not hold a barrier or a collective, as other lanes may have no
// cell. job: anything; `&parameter` of the kernel is free of cost.
// Cost: a few instructions for each cell. Registers: about 40 and the visitor's.
// Example: gasket, r = 1, pitch 2: visits (0,0,at 0) (0,1,at 2) (1,1,at 3).
TMAP_DEVICE void tmap_each(const tmap_each_plan *plan, tmap_each_visit visit, void *job) {
    tmapi_each_calls calls;
    calls.visit = visit, calls.read = 0, calls.use = 0, calls.job = job;
    calls.into = 0, calls.size = 0;
    tmapi_each_walk(plan, calls);
}

// The same for a visitor that stores to element cell.at of `into`, whose elements have `size`
// bytes, a constant: the engine asks memory for cells' sectors some time before. It does so for
// elements of 4 bytes and more where the plan finds sectors that many cells share (plan->dense),
// and for smaller ones in the loop _COLUMNS unless nearly all places are cells (plan->holes);
// elements of 1 and 2 bytes go by other loops as by tmap_each. into: the matrix's element 0,
// whatever plan->offset is.
// Cost beside tmap_each: 9% less on the carpet of levels 9 and 10 with 4 and 8 bytes; 36% less on
// the gasket from level 15 on with bytes and 10 to 14% with 2 bytes; up to 4% more at such sizes
// where nothing is asked for. The loop has two steps, which cost up to a third more on small
// fractals and half as much again or more where nearly all places are cells: tmap_each is the
// choice there.
// Example: tmap_each_into(&plan, p.out, sizeof *p.out, dab, &p).
TMAP_DEVICE void tmap_each_into(const tmap_each_plan *plan, const void *into, tmap_u32 size,
                                tmap_each_visit visit, void *job) {
    tmapi_each_calls calls;
    calls.visit = visit, calls.read = 0, calls.use = 0, calls.job = job;
    calls.into = into, calls.size = size;
    tmapi_each_walk(plan, calls);
}

#endif // TMAP_CUDA
#endif
