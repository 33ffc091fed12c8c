// SPDX-License-Identifier: MIT
// stripes_base.h: what stripes.h and stripes_flood.h share: the stripes of rows that several GPUs
// (nccl.h) have of a picture, and the union of components over the seams between them.
//
// Each cell of a stripe's first and last row points to one cell of its component in these two rows.
// The pointers of all stripes are a forest, which is gathered on all GPUs, and each GPU unites the
// cells that touch over seams.
#ifndef TMAP_RASTER_STRIPES_BASE_H
#define TMAP_RASTER_STRIPES_BASE_H

#include "../nccl.h"
#include "map.h"

// The rows of a picture that GPU `rank` of `ranks` has: whole bands of 128 rows, so that blocks of
// threads end at seams. The last GPUs may have none. Law: the stripes cover all rows in order.
// Example: 1000 rows, 3 GPUs: (0, 384) (384, 384) (768, 232).
TMAP_FN tmap_share tmap_stripes_rows(tmap_u64 rows, tmap_u64 rank, tmap_u64 ranks) {
    tmap_share s = tmap_share_of((rows + 127) / 128, rank, ranks);
    s.first *= 128, s.count *= 128;
    if (s.first > rows) s.first = rows;
    if (s.count > rows - s.first) s.count = rows - s.first;
    return s;
}

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_STRIPES_NONE 0xffffffffu

// The cells of the stripes' first and last rows, 2 * width of each stripe; those of this one begin
// at `base`.
typedef struct tmapi_stripes {
    tmap_u64 height;             // of the picture
    tmap_share rows;             // of this stripe
    tmap_u32 rank, ranks, live;  // live: stripes that have cells
    tmap_u32 width, base, cells; // cells: 2 * width if this stripe has any, else 0
    tmap_u32 open;               // 1, 2: there is a stripe above, below
    tmap_u32 eight, values;      // values: cells of a component have one value
    tmap_u32 *root;              // of this stripe's cells: the node, or NONE
    tmap_u32 *tag;               // of a node that is a root: one of its cells
    tmap_u32 *all;               // of all cells: a cell of the same component, or NONE
    tmap_u32 *value;             // of all cells: values; of a flood: 1: flooded; or null
    tmap_u64 *key;               // of all cells: the order of their components; null: any
} tmapi_stripes;

// Fills the numbers of a picture's stripes, and makes the map that of this GPU's rows. Returns
// cudaErrorInvalidConfiguration for too many cells.
static inline cudaError_t tmapi_stripes_of(const tmap_nccl *gpus, tmap_raster_map *map,
                                           tmapi_stripes *s) {
    const tmap_u64 bands = map->width ? (map->height + 127) / 128 : 0;
    s->rank = gpus->rank, s->ranks = gpus->ranks;
    s->height = map->height, s->width = (tmap_u32)map->width;
    s->rows = tmap_stripes_rows(map->height, gpus->rank, gpus->ranks);
    s->base = gpus->rank * 2 * s->width, s->cells = s->rows.count ? 2 * s->width : 0;
    s->live = bands < gpus->ranks ? (tmap_u32)bands : gpus->ranks;
    s->open = (gpus->rank > 0) | (tmap_u32)(gpus->rank + 1 < s->live) << 1;
    s->eight = map->connectivity == 8, s->values = map->type < TMAP_RASTER_MASK, s->key = 0;
    map->height = s->rows.count;
    return map->width * gpus->ranks >> 28 ? cudaErrorInvalidConfiguration : cudaSuccess;
}

// Sets the addresses of the parts of a workspace at w, whose end is *end; but not tag and key.
TMAP_FN void tmapi_stripes_divide(tmapi_stripes *s, tmap_u64 w, tmap_u64 *end) {
    const tmap_u64 bytes = 8ull * s->width;
    s->root = (tmap_u32 *)(w + tmapi_raster_part(end, bytes));
    s->all = (tmap_u32 *)(w + tmapi_raster_part(end, bytes * s->ranks));
    s->value = (tmap_u32 *)(w + tmapi_raster_part(end, bytes * s->ranks));
}

// A sequence of launches and of gathers; after an error it does nothing.
typedef struct tmapi_stripes_run {
    const tmap_nccl *gpus;
    cudaStream_t stream;
    ncclResult_t error;
} tmapi_stripes_run;

