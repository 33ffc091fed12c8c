// SPDX-License-Identifier: MIT
// drmsd_mma.h: the dRMSD of all pairs of frames of a trajectory on tensor cores: several times as
// fast as drmsd_matrix.h, and less exact.
//
// |u - v|^2 = |u|^2 + |v|^2 - 2 u v, with u and v the vectors of distances of two frames, less
// their medians over some frames, so that the norms are small. They are halves; or, with two
// planes, sums of two halves u0 + u1, and the product is u0 v0 + u0 v1 + u1 v0. The formula is
// applied to 256 columns at a time, and the results are summed as floats; products leave the tensor
// cores every 128 columns. Norms are computed by the same products in the same order, so equal
// frames always give 0.
//
//     const tmap_drmsd_shape shape = {n, frames, TMAP_DRMSD_MMA_SPLIT, 0, 0};
//     const tmap_drmsd_in in = {xyz, 0, 0}; // tmap_drmsd_matrix_plan_make, tmap_drmsd_mma
#ifndef TMAP_MOLECULES_DRMSD_MMA_H
#define TMAP_MOLECULES_DRMSD_MMA_H

#include "drmsd_matrix.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_fp16.h>

// A brick is 32 columns of the 128 frames of a tile, in one plane: 64 bytes a frame, in four parts
// of 16. Part p of frame f is at p ^ (f / 2 % 4), so that lanes that read 8 frames use all banks.
// Memory orders bricks by tile, columns and plane, as does shared memory.
#define TMAPI_DRMSD_MMA_BRICK 512u // times 16 bytes
#define TMAPI_DRMSD_MMA_SUM   128u // columns summed by tensor cores
#define TMAPI_DRMSD_MMA_NORM  256u // columns of a norm
// Steps of both sides, each a brick of two planes or two bricks of one.
#define TMAPI_DRMSD_MMA_BYTES (16u * 2 * TMAPI_MATRIX_STAGES * 2 * TMAPI_DRMSD_MMA_BRICK)

// ---- products -----------------------------------------------------------------------------------
//
// On the CPU, and below compute capability 8.0, for which no plan is made, shuffles do the same.

// Reads four 8 x 8 matrices of halves: lanes 0 to 7 give the row addresses of the first one, ... A
// lane gets columns 2q and 2q + 1 of row g of each, with g = lane / 4 and q = lane % 4.
TMAP_DEVICE void tmapi_drmsd_mma_read(tmap_u32 *words, const uint4 *row) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)));
#else
    const tmap_u32 g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    for (tmap_u32 k = 0; k < 4; ++k)
        words[k] = ((const tmap_u32 *)__shfl_sync(0xffffffffu, (tmap_u64)row, 8 * k + g))[q];
#endif
}

// D += A B by a full warp; A 16 x 16, B 16 x 8, in quarters of A and halves of B as above, with
// rows and columns of B exchanged. A lane has
//   d[0], d[1] = D[g][2q], D[g][2q + 1]     d[2], d[3] = D[g + 8][2q], D[g + 8][2q + 1]
TMAP_DEVICE void tmapi_drmsd_mma_multiply(float *d, const tmap_u32 *a, const tmap_u32 *b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    const tmap_u32 g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    for (tmap_u32 k = 0; k < 8; ++k) { // two columns of A at a time
        tmap_u32 rows[2], columns[2];
        for (tmap_u32 x = 0; x < 2; ++x) {
            rows[x] = __shfl_sync(0xffffffffu, a[k / 4 * 2 + x], 4 * g + k % 4);
            columns[x] = __shfl_sync(0xffffffffu, b[k / 4], 8 * q + 4 * x + k % 4);
        }
        for (tmap_u32 x = 0; x < 8; ++x) {
            const __half *u = (const __half *)&rows[x / 4],
                         *v = (const __half *)&columns[x / 2 % 2];
            d[x / 2] = fmaf(__half2float(u[x % 2]), __half2float(v[x % 2]), d[x / 2]);
        }
    }
#endif
}

// Where the calling lane reads 16 frames, from `frame` on (a multiple of 16), in the first half of
// a brick's columns: as rows of A (0) or as columns of B (1). The second half is two parts away.
TMAP_DEVICE tmap_u32 tmapi_drmsd_mma_at(tmap_u32 frame, const int b) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 row = b ? lane % 8 + lane / 16 * 8 : lane % 16;
    return (frame + row) * 4 + ((b ? lane / 8 % 2 : lane / 16) ^ (row / 2 % 4));
}

// ---- staging ------------------------------------------------------------------------------------

