// SPDX-License-Identifier: MIT
// gpus_matrix.cu: the distances of all pairs of n points, a matrix that no single GPU holds
// (triangle/pairs_store.h, share_memory.h): each GPU computes and keeps some of its rows.
//
// The matrix is condensed: element tmap_condensed_index(i, j, n) is the distance of i < j. A GPU
// has the addresses of all of it, and memory for its own rows, so kernels need no other numbers.
// nvcc -ccbin mpicxx -O3 -arch=native -I include samples/gpus/gpus_matrix.cu -lcuda -lnccl -o gpus_matrix
// mpirun -n 4 gpus_matrix 300000 (or gpus_matrix --threads 4 300000)
#include "gpus.h"

#include <threadmap/fractal/philox.h>
#include <threadmap/share_memory.h>
#include <threadmap/triangle.h>

#define CHECKS 1000000u // random places

typedef struct distances {
    const float *points; // x, y, z of each
    float *matrix;
} distances;

TMAP_DEVICE void value(void *, tmap_pair, const void *u, const void *v, void *to) {
    const float *a = (const float *)u;
    const float *b = (const float *)v;
    const float x = a[0] - b[0];
    const float y = a[1] - b[1];
    const float z = a[2] - b[2];
    *(float *)to = sqrtf(x * x + y * y + z * z);
}

// Two blocks a multiprocessor: with three, matrices of this size take longer, smaller ones less.
__global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, 2)
    store_distances(tmap_pairs_plan plan, distances d) {
    const tmap_points points = {d.points, 0, sizeof(float), 3};
    tmap_pairs_store(&plan, points, value, sizeof(float), d.matrix, 0);
}

// [snippet: gpus-matrix]
// The plan of this GPU's rows, and memory for them in the matrix. Returns where they are.
static tmap_share rows_of(tmap_nccl gpus, tmap_u32 n, tmap_pairs_plan *plan, float **matrix) {
    const tmap_pairs_store_shape shape = {n, 3, sizeof(float), TMAP_PAIRS_CONDENSED, sizeof(float)};
    tmap_share bytes;
    CHECK_GPU(tmap_pairs_store_plan_make(shape, (const void *)store_distances, plan));
    const tmap_u64 all = tmap_pairs_store_bytes(plan);
    if (tmap_pairs_store_plan_part(plan, gpus.rank, gpus.ranks, &bytes))
        gpus_fail("plan", "no part");
    CHECK_GPU(tmap_share_memory_create(all, &bytes, 1, (void **)matrix));
    return bytes;
}
// [/snippet]

// Looks at random places of the matrix, those in `mine` on this GPU. Counts the places, and those
// that do not hold the distance of their pair, computed in double.
__global__ void check_places(distances d, tmap_u32 n, tmap_share mine, tmap_u64 *sums) {
    const tmap_u32 number = blockIdx.x * blockDim.x + threadIdx.x;
    const tmap_u64 at = tmap_philox_u64(number, 0, 48) % tmap_condensed_cells(n);
    if (number >= CHECKS || at - mine.first >= mine.count) return;
    const tmap_pair64 pair = tmap_condensed_map64(at, n);
    double squares = 0;
    for (int k = 0; k < 3; ++k) {
        const double x = (double)d.points[3 * pair.i + k] - d.points[3 * pair.j + k];
        squares += x * x;
    }
    const double want = sqrt(squares);
    atomicAdd(&sums[0], 1ull);
    if (!(fabs(d.matrix[at] - want) <= 1e-6 * want)) atomicAdd(&sums[1], 1ull);
}

// Coordinate k of point i, in a unit cube.
static float coordinate(tmap_u32 i, tmap_u32 k) {
    tmap_u32 bits = (3 * i + k) * 2654435769u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    return (float)((bits ^ bits >> 13) >> 8) / 16777216.0f;
}

// Seconds to write this GPU's part of the matrix, by the engine or, `fill`, by cudaMemset.
static double store(tmap_nccl gpus, const tmap_pairs_plan *plan, distances d, tmap_share bytes,
                    int fill) {
    double begin = 0;
    for (int turn = 0; turn < 2; ++turn) { // the first launch loads the kernel
        begin = gpus_begin(gpus);
        if (bytes.count && fill)
            CHECK_GPU(cudaMemsetAsync((char *)d.matrix + bytes.first, 1, bytes.count, 0));
        if (bytes.count && !fill) CHECK_GPU(tmap_pairs_store_launch(plan, &d, 0));
    }
    return gpus_seconds_since(gpus, begin);
}

static int sample(tmap_nccl gpus, int argc, char **argv) {
    const long n = argc > 1 ? atol(argv[1]) : 700;
    if (n < 2 || n > 4000000) gpus_fail("arguments", "the number of points is 2 to 4000000");
    gpus_same(gpus, &n, sizeof n);

    const size_t point_bytes = (size_t)n * 3 * sizeof(float);
    float *points = (float *)malloc(point_bytes);
    for (long i = 0; i < 3 * n; ++i) points[i] = coordinate((tmap_u32)(i / 3), (tmap_u32)(i % 3));
    distances d;
    CHECK_GPU(cudaMalloc((void **)&d.points, point_bytes));
    CHECK_GPU(cudaMemcpy((void *)d.points, points, point_bytes, cudaMemcpyHostToDevice));
    free(points);

    tmap_pairs_plan plan;
    const tmap_share bytes = rows_of(gpus, (tmap_u32)n, &plan, &d.matrix);
    const double fill_seconds = store(gpus, &plan, d, bytes, 1);
    const double seconds = store(gpus, &plan, d, bytes, 0);

    const tmap_share mine = {bytes.first / sizeof(float), bytes.count / sizeof(float)};
    tmap_u64 *sums, found[2];
    CHECK_GPU(cudaMalloc((void **)&sums, sizeof found));
    CHECK_GPU(cudaMemset(sums, 0, sizeof found));
    check_places<<<(CHECKS + 255) / 256, 256>>>(d, (tmap_u32)n, mine, sums);
    CHECK_GPU(cudaGetLastError());
    gpus_sum(gpus, sums, 2, found);

    const tmap_u64 all = tmap_pairs_store_bytes(&plan);
    const tmap_u64 wrong = found[1] + (found[0] != CHECKS);
    if (gpus.rank == 0) {
        const tmap_u32 last = (tmap_u32)n - 2;
        printf("%ld points, %.3f GB; pair (%u, %ld) is on GPU %llu\n", n, (double)all * 1e-9, last,
               n - 1, tmap_pairs_store_part_of(&plan, last, gpus.ranks));
        gpus_print_times(gpus, seconds, 0);
        printf("%.2f TB/s in all, %.1f%% of a fill\n", (double)all / seconds * 1e-12,
               100 * fill_seconds / seconds);
        printf("%llu random places\n", found[0]);
        check_result("the distances there", wrong);
    }
    CHECK_GPU(tmap_share_memory_destroy(all, &bytes, 1, d.matrix));
    CHECK_GPU(cudaFree((void *)d.points));
    CHECK_GPU(cudaFree(sums));
    return wrong != 0;
}

int main(int argc, char **argv) { return gpus_main(argc, argv, sample); }
