// SPDX-License-Identifier: MIT
// hash.h: numbers that look random, the same in every run and on every machine. Tests and benchmarks
// both use it.
#ifndef TESTS_HASH_H
#define TESTS_HASH_H

#include <threadmap/core.h>

// A well-mixed word for a and b.
TMAP_FN tmap_u64 check_hash(tmap_u64 a, tmap_u64 b) {
    tmap_u64 h = (a + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull + b * 0x94d049bb133111ebull;
    h ^= h >> 29, h *= 0xbf58476d1ce4e5b9ull;
    return h ^ h >> 32;
}

#endif
