// SPDX-License-Identifier: MIT
// sw.h: single write (SW): a value written to every cell of a fractal embedded in a matrix.
//
// The first of the three tests of Navarro et al., FGCS 113 (2020), section 6.2: nothing but the map
// and one store.
#ifndef TMAP_KERNELS_SW_H
#define TMAP_KERNELS_SW_H

#include "launch.h"

#if TMAP_CUDA

TMAP_DEVICE void tmapi_sw_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, int value,
                               int *out) {
    tmapi_walk walk = tmapi_walk_begin(map, f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_walk_place(&walk, map, f, b, wy, &p)) out[p.y * b.width + p.x] = value;
    }
}

TMAP_DEVICE void tmapi_sw(int map, tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out) {
    tmap_xy p;
    if (map != TMAP_MAP_BB)
        tmapi_walk_full() ? tmapi_sw_walk(map, f, b, tmap_warp_full(), value, out)
                          : tmapi_sw_walk(map, f, b, tmap_warp_self(), value, out);
    else if (tmapi_bb_place(f, b, row, &p))
        out[p.y * b.width + p.x] = value;
}

#define TMAPI_SW(name, ...) \
    TMAPI_STAMP(tmapi_sw, name, tmap_fractal_##name(), \
                (tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out), \
                (map, f, b, row, value, out))
TMAP_FRACTALS(TMAPI_SW)
TMAPI_STAMP(tmapi_sw, own, f, (tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out),
            (map, f, b, row, value, out))
#undef TMAPI_SW

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Writes `value` to every cell of fractal f of level r and to no other place.
// rho: side of the blocks, 1..32; a rho that is not a power of s is rounded down to one for the
// lambda maps.
// map: a tmap_map; ballot for fractals with s = 2. out: sx^r x sy^r integers in device memory, row
// by row.
// Returns what tmap_box_make refuses as cudaErrorInvalidValue or cudaErrorInvalidConfiguration,
// else the launch's error. Cost: one store a cell; BB also launches the threads of the whole
// embedding.
// Example: tmap_sw_i32(tmap_fractal_gasket(), 10, 16, TMAP_MAP_LAMBDA_BALLOT, 1, out, 0).
static inline cudaError_t tmap_sw_i32(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, int value,
                                      int *out, cudaStream_t stream) {
    typedef void (*kernel)(tmap_nbb, tmap_box, tmap_u32, int, int *);
    static const kernel kernels[TMAP_FRACTAL_COUNT + 1][TMAP_MAP_COUNT] = {
#define TMAPI_SW(name, ...) TMAPI_STAMP_ROW(tmapi_sw, name)
        TMAP_FRACTALS(TMAPI_SW) TMAPI_STAMP_ROW(tmapi_sw, own)
#undef TMAPI_SW
    };
    tmap_box b;
    dim3 grid;
    cudaError_t status;
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !out) return tmapi_box_error(error ? error : TMAP_EINVAL);
    if ((status = tmapi_box_grid(b, map, 4, &grid)) != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)][map], f, grid, value, out);
    return status;
}

#endif
#endif
