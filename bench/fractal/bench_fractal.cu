// SPDX-License-Identifier: MIT
// bench_fractal: work on the cells of embedded fractals through the library's engine, as a user calls
// it, beside the bounding box, the paper's lambda, the plain map and a list of the cells in memory,
// over levels and block sizes; and the limits of this GPU's memory, all in one run.
//
// The experiments of Navarro et al., FGCS 113 (2020), section 6, its tensor-core variants among them,
// and two more: an update in place and a stencil. Every variant is verified, place by place, before it
// is timed; one that is wrong ends the run with status 1. bench_fractal --help lists the options.
#include "../options.h"
#include "../results.h"
#include "dummy.h"
#include "fractal_verify.h"

#include <time.h>

static const char usage[] =
    "usage: bench_fractal [--fractal NAME|ROWS|all] [--levels A:B|top] [--rho N,N,...]\n"
    "                     [--work sw,update,rd,ca] [--variants NAME,...] [--budget MS] [--bytes "
    "N]\n"
    "                     [--quick] [--out FILE]\n"
    "  --fractal   a fractal of the catalogue, rows as '#./##', or all of them; without it the "
    "gasket\n"
    "              at every level up to 17 and every rho, then all fractals at each level up to "
    "the\n"
    "              one whose side is nearest below 60000, with rho = 32\n"
    "  --levels    from A to B, or the largest one with a side up to 60000 (0:17)\n"
    "  --rho       sides of blocks (1,2,4,8,16,32); the tensor-core forms take 16 and 32 of them\n"
    "  --work      what is done to the cells (all)\n"
    "  --variants  as named in the results (all): bb, bb_walk, lambda, lambda_shuffle, "
    "lambda_redux,\n"
    "              lambda_ballot, lambda_block, mma1, mma2, mma3, wmma_fp16, lambda_linear, list,\n"
    "              tile_shuffle, tile_redux, tile_ballot, tile_mma, engine, life\n"
    "  --budget    milliseconds of samples of a time (60)\n"
    "  --bytes     memory for the bandwidths\n"
    "  --quick     --fractal gasket --levels 14:16 --rho 16,32 --budget 5, where these are not "
    "given\n";

// ---- the sweep ----------------------------------------------------------------------------------

typedef struct options {
    const char *fractal, *out;
    tmap_u32 from, to; // from > to: the top level alone
    tmap_u32 rho[8];
    int rhos, tasks[TASKS], variants[VARIANTS];
    double budget_ms;
    tmap_u64 bytes;
} options;

typedef struct sweep {
    options o;
    bench_ceilings ceilings;
    bench_results results;
    int done, all;
} sweep;

static const char *fractal_name(tmap_nbb f) { return tmap_fractal_name(tmap_fractal_index(f)); }

// Does a form of tensor.h exist for the job's task and rho? The paper has its tensor cores on the
// gasket, in blocks of sides 16 and 32.
static int tensor_runs(const job *j, tmap_u32 rho, tmap_box *box) {
    const int form = tensor_form(j->variant);
    if (!task_is_old(j->task) || !tensor_has(form, j->f)) return 0;
    if (form != TMAP_TENSOR_SHUFFLE && rho != 16 && rho != 32) return 0;
    if (tmap_tensor_box(j->f, j->r, rho, form, box) != TMAP_OK) return 0;
    return box->columns * box->rows <= 5000000000ull;
}

// Does this variant exist for the job's task and rho? Those that take no rho run once, with 32.
static int variant_runs(const sweep *s, const job *j, tmap_u32 rho, tmap_box *box) {
    if (!s->o.variants[j->variant]) return 0;
    if (j->variant >= TENSOR) return tensor_runs(j, rho, box);
    if (j->variant >= LINEAR && rho != 32) return 0;
    if (j->variant == ENGINE) return 1;
    if (j->variant == LIFE) return j->task == CA_U8 && tmap_life_fits(j->f, j->r);
    if (!task_is_old(j->task)) return 0;
    if (j->variant == LINEAR || j->variant == LIST) return 1;
    if (j->variant >= TILE_FORM) // on the gasket alone
        return j->task != CA_U8 && j->r >= 6 && j->r <= 17 &&
               tmap_nbb_equal(j->f, tmap_fractal_gasket());
    if (tmap_box_make(j->f, j->r, rho, j->variant, box) != TMAP_OK) return 0;
    // A GPU starts about 1.7 blocks in a nanosecond: more than these take longer than they tell.
    return j->variant != TMAP_BOX_BB || box->columns * box->rows <= 5000000000ull;
}

