// SPDX-License-Identifier: MIT
// drmsd_slides.h: the sum of dRMSD of one pair of frames, in the steps of the lecture slides about
// it: the distribution of pairs, the root, and the number of atoms i of a thread.
//
// dRMSD(A, B) = sqrt(S / (n(n-1)/2)), S the sum over i < j of (d_ij^A - d_ij^B)^2, with d_ij^X the
// distance of atoms i and j in frame X. This header computes S.
//
//   naive_1d     the outer sum is parallel: a thread has u neighbouring atoms i, and loops over all
//                later j in global memory
//   shared_1d    the same; a block has blockDim.x * u atoms i, and loops over the j by tiles in
//                shared memory, all threads at the same atom at the same time
//   sliding_1d   as naive_1d, with the atoms j in shared memory: at a time the threads of a block
//                are at neighbouring atoms j, a window that slides by u atoms a step
//   triangle_2d  both sums are parallel: a block has a square of blockDim.x * u atoms i by the same
//                number of j, one of a triangle of squares, which tmap_triangle_tile_map gives
//   cached_2d    the same without shared memory: the threads of a warp load the same atom j, and
//                caches keep a tile for the others
//
// Six loads of 128 bits read all coordinates of four atoms j of a tile, which serve u atoms i; from
// global memory only if a and b are multiples of 16 bytes, else 24 loads of 32 bits. In the sliding
// window threads read different atoms, and a load has at most u of them.
// Forms, roots and u are compile-time constants; the kernel is yours:
//
//     __global__ void __launch_bounds__(512) terms(const float *a, const float *b, tmap_u32 n,
//                                                  double *sum) {
//         const tmap_drmsd_slides_how how = {TMAP_DRMSD_SLIDES_TRIANGLE_2D,
//                                            TMAP_DRMSD_SLIDES_RSQRT, 4};
//         tmap_drmsd_slides(how, a, b, n, sum);
//     }
//     blocks = tmap_drmsd_slides_blocks(TMAP_DRMSD_SLIDES_TRIANGLE_2D, n, 128, 4);
//     shared = tmap_drmsd_slides_bytes(TMAP_DRMSD_SLIDES_TRIANGLE_2D, 128, 4);
//     terms<blocks, 128, shared>(a, b, n, sum)
//
// Source: Filipovic, lecture slides "Flood maps, dRMSD computation"; Filipovic, Plhak, Strelak,
// HPCS 2015. docs/papers.md says which statements of the slides do not hold.
#ifndef TMAP_PAPERS_DRMSD_SLIDES_H
#define TMAP_PAPERS_DRMSD_SLIDES_H

#include "../fold.h"
#include "../triangle/map.h"

// Distributions of the pairs.
enum {
    TMAP_DRMSD_SLIDES_NAIVE_1D,
    TMAP_DRMSD_SLIDES_SHARED_1D,
    TMAP_DRMSD_SLIDES_TRIANGLE_2D,
    TMAP_DRMSD_SLIDES_SLIDING_1D,
    TMAP_DRMSD_SLIDES_CACHED_2D,
    TMAP_DRMSD_SLIDES_FORMS
};

// How a root of x is computed: rounded as in IEEE 754; as 1 / rsqrt(x), as the compiler of the
// slides did with -use_fast_math; as x rsqrt(x), the remedy in the slides, which is NaN for x = 0;
// by the GPU's approximate root, which -use_fast_math gives today.
enum {
    TMAP_DRMSD_SLIDES_SQRT,
    TMAP_DRMSD_SLIDES_RECIPROCAL,
    TMAP_DRMSD_SLIDES_RSQRT,
    TMAP_DRMSD_SLIDES_APPROX,
    TMAP_DRMSD_SLIDES_ROOTS
};

// A kernel: distribution of pairs, root, and atoms i of a thread: 1, 2, 4 or 8.
typedef struct tmap_drmsd_slides_how {
    int form, root;
    tmap_u32 u;
} tmap_drmsd_slides_how;

