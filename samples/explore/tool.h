// SPDX-License-Identifier: MIT
// tool.h: what the commands of explore share: options, the machine, times, rows of tables, and files
// that are written safely.
#ifndef EXPLORE_TOOL_H
#define EXPLORE_TOOL_H

#include "../../bench/output.h"
#include "../check.h"
#include "../picture.h"
#include "explore.h"

#include <threadmap/fractal/catalogue.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- options ------------------------------------------------------------------------------------

// An option and its value, which is the default at first.
typedef struct option {
    const char *name, *value;
} option;

// The names of the catalogue's fractals, for help texts.
#define FRACTAL_NAME(name, title, rows, k, sx, sy, tau_x, tau_y) #name ", "
#define FRACTAL_NAMES                                            TMAP_FRACTALS(FRACTAL_NAME)

// Bad input: one line, so that only the first row of a value is shown, and exit status 2.
static inline void bad(const char *what, const char *value) {
    fprintf(stderr, "explore: %s: '%.*s' (see --help)\n", what, (int)strcspn(value, "\r\n"), value);
    exit(2);
}

// Sets the values of options from words "--name value". options: ends with a null name.
static inline void options_read(option *options, int count, char **words, const char *help) {
    for (int i = 0; i < count; i += 2) {
        option *o = options;
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
            exit(fputs(help, stdout) < 0 || fflush(stdout));
        while (o->name && strcmp(o->name, words[i])) ++o;
        if (!o->name) bad("unknown option", words[i]);
        if (i + 1 == count) bad("no value after", words[i]);
        o->value = words[i + 1];
    }
}

// Reads a whole number. what: the error line if it is none or out of range.
static inline tmap_u64 number(const char *what, const char *text, tmap_u64 least, tmap_u64 most) {
    char *end;
    tmap_u64 v;
    errno = 0;
    v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || v < least || v > most) bad(what, text);
    return v;
}

// ---- the machine --------------------------------------------------------------------------------

typedef struct machine {
    char name[256];
    int cpu;         // 1 on the CPU machine, which has no times
    tmap_u64 memory; // bytes that are free on the device, without a reserve
} machine;

// The current device. Without one the program ends with 77.
static inline machine machine_get(void) {
    struct cudaDeviceProp properties;
    machine m;
    size_t left, total;
    int devices;
    if (cudaGetDeviceCount(&devices) || !devices) {
        puts("SKIP: no NVIDIA GPU here");
        exit(77);
    }
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaMemGetInfo(&left, &total));
    m.cpu = !strcmp(properties.name, "CPU SIMT machine");
    snprintf(m.name, sizeof m.name, "%s", m.cpu ? "CPU machine" : properties.name);
    m.memory = left / 16 * 15;
    return m;
}

// Allocates device memory, at least a byte. If there is too little, the option is bad input.
static inline void *device_memory(tmap_u64 bytes, const option *of) {
    char what[128];
    void *memory;
    if (bytes <= machine_get().memory && cudaMalloc(&memory, bytes ? bytes : 1) == cudaSuccess)
        return memory;
    snprintf(what, sizeof what, "%s asks for %.4g GB, which the GPU has not left", of->name,
             (double)bytes / 1e9);
    bad(what, of->value);
    return NULL;
}

// The same in host memory, cleared.
static inline void *host_memory(tmap_u64 bytes, const option *of) {
    char what[128];
    void *memory = bytes == (size_t)bytes ? calloc(bytes ? bytes : 1, 1) : NULL;
    if (memory) return memory;
    snprintf(what, sizeof what, "%s asks for %.4g GB, which the host has not left", of->name,
             (double)bytes / 1e9);
    bad(what, of->value);
    return NULL;
}

// ---- times --------------------------------------------------------------------------------------

static inline int time_compare(const void *a, const void *b) {
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

// Milliseconds of work(job), which enqueues to the default stream: the median of seven, after one
// that warms up. Negative on the CPU machine, where work runs once.
static inline float time_of(const machine *m, void (*work)(void *), void *job) {
    enum { RUNS = 7 };
    float ms[RUNS];
    cudaEvent_t start, stop;
    work(job);
    CHECK(cudaDeviceSynchronize());
    if (m->cpu) return -1;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int i = 0; i < RUNS; ++i) {
        CHECK(cudaEventRecord(start));
        work(job);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms[i], start, stop));
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    qsort(ms, RUNS, sizeof *ms, time_compare);
    return ms[RUNS / 2];
}

// ---- rows ---------------------------------------------------------------------------------------

// Prints the head of a table that compares ways to do one task. items: the name of what threads
// share, at most six letters.
static inline void rows_begin(const char *items) {
    char each[32];
    snprintf(each, sizeof each, "%s/thread", items);
    printf("%-18s %14s %13s %10s %9s  %s\n", "way", "threads", each, "ms", "speedup", "verified");
}

// Prints the row of a way: its threads (0: a dash), its items, its time and that of the first way
// (negative: a dash), and whether its result is right.
static inline void rows_add(const char *way, double threads, double items, float ms, float first_ms,
                            int verified) {
    char launched[32] = "-", each[32] = "-", time[32] = "-", speedup[32] = "-";
    if (threads > 0) {
        snprintf(launched, sizeof launched, "%.0f", threads);
        snprintf(each, sizeof each, "%.3f", items / threads);
    }
    if (ms >= 0) snprintf(time, sizeof time, "%.4f", ms);
    if (ms > 0 && first_ms > 0) snprintf(speedup, sizeof speedup, "%.2fx", first_ms / ms);
    printf("%-18s %14s %13s %10s %9s  %s\n", way, launched, each, time, speedup,
           verified ? "yes" : "NO");
}

// Ends a table: says why a column is missing.
static inline void rows_end(const machine *m) {
    if (m->cpu) puts("No times: this is the CPU machine, which says nothing about a GPU.");
}

// ---- files --------------------------------------------------------------------------------------

// Opens the file of an option. "none": no file, and o->file is null.
static inline void file_begin(output *o, const option *to) {
    char what[128];
    memset(o, 0, sizeof *o);
    if (!strcmp(to->value, "none") || output_open(o, to->value) == 0) return;
    snprintf(what, sizeof what, "%s cannot be written, %s", to->name, strerror(errno));
    bad(what, to->value);
}

// Closes it, if there is one. saved: 1 if all was written; only then the file appears.
static inline void file_end(output *o, int saved, const option *to) {
    char what[128];
    const int error = errno;
    if (!o->file || (output_close(o, saved) == 0 && saved)) return;
    snprintf(what, sizeof what, "%s cannot be written, %s", to->name,
             strerror(saved ? errno : error));
    bad(what, to->value);
}

// Discards the file.
static inline void file_drop(output *o) { output_close(o, 0); }

// Two options must not name one file.
static inline void files_differ(const option *a, const option *b) {
    char what[128];
    if (!strcmp(a->value, "none") || !strcmp(b->value, "none") || !output_same(a->value, b->value))
        return;
    snprintf(what, sizeof what, "%s and %s are one file", a->name, b->name);
    bad(what, b->value);
}

#endif
