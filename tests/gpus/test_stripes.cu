// SPDX-License-Identifier: MIT
// test_stripes: labels, shapes and floods of stripes (raster/stripes.h, stripes_flood.h) are those
// of one GPU with the whole picture, for any number of ranks.
#include "../../samples/gpus/gpus.h"
#undef CHECK // kit.h has one too
#include "../kit.h"
#include "../raster/flood_inputs.h"

#include <threadmap/raster/stripes.h>
#include <threadmap/raster/stripes_flood.h>

enum { SPARSE = FLOOD_INPUTS, HALF, INPUTS };

typedef struct picture {
    tmap_u32 width, height;
    int input, type, ways, form;
} picture;

// The height of a cell, below 0 in a mask; of a picture of values one of three.
static int height_of(const picture *p, tmap_u32 x, tmap_u32 y) {
    if (p->input < SPARSE) return flood_input(p->input, x, y, p->width, p->height);
    return (flood_hash_cell(x, y, 5) & 0xff) < (p->input == SPARSE ? 20u : 128u) ? -1 : 1;
}

// Rows `rows` of a picture, on the device: of its type, with a pitch of some more cells.
static void *cells_of(const picture *p, tmap_share rows, tmap_u64 pitch) {
    const tmap_u32 size = tmap_raster_size(p->type);
    unsigned char *host = (unsigned char *)kit_host((rows.count + 1) * pitch * size);
    memset(host, 0xa5, (size_t)((rows.count + 1) * pitch * size));
    for (tmap_u64 y = 0; y < rows.count; ++y)
        for (tmap_u32 x = 0; x < p->width; ++x) {
            const int height = height_of(p, x, (tmap_u32)(rows.first + y));
            const tmap_u64 at = y * pitch + x;
            tmap_u32 *word = (tmap_u32 *)host + y * pitch + x / 32;
            if (p->type == TMAP_RASTER_BITS)
                *word = (*word & ~(1u << x % 32)) | (tmap_u32)(height < 0) << x % 32;
            else if (p->type == TMAP_RASTER_MASK)
                host[at] = height < 0;
            else if (p->type == TMAP_RASTER_I16)
                ((short *)host)[at] = (short)height;
            else
                ((float *)host)[at] = (float)height * 1.1f; // sums are rounded
        }
    return kit_to_device(host, (rows.count + 1) * pitch * size);
}

static tmap_raster_map map_of(const picture *p) {
    const tmap_u64 pitch = p->type == TMAP_RASTER_BITS ? p->width / 32 + 2 : p->width + 3;
    const tmap_raster_map map = {p->width, p->height, pitch, 5, 1, p->type, p->ways};
    return map;
}

// Compares results of this rank's rows, of `size` bytes a cell, with those of all rows.
static void same_rows(const char *what, const void *mine, const void *all, tmap_share rows,
                      tmap_u64 bytes) {
    const char *got = (const char *)kit_to_host(mine, rows.count * bytes);
    const char *want = (const char *)all + rows.first * bytes;
    expect(memcmp(got, want, (size_t)(rows.count * bytes)) == 0, what);
}

