// SPDX-License-Identifier: MIT
// map.h: a raster: the shape of a map of cells, the value of a cell, and when a flood wets it.
//
//     const tmap_raster_map map = {width, height, pitch, nodata, has_nodata, TMAP_RASTER_I16, 4};
//
// Floods (flood.h, papers/flood_slides.h) and component labels (label.h) use such a map.
#ifndef TMAP_RASTER_MAP_H
#define TMAP_RASTER_MAP_H

#include "../forest.h"
#include "../launch.h"
#include "../value.h"
#include "../warp.h"

// ---- the map ------------------------------------------------------------------------------------

// Types of cells. Labels take all of them, floods the first three.
#define TMAP_RASTER_I16  0
#define TMAP_RASTER_I32  1
#define TMAP_RASTER_F32  2 // NaN belongs to no component
#define TMAP_RASTER_U8   3
#define TMAP_RASTER_MASK 4 // bytes: 0 belongs to no component; all other values are equal
#define TMAP_RASTER_BITS 5 // a mask, 32 cells a word from the lowest bit on; rows begin at words

// A map. The cell of column x and row y is cells[y * pitch + x]; of a mask of bits it is bit x % 32
// of word y * pitch + x / 32, and bits beyond the width may have any value.
typedef struct tmap_raster_map {
    tmap_u64 width, height; // columns and rows, 0 to 2^31 - 1
    tmap_u64 pitch; // cells from one row to the next, at least width; words of a mask of bits
    double nodata;  // cells of this value belong to no component, if has_nodata
    int has_nodata;
    int type;         // of cells: TMAP_RASTER_I16, ...
    int connectivity; // neighbours of a cell: 4: over edges; 8: over corners too
} tmap_raster_map;

// Bytes of a cell of a type: 1, 2 or 4; of a word of bits 4.
TMAP_FN tmap_u32 tmap_raster_size(int type) {
    if (type == TMAP_RASTER_I16) return 2;
    return type <= TMAP_RASTER_F32 || type == TMAP_RASTER_BITS ? 4 : 1;
}

