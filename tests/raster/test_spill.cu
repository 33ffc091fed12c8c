// SPDX-License-Identifier: MIT
// test_spill.cu: spill levels and depths against a serial priority flood: random maps of every
// type, with both connectivities, outlets of every kind, plateaus, cells without data, sizes around the
// sides of tiles, corridors; heights at the ends of a type's range; against tmap_flood at levels of
// each map; poisoned workspaces of exactly their size; errors of earlier calls; and arguments that
// are refused.
#include "raster/spill_check.h"

#include "kit.h"

#include <threadmap/raster/flood.h>

#include <float.h>

// Maps, beside those of flood_inputs.h.
enum {
    SPILL_NOISE = FLOOD_INPUTS, // 65536 heights
    SPILL_PLATEAUS,             // three heights
    SPILL_HILLS,                // flood_terrain in steps of 16
    SPILL_SLOPE,                // to the east
    SPILL_CORRIDOR,             // a serpentine whose floor rises and falls, 0 to 9
    SPILL_SPIRAL,               // the same of a spiral
    SPILL_DIAGONAL,             // a corridor over the corners of cells and tiles, to the east
    SPILL_ANTIDIAGONAL,         // and to the west
    SPILL_ENDS,                 // the least and the largest heights of a type
    SPILL_INPUTS
};

typedef struct problem {
    tmap_raster_map map;
    int outlets, input;
    void *host, *device;
    unsigned char *mask, *device_mask; // or null
    double *want;
} problem;

static double height_of(const tmap_raster_map *map, int input, tmap_u32 x, tmap_u32 y,
                        tmap_u32 salt) {
    static const double floats[] = {-INFINITY, INFINITY, -FLT_MAX, FLT_MAX, 1e-45, -1e-45, 0, -0.0};
    const tmap_u32 w = (tmap_u32)map->width, h = (tmap_u32)map->height;
    const tmap_u32 chance = flood_hash_cell(x, y, salt);
    switch (input) {
    case SPILL_NOISE: return (double)(chance % 65536) - 32768;
    case SPILL_PLATEAUS: return chance % 3;
    case SPILL_HILLS: return floor(flood_terrain(x, y, w, h) / 16.0);
    case SPILL_SLOPE: return -(double)x;
    case SPILL_CORRIDOR: return flood_serpentine(x, y, w) ? chance % 10 : 50 + chance % 2;
    case SPILL_SPIRAL: return flood_spiral(x, y, w, h) ? chance % 10 : 50 + chance % 2;
    case SPILL_DIAGONAL: return x == y ? chance % 10 : 50;
    case SPILL_ANTIDIAGONAL: return x + y + 1 == 128 ? chance % 10 : 50;
    case SPILL_ENDS:
        if (map->type == TMAP_RASTER_F32) return floats[chance % 8];
        if (map->type == TMAP_RASTER_I16) return (int)(chance % 4) * 21845 - 32768;
        return (chance % 8 < 4 ? chance % 4 : 3) * 1431655765.0 - 2147483648.0;
    default: return flood_input(input, x, y, w, h);
    }
}

static problem problem_make(tmap_raster_map map, int input, int outlets, int masked,
                            tmap_u32 salt) {
    const tmap_u64 cells = map.width * map.height;
    const tmap_u64 bytes = map.pitch * map.height * flood_type_bytes(map.type);
    problem p;
    memset(&p, 0, sizeof p);
    p.map = map, p.input = input, p.outlets = outlets, p.host = kit_host(bytes);
    for (tmap_u32 y = 0; y < map.height; ++y)
        for (tmap_u32 x = 0; x < map.pitch; ++x) {
            const tmap_u32 chance = flood_hash_cell(x, y, salt + 1);
            double height = -10000; // beyond the width
            if (x < map.width) height = height_of(&map, input, x, y, salt);
            if (map.has_nodata && chance % 13 == 0)
                height = map.type == TMAP_RASTER_F32 && chance & 16 ? (double)NAN : map.nodata;
            flood_set(&map, p.host, x, y, height);
        }
    if (masked) {
        p.mask = (unsigned char *)kit_zeroed(cells);
        for (tmap_u64 i = 0; i < 1 + cells / 2000; ++i)
            p.mask[flood_hash((tmap_u32)i + salt) % cells] = (unsigned char)(1 + i % 255);
        p.device_mask = (unsigned char *)kit_to_device(p.mask, cells);
    }
    p.device = kit_to_device(p.host, bytes);
    p.want = (double *)kit_host(cells * sizeof *p.want);
    spill_serial(&map, p.host, p.mask, outlets, p.want);
    kit_case("input %d, %llu x %llu, pitch %llu, type %d, %d neighbours, nodata %d, outlets %d, "
             "mask %d, salt %u",
             input, map.width, map.height, map.pitch, map.type, map.connectivity, map.has_nodata,
             outlets, masked, salt);
    return p;
}

