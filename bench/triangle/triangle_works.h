// SPDX-License-Identifier: MIT
// triangle_works.h: further works on the cells j <= i < n, by the main maps, in blocks of 16 x 16:
//
//     zero        the map alone: a write whose condition never holds keeps the compiler from
//                 leaving it out
//     life        a step of the Game of Life on n x n bytes; what is outside is dead
//     collide     the table of collisions of n spheres: n x n bytes, 1 for those that overlap
//     edm_shared  EDM-4D with the points of a block's cells in shared memory. A block of RB that has
//                 cells of both halves loads the points of both
//
// Source: those of github.com/crinavar/gpumaps, commit 6d956be, 2-simplex (zero, life), and section
// I of the paper (collisions). The paper has no times of a map with shared memory.
#ifndef BENCH_TRIANGLE_WORKS_H
#define BENCH_TRIANGLE_WORKS_H

#include "triangle_maps.h"

#include "../../tests/triangle/pdist_check.h"

// The works as numbers in the place of d.
enum {
    TRIANGLE_ZERO = TRIANGLE_COUNT + 1,
    TRIANGLE_LIFE,
    TRIANGLE_COLLIDE,
    TRIANGLE_SHARED,
    TRIANGLE_WORKS
};
#define TRIANGLE_OVERLAP 0.5f // distance of the centres, in a cube of side 2

// X(name, kind): the maps of these works.
#define TRIANGLE_MAIN(X) \
    X(bb, BB) \
    X(ltm_rsqrt, LTM_RSQRT) \
    X(ltm_exact, LTM_EXACT) \
    X(rb, RB) \
    X(rec, REC) \
    X(h, H) \
    X(utm, UTM)

static inline const char *triangle_work_name(tmap_u32 d) {
    static const char *const names[] = {"zero", "life", "collide", "edm_shared"};
    return d >= TRIANGLE_ZERO ? names[d - TRIANGLE_ZERO] : d ? "edm" : "dummy";
}

// Coordinates of the points of a work.
static inline tmap_u32 triangle_coordinates(tmap_u32 d) {
    return d == TRIANGLE_COLLIDE ? 3 : d == TRIANGLE_SHARED ? 4 : d > 4 ? 0 : d;
}

static __device__ __forceinline__ unsigned char triangle_life(const unsigned char *in, tmap_u32 n,
                                                              tmap_pair cell) {
    int living = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const tmap_u32 i = cell.i + k / 3 - 1, j = cell.j + k % 3 - 1; // 0 - 1 is in no triangle
        if (k != 4 && i < n && j <= i) living += in[(tmap_u64)i * n + j];
    }
    return living == 3 || (living == 2 && in[(tmap_u64)cell.i * n + cell.j]);
}

// points: 4 arrays of n coordinates. Each point is read once by a block, and a distance has no load
// from global memory.
static __device__ __forceinline__ void triangle_shared(const int variant, triangle_size s,
                                                       const float *points, float *out) {
    __shared__ float rows[2][4][16], columns[2][4][16];
    const tmap_u32 x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const tmap_u32 even = ~s.n & 1, rb = variant == TRIANGLE_RB;
    tmap_pair cell = {0, 0};
    float sum = 0;
    if (variant == TRIANGLE_BB && blockIdx.x > blockIdx.y) return;
    const int has = triangle_cell(variant, s, &cell);
    const tmap_u32 half = rb && y < x + even; // of RB: turned or not
    for (tmap_u32 part = 0; part <= rb; ++part) {
        tmap_u32 i = cell.i, j = cell.j;
        if (rb) i = part ? s.n - 1 - y : y - even, j = part ? s.n - even - x : x;
        if (rb && !__syncthreads_or(half == part)) continue;
        i = i < s.n ? i : s.n - 1, j = j < s.n ? j : s.n - 1; // beyond the edge: not used
#pragma unroll
        for (tmap_u32 k = 0; k < 4; ++k) {
            if (threadIdx.x == 0) rows[part][k][threadIdx.y] = points[(tmap_u64)k * s.n + i];
            if (threadIdx.y == 0) columns[part][k][threadIdx.x] = points[(tmap_u64)k * s.n + j];
        }
    }
    __syncthreads();
    if (!has) return;
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        const float t = rows[half][k][threadIdx.y] - columns[half][k][threadIdx.x];
        sum += t * t;
    }
    out[(tmap_u64)cell.i * s.n + cell.j] = sqrtf(sum);
}

