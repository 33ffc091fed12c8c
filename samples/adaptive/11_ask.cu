// SPDX-License-Identifier: MIT
// 11_ask.cu: adaptive subdivision (ASK) of a problem of one's own: which pixels lie in a disc around
// (0, 0)? A region is filled at once if its farthest corner lies in the disc, or its nearest does
// not. Others are cut into 2 x 2, and the last ones computed pixel by pixel.
// nvcc -O3 -arch=native -I include samples/adaptive/11_ask.cu -o ask
#include <threadmap/adaptive.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { SIDE = 512 };
// [snippet: ask]
TMAP_FN tmap_u32 inside(tmap_u64 x, tmap_u64 y) { return x * x + y * y < 1ull * SIDE * SIDE; }
TMAP_DEVICE char *pixel(const void *job, tmap_xyz at) { // job: the address of a kernel's `out`
    return *(char *const *)job + at.y * (tmap_u64)SIDE + at.x;
}
// The least and the largest of a region's pixels, 0 outside, 1 inside: it is uniform if they agree.
TMAP_DEVICE tmap_ask_range query(const void *, const tmap_ask_region *t, tmap_ask_team) {
    const tmap_ask_range range = {inside(t->x1 - 1, t->y1 - 1), inside(t->x0, t->y0)};
    return range;
}
TMAP_DEVICE void fill(const void *job, const tmap_ask_region *t, tmap_u32 v, tmap_ask_team team) {
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size)
        *pixel(job, tmap_ask_region_at(t, i)) = ".#"[v]; // this thread's part of the region
}
TMAP_DEVICE void leaf(const void *job, tmap_ask_work *work) { // pixels of the last regions
    tmap_xyz at;
    for (tmap_u32 i; tmap_ask_take(work, &i);)
        if (tmap_ask_element(work, i, &at)) *pixel(job, at) = "-+"[inside(at.x, at.y)];
}
__global__ void ask(tmap_ask_run run, char *out) { // a launch for each level
    tmap_ask_query(&run, query, fill, tmap_ask_every_element, leaf, &out);
}
__global__ void finish(tmap_ask_run run, char *out) { // and one at the end
    tmap_ask_finish(&run, fill, tmap_ask_every_element, leaf, &out);
}
// [/snippet]

int main(void) {
    static char got[SIDE * SIDE], *out;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&out, sizeof got));
    // [snippet: ask-launch]
    tmap_ask_box box = {SIDE, SIDE, 0}; // two axes
    tmap_ask_params params = {4, 2, 4}; // 4 x 4 regions, cut into 2 x 2, down to a side of 4
    tmap_ask_kernels kernels = {(const void *)ask, (const void *)finish, 0, 0, 0};
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    CHECK(tmap_ask_workspace_create(box, params, 0, &workspace)); // once
    CHECK(tmap_ask_plan_make(&workspace, &kernels, &plan));
    CHECK(tmap_ask_stream(&plan, &out, 0)); // as often as one likes
    // [/snippet]
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < SIDE * SIDE; ++i) {
        const tmap_u32 in = inside(i % SIDE, i / SIDE);
        wrong += got[i] != ".#"[in] && got[i] != "-+"[in];
        if (i / SIDE % 16 == 8 && i % 8 == 4) printf(i % SIDE < SIDE - 8 ? "%c" : "%c\n", got[i]);
    }
    printf("at once: # inside, . outside; pixel by pixel: +, -: %s\n", wrong ? "WRONG" : "ok");
    return tmap_ask_workspace_destroy(&workspace) || cudaFree(out) || wrong;
}
