// SPDX-License-Identifier: MIT
// ask_workspace.h: the device memory of a run of ask.h: its tables, lists and counters.
#ifndef TMAP_ADAPTIVE_ASK_WORKSPACE_H
#define TMAP_ADAPTIVE_ASK_WORKSPACE_H

#include "ask_domain.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>
#endif

// ---- counters -----------------------------------------------------------------------------------

// A level's part of the counters, in device memory.
typedef struct tmapi_ask_level {
    tmap_u64 subdivided; // insertions asked for: the count of the table that the next level reads
    tmap_u64 filled, leaves, empty, refused;
    tmap_u64 ticket; // chunks of shared elements handed out
} tmapi_ask_level;

// All that must be 0 before a run.
typedef struct tmapi_ask_control {
    tmapi_ask_level level[TMAP_ASK_LEVELS_MAX];
    tmap_u64 whole_ticket, leaf_ticket, fill_ticket; // chunks handed out
    tmap_u32 level_now;                              // of TMAP_ASK_LEVEL_NOW (ask_run.h)
    tmap_u32 arrived; // at barriers of a grid that stays on the device
} tmapi_ask_control;

// What a run counted at a level. regions = subdivided + filled + leaves; empty regions, which have
// no element, are not among them. refused counts the regions that should have been subdivided and
// found no place in the table: the leaf work computed them, and they are among the leaves.
typedef struct tmap_ask_level_counts {
    tmap_u64 regions, empty, subdivided, filled, leaves, refused;
} tmap_ask_level_counts;

typedef struct tmap_ask_counts {
    tmap_u32 levels;
    tmap_u64 refused; // of all levels; 0: the tables were large enough
    tmap_ask_level_counts level[TMAP_ASK_LEVELS_MAX];
} tmap_ask_counts;

// ---- the workspace ------------------------------------------------------------------------------

// Everything that a run needs besides the problem. One run at a time may use a workspace; runs in
// one stream, one after the other, may share it. The makers below fill it.
typedef struct tmap_ask_workspace {
    tmap_ask_domain domain;
    tmapi_ask_control *control;
    tmap_u64 *even, *odd, *leaf, *fill; // the two tables; regions that wait for the last launch
    tmap_u32 *value;                    // of the regions in `fill`
    tmap_u64 table_capacity, list_capacity;
    void *memory;
    tmap_u64 bytes;
    void *rest; // memory behind all that, for the problem, at a multiple of 256
    tmap_u64 rest_bytes;
} tmap_ask_workspace;

// The entries that tables and lists need at most, or `capacity` if that is less and not 0.
TMAP_FN void tmapi_ask_capacities(const tmap_ask_domain *d, tmap_u64 capacity, tmap_u64 *table,
                                  tmap_u64 *list) {
    tmap_u64 children = tmap_region_olt_size(1, d->r, d->dims);
    tmap_u64 last = tmap_region_parts(d->g, d->r, d->levels - 1);
    tmap_u64 most = TMAPI_ASK_ENTRIES_MAX / children; // the children's numbers have 32 bits
    *list = tmap_region_olt_size(1, last, d->dims);
    *table = *list / children; // tau = 1: no table is needed; a few entries do no harm
    if (capacity && *table > capacity) *table = capacity;
    if (capacity && *list > capacity) *list = capacity;
    if (*table > most) *table = most;
    if (*list > TMAPI_ASK_ENTRIES_MAX) *list = TMAPI_ASK_ENTRIES_MAX;
}

#define TMAPI_ASK_ALIGN(bytes) (((bytes) + 255) / 256 * 256)

// The bytes of device memory that tables, lists and counters take; a problem's own come on top.
// nx, ny, nz: elements along the axes, nz = 0 for two axes. a: as for tmap_ask_domain_make.
// capacity: the most entries of each table and list; 0 stands for as many as can ever be needed, so
// that no region is refused. A run with less is right all the same, and slower.
// The function returns 0 for parameters that tmap_ask_domain_make refuses.
// Cost of capacity 0: 20 bytes for each region that the last level can have, and 16 / r^dims more.
// Example: n = 65536, (16, 4, 16): 22 MB beside the 17 GB of a picture of 32-bit pixels.
TMAP_FN tmap_u64 tmap_ask_workspace_bytes(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_ask_params a,
                                          tmap_u64 capacity) {
    tmap_ask_domain d;
    tmap_u64 table, list;
    if (tmap_ask_domain_make(nx, ny, nz, nz ? 3 : 2, a, &d)) return 0;
    tmapi_ask_capacities(&d, capacity, &table, &list);
    return TMAPI_ASK_ALIGN(sizeof(tmapi_ask_control)) + 2 * TMAPI_ASK_ALIGN(8 * table) +
           2 * TMAPI_ASK_ALIGN(8 * list) + TMAPI_ASK_ALIGN(4 * list);
}

