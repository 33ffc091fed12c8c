// SPDX-License-Identifier: MIT
// flood.h: the flood of a height map: the cells that water reaches from sources at a level, and the
// area and volume of rising water.
//
// A cell is flooded if it is below the level and a path of such cells joins it to a source. A path
// goes from a cell to one of its 4 neighbours (over edges), or of its 8 (over corners too).
//
//     const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_I16, 4};
//     const tmap_flood_heights heights = {cells, 0};        // device memory
//     const tmap_flood_sources sources = {seeds, 1, level}; // device memory
//     tmap_flood_plan plan;
//     tmap_flood_plan_make(&map, TMAP_FLOOD_U8, 1, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_flood(&plan, heights, sources, workspace, out, stream);
//
// Source: the "construction of regions" of Filipovic's lecture slides "Flood maps, dRMSD
// computation" (PV197): regions of tiles in shared memory, joined over tiles' borders, and one pass
// that writes.
//
// Five launches for any map:
//     local   converts heights to bits, and finds the components of each block of 512 x 128 cells
//     unite   joins components that touch over the edges of blocks
//     mark    marks those with a source
//     flags   lists the flooded components on blocks' borders
//     last    fills each tile of 32 x 16 cells from its border, and writes the result
#ifndef TMAP_RASTER_FLOOD_H
#define TMAP_RASTER_FLOOD_H

#include "flood_last.h"
#include "flood_local.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- unite, mark, flags: the nodes of all blocks ------------------------------------------------

#define TMAPI_FLOOD_UNITE 320u // threads of a block: 16 for each of 20 words of edges

// Nodes are in the order of their numbers.
TMAP_DEVICE int tmapi_flood_lower(const void *job, tmap_u32 a, tmap_u32 b) {
    return (void)job, a < b;
}
TMAP_DEVICE void tmapi_flood_unite(tmap_u32 *parent, tmap_u32 a, tmap_u32 b) {
    tmapi_forest_unite(parent, a, b, tmapi_flood_lower, 0);
}

// The node of the run of a word `row` that contains column `bit`. first: the word's first node.
TMAP_DEVICE tmap_u32 tmapi_flood_run_node(tmap_u32 first, tmap_u32 row, tmap_u32 bit) {
    const tmap_u32 start = tmapi_flood_starts(row) & tmapi_flood_upto(bit);
    return first + (31 - (tmap_u32)__clz((int)start)) / 2;
}

// Unites over the columns `part` of a word of a block's last row with the block below.
TMAP_DEVICE void tmapi_flood_unite_row(const tmapi_flood *f, tmap_u32 block, tmap_u32 word,
                                       tmap_u32 part) {
    const tmap_u32 eight = f->plan.map.connectivity == 8, across = f->plan.blocks_x;
    const tmap_u32 *upper = f->edges + (tmap_u64)block * TMAPI_FLOOD_EDGES + 16;
    const tmap_u32 *lower = f->edges + (tmap_u64)(block + across) * TMAPI_FLOOD_EDGES;
    const tmap_u32 a = upper[word], b = lower[word];
    const tmap_u32 from = block * TMAPI_FLOOD_NODES + 256 + word * 16;
    const tmap_u32 to = (block + across) * TMAPI_FLOOD_NODES + word * 16;
    tmap_u32 touch = tmapi_flood_starts(a & b) & part;               // one bit at most
    if (word) touch &= ~((upper[word - 1] & lower[word - 1]) >> 31); // it continues
    if (touch)
        tmapi_flood_unite(f->parent, tmapi_flood_run_node(from, a, touch),
                          tmapi_flood_run_node(to, b, touch));
    if (!eight) return;
#pragma unroll
    for (int right = 0; right < 2; ++right) { // with the column to the left, or to the right
        touch = a & (right ? b >> 1 : b << 1) & ~(right ? a >> 1 : a << 1) & ~b & part;
        while (touch) {
            const tmap_u32 bit = touch & (0u - touch);
            touch ^= bit;
            tmapi_flood_unite(f->parent, tmapi_flood_run_node(from, a, bit),
                              tmapi_flood_run_node(to, b, right ? bit << 1 : bit >> 1));
        }
    }
#pragma unroll
    for (int right = 0; right < 2; ++right) { // in the word to the left, or to the right
        const tmap_u32 end = right ? 0x80000000u : 1, w = (word + (right ? 1 : 15)) % 16;
        const int beside = right ? word == 15 : word == 0; // in another block, if it exists
        const int there = right ? block % across + 1 < across : block % across != 0;
        const tmap_u32 other = (beside ? right ? block + 1 : block - 1 : block) + across;
        tmap_u32 c;
        if (!(part & a & end) || (beside && !there)) continue;
        c = f->edges[(tmap_u64)other * TMAPI_FLOOD_EDGES + w];
        if (!(b & end) && (right ? c & 1 : c >> 31))
            tmapi_flood_unite(f->parent, tmapi_flood_run_node(from, a, end),
                              tmapi_flood_run_node(other * TMAPI_FLOOD_NODES + w * 16, c,
                                                   right ? 1 : 0x80000000u));
    }
}

