// SPDX-License-Identifier: MIT
// rmsd.h: the RMSD after superposition of all pairs of frames, or of frames from a reference.
//
//     rmsd(A, B)^2 = min over rotations R and shifts t of sum w_i |R A_i + t - B_i|^2 / sum w_i
//
// A rotation is not a reflection: a molecule and its mirror image differ, while their dRMSD
// (drmsd.h) is 0. With both centred, M = sum w_i A_i B_i^T, h = sum w_i (|A_i|^2 + |B_i|^2) / 2,
//
//     rmsd(A, B)^2 = 2 (h - L) / sum w_i,   L the largest root of (x^2 - a)^2 - 8 d x - 4 b,
//
// the characteristic polynomial of the key matrix of M. a, b: sums of the squares of M's elements
// and cofactors; d: its determinant. Sources: Horn 1987, J. Opt. Soc. Am. A 4, 629; Theobald 2005,
// Acta Cryst. A 61, 478 (Newton's steps); Liu et al. 2010, J. Comput. Chem. 31, 1561.
//
//     const tmap_rmsd_shape shape = {n, frames, 0, 0, 0};
//     ... cudaMalloc(&workspace, tmap_rmsd_matrix_bytes(&shape));
//     cudaError_t error = tmap_rmsd_matrix(shape, xyz, workspace, out, stream);
//
// The engine of pairs sums M as floats. Where h - L cancels, for frames closer than 1/32 of their
// size, all is computed again in double precision.
#ifndef TMAP_MOLECULES_RMSD_H
#define TMAP_MOLECULES_RMSD_H

#include "../triangle/pairs_store.h"

// What is compared. Pointers are device memory.
typedef struct tmap_rmsd_shape {
    tmap_u32 n;            // atoms of a frame
    tmap_u64 frames;       // without the reference
    const tmap_u32 *atoms; // numbers of the atoms that count, each below n, in any order; 0: all
    const float *weights;  // of each atom that counts, not negative, as masses; 0: all 1
    tmap_u32 atom_count;   // with `atoms`: how many
} tmap_rmsd_shape;

#define TMAP_RMSD_ATOMS_MAX (TMAP_PAIRS_SUMS_D_MAX / 4) // the most that may count
// The number of atoms that count, or TMAP_RMSD_ATOMS_MAX + 1 if it is outside its range.
TMAP_FN tmap_u32 tmapi_rmsd_atoms(const tmap_rmsd_shape *s) {
    const tmap_u32 atoms = s->atoms ? s->atom_count : s->n;
    return atoms > s->n || atoms > TMAP_RMSD_ATOMS_MAX ? TMAP_RMSD_ATOMS_MAX + 1 : atoms;
}

// Bytes of the workspace of tmap_rmsd_matrix: for the frames and one more, 16 an atom that counts
// and 8; saturates. Example: 4096 frames of 200 atoms: 13143176.
TMAP_FN tmap_u64 tmap_rmsd_matrix_bytes(const tmap_rmsd_shape *shape) {
    return tmap_mul_saturate(shape->frames + 1, 16ull * tmapi_rmsd_atoms(shape) + 8);
}

#if TMAP_CUDA && !TMAP_NVRTC

// Frames in device memory, and what the kernels make of them.
typedef struct tmapi_rmsd {
    tmap_rmsd_shape shape;
    tmap_u32 atoms; // that count
    const float *frames, *reference;
    float4 *centred; // (frames, atoms): relative to the frame's centre, times sqrt(w)
    double *norms;   // sums of their squares; then the sum of weights
    float *out;
} tmapi_rmsd;

// Coordinate c of atom k of a frame, relative to the first atom: exact, wherever the frame is.
TMAP_DEVICE double tmapi_rmsd_at(const tmapi_rmsd *j, const float *frame, tmap_u32 k, tmap_u32 c) {
    const tmap_u32 *atoms = j->shape.atoms, i = atoms ? atoms[k] : k, origin = atoms ? atoms[0] : 0;
    return (double)frame[3ull * i + c] - (double)frame[3ull * origin + c];
}

