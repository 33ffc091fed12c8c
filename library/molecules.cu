// SPDX-License-Identifier: MIT
// molecules.cu: dRMSD and RMSD of frames.
#include "base.h"

#include <threadmap/molecules/drmsd_frames.h>
#include <threadmap/molecules/drmsd_matrix.h>
#include <threadmap/molecules/rmsd.h>

// The error of frames' pointers. out: of the results, of which there are some.
static int frames_wrong(const threadmap_frames *of, const float *reference, const float *out) {
    int error = of->n ? base_pointer(of->xyz, 4) : TMAP_OK;
    if (!error) error = base_optional(of->atoms, 4);
    if (!error) error = base_optional(of->weights, 4);
    if (!error) error = base_optional(reference, 4);
    return error ? error : base_pointer(out, 4);
}

int threadmap_drmsd(const threadmap_drmsd_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_drmsd_plan plan;
    if (!job) return TMAP_EINVAL;
    const threadmap_frames *of = &job->of;
    const tmap_drmsd_atoms which = {of->atoms,      of->weights, job->boxes,
                                    of->atom_count, job->lower,  job->upper};
    const int all = !job->reference;
    const tmap_drmsd_shape shape = {of->n, of->frames, all ? TMAP_DRMSD_EXACT : TMAP_DRMSD_FRAMES,
                                    &which, job->most};
    int error = base_error(all ? tmap_drmsd_matrix_plan_make(shape, &plan)
                               : tmap_drmsd_frames_plan_make(shape, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    if (of->frames <= (tmap_u64)all) return TMAP_OK; // no result
    if ((error = frames_wrong(of, job->reference, job->out)) != TMAP_OK) return error;
    const tmap_drmsd_in in = {of->xyz, job->reference, all ? 0 : job->reference_box};
    return base_error(
        all ? tmap_drmsd_matrix(&plan, in, workspace, job->out, (cudaStream_t)stream)
            : tmap_drmsd_frames(&plan, in, workspace, job->out, (cudaStream_t)stream));
}

int threadmap_rmsd(const threadmap_rmsd_job *job, void *workspace, tmap_u64 *bytes, void *stream) {
    int error;
    if (!job) return TMAP_EINVAL;
    const threadmap_frames *of = &job->of;
    const int all = !job->reference;
    const tmap_rmsd_shape shape = {of->n, of->frames, of->atoms, of->weights, of->atom_count};
    if (tmapi_rmsd_atoms(&shape) > TMAP_RMSD_ATOMS_MAX) return TMAP_EINVAL;
    if (all && of->frames > TMAP_PAIRS_STORE_MAX) return TMAP_ERANGE;
    if (base_ends(workspace, bytes, all ? tmap_rmsd_matrix_bytes(&shape) : 0, &error)) return error;
    if (of->frames <= (tmap_u64)all) return TMAP_OK; // no result
    if ((error = frames_wrong(of, job->reference, job->out)) != TMAP_OK) return error;
    return base_error(
        all ? tmap_rmsd_matrix(shape, of->xyz, workspace, job->out, (cudaStream_t)stream)
            : tmap_rmsd_frames(shape, job->reference, of->xyz, job->out, (cudaStream_t)stream));
}
