// SPDX-License-Identifier: MIT
// near_key.c: the Hilbert curve against curves of turned copies, built from the definition; its
// laws on large grids; cells of coordinates and keys of points, infinite and NaN ones too.
#include "kit.h"
#include <threadmap/triangle/near_key.h>

// A curve of one bit more has this copy of a curve in octant w of the Gray code: which coordinate
// of the copy each axis has, mirrored if upper case. Copies at odd places are walked backwards.
static const char *const copies2[] = {"yx", "Xy", "xy", "Yx"};
static const char *const copies3[] = {"yzx", "yXz", "xyz", "Zyx", "zyx", "Xyz", "YXz", "Yzx"};

// Writes the cells of the curve, k numbers each, in order.
static void build(tmap_u32 k, tmap_u32 bits, tmap_u32 *cells) {
    const tmap_u32 copies = 1u << k;
    tmap_u32 *half, side, count;
    memset(cells, 0, k * sizeof *cells);
    if (!bits) return;
    side = 1u << (bits - 1), count = 1u << k * (bits - 1);
    half = (tmap_u32 *)malloc(count * k * sizeof *half);
    build(k, bits - 1, half);
    for (tmap_u32 w = 0; w < copies; ++w)
        for (tmap_u32 i = 0; i < count; ++i, cells += k) {
            const tmap_u32 *from = half + (w & 1 ? count - 1 - i : i) * k;
            for (tmap_u32 axis = 0; axis < k; ++axis) {
                const char letter = (k == 2 ? copies2 : copies3)[w][axis];
                const tmap_u32 mirrored = letter < 'a';
                const tmap_u32 v = from[(letter | 32) - 'x'];
                cells[axis] = (mirrored ? side - 1 - v : v) +
                              (((w ^ w >> 1) >> (k - 1 - axis) & 1) ? side : 0);
            }
        }
    free(half);
}

static tmap_u64 key_of(tmap_u32 k, const tmap_u32 *cell, tmap_u32 bits) {
    const tmap_xy two = {cell[0], cell[1]};
    const tmap_xyz three = {cell[0], cell[1], k == 3 ? cell[2] : 0};
    return k == 2 ? tmap_near_key_xy(two, bits) : tmap_near_key_xyz(three, bits);
}
static void cell_of(tmap_u32 k, tmap_u64 key, tmap_u32 bits, tmap_u32 *cell) {
    if (k == 2) {
        const tmap_xy p = tmap_near_key_xy_at(key, bits);
        cell[0] = p.x, cell[1] = p.y;
    } else {
        const tmap_xyz p = tmap_near_key_xyz_at(key, bits);
        cell[0] = p.x, cell[1] = p.y, cell[2] = p.z;
    }
}

// Steps between two cells.
static tmap_u64 steps(tmap_u32 k, const tmap_u32 *a, const tmap_u32 *b) {
    tmap_u64 sum = 0;
    for (tmap_u32 i = 0; i < k; ++i) sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return sum;
}

static void check_all(tmap_u32 k, tmap_u32 bits) {
    const tmap_u32 count = 1u << k * bits;
    tmap_u32 *cells = (tmap_u32 *)kit_host((tmap_u64)count * k * sizeof *cells), cell[3];
    build(k, bits, cells);
    for (tmap_u32 s = 0; s < count; ++s) {
        const tmap_u32 *want = cells + s * k;
        cell_of(k, s, bits, cell);
        EXPECT(key_of(k, want, bits) == s, "%u axes, %u bits, key %u", k, bits, s);
        EXPECT(!memcmp(cell, want, k * sizeof *cell), "%u axes, %u bits, cell %u", k, bits, s);
        EXPECT(!s || steps(k, want, want - k) == 1, "the definition itself, at %u", s);
    }
    kit_release(0);
}

static void check_laws(tmap_u32 k, tmap_u32 bits, tmap_u64 *state) {
    const tmap_u64 last = ~0ull >> (64 - k * bits), key = kit_random(state) & last;
    const tmap_u32 m = 1 + (tmap_u32)kit_below(state, bits), mask = ~0u >> (32 - bits);
    tmap_u32 cell[3], next[3], coarse[3], ends[3] = {0, 0, 0};
    kit_case("%u axes, %u bits, key %llu", k, bits, key);
    cell_of(k, key, bits, cell);
    expect(key_of(k, cell, bits) == key, "a bijection");
    for (tmap_u32 i = 0; i < k; ++i) coarse[i] = cell[i] >> (bits - m);
    expect(key_of(k, coarse, m) == key >> k * (bits - m), "leading bits are of the coarser grid");
    cell_of(k, (key + 1) & last, bits, next);
    expect(steps(k, cell, next) == 1 || key == last, "the next cell is beside it");
    expect(key_of(k, ends, bits) == 0, "begins at the origin");
    ends[0] = mask;
    expect(key_of(k, ends, bits) == last, "ends at the end of the first axis");
    if (k * bits < 64) {
        cell_of(k, key | ~last, bits, next);
        expect(!memcmp(cell, next, k * sizeof *cell), "higher bits of a key are ignored");
    }
    if (bits < 32) {
        for (tmap_u32 i = 0; i < k; ++i) next[i] = cell[i] | ~mask;
        expect(key_of(k, next, bits) == key, "higher bits of a coordinate are ignored");
    }
}

