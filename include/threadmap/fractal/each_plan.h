// SPDX-License-Identifier: MIT
// each_plan.h: the plan of a launch over the cells of a fractal: which loop goes through them, and
// the grid, block and shared memory that it takes on this device.
//
// A fractal of level r stands in a matrix whose rows are `pitch` elements apart, or in compact
// storage (compact.h): TMAP_COMPACT in place of a pitch. A plan is made on the host for one
// fractal, level, pitch and kernel of the user's, and passed to that kernel by value; there
// tmap_each (each.h), tmap_update, tmap_fold and tmap_stencil go by it:
//
//     __global__ void __launch_bounds__(512, 2) draw_cells(tmap_each_plan plan, job j) {
//         tmap_each(&plan, draw, &j); // draw(&j, cell) for every cell
//     }
//     tmap_each_plan plan;
//     cudaError_t error = tmap_each_plan_make(f, r, 0, (const void *)draw_cells, &plan);
//     if (!error) error = tmap_each_launch(&plan, &j, stream);
//
// Each of the four has a plan maker of its own, which chooses what is quick for it. Any of them is
// right by any plan, and every cell of the plan's share is visited exactly once.
//
// The engine uses the first plan.shared bytes of the block's dynamic shared memory. A kernel that
// wants some for itself launches with more and takes what lies behind them.
#ifndef TMAP_FRACTAL_EACH_PLAN_H
#define TMAP_FRACTAL_EACH_PLAN_H

#include "../launch.h"
#include "compact_plan.h"
#include "rows.h"
#include "tile.h"

// The loops. A plan maker chooses one; tmap_each_plan_loop takes another one.
typedef enum tmap_each_loop {
    TMAP_EACH_LINEAR,  // a thread for each cell, by tmap_nbb_lambda_linear
    TMAP_EACH_COLUMNS, // a warp for each tile of up to 32 x 32 places, a lane for each column
    TMAP_EACH_ROWS,    // all warps along the rows, by two tables in shared memory (rows.h)
    TMAP_EACH_GROUPS,  // for folds: a warp for each tile of up to 64 x 64 places, 16 bytes a lane
    TMAP_EACH_COMPACT  // compact storage, tile by tile: the only one for it beside _LINEAR
} tmap_each_loop;

#define TMAP_EACH_LOOP_COUNT 5

// The name of a loop in tables and results: "linear", "columns", "rows", "groups", "compact"; "?"
// for any other number.
TMAP_FN const char *tmap_each_loop_name(int loop) {
    switch (loop) {
    case TMAP_EACH_LINEAR: return "linear";
    case TMAP_EACH_COLUMNS: return "columns";
    case TMAP_EACH_ROWS: return "rows";
    case TMAP_EACH_GROUPS: return "groups";
    case TMAP_EACH_COMPACT: return "compact";
    default: return "?";
    }
}

// The kinds of work, whose plan makers differ in what they wish for.
typedef enum tmap_each_work {
    TMAP_EACH_VISIT,  // tmap_each
    TMAP_EACH_UPDATE, // tmap_update
    TMAP_EACH_FOLD,   // tmap_fold
    TMAP_EACH_STENCIL // tmap_stencil
} tmap_each_work;

// A plan. Items are what a share of the work is counted in: cells by _LINEAR, in the order of
// tmap_nbb_lambda_linear, and by _ROWS, row by row; tiles by the others, in the order of
// tmap_nbb_lambda_linear of level r - tile_level.
typedef struct tmap_each_plan {
    tmap_nbb f;
    tmap_u32 r;
    tmap_u32 loop;       // a tmap_each_loop
    tmap_u32 tile_level; // of the tiles; 0 where items are cells
    tmap_u32 chunk; // _ROWS: the cells that a warp takes at a time; _COMPACT, of a stencil: the
                    // tiles that a block has side by side; else 0
    tmap_u32 halo;  // the same: values that a tile has from those beside it
    tmap_compact_word word; // compact_words.h; bytes 0: elements are cells
    tmap_u32 dense;  // 1: memory is asked for a cell's sector some time before it is stored to, by
                     // tmap_stencil and, with elements of 4 bytes and more, by tmap_each_into
    tmap_u32 holes;  // 1: the same by tmap_each_into with smaller elements in the loop _COLUMNS
    tmap_u64 pitch;  // elements from a row to the next, or TMAP_COMPACT
    tmap_u64 offset; // element of cell (0, 0), or the first of compact storage; 0 unless the
                     // user sets it: the fractal may stand anywhere in a larger matrix
    tmap_u64 items;  // of the whole fractal
    tmap_u64 first, count; // this launch's share of them
    // the launch
    const void *kernel;
    tmap_u32 grid, block, shared; // blocks, threads of a block, bytes
    tmap_u32 warps;               // that the device holds at once, of those that pay
    tmap_u32 work;                // a tmap_each_work: what the plan was made for
    tmap_u32 type;                // of elements, where a client has several; else 0
} tmap_each_plan;

