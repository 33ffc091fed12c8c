// SPDX-License-Identifier: MIT
// test_flood.cu: floods against a serial fill: thin maps, maps around the sides of tiles and
// blocks, and random ones; of every type, with both connectivities, several sources and cells
// without data; results of every form, floods that know their tiles, and rising water; levels at the
// ends of a type's range, and floats below 2^-126; maps without cells; devices of less shared memory,
// and plans for them; errors of earlier calls; and arguments that are refused.
#include "raster/flood_problem.h"
#include <threadmap/raster/flood.h>

#include <stddef.h>

static tmap_u32 rows = 128; // of blocks
static int flushed;         // 1: calls run where floats below 2^-126 are taken for 0 (-ftz=true)

static tmap_flood_heights heights_of(const void *data, const void *tiles) {
    const tmap_flood_heights heights = {data, tiles};
    return heights;
}
static tmap_flood_sources sources_of(const tmap_flood_seed *seeds, tmap_u64 count, double level) {
    const tmap_flood_sources sources = {seeds, count, level};
    return sources;
}
static tmap_flood_rise rise_of(const tmap_flood_seed *seeds, tmap_u64 count, const double *levels,
                               tmap_u64 level_count) {
    const tmap_flood_rise rise = {seeds, count, levels, level_count};
    return rise;
}

// A flood of a problem with a plan of it.
static cudaError_t run(const problem *p, const tmap_flood_plan *plan, const void *tiles) {
    return tmap_flood(plan, heights_of(p->device, tiles),
                      sources_of(p->device_seeds, p->seed_count, p->level), p->workspace, p->out,
                      0);
}

static tmap_flood_plan plan_of(const tmap_raster_map *map, int form, tmap_u64 seeds) {
    tmap_flood_plan plan;
    memset(&plan, 0xa5, sizeof plan);
    CHECK(tmap_flood_plan_make(map, form, seeds, &plan));
    tmapi_flood_divide(&plan, rows); // as on a GPU of less shared memory
    return plan;
}

// A problem for blocks of as many rows as are set, and for those of its number.
static problem make(tmap_raster_map map, int input, double level, tmap_u64 seeds, tmap_u32 salt) {
    return problem_make(map, input, level, seeds, salt,
                        plan_of(&map, TMAP_FLOOD_U8, seeds).workspace);
}
static tmap_u64 prepare(const tmap_raster_map *map, tmap_u64 seeds, tmap_u32 salt) {
    rows = salt % 4 ? 128 : 64;
    return plan_of(map, TMAP_FLOOD_U8, seeds).workspace;
}

static tmap_u64 result_bytes(const tmap_flood_plan *plan) {
    const tmap_u64 cells = plan->map.width * plan->map.height;
    if (plan->form == TMAP_FLOOD_U8) return cells;
    if (plan->form == TMAP_FLOOD_DEPTH) return 4 * cells;
    return 4 * tmap_flood_words(plan->map.width) * plan->map.height;
}

// Poisons the result of a problem.
static void poison(const problem *p) {
    CHECK(cudaMemset(p->out, KIT_POISON, 4 * p->map.width * p->map.height));
}

// Compares a result of the device, and what is behind it.
static void compare(problem *p, const tmap_flood_plan *plan, const char *what) {
    const tmap_u64 width = p->map.width, words = tmap_flood_words(width),
                   all = 4 * p->map.height * width;
    const tmap_u64 bytes = result_bytes(plan);
    const unsigned char *got = (unsigned char *)kit_to_host(p->out, all > bytes ? all : bytes);
    tmap_u64 wrong = 0;
    for (tmap_u64 y = 0; y < p->map.height; ++y)
        for (tmap_u64 x = 0; x < (plan->form == TMAP_FLOOD_BITS ? words * 32 : width); ++x) {
            const int want = x < width && p->want[y * width + x];
            if (plan->form == TMAP_FLOOD_U8) wrong += got[y * width + x] != want;
            if (plan->form == TMAP_FLOOD_BITS)
                wrong += (got[(y * words + x / 32) * 4 + x % 32 / 8] >> x % 8 & 1) != want;
            if (plan->form == TMAP_FLOOD_DEPTH) {
                const double h = tmap_raster_value(&p->map, p->host, x, y);
                const float depth = want ? (float)(p->level - h) : 0.0f;
                wrong += memcmp(got + 4 * (y * width + x), &depth, 4) != 0;
            }
        }
    for (tmap_u64 i = bytes; i < all; ++i) wrong += got[i] != KIT_POISON;
    EXPECT(!wrong, "%s %llu, blocks of %u rows", what, wrong, rows);
}

