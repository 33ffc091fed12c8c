// SPDX-License-Identifier: MIT
// stencil3.h: computes the next value of a cell in three dimensions from its own and those of its
// 26 neighbours, with your rule; in a volume, in compact storage, and with one bit per cell.
//
//     typedef struct heat { const float *in; float *out, rate; } heat;
//     static __device__ void flow(void *job, tmap_cell3 cell, tmap_u32 around, const void *places,
//                                 void *next) {
//         const float *v = (const float *)places, here = v[TMAP_HERE3];
//         float sum = 0;
//         for (int i = 0; i < 27; ++i)
//             if (around >> i & 1) sum += v[i] - here; // no flow to empty places
//         *(float *)next = here + ((heat *)job)->rate * sum;
//     }
//     __global__ void __launch_bounds__(256, 3) step_cells(tmap_each3_plan plan, heat h) {
//         const tmap_array in = {h.in, sizeof *h.in};
//         tmap_each3_stencil(&plan, in, flow, h.out, &h);
//     }
//     const tmap_turned all = tmap_turned_plain(f);
//     ... tmap_each3_plan_make(TMAP_EACH_STENCIL, all, r, tight, (const void *)step_cells, &plan);
//     ... tmap_each3_launch(&plan, &h, stream);
//
// A block goes through tiles, some at a time, and its warps find the 27 tiles around each. Where at
// least one in eight places of a tile is a cell, the block copies the tiles, and the cells around
// them, to boxes of shared memory. Elsewhere, and for words, it has one thread for each cell of its
// tiles: a table in shared memory says once for each of the cell's neighbours in which of the 27
// tiles around it lies, and where in that tile, and the thread reads it there.
#ifndef TMAP_FRACTAL_STENCIL3_H
#define TMAP_FRACTAL_STENCIL3_H

#include "each3.h"

// ---- neighbours by digits -----------------------------------------------------------------------

// The place beside a cell, as tmap_compact3_beside finds it. If `none` is 1, it is no cell. to:
// TMAP_HERE3 if the cell is in the same fractal; otherwise the number of the copy of the fractal,
// around this one, that holds it where a fractal of a higher level has that copy. index: the number
// of the cell in its copy.
typedef struct tmap_compact3_place {
    tmap_u32 index, to;
    int none;
} tmap_compact3_place;

// Moves digit `tau` of an axis with `side` boxes by *step, -1, 0 or 1. *step becomes what the next
// level moves by.
TMAP_FN tmap_u32 tmapi_compact3_move(tmap_u32 tau, tmap_u32 side, int *step) {
    const tmap_u32 at = tau + (tmap_u32)*step; // modulo 2^32, so that no side overflows
    *step = (int)at < 0 ? -1 : (int)at >= (int)side;
    return at - (tmap_u32)*step * side;
}

// The place number `to` (0 to 26) beside cell `index` of the fractal of level r, index < k^r <
// 2^32. Returns the number of the cell there and the copy that holds it, or none = 1 where no cell
// is; then index and to mean nothing. r = 0: cell `index` of copy `to`. The function changes digits
// from the lowest on, up to the first level at which both cells are in one box: k / (k - 1) levels
// on average, or a few more.
// Example: tetrahedron, r = 1, cell 0, (0,0,0): place 14, (1,0,0), is cell 1; place 17, (1,1,0), is
// none; place 12 is cell 1 of copy 12, the one to the left.
TMAP_FN tmap_compact3_place tmap_compact3_beside(tmap_nbb3 f, tmap_u32 index, tmap_u32 r,
                                                 tmap_u32 to) {
    int x = (int)(to % 3) - 1, y = (int)(to / 3 % 3) - 1, z = (int)(to / 9 % 3) - 1;
    tmap_compact3_place p = {index, TMAP_HERE3, 0};
    tmap_u32 rest = index, power = 1;
    f = tmapi_nbb3_total(f);
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < r && (x || y || z); ++level, power *= f.k) {
        const tmap_u32 quotient = rest / f.k, beta = rest - quotient * f.k;
        const tmap_xyz tau = tmap_nbb3_tau(f, beta);
        tmap_xyz d;
        tmap_u32 replica;
        d.x = tmapi_compact3_move(tau.x, f.sx, &x);
        d.y = tmapi_compact3_move(tau.y, f.sy, &y);
        d.z = tmapi_compact3_move(tau.z, f.sz, &z);
        replica = tmap_nbb3_replica(f, d);
        if (replica >= f.k) {
            p.none = 1;
            return p;
        }
        p.index += (replica - beta) * power;
        rest = quotient;
    }
    p.to = (tmap_u32)(TMAP_HERE3 + x + 3 * y + 9 * z);
    p.none = (x && f.sx == 1) || (y && f.sy == 1) || (z && f.sz == 1); // no level has that copy
    return p;
}

#if TMAP_CUDA

// The rule of a stencil: computes the next value of a cell. around: bit i is 1 if place i is a cell
// of the fractal; bit TMAP_HERE3 always is. For words bit i is 0 only if no cell of the word has
// that neighbour. places: the values of the 27 places, of your type; every byte is 0 where there is
// no cell. next: where the rule puts the cell's new value.
typedef void (*tmap_each3_rule)(void *job, tmap_cell3 cell, tmap_u32 around, const void *places,
                                void *next);

// ---- the block ----------------------------------------------------------------------------------

typedef struct tmapi_stencil3 {
    const unsigned char *in;
    unsigned char *out;
    tmap_u32 size;
    tmap_each3_rule rule;
    void *job;
    int words;       // 1: elements are words with one bit per sheet
    tmap_u32 slices; // of a word; 1 for other elements
} tmapi_stencil3;

typedef struct tmapi_stencil3_values {
    alignas(16) unsigned char bytes[TMAP_AROUND3 * 16];
} tmapi_stencil3_values;

