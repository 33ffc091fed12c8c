// SPDX-License-Identifier: MIT
// bench_ask: the Mandelbrot set exhaustively, by adaptive serial kernels (ASK) and by dynamic
// parallelism (DP), single block (SBR) and multiple blocks (MBR) per region, over sizes and over
// the landscape of (g, r, B), from coarse lists on until the best plan of each is better than all
// of its neighbours; and what the cost model needs to know (bench/plots/ask_model.py), all in one
// run.
//
// The experiments of Quezada et al., FGCS 145 (2023), sections 4 and 6. Every picture is verified
// before it is timed: the exhaustive one against the
// host's dwells, those of one (g, r, B) against each other in every pixel, and up to 2048 x 2048,
// and at the best (g, r, B) up to 16384 x 16384, against a serial Mariani-Silver, counts of all
// levels included. Differences from the exhaustive picture are counted.
//
// Rows that --filter and its kind leave out are not measured, so that a search goes over the others.
#include "ask_dp_sweep.h"
#include "ask_published.h"
#include "ask_tables.h"
#include "ask_theory.h"

// ---- the approaches -----------------------------------------------------------------------------

// Draws the exhaustive picture, the truth of this size. Returns its hash.
static tmap_u64 make_truth(sweep *s, job *j, size *z) {
    ask_tally t;
    int *out = s->out;
    s->out = s->truth;
    CHECK(cudaMemset(s->truth, ASK_POISON_BYTE, pixels_of(j) * sizeof(int)));
    job_run(j);
    bench_verify(&j->row, ask_wrong_samples(&j->m, s->truth, 4000),
                 "pixels that are not the host's");
    t = ask_tally_of(s->truth, NULL, pixels_of(j), s->tally);
    bench_verify(&j->row, t.poison, "pixels not written");
    z->work = t.work;
    s->out = out;
    return t.hash;
}

// The baseline in its best block shape.
static void sweep_exhaustive(sweep *s, job j, size *z) {
    tmap_u64 hash = 0;
    j.variant = PLAIN, j.part = "sizes";
    j.row = job_row_of(&j, "mandelbrot");
    if (!s->d.list) hash = make_truth(s, &j, z);
    z->best[PLAIN] = 0;
    for (j.shape = 0; j.shape < ASK_PLAIN_SHAPES; ++j.shape) {
        double ms;
        // Shapes are ranked at a smaller size where a run takes long.
        if (z > s->sizes && z->n > 16384 && j.shape != z[-1].best[PLAIN]) continue;
        if (!job_wants(&j)) continue;
        job_verify(&j, hash);
        ms = job_time(&j, s->d.budget_ms).ms;
        job_row(&j, NULL, 0);
        if (z->plain_ms == 0 || ms < z->plain_ms) z->plain_ms = ms, z->best[PLAIN] = j.shape;
    }
    j.variant = UNROLLED;
    if (!job_wants(&j)) return;
    job_verify(&j, hash);
    z->unrolled_ms = job_time(&j, s->d.budget_ms).ms;
    job_row(&j, NULL, 0);
}

// A picture by ASK, if there is such a subdivision. *hash: of the others' pictures, 0: none yet.
static void sweep_ask(sweep *s, job *j, size *z, tmap_u64 *hash, double budget) {
    ask_tally t;
    if (!job_prepare(j)) return;
    j->driver = TMAP_ASK_STREAM;
    if (!job_wants(j)) {
        run_add(s, z, j, 0, 0);
        return;
    }
    t = job_verify(j, *hash);
    if (s->serial.n == j->m.nx && j->m.nx <= 2048) {
        ask_counts want;
        job_verify_serially(j, &want);
    }
    *hash = t.hash;
    job_time(j, budget);
    job_row(j, &t, 0);
    run_add(s, z, j, j->row.time.ms, t.hash);
}

// The same for a search.
static void ask_try(sweep *s, job *j, size *z, double budget) {
    tmap_u64 hash = 0;
    sweep_ask(s, j, z, &hash, budget);
}

static void sweep_both(sweep *s, job *j, size *z, double budget) {
    tmap_u64 hash = 0;
    for (j->variant = SBR; j->variant <= MBR; ++j->variant) sweep_ask(s, j, z, &hash, budget);
}

// All (g, r, B) of the lists, or the few.
static void sweep_candidates(sweep *s, job j, size *z, int landscape) {
    const int all = params_listed(s, landscape);
    j.part = landscape ? "landscape" : "sizes";
    for (int i = 0; i < all + FEW; ++i) {
        int known = 0;
        j.a = params_at(s, all, few_candidates, i);
        for (int k = 0; i >= all && k < s->run_count; ++k)
            known |= s->runs[k].size == (int)(z - s->sizes) && s->runs[k].a.g == j.a.g &&
                     s->runs[k].a.r == j.a.r && s->runs[k].a.b == j.a.b;
        if (!known) sweep_both(s, &j, z, s->d.budget_ms / 4);
    }
    j.part = "around";
    for (j.variant = SBR; j.variant <= MBR; ++j.variant)
        search_climb(s, j, z, ask_try, s->d.budget_ms / 4);
}

