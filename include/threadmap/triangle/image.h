// SPDX-License-Identifier: MIT
// image.h: the nearest image of a point in a periodic cell, right-angled or triclinic, for your
// visitors of pairs. You make a cell on the host from its vectors and pass it to your kernel in
// your struct; there
//
//     float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
//     tmap_image_f32(&job->cell, d); // the shortest of d + i a + j b + k c over all integers
//
// A vector of zeros is not periodic: three axes, two (a film), one (a wire) or none may be. For two
// coordinates set d[2] = 0, or call tmap_image_axis_f32 for each.
//
// A cell holds short vectors of the same lattice, reduced after Minkowski: b_1 is no longer than
// b_2, b_2 than b_3, and none is made shorter by others. Taking from d the integers nearest to its
// fractional coordinates leaves a difference r with coordinates from -1/2 to 1/2. What is nearest
// to r is then a vector with coefficients -1, 0 and 1, one of 13 pairs +-v or none of them:
//
//     A point of the lattice's Voronoi cell has coordinates g_i below 3/2, so they differ from r's
//     by less than 2. With h the height of b_3 above the plane of b_1 and b_2, and R the covering
//     radius of the lattice in this plane, R^2 <= (|b_1|^2 + |b_2|^2) / 4 <= |b_3|^2 / 2 <= h^2.
//     If g_3 > 1/2, a point of the next plane is nearer unless (2 g_3 - 1) h^2 <= R^2: g_3 <= 1.
//     The projections of the point and of b_3 on the plane lie in the plane's own Voronoi cell,
//     whose corners are circumcentres of non-obtuse triangles, with coordinates up to 3/4 and 2/3.
//     So g_1 <= 3/4 (1 + g_3) and g_2 <= 2/3 (1 + g_3); g_1 is 3/2 for no lattice.
//
// v can be nearer to some r than the origin only if the sum of all |b_i . v| exceeds |v|^2: nearer
// means 2 r . v > |v|^2, and 2 r . v is largest in a corner. A cell keeps the pairs for which this
// holds: none if it is right-angled, and all are tried only where r is long.
//
// Source of the reduction: P. Nguyen and D. Stehle, "Low-dimensional lattice basis reduction
// revisited", ACM Transactions on Algorithms 5 (2009).
#ifndef TMAP_TRIANGLE_IMAGE_H
#define TMAP_TRIANGLE_IMAGE_H

#include "../core.h"

// ---- cells --------------------------------------------------------------------------------------

// A periodic cell, made by tmap_image_make_f32. Two points have at most one image of each other
// within the square root of radius2, which is 0 for a cell that is not periodic. Within a larger
// radius they can have several: tmap_image_f32 gives the nearest alone.
typedef struct tmap_image_cell_f32 {
    float vector[3][3];      // short vectors of the lattice, zeros in place of missing ones
    float inverse[3][3];     // fractional coordinate i of d: the product of d with row i
    float shift[13][4];      // lattice vectors that can be nearer, and their squared lengths
    float radius2;           // square of half the distance of a point from its own nearest image
    tmap_u32 shifts, square; // number of shifts; 1: vector i has only coordinate i
} tmap_image_cell_f32;

// The same for doubles.
typedef struct tmap_image_cell_f64 {
    double vector[3][3];
    double inverse[3][3];
    double shift[13][4];
    double radius2;
    tmap_u32 shifts, square;
} tmap_image_cell_f64;

// ---- one axis -----------------------------------------------------------------------------------

// The nearest integer, the even one of two, for |v| < 2^22 (2^51): beyond, the last bit of a number
// is worth more than 1/2. The addition rounds; a host's -ffast-math would leave it out.
TMAP_FN float tmapi_image_round_f32(float v) {
#if defined(__FAST_MATH__) && !defined(__CUDA_ARCH__)
    return __builtin_rintf(v);
#else
    return v + 12582912.0f - 12582912.0f;               // 1.5 * 2^23
#endif
}
TMAP_FN double tmapi_image_round_f64(double v) {
#if defined(__FAST_MATH__) && !defined(__CUDA_ARCH__)
    return __builtin_rint(v);
#else
    return v + 6755399441055744.0 - 6755399441055744.0; // 1.5 * 2^52
#endif
}

