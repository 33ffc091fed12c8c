// SPDX-License-Identifier: MIT
// stripes.h: labels of pictures that are larger than a GPU. Each of several GPUs (nccl.h) has a
// stripe of whole rows, and its labels are those of one GPU with all rows.
//
//     tmap_stripes_plan plan; // map: of the whole picture; plan.rows: the rows of this GPU
//     tmap_stripes_plan_make(&map, TMAP_LABEL_INT64, &gpus, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_stripes_label(&plan, cells, workspace, labels, starts, stream);
//
// A component of several stripes is a tree of cells of their first and last rows (stripes_base.h).
// The root of a tree has the earliest first cell, and its stripe names the component. The other
// stripes do not count their components of this tree. Labels of cells are written once.
#ifndef TMAP_RASTER_STRIPES_H
#define TMAP_RASTER_STRIPES_H

#include "label.h"
#include "label_measure.h"
#include "stripes_base.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- labels -------------------------------------------------------------------------------------

// The argument of the kernels. A component with its first cell in another stripe has parent `nodes`
// + i, where i is the cell that its tag names.
typedef struct tmapi_stripes_job {
    tmapi_label_job label;
    tmapi_stripes s;
    tmap_u32 nodes;           // of the stripe
    tmap_u64 *total, *starts; // components of each stripe, and in those before it
    tmap_label_shape *shapes; // `count` of each stripe
    tmap_u64 count;
} tmapi_stripes_job;

// A plan, made by tmap_stripes_plan_make. rows: of this GPU. workspace: bytes that
// tmap_stripes_label needs.
typedef struct tmap_stripes_plan {
    tmap_nccl gpus;
    tmap_share rows;
    tmap_u64 workspace;
    tmap_label_plan label; // of the stripe
    tmapi_stripes_job job; // with null addresses
} tmap_stripes_plan;

// Sets the addresses of a job in a workspace at w. Returns its bytes.
TMAP_FN tmap_u64 tmapi_stripes_job_divide(tmapi_stripes_job *j, tmap_u64 w) {
    const tmap_u64 bytes = 16ull * j->s.width * j->s.ranks;
    tmap_u64 end = tmapi_label_divide(&j->label, w);
    tmapi_stripes_divide(&j->s, w, &end);
    j->s.tag = (tmap_u32 *)j->label.node_label; // until nodes are named
    if (!j->s.values) j->s.value = 0;
    j->s.key = (tmap_u64 *)(w + tmapi_raster_part(&end, bytes));
    j->total = (tmap_u64 *)(w + tmapi_raster_part(&end, j->s.ranks * 8));
    return end;
}

// Finds the roots of 1024 cells of the first or the last row, a warp with a word a lane.
static __global__ void __launch_bounds__(32) tmapi_stripes_ends_kernel(tmapi_stripes_job j) {
    const tmapi_label_job *job = &j.label;
    const tmap_u32 end = blockIdx.x % 2, column = blockIdx.x / 2, lane = threadIdx.x;
    const tmap_u32 y = end ? (tmap_u32)job->height - 1 : 0, band = y / job->rows;
    const tmapi_label_area a = {band * job->bx + column,    column,          band, 0,
                                column * TMAPI_LABEL_CELLS, band * job->rows};
    const tmap_u64 at = y * job->words + column * TMAPI_LABEL_WORDS + lane;
    const unsigned short *codes = (const unsigned short *)tmapi_label_codes(job, &a, y % job->rows);
    tmapi_label_row row = {job->in[at], job->starts[at], 0}, none = {0, 0, 0};
    if (job->type == TMAP_RASTER_MASK) row.starts &= ~tmapi_label_from_left(row.in, 31);
    tmapi_label_slots(&row, &none, 0, 0);
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u32 in = __shfl_sync(~0u, row.in, k), starts = __shfl_sync(~0u, row.starts, k);
        const tmap_u32 upto = starts & ((2u << lane) - 1), x = a.x + k * 32 + lane;
        const tmap_u32 slot = __shfl_sync(~0u, row.slot, k) + tmapi_raster_count(upto);
        const tmap_u32 i = end * j.s.width + x;
        tmap_u32 root = TMAPI_STRIPES_NONE;
        int ok;
        if (x >= j.s.width) continue;
        if (in >> lane & j.s.open >> end & 1) {
            root = a.block * job->nodes + (codes[slot] & ~TMAPI_LABEL_NODE);
            root = tmapi_forest_root(job->parent, root);
            j.s.tag[root] = i; // of several cells any one remains
            j.s.key[j.s.base + i] = job->key[root] + (j.s.rows.first << 32);
        }
        if (j.s.values)
            j.s.value[j.s.base + i] =
                (tmap_u32)tmapi_label_value(job, y * job->pitch + x, job->type, &ok);
        j.s.root[i] = root, job->parent[j.nodes + i] = TMAPI_STRIPES_NONE;
    }
}

