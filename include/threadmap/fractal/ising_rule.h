// SPDX-License-Identifier: MIT
// ising_rule.h: when a spin of the Ising model turns: the rule of Metropolis, by whole numbers.
//
// A spin s = +1 or -1 whose neighbours add up to n has h = s n; turning it costs the energy 2 h
// (J = 1). It turns with the chance min(1, exp(-2 h / T)), T in units of J / k_B: always where
// h <= 0, else if a random number of 64 bits is below 2^64 times that chance.
// Source: Metropolis, Rosenbluth, Rosenbluth, Teller, Teller, J. Chem. Phys. 21 (1953).
#ifndef TMAP_FRACTAL_ISING_RULE_H
#define TMAP_FRACTAL_ISING_RULE_H

#include "philox.h"

// 2^64 times the chance for h = 1, 2, 3, 4.
typedef struct tmap_ising_chances {
    tmap_u64 of[4];
} tmap_ising_chances;

// The upper half of the product of two numbers.
TMAP_FN tmap_u64 tmapi_ising_high(tmap_u64 a, tmap_u64 b) {
    const tmap_u64 a0 = (tmap_u32)a, a1 = a >> 32, b0 = (tmap_u32)b, b1 = b >> 32;
    const tmap_u64 middle = a1 * b0 + (a0 * b0 >> 32);
    const tmap_u64 other = a0 * b1 + (tmap_u32)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

// 2^64 exp(-x) for x >= 0, at most 2^64 - 1, off by less than 2^16. By whole numbers, of which all
// machines make the same, where their exp may differ in its last bits: exp(-x / 2^12) by its
// series, then twelve squares.
TMAP_FN tmap_u64 tmapi_ising_exp(double x) {
    const tmap_u64 one = 1ull << 63; // of a fraction with 63 bits
    tmap_u64 y, e = one;
    if (!(x < 45)) return 0;
    y = (tmap_u64)(x * 4503599627370496.0); // 2^64 x / 2^12
    for (tmap_u32 n = 6; n; --n) e = one - tmapi_ising_high(y, e) / n;
    for (int i = 0; i < 12; ++i) e = tmapi_ising_high(e, e) << 1;
    return e >> 63 ? ~0ull : e << 1;
}

// The chances at a temperature >= 0, which may be infinite. At 0 nothing turns that costs energy.
// The same on every machine with IEEE doubles. Example: 2 -> 2^64 times 0.36787944, 0.13533528,
// 0.04978707, 0.01831564.
TMAP_FN tmap_ising_chances tmap_ising_chances_at(double temperature) {
    tmap_ising_chances c;
    for (int h = 1; h <= 4; ++h)
        c.of[h - 1] = temperature > 0 ? tmapi_ising_exp(2.0 * h / temperature) : 0;
    return c;
}

// 1 if the spin of cell number `cell`, with h from -4 to 4, turns in sweep number `sweep`, else 0:
// by random number tmap_philox_u64(cell, sweep, seed).
// Cost: where h > 0, that of the random number.
TMAP_FN int tmap_ising_turns(tmap_ising_chances c, int h, tmap_u64 cell, tmap_u64 sweep,
                             tmap_u64 seed) {
    const tmap_u64 chance = h == 1 ? c.of[0] : h == 2 ? c.of[1] : h == 3 ? c.of[2] : c.of[3];
    return h <= 0 || tmap_philox_u64(cell, sweep, seed) < chance;
}

#endif
