// SPDX-License-Identifier: MIT
// compact.cu: explore compact: Life on a fractal in compact storage, a bit a cell, from a random
// state or a file's; a picture of any part of it at any zoom, and the state as a file.
#include "compact_task.h"
#include "picture.h"

static const char help[] =
    "usage: explore compact [OPTION VALUE]...\n"
    "  --state    .npy that --out or state.h has written, or random (random)\n"
    "  --fractal  " FRACTAL_NAMES "or rows: '#./##'\n"
    "             (auto: the state's, or gasket)\n"
    "  --level    of the fractal (auto: the state's, or up to 2^32 cells; CPU machine: 2^16)\n"
    "  --seed     of the random state, 0 to 2^64 - 1 (1)\n"
    "  --rule     of life (B3/S23)\n"
    "  --steps    of life, 0 to 2^32 - 1 (auto: 16, of floats 0)\n"
    "  --zoom     levels in a pixel (auto: up to 1024 pixels in the whole picture)\n"
    "  --at       the window's first pixel, x,y (0,0)\n"
    "  --size     its pixels, WxH, up to 4096 each (auto: up to the end, 1024 at most)\n"
    "  --picture  file of the window, or none (compact." IMAGE_TYPE ")\n"
    "  --out      .npy for the last state, or none (none)\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

enum { STATE, FRACTAL, LEVEL, SEED, RULE, STEPS, ZOOM, AT, SIZE, PICTURE, OUT };

static int is_auto(const option *o) { return !strcmp(o->value, "auto"); }

// Reads fractal, level, steps and the file of --state, which compact_begin frees.
static void task_read(compact_task *t, const option *o, const machine *m) {
    const tmap_u64 most = m->cpu ? 1ull << 16 : 1ull << 32;
    char line[200];
    int error;
    memset(t, 0, sizeof *t);
    if (tmap_ca_rule_from_text(o[RULE].value, &t->rule))
        bad("no --rule such as B3/S23", o[RULE].value);
    if (!is_auto(&o[STEPS]))
        t->steps =
            (tmap_u32)number("no --steps from 0 to 2^32 - 1", o[STEPS].value, 0, 0xffffffffull);
    if (strcmp(o[STATE].value, "random")) {
        if (!is_auto(&o[FRACTAL])) bad("--state tells the --fractal", o[FRACTAL].value);
        if (!is_auto(&o[LEVEL])) bad("--state tells the --level", o[LEVEL].value);
        if (state_read(o[STATE].value, &t->from, line, sizeof line)) file_bad(line);
        compact_describe(t, &o[STATE]);
    } else {
        t->f = tmap_fractal_gasket();
        error = is_auto(&o[FRACTAL]) ? TMAP_OK : tmap_fractal_from_text(o[FRACTAL].value, &t->f);
        if (error != TMAP_OK) bad(tmap_strerror(error), o[FRACTAL].value);
        while (is_auto(&o[LEVEL]) && t->f.k > 1 && tmap_nbb_cells(t->f, t->r + 1) <= most) ++t->r;
        if (!is_auto(&o[LEVEL]))
            t->r = (tmap_u32)number("no --level from 0 to 64", o[LEVEL].value, 0, 64);
    }
    if (is_auto(&o[STEPS]) && t->window.type != TMAP_COMPACT_WINDOW_F32) t->steps = 16;
}

