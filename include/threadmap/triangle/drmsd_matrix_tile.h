// SPDX-License-Identifier: MIT
// drmsd_matrix_tile.h: the sums of squares of a tile of 128 x 128 pairs of frames, and where they
// go.
//
// It is a product of matrices with (a - b)^2 in the place of a b: a term takes an addition and a
// multiplication with addition, for which 16 numbers in registers are enough for 64 terms. Terms of
// 512 columns are added up one by one, and then added to what was there before: rounding errors of
// a long sum stay those of a short one.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_DRMSD_MATRIX_TILE_H
#define TMAP_TRIANGLE_DRMSD_MATRIX_TILE_H

#include "drmsd_matrix_columns.h"

#if TMAP_CUDA

#define TMAPI_MATRIX_THREADS 256u
#define TMAPI_MATRIX_STEP    16u // columns that are copied at a time
#define TMAPI_MATRIX_STAGES  3u  // steps in shared memory or under way
#define TMAPI_MATRIX_SQUARE  8u // tiles are taken by squares of so many, which share what they read

// ---- copies -------------------------------------------------------------------------------------

// Copies 16 bytes to shared memory, in the background.
TMAP_DEVICE void tmapi_matrix_copy(uint4 *to, const uint4 *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#else
    *to = *from;
#endif
}

