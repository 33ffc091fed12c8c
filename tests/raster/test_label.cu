// SPDX-License-Identifier: MIT
// test_label: labels of components and their shapes, against a serial flood fill, cell by cell: all
// types of cells, both connectivities and both forms of labels, sizes around the edges of blocks,
// one row, one column, primes, 200 random small maps; batches of images; devices of less shared
// memory, and plans for them; maps without cells; floats below 2^-126; errors of earlier calls; and what is refused.
#include "label_check.h"
#include "flood_inputs.h"
#include <math.h>
#include <threadmap/raster/label.h>

enum { TYPES = 6 };
enum {
    NOISE,
    VALUES,
    SPARSE,
    ALL,
    NONE,
    CHECKER,
    SNAKE_H,
    SNAKE_V,
    SPIRAL,
    COMB,
    HILLS,
    RISING,
    FALLING,
    KINDS
};

typedef struct test_case {
    tmap_raster_map map;
    int form, kind;
    tmap_u64 seed;
    tmap_u64 images, slice; // of a batch; 0: one picture
} test_case;

static const int types[TYPES] = {TMAP_RASTER_MASK, TMAP_RASTER_U8,  TMAP_RASTER_I16,
                                 TMAP_RASTER_I32,  TMAP_RASTER_F32, TMAP_RASTER_BITS};

// 1 where a map to flood is wet.
static int cell_wet(const test_case *c, int input, int x, int y) {
    return flood_input(input, (tmap_u32)x, (tmap_u32)y, (tmap_u32)c->map.width,
                       (tmap_u32)c->map.height) < 0;
}

// A small number for a cell; those of masks are 0 or not.
static int cell_value(const test_case *c, int x, int y) {
    const int h = (int)c->map.height;
    const tmap_u32 r = label_hash(c->seed * 1000003 + (tmap_u64)y * 50021 + (tmap_u64)x);
    switch (c->kind) {
    case NOISE: return r % 1000 < 593;
    case VALUES: return (int)(r % 3);
    case SPARSE: return r % 1000 < c->seed % 7 * 100 + 50;
    case ALL: return cell_wet(c, FLOOD_WET, x, y);
    case NONE: return cell_wet(c, FLOOD_DRY, x, y);
    case CHECKER: return cell_wet(c, FLOOD_CHECKERBOARD, x, y);
    case SNAKE_H: return cell_wet(c, FLOOD_SERPENTINE_H, x, y);
    case SNAKE_V: return cell_wet(c, FLOOD_SERPENTINE_V, x, y);
    case SPIRAL: return cell_wet(c, FLOOD_SPIRAL, x, y);
    case RISING: return (x + y) % 16 == 15; // through corners of blocks
    case FALLING: return (x + 16 * h - y) % 16 == 0;
    case COMB: return y % 16 == 15 || x % 2 == 0;
    default: return ((x / 9 + y / 5) ^ (x / 31)) % 4;
    }
}

// The number stands for itself in a map of values; f32 also has negative zeros and NaN.
static void cell_set(const test_case *c, void *cells, tmap_u64 x, tmap_u64 y, int v, tmap_u32 r) {
    const tmap_u64 at = y * c->map.pitch + x;
    switch (c->map.type) {
    case TMAP_RASTER_MASK:
        ((unsigned char *)cells)[at] = (unsigned char)(v ? v << r % 8 : 0);
        break;
    case TMAP_RASTER_BITS: {
        tmap_u32 *word = (tmap_u32 *)cells + (at - x + x / 32);
        *word = (*word & ~(1u << x % 32)) | (tmap_u32)(v != 0) << x % 32;
        break;
    }
    case TMAP_RASTER_U8: ((unsigned char *)cells)[at] = (unsigned char)(v * 127); break;
    case TMAP_RASTER_I16: ((short *)cells)[at] = (short)(v * 257 - 300); break;
    case TMAP_RASTER_I32: ((int *)cells)[at] = v * 65536 - 70000; break;
    default:
        ((float *)cells)[at] = v == 0 && r % 2 ? -0.f : (float)v * 0.1f;
        if (v == 2 || r % 512 == 0) {
            const tmap_u32 nan = 0x7fc00000u + r % 2;
            memcpy((float *)cells + at, &nan, 4);
        }
    }
}

