// SPDX-License-Identifier: MIT
// pairs_store_tile.h: how values of pairs go to memory in whole sectors: tiles, their points in
// shared memory, and rows of values.
//
// Memory takes whole sectors of 32 bytes at less than half the price of parts of them. But a row
// of a condensed matrix begins anywhere. Where it begins in its sector repeats every 16 rows,
// since i(i+1)/2 modulo 8 does, and so it does in a matrix of any pitch: so a warp takes every
// 16th row of a tile, and keeps 4 columns a lane in registers that are shifted, once for all of
// these rows, to where the sectors begin. Tiles thus end where sectors do, not at multiples of 128
// columns.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_TILE_H
#define TMAP_TRIANGLE_PAIRS_STORE_TILE_H

#include "../value.h"
#include "pairs_plan.h"

#define TMAPI_STORE_WARPS   16  // of a block, which then writes all rows of a tile side by side
#define TMAPI_STORE_ROWS    8   // that a warp takes at a time
#define TMAPI_STORE_PERIOD  16  // from one of them to the next
#define TMAPI_STORE_BAND    128 // rows of all 16 sets of 8, and columns of a warp
#define TMAPI_STORE_SECTOR  32  // bytes
#define TMAPI_STORE_VECTORS 4   // of 16 bytes, of a point that is whole in registers, at most
#define TMAPI_STORE_WIDE    4   // columns of a lane
#define TMAPI_STORE_WIDEST  8   // of sums in few registers, where tiles are large

// Values of 16 bytes; lanes store so many side by side. Of bits, a lane has one, and a word is
// made of what 32 lanes say.
TMAP_FN tmap_u32 tmapi_store_values(tmap_u32 bytes) { return bytes ? 16 / bytes : 1; }

// Columns before a tile's own that may be written with it: a sector of them.
TMAP_FN tmap_u32 tmapi_store_before(tmap_u32 bytes) {
    return bytes ? TMAPI_STORE_SECTOR / bytes : 0;
}

// Vectors of a point: 1, 2 or 4.
TMAP_FN tmap_u32 tmapi_store_vectors(tmap_u32 size, tmap_u32 d) {
    return d * size <= 16 ? 1 : d * size <= 32 ? 2 : TMAPI_STORE_VECTORS;
}

// Places of staged points, of 16 bytes each: of a tile's rows, its columns and a sector before
// them.
TMAP_FN tmap_u32 tmapi_store_places(tmap_u32 side, tmap_u32 bytes) {
    return 2 * side + tmapi_store_before(bytes);
}

// Bytes from where the points' vectors are to where their next ones are: one place more, so that
// the vectors of a point lie in different banks.
TMAP_FN tmap_u32 tmapi_store_plane(tmap_u32 side, tmap_u32 bytes) {
    return (tmapi_store_places(side, bytes) + 1) * 16;
}

#if TMAP_CUDA

// A tile of `side` x `side` points, a band or two. size, bytes: of a coordinate and of a
// value, constants; bytes 0: bits. across: its bands, 1 or 2. warps: of the block, 4 to 16, and
// lanes: that bring a point, 1 or 4, constants. wide: columns of a lane, a constant.
typedef struct tmapi_store {
    const unsigned char *points, *others; // of the tile's set
    unsigned char *out;
    tmap_u64 pitch;
    tmap_u32 side, across, warps, lanes, wide, size, bytes, d;
    int n, rows, columns; // points of rows, rows that are written, points of columns
    int row, column;      // the tile's first
    int condensed, lower, hollow;
    int two;  // sets: pairs are all of the matrix
    int free; // whether all rows of the matrix are full
} tmapi_store;