// Adds atoms first, first + step, .. to 17 sums: s[4 r + c] of w u_r v_c, with u = (1, x, y, z) in
// frame a and v in frame b; s[16] of the squares of both.
TMAP_DEVICE void tmapi_rmsd_add(const tmapi_rmsd *j, const float *a, const float *b, tmap_u32 first,
                                tmap_u32 step, double *s) {
#pragma unroll 1
    for (tmap_u32 k = first; k < j->atoms; k += step) {
        const double w = j->shape.weights ? (double)j->shape.weights[k] : 1;
        double u[4] = {1}, v[4] = {1};
#pragma unroll
        for (tmap_u32 c = 1; c < 4; ++c) {
            u[c] = tmapi_rmsd_at(j, a, k, c - 1), v[c] = tmapi_rmsd_at(j, b, k, c - 1);
            s[16] += w * (u[c] * u[c] + v[c] * v[c]);
        }
#pragma unroll
        for (int c = 0; c < 16; ++c) s[c] += w * u[c / 4] * v[c % 4];
    }
}

// Cofactor k of a 3 x 3 matrix.
TMAP_DEVICE double tmapi_rmsd_cofactor(const double *m, int k) {
    const int r = (k / 3 + 1) % 3 * 3, s = (k / 3 + 2) % 3 * 3, u = (k + 1) % 3, v = (k + 2) % 3;
    return m[r + u] * m[s + v] - m[r + v] * m[s + u];
}

// The RMSD from all sums; 0 if no atom counts. *close: 1 if h - L has cancelled.
// The cofactors of the cofactors are d M: so d is exact enough for atoms next to a line, too.
// L^2 - a is twice a sum of three numbers whose squares sum to b: at most 2 sqrt(3 b); and L <= h.
// From above the largest root Newton's steps shrink; a longer one is rounding.
TMAP_DEVICE float tmapi_rmsd_of(const double *s, int *close) {
    const double over = s[0] != 0 ? 1 / s[0] : 0;
    double a = 0, b = 0, d = 0, half = s[16] / 2, m[9], minor[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const int r = k / 3 * 4 + 4, c = k % 3 + 1;
        if (k % 4 == 0) half -= over * (s[r] * s[r] + s[c] * s[c]) / 2;
        m[k] = s[r + c] - over * s[r] * s[c], a += m[k] * m[k];
    }
#pragma unroll
    for (int k = 0; k < 9; ++k) minor[k] = tmapi_rmsd_cofactor(m, k), b += minor[k] * minor[k];
#pragma unroll
    for (int k = 0; k < 9; ++k) d += m[k] * tmapi_rmsd_cofactor(minor, k);
    d = a > 0 ? d / a : 0;
    const double wide = 2 * sqrt(3 * b);
    double x = sqrt(a + wide), last;
    if (!(half >= x)) x = half; // also NaN
    last = x - (a > wide ? sqrt(a - wide) : 0);
#pragma unroll 1
    for (int k = 0; k < 64; ++k) { // a double root takes 50
        const double t = x * x - a, step = (t * t - 8 * d * x - 4 * b) / (4 * x * t - 8 * d);
        if (!(step > 1e-15 * x && step <= last)) break; // also 0 / 0
        x -= step, last = step;
    }
    *close = half - x < half / 2048; // the square of 1/32, halved
    return s[0] != 0 && !(half <= x) ? (float)sqrt(2 * (half - x) * over) : 0;
}

