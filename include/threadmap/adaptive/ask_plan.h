// SPDX-License-Identifier: MIT
// ask_plan.h: the host functions of adaptive serial kernels (ask.h): a domain and its subdivision,
// the device memory of a run, a plan of its launches, and two drivers that run all levels.
//
//     tmap_ask_box box = {nx, ny, 0}; // two axes
//     tmap_ask_kernels kernels = {(const void *)disc_ask, (const void *)disc_end, 0, 0, 0};
//     tmap_ask_workspace_create(box, params, 0, &workspace);
//     tmap_ask_plan_make(&workspace, &kernels, &plan);
//     tmap_ask_stream(&plan, &job, stream); // any number of times
#ifndef TMAP_ADAPTIVE_ASK_PLAN_H
#define TMAP_ADAPTIVE_ASK_PLAN_H

#include "ask.h"
#include "region.h"

// ---- the domain ---------------------------------------------------------------------------------

// The elements of a domain; nz = 0: two axes.
typedef struct tmap_ask_box {
    tmap_u64 nx, ny, nz;
} tmap_ask_box;

// A part number has 21 bits, so that three of them fit a scalar.
#define TMAPI_ASK_PARTS_MAX   0x200000ull
#define TMAPI_ASK_ENTRIES_MAX 0xffffffffull

// The most elements of a region of n / parts along each axis, with `frame` added along each.
TMAP_FN tmap_u64 tmapi_ask_volume(const tmap_ask_domain *d, tmap_u64 parts, tmap_u64 frame) {
    const tmap_u64 elements = tmap_mul_saturate(tmap_region_side_max(d->nx, parts) + frame,
                                                tmap_region_side_max(d->ny, parts) + frame);
    return d->dims == 2 ? elements
                        : tmap_mul_saturate(elements, tmap_region_side_max(d->nz, parts) + frame);
}

// 1 if a region of level 0 has too many elements: with 31 added along each axis they must be below
// 2^31, so that a step beyond them fits.
TMAP_FN int tmapi_ask_too_large(const tmap_ask_domain *d) {
    return tmapi_ask_volume(d, d->g, 31) > 0x7fffffffull;
}

// Chooses a subdivision: r = 4, and last regions with a side of 16, of 32 if their rows begin
// anywhere, or of 8 with three axes, but at most 2048 or 128 along an axis.
TMAP_FN void tmapi_ask_choose(tmap_ask_domain *d) {
    const tmap_u32 most = d->dims == 3 ? 128 : 2048, coarse = d->dims == 3 ? 16 : 128;
    tmap_u32 n = d->nx > d->ny ? d->nx : d->ny, least = d->nx < d->ny ? d->nx : d->ny, parts;
    if (d->dims == 3 && d->nz > n) n = d->nz;
    if (d->dims == 3 && d->nz < least) least = d->nz;
    parts = n / (d->dims == 3 ? 8 : d->nx % 64 ? 32 : 16);
    if (parts > least / 4) parts = least / 4;
    parts = tmapi_ask_within(parts, most);
    for (d->levels = 1; parts > coarse; ++d->levels) parts = (parts + 2) / 4;
    d->g = parts, d->r = 4, d->b = 0;
    while (d->g < 1u << 15 && tmapi_ask_too_large(d)) d->g *= 2;
}

