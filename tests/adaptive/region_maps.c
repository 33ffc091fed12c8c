// SPDX-License-Identifier: MIT
// region_maps.c: the boundaries of regions, compared element by element with parts that are dealt
// out by hand; the number of levels; canonical and Morton order compared with counting and with
// single bits; and arguments outside every range (run under UBSan).
//
// usage: region_maps [NUMBERS]   how many random numbers to try (1000000)
#include <threadmap/papers/region_hilbert.h>

#include "kit.h"

#define MAX64 0xffffffffffffffffull
#define N_MAX 48

// ---- boundaries ---------------------------------------------------------------------------------

// first[i], i = 0..parts: where part i begins, the largest e with e parts <= n i; found by counting.
static void deal(tmap_u64 n, tmap_u64 parts, tmap_u64 *first) {
    tmap_u64 e = 0;
    for (tmap_u64 i = 0; i <= parts; ++i) {
        while ((e + 1) * parts <= i * n) ++e; // one more fits
        first[i] = e;
    }
}

static void check_edges(tmap_u64 n, tmap_u64 parts) {
    tmap_u64 first[N_MAX * 9 + 1];
    deal(n, parts, first);
    EXPECT(first[0] == 0 && first[parts] == n, "n=%llu parts=%llu", n, parts);
    for (tmap_u64 i = 0; i <= parts; ++i) {
        EXPECT(tmap_region_edge(n, parts, i) == first[i],
               "n=%llu parts=%llu i=%llu: %llu, not %llu", n, parts, i,
               tmap_region_edge(n, parts, i), first[i]);
        if (i == parts) break;
        tmap_u64 side = first[i + 1] - first[i];
        EXPECT(side == n / parts || side == n / parts + 1, "n=%llu parts=%llu: %llu", n, parts,
               side);
        EXPECT(side <= tmap_region_side_max(n, parts), "n=%llu parts=%llu", n, parts);
        for (tmap_u64 e = first[i]; e < first[i + 1]; ++e)
            EXPECT(tmap_region_find(n, parts, e) == i, "n=%llu parts=%llu e=%llu: %llu, not %llu",
                   n, parts, e, tmap_region_find(n, parts, e), i);
    }
    EXPECT(tmap_region_edge(n, parts, parts + 1) == n, "n=%llu parts=%llu", n, parts);
}

// Elements labelled level by level: a region's children hold its elements and no others. The owner
// of each element of an n-element axis, level after level.
static void check_children(tmap_u64 n, tmap_u64 g, tmap_u32 r, tmap_u32 levels) {
    tmap_u64 owner[N_MAX];
    for (tmap_u32 l = 0; l < levels; ++l) {
        tmap_u64 parts = g, taken = 0;
        for (tmap_u32 i = 0; i < l; ++i) parts *= r;
        EXPECT(tmap_region_parts(g, r, l) == parts, "g=%llu r=%u l=%u", g, r, l);
        for (tmap_u64 i = 0; i < parts; ++i)
            for (tmap_u64 e = tmap_region_edge(n, parts, i); e < tmap_region_edge(n, parts, i + 1);
                 ++e, ++taken) {
                EXPECT(e < n && e == taken, "n=%llu parts=%llu i=%llu e=%llu", n, parts, i, e);
                if (l) EXPECT(owner[e] == i / r, "n=%llu g=%llu r=%u l=%u e=%llu", n, g, r, l, e);
                owner[e] = i;
            }
        EXPECT(taken == n, "n=%llu g=%llu r=%u l=%u: %llu", n, g, r, l, taken);
    }
}

__extension__ typedef unsigned __int128 u128;

