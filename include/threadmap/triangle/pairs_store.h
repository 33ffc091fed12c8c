// SPDX-License-Identifier: MIT
// pairs_store.h: a value for each pair of n points, written by whole sectors of memory.
//
//     __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, TMAP_PAIRS_STORE_BLOCKS)
//     distances(tmap_pairs_plan plan, my_job j) { // value: a function of the user's
//         const tmap_points points = {j.points, 0, sizeof(float), 3};
//         tmap_pairs_store(&plan, points, value, sizeof(float), j.out, &j);
//     }
//     ... const tmap_pairs_store_shape shape = {n, 3, sizeof(float), TMAP_PAIRS_CONDENSED,
//                                               sizeof(float)};
//     ... tmap_pairs_store_plan_make(shape, (const void *)distances, &plan);
//     ... cudaMalloc(&j.out, tmap_pairs_store_bytes(&plan));
//     ... tmap_pairs_store_launch(&plan, &j, stream); // samples/triangle/18_own_metric.cu
//
// A value is 4 or 8 bytes of any type, or one bit: whether a pair is an edge of a graph, whose
// adjacency matrix is then rows of 32-bit words. tmap_pairs_store takes points of up to 8
// coordinates, tmap_pairs_store_sums of any number.
//
// Memory takes whole sectors of 32 bytes at less than half the price of parts of them. But a row
// of a condensed matrix begins anywhere. Where it begins in its sector repeats every 16 rows, since
// i(i+1)/2 modulo 8 does, as in a matrix of any pitch. So a warp takes every 16th row of a tile,
// and keeps 4 columns a lane in registers that are shifted, once for all of these rows, to where
// the sectors begin. Tiles thus end where sectors do, not at multiples of 128 columns.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_H
#define TMAP_TRIANGLE_PAIRS_STORE_H

#include "pairs.h"

// ---- the plan -----------------------------------------------------------------------------------

// What is stored: a value for each pair of n points.
typedef struct tmap_pairs_store_shape {
    tmap_u32 n;      // points, 0 to TMAP_PAIRS_STORE_MAX
    tmap_u32 d;      // coordinates: 1 to TMAP_PAIRS_D_MAX, of sums to TMAP_PAIRS_SUMS_D_MAX
    tmap_u32 size;   // bytes of a coordinate: 4 or 8
    tmap_u32 layout; // TMAP_PAIRS_CONDENSED, _SQUARE or _LOWER; the latter two plus
                     // TMAP_PAIRS_HOLLOW: of one set, without the diagonal
    tmap_u32 value;  // bytes of a value: 4 or 8; or TMAP_PAIRS_BIT, but in a condensed matrix
} tmap_pairs_store_shape;

// `value` as the size of a value: one bit for each pair.
#define TMAP_PAIRS_BIT 0u

#define TMAPI_STORE_WARPS   16  // of a block, which then writes all rows of a tile side by side
#define TMAPI_STORE_ROWS    8   // that a warp takes at a time
#define TMAPI_STORE_PERIOD  16  // from one of them to the next
#define TMAPI_STORE_BAND    128 // rows of all 16 sets of 8, and columns of a warp
#define TMAPI_STORE_SECTOR  32  // bytes
#define TMAPI_STORE_VECTORS 4   // of 16 bytes, of a point that is whole in registers, at most
#define TMAPI_STORE_WIDE    4   // columns of a lane
#define TMAPI_STORE_WIDEST  8   // of sums in few registers, where tiles are large

// Threads of a block, and the blocks of a multiprocessor, so that it always has stores under way:
// for points of up to 16 bytes and a value of some instructions.
#define TMAP_PAIRS_STORE_THREADS (32u * TMAPI_STORE_WARPS)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750 // 1024 threads a multiprocessor, not 1536
#define TMAP_PAIRS_STORE_BLOCKS 2
#else
#define TMAP_PAIRS_STORE_BLOCKS 3
#endif

// The same for sums; the largest sum, in bytes, and the most coordinates.
#define TMAPI_STORE_SUMS_WARPS  8
#define TMAP_PAIRS_SUMS_THREADS (32u * TMAPI_STORE_SUMS_WARPS)
#define TMAP_PAIRS_SUMS_BLOCKS  2
#define TMAP_PAIRS_SUM_MAX      16u
#define TMAP_PAIRS_SUMS_D_MAX   0x7fffffffu

// Values of 16 bytes, which a lane stores side by side; of bits, a lane has one.
TMAP_FN tmap_u32 tmapi_store_values(tmap_u32 bytes) { return bytes ? 16 / bytes : 1; }

// Columns before a tile's own that may be written with it: a sector of them.
TMAP_FN tmap_u32 tmapi_store_before(tmap_u32 bytes) {
    return bytes ? TMAPI_STORE_SECTOR / bytes : 0;
}

// Vectors of a point: 1, 2 or 4.
TMAP_FN tmap_u32 tmapi_store_vectors(tmap_u32 size, tmap_u32 d) {
    return d * size <= 16 ? 1 : d * size <= 32 ? 2 : TMAPI_STORE_VECTORS;
}