// Runs a problem, every other time where floats below 2^-126 are taken for 0 (-ftz=true). Returns
// its result on the host.
static void *run(const problem *p, int form) {
    static int flushed;
    const tmap_u64 cells = p->map.width * p->map.height;
    const tmap_u64 bytes = cells * (form == TMAP_SPILL_DEPTH ? 4 : flood_type_bytes(p->map.type));
    tmap_spill_plan plan;
    memset(&plan, 0xa5, sizeof plan);
    CHECK(tmap_spill_plan_make(&p->map, form, p->outlets, &plan));
    void *out = kit_guarded(bytes), *workspace = kit_guarded(plan.workspace);
    CHECK(cudaMemset(workspace, 0xc3, (size_t)plan.workspace));
    kit_flush(flushed = !flushed);
    CHECK(tmap_spill(&plan, p->device, p->device_mask, workspace, out, 0));
    kit_flush(0);
    return kit_to_host(out, bytes);
}

// The largest level of a type.
static double top_of(int type) {
    return type == TMAP_RASTER_I16   ? 32767
           : type == TMAP_RASTER_I32 ? 2147483647.0
                                     : (double)INFINITY;
}

static void check_levels(const problem *p) {
    const tmap_raster_map flat = {p->map.width, p->map.height, p->map.width, 0, 0, p->map.type, 4};
    const void *got = run(p, TMAP_SPILL_LEVEL);
    tmap_u64 wrong = 0;
    for (tmap_u64 y = 0; y < flat.height; ++y)
        for (tmap_u64 x = 0; x < flat.width; ++x) {
            const double want = p->want[y * flat.width + x];
            const double level = tmap_raster_value(&flat, got, x, y);
            if (want != want) { // NODATA again
                const double given = tmap_raster_value(&p->map, p->host, x, y);
                wrong += level != given && (level == level || given == given);
            } else {
                wrong += level != (want > top_of(flat.type) ? top_of(flat.type) : want);
            }
        }
    EXPECT(!wrong, "wrong levels: %llu", wrong);
}

static void check_depths(const problem *p) {
    const float *got = (const float *)run(p, TMAP_SPILL_DEPTH);
    tmap_u64 wrong = 0;
    for (tmap_u64 y = 0; y < p->map.height; ++y)
        for (tmap_u64 x = 0; x < p->map.width; ++x) {
            const double height = tmap_raster_value(&p->map, p->host, x, y);
            double level = p->want[y * p->map.width + x];
            float depth = 0;
            if (level > top_of(p->map.type)) level = top_of(p->map.type);
            if (level == level && level != height)
                depth =
                    level == top_of(p->map.type) ? INFINITY : tmapi_raster_float(level - height);
            wrong += memcmp(got + y * p->map.width + x, &depth, 4) != 0;
        }
    EXPECT(!wrong, "wrong depths: %llu", wrong);
}

