// SPDX-License-Identifier: MIT
// each3.h: calls your device functions for every cell of a fractal in three dimensions (nbb3.h), or
// with turned copies (turned.h).
//
//     typedef struct paint { int *out; int colour; } paint;
//     static __device__ void dab(void *job, tmap_cell3 cell) {
//         paint *p = (paint *)job;
//         p->out[cell.at] = p->colour;
//     }
//     __global__ void __launch_bounds__(512, 2) paint_cells(tmap_each3_plan plan, paint p) {
//         tmap_each3(&plan, dab, &p);
//     }
//     const tmap_pitch3 tight = {0, 0};
//     const tmap_turned t = tmap_turned_plain(f);
//     ... tmap_each3_plan_make(TMAP_EACH_VISIT, t, r, tight, (const void *)paint_cells, &plan);
//     ... tmap_each3_launch(&plan, &p, stream);
//
// The fractal of level r lies in a volume whose rows are pitch.row elements apart and whose planes
// are pitch.plane elements apart, or in compact storage: pitch.row is TMAP_COMPACT, and element i
// is cell tmap_nbb3_lambda_linear(i), or tmap_turned_lambda_linear(i) with turned copies. The host
// makes a plan once (each3_plan.h), for one kind of work, fractal, level, pitch and kernel, and
// passes it to the kernel by value. The kernel makes one call, or several with a __syncthreads()
// between each two, because all use the same shared memory:
//
//     tmap_each3          TMAP_EACH_VISIT    a visitor at every cell; for kernels that only store
//     tmap_each3_update   TMAP_EACH_UPDATE   reads, and then uses or writes; faster where a kernel
//                                            reads memory
//     tmap_each3_fold     TMAP_EACH_FOLD     folds all cells into one value
//     tmap_each3_stencil  TMAP_EACH_STENCIL  a cell from its 26 neighbours (stencil3.h)
//     tmap_each3_words    TMAP_EACH_WORDS    the same, one bit per cell
//
// With turned copies call tmap_each3_turned, tmap_each3_update_turned and tmap_each3_fold_turned,
// which take more registers; the first three end the launch with cudaErrorLaunchFailure.
//
// The first three have the same plans. The last call needs a plan for words, and plans for words
// are for it alone. Every other call is right with any other plan, but a stencil is slow with one
// that is not for stencils.
//
// Up to 2^18 cells a thread takes a cell. Otherwise a tile is the fractal of level m, at most 32
// places wide, high and deep. A block lists the places of a tile in shared memory, row by row, so
// that neighbouring lanes access neighbouring memory. A warp takes a part of this list through a
// line of up to 32 tiles along x, which is a row of the fractal of level h: a word of bits says
// which of them exist. So a warp goes along whole rows of memory. In compact storage a tile is
// contiguous, and a warp takes one after another; its lanes find the places of 32 tiles at a time.
//
// Cost: about 15 instructions for a cell, 10 in compact storage, and for each launch the list: k^m
// cells, divided among the threads of a block. Registers: about 50 with a visitor that stores a
// number.
#ifndef TMAP_FRACTAL_EACH3_H
#define TMAP_FRACTAL_EACH3_H

#include "../fold.h"
#include "each3_plan.h"

// Bytes of the workspace of tmap_each3_fold for accumulators of `bytes` bytes. The grid of a share
// is never larger, so the value for all items serves every share.
TMAP_FN tmap_u64 tmap_each3_fold_bytes(const tmap_each3_plan *plan, tmap_u32 bytes) {
    return 16 + (tmap_u64)plan->grid * bytes;
}

// ---- the loop -----------------------------------------------------------------------------------

#if TMAP_CUDA

