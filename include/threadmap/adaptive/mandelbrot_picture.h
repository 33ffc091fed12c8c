// SPDX-License-Identifier: MIT
// mandelbrot_picture.h: the picture that mandelbrot.h and mandelbrot_f64.h compute, the memory of
// its subdivision, and which pixels a region computes; the same for both types of numbers.
#ifndef TMAP_ADAPTIVE_MANDELBROT_PICTURE_H
#define TMAP_ADAPTIVE_MANDELBROT_PICTURE_H

#include "ask.h"
#include "ask_plan.h"

// ---- fill ---------------------------------------------------------------------------------------
//
// One value for all pixels of a rectangle of a picture, by a team of threads.

#if TMAP_CUDA

// The scratch that tmap_fill_i32 wants for each warp, in bytes.
#define TMAP_FILL_SCRATCH 2048

// Rows of at least so many vectors of 16 bytes are written by asynchronous copies from shared
// memory, so many vectors by each at most (compute capability 9.0 or more).
#define TMAPI_FILL_BULK_LEAST 16
#define TMAPI_FILL_BULK_MOST  (TMAP_FILL_SCRATCH / 16)

// The thread's part in writing `count` columns of `height` rows, of one pixel, or of four where
// `wide`, a constant: as many threads as fit into a row side by side, several rows at a time.
TMAP_DEVICE void tmapi_fill_columns(int *corner, tmap_u64 step, tmap_u32 count, tmap_u32 height,
                                    int value, tmap_u32 rank, tmap_u32 size, const int wide) {
    const tmap_u32 side = count < size ? count : size, rows = size / side;
    const tmap_u32 row = rank / side, first = rank - row * side;
    if (row >= rows) return;
    for (tmap_u32 x = first; x < count; x += side) {
        int *at = corner + step * row + (wide ? 4 : 1) * x;
        for (tmap_u32 y = row; y < height; y += rows, at += step * rows) {
            if (wide)
                *(int4 *)at = make_int4(value, value, value, value);
            else
                *at = value;
        }
    }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// The same for vectors, without their passing through registers: a lane writes a row, or a part of
// one, by one instruction, and the threads that compute keep their way to memory. All warps of the
// team are full ones.
TMAP_DEVICE void tmapi_fill_bulk(int *corner, tmap_u64 step, tmap_u32 count, tmap_u32 height,
                                 int value, tmap_ask_team team) {
    const tmap_u32 lane = team.rank % 32, warps = team.size / 32;
    const tmap_u32 parts = (count + TMAPI_FILL_BULK_MOST - 1) / TMAPI_FILL_BULK_MOST; // of a row
    const tmap_u32 all = height * parts, each = (all + warps - 1) / warps;
    const tmap_u32 first = team.rank / 32 * each, end = first + each < all ? first + each : all;
    int4 *buffer = (int4 *)team.scratch;
    const tmap_u32 from = (tmap_u32)__cvta_generic_to_shared(buffer);
    if (first >= end) return;
    for (tmap_u32 i = lane; i < TMAPI_FILL_BULK_MOST && i < count; i += 32)
        buffer[i] = make_int4(value, value, value, value);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    for (tmap_u32 i = first + lane; i < end; i += 32) {
        const tmap_u32 row = parts == 1 ? i : i / parts,
                       x = (i - row * parts) * TMAPI_FILL_BULK_MOST;
        const tmap_u32 here = count - x < TMAPI_FILL_BULK_MOST ? count - x : TMAPI_FILL_BULK_MOST;
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                         __cvta_generic_to_global((int4 *)(corner + step * row) + x)),
                     "r"(from), "r"(here * 16)
                     : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncwarp(); // the buffer is free again
}
#endif

// The calling thread's part in writing `value` to the pixels [x0, x1) x [y0, y1) of a region in a
// picture with nx columns, row after row; 16 bytes at a time where `out` is at a multiple of 16
// bytes and nx a multiple of 4. team: full warps, which call it together, or lanes of one warp;
// team.scratch has TMAP_FILL_SCRATCH bytes.
TMAP_DEVICE void tmap_fill_i32(int *out, tmap_u32 nx, const tmap_ask_region *region, int value,
                               tmap_ask_team team) {
    const tmap_u32 width = region->x1 - region->x0, height = region->y1 - region->y0;
    const int wide = nx % 4 == 0 && (tmap_u64)out % 16 == 0;
    const tmap_u64 step = nx;
    tmap_u32 head = wide ? (0 - region->x0) & 3u : width, vectors, tail;
    int *corner = out + (tmap_u64)region->y0 * nx + region->x0;
    if (head > width) head = width;
    vectors = (width - head) / 4;
    tail = width - head - 4 * vectors;
    if (vectors) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if (vectors >= TMAPI_FILL_BULK_LEAST && team.size % 32 == 0)
            tmapi_fill_bulk(corner + head, step, vectors, height, value, team);
        else
#endif
            tmapi_fill_columns(corner + head, step, vectors, height, value, team.rank, team.size,
                               1);
    }
    if (head) tmapi_fill_columns(corner, step, head, height, value, team.rank, team.size, 0);
    if (tail)
        tmapi_fill_columns(corner + width - tail, step, tail, height, value, team.rank, team.size,
                           0);
}

