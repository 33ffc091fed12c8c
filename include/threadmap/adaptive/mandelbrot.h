// SPDX-License-Identifier: MIT
// mandelbrot.h: the dwell of every pixel of a picture of the Mandelbrot set, exhaustively and by
// adaptive subdivision (ASK): the case study of its paper.
//
// The dwell of c is the number of steps z = z^2 + c, from z = c on, that are taken before |z| >= 2,
// and `dwell` at most:
//
//     d = 0; z = c; while (d < dwell && |z|^2 < 4) z = z^2 + c, d = d + 1;
//
// Subdivision by the rule of Mariani and Silver: a region whose border has one dwell is filled with
// it. Neighbours share the line of pixels between them: the border of the region [x0, x1) x
// [y0, y1) is the ring x0, x1, y0, y1, where x1 and y1 are the first lines of the next regions, or
// the picture's last ones. The set of points of dwell d or more is connected, so that no part of it
// lies inside such a border unseen, unless all of it does: take g above 1 for a window that is
// larger than the set. In pixels, a filament thinner than a pixel may, which makes a difference to
// the exhaustive picture in a few pixels of a hundred million.
// Borders are computed once, and kept in the picture or beside it: a region that subdivides
// computes the line of pixels on each inner cut, the rest of its children's borders it has already.
//
// All approaches compute a pixel by the same operations with the same rounding (float or double,
// with fused multiply-adds), so that their dwells are equal bit by bit, and equal to those of the
// host function, wherever they compute a pixel at all.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 6. Shared borders, testing once in several steps and
// lanes that take new pixels as they finish are this library's.
#ifndef TMAP_ADAPTIVE_MANDELBROT_H
#define TMAP_ADAPTIVE_MANDELBROT_H

#include "ask.h"
#include "fill_rows.h"

typedef enum tmap_mandelbrot_approach {
    TMAP_MANDELBROT_EXHAUSTIVE,          // a thread for each pixel, a test in every step
    TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED, // the same, a test once in 32 steps
    TMAP_MANDELBROT_ASK_SBR,             // subdivision, one block for each region
    TMAP_MANDELBROT_ASK_MBR              // subdivision, the elements of a level over all blocks
} tmap_mandelbrot_approach;

#define TMAP_MANDELBROT_APPROACH_COUNT 4

// The name of an approach in tables and results: "exhaustive", "unrolled", "ask_sbr", "ask_mbr";
// "?" for any other number.
TMAP_FN const char *tmap_mandelbrot_approach_name(int approach) {
    switch (approach) {
    case TMAP_MANDELBROT_EXHAUSTIVE: return "exhaustive";
    case TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED: return "unrolled";
    case TMAP_MANDELBROT_ASK_SBR: return "ask_sbr";
    case TMAP_MANDELBROT_ASK_MBR: return "ask_mbr";
    default: return "?";
    }
}

// Options, a bit each. BULBS: points of the main cardioid and of the disc of period 2 are told by a
// formula, in all approaches alike.
#define TMAP_MANDELBROT_BULBS 1u

// A picture.
typedef struct tmap_mandelbrot {
    tmap_u32 nx, ny;       // pixels: 1 to 2^24 along each axis
    double x0, x1, y0, y1; // window: pixel (x, y) is c = (x0 + (x1 - x0) / nx x, y0 + ...)
    tmap_u32 dwell;        // most steps, 1 to 2^30
    tmap_u32 options;
    // For ASK: where it keeps the columns of borders, tmap_mandelbrot_columns_bytes bytes of device
    // memory; or null, and then they stand in the picture, each pixel of one in another row, which
    // costs a tenth of the time (H200, n = 16384: 1.47 ms, 1.31 with memory of their own).
    int *columns;
} tmap_mandelbrot;

// nx x ny pixels of the paper's window [-1.5, 0.5] x [-1, 1] without options. The paper's dwell:
// 512.
TMAP_FN tmap_mandelbrot tmap_mandelbrot_make(tmap_u32 nx, tmap_u32 ny, tmap_u32 dwell) {
    tmap_mandelbrot m;
    m.nx = nx, m.ny = ny;
    m.x0 = -1.5, m.x1 = 0.5;
    m.y0 = -1, m.y1 = 1;
    m.dwell = dwell;
    m.options = 0;
    m.columns = 0;
    return m;
}

