// SPDX-License-Identifier: MIT
// ca.h: cellular automata (CA) on a fractal embedded in a matrix: the Moore neighbourhood, of which
// only cells of the fractal count, and a rule of the family of Conway's Life.
//
// The third of the three tests of Navarro et al., FGCS 113 (2020), section 6.2.
//
// The embedding holds 0 outside the fractal, as the paper's does: then a neighbour that is no cell
// counts as dead without a test, and neither a border of ghost cells nor a copy of one is needed. A
// step writes cells, and may write 0 beside them, so two buffers cleared once stay that way.
#ifndef TMAP_KERNELS_CA_H
#define TMAP_KERNELS_CA_H

#include "launch.h"

// A rule: bit n of `born` says that a dead cell with n live neighbours becomes alive, bit n of
// `survive` that a live one stays alive; bits 0..8.
typedef struct tmap_ca_rule {
    tmap_u32 born, survive;
} tmap_ca_rule;

// Conway's Life, B3/S23.
TMAP_FN tmap_ca_rule tmap_ca_life(void) {
    tmap_ca_rule rule = {1u << 3, 1u << 2 | 1u << 3};
    return rule;
}

// The rule of a text such as "B3/S23" (either case; no digit twice; B or S alone may stand without
// digits).
// Returns TMAP_OK, or TMAP_EINVAL, and then leaves *out alone.
TMAP_FN int tmap_ca_rule_from_text(const char *text, tmap_ca_rule *out) {
    tmap_u32 mask[2] = {0, 0};
    if (!text || !out) return TMAP_EINVAL;
    for (int part = 0; part < 2; ++part) {
        if (*text != "BS"[part] && *text != "bs"[part]) return TMAP_EINVAL;
        for (++text; *text >= '0' && *text <= '8'; ++text) {
            if (mask[part] >> (*text - '0') & 1) return TMAP_EINVAL;
            mask[part] |= 1u << (*text - '0');
        }
        if (part == 0 && *text++ != '/') return TMAP_EINVAL;
    }
    if (*text) return TMAP_EINVAL;
    out->born = mask[0];
    out->survive = mask[1];
    return TMAP_OK;
}

// 1 if a cell with `neighbours` live neighbours lives in the next step. Total: past 8 neighbours it
// does not.
TMAP_FN int tmap_ca_next(tmap_ca_rule rule, int alive, tmap_u32 neighbours) {
    return (int)((alive ? rule.survive : rule.born) >> (neighbours & 31) & 1);
}

// The next state (0 or 1) of cell (x, y) of an embedding `width` x `height`, whose places outside
// the fractal hold 0. in: one byte a place, row by row, alive where not 0. A place outside the
// embedding counts as dead.
TMAP_FN unsigned char tmap_ca_cell(const unsigned char *in, tmap_u64 width, tmap_u64 height,
                                   tmap_u64 x, tmap_u64 y, tmap_ca_rule rule) {
    tmap_u32 neighbours = 0;
    const unsigned char *row = in + y * width + x;
    int left = x > 0, right = x + 1 < width;
    if (y > 0) {
        const unsigned char *up = row - width;
        neighbours += (left && up[-1]) + (up[0] != 0) + (right && up[1]);
    }
    neighbours += (left && row[-1]) + (right && row[1]);
    if (y + 1 < height) {
        const unsigned char *down = row + width;
        neighbours += (left && down[-1]) + (down[0] != 0) + (right && down[1]);
    }
    return (unsigned char)tmap_ca_next(rule, row[0] != 0, neighbours);
}

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

// Four cells at once, one in each byte of `c` (0 or 1): their next states. sum: for each, the live
// cells among the nine places around and under it.
TMAP_DEVICE tmap_u32 tmapi_ca_next4(tmap_u32 next, tmap_u32 c, tmap_u32 sum) {
    tmap_u32 index = sum - c + (c << 4), out = 0;
#pragma unroll
    for (int i = 0; i < 32; i += 8) out |= (next >> (index >> i & 31) & 1) << i;
    return out;
}

// Each byte 1 where it is not 0.
TMAP_DEVICE tmap_u32 tmapi_ca_alive4(tmap_u32 v) {
    v |= v >> 4 & 0x0f0f0f0fu;
    v |= v >> 2 & 0x03030303u;
    return (v | (v >> 1 & 0x01010101u)) & 0x01010101u;
}

