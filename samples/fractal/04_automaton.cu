// SPDX-License-Identifier: MIT
// 04_automaton.cu: cellular automaton (CA) on a fractal: the Game of Life on the Sierpinski carpet,
// with the ready kernel of fractal/ca.h.
//
// The neighbours of a cell are those of the eight places around it that are cells of the fractal.
// The next state of a cell is (alive ? survive : born) >> (number of living neighbours) & 1.
// nvcc -O3 -arch=native -I include samples/fractal/04_automaton.cu -o automaton
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal.h>
#include <threadmap/fractal/ca.h>

enum {
    R = 5,      // level of the fractal
    SIDE = 243, // of the matrix: 3^R
    PLACES = SIDE * SIDE,
    STEPS = 60,
    NEXT = SIDE + 6,   // elements from a state of the picture to the next
    LIVING = 0xc43820, // colours
    DEAD = 0xbed6e6
};
static const int drawn[4] = {0, 1, 10, 60};

// Half of the cells live at first, at random. Places that are no cells hold 0.
static void first_state(tmap_nbb f, unsigned char *state) {
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        const int random_bit = i * i * 2654435761u >> 31;
        state[i] = random_bit && tmap_nbb_contains(f, i % SIDE, i / SIDE, R);
    }
}

// Counts the places of state `after` that do not follow from state `before` by the rule.
static int check_step(tmap_nbb f, tmap_ca_rule rule, const unsigned char *before,
                      const unsigned char *after) {
    int wrong = 0;
    for (tmap_u32 y = 0; y < SIDE; ++y)
        for (tmap_u32 x = 0; x < SIDE; ++x) {
            const int cell = tmap_nbb_contains(f, x, y, R);
            const int next = cell && tmap_ca_cell(before, SIDE, SIDE, x, y, rule);
            wrong += after[y * SIDE + x] != next;
        }
    return wrong;
}

// Draws some of the states, two in a row.
static void draw(tmap_nbb f, unsigned char states[STEPS + 1][PLACES]) {
    picture p = picture_make(2 * NEXT, 2 * NEXT, 2,
                             "Life on the carpet of level 5, after 0, 1, 10 and 60 steps");
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned char *state = states[drawn[i]];
        for (unsigned y = 0; y < SIDE; ++y)
            for (unsigned x = 0; x < SIDE; ++x)
                if (tmap_nbb_contains(f, x, y, R))
                    picture_set(&p, i % 2 * NEXT + x, i / 2 * NEXT + y,
                                state[y * SIDE + x] ? LIVING : DEAD);
    }
    picture_key(&p, LIVING, "living");
    picture_key(&p, DEAD, "dead");
    picture_save(&p, "automaton");
}

int main(void) {
    static unsigned char states[STEPS + 1][PLACES];
    const tmap_nbb f = tmap_fractal_carpet();
    const tmap_ca_rule rule = tmap_ca_life(); // born with 3 neighbours, survives with 2 or 3
    check_gpu();

    unsigned char *state[2];
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMalloc((void **)&state[i], PLACES));
        CHECK(cudaMemset(state[i], 0, PLACES));
    }
    first_state(f, states[0]);
    CHECK(cudaMemcpy(state[0], states[0], PLACES, cudaMemcpyHostToDevice));

    tmap_ca_plan plan;
    CHECK(tmap_ca_plan_make(f, R, 0, sizeof *state[0], &plan)); // once
    for (int t = 1; t <= STEPS; ++t) {
        CHECK(tmap_ca(&plan, rule, state[(t - 1) % 2], state[t % 2], 0));
        CHECK(cudaMemcpy(states[t], state[t % 2], PLACES, cudaMemcpyDeviceToHost));
    }
    CHECK(cudaFree(state[0]));
    CHECK(cudaFree(state[1]));

    int wrong = 0;
    for (int t = 1; t <= STEPS; ++t) {
        int living = 0;
        for (int i = 0; i < PLACES; ++i) living += states[t][i];
        if (t < 5 || t % 10 == 0)
            printf("step %2d: %5d of %llu cells live\n", t, living, tmap_nbb_cells(f, R));
        wrong += check_step(f, rule, states[t - 1], states[t]);
    }
    draw(f, states);
    return check_result("60 steps of Life", wrong);
}
