// SPDX-License-Identifier: MIT
// test_label: labels of components and their shapes, against a serial flood fill, cell by cell: all
// types of cells, both connectivities and both forms of labels, sizes around the edges of blocks,
// one row, one column, primes, 200 random small maps; devices of less shared memory, and plans for
// them; errors of earlier calls; and what is refused.
#include "label_check.h"

enum { GUARD = 64 };

static int poisoned(const unsigned char *at, unsigned char poison) {
    for (int i = 0; i < GUARD; ++i)
        if (at[i] != poison) return 0;
    return 1;
}

static void check_shapes(const test_case *c, const tmap_label_plan *plan, const void *labels,
                         tmap_u64 count, const tmap_label_shape *truth) {
    const tmap_u64 less = count > 3 ? count - 2 : count; // those beyond are left out
    tmap_label_shape *shapes, *on_device;
    shapes = (tmap_label_shape *)malloc((count + 2) * sizeof *shapes);
    CHECK(cudaMalloc((void **)&on_device, (count + 2) * sizeof *shapes));
    for (int k = 0; k < 2; ++k) {
        const tmap_u64 n = k ? less : count + 1;
        CHECK(cudaMemset(on_device, 0x77, (count + 2) * sizeof *shapes));
        CHECK(tmap_label_measure(&plan->array, labels, n, on_device, 0));
        CHECK(cudaMemcpy(shapes, on_device, (count + 2) * sizeof *shapes, cudaMemcpyDeviceToHost));
        expect(memcmp(shapes, truth, (k ? less : count) * sizeof *shapes) == 0, "shapes", c);
        expect(k || shapes[count].area == 0, "the shape of no component", c);
        expect(shapes[n].area == 0x7777777777777777ull, "beyond the shapes", c);
    }
    CHECK(cudaFree(on_device));
    free(shapes);
}

