// SPDX-License-Identifier: MIT
// 13_implicit_surface.cu: adaptive subdivision (ASK) in 3D. Which voxels of [-6, 6]^3 lie inside the
// gyroid f = sin x cos y + sin y cos z + sin z cos x = 0? An octant is filled by one evaluation if
//     |f(its middle)| > L (half its diagonal),     L >= |gradient of f|,
// since f has one sign in it then; others are cut, and the last ones evaluated voxel by voxel.
// nvcc -arch=native -I include samples/adaptive/13_implicit_surface.cu -o surface && ./surface
#include <threadmap/adaptive/ask.h>
#include <math.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { SIDE = 128 };
typedef struct voxels {
    unsigned char *out;
} voxels; // bit 0: inside; bit 1: evaluated

// x, y, z in voxels, 0 to SIDE - 1; the cube is 12 wide. The squares of the partial derivatives, at
// most cos^2 y + sin^2 z and so on, add up to 3: |gradient| <= sqrt(3) = 1.732...
TMAP_FN float gyroid(float x, float y, float z) {
    const float step = 12.0f / SIDE, half = 0.5f * (SIDE - 1);
    x = step * (x - half), y = step * (y - half), z = step * (z - half);
    return sinf(x) * cosf(y) + sinf(y) * cosf(z) + sinf(z) * cosf(x);
}
static __device__ unsigned char *voxel(const void *job, tmap_xyz at) {
    return ((const voxels *)job)->out + (at.z * SIDE + at.y) * SIDE + at.x;
}
static __device__ tmap_ask_range query(const void *, const tmap_ask_region *t, tmap_ask_team) {
    const float wx = 0.5f * (t->x1 - t->x0 - 1), wy = 0.5f * (t->y1 - t->y0 - 1);
    const float wz = 0.5f * (t->z1 - t->z0 - 1), f = gyroid(t->x0 + wx, t->y0 + wy, t->z0 + wz);
    const float reach = 1.7321f * 12 / SIDE * sqrtf(wx * wx + wy * wy + wz * wz) + 1e-4f;
    tmap_ask_range range; // all threads find the same: 0 outside, 1 inside, or 0 to 1
    range.least = f < -reach, range.most = f < reach;
    return range;
}
static __device__ void fill(const void *job, const tmap_ask_region *t, tmap_u32 v,
                            tmap_ask_team team) {
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size)
        *voxel(job, tmap_ask_region_at(t, i)) = (unsigned char)v;
}
static __device__ void leaf(const void *job, tmap_ask_work *work) {
    tmap_xyz at;
    for (tmap_u32 i; tmap_ask_take(work, &i);)
        if (tmap_ask_element(work, i, &at))
            *voxel(job, at) = (unsigned char)(2 + (gyroid(at.x, at.y, at.z) < 0));
}
__global__ void ask(tmap_ask_run run, voxels job) {
    tmap_ask_query(&run, query, fill, tmap_ask_every_element, leaf, &job);
}
__global__ void finish(tmap_ask_run run, voxels job) {
    tmap_ask_finish(&run, fill, tmap_ask_every_element, leaf, &job);
}

int main(void) {
    static unsigned char got[SIDE][SIDE][SIDE];
    const tmap_ask_kernels kernels = {(const void *)ask, (const void *)finish, 0, 0, 0};
    const tmap_ask_params params = {4, 2, 2}; // 4 x 4 x 4 octants at first, cut to a side of 4
    voxels v;
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    int devices, wrong = 0, evaluated = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&v.out, sizeof got));
    CHECK(cudaMemset(v.out, 0xff, sizeof got));
    CHECK(tmap_ask_workspace_create(SIDE, SIDE, SIDE, params, 0, &workspace));
    CHECK(tmap_ask_plan_make(&workspace, &kernels, &plan));
    CHECK(tmap_ask_stream(&plan, &v, 0));
    CHECK(cudaMemcpy(got, v.out, sizeof got, cudaMemcpyDeviceToHost));
    for (int z = 0; z < SIDE; ++z)
        for (int y = 0; y < SIDE; ++y)
            for (int x = 0; x < SIDE; ++x) {
                const float f = gyroid((float)x, (float)y, (float)z);
                // Where f is 0 but for rounding, host and GPU may differ.
                wrong += got[z][y][x] > 3 || (fabsf(f) > 1e-5f && (got[z][y][x] & 1) != (f < 0));
                evaluated += got[z][y][x] > 1;
                if (z == 40 && y % 4 == 2 && x % 2) putchar(".#-+"[got[z][y][x] & 3]);
                if (z == 40 && y % 4 == 2 && x + 1 == SIDE) putchar('\n');
            }
    puts("z = 40. Octants at once: # inside, . outside; voxel by voxel: + inside, - outside");
    printf("%d voxels, %d of them evaluated one by one: %s\n", SIDE * SIDE * SIDE, evaluated,
           wrong ? "WRONG" : "all as on the host");
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(v.out));
    return wrong != 0;
}