// Places of 16 bytes of staged points: of a tile's rows, its columns and a sector before them.
TMAP_FN tmap_u32 tmapi_store_places(tmap_u32 side, tmap_u32 bytes) {
    return 2 * side + tmapi_store_before(bytes);
}

// Bytes from a vector of a point to its next one: one place more than there are, so that they lie
// in different banks.
TMAP_FN tmap_u32 tmapi_store_plane(tmap_u32 side, tmap_u32 bytes) {
    return (tmapi_store_places(side, bytes) + 1) * 16;
}

// Vectors of a point of a sum: all, and those that are staged at once: all of up to 10, as many as
// fit the shared memory that every GPU has, else equal pieces of 5 at most, one of which is
// computed with while the next one comes.
#define TMAPI_STORE_STAGED 10u
TMAP_FN tmap_u32 tmapi_store_all(tmap_u32 size, tmap_u32 d) {
    return d / (16 / size) + (d % (16 / size) != 0);
}
TMAP_FN tmap_u32 tmapi_store_piece(tmap_u32 all) {
    const tmap_u32 pieces = (all - 1) / (TMAPI_STORE_STAGED / 2) + 1;
    return all <= TMAPI_STORE_STAGED ? all : (all - 1) / pieces + 1;
}

// Points from which on tiles of sums are large, which costs less a pair of few coordinates, but
// leaves too many blocks idle at the end where there are few of them. Tests set it lower.
#ifndef TMAPI_STORE_LARGE
#define TMAPI_STORE_LARGE 8192u
#endif

// Bytes of the output of a plan: all its sets, to the end of the last row. Saturates.
// Example: n = 30720, condensed floats: 1887375360.
TMAP_FN tmap_u64 tmap_pairs_store_bytes(const tmap_pairs_plan *plan) {
    const tmap_u64 bytes = plan->value ? plan->value : 4;
    return tmap_mul_saturate(tmap_mul_saturate(plan->values, plan->sets), bytes);
}

// The plan of tiles of `side` points by `threads` threads, which share `vectors` of each point.
TMAP_FN int tmapi_store_plan_of(tmap_pairs_store_shape w, tmap_u32 side, tmap_u32 threads,
                                tmap_u32 vectors, tmap_pairs_plan *out) {
    const tmap_u32 matrix = w.layout & TMAPI_PAIRS_LAYOUT;
    tmap_pairs_plan p = tmapi_pairs_plan_begin(TMAP_PAIRS_KIND_STORE, w.n, w.d, w.size);
    if (!out || w.n > TMAP_PAIRS_STORE_MAX || w.d < 1 || (w.size != 4 && w.size != 8) ||
        (w.value != 4 && w.value != 8 && w.value != TMAP_PAIRS_BIT) || !matrix ||
        w.layout > (TMAPI_PAIRS_LAYOUT | TMAP_PAIRS_HOLLOW) ||
        (matrix == TMAP_PAIRS_CONDENSED && w.value == TMAP_PAIRS_BIT))
        return TMAP_EINVAL;
    p.layout = w.layout, p.value = w.value, p.before = tmapi_store_before(w.value);
    p.block = threads, p.side = side, p.shared = tmapi_store_plane(side, w.value) * vectors;
    tmapi_pairs_plan_tiles(&p);
    *out = p;
    return TMAP_OK;
}

// tmap_pairs_store_plan_make and tmap_pairs_store_sums_plan_make without a kernel, for which no
// facts are needed: as tmap_pairs_plan_of.
TMAP_FN int tmap_pairs_store_plan_of(tmap_pairs_store_shape shape, tmap_pairs_plan *out) {
    if (shape.d > TMAP_PAIRS_D_MAX) return TMAP_EINVAL;
    return tmapi_store_plan_of(shape, TMAPI_STORE_BAND, TMAP_PAIRS_STORE_THREADS,
                               tmapi_store_vectors(shape.size, shape.d), out);
}
TMAP_FN int tmap_pairs_store_sums_plan_of(tmap_pairs_store_shape shape, tmap_pairs_plan *out) {
    const tmap_u32 all = tmapi_store_all(shape.size == 8 ? 8 : 4, shape.d ? shape.d : 1);
    const tmap_u32 pieces = all > TMAPI_STORE_STAGED ? 2 : 1; // that are staged
    const tmap_u32 bands = all <= 4 && shape.n >= TMAPI_STORE_LARGE ? 2 : 1;
    if (shape.d > TMAP_PAIRS_SUMS_D_MAX) return TMAP_EINVAL;
    return tmapi_store_plan_of(shape, bands * TMAPI_STORE_BAND, TMAP_PAIRS_SUMS_THREADS,
                               pieces * tmapi_store_piece(all), out);
}

#if TMAP_CUDA && !TMAP_NVRTC

