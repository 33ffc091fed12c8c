// SPDX-License-Identifier: MIT
// 11_ask.cu: adaptive subdivision (ASK) of a problem of one's own. Which pixels lie in the star
// x^2 + y^2 <= r^2, |x y| <= c? A region whose farthest point is in it is filled at once, and so is
// one whose nearest point is not; others are cut into 2 x 2, and the last ones computed.
// nvcc -arch=native -I include samples/adaptive/11_ask.cu -o ask && ./ask
#include <threadmap/adaptive/ask.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

typedef struct star {
    tmap_i64 side;
    unsigned char *out;
} star; // bit 0: inside; bit 1: computed

// x, y: from the middle, in halves of a pixel. Squares of sides beyond 32767 need their 64 bits.
TMAP_FN int inside(const star *s, tmap_i64 x, tmap_i64 y) {
    const tmap_i64 limit = s->side * s->side, product = x * y < 0 ? -x * y : x * y;
    return x * x + y * y <= limit && 12 * product <= limit;
}
TMAP_FN int pixel(const star *s, tmap_i64 x, tmap_i64 y) {
    return inside(s, 2 * x + 1 - s->side, 2 * y + 1 - s->side);
}
TMAP_FN tmap_i64 nearest(tmap_i64 a, tmap_i64 b) { return a > 0 ? a : b < 0 ? b : 0; } // of a..b
TMAP_FN tmap_i64 farthest(tmap_i64 a, tmap_i64 b) { return a + b > 0 ? b : a; }
// 1. A region is uniform if the least of what its threads find is the largest.
static __device__ tmap_ask_range query(const void *job, const tmap_ask_region *t, tmap_ask_team) {
    const star *s = (const star *)job;
    const tmap_i64 x0 = 2ll * t->x0 + 1 - s->side, x1 = 2ll * t->x1 - 1 - s->side;
    const tmap_i64 y0 = 2ll * t->y0 + 1 - s->side, y1 = 2ll * t->y1 - 1 - s->side;
    tmap_ask_range range;
    range.least = (tmap_u32)inside(s, farthest(x0, x1), farthest(y0, y1));
    range.most = (tmap_u32)inside(s, nearest(x0, x1), nearest(y0, y1));
    return range;
}
// 2. The threads of a team finish a uniform region.
static __device__ void fill(const void *job, const tmap_ask_region *t, tmap_u32 v,
                            tmap_ask_team team) {
    const star *s = (const star *)job;
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size) {
        const tmap_xyz at = tmap_ask_region_at(t, i);
        s->out[at.y * s->side + at.x] = (unsigned char)v;
    }
}
// 3. The lanes of a warp take pixels of the last regions until none is left.
static __device__ void leaf(const void *job, tmap_ask_work *work) {
    const star *s = (const star *)job;
    tmap_xyz at;
    for (tmap_u32 i; tmap_ask_take(work, &i);)
        if (tmap_ask_element(work, i, &at))
            s->out[at.y * s->side + at.x] = (unsigned char)(2 + pixel(s, at.x, at.y));
}
__global__ void ask(tmap_ask_run run, star job) { // a level
    tmap_ask_query(&run, query, fill, tmap_ask_every_element, leaf, &job);
}
__global__ void finish(tmap_ask_run run, star job) { // the end
    tmap_ask_finish(&run, fill, tmap_ask_every_element, leaf, &job);
}

int main(void) {
    enum { SIDE = 1024 };
    static unsigned char got[SIDE][SIDE];
    const tmap_ask_kernels kernels = {(const void *)ask, (const void *)finish, 0, 0, 0};
    const tmap_ask_params params = {4, 2, 4}; // 4 x 4 regions at first, cut down to a side of 8
    star s = {SIDE, NULL};
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    int devices, wrong = 0, computed = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&s.out, sizeof got));
    CHECK(cudaMemset(s.out, 0xff, sizeof got));
    CHECK(tmap_ask_workspace_create(SIDE, SIDE, 0, params, 0, &workspace));
    CHECK(tmap_ask_plan_make(&workspace, &kernels, &plan)); // once, for as many runs as one likes
    CHECK(tmap_ask_stream(&plan, &s, 0));
    CHECK(cudaMemcpy(got, s.out, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < SIDE; ++y)
        for (int x = 0; x < SIDE; ++x) {
            wrong += got[y][x] > 3 || (got[y][x] & 1) != pixel(&s, x, y);
            computed += got[y][x] > 1;
            if (y % 32 == 16 && x % 16 == 8) putchar(".#-+"[got[y][x] & 3]);
            if (y % 32 == 16 && x + 1 == SIDE) putchar('\n');
        }
    puts("regions at once: # inside, . outside; pixel by pixel: + inside, - outside");
    printf("%d pixels, %d of them computed one by one: %s\n", SIDE * SIDE, computed,
           wrong ? "WRONG" : "all as on the host");
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(s.out));
    return wrong != 0;
}
