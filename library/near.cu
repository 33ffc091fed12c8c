// SPDX-License-Identifier: MIT
// near.cu: the prepared set of all searches, and lists of near pairs.
#include "near.h"

#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_select.h>
#include <threadmap/triangle/near_sort.h>

// ---- the prepared set ---------------------------------------------------------------------------

int near_cell(const double *vectors, near_search *out) {
    const int error = tmap_image_make_f64(vectors, &out->cell_f64);
    return error ? error : tmap_image_make_f32(vectors, &out->cell_f32);
}

template <class Real>
static void near_fill(const threadmap_near *by, near_numbers<Real> *to) {
    to->squared = (Real)by->radius * (Real)by->radius;
    for (int k = 0; k < 3; ++k) {
        const double length = k < by->d ? by->box[k] : 0;
        to->box[k] = (Real)length, to->inverse[k] = (Real)(length > 0 ? 1 / length : 0);
    }
}

int near_begin(const threadmap_near *by, near_work *out) {
    tmap_near_sort_plan sort;
    near_search *s = &out->search;
    if (by->d < 2 || by->d > 3 || by->type < THREADMAP_F32 || by->type > THREADMAP_F64 ||
        !(by->radius >= 0))
        return TMAP_EINVAL;
    for (int k = 0; k < by->d; ++k)
        if (!(by->box[k] >= 0 && by->box[k] < 1e30)) return TMAP_EINVAL;
    if (near_boxed(by) == 2) {
        const int error = by->d == 3 ? near_cell(by->cell, s) : TMAP_EINVAL;
        if (error) return error;
    }
    const tmap_u64 most = by->n > by->m ? by->n : by->m;
    if (most > TMAP_NEAR_SORT_MAX) return TMAP_ERANGE;
    near_fill(by, &s->f32), near_fill(by, &s->f64);
    s->radius = (float)by->radius;
    for (int k = 0; k < 3; ++k) s->lengths[k] = s->f32.box[k];
    out->shape = {(tmap_u32)by->n, (tmap_u32)by->d, by->type == THREADMAP_F64 ? 8u : 4u};
    out->second = {(tmap_u32)by->m, out->shape.d, out->shape.size};
    const cudaError_t error =
        tmap_near_sort_plan_make((tmap_u32)most, out->shape.d, out->shape.size, 0, &sort);
    if (!error) out->sorting = sort.workspace;
    return base_error(error);
}

static cudaError_t near_prepare_set(tmap_near_shape shape, const void *points, void *workspace,
                                    tmap_u32 *order, void *set, cudaStream_t stream) {
    tmap_near_sort_plan sort;
    if (!shape.n) return cudaSuccess;
    cudaError_t error = tmap_near_sort_plan_make(shape.n, shape.d, shape.size, 0, &sort);
    if (!error) error = tmap_near_sort(&sort, points, workspace, order, stream);
    return error ? error : tmap_near_prepare(shape, points, order, set, stream);
}

int near_prepare(const threadmap_near *by, const near_work *work, void *workspace, void *stream) {
    char *w = (char *)workspace;
    tmap_u32 *order = (tmap_u32 *)(w + work->order);
    const int wrong = base_wrong({{by->points, work->shape.size, work->shape.n != 0},
                                  {by->others, work->shape.size, work->second.n != 0}});
    if (wrong) return wrong;
    cudaError_t error = near_prepare_set(work->second, by->others, w, order, w + work->second_set,
                                         (cudaStream_t)stream);
    if (!error)
        error = near_prepare_set(work->shape, by->points, w, order, w + work->set,
                                 (cudaStream_t)stream);
    return base_error(error);
}

// The shape of a set of its own; size 0: its numbers are wrong.
static tmap_near_shape set_shape(const threadmap_near_set_job *job) {
    const int right = job && job->n <= TMAP_NEAR_SORT_MAX && job->d >= 2 &&
                      job->d <= (int)TMAP_NEAR_SORT_D_MAX && job->type >= THREADMAP_F32 &&
                      job->type <= THREADMAP_F64;
    if (!right) return {0, 0, 0};
    return {(tmap_u32)job->n, (tmap_u32)job->d, job->type == THREADMAP_F64 ? 8u : 4u};
}

tmap_u64 threadmap_near_set_bytes(const threadmap_near_set_job *job) {
    const tmap_near_shape shape = set_shape(job);
    return shape.size ? tmap_near_set_bytes(shape) : 0;
}

int threadmap_near_set(const threadmap_near_set_job *job, void *workspace, tmap_u64 *bytes,
                       void *stream) {
    const tmap_near_shape shape = set_shape(job);
    tmap_near_sort_plan sort;
    if (!shape.size) return TMAP_EINVAL;
    int error = base_error(tmap_near_sort_plan_make(shape.n, shape.d, shape.size, 0, &sort));
    if (error) return error;
    tmap_u64 need = 0;
    base_part(&need, sort.workspace);
    const tmap_u64 order = base_part(&need, shape.n * 4ull);
    if (base_ends(workspace, bytes, need, &error)) return error;
    error = base_wrong({{job->points, shape.size, shape.n != 0}, {job->set, 128, shape.n != 0}});
    if (error) return error;
    char *w = (char *)workspace;
    return base_error(near_prepare_set(shape, job->points, w, (tmap_u32 *)(w + order), job->set,
                                       (cudaStream_t)stream));
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
        {s.search.set, s.search.second, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    const tmap_near_choice choice = {near_chosen<Real, Axes, Boxed>, sizeof(Real), s.wide ? 8u : 4u,
                                     s.both};
    tmap_near_select(&plan, points, choice, &s.list, &s);
}

static const void *const pairs_kernels[] = NEAR_KERNELS(pairs_kernel);

int threadmap_pairs(const threadmap_pairs_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_near_plan plan;
    near_work work;
    int error = job ? near_begin(&job->near_by, &work) : TMAP_EINVAL;
    if (!error)
        error = base_error(
            tmap_near_plan_make(work.shape, near_kernel(&job->near_by, pairs_kernels), &plan));
    if (!error) error = base_error(near_plan_second(&work, &plan));
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
    s.search = near_search_of(&work, workspace);
    s.wide = job->wide != 0, s.both = job->both != 0;
    s.list = {job->i, job->j, job->values, job->capacity, job->count, workspace};
    return base_error(
        tmap_near_select_launch(&plan, &s.list, s.wide ? 8 : 4, &s, (cudaStream_t)stream));
}