static inline cudaError_t tmapi_store_plan_keep(int code, const tmap_pairs_plan *p,
                                                const void *kernel, tmap_pairs_plan *out) {
    if (code || !kernel || !out) return cudaErrorInvalidValue;
    *out = *p, out->kernel = kernel;
    return cudaSuccess;
}

// The plan of a kernel that stores a value for every pair of n points. kernel: a __global__
// function of TMAP_PAIRS_STORE_THREADS threads, cast to const void *. tmap_pairs_plan_rows, _sets,
// _share and, for a square, _others restrict or widen the plan: the output then has those rows
// alone; sets lie one behind the other; a share of the items, tiles of 128 x 128 pairs, leaves the
// rest of the output as it is.
// Returns cudaErrorInvalidValue for a null pointer, numbers outside the shape's ranges and bits in
// a condensed matrix. *out is written only on success. A launch of 2^31 tiles or more, by then
// 10^13 values, is refused with cudaErrorInvalidConfiguration. Cost: no call of CUDA.
static inline cudaError_t tmap_pairs_store_plan_make(tmap_pairs_store_shape shape,
                                                     const void *kernel, tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    return tmapi_store_plan_keep(tmap_pairs_store_plan_of(shape, &p), &p, kernel, out);
}

// The same for a kernel of TMAP_PAIRS_SUMS_THREADS threads that calls tmap_pairs_store_sums; but
// where there are many points of few coordinates, tiles are of 256 x 256 pairs.
static inline cudaError_t tmap_pairs_store_sums_plan_make(tmap_pairs_store_shape shape,
                                                          const void *kernel,
                                                          tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    return tmapi_store_plan_keep(tmap_pairs_store_sums_plan_of(shape, &p), &p, kernel, out);
}

// Sets how many values, or words of 32 bits, lie from one row of a square or lower matrix to the
// next: from a row's own to TMAP_PAIRS_STORE_MAX; 0 goes back to just these. Sets then lie `rows`
// of them apart. Returns cudaErrorInvalidValue for a null pointer, a plan of another kind, and for
// numbers outside.
static inline cudaError_t tmap_pairs_store_plan_pitch(tmap_pairs_plan *plan, tmap_u64 pitch) {
    tmap_pairs_plan p;
    if (!plan || (plan->layout & TMAPI_PAIRS_LAYOUT) < TMAP_PAIRS_SQUARE)
        return cudaErrorInvalidValue;
    p = *plan, p.pitch = 0;
    tmapi_pairs_plan_rows_of(&p);
    if (pitch && (pitch < p.step || pitch > TMAP_PAIRS_STORE_MAX)) return cudaErrorInvalidValue;
    plan->pitch = pitch;
    tmapi_pairs_plan_rows_of(plan);
    return cudaSuccess;
}

// As tmap_pairs_launch, for a kernel that calls tmap_pairs_store or tmap_pairs_store_sums: a plan
// of another kind is refused with cudaErrorInvalidValue.
static inline cudaError_t tmap_pairs_store_launch(const tmap_pairs_plan *plan, tmap_job job,
                                                  cudaStream_t stream) {
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_STORE, job, stream);
}

#endif

#if TMAP_CUDA

// ---- tiles --------------------------------------------------------------------------------------

// A tile of `side` x `side` points, which has `across` bands, 1 or 2. Constants are size and bytes,
// of a coordinate and of a value, 0: bits; warps of the block, 4 to 16; lanes that copy a point, 1
// or 4; wide, columns of a lane.
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
    s.wide = TMAPI_STORE_WIDE;
    s.row = (int)(row * side), s.column = (int)(column * side);
    s.condensed = layout == TMAP_PAIRS_CONDENSED, s.lower = layout == TMAP_PAIRS_LOWER;
    s.hollow = !s.two && (plan->layout & TMAP_PAIRS_HOLLOW) != 0;
    s.free = !s.condensed && !s.lower && !s.hollow;
    s.size = points.size, s.d = points.d, s.bytes = bytes, s.pitch = plan->step;
    s.points = (const unsigned char *)points.a;
    s.others = (const unsigned char *)(s.two ? points.b : points.a);
    s.out = (unsigned char *)out;
    if (plan->sets > 1) {
        s.points += set * plan->n * s.d * s.size;
        s.others += set * (tmap_u32)s.columns * s.d * s.size;
        s.out += set * plan->values * (bytes ? bytes : 4);
    }
    return s;
}

// ---- strips -------------------------------------------------------------------------------------

// What a warp writes at a time: 8 rows, every 16th one, of 32 lanes by 4 or 8 columns. i, j: the
// first row, and the lane's first column. at: where they are in the output; the 16th next row is
// `step` values on, which shrinks by `shrink` for each in a condensed matrix. full: how many of the
// rows, from the first one on, have all of their pairs, and none of the diagonal.
typedef struct tmapi_store_strip {
    unsigned char *at;
    const unsigned char *rows;    // staged, the first
    const unsigned char *mine[4]; // the lane's first columns, staged
    int i, j, full;
    tmap_u32 step, shrink;
} tmapi_store_strip;