static double cell_get(const test_case *c, const void *cells, tmap_u64 x, tmap_u64 y) {
    const tmap_u64 at = y * c->map.pitch + x;
    switch (c->map.type) {
    case TMAP_RASTER_MASK: return ((const unsigned char *)cells)[at] != 0;
    case TMAP_RASTER_BITS: return tmap_raster_value(&c->map, cells, x, y);
    case TMAP_RASTER_U8: return ((const unsigned char *)cells)[at];
    case TMAP_RASTER_I16: return ((const short *)cells)[at];
    case TMAP_RASTER_I32: return ((const int *)cells)[at];
    default: return (double)((const float *)cells)[at];
    }
}

static int cell_belongs(const test_case *c, double v) {
    if (c->map.type >= TMAP_RASTER_MASK) return v != 0;
    return v == v && !(c->map.has_nodata && v == c->map.nodata);
}

static cudaError_t run(const void *plan, const void *cells, void *workspace, void *labels,
                       tmap_u64 *count) {
    return tmap_label((const tmap_label_plan *)plan, cells, workspace, labels, count, 0);
}

static label_call call_of(const tmap_label_plan *plan, const void *cells, int again) {
    const label_call call = {cells,
                             (plan->array.images ? plan->job.slice * plan->array.depth
                                                 : plan->map.pitch * plan->map.height) *
                                 tmap_raster_size(plan->map.type),
                             tmapi_label_most(&plan->map),
                             plan->workspace,
                             plan->array,
                             plan,
                             run,
                             again,
                             plan->roots};
    return call;
}

static tmap_label_plan plan_of(const tmap_raster_map *map, int form) {
    tmap_label_plan plan;
    CHECK(tmap_label_plan_make(map, form, &plan));
    return plan;
}

static tmap_label_plan images_plan_of(const test_case *c) {
    tmap_label_plan plan;
    CHECK(tmap_label_images_plan_make(&c->map, c->images, c->slice, c->form, &plan));
    return plan;
}

// Makes the cells of a picture or of an image.
static void fill(const test_case *c, void *in, double *values) {
    const tmap_u64 width = c->map.width;
    for (tmap_u64 y = 0; y < c->map.height; ++y)
        for (tmap_u64 x = 0; x < width; ++x) {
            cell_set(c, in, x, y, cell_value(c, (int)x, (int)y),
                     label_hash(c->seed + (y << 32) + x));
            values[y * width + x] = cell_get(c, in, x, y);
            if (!cell_belongs(c, values[y * width + x])) values[y * width + x] = NAN;
        }
}

static void check(const test_case *c) {
    if (!check_turn()) return;
    const int mark = kit_mark();
    const tmap_u64 width = c->map.width, height = c->map.height, depth = c->images ? c->images : 1;
    const tmap_label_plan plan = c->images ? images_plan_of(c) : plan_of(&c->map, c->form);
    double *values = (double *)kit_host(width * height * depth * sizeof *values);
    const label_cells cells = {width, height, depth, c->map.connectivity, values};
    const tmap_u64 bytes =
        (c->images ? c->slice : c->map.pitch * height) * tmap_raster_size(c->map.type);
    char *in = (char *)kit_host(bytes * depth);
    const label_call call = call_of(&plan, in, c->seed % 4 == 0);
    kit_case("%llu x %llu, pitch %llu, type %d, connectivity %d, nodata %d %g, form %d, kind %d, "
             "seed %llu, images %llu, slice %llu",
             width, height, c->map.pitch, c->map.type, c->map.connectivity, c->map.has_nodata,
             c->map.nodata, c->form, c->kind, c->seed, c->images, c->slice);
    memset(in, (int)(c->seed % 256) | 1, bytes * depth); // also between rows and images
    for (tmap_u64 z = 0; z < depth; ++z) {
        test_case image = *c;
        image.seed += z;
        fill(&image, in + z * bytes, values + z * width * height);
    }
    label_check(&cells, &call);
    kit_release(mark);
}

