// SPDX-License-Identifier: MIT
// stripes_flood.h: floods of height maps that are larger than a GPU. Each of several GPUs (nccl.h)
// has a stripe of whole rows, and its result is that of one GPU with all rows.
//
//     tmap_stripes_flood_plan plan; // map: the whole one; plan.rows: the rows of this GPU
//     tmap_stripes_flood_plan_make(&map, TMAP_FLOOD_U8, 1, &gpus, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_stripes_flood(&plan, heights, sources, workspace, out, stream);
//
// tmap_stripes_flood_levels measures rising water. Components of several stripes are trees
// (stripes_base.h). A tree is flooded if one of its cells is.
#ifndef TMAP_RASTER_STRIPES_FLOOD_H
#define TMAP_RASTER_STRIPES_FLOOD_H

#include "flood.h"
#include "stripes_base.h"

#if TMAP_CUDA && !TMAP_NVRTC

// The argument of the kernels.
typedef struct tmapi_stripes_flood {
    tmapi_flood f;
    tmapi_stripes s;
    const tmap_flood_seed *from; // the user's sources
    tmap_flood_seed *seeds; // with rows counted from the stripe's; those above are outside the map
    tmap_u64 *areas;        // of the blocks of all stripes
    double *sums;
} tmapi_stripes_flood;

// A plan, made by tmap_stripes_flood_plan_make; as tmap_stripes_plan.
typedef struct tmap_stripes_flood_plan {
    tmap_nccl gpus;
    tmap_share rows;
    tmap_u64 workspace;
    tmap_flood_plan flood; // of the stripe
    tmapi_stripes_flood job;
} tmap_stripes_flood_plan;

// Blocks of a band of 128 rows.
TMAP_FN tmap_u64 tmapi_stripes_flood_band(const tmap_flood_plan *flood) {
    return 128 / flood->rows * flood->blocks_x;
}

TMAP_FN tmap_u64 tmapi_stripes_flood_divide(tmapi_stripes_flood *j, const tmap_flood_plan *flood,
                                            tmap_u64 w) {
    const tmap_u64 nodes = tmapi_flood_blocks(flood) * TMAPI_FLOOD_NODES;
    const tmap_u64 blocks = (j->s.height + 127) / 128 * tmapi_stripes_flood_band(flood);
    tmap_u64 end = 0;
    tmapi_raster_part(&end, flood->workspace), tmapi_stripes_divide(&j->s, w, &end);
    j->s.tag = (tmap_u32 *)(w + tmapi_raster_part(&end, nodes * 4));
    j->seeds = (tmap_flood_seed *)(w + tmapi_raster_part(&end, flood->seeds * sizeof *j->seeds));
    j->areas = (tmap_u64 *)(w + tmapi_raster_part(&end, blocks * 8));
    j->sums = (double *)(w + tmapi_raster_part(&end, blocks * 8));
    return end;
}

static __global__ void __launch_bounds__(256) tmapi_stripes_seeds_kernel(tmapi_stripes_flood j) {
    const tmap_u32 i = tmapi_stripes_thread();
    if (i < j.f.seed_count) j.seeds[i].x = j.from[i].x, j.seeds[i].y = j.from[i].y - j.s.rows.first;
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
    if (i < 2 * s.width * s.live && s.value[i]) s.value[tmapi_forest_root(s.all, i)] = 1;
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
    if ((error = tmapi_stripes_of(gpus, &stripe, &p.job.s)) != cudaSuccess) return error;
    if ((error = tmap_flood_plan_make(&stripe, form, seeds, &p.flood)) != cudaSuccess) return error;
    p.rows = p.job.s.rows, p.job.s.values = 0;
    p.workspace = tmapi_stripes_flood_divide(&p.job, &p.flood, 0);
    *plan = p;
    return cudaSuccess;
}

// 1 if the arguments of a flood cannot be valid. to: where the result goes, at a multiple of align.
static inline int tmapi_stripes_flood_wrong(const tmap_stripes_flood_plan *plan,
                                            tmap_flood_heights heights, tmap_flood_sources sources,
                                            void *workspace, tmapi_raster_memory to,
                                            tmap_u64 align) {
    const tmapi_raster_memory work = {workspace, plan->workspace};
    return !tmapi_raster_aligned(workspace, 16) || sources.count > plan->flood.seeds ||
           (plan->job.s.cells &&
            tmapi_flood_wrong(&plan->flood, heights, sources, work, to, align));
}

static inline tmapi_stripes_flood tmapi_stripes_flood_of(const tmap_stripes_flood_plan *plan,
                                                         tmap_flood_heights heights,
                                                         tmap_flood_sources sources,
                                                         void *workspace, void *out) {
    tmapi_stripes_flood j = plan->job;
    tmapi_stripes_flood_divide(&j, &plan->flood, (tmap_u64)workspace);
    j.from = sources.seeds, sources.seeds = j.seeds;
    if (!j.s.cells) sources.count = 0;
    j.f = tmapi_flood_of(&plan->flood, heights, sources, workspace, out);
    return j;
}

