// SPDX-License-Identifier: MIT
// stripes_flood.h: floods of height maps that are larger than a GPU. Each of several GPUs (nccl.h)
// has a stripe of whole rows, and its result is that of one GPU with all rows.
//
//     tmap_stripes_flood_plan plan; // map: the whole one; plan.rows: the rows of this GPU
//     tmap_stripes_flood_plan_make(&map, TMAP_FLOOD_U8, 1, &gpus, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_stripes_flood(&plan, heights, sources, workspace, out, stream);
//
// Components of several stripes are trees (stripes_base.h). A tree is flooded if one of its cells
// is.
#ifndef TMAP_RASTER_STRIPES_FLOOD_H
#define TMAP_RASTER_STRIPES_FLOOD_H

#include "flood.h"
#include "stripes_base.h"

#if TMAP_CUDA && !TMAP_NVRTC

// The argument of the kernels. first: row of the stripe. from: the user's sources.
typedef struct tmapi_stripes_flood {
    tmapi_flood f;
    tmapi_stripes s;
    tmap_u64 first;
    const tmap_flood_seed *from;
    tmap_flood_seed *seeds; // with rows counted from `first` on; those above are outside the map
} tmapi_stripes_flood;

// A plan, made by tmap_stripes_flood_plan_make; as tmap_stripes_plan.
typedef struct tmap_stripes_flood_plan {
    tmap_nccl gpus;
    tmap_share rows;
    tmap_u64 workspace;
    tmap_flood_plan flood;
    tmapi_stripes_flood job;
} tmap_stripes_flood_plan;

TMAP_FN tmap_u64 tmapi_stripes_flood_divide(tmapi_stripes_flood *j, const tmap_flood_plan *flood,
                                            tmap_u64 w) {
    const tmap_u64 nodes = tmapi_flood_blocks(flood) * TMAPI_FLOOD_NODES;
    tmap_u64 end = 0;
    tmapi_raster_part(&end, flood->workspace), tmapi_stripes_divide(&j->s, w, &end);
    j->s.tag = (tmap_u32 *)(w + tmapi_raster_part(&end, nodes * 4));
    j->seeds = (tmap_flood_seed *)(w + tmapi_raster_part(&end, flood->seeds * sizeof *j->seeds));
    return end;
}

static __global__ void __launch_bounds__(256) tmapi_stripes_seeds_kernel(tmapi_stripes_flood j) {
    const tmap_u32 i = tmapi_stripes_thread();
    if (i < j.f.seed_count) j.seeds[i].x = j.from[i].x, j.seeds[i].y = j.from[i].y - j.first;
}

// Finds the roots of cells, and whether they are flooded.
static __global__ void __launch_bounds__(256) tmapi_stripes_wet_kernel(tmapi_stripes_flood j) {
    const tmap_u32 i = tmapi_stripes_thread(), end = i >= j.s.width, x = i - end * j.s.width;
    const tmap_u32 last = j.f.plan.blocks_x * (j.f.plan.blocks_y - 1);
    const tmap_u32 block = (end ? last : 0) + x / 512, word = end * 16 + x % 512 / 32;
    tmap_u32 root = TMAPI_STRIPES_NONE, wet = 0, next, row;
    if (i >= j.s.cells) return;
    row = j.f.edges[(tmap_u64)block * TMAPI_FLOOD_EDGES + word];
    if (j.s.open >> end & row >> x % 32 & 1) {
        root = tmapi_flood_run_node(block * TMAPI_FLOOD_NODES + word * 16, row, 1u << x % 32);
        while (((next = j.f.parent[root]) & ~TMAPI_FLOOD_MARK) != root)
            root = next & ~TMAPI_FLOOD_MARK;
        j.s.tag[root] = i, wet = next >> 31;
    }
    j.s.root[i] = root, j.s.value[j.s.base + i] = wet;
}

