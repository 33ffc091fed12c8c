// SPDX-License-Identifier: MIT
// components.h: what labels and floods are compared with: the components of a mask by union-find over
// single cells in global memory, which shares no code with what is measured. Up to 2^20 cells they are
// themselves compared with a serial fill on the host, that of the tests.
#ifndef BENCH_RASTER_COMPONENTS_H
#define BENCH_RASTER_COMPONENTS_H

#include "../../tests/raster/label_check.h"
#include "../driver.h"

#include <threadmap/raster/label.h>
#include <threadmap/raster/label3.h>

#define COMPONENTS_NONE 0xffffffffu // of a cell that is 0, and the most cells

// A mask and its components. All arrays have a place for each cell.
typedef struct components {
    tmap_label3_map map; // bytes without gaps
    tmap_u64 cells, count;
    unsigned char *mask; // 0, or the value of the cell's component
    tmap_u32 *parents;   // in the end the first cell of a cell's component
    tmap_u32 *marks;     // of labels, or what a bench keeps
} components;

#define COMPONENTS_RUN(kernel, ...) \
    do { \
        kernel<<<2048, 256>>>(__VA_ARGS__); \
        CHECK(cudaGetLastError()); \
    } while (0)

// 1 for neighbours of the cells of images.
TMAP_FN int components_flat(int neighbours) { return neighbours == 4 || neighbours == 8; }

// Memory of kit.h for a mask of this shape.
static components components_alloc(tmap_u64 width, tmap_u64 height, tmap_u64 depth,
                                   int neighbours) {
    const tmap_label3_map map = {
        width, height, depth, width, width * height, 0, 0, TMAP_LABEL3_BYTES, neighbours};
    components c;
    c.map = map, c.cells = width * height * depth, c.count = 0;
    c.mask = (unsigned char *)kit_device(c.cells);
    c.parents = (tmap_u32 *)kit_device(c.cells * sizeof *c.parents);
    c.marks = (tmap_u32 *)kit_device(c.cells * sizeof *c.marks);
    return c;
}

// ---- union-find ---------------------------------------------------------------------------------

TMAP_DEVICE tmap_u32 components_root(tmap_u32 *parents, tmap_u32 cell) {
    volatile tmap_u32 *p = parents;
    for (;;) {
        const tmap_u32 up = p[cell], upper = p[up];
        if (up == upper) return up;
        p[cell] = upper, cell = upper;
    }
}
static __global__ void components_runs(components c) {
    BENCH_EACH(i, c.cells) {
        const tmap_u64 x = i % c.map.width;
        tmap_u32 back = 0;
        while (c.mask[i] && back < x && back < 64 && c.mask[i - back - 1] == c.mask[i]) ++back;
        c.parents[i] = c.mask[i] ? (tmap_u32)i - back : COMPONENTS_NONE;
    }
}
// Unites a cell with its neighbours of smaller numbers, unless the cells to the left of both do so.
static __global__ void components_link(components c) {
    const tmap_i64 w = (tmap_i64)c.map.width, h = (tmap_i64)c.map.height;
    const tmap_i64 d = (tmap_i64)c.map.depth;
    const int n = c.map.neighbours & 0xff, around = c.map.neighbours >> 8;
    const int flat = components_flat(n);
    const int most = n == 4 || n == 6 ? 1 : n == 26 ? 3 : 2; // axes along which they differ
    BENCH_EACH(i, c.cells) {
        const tmap_i64 x = (tmap_i64)i % w, y = (tmap_i64)i / w % h, z = (tmap_i64)i / w / h;
        if (!c.mask[i]) continue;
        for (int k = flat ? 9 : 0; k < 13; ++k) {
            const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
            const tmap_i64 nx = around & 1 ? (x + dx + w) % w : x + dx;
            const tmap_i64 ny = around & 2 ? (y + dy + h) % h : y + dy;
            const tmap_i64 nz = around & 4 ? (z + dz + d) % d : z + dz;
            const tmap_u64 to = (tmap_u64)((nz * h + ny) * w + nx);
            tmap_u32 a = (tmap_u32)i, b = (tmap_u32)to;
            if (abs(dx) + abs(dy) + abs(dz) > most || nx < 0 || nx >= w || ny < 0 || ny >= h ||
                nz < 0 || c.mask[to] != c.mask[i])
                continue;
            if (k != 12 && x > 0 && nx > 0 && c.mask[i - 1] == c.mask[i] &&
                c.mask[to - 1] == c.mask[i])
                continue;
            for (;;) {
                tmap_u32 high;
                a = components_root(c.parents, a), b = components_root(c.parents, b);
                if (a == b) break;
                high = a > b ? a : b, b = a > b ? b : a, a = high;
                if (atomicCAS(c.parents + a, a, b) == a) break;
            }
        }
    }
}
static __global__ void components_flatten(components c, tmap_u64 *count) {
    volatile tmap_u32 *p = c.parents;
    tmap_u64 roots = 0;
    BENCH_EACH(i,
               c.cells) { // without shorter paths, which could put an old parent in place of a root
        tmap_u32 root = (tmap_u32)i;
        if (!c.mask[i]) continue;
        while (p[root] != root) root = p[root];
        p[i] = root, roots += root == i;
    }
    if (roots) atomicAdd(count, roots);
}

