// SPDX-License-Identifier: MIT
// pairs_store_plan.h: of pairs_store.h: plans of calls that store a value for each pair.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_PLAN_H
#define TMAP_TRIANGLE_PAIRS_STORE_PLAN_H

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

#endif
