// SPDX-License-Identifier: MIT
// 03_reduction.cu: the ready kernel that adds up the cells of a fractal, by bounding box (BB) and by
// lambda. The cells hold random integers, negative ones too, and the sum is exact in 64 bits.
//
// Both forms add the same numbers; they differ in the threads that they launch for them:
//     sum = sum over all places (x, y) of the embedding that are cells of in[y][x]        (BB)
//         = sum over all omega of the orthotope of in[lambda(omega)]                       (lambda)
//
// Compile: nvcc -I include 03_reduction.cu -o reduction
#include <threadmap/fractal/rd.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A random integer for place i: its number and the seed, well mixed (the finisher of splitmix64).
static __host__ __device__ int random_at(tmap_u64 seed, tmap_u64 i) {
    tmap_u64 z = (seed + 1) * 0x9e3779b97f4a7c15ull + i;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (int)(tmap_u32)(z >> 32);
}

// Fills all places, not the cells alone: a sum that reads a place outside the fractal comes out wrong.
__global__ void fill(int *in, tmap_u64 places, tmap_u64 seed) {
    tmap_u64 step = (tmap_u64)gridDim.x * blockDim.x;
    for (tmap_u64 i = (tmap_u64)blockIdx.x * blockDim.x + threadIdx.x; i < places; i += step)
        in[i] = random_at(seed, i);
}

#define RUNS 7
#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) { \
        fprintf(stderr, "03_reduction: %s: %s\n", #call, cudaGetErrorString(status)); \
        exit(1); \
    }
static cudaError_t status; // of the last CUDA call

enum { FRACTAL, LEVEL, RHO, MAP, SEED, OPTIONS };
static const char *const options[] = {"--fractal", "--level", "--rho", "--map", "--seed"};
static const char help[] =
    "usage: 03_reduction [--fractal NAME|ROWS] [--level R] [--rho N] [--map MAP] [--seed S]\n"
    "Adds up random numbers in the cells of a fractal, by bounding box and by lambda.\n"
    "  --fractal  gasket carpet vicsek x h cantor chandelier candy bottles, or rows: '#./##'\n"
    "  --level    of the fractal, 0 to 64 (auto: up to 2^28 places; on the CPU machine 2^18)\n"
    "  --rho      side of the blocks, 1 to 32 (16)\n"
    "  --map      lambda, lambda_{shuffle,redux,ballot}; --rho 32: lambda_linear, tile (auto)\n"
    "  --seed     of the random numbers, 0 to 2^64 - 1 (1)\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

// Bad input: one line, so only the first row of a value is shown.
static void bad(const char *what, const char *value) {
    fprintf(stderr, "03_reduction: %s: '%.*s' (see --help)\n", what, (int)strcspn(value, "\r\n"),
            value);
    exit(2);
}

static tmap_u64 number(const char *what, const char *text, tmap_u64 least, tmap_u64 most) {
    tmap_u64 v = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && v <= (most - (tmap_u64)(*c - '0')) / 10; ++c)
        v = 10 * v + (tmap_u64)(*c - '0');
    if (c == text || *c || v < least) bad(what, text);
    return v;
}

static int by_size(const void *a, const void *b) {
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

// The sum that the GPU finds; *median_ms: of RUNS runs, after one that warms up.
static tmap_i64 measure(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, const int *in,
                        float *median_ms) {
    float ms[RUNS + 1];
    tmap_i64 *sum, result;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMalloc((void **)&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0x5a, sizeof *sum)); // poison: the launcher must clear it
    for (int i = RUNS; i >= 0; --i) {
        CHECK(cudaEventRecord(start));
        CHECK(tmap_rd_i32(f, r, rho, map, in, sum, 0));
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms[i], start, stop));
    }
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(sum));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    qsort(ms, RUNS, sizeof *ms, by_size); // without the first run, ms[RUNS]
    *median_ms = ms[RUNS / 2];
    return result;
}

