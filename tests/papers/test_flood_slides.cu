// SPDX-License-Identifier: MIT
// test_flood_slides: the floods of the lecture slides against a serial fill: thin maps, maps around
// the sides of tiles, and random ones; of every type, with both connectivities, several sources and
// cells without data; then levels at the ends of a type's range, the bytes that are
// read, and arguments that are refused.
#include "raster/flood_problem.h"
#include <threadmap/papers/flood_slides.h>

// Whether the device's output is `want`, or poison for null, and what is behind it is as it was.
static void compare(problem *p, int form, const unsigned char *want) {
    const tmap_u64 cells = p->map.width * p->map.height;
    const unsigned char *got = (const unsigned char *)kit_to_host(p->out, 4 * cells);
    kit_more(", %s", tmap_flood_slides_name(form));
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

static tmap_u64 prepare(const tmap_raster_map *map, tmap_u64, tmap_u32) {
    return tmap_flood_slides_bytes(map);
}
// All forms. That of a launch for each step of the water takes long on large maps.
static void check_all(problem *p, tmap_u32) {
    const tmap_u64 cells = p->map.width * p->map.height;
    for (int form = 0; form < TMAP_FLOOD_SLIDES_FORMS; ++form)
        if (form != TMAP_FLOOD_SLIDES_NAIVE || cells < (kit_tiny ? 400 : 256 * 256)) check(p, form);
}
static void check_form(problem *p, tmap_u32 salt) {
    check(p, (int)(salt % TMAP_FLOOD_SLIDES_FORMS));
}
static const flood_tested tested = {prepare, check_all}, tested_by_turns = {prepare, check_form};

static const tmap_u32 sizes[][2] = {{1, 1},   {1, 2},   {2, 1},   {1, 131}, {257, 1},
                                    {3, 3},   {31, 37}, {64, 5},  {128, 4}, {127, 129},
                                    {4, 129}, {129, 3}, {61, 53}, {256, 2}, {383, 67}};

// Tiles of which water can take but one way: a diagonal from corner to corner, or from a tile that
// is wet all over to another one, past their common corner.
static int own_wet(int kind, tmap_u64 x, tmap_u64 y) {
    if (kind == 0) return x == y;
    if (kind == 1) return x + y == 255;
    return kind == 2 ? x / 128 == y / 128 : x / 128 + y / 128 == 1;
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
    const int mark = kit_mark(), by_tiles = form > TMAP_FLOOD_SLIDES_LINE;
    const tmap_u64 count = by_tiles ? kit_number(m->s->counts + round % 3) : 0; // tiles to visit
    const tmap_u64 *queue = (const tmap_u64 *)kit_to_host(m->s->queues[round % 2], count * 8);
    const unsigned char *kinds = (const unsigned char *)kit_to_host(m->s->kinds, m->s->tiles);
    look(m, m->before);
    tmap_flood_slides flood = {*m->s, form, 4};
    CHECK(tmap_flood_slides_rounds(&flood, round, 1, 0));
    look(m, m->after);
    if (form == TMAP_FLOOD_SLIDES_NAIVE) {
        m->read += m->s->map.width * m->s->map.height;
    } else if (form == TMAP_FLOOD_SLIDES_LINE) {
        count_line(m, m->s->map.connectivity == 8);
    } else {
        for (tmap_u64 i = 0; i < count; ++i)
            count_tile(m, queue[i],
                       form == TMAP_FLOOD_SLIDES_UNIFORM ? (int)kinds[queue[i]]
                                                         : (int)TMAPI_SLIDES_MIXED,
                       round == 0);
    }
    kit_release(mark);
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
    m.before = (tmap_u32 *)kit_host(4 * m.pitch * m.rows);
    m.after = (tmap_u32 *)kit_host(4 * m.pitch * m.rows);
    CHECK(tmap_flood_slides_begin(&flood, p->device_seeds, p->seed_count, 0));
    m.read = p->map.width * p->map.height * (p->map.type == TMAP_RASTER_I16 ? 2 : 4);
    for (tmap_u32 round = 0; !done; ++round) {
        CHECK(tmap_flood_slides_look(&flood, round, &done, NULL, 0));
        if (!done) count_round(&m, form, round);
    }
    CHECK(tmap_flood_slides_end(&flood, 0));
    const unsigned char *kinds = (const unsigned char *)kit_to_host(m.s->kinds, m.s->tiles);
    for (tmap_u64 y = 0; y < p->map.height; ++y) {
        for (tmap_u64 x = 0; x < p->map.width; x += 4)
            if (form != TMAP_FLOOD_SLIDES_UNIFORM ||
                kinds[y / 128 * m.s->tiles_x + x / 128] == TMAPI_SLIDES_MIXED)
                m.read += 4;
    }
    CHECK(tmap_flood_slides_reads(&flood, &got, 0));
    compare(p, form, p->want);
    EXPECT(got == m.read, "%llu bytes read, not %llu", got, m.read);
}

static void check_all_reads(void) {
    static const struct {
        tmap_u32 width, height;
        int input, type;
    } maps[] = {
        {128, 128, FLOOD_WET, TMAP_RASTER_I16},       {300, 141, FLOOD_SPIRAL, TMAP_RASTER_I16},
        {261, 390, FLOOD_WET, TMAP_RASTER_F32},       {514, 131, FLOOD_TERRAIN, TMAP_RASTER_I16},
        {130, 257, FLOOD_NOISE_650, TMAP_RASTER_I32}, {64, 64, FLOOD_DRY, TMAP_RASTER_I16}};
    for (unsigned i = 0; i < COUNT(maps); ++i)
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
    flood_sizes(&tested, sizes, COUNT(sizes), 11);
    flood_randoms(&tested, kit_full ? 200 : 60, kit_full ? 90000 : 2000, 32);
    flood_corners(&tested, 256, 256, kit_tiny ? 2 : 4, own_wet);
    flood_levels(&tested_by_turns);
    flood_extremes(&tested_by_turns, 20, 1, 20);
    check_all_reads();
    check_refused();
    return kit_end("test_flood_slides");
}
