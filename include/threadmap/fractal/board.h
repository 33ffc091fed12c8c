// SPDX-License-Identifier: MIT
// board.h: stencils on a board, a full matrix of any sides, whose axes may be periodic: a torus.
//
// A rule (stencil.h) computes an element's next value from its own and those of its eight
// neighbours. On a periodic axis the first and the last element are neighbours; on other axes
// places beyond an edge are no cells. The rules of tmap_each_stencil serve here unchanged:
//
//     __global__ void __launch_bounds__(512, 2) step_board(tmap_board_plan plan, heat h) {
//         const tmap_array in = {h.in, sizeof *h.in};
//         tmap_board_stencil(&plan, in, flow, h.out, &h);
//     }
//     ... const tmap_board board = {1000, 700, 0, TMAP_BOARD_PERIODIC_X};
//     ... tmap_board_plan_make(&board, (const void *)step_board, &plan);
//     ... tmap_board_launch(&plan, &h, stream);
//
// A warp takes a tile of 30 columns, and its first and its last lane the columns on both sides:
//
//     lane    0    1  2  3 ... 29 30    31
//     column  x-1  x  x+1 ...     x+29  x+30   of a periodic axis modulo the width
//
// It walks down the rows and keeps three; values to the left and right come from the lanes there.
// So no lane has a special case, whatever the width: a board of width 1 is its own neighbour.
#ifndef TMAP_FRACTAL_BOARD_H
#define TMAP_FRACTAL_BOARD_H

#include "stencil.h"

// ---- the plan -----------------------------------------------------------------------------------

// Axes whose ends are neighbours; a sum, or 0.
#define TMAP_BOARD_PERIODIC_X 1 // in a row: the first and the last column
#define TMAP_BOARD_PERIODIC_Y 2

// A board: the element of column x and row y is number y * pitch + x.
typedef struct tmap_board {
    tmap_u64 width, height; // columns and rows, 0 to 2^31 - 1
    tmap_u64 pitch;         // elements from one row to the next; 0: the width
    tmap_u32 periodic;      // TMAP_BOARD_PERIODIC_X, ...
} tmap_board;

#define TMAPI_BOARD_COLUMNS 30u // of a tile
#define TMAPI_BOARD_ROWS    32u // of a tile, at most
#define TMAPI_BOARD_BATCH   8u  // rows that are loaded together

// A plan, made for a board and a kernel.
typedef struct tmap_board_plan {
    tmap_u64 pitch, tiles;
    tmap_u32 width, height, periodic;
    tmap_u32 rows, columns; // rows of a tile; tiles side by side
    tmap_u32 grid, block;   // blocks, threads of a block
    const void *kernel;     // null unless the maker received one
} tmap_board_plan;

// Makes the plan of tmap_board_plan_make from facts (launch.h), without a call of CUDA. Returns
// TMAP_OK; TMAP_EINVAL and TMAP_ERANGE where that returns cudaErrorInvalidValue and
// cudaErrorInvalidConfiguration. Writes *out only on success.
TMAP_FN int tmap_board_plan_of(const tmap_board *board, const tmap_facts *facts,
                               tmap_board_plan *out) {
    tmap_board_plan p;
    tmap_u64 blocks;
    if (!board || !facts || !out || board->width >> 31 || board->height >> 31 ||
        (board->pitch && board->pitch < board->width) || board->periodic > 3)
        return TMAP_EINVAL;
    p.width = (tmap_u32)board->width, p.height = (tmap_u32)board->height;
    p.pitch = board->pitch ? board->pitch : board->width, p.periodic = board->periodic;
    if (tmap_mul_saturate(p.pitch, board->height) >> 60) return TMAP_ERANGE; // of 16 bytes
    p.columns = (p.width + TMAPI_BOARD_COLUMNS - 1) / TMAPI_BOARD_COLUMNS;
    // Lower tiles on a small board, so that each processor has some warps.
    for (p.rows = TMAPI_BOARD_ROWS;; p.rows /= 2) {
        p.tiles = (tmap_u64)p.columns * ((p.height + p.rows - 1) / p.rows);
        if (p.tiles >= 32ull * facts->device.processors || p.rows <= 8) break;
    }
    for (p.block = 256; p.block >= 32; p.block /= 2)
        if (tmap_resident_blocks(facts, p.block, 0)) break;
    if (p.block < 32) return TMAP_ERANGE;
    blocks = (p.tiles + p.block / 32 - 1) / (p.block / 32);
    p.grid = blocks < 0x7fffffff ? (tmap_u32)blocks : 0x7fffffffu;
    p.kernel = 0;
    *out = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// Makes the plan of a kernel on the current device. kernel: a __global__ function, cast to
// const void *, with the parameters (tmap_board_plan, JOB).
// Returns cudaErrorInvalidValue for a null pointer, a side above 2^31 - 1, a pitch below the width
// and unknown axes; cudaErrorInvalidConfiguration for a board of 2^60 elements or more and for a
// kernel whose block does not fit the device; otherwise a CUDA error. *out is written only on
// success. Cost: some calls of the CUDA runtime, which do not wait for the device.
static inline cudaError_t tmap_board_plan_make(const tmap_board *board, const void *kernel,
                                               tmap_board_plan *out) {
    tmap_facts facts;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmap_board_plan_of(board, &facts, out));
    if (!error) out->kernel = kernel;
    return error;
}

