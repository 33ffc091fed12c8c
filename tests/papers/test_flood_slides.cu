// SPDX-License-Identifier: MIT
// test_flood_slides: the floods of the lecture slides against a serial fill: thin maps, maps around
// the sides of tiles, and random ones; of every type, with both connectivities, several sources and
// cells without data; then levels at the ends of a type's range, the bytes that are
// read, and arguments that are refused.
#include "raster/flood_problem.h"
#include <threadmap/papers/flood_slides.h>

#include <float.h>

// The case: a problem and a form.
static void of_problem(const problem *p, int form) {
    kit_case("%s of %s, %llu x %llu, pitch %llu, type %d, %d neighbours, nodata %d, level %g, %llu "
             "sources",
             tmap_flood_slides_name(form), flood_input_name(p->input), p->map.width, p->map.height,
             p->map.pitch, p->map.type, p->map.connectivity, p->map.has_nodata, p->level,
             p->seed_count);
}

// Whether the device's output is `want`, or poison for null, and what is behind it is as it was.
static void compare(problem *p, int form, const unsigned char *want) {
    const tmap_u64 cells = p->map.width * p->map.height;
    const unsigned char *got = (const unsigned char *)kit_to_host(p->out, 4 * cells);
    of_problem(p, form);
    expect(want ? !memcmp(got, want, cells) : kit_all(got, cells, KIT_POISON), "cells");
    expect(kit_all(got + cells, 3 * cells, KIT_POISON), "behind the cells");
}

static void check(problem *p, int form) {
    const tmap_u64 cells = p->map.width * p->map.height;
    tmap_flood_slides flood;
    tmap_u64 rounds = 0;
    CHECK(cudaMemset(p->out, KIT_POISON, 4 * p->map.width * p->map.height));
    CHECK(cudaMemset(p->workspace, 0xc3, (size_t)tmap_flood_slides_bytes(&p->map)));
    CHECK(tmap_flood_slides_make(form, &p->map, p->device, p->level, p->workspace, p->out, &flood));
    CHECK(tmap_flood_slides_run(&flood, p->device_seeds, p->seed_count, 1u << 30, &rounds, 0));
    compare(p, form, p->want);
    EXPECT(rounds <= cells + 1 && (rounds > 0) == (p->flooded > 0), "%llu rounds", rounds);
}

static void check_all(tmap_raster_map map, int input, double level, tmap_u64 seeds, tmap_u32 salt) {
    if (!check_turn()) return;
    problem p = problem_make(map, input, level, seeds, salt, tmap_flood_slides_bytes(&map));
    for (int form = 0; form < TMAP_FLOOD_SLIDES_FORMS; ++form) {
        // A launch for each step of the water, which a sanitizer takes long for: on small maps.
        const int many = form == TMAP_FLOOD_SLIDES_NAIVE && map.width * map.height > 400;
        if (!many || !kit_tiny) check(&p, form);
    }
    kit_release(0);
}

// ---- cases --------------------------------------------------------------------------------------

static void check_sizes(int full) {
    static const tmap_u32 sizes[][2] = {{1, 1},   {1, 2},   {2, 1},   {1, 131}, {257, 1},
                                        {3, 3},   {31, 37}, {64, 5},  {128, 4}, {127, 129},
                                        {4, 129}, {129, 3}, {61, 53}, {256, 2}, {383, 67}};
    tmap_u32 salt = 0;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const int large = sizes[i][0] * sizes[i][1] > 4000;
        for (int input = 0; input < FLOOD_INPUTS; ++input, ++salt) {
            tmap_raster_map map = map_make(sizes[i][0], sizes[i][1], salt);
            if (!full && salt % (large ? 11 : 3)) continue;
            check_all(map, input, 0, 1 + salt % 3, salt);
            map.connectivity ^= 4 ^ 8;
            if (full) check_all(map, input, 0, 1, salt);
        }
    }
}

static void check_random(int full) {
    const int count = full ? 200 : 60;
    for (int i = 0; i < count; ++i) {
        const tmap_u32 salt = flood_hash((tmap_u32)i + 77), area = full ? 90000 : 2000;
        const tmap_u32 width = 1 + flood_hash(salt) % (i % 4 ? area / 32 : 40);
        const tmap_u32 high = area / width ? area / width : 1;
        const tmap_u32 height = 1 + flood_hash(salt + 1) % high;
        const int input = i % FLOOD_INPUTS;
        const int noise = input == FLOOD_NOISE_593 || input == FLOOD_NOISE_650; // of -5 and 5
        check_all(map_make(width, height, salt), input, noise ? 5 : 0, salt % 5, salt);
    }
}

