// SPDX-License-Identifier: MIT
// rows_nxn.h: the pull of n bodies on each other as it is written by hand, by tiles of n x n: each
// thread has a few bodies in registers and goes through all others, which its block stages in shared
// memory (Nyland, Harris and Prins, GPU Gems 3, chapter 31). Each pair is computed twice.
//
// A form is so many threads in a block, bodies in a thread, and parts that the others are split into
// where there would be too few blocks; what the parts give is joined by a second kernel.
#ifndef BENCH_TRIANGLE_ROWS_NXN_H
#define BENCH_TRIANGLE_ROWS_NXN_H

#include "../timing.h"

#include <threadmap/core.h>

#define ROWS_NXN_PARTS 16u // at most

enum { ROWS_NXN_SHAPES = 9, ROWS_NXN_FORMS = 2 * ROWS_NXN_SHAPES };

typedef struct rows_vector {
    float x, y, z;
} rows_vector;

typedef struct rows_nxn_job {
    tmap_u32 n;
    const float4 *bodies; // x, y, z, mass
    float eps2;
    float4 *parts; // n of each part
    rows_vector *out;
    int shape;
    tmap_u32 block, bodies_each, split, share; // of the form; share: the bodies of a part
} rows_nxn_job;

// The GPU's reciprocal root, off by a place or two, of numbers that are normal.
TMAP_DEVICE float rows_root(float x) {
#if defined(__CUDA_ARCH__)
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return 1 / sqrtf(x);
#endif
}

// Of `share` bodies from blockIdx.y * share on, on the bodies of the block. share: a multiple of
// BLOCK, or n. Bodies that do not exist have no mass.
template <int BLOCK, int BODIES>
static __global__ void __launch_bounds__(BLOCK)
    rows_nxn(tmap_u32 n, tmap_u32 share, const float4 *bodies, float eps2, float4 *parts,
             rows_vector *out) {
    __shared__ float4 tile[BLOCK];
    const tmap_u32 first = blockIdx.x * (BLOCK * BODIES) + threadIdx.x, from = blockIdx.y * share;
    const tmap_u32 to = n - from < share ? n : from + share;
    float4 mine[BODIES];
    rows_vector sum[BODIES];
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
        const tmap_u32 i = first + b * BLOCK;
        mine[b] = bodies[i < n ? i : 0];
        sum[b].x = sum[b].y = sum[b].z = 0;
    }
    for (tmap_u32 at = from; at < to; at += BLOCK) {
        float4 body = make_float4(0, 0, 0, 0);
        if (at + threadIdx.x < to) body = bodies[at + threadIdx.x];
        __syncthreads(); // all are through with the last tile
        tile[threadIdx.x] = body;
        __syncthreads();
#pragma unroll(32 / BODIES)
        for (int k = 0; k < BLOCK; ++k) {
            const float4 other = tile[k];
#pragma unroll
            for (int b = 0; b < BODIES; ++b) {
                const float x = other.x - mine[b].x, y = other.y - mine[b].y;
                const float z = other.z - mine[b].z;
                const float r = rows_root(eps2 + x * x + y * y + z * z);
                const float w = other.w * r * (r * r);
                sum[b].x += w * x, sum[b].y += w * y, sum[b].z += w * z;
            }
        }
    }
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
        const tmap_u32 i = first + b * BLOCK;
        if (i >= n) continue;
        if (gridDim.y == 1)
            out[i] = sum[b];
        else
            parts[(tmap_u64)blockIdx.y * n + i] = make_float4(sum[b].x, sum[b].y, sum[b].z, 0);
    }
}
static __global__ void rows_nxn_join(tmap_u32 n, tmap_u32 split, const float4 *parts,
                                     rows_vector *out) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    rows_vector sum = {0, 0, 0};
    if (i >= n) return;
    for (tmap_u32 p = 0; p < split; ++p) {
        const float4 part = parts[(tmap_u64)p * n + i];
        sum.x += part.x, sum.y += part.y, sum.z += part.z;
    }
    out[i] = sum;
}

template <int BLOCK, int BODIES>
static void rows_nxn_launch(const rows_nxn_job *j) {
    const dim3 grid((j->n + BLOCK * BODIES - 1) / (BLOCK * BODIES), j->split);
    rows_nxn<BLOCK, BODIES><<<grid, BLOCK>>>(j->n, j->share, j->bodies, j->eps2, j->parts, j->out);
    CHECK(cudaGetLastError());
    if (j->split == 1) return;
    rows_nxn_join<<<(j->n + 127) / 128, 128>>>(j->n, j->split, j->parts, j->out);
    CHECK(cudaGetLastError());
}

static const struct {
    tmap_u32 block, bodies;
    void (*launch)(const rows_nxn_job *j);
} rows_nxn_shapes[ROWS_NXN_SHAPES] = {
    {128, 1, rows_nxn_launch<128, 1>}, {128, 2, rows_nxn_launch<128, 2>},
    {128, 4, rows_nxn_launch<128, 4>}, {256, 1, rows_nxn_launch<256, 1>},
    {256, 2, rows_nxn_launch<256, 2>}, {256, 4, rows_nxn_launch<256, 4>},
    {512, 1, rows_nxn_launch<512, 1>}, {512, 2, rows_nxn_launch<512, 2>},
    {512, 4, rows_nxn_launch<512, 4>}};

// Makes a job one of a form: the others whole, or split so that there are some 24 blocks of 256
// threads for each multiprocessor. Returns 0 where that is no split.
static int rows_nxn_choose(rows_nxn_job *j, int form, tmap_u32 processors) {
    const int shape = form % ROWS_NXN_SHAPES;
    const tmap_u32 block = rows_nxn_shapes[shape].block, each = rows_nxn_shapes[shape].bodies;
    const tmap_u32 blocks = (j->n + block * each - 1) / (block * each);
    const tmap_u32 wanted = (processors * 24 * 256 / block + blocks - 1) / blocks;
    j->shape = shape, j->block = block, j->bodies_each = each, j->split = 1, j->share = j->n;
    if (form < ROWS_NXN_SHAPES) return 1;
    j->split = wanted < ROWS_NXN_PARTS ? wanted : ROWS_NXN_PARTS;
    j->share = ((j->n + j->split - 1) / j->split + block - 1) / block * block;
    j->split = (j->n + j->share - 1) / j->share;
    return j->split > 1;
}

static void rows_nxn_run(void *context) {
    const rows_nxn_job *j = (const rows_nxn_job *)context;
    rows_nxn_shapes[j->shape].launch(j);
}

#endif