static void check(const test_case *c) {
    const tmap_u64 cells = c->map.width * c->map.height, size = c->form ? 8 : 4;
    const tmap_u64 bytes = c->map.pitch * c->map.height * tmap_raster_size(c->map.type);
    char *in = (char *)malloc(bytes), *out = (char *)malloc(cells * size + GUARD);
    tmap_u64 *labels = (tmap_u64 *)malloc(cells * 8), *stack = (tmap_u64 *)malloc(cells * 8);
    tmap_label_shape *shapes = (tmap_label_shape *)malloc(cells * sizeof *shapes);
    unsigned char guard[GUARD];
    char *cells_on, *out_on, *work_on;
    tmap_label_plan plan;
    tmap_u64 *count_on, count, truth, wrong = 0;
    memset(in, 0x5c, bytes);
    for (tmap_u64 y = 0; y < c->map.height; ++y)
        for (tmap_u64 x = 0; x < c->map.width; ++x)
            cell_set(c, in, y * c->map.pitch + x, cell_value(c, (int)x, (int)y),
                     mix(c->seed + (y << 32) + x));
    truth = reference(c, in, labels, shapes, stack);
    CHECK(tmap_label_plan_make(&c->map, c->form, &plan));
    CHECK(cudaMalloc((void **)&cells_on, bytes));
    CHECK(cudaMalloc((void **)&out_on, cells * size + GUARD));
    CHECK(cudaMalloc((void **)&work_on, plan.workspace + GUARD));
    CHECK(cudaMalloc((void **)&count_on, 8));
    CHECK(cudaMemcpy(cells_on, in, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out_on, 0xa5, cells * size + GUARD));
    CHECK(cudaMemset(work_on, 0xa5, plan.workspace + GUARD));
    CHECK(cudaMemset(count_on, 0xa5, 8));
    CHECK(tmap_label(&plan, cells_on, work_on, out_on, count_on, 0));
    if (c->seed % 4 == 0) // with what the first run has left in the workspace
        CHECK(tmap_label(&plan, cells_on, work_on, out_on, count_on, 0));
    CHECK(cudaMemcpy(out, out_on, cells * size + GUARD, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(guard, work_on + plan.workspace, GUARD, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&count, count_on, 8, cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0; i < cells; ++i)
        wrong += (c->form ? ((tmap_u64 *)out)[i] : ((tmap_u32 *)out)[i]) != labels[i];
    expect(count == truth, "count", c);
    expect(wrong == 0, "labels", c);
    expect(poisoned((unsigned char *)out + cells * size, 0xa5), "beyond the labels", c);
    expect(poisoned(guard, 0xa5), "beyond the workspace", c);
    check_shapes(c, &plan, out_on, truth, shapes);
    CHECK(cudaFree(cells_on));
    CHECK(cudaFree(out_on));
    CHECK(cudaFree(work_on));
    CHECK(cudaFree(count_on));
    free(in), free(out), free(labels), free(stack), free(shapes);
}

// A map of this size, whose type, connectivity and so on are those of number i.
static test_case make(tmap_u64 width, tmap_u64 height, int i, int kind) {
    const double grounds[TYPES] = {1, 127, -43, -70000, 0};
    test_case c;
    c.map.width = width, c.map.height = height, c.map.pitch = width;
    c.map.type = types[i % TYPES], c.map.connectivity = i / TYPES % 2 ? 8 : 4;
    c.form = i / (2 * TYPES) % 2, c.map.has_nodata = i / (4 * TYPES) % 2;
    c.map.nodata = grounds[i % TYPES];
    c.kind = kind, c.seed = random_next() % 1000000;
    if (c.seed % 3 == 0) c.map.pitch += c.seed % 37;
    if (c.seed % 3 == 1) c.map.pitch = (width + 15) / 16 * 16; // rows of masks are read by 16 bytes
    if (c.seed % 5 == 0) c.map.nodata += 0.5;                  // that no cell has
    if (c.seed % 11 == 0) c.map.nodata = i % 2 ? 1e300 : -1e10;
    return c;
}

static void test_sizes(int full) {
    static const tmap_u64 sizes[][2] = {
        {1, 1},     {1, 2},     {2, 1},     {1, 197},  {1025, 1}, {1, 64},    {1024, 65},
        {1023, 33}, {1025, 64}, {2049, 31}, {31, 129}, {33, 127}, {2047, 66}, {1024, 64},
        {1024, 32}, {1031, 37}, {3072, 3},  {992, 63}, {997, 65}, {96, 97},   {2051, 65}};
    const int n = (int)(sizeof sizes / sizeof *sizes);
    for (int i = 0; i < n * (full ? 2 * KINDS : 4); ++i) {
        const test_case c = make(sizes[i % n][0], sizes[i % n][1], i * 7 + i / n, i * 5 % KINDS);
        if (check_turn()) check(&c);
    }
    for (int i = 0; i < 2; ++i) { // as many components on the edges of a block as there can be
        const test_case c = make(3072, 192, i, CHECKER);
        if (check_turn()) check(&c);
    }
    // an edge of blocks in each direction, masks and values
    for (int i = 0; i < KINDS * (full ? 10 : 4); ++i) {
        const test_case c = make(full ? 2000 + (tmap_u64)i : 1030, full ? 133 : 67,
                                 full ? i : i / KINDS / 2 + (i / KINDS % 2 ? TYPES : 0), i % KINDS);
        if (check_turn()) check(&c);
    }
}

static void test_random(int maps) {
    for (int i = 0; i < maps; ++i) {
        const tmap_u64 w = 1 + random_below(70), h = 1 + random_below(40);
        const test_case c = make(w, h, i, (int)(random_next() % KINDS));
        if (check_turn()) check(&c);
    }
}

static void test_large(void) {
    static const tmap_u64 sizes[][2] = {{3072, 2048}, {3001, 2003}, {1, 3000000}, {3000000, 1}};
    for (int i = 0; i < 2 * KINDS; ++i) {
        const test_case c = make(sizes[i % 4][0], sizes[i % 4][1], i, i % KINDS);
        if (check_turn()) check(&c);
    }
}

// ---- devices and errors -------------------------------------------------------------------------

static void expect_plain(int ok, const char *what) {
    ++cases;
    if (!ok && ++failures <= 20) printf("FAIL %s\n", what);
}

static const char *const devices[] = {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0"};
enum { DEVICES = sizeof devices / sizeof *devices };

// A plan from facts alone beside what is known of seven devices and beside the plan for the current
// one, which the CPU machine takes from the environment.
static void test_plan_of(void) {
    static const tmap_u32 shared[DEVICES] = {64 << 10,  163 << 10, 99 << 10, 99 << 10,
                                             227 << 10, 227 << 10, 99 << 10};
    char *before = getenv("SIMT_DEVICE");
    for (int i = 0; i < DEVICES; ++i)
        for (int type = 0; type < TYPES; ++type) {
            const tmap_raster_map map = {2030, 67, 2030, 0, 0, types[type], i % 2 ? 4 : 8};
            const tmap_u32 rows = (type ? 32 : 64) / (i ? 1 : 2);
            tmap_raster_map large = map;
            tmap_label_plan a, b;
            tmap_facts facts, here;
            memset(&facts, 0x5a, sizeof facts);
            facts.device.block_shared = shared[i];
            setenv("SIMT_DEVICE", devices[i], 1);
            CHECK(tmap_label_plan_make(&map, i % 2, &a));
            CHECK(tmap_device_facts_get(&here.device));
            large.width = large.pitch = large.height = (1ull << 31) - 1;
            expect_plain(tmap_label_plan_of(&map, i % 2, &facts, &b) == TMAP_OK &&
                             b.job.rows == rows && b.threads == (i ? 512 : 256) &&
                             b.blocks == 2 * ((67 + rows - 1) / rows) && b.array.form == i % 2,
                         "a plan from facts");
            expect_plain(here.device.block_shared != shared[i] ||
                             (a.workspace == b.workspace && a.blocks == b.blocks &&
                              a.threads == b.threads && a.shared == b.shared &&
                              a.job.rows == b.job.rows && a.job.nodes == b.job.nodes &&
                              a.job.slots == b.job.slots && a.job.counts == b.job.counts),
                         "the plan for the device is another one");
            expect_plain(tmap_label_plan_of(&large, 1, &facts, &b) == TMAP_ERANGE, "a large map");
            expect_plain(tmap_label_plan_of(&map, 0, NULL, &b) == TMAP_EINVAL, "no facts");
        }
    if (before)
        setenv("SIMT_DEVICE", before, 1);
    else
        unsetenv("SIMT_DEVICE");
}

// Facts of devices, which the CPU machine takes from the environment: all types, labels of 32 and
// of 64 bits, over the edges of blocks. A plan for a device of more shared memory is refused by one
// of less.
static void test_devices(void) {
    const tmap_raster_map map = {1030, 67, 1030, 0, 0, TMAP_RASTER_U8, 4};
    char *before = getenv("SIMT_DEVICE");
    tmap_label_plan plan;
    int shared;
    for (int i = 0; i < DEVICES; ++i) {
        setenv("SIMT_DEVICE", devices[i], 1);
        for (int type = 0; type < TYPES; ++type) {
            const int taken = i == 0 || (type + i) % TYPES == 0;
            test_case c = make(1030, 67, type + TYPES * (i % 2), (i + type) % KINDS);
            for (c.form = 0; c.form < 2; ++c.form)
                if (taken && check_turn()) check(&c);
        }
    }
    setenv("SIMT_DEVICE", "9.0", 1);
    CHECK(tmap_label_plan_make(&map, TMAP_LABEL_INT64, &plan));
    setenv("SIMT_DEVICE", "7.5", 1);
    CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    if (shared <= 64 * 1024) {
        char *memory;
        CHECK(cudaMalloc((void **)&memory, plan.workspace + 16 * 1030 * 67));
        expect_plain(tmap_label(&plan, memory, memory + 8 * 1030 * 67 + 16 - 8 * 1030 * 67 % 16,
                                memory, (tmap_u64 *)memory, 0) != cudaSuccess,
                     "a plan of another device taken");
        cudaGetLastError();
        CHECK(cudaFree(memory));
    }
    if (before)
        setenv("SIMT_DEVICE", before, 1);
    else
        unsetenv("SIMT_DEVICE");
}

// A small map on the device.
typedef struct small {
    tmap_label_plan plan;
    char *cells, *labels, *work;
    tmap_u64 *count;
} small;

static small small_make(int type, int form) {
    tmap_raster_map map = {40, 30, 40, 0, 0, TMAP_RASTER_MASK, 4};
    small s;
    map.type = type;
    CHECK(tmap_label_plan_make(&map, form, &s.plan));
    CHECK(cudaMalloc((void **)&s.cells, 4 * 40 * 30));
    CHECK(cudaMalloc((void **)&s.labels, 8 * 40 * 30));
    CHECK(cudaMalloc((void **)&s.work, s.plan.workspace));
    CHECK(cudaMalloc((void **)&s.count, 8));
    CHECK(cudaMemset(s.cells, 1, 4 * 40 * 30));
    return s;
}
static cudaError_t small_run(const small *s) {
    return tmap_label(&s->plan, s->cells, s->work, s->labels, s->count, 0);
}
static void small_free(const small *s) {
    CHECK(cudaFree(s->cells));
    CHECK(cudaFree(s->labels));
    CHECK(cudaFree(s->work));
    CHECK(cudaFree(s->count));
}

// The shared memory that a kernel may have is never lowered, so that two threads of the host can
// label maps of different plans.
static void test_limit_kept(void) {
    const small values = small_make(TMAP_RASTER_I32, TMAP_LABEL_INT32);
    const small mask = small_make(TMAP_RASTER_MASK, TMAP_LABEL_INT32);
    struct cudaFuncAttributes a, b;
    CHECK(small_run(&values));
    CHECK(cudaFuncGetAttributes(&a, (const void *)tmapi_label_write_kernel));
    CHECK(small_run(&mask));
    CHECK(cudaFuncGetAttributes(&b, (const void *)tmapi_label_write_kernel));
    expect_plain(b.maxDynamicSharedSizeBytes >= a.maxDynamicSharedSizeBytes, "a limit lowered");
    CHECK(cudaDeviceSynchronize());
    small_free(&values), small_free(&mask);
}

// An error of the user's from before is neither reported nor cleared. Called before anything else,
// so that limits of kernels are set here.
static void test_error_kept(void) {
    small s[3];
    char *never;
    s[0] = small_make(TMAP_RASTER_MASK, TMAP_LABEL_INT32);
    s[1] = small_make(TMAP_RASTER_F32, TMAP_LABEL_INT64);
    s[2] = small_make(TMAP_RASTER_I16, TMAP_LABEL_INT32);
    expect_plain(cudaMalloc((void **)&never, (size_t)1 << 50) == cudaErrorMemoryAllocation,
                 "a petabyte allocated");
    for (int i = 0; i < 3; ++i) {
        tmap_label_plan other;
        expect_plain(small_run(s + i) == cudaSuccess, "an earlier error reported");
        expect_plain(tmap_label_measure(&s[i].plan.array, s[i].labels, 1,
                                        (tmap_label_shape *)s[i].work, 0) == cudaSuccess,
                     "an earlier error reported by shapes");
        expect_plain(tmap_label_plan_make(&s[i].plan.map, TMAP_LABEL_INT64, &other) == cudaSuccess,
                     "an earlier error reported by a plan");
        expect_plain(tmap_label(&s[i].plan, 0, s[i].work, s[i].labels, s[i].count, 0) ==
                         cudaErrorInvalidValue,
                     "no cells");
        expect_plain(cudaPeekAtLastError() == cudaErrorMemoryAllocation,
                     "an earlier error cleared");
    }
    cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; ++i) small_free(s + i);
}

static void refuse_by(cudaError_t want, cudaError_t error, const char *what) {
    ++cases;
    if (error != want) printf("FAIL not refused: %s\n", what), ++failures;
}
static void refuse(cudaError_t error, const char *what) {
    refuse_by(cudaErrorInvalidValue, error, what);
}

static void test_errors(void) {
    const tmap_raster_map good = {5, 4, 6, 0, 0, TMAP_RASTER_U8, 4};
    tmap_label_plan plan, kept;
    tmap_raster_map bad;
    tmap_u64 *memory;
    char *at;
    memset(&plan, 0x3c, sizeof plan), kept = plan;
#define BAD(field, value) \
    bad = good, bad.field = value; \
    refuse(tmap_label_plan_make(&bad, TMAP_LABEL_INT32, &plan), #field " = " #value)
    BAD(width, 0);
    BAD(height, 0);
    BAD(width, 1ull << 31);
    BAD(height, 1ull << 31);
    BAD(pitch, 4);
    BAD(pitch, 1ull << 32);
    BAD(type, -1);
    BAD(type, TYPES);
    BAD(connectivity, 6);
    BAD(height, 500000000); // 2.5 * 10^9 components
#undef BAD
    refuse(tmap_label_plan_make(0, 0, &plan), "no map");
    refuse(tmap_label_plan_make(&good, 0, 0), "no plan");
    refuse(tmap_label_plan_make(&good, 2, &plan), "form");
    bad = good, bad.width = bad.pitch = bad.height = 0x7fffffff;
    refuse_by(cudaErrorInvalidConfiguration, tmap_label_plan_make(&bad, TMAP_LABEL_INT64, &plan),
              "size");
    ++cases;
    if (memcmp(&plan, &kept, sizeof plan) != 0) printf("FAIL plan written\n"), ++failures;
    bad = good, bad.height = 500000000;
    CHECK(tmap_label_plan_make(&bad, TMAP_LABEL_INT64, &plan));
    bad.type = TMAP_RASTER_MASK, bad.width = 8, bad.pitch = 8;
    CHECK(tmap_label_plan_make(&bad, TMAP_LABEL_INT32, &plan));
    bad = good, bad.type = TMAP_RASTER_I16;
    CHECK(tmap_label_plan_make(&bad, TMAP_LABEL_INT64, &plan));
    CHECK(cudaMalloc((void **)&memory, 4096));
    at = (char *)memory;
    refuse(tmap_label(0, at, at, at, memory, 0), "no plan");
    refuse(tmap_label(&plan, 0, at, at, memory, 0), "no cells");
    refuse(tmap_label(&plan, at, 0, at, memory, 0), "no workspace");
    refuse(tmap_label(&plan, at, at, 0, memory, 0), "no labels");
    refuse(tmap_label(&plan, at, at, at, 0, 0), "no count");
    refuse(tmap_label(&plan, at + 1, at, at, memory, 0), "cells at an odd address");
    refuse(tmap_label(&plan, at, at + 8, at, memory, 0), "workspace at a multiple of 8");
    refuse(tmap_label(&plan, at, at, at + 4, memory, 0), "labels at a multiple of 4");
    refuse(tmap_label(&plan, at, at, at, (tmap_u64 *)(at + 4), 0), "count at a multiple of 4");
    refuse(tmap_label_measure(0, at, 1, (tmap_label_shape *)at, 0), "no plan");
    refuse(tmap_label_measure(&plan.array, 0, 1, (tmap_label_shape *)at, 0), "no labels");
    refuse(tmap_label_measure(&plan.array, at, 1, 0, 0), "no shapes");
    refuse(tmap_label_measure(&plan.array, at, 1, (tmap_label_shape *)(at + 4), 0), "shapes");
    refuse(tmap_label_measure(&plan.array, at, 1ull << 41, (tmap_label_shape *)at, 0),
           "components");
    refuse(tmap_label_measure(&plan.array, at + 4, 1, (tmap_label_shape *)at, 0),
           "labels to measure at a multiple of 4");
    for (int i = 0; i < 4; ++i) {
        tmap_label_array array = plan.array;
        if (i == 0) array.width = 0;
        if (i == 1) array.height = 1ull << 31;
        if (i == 2) array.depth = 0;
        if (i == 3) array.form = 2;
        refuse(tmap_label_measure(&array, at, 1, (tmap_label_shape *)at, 0), "an array");
    }
    CHECK(tmap_label_measure(&plan.array, at, 0, 0, 0));
    CHECK(cudaFree(memory));
}

int main(void) {
    struct cudaDeviceProp device;
    int devices = 0, full;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    full = !strstr(device.name, "CPU") && !getenv("TMAP_TEST_SMALL");
    test_error_kept();
    test_limit_kept();
    test_plan_of();
    test_devices();
    test_errors();
    test_random(200);
    test_sizes(full);
    if (full) test_large();
    printf("%d cases, %d failures\n", cases, failures);
    return failures != 0;
}
