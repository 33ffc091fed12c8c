// SPDX-License-Identifier: MIT
// drmsd_close.h: the dRMSD of each of many frames from one reference frame, where frames may be so
// close to it that the difference of two distances that are floats says little. An instance of
// pairs_frames.h, as drmsd_frames.h is.
//
//     tmap_drmsd_close_plan plan;
//     cudaError_t error = tmap_drmsd_close_plan_make(n, frame_count, 0, &plan);
//     ... cudaMalloc(&workspace, tmap_drmsd_close_bytes(&plan));
//     if (!error) error = tmap_drmsd_close(&plan, reference, frames, workspace, out, stream);
//
// drmsd_atoms.h has the equation. With u_i the way of atom i from the reference A to the frame B,
// r = A_i - A_j and v = u_i - u_j, the distances of the pair are |r| and |r + v|, and their
// difference is
//
//     |r + v| - |r| = v (2 r + v) / (|r + v| + |r|),
//
// in which nothing cancels as long as ways are short. So each frame is first laid on the reference,
// in double precision: turned, moved and, where that comes nearer, mirrored, so that the sum of
// w_i u_i^2 is the least (Kabsch 1976, Acta Crystallographica A 32, 922). dRMSD sees none of that.
#ifndef TMAP_TRIANGLE_DRMSD_CLOSE_H
#define TMAP_TRIANGLE_DRMSD_CLOSE_H

#include "drmsd_frames_terms.h"

#if TMAP_CUDA

// 1 / x, off by a place at most.
TMAP_DEVICE float tmapi_drmsd_close_over(float x) {
#if defined(__CUDA_ARCH__)
    float over;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(over) : "f"(x));
    return over;
#else
    return 1.0f / x;
#endif
}

// What a pair has of its own: r, and its weight.
TMAP_DEVICE void tmapi_drmsd_close_pair(void *job, void *sum, tmap_pair pair, const float *a,
                                        const float *b, float *own) {
    float weighed[2];
    tmapi_drmsd_frames_weigh((const tmapi_drmsd_frames_job *)job, sum, pair,
                             tmapi_drmsd_frames_distance(a, b), weighed);
#pragma unroll
    for (int k = 0; k < 3; ++k) own[k] = a[k] - b[k];
    own[3] = weighed[1];
}

// a, b: the ways of two atoms. The addend, next to the smallest float, leaves 0 where both
// distances are 0.
TMAP_DEVICE void tmapi_drmsd_close_add(void *, void *sum, tmap_pair, const float *a, const float *b,
                                       const float *own, const float *) {
    float before = 2e-38f, after = 0, product = 0, t;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const float v = a[k] - b[k], to = own[k] + v;
        before = fmaf(own[k], own[k], before), after = fmaf(to, to, after);
        product = fmaf(v, to + own[k], product);
    }
    t = product * tmapi_drmsd_close_over(tmapi_drmsd_root(before) + tmapi_drmsd_root(after));
    tmapi_drmsd_frames_add_to(sum, t, own[3] * t);
}

// ---- laying a frame on the reference ------------------------------------------------------------

#define TMAPI_DRMSD_CLOSE_WARPS 8u // of a block, each with a frame

// Sums over the atoms that count, by their weights w; a and b are places in reference and frame,
// from that of the first atom: w b a^T; w a, w b; w; w |a|^2; and w |B - A|^2 of the places as they
// are.
typedef struct tmapi_drmsd_close_sums {
    double h[3][3], a[3], b[3], w, size, apart;
} tmapi_drmsd_close_sums;

// A place in the frame, b, goes to turn b + shift. lies: 1: it is where it should be already. m:
// what that is made from: the columns, of 3 numbers each, of two matrices, m and behind it v.
typedef struct tmapi_drmsd_close_fit {
    double turn[3][3], shift[3], m[18];
    int lies;
} tmapi_drmsd_close_fit;

// Atom k of those that count.
TMAP_DEVICE tmap_u64 tmapi_drmsd_close_atom(const tmapi_drmsd_frames_job *j, tmap_u32 k) {
    return 3ull * (j->which.atoms ? j->which.atoms[k] : k);
}