// The difference to the nearest image along one axis: d - length k, with k the integer nearest to d
// inverse. length: of the cell; 0 with inverse 0: not periodic, d is returned. inverse: 1 / length,
// rounded. Laws: odd in d; |result| <= length / 2 + 2^-22 |d| for |d| <= 2^22 length; for |d| <=
// 3/2 length, as of two points in one cell, the subtraction is exact. Further away it is an image
// that need not be the nearest; NaN and infinities give NaN. Cost: 3 instructions.
// Example: d = 7, length = 10: -3.
TMAP_FN float tmap_image_axis_f32(float d, float length, float inverse) {
    return d - tmapi_image_round_f32(d * inverse) * length;
}

// The same in doubles: 2^-51 and 2^51 in place of 2^-22 and 2^22.
TMAP_FN double tmap_image_axis_f64(double d, double length, double inverse) {
    return d - tmapi_image_round_f64(d * inverse) * length;
}

// ---- three axes ---------------------------------------------------------------------------------

// Replaces the difference d of two points, three numbers, by that to the nearest image.
// Guarantee: the result is d less a lattice vector, up to the roundings of at most 4 subtractions
// from numbers of the size of d. It is longer than the nearest image by at most
// 2^-20 (|d| + |a| + |b| + |c|) of the cell's short vectors, and so may be another image where two
// are equally near up to that. Odd in d. Range: fractional coordinates up to 2^22; beyond, an image
// that need not be the nearest. NaN and infinities give NaN.
// Cost on sm_90: right-angled: 9 instructions and a branch. Else 28, and where that leaves d longer
// than the root of radius2, 17 for each of cell->shifts, 0 to 13: 6 to 9 in random cells.
// Example: a cubic cell of side 10: d = {7, -6, 1} -> {-3, 4, 1}.
TMAP_FN void tmap_image_f32(const tmap_image_cell_f32 *cell, float *d) {
    float k[3], best = 0, by[3] = {0, 0, 0};
    if (cell->square) {
        for (int i = 0; i < 3; ++i)
            d[i] = tmap_image_axis_f32(d[i], cell->vector[i][i], cell->inverse[i][i]);
        return;
    }
    for (int i = 0; i < 3; ++i) {
        const float *row = cell->inverse[i];
        k[i] = tmapi_image_round_f32(row[0] * d[0] + row[1] * d[1] + row[2] * d[2]);
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) d[j] -= k[i] * cell->vector[i][j];
    if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= cell->radius2) return;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < cell->shifts; ++i) {
        const float *v = cell->shift[i], dot = d[0] * v[0] + d[1] * v[1] + d[2] * v[2];
        const float gain = 2 * (dot < 0 ? -dot : dot) - v[3];
        if (gain > best) {
            best = gain;
            for (int j = 0; j < 3; ++j) by[j] = dot < 0 ? -v[j] : v[j];
        }
    }
    for (int j = 0; j < 3; ++j) d[j] -= by[j];
}

// The same in doubles: 2^-49 and 2^51 in place of 2^-20 and 2^22.
TMAP_FN void tmap_image_f64(const tmap_image_cell_f64 *cell, double *d) {
    double k[3], best = 0, by[3] = {0, 0, 0};
    if (cell->square) {
        for (int i = 0; i < 3; ++i)
            d[i] = tmap_image_axis_f64(d[i], cell->vector[i][i], cell->inverse[i][i]);
        return;
    }
    for (int i = 0; i < 3; ++i) {
        const double *row = cell->inverse[i];
        k[i] = tmapi_image_round_f64(row[0] * d[0] + row[1] * d[1] + row[2] * d[2]);
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) d[j] -= k[i] * cell->vector[i][j];
    if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= cell->radius2) return;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < cell->shifts; ++i) {
        const double *v = cell->shift[i], dot = d[0] * v[0] + d[1] * v[1] + d[2] * v[2];
        const double gain = 2 * (dot < 0 ? -dot : dot) - v[3];
        if (gain > best) {
            best = gain;
            for (int j = 0; j < 3; ++j) by[j] = dot < 0 ? -v[j] : v[j];
        }
    }
    for (int j = 0; j < 3; ++j) d[j] -= by[j];
}