// Launches the plan's kernel. job: the address of its second parameter, your struct. The launch can
// be captured into a graph. A board without elements needs no launch.
// Returns cudaErrorInvalidValue for a null pointer and for a plan without a kernel, otherwise the
// launch's own error. It neither reports nor clears an error that an earlier call left.
static inline cudaError_t tmap_board_launch(const tmap_board_plan *plan, tmap_job job,
                                            cudaStream_t stream) {
    if (!plan || !plan->kernel || !job) return cudaErrorInvalidValue;
    if (!plan->tiles) return cudaSuccess;
    const tmapi_launch_shape shape = {plan->grid, plan->block, 0};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

#endif

#if TMAP_CUDA

// ---- a tile -------------------------------------------------------------------------------------

// A lane's column and its cells in a tile. row: the one that is loaded next. from: the element of
// that row and column, `column` that of row 0.
typedef struct tmapi_board_lane {
    tmapi_stencil_lane cells;
    const unsigned char *column, *from;
    tmap_u32 row;
} tmapi_board_lane;

// The lane of a tile. cell: receives its place in the tile's first row. Collective for the warp.
TMAP_DEVICE tmapi_board_lane tmapi_board_lane_make(const tmap_board_plan *plan,
                                                   const tmapi_stencil *s, tmap_u64 tile,
                                                   tmap_cell *cell) {
    const tmap_u32 lane = tmap_thread_rank() % 32, band = (tmap_u32)(tile / plan->columns);
    const tmap_u32 y = band * plan->rows, left = plan->height - y;
    const tmap_u32 rows = left < plan->rows ? left : plan->rows;
    tmap_u32 x = (tmap_u32)(tile % plan->columns) * TMAPI_BOARD_COLUMNS + lane - 1;
    const int own = lane - 1 < TMAPI_BOARD_COLUMNS && x < plan->width;
    const int around = plan->periodic & TMAP_BOARD_PERIODIC_Y;
    tmap_u64 bits = (1ull << rows) - 1;
    tmapi_board_lane l;
    if (plan->periodic & TMAP_BOARD_PERIODIC_X) // ~0u: the column before the first
        x = x == ~0u ? plan->width - 1 : x == plan->width ? 0 : x;
    l.cells.first = l.cells.last = 0;
    l.cells.own = own ? bits << 1 : 0;
    bits = bits << 1 | (y || around) | (tmap_u64)(left > rows || around) << (rows + 1);
    if (x >= plan->width) bits = x = 0;
    l.cells.here = bits;
    l.cells.west = __shfl_up_sync(0xffffffffu, bits, 1);
    l.cells.east = __shfl_down_sync(0xffffffffu, bits, 1);
    l.row = y ? y - 1 : plan->height - 1;
    l.column = s->in + (tmap_u64)x * s->size;
    l.from = l.column + l.row * plan->pitch * s->size;
    cell->x = x, cell->y = y, cell->at = y * plan->pitch + x;
    return l;
}

// Loads row j of a window and goes on to the next one.
TMAP_DEVICE void tmapi_board_load(const tmap_board_plan *plan, tmap_u32 size, tmapi_board_lane *l,
                                  tmapi_stencil_window w, tmap_u32 j, tmapi_stencil_row *to) {
    tmapi_stencil_row_load(l->from, size, &l->cells, w, j, to);
    l->from += plan->pitch * size;
    if (++l->row == plan->height) l->row = 0, l->from = l->column;
}

// Changes a value after it is loaded. Null: nothing is changed.
typedef void (*tmapi_board_change)(void *value);

// Takes the values left and right of a row. Collective for the warp.
TMAP_DEVICE void tmapi_board_share(tmap_u32 size, const tmapi_board_lane *l,
                                   tmapi_board_change change, tmapi_stencil_row *row) {
    if (change) change(&row->here);
    tmapi_stencil_row_share(size, &l->cells, row);
}

TMAP_DEVICE void tmapi_board_tile(const tmap_board_plan *plan, const tmapi_stencil *s,
                                  tmapi_board_change change, tmap_u64 tile) {
    const tmap_u32 size = s->size;
    tmap_cell cell;
    tmapi_board_lane l = tmapi_board_lane_make(plan, s, tile, &cell);
    unsigned char *to = s->out + cell.at * size;
    tmapi_stencil_row row[TMAPI_BOARD_BATCH + 2];
    tmapi_stencil_window w = tmapi_stencil_window_at(&l.cells, 0);
#pragma unroll
    for (tmap_u32 j = 0; j < 2; ++j) tmapi_board_load(plan, size, &l, w, j, &row[j]);
#pragma unroll
    for (tmap_u32 j = 0; j < 2; ++j) tmapi_board_share(size, &l, change, &row[j]);
    for (tmap_u32 y = 0; y < plan->rows; y += TMAPI_BOARD_BATCH) {
        w = tmapi_stencil_window_at(&l.cells, y);
#pragma unroll
        for (tmap_u32 j = 2; j < TMAPI_BOARD_BATCH + 2; ++j)
            tmapi_board_load(plan, size, &l, w, j, &row[j]);
        __syncwarp(); // keeps reads and stores apart
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_BOARD_BATCH; ++j) {
            tmapi_board_share(size, &l, change, &row[j + 2]);
            if (w.own >> (j + 1) & 1)
                tmapi_stencil_apply(s, w, j, cell, &row[j], &row[j + 1], &row[j + 2], to);
            ++cell.y, cell.at += plan->pitch, to += plan->pitch * size;
        }
        row[0] = row[TMAPI_BOARD_BATCH];
        row[1] = row[TMAPI_BOARD_BATCH + 1];
    }
}

