// SPDX-License-Identifier: MIT
// bench_flood: the flood of a map of heights into bytes, bits or depths, by the library and step by
// step as the lecture slides go, the labelling of a mask, and lakes of rising water, over inputs
// and sizes, all in one run.
//
// The source is the first cell of the input's largest region. Every result is verified, in every
// cell and on the device, against a union-find over single cells; one that is wrong ends the run
// with status 1. A variant that takes longer than a limit is left out of that input's larger maps.
// Water rises in terrain alone, from the lowest cell of that region (flood_lakes.h).
#include "../options.h"
#include "../results.h"
#include "flood_job.h"

static const char usage[] =
    "usage: bench_flood [--n N,N,...] [--inputs NAME,...] [--only VARIANT,...]\n"
    "                   [--connectivity 4,8] [--levels N,N,...] [--limit MS] [--budget MS]\n"
    "                   [--bytes N] [--quick] [--out FILE]\n"
    "  --n             widths of square maps (1024,4096,16384,32768,46341)\n"
    "  --inputs        terrain, serpentine_h, serpentine_v, spiral, noise_593, noise_650,\n"
    "                  checkerboard, wet, dry, maze (all of them)\n"
    "  --only          variants (all of them)\n"
    "  --connectivity  neighbours of a cell (4)\n"
    "  --levels        how many of rising water in one call, up to 4096 (64,1024)\n"
    "  --limit         milliseconds that a flood may take (3000)\n"
    "  --budget        milliseconds of samples of a time (40)\n"
    "  --bytes         memory for the bandwidths\n"
    "  --quick         --n 1024,16384 --limit 200 --budget 10, where these are not given\n";

static const char *flood_variant_name(int i) { return flood_variants[i].name; }
static const char *flood_input_name_of(int i) { return flood_input_name(i); }

typedef struct sweep {
    bench_numbers n, connectivity, levels;
    unsigned inputs, only; // bits
    double limit_ms, budget_ms;
    bench_ceilings ceilings;
    bench_results results;
    int late[FLOOD_INPUTS][FLOOD_VARIANTS]; // a smaller map took too long
} sweep;

static void run(void *context) {
    flood_job *job = (flood_job *)context;
    CHECK(job->variant->run(job));
}

// ---- results ------------------------------------------------------------------------------------

static const char *work_of(const flood_job *job) {
    static const char *const names[] = {"flood", "label", "levels"};
    return names[job->variant->work];
}

static const char *dtype_of(const flood_job *job) {
    static const char *const names[] = {"i16", "i32", "f32"};
    return job->variant->work == FLOOD_WORK_LABEL ? "u8" : names[job->variant->type];
}

// The first columns of a row.
static void begin_row(const flood_job *job) {
    char levels[16] = "";
    if (job->variant->work == FLOOD_WORK_LEVELS)
        snprintf(levels, sizeof levels, " %u", job->level_count);
    printf("| %s | %s%s | %s | %s | %llu | %d |", work_of(job), job->variant->name, levels,
           dtype_of(job), flood_input_name(job->truth.input), job->truth.map.width,
           job->truth.map.connectivity);
}

static void left_out(const flood_job *job, const char *why) {
    begin_row(job);
    printf(" %s |\n", why);
    fflush(stdout);
}

// The end of a run in which a result is wrong.
static void wrong(const flood_job *job, tmap_u64 count) {
    fflush(stdout);
    fprintf(stderr, "%s %s %s %s n=%llu connectivity=%d: WRONG in %llu %s\n", work_of(job),
            job->variant->name, dtype_of(job), flood_input_name(job->truth.input),
            job->truth.map.width, job->truth.map.connectivity, count,
            job->variant->work == FLOOD_WORK_LEVELS ? "lakes" : "cells");
    exit(1);
}

