// SPDX-License-Identifier: MIT
// devices_check.h: runs a test with the facts of each compute capability that the CPU machine knows:
// shared memory, threads and blocks of a multiprocessor. A GPU has its own facts and runs it once.
#ifndef TESTS_TRIANGLE_DEVICES_CHECK_H
#define TESTS_TRIANGLE_DEVICES_CHECK_H

#include <stdlib.h>

static inline void on_all_devices(void (*run)(const char *device)) {
    const char *const devices[] = {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"};
    const char *before = getenv("SIMT_DEVICE");
#if defined(SIMT_RUNTIME_H)
    const int count = 7;
#else
    const int count = 1;
#endif
    for (int i = 0; i < count; ++i) {
        setenv("SIMT_DEVICE", devices[i], 1);
        run(devices[i]);
        if (before)
            setenv("SIMT_DEVICE", before, 1);
        else
            unsetenv("SIMT_DEVICE");
    }
}

#endif
