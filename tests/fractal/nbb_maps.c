// SPDX-License-Identifier: MIT
// nbb_maps.c: the maps of nbb.h, nbb3.h and turned.h and their catalogues against brute force:
// every map on every thread and place of every level up to 10^6 cells for the catalogue, of small
// levels for all 2 x 2 and 2 x 2 x 2 fractals, all 512 relatives of the gasket and random fractals;
// cells and places of every larger level; sizes, tiles and last levels by 128-bit arithmetic; and
// arguments of every kind (run under UBSan).
//
// Usage: nbb_maps [CELLS [PART PARTS]]   CELLS: another bound than 10^6, for slow builds, and the
// number of random fractals follows it. PART, from 0, takes one fractal in PARTS, so that the parts
// can run side by side.
#include "fractal/vectors.h"

__extension__ typedef unsigned __int128 u128;

#define MAX32 0xffffffffull
#define MAX64 0xffffffffffffffffull

static void ask(const map_subject *s, const map_vector *v) {
    tmap_u32 wrong = maps_wrong(&s->m, v);
    if (s->m.kind == BRUTE_PLAIN && s->m.constant == 0) wrong |= maps_gasket(v);
    EXPECT(!wrong, "%s r=%u asks=%x i=%llu w=(%llu,%llu,%llu) (%llu,%llu,%llu):%s", s->b.text, v->r,
           v->asks, v->i, v->w.x, v->w.y, v->w.z, v->at.x, v->at.y, v->at.z, maps_names(wrong));
}

static void ask_hole(const map_subject *s, tmap_u32 r, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    const tmap_u64 at[] = {x, y, z};
    const map_vector v = vector_of(s, r, at, NULL, NULL);
    ask(s, &v);
}

// ---- cells and places ---------------------------------------------------------------------------

// Every place of the embedding that is no cell, and those next to it and far away.
static void check_places(const map_subject *s, tmap_u32 r, const brute_cell *cells, size_t n) {
    const tmap_u64 width = brute_pow(s->b.s[0], (int)r), height = brute_pow(s->b.s[1], (int)r);
    const tmap_u64 depth = brute_pow(s->b.s[2], (int)r), side[] = {width, height, depth};
    const tmap_u64 far[] = {0, MAX32, width << 32};
    char *picture = (char *)calloc((size_t)(width * height * depth), 1);
    if (!picture) exit(2);
    for (size_t i = 0; i < n; ++i)
        picture[(cells[i].at[2] * height + cells[i].at[1]) * width + cells[i].at[0]] = 1;
    for (tmap_u64 i = 0; i < width * height * depth; ++i)
        if (!picture[i]) ask_hole(s, r, i % width, i / width % height, i / width / height);
    for (tmap_u64 i = 0; i < width + height + depth; ++i)
        for (int j = 0; j < 3 * s->b.axes; ++j) {
            const int a = j / 3;
            tmap_u64 at[] = {i % width, i % height, i % depth};
            at[a] = far[j % 3] > side[a] ? far[j % 3] : side[a];
            ask_hole(s, r, at[0], at[1], at[2]);
        }
    free(picture);
}

// Every thread and place up to `most` of them. Returns how many threads.
static size_t check_cells(const map_subject *s, brute_cell *cells, size_t most) {
    const tmap_u64 boxes = (tmap_u64)(s->b.s[0] * s->b.s[1] * s->b.s[2]);
    tmap_u64 places = 1;
    size_t n = 1, all = 0;
    memset(cells, 0, sizeof *cells);
    for (tmap_u32 r = 0; r <= s->last[3]; ++r) {
        if (r > 0) {
            if (n * (size_t)s->b.k > most) break;
            n = brute_grow(&s->b, (int)r, cells, n);
            places = tmap_mul_saturate(places, boxes);
        }
        for (size_t i = 0; i < n; ++i) {
            const tmap_u64 index = i;
            map_vector v = vector_of(s, r, cells[i].at, cells[i].w, &index);
            if (i < 1000 || i % 61 == 0) v.asks |= MAPS_PIECES;
            ask(s, &v);
        }
        if (places <= most) check_places(s, r, cells, n);
        all += n;
    }
    return all;
}

