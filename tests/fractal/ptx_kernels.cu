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

#define FRACTAL(name) tmap_fractal_##name()
#define KERNELS(name, title, rows, k, sx, sy, tau_x, tau_y) \
    KERNEL(hash_##name, tmap_u32, tmap_xy, tmap_fractal_##name##_hash(a)) \
    KERNEL(tau_##name, tmap_u32, tmap_xy, tmap_nbb_tau(FRACTAL(name), a)) \
    KERNEL(replica_##name, tmap_u32, tmap_u32, tmap_nbb_replica(FRACTAL(name), a, b)) \
    KERNEL(delta_##name, tmap_u32, tmap_xy, tmap_nbb_delta(FRACTAL(name), a, r)) \
    KERNEL(delta64_##name, tmap_u32, tmap_xy64, tmap_nbb_delta64(FRACTAL(name), a, r)) \
    KERNEL(lambda_##name, tmap_u32, tmap_xy, tmap_nbb_lambda(FRACTAL(name), a, b, r)) \
    KERNEL(lambda64_##name, tmap_u64, tmap_xy64, tmap_nbb_lambda64(FRACTAL(name), a, b, r)) \
    KERNEL(lambda_linear_##name, tmap_u32, tmap_xy, tmap_nbb_lambda_linear(FRACTAL(name), a, r)) \
    KERNEL(lambda_linear64_##name, tmap_u64, tmap_xy64, \
           tmap_nbb_lambda_linear64(FRACTAL(name), a, r)) \
    KERNEL(nu_##name, tmap_u32, tmap_xy, tmap_nbb_nu(FRACTAL(name), a, b, r)) \
    KERNEL(nu64_##name, tmap_u64, tmap_xy64, tmap_nbb_nu64(FRACTAL(name), a, b, r)) \
    KERNEL(nu_linear_##name, tmap_u32, tmap_u32, tmap_nbb_nu_linear(FRACTAL(name), a, b, r)) \
    KERNEL(nu_linear64_##name, tmap_u64, tmap_u64, tmap_nbb_nu_linear64(FRACTAL(name), a, b, r)) \
    KERNEL(contains_##name, tmap_u32, int, tmap_nbb_contains(FRACTAL(name), a, b, r)) \
    KERNEL(contains64_##name, tmap_u64, int, tmap_nbb_contains64(FRACTAL(name), a, b, r))
TMAP_FRACTALS(KERNELS)

// In three dimensions; c stands for the third axis.
__device__ static tmap_xyz at(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    const tmap_xyz p = {a, b, c};
    return p;
}

__device__ static tmap_xyz64 at64(tmap_u64 a, tmap_u64 b, tmap_u64 c) {
    const tmap_xyz64 p = {a, b, c};
    return p;
}

#define FRACTAL3(name) tmap_fractal3_##name()
#define KERNELS3(name, title, layers, k, sx, sy, sz, tau_x, tau_y, tau_z) \
    KERNEL(tau_##name, tmap_u32, tmap_xyz, tmap_nbb3_tau(FRACTAL3(name), a)) \
    KERNEL(replica_##name, tmap_u32, tmap_u32, tmap_nbb3_replica(FRACTAL3(name), at(a, b, a))) \
    KERNEL(delta_##name, tmap_u32, tmap_xyz, tmap_nbb3_delta(FRACTAL3(name), a, r)) \
    KERNEL(delta64_##name, tmap_u32, tmap_xyz64, tmap_nbb3_delta64(FRACTAL3(name), a, r)) \
    KERNEL(lambda_##name, tmap_u32, tmap_xyz, \
           tmap_nbb3_lambda(FRACTAL3(name), at(a, b, a ^ b), r)) \
    KERNEL(lambda64_##name, tmap_u64, tmap_xyz64, \
           tmap_nbb3_lambda64(FRACTAL3(name), at64(a, b, a ^ b), r)) \
    KERNEL(lambda_linear_##name, tmap_u32, tmap_xyz, \
           tmap_nbb3_lambda_linear(FRACTAL3(name), a, r)) \
    KERNEL(lambda_linear64_##name, tmap_u64, tmap_xyz64, \
           tmap_nbb3_lambda_linear64(FRACTAL3(name), a, r)) \
    KERNEL(nu_##name, tmap_u32, tmap_xyz, tmap_nbb3_nu(FRACTAL3(name), at(a, b, a ^ b), r)) \
    KERNEL(nu64_##name, tmap_u64, tmap_xyz64, \
           tmap_nbb3_nu64(FRACTAL3(name), at64(a, b, a ^ b), r)) \
    KERNEL(nu_linear_##name, tmap_u32, tmap_u32, \
           tmap_nbb3_nu_linear(FRACTAL3(name), at(a, b, a ^ b), r)) \
    KERNEL(nu_linear64_##name, tmap_u64, tmap_u64, \
           tmap_nbb3_nu_linear64(FRACTAL3(name), at64(a, b, a ^ b), r)) \
    KERNEL(contains_##name, tmap_u32, int, tmap_nbb3_contains(FRACTAL3(name), at(a, b, a ^ b), r)) \
    KERNEL(contains64_##name, tmap_u64, int, \
           tmap_nbb3_contains64(FRACTAL3(name), at64(a, b, a ^ b), r))
TMAP_FRACTALS3(KERNELS3)

// Turned copies. What is stored of a tile depends on its element too.
__device__ static tmap_xyz tile(tmap_turned t, tmap_u32 i, tmap_u32 r) {
    tmap_u32 element;
    tmap_xyz corner = tmap_turned_tile(t, i, r, &element);
    corner.x ^= element << 26;
    return corner;
}

#define KERNELS_TURNED(name, title, k, sx, sy, sz, tau_x, tau_y, tau_z, ta, tb, tc) \
    KERNEL(turned_lambda_##name, tmap_u32, tmap_xyz, \
           tmap_turned_lambda(tmap_turned_##name(), at(a, b, a ^ b), r)) \
    KERNEL(turned_lambda64_##name, tmap_u64, tmap_xyz64, \
           tmap_turned_lambda64(tmap_turned_##name(), at64(a, b, a ^ b), r)) \
    KERNEL(turned_lambda_linear_##name, tmap_u32, tmap_xyz, \
           tmap_turned_lambda_linear(tmap_turned_##name(), a, r)) \
    KERNEL(turned_lambda_linear64_##name, tmap_u64, tmap_xyz64, \
           tmap_turned_lambda_linear64(tmap_turned_##name(), a, r)) \
    KERNEL(turned_tile_##name, tmap_u32, tmap_xyz, tile(tmap_turned_##name(), a, r)) \
    KERNEL(turned_nu_##name, tmap_u32, tmap_xyz, \
           tmap_turned_nu(tmap_turned_##name(), at(a, b, a ^ b), r)) \
    KERNEL(turned_nu64_##name, tmap_u64, tmap_xyz64, \
           tmap_turned_nu64(tmap_turned_##name(), at64(a, b, a ^ b), r)) \
    KERNEL(turned_nu_linear_##name, tmap_u32, tmap_u32, \
           tmap_turned_nu_linear(tmap_turned_##name(), at(a, b, a ^ b), r)) \
    KERNEL(turned_nu_linear64_##name, tmap_u64, tmap_u64, \
           tmap_turned_nu_linear64(tmap_turned_##name(), at64(a, b, a ^ b), r)) \
    KERNEL(turned_contains_##name, tmap_u32, int, \
           tmap_turned_contains(tmap_turned_##name(), at(a, b, a ^ b), r)) \
    KERNEL(turned_contains64_##name, tmap_u64, int, \
           tmap_turned_contains64(tmap_turned_##name(), at64(a, b, a ^ b), r))
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
