// SPDX-License-Identifier: MIT
// test_label3: labels of components of volumes and their shapes, against a serial flood fill, cell by
// cell: all neighbourhoods, periodic axes, masks of bytes and of bits, values with and without one to
// leave out, both forms of labels, sizes around the edges of words and of tiles, rows and slices with
// gaps; plans of large maps and of none; errors of earlier calls; and what is refused.
#include "label_check.h"
#include <math.h>
#include <threadmap/raster/label3.h>

enum {
    NOISE,
    SPARSE,
    DENSE,
    ALL,
    NONE,
    CHECKER,
    SNAKE,
    SPIRAL,
    BALLS,
    WALLS,
    POINTS,
    DIAGONAL,
    KINDS
};

typedef struct test_case {
    tmap_label3_map map;
    int form, kind;
    tmap_u64 seed;
    double left; // the value of cells of no component; NaN: none
} test_case;

// ---- masks --------------------------------------------------------------------------------------

static int ball(const test_case *c, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    for (tmap_u64 k = 0; k < 12; ++k) {
        const tmap_u64 s = c->seed * 64 + k * 5, r = 1 + label_hash(s) % 9;
        const tmap_i64 dx = (tmap_i64)x - (tmap_i64)(label_hash(s + 1) % c->map.width);
        const tmap_i64 dy = (tmap_i64)y - (tmap_i64)(label_hash(s + 2) % c->map.height);
        const tmap_i64 dz = (tmap_i64)z - (tmap_i64)(label_hash(s + 3) % c->map.depth);
        if (dx * dx + dy * dy + dz * dz <= (tmap_i64)(r * r)) return 1;
    }
    return 0;
}

// Whether a cell belongs to a component.
static int cell_in(const test_case *c, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    const tmap_u64 w = c->map.width, h = c->map.height;
    const tmap_u32 r = label_hash(c->seed * 1000003 + (z << 42) + (y << 21) + x);
    switch (c->kind) {
    case NOISE: return r % 2;
    case SPARSE: return r % 1000 < 30 + c->seed % 9 * 40;
    case DENSE: return r % 1000 < 600 + c->seed % 5 * 90;
    case ALL: return 1;
    case NONE: return 0;
    case CHECKER: return (x + y + z) % 2 == 0;
    case SNAKE: // along rows, then from row to row and from slice to slice
        if (z % 2) return y == (z / 2 % 2 ? 0 : (h - 1) / 2 * 2) && x == 0;
        return y % 2 == 0 || x == (y / 2 % 2 ? 0 : w - 1);
    case SPIRAL: {
        const tmap_u64 a = x < y ? x : y, b = w - 1 - x < h - 1 - y ? w - 1 - x : h - 1 - y;
        const tmap_u64 ring = a < b ? a : b;
        return (ring % 2 == 0) != (x == ring && y == ring + 1) && z % 3 < 2;
    }
    case BALLS: return ball(c, x, y, z);
    case WALLS: return (x / 9 + y / 5 + z / 4) % 2 == 0;
    case POINTS: return x % 2 == 0 && y % 2 == 1 && z % 2 == c->seed % 2;
    default: return (x + y) % 16 == 15 && (y + z) % 3 == 0; // through edges and corners
    }
}

// Sets a cell of values to one of five, 0 among them; floats also to -0 and NaN. Returns it.
static double set_value(int kind, void *cells, tmap_u64 at, int v, tmap_u32 r) {
    const int i32 = v < 2 ? -v : v * 65536 - 1;
    switch (kind) {
    case TMAP_LABEL3_U8: return ((unsigned char *)cells)[at] = (unsigned char)(v * 63);
    case TMAP_LABEL3_U16: return ((unsigned short *)cells)[at] = (unsigned short)(v * 16128);
    case TMAP_LABEL3_I32: return ((int *)cells)[at] = i32;
    default:
        ((float *)cells)[at] = v == 0 && r % 2 ? -0.f : r % 97 ? (float)v * 1e-41f : NAN;
        return (double)((float *)cells)[at];
    }
}

