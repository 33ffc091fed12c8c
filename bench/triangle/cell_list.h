// SPDX-License-Identifier: MIT
// cell_list.h: the pairs of points within a radius by a list of cells, as it is written by hand:
// points of the unit cube are sorted by cells of at least the radius in width, and each is compared
// with those of its own cell and of the neighbouring ones alone.
//
// Cells are numbered along x first, so that three of them in a row are one range of sorted points.
// A pair is looked at from the point that is sorted before the other: in its own row of cells, from
// the point itself on to the end of the next cell, and in the four rows of cells that come after it.
#ifndef BENCH_TRIANGLE_CELL_LIST_H
#define BENCH_TRIANGLE_CELL_LIST_H

#include "pairs_count.h"

#ifndef SIMT_H // the CPU machine of the tests, for which CUB is not made
#include <cub/device/device_scan.cuh>
#endif

enum { CELL_THREADS = 128, CELL_ROWS = 5 };

typedef struct cell_list {
    tmap_u32 n, side, cells; // side: cells along a side of the cube
    float minus_r2;
    const float *points;
    tmap_u32 *counts, *first; // of each cell, and one more: its points, and the first of them
    tmap_u32 *rank;           // of each point: how many came into its cell before it
    float4 *sorted;
    void *scan;
    size_t scan_bytes;
    tmap_u64 *result;
} cell_list;

// The cell of a coordinate. It may be rounded into the next one by 2^-24, by less than cells are
// wider than the radius.
TMAP_DEVICE tmap_u32 cell_at(const cell_list *c, float x) {
    const tmap_u32 at = (tmap_u32)(x * (float)c->side);
    return at < c->side ? at : c->side - 1;
}
TMAP_DEVICE tmap_u32 cell_of(const cell_list *c, const float *p) {
    return (cell_at(c, p[2]) * c->side + cell_at(c, p[1])) * c->side + cell_at(c, p[0]);
}

static __global__ void cell_count(cell_list c) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < c.n) c.rank[i] = atomicAdd(&c.counts[cell_of(&c, c.points + 3ull * i)], 1u);
}
static __global__ void cell_sort(cell_list c) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *p = c.points + 3ull * i;
    if (i < c.n) c.sorted[c.first[cell_of(&c, p)] + c.rank[i]] = make_float4(p[0], p[1], p[2], 0);
}

// A thread for each sorted point and each of the rows of cells that it looks at: blockIdx.y.
static __global__ void __launch_bounds__(CELL_THREADS) cell_pairs(cell_list c) {
    __shared__ tmap_u32 all; // less than 2^32: the points of a block times 2^20
    const tmap_u32 i = blockIdx.x * CELL_THREADS + threadIdx.x, row = blockIdx.y;
    const int last = (int)c.side - 1;
    tmap_u32 sum = 0;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    if (i < c.n) {
        const float4 mine = c.sorted[i];
        const float u[3] = {mine.x, mine.y, mine.z};
        const int x = (int)cell_at(&c, u[0]);
        const int y = (int)cell_at(&c, u[1]) + (row == 0 ? 0 : row == 1 ? 1 : (int)row - 3);
        const int z = (int)cell_at(&c, u[2]) + (row > 1);
        if (y >= 0 && y <= last && z <= last) {
            const tmap_u32 *first = c.first + ((tmap_u32)z * c.side + (tmap_u32)y) * c.side;
            const tmap_u32 from = row == 0 ? i + 1 : first[x > 0 ? x - 1 : 0];
            const tmap_u32 to = first[(x < last ? x + 1 : last) + 1];
            const tmap_u32 count = to > from ? to - from : 0;
            const float4 *others = c.sorted + from;
#pragma unroll 4
            for (tmap_u32 k = 0; k < count; ++k) {
                const float4 other = others[k];
                const float v[3] = {other.x, other.y, other.z};
                sum += pairs_near(u, v, c.minus_r2);
            }
        }
    }
    sum = (tmap_u32)tmap_warp_sum_i32(tmap_warp_full(), (int)sum);
    if (threadIdx.x % 32 == 0 && sum) atomicAdd(&all, sum);
    __syncthreads();
    if (threadIdx.x == 0 && all) atomicAdd(c.result, 1ull * all);
}

// first[k] = counts[0] + ... + counts[k - 1] for k <= cells.
#ifdef SIMT_H
static __global__ void cell_scan_serial(cell_list c) {
    tmap_u32 sum = 0;
    for (tmap_u32 k = 0; k <= c.cells; sum += c.counts[k++]) c.first[k] = sum;
}
static cudaError_t cell_scan(cell_list *c) {
    if (!c->scan) return c->scan_bytes = 1, cudaSuccess;
    cell_scan_serial<<<1, 1>>>(*c);
    return cudaGetLastError();
}
#else
static cudaError_t cell_scan(cell_list *c) { // without memory, it asks how much that takes
    return cub::DeviceScan::ExclusiveSum(c->scan, c->scan_bytes, c->counts, c->first,
                                         (int)c->cells + 1);
}
#endif

// The count from the points on, with all that is made of them.
static void cell_list_run(void *context) {
    cell_list *c = (cell_list *)context;
    const tmap_u32 blocks = (c->n + CELL_THREADS - 1) / CELL_THREADS;
    CHECK(cudaMemsetAsync(c->counts, 0, (c->cells + 1) * sizeof *c->counts, 0));
    CHECK(cudaMemsetAsync(c->result, 0, sizeof *c->result, 0));
    cell_count<<<blocks, CELL_THREADS>>>(*c);
    CHECK(cudaGetLastError());
    CHECK(cell_scan(c));
    cell_sort<<<blocks, CELL_THREADS>>>(*c);
    CHECK(cudaGetLastError());
    cell_pairs<<<dim3(blocks, CELL_ROWS), CELL_THREADS>>>(*c);
    CHECK(cudaGetLastError());
}

static tmap_u64 cell_list_result(cell_list *c, float minus_r2) {
    tmap_u64 sum;
    c->minus_r2 = minus_r2;
    cell_list_run(c);
    CHECK(cudaMemcpy(&sum, c->result, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
}

// Memory, of kit.h, for n points and any number of cells along a side up to `sides`.
static void cell_list_begin(cell_list *c, tmap_u32 n, const float *points, tmap_u32 sides) {
    const tmap_u64 cells = 1ull * sides * sides * sides;
    memset(c, 0, sizeof *c);
    c->n = n, c->points = points, c->cells = (tmap_u32)cells;
    c->counts = (tmap_u32 *)kit_device((cells + 1) * sizeof *c->counts);
    c->first = (tmap_u32 *)kit_device((cells + 1) * sizeof *c->first);
    c->rank = (tmap_u32 *)kit_device(1ull * n * sizeof *c->rank);
    c->sorted = (float4 *)kit_device(1ull * n * sizeof *c->sorted);
    c->result = (tmap_u64 *)kit_device(sizeof *c->result);
    CHECK(cell_scan(c)); // as much as the most cells take, so that it does for all radii
    c->scan = kit_device(c->scan_bytes);
}

// As many cells as the radius allows, in thousandths of the cube's side, but at most four for each
// point: to clear and scan more of them takes longer than to look at more pairs. sides: the most
// along a side, as in cell_list_begin.
static void cell_list_make(cell_list *c, tmap_u32 radius, tmap_u32 sides) {
    for (c->side = sides; c->side > 1; --c->side)
        if (c->side * radius <= 1000 && c->side * c->side * c->side <= 4ull * c->n) break;
    c->cells = c->side * c->side * c->side;
}

#endif
