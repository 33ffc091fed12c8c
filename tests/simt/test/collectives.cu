// SPDX-License-Identifier: MIT
// Every warp collective against the host, in full and partial warps and in parts of a warp.
#include "kit.h"

enum { THREADS = 64, RESULTS = 24 };

__host__ __device__ static int value(int t) { return (t * 37 + 11) % 23 - 9; }

__global__ void collect(long long *out) {
    int t = (int)threadIdx.x, l = t % 32, v = value(t);
    unsigned all = 0xffffffff; // also where the block ends within the warp
    int i = 0;
#define PUT(x) out[i++ * THREADS + t] = (long long)(x)
    PUT(__shfl_sync(all, v, 0));
    PUT(__shfl_sync(all, v, l / 2, 8));
    PUT(__shfl_up_sync(all, v, 1));
    PUT(__shfl_up_sync(all, (unsigned)v, 3, 4));
    PUT(__shfl_sync(all, (float)v * 0.5f, 3, 4) * 2);
    PUT(__shfl_sync(all, (double)v * 0.25, 0) * 4);
    PUT(__shfl_sync(all, v * 10000000000LL, 0, 16));
    PUT(__shfl_up_sync(all, v * 10000000000ULL, 2));
    PUT(__ballot_sync(all, v > 0));
    PUT(__any_sync(all, v == 13));
    PUT(__all_sync(all, v >= -9));
    PUT(__all_sync(all, l != 3));
    PUT(__match_any_sync(all, v));
    PUT(__match_any_sync(all, (unsigned long long)(v & 1) << 40));
    int same;
    PUT(__match_all_sync(all, v, &same));
    PUT(same);
    PUT(__match_all_sync(all, 5u, &same));
    PUT(__reduce_add_sync(all, v));
    PUT(__reduce_min_sync(all, v));
    PUT(__reduce_max_sync(all, (unsigned)v));
    PUT(__reduce_and_sync(all, (unsigned)v | 1u));
    PUT(__reduce_or_sync(all, (unsigned)v & 6u));
    PUT(__reduce_xor_sync(all, (unsigned)v));
    PUT(RESULTS - 1);
#undef PUT
}

static int read_lane(int n, int t, int l) { // what lane l of t's warp gives; no test reads beyond n
    return t / 32 * 32 + l < n ? value(t / 32 * 32 + l) : 1 << 30;
}

static void check_collect(int n, const long long *got) {
    for (int t = 0; t < n; t++) {
        int l = t % 32, v = value(t), i = 0;
        unsigned positive = 0, equal = 0, parity = 0, there = 0;
        unsigned low = ~0u, bits = 0, odd = 0, top = 0;
        int thirteen = 0, sum = 0, least = 1 << 30;
        for (int k = 0; k < 32 && t / 32 * 32 + k < n; k++) {
            int w = read_lane(n, t, k);
            there |= 1u << k;
            positive |= (unsigned)(w > 0) << k;
            equal |= (unsigned)(w == v) << k;
            parity |= (unsigned)((w & 1) == (v & 1)) << k;
            thirteen |= w == 13;
            sum += w;
            least = w < least ? w : least;
            top = (unsigned)w > top ? (unsigned)w : top;
            low &= (unsigned)w | 1u;
            bits |= (unsigned)w & 6u;
            odd ^= (unsigned)w;
        }
#define GOT got[i++ * THREADS + t]
#define SAME(x)                                                                                    \
    do {                                                                                           \
        long long g = GOT;                                                                         \
        RETURNS(g, x);                                                                         \
    } while (0)
        SAME(read_lane(n, t, 0));
        // 8 wide: lane l / 2 modulo 8 of its own segment.
        int from = (l & ~7) | (l / 2 & 7);
        if (t / 32 * 32 + from < n) SAME(read_lane(n, t, from));
        else i++;
        SAME(read_lane(n, t, l < 1 ? l : l - 1));
        SAME((unsigned)read_lane(n, t, l % 4 < 3 ? l : l - 3));
        if (t - t % 4 + 3 < n) SAME(read_lane(n, t, (l & ~3) + 3));
        else i++;
        SAME(read_lane(n, t, 0));
        SAME(read_lane(n, t, l & ~15) * 10000000000LL);
        SAME((unsigned long long)read_lane(n, t, l < 2 ? l : l - 2) * 10000000000ULL);
        SAME(positive);
        SAME(thirteen);
        SAME(1);
        SAME((there >> 3 & 1) == 0);
        SAME(equal);
        SAME(parity);
        SAME(equal == there ? there : 0);
        SAME(equal == there);
        SAME(there);
        SAME(sum);
        SAME(least);
        SAME(top);
        SAME(low);
        SAME(bits);
        SAME(odd);
        SAME(RESULTS - 1);
#undef SAME
#undef GOT
    }
}

