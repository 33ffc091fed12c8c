// SPDX-License-Identifier: MIT
// test_turned.cu: the maps of turned copies in kernels, one thread a cell, against lists of cells grown
// from the definition: the catalogue as constants and as arguments, and random fractals.
#include "fractal/turned_brute.h"
#include "kit.h"

typedef struct turned_ask {
    tmap_turned t;
    int constant;  // number in the catalogue, or -1: use t
    tmap_u32 r, m; // m: the level of a tile
    tmap_u32 in_tile;
} turned_ask;

// What went wrong with a cell, a bit for each map; 0 for nothing.
TMAP_FN tmap_u32 turned_wrong(tmap_turned t, const turned_ask *q, tmap_u32 i, brute_cell c,
                              brute_cell place) {
    const tmap_xyz at = {(tmap_u32)c.x, (tmap_u32)c.y, (tmap_u32)c.z}, w = {c.wx, c.wy, c.wz};
    const tmap_xyz64 at64 = {c.x, c.y, c.z}, w64 = {c.wx, c.wy, c.wz};
    const tmap_xyz64 past = {c.x + tmap_nbb3_side_x(t.f, q->r), c.y, c.z};
    const tmap_u64 side[] = {tmap_nbb3_side_x(t.f, q->m), tmap_nbb3_side_y(t.f, q->m),
                             tmap_nbb3_side_z(t.f, q->m)};
    const tmap_xyz last = {(tmap_u32)side[0] - 1, (tmap_u32)side[1] - 1, (tmap_u32)side[2] - 1};
    const tmap_xyz p = {(tmap_u32)place.x, (tmap_u32)place.y, (tmap_u32)place.z};
    tmap_u32 element, element64;
    const tmap_xyz corner = tmap_turned_tile(t, i / q->in_tile, q->r - q->m, &element);
    const tmap_xyz64 corner64 = tmap_turned_tile64(t, i / q->in_tile, q->r - q->m, &element64);
    const tmap_xyz v = tmap_turned_apply(element, p, last);
#define SAME(a, b) ((a).x == (b).x && (a).y == (b).y && (a).z == (b).z)
    const int right[] = {
        SAME(tmap_turned_lambda(t, w, q->r), c),
        SAME(tmap_turned_lambda64(t, w64, q->r), c),
        SAME(tmap_turned_lambda_linear(t, i, q->r), c),
        SAME(tmap_turned_lambda_linear64(t, i, q->r), c),
        SAME(tmap_turned_nu(t, at, q->r), w),
        SAME(tmap_turned_nu64(t, at64, q->r), w),
        tmap_turned_nu_linear(t, at, q->r) == i,
        tmap_turned_nu_linear64(t, at64, q->r) == i,
        tmap_turned_contains(t, at, q->r),
        tmap_turned_contains64(t, at64, q->r),
        !tmap_turned_contains64(t, past, q->r),
        SAME(corner, corner64) && element == element64,
        corner.x * side[0] + v.x == c.x && corner.y * side[1] + v.y == c.y &&
            corner.z * side[2] + v.z == c.z,
    };
    tmap_u32 wrong = 0;
    for (unsigned bit = 0; bit < sizeof right / sizeof *right; ++bit) wrong |= !right[bit] << bit;
    return wrong;
}

__global__ void turned_kernel(turned_ask q, const brute_cell *cells, const brute_cell *tile,
                              tmap_u32 n, tmap_u32 *wrong) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    int number = 0;
    if (i >= n) return;
    const brute_cell place = tile[i % q.in_tile];
#define TURNED_CONSTANT(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, a, b, c) \
    if (q.constant == number++) { \
        wrong[i] = turned_wrong(tmap_turned_##name(), &q, i, cells[i], place); \
        return; \
    }
    TMAP_TURNED(TURNED_CONSTANT)
    wrong[i] = turned_wrong(q.t, &q, i, cells[i], place);
}

static void check_level(turned_ask q, const brute_cell *cells, size_t n, const brute_cell *tile) {
    const int mark = kit_mark();
    const brute_cell *cells_there = (const brute_cell *)kit_to_device(cells, n * sizeof *cells);
    const brute_cell *tile_there =
        (const brute_cell *)kit_to_device(tile, q.in_tile * sizeof *tile);
    tmap_u32 *wrong = (tmap_u32 *)kit_guarded(n * sizeof *wrong);
    turned_kernel<<<(unsigned)((n + 127) / 128), 128>>>(q, cells_there, tile_there, (tmap_u32)n,
                                                        wrong);
    CHECK(cudaGetLastError());
    const tmap_u32 *got = (const tmap_u32 *)kit_to_host(wrong, n * sizeof *wrong);
    for (size_t i = 0; i < n; ++i)
        EXPECT(got[i] == 0, "k=%u %ux%ux%u constant=%d r=%u i=%zu: maps %x", q.t.f.k, q.t.f.sx,
               q.t.f.sy, q.t.f.sz, q.constant, q.r, i, got[i]);
    kit_release(mark);
}

static void check_fractal(tmap_turned t, int constant, size_t cells_max) {
    const turned_brute b = turned_read(t);
    brute_cell *cells = (brute_cell *)malloc(cells_max * sizeof *cells);
    brute_cell *tile = (brute_cell *)malloc(cells_max * sizeof *tile);
    turned_ask q = {t, constant, 0, 0, 1};
    size_t n = 1;
    if (!cells || !tile) exit(2);
    memset(cells, 0, sizeof *cells);
    memset(tile, 0, sizeof *tile);
    for (; q.r <= 12; ++q.r) {
        if (q.r == 3) memcpy(tile, cells, n * sizeof *cells), q.in_tile = (tmap_u32)n, q.m = 2;
        if (q.r > 0) {
            if (n * t.f.k > cells_max) break;
            n = turned_grow(&b, (int)q.r, cells, n);
        }
        check_level(q, cells, n, tile);
    }
    free(cells);
    free(tile);
}

int main(void) {
    kit_begin();
    for (int i = 0; i < TMAP_TURNED_COUNT; ++i) {
        check_fractal(tmap_turned_at(i), i, 20000);
        check_fractal(tmap_turned_at(i), -1, 2000);
    }
    tmap_u64 state = 17;
    for (int i = 0; i < 200; ++i) {
        const turned_brute b = turned_random(&state, 2 + i % 2);
        check_fractal(turned_of(&b), -1, 1100);
    }
    return kit_end("test_turned");
}
