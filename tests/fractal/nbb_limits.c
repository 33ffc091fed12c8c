// SPDX-License-Identifier: MIT
// nbb_limits.c: the largest levels that fit 32 and 64 bits, checked with 128-bit arithmetic: at the
// limit the last cell is right, one level more does not fit. Sizes saturate; tiles fit their block;
// and arguments far outside their range are harmless (run under UBSan).
#include "fractal/brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

__extension__ typedef unsigned __int128 u128;

#define MAX32 0xffffffffull
#define MAX64 0xffffffffffffffffull

// base^e, or some value above 2^64 where that does not fit 2^64, whose predecessor is the last to
// fit.
static u128 pow128(tmap_u64 base, tmap_u32 e) {
    u128 p = 1;
    while (e-- && p <= (u128)MAX64 + 1) p *= base;
    return p;
}

static tmap_u64 saturated(u128 n) { return n > MAX64 ? MAX64 : (tmap_u64)n; }

// 1 if the last coordinate (and the last index) of every part of level r is at most `limit`.
static int fits(const brute *b, tmap_u32 r, tmap_u64 limit, int linear) {
    tmap_u64 k = (tmap_u64)b->k;
    return pow128((tmap_u64)b->sx, r) - 1 <= limit && pow128((tmap_u64)b->sy, r) - 1 <= limit &&
           pow128(k, r - r / 2) - 1 <= limit && (!linear || pow128(k, r) - 1 <= limit);
}

static void check_level_max(const brute *b, tmap_u32 level, tmap_u64 limit, int linear,
                            const char *what) {
    EXPECT(level <= TMAP_LEVEL_MAX && fits(b, level, limit, linear), "%s %s=%u", b->text, what,
           level);
    EXPECT(level == TMAP_LEVEL_MAX || !fits(b, level + 1, limit, linear), "%s %s=%u", b->text, what,
           level);
}

static void check_sizes(const brute *b, tmap_nbb f) {
    tmap_u64 k = (tmap_u64)b->k;
    for (tmap_u32 r = 0; r <= 70; ++r) {
        tmap_xy64 box = tmap_nbb_orthotope(f, r);
        EXPECT(tmap_nbb_side_x(f, r) == saturated(pow128((tmap_u64)b->sx, r)), "%s r=%u", b->text,
               r);
        EXPECT(tmap_nbb_side_y(f, r) == saturated(pow128((tmap_u64)b->sy, r)), "%s r=%u", b->text,
               r);
        EXPECT(tmap_nbb_cells(f, r) == saturated(pow128(k, r)), "%s r=%u", b->text, r);
        EXPECT(box.x == saturated(pow128(k, r - r / 2)), "%s r=%u", b->text, r);
        EXPECT(box.y == saturated(pow128(k, r / 2)), "%s r=%u", b->text, r);
    }
}

// The cell of the last replica at every level, the far corner of the orthotope: the sum of the
// largest Delta of each level, which here has 128 bits to go over in.
static void check_last_cell64(const brute *b, tmap_nbb f, tmap_u32 r) {
    tmap_xy64 box = tmap_nbb_orthotope(f, r), cell, w;
    u128 x = 0, y = 0;
    // k^ceil(r/2) itself may be 2^64, which saturates to 2^64 - 1, the last index of its axis
    tmap_u64 wx = (tmap_u64)(pow128((tmap_u64)b->k, r - r / 2) - 1), wy = box.y - 1;
    if (pow128((tmap_u64)b->k, r / 2) > MAX64) wy = MAX64;
    for (tmap_u32 mu = 0; mu < r; ++mu) {
        x += (u128)b->tau_x[b->k - 1] * pow128((tmap_u64)b->sx, mu);
        y += (u128)b->tau_y[b->k - 1] * pow128((tmap_u64)b->sy, mu);
    }
    EXPECT(x <= MAX64 && y <= MAX64, "%s r=%u", b->text, r);
    cell = tmap_nbb_lambda64(f, wx, wy, r);
    EXPECT(cell.x == x && cell.y == y, "%s r=%u (%llu,%llu)", b->text, r, cell.x, cell.y);
    w = tmap_nbb_nu64(f, cell.x, cell.y, r);
    EXPECT(w.x == wx && w.y == wy, "%s r=%u (%llu,%llu)", b->text, r, w.x, w.y);
    EXPECT(tmap_nbb_contains64(f, cell.x, cell.y, r), "%s r=%u", b->text, r);
    if (fits(b, r, MAX64, 1)) {
        tmap_u64 last = (tmap_u64)(pow128((tmap_u64)b->k, r) - 1);
        cell = tmap_nbb_lambda_linear64(f, last, r);
        EXPECT(cell.x == x && cell.y == y, "%s r=%u (%llu,%llu)", b->text, r, cell.x, cell.y);
        EXPECT(tmap_nbb_nu_linear64(f, cell.x, cell.y, r) == last, "%s r=%u", b->text, r);
    }
    if (fits(b, r, MAX32, 0)) {
        tmap_xy c = tmap_nbb_lambda(f, (tmap_u32)wx, (tmap_u32)wy, r);
        tmap_xy v = tmap_nbb_nu(f, c.x, c.y, r);
        EXPECT(c.x == x && c.y == y, "%s r=%u (%u,%u)", b->text, r, c.x, c.y);
        EXPECT(v.x == wx && v.y == wy, "%s r=%u (%u,%u)", b->text, r, v.x, v.y);
        EXPECT(tmap_nbb_contains(f, c.x, c.y, r), "%s r=%u", b->text, r);
    }
    if (fits(b, r, MAX32, 1)) {
        tmap_u32 last = (tmap_u32)(pow128((tmap_u64)b->k, r) - 1);
        tmap_xy c = tmap_nbb_lambda_linear(f, last, r);
        EXPECT(c.x == x && c.y == y, "%s r=%u (%u,%u)", b->text, r, c.x, c.y);
        EXPECT(tmap_nbb_nu_linear(f, c.x, c.y, r) == last, "%s r=%u", b->text, r);
    }
}