// Checks that every place still holds its number and adds up the cells, a band of rows at a time.
static int host_sum(tmap_nbb f, tmap_u32 r, tmap_u64 seed, const int *in, tmap_i64 *sum) {
    tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r), wrong = 0, cells = 0;
    tmap_u64 most = (64u << 20) / (width * sizeof(int)) + 1, rows = most < height ? most : height;
    int *band;
    *sum = 0;
    CHECK(cudaMallocHost((void **)&band, (size_t)(rows * width * sizeof(int))));
    for (tmap_u64 top = 0; top < height; top += rows) {
        if (rows > height - top) rows = height - top;
        CHECK(cudaMemcpy(band, in + top * width, (size_t)(rows * width * sizeof(int)),
                         cudaMemcpyDeviceToHost));
        for (tmap_u64 y = 0; y < rows; ++y)
            for (tmap_u64 x = 0; x < width; ++x) {
                int number = band[y * width + x];
                wrong += number != random_at(seed, (top + y) * width + x);
                if (tmap_nbb_contains64(f, x, top + y, r)) *sum += number, ++cells;
            }
    }
    CHECK(cudaFreeHost(band));
    return wrong == 0 && cells == tmap_nbb_cells(f, r);
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {"gasket", "auto", "16", "auto", "1"};
    tmap_nbb f;
    tmap_box bb, lambda;
    tmap_i64 sum;
    tmap_u32 r = 0, rho;
    int error, map = 0, devices, *in;
    size_t memory, total;
    cudaDeviceProp gpu;
    float bb_ms, lambda_ms;
    for (int i = 1; i < argc; i += 2) {
        int o = 0;
        if (!strcmp(argv[i], "--help")) return fputs(help, stdout) < 0;
        while (o < OPTIONS && strcmp(argv[i], options[o])) ++o;
        if (o == OPTIONS) bad("unknown option", argv[i]);
        if (i + 1 == argc) bad("no value after", argv[i]);
        text[o] = argv[i + 1];
    }
    if ((error = tmap_fractal_from_text(text[FRACTAL], &f)))
        bad(tmap_strerror(error), text[FRACTAL]);
    int level_auto = !strcmp(text[LEVEL], "auto");
    if (!level_auto) r = (tmap_u32)number("no --level from 0 to 64", text[LEVEL], 0, 64);
    rho = (tmap_u32)number("no --rho from 1 to 32", text[RHO], 1, 32);
    tmap_u64 seed = number("no --seed from 0 to 2^64 - 1", text[SEED], 0, ~0ull);
    while (map < TMAP_MAP_COUNT && strcmp(text[MAP], tmap_map_name(map))) ++map;
    if (!strcmp(text[MAP], "auto"))
        map = tmap_nbb_has_ballot(f) ? TMAP_MAP_LAMBDA_BALLOT : TMAP_MAP_LAMBDA_SHUFFLE;
    if (tmap_box_make(f, 0, rho, map, &lambda)) bad("no --map for this fractal", text[MAP]);

    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    while (level_auto && r < 28 &&
           tmap_nbb_side_x(f, r + 1) * tmap_nbb_side_y(f, r + 1) <= 1ull << (cpu ? 18 : 28))
        ++r;
    tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r); // saturate
    tmap_u64 bytes = tmap_mul_saturate(tmap_mul_saturate(width, height), sizeof(int));
    CHECK(cudaMemGetInfo(&memory, &total));
    if (bytes > memory / 16 * 15) bad("no memory for this --level", text[LEVEL]);
    if (tmap_box_make(f, r, rho, TMAP_MAP_BB, &bb) || tmap_box_make(f, r, rho, map, &lambda))
        bad("no grid for this --level and --rho", text[LEVEL]);

    CHECK(cudaMalloc((void **)&in, (size_t)bytes));
    fill<<<1024, 256>>>(in, bytes / sizeof(int), seed);
    CHECK(cudaGetLastError());
    int verified = measure(f, r, rho, TMAP_MAP_BB, in, &bb_ms) ==
                   (sum = measure(f, r, rho, map, in, &lambda_ms));
    tmap_i64 expected;
    verified &= host_sum(f, r, seed, in, &expected) && sum == expected;
    CHECK(cudaFree(in));
    double bb_t = (double)tmap_box_threads(bb), lambda_t = (double)tmap_box_threads(lambda);
    double use = 100.0 * (double)tmap_nbb_cells(f, r); // per cent, once divided by the threads
    printf("machine          fractal          n             BB threads  lambda threads   BB use"
           "  lam. use     BB ms lambda ms  speedup map             verified\n"
           "%-16s %-10s %6llux%-6llu %14.0f  %14.0f %7.2f%%  %7.2f%% %9.4f %9.4f %7.2fx %-15s %s\n",
           cpu ? "CPU machine" : gpu.name, tmap_fractal_name(tmap_fractal_index(f)), bb.width,
           bb.height, bb_t, lambda_t, use / bb_t, use / lambda_t, bb_ms, lambda_ms,
           bb_ms / lambda_ms, tmap_map_name(map), verified ? "yes" : "NO");
    if (cpu) puts("Times of the CPU machine say nothing about a GPU.");
    return verified ? 0 : 1;
}
