// SPDX-License-Identifier: MIT
// near.cu: the prepared set of all searches, and lists of near pairs.
#include "near.h"

#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_select.h>
#include <threadmap/triangle/near_sort.h>

// ---- the prepared set ---------------------------------------------------------------------------

int near_begin(const threadmap_near *by, near_work *out) {
    tmap_near_sort_plan sort;
    if (by->d < 2 || by->d > 3 || by->type < THREADMAP_F32 || by->type > THREADMAP_F64 ||
        !(by->radius >= 0))
        return TMAP_EINVAL;
    for (int k = 0; k < by->d; ++k)
        if (!(by->box[k] >= 0 && by->box[k] < 1e30)) return TMAP_EINVAL;
    if (by->n > TMAP_NEAR_SORT_MAX) return TMAP_ERANGE;
    out->shape = {(tmap_u32)by->n, (tmap_u32)by->d, by->type == THREADMAP_F64 ? 8u : 4u};
    const cudaError_t error =
        tmap_near_sort_plan_make(out->shape.n, out->shape.d, out->shape.size, 0, &sort);
    if (!error) out->sorting = sort.workspace;
    return base_error(error);
}

int near_prepare(const threadmap_near *by, const near_work *work, void *workspace, void *stream) {
    tmap_near_sort_plan sort;
    tmap_u32 *order = (tmap_u32 *)((char *)workspace + work->order);
    const tmap_near_shape shape = work->shape;
    if (!shape.n) return TMAP_OK;
    const int wrong = base_wrong({{by->points, shape.size, 1}});
    if (wrong) return wrong;
    cudaError_t error = tmap_near_sort_plan_make(shape.n, shape.d, shape.size, 0, &sort);
    if (!error) error = tmap_near_sort(&sort, by->points, workspace, order, (cudaStream_t)stream);
    if (!error)
        error = tmap_near_prepare(shape, by->points, order, (char *)workspace + work->set,
                                  (cudaStream_t)stream);
    return base_error(error);
}

template <class Real>
static void near_fill(const threadmap_near *by, near_numbers<Real> *to) {
    to->squared = (Real)by->radius * (Real)by->radius;
    for (int k = 0; k < 3; ++k) {
        const double length = k < by->d ? by->box[k] : 0;
        to->box[k] = (Real)length, to->inverse[k] = (Real)(length > 0 ? 1 / length : 0);
    }
}

near_search near_search_of(const threadmap_near *by, const near_work *work, void *workspace) {
    near_search s;
    near_fill(by, &s.f32), near_fill(by, &s.f64);
    s.set = (char *)workspace + work->set, s.radius = (float)by->radius;
    for (int k = 0; k < 3; ++k) s.lengths[k] = s.f32.box[k];
    return s;
}

// ---- lists of pairs -----------------------------------------------------------------------------

struct pairs {
    near_search search;
    tmap_near_list list;
    int wide, both;
};

template <class Real, tmap_u32 Axes, int Boxed>
static __global__ void BLOCK pairs_kernel(tmap_near_plan plan, pairs s) {
    const tmap_near points = {
        {s.search.set, 0, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    const tmap_near_choice choice = {near_chosen<Real, Axes, Boxed>, sizeof(Real), s.wide ? 8u : 4u,
                                     s.both};
    tmap_near_select(&plan, points, choice, &s.list, &s);
}

static const void *const pairs_kernels[8] = NEAR_KERNELS(pairs_kernel);

int threadmap_pairs(const threadmap_pairs_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_near_plan plan;
    near_work work;
    int error = job ? near_begin(&job->near_by, &work) : TMAP_EINVAL;
    if (!error)
        error = base_error(
            tmap_near_plan_make(work.shape, near_kernel(&job->near_by, pairs_kernels), &plan));
    if (error) return error;
    const tmap_u64 own = tmap_near_select_bytes(&plan);
    near_divide(&work, own);
    if (base_ends(workspace, bytes, work.bytes, &error)) return error;
    const tmap_u64 number = job->wide ? 8 : 4;
    const int some = job->capacity != 0;
    error = base_wrong({{job->count, 8, 1},
                        {job->values, work.shape.size, 0},
                        {job->i, number, some},
                        {job->j, number, some}});
    if (!error) error = near_prepare(&job->near_by, &work, workspace, stream);
    if (!error) error = base_error(cudaMemsetAsync(workspace, 0, own, (cudaStream_t)stream));
    if (error) return error;
    pairs s;
    s.search = near_search_of(&job->near_by, &work, workspace);
    s.wide = job->wide != 0, s.both = job->both != 0;
    s.list = {job->i, job->j, job->values, job->capacity, job->count, workspace};
    return base_error(
        tmap_near_select_launch(&plan, &s.list, s.wide ? 8 : 4, &s, (cudaStream_t)stream));
}
