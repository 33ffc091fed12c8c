// SPDX-License-Identifier: MIT
// ask_plan.h: the host's part of ask.h: a plan of the launches of a run for this device, and the
// two drivers that go from level to level.
#ifndef TMAP_ADAPTIVE_ASK_PLAN_H
#define TMAP_ADAPTIVE_ASK_PLAN_H

#include "ask_work.h"
#include "../launch.h"

#if TMAP_CUDA && !TMAP_NVRTC

// The kernels of a problem. Each is a __global__ function with two parameters, a tmap_ask_run and
// the problem's job, both by value, and calls one function of the engine for all of its threads:
// query tmap_ask_query, finish tmap_ask_finish, share tmap_ask_share.
typedef struct tmap_ask_kernels {
    const void *query, *finish;
    const void *share; // null where no query reads what others have written
    tmap_u32 threads;  // of a block: a multiple of 32 up to 1024; 0 stands for 256
    tmap_u32 scratch; // bytes of shared memory that the functions of the problem want for each warp
} tmap_ask_kernels;

// A kernel of a plan with its launch.
typedef struct tmap_ask_launch {
    const void *kernel; // null: there is none
    tmap_u32 threads;   // of a block
    tmap_u32 blocks;    // the most that are launched: as many as stay resident, since a warp of a
                        // later block would begin when all others are through
    tmap_u32 shared;    // bytes of dynamic shared memory of a block
} tmap_ask_launch;

// The launches of a run: `whole` once, then for each level `query` and `share`, and `finish` once.
// A caller may change run.tuning, and may lower the blocks of a launch; that changes the speed and
// never the result. A plan belongs to the device that was current when it was made.
typedef struct tmap_ask_plan {
    tmap_ask_run run; // what the kernels get, but for the level
    tmap_ask_launch whole, query, share, finish;
} tmap_ask_plan;

// The most elements of a region of a level, or of the whole domain.
static inline tmap_u64 tmapi_ask_volume(const tmap_ask_domain *d, tmap_u32 level) {
    const tmap_u64 parts = level == TMAP_ASK_WHOLE ? 1 : tmap_region_parts(d->g, d->r, level);
    tmap_u64 elements =
        tmapi_region_mul(tmap_region_side_max(d->nx, parts), tmap_region_side_max(d->ny, parts));
    return d->dims == 3 ? tmapi_region_mul(elements, tmap_region_side_max(d->nz, parts)) : elements;
}

// Fills a launch: `threads` threads in a block, `scratch` bytes for each warp, as many blocks as
// this device holds at once. kernel: may be null.
static inline cudaError_t tmapi_ask_launch_make(const void *kernel, tmap_u32 threads,
                                                tmap_u32 scratch, tmap_ask_launch *out) {
    tmap_ask_launch l = {kernel, threads, 0, 0};
    int device, processors, resident = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    l.shared = tmapi_ask_scratch_first(threads) + threads / 32 * scratch;
    if (kernel) {
        status = tmapi_launch_shared(kernel, l.shared);
        if (status != cudaSuccess) return status;
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)threads,
                                                               l.shared);
        if (status != cudaSuccess) return status;
        if (resident < 1) return cudaErrorInvalidConfiguration;
        l.blocks = (tmap_u32)(processors * resident);
    }
    *out = l;
    return cudaSuccess;
}

// Makes the plan of a problem's runs in a workspace, on the current device. Cost: some tens of
// microseconds of the host's; the plan serves any number of runs, with any job.
// The function returns cudaErrorInvalidValue for a null pointer (only kernels->share may be null),
// a workspace without memory, a number of threads that is not a multiple of 32 up to 1024, or more
// than 4096 bytes of scratch; cudaErrorInvalidConfiguration where a multiprocessor does not hold
// one such block; else the first CUDA error. *out is written only on success.
static inline cudaError_t tmap_ask_plan_make(const tmap_ask_workspace *w,
                                             const tmap_ask_kernels *kernels, tmap_ask_plan *out) {
    tmap_ask_plan p;
    tmap_u64 elements;
    tmap_u32 threads;
    cudaError_t status;
    if (!w || !w->memory || !kernels || !out || !kernels->query || !kernels->finish)
        return cudaErrorInvalidValue;
    threads = kernels->threads ? kernels->threads : 256;
    if (threads % 32 || threads > 1024 || kernels->scratch > 4096) return cudaErrorInvalidValue;
    p.run.workspace = *w;
    p.run.tuning = tmap_ask_tuning_make();
    p.run.scratch = (kernels->scratch + 127) / 128 * 128;
    p.run.level = 0;
    status = tmapi_ask_launch_make(kernels->query, threads, p.run.scratch, &p.query);
    if (status != cudaSuccess) return status;
    status = tmapi_ask_launch_make(kernels->share, threads, p.run.scratch, &p.share);
    if (status != cudaSuccess) return status;
    status = tmapi_ask_launch_make(kernels->finish, threads, p.run.scratch, &p.finish);
    if (status != cudaSuccess) return status;
    p.whole = p.share;
    // A warp should find three pieces or more, of 2048 elements at least.
    elements = tmapi_ask_volume(&w->domain, TMAP_ASK_WHOLE) / (threads / 32 * 3) / p.finish.blocks;
    if (elements < 2048) elements = 2048;
    if (elements < p.run.tuning.fill_elements) p.run.tuning.fill_elements = (tmap_u32)elements;
    *out = p;
    return cudaSuccess;
}

