// SPDX-License-Identifier: MIT
// drmsd_matrix.h: the dRMSD of all frames of a trajectory against all.
//
// dRMSD(A, B) = sqrt(sum_{i<j} w_ij (d_ij^A - d_ij^B)^2 / sum_{i<j} w_ij) needs no superposition of
// the frames, and is the distance of their vectors of distances. These vectors are written once;
// then tiles of 128 x 128 pairs of frames, a triangle of them, take differences and squares as a
// product of matrices takes products, in single precision and without any cancellation. For the
// same on tensor cores, quicker and less exact, see drmsd_mma.h.
// Source: as for drmsd_atoms.h.
#ifndef TMAP_TRIANGLE_DRMSD_MATRIX_H
#define TMAP_TRIANGLE_DRMSD_MATRIX_H

#include "drmsd_matrix_plan.h"
#include "drmsd_matrix_columns.h"
#include "drmsd_matrix_tile.h"
#include "drmsd_matrix_values.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// ---- kernels ------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(32 * TMAPI_MATRIX_SPREAD_WARPS)
    tmapi_matrix_spread_kernel(tmapi_matrix m) {
    tmapi_matrix_spread(&m);
}
static __global__ void __launch_bounds__(32 * TMAPI_MATRIX_WARPS)
    tmapi_matrix_columns_kernel(tmapi_matrix m) {
    tmapi_matrix_make_columns(&m);
}
static __global__ void __launch_bounds__(TMAPI_MATRIX_SIDE)
    tmapi_matrix_write_kernel(tmapi_matrix m) {
    tmapi_matrix_write(&m);
}
static __global__ void __launch_bounds__(TMAPI_MATRIX_THREADS)
    tmapi_matrix_sums_kernel(tmapi_matrix m) {
    extern __shared__ uint4 tmapi_pairs_shared[];
    tmapi_matrix_sums(&m, (float4 *)tmapi_pairs_shared);
}
static __global__ void tmapi_matrix_gather_kernel(tmapi_matrix m) { tmapi_matrix_gather(&m); }

// ---- launches -----------------------------------------------------------------------------------

static inline cudaError_t tmapi_matrix_launch(const void *kernel, dim3 grid, tmap_u32 block,
                                              size_t shared, const tmapi_matrix *m,
                                              cudaStream_t stream) {
    void *arguments[1] = {(void *)m};
    return cudaLaunchKernel(kernel, grid, dim3(block), arguments, shared, stream);
}

// Bytes that the exact form stages: 48 KB, which a launch has without asking.
#define TMAPI_MATRIX_STAGED \
    (2 * TMAPI_MATRIX_STAGES * TMAPI_MATRIX_STEP * (TMAPI_MATRIX_SIDE / 4) * sizeof(float4))

// The kernels in which the forms differ. run: columns of a block that writes.
typedef struct tmapi_matrix_form {
    const void *write, *sums;
    tmap_u32 run;
    size_t shared; // of sums, in bytes
} tmapi_matrix_form;

// The launches of a round.
static inline cudaError_t tmapi_matrix_round(const tmapi_matrix *m, const tmapi_matrix_form *form,
                                             cudaStream_t stream) {
    const tmap_u64 columns = (tmap_u64)m->slices * m->plan.slice * TMAPI_MATRIX_UNIT;
    const tmap_u64 cells = tmap_condensed_cells(m->plan.frames);
    const tmap_u64 gather = (cells + 255) / 256;
    cudaError_t error =
        tmapi_matrix_launch((const void *)tmapi_matrix_columns_kernel, dim3(TMAPI_MATRIX_PARTS),
                            32 * TMAPI_MATRIX_WARPS, 0, m, stream);
    if (error) return error;
    error = tmapi_matrix_launch(form->write, dim3((unsigned)(columns / form->run), m->plan.tiles),
                                TMAPI_MATRIX_SIDE, 0, m, stream);
    if (error) return error;
    error = tmapi_matrix_launch(form->sums,
                                dim3((unsigned)tmapi_matrix_blocks(m->plan.tiles), m->slices),
                                TMAPI_MATRIX_THREADS, form->shared, m, stream);
    if (error || m->plan.slices == 1) return error;
    return tmapi_matrix_launch((const void *)tmapi_matrix_gather_kernel,
                               dim3((unsigned)(gather < 65536 ? gather : 65536)), 256, 0, m,
                               stream);
}