// The best subdivision of one form again, with a full budget, with all drivers and with the
// options.
static void sweep_best(sweep *s, job j, size *z, int variant) {
    run *best = &s->runs[z->best[variant]];
    ask_tally t;
    j.variant = variant, j.a = best->a;
    if (!job_prepare(&j)) return;
    for (j.driver = 0; j.driver <= CAPTURED; ++j.driver) {
        if (j.driver != TMAP_ASK_STREAM && !(s->o.parts & DRIVERS)) continue;
        if (j.driver == CAPTURED && !BENCH_GRAPHS) continue;
        j.part = j.driver == TMAP_ASK_STREAM ? "best" : "drivers";
        if (!job_wants(&j)) continue;
        if (j.driver == CAPTURED) job_capture(&j);
        t = job_verify(&j, best->hash);
        job_time(&j, s->d.budget_ms);
        job_row(&j, &t, 0);
        job_capture_free(&j);
    }
    j.driver = TMAP_ASK_STREAM, j.part = "options";
    if (s->o.parts & OPTIONS) {
        j.m.options = TMAP_MANDELBROT_BULBS;
        if (!job_prepare(&j) || !job_wants(&j)) return;
        t = job_verify(&j, 0); // a disc told by its formula may have pixels that do not stay
        job_time(&j, s->d.budget_ms);
        job_row(&j, &t, 0);
    }
}

// The mean costs of pixels that a serial run counted, and the work that it saved, as keys of a row.
static void counted(bench_row *row, const char *prefix, tmap_u64 work, const ask_counts *c) {
    double border = 0, leaf = 0;
    char key[32];
    for (tmap_u32 l = 0; l < c->levels; ++l) {
        border += (double)c->level[l].border_work;
        leaf += (double)c->level[l].leaf_work;
    }
    if (!c->border_pixels || !c->leaf_pixels) return;
    snprintf(key, sizeof key, "%sborder", prefix);
    bench_key(row, key, "%.3f", border / (double)c->border_pixels);
    snprintf(key, sizeof key, "%sleaf", prefix);
    bench_key(row, key, "%.3f", leaf / (double)c->leaf_pixels);
    snprintf(key, sizeof key, "%somega", prefix);
    bench_key(row, key, "%.4f", (double)work / (double)c->work);
}

// What the best run of a form did, level by level, and what its pixels cost.
static void sweep_levels(sweep *s, job j, size *z, int variant) {
    static const char *const keys[] = {"regions", "subdivided", "filled", "P"};
    tmap_ask_counts c;
    ask_counts want;
    char list[4][384] = {"", "", "", ""};
    j.variant = variant, j.a = s->runs[z->best[variant]].a, j.driver = TMAP_ASK_STREAM;
    j.part = NULL, j.row = job_row_of(&j, "levels");
    if (!bench_wants(&s->d, &j.row) || !job_prepare(&j)) return;
    job_verify(&j, s->runs[z->best[variant]].hash);
    CHECK(tmap_ask_counts_read(&j.workspace, &c, 0));
    for (tmap_u32 l = 0; l < c.levels; ++l) {
        const tmap_ask_level_counts *v = &c.level[l];
        double several = (double)(v->subdivided + v->leaves);
        const char *comma = l ? "," : "";
        for (int k = 0; k < 4; ++k)
            if (strlen(list[k]) + 32 > sizeof list[k]) return;
        sprintf(list[0] + strlen(list[0]), "%s%llu", comma, v->regions);
        sprintf(list[1] + strlen(list[1]), "%s%llu", comma, v->subdivided);
        sprintf(list[2] + strlen(list[2]), "%s%llu", comma, v->filled);
        sprintf(list[3] + strlen(list[3]), "%s%.5f", comma,
                v->regions ? several / (double)v->regions : 0);
    }
    row_size(&j.row, z->n, s->o.dwell);
    for (int k = 0; k < 4; ++k) bench_key(&j.row, keys[k], "[%s]", list[k]);
    bench_key(&j.row, "whole", "%.3f", (double)z->work / (double)pixels_of(&j));
    if (s->serial.n == z->n) {
        job_verify_serially(&j, &want);
        counted(&j.row, "", z->work, &want);
        if (variant == MBR) { // once
            ask_serial_run(&s->serial, j.a, 0, &want);
            counted(&j.row, "own_", z->work, &want);
        }
    }
    bench_row_end(&s->d, &j.row);
}

// ---- a size -------------------------------------------------------------------------------------