// A flood of a form, alone and with tiles.
static void check(problem *p, int form) {
    const tmap_flood_plan plan = plan_of(&p->map, form, p->seed_count);
    void *tiles = kit_filled(tmap_flood_tiles_bytes(&plan), 0x3c);
    poison(p);
    CHECK(cudaMemset(p->workspace, 0xc3, (size_t)plan.workspace));
    kit_flush(flushed);
    CHECK(run(p, &plan, NULL));
    kit_flush(0);
    compare(p, &plan, "wrong cells:");
    poison(p);
    kit_flush(flushed);
    CHECK(tmap_flood_tiles(&plan, p->device, tiles, 0));
    CHECK(run(p, &plan, tiles));
    kit_flush(0);
    compare(p, &plan, "wrong cells with tiles:");
}

static void check_one(problem *p, tmap_u32 salt) { check(p, (int)(salt % 3)); }
static const flood_tested tested = {prepare, check_one};

// ---- cases --------------------------------------------------------------------------------------

static const tmap_u32 sizes[][2] = {{1, 1},     {1, 2},    {2, 1},    {1, 131},   {1031, 1},
                                    {3, 3},     {31, 37},  {64, 5},   {512, 4},   {513, 129},
                                    {511, 127}, {515, 64}, {61, 131}, {1040, 17}, {1025, 259}};

// Maps with blocks that are whole, aligned and not, which take ways of their own: of 16 bits and of
// 32.
static void check_whole(void) {
    for (int i = 0; i < FLOOD_INPUTS; ++i)
        for (int eight = 0; eight < 2; ++eight)
            for (int type = 0; type < 3; ++type) {
                tmap_raster_map map = {1024, 256, 1024, FLOOD_NODATA, eight, type, 4};
                problem p;
                if (!kit_full && (i + eight + type) % 3) continue;
                if (!check_turn()) continue;
                map.connectivity = eight ? 8 : 4, rows = i % 2 ? 64 : 128;
                map.width += (tmap_u64)(i % 3), map.pitch = map.width + (tmap_u64)(i % 4);
                if (i % 5 == 0) map.pitch = 1032;
                p = make(map, i, 0, 2, (tmap_u32)i);
                for (int form = 0; form < 3; ++form)
                    if (kit_full || form == 0 || (i + eight) % 5 == 0) check(&p, form);
                kit_release(0);
            }
}

// In a block where most tiles are mixed, their ranges are not used: reading by rows is faster. So a
// wrong one does no harm there.
static void check_again_plain(void) {
    for (int type = 0; type < 3; ++type)
        for (tmap_u64 more = 0; more < 2; ++more) {
            tmap_raster_map map = {512, 130, 512 + more, 0, 0, type, 4};
            tmap_flood_range dry = {TMAPI_FLOOD_KEY_MAX, TMAPI_FLOOD_KEY_MAX};
            tmap_flood_plan plan;
            problem p;
            char *tiles;
            rows = 128, p = make(map, FLOOD_NOISE_650, 0, 2, 5), plan = plan_of(&map, 0, 2);
            tiles = (char *)kit_device(tmap_flood_tiles_bytes(&plan));
            CHECK(tmap_flood_tiles(&plan, p.device, tiles, 0));
            CHECK(cudaMemcpy(tiles + 9 * sizeof dry, &dry, sizeof dry, cudaMemcpyHostToDevice));
            poison(&p);
            CHECK(run(&p, &plan, tiles));
            compare(&p, &plan, "wrong cells where all tiles are mixed:");
            kit_release(0);
        }
}