// Times and records one variant. Returns its time in milliseconds.
static double sweep_job(sweep *s, job *j, tmap_u64 *counter) {
    char row[640];
    bench_time t;
    const double cells = (double)j->cells;
    const int boxed = j->variant < LINEAR || j->variant >= TENSOR;
    const double threads = boxed ? (double)tmap_box_threads(j->box) : cells;
    if (!job_verify(j, counter)) {
        fprintf(stderr, "%s %s %s %s r=%u rho=%u: WRONG\n", tasks[j->task].work,
                tasks[j->task].dtype, job_variant(j), fractal_name(j->f), j->r, j->rho);
        exit(1);
    }
    t = bench_measure_queued(job_run, j, s->o.budget_ms);
    snprintf(row, sizeof row,
             "\"work\": \"%s\", \"variant\": \"%s\", \"domain\": \"%s\", \"size\": %u, "
             "\"n\": %.0f, \"rho\": %u, \"dtype\": \"%s\", \"ms\": %.5f, \"noise_pct\": %.2f, "
             "\"limit_ms\": %.5f, \"limit_pct\": %.1f, \"threads\": %.0f, \"useful\": %.4g, "
             "\"cells\": %.0f, \"verified\": true",
             tasks[j->task].work, job_variant(j), fractal_name(j->f), j->r, (double)j->width,
             j->rho, tasks[j->task].dtype, t.ms, t.noise_pct, j->limit_ms, 100 * j->limit_ms / t.ms,
             threads, cells / threads, cells);
    if (j->variant == LIST)
        snprintf(row + strlen(row), sizeof row - strlen(row), ", \"extra_bytes\": %.0f",
                 (double)j->list.bytes);
    if (j->variant == ENGINE)
        snprintf(row + strlen(row), sizeof row - strlen(row), ", \"loop\": \"%s\"",
                 tmap_each_loop_name((int)j->plan.loop));
    if (j->variant >= TENSOR)
        snprintf(row + strlen(row), sizeof row - strlen(row), ", \"tiles_per_block\": %u",
                 tensor_walk(j->variant));
    if (j->variant >= TENSOR && tmap_tensor_is_half(tensor_form(j->variant)))
        snprintf(row + strlen(row), sizeof row - strlen(row), ", \"form\": %d",
                 tensor_form(j->variant) - TMAP_TENSOR_WMMA1 + 1);
    bench_results_row(&s->results, row);
    return t.ms;
}

// All variants of one task at one size: a row of the table for each rho, and one of the best.
static void sweep_size(sweep *s, job *j, tmap_u64 *counter) {
    double best[VARIANTS] = {0}, engine;
    j->limit_ms = job_limit_ms(j, s->ceilings, counter);
    for (int i = 0; i < s->o.rhos; ++i) {
        if (!task_is_old(j->task) && s->o.rho[i] != 32) {
            s->done += VARIANTS;
            continue;
        }
        printf("| %s | %s | %s | %u | %u |", tasks[j->task].work, tasks[j->task].dtype,
               fractal_name(j->f), j->r, s->o.rho[i]);
        for (j->variant = 0; j->variant < VARIANTS; ++j->variant) {
            double ms;
            memset(&j->box, 0, sizeof j->box);
            j->rho = s->o.rho[i];
            bench_progress(s->done++, s->all, job_variant(j));
            if (!variant_runs(s, j, j->rho, &j->box)) {
                printf(" - |");
                continue;
            }
            ms = sweep_job(s, j, counter);
            printf(" %.4f |", ms);
            if (best[j->variant] == 0 || ms < best[j->variant]) best[j->variant] = ms;
        }
        printf("\n");
    }
    engine = best[LIFE] > 0 ? best[LIFE] : best[ENGINE];
    if (engine > 0) {
        static const int others[] = {TMAP_BOX_BB, TMAP_BOX_BB_WALK, TMAP_BOX_LAMBDA, LINEAR, LIST};
        printf("| %s | %s | %s | %u | engine | **%.4f**, %.1f%% of the limit, %.4f |",
               tasks[j->task].work, tasks[j->task].dtype, fractal_name(j->f), j->r, engine,
               100 * j->limit_ms / engine, j->limit_ms);
        for (unsigned i = 0; i < sizeof others / sizeof *others; ++i)
            if (best[others[i]] > 0)
                printf(" %.2fx %s |", best[others[i]] / engine, variant_name(others[i]));
        printf("\n");
    }
    fflush(stdout);
}