// The most atoms i of a thread, and the most threads of a block.
#define TMAP_DRMSD_SLIDES_U_MAX     8u
#define TMAP_DRMSD_SLIDES_BLOCK_MAX 512u

// The names of a form ("naive_1d", ...) and of a root ("sqrt", "reciprocal", "rsqrt", "approx");
// "?" for any other number.
TMAP_FN const char *tmap_drmsd_slides_form_name(int form) {
    return form == TMAP_DRMSD_SLIDES_NAIVE_1D      ? "naive_1d"
           : form == TMAP_DRMSD_SLIDES_SHARED_1D   ? "shared_1d"
           : form == TMAP_DRMSD_SLIDES_TRIANGLE_2D ? "triangle_2d"
           : form == TMAP_DRMSD_SLIDES_SLIDING_1D  ? "sliding_1d"
           : form == TMAP_DRMSD_SLIDES_CACHED_2D   ? "cached_2d"
                                                   : "?";
}
TMAP_FN const char *tmap_drmsd_slides_root_name(int root) {
    return root == TMAP_DRMSD_SLIDES_SQRT         ? "sqrt"
           : root == TMAP_DRMSD_SLIDES_RECIPROCAL ? "reciprocal"
           : root == TMAP_DRMSD_SLIDES_RSQRT      ? "rsqrt"
           : root == TMAP_DRMSD_SLIDES_APPROX     ? "approx"
                                                  : "?";
}

// Whether a form has a square of pairs for each block.
TMAP_FN int tmapi_drmsd_slides_2d(int form) {
    return form == TMAP_DRMSD_SLIDES_TRIANGLE_2D || form == TMAP_DRMSD_SLIDES_CACHED_2D;
}

// Number of blocks of a launch over n atoms, with `block` threads of u atoms each. Any numbers;
// block * u = 0 counts as 1. A launch can have up to 2^31 - 1 blocks. Example: n = 1000, block =
// 64, u = 2: 8, and 36 of the triangle.
TMAP_FN tmap_u64 tmap_drmsd_slides_blocks(int form, tmap_u32 n, tmap_u32 block, tmap_u32 u) {
    const tmap_u32 rows = tmap_triangle_tile_rows(n, block * u);
    return tmapi_drmsd_slides_2d(form) ? tmap_triangle_cells(rows) : rows;
}

// Floats of a slot of the sliding window, which holds u atoms; see there.
TMAP_FN tmap_u32 tmapi_drmsd_slides_pitch(tmap_u32 u) { return 6 * u + (u < 4 ? u : 4); }

// Dynamic shared memory of a block in bytes, for `block` threads of u atoms each. Example: block =
// 128, u = 2: 3072, and 14560 of a sliding window, which is below 48 KiB, as every launch may have,
// up to block * u = 800.
TMAP_FN tmap_u32 tmap_drmsd_slides_bytes(int form, tmap_u32 block, tmap_u32 u) {
    if (form == TMAP_DRMSD_SLIDES_SLIDING_1D)
        return 4 * tmapi_drmsd_slides_pitch(u) * (2 * block + 4);
    return form == TMAP_DRMSD_SLIDES_NAIVE_1D || form == TMAP_DRMSD_SLIDES_CACHED_2D ? 0
                                                                                     : 24 * block;
}