// Fills the tables that are the same for all tiles. Collective for the block.
TMAP_DEVICE void tmapi_stencil3_tables(const tmap_each3_plan *plan, int words,
                                       unsigned char *shared) {
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    const tmapi_stencil3_shared at = tmapi_stencil3_shared_at(plan, plan->tiles);
    const tmap_u32 bits = tmapi_stencil3_bits(plan->word), all = TMAP_AROUND3 * plan->cells;
    unsigned short *places = (unsigned short *)(shared + at.places);
    unsigned short *nearby = (unsigned short *)(shared + at.nearby);
    unsigned short *slot = (unsigned short *)(shared + at.slot);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < plan->cells; i += threads)
        places[i] =
            (unsigned short)tmapi_each3_pack(tmap_nbb3_lambda_linear(plan->f, i, plan->tile_level));
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; words && i < all; i += threads) slot[i] = 0;
    if (words && rank == 0) *(tmap_u32 *)(shared + at.count) = 0;
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < all; i += threads) {
        const tmap_u32 n = i / plan->cells, cell = i - n * plan->cells;
        const tmap_compact3_place p = tmap_compact3_beside(plan->f, cell, plan->tile_level, n);
        nearby[i] = (unsigned short)(p.index | (p.none ? TMAPI_STENCIL3_NONE : p.to) << 10);
        if (words && !p.none && p.to != TMAP_HERE3) slot[p.to * plan->cells + p.index] = 1;
    }
    if (!words) return;
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < all; i += threads) {
        tmap_u32 number;
        if (!slot[i]) continue;
        number = atomicAdd((tmap_u32 *)(shared + at.count), 1u);
        if (number >= plan->halo) continue; // never: the plan has counted them
        slot[i] = (unsigned short)number;
        ((unsigned short *)(shared + at.cell))[number] = (unsigned short)i;
    }
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < TMAP_AROUND3 * bits / 32; i += threads) { // 32 sheets each
        const tmap_u32 n = i / (bits / 32), first = 32 * i - n * bits;
        tmap_u32 valid = 0;
        TMAPI_NO_UNROLL
        for (tmap_u32 b = 0; b < 32; ++b) {
            tmap_compact3_place p = {0, TMAP_HERE3, 1};
            if (first + b < plan->word.cells)
                p = tmap_compact3_beside(plan->f, first + b, plan->word.level, n);
            if (p.none || p.to != TMAP_HERE3)
                p.index = 0;
            else
                valid |= 1u << b;
            ((unsigned short *)(shared + at.turns))[32 * i + b] = (unsigned short)p.index;
        }
        ((tmap_u32 *)(shared + at.valid))[i] = valid;
    }
}

// Finds what surrounds tile number `tile`. Collective for a warp.
TMAP_DEVICE void tmapi_stencil3_around(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                       tmap_u32 tile, tmapi_stencil3_tile *to) {
    const tmap_u32 lane = tmap_thread_rank() % 32, m = plan->tile_level;
    const tmap_u32 bytes = s->size * s->slices;
    tmap_compact3_place p = {0, TMAP_HERE3, 1};
    tmap_u32 is, other;
    if (lane < TMAP_AROUND3) p = tmap_compact3_beside(plan->f, tile, plan->r - m, lane);
    if (!s->words && p.to != TMAP_HERE3) p.none = 1;
    is = __ballot_sync(0xffffffffu, !p.none);
    other = __ballot_sync(0xffffffffu, p.to != TMAP_HERE3);
    if (lane < TMAP_AROUND3) {
        to->from[lane] = s->in + (plan->offset + (tmap_u64)p.index * plan->cells) * bytes;
        to->sheet[lane] = (unsigned char)p.to;
    }
    if (lane == TMAP_HERE3) {
        const tmapi_each3_tile t = tmapi_each3_tile_at(plan, tile, 0);
        to->corner = t.corner, to->is = is, to->other = other, to->at = t.at;
    }
}

// Finds the surroundings of the plan's number of tiles from `first` on, a warp at a time for each.
TMAP_DEVICE void tmapi_stencil3_step(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                     tmap_u64 first, tmapi_stencil3_tile *tiles) {
    const tmap_u32 warp = tmap_thread_rank() / 32, warps = tmapi_fold_warps();
    const tmap_u64 end = plan->first + plan->count;
    TMAPI_NO_UNROLL
    for (tmap_u32 v = warp; v < plan->tiles && first + v < end && warp < warps; v += warps)
        tmapi_stencil3_around(plan, s, (tmap_u32)(first + v), &tiles[v]);
}

// The 32 bits of a word of another sheet that turns[0], turns[1], ... say; 0 where the bit of
// `valid` is 0. short_word: a word has 16 bits.
TMAP_DEVICE tmap_u32 tmapi_stencil3_turn(const unsigned short *turns, tmap_u32 valid,
                                         const unsigned char *word, int short_word) {
    tmap_u32 sum = 0;
    if (!valid) return 0;
#pragma unroll 16
    for (tmap_u32 b = 0; b < 32; ++b) {
        const tmap_u32 from = turns[b];
        const tmap_u32 part = short_word ? *(const tmapi_value_u16 *)word
                                         : ((const tmapi_value_u32 *)word)[from / 32];
        sum = sum >> 1 | (part >> from % 32) << 31;
    }
    return sum & valid;
}

// Fills the halo of a tile with the words that are in other sheets. Collective for the block, but
// without a barrier.
TMAP_DEVICE void tmapi_stencil3_halo_fill(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                          const tmapi_stencil3_tile *tile, unsigned char *shared) {
    const tmapi_stencil3_shared at = tmapi_stencil3_shared_at(plan, plan->tiles);
    const unsigned short *cell = (const unsigned short *)(shared + at.cell);
    const tmap_u32 bytes = plan->word.bytes, bits = tmapi_stencil3_bits(plan->word);
    const tmap_u32 parts = bits / 32, threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 all = *(const tmap_u32 *)(shared + at.count) * parts;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = tmap_thread_rank(); i < all; i += threads) {
        const tmap_u32 number = i / parts, part = i - number * parts;
        const tmap_u32 to = cell[number] / plan->cells, in_tile = cell[number] - to * plan->cells;
        const tmap_u32 first = tile->sheet[to] * bits + 32 * part;
        tmap_u32 turned;
        if (!(tile->is & tile->other & 1u << to)) continue;
        turned = tmapi_stencil3_turn((const unsigned short *)(shared + at.turns) + first,
                                     ((const tmap_u32 *)(shared + at.valid))[first / 32],
                                     tile->from[to] + in_tile * bytes, s->size == 2);
        if (s->size == 2)
            ((tmapi_value_u16 *)(shared + at.halo))[number] = (unsigned short)turned;
        else
            ((tmapi_value_u32 *)(shared + at.halo))[i] = turned;
    }
}