// Where the lane's column c is staged. strip: an expression, and v a constant.
#define TMAPI_STORE_COLUMN(strip, v, c) ((strip)->mine[(c) % (v)] + (c) / (v)*32 * 16)

// The lane's column number c, counted from the strip's j.
TMAP_DEVICE int tmapi_store_column(int v, tmap_u32 c) { return (int)c / v * 32 * v + (int)c % v; }

// Where column x of those staged lies among them: in v runs, so that the lanes of a warp, which ask
// for every v-th column, read side by side.
TMAP_DEVICE tmap_u32 tmapi_store_place(const tmapi_store *s, tmap_u32 x) {
    const tmap_u32 v = tmapi_store_values(s->bytes);
    return x % v * ((s->side + tmapi_store_before(s->bytes)) / v) + x / v;
}

// Where row i of the output would have its column 0. Modulo 2^64: row 0 of a condensed matrix has
// it before the beginning.
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

// Strips side by side in a band, strips of a warp, and number `turn` of these.
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

// The same number, but the compiler does not know: it computes what depends on it again, rather
// than keep it in registers that are needed for other things.
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

// A lane's values of a row, one for each column, side by side; of bits a 32-bit 0 or 1.
typedef struct tmapi_store_out {
    alignas(16) unsigned char bytes[8 * TMAPI_STORE_WIDE];
} tmapi_store_out;

// The columns of row i that have a place in the output: from *first on, before the result.
TMAP_DEVICE int tmapi_store_range(const tmapi_store *s, int i, int *first) {
    *first = s->condensed ? i + 1 : 0;
    return i >= s->rows ? 0 : s->lower ? i + 1 : s->columns;
}

// Stores a lane's values of the strip's row, those that have a place, and zeros on the diagonal of
// a hollow matrix. Of bits, lane c keeps and stores the word of columns c. full: whether the row
// is. Collective for the warp.
TMAP_DEVICE void tmapi_store_write(const tmapi_store *s, const tmapi_store_strip *strip,
                                   const int full, const tmapi_store_out *out) {
    const tmap_u32 bytes = s->bytes, v = tmapi_store_values(bytes);
    int first;
    const int end = tmapi_store_range(s, strip->i, &first);
    if (!bytes) {
        const int lane = (int)(threadIdx.x % 32), column = strip->j + 31 * lane; // the word's first
        tmap_u32 word = 0;
#pragma unroll
        for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c) {
            const int j = strip->j + (int)c * 32;
            const int placed = full || (j >= first && j < end && !(s->hollow && j == strip->i));
            const tmap_u32 votes =
                __ballot_sync(0xffffffffu, placed && ((const tmap_u32 *)out->bytes)[c]);
            if (threadIdx.x % 32 == c) word = votes;
        }
        if (lane < TMAPI_STORE_WIDE && strip->i < s->rows && column < end)
            *(tmap_u32 *)strip->at = word;
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
// Vectors of 16 bytes: the first one of all rows and columns of the tile, then the second one of
// all of them, and so on, a plane each.

// A point that is staged: where it is in global memory, and its place. exists: or all of it is 0.
typedef struct tmapi_store_point {
    const unsigned char *from;
    tmap_u32 place;
    int exists;
} tmapi_store_point;

// Number x of those staged: rows, then columns.
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

// Where coordinates, or units of so many bytes, are from a point's place on.
TMAP_DEVICE tmap_u32 tmapi_store_offset(tmap_u32 k, tmap_u32 bytes, tmap_u32 plane) {
    return k / (16 / bytes) * plane + k % (16 / bytes) * bytes;
}

// Copies of `unit` bytes, a constant. planes: vectors of a point, a constant where one lane copies
// it; 0 beyond the last coordinate.
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

// Begins to stage the points of a tile, `planes` vectors of each from coordinate `first` on.
// by_vectors: a constant, 1 to copy whole vectors where they lie at multiples of them.
TMAP_DEVICE void tmapi_store_stage(const tmapi_store *s, int by_vectors, tmap_u32 first,
                                   tmap_u32 planes, unsigned char *staged) {
    if (by_vectors && s->d % (16 / s->size) == 0 &&
        ((tmap_u64)s->points | (tmap_u64)s->others) % 16 == 0)
        tmapi_store_stage_by(s, 16, first, planes, staged);
    else
        tmapi_store_stage_by(s, s->size, first, planes, staged);
}

// ---- points of one length -----------------------------------------------------------------------

// What the points of a tile are scaled to: their length, or 0: they stay as they are. centred:
// whether the mean of their coordinates is subtracted first; share: 1 / d. at: for points that are
// staged by pieces, a mean and a factor for each place.
typedef struct tmapi_store_scale {
    double length, share;
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

// What a coordinate adds to the sum of a point's, or to that of their squares.
TMAP_DEVICE double tmapi_store_term(double value, double centre, int squares) {
    return squares ? (value - centre) * (value - centre) : value;
}

// Measures all points of a tile where they lie, 8 lanes a point: for those that are staged by
// pieces. Collective for the block, which must meet before the results are used.
TMAP_DEVICE void tmapi_store_measure(const tmapi_store *s, const tmapi_store_scale *scale) {
    const tmap_u32 places = tmapi_store_places(s->side, s->bytes), lane = threadIdx.x % 8;
    // Whole warps go on as long as one of their points exists.
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
            if (!squares) centre = sum * scale->share;
        }
        if (lane == 0 && x + threadIdx.x % 32 / 8 < places) {
            scale->at[2 * p.place] = centre;
            scale->at[2 * p.place + 1] = scale->length * tmapi_store_inverse_root(sum);
        }
    }
}