// Makes a workspace in memory of the caller's: `bytes` bytes of device memory at a multiple of 256,
// at least tmap_ask_workspace_bytes. What is left of them stands in out->rest and out->rest_bytes.
// The function returns TMAP_OK, TMAP_EINVAL (a null or misaligned pointer, too few bytes) or what
// tmap_ask_domain_make returns. *out is written only on success.
TMAP_FN int tmap_ask_workspace_set(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz, tmap_ask_params a,
                                   tmap_u64 capacity, void *memory, tmap_u64 bytes,
                                   tmap_ask_workspace *out) {
    tmap_ask_workspace w;
    unsigned char *at = (unsigned char *)memory;
    tmap_u64 need;
    int error;
    if (!out) return TMAP_EINVAL;
    if ((error = tmap_ask_domain_make(nx, ny, nz, nz ? 3 : 2, a, &w.domain)) != TMAP_OK)
        return error;
    need = tmap_ask_workspace_bytes(nx, ny, nz, a, capacity);
    if (!memory || (tmap_u64)memory % 256 || bytes < need) return TMAP_EINVAL;
    tmapi_ask_capacities(&w.domain, capacity, &w.table_capacity, &w.list_capacity);
    w.memory = memory;
    w.bytes = bytes;
    w.control = (tmapi_ask_control *)at;
    at += TMAPI_ASK_ALIGN(sizeof(tmapi_ask_control));
    w.even = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.table_capacity);
    w.odd = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.table_capacity);
    w.leaf = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.list_capacity);
    w.fill = (tmap_u64 *)at, at += TMAPI_ASK_ALIGN(8 * w.list_capacity);
    w.value = (tmap_u32 *)at;
    w.rest = (unsigned char *)memory + need;
    w.rest_bytes = bytes - need;
    *out = w;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// The CUDA error for a code of the functions above.
static inline cudaError_t tmapi_ask_error(int code) {
    return code == TMAP_OK ? cudaSuccess : cudaErrorInvalidValue;
}

// Makes a workspace in memory that is allocated here, without a rest; the arguments are those of
// tmap_ask_workspace_bytes. The function returns cudaErrorInvalidValue for parameters that are
// refused, else what cudaMalloc returns.
static inline cudaError_t tmap_ask_workspace_create(tmap_u64 nx, tmap_u64 ny, tmap_u64 nz,
                                                    tmap_ask_params a, tmap_u64 capacity,
                                                    tmap_ask_workspace *out) {
    tmap_u64 bytes = tmap_ask_workspace_bytes(nx, ny, nz, a, capacity);
    void *memory = 0;
    cudaError_t status;
    int error;
    if (!out || !bytes) return cudaErrorInvalidValue;
    if ((status = cudaMalloc(&memory, bytes)) != cudaSuccess) return status;
    error = tmap_ask_workspace_set(nx, ny, nz, a, capacity, memory, bytes, out);
    if (error) cudaFree(memory);
    return tmapi_ask_error(error);
}

// Frees the memory that a function named _create allocated.
static inline cudaError_t tmap_ask_workspace_destroy(tmap_ask_workspace *w) {
    cudaError_t status = w ? cudaFree(w->memory) : cudaErrorInvalidValue;
    if (w) w->memory = 0;
    return status;
}

// Reads what the last run with this workspace counted. Where the library chose the subdivision,
// levels are those that had a region, none where nothing was subdivided. The function waits for the
// stream, and returns cudaErrorInvalidValue for a null pointer, else what the copy and the wait
// return.
// Example, n = 1024, (2, 2, 1), dwell 512 on the paper's window: subdivided = 4, 14, 50, 170, ...
static inline cudaError_t tmap_ask_counts_read(const tmap_ask_workspace *w, tmap_ask_counts *out,
                                               cudaStream_t stream) {
    tmapi_ask_control control;
    tmap_ask_counts c;
    cudaError_t status;
    if (!w || !w->memory || !out) return cudaErrorInvalidValue;
    status = cudaMemcpyAsync(&control, w->control, sizeof control, cudaMemcpyDeviceToHost, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    if (status != cudaSuccess) return status;
    c.levels = w->domain.b ? w->domain.levels : 0;
    c.refused = 0;
    for (tmap_u32 l = 0; l < TMAP_ASK_LEVELS_MAX; ++l) {
        const tmapi_ask_level *from = &control.level[l];
        tmap_ask_level_counts *to = &c.level[l];
        to->refused = from->refused;
        to->subdivided = from->subdivided - from->refused;
        to->filled = from->filled;
        to->leaves = from->leaves + from->refused;
        to->empty = from->empty;
        to->regions = to->subdivided + to->filled + to->leaves;
        c.refused += to->refused;
        if (w->domain.b == 0 && to->regions) c.levels = l + 1;
    }
    *out = c;
    return cudaSuccess;
}

#endif
#endif
