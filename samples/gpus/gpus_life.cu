// SPDX-License-Identifier: MIT
// gpus_life.cu: Life on a gasket that several GPUs hold together (fractal/halo.h), in compact
// storage with one bit per cell.
//
// Each GPU has a run of tiles and the few tiles of others that lie beside them. Before each step it
// sends the tiles that others read, and receives those that it reads; then it steps its own.
// nvcc -ccbin mpicxx -O3 -arch=native -I include samples/gpus/gpus_life.cu -lcuda -lnccl -o gpus_life
// mpirun -n 4 gpus_life 22 20 (the level, and the number of steps; or gpus_life --threads 4 22 20)
#include "gpus.h"

#include <threadmap/fractal.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/halo.h>

// The words of a state that this GPU holds.
typedef struct part {
    tmap_nbb f;
    tmap_u32 r;
    tmap_u64 words, first, count; // of the complete state; of this GPU's tiles
    tmap_compact_word word;
} part;

// Word i of a state with words of any size.
TMAP_DEVICE tmap_u64 word_at(part p, const void *state, tmap_u64 i) {
    if (p.word.bytes == 2) return ((const unsigned short *)state)[i];
    if (p.word.bytes == 4) return ((const tmap_u32 *)state)[i];
    return ((const tmap_u64 *)state)[i];
}

// One cell in four lives.
__global__ void begin(part p, void *state) {
    const tmap_u64 stride = (tmap_u64)gridDim.x * blockDim.x;
    for (tmap_u64 k = (tmap_u64)blockIdx.x * blockDim.x + threadIdx.x; k < p.count; k += stride) {
        const tmap_u64 i = p.first + k;
        const tmap_u64 word =
            tmap_philox_u64(i, 0, 48) & tmap_philox_u64(i, 1, 48) & (~0ull >> (64 - p.word.cells));
        if (p.word.bytes == 2) ((unsigned short *)state)[i] = (unsigned short)word;
        if (p.word.bytes == 4) ((tmap_u32 *)state)[i] = (tmap_u32)word;
        if (p.word.bytes == 8) ((tmap_u64 *)state)[i] = word;
    }
}

// Adds the number of living cells and a hash of all words, which do not depend on any order.
__global__ void describe(part p, const void *state, tmap_u64 *sums) {
    const tmap_u64 stride = (tmap_u64)gridDim.x * blockDim.x;
    tmap_u64 living = 0, hash = 0;
    for (tmap_u64 k = (tmap_u64)blockIdx.x * blockDim.x + threadIdx.x; k < p.count; k += stride) {
        const tmap_u64 i = p.first + k;
        const tmap_u64 word = word_at(p, state, i);
        living += (tmap_u64)__popcll(word);
        hash += (word * 0x9e3779b97f4a7c15ull ^ i) * 0xbf58476d1ce4e5b9ull;
    }
    atomicAdd(&sums[0], living);
    atomicAdd(&sums[1], hash);
}

// 1 if cell (x, y) of a state lives; places that are no cells do not.
TMAP_DEVICE tmap_u32 lives(part p, const void *state, tmap_u64 x, tmap_u64 y) {
    const tmap_u64 cell = tmap_compact_index(p.f, x, y, p.r);
    tmap_u64 word;
    tmap_u32 bit;
    if (cell == ~0ull) return 0;
    tmap_compact_bit(p.f, p.r, cell, &word, &bit);
    return (tmap_u32)(word_at(p, state, word) >> bit) & 1;
}

// Counts the random cells of this GPU whose state after a step is not the one that their
// neighbours, found by membership and nu, say.
__global__ void check_cells(part p, const void *before, const void *after, tmap_u64 *wrong) {
    const tmap_u32 number = blockIdx.x * blockDim.x + threadIdx.x;
    if (!p.count) return;
    const tmap_u64 word = p.first + tmap_philox_u64(number, 2, 48) % p.count;
    const tmap_u64 bit = tmap_philox_u64(number, 3, 48) % p.word.cells;
    const tmap_xy64 at = tmap_compact_cell(p.f, bit * p.words + word, p.r);
    tmap_u32 around = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx || dy) around += lives(p, before, at.x + (tmap_u64)dx, at.y + (tmap_u64)dy);
    const tmap_u32 now = lives(p, before, at.x, at.y);
    const tmap_u32 next = around == 3 || (around == 2 && now);
    if (next != lives(p, after, at.x, at.y)) atomicAdd(wrong, 1ull);
}

// What a run finds, on every GPU.
typedef struct run {
    tmap_u64 living, hash, wrong;
    tmap_u64 received; // tiles of others that this GPU reads
    double seconds;    // of a step
} run;