// The visitor of tmap_each3: work at one cell.
typedef void (*tmap_each3_visit)(void *job, tmap_cell3 cell);
// The first step of tmap_each3_update: reads what the cell needs into *value, up to 16 bytes.
typedef void (*tmap_each3_read)(void *job, tmap_cell3 cell, void *value);
// The second step of tmap_each3_update: uses *value, and may write.
typedef void (*tmap_each3_use)(void *job, tmap_cell3 cell, const void *value);
// Adds an element to a thread's accumulator. value: the element at the cell, of your type.
typedef void (*tmap_each3_add)(void *job, void *accumulator, tmap_cell3 cell, const void *value);

// The functions of a walk: `visit` alone, or `read` and `use`; the others are null.
// turned: 1: of a call for turned copies. compact: 1: in compact storage. Both are constants.
typedef struct tmapi_each3_calls {
    tmap_each3_visit visit;
    tmap_each3_read read;
    tmap_each3_use use;
    void *job;
    int turned, compact;
} tmapi_each3_calls;

// Cells per lane in flight.
#define TMAPI_EACH3_BATCH 8

// A place of a tile, packed: x in bits 0 to 4, y in 5 to 9, z in 10 to 14.
TMAP_DEVICE tmap_u32 tmapi_each3_pack(tmap_xyz p) { return p.x | p.y << 5 | p.z << 10; }

// The bits of the rows of a tile of level m: bit x of bits[z * height + y] for place (x, y, z).
// patterns: those of level 1, z * 4 + y. Threads take rows.
TMAP_DEVICE void tmapi_each3_rows(tmap_nbb3 f, tmap_u32 m, const unsigned char *patterns,
                                  tmap_u32 *bits) {
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 height = tmapi_pow32(f.sy, m), rows = height * tmapi_pow32(f.sz, m);
    const tmap_u32 by_y = 65535 / f.sy + 1, by_z = 65535 / f.sz + 1;
    TMAPI_NO_UNROLL
    for (tmap_u32 row = rank; row < rows; row += threads) {
        tmap_u32 z = row / height, y = row - z * height, side = 1, line = 1;
        TMAPI_NO_UNROLL
        for (tmap_u32 level = 0; level < m && line; ++level, side *= f.sx) {
            // y and z are below 2^5: the quotients are exact
            const tmap_u32 y_up = y * by_y >> 16, z_up = z * by_z >> 16;
            const tmap_u32 pattern = patterns[(z - z_up * f.sz) * 4 + (y - y_up * f.sy)];
            tmap_u32 next = 0;
#pragma unroll
            for (tmap_u32 x = 0; x < TMAP_SIDE3_MAX; ++x)
                if (pattern >> x & 1) next |= line << x * side;
            line = next, y = y_up, z = z_up;
        }
        bits[row] = line;
    }
}

// The fractal of a plan, with its turns.
TMAP_DEVICE tmap_turned tmapi_each3_turned(const tmap_each3_plan *plan) {
    return tmap_turned_make(plan->f, plan->turn_a, plan->turn_b, plan->turn_c);
}

// Cell i of the fractal of level m, with a multiplication in place of each division. low: a
// constant: 1 for i < 2^27, which takes fewer instructions.
TMAP_DEVICE tmap_xyz tmapi_each3_lambda(const tmap_each3_plan *plan, tmap_u32 i, tmap_u32 m,
                                        int turned, int low) {
    tmap_xyz cell = {0, 0, 0}, side = {1, 1, 1};
    if (turned) return tmap_turned_lambda_linear(tmapi_each3_turned(plan), i, m);
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < m; ++level) {
        const tmap_u32 rest = low ? tmapi_compact_divide_small(i, plan->inverse)
                                  : tmapi_compact_divide(i, plan->f.k, plan->inverse);
        const tmap_xyz tau = tmap_nbb3_tau(plan->f, i - rest * plan->f.k);
        i = rest;
        cell.x += tau.x * side.x, side.x *= plan->f.sx;
        cell.y += tau.y * side.y, side.y *= plan->f.sy;
        cell.z += tau.z * side.z, side.z *= plan->f.sz;
    }
    return cell;
}