#define TRIANGLE_MORE(name, kind) \
    static __global__ void __launch_bounds__(1024) \
        triangle_zero_##name(triangle_size s, const float *, float *out) { \
        tmap_pair cell; \
        if (triangle_cell(TRIANGLE_##kind, s, &cell) && cell.i + cell.j == ~0u) *out = 0; \
    } \
    static __global__ void __launch_bounds__(1024) \
        triangle_life_##name(triangle_size s, const float *in, float *out) { \
        tmap_pair cell; \
        if (triangle_cell(TRIANGLE_##kind, s, &cell)) \
            ((unsigned char *)out)[(tmap_u64)cell.i * s.n + cell.j] = \
                triangle_life((const unsigned char *)in, s.n, cell); \
    } \
    static __global__ void __launch_bounds__(1024) triangle_collide_##name( \
        triangle_size s, const float *__restrict__ points, float *__restrict__ out) { \
        tmap_pair cell; \
        if (triangle_cell(TRIANGLE_##kind, s, &cell)) \
            ((unsigned char *)out)[(tmap_u64)cell.i * s.n + cell.j] = \
                triangle_distance(points, s.n, 3, cell) < TRIANGLE_OVERLAP; \
    } \
    static __global__ void __launch_bounds__(256) triangle_shared_##name( \
        triangle_size s, const float *__restrict__ points, float *__restrict__ out) { \
        triangle_shared(TRIANGLE_##kind, s, points, out); \
    }
TRIANGLE_MAIN(TRIANGLE_MORE)
#undef TRIANGLE_MORE

// The kernel of a work, or null: the map has none.
static triangle_kernel triangle_more(int variant, tmap_u32 d) {
#define TRIANGLE_ROW(name, kind) \
    {triangle_zero_##name, triangle_life_##name, triangle_collide_##name, triangle_shared_##name},
    static const triangle_kernel kernels[][4] = {TRIANGLE_MAIN(TRIANGLE_ROW)};
#undef TRIANGLE_ROW
#define TRIANGLE_KIND(name, kind) TRIANGLE_##kind,
    static const int kinds[] = {TRIANGLE_MAIN(TRIANGLE_KIND)};
#undef TRIANGLE_KIND
    if (d == TRIANGLE_SHARED && variant == TRIANGLE_UTM)
        return NULL; // its threads' cells are apart
    for (size_t k = 0; k < COUNT(kinds); ++k)
        if (kinds[k] == variant) return kernels[k][d - TRIANGLE_ZERO];
    return NULL;
}

// Launches work d by a map, as triangle_launch.
static triangle_blocks triangle_run(int variant, tmap_u32 d, tmap_u32 n, tmap_u32 rho, int run,
                                    const float *points, float *out) {
    if (variant == TRIANGLE_REC_RECURSIVE)
        return triangle_launch_recursive((int)d, n, rho, run, points, out);
    return triangle_launch(
        variant, d < TRIANGLE_ZERO ? triangle_kernels[variant][d] : triangle_more(variant, d), n,
        rho, run, points, out);
}

// The living cells of the first generation.
static __global__ void triangle_life_begin(tmap_u32 n, unsigned char *in) {
    BENCH_EACH(at, (tmap_u64)n * n) in[at] = at * 0x9e3779b97f4a7c15ull >> 62 == 0;
}

// Counts places of n x n bytes that are wrong; those above the diagonal keep what they had. points:
// row by row; near the limit of a collision either answer is right.
static __global__ void triangle_check_bytes(tmap_u32 d, tmap_u32 n, const unsigned char *in,
                                            const float *points, const unsigned char *out,
                                            unsigned char poison, tmap_u64 *wrong) {
    tmap_u64 bad = 0;
    BENCH_EACH(at, (tmap_u64)n * n) {
        const tmap_i64 i = (tmap_i64)(at / n), j = (tmap_i64)(at % n);
        int want = poison, living = 0;
        if (j <= i && d == TRIANGLE_LIFE) {
            for (tmap_i64 a = i - 1; a <= i + 1; ++a)
                for (tmap_i64 b = j - 1; b <= j + 1; ++b)
                    if (a >= 0 && a < n && b >= 0 && b <= a) living += in[a * n + b];
            want = in[at] ? living == 3 || living == 4 : living == 3;
        } else if (j <= i) {
            const double r = check_distance(points, 0, 3, TMAP_PDIST_EUCLIDEAN, i, j);
            if (fabs(r - TRIANGLE_OVERLAP) < 1e-6 && out[at] < 2) continue;
            want = r < TRIANGLE_OVERLAP;
        }
        bad += out[at] != want;
    }
    if (bad) atomicAdd(wrong, bad);
}

#endif