// Larger levels: the last ones of 32 and 64 bits, and every fifth, or all of the catalogue's.
static void check_large(const map_subject *s, int number) {
    const int all = s->m.constant >= 0;
    tmap_u64 random = 7 + (tmap_u64)number;
    map_vector v[VECTORS_LARGE];
    for (tmap_u32 r = 1; r <= s->last[1]; ++r) {
        const int some = (r + (tmap_u32)number) % 5 == 0 || r == s->last[0] || r == s->last[1] ||
                         r == s->last[2] || r == s->last[3];
        for (int i = 0; i < (all ? 20 : some); ++i)
            for (int n = vectors_large(s, r, &random, v); n-- > 0;) ask(s, &v[n]);
    }
}

// ---- replicas and sizes -------------------------------------------------------------------------

// H^-1 of every box, empty ones too; and the element of every replica.
static void check_boxes(const map_subject *s) {
    for (int i = 0; i < s->b.boxes; ++i) {
        const int *box = s->b.box[i];
        const tmap_xyz at = {(tmap_u32)box[0], (tmap_u32)box[1], (tmap_u32)box[2]};
        const tmap_u32 want = (tmap_u32)(i < s->b.k ? i : s->b.k);
        const tmap_u32 got = s->m.kind == BRUTE_PLAIN ? tmap_nbb_replica(s->m.f, at.x, at.y)
                                                      : tmap_nbb3_replica(s->m.t.f, at);
        EXPECT(got == want, "%s box %d: %u", s->b.text, i, got);
        if (s->m.kind == BRUTE_TURNED && i < s->b.k)
            EXPECT(tmap_turned_element(s->m.t, want) == (tmap_u32)s->b.element[i], "%s replica %d",
                   s->b.text, i);
    }
    RETURNS(s->m.kind == BRUTE_PLAIN  ? tmap_nbb_check(s->m.f)
            : s->m.kind == BRUTE_DEEP ? tmap_nbb3_check(s->m.t.f)
                                      : tmap_turned_check(s->m.t),
            TMAP_OK);
}

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
    const tmap_u32 axes = (tmap_u32)b->axes;
    return pow128(b->s[0], r) - 1 <= limit && pow128(b->s[1], r) - 1 <= limit &&
           pow128(b->s[2], r) - 1 <= limit && pow128(b->k, (r + axes - 1) / axes) - 1 <= limit &&
           (!linear || pow128(b->k, r) - 1 <= limit);
}

static void check_sizes(const map_subject *s) {
    const brute *b = &s->b;
    const tmap_u32 axes = (tmap_u32)b->axes;
    for (int i = 0; i < 4; ++i) {
        const tmap_u64 limit = i % 2 ? MAX64 : MAX32;
        EXPECT(s->last[i] <= TMAP_LEVEL_MAX && fits(b, s->last[i], limit, i / 2) &&
                   (s->last[i] == TMAP_LEVEL_MAX || !fits(b, s->last[i] + 1, limit, i / 2)),
               "%s last level %d: %u", b->text, i, s->last[i]);
    }
    for (tmap_u32 r = 0; r <= 70; ++r) {
        tmap_u64 got[7];
        subject_sizes(s, r, got);
        for (tmap_u32 i = 0; i < 7; ++i) {
            const u128 want = i < 3    ? pow128(b->s[i], r)
                              : i == 3 ? pow128(b->k, r)
                                       : pow128(b->k, i - 4 < axes ? (r + axes + 3 - i) / axes : 0);
            EXPECT(got[i] == saturated(want), "%s r=%u size %u: %llu", b->text, r, i, got[i]);
        }
    }
}

