// SPDX-License-Identifier: MIT
// mandelbrot.cu: explore mandelbrot: the Mandelbrot set pixel by pixel and by adaptive subdivision
// (ASK), a table of the levels, and pictures of the set and of the regions that it was cut into.
#include "mandelbrot_picture.h"

#include <threadmap/papers/mandelbrot_approaches.h>

static const char help[] =
    "usage: explore mandelbrot [OPTION VALUE]...\n"
    "  --n          pixels along the sides, N or WxH, 1 to 32768 (auto: 4096; CPU machine: 1024)\n"
    "  --dwell      the most steps of a pixel, 1 to 2^30 (512)\n"
    "  --window     x0,x1,y0,y1 (-1.5,0.5,-1,1)\n"
    "  --g --r --B  parts at first, parts of a part, last side divided by r or more (8, 2, 8)\n"
    "  --picture    file of the set, or none (mandelbrot." IMAGE_TYPE ")\n"
    "  --regions    file of its regions, or none (regions." IMAGE_TYPE ")\n"
    "A subdivision is verified if its pixels and regions are those of a serial one, no pixel\n"
    "of the set is lost, and at most one in a hundred counts as the set by mistake.\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

enum { N, DWELL, WINDOW, G, R, SIDE, PICTURE, REGIONS };
enum { EXHAUSTIVE, UNROLLED, ASK, WAYS };

typedef struct mandelbrot_task {
    int way;
    tmap_mandelbrot m;
    tmap_mandelbrot_approaches plain;
    tmap_mandelbrot_plan ask;
    int *out;
} mandelbrot_task;

static void task_run(void *job) {
    const mandelbrot_task *t = (const mandelbrot_task *)job;
    if (t->way == ASK)
        CHECK(tmap_mandelbrot_stream(&t->ask, t->out, 0));
    else
        CHECK(tmap_mandelbrot_approach_run(
            &t->plain,
            t->way == EXHAUSTIVE ? TMAP_MANDELBROT_EXHAUSTIVE : TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED,
            TMAP_ASK_STREAM, t->out, 0));
}

// Reads the picture and its subdivision, and refuses impossible ones.
static tmap_ask_params task_read(mandelbrot_task *t, const option *o, const machine *m,
                                 tmap_ask_domain *d) {
    tmap_mandelbrot *p = &t->m;
    char rest;
    tmap_ask_params a;
    *p = tmap_mandelbrot_make(1, 1, 1);
    p->dwell = (tmap_u32)number("no --dwell from 1 to 2^30", o[DWELL].value, 1, 1u << 30);
    a.g = (tmap_u32)number("no --g from 1 to 65536", o[G].value, 1, 65536);
    a.r = (tmap_u32)number("no --r from 2 to 1024", o[R].value, 2, 1024);
    a.b = (tmap_u32)number("no --B from 1 to 32768", o[SIDE].value, 1, 32768);
    int parts = sscanf(o[WINDOW].value, "%lf,%lf,%lf,%lf%c", &p->x0, &p->x1, &p->y0, &p->y1, &rest);
    if (parts != 4 || tmap_mandelbrot_check(p)) bad("no --window x0<x1,y0<y1", o[WINDOW].value);
    const int automatic = !strcmp(o[N].value, "auto");
    parts = sscanf(o[N].value, "%5ux%5u%c", &p->nx, &p->ny, &rest);
    if (automatic)
        p->nx = p->ny = m->cpu ? 1024 : 4096;
    else if (parts < 2)
        p->nx = p->ny = (tmap_u32)number("no --n from 1 to 32768", o[N].value, 1, 32768);
    if (parts == 3 || (p->nx - 1) >> 15 || (p->ny - 1) >> 15)
        bad("no --n from 1 to 32768", o[N].value);
    const tmap_ask_box box = {p->nx, p->ny, 0};
    if (tmap_ask_domain_make(box, a, d)) bad("--B is more than n / --g", o[SIDE].value);
    return a;
}

// ---- the command --------------------------------------------------------------------------------

// A row for each level: what became of its regions.
static void levels_show(const serial *s) {
    const tmap_ask_domain *d = &s->domain;
    printf("level     side    regions  subdivided      filled    computed\n");
    for (tmap_u32 l = 0; l < d->levels; ++l) {
        const tmap_ask_level_counts *c = &s->counts.level[l];
        printf("%5u %8.1f %10llu %11llu %11llu %11llu\n", l,
               (double)d->nx / (double)tmap_region_parts(d->g, d->r, l), c->regions, c->subdivided,
               c->filled, c->leaves);
    }
}

// The last of n lines that is not beyond 0, if the next one is; else n.
static tmap_u64 line_of_0(tmap_u32 n, double begin, double end) {
    tmap_u32 i = 0;
    while (i < n && fmaf((float)i, (float)((end - begin) / n), (float)begin) <= 0) ++i;
    return i && i < n ? i - 1 : n;
}