// TMAP_OK, or TMAP_EINVAL: a null pointer, a number outside its range above, a window whose sides
// are not positive and finite, an unknown option, columns not at a multiple of 4 bytes.
TMAP_FN int tmap_mandelbrot_check(const tmap_mandelbrot *m) {
    const tmap_u32 most = 1u << 24;
    if (!m || m->nx - 1 >= most || m->ny - 1 >= most) return TMAP_EINVAL;
    if (m->dwell - 1 >= 1u << 30) return TMAP_EINVAL;
    if (m->options > TMAP_MANDELBROT_BULBS) return TMAP_EINVAL;
    if (!(m->x0 < m->x1) || !(m->y0 < m->y1)) return TMAP_EINVAL; // NaN is not less either
    if (!(m->x1 - m->x0 < 1e300) || !(m->y1 - m->y0 < 1e300)) return TMAP_EINVAL;
    if ((tmap_u64)m->columns % sizeof(int)) return TMAP_EINVAL;
    return TMAP_OK;
}

// Steps of a pixel of the exhaustive approach between two tests.
#ifndef TMAPI_MANDELBROT_UNROLLED
#define TMAPI_MANDELBROT_UNROLLED 32
#endif
// The same of the subdivision, from TMAPI_MANDELBROT_FIRST on: a power of two.
#ifndef TMAPI_MANDELBROT_STEPS
#define TMAPI_MANDELBROT_STEPS 64
#endif
// In how many parts they are taken: z is known after each, so that only a part need be taken again
// to find the last step. A power of two.
#ifndef TMAPI_MANDELBROT_PARTS
#define TMAPI_MANDELBROT_PARTS 4
#endif
// The first steps of a pixel, and those between two tests of them, powers of two.
#ifndef TMAPI_MANDELBROT_FIRST
#define TMAPI_MANDELBROT_FIRST 64
#endif
#ifndef TMAPI_MANDELBROT_SHORT
#define TMAPI_MANDELBROT_SHORT 8
#endif
// Lanes without a pixel in progress until new ones are taken, 1 to 32; 32: all together.
#ifndef TMAPI_MANDELBROT_WAIT
#define TMAPI_MANDELBROT_WAIT 16
#endif

// Rows of a leaf, or lines between children, that a lane takes one after the other, at most, and
// how often it should do so. 15 are all of a leaf of side 16.
#ifndef TMAPI_MANDELBROT_ROWS
#define TMAPI_MANDELBROT_ROWS 15
#endif
#ifndef TMAPI_MANDELBROT_TURNS
#define TMAPI_MANDELBROT_TURNS 16
#endif

// Pixels before the first one of a column, and from one column to the next: what a region of a
// round size reads of a column, from its second row on, then begins at a multiple of 16 bytes.
#define TMAPI_MANDELBROT_ABOVE 3
TMAP_FN tmap_u32 tmapi_mandelbrot_pitch(tmap_u32 ny) {
    return (ny + TMAPI_MANDELBROT_ABOVE + 3) / 4 * 4;
}

// Bytes that the columns of borders take: 4 (ny + 3), rounded up to 16, for each column of regions
// of the last level and for one more. That is a sixteenth of the picture where these regions have a
// side of 16.
// Returns 0 for what tmap_ask_domain_make refuses.
// Example: 16384 x 16384, (16, 4, 4): 67190800.
TMAP_FN tmap_u64 tmap_mandelbrot_columns_bytes(const tmap_mandelbrot *m, tmap_ask_params a) {
    tmap_ask_domain d;
    if (!m || tmap_ask_domain_make(m->nx, m->ny, 1, 2, a, &d)) return 0;
    return (tmap_region_parts(d.g, d.r, d.levels - 1) + 1) * tmapi_mandelbrot_pitch(d.ny) *
           sizeof(int);
}

// Reads of a border that a lane has in flight.
#ifndef TMAPI_MANDELBROT_READS
#define TMAPI_MANDELBROT_READS 4
#endif

// ---- pixels that a region computes --------------------------------------------------------------

#define TMAPI_MANDELBROT_BORDER 0 // of level 0: its first lines, and the picture's last ones
#define TMAPI_MANDELBROT_SHARE  1 // the lines between its children
#define TMAPI_MANDELBROT_LEAF   2 // what lies inside its border

#if TMAP_CUDA

