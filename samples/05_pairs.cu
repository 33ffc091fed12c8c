// SPDX-License-Identifier: MIT
// 05_pairs.cu: a kernel of your own over all pairs of n things: it counts the pairs of points that
// are nearer to each other than a cutoff.
//
// A launch over the bounding box (BB), n x n threads, does every pair twice, or leaves half of its
// threads without one. The map g sends n(n-1)/2 threads lambda to the pairs (i, j), j < i:
//     g(lambda) = (i, lambda - i(i-1)/2), i = floor(1/2 + sqrt(1/4 + 2 lambda))
// without rounding errors, for every number below 2^64.
//
// Compile: nvcc -I include 05_pairs.cu -o pairs
#include <threadmap/triangle/size.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whole numbers, so that GPU and host agree on every pair.
typedef struct point {
    int x, y, z;
} point;

TMAP_FN tmap_u64 distance_squared(point a, point b) {
    tmap_i64 x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return (tmap_u64)(x * x + y * y + z * z);
}

// [snippet: pairs]
__global__ void near_pairs(const point *points, tmap_u64 pairs, tmap_u64 cutoff, tmap_u64 *count) {
    tmap_u64 lambda = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (lambda >= pairs) return;                             // the last block overlaps the end
    tmap_pair64 p = tmap_triangle_map_strict64(lambda);      // thread lambda -> pair (i, j), j < i
    if (distance_squared(points[p.i], points[p.j]) < cutoff) // whatever you want to do with it
        atomicAdd(count, 1ull);
}
// [/snippet]

// The same work by bounding box, for comparison: blocks above the diagonal end at once.
__global__ void bounding_box(const point *points, tmap_u64 n, tmap_u64 cutoff, tmap_u64 *count) {
    if (blockIdx.x > blockIdx.y) return;
    tmap_u64 i = blockIdx.y * (tmap_u64)blockDim.y + threadIdx.y;
    tmap_u64 j = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (i < n && j < i && distance_squared(points[i], points[j]) < cutoff) atomicAdd(count, 1ull);
}

#define RUNS 7
#define RHO  16 // side of the blocks of BB
#define SIDE 65536
#define CHECK(call) \
    if ((status = (call)) != cudaSuccess) { \
        fprintf(stderr, "05_pairs: %s: %s\n", #call, cudaGetErrorString(status)); \
        exit(1); \
    }
static cudaError_t status; // of the last CUDA call

enum { POINTS, CUTOFF, SEED, OPTIONS };
static const char *const options[] = {"--points", "--cutoff", "--seed"};
static const char help[] =
    "usage: 05_pairs [--points N] [--cutoff C] [--seed S]\n"
    "Counts the pairs of N random points that are nearer than C, by bounding box and by map.\n"
    "  --points   0 to 1000000 (auto: 32768; on the CPU machine 768)\n"
    "  --cutoff   1 to 200000; the points lie in a cube of side 65536 (2048)\n"
    "  --seed     of the points, 0 to 2^32 - 1 (1)\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

static void bad(const char *what, const char *value) {
    fprintf(stderr, "05_pairs: %s: '%.*s' (see --help)\n", what, (int)strcspn(value, "\r\n"),
            value);
    exit(2);
}

static tmap_u32 number(const char *what, const char *text, tmap_u32 least, tmap_u32 most) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10); // what does not fit saturates
    if (*text < '0' || *text > '9' || *end || v < least || v > most) bad(what, text);
    return (tmap_u32)v;
}

static int by_size(const void *a, const void *b) {
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

// The count, and the median time of RUNS launches after one that warms up. map: 0 for BB.
static tmap_u64 measure(int map, const point *points, tmap_u64 n, tmap_u64 cutoff, tmap_u64 *count,
                        float *median_ms) {
    float ms[RUNS + 1];
    tmap_u64 result = 0;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int i = RUNS; i >= 0; --i) {
        CHECK(cudaMemset(count, 0, sizeof *count));
        CHECK(cudaEventRecord(start));
        if (map && n > 1) {
            // [snippet: pairs-launch]
            tmap_u64 pairs = tmap_triangle_cells_strict(n); // n(n-1)/2
            near_pairs<<<(unsigned)((pairs + 255) / 256), 256>>>(points, pairs, cutoff, count);
            // [/snippet]
        } else if (n > 1) {
            unsigned blocks = (unsigned)((n + RHO - 1) / RHO);
            bounding_box<<<dim3(blocks, blocks), dim3(RHO, RHO)>>>(points, n, cutoff, count);
        }
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms[i], start, stop));
        CHECK(cudaMemcpy(&result, count, sizeof result, cudaMemcpyDeviceToHost));
    }
    qsort(ms, RUNS, sizeof *ms, by_size); // without the first run, ms[RUNS]
    *median_ms = ms[RUNS / 2];
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return result;
}