// ---- launches -----------------------------------------------------------------------------------

// Launches a kernel of the plan for `items` pieces of work, `per_block` to a block. The result is
// the launch's own: an earlier error of the caller's is neither returned nor cleared.
static inline cudaError_t tmapi_ask_enqueue(const tmap_ask_plan *p, const tmap_ask_launch *l,
                                            tmap_u32 level, tmap_u64 items, tmap_u64 per_block,
                                            const void *job, cudaStream_t stream) {
    const tmap_u64 need = items / per_block + (items % per_block != 0);
    tmap_ask_run run = p->run;
    void *arguments[2];
    if (!l->kernel || !need) return cudaSuccess;
    run.level = level;
    arguments[0] = &run, arguments[1] = (void *)job;
    return cudaLaunchKernel(l->kernel, dim3(need < l->blocks ? (unsigned)need : l->blocks, 1, 1),
                            dim3(l->threads, 1, 1), arguments, l->shared, stream);
}

// The most regions that a level can have.
static inline tmap_u64 tmapi_ask_most(const tmap_ask_domain *d, tmap_u32 level) {
    return tmap_region_olt_size(1, tmap_region_parts(d->g, d->r, level), d->dims);
}

// What comes before the levels: the counters are cleared, and the whole domain is shared.
static inline cudaError_t tmapi_ask_enqueue_first(const tmap_ask_plan *p, const void *job,
                                                  cudaStream_t stream) {
    const tmap_ask_workspace *w = &p->run.workspace;
    cudaError_t status = cudaMemsetAsync(w->control, 0, sizeof *w->control, stream);
    if (status != cudaSuccess) return status;
    return tmapi_ask_enqueue(p, &p->whole, TMAP_ASK_WHOLE,
                             tmapi_ask_volume(&w->domain, TMAP_ASK_WHOLE), p->whole.threads, job,
                             stream);
}

// regions: of the level, at most. A block, a warp or a few lanes take one.
static inline cudaError_t tmapi_ask_enqueue_query(const tmap_ask_plan *p, tmap_u32 level,
                                                  tmap_u64 regions, const void *job,
                                                  cudaStream_t stream) {
    return tmapi_ask_enqueue(p, &p->query, level, regions, 1, job, stream);
}

// subdivided: the regions that the level subdivides, at most.
static inline cudaError_t tmapi_ask_enqueue_share(const tmap_ask_plan *p, tmap_u32 level,
                                                  tmap_u64 subdivided, const void *job,
                                                  cudaStream_t stream) {
    const tmap_u64 each = level == TMAP_ASK_LEVEL_NOW
                              ? 0x1000000 // not known
                              : tmapi_ask_volume(&p->run.workspace.domain, level);
    return tmapi_ask_enqueue(p, &p->share, level, tmapi_region_mul(subdivided, each),
                             p->share.threads, job, stream);
}

static inline cudaError_t tmapi_ask_enqueue_finish(const tmap_ask_plan *p, const void *job,
                                                   cudaStream_t stream) {
    return tmapi_ask_enqueue(p, &p->finish, 0,
                             tmapi_ask_volume(&p->run.workspace.domain, TMAP_ASK_WHOLE),
                             p->finish.threads, job, stream);
}

static inline int tmapi_ask_refused(const tmap_ask_plan *p, const void *job) {
    const tmap_ask_tuning *t;
    if (!p || !job || !p->run.workspace.memory || !p->query.kernel) return 1;
    t = &p->run.tuning;
    return !t->chunk || !t->chunks || !t->chunks_last || !t->fill_elements || !t->fill_warps;
}

// ---- drivers ------------------------------------------------------------------------------------

