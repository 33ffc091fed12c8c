// SPDX-License-Identifier: MIT
// box_published.h: single write, reduction and automaton on the gasket as the paper's authors ran
// them, by the bounding box (BB), by lambda and on tensor cores. box_kernels.h has the same tests
// on any fractal, where each warp finds its tile and sums are of cells alone.
//
//     all maps    a block of rho x rho threads, a constant, for each tile; each thread has a place
//     lambda      the first warp finds the tile, a level for each lane, and shares it: a barrier
//     variant 1   the first warp finds it by a product in half precision (wmma.h): a barrier
//     variant 2   the same for the four tiles of side rho / 2 of a block; not in CA
//     SW          bytes; BB ends blocks above the diagonal at once
//     RD          integers; every block, also an empty one, adds all of its places, waits five
//                 times and adds its sum to a double
//     CA          bytes, rule B2/S23, (n + 2)^2 places with a border, no test of bounds; each block
//                 copies its tile with a halo to shared memory
//
// n = 2^r. rho: 8, 16 or 32, those of the authors' data. r: from log2 rho to 16, the paper's
// largest. Place (x, y) of the gasket is a cell if x & (n - 1 - y) is 0.
//
// Left out: a launch before each of their steps that copies the triangle's sides into the border
// and above the diagonal. Here all of these places are 0.
//
// Source: Navarro, Quezada, Hitschfeld, Vega, Bustos, FGCS 113 (2020), sections 3.3 and 6; what the
// text leaves open: github.com/crinavar/gpumaps, commit d14547f, fractals/.
#ifndef TMAP_PAPERS_BOX_PUBLISHED_H
#define TMAP_PAPERS_BOX_PUBLISHED_H

#include "../fractal/catalogue.h"
#include "box.h"
#include "wmma.h"

// The maps on tensor cores, beside TMAP_BOX_BB and TMAP_BOX_LAMBDA: variants 1 and 2.
#define TMAP_BOX_PUBLISHED_WMMA1 TMAP_BOX_MAP_COUNT
#define TMAP_BOX_PUBLISHED_WMMA2 (TMAP_BOX_MAP_COUNT + 1)

// The largest level, 16: the offsets of n^2 places fit 32 bits.
#define TMAP_BOX_PUBLISHED_LEVEL_MAX 16u