// Number k, of `size` bytes, as a double; and set to one.
TMAP_DEVICE double tmapi_store_get_number(const void *from, tmap_u32 size, tmap_u32 k) {
    return size == 4 ? (double)((const float *)from)[k] : ((const double *)from)[k];
}
TMAP_DEVICE void tmapi_store_set_number(void *to, tmap_u32 size, tmap_u32 k, double number) {
    if (size == 4)
        ((float *)to)[k] = (float)number;
    else
        ((double *)to)[k] = number;
}

// The sum of `count` coordinates of a point that is staged, or of the squares of their distances
// from `centre`.
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

// Scales points that are staged, a lane each: in double precision, in which no float overflows.
// whole: whether all of their coordinates are there, and they are measured now; else `count` of
// them are. Collective for the block, which must meet before and afterwards.
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
                centre = tmapi_store_sum_of(s, point, count, planes, 0, 0) * scale->share;
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

// Waits for what tmapi_store_stage has begun, and scales it; first: the coordinate. With a barrier
// of the block at its end.
TMAP_DEVICE void tmapi_store_ready(const tmapi_store *s, int whole, tmap_u32 first, tmap_u32 planes,
                                   const tmapi_store_scale *scale, unsigned char *staged) {
    tmapi_async_wait_all();
    __syncthreads();
    if (scale->length == 0) return;
    tmapi_store_scale_by(s, whole, s->d - first, planes, scale, staged);
    __syncthreads();
}

// ---- a value for each pair ----------------------------------------------------------------------

typedef void (*tmap_pairs_value)(void *job, tmap_pair pair, const void *a, const void *b,
                                 void *value);

typedef struct tmapi_store_whole {
    alignas(16) unsigned char bytes[16 * TMAPI_STORE_VECTORS];
} tmapi_store_whole;

// A whole point, whose vectors are `plane` bytes apart.
TMAP_DEVICE void tmapi_store_get(const tmapi_store *s, const unsigned char *from, tmap_u32 plane,
                                 tmapi_store_whole *point) {
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_STORE_VECTORS; ++k)
        if (k * 16 < s->d * s->size) tmapi_value_copy(point->bytes + 16 * k, from + k * plane, 16);
}

// Computes a lane's values of a row of a strip.
typedef void (*tmapi_store_row_do)(const tmapi_store *s, const tmapi_store_strip *strip, int full,
                                   const tmapi_store_whole *row, const tmapi_store_whole *columns,
                                   tmapi_store_out *out, void *context);

// The full rows of a strip, the first ones, or its other rows; full: a constant.
TMAP_DEVICE void tmapi_store_rows(const tmapi_store *s, tmapi_store_strip strip, const int full,
                                  tmapi_store_row_do values, void *context) {
    const tmap_u32 v = tmapi_store_values(s->bytes), plane = tmapi_store_plane(s->side, s->bytes);
    tmapi_store_whole columns[TMAPI_STORE_WIDE], row;
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
        tmapi_store_get(s, TMAPI_STORE_COLUMN(&strip, v, c), plane, &columns[c]);
#pragma unroll 1
    for (int r = 0; full ? strip.full > 0 : r < TMAPI_STORE_ROWS; ++r) {
        if (!full) __syncwarp(); // or the compiler makes a loop for each metric and each layout
        if (!full && strip.i >= s->rows) break;
        if (full || strip.full <= 0) {
            tmapi_store_out out;
            tmapi_store_get(s, strip.rows, plane, &row);
            values(s, &strip, full, &row, columns, &out, context);
            tmapi_store_write(s, &strip, full, &out);
        }
        tmapi_store_next(s, &strip);
    }
}

// All strips of a tile whose points are staged. A strip is made again for its rows that are not
// full, so that the others have all registers.
TMAP_DEVICE void tmapi_store_each(const tmapi_store *s, const unsigned char *staged,
                                  tmapi_store_row_do values, void *context) {
#pragma unroll 1
    for (tmap_u32 turn = 0; turn < tmapi_store_strips(s); ++turn) {
        tmapi_store_strip strip = tmapi_store_strip_make(s, turn, staged);
        const int edges = strip.full < TMAPI_STORE_ROWS;
        if (strip.full > 0) tmapi_store_rows(s, strip, 1, values, context);
        if (!edges) continue;
        strip = tmapi_store_strip_make(s, tmapi_store_again(turn), staged);
        tmapi_store_rows(s, strip, 0, values, context);
    }
}

