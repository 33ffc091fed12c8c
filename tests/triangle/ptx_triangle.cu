// SPDX-License-Identifier: MIT
// ptx_triangle.cu: one kernel for each map of triangles and of the simplex, whose PTX
// ptx_test.py reads.
#include <threadmap/triangle/condensed.h>
#include <threadmap/triangle/simplex.h>
#include <threadmap/papers/triangle_maps.h>

// map_NAME: a kernel that stores what the expression `value`, of type `type`, says of (a, b, n).
#define KERNEL(name, integer, type, value) \
    extern "C" __global__ void map_##name(type *out, integer a, integer b, integer n) { \
        *out = value; \
    }

KERNEL(triangle, tmap_u32, tmap_pair, tmap_triangle_map(a))
KERNEL(triangle_strict, tmap_u32, tmap_pair, tmap_triangle_map_strict(a))
KERNEL(triangle64, tmap_u64, tmap_pair64, tmap_triangle_map64(a))
KERNEL(triangle_strict64, tmap_u64, tmap_pair64, tmap_triangle_map_strict64(a))
KERNEL(index, tmap_u32, tmap_u64, tmap_triangle_index(a, b))
KERNEL(index_strict64, tmap_u64, tmap_u64, tmap_triangle_index_strict(a, b))
KERNEL(condensed, tmap_u32, tmap_pair, tmap_condensed_map(a, n))
KERNEL(condensed64, tmap_u64, tmap_pair64, tmap_condensed_map64(a, n))
KERNEL(condensed_index, tmap_u64, tmap_u64, tmap_condensed_index(a, b, n))
KERNEL(upper, tmap_u32, tmap_pair, tmap_upper_map(a, n))
KERNEL(upper64, tmap_u64, tmap_pair64, tmap_upper_map64(a, n))
KERNEL(simplex, tmap_u32, tmap_triple, tmap_simplex_map(a))
KERNEL(simplex64, tmap_u64, tmap_triple, tmap_simplex_map64(a))
KERNEL(simplex_index, tmap_u32, tmap_u64, tmap_simplex_index(a, b, n))
KERNEL(tile, tmap_u32, tmap_triangle_tile, tmap_triangle_tile_map(a, n, b))
KERNEL(newton, tmap_u32, tmap_pair, tmap_triangle_map_newton(a))
KERNEL(rsqrt, tmap_u32, tmap_pair, tmap_triangle_map_rsqrt(a))
KERNEL(rb, tmap_u32, tmap_pair, tmap_triangle_rb_map(a, b, n))
KERNEL(utm, tmap_u32, tmap_pair, tmap_triangle_utm_map(a, n))
KERNEL(utm_blocks, tmap_u32, tmap_pair, tmap_triangle_utm_blocks(a, n))

extern "C" __global__ void map_rec(tmap_pair *out, tmap_triangle_rec rec, tmap_u32 l, tmap_u32 x,
                                   tmap_u32 y, tmap_u32 q) {
    *out = tmap_triangle_rec_map(rec, l, x, y, q);
}

// ---- controls: each must break the rule in its name, or the test sees nothing -------------------

extern "C" __global__ void control_div(tmap_u32 *out, tmap_u32 a, tmap_u32 b) { *out = a / b; }
extern "C" __global__ void control_rem(tmap_u64 *out, tmap_u64 a, tmap_u64 b) { *out = a % b; }

extern "C" __global__ void control_double(double *out, tmap_u64 a) { *out = (double)a + 0.25; }

__constant__ tmap_u32 control_table[16];
extern "C" __global__ void control_load(tmap_u32 *out, tmap_u32 a) { *out = control_table[a & 15]; }

extern "C" __global__ void control_local(tmap_u32 *out, tmap_u32 a, tmap_u32 r) {
    tmap_u32 digits[32];
    for (tmap_u32 mu = 0; mu < r; ++mu) digits[mu & 31] = a += a << (mu & 31);
    *out = digits[a & 31];
}

extern "C" __global__ void control_branch(tmap_u32 *out, tmap_u32 a) {
    for (tmap_u32 i = 0; i < a; ++i) out[i] = a ^ i;
}

__device__ __noinline__ tmap_u32 control_callee(tmap_u32 a) { return a * a + 1; }
extern "C" __global__ void control_call(tmap_u32 *out, tmap_u32 a) { *out = control_callee(a); }