// Blocks of which water can take but one way: a diagonal from corner to corner, or from a block
// that is wet all over to another one, past their common corner.
static int own_wet(int kind, tmap_u64 x, tmap_u64 y) {
    if (kind == 0) return x / 4 == y;
    if (kind == 1) return x == y + 384 || x + 1 == y + 384;
    if (kind == 2) return x + y == 639;
    return kind == 3 ? x / 512 == y / 128 : x / 512 + y / 128 == 1;
}

// Rising water: areas, and volumes to the last bit of integers.
static void check_rising(void) {
    static const double levels[] = {-20000, -3000.5, -100, 0, 40, 3000, 4000, 1e6, 100.25};
    enum { LEVELS = COUNT(levels) };
    for (int i = 0; i < (kit_full ? 12 : 4); ++i) {
        tmap_raster_map map = {kit_full ? 1100u : 530u,
                               kit_full ? 700u : 140u,
                               kit_full ? 1100u : 531u,
                               FLOOD_NODATA,
                               i % 2,
                               i % 3,
                               i % 4 < 2 ? 4 : 8};
        const int input = i % 3 == 2 ? FLOOD_NOISE_593 : FLOOD_TERRAIN;
        problem p = make(map, input, 0, 2, (tmap_u32)i);
        const tmap_flood_plan plan = plan_of(&map, TMAP_FLOOD_BITS, 2);
        tmap_flood_lake lakes[LEVELS];
        void *tiles = kit_device(tmap_flood_tiles_bytes(&plan));
        tmap_flood_lake *out = (tmap_flood_lake *)kit_guarded(LEVELS * sizeof *out);
        CHECK(tmap_flood_tiles(&plan, p.device, tiles, 0));
        CHECK(tmap_flood_levels(&plan, heights_of(p.device, tiles),
                                rise_of(p.device_seeds, 2, levels, LEVELS), p.workspace, out, 0));
        CHECK(cudaMemcpy(lakes, out, sizeof lakes, cudaMemcpyDeviceToHost));
        for (int l = 0; l < LEVELS; ++l) {
            const tmap_u64 area = flood_fill(&map, p.host, p.seeds, 2, levels[l], p.want);
            double heights = 0, volume;
            for (tmap_u64 c = 0; c < map.width * map.height; ++c)
                if (p.want[c])
                    heights += tmap_raster_value(&map, p.host, c % map.width, c / map.width);
            volume = area ? (double)area * levels[l] - heights : 0;
            kit_more(", rising to %g", levels[l]);
            EXPECT(lakes[l].area == area, "%llu cells", lakes[l].area);
            EXPECT(fabs(lakes[l].volume - volume) <=
                       (map.type == TMAP_RASTER_F32 ? 1e-9 * volume : 0),
                   "a volume of %g, not %g", lakes[l].volume, volume);
        }
        kit_release(0);
    }
}

