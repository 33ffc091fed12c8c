// SPDX-License-Identifier: MIT
// bench_fractal: single write, reduction and cellular automaton on embedded fractals, the bounding
// box beside each form of lambda, over levels and block sizes, and the limits of this GPU's memory,
// all in one run.
//
// The experiments of Navarro et al., FGCS 113 (2020), section 6.2. Every variant is verified, place
// by place, before it is timed; one that is wrong ends the run with status 1.
//
// usage: bench_fractal [--fractal NAME|ROWS|all] [--levels A:B] [--rho N,N,...] [--work sw,rd,ca]
// [--budget MS]
//                      [--bytes N] [--out FILE]
#include "results.h"

#include "../tests/kernels/fractal_check.h"
#include <threadmap/kernels/ca.h>
#include <threadmap/kernels/rd.h>
#include <threadmap/kernels/sw.h>

enum { SW, RD, CA, WORKS };
static const char *const work_names[WORKS] = {"sw", "rd", "ca"};

// One variant at one size.
typedef struct job {
    tmap_nbb f;
    tmap_u32 r, rho;
    int work, map;
    void *in, *out; // the embedding before (RD: the cells) and after
    tmap_i64 *sum;  // of RD
    tmap_u64 places, width, height;
    double limit_ms; // what the memory needs at least
} job;

static void job_run(void *context) {
    job *j = (job *)context;
    if (j->work == SW) CHECK(tmap_sw_i32(j->f, j->r, j->rho, j->map, 7, (int *)j->out, 0));
    if (j->work == RD)
        CHECK(tmap_rd_i32(j->f, j->r, j->rho, j->map, (const int *)j->in, j->sum, 0));
    if (j->work == CA)
        CHECK(tmap_ca_u8(j->f, j->r, j->rho, j->map, tmap_ca_life(), (const unsigned char *)j->in,
                         (unsigned char *)j->out, 0));
}

static dim3 check_grid(const job *j) {
    tmap_u64 columns = (j->width + 255) / 256, rows = j->height;
    return dim3((unsigned)(rows < 65535 ? rows : 65535), (unsigned)(columns < 64 ? columns : 64));
}

