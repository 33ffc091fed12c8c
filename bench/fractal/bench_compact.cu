// SPDX-License-Identifier: MIT
// bench_compact: steps on the cells of fractals in compact storage, of a byte, a float or a bit a
// cell, beside the same in an embedding, by the engine and by the bounding box, of a byte and of a
// bit a place; up to the levels at which two states fill the memory.
//
// Every variant is verified before it is timed: its start and STEPS steps, cell by cell.
#include "compact_check.h"
#include "compact_moves.h"

typedef struct sweep {
    bench_driver d;
    const char *fractal;
    tmap_u32 levels[2];    // from, to; from > to: not given
    tmap_u64 memory, room; // room: at the start
} sweep;

static const char *fractal_name(tmap_nbb f) { return tmap_fractal_name(tmap_fractal_index(f)); }

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

static bench_row row_of(const sweep *s, const layout *l) {
    bench_row row =
        bench_row_begin(&s->d, tasks[l->task].work, form_names[l->form], fractal_name(l->f));
    bench_key_text(&row, "rule", tasks[l->task].rule);
    bench_key(&row, "size", "%u", l->r);
    bench_key_text(&row, "dtype", form_is_bits(l->form) ? "bit" : tasks[l->task].dtype);
    return row;
}

// Times a job that has been verified, and writes its row.
static void record(sweep *s, bench_row *row, compact_job *j) {
    const layout *l = &j->at;
    const double cells = (double)l->cells, bytes = (double)layout_bytes(l);
    const double places = (double)l->width * (double)tmap_nbb_side_y(l->f, l->r);
    bench_key(row, "n", "%.0f", (double)l->width);
    bench_key(row, "cells", "%.0f", cells);
    bench_key(row, "bytes", "%.0f", bytes);
    bench_key(row, "n2_bytes", "%.0f",
              form_is_bits(l->form) ? places / 8 : places * tasks[l->task].size);
    bench_key(row, "bytes_per_cell", "%.5g", bytes / cells);
    row->rate = "gcells", row->unit = "Gcell/s", row->each = 1e-6 * cells;
    row->limit_ms = 1e-9 * layout_moved(l) * tasks[l->task].once / s->d.ceilings.copy_tbs;
    bench_row_run(&s->d, row, job_run, j);
}

// Verifies, times and records one variant, whose memory fits.
static void sweep_job(sweep *s, bench_row *row, compact_job *j) {
    const int mark = kit_mark();
    j->a = kit_device(layout_bytes(&j->at) + 64);
    j->b = kit_device(layout_bytes(&j->at) + 64);
    bench_verify(row, job_wrong(j), "cells");
    job_fill(j);
    record(s, row, j);
    kit_release(mark);
}

// ---- levels -------------------------------------------------------------------------------------

// The level up to which papers go: of a side of at most 65536.
static tmap_u32 middle_level(tmap_nbb f) {
    tmap_u32 r = 0;
    while (r < 40 && tmap_nbb_side_x(f, r + 1) <= 65536 && tmap_nbb_side_y(f, r + 1) <= 65536) ++r;
    return r;
}

// The largest level of a form, or 0. The bounding box of bytes ends at 2^33 places.
static tmap_u32 top_level(const sweep *s, tmap_nbb f, int task, int form) {
    const tmap_u64 most = form == BB && s->room > 1ull << 34 ? 1ull << 34 : s->room;
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
    if (s->levels[0] <= s->levels[1]) return r >= s->levels[0] && r <= s->levels[1];
    if (s->d.quick)
        return (task == LIFE || task == HEAT_8 || task == DIFFUSION_F32 || task == ISING) &&
               (r == middle || (gasket && task == LIFE && r == top));
    if (r == middle || (r == top && (gasket || task != ISING))) return 1; // a second a sweep
    if (gasket && r == 15) return 1; // where the figures of others end
    return (task == LIFE || gasket) && tmap_nbb_side_x(f, r) >= 700 && (r ^ middle) % 2 == 0;
}

// All forms of a task at a level.
static void sweep_task(sweep *s, tmap_nbb f, tmap_u32 r, int task) {
    for (int form = 0; form < FORMS; ++form) {
        compact_job j;
        bench_row row;
        memset(&j, 0, sizeof j);
        if (!form_has(form, task) || !level_is_run(s, f, task, form, r)) continue;
        if (!layout_make(f, r, task, form, &j.at) || !job_plan(&j)) continue;
        if (tmap_mul_saturate(layout_bytes(&j.at), 2) > room(s)) continue;
        row = row_of(s, &j.at);
        if (bench_wants(&s->d, &row)) sweep_job(s, &row, &j);
    }
}

// ---- states from one storage to another ---------------------------------------------------------

static void sweep_moves(sweep *s, tmap_nbb f) {
    const tmap_u32 r = s->levels[0] <= s->levels[1] ? s->levels[1] : middle_level(f);
    for (int move = 0; move < MOVES; ++move) {
        bench_row row = bench_row_begin(&s->d, "move", moves[move].name, fractal_name(f));
        move_job j;
        bench_key(&row, "size", "%u", r);
        bench_key_text(&row, "dtype", moves[move].dtype);
        if (!move_fits(f, r, move, room(s)) || !bench_wants(&s->d, &row)) continue;
        move_make(&j, f, r, move);
        bench_verify(&row, move_check(&j), "cells");
        bench_key(&row, "cells", "%.0f", (double)j.cells.cells);
        row.rate = "gcells", row.unit = "Gcell/s", row.each = 1e-6 * (double)j.cells.cells;
        row.limit_ms = 1e-9 * move_moved(&j) / s->d.ceilings.copy_tbs;
        bench_row_run(&s->d, &row, move_run, &j);
        kit_release(0);
    }
}

static void sweep_fractal(sweep *s, tmap_nbb f) {
    for (int task = 0; task < TASKS; ++task)
        for (tmap_u32 r = 0; r <= tmap_nbb_linear_level_max64(f); ++r) sweep_task(s, f, r, task);
    sweep_moves(s, f);
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--fractal", "a name, rows as '#./##', or all", "all", 0, BENCH_TEXT, &s.fractal, 0, 0},
        {"--levels", "every level of these, not every second one up to the largest", 0, 0,
         BENCH_RANGE, s.levels, 0, 64},
        {"--memory", "bytes that two states may take, or 0: what the device has free", "0", 0,
         BENCH_NUMBER, &s.memory, 0, 1ull << 50}};
    tmap_nbb own = tmap_fractal_gasket();
    int all;
    s.levels[0] = 1;
    s.d.name = "compact", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "30", s.d.quick_budget = "10", s.d.limit = "330", s.d.quick_limit = "50";
    s.d.queued = 1;
    bench_begin(&s.d, argc, argv);
    all = !strcmp(s.fractal, "all");
    if (!all && tmap_fractal_from_text(s.fractal, &own)) bench_bad("--fractal", s.fractal);
    s.room = room(&s);
    for (int i = 0; i < (all ? TMAP_FRACTAL_COUNT : 1); ++i)
        sweep_fractal(&s, all ? tmap_fractal_at(i) : own);
    return bench_end(&s.d);
}