// One fractal at one level: allocates, fills, and runs the tasks that fit the memory.
static void sweep_level(sweep *s, tmap_nbb f, tmap_u32 r) {
    job j;
    tmap_u64 *counter;
    memset(&j, 0, sizeof j);
    j.f = f, j.r = r, j.factor = 1;
    CHECK(cudaDeviceGetAttribute(&j.processors, cudaDevAttrMultiProcessorCount, 0));
    j.width = tmap_nbb_side_x(f, r), j.height = tmap_nbb_side_y(f, r);
    j.places = tmap_mul_saturate(j.width, j.height), j.cells = tmap_nbb_cells(f, r);
    CHECK(cudaMalloc((void **)&counter, sizeof *counter));
    CHECK(cudaMalloc(&j.sum, 8));
    for (j.task = 0; j.task < TASKS; ++j.task) {
        const tmap_u64 matrix = tmap_mul_saturate(j.places, tasks[j.task].size);
        const tmap_u64 need = tmap_mul_saturate(matrix, (tmap_u64)tasks[j.task].matrices);
        const int list = task_is_old(j.task);
        size_t free_bytes, total;
        CHECK(cudaMemGetInfo(&free_bytes, &total));
        if (!s->o.tasks[j.task]) continue;
        if (need > free_bytes || (list && j.cells * 8 > free_bytes - need)) {
            printf("| %s | %s | %s | %u | needs %.1f GB: left out |\n", tasks[j.task].work,
                   tasks[j.task].dtype, fractal_name(f), r, 1e-9 * (double)need);
            s->done += s->o.rhos * VARIANTS;
            continue;
        }
        CHECK(cudaMalloc(&j.in, need + 64)); // `out` begins at a sector
        j.out = tasks[j.task].matrices == 2 ? (char *)j.in + (matrix + 31) / 32 * 32 : j.in;
        if (list && s->o.variants[LIST]) j.list = list_make(f, r);
        engine_prepare(&j);
        if (tmap_life_fits(f, r)) CHECK(tmap_life_plan_make(f, r, &j.life));
        job_fill(&j);
        sweep_size(s, &j, counter);
        if (j.list.entries) list_free(&j.list);
        CHECK(cudaFree(j.blocks));
        CHECK(cudaFree(j.in));
    }
    CHECK(cudaFree(j.sum));
    CHECK(cudaFree(counter));
}

// ---- the host's part ----------------------------------------------------------------------------

// Microseconds of the host for a launch by a plan, of `count` in a row on a small fractal, and for an
// empty kernel by angle brackets. Fewer than a device's queue holds, so that none waits.
static __global__ void nothing(void) {}

static double host_us(const tmap_each_plan *plan, const void *work, int count) {
    struct timespec begin, end;
    for (int turn = 0; turn < 3; ++turn) { // the first one warms up
        CHECK(cudaDeviceSynchronize());
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < count; ++i)
            if (plan)
                CHECK(tmap_each_launch(plan, work, 0));
            else
                nothing<<<1, 32>>>();
        clock_gettime(CLOCK_MONOTONIC, &end);
    }
    CHECK(cudaDeviceSynchronize());
    return (1e6 * (double)(end.tv_sec - begin.tv_sec) +
            1e-3 * (double)(end.tv_nsec - begin.tv_nsec)) /
           count;
}