// Reads the window.
static void window_read(compact_task *t, const option *o) {
    tmap_compact_window w;
    tmap_u32 z = 0;
    char rest;
    if (is_auto(&o[ZOOM]))
        while (z < t->r &&
               (tmap_nbb_side_x(t->f, t->r - z) > 1024 || tmap_nbb_side_y(t->f, t->r - z) > 1024))
            ++z;
    else
        z = (tmap_u32)number("no --zoom from 0 to the level", o[ZOOM].value, 0, t->r);
    if (tmap_compact_window_make(t->f, t->r, z, t->window.type, &w) != TMAP_OK)
        bad("no --zoom with less than 2^32 pixels a side", o[ZOOM].value);
    unsigned long long x, y;
    if (strspn(o[AT].value, "0123456789,") != strlen(o[AT].value) ||
        sscanf(o[AT].value, "%10llu,%10llu%c", &x, &y, &rest) != 2 || x >= w.width || y >= w.height)
        bad("no --at x,y inside the picture", o[AT].value);
    w.x = x, w.y = y;
    w.width -= (tmap_u32)x, w.height -= (tmap_u32)y;
    if (is_auto(&o[SIZE])) {
        if (w.width > 1024) w.width = 1024;
        if (w.height > 1024) w.height = 1024;
    } else if (strspn(o[SIZE].value, "0123456789x") != strlen(o[SIZE].value) ||
               sscanf(o[SIZE].value, "%5ux%5u%c", &w.width, &w.height, &rest) != 2 ||
               (w.width - 1) >> 12 || (w.height - 1) >> 12)
        bad("no --size from 1x1 to 4096x4096", o[SIZE].value);
    t->window = w;
}

// ---- the picture --------------------------------------------------------------------------------

// Grey where there is no cell; a scale from the least to the largest value, of bits from 0 to 1.
static void picture_window(const compact_task *t, output *picture, const option *to) {
    const tmap_compact_window *w = &t->window;
    const unsigned grow = 1 + 511 / w->width, wide = w->width * grow > 512 ? w->width * grow : 512;
    const tmap_u64 pixels = (tmap_u64)w->width * w->height;
    const int floats = w->type == TMAP_COMPACT_WINDOW_F32;
    double least = 0, most = 1;
    char text[128];
    canvas c = canvas_make(wide, w->height * grow + 2 * CANVAS_STRIP + 32, to);
    for (tmap_u64 p = 0, first = 1; floats && p < pixels; ++p) {
        const double v = (double)t->got[p];
        if (!(fabs(v) <= 3.5e38)) continue; // no cell, or no number
        least = first || v < least ? v : least, most = first || v > most ? v : most, first = 0;
    }
    snprintf(text, sizeof text, "level %u, step %llu, %llu x %llu places a pixel", t->r,
             t->from.step + t->steps, tmap_nbb_side_x(t->f, w->z), tmap_nbb_side_y(t->f, w->z));
    canvas_text(&c, 6, 6, text);
    for (tmap_u64 p = 0; p < pixels; ++p)
        canvas_fill(&c, (unsigned)(p % w->width) * grow,
                    CANVAS_STRIP + (unsigned)(p / w->width) * grow, grow, grow,
                    isnan(t->got[p])
                        ? 0xd8d8d8
                        : canvas_shade(((double)t->got[p] - least) / (most - least + 1e-300)));
    const double ends[2] = {least, most};
    canvas_scale(&c, 6, c.high - 46, 200, ends, 0);
    canvas_key(&c, 232, c.high - 46, 0xd8d8d8, "no cell");
    snprintf(text, sizeof text, "pixels %llu,%llu to %llu,%llu", w->x, w->y, w->x + w->width - 1,
             w->y + w->height - 1);
    canvas_text(&c, 6, c.high - 14, text);
    canvas_end(&c, picture, to);
}

// ---- the work -----------------------------------------------------------------------------------

static void step_run(void *job) {
    const compact_task *t = (const compact_task *)job;
    CHECK(tmap_compact_life(&t->life, t->rule, t->in, t->out, 0));
}

static void window_run(void *job) {
    const compact_task *t = (const compact_task *)job;
    CHECK(tmap_compact_window_mean(&t->window, t->in, t->pixels, 0));
}

// All steps: t->before and t->after are the last states. Returns the number of steps between them.
static tmap_u32 life_run(compact_task *t) {
    const tmap_u32 checked = t->steps < CHECKED_STEPS ? t->steps : (tmap_u32)CHECKED_STEPS;
    for (tmap_u32 s = 0; s < t->steps; ++s) {
        void *next = t->out;
        if (s == t->steps - checked)
            CHECK(cudaMemcpy(t->before, t->in, t->bytes, cudaMemcpyDeviceToHost));
        step_run(t);
        t->out = t->in, t->in = next;
    }
    CHECK(cudaMemcpy(t->after, t->in, t->bytes, cudaMemcpyDeviceToHost));
    return checked;
}

