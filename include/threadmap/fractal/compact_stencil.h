// SPDX-License-Identifier: MIT
// compact_stencil.h: the loop of tmap_stencil on compact storage. A part of stencil.h.
//
// A thread has one cell of a tile and stays with it while tiles go by: where that cell's neighbours
// are is found once. They stand in shared memory, several tiles' values of one cell side by side,
// so that one load serves as many tiles; those that lie in tiles beside are brought there by
// themselves (the halo), and for a place that is no cell there is one value of zeros. Which tiles
// are beside one another is found by their digits (tmap_compact_beside), a thread for each of the
// eight around each tile, while the others compute.
#ifndef TMAP_FRACTAL_COMPACT_STENCIL_H
#define TMAP_FRACTAL_COMPACT_STENCIL_H

#include "each.h"

#if TMAP_CUDA

typedef void (*tmap_stencil_rule)(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                  void *next);

typedef struct tmapi_stencil {
    const unsigned char *in;
    unsigned char *out;
    tmap_u32 size;
    tmap_stencil_rule rule;
    void *job;
    const tmap_each_plan *plan;
    int words; // 1: elements are words of a bit for each sheet (compact_words.h)
} tmapi_stencil;

typedef struct tmapi_stencil_nine {
    alignas(16) unsigned char bytes[9 * 16];
} tmapi_stencil_nine;

// A thread's cell. near: where the values of the eight around it stand, 16 bits each. beside: byte
// d has the bits of those in the tile in direction d. own: the bits of those in its own tile, and
// its own. tile: which of the tiles side by side. x, y: in the tile.
typedef struct tmapi_compact_lane {
    tmap_u64 near_low, near_high, beside;
    tmap_u32 own, tile, x, y;
} tmapi_compact_lane;

// Finds a thread's neighbours, and gives those in other tiles a place and an entry in the list of
// the halo: tile << 20 | direction << 16 | cell. rank: below tiles * cells.
TMAPI_DEVICE_CALL tmapi_compact_lane tmapi_compact_lane_make(const tmap_each_plan *plan,
                                                             tmap_u32 tiles, tmap_u32 cells,
                                                             tmap_u32 rank, tmap_u32 *counter,
                                                             tmap_u32 *halo) {
    const tmap_u32 m = plan->tile_level, most = tiles * plan->halo;
    tmapi_compact_lane l;
    tmap_u32 index;
    tmap_xy p;
    l.tile = rank / cells, index = rank - l.tile * cells;
    p = tmap_nbb_lambda_linear(plan->f, index, m);
    l.x = p.x, l.y = p.y;
    l.near_low = l.near_high = l.beside = 0, l.own = 1u << 4;
    TMAPI_NO_UNROLL
    for (tmap_u32 n = 0; n < 8; ++n) {
        const tmap_compact_place q =
            tmap_compact_beside(plan->f, index, m, tmapi_compact_dx(n), tmapi_compact_dy(n));
        const tmap_u32 bit = n + (n >= 4);
        tmap_u64 slot = tiles * (cells + plan->halo); // no cell
        if (!q.none && (q.x || q.y)) {
            const tmap_u32 d = tmapi_compact_direction(q.x, q.y), at = atomicAdd(counter, 1u);
            if (at < most) {
                halo[at] = l.tile << 20 | d << 16 | q.index;
                slot = tiles * cells + at;
                l.beside |= 1ull << (8 * d + n);
            }
        } else if (!q.none) {
            slot = l.tile * cells + q.index;
            l.own |= 1u << bit;
        }
        if (n < 4)
            l.near_low |= slot << 16 * n;
        else
            l.near_high |= slot << 16 * (n - 4);
    }
    return l;
}

// What the block's threads share. deep: tiles that a thread takes at once. Entry u * tiles + v is
// of tile first + u * tiles + v.
typedef struct tmapi_compact_block {
    tmap_u32 cells, tiles, deep;
    tmap_u32 threads, rank;
    tmap_u32 values; // of the halo
    unsigned char *value;
    tmap_u32 *halo;
    tmap_u32 *beside[2];
    unsigned char *there[2]; // 0xff: the tile is there
    unsigned char *sheet[2]; // words: 1 + the direction in which the tile is another sheet's, or 0
    unsigned char *source;   // words: for each direction, the bit that each bit comes from
    tmap_xy *corner[2];
} tmapi_compact_block;

// The words of a tile in another sheet: bit i is that of the sheet beside sheet i.
TMAPI_DEVICE_CALL tmap_u64 tmapi_compact_turn(const unsigned char *source, tmap_u64 word,
                                              tmap_u32 sheets) {
    tmap_u64 turned = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < sheets; ++i)
        if (source[i] < 64) turned |= (word >> source[i] & 1) << i;
    return turned;
}

TMAPI_DEVICE_CALL void tmapi_compact_sources(const tmap_each_plan *plan, unsigned char *source,
                                             tmap_u32 rank, tmap_u32 threads) {
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < 8 * 64; i += threads) {
        const tmap_compact_place p = tmap_compact_beside(
            plan->f, i % 64, plan->word.level, tmapi_compact_dx(i / 64), tmapi_compact_dy(i / 64));
        source[i] =
            (unsigned char)(i % 64 < plan->word.cells && !p.none && !p.x && !p.y ? p.index : 0xff);
    }
}

