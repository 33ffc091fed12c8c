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

#define TMAPI_STORE_ROWS    8   // that a warp takes at a time
#define TMAPI_STORE_PERIOD  16  // from one of them to the next
#define TMAPI_STORE_BAND    128 // rows of all 16 sets of 8
#define TMAPI_STORE_SECTOR  32  // bytes
#define TMAPI_STORE_VECTORS 4   // of 16 bytes, of a point, that are staged at a time at most
#define TMAPI_STORE_WIDE    4   // columns of a lane

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

// Bytes of shared memory for a tile: its rows, its columns and a sector before them, and one place
// more for each row of vectors, so that the vectors of a column lie in different banks.
TMAP_FN tmap_u32 tmapi_store_shared(tmap_u32 side, tmap_u32 vectors, tmap_u32 bytes) {
    return (2 * side + tmapi_store_before(bytes) + 1) * vectors * 16;
}

// Where row i of the output would have its column 0. Modulo 2^64: row 0 of a condensed matrix has
// it before the beginning.
TMAP_FN tmap_u64 tmapi_store_begin(int condensed, tmap_u64 n, tmap_u64 pitch, tmap_u64 i) {
    return condensed ? i * (2 * n - i - 3) / 2 - 1 : i * pitch;
}

#if TMAP_CUDA

// Measures of a block, constants: a tile of `side` x `side` points, which is one strip of 32 lanes
// of `wide` columns; warps; vectors of a point that are staged.
typedef struct tmapi_store_shape {
    tmap_u32 side, wide, warps, vectors;
} tmapi_store_shape;

// A tile. size, bytes: of a coordinate and of a value, constants; bytes 0: bits.
typedef struct tmapi_store {
    const unsigned char *points, *others; // of the tile's set
    unsigned char *out;
    tmap_u64 pitch;
    tmap_u32 size, bytes, d;
    int n, rows, columns; // points of rows, rows that are written, points of columns
    int row, column;      // the tile's first
    int condensed, lower, hollow;
    int two; // sets: pairs are all of the matrix
} tmapi_store;

