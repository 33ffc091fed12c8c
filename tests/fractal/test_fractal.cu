// SPDX-License-Identifier: MIT
// test_fractal: the kernels of sw.h, rd.h and ca.h, every map, every block size, every fractal of
// the catalogue and own ones; every place of the embedding is compared. Then what the launchers
// must refuse.
// So that small embeddings reach both forms by linear index and both by rows.
#define TMAPI_SMALL_BLOCKS 24
#define TMAPI_SMALL_FEW 3
#define TMAPI_ROWS_SPARSE 20
#include "fractal/fractal_check.h"
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/rd.h>
#include <threadmap/fractal/sw.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) \
    do { \
        cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

enum { MOST_PLACES = 1 << 20 };
static int failures, cases;

static void expect(int ok, const char *what, tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map) {
    ++cases;
    if (ok) return;
    if (++failures <= 20)
        printf("FAIL %s: fractal k=%u s=%ux%u, r=%u, rho=%u, %s\n", what, f.k, f.sx, f.sy, r, rho,
               tmap_map_name(map));
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
    CHECK(tmap_sw_i32(f, r, rho, map, -7, out, 0));
    check_written_i32<<<grid, 64>>>(f, r, w, h, -7, out, mem.counter);
    expect(counted() == 0, "sw", f, r, rho, map);
}

static void run_case(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map) {
    const tmap_ca_rule rules[2] = {tmap_ca_life(),
                                   {1u << 1 | 1u << 2, 1u << 0 | 1u << 8 | 1u << 3}};
    tmap_u64 w = tmap_nbb_side_x(f, r), h = tmap_nbb_side_y(f, r);
    dim3 grid((unsigned)(h < 256 ? h : 256), (unsigned)(w < 4096 ? (w + 63) / 64 : 64));
    tmap_i64 sum;
    if (map == TMAP_MAP_LAMBDA_BALLOT && !tmap_nbb_has_ballot(f)) return;

    run_sw(f, r, rho, map, 0);
    if (map == TMAP_MAP_TILE) {
        CHECK(cudaMemset(mem.words, CHECK_POISON_I32 & 0xff, w * h * sizeof(int)));
        CHECK(tmap_sw_sectors_i32(f, r, -7, mem.words, 0));
        check_sectors_i32<<<grid, 64>>>(f, r, w, h, -7, mem.words, mem.counter);
        expect(counted() == 0, "sw_sectors", f, r, rho, map);
    }

    check_fill_i32<<<grid, 64>>>(f, r, w, h, r + rho, mem.words);
    CHECK(cudaMemset(mem.sum, CHECK_POISON_U8, sizeof sum));
    CHECK(tmap_rd_i32(f, r, rho, map, mem.words, mem.sum, 0));
    CHECK(cudaMemcpy(&sum, mem.sum, sizeof sum, cudaMemcpyDeviceToHost));
    check_sum_i32<<<grid, 64>>>(f, r, w, h, mem.words, mem.counter);
    expect(counted() == (tmap_u64)sum, "rd", f, r, rho, map);

    // Then matrices that end with their allocations and begin anywhere in a word, with bytes other
    // than 0 and 1; the last time not in the same place of one.
    for (int i = 0; i < 3; ++i) {
        tmap_u64 shift = MOST_PLACES - w * h;
        unsigned char *before = mem.before + (i ? shift : 0),
                      *after = mem.after + (i == 1 ? shift : 0);
        check_fill_u8<<<grid, 64>>>(f, r, w, h, r, 2, before);
        if (i == 1) widen<<<64, 64>>>(w * h, before);
        CHECK(cudaMemset(after, CHECK_POISON_U8, w * h));
        CHECK(tmap_ca_u8(f, r, rho, map, rules[i % 2], before, after, 0));
        check_step_u8<<<grid, 64>>>(f, r, w, h, rules[i % 2], before, after, mem.counter);
        expect(counted() == 0, "ca", f, r, rho, map);
    }
}

static void run_fractal(tmap_nbb f, tmap_u64 places) {
    const tmap_u32 sides[] = {4, 32, 9, 1, 2, 8, 16, 3, 27, 31};
    const int small = getenv("TMAP_TEST_SMALL") != NULL;
    const unsigned count = small ? 2 : sizeof sides / sizeof *sides;
    for (tmap_u32 r = 0; r <= (small ? 7 : 20); ++r) { // a fractal of one cell stays small
        tmap_u64 size = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
        if (size > MOST_PLACES || size > (small ? 512 : 16) * places) break;
        run_case(f, r, 32, TMAP_MAP_LAMBDA_LINEAR);
        if (r <= tmap_rows_level_max(f)) run_case(f, r, 32, TMAP_MAP_ROWS);
        run_case(f, r, 32, TMAP_MAP_TILE); // further, since a tile is 64 x 64 places for some
        for (unsigned i = 0; size <= places && i < count; ++i)
            for (int map = 0; map < TMAP_MAP_LAMBDA_LINEAR; ++map) run_case(f, r, sides[i], map);
    }
}

// CA by bits: the smallest embeddings of one tile and of several, which begin in the middle of a
// sector too, and end with their allocations.
static void run_ca_bits(tmap_nbb f, tmap_u64 most) {
    const tmap_ca_rule rule = {1u << 1 | 1u << 2 | 1u << 4, 1u << 0 | 1u << 3 | 1u << 8};
    tmap_u32 m = tmapi_ca_tile_make(f).m;
    for (tmap_u32 r = m; r <= m + 1; ++r) {
        tmap_u64 w = tmap_nbb_side_x(f, r), h = tmap_nbb_side_y(f, r), shift;
        if (!tmapi_ca_bits_fit(f, r, NULL, NULL) || tmap_mul_saturate(w, h) > most) break;
        dim3 grid((unsigned)(h < 256 ? h : 256), (unsigned)(w < 4096 ? (w + 63) / 64 : 64));
        shift = r == m ? 5 : MOST_PLACES - w * h;
        check_fill_u8<<<grid, 64>>>(f, r, w, h, r, 2, mem.before + shift);
        if (r == m) widen<<<64, 64>>>(w * h, mem.before + shift);
        CHECK(cudaMemset(mem.after + shift, CHECK_POISON_U8, w * h));
        CHECK(tmap_ca_u8(f, r, 32, TMAP_MAP_TILE, rule, mem.before + shift, mem.after + shift, 0));
        check_step_u8<<<grid, 64>>>(f, r, w, h, rule, mem.before + shift, mem.after + shift,
                                    mem.counter);
        expect(counted() == 0, "ca by bits", f, r, 32, TMAP_MAP_TILE);
    }
}

// SW by rows of bits takes tiles of up to 256 places, and their neighbours share sectors.
static void run_bits(void) {
    const char *own[] = {"###/###/##.", "##.##/#####/#.#.#", "###/###/###"};
    tmap_u64 most = getenv("TMAP_TEST_SMALL") ? 1u << 16 : (tmap_u64)MOST_PLACES;
    for (int i = 0; i < TMAP_FRACTAL_COUNT + 3; ++i) {
        tmap_nbb f = tmap_fractal_at(i);
        if (i >= TMAP_FRACTAL_COUNT && tmap_nbb_from_rows(own[i - TMAP_FRACTAL_COUNT], &f))
            ++failures;
        run_ca_bits(f, most);
        for (tmap_u32 r = 3; tmap_nbb_side_x(f, r) * tmap_nbb_side_y(f, r) < most; ++r)
            for (int skip = 0; tmapi_sw_by_bits(f, r) && skip < 4; skip += 3)
                run_sw(f, r, 32, TMAP_MAP_TILE, skip);
    }
}

// Random replicas in any order, by the forms that take rho = 32.
static void run_random(int count, tmap_u64 places) {
    for (int n = 0; n < count; ++n) {
        tmap_u32 seed = check_hash((tmap_u64)n, 9), sx = 1 + seed % 5, sy = 1 + (seed >> 8) % 5;
        tmap_u64 tau_x = 0, tau_y = 0;
        tmap_u32 k = 0, most = 1 + (seed >> 16) % 16;
        for (tmap_u32 i = 0; i < 64 && k < most; ++i) {
            tmap_u64 x = check_hash(i, seed) % sx, y = check_hash(i + 64, seed) % sy;
            tmap_u32 j = 0;
            while (j < k && ((tau_x >> 4 * j & 15) != x || (tau_y >> 4 * j & 15) != y)) ++j;
            if (j < k) continue; // taken
            tau_x |= x << 4 * k, tau_y |= y << 4 * k, ++k;
        }
        tmap_nbb f = tmap_nbb_make(k, sx, sy, tau_x, tau_y);
        run_ca_bits(f, 16 * places);
        for (tmap_u32 r = 0; r <= 20; ++r) {
            if (tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r)) > places) break;
            run_case(f, r, 32, TMAP_MAP_LAMBDA_LINEAR);
            if (r <= tmap_rows_level_max(f)) run_case(f, r, 32, TMAP_MAP_ROWS);
            run_case(f, r, 32, TMAP_MAP_TILE);
        }
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
        {gasket, 3, 0, TMAP_MAP_BB, cudaErrorInvalidValue},
        {gasket, 3, 33, TMAP_MAP_LAMBDA, cudaErrorInvalidValue},
        {gasket, 3, 4, -1, cudaErrorInvalidValue},
        {gasket, 3, 4, TMAP_MAP_COUNT, cudaErrorInvalidValue},
        {carpet, 3, 4, TMAP_MAP_LAMBDA_BALLOT, cudaErrorInvalidValue},
        {gasket, 3, 16, TMAP_MAP_TILE, cudaErrorInvalidValue},
        {gasket, 26, 32, TMAP_MAP_TILE, cudaErrorInvalidConfiguration},
        {gasket, 16, 16, TMAP_MAP_ROWS, cudaErrorInvalidValue},
        {gasket, 17, 32, TMAP_MAP_ROWS, cudaErrorInvalidConfiguration},
        {gasket, 65, 4, TMAP_MAP_LAMBDA, cudaErrorInvalidConfiguration},
        {gasket, 40, 1, TMAP_MAP_LAMBDA, cudaErrorInvalidConfiguration},
        {carpet, 21, 1, TMAP_MAP_LAMBDA, cudaErrorInvalidConfiguration},
        {gasket, 33, 32, TMAP_MAP_BB, cudaErrorInvalidConfiguration},
        {tmap_nbb_make(0, 2, 2, 0, 0), 3, 4, TMAP_MAP_LAMBDA, cudaErrorInvalidValue},
        {tmap_nbb_make(3, 0, 2, 0, 0), 3, 4, TMAP_MAP_LAMBDA, cudaErrorInvalidValue},
        {tmap_nbb_make(17, 2, 2, 0, 0), 3, 4, TMAP_MAP_LAMBDA, cudaErrorInvalidValue},
    };
    tmap_ca_rule rule = tmap_ca_life(), nine = {1u << 9, 0};
    CHECK(cudaMemset(mem.words, CHECK_POISON_I32 & 0xff, 4096));
    CHECK(cudaMemset(mem.before, CHECK_POISON_U8, 4096));
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; ++i) {
        tmap_nbb f = bad[i].f;
        tmap_u32 r = bad[i].r, rho = bad[i].rho;
        int map = bad[i].map;
        expect(tmap_sw_i32(f, r, rho, map, 1, mem.words, 0) == bad[i].want, "refusal of sw", f, r,
               rho, map);
        expect(tmap_rd_i32(f, r, rho, map, mem.words, mem.sum, 0) == bad[i].want, "refusal of rd",
               f, r, rho, map);
        expect(tmap_ca_u8(f, r, rho, map, rule, mem.after, mem.before, 0) == bad[i].want,
               "refusal of ca", f, r, rho, map);
    }
    expect(tmap_sw_i32(gasket, 3, 4, 0, 1, NULL, 0) == cudaErrorInvalidValue, "null", gasket, 3, 4,
           0);
    expect(tmap_rd_i32(gasket, 3, 4, 0, NULL, mem.sum, 0) == cudaErrorInvalidValue, "null", gasket,
           3, 4, 0);
    expect(tmap_rd_i32(gasket, 3, 4, 0, mem.words, NULL, 0) == cudaErrorInvalidValue, "null",
           gasket, 3, 4, 0);
    expect(tmap_ca_u8(gasket, 3, 4, 0, rule, mem.before, mem.before, 0) == cudaErrorInvalidValue,
           "one buffer for both", gasket, 3, 4, 0);
    expect(tmap_ca_u8(gasket, 3, 4, 0, nine, mem.after, mem.before, 0) == cudaErrorInvalidValue,
           "nine neighbours", gasket, 3, 4, 0);
    unsigned char bytes[8192] = {0};
    int touched = 0;
    CHECK(cudaMemcpy(bytes, mem.words, 4096, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bytes + 4096, mem.before, 4096, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8192; ++i)
        touched += bytes[i] != (i < 4096 ? (CHECK_POISON_I32 & 0xff) : CHECK_POISON_U8);
    expect(touched == 0, "a refused launch wrote", broken, 0, 0, 0);
}