TMAP_DEVICE void tmapi_board_run(const tmap_board_plan *plan, const tmapi_stencil *s,
                                 tmapi_board_change change) {
    const tmap_u32 warp = tmap_thread_rank() / 32, warps = tmapi_fold_warps();
    if (!TMAPI_CHECK(plan->rows - 1 < TMAPI_BOARD_ROWS, "tmap_board_stencil",
                     "no maker of plans has made the plan") ||
        !TMAPI_CHECK(tmapi_value_size_fits(s->size, 0), "tmap_board_stencil",
                     "elements do not have 1, 2, 4, 8 or 16 bytes"))
        return;
    if (warp >= warps) return;
    for (tmap_u64 tile = blockIdx.x * (tmap_u64)warps + warp; tile < plan->tiles;
         tile += gridDim.x * (tmap_u64)warps)
        tmapi_board_tile(plan, s, change, tile);
}

// ---- the call -----------------------------------------------------------------------------------

// Calls rule(job, cell, around, nine, next) once for every element of the board and writes *next to
// that element of `out`. All threads of all blocks call it, and all return from it. in, out:
// element 0 of the boards, with elements of 1, 2, 4, 8 or 16 bytes; they must not overlap. rule:
// see tmap_each_rule (compact_stencil.h); without barriers and collectives. `around` is 511 where
// no neighbour is beyond an edge.
// Cost: an element is loaded about 1.15 times, the second time mostly from a cache, stored once.
// Example: 3 x 1 elements, TMAP_BOARD_PERIODIC_X: at x = 0 the west is x = 2, and `around` has the
// bits of west, here and east.
TMAP_DEVICE void tmap_board_stencil(const tmap_board_plan *plan, tmap_array in, tmap_each_rule rule,
                                    void *out, void *job) {
    const tmapi_stencil s = {
        (const unsigned char *)in.data, (unsigned char *)out, in.size, rule, job, 0, 0};
    tmapi_board_run(plan, &s, 0);
}

#endif // TMAP_CUDA
#endif
