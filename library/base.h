// SPDX-License-Identifier: MIT
// base.h: what all sources of the library share: errors, pointers, and the workspace.
#ifndef THREADMAP_BASE_H
#define THREADMAP_BASE_H

#include <initializer_list>
#include <threadmap/launch.h>
#include <threadmap/library.h>

// A code of library.h for that of a header, which has one error for all mistakes.
static inline int base_error(cudaError_t error) {
    return error == cudaErrorInvalidValue           ? TMAP_EINVAL
           : error == cudaErrorInvalidConfiguration ? TMAP_ERANGE
                                                    : (int)error;
}

// A pointer of a job: `align`: what it must be at a multiple of. must: it may not be null.
struct base_pointer {
    const void *at;
    tmap_u64 align;
    int must;
};

// The error of the first pointer that is wrong.
static inline int base_wrong(std::initializer_list<base_pointer> pointers) {
    for (const base_pointer &p : pointers)
        if ((tmap_u64)p.at % p.align || (!p.at && p.must))
            return p.at ? THREADMAP_EALIGN : TMAP_EINVAL;
    return TMAP_OK;
}

// Takes the next part of a workspace, at a multiple of 256. Returns where it begins.
static inline tmap_u64 base_part(tmap_u64 *end, tmap_u64 bytes) {
    const tmap_u64 at = *end;
    *end += (bytes + 255) / 256 * 256;
    return at;
}

// 1 if the call ends here: *error says whether it was asked for the bytes of the workspace, `need`,
// or cannot use the workspace.
static inline int base_ends(void *workspace, tmap_u64 *bytes, tmap_u64 need, int *error) {
    const tmap_u64 whole = need < 256 ? 256 : need;
    *error = TMAP_OK;
    if (!bytes)
        *error = TMAP_EINVAL;
    else if (!workspace)
        *bytes = whole;
    else if ((tmap_u64)workspace % 256)
        *error = THREADMAP_EALIGN;
    else if (*bytes < whole)
        *error = THREADMAP_EWORKSPACE;
    return *error || !workspace;
}

#endif