typedef struct tmapi_store_value {
    tmap_pairs_value value;
    void *job;
} tmapi_store_value;

// The user's function is asked for pairs that exist alone.
TMAP_DEVICE void tmapi_store_value_row(const tmapi_store *s, const tmapi_store_strip *strip,
                                       int full, const tmapi_store_whole *row,
                                       const tmapi_store_whole *columns, tmapi_store_out *out,
                                       void *context) {
    const tmapi_store_value *v = (const tmapi_store_value *)context;
    const tmap_u32 bytes = s->bytes ? s->bytes : 4;
    int first;
    const int end = tmapi_store_range(s, strip->i, &first);
    tmap_pair pair;
    pair.i = (tmap_u32)strip->i;
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c) {
        const int j = strip->j + tmapi_store_column((int)tmapi_store_values(s->bytes), c);
        pair.j = (tmap_u32)j;
        if (!full) tmapi_value_zero(out->bytes + c * bytes, bytes);
        if (full || (j >= first && j < end && !(s->hollow && j == strip->i)))
            v->value(v->job, pair, row->bytes, columns[c].bytes, out->bytes + c * bytes);
    }
}
// 1 if a call fits the plan: tmapi_pairs_check, and whose plan it is, by its threads.
TMAP_DEVICE int tmapi_store_check(const tmap_pairs_plan *plan, tmap_points points, tmap_u32 bytes,
                                  tmap_u32 threads, const char *function) {
    return tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_STORE, function) &&
           TMAPI_CHECK(plan->block == threads, function, "the plan is one of another engine") &&
           TMAPI_CHECK(plan->value == bytes, function, "bytes is not the plan's");
}

// Writes value(job, pair, a, b, ...) for every pair of the plan's share to its place in the output,
// and touches nothing else of it. All threads of all blocks call it, with the same arguments, in
// blocks of TMAP_PAIRS_STORE_THREADS threads. plan: one of tmap_pairs_store_plan_make. value: a
// __device__ function without barriers and collectives. bytes: of a value, the plan's, a constant.
// out: tmap_pairs_store_bytes(plan) bytes of device memory at a multiple of `bytes`, or of 4 for
// bits, which are 0 beyond a row's last column, and in a word of a lower matrix beyond the
// diagonal. It does not overlap the points.
// Cost: for each pair what value costs, about 2.5 instructions, and a store. For points of more
// than 16 bytes, the kernel's bound on blocks is better left away.
TMAP_DEVICE void tmap_pairs_store(const tmap_pairs_plan *plan, tmap_points points,
                                  tmap_pairs_value value, tmap_u32 bytes, void *out, void *job) {
    unsigned char *staged = tmapi_pairs_memory();
    const tmap_u32 planes = tmapi_store_vectors(points.size, points.d);
    if (!tmapi_store_check(plan, points, bytes, TMAP_PAIRS_STORE_THREADS, "tmap_pairs_store"))
        return;
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        const tmapi_store s = tmapi_store_make(plan, (tmap_u32)plan->first + t, TMAPI_STORE_BAND,
                                               TMAPI_STORE_WARPS, 1, points, bytes, out);
        const tmapi_store_scale none = {0, 0, 0, 0};
        tmapi_store_value v = {value, job};
        tmapi_store_stage(&s, 0, 0, planes, staged);
        tmapi_store_ready(&s, 1, 0, planes, &none, staged);
        tmapi_store_each(&s, staged, tmapi_store_value_row, &v);
        __syncthreads(); // before the next tile's points come
    }
}

// ---- sums over any number of coordinates --------------------------------------------------------
//
// A value is made of a sum (or a maximum, or a few sums) of what the coordinates give, 16 bytes of
// them at a time.
//
//     static __device__ void start(void *job, void *sum) { *(float *)sum = 0; }
//     static __device__ void add(void *job, void *sum, const void *a, const void *b) {
//         const float *u = (const float *)a, *v = (const float *)b;
//         for (int k = 0; k < 4; ++k) *(float *)sum += u[k] * v[k];
//     }
//     static __device__ void finish(void *job, tmap_pair pair, const void *sum, void *value) {
//         *(float *)value = *(const float *)sum;
//     }
//     const tmap_pairs_sum sum = {start, add, 0, finish, sizeof(float), 0}; // in a kernel
//     tmap_pairs_store_sums(&plan, points, sum, sizeof(float), j.out, &j);
//     ... tmap_pairs_store_sums_plan_make(shape, (const void *)products, &plan);

