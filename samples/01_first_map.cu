// SPDX-License-Identifier: MIT
// 01_first_map.cu: a first kernel of your own on lambda: one thread for each cell of a fractal.
//
// A launch over the bounding box (BB) of a fractal of level r has sx^r * sy^r threads, most of them
// for empty places. Lambda sends each thread omega = (wx, wy) of a smaller box, the orthotope of
// k^ceil(r/2) x k^floor(r/2) threads, to a cell of its own, so that none is launched for nothing:
//     lambda(omega) = sum over mu = 1..r of H[beta_mu(omega)] * s^(mu-1)
//
// Compile: nvcc -I include 01_first_map.cu -o first_map
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/size.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// [snippet: first-map]
__global__ void first_map(tmap_nbb f, tmap_u32 r, tmap_xy64 box, int *out, tmap_u64 width) {
    tmap_u32 wx = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 wy = blockIdx.y * blockDim.y + threadIdx.y;
    if (wx >= box.x || wy >= box.y) return;       // the last blocks overlap the orthotope's end
    tmap_xy cell = tmap_nbb_lambda(f, wx, wy, r); // thread (wx, wy) -> cell (x, y)
    out[cell.y * width + cell.x] = 1;             // whatever you want to do with the cell
}
// [/snippet]

// The same work by bounding box, for comparison: most threads find that they have no cell.
__global__ void bounding_box(tmap_nbb f, tmap_u32 r, tmap_xy64 box, int *out, tmap_u64 width) {
    tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x;
    tmap_u32 y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < box.x && y < box.y && tmap_nbb_contains(f, x, y, r)) out[y * width + x] = 1;
}

#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) { \
        fprintf(stderr, "01_first_map: %s: %s\n", #call, cudaGetErrorString(status)); \
        exit(1); \
    }
static cudaError_t status; // of the last CUDA call

enum { FRACTAL, LEVEL, RHO, OPTIONS };
static const char *const options[] = {"--fractal", "--level", "--rho"};
static const char help[] =
    "usage: 01_first_map [--fractal NAME|ROWS] [--level R] [--rho N]\n"
    "Writes a 1 to each cell of a fractal, by bounding box and by lambda, and checks both.\n"
    "  --fractal  gasket carpet vicsek x h cantor chandelier candy bottles, or rows: '#./##'\n"
    "  --level    of the fractal, 0 to 64 (auto: up to 2^28 places; on the CPU machine 2^18)\n"
    "  --rho      side of the blocks, 1 to 32 (16)\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

// Bad input: one line, so only the first row of a value is shown.
static void bad(const char *what, const char *value) {
    fprintf(stderr, "01_first_map: %s: '%.*s' (see --help)\n", what, (int)strcspn(value, "\r\n"),
            value);
    exit(2);
}

static tmap_u32 number(const char *what, const char *text, tmap_u32 least, tmap_u32 most) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10); // what does not fit saturates
    if (*text < '0' || *text > '9' || *end || v < least || v > most) bad(what, text);
    return (tmap_u32)v;
}

typedef struct launch {
    dim3 grid, block;
    tmap_u64 threads;
} launch;

// A thread for each place of a box, in blocks of rho x rho, flatter where the box is.
static launch cover(tmap_xy64 box, tmap_u32 rho) {
    launch l;
    tmap_u32 bx = box.x < rho ? (tmap_u32)box.x : rho, by = box.y < rho ? (tmap_u32)box.y : rho;
    tmap_u64 gx = (box.x + bx - 1) / bx, gy = (box.y + by - 1) / by;
    if (gx > 0x7fffffff || gy > 65535) bad("too many blocks for a grid with this --rho", "");
    l.grid = dim3((unsigned)gx, (unsigned)gy), l.block = dim3(bx, by);
    l.threads = gx * bx * gy * by;
    return l;
}

typedef void kernel(tmap_nbb, tmap_u32, tmap_xy64, int *, tmap_u64);

#define RUNS 7

static int by_size(const void *a, const void *b) {
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

// The median time of RUNS launches, after one that warms up.
static float time_ms(kernel *run, launch l, tmap_nbb f, tmap_u32 r, tmap_xy64 box, int *out) {
    float ms[RUNS + 1];
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int i = RUNS; i >= 0; --i) {
        CHECK(cudaEventRecord(start));
        run<<<l.grid, l.block>>>(f, r, box, out, tmap_nbb_side_x(f, r));
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms[i], start, stop));
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    qsort(ms, RUNS, sizeof *ms, by_size);
    return ms[RUNS / 2];
}

