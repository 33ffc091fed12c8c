// SPDX-License-Identifier: MIT
// philox_kat.h: the known answers of Philox4x32-10, the test body that every back end runs: C11,
// C++17, the CPU machine and the GPU.
#ifndef PHILOX_KAT_H
#define PHILOX_KAT_H

#include "kit.h"

#include <threadmap/fractal/philox.h>

// What a vector asks, and what it is answered: the four words, and the number of 64 bits.
typedef struct philox_vector {
    tmap_u32 counter[4], key[2], words[4];
} philox_vector;

typedef struct philox_answer {
    tmap_philox_words words;
    tmap_u64 number;
} philox_answer;

#define PHILOX_KNOWN 3    // of the authors' file kat_vectors: zeros, ones, digits of pi
#define PHILOX_COUNT 1003 // and others, by the reference below

TMAP_FN void philox_ask(const philox_vector *v, philox_answer *a) {
    const tmap_philox_words counter = {v->counter[0], v->counter[1], v->counter[2], v->counter[3]};
    const tmap_u64 key = v->key[0] | (tmap_u64)v->key[1] << 32;
    a->words = tmap_philox_4x32(counter, key);
    a->number = tmap_philox_u64(v->counter[0] | (tmap_u64)v->counter[1] << 32,
                                v->counter[2] | (tmap_u64)v->counter[3] << 32, key);
}

// The definition, word by word, on arrays: the permutation and the substitution of each round.
static inline void philox_reference(philox_vector *v) {
    static const tmap_u32 multiplier[2] = {0xD2511F53u, 0xCD9E8D57u},
                          weyl[2] = {0x9E3779B9u, 0xBB67AE85u};
    tmap_u32 state[4];
    memcpy(state, v->counter, sizeof state);
    for (tmap_u32 round = 0; round < 10; ++round) {
        tmap_u32 high[2], low[2];
        for (int i = 0; i < 2; ++i) { // the product by schoolbook, in halves of 16 bits
            const tmap_u32 a = multiplier[i], b = state[2 * i];
            const tmap_u32 middle = (a >> 16) * (b & 0xffff) + ((a & 0xffff) * (b & 0xffff) >> 16);
            const tmap_u32 other = (a & 0xffff) * (b >> 16) + (middle & 0xffff);
            high[i] = (a >> 16) * (b >> 16) + (middle >> 16) + (other >> 16);
            low[i] = a * b;
        }
        state[0] = high[1] ^ state[1] ^ (v->key[0] + round * weyl[0]);
        state[2] = high[0] ^ state[3] ^ (v->key[1] + round * weyl[1]);
        state[1] = low[1];
        state[3] = low[0];
    }
    memcpy(v->words, state, sizeof state);
}

static inline void philox_vectors(philox_vector *v) {
    static const philox_vector known[PHILOX_KNOWN] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
        {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu},
         {0xffffffffu, 0xffffffffu},
         {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
        {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
         {0xa4093822u, 0x299f31d0u},
         {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}};
    tmap_u64 seed = 12345;
    for (int i = 0; i < PHILOX_COUNT; ++i) {
        if (i < PHILOX_KNOWN) {
            v[i] = known[i];
            philox_reference(&v[i]); // which is right where the authors' vectors are
            EXPECT(memcmp(&v[i], &known[i], sizeof known[i]) == 0, "the reference, vector %d", i);
            continue;
        }
        for (int j = 0; j < 4; ++j) v[i].counter[j] = (tmap_u32)kit_random(&seed) << (i + j) % 3;
        for (int j = 0; j < 2; ++j) v[i].key[j] = (tmap_u32)kit_random(&seed);
        philox_reference(&v[i]);
    }
}

static inline void philox_compare(const philox_vector *v, const philox_answer *a) {
    for (int i = 0; i < PHILOX_COUNT; ++i) {
        const tmap_u32 got[4] = {a[i].words.a, a[i].words.b, a[i].words.c, a[i].words.d};
        EXPECT(memcmp(got, v[i].words, sizeof got) == 0, "vector %d: %08x %08x %08x %08x", i,
               got[0], got[1], got[2], got[3]);
        EXPECT(a[i].number == (v[i].words[0] | (tmap_u64)v[i].words[1] << 32), "vector %d: %016llx",
               i, a[i].number);
    }
}

#endif