static tmap_u64 fetch_u64(const void *device) {
    tmap_u64 value;
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// Runs the job once on poisoned memory and compares every place.
static int job_verify(job *j, tmap_u64 *counter) {
    dim3 grid = check_grid(j);
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    if (j->work == SW) {
        CHECK(cudaMemset(j->out, CHECK_POISON_I32 & 0xff, j->places * sizeof(int)));
        job_run(j);
        check_written_i32<<<grid, 256>>>(j->f, j->r, j->width, j->height, 7, (const int *)j->out,
                                         counter);
    } else if (j->work == RD) {
        CHECK(cudaMemset(j->sum, CHECK_POISON_U8, sizeof *j->sum));
        job_run(j);
        check_sum_i32<<<grid, 256>>>(j->f, j->r, j->width, j->height, (const int *)j->in, counter);
        CHECK(cudaGetLastError());
        return fetch_u64(counter) == fetch_u64(j->sum);
    } else {
        CHECK(cudaMemset(j->out, CHECK_POISON_U8, j->places));
        job_run(j);
        check_step_u8<<<grid, 256>>>(j->f, j->r, j->width, j->height, tmap_ca_life(),
                                     (const unsigned char *)j->in, (const unsigned char *)j->out,
                                     counter);
    }
    CHECK(cudaGetLastError());
    return fetch_u64(counter) == 0;
}

// Bytes of the granules of `bytes` bytes that hold a cell (reach 0) or a cell or a neighbour of one
// (reach 1).
static double granule_bytes(const job *j, tmap_u32 bytes, tmap_u32 element, int reach,
                            tmap_u64 *counter) {
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    check_granules<<<4096, 256>>>(j->f, j->r, j->width, j->height, bytes / element, reach, counter);
    CHECK(cudaGetLastError());
    return (double)bytes * (double)fetch_u64(counter);
}

// Writes go to memory in sectors of 32 bytes, reads come from it in pairs of them.
static double job_limit_ms(const job *j, bench_ceilings c, tmap_u64 *counter) {
    if (j->work == SW) return 1e-9 * granule_bytes(j, 32, 4, 0, counter) / c.fill_tbs;
    if (j->work == RD) return 1e-9 * granule_bytes(j, 64, 4, 0, counter) / c.read_tbs;
    return 1e-9 * granule_bytes(j, 64, 1, 1, counter) / c.read_tbs +
           1e-9 * granule_bytes(j, 32, 1, 0, counter) / c.fill_tbs;
}

// ---- the sweep ----------------------------------------------------------------------------------

typedef struct options {
    const char *fractal, *out;
    tmap_u32 from, to;
    tmap_u32 rho[8];
    int rhos, works[WORKS];
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

// Times and records one variant. Returns its time in milliseconds.
static double sweep_job(sweep *s, job *j, tmap_u64 *counter) {
    char row[512];
    tmap_box box;
    bench_time t;
    double cells = (double)tmap_nbb_cells(j->f, j->r), threads;
    if (!job_verify(j, counter)) {
        fprintf(stderr, "%s %s %s r=%u rho=%u: WRONG\n", work_names[j->work], tmap_map_name(j->map),
                fractal_name(j->f), j->r, j->rho);
        exit(1);
    }
    t = bench_measure(job_run, j, s->o.budget_ms);
    tmap_box_make(j->f, j->r, j->rho, j->map, &box);
    threads = (double)tmap_box_threads(box);
    snprintf(
        row, sizeof row,
        "\"work\": \"%s\", \"variant\": \"%s\", \"domain\": \"%s\", \"size\": %u, \"rho\": %u, "
        "\"dtype\": \"%s\", \"ms\": %.5f, \"noise_pct\": %.2f, \"limit_ms\": %.5f, "
        "\"limit_pct\": %.1f, \"threads\": %.0f, \"useful\": %.4g, \"cells\": %.0f, "
        "\"verified\": true",
        work_names[j->work], tmap_map_name(j->map), fractal_name(j->f), j->r, j->rho,
        j->work == CA ? "u8" : "i32", t.ms, t.noise_pct, j->limit_ms, 100 * j->limit_ms / t.ms,
        threads, cells / threads, cells);
    bench_results_row(&s->results, row);
    return t.ms;
}

// All variants of one work at one size; prints a row of the table for each rho.
static void sweep_size(sweep *s, job *j, tmap_u64 *counter) {
    double best_bb = 0, best = 0;
    tmap_u32 best_rho = 0;
    int best_map = 0;
    j->limit_ms = job_limit_ms(j, s->ceilings, counter);
    for (int i = 0; i < s->o.rhos; ++i) {
        printf("| %s | %s | %u | %u |", work_names[j->work], fractal_name(j->f), j->r, s->o.rho[i]);
        for (j->map = 0; j->map < TMAP_MAP_COUNT; ++j->map) {
            tmap_box box;
            double ms;
            j->rho = s->o.rho[i];
            bench_progress(s->done++, s->all, tmap_map_name(j->map));
            if (tmap_box_make(j->f, j->r, j->rho, j->map, &box) != TMAP_OK) {
                printf(" - |");
                continue;
            }
            ms = sweep_job(s, j, counter);
            printf(" %.4f |", ms);
            if (j->map == TMAP_MAP_BB) {
                if (best_bb == 0 || ms < best_bb) best_bb = ms;
            } else if (j->map > TMAP_MAP_BB_WALK && (best == 0 || ms < best)) {
                best = ms, best_rho = j->rho, best_map = j->map;
            }
        }
        printf("\n");
    }
    if (best_bb > 0 && best > 0)
        printf("| %s | %s | %u | best | %.4f | %.4f (%s, rho %u) | **%.2fx** | %.1f%% of the limit "
               "%.4f |\n",
               work_names[j->work], fractal_name(j->f), j->r, best_bb, best,
               tmap_map_name(best_map), best_rho, best_bb / best, 100 * j->limit_ms / best,
               j->limit_ms);
    fflush(stdout);
}

// One fractal at one level: allocates, fills, and runs the works that fit the memory.
static void sweep_level(sweep *s, tmap_nbb f, tmap_u32 r) {
    job j;
    tmap_u64 *counter;
    size_t free_bytes, total;
    memset(&j, 0, sizeof j);
    j.f = f, j.r = r;
    j.width = tmap_nbb_side_x(f, r), j.height = tmap_nbb_side_y(f, r);
    j.places = tmap_mul_saturate(j.width, j.height);
    CHECK(cudaMalloc((void **)&counter, sizeof *counter));
    CHECK(cudaMalloc((void **)&j.sum, sizeof *j.sum));
    for (j.work = 0; j.work < WORKS; ++j.work) {
        // SW and RD use one matrix of integers, CA two of bytes.
        tmap_u64 need = tmap_mul_saturate(j.places, j.work == CA ? 2 : sizeof(int));
        CHECK(cudaMemGetInfo(&free_bytes, &total));
        if (!s->o.works[j.work]) continue;
        if (need > free_bytes) {
            printf("| %s | %s | %u | needs %.1f GB: left out |\n", work_names[j.work],
                   fractal_name(f), r, 1e-9 * (double)need);
            s->done += s->o.rhos * TMAP_MAP_COUNT;
            continue;
        }
        CHECK(cudaMalloc(&j.in, need));
        j.out = j.work == CA ? (char *)j.in + j.places : (char *)j.in;
        if (j.work == RD)
            check_fill_i32<<<check_grid(&j), 256>>>(f, r, j.width, j.height, 1, (int *)j.in);
        if (j.work == CA)
            check_fill_u8<<<check_grid(&j), 256>>>(f, r, j.width, j.height, 2, 2,
                                                   (unsigned char *)j.in);
        CHECK(cudaGetLastError());
        sweep_size(s, &j, counter);
        CHECK(cudaFree(j.in));
    }
    CHECK(cudaFree(j.sum));
    CHECK(cudaFree(counter));
}

// ---- the command line ---------------------------------------------------------------------------

static void bad(const char *option, const char *value) {
    fprintf(stderr, "bench_fractal: %s: bad value '%s'\n", option, value ? value : "");
    exit(2);
}

static tmap_u32 number(const char *option, const char **text, tmap_u32 most) {
    char *end;
    unsigned long n = strtoul(*text, &end, 10);
    if (end == *text || **text == '-' || n > most) bad(option, *text);
    *text = end;
    return (tmap_u32)n;
}

static void parse(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bad(option, p);
        if (!strcmp(option, "--fractal")) {
            o->fractal = p;
        } else if (!strcmp(option, "--out")) {
            o->out = p;
        } else if (!strcmp(option, "--budget")) {
            o->budget_ms = number(option, &p, 100000);
        } else if (!strcmp(option, "--bytes")) {
            o->bytes = number(option, &p, 0xffffffffu);
        } else if (!strcmp(option, "--levels")) {
            o->from = o->to = number(option, &p, 64);
            if (*p == ':') ++p, o->to = number(option, &p, 64);
            if (*p || o->to < o->from) bad(option, argv[i + 1]);
        } else if (!strcmp(option, "--rho")) {
            for (o->rhos = 0; o->rhos < 8; p += *p == ',') {
                o->rho[o->rhos++] = number(option, &p, 32);
                if (!*p) break;
                if (*p != ',') bad(option, argv[i + 1]);
            }
        } else if (!strcmp(option, "--work")) {
            for (int w = 0; w < WORKS; ++w) o->works[w] = strstr(p, work_names[w]) != NULL;
        } else {
            bad(option, p);
        }
    }
}

int main(int argc, char **argv) {
    sweep s = {};
    options o = {"gasket", NULL, 10, 16, {1, 2, 4, 8, 16, 32}, 6, {1, 1, 1}, 150, 4ull << 30};
    tmap_nbb own = tmap_fractal_gasket();
    int devices = 0, all, works = 0;
    parse(&o, argc, argv);
    all = !strcmp(o.fractal, "all");
    if (!all && tmap_fractal_from_text(o.fractal, &own)) bad("--fractal", o.fractal);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    for (int w = 0; w < WORKS; ++w) works += o.works[w];
    s.o = o;
    s.all =
        (all ? TMAP_FRACTAL_COUNT : 1) * (int)(o.to - o.from + 1) * works * o.rhos * TMAP_MAP_COUNT;
    s.ceilings = bench_measure_ceilings((size_t)o.bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s\n\n", s.ceilings.copy_tbs,
           s.ceilings.fill_tbs, s.ceilings.read_tbs);
    if (bench_results_open(&s.results, o.out, "fractal", s.ceilings)) bad("--out", o.out);
    printf("| work | fractal | r | rho | bb ms | bb_walk | lambda | shuffle | redux | ballot |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < (all ? TMAP_FRACTAL_COUNT : 1); ++i)
        for (tmap_u32 r = o.from; r <= o.to; ++r)
            sweep_level(&s, all ? tmap_fractal_at(i) : own, r);
    bench_progress(s.all, s.all, "");
    if (bench_results_close(&s.results)) bad("--out", o.out);
    return 0;
}