// Makes a domain: tau levels by tmap_region_levels, with g r^level parts along each axis. a: (g, r,
// B) as for tmap_region_check with n the longest side; or (0, 0, 0): r = 4, and last regions with a
// side of about 16 (32 if 64 does not divide nx; 8 with three axes), at most 2048 along an axis
// (128); larger ones if the shortest axis has fewer than 4 elements in each.
// Returns TMAP_OK; TMAP_EINVAL for a null pointer, nx = 0, ny = 0, or a g, r or b that is 0 or, for
// r, below 2; TMAP_ERANGE for b > n / g (n is the longest side), a side above 2^31 - 1, more than
// 2^21 parts along an axis, 2^32 regions at level 0, a region of level 0 with 2^31 elements (with
// 31 added along each axis), or r^dims above 2^20. Writes *out only on success.
// Example: 16384 x 16384, (32, 2, 32): 4 levels with regions of side 512, 256, 128, 64.
TMAP_FN int tmap_ask_domain_make(tmap_ask_box box, tmap_ask_params a, tmap_ask_domain *out) {
    tmap_u64 n = box.nx > box.ny ? box.nx : box.ny;
    tmap_ask_domain d;
    int error, chosen = !a.g && !a.r && !a.b;
    if (!out || box.nx == 0 || box.ny == 0) return TMAP_EINVAL;
    if (box.nz > n) n = box.nz;
    if (!chosen && (error = tmap_region_check(n, a.g, a.r, a.b)) != TMAP_OK) return error;
    if (n > 0x7fffffffull) return TMAP_ERANGE;
    d.nx = (tmap_u32)box.nx, d.ny = (tmap_u32)box.ny, d.nz = box.nz ? (tmap_u32)box.nz : 1;
    d.dims = box.nz ? 3 : 2;
    if (chosen) {
        tmapi_ask_choose(&d);
    } else {
        d.g = a.g, d.r = a.r, d.b = a.b;
        d.levels = tmap_region_levels(n, a.g, a.r, a.b);
    }
    if (tmap_region_parts(d.g, d.r, d.levels - 1) > TMAPI_ASK_PARTS_MAX ||
        tmap_region_olt_size(1, d.g, d.dims) > TMAPI_ASK_ENTRIES_MAX ||
        tmap_region_olt_size(1, d.r, d.dims) > 1u << 20 || tmapi_ask_too_large(&d))
        return TMAP_ERANGE;
    *out = d;
    return TMAP_OK;
}

// ---- the workspace ------------------------------------------------------------------------------

// Places the parts of a workspace one after the other, from w->memory.data on.
TMAP_FN void tmapi_ask_lay_out(tmap_ask_workspace *w, tmap_u64 capacity) {
    const tmap_ask_domain *d = &w->domain;
    const tmap_u64 children = tmap_region_olt_size(1, d->r, d->dims);
    const tmap_u64 last = tmap_region_parts(d->g, d->r, d->levels - 1);
    const tmap_u64 most = TMAPI_ASK_ENTRIES_MAX / children; // the children's numbers have 32 bits
    tmap_u64 list = tmap_region_olt_size(1, last, d->dims), table = list / children;
    tmap_u64 at = (tmap_u64)w->memory.data;
    if (capacity && table > capacity) table = capacity;
    if (capacity && list > capacity) list = capacity;
    w->table_capacity = table < most ? table : most;
    w->list_capacity = list < TMAPI_ASK_ENTRIES_MAX ? list : TMAPI_ASK_ENTRIES_MAX;
    table = (8 * w->table_capacity + 255) / 256 * 256;
    list = (8 * w->list_capacity + 255) / 256 * 256;
    w->control = (tmapi_ask_control *)at, at += (sizeof *w->control + 255) / 256 * 256;
    w->even = (tmap_u64 *)at, at += table;
    w->odd = (tmap_u64 *)at, at += table;
    w->leaf = (tmap_u64 *)at, at += list;
    w->fill = (tmap_u64 *)at, at += list;
    w->value = (tmap_u32 *)at, at += (4 * w->list_capacity + 255) / 256 * 256;
    w->rest.data = (void *)at;
}

// Bytes of device memory of a workspace. capacity: the most entries of each table and list; 0: the
// most that can be needed, 20 bytes for each region of the last level and 16 / r^dims more. A run
// with fewer entries is still correct, but slower. Returns 0 for arguments that
// tmap_ask_domain_make refuses. Example: n = 65536, (16, 4, 16): 22 MB, next to 17 GB of a picture
// of 32-bit pixels.
TMAP_FN tmap_u64 tmap_ask_workspace_bytes(tmap_ask_box box, tmap_ask_params a, tmap_u64 capacity) {
    tmap_ask_workspace w;
    if (tmap_ask_domain_make(box, a, &w.domain)) return 0;
    w.memory.data = 0;
    tmapi_ask_lay_out(&w, capacity);
    return (tmap_u64)w.rest.data;
}

