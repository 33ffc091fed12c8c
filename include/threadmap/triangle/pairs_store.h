// SPDX-License-Identifier: MIT
// pairs_store.h: stores a value for each pair of n points, in full memory sectors.
//
//     __global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, TMAP_PAIRS_STORE_BLOCKS)
//     distances(tmap_pairs_plan plan, my_job j) { // value: your function
//         const tmap_points points = {j.points, 0, sizeof(float), 3};
//         tmap_pairs_store(&plan, points, value, sizeof(float), j.out, &j);
//     }
//     ... const tmap_pairs_store_shape shape = {n, 3, sizeof(float), TMAP_PAIRS_CONDENSED,
//                                               sizeof(float)};
//     ... tmap_pairs_store_plan_make(shape, (const void *)distances, &plan);
//     ... cudaMalloc(&j.out, tmap_pairs_store_bytes(&plan));
//     ... tmap_pairs_store_launch(&plan, &j, stream); // samples/triangle/18_own_metric.cu
//
// A value is 4 or 8 bytes of any type, or one bit: whether a pair is an edge of a graph. The
// adjacency matrix is then rows of 32-bit words. tmap_pairs_store takes points of up to 8
// coordinates, tmap_pairs_store_sums of any number.
//
// Writing full sectors of 32 bytes costs less than half of writing parts of them. The rows of a
// condensed matrix begin anywhere in a sector, but the offset repeats every 16 rows, as i(i+1)/2
// modulo 8 does and as in a matrix of any pitch. So a warp takes every 16th row of a tile. It holds
// 4 columns a lane in registers, shifted once for all of these rows to where the sectors begin.
// Tiles therefore end at sector boundaries, not at multiples of 128 columns.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_H
#define TMAP_TRIANGLE_PAIRS_STORE_H

#include "../share.h"
#include "pairs.h"

// ---- the plan -----------------------------------------------------------------------------------

// What is stored: a value for each pair of n points.
typedef struct tmap_pairs_store_shape {
    tmap_u32 n;      // points, 0 to TMAP_PAIRS_STORE_MAX
    tmap_u32 d;      // coordinates: 1 to TMAP_PAIRS_D_MAX; for sums 1 to TMAP_PAIRS_SUMS_D_MAX
    tmap_u32 size;   // bytes of a coordinate: 4 or 8
    tmap_u32 layout; // TMAP_PAIRS_CONDENSED, _SQUARE or _LOWER. Add TMAP_PAIRS_HOLLOW to the
                     // latter two for a diagonal of zeros without calls (one set of points)
    tmap_u32 value;  // bytes of a value: 4 or 8; or TMAP_PAIRS_BIT, not in a condensed matrix
} tmap_pairs_store_shape;

// A `value` of the shape: one bit for each pair, bit j % 32 of word j / 32 of row i.
#define TMAP_PAIRS_BIT 0u

#define TMAPI_STORE_WARPS   16  // of a block, which writes the rows of a tile side by side
#define TMAPI_STORE_ROWS    8   // that a warp takes at a time
#define TMAPI_STORE_PERIOD  16  // from one of them to the next
#define TMAPI_STORE_BAND    128 // rows of all 16 sets of 8; columns of a warp
#define TMAPI_STORE_SECTOR  32  // bytes
#define TMAPI_STORE_VECTORS 4   // of 16 bytes, the most of a point that is held in registers
#define TMAPI_STORE_WIDE    4   // columns of a lane
#define TMAPI_STORE_WIDEST  8   // of sums in few registers, where tiles are large

// Threads of a block, and blocks of a multiprocessor for __launch_bounds__. These keep stores in
// flight for points of up to 16 bytes and short functions; other second numbers may be as fast.
#define TMAP_PAIRS_STORE_THREADS (32u * TMAPI_STORE_WARPS)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750 // 1024 threads a multiprocessor, not 1536
#define TMAP_PAIRS_STORE_BLOCKS 2
#else
#define TMAP_PAIRS_STORE_BLOCKS 3
#endif

// The same for sums; the most bytes of a sum; the most coordinates.
#define TMAPI_STORE_SUMS_WARPS  8
#define TMAP_PAIRS_SUMS_THREADS (32u * TMAPI_STORE_SUMS_WARPS)
#define TMAP_PAIRS_SUMS_BLOCKS  2
#define TMAP_PAIRS_SUM_MAX      256u
#define TMAP_PAIRS_SUMS_D_MAX   0x7fffffffu

// Sums of more than 16 bytes: points along a side of a tile, columns of a lane.
#define TMAPI_STORE_SUM_FEW  16u
#define TMAPI_STORE_SUM_SIDE 64u
#define TMAPI_STORE_SUM_WIDE 2u