// Depths and volumes below 2^-126, of a tile that is flooded completely and one in part.
static void check_tiny(void) {
    enum { WIDTH = 64, HEIGHT = 16, CELLS = WIDTH * HEIGHT };
    const tmap_raster_map map = {WIDTH, HEIGHT, WIDTH, 0, 0, TMAP_RASTER_F32, 4};
    const double level = 0x1p-139;
    for (flushed = 0; flushed < 2; ++flushed) {
        problem p = make(map, FLOOD_DRY, level, 1, 1);
        const tmap_flood_plan plan = plan_of(&map, TMAP_FLOOD_DEPTH, 1);
        void *tiles = kit_device(tmap_flood_tiles_bytes(&plan));
        tmap_flood_lake *out = (tmap_flood_lake *)kit_guarded(sizeof *out), lake;
        double volume = 0;
        p.seeds->x = p.seeds->y = 0;
        for (int i = 0; i < CELLS; ++i) {
            const double height = i == 40 ? 1 : (i % 7 - 3) * (i % 2 ? 0x1p-141 : 0x1p-149);
            flood_set(&map, p.host, i % WIDTH, i / WIDTH, height);
            volume += height < level ? level - height : 0;
        }
        problem_again(&p);
        kit_more(", flush %d", flushed);
        check(&p, TMAP_FLOOD_DEPTH);
        kit_flush(flushed);
        CHECK(tmap_flood_tiles(&plan, p.device, tiles, 0));
        CHECK(tmap_flood_levels(&plan, heights_of(p.device, tiles),
                                rise_of(p.device_seeds, 1, &level, 1), p.workspace, out, 0));
        kit_flush(0);
        CHECK(cudaMemcpy(&lake, out, sizeof lake, cudaMemcpyDeviceToHost));
        EXPECT(lake.area == CELLS - 1, "%llu cells", lake.area);
        EXPECT(fabs(lake.volume - volume) <= 1e-9 * volume, "a volume of %g, not %g", lake.volume,
               volume);
        kit_release(0);
    }
    flushed = 0;
}

// Maps without cells: nothing is written but the lakes, which are empty.
static void check_empty(void) {
    static const double levels[2] = {1, 2};
    for (int i = 0; i < 9; ++i) {
        const tmap_raster_map map = {i % 3 == 1 ? 7u : 0u, i % 3 == 0 ? 7u : 0u, 9, 0, 0, i / 3, 4};
        const tmap_flood_heights none = {0, 0};
        tmap_flood_lake *lakes = (tmap_flood_lake *)kit_guarded(2 * sizeof *lakes);
        tmap_flood_plan plan;
        kit_case("%llu x %llu", map.width, map.height);
        RETURNS(tmap_flood_plan_make(&map, i % 3, 2, &plan), cudaSuccess);
        HOLDS(tmap_flood_tiles_bytes(&plan) == 0);
        RETURNS(tmap_flood(&plan, none, sources_of(0, 0, 1), 0, 0, 0), cudaSuccess);
        RETURNS(tmap_flood_tiles(&plan, 0, 0, 0), cudaSuccess);
        RETURNS(tmap_flood_levels(&plan, none, rise_of(0, 0, levels, 2), 0, lakes, 0), cudaSuccess);
        REFUSED(tmap_flood_levels(&plan, none, rise_of(0, 0, levels, 2), 0, 0, 0));
        expect(kit_device_all(lakes, 2 * sizeof *lakes, 0), "lakes of no cells");
        kit_release(0);
    }
}

// ---- devices and errors -------------------------------------------------------------------------

// A flood as planned for the device of now.
static void check_planned(tmap_raster_map map, int form) {
    problem p;
    tmap_flood_plan plan;
    CHECK(tmap_flood_plan_make(&map, form, 2, &plan));
    p = problem_make(map, FLOOD_TERRAIN, 0, 2, 3, plan.workspace), rows = plan.rows;
    poison(&p);
    CHECK(run(&p, &plan, NULL));
    compare(&p, &plan, "wrong cells on this device:");
    kit_release(0);
}

enum { DEVICES = COUNT(kit_devices) };