// Number `lane` of the sums, a double each, in each lane of the warp. Collective for the warp.
TMAP_DEVICE double tmapi_drmsd_close_add_up(const tmapi_drmsd_frames_job *j, const float *frame,
                                            tmap_u32 atoms) {
    const tmap_u64 first = tmapi_drmsd_close_atom(j, 0);
    const tmap_u32 lane = threadIdx.x % 32;
    double sums[32] = {0}; // a tmapi_drmsd_close_sums, and zeros
    TMAPI_NO_UNROLL
    for (tmap_u32 begin = lane; begin < atoms; begin += 64)
#pragma unroll
        for (tmap_u32 k = begin; k <= begin + 32; k += 32) { // two at a time are on their way
            const tmap_u64 at = tmapi_drmsd_close_atom(j, k < atoms ? k : begin);
            double weight = k < atoms, a[3], b[3];
            if (j->which.weights && k < atoms) weight = j->which.weights[k];
            sums[15] += weight;
#pragma unroll
            for (int x = 0; x < 3; ++x) {
                const double here = j->reference[at + x], there = frame[at + x];
                const double way = there - here;
                a[x] = here - (double)j->reference[first + x];
                b[x] = there - (double)frame[first + x];
                sums[16] += weight * a[x] * a[x], sums[17] += weight * way * way;
                a[x] *= weight, sums[9 + x] += a[x], sums[12 + x] += weight * b[x];
            }
#pragma unroll
            for (int x = 0; x < 9; ++x) sums[x] += b[x / 3] * a[x % 3];
        }
        // A half of the lanes takes a half of the sums, and so on.
#pragma unroll
    for (tmap_u32 turn = 0; turn < 5; ++turn) {
        const tmap_u32 half = 16 >> turn, upper = lane & half;
#pragma unroll
        for (tmap_u32 x = 0; x < 16; ++x)
            if (x < half) {
                const double mine = upper ? sums[x + half] : sums[x];
                const double other = upper ? sums[x] : sums[x + half];
                sums[x] = mine + __shfl_xor_sync(0xffffffffu, other, half);
            }
    }
    return sums[0];
}