// Values in 16 bytes, which a lane stores together; with bits a lane has one.
TMAP_FN tmap_u32 tmapi_store_values(tmap_u32 bytes) { return bytes ? 16 / bytes : 1; }

// Columns before a tile's own that it may write: one sector.
TMAP_FN tmap_u32 tmapi_store_before(tmap_u32 bytes) {
    return bytes ? TMAPI_STORE_SECTOR / bytes : 0;
}

// Vectors of a point: 1, 2 or 4.
TMAP_FN tmap_u32 tmapi_store_vectors(tmap_u32 size, tmap_u32 d) {
    return d * size <= 16 ? 1 : d * size <= 32 ? 2 : TMAPI_STORE_VECTORS;
}

// Staged points of a tile: its rows, its columns and a sector of columns before them.
TMAP_FN tmap_u32 tmapi_store_places(tmap_u32 side, tmap_u32 bytes) {
    return 2 * side + tmapi_store_before(bytes);
}

// Bytes from a vector of a point to its next one: one position more than there are points, so that
// the two lie in different banks.
TMAP_FN tmap_u32 tmapi_store_plane(tmap_u32 side, tmap_u32 bytes) {
    return (tmapi_store_places(side, bytes) + 1) * 16;
}

// 16-byte vectors of a point of a sum, and those staged at once. Up to 10 are staged together, or
// 16 in the smaller tiles of large sums; these fit the shared memory of every GPU. More are staged
// in equal pieces of at most 5, or 8; one piece is used while the next is copied.
#define TMAPI_STORE_STAGED       10u
#define TMAPI_STORE_STAGED_LARGE 16u
TMAP_FN tmap_u32 tmapi_store_all(tmap_u32 size, tmap_u32 d) {
    return d / (16 / size) + (d % (16 / size) != 0);
}
TMAP_FN tmap_u32 tmapi_store_piece(tmap_u32 all, tmap_u32 most) {
    const tmap_u32 pieces = (all - 1) / (most / 2) + 1;
    return all <= most ? all : (all - 1) / pieces + 1;
}

// Rows that a warp takes at a time, for sums of `bytes` bytes: up to 144 registers hold them.
TMAP_FN tmap_u32 tmapi_store_sum_rows(tmap_u32 bytes) {
    return bytes <= TMAPI_STORE_SUM_FEW ? TMAPI_STORE_ROWS : bytes <= 72 ? 4 : bytes <= 144 ? 2 : 1;
}

// Number of points from which tiles of sums are large. Large tiles cost less for each pair of few
// coordinates; with few tiles they would leave blocks idle at the end. Tests set it lower.
#ifndef TMAPI_STORE_LARGE
#define TMAPI_STORE_LARGE 8192u
#endif

// Points along a side of a tile of sums, and staged vectors of a point of `all`. large: sums have
// more than 16 bytes.
TMAP_FN tmap_u32 tmapi_store_sums_side(tmap_u32 n, tmap_u32 all, int large) {
    if (large) return TMAPI_STORE_SUM_SIDE;
    return (all <= 4 && n >= TMAPI_STORE_LARGE ? 2 : 1) * TMAPI_STORE_BAND;
}
TMAP_FN tmap_u32 tmapi_store_sums_staged(tmap_u32 all, int large) {
    const tmap_u32 most = large ? TMAPI_STORE_STAGED_LARGE : TMAPI_STORE_STAGED;
    return (all > most ? 2 : 1) * tmapi_store_piece(all, most);
}

// Bytes of the output of a plan: all sets, to the end of the last row; saturates.
// Example: n = 30720, condensed floats: 1887375360.
TMAP_FN tmap_u64 tmap_pairs_store_bytes(const tmap_pairs_plan *plan) {
    const tmap_u64 bytes = plan->value ? plan->value : 4;
    return tmap_mul_saturate(tmap_mul_saturate(plan->values, plan->sets), bytes);
}

