// SPDX-License-Identifier: MIT
// ask_drivers.h: a problem of adaptive/ask.h in both forms and by all drivers, by number: for
// comparisons.
#ifndef TMAP_RIVALS_ASK_DRIVERS_H
#define TMAP_RIVALS_ASK_DRIVERS_H

#include "ask_cooperative.h"
#include "ask_graph.h"
#include "ask_sbr.h"

// Who goes from level to level.
typedef enum tmap_ask_driver {
    TMAP_ASK_HOST,       // the host reads the count and launches the next level: the paper's
    TMAP_ASK_STREAM,     // all levels are enqueued at once, kernels read the count: no waiting
    TMAP_ASK_GRAPH,      // a graph with a WHILE node (CUDA >= 12.4)
    TMAP_ASK_COOPERATIVE // one cooperative launch with barriers over the grid
} tmap_ask_driver;

#define TMAP_ASK_DRIVER_COUNT 4

// "host", "stream", "graph", "cooperative"; "?" for any other number.
TMAP_FN const char *tmap_ask_driver_name(int driver) {
    switch (driver) {
    case TMAP_ASK_HOST: return "host";
    case TMAP_ASK_STREAM: return "stream";
    case TMAP_ASK_GRAPH: return "graph";
    case TMAP_ASK_COOPERATIVE: return "cooperative";
    default: return "?";
    }
}

#if TMAP_CUDA && !TMAP_NVRTC

// The plans of all of them.
typedef struct tmap_ask_drivers_plan {
    tmap_ask_plan form[TMAP_ASK_FORM_COUNT];
    tmap_ask_cooperative_plan cooperative;
} tmap_ask_drivers_plan;

// kernels: of form MBR. blocks, cooperative: kernels that call tmap_ask_blocks and
// tmap_ask_all_levels. Returns what tmap_ask_plan_make does.
static inline cudaError_t tmap_ask_drivers_plan_make(const tmap_ask_workspace *w,
                                                     const tmap_ask_kernels *kernels,
                                                     const void *blocks, const void *cooperative,
                                                     tmap_ask_drivers_plan *out) {
    tmap_ask_drivers_plan p;
    tmap_ask_kernels sbr;
    cudaError_t status;
    if (!kernels || !out) return cudaErrorInvalidValue;
    sbr = *kernels;
    sbr.query = blocks;
    sbr.threads = 0;
    status = tmap_ask_plan_make(w, kernels, &p.form[TMAP_ASK_MBR]);
    if (status == cudaSuccess) status = tmap_ask_sbr_plan_make(w, &sbr, &p.form[TMAP_ASK_SBR]);
    if (status == cudaSuccess)
        status = tmap_ask_cooperative_plan_make(w, cooperative, kernels->threads, kernels->scratch,
                                                &p.cooperative);
    if (status == cudaSuccess) *out = p;
    return status;
}

// Runs a problem. level_ms: null, or numbers for the host driver. Returns cudaErrorInvalidValue for
// a null pointer or an unknown form or driver, cudaErrorNotSupported for a driver that is not
// there, else the first CUDA error.
static inline cudaError_t tmap_ask_drive(const tmap_ask_drivers_plan *p, int form, int driver,
                                         const void *job, float *level_ms, cudaStream_t stream) {
    if (!p || !job || form < 0 || form >= TMAP_ASK_FORM_COUNT) return cudaErrorInvalidValue;
    switch (driver) {
    case TMAP_ASK_HOST: return tmap_ask_host(&p->form[form], job, level_ms, stream);
    case TMAP_ASK_STREAM: return tmap_ask_stream(&p->form[form], job, stream);
    case TMAP_ASK_COOPERATIVE: return tmap_ask_cooperative(&p->cooperative, form, job, stream);
    case TMAP_ASK_GRAPH:
#if TMAP_ASK_GRAPHS
        return tmap_ask_graph(&p->form[form], job, stream);
#else
        return cudaErrorNotSupported;
#endif
    default: return cudaErrorInvalidValue;
    }
}

#endif
#endif