#endif // TMAP_CUDA

// ---- mandelbrot picture -------------------------------------------------------------------------

// Options, a bit each. BULBS: points of the main cardioid and of the disc of period 2 are told by a
// formula.
#define TMAP_MANDELBROT_BULBS 1u

// A picture.
typedef struct tmap_mandelbrot {
    tmap_u32 nx, ny;       // pixels: 1 to 2^24 along each axis
    double x0, x1, y0, y1; // window: pixel (x, y) is c = (x0 + (x1 - x0) / nx x, y0 + ...)
    tmap_u32 dwell;        // most steps, 1 to 2^30
    tmap_u32 options;
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
    return m;
}

// Returns TMAP_OK, or TMAP_EINVAL: a null pointer, a number outside its range above, a window whose
// sides are not positive and finite, an unknown option.
TMAP_FN int tmap_mandelbrot_check(const tmap_mandelbrot *m) {
    const tmap_u32 most = 1u << 24;
    if (!m || m->nx - 1 >= most || m->ny - 1 >= most) return TMAP_EINVAL;
    if (m->dwell - 1 >= 1u << 30) return TMAP_EINVAL;
    if (m->options > TMAP_MANDELBROT_BULBS) return TMAP_EINVAL;
    if (!(m->x0 < m->x1) || !(m->y0 < m->y1)) return TMAP_EINVAL; // NaN is not less either
    if (!(m->x1 - m->x0 < 1e300) || !(m->y1 - m->y0 < 1e300)) return TMAP_EINVAL;
    return TMAP_OK;
}

// ---- the workspace ------------------------------------------------------------------------------
//
// A column of pixels in a picture takes a row of memory for each, so the columns of borders have
// memory of their own in the rest of the workspace. They stand in the picture, which is slower,
// where the workspace is one of tmap_ask_workspace_create, without a rest, and where there are more
// regions side by side than pixels.

// Pixels before the first one of a column, and from one column to the next: what a region of a
// round size reads of a column, from its second row on, then begins at a multiple of 16 bytes.
#define TMAPI_MANDELBROT_ABOVE 3
TMAP_FN tmap_u32 tmapi_mandelbrot_pitch(tmap_u32 ny) {
    return (ny + TMAPI_MANDELBROT_ABOVE + 3) / 4 * 4;
}

// Bytes of the columns: 4 (ny + 3), rounded up to 16, for each column of regions of the last level
// and for one more. 0: they stand in the picture.
TMAP_FN tmap_u64 tmapi_mandelbrot_columns(const tmap_ask_domain *d) {
    const tmap_u64 parts = tmap_region_parts(d->g, d->r, d->levels - 1);
    return parts > d->nx ? 0 : (parts + 1) * tmapi_mandelbrot_pitch(d->ny) * sizeof(int);
}

// The bytes of device memory that a workspace for this picture takes: those of
// tmap_ask_workspace_bytes and the columns of borders, which are a sixteenth of the picture where
// regions of the last level have a side of 16. a, capacity: as there; a = (0, 0, 0) is memory for
// whatever the plan chooses. The function returns 0 for
// what tmap_mandelbrot_check or tmap_ask_domain_make refuses.
// Example: 16384 x 16384, (16, 4, 4), capacity 0: 89212688.
TMAP_FN tmap_u64 tmap_mandelbrot_workspace_bytes(const tmap_mandelbrot *m, tmap_ask_params a,
                                                 tmap_u64 capacity) {
    tmap_ask_domain d;
    if (tmap_mandelbrot_check(m) || tmap_ask_domain_make(m->nx, m->ny, 0, 2, a, &d)) return 0;
    return tmap_ask_workspace_bytes(m->nx, m->ny, 0, a, capacity) + tmapi_mandelbrot_columns(&d);
}

