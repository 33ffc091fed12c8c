// SPDX-License-Identifier: MIT
// near_points.h: the points of bench_near, in a cube of side 1. peers_near.py makes the same.
#ifndef BENCH_TRIANGLE_NEAR_POINTS_H
#define BENCH_TRIANGLE_NEAR_POINTS_H

#include "../driver.h"

enum { UNIFORM, CLUSTERS, SHELL, LINE, DOMAINS };
static const char *const domains[DOMAINS] = {"uniform", "clusters", "shell", "line"};

enum { NEAR_CLUSTERS = 30, NEAR_FIRST = 4 * NEAR_CLUSTERS }; // the first number of a point

// From 0 to 1, below 1: the hash of a number by SplitMix64 (Steele et al. 2014).
static double near_uniform(tmap_u64 number) {
    tmap_u64 z = (number + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}
// Of two numbers, by Box and Muller.
static double near_normal(tmap_u64 number) {
    return sqrt(-2 * log(1 - near_uniform(number))) *
           cos(6.283185307179586 * near_uniform(number + 1));
}

// n points; they are independent of each other. CLUSTERS: 30 of equal numbers, normal, with standard
// deviations from 0.002 to 0.1, each coordinate modulo 1. SHELL: a sphere of radius 0.45, 0.01
// thick. LINE: along x. A point has 8 numbers.
static void near_points(int domain, tmap_u32 n, float *points) {
    for (tmap_u64 i = 0; i < n; ++i, points += 3) {
        const tmap_u64 at = NEAR_FIRST + 8 * i;
        const tmap_u64 c = 4 * (tmap_u64)(NEAR_CLUSTERS * near_uniform(at)); // its cluster
        const double wide = 0.002 * pow(50, near_uniform(c + 3));
        double v[3], scale = 1;
        for (unsigned k = 0; k < 3; ++k)
            v[k] = domain == UNIFORM || domain == LINE ? near_uniform(at + 1 + 2 * k)
                                                       : near_normal(at + 1 + 2 * k);
        if (domain == SHELL)
            scale = (0.45 + 0.01 * near_uniform(at + 7)) /
                    sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (unsigned k = 0; k < 3; ++k) {
            if (domain == CLUSTERS) v[k] = near_uniform(c + k) + wide * v[k], v[k] -= floor(v[k]);
            if (domain == SHELL) v[k] = 0.5 + scale * v[k];
            if (domain == LINE && k) v[k] = 0.5;
            points[k] = fminf((float)v[k], 0x1.fffffep-1f);
        }
    }
}

#endif