int main(int argc, char **argv) {
    const char *text[OPTIONS] = {"auto", "2048", "1"};
    int devices;
    cudaDeviceProp gpu;
    point *points, *host;
    tmap_u64 *count, expected = 0;
    float bb_ms, map_ms;
    for (int i = 1; i < argc; i += 2) {
        int o = 0;
        if (!strcmp(argv[i], "--help")) return fputs(help, stdout) < 0;
        while (o < OPTIONS && strcmp(argv[i], options[o])) ++o;
        if (o == OPTIONS) bad("unknown option", argv[i]);
        if (i + 1 == argc) bad("no value after", argv[i]);
        text[o] = argv[i + 1];
    }
    int points_auto = !strcmp(text[POINTS], "auto");
    tmap_u32 n = 0, cutoff = number("no --cutoff from 1 to 200000", text[CUTOFF], 1, 200000);
    tmap_u32 seed = number("no --seed from 0 to 2^32 - 1", text[SEED], 0, ~0u);
    if (!points_auto) n = number("no --points from 0 to 1000000", text[POINTS], 0, 1000000);
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int cpu = !strcmp(gpu.name, "CPU SIMT machine");
    if (points_auto) n = cpu ? 768 : 32768;

    size_t bytes = (n + 1ull) * sizeof(point);
    CHECK(cudaMallocHost((void **)&host, bytes));
    CHECK(cudaMalloc((void **)&points, bytes));
    CHECK(cudaMalloc((void **)&count, sizeof *count));
    for (tmap_u32 i = 0; i < n; ++i) {
        tmap_u64 z = (i + 1 + ((tmap_u64)seed << 32)) * 0x9e3779b97f4a7c15ull; // mixed
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z ^= z >> 27;
        host[i].x = (int)(z % SIDE), host[i].y = (int)(z >> 16) & (SIDE - 1);
        host[i].z = (int)(z >> 32) & (SIDE - 1);
    }
    CHECK(cudaMemcpy(points, host, bytes, cudaMemcpyHostToDevice));
    tmap_u64 squared = (tmap_u64)cutoff * cutoff;
    tmap_u64 by_box = measure(0, points, n, squared, count, &bb_ms);
    tmap_u64 by_map = measure(1, points, n, squared, count, &map_ms);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < i; ++j) expected += distance_squared(host[i], host[j]) < squared;
    CHECK(cudaFree(points));
    CHECK(cudaFree(count));
    CHECK(cudaFreeHost(host));
    int verified = by_box == expected && by_map == expected;
    tmap_u64 blocks = (n + RHO - 1) / RHO, pairs = tmap_triangle_cells_strict(n);
    double bb_t = (double)(blocks * blocks) * RHO * RHO;
    double map_t = (double)((pairs + 255) / 256 * 256);
    printf("machine           points   near pairs      BB threads     map threads   BB use  map use"
           "     BB ms    map ms  speedup  verified\n"
           "%-16s %7u %12llu %15.0f %15.0f %7.2f%% %7.2f%% %9.4f %9.4f %7.2fx  %s\n",
           cpu ? "CPU machine" : gpu.name, n, by_map, bb_t, map_t,
           bb_t > 0 ? 100.0 * (double)pairs / bb_t : 0,
           map_t > 0 ? 100.0 * (double)pairs / map_t : 0, bb_ms, map_ms,
           map_ms > 0 ? bb_ms / map_ms : 0, verified ? "yes" : "NO");
    if (cpu) puts("Times of the CPU machine say nothing about a GPU.");
    return verified ? 0 : 1;
}