// Unites over the rows `part`, of 32, of a block's last column with the next block.
TMAP_DEVICE void tmapi_flood_unite_column(const tmapi_flood *f, tmap_u32 block, tmap_u32 word,
                                          tmap_u32 part) {
    const tmap_u32 *left = f->edges + (tmap_u64)block * TMAPI_FLOOD_EDGES + 36;
    const tmap_u32 *right = f->edges + (tmap_u64)(block + 1) * TMAPI_FLOOD_EDGES + 32;
    const tmap_u32 a = left[word], b = right[word];
    const tmap_u32 from = block * TMAPI_FLOOD_NODES + 576 + word * 16;
    const tmap_u32 to = (block + 1) * TMAPI_FLOOD_NODES + 512 + word * 16;
    const int eight = f->plan.map.connectivity == 8;
    // by double rows: the even bit of each
    tmap_u32 touch = tmapi_flood_starts(a & b);
    if (word) touch &= ~((left[word - 1] & right[word - 1]) >> 31);
    if (eight) touch = (a | a >> 1) & (b | b >> 1) & 0x55555555u;
    touch &= part;
    while (touch) {
        const tmap_u32 at = (31 - (tmap_u32)__clz((int)touch)) / 2;
        touch &= ~(3u << 2 * at);
        tmapi_flood_unite(f->parent, from + at, to + at);
    }
    if (!eight) return;
    // over a corner, from the last row of a double row to the first one of the next
    const tmap_u32 next_a = word < 3 ? left[word + 1] : 0, next_b = word < 3 ? right[word + 1] : 0;
    tmap_u32 down = a & (b >> 1 | next_b << 31) & 0xaaaaaaaau & part;
    tmap_u32 up = b & (a >> 1 | next_a << 31) & 0xaaaaaaaau & part;
    while (down | up) {
        const tmap_u32 at = (31 - (tmap_u32)__clz((int)(down | up))) / 2, bit = 2u << 2 * at;
        if (down & bit) tmapi_flood_unite(f->parent, from + at, to + at + 1);
        if (up & bit) tmapi_flood_unite(f->parent, from + at + 1, to + at);
        down &= ~bit, up &= ~bit;
    }
}

// Joins the nodes of touching blocks. A thread has two columns or rows of one of 20 words of a
// block's edges, so that lanes read neighbouring nodes.
static __global__ void __launch_bounds__(TMAPI_FLOOD_UNITE)
    tmapi_flood_unite_kernel(tmapi_flood f) {
    const tmap_u32 block = blockIdx.x, word = threadIdx.x / 16, part = 3u << threadIdx.x % 16 * 2;
    const tmap_u32 across = f.plan.blocks_x;
    if (word < 16) {
        if (block / across + 1 < f.plan.blocks_y) tmapi_flood_unite_row(&f, block, word, part);
    } else if (block % across + 1 < across)
        tmapi_flood_unite_column(&f, block, word - 16, part);
}

// Marks the roots of the seeds' nodes, a thread a seed.
static __global__ void tmapi_flood_mark_kernel(tmapi_flood f) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 node, next;
    if (i >= f.seed_count || (node = f.entries[2 * i]) == TMAPI_FLOOD_NONE) return;
    while ((next = __ldcg(f.parent + node) & ~TMAPI_FLOOD_MARK) != node) node = next;
    atomicOr(f.parent + node, TMAPI_FLOOD_MARK);
}