// Bytes of a state of the automaton: (2^r + 2)^2; 0 for r above TMAP_BOX_PUBLISHED_LEVEL_MAX.
// Place (x, y) is byte (y + 1)(2^r + 2) + x + 1. Example: r = 3: 100.
TMAP_FN tmap_u64 tmap_box_published_ca_bytes(tmap_u32 r) {
    const tmap_u64 pitch = ((tmap_u64)1 << (r & 31)) + 2;
    return r > TMAP_BOX_PUBLISHED_LEVEL_MAX ? 0 : pitch * pitch;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The place of this thread by variant 1 or 2, a constant. Variant 2: x is ~0 where the thread's
// tile is beyond the orthotope, whose sides are odd.
TMAP_DEVICE tmap_xy tmapi_box_published_tensor(int map, tmap_u32 rho, tmap_u32 level) {
    __shared__ tmap_wmma_shared shared;
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_u32 side = map == TMAP_BOX_PUBLISHED_WMMA1 ? rho : rho / 2;
    const tmap_u32 right = threadIdx.x / side, down = threadIdx.y / side;
    tmap_xy p = map == TMAP_BOX_PUBLISHED_WMMA1
                    ? tmap_wmma1_lambda(&shared, f, blockIdx.x, blockIdx.y, level, 0)
                    : tmap_wmma2_lambda(&shared, f, 2 * blockIdx.x, 2 * blockIdx.y, level, 0,
                                        2 * down + right);
    p.x = p.x * side + threadIdx.x % side, p.y = p.y * side + threadIdx.y % side;
    if ((right && blockIdx.x + 1 == gridDim.x) || (down && blockIdx.y + 1 == gridDim.y)) p.x = ~0u;
    return p;
}

// 1 if that is a place; map: a constant.
TMAP_DEVICE int tmapi_box_published_has(int map, tmap_xy p) {
    return map != TMAP_BOX_PUBLISHED_WMMA2 || p.x != ~0u;
}

// The place of this thread, by a constant map. tile: shared memory of the block. All threads of the
// block call it.
TMAP_DEVICE tmap_xy tmapi_box_published_place(int map, tmap_u32 rho, tmap_u32 level,
                                              tmap_xy *tile) {
    const tmap_u32 rank = threadIdx.y * rho + threadIdx.x;
    tmap_xy p = {blockIdx.x, blockIdx.y};
    if (map >= TMAP_BOX_PUBLISHED_WMMA1) return tmapi_box_published_tensor(map, rho, level);
    if (map == TMAP_BOX_LAMBDA) {
        if (rank < 32) {
            tmap_u32 power = 1, beta = 0;
            if (rank < level) {
                TMAPI_NO_UNROLL
                for (tmap_u32 i = 0; i < rank / 2; ++i) power *= 3;
                beta = (rank & 1 ? blockIdx.y : blockIdx.x) / power % 3;
            }
            p.x = tmap_warp_sum_shuffle(tmap_warp_full(), (tmap_u32)(beta == 2) << rank);
            p.y = tmap_warp_sum_shuffle(tmap_warp_full(), (tmap_u32)(beta != 0) << rank);
            if (rank == 0) *tile = p;
        }
        __syncthreads();
        p = *tile;
    }
    p.x = p.x * rho + threadIdx.x, p.y = p.y * rho + threadIdx.y;
    return p;
}

// Adds the block's values, one of each thread, to *sum. values: rho^2 integers in shared memory.
TMAP_DEVICE void tmapi_box_published_sum(tmap_u32 rho, int value, int *values, double *sum) {
    const tmap_u32 rank = threadIdx.y * rho + threadIdx.x;
    tmap_u32 mine;
    values[rank] = value;
    __syncthreads();
    mine = tmap_warp_sum_shuffle(tmap_warp_full(), (tmap_u32)values[rank]);
    __syncthreads();
    values[rank] = 0;
    __syncthreads();
    if (rank % 32 == 0) values[rank / 32] = (int)mine;
    __syncthreads();
    if (rank < 32) mine = tmap_warp_sum_shuffle(tmap_warp_full(), (tmap_u32)values[rank]);
    __syncthreads();
    if (rank == 0) atomicAdd(sum, (double)(int)mine);
}

// The next state of the thread's place, in[at]. tile: (rho + 2)^2 bytes in shared memory.
TMAP_DEVICE unsigned char tmapi_box_published_next(tmap_u32 rho, const unsigned char *in,
                                                   tmap_u64 at, tmap_u64 pitch,
                                                   unsigned char *tile) {
    const tmap_u32 side = rho + 2, last = rho + 1, x = threadIdx.x + 1, y = threadIdx.y + 1;
    unsigned char *here = tile + y * side + x;
    tmap_u32 alive;
    *here = in[at];
    if (x == 1) here[-1] = in[at - 1];
    if (x == rho) here[1] = in[at + 1];
    if (y == 1) *(here - side) = in[at - pitch];
    if (y == rho) here[side] = in[at + pitch];
    if (x == 1 && y == 1) {
        tile[0] = in[at - pitch - 1];
        tile[last] = in[at - pitch + rho];
        tile[last * side] = in[at + rho * pitch - 1];
        tile[last * side + last] = in[at + rho * pitch + rho];
    }
    __syncthreads();
    alive = (tmap_u32)here[-1] + here[1];
    for (int i = -1; i <= 1; ++i) alive += *(here - side + i) + (tmap_u32)here[(int)side + i];
    return alive == 2 || (alive == 3 && *here);
}

// The kernels of a map and a side: tmapi_box_published_sw_bb_8, ...
#define TMAPI_BOX_PUBLISHED_SW_RD(map, name, rho) \
    static __global__ void __launch_bounds__(rho *rho) tmapi_box_published_sw_##name##_##rho( \
        tmap_u32 n, tmap_u32 level, unsigned char value, unsigned char *out) { \
        __shared__ tmap_xy tile; \
        tmap_xy p; \
        if (map == TMAP_BOX_BB && blockIdx.x > blockIdx.y) return; \
        p = tmapi_box_published_place(map, rho, level, &tile); \
        if (tmapi_box_published_has(map, p) && !(p.x & (n - 1 - p.y))) out[p.y * n + p.x] = value; \
    } \
    static __global__ void __launch_bounds__(rho *rho) tmapi_box_published_rd_##name##_##rho( \
        tmap_u32 n, tmap_u32 level, const int *in, double *sum) { \
        __shared__ tmap_xy tile; \
        __shared__ int values[rho * rho]; \
        const tmap_xy p = tmapi_box_published_place(map, rho, level, &tile); \
        const int value = tmapi_box_published_has(map, p) ? in[p.y * n + p.x] : 0; \
        tmapi_box_published_sum(rho, value, values, sum); \
    }
