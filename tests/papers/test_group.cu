// SPDX-License-Identifier: MIT
// test_group: lambda by groups of 1 to 32 lanes, summed and by ballot, every group with an omega of
// its own, at every level of every fractal, in whole and partial warps, against the plain maps.
#include "map_check.h"
#include <threadmap/papers/group.h>

enum { MOST = 64 };

typedef struct query {
    tmap_u32 wx[MOST], wy[MOST]; // by thread; a group uses those of its first one
} query;

typedef struct answer {
    tmap_xy sum, ballot;
} answer;

static __global__ void __launch_bounds__(MOST)
    ask(tmap_nbb f, tmap_u32 r, tmap_u32 lanes, int full, const query *in, answer *out) {
    tmap_warp w = full ? tmap_warp_full() : tmap_warp_self();
    tmap_u32 rank = tmap_thread_rank(), from;
    tmap_group g = tmap_group_make(w, f, r, lanes);
    answer *a = &out[rank];
    from = (rank & ~31u) + g.first;
    a->sum = tmap_group_lambda(&g, f, in->wx[from], in->wy[from]);
    a->ballot = tmap_group_lambda_ballot(&g, f, in->wx[from], in->wy[from]);
}

static query q, *q_d;
static answer answers[MOST], *answers_d;

static void run_case(tmap_nbb f, tmap_u32 r, tmap_u32 lanes, unsigned threads) {
    tmap_xy64 box = tmap_nbb_orthotope(f, r);
    tmap_u32 width = lanes;
    while (width & (width - 1)) width &= width - 1; // rounded down to a power of two
    for (unsigned t = 0; t < threads; ++t) {
        q.wx[t] = (tmap_u32)map_random_below(box.x);
        q.wy[t] = (tmap_u32)map_random_below(box.y);
    }
    CHECK(cudaMemcpy(q_d, &q, sizeof q, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(answers_d, 0x5a, sizeof answers));
    ask<<<1, threads>>>(f, r, lanes, threads % 32 == 0, q_d, answers_d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(answers, answers_d, sizeof answers, cudaMemcpyDeviceToHost));
    for (unsigned t = 0; t < threads; ++t) {
        unsigned from = t & ~(width - 1);
        tmap_xy c = tmap_nbb_lambda(f, q.wx[from], q.wy[from], r);
        map_expect(map_same(answers[t].sum, c), "group", f, r, threads, t);
        map_expect(map_same(answers[t].ballot, c), "group ballot", f, r, threads, t);
    }
}

int main(void) {
    const tmap_u32 lanes[] = {1, 2, 4, 8, 16, 32, 12};
    const unsigned blocks[] = {32, 20, 35, 64, 1};
    kit_begin();
    const tmap_u32 step = kit_tiny ? 4 : 1; // of levels: launches take long there
    CHECK(cudaMalloc((void **)&q_d, sizeof q));
    CHECK(cudaMalloc((void **)&answers_d, sizeof answers));
    memset(&q, 0, sizeof q);
    for (int i = 0; i < MAP_FRACTALS; ++i) {
        tmap_nbb f = map_fractal(i);
        for (tmap_u32 r = i % step; r <= tmap_nbb_level_max32(f); r += step)
            for (unsigned g = 0; g < COUNT(lanes); ++g)
                for (unsigned b = 0; b < COUNT(blocks); ++b)
                    if (kit_full || b == 0 || (r + i + b + g) % 3 == 0)
                        for (int n = kit_full ? 8 : 1; n; --n) run_case(f, r, lanes[g], blocks[b]);
    }
    return kit_end("test_group");
}