static void run_labels(const tmap_nccl *gpus, const picture *p) {
    const int mark = kit_mark();
    const tmap_share all = {0, p->height};
    const tmap_raster_map map = map_of(p);
    const tmap_u64 size = p->form ? 8 : 4, ranks = gpus->ranks;
    tmap_stripes_plan plan;
    tmap_label_plan one;
    kit_case("%u ranks: labels of %u x %u, input %d, type %d, %d neighbours, form %d", gpus->ranks,
             p->width, p->height, p->input, p->type, p->ways, p->form);
    CHECK(tmap_label_plan_make(&map, p->form, &one));
    CHECK(tmap_stripes_plan_make(&map, p->form, gpus, &plan));
    const tmap_u64 bytes = p->width * size;
    void *labels = kit_guarded(p->height * bytes), *work = kit_guarded(one.workspace);
    tmap_u64 *count = (tmap_u64 *)kit_guarded(8);
    CHECK(tmap_label(&one, cells_of(p, all, map.pitch), work, labels, count, 0));
    const tmap_u64 found = kit_number(count);
    tmap_label_shape *shapes = (tmap_label_shape *)kit_guarded((found + 1) * sizeof *shapes);
    CHECK(tmap_label_measure(&one.array, labels, found, shapes, 0));
    const void *truth = kit_to_host(labels, p->height * bytes);
    const tmap_label_shape *shape =
        (const tmap_label_shape *)kit_to_host(shapes, found * sizeof *shapes);

    void *mine = kit_guarded(plan.rows.count * bytes + 16);
    void *stripe = kit_guarded(plan.workspace), *cells = cells_of(p, plan.rows, map.pitch);
    tmap_u64 *starts = (tmap_u64 *)kit_guarded((ranks + 1) * 8);
    for (int again = 0; again < 2; ++again) {
        expect(tmap_stripes_label(&plan, cells, stripe, mine, starts, 0) == ncclSuccess, "label");
        same_rows("labels", mine, truth, plan.rows, bytes);
    }
    const tmap_u64 *start = (const tmap_u64 *)kit_to_host(starts, (ranks + 1) * 8);
    expect(start[0] == 0 && start[ranks] == found, "all components");
    for (tmap_u64 k = 0; k < ranks; ++k) {
        const tmap_u64 end = (tmap_stripes_rows(p->height, k, ranks).first +
                              tmap_stripes_rows(p->height, k, ranks).count) *
                             p->width;
        expect(start[k + 1] >= start[k] && start[k + 1] <= found &&
                   (start[k + 1] == 0 || shape[start[k + 1] - 1].first < end) &&
                   (start[k + 1] == found || shape[start[k + 1]].first >= end),
               "a start");
    }
    for (tmap_u64 measured = found + 2; measured + 4 > found;
         measured -= 2) { // and fewer, and more
        tmap_label_shape *here =
            (tmap_label_shape *)kit_guarded(ranks * measured * sizeof *here + 16);
        int wrong = 0;
        expect(tmap_stripes_measure(&plan, mine, measured, here, 0) == ncclSuccess, "measure");
        const tmap_label_shape *got =
            (const tmap_label_shape *)kit_to_host(here, measured * sizeof *here);
        for (tmap_u64 i = 0; i < measured; ++i)
            wrong += i < found ? memcmp(got + i, shape + i, sizeof *got) != 0 : got[i].area != 0;
        expect(wrong == 0, "shapes");
        if (measured < 2) break;
    }
    kit_release(mark);
}

static tmap_u64 areas; // of all lakes, so that some are not empty

