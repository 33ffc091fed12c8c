// SPDX-License-Identifier: MIT
// ask_curve.h: what bench/plots/ask_model.py needs to know of a picture, measured on the picture
// itself: how many regions of a side have several values on their border, and what a pixel in them
// costs.
#ifndef BENCH_ASK_CURVE_H
#define BENCH_ASK_CURVE_H

#include "ask_job.h"

enum { ASK_CURVE_POINTS = 24 };

typedef struct ask_curve_sums {
    tmap_u64 regions, pixels, work;
} ask_curve_sums;

// several[j * parts + i] = region (i, j) has more than one value on its border, which runs over the
// first lines of the next regions. A warp a region.
static __global__ void ask_curve_borders(const int *picture, tmap_u32 n, tmap_u32 parts,
                                         unsigned char *several, ask_curve_sums *sums) {
    tmap_u32 lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    tmap_u64 regions = (tmap_u64)parts * parts, found = 0;
    for (tmap_u64 at = (blockIdx.x * blockDim.x + threadIdx.x) / 32; at < regions; at += warps) {
        tmap_u32 i = (tmap_u32)(at % parts), j = (tmap_u32)(at / parts);
        tmap_u32 x0 = (tmap_u32)tmap_region_edge(n, parts, i);
        tmap_u32 y0 = (tmap_u32)tmap_region_edge(n, parts, j);
        tmap_u32 w = (tmap_u32)tmap_region_edge(n, parts, i + 1) - x0;
        tmap_u32 h = (tmap_u32)tmap_region_edge(n, parts, j + 1) - y0;
        const int *corner = picture + (tmap_u64)y0 * n + x0;
        int differ = 0;
        w += w && x0 + w < n, h += h && y0 + h < n;
        for (tmap_u32 k = 0; w && h && k < 2 * (w + h) && !differ; k += 32) {
            tmap_u32 p = k + lane, x = p, y = 0; // along the upper row, the lower, left, right
            if (p >= w) x = p - w, y = h - 1;
            if (p >= 2 * w) x = 0, y = p - 2 * w;
            if (p >= 2 * w + h) x = w - 1, y = p - 2 * w - h;
            differ = p < 2 * (w + h) && corner[(tmap_u64)y * n + x] != *corner;
            differ = __any_sync(0xffffffffu, differ);
        }
        if (lane == 0) several[at] = (unsigned char)differ;
        found += (tmap_u64)differ;
    }
    if (lane == 0 && found) atomicAdd(&sums->regions, found);
}

// Adds up the pixels, and their values, in regions with several.
static __global__ void ask_curve_pixels(const int *picture, tmap_u32 n, tmap_u32 parts,
                                        const unsigned char *several, ask_curve_sums *sums) {
    tmap_u64 pixels = 0, work = 0;
    for (tmap_u32 y = blockIdx.x; y < n; y += gridDim.x) {
        const unsigned char *row = several + tmap_region_find(n, parts, y) * parts;
        for (tmap_u32 x = threadIdx.x; x < n; x += blockDim.x)
            if (row[tmap_region_find(n, parts, x)]) {
                ++pixels;
                work += (tmap_u64)picture[(tmap_u64)y * n + x];
            }
    }
    pixels = tmap_warp_sum_shuffle64(tmap_warp_self(), pixels);
    work = tmap_warp_sum_shuffle64(tmap_warp_self(), work);
    if (threadIdx.x % 32 == 0 && pixels)
        atomicAdd(&sums->pixels, pixels), atomicAdd(&sums->work, work);
}

// Measures a picture at sides n / 2, n / 4, ... down to 4, and writes a row.
static void sweep_curve(sweep *s, const size *z) {
    const double whole = (double)z->work / ((double)z->n * z->n); // the mean value of a pixel
    const unsigned blocks = z->n < 1056 ? z->n : 1056;
    char side[512] = "", count[512] = "", work[512] = "";
    bench_row row = bench_row_begin(&s->d, "curve", "exhaustive", "mandelbrot");
    double mean = whole;
    unsigned char *several;
    ask_curve_sums *sums, host;
    bench_key(&row, "size", "%u", z->n);
    if (!bench_wants(&s->d, &row)) return;
    several = (unsigned char *)kit_device((tmap_u64)z->n * z->n / 16 + 16);
    sums = (ask_curve_sums *)kit_device(sizeof *sums);
    for (tmap_u32 parts = 2, k = 0; k < ASK_CURVE_POINTS && z->n / parts >= 4; parts *= 2, ++k) {
        const char *comma = k ? "," : "";
        CHECK(cudaMemset(sums, 0, sizeof *sums));
        ask_curve_borders<<<blocks, 256>>>(s->truth, z->n, parts, several, sums);
        ask_curve_pixels<<<2 * blocks, 256>>>(s->truth, z->n, parts, several, sums);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&host, sums, sizeof host, cudaMemcpyDeviceToHost));
        if (host.pixels) mean = (double)host.work / (double)host.pixels;
        sprintf(side + strlen(side), "%s%.6g", comma, (double)z->n / parts);
        sprintf(count + strlen(count), "%s%llu", comma, host.regions);
        sprintf(work + strlen(work), "%s%.3f", comma, mean);
    }
    row_size(&row, z->n, s->o.dwell);
    bench_key(&row, "whole", "%.3f", whole);
    bench_key(&row, "side", "[%s]", side);
    bench_key(&row, "count", "[%s]", count);
    bench_key(&row, "mean", "[%s]", work);
    bench_row_end(&s->d, &row);
}

#endif
