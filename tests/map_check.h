// SPDX-License-Identifier: MIT
// map_check.h: what the tests of cooperative maps share: own fractals, random omega.
#ifndef TESTS_MAP_CHECK_H
#define TESTS_MAP_CHECK_H

#include "fractal/brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

// A check of one thread.
static void map_expect(int ok, const char *what, tmap_nbb f, tmap_u32 r, unsigned threads,
                       unsigned thread) {
    if (!ok)
        kit_case("k=%u s=%ux%u tau=%llx,%llx r=%u, %u threads, thread %u", f.k, f.sx, f.sy, f.tau_x,
                 f.tau_y, r, threads, thread);
    expect(ok, what);
}

static tmap_u64 map_random_state = 1;
static tmap_u64 map_random(void) { return kit_random(&map_random_state); }
static tmap_u64 map_random_below(tmap_u64 n) { return kit_edge_below(&map_random_state, n); }

// An own fractal: boxes of a grid up to 16 x 16 in a random order, 1..16 of them. The first few are
// the shapes that are at some limit.
static tmap_nbb map_own_fractal(int i) {
    const char *const edge[] = {"##\n##",
                                "##",
                                "#\n#",
                                "#",
                                "################",
                                "#.\n.#",
                                "#...............\n.##############."};
    tmap_nbb f = {0, 0, 0, 0, 0};
    unsigned char used[16][16] = {{0}};
    if (i < (int)COUNT(edge)) {
        if (tmap_nbb_from_rows(edge[i], &f)) exit(1);
        return f;
    }
    f.sx = 2 + (tmap_u32)(map_random() % 15);
    f.sy = 1 + (tmap_u32)(map_random() % 16);
    for (tmap_u32 k = 1 + (tmap_u32)(map_random() % 16); k; --k) {
        tmap_u32 x = (tmap_u32)(map_random() % f.sx), y = (tmap_u32)(map_random() % f.sy);
        if (used[y][x]) continue;
        used[y][x] = 1;
        f.tau_x |= (tmap_u64)x << 4 * f.k;
        f.tau_y |= (tmap_u64)y << 4 * f.k;
        ++f.k;
    }
    return f;
}

enum { MAP_FRACTALS = TMAP_FRACTAL_COUNT + 7 + 10 };

// The catalogue, the edge cases and ten random ones.
static tmap_nbb map_fractal(int i) {
    return i < TMAP_FRACTAL_COUNT ? tmap_fractal_at(i) : map_own_fractal(i - TMAP_FRACTAL_COUNT);
}

// The same fractal for brute.h.
static inline brute map_brute(tmap_nbb f) {
    char text[BRUTE_SIDE_MAX * (BRUTE_SIDE_MAX + 1)], *p = text;
    for (tmap_u32 y = 0; y < f.sy; ++y) {
        for (tmap_u32 x = 0; x < f.sx; ++x) {
            *p = '.';
            for (tmap_u32 i = 0; i < f.k; ++i)
                if ((f.tau_x >> 4 * i & 15) == x && (f.tau_y >> 4 * i & 15) == y) *p = '#';
            ++p;
        }
        *p++ = y + 1 < f.sy ? '/' : 0;
    }
    return brute_make(text);
}

static inline int map_same(tmap_xy a, tmap_xy b) { return a.x == b.x && a.y == b.y; }

#endif
