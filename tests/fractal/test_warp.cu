// SPDX-License-Identifier: MIT
// test_warp: the warp and block functions of warp.h in blocks of many shapes, down to one thread,
// at every level that fits, against the plain maps and plain sums on the host.
#include "kit.h"
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>
#include <threadmap/fractal/warp.h>

// Makes a 64-bit value of a 32-bit one; a sum of them wraps, as it should.
#define WIDE 0x40000001ll

enum { MAPS = 6, MOST_THREADS = 1024 };

// What each thread got.
typedef struct answer {
    tmap_xy cell[MAPS]; // shuffle, redux, ballot, and the same of a prepared warp
    tmap_i64 warp_i32, warp_i64, block_i32, block_i64;
    tmap_u32 lanes, lane;
} answer;

static __global__ void __launch_bounds__(MOST_THREADS)
    ask(tmap_nbb f, tmap_u32 wx, tmap_u32 wy, tmap_u32 r, int full, const int *values,
        answer *out) {
    __shared__ tmap_i64 scratch[32];
    tmap_warp w = full ? tmap_warp_full() : tmap_warp_self();
    tmap_u32 rank = tmap_thread_rank();
    answer a;
    memset(&a, 0, sizeof a);
    const tmap_warp_level l = tmap_warp_level_make(w, f, r); // the same for all threads
    a.cell[0] = tmap_warp_lambda_shuffle(w, f, wx, wy, r);
    a.cell[1] = tmap_warp_lambda_redux(w, f, wx, wy, r);
    a.cell[2] = tmap_warp_lambda_ballot(w, f, wx, wy, r);
    a.cell[3] = tmap_warp_level_shuffle(&l, f, wx, wy);
    a.cell[4] = tmap_warp_level_redux(&l, f, wx, wy);
    a.cell[5] = tmap_warp_level_ballot(&l, f, wx, wy);
    a.warp_i32 = tmap_warp_sum_i32(w, values[rank]);
    a.warp_i64 = tmap_warp_sum_i64(w, (tmap_i64)values[rank] * WIDE);
    a.block_i32 = tmap_block_sum_i32(values[rank], scratch);
    __syncthreads();
    a.block_i64 = tmap_block_sum_i64((tmap_i64)values[rank] * WIDE, scratch);
    a.lanes = w.lanes;
    a.lane = w.lane;
    out[rank] = a;
}

static int *values_d, values[MOST_THREADS];
static answer *answers_d, answers[MOST_THREADS];

// The case of the checks that follow.
static void of_case(tmap_nbb f, tmap_u32 r, dim3 block, unsigned rank) {
    kit_case("k=%u s=%ux%u r=%u, block %ux%ux%u, thread %u", f.k, f.sx, f.sy, r, block.x, block.y,
             block.z, rank);
}

static tmap_u64 random_state = 1;
static tmap_u64 random_u64(void) { return kit_random(&random_state); }

