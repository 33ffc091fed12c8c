// SPDX-License-Identifier: MIT
// board_ca.h: cellular automata (CA) of the family of Conway's Life on a board of any sides, whose
// axes may be periodic. Made with board.h, ready to launch.
//
//     const tmap_board board = {1000, 700, 0, TMAP_BOARD_PERIODIC_X | TMAP_BOARD_PERIODIC_Y};
//     tmap_board_ca_plan plan;
//     cudaError_t error = tmap_board_ca_plan_make(&board, 1, &plan);
//     if (!error) error = tmap_board_ca(&plan, tmap_ca_life(), a, b, stream);
//
// Cells have one or four bytes and are alive where not 0. Four cells of one byte are processed at
// once, as a word, where rows are multiples of a word.
#ifndef TMAP_FRACTAL_BOARD_CA_H
#define TMAP_FRACTAL_BOARD_CA_H

#include "board.h"
#include "ca_rule.h"

// A plan for tmap_board_ca.
typedef struct tmap_board_ca_plan {
    tmap_board_plan cells, words; // words: of four cells; without tiles where rows have others
    tmap_u32 size;                // of a cell
} tmap_board_ca_plan;

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_board_ca {
    const void *in;
    void *out;
    tmap_ca_rule rule;
    tmap_u32 size; // of a cell; in a kernel a constant
} tmapi_board_ca;

TMAP_DEVICE void tmapi_board_ca_cell(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                     void *next) {
    const tmapi_board_ca *j = (const tmapi_board_ca *)job;
    tmap_u32 neighbours = 0, here = 0;
    (void)cell, (void)around;
    for (int i = 0; i < 9; ++i) {
        const int alive =
            j->size == 1 ? ((const unsigned char *)nine)[i] != 0 : ((const tmap_u32 *)nine)[i] != 0;
        if (i == TMAP_HERE)
            here = (tmap_u32)alive;
        else
            neighbours += (tmap_u32)alive;
    }
    if (j->size == 1)
        *(unsigned char *)next = (unsigned char)tmap_ca_next(j->rule, (int)here, neighbours);
    else
        *(tmap_u32 *)next = (tmap_u32)tmap_ca_next(j->rule, (int)here, neighbours);
}

// Sets each byte of four cells that is not 0 to 1.
TMAP_DEVICE void tmapi_board_ca_alive(void *cells) {
    const tmap_u32 v = *(const tmap_u32 *)cells;
    *(tmap_u32 *)cells = (((v & 0x7f7f7f7fu) + 0x7f7f7f7fu) | v) >> 7 & 0x01010101u;
}

// How many of each of four cells and those to its left and right are alive, a byte each. row: four
// cells of 0 and 1 to the left, these, and four to the right.
TMAP_DEVICE tmap_u32 tmapi_board_ca_three(const tmap_u32 *row) {
    return row[1] + __funnelshift_l(row[0], row[1], 8) + __funnelshift_r(row[1], row[2], 8);
}

// The next states of four cells. n: of each, 16 if it is alive, plus its living neighbours: the bit
// of the rule.
TMAP_DEVICE void tmapi_board_ca_word(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                                     void *next) {
    const tmap_u32 *v = (const tmap_u32 *)nine;
    const tmap_ca_rule rule = ((const tmapi_board_ca *)job)->rule;
    const tmap_u32 bits = rule.survive << 16 | rule.born;
    const tmap_u32 n = tmapi_board_ca_three(v) + tmapi_board_ca_three(v + 3) +
                       tmapi_board_ca_three(v + 6) + v[TMAP_HERE] * 15;
    tmap_u32 states = 0;
    (void)cell, (void)around;
#pragma unroll
    for (tmap_u32 i = 0; i < 32; i += 8) states |= (bits >> (n >> i & 31) & 1) << i;
    *(tmap_u32 *)next = states;
}

// The kernel for elements of a size.
#define TMAPI_BOARD_CA_KERNEL(name, bytes, rule, change) \
    static __global__ void __launch_bounds__(256, 4) \
        tmapi_board_ca_##name##_kernel(tmap_board_plan plan, tmapi_board_ca job) { \
        const tmapi_stencil s = { \
            (const unsigned char *)job.in, (unsigned char *)job.out, bytes, rule, &job, 0, 0}; \
        job.size = bytes; \
        tmapi_board_run(&plan, &s, change); \
    }
TMAPI_BOARD_CA_KERNEL(u8, 1, tmapi_board_ca_cell, 0)
TMAPI_BOARD_CA_KERNEL(u32, 4, tmapi_board_ca_cell, 0)
TMAPI_BOARD_CA_KERNEL(word, 4, tmapi_board_ca_word, tmapi_board_ca_alive)
#undef TMAPI_BOARD_CA_KERNEL

// Makes a plan for tmap_board_ca. size: bytes of a cell, 1 or 4. Returns cudaErrorInvalidValue for
// another size; other parameters and errors as for tmap_board_plan_make.
static inline cudaError_t tmap_board_ca_plan_make(const tmap_board *board, tmap_u32 size,
                                                  tmap_board_ca_plan *out) {
    tmap_board_ca_plan p;
    tmap_board words = {0, 0, 0, 0};
    cudaError_t error;
    if (!board || !out || (size != 1 && size != 4)) return cudaErrorInvalidValue;
    if (size == 1 && board->width % 4 == 0 && board->pitch % 4 == 0)
        words = *board, words.width /= 4, words.pitch /= 4;
    p.size = size;
    error = tmap_board_plan_make(board,
                                 size == 1 ? (const void *)tmapi_board_ca_u8_kernel
                                           : (const void *)tmapi_board_ca_u32_kernel,
                                 &p.cells);
    if (!error)
        error = tmap_board_plan_make(&words, (const void *)tmapi_board_ca_word_kernel, &p.words);
    if (!error) *out = p;
    return error;
}

// Computes one step of the automaton: out = rule(in) for every cell. Live cells are written as 1,
// dead ones as 0; places between rows are not written. in, out: boards of the plan's cells in
// device memory, not overlapping, at multiples of a cell's size; at multiples of 4 cells of one
// byte take fewer instructions. Places beyond an edge that is not periodic are dead.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, equal boards and a rule with more
// than nine bits; otherwise the launch's own error. A board without cells needs no pointers.
// Example: 5 x 5 cells, periodic along both axes: a glider is itself again after 20 steps.
static inline cudaError_t tmap_board_ca(const tmap_board_ca_plan *plan, tmap_ca_rule rule,
                                        const void *in, void *out, cudaStream_t stream) {
    const tmapi_board_ca job = {in, out, rule, 0};
    if (!plan || !plan->size || rule.born > 0x1ff || rule.survive > 0x1ff)
        return cudaErrorInvalidValue;
    if (!plan->cells.tiles) return cudaSuccess;
    if (!in || !out || in == out || ((tmap_u64)in | (tmap_u64)out) % plan->size)
        return cudaErrorInvalidValue;
    const int words = plan->words.tiles && ((tmap_u64)in | (tmap_u64)out) % 4 == 0;
    return tmap_board_launch(words ? &plan->words : &plan->cells, &job, stream);
}

#endif
#endif