TMAP_DEVICE uint4 tmapi_drmsd_mma_pack(const float *values) {
    tmap_u32 words[4];
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        const __half2 both = __floats2half2_rn(values[2 * k], values[2 * k + 1]);
        words[k] = __half_as_ushort(both.x) | (tmap_u32)__half_as_ushort(both.y) << 16;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Writes a group's values to part `part` of a frame in a brick of each plane.
TMAP_DEVICE void tmapi_drmsd_mma_put(uint4 *brick, tmap_u32 planes, tmap_u32 part, tmap_u32 frame,
                                     const float *values) {
    const tmap_u32 at = frame * 4 + (part ^ (frame / 2 % 4));
    float rest[8];
    brick[at] = tmapi_drmsd_mma_pack(values);
    if (planes < 2) return;
#pragma unroll
    for (tmap_u32 k = 0; k < 8; ++k) rest[k] = values[k] - __half2float(__float2half_rn(values[k]));
    brick[TMAPI_DRMSD_MMA_BRICK + at] = tmapi_drmsd_mma_pack(rest);
}

// The products of 32 frames with themselves in a brick, by the frames' warp: sums[h] is for the
// frames from 16 h on; the lane 4 g + g / 2 has their squares in d[g % 2] and d[2 + g % 2].
TMAP_DEVICE void tmapi_drmsd_mma_squares(const uint4 *brick, tmap_u32 planes, float (*sums)[2][4]) {
    const tmap_u32 frame = threadIdx.x / 32 * 32;
#pragma unroll
    for (tmap_u32 h = 0; h < 2; ++h) {
        const tmap_u32 a_at = tmapi_drmsd_mma_at(frame + 16 * h, 0);
        const tmap_u32 b_at = tmapi_drmsd_mma_at(frame + 16 * h, 1);
#pragma unroll
        for (tmap_u32 k = 0; k < 4; k += 2) {
            tmap_u32 a[4], b[4], rest[4];
            tmapi_drmsd_mma_read(a, brick + (a_at ^ k));
            tmapi_drmsd_mma_read(b, brick + (b_at ^ k));
            for (tmap_u32 x = 0; x < 2; ++x) tmapi_drmsd_mma_multiply(sums[h][x], a, b + 2 * x);
            if (planes < 2) continue;
            tmapi_drmsd_mma_read(rest, brick + TMAPI_DRMSD_MMA_BRICK + (b_at ^ k));
            for (tmap_u32 x = 0; x < 2; ++x) tmapi_drmsd_mma_multiply(sums[h][x], a, rest + 2 * x);
            tmapi_drmsd_mma_read(rest, brick + TMAPI_DRMSD_MMA_BRICK + (a_at ^ k));
            for (tmap_u32 x = 0; x < 2; ++x) tmapi_drmsd_mma_multiply(sums[h][x], rest, b + 2 * x);
        }
    }
}

// Writes columns of a tile's frames, and their norms. Grid: 256 columns by x, tiles by y.
static __global__ void __launch_bounds__(TMAPI_MATRIX_SIDE) tmapi_drmsd_mma_write(tmapi_matrix m) {
    extern __shared__ uint4 tmapi_pairs_shared[]; // two bricks of both planes
    const tmap_u32 planes = m.plan.planes, thread = threadIdx.x;
    const tmap_u32 many = TMAPI_DRMSD_MMA_NORM / 32, size = planes * TMAPI_DRMSD_MMA_BRICK;
    const tmap_u64 columns = tmapi_matrix_columns(&m.plan);
    const tmap_u64 frame = blockIdx.y * (tmap_u64)TMAPI_MATRIX_SIDE + thread;
    uint4 *to = (uint4 *)m.distances + (blockIdx.y * (columns / 32) + blockIdx.x * many) * size;
    float *norms = m.norms + blockIdx.x * tmapi_matrix_frames(&m.plan);
    tmapi_matrix_reader r = tmapi_matrix_begin(
        &m, frame, blockIdx.x * (tmap_u64)(TMAPI_DRMSD_MMA_NORM / TMAPI_MATRIX_GROUP));
    float sums[2][2][4] = {{{0}}}, all[4] = {0};
#pragma unroll 1
    for (tmap_u32 k = 0; k < many; ++k, to += size) {
        uint4 *brick = tmapi_pairs_shared + k % 2 * 2 * TMAPI_DRMSD_MMA_BRICK;
#pragma unroll 1
        for (tmap_u32 part = 0; part < 4; ++part) {
            float values[TMAPI_MATRIX_GROUP];
            tmapi_matrix_read(&m, &r, 0, values);
            tmapi_drmsd_mma_put(brick, planes, part, thread, values);
        }
        __syncthreads(); // the brick is complete, and all threads have used the previous one
        for (tmap_u32 x = thread; x < size; x += TMAPI_MATRIX_SIDE) to[x] = brick[x];
        const tmap_u32 g = thread % 32 / 4;
        tmapi_drmsd_mma_squares(brick, planes, sums);
        if ((k + 1) * 32 % TMAPI_DRMSD_MMA_SUM) continue;
#pragma unroll
        for (tmap_u32 x = 0; x < 4; ++x) {
            const float *sum = sums[x / 2][x % 2] + x % 2 * 2;
            all[x] += g % 2 ? sum[1] : sum[0];
        }
#pragma unroll
        for (tmap_u32 x = 0; x < 16; ++x) sums[x / 8][x / 4 % 2][x % 4] = 0;
    }
    const tmap_u32 lane = thread % 32, g = lane / 4;
    if (lane % 4 != g / 2) return;
#pragma unroll
    for (tmap_u32 x = 0; x < 4; ++x) norms[frame - lane + 8 * x + g] = all[x];
}

// ---- a tile -------------------------------------------------------------------------------------

// A warp has 64 x 32 pairs of frames: sums[i][j] is for rows from 16 i and columns from 8 j on.

// Reads 16 * count frames. count: a constant.
TMAP_DEVICE void tmapi_drmsd_mma_reads(tmap_u32 (*words)[4], const uint4 *from, tmap_u32 count) {
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i) tmapi_drmsd_mma_read(words[i], from + 64 * i);
}
TMAP_DEVICE void tmapi_drmsd_mma_multiplies(float (*sums)[4][4], const tmap_u32 (*a)[4],
                                            const tmap_u32 (*b)[4]) {
#pragma unroll
    for (tmap_u32 x = 0; x < 16; ++x)
        tmapi_drmsd_mma_multiply(sums[x / 4][x % 4], a[x / 4], b[x % 4 / 2] + x % 2 * 2);
}

