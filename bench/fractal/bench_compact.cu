// SPDX-License-Identifier: MIT
// bench_compact: steps on the cells of fractals in compact storage, of a byte, a float or a bit a
// cell, beside the same in an embedding, by the engine and by the bounding box, of a byte and of a
// bit a place; up to the levels at which two states fill the memory.
//
// Every variant is verified before it is timed: STEPS steps in windows that the host takes place by
// place, and of life every cell against the bounding box where that fits. A wrong one ends the run
// with status 1.
#include "../options.h"
#include "../results.h"
#include "compact_check.h"
#include "compact_moves.h"

#include <time.h>

static const char usage[] =
    "usage: bench_compact [--fractal NAME|ROWS|all] [--levels A:B] [--work NAME,...]\n"
    "                     [--variants NAME,...] [--budget MS] [--seconds N] [--bytes N]\n"
    "                     [--memory N] [--quick] [--out FILE]\n"
    "  --fractal   the fractals (all)\n"
    "  --levels    every level from A to B (every second one up to the largest)\n"
    "  --work      life, stencil, diffusion, ising, move (all)\n"
    "  --variants  bb, bb_bits, embedded, compact, compact_bits (all)\n"
    "  --budget    milliseconds of samples of a time (30)\n"
    "  --seconds   nothing is begun after so many (330)\n"
    "  --bytes     memory for the bandwidths\n"
    "  --memory    bytes that two states may take (what the device has free)\n"
    "  --quick     few tasks and levels, --budget 10 and --seconds 50, where these are not given\n";

typedef struct sweep {
    const char *fractal, *out, *work, *variants;
    tmap_u32 from, to; // from > to: not given
    double budget_ms, seconds;
    tmap_u64 bytes, memory, room; // room: at the start
    int quick;
    bench_ceilings ceilings;
    bench_results results;
    tmap_u64 *counter;
    struct timespec begin;
    int done, left_out;
} sweep;

static const char *fractal_name(tmap_nbb f) { return tmap_fractal_name(tmap_fractal_index(f)); }

// 1 if a list of names parted by commas has this one; of a null list every name is one.
static int listed(const char *list, const char *name) {
    const size_t length = strlen(name);
    if (!list) return 1;
    for (const char *p = list; *p; p += *p == ',') {
        const size_t n = strcspn(p, ",");
        if (n == length && !strncmp(p, name, n)) return 1;
        p += n;
    }
    return 0;
}

static int out_of_time(sweep *s) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((double)(now.tv_sec - s->begin.tv_sec) < s->seconds) return 0;
    ++s->left_out;
    return 1;
}

// The bytes that two states may take now.
static tmap_u64 room(const sweep *s) {
    const tmap_u64 spare = 1ull << 28;
    size_t free_bytes, total;
    tmap_u64 most;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    most = free_bytes > spare ? free_bytes - spare : 0;
    return s->memory && s->memory < most ? s->memory : most;
}

// ---- one variant --------------------------------------------------------------------------------

static void wrong(const layout *l, const char *what, tmap_u64 cells) {
    fflush(stdout);
    fprintf(stderr, "%s %s %s %s r=%u: WRONG in %llu cells, %s\n", tasks[l->task].work,
            tasks[l->task].rule, form_names[l->form], fractal_name(l->f), l->r, cells, what);
    exit(1);
}

static void record(sweep *s, const layout *l, bench_time t, double moved) {
    const double cells = (double)l->cells, bytes = (double)layout_bytes(l);
    const double places = (double)l->width * (double)tmap_nbb_side_y(l->f, l->r);
    const double limit = 1e-9 * moved * tasks[l->task].once / s->ceilings.copy_tbs;
    const double n2 = form_is_bits(l->form) ? places / 8 : places * tasks[l->task].size;
    const char *dtype = form_is_bits(l->form) ? "bit" : tasks[l->task].dtype;
    char row[768];
    printf("| %s | %s | %s | %s | %s | %u | %.5f | %.1f%% | %.2f | %.3f | %.1f%% | %.4g |\n",
           tasks[l->task].work, tasks[l->task].rule, dtype, form_names[l->form], fractal_name(l->f),
           l->r, t.ms, t.noise_pct, 1e-6 * cells / t.ms, bytes / cells, 100 * limit / t.ms,
           n2 / bytes);
    fflush(stdout);
    snprintf(
        row, sizeof row,
        "\"work\": \"%s\", \"rule\": \"%s\", \"variant\": \"%s\", \"domain\": \"%s\", "
        "\"size\": %u, \"n\": %.0f, \"dtype\": \"%s\", \"cells\": %.0f, \"ms\": %.5f, "
        "\"noise_pct\": %.2f, \"gcells\": %.4f, \"bytes\": %.0f, \"n2_bytes\": %.0f, "
        "\"bytes_per_cell\": %.5g, \"limit_ms\": %.6f, \"limit_pct\": %.2f, \"verified\": true",
        tasks[l->task].work, tasks[l->task].rule, form_names[l->form], fractal_name(l->f), l->r,
        (double)l->width, dtype, cells, t.ms, t.noise_pct, 1e-6 * cells / t.ms, bytes, n2,
        bytes / cells, limit, 100 * limit / t.ms);
    bench_results_row(&s->results, row);
}

