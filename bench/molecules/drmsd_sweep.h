// SPDX-License-Identifier: MIT
// drmsd_sweep.h: what all works of bench_drmsd share: frames, the sum of two of them in double, how
// near a launch comes to the limits of the GPU, its energy, and the rows of the results.
#ifndef BENCH_TRIANGLE_DRMSD_SWEEP_H
#define BENCH_TRIANGLE_DRMSD_SWEEP_H

#include "../energy.h"
#include "../options.h"
#include "../results.h"
#include "drmsd_counts.h"

#include <threadmap/triangle/condensed.h>

#include <math.h>

// A run: what is asked for, and what this GPU can do.
typedef struct drmsd_sweep {
    bench_numbers n;             // atoms of one pair of frames
    bench_numbers atoms, frames; // of works with many frames: each number with each
    tmap_u32 processors;
    double issue_a_ms, mufu_a_ms; // instructions of lanes, special functions of all multiprocessors
    double budget_ms, energy_ms;  // for a time; for an energy, or 0: none
    const char *only;             // texts, parted by commas, or null
    bench_energy_meter meter;
    bench_results *results;
} drmsd_sweep;

// Whether a variant, or one of a root, is to be timed: it has one of the texts in its name.
static int drmsd_wants(const drmsd_sweep *s, const char *name) {
    char text[64];
    if (!s->only) return 1;
    for (const char *p = s->only; *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");
        snprintf(text, sizeof text, "%.*s", (int)length, p);
        if (length && strstr(name, text)) return 1;
        p += length;
    }
    return 0;
}

static void *drmsd_alloc(tmap_u64 bytes) {
    void *memory;
    CHECK(cudaMalloc(&memory, bytes ? (size_t)bytes : 4));
    return memory;
}

// ---- frames -------------------------------------------------------------------------------------

TMAP_DEVICE float drmsd_random(tmap_u32 number) { // in [0, 1)
    tmap_u32 h = number * 2654435769u;
    h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
    return (float)(h >> 8) / 16777216.0f;
}
static __global__ void drmsd_frames_kernel(tmap_u64 coordinates, tmap_u64 all, float *xyz) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < all; i += stride) {
        const float at = 100.0f * drmsd_random((tmap_u32)(i % coordinates));
        const float move = i < coordinates ? 0 : drmsd_random((tmap_u32)i + 0x40000000u) - 0.5f;
        xyz[i] = at + 3.0f * move;
    }
}

// Frames of n atoms, (frames, n, 3): atoms lie anywhere in a cube of side 100, and in all frames
// but the first one each coordinate is up to 1.5 off.
static float *drmsd_frames(tmap_u32 n, tmap_u32 frames) {
    const tmap_u64 coordinates = 3ull * n, all = coordinates * frames;
    float *xyz = (float *)drmsd_alloc(all * sizeof *xyz);
    drmsd_frames_kernel<<<1024, 256>>>(coordinates, all, xyz);
    CHECK(cudaGetLastError());
    return xyz;
}

// ---- the definition -----------------------------------------------------------------------------

TMAP_FN double drmsd_distance(const float *u, const float *v) {
    const double x = (double)u[0] - (double)v[0], y = (double)u[1] - (double)v[1];
    const double z = (double)u[2] - (double)v[2];
    return sqrt(x * x + y * y + z * z);
}
TMAP_FN double drmsd_term(const float *a, const float *b, tmap_u64 i, tmap_u64 j) {
    const double d = drmsd_distance(a + 3 * i, a + 3 * j) - drmsd_distance(b + 3 * i, b + 3 * j);
    return d * d;
}
static __global__ void drmsd_definition(const float *a, const float *b, tmap_u32 n, double *sum) {
    double mine = 0;
    for (tmap_u64 i = blockIdx.x; i < n; i += gridDim.x)
        for (tmap_u64 j = i + 1 + threadIdx.x; j < n; j += blockDim.x)
            mine += drmsd_term(a, b, i, j);
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

// The sum of the terms of two frames in device memory, by the definition and in double.
static double drmsd_sum(const float *a, const float *b, tmap_u32 n) {
    const tmap_u32 blocks = n < 8192 ? n : 8192;
    double *sum = (double *)drmsd_alloc(sizeof *sum), got;
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    drmsd_definition<<<blocks, 256>>>(a, b, n, sum);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(sum));
    return got;
}

// ---- results ------------------------------------------------------------------------------------

// What a row tells. pairs: of atoms, over all pairs of frames. count: of a pair's instructions, of
// 0 where they were not counted. more: further members of the JSON object, or "".
typedef struct drmsd_row {
    const char *variant;
    tmap_u32 n, frames;
    double pairs;
    drmsd_count count;
    char more[96];
} drmsd_row;

// The program ends if a sum or its root is off by more than a millionth; of few pairs, whose errors
// do not cancel, by more.
static void drmsd_verify(const drmsd_row *row, double got, double want) {
    if (fabs(got - want) <= (1e-6 + 1e-4 / row->pairs) * want) return;
    fflush(stdout);
    fprintf(stderr, "%s %s n=%u frames=%u: WRONG, %.17g instead of %.17g\n", row->variant,
            row->more, row->n, row->frames, got, want);
    exit(1);
}

// Writes a row, for the reader and for the file. millijoules: of a run, or 0.
static void drmsd_record(const drmsd_sweep *s, const drmsd_row *row, bench_time t,
                         double millijoules) {
    const double issue = 100 * row->pairs * (double)row->count.issue / s->issue_a_ms / t.ms;
    const double mufu = 100 * row->pairs * (double)row->count.mufu / s->mufu_a_ms / t.ms;
    char text[768], counted[128] = "", energy[64] = "";
    if (row->count.issue > 0)
        snprintf(counted, sizeof counted,
                 ", \"instructions\": %.2f, \"float_pct\": %.1f, \"issue_pct\": %.1f, "
                 "\"mufu_pct\": %.1f",
                 (double)row->count.issue,
                 100 * (double)row->count.floating / (double)row->count.issue, issue, mufu);
    if (millijoules > 0)
        snprintf(energy, sizeof energy, ", \"picojoules\": %.1f", 1e9 * millijoules / row->pairs);
    printf("| %s | %s | %u | %u | %.4f | %.1f%% | %.4f | %.0f%% | %.0f%% | %.0f |\n", row->variant,
           row->more, row->n, row->frames, t.ms, t.noise_pct, 1e-9 * row->pairs / t.ms, issue, mufu,
           1e9 * millijoules / row->pairs);
    fflush(stdout);
    snprintf(text, sizeof text,
             "\"work\": \"drmsd\", \"variant\": \"%s\", \"domain\": \"triangle\", \"n\": %u, "
             "\"frames\": %u, \"dtype\": \"f32\"%s%s, \"ms\": %.5f, \"noise_pct\": %.2f, "
             "\"tpairs\": %.6f%s%s, \"verified\": true",
             row->variant, row->n, row->frames, *row->more ? ", " : "", row->more, t.ms,
             t.noise_pct, 1e-9 * row->pairs / t.ms, counted, energy);
    bench_results_row(s->results, text);
}

// Times a call that has been verified, and writes its row. energy: 1 to measure that too.
static void drmsd_time(const drmsd_sweep *s, const drmsd_row *row, bench_body body, void *context,
                       int energy) {
    const bench_time t = bench_measure_queued(body, context, s->budget_ms);
    double millijoules = 0;
    if (energy && s->energy_ms > 0)
        millijoules = bench_energy(&s->meter, body, context, t.ms, s->energy_ms);
    drmsd_record(s, row, t, millijoules);
}

#endif