// Makes a workspace in device memory of your own, at a multiple of 256; the unused end becomes
// out->rest. Returns TMAP_OK, TMAP_EINVAL for a null or misaligned pointer or too few bytes, or the
// error of tmap_ask_domain_make. Writes *out only on success.
TMAP_FN int tmap_ask_workspace_set(tmap_ask_box box, tmap_ask_params a, tmap_u64 capacity,
                                   tmap_workspace memory, tmap_ask_workspace *out) {
    const tmap_u64 need = tmap_ask_workspace_bytes(box, a, capacity);
    tmap_ask_workspace w;
    const int error = out ? tmap_ask_domain_make(box, a, &w.domain) : TMAP_EINVAL;
    if (error) return error;
    if (!memory.data || (tmap_u64)memory.data % 256 || memory.bytes < need) return TMAP_EINVAL;
    w.memory = memory;
    tmapi_ask_lay_out(&w, capacity);
    w.rest.bytes = memory.bytes - need;
    *out = w;
    return TMAP_OK;
}

// The counts of a level of a run. regions = subdivided + filled + leaves, without empty ones.
// refused: regions that did not fit the table; they are included in the leaves.
typedef struct tmap_ask_level_counts {
    tmap_u64 regions, empty, subdivided, filled, leaves, refused;
} tmap_ask_level_counts;

// The counts of a run, read by tmap_ask_counts_read.
typedef struct tmap_ask_counts {
    tmap_u32 levels;
    tmap_u64 refused; // of all levels; 0: the tables were large enough
    tmap_ask_level_counts level[TMAP_ASK_LEVELS_MAX];
} tmap_ask_counts;

// ---- the plan -----------------------------------------------------------------------------------

// The kernels of a problem. Each is a __global__ function of a tmap_ask_run and your job, both by
// value, and calls one function of the engine in all of its threads: query calls tmap_ask_query,
// finish tmap_ask_finish, share tmap_ask_share.
typedef struct tmap_ask_kernels {
    const void *query, *finish;
    const void *share; // null if no query reads values that others have written
    tmap_u32 threads;  // of a block: a multiple of 32 up to 1024; 0: 256
    tmap_u32 scratch;  // bytes of shared memory of each warp for your functions, 0 to 4096
} tmap_ask_kernels;

// The facts from which a plan is made.
typedef struct tmap_ask_facts {
    tmap_device_facts device;
    tmap_kernel_facts query, finish, share; // share: unused if there is no such kernel
} tmap_ask_facts;

// A kernel of a plan with its launch.
typedef struct tmap_ask_launch {
    const void *kernel; // null: not launched
    tmap_u32 threads;   // of a block
    tmap_u32 blocks;    // the most that are launched: those that the device holds at once
    tmap_u32 shared;    // dynamic shared memory of a block in bytes
} tmap_ask_launch;

// The launches of a run: `whole` once, then for each level `query` and `share`, and `finish` once.
// You may change run.tuning and lower the blocks of a launch. A plan is for the device that it was
// made on.
typedef struct tmap_ask_plan {
    tmap_ask_run run; // the parameter of the kernels, except the level
    tmap_ask_launch whole, query, share, finish;
} tmap_ask_plan;

// The best numbers for the Mandelbrot set on an H200.
TMAP_FN tmap_ask_tuning tmap_ask_tuning_make(void) {
    const tmap_ask_tuning t = {256, 12, 24, 16384, 512, 8, 256, 19, 69};
    return t;
}

// Sets a launch: the blocks that the device holds at once. kernel: may be null.
TMAP_FN int tmapi_ask_launch_of(const void *kernel, const tmap_device_facts *device,
                                const tmap_kernel_facts *of, const tmap_ask_kernels *kernels,
                                tmap_ask_launch *out) {
    tmap_facts facts;
    out->kernel = kernel, out->threads = kernels->threads, out->blocks = 0;
    out->shared = tmapi_ask_scratch_first(out->threads) + out->threads / 32 * kernels->scratch;
    if (!kernel) return TMAP_OK;
    facts.device = *device, facts.kernel = *of;
    out->blocks = device->processors * tmap_resident_blocks(&facts, out->threads, out->shared);
    return out->blocks ? TMAP_OK : TMAP_ERANGE;
}