// The launches and gathers of a flood.
static inline void tmapi_stripes_flood_run(tmapi_stripes_run *r, const tmapi_stripes_flood *j) {
    const tmapi_flood_steps own = tmapi_flood_steps_of(&j->f);
    tmapi_stripes_each(r, (const void *)tmapi_stripes_seeds_kernel, j->f.seed_count, j);
    tmapi_stripes_steps(r, own.step, 3, j); // local, unite, mark
    tmapi_stripes_each(r, (const void *)tmapi_stripes_wet_kernel, j->s.cells, j);
    tmapi_stripes_unite(r, &j->s);
    tmapi_stripes_each(r, (const void *)tmapi_stripes_spread_kernel,
                       (tmap_u64)j->s.cells * j->s.live, &j->s);
    tmapi_stripes_each(r, (const void *)tmapi_stripes_mark_kernel, j->s.cells, j);
    tmapi_stripes_steps(r, own.step + 3, 2, j); // flags, last
}

// Writes the flood of a height map; each GPU that of its rows.
// plan: that of this GPU. heights, out: of its rows; not needed by a GPU without rows.
// heights.tiles: null, or what tmap_flood_tiles wrote with plan->flood. sources: the same on all
// GPUs, with rows of the whole map. Others as for tmap_flood; errors as for tmap_stripes_label.
// Cost: that of tmap_flood for its rows, and gathers of 8 bytes for each cell of two rows of all
// GPUs.
static inline ncclResult_t tmap_stripes_flood(const tmap_stripes_flood_plan *plan,
                                              tmap_flood_heights heights,
                                              tmap_flood_sources sources, void *workspace,
                                              void *out, cudaStream_t stream) {
    if (!plan) return ncclInvalidArgument;
    tmapi_stripes_run r = {&plan->gpus, stream, ncclSuccess};
    const tmapi_raster_memory to = {out, tmapi_flood_out_bytes(&plan->flood)};
    if (tmapi_stripes_flood_wrong(plan, heights, sources, workspace, to,
                                  plan->flood.form == TMAP_FLOOD_U8 ? 1 : 4))
        return ncclInvalidArgument;
    const tmapi_stripes_flood j = tmapi_stripes_flood_of(plan, heights, sources, workspace, out);
    tmapi_stripes_flood_run(&r, &j);
    return r.error;
}

// Measures rising water on the whole map: each GPU receives all lakes, with the bits of
// tmap_flood_levels on one GPU.
// heights: of this GPU's rows, with tiles. rise: the same on all GPUs, with rows of the whole map.
// lakes: as for tmap_flood_levels. Others and errors as for tmap_stripes_flood.
// Cost: a tmap_stripes_flood for each level, and a gather of 16 bytes for each block of 512 x 128
// cells.
static inline ncclResult_t tmap_stripes_flood_levels(const tmap_stripes_flood_plan *plan,
                                                     tmap_flood_heights heights,
                                                     tmap_flood_rise rise, void *workspace,
                                                     tmap_flood_lake *lakes, cudaStream_t stream) {
    const tmapi_launch_shape one = {1, TMAPI_FLOOD_TOTAL, 0};
    tmap_flood_sources sources = {rise.seeds, rise.seed_count, 0};
    const tmapi_raster_memory to = {lakes, tmap_mul_saturate(rise.level_count, sizeof *lakes)};
    if (!rise.level_count) return ncclSuccess;
    if (!plan || !rise.levels || !tmapi_raster_aligned(lakes, 8) ||
        (plan->job.s.cells && !heights.tiles) ||
        tmapi_stripes_flood_wrong(plan, heights, sources, workspace, to, 8))
        return ncclInvalidArgument;
    tmapi_stripes_run r = {&plan->gpus, stream, ncclSuccess};
    const tmap_u64 bands = (plan->job.s.height + 127) / 128;
    const tmap_u64 of_band = tmapi_stripes_flood_band(&plan->flood);
    const tmap_u64 before = plan->rows.first / 128 * of_band, rows = plan->flood.rows;
    for (tmap_u64 i = 0; i < rise.level_count && !r.error; ++i, ++lakes) {
        sources.level = rise.levels[i];
        tmapi_stripes_flood j = tmapi_stripes_flood_of(plan, heights, sources, workspace, 0);
        void *arguments[2] = {&j.f, &lakes};
        j.f.plan.form = TMAPI_FLOOD_MEASURE;
        j.f.areas = j.areas + before, j.f.sums = j.sums + before;
        tmapi_stripes_flood_run(&r, &j);
        tmapi_stripes_gather(&r, j.areas, 8 * of_band, bands);
        tmapi_stripes_gather(&r, j.sums, 8 * of_band, bands);
        j.f.areas = j.areas, j.f.sums = j.sums; // of all stripes
        j.f.plan.blocks_y = (tmap_u32)((j.s.height + rows - 1) / rows);
        if (!r.error &&
            tmapi_launch((const void *)tmapi_flood_total_kernel, one, arguments, stream))
            r.error = ncclUnhandledCudaError;
    }
    return r.error;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