// Makes the plan of tiles of `side` points, `threads` threads and `vectors` staged vectors.
TMAP_FN int tmapi_store_plan_of(tmap_pairs_store_shape w, tmap_u32 side, tmap_u32 threads,
                                tmap_u32 vectors, tmap_pairs_plan *out) {
    const tmap_u32 matrix = w.layout & TMAPI_PAIRS_LAYOUT;
    tmap_pairs_plan p = tmapi_pairs_plan_begin(TMAP_PAIRS_KIND_STORE, w.n, w.d, w.size);
    if (!out || w.n > TMAP_PAIRS_STORE_MAX || w.d < 1 || (w.size != 4 && w.size != 8) ||
        (w.value != 4 && w.value != 8 && w.value != TMAP_PAIRS_BIT) || !matrix ||
        w.layout > (TMAPI_PAIRS_LAYOUT | TMAP_PAIRS_HOLLOW) ||
        (matrix == TMAP_PAIRS_CONDENSED && (w.layout != matrix || w.value == TMAP_PAIRS_BIT)))
        return TMAP_EINVAL;
    p.layout = w.layout, p.value = w.value, p.before = tmapi_store_before(w.value);
    p.block = threads, p.side = side, p.shared = tmapi_store_plane(side, w.value) * vectors;
    tmapi_pairs_plan_tiles(&p);
    *out = p;
    return TMAP_OK;
}

// Makes the plans of tmap_pairs_store_plan_make and tmap_pairs_store_sums_plan_make without a
// kernel; neither needs facts. Errors: as tmap_pairs_plan_of.
TMAP_FN int tmap_pairs_store_plan_of(tmap_pairs_store_shape shape, tmap_pairs_plan *out) {
    if (shape.d > TMAP_PAIRS_D_MAX) return TMAP_EINVAL;
    return tmapi_store_plan_of(shape, TMAPI_STORE_BAND, TMAP_PAIRS_STORE_THREADS,
                               tmapi_store_vectors(shape.size, shape.d), out);
}
TMAP_FN int tmap_pairs_store_sums_plan_of(tmap_pairs_store_shape shape, tmap_pairs_plan *out) {
    const tmap_u32 all = tmapi_store_all(shape.size == 8 ? 8 : 4, shape.d ? shape.d : 1);
    if (shape.d > TMAP_PAIRS_SUMS_D_MAX) return TMAP_EINVAL;
    return tmapi_store_plan_of(shape, tmapi_store_sums_side(shape.n, all, 0),
                               TMAP_PAIRS_SUMS_THREADS, tmapi_store_sums_staged(all, 0), out);
}

// ---- changes of a plan --------------------------------------------------------------------------

// Sets the pitch: values, or 32-bit words of bits, between the beginnings of two rows of a square
// or lower matrix. pitch: from the length of a row to TMAP_PAIRS_STORE_MAX; 0: rows are packed
// again. Sets are then rows * pitch apart; the share stays as it is. Returns TMAP_EINVAL for a null
// pointer, a plan of another kind or layout, and a pitch outside its range.
TMAP_FN int tmap_pairs_store_plan_pitch_of(tmap_pairs_plan *plan, tmap_u64 pitch) {
    if (!tmapi_pairs_plan_made(plan) || (plan->layout & TMAPI_PAIRS_LAYOUT) < TMAP_PAIRS_SQUARE)
        return TMAP_EINVAL;
    if (pitch && (pitch < tmapi_pairs_plan_row(plan) || pitch > TMAP_PAIRS_STORE_MAX))
        return TMAP_EINVAL;
    plan->pitch = pitch;
    tmapi_pairs_plan_rows_of(plan);
    return TMAP_OK;
}

// Sets the bytes of a sum of tmap_pairs_store_sums, up to 16 in a new plan. Above 16, tiles are of
// 64 x 64 pairs. bytes: a multiple of 4, 4 to TMAP_PAIRS_SUM_MAX. The share becomes all items.
// Returns TMAP_EINVAL for a null pointer, a plan of anything but sums, and bytes outside the range.
TMAP_FN int tmap_pairs_store_plan_sum_of(tmap_pairs_plan *plan, tmap_u32 bytes) {
    tmap_pairs_plan changed;
    if (!tmapi_pairs_plan_made(plan) || !plan->layout || plan->block != TMAP_PAIRS_SUMS_THREADS ||
        bytes < 4 || bytes > TMAP_PAIRS_SUM_MAX || bytes % 4)
        return TMAP_EINVAL;
    const tmap_u32 all = tmapi_store_all(plan->size, plan->d);
    const int large = bytes > TMAPI_STORE_SUM_FEW;
    changed = *plan, changed.side = tmapi_store_sums_side(plan->n, all, large);
    changed.shared =
        tmapi_store_plane(changed.side, plan->value) * tmapi_store_sums_staged(all, large);
    return tmapi_pairs_plan_change(plan, changed);
}

// Number of tiles before row number `row` of tiles.
TMAP_FN tmap_u64 tmapi_store_tiles_before(const tmap_pairs_plan *plan, tmap_u64 row) {
    const tmap_u32 layout = plan->layout & TMAPI_PAIRS_LAYOUT, skew = plan->before != 0;
    if (layout == TMAP_PAIRS_LOWER) return tmap_triangle_cells(row + skew) - skew;
    if (layout == TMAP_PAIRS_SQUARE) return row * plan->across;
    return tmap_triangle_cells(plan->across) - tmap_triangle_cells(plan->across - row);
}

