// SPDX-License-Identifier: MIT
// ca.h: cellular automata (CA) on a fractal embedded in a matrix: the Moore neighbourhood, of which
// only cells of the fractal count, and a rule of the family of Conway's Life.
//
// The third of the three tests of Navarro et al., FGCS 113 (2020), section 6.2.
//
// The embedding holds 0 outside the fractal, as the paper's does: then a neighbour that is no cell
// counts as dead without a test, and neither a border of ghost cells nor a copy of one is needed. A
// step writes cells only, so two buffers cleared once stay that way.
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

TMAP_DEVICE void tmapi_ca_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, tmap_ca_rule rule,
                               const unsigned char *in, unsigned char *out) {
    tmapi_walk walk = tmapi_walk_begin(map, f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_walk_place(&walk, map, f, b, wy, &p))
            out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
    }
}

TMAP_DEVICE void tmapi_ca(int map, tmap_nbb f, tmap_box b, tmap_u32 row, tmap_ca_rule rule,
                          const unsigned char *in, unsigned char *out) {
    tmap_xy p;
    if (map != TMAP_MAP_BB)
        tmapi_walk_full() ? tmapi_ca_walk(map, f, b, tmap_warp_full(), rule, in, out)
                          : tmapi_ca_walk(map, f, b, tmap_warp_self(), rule, in, out);
    else if (tmapi_bb_place(f, b, row, &p))
        out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
}

#define TMAPI_CA_PARAMS \
    (tmap_nbb f, tmap_box b, tmap_u32 row, tmap_ca_rule rule, \
     const unsigned char *__restrict__ in, unsigned char *__restrict__ out)
#define TMAPI_CA(name, ...) \
    TMAPI_STAMP(tmapi_ca, name, tmap_fractal_##name(), TMAPI_CA_PARAMS, \
                (map, f, b, row, rule, in, out))
TMAP_FRACTALS(TMAPI_CA)
TMAPI_STAMP(tmapi_ca, own, f, TMAPI_CA_PARAMS, (map, f, b, row, rule, in, out))
#undef TMAPI_CA
#undef TMAPI_CA_PARAMS

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// One step of the automaton on fractal f of level r: out = rule(in) for every cell; other places of
// out are not written. rho, map: as for tmap_sw_i32. in, out: sx^r x sy^r bytes each in device
// memory, row by row, not overlapping; a cell is alive where `in` is not 0, and `in` must hold 0
// outside the fractal. Live cells are written as 1, dead ones as 0. Returns what tmap_box_make
// refuses, equal or null buffers and rules past nine bits as cudaErrorInvalidValue or
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
    dim3 grid;
    cudaError_t status;
    int error = tmap_box_make(f, r, rho, map, &b);
    if (!error && (!in || !out || in == out || rule.born > 0x1ff || rule.survive > 0x1ff))
        error = TMAP_EINVAL;
    if (error) return tmapi_box_error(error);
    if ((status = tmapi_box_grid(b, map, 4, &grid)) != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)][map], f, grid, rule, in, out);
    return status;
}

#endif
#endif
