// SPDX-License-Identifier: MIT
// test_ask_stamp: two problems of one's own through ask_stamp.h, without shared borders: the voxels
// of a ball by octants (3 axes), and a half plane by quarters (2 axes), against every element by
// itself; and that each level has the children of those that the level before subdivided.
#include <threadmap/adaptive/ask.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) \
    do { \
        cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

// The elements within `radius` of the middle of an nx x ny x nz box, in halves of an element.
typedef struct solid {
    int nx, ny, nz, radius;
    unsigned char *out;
} solid;

TMAP_FN int solid_inside(const solid *p, int x, int y, int z) {
    int dx = 2 * x + 1 - p->nx, dy = 2 * y + 1 - p->ny, dz = 2 * z + 1 - p->nz;
    return (tmap_i64)dx * dx + (tmap_i64)dy * dy + (tmap_i64)dz * dz <=
           (tmap_i64)p->radius * p->radius;
}

// Elements of a region, row after row: element i. 0 if there is none.
TMAP_DEVICE int solid_element(const tmap_ask_region *t, tmap_u32 i, tmap_u32 wx, tmap_u32 wy,
                              int at[3]) {
    at[0] = (int)(t->x0 + i % wx);
    at[1] = (int)(t->y0 + i / wx % wy);
    at[2] = (int)(t->z0 + i / wx / wy);
    return at[0] < (int)t->x1 && at[1] < (int)t->y1 && at[2] < (int)t->z1;
}

TMAP_DEVICE tmap_u64 solid_at(const solid *p, const int at[3]) {
    return ((tmap_u64)at[2] * (tmap_u32)p->ny + (tmap_u32)at[1]) * (tmap_u32)p->nx +
           (tmap_u32)at[0];
}

// Asks every element: the query is exact.
TMAP_DEVICE tmap_ask_range solid_query(const solid *p, const tmap_ask_region *t, tmap_u32 rank,
                                       tmap_u32 size) {
    tmap_u32 wx = t->x1 - t->x0, wy = t->y1 - t->y0, count = wx * wy * (t->z1 - t->z0);
    tmap_ask_range range = tmap_ask_range_none();
    for (tmap_u32 i = rank; i < count; i += size) {
        int at[3];
        if (solid_element(t, i, wx, wy, at))
            range = tmap_ask_range_add(range, (tmap_u32)solid_inside(p, at[0], at[1], at[2]));
    }
    return range;
}

// Adds, so that an element that is written twice shows.
TMAP_DEVICE void solid_terminal(const solid *p, const tmap_ask_region *t, tmap_u32 value,
                                tmap_u32 rank, tmap_u32 size) {
    tmap_u32 wx = t->x1 - t->x0, wy = t->y1 - t->y0, count = wx * wy * (t->z1 - t->z0);
    for (tmap_u32 i = rank; i < count; i += size) {
        int at[3];
        if (solid_element(t, i, wx, wy, at)) p->out[solid_at(p, at)] += (unsigned char)(1 + value);
    }
}

TMAP_DEVICE tmap_u32 solid_leaf_elements(const solid *, const tmap_ask_sides *s, tmap_u32,
                                         tmap_u32) {
    return s->x * s->y * s->z;
}

TMAP_DEVICE void solid_leaf(const solid *p, tmap_ask_work *work) {
    tmap_u32 i;
    while (tmap_ask_take(work, &i)) {
        int at[3];
        if (i == TMAP_ASK_NO_ELEMENT ||
            !solid_element(&work->region, i, work->sides.x, work->sides.y, at))
            continue;
        p->out[solid_at(p, at)] += (unsigned char)(1 + solid_inside(p, at[0], at[1], at[2]));
    }
}

#define TMAP_ASK_NAME   solid
#define TMAP_ASK_PARAMS solid
#define TMAP_ASK_DIMS   3
#include <threadmap/adaptive/ask_stamp.h>

// The same of two axes under another name.
#define disc_query         solid_query
#define disc_terminal      solid_terminal
#define disc_leaf_elements solid_leaf_elements
#define disc_leaf          solid_leaf
#define TMAP_ASK_NAME      disc
#define TMAP_ASK_PARAMS    solid
#define TMAP_ASK_DIMS      2
#include <threadmap/adaptive/ask_stamp.h>

static int failures, cases, on_gpu;

static void expect(int ok, const char *what, const solid *p, tmap_ask_params a, int form,
                   int driver) {
    ++cases;
    if (!ok && ++failures <= 20)
        printf("FAIL %s: %dx%dx%d, (%u,%u,%u), %s, %s\n", what, p->nx, p->ny, p->nz, a.g, a.r, a.B,
               tmap_ask_form_name(form), tmap_ask_driver_name(driver));
}

static void run(int nx, int ny, int nz, int radius, tmap_u32 g, tmap_u32 r, tmap_u32 B,
                tmap_u64 capacity) {
    const int dims = nz ? 3 : 2;
    const tmap_ask_params a = {g, r, B};
    size_t count = (size_t)nx * ny * (nz ? nz : 1);
    unsigned char *got = (unsigned char *)malloc(count);
    tmap_ask_workspace s;
    solid p = {nx, ny, nz ? nz : 1, radius, NULL};
    CHECK(cudaMalloc((void **)&p.out, count));
    CHECK(tmap_ask_workspace_create(nx, ny, nz, a, capacity, &s));
    CHECK(cudaMemset(s.memory, 0xa5, s.bytes));
    if (!on_gpu) s.cooperative_blocks = 1;
    if (on_gpu && getenv("TMAP_TEST_SMALL")) s.cooperative_blocks = 16; // see test_ask
    for (int form = 0; form < TMAP_ASK_FORM_COUNT; ++form)
        for (int driver = 0; driver < TMAP_ASK_DRIVER_COUNT; ++driver) {
            tmap_ask_counts c;
            size_t wrong = 0;
            cudaError_t status;
            // racecheck crashes on loops in graphs
            if (driver == TMAP_ASK_GRAPH && on_gpu && getenv("TMAP_TEST_SMALL")) continue;
            CHECK(cudaMemset(p.out, 0, count));
            status =
                dims == 3 ? solid_ask(&p, form, driver, &s, 0) : disc_ask(&p, form, driver, &s, 0);
            if (driver == TMAP_ASK_GRAPH && !TMAP_ASK_GRAPHS) {
                expect(status == cudaErrorNotSupported, "no graphs", &p, a, form, driver);
                continue;
            }
            CHECK(status);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(got, p.out, count, cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < count; ++i)
                wrong += got[i] != 1 + solid_inside(&p, (int)(i % nx), (int)(i / nx % ny),
                                                    (int)(i / nx / ny));
            expect(wrong == 0, "elements, each once", &p, a, form, driver);
            CHECK(tmap_ask_counts_read(&s, &c, 0));
            expect(c.level[0].regions + c.level[0].empty == (tmap_u64)g * g * (nz ? g : 1),
                   "regions of level 0", &p, a, form, driver);
            for (tmap_u32 l = 0; l + 1 < c.levels; ++l)
                expect(c.level[l].subdivided * r * r * (nz ? r : 1) ==
                           c.level[l + 1].regions + c.level[l + 1].empty,
                       "regions of a level", &p, a, form, driver);
            if (capacity) expect(c.refused != 0, "refused", &p, a, form, driver);
        }
    // A workspace for another number of axes, an unknown form or driver, no parameters.
    expect((dims == 3 ? disc_ask(&p, 0, 1, &s, 0) : solid_ask(&p, 0, 1, &s, 0)) ==
               cudaErrorInvalidValue,
           "axes", &p, a, 0, 1);
    expect(solid_ask(&p, 2, 1, &s, 0) == cudaErrorInvalidValue, "form", &p, a, 2, 1);
    expect(solid_ask(&p, 0, 4, &s, 0) == cudaErrorInvalidValue, "driver", &p, a, 0, 4);
    expect(solid_ask(NULL, 0, 1, &s, 0) == cudaErrorInvalidValue, "parameters", &p, a, 0, 1);
    CHECK(tmap_ask_workspace_destroy(&s));
    CHECK(cudaFree(p.out));
    free(got);
}

int main(void) {
    struct cudaDeviceProp device;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    on_gpu = strstr(device.name, "CPU") == NULL;
    run(32, 32, 32, 24, 2, 2, 2, 0);
    run(33, 17, 40, 24, 3, 2, 1, 0);
    run(27, 27, 27, 20, 3, 3, 1, 0);
    run(20, 3, 9, 8, 4, 2, 1, 0);
    run(40, 40, 40, 30, 2, 2, 1, 2);
    run(100, 80, 0, 60, 3, 2, 2, 0);
    run(128, 128, 0, 300, 4, 2, 4, 0); // uniform: empty levels
    run(65, 200, 0, 90, 5, 3, 2, 1);
    if (on_gpu) run(256, 200, 300, 180, 4, 2, 4, 0);
    printf("%s: %d cases, %d failures\n", device.name, cases, failures);
    return failures != 0;
}