// tmapi_each3_rows where copies are turned: cell by cell. Collective for the block.
TMAP_DEVICE void tmapi_each3_turned_rows(const tmap_each3_plan *plan, tmap_u32 *bits) {
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    TMAPI_NO_UNROLL
    for (tmap_u32 row = rank; row < plan->tile.y * plan->tile.z; row += threads) bits[row] = 0;
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < plan->cells; i += threads) {
        const tmap_xyz p = tmapi_each3_lambda(plan, i, plan->tile_level, 1, 1);
        atomicOr(&bits[p.z * plan->tile.y + p.y], 1u << p.x);
    }
}

// The number of cells in the rows before one, for each of a block's threads in turn. Collective for
// the block, with barriers; sums: 33 words of shared memory.
TMAP_DEVICE tmap_u32 tmapi_each3_before(tmap_u32 own, tmap_u32 *sums) {
    const tmap_u32 rank = tmap_thread_rank(), lane = rank % 32, warp = rank / 32;
    tmap_u32 sum = tmapi_warp_scan(lane, own);
    __syncthreads(); // sums of the turn before are read
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    sum -= own;
    TMAPI_NO_UNROLL
    for (tmap_u32 w = 0; w < warp; ++w) sum += sums[w];
    return sum;
}

// What a block has in shared memory: the tiles of each line, one bit each, and the places of a
// tile.
typedef struct tmapi_each3_list {
    tmap_u32 *lines;
    unsigned short *places;
} tmapi_each3_list;

// Lists the places of a tile: row by row for a volume, in linear order for compact storage.
// Collective for the block, which has full warps.
TMAP_DEVICE tmapi_each3_list tmapi_each3_list_make(const tmap_each3_plan *plan,
                                                   const tmapi_each3_calls *calls) {
    extern __shared__ uint4 tmapi_each3_shared[];
    __shared__ unsigned char patterns[4 * TMAP_SIDE3_MAX];
    __shared__ tmap_u32 sums[33];
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 m = plan->tile_level, height = plan->tile.y, rows = height * plan->tile.z;
    tmap_u32 *lines = (tmap_u32 *)tmapi_each3_shared, *bits = lines + plan->lines, start = 0;
    const tmapi_each3_list list = {lines, (unsigned short *)(bits + rows)};
    if (calls->compact) {
        TMAPI_NO_UNROLL
        for (tmap_u32 i = rank; i < plan->cells; i += threads)
            list.places[i] =
                (unsigned short)tmapi_each3_pack(tmapi_each3_lambda(plan, i, m, calls->turned, 1));
        __syncthreads();
        return list;
    }
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < 4 * TMAP_SIDE3_MAX; i += threads) {
        tmap_u32 pattern = 0;
        TMAPI_NO_UNROLL
        for (tmap_u32 beta = 0; beta < plan->f.k; ++beta) {
            const tmap_xyz t = tmap_nbb3_tau(plan->f, beta);
            if (t.z * 4 + t.y == i) pattern |= 1u << t.x;
        }
        patterns[i] = (unsigned char)pattern;
    }
    __syncthreads();
    tmapi_each3_rows(plan->f, plan->line_level, patterns, lines);
    if (calls->turned)
        tmapi_each3_turned_rows(plan, bits);
    else
        tmapi_each3_rows(plan->f, m, patterns, bits);
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 first = 0; first < rows; first += threads) {
        const tmap_u32 row = first + rank, z = row / height, y = row - z * height;
        tmap_u32 line = row < rows ? bits[row] : 0;
        const tmap_u32 cells = (tmap_u32)__popc((int)line);
        tmap_u32 at = start + tmapi_each3_before(cells, sums);
        TMAPI_NO_UNROLL
        for (; line; line &= line - 1) {
            const tmap_xyz p = {(tmap_u32)__ffs((int)line) - 1, y, z};
            list.places[at++] = (unsigned short)tmapi_each3_pack(p);
        }
        if (rank == threads - 1) sums[32] = at;
        __syncthreads();
        start = sums[32];
    }
    __syncthreads();
    return list;
}

