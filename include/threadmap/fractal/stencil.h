// SPDX-License-Identifier: MIT
// stencil.h: computes a cell's next value from its own and those of its eight neighbours, with your
// rule: heat, waves, automata with any number of states.
//
//     typedef struct heat { const float *in; float *out, rate; } heat;
//     static __device__ void flow(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
//                                 void *next) {
//         const float *v = (const float *)nine, here = v[TMAP_HERE];
//         float sum = 0;
//         for (int i = TMAP_NORTH; i <= TMAP_SOUTH; i += 2) // north, west, east, south
//             if (around >> i & 1) sum += v[i] - here;      // no flow to empty places
//         *(float *)next = here + ((heat *)job)->rate * sum;
//     }
//     __global__ void __launch_bounds__(512, 2) step_cells(tmap_each_plan plan, heat h) {
//         const tmap_array in = {h.in, sizeof *h.in};
//         tmap_each_stencil(&plan, in, flow, h.out, &h);
//     }
//     ... tmap_each_plan_make(TMAP_EACH_STENCIL, f, r, 0, (const void *)step_cells, &plan);
//     ... tmap_each_launch(&plan, &h, stream);
//
// In a matrix a warp walks down a tile with one lane per column and keeps three rows of
// values; a lane takes the values to its left and right from the neighbouring lanes. A value
// is loaded once for its tile, and once more for each other tile that it borders on. Compact
// storage: see compact_stencil.h. Full matrices of any sides, whose edges may meet: board.h.
#ifndef TMAP_FRACTAL_STENCIL_H
#define TMAP_FRACTAL_STENCIL_H

#include "each.h"

// The places around a cell in reading order: bits of `around`, and indices of `nine`.
enum {
    TMAP_NORTH_WEST,
    TMAP_NORTH,
    TMAP_NORTH_EAST,
    TMAP_WEST,
    TMAP_HERE,
    TMAP_EAST,
    TMAP_SOUTH_WEST,
    TMAP_SOUTH,
    TMAP_SOUTH_EAST
};

#if TMAP_CUDA

// ---- cell by cell, for plans whose loop is neither _COLUMNS nor _COMPACT ------------------------

// Short code for any plan. The loop over places is not unrolled and keeps values on the stack.
TMAP_DEVICE void tmapi_stencil_cell(const tmap_each_plan *plan, const tmapi_stencil *s,
                                    tmap_cell cell) {
    tmapi_stencil_nine nine;
    tmapi_value next;
    tmap_u32 around = 0;
#pragma unroll 1
    for (tmap_u32 i = 0; i < 9; ++i) {
        const tmap_u64 right = i % 3, down = i / 3; // one more than from the cell
        tmap_u64 at = cell.at + (down - 1) * plan->pitch + right - 1;
        const int inside =
            tmap_nbb_contains64(plan->f, cell.x + right - 1, cell.y + down - 1, plan->r);
        if (plan->pitch == TMAP_COMPACT)
            at = plan->offset +
                 tmap_nbb_nu_linear64(plan->f, cell.x + right - 1, cell.y + down - 1, plan->r);
        around |= (tmap_u32)inside << i;
        tmapi_value_zero(nine.bytes + i * s->size, s->size);
        if (inside) tmapi_value_copy(nine.bytes + i * s->size, s->in + at * s->size, s->size);
    }
    s->rule(s->job, cell, around, &nine, &next);
    if (!s->silent) tmapi_value_copy(s->out + cell.at * s->size, &next, s->size);
}

TMAP_DEVICE void tmapi_stencil_cells(const tmap_each_plan *plan, const tmapi_stencil *s) {
    const tmap_u64 threads = (tmap_u64)blockDim.x * blockDim.y * blockDim.z;
    const tmap_u64 of_item = tmapi_pow64(plan->f.k, plan->tile_level);
    const tmap_u64 end = (plan->first + plan->count) * of_item;
    const int by_rows = plan->loop == TMAP_EACH_ROWS;
    tmap_u64 i = plan->first * of_item + blockIdx.x * threads + tmap_thread_rank();
    tmap_rows rows;
    if (by_rows) rows = tmapi_each_rows_make(plan);
    for (; i < end; i += gridDim.x * threads) {
        tmap_cell cell;
        if (by_rows) {
            const tmap_row row = tmap_rows_seek(&rows, (tmap_u32)i);
            cell = tmapi_each_cell(plan, tmap_rows_x(&rows, &row, 0), row.y);
        } else {
            cell = tmapi_each_linear_cell(plan, i);
        }
        tmapi_stencil_cell(plan, s, cell);
    }
}

