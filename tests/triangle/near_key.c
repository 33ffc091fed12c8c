// SPDX-License-Identifier: MIT
// near_key.c: the Hilbert curve against curves of turned copies, built from the definition; its
// laws on large grids; boxes of any sides against rows of such curves; how boxes are cut, and that 32
// points along the key are as close as along a key of 63 bits; cells of coordinates and keys of
// points, infinite and NaN ones too.
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
            float x[3] = {0, 0, 0}, low[3] = {-1, -2, -1};
            double y[3] = {0, 0, 0}, low64[3] = {-1, -2, -1}, sides[3] = {2, 4, 2};
            const tmap_u32 bits = axes == 2 ? 7 : 10;
            const tmap_near_key_grid grid = tmap_near_key_grid_make(sides, axes, bits);
            const tmap_xyz cell = {8, 4, axes == 2 ? 0u : 4u}, of = {4, 3, axes == 2 ? 0u : 3u};
            const tmap_u64 last = (1ull << bits) - 1, want = tmap_near_key_box(cell, of);
            kit_case("axis %u of %u", i, axes);
            expect(tmap_near_key_point_f32(x, low, 4, &grid) == want, "f32");
            expect(tmap_near_key_point_f64(y, low64, 4, &grid) == want, "f64");
            x[i] = nan32, y[i] = nan;
            expect(tmap_near_key_point_f32(x, low, 4, &grid) == last, "f32, NaN");
            expect(tmap_near_key_point_f64(y, low64, 4, &grid) == last, "f64, NaN");
        }
}

// ---- boxes --------------------------------------------------------------------------------------

