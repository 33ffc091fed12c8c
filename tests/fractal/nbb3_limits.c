// SPDX-License-Identifier: MIT
// nbb3_limits.c: in three dimensions, the largest levels that fit 32 and 64 bits, checked with
// 128-bit arithmetic: at the limit the last cell is right, one level more does not fit. Sizes
// saturate; tiles fit their block; and arguments far outside their range are harmless (run under
// UBSan).
#include "fractal/brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue3.h>
#include <threadmap/fractal/nbb3.h>

__extension__ typedef unsigned __int128 u128;

#define MAX32 0xffffffffull
#define MAX64 0xffffffffffffffffull

// base^e, or some value above 2^64 where that does not fit 2^64, whose predecessor is the last to
// fit.
static u128 pow128(int base, tmap_u32 e) {
    u128 p = 1;
    while (e-- && p <= (u128)MAX64 + 1) p *= (tmap_u64)base;
    return p;
}

static tmap_u64 saturated(u128 n) { return n > MAX64 ? MAX64 : (tmap_u64)n; }

// 1 if the last coordinate (and the last index) of every part of level r is at most `limit`.
static int fits(const brute *b, tmap_u32 r, tmap_u64 limit, int linear) {
    return pow128(b->sx, r) - 1 <= limit && pow128(b->sy, r) - 1 <= limit &&
           pow128(b->sz, r) - 1 <= limit && pow128(b->k, (r + 2) / 3) - 1 <= limit &&
           (!linear || pow128(b->k, r) - 1 <= limit);
}

static void check_level_max(const brute *b, tmap_u32 level, tmap_u64 limit, int linear,
                            const char *what) {
    EXPECT(level <= TMAP_LEVEL_MAX && fits(b, level, limit, linear), "%s %s=%u", b->text, what,
           level);
    EXPECT(level == TMAP_LEVEL_MAX || !fits(b, level + 1, limit, linear), "%s %s=%u", b->text, what,
           level);
}

static void check_sizes(const brute *b, tmap_nbb3 f) {
    for (tmap_u32 r = 0; r <= 70; ++r) {
        const tmap_xyz64 box = tmap_nbb3_orthotope(f, r);
        EXPECT(tmap_nbb3_side_x(f, r) == saturated(pow128(b->sx, r)), "%s r=%u", b->text, r);
        EXPECT(tmap_nbb3_side_y(f, r) == saturated(pow128(b->sy, r)), "%s r=%u", b->text, r);
        EXPECT(tmap_nbb3_side_z(f, r) == saturated(pow128(b->sz, r)), "%s r=%u", b->text, r);
        EXPECT(tmap_nbb3_cells(f, r) == saturated(pow128(b->k, r)), "%s r=%u", b->text, r);
        EXPECT(box.x == saturated(pow128(b->k, (r + 2) / 3)), "%s r=%u", b->text, r);
        EXPECT(box.y == saturated(pow128(b->k, (r + 1) / 3)), "%s r=%u", b->text, r);
        EXPECT(box.z == saturated(pow128(b->k, r / 3)), "%s r=%u", b->text, r);
    }
}

