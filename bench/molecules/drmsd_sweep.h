// SPDX-License-Identifier: MIT
// drmsd_sweep.h: what all works of bench_drmsd share: frames, the sum of two of them in double, how
// near a launch comes to the limits of the GPU, its energy, and the rows of the results.
#ifndef BENCH_TRIANGLE_DRMSD_SWEEP_H
#define BENCH_TRIANGLE_DRMSD_SWEEP_H

#include "../driver.h"
#include "../energy.h"
#include "drmsd_counts.h"

#include <threadmap/triangle/condensed.h>

#include <math.h>

// A run: what is asked for, and what this GPU can do.
typedef struct drmsd_sweep {
    bench_driver d;
    bench_numbers n;             // atoms of one pair of frames
    bench_numbers atoms, frames; // of works with many frames: each number with each
    bench_numbers clusters;      // frames that are clustered
    double energy_ms;            // for an energy, or 0: none
    tmap_u32 processors;
    double issue_a_ms, mufu_a_ms; // instructions of lanes, special functions of all multiprocessors
    bench_energy_meter meter;
} drmsd_sweep;

// ---- frames -------------------------------------------------------------------------------------

TMAP_DEVICE float drmsd_random(tmap_u32 number) { // in [0, 1)
    tmap_u32 h = number * 2654435769u;
    h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
    return (float)(h >> 8) / 16777216.0f;
}
static __global__ void drmsd_frames_kernel(tmap_u64 coordinates, tmap_u64 all, float *xyz) {
    BENCH_EACH(i, all) {
        const float at = 100.0f * drmsd_random((tmap_u32)(i % coordinates));
        const float move = i < coordinates ? 0 : drmsd_random((tmap_u32)i + 0x40000000u) - 0.5f;
        xyz[i] = at + 3.0f * move;
    }
}

// Frames of n atoms, (frames, n, 3): atoms lie anywhere in a cube of side 100, and in all frames
// but the first one each coordinate is up to 1.5 off.
static float *drmsd_frames(tmap_u32 n, tmap_u32 frames) {
    const tmap_u64 coordinates = 3ull * n, all = coordinates * frames;
    float *xyz = (float *)kit_device(all * sizeof *xyz);
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
    tmap_u64 bits;
    double sum;
    drmsd_definition<<<blocks, 256>>>(a, b, n, (double *)bench_counter());
    bits = bench_count();
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

// ---- rows ---------------------------------------------------------------------------------------

// pairs: of atoms, over all pairs of frames. count: of a pair's instructions, of 0 where they were
// not counted.
typedef struct drmsd_row {
    bench_row row;
    tmap_u32 n, frames;
    double pairs;
    drmsd_count count;
} drmsd_row;

// pairs_of: the pairs of frames.
static drmsd_row drmsd_row_begin(const drmsd_sweep *s, const char *variant, tmap_u32 n,
                                 tmap_u32 frames, double pairs_of, drmsd_count count) {
    const double pairs = (double)tmap_condensed_cells(n) * pairs_of;
    drmsd_row r = {bench_row_begin(&s->d, "drmsd", variant, "triangle"), n, frames, pairs, count};
    bench_key(&r.row, "n", "%u", n);
    bench_key(&r.row, "frames", "%u", frames);
    bench_key_text(&r.row, "dtype", "f32");
    r.row.rate = "tpairs", r.row.unit = "Tpair/s", r.row.each = 1e-9 * pairs;
    return r;
}

// The program ends if the sum, or the root, of `pairs` pairs is off by more than a millionth; of few
// pairs, whose errors do not cancel, by more.
static void drmsd_verify(drmsd_row *r, double pairs, double got, double want) {
    if (!(fabs(got - want) <= (1e-6 + 1e-4 / pairs) * want))
        bench_wrong(&r->row, "%.17g instead of %.17g", got, want);
    r->row.verified = 1;
}

// Ends a row that has its time. millijoules: of a run, or 0.
static void drmsd_row_end(drmsd_sweep *s, drmsd_row *r, double millijoules) {
    const double floating = (double)r->count.floating, issue = (double)r->count.issue;
    const double each = 100 * r->pairs / r->row.time.ms;
    if (issue > 0) {
        bench_key(&r->row, "instructions", "%.2f", issue);
        bench_key(&r->row, "float_pct", "%.1f", 100 * floating / issue);
        bench_key(&r->row, "issue_pct", "%.1f", each * issue / s->issue_a_ms);
        bench_key(&r->row, "mufu_pct", "%.1f", each * (double)r->count.mufu / s->mufu_a_ms);
    }
    if (millijoules > 0) bench_key(&r->row, "picojoules", "%.1f", 1e9 * millijoules / r->pairs);
    bench_row_end(&s->d, &r->row);
}

// Times a call that has been verified, and writes its row. energy: 1 to measure that too.
static void drmsd_time(drmsd_sweep *s, drmsd_row *r, bench_body body, void *context, int energy) {
    const double ms = bench_time_row(&r->row, body, context).ms;
    double millijoules = 0;
    if (energy && s->energy_ms > 0)
        millijoules = bench_energy(&s->meter, body, context, ms, s->energy_ms);
    drmsd_row_end(s, r, millijoules);
}

#endif
