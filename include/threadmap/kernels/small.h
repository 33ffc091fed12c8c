// SPDX-License-Identifier: MIT
// small.h: the fractal kernels' form for small fractals of the catalogue by linear index.
//
// Up to a million cells a launch takes a few microseconds, most of them for its start. So a block
// takes a tile of up to 256 cells, row by row without a table, and a thread its cell's copies in
// the replicas of the top levels, up to 16. Kernels are short, have the fractal as a constant and
// few arguments, and the launcher asks the device nothing. (r = 10, ms, persistent threads and
// this: Chandelier SW 0.0065 and 0.0059, RD 0.0064 and 0.0053, CA 0.0074 and 0.0057; Cantor RD
// 0.0050 and 0.0038; its SW and CA are the launch alone.)
#ifndef TMAP_KERNELS_SMALL_H
#define TMAP_KERNELS_SMALL_H

#include "../fractals.h"
#include "../nbb_size.h"
#include "../rows_cell.h"

#ifndef TMAPI_SMALL_CELLS // a test sets it lower
#define TMAPI_SMALL_CELLS (1u << 20)
#endif

// The places of a launch, which are cells, or lowest grids of a fractal one level higher.
typedef struct tmapi_small {
    tmap_u32 level;          // of the map in block space
    tmap_u32 copy_x, copy_y; // the sides of a replica of the top levels, in places
    tmap_u32 width, height;  // of the embedding, in cells
} tmapi_small;

// The level of its tiles. Example: gasket 5, carpet 2, Cantor 8.
TMAP_FN tmap_u32 tmapi_small_level(tmap_nbb f) {
    tmap_u32 m = 0, cells = 1;
    while (m < TMAPI_ROWS_DIRECT_MOST && cells * f.k <= 256) cells *= f.k, ++m;
    return m;
}

// How many top levels a thread goes through: at most so many, and copies of its place.
TMAP_FN tmap_u32 tmapi_small_top(tmap_nbb f, tmap_u32 levels, tmap_u32 copies) {
    return levels > 1 && f.k * f.k <= copies ? 2 : f.k <= copies;
}

// The blocks of a launch for fractal f of level r; 0 if it is too large or too small for this form.
// top: tmapi_small_top. low: the level of a place, 0 or 1. In one loop, as a launch takes longer
// than the kernel, and this is a part of it.
TMAP_FN tmap_u32 tmapi_small_make(tmap_nbb f, tmap_u32 r, tmap_u32 top, tmap_u32 low,
                                  tmapi_small *out) {
    const tmap_u32 m = tmapi_small_level(f);
    tmap_u32 blocks = 0, cells = 1;
    if (r < m + top + low) return 0;
    out->level = r - low - m - top;
    out->width = out->height = 1;
    for (tmap_u32 level = 0;; ++level) {
        if (level <= r - low && cells > TMAPI_SMALL_CELLS) return 0;
        if (level == out->level) blocks = cells;
        if (level == r - low - top) out->copy_x = out->width, out->copy_y = out->height;
        if (level == r) return blocks;
        cells *= f.k, out->width *= f.sx, out->height *= f.sy; // below 2^32 in the catalogue
    }
}

#if TMAP_CUDA

// The place of this thread in the first replica of the top levels; 1 if it has one.
TMAP_DEVICE int tmapi_small_place(tmap_nbb f, const tmapi_small *s, tmap_xy *place) {
    const tmap_u32 m = tmapi_small_level(f), cells = tmapi_pow32(f.k, m);
    tmap_xy tile;
    if (f.sy == 1) { // any order is row by row: a loop over levels, of a few instructions
        *place = tmap_nbb_lambda_linear(f, blockIdx.x * cells + threadIdx.x, s->level + m);
        return threadIdx.x < cells;
    }
    tile = tmap_nbb_lambda_linear(f, blockIdx.x, s->level);
    *place = tmapi_rows_direct(f, m, threadIdx.x);
    place->x += tile.x * tmapi_pow32(f.sx, m), place->y += tile.y * tmapi_pow32(f.sy, m);
    return threadIdx.x < cells;
}

// The kernel of one piece of work for one fractal, WORK_NAME, which calls WORK. PARAMS: its
// parameter list, which begins with `tmapi_small s`; ARGS: of WORK, which may name `f`.
#define TMAPI_SMALL_STAMP(work, name, PARAMS, ARGS) \
    static __global__ void work##_##name PARAMS { \
        const tmap_nbb f = tmap_fractal_##name(); \
        work ARGS; \
    }

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
// Threads of a block: a tile's, in whole warps.
static inline unsigned tmapi_small_threads(tmap_nbb f) {
    return (tmapi_pow32(f.k, tmapi_small_level(f)) + 31) / 32 * 32;
}

// For a launcher of fractal f of level r in `stream`: if f is fractal NAME and small, launches
// KERNEL with these arguments after the first one, once BEFORE has been done, and returns.
#define TMAPI_SMALL_LAUNCH(kernel, name, top_levels, copies, low, before, ...) \
    if (tmap_nbb_equal(f, tmap_fractal_##name())) { \
        const tmap_nbb same = tmap_fractal_##name(); /* a constant */ \
        tmapi_small s; \
        const unsigned blocks = \
            tmapi_small_make(same, r, tmapi_small_top(same, top_levels, copies), low, &s); \
        if (blocks) { \
            before; \
            kernel<<<blocks, tmapi_small_threads(same), 0, stream>>>(s, __VA_ARGS__); \
            return cudaGetLastError(); \
        } \
    }
#endif
#endif
