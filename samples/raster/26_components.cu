// SPDX-License-Identifier: MIT
// 26_components.cu: connected components of a volume: grains of a porous body, which are connected
// over faces, edges and corners of voxels (26 neighbours). tmap_label3 numbers them in the order of
// their first voxels, tmap_label_measure gives their volumes and boxes.
// nvcc -O3 -arch=native -I include samples/raster/26_components.cu -o components
#include "../check.h"
#include "../picture.h"

#include <threadmap/raster/label3.h>
#include <threadmap/raster/label_measure.h>

enum {
    SIDE = 96, // voxels along each axis
    CELLS = SIDE * SIDE * SIDE,
    GRAINS = 150
};

static tmap_u32 random_number(void) {
    static tmap_u32 state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

// Balls of radius 3 to 9 at random places.
static void make_grains(unsigned char *mask) {
    for (int k = 0; k < GRAINS; ++k) {
        const int at = (int)(random_number() % CELLS), r = 3 + (int)(random_number() % 7);
        for (int i = 0; i < CELLS; ++i) {
            const int dx = i % SIDE - at % SIDE;
            const int dy = i / SIDE % SIDE - at / SIDE % SIDE;
            const int dz = i / SIDE / SIDE - at / SIDE / SIDE;
            if (dx * dx + dy * dy + dz * dz <= r * r) mask[i] = 1;
        }
    }
}

// Labels by the definition: a flood fill from each voxel that has no label yet.
static int fill(const unsigned char *mask, int *labels, tmap_u64 *volumes) {
    static int stack[CELLS];
    int count = 0;
    for (int first = 0; first < CELLS; ++first) {
        int depth = 0;
        if (!mask[first] || labels[first]) continue;
        stack[depth++] = first, labels[first] = ++count;
        while (depth) {
            const int at = stack[--depth];
            ++volumes[count - 1];
            for (int k = 0; k < 27; ++k) {
                const int x = at % SIDE + k % 3 - 1;
                const int y = at / SIDE % SIDE + k / 3 % 3 - 1;
                const int z = at / SIDE / SIDE + k / 9 - 1;
                const int to = (z * SIDE + y) * SIDE + x;
                if (x < 0 || y < 0 || z < 0 || x >= SIDE || y >= SIDE || z >= SIDE) continue;
                if (mask[to] && !labels[to]) labels[to] = count, stack[depth++] = to;
            }
        }
    }
    return count;
}

// A colour for each label, none of them the pores'.
static unsigned colour_of(int label) {
    return label ? 0x303030 + ((unsigned)label * 0x9e3779b1u >> 8 & 0xbfbfbf) : 0xf4f0e6;
}

static void draw(const int *labels) {
    picture p = picture_make(SIDE, SIDE, 6, "Components of a volume: a slice, a colour each");
    for (int i = 0; i < SIDE * SIDE; ++i)
        picture_set(&p, i % SIDE, i / SIDE, colour_of(labels[CELLS / 2 + i])); // the middle slice
    picture_key(&p, colour_of(0), "pores");
    picture_save(&p, "components");
}

int main(void) {
    static unsigned char mask[CELLS];
    static int labels[CELLS], want[CELLS];
    static tmap_u64 volumes[CELLS];
    unsigned char *cells;
    int *out;
    void *workspace;
    tmap_u64 *count, found;
    check_gpu();
    make_grains(mask);

    // [snippet: components]
    const tmap_label3_map map = {SIDE, SIDE, SIDE, SIDE, SIDE * SIDE, 0, 0, TMAP_LABEL3_BYTES, 26};
    tmap_label3_plan plan;
    CHECK(tmap_label3_plan_make(&map, TMAP_LABEL_INT32, &plan));
    CHECK(cudaMalloc(&workspace, plan.workspace));
    CHECK(cudaMalloc((void **)&cells, sizeof mask));
    CHECK(cudaMalloc((void **)&out, sizeof labels));
    CHECK(cudaMalloc((void **)&count, sizeof *count));
    CHECK(cudaMemcpy(cells, mask, sizeof mask, cudaMemcpyHostToDevice));
    CHECK(tmap_label3(&plan, cells, workspace, out, count, 0));
    CHECK(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost));

    tmap_label_shape *shapes; // that of label i is number i - 1
    CHECK(cudaMalloc((void **)&shapes, found * sizeof *shapes));
    CHECK(tmap_label_measure(&plan.array, out, found, shapes, 0));
    // [/snippet]

    tmap_label_shape *of = (tmap_label_shape *)malloc(found * sizeof *of);
    CHECK(cudaMemcpy(of, shapes, found * sizeof *of, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(labels, out, sizeof labels, cudaMemcpyDeviceToHost));
    tmap_u64 wrong = (tmap_u64)fill(mask, want, volumes) != found;
    for (int i = 0; i < CELLS; ++i) wrong += labels[i] != want[i];
    for (tmap_u64 i = 0; i < found; ++i) wrong += of[i].area != volumes[i];

    printf("%d balls are %llu components; the first ones:\n", GRAINS, found);
    for (tmap_u64 i = 0; i < found && i < 4; ++i)
        printf("%llu voxels, x %u to %u, y %u to %u, z %u to %u\n", of[i].area, of[i].left,
               of[i].right, of[i].top, of[i].bottom, of[i].front, of[i].back);
    free(of);
    void *const memory[] = {shapes, count, out, cells, workspace};
    for (int i = 0; i < 5; ++i) CHECK(cudaFree(memory[i]));
    if (!wrong) draw(labels);
    return check_result("components of a volume", wrong);
}
