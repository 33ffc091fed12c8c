// SPDX-License-Identifier: MIT
// gpus_matrix.cu: the distances of all pairs of n points, a matrix that no single GPU holds
// (triangle/pairs_store.h, share_memory.h): each GPU computes and keeps some of its rows.
//
// The matrix is condensed: element tmap_condensed_index(i, j, n) is the distance of i < j. A GPU
// has the addresses of all of it, and memory for its own rows, so kernels need no other numbers.
// nvcc -ccbin mpicxx -O3 -arch=native -I include samples/gpus/gpus_matrix.cu -lcuda -lnccl -o gpus_matrix
// mpirun -n 4 gpus_matrix 300000
#include "gpus.h"

#include <threadmap/share_memory.h>
#include <threadmap/triangle.h>

typedef struct distances {
    const float *points; // x, y, z of each
    float *matrix;
} distances;

TMAP_DEVICE float distance(const float *a, const float *b) {
    const float x = a[0] - b[0];
    const float y = a[1] - b[1];
    const float z = a[2] - b[2];
    return sqrtf(x * x + y * y + z * z);
}

// [snippet: gpus-matrix]
TMAP_DEVICE void value(void *, tmap_pair, const void *a, const void *b, void *to) {
    *(float *)to = distance((const float *)a, (const float *)b);
}

__global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS, TMAP_PAIRS_STORE_BLOCKS)
    store_distances(tmap_pairs_plan plan, distances d) {
    const tmap_points points = {d.points, 0, sizeof(float), 3};
    tmap_pairs_store(&plan, points, value, sizeof(float), d.matrix, 0);
}

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

// Counts the random elements from `first` on that are not the distance of their pair.
__global__ void check_elements(distances d, tmap_u32 n, tmap_u64 first, tmap_u64 count,
                               tmap_u64 *wrong) {
    const tmap_u64 number = (tmap_u64)blockIdx.x * blockDim.x + threadIdx.x;
    const tmap_u64 at = first + (number * 0x9e3779b97f4a7c15ull >> 3) % count;
    const tmap_pair64 pair = tmap_condensed_map64(at, n);
    if (d.matrix[at] != distance(d.points + 3 * pair.i, d.points + 3 * pair.j))
        atomicAdd(wrong, 1ull);
}

// Coordinate k of point i, in a unit cube.
static float coordinate(tmap_u32 i, tmap_u32 k) {
    tmap_u32 bits = (3 * i + k) * 2654435769u;
    bits = (bits ^ bits >> 15) * 2246822519u;
    return (float)((bits ^ bits >> 13) >> 8) / 16777216.0f;
}

int main(int argc, char **argv) {
    const tmap_nccl gpus = gpus_start(&argc, &argv);
    const long n = argc > 1 ? atol(argv[1]) : 700;
    const unsigned blocks = n > 10000 ? 1000000 / 256 : 16; // of a check
    if (n < 2 || n > 4000000) gpus_fail("arguments", "the number of points is 2 to 4000000");

    const size_t point_bytes = (size_t)n * 3 * sizeof(float);
    float *points = (float *)malloc(point_bytes);
    for (long i = 0; i < 3 * n; ++i) points[i] = coordinate((tmap_u32)(i / 3), (tmap_u32)(i % 3));
    distances d;
    CHECK_GPU(cudaMalloc((void **)&d.points, point_bytes));
    CHECK_GPU(cudaMemcpy((void *)d.points, points, point_bytes, cudaMemcpyHostToDevice));
    free(points);

    tmap_pairs_plan plan;
    const tmap_share bytes = rows_of(gpus, (tmap_u32)n, &plan, &d.matrix);
    double start = 0;
    for (int turn = 0; turn < 2; ++turn) { // the first launch loads the kernel
        CHECK_GPU(cudaDeviceSynchronize());
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        if (plan.count) CHECK_GPU(tmap_pairs_store_launch(&plan, &d, 0));
        CHECK_GPU(cudaDeviceSynchronize());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = MPI_Wtime() - start;

    tmap_u64 *wrong, found = 0;
    CHECK_GPU(cudaMalloc((void **)&wrong, sizeof *wrong));
    CHECK_GPU(cudaMemset(wrong, 0, sizeof *wrong));
    if (bytes.count)
        check_elements<<<blocks, 256>>>(d, (tmap_u32)n, bytes.first / 4, bytes.count / 4, wrong);
    CHECK_GPU(cudaGetLastError());
    if (gpus.ranks > 1)
        CHECK_NCCL(ncclAllReduce(wrong, wrong, 1, ncclUint64, ncclSum, gpus.comm, 0));
    CHECK_GPU(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost));

    if (gpus.rank == 0) {
        const double all = (double)tmap_pairs_store_bytes(&plan);
        printf("%ld points, %.3f GB: %.3f ms on %u GPUs, %.2f TB/s in all\n", n, all * 1e-9,
               seconds * 1e3, gpus.ranks, all / seconds * 1e-12);
        const tmap_u32 last = (tmap_u32)n - 2;
        printf("pair (%u, %ld) is on GPU %llu\n", last, n - 1,
               tmap_pairs_store_part_of(&plan, last, gpus.ranks));
        check_result("random distances of all GPUs", found);
    }
    CHECK_GPU(tmap_share_memory_destroy(tmap_pairs_store_bytes(&plan), &bytes, 1, d.matrix));
    CHECK_GPU(cudaFree((void *)d.points));
    CHECK_GPU(cudaFree(wrong));
    return gpus_end(gpus, found != 0);
}