// The tile of a block fits it and the fractal; a larger one would not.
static void check_tiles(const map_subject *s) {
    const int *sides = s->b.s, flat = s->m.kind == BRUTE_PLAIN;
    const tmap_nbb f = s->m.f;
    const tmap_nbb3 g = s->m.t.f;
    int side = sides[0] > sides[1] ? sides[0] : sides[1];
    side = side > sides[2] ? side : sides[2];
    for (tmap_u32 rho = 0; rho <= 70; ++rho) // 0 counts as 1
        for (tmap_u32 r = 0; r <= 10; ++r) {
            const tmap_u32 m =
                flat ? tmap_nbb_tile_level(f, r, rho) : tmap_nbb3_tile_level(g, r, rho);
            const tmap_u32 rest =
                flat ? tmap_nbb_block_level(f, r, rho) : tmap_nbb3_block_level(g, r, rho);
            EXPECT(m <= r && pow128(side, m) <= (rho ? rho : 1) &&
                       (m == r || pow128(side, m + 1) > (rho ? rho : 1)) && rest == r - m,
                   "%s r=%u rho=%u m=%u", s->b.text, r, rho, m);
        }
    RETURNS(flat ? tmap_nbb_tile_level(f, 3, ~0u) : tmap_nbb3_tile_level(g, 3, ~0u), 3);
}

// ---- whatever the arguments ---------------------------------------------------------------------