// Tile number `item` of a plan.
TMAP_DEVICE tmapi_store tmapi_store_make(const tmap_pairs_plan *plan, tmap_u32 item,
                                         const tmapi_store_shape f, const void *points,
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
    s.row = (int)row * (int)f.side, s.column = (int)column * (int)f.side;
    s.condensed = layout == TMAP_PAIRS_CONDENSED, s.lower = layout == TMAP_PAIRS_LOWER;
    s.hollow = !s.two && (plan->layout & TMAP_PAIRS_HOLLOW) != 0;
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

// How many values before a multiple of 128 columns the strips of row i begin, so as to begin at a
// sector of memory. The same for each 16th row.
TMAP_DEVICE int tmapi_store_shift(const tmapi_store *s, int i) {
    const tmap_u64 begin = tmapi_store_begin(s->condensed, (tmap_u32)s->n, s->pitch, (tmap_u64)i);
    if (!s->bytes) return 0;
    return (int)(((tmap_u64)s->out / s->bytes + begin) & (tmapi_store_before(s->bytes) - 1));
}

// ---- points -------------------------------------------------------------------------------------

// A value of 4, 8 or 16 bytes of coordinates, `from` or 0.
TMAP_DEVICE uint4 tmapi_store_fetch(int exists, const unsigned char *from, tmap_u32 bytes) {
    uint4 value = make_uint4(0, 0, 0, 0);
    if (exists && bytes == 4) value.x = __float_as_uint(__ldg((const float *)from));
    if (exists && bytes == 8) {
        const tmap_u64 word = __ldg((const tmap_u64 *)from);
        value.x = (tmap_u32)word, value.y = (tmap_u32)(word >> 32);
    }
    if (exists && bytes == 16) value = __ldg((const uint4 *)from);
    return value;
}

// So many vectors of coordinates, from coordinate `first` on, of all rows and columns of a tile
// into shared memory; 0 for points and coordinates that do not exist. Column x of those staged
// lies at place x / v of row x % v, v values a vector: the lanes of a warp, which ask for every
// v-th column, read side by side. unit: coordinates of a load, 1 or a vector of them. A thread
// always has the same coordinates, so that all addresses grow by constants.
TMAP_DEVICE void tmapi_store_stage_by(const tmapi_store *s, const tmapi_store_shape f,
                                      const tmap_u32 unit, tmap_u32 first, unsigned char *staged) {
    const int v = (int)tmapi_store_values(s->bytes), before = (int)tmapi_store_before(s->bytes);
    const tmap_u32 size = s->size, per = 16 / size; // coordinates of a vector
    const int side = (int)f.side, columns = side + before, units = (int)(f.vectors * per / unit);
    const int stride = 32 * (int)f.warps / units; // points at a time, a multiple of v
    const tmap_u32 k = threadIdx.x % (tmap_u32)units * unit;
    const int t = (int)(threadIdx.x / (tmap_u32)units);
    const int exists = first + k < s->d;
    unsigned char *rows = staged + (tmap_u32)t * f.vectors * 16 + k * size;
    unsigned char *places = staged + (tmap_u32)side * f.vectors * 16 +
                            ((int)(k / per) * (columns + 1) + t % v * (columns / v) + t / v) * 16 +
                            k % per * size;
#pragma unroll 6
    for (int x = 0; x < side + columns; x += x < side && x + stride > side ? side - x : stride) {
        const int end = x < side ? side : side + columns;
        const int here = x + stride <= end || x + t < end;
        const int point = x < side ? s->row + x + t : s->column - before + (x - side) + t;
        const unsigned char *points = x < side ? s->points : s->others;
        unsigned char *to =
            x < side ? rows + (tmap_u32)x * f.vectors * 16 : places + (x - side) / v * 16;
        const int found =
            here && exists && (tmap_u32)point < (tmap_u32)(x < side ? s->n : s->columns);
        uint4 value = tmapi_store_fetch(
            found, points + ((tmap_u64)(tmap_u32)point * s->d + first + k) * size, unit * size);
        if (here) tmapi_value_copy(to, &value, unit * size);
    }
}

// Measures the coordinates that are staged from a centre of the point's own, and multiplies them.
// scale: the centre and the factor of each row and then of each column of those staged.
TMAP_DEVICE void tmapi_store_scale(const tmapi_store *s, const tmapi_store_shape f, tmap_u32 first,
                                   const double *scale, unsigned char *staged) {
    const int v = (int)tmapi_store_values(s->bytes), side = (int)f.side;
    const int columns = side + (int)tmapi_store_before(s->bytes);
    const tmap_u32 per = 16 / s->size;
    for (int x = (int)threadIdx.x; x < side + columns; x += 32 * (int)f.warps) {
        const double centre = scale[2 * x], factor = scale[2 * x + 1];
        const int c = x - side; // of a column
        unsigned char *at = staged + (tmap_u32)x * f.vectors * 16;
        tmap_u32 next = 16;
        if (c >= 0) {
            at = staged + (tmap_u32)side * f.vectors * 16 + (c % v * (columns / v) + c / v) * 16;
            next = (tmap_u32)(columns + 1) * 16;
        }
#pragma unroll 1
        for (tmap_u32 k = 0; k < f.vectors * per && first + k < s->d; ++k) {
            unsigned char *to = at + k / per * next + k % per * s->size;
            if (s->size == 4) *(float *)to = (float)(((double)*(float *)to - centre) * factor);
            if (s->size == 8) *(double *)to = (*(double *)to - centre) * factor;
        }
    }
}

// Stages the points of a tile, by whole vectors where they lie at them. vectors: a constant, 1 to
// try it: for few coordinates it is not worth the code. scale: as for tmapi_store_scale, or 0.
// Collective for the block, with a barrier at its end.
TMAP_DEVICE void tmapi_store_stage(const tmapi_store *s, const tmapi_store_shape f, int vectors,
                                   tmap_u32 first, const double *scale, unsigned char *staged) {
    const tmap_u32 per = 16 / s->size;
    if (vectors && s->d % per == 0 && ((tmap_u64)s->points | (tmap_u64)s->others) % 16 == 0)
        tmapi_store_stage_by(s, f, per, first, staged);
    else
        tmapi_store_stage_by(s, f, 1, first, staged);
    __syncthreads();
    if (scale) {
        tmapi_store_scale(s, f, first, scale, staged);
        __syncthreads();
    }
}

// ---- strips -------------------------------------------------------------------------------------

// What a warp writes at a time: 8 rows, every 16th one, of 32 lanes by `wide` columns. i, j: the
// first row, and the lane's first column. at: where they are in the output; the 16th next row is
// `step` values on, which shrinks by `shrink` from one such step to the next in a condensed
// matrix. inside: all pairs are there and none is of the diagonal.
typedef struct tmapi_store_strip {
    unsigned char *at;
    const unsigned char *rows;    // staged, the first
    const unsigned char *mine[4]; // the lane's first columns, staged
    int i, j, inside;
    tmap_u32 step, shrink;
} tmapi_store_strip;

// Where the lane's column c is staged: vectors of v columns are 32 places apart. strip: an
// expression, and v a constant.
#define TMAPI_STORE_COLUMN(strip, v, c) ((strip)->mine[(c) % (v)] + (c) / (v)*32 * 16)

// The lane's column number c, counted from the strip's j.
TMAP_DEVICE int tmapi_store_column(int v, tmap_u32 c) { return (int)c / v * 32 * v + (int)c % v; }

// The strip of the rows y, y + 16, .. of a tile. shift: theirs.
TMAP_DEVICE tmapi_store_strip tmapi_store_strip_make(const tmapi_store *s,
                                                     const tmapi_store_shape f, int y, int shift,
                                                     const unsigned char *staged) {
    const int v = (int)tmapi_store_values(s->bytes), before = (int)tmapi_store_before(s->bytes);
    const int width = 32 * (int)f.wide, lane = (int)(threadIdx.x % 32);
    const int i = s->row, j = s->column - shift;
    const int above = s->two || (!s->lower && j >= i + TMAPI_STORE_BAND);
    const int below = !s->two && !s->condensed && j + width <= i;
    const tmap_u64 begin =
        tmapi_store_begin(s->condensed, (tmap_u32)s->n, s->pitch, (tmap_u64)(i + y));
    tmapi_store_strip strip;
    strip.inside =
        (above || below) && j >= 0 && j + width <= s->columns && i + TMAPI_STORE_BAND <= s->rows;
    strip.i = i + y, strip.j = j + lane * v;
    strip.rows = staged + (tmap_u32)y * f.vectors * 16;
    staged += f.side * f.vectors * 16;
    for (int c = 0; c < 4; ++c) {
        const int x = before - shift + c; // and v more for each lane
        if (c < v)
            strip.mine[c] = staged + (x % v * (((int)f.side + before) / v) + x / v + lane) * 16;
    }
    if (s->bytes)
        strip.at = s->out + (begin + (tmap_u64)(tmap_i64)strip.j) * s->bytes;
    else
        strip.at = s->out + (begin + (tmap_u64)(j / 32 + lane)) * 4;
    strip.step = TMAPI_STORE_PERIOD * (tmap_u32)s->pitch, strip.shrink = 0;
    if (s->condensed) {
        strip.step = (tmap_u32)(tmapi_store_begin(1, (tmap_u32)s->n, 0,
                                                  (tmap_u64)(i + y + TMAPI_STORE_PERIOD)) -
                                begin);
        strip.shrink = TMAPI_STORE_PERIOD * TMAPI_STORE_PERIOD;
    }
    return strip;
}

// To the strip's next row.
TMAP_DEVICE void tmapi_store_next(const tmapi_store *s, tmapi_store_strip *strip) {
    strip->i += TMAPI_STORE_PERIOD;
    strip->at += (tmap_u64)strip->step * (s->bytes ? s->bytes : 4);
    strip->step -= strip->shrink;
}

// A lane's values of a row: for each column so many bytes side by side; of bits a 32-bit 0 or 1.
typedef struct tmapi_store_out {
    alignas(16) unsigned char bytes[8 * TMAPI_STORE_WIDE];
} tmapi_store_out;

// Of a lane's columns, those whose pair in the strip's row has a place in the output, and those
// whose value is asked for: a bit for each.
typedef struct tmapi_store_bits {
    tmap_u32 placed, wanted;
} tmapi_store_bits;

TMAP_DEVICE tmapi_store_bits tmapi_store_bits_of(const tmapi_store *s,
                                                 const tmapi_store_strip *strip, tmap_u32 wide) {
    const int first = s->condensed ? strip->i + 1 : 0;
    const int end = strip->i >= s->rows ? 0 : s->lower ? strip->i + 1 : s->columns;
    const int v = (int)tmapi_store_values(s->bytes);
    tmapi_store_bits bits = {~0u, ~0u};
    if (strip->inside) return bits;
    bits.placed = bits.wanted = 0;
#pragma unroll 1
    for (tmap_u32 c = 0; c < wide; ++c) {
        const int j = strip->j + tmapi_store_column(v, c);
        bits.placed |= (tmap_u32)(j >= first && j < end) << c;
        bits.wanted |= (tmap_u32)(j >= first && j < end && !(s->hollow && j == strip->i)) << c;
    }
    return bits;
}

// Stores a lane's values of the strip's row, those that have a place. Bits are collective for the
// warp, and 0 where there is no pair.
TMAP_DEVICE void tmapi_store_write(const tmapi_store *s, const tmapi_store_strip *strip,
                                   tmap_u32 wide, tmap_u32 placed, const tmapi_store_out *out) {
    const tmap_u32 bytes = s->bytes, v = tmapi_store_values(bytes);
    if (!bytes) {
        const tmap_u32 lane = threadIdx.x % 32, *yes = (const tmap_u32 *)out->bytes;
        const int column = strip->j - (int)lane + 32 * (int)lane; // the word's first one
        const int end = s->lower ? strip->i + 1 : s->columns;
        tmap_u32 word = 0;
#pragma unroll
        for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
            if (c < wide) {
                const tmap_u32 votes = __ballot_sync(0xffffffffu, yes[c] != 0);
                word = lane == c ? votes : word;
            }
        if (lane < wide && (strip->inside || (strip->i < s->rows && column < end)))
            *(tmap_u32 *)strip->at = word;
        return;
    }
#pragma unroll
    for (tmap_u32 g = 0; g < TMAPI_STORE_WIDE; ++g) {
        unsigned char *at = strip->at + g * 32 * 16;
        const tmap_u32 all = (1u << v) - 1, here = placed >> g * v & all;
        uint4 vector;
        if (g >= wide / v) break;
        tmapi_value_copy(&vector, out->bytes + 16 * g, 16);
        if (strip->inside || here == all) {
            __stcs((uint4 *)at, vector);
        } else if (here) {
            tmapi_value one = {{0}};
            tmapi_value_copy(one.bytes, &vector, 16);
#pragma unroll 1
            for (tmap_u32 c = 0; c < v; ++c) // of memory, as there is little to do
                if (here >> c & 1) tmapi_value_copy(at + c * bytes, one.bytes + c * bytes, bytes);
        }
    }
}

#endif // TMAP_CUDA
#endif