// The state of the bounding box after STEPS steps, for other forms to be compared with.
typedef struct truth {
    layout at;
    void *state; // null: there is none
} truth;

// A state of more bytes is not kept.
#define TRUTH_PLACES (1ull << 33)

// Verifies, times and records one variant, whose memory fits.
static void sweep_job(sweep *s, compact_job *j, const windows *w, truth *t) {
    const layout *l = &j->at;
    const tmap_u64 bytes = layout_bytes(l);
    tmap_u64 bad;
    bench_time time;
    CHECK(cudaMalloc(&j->a, bytes + 64));
    CHECK(cudaMalloc(&j->b, bytes + 64));
    job_fill(j);
    for (int step = 0; step < STEPS; ++step) job_step(j, step, 0);
    CHECK(cudaDeviceSynchronize());
    if ((bad = job_check_windows(j, w)) != 0) wrong(l, "in windows", bad);
    if (t->state && (bad = job_check_same(j, &t->at, t->state, s->counter)) != 0)
        wrong(l, "against the bounding box", bad);
    if (l->form == BB && bytes <= TRUTH_PLACES) t->at = *l, t->state = j->a, j->a = NULL;
    if (!j->a) CHECK(cudaMalloc(&j->a, bytes + 64));
    job_fill(j);
    time = bench_measure_queued(job_run, j, s->budget_ms);
    record(s, l, time, layout_moved(l, s->counter));
    ++s->done;
    CHECK(cudaFree(j->a));
    CHECK(cudaFree(j->b));
}

// ---- levels -------------------------------------------------------------------------------------

// The level up to which papers go: of a side of at most 65536.
static tmap_u32 middle_level(tmap_nbb f) {
    tmap_u32 r = 0;
    while (r < 40 && tmap_nbb_side_x(f, r + 1) <= 65536 && tmap_nbb_side_y(f, r + 1) <= 65536) ++r;
    return r;
}

// The largest level of a form, or 0. The bounding box of bytes ends where its state is kept.
static tmap_u32 top_level(const sweep *s, tmap_nbb f, int task, int form) {
    const tmap_u64 most = form == BB && s->room > 2 * TRUTH_PLACES ? 2 * TRUTH_PLACES : s->room;
    layout l;
    tmap_u32 r;
    if (form == COMPACT_BITS)
        r = tmap_compact_words_level_max(f, 2, most);
    else if (form == COMPACT)
        r = tmap_compact_level_max(f, tasks[task].size, 2, most);
    else
        r = tmap_nbb_linear_level_max64(f);
    while (r &&
           (!layout_make(f, r, task, form, &l) || tmap_mul_saturate(layout_bytes(&l), 2) > most))
        --r;
    return r;
}

// 1 if this level is one of those that are run.
static int level_is_run(const sweep *s, tmap_nbb f, int task, int form, tmap_u32 r) {
    const tmap_u32 middle = middle_level(f), top = top_level(s, f, task, form);
    const int gasket = tmap_nbb_equal(f, tmap_fractal_gasket());
    if (r > top) return 0;
    if (s->from <= s->to) return r >= s->from && r <= s->to;
    if (s->quick)
        return (task == LIFE || task == HEAT_8 || task == DIFFUSION_F32 || task == ISING) &&
               (r == middle || (gasket && task == LIFE && r == top));
    if (r == middle || (r == top && (gasket || task != ISING))) return 1; // a second a sweep
    if (gasket && r == 15) return 1; // where the figures of others end
    return (task == LIFE || gasket) && tmap_nbb_side_x(f, r) >= 700 && (r ^ middle) % 2 == 0;
}

// All forms of a task at a level.
static void sweep_task(sweep *s, tmap_nbb f, tmap_u32 r, int task) {
    windows w = {NULL, NULL, NULL, NULL, 0};
    truth t;
    memset(&t, 0, sizeof t);
    for (int form = 0; form < FORMS; ++form) {
        compact_job j;
        memset(&j, 0, sizeof j);
        if (!form_has(form, task) || !listed(s->variants, form_names[form])) continue;
        if (!level_is_run(s, f, task, form, r)) continue;
        if (!layout_make(f, r, task, form, &j.at) || !job_plan(&j)) continue;
        if (out_of_time(s)) break;
        // What the truth takes is not to spare.
        if (t.state && tmap_mul_saturate(layout_bytes(&j.at), 2) > room(s)) {
            CHECK(cudaFree(t.state));
            t.state = NULL;
        }
        if (tmap_mul_saturate(layout_bytes(&j.at), 2) > room(s)) continue;
        bench_progress(s->done, s->done + 1, form_names[form]);
        if (!w.number) w = windows_make(&j.at);
        sweep_job(s, &j, &w, &t);
    }
    if (t.state) CHECK(cudaFree(t.state));
    if (w.number) windows_free(&w);
}