// ---- by tiles -----------------------------------------------------------------------------------

// The rows of a lane's band and the row on each side of it: bit i is row i - 1 of the band. west,
// here, east: the cells in the column to the left, in the lane's own, to the right. own: the cells
// of the band.
typedef struct tmapi_stencil_lane {
    tmap_u64 west, here, east, own;
    int first, last; // 1 in the first and the last column of a tile, next to another tile
} tmapi_stencil_lane;

// The bits of a tmapi_stencil_lane from some row on, as words. edge: the neighbours that no lane of
// this warp has.
typedef struct tmapi_stencil_window {
    tmap_u32 west, here, east, own, edge;
} tmapi_stencil_window;

TMAP_DEVICE tmapi_stencil_window tmapi_stencil_window_at(const tmapi_stencil_lane *lane,
                                                         tmap_u32 row) {
    const tmap_u64 nearby = lane->own | lane->own << 1 | lane->own >> 1;
    tmapi_stencil_window w;
    w.west = (tmap_u32)(lane->west >> row), w.here = (tmap_u32)(lane->here >> row);
    w.east = (tmap_u32)(lane->east >> row), w.own = (tmap_u32)(lane->own >> row);
    w.edge = (lane->first ? w.west : lane->last ? w.east : 0) & (tmap_u32)(nearby >> row);
    return w;
}

// The cells of a column, from the pattern of its rows in a tile. tiles & 1 is 1 if there is a tile
// above, tiles >> 3 & 1 if there is one here, tiles >> 6 & 1 if there is one below.
TMAP_DEVICE tmap_u64 tmapi_stencil_column(const tmapi_each_tile *t, tmap_u32 rows, tmap_u32 tiles) {
    const tmap_u64 own = tiles >> 3 & 1 ? (tmap_u64)rows << 1 : 0;
    const tmap_u64 above = tiles & rows >> (t->height - 1) & 1;
    const tmap_u64 below = (tmap_u64)(tiles >> 6 & rows & 1) << (t->height + 1);
    return (own | above | below) >> t->row;
}

// Loads a value, or zeros where there is no cell.
TMAP_DEVICE void tmapi_stencil_load(const unsigned char *from, tmap_u32 size, tmap_u32 cell,
                                    tmapi_value *value) {
    tmapi_value_zero(value, size);
    if (cell & 1) tmapi_value_copy(value, from, size);
}

// The values of a row: left, here and right. Before tmapi_stencil_row_share, west is the neighbour
// that lies in another tile, on either side.
typedef struct tmapi_stencil_row {
    tmapi_value west, here, east;
} tmapi_stencil_row;

// Loads row `row` of a window. from: the element in the lane's own column.
TMAP_DEVICE void tmapi_stencil_row_load(const unsigned char *from, tmap_u32 size,
                                        const tmapi_stencil_lane *lane, tmapi_stencil_window w,
                                        tmap_u32 row, tmapi_stencil_row *to) {
    tmapi_stencil_load(from, size, w.here >> row, &to->here);
    tmapi_stencil_load(lane->first ? from - size : from + size, size, w.edge >> row, &to->west);
}

// Takes the values left and right from the lanes that have them. Collective for the warp.
TMAP_DEVICE void tmapi_stencil_row_share(tmap_u32 size, const tmapi_stencil_lane *lane,
                                         tmapi_stencil_row *row) {
    const tmapi_value edge = row->west;
    tmapi_value left, right;
    tmapi_value_shuffle(&left, &row->here, size, 0);
    tmapi_value_shuffle(&right, &row->here, size, 1);
    tmapi_value_pick(&row->west, lane->first, &edge, &left, size);
    tmapi_value_pick(&row->east, lane->last, &edge, &right, size);
}

// Applies the rule to a cell, which is in row row + 1 of a window.
TMAP_DEVICE void tmapi_stencil_apply(const tmapi_stencil *s, tmapi_stencil_window w, tmap_u32 row,
                                     tmap_cell cell, const tmapi_stencil_row *north,
                                     const tmapi_stencil_row *here, const tmapi_stencil_row *south,
                                     unsigned char *to) {
    const tmap_u32 size = s->size;
    tmap_u32 around = 0;
    tmapi_stencil_nine nine;
    tmapi_value next;
#pragma unroll
    for (tmap_u32 i = 0; i < 3; ++i)
        around |= ((w.west >> (row + i) & 1) | (w.here >> (row + i) & 1) << 1 |
                   (w.east >> (row + i) & 1) << 2)
                  << 3 * i;
    tmapi_value_copy(nine.bytes + TMAP_NORTH_WEST * size, &north->west, size);
    tmapi_value_copy(nine.bytes + TMAP_NORTH * size, &north->here, size);
    tmapi_value_copy(nine.bytes + TMAP_NORTH_EAST * size, &north->east, size);
    tmapi_value_copy(nine.bytes + TMAP_WEST * size, &here->west, size);
    tmapi_value_copy(nine.bytes + TMAP_HERE * size, &here->here, size);
    tmapi_value_copy(nine.bytes + TMAP_EAST * size, &here->east, size);
    tmapi_value_copy(nine.bytes + TMAP_SOUTH_WEST * size, &south->west, size);
    tmapi_value_copy(nine.bytes + TMAP_SOUTH * size, &south->here, size);
    tmapi_value_copy(nine.bytes + TMAP_SOUTH_EAST * size, &south->east, size);
    s->rule(s->job, cell, around, &nine, &next);
    if (!s->silent) tmapi_value_copy(to, &next, size);
}