// Large n and parts.
static void check_large_edges(tmap_u64 *state, unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
        tmap_u64 n = kit_random(state) >> kit_random(state) % 64;
        tmap_u64 parts = 1 + (kit_random(state) >> (32 + kit_random(state) % 32));
        tmap_u64 i = kit_random(state) % (parts + 1), r = 1 + kit_random(state) % 16;
        const tmap_u64 e = tmap_region_edge(n, parts, i), want = (tmap_u64)((u128)n * i / parts);
        EXPECT(e == want, "n=%llu parts=%llu i=%llu: %llu, not %llu", n, parts, i, e, want);
        if (parts * r <= 1ull << 32)
            EXPECT(tmap_region_edge(n, parts * r, i * r) == e, "n=%llu parts=%llu r=%llu i=%llu", n,
                   parts, r, i);
        if (n && n <= 1ull << 32) {
            tmap_u64 x = kit_random(state) % n, at = tmap_region_find(n, parts, x);
            EXPECT(tmap_region_edge(n, parts, at) <= x && x < tmap_region_edge(n, parts, at + 1),
                   "n=%llu parts=%llu e=%llu: %llu", n, parts, x, at);
        }
    }
    expect(tmap_region_edge(MAX64, 1ull << 32, 1ull << 32) == MAX64, "the last edge");
    expect(tmap_region_edge(MAX64, 1ull << 32, (1ull << 32) - 1) == MAX64 - (1ull << 32),
           "the last edge but one");
}

static void check_boundaries(void) {
    tmap_u64 n, parts;
    for (n = 0; n <= N_MAX; ++n)
        for (parts = 1; parts <= N_MAX * 9; parts = parts < 2 * N_MAX ? parts + 1 : 2 * parts)
            check_edges(n, parts);
    for (n = 0; n <= N_MAX; ++n)
        for (tmap_u64 g = 1; g <= 11; ++g)
            for (tmap_u32 r = 2; r <= 7; ++r) check_children(n, g, r, 4);
    expect(tmap_region_edge(10, 4, 1) == 2 && tmap_region_edge(10, 4, 3) == 7, "the example");
}

// ---- levels -------------------------------------------------------------------------------------

// tau by its definition: the largest t >= 1 with g B r^t <= n.
static tmap_u32 count_levels(tmap_u64 n, tmap_u64 g, tmap_u64 r, tmap_u64 B) {
    tmap_u32 t = 0;
    tmap_u64 power = g * B;
    while (power <= n / r && power * r <= n) power *= r, ++t;
    return t ? t : 1;
}

static void check_levels(void) {
    for (tmap_u64 n = 1; n <= 300; ++n)
        for (tmap_u64 g = 1; g <= 12; ++g)
            for (tmap_u64 r = 2; r <= 6; ++r)
                for (tmap_u64 B = 1; B <= n / g; ++B) {
                    tmap_u32 tau = tmap_region_levels(n, g, r, B);
                    EXPECT(tau == count_levels(n, g, r, B), "n=%llu g=%llu r=%llu B=%llu: %u", n, g,
                           r, B, tau);
                    EXPECT(tmap_region_check(n, g, r, B) == 0, "n=%llu g=%llu B=%llu", n, g, B);
                }
    // Whole powers, one less and one more, of every base, which rounded logarithms get wrong.
    for (tmap_u64 r = 2; r <= 40; ++r) {
        tmap_u64 power = r;
        for (tmap_u32 e = 1; power < 1ull << 50; ++e, power *= r)
            for (tmap_u64 g = 1; g <= 5; ++g) {
                tmap_u64 n = power * g * 7;
                EXPECT(tmap_region_levels(n, g, r, 7) == e, "r=%llu^%u g=%llu", r, e, g);
                EXPECT(tmap_region_levels(n - 1, g, r, 7) == (e > 1 ? e - 1 : 1), "r=%llu^%u", r,
                       e);
                EXPECT(tmap_region_levels(n + 1, g, r, 7) == e, "r=%llu^%u g=%llu", r, e, g);
            }
    }
    expect(tmap_region_levels(65536, 32, 2, 32) == 6, "the example");
    expect(tmap_region_levels(MAX64, 1, 2, 1) == 63, "2^64 - 1");
    expect(tmap_region_check(0, 1, 2, 1) == TMAP_EINVAL, "n = 0");
    expect(tmap_region_check(8, 0, 2, 1) == TMAP_EINVAL, "g = 0");
    expect(tmap_region_check(8, 1, 1, 1) == TMAP_EINVAL, "r = 1");
    expect(tmap_region_check(8, 1, 2, 0) == TMAP_EINVAL, "B = 0");
    expect(tmap_region_check(8, 2, 2, 5) == TMAP_ERANGE, "B > n / g");
    expect(tmap_region_check(8, 9, 2, 1) == TMAP_ERANGE, "g > n");
    expect(tmap_region_check(MAX64, (1ull << 32) + 1, 2, 1) == TMAP_ERANGE, "g > 2^32");
    expect(tmap_region_check(8, 8, 2, 1) == TMAP_OK, "g = n");
    expect(tmap_region_olt_size(1024, 2, 2) == 4096, "equation 26");
    expect(tmap_region_olt_size(1024, 2, 3) == 8192, "equation 27");
    expect(tmap_region_olt_size(5, 3, 6) == 5 * 729, "equation 28");
    expect(tmap_region_olt_size(1ull << 60, 3, 2) == 9ull << 60, "below 2^64");
    expect(tmap_region_olt_size(1ull << 60, 2, 4) == MAX64, "saturates");
    expect(tmap_region_olt_size(MAX64 / 2, 2, 1) == MAX64 - 1, "the last that fits");
    expect(tmap_region_olt_size(0, 2, 64) == 0, "no regions");
}