// Two tiles by two of which water can take but one way: a diagonal from corner to corner, or from a
// tile that is wet all over to another one, past their common corner.
static int own_wet(int kind, tmap_u64 x, tmap_u64 y) {
    if (kind == 0) return x == y;
    if (kind == 1) return x + y == 255;
    return kind == 2 ? x / 128 == y / 128 : x / 128 + y / 128 == 1;
}

static void check_corners(void) {
    for (int kind = 0; kind < 4; ++kind)
        for (int end = 0; end < 2; ++end) {
            const tmap_raster_map map = {256, 256, 256, 0, 0, TMAP_RASTER_I16, 8};
            tmap_flood_seed seed = {kind % 2 ? 255ull : 0ull, 0};
            // Hundreds of launches each, which take a sanitizer long.
            if (getenv("TMAP_TEST_SMALL") && kind / 2 != end) continue;
            if (!check_turn()) continue;
            problem p = problem_make(map, FLOOD_DRY, 0, 1, 1, tmap_flood_slides_bytes(&map));
            if (end) seed.x = 255 - seed.x, seed.y = 255;
            for (tmap_u64 i = 0; i < 256 * 256; ++i)
                flood_set(&map, p.host, i % 256, i / 256, own_wet(kind, i % 256, i / 256) ? -1 : 0);
            CHECK(cudaMemcpy(p.device, p.host, 2 * 256 * 256, cudaMemcpyHostToDevice));
            CHECK(cudaMemcpy(p.device_seeds, &seed, sizeof seed, cudaMemcpyHostToDevice));
            for (int eight = 1; eight >= 0; --eight) {
                p.map.connectivity = eight ? 8 : 4;
                p.flooded = flood_fill(&p.map, p.host, &seed, 1, 0, p.want);
                for (int form = 1; form < TMAP_FLOOD_SLIDES_FORMS; ++form) check(&p, form);
            }
            kit_release(0);
        }
}

// Levels at and beyond the ends of a type's range, between its values, and no number.
static void check_levels(void) {
    const double huge = HUGE_VAL;
    const double levels[] = {-huge, -1e300, -2147483648.0, -32769, -5,   -4.5,        -4,
                             0.25,  5,      5.5,           1e10,   huge, (double)NAN, 2147483648.0};
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; ++i)
        for (int type = 0; type < 3; ++type) {
            tmap_raster_map map = {37, 5, 40, -5, (int)(i % 2), type, 8};
            problem p =
                problem_make(map, FLOOD_NOISE_650, levels[i], 2, i, tmap_flood_slides_bytes(&map));
            if (i % 3 == 0) map.nodata = 0.5; // is no height
            check(&p, (int)(i % TMAP_FLOOD_SLIDES_FORMS));
            kit_release(0);
        }
}

// A level between two floats, and heights that only double tells from it.
static void check_floats(void) {
    const float h[] = {1,
                       1.0f + 0x1p-23f,
                       1.0f + 0x1p-22f,
                       FLT_MAX,
                       -FLT_MAX,
                       (float)HUGE_VALF,
                       -(float)HUGE_VALF,
                       0.0f,
                       -0.0f,
                       1e-45f};
    const double levels[] = {1,        1 + 0x1p-24, 1 + 0x1p-23, 1e39,  -1e39,  3.5e38,
                             HUGE_VAL, -HUGE_VAL,   0,           1e-46, -1e-46, (double)FLT_MAX};
    for (unsigned l = 0; l < sizeof levels / sizeof *levels; ++l)
        for (int nodata = 0; nodata < 3; ++nodata) {
            const double none[] = {0, HUGE_VAL, 1 + 0x1p-24};
            tmap_raster_map map = {10, 1, 10, none[nodata], 1, TMAP_RASTER_F32, 4};
            tmap_flood_seed seeds[10];
            problem p =
                problem_make(map, FLOOD_DRY, levels[l], 10, 1, tmap_flood_slides_bytes(&map));
            for (tmap_u64 i = 0; i < 10; ++i) seeds[i].x = i, seeds[i].y = 0;
            memcpy(p.host, h, sizeof h);
            p.flooded = flood_fill(&map, p.host, seeds, 10, levels[l], p.want);
            CHECK(cudaMemcpy(p.device, h, sizeof h, cudaMemcpyHostToDevice));
            CHECK(cudaMemcpy(p.device_seeds, seeds, sizeof seeds, cudaMemcpyHostToDevice));
            check(&p, TMAP_FLOOD_SLIDES_LINE);
            kit_release(0);
        }
}

// ---- bytes read ---------------------------------------------------------------------------------

// The cells of a map, as words in rows of `pitch`, before and after a round; and what is counted.
typedef struct moved {
    const tmapi_slides_state *s;
    tmap_u64 pitch, rows; // of words
    tmap_u32 *before, *after;
    tmap_u64 read;
} moved;