// Rows per batch.
#define TMAPI_STENCIL_BATCH 4

// Computes one tile. cell: the first place of this lane's band.
TMAP_DEVICE void tmapi_stencil_tile(const tmap_each_plan *plan, const tmapi_stencil *s,
                                    const tmapi_stencil_lane *lane, tmap_u32 rows, tmap_cell cell) {
    const tmap_u32 size = s->size;
    const tmap_u64 pitch = plan->pitch, step = pitch * size;
    const unsigned char *from = s->in + cell.at * size - step; // the row above
    unsigned char *to = s->out + cell.at * size;
    tmapi_stencil_row row[TMAPI_STENCIL_BATCH + 2];
    tmapi_stencil_window w = tmapi_stencil_window_at(lane, 0);
    if (plan->dense && !s->silent) {
        const tmap_u32 own = (tmap_u32)(lane->own >> 1);
        const unsigned char *place = to;
#pragma unroll 8
        for (tmap_u32 y = 0; y < rows; ++y, place += step)
            if (own >> y & 1) tmapi_compact_prefetch(place);
    }
#pragma unroll
    for (tmap_u32 j = 0; j < 2; ++j, from += step)
        tmapi_stencil_row_load(from, size, lane, w, j, &row[j]);
#pragma unroll
    for (tmap_u32 j = 0; j < 2; ++j) tmapi_stencil_row_share(size, lane, &row[j]);
    for (tmap_u32 y = 0; y < rows; y += TMAPI_STENCIL_BATCH) {
        w = tmapi_stencil_window_at(lane, y);
#pragma unroll
        for (tmap_u32 j = 2; j < TMAPI_STENCIL_BATCH + 2; ++j, from += step)
            tmapi_stencil_row_load(from, size, lane, w, j, &row[j]);
        __syncwarp(); // keeps reads and stores apart
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_STENCIL_BATCH; ++j, ++cell.y, cell.at += pitch, to += step) {
            tmapi_stencil_row_share(size, lane, &row[j + 2]);
            if (w.own >> (j + 1) & 1)
                tmapi_stencil_apply(s, w, j, cell, &row[j], &row[j + 1], &row[j + 2], to);
        }
        row[0] = row[TMAPI_STENCIL_BATCH];
        row[1] = row[TMAPI_STENCIL_BATCH + 1];
    }
}

// The lane's columns and borders, recomputed for each tile.
TMAP_DEVICE tmapi_stencil_lane tmapi_stencil_lane_make(tmapi_each_tile *t) {
    tmapi_stencil_lane lane;
    t->width = tmapi_again(t->width), t->height = tmapi_again(t->height);
    t->column = tmapi_again(t->column), t->row = tmapi_again(t->row);
    t->rows = tmapi_again(t->rows);
    t->cells = tmapi_again(t->cells), t->bits = tmapi_again(t->bits);
    lane.first = t->column == 0, lane.last = t->column == t->width - 1;
    lane.own = (tmap_u64)t->bits << 1;
    lane.west = lane.here = lane.east = 0;
    return lane;
}

