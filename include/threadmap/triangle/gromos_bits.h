// SPDX-License-Identifier: MIT
// gromos_bits.h: the bit matrix of neighbours, from a condensed matrix of distances: bit j of row i
// says whether d(i, j) <= cutoff.
//
// A block takes a tile of 256 x 256 distances, each of which is read once. A warp takes 32 rows of
// it: a ballot over the lanes is a word of a row, and what a lane collects over the rows is a word
// of a column, that is of a row below the diagonal. Both halves of the matrix are written by whole
// sectors of 32 bytes, to which shared memory brings them together.
#ifndef TMAP_TRIANGLE_GROMOS_BITS_H
#define TMAP_TRIANGLE_GROMOS_BITS_H

#include "cluster.h"
#include "condensed.h"

// The most frames: the grid has a block for each tile on and above the diagonal.
#define TMAP_GROMOS_MAX 16776960u

#define TMAPI_GROMOS_SIDE   256u
#define TMAPI_GROMOS_WARPS  8u // each has 32 rows of the side
#define TMAPI_GROMOS_BLOCKS 3u // of a multiprocessor, at once

// Words of 32 bits from one row of the bit matrix of n frames to the next: a multiple of 8.
// Example: n = 1000: 32.
TMAP_FN tmap_u64 tmap_gromos_bits_words(tmap_u64 n) {
    return (n / TMAPI_GROMOS_SIDE + (n % TMAPI_GROMOS_SIDE != 0)) * (TMAPI_GROMOS_SIDE / 32);
}

// Bytes of the bit matrix of n frames; saturates. Example: n = 32768: 134217728.
TMAP_FN tmap_u64 tmap_gromos_bits_bytes(tmap_u64 n) {
    return tmap_mul_saturate(n, tmap_mul_saturate(tmap_gromos_bits_words(n), 4));
}

#if TMAP_CUDA

// What the kernel gets.
typedef struct tmapi_gromos_matrix {
    const float *distances;
    tmap_u32 n, words, tiles; // words of a row, tiles along a side
    float cutoff;
    tmap_u32 *bits;
} tmapi_gromos_matrix;

// The tile's bits on the way to memory: 8 words of each row and of each column.
typedef struct tmapi_gromos_tile {
    uint4 rows[TMAPI_GROMOS_SIDE * 2];
    tmap_u32 columns[TMAPI_GROMOS_SIDE * 8];
} tmapi_gromos_tile;

// Where word x of a column is, so that neither those who write nor those who read it have conflicts
// of banks.
TMAP_DEVICE tmap_u32 tmapi_gromos_place(tmap_u32 column, tmap_u32 x) {
    return column * 8 + (x ^ column / 4 % 8);
}

// The warp's rows of a tile, from row i and column j on, to shared memory. whole: 1: all pairs are
// there; 0: those with i < j < n.
TMAP_DEVICE void tmapi_gromos_bits_rows(const tmapi_gromos_matrix *m, tmap_u32 i, tmap_u32 j,
                                        tmapi_gromos_tile *t, const int whole) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = m->n;
    const float *from = m->distances + (tmap_i64)(tmap_condensed_index(i, j, n) + lane);
    const tmap_u32 rows = whole || i + 32 <= n ? 32 : i < n ? n - i : 0;
    tmap_i64 step = (tmap_i64)n - i - 2;           // to the next row
    const float none = __int_as_float(0x7fc00000); // a NaN, which is near to nothing
    tmap_u32 columns[8] = {0}, bit = 1;
#pragma unroll 1
    for (tmap_u32 r = 0; r < rows; r += 4, bit <<= 4) {
        float d[4][8];
#pragma unroll
        for (tmap_u32 q = 0; q < 4; ++q, from += step--) {
#pragma unroll
            for (tmap_u32 k = 0; k < 8; ++k) {
                const tmap_u32 column = j + k * 32 + lane;
                d[q][k] = none;
                if (whole || (i + r + q < column && column < n)) d[q][k] = from[k * 32];
            }
        }
#pragma unroll
        for (tmap_u32 q = 0; q < 4; ++q) {
            tmap_u32 words[8];
#pragma unroll
            for (tmap_u32 k = 0; k < 8; ++k) {
                const int near = tmapi_cluster_at_most(d[q][k], m->cutoff);
                words[k] = __ballot_sync(0xffffffffu, near);
                if (near) columns[k] |= bit << q;
            }
            if (lane == 0) {
                uint4 *to = t->rows + (warp * 32 + r + q) * 2;
                to[0] = make_uint4(words[0], words[1], words[2], words[3]);
                to[1] = make_uint4(words[4], words[5], words[6], words[7]);
            }
        }
    }