// Makes the plan of tmap_ask_plan_make from facts. Copies the kernels' pointers and does not follow
// them. Returns TMAP_OK; TMAP_EINVAL for a null pointer (only kernels->share may be null), a
// workspace without memory, a number of threads that is not a multiple of 32 up to 1024, or more
// than 4096 bytes of scratch; TMAP_ERANGE if a multiprocessor does not hold one block. Writes *out
// only on success.
TMAP_FN int tmap_ask_plan_of(const tmap_ask_workspace *w, const tmap_ask_kernels *kernels,
                             const tmap_ask_facts *facts, tmap_ask_plan *out) {
    tmap_ask_kernels k;
    tmap_ask_plan p;
    tmap_u64 elements;
    int error;
    if (!w || !w->memory.data || !kernels || !facts || !out) return TMAP_EINVAL;
    k = *kernels;
    if (k.threads == 0) k.threads = 256;
    if (!k.query || !k.finish || k.threads % 32 || k.threads > 1024 || k.scratch > 4096)
        return TMAP_EINVAL;
    k.scratch = (k.scratch + 127) / 128 * 128;
    error = tmapi_ask_launch_of(k.query, &facts->device, &facts->query, &k, &p.query);
    if (!error) error = tmapi_ask_launch_of(k.share, &facts->device, &facts->share, &k, &p.share);
    if (!error)
        error = tmapi_ask_launch_of(k.finish, &facts->device, &facts->finish, &k, &p.finish);
    if (error) return error;
    p.whole = p.share;
    p.run.workspace = *w, p.run.tuning = tmap_ask_tuning_make();
    p.run.scratch = k.scratch, p.run.level = 0;
    p.run.part = 0, p.run.parts = 1;
    // In a small domain a warp should get three pieces or more, of at least 2048 elements.
    elements = tmapi_ask_volume(&w->domain, 1, 0) / (k.threads / 32 * 3) / p.finish.blocks;
    if (elements < 2048) elements = 2048;
    if (elements < p.run.tuning.fill_elements) p.run.tuning.fill_elements = (tmap_u32)elements;
    *out = p;
    return TMAP_OK;
}