// Cells whose gaps, and bits beyond rows, are those of other cells; and these cells as numbers.
static void fill(const test_case *c, void *cells, tmap_u64 bytes, double *values) {
    for (tmap_u64 i = 0; i < bytes; ++i)
        ((unsigned char *)cells)[i] = (unsigned char)label_hash(i) | 1;
    for (tmap_u64 z = 0; z < c->map.depth; ++z)
        for (tmap_u64 y = 0; y < c->map.height; ++y)
            for (tmap_u64 x = 0; x < c->map.width; ++x) {
                const tmap_u64 row = z * c->map.slice + y * c->map.pitch;
                const int in = cell_in(c, x, y, z);
                if (c->map.kind > TMAP_LABEL3_BITS) {
                    const tmap_u32 r = label_hash(c->seed + (z << 42) + (y << 21) + x);
                    // in noise only every other tile of 32 x 16 x 16 cells has more than one value
                    const int more =
                        (c->kind != NOISE && c->kind != SPARSE) || (x / 32 + y / 16 + z / 16) % 2;
                    const int second = (int)(x / 11 + y / 7 + z / 5) % 2;
                    const int classes = c->seed % 7 && more ? second * 2 : 0;
                    const int v =
                        c->seed / 16 % 2 && more && r % 19 == 0 ? (int)(r / 19 % 5) : in + classes;
                    const double value = set_value(c->map.kind, cells, row + x, v, r);
                    *values++ = value == c->left ? NAN : value;
                    continue;
                }
                tmap_u32 *word = (tmap_u32 *)cells + row + x / 32;
                if (c->map.kind == TMAP_LABEL3_BYTES)
                    ((unsigned char *)cells)[row + x] =
                        (unsigned char)(in ? 1u << label_hash(x + y) % 8 : 0);
                else
                    *word = in ? *word | 1u << x % 32 : *word & ~(1u << x % 32);
                *values++ = in ? 1 : NAN;
            }
}

// ---- one case -----------------------------------------------------------------------------------

static cudaError_t run(const void *plan, const void *cells, void *workspace, void *labels,
                       tmap_u64 *count) {
    return tmap_label3((const tmap_label3_plan *)plan, cells, workspace, labels, count, 0);
}

static label_call call_of(const tmap_label3_plan *plan, const void *cells, int again) {
    const tmap_label3_map *m = &plan->map;
    const label_call call = {cells,
                             m->slice * m->depth * tmap_label3_size(m->kind),
                             tmapi_label3_most(m),
                             plan->workspace,
                             plan->array,
                             plan,
                             run,
                             again,
                             plan->roots};
    return call;
}

static tmap_label3_plan plan_of(const tmap_label3_map *map, int form) {
    tmap_label3_plan plan;
    CHECK(tmap_label3_plan_make(map, form, &plan));
    return plan;
}

static void check(const test_case *c) {
    if (!check_turn()) return;
    const int mark = kit_mark();
    const tmap_label3_map *m = &c->map;
    const tmap_label3_plan plan = plan_of(m, c->form);
    const tmap_u64 bytes = m->slice * m->depth * tmap_label3_size(m->kind);
    double *values = (double *)kit_host(m->width * m->height * m->depth * sizeof *values);
    const label_cells cells = {m->width, m->height, m->depth, m->neighbours, values};
    void *in = kit_host(bytes);
    const label_call call = call_of(&plan, in, c->seed % 4 == 0);
    kit_case(
        "%llu x %llu x %llu, pitch %llu, slice %llu, kind %d, neighbours %d, form %d, cells %d, "
        "nodata %d %g, seed %llu",
        m->width, m->height, m->depth, m->pitch, m->slice, m->kind, m->neighbours, c->form, c->kind,
        m->has_nodata, m->nodata, c->seed);
    fill(c, in, bytes, values);
    label_check(&cells, &call);
    kit_release(mark);
}

// Sets the value to leave out: none, one of the five, one that only others have, or one of five of
// 16 bits as a signed number; or a number of the same bits that no cell can have.
static void leave_out(test_case *c) {
    static const double none[] = {0.5, 1e300, -1e10, (double)NAN, 16.25};
    const tmap_u64 pick = c->seed / 2048 % 8;
    double value[2]; // at the start, for set_value
    c->left = (double)NAN, c->map.has_nodata = c->seed / 8 % 2, c->map.nodata = 0;
    if (!c->map.has_nodata) return;
    c->map.nodata = none[c->seed % 5];
    if (pick >= 5 || c->map.kind <= TMAP_LABEL3_BITS) return;
    c->map.nodata = c->left = set_value(c->map.kind, value, 0, (int)pick, 1);
    if (c->map.kind == TMAP_LABEL3_U16 && c->left > 32767 && c->seed % 2) c->map.nodata -= 65536;
    if (c->map.kind == TMAP_LABEL3_U8 && c->left > 127 && c->seed % 2)
        c->map.nodata -= 256, c->left = (double)NAN;
    if (c->map.kind == TMAP_LABEL3_I32 && c->left < 0 && c->seed % 2)
        c->map.nodata += 4294967296.0, c->left = (double)NAN;
}