// The flood from all outlets at a level is the cells whose own is lower.
static void check_flood(const problem *p, tmap_u64 *random) {
    const tmap_u64 w = p->map.width, cells = w * p->map.height;
    const double *want = p->want;
    tmap_flood_seed *seeds = (tmap_flood_seed *)kit_host((cells + 1) * sizeof *seeds);
    tmap_flood_plan plan;
    tmap_u64 count = 0;
    for (tmap_u64 i = 0; i < cells; ++i)
        if (spill_outlet(&p->map, p->host, p->mask, p->outlets, i))
            seeds[count].x = i % w, seeds[count++].y = i / w;
    CHECK(tmap_flood_plan_make(&p->map, TMAP_FLOOD_U8, count, &plan));
    void *workspace = kit_device(plan.workspace), *out = kit_device(cells);
    const tmap_raster_map flat = {w, p->map.height, w, 0, 0, p->map.type, 4};
    const void *levels = run(p, TMAP_SPILL_LEVEL);
    const tmap_flood_heights heights = {p->device, 0};
    tmap_flood_sources sources = {NULL, count, 0};
    sources.seeds = (tmap_flood_seed *)kit_to_device(seeds, count * sizeof *seeds);
    for (int i = 0; i < (kit_full ? 20 : 2); ++i) {
        const tmap_u64 at = kit_below(random, cells);
        tmap_u64 wrong = 0;
        sources.level = want[at] == want[at] && want[at] < 1e300 ? want[at] : 0;
        if (i % 2) sources.level = nextafter(sources.level, 1e300);
        CHECK(tmap_flood(&plan, heights, sources, workspace, out, 0));
        const unsigned char *wet = (unsigned char *)kit_to_host(out, cells);
        for (tmap_u64 k = 0; k < cells; ++k) {
            const double level = tmap_raster_value(&flat, levels, k % w, k / w);
            // a cell that no water reaches has the largest level of its type
            wrong += wet[k] != (want[k] < (double)INFINITY && level < sources.level);
        }
        EXPECT(!wrong, "at level %g other cells than tmap_flood: %llu", sources.level, wrong);
    }
}

// ---- cases --------------------------------------------------------------------------------------

static const tmap_u32 sizes[][2] = {{1, 1},   {1, 2},   {2, 1},    {1, 131},   {1031, 1}, {3, 3},
                                    {31, 37}, {64, 64}, {65, 65},  {63, 129},  {128, 64}, {2, 200},
                                    {66, 2},  {129, 1}, {193, 70}, {200, 131}, {260, 195}};

// One of many random maps.
static void check_random(tmap_u64 *random, tmap_u32 number) {
    tmap_raster_map map;
    memset(&map, 0, sizeof map);
    if (number % 3 == 0) {
        const tmap_u32 *size = sizes[kit_below(random, COUNT(sizes))];
        map.width = size[0], map.height = size[1];
    } else {
        map.width = 1 + kit_below(random, number % 3 == 1 ? 20 : 180);
        map.height = 1 + kit_below(random, number % 3 == 1 ? 20 : 180);
    }
    map.pitch = map.width + (kit_below(random, 2) ? kit_below(random, 9) : 0);
    map.type = (int)kit_below(random, 3), map.connectivity = kit_below(random, 2) ? 8 : 4;
    map.has_nodata = kit_below(random, 3) == 0, map.nodata = FLOOD_NODATA;
    const int input = (int)kit_below(random, SPILL_INPUTS), outlets = (int)kit_below(random, 4);
    const int masked = (int)kit_below(random, 2);
    if (input == SPILL_ENDS) map.has_nodata = 1; // the largest integers beside walls
    if (!check_turn()) return;
    const problem p = problem_make(map, input, outlets, masked, number);
    check_levels(&p);
    if (kit_full || number % 3 == 0) check_depths(&p);
    if (kit_full || number % 8 == 1) check_flood(&p, random);
    kit_release(0);
}