// Bytes of the output before row number `row`.
TMAP_FN tmap_u64 tmapi_store_bytes_before(const tmap_pairs_plan *plan, tmap_u64 row) {
    const tmap_u64 bytes = plan->value ? plan->value : 4;
    if (row > plan->rows) row = plan->rows;
    if ((plan->layout & TMAPI_PAIRS_LAYOUT) != TMAP_PAIRS_CONDENSED)
        return row * plan->step * bytes;
    return (tmap_condensed_cells(plan->n) - tmap_condensed_cells(plan->n - row)) * bytes;
}

// Restricts a plan of one set to part number `part` of `parts`: some rows of the matrix, cut at
// rows of tiles so that parts have about as many tiles. *bytes: where in the output these rows are,
// in bytes. A GPU that keeps them alone allocates them by share_memory.h, and passes the address of
// the complete output. Returns TMAP_EINVAL for a null pointer, a plan of another kind or of several
// sets, and part >= parts; then nothing changes.
// Example: 300000 points, condensed floats, part 0 of 4: rows 0 to 40319, 45 of 180 GB.
TMAP_FN int tmap_pairs_store_plan_part(tmap_pairs_plan *plan, tmap_u64 part, tmap_u64 parts,
                                       tmap_share *bytes) {
    tmap_u64 rows[2];
    if (!bytes || !tmapi_pairs_plan_made(plan) || !plan->layout || plan->sets != 1 || part >= parts)
        return TMAP_EINVAL;
    for (int k = 0; k < 2; ++k) { // the first row of tiles with as many tiles before it
        const tmap_u64 before = tmap_share_of(plan->tiles, part + (tmap_u64)k, parts).first;
        tmap_u64 low = 0, high = tmapi_pairs_tiles(plan->rows, plan->side);
        while (low < high) {
            const tmap_u64 middle = (low + high) / 2;
            if (tmapi_store_tiles_before(plan, middle) < before)
                low = middle + 1;
            else
                high = middle;
        }
        rows[k] = low;
    }
    bytes->first = tmapi_store_bytes_before(plan, rows[0] * plan->side);
    bytes->count = tmapi_store_bytes_before(plan, rows[1] * plan->side) - bytes->first;
    rows[0] = tmapi_store_tiles_before(plan, rows[0]);
    return tmap_pairs_plan_share_of(plan, rows[0],
                                    tmapi_store_tiles_before(plan, rows[1]) - rows[0]);
}

// The part that has row i < plan->rows of the matrix, of `parts`: pair (i, j) is there, i < j in a
// condensed one. Law: the inverse of tmap_pairs_store_plan_part.
TMAP_FN tmap_u64 tmap_pairs_store_part_of(const tmap_pairs_plan *plan, tmap_u32 i, tmap_u64 parts) {
    return tmap_share_part(plan->tiles, tmapi_store_tiles_before(plan, i / plan->side), parts);
}

#if TMAP_CUDA && !TMAP_NVRTC

static inline cudaError_t tmapi_store_plan_keep(int code, const tmap_pairs_plan *p,
                                                const void *kernel, tmap_pairs_plan *out) {
    if (code || !kernel || !out) return cudaErrorInvalidValue;
    *out = *p, out->kernel = kernel;
    return cudaSuccess;
}

// Makes the plan of a kernel that stores a value for every pair of n points with tmap_pairs_store.
// The kernel is a __global__ function of TMAP_PAIRS_STORE_THREADS threads, cast to const void *.
// tmap_pairs_plan_rows, _sets, _share, tmap_pairs_store_plan_pitch and, for a square, _others may
// follow, in any order: the output then has only those rows; the sets are stored one after the
// other; a share of the items, tiles of 128 x 128 pairs, leaves the rest of the output unchanged.
// Returns cudaErrorInvalidValue for a null pointer, numbers outside the shape's ranges and, in a
// condensed matrix, bits or TMAP_PAIRS_HOLLOW. Writes *out only on success. The launch refuses 2^31
// tiles or more (above 10^13 values) with cudaErrorInvalidConfiguration.
// Cost: no CUDA call.
static inline cudaError_t tmap_pairs_store_plan_make(tmap_pairs_store_shape shape,
                                                     const void *kernel, tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    return tmapi_store_plan_keep(tmap_pairs_store_plan_of(shape, &p), &p, kernel, out);
}

