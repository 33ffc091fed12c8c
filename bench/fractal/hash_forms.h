// SPDX-License-Identifier: MIT
// hash_forms.h: lambda with the box of a replica from four places: the arithmetic hash, the table
// H[] in constant or in shared memory, or the digits of two constants in registers.
//
// Equation 5 and section 4 of Navarro et al., FGCS 113 (2020). Two kernels for each fractal and
// place: the published single write, a block for each tile, located by warp shuffles; and the map
// alone, a thread for each omega.
#ifndef BENCH_HASH_FORMS_H
#define BENCH_HASH_FORMS_H

#include <threadmap/fractal/catalogue.h>
#include <threadmap/papers/block.h>

#include <cuda_runtime.h>

enum { HASH_ARITHMETIC, HASH_TABLE_CONSTANT, HASH_TABLE_SHARED, HASH_DIGITS, HASH_FORMS };

static const char *const hash_names[HASH_FORMS] = {"arithmetic", "table_constant", "table_shared",
                                                   "digits"};

// H[] of each fractal, filled by the host.
static __constant__ tmap_nbb_table hash_table[TMAP_FRACTAL_COUNT];

// The bases of a verified sum over cells, g^x h^y: odd, of order 2^62 modulo 2^64.
#define HASH_BASE_X 0x9e3779b97f4a7c15ull
#define HASH_BASE_Y 0x94d049bb133111ebull

TMAP_FN tmap_u64 hash_power(tmap_u64 base, tmap_u64 e) {
    tmap_u64 p = 1;
    for (; e; e >>= 1, base *= base)
        if (e & 1) p *= base;
    return p;
}

// The level of a tile of side 16 or less: gasket 16 x 16, others 9 x 9, 9 x 4, 9 x 1 or 16 x 16.
TMAP_FN tmap_u32 hash_tile_level(tmap_nbb f) { return f.sx == 2 ? 4 : 2; }

// Fills a block's table, 16 entries of shared memory. Collective for the block, with a barrier.
TMAP_DEVICE void hash_begin(int form, int fractal, tmap_xy *shared) {
    if (form != HASH_TABLE_SHARED) return;
    if (threadIdx.x < TMAP_REPLICAS_MAX) shared[threadIdx.x] = hash_table[fractal].tau[threadIdx.x];
    __syncthreads();
}

// The box of replica beta of fractal number `fractal`, a constant.
TMAP_DEVICE tmap_xy hash_box(int form, int fractal, tmap_u32 beta, const tmap_xy *shared) {
    int n = 0;
    if (form == HASH_TABLE_CONSTANT) return hash_table[fractal].tau[beta];
    if (form == HASH_TABLE_SHARED) return shared[beta];
    if (form == HASH_DIGITS) return tmap_nbb_tau(tmap_fractal_at(fractal), beta);
#define HASH_ONE(name, title, rows, k, sx, sy, tau_x, tau_y) \
    if (fractal == n++) return tmap_fractal_##name##_hash(beta);
    TMAP_FRACTALS_TABLE1(HASH_ONE)
#undef HASH_ONE
    return tmap_xy();
}

// Writes 7 to the cells of a fractal of level r, n = sx^r wide: block (x, y) takes the tile of
// omega (x, y), which each warp finds by shuffles with a level for each lane, and its threads the
// places of the tile.
TMAP_DEVICE void hash_write(int form, int fractal, tmap_u32 r, tmap_u64 width, int *out) {
    __shared__ tmap_xy shared[TMAP_REPLICAS_MAX];
    const tmap_nbb f = tmap_fractal_at(fractal);
    const tmap_u32 m = hash_tile_level(f);
    const tmap_warp warp = tmap_warp_full();
    const tmap_block_place p = tmap_block_subbox(f, m, threadIdx.x);
    tmap_xy tile = {0, 0};
    hash_begin(form, fractal, shared);
    for (tmap_u32 mu = warp.lane + 1; mu <= r - m; mu += 32) {
        const tmap_xy t =
            hash_box(form, fractal, tmap_nbb_beta(f, blockIdx.x, blockIdx.y, mu), shared);
        tile.x += t.x * tmapi_pow32(f.sx, mu - 1);
        tile.y += t.y * tmapi_pow32(f.sy, mu - 1);
    }
    tile.x = tmap_warp_sum_shuffle(warp, tile.x);
    tile.y = tmap_warp_sum_shuffle(warp, tile.y);
    if (p.cell)
        out[((tmap_u64)tile.y * tmapi_pow32(f.sy, m) + p.y) * width +
            (tmap_u64)tile.x * tmapi_pow32(f.sx, m) + p.x] = 7;
}

