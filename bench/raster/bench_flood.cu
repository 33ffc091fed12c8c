// SPDX-License-Identifier: MIT
// bench_flood: the flood of a map of heights into bytes, bits or depths, by the library and step by
// step as the lecture slides go, the labelling of a mask, and lakes of rising water, over inputs
// and sizes, all in one run; and the levels at which cells flood (spill_rows.h).
//
// The source is the first cell of the input's largest region. Every result is verified, in every
// cell and on the device, against flood_truth.h. A variant that takes longer than a limit is left out
// of that input's larger maps. Water rises in terrain alone, from the lowest cell of that region.
#include "flood_job.h"
#include "spill_rows.h"

typedef struct sweep {
    bench_driver d;
    bench_numbers n, connectivity, levels;
    const char *inputs;
    double longest_ms;
    tmap_u64 host;                          // largest width of the host's priority flood
    int late[FLOOD_INPUTS][FLOOD_VARIANTS]; // a smaller map took too long
    // What is run now; truth: whether the job has it already.
    flood_job job;
    tmap_u32 width;
    int neighbours, input, truth;
} sweep;

static void run(void *context) {
    flood_job *job = (flood_job *)context;
    CHECK(job->variant->run(job));
}

// ---- rows ---------------------------------------------------------------------------------------

static bench_row row_of(const sweep *s, const flood_variant *v) {
    static const char *const works[] = {"flood", "label", "levels"};
    static const char *const types[] = {"i16", "i32", "f32"};
    bench_row row = bench_row_begin(&s->d, works[v->work], v->name, "map");
    bench_key_text(&row, "input", flood_input_name(s->input));
    bench_key(&row, "size", "%u", s->width);
    bench_key(&row, "connectivity", "%d", s->neighbours);
    bench_key_text(&row, "dtype", v->work == FLOOD_WORK_LABEL ? "u8" : types[v->type]);
    if (v->work == FLOOD_WORK_LEVELS) bench_key(&row, "levels", "%u", s->job.level_count);
    return row;
}

// Bytes in and out of a flood: two or four a cell, and one, or four of depths; one and four of a
// label; of rising water two a cell, once for all levels, and a lake for each of them.
static double bytes_of(const flood_job *job) {
    const double cells = (double)job->truth.c.cells;
    if (job->variant->work == FLOOD_WORK_LEVELS)
        return 2 * cells + sizeof(tmap_flood_lake) * (double)job->level_count;
    if (job->variant->work == FLOOD_WORK_LABEL) return 5 * cells;
    return ((job->variant->type == TMAP_RASTER_I16 ? 2 : 4) +
            (job->variant->form == TMAP_FLOOD_DEPTH ? 4 : 1)) *
           cells;
}

// What a run of a variant reads, where that can be counted.
static void count_reads(flood_job *job) {
    const int regions =
        job->variant->run == flood_regions_run && job->variant->form == TMAP_FLOOD_U8;
    job->read_bytes = 0;
    if (flood_is_slides(job)) CHECK(flood_slides_counted(job));
    if (regions) CHECK(flood_regions_counted(job));
}

// Times a job that has been verified, if a run of `once_ms` is not enough for that, and writes its
// row. The limit is the time for the bytes in and out.
static void record(sweep *s, bench_row *row, double once_ms) {
    flood_job *job = &s->job;
    const tmap_u32 levels = job->variant->work == FLOOD_WORK_LEVELS ? job->level_count : 1;
    const bench_time once = {once_ms, 0, 1};
    row->rate = "mpix_s", row->unit = "Mpix/s",
    row->each = 1e-3 * (double)job->truth.c.cells * levels;
    row->limit_ms = 1e-9 * bytes_of(job) / s->d.ceilings.copy_tbs;
    if (once_ms < 300)
        bench_time_row(row, run, job);
    else
        bench_row_time(row, once);
    if (job->rounds) bench_key(row, "rounds", "%llu", job->rounds);
    count_reads(job);
    if (job->read_bytes) bench_key(row, "read_bytes", "%llu", job->read_bytes);
    if (job->variant->work == FLOOD_WORK_LEVELS) {
        const double ms = row->time.ms / levels, cells = (double)job->truth.c.cells;
        bench_key(row, "level_ms", "%.6f", ms);
        // Reads of all heights that the time of one level is enough for.
        bench_key(row, "level_reads", "%.4f", ms / (2e-9 * cells / s->d.ceilings.copy_tbs));
    }
    bench_row_end(&s->d, row);
}

// ---- a variant ----------------------------------------------------------------------------------

// Where the result of a variant is, and its bytes.
static void **result_at(flood_job *job) {
    if (job->variant->work == FLOOD_WORK_LEVELS) return (void **)&job->lakes;
    return job->variant->work == FLOOD_WORK_FLOOD ? (void **)&job->out : (void **)&job->labels;
}
static tmap_u64 result_bytes(const flood_job *job) {
    if (job->variant->work == FLOOD_WORK_LEVELS) return job->level_count * sizeof *job->lakes;
    return job->truth.c.cells * (job->variant->work == FLOOD_WORK_FLOOD ? 1 : 4);
}

// How much of a result is wrong. *flooded: the part of the map that is flooded in the end.
static tmap_u64 look(flood_job *job, double *flooded) {
    flood_truth *t = &job->truth;
    static tmap_flood_lake lakes[FLOOD_LAKES_MOST];
    *flooded = (double)t->size / (double)t->c.cells;
    if (job->variant->work == FLOOD_WORK_FLOOD) return flood_truth_wrong(t, job->out);
    if (job->variant->work == FLOOD_WORK_LABEL) return components_wrong(&t->c, job->labels);
    CHECK(cudaMemcpy(lakes, job->lakes, (size_t)result_bytes(job), cudaMemcpyDeviceToHost));
    *flooded = (double)lakes[job->level_count - 1].area / (double)t->c.cells;
    return flood_lakes_wrong(t, job->source, job->levels, job->level_count, lakes);
}