// Counts the wrong pixels of t->way's result, on the host. The exhaustive picture is compared with
// the definition in at least 10000 pixels, the others with the exhaustive one, and a subdivision
// with the serial one as well. *mistaken: pixels of it that count as the set by mistake.
static tmap_u64 wrong_pixels(const mandelbrot_task *t, const serial *s, const int *got,
                             tmap_u64 *mistaken) {
    const tmap_u64 pixels = (tmap_u64)t->m.nx * t->m.ny, step = 1 + pixels / 20000;
    tmap_u64 wrong = 0;
    if (t->way == EXHAUSTIVE) {
        for (tmap_u64 i = 0; i < pixels; i += step)
            wrong += got[i] !=
                     tmap_mandelbrot_dwell(&t->m, (tmap_u32)(i % t->m.nx), (tmap_u32)(i / t->m.nx));
        return wrong;
    }
    *mistaken = 0;
    for (tmap_u64 i = 0; i < pixels; ++i) {
        const int differs = got[i] != s->exhaustive[i];
        const int counts = t->way == ASK && got[i] == (int)t->m.dwell;
        *mistaken += differs && counts;
        wrong += (differs && !counts) || (t->way == ASK && got[i] != s->want[i]);
    }
    return *mistaken > pixels / 100 ? wrong + *mistaken : wrong;
}

int explore_mandelbrot(int count, char **words) {
    static const char *const ways[WAYS] = {"exhaustive", "a test in 32 steps", "subdivision"};
    option o[] = {{"--n", "auto"},
                  {"--dwell", "512"},
                  {"--window", "-1.5,0.5,-1,1"},
                  {"--g", "8"},
                  {"--r", "2"},
                  {"--B", "8"},
                  {"--picture", "mandelbrot." IMAGE_TYPE},
                  {"--regions", "regions." IMAGE_TYPE},
                  {NULL, NULL}};
    float ms[WAYS];
    int verified = 1;
    tmap_u64 mistaken = 0;
    output picture, regions;
    mandelbrot_task t;
    tmap_ask_workspace workspace;
    tmap_ask_counts counts;
    serial s;
    memset(&s, 0, sizeof s);
    options_read(o, count, words, help);
    files_differ(&o[PICTURE], &o[REGIONS]);
    const machine m = machine_get();
    const tmap_ask_params a = task_read(&t, o, &m, &s.domain);
    file_begin(&picture, &o[PICTURE]);
    file_begin(&regions, &o[REGIONS]);

    const tmap_u64 pixels = (tmap_u64)t.m.nx * t.m.ny, bytes = pixels * sizeof(int);
    int *exhaustive = (int *)host_memory(bytes, &o[N]), *got = (int *)host_memory(bytes, &o[N]);
    s.dwell = (int)t.m.dwell, s.x = line_of_0(t.m.nx, t.m.x0, t.m.x1);
    s.y = line_of_0(t.m.ny, t.m.y0, t.m.y1);
    s.exhaustive = exhaustive, s.want = (int *)host_memory(bytes, &o[N]);
    s.mark = (unsigned char *)host_memory(pixels, &o[N]);
    t.out = (int *)device_memory(bytes, &o[N]);
    if (tmap_mandelbrot_workspace_create(&t.m, a, 0, &workspace))
        bad("no memory for the subdivision of --n", o[N].value);
    CHECK(tmap_mandelbrot_plan_make(&t.m, &workspace, &t.ask));
    CHECK(tmap_mandelbrot_approaches_make(&t.m, NULL, &t.plain));
    printf("%u x %u pixels, dwell %u, on the %s\n", t.m.nx, t.m.ny, t.m.dwell, m.name);
    rows_begin("pixels");
    for (t.way = EXHAUSTIVE; t.way < WAYS; ++t.way) {
        int *to = t.way == EXHAUSTIVE ? exhaustive : got;
        CHECK(cudaMemset(t.out, 0x5a, bytes));
        ms[t.way] = time_of(&m, task_run, &t);
        CHECK(cudaMemcpy(to, t.out, bytes, cudaMemcpyDeviceToHost));
        tmap_u64 wrong = wrong_pixels(&t, &s, to, &mistaken);
        if (t.way == EXHAUSTIVE) serial_run(&s, t.ask.plain != 0);
        if (t.way == ASK) {
            CHECK(tmap_ask_counts_read(&workspace, &counts, 0));
            wrong += memcmp(counts.level, s.counts.level, sizeof counts.level) != 0;
        }
        rows_add(ways[t.way],
                 t.way == ASK ? 0 : (double)((t.m.nx + 15) / 16 * 16) * ((t.m.ny + 15) / 16 * 16),
                 (double)pixels, ms[t.way], ms[EXHAUSTIVE], !wrong);
        verified &= !wrong;
    }
    rows_end(&m);
    printf("subdivision: %llu of %llu pixels count as the set by mistake\n", mistaken, pixels);
    if (t.ask.plain)
        printf("no regions: rounding decides the dwells of pixels that are so close\n");
    else
        levels_show(&s);
    if (verified && picture.file) picture_set(&t.m, got, &picture, &o[PICTURE]);
    if (verified && regions.file) picture_regions(&t.m, &s, &regions, &o[REGIONS]);
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(t.out));
    free(exhaustive);
    free(got);
    free(s.want);
    free(s.mark);
    return verified ? 0 : 1;
}