// Bytes in and out of a flood: two or four a cell, and one, or four of depths; one and four of a
// label; of rising water two a cell, once for all levels, and a lake for each of them.
static double bytes_of(const flood_job *job) {
    const double cells = (double)job->truth.cells;
    if (job->variant->work == FLOOD_WORK_LEVELS)
        return 2 * cells + sizeof(tmap_flood_lake) * (double)job->level_count;
    if (job->variant->work == FLOOD_WORK_LABEL) return 5 * cells;
    return ((job->variant->type == TMAP_RASTER_I16 ? 2 : 4) +
            (job->variant->form == TMAP_FLOOD_DEPTH ? 4 : 1)) *
           cells;
}

// A row, for the reader and for the file. The limit is the time for the bytes in and out. flooded:
// the part of the map that is flooded in the end.
static void record(sweep *s, const flood_job *job, bench_time t, double flooded) {
    const tmap_u32 levels = job->variant->work == FLOOD_WORK_LEVELS ? job->level_count : 0;
    const double cells = (double)job->truth.cells * (levels ? levels : 1),
                 mpix = 1e-3 * cells / t.ms;
    const double limit = 1e-9 * bytes_of(job) / s->ceilings.copy_tbs;
    char row[768], more[160] = "";
    if (job->rounds) snprintf(more, sizeof more, ", \"rounds\": %llu", job->rounds);
    if (job->read_bytes)
        snprintf(more + strlen(more), sizeof more - strlen(more), ", \"read_bytes\": %llu",
                 job->read_bytes);
    if (levels) // reads: of all heights, that the time of one level is enough for
        snprintf(more, sizeof more, ", \"levels\": %u, \"level_ms\": %.6f, \"level_reads\": %.4f",
                 levels, t.ms / levels,
                 t.ms / levels / (2e-9 * (double)job->truth.cells / s->ceilings.copy_tbs));
    begin_row(job);
    printf(" %.4f | %.1f%% | %.1f | %.2f%% | %llu |\n", t.ms, t.noise_pct, mpix, 100 * limit / t.ms,
           job->rounds);
    fflush(stdout);
    snprintf(row, sizeof row,
             "\"work\": \"%s\", \"variant\": \"%s\", \"domain\": \"map\", \"input\": \"%s\", "
             "\"size\": %llu, \"connectivity\": %d, \"dtype\": \"%s\", \"flooded\": %.4f, "
             "\"ms\": %.5f, \"noise_pct\": %.2f, \"mpix_s\": %.3f, \"limit_ms\": %.5f, "
             "\"limit_pct\": %.3f%s, \"verified\": true",
             work_of(job), job->variant->name, flood_input_name(job->truth.input),
             job->truth.map.width, job->truth.map.connectivity, dtype_of(job), flooded, t.ms,
             t.noise_pct, mpix, limit, 100 * limit / t.ms, more);
    bench_results_row(&s->results, row);
}

// ---- a variant ----------------------------------------------------------------------------------

// Where the result of a variant stands, and its bytes.
static void **result_at(flood_job *job) {
    if (job->variant->work == FLOOD_WORK_LEVELS) return (void **)&job->lakes;
    return job->variant->work == FLOOD_WORK_FLOOD ? (void **)&job->out : (void **)&job->labels;
}
static tmap_u64 result_bytes(const flood_job *job) {
    if (job->variant->work == FLOOD_WORK_LEVELS) return job->level_count * sizeof *job->lakes;
    return job->truth.cells * (job->variant->work == FLOOD_WORK_FLOOD ? 1 : 4);
}

// How much of a result is wrong. *flooded: the part of the map that is flooded in the end.
static tmap_u64 look(const flood_job *job, double *flooded) {
    const int flood = job->variant->work == FLOOD_WORK_FLOOD;
    static tmap_flood_lake lakes[FLOOD_LAKES_MOST];
    *flooded = (double)job->truth.size / (double)job->truth.cells;
    if (job->variant->work != FLOOD_WORK_LEVELS)
        return flood_truth_wrong(&job->truth, flood ? job->out : NULL, flood ? NULL : job->labels);
    CHECK(cudaMemcpy(lakes, job->lakes, (size_t)result_bytes(job), cudaMemcpyDeviceToHost));
    *flooded = (double)lakes[job->level_count - 1].area / (double)job->truth.cells;
    return flood_lakes_wrong(&job->truth, job->source, job->levels, job->level_count, lakes);
}