// A plan from facts alone beside what is known of seven devices and beside the plan for the current
// one, which the CPU machine takes from the environment.
static void check_plan_of(void) {
    for (unsigned i = 0; i < DEVICES; ++i) {
        const tmap_raster_map map = {1030, 131 + i, 1032, 0, 0, (int)i % 3, 4};
        tmap_raster_map large = map;
        tmap_flood_plan a, b;
        tmap_facts facts, here;
        memset(&facts, 0x5a, sizeof facts);
        facts.device.block_shared = kit_shared[i];
        kit_set_device(kit_devices[i]);
        kit_case("device %s", kit_devices[i]);
        CHECK(tmap_flood_plan_make(&map, (int)i % 3, i, &a));
        CHECK(tmap_device_facts_get(&here.device));
        large.width = large.pitch = large.height = (1ull << 31) - 1;
        expect(tmap_flood_plan_of(&map, (int)i % 3, i, &facts, &b) == TMAP_OK &&
                   b.rows == (i ? 128 : 64) && b.form == (int)i % 3 && b.map.height == map.height,
               "a plan from facts");
        expect(here.device.block_shared != kit_shared[i] ||
                   (a.rows == b.rows && a.blocks_x == b.blocks_x && a.blocks_y == b.blocks_y &&
                    !memcmp(&a.seeds, &b.seeds, sizeof a - offsetof(tmap_flood_plan, seeds))),
               "the plan of the device is another one");
        RETURNS(tmap_flood_plan_of(&large, 0, 1, &facts, &b), TMAP_ERANGE);
        large.width = large.pitch = large.height = 1 << 14;
        RETURNS(tmap_flood_plan_of(&large, 0, 1, &facts, &b), TMAP_OK);
        expect(b.workspace / 1000000 == (i ? 97 : 109), "bytes of a workspace");
        RETURNS(tmap_flood_plan_of(&map, 0, 1, NULL, &b), TMAP_EINVAL);
    }
    kit_set_device(NULL);
}

// Facts of devices, which the CPU machine takes from the environment. A plan for a device of more
// shared memory is refused by one of less.
static void check_devices(void) {
    const tmap_raster_map map = {1030, 131, 1032, 0, 0, TMAP_RASTER_F32, 4};
    tmap_flood_plan plan;
    problem p;
    int shared;
    for (unsigned i = 0; i < DEVICES; ++i) {
        kit_set_device(kit_devices[i]);
        for (int form = 0; form < 3; ++form) {
            tmap_raster_map other = map;
            other.type = (int)(i + (unsigned)form) % 3, other.connectivity = i % 2 ? 8 : 4;
            check_planned(other, form);
        }
    }
    kit_set_device("9.0");
    CHECK(tmap_flood_plan_make(&map, TMAP_FLOOD_U8, 2, &plan));
    p = problem_make(map, FLOOD_TERRAIN, 0, 2, 3, plan.workspace), rows = plan.rows;
    kit_set_device("7.5");
    CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    expect(shared >= 73792 || run(&p, &plan, NULL), "a plan of another device is refused");
    cudaGetLastError();
    kit_set_device(NULL);
    kit_release(0);
}

// The shared memory that a kernel may have is never lowered, so that two threads of the host can
// flood maps of different plans.
static void check_limit_kept(void) {
    const tmap_raster_map map = {600, 140, 600, 0, 0, TMAP_RASTER_I16, 4};
    int limits[2];
    for (int i = 0; i < 2; ++i) {
        problem p;
        tmap_flood_plan plan;
        struct cudaFuncAttributes a;
        rows = i ? 64 : 128, p = make(map, FLOOD_TERRAIN, 0, 1, 1), plan = plan_of(&map, 0, 1);
        CHECK(run(&p, &plan, NULL));
        CHECK(cudaFuncGetAttributes(&a, (const void *)tmapi_flood_local_kernel));
        limits[i] = a.maxDynamicSharedSizeBytes;
        expect(!i || limits[1] >= limits[0], "a limit is not lowered");
        kit_release(0);
    }
}