// Bytes that the threads of a launch read from global memory, over n atoms with `block` threads of
// u atoms each: 24 for each atom that a thread loads, from memory or from a cache. Any form, block
// and u as for tmap_drmsd_slides; n: up to 4000000. u = 0 gives 0. Example: n = 1000, block = 64,
// u = 2: 6012000 by naive_1d, 135168 by shared_1d and sliding_1d, 221184 by triangle_2d, 7281696 by
// cached_2d.
TMAP_FN tmap_u64 tmap_drmsd_slides_reads(int form, tmap_u32 n, tmap_u32 block, tmap_u32 u) {
    const tmap_u64 rows = tmap_triangle_tile_rows(n, block * u); // of blocks
    const tmap_u64 tiles = tmap_triangle_tile_rows(n, block);
    const tmap_u64 threads = tmap_triangle_tile_rows(n, u), full = u ? n / u : 0;
    if (n < 2 || u == 0) return 0;
    if (form == TMAP_DRMSD_SLIDES_NAIVE_1D) // u atoms, and all after them
        return 24 * (threads * u + full * n - u * tmap_triangle_cells(full));
    if (form == TMAP_DRMSD_SLIDES_SHARED_1D) // block r has tiles from r u on
        return 24 * block * (rows * u + rows * tiles - u * tmap_triangle_cells_strict(rows));
    if (form == TMAP_DRMSD_SLIDES_TRIANGLE_2D) // u tiles in a square, fewer in the last row
        return 24 * block * rows * (rows * u + tiles - (rows - 1) * u);
    if (form == TMAP_DRMSD_SLIDES_CACHED_2D) {
        // its u atoms; below the diagonal every atom of whole tiles, once for each of its own of
        // the last one; every pair of a square on the diagonal
        const tmap_u64 side = (tmap_u64)block * u, whole = n / block, last = n - (rows - 1) * side;
        const tmap_u64 above = u * tmap_triangle_cells_strict(whole / u) + whole / u * (whole % u);
        return 24 *
               (tmap_triangle_cells(rows) * side + above * block * block +
                (rows - 1) * side * (n % block) + (rows - 1) * tmap_triangle_cells_strict(side) +
                tmap_triangle_cells_strict(last));
    }
    return 24ull * block * u *
           (rows + rows * tmap_triangle_tile_rows((tmap_u32)threads - 1, block) -
            tmap_triangle_cells_strict(rows));
}

#if TMAP_CUDA

// ---- a pair -------------------------------------------------------------------------------------

TMAP_DEVICE float tmapi_drmsd_slides_root(int root, float x) {
#if defined(__CUDA_ARCH__)
    float y;
    if (root == TMAP_DRMSD_SLIDES_APPROX) {
        asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    } else if (root == TMAP_DRMSD_SLIDES_SQRT) {
        y = __fsqrt_rn(x);
    } else {
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
        if (root == TMAP_DRMSD_SLIDES_RSQRT)
            y *= x;
        else
            asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(y));
    }
    return y;
#else
    if (root == TMAP_DRMSD_SLIDES_RSQRT) return x * (1 / sqrtf(x));
    return root == TMAP_DRMSD_SLIDES_RECIPROCAL ? 1 / (1 / sqrtf(x)) : sqrtf(x);
#endif
}

#ifndef TMAPI_DRMSD_SLIDES_LOADED // a test counts the atoms that are loaded
#define TMAPI_DRMSD_SLIDES_LOADED() ((void)0)
#endif

// The coordinates of an atom in the first frame, then in the second one.
typedef struct tmapi_drmsd_slides_atom {
    float c[6];
} tmapi_drmsd_slides_atom;

TMAP_DEVICE tmapi_drmsd_slides_atom tmapi_drmsd_slides_load(const float *a, const float *b,
                                                            tmap_u32 i) {
    tmapi_drmsd_slides_atom atom;
    TMAPI_DRMSD_SLIDES_LOADED();
#pragma unroll
    for (tmap_u32 k = 0; k < 3; ++k) {
        atom.c[k] = a[3ull * i + k];
        atom.c[3 + k] = b[3ull * i + k];
    }
    return atom;
}

// Adds the term of a pair: the 21 operations of the slides, 5 of them fused.
TMAP_DEVICE float tmapi_drmsd_slides_add(int root, tmapi_drmsd_slides_atom u,
                                         tmapi_drmsd_slides_atom v, float sum) {
    float d[6];
#pragma unroll
    for (tmap_u32 k = 0; k < 6; ++k) d[k] = u.c[k] - v.c[k];
    const float p = tmapi_drmsd_slides_root(root, fmaf(d[2], d[2], fmaf(d[1], d[1], d[0] * d[0])));
    const float q = tmapi_drmsd_slides_root(root, fmaf(d[5], d[5], fmaf(d[4], d[4], d[3] * d[3])));
    return fmaf(p - q, p - q, sum);
}

