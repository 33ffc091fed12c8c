// SPDX-License-Identifier: MIT
// compact_task.h: a task of explore compact: its state, from a file or random, and the check of its
// steps on the host.
#ifndef EXPLORE_COMPACT_TASK_H
#define EXPLORE_COMPACT_TASK_H

#include "../files/state.h"
#include "tool.h"

#include <threadmap/fractal.h>
#include <threadmap/fractal/compact_move.h>
#include <threadmap/fractal/compact_life.h>

enum { CHECKED_STEPS = 8, CHECKED_SIDE = 48, CHECKED_BOXES = 6 };

typedef struct compact_task {
    tmap_nbb f;
    tmap_u32 r;
    tmap_compact_word word;
    tmap_u64 words, bytes, cells; // bytes: of a state
    tmap_ca_rule rule;
    tmap_u32 steps;
    state from; // a file's; else random, and from.type is empty
    tmap_each_plan life;
    tmap_compact_window window;
    void *in, *out;                // in device memory
    unsigned char *before, *after; // on the host: the last state but CHECKED_STEPS, and the last
    float *pixels, *got;           // of the window, on the device and the host
} compact_task;

static void file_bad(const char *line) {
    fprintf(stderr, "explore: %s\n", line);
    exit(2);
}

// The value of cell i; 0 or 1 if cells are bits.
static double compact_value(const compact_task *t, const unsigned char *state, tmap_u64 i) {
    if (t->window.type == TMAP_COMPACT_WINDOW_F32) return (double)((const float *)state)[i];
    const tmap_u64 w = i % t->words;
    const tmap_u32 bit = (tmap_u32)(i / t->words);
    return state[w * t->word.bytes + bit / 8] >> bit % 8 & 1; // little endian
}

static tmap_u64 compact_living(const compact_task *t) {
    tmap_u64 living = 0, word;
    for (tmap_u64 i = 0; i < t->bytes / 8; ++i) {
        memcpy(&word, t->after + 8 * i, 8);
        for (; word; word &= word - 1) ++living;
    }
    for (tmap_u64 i = t->bytes / 8 * 8; i < t->bytes; ++i)
        for (int bit = 0; bit < 8; ++bit) living += t->after[i] >> bit & 1;
    return living;
}