// Clears the bits of a slice past the first `sheets`.
TMAP_DEVICE void tmapi_stencil3_clear(void *slice, tmap_u32 size, int sheets) {
    tmap_u32 bits[4] = {0, 0, 0, 0};
    tmapi_value_copy(bits, slice, size);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        const int left = sheets - 32 * w;
        bits[w] &= left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0;
    }
    tmapi_value_copy(slice, bits, size);
}

// Where the values of an application of the rule lie: a constant. _SHEETS: in compact storage, and
// in the halo where they are of another sheet.
enum { TMAPI_STENCIL3_VOLUME, TMAPI_STENCIL3_COMPACT, TMAPI_STENCIL3_SHEETS };

// Applies the rule to a slice of cell i of a tile. All values are loaded before the first is used.
TMAP_DEVICE void tmapi_stencil3_apply(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                      const tmapi_stencil3_tile *tile, tmap_u32 i, tmap_u32 slice,
                                      const unsigned char *shared, int where) {
    const tmapi_stencil3_shared at = tmapi_stencil3_shared_at(plan, plan->tiles);
    const unsigned short *nearby = (const unsigned short *)(shared + at.nearby) + i;
    const tmap_u32 p = ((const unsigned short *)(shared + at.places))[i], is = tile->is;
    const tmap_u32 bytes = s->size * s->slices, skip = slice * s->size;
    tmap_cell3 cell = {tile->corner.x + (p & 31), tile->corner.y + (p >> 5 & 31),
                       tile->corner.z + (p >> 10), tile->at};
    tmap_u32 around = 0;
    tmapi_stencil3_values values;
    tmapi_value next;
    if (where == TMAPI_STENCIL3_VOLUME)
        cell.at += (p & 31) + (p >> 5 & 31) * plan->pitch.row + (p >> 10) * plan->pitch.plane;
    else
        cell.at += i;
#pragma unroll
    for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
        const tmap_u32 entry = nearby[n * plan->cells], to = entry >> 10, in_tile = entry & 0x3ff;
        const tmap_u64 dx = n % 3, dy = n / 3 % 3, dz = n / 9; // one more than from the cell
        const int exists = (int)(is >> to & 1);
        const unsigned char *from = s->in + skip;
        around |= (tmap_u32)exists << n;
        if (where == TMAPI_STENCIL3_VOLUME)
            from +=
                (cell.at + (dx - 1) + (dy - 1) * plan->pitch.row + (dz - 1) * plan->pitch.plane) *
                s->size;
        else
            from = tile->from[exists ? to : TMAP_HERE3] + in_tile * bytes + skip;
        if (where == TMAPI_STENCIL3_SHEETS && exists && tile->other >> to & 1)
            from = shared + at.halo + skip +
                   ((const unsigned short *)(shared + at.slot))[to * plan->cells + in_tile] * bytes;
        tmapi_value_zero(values.bytes + n * s->size, s->size);
        if (exists) tmapi_value_copy(values.bytes + n * s->size, from, s->size);
    }
    s->rule(s->job, cell, around, &values, &next);
    if (s->words) tmapi_stencil3_clear(&next, s->size, (int)(plan->word.cells - 8 * skip));
    tmapi_value_copy(s->out + cell.at * bytes + skip, &next, s->size);
}

// 1 if a neighbour of a tile is in another sheet.
TMAP_DEVICE int tmapi_stencil3_borders(const tmapi_stencil3 *s, const tmapi_stencil3_tile *tile) {
    return s->words && (tile->is & tile->other);
}

// Returns 0, with nothing done, for a plan for other work, which has no memory for the tables.
TMAP_DEVICE int tmapi_stencil3_run(const tmap_each3_plan *plan, tmapi_stencil3 *s) {
    extern __shared__ uint4 tmapi_each3_shared[];
    unsigned char *shared = (unsigned char *)tmapi_each3_shared;
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u64 end = plan->first + plan->count, stride = (tmap_u64)gridDim.x * plan->tiles;
    tmap_u64 first = plan->first + (tmap_u64)blockIdx.x * plan->tiles;
    if (!plan->tiles) return 0;
    s->slices = s->size == 16 && s->words ? plan->word.bytes / 16 : 1;
    tmapi_stencil3_tables(plan, s->words, shared);
    tmapi_stencil3_step(plan, s, first, (tmapi_stencil3_tile *)shared);
    __syncthreads();
    for (tmap_u32 turn = 0; first < end; first += stride, turn ^= 1) {
        const tmapi_stencil3_tile *tiles = (tmapi_stencil3_tile *)shared + turn * plan->tiles;
        const tmap_u64 left = end - first;
        const tmap_u32 some = left < plan->tiles ? (tmap_u32)left : plan->tiles;
        const tmap_u32 of_tile = plan->cells * s->slices;
        tmapi_stencil3_step(plan, s, first + stride,
                            (tmapi_stencil3_tile *)shared + (turn ^ 1) * plan->tiles);
        TMAPI_NO_UNROLL
        for (tmap_u32 i = rank; i < some * of_tile; i += threads) {
            const tmap_u32 number = i / of_tile, cell = (i - number * of_tile) / s->slices;
            const tmap_u32 slice = i - number * of_tile - cell * s->slices;
            if (tmapi_stencil3_borders(s, &tiles[number])) continue;
            if (s->words || plan->pitch.row == TMAP_COMPACT)
                tmapi_stencil3_apply(plan, s, &tiles[number], cell, slice, shared,
                                     TMAPI_STENCIL3_COMPACT);
            else
                tmapi_stencil3_apply(plan, s, &tiles[number], cell, slice, shared,
                                     TMAPI_STENCIL3_VOLUME);
        }
        TMAPI_NO_UNROLL
        for (tmap_u32 v = 0; v < some; ++v) { // tiles with a halo, one after another
            if (!tmapi_stencil3_borders(s, &tiles[v])) continue;
            tmapi_stencil3_halo_fill(plan, s, &tiles[v], shared);
            __syncthreads();
            TMAPI_NO_UNROLL
            for (tmap_u32 i = rank; i < of_tile; i += threads)
                tmapi_stencil3_apply(plan, s, &tiles[v], i / s->slices, i % s->slices, shared,
                                     TMAPI_STENCIL3_SHEETS);
            __syncthreads();
        }
        __syncthreads();
    }
    return 1;
}