// Runs a job on poisoned memory and verifies what it gives; the program ends where it is wrong.
// Returns how long it took, by events. *flooded: as `look` has it.
static double verify(flood_job *job, double *flooded) {
    const size_t bytes = (size_t)result_bytes(job);
    unsigned char *result = (unsigned char *)*result_at(job);
    unsigned char guard[FLOOD_GUARD];
    cudaEvent_t begin, end;
    tmap_u64 bad;
    float ms;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMemset(result, 0xa5, bytes + FLOOD_GUARD));
    job->late = 0, job->rounds = 0;
    CHECK(cudaEventRecord(begin, 0));
    run(job);
    CHECK(cudaEventRecord(end, 0));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    if (job->late) return (double)ms;
    if (job->variant->finish) CHECK(job->variant->finish(job));
    bad = look(job, flooded);
    CHECK(cudaMemcpy(guard, result + bytes, sizeof guard, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < FLOOD_GUARD; ++i) bad += guard[i] != 0xa5;
    if (bad) wrong(job, bad);
    return (double)ms;
}

// What a run of a variant reads, where that can be counted.
static void count_reads(flood_job *job) {
    const int regions =
        job->variant->run == flood_regions_run && job->variant->form == TMAP_FLOOD_U8;
    job->read_bytes = 0;
    if (flood_is_slides(job)) CHECK(flood_slides_counted(job));
    if (regions) CHECK(flood_regions_counted(job));
}

// One variant at one map: verified, then timed, if one run is not enough for that.
static void sweep_variant(sweep *s, flood_job *job, int *late) {
    const tmap_u64 result = result_bytes(job) + FLOOD_GUARD;
    const tmap_u64 workspace = job->variant->bytes(job);
    size_t free_bytes, total;
    bench_time t = {0, 0, 1};
    double flooded = 0;
    if (*late) {
        left_out(job, "a smaller map took too long");
        return;
    }
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (result + workspace > (tmap_u64)free_bytes / 20 * 19) {
        left_out(job, "no memory");
        return;
    }
    CHECK(cudaMalloc(result_at(job), (size_t)result));
    CHECK(cudaMalloc(&job->workspace, (size_t)workspace + 16));
    job->limit_ms = s->limit_ms;
    CHECK(job->variant->make(job));
    t.ms = verify(job, &flooded);
    job->limit_ms = 1e9;
    if (job->late) {
        *late = 1;
        left_out(job, "took too long");
    } else {
        if (t.ms < 300) t = bench_measure(run, job, s->budget_ms);
        count_reads(job);
        record(s, job, t, flooded);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(job->workspace));
    CHECK(cudaFree(*result_at(job)));
}

// Rising water, with each number of levels.
static void sweep_levels(sweep *s, flood_job *job, int *late) {
    for (int i = 0; i < s->levels.count && job->truth.input == FLOOD_TERRAIN; ++i) {
        job->level_count = s->levels.value[i];
        sweep_variant(s, job, late);
    }
}

static void sweep_size(sweep *s, tmap_u32 n, int connectivity) {
    const tmap_u64 cells = (tmap_u64)n * n;
    size_t free_bytes, total;
    static flood_job job;
    memset(&job, 0, sizeof job);
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    if (cells > FLOOD_TRUTH_CELLS || flood_truth_bytes(cells) > (tmap_u64)free_bytes / 20 * 19) {
        printf("| | | | %u | %d | no memory |\n", n, connectivity);
        return;
    }
    job.truth = flood_truth_alloc(cells);
    CHECK(cudaMalloc((void **)&job.seed, sizeof *job.seed));
    for (int input = 0; input < FLOOD_INPUTS; ++input) {
        tmap_flood_seed seed;
        if (!(s->inputs >> input & 1)) continue;
        bench_progress(input, FLOOD_INPUTS, flood_input_name(input));
        flood_truth_make(&job.truth, input, n, n, connectivity);
        seed.x = job.truth.largest % n, seed.y = job.truth.largest / n;
        CHECK(cudaMemcpy(job.seed, &seed, sizeof seed, cudaMemcpyHostToDevice));
        for (int v = 0; v < FLOOD_VARIANTS; ++v) {
            job.variant = &flood_variants[v];
            if (s->only >> v & 1)
                (job.variant->work == FLOOD_WORK_LEVELS ? sweep_levels : sweep_variant)(
                    s, &job, &s->late[input][v]);
        }
    }
    bench_progress(FLOOD_INPUTS, FLOOD_INPUTS, "");
    CHECK(cudaFree(job.seed));
    flood_truth_free(&job.truth);
}