static void sweep_host(sweep *s) {
    enum { COUNT = 400 };
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_each_plan plan;
    write_i32 job = {NULL, 7};
    char row[256];
    CHECK(cudaMalloc((void **)&job.out, 32 * 32 * sizeof(int)));
    CHECK(tmap_each_plan_make(f, 5, 0, (const void *)engine_write_i32, &plan));
    for (int planned = 0; planned < 2; ++planned) {
        const double us = host_us(planned ? &plan : NULL, &job, COUNT);
        printf("| launch | %s | %.2f us of the host |\n", planned ? "each" : "empty kernel", us);
        snprintf(row, sizeof row,
                 "\"work\": \"launch\", \"variant\": \"%s\", \"domain\": \"gasket\", \"size\": 5, "
                 "\"ms\": %.6f, \"verified\": true",
                 planned ? "each" : "empty", 1e-3 * us);
        bench_results_row(&s->results, row);
    }
    CHECK(cudaFree(job.out));
}

// ---- the maps alone -----------------------------------------------------------------------------

typedef struct dummy_job {
    tmap_nbb f;
    tmap_u32 r, times, *out;
    int form;
} dummy_job;

static void dummy_run(void *context) {
    dummy_job *d = (dummy_job *)context;
    CHECK(dummy_launch(d->form, d->f, d->r, d->times, 0, d->out, 0));
}

// Every form of lambda on all tiles of a level, `times` times over in a launch.
static void sweep_dummy(sweep *s, tmap_nbb f, tmap_u32 r, tmap_u32 times) {
    dummy_job d = {f, r, times, NULL, 0};
    double shuffle = 0;
    char row[512];
    CHECK(cudaMalloc((void **)&d.out, 2 * sizeof *d.out));
    printf("\n| dummy | %s | tiles of level %u, %u times | ms | x shuffle |\n", fractal_name(f), r,
           times);
    printf("| --- | --- | --- | --- | --- |\n");
    for (d.form = 0; d.form < DUMMY_FORM_COUNT; ++d.form) {
        bench_time t;
        if (!dummy_has(d.form, f, r)) continue;
        if (dummy_verify(d.form, f, r, d.out) != 1) {
            fprintf(stderr, "dummy %s %s r=%u: WRONG\n", dummy_form_name(d.form), fractal_name(f),
                    r);
            exit(1);
        }
        t = bench_measure_queued(dummy_run, &d, s->o.budget_ms);
        if (d.form == dummy_form_shuffle) shuffle = t.ms;
        printf("| dummy | %s | %s | %.5f | %.2f |\n", fractal_name(f), dummy_form_name(d.form),
               t.ms, shuffle / t.ms);
        snprintf(row, sizeof row,
                 "\"work\": \"dummy\", \"variant\": \"%s\", \"domain\": \"%s\", \"size\": %u, "
                 "\"rho\": 32, \"times\": %u, \"ms\": %.6f, \"noise_pct\": %.2f, \"tiles\": %.0f, "
                 "\"verified\": true",
                 dummy_form_name(d.form), fractal_name(f), r, times, t.ms, t.noise_pct,
                 (double)tmap_nbb_cells(f, r) * times);
        bench_results_row(&s->results, row);
    }
    CHECK(cudaFree(d.out));
}

// The largest level whose side is at most 60000.
static tmap_u32 top_level(tmap_nbb f) {
    tmap_u32 r = 0;
    while (tmap_nbb_side_x(f, r + 1) <= 60000 && r < 32) ++r;
    return r;
}

static void sweep_fractal(sweep *s, tmap_nbb f) {
    tmap_u32 from = s->o.from, to = s->o.to;
    if (from > to) from = to = top_level(f);
    for (tmap_u32 r = from; r <= to; ++r) sweep_level(s, f, r);
}

// ---- the command line ---------------------------------------------------------------------------