// Sums of a pair: the products of up to 32 atoms, and those of the atoms before.
#define TMAPI_RMSD_SUMS 18
TMAP_DEVICE void tmapi_rmsd_start(void *, void *sum) {
#pragma unroll
    for (int k = 0; k < TMAPI_RMSD_SUMS; ++k) ((float *)sum)[k] = 0;
}
TMAP_DEVICE void tmapi_rmsd_product(void *, void *sum, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    float *m = (float *)sum;
#pragma unroll
    for (int k = 0; k < 9; ++k) m[k] = fmaf(u[k / 3], v[k % 3], m[k]);
}
// The next part begins with the rounding error of the sum.
TMAP_DEVICE void tmapi_rmsd_carry(void *, void *sum) {
    float *m = (float *)sum;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const float before = m[9 + k];
        m[9 + k] += m[k], m[k] -= m[9 + k] - before;
    }
}
TMAP_DEVICE void tmapi_rmsd_finish(void *job, tmap_pair pair, const void *sum, void *value) {
    const tmapi_rmsd *j = (const tmapi_rmsd *)job;
    const float *m = (const float *)sum;
    const tmap_u64 frames = j->shape.frames, size = 3ull * j->shape.n;
    double s[17] = {0}, again[17] = {0};
    int close;
    if (pair.i >= pair.j || pair.j >= frames) return; // not of the matrix
#pragma unroll
    for (int k = 0; k < 9; ++k) s[k / 3 * 4 + k % 3 + 5] = (double)m[k] + (double)m[9 + k];
    s[0] = j->norms[frames], s[16] = j->norms[pair.i] + j->norms[pair.j];
    *(float *)value = tmapi_rmsd_of(s, &close);
    if (!close) return;
    tmapi_rmsd_add(j, j->frames + pair.i * size, j->frames + pair.j * size, 0, 1, again);
    *(float *)value = tmapi_rmsd_of(again, &close);
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS, 1)
    tmapi_rmsd_pairs(tmap_pairs_plan plan, tmapi_rmsd j) {
    const tmap_points points = {j.centred, 0, 4, plan.d};
    const tmap_pairs_sum sum = {tmapi_rmsd_start,  tmapi_rmsd_product,  tmapi_rmsd_carry,
                                tmapi_rmsd_finish, 4 * TMAPI_RMSD_SUMS, 4 * 32};
    tmap_pairs_store_sums(&plan, points, sum, sizeof(float), j.out, &j);
}

// Centres a frame a warp, or writes the RMSD of a frame from the reference, if there is one.
static __global__ void __launch_bounds__(256) tmapi_rmsd_frame(tmapi_rmsd j) {
    const tmap_u64 frame = blockIdx.x * 8ull + threadIdx.x / 32;
    const tmap_u32 lane = threadIdx.x % 32;
    const float *from = j.frames + frame * 3 * j.shape.n;
    double s[17] = {0}, norm = 0;
    int close;
    if (frame >= j.shape.frames) return;
    tmapi_rmsd_add(&j, from, j.reference ? j.reference : from, lane, 32, s);
#pragma unroll
    for (int k = 0; k < 17; ++k) s[k] = tmap_warp_sum_f64_shuffle(tmap_warp_full(), s[k]);
    if (j.reference && lane == 0) j.out[frame] = tmapi_rmsd_of(s, &close);
    if (j.reference) return;
    for (tmap_u32 k = lane; k < j.atoms; k += 32) {
        const double root = j.shape.weights ? sqrt((double)j.shape.weights[k]) : 1;
        float at[3];
#pragma unroll
        for (tmap_u32 c = 0; c < 3; ++c) {
            at[c] = (float)(root * (tmapi_rmsd_at(&j, from, k, c) -
                                    (s[0] != 0 ? s[4 * c + 4] / s[0] : 0)));
            norm += (double)at[c] * (double)at[c];
        }
        j.centred[frame * j.atoms + k] = make_float4(at[0], at[1], at[2], 0);
    }
    norm = tmap_warp_sum_f64_shuffle(tmap_warp_full(), norm);
    if (lane == 0) j.norms[frame] = norm;
    if (lane == 0 && frame == 0) j.norms[j.shape.frames] = s[0];
}