// Tile number `item` of a plan.
TMAP_DEVICE tmapi_store tmapi_store_make(const tmap_pairs_plan *plan, tmap_u32 item, tmap_u32 side,
                                         tmap_u32 warps, tmap_u32 lanes, const void *points,
                                         const void *others, tmap_u32 size, tmap_u32 d,
                                         tmap_u32 bytes, void *out) {
    const tmap_u32 layout = plan->layout & TMAPI_PAIRS_LAYOUT, skew = plan->before != 0;
    tmap_u32 tile = item, row, column;
    tmap_u64 set = 0;
    tmapi_store s;
    if (plan->sets > 1) set = item / (tmap_u32)plan->tiles, tile -= (tmap_u32)(set * plan->tiles);
    if (layout == TMAP_PAIRS_SQUARE) {
        row = tile / plan->across, column = tile - row * plan->across;
    } else if (layout == TMAP_PAIRS_LOWER) {
        const tmap_pair p = tmap_triangle_map(tile + skew);
        row = p.i - skew, column = p.j;
    } else if (plan->across <= 92681) {
        const tmap_pair p = tmap_upper_map(tile, plan->across);
        row = p.i, column = p.j;
    } else {
        const tmap_pair64 p = tmap_upper_map64(tile, plan->across);
        row = (tmap_u32)p.i, column = (tmap_u32)p.j;
    }
    s.n = (int)plan->n, s.rows = (int)plan->rows, s.two = plan->others != 0;
    s.columns = s.two ? (int)plan->others : s.n;
    s.warps = warps, s.lanes = lanes, s.side = side, s.across = side / TMAPI_STORE_BAND;
    s.wide = TMAPI_STORE_WIDE;
    s.row = (int)(row * side), s.column = (int)(column * side);
    s.condensed = layout == TMAP_PAIRS_CONDENSED, s.lower = layout == TMAP_PAIRS_LOWER;
    s.hollow = !s.two && (plan->layout & TMAP_PAIRS_HOLLOW) != 0;
    s.free = !s.condensed && !s.lower && !s.hollow;
    s.size = size, s.d = d, s.bytes = bytes, s.pitch = plan->step;
    s.points = (const unsigned char *)points;
    s.others = (const unsigned char *)(s.two ? others : points);
    s.out = (unsigned char *)out;
    if (plan->sets > 1) {
        s.points += set * plan->n * d * size;
        s.others += set * (tmap_u32)s.columns * d * size;
        s.out += set * plan->values * (bytes ? bytes : 4);
    }
    return s;
}

// ---- strips -------------------------------------------------------------------------------------

// What a warp writes at a time: 8 rows, every 16th one, of 32 lanes by 4 or 8 columns. i, j: the
// first row, and the lane's first column. at: where they are in the output; the 16th next row is
// `step` values on, which shrinks by `shrink` from one such step to the next in a condensed matrix.
// full: so many of the rows, from the first one on, have all of their pairs, and none of the
// diagonal.
typedef struct tmapi_store_strip {
    unsigned char *at;
    const unsigned char *rows;    // staged, the first
    const unsigned char *mine[4]; // the lane's first columns, staged
    int i, j, full;
    tmap_u32 step, shrink;
} tmapi_store_strip;

// Where the lane's column c is staged: vectors of v columns are 32 places apart. strip: an
// expression, and v a constant.
#define TMAPI_STORE_COLUMN(strip, v, c) ((strip)->mine[(c) % (v)] + (c) / (v)*32 * 16)

// The lane's column number c, counted from the strip's j.
TMAP_DEVICE int tmapi_store_column(int v, tmap_u32 c) { return (int)c / v * 32 * v + (int)c % v; }

// Where column x of those staged lies among them: v columns that lanes store side by side are in v
// runs, in each of which the lanes of a warp, which ask for every v-th column, read side by side.
TMAP_DEVICE tmap_u32 tmapi_store_place(const tmapi_store *s, tmap_u32 x) {
    const tmap_u32 v = tmapi_store_values(s->bytes);
    return x % v * ((s->side + tmapi_store_before(s->bytes)) / v) + x / v;
}

// Where row i of the output, which exists, would have its column 0. Modulo 2^64: row 0 of a
// condensed matrix has it before the beginning.
TMAP_DEVICE tmap_u64 tmapi_store_begin(const tmapi_store *s, tmap_u32 i) {
    if (!s->condensed) return i * s->pitch;
    return i * (tmap_u64)(2 * (tmap_u32)s->n - i - 3) / 2 - 1;
}

