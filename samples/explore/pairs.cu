// SPDX-License-Identifier: MIT
// pairs.cu: explore pairs: a kernel over all pairs of points by bounding box, by the map g(lambda) of
// pairs, and by that of tiles.
#include "tool.h"

#include <threadmap/triangle/map.h>

static const char help[] =
    "usage: explore pairs [OPTION VALUE]...\n"
    "Counts the pairs of random points that are nearer to each other than a cutoff.\n"
    "  --points   0 to 1000000 (auto: 32768; on the CPU machine 768)\n"
    "  --cutoff   1 to 200000; the points lie in a cube of side 65536 (2048)\n"
    "  --seed     of the points, 0 to 2^32 - 1 (1)\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

enum { POINTS, CUTOFF, SEED };
enum { BOX, PAIRS, TILES, WAYS };
enum { RHO = 16, SIDE = 65536, BLOCK = 256 };

// Whole numbers, so that GPU and host agree on every pair.
typedef struct point {
    int x, y, z;
} point;

TMAP_FN int near(point a, point b, tmap_u64 squared) {
    const tmap_i64 x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return (tmap_u64)(x * x + y * y + z * z) < squared;
}

typedef struct pairs_task {
    int way;
    const point *points;
    tmap_u32 n;
    tmap_u64 squared, pairs;
    tmap_u64 *count;
} pairs_task;

// Blocks above the diagonal end at once.
static __global__ void by_box(pairs_task t) {
    if (blockIdx.x > blockIdx.y) return;
    const tmap_u32 i = blockIdx.y * RHO + threadIdx.y, j = blockIdx.x * RHO + threadIdx.x;
    if (i < t.n && j < i && near(t.points[i], t.points[j], t.squared)) atomicAdd(t.count, 1ull);
}

static __global__ void by_pairs(pairs_task t) {
    const tmap_u64 lambda = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (lambda >= t.pairs) return;
    const tmap_pair64 p = tmap_triangle_map_strict64(lambda);
    if (near(t.points[p.i], t.points[p.j], t.squared)) atomicAdd(t.count, 1ull);
}

// A block reads each of its points once.
static __global__ void by_tiles(pairs_task t) {
    __shared__ point rows[RHO], columns[RHO];
    const tmap_triangle_tile tile = tmap_triangle_tile_map64(blockIdx.x, t.n, RHO);
    const tmap_u32 x = threadIdx.x, y = threadIdx.y;
    if (x == 0 && y < tile.rows) rows[y] = t.points[tile.i + y];
    if (y == 0 && x < tile.columns) columns[x] = t.points[tile.j + x];
    __syncthreads();
    if (tmap_triangle_tile_contains_strict(tile, x, y) && near(rows[y], columns[x], t.squared))
        atomicAdd(t.count, 1ull);
}

static tmap_u64 task_blocks(const pairs_task *t) {
    const tmap_u64 side = tmap_triangle_tile_rows(t->n, RHO);
    return t->way == BOX     ? side * side
           : t->way == PAIRS ? (t->pairs + BLOCK - 1) / BLOCK
                             : tmap_triangle_tiles(t->n, RHO);
}

static void task_run(void *job) {
    const pairs_task *t = (const pairs_task *)job;
    const tmap_u32 side = tmap_triangle_tile_rows(t->n, RHO);
    const dim3 square(RHO, RHO);
    CHECK(cudaMemsetAsync(t->count, 0, sizeof *t->count, 0));
    if (t->n == 0 || task_blocks(t) == 0) return;
    if (t->way == BOX)
        by_box<<<dim3(side, side), square>>>(*t);
    else if (t->way == PAIRS)
        by_pairs<<<(unsigned)task_blocks(t), BLOCK>>>(*t);
    else
        by_tiles<<<(unsigned)task_blocks(t), square>>>(*t);
    CHECK(cudaGetLastError());
}

// Random points: number i of a seed is always the same.
static void fill_points(point *points, tmap_u32 n, tmap_u64 seed) {
    for (tmap_u32 i = 0; i < n; ++i) {
        tmap_u64 z = (i + 1 + (seed << 32)) * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z ^= z >> 27;
        points[i].x = (int)(z % SIDE), points[i].y = (int)(z >> 16 & (SIDE - 1));
        points[i].z = (int)(z >> 32 & (SIDE - 1));
    }
}

int explore_pairs(int count, char **words) {
    static const char *const ways[WAYS] = {"bounding box", "g(lambda), pairs", "g(lambda), tiles"};
    option o[] = {{"--points", "auto"}, {"--cutoff", "2048"}, {"--seed", "1"}, {NULL, NULL}};
    tmap_u64 expected = 0;
    float ms[WAYS];
    int verified = 1;
    pairs_task t;
    options_read(o, count, words, help);
    const tmap_u64 cutoff = number("no --cutoff from 1 to 200000", o[CUTOFF].value, 1, 200000);
    const tmap_u64 seed = number("no --seed from 0 to 2^32 - 1", o[SEED].value, 0, ~0u);
    const int automatic = !strcmp(o[POINTS].value, "auto");
    if (!automatic)
        t.n = (tmap_u32)number("no --points from 0 to 1000000", o[POINTS].value, 0, 1000000);
    const machine m = machine_get();
    if (automatic) t.n = m.cpu ? 768 : 32768;
    t.squared = cutoff * cutoff, t.pairs = tmap_triangle_cells_strict(t.n);

    const size_t bytes = t.n * sizeof(point);
    point *host = (point *)host_memory(bytes, &o[POINTS]);
    point *points = (point *)device_memory(bytes, &o[POINTS]);
    t.count = (tmap_u64 *)device_memory(sizeof *t.count, &o[POINTS]);
    fill_points(host, t.n, seed);
    CHECK(cudaMemcpy(points, host, bytes, cudaMemcpyHostToDevice));
    t.points = points;
    for (tmap_u32 i = 0; i < t.n; ++i)
        for (tmap_u32 j = 0; j < i; ++j) expected += (tmap_u64)near(host[i], host[j], t.squared);
    printf("%u points, %llu pairs, %llu of them nearer than %llu, on the %s\n", t.n, t.pairs,
           expected, cutoff, m.name);
    rows_begin("pairs");
    for (t.way = BOX; t.way < WAYS; ++t.way) {
        tmap_u64 got;
        ms[t.way] = time_of(&m, task_run, &t);
        CHECK(cudaMemcpy(&got, t.count, sizeof got, cudaMemcpyDeviceToHost));
        rows_add(ways[t.way], (double)task_blocks(&t) * BLOCK, (double)t.pairs, ms[t.way], ms[BOX],
                 got == expected);
        verified &= got == expected;
    }
    rows_end(&m);
    CHECK(cudaFree(points));
    CHECK(cudaFree(t.count));
    free(host);
    return verified ? 0 : 1;
}
