// SPDX-License-Identifier: MIT
// library_check.h: what tests of the library share: random numbers, device memory with guards, and
// calls: sizes first, a workspace that is too small or not aligned, the work.
#ifndef TESTS_LIBRARY_CHECK_H
#define TESTS_LIBRARY_CHECK_H

#include "kit.h"

#include <threadmap/library.h>

static tmap_u64 state = 1;
static inline double uniform(void) { return (double)(kit_random(&state) >> 11) * 0x1p-53; }
static inline int below(int n) { return (int)kit_below(&state, (tmap_u64)n); }

// ---- device memory with guards ------------------------------------------------------------------

enum { GUARD = 256, MOST = 16 };
typedef struct device {
    char *base;
    tmap_u64 bytes;
} device;
static device devices[MOST];
static int device_count;

// Device memory with a copy of `from`, or poison.
static inline void *put(const void *from, tmap_u64 bytes) {
    device *d = &devices[device_count++];
    char *image = (char *)memset(malloc(bytes + 2 * GUARD), KIT_POISON, bytes + 2 * GUARD);
    if (from) memcpy(image + GUARD, from, bytes);
    d->bytes = bytes;
    if (threadmap_allocate((void **)&d->base, bytes + 2 * GUARD) ||
        threadmap_copy(d->base, image, bytes + 2 * GUARD, 0))
        printf("no memory\n"), exit(1);
    free(image);
    return d->base + GUARD;
}

// Copies device memory to the host.
static inline void get(void *to, const void *from, tmap_u64 bytes) {
    RETURNS(threadmap_copy(to, from, bytes, 0), 0);
}

// Frees all device memory and checks the guards.
static inline void clear(void) {
    static char guards[2 * GUARD];
    for (; device_count; --device_count) {
        const device *d = &devices[device_count - 1];
        get(guards, d->base, GUARD), get(guards + GUARD, d->base + GUARD + d->bytes, GUARD);
        expect(kit_all(guards, sizeof guards, KIT_POISON),
               "memory outside the arrays is unchanged");
        RETURNS(threadmap_release(d->base), 0);
    }
}

// Runs a call: sizes first, a workspace that is too small or not aligned, the work.
typedef int (*call)(const void *job, void *workspace, tmap_u64 *bytes, void *stream);
static inline int run(call f, const void *job) {
    tmap_u64 bytes = 0, less;
    char *workspace;
    int error = f(job, 0, &bytes, 0);
    if (error) return error;
    expect(bytes >= 256, "the workspace has 256 bytes or more");
    workspace = (char *)put(0, bytes), less = bytes - 1;
    RETURNS(f(job, workspace, &less, 0), THREADMAP_EWORKSPACE);
    RETURNS(f(job, workspace + 16, &bytes, 0), THREADMAP_EALIGN);
    RETURNS(f(job, workspace, 0, 0), TMAP_EINVAL);
    error = f(job, workspace, &bytes, 0);
    return error ? error : threadmap_wait(0);
}
#define RUN(name, job) run((call)threadmap_##name, job)

// Number i of an array on the host, of 8 bytes if wide, else of 4.
static inline tmap_u64 index_of(const void *array, int wide, tmap_u64 i) {
    return wide ? ((const tmap_u64 *)array)[i] : ((const tmap_u32 *)array)[i];
}

// 1, after a line, if there is no device.
static inline int no_device(void) {
    void *memory = 0;
    if (threadmap_allocate(&memory, 256)) return puts("SKIP: no device"), 1;
    threadmap_release(memory);
    return 0;
}

#endif