// Makes a workspace in memory of the caller's, at a multiple of 256: tmap_ask_workspace_set. Too
// few bytes, as for a finer subdivision than the one they were counted for, are refused with
// TMAP_EINVAL.
TMAP_FN int tmap_mandelbrot_workspace_set(const tmap_mandelbrot *m, tmap_ask_params a,
                                          tmap_u64 capacity, void *memory, tmap_u64 bytes,
                                          tmap_ask_workspace *out) {
    const tmap_u64 need = tmap_mandelbrot_workspace_bytes(m, a, capacity);
    int error = tmap_mandelbrot_check(m);
    if (error) return error;
    if (need && bytes < need) return TMAP_EINVAL;
    return tmap_ask_workspace_set(m->nx, m->ny, 0, a, capacity, memory, bytes, out);
}

#if TMAP_CUDA && !TMAP_NVRTC
// Makes a workspace in memory that is allocated here; tmap_ask_workspace_destroy frees it. The
// function returns cudaErrorInvalidValue for what is refused, else what cudaMalloc returns.
static inline cudaError_t tmap_mandelbrot_workspace_create(const tmap_mandelbrot *m,
                                                           tmap_ask_params a, tmap_u64 capacity,
                                                           tmap_ask_workspace *out) {
    const tmap_u64 bytes = tmap_mandelbrot_workspace_bytes(m, a, capacity);
    void *memory = 0;
    cudaError_t status;
    int error;
    if (!out || !bytes) return cudaErrorInvalidValue;
    if ((status = cudaMalloc(&memory, bytes)) != cudaSuccess) return status;
    error = tmap_mandelbrot_workspace_set(m, a, capacity, memory, bytes, out);
    if (error) cudaFree(memory);
    return tmapi_ask_error(error);
}
#endif

// ---- pixels that a region computes --------------------------------------------------------------

#if TMAP_CUDA

// Kinds of work: the lines between a region's children, for the whole domain also its first and
// last lines; and what lies inside a leaf's border.
#define TMAPI_MANDELBROT_SHARE 0
#define TMAPI_MANDELBROT_LEAF  1

// How many pixels of a leaf's column, or lines between children, a lane takes one after the other
// at most: 15 are all of a leaf of side 16. It takes fewer where it would do so less than TURNS
// times.
#define TMAPI_MANDELBROT_ROWS  15
#define TMAPI_MANDELBROT_TURNS 16

// The scratch of a warp: 64 pixels that wait, or the rows of a uniform region.
#define TMAPI_MANDELBROT_SCRATCH TMAP_FILL_SCRATCH

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

// The column of a pixel that is kept in the picture.
#define TMAPI_MANDELBROT_PICTURE 0xffffffffu

// The pixels of a kind of work in a region: `wide` side by side in each row (of a leaf) or line
// (between children, first the pixels of lines along x, then those of lines along y), and `parts`
// elements for those of one column, each every parts-th of its pixels, `rows` at most: what it
// costs to find a region is paid once for them.
typedef struct tmapi_mandelbrot_runs {
    tmap_u32 wide, parts, rows;
} tmapi_mandelbrot_runs;

// kind: a constant. A leaf has one column at least, as its first one may have to be copied.
TMAP_DEVICE tmapi_mandelbrot_runs tmapi_mandelbrot_runs_of(const tmap_ask_extent *e, int kind) {
    const tmap_ask_sides *s = &e->sides;
    // The whole domain has its first and its last line, too.
    const tmap_u32 lines = e->level == TMAP_ASK_WHOLE ? e->parts + 1 : e->parts - 1;
    const tmap_u32 wide = kind == TMAPI_MANDELBROT_SHARE ? s->x + s->y : s->x > 1 ? s->x - 1 : 1;
    const tmap_u32 high = kind == TMAPI_MANDELBROT_SHARE ? lines : s->y - 1;
    const tmap_u64 rows =
        (tmap_u64)wide * high * e->regions / ((tmap_u64)e->warps * (32 * TMAPI_MANDELBROT_TURNS));
    const tmap_u32 most = rows < 1                       ? 1
                          : rows > TMAPI_MANDELBROT_ROWS ? TMAPI_MANDELBROT_ROWS
                                                         : (tmap_u32)rows;
    tmapi_mandelbrot_runs a;
    a.wide = wide;
    a.parts = (high + most - 1) / most;
    if (a.parts > 0x7fffffffu / wide) a.parts = 0x7fffffffu / wide;
    a.rows = a.parts ? (high + a.parts - 1) / a.parts : 0;
    return a;
}

#endif // TMAP_CUDA

#endif