// A tile or a box of lines of tiles: its first place, and that place's element; in compact storage
// the element of its first cell.
typedef struct tmapi_each3_tile {
    tmap_xyz corner;
    tmap_u64 at;
    tmap_u32 element; // how the tile is turned: one of tmap_turned_apply
} tmapi_each3_tile;

// Tile number `number`, in a plan without lines, or that box of lines.
TMAP_DEVICE tmapi_each3_tile tmapi_each3_tile_at(const tmap_each3_plan *plan, tmap_u32 number,
                                                 int turned) {
    const tmap_u32 levels = plan->r - plan->tile_level - plan->line_level;
    tmapi_each3_tile t;
    t.element = 0;
    if (turned)
        t.corner = tmap_turned_tile(tmapi_each3_turned(plan), number, levels, &t.element);
    else
        t.corner = tmapi_each3_lambda(plan, number, levels, 0, 0);
    t.corner.x *= plan->box.x, t.corner.y *= plan->box.y, t.corner.z *= plan->box.z;
    t.at = plan->offset;
    if (plan->pitch.row == TMAP_COMPACT)
        t.at += (tmap_u64)number * plan->cells;
    else
        t.at += t.corner.x + t.corner.y * plan->pitch.row + t.corner.z * plan->pitch.plane;
    return t;
}

// The first tile place of line `line` of a box of lines.
TMAP_DEVICE tmapi_each3_tile tmapi_each3_line_at(const tmap_each3_plan *plan, tmap_u32 box,
                                                 tmap_u32 line, int turned) {
    const tmap_u32 across = plan->box.y / plan->tile.y, z = line / across, y = line - z * across;
    const tmap_u32 down = y * plan->tile.y, deep = z * plan->tile.z;
    tmapi_each3_tile t = tmapi_each3_tile_at(plan, box, turned);
    t.corner.y += down, t.corner.z += deep;
    if (plan->line_level) t.at += down * plan->pitch.row + deep * plan->pitch.plane;
    return t;
}

// Cell i of a tile, which is place p of it before it is turned.
TMAP_DEVICE tmap_cell3 tmapi_each3_cell_at(const tmap_each3_plan *plan, const tmapi_each3_tile *t,
                                           tmap_xyz p, tmap_u32 i, const tmapi_each3_calls *calls) {
    tmap_cell3 cell;
    if (calls->turned) {
        const tmap_xyz last = {plan->tile.x - 1, plan->tile.y - 1, plan->tile.z - 1};
        p = tmap_turned_apply(t->element, p, last);
    }
    cell.x = t->corner.x + p.x, cell.y = t->corner.y + p.y, cell.z = t->corner.z + p.z;
    cell.at = t->at;
    if (calls->compact)
        cell.at += i;
    else
        cell.at += p.x + p.y * plan->pitch.row + p.z * plan->pitch.plane;
    return cell;
}

// The same for cell i of the list.
TMAP_DEVICE tmap_cell3 tmapi_each3_cell(const tmap_each3_plan *plan, const tmapi_each3_tile *t,
                                        const unsigned short *places, tmap_u32 i,
                                        const tmapi_each3_calls *calls) {
    const tmap_u32 packed = places[i];
    const tmap_xyz p = {packed & 31, packed >> 5 & 31, packed >> 10};
    return tmapi_each3_cell_at(plan, t, p, i, calls);
}

// The number of the bit of `bits` that has n others below it; 31 if there is none.
TMAP_DEVICE tmap_u32 tmapi_each3_bit(tmap_u32 bits, tmap_u32 n) {
    tmap_u32 at = 0;
#pragma unroll
    for (tmap_u32 step = 16; step; step /= 2)
        if ((tmap_u32)__popc((int)(bits & ((1u << (at + step)) - 1))) <= n) at += step;
    return at;
}

// 1 if a plan maker made the plan.
TMAP_DEVICE int tmapi_each3_made(const tmap_each3_plan *plan, const char *function) {
    const int made = plan->items && plan->first <= plan->items &&
                     plan->count <= plan->items - plan->first && plan->parts;
    return TMAPI_CHECK(made, function, "no maker of plans has made the plan");
}