// Maps are total: they return. What they return is not looked at, but kept.
static tmap_u64 call_everything(const map_subject *s, tmap_xyz64 a, tmap_u32 r) {
    const tmap_u32 all = MAPS_CELL | MAPS_32 | MAPS_LINEAR64 | MAPS_LINEAR32;
    const map_vector v = {r, all, a.x, a, {a.y, a.x, a.z}};
    const tmap_xyz b = maps_narrow(a);
    const tmap_turned t = s->m.t;
    tmap_u32 one;
    tmap_u64 sum = maps_wrong(&s->m, &v) + maps_gasket(&v), sizes[7];
#define SUM(point) sum += (point).x + (point).y
#define SUM_PIECES(prefix, f, dims) \
    sum += prefix##_beta(f, MAPS_GIVE##dims(b), r); \
    sum += prefix##_replica(f, MAPS_GIVE##dims(b)) + prefix##_block_level(f, r, b.x); \
    sum += (tmap_u64)prefix##_check(f); \
    SUM(prefix##_tau(f, b.x)); \
    SUM(prefix##_delta(f, b.x, r))
    if (s->m.kind == BRUTE_PLAIN) {
        SUM_PIECES(tmap_nbb, s->m.f, 2);
    } else if (s->m.kind == BRUTE_DEEP) {
        SUM_PIECES(tmap_nbb3, t.f, 3);
    } else {
        SUM(tmap_turned_tile(t, b.y, r, &one));
        SUM(tmap_turned_apply(b.x, b, b));
        sum += tmap_turned_compose(b.x, b.y) + tmap_turned_inverse(b.z) + one;
        sum += tmap_turned_element(tmap_turned_set(t, b.x, b.y), b.z);
        sum += (tmap_u64)tmap_turned_check(t);
    }
#define SUM_HASH(name, title, rows, k, sx, sy, tau_x, tau_y) SUM(tmap_fractal_##name##_hash(b.x));
    TMAP_FRACTALS_TABLE1(SUM_HASH)
    subject_sizes(s, r, sizes);
    for (int i = 0; i < 7; ++i) sum += sizes[i];
    return sum;
}

static tmap_u64 check_total(const map_subject *s) {
    static const tmap_u64 edges[] = {0,         1,          2,         3,    15,        17,
                                     31,        32,         48,        64,   MAX32 - 1, MAX32,
                                     MAX32 + 1, MAX64 >> 1, MAX64 - 1, MAX64};
    const tmap_u32 n = COUNT(edges);
    tmap_u64 sum = s->last[0] + s->last[1] + s->last[2] + s->last[3];
    for (tmap_u32 r = 0; r <= 70; ++r) // all pairs of edges
        for (tmap_u32 i = 0; i < n; ++i)
            sum += call_everything(
                s, maps_point(edges[i], edges[(i + r) % n], edges[(3 * i + r / 3) % n]), r);
    return sum;
}

// Numbers that need not be a fractal, and still nothing traps.
static tmap_u64 check_broken(int kind) {
    static const tmap_u32 numbers[][4] = {{0, 0, 0, 0}, {0, 2, 3, 4},  {3, 0, 2, 2},
                                          {3, 2, 0, 2}, {3, 2, 2, 0},  {33, 17, 5, 5},
                                          {4, 2, 2, 2}, {32, 4, 4, 4}, {~0u, ~0u, ~0u, ~0u}};
    tmap_u64 sum = 0, state = 3;
    for (size_t i = 0; i < COUNT(numbers); ++i) {
        const tmap_u32 *n = numbers[i];
        const tmap_xyz sides = {n[1], n[2], n[3]};
        tmap_u64 tau[6];
        map_subject s;
        memset(&s, 0, sizeof s);
        for (int a = 0; a < 6; ++a) tau[a] = n[0] == ~0u ? MAX64 : kit_random(&state);
        s.m.kind = kind, s.m.f = tmap_nbb_make(n[0], n[1], n[2], tau[0], tau[1]);
        s.m.t = tmap_turned_make(tmap_nbb3_make(n[0], sides, tau[0], tau[1], tau[2]), tau[3],
                                 tau[4], tau[5]);
        sum += check_total(&s);
    }
    return sum;
}

// The powers behind H and Delta wrap and never saturate; products do.
static void check_powers(void) {
    for (tmap_u32 base = 0; base <= 16; ++base) {
        tmap_u64 p = 1;
        for (tmap_u32 e = 0; e < 64; ++e, p *= base) {
            EXPECT(tmapi_pow64(base, e) == p, "%u^%u", base, e);
            EXPECT(tmapi_pow32(base, e) == (tmap_u32)p, "%u^%u", base, e);
        }
    }
    HOLDS(tmap_mul_saturate(0, MAX64) == 0 && tmap_mul_saturate(MAX64, 0) == 0);
    HOLDS(tmap_mul_saturate(MAX64, 1) == MAX64 && tmap_mul_saturate(1, MAX64) == MAX64);
    HOLDS(tmap_mul_saturate(MAX32, MAX32 + 2) == MAX64); // fits exactly
    HOLDS(tmap_mul_saturate(MAX32, MAX32) == MAX32 * MAX32);
    HOLDS(tmap_mul_saturate(MAX64 >> 1, 2) == MAX64 - 1); // fits, and is not saturated
    HOLDS(tmap_mul_saturate(MAX32 + 1, MAX32 + 1) == MAX64);
}

int main(int argc, char **argv) {
    const size_t cells_max = argc > 1 ? (size_t)atol(argv[1]) : 1000000;
    const int part = argc > 3 ? atoi(argv[2]) : 0, parts = argc > 3 ? atoi(argv[3]) : 1;
    brute_cell *cells = (brute_cell *)kit_host(cells_max * sizeof *cells);
    tmap_u64 sum = 0;
    size_t all = 0;
    for (int kind = 0; kind < BRUTE_KINDS; ++kind) {
        const int catalogue = brute_catalogue(kind), known = brute_known(kind);
        const int count = known + 200 + (int)(cells_max / (kind == BRUTE_PLAIN ? 1000 : 100));
        for (int i = part; i < count; i += parts) {
            const brute b = brute_at(kind, i);
            const map_subject s = subject_of(&b, i < catalogue ? i : -1);
            check_boxes(&s);
            if (kind != BRUTE_TURNED) check_sizes(&s), check_tiles(&s);
            all += check_cells(&s, cells,
                               i < catalogue     ? cells_max
                               : i < known + 200 ? cells_max / (kind == BRUTE_TURNED ? 100 : 16)
                                                 : 1100);
            check_large(&s, i);
            if (i < 500 && i % 8 == 0) sum += check_total(&s);
        }
        if (part == 0) sum += check_broken(kind);
    }
    check_powers();
    printf("%zu threads; every call returned (%llx)\n", all, sum);
    return kit_end("nbb_maps");
}
