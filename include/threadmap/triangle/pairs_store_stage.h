// SPDX-License-Identifier: MIT
// pairs_store_stage.h: the points of a tile of pairs_store_tile.h in shared memory.
//
// Vectors of 16 bytes: the first one of all rows and columns of the tile, then the second one of
// all of them, and so on, a plane each. On GPUs that can, copies go past the registers, and the
// block may do other things meanwhile.
//
// Private to the library.
#ifndef TMAP_TRIANGLE_PAIRS_STORE_STAGE_H
#define TMAP_TRIANGLE_PAIRS_STORE_STAGE_H

#include "pairs_store_tile.h"

#if TMAP_CUDA

// A point that is staged: where it is in global memory, and its place. exists: or all of it is 0.
typedef struct tmapi_store_point {
    const unsigned char *from;
    tmap_u32 place;
    int exists;
} tmapi_store_point;

// Number x of those staged: rows, then columns.
TMAP_DEVICE tmapi_store_point tmapi_store_point_of(const tmapi_store *s, tmap_u32 x) {
    const int row = x < s->side, c = (int)(x - s->side);
    const int index = row ? s->row + (int)x : s->column - (int)tmapi_store_before(s->bytes) + c;
    tmapi_store_point p;
    p.exists = (tmap_u32)index < (tmap_u32)(row ? s->n : s->columns) &&
               x < tmapi_store_places(s->side, s->bytes);
    p.from = (row ? s->points : s->others) + (tmap_u64)(tmap_u32)index * s->d * s->size;
    p.place = row ? x : s->side + tmapi_store_place(s, (tmap_u32)c);
    return p;
}

// Copies 4, 8 or 16 bytes to shared memory, or as many zeros; whether they are there is known only
// after tmapi_store_arrived.
TMAP_DEVICE void tmapi_store_bring(unsigned char *to, const unsigned char *from, tmap_u32 bytes,
                                   int exists) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const tmap_u32 at = (tmap_u32)__cvta_generic_to_shared(to);
    const tmap_u32 much = exists ? bytes : 0;
    if (bytes == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(much)
                     : "memory");
    if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(much)
                     : "memory");
    if (bytes == 16)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(much)
                     : "memory");
#else
    if (exists)
        tmapi_value_copy(to, from, bytes);
    else
        tmapi_value_zero(to, bytes);
#endif
}

