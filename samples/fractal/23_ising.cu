// SPDX-License-Identifier: MIT
// 23_ising.cu: the Ising model on the carpet, with the ready kernels of fractal/ising.h.
//
// Each cell i has a spin s_i, +1 or -1. The energy is -(sum of s_i s_j over pairs of cells that
// share a side). At temperature T, a sweep turns each spin with probability
//     min(1, exp(-(change of the energy) / T)).
// At low T nearly all spins are equal. Near T = 1.5 this order is lost.
// nvcc -O3 -arch=native -I include samples/fractal/23_ising.cu -o ising
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal.h>
#include <threadmap/fractal/ising.h>

enum {
    R = 4,        // level of the fractal
    SIDE = 81,    // of the matrix: 3^R
    CELLS = 4096, // 8^R
    TEMPERATURES = 6,
    SWEEPS = 200,  // at each temperature
    SKIPPED = 100, // sweeps before the first measurement
    SEED = 2026,
    FRAME = 84,    // elements from one frame of the picture to the next
    UP = 0xc43820, // colours
    DOWN = 0xbed6e6
};

static int spin_at(tmap_nbb f, const signed char *spins, tmap_u64 x, tmap_u64 y) {
    const tmap_u64 cell = tmap_compact_index(f, x, y, R);
    return cell < CELLS ? spins[cell] : 0; // 0: no cell
}

// The same sweeps on the host: first the cells with x + y even, then the odd ones.
static void sweep_on_host(tmap_nbb f, double T, signed char *spins) {
    const tmap_ising_chances chances = tmap_ising_chances_at(T);
    for (tmap_u64 half = 0; half < 2 * SWEEPS; ++half)
        for (tmap_u64 cell = 0; cell < CELLS; ++cell) {
            const tmap_xy64 c = tmap_compact_cell(f, cell, R);
            if ((c.x + c.y) % 2 != half % 2) continue;
            const int around = spin_at(f, spins, c.x, c.y - 1) + spin_at(f, spins, c.x - 1, c.y) +
                               spin_at(f, spins, c.x + 1, c.y) + spin_at(f, spins, c.x, c.y + 1);
            if (tmap_ising_turns(chances, spins[cell] * around, cell, half / 2, SEED))
                spins[cell] = (signed char)-spins[cell];
        }
}

static void draw(picture *frames, unsigned left, tmap_nbb f, const signed char *spins) {
    for (unsigned y = 0; y < SIDE; ++y)
        for (unsigned x = 0; x < SIDE; ++x) {
            const int spin = spin_at(f, spins, x, y);
            if (spin) picture_set(frames, left + x, y, spin > 0 ? UP : DOWN);
        }
}

int main(void) {
    static signed char want[CELLS];
    static signed char got[CELLS];
    const tmap_nbb f = tmap_fractal_carpet();
    check_gpu();

    tmap_ising_plan plan;
    CHECK(tmap_ising_plan_make(f, R, TMAP_COMPACT, &plan)); // once
    signed char *spins;
    signed char *other;
    CHECK(cudaMalloc((void **)&spins, CELLS));
    CHECK(cudaMalloc((void **)&other, CELLS));
    tmap_ising_sums s;
    tmap_fold_to to; // the result and workspace, in device memory
    CHECK(cudaMalloc(&to.result, sizeof s));
    CHECK(cudaMalloc(&to.workspace, tmap_ising_measure_bytes(&plan)));
    CHECK(cudaMemset(to.workspace, 0, tmap_ising_measure_bytes(&plan))); // once

    picture frames = picture_make(2 * FRAME + SIDE, SIDE, 4,
                                  "Spins on the carpet at the temperatures 1.2, 1.6, 2.8");
    unsigned frame = 0;
    int wrong = 0;
    puts("   T   energy  magnetisation");
    for (int i = 0; i < TEMPERATURES; ++i) {
        const double T = 0.8 + 0.4 * i;
        memset(want, 1, CELLS);
        CHECK(cudaMemcpy(spins, want, CELLS, cudaMemcpyHostToDevice));
        double spin = 0;
        double bonds = 0;
        for (tmap_u64 t = 0; t < SWEEPS; ++t) {
            const tmap_ising_sweep sweep = {T, SEED, t};
            CHECK(tmap_ising(&plan, sweep, spins, other, 0));
            if (t < SKIPPED) continue; // not yet in equilibrium

            CHECK(tmap_ising_measure(&plan, spins, to, 0));
            CHECK(cudaMemcpy(&s, to.result, sizeof s, cudaMemcpyDeviceToHost));
            spin += fabs((double)s.spins);
            bonds += (double)s.bonds;
        }
        const double measured = 1.0 * CELLS * (SWEEPS - SKIPPED);
        printf("%4.1f %8.4f %14.4f\n", T, -bonds / measured, spin / measured);

        CHECK(cudaMemcpy(got, spins, CELLS, cudaMemcpyDeviceToHost));
        sweep_on_host(f, T, want);
        for (int cell = 0; cell < CELLS; ++cell) wrong += got[cell] != want[cell];
        if (i == 1 || i == 2 || i == 5) draw(&frames, frame++ * FRAME, f, got); // as in the title
    }
    CHECK(cudaFree(spins));
    CHECK(cudaFree(other));
    CHECK(cudaFree(to.result));
    CHECK(cudaFree(to.workspace));
    picture_key(&frames, UP, "spin +1");
    picture_key(&frames, DOWN, "spin -1");
    picture_save(&frames, "ising");
    return check_result("spins at all temperatures", wrong);
}
