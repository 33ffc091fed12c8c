// SPDX-License-Identifier: MIT
// 35_lennard_jones.cu: a periodic fluid that moves (tmap_near_rows). Two particles at a distance
// r < 2.5 have the energy 4 (r^-12 - r^-6), less its value at 2.5. Velocity Verlet moves them.
//
// In each step tmap_near_prepare finds the boxes of the particles where they are now (a refit). They
// move little, so a new order every 20 steps is enough. Only then are they taken back into the
// periodic box: one that jumps to the other side makes its box of 32 particles as long as that.
// nvcc -O3 -arch=native -I include samples/triangle/35_lennard_jones.cu -o lennard_jones
#include "../check.h"
#include "../picture.h"

#include <threadmap/triangle/image.h>
#include <threadmap/triangle/near_prepare.h>
#include <threadmap/triangle/near_rows.h>
#include <threadmap/triangle/near_sort.h>

enum { EDGE = 8, N = EDGE * EDGE * EDGE, STEPS = 200, ORDER = 20, THREADS = 128 };
enum { BINS = 100, ONE = 32, BAR = 0x2b6ca8 }; // columns of the picture, rows for g = 1, colour
#define SIDE   8.6f                            // of the box
#define CUTOFF 2.5f                            // of forces
#define RANGE  4.0f                            // of g(r), less than half of the box
#define DT     0.004f                          // the time of a step

typedef struct fluid {
    float *at, *speed; // x, y, z of each particle
    float *force;      // and a fourth number: half of the energies of its pairs
    void *set;         // the prepared particles
} fluid;

// [snippet: near-rows]
// From b to the nearest image of a; w: the squared distance.
TMAP_FN float4 between(const float *a, const float *b) {
    const float x = tmap_image_axis_f32(a[0] - b[0], SIDE, 1 / SIDE);
    const float y = tmap_image_axis_f32(a[1] - b[1], SIDE, 1 / SIDE);
    const float z = tmap_image_axis_f32(a[2] - b[2], SIDE, 1 / SIDE);
    return make_float4(x, y, z, x * x + y * y + z * z);
}

// Adds the force of b on a, and half of their energy, which is -0.0081584 at 2.5.
TMAP_FN void attract(float4 *sum, const float *a, const float *b) {
    const float4 d = between(a, b);
    const float s = 1 / d.w, s3 = s * s * s;
    const float times = 24 * s * s3 * (2 * s3 - 1);
    if (d.w >= CUTOFF * CUTOFF) return;
    *sum = make_float4(sum->x + times * d.x, sum->y + times * d.y, sum->z + times * d.z,
                       sum->w + 2 * s3 * (s3 - 1) + 0.0081584f);
}

TMAP_DEVICE void join(void *, void *sum, const void *other) {
    const float4 s = *(const float4 *)sum, o = *(const float4 *)other;
    *(float4 *)sum = make_float4(s.x + o.x, s.y + o.y, s.z + o.z, s.w + o.w);
}

TMAP_DEVICE void give(void *, tmap_pair, const void *a, const void *b, void *to_a, void *) {
    attract((float4 *)to_a, (const float *)a, (const float *)b); // b gets a call of its own
}

TMAP_DEVICE int reach(void *, const tmap_near_box *a, const tmap_near_box *b) {
    const float lengths[3] = {SIDE, SIDE, SIDE};
    return tmap_near_periodic(a, b, 3, lengths, CUTOFF);
}

__global__ void __launch_bounds__(TMAP_NEAR_THREADS) add_forces(tmap_near_plan plan, fluid f) {
    const tmap_near points = {{f.set, 0, sizeof(float), 3}, reach, 0};
    const float4 zero = {0, 0, 0, 0};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_near_rows(&plan, points, give, fold, f.force, &f);
}
// [/snippet]

// A thread for each of 3 * N coordinates: half a step of its speed, and a step of `time` of its
// position, which is taken back into the box if home is 1.
__global__ void move(fluid f, float time, int home) {
    const tmap_u32 k = blockIdx.x * THREADS + threadIdx.x;
    f.speed[k] += DT / 2 * f.force[k / 3 * 4 + k % 3];
    f.at[k] += time * f.speed[k];
    if (home) f.at[k] -= SIDE * floorf(f.at[k] / SIDE);
}

// Prints the energy of a particle, of motion and of pairs. Returns its change since step 0.
static double drift_at(int step, const fluid *f) {
    static double first;
    double sum = 0;
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < 3 * N; ++k) sum += 0.5 / N * f->speed[k] * f->speed[k];
    for (int i = 0; i < N; ++i) sum += 1.0 / N * f->force[4 * i + 3];
    if (step == 0) first = sum;
    printf("step %3d: energy %.5f, drift %9.6f\n", step, sum, sum - first);
    return sum - first;
}