// The number of elements from that of cell (0, 0) to that of the last cell, both included: what a
// matrix of this plan has at least; of compact storage the number of cells. Saturates.
TMAP_FN tmap_u64 tmap_each_plan_places(const tmap_each_plan *plan) {
    if (plan->pitch == TMAP_COMPACT) return tmap_nbb_cells(plan->f, plan->r);
    tmap_u64 rows = tmap_mul_saturate(tmap_nbb_side_y(plan->f, plan->r) - 1, plan->pitch);
    tmap_u64 width = tmap_nbb_side_x(plan->f, plan->r);
    return rows > ~0ull - width ? ~0ull : rows + width;
}

// The level of the tiles of _GROUPS.
TMAP_FN tmap_u32 tmapi_each_groups_level(tmap_nbb f, tmap_u32 r) {
    return tmap_nbb_tile_level(f, r, 64);
}

// Bytes of shared memory for their groups, of which there are at most as many as cells: 8 for each
// of 64 rows, 4 for each of 128 counts, 8 for each group, and what four reads of a warp may see
// behind them.
TMAP_FN tmap_u32 tmapi_each_groups_bytes(tmap_nbb f, tmap_u32 m) {
    return 8 * 64 + 4 * 128 + 8 * ((tmap_u32)tmap_nbb_cells(f, m) + 32 * 4);
}

