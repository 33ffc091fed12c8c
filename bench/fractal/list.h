// SPDX-License-Identifier: MIT
// list.h: what a user without the library would write: a list of the cells' coordinates in memory,
// made once, and kernels of one thread for each entry.
//
// Cells are listed row by row, so that the threads of a warp stand on neighbouring memory, and an
// entry is as small as the fractal allows: two 16-bit coordinates up to 65536 a side, else two of
// 32 bits.
#ifndef BENCH_LIST_H
#define BENCH_LIST_H

#include "../driver.h"

#include <threadmap/fractal/ca_rule.h>
#include <threadmap/fractal/nbb.h>
#include <threadmap/warp.h>

typedef struct bench_list {
    void *entries; // of tmap_u32, y << 16 | x, or of uint2
    int wide;
    tmap_u64 cells, bytes;
} bench_list;

// The number of cells in each row.
static __global__ void list_count(tmap_nbb f, tmap_u32 r, tmap_u64 width, tmap_u64 height,
                                  tmap_u64 *counts) {
    for (tmap_u64 y = blockIdx.x; y < height; y += gridDim.x) {
        tmap_u64 mine = 0;
        for (tmap_u64 x = threadIdx.x; x < width; x += blockDim.x)
            mine += (tmap_u64)tmap_nbb_contains64(f, x, y, r);
        if (mine) atomicAdd(&counts[y], mine);
    }
}

// Writes each row's cells from starts[y] on, a warp for a row.
static __global__ void list_fill(tmap_nbb f, tmap_u32 r, tmap_u64 width, tmap_u64 height, int wide,
                                 const tmap_u64 *starts, void *entries) {
    for (tmap_u64 y = blockIdx.x; y < height; y += gridDim.x) {
        tmap_u64 at = starts[y];
        for (tmap_u64 first = 0; first < width; first += 32) {
            tmap_u64 x = first + threadIdx.x;
            int cell = x < width && tmap_nbb_contains64(f, x, y, r);
            tmap_u32 cells = __ballot_sync(0xffffffffu, cell);
            tmap_u64 i = at + (tmap_u64)__popc(cells & ((1u << threadIdx.x) - 1));
            if (cell && wide) ((uint2 *)entries)[i] = make_uint2((unsigned)x, (unsigned)y);
            if (cell && !wide) ((tmap_u32 *)entries)[i] = (tmap_u32)(y << 16 | x);
            at += (tmap_u64)__popc(cells);
        }
    }
}

// A list in memory of kit.h.
static bench_list list_make(tmap_nbb f, tmap_u32 r) {
    bench_list l;
    const tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r);
    const unsigned grid = (unsigned)(height < 65536 ? height : 65536);
    tmap_u64 *device = (tmap_u64 *)kit_device(height * sizeof *device), *counts, sum = 0;
    l.wide = width > 65536 || height > 65536;
    l.cells = tmap_nbb_cells(f, r);
    l.bytes = l.cells * (l.wide ? sizeof(uint2) : sizeof(tmap_u32));
    l.entries = kit_device(l.bytes);
    CHECK(cudaMemset(device, 0, height * sizeof *device));
    list_count<<<grid, 256>>>(f, r, width, height, device);
    CHECK(cudaGetLastError());
    counts = (tmap_u64 *)kit_to_host(device, height * sizeof *device);
    for (tmap_u64 y = 0; y < height; ++y) {
        const tmap_u64 n = counts[y];
        counts[y] = sum;
        sum += n;
    }
    CHECK(cudaMemcpy(device, counts, height * sizeof *device, cudaMemcpyHostToDevice));
    list_fill<<<grid, 32>>>(f, r, width, height, l.wide, device, l.entries);
    CHECK(cudaGetLastError());
    return l;
}

// Entry i.
static __device__ __forceinline__ tmap_xy list_entry(const void *entries, int wide, tmap_u64 i) {
    tmap_xy p;
    if (wide) {
        uint2 e = ((const uint2 *)entries)[i];
        p.x = e.x, p.y = e.y;
    } else {
        tmap_u32 e = ((const tmap_u32 *)entries)[i];
        p.x = e & 0xffff, p.y = e >> 16;
    }
    return p;
}

static __global__ void list_sw(const void *entries, int wide, tmap_u64 n, tmap_u64 width, int value,
                               int *out) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (i >= n) return;
    tmap_xy p = list_entry(entries, wide, i);
    out[p.y * width + p.x] = value;
}

// Four entries a thread and turn, so that as many reads are in flight; one atomic a block.
static __global__ void list_rd(const void *entries, int wide, tmap_u64 n, tmap_u64 width,
                               const int *in, tmap_i64 *sum) {
    __shared__ tmap_i64 scratch[32];
    tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    tmap_i64 mine = 0;
#pragma unroll 4
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < n; i += stride) {
        tmap_xy p = list_entry(entries, wide, i);
        mine += in[p.y * width + p.x];
    }
    mine = tmap_block_sum_i64(mine, scratch);
    if (mine) atomicAdd((tmap_u64 *)sum, (tmap_u64)mine);
}

static __global__ void list_ca(const void *entries, int wide, tmap_u64 n, tmap_u64 width,
                               tmap_u64 height, tmap_ca_rule rule,
                               const unsigned char *__restrict__ in,
                               unsigned char *__restrict__ out) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (i >= n) return;
    tmap_xy p = list_entry(entries, wide, i);
    out[p.y * width + p.x] = tmap_ca_cell(in, width, height, p.x, p.y, rule);
}

#endif
