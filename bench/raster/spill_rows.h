// SPDX-License-Identifier: MIT
// spill_rows.h: the rows of bench_flood of the work `spill`: the level at which each cell floods
// from the border, with 8 neighbours, by the library and by a serial priority flood on the host.
//
// Up to a width the host's levels are what every cell is compared with. In larger maps each cell's
// level must be the higher one of its height and its lowest neighbour's level, and the cells below
// three levels must be those of tmap_flood.
#ifndef BENCH_RASTER_SPILL_ROWS_H
#define BENCH_RASTER_SPILL_ROWS_H

#include "../driver.h"
#include "../../tests/raster/spill_check.h"

#include <threadmap/raster/flood.h>

// hills: smooth ones; rough: hills down to single cells; noise: every cell by chance; serpentine,
// spiral: noise in a corridor between walls.
enum {
    SPILL_HILLS,
    SPILL_ROUGH,
    SPILL_NOISE,
    SPILL_SERPENTINE,
    SPILL_SPIRAL,
    SPILL_INPUTS,
    SPILL_LOOKS = 3
};

static const char *spill_input_name(int input) {
    static const char *const names[SPILL_INPUTS] = {"hills", "rough", "noise", "serpentine",
                                                    "spiral"};
    return names[input];
}

TMAP_FN float spill_chance(tmap_u32 x, tmap_u32 y, tmap_u32 octave) {
    return (float)(flood_hash_cell(x, y, octave) >> 8) / 16777216;
}

// A height from 0 to 3 in a map of width x width cells. Hills: octaves of 4096 cells down to 8 or 1,
// each of 0.55 of the last one's height.
TMAP_FN float spill_height(int input, tmap_u32 x, tmap_u32 y, tmap_u32 width) {
    float sum = 0, part = 1;
    if (input == SPILL_SERPENTINE && !flood_serpentine(x, y, width)) return 3;
    if (input == SPILL_SPIRAL && !flood_spiral(x, y, width, width)) return 3;
    if (input >= SPILL_NOISE) return spill_chance(x, y, 0);
    for (tmap_u32 log = 12, last = input == SPILL_HILLS ? 3 : 0; log + 1 > last;
         --log, part *= 0.55f) {
        const tmap_u32 i = x >> log, j = y >> log;
        const float u = (float)(x - (i << log)) / (float)(1u << log);
        const float v = (float)(y - (j << log)) / (float)(1u << log);
        const float a = u * u * (3 - 2 * u), b = v * v * (3 - 2 * v);
        const float p = spill_chance(i, j, log), q = spill_chance(i + 1, j, log);
        const float r = spill_chance(i, j + 1, log), t = spill_chance(i + 1, j + 1, log);
        sum += part * ((p + (q - p) * a) * (1 - b) + (r + (t - r) * a) * b);
        if (log == 0) break;
    }
    return sum;
}

typedef struct spill_job {
    bench_driver *d;
    tmap_raster_map map;
    int input, host; // host: 1 if the levels of the host are known
    tmap_spill_plan plan;
    void *heights, *workspace, *out;
    double *want;
} spill_job;

// The result, as a map.
TMAP_FN double spill_level(const spill_job *j, tmap_u64 i) {
    return tmap_raster_value(&j->map, j->out, i % j->map.width, i / j->map.width);
}

static __global__ void spill_heights(spill_job j) {
    BENCH_EACH(i, j.map.width * j.map.height) {
        const float height = spill_height(j.input, (tmap_u32)(i % j.map.width),
                                          (tmap_u32)(i / j.map.width), (tmap_u32)j.map.width);
        if (j.map.type == TMAP_RASTER_I16)
            ((short *)j.heights)[i] = (short)(height * 10000);
        else
            ((float *)j.heights)[i] = height;
    }
}

// Counts cells whose level does not follow from their neighbours'.
static __global__ void spill_alone(spill_job j, tmap_u64 *count) {
    const tmap_u64 w = j.map.width, h = j.map.height;
    BENCH_EACH(i, w * h) {
        const tmap_u64 x = i % w, y = i / w;
        const double height = tmap_raster_value(&j.map, j.heights, x, y);
        double low = 1e300;
        for (tmap_u64 k = 0; k < 9; ++k)
            if (x + k % 3 - 1 < w && y + k / 3 - 1 < h && k != 4) {
                const double level = spill_level(&j, i + k % 3 - 1 + (k / 3 - 1) * w);
                low = level < low ? level : low;
            }
        if (x == 0 || y == 0 || x == w - 1 || y == h - 1 || low < height) low = height;
        if (spill_level(&j, i) != low) atomicAdd(count, 1ull);
    }
}

// Counts cells where a flood differs from the levels below its own.
static __global__ void spill_other(spill_job j, const unsigned char *wet, double level,
                                   tmap_u64 *count) {
    BENCH_EACH(i, j.map.width * j.map.height)
    if (wet[i] != (spill_level(&j, i) < level)) atomicAdd(count, 1ull);
}

static __global__ void spill_border(tmap_u64 w, tmap_u64 h, tmap_flood_seed *seeds) {
    BENCH_EACH(i, 2 * (w + h)) {
        const tmap_u64 k = i < 2 * w ? i / 2 : (i - 2 * w) / 2;
        seeds[i].x = i < 2 * w ? k : i % 2 * (w - 1), seeds[i].y = i < 2 * w ? i % 2 * (h - 1) : k;
    }
}