// Ends a group of copies.
TMAP_DEVICE void tmapi_matrix_commit(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups but the last one, TMAPI_MATRIX_STAGES being 3.
TMAP_DEVICE void tmapi_matrix_wait(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

// Begins to copy a step of `size` times 16 bytes of both sides of a tile, which are side by side in
// either's memory.
TMAP_DEVICE void tmapi_matrix_step(const uint4 *rows, const uint4 *columns, const tmap_u32 size,
                                   uint4 *to) {
#pragma unroll
    for (tmap_u32 k = 0; k < size; k += TMAPI_MATRIX_THREADS)
        tmapi_matrix_copy(to + k + threadIdx.x, rows + k + threadIdx.x);
#pragma unroll
    for (tmap_u32 k = 0; k < size; k += TMAPI_MATRIX_THREADS)
        tmapi_matrix_copy(to + size + k + threadIdx.x, columns + k + threadIdx.x);
}

// ---- tiles --------------------------------------------------------------------------------------

// The blocks of a slice: whole squares of tiles.
TMAP_FN tmap_u64 tmapi_matrix_blocks(tmap_u32 tiles) {
    const tmap_u64 squares = (tiles + TMAPI_MATRIX_SQUARE - 1) / TMAPI_MATRIX_SQUARE;
    return tmap_triangle_cells(squares) * TMAPI_MATRIX_SQUARE * TMAPI_MATRIX_SQUARE;
}

// The tile of a block; below the diagonal or outside there is none.
TMAP_FN tmap_pair tmapi_matrix_tile_of(tmap_u32 block, tmap_u32 tiles) {
    const tmap_u32 side = TMAPI_MATRIX_SQUARE, cell = block % (side * side);
    tmap_pair t = tmap_upper_map(block / (side * side), (tiles + side - 1) / side);
    t.i = t.i * side + cell / side;
    t.j = t.j * side + cell % side;
    return t;
}

// The columns of a block's slice that there are, whole steps of `step` columns.
TMAP_DEVICE tmap_u32 tmapi_matrix_steps(const tmapi_matrix *m, tmap_u32 step) {
    const tmap_u64 slice = (tmap_u64)m->plan.slice * TMAPI_MATRIX_UNIT;
    const tmap_u64 all = m->plan.groups * TMAPI_MATRIX_GROUP;
    const tmap_u64 first = (m->first + blockIdx.y) * slice;
    const tmap_u64 left = all > first ? all - first : 0;
    return (tmap_u32)(((left < slice ? left : slice) + step - 1) / step);
}

// The root of a sum times share, to half a place; 0 of what rounding has left below 0.
TMAP_DEVICE float tmapi_matrix_root(float sum, float share) {
    const float square = sum < 0 ? 0 : sum * share;
    const float inverse = tmapi_rsqrt(fmaxf(square, 1e-37f)), root = square * inverse;
    return fmaf(fmaf(-root, root, square), 0.5f * inverse, root);
}

// Where a block writes: results, or its slice's parts of their sums.
typedef struct tmapi_matrix_writer {
    float *to;
    tmap_u64 frames;
    float share;
    int whole; // sums are whole
} tmapi_matrix_writer;

// Collective for the warp.
TMAP_DEVICE tmapi_matrix_writer tmapi_matrix_writer_of(const tmapi_matrix *m) {
    tmapi_matrix_writer w = {m->out, m->plan.frames, 0, m->plan.slices == 1};
    if (w.whole)
        w.share = tmapi_matrix_share(m);
    else
        w.to = m->partial + blockIdx.y * tmap_condensed_cells(w.frames);
    return w;
}

// Where frame a's part of the matrix would have column 0: modulo 2^64, for a = 0.
TMAP_DEVICE tmap_u64 tmapi_matrix_row(const tmapi_matrix_writer *w, tmap_u32 a) {
    return a * (2 * w->frames - a - 3) / 2 - 1;
}

// Writes the sum of frames a and b, if the matrix has it. row: of a.
TMAP_DEVICE void tmapi_matrix_put(const tmapi_matrix_writer *w, tmap_u64 row, tmap_u32 a,
                                  tmap_u32 b, float sum) {
    const float value = w->whole ? tmapi_matrix_root(sum, w->share) : sum;
    if (a < b && b < w->frames) w->to[row + b] = value;
}

// ---- sums of squares ----------------------------------------------------------------------------

// The numbers of a column that a thread needs: of rows r, .., r + 3, r + 16, .. and columns c, ..,
// c + 3, c + 32, ... Lanes of a warp that differ in c read banks of their own.
typedef struct tmapi_matrix_numbers {
    float row[8], column[8];
} tmapi_matrix_numbers;

TMAP_DEVICE void tmapi_matrix_load(tmapi_matrix_numbers *x, const float4 *rows,
                                   const float4 *columns) {
#pragma unroll
    for (tmap_u32 h = 0; h < 2; ++h) {
        const float4 r = rows[4 * h], c = columns[8 * h];
        x->row[4 * h] = r.x, x->row[4 * h + 1] = r.y;
        x->row[4 * h + 2] = r.z, x->row[4 * h + 3] = r.w;
        x->column[4 * h] = c.x, x->column[4 * h + 1] = c.y;
        x->column[4 * h + 2] = c.z, x->column[4 * h + 3] = c.w;
    }
}

// A block's tile: 8 warps of 32 x 64 pairs, 4 x 8 threads of 8 x 8. staged: room for
// TMAPI_MATRIX_STAGES steps of both sides.
TMAP_DEVICE void tmapi_matrix_sums(const tmapi_matrix *m, float4 *staged) {
    const tmap_u32 wide = TMAPI_MATRIX_SIDE / 4, size = TMAPI_MATRIX_STEP * wide; // 16 bytes
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const tmap_u32 row = warp / 2 * 32 + lane / 8 * 4, column = warp % 2 * 64 + lane % 8 * 4;
    const tmap_u32 steps = tmapi_matrix_steps(m, TMAPI_MATRIX_STEP);
    const tmap_pair tile = tmapi_matrix_tile_of(blockIdx.x, m->plan.tiles);
    const tmap_u64 columns = tmapi_matrix_columns(&m->plan);
    const tmap_u64 slice = blockIdx.y * (tmap_u64)m->plan.slice * TMAPI_MATRIX_UNIT;
    const uint4 *rows_at = (const uint4 *)m->distances + (tile.i * columns + slice) * wide;
    const uint4 *columns_at = (const uint4 *)m->distances + (tile.j * columns + slice) * wide;
    float sums[8][8] = {{0}}, terms[8][8] = {{0}};
    tmapi_matrix_numbers x[2];
    tmap_u32 turn = 0, ahead = TMAPI_MATRIX_STAGES - 1;
    if (tile.i > tile.j || tile.j >= m->plan.tiles) return;
#pragma unroll
    for (tmap_u32 s = 0; s + 1 < TMAPI_MATRIX_STAGES; ++s) {
        if (s < steps) tmapi_matrix_step(rows_at, columns_at, size, (uint4 *)staged + 2 * s * size);
        tmapi_matrix_commit();
        rows_at += size, columns_at += size;
    }
#pragma unroll 1
    for (tmap_u32 s = 0; s < steps; ++s) {
        const float4 *from = staged + 2 * turn * size + row / 4;
        const float4 *other = staged + (2 * turn + 1) * size + column / 4;
        tmapi_matrix_wait();
        __syncthreads(); // this step is there, and all are through with the one before
        if (s + TMAPI_MATRIX_STAGES - 1 < steps)
            tmapi_matrix_step(rows_at, columns_at, size, (uint4 *)staged + 2 * ahead * size);
        tmapi_matrix_commit();
        rows_at += size, columns_at += size;
        turn = turn + 1 == TMAPI_MATRIX_STAGES ? 0 : turn + 1;
        ahead = ahead + 1 == TMAPI_MATRIX_STAGES ? 0 : ahead + 1;
        tmapi_matrix_load(&x[0], from, other);
#pragma unroll 1
        for (tmap_u32 k = 0; k < TMAPI_MATRIX_STEP; k += 4) {
#pragma unroll
            for (tmap_u32 u = 0; u < 4; ++u) { // the next column is read before this one is used
                const tmap_u32 next = (k + u + 1) % TMAPI_MATRIX_STEP * wide;
                tmapi_matrix_load(&x[(u + 1) % 2], from + next, other + next);
#pragma unroll
                for (tmap_u32 i = 0; i < 8; ++i)
#pragma unroll
                    for (tmap_u32 j = 0; j < 8; ++j) {
                        const float d = x[u % 2].row[i] - x[u % 2].column[j];
                        terms[i][j] = fmaf(d, d, terms[i][j]);
                    }
            }
        }
        if ((s + 1) % (TMAPI_MATRIX_UNIT / TMAPI_MATRIX_STEP) != 0 && s + 1 != steps) continue;
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i)
#pragma unroll
            for (tmap_u32 j = 0; j < 8; ++j) sums[i][j] += terms[i][j], terms[i][j] = 0;
    }
    const tmapi_matrix_writer w = tmapi_matrix_writer_of(m);
#pragma unroll
    for (tmap_u32 i = 0; i < 8; ++i) {
        const tmap_u32 frame = tile.i * TMAPI_MATRIX_SIDE + row + i / 4 * 16 + i % 4;
        const tmap_u64 at = tmapi_matrix_row(&w, frame);
#pragma unroll
        for (tmap_u32 j = 0; j < 8; ++j)
            tmapi_matrix_put(&w, at, frame,
                             tile.j * TMAPI_MATRIX_SIDE + column + j / 4 * 32 + j % 4, sums[i][j]);
    }
}

// ---- several slices -----------------------------------------------------------------------------

// Adds the sums of the round's slices to those of the rounds before, in double precision; after the
// last round writes the results.
TMAP_DEVICE void tmapi_matrix_gather(const tmapi_matrix *m) {
    const tmap_u64 cells = tmap_condensed_cells(m->plan.frames);
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    const int last = m->first + m->slices == m->plan.slices;
    const float share = last ? tmapi_matrix_share(m) : 0;
    for (tmap_u64 k = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; k < cells; k += stride) {
        double sum = m->first ? (double)m->out[k] + (double)m->rest[k] : 0;
        for (tmap_u32 s = 0; s < m->slices; ++s) sum += (double)m->partial[s * cells + k];
        const float high = (float)sum;
        m->out[k] = last ? tmapi_matrix_root(high, share) : high;
        if (!last) m->rest[k] = (float)(sum - (double)high);
    }
}

#endif // TMAP_CUDA
#endif