// Writes which nodes are flooded, a thread a node.
static __global__ void __launch_bounds__(TMAPI_FLOOD_NODES)
    tmapi_flood_flags_kernel(tmapi_flood f) {
    const tmap_u32 n = threadIdx.x;
    const tmap_u32 *edges = f.edges + (tmap_u64)blockIdx.x * TMAPI_FLOOD_EDGES;
    const tmap_u32 two =
        (n < 512 ? tmapi_flood_starts(edges[n / 16]) : edges[32 + (n - 512) / 16]) >> n % 16 * 2 &
        3;
    const tmap_u32 node = blockIdx.x * TMAPI_FLOOD_NODES + n;
    tmap_u32 top = 0, bits;
    if (two) {
        tmap_u32 up = __ldcg(f.parent + node) & ~TMAPI_FLOOD_MARK;
        for (; ((top = __ldcg(f.parent + up)) & ~TMAPI_FLOOD_MARK) != up; up = top)
            TMAPI_STCG(f.parent + node, top); // only roots are marked
    }
    bits = __ballot_sync(~0u, top >> 31);
    if (n % 32 == 0) f.flags[(tmap_u64)blockIdx.x * (TMAPI_FLOOD_NODES / 32) + n / 32] = bits;
}

// ---- ranges of tiles ----------------------------------------------------------------------------

// Where ranges and sums of tiles are written.
typedef struct tmapi_flood_ranges {
    tmap_flood_range *ranges;
    double *sums;
} tmapi_flood_ranges;

// Writes a tile's range and sum, from those of all lanes.
TMAP_DEVICE void tmapi_flood_write_range(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                         tmap_u32 tile, int low, int high, double sum) {
    tmap_flood_range range;
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2) {
        const int l = __shfl_xor_sync(~0u, low, step), h = __shfl_xor_sync(~0u, high, step);
        low = l < low ? l : low, high = h > high ? h : high;
    }
    sum = tmapi_flood_sum(sum);
    if (threadIdx.x % 32) return;
    range.low = low, range.high = high;
    to.ranges[b->number * b->f->plan.rows + tile] = range;
    to.sums[b->number * b->f->plan.rows + tile] = sum;
}

// Measures a tile of 16-bit heights, all possibly wet, that can be read by 16 bytes.
TMAP_DEVICE void tmapi_flood_range_shorts(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                          tmap_u32 tile) {
    int low = 32767, high = -32768, sum = 0;
    uint4 v[2];
    tmapi_flood_read_tile(b, tile, v, 2);
#pragma unroll
    for (tmap_u32 i = 0; i < 2; ++i) {
        const tmap_u32 twos[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
#pragma unroll
        for (tmap_u32 k = 0; k < 8; ++k) {
            const int height = (short)(twos[k / 2] >> k % 2 * 16);
            low = height < low ? height : low, high = height > high ? height : high;
            sum += height;
        }
    }
    tmapi_flood_write_range(b, to, tile, low, high, sum);
}

// Measures any tile.
TMAP_DEVICE void tmapi_flood_range_tile(const tmapi_flood_block *b, tmapi_flood_ranges to,
                                        tmap_u32 tile, const tmap_u32 size) {
    const tmap_raster_map *map = &b->f->plan.map;
    const tmap_u64 x = b->x + tile % TMAPI_FLOOD_WORDS * 32 + threadIdx.x % 32;
    const tmap_u64 y = b->y + tile / TMAPI_FLOOD_WORDS * TMAPI_FLOOD_TILE;
    const int floats = size == 4 && map->type == TMAP_RASTER_F32;
    int low = TMAPI_FLOOD_KEY_MAX, high = TMAPI_FLOOD_KEY_MIN;
    tmap_u32 cells[TMAPI_FLOOD_TILE];
    double sum = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r)
        cells[r] = x < map->width && y + r < map->height
                       ? tmapi_flood_cell(b->f->heights, (y + r) * map->pitch + x, size)
                       : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_TILE; ++r) {
        const int key = floats ? tmapi_raster_float_key(cells[r]) : (int)cells[r];
        const int never = !(x < map->width && y + r < map->height) ||
                          (b->f->level.has_nodata && key == b->f->level.nodata) ||
                          (floats && key == TMAPI_FLOOD_KEY_MAX);
        if (!never && key < low) low = key;
        if (never || key > high) high = never ? TMAPI_FLOOD_KEY_MAX : key;
        const double height = tmapi_raster_double(__uint_as_float(cells[r]));
        if (!never) sum += floats ? height : key;
    }
    tmapi_flood_write_range(b, to, tile, low, high, sum);
}