// Copies the bits of a 4-byte number of any type.
TMAP_FN void tmapi_raster_copy4(void *to, const void *from) {
    for (int i = 0; i < 4; ++i) ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

// Conversions between floats and doubles as in IEEE 754. The compiler's own take floats below
// 2^-126 for 0 under -ftz=true, which is part of --use_fast_math, and on a host that flushes them.
TMAP_FN double tmapi_raster_double(float value) {
#if defined(__CUDA_ARCH__)
    double same;
    asm("cvt.f64.f32 %0, %1;" : "=d"(same) : "f"(value));
    return same;
#else
    tmap_u32 bits;
    tmapi_raster_copy4(&bits, &value);
    if (bits << 1 >> 24) return (double)value;
    return (bits >> 31 ? -1 : 1) * (double)(bits & 0x7fffffu) * 1.401298464324817e-45; // 2^-149
#endif
}
TMAP_FN float tmapi_raster_float(double value) {
#if defined(__CUDA_ARCH__)
    float nearest;
    asm("cvt.rn.f32.f64 %0, %1;" : "=f"(nearest) : "d"(value));
    return nearest;
#else
    const double size = (value < 0 ? -value : value) * 7.1362384635298e44;             // 2^149
    float nearest;
    tmap_u32 bits;
    if (!(size < 8388608 && size > 0)) return (float)value;
    bits = (tmap_u32)size;
    bits += size - bits > 0.5 || (size - bits == 0.5 && bits % 2);
    if (value < 0) bits |= 0x80000000u;
    tmapi_raster_copy4(&nearest, &bits);
    return nearest;
#endif
}

// The key of a float's bits: an integer in the order of floats. The largest for NaN, which no level
// reaches; -0 is 0.
TMAP_FN int tmapi_raster_float_key(tmap_u32 bits) {
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffffff;
    if (bits == 0x80000000u) return 0;
    return (int)(bits ^ (bits >> 31 ? 0x7fffffffu : 0));
}

// The value of a cell. cells: of the map's type, in memory that the caller can read.
TMAP_FN double tmap_raster_value(const tmap_raster_map *map, const void *cells, tmap_u64 x,
                                 tmap_u64 y) {
    const tmap_u64 at = y * map->pitch + x;
    switch (map->type) {
    case TMAP_RASTER_I16: return ((const short *)cells)[at];
    case TMAP_RASTER_I32: return ((const int *)cells)[at];
    case TMAP_RASTER_F32: return tmapi_raster_double(((const float *)cells)[at]);
    case TMAP_RASTER_BITS: return ((const tmap_u32 *)cells)[y * map->pitch + x / 32] >> x % 32 & 1;
    default: return ((const unsigned char *)cells)[at];
    }
}

// ---- floods -------------------------------------------------------------------------------------

// A source of water. A source outside the map or on a dry cell floods nothing.
typedef struct tmap_flood_seed {
    tmap_u64 x, y;
} tmap_flood_seed;

// Words of a row of a result of bits. Bits after the width are 0.
TMAP_FN tmap_u64 tmap_flood_words(tmap_u64 width) { return (width + 31) / 32; }

// 1 if a height is below the level and is not NODATA; 0 for NaN.
TMAP_FN int tmap_flood_wet(const tmap_raster_map *map, double height, double level) {
    return height < level && !(map->has_nodata && height == map->nodata);
}

// ---- arrays of labels ---------------------------------------------------------------------------

// Forms of labels.
#define TMAP_LABEL_INT32 0 // for maps that cannot have more than 2^31 - 1 components
#define TMAP_LABEL_INT64 1
// Added to a form: labels are not numbered without gaps, and not counted. Each component has a
// number that is unique and ascends with the first cells.
#define TMAP_LABEL_ROOTS 2

// An array of labels: of a picture (depth 1), of a volume, or of a batch of images. The label of
// column x, row y and slice z is number (z * height + y) * width + x.
typedef struct tmap_label_array {
    tmap_u64 width, height, depth; // 0 to 2^31 - 1
    int form;                      // TMAP_LABEL_INT32 or TMAP_LABEL_INT64
    int images;                    // 1: each slice has labels of its own
} tmap_label_array;

// 1 for a valid array.
TMAP_FN int tmapi_label_is_array(const tmap_label_array *of) {
    return of->width <= 0x7fffffff && of->height <= 0x7fffffff && of->depth <= 0x7fffffff &&
           (unsigned)of->form <= TMAP_LABEL_INT64;
}

// Doubles the extents 2^log[k] of a box of cells `steps` times: the shortest one first, and only
// where the array has more cells. Images are taken whole before a box takes more than one.
TMAP_FN void tmapi_label_box(const tmap_label_array *of, tmap_u32 steps, tmap_u32 *log) {
    for (; steps; --steps) {
        const tmap_u64 x = 1ull << log[0], y = 1ull << log[1], z = 1ull << log[2];
        const int more_x = x < of->width, more_y = y < of->height, more_z = z < of->depth;
        if (more_z && (of->images ? !more_x && !more_y : (!more_x || z < x) && (!more_y || z < y)))
            ++log[2];
        else if (more_y && (!more_x || y < x))
            ++log[1];
        else if (more_x)
            ++log[0];
    }
}

// ---- plans of floods and labels -----------------------------------------------------------------

// 1 for a valid map with a type from first_type to last_type.
TMAP_FN int tmapi_raster_valid(const tmap_raster_map *map, int first_type, int last_type) {
    const int bits = map && map->type == TMAP_RASTER_BITS;
    return map && map->width <= 0x7fffffffu && map->height <= 0x7fffffffu &&
           map->pitch >= (bits ? tmap_flood_words(map->width) : map->width) &&
           map->type >= first_type && map->type <= last_type &&
           (map->connectivity == 4 || map->connectivity == 8);
}

// 1 if a cell can have the NODATA value. *bits: that value as an int, or the bits of a float.
TMAP_FN int tmapi_raster_nodata(const tmap_raster_map *map, int *bits) {
    const double v = map->nodata, largest = 3.4028234663852886e38; // of floats
    *bits = 0;
    if (!map->has_nodata || map->type >= TMAP_RASTER_MASK || v != v) return 0;
    if (map->type == TMAP_RASTER_F32) {
        float f;
        if (v - v == 0 && (v < -largest || v > largest)) return 0; // finite, but not a float
        f = tmapi_raster_float(v);
        if (v != 0) tmapi_raster_copy4(bits, &f); // -0 is 0
        return tmapi_raster_double(f) == v;
    }
    if (v < -2147483648.0 || v > 2147483647.0) return 0;
    *bits = (int)v;
    return (double)*bits == v && (map->type != TMAP_RASTER_I16 || (short)*bits == *bits);
}

// The offset of the next part of a workspace, `bytes` bytes, at a multiple of 256.
TMAP_FN tmap_u64 tmapi_raster_part(tmap_u64 *end, tmap_u64 bytes) {
    const tmap_u64 at = *end;
    *end = at + (bytes + 255) / 256 * 256;
    return at;
}

#if TMAP_CUDA && !TMAP_NVRTC

// 1 for an address that is not null and a multiple of `to`.
static inline int tmapi_raster_aligned(const void *address, tmap_u64 to) {
    return address && (tmap_u64)address % to == 0;
}

// Memory of a call: `bytes` bytes from `at` on.
typedef struct tmapi_raster_memory {
    const void *at;
    tmap_u64 bytes;
} tmapi_raster_memory;

// a * b + c, or 2^64 - 1 if that does not fit.
static inline tmap_u64 tmapi_raster_span(tmap_u64 a, tmap_u64 b, tmap_u64 c) {
    const tmap_u64 ab = tmap_mul_saturate(a, b);
    return ab > ~0ull - c ? ~0ull : ab + c;
}

// 1 if one of the first `written` of `count` pieces of memory overlaps any other one.
static inline int tmapi_raster_overlap(const tmapi_raster_memory *m, int written, int count) {
    for (int i = 0; i < written; ++i)
        for (int k = i + 1; k < count; ++k) {
            const tmap_u64 on = (tmap_u64)m[k].at - (tmap_u64)m[i].at; // modulo 2^64
            if (m[i].bytes && m[k].bytes && (on < m[i].bytes || 0 - on < m[k].bytes)) return 1;
        }
    return 0;
}

// One of several launches. Skipped if it has no blocks.
typedef struct tmapi_raster_step {
    const void *kernel;
    tmapi_launch_shape shape;
} tmapi_raster_step;

// Launches `count` kernels with the same argument, one after the other. Returns the first error.
static inline cudaError_t tmapi_raster_run(const tmapi_raster_step *steps, int count,
                                           const void *argument, cudaStream_t stream) {
    void *arguments[1] = {(void *)argument};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && !error; ++i) {
        const tmapi_launch_shape shape = steps[i].shape;
        if (!shape.grid) continue;
        if (shape.shared > 48 << 10) error = tmapi_launch_shared(steps[i].kernel, shape.shared);
        if (!error) error = tmapi_launch(steps[i].kernel, shape, arguments, stream);
    }
    return error;
}

// ---- warps --------------------------------------------------------------------------------------

TMAP_DEVICE tmap_u32 tmapi_raster_count(tmap_u32 bits) { return (tmap_u32)__popc((int)bits); }

// Lane k of a full warp receives the lanes where `predicate` holds, as bits of *word.
TMAP_DEVICE void tmapi_raster_ballot(int predicate, tmap_u32 k, tmap_u32 *word) {
    const tmap_u32 bits = __ballot_sync(~0u, predicate);
    if (threadIdx.x % 32 == k) *word = bits;
}

#endif

#endif
