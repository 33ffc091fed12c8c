// SPDX-License-Identifier: MIT
// fractal_check.h: inputs for SW, RD and CA and the check of every place of what they wrote, on the
// device.
//
// The checks ask tmap_nbb_contains64 of each place, never lambda, and contains is held against
// brute force by the map tests. Tests and benchmarks both use them.
#ifndef TESTS_FRACTAL_CHECK_H
#define TESTS_FRACTAL_CHECK_H

#include "../kit.h"
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/ca_rule.h>
#include <threadmap/fractal/nbb.h>

// What fills the places that a kernel must not write, and those that it must.
#define CHECK_POISON_I32 0x5a5a5a5a
#define CHECK_POISON_U8  0x5a
#define CHECK_POISON_F32 1.5369e16f // near the float whose bytes are 0x5a

// Every place of an embedding by the whole grid: blocks take rows, threads columns.
#define CHECK_EACH_PLACE(x, y, width, height) \
    for (tmap_u64 y = blockIdx.x; y < (height); y += gridDim.x) \
        for (tmap_u64 x = threadIdx.x + (tmap_u64)blockDim.x * blockIdx.y; x < (width); \
             x += (tmap_u64)blockDim.x * gridDim.y)

// One type of element: cells are `value`, of a random word h, and other places are poison, until a
// kernel writes to them; the sum of the cells is added to *sum; and places are counted that do not
// hold `want` (cells) or poison (elsewhere). Sums of floats are exact: small multiples of 1/8.
#define CHECK_ELEMENT(name, type, poison, total, value) \
    [[maybe_unused]] static __global__ void check_fill_##name( \
        tmap_nbb f, tmap_u32 r, tmap_u64 width, tmap_u64 height, tmap_u32 seed, type *out) { \
        CHECK_EACH_PLACE(x, y, width, height) { \
            const tmap_u64 i = y * width + x; \
            const tmap_u32 h = check_hash(i, seed); \
            out[i] = tmap_nbb_contains64(f, x, y, r) ? value : poison; \
        } \
    } \
    [[maybe_unused]] static __global__ void check_sum_##name( \
        tmap_nbb f, tmap_u32 r, tmap_u64 width, tmap_u64 height, const type *in, total *sum) { \
        total mine = 0; \
        CHECK_EACH_PLACE(x, y, width, height) \
        if (tmap_nbb_contains64(f, x, y, r)) mine += (total)in[y * width + x]; \
        if (mine != 0) atomicAdd(sum, mine); \
    } \
    [[maybe_unused]] static __global__ void check_written_##name( \
        tmap_nbb f, tmap_u32 r, tmap_u64 width, tmap_u64 height, type want, const type *out, \
        tmap_u64 *wrong) { \
        tmap_u64 mine = 0; \
        CHECK_EACH_PLACE(x, y, width, height) \
        mine += out[y * width + x] != (tmap_nbb_contains64(f, x, y, r) ? want : poison); \
        if (mine) atomicAdd(wrong, mine); \
    }
CHECK_ELEMENT(i32, int, CHECK_POISON_I32, tmap_u64, (int)h)
CHECK_ELEMENT(u8, unsigned char, CHECK_POISON_U8, tmap_u64, (unsigned char)h)
CHECK_ELEMENT(f32, float, CHECK_POISON_F32, double, (float)(int)(h % 2001) / 8 - 100)
#undef CHECK_ELEMENT

// Cells: alive or dead at random, one in `one_in` alive. Elsewhere: 0.
[[maybe_unused]] static __global__ void check_fill_alive(tmap_nbb f, tmap_u32 r, tmap_u64 width,
                                                         tmap_u64 height, tmap_u32 seed,
                                                         tmap_u32 one_in, unsigned char *out) {
    CHECK_EACH_PLACE(x, y, width, height) {
        tmap_u64 i = y * width + x;
        out[i] = tmap_nbb_contains64(f, x, y, r) && check_hash(i, seed) % one_in == 0;
    }
}