// ---- making a cell ------------------------------------------------------------------------------

TMAP_FN double tmapi_image_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// to += q b.
TMAP_FN void tmapi_image_add(double *to, double q, const double *b) {
    for (int j = 0; j < 3; ++j) to[j] += q * b[j];
}

// to = a x b.
TMAP_FN void tmapi_image_cross(const double *a, const double *b, double *to) {
    for (int j = 0; j < 3; ++j)
        to[j] = a[(j + 1) % 3] * b[(j + 2) % 3] - a[(j + 2) % 3] * b[(j + 1) % 3];
}

// Shortens the first `rank` of the vectors b until they are reduced after Minkowski, to 1e-12.
// Returns TMAP_ERANGE after too many steps.
TMAP_FN int tmapi_image_reduce(double (*b)[3], int rank) {
    int again = 1;
    for (int steps = 0; again; ++steps) {
        int last = rank - 1;
        if (steps == 10000) return TMAP_ERANGE;
        again = 0;
        for (int i = 0; i < rank; ++i) // multiples of one vector
            for (int j = 0; j < rank; ++j) {
                const double part = tmapi_image_dot(b[i], b[j]) / tmapi_image_dot(b[i], b[i]);
                if (i == j || part * part <= 0.25 + 1e-12) continue;
                tmapi_image_add(b[j], -tmapi_image_round_f64(part), b[i]), again = 1;
            }
        if (again || rank < 3) continue;
        for (int i = 0; i < 2; ++i)
            if (tmapi_image_dot(b[i], b[i]) > tmapi_image_dot(b[last], b[last])) last = i;
        for (int signs = 0; signs < 4 && !again; ++signs) { // both others from the longest
            double v[3] = {b[last][0], b[last][1], b[last][2]};
            tmapi_image_add(v, signs & 1 ? 1 : -1, b[(last + 1) % 3]);
            tmapi_image_add(v, signs & 2 ? 1 : -1, b[(last + 2) % 3]);
            again = tmapi_image_dot(v, v) < (1 - 1e-12) * tmapi_image_dot(b[last], b[last]);
            for (int j = 0; again && j < 3; ++j) b[last][j] = v[j];
        }
    }
    return TMAP_OK;
}

// Sets b[rank] ... b[2] to vectors at right angles to all before them. Returns the volume, or 0 if
// the square of its part of the product of lengths is 1e-20 or less.
TMAP_FN double tmapi_image_complete(double (*b)[3], int rank) {
    double normal[3], volume, all = 1;
    if (rank == 0) b[0][0] = 1, b[0][1] = b[0][2] = 0;
    if (rank < 2) {
        int least = b[0][1] * b[0][1] < b[0][0] * b[0][0];
        if (b[0][2] * b[0][2] < b[0][least] * b[0][least]) least = 2;
        for (int j = 0; j < 3; ++j) normal[j] = j == least;
        tmapi_image_cross(b[0], normal, b[1]);
    }
    if (rank < 3) tmapi_image_cross(b[0], b[1], b[2]);
    tmapi_image_cross(b[1], b[2], normal), volume = tmapi_image_dot(b[0], normal);
    for (int i = 0; i < 3; ++i) all *= tmapi_image_dot(b[i], b[i]);
    return volume * volume > 1e-20 * all ? volume : 0;
}

