// SPDX-License-Identifier: MIT
// nvrtc_compile.c: NVRTC as a command, for tests written as scripts.
//
// Usage: nvrtc_compile SOURCE [OPTION...]   PTX goes to stdout. Exit status: 0, 1 (an error or a
// warning, on stderr), 2 (usage), 77 (no NVRTC here).
#include "nvrtc.h"

int main(int argc, char **argv) {
    nvrtc n;
    char *ptx;
    if (argc < 2) {
        fprintf(stderr, "usage: nvrtc_compile SOURCE [OPTION...]\n");
        return 2;
    }
    n = nvrtc_load();
    ptx = nvrtc_compile_file(&n, argv[1], argc - 2, (const char *const *)(argv + 2));
    if (!ptx) return 1;
    fputs(ptx, stdout);
    free(ptx);
    return 0;
}