// A map of this size, whose type, connectivity and so on are those of number i.
static test_case make(tmap_u64 width, tmap_u64 height, int i, int kind) {
    const double grounds[TYPES] = {1, 127, -43, -70000, 0, 1};
    test_case c;
    c.map.width = width, c.map.height = height, c.map.pitch = width;
    c.map.type = types[i % TYPES], c.map.connectivity = i / TYPES % 2 ? 8 : 4;
    c.form = i / (2 * TYPES) % 2, c.map.has_nodata = i / (4 * TYPES) % 2;
    c.map.nodata = grounds[i % TYPES];
    c.kind = kind, c.seed = kit_below(&label_random, 1000000);
    if (c.seed % 3 == 0) c.map.pitch += c.seed % 37;
    if (c.seed % 3 == 1) c.map.pitch = (width + 15) / 16 * 16; // rows of masks are read by 16 bytes
    if (c.seed % 5 == 0) c.map.nodata += 0.5;                  // that no cell has
    if (c.map.type == TMAP_RASTER_BITS) c.map.pitch = (c.map.pitch + 31) / 32;
    if (c.seed / 16 % 3 == 0) c.form |= TMAP_LABEL_ROOTS;
    if (c.seed % 11 == 0) c.map.nodata = i % 2 ? 1e300 : -1e10;
    c.images = c.slice = 0;
    return c;
}

static void test_sizes(int full) {
    static const tmap_u64 sizes[][2] = {
        {1, 1},     {1, 2},     {2, 1},     {1, 197},  {1025, 1}, {1, 64},    {1024, 65},
        {1023, 33}, {1025, 64}, {2049, 31}, {31, 129}, {33, 127}, {2047, 66}, {1024, 64},
        {1024, 32}, {1031, 37}, {3072, 3},  {992, 63}, {997, 65}, {96, 97},   {2051, 65}};
    const int n = (int)COUNT(sizes);
    for (int i = 0; i < n * (full ? 2 * KINDS : 4); ++i) {
        const test_case c = make(sizes[i % n][0], sizes[i % n][1], i * 7 + i / n, i * 5 % KINDS);
        check(&c);
    }
    for (int i = 0; i < 2; ++i) { // as many components on the edges of a block as there can be
        const test_case c = make(3072, 192, i, CHECKER);
        check(&c);
    }
    // an edge of blocks in each direction, masks and values
    for (int i = 0; i < KINDS * (full ? 10 : 4); ++i) {
        const test_case c = make(full ? 2000 + (tmap_u64)i : 1030, full ? 133 : 67,
                                 full ? i : i / KINDS / 2 + (i / KINDS % 2 ? TYPES : 0), i % KINDS);
        check(&c);
    }
}

// Images side by side and below each other, that fill a block's rows or not.
static void test_batches(int full) {
    static const tmap_u64 sizes[][3] = {{256, 70, 5},  {200, 150, 3}, {512, 66, 3},  {64, 65, 17},
                                        {128, 128, 4}, {100, 9, 30},  {1030, 70, 3}, {1024, 64, 2},
                                        {513, 5, 6},   {16, 16, 50},  {1, 200, 33},  {65, 130, 18},
                                        {70, 3, 1},    {31, 7, 2}};
    for (unsigned i = 0; i < COUNT(sizes) * (full ? KINDS : 1); ++i)
        for (int k = 0; k < 8; ++k) { // types, connectivities, forms
            const tmap_u64 *s = sizes[i % COUNT(sizes)];
            test_case c = make(s[0], s[1], k / 2 * TYPES + k % 2 * (TYPES - 1),
                               (int)kit_below(&label_random, KINDS));
            c.form = k / 4, c.images = s[2];
            c.slice = c.map.pitch * c.map.height + (c.seed % 5 == 0 ? c.seed % 77 : 0);
            check(&c);
        }
}

static void test_random(int maps) {
    for (int i = 0; i < maps; ++i) {
        const tmap_u64 w = 1 + kit_edge_below(&label_random, 70),
                       h = 1 + kit_edge_below(&label_random, 40);
        const test_case c = make(w, h, i, (int)kit_below(&label_random, KINDS));
        check(&c);
    }
}

static void test_large(void) {
    static const tmap_u64 sizes[][2] = {{3072, 2048}, {3001, 2003}, {1, 3000000}, {3000000, 1}};
    for (int i = 0; i < 2 * KINDS; ++i) {
        const test_case c = make(sizes[i % 4][0], sizes[i % 4][1], i, i % KINDS);
        check(&c);
    }
}

