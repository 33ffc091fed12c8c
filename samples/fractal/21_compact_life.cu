// SPDX-License-Identifier: MIT
// 21_compact_life.cu: Life on a gasket of level 20, whose matrix no GPU can hold (2^40 places), in
// one bit for each of its 3486784401 cells; its corner, and its density as a picture, life.pgm.
// nvcc -O3 -arch=native -I include samples/fractal/21_compact_life.cu -o compact_life
#include <stdio.h>
#include <threadmap/fractal.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/compact_move.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { STEPS = 8, SIDE = 48, PIXELS = 256 };

// Word i of the state to start from: 27 cells, at random.
TMAP_FN tmap_u32 first(tmap_u64 i) { return i * i * 0x9e3779b97f4a7c15ull >> 31 & 0x7ffffff; }

__global__ void begin(tmap_u64 words, tmap_u32 *state) {
    const tmap_u64 threads = (tmap_u64)gridDim.x * blockDim.x;
    tmap_u64 i = (tmap_u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < words; i += threads) state[i] = first(i);
}

int main(void) {
    static unsigned char want[2][SIDE * SIDE];
    const tmap_nbb f = tmap_fractal_gasket();
    int devices, processors, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    const tmap_u32 r = processors > 3 ? 20 : 11; // the CPU machine has 3

    // [snippet: compact-life]
    const tmap_u64 words = tmap_compact_words(f, r), bytes = tmap_compact_words_bytes(f, r);
    tmap_compact_window whole, part; // of 256 x 256 pixels, and a corner, a pixel for each place
    tmap_each_plan plan;
    tmap_u32 *state[2];
    float *density, *corner;
    for (int i = 0; i < 2; ++i) CHECK(cudaMalloc((void **)&state[i], bytes));
    CHECK(cudaMallocManaged((void **)&density, PIXELS * PIXELS * sizeof *density));
    CHECK(cudaMallocManaged((void **)&corner, SIDE * SIDE * sizeof *corner));
    begin<<<512, 256>>>(words, state[0]);

    CHECK(tmap_compact_life_plan_make(f, r, &plan)); // once
    for (int t = 0; t < STEPS; ++t)
        CHECK(tmap_compact_life(&plan, tmap_ca_life(), state[t % 2], state[(t + 1) % 2], 0));

    CHECK(tmap_compact_window_make(f, r, r - 8, TMAP_COMPACT_WINDOW_WORDS, &whole));
    CHECK(tmap_compact_window_make(f, r, 0, TMAP_COMPACT_WINDOW_WORDS, &part));
    part.width = part.height = SIDE, part.y = (1u << r) - SIDE; // below on the left
    CHECK(tmap_compact_window_mean(&whole, state[STEPS % 2], density, 0));
    CHECK(tmap_compact_window_mean(&part, state[STEPS % 2], corner, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    // The corner on the host, which is right but for what has come in over its inner borders.
    for (tmap_u32 t = 0; t <= STEPS; ++t)
        for (tmap_u32 i = 0; i < SIDE * SIDE; ++i) {
            const tmap_u32 x = i % SIDE, y = i / SIDE;
            const tmap_u64 cell = tmap_compact_index(f, x, part.y + y, r);
            int now;
            if (cell == ~0ull) continue; // no cell
            if (t == 0)
                now = first(cell % words) >> cell / words & 1;
            else
                now = tmap_ca_cell(want[(t + 1) % 2], SIDE, SIDE, x, y, tmap_ca_life());
            want[t % 2][i] = (unsigned char)now;
            wrong += t == STEPS && x < SIDE - STEPS && y >= STEPS && corner[i] != now;
        }
    for (int i = 0; i < SIDE * SIDE; ++i)
        printf(i % SIDE < SIDE - 1 ? "%c" : "%c\n", isnan(corner[i]) ? ' ' : ".#"[corner[i] > 0]);

    FILE *file = fopen("life.pgm", "wb");
    if (!file || fprintf(file, "P5\n%d %d\n255\n", PIXELS, PIXELS) < 0) return 1;
    for (int i = 0; i < PIXELS * PIXELS; ++i) // white: no cell; black: all of them live
        fputc(isnan(density[i]) ? 255 : (int)(200 * (1 - density[i])), file);
    wrong += ferror(file) | fclose(file);
    printf("%llu cells, %llu bytes: %s\n", tmap_nbb_cells(f, r), bytes, wrong ? "WRONG" : "ok");
    return cudaFree(state[0]) || cudaFree(state[1]) || cudaFree(density) || cudaFree(corner) ||
           wrong;
}