// 1 if the loop exists for this fractal and level. *tile_level, *shared: what it takes then.
TMAP_FN int tmapi_each_loop_fits(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, int loop,
                                 tmap_u32 *tile_level, tmap_u32 *shared) {
    *tile_level = *shared = 0;
    if (loop != TMAP_EACH_LINEAR && (loop == TMAP_EACH_COMPACT) != (pitch == TMAP_COMPACT))
        return 0;
    switch (loop) {
    case TMAP_EACH_LINEAR: return r <= tmap_nbb_linear_level_max64(f);
    case TMAP_EACH_COLUMNS: *tile_level = tmap_tile_level(f, r); break;
    case TMAP_EACH_ROWS: return (*shared = tmap_rows_bytes(f, r)) != 0;
    case TMAP_EACH_GROUPS:
        *tile_level = tmapi_each_groups_level(f, r);
        *shared = tmapi_each_groups_bytes(f, *tile_level);
        break;
    case TMAP_EACH_COMPACT:
        *tile_level = tmapi_compact_tile_level(f, r);
        *shared = 4 * (tmap_u32)tmap_nbb_cells(f, *tile_level);
        break;
    default: return 0;
    }
    return tmap_nbb_cells(f, r - *tile_level) <= 0xffffffffull; // tiles have 32-bit numbers
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// What a kind of work likes: warps of a multiprocessor, cells of a warp's chunk by _ROWS, and the
// loops in the order in which they are tried, from that for small fractals on.
typedef struct tmapi_each_wish {
    tmap_u32 warps, chunk;
    tmap_u32
        sparse; // places for each cell up to which sectors are asked for before they are stored
    int loops[4];
} tmapi_each_wish;

// Up to so many cells a launch is a matter of some microseconds, and the shortest code is the best.
#define TMAPI_EACH_SMALL (1u << 16)

// Stores: few warps, whose stores reach memory in the order of the rows. Reads: many, and long
// chunks, since a warp waits for the first reads of each. Lanes on the columns of a tile make whole
// lines of memory where it is 32 wide; elsewhere rows are better. A stencil has its neighbours at
// hand in the columns of a tile alone. (docs/notebook.md has the measurements.)
static inline tmapi_each_wish tmapi_each_wish_of(tmap_u32 work, tmap_nbb f, tmap_u32 r,
                                                 tmap_u64 pitch) {
    const tmapi_each_wish compact = {
        32, 0, 0, {TMAP_EACH_COMPACT, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR}};
    const int small = tmap_nbb_cells(f, r) <= TMAPI_EACH_SMALL;
    const int whole = tmap_nbb_side_x(f, tmap_tile_level(f, TMAP_LEVEL_MAX)) == 32;
    const int first = small ? TMAP_EACH_LINEAR : whole ? TMAP_EACH_COLUMNS : TMAP_EACH_ROWS;
    const int fold = small ? TMAP_EACH_LINEAR : f.sx % 2 ? TMAP_EACH_ROWS : TMAP_EACH_GROUPS;
    const tmapi_each_wish wishes[4] = {
        {16, 1024, 4, {first, TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR}},
        {32, 2048, 4, {first, TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR}},
        {32, 4096, 4, {fold, TMAP_EACH_GROUPS, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR}},
        {32, 2048, 16, {TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR}},
    };
    return pitch == TMAP_COMPACT ? compact : wishes[work & 3];
}

// The blocks for `count` of the plan's items, at most `most`; by _ROWS also the chunk, which has at
// most `chunk` cells.
static inline tmap_u32 tmapi_each_plan_blocks(tmap_each_plan *plan, tmap_u64 count, tmap_u64 most,
                                              tmap_u32 chunk) {
    const tmap_u64 in_block = plan->block / 32;
    tmap_u64 unit = in_block, blocks; // unit: items of a block
    if (plan->loop == TMAP_EACH_LINEAR) unit = plan->block;
    if (plan->loop == TMAP_EACH_ROWS) { // chunks that end together
        const tmap_u64 warps = most * in_block, turn = warps * chunk;
        const tmap_u64 chunks = (count / turn + (count % turn != 0)) * warps;
        const tmap_u64 share = chunks ? count / chunks + (count % chunks != 0) : 1;
        plan->chunk = (tmap_u32)((share + 31) / 32 * 32);
        unit = in_block * plan->chunk;
    }
    if (plan->loop == TMAP_EACH_COMPACT && plan->work == TMAP_EACH_STENCIL) unit = plan->chunk;
    blocks = count / unit + (count % unit != 0);
    if (blocks > most) blocks = most;
    return blocks ? (tmap_u32)blocks : 1;
}

// The grid and the chunk for the plan's share. It gets at most the blocks of all items: a fold's
// memory, a part for each block, may have been counted for these.
static inline void tmapi_each_plan_spread(tmap_each_plan *plan, tmap_u32 chunk) {
    const tmap_u64 resident = plan->warps / (plan->block / 32);
    const tmap_u64 most = plan->loop == TMAP_EACH_LINEAR ? 0x7fffffff : resident;
    plan->grid = tmapi_each_plan_blocks(plan, plan->items, most, chunk);
    plan->grid = tmapi_each_plan_blocks(plan, plan->count, plan->grid, chunk);
}

// The block of 32 to 512 threads of which a multiprocessor holds most warps, up to `warps`: the
// largest of those that are as good, as blocks share tables.
static inline cudaError_t tmapi_each_plan_block(tmap_each_plan *plan, tmap_u32 warps) {
    cudaFuncAttributes attributes;
    int device, processors;
    tmap_u32 best = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    if ((error = cudaFuncGetAttributes(&attributes, plan->kernel)) != cudaSuccess) return error;
    if ((error = tmapi_launch_shared(plan->kernel, plan->shared)) != cudaSuccess) return error;
    for (tmap_u32 block = 512; block >= 32; block /= 2) {
        const tmap_u32 in_block = block / 32, wished = (warps + in_block - 1) / in_block;
        int resident = 0;
        tmap_u32 blocks;
        if ((int)block > attributes.maxThreadsPerBlock) continue;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, plan->kernel, (int)block,
                                                              plan->shared);
        if (error) return error;
        blocks = (tmap_u32)resident < wished ? (tmap_u32)resident : wished;
        if (blocks * in_block > best) {
            best = blocks * in_block;
            plan->block = block, plan->warps = best * (tmap_u32)processors;
        }
    }
    return best ? cudaSuccess : cudaErrorInvalidConfiguration;
}

