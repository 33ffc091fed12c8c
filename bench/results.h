// SPDX-License-Identifier: MIT
// results.h: the results of one benchmark as JSON, in the form that bench/README.md describes, and
// its progress bar.
//
// The file appears whole or not at all (output.h).
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "output.h"
#include "timing.h"

#include <time.h>

typedef struct bench_results {
    output to;
    FILE *file; // that of `to`; null: nothing is written
    int rows;
} bench_results;

// A text as a JSON string; characters that JSON would have to escape are left out.
static void bench_json_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; text && *text; ++text)
        if (*text >= ' ' && *text != '"' && *text != '\\') fputc(*text, file);
    fputc('"', file);
}

static void bench_json_meta(FILE *file, const char *key, const char *text) {
    fprintf(file, "    \"%s\": ", key);
    bench_json_text(file, text ? text : "unknown");
    fputs(",\n", file);
}

// Opens the results of `bench` at `path` (null: none) and writes what is known before the first
// row. What the program cannot know (commit, driver, clock) comes from the variables TMAP_COMMIT,
// TMAP_DRIVER, TMAP_NVCC, TMAP_SM_CLOCK_MHZ. Returns 0, or -1 where the file cannot be written.
static int bench_results_open(bench_results *out, const char *path, const char *bench,
                              bench_ceilings c) {
    struct cudaDeviceProp device;
    char date[32];
    time_t now = time(NULL);
    const char *clock = getenv("TMAP_SM_CLOCK_MHZ");
    memset(out, 0, sizeof *out);
    if (!path) return 0;
    if (output_open(&out->to, path)) return -1;
    out->file = out->to.file;
    CHECK(cudaGetDeviceProperties(&device, 0));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fputs("{\n  \"meta\": {\n", out->file);
    bench_json_meta(out->file, "bench", bench);
    bench_json_meta(out->file, "commit", getenv("TMAP_COMMIT"));
    bench_json_meta(out->file, "date", date);
    bench_json_meta(out->file, "gpu", device.name);
    bench_json_meta(out->file, "driver", getenv("TMAP_DRIVER"));
    bench_json_meta(out->file, "cuda", getenv("TMAP_NVCC"));
    fprintf(out->file, "    \"sm_clock_mhz\": %d,\n", clock ? atoi(clock) : 0);
    fprintf(out->file, "    \"copy_tbs\": %.3f,\n    \"fill_tbs\": %.3f,\n    \"read_tbs\": %.3f\n",
            c.copy_tbs, c.fill_tbs, c.read_tbs);
    fputs("  },\n  \"rows\": [", out->file);
    return 0;
}

// A row, given as the inside of a JSON object. Blanks between its parts are left out: results are
// kept with the sources, and there are thousands of rows.
static void bench_results_row(bench_results *out, const char *inside) {
    int text = 0;
    if (!out->file) return;
    fputs(out->rows++ ? ",\n{" : "\n{", out->file);
    for (const char *p = inside; *p; ++p) {
        if (*p == '"' && (p == inside || p[-1] != '\\')) text = !text;
        if (text || *p != ' ') fputc(*p, out->file);
    }
    fputc('}', out->file);
    fflush(out->file);
}

static int bench_results_close(bench_results *out) {
    if (!out->file) return 0;
    fputs("\n]\n}\n", out->file);
    out->file = NULL;
    return output_close(&out->to, 1);
}

// A bar of `done` of `all` on stderr, redrawn in place; nothing where stderr is no
// terminal, unless TMAP_PROGRESS is set.
static void bench_progress(int done, int all, const char *what) {
    enum { WIDTH = 30 };
    char bar[WIDTH + 1];
    int filled = all ? WIDTH * done / all : WIDTH;
    if (!isatty(fileno(stderr)) && !getenv("TMAP_PROGRESS")) return;
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[WIDTH] = 0;
    fprintf(stderr, "\r[%s] %d/%d %-40.40s%s", bar, done, all, what, done == all ? "\n" : "");
    fflush(stderr);
}

#endif