// ---- the outer sum only, from global memory -----------------------------------------------------

// Loads the atoms of a thread from atom `first` on. Returns the terms of the pairs among them.
TMAP_DEVICE float tmapi_drmsd_slides_own(tmap_drmsd_slides_how how, const float *a, const float *b,
                                         tmap_u32 n, tmap_u64 first,
                                         tmapi_drmsd_slides_atom *mine) {
    float part = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < how.u; ++k)
        mine[k] = tmapi_drmsd_slides_load(a, b, first + k < n ? (tmap_u32)first + k : n - 1);
#pragma unroll
    for (tmap_u32 k = 1; k < how.u; ++k)
#pragma unroll
        for (tmap_u32 m = 0; m < k; ++m)
            if (first + k < n) part = tmapi_drmsd_slides_add(how.root, mine[m], mine[k], part);
    return part;
}

// The terms of a thread, summed as floats over 256 atoms j, and in double beyond.
TMAP_DEVICE double tmapi_drmsd_slides_naive(tmap_drmsd_slides_how how, const float *a,
                                            const float *b, tmap_u32 n) {
    const tmap_u32 u = how.u;
    const tmap_u64 first = (blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x) * u;
    tmapi_drmsd_slides_atom mine[TMAP_DRMSD_SLIDES_U_MAX];
    float part;
    double sum;
    if (first >= n) return 0;
    part = tmapi_drmsd_slides_own(how, a, b, n, first, mine);
    sum = (double)part;
    for (tmap_u64 from = first + u; from < n; from += 256) {
        const tmap_u32 end = n - from < 256 ? n : (tmap_u32)from + 256;
        float parts[TMAP_DRMSD_SLIDES_U_MAX];
#pragma unroll
        for (tmap_u32 k = 0; k < u; ++k) parts[k] = 0;
#pragma unroll 4
        for (tmap_u32 j = (tmap_u32)from; j < end; ++j) {
            const tmapi_drmsd_slides_atom other = tmapi_drmsd_slides_load(a, b, j);
#pragma unroll
            for (tmap_u32 k = 0; k < u; ++k)
                parts[k] = tmapi_drmsd_slides_add(how.root, mine[k], other, parts[k]);
        }
#pragma unroll
        for (tmap_u32 k = 0; k < u; ++k) sum += (double)parts[k];
    }
    return sum;
}

// ---- tiles in shared memory ---------------------------------------------------------------------

// One coordinate of four atoms. The six coordinates of four atoms are contiguous.
typedef struct tmapi_drmsd_slides_four {
    alignas(16) float f[4];
} tmapi_drmsd_slides_four;

// Stages atom from + threadIdx.x; after the last atom, that one.
TMAP_DEVICE void tmapi_drmsd_slides_stage(tmapi_drmsd_slides_four *tile, const float *a,
                                          const float *b, tmap_u32 n, tmap_u32 from) {
    const tmap_u32 t = threadIdx.x, j = from + t < n ? from + t : n - 1;
    const tmapi_drmsd_slides_atom atom = tmapi_drmsd_slides_load(a, b, j);
#pragma unroll
    for (tmap_u32 k = 0; k < 6; ++k) tile[t / 4 * 6 + k].f[t % 4] = atom.c[k];
}

// Where the atoms j of a tile are: in shared memory; in global memory; or there, at multiples of 16
// bytes.
enum { TMAPI_DRMSD_SLIDES_STAGED, TMAPI_DRMSD_SLIDES_CACHED, TMAPI_DRMSD_SLIDES_WIDE };
typedef struct tmapi_drmsd_slides_tile {
    const tmapi_drmsd_slides_four *staged;
    const float *a, *b;
} tmapi_drmsd_slides_tile;