// The cell of the last replica at every level, the far corner of the orthotope: the sum of the
// largest Delta of each level, which here has 128 bits to go over in.
static void check_last_cell(const brute *b, tmap_nbb3 f, tmap_u32 r) {
    const tmap_xyz64 w = {(tmap_u64)(pow128(b->k, (r + 2) / 3) - 1),
                          (tmap_u64)(pow128(b->k, (r + 1) / 3) - 1),
                          (tmap_u64)(pow128(b->k, r / 3) - 1)};
    const tmap_xyz w32 = {(tmap_u32)w.x, (tmap_u32)w.y, (tmap_u32)w.z};
    const tmap_u64 last = (tmap_u64)(pow128(b->k, r) - 1);
    const int beta = b->k - 1;
    u128 x = 0, y = 0, z = 0;
    for (tmap_u32 mu = 0; mu < r; ++mu) {
        x += (tmap_u64)b->tau_x[beta] * pow128(b->sx, mu);
        y += (tmap_u64)b->tau_y[beta] * pow128(b->sy, mu);
        z += (tmap_u64)b->tau_z[beta] * pow128(b->sz, mu);
    }
    EXPECT(x <= MAX64 && y <= MAX64 && z <= MAX64, "%s r=%u", b->text, r);
    const tmap_xyz64 at = {(tmap_u64)x, (tmap_u64)y, (tmap_u64)z};
    const tmap_xyz at32 = {(tmap_u32)x, (tmap_u32)y, (tmap_u32)z};
#define SAME(a, b) ((a).x == (b).x && (a).y == (b).y && (a).z == (b).z)
    EXPECT(SAME(tmap_nbb3_lambda64(f, w, r), at), "%s r=%u", b->text, r);
    EXPECT(SAME(tmap_nbb3_nu64(f, at, r), w), "%s r=%u", b->text, r);
    EXPECT(tmap_nbb3_contains64(f, at, r), "%s r=%u", b->text, r);
    if (fits(b, r, MAX64, 1)) {
        EXPECT(SAME(tmap_nbb3_lambda_linear64(f, last, r), at), "%s r=%u", b->text, r);
        EXPECT(tmap_nbb3_nu_linear64(f, at, r) == last, "%s r=%u", b->text, r);
    }
    if (fits(b, r, MAX32, 0)) {
        EXPECT(SAME(tmap_nbb3_lambda(f, w32, r), at), "%s r=%u", b->text, r);
        EXPECT(SAME(tmap_nbb3_nu(f, at32, r), w), "%s r=%u", b->text, r);
        EXPECT(tmap_nbb3_contains(f, at32, r), "%s r=%u", b->text, r);
    }
    if (fits(b, r, MAX32, 1)) {
        EXPECT(SAME(tmap_nbb3_lambda_linear(f, (tmap_u32)last, r), at), "%s r=%u", b->text, r);
        EXPECT(tmap_nbb3_nu_linear(f, at32, r) == last, "%s r=%u", b->text, r);
    }
}

// tmap_nbb3_tile_level: the tile fits the block and the fractal; a larger one would not.
static void check_tiles(const brute *b, tmap_nbb3 f) {
    int side = b->sx > b->sy ? b->sx : b->sy;
    side = side > b->sz ? side : b->sz;
    for (tmap_u32 rho = 0; rho <= 70; ++rho)
        for (tmap_u32 r = 0; r <= 10; ++r) {
            const tmap_u32 m = tmap_nbb3_tile_level(f, r, rho);
            EXPECT(m <= r && pow128(side, m) <= (rho ? rho : 1), "%s r=%u rho=%u m=%u", b->text, r,
                   rho, m);
            EXPECT(m == r || pow128(side, m + 1) > (rho ? rho : 1), "%s r=%u rho=%u m=%u", b->text,
                   r, rho, m);
            EXPECT(tmap_nbb3_block_level(f, r, rho) == r - m, "%s r=%u rho=%u", b->text, r, rho);
        }
    EXPECT(tmap_nbb3_tile_level(f, 3, 0xffffffffu) == 3, "%s", b->text);
}

static void check_fractal(const brute *b) {
    const tmap_nbb3 f = brute_nbb3(b);
    const tmap_u32 top = tmap_nbb3_level_max64(f);
    check_level_max(b, tmap_nbb3_level_max32(f), MAX32, 0, "level_max32");
    check_level_max(b, top, MAX64, 0, "level_max64");
    check_level_max(b, tmap_nbb3_linear_level_max32(f), MAX32, 1, "linear_level_max32");
    check_level_max(b, tmap_nbb3_linear_level_max64(f), MAX64, 1, "linear_level_max64");
    check_sizes(b, f);
    check_tiles(b, f);
    for (tmap_u32 r = 0; r <= top; ++r) check_last_cell(b, f, r);
}

