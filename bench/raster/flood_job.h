// SPDX-License-Identifier: MIT
// flood_job.h: what bench_flood runs: the table of variants, each of which makes itself ready for a
// map and then runs as often as it is told to.
//
// A variant is two functions and a line in flood_variants, whose work is FLOOD_WORK_FLOOD (heights
// in, job->out as bytes or depths), FLOOD_WORK_LABEL (job->truth.c.mask in, job->labels as 32-bit
// integers) or FLOOD_WORK_LEVELS (heights and job->levels in, job->lakes).
#ifndef BENCH_RASTER_FLOOD_JOB_H
#define BENCH_RASTER_FLOOD_JOB_H

#include "flood_truth.h"

#include <threadmap/raster/label.h>
#include <threadmap/papers/flood_slides.h>

enum { FLOOD_WORK_FLOOD, FLOOD_WORK_LABEL, FLOOD_WORK_LEVELS };

typedef struct flood_job flood_job;

typedef struct flood_variant {
    int work;
    const char *name;
    int type; // of heights
    int form;
    // Bytes of the workspace for the job's map.
    tmap_u64 (*bytes)(const flood_job *job);
    // Makes ready; called once for a map, with the workspace in place.
    cudaError_t (*make)(flood_job *job);
    // A run in the default stream. Sets job->late and leaves where it took more than limit_ms.
    cudaError_t (*run)(flood_job *job);
    // Makes bytes in job->out of what a run has left elsewhere; not timed. NULL: they are there.
    cudaError_t (*finish)(flood_job *job);
} flood_variant;

struct flood_job {
    const bench_driver *d;
    const flood_variant *variant;
    flood_truth truth;     // the map, and what is to come of it
    tmap_flood_seed *seed; // in device memory: the first cell of the largest region
    void *workspace;
    unsigned char *out;     // of a flood
    int *labels;            // of a label
    tmap_flood_lake *lakes; // of levels
    double limit_ms;
    int late;
    tmap_u64 rounds;     // of the last run; 0: there are none
    tmap_u64 read_bytes; // of a run; 0: not counted
    tmap_flood_slides slides;
    tmap_flood_plan plan;
    const void *heights;         // of the variant's type
    void *tiles, *bits, *depths; // in the workspace
    tmap_label_plan label;
    tmap_flood_seed source; // of rising water
    tmap_u32 level_count;
    double levels[FLOOD_LAKES_MOST];
};

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
    const double begin = bench_seconds(job->d);
    cudaError_t error = tmap_flood_slides_begin(&job->slides, job->seed, 1, 0);
    tmap_u32 next = 0;
    int done = 0;
    for (tmap_u32 step = 4; !error && !done; step = step < 256 ? 2 * step : step) {
        error = tmap_flood_slides_rounds(&job->slides, next, step, 0);
        if (error) return error;
        next += step;
        error = tmap_flood_slides_look(&job->slides, next, &done, &job->rounds, 0);
        if (error) return error;
        job->late = !done && 1e3 * (bench_seconds(job->d) - begin) > job->limit_ms;
        if (job->late) return cudaSuccess;
    }
    return error ? error : tmap_flood_slides_end(&job->slides, 0);
}

// ---- the library --------------------------------------------------------------------------------

static int flood_is_slides(const flood_job *job) { return job->variant->run == flood_slides_run; }

// One more run, which counts what it reads.
static cudaError_t flood_slides_counted(flood_job *job) {
    cudaError_t error;
    tmap_flood_slides_count(&job->slides, 1);
    error = flood_slides_run(job);
    if (!error) error = tmap_flood_slides_reads(&job->slides, &job->read_bytes, 0);
    tmap_flood_slides_count(&job->slides, 0);
    return error;
}

static tmap_raster_map flood_regions_map(const flood_job *job) {
    tmap_raster_map map = job->truth.map;
    map.type = job->variant->type;
    return map;
}

// The truth's heights as integers or floats of 32 bits.
static __global__ void flood_widen(const short *heights, tmap_u64 cells, int type, void *out) {
    BENCH_EACH(i, cells)
    if (type == TMAP_RASTER_F32)
        ((float *)out)[i] = heights[i];
    else
        ((int *)out)[i] = heights[i];
}

// The next part of a workspace, at a multiple of 256 bytes, as memory of its own would be.
static tmap_u64 flood_part(tmap_u64 *end, tmap_u64 bytes) {
    const tmap_u64 at = *end;
    *end += (bytes + 255) / 256 * 256;
    return at;
}