typedef void (*tmap_pairs_start)(void *job, void *sum);
// a, b: the same 4 floats or 2 doubles of point i and of point j; 0 beyond the last coordinate. All
// functions are __device__ functions without barriers and collectives.
typedef void (*tmap_pairs_add)(void *job, void *sum, const void *a, const void *b);
typedef void (*tmap_pairs_part)(void *job, void *sum);
typedef void (*tmap_pairs_finish)(void *job, tmap_pair pair, const void *sum, void *value);

// How a value is computed: start, then add for all of the coordinates in an order that is the same
// for every pair, then finish. All may also be called for pairs that do not exist, whose values go
// nowhere.
typedef struct tmap_pairs_sum {
    tmap_pairs_start start;
    tmap_pairs_add add;
    tmap_pairs_part part; // or 0: called after each `period` coordinates but the last
    tmap_pairs_finish finish;
    tmap_u32 bytes;  // of a sum, a constant, a multiple of 4 up to TMAP_PAIRS_SUM_MAX
    tmap_u32 period; // a power of two, 64 bytes of coordinates or more; need be no constant
} tmap_pairs_sum;

typedef struct tmapi_store_sum {
    alignas(16) unsigned char bytes[TMAP_PAIRS_SUM_MAX];
} tmapi_store_sum;

// The values of 8 rows from their sums, and to memory. full: whether all rows are; else 8 values at
// a time by the same instructions, as there are many.
TMAP_DEVICE void tmapi_store_finish(const tmapi_store *s, tmapi_store_strip strip, const int full,
                                    tmap_pairs_finish finish, void *job,
                                    tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_values(s->bytes), bytes = s->bytes ? s->bytes : 4;
    const tmap_u32 rows = full ? TMAPI_STORE_ROWS : 8 / s->wide;
#pragma unroll 1
    for (tmap_u32 part = 0; part < TMAPI_STORE_ROWS / rows; ++part) {
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_STORE_ROWS; ++r) {
            tmapi_store_out out;
            tmap_pair pair;
            if (r >= rows) break;
            pair.i = (tmap_u32)strip.i;
#pragma unroll
            for (tmap_u32 c = 0; c < s->wide; ++c) {
                pair.j = (tmap_u32)(strip.j + tmapi_store_column((int)v, c));
                finish(job, pair, sums[r][c].bytes, out.bytes + c * bytes);
            }
            tmapi_store_write(s, &strip, full, &out);
            tmapi_store_next(s, &strip);
        }
#pragma unroll
        for (tmap_u32 x = 0; x < (TMAPI_STORE_ROWS - rows) * s->wide; ++x) // the next ones
            sums[x / s->wide][x % s->wide] = sums[x / s->wide + rows][x % s->wide];
    }
}

// How sums are computed: the user's functions, and what sum.add gets as its job, of which all
// threads take number `way`. The other functions get jobs[0].
typedef struct tmapi_store_ways {
    tmap_pairs_sum sum;
    void *jobs[3];
    int way;
} tmapi_store_ways;

// Adds a vector of the coordinates, whose plane begins `at` bytes from the first one's, to the sums
// of 8 rows.
TMAP_DEVICE void tmapi_store_add(const tmapi_store *s, const tmapi_store_strip *strip, tmap_u32 at,
                                 const tmapi_value *columns, tmap_pairs_add add, void *job,
                                 tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_STORE_ROWS; ++r) {
        tmapi_value row;
        tmapi_value_copy(row.bytes, strip->rows + r * (TMAPI_STORE_PERIOD * 16) + at, 16);
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c)
            add(job, sums[r][c].bytes, row.bytes, columns[c].bytes);
    }
}

// Adds vectors from .. to - 1, of which there is at least one. One at a time: unrolled, the code no
// longer fits the instruction cache. The last one first, which takes fewer registers.
TMAP_DEVICE void tmapi_store_add_all(const tmapi_store *s, const tmapi_store_strip *strip,
                                     tmap_u32 from, tmap_u32 to, const tmapi_store_ways *w,
                                     tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_values(s->bytes);
    const tmap_u32 plane = tmapi_store_plane(s->side, s->bytes);
#pragma unroll 1
    do {
        const tmap_u32 at = --to * plane;
        tmapi_value columns[TMAPI_STORE_WIDEST];
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c)
            tmapi_value_copy(columns[c].bytes, TMAPI_STORE_COLUMN(strip, v, c) + at, 16);
        if (w->way == 0)
            tmapi_store_add(s, strip, at, columns, w->sum.add, w->jobs[0], sums);
        else if (w->way == 1)
            tmapi_store_add(s, strip, at, columns, w->sum.add, w->jobs[1], sums);
        else
            tmapi_store_add(s, strip, at, columns, w->sum.add, w->jobs[2], sums);
    } while (to > from);
}

// Starts all sums of a lane, or ends a part of them.
TMAP_DEVICE void tmapi_store_do_sums(const tmapi_store *s, tmap_pairs_part what, void *job,
                                     tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
#pragma unroll
    for (tmap_u32 x = 0; x < TMAPI_STORE_ROWS * s->wide; ++x)
        what(job, sums[x / s->wide][x % s->wide].bytes);
}

