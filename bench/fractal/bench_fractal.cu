// SPDX-License-Identifier: MIT
// bench_fractal: single write, reduction and cellular automaton on embedded fractals: the bounding
// box, a list of the cells in memory, and each form of lambda, over levels and block sizes, and the
// limits of this GPU's memory, all in one run.
//
// The experiments of Navarro et al., FGCS 113 (2020), section 6.2. Every variant is verified, place
// by place, before it is timed; one that is wrong ends the run with status 1.
//
// usage: bench_fractal [--fractal NAME|ROWS|all] [--levels A:B|top] [--rho N,N,...] [--work
// sw,rd,ca]
//                      [--budget MS] [--bytes N] [--out FILE]
// Without --fractal: the gasket at every level up to 17 and every rho, then all fractals at each
// level up to the one whose side is nearest below 60000, with rho = 32. --levels top: that level
// alone.
#include "dummy.h"
#include "list.h"
#include "../options.h"
#include "../results.h"
#include "tile_forms.h"

#include "../../tests/fractal/fractal_check.h"
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/rd.h>
#include <threadmap/fractal/sw.h>

enum { SW, RD, CA, WORKS };
static const char *const work_names[WORKS] = {"sw", "rd", "ca"};

// Variants: the maps of launch.h, then what has no map of its own.
enum { LIST = TMAP_MAP_COUNT, TILE_SECTORS, TILE_FORM, VARIANTS = TILE_FORM + FORMS };

static const char *variant_name(int variant) {
    static const char *const forms[FORMS] = {"tile_shuffle", "tile_redux", "tile_ballot",
                                             "tile_mma"};
    if (variant >= TILE_FORM) return forms[variant - TILE_FORM];
    if (variant == LIST) return "list";
    return variant == TILE_SECTORS ? "tile_sectors" : tmap_map_name(variant);
}

// One variant at one size.
typedef struct job {
    tmap_nbb f;
    tmap_u32 r, rho;
    int work, variant;
    bench_list list;
    void *in, *out; // the embedding before (RD: the cells) and after
    tmap_i64 *sum;  // of RD
    int processors;
    tmap_u64 places, width, height;
    double limit_ms; // what the memory needs at least
} job;

static void list_run(job *j) {
    const bench_list *l = &j->list;
    unsigned blocks = (unsigned)((l->cells + 255) / 256), few = blocks < 1056 ? blocks : 1056;
    if (j->work == SW)
        list_sw<<<blocks, 256>>>(l->entries, l->wide, l->cells, j->width, 7, (int *)j->out);
    if (j->work == RD) {
        CHECK(cudaMemsetAsync(j->sum, 0, sizeof *j->sum, 0));
        list_rd<<<few, 256>>>(l->entries, l->wide, l->cells, j->width, (const int *)j->in, j->sum);
    }
    if (j->work == CA)
        list_ca<<<blocks, 256>>>(l->entries, l->wide, l->cells, j->width, j->height, tmap_ca_life(),
                                 (const unsigned char *)j->in, (unsigned char *)j->out);
    CHECK(cudaGetLastError());
}