// Launches tmapi_rmsd_frame. Without an atom that counts it sets `count` results to 0.
static inline cudaError_t tmapi_rmsd_launch(tmapi_rmsd *j, const void *other, tmap_u64 count,
                                            cudaStream_t stream) {
    const tmap_rmsd_shape *s = &j->shape;
    const tmap_u64 all = (tmap_u64)s->atoms | (tmap_u64)s->weights | (tmap_u64)other |
                         (tmap_u64)j->frames | (tmap_u64)j->out;
    const tmapi_launch_shape shape = {(s->frames + 7) / 8, 256, 0};
    void *arguments[1] = {j};
    j->atoms = tmapi_rmsd_atoms(s);
    if (all % 4 || j->atoms > TMAP_RMSD_ATOMS_MAX || !j->out ||
        (j->atoms && (!j->frames || !other)))
        return cudaErrorInvalidValue;
    if (!j->atoms) return cudaMemsetAsync(j->out, 0, 4 * count, stream);
    return tmapi_launch((const void *)tmapi_rmsd_frame, shape, arguments, stream);
}

// Writes the RMSD of all pairs of frames. Range: up to TMAP_PAIRS_STORE_MAX frames; up to
// TMAP_RMSD_ATOMS_MAX atoms count. frames: device memory of shape (frames, n, 3), centred or not.
// workspace: tmap_rmsd_matrix_bytes(&shape) bytes at a multiple of 16. out: floats in scipy's
// condensed order: frames a < b at tmap_condensed_index(a, b, frames), as tmap_gromos takes them.
// Results are 0 if no atom counts or all weights are 0. Returns cudaErrorInvalidValue for numbers
// outside their ranges and addresses that are null or misaligned, else the launches' errors.
// Exactness: within 1e-5, relative to the radius of gyration; for equal frames within 1e-6. Frames
// with a coordinate that is NaN or infinite have results of NaN. Range: radii from 1e-15 to 1e15.
// Cost: for each atom of a pair of frames nine multiplications, 0.75 loads of 16 bytes from shared
// memory and two other instructions; for each pair some 300 operations in double precision, and 35
// more for each atom of frames closer than 1/32 of their radius.
// Example: two atoms, 2 apart in one frame and 3 in the other: 0.5.
static inline cudaError_t tmap_rmsd_matrix(tmap_rmsd_shape shape, const float *frames,
                                           void *workspace, float *out, cudaStream_t stream) {
    const tmap_u32 atoms = tmapi_rmsd_atoms(&shape), d = 4 * (atoms ? atoms : 1);
    const tmap_pairs_store_shape store = {(tmap_u32)shape.frames, d, 4, TMAP_PAIRS_CONDENSED, 4};
    float4 *centred = (float4 *)workspace;
    tmapi_rmsd j = {shape, 0, frames, 0, centred, (double *)(centred + shape.frames * atoms), out};
    tmap_pairs_plan plan;
    cudaError_t error =
        tmap_pairs_store_sums_plan_make(store, (const void *)tmapi_rmsd_pairs, &plan);
    if (!error) error = tmap_pairs_store_plan_sum(&plan, 4 * TMAPI_RMSD_SUMS);
    if (shape.frames > TMAP_PAIRS_STORE_MAX || (tmap_u64)workspace % 16)
        error = cudaErrorInvalidValue;
    if (!error && shape.frames > 1) error = tmapi_rmsd_launch(&j, workspace, plan.values, stream);
    return error || !plan.values || !atoms ? error : tmap_pairs_store_launch(&plan, &j, stream);
}

// Writes the RMSD of each frame from a reference of shape (n, 3) to out, a float a frame, all in
// double precision, within 1e-6 of the radius of gyration; else all as tmap_rmsd_matrix. Cost: the
// frames are read once; 35 operations an atom. A warp takes a frame: thousands of them fill a GPU.
// Example: a reference of two atoms that are 2 apart, frames of 3 and 2: 0.5, 0.
static inline cudaError_t tmap_rmsd_frames(tmap_rmsd_shape shape, const float *reference,
                                           const float *frames, float *out, cudaStream_t stream) {
    tmapi_rmsd j = {shape, 0, frames, reference, 0, 0, out};
    return shape.frames ? tmapi_rmsd_launch(&j, reference, shape.frames, stream) : cudaSuccess;
}

#endif
#endif