// A region with its border: pixels x0 to x1 and y0 to y1, both included.
typedef struct tmapi_mandelbrot_box {
    tmap_u32 x0, x1, y0, y1;
} tmapi_mandelbrot_box;

TMAP_DEVICE tmapi_mandelbrot_box tmapi_mandelbrot_closed(tmap_u32 nx, tmap_u32 ny,
                                                         const tmap_ask_region *t) {
    tmapi_mandelbrot_box b;
    b.x0 = t->x0, b.x1 = t->x1 < nx ? t->x1 : nx - 1;
    b.y0 = t->y0, b.y1 = t->y1 < ny ? t->y1 : ny - 1;
    return b;
}

// Where a pixel is kept: in the picture, or in a column of its own.
#define TMAPI_MANDELBROT_PICTURE 0xffffffffu

TMAP_DEVICE tmap_u32 tmapi_mandelbrot_border_elements(const tmap_ask_sides *s) {
    return 2 * (s->x + s->y);
}

// How many pixels an element has at most, `pixels` of them being shared out among `warps` warps:
// what it costs to find a region is paid once for TMAPI_MANDELBROT_ROWS pixels, or fewer where
// warps would come by less than TMAPI_MANDELBROT_TURNS elements for each lane.
TMAP_DEVICE tmap_u32 tmapi_mandelbrot_rows(tmap_u64 pixels, tmap_u32 warps) {
    const tmap_u64 rows = pixels / ((tmap_u64)warps * (32 * TMAPI_MANDELBROT_TURNS));
    return rows < 1 ? 1 : rows > TMAPI_MANDELBROT_ROWS ? TMAPI_MANDELBROT_ROWS : (tmap_u32)rows;
}

// The pixels of a kind of work in a region: `wide` side by side in each row (of a leaf) or line
// (between children, first the pixels of lines along x, then those of lines along y), and `parts`
// elements for those of one column, each every parts-th of its pixels, `rows` at most.
typedef struct tmapi_mandelbrot_runs {
    tmap_u32 wide, parts, rows;
} tmapi_mandelbrot_runs;

TMAP_DEVICE tmapi_mandelbrot_runs tmapi_mandelbrot_runs_make(tmap_u32 wide, tmap_u32 high,
                                                             tmap_u32 regions, tmap_u32 warps) {
    const tmap_u32 most = tmapi_mandelbrot_rows((tmap_u64)wide * high * regions, warps);
    tmapi_mandelbrot_runs a;
    a.wide = wide;
    a.parts = (high + most - 1) / most;
    a.rows = a.parts ? (high + a.parts - 1) / a.parts : 0;
    return a;
}

// kind: TMAPI_MANDELBROT_SHARE or TMAPI_MANDELBROT_LEAF. A leaf has one column at least, as its
// first one may have to be copied.
TMAP_DEVICE tmapi_mandelbrot_runs tmapi_mandelbrot_runs_of(const tmap_ask_sides *s, tmap_u32 r,
                                                           tmap_u32 regions, tmap_u32 warps,
                                                           int kind) {
    return kind == TMAPI_MANDELBROT_SHARE
               ? tmapi_mandelbrot_runs_make(s->x + s->y, r - 1, regions, warps)
               : tmapi_mandelbrot_runs_make(s->x > 1 ? s->x - 1 : 1, s->y - 1, regions, warps);
}

