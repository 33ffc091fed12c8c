// SPDX-License-Identifier: MIT
// ask_plan.h: the host's part of adaptive serial kernels (ask.h): a domain and its subdivision, the
// device memory of a run, a plan of its launches, and two drivers that go from level to level.
//
//     tmap_ask_box box = {nx, ny, 0}; // two axes
//     tmap_ask_kernels kernels = {(const void *)disc_ask, (const void *)disc_end, 0, 0, 0};
//     tmap_ask_workspace_create(box, params, 0, &workspace);
//     tmap_ask_plan_make(&workspace, &kernels, &plan);
//     tmap_ask_stream(&plan, &job, stream); // as often as one likes
#ifndef TMAP_ADAPTIVE_ASK_PLAN_H
#define TMAP_ADAPTIVE_ASK_PLAN_H

#include "ask.h"
#include "region.h"

// ---- the domain ---------------------------------------------------------------------------------

// The elements of a domain; nz = 0: of two axes.
typedef struct tmap_ask_box {
    tmap_u64 nx, ny, nz;
} tmap_ask_box;

// A part number has 21 bits, so that three of them fit a scalar.
#define TMAPI_ASK_PARTS_MAX   0x200000ull
#define TMAPI_ASK_ENTRIES_MAX 0xffffffffull

// The most elements of a region of n / parts along each axis, with `frame` more along each.
TMAP_FN tmap_u64 tmapi_ask_volume(const tmap_ask_domain *d, tmap_u64 parts, tmap_u64 frame) {
    const tmap_u64 elements = tmap_mul_saturate(tmap_region_side_max(d->nx, parts) + frame,
                                                tmap_region_side_max(d->ny, parts) + frame);
    return d->dims == 2 ? elements
                        : tmap_mul_saturate(elements, tmap_region_side_max(d->nz, parts) + frame);
}

// 1 if a region of level 0 has too many elements: with 31 more along each axis they must be below
// 2^31, so that a step beyond them fits.
TMAP_FN int tmapi_ask_too_large(const tmap_ask_domain *d) {
    return tmapi_ask_volume(d, d->g, 31) > 0x7fffffffull;
}

// Chooses a subdivision: r = 4, and last regions with a side of 16, of 32 where rows of them begin
// anywhere, or of 8 with three axes, but no more than 2048 or 128 along an axis.
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

// Fills a domain: tau levels by tmap_region_levels, of g r^level parts along each axis. a: as for
// tmap_region_check with n the longest side; or all three 0, for which they are chosen.
// Returns TMAP_OK; TMAP_EINVAL for a null pointer, nx = 0, ny = 0, g, r or b; TMAP_ERANGE for b > n
// / g, a side beyond 2^31 - 1, more than 2^21 parts along an axis, 2^32 regions at level 0, a
// region of level 0 with 2^31 elements (with 31 more along each axis), or r^dims above 2^20. *out
// is written only on success.
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

// Puts the parts of a workspace one after the other, from w->memory.data on.
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

// The bytes of device memory of a workspace. capacity: the most entries of each table and list; 0:
// as many as can be needed: 20 bytes for each region of the last level and 16 / r^dims more. A run
// with less is right all the same, and slower.
// Returns 0 for what tmap_ask_domain_make refuses.
// Example: n = 65536, (16, 4, 16): 22 MB beside the 17 GB of a picture of 32-bit pixels.
TMAP_FN tmap_u64 tmap_ask_workspace_bytes(tmap_ask_box box, tmap_ask_params a, tmap_u64 capacity) {
    tmap_ask_workspace w;
    if (tmap_ask_domain_make(box, a, &w.domain)) return 0;
    w.memory.data = 0;
    tmapi_ask_lay_out(&w, capacity);
    return (tmap_u64)w.rest.data;
}

// Makes a workspace in device memory of the caller's, at a multiple of 256; what is left of it
// becomes out->rest. Returns TMAP_OK, TMAP_EINVAL (a null or misaligned pointer, too few bytes) or
// what tmap_ask_domain_make returns. *out is written only on success.
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

// What a run counted at a level. regions = subdivided + filled + leaves, without empty ones.
// refused: regions that found no place in the table; they are among the leaves.
typedef struct tmap_ask_level_counts {
    tmap_u64 regions, empty, subdivided, filled, leaves, refused;
} tmap_ask_level_counts;

typedef struct tmap_ask_counts {
    tmap_u32 levels;
    tmap_u64 refused; // of all levels; 0: the tables were large enough
    tmap_ask_level_counts level[TMAP_ASK_LEVELS_MAX];
} tmap_ask_counts;

// ---- the plan -----------------------------------------------------------------------------------

// The kernels of a problem. Each is a __global__ function of a tmap_ask_run and the problem's job,
// both by value, and calls one function of the engine in all of its threads: query tmap_ask_query,
// finish tmap_ask_finish, share tmap_ask_share.
typedef struct tmap_ask_kernels {
    const void *query, *finish;
    const void *share; // null where no query reads what others have written
    tmap_u32 threads;  // of a block: a multiple of 32 up to 1024; 0: 256
    tmap_u32 scratch;  // bytes of shared memory that the problem's functions want for each warp
} tmap_ask_kernels;

// What a plan is made from.
typedef struct tmap_ask_facts {
    tmap_device_facts device;
    tmap_kernel_facts query, finish, share; // share: not read where there is none
} tmap_ask_facts;