TMAP_DEVICE void tmapi_stencil_tiles(const tmap_each_plan *plan, const tmapi_stencil *s) {
    const tmap_u32 m = plan->tile_level, rank = tmap_thread_rank();
    tmapi_each_tile t;
    tmap_u32 west, east, cells_west, cells_east;
    tmap_u64 read;
    if (rank / 32 >= tmapi_fold_warps()) return;
    t = tmapi_each_tile_begin(plan);
    west = t.column == 0 ? rank + t.width - 1 : rank - 1;
    east = t.column == t.width - 1 ? rank + 1 - t.width : rank + 1;
    cells_west = __shfl_sync(0xffffffffu, t.cells, (int)(west & 31));
    cells_east = __shfl_sync(0xffffffffu, t.cells, (int)(east & 31));
    // This lane reads the rows at or next to its own cells or those of an adjacent lane.
    read =
        t.bits | __shfl_up_sync(0xffffffffu, t.bits, 1) | __shfl_down_sync(0xffffffffu, t.bits, 1);
    read = read | read << 1 | read << 2;
    for (tmap_u64 i = plan->first + t.tiles.first; i < plan->first + plan->count;
         i += t.tiles.stride) {
        const tmap_u32 lane = tmapi_again(rank) % 32;
        const tmap_xy tile = tmap_tiles_at(&t.tiles, plan->f, (tmap_u32)i);
        // Lane p tests tile p of the nine here, in reading order; a coordinate of -1 is outside.
        const tmap_u32 nine = __ballot_sync(
            0xffffffffu, lane < 9 && tmap_nbb_contains(plan->f, tile.x + lane % 3 - 1,
                                                       tile.y + lane / 3 - 1, plan->r - m));
        tmapi_stencil_lane l = tmapi_stencil_lane_make(&t);
        l.west = tmapi_stencil_column(&t, tmapi_again(cells_west), nine >> (l.first ? 0 : 1));
        l.here = tmapi_stencil_column(&t, t.cells, nine >> 1) & read;
        l.east = tmapi_stencil_column(&t, tmapi_again(cells_east), nine >> (l.last ? 2 : 1));
        tmapi_stencil_tile(
            plan, s, &l, t.rows,
            tmapi_each_cell(plan, tile.x * t.width + t.column, tile.y * t.height + t.row));
    }
}

// ---- in compact storage -------------------------------------------------------------------------

TMAP_DEVICE tmapi_compact_block tmapi_stencil_block_make(const tmap_each_plan *plan,
                                                         const tmapi_stencil *s,
                                                         unsigned char *shared) {
    tmapi_compact_block b;
    b.shared = shared;
    b.cells = tmapi_pow32(plan->f.k, plan->tile_level), b.deep = tmapi_compact_deep(s->size);
    b.threads = blockDim.x * blockDim.y * blockDim.z, b.rank = tmap_thread_rank();
    b.tiles = b.threads / b.cells < plan->chunk ? b.threads / b.cells : plan->chunk;
    b.halo = b.tiles * plan->halo, b.step = b.tiles * b.deep, b.row = b.tiles * b.cells;
    b.row_inverse = tmapi_compact_inverse(b.row);
    b.at = tmapi_compact_shared_at(plan->f, b.cells, b.tiles, plan->halo, s->size, s->words);
    b.lookup = (tmapi_compact_lookup *)(shared + b.at.lookup);
    return b;
}

// Returns 0, with nothing done, where a block has no tiles, and for words with a plan for cells.
TMAP_DEVICE int tmapi_stencil_compact(const tmap_each_plan *plan, const tmapi_stencil *s) {
    extern __shared__ uint4 tmapi_each_shared[];
    const tmapi_compact_block b =
        tmapi_stencil_block_make(plan, s, (unsigned char *)tmapi_each_shared);
    // Each block takes an equal share of the tiles, whose numbers are below 2^32.
    const tmap_u32 share = (tmap_u32)plan->count / gridDim.x;
    const tmap_u32 more = (tmap_u32)plan->count - share * gridDim.x;
    const tmap_u32 first = blockIdx.x * share + (blockIdx.x < more ? blockIdx.x : more);
    const tmap_u32 step_bytes = b.step * b.cells * s->size; // a multiple of 16
    // Three steps are in progress, of `left`, `next` and `then` tiles: the rule is applied to the
    // first, the values of the next are copied, from `from` on, and a table is made for the third,
    // from tile `tile` on.
    tmap_u32 left = 0, next = 0, then, rest = share + (blockIdx.x < more), buffer = 0;
    tmap_u32 tile = (tmap_u32)plan->first + first, values;
    const unsigned char *from = s->in + (plan->offset + (tmap_u64)tile * b.cells) * s->size;
    tmap_u64 at = plan->offset + (tmap_u64)tile * b.cells + b.rank;
    unsigned char *t0 = b.shared + b.at.table, *t1 = t0 + b.at.table_bytes;
    unsigned char *t2 = t1 + b.at.table_bytes;
    tmapi_compact_lane lane;
    if (b.tiles == 0 || (s->words && !plan->word.bytes)) return 0;
    tmapi_compact_block_begin(&b, &plan->f, s->size);
    __syncthreads();
    values = 16 + ((tmap_u32)(tmap_u64)from & 15);
    if (b.rank < b.row) lane = tmapi_compact_lane_make(&b, plan->tile_level, s->size, values);
    then = rest < b.step ? rest : b.step, rest -= then;
    while (left | next | then) {
        unsigned char *t = t0;
        tmapi_async_wait_all();
        __syncthreads();
        if (next) {
            unsigned char *to = b.shared + (buffer ^ 1) * b.at.buffer;
            tmapi_compact_fetch(s, &b, plan->offset, plan->items, next, from, to + values);
            tmapi_compact_halo_fetch(s, &b, &plan->word, plan->offset, t1, to + b.at.halo_values);
            from += step_bytes;
        }
        if (then) tmapi_compact_table(s, &b, plan->f, plan->r, plan->tile_level, tile, then, t2);
        if (left) {
            if (b.rank < b.row)
                tmapi_compact_apply(s, &b, &lane, left, at,
                                    b.shared + buffer * b.at.buffer + values, t0);
            at += b.step * b.cells;
        }
        t0 = t1, t1 = t2, t2 = t;
        left = next, next = then, tile += b.step, buffer ^= 1;
        then = rest < b.step ? rest : b.step, rest -= then;
    }
    return 1;
}