// 1 if a plan maker made the plan, for cells. size: of an element; 1 where it is unknown. turned:
// 1: the call serves turned copies; another refuses their plans.
TMAP_DEVICE int tmapi_each3_check(const tmap_each3_plan *plan, tmap_u32 size, const char *function,
                                  int turned) {
    const int right =
        tmapi_each3_made(plan, function) &&
        TMAPI_CHECK(!plan->word.bytes, function, "the plan is for words of one bit per cell") &&
        TMAPI_CHECK(tmapi_value_size_fits(size, 0), function,
                    "elements do not have 1, 2, 4, 8 or 16 bytes");
    if (right && plan->turned && !turned) tmapi_refuse(function);
    return right;
}

// The second step at a cell, or the only one.
TMAP_DEVICE void tmapi_each3_second(tmapi_each3_calls calls, tmap_cell3 cell, const void *value) {
    if (calls.visit)
        calls.visit(calls.job, cell);
    else
        calls.use(calls.job, cell, value);
}

// The same cell of another tile of a line.
TMAP_DEVICE tmap_cell3 tmapi_each3_beside(tmap_cell3 cell, tmap_u32 right) {
    cell.x += right, cell.at += right;
    return cell;
}

// The cells of the list from `begin` to `stop` in a line of several tiles: 32 cells of the list,
// tile after tile, then the next 32. Collective for a full warp: each lane keeps where one of the
// tiles is.
TMAP_DEVICE void tmapi_each3_along(const tmap_each3_plan *plan, const tmapi_each3_calls *calls,
                                   const tmapi_each3_tile *t, const unsigned short *places,
                                   tmap_u32 begin, tmap_u32 stop, tmap_u32 tiles) {
    const tmap_u32 lane = tmap_thread_rank() % 32, count = (tmap_u32)__popc((int)tiles);
    const tmap_u32 rights = tmapi_each3_bit(tiles, lane) * plan->tile.x;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = begin + lane; i - lane < stop; i += 32) {
        const int own = i < stop;
        const tmap_cell3 cell = tmapi_each3_cell(plan, t, places, own ? i : begin, calls);
        TMAPI_NO_UNROLL
        for (tmap_u32 first = 0; first < count; first += TMAPI_EACH3_BATCH) {
            tmapi_value value[TMAPI_EACH3_BATCH];
            tmap_u32 right[TMAPI_EACH3_BATCH];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH3_BATCH; ++j)
                right[j] = __shfl_sync(0xffffffffu, rights, first + j);
            if (calls->read) {
#pragma unroll
                for (tmap_u32 j = 0; j < TMAPI_EACH3_BATCH; ++j)
                    if (own && first + j < count)
                        calls->read(calls->job, tmapi_each3_beside(cell, right[j]), &value[j]);
                __syncwarp(); // keeps reads and uses apart
            }
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH3_BATCH; ++j)
                if (own && first + j < count)
                    tmapi_each3_second(*calls, tmapi_each3_beside(cell, right[j]), &value[j]);
        }
    }
}

// The same cells of one tile.
TMAP_DEVICE void tmapi_each3_down(const tmap_each3_plan *plan, const tmapi_each3_calls *calls,
                                  const tmapi_each3_tile *t, const unsigned short *places,
                                  tmap_u32 begin, tmap_u32 stop) {
    const tmap_u32 lane = tmap_thread_rank() % 32;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = begin + lane; i - lane < stop; i += 32 * TMAPI_EACH3_BATCH) {
        tmapi_value value[TMAPI_EACH3_BATCH];
        if (calls->read) {
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH3_BATCH; ++j)
                if (i + 32 * j < stop)
                    calls->read(calls->job, tmapi_each3_cell(plan, t, places, i + 32 * j, calls),
                                &value[j]);
            __syncwarp(); // keeps reads and uses apart
        }
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_EACH3_BATCH; ++j)
            if (i + 32 * j < stop)
                tmapi_each3_second(*calls, tmapi_each3_cell(plan, t, places, i + 32 * j, calls),
                                   &value[j]);
    }
}

