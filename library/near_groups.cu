// SPDX-License-Identifier: MIT
// near_groups.cu: groups of linked points.
#include "near.h"

#include <threadmap/triangle/near_groups.h>

struct groups {
    near_search search;
    tmap_near_groups_to to;
};

template <class Real, tmap_u32 Axes, int Boxed>
static __global__ void BLOCK groups_kernel(tmap_near_plan plan, groups s) {
    const tmap_near points = {
        {s.search.set, 0, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    tmap_near_link(&plan, points, near_linked<Real, Axes, Boxed>, &s.to, &s);
}

static const void *const groups_kernels[8] = NEAR_KERNELS(groups_kernel);

int threadmap_groups(const threadmap_groups_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream) {
    tmap_near_plan plan;
    near_work work;
    int error = job ? near_begin(&job->near_by, &work) : TMAP_EINVAL;
    if (!error)
        error = base_error(tmap_near_groups_plan_make(
            work.shape, near_kernel(&job->near_by, groups_kernels), &plan));
    if (error) return error;
    near_divide(&work, tmap_near_groups_bytes(&plan));
    if (base_ends(workspace, bytes, work.bytes, &error)) return error;
    error = base_wrong({{job->count, 4, 0}, {job->labels, 4, work.shape.n != 0}});
    if (error) return error;
    if (!work.shape.n) // no label
        return job->count ? (int)cudaMemsetAsync(job->count, 0, 4, (cudaStream_t)stream) : TMAP_OK;
    if ((error = near_prepare(&job->near_by, &work, workspace, stream)) != TMAP_OK) return error;
    groups s;
    s.search = near_search_of(&job->near_by, &work, workspace);
    s.to = {s.search.set, workspace, job->labels, job->count, job->dense != 0};
    return base_error(tmap_near_groups(&plan, &s, &s.to, (cudaStream_t)stream));
}