// ---- tiles in boxes of shared memory -----------------------------------------------------------
//
// Where cells are dense, a block copies a tile and the cells around it to a box of shared memory,
// in which all cells have their neighbours at the same distances. It takes four tiles in a step: a
// place has the values of two of them, or of four in a layer, side by side, so that one access
// reads them.

// Where place p of the tile lies when the tile has the places d beside it: one more than -1, 0 or 1
// along an axis. *p becomes the place there.
TMAP_DEVICE tmap_u32 tmapi_stencil3_wrap(tmap_u32 *p, tmap_u32 d, tmap_u32 side) {
    const tmap_u32 at = *p + d; // one more than the coordinate
    *p = at == 0 ? side - 1 : at > side ? 0 : at - 1;
    return at == 0 ? 0 : at > side ? 2 : 1;
}

// Finds the neighbours of cell `cell` of a tile, and enters those in other tiles into the box. The
// box holds 1 + cell for each of the tile's own places, and gets 1 + cell | tile << 16 around it.
// Returns the bits of the neighbours, if all tiles exist.
TMAP_DEVICE tmap_u32 tmapi_stencil3_mark(const tmap_each3_plan *plan, const tmapi_stencil3_box *b,
                                         tmap_xyz at, tmap_u32 *box) {
    const tmap_xyz side = plan->tile;
    const int layer = plan->f.sz == 1;
    tmap_u32 around = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 n = layer ? 9 : 0; n < (layer ? 18 : TMAP_AROUND3); ++n) {
        const tmap_xyz d = {n % 3, n / 3 % 3, n / 9};
        const tmap_u32 shell = at.x + d.x + (at.y + d.y) * b->row + (at.z + d.z - layer) * b->plane;
        tmap_xyz p = at;
        const tmap_u32 to = tmapi_stencil3_wrap(&p.x, d.x, side.x) +
                            3 * tmapi_stencil3_wrap(&p.y, d.y, side.y) +
                            9 * tmapi_stencil3_wrap(&p.z, d.z, side.z);
        const tmap_u32 cell = box[p.x + 1 + (p.y + 1) * b->row + (p.z + 1 - layer) * b->plane];
        if (!cell || (side.x == 1 && d.x != 1) || (side.y == 1 && d.y != 1)) continue;
        if (side.z == 1 && d.z != 1) continue;
        around |= 1u << n;
        if (to != TMAP_HERE3) box[shell] = (cell & 0xffff) | to << 16;
    }
    return around;
}

// Lists what the box holds in the order of its rows; a tile's own cells first, in compact storage
// by their numbers. The box gets the number in the list. bytes: of a place. Collective for a warp.
TMAP_DEVICE void tmapi_stencil3_list(const tmap_each3_plan *plan, const tmapi_stencil3_box *b,
                                     tmap_u32 bytes, unsigned char *shared) {
    tmapi_stencil3_entry *list = (tmapi_stencil3_entry *)(shared + b->list);
    unsigned short *places = (unsigned short *)(shared + b->places);
    tmap_u32 *box = (tmap_u32 *)shared;
    const tmap_u32 lane = tmap_thread_rank() % 32;
    const int layer = plan->f.sz == 1, compact = plan->pitch.row == TMAP_COMPACT;
    tmap_u32 own = 0, other = plan->cells;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = lane; i < b->entries; i += 32)
        list[i] = (layer ? 4 : TMAP_HERE3) << 21 | b->all * bytes;
    __syncwarp();
    TMAPI_NO_UNROLL
    for (tmap_u32 first = 0; first < b->all; first += 32) {
        const tmap_u32 i = first + lane, held = i < b->all ? box[i] : 0, to = held >> 16;
        const tmap_u32 z = i / b->plane, y = (i - z * b->plane) / b->row;
        const tmap_xyz p = {i - z * b->plane - y * b->row - 1, y - 1, z - !layer};
        const int index = (int)(held & 0xffff) - 1;
        const int element =
            (int)p.x + (int)p.y * (int)plan->pitch.row + (int)p.z * (int)plan->pitch.plane;
        const tmap_u32 from = (tmap_u32)(compact ? index : element);
        const tmap_u32 mine = tmapi_warp_place(lane, &own, held && to == TMAP_HERE3);
        tmap_u32 n = tmapi_warp_place(lane, &other, held && to != TMAP_HERE3);
        if (held && to == TMAP_HERE3) {
            n = compact ? (tmap_u32)index : mine;
            places[n] = (unsigned short)tmapi_each3_pack(p);
        }
        if (held && n < plan->cells + plan->halo) // always: the plan has counted them
            list[n] = (tmap_u64)from << 32 | (to - (layer ? 9 : 0)) << 21 | i * bytes, box[i] = n;
    }
}

// The edge of a tile with `side` places along an axis where a place is: 0, 2, or 1 for none.
TMAP_DEVICE tmap_u32 tmapi_stencil3_edge(tmap_u32 place, tmap_u32 side) {
    return place == 0 ? 0 : place == side - 1 ? 2 : 1;
}

