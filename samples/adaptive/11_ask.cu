// SPDX-License-Identifier: MIT
// 11_ask.cu: adaptive subdivision (ASK) of your own problem: which pixels of a square lie in a disc
// around its corner (0, 0)?
//
// A query reads two corners of a region. If the farthest one lies in the disc, or the nearest one
// does not, the region is uniform and is filled at once. Other regions are cut into 2 x 2, and the
// regions of the last level are computed pixel by pixel.
// nvcc -O3 -arch=native -I include samples/adaptive/11_ask.cu -o ask
#include "../check.h"
#include "../picture.h"

#include <threadmap/adaptive.h>

enum {
    SIDE = 512,     // pixels along each axis, and the radius of the disc
    UNWRITTEN = 255 // no value of a pixel
};

// [snippet: ask]
// A pixel holds inside() + LEVEL * level of its region, + COMPUTED if leaf() computed it.
enum { COMPUTED = 2, LEVEL = 4 };

typedef struct disc {
    unsigned char *pixels;
} disc;

TMAP_FN tmap_u32 inside(tmap_u64 x, tmap_u64 y) { return x * x + y * y < 1ull * SIDE * SIDE; }

TMAP_DEVICE unsigned char *pixel(const void *job, tmap_xyz at) {
    return ((const disc *)job)->pixels + at.y * (tmap_u64)SIDE + at.x;
}

// The smallest and the largest inside() in a region. If they are equal, the region is uniform.
TMAP_DEVICE tmap_ask_range query(const void *, const tmap_ask_region *r, tmap_ask_team) {
    const tmap_u32 farthest = inside(r->x1 - 1, r->y1 - 1);
    const tmap_u32 nearest = inside(r->x0, r->y0);
    const tmap_ask_range range = {farthest, nearest};
    return range;
}

// Fills a uniform region. Each thread of the team writes its part.
TMAP_DEVICE void fill(const void *job, const tmap_ask_region *r, tmap_u32 v, tmap_ask_team team) {
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(r); i += team.size)
        *pixel(job, tmap_ask_region_at(r, i)) = (unsigned char)(v + LEVEL * r->level);
}

// Computes the pixels of the last regions.
TMAP_DEVICE void leaf(const void *job, tmap_ask_work *work) {
    tmap_u32 i;
    tmap_xyz at;
    while (tmap_ask_take(work, &i)) {
        if (!tmap_ask_element(work, i, &at)) continue;
        const tmap_u32 v = inside(at.x, at.y);
        *pixel(job, at) = (unsigned char)(v + COMPUTED + LEVEL * work->region.level);
    }
}

__global__ void ask(tmap_ask_run run, disc job) { // one launch for each level
    tmap_ask_query(&run, query, fill, tmap_ask_every_element, leaf, &job);
}

__global__ void finish(tmap_ask_run run, disc job) { // one launch at the end
    tmap_ask_finish(&run, fill, tmap_ask_every_element, leaf, &job);
}
// [/snippet]

// Draws the pixels by how they were found, with white lines between regions.
static void draw(const unsigned char *pixels) {
    const unsigned colours[4] = {0xd3dce4, 0x3a6ea5, 0xf6d59a, 0xd9772b};
    const char *const kinds[4] = {"outside, region at once", "inside, region at once",
                                  "outside, pixel by pixel", "inside, pixel by pixel"};
    picture p = picture_make(SIDE, SIDE, 2, "A disc by adaptive subdivision (ASK)");
    for (unsigned y = 0; y < SIDE; ++y)
        for (unsigned x = 0; x < SIDE; ++x) {
            const unsigned value = pixels[y * SIDE + x];
            const unsigned side = SIDE / 4 >> value / LEVEL; // of the pixel's region
            if (x % side && y % side) picture_set(&p, x, y, colours[value % LEVEL]);
        }
    for (int kind = 0; kind < 4; ++kind) picture_key(&p, colours[kind], kinds[kind]);
    picture_save(&p, "ask");
}

int main(void) {
    static unsigned char got[SIDE * SIDE];
    check_gpu();

    disc job;
    CHECK(cudaMalloc((void **)&job.pixels, sizeof got));
    CHECK(cudaMemset(job.pixels, UNWRITTEN, sizeof got));

    // [snippet: ask-launch]
    tmap_ask_box box = {SIDE, SIDE, 0}; // two axes
    tmap_ask_params params = {4, 2, 4}; // 4 x 4 regions of side 128, cut into 2 x 2 down to side 8
    tmap_ask_kernels kernels = {(const void *)ask, (const void *)finish, 0, 0, 0};
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    CHECK(tmap_ask_workspace_create(box, params, 0, &workspace)); // once
    CHECK(tmap_ask_plan_make(&workspace, &kernels, &plan));
    CHECK(tmap_ask_stream(&plan, &job, 0)); // any number of times
    // [/snippet]
    CHECK(cudaMemcpy(got, job.pixels, sizeof got, cudaMemcpyDeviceToHost));
    tmap_ask_counts counts;
    CHECK(tmap_ask_counts_read(&workspace, &counts, 0));
    CHECK(tmap_ask_workspace_destroy(&workspace));
    CHECK(cudaFree(job.pixels));

    for (tmap_u32 level = 0; level < counts.levels; ++level) {
        const tmap_ask_level_counts n = counts.level[level];
        printf("level %u: %llu regions: %llu filled, %llu cut, %llu computed\n", level, n.regions,
               n.filled, n.subdivided, n.leaves);
    }
    int wrong = 0;
    for (tmap_u32 i = 0; i < SIDE * SIDE; ++i)
        wrong += got[i] == UNWRITTEN || got[i] % 2 != inside(i % SIDE, i / SIDE);
    if (!wrong) draw(got);
    return check_result("pixels inside a disc", wrong);
}
