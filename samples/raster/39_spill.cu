// SPDX-License-Identifier: MIT
// 39_spill.cu: lakes at every level: for each cell of a terrain the level at which the sea floods
// it when it rises around the map, and so the lakes that rain fills to the brim. Draws both.
//
//     level(c) = min over paths from the border to c of the highest cell of the path
//
// A cell that is lower than its level lies in a hollow: rain fills it up to that level, where it
// spills over. A cell floods in a sea of height L if level(c) < L, for any L.
// nvcc -O3 -arch=native -I include samples/raster/39_spill.cu -o spill
#include "../check.h"
#include "../picture.h"

#include <threadmap/raster/spill.h>

enum { WIDE = 300, HIGH = 200, CELLS = WIDE * HIGH, BANDS = 12 };

// A number from 0 to 1 for a corner of a lattice.
static float corner(int x, int y, int octave) {
    tmap_u32 h = (tmap_u32)x * 0x9e3779b1u + (tmap_u32)y * 0x85ebca6bu + (tmap_u32)octave * 77;
    h ^= h >> 15, h *= 0x2c1b3c6du;
    h ^= h >> 12, h *= 0x297a2d39u;
    return (float)(h >> 8) / 16777216;
}

static float ease(float t) { return t * t * (3 - 2 * t); }

// Hills of 64 cells down to 2, the smaller ones lower.
static float terrain(int x, int y) {
    float sum = 0, part = 1;
    for (int step = 64; step >= 2; step /= 2, part *= 0.5f) {
        const int i = x / step, j = y / step;
        const float u = ease((float)(x % step) / (float)step);
        const float v = ease((float)(y % step) / (float)step);
        const float above = corner(i, j, step) * (1 - u) + corner(i + 1, j, step) * u;
        const float below = corner(i, j + 1, step) * (1 - u) + corner(i + 1, j + 1, step) * u;
        sum += part * (above * (1 - v) + below * v);
    }
    return sum;
}

// The levels by their equation: lowered until nothing changes.
static void spill_on_host(const float *height, float *level) {
    int changed = 1;
    for (int i = 0; i < CELLS; ++i) {
        const int x = i % WIDE, y = i / WIDE;
        level[i] = x == 0 || y == 0 || x == WIDE - 1 || y == HIGH - 1 ? height[i] : 1e30f;
    }
    for (int back = 0; changed; back = !back) {
        changed = 0;
        for (int n = 0; n < CELLS; ++n) {
            const int i = back ? CELLS - 1 - n : n, x = i % WIDE, y = i / WIDE;
            if (x == 0 || y == 0 || x == WIDE - 1 || y == HIGH - 1) continue;
            for (int k = 0; k < 9; ++k) {
                const float next = level[i + k % 3 - 1 + (k / 3 - 1) * WIDE];
                const float through = next > height[i] ? next : height[i];
                if (through < level[i]) level[i] = through, changed = 1;
            }
        }
    }
}

// The colour between two others, `from` at part = 0 and `to` at 1.
static unsigned mix(unsigned from, unsigned to, double part) {
    unsigned colour = 0;
    for (int shift = 0; shift < 24; shift += 8)
        colour |= (unsigned)((1 - part) * (from >> shift & 255) + part * (to >> shift & 255))
                  << shift;
    return colour;
}

// Left: the ground, and lakes full to the brim, darker where they are deeper. Right: the level at
// which each cell floods, in bands; a line between two is the shore of the sea at a level.
static void draw(const float *height, const float *level) {
    picture p =
        picture_make(2 * WIDE + 4, HIGH, 2, "Full lakes, and the sea level that floods a cell");
    float low = 1e30f, top = 0, deepest = 0;
    for (int i = 0; i < CELLS; ++i) {
        if (height[i] < low) low = height[i];
        if (height[i] > top) top = height[i];
        if (level[i] - height[i] > deepest) deepest = level[i] - height[i];
    }
    for (int i = 0; i < CELLS; ++i) {
        const unsigned x = (unsigned)(i % WIDE), y = (unsigned)(i / WIDE);
        const double deep = (level[i] - height[i]) / deepest, up = (height[i] - low) / (top - low);
        const int band = (int)(BANDS * (level[i] - low) / (top - low + 1e-6f));
        picture_set(&p, x, y,
                    deep > 0 ? mix(0x6eaae1, 0x14324f, deep) : mix(0x466e3c, 0xfafafa, up));
        picture_set(&p, WIDE + 4 + x, y, mix(0x14324f, 0xf6e8b1, (double)band / (BANDS - 1)));
    }
    picture_key(&p, 0x6eaae1, "shallow");
    picture_key(&p, 0x14324f, "deep, or floods early");
    picture_key(&p, 0xf6e8b1, "floods late");
    picture_save(&p, "spill");
}

int main(void) {
    check_gpu();
    float *height, *level;
    void *workspace;
    static float want[CELLS];
    CHECK(cudaMallocManaged((void **)&height, CELLS * sizeof *height));
    CHECK(cudaMallocManaged((void **)&level, CELLS * sizeof *level));
    for (int i = 0; i < CELLS; ++i) height[i] = terrain(i % WIDE, i / WIDE);

    // [snippet: spill]
    const tmap_raster_map map = {WIDE, HIGH, WIDE, 0, 0, TMAP_RASTER_F32, 8};
    tmap_spill_plan plan;
    CHECK(tmap_spill_plan_make(&map, TMAP_SPILL_LEVEL, TMAP_SPILL_BORDER, &plan));
    CHECK(cudaMalloc(&workspace, plan.workspace));
    CHECK(tmap_spill(&plan, height, 0, workspace, level, 0)); // 0: no mask of outlets
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    unsigned long long wrong = 0, lakes = 0;
    double volume = 0;
    spill_on_host(height, want);
    for (int i = 0; i < CELLS; ++i) {
        wrong += level[i] != want[i];
        lakes += level[i] > height[i];
        volume += level[i] - height[i];
    }
    printf("%llu of %d cells lie in hollows, which hold %.1f\n", lakes, CELLS, volume);
    for (int sea = 6; sea <= 11; ++sea) {
        unsigned long long below = 0, flooded = 0;
        for (int i = 0; i < CELLS; ++i) {
            below += height[i] < 0.1f * (float)sea;
            flooded += level[i] < 0.1f * (float)sea;
        }
        printf("a sea of height %.1f floods %5llu of %5llu lower cells\n", 0.1 * sea, flooded,
               below);
    }
    if (!wrong) draw(height, level);
    CHECK(cudaFree(height));
    CHECK(cudaFree(level));
    CHECK(cudaFree(workspace));
    return check_result("levels at which cells flood", wrong);
}