// A map of this size, whose neighbours and so on are those of number i.
static test_case make(tmap_u64 width, tmap_u64 height, tmap_u64 depth, int i, int kind) {
    static const int neighbours[] = {26, 6, 18};
    static const int kinds[] = {TMAP_LABEL3_U8, TMAP_LABEL3_U16, TMAP_LABEL3_I32, TMAP_LABEL3_F32};
    test_case c;
    c.map.width = width, c.map.height = height, c.map.depth = depth;
    c.map.neighbours = neighbours[i % 3], c.map.kind = i / 3 % 2, c.form = i / 6 % 2;
    c.kind = kind, c.seed = kit_below(&label_random, 1000000);
    if (c.seed % 2) c.map.kind = kinds[c.seed / 2 % 4];
    if (c.seed / 1024 % 3 == 0) c.form |= TMAP_LABEL_ROOTS;
    if (c.seed / 64 % 2) c.map.neighbours |= (int)(c.seed / 128 % 8) << 8; // periodic
    leave_out(&c);
    c.map.pitch = c.map.kind == TMAP_LABEL3_BITS ? (width + 31) / 32 : width;
    if (c.seed % 3 == 0) c.map.pitch += c.seed % 37;
    if (c.seed % 3 == 1) c.map.pitch = (c.map.pitch + 15) / 16 * 16; // words are read at a time
    c.map.slice = c.map.pitch * height + (c.seed % 5 == 0 ? c.seed % 77 : 0);
    return c;
}

static void test_random(int maps) {
    for (int i = 0; i < maps; ++i) {
        const int small = i % 3 == 0;
        const tmap_u64 w = 1 + kit_below(&label_random, 70),
                       h = 1 + kit_below(&label_random, small ? 9 : 40);
        const tmap_u64 d = 1 + kit_below(&label_random, i % 7 == 0 ? 1 : small ? 40 : 9);
        const test_case c = make(w, h, d, i, (int)kit_below(&label_random, KINDS));
        check(&c);
    }
}

static void test_sizes(int full) {
    static const tmap_u64 sizes[][3] = {
        {1, 1, 1},    {1, 1, 70},  {1, 70, 1},   {70, 1, 1},   {65, 33, 33}, {64, 32, 34},
        {129, 17, 5}, {33, 3, 66}, {520, 3, 3},  {32, 32, 32}, {31, 35, 18}, {257, 130, 1},
        {28, 28, 40}, {2, 2, 300}, {1100, 2, 1}, {3, 600, 2},  {96, 20, 20}, {63, 63, 8}};
    const int n = (int)COUNT(sizes);
    for (int i = 0; i < n * (full ? 3 * KINDS : 4); ++i) {
        const tmap_u64 *s = sizes[i % n];
        const test_case c = make(s[0], s[1], s[2], i / n + i % n * 5, (i / n + i) % KINDS);
        check(&c);
    }
    for (int i = 0; i < 3 * KINDS; ++i) { // edges of tiles in each direction
        const test_case c = full ? make(150, 100, 70, i, i / 3) : make(70, 35, 35, i, i / 3);
        if (!full && (i + i / 3) % 2) continue;
        check(&c);
    }
}

// Values of few cells, whose tiles touch over columns alone, and of many: all kinds.
static void test_values(int full) {
    static const int kinds[] = {SPARSE, NOISE, BALLS, NOISE, WALLS};
    for (int i = 0; i < (full ? 240 : 45); ++i) {
        test_case c = make(34 + i % 3 * 16, 35, 36, i % 3, kinds[i / 3 % 5]);
        c.map.kind = TMAP_LABEL3_U8 + i % 4, leave_out(&c);
        c.map.pitch = c.map.width + c.seed % 2 * 30, c.map.slice = c.map.pitch * 35;
        check(&c);
    }
}

// ---- plans, errors ------------------------------------------------------------------------------

