// SPDX-License-Identifier: MIT
// 31_life3.cu: Life in three dimensions on a Menger sponge, in compact storage with one bit for each
// cell. The rule is written as in C. Bays, Complex Systems 1 (1987): 3644, a live cell survives with
// 3 to 6 live neighbours of 26, a dead one becomes alive with 4. Only cells of the sponge count; with
// many places empty, his rules for space, 4555 and 5766, leave hardly any cell alive.
//
// At first a third of the cells at the top live; the share falls to 0 at the bottom.
// nvcc -O3 -arch=native -I include samples/fractal/31_life3.cu -o life3
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal3.h>
#include <threadmap/fractal/life3.h>
#include <threadmap/fractal/philox.h>

enum {
    R = 4,     // level of the fractal
    SIDE = 81, // of the volume: 3^R
    PLACES = SIDE * SIDE * SIDE,
    STEPS = 30,
    LIVING = 0xe0662a,
    DEAD = 0xa9c3d6
};

// 1 if cell number i lives at first, with probability 1/3 * z / SIDE.
TMAP_FN int lives_at_first(tmap_nbb3 f, tmap_u64 i) {
    const tmap_xyz c = tmap_nbb3_lambda_linear(f, (tmap_u32)i, R);
    return tmap_philox_u64(i, 0, 2026) % (3 * SIDE) < c.z;
}