// Fills the tables that are the same for all tiles. size: of an element. Collective for the block.
TMAP_DEVICE void tmapi_stencil3_box_tables(const tmap_each3_plan *plan, const tmapi_stencil3_box *b,
                                           tmap_u32 size, unsigned char *shared) {
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    const int layer = plan->f.sz == 1;
    const tmap_u32 bytes = tmapi_stencil3_deep(layer, size) * size;
    const tmap_u32 banks = bytes < 4 ? 32 : 128 / bytes, m = plan->tile_level;
    tmap_u32 *box = (tmap_u32 *)shared, *apply = (tmap_u32 *)(shared + b->apply);
    tmap_u32 *stage = (tmap_u32 *)(shared + b->stage), *count = (tmap_u32 *)(shared + b->count);
    unsigned short *table = (unsigned short *)(shared + b->table);
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < b->all; i += threads) box[i] = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < 33; i += threads) count[i] = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < TMAP_AROUND3 * b->cells; i += threads) {
        const tmap_u32 n = i / b->cells, cell = i - n * b->cells;
        const tmap_compact3_place p = tmap_compact3_beside(plan->f, cell, b->levels, n);
        table[i] = (unsigned short)(p.index | (p.none ? TMAPI_STENCIL3_NONE : p.to) << 6);
    }
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < plan->cells; i += threads) {
        const tmap_xyz p = tmapi_each3_lambda(plan, i, m, 0, 1);
        const tmap_u32 place = p.x + 1 + (p.y + 1) * b->row + (p.z + 1 - layer) * b->plane;
        box[place] = (i + 1) | TMAP_HERE3 << 16;
    }
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < plan->cells; i += threads) {
        const tmap_xyz p = tmapi_each3_lambda(plan, i, m, 0, 1);
        const tmap_u32 place = p.x + 1 + (p.y + 1) * b->row + (p.z + 1 - layer) * b->plane;
        stage[2 * i] = place | atomicAdd(&count[1 + place % banks], 1u) << 16;
        stage[2 * i + 1] = tmapi_stencil3_mark(plan, b, p, box);
    }
    __syncthreads();
    if (rank < 32) tmapi_stencil3_list(plan, b, bytes, shared);
    __syncthreads();
    // Threads take cells in an order in which neighbouring lanes access different banks: first one
    // of each bank, then a second one of each, and so on.
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < plan->cells; i += threads) {
        const tmap_u32 place = stage[2 * i] & 0xffff, turn = stage[2 * i] >> 16;
        const tmap_xyz p = tmapi_each3_lambda(plan, i, m, 0, 1);
        const tmap_u32 edge = tmapi_stencil3_edge(p.x, plan->tile.x) +
                              3 * tmapi_stencil3_edge(p.y, plan->tile.y) +
                              (layer ? 0 : 9 * tmapi_stencil3_edge(p.z, plan->tile.z));
        tmap_u32 number = 0;
        TMAPI_NO_UNROLL
        for (tmap_u32 bank = 0; bank < banks; ++bank) {
            const tmap_u32 some = count[1 + bank];
            number += (some < turn ? some : turn) + (bank < place % banks && some > turn);
        }
        apply[2 * number] =
            (place - 1 - b->row - (layer ? 0 : b->plane)) * bytes | box[place] << 16 | edge << 25;
        apply[2 * number + 1] = stage[2 * i + 1];
    }
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < b->apply / 4; i += threads) box[i] = 0;
}

// No tile.
#define TMAPI_STENCIL3_ABSENT 0xffffffffu

// The number of the tile beside tile `tile` in direction n, or _ABSENT: tmap_compact3_beside with a
// table of some levels. A tile of lower level counts as the first part of a higher one.
TMAP_DEVICE tmap_u32 tmapi_stencil3_tile_beside(const tmap_each3_plan *plan,
                                                const tmapi_stencil3_box *b,
                                                const unsigned short *table, tmap_u32 tile,
                                                tmap_u32 n) {
    const tmap_u32 levels = plan->r - plan->tile_level;
    tmap_u32 rest = tile, power = 1;
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < levels && n != TMAP_HERE3; level += b->levels) {
        const tmap_u32 quotient = tmapi_compact_divide_small(rest, b->inverse);
        const tmap_u32 cell = rest - quotient * b->cells, entry = table[n * b->cells + cell];
        n = entry >> 6, tile += ((entry & 63) - cell) * power;
        if (n == TMAPI_STENCIL3_NONE) break;
        rest = quotient, power *= b->cells;
    }
    return n == TMAP_HERE3 && tile < plan->items ? tile : TMAPI_STENCIL3_ABSENT;
}

// One axis of tmapi_stencil3_around_edge. middle: the bits of the tiles that are in the middle
// along the axis; step: from one tile to the next.
TMAP_DEVICE tmap_u32 tmapi_stencil3_axis(tmap_u32 is, tmap_u32 middle, tmap_u32 step,
                                         tmap_u32 edge) {
    const tmap_u32 own = is & middle;
    return own | (edge == 0 ? is & middle >> step : own >> step) |
           (edge == 2 ? is & middle << step : own << step);
}

// The neighbours that are in existing tiles, of a cell at edge `edge` of its tile. is: the tiles
// that exist.
TMAP_DEVICE tmap_u32 tmapi_stencil3_around_edge(tmap_u32 is, tmap_u32 edge) {
    is = tmapi_stencil3_axis(is, 0x2492492, 1, edge % 3);
    is = tmapi_stencil3_axis(is, 0x0e07038, 3, edge / 3 % 3);
    return tmapi_stencil3_axis(is, 0x003fe00, 9, edge / 9);
}