// Finds each tile's range, and the sum of its heights that can be wet. A warp a tile.
static __global__ void __launch_bounds__(256, 4)
    tmapi_flood_tiles_kernel(tmapi_flood f, tmap_flood_range *ranges, double *sums) {
    const tmapi_flood_block b = tmapi_flood_block_at(&f);
    const tmapi_flood_ranges to = {ranges, sums};
    const int shorts = f.plan.map.type == TMAP_RASTER_I16;
    const int quick = shorts && tmapi_flood_by_tiles(&b, 2) && !f.level.has_nodata;
    for (tmap_u32 tile = threadIdx.x / 32; tile < f.plan.rows; tile += blockDim.x / 32)
        if (quick)
            tmapi_flood_range_shorts(&b, to, tile);
        else if (shorts)
            tmapi_flood_range_tile(&b, to, tile, 2);
        else
            tmapi_flood_range_tile(&b, to, tile, 4);
}

// ---- floods -------------------------------------------------------------------------------------

// Makes the plan of floods of a map on the current device: tmap_flood_plan_of with its facts.
// Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for TMAP_ERANGE, or
// the error of a device query. Cost: calls that do not wait for the device.
static inline cudaError_t tmap_flood_plan_make(const tmap_raster_map *map, int form, tmap_u64 seeds,
                                               tmap_flood_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_flood_local_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_flood_plan_of(map, form, seeds, &facts, plan));
}

// 1 if the arguments of a flood of a map with cells cannot be valid: null, misaligned, overlapping.
// out: at a multiple of `align`.
static inline int tmapi_flood_wrong(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                    tmap_flood_sources sources, tmapi_raster_memory work,
                                    tmapi_raster_memory out, tmap_u64 align) {
    const tmap_raster_map *map = &plan->map;
    const tmap_u64 cells = tmapi_raster_span(map->height - 1, map->pitch, map->width);
    const tmap_u64 tiles = tmapi_flood_blocks(plan) * plan->rows * 16;
    const tmapi_raster_memory all[5] = {
        work,
        out,
        {heights.data, tmap_mul_saturate(cells, tmap_raster_size(map->type))},
        {heights.tiles, heights.tiles ? tiles : 0},
        {sources.seeds, sources.count * sizeof *sources.seeds}};
    return !tmapi_raster_aligned(heights.data, tmap_raster_size(map->type)) ||
           (tmap_u64)heights.tiles % 16 || sources.count > plan->seeds ||
           (sources.count && !tmapi_raster_aligned(sources.seeds, 8)) ||
           !tmapi_raster_aligned(work.at, 16) || !tmapi_raster_aligned(out.at, align) ||
           tmapi_raster_overlap(all, 2, 5);
}

// Bytes of the result of a flood.
static inline tmap_u64 tmapi_flood_out_bytes(const tmap_flood_plan *plan) {
    const tmap_u64 width = plan->map.width;
    return plan->map.height * (plan->form == TMAP_FLOOD_U8     ? width
                               : plan->form == TMAP_FLOOD_BITS ? 4 * tmap_flood_words(width)
                                                               : 4 * width);
}