// A thread for each word. Bit b of word i is cell i of sheet b: number b * words + i.
__global__ void begin(tmap_nbb3 f, tmap_u64 words, tmap_compact_word word, unsigned char *state) {
    const tmap_u64 i = (tmap_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    for (tmap_u32 b = 0; b < word.cells; ++b)
        state[i * word.bytes + b / 8] |= (unsigned char)(lives_at_first(f, b * words + i) << b % 8);
}

// Whether place c is a cell that lives, on the host.
static int lives(tmap_nbb3 f, const unsigned char *state, tmap_xyz c) {
    tmap_u64 word;
    tmap_u32 bit;
    if (!tmap_nbb3_contains(f, c, R)) return 0;
    tmap_compact3_bit(f, R, tmap_nbb3_nu_linear(f, c, R), &word, &bit);
    return state[word * tmap_compact3_word_of(f, R).bytes + bit / 8] >> bit % 8 & 1;
}

static tmap_xyz place_of(tmap_u32 i) {
    const tmap_xyz c = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    return c;
}

// Makes the steps on the host, in a volume, and counts the cells that differ.
static int check_steps(tmap_nbb3 f, tmap_ca_rule rule, const unsigned char *state) {
    static unsigned char cell[PLACES];
    static unsigned char now[2][PLACES];
    int wrong = 0;
    for (tmap_u32 i = 0; i < PLACES; ++i) {
        cell[i] = (unsigned char)tmap_nbb3_contains(f, place_of(i), R);
        if (cell[i]) now[0][i] = lives_at_first(f, tmap_nbb3_nu_linear(f, place_of(i), R));
    }
    for (int t = 0; t < STEPS; ++t)
        for (tmap_u32 i = 0; i < PLACES; ++i) {
            const tmap_xyz c = place_of(i);
            int around = 0;
            if (!cell[i]) continue;
            for (tmap_u32 z = c.z ? c.z - 1 : 0; z <= c.z + 1 && z < SIDE; ++z)
                for (tmap_u32 y = c.y ? c.y - 1 : 0; y <= c.y + 1 && y < SIDE; ++y)
                    for (tmap_u32 x = c.x ? c.x - 1 : 0; x <= c.x + 1 && x < SIDE; ++x)
                        around += now[t % 2][(z * SIDE + y) * SIDE + x];
            const int here = now[t % 2][i]; // counted in `around`
            const tmap_u32 next = here ? rule.survive >> (around - 1) : rule.born >> around;
            now[(t + 1) % 2][i] = next & 1;
        }
    for (tmap_u32 i = 0; i < PLACES; ++i)
        wrong += lives(f, state, place_of(i)) != now[STEPS % 2][i];
    return wrong;
}

static unsigned shaded(unsigned colour, double light) {
    const unsigned red = (unsigned)((colour >> 16) * light);
    const unsigned green = (unsigned)((colour >> 8 & 255) * light);
    return red << 16 | green << 8 | (unsigned)((colour & 255) * light);
}

// Draws a cell as a cube of 8 x 8 pixels, seen from above a corner.
static void draw_cube(picture *p, tmap_xyz c, unsigned colour) {
    const unsigned left = 4 * (SIDE - 1 + c.x - c.y);
    const unsigned top = 2 * (c.x + c.y) + 4 * (SIDE - 1 - c.z);
    const double near = 0.4 + 0.6 * (c.x + c.y + c.z) / (3 * SIDE - 3); // darker behind
    for (unsigned k = 0; k < 8; ++k) {
        const unsigned half = (k < 4 ? k + 1 : 8 - k) / 2; // of the top's height in this column
        const unsigned x = PICTURE_MARGIN + left + k;
        const unsigned y = PICTURE_TOP + top + 2;
        canvas_fill(&p->all, x, y - half, 1, 2 * half, shaded(colour, near));
        canvas_fill(&p->all, x, y + half, 1, 4, shaded(colour, near * (k < 4 ? 0.8 : 0.6)));
    }
}

static void draw(tmap_nbb3 f, const unsigned char *state) {
    picture p = picture_make(8 * SIDE, 8 * SIDE, 1,
                             "Life on a Menger sponge, from a corner, after 30 steps");
    for (tmap_u32 sum = 0; sum <= 3 * (SIDE - 1); ++sum) // from the back to the front
        for (tmap_u32 z = 0; z < SIDE && z <= sum; ++z)
            for (tmap_u32 y = 0; y < SIDE && z + y <= sum; ++y) {
                const tmap_xyz c = {sum - z - y, y, z};
                if (c.x >= SIDE || !tmap_nbb3_contains(f, c, R)) continue;
                draw_cube(&p, c, lives(f, state, c) ? LIVING : DEAD);
            }
    picture_key(&p, LIVING, "living");
    picture_key(&p, DEAD, "dead");
    picture_save(&p, "life3");
}

int main(void) {
    const tmap_nbb3 f = tmap_fractal3_menger();
    const tmap_ca_rule rule = tmap_life3_bays(3, 6, 4, 4);
    check_gpu();

    const tmap_u64 words = tmap_compact3_words(f, R);
    const tmap_u64 bytes = tmap_compact3_words_bytes(f, R);
    unsigned char *state[2];
    for (int i = 0; i < 2; ++i) CHECK(cudaMallocManaged((void **)&state[i], bytes));
    CHECK(cudaMemset(state[0], 0, bytes)); // idle bits are 0
    begin<<<(unsigned)(words + 255) / 256, 256>>>(f, words, tmap_compact3_word_of(f, R), state[0]);

    tmap_each3_plan plan;
    CHECK(tmap_life3_plan_make(f, R, &plan)); // once
    for (int t = 0; t < STEPS; ++t)
        CHECK(tmap_life3(&plan, rule, state[t % 2], state[(t + 1) % 2], 0));
    CHECK(cudaDeviceSynchronize());

    const unsigned char *last = state[STEPS % 2];
    int living[3] = {0, 0, 0};
    for (tmap_u32 i = 0; i < PLACES; ++i) living[i / (PLACES / 3)] += lives(f, last, place_of(i));
    printf("a Menger sponge of level %d: %llu cells\n", R, tmap_nbb3_cells(f, R));
    printf("%llu words of %u bytes\n", words, plan.word.bytes);
    for (int third = 2; third >= 0; --third)
        printf("z = %d to %d: %d cells live\n", third * SIDE / 3, (third + 1) * SIDE / 3 - 1,
               living[third]);
    const int wrong = check_steps(f, rule, last);
    if (!wrong) draw(f, last);
    for (int i = 0; i < 2; ++i) CHECK(cudaFree(state[i]));
    return check_result("life after 30 steps", wrong);
}
