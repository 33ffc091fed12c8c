// SPDX-License-Identifier: MIT
// 30_sponge.cu: your own visitor on every cell of a fractal in three dimensions, and one value of
// all cells. The visitor writes a cell's squared distance from the middle of a Menger sponge; the
// fold adds them up, for the radius of gyration. Each digit of a coordinate is 0 or 2 in 16 of the 20
// replicas, so the mean of squared distances is 3 * 16/20 * (1 + 9 + ... + 9^(R-1)).
//
// The picture is a slice through the middle, across a diagonal of the cube.
// nvcc -O3 -arch=native -I include samples/fractal/30_sponge.cu -o sponge
#include "../check.h"
#include "../picture.h"

#include <math.h>
#include <threadmap/fractal3.h>

enum {
    R = 4,     // level of the fractal
    SIDE = 81, // of the volume: 3^R
    PLACES = SIDE * SIDE * SIDE,
    WIDE = 240, // pixels of the slice, half a place each
    HIGH = 208,
    NO_CELL = 0xdcdcdc
};

// [snippet: each3]
typedef struct drawing {
    int *volume; // whatever the function needs
    int middle;
} drawing;

static __device__ void measure(void *job, tmap_cell3 cell) { // called once for every cell
    drawing *d = (drawing *)job;
    const int x = (int)cell.x - d->middle;
    const int y = (int)cell.y - d->middle;
    const int z = (int)cell.z - d->middle;
    d->volume[cell.at] = x * x + y * y + z * z; // the element of cell (cell.x, cell.y, cell.z)
}

__global__ void __launch_bounds__(512, 2) measure_cells(tmap_each3_plan plan, drawing d) {
    tmap_each3(&plan, measure, &d);
}
// [/snippet]

typedef struct moments {
    tmap_u64 cells;
    tmap_u64 squares; // the sum of squared distances
} moments;

typedef struct summing {
    const int *volume;
    tmap_fold_to to;
} summing;

static __device__ void add(void *, void *sum, tmap_cell3, const void *value) { // an element
    moments *m = (moments *)sum;
    m->cells += 1;
    m->squares += (tmap_u64) * (const int *)value;
}

static __device__ void join(void *, void *sum, const void *other) { // another thread's sum
    moments *m = (moments *)sum;
    const moments *o = (const moments *)other;
    m->cells += o->cells;
    m->squares += o->squares;
}

__global__ void __launch_bounds__(512, 2) sum_cells(tmap_each3_plan plan, summing s) {
    const moments zero = {0, 0};
    const tmap_array volume = {s.volume, sizeof *s.volume};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_each3_fold(&plan, volume, add, fold, s.to, &s);
}

// Counts the wrong places: cells hold their squared distance, all others -1.
static int check_places(tmap_nbb3 f, const int *volume) {
    int wrong = 0;
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        const tmap_xyz c = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        const int x = (int)c.x - SIDE / 2;
        const int y = (int)c.y - SIDE / 2;
        const int z = (int)c.z - SIDE / 2;
        wrong += volume[i] != (tmap_nbb3_contains(f, c, R) ? x * x + y * y + z * z : -1);
    }
    return wrong;
}

// The squared distance at a point of the slice, -1 where no cell is, -2 outside the cube. u and v
// are measured from the middle, in places, along (1, -1, 0) and (1, 1, -2).
static int slice_at(const int *volume, double u, double v) {
    const double middle = 0.5 * SIDE;
    const double x = middle + u / sqrt(2.0) + v / sqrt(6.0);
    const double y = middle - u / sqrt(2.0) + v / sqrt(6.0);
    const double z = middle - 2 * v / sqrt(6.0);
    if (!(x >= 0 && x < SIDE && y >= 0 && y < SIDE && z >= 0 && z < SIDE)) return -2;
    return volume[((int)z * SIDE + (int)y) * SIDE + (int)x];
}

static void draw(const int *volume) {
    const double far = sqrt(3.0) / 2 * SIDE / sqrt(1.5); // a corner of the slice
    picture p =
        picture_make(WIDE, HIGH, 3, "A Menger sponge cut through the middle: distance from it");
    for (unsigned i = 0; i < WIDE * HIGH; ++i) {
        const unsigned column = i % WIDE;
        const unsigned row = i / WIDE;
        const int square =
            slice_at(volume, (column + 0.5 - WIDE / 2) / 2, (row + 0.5 - HIGH / 2) / 2);
        if (square == -2) continue;

        const unsigned shade = canvas_shade(sqrt((double)square) / far);
        picture_set(&p, column, row, square == -1 ? (unsigned)NO_CELL : shade);
    }
    picture_scale(&p, 0, far);
    picture_save(&p, "sponge");
}

int main(void) {
    const tmap_nbb3 f = tmap_fractal3_menger();
    check_gpu();
    int *volume;
    moments *sum;
    CHECK(cudaMallocManaged((void **)&volume, PLACES * sizeof *volume));
    CHECK(cudaMallocManaged((void **)&sum, sizeof *sum));
    for (int i = 0; i < PLACES; ++i) volume[i] = -1;
    const drawing d = {volume, SIDE / 2};
    summing s = {volume, {NULL, sum}};

    // [snippet: each3-launch]
    const tmap_pitch3 tight = {0, 0}; // a volume of SIDE x SIDE x SIDE elements, without gaps
    const tmap_turned t = tmap_turned_plain(f); // no copy is turned
    const void *kernel = (const void *)measure_cells;
    tmap_each3_plan each;
    CHECK(tmap_each3_plan_make(TMAP_EACH_VISIT, t, R, tight, kernel, &each)); // once
    CHECK(tmap_each3_launch(&each, &d, 0));                                   // again and again
    // [/snippet]

    tmap_each3_plan fold;
    CHECK(tmap_each3_plan_make(TMAP_EACH_FOLD, t, R, tight, (const void *)sum_cells, &fold));
    const tmap_u64 bytes = tmap_each3_fold_bytes(&fold, sizeof *sum);
    CHECK(cudaMalloc(&s.to.workspace, bytes));
    CHECK(cudaMemset(s.to.workspace, 0, bytes)); // once: each launch leaves it cleared
    CHECK(tmap_each3_launch(&fold, &s, 0));
    CHECK(cudaDeviceSynchronize());

    const tmap_u64 cells = tmap_nbb3_cells(f, R);
    const tmap_u64 mean = 3 * 16 * ((SIDE * SIDE - 1) / 8) / 20; // by digits; it is a whole number
    printf("a Menger sponge of level %d: %llu cells\n", R, sum->cells);
    printf("sum of squared distances from the middle: %llu\n", sum->squares);
    printf("mean of them: %.3f\n", (double)sum->squares / (double)sum->cells);
    printf("radius of gyration: %.3f places\n", sqrt((double)sum->squares / (double)sum->cells));
    const int wrong_sum = sum->cells != cells || sum->squares != mean * cells;
    const int wrong = check_places(f, volume) + wrong_sum;
    if (!wrong) draw(volume);
    CHECK(cudaFree(volume));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(s.to.workspace));
    return check_result("distances of all cells, and their sum", wrong);
}