// Finds the components of the mask.
static void components_find(components *c) {
    COMPONENTS_RUN(components_runs, *c);
    COMPONENTS_RUN(components_link, *c);
    COMPONENTS_RUN(components_flatten, *c, bench_counter());
    c->count = bench_count();
}

// The program ends where those of a small mask are not those of a serial fill.
static void components_verify(const components *c) {
    const int mark = kit_mark(), flat = components_flat(c->map.neighbours);
    const tmap_u64 slice = c->map.width * c->map.height;
    const unsigned char *mask;
    const tmap_u32 *parents;
    tmap_u64 *first, wrong = 0;
    double *values;
    if (c->cells > 1 << 20) return;
    mask = (const unsigned char *)kit_to_host(c->mask, c->cells);
    parents = (const tmap_u32 *)kit_to_host(c->parents, c->cells * 4);
    values = (double *)kit_host(c->cells * sizeof *values);
    first = (tmap_u64 *)kit_host((flat ? c->map.depth : 1) * sizeof *first);
    for (tmap_u64 i = 0; i < c->cells; ++i) values[i] = mask[i] ? mask[i] : (double)NAN;
    const label_cells cells = {c->map.width, c->map.height, c->map.depth, c->map.neighbours,
                               values};
    const label_truth t = label_truth_of(&cells);
    for (tmap_u64 part = 0, sum = 0; part < t.parts; sum += t.counts[part++]) first[part] = sum;
    for (tmap_u64 i = 0; i < c->cells; ++i)
        wrong += mask[i]
                     ? parents[i] != t.shapes[first[flat ? i / slice : 0] + t.labels[i] - 1].first
                     : parents[i] != COMPONENTS_NONE || t.labels[i] != 0;
    kit_release(mark);
    if (!wrong) return;
    fflush(stdout);
    fprintf(stderr, "%llu x %llu x %llu, %d neighbours: the components are WRONG in %llu cells\n",
            c->map.width, c->map.height, c->map.depth, c->map.neighbours, wrong);
    exit(1);
}

// ---- comparisons --------------------------------------------------------------------------------

// Labels: that of a cell is that of its component's first cell; first cells mark their labels, from
// the image's first cell on.
static __global__ void components_labels(components c, tmap_u64 part, const int *labels,
                                         tmap_u64 *count) {
    tmap_u64 wrong = 0;
    BENCH_EACH(i, c.cells) {
        const int label = labels[i];
        if (!c.mask[i])
            wrong += label != 0;
        else if (label < 1 || (tmap_u64)label > part || label != labels[c.parents[i]])
            ++wrong;
        else if (c.parents[i] == (tmap_u32)i)
            wrong +=
                atomicExch(c.marks + i / part * part + label - 1, (tmap_u32)i) != COMPONENTS_NONE;
    }
    if (wrong) atomicAdd(count, wrong);
}
// Marks of labels 1, 2, ... are first cells in their order; then there are none.
static __global__ void components_order(components c, tmap_u64 part, tmap_u64 *count) {
    tmap_u64 wrong = 0;
    BENCH_EACH(i, c.cells)
    wrong += i % part && c.marks[i] != COMPONENTS_NONE &&
             (c.marks[i - 1] == COMPONENTS_NONE || c.marks[i - 1] >= c.marks[i]);
    if (wrong) atomicAdd(count, wrong);
}

// How many cells of labels, and of their order, are wrong.
static tmap_u64 components_wrong(const components *c, const int *labels) {
    const tmap_u64 slice = c->map.width * c->map.height;
    const tmap_u64 part = components_flat(c->map.neighbours) ? slice : c->cells;
    tmap_u64 *count = bench_counter();
    CHECK(cudaMemset(c->marks, 0xff, (size_t)c->cells * sizeof *c->marks));
    COMPONENTS_RUN(components_labels, *c, part, labels, count);
    COMPONENTS_RUN(components_order, *c, part, count);
    return bench_count();
}

// The same for labels with gaps, on the host: those of first cells ascend.
static inline tmap_u64 components_wrong_gaps(const components *c, const int *labels) {
    const int mark = kit_mark();
    const int *label = (const int *)kit_to_host(labels, c->cells * sizeof *labels);
    const tmap_u32 *first = (const tmap_u32 *)kit_to_host(c->parents, c->cells * sizeof *first);
    tmap_u64 wrong = 0;
    int last = 0;
    for (tmap_u64 i = 0; i < c->cells; ++i)
        if (first[i] == (tmap_u32)i)
            wrong += label[i] <= last, last = label[i];
        else
            wrong += label[i] != (first[i] == COMPONENTS_NONE ? 0 : label[first[i]]);
    kit_release(mark);
    return wrong;
}

#endif