// How many rows of a strip are full, from row i and column j of its first lane on.
TMAP_DEVICE int tmapi_store_full(const tmapi_store *s, int i, int j) {
    const int past = j + (int)(32 * s->wide);
    int end = s->rows, full;
    if (!s->free && (s->condensed || past > i)) // columns before j are of the diagonal
        end = s->lower ? 0 : j < end ? j : end;
    if (j < 0 || past > s->columns) end = 0;
    full = (end - i + TMAPI_STORE_PERIOD - 1) >> 4; // 16 of them
    return full < 0 ? 0 : full < TMAPI_STORE_ROWS ? full : TMAPI_STORE_ROWS;
}

// How many of them are side by side in a band, how many a warp of a block has, and strip number
// `turn` of its own.
TMAP_DEVICE tmap_u32 tmapi_store_beside(const tmapi_store *s) {
    return s->across * TMAPI_STORE_WIDE / s->wide;
}
TMAP_DEVICE tmap_u32 tmapi_store_strips(const tmapi_store *s) {
    return s->across * tmapi_store_beside(s) * (TMAPI_STORE_PERIOD / s->warps);
}
TMAP_DEVICE tmapi_store_strip tmapi_store_strip_make(const tmapi_store *s, tmap_u32 turn,
                                                     const unsigned char *staged) {
    const tmap_u32 v = tmapi_store_values(s->bytes), before = tmapi_store_before(s->bytes);
    const tmap_u32 run = (s->side + before) / v * 16; // bytes
    const tmap_u32 turns = TMAPI_STORE_PERIOD / s->warps, square = turn / turns;
    const tmap_u32 beside = tmapi_store_beside(s); // 1 or 2
    const tmap_u32 lane = threadIdx.x % 32, y = turn % turns * s->warps + threadIdx.x / 32 +
                                                (square >> (beside - 1)) * TMAPI_STORE_BAND;
    const tmap_u32 x = (square & (beside - 1)) * TMAPI_STORE_BAND;
    const tmap_u32 i = (tmap_u32)s->row + y;
    const tmap_u64 begin = tmapi_store_begin(s, i);
    // How many values before a multiple of 128 columns the strip begins, so as to begin at a
    // sector of memory. The same for each 16th row.
    const tmap_u32 shift =
        s->bytes ? (tmap_u32)((tmap_u64)s->out / s->bytes + begin) & (before - 1) : 0;
    const tmap_u32 skew = (before - shift) % v; // the run of the lane's first column
    const int j = s->column + (int)x - (int)shift;
    tmapi_store_strip strip;
    strip.full = tmapi_store_full(s, (int)i, j);
    strip.i = (int)i, strip.j = j + (int)(lane * v);
    strip.rows = staged + y * 16;
    staged += s->side * 16 + skew * run + ((before - shift) / v + x / v + lane) * 16;
    for (tmap_u32 c = 0; c < v; ++c)
        strip.mine[c] = staged + c * run - (skew + c < v ? 0 : v * run - 16);
    strip.at = s->out + (begin + (tmap_u64)(tmap_i64)(s->bytes ? strip.j : j / 32 + (int)lane)) *
                            (s->bytes ? s->bytes : 4);
    strip.step = TMAPI_STORE_PERIOD * (tmap_u32)s->pitch, strip.shrink = 0;
    if (s->condensed) { // how far it is from row i to row i + 16
        strip.step = TMAPI_STORE_PERIOD * ((tmap_u32)s->n - i) -
                     TMAPI_STORE_PERIOD * (TMAPI_STORE_PERIOD + 3) / 2;
        strip.shrink = TMAPI_STORE_PERIOD * TMAPI_STORE_PERIOD;
    }
    return strip;
}