// ---- states from one storage to another ---------------------------------------------------------

static void sweep_moves(sweep *s, tmap_nbb f) {
    const tmap_u32 r = s->from <= s->to ? s->to : middle_level(f);
    for (int move = 0; move < MOVES; ++move) {
        move_job j;
        tmap_u64 bad;
        bench_time t;
        double limit;
        char row[512];
        if (!move_fits(f, r, move, room(s)) || out_of_time(s)) continue;
        move_make(&j, f, r, move);
        if ((bad = move_check(&j, s->counter)) != 0) wrong(&j.matrix, moves[move].name, bad);
        t = bench_measure_queued(move_run, &j, s->budget_ms);
        limit = 1e-9 * move_moved(&j, s->counter) / s->ceilings.copy_tbs;
        printf("| move | - | %s | %s | %s | %u | %.5f | %.1f%% | %.2f | - | %.1f%% | - |\n",
               moves[move].dtype, moves[move].name, fractal_name(f), r, t.ms, t.noise_pct,
               1e-6 * (double)j.cells.cells / t.ms, 100 * limit / t.ms);
        snprintf(row, sizeof row,
                 "\"work\": \"move\", \"variant\": \"%s\", \"domain\": \"%s\", \"size\": %u, "
                 "\"dtype\": \"%s\", \"cells\": %.0f, \"ms\": %.5f, \"noise_pct\": %.2f, "
                 "\"gcells\": %.4f, \"limit_ms\": %.6f, \"limit_pct\": %.2f, \"verified\": true",
                 moves[move].name, fractal_name(f), r, moves[move].dtype, (double)j.cells.cells,
                 t.ms, t.noise_pct, 1e-6 * (double)j.cells.cells / t.ms, limit, 100 * limit / t.ms);
        bench_results_row(&s->results, row);
        move_free(&j);
    }
}

static void sweep_fractal(sweep *s, tmap_nbb f) {
    for (int task = 0; task < TASKS; ++task) {
        if (!listed(s->work, tasks[task].work)) continue;
        for (tmap_u32 r = 0; r <= tmap_nbb_linear_level_max64(f); ++r) sweep_task(s, f, r, task);
    }
    if (listed(s->work, "move")) sweep_moves(s, f);
}

// ---- the command line ---------------------------------------------------------------------------

static void parse(sweep *s, int argc, char **argv) {
    s->quick = bench_quick(&argc, argv, usage);
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--fractal"))
            s->fractal = p;
        else if (!strcmp(option, "--levels")) {
            s->from = (tmap_u32)bench_number_at(option, &p, 0, 64);
            if (*p++ != ':') bench_bad(option, argv[i + 1]);
            s->to = (tmap_u32)bench_number(option, p, s->from, 64);
        } else if (!strcmp(option, "--work"))
            s->work = p;
        else if (!strcmp(option, "--variants"))
            s->variants = p;
        else if (!strcmp(option, "--budget"))
            s->budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--seconds"))
            s->seconds = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--bytes"))
            s->bytes = bench_number(option, p, 1 << 16, 1ull << 40);
        else if (!strcmp(option, "--memory"))
            s->memory = bench_number(option, p, 1, 1ull << 50);
        else if (!strcmp(option, "--out"))
            s->out = p;
        else
            bench_bad(option, p);
    }
    if (!(s->budget_ms > 0)) s->budget_ms = s->quick ? 10 : 30;
    if (!(s->seconds > 0)) s->seconds = s->quick ? 50 : 330;
}

int main(int argc, char **argv) {
    static sweep s;
    tmap_nbb own = tmap_fractal_gasket();
    int devices = 0, all;
    bench_program = "bench_compact";
    clock_gettime(CLOCK_MONOTONIC, &s.begin);
    s.from = 1, s.bytes = 4ull << 30;
    parse(&s, argc, argv);
    all = !s.fractal || !strcmp(s.fractal, "all");
    if (!all && tmap_fractal_from_text(s.fractal, &own)) bench_bad("--fractal", s.fractal);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    s.ceilings = bench_measure_ceilings((size_t)s.bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s\n\n", s.ceilings.copy_tbs,
           s.ceilings.fill_tbs, s.ceilings.read_tbs);
    if (bench_results_open(&s.results, s.out, "compact", s.ceilings)) bench_bad("--out", s.out);
    CHECK(cudaMalloc((void **)&s.counter, sizeof *s.counter));
    s.room = room(&s);
    printf(
        "| work | rule | dtype | variant | fractal | r | ms | noise | Gcell/s | bytes a cell | of "
        "the limit | n2 / bytes |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < (all ? TMAP_FRACTAL_COUNT : 1); ++i)
        sweep_fractal(&s, all ? tmap_fractal_at(i) : own);
    bench_progress(s.done, s.done, "");
    CHECK(cudaFree(s.counter));
    if (s.left_out) printf("\nout of time: %d left out (--seconds)\n", s.left_out);
    if (bench_results_close(&s.results)) bench_bad("--out", s.out);
    return 0;
}