// The place of element i of a border of level 0, and the column that keeps it, or
// TMAPI_MANDELBROT_PICTURE; 0 if it is not to be computed.
TMAP_DEVICE int tmapi_mandelbrot_place(const tmap_ask_work *work, tmap_u32 nx, tmap_u32 ny,
                                       tmap_u32 i, tmap_xy *place, tmap_u32 *column) {
    const tmap_ask_region *t = &work->region;
    const tmapi_mandelbrot_box box = tmapi_mandelbrot_closed(nx, ny, t);
    const tmap_u32 half = work->sides.x + work->sides.y;
    const int last = i >= half; // the picture's last column and row
    *column = TMAPI_MANDELBROT_PICTURE;
    if (last) i -= half;
    if (i < work->sides.x) {
        place->x = t->x0 + i, place->y = last ? box.y1 : t->y0;
        return place->x < t->x1 && (!last || t->y1 == ny);
    }
    place->x = last ? box.x1 : t->x0, place->y = t->y0 + 1 + i - work->sides.x;
    *column = (t->px + (tmap_u32)last) * t->fine;
    return place->y < t->y1 && (!last || t->x1 == nx);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
// 1 if a workspace is for this picture and subdivision.
static inline int tmapi_mandelbrot_fits(const tmap_mandelbrot *m, tmap_ask_params a,
                                        const tmap_ask_workspace *s) {
    tmap_ask_domain d;
    if (!s || tmap_ask_domain_make(m->nx, m->ny, 1, 2, a, &d)) return 0;
    return s->domain.nx == d.nx && s->domain.ny == d.ny && s->domain.dims == 2 &&
           s->domain.g == d.g && s->domain.r == d.r && s->domain.B == d.B;
}
#endif

#if TMAP_CUDA

TMAP_FN float tmapi_mandelbrot_fma_f32(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
    return __fmaf_rn(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}
TMAP_FN double tmapi_mandelbrot_fma_f64(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
    return __fma_rn(a, b, c);
#else
    return fma(a, b, c);
#endif
}
// A product that no compiler joins with an addition.
TMAP_FN float tmapi_mandelbrot_mul_f32(float a, float b) {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
TMAP_FN double tmapi_mandelbrot_mul_f64(double a, double b) {
#if defined(__CUDA_ARCH__)
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

#define TMAPI_MANDELBROT_REAL float
#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f32
#define TMAPI_MANDELBROT_FMA  tmapi_mandelbrot_fma_f32
#define TMAPI_MANDELBROT_MUL  tmapi_mandelbrot_mul_f32
#include "mandelbrot_stamp.h"

#define TMAPI_MANDELBROT_REAL double
#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f64
#define TMAPI_MANDELBROT_FMA  tmapi_mandelbrot_fma_f64
#define TMAPI_MANDELBROT_MUL  tmapi_mandelbrot_mul_f64
#include "mandelbrot_stamp.h"

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// The dwell of pixel (x, y) on the host: bit by bit that of the kernels. m: as
// tmap_mandelbrot_check has it.
// Example: 4 x 4 pixels, dwell 100: pixel (3, 2), c = 0, 100; pixel (0, 0), c = -1.5 - i, 1.
static inline int tmap_mandelbrot_dwell_f32(const tmap_mandelbrot *m, tmap_u32 x, tmap_u32 y) {
    tmapi_mandelbrot_f32_params p = tmapi_mandelbrot_f32_make(m, 0);
    return tmapi_mandelbrot_f32_dwell(&p, x, y);
}
static inline int tmap_mandelbrot_dwell_f64(const tmap_mandelbrot *m, tmap_u32 x, tmap_u32 y) {
    tmapi_mandelbrot_f64_params p = tmapi_mandelbrot_f64_make(m, 0);
    return tmapi_mandelbrot_f64_dwell(&p, x, y);
}

// Writes the dwells of a picture, computed in float.
// approach: a tmap_mandelbrot_approach. a, driver (tmap_ask_driver) and s are for the two ASK
// approaches: the subdivision, how levels are launched, and a workspace made for nx, ny, 0 and a.
// out: nx x ny integers in device memory, row after row; a multiple of 16 bytes and an nx that is a
// multiple of 4 let uniform regions be written 16 bytes at a time.
// Returns cudaErrorInvalidValue for what tmap_mandelbrot_check or tmap_ask_domain_make refuses, an
// unknown approach or driver, a null or misaligned pointer, a workspace made for another picture or
// subdivision; nothing is launched then. cudaErrorNotSupported for a driver that is not there. Else
// the first CUDA error.
// What ASK counted, and whether a table was too small: tmap_ask_counts_read. A region that found no
// place is computed pixel by pixel.
static inline cudaError_t tmap_mandelbrot_f32(const tmap_mandelbrot *m, int approach,
                                              tmap_ask_params a, int driver,
                                              const tmap_ask_workspace *s, int *out,
                                              cudaStream_t stream) {
    return tmapi_mandelbrot_f32_launch(m, approach, a, driver, s, out, stream);
}

// The same in double.
static inline cudaError_t tmap_mandelbrot_f64(const tmap_mandelbrot *m, int approach,
                                              tmap_ask_params a, int driver,
                                              const tmap_ask_workspace *s, int *out,
                                              cudaStream_t stream) {
    return tmapi_mandelbrot_f64_launch(m, approach, a, driver, s, out, stream);
}

#endif
#endif
