// SPDX-License-Identifier: MIT
// fold.h: folds the elements of an array at the cells of a fractal into one value, with your
// functions: sums, minima, histograms, the position of the largest.
//
//     typedef struct summing { const int *in; tmap_fold_to to; } summing;
//     static __device__ void add(void *job, void *sum, tmap_cell cell, const void *value) {
//         *(long long *)sum += *(const int *)value;
//     }
//     static __device__ void join(void *job, void *sum, const void *other) {
//         *(long long *)sum += *(const long long *)other;
//     }
//     __global__ void __launch_bounds__(512, 2) sum_cells(tmap_each_plan plan, summing j) {
//         const long long zero = 0;
//         const tmap_array in = {j.in, sizeof *j.in};
//         const tmap_fold fold = {&zero, sizeof zero, join};
//         tmap_each_fold(&plan, in, add, fold, j.to, 0);
//     }
//     ... tmap_each_plan_make(TMAP_EACH_FOLD, f, r, 0, (const void *)sum_cells, &plan);
//     ... j.to.workspace: tmap_each_fold_bytes(&plan, 8) bytes, cleared once; j.to.result: the sum
//     ... tmap_each_launch(&plan, &j, stream);
//
// The engine loads the elements, several at a time per lane: 16 bytes at once where the fractal's
// sides are powers of two and the matrix's rows begin at multiples of 16 bytes.
//
// An accumulator has 4 to 64 bytes, a multiple of 4. The workspace is device memory at a multiple
// of 16 bytes. Zero it once; any launches that run one after another can share it, shares of a plan
// included. Launches that overlap need one each. All adds into an accumulator come before its first
// join: `add` may count in the low 32 bits of a 64-bit accumulator, if one thread adds less than
// 2^32 to it, while `join` adds in 64 bits.
//
// Which cells a thread gets depends only on the plan, and values are joined in a fixed order: sums
// of floats have the same bits in every run of one plan.
#ifndef TMAP_FRACTAL_FOLD_H
#define TMAP_FRACTAL_FOLD_H

#include "../fold.h"
#include "each.h"

#if TMAP_CUDA

// Adds an element to a thread's accumulator. value: the element at the cell, of your type.
typedef void (*tmap_each_add)(void *job, void *accumulator, tmap_cell cell, const void *value);

// ---- the loops ----------------------------------------------------------------------------------

typedef struct tmapi_each_folding {
    const unsigned char *array;
    tmap_u32 size; // of an element
    tmap_each_add add;
    void *accumulator, *job;
} tmapi_each_folding;

TMAP_DEVICE void tmapi_each_fold_read(void *job, tmap_cell cell, void *value) {
    const tmapi_each_folding *fold = (const tmapi_each_folding *)job;
    tmapi_value_copy(value, fold->array + cell.at * fold->size, fold->size);
}

TMAP_DEVICE void tmapi_each_fold_use(void *job, tmap_cell cell, const void *value) {
    const tmapi_each_folding *fold = (const tmapi_each_folding *)job;
    fold->add(fold->job, fold->accumulator, cell, value);
}

// A group: `places` adjacent places in a row of a tile, at least one of them a cell.
typedef struct tmapi_each_fold_group {
    tmap_u32 offset; // in bytes, from the tile's corner
    tmap_u32 cells;  // row << 22 | first column << 16 | the cells, one bit each; 0: no group
} tmapi_each_fold_group;

// Groups per lane in flight.
#define TMAPI_EACH_FOLD_BATCH 4

// The block's shared memory: the rows of a tile, the number of groups in each run of 32 candidate
// positions, and the groups.
typedef struct tmapi_each_fold_table {
    tmap_u64 row[64];
    alignas(16) tmap_u32 count[128];
    tmapi_each_fold_group group[1];
} tmapi_each_fold_table;

// The sum of the first `end` <= 128 counts. Collective for a full warp.
TMAP_DEVICE tmap_u32 tmapi_each_fold_before(const tmap_u32 *count, tmap_u32 end) {
    tmap_u32 sum = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < 128; i += 32) {
        const tmap_u32 at = i + tmap_thread_rank() % 32;
        sum += at < end ? count[at] : 0;
    }
    return tmap_warp_sum_redux(tmap_warp_full(), sum);
}