// [snippet: gpus-life]
// A step from state a to state b.
static void step(const tmap_nccl *gpus, const tmap_halo *halo, const tmap_each_plan *plan, void *a,
                 void *b) {
    const tmap_share_exchange tiles = tmap_halo_exchange(halo);
    CHECK_GPU(tmap_halo_pack(halo, a, 0));
    CHECK_NCCL(tmap_nccl_exchange(gpus, &tiles, 0));
    CHECK_GPU(tmap_halo_unpack(halo, a, 0));
    CHECK_GPU(tmap_compact_life(plan, tmap_ca_life(), a, b, 0));
}

static run life(const tmap_nccl *gpus, tmap_u32 r, int steps) {
    const tmap_nbb f = tmap_fractal_gasket();
    tmap_each_plan plan;
    tmap_halo halo;
    void *state[2];
    CHECK_GPU(tmap_compact_life_plan_make(f, r, &plan));
    CHECK_GPU(tmap_halo_make(&plan, plan.word.bytes, gpus->rank, gpus->ranks, &halo));
    for (int i = 0; i < 2; ++i) CHECK_GPU(tmap_halo_state_create(&halo, &state[i]));
    // [/snippet]

    const tmap_u64 cells = tmap_nbb_cells(f, plan.tile_level); // words of a tile
    const part p = {
        f, r, tmap_compact_words(f, r), halo.own.first * cells, halo.own.count * cells, plan.word};
    tmap_u64 *sums;
    run result;
    CHECK_GPU(cudaMalloc((void **)&sums, 3 * sizeof *sums));
    CHECK_GPU(cudaMemset(sums, 0, 3 * sizeof *sums));
    begin<<<4096, 256>>>(p, state[0]);
    CHECK_GPU(cudaGetLastError());

    double start = gpus_begin(*gpus);
    for (int t = 0; t < steps; ++t) {
        if (t == 1) start = gpus_begin(*gpus); // NCCL has connected the GPUs in the first step
        step(gpus, &halo, &plan, state[t % 2], state[(t + 1) % 2]);
        if (t % 256 == 255) gpus_wait(*gpus); // shows the time limit that there is progress
    }
    result.seconds = gpus_seconds_since(*gpus, start) / (steps - 1);
    result.received = halo.in_first[halo.ranks];

    describe<<<4096, 256>>>(p, state[steps % 2], sums);
    check_cells<<<64, 128>>>(p, state[(steps - 1) % 2], state[steps % 2], sums + 2);
    CHECK_GPU(cudaGetLastError());
    gpus_sum(*gpus, sums, 3, &result.living);
    for (int i = 0; i < 2; ++i) CHECK_GPU(tmap_halo_state_destroy(&halo, state[i]));
    CHECK_GPU(cudaFree(sums));
    tmap_halo_destroy(&halo);
    return result;
}

static int sample(tmap_nccl gpus, int argc, char **argv) {
    const tmap_nccl alone = {gpus.comm, 0, 1};
    const tmap_nbb f = tmap_fractal_gasket();
    const int level = argc > 1 ? atoi(argv[1]) : 10;
    const int steps = argc > 2 ? atoi(argv[2]) : 12;
    if (level < 0 || level > 28) gpus_fail("arguments", "the level is 0 to 28");
    if (steps < 2 || steps > 1000000) gpus_fail("arguments", "the number of steps is 2 to 1000000");
    const int work[] = {level, steps};
    gpus_same(gpus, work, sizeof work);

    const run all = life(&gpus, (tmap_u32)level, steps);
    tmap_u64 wrong = all.wrong;
    double one_seconds = 0;
    if (gpus.ranks > 1 && level <= 22) { // as much as one GPU holds
        const run one = life(&alone, (tmap_u32)level, steps);
        wrong += one.living != all.living || one.hash != all.hash || one.wrong;
        one_seconds = one.seconds;
    }
    if (gpus.rank == 0) {
        const double cells = (double)tmap_nbb_cells(f, (tmap_u32)level);
        printf("level %d, %d steps: %llu cells live, hash %016llx\n", level, steps, all.living,
               all.hash);
        gpus_print_times(gpus, all.seconds, one_seconds);
        printf("that is a step: %.2f Tcell/s, a halo of %llu tiles\n", cells / all.seconds * 1e-12,
               all.received);
        check_result(one_seconds > 0
                         ? "all cells as on one GPU, and random ones by their neighbours"
                         : "random cells by their neighbours",
                     wrong);
    }
    return wrong != 0;
}

int main(int argc, char **argv) { return gpus_main(argc, argv, sample); }