#define TMAPI_BOX_PUBLISHED_KERNELS(map, name, rho) \
    TMAPI_BOX_PUBLISHED_SW_RD(map, name, rho) \
    static __global__ void __launch_bounds__(rho *rho) tmapi_box_published_ca_##name##_##rho( \
        tmap_u32 n, tmap_u32 level, const unsigned char *in, unsigned char *out) { \
        __shared__ tmap_xy tile; \
        __shared__ unsigned char bytes[(rho + 2) * (rho + 2)]; \
        const tmap_xy p = tmapi_box_published_place(map, rho, level, &tile); \
        const tmap_u64 pitch = n + 2, at = (p.y + 1) * pitch + p.x + 1; \
        const unsigned char next = tmapi_box_published_next(rho, in, at, pitch, bytes); \
        if (!(p.x & (n - 1 - p.y))) out[at] = next; \
    }
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_BB, bb, 8)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_BB, bb, 16)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_BB, bb, 32)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_LAMBDA, lambda, 8)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_LAMBDA, lambda, 16)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_LAMBDA, lambda, 32)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_PUBLISHED_WMMA1, wmma1, 8)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_PUBLISHED_WMMA1, wmma1, 16)
TMAPI_BOX_PUBLISHED_KERNELS(TMAP_BOX_PUBLISHED_WMMA1, wmma1, 32)
TMAPI_BOX_PUBLISHED_SW_RD(TMAP_BOX_PUBLISHED_WMMA2, wmma2, 8)
TMAPI_BOX_PUBLISHED_SW_RD(TMAP_BOX_PUBLISHED_WMMA2, wmma2, 16)
TMAPI_BOX_PUBLISHED_SW_RD(TMAP_BOX_PUBLISHED_WMMA2, wmma2, 32)
#undef TMAPI_BOX_PUBLISHED_KERNELS
#undef TMAPI_BOX_PUBLISHED_SW_RD

// The kernels of a test: BB's for rho = 8, 16, 32, then those of the other maps.
#define TMAPI_BOX_PUBLISHED_SIDES(work, name) \
    (const void *)tmapi_box_published_##work##_##name##_8, \
        (const void *)tmapi_box_published_##work##_##name##_16, \
        (const void *)tmapi_box_published_##work##_##name##_32
#define TMAPI_BOX_PUBLISHED_ALL(work) \
    TMAPI_BOX_PUBLISHED_SIDES(work, bb), TMAPI_BOX_PUBLISHED_SIDES(work, lambda), \
        TMAPI_BOX_PUBLISHED_SIDES(work, wmma1)

// 1 and the box of a launch; or 0 and *error.
static inline int tmapi_box_published_box(tmap_u32 r, tmap_u32 rho, int map, tmap_box *b,
                                          cudaError_t *error) {
    *error = cudaErrorInvalidValue;
    if (rho != 8 && rho != 16 && rho != 32) return 0;
    if (map != TMAP_BOX_BB && map != TMAP_BOX_LAMBDA && map != TMAP_BOX_PUBLISHED_WMMA1 &&
        map != TMAP_BOX_PUBLISHED_WMMA2)
        return 0;
    *error = cudaErrorInvalidConfiguration;
    if (r > TMAP_BOX_PUBLISHED_LEVEL_MAX || 1u << r < rho) return 0;
    const tmap_u32 parts = map == TMAP_BOX_PUBLISHED_WMMA2 ? 2 : 1; // of a block, along an axis
    if (tmap_box_make(tmap_fractal_gasket(), r, rho / parts, map ? TMAP_BOX_LAMBDA : map, b))
        return 0;
    b->bx *= parts, b->columns = (b->columns + parts - 1) / parts;
    b->by *= parts, b->rows = (b->rows + parts - 1) / parts;
    return 1;
}