#define POISON 0x5a5a5a5a // before a run; what is not a cell must still hold it afterwards

// Compares every place with what must be there, a band of rows at a time: 1 in a cell, else poison.
// As many threads as cells reached all cells, so lambda is one to one.
static int verify(tmap_nbb f, tmap_u32 r, const int *out) {
    tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r), wrong = 0, cells = 0;
    tmap_u64 most = (64u << 20) / (width * sizeof(int)) + 1, rows = most < height ? most : height;
    int *band;
    CHECK(cudaMallocHost((void **)&band, (size_t)(rows * width * sizeof(int))));
    for (tmap_u64 top = 0; top < height; top += rows) {
        if (rows > height - top) rows = height - top;
        CHECK(cudaMemcpy(band, out + top * width, (size_t)(rows * width * sizeof(int)),
                         cudaMemcpyDeviceToHost));
        for (tmap_u64 y = 0; y < rows; ++y)
            for (tmap_u64 x = 0; x < width; ++x) {
                int cell = tmap_nbb_contains(f, (tmap_u32)x, (tmap_u32)(top + y), r);
                cells += cell;
                wrong += band[y * width + x] != (cell ? 1 : POISON);
            }
    }
    CHECK(cudaFreeHost(band));
    return wrong == 0 && cells == tmap_nbb_cells(f, r);
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {"gasket", "auto", "16"};
    tmap_nbb f;
    tmap_u32 r = 0;
    int error, devices, *out;
    size_t memory, total;
    cudaDeviceProp gpu;
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
    if (!level_auto) r = number("no --level from 0 to 64", text[LEVEL], 0, 64);
    tmap_u32 rho = number("no --rho from 1 to 32", text[RHO], 1, 32);

    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    while (level_auto && r < 28 &&
           tmap_nbb_side_x(f, r + 1) * tmap_nbb_side_y(f, r + 1) <= 1ull << (cpu ? 18 : 28))
        ++r;

    // Sizes saturate at 2^64 - 1: no level wraps around to one that seems to fit.
    tmap_xy64 place = {tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r)};
    tmap_u64 bytes = tmap_mul_saturate(tmap_mul_saturate(place.x, place.y), sizeof(int));
    CHECK(cudaMemGetInfo(&memory, &total));
    if (bytes > memory / 16 * 15) bad("no memory for this --level", text[LEVEL]);
    if (r > tmap_nbb_level_max32(f)) bad("lambda needs 64 bits for this --level", text[LEVEL]);

    launch bb = cover(place, rho), lambda = cover(tmap_nbb_orthotope(f, r), rho);
    CHECK(cudaMalloc((void **)&out, (size_t)bytes));
    CHECK(cudaMemset(out, POISON & 255, (size_t)bytes));
    // [snippet: first-launch]
    tmap_xy64 box = tmap_nbb_orthotope(f, r); // k^ceil(r/2) x k^floor(r/2)
    dim3 grid((unsigned)((box.x + rho - 1) / rho), (unsigned)((box.y + rho - 1) / rho));
    first_map<<<grid, dim3(rho, rho)>>>(f, r, box, out, tmap_nbb_side_x(f, r));
    // [/snippet]
    CHECK(cudaGetLastError());
    int verified = verify(f, r, out);

    // The same again and again, for the times, in blocks that are flat where the fractal is.
    CHECK(cudaMemset(out, POISON & 255, (size_t)bytes));
    float bb_ms = time_ms(bounding_box, bb, f, r, place, out);
    verified &= verify(f, r, out);
    CHECK(cudaMemset(out, POISON & 255, (size_t)bytes));
    float lambda_ms = time_ms(first_map, lambda, f, r, box, out);
    verified &= verify(f, r, out);
    CHECK(cudaFree(out));
    double use = 100.0 * (double)tmap_nbb_cells(f, r); // per cent, once divided by the threads
    printf("machine          fractal          n             BB threads  lambda threads   BB use"
           "  lam. use     BB ms lambda ms  speedup  verified\n"
           "%-16s %-10s %6llux%-6llu %14llu  %14llu %7.2f%%  %7.2f%% %9.4f %9.4f %7.2fx  %s\n",
           cpu ? "CPU machine" : gpu.name, tmap_fractal_name(tmap_fractal_index(f)), place.x,
           place.y, bb.threads, lambda.threads, use / (double)bb.threads,
           use / (double)lambda.threads, bb_ms, lambda_ms, bb_ms / lambda_ms,
           verified ? "yes" : "NO");
    if (cpu) puts("Times of the CPU machine say nothing about a GPU.");
    return verified ? 0 : 1;
}
