// SPDX-License-Identifier: MIT
// bench_ask: the Mandelbrot set exhaustively, by adaptive serial kernels (ASK) and by dynamic
// parallelism (DP), single block (SBR) and multiple blocks (MBR) per region, over sizes and over
// the landscape of (g, r, B), from coarse lists on until the best plan of each is better than all
// of its neighbours; and what the cost model needs to know (bench/plots/ask_model.py), all in one
// run.
//
// The experiments of Quezada et al., FGCS 145 (2023), sections 4 and 6. Every picture is verified
// before it is timed; one that is wrong ends the run with status 1: the exhaustive one against the
// host's dwells, those of one (g, r, B) against each other in every pixel, and up to 2048 x 2048,
// and at the best (g, r, B) up to 16384 x 16384, against a serial Mariani-Silver, counts of all
// levels included. Differences from the exhaustive picture are counted.
#include "ask_dp_sweep.h"
#include "ask_published.h"
#include "ask_tables.h"
#include "ask_theory.h"

static const char usage[] =
    "usage: bench_ask [--n N,N,...] [--landscape N,N,...] [--g G,...] [--r R,...] [--B B,...]\n"
    "                 [--dwell D] [--parts "
    "drivers,options,dp,model,energy,blocks,tables,published|none]\n"
    "                 [--budget MS] [--limit S] [--bytes N] [--out FILE] [--quick]\n"
    "  --n          sizes; --landscape: sizes at which all of --g x --r x --B are run\n"
    "  --parts      what is run beside the comparison (all of them)\n"
    "  --budget     milliseconds of samples of a time (40; a quarter of it in landscapes)\n"
    "  --limit      seconds after which no search tries another subdivision (400; --quick: 40)\n"
    "  --bytes      memory for the bandwidths\n"
    "  --quick      under a minute: three sizes, no landscapes, no energy\n";

// ---- the approaches -----------------------------------------------------------------------------

// The exhaustive picture: the baseline in its best block shape, and the truth of this size.
static void sweep_exhaustive(sweep *s, job j, size *z) {
    ask_tally t;
    bench_time time;
    int *out = s->out, best = 0;
    tmap_u64 bad_pixels;
    j.variant = PLAIN, j.part = "sizes";
    s->out = s->truth;
    CHECK(cudaMemset(s->truth, ASK_POISON_BYTE, pixels_of(&j) * sizeof(int)));
    job_run(&j);
    bad_pixels = ask_wrong_samples(&j.m, s->truth, 4000);
    if (bad_pixels) wrong(&j, "pixels that are not the host's", bad_pixels);
    t = ask_tally_of(s->truth, NULL, pixels_of(&j), s->tally);
    if (t.poison) wrong(&j, "pixels not written", t.poison);
    z->work = t.work;
    s->out = out;
    for (j.shape = 0; j.shape < ASK_PLAIN_SHAPES; ++j.shape) {
        // Shapes are ranked at a smaller size where a run takes long.
        if (z > s->sizes && z->n > 16384 && j.shape != z[-1].best[PLAIN]) continue;
        bench_progress(s->done, s->all, variant_name(PLAIN));
        job_verify(&j, t.hash);
        time = bench_measure(job_run, &j, s->o.budget_ms);
        job_row(&j, time, NULL, 0);
        if (z->plain_ms == 0 || time.ms < z->plain_ms) z->plain_ms = time.ms, best = j.shape;
    }
    z->best[PLAIN] = best;
    j.shape = best;
    time.ms = z->plain_ms, time.noise_pct = 0;
    print_row(&j, time, 0);
    j.variant = UNROLLED;
    job_verify(&j, t.hash);
    time = bench_measure(job_run, &j, s->o.budget_ms);
    z->unrolled_ms = time.ms;
    job_row(&j, time, NULL, 0);
    print_row(&j, time, 0);
}

// A picture by ASK, if there is such a subdivision. *hash: of the others' pictures, 0: none yet.
static void sweep_ask(sweep *s, job *j, size *z, tmap_u64 *hash, double budget) {
    ask_tally t;
    bench_time time;
    if (!job_prepare(j)) return;
    j->driver = TMAP_ASK_STREAM;
    t = job_verify(j, *hash);
    if (s->serial.n == j->m.nx && j->m.nx <= 2048) {
        ask_counts want;
        job_verify_serially(j, &want);
    }
    *hash = t.hash;
    time = bench_measure(job_run, j, budget);
    job_row(j, time, &t, 0);
    run_add(s, z, j, time.ms, t.hash);
}

