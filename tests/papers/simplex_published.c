// SPDX-License-Identifier: MIT
// simplex_published.c: the published map of the 3-simplex beside a count of the triples, layer by
// layer and row by row: in double precision for all 32-bit numbers, in single precision up to the
// limit that the header names.
#include "kit.h"
#include <threadmap/papers/simplex_published.h>

#include <stdlib.h>

static int same(tmap_triple t, tmap_u32 i, tmap_u32 j, tmap_u32 k) {
    return t.i == i && t.j == j && t.k == k;
}

// Every triple of the first layers, one after the other; the first number that is wrong in single
// precision, or -1.
static long long check_all(tmap_u32 layers) {
    long long wrong = -1;
    tmap_u32 lambda = 0;
    for (tmap_u32 i = 0; i < layers; ++i)
        for (tmap_u32 j = 0; j <= i; ++j)
            for (tmap_u32 k = 0; k <= j; ++k, ++lambda) {
                if (wrong < 0 && !same(tmap_simplex_published_f32(lambda), i, j, k)) wrong = lambda;
                EXPECT(same(tmap_simplex_published_f64(lambda), i, j, k), "f64, %u: (%u,%u,%u)",
                       lambda, i, j, k);
            }
    return wrong;
}

int main(int argc, char **argv) {
    const tmap_u32 layers = argc > 1 ? (tmap_u32)atoi(argv[1]) : 2952;
    const long long wrong = check_all(264);
    unsigned long long lambda = 0;
    expect(wrong >= 0, "single precision: no wrong number in 264 layers");
    for (tmap_u32 i = 0; i < layers; ++i) // both ends of every row
        for (tmap_u32 j = 0; j <= i; lambda += ++j)
            for (tmap_u32 k = 0; k <= j; k += j ? j : 1)
                EXPECT(same(tmap_simplex_published_f64((tmap_u32)lambda + k), i, j, k),
                       "f64, %llu + %u: (%u,%u,%u)", lambda, k, i, j, k);
    lambda = 0;
    for (tmap_u32 i = 0; i < TMAP_SIMPLEX_PUBLISHED_LAYERS; ++i)
        lambda += (i + 1ull) * (i + 2ull) / 2;
    EXPECT(wrong >= (long long)lambda, "single precision: %lld is wrong", wrong);
    // Total: beyond the range as well.
    for (unsigned long long l = 0; l < 1ull << 32; l += 65521) {
        const tmap_triple t = tmap_simplex_published_f32((tmap_u32)l);
        EXPECT(t.i <= 2952 && t.j <= 92682, "f32, %llu: (%u,%u,%u)", l, t.i, t.j, t.k);
    }
    expect(tmap_simplex_published_f32(0xffffffffu).i <= 2952, "the last number");
    printf("the first number that is wrong in single precision: %lld\n", wrong);
    return kit_end("simplex_published");
}
