// SPDX-License-Identifier: MIT
// pairs_store_tiles.h: of pairs_store.h: tiles of the matrix, their points in shared memory, and
// how rows of values are written.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_TILES_H
#define TMAP_TRIANGLE_PAIRS_STORE_TILES_H

#include "pairs_store_plan.h"

#if TMAP_CUDA

// ---- tiles --------------------------------------------------------------------------------------

// A tile of `side` x `side` points: `across` bands, 1 or 2. Constants are: size, bytes (of a
// coordinate and of a value, 0: bits); warps of the block, 4 to 16; lanes that copy a point
// together, 1 or 4; wide, columns of a lane; tall, rows that a warp takes at a time, fewer than 8
// only for sums of more than 16 bytes; sum, bytes from one sum of a lane to the next.
typedef struct tmapi_store {
    const unsigned char *points, *others; // of the tile's set
    unsigned char *out;
    tmap_u64 pitch;
    tmap_u32 side, across, warps, lanes, wide, tall, sum, size, bytes, d;
    int n, rows, columns; // points of rows, rows that are written, points of columns
    int row, column;      // the tile's first
    int condensed, lower, hollow;
    tmap_u32 set; // the tile's
    int two;      // 1: a second set, so the matrix has all pairs
    int free;     // 1: all rows of the matrix are full
} tmapi_store;

// Tile number `item` of a plan.
TMAP_DEVICE tmapi_store tmapi_store_make(const tmap_pairs_plan *plan, tmap_u32 item, tmap_u32 side,
                                         tmap_u32 warps, tmap_u32 lanes, tmap_points points,
                                         tmap_u32 bytes, void *out) {
    const tmap_u32 layout = plan->layout & TMAPI_PAIRS_LAYOUT, skew = plan->before != 0;
    tmap_u32 tile = item, row, column;
    tmap_u64 set = 0;
    tmapi_store s;
    if (plan->sets > 1) set = item / (tmap_u32)plan->tiles, tile -= (tmap_u32)(set * plan->tiles);
    tmapi_pairs_tile_of(tile, layout, plan->across, skew,
                        layout == TMAP_PAIRS_CONDENSED && plan->across > 92681, &row, &column);
    s.n = (int)plan->n, s.rows = (int)plan->rows, s.two = plan->others != 0;
    s.columns = s.two ? (int)plan->others : s.n;
    s.warps = warps, s.lanes = lanes, s.side = side, s.across = side / TMAPI_STORE_BAND;
    s.wide = TMAPI_STORE_WIDE, s.tall = TMAPI_STORE_ROWS, s.sum = 0;
    s.row = (int)(row * side), s.column = (int)(column * side);
    s.condensed = layout == TMAP_PAIRS_CONDENSED, s.lower = layout == TMAP_PAIRS_LOWER;
    s.hollow = !s.two && (plan->layout & TMAP_PAIRS_HOLLOW) != 0;
    s.free = !s.condensed && !s.lower && !s.hollow;
    s.size = points.size, s.d = points.d, s.bytes = bytes, s.pitch = plan->step;
    s.points = (const unsigned char *)points.a;
    s.others = (const unsigned char *)(s.two ? points.b : points.a);
    s.out = (unsigned char *)out, s.set = (tmap_u32)set;
    if (plan->sets > 1) {
        s.points += set * plan->n * s.d * s.size;
        s.others += set * (tmap_u32)s.columns * s.d * s.size;
        s.out += set * plan->values * (bytes ? bytes : 4);
    }
    return s;
}

// ---- strips -------------------------------------------------------------------------------------

// What a warp writes at a time: 8 rows, 16 apart, of 32 lanes by 4 or 8 columns. i, j: the first
// row, and the lane's first column. at: their address in the output. The row 16 further is `step`
// values on; in a condensed matrix `step` shrinks by `shrink` each time. full: number of rows, from
// the first, in which all pairs exist and none is on the diagonal.
typedef struct tmapi_store_strip {
    unsigned char *at;
    const unsigned char *rows;    // staged, the first
    const unsigned char *mine[4]; // the lane's first columns, staged
    int i, j, full;
    tmap_u32 step, shrink;
} tmapi_store_strip;