// The first four atoms of a tile. where: a constant.
TMAP_DEVICE void tmapi_drmsd_slides_quad(int where, tmapi_drmsd_slides_tile tile,
                                         tmapi_drmsd_slides_atom *other) {
    tmapi_drmsd_slides_four four[6];
#pragma unroll
    for (tmap_u32 k = 0; k < 6; ++k) { // twelve numbers of a frame are contiguous
        const float *from = (k < 3 ? tile.a : tile.b) + k % 3 * 4;
        if (where != TMAPI_DRMSD_SLIDES_CACHED)
            four[k] = where ? *(const tmapi_drmsd_slides_four *)from : tile.staged[k];
        else
#pragma unroll
            for (tmap_u32 m = 0; m < 4; ++m) four[k].f[m] = from[m];
    }
#pragma unroll
    for (tmap_u32 m = 0; m < 4; ++m) {
#pragma unroll
        for (tmap_u32 k = 0; k < 6; ++k) {
            const tmap_u32 at = k % 3 + 3 * m;
            other[m].c[k] = where ? four[k / 3 * 3 + at / 4].f[at % 4] : four[k].f[m];
        }
        if (where) TMAPI_DRMSD_SLIDES_LOADED();
    }
}

// The terms of the thread's atoms with all atoms of a tile after them.
TMAP_DEVICE void tmapi_drmsd_slides_whole(tmap_drmsd_slides_how how, int where,
                                          tmapi_drmsd_slides_tile tile,
                                          const tmapi_drmsd_slides_atom *mine, float *parts) {
    for (tmap_u32 j = 0; j < blockDim.x; j += 4) {
        tmapi_drmsd_slides_atom other[4];
        tmapi_drmsd_slides_quad(where, tile, other);
        tile.staged += 6, tile.a += 12, tile.b += 12;
#pragma unroll
        for (tmap_u32 m = 0; m < 4; ++m)
#pragma unroll
            for (tmap_u32 k = 0; k < how.u; ++k)
                parts[k] = tmapi_drmsd_slides_add(how.root, mine[k], other[m], parts[k]);
    }
}

// The terms of the thread's atoms, i, i + blockDim.x, ..., with the atoms of a tile that exist and
// are after each of them.
TMAP_DEVICE void tmapi_drmsd_slides_ragged(tmap_drmsd_slides_how how, tmapi_drmsd_slides_tile tile,
                                           tmap_u32 n, tmap_u32 i, tmap_u32 from,
                                           const tmapi_drmsd_slides_atom *mine, float *parts) {
    const tmap_u32 end = n - from < blockDim.x ? n - from : blockDim.x;
#pragma unroll
    for (tmap_u32 k = 0; k < how.u; ++k) {
        const tmap_u32 row = i + k * blockDim.x;
#pragma unroll 1
        for (tmap_u32 j = row < from ? 0 : row + 1 - from; j < end; ++j) {
            tmapi_drmsd_slides_atom other;
            if (how.form == TMAP_DRMSD_SLIDES_CACHED_2D)
                other = tmapi_drmsd_slides_load(tile.a, tile.b, j);
            else
#pragma unroll
                for (tmap_u32 m = 0; m < 6; ++m) other.c[m] = tile.staged[j / 4 * 6 + m].f[j % 4];
            parts[k] = tmapi_drmsd_slides_add(how.root, mine[k], other, parts[k]);
        }
    }
}