// Adds the products of a step: 32 columns of two planes, or 64 of one. rows, columns: the step;
// row, column: the warp's first ones. planes: a constant.
TMAP_DEVICE void tmapi_drmsd_mma_products(const uint4 *rows, const uint4 *columns, tmap_u32 row,
                                          tmap_u32 column, const tmap_u32 planes,
                                          float (*sums)[4][4]) {
    const tmap_u32 a_at = tmapi_drmsd_mma_at(row, 0), b_at = tmapi_drmsd_mma_at(column, 1);
#pragma unroll
    for (tmap_u32 k = 0; k < 8 / planes; k += 2) {
        const uint4 *from = rows + k / 4 * TMAPI_DRMSD_MMA_BRICK + (a_at ^ (k % 4));
        const uint4 *other = columns + k / 4 * TMAPI_DRMSD_MMA_BRICK + (b_at ^ (k % 4));
        tmap_u32 a[4][4], b[2][4], rest[4][4];
        tmapi_drmsd_mma_reads(a, from, 4);
        tmapi_drmsd_mma_reads(b, other, 2);
        tmapi_drmsd_mma_multiplies(sums, a, b);
        if (planes < 2) continue;
        tmapi_drmsd_mma_reads(rest, other + TMAPI_DRMSD_MMA_BRICK, 2);
        tmapi_drmsd_mma_multiplies(sums, a, rest);
        tmapi_drmsd_mma_reads(rest, from + TMAPI_DRMSD_MMA_BRICK, 4);
        tmapi_drmsd_mma_multiplies(sums, rest, b);
    }
}