// The argument of the kernels.
static inline tmapi_flood tmapi_flood_of(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                         tmap_flood_sources sources, void *workspace, void *out) {
    unsigned char *at = (unsigned char *)workspace;
    tmapi_flood f;
    f.plan = *plan;
    f.level = tmapi_flood_level_of(&plan->map, sources.level), f.surface = sources.level;
    f.heights = heights.data, f.tiles = (tmap_flood_range *)heights.tiles;
    f.tile_sums = (double *)(f.tiles + tmapi_flood_blocks(plan) * plan->rows);
    f.seeds = sources.seeds, f.seed_count = (tmap_u32)sources.count, f.out = out;
    f.bits = (tmap_u32 *)at, f.parent = (tmap_u32 *)(at + plan->at_parent);
    f.edges = (tmap_u32 *)(at + plan->at_edges);
    f.offsets = (unsigned short *)(at + plan->at_offsets);
    f.table = (tmap_u64 *)(at + plan->at_table), f.flags = (tmap_u32 *)(at + plan->at_flags);
    f.entries = (tmap_u32 *)(at + plan->at_entries), f.kinds = at + plan->at_kinds;
    f.areas = (tmap_u64 *)(at + plan->at_sums);
    f.sums = (double *)(f.areas + tmapi_flood_blocks(plan));
    return f;
}

// The launches of a flood.
typedef struct tmapi_flood_steps {
    tmapi_raster_step step[5];
} tmapi_flood_steps;

static inline tmapi_flood_steps tmapi_flood_steps_of(const tmapi_flood *f) {
    const tmap_u64 blocks = tmapi_flood_blocks(&f->plan);
    const tmap_u32 rows = f->plan.rows;
    const tmapi_flood_steps steps = {
        {{(const void *)tmapi_flood_local_kernel,
          {blocks, 2 * rows, tmapi_flood_local_bytes(rows)}},
         {(const void *)tmapi_flood_unite_kernel, {blocks > 1 ? blocks : 0, TMAPI_FLOOD_UNITE, 0}},
         {(const void *)tmapi_flood_mark_kernel, {(f->seed_count + 127ull) / 128, 128, 0}},
         {(const void *)tmapi_flood_flags_kernel, {blocks, TMAPI_FLOOD_NODES, 0}},
         {(const void *)tmapi_flood_last_kernel, {blocks, rows, tmapi_flood_last_bytes(rows)}}}};
    return steps;
}

static inline cudaError_t tmapi_flood_run(const tmapi_flood *f, cudaStream_t stream) {
    return tmapi_raster_run(tmapi_flood_steps_of(f).step, 5, f, stream);
}

// Writes the flood of a map: the cells below a level that water reaches from the sources.
// plan: that of the map. heights, sources: at most plan->seeds sources; those outside the map or on
// dry cells flood nothing. With heights.tiles, a launch reads only the tiles that are neither
// completely wet nor completely dry, or a complete block if more than three of four of its tiles
// are such. workspace: plan->workspace bytes at a multiple of 16, with any content. out: width *
// height bytes or floats, or tmap_flood_words(width) * height words; all are written. All pointers
// are device memory and do not overlap; floods that run at the same time need one workspace each. A
// map without cells needs none of them: the call does nothing.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, for memory that overlaps or too
// many sources, before any launch; else the first error of its calls. Allocates nothing, and can be
// captured. Results are the same in every run, with tiles or without.
// Cost: heights are read once (for depths, those of flooded cells twice); a bit for each cell is
// written and read; every block reads every source, which matters from some thousands of them on.
// 60 to 75% of the bandwidth of a copy if water is in lakes, 20% in noise. Fastest if `data`,
// pitch * size of a height, and width are multiples of 16 bytes; slow only if `data` is not.
// Example: heights 1 5 1 1, source (2, 0), level 3, 4-connected: 0 0 1 1.
static inline cudaError_t tmap_flood(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                     tmap_flood_sources sources, void *workspace, void *out,
                                     cudaStream_t stream) {
    tmapi_flood f;
    if (!plan || !plan->map.connectivity) return cudaErrorInvalidValue;
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmapi_raster_memory to = {out, tmapi_flood_out_bytes(plan)};
    if (!tmapi_flood_blocks(plan)) return cudaSuccess;
    if (tmapi_flood_wrong(plan, heights, sources, work, to, plan->form == TMAP_FLOOD_U8 ? 1 : 4))
        return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, heights, sources, workspace, out);
    return tmapi_flood_run(&f, stream);
}

// Bytes of the tiles of a plan's map: 1/32 byte a cell. Example: 16384 x 16384: 8388608.
static inline tmap_u64 tmap_flood_tiles_bytes(const tmap_flood_plan *plan) {
    return plan ? tmapi_flood_blocks(plan) * plan->rows * 16 : 0;
}