// The same by groups of four columns, for fractals with such groups: eight rows at a time and the
// two around them. A group that holds a cell is stored whole, which puts 0 beside its cells.
TMAP_DEVICE void tmapi_ca_groups(tmap_nbb f, tmap_box b, tmap_ca_rule rule, const unsigned char *in,
                                 unsigned char *out) {
    const tmap_u32 m = tmap_group_level(f), side = tmapi_pow32(f.sx, m), groups = side / 4;
    const tmap_u32 rows = side * side / 128, step = rows < 8 ? rows : 8;
    const tmap_u32 next = rule.born | rule.survive << 16, level = tmapi_box_level(b) - m;
    tmap_tiles tiles = tmap_tiles_begin(f, tmapi_box_level(b), m);
    tmap_u32 lane = tiles.level.warp.lane, group = lane % groups, band = lane / groups * rows;
    tmap_groups cells = tmap_groups_make(f, m, group, band, rows);
    int first = group == 0, last = group == groups - 1;
    tmap_u32 west = 0, east = 0; // bit i: row band + i is a cell in the column beside the tile
    for (tmap_u32 i = 0; i < rows; ++i) {
        west |= (tmap_u32)tmap_nbb_contains(f, side - 1, band + i, m) << i;
        east |= (tmap_u32)tmap_nbb_contains(f, 0, band + i, m) << i;
    }
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        tmap_u32 around = tmap_tile_neighbours(f, tile, level);
        tmap_u64 at =
            ((tmap_u64)tile.y * side + band) * b.width + (tmap_u64)tile.x * side + 4 * group;
#pragma unroll
        for (tmap_u32 base = 0; base < rows; base += step) {
            tmap_u32 c[10], beside[10]; // four cells, and the one beside the tile
#pragma unroll
            for (tmap_u32 i = 0; i < step + 2; ++i) { // row base + i - 1 of the band
                const unsigned char *p = in + at + ((tmap_i64)(base + i) - 1) * (tmap_i64)b.width;
                int above = base + i == 0, below = base + i == rows + 1; // a row of another band
                int top = above && band == 0,
                    bottom = below && band + rows == side; // of another tile
                int wanted = above || below ? 1 : tmap_groups_row(&cells, base + i - 1) != 0;
                tmap_u32 w = above || below ? 1 : west >> (base + i - 1) & 1;
                tmap_u32 e = above || below ? 1 : east >> (base + i - 1) & 1;
                if (top || bottom) wanted = around >> (top ? 1 : 6) & 1;
                c[i] = beside[i] = 0;
                if (wanted) c[i] = *(const tmap_u32 *)p;
                if (first && w && (around >> (top ? 0 : bottom ? 5 : 3) & 1)) beside[i] = p[-1];
                if (last && e && (around >> (top ? 2 : bottom ? 7 : 4) & 1)) beside[i] = p[4];
            }
            tmap_u32 above = 0, here = 0, alive = 0;
#pragma unroll
            for (tmap_u32 i = 0; i < step + 2; ++i) {
                tmap_u32 v = tmapi_ca_alive4(c[i]), side_cell = beside[i] != 0;
                tmap_u32 l = __shfl_up_sync(0xffffffffu, v, 1) >> 24;
                tmap_u32 r = __shfl_down_sync(0xffffffffu, v, 1) & 255;
                tmap_u32 sum = v + (v << 8 | (first ? side_cell : l)) +
                               (v >> 8 | (last ? side_cell : r) << 24);
                if (i >= 2) {
                    tmap_u32 in4 = tmap_groups_row(&cells, base + i - 2);
                    tmap_u32 mask = (in4 * 0x00204081u & 0x01010101u) * 255;
                    if (in4)
                        *(tmap_u32 *)(out + at + (tmap_u64)(base + i - 2) * b.width) =
                            tmapi_ca_next4(next, alive, above + here + sum) & mask;
                }
                above = here, here = sum, alive = v;
            }
        }
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
        if (constant && f.sx == 2 && tmap_nbb_has_groups(f) && tmapi_groups_fit(f, b, in, 4) &&
            tmapi_groups_fit(f, b, out, 4))
            tmapi_ca_groups(f, b, rule, in, out);
        else
            tmapi_ca_table(f, b, rule, in, out);
    } else if (map == TMAP_MAP_LAMBDA_LINEAR) {
        if (tmapi_linear_place(f, b, &p))
            out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
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
                (map, constant, f, b, row, rule, in, out))
TMAP_FRACTALS(TMAPI_CA)
TMAPI_STAMP(tmapi_ca, own, 0, f, TMAPI_CA_PARAMS, (map, constant, f, b, row, rule, in, out))
#undef TMAPI_CA
#undef TMAPI_CA_PARAMS

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

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
    tmap_box b;
    dim3 grid, block;
    cudaError_t status;
    int error = tmap_box_make(f, r, rho, map, &b);
    if (!error && (!in || !out || in == out || rule.born > 0x1ff || rule.survive > 0x1ff))
        error = TMAP_EINVAL;
    if (error) return tmapi_box_error(error);
    if ((status = tmapi_box_grid(b, map, 4, 64, &grid, &block)) != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)][map], f, rule, in, out);
    return status;
}

#endif
#endif
