// SPDX-License-Identifier: MIT
// granularity.h: pictures of random blocks of g x g cells, with which papers on connected components
// compare labellers: each block is 1 with one probability. They depend on g and the probability
// alone, by the Mersenne Twister MT19937 (M. Matsumoto and T. Nishimura, ACM TOMACS 8 (1), 1998, with
// the seeding of 2002), and are the same on every machine.
#ifndef BENCH_RASTER_GRANULARITY_H
#define BENCH_RASTER_GRANULARITY_H

#include <threadmap/core.h>

#include <string.h>

enum { MT_WORDS = 624, MT_MIDDLE = 397, MT_SEED = 5489 };

// The generator: its words x[k], ..., x[k + 623], as a ring; next: where the oldest one is.
typedef struct mt19937 {
    tmap_u32 words[MT_WORDS], next;
} mt19937;

static inline void mt19937_seed(mt19937 *mt, tmap_u32 seed) {
    mt->words[0] = seed, mt->next = 0;
    for (tmap_u32 k = 1; k < MT_WORDS; ++k) {
        seed = 1812433253u * (seed ^ seed >> 30) + k;
        mt->words[k] = seed;
    }
}

// The next number, 0 to 2^32 - 1: x[k + 624] = x[k + 397] ^ A (the highest bit of x[k] and the other
// bits of x[k + 1]), tempered.
static inline tmap_u32 mt19937_next(mt19937 *mt) {
    const tmap_u32 k = mt->next, after = k + 1 < MT_WORDS ? k + 1 : 0;
    const tmap_u32 middle = k + MT_MIDDLE < MT_WORDS ? k + MT_MIDDLE : k + MT_MIDDLE - MT_WORDS;
    const tmap_u32 both = (mt->words[k] & 0x80000000u) | (mt->words[after] & 0x7fffffffu);
    tmap_u32 y = mt->words[middle] ^ both >> 1 ^ (both & 1 ? 0x9908b0dfu : 0);
    mt->words[k] = y, mt->next = after;
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

// A picture of size x size bytes, 0 or 1: each block of g x g cells, row by row, is 1 with a
// probability of `percent` %. Blocks at the right and lower edges may be cut off.
static inline void granularity_picture(unsigned char *cells, tmap_u64 size, tmap_u32 g,
                                       tmap_u32 percent) {
    const tmap_u64 below = ((tmap_u64)percent << 32) / 100; // a block is 1 if its number is below
    mt19937 mt;
    mt19937_seed(&mt, MT_SEED + 101 * g + percent);
    for (tmap_u64 y = 0; y < size; ++y) {
        unsigned char *row = cells + y * size;
        if (y % g) memcpy(row, row - size, (size_t)size);
        for (tmap_u64 x = 0; x < size && y % g == 0; x += g)
            memset(row + x, mt19937_next(&mt) < below, (size_t)(size - x < g ? size - x : g));
    }
}

#endif
