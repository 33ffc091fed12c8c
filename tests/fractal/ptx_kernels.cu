// SPDX-License-Identifier: MIT
// ptx_kernels.cu: one kernel for each map and each constant fractal, for ptx_test.py to read their
// PTX. Levels and indices are kernel arguments, so that every other load would be the map's own.
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/catalogue3.h>
#include <threadmap/fractal/turned.h>

// map_NAME: a kernel that stores what the expression `value`, of type `type`, says of (a, b, r).
#define KERNEL(name, integer, type, value) \
    extern "C" __global__ void map_##name(type *out, integer a, integer b, tmap_u32 r) { \
        *out = value; \
    }

// In three dimensions c stands for the third axis.
__device__ static tmap_xyz at(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    const tmap_xyz p = {a, b, c};
    return p;
}
__device__ static tmap_xyz64 at64(tmap_u64 a, tmap_u64 b, tmap_u64 c) {
    const tmap_xyz64 p = {a, b, c};
    return p;
}

// What a map takes and gives.
#define PLACE2    a, b
#define PLACE2_64 a, b
#define PLACE3    at(a, b, a ^ b)
#define PLACE3_64 at64(a, b, a ^ b)
#define POINT2    tmap_xy
#define POINT2_64 tmap_xy64
#define POINT3    tmap_xyz
#define POINT3_64 tmap_xyz64

// The maps PREFIX_... of fractal f in 2 or 3 dimensions, as kernels map_..._NAME.
#define MAPS(name, prefix, f, dims) \
    KERNEL(lambda_##name, tmap_u32, POINT##dims, prefix##_lambda(f, PLACE##dims, r)) \
    KERNEL(lambda64_##name, tmap_u64, POINT##dims##_64, prefix##_lambda64(f, PLACE##dims##_64, r)) \
    KERNEL(lambda_linear_##name, tmap_u32, POINT##dims, prefix##_lambda_linear(f, a, r)) \
    KERNEL(lambda_linear64_##name, tmap_u64, POINT##dims##_64, prefix##_lambda_linear64(f, a, r)) \
    KERNEL(nu_##name, tmap_u32, POINT##dims, prefix##_nu(f, PLACE##dims, r)) \
    KERNEL(nu64_##name, tmap_u64, POINT##dims##_64, prefix##_nu64(f, PLACE##dims##_64, r)) \
    KERNEL(nu_linear_##name, tmap_u32, tmap_u32, prefix##_nu_linear(f, PLACE##dims, r)) \
    KERNEL(nu_linear64_##name, tmap_u64, tmap_u64, prefix##_nu_linear64(f, PLACE##dims##_64, r)) \
    KERNEL(contains_##name, tmap_u32, int, prefix##_contains(f, PLACE##dims, r)) \
    KERNEL(contains64_##name, tmap_u64, int, prefix##_contains64(f, PLACE##dims##_64, r))
#define PIECES(name, prefix, f, dims, box) \
    KERNEL(tau_##name, tmap_u32, POINT##dims, prefix##_tau(f, a)) \
    KERNEL(replica_##name, tmap_u32, tmap_u32, prefix##_replica(f, box)) \
    KERNEL(delta_##name, tmap_u32, POINT##dims, prefix##_delta(f, a, r))

#define KERNELS(name, title, rows, k, sx, sy, tau_x, tau_y) \
    MAPS(name, tmap_nbb, tmap_fractal_##name(), 2) \
    PIECES(name, tmap_nbb, tmap_fractal_##name(), 2, PLACE2)
TMAP_FRACTALS(KERNELS)
#define HASHES(name, title, rows, k, sx, sy, tau_x, tau_y) \
    KERNEL(hash_##name, tmap_u32, tmap_xy, tmap_fractal_##name##_hash(a))
TMAP_FRACTALS_TABLE1(HASHES)

#define KERNELS3(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    MAPS(name, tmap_nbb3, tmap_fractal3_##name(), 3) \
    PIECES(name, tmap_nbb3, tmap_fractal3_##name(), 3, at(a, b, a))
TMAP_FRACTALS3(KERNELS3)

// Turned copies. What is stored of a tile depends on its element too.
__device__ static tmap_xyz tile(tmap_turned t, tmap_u32 i, tmap_u32 r) {
    tmap_u32 element;
    tmap_xyz corner = tmap_turned_tile(t, i, r, &element);
    corner.x ^= element << 26;
    return corner;
}

#define KERNELS_TURNED(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, ta, tb, tc) \
    MAPS(turned_##name, tmap_turned, tmap_turned_##name(), 3) \
    KERNEL(turned_tile_##name, tmap_u32, tmap_xyz, tile(tmap_turned_##name(), a, r))
TMAP_TURNED(KERNELS_TURNED)

KERNEL(own_constant, tmap_u32, tmap_xy,
       tmap_nbb_lambda(tmap_nbb_make(4, 4, 2, 0x2130, 0x1100), a, b, r))

KERNEL(gasket_contains, tmap_u32, int, tmap_gasket_contains(a, b, r))
KERNEL(gasket_lambda, tmap_u32, tmap_xy, tmap_gasket_lambda(a, b, r))
KERNEL(gasket_lambda_linear, tmap_u32, tmap_xy, tmap_gasket_lambda_linear(a, r))
KERNEL(gasket_nu, tmap_u32, tmap_xy, tmap_gasket_nu(a, b, r))
KERNEL(gasket_nu_linear, tmap_u32, tmap_u32, tmap_gasket_nu_linear(a, b, r))

// ---- controls: each must break the rule in its name, or the test sees nothing -------------------

extern "C" __global__ void control_div(tmap_xy *out, tmap_nbb f, tmap_u32 a, tmap_u32 b,
                                       tmap_u32 r) {
    *out = tmap_nbb_lambda(f, a, b, r); // a fractal filled at run time
}

extern "C" __global__ void control_rem(tmap_u64 *out, tmap_u64 a, tmap_u64 b) { *out = a % b; }

__constant__ tmap_u32 control_table[16];
extern "C" __global__ void control_load(tmap_u32 *out, tmap_u32 a) { *out = control_table[a & 15]; }

extern "C" __global__ void control_local(tmap_u32 *out, tmap_u32 a, tmap_u32 r) {
    tmap_u32 digits[32];
    for (tmap_u32 mu = 0; mu < r; ++mu) digits[mu & 31] = a += a << (mu & 31);
    *out = digits[a & 31];
}

__device__ __noinline__ tmap_u32 control_callee(tmap_u32 a) { return a * a + 1; }
extern "C" __global__ void control_call(tmap_u32 *out, tmap_u32 a) { *out = control_callee(a); }
