// SPDX-License-Identifier: MIT
// label_check.h: components and their shapes by the definition, a serial flood fill; and calls of
// labellers, whose labels, counts and shapes are compared with these, cell by cell.
#ifndef TESTS_RASTER_LABEL_CHECK_H
#define TESTS_RASTER_LABEL_CHECK_H

#include "../kit.h"
#include <threadmap/raster/label_measure.h>

// Cells as numbers, slice by slice and row by row: neighbours with equal numbers are of one component,
// NaN is of none. neighbours: 4 or 8: slices are images; 6, 18, 26, with bits of periodic axes x, y, z
// from bit 8 on.
typedef struct label_cells {
    tmap_u64 width, height, depth;
    int neighbours;
    const double *values;
} label_cells;

// What the definition says. counts: of the volume, or of each image; shapes: those of image 0 first.
typedef struct label_truth {
    tmap_u64 *labels, *counts, parts, most;
    tmap_label_shape *shapes;
} label_truth;

// A call of a labeller: what it reads, on the host; the labels that it writes, and the most of a part
// that it is ready for; its workspace; and the call. again: it is called twice, the second time with
// what the first has left in the workspace. gaps: labels ascend with those of the definition, and
// nothing is counted or measured.
typedef struct label_call {
    const void *cells;
    tmap_u64 bytes, most, workspace;
    tmap_label_array array;
    const void *plan;
    cudaError_t (*run)(const void *plan, const void *cells, void *workspace, void *labels,
                       tmap_u64 *count);
    int again, gaps;
} label_call;

[[maybe_unused]] static tmap_u64 label_random = 1; // of the cases

static inline tmap_u32 label_hash(tmap_u64 x) { return (tmap_u32)check_hash(x, 1); }

static label_truth label_truth_of(const label_cells *c) {
    const tmap_i64 w = (tmap_i64)c->width, h = (tmap_i64)c->height, d = (tmap_i64)c->depth;
    const tmap_u64 cells = c->width * c->height * c->depth;
    const int n = c->neighbours & 0xff, around = c->neighbours >> 8, images = n == 4 || n == 8;
    const int axes = n == 4 || n == 6 ? 1 : n == 8 || n == 18 ? 2 : 3; // that differ
    tmap_u64 *stack = (tmap_u64 *)kit_host(cells * 8);
    label_truth t;
    tmap_label_shape *s;
    t.parts = images ? c->depth : 1, t.most = 0;
    t.labels = (tmap_u64 *)kit_zeroed(cells * 8), t.counts = (tmap_u64 *)kit_zeroed(t.parts * 8);
    s = t.shapes = (tmap_label_shape *)kit_host(cells * sizeof *s);
    for (tmap_i64 first = 0; first < (tmap_i64)cells; ++first) {
        const tmap_u32 fx = (tmap_u32)(first % w), fy = (tmap_u32)(first / w % h);
        const tmap_u32 fz = (tmap_u32)(first / w / h);
        const double value = c->values[first];
        tmap_u64 depth = 1, label;
        if (t.labels[first] || value != value) continue;
        label = ++t.counts[images ? fz : 0];
        if (label > t.most) t.most = label;
        s->area = 0, s->first = (tmap_u64)first, s->left = s->right = fx;
        s->top = s->bottom = fy, s->front = s->back = fz;
        stack[0] = (tmap_u64)first, t.labels[first] = label;
        while (depth) {
            const tmap_i64 at = (tmap_i64)stack[--depth];
            const tmap_i64 x = at % w, y = at / w % h, z = at / w / h;
            ++s->area;
            if (x < s->left) s->left = (tmap_u32)x;
            if (x > s->right) s->right = (tmap_u32)x;
            if (y < s->top) s->top = (tmap_u32)y;
            if (y > s->bottom) s->bottom = (tmap_u32)y;
            if (z > s->back) s->back = (tmap_u32)z;
            for (int k = images ? 9 : 0; k < (images ? 18 : 27); ++k) {
                const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
                const tmap_i64 nx = around & 1 ? (x + dx + w) % w : x + dx;
                const tmap_i64 ny = around & 2 ? (y + dy + h) % h : y + dy;
                const tmap_i64 nz = around & 4 ? (z + dz + d) % d : z + dz;
                const tmap_i64 to = (nz * h + ny) * w + nx;
                if (abs(dx) + abs(dy) + abs(dz) > axes || nx < 0 || ny < 0 || nz < 0 || nx >= w ||
                    ny >= h || nz >= d || t.labels[to] || c->values[to] != value)
                    continue;
                t.labels[to] = label, stack[depth++] = (tmap_u64)to;
            }
        }
        ++s;
    }
    return t;
}

