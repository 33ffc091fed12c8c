// SPDX-License-Identifier: MIT
// check.h: reports of mistakes. If all files of a program are compiled with -DTMAP_CHECK, each call
// of an engine is compared with its plan. Without it no kernel has an instruction of this header.
//
// The first thread that finds a mistake prints "threadmap: FUNCTION: MISTAKE" and ends the launch;
// the next call that synchronizes returns an error. Launchers compare as well (launch.h).
#ifndef TMAP_CHECK_H
#define TMAP_CHECK_H

#include "core.h"

#if TMAP_CUDA

#if defined(TMAP_CHECK)
#if !TMAP_NVRTC
#include <stdio.h>
#endif
TMAPI_DEVICE_CALL int tmapi_check(int right, const char *function, const char *mistake) {
    static tmap_u32 told;
    if (!right && !atomicExch(&told, 1u)) {
        printf("threadmap: %s: %s\n", function, mistake);
        __trap();
    }
    return right;
}
#define TMAPI_CHECK(right, function, mistake) tmapi_check(right, function, mistake)
#else
#define TMAPI_CHECK(right, function, mistake) (sizeof(right) + sizeof(function) != 0)
#endif

// Ends the launch where a plan cannot serve a call, whose results would be missing: the next call
// that synchronizes returns cudaErrorLaunchFailure.
TMAP_DEVICE void tmapi_refuse(const char *function) {
    // With TMAP_CHECK the thread that prints ends the launch, after its text.
    if (TMAPI_CHECK(0, function, "no maker of plans for this call has made the plan")) __trap();
}

#endif // TMAP_CUDA
#endif