static void run_flood(const tmap_nccl *gpus, const picture *p, tmap_u64 seeds) {
    const int mark = kit_mark();
    const tmap_share all = {0, p->height};
    const tmap_raster_map map = map_of(p);
    const tmap_u64 bytes = p->form == TMAP_FLOOD_U8     ? p->width
                           : p->form == TMAP_FLOOD_BITS ? tmap_flood_words(p->width) * 4
                                                        : p->width * 4;
    tmap_flood_seed seed[40];
    tmap_stripes_flood_plan plan;
    tmap_flood_plan one;
    kit_case("%u ranks: flood of %u x %u, input %d, type %d, %d neighbours, form %d, %llu seeds",
             gpus->ranks, p->width, p->height, p->input, p->type, p->ways, p->form, seeds);
    for (tmap_u64 i = 0; i < seeds; ++i) {
        seed[i].x = check_hash(i, 7) % (p->width + p->width / 8 + 1);
        seed[i].y = check_hash(i, 8) % (p->height + p->height / 8 + 1);
    }
    CHECK(tmap_flood_plan_make(&map, p->form, seeds, &one));
    CHECK(tmap_stripes_flood_plan_make(&map, p->form, seeds, gpus, &plan));
    tmap_flood_heights heights = {cells_of(p, all, map.pitch), 0};
    const tmap_flood_sources sources = {
        (const tmap_flood_seed *)kit_to_device(seed, seeds * sizeof *seed), seeds, 0};
    void *out = kit_guarded(p->height * bytes);
    CHECK(tmap_flood(&one, heights, sources, kit_guarded(one.workspace), out, 0));
    const void *truth = kit_to_host(out, p->height * bytes);
    void *mine = kit_guarded(plan.rows.count * bytes + 16), *work = kit_guarded(plan.workspace);
    heights.data = cells_of(p, plan.rows, map.pitch);
    for (int again = 0; again < 2; ++again) {
        expect(tmap_stripes_flood(&plan, heights, sources, work, mine, 0) == ncclSuccess, "flood");
        same_rows("flooded cells", mine, truth, plan.rows, bytes);
    }

    // rising water
    const double levels[] = {1, 40, -3};
    const tmap_flood_rise rise = {sources.seeds, seeds, levels, COUNT(levels)};
    tmap_flood_lake *lakes = (tmap_flood_lake *)kit_guarded(2 * sizeof levels);
    tmap_flood_lake *alone = (tmap_flood_lake *)kit_guarded(2 * sizeof levels);
    void *tiles = kit_guarded(tmap_flood_tiles_bytes(&plan.flood));
    CHECK(tmap_flood_tiles(&plan.flood, heights.data, tiles, 0));
    const tmap_flood_heights tiled = {heights.data, tiles};
    expect(tmap_stripes_flood(&plan, tiled, sources, work, mine, 0) == ncclSuccess, "with tiles");
    same_rows("flooded cells with tiles", mine, truth, plan.rows, bytes);
    expect(tmap_stripes_flood_levels(&plan, tiled, rise, work, lakes, 0) == ncclSuccess, "levels");
    heights.data = cells_of(p, all, map.pitch);
    heights.tiles = kit_guarded(tmap_flood_tiles_bytes(&one));
    CHECK(tmap_flood_tiles(&one, heights.data, (void *)heights.tiles, 0));
    CHECK(tmap_flood_levels(&one, heights, rise, kit_guarded(one.workspace), alone, 0));
    const tmap_flood_lake *got = (const tmap_flood_lake *)kit_to_host(lakes, 2 * sizeof levels);
    expect(memcmp(got, kit_to_host(alone, 2 * sizeof levels), 2 * sizeof levels) == 0, "lakes");
    for (tmap_u64 i = 0; i < COUNT(levels); ++i) areas += got[i].area;
    kit_release(mark);
}

