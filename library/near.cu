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
    const int wrong = base_pointer(by->points, shape.size);
    if (wrong) return wrong;
    cudaError_t error = tmap_near_sort_plan_make(shape.n, shape.d, shape.size, 0, &sort);
    if (!error) error = tmap_near_sort(&sort, by->points, workspace, order, (cudaStream_t)stream);
    if (!error)
        error = tmap_near_prepare(shape, by->points, order, (char *)workspace + work->set,
                                  (cudaStream_t)stream);
    return base_error(error);
}

// ---- lists of pairs -----------------------------------------------------------------------------

template <class Real, tmap_u32 Axes, int Boxed>
struct pairs {
    near_search<Real> search;
    tmap_near_list list;
    int wide, both;
};

template <class Real, tmap_u32 Axes, int Boxed>
TMAP_DEVICE void run(const tmap_near_plan *plan, pairs<Real, Axes, Boxed> *s) {
    const tmap_near points = {
        {s->search.set, 0, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    const tmap_near_choice choice = {near_chosen<Real, Axes, Boxed>, sizeof(Real),
                                     s->wide ? 8u : 4u, s->both};
    tmap_near_select(plan, points, choice, &s->list, s);
}

__global__ void BLOCK pairs_f32_2(tmap_near_plan p, pairs<float, 2, 0> s) { run(&p, &s); }
__global__ void BLOCK pairs_f32_3(tmap_near_plan p, pairs<float, 3, 0> s) { run(&p, &s); }
__global__ void BLOCK pairs_f64_2(tmap_near_plan p, pairs<double, 2, 0> s) { run(&p, &s); }
__global__ void BLOCK pairs_f64_3(tmap_near_plan p, pairs<double, 3, 0> s) { run(&p, &s); }
__global__ void BLOCK pairs_box_f32_2(tmap_near_plan p, pairs<float, 2, 1> s) { run(&p, &s); }
__global__ void BLOCK pairs_box_f32_3(tmap_near_plan p, pairs<float, 3, 1> s) { run(&p, &s); }
__global__ void BLOCK pairs_box_f64_2(tmap_near_plan p, pairs<double, 2, 1> s) { run(&p, &s); }
__global__ void BLOCK pairs_box_f64_3(tmap_near_plan p, pairs<double, 3, 1> s) { run(&p, &s); }

static const void *const pairs_kernels[8] = {
    (const void *)pairs_f32_2,     (const void *)pairs_f32_3,     (const void *)pairs_f64_2,
    (const void *)pairs_f64_3,     (const void *)pairs_box_f32_2, (const void *)pairs_box_f32_3,
    (const void *)pairs_box_f64_2, (const void *)pairs_box_f64_3};

template <class Real>
static int pairs_launch(const threadmap_pairs_job *job, const tmap_near_plan *plan,
                        const near_work *work, void *workspace, void *stream) {
    pairs<Real, 2, 0> s;
    s.search = near_search_of<Real>(&job->near_by, work, workspace);
    s.wide = job->wide != 0, s.both = job->both != 0;
    s.list = {job->i, job->j, job->values, job->capacity, job->count, workspace};
    return base_error(
        tmap_near_select_launch(plan, &s.list, s.wide ? 8 : 4, &s, (cudaStream_t)stream));
}

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
    if ((error = base_pointer(job->count, 8)) != TMAP_OK) return error;
    const tmap_u64 number = job->wide ? 8 : 4;
    if ((error = base_optional(job->values, work.shape.size)) != TMAP_OK) return error;
    if (job->capacity && (error = base_pointer(job->i, number)) != TMAP_OK) return error;
    if (job->capacity && (error = base_pointer(job->j, number)) != TMAP_OK) return error;
    error = near_prepare(&job->near_by, &work, workspace, stream);
    if (!error) error = base_error(cudaMemsetAsync(workspace, 0, own, (cudaStream_t)stream));
    if (error) return error;
    return work.shape.size == 4 ? pairs_launch<float>(job, &plan, &work, workspace, stream)
                                : pairs_launch<double>(job, &plan, &work, workspace, stream);
}