static void job_run(void *context) {
    job *j = (job *)context;
    if (j->variant >= TILE_FORM && j->work == SW)
        CHECK(form_sw(j->variant - TILE_FORM, j->r, 7, (int *)j->out, j->processors));
    else if (j->variant >= TILE_FORM)
        CHECK(form_rd(j->variant - TILE_FORM, j->r, (const int *)j->in, j->sum, j->processors));
    else if (j->variant == LIST)
        list_run(j);
    else if (j->variant == TILE_SECTORS)
        CHECK(tmap_sw_sectors_i32(j->f, j->r, 7, (int *)j->out, 0));
    else if (j->work == SW)
        CHECK(tmap_sw_i32(j->f, j->r, j->rho, j->variant, 7, (int *)j->out, 0));
    else if (j->work == RD)
        CHECK(tmap_rd_i32(j->f, j->r, j->rho, j->variant, (const int *)j->in, j->sum, 0));
    else
        CHECK(tmap_ca_u8(j->f, j->r, j->rho, j->variant, tmap_ca_life(),
                         (const unsigned char *)j->in, (unsigned char *)j->out, 0));
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
        if (j->variant == TILE_SECTORS)
            check_sectors_i32<<<grid, 256>>>(j->f, j->r, j->width, j->height, 7,
                                             (const int *)j->out, counter);
        else
            check_written_i32<<<grid, 256>>>(j->f, j->r, j->width, j->height, 7,
                                             (const int *)j->out, counter);
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
    tmap_u32 from, to; // from > to: the top level alone
    tmap_u32 rho[8];
    int rhos, works[WORKS], variants[VARIANTS];
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

// Does this variant exist for the job's work and rho? Those that take no rho run once, with 32.
static int variant_runs(const sweep *s, const job *j, tmap_u32 rho, tmap_box *box) {
    if (!s->o.variants[j->variant]) return 0;
    if (j->variant >= TILE_FORM) // on the gasket alone
        return rho == 32 && j->work != CA && j->r >= 6 &&
               tmap_nbb_equal(j->f, tmap_fractal_gasket()) &&
               tmap_box_make(j->f, j->r, 32, TMAP_MAP_TILE, box) == TMAP_OK;
    if (j->variant == LIST) return rho == 32;
    if (j->variant == TILE_SECTORS && (j->work != SW || rho != 32)) return 0;
    if (tmap_box_make(j->f, j->r, rho, j->variant == TILE_SECTORS ? TMAP_MAP_TILE : j->variant,
                      box) != TMAP_OK)
        return 0;
    // A GPU starts about 1.7 blocks in a nanosecond: more than these take longer than they tell.
    return j->variant != TMAP_MAP_BB || box->columns * box->rows <= 5000000000ull;
}

// Times and records one variant. Returns its time in milliseconds.
static double sweep_job(sweep *s, job *j, tmap_box box, tmap_u64 *counter) {
    char row[640];
    bench_time t;
    double cells = (double)tmap_nbb_cells(j->f, j->r), threads = cells;
    if (!job_verify(j, counter)) {
        fprintf(stderr, "%s %s %s r=%u rho=%u: WRONG\n", work_names[j->work],
                variant_name(j->variant), fractal_name(j->f), j->r, j->rho);
        exit(1);
    }
    t = bench_measure_queued(job_run, j, s->o.budget_ms);
    if (j->variant != LIST) threads = (double)tmap_box_threads(box);
    snprintf(row, sizeof row,
             "\"work\": \"%s\", \"variant\": \"%s\", \"domain\": \"%s\", \"size\": %u, "
             "\"n\": %.0f, \"rho\": %u, \"dtype\": \"%s\", \"ms\": %.5f, \"noise_pct\": %.2f, "
             "\"limit_ms\": %.5f, \"limit_pct\": %.1f, \"threads\": %.0f, \"useful\": %.4g, "
             "\"cells\": %.0f, \"verified\": true",
             work_names[j->work], variant_name(j->variant), fractal_name(j->f), j->r,
             (double)j->width, j->rho, j->work == CA ? "u8" : "i32", t.ms, t.noise_pct, j->limit_ms,
             100 * j->limit_ms / t.ms, threads, cells / threads, cells);
    if (j->variant == LIST)
        snprintf(row + strlen(row), sizeof row - strlen(row), ", \"extra_bytes\": %.0f",
                 (double)j->list.bytes);
    bench_results_row(&s->results, row);
    return t.ms;
}

// All variants of one work at one size: a row of the table for each rho, and one of the best.
static void sweep_size(sweep *s, job *j, tmap_u64 *counter) {
    double best[VARIANTS] = {0}, lambda = 0;
    tmap_u32 best_rho[VARIANTS] = {0};
    int winner = TMAP_MAP_LAMBDA;
    j->limit_ms = job_limit_ms(j, s->ceilings, counter);
    for (int i = 0; i < s->o.rhos; ++i) {
        printf("| %s | %s | %u | %u |", work_names[j->work], fractal_name(j->f), j->r, s->o.rho[i]);
        for (j->variant = 0; j->variant < VARIANTS; ++j->variant) {
            tmap_box box;
            double ms;
            j->rho = s->o.rho[i];
            bench_progress(s->done++, s->all, variant_name(j->variant));
            if (!variant_runs(s, j, j->rho, &box)) {
                printf(" - |");
                continue;
            }
            ms = sweep_job(s, j, box, counter);
            printf(" %.4f |", ms);
            if (best[j->variant] == 0 || ms < best[j->variant])
                best[j->variant] = ms, best_rho[j->variant] = j->rho;
        }
        printf("\n");
    }
    for (int v = TMAP_MAP_LAMBDA; v < LIST; ++v) // exact forms of lambda
        if (best[v] > 0 && (lambda == 0 || best[v] < lambda)) lambda = best[v], winner = v;
    if (best[TMAP_MAP_BB] > 0 && lambda > 0)
        printf("| %s | %s | %u | best: %s, rho %u | **%.4f** | %.2fx bb | %.2fx bb_walk | %.2fx "
               "list | "
               "%.1f%% of the limit, %.4f | | | | |\n",
               work_names[j->work], fractal_name(j->f), j->r, variant_name(winner),
               best_rho[winner], lambda, best[TMAP_MAP_BB] / lambda,
               best[TMAP_MAP_BB_WALK] / lambda, best[LIST] / lambda, 100 * j->limit_ms / lambda,
               j->limit_ms);
    fflush(stdout);
}

// One fractal at one level: allocates, fills, and runs the works that fit the memory.
static void sweep_level(sweep *s, tmap_nbb f, tmap_u32 r) {
    job j;
    tmap_u64 *counter;
    memset(&j, 0, sizeof j);
    j.f = f, j.r = r;
    CHECK(cudaDeviceGetAttribute(&j.processors, cudaDevAttrMultiProcessorCount, 0));
    j.width = tmap_nbb_side_x(f, r), j.height = tmap_nbb_side_y(f, r);
    j.places = tmap_mul_saturate(j.width, j.height);
    CHECK(cudaMalloc((void **)&counter, sizeof *counter));
    CHECK(cudaMalloc((void **)&j.sum, sizeof *j.sum));
    for (j.work = 0; j.work < WORKS; ++j.work) {
        // SW and RD use one matrix of integers, CA two of bytes; the list is made for each.
        tmap_u64 need = tmap_mul_saturate(j.places, j.work == CA ? 2 : sizeof(int));
        size_t free_bytes, total;
        CHECK(cudaMemGetInfo(&free_bytes, &total));
        if (!s->o.works[j.work]) continue;
        if (need > free_bytes || tmap_nbb_cells(f, r) * 8 > free_bytes - need) {
            printf("| %s | %s | %u | needs %.1f GB: left out |\n", work_names[j.work],
                   fractal_name(f), r, 1e-9 * (double)need);
            s->done += s->o.rhos * VARIANTS;
            continue;
        }
        CHECK(cudaMalloc(&j.in, need + 64)); // CA: `out` begins at a sector
        j.list = list_make(f, r);
        j.out = j.work == CA ? (char *)j.in + (j.places + 31) / 32 * 32 : (char *)j.in;
        if (j.work == RD)
            check_fill_i32<<<check_grid(&j), 256>>>(f, r, j.width, j.height, 1, (int *)j.in);
        if (j.work == CA)
            check_fill_u8<<<check_grid(&j), 256>>>(f, r, j.width, j.height, 2, 2,
                                                   (unsigned char *)j.in);
        CHECK(cudaGetLastError());
        sweep_size(s, &j, counter);
        list_free(&j.list);
        CHECK(cudaFree(j.in));
    }
    CHECK(cudaFree(j.sum));
    CHECK(cudaFree(counter));
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
            for (int w = 0; w < WORKS; ++w) o->works[w] = strstr(p, work_names[w]) != NULL;
        } else {
            bench_bad(option, p);
        }
    }
}

