// SPDX-License-Identifier: MIT
// 13_implicit_surface.cu: adaptive subdivision (ASK) in 3D: which voxels lie inside the gyroid
//     f = sin x cos y + sin y cos z + sin z cos x = 0,     |gradient of f| <= sqrt(3)?
// An octant with |f(its middle)| > sqrt(3) (half its diagonal) lies on one side and is filled at once.
// nvcc -O3 -arch=native -I include samples/adaptive/13_implicit_surface.cu -o surface
#include <threadmap/adaptive.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { SIDE = 128 };
TMAP_FN float gyroid(float x, float y, float z) { // of voxels, a tenth of a radian wide
    x *= 0.1f, y *= 0.1f, z *= 0.1f;
    return sinf(x) * cosf(y) + sinf(y) * cosf(z) + sinf(z) * cosf(x);
}
TMAP_DEVICE char *voxel(const void *out, tmap_xyz at) {
    return *(char *const *)out + (at.z * SIDE + at.y) * SIDE + at.x;
}
TMAP_DEVICE tmap_ask_range query(const void *, const tmap_ask_region *t, tmap_ask_team) {
    const float w = 0.5f * (t->x1 - t->x0 - 1), f = gyroid(t->x0 + w, t->y0 + w, t->z0 + w);
    const float reach = 0.3f * w + 1e-4f; // octants are cubes; 1e-4 is more than rounding may do
    const tmap_ask_range range = {f < -reach, f < reach}; // 0 outside, 1 inside, or 0 to 1
    return range;
}
TMAP_DEVICE void fill(const void *out, const tmap_ask_region *t, tmap_u32 v, tmap_ask_team team) {
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size)
        *voxel(out, tmap_ask_region_at(t, i)) = ".#"[v];
}
TMAP_DEVICE void leaf(const void *out, tmap_ask_work *work) { // voxels of the last octants
    tmap_xyz at;
    for (tmap_u32 i; tmap_ask_take(work, &i);)
        if (tmap_ask_element(work, i, &at)) *voxel(out, at) = "-+"[gyroid(at.x, at.y, at.z) < 0];
}
__global__ void ask(tmap_ask_run run, char *out) {
    tmap_ask_query(&run, query, fill, tmap_ask_every_element, leaf, &out);
}
__global__ void finish(tmap_ask_run run, char *out) {
    tmap_ask_finish(&run, fill, tmap_ask_every_element, leaf, &out);
}
int main(void) {
    static char got[SIDE * SIDE * SIDE], *out;
    const tmap_ask_kernels kernels = {(const void *)ask, (const void *)finish, 0, 0, 0};
    const tmap_ask_box box = {SIDE, SIDE, SIDE};
    const tmap_ask_params params = {4, 2, 2}; // 4 x 4 x 4 octants, cut down to a side of 4
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(tmap_ask_workspace_create(box, params, 0, &workspace));
    CHECK(tmap_ask_plan_make(&workspace, &kernels, &plan));
    CHECK(tmap_ask_stream(&plan, &out, 0));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
        const int x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
        const float f = gyroid(x, y, z); // where it is nearly 0, a GPU may round otherwise
        wrong += fabsf(f) > 1e-5f && got[i] != ".#"[f < 0] && got[i] != "-+"[f < 0];
        if (z == 40 && y % 4 == 2 && x % 2) printf(x < SIDE - 2 ? "%c" : "%c\n", got[i]);
    }
    printf("z = 40; octants: #, .; single voxels: +, -: %s\n", wrong ? "WRONG" : "ok");
    return tmap_ask_workspace_destroy(&workspace) || cudaFree(out) || wrong;
}
