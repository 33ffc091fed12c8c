// SPDX-License-Identifier: MIT
// 41_segmentation.cu: regions of one class each in a segmented volume, whose x axis is periodic;
// without specks; which of them touch, and the area between them.
// nvcc -O3 -arch=native -I include samples/raster/41_segmentation.cu -o segmentation
#include "../check.h"
#include "../picture.h"

#include <threadmap/raster/label3.h>
#include <threadmap/raster/label_tools.h>

enum {
    SIDE = 64, // voxels along each axis
    CELLS = SIDE * SIDE * SIDE,
    SEEDS = 40,
    SPECK = 20, // voxels of the smallest region that stays
    ROOM = 4096 // entries of the table of contacts
};

static int random_number(void) {
    static unsigned state = 1;
    return (int)((state = state * 1664525u + 1013904223u) >> 8);
}

// The class of a voxel is that of the nearest seed, 0 far from all. One voxel in 500 is wrong.
static void make_classes(unsigned char *classes) {
    int at[SEEDS];
    for (int k = 0; k < SEEDS; ++k) at[k] = random_number() % CELLS;
    for (int i = 0; i < CELLS; ++i) {
        int nearest = 15 * 15;
        for (int k = 0; k < SEEDS; ++k) {
            const int x = abs(i % SIDE - at[k] % SIDE), dx = x < SIDE - x ? x : SIDE - x;
            const int dy = i / SIDE % SIDE - at[k] / SIDE % SIDE;
            const int dz = i / SIDE / SIDE - at[k] / SIDE / SIDE;
            if (dx * dx + dy * dy + dz * dz >= nearest) continue;
            nearest = dx * dx + dy * dy + dz * dz, classes[i] = (unsigned char)(1 + k % 4);
        }
        if (random_number() % 500 == 0) classes[i] = (unsigned char)(1 + random_number() % 4);
    }
}

static void draw(const int *labels) {
    picture p = picture_make(SIDE, SIDE, 8, "Regions of a segmented volume: a slice");
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const unsigned hash = (unsigned)labels[CELLS / 2 + i] * 0x9e3779b1u >> 8 & 0xbfbfbf;
        picture_set(&p, (unsigned)(i % SIDE), (unsigned)(i / SIDE),
                    hash ? 0x303030 + hash : 0xf4f0e6);
    }
    picture_save(&p, "segmentation");
}

static void *memory(tmap_u64 bytes) {
    void *at;
    CHECK(cudaMalloc(&at, bytes));
    return at;
}

int main(void) {
    static unsigned char classes[CELLS];
    static int labels[CELLS], sizes[CELLS + 1];
    static tmap_label_contact touch[ROOM];
    check_gpu();
    make_classes(classes);

    // [snippet: segmentation]
    tmap_label3_map map = {SIDE, SIDE, SIDE, SIDE, SIDE * SIDE, 0, 0, TMAP_LABEL3_U8, 6};
    map.has_nodata = 1; // the class 0 belongs to no region
    map.neighbours += TMAP_LABEL3_PERIODIC_X;
    tmap_label3_plan plan;
    CHECK(tmap_label3_plan_make(&map, TMAP_LABEL_INT32, &plan));
    void *cells = memory(CELLS), *workspace = memory(plan.workspace), *out = memory(sizeof labels);
    tmap_u64 *count = (tmap_u64 *)memory(16), found[2]; // regions, contacts
    CHECK(cudaMemcpy(cells, classes, CELLS, cudaMemcpyHostToDevice));
    CHECK(tmap_label3(&plan, cells, workspace, out, count, 0));
    CHECK(cudaMemcpy(found, count, 8, cudaMemcpyDeviceToHost));
    tmap_label_shape *shapes = (tmap_label_shape *)memory(found[0] * sizeof *shapes);
    CHECK(tmap_label_measure(&plan.array, out, found[0], shapes, 0));
    CHECK(tmap_label_dust(&plan.array, out, shapes, found[0], SPECK, 0));
    tmap_label_contact *contacts = (tmap_label_contact *)memory(sizeof touch);
    CHECK(tmap_label_contacts(&plan.array, out, contacts, ROOM, count + 1, 0));
    // [/snippet]
    CHECK(cudaMemcpy(found, count, 16, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(labels, out, sizeof labels, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(touch, contacts, sizeof touch, cudaMemcpyDeviceToHost));
    tmap_u64 wrong = 0, faces = 0, left = 0;
    for (int i = 0; i < CELLS; ++i) {
        const int x = i % SIDE,
                  ahead[3] = {x + 1 < SIDE ? i + 1 : i - x, i + SIDE, i + SIDE * SIDE};
        const int last[3] = {0, i / SIDE % SIDE == SIDE - 1, i / SIDE / SIDE == SIDE - 1};
        for (int k = 0; k < 3; ++k) { // a region is of one class, and the next one of another
            const int to = last[k] ? i : ahead[k], a = labels[i], b = labels[to];
            wrong += (a != b) != (classes[i] != classes[to]) && a && b;
            faces += a && b && a != b && (k || x + 1 < SIDE); // contacts are not periodic
        }
        ++sizes[labels[i]];
    }
    for (int i = 1; i <= CELLS; ++i) left += sizes[i] > 0, wrong += sizes[i] && sizes[i] < SPECK;
    printf("%llu regions, %llu no specks; %llu pairs touch\n", found[0], left, found[1]);
    for (int i = 0; i < ROOM; faces -= touch[i++].area)
        if (touch[i].area > 1500)
            printf("regions %llu and %llu touch over %llu faces of voxels\n", touch[i].pair >> 32,
                   touch[i].pair & 0xffffffff, touch[i].area);
    void *const all[] = {cells, workspace, out, count, shapes, contacts};
    for (int i = 0; i < 6; ++i) CHECK(cudaFree(all[i]));
    if (!wrong && !faces) draw(labels);
    return check_result("regions and their contacts", wrong + (faces != 0));
}