// The same for a search.
static void ask_try(sweep *s, job *j, size *z, double budget) {
    tmap_u64 hash = 0;
    bench_progress(s->done, s->all, variant_name(j->variant));
    sweep_ask(s, j, z, &hash, budget);
}

static void sweep_both(sweep *s, job *j, size *z, double budget) {
    tmap_u64 hash = 0;
    for (j->variant = SBR; j->variant <= MBR; ++j->variant) {
        bench_progress(s->done++, s->all, variant_name(j->variant));
        sweep_ask(s, j, z, &hash, budget);
    }
}

// All (g, r, B) of the lists, or the few.
static void sweep_candidates(sweep *s, job j, size *z, int landscape) {
    const settings *o = &s->o;
    j.part = landscape ? "landscape" : "sizes";
    for (int i = 0; landscape && i < o->g.count; ++i)
        for (int k = 0; k < o->r.count; ++k)
            for (int l = 0; l < o->B.count; ++l) {
                j.a.g = o->g.value[i], j.a.r = o->r.value[k], j.a.b = o->B.value[l];
                sweep_both(s, &j, z, o->budget_ms / 4);
            }
    for (int i = 0; i < FEW; ++i) {
        int known = 0;
        j.a = few_candidates[i];
        for (int k = 0; k < s->run_count; ++k)
            known |= s->runs[k].size == (int)(z - s->sizes) && s->runs[k].a.g == j.a.g &&
                     s->runs[k].a.r == j.a.r && s->runs[k].a.b == j.a.b;
        if (!known) sweep_both(s, &j, z, o->budget_ms / 4);
    }
    j.part = "around";
    for (j.variant = SBR; j.variant <= MBR; ++j.variant)
        search_climb(s, j, z, ask_try, o->budget_ms / 4);
}

// The best subdivision of one form again, with a full budget, with all drivers and with the
// options.
static void sweep_best(sweep *s, job j, size *z, int variant) {
    run *best = &s->runs[z->best[variant]];
    ask_tally t;
    bench_time time;
    j.variant = variant, j.a = best->a;
    if (!job_prepare(&j)) return;
    for (j.driver = 0; j.driver <= CAPTURED; ++j.driver) {
        if (j.driver != TMAP_ASK_STREAM && !(s->o.parts & DRIVERS)) continue;
        if (j.driver == CAPTURED && !BENCH_GRAPHS) continue;
        if (j.driver == CAPTURED) job_capture(&j);
        j.part = j.driver == TMAP_ASK_STREAM ? "best" : "drivers";
        t = job_verify(&j, best->hash);
        time = bench_measure(job_run, &j, s->o.budget_ms);
        job_row(&j, time, &t, 0);
        print_row(&j, time, t.differ);
        job_capture_free(&j);
    }
    j.driver = TMAP_ASK_STREAM, j.part = "options";
    if (s->o.parts & OPTIONS) {
        j.m.options = TMAP_MANDELBROT_BULBS;
        if (!job_prepare(&j)) return;
        t = job_verify(&j, 0); // a disc told by its formula may have pixels that do not stay
        time = bench_measure(job_run, &j, s->o.budget_ms);
        job_row(&j, time, &t, 0);
        print_row(&j, time, t.differ);
    }
}

// The mean costs of pixels that a serial run counted, and the work that it saved, as keys of a row.
static int counted(char *row, size_t room, const char *prefix, tmap_u64 work, const ask_counts *c) {
    double border = 0, leaf = 0;
    for (tmap_u32 l = 0; l < c->levels; ++l) {
        border += (double)c->level[l].border_work;
        leaf += (double)c->level[l].leaf_work;
    }
    if (!c->border_pixels || !c->leaf_pixels) return 0;
    return snprintf(row, room, ", \"%sborder\": %.3f, \"%sleaf\": %.3f, \"%somega\": %.4f", prefix,
                    border / (double)c->border_pixels, prefix, leaf / (double)c->leaf_pixels,
                    prefix, (double)work / (double)c->work);
}

