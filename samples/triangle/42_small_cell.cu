// SPDX-License-Identifier: MIT
// 42_small_cell.cu: a periodic cell with a cutoff of more than half of it. A point meets several
// images of another one, and of itself; the nearest image (35_lennard_jones.cu) is one of them. So
// all images x + i a + j b + k c in reach are the second set of tmap_near_rows. Each point gets
// their number and its energy, the sum of -1 / r^6.
// nvcc -O3 -arch=native -I include samples/triangle/42_small_cell.cu -o small_cell
#include "../check.h"

#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_rows.h>

// Copies of the cell each way: the cutoff divided by the cell's heights 3.6, 3.9 and 5, rounded up.
enum { N = 20, CUTOFF = 6, COPIES = 2, ACROSS = 2 * COPIES + 1, ALL = ACROSS * ACROSS * ACROSS };
static const float cell[3][3] = {{4, 0, 0}, {1.5f, 4.25f, 0}, {-1, 2, 5}};

typedef struct search {
    void *set, *others; // the points, and all images
    float2 *result;     // of each point: the energy, and the number of images
} search;

TMAP_FN float squared_distance(const float *a, const float *b) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

TMAP_DEVICE void join(void *, void *to, const void *other) {
    const float2 a = *(const float2 *)to, b = *(const float2 *)other;
    *(float2 *)to = make_float2(a.x + b.x, a.y + b.y);
}

TMAP_DEVICE void give(void *, tmap_pair pair, const void *a, const void *b, void *to, void *) {
    const float squared = squared_distance((const float *)a, (const float *)b);
    const float2 one = {-1 / (squared * squared * squared), 1};
    if (squared < CUTOFF * CUTOFF && pair.j != pair.i) join(0, to, &one); // not with itself
}

TMAP_DEVICE int reach(void *, const tmap_near_box *a, const tmap_near_box *b) {
    return tmap_near_within(a, b, 3, CUTOFF); // distances of images are not periodic
}

__global__ void __launch_bounds__(TMAP_NEAR_THREADS) add_images(tmap_near_plan plan, search s) {
    const tmap_near points = {{s.set, s.others, sizeof(float), 3}, reach, 0};
    const float2 zero = {0, 0};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_near_rows(&plan, points, give, fold, s.result, &s);
}

// Moves a point to copy c of the cell, of those up to `copies` each way. Copy 0 is the cell itself.
static void move(const float *point, int c, int copies, float *to) {
    const int across = 2 * copies + 1, all = across * across * across, at = (c + all / 2) % all;
    const int i = at % across - copies, j = at / across % across - copies,
              k = at / across / across - copies;
    for (int x = 0; x < 3; ++x) to[x] = point[x] + i * cell[0][x] + j * cell[1][x] + k * cell[2][x];
}

// Compares a result with the sum over more copies of the cell.
static tmap_u32 wrong_at(float (*points)[3], int i, const float2 *got) {
    double energy = 0;
    float images = 0, image[3];
    for (int j = 0; j < N; ++j)
        for (int c = 0; c < 9 * 9 * 9; ++c) { // up to 4 each way
            move(points[j], c, 4, image);
            const double squared = (double)squared_distance(points[i], image);
            if (squared == 0 || squared >= CUTOFF * CUTOFF) continue;
            energy -= 1 / (squared * squared * squared), ++images;
        }
    return got->y != images || !(fabs(got->x - energy) <= -1e-5 * energy);
}

int main(void) {
    check_gpu();
    float(*points)[3], (*images)[3];
    tmap_u32 random = 1, wrong = 0;
    search s;
    CHECK(cudaMallocManaged((void **)&points, N * sizeof *points));
    CHECK(cudaMallocManaged((void **)&images, ALL * N * sizeof *images));
    CHECK(cudaMallocManaged((void **)&s.result, N * sizeof *s.result));
    memset(points, 0, N * sizeof *points);
    for (int k = 0; k < 9 * N; ++k) { // sixteenths of the vectors, so that squares are exact
        if (k % 3 == 0) random = random * 1664525u + 1013904223u;
        points[k / 9][k % 3] += (float)(random >> 28) / 16 * cell[k / 3 % 3][k % 3];
    }
    for (int k = 0; k < ALL * N; ++k) move(points[k % N], k / N, COPIES, images[k]);

    const tmap_near_shape few = {N, 3, sizeof(float)}, all = {ALL * N, 3, sizeof(float)};
    tmap_near_plan plan;
    CHECK(tmap_near_rows_plan_make(few, sizeof(float2), (const void *)add_images, &plan));
    CHECK(tmap_near_plan_others(&plan, all.n));
    CHECK(cudaMalloc(&s.set, tmap_near_set_bytes(few)));
    CHECK(cudaMalloc(&s.others, tmap_near_set_bytes(all)));
    CHECK(tmap_near_prepare(few, points, NULL, s.set, 0)); // so few need no order
    CHECK(tmap_near_prepare(all, images, NULL, s.others, 0));
    CHECK(tmap_near_launch(&plan, &s, 0));
    CHECK(cudaDeviceSynchronize());

    for (int i = 0; i < N; ++i) wrong += wrong_at(points, i, &s.result[i]);
    for (int i = 0; i < 5; ++i)
        printf("point %d: %.0f images, energy %.5f\n", i, s.result[i].y, s.result[i].x);
    for (void *p : {(void *)points, (void *)images, (void *)s.result, s.set, s.others})
        CHECK(cudaFree(p));
    return check_result("the images of a small cell", wrong);
}