// Runs a job on poisoned memory and verifies what it gives; the program ends where it is wrong.
// Returns how long it took, by events. *flooded: as `look` has it.
static double verify(bench_row *row, flood_job *job, double *flooded) {
    float ms;
    CHECK(cudaMemset(*result_at(job), 0xa5, (size_t)result_bytes(job)));
    job->late = 0, job->rounds = 0;
    ms = bench_once(run, job);
    if (job->late) return (double)ms;
    if (job->variant->finish) CHECK(job->variant->finish(job));
    bench_verify(row, look(job, flooded),
                 job->variant->work == FLOOD_WORK_LEVELS ? "lakes" : "cells");
    return (double)ms;
}

// Makes the truth of this map, unless it is there.
static void make_truth(sweep *s) {
    tmap_flood_seed seed;
    if (s->truth++) return;
    flood_truth_make(&s->job.truth, s->input);
    seed.x = s->job.truth.largest % s->width, seed.y = s->job.truth.largest / s->width;
    CHECK(cudaMemcpy(s->job.seed, &seed, sizeof seed, cudaMemcpyHostToDevice));
}

// One variant at one map: verified, then timed.
static void sweep_variant(sweep *s, int v) {
    const int mark = kit_mark();
    flood_job *job = &s->job;
    tmap_u64 workspace;
    size_t free_bytes, total;
    double flooded = 0, ms;
    bench_row row = row_of(s, &flood_variants[v]);
    if (!bench_wants(&s->d, &row)) return;
    if (s->late[s->input][v]) {
        bench_left_out(&row, "a smaller map took too long");
        return;
    }
    make_truth(s);
    job->variant = &flood_variants[v];
    workspace = job->variant->bytes(job);
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (result_bytes(job) + workspace > (tmap_u64)free_bytes / 20 * 19) {
        bench_left_out(&row, "no memory");
        return;
    }
    *result_at(job) = kit_guarded(result_bytes(job));
    job->workspace = kit_device(workspace + 16);
    job->limit_ms = s->longest_ms;
    CHECK(job->variant->make(job));
    ms = verify(&row, job, &flooded);
    job->limit_ms = 1e9;
    if (job->late) {
        s->late[s->input][v] = 1;
        bench_left_out(&row, "it takes too long");
    } else {
        bench_key(&row, "flooded", "%.4f", flooded);
        record(s, &row, ms);
    }
    CHECK(cudaDeviceSynchronize());
    kit_release(mark);
}

static void sweep_size(sweep *s) {
    const int mark = kit_mark();
    const tmap_u64 cells = (tmap_u64)s->width * s->width;
    flood_job *job = &s->job;
    size_t free_bytes, total;
    memset(job, 0, sizeof *job);
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (cells >= COMPONENTS_NONE || flood_truth_bytes(cells) > (tmap_u64)free_bytes / 20 * 19) {
        printf("| %u, %d neighbours | left out: no memory |\n", s->width, s->neighbours);
        return;
    }
    job->d = &s->d, job->truth = flood_truth_alloc(s->width, s->neighbours);
    job->seed = (tmap_flood_seed *)kit_device(sizeof *job->seed);
    for (s->input = 0; s->input < FLOOD_INPUTS; ++s->input) {
        if (!bench_listed(s->inputs, flood_input_name(s->input))) continue;
        s->truth = 0;
        for (int v = 0; v < FLOOD_VARIANTS; ++v) {
            const int levels = flood_variants[v].work == FLOOD_WORK_LEVELS;
            for (int i = 0; i < (levels ? s->levels.count : 1); ++i) {
                if (levels && s->input != FLOOD_TERRAIN) break; // rising water, in terrain alone
                if (levels) job->level_count = s->levels.value[i];
                sweep_variant(s, v);
            }
        }
    }
    kit_release(mark);
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--n", "widths of square maps", "1024,4096,16384,32768,46341", "1024,16384", BENCH_LIST,
         &s.n, 1, 1u << 20},
        {"--inputs", "only these maps, by their names", 0, 0, BENCH_TEXT, &s.inputs, 0, 0},
        {"--connectivity", "neighbours of a cell, 4 or 8", "4", 0, BENCH_LIST, &s.connectivity, 4,
         8},
        {"--levels", "how many of rising water in one call", "64,1024", 0, BENCH_LIST, &s.levels, 1,
         FLOOD_LAKES_MOST},
        {"--longest", "milliseconds that a flood may take", "3000", "200", BENCH_REAL,
         &s.longest_ms, 1, 1000000},
        {"--host", "widest map of the host's priority flood", "16384", "1024", BENCH_NUMBER,
         &s.host, 0, 1u << 20}};
    s.d.name = "flood", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "40", s.d.quick_budget = "10";
    bench_begin(&s.d, argc, argv);
    for (int i = 0; i < s.connectivity.count; ++i) {
        s.neighbours = (int)s.connectivity.value[i];
        if (s.neighbours % 4) bench_bad("--connectivity", "neither 4 nor 8");
        memset(s.late, 0, sizeof s.late);
        for (int k = 0; k < s.n.count; ++k) {
            s.width = s.n.value[k];
            sweep_size(&s);
        }
    }
    for (int k = 0; k < s.n.count; ++k)
        spill_rows(&s.d, s.n.value[k], s.inputs, s.n.value[k] <= s.host);
    return bench_end(&s.d);
}