// ---- canonical order ----------------------------------------------------------------------------

// All regions of k axes with sides 1 to 3, or so, walked with the first axis fastest.
static void walk_canonical(tmap_u32 k, const tmap_u32 *n) {
    tmap_u32 x[6] = {0, 0, 0, 0, 0, 0}, y[6];
    tmap_u64 s = 0;
    for (tmap_u32 axis = 0; axis < k; ++s) {
        EXPECT(tmap_region_canonical(k, x, n) == s, "k=%u: %llu, not %llu", k,
               tmap_region_canonical(k, x, n), s);
        memset(y, 0x5a, sizeof y);
        tmap_region_canonical_at(k, s, n, y);
        EXPECT(memcmp(x, y, k * sizeof *x) == 0, "k=%u: %llu", k, s);
        EXPECT(k == 6 || y[k] == 0x5a5a5a5au, "k=%u: writes past its end", k);
        for (axis = 0; axis < k && ++x[axis] == n[axis]; ++axis) x[axis] = 0;
    }
    tmap_u64 all = 1;
    for (tmap_u32 i = 0; i < k; ++i) all *= n[i];
    EXPECT(s == all, "k=%u: %llu of %llu", k, s, all);
}

static void check_canonical(tmap_u64 *state, unsigned count) {
    static const tmap_u32 last[6] = {31, 17, 5, 9, 2, 3};
    for (tmap_u32 k = 1; k <= 6; ++k)
        for (unsigned i = 0; i < 200; ++i) {
            tmap_u32 n[6];
            for (tmap_u32 a = 0; a < 6; ++a) n[a] = 1 + (tmap_u32)kit_below(state, 5);
            walk_canonical(k, n);
        }
    walk_canonical(6, last);
    for (unsigned i = 0; i < count; ++i) {
        tmap_xy p = {(tmap_u32)kit_random(state), (tmap_u32)kit_random(state)};
        tmap_u32 nx = p.x == 0xffffffffu ? p.x : p.x + 1 + (tmap_u32)kit_below(state, ~p.x);
        tmap_u32 x[2] = {p.x, p.y}, n[2] = {nx, 0}, y[2];
        tmap_region_canonical_at(2, tmap_region_canonical(2, x, n), n, y);
        if (p.x < nx) EXPECT(p.x == y[0] && p.y == y[1], "(%u,%u) of %u", p.x, p.y, nx);
    }
}

// ---- Morton order -------------------------------------------------------------------------------

static tmap_u64 bit(tmap_u64 v, int i) { return v >> i & 1; }

static tmap_u64 interleave(const tmap_u32 *x, int k, int bits) {
    tmap_u64 s = 0;
    for (int i = 0; i < bits; ++i)
        for (int a = 0; a < k; ++a) s |= bit(x[a], i) << (k * i + a);
    return s;
}

static void check_morton_pair(tmap_u32 x, tmap_u32 y) {
    tmap_xy p = {x, y}, q;
    tmap_u32 both[2] = {x, y};
    tmap_u64 s = tmap_region_morton2(p);
    q = tmap_region_morton2_at(s);
    EXPECT(s == interleave(both, 2, 32), "(%u,%u): %llu", x, y, s);
    EXPECT(q.x == x && q.y == y, "(%u,%u): (%u,%u)", x, y, q.x, q.y);
}

