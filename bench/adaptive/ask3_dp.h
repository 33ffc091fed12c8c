// SPDX-License-Identifier: MIT
// ask3_dp.h: julia3.h by dynamic parallelism: a block for each region queries and finishes it, or
// launches a kernel of r^3 blocks for its children. Relocatable code, compiled apart in ask3_dp.cu
// (dp.h); the CPU machine launches from any kernel.
#ifndef BENCH_ASK3_DP_H
#define BENCH_ASK3_DP_H

#include "../dp.h"

#include "julia3.h"

// lost: device memory, 0 before the run; counts the launches that failed.
typedef struct ask3_dp {
    julia3 job;
    tmap_ask_domain domain;
    tmap_u32 level;
    tmap_u64 *lost;
} ask3_dp;

#if BENCH_DP
cudaError_t ask3_dp_run(const ask3_dp *p, tmap_u32 threads);
#endif

#if defined(BENCH_DP_HERE)
// Block (x, y, z) has that child of `parent`, or that region of level 0.
static __global__ void __launch_bounds__(256) ask3_dp_kernel(ask3_dp p, tmap_u64 parent) {
    const tmap_u32 r = p.domain.r, child = (blockIdx.z * r + blockIdx.y) * r + blockIdx.x;
    const tmap_u64 scalar = p.level ? tmapi_ask_child(3, r, parent, child)
                                    : tmapi_ask_pack(3, blockIdx.x, blockIdx.y, blockIdx.z);
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&p.domain, p.level);
    const tmap_ask_team team = {threadIdx.x, blockDim.x, 0xffffffffu, 0};
    tmap_ask_region region;
    if (!tmapi_ask_region(3, &grid, scalar, &region)) return;
    const tmap_ask_range range = tmapi_ask_range_block(julia3_query(&p.job, &region, team));
    if (range.least >= range.most) {
        julia3_terminal(&p.job, &region, range.least, team);
    } else if (p.level + 1 == p.domain.levels) {
        for (tmap_u32 i = threadIdx.x; i < tmap_ask_region_elements(&region); i += blockDim.x) {
            const tmap_xyz at = tmap_ask_region_at(&region, i);
            *julia3_at(&p.job, at) = julia3_dwell(&p.job, at);
        }
    } else if (threadIdx.x == 0) {
        ++p.level;
        ask3_dp_kernel<<<dim3(r, r, r), blockDim.x, TMAPI_ASK_BLOCK_BYTES>>>(p, scalar);
        if (cudaGetLastError() != cudaSuccess) atomicAdd(p.lost, 1ull);
    }
}

cudaError_t ask3_dp_run(const ask3_dp *p, tmap_u32 threads) {
    const tmap_u32 g = p->domain.g;
    ask3_dp_kernel<<<dim3(g, g, g), threads, TMAPI_ASK_BLOCK_BYTES>>>(*p, 0);
    return cudaGetLastError();
}
#endif

#endif