// Shapes of labels 1 to `components`, of each image; those beyond are left out.
static inline void label_check_shapes(const label_call *call, const void *labels,
                                      const label_truth *t, tmap_u64 components) {
    const tmap_u64 bytes = t->parts * components * sizeof(tmap_label_shape);
    tmap_label_shape *on_device = (tmap_label_shape *)kit_guarded(bytes), *shapes;
    const tmap_label_shape *truth = t->shapes;
    int wrong = 0, none = 0;
    CHECK(tmap_label_measure(&call->array, labels, components, on_device, 0));
    shapes = (tmap_label_shape *)kit_to_host(on_device, bytes);
    for (tmap_u64 part = 0; part < t->parts; truth += t->counts[part++])
        for (tmap_u64 i = 0; i < components; ++i) {
            const tmap_label_shape *s = shapes + part * components + i;
            if (i < t->counts[part])
                wrong += memcmp(s, truth + i, sizeof *s) != 0;
            else
                none += s->area != 0;
        }
    expect(wrong == 0, "shapes");
    expect(none == 0, "shapes of no component");
}

static inline void label_check(const label_cells *c, const label_call *call) {
    const int mark = kit_mark(), wide = call->array.form == TMAP_LABEL_INT64;
    const label_truth t = label_truth_of(c);
    const tmap_u64 cells = c->width * c->height * c->depth, size = wide ? 8 : 4;
    void *in = kit_to_device(call->cells, call->bytes), *labels = kit_guarded(cells * size);
    void *work = kit_guarded(call->workspace);
    tmap_u64 *count = (tmap_u64 *)kit_guarded(t.parts * 8), wrong = 0;
    tmap_u64 *names = (tmap_u64 *)kit_zeroed((cells + 1) * 8);
    const void *got;
    for (int k = 0; k <= call->again; ++k) CHECK(call->run(call->plan, in, work, labels, count));
    got = kit_to_host(labels, cells * size);
    for (tmap_u64 i = 0; i < cells; ++i) {
        const tmap_u64 is = wide ? ((const tmap_u64 *)got)[i] : ((const tmap_u32 *)got)[i];
        tmap_u64 should = t.labels[i];
        if (call->gaps && should) {
            tmap_u64 *known = names + should; // a label is found at its first cell
            wrong += is <= known[-1];
            if (!*known) *known = is;
            should = *known;
        }
        wrong += is != should;
    }
    expect(wrong == 0, "labels");
    if (!call->gaps) {
        expect(memcmp(kit_to_host(count, t.parts * 8), t.counts, t.parts * 8) == 0, "counts");
        expect(t.most <= call->most, "more components than the plan is for");
        label_check_shapes(call, labels, &t, t.most + 1);
        if (t.most > 3) label_check_shapes(call, labels, &t, t.most - 2);
    } else
        expect(kit_device_all(count, t.parts * 8, KIT_POISON), "a count that nobody asked for");
    kit_release(mark); // which checks that nothing is written beside the results
}

// ---- calls that go wrong ------------------------------------------------------------------------

// An error of the user's from before is neither reported nor cleared. Cells are read as they are.
static inline void label_check_error_kept(const label_call *c, tmap_u64 cells) {
    void *in = kit_filled(c->bytes, 1), *work = kit_device(c->workspace);
    void *labels = kit_device(cells * 8), *count = kit_device(cells * 8);
    tmap_label_shape *shapes = (tmap_label_shape *)kit_device(2 * sizeof *shapes);
    kit_case("%s", "an earlier error");
    earlier_error();
    RETURNS(c->run(c->plan, in, work, labels, (tmap_u64 *)count), cudaSuccess);
    RETURNS(tmap_label_measure(&c->array, labels, 1, shapes, 0), cudaSuccess);
    REFUSED(c->run(c->plan, 0, work, labels, (tmap_u64 *)count));
    expect(earlier_error_is_there(), "an earlier error");
    CHECK(cudaDeviceSynchronize());
    kit_release(0);
}

