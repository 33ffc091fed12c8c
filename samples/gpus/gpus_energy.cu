// SPDX-License-Identifier: MIT
// gpus_energy.cu: one value from all pairs on several GPUs (share.h, nccl.h), with the same bits
// on any number of them: the energy of n charges, the sum of q_i q_j / |r_i - r_j| over all pairs.
//
// The work is cut into 64 parts, and each GPU folds a run of them, each part into an accumulator.
// NCCL gathers the accumulators on every GPU, where one block joins them in the order of the parts.
// nvcc -ccbin mpicxx -O3 -arch=native -I include samples/gpus/gpus_energy.cu -lnccl -o gpus_energy
// mpirun -n 4 gpus_energy 1000000 (or, in one process: gpus_energy --threads 4 1000000)
#include "gpus.h"

#include <threadmap/triangle.h>

typedef struct energy {
    const float *points; // x, y, z, q of each
    tmap_fold_to to;
} energy;

TMAP_DEVICE void join(void *, void *mine, const void *other) {
    *(double *)mine += *(const double *)other;
}

TMAP_DEVICE void visit(void *, void *sum, tmap_pair, const void *u, const void *v) {
    const float *a = (const float *)u;
    const float *b = (const float *)v;
    const float x = a[0] - b[0];
    const float y = a[1] - b[1];
    const float z = a[2] - b[2];
    *(double *)sum += a[3] * b[3] * rsqrtf(x * x + y * y + z * z);
}

__global__ void __launch_bounds__(TMAP_PAIRS_THREADS) fold_part(tmap_pairs_plan plan, energy e) {
    const tmap_points points = {e.points, 0, sizeof(float), 4};
    const double none = 0;
    const tmap_fold sum = {&none, sizeof none, join};
    tmap_pairs_fold(&plan, points, visit, sum, e.to, 0);
}

// [snippet: gpus-energy]
__global__ void __launch_bounds__(64) join_parts(const double *parts, double *result) {
    const double none = 0;
    const tmap_fold sum = {&none, sizeof none, join};
    tmap_fold_list(parts, TMAP_SHARE_PARTS, sum, result, 0);
}

// Folds the parts of `run`, each into its element of `parts`.
static void fold_parts(tmap_nccl gpus, tmap_pairs_plan plan, energy e, tmap_share run,
                       double *parts) {
    const tmap_u64 items = plan.items;
    for (tmap_u64 p = run.first; p < run.first + run.count; ++p) {
        const tmap_share part = tmap_share_of(items, p, TMAP_SHARE_PARTS);
        CHECK_GPU(tmap_pairs_plan_share(&plan, part.first, part.count));
        e.to.result = parts + p;
        CHECK_GPU(tmap_pairs_launch(&plan, &e, 0));
        if (p % 16 == 15) gpus_wait(gpus); // shows the time limit that there is progress
    }
}

// The energy from the accumulators of all parts.
static double joined(tmap_nccl gpus, double *parts) {
    double *sum = parts + TMAP_SHARE_PARTS;
    double result;
    join_parts<<<1, 64>>>(parts, sum);
    CHECK_GPU(cudaGetLastError());
    gpus_wait(gpus);
    CHECK_GPU(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

// The energy on every GPU, from all GPUs.
static double together(tmap_nccl gpus, tmap_pairs_plan plan, energy e, double *parts) {
    fold_parts(gpus, plan, e, tmap_nccl_share(&gpus, TMAP_SHARE_PARTS), parts);
    CHECK_NCCL(tmap_nccl_gather(&gpus, parts, sizeof *parts, TMAP_SHARE_PARTS, 0));
    return joined(gpus, parts);
}
// [/snippet]

// The energy that this GPU computes alone.
static double alone(tmap_nccl gpus, tmap_pairs_plan plan, energy e, double *parts) {
    fold_parts(gpus, plan, e, tmap_share_of(TMAP_SHARE_PARTS, 0, 1), parts);
    return joined(gpus, parts);
}

// Number k of charge i: x, y, z in a unit cube, then the charge, 1 or -1.
static float number_of(tmap_u32 i, tmap_u32 k) {
    tmap_u32 bits = (4 * i + k) * 2654435769u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    bits ^= bits >> 13;
    return k < 3 ? (float)(bits >> 8) / 16777216.0f : bits >> 31 ? -1.0f : 1.0f;
}

static int sample(tmap_nccl gpus, int argc, char **argv) {
    const long n = argc > 1 ? atol(argv[1]) : 3000;
    if (n < 2 || n > 100000000) gpus_fail("arguments", "the number of charges is 2 to 100000000");

    const size_t bytes = (size_t)n * 4 * sizeof(float);
    float *points = (float *)malloc(bytes);
    for (long i = 0; i < 4 * n; ++i) points[i] = number_of((tmap_u32)(i / 4), (tmap_u32)(i % 4));

    energy e;
    double *parts;
    tmap_pairs_plan plan;
    CHECK_GPU(tmap_pairs_plan_make((tmap_u32)n, 4, sizeof(float), (const void *)fold_part, &plan));
    CHECK_GPU(cudaMalloc((void **)&e.points, bytes));
    CHECK_GPU(cudaMemcpy((void *)e.points, points, bytes, cudaMemcpyHostToDevice));
    CHECK_GPU(cudaMalloc(&e.to.workspace, tmap_pairs_fold_bytes(&plan, sizeof(double))));
    CHECK_GPU(cudaMemset(e.to.workspace, 0, tmap_pairs_fold_clear(&plan)));
    CHECK_GPU(cudaMalloc((void **)&parts, (TMAP_SHARE_PARTS + 1) * sizeof *parts));
    free(points);

    const tmap_u64 cut[] = {plan.n, plan.items, TMAP_SHARE_PARTS};
    gpus_same(gpus, cut, sizeof cut);

    const double first = together(gpus, plan, e, parts); // NCCL connects the GPUs here
    double begin = gpus_begin(gpus);
    const double all = together(gpus, plan, e, parts);
    const double all_seconds = gpus_seconds_since(gpus, begin);
    begin = gpus_begin(gpus);
    const double one = alone(gpus, plan, e, parts);
    const double one_seconds = gpus_seconds_since(gpus, begin);

    const int wrong =
        memcmp(&all, &one, sizeof one) != 0 || memcmp(&all, &first, sizeof first) != 0;
    if (gpus.rank == 0) {
        printf("%ld charges, energy %.17g\n", n, all);
        gpus_print_times(gpus, all_seconds, one_seconds);
        check_result("the same bits on all GPUs and on one", (tmap_u64)wrong);
    }
    CHECK_GPU(cudaFree((void *)e.points));
    CHECK_GPU(cudaFree(e.to.workspace));
    CHECK_GPU(cudaFree(parts));
    return wrong;
}

int main(int argc, char **argv) { return gpus_main(argc, argv, sample); }
