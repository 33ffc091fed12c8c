// SPDX-License-Identifier: MIT
// molecules.cu: dRMSD and RMSD of frames, and their clusters.
#include "base.h"

#include <threadmap/molecules/drmsd_frames.h>
#include <threadmap/molecules/drmsd_matrix.h>
#include <threadmap/molecules/gromos.h>
#include <threadmap/molecules/linkage.h>
#include <threadmap/molecules/rmsd.h>

// The error of the pointers of frames with results.
static int frames_wrong(const threadmap_frames *of, const float *reference, const float *out) {
    return base_wrong({{of->xyz, 4, of->n != 0},
                       {of->atoms, 4, 0},
                       {of->weights, 4, 0},
                       {reference, 4, 0},
                       {out, 4, 1}});
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

int threadmap_gromos(const threadmap_gromos_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream) {
    tmap_cluster_plan plan;
    int error = job ? base_error(tmap_gromos_plan_make(job->n, &plan)) : TMAP_EINVAL;
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    const int some = job->n != 0;
    error = base_wrong({{job->distances, 4, job->n > 1},
                        {job->labels, 4, some},
                        {job->centres, 4, some},
                        {job->sizes, 4, some},
                        {job->count, 8, 1}});
    if (error) return error;
    const tmap_clusters clusters = {job->labels, job->centres, job->sizes, job->count};
    return base_error(
        tmap_gromos(&plan, job->distances, job->cutoff, workspace, clusters, (cudaStream_t)stream));
}

int threadmap_linkage(const threadmap_linkage_job *job, void *workspace, tmap_u64 *bytes,
                      void *stream) {
    static_assert(sizeof(threadmap_edge) == sizeof(tmap_linkage_edge), "that of linkage.h");
    tmap_cluster_plan plan;
    int error = job ? base_error(tmap_linkage_plan_make(job->n, &plan)) : TMAP_EINVAL;
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    error = base_wrong({{job->distances, 4, job->n > 1},
                        {job->edges, 4, job->n > 1},
                        {job->labels, 4, 0},
                        {job->count, 8, job->labels != 0}});
    if (error) return error;
    tmap_linkage_edge *edges = (tmap_linkage_edge *)job->edges;
    const tmap_clusters clusters = {job->labels, 0, 0, job->count};
    error = base_error(tmap_linkage(&plan, job->distances, workspace, edges, (cudaStream_t)stream));
    if (error || !job->labels) return error;
    return base_error(
        tmap_linkage_labels(&plan, edges, job->cutoff, workspace, clusters, (cudaStream_t)stream));
}

int threadmap_linkage_matrix(const threadmap_edge *edges, tmap_u64 n, tmap_u32 *scratch,
                             double *z) {
    return tmap_linkage_z((const tmap_linkage_edge *)edges, n, scratch, z);
}