// Adds the staged vectors first .. first + here - 1 of a point, of `all`, with a part after each
// period.
TMAP_DEVICE void tmapi_store_add_parts(const tmapi_store *s, const tmapi_store_strip *strip,
                                       tmap_u32 first, tmap_u32 here, tmap_u32 all,
                                       const tmapi_store_ways *w,
                                       tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 period = w->sum.part ? w->sum.period / (16 / s->size) : 1;
    tmap_u32 from = 0;
#pragma unroll 1
    do {
        tmap_u32 to = here;
        if (w->sum.part) {
            const tmap_u32 next = from + period - ((first + from) & (period - 1));
            to = next < here ? next : here;
        }
        tmapi_store_add_all(s, strip, from, to, w, sums);
        if (w->sum.part && ((first + to) & (period - 1)) == 0 && first + to < all)
            tmapi_store_do_sums(s, w->sum.part, w->jobs[0], sums);
        from = to;
    } while (w->sum.part && from < here);
}

// A tile. Points that are staged in one piece are staged once, for all strips; else each strip
// goes through all pieces, the next of which is always on its way. Collective for the block.
TMAP_DEVICE void tmapi_store_sums(const tmapi_store *s, unsigned char *staged,
                                  const tmapi_store_scale *scale, const tmapi_store_ways *w) {
    const tmap_u32 per = 16 / s->size, all = tmapi_store_all(s->size, s->d);
    const tmap_u32 piece = tmapi_store_piece(all), strips = tmapi_store_strips(s);
    tmapi_store_sum sums[TMAPI_STORE_ROWS][TMAPI_STORE_WIDEST];
    const tmap_u32 other = piece < all ? piece * tmapi_store_plane(s->side, s->bytes) : 0;
    tmap_u32 turn = 0, k = all; // the strip, and the vector of its points, none at first
    tmap_u32 at = other;        // of what is computed with, in shared memory
    tmapi_store_do_sums(s, w->sum.start, w->jobs[0], sums);
#pragma unroll 1
    for (;;) {
        const tmap_u32 then = k + piece < all ? k + piece : 0;
        const int more = k == all || (piece < all && (then || turn + 1 < strips));
        if (more) tmapi_store_stage(s, 1, then * per, piece, staged + (other - at));
        if (k < all) {
            tmapi_store_strip strip = tmapi_store_strip_make(s, turn, staged + at);
            tmapi_store_add_parts(s, &strip, k, all - k < piece ? all - k : piece, all, w, sums);
            if (!then) {
                strip = tmapi_store_strip_make(s, tmapi_store_again(turn), staged);
                if (strip.full == TMAPI_STORE_ROWS)
                    tmapi_store_finish(s, strip, 1, w->sum.finish, w->jobs[0], sums);
                else
                    tmapi_store_finish(s, strip, 0, w->sum.finish, w->jobs[0], sums);
                if (++turn == strips) return;
                tmapi_store_do_sums(s, w->sum.start, w->jobs[0], sums);
            }
        }
        if (more) { // all are through with what was before it
            at = other - at;
            if (k == all && piece < all && scale->length != 0) tmapi_store_measure(s, scale);
            tmapi_store_ready(s, piece == all, then * per, piece, scale, staged + at);
        }
        k = then;
    }
}

// Writes the value of every pair of the plan's share to its place in the output, as
// tmap_pairs_store does, by blocks of TMAP_PAIRS_SUMS_THREADS threads.
// plan: one of tmap_pairs_store_sums_plan_make, which says how many coordinates there are, whatever
// points.d is. points: at a multiple of 16, and of as many coordinates as are a multiple of 16
// bytes, they come faster. sum: how a value is computed; all but its period are constants.
// Cost: for each pair and 16 bytes of coordinates what add costs, and a third of an instruction
// for each 4 bytes; for each pair what finish costs, about 4 instructions, and a store.
TMAP_DEVICE void tmap_pairs_store_sums(const tmap_pairs_plan *plan, tmap_points points,
                                       tmap_pairs_sum sum, tmap_u32 bytes, void *out, void *job) {
    const tmapi_store_scale none = {0, 0, 0, 0};
    const tmapi_store_ways ways = {sum, {job, job, job}, 0};
    const tmap_points of_plan = {points.a, points.b, points.size, plan->d};
    if (!tmapi_store_check(plan, of_plan, bytes, TMAP_PAIRS_SUMS_THREADS, "tmap_pairs_store_sums"))
        return;
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        points.d = plan->d; // here, since a number of the user's takes more registers
        const tmapi_store s = tmapi_store_make(plan, (tmap_u32)plan->first + t, plan->side,
                                               TMAPI_STORE_SUMS_WARPS, 4, points, bytes, out);
        tmapi_store_sums(&s, tmapi_pairs_memory(), &none, &ways);
        __syncthreads(); // before the next tile's points come
    }
}

#endif // TMAP_CUDA

#endif
