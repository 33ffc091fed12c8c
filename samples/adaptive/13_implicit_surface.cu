// SPDX-License-Identifier: MIT
// 13_implicit_surface.cu: adaptive subdivision (ASK) in 3D: the voxels inside the gyroid, f < 0:
//     f = sin x cos y + sin y cos z + sin z cos x,     |gradient of f| <= sqrt(3)
// An octant with |f(its middle)| > sqrt(3) * (half its diagonal) lies on one side: it is filled
// at once. Others are cut into 2 x 2 x 2, and the last ones are computed voxel by voxel.
// nvcc -O3 -arch=native -I include samples/adaptive/13_implicit_surface.cu -o implicit_surface
#include "../check.h"
#include "../picture.h"

#include <threadmap/adaptive.h>

enum {
    SIDE = 128,  // voxels along each axis, each a tenth of a radian
    GAP = 4,     // between the two views of the picture, in voxels of the slice
    COMPUTED = 2 // a voxel holds 1 inside, 0 outside, + COMPUTED if leaf() computed it
};
static const char *const kinds[] = {"outside, octant at once", "inside, octant at once",
                                    "outside, voxel by voxel", "inside, voxel by voxel"};
static const unsigned colours[] = {0xd3dce4, 0x3a6ea5, 0xf6d59a, 0xd9772b};

typedef unsigned char *voxels; // the job of the kernels

TMAP_FN float gyroid(float x, float y, float z) {
    const float u = 0.1f * x;
    const float v = 0.1f * y;
    const float w = 0.1f * z;
    return sinf(u) * cosf(v) + sinf(v) * cosf(w) + sinf(w) * cosf(u);
}

TMAP_DEVICE unsigned char *voxel(const void *job, tmap_xyz at) {
    return *(const voxels *)job + (at.z * SIDE + at.y) * SIDE + at.x;
}

// The smallest and the largest (f < 0) in an octant, from f in its middle. Octants are cubes.
TMAP_DEVICE tmap_ask_range query(const void *, const tmap_ask_region *r, tmap_ask_team) {
    const float half = 0.5f * (r->x1 - r->x0 - 1);
    const float f = gyroid(r->x0 + half, r->y0 + half, r->z0 + half);
    const float reach = 0.3f * half + 1e-4f; // sqrt(3) sqrt(3) half / 10, and more than rounding
    const tmap_ask_range range = {f < -reach, f < reach};
    return range;
}

TMAP_DEVICE void fill(const void *job, const tmap_ask_region *r, tmap_u32 v, tmap_ask_team team) {
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(r); i += team.size)
        *voxel(job, tmap_ask_region_at(r, i)) = (unsigned char)v;
}

TMAP_DEVICE void leaf(const void *job, tmap_ask_work *work) {
    tmap_u32 i;
    tmap_xyz at;
    while (tmap_ask_take(work, &i))
        if (tmap_ask_element(work, i, &at))
            *voxel(job, at) = COMPUTED + (gyroid(at.x, at.y, at.z) < 0);
}

__global__ void ask(tmap_ask_run run, voxels out) {
    tmap_ask_query(&run, query, fill, tmap_ask_every_element, leaf, &out);
}
__global__ void finish(tmap_ask_run run, voxels out) {
    tmap_ask_finish(&run, fill, tmap_ask_every_element, leaf, &out);
}

// How bright the picture shows a voxel, up to 1: by its face of the cube, or by the slope of f.
static double light(int x, int y, int z) {
    if (z == SIDE - 1) return 1;
    if (x == SIDE - 1 || y == SIDE - 1) return x < y ? 0.85 : 0.7;
    return 0.6 + 2.3 * (gyroid(x + 0.2f, y + 0.5f, z + 0.84f) - gyroid(x, y, z));
}

// Draws a slice, and the voxels inside as a solid body, from the farthest voxel to the nearest.
static void draw(const unsigned char *got) {
    picture p = picture_make(2 * SIDE + GAP, SIDE, 4, "Gyroid: slice z = 42, and the body");
    for (int i = 0; i < SIDE * SIDE; ++i)
        picture_set(&p, i % SIDE, i / SIDE, colours[got[SIDE / 3 * SIDE * SIDE + i]]);
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
        const int x = i % SIDE;
        const int y = i / SIDE % SIDE;
        const int z = i / SIDE / SIDE;
        if (got[i] % 2 == 0) continue;
        unsigned colour = 0;
        for (int k = 0; k < 24; k += 8)
            colour |= (unsigned)(light(x, y, z) * (colours[got[i]] >> k & 255)) << k;
        const int right = PICTURE_MARGIN + 4 * (SIDE + GAP) + 2 * (SIDE - 1 + x - y);
        const int down = PICTURE_TOP + x + y + 2 * (SIDE - 1 - z);
        canvas_fill(&p.all, right, down, 4, 4, colour);
    }
    for (int kind = 0; kind < 4; ++kind) picture_key(&p, colours[kind], kinds[kind]);
    picture_save(&p, "implicit_surface");
}

int main(void) {
    static unsigned char got[SIDE * SIDE * SIDE];
    check_gpu();
    const tmap_ask_kernels kernels = {(const void *)ask, (const void *)finish, 0, 0, 0};
    const tmap_ask_box box = {SIDE, SIDE, SIDE};
    const tmap_ask_params params = {4, 2, 2}; // 4^3 octants, each cut into 2^3; the last side is 4
    voxels out;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemset(out, 255, sizeof got)); // no value of a voxel
    tmap_ask_workspace workspace;
    CHECK(tmap_ask_workspace_create(box, params, 0, &workspace));
    tmap_ask_plan plan;
    CHECK(tmap_ask_plan_make(&workspace, &kernels, &plan));
    CHECK(tmap_ask_stream(&plan, &out, 0));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(out));

    int count[4] = {0};
    int wrong = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
        const float f = gyroid(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
        const int sure = fabsf(f) > 1e-5f; // nearer to 0, rounding may differ
        wrong += got[i] > 3 || (sure && got[i] % 2 != (f < 0));
        ++count[got[i] % 4];
    }
    for (int kind = 0; kind < 4; ++kind) printf("%s: %d voxels\n", kinds[kind], count[kind]);
    if (!wrong) draw(got);
    return check_result("voxels inside the gyroid", wrong);
}