// Finds what surrounds the tiles of the steps from tile `first` on, which are `stride` tiles apart,
// and in compact storage prefetches their cells. layer: a constant. Collective for the block's full
// warps.
TMAP_DEVICE void tmapi_stencil3_box_step(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                         tmap_u64 first, tmap_u64 stride,
                                         tmapi_stencil3_boxed *tiles, int layer) {
    extern __shared__ uint4 tmapi_each3_shared[];
    const tmap_u32 rank = tmap_thread_rank(), lane = rank % 32, warps = tmapi_fold_warps();
    const tmap_u32 base = layer ? 9 : 0, all = layer ? 9 : TMAP_AROUND3;
    const tmap_u32 deep = tmapi_stencil3_boxes_of(layer) * tmapi_stencil3_deep(layer, s->size);
    const tmap_u32 of_warp = 32 / all, in_warp = lane / all, n = base + lane - in_warp * all;
    const tmap_u32 many = deep * tmapi_stencil3_steps(layer);
    const tmap_u32 of_tile = plan->cells * s->size;
    const unsigned short *table =
        (const unsigned short *)((unsigned char *)tmapi_each3_shared + plan->boxes.table);
    const tmap_u64 end = plan->first + plan->count;
    const int compact = plan->pitch.row == TMAP_COMPACT;
    const tmap_u32 last = 32 * warps - 1 - rank; // the last threads find corners
    TMAPI_NO_UNROLL
    for (tmap_u32 v = rank / 32 * of_warp; v < many && rank / 32 < warps; v += warps * of_warp) {
        const tmap_u32 u = v + in_warp, in_step = u % deep;
        const tmap_u32 i = 4 * (n - base) + in_step;
        const tmap_u64 place = first + u / deep * stride + in_step;
        const tmap_u32 tile = (tmap_u32)place;
        tmapi_stencil3_boxed *to = &tiles[u / deep];
        tmap_u32 number = TMAPI_STENCIL3_ABSENT, is;
        if (in_warp < of_warp && u < many && place < end)
            number = tmapi_stencil3_tile_beside(plan, &plan->boxes, table, tile, n);
        is = __ballot_sync(0xffffffffu, number != TMAPI_STENCIL3_ABSENT);
        if (in_warp >= of_warp || u >= many) continue;
        is = (is >> in_warp * all & ((1u << all) - 1)) << base;
        to->around[i] = tmapi_stencil3_around_edge(is, n);
        to->from[i] = ~0ull;
        TMAPI_NO_UNROLL
        for (tmap_u32 k = 32 * (n - base); compact && place < end && k < of_tile; k += 32 * all)
            tmapi_compact_prefetch(s->in + plan->offset * s->size + (tmap_u64)tile * of_tile + k);
        if (number == TMAPI_STENCIL3_ABSENT) continue;
        const tmap_u64 at = compact ? plan->offset + (tmap_u64)number * plan->cells
                                    : tmapi_each3_tile_at(plan, tile, 0).at;
        to->from[i] = (tmap_u64)(s->in + at * s->size);
        if (n == TMAP_HERE3) to->at[in_step] = at;
    }
    if (last < many) {
        const tmap_u64 place = first + last / deep * stride + last % deep;
        if (place < end)
            tiles[last / deep].corner[last % deep] =
                tmapi_each3_tile_at(plan, (tmap_u32)place, 0).corner;
    }
}

// The address of element `index`, which may be below 0, of elements from `first` on in device
// memory. One instruction: nvcc makes more of it where several tiles have the same index.
TMAP_DEVICE unsigned char *tmapi_stencil3_at(const void *first, int index, tmap_u32 size) {
#if defined(__CUDA_ARCH__)
    unsigned char *at;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(at) : "r"(index), "r"(size), "l"(first));
    __builtin_assume(__isGlobal(at));
    return at;
#else
    return (unsigned char *)first + (tmap_i64)index * (int)size;
#endif
}

// The element of an entry of the list.
TMAP_DEVICE int tmapi_stencil3_from(tmapi_stencil3_entry entry) { return (int)(entry >> 32); }

// Fills the boxes with the values of a step's tiles: their own cells, and those around them. The
// list ends with entries that write to an unused place, so that no thread asks where it ends.
// layer: a constant.
TMAP_DEVICE void tmapi_stencil3_box_fill(const tmapi_stencil3 *s, const tmapi_stencil3_box *b,
                                         const tmapi_stencil3_boxed *now, unsigned char *shared,
                                         int layer) {
    const tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 deep = tmapi_stencil3_deep(layer, s->size), bytes = deep * s->size;
    const tmap_u32 boxes = tmapi_stencil3_boxes_of(layer);
    TMAPI_NO_UNROLL
    for (tmap_u32 first = tmap_thread_rank(); first < b->entries;
         first += TMAPI_STENCIL3_FLIGHT * threads) {
        const tmapi_stencil3_entry *list = (const tmapi_stencil3_entry *)(shared + b->list) + first;
        tmapi_value value[TMAPI_STENCIL3_FLIGHT][2];
        tmap_u32 to[TMAPI_STENCIL3_FLIGHT]; // bytes from the box's beginning on
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_STENCIL3_FLIGHT; ++j) {
            const tmapi_stencil3_entry e = list[j * threads];
            const unsigned char *tile = (const unsigned char *)now->from + ((tmap_u32)e >> 16);
            tmapi_value from[2];
            to[j] = (tmap_u32)e & 0xffff;
#pragma unroll
            for (tmap_u32 u = 0; u < boxes * deep; ++u) {
                unsigned char *into = value[j][u / deep].bytes + u % deep * s->size;
                if (u % 2 == 0)
                    tmapi_value_copy(&from[u / 2], tile + 8 * u, boxes * deep == 1 ? 8 : 16);
                tmapi_value_zero(into, s->size);
                if (((const tmap_u32 *)from)[2 * u + 1] != TMAPI_STENCIL3_ABSENT)
                    tmapi_value_copy(into,
                                     tmapi_stencil3_at(((const void *const *)from)[u],
                                                       tmapi_stencil3_from(e), s->size),
                                     s->size);
            }
        }
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_STENCIL3_FLIGHT; ++j)
#pragma unroll
            for (tmap_u32 box = 0; box < boxes; ++box)
                tmapi_value_copy(shared + box * b->box + to[j], value[j][box].bytes, bytes);
    }
}

