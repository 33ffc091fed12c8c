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
#define CHECK_POISON_BYTE 0x5a // KIT_POISON

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

// How far off a point of length 1 may be, less its mean if it is centred: s of pdist.h less 1.5 u,
// the part of one point. *mean, *length: of the point.
TMAP_FN double check_centre(const void *points, int wide, tmap_u64 d, tmap_u64 i, int centred,
                            double *mean, double *length) {
    double sum = 0, square = 0;
    for (tmap_u64 k = 0; k < d && centred; ++k) sum += check_value(points, wide, i * d + k);
    *mean = sum / (double)d;
    for (tmap_u64 k = 0; k < d; ++k) {
        double t = check_value(points, wide, i * d + k) - *mean;
        square += t * t;
    }
    *length = sqrt(square);
    return DBL_EPSILON * (double)(d + 4) *
           (centred ? 1 + fabs(*mean) * sqrt((double)d) / *length : 1);
}

// The distance of points i and j by its line in pdist.h (which scipy's answers test), but for the cosine and the correlation, which
// are computed from unit vectors, as 1 - cos would not be exact enough to compare with. *slack:
// what check_centre says of both points.
TMAP_FN double check_distance_slack(const void *points, int wide, tmap_u64 d, int metric,
                                    tmap_u64 i, tmap_u64 j, double *slack) {
    const tmapi_pdist_rule rule = tmapi_pdist_rule_of(metric);
    const int unit = rule.scaled != 0, centred = rule.scaled == 2;
    double sum = 0, scale_i = 1, scale_j = 1, mean_i = 0, mean_j = 0;
    *slack = 0;
    if (unit) {
        *slack = check_centre(points, wide, d, i, centred, &mean_i, &scale_i);
        *slack += check_centre(points, wide, d, j, centred, &mean_j, &scale_j);
        scale_i = 1 / scale_i, scale_j = 1 / scale_j;
    }
    for (tmap_u64 k = 0; k < d; ++k) {
        double t = (check_value(points, wide, i * d + k) - mean_i) * scale_i -
                   (check_value(points, wide, j * d + k) - mean_j) * scale_j;
        if (rule.sum == TMAPI_PDIST_MOST)
            sum = fabs(t) > sum ? fabs(t) : sum; // a NaN does not count
        else
            sum += rule.sum == TMAPI_PDIST_ABSOLUTE ? fabs(t) : t * t;
    }
    return rule.root ? sqrt(sum) : unit ? sum / 2 : sum;
}

TMAP_FN double check_distance(const void *points, int wide, tmap_u64 d, int metric, tmap_u64 i,
                              tmap_u64 j) {
    double slack;
    return check_distance_slack(points, wide, d, metric, i, j, &slack);
}

// Which arithmetic computed the distances: floats, doubles, or products on tensor cores.
enum { CHECK_F32, CHECK_F64, CHECK_PRODUCTS };

// The error that pdist.h states for a distance `want`, within its range. slack: of
// check_distance_slack. No other place has these numbers.
TMAP_FN double check_granted(int form, tmap_u64 d, int metric, double want, double slack) {
    const int wide = form == CHECK_F64, products = form == CHECK_PRODUCTS;
    const tmapi_pdist_rule rule = tmapi_pdist_rule_of(metric);
    const double u = wide ? DBL_EPSILON / 2 : FLT_EPSILON / 2.0;
    const double most = d <= 64 ? 8 : d <= 256 ? 12 : 20, s = slack + (products ? 0 : 1.5 * u);
    const double t = !wide && (double)d > most ? most : (double)d;
    const double lost = (double)d * (wide ? DBL_MIN * DBL_EPSILON : FLT_MIN * u); // of squares
    double granted = want * u * (products ? 4 : t + 4);
    if (rule.sum == TMAPI_PDIST_MOST) granted = want * u;
    if (rule.root) granted = want * u * (products ? 3 : t / 2 + 4);
    if (rule.root && !products && want > 0) granted += lost / (2 * want);
    if (rule.sum == TMAPI_PDIST_SQUARES && !rule.root && !rule.scaled) granted += lost;
    if (rule.scaled) granted += s * (2 * sqrt(want) + s);
    return (wide ? 2 : 1) * granted; // doubles are compared with doubles, which are as far off
}

// 1 if `got` is what pdist.h says of a distance `want`, also beyond the range of squares.
TMAP_FN int check_right(int form, tmap_u64 d, int metric, double got, double want, double slack) {
    const int root = tmapi_pdist_rule_of(metric).root && d > 1 && form != CHECK_PRODUCTS;
    const double least = form == CHECK_F64 ? 1.5e-154 : 1.1e-19; // a root's, as stated
    const double most = form == CHECK_F64 ? DBL_MAX : FLT_MAX, sum = root ? want * want : want;
    if (want != want) return got != got;
    if (got == want || fabs(got - want) <= check_granted(form, d, metric, want, slack)) return 1;
    if (sum > most * (1 - 1e-5)) return got == (double)INFINITY;
    return root && want > 0 && want < least && got >= 0 && got < least;
}

typedef struct check_result {
    tmap_u64 wrong, checked;
    tmap_u64 worst; // error, in thousandths of a place in the last bit
} check_result;

// Compares all values of an output, each thread for pairs of its own. form: CHECK_F32, _F64 or
// _PRODUCTS. Grid: any; rows by x, columns by y.
static __global__ void check_pdist(const void *points, int form, tmap_u64 n, tmap_u64 d,
                                   const void *out, int metric, int layout, check_result *result) {
    const int wide = form == CHECK_F64, unit = tmapi_pdist_rule_of(metric).scaled;
    tmap_u64 wrong = 0, checked = 0, worst = 0;
    for (tmap_u64 i = blockIdx.x; i < n; i += gridDim.x)
        for (tmap_u64 j = threadIdx.x + (tmap_u64)blockDim.x * blockIdx.y; j < n;
             j += (tmap_u64)blockDim.x * gridDim.y) {
            tmap_u64 at = i * n + j;
            double got, want, slack;
            if (layout == TMAP_PAIRS_CONDENSED) {
                if (j <= i) continue;
                at -= (i + 1) * (i + 2) / 2;
            }
            ++checked;
            if (layout == TMAP_PAIRS_LOWER && j > i) {
                wrong += !check_is_poison(out, wide, at);
                continue;
            }
            got = check_value(out, wide, at);
            want = check_distance_slack(points, wide, d, metric, i, j, &slack);
            if (i == j) want = 0;
            wrong += i == j ? got != 0 : !check_right(form, d, metric, got, want, slack);
            // A cosine near 0 is exact by the scale of its root.
            if (want > (unit ? 0.01 : 0) && slack < 1e-14 && got - got == 0) {
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