// Counts the places of `out` that are not the next state of `in` (cells), or not poison or 0
// (elsewhere).
// Neighbours are counted from the definition: the eight around a cell that are cells themselves and
// alive.
[[maybe_unused]] static __global__ void check_step_u8(tmap_nbb f, tmap_u32 r, tmap_u64 width,
                                                      tmap_u64 height, tmap_ca_rule rule,
                                                      const unsigned char *in,
                                                      const unsigned char *out, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    CHECK_EACH_PLACE(x, y, width, height) {
        unsigned char got = out[y * width + x], want = got == 0 ? 0 : CHECK_POISON_U8;
        if (tmap_nbb_contains64(f, x, y, r)) {
            tmap_u32 neighbours = 0;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    tmap_u64 u = x + (tmap_u64)(tmap_i64)dx, v = y + (tmap_u64)(tmap_i64)dy;
                    if ((dx || dy) && u < width && v < height && tmap_nbb_contains64(f, u, v, r))
                        neighbours += in[v * width + u] != 0;
                }
            tmap_u32 masks = in[y * width + x] ? rule.survive : rule.born;
            want = (unsigned char)(masks >> neighbours & 1);
        }
        mine += got != want;
    }
    if (mine) atomicAdd(wrong, mine);
}

// Counts the places of `out` that are not `in` (elsewhere) or twice that (cells), where `in` is what
// check_fill_f32 made of `seed`.
[[maybe_unused]] static __global__ void check_doubled_f32(tmap_nbb f, tmap_u32 r, tmap_u64 width,
                                                          tmap_u64 height, tmap_u32 seed,
                                                          const float *out, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    CHECK_EACH_PLACE(x, y, width, height) {
        const tmap_u64 i = y * width + x;
        const float before = (float)(int)((tmap_u32)check_hash(i, seed) % 2001) / 8 - 100;
        mine += out[i] != (tmap_nbb_contains64(f, x, y, r) ? 2 * before : CHECK_POISON_F32);
    }
    if (mine) atomicAdd(wrong, mine);
}

// Counts the places of `out` that are not a step of heat from `in` (cells), give or take rounding, or
// not poison (elsewhere).
[[maybe_unused]] static __global__ void check_heat_f32(tmap_nbb f, tmap_u32 r, tmap_u64 width,
                                                       tmap_u64 height, float rate, const float *in,
                                                       const float *out, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    CHECK_EACH_PLACE(x, y, width, height) {
        const tmap_u64 i = y * width + x;
        if (tmap_nbb_contains64(f, x, y, r)) {
            const float here = in[i];
            float sum = 0;
            if (tmap_nbb_contains64(f, x, y - 1, r)) sum += in[i - width] - here;
            if (tmap_nbb_contains64(f, x - 1, y, r)) sum += in[i - 1] - here;
            if (tmap_nbb_contains64(f, x + 1, y, r)) sum += in[i + 1] - here;
            if (tmap_nbb_contains64(f, x, y + 1, r)) sum += in[i + width] - here;
            mine += !(fabsf(here + rate * sum - out[i]) <= 1e-4f);
        } else {
            mine += __float_as_int(out[i]) != CHECK_POISON_I32;
        }
    }
    if (mine) atomicAdd(wrong, mine);
}

// Counts the memory granules of `per_granule` neighbouring places (of the row-major matrix) that
// hold a cell, or, with reach = 1, a cell or a neighbour of one: what a kernel must at least write
// or read.
[[maybe_unused]] static __global__ void check_granules(tmap_nbb f, tmap_u32 r, tmap_u64 width,
                                                       tmap_u64 height, tmap_u32 per_granule,
                                                       int reach, tmap_u64 *count) {
    tmap_u64 all = (width * height + per_granule - 1) / per_granule, mine = 0;
    for (tmap_u64 g = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; g < all;
         g += (tmap_u64)gridDim.x * blockDim.x) {
        tmap_u64 y = g * per_granule / width, x = g * per_granule % width;
        int touched = 0;
        for (tmap_u32 i = 0; i < per_granule && y < height && !touched; ++i) {
            for (int dy = -reach; dy <= reach; ++dy)
                for (int dx = -reach; dx <= reach; ++dx) {
                    tmap_u64 u = x + (tmap_u64)(tmap_i64)dx, v = y + (tmap_u64)(tmap_i64)dy;
                    touched |= u < width && v < height && tmap_nbb_contains64(f, u, v, r);
                }
            if (++x == width) x = 0, ++y;
        }
        mine += (tmap_u64)touched;
    }
    if (mine) atomicAdd(count, mine);
}

#endif