#pragma unroll
    for (tmap_u32 k = 0; k < 8; ++k)
        t->columns[tmapi_gromos_place(k * 32 + lane, warp)] = columns[k];
}

// A block's tile.
TMAP_DEVICE void tmapi_gromos_bits_tile(const tmapi_gromos_matrix *m, tmapi_gromos_tile *t) {
    const tmap_u32 side = TMAPI_GROMOS_SIDE, warp = threadIdx.x / 32;
    const tmap_pair64 tile = tmap_upper_map64(blockIdx.x, m->tiles);
    const tmap_u32 i = (tmap_u32)tile.i * side, j = (tmap_u32)tile.j * side;
    if (i < j && j + side <= m->n)
        tmapi_gromos_bits_rows(m, i + warp * 32, j, t, 1);
    else
        tmapi_gromos_bits_rows(m, i + warp * 32, j, t, 0);
    __syncthreads();
#pragma unroll
    for (tmap_u32 part = threadIdx.x; part < side * 2; part += TMAPI_GROMOS_WARPS * 32) {
        const tmap_u32 y = part / 2, x = part % 2 * 4; // four words of row y, from word x on
        uint4 upper = t->rows[part], lower;
        tmap_u32 *to = m->bits + ((tmap_u64)(i + y) * m->words + j / 32 + x);
        lower.x = t->columns[tmapi_gromos_place(y, x)];
        lower.y = t->columns[tmapi_gromos_place(y, x + 1)];
        lower.z = t->columns[tmapi_gromos_place(y, x + 2)];
        lower.w = t->columns[tmapi_gromos_place(y, x + 3)];
        if (i == j) {
            const tmap_u32 own = y / 32 - x, bit = 1u << y % 32; // a frame counts itself
            upper.x |= lower.x | (own == 0 ? bit : 0), upper.y |= lower.y | (own == 1 ? bit : 0);
            upper.z |= lower.z | (own == 2 ? bit : 0), upper.w |= lower.w | (own == 3 ? bit : 0);
        } else if (j + y < m->n) {
            *(uint4 *)(m->bits + ((tmap_u64)(j + y) * m->words + i / 32 + x)) = lower;
        }
        if (i + y < m->n) *(uint4 *)to = upper;
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

static __global__ void __launch_bounds__(TMAPI_GROMOS_WARPS * 32, TMAPI_GROMOS_BLOCKS)
    tmapi_gromos_bits(tmapi_gromos_matrix m) {
    __shared__ tmapi_gromos_tile tile;
    tmapi_gromos_bits_tile(&m, &tile);
}

// Writes the bit matrix of n frames: bit j % 32 of word j / 32 of row i is 1 where d(i, j) <=
// cutoff, and where i = j; bits of columns from n on are 0. A NaN, as distance or as cutoff, is
// never a neighbour.
// distances: condensed, tmap_condensed_cells(n) floats, at any multiple of 4; of n < 2 it may be
// null. bits: n rows of tmap_gromos_bits_words(n) words, at a multiple of 16. Both are device
// memory and do not overlap. n: up to TMAP_GROMOS_MAX; n = 0 does nothing.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, cudaErrorInvalidConfiguration for
// a larger n, else the launch's own error.
// Cost: each distance is read once, and each word written once; six instructions a distance.
// Example: n = 3, distances 1, 5, 2, cutoff 2: rows 3, 7, 6.
static inline cudaError_t tmap_gromos_bits(const float *distances, tmap_u64 n, float cutoff,
                                           tmap_u32 *bits, cudaStream_t stream) {
    tmapi_gromos_matrix m;
    void *arguments[1];
    if (n == 0) return cudaSuccess;
    if (!bits || (tmap_u64)bits % 16 || (n > 1 && !distances) || (tmap_u64)distances % 4)
        return cudaErrorInvalidValue;
    if (n > TMAP_GROMOS_MAX) return cudaErrorInvalidConfiguration;
    m.distances = distances, m.n = (tmap_u32)n, m.cutoff = cutoff, m.bits = bits;
    m.words = (tmap_u32)tmap_gromos_bits_words(n);
    m.tiles = m.words / (TMAPI_GROMOS_SIDE / 32);
    arguments[0] = &m;
    return cudaLaunchKernel((const void *)tmapi_gromos_bits,
                            dim3((unsigned)tmap_triangle_cells(m.tiles)),
                            dim3(TMAPI_GROMOS_WARPS * 32), arguments, 0, stream);
}

#endif
#endif