// Writes the last state: in words, or the floats of --state.
static void state_save(const compact_task *t, output *out, const option *to) {
    state s;
    memset(&s, 0, sizeof s);
    s.f = t->f, s.r = t->r, s.step = t->from.step + t->steps;
    if (t->window.type == TMAP_COMPACT_WINDOW_F32)
        memcpy(s.type, "f4", 3);
    else
        snprintf(s.type, sizeof s.type, "u%u", t->word.bytes % 10);
    file_end(out,
             state_write_head(out->file, &s) == 0 &&
                 fwrite(t->after, 1, t->bytes, out->file) == t->bytes,
             to);
}

int explore_compact(int count, char **words) {
    option o[] = {{"--state", "random"}, {"--fractal", "auto"},
                  {"--level", "auto"},   {"--seed", "1"},
                  {"--rule", "B3/S23"},  {"--steps", "auto"},
                  {"--zoom", "auto"},    {"--at", "0,0"},
                  {"--size", "auto"},    {"--picture", "compact." IMAGE_TYPE},
                  {"--out", "none"},     {NULL, NULL}};
    compact_task t;
    output out, picture;
    options_read(o, count, words, help);
    const machine m = machine_get();
    const tmap_u64 seed = number("no --seed from 0 to 2^64 - 1", o[SEED].value, 0, ~0ull);
    task_read(&t, o, &m);
    const option *of = t.from.data ? &o[STATE] : &o[LEVEL];
    const int floats = t.window.type == TMAP_COMPACT_WINDOW_F32;
    if (!floats && tmap_compact_life_plan_make(t.f, t.r, &t.life) != cudaSuccess)
        bad("no level that has a plan", of->value);
    window_read(&t, o);
    const tmap_u64 pixels = (tmap_u64)t.window.width * t.window.height;
    compact_begin(&t, seed, of);
    t.pixels = (float *)device_memory(pixels * sizeof(float), &o[SIZE]);
    t.got = (float *)host_memory(pixels * sizeof(float), &o[SIZE]);
    for (int i = PICTURE; t.from.type[0] && i <= OUT; ++i) files_differ(&o[STATE], &o[i]);
    files_differ(&o[PICTURE], &o[OUT]);
    file_begin(&picture, &o[PICTURE]);
    file_begin(&out, &o[OUT]);

    const tmap_xy64 side = {tmap_nbb_side_x(t.f, t.r), tmap_nbb_side_y(t.f, t.r)};
    printf("%s, level %u: %llu cells, %llu bytes, of %.4g places, on the %s\n",
           tmap_fractal_name(tmap_fractal_index(t.f)), t.r, t.cells, t.bytes,
           (double)side.x * (double)side.y, m.name);
    int verified = 1;
    rows_begin("cells");
    if (t.steps) {
        const int right = compact_steps_right(&t, life_run(&t));
        const double threads = (double)t.life.grid * t.life.block;
        rows_add("a step of life", threads, (double)t.cells, time_of(&m, step_run, &t), -1, right);
        verified &= right;
    }
    const float ms = time_of(&m, window_run, &t);
    CHECK(cudaMemcpy(t.got, t.pixels, pixels * sizeof(float), cudaMemcpyDeviceToHost));
    const int right = compact_window_right(&t, m.cpu ? 1u << 20 : 1u << 28);
    rows_add("window", 0, 0, ms, -1, right);
    verified &= right;
    rows_end(&m);
    if (!floats)
        printf("step %llu: %llu of %llu cells live\n", t.from.step + t.steps, compact_living(&t),
               t.cells);
    if (!verified) file_drop(&picture), file_drop(&out);
    if (picture.file) picture_window(&t, &picture, &o[PICTURE]);
    if (out.file) state_save(&t, &out, &o[OUT]);
    compact_end(&t);
    return verified ? 0 : 1;
}