// Values that a lane stores together.
TMAP_DEVICE tmap_u32 tmapi_store_together(const tmapi_store *s) {
    const tmap_u32 v = tmapi_store_values(s->bytes);
    return v < s->wide ? v : s->wide;
}

// Where the lane's column c is staged. strip: an expression; v: a constant.
#define TMAPI_STORE_COLUMN(strip, v, c) ((strip)->mine[(c) % (v)] + (c) / (v)*32 * 16)

// The lane's column number c, relative to the strip's j.
TMAP_DEVICE int tmapi_store_column(int v, tmap_u32 c) { return (int)c / v * 32 * v + (int)c % v; }

// Where column x of the staged ones is stored among them: in v runs, so that the lanes of a warp,
// which read every v-th column, read contiguous memory.
TMAP_DEVICE tmap_u32 tmapi_store_place(const tmapi_store *s, tmap_u32 x) {
    const tmap_u32 v = tmapi_store_together(s);
    return x % v * ((s->side + tmapi_store_before(s->bytes)) / v) + x / v;
}

// Position of row i's column 0 in the output, modulo 2^64: for row 0 of a condensed matrix it is
// before the beginning.
TMAP_DEVICE tmap_u64 tmapi_store_begin(const tmapi_store *s, tmap_u32 i) {
    if (!s->condensed) return i * s->pitch;
    return i * (tmap_u64)(2 * (tmap_u32)s->n - i - 3) / 2 - 1;
}

// Number of full rows of a strip, from row i and column j of its first lane on.
TMAP_DEVICE int tmapi_store_full(const tmapi_store *s, int i, int j) {
    const int past = j + (int)(32 * s->wide);
    int end = s->rows, full;
    if (!s->free && (s->condensed || past > i)) // columns before j are on the diagonal
        end = s->lower ? 0 : j < end ? j : end;
    if (j < 0 || past > s->columns) end = 0;
    full = (end - i + TMAPI_STORE_PERIOD - 1) >> 4; // 16 of them
    return full < 0 ? 0 : full < TMAPI_STORE_ROWS ? full : TMAPI_STORE_ROWS;
}

// Strips side by side in a tile, and below each other for all warps; strips of a warp; strip number
// `turn` of these.
TMAP_DEVICE tmap_u32 tmapi_store_beside(const tmapi_store *s) {
    return s->tall < TMAPI_STORE_ROWS ? 1 : s->across * TMAPI_STORE_WIDE / s->wide;
}
TMAP_DEVICE tmap_u32 tmapi_store_below(const tmapi_store *s) {
    return s->tall < TMAPI_STORE_ROWS ? s->side / (TMAPI_STORE_PERIOD * s->tall) : s->across;
}
TMAP_DEVICE tmap_u32 tmapi_store_strips(const tmapi_store *s) {
    return tmapi_store_below(s) * tmapi_store_beside(s) * (TMAPI_STORE_PERIOD / s->warps);
}
TMAP_DEVICE tmapi_store_strip tmapi_store_strip_make(const tmapi_store *s, tmap_u32 turn,
                                                     const unsigned char *staged) {
    const tmap_u32 v = tmapi_store_together(s), before = tmapi_store_before(s->bytes);
    const tmap_u32 run = (s->side + before) / v * 16; // bytes
    const tmap_u32 turns = TMAPI_STORE_PERIOD / s->warps, square = turn / turns;
    const tmap_u32 beside = tmapi_store_beside(s); // 1 or 2
    const tmap_u32 lane = threadIdx.x % 32,
                   y = turn % turns * s->warps + threadIdx.x / 32 +
                       (square >> (beside - 1)) * (TMAPI_STORE_PERIOD * s->tall);
    const tmap_u32 x = (square & (beside - 1)) * TMAPI_STORE_BAND;
    const tmap_u32 i = (tmap_u32)s->row + y;
    const tmap_u64 begin = tmapi_store_begin(s, i);
    // Values by which the strip begins before a multiple of 128 columns, so that it begins at a
    // memory sector. The same for every 16th row.
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
    if (s->condensed) { // from row i to row i + 16
        strip.step = TMAPI_STORE_PERIOD * ((tmap_u32)s->n - i) -
                     TMAPI_STORE_PERIOD * (TMAPI_STORE_PERIOD + 3) / 2;
        strip.shrink = TMAPI_STORE_PERIOD * TMAPI_STORE_PERIOD;
    }
    return strip;
}