static void check_cells(void) {
    const double inf = 1e308 * 10, nan = inf - inf;
    const float inf32 = (float)inf, nan32 = (float)nan;
    kit_case("cells");
    HOLDS(tmap_near_key_cell_f32(0.5f, 0, 1024, 10) == 512);
    HOLDS(tmap_near_key_cell_f32(-3, -4, 0.5f, 10) == 0);
    HOLDS(tmap_near_key_cell_f32(1.0f, 0, 1024, 10) == 1023);
    HOLDS(tmap_near_key_cell_f32(-1e30f, 0, 1024, 10) == 0);
    HOLDS(tmap_near_key_cell_f32(inf32, 0, 1024, 10) == 1023);
    HOLDS(tmap_near_key_cell_f32(-inf32, 0, 1024, 10) == 0);
    HOLDS(tmap_near_key_cell_f32(nan32, 0, 1024, 10) == 1023);
    HOLDS(tmap_near_key_cell_f32(1, 0, 4294967296.0f, 32) == ~0u);
    HOLDS(tmap_near_key_cell_f32(1, 0, 1, 0) == 0 && tmap_near_key_cell_f32(1, 0, 1, 33) == 0);
    HOLDS(tmap_near_key_cell_f64(0.5, 0, 2097152, 21) == 1048576);
    HOLDS(tmap_near_key_cell_f64(-0.0, 0, 1, 21) == 0);
    HOLDS(tmap_near_key_cell_f64(inf, 0, 1, 21) == 2097151);
    HOLDS(tmap_near_key_cell_f64(-inf, 0, 1, 21) == 0);
    HOLDS(tmap_near_key_cell_f64(nan, 0, 1, 21) == 2097151);
    HOLDS(tmap_near_key_cell_f64(1, 0, 4294967295.5, 32) == ~0u);
    HOLDS(tmap_near_key_cell_f64(1, 0, 1, 0) == 0 && tmap_near_key_cell_f64(1, 0, 1, 99) == 0);
    for (tmap_u32 axes = 2; axes <= 3; ++axes)
        for (tmap_u32 i = 0; i < axes; ++i) {
            float x[3] = {0, 0, 0}, low[3] = {-1, -2, -4}, scale[3] = {8, 4, 2};
            double y[3] = {0, 0, 0}, low64[3] = {-1, -2, -4}, scale64[3] = {8, 4, 2};
            const tmap_u32 cell[3] = {8, 8, 8};
            const tmap_u64 last = (1ull << axes * 4) - 1, want = key_of(axes, cell, 4);
            kit_case("axis %u of %u", i, axes);
            expect(tmap_near_key_point_f32(x, low, scale, axes, 4) == want, "f32");
            expect(tmap_near_key_point_f64(y, low64, scale64, axes, 4) == want, "f64");
            x[i] = nan32, y[i] = nan;
            expect(tmap_near_key_point_f32(x, low, scale, axes, 4) == last, "f32, NaN");
            expect(tmap_near_key_point_f64(y, low64, scale64, axes, 4) == last, "f64, NaN");
            expect(tmap_near_key_point_f32(x, low, scale, axes == 2 ? 1 : 4, 4) == 0, "f32, axes");
            expect(tmap_near_key_point_f64(y, low64, scale64, 0, 4) == 0, "f64, axes");
            expect(tmap_near_key_point_f32(x, low, scale, axes, 0) == 0, "f32, bits");
            expect(tmap_near_key_point_f64(y, low64, scale64, axes, 40) == 0, "f64, bits");
        }
}

static void check_range(void) {
    const tmap_xy p = {5, 9};
    const tmap_xyz q = {5, 9, 7};
    const tmap_xy next = {0, 2};
    const tmap_xyz fifth = {1, 1, 0};
    kit_case("the examples");
    HOLDS(tmap_near_key_xy(next, 2) == 4 && tmap_near_key_xyz(fifth, 1) == 4);
    kit_case("bits outside their range");
    HOLDS(tmap_near_key_xy(p, 0) == 0 && tmap_near_key_xy(p, 33) == 0);
    HOLDS(tmap_near_key_xyz(q, 0) == 0 && tmap_near_key_xyz(q, 22) == 0);
    HOLDS(tmap_near_key_xy_at(77, 0).x == 0 && tmap_near_key_xy_at(77, 33).y == 0);
    HOLDS(tmap_near_key_xyz_at(77, 0).x == 0 && tmap_near_key_xyz_at(77, 22).z == 0);
}

int main(void) {
    tmap_u64 state = 1;
    for (tmap_u32 bits = 1; bits <= 8; ++bits) check_all(2, bits);
    for (tmap_u32 bits = 1; bits <= 5; ++bits) check_all(3, bits);
    for (int i = 0; i < 2000; ++i) {
        for (tmap_u32 bits = 1; bits <= TMAP_NEAR_KEY_BITS2; ++bits) check_laws(2, bits, &state);
        for (tmap_u32 bits = 1; bits <= TMAP_NEAR_KEY_BITS3; ++bits) check_laws(3, bits, &state);
    }
    check_cells();
    check_range();
    return kit_end("near_key");
}