// Lists the groups of a tile that hold a cell, row by row, and behind them the empty ones that a
// warp may read past the end. places: 1, 2, 4, 8 or 16. row_bytes: from one row to the next.
// Returns the number of groups with cells. Collective for the block.
TMAPI_DEVICE_CALL tmap_u32 tmapi_each_fold_groups(tmap_nbb f, tmap_u32 m, tmap_u32 places,
                                                  tmap_u32 row_bytes, tmap_u32 size,
                                                  tmapi_each_fold_table *table) {
    const tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z, rank = tmap_thread_rank();
    const tmap_u32 mask = (1u << places) - 1, across = 64 / places, chunks = 2 * across;
    const tmap_u32 lane = rank % 32, warps = threads / 32;
    tmap_u32 all = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 y = rank; y < 64; y += threads)
        table->row[y] = tmap_tile_row(f, m, y); // 0 past the tile
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 write = 0; write < 2; ++write) { // first counts, then groups
        TMAPI_NO_UNROLL
        for (tmap_u32 c = rank / 32; c < chunks && rank / 32 < warps; c += warps) {
            const tmap_u32 i = 32 * c + lane, y = i / across, x = i % across * places;
            const tmap_u32 cells = (tmap_u32)(table->row[y] >> x) & mask;
            const tmap_u32 found = __ballot_sync(0xffffffffu, cells != 0);
            if (write) {
                const tmap_u32 at = tmapi_each_fold_before(table->count, c) +
                                    (tmap_u32)__popc((int)(found & ((1u << lane) - 1)));
                if (!cells) continue;
                table->group[at].offset = y * row_bytes + x * size;
                table->group[at].cells = y << 22 | x << 16 | cells;
            } else if (lane == 0) {
                table->count[c] = (tmap_u32)__popc((int)found);
            }
        }
        __syncthreads();
    }
    if (rank / 32 < warps) {
        all = tmapi_each_fold_before(table->count, chunks);
        TMAPI_NO_UNROLL
        for (tmap_u32 i = rank; i < 32 * TMAPI_EACH_FOLD_BATCH; i += 32 * warps)
            table->group[all + i].cells = 0;
    }
    __syncthreads();
    return all;
}

// One warp per tile, one lane per group of `places` places (a constant), several groups in flight.
TMAP_DEVICE void tmapi_each_fold_tiles(const tmap_each_plan *plan, const tmapi_each_folding *fold,
                                       tmap_u32 places) {
    extern __shared__ uint4 tmapi_each_shared[];
    const tmap_u32 m = plan->tile_level, rank = tmap_thread_rank(), lane = rank % 32;
    const tmap_u32 width = tmapi_pow32(plan->f.sx, m), height = tmapi_pow32(plan->f.sy, m);
    tmapi_each_fold_table *table = (tmapi_each_fold_table *)tmapi_each_shared;
    const tmap_u32 count = tmapi_each_fold_groups(
        plan->f, m, places, (tmap_u32)plan->pitch * fold->size, fold->size, table);
    tmap_tiles tiles;
    if (rank / 32 >= tmapi_fold_warps()) return;
    tiles = tmap_tiles_begin(plan->f, plan->r, m);
    for (tmap_u64 t = plan->first + tiles.first; t < plan->first + plan->count; t += tiles.stride) {
        const tmap_xy tile = tmap_tiles_at(&tiles, plan->f, (tmap_u32)t);
        const tmap_cell corner = tmapi_each_cell(plan, tile.x * width, tile.y * height);
        const unsigned char *from = fold->array + corner.at * fold->size;
        for (tmap_u32 i = lane; i - lane < count; i += 32 * TMAPI_EACH_FOLD_BATCH) {
            tmapi_value value[TMAPI_EACH_FOLD_BATCH];
            tmap_u32 cells[TMAPI_EACH_FOLD_BATCH];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_FOLD_BATCH; ++j) {
                const tmapi_each_fold_group group = table->group[i + 32 * j];
                cells[j] = group.cells;
                if (cells[j]) tmapi_value_copy(&value[j], from + group.offset, places * fold->size);
            }
            __syncwarp(); // keeps reads and uses apart
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_FOLD_BATCH; ++j) {
                const tmap_u32 x = cells[j] >> 16 & 63, y = cells[j] >> 22;
                tmap_cell cell = tmapi_each_cell(plan, corner.x + x, corner.y + y);
#pragma unroll
                for (tmap_u32 c = 0; c < places; ++c, ++cell.x, ++cell.at)
                    if (cells[j] >> c & 1)
                        fold->add(fold->job, fold->accumulator, cell,
                                  value[j].bytes + c * fold->size);
            }
        }
    }
}

