// SPDX-License-Identifier: MIT
// test_box_published: the paper's tests on the gasket as published (papers/box_published.h), by all
// maps and sides of blocks, against a drawing of the gasket that grows by replication and steps
// that the host takes place by place; that nothing else is written; and what is refused.
#include "kit.h"
#include <threadmap/papers/box_published.h>

enum { POISON = 0x5a, R_MAX = 7, N_MAX = 1 << R_MAX };
static const int maps[4] = {TMAP_BOX_BB, TMAP_BOX_LAMBDA, TMAP_BOX_PUBLISHED_WMMA1,
                            TMAP_BOX_PUBLISHED_WMMA2};

static unsigned char cell[N_MAX * N_MAX]; // of the case's level, row by row

// Three copies of the level below: the upper left, the lower left, the lower right.
static void draw(tmap_u32 r) {
    const tmap_u32 n = 1u << r;
    memset(cell, 0, sizeof cell);
    cell[0] = 1;
    for (tmap_u32 side = 1; side < n; side *= 2)
        for (tmap_u32 y = 0; y < side; ++y)
            for (tmap_u32 x = 0; x < side; ++x)
                cell[(y + side) * n + x] = cell[(y + side) * n + x + side] = cell[y * n + x];
}

static void check_sw(tmap_u32 r, tmap_u32 rho, int map) {
    const tmap_u32 places = 1u << 2 * r;
    unsigned char *out = (unsigned char *)kit_device(places), *got;
    tmap_u64 wrong = 0;
    CHECK(cudaMemset(out, POISON, places));
    CHECK(tmap_box_published_sw_u8(r, rho, map, 7, out, 0));
    got = (unsigned char *)kit_to_host(out, places);
    for (tmap_u32 i = 0; i < places; ++i) wrong += got[i] != (cell[i] ? 7 : POISON);
    expect(wrong == 0, "sw");
}

static void check_rd(tmap_u32 r, tmap_u32 rho, int map, tmap_u64 *state) {
    const tmap_u32 places = 1u << 2 * r, most = 1u << 20; // 1024 of these fit 32 bits
    int *in = (int *)kit_zeroed(places * sizeof *in);
    double *sum = (double *)kit_device(sizeof *sum), want = 0;
    for (tmap_u32 i = 0; i < places; ++i)
        if (cell[i]) want += in[i] = (int)kit_below(state, 2 * most) - (int)most;
    CHECK(cudaMemset(sum, POISON, sizeof *sum));
    CHECK(tmap_box_published_rd_i32(r, rho, map, (int *)kit_to_device(in, places * sizeof *in), sum,
                                    0));
    expect(*(double *)kit_to_host(sum, sizeof *sum) == want, "rd");
}

static void check_ca(tmap_u32 r, tmap_u32 rho, int map, tmap_u64 *state) {
    const tmap_u32 n = 1u << r, pitch = n + 2;
    const tmap_u64 bytes = tmap_box_published_ca_bytes(r);
    unsigned char *in = (unsigned char *)kit_zeroed(bytes), *got;
    unsigned char *out = (unsigned char *)kit_device(bytes);
    tmap_u64 wrong = 0;
    for (tmap_u32 i = 0; i < n * n; ++i)
        in[(i / n + 1) * pitch + i % n + 1] = cell[i] && kit_below(state, 5) < 2;
    CHECK(cudaMemset(out, POISON, bytes));
    CHECK(tmap_box_published_ca_u8(r, rho, map, (unsigned char *)kit_to_device(in, bytes), out, 0));
    got = (unsigned char *)kit_to_host(out, bytes);
    for (tmap_u32 at = 0; at < bytes; ++at) {
        const tmap_u32 x = at % pitch - 1, y = at / pitch - 1;
        tmap_u32 living = 0, want = POISON;
        if (x < n && y < n && cell[y * n + x]) {
            for (tmap_u32 i = 0; i < 9; ++i)
                living += i != 4 && in[at + (i / 3) * pitch + i % 3 - pitch - 1];
            want = living == 2 || (living == 3 && in[at]);
        }
        wrong += got[at] != want;
    }
    expect(wrong == 0, "ca");
}