// Waits for the calling thread's copies.
TMAP_DEVICE void tmapi_store_arrived(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Where coordinates, or units of so many bytes, are from a point's place on.
TMAP_DEVICE tmap_u32 tmapi_store_offset(tmap_u32 k, tmap_u32 bytes, tmap_u32 plane) {
    return k / (16 / bytes) * plane + k % (16 / bytes) * bytes;
}

// Copies of `unit` bytes, a constant. planes: so many vectors, a constant where a lane brings a
// point; 0 beyond the last coordinate.
TMAP_DEVICE void tmapi_store_stage_by(const tmapi_store *s, const tmap_u32 unit, tmap_u32 first,
                                      tmap_u32 planes, unsigned char *staged) {
    const tmap_u32 plane = tmapi_store_plane(s->side, s->bytes), units = planes * (16 / unit);
    const tmap_u32 left = (s->d - first) / (unit / s->size); // units that exist
    const tmap_u32 places = tmapi_store_places(s->side, s->bytes);
    const tmap_u32 lane = threadIdx.x % s->lanes;
    const tmap_u64 begin = (tmap_u64)first * s->size;
#pragma unroll 1
    for (tmap_u32 x = threadIdx.x / s->lanes; x < places; x += 32 * s->warps / s->lanes) {
        const tmapi_store_point p = tmapi_store_point_of(s, x);
        const unsigned char *from = p.from + begin;
        unsigned char *to = staged + p.place * 16;
        if (s->lanes == 1) {
#pragma unroll
            for (tmap_u32 k = 0; k < units; ++k) {
                const int exists = p.exists && k < left;
                tmapi_store_bring(to + tmapi_store_offset(k, unit, plane),
                                  exists ? from + k * unit : s->points, unit, exists);
            }
        } else {
            to += tmapi_store_offset(lane, unit, plane);
#pragma unroll 1
            for (tmap_u32 k = lane; k < units; k += s->lanes) {
                const int exists = p.exists && k < left;
                tmapi_store_bring(to, exists ? from + k * unit : s->points, unit, exists);
                to += tmapi_store_offset(s->lanes, unit, plane);
            }
        }
    }
}

// Begins to stage the points of a tile, so many vectors of them from coordinate `first` on: whole
// vectors where they lie at multiples of them. by_vectors: a constant, 1 to try that; for few
// coordinates it is not worth the code.
TMAP_DEVICE void tmapi_store_stage(const tmapi_store *s, int by_vectors, tmap_u32 first,
                                   tmap_u32 planes, unsigned char *staged) {
    if (by_vectors && s->d % (16 / s->size) == 0 &&
        ((tmap_u64)s->points | (tmap_u64)s->others) % 16 == 0)
        tmapi_store_stage_by(s, 16, first, planes, staged);
    else
        tmapi_store_stage_by(s, s->size, first, planes, staged);
}

// ---- points of one length -----------------------------------------------------------------------

// What the points of a tile are scaled to. length: that all are to have, 0: they stay as they are.
// centred: whether the centre of their coordinates is to be 0 first; share: of a coordinate in it,
// 1 / d. at: for points that are staged by pieces, room for two doubles for each place: a point's
// centre, and the factor by which it is to be multiplied.
typedef struct tmapi_store_scale {
    double length, share;
    int centred;
    double *at;
} tmapi_store_scale;

TMAP_DEVICE double tmapi_store_inverse_root(double x) {
#if defined(__CUDA_ARCH__)
    return rsqrt(x);
#else
    return 1 / sqrt(x);
#endif
}

// What a coordinate adds to the sum of a point's, or to that of their squares.
TMAP_DEVICE double tmapi_store_term(double value, double centre, int squares) {
    return squares ? (value - centre) * (value - centre) : value;
}

// Measures all points of a tile where they lie, 8 lanes a point: for those that are staged by
// pieces. Collective for the block, which must meet before the results are used.
TMAP_DEVICE void tmapi_store_measure(const tmapi_store *s, const tmapi_store_scale *scale) {
    const tmap_u32 places = tmapi_store_places(s->side, s->bytes), lane = threadIdx.x % 8;
    // Whole warps go on as long as one of their points exists.
#pragma unroll 1
    for (tmap_u32 x = threadIdx.x / 32 * 4; x < places; x += 4 * s->warps) {
        const tmapi_store_point p = tmapi_store_point_of(s, x + threadIdx.x % 32 / 8);
        double centre = 0, sum = 0;
#pragma unroll 1
        for (int squares = !scale->centred; squares < 2; ++squares) {
            sum = 0;
#pragma unroll 8
            for (tmap_u32 k = lane; k < s->d; k += 8) {
                const unsigned char *from = p.from + (tmap_u64)k * s->size;
                if (p.exists)
                    sum += tmapi_store_term(s->size == 4 ? (double)__ldg((const float *)from)
                                                         : __ldg((const double *)from),
                                            centre, squares);
            }
#pragma unroll
            for (int k = 1; k < 8; k *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
            if (!squares) centre = sum * scale->share;
        }
        if (lane == 0 && x + threadIdx.x % 32 / 8 < places) {
            scale->at[2 * p.place] = centre;
            scale->at[2 * p.place + 1] = scale->length * tmapi_store_inverse_root(sum);
        }
    }
}

// Coordinate number c of a vector, as a double; and set to one.
TMAP_DEVICE double tmapi_store_get_coordinate(const tmapi_value *vector, tmap_u32 size,
                                              tmap_u32 c) {
    return size == 4 ? (double)((const float *)vector->bytes)[c]
                     : ((const double *)vector->bytes)[c];
}
TMAP_DEVICE void tmapi_store_set_coordinate(tmapi_value *vector, tmap_u32 size, tmap_u32 c,
                                            double to) {
    if (size == 4)
        ((float *)vector->bytes)[c] = (float)to;
    else
        ((double *)vector->bytes)[c] = to;
}

// The sum of `count` coordinates of a point that is staged, or of the squares of their distances
// from `centre`.
TMAP_DEVICE double tmapi_store_sum_of(const tmapi_store *s, const unsigned char *point,
                                      tmap_u32 count, tmap_u32 planes, int squares, double centre) {
    const tmap_u32 per = 16 / s->size;
    double sum = 0;
#pragma unroll 1
    for (tmap_u32 k = 0; k < planes; ++k) {
        tmapi_value vector;
        tmapi_value_copy(vector.bytes, point + k * tmapi_store_plane(s->side, s->bytes), 16);
#pragma unroll
        for (tmap_u32 c = 0; c < 4; ++c)
            if (c < per && k * per + c < count)
                sum += tmapi_store_term(tmapi_store_get_coordinate(&vector, s->size, c), centre,
                                        squares);
    }
    return sum;
}

// Scales points that are staged, a lane each: in double precision, in which no float overflows.
// whole: whether all of their coordinates are there, and they are measured now; else `count` of
// them are. Collective for the block, which must meet before and afterwards.
TMAP_DEVICE void tmapi_store_scale_by(const tmapi_store *s, int whole, tmap_u32 count,
                                      tmap_u32 planes, const tmapi_store_scale *scale,
                                      unsigned char *staged) {
    const tmap_u32 per = 16 / s->size;
#pragma unroll 1
    for (tmap_u32 x = threadIdx.x; x < tmapi_store_places(s->side, s->bytes); x += 32 * s->warps) {
        unsigned char *point = staged + x * 16;
        double centre = 0, factor;
        if (whole) {
            if (scale->centred)
                centre = tmapi_store_sum_of(s, point, count, planes, 0, 0) * scale->share;
            factor = scale->length * tmapi_store_inverse_root(
                                         tmapi_store_sum_of(s, point, count, planes, 1, centre));
        } else {
            centre = scale->at[2 * x], factor = scale->at[2 * x + 1];
        }
#pragma unroll 1
        for (tmap_u32 k = 0; k < planes; ++k, point += tmapi_store_plane(s->side, s->bytes)) {
            tmapi_value vector;
            tmapi_value_copy(vector.bytes, point, 16);
#pragma unroll
            for (tmap_u32 c = 0; c < 4; ++c)
                if (c < per && k * per + c < count)
                    tmapi_store_set_coordinate(
                        &vector, s->size, c,
                        (tmapi_store_get_coordinate(&vector, s->size, c) - centre) * factor);
            tmapi_value_copy(point, vector.bytes, 16);
        }
    }
}

// Waits for what tmapi_store_stage has begun, and scales it; first: the coordinate. With a barrier
// of the block at its end.
TMAP_DEVICE void tmapi_store_ready(const tmapi_store *s, int whole, tmap_u32 first, tmap_u32 planes,
                                   const tmapi_store_scale *scale, unsigned char *staged) {
    tmapi_store_arrived();
    __syncthreads();
    if (scale->length == 0) return;
    tmapi_store_scale_by(s, whole, s->d - first, planes, scale, staged);
    __syncthreads();
}

#endif // TMAP_CUDA
#endif
