// SPDX-License-Identifier: MIT
// ca.h: cellular automata (CA) on a fractal embedded in a matrix: the Moore neighbourhood, of which
// only cells of the fractal count, and a rule of the family of Conway's Life.
//
// The third of the three tests of Navarro et al., FGCS 113 (2020), section 6.2.
//
// The embedding holds 0 outside the fractal, as the paper's does: then a neighbour that is no cell
// counts as dead without a test, and neither a border of ghost cells nor a copy of one is needed. A
// step writes cells, and may write 0 beside them, so two buffers cleared once stay that way.
#ifndef TMAP_FRACTAL_CA_H
#define TMAP_FRACTAL_CA_H

#include "life.h"
#include "ca_cell.h"
#include "../rivals/box.h"

#if TMAP_CUDA

// A warp's tiles, a lane for each cell of a tile's table. Only tiles at the border of the embedding
// ask where it ends.
TMAP_DEVICE void tmapi_ca_table(tmap_nbb f, tmap_box b, tmap_ca_rule rule, const unsigned char *in,
                                unsigned char *out) {
    __shared__ tmap_u32 offsets[TMAP_TILE_TABLE_WORDS(TMAPI_TABLE_MOST)];
    tmap_u32 m = b.tile_level, cells = b.bx, pitch = (tmap_u32)b.width;
    tmap_u32 next = rule.born | rule.survive << 16; // bit: neighbours + 16 * alive
    tmap_u64 width = tmap_nbb_side_x(f, m), height = tmap_nbb_side_y(f, m);
    tmap_tiles tiles = tmap_tiles_begin(f, tmapi_box_level(b), m);
    tmap_tile_table_make(f, m, pitch, offsets);
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        tmap_u64 x = tile.x * width, y = tile.y * height, at = y * b.width + x;
        if (x == 0 || y == 0 || x + width == b.width || y + height == b.height) {
            for (tmap_u32 i = tiles.level.warp.lane; i < cells; i += 32) {
                tmap_u32 dy = offsets[i] / pitch, dx = offsets[i] - dy * pitch;
                out[at + offsets[i]] = tmap_ca_cell(in, b.width, b.height, x + dx, y + dy, rule);
            }
        } else {
#pragma unroll 2
            for (tmap_u32 i = tiles.level.warp.lane; i < cells; i += 32) {
                const unsigned char *p = in + at + offsets[i], *up = p - b.width,
                                    *down = p + b.width;
                tmap_u32 alive = *p != 0;
                tmap_u32 sum = (up[-1] != 0) + (up[0] != 0) + (up[1] != 0) + (p[-1] != 0) +
                               (p[1] != 0) + (down[-1] != 0) + (down[0] != 0) + (down[1] != 0);
                out[at + offsets[i]] = (unsigned char)(next >> (sum + 16 * alive) & 1);
            }
        }
    }
}

// All cells row by row, the lanes side by side in a row.
TMAP_DEVICE void tmapi_ca_by_rows(tmap_nbb f, tmap_box b, tmap_ca_rule rule,
                                  const unsigned char *in, unsigned char *out) {
    TMAPI_ROWS_TABLES(rows, f, b);
    const tmapi_share share = tmapi_share_make(b);
    for (tmap_u64 first = share.first; first < share.end; first += share.stride) {
        tmap_row row = tmap_rows_seek(&rows, (tmap_u32)first);
        tmap_u32 left = tmapi_share_count(&share, b, first);
        for (;;) {
            tmap_u32 run = tmapi_rows_run(&row, left);
            for (tmap_u32 i = threadIdx.x % 32; i < run; i += 32) {
                tmap_u32 x = tmap_rows_x(&rows, &row, i);
                out[row.y * b.width + x] = tmap_ca_cell(in, b.width, b.height, x, row.y, rule);
            }
            if (!(left -= run)) break;
            tmap_rows_skip(&rows, run, &row);
        }
    }
}

// The most places of a lowest replica grid and of the ring around it: 4 x 4 and the ring.
#define TMAPI_CA_BLOCK_MOST 36