static void look(const moved *m, tmap_u32 *words) {
    CHECK(cudaMemcpy(words, m->s->words, 4 * m->pitch * m->rows, cudaMemcpyDeviceToHost));
}

// Counts a round of lines: each movement reads all words, those along columns with 8 neighbours also
// the words beside a tile's.
static void count_line(moved *m, int eight) {
    for (int k = 0; k < 4; ++k)
        for (tmap_u64 y = 0; y < m->rows; ++y)
            for (tmap_u64 x = 0; x < m->pitch; ++x) {
                const int beside = x % 32 == 31 ? x + 1 < m->pitch : x % 32 == 0 && x > 0;
                m->read += eight && k < 2 && beside ? 8 : 4;
            }
}

// Counts the visit of a tile. kind: before it; first: 1 in the first round, in which a tile is
// stored anyhow. Before it is stored its words are read once more.
static void count_tile(moved *m, tmap_u64 tile, int kind, int first) {
    const tmap_u64 left = tile % m->s->tiles_x * 32, top = tile / m->s->tiles_x * 128;
    int stored = first;
    if (kind == TMAPI_SLIDES_ALL_FLOODED || kind == TMAPI_SLIDES_ALL_WET) return;
    for (tmap_u64 y = top ? top - 1 : 0; y <= top + 128 && y < m->rows; ++y)
        for (tmap_u64 x = left ? left - 1 : 0; x <= left + 32 && x < m->pitch; ++x) {
            const tmap_u64 at = y * m->pitch + x;
            const int inside = y >= top && y < top + 128 && x >= left && x < left + 32;
            m->read += 4;
            stored |= inside && m->after[at] != m->before[at];
        }
    if (stored) m->read += 128 * 128;
}