static void test_plans(void) {
    const tmap_label3_map good = {50, 40, 30, 64, 64 * 40, 0, 0, TMAP_LABEL3_BYTES, 26};
    tmap_label3_plan plan, kept;
    tmap_label3_map bad;
    memset(&plan, 0x3c, sizeof plan), kept = plan;
#define BAD(field, value) \
    kit_case(#field " = " #value), bad = good, bad.field = value; \
    REFUSED(tmap_label3_plan_make(&bad, TMAP_LABEL_INT32, &plan))
    BAD(width, 1ull << 31);
    BAD(height, 1ull << 31);
    BAD(depth, 1ull << 31);
    BAD(pitch, 49);
    BAD(pitch, 1ull << 32);
    BAD(slice, 64 * 40 - 1);
    BAD(slice, 1ull << 60);
    BAD(kind, 6);
    BAD(kind, -1);
    BAD(neighbours, 0);
    BAD(neighbours, 12);
    BAD(neighbours, 27);
    BAD(neighbours, 26 + 0x800);
    BAD(neighbours, -1);
    BAD(neighbours, 8);
    BAD(neighbours, 4 + TMAP_LABEL3_PERIODIC_X);
#undef BAD
    kit_case("%s", "plans");
    bad = good, bad.kind = TMAP_LABEL3_BITS, bad.pitch = 1;
    REFUSED(tmap_label3_plan_make(&bad, TMAP_LABEL_INT32, &plan));
    REFUSED(tmap_label3_plan_make(0, TMAP_LABEL_INT32, &plan));
    REFUSED(tmap_label3_plan_make(&good, TMAP_LABEL_INT32, 0));
    REFUSED(tmap_label3_plan_make(&good, 4, &plan));
    REFUSED(tmap_label3_plan_make(&good, -1, &plan));
    // 2^33 cells: 2^32 components with 6 neighbours, 2^30 with 26
    bad = good, bad.width = bad.pitch = bad.height = 2048, bad.slice = 2048 * 2048;
    bad.depth = 2048, bad.neighbours = 6;
    REFUSED(tmap_label3_plan_make(&bad, TMAP_LABEL_INT32, &plan));
    bad.neighbours = 18, bad.depth = 2050;
    REFUSED(tmap_label3_plan_make(&bad, TMAP_LABEL_INT32, &plan));
    bad.neighbours = 6;
    RETURNS(tmap_label3_plan_make(&bad, TMAP_LABEL_INT64, &plan), cudaErrorInvalidConfiguration);
    bad.height = bad.depth = 0x7fffffff, bad.slice = 2048 * bad.height;
    RETURNS(tmap_label3_plan_make(&bad, TMAP_LABEL_INT64, &plan), cudaErrorInvalidConfiguration);
    expect(memcmp(&plan, &kept, sizeof plan) == 0, "plan written");
    bad.height = bad.depth = 2048, bad.slice = 2048 * 2048;
    CHECK(tmap_label3_plan_make(&bad, TMAP_LABEL_INT64, &plan));
    expect(plan.workspace > (1ull << 34) && plan.workspace < 5ull << 32, "2^32 runs");
    expect(plan.job.tiles == 1u << 19 && plan.job.scan.counts == 1u << 28, "tiles of 2^33 cells");
    bad.neighbours = 26;
    REFUSED(tmap_label3_plan_make(&bad, TMAP_LABEL_INT32 | TMAP_LABEL_ROOTS, &plan));
    CHECK(tmap_label3_plan_make(&bad, TMAP_LABEL_INT64 | TMAP_LABEL_ROOTS, &plan));
    CHECK(tmap_label3_plan_make(&bad, TMAP_LABEL_INT32, &plan));
    expect(plan.job.tiles == 1u << 17 && plan.workspace < 15ull << 29, "2^30 components");
}

static void test_arguments(void) {
    const tmap_label3_map bits = {50, 40, 3, 2, 80, 0, 0, TMAP_LABEL3_BITS, 6};
    const tmap_label3_map bytes = {50, 40, 3, 50, 2000, 0, 0, TMAP_LABEL3_BYTES, 18};
    const tmap_label3_plan of_bits = plan_of(&bits, TMAP_LABEL_INT64);
    const tmap_label3_plan of_bytes = plan_of(&bytes, TMAP_LABEL_INT32);
    const label_call call = call_of(&of_bits, 0, 0), other = call_of(&of_bytes, 0, 0);
    label_check_refused(&call, 4, 1ull << 41);
    label_check_overlap(&call, 1);
    label_check_overlap(&other, 1);
    label_check_error_kept(&other, 50 * 40 * 3);
}

// Without columns, rows or slices there is no component.
static void test_empty(void) {
    static const int neighbours[] = {6, 18, 26};
    for (int i = 0; i < 7 * 3 * 6; ++i) {
        tmap_label3_map map = {50, 40, 3, 64, 64 * 40, 0, i % 2, i % 6, neighbours[i / 6 % 3]};
        const int none = i / 18 + 1; // a bit an axis
        if (i % 4 == 0) map.neighbours |= (1 + i % 7) << 8;
        if (none & 1) map.width = 0;
        if (none & 2) map.height = 0;
        if (none & 4) map.depth = 0;
        kit_case("%llu x %llu x %llu, neighbours %d", map.width, map.height, map.depth,
                 map.neighbours);
        const tmap_label3_plan plan = plan_of(&map, i % 2);
        const label_call call = call_of(&plan, 0, 0);
        label_check_empty(&call, 1);
        const tmap_label3_plan roots = plan_of(&map, i % 2 | TMAP_LABEL_ROOTS);
        RETURNS(run(&roots, 0, 0, 0, 0), cudaSuccess);
    }
}

int main(void) {
    kit_begin();
    test_arguments();
    test_empty();
    test_plans();
    test_random(kit_full ? 2000 : 300);
    test_sizes(kit_full);
    test_values(kit_full);
    return kit_end("label3");
}