// In a line of fewer tiles a warp goes through the list of each one.
#define TMAPI_EACH3_FEW 4

// A thread takes a cell: for few cells.
TMAP_DEVICE void tmapi_each3_linear(const tmap_each3_plan *plan, const tmapi_each3_calls *calls) {
    const tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 first = (tmap_u32)plan->first, end = first + (tmap_u32)plan->count;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = first + blockIdx.x * threads + tmap_thread_rank(); i < end;
         i += gridDim.x * threads) {
        const tmap_xyz p = tmapi_each3_lambda(plan, i, plan->r, calls->turned, 1);
        tmap_cell3 cell = {p.x, p.y, p.z, plan->offset};
        if (plan->pitch.row == TMAP_COMPACT)
            cell.at += i;
        else
            cell.at += p.x + p.y * plan->pitch.row + p.z * plan->pitch.plane;
        tmapi_value value;
        if (calls->read) calls->read(calls->job, cell, &value);
        tmapi_each3_second(*calls, cell, &value);
    }
}

// A warp's part of the items: first, first + stride, ... below end.
typedef struct tmapi_each3_part {
    tmap_u64 first, stride, end;
} tmapi_each3_part;

// The line, or the tile, that an item is a part of.
TMAP_DEVICE tmap_u64 tmapi_each3_line_of(const tmap_each3_plan *plan, tmap_u64 item) {
    return item >> 32 ? item / plan->parts : (tmap_u32)item / plan->parts;
}

// Compact storage: a warp takes a tile, whose elements are contiguous, or a part of one. Its lanes
// find the tiles of its next 32 turns. Collective for a full warp.
TMAP_DEVICE void tmapi_each3_tiles(const tmap_each3_plan *plan, const tmapi_each3_calls *calls,
                                   const unsigned short *places, tmapi_each3_part part) {
    const tmap_u32 lane = tmap_thread_rank() % 32;
    for (; part.first < part.end; part.first += 32 * part.stride) {
        const tmap_u64 item = part.first + lane * part.stride;
        const tmap_u32 number = (tmap_u32)tmapi_each3_line_of(plan, item < part.end ? item : 0);
        const tmapi_each3_tile own = tmapi_each3_tile_at(plan, number, calls->turned);
        tmap_u64 now = part.first;
        TMAPI_NO_UNROLL
        for (int n = 0; n < 32 && now < part.end; ++n, now += part.stride) {
            const tmap_u32 tile = __shfl_sync(0xffffffffu, number, n);
            const tmap_u32 begin = (tmap_u32)(now - (tmap_u64)tile * plan->parts) * plan->chunk;
            const tmap_u32 left = plan->cells - begin;
            tmapi_each3_tile t;
            t.corner.x = __shfl_sync(0xffffffffu, own.corner.x, n);
            t.corner.y = __shfl_sync(0xffffffffu, own.corner.y, n);
            t.corner.z = __shfl_sync(0xffffffffu, own.corner.z, n);
            t.element = calls->turned ? __shfl_sync(0xffffffffu, own.element, n) : 0;
            t.at = plan->offset + (tmap_u64)tile * plan->cells;
            tmapi_each3_down(plan, calls, &t, places, begin,
                             begin + (left < plan->chunk ? left : plan->chunk));
        }
    }
}