// Which tiles are beside those from `first` on, and where these begin.
TMAP_DEVICE void tmapi_compact_prepare(const tmapi_stencil *s, const tmapi_compact_block *b,
                                       tmap_u64 first, tmap_u32 half) {
    const tmap_each_plan *plan = s->plan;
    const tmap_u32 tiles = b->tiles * b->deep, levels = plan->r - plan->tile_level;
    const tmap_u64 end = plan->first + plan->count;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = b->rank; i < 9 * tiles; i += b->threads) {
        if (i < 8 * tiles) {
            const tmap_u64 tile = first + i / 8;
            tmap_compact_place p;
            p.index = 0, p.x = p.y = 0, p.none = 1;
            if (tile < end)
                p = tmap_compact_beside(plan->f, (tmap_u32)tile, levels, tmapi_compact_dx(i % 8),
                                        tmapi_compact_dy(i % 8));
            if (s->words)
                b->sheet[half][i] =
                    (unsigned char)(p.x || p.y ? 1 + tmapi_compact_direction(p.x, p.y) : 0);
            else
                p.none |= p.x || p.y;
            b->there[half][i] = (unsigned char)(p.none ? 0 : 0xff);
            b->beside[half][i] = p.index;
        } else {
            const tmap_u32 inverse = tmapi_compact_inverse(plan->f.k);
            tmap_u32 rest = (tmap_u32)(first + (i - 8 * tiles));
            tmap_u32 x = tmapi_pow32(plan->f.sx, plan->tile_level);
            tmap_u32 y = tmapi_pow32(plan->f.sy, plan->tile_level);
            tmap_xy corner = {0, 0};
            TMAPI_NO_UNROLL
            for (tmap_u32 level = 0; level < levels; ++level, x *= plan->f.sx, y *= plan->f.sy) {
                const tmap_u32 quotient = tmapi_compact_divide(rest, plan->f.k, inverse);
                const tmap_xy tau = tmap_nbb_tau(plan->f, rest - quotient * plan->f.k);
                corner.x += tau.x * x, corner.y += tau.y * y, rest = quotient;
            }
            b->corner[half][i - 8 * tiles] = corner;
        }
    }
}

// A thread's own values of the tiles from `first` on, zeros past the last.
TMAP_DEVICE void tmapi_compact_load(const tmapi_stencil *s, const tmapi_compact_block *b,
                                    const tmapi_compact_lane *lane, tmap_u64 first,
                                    tmapi_value *own) {
    const tmap_u64 end = s->plan->first + s->plan->count;
    const unsigned char *from = s->in + (s->plan->offset + first * b->cells + b->rank) * s->size;
#pragma unroll
    for (tmap_u32 u = 0; u < TMAPI_COMPACT_DEEP; ++u) {
        if (u >= b->deep) continue;
        tmapi_value_zero(own->bytes + u * s->size, s->size);
        if (first + u * b->tiles + lane->tile < end)
            tmapi_value_copy(own->bytes + u * s->size,
                             from + (tmap_u64)u * b->tiles * b->cells * s->size, s->size);
    }
}

// Brings the values from tiles beside those from `first` on.
TMAP_DEVICE void tmapi_compact_bring(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     tmap_u32 half) {
    const tmap_u32 stride = b->deep * s->size;
    const tmap_u32 sheets = s->plan->word.cells;
    for (tmap_u32 i = b->rank; i < b->values; i += b->threads) {
        const tmap_u32 entry = b->halo[i], tile = entry >> 20, d = entry >> 16 & 7;
        tmapi_value value;
#pragma unroll
        for (tmap_u32 u = 0; u < TMAPI_COMPACT_DEEP; ++u) {
            const tmap_u32 at = 8 * (u * b->tiles + tile) + d;
            if (u >= b->deep) continue;
            tmapi_value_zero(value.bytes + u * s->size, s->size);
            if (b->there[half][at])
                tmapi_value_copy(value.bytes + u * s->size,
                                 s->in +
                                     (s->plan->offset + (tmap_u64)b->beside[half][at] * b->cells +
                                      (entry & 0xffff)) *
                                         s->size,
                                 s->size);
            if (s->words && b->there[half][at] && b->sheet[half][at]) {
                tmap_u64 word = 0;
                tmapi_value_copy(&word, value.bytes + u * s->size, s->size);
                word = tmapi_compact_turn(b->source + 64 * (b->sheet[half][at] - 1), word, sheets);
                tmapi_value_copy(value.bytes + u * s->size, &word, s->size);
            }
        }
        tmapi_value_copy(b->value + (b->tiles * b->cells + i) * stride, &value, stride);
    }
}

