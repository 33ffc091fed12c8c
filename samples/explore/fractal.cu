// SPDX-License-Identifier: MIT
// fractal.cu: explore fractal: a work on the cells of a fractal by bounding box, by lambda and by the
// engine, each verified place by place, and a picture.
#include "fractal_picture.h"

static const char help[] =
    "usage: explore fractal [OPTION VALUE]...\n"
    "  --work     write a number to every cell, sum random numbers, or a step of life (write)\n"
    "  --fractal  " FRACTAL_NAMES "or rows: '#./##'\n"
    "  --level    of the fractal, 0 to 64 (auto: up to 2^28 places; on the CPU machine 2^16)\n"
    "  --rho      side of the blocks of bounding box and lambda, 1 to 32 (16)\n"
    "  --rule     of life (B3/S23)\n"
    "  --steps    of life in the picture, 0 to 99 (11)\n"
    "  --seed     of random numbers, 0 to 2^64 - 1 (1)\n"
    "  --picture  file of the fractal, or of the steps of life, or none (auto: "
    "fractal." IMAGE_TYPE ",\n"
    "             life." IMAGE_TYPE ")\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

enum { WORK, FRACTAL, LEVEL, RHO, RULE, STEPS, SEED, PICTURE };

// Reads the options into a task; returns the steps of the picture.
static tmap_u32 task_read(fractal_task *t, option *o, const machine *m) {
    const int automatic = !strcmp(o[LEVEL].value, "auto");
    const tmap_u64 most = m->cpu ? 1u << 16 : 1u << 28;
    int error;
    memset(t, 0, sizeof *t);
    for (; strcmp(o[WORK].value, work_names[t->work]); ++t->work)
        if (t->work == WORKS - 1) bad("no such --work", o[WORK].value);
    if ((error = tmap_fractal_from_text(o[FRACTAL].value, &t->f)) != TMAP_OK)
        bad(tmap_strerror(error), o[FRACTAL].value);
    if (!automatic) t->r = (tmap_u32)number("no --level from 0 to 64", o[LEVEL].value, 0, 64);
    while (automatic && t->r < 28 &&
           tmap_nbb_side_x(t->f, t->r + 1) * tmap_nbb_side_y(t->f, t->r + 1) <= most)
        ++t->r;
    t->rho = (tmap_u32)number("no --rho from 1 to 32", o[RHO].value, 1, 32);
    t->seed = number("no --seed from 0 to 2^64 - 1", o[SEED].value, 0, ~0ull);
    if (tmap_ca_rule_from_text(o[RULE].value, &t->rule))
        bad("no --rule such as B3/S23", o[RULE].value);
    t->wide = tmap_nbb_side_x(t->f, t->r), t->high = tmap_nbb_side_y(t->f, t->r);
    t->places = tmap_mul_saturate(t->wide, t->high), t->cells = tmap_nbb_cells(t->f, t->r);
    if (!strcmp(o[PICTURE].value, "auto"))
        o[PICTURE].value = t->work == WRITE  ? "fractal." IMAGE_TYPE
                           : t->work == LIFE ? "life." IMAGE_TYPE
                                             : "none";
    if (t->work == SUM && strcmp(o[PICTURE].value, "none"))
        bad("a sum has no --picture", o[PICTURE].value);
    return (tmap_u32)number("no --steps from 0 to 99", o[STEPS].value, 0, 99);
}

int explore_fractal(int count, char **words) {
    static const char *const ways[WAYS] = {"bounding box", "lambda", "engine"};
    option o[] = {{"--work", "write"}, {"--fractal", "gasket"}, {"--level", "auto"},
                  {"--rho", "16"},     {"--rule", "B3/S23"},    {"--steps", "11"},
                  {"--seed", "1"},     {"--picture", "auto"},   {NULL, NULL}};
    float ms[WAYS];
    int verified = 1;
    output picture;
    fractal_task t;
    options_read(o, count, words, help);
    const machine m = machine_get();
    const tmap_u32 steps = task_read(&t, o, &m);
    file_begin(&picture, &o[PICTURE]);
    task_begin(&t, &o[LEVEL]);
    printf("%s, %s, level %u: %llu cells of %llu x %llu places, on the %s\n", o[WORK].value,
           tmap_fractal_name(tmap_fractal_index(t.f)), t.r, t.cells, t.wide, t.high, m.name);
    rows_begin("cells");
    for (t.way = BOX; t.way < WAYS; ++t.way) {
        const double threads = task_threads(&t);
        task_poison(&t);
        ms[t.way] = time_of(&m, task_run, &t);
        const int right = task_right(&t, &o[LEVEL]);
        rows_add(ways[t.way], threads, (double)t.cells, ms[t.way], ms[BOX], right);
        verified &= right;
    }
    rows_end(&m);
    t.way = ENGINE;
    if (!verified)
        file_drop(&picture);
    else if (picture.file && t.work == WRITE)
        picture_fractal(&t, &picture, &o[PICTURE]);
    else if (picture.file)
        picture_life(&t, steps, &picture, &o[PICTURE]);
    task_end(&t);
    return verified ? 0 : 1;
}
