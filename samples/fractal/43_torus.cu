// SPDX-License-Identifier: MIT
// 43_torus.cu: a full board whose edges meet: a glider of the Game of Life leaves at one edge and
// comes back at the other, by the ready kernel of fractal/board_ca.h; and its trail, by a rule of
// your own on the same board. Draws both.
//
//     trail(t + 1) = 255 where a cell lives, else trail(t) - 1, down to 0
// nvcc -O3 -arch=native -I include samples/fractal/43_torus.cu -o torus
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal/board_ca.h>

enum { WIDE = 37, HIGH = 23, CELLS = WIDE * HIGH, STEPS = 4 * 41 }; // any sides

typedef struct trail {
    const unsigned char *in;
    unsigned char *out;
    const unsigned char *living;
} trail;

static __device__ void fade(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                            void *next) {
    const unsigned char before = ((const unsigned char *)nine)[TMAP_HERE];
    const int lives = ((const trail *)job)->living[cell.at];
    (void)around; // a bit for each of the nine places: all of them, on a torus
    *(unsigned char *)next = (unsigned char)(lives ? 255 : before - (before > 0));
}

__global__ void __launch_bounds__(512, 2) fade_board(tmap_board_plan plan, trail t) {
    const tmap_array in = {t.in, sizeof *t.in};
    tmap_board_stencil(&plan, in, fade, t.out, &t);
}

static void draw(const unsigned char *trails) {
    picture p = picture_make(WIDE, HIGH, 14, "A glider on a torus, and where it has been");
    for (unsigned i = 0; i < CELLS; ++i) {
        const unsigned grey = trails[i] ? 60 + (255u - trails[i]) : 246;
        picture_set(&p, i % WIDE, i / WIDE, trails[i] == 255 ? 0xc43820 : grey * 0x010101);
    }
    picture_key(&p, 0xc43820, "lives");
    picture_key(&p, 0x3c3c3c, "lived just now");
    picture_key(&p, 0xe0e0e0, "lived long ago");
    picture_save(&p, "torus");
}

int main(void) {
    static const int glider[5] = {1, WIDE + 2, 2 * WIDE, 2 * WIDE + 1, 2 * WIDE + 2};
    static unsigned char life[CELLS], trails[CELLS], state[2][CELLS], trail_of[CELLS];
    unsigned char *cells[2], *fading[2];
    check_gpu();
    for (int i = 0; i < 5; ++i) state[0][glider[i]] = 1;
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMalloc((void **)&cells[i], CELLS));
        CHECK(cudaMalloc((void **)&fading[i], CELLS));
        CHECK(cudaMemset(fading[i], 0, CELLS));
    }
    CHECK(cudaMemcpy(cells[0], state[0], CELLS, cudaMemcpyHostToDevice));

    const tmap_board board = {WIDE, HIGH, 0, TMAP_BOARD_PERIODIC_X | TMAP_BOARD_PERIODIC_Y};
    tmap_board_ca_plan of_life;
    tmap_board_plan of_trail;
    CHECK(tmap_board_ca_plan_make(&board, sizeof *cells[0], &of_life));
    CHECK(tmap_board_plan_make(&board, (const void *)fade_board, &of_trail));
    for (int t = 0; t < STEPS; ++t) {
        const trail job = {fading[t % 2], fading[1 - t % 2], cells[1 - t % 2]};
        CHECK(tmap_board_ca(&of_life, tmap_ca_life(), cells[t % 2], cells[1 - t % 2], 0));
        CHECK(tmap_board_launch(&of_trail, &job, 0));
    }
    CHECK(cudaMemcpy(life, cells[STEPS % 2], CELLS, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(trails, fading[STEPS % 2], CELLS, cudaMemcpyDeviceToHost));

    for (int t = 0; t < STEPS; ++t) {
        int all = 0, last = 0;
        for (int i = 0; i < CELLS; ++i) {
            int living = 0;
            for (int k = 0; k < 9; ++k) {
                const int x = (i % WIDE + k % 3 - 1 + WIDE) % WIDE;
                const int y = (i / WIDE + k / 3 - 1 + HIGH) % HIGH;
                living += k != 4 && state[t % 2][y * WIDE + x];
            }
            const int lives = living == 3 || (living == 2 && state[t % 2][i]);
            state[1 - t % 2][i] = (unsigned char)lives;
            trail_of[i] = (unsigned char)(lives ? 255 : trail_of[i] - (trail_of[i] > 0));
            if (lives) ++all, last = i;
        }
        if (t % 20 == 19)
            printf("step %3d: %d cells live, the last one in column %2d of row %2d\n", t + 1, all,
                   last % WIDE, last / WIDE);
    }
    unsigned long long wrong = 0;
    for (int i = 0; i < CELLS; ++i)
        wrong += (life[i] != state[STEPS % 2][i]) + (trails[i] != trail_of[i]);
    if (!wrong) draw(trails);
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaFree(cells[i]));
        CHECK(cudaFree(fading[i]));
    }
    return check_result("a glider after 164 steps", wrong);
}