// ---- devices and errors -------------------------------------------------------------------------

enum { DEVICES = COUNT(kit_devices) };

// A plan from facts alone beside what is known of seven devices and beside the plan for the current
// one, which the CPU machine takes from the environment.
static void test_plan_of(void) {
    for (int i = 0; i < DEVICES; ++i)
        for (int type = 0; type < TYPES; ++type) {
            const tmap_raster_map map = {2030, 67, 2030, 0, 0, types[type], i % 2 ? 4 : 8};
            const int mask = map.type >= TMAP_RASTER_MASK;
            const tmap_u32 rows = (mask ? 64 : 32) / (i ? 1 : 2);
            const double bytes = i ? mask ? 0.4 : 1.3 : mask ? 0.65 : 2.3; // a cell
            tmap_raster_map large = map;
            tmap_label_plan a, b;
            tmap_facts facts, here;
            memset(&facts, 0x5a, sizeof facts);
            facts.device.block_shared = kit_shared[i];
            kit_set_device(kit_devices[i]);
            CHECK(tmap_label_plan_make(&map, i % 2, &a));
            CHECK(tmap_device_facts_get(&here.device));
            large.width = large.pitch = large.height = (1ull << 31) - 1;
            expect(tmap_label_plan_of(&map, i % 2, &facts, &b) == TMAP_OK && b.job.rows == rows &&
                       b.threads == (i ? 512 : 256) && b.blocks == 2 * ((67 + rows - 1) / rows) &&
                       b.array.form == i % 2,
                   "a plan from facts");
            expect(here.device.block_shared != kit_shared[i] ||
                       (a.workspace == b.workspace && a.blocks == b.blocks &&
                        a.threads == b.threads && a.shared == b.shared &&
                        a.job.rows == b.job.rows && a.job.nodes == b.job.nodes &&
                        a.job.slots == b.job.slots && a.job.scan.counts == b.job.scan.counts),
                   "the plan for the device is another one");
            expect(tmap_label_plan_of(&large, 1, &facts, &b) == TMAP_ERANGE, "a large map");
            expect(tmap_label_plan_of(&map, 0, NULL, &b) == TMAP_EINVAL, "no facts");
            large.width = large.pitch = large.height = 1 << 14;
            expect(tmap_label_plan_of(&large, 0, &facts, &b) == TMAP_OK &&
                       fabs((double)b.workspace / (1 << 28) - bytes) < bytes / 50,
                   "bytes of a workspace");
        }
    kit_set_device(NULL);
}

// Facts of devices, which the CPU machine takes from the environment: all types, labels of 32 and
// of 64 bits, over the edges of blocks. A plan for a device of more shared memory is refused by one
// of less.
static void test_devices(void) {
    const tmap_raster_map map = {1030, 67, 1030, 0, 0, TMAP_RASTER_U8, 4};
    int shared;
    for (int i = 0; i < DEVICES; ++i) {
        kit_set_device(kit_devices[i]);
        for (int type = 0; type < TYPES; ++type) {
            const int taken = i == 0 || (type + i) % TYPES == 0;
            test_case c = make(1030, 67, type + TYPES * (i % 2), (i + type) % KINDS);
            for (c.form = 0; c.form < 4; ++c.form)
                if (taken) check(&c);
        }
    }
    kit_set_device("9.0");
    const tmap_label_plan plan = plan_of(&map, TMAP_LABEL_INT64);
    kit_set_device("7.5");
    CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    if (shared <= 64 * 1024) {
        const tmap_u64 cells = map.width * map.height;
        expect(run(&plan, kit_device(cells), kit_device(plan.workspace), kit_device(8 * cells),
                   (tmap_u64 *)kit_device(8)) != cudaSuccess,
               "a plan of another device taken");
        cudaGetLastError();
        kit_release(0);
    }
    kit_set_device(NULL);
}

// The plan of a small map.
static tmap_label_plan small(int type, int form) {
    const tmap_raster_map map = {40, 30, 40, 0, 0, type, 4};
    return plan_of(&map, form);
}