static void run_refused(const tmap_nccl *gpus) {
    const tmap_raster_map map = {10, 10, 10, 0, 0, TMAP_RASTER_MASK, 4};
    const tmap_raster_map large = {1 << 17, 1 << 17, 1 << 12, 0, 0, TMAP_RASTER_BITS, 8};
    const tmap_raster_map wide = {1 << 28, 10, 1 << 28, 0, 0, TMAP_RASTER_MASK, 4};
    tmap_stripes_plan plan;
    tmap_stripes_flood_plan flood;
    const tmap_raster_map heights = {10, 10, 10, 0, 0, TMAP_RASTER_I16, 4};
    tmap_u64 word = 0;
    const tmap_flood_heights cells = {kit_device(256), 0};
    const tmap_flood_sources none = {0, 0, 0}, many = {0, 2, 0};
    kit_case("refused");
    REFUSED(tmap_stripes_plan_make(0, 0, gpus, &plan));
    REFUSED(tmap_stripes_plan_make(&map, 0, 0, &plan));
    REFUSED(tmap_stripes_plan_make(&map, 0, gpus, 0));
    REFUSED(tmap_stripes_plan_make(&map, 2, gpus, &plan));
    REFUSED(tmap_stripes_plan_make(&large, TMAP_LABEL_INT32, gpus, &plan));
    REFUSED(tmap_stripes_flood_plan_make(&map, 0, 1, gpus, &flood));
    RETURNS(tmap_stripes_plan_make(&wide, TMAP_LABEL_INT64, gpus, &plan),
            cudaErrorInvalidConfiguration);
    CHECK(tmap_stripes_plan_make(&large, TMAP_LABEL_INT64, gpus, &plan));
    CHECK(tmap_stripes_plan_make(&map, TMAP_LABEL_INT32, gpus, &plan));
    HOLDS(tmap_stripes_label(0, &word, &word, &word, &word, 0) == ncclInvalidArgument);
    HOLDS(tmap_stripes_label(&plan, &word, 0, &word, &word, 0) == ncclInvalidArgument);
    HOLDS(tmap_stripes_label(&plan, &word, &plan, &word, 0, 0) == ncclInvalidArgument);
    char *work = (char *)kit_device(plan.workspace + 4096), *end = work + plan.workspace;
    tmap_u64 *starts = (tmap_u64 *)(work + plan.workspace - 8);
    HOLDS(tmap_stripes_label(&plan, 0, work, 0, starts, 0) == ncclInvalidArgument);
    CHECK(tmap_stripes_flood_plan_make(&heights, TMAP_FLOOD_U8, 1, gpus, &flood));
    HOLDS(tmap_stripes_flood(0, cells, none, work, end, 0) == ncclInvalidArgument);
    HOLDS(tmap_stripes_flood(&flood, cells, none, 0, end, 0) == ncclInvalidArgument);
    HOLDS(tmap_stripes_flood(&flood, cells, many, work, end, 0) == ncclInvalidArgument);
    const double level = 1;
    const tmap_flood_rise rise = {0, 0, &level, 1}, no_levels = {0, 0, 0, 1}, none_at_all = {};
    tmap_flood_lake *lake = (tmap_flood_lake *)end;
    HOLDS(tmap_stripes_flood_levels(0, cells, none_at_all, 0, 0, 0) == ncclSuccess);
    HOLDS(tmap_stripes_flood_levels(0, cells, rise, work, lake, 0) == ncclInvalidArgument);
    HOLDS(tmap_stripes_flood_levels(&flood, cells, no_levels, work, lake, 0) ==
          ncclInvalidArgument);
    HOLDS(tmap_stripes_flood_levels(&flood, cells, rise, work, 0, 0) == ncclInvalidArgument);
    HOLDS(tmap_stripes_flood_levels(&flood, cells, rise, 0, lake, 0) == ncclInvalidArgument);
    if (gpus->rank == 0) { // the one with rows
        starts = (tmap_u64 *)(end + 2048);
        HOLDS(tmap_stripes_label(&plan, end, work, end + 96, starts, 0) == ncclInvalidArgument);
        HOLDS(tmap_stripes_label(&plan, 0, work, end, starts, 0) == ncclInvalidArgument);
        HOLDS(tmap_stripes_measure(&plan, end, 1, (tmap_label_shape *)(end + 392), 0) ==
              ncclInvalidArgument);
        HOLDS(tmap_stripes_flood(&flood, cells, none, work, work, 0) == ncclInvalidArgument);
        HOLDS(tmap_stripes_flood_levels(&flood, cells, rise, work, lake, 0) ==
              ncclInvalidArgument); // without tiles
    }
    for (tmap_u64 rows = 0, next = 0; rows < 3000; rows += 37, next = 0) {
        for (tmap_u64 rank = 0; rank < gpus->ranks; ++rank) {
            const tmap_share s = tmap_stripes_rows(rows, rank, gpus->ranks);
            expect(s.first == next, "stripes follow each other"), next += s.count;
        }
        expect(next == rows, "stripes cover all rows");
    }
}

int main(int argc, char **argv) {
    const tmap_nccl gpus = gpus_start(&argc, &argv);
    const tmap_u32 sizes[][2] = {{1, 900},   {70, 910}, {1030, 300}, {33, 5},
                                 {517, 513}, {0, 300},  {300, 0}};
    const int types[] = {TMAP_RASTER_MASK, TMAP_RASTER_BITS, TMAP_RASTER_I16};
    const int heights[] = {TMAP_RASTER_I16, TMAP_RASTER_F32};
    kit_begin();
    run_refused(&gpus);
    for (tmap_u32 i = 0; i < 3 * INPUTS; ++i) {
        picture p = {sizes[i % 7][0], sizes[i % 7][1], (int)(i / 3), 0, 0, 0};
        p.ways = (i / 3 + i) % 2 ? 8 : 4, p.type = types[i % 3], p.form = (int)(i / 2 % 2);
        run_labels(&gpus, &p);
        p.type = heights[i % 2], p.form = (int)(i % 3);
        run_flood(&gpus, &p, i % 4 ? i % 4 : 40);
    }
    expect(areas > 1000, "some water");
    return gpus_end(gpus, kit_end("test_stripes"));
}