static void count_round(moved *m, int form, tmap_u32 round) {
    const tmap_u64 tiles = m->s->tiles, size = tiles * sizeof(tmap_u64);
    tmap_u64 counts[3], *queue = (tmap_u64 *)malloc(size);
    unsigned char *kinds = (unsigned char *)malloc(tiles);
    CHECK(cudaMemcpy(counts, m->s->counts, sizeof counts, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(queue, m->s->queues[round % 2], size, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(kinds, m->s->kinds, tiles, cudaMemcpyDeviceToHost));
    look(m, m->before);
    tmap_flood_slides flood = {*m->s, form, 4};
    CHECK(tmap_flood_slides_rounds(&flood, round, 1, 0));
    look(m, m->after);
    if (form == TMAP_FLOOD_SLIDES_NAIVE) {
        m->read += m->s->map.width * m->s->map.height;
    } else if (form == TMAP_FLOOD_SLIDES_LINE) {
        count_line(m, m->s->map.connectivity == 8);
    } else {
        for (tmap_u64 i = 0; i < counts[round % 3]; ++i)
            count_tile(m, queue[i],
                       form == TMAP_FLOOD_SLIDES_UNIFORM ? (int)kinds[queue[i]]
                                                         : (int)TMAPI_SLIDES_MIXED,
                       round == 0);
    }
    free(queue), free(kinds);
}

// What a flood says that it reads, against a count of each of its rounds.
static void check_reads(problem *p, int form) {
    tmap_flood_slides flood;
    tmap_u64 got = 0;
    moved m;
    int done = 0;
    CHECK(cudaMemset(p->out, KIT_POISON, 4 * p->map.width * p->map.height));
    CHECK(tmap_flood_slides_make(form, &p->map, p->device, p->level, p->workspace, p->out, &flood));
    tmap_flood_slides_count(&flood, 1);
    memset(&m, 0, sizeof m);
    m.s = &flood.state, m.pitch = flood.state.pitch, m.rows = flood.state.tiles_y * 128;
    m.before = (tmap_u32 *)malloc(4 * m.pitch * m.rows);
    m.after = (tmap_u32 *)malloc(4 * m.pitch * m.rows);
    unsigned char *kinds = (unsigned char *)malloc(flood.state.tiles);
    CHECK(tmap_flood_slides_begin(&flood, p->device_seeds, p->seed_count, 0));
    m.read = p->map.width * p->map.height * (p->map.type == TMAP_RASTER_I16 ? 2 : 4);
    for (tmap_u32 round = 0; !done; ++round) {
        CHECK(tmap_flood_slides_look(&flood, round, &done, NULL, 0));
        if (!done) count_round(&m, form, round);
    }
    CHECK(tmap_flood_slides_end(&flood, 0));
    CHECK(cudaMemcpy(kinds, m.s->kinds, m.s->tiles, cudaMemcpyDeviceToHost));
    for (tmap_u64 y = 0; y < p->map.height; ++y) {
        for (tmap_u64 x = 0; x < p->map.width; x += 4)
            if (form != TMAP_FLOOD_SLIDES_UNIFORM ||
                kinds[y / 128 * m.s->tiles_x + x / 128] == TMAPI_SLIDES_MIXED)
                m.read += 4;
    }
    CHECK(tmap_flood_slides_reads(&flood, &got, 0));
    compare(p, form, p->want);
    EXPECT(got == m.read, "%llu bytes read, not %llu", got, m.read);
    free(kinds), free(m.before), free(m.after);
}

static void check_all_reads(void) {
    static const struct {
        tmap_u32 width, height;
        int input, type;
    } maps[] = {
        {128, 128, FLOOD_WET, TMAP_RASTER_I16},       {300, 141, FLOOD_SPIRAL, TMAP_RASTER_I16},
        {261, 390, FLOOD_WET, TMAP_RASTER_F32},       {514, 131, FLOOD_TERRAIN, TMAP_RASTER_I16},
        {130, 257, FLOOD_NOISE_650, TMAP_RASTER_I32}, {64, 64, FLOOD_DRY, TMAP_RASTER_I16}};
    for (unsigned i = 0; i < sizeof maps / sizeof *maps; ++i)
        for (int eight = 0; eight < 2; ++eight) {
            const tmap_raster_map map = {maps[i].width, maps[i].height, maps[i].width, 0, 0,
                                         maps[i].type,  eight ? 8 : 4};
            if (!check_turn() || (kit_tiny && i % 3)) continue;
            problem p = problem_make(map, maps[i].input, maps[i].input == FLOOD_NOISE_650 ? 5 : 0,
                                     1, i, tmap_flood_slides_bytes(&map));
            const int many = kit_tiny || maps[i].input == FLOOD_SPIRAL; // rounds of naive
            for (int form = many; form < TMAP_FLOOD_SLIDES_FORMS; ++form) check_reads(&p, form);
            kit_release(0);
        }
}

// Too few rounds write nothing; and what is refused.
static void check_refused(void) {
    const tmap_raster_map map = {300, 41, 300, 0, 0, TMAP_RASTER_I16, 4};
    tmap_raster_map bad[10];
    problem p = problem_make(map, FLOOD_SERPENTINE_H, 0, 1, 0, tmap_flood_slides_bytes(&map));
    tmap_flood_slides flood;
    for (int form = 0; form < TMAP_FLOOD_SLIDES_FORMS; ++form) {
        CHECK(cudaMemset(p.out, KIT_POISON, 4 * p.map.width * p.map.height));
        CHECK(tmap_flood_slides_make(form, &map, p.device, 0, p.workspace, p.out, &flood));
        RETURNS(tmap_flood_slides_run(&flood, p.device_seeds, 1, 2, NULL, 0), cudaErrorNotReady);
        compare(&p, form, NULL);
    }
    for (int i = 0; i < 10; ++i) bad[i] = map;
    bad[0].width = 0, bad[1].height = 0, bad[2].pitch = 299, bad[3].type = 3, bad[4].type = -1;
    bad[5].connectivity = 6, bad[6].width = bad[6].pitch = 1ull << 31, bad[7].height = 1ull << 31;
    bad[8].pitch = 1ull << 32, bad[9].connectivity = 0;
    for (int i = 0; i < 10; ++i) {
        kit_case("bad map %d", i);
        REFUSED(tmap_flood_slides_make(0, &bad[i], p.device, 0, p.workspace, p.out, &flood));
        expect(tmap_flood_slides_bytes(&bad[i]) == 0, "bytes of a bad map");
    }
    for (int i = 0; i < 7; ++i) {
        kit_case("bad argument %d", i);
        REFUSED(tmap_flood_slides_make(
            i == 0 ? 4 : 0, i == 1 ? NULL : &map, i == 2 ? NULL : (char *)p.device + (i == 3), 0,
            (char *)p.workspace + (i == 4 ? 8 : 0), i == 5 ? NULL : p.out, i == 6 ? NULL : &flood));
    }
    REFUSED(tmap_flood_slides_begin(&flood, NULL, 1, 0));
    REFUSED(tmap_flood_slides_rounds(&flood, 0xffffffffu, 1, 0));
    REFUSED(tmap_flood_slides_reads(&flood, NULL, 0));
    kit_release(0);
}

int main(void) {
    kit_begin();
    check_sizes(kit_full);
    check_random(kit_full);
    check_corners();
    check_levels();
    check_floats();
    check_all_reads();
    check_refused();
    return kit_end("test_flood_slides");
}