int main(int argc, char **argv) {
    sweep s = {};
    options o = {NULL, NULL, 0, 17, {1, 2, 4, 8, 16, 32}, 6, {1, 1, 1}, {0}, 60, 4ull << 30};
    tmap_nbb own = tmap_fractal_gasket();
    int devices = 0, all, works = 0;
    for (int v = 0; v < VARIANTS; ++v) o.variants[v] = 1;
    bench_program = "bench_fractal";
    parse(&o, argc, argv);
    all = o.fractal && !strcmp(o.fractal, "all");
    if (o.fractal && !all && tmap_fractal_from_text(o.fractal, &own))
        bench_bad("--fractal", o.fractal);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    for (int w = 0; w < WORKS; ++w) works += o.works[w];
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
    printf("| work | fractal | r | rho |");
    for (int v = 0; v < VARIANTS; ++v) printf(" %s |", variant_name(v));
    printf("\n| --- | --- | --- | --- |");
    for (int v = 0; v < VARIANTS; ++v) printf(" --- |");
    printf("\n");
    if (!all) sweep_fractal(&s, own);
    for (int i = all ? 0 : 1; (all || !o.fractal) && i < TMAP_FRACTAL_COUNT; ++i) {
        tmap_nbb f = tmap_fractal_at(i);
        if (!o.fractal) s.o.from = 0, s.o.to = top_level(f), s.o.rhos = 1, s.o.rho[0] = 32;
        sweep_fractal(&s, f);
    }
    if (!o.fractal) {
        sweep_dummy(&s, tmap_fractal_gasket(), 11, 64); // the tiles of r = 16
        sweep_dummy(&s, tmap_fractal_gasket(), 16, 1);
        sweep_dummy(&s, tmap_fractal_carpet(), 7, 1);
    }
    bench_progress(s.all, s.all, "");
    if (bench_results_close(&s.results)) bench_bad("--out", o.out);
    return 0;
}