// Makes the plan of a kernel of TMAP_PAIRS_SUMS_THREADS threads that calls tmap_pairs_store_sums.
// As tmap_pairs_store_plan_make, but tiles are of 256 x 256 pairs for 8192 points or more of up to
// 64 bytes. tmap_pairs_store_plan_sum must follow if a sum has more than 16 bytes.
static inline cudaError_t tmap_pairs_store_sums_plan_make(tmap_pairs_store_shape shape,
                                                          const void *kernel,
                                                          tmap_pairs_plan *out) {
    tmap_pairs_plan p;
    return tmapi_store_plan_keep(tmap_pairs_store_sums_plan_of(shape, &p), &p, kernel, out);
}

// tmap_pairs_store_plan_pitch_of, with an error of CUDA.
static inline cudaError_t tmap_pairs_store_plan_pitch(tmap_pairs_plan *plan, tmap_u64 pitch) {
    return tmapi_launch_error(tmap_pairs_store_plan_pitch_of(plan, pitch));
}

// tmap_pairs_store_plan_sum_of, with an error of CUDA.
// Example: tmap_pairs_store_plan_sum(&plan, 36), for nine floats a pair.
static inline cudaError_t tmap_pairs_store_plan_sum(tmap_pairs_plan *plan, tmap_u32 bytes) {
    return tmapi_launch_error(tmap_pairs_store_plan_sum_of(plan, bytes));
}

// Launches a kernel that calls tmap_pairs_store or tmap_pairs_store_sums, as tmap_pairs_launch
// does. Returns cudaErrorInvalidValue for a plan of another kind.
static inline cudaError_t tmap_pairs_store_launch(const tmap_pairs_plan *plan, tmap_job job,
                                                  cudaStream_t stream) {
    return tmapi_pairs_launch_as(plan, TMAP_PAIRS_KIND_STORE, job, stream);
}

#endif

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

// The same number, hidden from the compiler, which then computes again what depends on it instead
// of holding it in registers.
TMAP_DEVICE tmap_u32 tmapi_store_again(tmap_u32 x) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(x));
#endif
    return x;
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
            uint4 vector;
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

// ---- a value for each pair ----------------------------------------------------------------------

// Your function: writes the value of a pair to *value, `bytes` bytes of the plan; for
// TMAP_PAIRS_BIT a 32-bit 0 or not 0. pair: i and j within the set, whose number is
// tmap_pairs_set(a). Condensed matrices: i < j only. Square matrices (and two sets): every (i, j),
// also i = j and i > j. Lower ones: j <= i, also i = j. The value of (i, i) need not be 0, nor that
// of (i, j) equal to that of (j, i). a, b: points i and j, copies of their d coordinates.
typedef void (*tmap_pairs_value)(void *job, tmap_pair pair, const void *a, const void *b,
                                 void *value);

typedef tmapi_pairs_point tmapi_store_whole; // of 16 * TMAPI_STORE_VECTORS bytes

// Reads a complete point, whose vectors are `plane` bytes apart.
TMAP_DEVICE void tmapi_store_get(const tmapi_store *s, const unsigned char *from, tmap_u32 plane,
                                 unsigned char *point) {
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_STORE_VECTORS; ++k)
        if (k * 16 < s->d * s->size) tmapi_value_copy(point + 16 * k, from + k * plane, 16);
}

// Computes a lane's values of a row of a strip.
typedef void (*tmapi_store_row_do)(const tmapi_store *s, const tmapi_store_strip *strip, int full,
                                   const tmapi_pairs_row *row, const tmapi_store_whole *columns,
                                   tmapi_store_out *out, void *context);

// Computes the full rows of a strip, which are its first ones, or its other rows. full: a constant.
TMAP_DEVICE void tmapi_store_rows(const tmapi_store *s, tmapi_store_strip strip, const int full,
                                  tmapi_store_row_do values, void *context) {
    const tmap_u32 v = tmapi_store_together(s), plane = tmapi_store_plane(s->side, s->bytes);
    tmapi_store_whole columns[TMAPI_STORE_WIDE];
    tmapi_pairs_row row;
    row.set = s->set;
#pragma unroll
    for (tmap_u32 c = 0; c < TMAPI_STORE_WIDE; ++c)
        tmapi_store_get(s, TMAPI_STORE_COLUMN(&strip, v, c), plane, columns[c].bytes);
#pragma unroll 1
    for (int r = 0; full ? strip.full > 0 : r < TMAPI_STORE_ROWS; ++r) {
        if (!full) __syncwarp(); // or the compiler makes a loop for each metric and each layout
        if (!full && strip.i >= s->rows) break;
        if (full || strip.full <= 0) {
            tmapi_store_out out;
            tmapi_store_get(s, strip.rows, plane, row.bytes);
            values(s, &strip, full, &row, columns, &out, context);
            tmapi_store_write(s, &strip, full, &out);
        }
        tmapi_store_next(s, &strip);
    }
}