TMAP_DEVICE double tmapi_drmsd_close_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Turns columns i and j of m, and those of v with them, until they are at right angles (one-sided
// Jacobi). The angle need not be exact, but the columns of v stay at right angles to 2^-52.
TMAP_DEVICE void tmapi_drmsd_close_turn(tmapi_drmsd_close_fit *fit, int i, int j) {
    double *p = fit->m + 3 * i, *q = fit->m + 3 * j;
    const float off = (float)tmapi_drmsd_close_dot(p, q);
    const float by = (float)(tmapi_drmsd_close_dot(q, q) - tmapi_drmsd_close_dot(p, p));
    const float zeta = 0.5f * by * tmapi_drmsd_close_over(off);
    const float angle =
        tmapi_drmsd_close_over(fabsf(zeta) + tmapi_drmsd_root(fmaf(zeta, zeta, 1.0f)));
    double t = zeta < 0 ? -angle : angle, c, s;
    if (!(fabsf(off) > 1e-37f)) t = 0;
    c = rsqrt(1 + t * t), s = t * c;
#pragma unroll
    for (int x = 0; x < 18; x += x % 9 == 2 ? 7 : 1) { // of m, and of v behind it
        const double a = p[x], b = q[x];
        p[x] = c * a - s * b, q[x] = s * a + c * b;
    }
}

// Puts the longer one of columns i and i + 1 of m first, and of v with them.
TMAP_DEVICE void tmapi_drmsd_close_sort(tmapi_drmsd_close_fit *fit, int i) {
    double *p = fit->m + 3 * i, *q = p + 3;
    if (!(tmapi_drmsd_close_dot(p, p) < tmapi_drmsd_close_dot(q, q))) return;
#pragma unroll
    for (int x = 0; x < 18; x += x % 9 == 2 ? 7 : 1) {
        const double a = p[x];
        p[x] = q[x], q[x] = a;
    }
}

// Takes from column m what it has along column n of length 1.
TMAP_DEVICE void tmapi_drmsd_close_part(double *m, const double *n) {
    const double along = tmapi_drmsd_close_dot(m, n);
    for (int x = 0; x < 3; ++x) m[x] -= along * n[x];
}
TMAP_DEVICE void tmapi_drmsd_close_unit(double *m) {
    const double over = rsqrt(tmapi_drmsd_close_dot(m, m));
    for (int x = 0; x < 3; ++x) m[x] *= over;
}

// The turn or mirror image, and the shift, by which a frame comes nearest to the reference: with
// sum w (b - mean b) (a - mean a)^T = U S V^T, turn = V U^T. It keeps distances to 2^-50 of them,
// whether it is the nearest one or not. first_a, first_b: the places of the first atom, in
// reference and frame. Code that runs once waits for its instructions: loops and shared memory are
// quicker here than registers.
TMAP_DEVICE void tmapi_drmsd_close_solve(const tmapi_drmsd_close_sums *sums, const float *first_a,
                                         const float *first_b, tmapi_drmsd_close_fit *fit) {
    double *m = fit->m, *v = m + 9, most = 0, over;
    // Frames nearer than this are not turned by more than floats are rounded.
    fit->lies = !(sums->apart > 1e-12 * sums->size);
    if (fit->lies) return;
    over = 1 / sums->w;
    TMAPI_NO_UNROLL
    for (int k = 0; k < 9; ++k) {
        m[k] = sums->h[k % 3][k / 3] - sums->b[k % 3] * sums->a[k / 3] * over;
        most = fmax(most, fabs(m[k])), v[k] = k % 4 == 0;
    }
    most = most > 0 ? 1 / most : 0;
    TMAPI_NO_UNROLL
    for (int k = 0; k < 9; ++k) m[k] *= most;
    TMAPI_NO_UNROLL
    for (int k = 0; k < 15; ++k) tmapi_drmsd_close_turn(fit, k % 3, (k + 1) % 3);
    TMAPI_NO_UNROLL
    for (int k = 0; k < 3; ++k) tmapi_drmsd_close_sort(fit, k % 2);
    // m becomes U, column by column; atoms in one line or plane leave some of it free.
    most = tmapi_drmsd_close_dot(m, m);
    if (!(most > 0)) m[0] = most = 1;
    tmapi_drmsd_close_unit(m);
    tmapi_drmsd_close_part(m + 3, m);
    if (!(tmapi_drmsd_close_dot(m + 3, m + 3) > 1e-28 * most)) {
        const int axis = fabs(m[0]) < 0.6 ? 0 : fabs(m[1]) < 0.6 ? 1 : 2; // far from column 0
        for (int x = 0; x < 3; ++x) m[3 + x] = x == axis;
        tmapi_drmsd_close_part(m + 3, m);
    }
    tmapi_drmsd_close_unit(m + 3);
    TMAPI_NO_UNROLL
    for (int x = 0; x < 3; ++x) { // the third one is across both, on the side where it was
        const int y = (x + 1) % 3, z = (x + 2) % 3;
        fit->shift[x] = m[y] * m[3 + z] - m[z] * m[3 + y];
    }
    most = tmapi_drmsd_close_dot(fit->shift, m + 6) < 0 ? -1 : 1;
    TMAPI_NO_UNROLL
    for (int x = 0; x < 3; ++x) m[6 + x] = most * fit->shift[x];
    TMAPI_NO_UNROLL
    for (int x = 0; x < 3; ++x) {
        double shift = (double)first_a[x] + sums->a[x] * over;
        TMAPI_NO_UNROLL
        for (int y = 0; y < 3; ++y) {
            const double turn = v[x] * m[y] + v[3 + x] * m[3 + y] + v[6 + x] * m[6 + y];
            fit->turn[x][y] = turn;
            shift -= turn * ((double)first_b[y] + sums->b[y] * over);
        }
        fit->shift[x] = shift;
    }
}

// The way from `here`, a place in the reference, to where the frame's place comes. place: both.
TMAP_DEVICE void tmapi_drmsd_close_lay(const tmapi_drmsd_close_fit *fit, const float *here,
                                       float *place) {
    const double x = place[0], y = place[1], z = place[2];
#pragma unroll
    for (int k = 0; k < 3; ++k)
        place[k] = (float)(fit->turn[k][0] * x + fit->turn[k][1] * y + fit->turn[k][2] * z +
                           (fit->shift[k] - (double)here[k]));
}

// Writes the reference's atoms that count, and behind them the ways to each frame's. sums, fits:
// of the block's warps.
TMAP_DEVICE void tmapi_drmsd_close_ways(const tmapi_drmsd_frames_job *j, tmap_u64 frames,
                                        tmap_u32 atoms, float *ways, tmapi_drmsd_close_sums *sums,
                                        tmapi_drmsd_close_fit *fits) {
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const tmap_u64 f = blockIdx.x * (tmap_u64)TMAPI_DRMSD_CLOSE_WARPS + warp;
    const float *frame = f && f <= frames ? j->frames + (f - 1) * 3 * j->n : j->reference;
    const double mine = tmapi_drmsd_close_add_up(j, frame, atoms);
    const tmapi_drmsd_close_fit *fit;
    float *to = ways + f * 3 * atoms;
    if (lane < sizeof *sums / sizeof(double)) ((double *)(sums + warp))[lane] = mine;
    __syncthreads();
    if (threadIdx.x < TMAPI_DRMSD_CLOSE_WARPS) { // all frames' at a time
        const tmap_u64 first = tmapi_drmsd_close_atom(j, 0), g = f + lane;
        tmapi_drmsd_close_solve(sums + lane, j->reference + first,
                                (g && g <= frames ? j->frames + (g - 1) * 3 * j->n : j->reference) +
                                    first,
                                fits + lane);
    }
    __syncthreads();
    if (f > frames) return;
    fit = fits + warp;
    TMAPI_NO_UNROLL
    for (tmap_u32 begin = lane; begin < atoms; begin += 64)
#pragma unroll
        for (tmap_u32 k = begin; k <= begin + 32; k += 32) {
            const tmap_u64 at = tmapi_drmsd_close_atom(j, k < atoms ? k : begin);
            float here[3], way[3];
#pragma unroll
            for (int x = 0; x < 3; ++x)
                here[x] = j->reference[at + x], way[x] = f ? frame[at + x] : here[x];
            if (!fit->lies)
                tmapi_drmsd_close_lay(fit, here, way);
            else if (f)
                for (int x = 0; x < 3; ++x) way[x] -= here[x];
            for (int x = 0; x < 3 && k < atoms; ++x) to[3ull * k + x] = way[x];
        }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

static __global__ void __launch_bounds__(32 * TMAPI_DRMSD_CLOSE_WARPS)
    tmapi_drmsd_close_ways_kernel(tmapi_drmsd_frames_job j, tmap_u64 frames, tmap_u32 atoms,
                                  float *ways) {
    __shared__ tmapi_drmsd_close_sums sums[TMAPI_DRMSD_CLOSE_WARPS];
    __shared__ tmapi_drmsd_close_fit fits[TMAPI_DRMSD_CLOSE_WARPS];
    tmapi_drmsd_close_ways(&j, frames, atoms, ways, sums, fits);
}
// The job's frames are ways, one behind the other, the first one the reference.
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    tmapi_drmsd_close_kernel(tmap_pairs_frames_plan plan, tmapi_drmsd_frames_job j) {
    const tmap_pairs_frames_points points = {j.frames, j.frames + 3ull * plan.n, plan.n, 0};
    const tmap_pairs_frames_calls calls = {tmapi_drmsd_close_pair,
                                           1,
                                           0,
                                           tmapi_drmsd_close_add,
                                           tmapi_drmsd_frames_join,
                                           tmapi_drmsd_frames_weighted_finish};
    const tmapi_drmsd_frames_sum zero = {0, 0, 0};
    tmap_pairs_frames(&plan, &points, 4, &calls, &zero, sizeof zero, &j, j.parts);
}

// A plan is none of tmap_drmsd_frames, and the other way round.
typedef struct tmap_drmsd_close_plan {
    tmap_drmsd_frames_plan of;
} tmap_drmsd_close_plan;

// As tmap_drmsd_frames_plan_make, for frames without boxes: with boxes cudaErrorInvalidValue.
static inline cudaError_t tmap_drmsd_close_plan_make(tmap_u32 n, tmap_u64 frames,
                                                     const tmap_drmsd_atoms *which,
                                                     tmap_drmsd_close_plan *out) {
    if (!out || (which && which->boxes)) return cudaErrorInvalidValue;
    return tmapi_drmsd_frames_plan_of(n, frames, which, 4, (const void *)tmapi_drmsd_close_kernel,
                                      &out->of);
}

// Bytes in which launches work, before those of the ways.
static inline tmap_u64 tmapi_drmsd_close_before(const tmap_drmsd_close_plan *plan) {
    return (tmap_pairs_frames_bytes(&plan->of.pairs) + 15) / 16 * 16;
}

// Bytes of device memory that a launch works in: 12 for each atom that counts of the frames and the
// reference, and some megabytes where few frames have many atoms.
static inline tmap_u64 tmap_drmsd_close_bytes(const tmap_drmsd_close_plan *plan) {
    return tmapi_drmsd_close_before(plan) + 12 * (plan->of.pairs.frames + 1) * plan->of.pairs.n;
}

// Writes the dRMSD of each frame from the reference to out, an array of as many floats; parameters,
// errors and what it returns are those of tmap_drmsd_frames, with workspace of
// tmap_drmsd_close_bytes bytes. Can be captured.
// Exactness: off by less than one part in 10^6 at any difference, however frames are turned, moved
// or mirrored, where all pairs count. With bounds, or weights that are nearly 0, parts of a
// molecule may move against each other while what counts stays as it is: then a result is also off
// by up to 2^-22 of the longest way that is left when a frame lies on the reference. A frame equal
// to the reference is at exactly 0, its mirror image at less than 2^-48 of the distances. Results
// are the same in every run of a plan.
// Range: distances from 10^-12 to 10^18, and 0; differences of them from 10^-12 to 10^17.
// Cost: for each pair and frame 27 instructions, three of them roots and a reciprocal, where
// tmap_drmsd_frames takes 9.6, and tables four times as large: 2 to 4.5 times the time. Before that
// a launch reads the frames twice and writes them once; it takes some 80 operations in double
// precision for each atom of a frame, and 1000 for the frame.
// Example: 200 atoms of a protein whose frames differ by 0.0001 Angstrom: right to six digits,
// where tmap_drmsd_frames is right to three.
static inline cudaError_t tmap_drmsd_close(const tmap_drmsd_close_plan *plan,
                                           const float *reference, const float *frames,
                                           void *workspace, float *out, cudaStream_t stream) {
    tmapi_drmsd_frames_job j;
    tmap_u64 frame_count;
    tmap_u32 atoms;
    float *ways;
    void *spread[4] = {(void *)&j, (void *)&frame_count, (void *)&atoms, (void *)&ways};
    cudaError_t error = cudaSuccess;
    if (!plan) return cudaErrorInvalidValue;
    frame_count = plan->of.pairs.frames, atoms = plan->of.pairs.n;
    if (!frame_count) return cudaSuccess;
    if (!out || (atoms && (!reference || !frames))) return cudaErrorInvalidValue;
    if ((tmap_drmsd_close_bytes(plan) && !workspace) || (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    memset(&j, 0, sizeof j);
    j.reference = reference, j.frames = frames, j.which = plan->of.which, j.n = plan->of.n;
    j.parts = workspace, j.out = out;
    ways = (float *)((unsigned char *)workspace + tmapi_drmsd_close_before(plan));
    if (atoms)
        error = cudaLaunchKernel((const void *)tmapi_drmsd_close_ways_kernel,
                                 dim3((tmap_u32)(frame_count / TMAPI_DRMSD_CLOSE_WARPS + 1)),
                                 dim3(32 * TMAPI_DRMSD_CLOSE_WARPS), spread, 0, stream);
    if (!error && plan->of.pairs.splits > 1)
        error =
            cudaMemsetAsync(workspace, 0, (size_t)tmap_pairs_frames_clear(&plan->of.pairs), stream);
    if (error) return error;
    j.frames = ways;
    return tmap_pairs_frames_launch(&plan->of.pairs, &j, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