static void sweep_size(sweep *s, size *z) {
    const int mark = kit_mark();
    job j;
    int landscape = 0;
    for (int i = 0; i < s->o.landscape.count; ++i) landscape |= s->o.landscape.value[i] == z->n;
    memset(&j, 0, sizeof j);
    j.s = s;
    j.m = tmap_mandelbrot_make(z->n, z->n, s->o.dwell);
    job_plan(&j);
    for (int v = 0; v < VARIANTS; ++v) z->best[v] = -1;
    sweep_exhaustive(s, j, z);
    if (z->n <= 16384 && !s->d.list) s->serial = ask_serial_make(z->n, s->truth);
    if (s->o.parts & MODEL) sweep_curve(s, z);
    sweep_candidates(s, j, z, landscape);
    for (int variant = SBR; variant <= MBR; ++variant) {
        if (z->best[variant] < 0) continue;
        sweep_best(s, j, z, variant);
        sweep_levels(s, j, z, variant);
    }
    j.variant = UNROLLED, j.part = "options", j.m.options = TMAP_MANDELBROT_BULBS;
    if (s->o.parts & OPTIONS && job_wants(&j)) {
        ask_tally t;
        job_plan(&j);
        t = job_draw(&j);
        bench_verify(&j.row, t.poison, "pixels not written");
        job_time(&j, s->d.budget_ms);
        job_row(&j, &t, 0);
    }
    j.m.options = 0;
    job_plan(&j);
    if (s->o.parts & DP) sweep_dp(s, j, z, landscape);
    if (s->o.parts & BLOCKS) sweep_blocks(s, j, z);
    if (s->o.parts & PUBLISHED) sweep_published(s, z, landscape && (s->cpu || z->n > 4096));
    if (s->o.parts & TABLES && (landscape || s->d.quick) && z->n <= 16384) sweep_order(s, z);
    if (has_energy(s, z)) sweep_energy(s, j, z);
    s->serial.n = 0;
    kit_release(mark);
}

// ---- the command line ---------------------------------------------------------------------------

static int parts_of(const char *text) {
    int found = 0;
    for (int part = 0; part < PARTS; ++part)
        if (bench_listed(text, part_names[part])) found |= 1 << part;
    if (!found && strcmp(text, "none")) bench_bad("--parts", text);
    return found;
}

// Two pictures, flags of the curve's regions, tables.
static void sweep_begin(sweep *s) {
    struct cudaDeviceProp device;
    size_t free_bytes, total;
    tmap_u64 most = 0;
    for (int i = 0; i < s->o.n.count; ++i)
        if (s->o.n.value[i] > most) most = s->o.n.value[i];
    CHECK(cudaGetDeviceProperties(&device, 0));
    s->cpu = !strcmp(device.name, "CPU SIMT machine");
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    s->memory.bytes = most * most / 8 * 5 + (1 << 20);
    if (most * most * 17 / 2 + s->memory.bytes > free_bytes)
        bench_bad("--n: no memory for", "that size");
    s->truth = (int *)kit_device(most * most * sizeof(int));
    s->out = (int *)kit_device(most * most * sizeof(int));
    s->memory.data = kit_device(s->memory.bytes);
    s->tally = (ask_tally *)kit_device(sizeof *s->tally);
    s->lost = (tmap_u64 *)kit_device(sizeof *s->lost);
    if (s->o.parts & ENERGY) s->meter = bench_energy_open();
}

int main(int argc, char **argv) {
    static sweep s;
    settings *o = &s.o;
    const char *parts;
    tmap_u64 dwell;
    const bench_option options[] = {
        {"--n", "sizes", "1024,2048,4096,8192,16384,32768,65536", "1024,4096,16384", BENCH_LIST,
         &o->n, 4, 1u << 20},
        {"--landscape", "sizes at which all of --g x --r x --B are run", "4096,16384", "",
         BENCH_LIST, &o->landscape, 4, 1u << 20},
        {"--g", "parts of the picture's side", "2,4,8,16,32,64,128,256", 0, BENCH_LIST, &o->g, 1,
         1u << 16},
        {"--r", "parts of a region's side", "2,4,8,16", 0, BENCH_LIST, &o->r, 2, 1024},
        {"--B", "sides of regions that are not cut", "4,8,16,32,64", 0, BENCH_LIST, &o->B, 1,
         1u << 16},
        {"--dwell", "most iterations of a pixel", "512", 0, BENCH_NUMBER, &dwell, 1, 1u << 30},
        {"--parts", "what is run beside the comparison, or none",
         "drivers,options,dp,model,energy,blocks,tables,published",
         "drivers,options,dp,model,blocks,tables,published", BENCH_TEXT, &parts, 0, 0},
        {"--limit", "seconds after which no search tries another subdivision", "400", "40",
         BENCH_REAL, &o->limit_s, 0, 1u << 30}};
    s.d.name = "ask", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "40", s.d.quick_budget = "10";
    bench_begin(&s.d, argc, argv);
    o->dwell = (tmap_u32)dwell, o->parts = parts_of(parts);
    sweep_begin(&s);
    if (o->parts & TABLES) sweep_insert(&s);
    if (o->parts & DP) sweep_concurrent(&s), sweep_losses(&s);
    for (int i = 0; i < o->n.count; ++i) {
        s.sizes[i].n = o->n.value[i];
        sweep_size(&s, &s.sizes[i]);
    }
    if (o->parts & MODEL) ask_theory_rows(&s.d);
    return bench_end(&s.d);
}