// Maps are total: whatever the arguments, they return. What they return is not looked at, but kept.
static tmap_u64 call_everything(tmap_nbb3 f, tmap_xyz64 a, tmap_u32 r) {
    const tmap_xyz b = {(tmap_u32)a.x, (tmap_u32)a.y, (tmap_u32)a.z};
    tmap_u64 sum = 0;
#define ADD(call) \
    { \
        const tmap_xyz c = call; \
        sum += c.x + c.y + c.z; \
    }
#define ADD64(call) \
    { \
        const tmap_xyz64 c = call; \
        sum += c.x + c.y + c.z; \
    }
    ADD(tmap_nbb3_tau(f, b.x))
    ADD(tmap_nbb3_delta(f, b.x, r))
    ADD64(tmap_nbb3_delta64(f, b.x, r))
    ADD(tmap_nbb3_lambda(f, b, r))
    ADD64(tmap_nbb3_lambda64(f, a, r))
    ADD(tmap_nbb3_lambda_linear(f, b.x, r))
    ADD64(tmap_nbb3_lambda_linear64(f, a.x, r))
    ADD(tmap_nbb3_nu(f, b, r))
    ADD64(tmap_nbb3_nu64(f, a, r))
    ADD64(tmap_nbb3_orthotope(f, r))
    sum += tmap_nbb3_beta(f, b, r) + tmap_nbb3_beta64(f, a, r) + tmap_nbb3_replica(f, b);
    sum += tmap_nbb3_nu_linear(f, b, r) + tmap_nbb3_nu_linear64(f, a, r);
    sum += (tmap_u64)(tmap_nbb3_contains(f, b, r) + tmap_nbb3_contains64(f, a, r));
    sum += tmap_nbb3_side_x(f, r) + tmap_nbb3_side_y(f, r) + tmap_nbb3_side_z(f, r);
    sum += tmap_nbb3_cells(f, r) + tmap_nbb3_block_level(f, r, b.x);
    sum += tmap_nbb3_level_max32(f) + tmap_nbb3_level_max64(f);
    sum += tmap_nbb3_linear_level_max32(f) + tmap_nbb3_linear_level_max64(f);
    return sum + (tmap_u64)tmap_nbb3_check(f);
}

static void check_total(tmap_nbb3 f, tmap_u64 *sum) {
    static const tmap_u64 edges[] = {0,  1,         2,     3,         4,          31,   32,
                                     64, MAX32 - 1, MAX32, MAX32 + 1, MAX64 >> 1, MAX64};
    const unsigned n = COUNT(edges);
    for (tmap_u32 r = 0; r <= 70; ++r)
        for (unsigned i = 0; i < n * n; ++i) {
            const tmap_xyz64 a = {edges[i % n], edges[i / n], edges[(i + i / n + r) % n]};
            *sum += call_everything(f, a, r);
        }
}

int main(void) {
    const tmap_nbb3 broken[] = {
        {0, 0, 0, 0, 0, 0, 0},
        {0, 2, 3, 4, 0x04, 0x10, 0x40},
        {4, 0, 2, 2, 0x04, 0x10, 0x40},
        {4, 2, 0, 2, 0x04, 0x10, 0x40},
        {4, 2, 2, 0, 0x04, 0x10, 0x40},
        {33, 5, 5, 5, MAX64, MAX64, MAX64},
        {~0u, ~0u, ~0u, ~0u, MAX64, MAX64, MAX64},
    };
    tmap_u64 sum = 0, state = 5;
    for (int i = 0; i < BRUTE3_COUNT + 1000; ++i) {
        const brute b = i < BRUTE3_COUNT ? brute3_at(i) : brute_random_fractal3(&state);
        check_fractal(&b);
        if (i % 16 == 0) check_total(brute_nbb3(&b), &sum);
    }
    // No fractals, and still nothing traps.
    for (unsigned i = 0; i < COUNT(broken); ++i) {
        EXPECT(tmap_nbb3_check(broken[i]) != TMAP_OK, "number %u", i);
        check_total(broken[i], &sum);
    }
    printf("every call returned (%llx)\n", sum);
    return kit_end("nbb3_limits");
}