// Sets radius2 and the shifts of a cell with the first `rank` of the vectors b. slack: by what part
// of itself |v|^2 must be exceeded.
TMAP_FN void tmapi_image_shifts(tmap_image_cell_f64 *cell, double (*b)[3], int rank, double slack) {
    cell->shifts = 0, cell->radius2 = 0;
    for (int n = 14; n < 27; ++n) { // in base 3: coefficients -1, 0 and 1, one of each pair
        const int of[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        double v[3] = {0, 0, 0}, square, most = 0;
        int used = 1;
        for (int i = 0; i < 3; ++i)
            if (of[i]) tmapi_image_add(v, of[i], b[i]), used = used && i < rank;
        if (!used) continue;
        square = tmapi_image_dot(v, v);
        if (!(cell->radius2 > 0 && cell->radius2 <= square / 4)) cell->radius2 = square / 4;
        for (int i = 0; i < rank; ++i) {
            const double dot = tmapi_image_dot(b[i], v);
            most += dot < 0 ? -dot : dot;
        }
        if (most <= square * (1 + slack)) continue;
        for (int j = 0; j < 3; ++j) cell->shift[cell->shifts][j] = v[j];
        cell->shift[cell->shifts++][3] = square;
    }
}

// The maker of both cells. limit: the largest length, and 1 / limit the smallest.
TMAP_FN int tmapi_image_make(const double *vectors, double limit, double slack,
                             tmap_image_cell_f64 *out) {
    tmap_image_cell_f64 cell;
    double b[3][3], volume;
    int rank = 0, axis[3], error;
    if (!vectors || !out) return TMAP_EINVAL;
    for (int i = 0; i < 3; ++i) {
        const double *v = vectors + 3 * i, square = tmapi_image_dot(v, v);
        if (v[0] == 0 && v[1] == 0 && v[2] == 0) continue;
        if (square != square) return TMAP_EINVAL;
        if (square > limit * limit || square * limit * limit < 1) return TMAP_ERANGE;
        for (int j = 0; j < 3; ++j) // cos(pi / 2) is not quite 0
            b[rank][j] = v[j] * v[j] > 4.9e-32 * square ? v[j] : 0;
        ++rank;
    }
    if (tmapi_image_complete(b, rank) == 0) return TMAP_EINVAL;
    if ((error = tmapi_image_reduce(b, rank)) != TMAP_OK) return error;
    if ((volume = tmapi_image_complete(b, rank)) == 0) return TMAP_EINVAL;
    tmapi_image_shifts(&cell, b, rank, slack);
    cell.square = 1;
    for (int i = 0; i < 3; ++i) {
        axis[i] = b[i][0] != 0 ? 0 : b[i][1] != 0 ? 1 : 2;
        if ((b[i][0] != 0) + (b[i][1] != 0) + (b[i][2] != 0) != 1) cell.square = 0;
        for (int j = 0; j < 3; ++j) cell.vector[i][j] = cell.inverse[i][j] = 0;
    }
    for (int i = 0; i < rank; ++i) {
        const int row = cell.square ? axis[i] : i;
        double *inverse = cell.inverse[row];
        tmapi_image_cross(b[(i + 1) % 3], b[(i + 2) % 3], inverse);
        for (int j = 0; j < 3; ++j) cell.vector[row][j] = b[i][j], inverse[j] /= volume;
        if (cell.square) inverse[row] = 1 / b[i][row];
    }
    for (tmap_u32 i = cell.shifts; i < 13; ++i)
        for (int j = 0; j < 4; ++j) cell.shift[i][j] = 0;
    *out = cell;
    return TMAP_OK;
}

// Makes a cell from its three vectors: a, b and c, nine numbers in any unit, zeros for one that is
// not periodic. Any vectors of a lattice give the same images. Lengths: 1e-30 to 1e30 (f32: 1e-12
// to 1e12). Returns TMAP_EINVAL for a null pointer, a NaN, and vectors that span 1e-10 or less of
// the product of their lengths; TMAP_ERANGE for other lengths. Writes *out only on success. Not for
// hot loops: it takes thousands of operations.
// Example: {10,0,0, 0,10,0, 0,0,0}: a film, periodic along x and y: shifts 0, radius2 25.
TMAP_FN int tmap_image_make_f64(const double *vectors, tmap_image_cell_f64 *out) {
    return tmapi_image_make(vectors, 1e30, 1e-13, out);
}
TMAP_FN int tmap_image_make_f32(const double *vectors, tmap_image_cell_f32 *out) {
    tmap_image_cell_f64 cell;
    const int error = out ? tmapi_image_make(vectors, 1e12, 1e-6, &cell) : TMAP_EINVAL;
    if (error) return error;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            out->vector[i][j] = (float)cell.vector[i][j];
            out->inverse[i][j] = (float)cell.inverse[i][j];
        }
    for (int i = 0; i < 13; ++i)
        for (int j = 0; j < 4; ++j) out->shift[i][j] = (float)cell.shift[i][j];
    out->radius2 = (float)cell.radius2, out->shifts = cell.shifts, out->square = cell.square;
    return TMAP_OK;
}

#endif