// The cells of the lowest level's fractal at (x, y), a multiple of its sides, by one thread. Of the
// places around them only those are read that can be cells, as the grid beside is the same one: for
// constant f 9 places instead of 45 for the five cells of Vicsek, 21 instead of 63 for H.
TMAP_DEVICE void tmapi_ca_block(tmap_nbb f, tmap_u64 width, tmap_u64 height, tmap_u32 x, tmap_u32 y,
                                tmap_ca_rule rule, const unsigned char *in, unsigned char *out) {
    const int w = (int)f.sx + 2, h = (int)f.sy + 2;
    const tmap_u32 next = rule.born | rule.survive << 16; // bit: neighbours + 16 * alive
    const tmap_u64 at = y * width + x;
    const int west = x > 0, east = x + f.sx<width, north = y> 0, south = y + f.sy < height;
    tmap_u32 v[TMAPI_CA_BLOCK_MOST];
#pragma unroll
    for (int j = 0; j < TMAPI_CA_BLOCK_MOST; ++j) {
        int dx = j % w - 1, dy = j / w - 1;
        v[j] = 0;
        if (j < w * h &&
            tmap_nbb_contains(f, (tmap_u32)(dx + w - 2) % f.sx, (tmap_u32)(dy + h - 2) % f.sy, 1)) {
            int inside = (dx >= 0 || west) && (dx < w - 2 || east) && (dy >= 0 || north) &&
                         (dy < h - 2 || south);
            if (inside) v[j] = in[at + (tmap_u64)((tmap_i64)dy * (tmap_i64)width + dx)] != 0;
        }
    }
#pragma unroll
    for (int j = 0; j < TMAPI_CA_BLOCK_MOST; ++j) {
        int dx = j % w - 1, dy = j / w - 1;
        if (j >= w * h || dx < 0 || dx == w - 2 || dy < 0 || dy == h - 2) continue;
        if (!tmap_nbb_contains(f, (tmap_u32)dx, (tmap_u32)dy, 1)) continue;
        tmap_u32 sum = v[j - w - 1] + v[j - w] + v[j - w + 1] + v[j - 1] + v[j + 1] + v[j + w - 1] +
                       v[j + w] + v[j + w + 1];
        out[at + (tmap_u64)dy * width + (tmap_u64)dx] =
            (unsigned char)(next >> (sum + 16 * v[j]) & 1);
    }
}

// A map for k cells, from a linear index: those of the lowest level in the place of a cell above.
TMAP_DEVICE void tmapi_ca_linear(int constant, tmap_nbb f, tmap_box b, tmap_ca_rule rule,
                                 const unsigned char *in, unsigned char *out) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    for (; i < b.columns; i += gridDim.x * (tmap_u64)blockDim.x) {
        tmap_xy p = tmap_nbb_lambda_linear(f, (tmap_u32)i, b.level);
        if (constant && b.tile_level && (f.sx + 2) * (f.sy + 2) <= TMAPI_CA_BLOCK_MOST) {
            tmapi_ca_block(f, b.width, b.height, p.x * f.sx, p.y * f.sy, rule, in, out);
            continue;
        }
        for (tmap_u32 copy = 0; copy < tmapi_linear_copies(f, b); ++copy) {
            tmap_u64 at = tmapi_linear_copy(f, b, p, copy), y = at / b.width;
            out[at] = tmap_ca_cell(in, b.width, b.height, at - y * b.width, y, rule);
        }
    }
}

// Small fractals (small.h): the cells of a lowest grid in the place of a cell.
TMAP_DEVICE void tmapi_ca_small(tmap_nbb f, const tmapi_small *s, tmap_ca_rule rule,
                                const unsigned char *in, unsigned char *out) {
    const tmap_u32 top = tmapi_small_top(f, 1, tmapi_small_copies(f, 4));
    tmap_xy p;
    if (!tmapi_small_place(f, s, &p)) return;
#pragma unroll 1
    for (tmap_u32 copy = blockIdx.y; copy < tmapi_pow32(f.k, top); copy += gridDim.y) {
        tmap_xy t = tmap_nbb_lambda_linear(f, copy, top);
        tmapi_ca_block(f, s->width, f.sy > 1 ? s->height : 1, (p.x + t.x * s->copy_x) * f.sx,
                       (p.y + t.y * s->copy_y) * f.sy, rule, in, out);
    }
}

TMAP_DEVICE void tmapi_ca_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, tmap_ca_rule rule,
                               const unsigned char *in, unsigned char *out) {
    tmapi_walk walk = tmapi_walk_begin(map, f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_walk_place(&walk, map, f, b, wy, &p))
            out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
    }
}

TMAP_DEVICE void tmapi_ca(int map, int constant, tmap_nbb f, tmap_box b, tmap_u32 row,
                          tmap_ca_rule rule, const unsigned char *in, unsigned char *out) {
    tmap_xy p;
    if (map == TMAP_MAP_TILE) {
        tmapi_ca_table(f, b, rule, in, out);
    } else if (map == TMAP_MAP_LAMBDA_LINEAR) {
        tmapi_ca_linear(constant, f, b, rule, in, out);
    } else if (map == TMAP_MAP_ROWS) {
        tmapi_ca_by_rows(f, b, rule, in, out);
    } else if (map != TMAP_MAP_BB)
        tmapi_walk_full() ? tmapi_ca_walk(map, f, b, tmap_warp_full(), rule, in, out)
                          : tmapi_ca_walk(map, f, b, tmap_warp_self(), rule, in, out);
    else if (tmapi_bb_place(f, b, row, &p))
        out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
}

#define TMAPI_CA_PARAMS \
    (tmap_nbb f, tmap_box b, tmap_u32 row, tmap_ca_rule rule, \
     const unsigned char *__restrict__ in, unsigned char *__restrict__ out)
#define TMAPI_CA(name, ...) \
    TMAPI_STAMP(tmapi_ca, name, 1, tmap_fractal_##name(), TMAPI_CA_PARAMS, \
                (map, constant, f, b, row, rule, in, out)) \
    TMAPI_SMALL_STAMP(tmapi_ca_small, name, \
                      (tmapi_small s, tmap_ca_rule rule, const unsigned char *__restrict__ in, \
                       unsigned char *__restrict__ out), \
                      (f, &s, rule, in, out))