static void run_case(tmap_nbb f, tmap_u32 r, dim3 block, int full) {
    tmap_xy64 box = tmap_nbb_orthotope(f, r), cell;
    tmap_u64 wx = random_u64() % box.x, wy = random_u64() % box.y;
    unsigned threads = block.x * block.y * block.z;
    tmap_i64 total = 0;
    if (random_u64() % 4 == 0) wx = box.x - 1, wy = box.y - 1; // the last cell
    for (unsigned i = 0; i < threads; ++i) {
        values[i] = random_u64() % 8 ? (int)random_u64() : (int)0x80000000;
        total += values[i];
    }
    CHECK(cudaMemcpy(values_d, values, threads * sizeof *values, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(answers_d, 0x5a, threads * sizeof *answers));
    ask<<<1, block>>>(f, (tmap_u32)wx, (tmap_u32)wy, r, full, values_d, answers_d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(answers, answers_d, threads * sizeof *answers, cudaMemcpyDeviceToHost));
    cell = tmap_nbb_lambda64(f, wx, wy, r);
    for (unsigned i = 0; i < threads; ++i) {
        const answer *a = &answers[i];
        unsigned first = i & ~31u, lanes = threads - first < 32 ? threads - first : 32;
        tmap_i64 sum = 0;
        for (unsigned j = 0; j < lanes; ++j) sum += values[first + j];
        of_case(f, r, block, i);
        expect(a->lanes == lanes && a->lane == i % 32, "warp");
        for (int m = 0; m < MAPS; ++m)
            expect(a->cell[m].x == cell.x && a->cell[m].y == cell.y, "lambda");
        expect(a->warp_i32 == sum, "warp_sum_i32");
        expect(a->warp_i64 == (tmap_i64)((tmap_u64)sum * WIDE), "warp_sum_i64");
        expect(a->block_i32 == (i ? 0 : total), "block_sum_i32");
        expect(a->block_i64 == (i ? 0 : (tmap_i64)((tmap_u64)total * WIDE)), "block_sum_i64");
    }
}

// No fractals: what a warp gets means nothing, but it gets it, and all of its lanes the same.
static void run_total(tmap_nbb f) {
    const dim3 blocks[] = {dim3(1), dim3(9, 9), dim3(32)};
    for (tmap_u32 r = 0; r <= 33; r += 11)
        for (unsigned b = 0; b < COUNT(blocks); ++b) {
            unsigned threads = blocks[b].x * blocks[b].y * blocks[b].z;
            CHECK(cudaMemset(values_d, 0, sizeof values));
            ask<<<1, blocks[b]>>>(f, 5, 7, r, threads % 32 == 0, values_d, answers_d);
            CHECK(cudaGetLastError());
            CHECK(
                cudaMemcpy(answers, answers_d, threads * sizeof *answers, cudaMemcpyDeviceToHost));
            for (unsigned i = 0; i < threads; ++i) {
                const answer *a = &answers[i], *first = &answers[i & ~31u];
                of_case(f, r, blocks[b], i);
                expect(memcmp(a->cell, first->cell, sizeof a->cell) == 0, "no fractal");
            }
        }
}

int main(void) {
    const dim3 blocks[] = {dim3(1),      dim3(2, 2),  dim3(4, 4),   dim3(5, 5),    dim3(9, 9),
                           dim3(32),     dim3(8, 8),  dim3(33),     dim3(3, 5, 7), dim3(16, 16),
                           dim3(27, 27), dim3(27, 8), dim3(32, 32), dim3(31)};
    const char *own[] = {"##\n##", "##", "#\n#", "#", ".#", "..\n.#", "################", "#.\n.#"};
    kit_begin();
    CHECK(cudaMalloc((void **)&values_d, sizeof values));
    CHECK(cudaMalloc((void **)&answers_d, sizeof answers));
    for (int i = 0; i < TMAP_FRACTAL_COUNT + (int)COUNT(own); ++i) {
        tmap_nbb f = tmap_fractal_at(i);
        if (i >= TMAP_FRACTAL_COUNT && tmap_nbb_from_rows(own[i - TMAP_FRACTAL_COUNT], &f))
            return 1;
        for (unsigned b = 0; b < COUNT(blocks); ++b) {
            unsigned threads = blocks[b].x * blocks[b].y * blocks[b].z;
            // Large blocks at a few levels only: the CPU machine takes their threads one by one. A
            // sanitizer takes long for each launch.
            tmap_u32 most = tmap_nbb_level_max32(f), step = threads > 40 || kit_tiny ? most / 2
                                                            : threads > 1            ? 3
                                                                                     : 1;
            if (step < 1) step = 1;
            for (tmap_u32 r = 0; r <= most; r += step) run_case(f, r, blocks[b], 0);
            run_case(f, most, blocks[b], 0);
            run_case(f, tmap_nbb_level_max32(f), blocks[b], threads % 32 == 0);
        }
    }
    run_total(tmap_nbb_make(0, 0, 0, 0, 0));
    run_total(tmap_nbb_make(0, 2, 2, 0x100, 0x110));
    run_total(tmap_nbb_make(3, 0, 0, 0x100, 0x110));
    return kit_end("test_warp");
}
