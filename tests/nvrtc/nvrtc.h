// SPDX-License-Identifier: MIT
// nvrtc.h: compiles CUDA source to PTX through NVRTC, which is found at run time: tests that use it
// build everywhere, and where there is no libnvrtc they are skipped. C11, POSIX.
#ifndef TEST_NVRTC_H
#define TEST_NVRTC_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As <nvrtc.h> declares them, without needing it. 0 is success.
typedef struct nvrtc {
    int (*version)(int *major, int *minor);
    int (*create)(void **program, const char *source, const char *name, int headers,
                  const char *const *header_texts, const char *const *header_names);
    int (*compile)(void *program, int options, const char *const *option);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *text);
    int (*ptx_size)(void *program, size_t *size);
    int (*ptx)(void *program, char *text);
    int (*destroy)(void **program);
    const char *(*error)(int code);
} nvrtc;

// ---- finding it ---------------------------------------------------------------------------------

// Opens libnvrtc in a folder ("" for the loader's own search).
static inline void *nvrtc_open_in(const char *folder) {
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
    for (int i = 0; i < 3; ++i) {
        char path[4200];
        void *library;
        snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", names[i]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

// Next to the first nvcc on PATH: TOOLKIT/bin/nvcc has TOOLKIT/lib64, and from wheels TOOLKIT/lib.
static inline void *nvrtc_open_beside_nvcc(void) {
    const char *path = getenv("PATH");
    while (path && *path) {
        char folder[4000], file[4100];
        int n = (int)strcspn(path, ":");
        void *library = NULL;
        snprintf(folder, sizeof folder, "%.*s", n, path);
        snprintf(file, sizeof file, "%s/nvcc", folder);
        FILE *nvcc = fopen(file, "r");
        if (nvcc) {
            fclose(nvcc);
            snprintf(file, sizeof file, "%s/../lib64", folder);
            library = nvrtc_open_in(file);
            if (!library) {
                snprintf(file, sizeof file, "%s/../lib", folder);
                library = nvrtc_open_in(file);
            }
        }
        if (library) return library;
        path += n + (path[n] == ':');
    }
    return NULL;
}

static inline void nvrtc_symbol(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("SKIP: this libnvrtc has no %s\n", name);
        exit(77);
    }
    memcpy(function, &symbol, sizeof symbol); // C has no cast from void * to a function
}

// Loads NVRTC, or ends the program as skipped.
static inline nvrtc nvrtc_load(void) {
    nvrtc n;
    void *library = nvrtc_open_in("");
    if (!library) library = nvrtc_open_beside_nvcc();
    if (!library) library = nvrtc_open_in("/usr/local/cuda/lib64");
    if (!library) {
        printf("SKIP: no libnvrtc\n");
        exit(77);
    }
    nvrtc_symbol(library, "nvrtcVersion", &n.version);
    nvrtc_symbol(library, "nvrtcCreateProgram", &n.create);
    nvrtc_symbol(library, "nvrtcCompileProgram", &n.compile);
    nvrtc_symbol(library, "nvrtcGetProgramLogSize", &n.log_size);
    nvrtc_symbol(library, "nvrtcGetProgramLog", &n.log);
    nvrtc_symbol(library, "nvrtcGetPTXSize", &n.ptx_size);
    nvrtc_symbol(library, "nvrtcGetPTX", &n.ptx);
    nvrtc_symbol(library, "nvrtcDestroyProgram", &n.destroy);
    nvrtc_symbol(library, "nvrtcGetErrorString", &n.error);
    return n;
}

// ---- using it -----------------------------------------------------------------------------------

// The text of a file; free() it. NULL where it cannot be read.
static inline char *nvrtc_read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        text = (char *)calloc((size_t)size + 1, 1);
        if (text && fread(text, 1, (size_t)size, file) != (size_t)size) text[0] = 0;
    }
    if (file) fclose(file);
    return text;
}

// The PTX of a source file, ending with 0; free() it. NULL, with the log on stderr, where it does
// not compile or compiles with a warning.
static inline char *nvrtc_compile_file(const nvrtc *n, const char *path, int options,
                                       const char *const *option) {
    char *source = nvrtc_read_file(path), *log = NULL, *ptx = NULL;
    void *program = NULL;
    size_t size = 0;
    int code;
    if (!source) {
        fprintf(stderr, "cannot read %s\n", path);
        return NULL;
    }
    code = n->create(&program, source, path, 0, NULL, NULL);
    if (code == 0) code = n->compile(program, options, option);
    if (program && n->log_size(program, &size) == 0 && size > 1 &&
        (log = (char *)calloc(size + 1, 1)))
        n->log(program, log);
    if (log && log[0]) fprintf(stderr, "%s", log);
    if (code != 0)
        fprintf(stderr, "%s: %s\n", path, n->error(code));
    else if (!(log && strstr(log, "warning")) && n->ptx_size(program, &size) == 0 &&
             (ptx = (char *)calloc(size + 1, 1)))
        n->ptx(program, ptx);
    if (program) n->destroy(&program);
    free(source);
    free(log);
    return ptx;
}

#endif