// Makes a component the child of node `nodes` + i, if its tag names cell i and it is not the first
// of its tree.
static __global__ void __launch_bounds__(256) tmapi_stripes_later_kernel(tmapi_stripes_job j) {
    const tmap_u32 i = tmapi_stripes_thread(), tree = tmapi_stripes_tree(&j.s, i);
    if (tree == TMAPI_STRIPES_NONE || tree == j.s.base + i || j.s.tag[j.s.root[i]] != i) return;
    j.label.parent[j.s.root[i]] = j.label.parent[j.nodes + i] = j.nodes + i;
}

// Adds the components of the stripes before to the scan.
static __global__ void __launch_bounds__(256) tmapi_stripes_start_kernel(tmapi_stripes_job j) {
    const tmap_u32 i = tmapi_stripes_thread();
    tmap_u64 sum = 0;
    for (tmap_u32 k = 0; k <= j.s.ranks; sum += k < j.s.live ? j.total[k] : 0, ++k) {
        if (i == 0) j.starts[k] = sum;
        if (k == j.s.rank && i * (tmap_u64)TMAPI_LABEL_CHUNK < j.label.scan.counts)
            j.label.scan.chunk[i] += sum;
    }
}

// Writes the names of trees with roots in this stripe, in place of their keys.
static __global__ void __launch_bounds__(256) tmapi_stripes_name_kernel(tmapi_stripes_job j) {
    const tmap_u32 i = tmapi_stripes_thread(), tree = tmapi_stripes_tree(&j.s, i);
    if (tree != TMAPI_STRIPES_NONE && tree == j.s.base + i)
        j.s.key[tree] = tmapi_label_get(j.label.node_label, j.s.root[i], j.label.wide);
}

// Reads those of other components' nodes.
static __global__ void __launch_bounds__(256) tmapi_stripes_read_kernel(tmapi_stripes_job j) {
    const tmap_u32 i = tmapi_stripes_thread(), tree = tmapi_stripes_tree(&j.s, i);
    if (tree != TMAPI_STRIPES_NONE && j.label.parent[j.nodes + i] == j.nodes + i)
        tmapi_label_put(j.label.node_label, j.nodes + i, j.s.key[tree], j.label.wide);
}

// Makes the plan of the labels of a picture on this GPU.
// map: of the whole picture, of any type; its pitch is that of the stripe's cells. form: as for
// tmap_label, for the whole picture. plan->workspace: as for tmap_label, and up to 32 bytes
// for each column and GPU.
// Returns the errors of tmap_label_plan_make; cudaErrorInvalidConfiguration too if columns times
// GPUs are 2^28 or more.
static inline cudaError_t tmap_stripes_plan_make(const tmap_raster_map *map, int form,
                                                 const tmap_nccl *gpus, tmap_stripes_plan *plan) {
    tmap_raster_map stripe;
    tmap_stripes_plan p;
    tmapi_label_job *label = &p.label.job;
    tmap_facts facts;
    cudaError_t error = tmap_facts_get((const void *)tmapi_label_mask_kernel, &facts);
    if (error) return error;
    if (!map || !gpus || !plan || (unsigned)form > TMAP_LABEL_INT64 ||
        !tmapi_raster_valid(map, 0, TMAP_RASTER_BITS) ||
        (form == TMAP_LABEL_INT32 && tmapi_label_most(map) > 0x7fffffff))
        return cudaErrorInvalidValue;
    stripe = *map, p.gpus = *gpus;
    if ((error = tmapi_stripes_of(gpus, &stripe, &p.job.s)) != cudaSuccess) return error;
    error = tmapi_launch_error(tmap_label_plan_of(&stripe, form, &facts, &p.label));
    if (error) return error;
    if (p.job.s.open & 1) label->top = ~0u;
    if (p.job.s.open & 2) label->bottom = ~0ull;
    label->seams = 2ull * p.job.s.width;
    error = tmapi_launch_error(tmapi_label_plan_end(&facts, &p.label));
    if (error) return error;
    p.rows = p.job.s.rows, p.job.label = *label, p.job.nodes = p.label.blocks * label->nodes;
    p.workspace = tmapi_stripes_job_divide(&p.job, 0);
    *plan = p;
    return cudaSuccess;
}