// By the plan's loop; cell by cell where the plan is not for stencils.
TMAP_DEVICE void tmapi_stencil_run(const tmap_each_plan *plan, const tmapi_stencil *s) {
    if (plan->loop == TMAP_EACH_COLUMNS)
        tmapi_stencil_tiles(plan, s);
    else if (plan->loop != TMAP_EACH_COMPACT || !tmapi_stencil_compact(plan, s))
        tmapi_stencil_cells(plan, s);
}

// ---- the calls ----------------------------------------------------------------------------------

// Calls rule(job, cell, around, nine, next) once for every cell of the plan's share and writes
// *next to the cell's element of `out`. Places that are no cells are neither read nor written. All
// threads of all blocks call it, and all return from it. in, out: element 0 of the matrices (of
// compact storage: of the states), with elements of 1, 2, 4, 8 or 16 bytes; they must not overlap.
// rule: see tmap_each_rule; without barriers and collectives. Another call in the kernel needs a
// __syncthreads() before it.
// Cost: with floats two to three times what memory takes to read one state and write the other;
// with plans for other work a membership test for each neighbour. Registers: about 72 with floats
// and four neighbours, which fit the 64 of __launch_bounds__(512, 2); values of 8 bytes take more.
// Example: gasket, r = 1: at (0,1) `around` has the bits of north, here and east.
TMAP_DEVICE void tmap_each_stencil(const tmap_each_plan *plan, tmap_array in, tmap_each_rule rule,
                                   void *out, void *job) {
    const tmapi_stencil s = {
        (const unsigned char *)in.data, (unsigned char *)out, in.size, rule, job, 0, 0};
    if (tmapi_each_check(plan, in.size, "tmap_each_stencil")) tmapi_stencil_run(plan, &s);
}

// Does the work of tmap_each_stencil for words of one bit per cell (compact.h), all cells of a word
// at once, with a plan for TMAP_EACH_WORDS. A rule computes one word from nine:
//     static __device__ void rule(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
//                                 void *next) { // places that are no cells have zeros
//         const tmap_u32 *v = (const tmap_u32 *)nine;
//         *(tmap_u32 *)next = v[TMAP_HERE] | v[TMAP_NORTH] | v[TMAP_SOUTH]; // of 27 cells
//     }
// cell: the cell of sheet 0; cell.at: the word. `around` is meaningless, because the cells of a
// word differ in it. The rule leaves idle bits 0: those from plan.word.cells on. in.size:
// plan.word.bytes, a constant: 2, 4 or 8. With a plan for other work, and in a block with fewer
// threads than a tile has cells, the launch ends with cudaErrorLaunchFailure. Otherwise as
// tmap_each_stencil.
TMAP_DEVICE void tmap_each_stencil_words(const tmap_each_plan *plan, tmap_array in,
                                         tmap_each_rule rule, void *out, void *job) {
    const tmapi_stencil s = {
        (const unsigned char *)in.data, (unsigned char *)out, in.size, rule, job, 1, 0};
    if (!tmapi_each_made(plan, "tmap_each_stencil_words") ||
        !TMAPI_CHECK(!plan->word.bytes || in.size == plan->word.bytes, "tmap_each_stencil_words",
                     "in.size is not the plan's"))
        return;
    if (!tmapi_stencil_compact(plan, &s)) tmapi_refuse("tmap_each_stencil_words");
}

#endif // TMAP_CUDA

#endif