static int same(tmap_xyz a, tmap_xyz b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Cells in the order of the definition: pieces of the line, squares of the curve in each, cubes of
// the curve in each of these.
static void check_box(tmap_xyz bits) {
    const tmap_u32 flat = bits.y - bits.z, cubes = 1u << 3 * bits.z, squares = 1u << 2 * flat;
    tmap_u32 *two = (tmap_u32 *)kit_host(squares * 8), *three = (tmap_u32 *)kit_host(cubes * 12);
    tmap_xyz before = {0, 0, 0}, none = {0, 0, 0};
    build(2, flat, two), build(3, bits.z, three);
    kit_case("a box of %u, %u, %u bits", bits.x, bits.y, bits.z);
    for (tmap_u32 s = 0; s < 1u << (bits.x + bits.y + bits.z); ++s) {
        const tmap_u32 *cube = three + s % cubes * 3, *square = two + s / cubes % squares * 2;
        const tmap_u32 line = s / cubes / squares << bits.y;
        const tmap_xyz cell = {line + (square[0] << bits.z) + cube[0],
                               (square[1] << bits.z) + cube[1], cube[2]};
        const tmap_xyz wide = {cell.x + (1u << bits.x), cell.y + (2u << bits.y), cell.z};
        const tmap_u32 at[3] = {cell.x, cell.y, cell.z}, last[3] = {before.x, before.y, before.z};
        expect(tmap_near_key_box(cell, bits) == s, "the key");
        expect(same(tmap_near_key_box_at(s, bits), cell), "the cell");
        expect(tmap_near_key_box(wide, bits) == s, "higher bits of a coordinate are ignored");
        expect(same(tmap_near_key_box_at(s | ~0ull << (bits.x + bits.y + bits.z), bits), cell),
               "higher bits of a key are ignored");
        if (s && (bits.z == 0 || bits.z == bits.y))
            expect(steps(3, at, last) == 1, "the next cell is beside it");
        before = cell;
    }
    expect(!same(none, before), "the last cell is not the first");
    kit_release(0);
}

static void check_boxes(tmap_u64 *state) {
    static const tmap_xyz wrong[] = {{0, 0, 0}, {33, 0, 0}, {3, 4, 0}, {3, 2, 3}, {22, 22, 21}};
    tmap_xyz bits, cell = {7, 7, 7}, none = {0, 0, 0};
    for (bits.x = 1; bits.x <= 7; ++bits.x)
        for (bits.y = 0; bits.y <= bits.x; ++bits.y)
            for (bits.z = 0; bits.z <= bits.y && bits.x + bits.y + bits.z <= 12; ++bits.z)
                check_box(bits);
    for (int i = 0; i < 20000; ++i) { // large ones: a bijection
        bits.x = 1 + (tmap_u32)kit_below(state, 32),
        bits.y = (tmap_u32)kit_below(state, bits.x + 1);
        bits.z = (tmap_u32)kit_below(state, bits.y + 1);
        const tmap_u32 sum = bits.x + bits.y + bits.z;
        if (sum > 64) continue;
        const tmap_u64 key = kit_random(state) >> (64 - sum);
        cell = tmap_near_key_box_at(key, bits);
        EXPECT(tmap_near_key_box(cell, bits) == key, "%u %u %u bits", bits.x, bits.y, bits.z);
    }
    for (tmap_u32 i = 0; i < COUNT(wrong); ++i) {
        kit_case("bits %u %u %u", wrong[i].x, wrong[i].y, wrong[i].z);
        expect(tmap_near_key_box(cell, wrong[i]) == 0, "no key");
        expect(same(tmap_near_key_box_at(77, wrong[i]), none), "no cell");
    }
}

// How boxes are cut: axes, sides and bits of a key; the axes and bits that are expected.
static void check_grids(void) {
    const double inf = 1e308 * 10;
    const struct {
        double sides[3];
        tmap_u32 axes, of, axis[3], bits[3];
    } cases[] = {
        {{1, 1, 1}, 3, 24, {0, 1, 2}, {8, 8, 8}},
        {{1, 0.51, 0.7}, 3, 16, {0, 1, 2}, {6, 6, 6}},
        {{1, 0, 0}, 3, 24, {0, 1, 2}, {24, 0, 0}},
        {{0, 0, 1}, 3, 24, {2, 0, 1}, {24, 0, 0}},
        {{1, 0, 0}, 3, 63, {0, 1, 2}, {32, 0, 0}},
        {{0, 1, 1}, 3, 16, {1, 2, 0}, {8, 8, 0}},
        {{0, 3, 3}, 3, 63, {1, 2, 0}, {32, 32, 0}},
        {{1, 1e-3, 1e-3}, 3, 24, {0, 1, 2}, {14, 5, 5}},
        {{1e-3, 1, 0.1}, 3, 24, {1, 2, 0}, {12, 9, 3}},
        {{0.5, 1, 1}, 3, 63, {1, 2, 0}, {21, 21, 20}}, // 65 bits would be too many
        {{8, 2, 2}, 3, 30, {0, 1, 2}, {12, 10, 10}},
        {{1, 1, 7}, 2, 64, {0, 1, 0}, {32, 32, 0}},
        {{1, 4, 7}, 2, 16, {1, 0, 0}, {9, 7, 0}},
        {{0, 0, 0}, 3, 16, {0, 1, 2}, {6, 6, 6}},
        {{-1, -2, -3}, 2, 16, {0, 1, 0}, {8, 8, 0}},
        {{inf - inf, 1, 1}, 3, 24, {0, 1, 2}, {8, 8, 8}},
        {{inf, 1, 1}, 3, 24, {0, 1, 2}, {8, 8, 8}},
        {{1, 5e-324, 1}, 3, 24, {0, 2, 1}, {12, 12, 0}},
        {{1, 1, 1}, 3, 64, {0, 0, 0}, {0, 0, 0}},
        {{1, 1, 1}, 2, 0, {0, 0, 0}, {0, 0, 0}},
        {{1, 1, 1}, 4, 24, {0, 0, 0}, {0, 0, 0}},
    };
    for (tmap_u32 i = 0; i < COUNT(cases); ++i) {
        const tmap_near_key_grid grid =
            tmap_near_key_grid_make(cases[i].sides, cases[i].axes, cases[i].of);
        kit_case("cut number %u", i);
        for (int k = 0; k < 3; ++k) {
            expect(grid.axis[k] == cases[i].axis[k], "the axes");
            expect(grid.bits[k] == cases[i].bits[k], "the bits");
        }
    }
}

typedef struct entry {
    tmap_u64 key;
    float x[3];
} entry;
static int by_key(const void *a, const void *b) {
    const tmap_u64 u = ((const entry *)a)->key, v = ((const entry *)b)->key;
    return u < v ? -1 : u > v;
}

// The mean of the sums of sides of the boxes of 32 points along the key.
static double spread(entry *points, tmap_u32 n, const double *sides, tmap_u32 bits) {
    const tmap_near_key_grid grid = tmap_near_key_grid_make(sides, 3, bits);
    const float low[3] = {0, 0, 0};
    double longest = 0, sum = 0;
    for (int k = 0; k < 3; ++k) longest = sides[k] > longest ? sides[k] : longest;
    for (tmap_u32 i = 0; i < n; ++i)
        points[i].key = tmap_near_key_point_f32(
            points[i].x, low, (float)((double)(1ull << grid.bits[0]) / longest), &grid);
    qsort(points, n, sizeof *points, by_key);
    for (tmap_u32 i = 0; i + 32 <= n; i += 32)
        for (int k = 0; k < 3; ++k) {
            float least = points[i].x[k], most = least;
            for (tmap_u32 p = i; p < i + 32; ++p) {
                least = points[p].x[k] < least ? points[p].x[k] : least;
                most = points[p].x[k] > most ? points[p].x[k] : most;
            }
            sum += (double)(most - least) / (n / 32);
        }
    return sum;
}

// 24 bits suffice for 2^17 points of any box: the boxes of 32 points are those of 63 bits. A
// point far outside along the longest axis makes them little larger, along another axis large.
static void check_spread(tmap_u64 *state) {
    static const double boxes[][3] = {{1, 1, 1},       {1, 0, 0},     {0, 1, 0},    {1, 0, 1},
                                      {1, 1e-3, 1e-3}, {2, 2, 0.004}, {1, 0.3, 1},  {0.1, 3, 0.001},
                                      {1, 1e-5, 0},    {0.02, 1, 1},  {1, 0.5, 0.2}};
    const tmap_u32 n = 1u << 17;
    entry *points = (entry *)kit_host(n * sizeof *points);
    for (tmap_u32 b = 0; b < COUNT(boxes); ++b) {
        for (tmap_u32 i = 0; i < n; ++i)
            for (int k = 0; k < 3; ++k)
                points[i].x[k] = (float)(boxes[b][k] * (double)(kit_random(state) >> 40) * 0x1p-24);
        double far[3] = {1000, boxes[b][1], boxes[b][2]}; // the box with a point far outside
        const double with = spread(points, n, far, 24), few = spread(points, n, boxes[b], 24);
        const double all = spread(points, n, boxes[b], 63);
        EXPECT(all > 0 && few < 1.03 * all, "box %u: %g with 24 bits, %g with 63", b, few, all);
        EXPECT(boxes[b][0] < boxes[b][1] ? with > 1.5 * few : with < 1.2 * few,
               "box %u: %g with a point far outside, %g without", b, with, few);
        if (b == 1) EXPECT(few < 1.2 * 32 / n, "a line: %g of its length", few);
    }
    kit_release(0);
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
    check_boxes(&state);
    check_grids();
    check_spread(&state);
    return kit_end("near_key");
}