// A volume: a warp takes a line of tiles, or a part of each of them.
TMAP_DEVICE void tmapi_each3_lines(const tmap_each3_plan *plan, const tmapi_each3_calls *calls,
                                   tmapi_each3_list list, tmapi_each3_part part) {
    for (tmap_u64 item = part.first; item < part.end; item += part.stride) {
        const tmap_u64 line = tmapi_each3_line_of(plan, item);
        const tmap_u32 box =
            (tmap_u32)(line >> 32 ? line / plan->lines : (tmap_u32)line / plan->lines);
        const tmap_u32 in_box = (tmap_u32)(line - (tmap_u64)box * plan->lines);
        const tmap_u32 begin = (tmap_u32)(item - line * plan->parts) * plan->chunk;
        const tmap_u32 left = plan->cells - begin;
        const tmap_u32 stop = begin + (left < plan->chunk ? left : plan->chunk);
        tmap_u32 tiles = list.lines[in_box];
        tmapi_each3_tile t;
        if (!tiles) continue;
        t = tmapi_each3_line_at(plan, box, in_box, calls->turned);
        if (__popc((int)tiles) >= TMAPI_EACH3_FEW) {
            tmapi_each3_along(plan, calls, &t, list.places, begin, stop, tiles);
        } else {
            TMAPI_NO_UNROLL
            while (tiles) {
                const tmap_u32 right = ((tmap_u32)__ffs((int)tiles) - 1) * plan->tile.x;
                const tmapi_each3_tile one = {
                    {t.corner.x + right, t.corner.y, t.corner.z}, t.at + right, t.element};
                tmapi_each3_down(plan, calls, &one, list.places, begin, stop);
                tiles &= tiles - 1;
            }
        }
    }
}

// Visits every cell of the plan's share. All threads of all blocks call it.
TMAP_DEVICE void tmapi_each3_walk(const tmap_each3_plan *plan, tmapi_each3_calls calls) {
    const tmap_u32 warps = tmapi_fold_warps(), warp = tmap_thread_rank() / 32;
    const tmapi_each3_part part = {plan->first + (tmap_u64)blockIdx.x * warps + warp,
                                   (tmap_u64)gridDim.x * warps, plan->first + plan->count};
    if (!plan->tile_level && !plan->line_level) {
        tmapi_each3_linear(plan, &calls);
    } else if (plan->pitch.row == TMAP_COMPACT) {
        calls.compact = 1;
        const tmapi_each3_list list = tmapi_each3_list_make(plan, &calls);
        if (warp < warps) tmapi_each3_tiles(plan, &calls, list.places, part);
    } else {
        const tmapi_each3_list list = tmapi_each3_list_make(plan, &calls);
        if (warp < warps) tmapi_each3_lines(plan, &calls, list, part);
    }
}

// Calls visit(job, cell) exactly once for every cell of the plan's share, in no particular order.
// All threads of all blocks call it with the same arguments, in blocks of full warps and grids of
// one axis, and all return from it. visit: a __device__ function without barriers and collectives,
// because other lanes may have no cell. job: any pointer; the address of the kernel's parameter
// costs nothing.
// Example: tetrahedron, r = 1, rows of 2, planes of 4: visits (0,0,0, at 0) (1,0,0, at 1)
// (0,1,0, at 2) (0,0,1, at 4).
TMAP_DEVICE void tmap_each3(const tmap_each3_plan *plan, tmap_each3_visit visit, void *job) {
    const tmapi_each3_calls calls = {visit, 0, 0, job, 0, 0};
    if (tmapi_each3_check(plan, 1, "tmap_each3", 0)) tmapi_each3_walk(plan, calls);
}

// tmap_each3 for any plan, also of turned copies, which take more registers and instructions.
TMAP_DEVICE void tmap_each3_turned(const tmap_each3_plan *plan, tmap_each3_visit visit, void *job) {
    const tmapi_each3_calls calls = {visit, 0, 0, job, 1, 0};
    if (tmapi_each3_check(plan, 1, "tmap_each3_turned", 1)) tmapi_each3_walk(plan, calls);
}