// The blocks of a stencil on compact storage for tiles of the plan's level: a thread for each cell
// of as many tiles side by side as let a multiprocessor hold most cells; the smallest of those that
// are as good, as a block's threads wait for each other. plan->warps stays 0 if no block fits.
static inline cudaError_t tmapi_each_plan_side_by_side(tmap_each_plan *plan, tmap_u32 processors,
                                                       const cudaFuncAttributes *attributes) {
    const tmap_u32 cells = (tmap_u32)tmap_nbb_cells(plan->f, plan->tile_level);
    tmap_each_plan p = *plan;
    tmap_u32 best = 0;
    p.halo = tmapi_compact_halo(p.f, p.tile_level);
    for (p.chunk = 1; p.chunk <= TMAPI_COMPACT_SIDE_BY_SIDE; ++p.chunk) {
        cudaError_t error;
        int resident = 0;
        p.block = (p.chunk * cells + 31) / 32 * 32;
        p.shared = tmapi_compact_shared_bytes(p.f, cells, p.chunk, p.halo, p.word.bytes != 0);
        if ((int)p.block > attributes->maxThreadsPerBlock) break;
        error = tmapi_launch_shared(p.kernel, p.shared);
        if (error == cudaErrorInvalidConfiguration) break;
        if (error) return error;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, p.kernel, (int)p.block,
                                                              p.shared);
        if (error) return error;
        if ((tmap_u32)resident * p.chunk * cells > best) {
            best = (tmap_u32)resident * p.chunk * cells;
            p.warps = (tmap_u32)resident * (p.block / 32) * processors;
            *plan = p;
        }
    }
    return cudaSuccess;
}

// Fewer blocks on each multiprocessor where there are few tiles, but two, as a block takes as long
// to begin as it does for about 24 tiles.
static inline void tmapi_each_plan_fewer(tmap_each_plan *plan, tmap_u32 processors) {
    const tmap_u64 tiles = tmap_nbb_cells(plan->f, plan->r - plan->tile_level);
    const tmap_u32 in_block = plan->block / 32, of_all = in_block * processors;
    while (plan->warps > 2 * of_all &&
           tiles / (24 * (tmap_u64)plan->chunk) < plan->warps / in_block)
        plan->warps -= of_all;
}

// The blocks for the largest tiles that fit one.
static inline cudaError_t tmapi_each_plan_tiles(tmap_each_plan *plan) {
    cudaFuncAttributes attributes;
    int device, processors;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    error = cudaFuncGetAttributes(&attributes, plan->kernel);
    for (plan->warps = 0; !error; --plan->tile_level) {
        if (tmap_nbb_cells(plan->f, plan->r - plan->tile_level) > 0xffffffffull) break;
        error = tmapi_each_plan_side_by_side(plan, (tmap_u32)processors, &attributes);
        if (error) return error;
        if (plan->warps) {
            tmapi_each_plan_fewer(plan, (tmap_u32)processors);
            return cudaSuccess;
        }
        if (plan->tile_level == 0) break;
    }
    return error ? error : cudaErrorInvalidConfiguration;
}

// Goes through the plan's cells, all of them, by another loop than the maker chose. For tests and
// measurements. Returns cudaErrorInvalidValue for a null pointer, cudaErrorInvalidConfiguration for
// a loop that this fractal and level do not have or this kernel has no room for, or a CUDA error;
// the plan is then what it was.
static inline cudaError_t tmap_each_plan_loop(tmap_each_plan *plan, int loop) {
    tmap_each_plan p;
    tmapi_each_wish wish;
    cudaError_t error;
    if (!plan || !plan->kernel) return cudaErrorInvalidValue;
    p = *plan;
    wish = tmapi_each_wish_of(p.work, p.f, p.r, p.pitch);
    if (!tmapi_each_loop_fits(p.f, p.r, p.pitch, loop, &p.tile_level, &p.shared))
        return cudaErrorInvalidConfiguration;
    p.loop = (tmap_u32)loop, p.chunk = p.halo = 0;
    if (loop == TMAP_EACH_COMPACT && p.work == TMAP_EACH_STENCIL)
        error = tmapi_each_plan_tiles(&p);
    else
        error = tmapi_each_plan_block(&p, wish.warps);
    if (error) return error;
    p.items = tmap_nbb_cells(p.f, p.r - p.tile_level);
    p.first = 0, p.count = p.items;
    tmapi_each_plan_spread(&p, wish.chunk);
    *plan = p;
    return cudaSuccess;
}

// Restricts a plan to `count` of its items from item `first` on: one GPU's share of the work, or a
// batch of it. Shares that together are all items visit every cell once.
// Returns cudaErrorInvalidValue for a null pointer and for items that the plan does not have.
// Example: the second half: tmap_each_plan_share(&plan, plan.items / 2, plan.items - plan.items /
// 2).
static inline cudaError_t tmap_each_plan_share(tmap_each_plan *plan, tmap_u64 first,
                                               tmap_u64 count) {
    if (!plan || first > plan->items || count > plan->items - first) return cudaErrorInvalidValue;
    plan->first = first, plan->count = count;
    tmapi_each_plan_spread(plan,
                           tmapi_each_wish_of(plan->work, plan->f, plan->r, plan->pitch).chunk);
    return cudaSuccess;
}