// Maps the omega of the orthotope, `columns` wide, a thread for each, and stores nothing unless the
// cell is one that does not exist. sum: null, or g^x h^y of all cells is added to it.
TMAP_DEVICE void hash_map(int form, int fractal, tmap_u32 r, tmap_u32 columns, tmap_u64 *sum,
                          tmap_u32 *out) {
    __shared__ tmap_xy shared[TMAP_REPLICAS_MAX];
    const tmap_nbb f = tmap_fractal_at(fractal);
    const int inside = blockIdx.x * blockDim.x + threadIdx.x < columns;
    tmap_u32 wx = blockIdx.x * blockDim.x + threadIdx.x, wy = blockIdx.y, side_x = 1, side_y = 1;
    tmap_xy cell = {0, 0};
    hash_begin(form, fractal, shared);
    for (tmap_u32 mu = 1; mu <= r; ++mu) {
        const tmap_u32 rest = wx / f.k;
        const tmap_xy t = hash_box(form, fractal, wx - rest * f.k, shared);
        cell.x += t.x * side_x, side_x *= f.sx;
        cell.y += t.y * side_y, side_y *= f.sy;
        wx = wy, wy = rest;
    }
    if (sum) {
        const tmap_u64 mine =
            hash_power(HASH_BASE_X, cell.x) * hash_power(HASH_BASE_Y, cell.y) * (tmap_u64)inside;
        const tmap_u64 all = tmap_warp_sum_shuffle64(tmap_warp_full(), mine);
        if (threadIdx.x % 32 == 0) atomicAdd(sum, all);
    } else if (inside && cell.x == 0xffffffffu && cell.y == 0xffffffffu) {
        *out = 1;
    }
}

typedef void (*hash_write_kernel)(tmap_u32 r, tmap_u64 width, int *out);
typedef void (*hash_map_kernel)(tmap_u32 r, tmap_u32 columns, tmap_u64 *sum, tmap_u32 *out);

enum {
#define HASH_NUMBER(name, title, rows, k, sx, sy, tau_x, tau_y) hash_of_##name,
    TMAP_FRACTALS_TABLE1(HASH_NUMBER)
#undef HASH_NUMBER
};

#define HASH_KERNELS(name, form) \
    static __global__ void __launch_bounds__(256) \
        hash_write_##name##_##form(tmap_u32 r, tmap_u64 width, int *out) { \
        hash_write(HASH_##form, hash_of_##name, r, width, out); \
    } \
    static __global__ void __launch_bounds__(256) \
        hash_map_##name##_##form(tmap_u32 r, tmap_u32 columns, tmap_u64 *sum, tmap_u32 *out) { \
        hash_map(HASH_##form, hash_of_##name, r, columns, sum, out); \
    }
#define HASH_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) \
    HASH_KERNELS(name, ARITHMETIC) \
    HASH_KERNELS(name, TABLE_CONSTANT) \
    HASH_KERNELS(name, TABLE_SHARED) \
    HASH_KERNELS(name, DIGITS)
TMAP_FRACTALS_TABLE1(HASH_FRACTAL)
#undef HASH_FRACTAL
#undef HASH_KERNELS

typedef struct hash_case {
    const char *rows; // the fractal's drawing
    hash_write_kernel write[HASH_FORMS];
    hash_map_kernel map[HASH_FORMS];
} hash_case;

#define HASH_CASE(name, title, rows, k, sx, sy, tau_x, tau_y) \
    {rows, \
     {hash_write_##name##_ARITHMETIC, hash_write_##name##_TABLE_CONSTANT, \
      hash_write_##name##_TABLE_SHARED, hash_write_##name##_DIGITS}, \
     {hash_map_##name##_ARITHMETIC, hash_map_##name##_TABLE_CONSTANT, \
      hash_map_##name##_TABLE_SHARED, hash_map_##name##_DIGITS}},
static const hash_case hash_cases[] = {TMAP_FRACTALS_TABLE1(HASH_CASE)};
#undef HASH_CASE

#endif
