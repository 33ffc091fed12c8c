// SPDX-License-Identifier: MIT
// 23_ising.cu: the Ising model on the carpet, by the ready kernels of fractal/ising.h: spins +1 and
// -1 of the energy -(sum of s_i s_j over cells that touch at a side). A spin turns with the chance
// min(1, exp(-change of the energy / T)). Cold spins stay in order; about T = 1.5 that is lost.
// nvcc -O3 -arch=native -I include samples/fractal/23_ising.cu -o ising
#include <threadmap/fractal.h>
#include <threadmap/fractal/ising.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { R = 3, CELLS = 512, SWEEPS = 300, SKIPPED = 100, SEED = 2026 };
int main(void) {
    static signed char want[CELLS], got[CELLS];
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_ising_plan plan;
    tmap_ising_sums *sums, s;
    signed char *spins;
    void *blocks;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&spins, 2 * CELLS));
    CHECK(cudaMalloc((void **)&sums, sizeof s));
    puts("   T   energy  magnetisation");
    for (double T = 0.6; T < 2.9; T += 0.2) {
        const tmap_ising_chances chances = tmap_ising_chances_at(T); // for the host
        double spin = 0, bonds = 0;
        CHECK(cudaMemcpy(spins, memset(want, 1, CELLS), CELLS, cudaMemcpyHostToDevice));
        // [snippet: ising]
        CHECK(tmap_ising_plan_make(f, R, TMAP_COMPACT, &plan)); // once
        CHECK(cudaMalloc(&blocks, tmap_ising_measure_bytes(&plan)));
        CHECK(cudaMemset(blocks, 0, 16)); // once; every launch leaves it so
        for (tmap_u64 t = 0; t < SWEEPS; ++t) {
            CHECK(tmap_ising(&plan, T, SEED, t, spins, spins + CELLS, 0));
            if (t < SKIPPED) continue; // not yet in balance
            CHECK(tmap_ising_measure(&plan, spins, spins + CELLS, sums, blocks, 0));
            CHECK(cudaMemcpy(&s, sums, sizeof s, cudaMemcpyDeviceToHost));
            spin += fabs((double)s.spins), bonds += (double)s.bonds;
        }
        // [/snippet]
        CHECK(cudaMemcpy(got, spins, CELLS, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(blocks));
        for (tmap_u64 i = 0; i < 2 * SWEEPS * CELLS; ++i) { // the same on the host
            const tmap_u64 cell = i % CELLS, half = i / CELLS;
            const tmap_xy64 c = tmap_compact_cell(f, cell, R);
            int sum = 0;
            if ((c.x + c.y + half) % 2) continue;
            for (tmap_u64 n = 1; n < 9; n += 2) {
                const tmap_u64 j = tmap_compact_index(f, c.x + n % 3 - 1, c.y + n / 3 - 1, R);
                if (j < CELLS) sum += want[j];
            }
            if (tmap_ising_turns(chances, want[cell] * sum, cell, half / 2, SEED))
                want[cell] = (signed char)-want[cell];
        }
        wrong += memcmp(got, want, CELLS) != 0;
        spin /= CELLS * (SWEEPS - SKIPPED), bonds /= CELLS * (SWEEPS - SKIPPED);
        printf("%4.1f %8.4f %8.4f %.*s\n", T, -bonds, spin, (int)(18 * spin), "##################");
    }
    printf("spins of all temperatures: %s\n", wrong ? "WRONG" : "ok");
    return cudaFree(spins) || cudaFree(sums) || wrong;
}