TMAP_FRACTALS(TMAPI_CA)
TMAPI_STAMP(tmapi_ca, own, 0, f, TMAPI_CA_PARAMS, (map, constant, f, b, row, rule, in, out))
#undef TMAPI_CA
#undef TMAPI_CA_PARAMS

// By tiles, where sectors can be written whole: ca_bits.h.
#define TMAPI_CA_BITS(name, fractal) \
    static __global__ void __launch_bounds__(512) tmapi_ca_bits_##name( \
        tmap_nbb f, tmap_u32 r, tmap_u32 width, tmap_u32 height, tmap_u32 next, \
        const unsigned char *__restrict__ in, unsigned char *__restrict__ out) { \
        f = fractal; \
        tmapi_ca_by_bits(f, r, width, height, next, in, out); \
    }
#define TMAPI_CA(name, ...) TMAPI_CA_BITS(name, tmap_fractal_##name())
TMAP_FRACTALS(TMAPI_CA)
TMAPI_CA_BITS(own, f)
#undef TMAPI_CA
#undef TMAPI_CA_BITS

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// A step by tiles where tmapi_ca_bits_fit.
static inline cudaError_t tmapi_ca_bits_launch(tmap_nbb f, tmap_u32 r, tmap_ca_rule rule,
                                               const unsigned char *in, unsigned char *out,
                                               cudaStream_t stream) {
    typedef void (*kernel)(tmap_nbb, tmap_u32, tmap_u32, tmap_u32, tmap_u32, const unsigned char *,
                           unsigned char *);
    static const kernel kernels[TMAP_FRACTAL_COUNT + 1] = {
#define TMAPI_CA(name, ...) tmapi_ca_bits_##name,
        TMAP_FRACTALS(TMAPI_CA) tmapi_ca_bits_own
#undef TMAPI_CA
    };
    dim3 grid, block;
    int device, processors;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    tmapi_ca_bits_grid(f, r, (tmap_u64)processors, &grid, &block);
    kernels[tmapi_table_index(
        f)]<<<grid, block, tmapi_ca_bits_bytes(tmapi_ca_tile_make(f)), stream>>>(
        f, r, (tmap_u32)tmap_nbb_side_x(f, r), (tmap_u32)tmap_nbb_side_y(f, r),
        rule.born | rule.survive << 16, in, out);
    return cudaGetLastError();
}

// One step of the automaton on fractal f of level r: out = rule(in) for every cell; other places of
// out are left alone or set to 0. rho, map: as for tmap_sw_i32. in, out: sx^r x sy^r bytes each in
// device memory, row by row, not overlapping; a cell is alive where `in` is not 0, and `in` must
// hold 0 outside the fractal. Live cells are written as 1, dead ones as 0. Returns what
// tmap_box_make refuses, equal or null buffers and rules past nine bits as cudaErrorInvalidValue or
// cudaErrorInvalidConfiguration, else the launch's error.
// Example: tmap_ca_u8(tmap_fractal_carpet(), 6, 32, TMAP_MAP_LAMBDA, tmap_ca_life(), a, b, 0).
static inline cudaError_t tmap_ca_u8(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map,
                                     tmap_ca_rule rule, const unsigned char *in, unsigned char *out,
                                     cudaStream_t stream) {
    typedef void (*kernel)(tmap_nbb, tmap_box, tmap_u32, tmap_ca_rule, const unsigned char *,
                           unsigned char *);
    static const kernel kernels[TMAP_FRACTAL_COUNT + 1][TMAP_MAP_COUNT] = {
#define TMAPI_CA(name, ...) TMAPI_STAMP_ROW(tmapi_ca, name)
        TMAP_FRACTALS(TMAPI_CA) TMAPI_STAMP_ROW(tmapi_ca, own)
#undef TMAPI_CA
    };
    const int fits = in && out && in != out && rule.born <= 0x1ff && rule.survive <= 0x1ff;
    tmap_box b;
    dim3 grid, block;
    cudaError_t status;
    if (map == TMAP_MAP_LAMBDA_LINEAR && rho == 32 && fits) {
#define TMAPI_CA(name, ...) \
    TMAPI_SMALL_LAUNCH(tmapi_ca_small_##name, name, 1, tmapi_small_copies(same, 4), 1, 0, , rule, \
                       in, out)
        TMAP_FRACTALS(TMAPI_CA)
#undef TMAPI_CA
    }
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !fits) return tmapi_box_error(error ? error : TMAP_EINVAL);
    if (map == TMAP_MAP_TILE && tmapi_ca_bits_fit(f, r, in, out))
        return tmapi_ca_bits_launch(f, r, rule, in, out, stream);
    const tmapi_tuning tuning = {4, 64, 64, 256, 3, 256};
    if ((status = tmapi_box_grid(&b, map, tuning, &grid, &block)) != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)][map], f, rule, in, out);
    return status;
}

#endif
#endif
