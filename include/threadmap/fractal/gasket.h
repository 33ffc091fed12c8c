// SPDX-License-Identifier: MIT
// gasket.h: the Sierpinski gasket with arithmetic in the place of the table: its hash, membership,
// lambda and nu.
//
// The gasket is the NBB fractal "#. / ##": k = 3, s = 2. Its cells are the (x, y) with no bit of x
// outside y, the odd entries of Pascal's triangle modulo 2. The maps agree with those of nbb.h on
// tmap_fractal_gasket(), digit by digit.
//
// Source: Navarro et al., FGCS 113 (2020), section 6.1.
#ifndef TMAP_FRACTAL_GASKET_H
#define TMAP_FRACTAL_GASKET_H

#include "../core.h"

// h(beta), equation 15: the box of replica beta, (floor(beta / 2), beta - floor(beta / 2)).
// beta: 0..2. Example: 0, 1, 2 -> (0,0), (0,1), (1,1).
TMAP_FN tmap_xy tmap_gasket_hash(tmap_u32 beta) {
    tmap_xy t;
    t.x = beta >> 1;
    t.y = beta - t.x;
    return t;
}

// 1 if (x, y) is a cell of the gasket n wide, else 0 (section 6.1: x & (n - 1 - y) == 0).
// n: a power of two up to 2^31; x, y < n. Example: n = 4: (1,1) -> 1, (1,2) -> 0.
TMAP_FN int tmap_gasket_contains(tmap_u32 x, tmap_u32 y, tmap_u32 n) {
    return (x & (n - 1 - y)) == 0;
}

// lambda(omega), equation 17. wx < 3^ceil(r/2), wy < 3^floor(r/2), r <= 32. Example: r = 2: (2,1)
// -> (1,3).
TMAP_FN tmap_xy tmap_gasket_lambda(tmap_u32 wx, tmap_u32 wy, tmap_u32 r) {
    tmap_xy cell = {0, 0};
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit) {
        tmap_u32 rest = wx / 3;
        tmap_xy t = tmap_gasket_hash(wx - 3 * rest);
        cell.x |= t.x << bit;
        cell.y |= t.y << bit;
        wx = wy, wy = rest; // the next level reads the other axis
    }
    return cell;
}

// Lambda from a linear index i < 3^r, r <= 20: digit mu - 1 of i, base 3, is beta_mu. Example: r =
// 2: 5 -> (1,3).
TMAP_FN tmap_xy tmap_gasket_lambda_linear(tmap_u32 i, tmap_u32 r) {
    tmap_xy cell = {0, 0};
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit) {
        tmap_u32 rest = i / 3;
        tmap_xy t = tmap_gasket_hash(i - 3 * rest);
        cell.x |= t.x << bit;
        cell.y |= t.y << bit;
        i = rest;
    }
    return cell;
}

// nu, the inverse of tmap_gasket_lambda: as h(beta) = (floor(beta/2), ceil(beta/2)), a digit is the
// sum of its bits. (x, y): a cell; r <= 32. Example: r = 2: (1,3) -> (2,1).
TMAP_FN tmap_xy tmap_gasket_nu(tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    tmap_xy w = {0, 0};
    tmap_u32 power = 1;
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit) {
        tmap_u32 beta = (x >> bit & 1) + (y >> bit & 1);
        if (bit & 1)
            w.y += beta * power, power *= 3;
        else
            w.x += beta * power;
    }
    return w;
}

// The inverse of tmap_gasket_lambda_linear. r <= 20. Example: r = 2: (1,3) -> 5.
TMAP_FN tmap_u32 tmap_gasket_nu_linear(tmap_u32 x, tmap_u32 y, tmap_u32 r) {
    tmap_u32 i = 0, power = 1;
    for (tmap_u32 bit = 0; bit < r && bit < 32; ++bit, power *= 3)
        i += ((x >> bit & 1) + (y >> bit & 1)) * power;
    return i;
}

#endif