static void check_morton_triple(tmap_u32 x, tmap_u32 y, tmap_u32 z) {
    tmap_xyz p = {x, y, z}, q;
    tmap_u32 all[3] = {x, y, z};
    tmap_u64 s = tmap_region_morton3(p);
    q = tmap_region_morton3_at(s | 1ull << 63);
    EXPECT(s == interleave(all, 3, 21), "(%u,%u,%u): %llu", x, y, z, s);
    EXPECT(q.x == (x & 0x1fffff) && q.y == (y & 0x1fffff) && q.z == (z & 0x1fffff),
           "(%u,%u,%u): (%u,%u,%u)", x, y, z, q.x, q.y, q.z);
}

static void check_morton(tmap_u64 *state, unsigned count) {
    for (tmap_u32 x = 0; x < 64; ++x)
        for (tmap_u32 y = 0; y < 64; ++y) {
            check_morton_pair(x, y);
            for (tmap_u32 z = 0; z < 8; ++z) check_morton_triple(x, y, z);
        }
    for (int i = 0; i < 32; ++i) {
        check_morton_pair(1u << i, 0), check_morton_pair(0, 1u << i);
        check_morton_triple(1u << i, 0, 0), check_morton_triple(0, 1u << i, 0);
        check_morton_triple(0, 0, 1u << i);
    }
    for (unsigned i = 0; i < count; ++i) {
        tmap_u64 s = kit_random(state);
        EXPECT(tmap_region_morton2(tmap_region_morton2_at(s)) == s, "%llu", s);
        EXPECT(tmap_region_morton3(tmap_region_morton3_at(s)) == (s & MAX64 >> 1), "%llu", s);
        check_morton_pair((tmap_u32)s, (tmap_u32)(s >> 32));
        check_morton_triple((tmap_u32)s, (tmap_u32)(s >> 21), (tmap_u32)(s >> 42));
    }
    expect(tmap_region_morton2(tmap_region_morton2_at(39)) == 39 &&
               tmap_region_morton2_at(39).x == 3 && tmap_region_morton2_at(39).y == 5,
           "the example");
    expect(tmap_region_morton3_at(53).x == 1 && tmap_region_morton3_at(53).y == 2 &&
               tmap_region_morton3_at(53).z == 3,
           "the example");
}

// Every function is total: whatever the arguments, it returns.
static void check_total(void) {
    static const tmap_u64 near[] = {0, 1ull << 16, 1ull << 31, 1ull << 32, 1ull << 33, 1ull << 63};
    const int n = 5 * (int)COUNT(near);
    tmap_u64 sum = 0;
    for (int i = 0; i < n * n * n; ++i) {
        tmap_u64 a = near[i % n / 5] + (tmap_u64)(i % n % 5) - 2;
        tmap_u64 b = near[i / n % n / 5] + (tmap_u64)(i / n % n % 5) - 2;
        tmap_u64 c = near[i / n / n / 5] + (tmap_u64)(i / n / n % 5) - 2;
        tmap_u32 a32 = (tmap_u32)a, b32 = (tmap_u32)b, c32 = (tmap_u32)c;
        tmap_u32 x[3] = {a32, b32, c32}, sides[3] = {b32, c32, a32}, back[3];
        sum += tmap_region_edge(a, b, c) + tmap_region_find(a, b, c) + tmap_region_side_max(a, b);
        sum += (tmap_u64)tmap_region_check(a, b, c, a) + tmap_region_levels(a, b, c, 1);
        sum += tmap_region_parts(a, b, c32) + tmap_region_olt_size(a, b, c32);
        sum += tmap_region_canonical(3, x, sides);
        tmap_region_canonical_at(3, a, sides, back);
        tmap_region_canonical_at(0, a, sides, back);
        sum += back[0] + tmap_region_canonical(0, x, sides);
    }
    printf("every call returned (%llx)\n", sum);
}

int main(int argc, char **argv) {
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000000;
    tmap_u64 state = 5;
    check_boundaries();
    check_large_edges(&state, count);
    check_levels();
    check_canonical(&state, count);
    check_morton(&state, count);
    check_total();
    return kit_end("region_maps");
}
