// SPDX-License-Identifier: MIT
// bench_fractal: work on the cells of embedded fractals through the library's engine, as a user calls
// it, beside the bounding box, the paper's lambda, the plain map and a list of the cells in memory,
// over levels and block sizes; and the limits of this GPU's memory, all in one run.
//
// The experiments of Navarro et al., FGCS 113 (2020), section 6, its tensor-core variants among them,
// and two more: an update in place and a stencil; the paper's forms stand beside as published. Every
// variant is verified, place by place.
#include "dummy.h"
#include "fractal_job.h"
#include "published_work.h"

typedef struct sweep {
    bench_driver d;
    const char *fractal, *levels;
    tmap_u32 range[2]; // of levels; [0] > [1]: the top level alone
    bench_numbers rho;
} sweep;

static const char *fractal_name(tmap_nbb f) { return tmap_fractal_name(tmap_fractal_index(f)); }

// Does a form of tensor.h exist for the job's task and rho? The paper has its tensor cores on the
// gasket, in blocks of sides 16 and 32.
static int tensor_runs(const job *j, tmap_u32 rho, tmap_box *box) {
    const int form = tensor_form(j->variant);
    if (!task_is_old(j->w.task) || !tensor_has(form, j->w.f)) return 0;
    if (form != TMAP_TENSOR_SHUFFLE && rho != 16 && rho != 32) return 0;
    if (tmap_tensor_box(j->w.f, j->w.r, rho, form, box) != TMAP_OK) return 0;
    return box->columns * box->rows <= 5000000000ull;
}

// Does this variant exist for the job's task and rho? Those that take no rho run once, with 32.
static int variant_runs(const job *j, tmap_u32 rho, tmap_box *box) {
    if (j->variant >= TENSOR) return tensor_runs(j, rho, box);
    if ((j->variant >= LINEAR || j->variant == TMAP_BOX_BB_WALK) && rho != 32) return 0;
    if (j->variant == ENGINE) return 1;
    if (j->variant == LIFE) return j->w.task == CA_U8 && tmapi_life_fits(j->w.f, j->w.r);
    if (!task_is_old(j->w.task)) return 0;
    if (j->variant == LINEAR || j->variant == LIST) return 1;
    if (j->variant >= TILE_FORM) // on the gasket alone
        return j->w.task != CA_U8 && j->w.r >= 6 && j->w.r <= 17 &&
               tmap_nbb_equal(j->w.f, tmap_fractal_gasket());
    if (tmap_box_make(j->w.f, j->w.r, rho, j->variant, box) != TMAP_OK) return 0;
    // A GPU starts about 1.7 blocks in a nanosecond: more than these take longer than they tell.
    return j->variant != TMAP_BOX_BB || box->columns * box->rows <= 5000000000ull;
}

static bench_row row_of(const sweep *s, const job *j) {
    bench_row row =
        bench_row_begin(&s->d, tasks[j->w.task].work, job_variant(j), fractal_name(j->w.f));
    bench_key(&row, "size", "%u", j->w.r);
    bench_key(&row, "rho", "%u", j->rho);
    bench_key_text(&row, "dtype", tasks[j->w.task].dtype);
    if (j->variant >= TENSOR) bench_key(&row, "tiles_per_block", "%u", tensor_walk(j->variant));
    if (j->variant >= TENSOR && tmap_tensor_is_half(tensor_form(j->variant)))
        bench_key(&row, "form", "%d", tensor_form(j->variant) - TMAP_TENSOR_WMMA1 + 1);
    return row;
}

// Verifies, times and records one variant.
static void sweep_job(sweep *s, bench_row *row, job *j) {
    const double cells = (double)j->w.cells;
    const int boxed = j->variant < LINEAR || j->variant >= TENSOR;
    const double threads = boxed ? (double)tmap_box_threads(j->box) : cells;
    fractal_work_verify(row, &j->w, job_run, j);
    bench_key(row, "n", "%.0f", (double)j->w.width);
    bench_key(row, "threads", "%.0f", threads);
    bench_key(row, "useful", "%.4g", cells / threads);
    bench_key(row, "cells", "%.0f", cells);
    if (j->variant == LIST) bench_key(row, "extra_bytes", "%.0f", (double)j->list.bytes);
    if (j->variant == ENGINE) bench_key_text(row, "loop", tmap_each_loop_name((int)j->plan.loop));
    row->unit = "Gcell/s", row->each = 1e-6 * cells;
    row->limit_ms = j->w.limit_ms;
    bench_row_run(&s->d, row, job_run, j);
}

// What all variants of a task share: its memory and plans.
static void task_begin(sweep *s, job *j) {
    fractal_work_begin(&j->w, s->d.ceilings);
    engine_prepare(j);
    if (j->w.task == CA_U8) CHECK(tmap_ca_plan_make(j->w.f, j->w.r, 0, 1, &j->life));
}

// All variants of one task at one level, if it fits the memory: those for each rho.
static void sweep_task(sweep *s, job *j) {
    const int mark = kit_mark(), old = task_is_old(j->w.task);
    const tmap_u64 need = fractal_work_bytes(&j->w);
    size_t free_bytes, total;
    int fits, begun = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    fits = need <= free_bytes && (!old || j->w.cells * 8 <= free_bytes - need);
    j->list.entries = NULL;
    for (int i = 0; i < s->rho.count; ++i) {
        j->rho = s->rho.value[i];
        if (!old && j->rho != 32) continue;
        for (j->variant = 0; j->variant < VARIANTS; ++j->variant) {
            bench_row row = row_of(s, j);
            memset(&j->box, 0, sizeof j->box);
            if (!variant_runs(j, j->rho, &j->box) || (s->d.list && !fits)) continue;
            if (!bench_wants(&s->d, &row)) continue;
            if (!fits) {
                bench_left_out(&row, "%.1f GB", 1e-9 * (double)need);
                continue;
            }
            if (!begun++) task_begin(s, j);
            if (j->variant == LIST && !j->list.entries) j->list = list_make(j->w.f, j->w.r);
            sweep_job(s, &row, j);
        }
    }
    kit_release(mark);
}

