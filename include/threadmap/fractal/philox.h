// SPDX-License-Identifier: MIT
// philox.h: counter-based random numbers: Philox4x32-10, a bijection of 128 bits for each key of 64
// bits, whose value at a counter is 128 random bits.
//
// There is no state: a thread computes the number of its cell and step, independent of the launch
// and of other threads. A round, on the words c0 c1 c2 c3 of the counter with the words k0 k1 of
// the key, where hi and lo are the halves of a 64-bit product:
//
//     (hi(M1 c2) ^ c1 ^ k0, lo(M1 c2), hi(M0 c0) ^ c3 ^ k1, lo(M0 c0))
//
// and between two of the ten rounds k0 and k1 grow by W0 and W1, modulo 2^32.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011; the
// constants are theirs. The library Random123 gives the same words; so does the generator of this
// name in cuRAND, which makes its counters from a sequence and an offset.
#ifndef TMAP_FRACTAL_PHILOX_H
#define TMAP_FRACTAL_PHILOX_H

#include "../core.h"

// The words of a counter, or the random words at a counter, word 0 in a.
typedef struct tmap_philox_words {
    tmap_u32 a, b, c, d;
} tmap_philox_words;

// One round. k0, k1: the round's key.
TMAP_FN tmap_philox_words tmapi_philox_round(tmap_philox_words w, tmap_u32 k0, tmap_u32 k1) {
    const tmap_u64 p0 = 0xd2511f53ull * w.a, p1 = 0xcd9e8d57ull * w.c; // M0, M1
    tmap_philox_words next;
    next.a = (tmap_u32)(p1 >> 32) ^ w.b ^ k0, next.b = (tmap_u32)p1;
    next.c = (tmap_u32)(p0 >> 32) ^ w.d ^ k1, next.d = (tmap_u32)p0;
    return next;
}

// The four random words at a counter. key: word 0 is its lower half. Any counter and key. Law: for
// one key, different counters give different words. Cost: 20 products of 32 by 32 bits to 64, 20
// exclusive ors of three words and 18 sums for the key.
// Example: counter 0 0 0 0, key 0 -> 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
TMAP_FN tmap_philox_words tmap_philox_4x32(tmap_philox_words counter, tmap_u64 key) {
    tmap_u32 k0 = (tmap_u32)key, k1 = (tmap_u32)(key >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) // W0, W1
        counter = tmapi_philox_round(counter, k0, k1);
    return counter;
}

// A random number of 64 bits at a counter of two 64-bit numbers: words 0 and 1 (word 0 in
// the lower half) of tmap_philox_4x32 at the words lo(low) hi(low) lo(high) hi(high). Cost:
// as tmap_philox_4x32.
// Example: low 0, high 0, key 0 -> e169c58d6627e8d5.
TMAP_FN tmap_u64 tmap_philox_u64(tmap_u64 low, tmap_u64 high, tmap_u64 key) {
    tmap_philox_words w;
    w.a = (tmap_u32)low, w.b = (tmap_u32)(low >> 32);
    w.c = (tmap_u32)high, w.d = (tmap_u32)(high >> 32);
    w = tmap_philox_4x32(w, key);
    return w.a | (tmap_u64)w.b << 32;
}

#endif