// Pointers that a labeller and the measure of shapes refuse, which write nothing. aligned: bytes to
// a multiple of which cells must be; most: components too many for shapes.
static inline void label_check_refused(const label_call *c, int aligned, tmap_u64 most) {
    const tmap_label_array *array = &c->array;
    const tmap_u64 cells = array->width * array->height * array->depth;
    const struct {
        int plan, cells, workspace, labels, count; // bytes on, -1: null
    } bad[] = {{-1, 0, 0, 0, 0}, {0, -1, 0, 0, 0}, {0, 0, -1, 0, 0},
               {0, 0, 0, -1, 0}, {0, 0, 0, 0, -1}, {0, aligned / 2, 0, 0, 0},
               {0, 0, 8, 0, 0},  {0, 0, 0, 4, 0},  {0, 0, 0, 0, 4}};
    char *in = (char *)kit_device(c->bytes + 8), *work = (char *)kit_guarded(c->workspace + 8);
    char *out = (char *)kit_guarded(8 * cells + 8), *count = (char *)kit_guarded(8 * cells + 8);
    char *at = (char *)kit_guarded(4096);
    tmap_label_shape *shapes = (tmap_label_shape *)at;
    for (unsigned i = 0; i < COUNT(bad); ++i) {
        kit_case("bad pointer %u", i);
        REFUSED(c->run(bad[i].plan ? 0 : c->plan, bad[i].cells < 0 ? 0 : in + bad[i].cells,
                       bad[i].workspace < 0 ? 0 : work + bad[i].workspace,
                       bad[i].labels < 0 ? 0 : out + bad[i].labels,
                       bad[i].count < 0 ? 0 : (tmap_u64 *)(count + bad[i].count)));
    }
    static const tmap_u64 zeros[512] = {0};
    kit_case("a plan of zeros");
    REFUSED(c->run(zeros, in, work, out, (tmap_u64 *)count));
    kit_case("%s", "shapes");
    REFUSED(tmap_label_measure(0, out, 1, shapes, 0));
    REFUSED(tmap_label_measure(array, 0, 1, shapes, 0));
    REFUSED(tmap_label_measure(array, out, 1, 0, 0));
    REFUSED(tmap_label_measure(array, out, 1, (tmap_label_shape *)(at + 4), 0));
    REFUSED(tmap_label_measure(array, out, most, shapes, 0));
    REFUSED(tmap_label_measure(array, out + 4, 1, shapes, 0)); // labels of 64 bits
    for (int i = 0; i < 4; ++i) {
        tmap_label_array bad_array = *array;
        if (i == 0) bad_array.width = 1ull << 31;
        if (i == 1) bad_array.height = 1ull << 31;
        if (i == 2) bad_array.depth = 1ull << 31;
        if (i == 3) bad_array.form = 2;
        REFUSED(tmap_label_measure(&bad_array, out, 1, shapes, 0));
    }
    CHECK(tmap_label_measure(array, out, 0, 0, 0));
    CHECK(cudaDeviceSynchronize());
    expect(kit_device_all(at, 4096, KIT_POISON) &&
               kit_device_all(work, c->workspace + 8, KIT_POISON) &&
               kit_device_all(out, 8 * cells + 8, KIT_POISON) &&
               kit_device_all(count, 8 * cells + 8, KIT_POISON),
           "written by refused calls");
    kit_release(0);
}

// Each output of a call begins where another piece of its memory ends, or in its last bytes: that is
// refused. counts: of components, one or one an image. Cells are read as they are.
static inline void label_check_overlap(const label_call *c, tmap_u64 counts) {
    const tmap_label_array *array = &c->array;
    const tmap_u64 labels =
        array->width * array->height * array->depth * (array->form == TMAP_LABEL_INT64 ? 8 : 4);
    const tmap_u64 bytes[4] = {c->workspace, labels, 8 * counts, c->bytes};
    tmap_u64 room = 256;
    for (int i = 0; i < 4; ++i) room += (bytes[i] + 255) / 256 * 512;
    char *all = (char *)kit_guarded(4 * room), *at[4];
    CHECK(cudaMemset(all, 1, 4 * room));
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4; ++k)
            for (int over = 0; over < 2 && i != k; ++over) {
                for (int p = 0; p < 4; ++p) at[p] = all + (tmap_u64)p * room;
                at[k] = at[i] + (over ? (bytes[i] - 1) / 16 * 16 : (bytes[i] + 15) / 16 * 16);
                kit_case("piece %d %s piece %d", k, over ? "begins in" : "follows", i);
                RETURNS(c->run(c->plan, at[3], at[0], at[1], (tmap_u64 *)at[2]),
                        over ? cudaErrorInvalidValue : cudaSuccess);
            }
    kit_case("%s", "shapes in labels");
    REFUSED(tmap_label_measure(array, all, 1, (tmap_label_shape *)(all + (labels - 1) / 8 * 8), 0));
    REFUSED(tmap_label_measure(array, all + 8, 1, (tmap_label_shape *)all, 0));
    CHECK(tmap_label_measure(array, all, 1, (tmap_label_shape *)(all + (labels + 7) / 8 * 8), 0));
    CHECK(cudaDeviceSynchronize());
    kit_release(0);
}

// A call for no cells: every count, of `counts`, becomes 0, and there are no shapes.
static inline void label_check_empty(const label_call *c, tmap_u64 counts) {
    const tmap_u64 n = 3 * (c->array.images ? c->array.depth : 1);
    tmap_u64 *count = (tmap_u64 *)kit_guarded(8 * counts);
    tmap_label_shape *shapes = (tmap_label_shape *)kit_guarded(n * sizeof *shapes), *got;
    if (counts) REFUSED(c->run(c->plan, 0, 0, 0, 0));
    RETURNS(c->run(c->plan, 0, 0, 0, count), cudaSuccess);
    RETURNS(tmap_label_measure(&c->array, 0, 3, shapes, 0), cudaSuccess);
    expect(kit_device_all(count, 8 * counts, 0), "counts of no cells");
    got = (tmap_label_shape *)kit_to_host(shapes, n * sizeof *shapes);
    for (tmap_u64 i = 0; i < n; ++i) expect(got[i].area == 0, "a shape of no cells");
    kit_release(0);
}

#endif