// The thread's terms of the block's atoms i, from `first` on, with later atoms among `begin` to
// `end` - 1. begin >= first; both are multiples of blockDim.x. Collective for the block.
TMAP_DEVICE double tmapi_drmsd_slides_tiles(tmap_drmsd_slides_how how, const float *a,
                                            const float *b, tmap_u32 n, tmap_u32 first,
                                            tmap_u32 begin, tmap_u32 end) {
    const tmap_u32 u = how.u;
    extern __shared__ tmapi_drmsd_slides_four tmapi_drmsd_slides_shared[];
    const tmap_u32 i = first + threadIdx.x;
    const int wide = (((size_t)a | (size_t)b) & 15) == 0;
    tmapi_drmsd_slides_atom mine[TMAP_DRMSD_SLIDES_U_MAX];
    double sum = 0;
#pragma unroll
    for (tmap_u32 k = 0; k < u; ++k) {
        const tmap_u32 row = i + k * blockDim.x;
        mine[k] = tmapi_drmsd_slides_load(a, b, row < n ? row : n - 1);
    }
    for (tmap_u32 from = begin; from < end; from += blockDim.x) {
        float parts[TMAP_DRMSD_SLIDES_U_MAX], part = 0;
#pragma unroll
        for (tmap_u32 k = 0; k < u; ++k) parts[k] = 0;
        const tmapi_drmsd_slides_tile tile = {tmapi_drmsd_slides_shared, a + 3ull * from,
                                              b + 3ull * from};
        if (how.form != TMAP_DRMSD_SLIDES_CACHED_2D) {
            __syncthreads(); // all threads have used the last tile
            tmapi_drmsd_slides_stage(tmapi_drmsd_slides_shared, a, b, n, from);
            __syncthreads();
        }
        if (from - first >= u * blockDim.x && n - from >= blockDim.x) {
            if (how.form != TMAP_DRMSD_SLIDES_CACHED_2D)
                tmapi_drmsd_slides_whole(how, TMAPI_DRMSD_SLIDES_STAGED, tile, mine, parts);
            else if (wide)
                tmapi_drmsd_slides_whole(how, TMAPI_DRMSD_SLIDES_WIDE, tile, mine, parts);
            else
                tmapi_drmsd_slides_whole(how, TMAPI_DRMSD_SLIDES_CACHED, tile, mine, parts);
        } else {
            tmapi_drmsd_slides_ragged(how, tile, n, i, from, mine, parts);
        }
#pragma unroll
        for (tmap_u32 k = 0; k < u; ++k) part += parts[k];
        sum += (double)part;
    }
    return sum;
}

// ---- a sliding window in shared memory ----------------------------------------------------------
//
// Thread number T of the grid has group T of u neighbouring atoms i, and takes groups T + 1, T + 2,
// ... of atoms j in this order. So at step s the threads of a block, from group G on, are at groups
// G + s + 1 to G + s + blockDim.x. Two tiles of blockDim.x groups each hold the window: while it
// slides over the first one into the second one, no thread waits; then what follows the second one
// overwrites the first one. The tiles are a ring of 2 blockDim.x slots of a group; its first slots
// are there once more behind the last one, so that a trip of up to four steps tests once for the
// end of the ring.
//
// A slot has, for each coordinate, vectors of up to four atoms; and one vector that is not used. So
// a slot is an odd number of vectors, and the lanes of a warp, which read neighbouring slots, read
// from different banks.

// The atoms of a vector.
TMAP_FN tmap_u32 tmapi_drmsd_slides_width(tmap_u32 u) { return u < 4 ? u : 4; }

typedef struct tmapi_drmsd_slides_two {
    alignas(8) float f[2];
} tmapi_drmsd_slides_two;

// Reads a vector of shared memory with one load. width: 1, 2 or 4; a constant.
TMAP_DEVICE tmapi_drmsd_slides_four tmapi_drmsd_slides_vector(const float *at, tmap_u32 width) {
    tmapi_drmsd_slides_four v = {{0, 0, 0, 0}};
    if (width == 4) return *(const tmapi_drmsd_slides_four *)at;
    if (width == 2) {
        const tmapi_drmsd_slides_two two = *(const tmapi_drmsd_slides_two *)at;
        v.f[0] = two.f[0], v.f[1] = two.f[1];
    } else {
        v.f[0] = *at;
    }
    return v;
}