static inline void tmapi_stripes_steps(tmapi_stripes_run *r, const tmapi_raster_step *steps,
                                       int count, const void *job) {
    if (!r->error && tmapi_raster_run(steps, count, job, r->stream))
        r->error = ncclUnhandledCudaError;
}
static inline void tmapi_stripes_each(tmapi_stripes_run *r, const void *kernel, tmap_u64 threads,
                                      const void *job) {
    const tmapi_raster_step step = {kernel, {(threads + 255) / 256, 256, 0}};
    tmapi_stripes_steps(r, &step, 1, job);
}
static inline void tmapi_stripes_gather(tmapi_stripes_run *r, void *all, tmap_u64 bytes,
                                        tmap_u64 parts) {
    if (!r->error) r->error = tmap_nccl_gather(r->gpus, all, bytes, parts, r->stream);
}

TMAP_DEVICE tmap_u32 tmapi_stripes_thread(void) { return blockIdx.x * blockDim.x + threadIdx.x; }

// Points this stripe's cells to those that tags name.
static __global__ void __launch_bounds__(256) tmapi_stripes_point_kernel(tmapi_stripes s) {
    const tmap_u32 i = tmapi_stripes_thread();
    if (i < s.cells)
        s.all[s.base + i] =
            s.root[i] == TMAPI_STRIPES_NONE ? TMAPI_STRIPES_NONE : s.base + s.tag[s.root[i]];
}

TMAP_DEVICE int tmapi_stripes_before(const void *stripes, tmap_u32 a, tmap_u32 b) {
    const tmap_u64 *key = ((const tmapi_stripes *)stripes)->key;
    return key ? key[a] < key[b] : a < b;
}

// 1 if cells a and b, which are neighbours, are of one component.
TMAP_DEVICE int tmapi_stripes_touch(const tmapi_stripes *s, tmap_u32 a, tmap_u32 b) {
    return __ldcg(s->all + a) != TMAPI_STRIPES_NONE && __ldcg(s->all + b) != TMAPI_STRIPES_NONE &&
           (!s->values || s->value[a] == s->value[b]);
}

// Unites the cells that touch over seams, a thread a column of a seam.
static __global__ void __launch_bounds__(256) tmapi_stripes_unite_kernel(tmapi_stripes s) {
    const tmap_u32 i = tmapi_stripes_thread(), x = i % s.width;
    const tmap_u32 a = (i / s.width * 2 + 1) * s.width + x, b = a + s.width; // above, below
    if (i / s.width + 1 >= s.live) return;
    const int straight = tmapi_stripes_touch(&s, a, b);
    if (straight && x && tmapi_stripes_touch(&s, a - 1, b - 1) &&
        __ldcg(s.all + a) == __ldcg(s.all + a - 1) && __ldcg(s.all + b) == __ldcg(s.all + b - 1))
        return; // the column to the left does it
    for (tmap_u32 k = straight ? 1 : 0; k < (straight ? 2 : 3); ++k) // with a - 1, a, a + 1
        if (k == 1 ? straight : s.eight && x + k > 0 && x + k <= s.width)
            if (tmapi_stripes_touch(&s, a + k - 1, b))
                tmapi_forest_unite(s.all, a + k - 1, b, tmapi_stripes_before, &s);
}

// Makes the forest of all cells from roots and tags.
static inline void tmapi_stripes_unite(tmapi_stripes_run *r, const tmapi_stripes *s) {
    const tmap_u64 seams = s->live ? s->live - 1 : 0, bytes = 8ull * s->width;
    tmapi_stripes_each(r, (const void *)tmapi_stripes_point_kernel, s->cells, s);
    tmapi_stripes_gather(r, s->all, bytes, s->ranks);
    if (s->value) tmapi_stripes_gather(r, s->value, bytes, s->ranks);
    if (s->key) tmapi_stripes_gather(r, s->key, 2 * bytes, s->ranks);
    tmapi_stripes_each(r, (const void *)tmapi_stripes_unite_kernel, seams * s->width, s);
}

// The root of the tree of cell i of this stripe, or NONE.
TMAP_DEVICE tmap_u32 tmapi_stripes_tree(const tmapi_stripes *s, tmap_u32 i) {
    if (i >= s->cells || s->root[i] == TMAPI_STRIPES_NONE) return TMAPI_STRIPES_NONE;
    return tmapi_forest_root(s->all, s->base + i);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