// Corridors and noise over several tiles, and a plain, which is one plateau.
static void check_large(void) {
    static const int inputs[] = {SPILL_CORRIDOR, SPILL_SPIRAL, SPILL_NOISE,    SPILL_HILLS,
                                 SPILL_PLATEAUS, FLOOD_WET,    SPILL_DIAGONAL, SPILL_ANTIDIAGONAL};
    for (size_t i = 0; i < COUNT(inputs); ++i)
        for (int eight = 0; eight < 2; ++eight) {
            const tmap_u64 side = kit_full ? 1500 : 330;
            const tmap_raster_map map = {
                side, side - 20, side, 0, 0, (int)(i + (size_t)eight) % 3, 4 + 4 * eight};
            if (!check_turn()) continue;
            const problem p = problem_make(map, inputs[i], eight ? TMAP_SPILL_BORDER : 0, 1, 5);
            check_levels(&p);
            kit_release(0);
        }
}

// The example of tmap_spill's comment.
static void check_example(void) {
    const int heights[5] = {5, 1, 3, 2, 4}, west[5] = {5, 5, 5, 5, 5}, east[5] = {5, 4, 4, 4, 4};
    const tmap_raster_map map = {5, 1, 5, 0, 0, TMAP_RASTER_I32, 4};
    for (int at = 0; at < 5; at += 4) {
        unsigned char mask[5] = {0};
        tmap_spill_plan plan;
        mask[at] = 1;
        kit_case("the example, outlet %d", at);
        CHECK(tmap_spill_plan_make(&map, TMAP_SPILL_LEVEL, 0, &plan));
        void *out = kit_guarded(sizeof heights);
        CHECK(tmap_spill(&plan, kit_to_device(heights, sizeof heights), kit_to_device(mask, 5),
                         kit_device(plan.workspace), out, 0));
        HOLDS(!memcmp(kit_to_host(out, sizeof heights), at ? east : west, sizeof heights));
    }
    kit_release(0);
}

// Plans of devices: what each has is enough; sizes in 64 bits.
static void check_plans(void) {
    tmap_raster_map map = {46341, 46341, 46341, 0, 0, TMAP_RASTER_I16, 8};
    tmap_spill_plan plan;
    tmap_facts facts;
    CHECK(tmap_facts_get((const void *)tmapi_spill_tile_kernel, &facts));
    RETURNS(tmap_spill_plan_of(&map, 0, 3, &facts, &plan), TMAP_OK);
    HOLDS(plan.workspace > 2ull * 46341 * 46341 && plan.workspace < 5ull * 46341 * 46341 / 2);
    map.width = map.pitch = 64, map.height = 0x7fffffff; // 2^25 tiles
    RETURNS(tmap_spill_plan_of(&map, 0, 3, &facts, &plan), TMAP_ERANGE);
    map.height -= 64;
    RETURNS(tmap_spill_plan_of(&map, 0, 3, &facts, &plan), TMAP_OK);
    facts.device.block_shared = 40 << 10;
    RETURNS(tmap_spill_plan_of(&map, 0, 3, &facts, &plan), TMAP_EINVAL);
    RETURNS(tmap_spill_plan_of(&map, 0, 3, NULL, &plan), TMAP_EINVAL);
}