// Stages blockDim.x groups, from number `from` on, in the ring from slot `at` on; after the last
// atom, that one. Neighbouring threads load neighbouring atoms.
TMAP_DEVICE void tmapi_drmsd_slides_refill(tmap_u32 u, const float *a, const float *b, tmap_u32 n,
                                           tmap_u64 from, tmap_u32 at, float *ring) {
    const tmap_u32 width = tmapi_drmsd_slides_width(u), pitch = tmapi_drmsd_slides_pitch(u);
#pragma unroll
    for (tmap_u32 k = 0; k < u; ++k) {
        const tmap_u32 e = k * blockDim.x + threadIdx.x, slot = at + e / u, of = e % u;
        const tmap_u64 j = from * u + e;
        const tmapi_drmsd_slides_atom atom =
            tmapi_drmsd_slides_load(a, b, j < n ? (tmap_u32)j : n - 1);
#pragma unroll
        for (tmap_u32 c = 0; c < 6; ++c) {
            const tmap_u32 at_c = (c * (u / width) + of / width) * width + of % width;
            ring[slot * pitch + at_c] = atom.c[c];
            if (slot < 4) ring[(slot + 2 * blockDim.x) * pitch + at_c] = atom.c[c];
        }
    }
}

// The terms of the thread's atoms with the first `count` atoms of a slot.
TMAP_DEVICE void tmapi_drmsd_slides_slot(tmap_drmsd_slides_how how, const float *slot,
                                         tmap_u32 count, const tmapi_drmsd_slides_atom *mine,
                                         float *parts) {
    const tmap_u32 u = how.u, width = tmapi_drmsd_slides_width(u);
#pragma unroll 1
    for (tmap_u32 h = 0; h < u / width; ++h) {
        tmapi_drmsd_slides_four v[6];
#pragma unroll
        for (tmap_u32 c = 0; c < 6; ++c)
            v[c] = tmapi_drmsd_slides_vector(slot + c * u + h * width, width);
#pragma unroll
        for (tmap_u32 m = 0; m < width; ++m) {
            tmapi_drmsd_slides_atom other;
#pragma unroll
            for (tmap_u32 c = 0; c < 6; ++c) other.c[c] = v[c].f[m];
            if (h * width + m >= count) continue;
#pragma unroll
            for (tmap_u32 k = 0; k < u; ++k)
                parts[k] = tmapi_drmsd_slides_add(how.root, mine[k], other, parts[k]);
        }
    }
}

// The thread's terms. Collective for the block.
TMAP_DEVICE double tmapi_drmsd_slides_sliding(tmap_drmsd_slides_how how, const float *a,
                                              const float *b, tmap_u32 n) {
    const tmap_u32 u = how.u, block = blockDim.x, steps = u < 4 ? 4 / u : 1; // of a trip
    const tmap_u64 base = blockIdx.x * (tmap_u64)block + 1; // the first group of the window
    const tmap_u64 first = (base - 1 + threadIdx.x) * u, groups = (n + (tmap_u64)u - 1) / u;
    extern __shared__ tmapi_drmsd_slides_four tmapi_drmsd_slides_shared[];
    float *const ring = (float *)tmapi_drmsd_slides_shared;
    tmapi_drmsd_slides_atom mine[TMAP_DRMSD_SLIDES_U_MAX];
    const tmap_u32 pitch = tmapi_drmsd_slides_pitch(u);
    const float *slot = ring + threadIdx.x * pitch, *const end = ring + 2 * block * pitch;
    float part;
    double sum;
    part = tmapi_drmsd_slides_own(how, a, b, n, first, mine);
    sum = (double)part;
    if (base < groups) tmapi_drmsd_slides_refill(u, a, b, n, base, 0, ring);
    tmap_u32 half = block; // where the next tile goes
    for (tmap_u64 from = base; from < groups; from += block) {
        float parts[TMAP_DRMSD_SLIDES_U_MAX];
        part = 0;
#pragma unroll
        for (tmap_u32 k = 0; k < u; ++k) parts[k] = 0;
        if (from + block < groups) tmapi_drmsd_slides_refill(u, a, b, n, from + block, half, ring);
        __syncthreads();
        if ((from + 2 * block - 1) * u <= n) {
#pragma unroll 1
            for (tmap_u32 s = 0; s < block; s += steps) {
#pragma unroll
                for (tmap_u32 k = 0; k < steps; ++k)
                    tmapi_drmsd_slides_slot(how, slot + k * pitch, u, mine, parts);
                slot += steps * pitch;
                if (slot >= end) slot -= 2 * block * pitch;
            }
        } else {
#pragma unroll 1
            for (tmap_u32 s = 0; s < block; ++s) {
                const tmap_u64 j = (from + threadIdx.x + s) * u;
                if (j < n)
                    tmapi_drmsd_slides_slot(how, slot, n - j < u ? (tmap_u32)(n - j) : u, mine,
                                            parts);
                slot += pitch;
                if (slot >= end) slot -= 2 * block * pitch;
            }
        }
        __syncthreads(); // all threads have left the first tile
        half = block - half;
#pragma unroll
        for (tmap_u32 k = 0; k < u; ++k) part += parts[k];
        sum += (double)part;
    }
    return sum;
}

