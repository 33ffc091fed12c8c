// SPDX-License-Identifier: MIT
// flood_job.h: what bench_flood runs: the table of variants, each of which makes itself ready for a
// map and then runs as often as it is told to.
//
// A variant is two functions and a line in flood_variants, whose work is FLOOD_WORK_FLOOD (heights
// in, job->out as bytes) or FLOOD_WORK_LABEL (job->truth.mask in, job->labels as 32-bit integers).
#ifndef BENCH_ADAPTIVE_FLOOD_JOB_H
#define BENCH_ADAPTIVE_FLOOD_JOB_H

#include "flood_truth.h"

#include <threadmap/rivals/flood_slides.h>

#include <time.h>

enum { FLOOD_WORK_FLOOD, FLOOD_WORK_LABEL };
#define FLOOD_GUARD 64u // bytes behind a result that stay as they are

typedef struct flood_job flood_job;

typedef struct flood_variant {
    int work;
    const char *name;
    int form;
    // Bytes of the workspace for the job's map.
    tmap_u64 (*bytes)(const flood_job *job);
    // Makes ready; called once for a map, with the workspace in place.
    cudaError_t (*make)(flood_job *job);
    // A run in the default stream. Sets job->late and leaves where it took more than limit_ms.
    cudaError_t (*run)(flood_job *job);
} flood_variant;

struct flood_job {
    const flood_variant *variant;
    flood_truth truth;     // the map, and what is to come of it
    tmap_flood_seed *seed; // in device memory: the first cell of the largest region
    void *workspace;
    unsigned char *out; // of a flood, with a guard
    int *labels;        // of a label, with a guard
    double limit_ms;
    int late;
    tmap_u64 rounds; // of the last run; 0: there are none
    tmap_flood_slides slides;
};

static double flood_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// ---- the lecture slides -------------------------------------------------------------------------

static tmap_u64 flood_slides_bytes(const flood_job *job) {
    return tmap_flood_slides_bytes(&job->truth.map);
}
static cudaError_t flood_slides_make(flood_job *job) {
    return tmap_flood_slides_make(job->variant->form, &job->truth.map, job->truth.heights, 0,
                                  job->workspace, job->out, &job->slides);
}
// As tmap_flood_slides_run, with an eye on the clock.
static cudaError_t flood_slides_run(flood_job *job) {
    const double begin = flood_now_ms();
    cudaError_t error = tmap_flood_slides_begin(&job->slides, job->seed, 1, 0);
    tmap_u32 next = 0;
    int done = 0;
    for (tmap_u32 step = 4; !error && !done; step = step < 256 ? 2 * step : step) {
        error = tmap_flood_slides_rounds(&job->slides, next, step, 0);
        if (error) return error;
        next += step;
        error = tmap_flood_slides_look(&job->slides, next, &done, &job->rounds, 0);
        if (error) return error;
        job->late = !done && flood_now_ms() - begin > job->limit_ms;
        if (job->late) return cudaSuccess;
    }
    return error ? error : tmap_flood_slides_end(&job->slides, 0);
}

// ---- all of them --------------------------------------------------------------------------------

#define FLOOD_SLIDES(name, form) \
    { FLOOD_WORK_FLOOD, name, form, flood_slides_bytes, flood_slides_make, flood_slides_run }

// The library's own variants, `regions` of FLOOD_WORK_FLOOD and of FLOOD_WORK_LABEL, come first.
static const flood_variant flood_variants[] = {
    FLOOD_SLIDES("uniform", TMAP_FLOOD_SLIDES_UNIFORM),
    FLOOD_SLIDES("tiles", TMAP_FLOOD_SLIDES_TILES),
    FLOOD_SLIDES("line", TMAP_FLOOD_SLIDES_LINE),
    FLOOD_SLIDES("naive", TMAP_FLOOD_SLIDES_NAIVE),
};
enum { FLOOD_VARIANTS = sizeof flood_variants / sizeof *flood_variants };

#endif