// Computes a block's tile: 8 warps, 2 x 4. planes: a constant.
TMAP_DEVICE void tmapi_drmsd_mma_tile(const tmapi_matrix *m, const tmap_u32 planes) {
    const tmap_u32 wide = 64 / planes; // columns of a step
    const tmap_u32 warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const tmap_u32 row = warp / 4 * 64, column = warp % 4 * 32;
    const tmap_pair tile = tmapi_matrix_tile_of(blockIdx.x, &m->plan);
    const tmap_u64 frames = tmapi_matrix_frames(&m->plan);
    const float *norms = m->norms + blockIdx.y * (tmap_u64)m->plan.slice *
                                        (TMAPI_MATRIX_UNIT / TMAPI_DRMSD_MMA_NORM) * frames;
    const float *row_norms = norms + tile.i * TMAPI_MATRIX_SIDE + row + g;
    const float *column_norms = norms + tile.j * TMAPI_MATRIX_SIDE + column + 2 * q;
    float products[4][4][4] = {{{0}}}, sums[4][4][4] = {{{0}}};
    if (tile.i > tile.j || tile.j >= m->plan.tiles) return;
    tmapi_matrix_pipe pipe = tmapi_matrix_pipe_of(m, tile, planes * TMAPI_DRMSD_MMA_BRICK, wide);
#pragma unroll 1
    for (tmap_u32 s = 0; s < pipe.steps; ++s) {
        const int whole = (s + 1) * wide % TMAPI_DRMSD_MMA_NORM == 0 || s + 1 == pipe.steps;
        const uint4 *from = tmapi_matrix_next(&pipe, s);
        float of_row[8], of_column[8];
        if (whole) { // well before they are used
#pragma unroll
            for (tmap_u32 x = 0; x < 8; ++x) {
                of_row[x] = row_norms[8 * x];
                of_column[x] = column_norms[x / 2 * 8 + x % 2];
            }
            row_norms += frames, column_norms += frames;
        }
        tmapi_drmsd_mma_products(from, from + pipe.size, row, column, planes, products);
        if ((s + 1) * wide % TMAPI_DRMSD_MMA_SUM && s + 1 != pipe.steps) continue;
#pragma unroll
        for (tmap_u32 x = 0; x < 64; ++x) {
            float *sum = &sums[x / 16][x / 4 % 4][x % 4];
            float *product = &products[x / 16][x / 4 % 4][x % 4];
            *sum = fmaf(-2, *product, *sum), *product = 0;
            if (whole) *sum += of_row[x / 16 * 2 + x % 4 / 2] + of_column[x / 4 % 4 * 2 + x % 2];
        }
    }
    const tmapi_matrix_writer w = tmapi_matrix_writer_of(m);
#pragma unroll
    for (tmap_u32 x = 0; x < 8; ++x) {
        const tmap_u32 a = tile.i * TMAPI_MATRIX_SIDE + row + 8 * x + g;
#pragma unroll
        for (tmap_u32 j = 0; j < 8; ++j)
            tmapi_matrix_put(&w, a, tile.j * TMAPI_MATRIX_SIDE + column + j / 2 * 8 + 2 * q + j % 2,
                             sums[x / 2][j / 2][x % 2 * 2 + j % 2]);
    }
}

static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS)
    tmapi_drmsd_mma_half(tmapi_matrix m) {
    tmapi_drmsd_mma_tile(&m, 1);
}
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS)
    tmapi_drmsd_mma_split(tmapi_matrix m) {
    tmapi_drmsd_mma_tile(&m, 2);
}

// As tmap_drmsd_matrix, on tensor cores, for a plan of TMAP_DRMSD_MMA_HALF or TMAP_DRMSD_MMA_SPLIT;
// the workspace has 2 or 4 bytes for each distance. The differences:
// Exactness: let a and b be the dRMSD of both frames from the median of up to 32 frames, P the
// number of pairs of atoms that count, and d the root mean square of their distances. A result is
// off by
//   TMAP_DRMSD_MMA_HALF:  at most 2^-11 (a + b); as errors cancel, about 2^-12 (a + b) / sqrt(P)
//   TMAP_DRMSD_MMA_SPLIT: at most 2^-21 (a + b), and its square by up to 2^-22 (a + b)^2
//   both: at most 2^-21 d, as distances are first rounded to floats; as errors cancel, about
//         2^-22 d / sqrt(P); and its square by about 2^-23 (a^2 + b^2), truncated by tensor cores.
// So frames as far from each other as from the median have 6 or 5 correct digits, and those a
// hundred times closer 3. Equal frames give 0; no result is negative. GPUs truncate differently.
// Range: one power of two scales all distances, so that the largest extent of a frame fits a half.
// Cost: one or three tensor-core multiplications for each pair of atoms and pair of frames; about
// 25 instructions for each distance.
static inline cudaError_t tmap_drmsd_mma(const tmap_drmsd_plan *plan, tmap_drmsd_in in,
                                         void *workspace, float *out, cudaStream_t stream) {
    tmapi_matrix_form form = {(const void *)tmapi_drmsd_mma_write,
                              (const void *)tmapi_drmsd_mma_half, TMAPI_DRMSD_MMA_NORM,
                              16 * 4 * TMAPI_DRMSD_MMA_BRICK, TMAPI_DRMSD_MMA_BYTES};
    if (!plan || plan->form < TMAP_DRMSD_MMA_HALF) return cudaErrorInvalidValue;
    if (plan->form == TMAP_DRMSD_MMA_SPLIT) form.sums = (const void *)tmapi_drmsd_mma_split;
    return tmapi_matrix_run(plan, &form, in, workspace, out, stream);
}

#endif
#endif
