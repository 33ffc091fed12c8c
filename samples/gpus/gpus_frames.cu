// SPDX-License-Identifier: MIT
// gpus_frames.cu: the dRMSD of all pairs of frames of a molecule (molecules/drmsd_matrix.h) on
// several GPUs. Each has all frames, and computes and keeps its squares of the matrix.
//
// The molecule is made up: atoms in a box, which move in every frame. A hash of the matrix is
// compared with that of one GPU if it has memory for it, and random places with the definition.
// nvcc -ccbin mpicxx -O3 -arch=native -I include samples/gpus/gpus_frames.cu -lcuda -lnccl -o gpus_frames
// mpirun -n 4 gpus_frames 100000 200 (frames and atoms; or gpus_frames --threads 4 100000 200)
#include "gpus.h"

#include <threadmap/fractal/philox.h>
#include <threadmap/molecules/drmsd_matrix.h>
#include <threadmap/share_memory.h>
#include <threadmap/triangle/condensed.h>

#define CHECKS 10000u // random places

// The matrix of one GPU, or its squares of that of several.
typedef struct matrix {
    tmap_drmsd_plan plan;
    tmap_share bytes; // where this GPU's squares are
    tmap_u32 rank, ranks;
    const float *frames;
    float *out;
} matrix;

// From 0 to 1.
TMAP_DEVICE float random_of(tmap_u64 i, tmap_u64 stream) {
    return (float)(tmap_philox_u64(i, stream, 48) >> 40) / 16777216.0f;
}

// Coordinates in a box of 20; each moves within 2.
__global__ void __launch_bounds__(256) make_frames(float *xyz, tmap_u64 frames, tmap_u32 atoms) {
    const tmap_u64 count = frames * atoms * 3, stride = gridDim.x * 256ull;
    for (tmap_u64 i = blockIdx.x * 256ull + threadIdx.x; i < count; i += stride)
        xyz[i] = 20 * random_of(i % (3 * atoms), 0) + 2 * random_of(i, 1);
}

// 1 if this GPU has computed the pair of frames at a place of the matrix.
TMAP_DEVICE int has(const matrix *m, tmap_pair64 p) {
    return tmap_drmsd_matrix_part_of(&m->plan, p.i, p.j, m->ranks) == m->rank;
}

// Adds up a number for each of this GPU's places, in any order.
__global__ void __launch_bounds__(256) describe(matrix m, tmap_u64 *sum) {
    const tmap_u64 first = m.bytes.first / sizeof(float), count = m.bytes.count / sizeof(float);
    tmap_u64 hash = 0;
    for (tmap_u64 k = blockIdx.x * 256ull + threadIdx.x; k < count; k += gridDim.x * 256ull)
        if (has(&m, tmap_condensed_map64(first + k, m.plan.frames))) {
            const tmap_u64 bits = __float_as_uint(m.out[first + k]);
            hash += (bits * 0x9e3779b97f4a7c15ull ^ (first + k)) * 0xbf58476d1ce4e5b9ull;
        }
    atomicAdd(sum, hash);
}

TMAP_DEVICE double distance(const float *a, const float *b) {
    const double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

// Looks at random places; counts those that this GPU has, and the wrong ones.
__global__ void __launch_bounds__(256) check_places(matrix m, tmap_u64 *sums) {
    const tmap_u32 number = blockIdx.x * 256 + threadIdx.x, n = m.plan.n;
    const tmap_u64 at = tmap_philox_u64(number, 2, 48) % tmap_condensed_cells(m.plan.frames);
    const tmap_pair64 p = tmap_condensed_map64(at, m.plan.frames);
    if (number >= CHECKS || !has(&m, p)) return;
    const float *a = m.frames + p.i * n * 3, *b = m.frames + p.j * n * 3;
    double sum = 0;
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = i + 1; j < n; ++j) {
            const double apart = distance(a + 3 * i, a + 3 * j) - distance(b + 3 * i, b + 3 * j);
            sum += apart * apart;
        }
    const double want = sqrt(sum / (0.5 * n * (n - 1)));
    atomicAdd(&sums[0], 1ull);
    if (!(fabs(m.out[at] - want) <= 1e-5 * want)) atomicAdd(&sums[1], 1ull);
}