// A kernel of a plan with its launch.
typedef struct tmap_ask_launch {
    const void *kernel; // null: there is none
    tmap_u32 threads;   // of a block
    tmap_u32 blocks;    // the most that are launched: as many as stay resident
    tmap_u32 shared;    // bytes of dynamic shared memory of a block
} tmap_ask_launch;

// The launches of a run: `whole` once, then for each level `query` and `share`, and `finish` once.
// A caller may change run.tuning and lower the blocks of a launch. A plan belongs to its device.
typedef struct tmap_ask_plan {
    tmap_ask_run run; // what the kernels get, but for the level
    tmap_ask_launch whole, query, share, finish;
} tmap_ask_plan;

// What was the best for the Mandelbrot set on an H200.
TMAP_FN tmap_ask_tuning tmap_ask_tuning_make(void) {
    const tmap_ask_tuning t = {256, 12, 24, 16384, 512, 8, 256, 19, 69};
    return t;
}

// Fills a launch: as many blocks as the device holds at once. kernel: may be null.
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

// Makes the plan of a problem's runs in a workspace from facts. The kernels' pointers are copied
// and not followed.
// Returns TMAP_OK; TMAP_EINVAL for a null pointer (only kernels->share may be null), a workspace
// without memory, a number of threads that is not a multiple of 32 up to 1024, or more than 4096
// bytes of scratch; TMAP_ERANGE where a multiprocessor does not hold one block. *out is written
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
    // In a small domain a warp should find three pieces or more, of 2048 elements at least.
    elements = tmapi_ask_volume(&w->domain, 1, 0) / (k.threads / 32 * 3) / p.finish.blocks;
    if (elements < 2048) elements = 2048;
    if (elements < p.run.tuning.fill_elements) p.run.tuning.fill_elements = (tmap_u32)elements;
    *out = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// The facts of the kernels of a problem on the current device. Returns cudaErrorInvalidValue for a
// null pointer, else the first error of a CUDA call.
static inline cudaError_t tmap_ask_facts_get(const tmap_ask_kernels *k, tmap_ask_facts *out) {
    cudaError_t status = k && out ? tmap_device_facts_get(&out->device) : cudaErrorInvalidValue;
    if (!status) status = tmap_kernel_facts_get(k->query, &out->query);
    if (!status) status = tmap_kernel_facts_get(k->finish, &out->finish);
    return !status && k->share ? tmap_kernel_facts_get(k->share, &out->share) : status;
}

// Lets the kernels of a plan have their shared memory. error: what tmap_ask_plan_of returned.
static inline cudaError_t tmapi_ask_plan_ready(int error, const tmap_ask_plan *p) {
    cudaError_t status = cudaSuccess;
    if (error) return tmapi_launch_error(error);
    if (p->share.kernel) status = tmapi_launch_shared(p->share.kernel, p->share.shared);
    if (status == cudaSuccess) status = tmapi_launch_shared(p->query.kernel, p->query.shared);
    return status == cudaSuccess ? tmapi_launch_shared(p->finish.kernel, p->finish.shared) : status;
}

// The same on the current device. The plan serves any number of runs, with any job.
// Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for TMAP_ERANGE,
// else the first CUDA error. *out is written only on success.
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

// Makes a workspace in memory that is allocated here, without a rest. Returns cudaErrorInvalidValue
// for what tmap_ask_workspace_set refuses, else what cudaMalloc returns.
static inline cudaError_t tmap_ask_workspace_create(tmap_ask_box box, tmap_ask_params a,
                                                    tmap_u64 capacity, tmap_ask_workspace *out) {
    const tmap_u64 bytes = tmap_ask_workspace_bytes(box, a, capacity);
    return tmapi_ask_workspace_allocate(box, a, capacity, bytes, out);
}

// Frees the memory that a function named _create allocated.
static inline cudaError_t tmap_ask_workspace_destroy(tmap_ask_workspace *w) {
    cudaError_t status = w ? cudaFree(w->memory.data) : cudaErrorInvalidValue;
    if (w) w->memory.data = 0;
    return status;
}

// Reads what the last run with this workspace counted; it waits for the stream. Where the library
// chose the subdivision, levels are those that had a region. Returns cudaErrorInvalidValue for a
// null pointer, else what the copy and the wait return.
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

// In as many blocks as `items` threads fill.
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

// All launches of a run. host: the host reads the count of each level before it goes on; else every
// level is launched for as many regions as it can have.
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
    regions = tmap_region_olt_size(1, d->g, d->dims);
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

// Runs a plan: enqueues all levels at once, whose kernels read on the device how many regions there
// are, and returns without waiting. It can be captured into a graph. job: what the kernels get as
// their second parameter, of exactly its type; it is read before the function returns.
// Returns cudaErrorInvalidValue for a null pointer or a tuning number of 0, else the first error of
// its own launches. Cost: one launch and two for each level, and a memset.
static inline cudaError_t tmap_ask_stream(const tmap_ask_plan *p, tmap_job job,
                                          cudaStream_t stream) {
    return tmapi_ask_run(p, job, 0, stream);
}

// The same by the host, which reads the count of each level and launches the next one, as in the
// paper. Returns what tmap_ask_stream does, or the first error of a copy or a wait.
static inline cudaError_t tmap_ask_host(const tmap_ask_plan *p, tmap_job job, cudaStream_t stream) {
    return tmapi_ask_run(p, job, 1, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
