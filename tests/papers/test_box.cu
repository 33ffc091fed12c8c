// SPDX-License-Identifier: MIT
// test_box: single write, reduction and automaton by every map of box.h, with every side of block,
// for every fractal of the catalogue and own ones; every place of the matrix is compared. Then what
// the launchers must refuse.
#include "fractal/fractal_check.h"
#include "cuda_check.h"
#include <threadmap/papers/box_kernels.h>

enum { MOST_PLACES = 1 << 20 };
static int failures, cases;

static void expect(int ok, const char *what, tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map) {
    ++cases;
    if (ok) return;
    if (++failures <= 20)
        printf("FAIL %s: fractal k=%u s=%ux%u, r=%u, rho=%u, %s\n", what, f.k, f.sx, f.sy, r, rho,
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

// SW, with the matrix beginning `skip` integers into a sector.
static void run_sw(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, int skip) {
    tmap_u64 w = tmap_nbb_side_x(f, r), h = tmap_nbb_side_y(f, r);
    dim3 grid((unsigned)(h < 256 ? h : 256), (unsigned)(w < 4096 ? (w + 63) / 64 : 64));
    int *out = mem.words + skip;
    CHECK(cudaMemset(out, CHECK_POISON_I32 & 0xff, w * h * sizeof(int)));
    CHECK(tmap_box_sw_i32(f, r, rho, map, -7, out, 0));
    check_written_i32<<<grid, 64>>>(f, r, w, h, -7, out, mem.counter);
    expect(counted() == 0, "sw", f, r, rho, map);
}

static void run_case(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map) {
    const tmap_ca_rule rules[2] = {tmap_ca_life(),
                                   {1u << 1 | 1u << 2, 1u << 0 | 1u << 8 | 1u << 3}};
    tmap_u64 w = tmap_nbb_side_x(f, r), h = tmap_nbb_side_y(f, r);
    dim3 grid((unsigned)(h < 256 ? h : 256), (unsigned)(w < 4096 ? (w + 63) / 64 : 64));
    tmap_i64 sum;
    if (map == TMAP_BOX_LAMBDA_BALLOT && !tmap_nbb_has_ballot(f)) return;

    run_sw(f, r, rho, map, 0);
    check_fill_i32<<<grid, 64>>>(f, r, w, h, r + rho, mem.words);
    CHECK(cudaMemset(mem.sum, CHECK_POISON_U8, sizeof sum));
    CHECK(tmap_box_rd_i32(f, r, rho, map, mem.words, mem.sum, 0));
    CHECK(cudaMemcpy(&sum, mem.sum, sizeof sum, cudaMemcpyDeviceToHost));
    check_sum_i32<<<grid, 64>>>(f, r, w, h, mem.words, mem.counter);
    expect(counted() == (tmap_u64)sum, "rd", f, r, rho, map);

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
        expect(counted() == 0, "ca", f, r, rho, map);
    }
}

static void run_fractal(tmap_nbb f, tmap_u64 places) {
    const tmap_u32 sides[] = {4, 32, 9, 1, 2, 8, 16, 3, 27, 31};
    const int small = getenv("TMAP_TEST_SMALL") != NULL;
    const unsigned count = small ? 2 : sizeof sides / sizeof *sides;
    // On the CPU machine with random orders of threads, which is slow, each order takes every third
    // side, and three orders take them all.
    const char *seed = getenv("SIMT_SEED");
    const unsigned first = seed ? (unsigned)atoi(seed) % 3 : 0, step = seed ? 3 : 1;
    for (tmap_u32 r = 0; r <= (small ? 7 : 20); ++r) { // a fractal of one cell stays small
        tmap_u64 size = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
        if (size > places) break;
        for (unsigned i = first; i < count; i += step)
            for (int map = 0; map < TMAP_BOX_MAP_COUNT; ++map) run_case(f, r, sides[i], map);
    }
}

// What is refused, and that nothing is written then.
static void run_refusals(void) {
    tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet(), broken = gasket;
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
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; ++i) {
        tmap_nbb f = bad[i].f;
        tmap_u32 r = bad[i].r, rho = bad[i].rho;
        int map = bad[i].map;
        expect(tmap_box_sw_i32(f, r, rho, map, 1, mem.words, 0) == bad[i].want, "refusal of sw", f,
               r, rho, map);
        expect(tmap_box_rd_i32(f, r, rho, map, mem.words, mem.sum, 0) == bad[i].want,
               "refusal of rd", f, r, rho, map);
        expect(tmap_box_ca_u8(f, r, rho, map, rule, mem.after, mem.before, 0) == bad[i].want,
               "refusal of ca", f, r, rho, map);
    }
    expect(tmap_box_sw_i32(gasket, 3, 4, 0, 1, NULL, 0) == cudaErrorInvalidValue, "null", gasket, 3,
           4, 0);
    expect(tmap_box_rd_i32(gasket, 3, 4, 0, NULL, mem.sum, 0) == cudaErrorInvalidValue, "null",
           gasket, 3, 4, 0);
    expect(tmap_box_rd_i32(gasket, 3, 4, 0, mem.words, NULL, 0) == cudaErrorInvalidValue, "null",
           gasket, 3, 4, 0);
    expect(tmap_box_ca_u8(gasket, 3, 4, 0, rule, mem.before, mem.before, 0) ==
               cudaErrorInvalidValue,
           "one buffer for both", gasket, 3, 4, 0);
    expect(tmap_box_ca_u8(gasket, 3, 4, 0, nine, mem.after, mem.before, 0) == cudaErrorInvalidValue,
           "nine neighbours", gasket, 3, 4, 0);
    unsigned char bytes[8192] = {0};
    int touched = 0;
    CHECK(cudaMemcpy(bytes, mem.words, 4096, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bytes + 4096, mem.before, 4096, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8192; ++i)
        touched += bytes[i] != (i < 4096 ? (CHECK_POISON_I32 & 0xff) : CHECK_POISON_U8);
    expect(touched == 0, "a refused launch wrote", broken, 0, 0, 0);
}

int main(void) {
    const char *own[] = {"#.#\n.#.\n#.#",
                         "##",
                         "#\n#",
                         "#",
                         ".#",
                         "..\n.#",
                         "##/#.",
                         ".#.#/####",
                         "###############.",
                         "#.......\n.......#",
                         "#...............\n.##############."};
    struct cudaDeviceProp device;
    int devices = 0;
    tmap_u64 places;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    // The CPU machine and the sanitizers take threads one by one.
    places = getenv("TMAP_TEST_SMALL") ? 30 : strstr(device.name, "CPU") ? 4100 : 1u << 16;
    CHECK(cudaMalloc((void **)&mem.words, (MOST_PLACES + 8) * sizeof(int)));
    CHECK(cudaMalloc((void **)&mem.before, MOST_PLACES));
    CHECK(cudaMalloc((void **)&mem.after, MOST_PLACES));
    CHECK(cudaMalloc((void **)&mem.sum, sizeof *mem.sum));
    CHECK(cudaMalloc((void **)&mem.counter, sizeof *mem.counter));
    CHECK(cudaMemset(mem.counter, 0, sizeof *mem.counter));
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) run_fractal(tmap_fractal_at(i), places);
    for (unsigned i = 0; i < (getenv("TMAP_TEST_SMALL") ? 3 : sizeof own / sizeof *own); ++i) {
        tmap_nbb f;
        if (tmap_nbb_from_rows(own[i], &f) != TMAP_OK) {
            printf("FAIL own fractal %u\n", i);
            return 1;
        }
        run_fractal(f, places);
    }
    run_refusals();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(mem.words));
    CHECK(cudaFree(mem.before));
    CHECK(cudaFree(mem.after));
    CHECK(cudaFree(mem.sum));
    CHECK(cudaFree(mem.counter));
    printf("%s: %d cases, %d failures\n", device.name, cases, failures);
    return failures != 0;
}