static void parse(options *o, int argc, char **argv) {
    if (bench_quick(&argc, argv, usage)) {
        o->fractal = "gasket", o->from = 14, o->to = 16;
        o->rho[0] = 16, o->rho[1] = 32, o->rhos = 2, o->budget_ms = 5;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--fractal")) {
            o->fractal = p;
        } else if (!strcmp(option, "--out")) {
            o->out = p;
        } else if (!strcmp(option, "--budget")) {
            o->budget_ms = (double)bench_number(option, p, 0, 100000);
        } else if (!strcmp(option, "--bytes")) {
            o->bytes = bench_number(option, p, 0, 0xffffffffu);
        } else if (!strcmp(option, "--levels")) {
            if (!strcmp(p, "top")) {
                o->from = 1, o->to = 0;
                continue;
            }
            o->from = o->to = (tmap_u32)bench_number_at(option, &p, 0, 64);
            if (*p == ':') ++p, o->to = (tmap_u32)bench_number_at(option, &p, 0, 64);
            if (*p || o->to < o->from) bench_bad(option, argv[i + 1]);
        } else if (!strcmp(option, "--rho")) {
            for (o->rhos = 0; o->rhos < 8; p += *p == ',') {
                o->rho[o->rhos++] = (tmap_u32)bench_number_at(option, &p, 0, 32);
                if (!*p) break;
                if (*p != ',') bench_bad(option, argv[i + 1]);
            }
        } else if (!strcmp(option, "--variants")) {
            char padded[512], name[64];
            snprintf(padded, sizeof padded, ",%s,", p);
            for (int v = 0; v < VARIANTS; ++v) {
                snprintf(name, sizeof name, ",%s,", variant_name(v));
                o->variants[v] = strstr(padded, name) != NULL;
            }
        } else if (!strcmp(option, "--work")) {
            for (int t = 0; t < TASKS; ++t) o->tasks[t] = strstr(p, tasks[t].work) != NULL;
        } else {
            bench_bad(option, p);
        }
    }
}

int main(int argc, char **argv) {
    sweep s = {};
    options o = {NULL, NULL, 0, 17, {1, 2, 4, 8, 16, 32}, 6, {0}, {0}, 60, 4ull << 30};
    tmap_nbb own = tmap_fractal_gasket();
    int devices = 0, all, works = 0; // tasks that are asked for
    for (int v = 0; v < VARIANTS; ++v) o.variants[v] = 1;
    for (int t = 0; t < TASKS; ++t) o.tasks[t] = 1;
    bench_program = "bench_fractal";
    parse(&o, argc, argv);
    all = o.fractal && !strcmp(o.fractal, "all");
    if (o.fractal && !all && tmap_fractal_from_text(o.fractal, &own))
        bench_bad("--fractal", o.fractal);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    for (int t = 0; t < TASKS; ++t) works += o.tasks[t];
    s.o = o;
    s.all = (all ? TMAP_FRACTAL_COUNT : 1) * (o.from > o.to ? 1 : (int)(o.to - o.from + 1)) *
            works * o.rhos * VARIANTS;
    if (!o.fractal) // what follows the gasket
        for (int i = 1; i < TMAP_FRACTAL_COUNT; ++i)
            s.all += (int)(top_level(tmap_fractal_at(i)) + 1) * works * VARIANTS;
    s.ceilings = bench_measure_ceilings((size_t)o.bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s; times in ms\n\n", s.ceilings.copy_tbs,
           s.ceilings.fill_tbs, s.ceilings.read_tbs);
    if (bench_results_open(&s.results, o.out, "fractal", s.ceilings)) bench_bad("--out", o.out);
    printf("| work | dtype | fractal | r | rho |");
    for (int v = 0; v < VARIANTS; ++v) {
        char title[64];
        variant_title(v, title, sizeof title);
        printf(" %s |", title);
    }
    printf("\n| --- | --- | --- | --- | --- |");
    for (int v = 0; v < VARIANTS; ++v) printf(" --- |");
    printf("\n");
    if (!all) sweep_fractal(&s, own);
    for (int i = all ? 0 : 1; (all || !o.fractal) && i < TMAP_FRACTAL_COUNT; ++i) {
        tmap_nbb f = tmap_fractal_at(i);
        if (!o.fractal) s.o.from = 0, s.o.to = top_level(f), s.o.rhos = 1, s.o.rho[0] = 32;
        sweep_fractal(&s, f);
    }
    sweep_host(&s);
    if (!o.fractal) {
        sweep_dummy(&s, tmap_fractal_gasket(), 11, 64); // the tiles of r = 16
        sweep_dummy(&s, tmap_fractal_gasket(), 16, 1);
        sweep_dummy(&s, tmap_fractal_carpet(), 7, 1);
    }
    bench_progress(s.all, s.all, "");
    if (bench_results_close(&s.results)) bench_bad("--out", o.out);
    return 0;
}