// Advances to the strip's next row.
TMAP_DEVICE void tmapi_store_next(const tmapi_store *s, tmapi_store_strip *strip) {
    strip->i += TMAPI_STORE_PERIOD, strip->full -= 1;
    strip->rows += TMAPI_STORE_PERIOD * 16;
    strip->at += (tmap_u64)strip->step * (s->bytes ? s->bytes : 4);
    strip->step -= strip->shrink;
}

// ---- rows of values -----------------------------------------------------------------------------

// A lane's values of a row, one for each column, contiguous; with bits a 32-bit 0 or 1 for each.
typedef struct tmapi_store_out {
    alignas(16) unsigned char bytes[8 * TMAPI_STORE_WIDE];
} tmapi_store_out;

// Columns of row i that exist in the output: from *first to the result - 1.
TMAP_DEVICE int tmapi_store_range(const tmapi_store *s, int i, int *first) {
    *first = s->condensed ? i + 1 : 0;
    return i >= s->rows ? 0 : s->lower ? i + 1 : s->columns;
}

// Stores a lane's values of the strip's row where they exist in the output, and zeros on the
// diagonal of a hollow matrix. With bits, lane c stores the word of columns c. full: whether the
// row is full. Collective for the warp.
TMAP_DEVICE void tmapi_store_write(const tmapi_store *s, const tmapi_store_strip *strip,
                                   const int full, const tmapi_store_out *out) {
    const tmap_u32 bytes = s->bytes, v = tmapi_store_together(s);
    int first;
    const int end = tmapi_store_range(s, strip->i, &first);
    if (!bytes) {
        const int lane = (int)(threadIdx.x % 32), column = strip->j + 31 * lane; // its first
        tmap_u32 word = 0;
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c) {
            const int j = strip->j + (int)c * 32;
            const int placed = full || (j >= first && j < end && !(s->hollow && j == strip->i));
            const tmap_u32 votes =
                __ballot_sync(0xffffffffu, placed && ((const tmap_u32 *)out->bytes)[c]);
            if (threadIdx.x % 32 == c) word = votes;
        }
        if (lane < (int)s->wide && strip->i < s->rows && column < end)
            *(tmap_u32 *)strip->at = word;
        return;
    }