static void run_rules(void) {
    const struct {
        const char *text;
        int code;
        tmap_u32 born, survive;
    } rules[] = {{"B3/S23", TMAP_OK, 8, 12},
                 {"b36/s23", TMAP_OK, 0x48, 12},
                 {"B/S012345678", TMAP_OK, 0, 0x1ff},
                 {"B/S", TMAP_OK, 0, 0},
                 {"", TMAP_EINVAL, 0, 0},
                 {"B3", TMAP_EINVAL, 0, 0},
                 {"B3/S23x", TMAP_EINVAL, 0, 0},
                 {"B9/S2", TMAP_EINVAL, 0, 0},
                 {"B33/S2", TMAP_EINVAL, 0, 0},
                 {"S23/B3", TMAP_EINVAL, 0, 0},
                 {"B3S23", TMAP_EINVAL, 0, 0},
                 {NULL, TMAP_EINVAL, 0, 0}};
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; ++i) {
        tmap_ca_rule rule = {77, 77};
        int code = tmap_ca_rule_from_text(rules[i].text, &rule);
        int same = code == TMAP_OK ? rule.born == rules[i].born && rule.survive == rules[i].survive
                                   : rule.born == 77 && rule.survive == 77;
        expect(code == rules[i].code && same, "rule", tmap_fractal_gasket(), i, 0, 0);
    }
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
    run_random(getenv("TMAP_TEST_SMALL") ? 3 : 30, places);
    run_bits();
    run_refusals();
    run_rules();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(mem.words));
    CHECK(cudaFree(mem.before));
    CHECK(cudaFree(mem.after));
    CHECK(cudaFree(mem.sum));
    CHECK(cudaFree(mem.counter));
    printf("%s: %d cases, %d failures\n", device.name, cases, failures);
    return failures != 0;
}