// The same number, but the compiler does not know: it computes what follows from it again, rather
// than keep it in registers that are needed for other things meanwhile.
TMAP_DEVICE tmap_u32 tmapi_store_again(tmap_u32 x) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(x));
#endif
    return x;
}

// To the strip's next row.
TMAP_DEVICE void tmapi_store_next(const tmapi_store *s, tmapi_store_strip *strip) {
    strip->i += TMAPI_STORE_PERIOD, strip->full -= 1;
    strip->rows += TMAPI_STORE_PERIOD * 16;
    strip->at += (tmap_u64)strip->step * (s->bytes ? s->bytes : 4);
    strip->step -= strip->shrink;
}

// ---- rows of values -----------------------------------------------------------------------------

// A lane's values of a row: for each column so many bytes side by side; of bits a 32-bit 0 or 1.
typedef struct tmapi_store_out {
    alignas(16) unsigned char bytes[8 * TMAPI_STORE_WIDE];
} tmapi_store_out;

// The columns of row i that have a place in the output: from *first on, before the result.
TMAP_DEVICE int tmapi_store_range(const tmapi_store *s, int i, int *first) {
    *first = s->condensed ? i + 1 : 0;
    return i >= s->rows ? 0 : s->lower ? i + 1 : s->columns;
}

// Of 32 columns beside each other a word of bits, which lane c of the warp keeps and stores.
TMAP_DEVICE tmap_u32 tmapi_store_vote(tmap_u32 word, tmap_u32 c, int yes) {
    const tmap_u32 votes = __ballot_sync(0xffffffffu, yes);
    return threadIdx.x % 32 == c ? votes : word;
}
TMAP_DEVICE void tmapi_store_word(const tmapi_store *s, const tmapi_store_strip *strip, int end,
                                  tmap_u32 word) {
    const int lane = (int)(threadIdx.x % 32), column = strip->j + 31 * lane; // the word's first
    if (lane < TMAPI_STORE_WIDE && strip->i < s->rows && column < end)
        *(tmap_u32 *)strip->at = word;
}

// Stores a lane's values of the strip's row, those that have a place, and zeros on the diagonal of
// a hollow matrix. full: whether the row is. Collective for the warp.
TMAP_DEVICE void tmapi_store_write(const tmapi_store *s, const tmapi_store_strip *strip,
                                   const int full, const tmapi_store_out *out) {
    const tmap_u32 bytes = s->bytes, v = tmapi_store_values(bytes);
    int first;
    const int end = tmapi_store_range(s, strip->i, &first);
    if (!bytes) {
        tmap_u32 word = 0;
#pragma unroll
        for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c) {
            const int j = strip->j + (int)c * 32;
            const int placed = full || (j >= first && j < end && !(s->hollow && j == strip->i));
            word = tmapi_store_vote(word, c, placed && ((const tmap_u32 *)out->bytes)[c]);
        }
        tmapi_store_word(s, strip, end, word);
        return;
    }
#pragma unroll
    for (tmap_u32 g = 0; g < TMAPI_STORE_WIDE; ++g) { // 8 columns are floats
        unsigned char *at = strip->at + g * 32 * 16;
        const int j = strip->j + (int)(g * 32 * v), to = j + (int)v;
        if (g >= s->wide / v) break;
        if (full || (j >= first && to <= end && !(s->hollow && j <= strip->i && to > strip->i))) {
            uint4 vector;
            tmapi_value_copy(&vector, out->bytes + 16 * g, 16);
            __stcs((uint4 *)at, vector);
        } else if (to > first && j < end) {
#pragma unroll
            for (tmap_u32 c = 0; c < 4; ++c) {
                const int column = j + (int)c;
                tmapi_value one;
                if (c >= v) break;
                tmapi_value_copy(one.bytes, out->bytes + 16 * g + c * bytes, bytes);
                if (s->hollow && column == strip->i) tmapi_value_zero(one.bytes, bytes);
                if (column >= first && column < end)
                    tmapi_value_copy(at + c * bytes, one.bytes, bytes);
            }
        }
    }
}

#endif // TMAP_CUDA
#endif