// Restricts a plan to part number `part` of `parts`: of the bands of level 0, the rows of g regions
// (with three axes, the layers), every parts-th one from number `part` on, so that a costly place
// of the domain is divided among the parts. A run then finishes the elements of its bands alone;
// tmap_ask_share still writes the borders of all regions of level 0. Returns TMAP_EINVAL for a null
// pointer, a plan that no plan maker has made, and part >= parts, and then changes nothing.
// Example: g = 16, part 1 of 4: bands 1, 5, 9, 13.
TMAP_FN int tmap_ask_plan_part(tmap_ask_plan *plan, tmap_u32 part, tmap_u32 parts) {
    if (!plan || !plan->run.parts || part >= parts) return TMAP_EINVAL;
    plan->run.part = part, plan->run.parts = parts;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// Reads the facts of a problem's kernels on the current device. Returns cudaErrorInvalidValue for a
// null pointer, else the first error of a CUDA call.
static inline cudaError_t tmap_ask_facts_get(const tmap_ask_kernels *k, tmap_ask_facts *out) {
    cudaError_t status = k && out ? tmap_device_facts_get(&out->device) : cudaErrorInvalidValue;
    if (!status) status = tmap_kernel_facts_get(k->query, &out->query);
    if (!status) status = tmap_kernel_facts_get(k->finish, &out->finish);
    return !status && k->share ? tmap_kernel_facts_get(k->share, &out->share) : status;
}

// Permits the kernels of a plan their shared memory. error: the result of tmap_ask_plan_of.
static inline cudaError_t tmapi_ask_plan_ready(int error, const tmap_ask_plan *p) {
    cudaError_t status = cudaSuccess;
    if (error) return tmapi_launch_error(error);
    if (p->share.kernel) status = tmapi_launch_shared(p->share.kernel, p->share.shared);
    if (status == cudaSuccess) status = tmapi_launch_shared(p->query.kernel, p->query.shared);
    return status == cudaSuccess ? tmapi_launch_shared(p->finish.kernel, p->finish.shared) : status;
}

// Makes the plan of a problem's runs in a workspace, on the current device. It serves any number of
// runs, with any job, one after the other: runs at the same time need a workspace each. Returns
// cudaErrorInvalidValue where tmap_ask_plan_of returns TMAP_EINVAL, cudaErrorInvalidConfiguration
// for TMAP_ERANGE, else a CUDA error. Writes *out only on success.
static inline cudaError_t tmap_ask_plan_make(const tmap_ask_workspace *w,
                                             const tmap_ask_kernels *kernels, tmap_ask_plan *out) {
    tmap_ask_facts facts;
    tmap_ask_plan p;
    cudaError_t status = out ? tmap_ask_facts_get(kernels, &facts) : cudaErrorInvalidValue;
    if (status == cudaSuccess)
        status = tmapi_ask_plan_ready(tmap_ask_plan_of(w, kernels, &facts, &p), &p);
    if (status == cudaSuccess) *out = p;
    return status;
}

// ---- memory -------------------------------------------------------------------------------------

static inline cudaError_t tmapi_ask_workspace_allocate(tmap_ask_box box, tmap_ask_params a,
                                                       tmap_u64 capacity, tmap_u64 bytes,
                                                       tmap_ask_workspace *out) {
    tmap_workspace memory = {0, bytes};
    cudaError_t status = out && bytes ? cudaMalloc(&memory.data, bytes) : cudaErrorInvalidValue;
    if (status != cudaSuccess) return status;
    return tmapi_launch_error(tmap_ask_workspace_set(box, a, capacity, memory, out));
}

// Allocates device memory and makes a workspace in it, without a rest; tmap_ask_workspace_destroy
// frees it. Parameters: as for tmap_ask_workspace_bytes. Returns cudaErrorInvalidValue for
// arguments that tmap_ask_workspace_set refuses, else the result of cudaMalloc.
static inline cudaError_t tmap_ask_workspace_create(tmap_ask_box box, tmap_ask_params a,
                                                    tmap_u64 capacity, tmap_ask_workspace *out) {
    const tmap_u64 bytes = tmap_ask_workspace_bytes(box, a, capacity);
    return tmapi_ask_workspace_allocate(box, a, capacity, bytes, out);
}

// Frees the device memory of a workspace made by tmap_ask_workspace_create or
// tmap_mandelbrot_workspace_create, and sets w->memory.data to null. No run may be using it, and
// plans made with it become invalid. A workspace of a _set function is in your memory: do not pass
// it. Returns cudaErrorInvalidValue for a null pointer, else the result of cudaFree.
static inline cudaError_t tmap_ask_workspace_destroy(tmap_ask_workspace *w) {
    cudaError_t status = w ? cudaFree(w->memory.data) : cudaErrorInvalidValue;
    if (w) w->memory.data = 0;
    return status;
}

// Reads the counts of the last run with this workspace; synchronizes with the stream. If the
// library chose the subdivision, levels is the number of levels that had a region. Returns
// cudaErrorInvalidValue for a null pointer, else the error of the copy or of the stream, which
// includes errors of the run's kernels.
// Example, n = 1024, (2, 2, 1), dwell 512 on the paper's window: subdivided = 4, 14, 50, 170, ...
static inline cudaError_t tmap_ask_counts_read(const tmap_ask_workspace *w, tmap_ask_counts *out,
                                               cudaStream_t stream) {
    tmapi_ask_control control;
    tmap_ask_counts c;
    cudaError_t status;
    if (!w || !w->memory.data || !out) return cudaErrorInvalidValue;
    status = cudaMemcpyAsync(&control, w->control, sizeof control, cudaMemcpyDeviceToHost, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    if (status != cudaSuccess) return status;
    c.levels = w->domain.b ? w->domain.levels : 0;
    c.refused = 0;
    for (tmap_u32 l = 0; l < TMAP_ASK_LEVELS_MAX; ++l) {
        const tmapi_ask_level *from = &control.level[l];
        tmap_ask_level_counts *to = &c.level[l];
        to->refused = from->refused, to->filled = from->filled, to->empty = from->empty;
        to->subdivided = from->subdivided - from->refused;
        to->leaves = from->leaves + from->refused;
        to->regions = to->subdivided + to->filled + to->leaves;
        c.refused += to->refused;
        if (w->domain.b == 0 && to->regions) c.levels = l + 1;
    }
    *out = c;
    return cudaSuccess;
}

// ---- drivers ------------------------------------------------------------------------------------

// Launches the blocks that `items` threads fill, up to those of the plan.
static inline cudaError_t tmapi_ask_launch(const tmap_ask_plan *p, const tmap_ask_launch *l,
                                           tmap_u32 level, tmap_u64 items, tmap_job job,
                                           cudaStream_t stream) {
    const tmap_u64 need = items / l->threads + (items % l->threads != 0);
    const tmapi_launch_shape shape = {need < l->blocks ? need : l->blocks, l->threads, l->shared};
    tmap_ask_run run = p->run;
    run.level = level;
    if (!l->kernel || !need) return cudaSuccess;
    return tmapi_launch_plan(l->kernel, shape, &run, sizeof run, job, stream);
}

// All launches of a run. host: 1: the host reads the count of each level before the next one; 0:
// each level is launched for the most regions that it can have.
static inline cudaError_t tmapi_ask_run(const tmap_ask_plan *p, tmap_job job, int host,
                                        cudaStream_t stream) {
    const tmap_ask_workspace *w = p ? &p->run.workspace : 0;
    const tmap_ask_tuning *t = p ? &p->run.tuning : 0;
    const tmap_ask_domain *d;
    tmap_u64 all, regions;
    cudaError_t status;
    if (!p || !job || !w->memory.data || !p->query.kernel || !t->chunk || !t->chunks ||
        !t->chunks_last || !t->fill_elements || !t->fill_warps)
        return cudaErrorInvalidValue;
    d = &w->domain, all = tmapi_ask_volume(d, 1, 0);
    regions =
        tmap_mul_saturate(tmapi_ask_bands(&p->run), tmap_region_olt_size(1, d->g, d->dims - 1));
    status = cudaMemsetAsync(w->control, 0, sizeof *w->control, stream);
    if (!status) status = tmapi_ask_launch(p, &p->whole, TMAP_ASK_WHOLE, all, job, stream);
    for (tmap_u32 l = 0; !status && regions && l < d->levels; ++l) {
        tmap_u64 items = tmap_mul_saturate(regions, p->query.threads), subdivided = regions;
        status = tmapi_ask_launch(p, &p->query, l, items, job, stream);
        if (!status && host) {
            status = cudaMemcpyAsync(&subdivided, &w->control->level[l].subdivided,
                                     sizeof subdivided, cudaMemcpyDeviceToHost, stream);
            if (!status) status = cudaStreamSynchronize(stream);
            if (subdivided > w->table_capacity) subdivided = w->table_capacity;
        }
        items =
            tmap_mul_saturate(subdivided, tmapi_ask_volume(d, tmap_region_parts(d->g, d->r, l), 0));
        if (!status && l + 1 < d->levels)
            status = tmapi_ask_launch(p, &p->share, l, items, job, stream);
        regions = tmap_mul_saturate(subdivided, tmap_region_olt_size(1, d->r, d->dims));
    }
    return status ? status : tmapi_ask_launch(p, &p->finish, 0, all, job, stream);
}

// Runs a plan: enqueues all levels and returns without synchronizing; the kernels read the number
// of regions on the device. Can be captured into a graph. job: the address of the kernels' second
// parameter, of exactly its type; it is read before the function returns.
// Returns cudaErrorInvalidValue for a null pointer or a tuning number of 0, else the first error of
// its own launches. Errors in kernels appear, as after any launch, when you synchronize with the
// stream. Full tables are not errors: the result is still correct, and tmap_ask_counts_read returns
// the number of refused regions.
// Cost: one launch and two for each level, and a memset.
static inline cudaError_t tmap_ask_stream(const tmap_ask_plan *p, tmap_job job,
                                          cudaStream_t stream) {
    return tmapi_ask_run(p, job, 0, stream);
}

// tmap_ask_stream driven by the host: as in the paper, it reads the count of each level and then
// launches the next one. Synchronizes with the stream at every level, so it cannot be captured.
// Returns the errors of tmap_ask_stream, or the first error of a copy or a synchronization.
static inline cudaError_t tmap_ask_host(const tmap_ask_plan *p, tmap_job job, cudaStream_t stream) {
    return tmapi_ask_run(p, job, 1, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
