// SPDX-License-Identifier: MIT
// pdist_check.h: points, and the check of every distance that pdist.h wrote, on the device.
//
// A thread for each pair computes the distance in double precision from the definition, and finds
// its place in the output from the definition of the layout, without a map. Tests and benchmarks
// both use it.
#ifndef TESTS_PDIST_CHECK_H
#define TESTS_PDIST_CHECK_H

#include <threadmap/triangle/pdist.h>

#include <cuda_runtime.h>
#include <float.h>
#include <math.h>

// Every byte of an output before a run, and of the places that a layout leaves alone.
#define CHECK_POISON_BYTE 0x5a

// wide: 1 for double, 0 for float values.
TMAP_FN double check_value(const void *values, int wide, tmap_u64 at) {
    return wide ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

TMAP_FN int check_is_poison(const void *values, int wide, tmap_u64 at) {
    const unsigned char *bytes = (const unsigned char *)values + (at << (2 + wide));
    int same = 1;
    for (int b = 0; b < 4 << wide; ++b) same &= bytes[b] == CHECK_POISON_BYTE;
    return same;
}

// n x d coordinates in (-1, 1), a quarter of them near one of a few points, so that some pairs are
// near each other.
static __global__ void check_points(tmap_u64 n, tmap_u64 d, int wide, tmap_u32 seed, void *out) {
    tmap_u64 at = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    for (; at < n * d; at += (tmap_u64)gridDim.x * blockDim.x) {
        double value = 0;
        for (int part = 0; part < 2; ++part) {
            tmap_u64 near = at / d % 4 == 0 && part == 0 ? at % d + (at / d / 4 % 5) * d : at;
            tmap_u64 h = near + 0x9e3779b97f4a7c15ull * (seed + 1 + (tmap_u32)part);
            h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
            h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
            value += ((double)(h >> 11) / 4503599627370496.0 - 1) * (part ? 1e-3 : 0.999);
        }
        if (wide)
            ((double *)out)[at] = value;
        else
            ((float *)out)[at] = (float)value;
    }
}

// The distance of points i and j by its definition, but for the cosine, which is computed from unit
// vectors, as 1 - cos would not be exact enough to compare with.
TMAP_FN double check_distance(const void *points, int wide, tmap_u64 d, int metric, tmap_u64 i,
                              tmap_u64 j) {
    double sum = 0, scale_i = 1, scale_j = 1;
    if (metric == TMAP_PDIST_COSINE) {
        double norm_i = 0, norm_j = 0;
        for (tmap_u64 k = 0; k < d; ++k) {
            double u = check_value(points, wide, i * d + k);
            double v = check_value(points, wide, j * d + k);
            norm_i += u * u, norm_j += v * v;
        }
        scale_i = 1 / sqrt(norm_i), scale_j = 1 / sqrt(norm_j);
    }
    for (tmap_u64 k = 0; k < d; ++k) {
        double t = check_value(points, wide, i * d + k) * scale_i -
                   check_value(points, wide, j * d + k) * scale_j;
        sum += metric == TMAP_PDIST_CITYBLOCK ? fabs(t) : t * t;
    }
    return metric == TMAP_PDIST_EUCLIDEAN ? sqrt(sum) : metric == TMAP_PDIST_COSINE ? sum / 2 : sum;
}

// The error that is granted to a distance `want` in d dimensions. u is half a place in the last
// bit; a sum of d terms is off by d u at most, its root by half of that and what the root adds. Sums
// of floats are taken by parts: no term goes through more roundings than a part has. A unit vector
// is off by u, and so is the difference of two of them, whatever its length.
TMAP_FN double check_granted(int wide, tmap_u64 d, int metric, double want) {
    double u = wide ? DBL_EPSILON / 2 : FLT_EPSILON / 2.0;
    double most = d <= 64 ? 8 : d <= 256 ? 12 : 20, terms = (double)d;
    double reference = wide ? 2 : 1; // is as far off itself
    if (!wide && terms > most) terms = most;
    if (metric == TMAP_PDIST_EUCLIDEAN) return reference * u * want * (terms / 2 + 4);
    if (metric == TMAP_PDIST_COSINE)
        return reference * u * (want * (terms + 8) + 4 * sqrt(want) + 4 * u * terms);
    return reference * u * want * (terms + 4);
}

TMAP_FN int check_right(int wide, tmap_u64 d, int metric, double got, double want) {
    if (want != want) return got != got;
    return got == want || fabs(got - want) <= check_granted(wide, d, metric, want);
}

typedef struct check_result {
    tmap_u64 wrong, checked;
    tmap_u64 worst; // error, in thousandths of a place in the last bit
} check_result;

// Compares all values of an output, each thread for pairs of its own. Grid: any; rows by x, columns
// by y.
static __global__ void check_pdist(const void *points, int wide, tmap_u64 n, tmap_u64 d,
                                   const void *out, int metric, int layout, check_result *result) {
    tmap_u64 wrong = 0, checked = 0, worst = 0;
    for (tmap_u64 i = blockIdx.x; i < n; i += gridDim.x)
        for (tmap_u64 j = threadIdx.x + (tmap_u64)blockDim.x * blockIdx.y; j < n;
             j += (tmap_u64)blockDim.x * gridDim.y) {
            tmap_u64 at = i * n + j;
            double got, want;
            if (layout == TMAP_PDIST_CONDENSED) {
                if (j <= i) continue;
                at -= (i + 1) * (i + 2) / 2;
            }
            ++checked;
            if (layout == TMAP_PDIST_LOWER && j > i) {
                wrong += !check_is_poison(out, wide, at);
                continue;
            }
            got = check_value(out, wide, at);
            want = i == j ? 0 : check_distance(points, wide, d, metric, i, j);
            wrong += !check_right(wide, d, metric, got, want);
            // A cosine near 0 is exact by the scale of its root.
            if (want > (metric == TMAP_PDIST_COSINE ? 0.01 : 0) && got - got == 0) {
                int exponent;
                double places;
                frexp(want, &exponent);
                places = ldexp(fabs(got - want), (wide ? 53 : 24) - exponent);
                if (places * 1000 > (double)worst) worst = (tmap_u64)(places * 1000);
            }
        }
    if (wrong) atomicAdd(&result->wrong, wrong);
    if (worst) atomicMax(&result->worst, worst);
    atomicAdd(&result->checked, checked);
}

#endif