static void sweep_level(sweep *s, tmap_nbb f, tmap_u32 r) {
    job j;
    memset(&j, 0, sizeof j);
    CHECK(cudaDeviceGetAttribute(&j.processors, cudaDevAttrMultiProcessorCount, 0));
    j.w = fractal_work_make(f, r);
    for (j.w.task = 0; j.w.task < TASKS; ++j.w.task) sweep_task(s, &j);
    if (tmap_nbb_equal(f, tmap_fractal_gasket())) published_sweep(&s->d, r, s->rho);
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
    job.out = (int *)kit_device(32 * 32 * sizeof(int));
    CHECK(tmap_each_plan_make(TMAP_EACH_VISIT, f, 5, 0, (const void *)engine_write_i32, &plan));
    for (int planned = 0; planned < 2; ++planned) {
        bench_row row = bench_row_begin(&s->d, "launch", planned ? "each" : "empty", "gasket");
        bench_key(&row, "size", "5");
        if (!bench_wants(&s->d, &row)) continue;
        row.verified = 1; // as far as a launch can be
        row.time.ms = 1e-3 * host_us(planned ? &plan : NULL, &job, COUNT);
        bench_key(&row, "ms", "%.6f", row.time.ms);
        bench_row_end(&s->d, &row);
    }
}

// ---- the maps alone -----------------------------------------------------------------------------

// Every form of lambda on all tiles of a level, `times` times over in a launch.
static void sweep_dummy(sweep *s, tmap_nbb f, tmap_u32 r, tmap_u32 times) {
    const double tiles = (double)tmap_nbb_cells(f, r) * times;
    dummy_job d = {f, r, times, 0, 0, (tmap_u32 *)kit_device(2 * sizeof(tmap_u32))};
    for (d.form = 0; d.form < DUMMY_FORM_COUNT; ++d.form) {
        bench_row row = bench_row_begin(&s->d, "dummy", dummy_form_name(d.form), fractal_name(f));
        bench_key(&row, "size", "%u", r);
        bench_key(&row, "rho", "32");
        bench_key(&row, "times", "%u", times);
        if (!dummy_has(d.form, f, r) || !bench_wants(&s->d, &row)) continue;
        bench_verify(&row, dummy_wrong(d), "sum");
        bench_key(&row, "tiles", "%.0f", tiles);
        row.unit = "Gtile/s", row.each = 1e-6 * tiles;
        bench_row_run(&s->d, &row, dummy_run, &d);
    }
}

// The largest level whose side is at most 60000.
static tmap_u32 top_level(tmap_nbb f) {
    tmap_u32 r = 0;
    while (tmap_nbb_side_x(f, r + 1) <= 60000 && r < 32) ++r;
    return r;
}

static void sweep_fractal(sweep *s, tmap_nbb f) {
    tmap_u32 from = s->range[0], to = s->range[1];
    if (from > to) from = to = top_level(f);
    for (tmap_u32 r = from; r <= to; ++r) sweep_level(s, f, r);
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option range = {"--levels", 0, 0, 0, BENCH_RANGE, s.range, 0, 64};
    const bench_option options[] = {
        {"--fractal",
         "a name, rows as '#./##', or all; without it the gasket at these levels and rho, then all "
         "fractals at each level up to the top, with rho = 32",
         0, "gasket", BENCH_TEXT, &s.fractal, 0, 0},
        {"--levels", "from A to B, or top: the one whose side is nearest below 60000", "0:17",
         "14:16", BENCH_TEXT, &s.levels, 0, 0},
        {"--rho", "sides of blocks; the tensor-core forms have 16 and 32", "1,2,4,8,16,32", "16,32",
         BENCH_LIST, &s.rho, 1, 32}};
    tmap_nbb own = tmap_fractal_gasket();
    int all;
    s.d.name = "fractal", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "60", s.d.quick_budget = "5", s.d.queued = 1;
    bench_begin(&s.d, argc, argv);
    all = s.fractal && !strcmp(s.fractal, "all");
    if (s.fractal && !all && tmap_fractal_from_text(s.fractal, &own))
        bench_bad("--fractal", s.fractal);
    if (strcmp(s.levels, "top"))
        bench_option_set(&range, s.levels);
    else
        s.range[0] = 1;
    if (!all) sweep_fractal(&s, own);
    for (int i = all ? 0 : 1; (all || !s.fractal) && i < TMAP_FRACTAL_COUNT; ++i) {
        const tmap_nbb f = tmap_fractal_at(i);
        if (!s.fractal)
            s.range[0] = 0, s.range[1] = top_level(f), s.rho.count = 1, s.rho.value[0] = 32;
        sweep_fractal(&s, f);
    }
    sweep_host(&s);
    if (!s.fractal) {
        sweep_dummy(&s, tmap_fractal_gasket(), 11, 64); // the tiles of r = 16
        sweep_dummy(&s, tmap_fractal_gasket(), 16, 1);
        sweep_dummy(&s, tmap_fractal_carpet(), 7, 1);
    }
    return bench_end(&s.d);
}
