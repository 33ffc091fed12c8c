// SPDX-License-Identifier: MIT
// 04_life.cu: the Game of Life on a fractal, by the ready kernel of fractal/ca.h.
//
// The neighbours of a cell are those of the eight places around it that are cells, too. Its next
// state is (alive ? survive : born) >> (number of living neighbours) & 1.
// nvcc -O3 -arch=native -I include samples/fractal/04_life.cu -o life
#include <threadmap/fractal.h>
#include <threadmap/fractal/ca.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { R = 3, SIDE = 27, PLACES = SIDE * SIDE, FRAMES = 6, ABREAST = 3 };

int main(void) {
    static unsigned char frame[FRAMES][PLACES], *state[2];
    const tmap_nbb f = tmap_fractal_carpet();
    const tmap_ca_rule rule = tmap_ca_life(); // born with 3 neighbours, survives with 2 or 3
    tmap_ca_plan plan;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (tmap_u32 i = 0; i < PLACES; ++i) // half of the cells live, at random
        frame[0][i] = i * i * 2654435761u >> 31 && tmap_nbb_contains(f, i % SIDE, i / SIDE, R);
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMalloc((void **)&state[i], PLACES));
        CHECK(cudaMemset(state[i], 0, PLACES)); // places that are no cells hold 0
    }
    CHECK(cudaMemcpy(state[0], frame[0], PLACES, cudaMemcpyHostToDevice));
    // [snippet: life]
    CHECK(tmap_ca_plan_make(f, R, 0, sizeof *state[0], &plan)); // once
    for (int t = 1; t < FRAMES; ++t) {
        CHECK(tmap_ca(&plan, rule, state[(t - 1) % 2], state[t % 2], 0));
        CHECK(cudaMemcpy(frame[t], state[t % 2], PLACES, cudaMemcpyDeviceToHost));
    }
    // [/snippet]
    CHECK(cudaFree(state[0]));
    CHECK(cudaFree(state[1]));

    for (tmap_u32 t = 1; t < FRAMES; ++t)
        for (tmap_u32 i = 0; i < PLACES; ++i) { // the rule on the host
            int next = tmap_ca_cell(frame[t - 1], SIDE, SIDE, i % SIDE, i / SIDE, rule);
            wrong += frame[t][i] != (next && tmap_nbb_contains(f, i % SIDE, i / SIDE, R));
        }
    for (int row = 0; row < FRAMES / ABREAST * (SIDE + 1); ++row) {
        const tmap_u32 y = (tmap_u32)row % (SIDE + 1) - 1; // a title is above the rows of frames
        for (int i = 0; i < ABREAST; ++i) {
            const int t = row / (SIDE + 1) * ABREAST + i;
            if (row % (SIDE + 1) == 0) printf("step %-22d  ", t);
            for (tmap_u32 x = 0; row % (SIDE + 1) && x < SIDE; ++x)
                putchar(tmap_nbb_contains(f, x, y, R) ? ".#"[frame[t][y * SIDE + x]] : ' ');
            fputs(i + 1 == ABREAST ? "\n" : row % (SIDE + 1) ? "  " : "", stdout);
        }
    }
    printf("# alive, . dead, blank no cell; %d steps: %s\n", FRAMES - 1, wrong ? "WRONG" : "ok");
    return wrong != 0;
}