// The shared memory that a kernel may have is never lowered, so that two threads of the host can
// label maps of different plans.
static void test_limit_kept(void) {
    const tmap_label_plan plans[] = {small(TMAP_RASTER_I32, TMAP_LABEL_INT32),
                                     small(TMAP_RASTER_MASK, TMAP_LABEL_INT32)};
    struct cudaFuncAttributes a[2];
    for (int i = 0; i < 2; ++i) {
        CHECK(run(&plans[i], kit_filled(4800, 1), kit_device(plans[i].workspace), kit_device(9600),
                  (tmap_u64 *)kit_device(8)));
        CHECK(cudaFuncGetAttributes(&a[i], (const void *)tmapi_label_write_kernel));
    }
    expect(a[1].maxDynamicSharedSizeBytes >= a[0].maxDynamicSharedSizeBytes, "a limit lowered");
    CHECK(cudaDeviceSynchronize());
    kit_release(0);
}

// Called before anything else, so that limits of kernels are set here.
static void test_error_kept(void) {
    const tmap_label_plan plans[] = {small(TMAP_RASTER_MASK, TMAP_LABEL_INT32),
                                     small(TMAP_RASTER_F32, TMAP_LABEL_INT64),
                                     small(TMAP_RASTER_I16, TMAP_LABEL_INT32)};
    tmap_label_plan other;
    for (int i = 0; i < 3; ++i) {
        const label_call call = call_of(&plans[i], 0, 0);
        label_check_error_kept(&call, 40 * 30);
        earlier_error();
        RETURNS(tmap_label_plan_make(&plans[i].map, TMAP_LABEL_INT64, &other), cudaSuccess);
        expect(earlier_error_is_there(), "an earlier error of a plan");
    }
}

