// SPDX-License-Identifier: MIT
// compact_check.h: how bench_compact verifies: windows of the fractal whose steps the host takes
// place by place, at every level; and for life every cell, against the bounding box, where that
// fits; and the sectors of memory that a step has to move.
#ifndef BENCH_FRACTAL_COMPACT_CHECK_H
#define BENCH_FRACTAL_COMPACT_CHECK_H

#include "compact_job.h"

// A window: what lies further from its border than the steps that were taken hangs on nothing
// outside of it.
#define WINDOW 104u
enum { WINDOWS = 8, STEPS = 20 };

// The windows of one task and level, and what their cells are after STEPS steps; made once for all
// forms. number, x, y, want: of each cell that is known; `count` of them.
typedef struct windows {
    tmap_u64 *number, *x, *y, *want;
    tmap_u64 count;
} windows;

typedef struct window {
    tmap_u64 x0, y0, width, height; // of its first place; of the fractal
    tmap_u32 w, h;
    unsigned char *cell;
    tmap_u64 *number, *now, *next;
} window;

static inline void *bench_memory(tmap_u64 bytes) {
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

// One axis of a window around place `at`.
static inline tmap_u64 window_begin(tmap_u64 at, tmap_u64 side, tmap_u32 window) {
    const tmap_u64 begin = at < window / 2 ? 0 : at - window / 2;
    return begin + window > side ? side - window : begin;
}

static inline void window_step(window *w, int task, int t) {
    tmap_u64 *old = w->now;
    for (tmap_u32 y = 0; y < w->h; ++y)
        for (tmap_u32 x = 0; x < w->w; ++x) {
            const tmap_u32 at = y * w->w + x;
            tmap_u64 nine[9];
            tmap_u32 around = 0;
            if (!w->cell[at]) continue;
            for (tmap_u32 i = 0; i < 9; ++i) {
                const tmap_u32 u = x + i % 3 - 1, v = y + i / 3 - 1;
                const int is = u < w->w && v < w->h && w->cell[v * w->w + u];
                nine[i] = is ? w->now[v * w->w + u] : 0;
                around |= (tmap_u32)is << i;
            }
            w->next[at] = host_next(task, nine, around, w->number[at], w->x0 + x, w->y0 + y, t);
        }
    w->now = w->next, w->next = old;
}

// The values after STEPS steps in the window around cell (x, y).
static inline void window_run(windows *all, const layout *l, tmap_u64 x, tmap_u64 y) {
    window w;
    w.width = l->width, w.height = tmap_nbb_side_y(l->f, l->r);
    w.w = w.width < WINDOW ? (tmap_u32)w.width : WINDOW;
    w.h = w.height < WINDOW ? (tmap_u32)w.height : WINDOW;
    w.x0 = window_begin(x, w.width, w.w), w.y0 = window_begin(y, w.height, w.h);
    w.cell = (unsigned char *)bench_memory(w.w * w.h);
    w.number = (tmap_u64 *)bench_memory(3 * sizeof *w.number * w.w * w.h);
    w.now = w.number + w.w * w.h, w.next = w.now + w.w * w.h;
    for (tmap_u32 i = 0; i < w.w * w.h; ++i) {
        const tmap_u64 u = w.x0 + i % w.w, v = w.y0 + i / w.w;
        w.cell[i] = tmap_nbb_contains64(l->f, u, v, l->r) != 0;
        w.number[i] = w.cell[i] ? tmap_nbb_nu_linear64(l->f, u, v, l->r) : 0;
        w.now[i] = w.cell[i] ? start_value(l->task, l->words, w.number[i]) : 0;
    }
    for (int t = 0; t < STEPS; ++t) window_step(&w, l->task, t);
    for (tmap_u32 i = 0; i < w.w * w.h; ++i) {
        const tmap_u32 u = i % w.w, v = i / w.w;
        const int known = (w.x0 == 0 || u >= STEPS) && (w.y0 == 0 || v >= STEPS) &&
                          (w.x0 + w.w == w.width || u + STEPS < w.w) &&
                          (w.y0 + w.h == w.height || v + STEPS < w.h);
        if (!known || !w.cell[i]) continue;
        all->number[all->count] = w.number[i], all->want[all->count] = w.now[i];
        all->x[all->count] = w.x0 + u, all->y[all->count++] = w.y0 + v;
    }
    free(w.cell), free(w.number);
}

// Windows around the first and the last cell, some at the ends of sheets of bits, the others
// anywhere.
static inline windows windows_make(const layout *l) {
    windows all;
    all.number = (tmap_u64 *)bench_memory(4 * sizeof *all.number * WINDOWS * WINDOW * WINDOW);
    all.x = all.number + WINDOWS * WINDOW * WINDOW, all.y = all.x + WINDOWS * WINDOW * WINDOW;
    all.want = all.y + WINDOWS * WINDOW * WINDOW, all.count = 0;
    for (tmap_u32 n = 0; n < WINDOWS; ++n) {
        const tmap_u64 sheet = check_hash(n, l->r) % l->word.cells, anywhere = check_hash(n, 77);
        const tmap_u64 i = n == 0   ? 0
                           : n == 1 ? l->cells - 1
                           : n < 4  ? sheet * l->words
                           : n < 6  ? (sheet + 1) * l->words - 1
                                    : anywhere % l->cells;
        const tmap_xy64 p = tmap_nbb_lambda_linear64(l->f, i, l->r);
        window_run(&all, l, p.x, p.y);
    }
    return all;
}

static inline void windows_free(windows *w) {
    free(w->number);
    w->number = NULL;
}

// ---- what a job made ----------------------------------------------------------------------------

// places: of `count` cells; each becomes the value that the state has there.
static __global__ void check_gather(layout l, const void *state, tmap_u64 count, tmap_u64 *places) {
    EACH_OF(i, count) places[i] = layout_value(&l, state, places[i]);
}

// The number of cells of windows that the job has otherwise after STEPS steps from its start.
static inline tmap_u64 job_check_windows(const compact_job *j, const windows *w) {
    tmap_u64 *places = (tmap_u64 *)bench_memory(w->count * sizeof *places), *device, wrong = 0;
    for (tmap_u64 i = 0; i < w->count; ++i)
        places[i] = layout_place(&j->at, w->number[i], w->x[i], w->y[i]);
    CHECK(cudaMalloc((void **)&device, w->count * sizeof *device));
    CHECK(cudaMemcpy(device, places, w->count * sizeof *device, cudaMemcpyHostToDevice));
    check_gather<<<grid_of(w->count), 256>>>(j->at, j->a, w->count, device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(places, device, w->count * sizeof *device, cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0; i < w->count; ++i) wrong += places[i] != w->want[i];
    CHECK(cudaFree(device));
    free(places);
    return wrong;
}

// Adds the cells of which two states have not the same.
static __global__ void check_same(layout l, const void *state, layout m, const void *truth,
                                  tmap_u64 *counter) {
    tmap_u64 mine = 0;
    EACH_OF(i, l.cells) {
        const tmap_xy64 p = tmap_nbb_lambda_linear64(l.f, i, l.r);
        mine += layout_value(&l, state, layout_place(&l, i, p.x, p.y)) !=
                layout_value(&m, truth, layout_place(&m, i, p.x, p.y));
    }
    if (mine) atomicAdd(counter, mine);
}

static inline tmap_u64 fetch_u64(const void *device) {
    tmap_u64 value;
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static inline tmap_u64 job_check_same(const compact_job *j, const layout *m, const void *truth,
                                      tmap_u64 *counter) {
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    check_same<<<grid_of(j->at.cells), 256>>>(j->at, j->a, *m, truth, counter);
    CHECK(cudaGetLastError());
    return fetch_u64(counter);
}

// ---- the bytes of a step ------------------------------------------------------------------------

// 1 if there may be a cell among `per` places from (x, y) on, or beside them: by tiles.
TMAP_DEVICE int granule_may(const layout *l, tmap_u64 x, tmap_u64 y, tmap_u32 per) {
    const tmap_box_bits *b = &l->box;
    const tmap_u64 first = (x ? x - 1 : 0) / b->tile_width, last = (x + per) / b->tile_width;
    const tmap_u64 top = (y ? y - 1 : 0) / b->tile_height, low = (y + 1) / b->tile_height;
    for (tmap_u64 v = top; v <= low; ++v)
        for (tmap_u64 u = first; u <= last; ++u)
            if (tmapi_box_contains(l->f, (tmap_u32)u, (tmap_u32)v, l->r - b->tile_level)) return 1;
    return 0;
}

// Adds the granules of `per` places of a matrix, `width` wide, that hold a cell or, with reach 1, a
// neighbour of one.
static __global__ void count_granules(layout l, tmap_u64 width, tmap_u64 height, tmap_u32 per,
                                      int reach, tmap_u64 *count) {
    const tmap_u64 all = (width * height + per - 1) / per;
    tmap_u64 mine = 0;
    EACH_OF(g, all) {
        tmap_u64 y = g * per / width, x = g * per - y * width;
        const int may = x + per > width || granule_may(&l, x, y, per);
        int touched = 0;
        for (tmap_u32 i = 0; may && i < per && y < height && !touched; ++i) {
            for (int n = 0; n < 9 && !touched; ++n) {
                const tmap_u64 u = x + (tmap_u64)(n % 3) - 1, v = y + (tmap_u64)(n / 3) - 1;
                if (!reach && n != 4) continue;
                touched = u < l.width && v < height &&
                          tmapi_box_contains(l.f, (tmap_u32)u, (tmap_u32)v, l.r);
            }
            if (++x == width) x = 0, ++y;
        }
        mine += (tmap_u64)touched;
    }
    if (mine) atomicAdd(count, mine);
}

static inline double granules(const layout *l, tmap_u32 bytes, int reach, tmap_u64 *counter) {
    const int bits = l->form == BB_BITS;
    const tmap_u64 width = bits ? (tmap_u64)l->box.pitch * l->box.places : l->width;
    const tmap_u32 per = bits ? bytes / 4 * l->box.places : bytes / l->size;
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    count_granules<<<grid_of(layout_bytes(l) / bytes), 256>>>(
        *l, width, tmap_nbb_side_y(l->f, l->r), per, reach, counter);
    CHECK(cudaGetLastError());
    return (double)bytes * (double)fetch_u64(counter);
}

// The bytes that a step has to move at least: of compact storage both states; of a matrix the
// granules of 64 bytes to read, of bits those of 32, and the sectors of 32 bytes to write.
static inline double layout_moved(const layout *l, tmap_u64 *counter) {
    double bytes;
    if (l->form == COMPACT || l->form == COMPACT_BITS) return 2 * (double)layout_bytes(l);
    bytes = granules(l, l->form == BB_BITS ? 32 : 64, 1, counter);
    return bytes + granules(l, 32, 0, counter);
}

#endif