// tmap_nbb_tile_level: the tile fits the block and the fractal; a larger one would not.
static void check_tiles(const brute *b, tmap_nbb f) {
    tmap_u64 side = (tmap_u64)(b->sx > b->sy ? b->sx : b->sy);
    for (tmap_u32 rho = 0; rho <= 70; ++rho)
        for (tmap_u32 r = 0; r <= 10; ++r) {
            tmap_u32 m = tmap_nbb_tile_level(f, r, rho);
            EXPECT(m <= r && pow128(side, m) <= (rho ? rho : 1), "%s r=%u rho=%u m=%u", b->text, r,
                   rho, m);
            EXPECT(m == r || pow128(side, m + 1) > rho, "%s r=%u rho=%u m=%u", b->text, r, rho, m);
            EXPECT(tmap_nbb_block_level(f, r, rho) == r - m, "%s r=%u rho=%u", b->text, r, rho);
        }
    EXPECT(tmap_nbb_tile_level(f, 3, 0xffffffffu) == 3, "%s", b->text);
    for (tmap_u32 r = 0; r <= 3; ++r) // 0 counts as 1, a tile that a fractal of side 1 always fits
        EXPECT(tmap_nbb_tile_level(f, r, 0) == (side == 1 ? r : 0), "%s r=%u", b->text, r);
}

static void check_fractal(const brute *b) {
    const tmap_nbb f = brute_nbb(b);
    const tmap_u32 top = tmap_nbb_level_max64(f);
    check_level_max(b, tmap_nbb_level_max32(f), MAX32, 0, "level_max32");
    check_level_max(b, top, MAX64, 0, "level_max64");
    check_level_max(b, tmap_nbb_linear_level_max32(f), MAX32, 1, "linear_level_max32");
    check_level_max(b, tmap_nbb_linear_level_max64(f), MAX64, 1, "linear_level_max64");
    check_sizes(b, f);
    check_tiles(b, f);
    for (tmap_u32 r = 0; r <= top; ++r) check_last_cell64(b, f, r);
}

