// SPDX-License-Identifier: MIT
// near_groups.cu: groups of linked points: friends of friends, and DBSCAN.
#include "near.h"

#include <threadmap/triangle/near_groups.h>
#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_rows.h>

struct groups {
    near_search search; // of all points
    tmap_near_groups_to to;
    tmap_u32 *rows;         // of DBSCAN: a result of each point
    const tmap_u32 *labels; // of the core points; 0: they are not known yet
};

template <class Real, tmap_u32 Axes, int Boxed>
static __global__ void BLOCK groups_kernel(tmap_near_plan plan, groups s) {
    const tmap_near points = {{s.to.set, 0, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    tmap_near_link(&plan, points, near_linked<Real, Axes, Boxed>, &s.to, &s);
}

// Keeps the core point with the smaller label: that of the group which scikit-learn too gives to a
// point that is near several.
TMAP_DEVICE void groups_better(const tmap_u32 *labels, tmap_u32 *best, tmap_u32 core) {
    if (core != TMAP_NEAR_NO_GROUP && (*best == TMAP_NEAR_NO_GROUP || labels[core] < labels[*best]))
        *best = core;
}
// Counts the near points, or finds the best core point among them.
template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE void groups_give(void *job, tmap_pair pair, const void *a, const void *b, void *to_i,
                             void *) {
    const tmap_u32 *labels = ((const groups *)job)->labels;
    if (!near_linked<Real, Axes, Boxed>(job, pair, a, b)) return;
    if (labels)
        groups_better(labels, (tmap_u32 *)to_i, pair.j);
    else
        ++*(tmap_u32 *)to_i;
}
TMAP_DEVICE void groups_join(void *job, void *sum, const void *other) {
    const tmap_u32 *labels = ((const groups *)job)->labels;
    if (labels)
        groups_better(labels, (tmap_u32 *)sum, *(const tmap_u32 *)other);
    else
        *(tmap_u32 *)sum += *(const tmap_u32 *)other;
}

template <class Real, tmap_u32 Axes, int Boxed>
static __global__ void BLOCK rows_kernel(tmap_near_plan plan, groups s) {
    const tmap_near points = {
        {s.search.set, s.to.set, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    const tmap_u32 none = s.labels ? TMAP_NEAR_NO_GROUP : 0;
    const tmap_fold fold = {&none, 4, groups_join};
    tmap_near_rows(&plan, points, groups_give<Real, Axes, Boxed>, fold, s.rows, &s);
}

static const void *const groups_kernels[] = NEAR_KERNELS(groups_kernel);
static const void *const rows_kernels[] = NEAR_KERNELS(rows_kernel);

// DBSCAN in the steps that near_groups.h names. s.to.set and s.rows: room for the set of the core
// points, and for their order. The numbers of near points are kept where the labels come later.
static cudaError_t groups_dbscan(const threadmap_groups_job *job, const tmap_near_plan *link,
                                 const tmap_u32 *order, groups s, cudaStream_t stream) {
    const tmap_near_shape shape = link->set;
    tmap_u32 *cores = s.rows, *labels = s.to.labels;
    tmap_near_plan rows;
    cudaError_t error =
        tmap_near_rows_plan_make(shape, 4, near_kernel(&job->near_by, rows_kernels), &rows);
    s.rows = labels;
    if (!error) error = tmap_near_launch(&rows, &s, stream);
    if (!error) error = tmap_near_cores(shape.n, order, labels, job->min_points - 1, cores, stream);
    if (!error)
        error = tmap_near_prepare(shape, job->near_by.points, cores, (void *)s.to.set, stream);
    if (!error) error = tmap_near_groups(link, &s, &s.to, stream);
    if (!error) error = tmap_near_plan_others(&rows, shape.n);
    s.rows = cores, s.labels = labels;
    if (!error) error = tmap_near_launch(&rows, &s, stream);
    return error ? error : tmap_near_borders(shape.n, cores, labels, stream);
}

int threadmap_groups(const threadmap_groups_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream) {
    tmap_near_plan plan;
    near_work work;
    int error = job && !job->near_by.m ? near_begin(&job->near_by, &work) : TMAP_EINVAL;
    if (!error)
        error = base_error(tmap_near_groups_plan_make(
            work.shape, near_kernel(&job->near_by, groups_kernels), &plan));
    if (error) return error;
    const int dbscan = job->min_points > 1;
    tmap_u64 own = 0;
    base_part(&own, tmap_near_groups_bytes(&plan));
    const tmap_u64 cores = base_part(&own, dbscan ? work.shape.n * 4ull : 0);
    const tmap_u64 set = base_part(&own, dbscan ? tmap_near_set_bytes(work.shape) : 0);
    near_divide(&work, own);
    if (base_ends(workspace, bytes, work.bytes, &error)) return error;
    error = base_wrong({{job->count, 4, 0}, {job->labels, 4, work.shape.n != 0}});
    if (error) return error;
    if (!work.shape.n) // no label
        return job->count ? (int)cudaMemsetAsync(job->count, 0, 4, (cudaStream_t)stream) : TMAP_OK;
    if ((error = near_prepare(&job->near_by, &work, workspace, stream)) != TMAP_OK) return error;
    groups s;
    s.search = near_search_of(&work, workspace);
    s.to = {s.search.set, workspace, job->labels, job->count, job->dense != 0};
    s.rows = (tmap_u32 *)((char *)workspace + cores), s.labels = 0;
    if (!dbscan) return base_error(tmap_near_groups(&plan, &s, &s.to, (cudaStream_t)stream));
    s.to.set = (char *)workspace + set;
    return base_error(groups_dbscan(job, &plan, (tmap_u32 *)((char *)workspace + work.order), s,
                                    (cudaStream_t)stream));
}