// The calling thread's part of tmap_each_fold: calls add for the thread's cells. accumulator:
// the thread's own variable, which begins with the zero. Groups of a tile have 16 bytes where
// these begin at multiples of 16 in every row, otherwise one place. A tile's bytes are counted
// in 32 bits.
TMAP_DEVICE void tmapi_each_fold_cells(const tmap_each_plan *plan, tmap_array array,
                                       tmap_each_add add, void *accumulator, void *job) {
    tmapi_each_folding fold = {(const unsigned char *)array.data, array.size, add, accumulator,
                               job};
    const tmapi_each_calls calls = {0, tmapi_each_fold_read, tmapi_each_fold_use, &fold, {0, 0}};
    if (plan->loop == TMAP_EACH_GROUPS && plan->pitch < (1u << 26) / array.size) {
        const tmap_u32 places = 16 / array.size, width = tmapi_pow32(plan->f.sx, plan->tile_level);
        if (width % places == 0 && plan->pitch % places == 0 &&
            ((tmap_u64)array.data + plan->offset * array.size) % 16 == 0)
            tmapi_each_fold_tiles(plan, &fold, places);
        else
            tmapi_each_fold_tiles(plan, &fold, 1);
    } else if (plan->loop == TMAP_EACH_ROWS) {
        tmapi_each_rows(plan, calls);
    } else if (plan->loop == TMAP_EACH_COMPACT) {
        tmapi_each_compact(plan, calls);
    } else {
        tmapi_each_linear(plan, calls);
    }
}

// ---- tmap_each_fold -----------------------------------------------------------------------------

// Calls add(job, accumulator, cell, &element) for every cell of the plan's share, joins the
// accumulators of all threads, and writes the result to *to.result. All threads of all blocks call
// it, in blocks of full warps and grids of one axis, and all return from it. array: elements of 1,
// 2, 4 or 8 bytes; data is the matrix's element 0, whatever plan->offset is. add: without barriers
// and collectives. fold, to: see ../fold.h; the workspace has tmap_each_fold_bytes(plan,
// fold.bytes) bytes, zeroed once, and each launch leaves it ready for the next. Another call in the
// kernel needs a __syncthreads() before it, and another workspace.
// Cost: bound by reading (gasket, r = 16: nine tenths of memory throughput). Registers: about 56;
// __launch_bounds__(512, 2) limits a kernel to 64.
// Example: gasket, r = 1, pitch 2, the elements 1 2 / 3 4: add gets 1, 3 and 4.
TMAP_DEVICE void tmap_each_fold(const tmap_each_plan *plan, tmap_array array, tmap_each_add add,
                                tmap_fold fold, tmap_fold_to to, void *job) {
    tmapi_fold_words accumulator;
    if (!tmapi_each_check(plan, array.size, "tmap_each_fold")) return;
    if (!TMAPI_CHECK(array.size <= 8, "tmap_each_fold", "elements have more than 8 bytes")) return;
    if (!tmapi_fold_check(fold, "tmap_each_fold")) return;
    tmapi_fold_move(&accumulator, fold.zero, fold.bytes);
    tmapi_each_fold_cells(plan, array, add, &accumulator, job);
    tmap_fold_grid(&accumulator, fold, to, job);
}

#endif // TMAP_CUDA

// Bytes of the workspace of tmap_each_fold for accumulators of `bytes` bytes: 16, with the counter
// of blocks, and one accumulator per block. The grid of a share is never larger, so the value for
// all items serves every share.
TMAP_FN tmap_u64 tmap_each_fold_bytes(const tmap_each_plan *plan, tmap_u32 bytes) {
    return 16 + (tmap_u64)plan->grid * bytes;
}

#endif