// Parts of the workspace behind a plan's own: tiles; heights of other types than the truth's, or a
// result of bits, or a source; and depths, where these are asked for. Returns the end.
static tmap_u64 flood_regions_parts(const flood_job *job, const tmap_flood_plan *plan,
                                    tmap_u64 *tiles, tmap_u64 *bits, tmap_u64 *depths) {
    const tmap_u64 cells = job->truth.c.cells, words = tmap_flood_words(plan->map.width);
    tmap_u64 end = 0;
    flood_part(&end, plan->workspace);
    *tiles = flood_part(&end, tmap_flood_tiles_bytes(plan));
    *bits = flood_part(&end, plan->map.type != TMAP_RASTER_I16
                                 ? 4 * cells
                                 : 4 * words * plan->map.height + sizeof(tmap_flood_seed));
    *depths = flood_part(&end, plan->form == TMAP_FLOOD_DEPTH ? 4 * cells : 0);
    return end;
}
static tmap_u64 flood_regions_bytes(const flood_job *job) {
    const tmap_raster_map map = flood_regions_map(job);
    tmap_flood_plan plan;
    tmap_u64 at;
    CHECK(tmap_flood_plan_make(&map, job->variant->form, 1, &plan));
    return flood_regions_parts(job, &plan, &at, &at, &at);
}
static cudaError_t flood_regions_make(flood_job *job) {
    const tmap_raster_map map = flood_regions_map(job);
    tmap_u64 tiles, bits, depths;
    cudaError_t error = tmap_flood_plan_make(&map, job->variant->form, 1, &job->plan);
    if (error) return error;
    flood_regions_parts(job, &job->plan, &tiles, &bits, &depths);
    job->tiles = (char *)job->workspace + tiles, job->bits = (char *)job->workspace + bits;
    job->depths = (char *)job->workspace + depths;
    job->heights = map.type == TMAP_RASTER_I16 ? (const void *)job->truth.heights : job->bits;
    if (map.type != TMAP_RASTER_I16)
        flood_widen<<<1024, 256>>>(job->truth.heights, job->truth.c.cells, map.type, job->bits);
    CHECK(cudaGetLastError());
    if (job->variant->form == TMAP_FLOOD_DEPTH)
        CHECK(cudaMemset(job->depths, 0xa5, 4 * (size_t)job->truth.c.cells));
    return tmap_flood_tiles(&job->plan, job->heights, job->tiles, 0);
}
static void *flood_regions_out(const flood_job *job) {
    if (job->variant->form == TMAP_FLOOD_U8) return job->out;
    return job->variant->form == TMAP_FLOOD_BITS ? job->bits : job->depths;
}
static cudaError_t flood_run(flood_job *job, const void *tiles) {
    const tmap_flood_heights heights = {job->heights, tiles};
    const tmap_flood_sources sources = {job->seed, 1, 0};
    return tmap_flood(&job->plan, heights, sources, job->workspace, flood_regions_out(job), 0);
}
static cudaError_t flood_regions_run(flood_job *job) { return flood_run(job, NULL); }
static cudaError_t flood_again_run(flood_job *job) { return flood_run(job, job->tiles); }
static cudaError_t flood_first_run(flood_job *job) {
    const cudaError_t error = tmap_flood_tiles(&job->plan, job->heights, job->tiles, 0);
    return error ? error : flood_again_run(job);
}

// Bytes that the last run to a map of bytes read: heights, and bits and lists of tiles' borders, which
// mixed blocks have. The nodes on blocks' borders, 1 for 100 cells, are left out.
static cudaError_t flood_regions_counted(flood_job *job) {
    const int mark = kit_mark();
    const tmap_flood_plan *p = &job->plan;
    const tmap_u64 blocks = (tmap_u64)p->blocks_x * p->blocks_y, pitch = 2 * p->rows + 1;
    const char *work = (const char *)job->workspace;
    const unsigned char *kinds = (const unsigned char *)kit_to_host(work + p->at_kinds, blocks);
    const unsigned short *offsets =
        (const unsigned short *)kit_to_host(work + p->at_offsets, 2 * blocks * pitch);
    tmap_u64 between = 0;
    for (tmap_u64 i = 0; i < blocks; ++i)
        if (kinds[i] == TMAPI_FLOOD_MIXED)
            between += 64 * p->rows + 2 * pitch + 8ull * offsets[i * pitch + 2 * p->rows];
    job->read_bytes = job->truth.c.cells * tmap_raster_size(p->map.type) + between;
    kit_release(mark);
    return cudaSuccess;
}

static __global__ void flood_unpack(const tmap_u32 *bits, tmap_u64 width, tmap_u64 cells,
                                    unsigned char *out) {
    const tmap_u64 words = tmap_flood_words(width);
    BENCH_EACH(i, cells)
    out[i] = (unsigned char)(bits[i / width * words + i % width / 32] >> i % width % 32 & 1);
}
static cudaError_t flood_bits_finish(flood_job *job) {
    flood_unpack<<<1024, 256>>>((const tmap_u32 *)job->bits, job->truth.map.width,
                                job->truth.c.cells, job->out);
    return cudaGetLastError();
}

// A depth of the level 0 is the height below it, to the bit; 0 is that of a cell that is not
// flooded, and of no other. 2: it is neither.
static __global__ void flood_depths_as_bytes(const float *depths, const short *heights,
                                             tmap_u64 cells, unsigned char *out) {
    BENCH_EACH(i, cells) {
        const tmap_u32 bits = __float_as_uint(depths[i]);
        out[i] = bits == 0 ? 0 : bits == __float_as_uint((float)-heights[i]) ? 1 : 2;
    }
}
static cudaError_t flood_depths_finish(flood_job *job) {
    flood_depths_as_bytes<<<1024, 256>>>((const float *)job->depths, job->truth.heights,
                                         job->truth.c.cells, job->out);
    return cudaGetLastError();
}