// Full warps: all shuffles at all widths and distances; lanes that need no value keep theirs.
__global__ void shuffles(int width, int distance, int *out) {
    int t = (int)threadIdx.x;
    out[t] = __shfl_sync(~0u, t, distance, width);
    out[32 + t] = __shfl_up_sync(~0u, t, distance, width);
    out[64 + t] = __shfl_down_sync(~0u, t, distance, width);
    out[96 + t] = __shfl_xor_sync(~0u, t, distance, width);
}

// Halves of a warp on their own, then together; the second half goes round more often.
__global__ void parts(unsigned *out) {
    int l = (int)threadIdx.x, upper = l >= 16;
    unsigned mask = upper ? 0xffff0000 : 0x0000ffff, sum = 0;
    if (upper)
        for (int i = 0; i < 5; i++) sum += __reduce_add_sync(mask, (unsigned)l);
    else
        sum = __popc(__ballot_sync(mask, l & 1));
    __syncwarp();
    out[l] = sum + 1000 * __popc(__ballot_sync(0xffffffff, upper));
    unsigned own = 0;
    if (l % 3 == 0) own = __match_any_sync(0x49249249, l % 2); // lanes 0, 3, ..., 30
    out[32 + l] = own;
    unsigned active = __activemask();
    out[64 + l] = active >> l & 1; // all that can be said about it
}

int main(void) {
    long long *d, h[RESULTS * THREADS];
    CHECK(cudaMalloc(&d, sizeof h));
    const int sizes[] = {1, 2, 4, 25, 31, 32, 33, 36, 57, 64};
    for (int n : sizes) {
        CHECK(cudaMemset(d, 0x5a, sizeof h));
        collect<<<1, n>>>(d);
        CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
        check_collect(n, h);
    }

    int got[128];
    for (int width = 1; width <= 32; width *= 2)
        for (int distance = 0; distance < 34; distance++) {
            shuffles<<<1, 32>>>(width, distance, (int *)d);
            CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
            for (int l = 0; l < 32; l++) {
                int first = l / width * width, end = first + width, d32 = distance % 32;
                RETURNS(got[l], first + distance % width);
                RETURNS(got[32 + l], l - d32 < first ? l : l - d32);
                RETURNS(got[64 + l], l + d32 >= end ? l : l + d32);
                RETURNS(got[96 + l], (l ^ d32) >= end ? l : l ^ d32);
            }
        }

    parts<<<1, 32>>>((unsigned *)d);
    CHECK(cudaMemcpy(got, d, 96 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int l = 0; l < 32; l++) {
        RETURNS(got[l], 16000 + (l < 16 ? 8 : 5 * (16 + 31) * 8));
        RETURNS((unsigned)got[32 + l],
                    l % 3 ? 0u : l % 2 ? 0x49249249u & 0xaaaaaaaau : 0x49249249u & 0x55555555u);
        RETURNS(got[64 + l], 1);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaFree(d));
    return kit_end("simt collectives");
}