// What a run finds, on every GPU.
typedef struct run {
    tmap_u64 hash, places, wrong;
    double seconds;
} run;

static run compare(tmap_nccl gpus, tmap_drmsd_plan plan, const float *frames) {
    const tmap_drmsd_in in = {frames, 0, 0};
    matrix m = {plan, {0, 0}, gpus.rank, gpus.ranks, frames, 0};
    void *workspace;
    double begin = 0;
    if (tmap_drmsd_matrix_plan_part(&m.plan, gpus.rank, gpus.ranks, &m.bytes))
        gpus_fail("plan", "too few frames, or too many atoms, to share them");
    const tmap_u64 all = tmap_condensed_cells(plan.frames) * sizeof(float);
    CHECK_GPU(tmap_share_memory_create(all, &m.bytes, 1, (void **)&m.out));
    CHECK_GPU(cudaMalloc(&workspace, plan.workspace));
    for (int turn = 0; turn < 2; ++turn) { // the first launch loads the kernels
        begin = gpus_begin(gpus);
        if (m.bytes.count) CHECK_GPU(tmap_drmsd_matrix(&m.plan, in, workspace, m.out, 0));
    }
    run result;
    tmap_u64 *sums;
    result.seconds = gpus_seconds_since(gpus, begin);
    CHECK_GPU(cudaFree(workspace));
    CHECK_GPU(cudaMalloc((void **)&sums, 3 * sizeof *sums));
    CHECK_GPU(cudaMemset(sums, 0, 3 * sizeof *sums));
    const unsigned blocks = m.bytes.count > 1ull << 24 ? 4096 : 64;
    describe<<<blocks, 256>>>(m, sums);
    check_places<<<(CHECKS + 255) / 256, 256>>>(m, sums + 1);
    CHECK_GPU(cudaGetLastError());
    gpus_sum(gpus, sums, 3, &result.hash);
    CHECK_GPU(cudaFree(sums));
    CHECK_GPU(tmap_share_memory_destroy(all, &m.bytes, 1, m.out));
    return result;
}

static int sample(tmap_nccl gpus, int argc, char **argv) {
    const tmap_nccl alone = {gpus.comm, 0, 1};
    const long frames = argc > 1 ? atol(argv[1]) : 1300;
    const int atoms = argc > 2 ? atoi(argv[2]) : 10;
    if (frames < 2 || frames > 2000000)
        gpus_fail("arguments", "the number of frames is 2 to 2000000");
    if (atoms < 2 || atoms > 360) gpus_fail("arguments", "the number of atoms is 2 to 360");
    const long work[] = {frames, atoms};
    gpus_same(gpus, work, sizeof work);

    const tmap_drmsd_shape shape = {(tmap_u32)atoms, (tmap_u64)frames, TMAP_DRMSD_EXACT, 0, 0};
    tmap_drmsd_plan plan;
    float *xyz;
    CHECK_GPU(tmap_drmsd_matrix_plan_make(shape, &plan));
    CHECK_GPU(cudaMalloc((void **)&xyz, (size_t)frames * (size_t)atoms * 3 * sizeof(float)));
    make_frames<<<256, 256>>>(xyz, (tmap_u64)frames, (tmap_u32)atoms);
    CHECK_GPU(cudaGetLastError());

    const tmap_u64 bytes = tmap_condensed_cells((tmap_u64)frames) * sizeof(float);
    const run all = compare(gpus, plan, xyz);
    tmap_u64 wrong = all.wrong + (all.places != CHECKS);
    double one_seconds = 0;
    if (gpus.ranks > 1 && gpus_fits(bytes + plan.workspace)) {
        const run one = compare(alone, plan, xyz);
        wrong += one.wrong + (one.hash != all.hash);
        one_seconds = one.seconds;
    }
    if (gpus.rank == 0) {
        printf("%ld frames of %d atoms, %.3f GB, hash %016llx, %llu random places\n", frames, atoms,
               (double)bytes * 1e-9, all.hash, all.places);
        gpus_print_times(gpus, all.seconds, one_seconds);
        check_result(one_seconds > 0 ? "the matrix as on one GPU" : "the matrix", wrong);
    }
    CHECK_GPU(cudaFree(xyz));
    return wrong != 0;
}

int main(int argc, char **argv) { return gpus_main(argc, argv, sample); }