// What the best run of a form did, level by level, and what its pixels cost.
static void sweep_levels(sweep *s, job j, size *z, int variant) {
    tmap_ask_counts c;
    ask_counts want;
    char row[2048], list[4][384] = {"", "", "", ""};
    int length;
    j.variant = variant, j.a = s->runs[z->best[variant]].a, j.driver = TMAP_ASK_STREAM;
    if (!job_prepare(&j)) return;
    job_verify(&j, s->runs[z->best[variant]].hash);
    CHECK(tmap_ask_counts_read(&j.workspace, &c, 0));
    for (tmap_u32 l = 0; l < c.levels; ++l) {
        const tmap_ask_level_counts *v = &c.level[l];
        double several = (double)(v->subdivided + v->leaves);
        const char *comma = l ? ", " : "";
        for (int k = 0; k < 4; ++k)
            if (strlen(list[k]) + 32 > sizeof list[k]) return;
        sprintf(list[0] + strlen(list[0]), "%s%llu", comma, v->regions);
        sprintf(list[1] + strlen(list[1]), "%s%llu", comma, v->subdivided);
        sprintf(list[2] + strlen(list[2]), "%s%llu", comma, v->filled);
        sprintf(list[3] + strlen(list[3]), "%s%.5f", comma,
                v->regions ? several / (double)v->regions : 0);
    }
    length = snprintf(row, sizeof row,
                      "\"work\": \"levels\", \"variant\": \"%s\", \"domain\": \"mandelbrot\", "
                      "\"size\": %u, \"n\": %u, \"dwell\": %u, \"g\": %u, \"r\": %u, \"B\": %u, "
                      "\"regions\": [%s], \"subdivided\": [%s], \"filled\": [%s], \"P\": [%s], "
                      "\"whole\": %.3f, \"verified\": true",
                      variant_name(variant), z->n, z->n, s->o.dwell, j.a.g, j.a.r, j.a.b, list[0],
                      list[1], list[2], list[3], (double)z->work / (double)pixels_of(&j));
    if (s->serial.n == z->n) {
        job_verify_serially(&j, &want);
        length += counted(row + length, sizeof row - (size_t)length, "", z->work, &want);
        if (variant == MBR) { // once
            ask_serial_run(&s->serial, j.a, 0, &want);
            counted(row + length, sizeof row - (size_t)length, "own_", z->work, &want);
        }
    }
    bench_results_row(&s->results, row);
}

// ---- a size -------------------------------------------------------------------------------------

static void sweep_size(sweep *s, size *z) {
    job j;
    int landscape = 0;
    for (int i = 0; i < s->o.landscape.count; ++i) landscape |= s->o.landscape.value[i] == z->n;
    memset(&j, 0, sizeof j);
    j.s = s;
    j.m = tmap_mandelbrot_make(z->n, z->n, s->o.dwell);
    job_plan(&j);
    for (int v = 0; v < VARIANTS; ++v) z->best[v] = -1;
    sweep_exhaustive(s, j, z);
    if (z->n <= 16384) s->serial = ask_serial_make(z->n, s->truth);
    if (s->o.parts & MODEL) sweep_curve(s, z);
    sweep_candidates(s, j, z, landscape);
    for (int variant = SBR; variant <= MBR; ++variant) {
        if (z->best[variant] < 0) continue;
        sweep_best(s, j, z, variant);
        sweep_levels(s, j, z, variant);
    }
    if (s->o.parts & OPTIONS) {
        ask_tally t;
        bench_time time;
        j.variant = UNROLLED, j.part = "options";
        j.m.options = TMAP_MANDELBROT_BULBS;
        job_plan(&j);
        t = job_draw(&j);
        time = bench_measure(job_run, &j, s->o.budget_ms);
        job_row(&j, time, &t, 0);
        print_row(&j, time, t.differ);
        j.m.options = 0;
        job_plan(&j);
    }
    if (s->o.parts & DP) sweep_dp(s, j, z, landscape);
    if (s->o.parts & BLOCKS) sweep_blocks(s, j, z);
    if (s->o.parts & PUBLISHED) sweep_published(s, z, landscape && (s->cpu || z->n > 4096));
    if (s->o.parts & TABLES && (landscape || s->o.quick) && z->n <= 16384) sweep_order(s, z);
    if (has_energy(s, z)) sweep_energy(s, j, z);
    if (s->serial.n) ask_serial_free(&s->serial);
}

// ---- the command line ---------------------------------------------------------------------------

static int parts(const char *option, const char *text) {
    int found = 0;
    if (!strcmp(text, "none")) return 0;
    for (const char *p = text; *p; p += *p == ',') {
        size_t length = strcspn(p, ",");
        int part = 0;
        while (part < PARTS &&
               (strlen(part_names[part]) != length || strncmp(part_names[part], p, length)))
            ++part;
        if (part == PARTS) bench_bad(option, text);
        found |= 1 << part;
        p += length;
    }
    return found;
}