// Maps are total: whatever the arguments, they return. What they return is not looked at, but kept.
static tmap_u64 call_everything(tmap_nbb f, tmap_u64 a, tmap_u64 c, tmap_u32 r) {
    tmap_u32 a32 = (tmap_u32)a, c32 = (tmap_u32)c;
    tmap_xy t = tmap_nbb_tau(f, a32), p = tmap_nbb_lambda(f, a32, c32, r),
            q = tmap_nbb_nu(f, a32, c32, r);
    tmap_xy d = tmap_nbb_delta(f, a32, r), e = tmap_nbb_lambda_linear(f, a32, r);
    tmap_xy64 p64 = tmap_nbb_lambda64(f, a, c, r), q64 = tmap_nbb_nu64(f, a, c, r);
    tmap_xy64 d64 = tmap_nbb_delta64(f, a32, r), e64 = tmap_nbb_lambda_linear64(f, a, r);
    tmap_xy64 box = tmap_nbb_orthotope(f, r);
    tmap_u64 sum = t.x + t.y + p.x + p.y + q.x + q.y + d.x + d.y + e.x + e.y;
    sum += p64.x + p64.y + q64.x + q64.y + d64.x + d64.y + e64.x + e64.y + box.x + box.y;
    sum += tmap_nbb_beta(f, a32, c32, r) + tmap_nbb_beta64(f, a, c, r);
    sum += tmap_nbb_replica(f, a32, c32);
    sum += tmap_nbb_nu_linear(f, a32, c32, r) + tmap_nbb_nu_linear64(f, a, c, r);
    sum += (tmap_u64)(tmap_nbb_contains(f, a32, c32, r) + tmap_nbb_contains64(f, a, c, r));
    sum += tmap_nbb_side_x(f, r) + tmap_nbb_side_y(f, r) + tmap_nbb_cells(f, r);
    sum += tmap_nbb_block_level(f, r, a32);
    sum += tmap_nbb_level_max32(f) + tmap_nbb_level_max64(f);
    sum += tmap_nbb_linear_level_max32(f) + tmap_nbb_linear_level_max64(f);
    sum += (tmap_u64)tmap_nbb_check(f);
    return sum;
}

static void check_total(tmap_nbb f, tmap_u64 *sum) {
    static const tmap_u64 edges[] = {0,         1,          2,         15,         16,        17,
                                     63,        64,         70,        MAX32 >> 1, MAX32 - 1, MAX32,
                                     MAX32 + 1, MAX64 >> 1, MAX64 - 1, MAX64};
    const int n = COUNT(edges);
    for (tmap_u32 r = 0; r <= 70; ++r)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) *sum += call_everything(f, edges[i], edges[j], r);
}

// The powers behind H and Delta wrap and never saturate.
static void check_powers(void) {
    for (tmap_u32 base = 0; base <= 16; ++base) {
        tmap_u64 p = 1;
        for (tmap_u32 e = 0; e < 64; ++e, p *= base) {
            EXPECT(tmapi_pow64(base, e) == p, "%u^%u", base, e);
            EXPECT(tmapi_pow32(base, e) == (tmap_u32)p, "%u^%u", base, e);
        }
    }
}

int main(void) {
    tmap_u64 sum = 0;
    for (int i = 0; i < BRUTE_COUNT; ++i) {
        const brute b = brute_at(i);
        check_fractal(&b);
        if (i < 40) check_total(brute_nbb(&b), &sum);
    }
    // No fractals, and still nothing traps.
    check_total(tmap_nbb_make(0, 0, 0, 0, 0), &sum);
    check_total(tmap_nbb_make(0, 2, 3, 0x100, 0x110), &sum);
    check_total(tmap_nbb_make(3, 0, 2, 0x100, 0x110), &sum);
    check_total(tmap_nbb_make(3, 2, 0, 0x100, 0x110), &sum);
    check_total(tmap_nbb_make(~0u, ~0u, ~0u, MAX64, MAX64), &sum);
#define ADD_HASH(name, title, rows, k, sx, sy, tau_x, tau_y) \
    for (tmap_u32 i = 0; i < 1024; ++i) { \
        const tmap_xy h = tmap_fractal_##name##_hash(i < 512 ? i : i * 0x1fffff1fu); \
        sum += h.x + (tmap_u64)h.y; \
    }
    TMAP_FRACTALS(ADD_HASH)
#undef ADD_HASH
    expect(tmap_mul_saturate(0, MAX64) == 0 && tmap_mul_saturate(MAX64, 0) == 0, "zero");
    expect(tmap_mul_saturate(MAX64, 1) == MAX64 && tmap_mul_saturate(1, MAX64) == MAX64, "one");
    expect(tmap_mul_saturate(MAX32, MAX32 + 2) == MAX64, "fits exactly");
    expect(tmap_mul_saturate(MAX32, MAX32) == MAX32 * MAX32, "fits");
    expect(tmap_mul_saturate(MAX64 >> 1, 2) == MAX64 - 1, "fits, and is not saturated");
    expect(tmap_mul_saturate(MAX32 + 1, MAX32 + 1) == MAX64, "2^64 does not fit");
    check_powers();
    printf("every call returned (%llx)\n", sum);
    return kit_end("nbb_limits");
}