// The rule at a thread's cell of the tiles from `first` on.
TMAP_DEVICE void tmapi_compact_apply(const tmapi_stencil *s, const tmapi_compact_block *b,
                                     const tmapi_compact_lane *lane, tmap_u64 first,
                                     tmap_u32 half) {
    const tmap_u32 size = s->size, stride = b->deep * size;
    const tmap_u64 end = s->plan->first + s->plan->count;
    const tmap_u64 at = s->plan->offset + first * b->cells + b->rank;
    tmapi_value place[9];
#pragma unroll
    for (tmap_u32 i = 0; i < 9; ++i) {
        const tmap_u32 n = i - (i > 4);
        const tmap_u64 near_to = n < 4 ? lane->near_low : lane->near_high;
        const tmap_u32 slot = i == 4 ? b->rank : (tmap_u32)(near_to >> 16 * (n & 3)) & 0xffff;
        tmapi_value_copy(&place[i], b->value + slot * stride, stride);
    }
#pragma unroll
    for (tmap_u32 u = 0; u < TMAPI_COMPACT_DEEP; ++u) {
        const tmap_u32 tile = u * b->tiles + lane->tile;
        const tmap_u64 step = (tmap_u64)u * b->tiles * b->cells;
        tmapi_stencil_nine nine;
        tmapi_value next;
        tmap_cell cell;
        tmap_u32 around;
        tmap_u64 beside;
        if (u >= b->deep || first + tile >= end) continue;
#pragma unroll
        for (tmap_u32 i = 0; i < 9; ++i)
            tmapi_value_copy(nine.bytes + i * size, place[i].bytes + u * size, size);
        beside = lane->beside & ((const tmap_u64 *)b->there[half])[tile];
        around = (tmap_u32)beside | (tmap_u32)(beside >> 32);
        around |= around >> 16, around = (around | around >> 8) & 0xff;
        around = lane->own | (around & 15) | (around & 0xf0) << 1;
        cell.x = b->corner[half][tile].x + lane->x, cell.y = b->corner[half][tile].y + lane->y;
        cell.at = at + step;
        s->rule(s->job, cell, around, &nine, &next);
        tmapi_value_copy(s->out + cell.at * size, &next, size);
    }
}

// 1 if the block has threads for a tile; else nothing is done. All threads of all blocks call it.
TMAP_DEVICE int tmapi_compact_stencil(const tmap_each_plan *plan, const tmapi_stencil *s) {
    extern __shared__ uint4 tmapi_each_shared[];
    unsigned char *shared = (unsigned char *)tmapi_each_shared;
    const tmap_u32 stride = tmapi_compact_deep(s->size) * s->size;
    tmapi_compact_shared at;
    tmapi_compact_block b;
    tmapi_compact_lane lane;
    tmapi_value own;
    tmap_u32 half = 0, step;
    tmap_u64 first, end = plan->first + plan->count;
    int has;
    b.cells = tmapi_pow32(plan->f.k, plan->tile_level), b.deep = tmapi_compact_deep(s->size);
    b.threads = blockDim.x * blockDim.y * blockDim.z, b.rank = tmap_thread_rank();
    b.tiles = b.threads / b.cells < plan->chunk ? b.threads / b.cells : plan->chunk;
    if (b.tiles == 0) return 0;
    at = tmapi_compact_shared_at(b.cells, b.tiles, plan->halo, s->words);
    b.value = shared, b.halo = (tmap_u32 *)(shared + at.halo), b.values = b.tiles * plan->halo;
    step = b.tiles * b.deep;
    for (tmap_u32 i = 0; i < 2; ++i) {
        b.beside[i] = (tmap_u32 *)(shared + at.tiles) + i * 8 * step;
        b.there[i] = shared + at.there + i * 8 * step;
        b.sheet[i] = shared + at.sheet + i * 8 * step;
        b.corner[i] = (tmap_xy *)(shared + at.corner) + i * step;
    }
    b.source = shared + at.source;
    has = b.rank < b.tiles * b.cells;
    first = plan->first + blockIdx.x * (tmap_u64)step;
    if (b.rank == 0) {
        *(tmap_u32 *)(shared + at.counter) = 0;
        tmapi_value_zero(b.value + (b.tiles * b.cells + b.values) * stride, stride);
    }
    if (s->words) tmapi_compact_sources(plan, b.source, b.rank, b.threads);
    __syncthreads();
    if (has)
        lane = tmapi_compact_lane_make(plan, b.tiles, b.cells, b.rank,
                                       (tmap_u32 *)(shared + at.counter), b.halo);
    if (has && first < end) tmapi_compact_load(s, &b, &lane, first, &own);
    tmapi_compact_prepare(s, &b, first, 0);
    __syncthreads();
    for (; first < end; half ^= 1) {
        const tmap_u64 next = first + gridDim.x * (tmap_u64)step;
        if (has) tmapi_value_copy(b.value + b.rank * stride, &own, stride);
        tmapi_compact_bring(s, &b, half);
        if (has && next < end) tmapi_compact_load(s, &b, &lane, next, &own);
        __syncthreads();
        if (next < end) tmapi_compact_prepare(s, &b, next, half ^ 1);
        if (has) tmapi_compact_apply(s, &b, &lane, first, half);
        __syncthreads();
        first = next;
    }
    return 1;
}

#endif // TMAP_CUDA
#endif
