// SPDX-License-Identifier: MIT
// ask_tally.h: what is found out about a picture or a volume of integers on the device: differences
// from another one, elements that nobody wrote, a hash, and the sum of all values.
#ifndef BENCH_ASK_TALLY_H
#define BENCH_ASK_TALLY_H

#include "../timing.h"

#include <threadmap/warp.h>

enum { ASK_POISON_BYTE = 0x5a, ASK_POISON = 0x5a5a5a5a };

// What is found out about a picture. hash: equal for equal pictures, and else by a chance of 2^-64.
typedef struct ask_tally {
    tmap_u64 differ, poison, hash, work; // work: the sum of all values
} ask_tally;

static __global__ void ask_tally_kernel(const int *picture, const int *truth, tmap_u64 pixels,
                                        ask_tally *out) {
    const tmap_warp warp = tmap_warp_self();
    ask_tally t = {0, 0, 0, 0};
    BENCH_EACH(i, pixels) {
        int value = picture[i];
        tmap_u64 z = (i << 32 ^ i >> 32 ^ (tmap_u32)value) * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9ull;
        t.hash += z ^ z >> 32;
        t.differ += truth && value != truth[i];
        t.poison += value == ASK_POISON;
        t.work += (tmap_u64)value;
    }
    t.differ = tmap_warp_sum_shuffle64(warp, t.differ);
    t.poison = tmap_warp_sum_shuffle64(warp, t.poison);
    t.hash = tmap_warp_sum_shuffle64(warp, t.hash);
    t.work = tmap_warp_sum_shuffle64(warp, t.work);
    if (warp.lane) return;
    if (t.differ) atomicAdd(&out->differ, t.differ);
    if (t.poison) atomicAdd(&out->poison, t.poison);
    atomicAdd(&out->hash, t.hash);
    atomicAdd(&out->work, t.work);
}

// truth: the picture to compare with, or null. scratch: device memory.
static ask_tally ask_tally_of(const int *picture, const int *truth, tmap_u64 pixels,
                              ask_tally *scratch) {
    const tmap_u64 blocks = pixels / 1024 + 1;
    ask_tally t;
    CHECK(cudaMemset(scratch, 0, sizeof *scratch));
    ask_tally_kernel<<<(unsigned)(blocks < 1056 ? blocks : 1056), 256>>>(picture, truth, pixels,
                                                                         scratch);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&t, scratch, sizeof t, cudaMemcpyDeviceToHost));
    return t;
}

#endif