// The plan of one kind of work, of words that take the levels word.level at the top.
static inline cudaError_t tmapi_each_plan_make_words(tmap_u32 work, tmap_nbb f, tmap_u32 r,
                                                     tmap_u64 pitch, tmap_compact_word word,
                                                     const void *kernel, tmap_each_plan *out) {
    tmap_each_plan p;
    tmapi_each_wish wish;
    tmap_u64 width, cells, places;
    cudaError_t error = cudaErrorInvalidConfiguration;
    if (!out || !kernel || tmap_nbb_check(f) != TMAP_OK) return cudaErrorInvalidValue;
    if (r > tmap_nbb_level_max32(f)) return cudaErrorInvalidConfiguration;
    if (pitch == TMAP_COMPACT && r > tmap_nbb_linear_level_max64(f))
        return cudaErrorInvalidConfiguration;
    r -= word.level;
    width = tmap_nbb_side_x(f, r), cells = tmap_nbb_cells(f, r);
    places = tmap_mul_saturate(width, tmap_nbb_side_y(f, r));
    if (pitch && pitch < width) return cudaErrorInvalidValue;
    p.f = f, p.r = r, p.pitch = pitch ? pitch : width, p.offset = 0;
    p.kernel = kernel, p.work = work, p.type = 0;
    p.word = word;
    if (tmap_each_plan_places(&p) == ~0ull) return cudaErrorInvalidConfiguration;
    wish = tmapi_each_wish_of(work, f, r, p.pitch);
    // Memory takes a part of a sector at the price of reading the whole of it. Where many sectors
    // side by side are written in part, it pays to ask for them beforehand; where nearly all are
    // written whole, it never does.
    p.holes = pitch != TMAP_COMPACT && cells <= places / 4 * 3;
    p.dense = p.holes && cells >= places / wish.sparse;
    for (int i = 0; i < 4 && error == cudaErrorInvalidConfiguration; ++i)
        error = tmap_each_plan_loop(&p, wish.loops[i]);
    if (!error) *out = p;
    return error;
}

// The plan of one kind of work: see tmap_each_plan_make.
static inline cudaError_t tmapi_each_plan_make(tmap_u32 work, tmap_nbb f, tmap_u32 r,
                                               tmap_u64 pitch, const void *kernel,
                                               tmap_each_plan *out) {
    const tmap_compact_word cells = {0, 1, 0};
    return tmapi_each_plan_make_words(work, f, r, pitch, cells, kernel, out);
}

// The plan of a kernel that calls tmap_each, for fractal f of level r in a matrix with `pitch`
// elements from a row to the next; 0: as many as the fractal is wide. kernel: a __global__
// function, cast to const void *. Made once, a plan serves any number of launches on the device
// that was the current one.
// Returns cudaErrorInvalidValue for a null pointer, for what tmap_nbb_check refuses, and for a
// pitch below the fractal's width; cudaErrorInvalidConfiguration for a level whose coordinates do
// not fit 32 bits or whose places do not fit 64, and for a kernel of which no block fits the
// device; else a CUDA error. *out is written only on success. A level of more than 2^32 - 1 tiles
// goes by _LINEAR. Examples: the gasket's levels 26 to 31, the carpet's 14 to 20.
// Cost: some calls of the CUDA runtime, which do not wait for the device.
// Example: tmap_each_plan_make(tmap_fractal_carpet(), 10, 0, (const void *)draw_cells, &plan).
static inline cudaError_t tmap_each_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                              const void *kernel, tmap_each_plan *out) {
    return tmapi_each_plan_make(TMAP_EACH_VISIT, f, r, pitch, kernel, out);
}

// Launches the plan's kernel, whose parameters are the plan and one struct of the user's, both by
// value: (tmap_each_plan, JOB). job: the address of that struct. The result is the launch's own
// error; an error that an earlier call has left is neither reported nor cleared. Can be captured.
// A share without an item is launched too, as one block: what the kernel does beside the cells,
// such as writing a sum, is done by every share.
static inline cudaError_t tmap_each_launch(const tmap_each_plan *plan, const void *job,
                                           cudaStream_t stream) {
    void *arguments[2];
    if (!plan || !plan->kernel || !job) return cudaErrorInvalidValue;
    arguments[0] = (void *)plan, arguments[1] = (void *)job;
    return cudaLaunchKernel(plan->kernel, dim3(plan->grid), dim3(plan->block), arguments,
                            plan->shared, stream);
}

#endif
#endif