// Compares all forces with sums over all others. Counts the pairs by distance too, and draws g(r): their
// number, as a part of that of particles at random places. Returns how many forces are wrong.
static int finish(const fluid *f) {
    picture p = picture_make(BINS, 3 * ONE, 4, "g(r) of a Lennard-Jones fluid, density 0.805");
    double pairs[BINS] = {0};
    int wrong = 0;
    for (int i = 0; i < N; ++i) {
        const float *a = f->at + 3 * i, *got = f->force + 4 * i;
        float4 want = {0, 0, 0, 0};
        for (int j = 0; j < N; ++j) {
            const float *b = f->at + 3 * j;
            if (i == j) continue;
            attract(&want, a, b);
            const float r = sqrtf(between(a, b).w);
            if (r < RANGE) ++pairs[(int)(r * BINS / RANGE)];
        }
        const float off = fabsf(got[0] - want.x) + fabsf(got[1] - want.y) + fabsf(got[2] - want.z);
        wrong += !(off + fabsf(got[3] - want.w) < 2e-3f);
    }
    for (unsigned k = 0; k < BINS; ++k) {
        const double shell = 4.18879 * pow(RANGE / BINS, 3) * (3 * k * (k + 1) + 1); // its volume
        const double high = ONE * pairs[k] / (N * shell * N / pow(SIDE, 3));
        for (unsigned y = 0; y < 3 * ONE && y < high; ++y) picture_set(&p, k, 3 * ONE - 1 - y, BAR);
        if (k % 2) picture_set(&p, k, 2 * ONE, CANVAS_INK);
    }
    picture_key(&p, BAR, "g, r from 0 to 4, dots: g = 1");
    picture_save(&p, "lennard_jones");
    return wrong;
}

int main(void) {
    check_gpu();
    tmap_u32 *order, random = 1;
    void *memory;
    double drift = 0;
    fluid f;
    CHECK(cudaMallocManaged((void **)&f.at, 3 * N * sizeof *f.at));
    CHECK(cudaMallocManaged((void **)&f.speed, 3 * N * sizeof *f.speed));
    CHECK(cudaMallocManaged((void **)&f.force, 4 * N * sizeof *f.force));
    for (int k = 0; k < 3 * N; ++k) { // a crystal, with speeds that melt it
        const int place[3] = {k / 3 % EDGE, k / 3 / EDGE % EDGE, k / 3 / EDGE / EDGE};
        random = random * 1664525u + 1013904223u;
        f.at[k] = (place[k % 3] + 0.5f) * SIDE / EDGE;
        f.speed[k] = 4.0f * ((float)(random >> 8) / 16777216 - 0.5f);
    }

    const tmap_near_shape shape = {N, 3, sizeof(float)};
    const double low[3] = {0, 0, 0}, high[3] = {SIDE, SIDE, SIDE};
    tmap_near_sort_plan sort;
    tmap_near_plan plan;
    CHECK(tmap_near_sort_plan_make(N, 3, sizeof(float), 0, &sort)); // plans are made once
    CHECK(tmap_near_sort_plan_box(&sort, low, high));
    CHECK(tmap_near_rows_plan_make(shape, sizeof(float4), (const void *)add_forces, &plan));
    CHECK(cudaMalloc(&memory, sort.workspace));
    CHECK(cudaMalloc((void **)&order, N * sizeof *order));
    CHECK(cudaMalloc(&f.set, tmap_near_set_bytes(shape)));

    for (int step = 0; step <= STEPS; ++step) {
        if (step) move<<<3 * N / THREADS, THREADS>>>(f, DT, step % ORDER == 0);
        if (step % ORDER == 0) CHECK(tmap_near_sort(&sort, f.at, memory, order, 0));
        CHECK(tmap_near_prepare(shape, f.at, order, f.set, 0));
        CHECK(tmap_near_launch(&plan, &f, 0));
        if (step) move<<<3 * N / THREADS, THREADS>>>(f, 0, 0);
        if (step % ORDER == 0) drift = drift_at(step, &f);
    }

    const int wrong = finish(&f) + !(fabs(drift) < 2e-3);
    for (void *p : {(void *)f.at, (void *)f.speed, (void *)f.force, memory, (void *)order, f.set})
        CHECK(cudaFree(p));
    return check_result("a fluid of Lennard and Jones", wrong);
}