// Calls read(job, cell, value) and later use(job, cell, value) once for every cell of the plan's
// share, with up to eight reads per lane in flight. The same thread makes both calls. value: 16
// bytes, aligned to 16, which belong to the cell between the two. A cell's use must not write what
// another cell's read reads. Otherwise as tmap_each3.
TMAP_DEVICE void tmap_each3_update(const tmap_each3_plan *plan, tmap_each3_read read,
                                   tmap_each3_use use, void *job) {
    const tmapi_each3_calls calls = {0, read, use, job, 0, 0};
    if (tmapi_each3_check(plan, 1, "tmap_each3_update", 0)) tmapi_each3_walk(plan, calls);
}

// tmap_each3_update for any plan, also of turned copies.
TMAP_DEVICE void tmap_each3_update_turned(const tmap_each3_plan *plan, tmap_each3_read read,
                                          tmap_each3_use use, void *job) {
    const tmapi_each3_calls calls = {0, read, use, job, 1, 0};
    if (tmapi_each3_check(plan, 1, "tmap_each3_update_turned", 1)) tmapi_each3_walk(plan, calls);
}

// ---- folds --------------------------------------------------------------------------------------

typedef struct tmapi_each3_folding {
    const unsigned char *array;
    tmap_u32 size; // of an element
    tmap_each3_add add;
    void *accumulator, *job;
} tmapi_each3_folding;

TMAP_DEVICE void tmapi_each3_fold_read(void *job, tmap_cell3 cell, void *value) {
    const tmapi_each3_folding *fold = (const tmapi_each3_folding *)job;
    tmapi_value_copy(value, fold->array + cell.at * fold->size, fold->size);
}
TMAP_DEVICE void tmapi_each3_fold_use(void *job, tmap_cell3 cell, const void *value) {
    const tmapi_each3_folding *fold = (const tmapi_each3_folding *)job;
    fold->add(fold->job, fold->accumulator, cell, value);
}

// tmap_each3_fold. turned: a constant.
TMAP_DEVICE void tmapi_each3_fold_all(const tmap_each3_plan *plan, tmapi_each3_folding folding,
                                      tmap_fold fold, tmap_fold_to to, int turned) {
    tmapi_fold_words accumulator;
    const tmapi_each3_calls calls = {
        0, tmapi_each3_fold_read, tmapi_each3_fold_use, &folding, turned, 0};
    if (!tmapi_each3_check(plan, folding.size, "tmap_each3_fold", turned)) return;
    if (!tmapi_fold_check(fold, "tmap_each3_fold")) return;
    folding.accumulator = &accumulator;
    tmapi_fold_move(&accumulator, fold.zero, fold.bytes);
    tmapi_each3_walk(plan, calls);
    tmap_fold_grid(&accumulator, fold, to, folding.job);
}

// Calls add(job, accumulator, cell, &element) for every cell of the plan's share, joins the
// accumulators of all threads in a fixed order, and writes the result to *to.result. All threads of
// all blocks call it, and all return from it. array: elements of 1, 2, 4, 8 or 16 bytes; data is
// the volume's element 0, whatever plan->offset is. add: without barriers and collectives. fold,
// to: see ../fold.h; the workspace has tmap_each3_fold_bytes(plan, fold.bytes) bytes, zeroed once,
// and each launch leaves it ready for the next. Another call in the kernel needs a __syncthreads()
// before it, and another workspace.
TMAP_DEVICE void tmap_each3_fold(const tmap_each3_plan *plan, tmap_array array, tmap_each3_add add,
                                 tmap_fold fold, tmap_fold_to to, void *job) {
    const tmapi_each3_folding folding = {(const unsigned char *)array.data, array.size, add, 0,
                                         job};
    tmapi_each3_fold_all(plan, folding, fold, to, 0);
}

// tmap_each3_fold for any plan, also of turned copies.
TMAP_DEVICE void tmap_each3_fold_turned(const tmap_each3_plan *plan, tmap_array array,
                                        tmap_each3_add add, tmap_fold fold, tmap_fold_to to,
                                        void *job) {
    const tmapi_each3_folding folding = {(const unsigned char *)array.data, array.size, add, 0,
                                         job};
    tmapi_each3_fold_all(plan, folding, fold, to, 1);
}

#endif // TMAP_CUDA
#endif