// Computes all strips of a tile whose points are staged. A strip is built again for its rows that
// are not full, so that the full rows have all registers.
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

// Calls your function only for pairs that exist in the output.
TMAP_DEVICE void tmapi_store_value_row(const tmapi_store *s, const tmapi_store_strip *strip,
                                       int full, const tmapi_pairs_row *row,
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
        const int j = strip->j + tmapi_store_column((int)tmapi_store_together(s), c);
        pair.j = (tmap_u32)j;
        if (!full) tmapi_value_zero(out->bytes + c * bytes, bytes);
        if (full || (j >= first && j < end && !(s->hollow && j == strip->i)))
            v->value(v->job, pair, row->bytes, columns[c].bytes, out->bytes + c * bytes);
    }
}
// 1 if a call fits the plan: tmapi_pairs_check, and the number of threads that tells the two
// engines apart.
TMAP_DEVICE int tmapi_store_check(const tmap_pairs_plan *plan, tmap_points points, tmap_u32 bytes,
                                  tmap_u32 threads, const char *function) {
    return tmapi_pairs_check(plan, points, TMAP_PAIRS_KIND_STORE, function) &&
           tmapi_pairs_check_plan(plan->block, threads, function) &&
           TMAPI_CHECK(plan->value == bytes, function, "bytes is not the plan's");
}

// Writes value(job, pair, a, b, &value) for every pair of the plan's share to its position in the
// output, and leaves the rest of the output unchanged. All threads of all blocks call it, with the
// same arguments, in blocks of TMAP_PAIRS_STORE_THREADS threads. plan: of
// tmap_pairs_store_plan_make. value: a __device__ function without barriers or collectives, called
// for (i, i) and i > j too in a square matrix, for i >= j in a lower one (tmap_pairs_value). bytes:
// of a value, the plan's, a constant. out: tmap_pairs_store_bytes(plan) bytes of device memory at a
// multiple of `bytes`, for bits of 4, that do not overlap the points. Bits after a row's last
// column, and in a lower matrix those of a word after the diagonal, become 0.
// Errors: as tmap_pairs_each. Cost: for each pair, value, about 2.5 instructions and a store. For
// points of more than 16 bytes, omit the second number of __launch_bounds__.
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
        const tmapi_store_scale none = {0, 0, 0};
        tmapi_store_value v = {value, job};
        tmapi_store_stage(&s, 0, 0, planes, staged);
        tmapi_store_ready(&s, 1, 0, planes, &none, staged);
        tmapi_store_each(&s, staged, tmapi_store_value_row, &v);
        __syncthreads(); // before the next tile's points arrive
    }
}

// ---- sums over any number of coordinates --------------------------------------------------------
//
// A value is made from a sum (or a maximum, or a few sums) over the coordinates, 16 bytes of them
// at a time.
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

// Sets a sum before its first coordinate. Your four functions have no barriers or collectives.
typedef void (*tmap_pairs_start)(void *job, void *sum);
// Adds 16 bytes of coordinates to a sum. a, b: the same 4 floats or 2 doubles of point i and of
// point j; 0 after the last coordinate, so a function that divides tests the divisor.
typedef void (*tmap_pairs_add)(void *job, void *sum, const void *a, const void *b);
// Ends a part of a sum, after each `period` coordinates except the last.
typedef void (*tmap_pairs_part)(void *job, void *sum);
// Writes the value of a pair from its sum. pair: i and j within the set.
typedef void (*tmap_pairs_finish)(void *job, tmap_pair pair, const void *sum, void *value);

// How a value is computed: start, then add for all coordinates in an order that is the same for
// every pair, then finish. Loops over the parts of a sum need constant bounds: else it is not held
// in registers. The matrix decides which pairs exist, as for tmap_pairs_value, (i, i) and i > j
// included; the functions may also be called for pairs that do not exist, whose values are dropped.
typedef struct tmap_pairs_sum {
    tmap_pairs_start start;
    tmap_pairs_add add;
    tmap_pairs_part part; // or 0: called after each `period` coordinates except the last
    tmap_pairs_finish finish;
    tmap_u32 bytes;  // of a sum, a constant: a multiple of 4, 4 to TMAP_PAIRS_SUM_MAX; of more than
                     // 16, the plan's (tmap_pairs_store_plan_sum)
    tmap_u32 period; // coordinates, a power of two, 64 bytes or more; need not be constant
} tmap_pairs_sum;