// Applies the rule to the cells of a step of `some` tiles. layer: a constant.
TMAP_DEVICE void tmapi_stencil3_box_apply(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                          const tmapi_stencil3_box *b,
                                          const tmapi_stencil3_boxed *now, tmap_u32 some,
                                          unsigned char *shared, int layer) {
    const tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 deep = tmapi_stencil3_deep(layer, s->size), bytes = deep * s->size;
    const tmap_u32 row = b->row * bytes, plane = b->plane * bytes;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = tmap_thread_rank(); i < plan->cells; i += threads) {
        const tmap_u64 own = ((const tmap_u64 *)(shared + b->apply))[i];
        const tmap_u32 number = (tmap_u32)own >> 16 & 0x1ff;
        const tmap_u32 p = ((const unsigned short *)(shared + b->places))[number];
        const int from =
            tmapi_stencil3_from(((const tmapi_stencil3_entry *)(shared + b->list))[number]);
#pragma unroll
        for (tmap_u32 box = 0; box < tmapi_stencil3_boxes_of(layer); ++box) {
            const unsigned char *of_row = shared + ((tmap_u32)own & 0xffff) + box * b->box;
            tmapi_value wide[TMAP_AROUND3], next;
#pragma unroll
            for (int n = 0; n < (int)TMAP_AROUND3; ++n) {
                tmapi_value_zero(&wide[n], 16);
                if (layer && n / 9 != 1) continue;
                tmapi_value_copy(&wide[n], of_row + n % 3 * bytes, bytes);
                if (n % 3 == 2) of_row += n % 9 == 8 ? plane - 2 * row : row;
            }
            tmapi_value_zero(&next, 16);
#pragma unroll
            for (tmap_u32 v = 0; v < deep; ++v) {
                const tmap_u32 u = box * deep + v;
                if (u >= some) continue;
                const tmap_u32 around =
                    (tmap_u32)(own >> 32) & now->around[((tmap_u32)own >> 25) * 4 + u];
                const tmap_cell3 cell = {
                    now->corner[u].x + (p & 31), now->corner[u].y + (p >> 5 & 31),
                    now->corner[u].z + (p >> 10), now->at[u] + (tmap_u64)(tmap_i64)from};
                tmapi_stencil3_values values;
                tmapi_value one;
#pragma unroll
                for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n)
                    tmapi_value_copy(values.bytes + n * s->size, wide[n].bytes + v * s->size,
                                     s->size);
                s->rule(s->job, cell, layer ? around & 0x3fe00 : around, &values, &one);
                tmapi_value_copy(next.bytes + v * s->size, &one, s->size);
            }
            tmapi_value_copy(shared + b->stage + (box * plan->cells + number) * bytes, &next,
                             bytes);
        }
    }
}

// Stores the next values of a step of `some` tiles. layer: a constant.
TMAP_DEVICE void tmapi_stencil3_box_store(const tmapi_stencil3 *s, const tmapi_stencil3_box *b,
                                          const tmapi_stencil3_boxed *now, tmap_u32 some,
                                          tmap_u32 cells, unsigned char *shared, int layer) {
    const tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 deep = tmapi_stencil3_deep(layer, s->size), bytes = deep * s->size;
    unsigned char *to[4] = {0, 0, 0, 0};
#pragma unroll
    for (tmap_u32 u = 0; u < tmapi_stencil3_boxes_of(layer) * deep; ++u)
        to[u] = s->out + now->at[u] * s->size;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = tmap_thread_rank(); i < cells; i += threads) {
        const int from = tmapi_stencil3_from(((const tmapi_stencil3_entry *)(shared + b->list))[i]);
#pragma unroll
        for (tmap_u32 box = 0; box < tmapi_stencil3_boxes_of(layer); ++box) {
            tmapi_value next;
            tmapi_value_copy(&next, shared + b->stage + (box * cells + i) * bytes, bytes);
#pragma unroll
            for (tmap_u32 v = 0; v < deep; ++v)
                if (box * deep + v < some)
                    tmapi_value_copy(tmapi_stencil3_at(to[box * deep + v], from, s->size),
                                     next.bytes + v * s->size, s->size);
        }
    }
}

// layer: a constant: 1 for a fractal of one layer.
TMAP_DEVICE void tmapi_stencil3_boxes(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                      int layer) {
    extern __shared__ uint4 tmapi_each3_shared[];
    unsigned char *shared = (unsigned char *)tmapi_each3_shared;
    const tmapi_stencil3_box b = plan->boxes;
    const tmap_u32 many = tmapi_stencil3_boxes_of(layer) * tmapi_stencil3_deep(layer, s->size);
    const tmap_u32 steps = tmapi_stencil3_steps(layer);
    const tmap_u64 end = plan->first + plan->count, stride = (tmap_u64)gridDim.x * many;
    tmap_u64 first = plan->first + (tmap_u64)blockIdx.x * many;
    tmapi_stencil3_boxed *tiles = (tmapi_stencil3_boxed *)(shared + b.tiles);
    tmapi_stencil3_box_tables(plan, &b, s->size, shared);
    tmapi_stencil3_box_step(plan, s, first, stride, tiles, layer);
    __syncthreads();
    for (tmap_u32 turn = 0; first < end;
         first += stride, turn = turn + 1 < 2 * steps ? turn + 1 : 0) {
        const tmapi_stencil3_boxed *now = tiles + turn;
        tmapi_stencil3_box_fill(s, &b, now, shared, layer);
        __syncthreads(); // also after the last stores: their tiles may be in the other buffer
        if (turn == 0 || turn == steps)
            tmapi_stencil3_box_step(plan, s, first + steps * stride, stride,
                                    tiles + (turn ? 0 : steps), layer);
        if (end - first >= many)
            tmapi_stencil3_box_apply(plan, s, &b, now, many, shared, layer);
        else
            tmapi_stencil3_box_apply(plan, s, &b, now, (tmap_u32)(end - first), shared, layer);
        __syncthreads();
        tmapi_stencil3_box_store(s, &b, now, end - first < many ? (tmap_u32)(end - first) : many,
                                 plan->cells, shared, layer);
    }
}

// ---- cell by cell, for plans for other work ----------------------------------------------------

