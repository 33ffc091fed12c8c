// SPDX-License-Identifier: MIT
// test_compact_lookup: what lies beside a cell and where a cell is, by the tables that take several
// levels at a time, against the same digit by digit (tmap_compact_beside and
// tmap_nbb_lambda_linear, which compact_places and the map's tests hold against pictures), for
// every fractal of the engine's tests at all levels whose cells have numbers of 32 bits.
#include "fractal/engine.h"
#include <threadmap/fractal/compact_stencil.h>

#define LOOKUP_CELLS 128u // the most of a level that are asked: all of a small one, else any

static __global__ void ask(tmap_nbb f, tmap_u32 last, tmap_u64 *wrong) {
    __shared__ tmap_u64 shared[sizeof(tmapi_compact_lookup) / 8 + 3 * 128];
    tmapi_compact_lookup *t = (tmapi_compact_lookup *)shared;
    tmap_u64 mine = 0;
    tmapi_compact_lookup_fill(f, t, threadIdx.x, blockDim.x);
    __syncthreads();
    for (tmap_u32 r = 0; r <= last; ++r) {
        const tmap_u32 cells = tmapi_pow32(f.k, r), n = cells < LOOKUP_CELLS ? cells : LOOKUP_CELLS;
        for (tmap_u32 i = threadIdx.x; i < n; i += blockDim.x) {
            const tmap_u32 any = check_hash(i, r), index = n == cells ? i
                                                           : i % 2    ? any % cells
                                                                      : cells - 1 - any % 64;
            const tmap_xy want = tmap_nbb_lambda_linear(f, index, r);
            const tmap_xy got = tmapi_compact_lookup_corner(t, index, r, 1, 1);
            mine += got.x != want.x || got.y != want.y;
            for (tmap_u32 d = 0; d < 8; ++d) {
                const tmap_compact_place p =
                    tmap_compact_beside(f, index, r, tmapi_compact_dx(d), tmapi_compact_dy(d));
                const tmapi_compact_neighbour q = tmapi_compact_lookup_beside(t, index, r, d);
                const tmap_u32 to = p.none       ? TMAPI_COMPACT_NONE
                                    : p.x || p.y ? tmapi_compact_direction(p.x, p.y)
                                                 : TMAPI_COMPACT_WITHIN;
                mine += q.to != to || (!p.none && q.index != p.index);
            }
        }
    }
    if (mine) atomicAdd(wrong, mine);
}

int main(void) {
    tmap_u64 *wrong;
    engine_begin();
    wrong = (tmap_u64 *)kit_guarded(sizeof *wrong);
    for (int i = 0; i < ENGINE_COUNT; ++i) {
        const tmap_nbb f = engine_fractal(i);
        tmap_u32 last = tmap_nbb_level_max32(f);
        tmap_u64 got = 0;
        void *arguments[] = {(void *)&f, &last, &wrong};
        while (tmap_nbb_cells(f, last) > 0xffffffffull) --last;
        CHECK(cudaMemset(wrong, 0, sizeof *wrong));
        CHECK(cudaLaunchKernel((const void *)ask, dim3(1), dim3(kit_tiny ? 32 : 96), arguments, 0,
                               0));
        CHECK(cudaMemcpy(&got, wrong, sizeof got, cudaMemcpyDeviceToHost));
        EXPECT(got == 0 && 24 * tmapi_compact_few_cells(f) <= 3 * 128 * sizeof(tmap_u64),
               "fractal k=%u s=%ux%u tau %llx %llx, up to level %u: %llu wrong", f.k, f.sx, f.sy,
               f.tau_x, f.tau_y, last, got);
    }
    return kit_end("test_compact_lookup");
}
