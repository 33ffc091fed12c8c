// SPDX-License-Identifier: MIT
// ask_cooperative.h: a run of adaptive/ask.h in one cooperative launch, with barriers of the whole
// grid between the levels.
#ifndef TMAP_RIVALS_ASK_COOPERATIVE_H
#define TMAP_RIVALS_ASK_COOPERATIVE_H

#include "ask_sbr.h"

#if TMAP_CUDA

// A barrier of all threads of a cooperative launch. turn: 0 before the first one.
TMAP_DEVICE void tmapi_ask_barrier(tmapi_ask_control *control, tmap_u32 *turn) {
    __syncthreads();
    *turn += gridDim.x;
    if (tmap_thread_rank() == 0) {
        __threadfence();
        atomicAdd(&control->arrived, 1u);
        while (*(volatile tmap_u32 *)&control->arrived < *turn) {
        }
        __threadfence();
    }
    __syncthreads();
}

// All levels of a run. run->level is the form, a tmap_ask_form. share: null where no query reads
// what others have written. short_elements, short_leaf: of regions that find no place in form MBR.
// The other parameters are those of tmap_ask_query.
TMAP_DEVICE void
tmap_ask_all_levels(const tmap_ask_run *run, tmap_ask_query_fn query, tmap_ask_terminal_fn terminal,
                    tmap_ask_elements_fn leaf_elements, tmap_ask_work_fn leaf,
                    tmap_ask_elements_fn short_elements, tmap_ask_work_fn short_leaf,
                    tmap_ask_elements_fn share_elements, tmap_ask_work_fn share, const void *job) {
    const int form = (int)run->level;
    tmap_ask_run now = *run;
    tmap_u32 turn = 0;
    for (now.level = TMAP_ASK_WHOLE; now.level + 1 <= now.workspace.domain.levels; ++now.level) {
        if (now.level != TMAP_ASK_WHOLE) {
            if (form == TMAP_ASK_SBR)
                tmap_ask_blocks(&now, query, terminal, leaf_elements, leaf, share_elements, share,
                                job);
            else
                tmap_ask_query(&now, query, terminal, short_elements, short_leaf, job);
            tmapi_ask_barrier(now.workspace.control, &turn);
            // the same in all threads
            if (tmap_olt_stored(tmapi_ask_table(&now, now.level)) == 0) break;
        }
        if (share && (form == TMAP_ASK_MBR || now.level == TMAP_ASK_WHOLE)) {
            tmap_ask_share(&now, share_elements, share, job);
            tmapi_ask_barrier(now.workspace.control, &turn);
        }
    }
    if (form == TMAP_ASK_MBR) tmap_ask_finish(&now, terminal, leaf_elements, leaf, job);
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// One launch of all levels.
typedef struct tmap_ask_cooperative_plan {
    tmap_ask_run run;
    tmap_ask_launch all; // its blocks must be resident at once
} tmap_ask_cooperative_plan;

// kernel: calls tmap_ask_all_levels, with parameters as in tmap_ask_kernels. threads: 0 stands for
// 256. Returns what tmap_ask_plan_make does.
static inline cudaError_t tmap_ask_cooperative_plan_make(const tmap_ask_workspace *w,
                                                         const void *kernel, tmap_u32 threads,
                                                         tmap_u32 scratch,
                                                         tmap_ask_cooperative_plan *out) {
    const tmap_ask_kernels all = {kernel, kernel, 0, threads, scratch};
    tmap_ask_plan p;
    cudaError_t status = out ? tmap_ask_plan_make(w, &all, &p) : cudaErrorInvalidValue;
    if (status != cudaSuccess) return status;
    out->run = p.run, out->all = p.query;
    return cudaSuccess;
}

// Runs a plan in a form. Returns cudaErrorNotSupported where the device has no cooperative launch,
// cudaErrorInvalidValue for a null pointer or an unknown form, else the first CUDA error.
static inline cudaError_t tmap_ask_cooperative(const tmap_ask_cooperative_plan *p, int form,
                                               const void *job, cudaStream_t stream) {
    int device, cooperative = 0;
    void *arguments[2];
    tmap_ask_run run;
    cudaError_t status;
    if (!p || !job || form < 0 || form >= TMAP_ASK_FORM_COUNT) return cudaErrorInvalidValue;
    if ((status = cudaGetDevice(&device)) != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (status != cudaSuccess) return status;
    if (!cooperative) return cudaErrorNotSupported;
    run = p->run;
    run.level = (tmap_u32)form;
    status = cudaMemsetAsync(run.workspace.control, 0, sizeof *run.workspace.control, stream);
    if (status != cudaSuccess) return status;
    arguments[0] = &run, arguments[1] = (void *)job;
    return cudaLaunchCooperativeKernel(p->all.kernel, dim3(p->all.blocks, 1, 1),
                                       dim3(p->all.threads, 1, 1), arguments, p->all.shared,
                                       stream);
}

#endif
#endif
