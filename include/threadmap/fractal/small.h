// SPDX-License-Identifier: MIT
// small.h: the fractal kernels' form for small fractals of the catalogue by linear index.
//
// Up to a million cells or two a launch takes a few microseconds, most of them for its start. So a
// block takes a tile of up to 256 cells, row by row without a table, and a thread its cell's copies
// in the replicas of the top levels, up to 16, or where blocks are few one of them. Kernels are
// short, since instructions come from memory once for each launch, have the fractal as a constant
// and few arguments, and the launcher asks the device nothing. (H200, us, persistent tiles and
// this: Chandelier, r = 9, SW 6.2 and 3.1, RD 7.1 and 4.2; gasket, r = 10, SW 4.0 and 2.4, and 3.4
// by 470 instructions and with nine copies for each thread.)
#ifndef TMAP_FRACTAL_SMALL_H
#define TMAP_FRACTAL_SMALL_H

#include "catalogue.h"
#include "size.h"
#include "rows_cell.h"

// The most cells, in blocks' worth: those of fractals with small tiles are small themselves.
#ifndef TMAPI_SMALL_BLOCKS // a test sets it lower
#define TMAPI_SMALL_BLOCKS 8192
#endif

// Below so many blocks, each copy has a row of blocks of its own: multiprocessors stand idle.
#ifndef TMAPI_SMALL_FEW // a test sets it lower
#define TMAPI_SMALL_FEW 64
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

// The most copies of its place that a thread sees to where each is a store: one on a line, whose
// cells each have a sector of their own, since few blocks for many stores take longer than more
// blocks (Cantor, r = 10, SW: four blocks 1.8 us, one 1.94).
TMAP_FN tmap_u32 tmapi_small_copies(tmap_nbb f, tmap_u32 most) { return f.sy > 1 ? most : 1; }

// How many top levels a thread goes through: at most so many, and copies of its place.
TMAP_FN tmap_u32 tmapi_small_top(tmap_nbb f, tmap_u32 levels, tmap_u32 copies) {
    return levels > 1 && f.k * f.k <= copies ? 2 : f.k <= copies;
}

// The blocks of a launch for fractal f of level r; 0 if it is too large or too small for this form.
// top: tmapi_small_top. low: the level of a place, 0 or 1. In one loop, as a launch takes longer
// than the kernel, and this is a part of it.
TMAP_FN tmap_u32 tmapi_small_make(tmap_nbb f, tmap_u32 r, tmap_u32 top, tmap_u32 low,
                                  tmapi_small *out) {
    const tmap_u32 m = tmapi_small_level(f), most = TMAPI_SMALL_BLOCKS * tmapi_pow32(f.k, m);
    tmap_u32 blocks = 0, cells = 1;
    if (r < m + top + low) return 0;
    out->level = r - low - m - top;
    out->width = out->height = 1;
    for (tmap_u32 level = 0;; ++level) {
        if (level <= r - low && cells > most) return 0;
        if (level == out->level) blocks = cells;
        if (level == r - low - top) out->copy_x = out->width, out->copy_y = out->height;
        if (level == r) return blocks;
        cells *= f.k, out->width *= f.sx, out->height *= f.sy; // below 2^32 in the catalogue
    }
}

#if TMAP_CUDA

// The column of cell i of a line of two replicas of level m: one product for each digit of i, which
// is taken where it stands, so that digit l comes 2^l times too large, and weights make up for it.
TMAP_DEVICE tmap_u32 tmapi_small_line(tmap_nbb f, tmap_u32 m, tmap_u32 i) {
    const tmap_u32 left = tmap_nbb_tau(f, 0).x, right = tmap_nbb_tau(f, 1).x;
    tmap_u32 base = 0, sum = 0, side = 1;
#pragma unroll
    for (tmap_u32 l = 0; l < TMAPI_ROWS_DIRECT_MOST; ++l, side *= f.sx) {
        if (l >= m) continue;
        base += left * side;
        sum += (i & 1u << l) * ((right - left) * side << (m - 1 - l));
    }
    return base + (sum >> (m - 1));
}

// The cell of this thread in a tile of level m.
TMAP_DEVICE tmap_xy tmapi_small_cell(tmap_nbb f, tmap_u32 m) {
    tmap_xy cell = {0, 0};
    if (f.sy > 1) return tmapi_rows_direct(f, m, threadIdx.x);
    if (f.k != 2) return tmap_nbb_lambda_linear(f, threadIdx.x, m); // any order is row by row
    cell.x = tmapi_small_line(f, m, threadIdx.x);
    return cell;
}

// The place of this thread in the first replica of the top levels; 1 if it has one.
TMAP_DEVICE int tmapi_small_place(tmap_nbb f, const tmapi_small *s, tmap_xy *place) {
    const tmap_u32 m = tmapi_small_level(f), cells = tmapi_pow32(f.k, m);
    tmap_u32 i = blockIdx.x, side_x = tmapi_pow32(f.sx, m), side_y = tmapi_pow32(f.sy, m);
    *place = tmapi_small_cell(f, m);
#pragma unroll 1
    for (tmap_u32 level = 0; level < s->level; ++level) { // the tile's place, by short code
        tmap_xy tau = tmap_nbb_tau(f, i % f.k);
        i /= f.k;
        place->x += tau.x * side_x, side_x *= f.sx;
        place->y += tau.y * side_y, side_y *= f.sy;
    }
    return threadIdx.x < cells;
}

// How far a place's copy in replica number `copy` of the `top` top levels is from it, in cells.
// down: tmapi_small_down(s).
TMAP_DEVICE tmap_u64 tmapi_small_down(const tmapi_small *s) {
    return (tmap_u64)s->copy_y * s->width;
}
TMAP_DEVICE tmap_u64 tmapi_small_copy(tmap_nbb f, const tmapi_small *s, tmap_u64 down, tmap_u32 top,
                                      tmap_u32 copy) {
    tmap_xy t = tmap_nbb_lambda_linear(f, copy, top);
    return t.y * down + t.x * s->copy_x;
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
// alone: 1 if a single block stays one.
#define TMAPI_SMALL_LAUNCH(kernel, name, top_levels, copies, low, alone, before, ...) \
    if (tmap_nbb_equal(f, tmap_fractal_##name())) { \
        const tmap_nbb same = tmap_fractal_##name(); /* a constant */ \
        const tmap_u32 top = tmapi_small_top(same, top_levels, copies); \
        tmapi_small s; \
        const unsigned blocks = tmapi_small_make(same, r, top, low, &s); \
        const int spread = blocks < TMAPI_SMALL_FEW && !(alone && blocks == 1); \
        const dim3 grid(blocks, spread ? tmapi_pow32(same.k, top) : 1, 1); \
        if (blocks) { \
            before; \
            kernel<<<grid, tmapi_small_threads(same), 0, stream>>>(s, __VA_ARGS__); \
            return cudaGetLastError(); \
        } \
    }
#endif
#endif