static tmap_u64 random_word(tmap_u64 seed, tmap_u64 i) {
    tmap_u64 z = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xd1342543de82ef95ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

// ---- its state ----------------------------------------------------------------------------------

// Converts a state of bytes to words, on the device.
static void compact_pack(compact_task *t, const void *bytes, const option *of) {
    unsigned char *device = (unsigned char *)device_memory(t->cells, of);
    CHECK(cudaMemcpy(device, bytes, t->cells, cudaMemcpyHostToDevice));
    CHECK(tmap_compact_bits_pack(t->f, t->r, device, t->in, 0));
    CHECK(cudaMemcpy(t->after, t->in, t->bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
}

// Fractal, level and type of t->from: words, or bytes that become words, or floats, which have no
// steps.
static void compact_describe(compact_task *t, const option *of) {
    const int floats = !strcmp(t->from.type, "f4");
    t->f = t->from.f, t->r = t->from.r;
    t->window.type = floats ? TMAP_COMPACT_WINDOW_F32 : TMAP_COMPACT_WINDOW_WORDS;
    if (floats && t->steps) bad("--state of floats has no --steps", of->value);
}

// Allocates memory; sets the state in t->in and t->after: that of t->from, which is freed, or a
// random one.
static void compact_begin(compact_task *t, tmap_u64 seed, const option *of) {
    const void *file = t->from.data;
    t->word = tmap_compact_word_of(t->f, t->r), t->words = tmap_compact_words(t->f, t->r);
    t->cells = tmap_nbb_cells(t->f, t->r);
    t->bytes = t->window.type == TMAP_COMPACT_WINDOW_F32
                   ? tmap_compact_bytes(t->f, t->r, sizeof(float))
                   : tmap_compact_words_bytes(t->f, t->r);
    t->in = device_memory(t->bytes, of), t->out = device_memory(t->bytes, of);
    t->before = (unsigned char *)host_memory(t->bytes, of);
    t->after = (unsigned char *)host_memory(t->bytes, of);
    if (file && !strcmp(t->from.type, "u1"))
        compact_pack(t, file, of);
    else if (file)
        memcpy(t->after, file, t->bytes);
    for (tmap_u64 i = 0; !file && i < t->words; ++i) {
        const tmap_u64 word = random_word(seed, i) & (~0ull >> (64 - t->word.cells));
        memcpy(t->after + i * t->word.bytes, &word, t->word.bytes);
    }
    state_free(&t->from);
    CHECK(cudaMemcpy(t->in, t->after, t->bytes, cudaMemcpyHostToDevice));
}

static void compact_end(compact_task *t) {
    free(t->before), free(t->after), free(t->got);
    CHECK(cudaFree(t->in));
    CHECK(cudaFree(t->out));
    CHECK(cudaFree(t->pixels));
}

// ---- what the host finds ------------------------------------------------------------------------

// 1 if the last steps are right in a box around cell i. The host computes them from t->before and
// compares all places except a border as wide as the number of steps.
static int compact_box_right(const compact_task *t, tmap_u64 i, tmap_u32 steps) {
    enum { SIDE = CHECKED_SIDE };
    static unsigned char state[2][SIDE * SIDE];
    static tmap_u64 index[SIDE * SIDE];
    const tmap_xy64 cell = tmap_compact_cell(t->f, i, t->r);
    const tmap_u64 x = cell.x > SIDE / 2 ? cell.x - SIDE / 2 : 0;
    const tmap_u64 y = cell.y > SIDE / 2 ? cell.y - SIDE / 2 : 0;
    const tmap_u32 left = x ? steps : 0, up = y ? steps : 0;
    int right = 1;
    for (tmap_u32 p = 0; p < SIDE * SIDE; ++p) {
        index[p] = tmap_compact_index(t->f, x + p % SIDE, y + p / SIDE, t->r);
        state[0][p] = index[p] != ~0ull && compact_value(t, t->before, index[p]) > 0;
    }
    for (tmap_u32 s = 0; s < steps; ++s)
        for (tmap_u32 p = 0; p < SIDE * SIDE; ++p)
            state[~s & 1][p] = index[p] != ~0ull &&
                               tmap_ca_cell(state[s & 1], SIDE, SIDE, p % SIDE, p / SIDE, t->rule);
    for (tmap_u32 py = up; py < SIDE - steps; ++py)
        for (tmap_u32 px = left; px < SIDE - steps; ++px)
            if (index[py * SIDE + px] != ~0ull)
                right &= state[steps & 1][py * SIDE + px] ==
                         (unsigned char)compact_value(t, t->after, index[py * SIDE + px]);
    return right;
}

// Checks the last steps in boxes around the first, the last and random cells.
static int compact_steps_right(const compact_task *t, tmap_u32 steps) {
    int right = 1;
    for (tmap_u32 b = 0; b < CHECKED_BOXES; ++b)
        right &= compact_box_right(t,
                                   b == 0   ? 0
                                   : b == 1 ? t->cells - 1
                                            : random_word(b, t->cells) % t->cells,
                                   steps);
    return right;
}

// 1 if the first pixels of the window, with up to `most` cells together, are the means of their
// cells.
static int compact_window_right(const compact_task *t, tmap_u64 most) {
    const tmap_compact_window *w = &t->window;
    const tmap_u64 run = tmap_nbb_cells(t->f, w->z);
    int right = 1;
    tmap_u64 sums = 0;
    for (tmap_u64 p = 0; p < (tmap_u64)w->width * w->height; ++p) {
        const tmap_u64 at =
            tmap_compact_index(t->f, w->x + p % w->width, w->y + p / w->width, t->r - w->z);
        double sum = 0;
        right &= (at == ~0ull) == !!isnan(t->got[p]);
        if (at == ~0ull || sums >= most) continue;
        for (tmap_u64 i = 0; i < run; ++i) sum += compact_value(t, t->after, at * run + i);
        sums += run;
        sum /= (double)run;
        right &= fabs(sum - (double)t->got[p]) <= 1e-6 * fabs(sum) + 1e-30 || isnan(sum);
    }
    return right;
}

#endif