// Labels the components of a picture; each GPU writes the labels of its rows.
// plan: that of this GPU. cells, labels: of its rows; as for tmap_label, and not needed by a GPU
// without rows. workspace: plan->workspace bytes at a multiple of 16. starts: receives ranks + 1
// numbers on every GPU, at a multiple of 8: labels starts[k] + 1 to starts[k + 1] are those of
// components with their first cells in stripe k; starts[ranks] is the number of all.
// Returns ncclInvalidArgument for a null or misaligned pointer and for memory that overlaps,
// ncclUnhandledCudaError for an error of a launch, or that of NCCL.
// Cost: that of tmap_label for its rows, and gathers of 20 bytes (24 for values) for each cell of
// two rows of all GPUs.
static inline ncclResult_t tmap_stripes_label(const tmap_stripes_plan *plan, const void *cells,
                                              void *workspace, void *labels, tmap_u64 *starts,
                                              cudaStream_t stream) {
    tmapi_stripes_job j;
    if (!plan) return ncclInvalidArgument;
    const tmapi_raster_memory memory[2] = {{workspace, plan->workspace},
                                           {starts, 8 * (plan->gpus.ranks + 1ull)}};
    if (tmapi_label_job_wrong(&plan->label, cells, memory[0], labels, memory[1]) ||
        !tmapi_raster_aligned(workspace, 16) || tmapi_raster_overlap(memory, 1, 2))
        return ncclInvalidArgument;
    tmapi_stripes_run r = {&plan->gpus, stream, ncclSuccess};
    j = plan->job;
    tmapi_stripes_job_divide(&j, (tmap_u64)workspace);
    j.label.cells = cells, j.label.labels = labels, j.starts = starts;
    j.label.scan.total = j.total + j.s.rank;
    const tmapi_label_steps own = tmapi_label_steps_of(&plan->label, &j.label);
    const tmapi_raster_step ends = {(const void *)tmapi_stripes_ends_kernel,
                                    {j.s.cells ? 2ull * j.label.bx : 0, 32, 0}};
    tmapi_stripes_steps(&r, own.step, 2, &j); // local, unite
    tmapi_stripes_steps(&r, &ends, 1, &j);
    tmapi_stripes_unite(&r, &j.s);
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_later_kernel, j.s.cells, &j);
    tmapi_stripes_steps(&r, own.step + 2, 2, &j); // roots, sum
    tmapi_stripes_gather(&r, j.total, 8, j.s.ranks);
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_start_kernel,
                       j.label.scan.counts / TMAPI_LABEL_CHUNK + 1, &j);
    tmapi_stripes_steps(&r, own.step + 4, 1, &j); // name
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_name_kernel, j.s.cells, &j);
    tmapi_stripes_gather(&r, j.s.key, 16ull * j.s.width, j.s.ranks);
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_read_kernel, j.s.cells, &j);
    tmapi_stripes_steps(&r, own.step + 5, 1, &j); // write
    return r.error;
}

// ---- measures -----------------------------------------------------------------------------------

// Adds the parts of the other stripes to shapes of the first one.
static __global__ void __launch_bounds__(256) tmapi_stripes_shapes_kernel(tmapi_stripes_job j) {
    const tmap_u64 threads = gridDim.x * 256ull, parts = (j.s.ranks - 1) * j.count;
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < parts; i += threads) {
        const tmap_u64 row = tmap_stripes_rows(j.s.height, i / j.count + 1, j.s.ranks).first;
        tmap_label_shape part = j.shapes[j.count + i];
        part.first += row * j.s.width, part.top += (tmap_u32)row, part.bottom += (tmap_u32)row;
        if (part.area) tmapi_label_shape_add(j.shapes + i % j.count, part);
    }
}

// Measures components of the whole picture, on every GPU.
// plan, labels: of a tmap_stripes_label. components: labels 1 to components are measured, the same
// on all GPUs; usually starts[ranks]. shapes: device memory for ranks * components of them, at a
// multiple of 8; the first `components` receive what tmap_label_measure writes for the picture.
// Returns errors as tmap_stripes_label. Cost: that of tmap_label_measure, and a gather of 40 bytes
// for each component and GPU.
static inline ncclResult_t tmap_stripes_measure(const tmap_stripes_plan *plan, const void *labels,
                                                tmap_u64 components, tmap_label_shape *shapes,
                                                cudaStream_t stream) {
    tmapi_stripes_job j;
    cudaError_t error;
    if (!plan || components >> 40 || (components && !shapes)) return ncclInvalidArgument;
    const tmap_label_array *of = &plan->label.array;
    const tmapi_raster_memory memory[2] = {
        {shapes, tmap_mul_saturate(components, plan->gpus.ranks * sizeof *shapes)},
        {labels, of->width * of->height * (of->form == TMAP_LABEL_INT64 ? 8 : 4)}};
    if (tmapi_raster_overlap(memory, 1, 2)) return ncclInvalidArgument;
    tmapi_stripes_run r = {&plan->gpus, stream, ncclSuccess};
    j = plan->job, j.shapes = shapes, j.count = components;
    error = tmap_label_measure(of, labels, components, shapes + j.s.rank * components, stream);
    if (error) return error == cudaErrorInvalidValue ? ncclInvalidArgument : ncclUnhandledCudaError;
    if (!components) return ncclSuccess;
    tmapi_stripes_gather(&r, shapes, components * sizeof *shapes, j.s.ranks);
    tmapi_stripes_each(&r, (const void *)tmapi_stripes_shapes_kernel,
                       components < 1 << 24 ? components : 1 << 24, &j);
    return r.error;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