// Floods the trees of flooded cells; then their components in this stripe.
static __global__ void __launch_bounds__(256) tmapi_stripes_spread_kernel(tmapi_stripes s) {
    const tmap_u32 i = tmapi_stripes_thread();
    if (i < 2 * s.width * s.live && s.value[i]) s.value[tmapi_raster_root(s.all, i)] = 1;
}
static __global__ void __launch_bounds__(256) tmapi_stripes_mark_kernel(tmapi_stripes_flood j) {
    const tmap_u32 i = tmapi_stripes_thread(), tree = tmapi_stripes_tree(&j.s, i);
    if (tree != TMAPI_STRIPES_NONE && j.s.value[tree])
        atomicOr(j.f.parent + j.s.root[i], TMAPI_FLOOD_MARK);
}

// Makes the plan of the floods of a height map on this GPU.
// map: the whole one; its pitch is that of the stripe's heights. form, seeds: as for
// tmap_flood_plan_make. Returns its errors; cudaErrorInvalidConfiguration too if columns times GPUs
// are 2^28 or more.
static inline cudaError_t tmap_stripes_flood_plan_make(const tmap_raster_map *map, int form,
                                                       tmap_u64 seeds, const tmap_nccl *gpus,
                                                       tmap_stripes_flood_plan *plan) {
    tmap_raster_map stripe;
    tmap_stripes_flood_plan p;
    cudaError_t error;
    if (!map || !gpus || !plan || !tmapi_raster_valid(map, TMAP_RASTER_I16, TMAP_RASTER_F32))
        return cudaErrorInvalidValue;
    stripe = *map, p.gpus = *gpus;
    if ((error = tmapi_stripes_of(gpus, &stripe, &p.rows, &p.job.s)) != cudaSuccess) return error;
    error = tmap_flood_plan_make(&stripe, form, seeds, &p.flood);
    if (error) return error;
    p.job.first = p.rows.first, p.job.s.values = 0, p.job.s.key = 0;
    p.workspace = tmapi_stripes_flood_divide(&p.job, &p.flood, 0);
    *plan = p;
    return cudaSuccess;
}

// Writes the flood of a height map; each GPU that of its rows.
// plan: that of this GPU. heights, out: of its rows; not needed by a GPU without rows. sources: the
// same on all GPUs, with rows of the whole map. Others as for tmap_flood; errors as for
// tmap_stripes_label.
// Cost: that of tmap_flood for its rows, and gathers of 8 bytes for each cell of two rows of all
// GPUs.
static inline ncclResult_t tmap_stripes_flood(const tmap_stripes_flood_plan *plan,
                                              tmap_flood_heights heights,
                                              tmap_flood_sources sources, void *workspace,
                                              void *out, cudaStream_t stream) {
    tmapi_stripes_flood j;
    tmapi_stripes_run r = {0, &j, stream, ncclSuccess};
    if (!plan) return ncclInvalidArgument;
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmapi_raster_memory to = {out, tmapi_flood_out_bytes(&plan->flood)};
    if (!tmapi_raster_aligned(workspace, 16) || sources.count > plan->flood.seeds ||
        (plan->job.s.cells && tmapi_flood_wrong(&plan->flood, heights, sources, work, to,
                                                plan->flood.form == TMAP_FLOOD_U8 ? 1 : 4)))
        return ncclInvalidArgument;
    if (!plan->job.s.cells) sources.count = 0;
    j = plan->job, j.from = sources.seeds, r.gpus = &plan->gpus;
    tmapi_stripes_flood_divide(&j, &plan->flood, (tmap_u64)workspace);
    sources.seeds = j.seeds;
    j.f = tmapi_flood_of(&plan->flood, heights, sources, workspace, out);
    const tmapi_flood_steps own = tmapi_flood_steps_of(&j.f);
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_seeds_kernel, sources.count);
    tmapi_stripes_steps(&r, own.step, 3); // local, unite, mark
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_wet_kernel, j.s.cells);
    tmapi_stripes_gather(&r, j.s.value, 8ull * j.s.width);
    tmapi_stripes_unite(&r, &j.s);
    r.job = &j.s;
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_spread_kernel,
                       (tmap_u64)j.s.cells * j.s.live);
    r.job = &j;
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_mark_kernel, j.s.cells);
    tmapi_stripes_steps(&r, own.step + 3, 2); // flags, last
    return r.error;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