// An error of the user's from before is neither reported nor cleared. Called before anything else,
// so that limits of kernels are set here.
static void check_error_kept(void) {
    const tmap_raster_map map = {600, 140, 600, 0, 0, TMAP_RASTER_F32, 4};
    const double levels[2] = {-5, 5};
    tmap_flood_plan plan;
    problem p;
    char *tiles;
    rows = 128, p = make(map, FLOOD_TERRAIN, 0, 1, 1), plan = plan_of(&map, 0, 1);
    tiles = (char *)kit_device(tmap_flood_tiles_bytes(&plan) + sizeof(tmap_flood_lake[2]));
    earlier_error();
    for (int i = 0; i < 6; ++i) {
        tmap_flood_plan other = plan;
        cudaError_t error = cudaSuccess;
        if (i == 0) error = run(&p, &plan, NULL);
        if (i == 1) error = tmap_flood_tiles(&plan, p.device, tiles, 0);
        if (i == 2) error = run(&p, &plan, tiles);
        if (i == 3)
            error = tmap_flood_levels(
                &plan, heights_of(p.device, tiles), rise_of(p.device_seeds, 1, levels, 2),
                p.workspace, (tmap_flood_lake *)(tiles + tmap_flood_tiles_bytes(&plan)), 0);
        if (i == 4) error = tmap_flood_plan_make(&map, TMAP_FLOOD_DEPTH, 1, &other);
        if (i == 5)
            REFUSED(tmap_flood(&other, heights_of(NULL, NULL), sources_of(p.device_seeds, 1, 0),
                               p.workspace, p.out, 0));
        EXPECT(error == cudaSuccess, "call %d reports an earlier error", i);
        EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation, "call %d clears it", i);
    }
    cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    kit_release(0);
}

static void check_refused(void) {
    const tmap_raster_map map = {300, 41, 300, 0, 0, TMAP_RASTER_I16, 4};
    const double level = 0;
    problem p;
    tmap_flood_plan plan, other, zero;
    rows = 128;
    p = make(map, FLOOD_SERPENTINE_H, 0, 2, 0), plan = plan_of(&map, TMAP_FLOOD_DEPTH, 2);
    void *known = kit_filled(tmap_flood_tiles_bytes(&plan) + 8, 0);
    for (int i = 2; i < 15; ++i) {
        const int form = i == 9 ? 3 : i == 10 ? -1 : 0;
        tmap_raster_map bad = map;
        cudaError_t error = i == 14 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
        if (i == 2) bad.pitch = 299;
        if (i == 3) bad.type = 3;
        if (i == 4) bad.type = -1;
        if (i == 5) bad.connectivity = 6;
        if (i == 6) bad.width = bad.pitch = 1ull << 31;
        if (i == 7) bad.height = 1ull << 31;
        if (i == 13) error = cudaSuccess;
        if (i == 14) bad.width = bad.pitch = bad.height = (1ull << 31) - 1;
        other = plan;
        EXPECT(tmap_flood_plan_make(i == 8 ? NULL : &bad, form, i == 11 ? 1ull << 31 : 1,
                                    i == 12 ? NULL : &other) == error,
               "bad map %d", i);
        EXPECT(i == 13 || !memcmp(&other, &plan, sizeof plan), "bad map %d: a plan is written", i);
    }
    memset(&zero, 0, sizeof zero);
    for (int i = 0; i < 13; ++i) {
        const tmap_flood_plan *a = i == 0 ? NULL : i == 12 ? &zero : &plan;
        const char *heights = i == 1 ? NULL : (char *)p.device + (i == 2);
        const tmap_flood_seed *seeds =
            i == 3 ? NULL : (tmap_flood_seed *)((char *)p.device_seeds + (i == 4 ? 4 : 0));
        char *workspace = i == 5 ? NULL : (char *)p.workspace + (i == 6 ? 8 : 0);
        char *out = i == 7 ? NULL : (char *)p.out + (i == 8 ? 2 : 0);
        void *tiles = i == 9 ? NULL : (char *)known + (i == 10 ? 8 : 0);
        tmap_flood_lake *lakes = (tmap_flood_lake *)(i == 8 ? out + 2 : out);
        const tmap_u64 count = i == 11 ? 3 : 2;
        const tmap_flood_sources sources = sources_of(seeds, count, 0);
        const tmap_flood_rise rise = rise_of(seeds, count, &level, 1);
        kit_more(", bad argument %d", i);
        if (i < 9 || i > 10)
            REFUSED(tmap_flood(a, heights_of(heights, NULL), sources, workspace, out, 0));
        if (i != 9) REFUSED(tmap_flood(a, heights_of(heights, tiles), sources, workspace, out, 0));
        REFUSED(tmap_flood_levels(a, heights_of(heights, tiles), rise, workspace, lakes, 0));
        if (i < 3 || i == 9 || i == 10 || i == 12) REFUSED(tmap_flood_tiles(a, heights, tiles, 0));
    }
    expect(kit_device_all(p.out, 4 * 300 * 41, KIT_POISON), "written in spite of an error");
    kit_release(0);
}

