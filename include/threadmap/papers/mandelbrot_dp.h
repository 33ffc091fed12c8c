// SPDX-License-Identifier: MIT
// mandelbrot_dp.h: the Mandelbrot set by CUDA dynamic parallelism (DP), the baseline of adaptive
// serial kernels. A block queries a region. To subdivide it, it launches a kernel for its children.
//
//     DP-SBR: the block fills a uniform region, or computes a leaf
//     DP-MBR: it launches a kernel of several blocks for that
//
// Dwell, rule, shared borders and regions are those of adaptive/mandelbrot.h, so the picture is
// that of ASK in every bit, unless launches were lost: a device keeps a limited number of launches
// pending (cudaLimitDevRuntimePendingLaunchCount, 2048 by default), and one beyond the limit does
// not happen. Each launch is checked on the device, and failed ones are counted.
//
// Only for files compiled with -rdc=true and linked with cudadevrt; elsewhere TMAP_DP (dp.h) is 0
// and the functions return cudaErrorNotSupported.
//
// Source: Quezada, Navarro, Romero, Aguilera, FGCS 145 (2023), sections 3 and 6.
#ifndef TMAP_PAPERS_MANDELBROT_DP_H
#define TMAP_PAPERS_MANDELBROT_DP_H

#include "../adaptive/mandelbrot_picture.h"
#include "ask_sbr.h"
#include "dp.h"

#if TMAP_CUDA && !TMAP_NVRTC

// How dynamic parallelism computes a picture.
typedef struct tmap_mandelbrot_dp {
    int form;          // TMAP_ASK_SBR or TMAP_ASK_MBR
    tmap_ask_params a; // as for tmap_mandelbrot_workspace_bytes; g <= 65535
    tmap_u32 threads;  // of a block: a multiple of 32 up to 512; 0: 256
    tmap_u64 pending;  // 0, or the device's new limit of pending launches, which remains set after
                       // the call and takes device memory for each
    int *columns;      // null, or tmap_mandelbrot_dp_columns_bytes bytes of device memory for the
                       // columns of borders
    tmap_u64 *lost;    // in device memory: receives the number of failed launches, whose pixels
                       // are not written
} tmap_mandelbrot_dp;

#if TMAP_DP
#include "../adaptive/mandelbrot.h"
#include "../adaptive/mandelbrot_f64.h"

// No kernel waits for a child, and children need not wait for each other.
#if defined(cudaStreamFireAndForget)
#define TMAPI_MANDELBROT_DP_STREAM cudaStreamFireAndForget
#else
#define TMAPI_MANDELBROT_DP_STREAM ((cudaStream_t)0)
#endif

#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f32
#include "mandelbrot_dp_stamp.h"
#define TMAPI_MANDELBROT_NAME tmapi_mandelbrot_f64
#include "mandelbrot_dp_stamp.h"

#endif

// Bytes of the columns of borders; 0 if they are kept in the picture, or for refused arguments.
TMAP_FN tmap_u64 tmap_mandelbrot_dp_columns_bytes(const tmap_mandelbrot *m, tmap_ask_params a) {
    tmap_ask_domain d;
    if (tmap_ask_domain_make(tmapi_mandelbrot_box(m), a, &d)) return 0;
    return tmapi_mandelbrot_columns(&d);
}

// Writes the dwells of a picture, computed in float, by dynamic parallelism. out: as for
// tmap_mandelbrot_f32. Returns cudaErrorInvalidValue for an argument outside its range, before any
// launch; cudaErrorNotSupported without -rdc=true; else the first error of the host's calls.
static inline cudaError_t tmap_mandelbrot_dp_f32(const tmap_mandelbrot *m,
                                                 const tmap_mandelbrot_dp *how, int *out,
                                                 cudaStream_t stream) {
#if TMAP_DP
    return tmapi_mandelbrot_f32_dp_launch(m, how, out, stream);
#else
    (void)m, (void)how, (void)out, (void)stream;
    return cudaErrorNotSupported;
#endif
}

// tmap_mandelbrot_dp_f32 in double.
static inline cudaError_t tmap_mandelbrot_dp_f64(const tmap_mandelbrot *m,
                                                 const tmap_mandelbrot_dp *how, int *out,
                                                 cudaStream_t stream) {
#if TMAP_DP
    return tmapi_mandelbrot_f64_dp_launch(m, how, out, stream);
#else
    (void)m, (void)how, (void)out, (void)stream;
    return cudaErrorNotSupported;
#endif
}

#endif
#endif
