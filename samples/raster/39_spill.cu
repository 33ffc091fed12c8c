// SPDX-License-Identifier: MIT
// 39_spill.cu: lakes at every level: for each cell of a terrain the level at which the sea floods
// it when it rises around the map, and so the lakes that rain fills to the brim. Draws both.
//
//     level(c) = min over paths from the border to c of the highest cell of the path
//
// A cell that is lower than its level lies in a hollow: rain fills it up to that level, where it
// spills over. A cell floods in a sea of height L if level(c) < L, for any L.
//
//     ./spill [FILE]
//
// FILE: up to 2^18 heights, .pgm, .flt or .npy (samples/files/jacksboro.npy), in place of hills.
// nvcc -O3 -arch=native -I include samples/raster/39_spill.cu -o spill
#include "../check.h"
#include "../files/heights.h"
#include "../picture.h"

#include <threadmap/raster/spill.h>

enum { MOST = 1 << 18, BANDS = 12 };
static int wide = 300, high = 200, cells; // of the map

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
    for (int i = 0; i < cells; ++i) {
        const int x = i % wide, y = i / wide;
        level[i] = x == 0 || y == 0 || x == wide - 1 || y == high - 1 ? height[i] : 1e30f;
    }
    for (int back = 0; changed; back = !back) {
        changed = 0;
        for (int n = 0; n < cells; ++n) {
            const int i = back ? cells - 1 - n : n, x = i % wide, y = i / wide;
            if (x == 0 || y == 0 || x == wide - 1 || y == high - 1) continue;
            for (int k = 0; k < 9; ++k) {
                const float next = level[i + k % 3 - 1 + (k / 3 - 1) * wide];
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
    const unsigned w = (unsigned)wide, zoom = w > 320 ? 1 : 2;
    picture p =
        picture_make(2 * w + 4, (unsigned)high, zoom, "Full lakes, and the sea at every level");
    float low = height[0], top = height[0], deepest = 1e-9f;
    for (int i = 0; i < cells; ++i) {
        low = fminf(low, height[i]), top = fmaxf(top, height[i]);
        deepest = fmaxf(deepest, level[i] - height[i]);
    }
    const double range = (double)(top - low) + 1e-9;
    for (int i = 0; i < cells; ++i) {
        const unsigned x = (unsigned)(i % wide), y = (unsigned)(i / wide);
        const double deep = (level[i] - height[i]) / deepest, up = (height[i] - low) / range;
        const int band = (int)(0.9999 * BANDS * (level[i] - low) / range);
        picture_set(&p, x, y,
                    deep > 0 ? mix(0x6eaae1, 0x14324f, deep) : mix(0x466e3c, 0xfafafa, up));
        picture_set(&p, w + 4 + x, y, mix(0x14324f, 0xf6e8b1, (double)band / (BANDS - 1)));
    }
    picture_key(&p, 0x6eaae1, "shallow");
    picture_key(&p, 0x14324f, "deep, or floods early");
    picture_key(&p, 0xf6e8b1, "floods late");
    picture_save(&p, "spill");
}

// Reads the file, or makes hills. Ends the program with status 2 if it cannot be used.
static void make_heights(const char *path, float *height) {
    heights h = {0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0};
    char error[200];
    if (path && heights_read(path, &h, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    if (path && (h.width * h.height > MOST || h.has_nodata)) {
        fprintf(stderr, "%s: has more than 2^18 cells, or cells without a height\n", path);
        exit(2);
    }
    if (path) wide = (int)h.width, high = (int)h.height;
    cells = wide * high;
    for (int i = 0; i < cells; ++i)
        height[i] = path ? (float)heights_value(&h, (tmap_u64)i) : terrain(i % wide, i / wide);
    heights_free(&h);
}

int main(int argc, char **argv) {
    check_gpu();
    float *height, *level;
    void *workspace;
    static float want[MOST];
    CHECK(cudaMallocManaged((void **)&height, MOST * sizeof *height));
    CHECK(cudaMallocManaged((void **)&level, MOST * sizeof *level));
    make_heights(argc > 1 ? argv[1] : NULL, height);

    const tmap_u64 w = (tmap_u64)wide, h = (tmap_u64)high;
    // [snippet: spill]
    const tmap_raster_map map = {w, h, w, 0, 0, TMAP_RASTER_F32, 8};
    tmap_spill_plan plan;
    CHECK(tmap_spill_plan_make(&map, TMAP_SPILL_LEVEL, TMAP_SPILL_BORDER, &plan));
    CHECK(cudaMalloc(&workspace, plan.workspace));
    CHECK(tmap_spill(&plan, height, 0, workspace, level, 0)); // 0: no mask of outlets
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    unsigned long long wrong = 0, lakes = 0;
    double volume = 0;
    spill_on_host(height, want);
    for (int i = 0; i < cells; ++i) {
        wrong += level[i] != want[i];
        lakes += level[i] > height[i];
        volume += level[i] - height[i];
    }
    printf("%llu of %d cells lie in hollows, which hold %.1f\n", lakes, cells, volume);
    float low = height[0], top = height[0];
    for (int i = 0; i < cells; ++i) low = fminf(low, height[i]), top = fmaxf(top, height[i]);
    for (int k = 1; k < 7; ++k) {
        const float sea = low + (top - low) * (float)k / 7;
        unsigned long long below = 0, flooded = 0;
        for (int i = 0; i < cells; ++i) below += height[i] < sea, flooded += level[i] < sea;
        printf("a sea of height %.4g floods %5llu of %5llu lower cells\n", (double)sea, flooded,
               below);
    }
    if (!wrong) draw(height, level);
    CHECK(cudaFree(height));
    CHECK(cudaFree(level));
    CHECK(cudaFree(workspace));
    return check_result("levels at which cells flood", wrong);
}