// Gathers the values of the 27 places around a cell. in: the element of place (0, 0, 0), or of the
// first cell of compact storage. Returns `around`.
TMAPI_DEVICE_CALL tmap_u32 tmapi_stencil3_places(tmap_turned t, tmap_u32 r, tmap_pitch3 pitch,
                                                 const unsigned char *in, tmap_u32 size,
                                                 tmap_cell3 cell, unsigned char *places) {
    tmap_u32 around = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
        const tmap_xyz64 p = {cell.x + n % 3 - 1ull, cell.y + n / 3 % 3 - 1ull,
                              cell.z + n / 9 - 1ull};
        tmapi_value_zero(places + n * size, size);
        if (!tmap_turned_contains64(t, p, r)) continue;
        const tmap_u64 at = pitch.row == TMAP_COMPACT ? tmap_turned_nu_linear64(t, p, r)
                                                      : p.z * pitch.plane + p.y * pitch.row + p.x;
        tmapi_value_copy(places + n * size, in + at * size, size);
        around |= 1u << n;
    }
    return around;
}

TMAP_DEVICE void tmapi_stencil3_cell(const tmap_each3_plan *plan, const tmapi_stencil3 *s,
                                     tmap_cell3 cell) {
    tmapi_stencil3_values values;
    tmapi_value next;
    const tmap_u32 around =
        tmapi_stencil3_places(tmapi_each3_turned(plan), plan->r, plan->pitch,
                              s->in + plan->offset * s->size, s->size, cell, values.bytes);
    s->rule(s->job, cell, around, &values, &next);
    tmapi_value_copy(s->out + cell.at * s->size, &next, s->size);
}

// Goes through the plan's items: in each the tiles of a line, and in each of them its cells.
TMAP_DEVICE void tmapi_stencil3_cells(const tmap_each3_plan *plan, const tmapi_stencil3 *s) {
    const tmapi_each3_calls calls = {0, 0, 0, 0, 1, plan->pitch.row == TMAP_COMPACT};
    const tmap_u64 threads = (tmap_u64)blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 down = plan->box.y / plan->tile.y, across = plan->box.x / plan->tile.x;
    const tmap_u64 of_item = (tmap_u64)across * plan->chunk, end = plan->count * of_item;
    TMAPI_NO_UNROLL
    for (tmap_u64 n = blockIdx.x * threads + tmap_thread_rank(); n < end;
         n += gridDim.x * threads) {
        const tmap_u64 item = plan->first + n / of_item, line = item / plan->parts;
        const tmap_u32 rest = (tmap_u32)(n % of_item), x = rest / plan->chunk;
        const tmap_u32 i = (tmap_u32)(item % plan->parts) * plan->chunk + rest % plan->chunk;
        const tmap_u32 in_box = (tmap_u32)(line % plan->lines);
        const tmap_xyz at = {x, in_box % down, in_box / down};
        tmapi_each3_tile tile;
        tmap_cell3 cell;
        if (i >= plan->cells || !tmap_nbb3_contains(plan->f, at, plan->line_level)) continue;
        tile = tmapi_each3_line_at(plan, (tmap_u32)(line / plan->lines), in_box, 1);
        tile.corner.x += x * plan->tile.x, tile.at += x * plan->tile.x;
        cell = tmapi_each3_cell_at(plan, &tile, tmapi_each3_lambda(plan, i, plan->tile_level, 1, 1),
                                   i, &calls);
        tmapi_stencil3_cell(plan, s, cell);
    }
}

// ---- the calls ----------------------------------------------------------------------------------

// Calls rule(job, cell, around, places, next) once for every cell of the plan's share and writes
// *next to the cell's element of `out`. All threads of all blocks call it, and all return from it.
// in: elements of 1, 2, 4, 8 or 16 bytes, at a multiple of that; data is the volume's element 0,
// whatever plan->offset is. out: elements of the same size, not overlapping with `in`. All cells
// around a cell are read, whatever the rule does; places that are no cells are neither read nor
// written. rule: without barriers and collectives. Another call in the kernel needs a
// __syncthreads() before it. With a plan for other work or of turned copies the call is
// right, but tests membership for each neighbour.
// Cost, without the rule: about 110 instructions for a cell where cells are dense, 40 to 60 in
// a layer, and about 350 elsewhere. Registers: about 60 plus the values. __launch_bounds__(256, 3)
// leaves 80, which suits 4-byte values; larger ones may need the 128 of (512, 1).
TMAP_DEVICE void tmap_each3_stencil(const tmap_each3_plan *plan, tmap_array in,
                                    tmap_each3_rule rule, void *out, void *job) {
    tmapi_stencil3 s = {
        (const unsigned char *)in.data, (unsigned char *)out, in.size, rule, job, 0, 1};
    if (!tmapi_each3_check(plan, in.size, "tmap_each3_stencil", 1)) return;
    if (plan->boxes.bytes && plan->f.sz == 1)
        tmapi_stencil3_boxes(plan, &s, 1);
    else if (plan->boxes.bytes && tmapi_stencil3_deep(0, s.size))
        tmapi_stencil3_boxes(plan, &s, 0);
    else if (!tmapi_stencil3_run(plan, &s))
        tmapi_stencil3_cells(plan, &s);
}

// tmap_each3_stencil for words with one bit per cell. in.size: tmap_compact3_slice(plan->word).
// in.data and out are at multiples of 16. The rule gets a slice at a time, the same sheets at 27
// places; a bit of place n is the neighbour of the cell in that sheet, 0 where there is none. cell
// is that of sheet 0, and cell.at the number of the word, whichever of its slices it is. The engine
// clears idle bits of *next. With a plan for other work the launch ends with
// cudaErrorLaunchFailure.
TMAP_DEVICE void tmap_each3_words(const tmap_each3_plan *plan, tmap_array in, tmap_each3_rule rule,
                                  void *out, void *job) {
    tmapi_stencil3 s = {
        (const unsigned char *)in.data, (unsigned char *)out, in.size, rule, job, 1, 1};
    if (!tmapi_each3_made(plan, "tmap_each3_words") ||
        !TMAPI_CHECK(!plan->word.bytes || in.size == tmap_compact3_slice(plan->word),
                     "tmap_each3_words", "in.size is not that of a slice of the plan's words"))
        return;
    if (!plan->word.bytes || !tmapi_stencil3_run(plan, &s)) tmapi_refuse("tmap_each3_words");
}

#endif // TMAP_CUDA
#endif
