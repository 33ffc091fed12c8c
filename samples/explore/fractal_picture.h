// SPDX-License-Identifier: MIT
// fractal_picture.h: the pictures of explore fractal: a fractal, and a sheet of the steps of life.
#ifndef EXPLORE_FRACTAL_PICTURE_H
#define EXPLORE_FRACTAL_PICTURE_H

#include "fractal_work.h"
#include "picture.h"

enum { NO_CELL = 0xffffff, CELL = 0x173f5f, DEAD = 0xbed6e6, LIVE = 0xc43820 };

static const char *title_of(const fractal_task *t) {
    return tmap_fractal_title(tmap_fractal_index(t->f));
}

// The fractal as the engine writes it. A level of more than 1024 places is drawn as a lower one,
// which looks the same.
static void picture_fractal(const fractal_task *t, output *o, const option *to) {
    tmap_u32 r = t->r;
    while (tmap_nbb_side_x(t->f, r) > 1024 || tmap_nbb_side_y(t->f, r) > 1024) --r;
    const tmap_u32 wide = (tmap_u32)tmap_nbb_side_x(t->f, r), grow_x = (511 + wide) / wide;
    const tmap_u32 high = (tmap_u32)tmap_nbb_side_y(t->f, r);
    const tmap_u32 grow_y = (wide * grow_x * t->f.sy / t->f.sx + high - 1) / high;
    const unsigned char one = 1;
    unsigned char *matrix = (unsigned char *)host_memory(wide * high, to);
    void *out = device_memory(wide * high, to);
    char text[128];
    tmap_each_plan plan;
    CHECK(cudaMemset(out, 0, wide * high));
    CHECK(tmap_sw_plan_make(t->f, r, 0, 1, &plan));
    CHECK(tmap_sw(&plan, &one, out, 0));
    CHECK(cudaMemcpy(matrix, out, wide * high, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));

    canvas c = canvas_make(wide * grow_x, high * grow_y + 2 * CANVAS_STRIP, to);
    snprintf(text, sizeof text, "%s, level %u, %u x %u places", title_of(t), r, wide, high);
    canvas_text(&c, 6, 6, text);
    for (tmap_u32 i = 0; i < wide * high; ++i)
        canvas_fill(&c, i % wide * grow_x, CANVAS_STRIP + i / wide * grow_y, grow_x, grow_y,
                    matrix[i] ? CELL : NO_CELL);
    snprintf(text, sizeof text, "%llu cells", tmap_nbb_cells(t->f, r));
    canvas_key(&c, canvas_key(&c, 6, c.high - 14, CELL, text), c.high - 14, NO_CELL, "no cell");
    free(matrix);
    canvas_end(&c, o, to);
}

// A frame of the state in t->in: the fractal's first tile of level m, a place `grow` pixels wide.
static void picture_frame(const fractal_task *t, canvas *c, tmap_u32 m, tmap_u32 grow,
                          tmap_u32 left, tmap_u32 top) {
    const tmap_u64 wide = tmap_nbb_side_x(t->f, m), high = tmap_nbb_side_y(t->f, m);
    const tmap_xy64 tile = tmap_nbb_lambda64(t->f, 0, 0, t->r - m);
    for (tmap_u32 y = 0; y < high; ++y) {
        unsigned char row[128];
        const unsigned char *from =
            (const unsigned char *)t->in + (tile.y * high + y) * t->wide + tile.x * wide;
        CHECK(cudaMemcpy(row, from, wide, cudaMemcpyDeviceToHost));
        for (tmap_u32 x = 0; x < wide; ++x) {
            const int cell = tmap_nbb_contains(t->f, x, y, m);
            canvas_fill(c, left + x * grow, top + y * grow, grow, grow,
                        !cell    ? NO_CELL
                        : row[x] ? LIVE
                                 : DEAD);
        }
    }
}

// The steps of life from the state in t->in on, four frames side by side. Swaps t->in and t->out
// after each step.
static void picture_life(fractal_task *t, tmap_u32 steps, output *o, const option *to) {
    const tmap_u32 m = tmap_nbb_tile_level(t->f, t->r, 128), across = steps < 3 ? steps + 1 : 4;
    const tmap_u32 wide = (tmap_u32)tmap_nbb_side_x(t->f, m), grow = (wide + 160) / wide;
    const tmap_u32 high = (tmap_u32)tmap_nbb_side_y(t->f, m);
    const tmap_u32 frame = wide * grow + 12, line = high * grow + CANVAS_STRIP + 8;
    const tmap_u32 least = 432; // for the legend
    char text[128];
    canvas c = canvas_make(frame * across + 12 > least ? frame * across + 12 : least,
                           (steps / across + 1) * line + 2 * CANVAS_STRIP, to);
    snprintf(text, sizeof text, "Life, %s, level %u%s", title_of(t), t->r,
             m < t->r ? ", a tile" : "");
    canvas_text(&c, 12, 6, text);
    for (tmap_u32 s = 0; s <= steps; ++s) {
        const tmap_u32 left = s % across * frame + 12, top = s / across * line + CANVAS_STRIP;
        void *next = t->out;
        snprintf(text, sizeof text, "step %u", s);
        canvas_text(&c, left, top + 6, text);
        picture_frame(t, &c, m, grow, left, top + CANVAS_STRIP);
        task_run(t);
        t->out = t->in, t->in = next;
    }
    unsigned x = canvas_key(&c, 12, c.high - 14, LIVE, "living cell");
    x = canvas_key(&c, x, c.high - 14, DEAD, "dead cell");
    canvas_key(&c, x, c.high - 14, NO_CELL, "no cell");
    canvas_end(&c, o, to);
}

#endif