// Measures the tiles of 32 x 16 cells of a map, for many floods of it. A tile has its lowest
// height, its highest one, where NODATA, NaN and what is outside the map are higher than any
// height, and the sum of the heights of the other cells. plan, heights: as for tmap_flood; the
// tiles are valid for all plans of that map and its NODATA value on this device. tiles:
// tmap_flood_tiles_bytes(plan) bytes of device memory at a multiple of 16 that do not overlap the
// heights. A map without cells has no tiles.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps, else
// the launch's own error. Cost: heights are read once.
static inline cudaError_t tmap_flood_tiles(const tmap_flood_plan *plan, const void *heights,
                                           void *tiles, cudaStream_t stream) {
    const tmap_flood_heights given = {heights, 0}, to = {heights, tiles};
    const tmap_flood_sources none = {0, 0, 0};
    tmapi_launch_shape shape = {0, 256, 0};
    tmapi_flood f;
    void *arguments[3] = {&f, &f.tiles, &f.tile_sums};
    const tmapi_raster_memory work = {tiles, 0}, out = {tiles, tmap_flood_tiles_bytes(plan)};
    if (!plan || !plan->map.connectivity) return cudaErrorInvalidValue;
    if (!tmapi_flood_blocks(plan)) return cudaSuccess;
    if (tmapi_flood_wrong(plan, given, none, work, out, 16)) return cudaErrorInvalidValue;
    f = tmapi_flood_of(plan, to, none, 0, 0), shape.grid = tmapi_flood_blocks(plan);
    return tmapi_launch((const void *)tmapi_flood_tiles_kernel, shape, arguments, stream);
}

// Measures rising water: the area and volume of the flood at each of several levels. For ascending
// levels this is the curve of a reservoir.
// rise.levels: host memory, read before the call returns. heights: with tiles. lakes:
// rise.level_count of them, in device memory at a multiple of 8; 0 for levels without a flood.
// Other arguments and errors: as for tmap_flood. After an error some lakes may not be written.
// Exactness: areas are exact, and so are the sums of integer heights if below 2^53, as in all
// 16-bit maps of up to 2^38 cells; other volumes are rounded, the same in every run.
// Cost: a flood for each level, and the heights of partly flooded tiles.
// Example: heights 0 2 4, source (0, 0), levels 1, 3: (1, 1), (2, 4).
static inline cudaError_t tmap_flood_levels(const tmap_flood_plan *plan, tmap_flood_heights heights,
                                            tmap_flood_rise rise, void *workspace,
                                            tmap_flood_lake *lakes, cudaStream_t stream) {
    const tmapi_launch_shape one = {1, TMAPI_FLOOD_TOTAL, 0};
    tmap_flood_sources sources = {rise.seeds, rise.seed_count, 0};
    cudaError_t error = cudaSuccess;
    if (!rise.level_count) return cudaSuccess;
    if (!plan || !plan->map.connectivity || !tmapi_raster_aligned(lakes, 8))
        return cudaErrorInvalidValue;
    const tmapi_raster_memory work = {workspace, plan->workspace};
    const tmapi_raster_memory out = {lakes, tmap_mul_saturate(rise.level_count, sizeof *lakes)};
    if (!tmapi_flood_blocks(plan)) return cudaMemsetAsync(lakes, 0, out.bytes, stream);
    if (!rise.levels || !heights.tiles || tmapi_flood_wrong(plan, heights, sources, work, out, 8))
        return cudaErrorInvalidValue;
    for (tmap_u64 i = 0; i < rise.level_count && !error; ++i, ++lakes) {
        sources.level = rise.levels[i];
        tmapi_flood f = tmapi_flood_of(plan, heights, sources, workspace, 0);
        void *arguments[2] = {&f, &lakes};
        f.plan.form = TMAPI_FLOOD_MEASURE;
        error = tmapi_flood_run(&f, stream);
        if (!error)
            error = tmapi_launch((const void *)tmapi_flood_total_kernel, one, arguments, stream);
    }
    return error;
}

#endif

#endif