static void check_refused(void) {
    const tmap_raster_map good = {70, 3, 71, 0, 0, TMAP_RASTER_F32, 4};
    tmap_spill_plan plan, none;
    tmap_raster_map map = good;
    kit_case("arguments");
    REFUSED(tmap_spill_plan_make(NULL, 0, 0, &plan));
    REFUSED(tmap_spill_plan_make(&map, 0, 0, NULL));
    REFUSED(tmap_spill_plan_make(&map, -1, 0, &plan));
    REFUSED(tmap_spill_plan_make(&map, 2, 0, &plan));
    REFUSED(tmap_spill_plan_make(&map, 0, -1, &plan));
    REFUSED(tmap_spill_plan_make(&map, 0, 4, &plan));
    map.pitch = 69;
    REFUSED(tmap_spill_plan_make(&map, 0, 0, &plan));
    map = good, map.type = TMAP_RASTER_U8;
    REFUSED(tmap_spill_plan_make(&map, 0, 0, &plan));
    map = good, map.connectivity = 6;
    REFUSED(tmap_spill_plan_make(&map, 0, 0, &plan));
    map = good, map.height = 1ull << 31;
    REFUSED(tmap_spill_plan_make(&map, 0, 0, &plan));
    CHECK(tmap_spill_plan_make(&good, 0, 0, &plan));
    char *heights = (char *)kit_filled(4 * 71 * 3 + 16, 1), *out = (char *)kit_guarded(4 * 70 * 3);
    char *mask = (char *)kit_filled(70 * 3, 0), *work = (char *)kit_device(plan.workspace + 16);
    memset(&none, 0, sizeof none);
    REFUSED(tmap_spill(&none, heights, mask, work, out, 0));
    REFUSED(tmap_spill(NULL, heights, mask, work, out, 0));
    REFUSED(tmap_spill(&plan, NULL, mask, work, out, 0));
    REFUSED(tmap_spill(&plan, heights, mask, NULL, out, 0));
    REFUSED(tmap_spill(&plan, heights, mask, work, NULL, 0));
    REFUSED(tmap_spill(&plan, heights + 2, mask, work, out, 0));
    REFUSED(tmap_spill(&plan, heights, mask, work + 8, out, 0));
    REFUSED(tmap_spill(&plan, heights, mask, work, out + 2, 0));
    REFUSED(tmap_spill(&plan, heights, mask, work, heights, 0));
    REFUSED(tmap_spill(&plan, heights, mask, work, heights + 4 * 211, 0));
    REFUSED(tmap_spill(&plan, heights, mask, work, work + plan.workspace - 4, 0));
    REFUSED(tmap_spill(&plan, heights, out + 4 * 209, work, out, 0));
    REFUSED(tmap_spill(&plan, heights, work + 1, work, out, 0));
    HOLDS(kit_device_all(out, 4 * 70 * 3, KIT_POISON));
    for (int i = 0; i < 18; ++i) { // without columns, rows or both
        map = good, map.type = i / 6;
        if (i % 3 != 1) map.width = 0;
        if (i % 3 != 0) map.height = 0;
        CHECK(tmap_spill_plan_make(&map, i / 3 % 2, 0, &none));
        RETURNS(tmap_spill(&none, NULL, NULL, NULL, NULL, 0), cudaSuccess);
    }
    earlier_error();
    RETURNS(tmap_spill(&plan, heights, mask, work, out, 0), cudaSuccess);
    HOLDS(earlier_error_is_there());
    CHECK(cudaDeviceSynchronize());
    kit_release(0);
}

// A call captured into a graph, which runs twice. Not on the CPU machine, which has none.
static void check_graph(void) {
#if defined(__CUDACC_VER_MAJOR__)
    const tmap_raster_map map = {300, 200, 300, 0, 0, TMAP_RASTER_F32, 8};
    const problem p = problem_make(map, SPILL_HILLS, TMAP_SPILL_BORDER, 0, 3);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    tmap_spill_plan plan;
    CHECK(tmap_spill_plan_make(&map, TMAP_SPILL_LEVEL, TMAP_SPILL_BORDER, &plan));
    float *out = (float *)kit_guarded(300 * 200 * 4);
    void *workspace = kit_device(plan.workspace);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(tmap_spill(&plan, p.device, 0, workspace, out, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int turn = 0; turn < 2; ++turn) {
        tmap_u64 wrong = 0;
        CHECK(cudaMemsetAsync(out, KIT_POISON, 300 * 200 * 4, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        const float *got = (const float *)kit_to_host(out, 300 * 200 * 4);
        for (int i = 0; i < 300 * 200; ++i) wrong += (double)got[i] != p.want[i];
        expect(!wrong, "a graph, launched twice");
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    kit_release(0);
#endif
}

int main(void) {
    tmap_u64 random = 1;
    kit_begin();
    check_example();
    check_plans();
    check_refused();
    check_large();
    check_graph();
    for (tmap_u32 i = 0; i < (kit_full ? 3000 : kit_tiny ? 30 : 400); ++i) check_random(&random, i);
    return kit_end("test_spill");
}
