// SPDX-License-Identifier: MIT
// gpus_mandelbrot.cu: a picture of the Mandelbrot set that several GPUs hold together, by adaptive
// subdivision (adaptive/mandelbrot.h). Each computes and keeps bands of rows all over the picture,
// so that the inside of the set does not meet one GPU alone.
//
// A hash of all pixels is compared with that of one GPU if it has memory for them, and random
// pixels with their dwell on the host.
// nvcc -ccbin mpicxx -O3 -arch=native -I include samples/gpus/gpus_mandelbrot.cu -lcuda -lnccl -o gpus_mandelbrot
// mpirun -n 4 gpus_mandelbrot 131072 (the side; or gpus_mandelbrot --threads 4 131072)
#include "gpus.h"

#include <threadmap/adaptive/mandelbrot.h>
#include <threadmap/fractal/philox.h>
#include <threadmap/share_memory.h>

#define DWELL  512  // steps at most
#define CHECKS 1000 // random pixels
#define MISSED 1    // of them may differ: parts of the set that are thinner than a pixel

// Adds up a number for each of `count` pixels from number `first` on, in any order.
__global__ void __launch_bounds__(256)
    describe(const int *picture, tmap_u64 first, tmap_u64 count, tmap_u64 *sum) {
    tmap_u64 hash = 0;
    for (tmap_u64 k = blockIdx.x * 256ull + threadIdx.x; k < count; k += gridDim.x * 256ull) {
        const tmap_u64 dwell = (tmap_u64)picture[first + k];
        hash += (dwell * 0x9e3779b97f4a7c15ull ^ (first + k)) * 0xbf58476d1ce4e5b9ull;
    }
    atomicAdd(sum, hash);
}

// What a run finds, on every GPU.
typedef struct run {
    tmap_u64 hash, pixels, wrong;
    double seconds;
} run;

// Runs of rows of a GPU, as bytes of the picture. borders: with the first row of every band and
// the last row of all, where every GPU writes borders of regions.
static tmap_u64 rows_of(const tmap_mandelbrot_plan *plan, tmap_u32 side, int borders,
                        tmap_share *runs) {
    const tmap_u64 row = side * sizeof(int);
    tmap_u64 count = 0;
    for (tmap_u32 y = 0; y < side; ++y) {
        const tmap_u32 part = tmap_mandelbrot_plan_part_of(plan, y);
        const int first = !y || part != tmap_mandelbrot_plan_part_of(plan, y - 1);
        if (part != plan->job.part && !(borders && (first || y + 1 == side))) continue;
        if (!count || runs[count - 1].first + runs[count - 1].count != y * row)
            runs[count].first = y * row, runs[count++].count = 0;
        runs[count - 1].count += row;
    }
    return count;
}

static run draw(tmap_nccl gpus, tmap_u32 side) {
    const tmap_mandelbrot m = tmap_mandelbrot_make(side, side, DWELL);
    const tmap_ask_params best = {0, 0, 0};
    tmap_share *runs = (tmap_share *)malloc(side * sizeof *runs);
    tmap_ask_workspace workspace;
    tmap_mandelbrot_plan plan;
    int *picture;
    double begin = 0;
    CHECK_GPU(tmap_mandelbrot_workspace_create(&m, best, 0, &workspace));
    CHECK_GPU(tmap_mandelbrot_plan_make(&m, &workspace, &plan));
    if (tmap_mandelbrot_plan_part(&plan, gpus.rank, gpus.ranks)) gpus_fail("plan", "no part");
    const tmap_u64 all = (tmap_u64)side * side * sizeof(int);
    tmap_u64 count = rows_of(&plan, side, 1, runs);
    CHECK_GPU(tmap_share_memory_create(all, runs, count, (void **)&picture));
    for (int turn = 0; turn < 2; ++turn) { // the first launch loads the kernels
        begin = gpus_begin(gpus);
        CHECK_GPU(tmap_mandelbrot_stream(&plan, picture, 0));
    }
    run result = {0, 0, 0, gpus_seconds_since(gpus, begin)};
    for (tmap_u64 i = 0; i < CHECKS; ++i) {
        const tmap_u64 at = tmap_philox_u64(i, 0, 48) % ((tmap_u64)side * side);
        const tmap_u32 x = (tmap_u32)(at % side), y = (tmap_u32)(at / side);
        int dwell;
        if (tmap_mandelbrot_plan_part_of(&plan, y) != gpus.rank) continue;
        CHECK_GPU(cudaMemcpy(&dwell, picture + at, sizeof dwell, cudaMemcpyDeviceToHost));
        result.pixels += 1, result.wrong += dwell != tmap_mandelbrot_dwell(&m, x, y);
    }
    tmap_u64 *sums;
    CHECK_GPU(cudaMalloc((void **)&sums, 3 * sizeof *sums));
    CHECK_GPU(cudaMemcpy(sums, &result, 3 * sizeof *sums, cudaMemcpyHostToDevice));
    tmap_share *own = (tmap_share *)malloc(side * sizeof *own);
    const tmap_u64 own_count = rows_of(&plan, side, 0, own);
    for (tmap_u64 i = 0; i < own_count; ++i) {
        const unsigned blocks = own[i].count > 1ull << 24 ? 1024 : 8;
        describe<<<blocks, 256>>>(picture, own[i].first / sizeof(int), own[i].count / sizeof(int),
                                  sums);
    }
    CHECK_GPU(cudaGetLastError());
    gpus_sum(gpus, sums, 3, &result.hash);
    CHECK_GPU(cudaFree(sums));
    CHECK_GPU(tmap_share_memory_destroy(all, runs, count, picture));
    CHECK_GPU(tmap_ask_workspace_destroy(&workspace));
    free(runs), free(own);
    return result;
}

static int sample(tmap_nccl gpus, int argc, char **argv) {
    const tmap_nccl alone = {gpus.comm, 0, 1};
    const long side = argc > 1 ? atol(argv[1]) : 256;
    if (side < 1 || side > 1 << 20) gpus_fail("arguments", "the side is 1 to 1048576");
    gpus_same(gpus, &side, sizeof side);

    const tmap_mandelbrot m = tmap_mandelbrot_make((tmap_u32)side, (tmap_u32)side, DWELL);
    const tmap_ask_params best = {0, 0, 0};
    const tmap_u64 bytes = (tmap_u64)side * (tmap_u64)side * sizeof(int);
    const run all = draw(gpus, (tmap_u32)side);
    tmap_u64 wrong = (all.pixels != CHECKS) + (all.wrong > MISSED ? all.wrong : 0);
    double one_seconds = 0;
    if (gpus.ranks > 1 && gpus_fits(bytes + tmap_mandelbrot_workspace_bytes(&m, best, 0))) {
        const run one = draw(alone, (tmap_u32)side);
        wrong += one.hash != all.hash;
        one_seconds = one.seconds;
    }
    if (gpus.rank == 0) {
        printf("%ld x %ld pixels, hash %016llx\n", side, side, all.hash);
        gpus_print_times(gpus, all.seconds, one_seconds);
        printf("%.1f Gpixel/s; %llu of %llu random pixels differ from the host's\n",
               (double)bytes / sizeof(int) / all.seconds * 1e-9, all.wrong, all.pixels);
        check_result(one_seconds > 0 ? "all pixels as on one GPU" : "random pixels", wrong);
    }
    return wrong != 0;
}

int main(int argc, char **argv) { return gpus_main(argc, argv, sample); }