// Outputs that begin where another piece of memory ends, or in its last bytes: that is refused.
// Pieces 0: workspace, 1: result, 2: heights, 3: tiles, 4: sources.
static void check_overlap(void) {
    const tmap_raster_map map = {300, 41, 304, 0, 0, TMAP_RASTER_I32, 4};
    static const double level = 0;
    const tmap_flood_plan plan = plan_of(&map, TMAP_FLOOD_DEPTH, 2);
    const tmap_u64 bytes[5] = {plan.workspace, 4 * 300 * 41, 4 * (40 * 304 + 300),
                               tmap_flood_tiles_bytes(&plan), 2 * sizeof(tmap_flood_seed)};
    tmap_u64 room = 256;
    for (int i = 0; i < 5; ++i) room += (bytes[i] + 255) / 256 * 512;
    char *all = (char *)kit_guarded(5 * room), *at[5];
    CHECK(cudaMemset(all, 0xff, 5 * room)); // wet; sources outside the map
    for (int i = 0; i < 5; ++i)
        for (int k = 0; k < 5; ++k)
            for (int over = 0; over < 2 && i != k && (i < 2 || k < 2); ++over) {
                for (int p = 0; p < 5; ++p) at[p] = all + (tmap_u64)p * room;
                at[k] = at[i] + (over ? (bytes[i] - 1) / 16 * 16 : (bytes[i] + 15) / 16 * 16);
                const tmap_flood_heights heights = heights_of(at[2], at[3]);
                const tmap_flood_seed *seeds = (const tmap_flood_seed *)at[4];
                const cudaError_t want = over ? cudaErrorInvalidValue : cudaSuccess;
                kit_case("piece %d %s piece %d", k, over ? "begins in" : "follows", i);
                RETURNS(tmap_flood(&plan, heights, sources_of(seeds, 2, 0), at[0], at[1], 0), want);
                at[1] += i == 1 ? (bytes[i] - 1) / 16 * 16 : 0; // of which the lake has the end
                RETURNS(tmap_flood_levels(&plan, heights, rise_of(seeds, 2, &level, 1), at[0],
                                          (tmap_flood_lake *)at[1], 0),
                        want);
            }
    kit_case("%s", "tiles in heights");
    REFUSED(tmap_flood_tiles(&plan, all, all + (bytes[2] - 1) / 16 * 16, 0));
    REFUSED(tmap_flood_tiles(&plan, all + (bytes[3] - 1) / 16 * 16, all, 0));
    CHECK(tmap_flood_tiles(&plan, all, all + (bytes[2] + 15) / 16 * 16, 0));
    CHECK(tmap_flood_tiles(&plan, all + bytes[3], all, 0));
    CHECK(cudaDeviceSynchronize());
    kit_release(0);
}

int main(void) {
    kit_begin();
    check_error_kept();
    check_limit_kept();
    check_plan_of();
    check_devices();
    flood_sizes(&tested, sizes, COUNT(sizes), 7);
    flood_randoms(&tested, kit_full ? 400 : 60, kit_full ? 400000 : 6000, 64);
    check_whole();
    check_again_plain();
    flood_corners(&tested, 1024, 256, 5, own_wet);
    flood_levels(&tested);
    flushed = 1;
    flood_extremes(&tested, 20, 1, 20);    // a row that is read cell by cell
    flood_extremes(&tested, 512, 65, 512); // blocks that are read by 16 bytes
    flushed = 0;
    flood_extremes(&tested, 512, 65, 513);
    check_rising();
    check_tiny();
    check_empty();
    check_overlap();
    check_refused();
    return kit_end("test_flood");
}