// ---- a launch -----------------------------------------------------------------------------------

TMAP_DEVICE void tmapi_drmsd_slides_join(void *, void *sum, const void *other) {
    *(double *)sum += *(const double *)other;
}

// Adds S to *sum, with one atomic a block: a thread sums its terms of a tile as floats, everything
// else in double.
// how: constants. a, b: frames in device memory, of shape (n, 3), in any unit. n: up to 4000000;
// below 2 nothing is added. sum: in device memory. All threads of all blocks call it. Blocks have
// 32 to TMAP_DRMSD_SLIDES_BLOCK_MAX threads, a multiple of 32, and tmap_drmsd_slides_bytes bytes of
// dynamic shared memory; there are tmap_drmsd_slides_blocks of them. Two atoms at one position make
// the sum NaN with TMAP_DRMSD_SLIDES_RSQRT.
// Exactness: off by about 10^-7 of S; the last bits depend on the order in which blocks end.
// Cost on sm_90, by tiles: 16 instructions a pair with TMAP_DRMSD_SLIDES_APPROX, two of them roots,
// 17 with _RSQRT, 18 with _RECIPROCAL, about 34 with _SQRT; and 2.7 / u, by caches 3.3 / u from
// u = 2 on, by a sliding window about 8 / u.
// Example: n = 2, a = (0,0,0)(3,4,0), b = (0,0,0)(1,0,0): (5 - 1)^2 = 16.
TMAP_DEVICE void tmap_drmsd_slides(tmap_drmsd_slides_how how, const float *a, const float *b,
                                   tmap_u32 n, double *sum) {
    __shared__ double scratch[TMAP_DRMSD_SLIDES_BLOCK_MAX / 32];
    double mine;
    if (n < 2) return;
    if (how.form == TMAP_DRMSD_SLIDES_NAIVE_1D) {
        mine = tmapi_drmsd_slides_naive(how, a, b, n);
    } else if (how.form == TMAP_DRMSD_SLIDES_SHARED_1D) {
        const tmap_u32 first = blockIdx.x * blockDim.x * how.u;
        mine = tmapi_drmsd_slides_tiles(how, a, b, n, first, first, n);
    } else if (how.form == TMAP_DRMSD_SLIDES_SLIDING_1D) {
        mine = tmapi_drmsd_slides_sliding(how, a, b, n);
    } else {
        const tmap_u32 side = blockDim.x * how.u;
        const tmap_triangle_tile t = tmap_triangle_tile_map(blockIdx.x, n, side);
        mine = tmapi_drmsd_slides_tiles(how, a, b, n, t.j, t.i, t.i + t.rows);
    }
    const tmap_fold fold = {0, sizeof mine, tmapi_drmsd_slides_join};
    tmap_fold_block(&mine, fold, 0, scratch);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}

#endif // TMAP_CUDA
#endif
