// SPDX-License-Identifier: MIT
// near_graph.cu: graphs of near points in compressed rows.
#include "near.h"

#include <threadmap/triangle/near_graph.h>

struct graph {
    near_search search;
    tmap_near_graph_to to;
};

template <class Real, tmap_u32 Axes, int Boxed>
static __global__ void BLOCK graph_kernel(tmap_near_plan plan, graph s) {
    const tmap_near points = {
        {s.search.set, s.search.second, sizeof(Real), Axes}, near_reach<Real, Axes, Boxed>, 0};
    const tmap_near_choice choice = {near_chosen<Real, Axes, Boxed>, sizeof(Real), s.to.number, 1};
    tmap_near_connect(&plan, points, choice, &s.to, &s);
}

static const void *const graph_kernels[] = NEAR_KERNELS(graph_kernel);

int threadmap_graph(const threadmap_graph_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_near_plan plan;
    near_work work;
    int error = job ? near_begin(&job->near_by, &work) : TMAP_EINVAL;
    if (!error)
        error = base_error(tmap_near_graph_plan_make(
            work.shape, near_kernel(&job->near_by, graph_kernels), &plan));
    if (!error) error = base_error(near_plan_second(&work, &plan));
    if (error) return error;
    near_divide(&work, tmap_near_graph_bytes(&plan));
    if (base_ends(workspace, bytes, work.bytes, &error)) return error;
    error = base_wrong({{job->starts, 8, 1},
                        {job->values, work.shape.size, 0},
                        {job->columns, job->wide ? 8u : 4u, job->capacity != 0}});
    if (!error) error = near_prepare(&job->near_by, &work, workspace, stream);
    if (error) return error;
    graph s;
    s.search = near_search_of(&work, workspace);
    s.to = {job->starts,         job->columns,    job->values, job->capacity,
            job->wide ? 8u : 4u, work.shape.size, workspace};
    return base_error(tmap_near_graph(&plan, &s, &s.to, (cudaStream_t)stream));
}