// A sum of up to 16 bytes, or a part of a larger one.
typedef struct tmapi_store_sum {
    alignas(16) unsigned char bytes[TMAPI_STORE_SUM_FEW];
} tmapi_store_sum;

// The sum of row r and column c among those of a lane, which are contiguous if they are large.
TMAP_DEVICE unsigned char *tmapi_store_sum_at(const tmapi_store *s,
                                              tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST],
                                              tmap_u32 r, tmap_u32 c) {
    return s->sum ? sums[0][0].bytes + (r * s->wide + c) * s->sum : sums[r][c].bytes;
}

// Copies sum number `from` of a lane to number `to`, both of `parts` parts.
TMAP_DEVICE void tmapi_store_sum_copy(tmapi_store_sum *sums, tmap_u32 to, tmap_u32 from,
                                      tmap_u32 parts) {
#pragma unroll
    for (tmap_u32 k = 0; k < parts; ++k) sums[to * parts + k] = sums[from * parts + k];
}

// Computes the values of a strip's rows from their sums and stores them. full: 1: all are full; 0:
// the same code stores 8 values at a time, or a row of large sums, because there is much of it.
TMAP_DEVICE void tmapi_store_finish(const tmapi_store *s, tmapi_store_strip strip, const int full,
                                    tmap_pairs_finish finish, void *job,
                                    tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_together(s), bytes = s->bytes ? s->bytes : 4;
    const tmap_u32 rows = s->tall < TMAPI_STORE_ROWS ? 1 : full ? TMAPI_STORE_ROWS : 8 / s->wide;
#pragma unroll 1
    for (tmap_u32 part = 0; part < s->tall / rows; ++part) {
#pragma unroll
        for (tmap_u32 r = 0; r < TMAPI_STORE_ROWS; ++r) {
            tmapi_store_out out;
            tmap_pair pair;
            if (r >= rows) break;
            pair.i = (tmap_u32)strip.i;
#pragma unroll
            for (tmap_u32 c = 0; c < s->wide; ++c) {
                pair.j = (tmap_u32)(strip.j + tmapi_store_column((int)v, c));
                finish(job, pair, tmapi_store_sum_at(s, sums, r, c), out.bytes + c * bytes);
            }
            tmapi_store_write(s, &strip, full, &out);
            tmapi_store_next(s, &strip);
        }
#pragma unroll
        for (tmap_u32 x = 0; x < (s->tall - rows) * s->wide; ++x) { // the next ones
            if (s->sum)
                tmapi_store_sum_copy(sums[0], x, x + rows * s->wide, s->sum / 16);
            else
                sums[x / s->wide][x % s->wide] = sums[x / s->wide + rows][x % s->wide];
        }
    }
}

// How sums are computed: your functions, and the possible jobs of sum.add. All threads pass number
// `way` to it; the other functions receive jobs[0].
typedef struct tmapi_store_ways {
    tmap_pairs_sum sum;
    void *jobs[3];
    int way;
} tmapi_store_ways;

// Adds a vector of the coordinates, whose plane begins `at` bytes after the first one, to the sums
// of 8 rows.
TMAP_DEVICE void tmapi_store_add(const tmapi_store *s, const tmapi_store_strip *strip, tmap_u32 at,
                                 const tmapi_value *columns, tmap_pairs_add add, void *job,
                                 tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
#pragma unroll
    for (tmap_u32 r = 0; r < s->tall; ++r) {
        tmapi_value row;
        tmapi_value_copy(row.bytes, strip->rows + r * (TMAPI_STORE_PERIOD * 16) + at, 16);
#pragma unroll
        for (tmap_u32 c = 0; c < s->wide; ++c)
            add(job, tmapi_store_sum_at(s, sums, r, c), row.bytes, columns[c].bytes);
    }
}

// Adds vectors from .. to - 1, at least one. One at a time: unrolled code would exceed the
// instruction cache. From the last one down, which takes fewer registers.
TMAP_DEVICE void tmapi_store_add_all(const tmapi_store *s, const tmapi_store_strip *strip,
                                     tmap_u32 from, tmap_u32 to, const tmapi_store_ways *w,
                                     tmapi_store_sum (*sums)[TMAPI_STORE_WIDEST]) {
    const tmap_u32 v = tmapi_store_together(s);
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
    for (tmap_u32 x = 0; x < s->tall * s->wide; ++x)
        what(job, tmapi_store_sum_at(s, sums, x / s->wide, x % s->wide));
}

// Adds the staged vectors first .. first + here - 1, of `all` vectors of a point, and ends a part
// after each period.
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

