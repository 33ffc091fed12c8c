// SPDX-License-Identifier: MIT
// region_hilbert.c: Hilbert order from its definition: every cell once, neighbours side by side,
// from the origin, cubes within cubes.
#include "kit.h"
#include <threadmap/papers/region_hilbert.h>

#include <string.h>

// All cells of a cube of k axes, in order.
static void check_cube(tmap_u32 k, tmap_u32 bits) {
    static unsigned char seen[1 << 16];
    const tmap_u64 cells = 1ull << (k * bits);
    tmap_u32 x[16], last[16], base[16];
    memset(seen, 0, sizeof seen);
    for (tmap_u64 s = 0; s < cells; ++s) {
        tmap_u64 at = 0;
        tmap_u32 steps = 0;
        tmap_region_hilbert_at(k, s, bits, x);
        for (tmap_u32 i = 0; i < k; ++i) {
            EXPECT(x[i] >> bits == 0, "k=%u bits=%u s=%llu: x_%u = %u", k, bits, s, i, x[i]);
            at = at << bits | x[i];
            if (s) steps += x[i] > last[i] ? x[i] - last[i] : last[i] - x[i];
            EXPECT(s || x[i] == 0, "k=%u bits=%u: starts at x_%u = %u", k, bits, i, x[i]);
            last[i] = x[i];
        }
        EXPECT(s == 0 || steps == 1, "k=%u bits=%u s=%llu: %u steps", k, bits, s, steps);
        EXPECT(seen[at]++ == 0, "k=%u bits=%u s=%llu: seen", k, bits, s);
        EXPECT(tmap_region_hilbert(k, x, bits) == s, "k=%u bits=%u s=%llu: back", k, bits, s);
        for (tmap_u32 m = 1; m < bits; ++m) { // aligned numbers stay in a cube
            tmap_region_hilbert_at(k, s >> k * m << k * m, bits, base);
            for (tmap_u32 i = 0; i < k; ++i)
                EXPECT(base[i] >> m == x[i] >> m, "k=%u bits=%u s=%llu: cube of side 2^%u", k, bits,
                       s, m);
        }
        if (k == 2) {
            tmap_xy p = tmap_region_hilbert2_at(s, bits);
            EXPECT(p.x == x[0] && p.y == x[1] && tmap_region_hilbert2(p, bits) == s, "s=%llu", s);
        }
        if (k == 3) {
            tmap_xyz p = tmap_region_hilbert3_at(s, bits);
            EXPECT(p.x == x[0] && p.y == x[1] && p.z == x[2] && tmap_region_hilbert3(p, bits) == s,
                   "s=%llu", s);
        }
    }
}

static void check_large(void) {
    tmap_u64 state = 1;
    for (int i = 0; i < 20000; ++i) {
        tmap_u32 x[4], k = 1 + (tmap_u32)i % 4, bits = k == 1 ? 32 : 64 / k, back[4];
        tmap_u64 s;
        for (tmap_u32 j = 0; j < 4; ++j) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            x[j] = (tmap_u32)(state >> 32) & ~0u >> (32 - bits);
        }
        s = tmap_region_hilbert(k, x, bits);
        tmap_region_hilbert_at(k, s, bits, back);
        EXPECT(memcmp(x, back, k * sizeof *x) == 0, "k=%u %llu", k, s);
    }
}

static void check_total(void) {
    const tmap_xy p = {5, 9}, one = {1, 1};
    const tmap_xyz q = {5, 9, 7};
    tmap_u32 x[2] = {5, 9}, y[2] = {1, 1};
    EXPECT(tmap_region_hilbert2(p, 0) == 0 && tmap_region_hilbert2(p, 33) == 0, "%d", 0);
    EXPECT(tmap_region_hilbert3(q, 0) == 0 && tmap_region_hilbert3(q, 22) == 0, "%d", 0);
    EXPECT(tmap_region_hilbert2_at(77, 33).x == 0 && tmap_region_hilbert3_at(77, 22).z == 0, "%d",
           0);
    EXPECT(tmap_region_hilbert(0, x, 4) == 0 && tmap_region_hilbert(3, x, 22) == 0, "%d", 0);
    tmap_region_hilbert_at(2, 77, 33, y);
    EXPECT(y[0] == 0 && y[1] == 0, "%d", 0);
    EXPECT(tmap_region_hilbert2(p, 2) == tmap_region_hilbert2(one, 2), "%d", 0);
}

int main(void) {
    static const tmap_u32 two[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    static const tmap_u32 three[8][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {0, 1, 0},
                                         {1, 1, 0}, {1, 1, 1}, {1, 0, 1}, {1, 0, 0}};
    for (tmap_u32 i = 0; i < 4; ++i)
        EXPECT(tmap_region_hilbert(2, two[i], 1) == i, "the example, %u", i);
    for (tmap_u32 i = 0; i < 8; ++i)
        EXPECT(tmap_region_hilbert(3, three[i], 1) == i, "the example, %u", i);
    for (tmap_u32 k = 1; k <= 6; ++k)
        for (tmap_u32 bits = 1; k * bits <= 14; ++bits) check_cube(k, bits);
    check_large();
    check_total();
    return kit_end("region_hilbert");
}