// Rising water has a source of its own, which stands where a result of bits would. Tiles are known
// before.
static tmap_flood_seed *flood_levels_source(const flood_job *job) {
    return (tmap_flood_seed *)job->bits;
}
static cudaError_t flood_levels_make(flood_job *job) {
    const cudaError_t error = flood_regions_make(job);
    job->source = flood_lakes_levels(&job->truth, job->levels, job->level_count);
    return error ? error
                 : cudaMemcpy(flood_levels_source(job), &job->source, sizeof job->source,
                              cudaMemcpyHostToDevice);
}
static cudaError_t flood_levels_run(flood_job *job) {
    const tmap_flood_heights heights = {job->heights, job->tiles};
    const tmap_flood_rise rise = {flood_levels_source(job), 1, job->levels, job->level_count};
    return tmap_flood_levels(&job->plan, heights, rise, job->workspace, job->lakes, 0);
}

static tmap_label_plan flood_label_plan(const flood_job *job) {
    tmap_raster_map map = job->truth.map;
    tmap_label_plan plan;
    map.type = TMAP_RASTER_MASK;
    CHECK(tmap_label_plan_make(&map, TMAP_LABEL_INT32, &plan));
    return plan;
}
static tmap_u64 flood_label_bytes(const flood_job *job) {
    return flood_label_plan(job).workspace + 16;
}
static cudaError_t flood_label_make(flood_job *job) {
    job->label = flood_label_plan(job);
    return cudaSuccess;
}
static cudaError_t flood_label_run(flood_job *job) { // the count stands first
    return tmap_label(&job->label, job->truth.c.mask, (char *)job->workspace + 16, job->labels,
                      (tmap_u64 *)job->workspace, 0);
}

// ---- all of them --------------------------------------------------------------------------------

#define FLOOD_SLIDES(name, form) \
    { \
        FLOOD_WORK_FLOOD, name, TMAP_RASTER_I16, form, flood_slides_bytes, flood_slides_make, \
            flood_slides_run, NULL \
    }

#define FLOOD_REGIONS(name, type, form, run, finish) \
    { FLOOD_WORK_FLOOD, name, type, form, flood_regions_bytes, flood_regions_make, run, finish }

// The library's own variants come first: `regions` is tmap_flood; `again_bits` a flood of a map
// whose tiles are known, and `first_bits` the first one, which finds them.
static const flood_variant flood_variants[] = {
    FLOOD_REGIONS("regions", TMAP_RASTER_I16, TMAP_FLOOD_U8, flood_regions_run, NULL),
    FLOOD_REGIONS("again", TMAP_RASTER_I16, TMAP_FLOOD_U8, flood_again_run, NULL),
    FLOOD_REGIONS("regions_bits", TMAP_RASTER_I16, TMAP_FLOOD_BITS, flood_regions_run,
                  flood_bits_finish),
    FLOOD_REGIONS("first_bits", TMAP_RASTER_I16, TMAP_FLOOD_BITS, flood_first_run,
                  flood_bits_finish),
    FLOOD_REGIONS("again_bits", TMAP_RASTER_I16, TMAP_FLOOD_BITS, flood_again_run,
                  flood_bits_finish),
    FLOOD_REGIONS("regions", TMAP_RASTER_I32, TMAP_FLOOD_U8, flood_regions_run, NULL),
    FLOOD_REGIONS("regions", TMAP_RASTER_F32, TMAP_FLOOD_U8, flood_regions_run, NULL),
    FLOOD_REGIONS("again", TMAP_RASTER_F32, TMAP_FLOOD_U8, flood_again_run, NULL),
    FLOOD_REGIONS("regions_depth", TMAP_RASTER_I16, TMAP_FLOOD_DEPTH, flood_regions_run,
                  flood_depths_finish),
    FLOOD_REGIONS("regions_depth", TMAP_RASTER_F32, TMAP_FLOOD_DEPTH, flood_regions_run,
                  flood_depths_finish),
    {FLOOD_WORK_LABEL, "regions", 0, 0, flood_label_bytes, flood_label_make, flood_label_run, NULL},
    FLOOD_SLIDES("uniform", TMAP_FLOOD_SLIDES_UNIFORM),
    FLOOD_SLIDES("tiles", TMAP_FLOOD_SLIDES_TILES),
    FLOOD_SLIDES("line", TMAP_FLOOD_SLIDES_LINE),
    FLOOD_SLIDES("naive", TMAP_FLOOD_SLIDES_NAIVE),
    {FLOOD_WORK_LEVELS, "levels", TMAP_RASTER_I16, TMAP_FLOOD_BITS, flood_regions_bytes,
     flood_levels_make, flood_levels_run, NULL},
};
enum { FLOOD_VARIANTS = sizeof flood_variants / sizeof *flood_variants };

#endif