// Computes a tile. Points that fit one piece are staged once for all strips; else each strip goes
// through all pieces, the next piece always in flight. Collective for the block.
TMAP_DEVICE void tmapi_store_sums(const tmapi_store *s, unsigned char *staged,
                                  const tmapi_store_scale *scale, const tmapi_store_ways *w) {
    const tmap_u32 per = 16 / s->size, all = tmapi_store_all(s->size, s->d);
    const tmap_u32 most =
        s->tall < TMAPI_STORE_ROWS ? TMAPI_STORE_STAGED_LARGE : TMAPI_STORE_STAGED;
    const tmap_u32 piece = tmapi_store_piece(all, most), strips = tmapi_store_strips(s);
    tmapi_store_sum sums[TMAPI_STORE_ROWS][TMAPI_STORE_WIDEST];
    const tmap_u32 other = piece < all ? piece * tmapi_store_plane(s->side, s->bytes) : 0;
    tmap_u32 turn = 0, k = all; // the strip; its vector, `all` before the first
    tmap_u32 at = other;        // where the current piece is in shared memory
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
                if (s->tall == TMAPI_STORE_ROWS && strip.full == TMAPI_STORE_ROWS)
                    tmapi_store_finish(s, strip, 1, w->sum.finish, w->jobs[0], sums);
                else
                    tmapi_store_finish(s, strip, 0, w->sum.finish, w->jobs[0], sums);
                if (++turn == strips) return;
                tmapi_store_do_sums(s, w->sum.start, w->jobs[0], sums);
            }
        }
        if (more) { // all threads have used what was there
            at = other - at;
            if (k == all && piece < all && scale->length != 0) tmapi_store_measure(s, scale);
            tmapi_store_ready(s, piece == all, then * per, piece, scale, staged + at);
        }
        k = then;
    }
}

// Writes the value of every pair of the plan's share to its position in the output, as
// tmap_pairs_store does, with blocks of TMAP_PAIRS_SUMS_THREADS threads. plan: of
// tmap_pairs_store_sums_plan_make, which gives the number of coordinates; points.d is ignored.
// points: copied faster if they are at a multiple of 16 and have a multiple of 16 bytes each. sum:
// all members but the period are constants; with sum.bytes outside its range, or above 16 where
// tmap_pairs_store_plan_sum has not said so, nothing is written. bytes, out: as for
// tmap_pairs_store.
// Cost: for each pair and 16 bytes of coordinates, add, and a third of an instruction for each 4
// bytes; for each pair, finish, about 4 instructions and a store.
TMAP_DEVICE void tmap_pairs_store_sums(const tmap_pairs_plan *plan, tmap_points points,
                                       tmap_pairs_sum sum, tmap_u32 bytes, void *out, void *job) {
    const tmapi_store_scale none = {0, 0, 0};
    const tmapi_store_ways ways = {sum, {job, job, job}, 0};
    const tmap_points of_plan = {points.a, points.b, points.size, plan->d};
    const int large = sum.bytes > TMAPI_STORE_SUM_FEW;
    if (!tmapi_store_check(plan, of_plan, bytes, TMAP_PAIRS_SUMS_THREADS,
                           "tmap_pairs_store_sums") ||
        !TMAPI_CHECK(sum.bytes % 4 == 0 && sum.bytes - 4 <= TMAP_PAIRS_SUM_MAX - 4,
                     "tmap_pairs_store_sums", "sum.bytes is not a multiple of 4 from 4 to 256") ||
        !TMAPI_CHECK(large == (plan->side == TMAPI_STORE_SUM_SIDE), "tmap_pairs_store_sums",
                     "sum.bytes is not that of tmap_pairs_store_plan_sum"))
        return;
    if (large && (sum.bytes > TMAP_PAIRS_SUM_MAX || plan->side != TMAPI_STORE_SUM_SIDE)) return;
#pragma unroll 1
    for (tmap_u32 t = blockIdx.x; t < (tmap_u32)plan->count; t += gridDim.x) {
        points.d = plan->d; // a number of the caller's would take more registers
        tmapi_store s = tmapi_store_make(plan, (tmap_u32)plan->first + t,
                                         large ? TMAPI_STORE_SUM_SIDE : plan->side,
                                         TMAPI_STORE_SUMS_WARPS, 4, points, bytes, out);
        if (large) {
            s.wide = TMAPI_STORE_SUM_WIDE, s.tall = tmapi_store_sum_rows(sum.bytes);
            s.sum = (sum.bytes + 15) / 16 * 16;
        }
        tmapi_store_sums(&s, tmapi_pairs_memory(), &none, &ways);
        __syncthreads(); // before the next tile's points arrive
    }
}

#endif // TMAP_CUDA

#endif