// Runs a plan: enqueues all levels at once, whose kernels read on the device how many regions there
// are, and returns without waiting. It can be captured into a graph. job: what the kernels get as
// their second parameter, of exactly its type; it is read before the function returns. No memory is
// allocated. Cost: one launch and two for each level, and a memset.
// The function returns cudaErrorInvalidValue for a null pointer or a tuning number of 0, else the
// first error of its own launches.
static inline cudaError_t tmap_ask_stream(const tmap_ask_plan *p, const void *job,
                                          cudaStream_t stream) {
    const tmap_ask_domain *d;
    cudaError_t status;
    if (tmapi_ask_refused(p, job)) return cudaErrorInvalidValue;
    d = &p->run.workspace.domain;
    status = tmapi_ask_enqueue_first(p, job, stream);
    for (tmap_u32 l = 0; l < d->levels && status == cudaSuccess; ++l) {
        const tmap_u64 most = tmapi_ask_most(d, l);
        status = tmapi_ask_enqueue_query(p, l, most, job, stream);
        if (status == cudaSuccess && l + 1 < d->levels)
            status = tmapi_ask_enqueue_share(p, l, most, job, stream);
    }
    return status == cudaSuccess ? tmapi_ask_enqueue_finish(p, job, stream) : status;
}

// Adds the milliseconds since the last mark to level_ms[level], and starts over. It waits.
static inline cudaError_t tmapi_ask_mark(float *level_ms, cudaEvent_t events[2], tmap_u32 level,
                                         cudaStream_t stream) {
    cudaError_t status;
    float ms = 0;
    if (!level_ms) return cudaSuccess;
    if ((status = cudaEventRecord(events[1], stream)) != cudaSuccess) return status;
    if ((status = cudaEventSynchronize(events[1])) != cudaSuccess) return status;
    if ((status = cudaEventElapsedTime(&ms, events[0], events[1])) != cudaSuccess) return status;
    level_ms[level] += ms;
    return cudaEventRecord(events[0], stream);
}

static inline cudaError_t tmapi_ask_levels_by_host(const tmap_ask_plan *p, const void *job,
                                                   float *level_ms, cudaEvent_t events[2],
                                                   cudaStream_t stream) {
    const tmap_ask_workspace *w = &p->run.workspace;
    const tmap_u64 children = tmap_region_olt_size(1, w->domain.r, w->domain.dims);
    tmap_u64 regions = tmapi_ask_most(&w->domain, 0);
    cudaError_t status = tmapi_ask_enqueue_first(p, job, stream);
    for (tmap_u32 l = 0; status == cudaSuccess && regions && l < w->domain.levels; ++l) {
        tmap_u64 subdivided = 0;
        status = tmapi_ask_enqueue_query(p, l, regions, job, stream);
        if (status == cudaSuccess)
            status = cudaMemcpyAsync(&subdivided, &w->control->level[l].subdivided,
                                     sizeof subdivided, cudaMemcpyDeviceToHost, stream);
        if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
        if (subdivided > w->table_capacity) subdivided = w->table_capacity;
        if (status == cudaSuccess) status = tmapi_ask_enqueue_share(p, l, subdivided, job, stream);
        if (status == cudaSuccess) status = tmapi_ask_mark(level_ms, events, l, stream);
        regions = subdivided * children;
    }
    if (status == cudaSuccess) status = tmapi_ask_enqueue_finish(p, job, stream);
    if (status == cudaSuccess) status = tmapi_ask_mark(level_ms, events, w->domain.levels, stream);
    return status;
}

// The same from the host, which reads the count of each level and launches the next one: for times
// of levels, and for devices on which empty launches cost more than waiting. level_ms: null, or
// TMAP_ASK_LEVELS_MAX + 1 numbers, of which the first `levels` become the milliseconds of the
// levels and the next one those of the last launch; level 0 includes what comes before it.
// The function returns what tmap_ask_stream does, or the first error of a copy, a wait or an event.
static inline cudaError_t tmap_ask_host(const tmap_ask_plan *p, const void *job, float *level_ms,
                                        cudaStream_t stream) {
    cudaEvent_t events[2] = {0, 0};
    cudaError_t status = cudaSuccess;
    if (tmapi_ask_refused(p, job)) return cudaErrorInvalidValue;
    if (level_ms) {
        for (tmap_u32 l = 0; l <= p->run.workspace.domain.levels; ++l) level_ms[l] = 0;
        if ((status = cudaEventCreate(&events[0])) != cudaSuccess) return status;
        status = cudaEventCreate(&events[1]);
        if (status == cudaSuccess) status = cudaEventRecord(events[0], stream);
    }
    if (status == cudaSuccess) status = tmapi_ask_levels_by_host(p, job, level_ms, events, stream);
    for (int i = 0; i < 2; ++i)
        if (events[i]) cudaEventDestroy(events[i]);
    return status;
}

#endif
#endif