#pragma unroll
    for (tmap_u32 g = 0; g < TMAPI_STORE_WIDE; ++g) { // only floats have 8 columns
        unsigned char *at = strip->at + g * 32 * 16;
        const int j = strip->j + (int)(g * 32 * v), to = j + (int)v;
        if (g >= s->wide / v) break;
        if (full || (j >= first && to <= end && !(s->hollow && j <= strip->i && to > strip->i))) {
            uint4 vector = {0, 0, 0, 0};
            tmapi_value_copy(&vector, out->bytes + 16 * g, v * bytes);
            if (v * bytes == 8)
                TMAPI_STCS((uint2 *)at, make_uint2(vector.x, vector.y));
            else
                TMAPI_STCS((uint4 *)at, vector);
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

// ---- points in shared memory --------------------------------------------------------------------
//
// Stored by 16-byte vectors: the first one of all rows and columns of the tile, then the second one
// of all of them, and so on, a plane for each.

// A staged point: its address in global memory and its position. exists: 0: it is staged as zeros.
typedef struct tmapi_store_point {
    const unsigned char *from;
    tmap_u32 place;
    int exists;
} tmapi_store_point;

// Staged point number x: rows first, then columns.
TMAP_DEVICE tmapi_store_point tmapi_store_point_of(const tmapi_store *s, tmap_u32 x) {
    const int row = x < s->side, c = (int)(x - s->side);
    const int index = row ? s->row + (int)x : s->column - (int)tmapi_store_before(s->bytes) + c;
    tmapi_store_point p;
    p.exists = (tmap_u32)index < (tmap_u32)(row ? s->n : s->columns) &&
               x < tmapi_store_places(s->side, s->bytes);
    p.from = (row ? s->points : s->others) + (tmap_u64)(tmap_u32)index * s->d * s->size;
    p.place = row ? x : s->side + tmapi_store_place(s, (tmap_u32)c);
    return p;
}

// Offset of coordinate k, or unit k of `bytes` bytes, from a point's position.
TMAP_DEVICE tmap_u32 tmapi_store_offset(tmap_u32 k, tmap_u32 bytes, tmap_u32 plane) {
    return k / (16 / bytes) * plane + k % (16 / bytes) * bytes;
}

// Copies units of `unit` bytes, a constant. planes: vectors of a point, a constant if one lane
// copies a point; zeros after the last coordinate.
TMAP_DEVICE void tmapi_store_stage_by(const tmapi_store *s, const tmap_u32 unit, tmap_u32 first,
                                      tmap_u32 planes, unsigned char *staged) {
    const tmap_u32 plane = tmapi_store_plane(s->side, s->bytes), units = planes * (16 / unit);
    const tmap_u32 left = (s->d - first) / (unit / s->size); // units that exist
    const tmap_u32 places = tmapi_store_places(s->side, s->bytes);
    const tmap_u32 lane = threadIdx.x % s->lanes;
    const tmap_u64 begin = (tmap_u64)first * s->size;
#pragma unroll 1
    for (tmap_u32 x = threadIdx.x / s->lanes; x < places; x += 32 * s->warps / s->lanes) {
        const tmapi_store_point p = tmapi_store_point_of(s, x);
        const unsigned char *from = p.from + begin;
        unsigned char *to = staged + p.place * 16;
        if (s->lanes == 1) {
#pragma unroll
            for (tmap_u32 k = 0; k < units; ++k) {
                const int exists = p.exists && k < left;
                tmapi_async_copy_or_zero(to + tmapi_store_offset(k, unit, plane),
                                         exists ? from + k * unit : s->points, unit, exists);
            }
        } else {
            to += tmapi_store_offset(lane, unit, plane);
#pragma unroll 1
            for (tmap_u32 k = lane; k < units; k += s->lanes) {
                const int exists = p.exists && k < left;
                tmapi_async_copy_or_zero(to, exists ? from + k * unit : s->points, unit, exists);
                to += tmapi_store_offset(s->lanes, unit, plane);
            }
        }
    }
}

// Begins to stage the points of a tile: `planes` vectors of each, from coordinate `first` on.
// by_vectors: a constant, 1 to copy 16 bytes at a time where alignment permits.
TMAP_DEVICE void tmapi_store_stage(const tmapi_store *s, int by_vectors, tmap_u32 first,
                                   tmap_u32 planes, unsigned char *staged) {
    if (by_vectors && s->d % (16 / s->size) == 0 &&
        ((tmap_u64)s->points | (tmap_u64)s->others) % 16 == 0)
        tmapi_store_stage_by(s, 16, first, planes, staged);
    else
        tmapi_store_stage_by(s, s->size, first, planes, staged);
}

// ---- points of one length -----------------------------------------------------------------------

// Scaling of a tile's points. length: the length they are scaled to, 0: not scaled. centred: 1: the
// mean of a point's coordinates is subtracted first, divided so that equal floats have a mean equal
// to them. at: a mean and a factor for each position, for points that are staged in pieces.
typedef struct tmapi_store_scale {
    double length;
    int centred;
    double *at;
} tmapi_store_scale;

TMAP_DEVICE double tmapi_store_inverse_root(double x) {
#if defined(__CUDA_ARCH__)
    return rsqrt(x);
#else
    return 1 / sqrt(x);
#endif
}

// What a coordinate adds to the sum of a point's coordinates, or of their squares.
TMAP_DEVICE double tmapi_store_term(double value, double centre, int squares) {
    return squares ? (value - centre) * (value - centre) : value;
}

// Measures all points of a tile in global memory, 8 lanes a point: for those that are staged in
// pieces. Collective for the block; a barrier must follow before the results are used.
TMAP_DEVICE void tmapi_store_measure(const tmapi_store *s, const tmapi_store_scale *scale) {
    const tmap_u32 places = tmapi_store_places(s->side, s->bytes), lane = threadIdx.x % 8;
    // All lanes of a warp continue while one of their points exists.
#pragma unroll 1
    for (tmap_u32 x = threadIdx.x / 32 * 4; x < places; x += 4 * s->warps) {
        const tmapi_store_point p = tmapi_store_point_of(s, x + threadIdx.x % 32 / 8);
        double centre = 0, sum = 0;
#pragma unroll 1
        for (int squares = !scale->centred; squares < 2; ++squares) {
            sum = 0;
#pragma unroll 8
            for (tmap_u32 k = lane; k < s->d; k += 8) {
                const unsigned char *from = p.from + (tmap_u64)k * s->size;
                if (p.exists)
                    sum += tmapi_store_term(s->size == 4 ? (double)__ldg((const float *)from)
                                                         : __ldg((const double *)from),
                                            centre, squares);
            }
#pragma unroll
            for (int k = 1; k < 8; k *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
            if (!squares) centre = sum / (double)s->d;
        }
        if (lane == 0 && x + threadIdx.x % 32 / 8 < places) {
            scale->at[2 * p.place] = centre;
            scale->at[2 * p.place + 1] = scale->length * tmapi_store_inverse_root(sum);
        }
    }
}

// Number k, of `size` bytes, as a double; and the function that stores one.
TMAP_DEVICE double tmapi_store_get_number(const void *from, tmap_u32 size, tmap_u32 k) {
    return size == 4 ? (double)((const float *)from)[k] : ((const double *)from)[k];
}
TMAP_DEVICE void tmapi_store_set_number(void *to, tmap_u32 size, tmap_u32 k, double number) {
    if (size == 4)
        ((float *)to)[k] = (float)number;
    else
        ((double *)to)[k] = number;
}

// Sums `count` coordinates of a staged point, or the squares of their differences from `centre`.
TMAP_DEVICE double tmapi_store_sum_of(const tmapi_store *s, const unsigned char *point,
                                      tmap_u32 count, tmap_u32 planes, int squares, double centre) {
    const tmap_u32 per = 16 / s->size;
    double sum = 0;
#pragma unroll 1
    for (tmap_u32 k = 0; k < planes; ++k) {
        tmapi_value vector;
        tmapi_value_copy(vector.bytes, point + k * tmapi_store_plane(s->side, s->bytes), 16);
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c)
            if (c < per && k * per + c < count)
                sum +=
                    tmapi_store_term(tmapi_store_get_number(&vector, s->size, c), centre, squares);
    }
    return sum;
}

// Scales staged points, one a lane, in double precision, in which no float overflows. whole: 1: all
// of their coordinates are staged and are measured now; 0: `count` of them are staged. Collective
// for the block; needs a barrier before and after.
TMAP_DEVICE void tmapi_store_scale_by(const tmapi_store *s, int whole, tmap_u32 count,
                                      tmap_u32 planes, const tmapi_store_scale *scale,
                                      unsigned char *staged) {
    const tmap_u32 per = 16 / s->size;
#pragma unroll 1
    for (tmap_u32 x = threadIdx.x; x < tmapi_store_places(s->side, s->bytes); x += 32 * s->warps) {
        unsigned char *point = staged + x * 16;
        double centre = 0, factor;
        if (whole) {
            if (scale->centred)
                centre = tmapi_store_sum_of(s, point, count, planes, 0, 0) / (double)s->d;
            factor = scale->length * tmapi_store_inverse_root(
                                         tmapi_store_sum_of(s, point, count, planes, 1, centre));
        } else {
            centre = scale->at[2 * x], factor = scale->at[2 * x + 1];
        }
#pragma unroll 1
        for (tmap_u32 k = 0; k < planes; ++k, point += tmapi_store_plane(s->side, s->bytes)) {
            tmapi_value vector;
            tmapi_value_copy(vector.bytes, point, 16);
#pragma unroll
            for (tmap_u32 c = 0; c < 4; ++c)
                if (c < per && k * per + c < count)
                    tmapi_store_set_number(&vector, s->size, c,
                                           (tmapi_store_get_number(&vector, s->size, c) - centre) *
                                               factor);
            tmapi_value_copy(point, vector.bytes, 16);
        }
    }
}

// Completes what tmapi_store_stage began, and scales it. first: the first staged coordinate. Ends
// with a barrier of the block.
TMAP_DEVICE void tmapi_store_ready(const tmapi_store *s, int whole, tmap_u32 first, tmap_u32 planes,
                                   const tmapi_store_scale *scale, unsigned char *staged) {
    tmapi_async_wait_all();
    __syncthreads();
    if (scale->length == 0) return;
    tmapi_store_scale_by(s, whole, s->d - first, planes, scale, staged);
    __syncthreads();
}

#endif // TMAP_CUDA

#endif