// All launches of either form.
static inline cudaError_t tmapi_matrix_run(const tmap_drmsd_matrix_plan *plan,
                                           const tmapi_matrix_form *form, const float *frames,
                                           const tmap_drmsd_atoms *which, tmap_u64 reference,
                                           void *workspace, float *out, cudaStream_t stream) {
    const tmap_drmsd_atoms all = {0, 0, 0, 0, 0, 0};
    const tmap_u64 cells = plan ? tmap_condensed_cells(plan->frames) : 0;
    unsigned char *at = (unsigned char *)workspace;
    cudaError_t error;
    tmapi_matrix m;
    if (!plan || tmap_drmsd_atoms_count(which, plan->n) != plan->atoms)
        return cudaErrorInvalidValue;
    if (!cells) return cudaSuccess;
    if (!out || (tmap_u64)out % 4 || reference >= plan->frames) return cudaErrorInvalidValue;
    if (!plan->slices) return cudaMemsetAsync(out, 0, 4 * cells, stream); // no pair of atoms
    if (!frames || (tmap_u64)frames % 4 || !workspace || (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    m.plan = *plan, m.which = which ? *which : all, m.frames = frames, m.reference = reference;
    m.bounds = (tmap_u32 *)at, m.weights = (double *)(at + 256), m.out = out;
    m.columns = (tmapi_matrix_column *)(at + plan->at_columns);
    m.coordinates = (float *)(at + plan->at_coordinates);
    m.distances = at + plan->at_distances, m.norms = (float *)(at + plan->at_norms);
    m.partial = (float *)(at + plan->at_partial), m.rest = (float *)(at + plan->at_rest);
    m.first = 0, m.slices = plan->round;
    error = cudaMemsetAsync(m.bounds, 0, 2 * sizeof *m.bounds, stream);
    if (error) return error;
    error = tmapi_matrix_launch(
        (const void *)tmapi_matrix_spread_kernel,
        dim3((plan->atoms + TMAPI_MATRIX_SPREAD_ATOMS - 1) / TMAPI_MATRIX_SPREAD_ATOMS,
             plan->tiles * (TMAPI_MATRIX_SIDE / 32)),
        32 * TMAPI_MATRIX_SPREAD_WARPS, 0, &m, stream);
    for (; !error && m.first < plan->slices; m.first += m.slices) {
        if (m.slices > plan->slices - m.first) m.slices = (tmap_u32)(plan->slices - m.first);
        error = tmapi_matrix_round(&m, form, stream);
    }
    return error;
}

// Makes a plan of the dRMSD of all frames.
// frames: up to 2097024. n: atoms of a frame. which: as it will be launched with, or null: all
// atoms and pairs; of it only the number of atoms that count is looked at, which is up to 92681.
// most: bytes that the workspace may have, or 0: as many as are of use, about 2 n (n + 5) a frame,
// but no more than 2^18 and 12 n, or a gigabyte for few frames, and what sums take.
// Where not all distances fit at a time, they are computed in rounds of some pairs of atoms, and
// sums of these take 4 or 8 bytes for each pair of frames.
// *plan: written on success; plan->workspace: the bytes that the launch needs.
// Returns cudaErrorInvalidValue without a plan to write; cudaErrorInvalidConfiguration beyond the
// ranges; cudaErrorMemoryAllocation if the smallest round does not fit.
// Example: 4096 frames of 200 atoms: 346 MB and one round; of at most 100 MB: 94 MB, 20 rounds.
static inline cudaError_t tmap_drmsd_matrix_plan_make(tmap_u64 frames, tmap_u32 n,
                                                      const tmap_drmsd_atoms *which, tmap_u64 most,
                                                      tmap_drmsd_matrix_plan *plan) {
    return tmapi_matrix_plan_make(frames, n, which, 0, most, plan);
}

// Writes the dRMSD of all pairs of frames.
// frames: floats of shape (plan->frames, n, 3). which: which atoms and pairs count and for how
// much, or null: all, equally. Bounds are for distances in frame `reference`, below plan->frames.
// out: frames (frames - 1) / 2 floats in scipy's condensed order: that of frames a < b is at
// tmap_condensed_index(a, b, frames). workspace: plan->workspace bytes at a multiple of 16, which
// need not be set to anything and are free again after the launch. All are in device memory and do
// not overlap. Calls that run at the same time need workspaces of their own.
// With fewer than two frames nothing is written; with fewer than two atoms, or where no pair of
// atoms counts, all results are 0.
// Returns cudaErrorInvalidValue for a null or misaligned pointer that is needed, a reference that
// is no frame, or another number of atoms than that of the plan; else the launches' own error.
// Exactness: a relative error below 1e-6 for frames that differ by a hundredth of an Angstrom or
// more; 0 for frames that are equal in every bit. The order of sums depends on the plan alone:
// results are the same in every run and whatever the GPU's number of multiprocessors.
// Range: distances from 1e-18 to 1e18, shorter ones being some number below 1e-18, if the squares
// of all differences of two frames add up to less than 1e38. A coordinate that is not a number or
// infinite makes all results of its frame NaN, if a pair of its atom counts.
// Cost: 2.1 instructions for each pair of atoms and pair of frames, 70 for each distance; frames
// are taken by 128. The call allocates nothing, does not wait, and can be captured.
// Example: frames of two atoms at distances 1, 3, 6 -> 2, 5, 3.
static inline cudaError_t tmap_drmsd_matrix(const tmap_drmsd_matrix_plan *plan, const float *frames,
                                            const tmap_drmsd_atoms *which, tmap_u64 reference,
                                            void *workspace, float *out, cudaStream_t stream) {
    const tmapi_matrix_form form = {(const void *)tmapi_matrix_write_kernel,
                                    (const void *)tmapi_matrix_sums_kernel, TMAPI_MATRIX_RUN,
                                    TMAPI_MATRIX_STAGED};
    if (plan && plan->planes) return cudaErrorInvalidValue;
    return tmapi_matrix_run(plan, &form, frames, which, reference, workspace, out, stream);
}

#endif
#endif
