// SPDX-License-Identifier: MIT
// test_box: single write, reduction and automaton by every map of box.h, with every side of block,
// for every fractal of the catalogue and own ones; every place of the matrix is compared. Then what
// the launchers must refuse.
#include "fractal/fractal_check.h"
#include "kit.h"
#include <threadmap/papers/box_kernels.h>

enum { MOST_PLACES = 1 << 20 };

// The case of the checks that follow.
static void of_case(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map) {
    kit_case("fractal k=%u s=%ux%u, r=%u, rho=%u, %s", f.k, f.sx, f.sy, r, rho,
             tmap_box_map_name(map));
}

// Device memory for the largest embedding of this run.
static struct {
    int *words;
    unsigned char *before, *after;
    tmap_i64 *sum;
    tmap_u64 *counter;
} mem;

static tmap_u64 counted(void) {
    tmap_u64 n;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&n, mem.counter, sizeof n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(mem.counter, 0, sizeof n));
    return n;
}

// Live cells become any byte but 0.
static __global__ void widen(tmap_u64 places, unsigned char *in) {
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < places;
         i += (tmap_u64)gridDim.x * blockDim.x)
        if (in[i]) in[i] = (unsigned char)(1 + check_hash(i, 5) % 255);
}

static void run_case(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map) {
    const tmap_ca_rule rules[2] = {tmap_ca_life(),
                                   {1u << 1 | 1u << 2, 1u << 0 | 1u << 8 | 1u << 3}};
    tmap_u64 w = tmap_nbb_side_x(f, r), h = tmap_nbb_side_y(f, r);
    dim3 grid((unsigned)(h < 256 ? h : 256), (unsigned)(w < 4096 ? (w + 63) / 64 : 64));
    tmap_i64 sum;
    if (map == TMAP_BOX_LAMBDA_BALLOT && !tmap_nbb_has_ballot(f)) return;

    of_case(f, r, rho, map);
    CHECK(cudaMemset(mem.words, CHECK_POISON_I32 & 0xff, w * h * sizeof(int)));
    CHECK(tmap_box_sw_i32(f, r, rho, map, -7, mem.words, 0));
    check_written_i32<<<grid, 64>>>(f, r, w, h, -7, mem.words, mem.counter);
    expect(counted() == 0, "sw");
    check_fill_i32<<<grid, 64>>>(f, r, w, h, r + rho, mem.words);
    CHECK(cudaMemset(mem.sum, CHECK_POISON_U8, sizeof sum));
    CHECK(tmap_box_rd_i32(f, r, rho, map, mem.words, mem.sum, 0));
    CHECK(cudaMemcpy(&sum, mem.sum, sizeof sum, cudaMemcpyDeviceToHost));
    check_sum_i32<<<grid, 64>>>(f, r, w, h, mem.words, mem.counter);
    expect(counted() == (tmap_u64)sum, "rd");

    // Then matrices that end with their allocations and begin anywhere in a word, with bytes other
    // than 0 and 1; the last time not in the same place of one.
    for (int i = 0; i < 3; ++i) {
        tmap_u64 shift = MOST_PLACES - w * h;
        unsigned char *before = mem.before + (i ? shift : 0),
                      *after = mem.after + (i == 1 ? shift : 0);
        check_fill_alive<<<grid, 64>>>(f, r, w, h, r, 2, before);
        if (i == 1) widen<<<64, 64>>>(w * h, before);
        CHECK(cudaMemset(after, CHECK_POISON_U8, w * h));
        CHECK(tmap_box_ca_u8(f, r, rho, map, rules[i % 2], before, after, 0));
        check_step_u8<<<grid, 64>>>(f, r, w, h, rules[i % 2], before, after, mem.counter);
        expect(counted() == 0, "ca");
    }
}

static void run_fractal(tmap_nbb f, tmap_u64 places) {
    const tmap_u32 sides[] = {4, 32, 9, 1, 2, 8, 16, 3, 27, 31};
    const unsigned count = kit_tiny ? 2 : COUNT(sides);
    // On the CPU machine with random orders of threads, which is slow, each order takes every third
    // side, and three orders take them all; by every second map, on levels in turn.
    const char *seed = getenv("SIMT_SEED");
    const unsigned first = seed ? (unsigned)atoi(seed) % 3 : 0, step = seed ? 3 : 1;
    for (tmap_u32 r = 0; r <= (kit_tiny ? 7 : 20); ++r) { // a fractal of one cell stays small
        tmap_u64 size = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
        if (size > places) break;
        for (unsigned i = first; i < count; i += step)
            for (int map = seed ? (int)(i / 3 + r) % 2 : 0; map < TMAP_BOX_MAP_COUNT;
                 map += seed ? 2 : 1)
                run_case(f, r, sides[i], map);
    }
}