// Launches one of a test's kernels with two arguments after the side and the level.
static inline cudaError_t tmapi_box_published_launch(const void *const *kernels, int map,
                                                     tmap_box b, void *first, void *second,
                                                     cudaStream_t stream) {
    tmap_u32 n = (tmap_u32)b.width;
    void *arguments[] = {&n, &b.level, first, second};
    const int row = map < TMAP_BOX_PUBLISHED_WMMA1 ? map == TMAP_BOX_LAMBDA
                                                   : 2 + map - TMAP_BOX_PUBLISHED_WMMA1;
    return cudaLaunchKernel(kernels[3 * row + (int)b.bx / 16],
                            dim3((unsigned)b.columns, (unsigned)b.rows, 1), dim3(b.bx, b.by, 1),
                            arguments, 0, stream);
}

// Writes `value` to every cell of level r and to no other place, in blocks of side rho. map:
// TMAP_BOX_BB, TMAP_BOX_LAMBDA, TMAP_BOX_PUBLISHED_WMMA1 or _WMMA2. out: 2^r x 2^r bytes in device
// memory, row by row. Returns cudaErrorInvalidValue for another map or rho and a null pointer,
// cudaErrorInvalidConfiguration for a level out of range, else the launch's error.
// Example: tmap_box_published_sw_u8(16, 32, TMAP_BOX_LAMBDA, 1, out, 0).
static inline cudaError_t tmap_box_published_sw_u8(tmap_u32 r, tmap_u32 rho, int map,
                                                   unsigned char value, unsigned char *out,
                                                   cudaStream_t stream) {
    static const void *const kernels[] = {TMAPI_BOX_PUBLISHED_ALL(sw),
                                          TMAPI_BOX_PUBLISHED_SIDES(sw, wmma2)};
    tmap_box b;
    cudaError_t error;
    if (!tmapi_box_published_box(r, rho, map, &b, &error)) return error;
    if (!out) return cudaErrorInvalidValue;
    return tmapi_box_published_launch(kernels, map, b, &value, &out, stream);
}

// Sets *sum, in device memory, to the sum of the cells; exact while each block's sum fits 32 bits
// and *sum 53. in: 2^r x 2^r integers in device memory, 0 where no cell is: BB adds all of them,
// lambda all of its tiles. Other parameters and errors: as for tmap_box_published_sw_u8.
static inline cudaError_t tmap_box_published_rd_i32(tmap_u32 r, tmap_u32 rho, int map,
                                                    const int *in, double *sum,
                                                    cudaStream_t stream) {
    static const void *const kernels[] = {TMAPI_BOX_PUBLISHED_ALL(rd),
                                          TMAPI_BOX_PUBLISHED_SIDES(rd, wmma2)};
    tmap_box b;
    cudaError_t error;
    if (!tmapi_box_published_box(r, rho, map, &b, &error)) return error;
    if (!in || !sum) return cudaErrorInvalidValue;
    error = cudaMemsetAsync(sum, 0, sizeof *sum, stream);
    return error ? error : tmapi_box_published_launch(kernels, map, b, &in, &sum, stream);
}

// Computes one step of B2/S23: `out` of every cell; other places of it are unchanged. in, out:
// tmap_box_published_ca_bytes(r) bytes each in device memory, not overlapping; `in` is 0 or 1, and
// 0 outside the fractal and in the border. Other parameters and errors: as for
// tmap_box_published_sw_u8; also cudaErrorInvalidValue for equal states and for variant 2, whose
// blocks are no tile with a halo.
static inline cudaError_t tmap_box_published_ca_u8(tmap_u32 r, tmap_u32 rho, int map,
                                                   const unsigned char *in, unsigned char *out,
                                                   cudaStream_t stream) {
    static const void *const kernels[] = {TMAPI_BOX_PUBLISHED_ALL(ca)};
    tmap_box b;
    cudaError_t error;
    if (!tmapi_box_published_box(r, rho, map, &b, &error)) return error;
    if (!in || !out || in == out || map == TMAP_BOX_PUBLISHED_WMMA2) return cudaErrorInvalidValue;
    return tmapi_box_published_launch(kernels, map, b, &in, &out, stream);
}

#endif
#endif
