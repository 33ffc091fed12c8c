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

// The same sweeps on the host: the cells with x + y even, then the odd ones, again and again.
static void sweep_on_host(tmap_nbb f, double T, signed char *spins) {
    const tmap_ising_chances chances = tmap_ising_chances_at(T);
    for (tmap_u64 half = 0; half < 2 * SWEEPS; ++half)
        for (tmap_u64 cell = 0; cell < CELLS; ++cell) {
            const tmap_xy64 c = tmap_compact_cell(f, cell, R);
            int sum = 0;
            if ((c.x + c.y + half) % 2) continue;
            for (tmap_u64 n = 1; n < 9; n += 2) { // north, west, east, south
                const tmap_u64 near = tmap_compact_index(f, c.x + n % 3 - 1, c.y + n / 3 - 1, R);
                if (near < CELLS) sum += spins[near];
            }
            if (tmap_ising_turns(chances, spins[cell] * sum, cell, half / 2, SEED))
                spins[cell] = (signed char)-spins[cell];
        }
}

int main(void) {
    static signed char want[CELLS], got[CELLS];
    const tmap_nbb f = tmap_fractal_carpet();
    tmap_ising_plan plan;
    tmap_ising_sums s;
    tmap_fold_to to; // the sums, in device memory
    signed char *spins, *other;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMalloc((void **)&spins, CELLS));
    CHECK(cudaMalloc((void **)&other, CELLS));
    CHECK(cudaMalloc(&to.result, sizeof s));
    CHECK(tmap_ising_plan_make(f, R, TMAP_COMPACT, &plan)); // once
    CHECK(cudaMalloc(&to.workspace, tmap_ising_measure_bytes(&plan)));
    CHECK(cudaMemset(to.workspace, 0, tmap_ising_measure_bytes(&plan))); // once

    puts("   T   energy  magnetisation");
    for (double T = 0.6; T < 2.9; T += 0.2) {
        double spin = 0, bonds = 0;
        memset(want, 1, CELLS);
        CHECK(cudaMemcpy(spins, want, CELLS, cudaMemcpyHostToDevice));
        // [snippet: ising]
        for (tmap_u64 t = 0; t < SWEEPS; ++t) {
            const tmap_ising_sweep sweep = {T, SEED, t};
            CHECK(tmap_ising(&plan, sweep, spins, other, 0));
            if (t < SKIPPED) continue; // not yet in balance
            CHECK(tmap_ising_measure(&plan, spins, other, to, 0));
            CHECK(cudaMemcpy(&s, to.result, sizeof s, cudaMemcpyDeviceToHost));
            spin += fabs((double)s.spins), bonds += (double)s.bonds;
        }
        // [/snippet]
        CHECK(cudaMemcpy(got, spins, CELLS, cudaMemcpyDeviceToHost));
        sweep_on_host(f, T, want);
        wrong += memcmp(got, want, CELLS) != 0;
        spin /= CELLS * (SWEEPS - SKIPPED), bonds /= CELLS * (SWEEPS - SKIPPED);
        printf("%4.1f %8.4f %8.4f %.*s\n", T, -bonds, spin, (int)(18 * spin), "##################");
    }
    printf("spins of all temperatures: %s\n", wrong ? "WRONG" : "ok");
    CHECK(cudaFree(spins));
    CHECK(cudaFree(other));
    return cudaFree(to.workspace) || cudaFree(to.result) || wrong;
}