static void test_errors(void) {
    const tmap_raster_map good = {5, 4, 6, 0, 0, TMAP_RASTER_U8, 4};
    tmap_label_plan plan, kept;
    tmap_raster_map bad;
    memset(&plan, 0x3c, sizeof plan), kept = plan;
#define BAD(field, value) \
    kit_case(#field " = " #value), bad = good, bad.field = value; \
    REFUSED(tmap_label_plan_make(&bad, TMAP_LABEL_INT32, &plan))
    BAD(width, 1ull << 31);
    BAD(height, 1ull << 31);
    BAD(pitch, 4);
    BAD(pitch, 1ull << 32);
    BAD(type, -1);
    BAD(type, TYPES);
    BAD(connectivity, 6);
    BAD(height, 500000000); // 2.5 * 10^9 components
#undef BAD
    kit_case("%s", "errors");
    REFUSED(tmap_label_plan_make(0, 0, &plan));
    REFUSED(tmap_label_plan_make(&good, 0, 0));
    REFUSED(tmap_label_plan_make(&good, 4, &plan));
    bad = good, bad.width = bad.pitch = bad.height = 0x7fffffff;
    RETURNS(tmap_label_plan_make(&bad, TMAP_LABEL_INT64, &plan), cudaErrorInvalidConfiguration);
    expect(memcmp(&plan, &kept, sizeof plan) == 0, "plan written");
    bad = good, bad.height = 500000000;
    plan = plan_of(&bad, TMAP_LABEL_INT64);
    bad.type = TMAP_RASTER_MASK, bad.width = bad.pitch = bad.height = 65536, bad.connectivity = 8;
    REFUSED(tmap_label_plan_make(&bad, TMAP_LABEL_INT32 | TMAP_LABEL_ROOTS, &plan));
    bad.height -= 64; // labels up to 2^31 - 2^21
    plan = plan_of(&bad, TMAP_LABEL_INT32 | TMAP_LABEL_ROOTS);
    bad = good, bad.height = 500000000;
    bad.type = TMAP_RASTER_MASK, bad.width = 8, bad.pitch = 8;
    plan = plan_of(&bad, TMAP_LABEL_INT32);
    bad = good, bad.type = TMAP_RASTER_I16;
    plan = plan_of(&bad, TMAP_LABEL_INT64);
    bad.width = 50, bad.height = 40, bad.pitch = 52;
    plan = plan_of(&bad, TMAP_LABEL_INT64);
    label_call call = call_of(&plan, 0, 0);
    label_check_refused(&call, 2, 1ull << 41);
    label_check_overlap(&call, 1);
    bad.type = TMAP_RASTER_I32, plan = plan_of(&bad, TMAP_LABEL_INT32), call = call_of(&plan, 0, 0);
    label_check_overlap(&call, 1); // labels in the memory of cells of their size
    bad.type = TMAP_RASTER_BITS, bad.pitch = 1;
    REFUSED(tmap_label_plan_make(&bad, TMAP_LABEL_INT32, &plan));
    bad.pitch = 2, plan = plan_of(&bad, TMAP_LABEL_INT32), call = call_of(&plan, 0, 0);
    label_check_overlap(&call, 1);
}

// Plans of batches: their memory, and what is refused.
static void test_images(void) {
    const tmap_raster_map good = {50, 40, 2, 0, 0, TMAP_RASTER_BITS, 8};
    tmap_raster_map bad = good;
    tmap_label_plan plan, kept;
    tmap_facts facts;
    memset(&plan, 0x3c, sizeof plan), kept = plan;
    kit_case("%s", "batches");
    for (int type = 0; type < TMAP_RASTER_MASK; ++type) {
        bad.type = type, bad.pitch = 50;
        REFUSED(tmap_label_images_plan_make(&bad, 3, 2000, TMAP_LABEL_INT32, &plan));
    }
    REFUSED(tmap_label_images_plan_make(0, 3, 80, TMAP_LABEL_INT32, &plan));
    REFUSED(tmap_label_images_plan_make(&good, 3, 80, TMAP_LABEL_INT32, 0));
    REFUSED(tmap_label_images_plan_make(&good, 3, 79, TMAP_LABEL_INT32, &plan));
    REFUSED(tmap_label_images_plan_make(&good, 3, 1ull << 60, TMAP_LABEL_INT32, &plan));
    REFUSED(tmap_label_images_plan_make(&good, 1ull << 31, 80, TMAP_LABEL_INT32, &plan));
    REFUSED(tmap_label_images_plan_make(&good, 3, 80, TMAP_LABEL_ROOTS, &plan));
    REFUSED(tmap_label_images_plan_make(&good, 3, 80, 4, &plan));
    expect(tmap_label_images_plan_of(&good, 3, 80, 0, 0, &plan) == TMAP_EINVAL, "no facts");
    bad = good, bad.connectivity = 6;
    REFUSED(tmap_label_images_plan_make(&bad, 3, 80, TMAP_LABEL_INT32, &plan));
    bad = good, bad.width = bad.pitch = 1, bad.height = 100;
    RETURNS(tmap_label_images_plan_make(&bad, 0x7fffffff, 100, TMAP_LABEL_INT32, &plan),
            cudaErrorInvalidConfiguration);
    expect(memcmp(&plan, &kept, sizeof plan) == 0, "plan written");
    CHECK(tmap_label_images_plan_make(&bad, 0x7fffffff / 8, 100, TMAP_LABEL_INT32, &plan));
    const tmap_raster_map large = {2048, 2048, 64, 0, 0, TMAP_RASTER_BITS, 4};
    CHECK(tmap_label_images_plan_make(&large, 2048, 64 * 2048, TMAP_LABEL_INT32, &plan));
    expect(plan.workspace > 1ull << 31 && plan.workspace < 1ull << 32, "a batch of bits");
    const tmap_raster_map narrow = {512, 2048, 16, 0, 0, TMAP_RASTER_BITS, 4};
    CHECK(tmap_label_images_plan_make(&narrow, 8192, 16 * 2048, TMAP_LABEL_INT32, &plan));
    expect(plan.workspace > 5ull << 31 && plan.workspace < 7ull << 31, "images side by side");
    for (int i = 0; i < 2; ++i) // bytes a cell: images of 600 to 2000 columns
        for (tmap_u64 width = 600; width < 2000; width += width == 1000 ? 900 : 40) {
            const double least = i ? 0.38 : 0.63, most = i ? 0.61 : 0.86;
            const tmap_raster_map map = {width, 2000, width, 0, 0, TMAP_RASTER_MASK, 4};
            facts.device.block_shared = kit_shared[i], facts.device.processors = 4;
            HOLDS(tmap_label_images_plan_of(&map, 16, 2000 * width, 0, &facts, &plan) == TMAP_OK);
            const double each = (double)plan.workspace / (32000.0 * (double)width);
            EXPECT(least < each && each < most, "%g bytes a cell, %llu columns", each, width);
        }
    CHECK(tmap_label_images_plan_make(&good, 3, 80, TMAP_LABEL_INT64, &plan));
    const label_call call = call_of(&plan, 0, 0);
    label_check_refused(&call, 4, 1ull << 39);
    label_check_overlap(&call, 3);
    for (int i = 0; i < 7 * 4; ++i) { // without columns, rows or images: a bit each
        const int none = i / 4 + 1;
        const tmap_raster_map map = {none & 1 ? 0u : 50u,
                                     none & 2 ? 0u : 40u,
                                     64,
                                     0,
                                     0,
                                     i % 2 ? TMAP_RASTER_MASK : TMAP_RASTER_BITS,
                                     i % 4 < 2 ? 4 : 8};
        const tmap_u64 images = none & 4 ? 0 : 3;
        kit_case("%llu images of %llu x %llu", images, map.width, map.height);
        CHECK(tmap_label_images_plan_make(&map, images, 64 * 40, i % 2, &plan));
        const label_call empty = call_of(&plan, 0, 0);
        label_check_empty(&empty, images);
    }
}

// Maps of no columns or no rows have no component.
static void test_empty(void) {
    for (int i = 0; i < 3 * TYPES; ++i) {
        const tmap_raster_map map = {i % 3 == 1 ? 7u : 0u, i % 3 == 0 ? 7u : 0u, 9, 0, 0,
                                     types[i / 3],         i % 2 ? 8 : 4};
        kit_case("%llu x %llu, type %d", map.width, map.height, map.type);
        const tmap_label_plan plan = plan_of(&map, i % 2);
        const label_call call = call_of(&plan, 0, 0);
        label_check_empty(&call, 1);
        const tmap_label_plan roots = plan_of(&map, i % 2 | TMAP_LABEL_ROOTS);
        RETURNS(run(&roots, 0, 0, 0, 0), cudaSuccess);
    }
}

// Floats are compared by their bits: those below 2^-126 are not 0, and may be the NODATA value, also
// where the processor takes them for 0 (-ftz=true). -0 is 0, and NaN is no value.
static void test_tiny(void) {
    static const tmap_u32 bits[] = {0,          0x80000000, 1,          0x80000001, 0x00400000,
                                    0x007fffff, 0x00800000, 0x7fc00000, 0xff800001, 0x7f800000};
    const double nodata[] = {0, 0x1p-149, -0x1p-149, 0x1p-127, 0x1p-150, HUGE_VAL, (double)NAN};
    const tmap_raster_map map = {70, 40, 70, 0, 0, TMAP_RASTER_F32, 8};
    float in[70 * 40];
    double numbers[70 * 40], values[70 * 40];
    for (int i = 0; i < 70 * 40; ++i) {
        memcpy(in + i, bits + label_hash((tmap_u64)i) % COUNT(bits), 4);
        numbers[i] = (double)in[i];
    }
    for (unsigned k = 0; k <= COUNT(nodata); ++k)
        for (int flush = 0; flush < 2; ++flush) {
            const label_cells cells = {70, 40, 1, 8, values};
            tmap_raster_map m = map;
            if (k) m.has_nodata = 1, m.nodata = nodata[k - 1];
            for (int i = 0; i < 70 * 40; ++i)
                values[i] = k && numbers[i] == m.nodata ? (double)NAN : numbers[i];
            kit_case("nodata %g, flush %d", k ? m.nodata : 1, flush);
            kit_flush(flush);
            const tmap_label_plan plan = plan_of(&m, TMAP_LABEL_INT32);
            const label_call call = call_of(&plan, in, 0);
            label_check(&cells, &call);
            kit_flush(0);
        }
}

int main(void) {
    kit_begin();
    test_error_kept();
    test_limit_kept();
    test_plan_of();
    test_devices();
    test_errors();
    test_empty();
    test_images();
    test_tiny();
    test_random(200);
    test_batches(kit_full);
    test_sizes(kit_full);
    if (kit_full) test_large();
    return kit_end("test_label");
}