// What is refused, and that nothing is written then.
static void check_refusals(void) {
    const struct {
        tmap_u32 r, rho;
        int map;
        cudaError_t want;
    } bad[] = {{5, 0, TMAP_BOX_BB, cudaErrorInvalidValue},
               {5, 4, TMAP_BOX_LAMBDA, cudaErrorInvalidValue},
               {5, 24, TMAP_BOX_BB, cudaErrorInvalidValue},
               {5, 64, TMAP_BOX_LAMBDA, cudaErrorInvalidValue},
               {5, 8, -1, cudaErrorInvalidValue},
               {5, 8, TMAP_BOX_BB_WALK, cudaErrorInvalidValue},
               {5, 8, TMAP_BOX_LAMBDA_SHUFFLE, cudaErrorInvalidValue},
               {5, 8, TMAP_BOX_PUBLISHED_WMMA2 + 1, cudaErrorInvalidValue},
               {2, 8, TMAP_BOX_PUBLISHED_WMMA1, cudaErrorInvalidConfiguration},
               {2, 8, TMAP_BOX_PUBLISHED_WMMA2, cudaErrorInvalidConfiguration},
               {2, 8, TMAP_BOX_LAMBDA, cudaErrorInvalidConfiguration},
               {3, 16, TMAP_BOX_BB, cudaErrorInvalidConfiguration},
               {4, 32, TMAP_BOX_LAMBDA, cudaErrorInvalidConfiguration},
               {17, 32, TMAP_BOX_BB, cudaErrorInvalidConfiguration},
               {0xffffffffu, 8, TMAP_BOX_LAMBDA, cudaErrorInvalidConfiguration}};
    enum { BYTES = 8192 };
    char *const at = (char *)kit_device(BYTES);
    unsigned char *const state = (unsigned char *)at, *const next = state + 4096;
    double *const sum = (double *)(at + 4096);
    CHECK(cudaMemset(at, POISON, BYTES));
    for (unsigned i = 0; i < COUNT(bad); ++i) {
        const tmap_u32 r = bad[i].r, rho = bad[i].rho;
        kit_case("r = %u, rho = %u, map %d", r, rho, bad[i].map);
        RETURNS(tmap_box_published_sw_u8(r, rho, bad[i].map, 1, state, 0), bad[i].want);
        RETURNS(tmap_box_published_rd_i32(r, rho, bad[i].map, (int *)at, sum, 0), bad[i].want);
        RETURNS(tmap_box_published_ca_u8(r, rho, bad[i].map, state, next, 0), bad[i].want);
    }
    kit_case("pointers");
    REFUSED(tmap_box_published_sw_u8(3, 8, TMAP_BOX_BB, 1, NULL, 0));
    REFUSED(tmap_box_published_rd_i32(3, 8, TMAP_BOX_BB, NULL, sum, 0));
    REFUSED(tmap_box_published_rd_i32(3, 8, TMAP_BOX_BB, (int *)at, NULL, 0));
    REFUSED(tmap_box_published_ca_u8(3, 8, TMAP_BOX_BB, NULL, next, 0));
    REFUSED(tmap_box_published_ca_u8(3, 8, TMAP_BOX_BB, state, NULL, 0));
    REFUSED(tmap_box_published_ca_u8(3, 8, TMAP_BOX_BB, state, state, 0));
    REFUSED(tmap_box_published_ca_u8(3, 8, TMAP_BOX_PUBLISHED_WMMA2, state, next, 0));
    expect(kit_device_all(at, BYTES, POISON), "a refused launch wrote");
    kit_case("bytes");
    HOLDS(tmap_box_published_ca_bytes(0) == 9 && tmap_box_published_ca_bytes(3) == 100);
    HOLDS(tmap_box_published_ca_bytes(16) == 65538ull * 65538);
    HOLDS(!tmap_box_published_ca_bytes(17) && !tmap_box_published_ca_bytes(32));
}

int main(void) {
    tmap_u64 state = 54;
    kit_begin();
    for (tmap_u32 r = 3; r <= (kit_small ? 6 : R_MAX); ++r) {
        draw(r);
        for (tmap_u32 rho = 8; rho <= 32 && rho <= 1u << r; rho *= 2)
            for (int m = 0; m < 4; ++m) {
                const int mark = kit_mark();
                kit_case("r = %u, rho = %u, map %d", r, rho, maps[m]);
                check_sw(r, rho, maps[m]);
                check_rd(r, rho, maps[m], &state);
                if (m < 3) check_ca(r, rho, maps[m], &state);
                kit_release(mark);
            }
    }
    check_refusals();
    return kit_end("test_box_published");
}
