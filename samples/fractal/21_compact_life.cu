// SPDX-License-Identifier: MIT
// 21_compact_life.cu: Life on a gasket of level 20, whose matrix (2^40 places) fits no GPU, in
// compact storage: one bit for each of the 3486784401 cells.
//
// At first half of the cells at the left edge live; the share falls to 0 at the right edge. The
// picture shows the share of living cells in the gasket, and each cell of its lower left corner.
// nvcc -O3 -arch=native -I include samples/fractal/21_compact_life.cu -o compact_life
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/compact_move.h>

enum {
    STEPS = 8,
    CELLS = 27, // in a word
    SIDE = 64,  // of both pictures: the share of living cells, and the corner
    GAP = 4,    // between them
    LIVING = 0xc43820,
    DEAD = 0xbed6e6,
    NO_CELL = 0xdcdcdc
};

// 1 if a cell lives at first, with probability 1/2 * (1 - x / 2^r).
TMAP_FN int lives_at_first(tmap_nbb f, tmap_u32 r, tmap_u64 cell) {
    const tmap_u64 x = tmap_compact_cell(f, cell, r).x;
    const tmap_u64 random = tmap_philox_u64(cell, 0, 2026) >> (63 - r); // below 2^(r+1)
    return random < (1ull << r) - x;
}

// Word i holds the cells i, words + i, 2 * words + i, ...
__global__ void begin(tmap_nbb f, tmap_u32 r, tmap_u64 words, tmap_u32 *state) {
    const tmap_u64 i = (tmap_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    tmap_u32 word = 0;
    for (tmap_u32 b = 0; b < CELLS; ++b) word |= (tmap_u32)lives_at_first(f, r, b * words + i) << b;
    state[i] = word;
}

// Makes the steps on the host, in the corner only. Skips cells that cells outside it may change.
static int check_corner(tmap_compact_window part, const float *corner) {
    static unsigned char states[STEPS + 1][SIDE * SIDE]; // places that are no cells hold 0
    int wrong = 0;
    for (tmap_u32 t = 0; t <= STEPS; ++t)
        for (tmap_u32 i = 0; i < SIDE * SIDE; ++i) {
            const tmap_u32 x = i % SIDE;
            const tmap_u32 y = i / SIDE;
            const tmap_u64 cell = tmap_compact_index(part.f, x, part.y + y, part.r);
            if (cell == ~0ull) continue; // no cell
            const int now = t ? tmap_ca_cell(states[t - 1], SIDE, SIDE, x, y, tmap_ca_life())
                              : lives_at_first(part.f, part.r, cell);
            states[t][i] = (unsigned char)now;
            if (t == STEPS && x < SIDE - STEPS && y >= STEPS) wrong += corner[i] != now;
        }
    return wrong;
}

// Pixels without a cell are NaN.
static void draw(const float *share, const float *corner) {
    const float most = 0.3f; // the end of the scale
    picture p = picture_make(
        SIDE + GAP + SIDE, SIDE, 8,
        "Share of living cells after 8 steps (grey: no cell), and the lower left corner");
    for (unsigned i = 0; i < SIDE * SIDE; ++i) {
        const unsigned x = i % SIDE;
        const unsigned y = i / SIDE;
        picture_set(&p, x, y, isnan(share[i]) ? (unsigned)NO_CELL : canvas_shade(share[i] / most));
        if (!isnan(corner[i])) picture_set(&p, SIDE + GAP + x, y, corner[i] > 0 ? LIVING : DEAD);
    }
    canvas_key(&p.all, p.all.wide - 120, 40, LIVING, "living"); // where the corner has no cells
    canvas_key(&p.all, p.all.wide - 120, 60, DEAD, "dead");
    picture_scale(&p, 0, most);
    picture_save(&p, "compact_life");
}

int main(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    check_gpu();
    int processors;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    const tmap_u32 r = processors > 3 ? 20 : 11; // the CPU machine has 3

    // [snippet: compact-life]
    const tmap_u64 words = tmap_compact_words(f, r);
    tmap_u32 *state[2];
    for (int i = 0; i < 2; ++i)
        CHECK(cudaMalloc((void **)&state[i], tmap_compact_words_bytes(f, r)));
    begin<<<(unsigned)(words + 255) / 256, 256>>>(f, r, words, state[0]);

    tmap_each_plan plan;
    CHECK(tmap_compact_life_plan_make(f, r, &plan)); // once
    for (int t = 0; t < STEPS; ++t)
        CHECK(tmap_compact_life(&plan, tmap_ca_life(), state[t % 2], state[(t + 1) % 2], 0));
    // [/snippet]

    float *share;
    float *corner;
    CHECK(cudaMallocManaged((void **)&share, SIDE * SIDE * sizeof(float)));
    CHECK(cudaMallocManaged((void **)&corner, SIDE * SIDE * sizeof(float)));
    // [snippet: compact-window]
    tmap_compact_window whole; // 64 x 64 pixels
    tmap_compact_window part;  // the lower left corner, a pixel for each place
    if (tmap_compact_window_make(f, r, r - 6, TMAP_COMPACT_WINDOW_WORDS, &whole)) return 1;
    if (tmap_compact_window_make(f, r, 0, TMAP_COMPACT_WINDOW_WORDS, &part)) return 1;
    part.width = part.height = SIDE;
    part.y = (1u << r) - SIDE;
    CHECK(tmap_compact_window_mean(&whole, state[STEPS % 2], share, 0));
    CHECK(tmap_compact_window_mean(&part, state[STEPS % 2], corner, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    printf("level %u: %llu cells in %llu words\n", r, tmap_nbb_cells(f, r), words);
    for (int x = 0; x < SIDE; x += SIDE / 4)
        printf("lowest row, pixel %2d: %.4f live\n", x, share[(SIDE - 1) * SIDE + x]);
    const int wrong = check_corner(part, corner);
    draw(share, corner);
    for (int i = 0; i < 2; ++i) CHECK(cudaFree(state[i]));
    CHECK(cudaFree(share));
    CHECK(cudaFree(corner));
    return check_result("the corner after 8 steps", wrong);
}