static void parse(settings *o, int argc, char **argv) {
    if (bench_quick(&argc, argv, usage)) {
        const bench_numbers sizes = {{1024, 4096, 16384}, 3}, none = {{0}, 0};
        o->n = sizes, o->landscape = none, o->quick = 1;
        o->parts &= ~ENERGY, o->budget_ms = 10, o->limit_s = 40;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            o->n = bench_numbers_of(option, p, 4, 1u << 20);
        else if (!strcmp(option, "--landscape"))
            o->landscape = bench_numbers_of(option, p, 4, 1u << 20);
        else if (!strcmp(option, "--g"))
            o->g = bench_numbers_of(option, p, 1, 1u << 16);
        else if (!strcmp(option, "--r"))
            o->r = bench_numbers_of(option, p, 2, 1024);
        else if (!strcmp(option, "--B"))
            o->B = bench_numbers_of(option, p, 1, 1u << 16);
        else if (!strcmp(option, "--dwell"))
            o->dwell = (tmap_u32)bench_number(option, p, 1, 1u << 30);
        else if (!strcmp(option, "--parts"))
            o->parts = parts(option, p);
        else if (!strcmp(option, "--out"))
            o->out = p;
        else if (!strcmp(option, "--budget"))
            o->budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--limit"))
            o->limit_s = (double)bench_number(option, p, 0, 1u << 30);
        else if (!strcmp(option, "--bytes"))
            o->bytes = bench_number(option, p, 1 << 16, 1ull << 40);
        else
            bench_bad(option, p);
    }
}

int main(int argc, char **argv) {
    static sweep s;
    settings o = {NULL,
                  {{1024, 2048, 4096, 8192, 16384, 32768, 65536}, 7},
                  {{4096, 16384}, 2},
                  {{2, 4, 8, 16, 32, 64, 128, 256}, 8},
                  {{2, 4, 8, 16}, 4},
                  {{4, 8, 16, 32, 64}, 5},
                  512,
                  DRIVERS | OPTIONS | DP | MODEL | ENERGY | BLOCKS | TABLES | PUBLISHED,
                  0,
                  40,
                  400,
                  4ull << 30};
    int devices = 0;
    size_t free_bytes, total;
    struct cudaDeviceProp device;
    tmap_u64 most = 0;
    bench_program = "bench_ask";
    parse(&o, argc, argv);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    s.o = o;
    s.begin = time(NULL);
    for (int i = 0; i < o.n.count; ++i) {
        int landscape = 0;
        for (int k = 0; k < o.landscape.count; ++k)
            landscape |= o.landscape.value[k] == o.n.value[i];
        s.all += 2 * (landscape ? o.g.count * o.r.count * o.B.count : FEW);
        if (o.n.value[i] > most) most = o.n.value[i];
    }
    s.ceilings = bench_measure_ceilings((size_t)o.bytes);
    printf("copy %.3f TB/s, fill %.3f TB/s, read %.3f TB/s\n\n", s.ceilings.copy_tbs,
           s.ceilings.fill_tbs, s.ceilings.read_tbs);
    if (bench_results_open(&s.results, o.out, "ask", s.ceilings)) bench_bad("--out", o.out);
    // Two pictures, flags of the curve's regions, tables.
    CHECK(cudaGetDeviceProperties(&device, 0));
    s.cpu = !strcmp(device.name, "CPU SIMT machine");
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    s.memory.bytes = most * most / 8 * 5 + (1 << 20);
    if (most * most * 17 / 2 + s.memory.bytes > free_bytes)
        bench_bad("--n: no memory for", "that size");
    CHECK(cudaMalloc((void **)&s.truth, most * most * sizeof(int)));
    CHECK(cudaMalloc((void **)&s.out, most * most * sizeof(int)));
    CHECK(cudaMalloc(&s.memory.data, s.memory.bytes));
    CHECK(cudaMalloc((void **)&s.tally, sizeof *s.tally));
    CHECK(cudaMalloc((void **)&s.lost, sizeof *s.lost));
    if (o.parts & ENERGY) s.meter = bench_energy_open();
    print_head();
    if (o.parts & TABLES) sweep_insert(&s);
    if (o.parts & DP) sweep_losses(&s);
    for (int i = 0; i < o.n.count; ++i) {
        s.sizes[i].n = o.n.value[i];
        sweep_size(&s, &s.sizes[i]);
    }
    if (o.parts & MODEL) ask_theory_rows(&s.results);
    bench_progress(s.all, s.all, "");
    CHECK(cudaFree(s.truth));
    CHECK(cudaFree(s.out));
    CHECK(cudaFree(s.memory.data));
    CHECK(cudaFree(s.tally));
    CHECK(cudaFree(s.lost));
    if (bench_results_close(&s.results)) bench_bad("--out", o.out);
    return 0;
}