// What is refused, and that nothing is written then.
static void run_refusals(void) {
    tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet();
    const struct {
        tmap_nbb f;
        tmap_u32 r, rho;
        int map;
        cudaError_t want;
    } bad[] = {
        {gasket, 3, 0, TMAP_BOX_BB, cudaErrorInvalidValue},
        {gasket, 3, 33, TMAP_BOX_LAMBDA, cudaErrorInvalidValue},
        {gasket, 3, 4, -1, cudaErrorInvalidValue},
        {gasket, 3, 4, TMAP_BOX_MAP_COUNT, cudaErrorInvalidValue},
        {carpet, 3, 4, TMAP_BOX_LAMBDA_BALLOT, cudaErrorInvalidValue},
        {gasket, 65, 4, TMAP_BOX_LAMBDA, cudaErrorInvalidConfiguration},
        {gasket, 40, 1, TMAP_BOX_LAMBDA, cudaErrorInvalidConfiguration},
        {carpet, 21, 1, TMAP_BOX_LAMBDA, cudaErrorInvalidConfiguration},
        {gasket, 33, 32, TMAP_BOX_BB, cudaErrorInvalidConfiguration},
        {tmap_nbb_make(0, 2, 2, 0, 0), 3, 4, TMAP_BOX_LAMBDA, cudaErrorInvalidValue},
        {tmap_nbb_make(3, 0, 2, 0, 0), 3, 4, TMAP_BOX_LAMBDA, cudaErrorInvalidValue},
        {tmap_nbb_make(17, 2, 2, 0, 0), 3, 4, TMAP_BOX_LAMBDA, cudaErrorInvalidValue},
        {tmap_nbb_make(3, 2, 2, 0x300, 0x110), 3, 4, TMAP_BOX_LAMBDA, cudaErrorInvalidValue},
    };
    tmap_ca_rule rule = tmap_ca_life(), nine = {1u << 9, 0};
    CHECK(cudaMemset(mem.words, CHECK_POISON_I32 & 0xff, 4096));
    CHECK(cudaMemset(mem.before, CHECK_POISON_U8, 4096));
    for (unsigned i = 0; i < COUNT(bad); ++i) {
        tmap_nbb f = bad[i].f;
        tmap_u32 r = bad[i].r, rho = bad[i].rho;
        int map = bad[i].map;
        of_case(f, r, rho, map);
        expect(tmap_box_sw_i32(f, r, rho, map, 1, mem.words, 0) == bad[i].want, "refusal of sw");
        expect(tmap_box_rd_i32(f, r, rho, map, mem.words, mem.sum, 0) == bad[i].want,
               "refusal of rd");
        expect(tmap_box_ca_u8(f, r, rho, map, rule, mem.after, mem.before, 0) == bad[i].want,
               "refusal of ca");
    }
    of_case(gasket, 3, 4, 0);
    REFUSED(tmap_box_sw_i32(gasket, 3, 4, 0, 1, NULL, 0));
    REFUSED(tmap_box_rd_i32(gasket, 3, 4, 0, NULL, mem.sum, 0));
    REFUSED(tmap_box_rd_i32(gasket, 3, 4, 0, mem.words, NULL, 0));
    REFUSED(tmap_box_ca_u8(gasket, 3, 4, 0, rule, mem.before, mem.before, 0));
    REFUSED(tmap_box_ca_u8(gasket, 3, 4, 0, nine, mem.after, mem.before, 0));
    expect(kit_device_all(mem.words, 4096, CHECK_POISON_I32 & 0xff) &&
               kit_device_all(mem.before, 4096, CHECK_POISON_U8),
           "a refused launch wrote");
}

int main(void) {
    // clang-format off
    const char *own[] = {
        "#.#\n.#.\n#.#", "##", "#\n#", "#", ".#", "..\n.#", "##/#.", ".#.#/####",
        "###############.", "#.......\n.......#", "#...............\n.##############.",
        "#/#/./#/#/#/#/#/./#/#" // a walk's words hold two of its levels
    };
    // clang-format on
    tmap_u64 places;
    kit_begin();
    // The CPU machine and the sanitizers take threads one by one.
    places = kit_tiny ? 30 : kit_gpu ? 1u << 16 : 4100;
    CHECK(cudaMalloc((void **)&mem.words, MOST_PLACES * sizeof(int)));
    CHECK(cudaMalloc((void **)&mem.before, MOST_PLACES));
    CHECK(cudaMalloc((void **)&mem.after, MOST_PLACES));
    CHECK(cudaMalloc((void **)&mem.sum, sizeof *mem.sum));
    CHECK(cudaMalloc((void **)&mem.counter, sizeof *mem.counter));
    CHECK(cudaMemset(mem.counter, 0, sizeof *mem.counter));
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) run_fractal(tmap_fractal_at(i), places);
    for (unsigned i = 0; i < (kit_tiny ? 3 : COUNT(own)); ++i) {
        tmap_nbb f;
        if (tmap_nbb_from_rows(own[i], &f) != TMAP_OK) {
            printf("FAIL own fractal %u\n", i);
            return 1;
        }
        run_fractal(f, places);
    }
    run_refusals();
    return kit_end("test_box");
}
