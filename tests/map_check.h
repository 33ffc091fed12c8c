// SPDX-License-Identifier: MIT
// map_check.h: what the tests of cooperative maps share: own fractals, random omega, the count of
// failures.
#ifndef TESTS_MAP_CHECK_H
#define TESTS_MAP_CHECK_H

#include "cuda_check.h"
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

static int map_failures, map_cases;

static void map_expect(int ok, const char *what, tmap_nbb f, tmap_u32 r, unsigned threads,
                       unsigned thread) {
    ++map_cases;
    if (!ok && ++map_failures <= 20)
        printf("FAIL %s: k=%u s=%ux%u tau=%llx,%llx r=%u, %u threads, thread %u\n", what, f.k, f.sx,
               f.sy, f.tau_x, f.tau_y, r, threads, thread);
}

static tmap_u64 map_random_state = 1;
static tmap_u64 map_random(void) {
    map_random_state = map_random_state * 6364136223846793005ull + 1442695040888963407ull;
    return map_random_state >> 33 ^ map_random_state << 31;
}

// One of 0..n-1: the first or the last in one case of four each.
static tmap_u64 map_random_below(tmap_u64 n) {
    tmap_u64 i = map_random();
    return i % 4 == 0 ? n - 1 : i % 4 == 1 ? 0 : map_random() % n;
}

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
    if (i < (int)(sizeof edge / sizeof *edge)) {
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

// 1 on a GPU, 0 on the CPU machine, which takes threads one by one, and under sanitizers
// (TMAP_TEST_SMALL); ends the test where there is neither.
static int map_at_full_size(void) {
    struct cudaDeviceProp device;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        exit(77);
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    return strstr(device.name, "CPU") == NULL && !getenv("TMAP_TEST_SMALL");
}

static int map_report(void) {
    printf("%d cases, %d failures\n", map_cases, map_failures);
    return map_failures != 0;
}

#endif
