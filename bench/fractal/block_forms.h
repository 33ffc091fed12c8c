// SPDX-License-Identifier: MIT
// block_forms.h: the paper's three tests by each of its three maps inside a block, on four
// fractals, with blocks of tiles of one level, which are constants in each kernel.
#ifndef BENCH_BLOCK_FORMS_H
#define BENCH_BLOCK_FORMS_H

#include <threadmap/fractal/ca_rule.h>
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/warp.h>
#include <threadmap/papers/block.h>

#include <cuda_runtime.h>

enum { BLOCK_SW, BLOCK_RD, BLOCK_CA, BLOCK_WORKS };

// What a kernel works on. One matrix: `in` and `out` are the same.
typedef struct block_work {
    const void *in;
    void *out;
    tmap_i64 *sum;
} block_work;

// Blocks walk down a column of the orthotope of the tiles: with as many blocks as tiles each takes
// one, as in the paper; with fewer, a block's preparations serve several. Blocks are whole warps,
// so that the map in block space is the same for all forms.
TMAP_DEVICE void block_walk(int work, int form, tmap_nbb f, tmap_u32 m, tmap_u32 r, tmap_u32 rows,
                            block_work job, tmap_u32 *table) {
    __shared__ tmap_i64 scratch[32];
    const tmap_u32 side_x = tmapi_pow32(f.sx, m), side_y = tmapi_pow32(f.sy, m);
    const tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r);
    const tmap_warp_level level = tmap_warp_level_make(tmap_warp_full(), f, r - m);
    tmap_i64 mine = 0;
    tmap_block_begin(form, f, m, table);
    const tmap_block_place p = tmap_block_at(form, f, m, threadIdx.x, table);
    for (tmap_u32 wy = blockIdx.y; wy < rows; wy += gridDim.y) {
        const tmap_xy tile = tmap_nbb_has_ballot(f)
                                 ? tmap_warp_level_ballot(&level, f, blockIdx.x, wy)
                                 : tmap_warp_level_redux(&level, f, blockIdx.x, wy);
        const tmap_u64 x = (tmap_u64)tile.x * side_x + p.x, y = (tmap_u64)tile.y * side_y + p.y;
        if (!p.cell) continue;
        if (work == BLOCK_SW) ((int *)job.out)[y * width + x] = 7;
        if (work == BLOCK_RD) mine += ((const int *)job.in)[y * width + x];
        if (work == BLOCK_CA)
            ((unsigned char *)job.out)[y * width + x] =
                tmap_ca_cell((const unsigned char *)job.in, width, height, x, y, tmap_ca_life());
    }
    if (work == BLOCK_RD) {
        mine = tmap_block_sum_i64(mine, scratch);
        if (threadIdx.x == 0 && mine) atomicAdd((tmap_u64 *)job.sum, (tmap_u64)mine);
    }
}

#define BLOCK_KERNEL(name, work, form, m, words) \
    static __global__ void __launch_bounds__(1024) \
        block_##name##_##m##_##work##_##form(tmap_u32 r, tmap_u32 rows, block_work job) { \
        __shared__ tmap_u32 table[TMAP_BLOCK_TABLE_WORDS(words)]; \
        block_walk(BLOCK_##work, TMAP_BLOCK_##form, tmap_fractal_##name(), m, r, rows, job, \
                   table); \
    }
#define BLOCK_FORMS(name, work, m, cells) \
    BLOCK_KERNEL(name, work, UNROLL, m, 1) \
    BLOCK_KERNEL(name, work, TABLE, m, cells) \
    BLOCK_KERNEL(name, work, SUBBOX, m, 1)
// Tiles: X(fractal, level, rho, cells).
#define BLOCK_TILES(X) \
    X(gasket, 3, 8, 27) \
    X(gasket, 4, 16, 81) \
    X(gasket, 5, 32, 243) \
    X(carpet, 2, 9, 64) \
    X(carpet, 3, 27, 512) \
    X(vicsek, 2, 9, 25) \
    X(vicsek, 3, 27, 125) \
    X(candy, 2, 16, 144)
#define BLOCK_TILE(name, m, rho, cells) \
    BLOCK_FORMS(name, SW, m, cells) \
    BLOCK_FORMS(name, RD, m, cells) \
    BLOCK_FORMS(name, CA, m, cells)
BLOCK_TILES(BLOCK_TILE)
#undef BLOCK_TILE

typedef void (*block_kernel)(tmap_u32, tmap_u32, block_work);

typedef struct block_case {
    const char *domain;
    tmap_u32 m, rho;
    block_kernel kernels[BLOCK_WORKS][TMAP_BLOCK_FORM_COUNT];
} block_case;

#define BLOCK_ROW(name, work, m) \
    { \
        block_##name##_##m##_##work##_UNROLL, block_##name##_##m##_##work##_TABLE, \
            block_##name##_##m##_##work##_SUBBOX \
    }
#define BLOCK_CASE(name, m, rho, cells) \
    {#name, m, rho, {BLOCK_ROW(name, SW, m), BLOCK_ROW(name, RD, m), BLOCK_ROW(name, CA, m)}},
static const block_case block_cases[] = {BLOCK_TILES(BLOCK_CASE)};
enum { BLOCK_CASES = sizeof block_cases / sizeof *block_cases };
#undef BLOCK_CASE
#undef BLOCK_ROW
#undef BLOCK_TILES
#undef BLOCK_FORMS
#undef BLOCK_KERNEL

#endif