static tmap_u64 spill_wrong(const spill_job *j) {
    const int mark = kit_mark();
    const tmap_u64 cells = j->map.width * j->map.height,
                   borders = 2 * (j->map.width + j->map.height);
    tmap_u64 wrong = 0;
    spill_alone<<<2048, 256>>>(*j, bench_counter());
    wrong += bench_count();
    if (j->host) {
        const void *got = kit_to_host(j->out, cells * tmap_raster_size(j->map.type));
        for (tmap_u64 i = 0; i < cells; ++i)
            wrong +=
                tmap_raster_value(&j->map, got, i % j->map.width, i / j->map.width) != j->want[i];
        kit_release(mark);
        return wrong;
    }
    tmap_flood_plan plan;
    tmap_flood_seed *seeds = (tmap_flood_seed *)kit_device(borders * sizeof *seeds);
    const tmap_flood_heights heights = {j->heights, 0};
    tmap_flood_sources sources = {seeds, borders, 0};
    CHECK(tmap_flood_plan_make(&j->map, TMAP_FLOOD_U8, borders, &plan));
    unsigned char *wet = (unsigned char *)kit_device(cells);
    void *workspace = kit_device(plan.workspace);
    spill_border<<<2048, 256>>>(j->map.width, j->map.height, seeds);
    for (int i = 0; i < SPILL_LOOKS; ++i) {
        sources.level = (i + 1) * (j->input == SPILL_NOISE ? 0.2 : 0.5) *
                        (j->map.type == TMAP_RASTER_I16 ? 10000 : 1);
        CHECK(tmap_flood(&plan, heights, sources, workspace, wet, 0));
        spill_other<<<2048, 256>>>(*j, wet, sources.level, bench_counter());
        wrong += bench_count();
    }
    kit_release(mark);
    return wrong;
}

static void spill_run(void *context) {
    spill_job *j = (spill_job *)context;
    CHECK(tmap_spill(&j->plan, j->heights, 0, j->workspace, j->out, 0));
}

static bench_row spill_row(const spill_job *j, const char *variant) {
    const double cells = (double)(j->map.width * j->map.height);
    bench_row row = bench_row_begin(j->d, "spill", variant, "map");
    bench_key_text(&row, "input", spill_input_name(j->input));
    bench_key(&row, "size", "%llu", j->map.width);
    bench_key(&row, "connectivity", "%d", j->map.connectivity);
    bench_key_text(&row, "dtype", j->map.type == TMAP_RASTER_I16 ? "i16" : "f32");
    row.rate = "mpix_s", row.unit = "Mpix/s", row.each = 1e-3 * cells;
    return row;
}

// The host's row, once, on one core. Its result is what the library's is compared with.
static void spill_host(spill_job *j) {
    const tmap_u64 cells = j->map.width * j->map.height;
    bench_row row = spill_row(j, "host");
    if (!bench_wants(j->d, &row)) return;
    const void *heights = kit_to_host(j->heights, cells * tmap_raster_size(j->map.type));
    j->want = (double *)kit_host(cells * sizeof *j->want);
    const double begin = bench_seconds(j->d);
    spill_serial(&j->map, heights, NULL, TMAP_SPILL_BORDER, j->want);
    const bench_time time = {1e3 * (bench_seconds(j->d) - begin), 0, 1};
    j->host = 1;
    spill_run(j);
    bench_verify(&row, spill_wrong(j), "cells");
    bench_key_text(&row, "device", "cpu");
    bench_row_time(&row, time);
    bench_row_end(j->d, &row);
}

// The rows of maps of a width: inputs of a list of names. host: 1 for those of the host.
static void spill_rows(bench_driver *d, tmap_u32 width, const char *inputs, int host) {
    for (int input = 0; input < SPILL_INPUTS; ++input)
        for (int type = TMAP_RASTER_F32; type >= TMAP_RASTER_I16; type -= TMAP_RASTER_F32) {
            const int mark = kit_mark();
            const tmap_raster_map map = {width, width, width, 0, 0, type, 8};
            const tmap_u64 bytes = (tmap_u64)width * width * tmap_raster_size(type);
            size_t free_bytes, total;
            spill_job j;
            memset(&j, 0, sizeof j);
            j.d = d, j.map = map, j.input = input;
            bench_row row = spill_row(&j, "spill");
            if (!bench_listed(inputs, spill_input_name(input))) continue;
            CHECK(tmap_spill_plan_make(&map, TMAP_SPILL_LEVEL, TMAP_SPILL_BORDER, &j.plan));
            CHECK(cudaMemGetInfo(&free_bytes, &total));
            if (2 * bytes + 2 * j.plan.workspace > (tmap_u64)free_bytes / 20 * 19) {
                if (bench_wants(d, &row)) bench_left_out(&row, "no memory");
                continue;
            }
            j.heights = kit_device(bytes), j.out = kit_guarded(bytes);
            j.workspace = kit_device(j.plan.workspace);
            spill_heights<<<2048, 256>>>(j);
            if (host && type == TMAP_RASTER_F32) spill_host(&j);
            if (bench_wants(d, &row)) {
                CHECK(cudaMemset(j.out, 0xa5, (size_t)bytes));
                spill_run(&j);
                bench_verify(&row, spill_wrong(&j), "cells");
                row.limit_ms = 2e-9 * (double)bytes / d->ceilings.copy_tbs;
                bench_key(&row, "workspace", "%llu", j.plan.workspace);
                bench_time_row(&row, spill_run, &j);
                bench_row_end(d, &row);
            }
            kit_release(mark);
        }
}

#endif