// ---- the command line ---------------------------------------------------------------------------

// A bit for each of `count` names that a text has.
static unsigned bits_of(const char *option, const char *text, const char *(*name)(int), int count) {
    unsigned bits = 0;
    for (const char *p = text; *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");
        unsigned found = 0;
        for (int i = 0; i < count; ++i)
            if (strlen(name(i)) == length && !strncmp(name(i), p, length)) found |= 1u << i;
        if (!found) bench_bad(option, p);
        bits |= found, p += length;
    }
    if (!bits) bench_bad(option, text);
    return bits;
}

static tmap_u64 parse(sweep *s, int argc, char **argv, const char **out) {
    const bench_numbers all = {{1024, 4096, 16384, 32768, 46341}, 5}, some = {{1024, 16384}, 2};
    const bench_numbers four = {{4}, 1}, levels = {{64, 1024}, 2};
    tmap_u64 bytes = 4ull << 30;
    const int quick = bench_quick(&argc, argv, usage);
    s->connectivity = four, s->levels = levels, s->inputs = s->only = ~0u;
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            s->n = bench_numbers_of(option, p, 1, 1u << 20);
        else if (!strcmp(option, "--inputs"))
            s->inputs = bits_of(option, p, flood_input_name_of, FLOOD_INPUTS);
        else if (!strcmp(option, "--only"))
            s->only = bits_of(option, p, flood_variant_name, FLOOD_VARIANTS);
        else if (!strcmp(option, "--connectivity"))
            s->connectivity = bench_numbers_of(option, p, 4, 8);
        else if (!strcmp(option, "--levels"))
            s->levels = bench_numbers_of(option, p, 1, FLOOD_LAKES_MOST);
        else if (!strcmp(option, "--limit"))
            s->limit_ms = (double)bench_number(option, p, 1, 1000000);
        else if (!strcmp(option, "--budget"))
            s->budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--bytes"))
            bytes = bench_number(option, p, 1 << 16, 1ull << 40);
        else if (!strcmp(option, "--out"))
            *out = p;
        else
            bench_bad(option, p);
    }
    for (int i = 0; i < s->connectivity.count; ++i)
        if (s->connectivity.value[i] % 4) bench_bad("--connectivity", "neither 4 nor 8");
    if (!s->n.count) s->n = quick ? some : all;
    if (!(s->limit_ms > 0)) s->limit_ms = quick ? 200 : 3000;
    if (!(s->budget_ms > 0)) s->budget_ms = quick ? 10 : 40;
    return bytes;
}

int main(int argc, char **argv) {
    static sweep s;
    const char *out = NULL;
    tmap_u64 bytes;
    int devices = 0;
    bench_program = "bench_flood";
    bytes = parse(&s, argc, argv, &out);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    s.ceilings = bench_measure_ceilings((size_t)bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s\n\n", s.ceilings.copy_tbs,
           s.ceilings.fill_tbs, s.ceilings.read_tbs);
    if (bench_results_open(&s.results, out, "flood", s.ceilings)) bench_bad("--out", out);
    printf("| work | variant | heights | input | n | neighbours | ms | noise | Mpix/s | of the "
           "limit | rounds "
           "|\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < s.connectivity.count; ++i) {
        memset(s.late, 0, sizeof s.late);
        for (int k = 0; k < s.n.count; ++k)
            sweep_size(&s, s.n.value[k], (int)s.connectivity.value[i]);
    }
    if (bench_results_close(&s.results)) bench_bad("--out", out);
    return 0;
}
