// SPDX-License-Identifier: MIT
// compact_rules.h: what bench_compact steps: the tasks, their rules as users write them, and once more
// by the definition; and the states that they start from, which depend on a cell's number alone and so
// are the same in every storage.
#ifndef BENCH_FRACTAL_COMPACT_RULES_H
#define BENCH_FRACTAL_COMPACT_RULES_H

#include "../driver.h"

#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/diffusion.h>
#include <threadmap/fractal/ising.h>

#include <math.h>

// size: bytes of an element where it is no bit. once: launches of a step that is timed.
enum { LIFE, LIFE_U32, CYCLIC, HEAT_4, HEAT_8, DIFFUSION_F32, DIFFUSION_F64, ISING, TASKS };
static const struct {
    const char *work, *rule, *dtype;
    tmap_u32 size;
    int once;
} tasks[TASKS] = {
    {"life", "life", "u8", 1, 1},
    {"life", "life", "u32", 4, 1},
    {"stencil", "cyclic", "u8", 1, 1},
    {"stencil", "heat_4", "f32", 4, 1},
    {"stencil", "heat_8", "f32", 4, 1},
    {"diffusion", "heat_4", "f32", 4, 1},
    {"diffusion", "heat_4", "f64", 8, 1},
    {"ising", "metropolis", "i8", 1, 2}, // a sweep is two halves
};

#define HEAT_RATE  0.1f
#define ISING_T    1.5
#define ISING_SEED 7

// The rule of step t of a verification: mostly parity, in which nothing dies out and a wrong place
// grows; now and then Life, which is what is timed.
TMAP_FN tmap_ca_rule life_rule_at(int t, int timed) {
    const tmap_ca_rule parity = {0x0aa, 0x155};
    return timed || t % 5 == 4 ? tmap_ca_life() : parity;
}

// ---- rules of the user's own --------------------------------------------------------------------

// A cyclic automaton of eight states: a cell takes the next state if one of four neighbours has it.
TMAP_FN unsigned char cyclic_next(const unsigned char *nine, tmap_u32 around) {
    const unsigned char next = (unsigned char)((nine[4] + 1) & 7);
    int found = 0;
    for (int i = 1; i < 9; i += 2) found |= (around >> i & 1) && nine[i] == next;
    return found ? next : nine[4];
}

// Heat from four or eight neighbours that are cells.
TMAP_FN float heat_next(const float *nine, tmap_u32 around, int moore) {
    float sum = 0;
    for (int i = 0; i < 9; ++i)
        if (i != 4 && (moore || i % 2) && (around >> i & 1)) sum += nine[i] - nine[4];
    return fmaf(HEAT_RATE, sum, nine[4]);
}

typedef struct rule_step {
    const void *in;
    void *out;
} rule_step;

#define RULE_KERNEL(name, type, call) \
    static __device__ void name##_rule(void *job, tmap_cell cell, tmap_u32 around, \
                                       const void *nine, void *next) { \
        (void)job, (void)cell; \
        *(type *)next = call; \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        name##_step(tmap_each_plan plan, rule_step s) { \
        const tmap_array in = {s.in, sizeof(type)}; \
        tmap_each_stencil(&plan, in, name##_rule, s.out, &s); \
    }
RULE_KERNEL(cyclic, unsigned char, cyclic_next((const unsigned char *)nine, around))
RULE_KERNEL(heat_4, float, heat_next((const float *)nine, around, 0))
RULE_KERNEL(heat_8, float, heat_next((const float *)nine, around, 1))
#undef RULE_KERNEL

// ---- the same by the definition -----------------------------------------------------------------

// A value is what its bytes are as a number, the rest 0.
typedef union cell_value {
    double wide;
    float narrow;
    tmap_u64 value;
} cell_value;

// Diffusion, in the order that diffusion.h promises.
TMAP_FN tmap_u64 diffusion_next(const tmap_u64 *nine, tmap_u32 around, int wide) {
    cell_value here, other;
    double sum = 0;
    float sum_f32 = 0;
    here.value = nine[4];
    for (int i = 1; i < 9; i += 2) {
        if (!(around >> i & 1)) continue;
        other.value = nine[i];
        if (wide)
            sum += other.wide - here.wide;
        else
            sum_f32 += other.narrow - here.narrow;
    }
    if (wide)
        here.wide = fma((double)HEAT_RATE, sum, here.wide);
    else
        here.narrow = fmaf(HEAT_RATE, sum_f32, here.narrow);
    return here.value;
}

// The next value of cell number `index`, which is p, in step t.
TMAP_FN tmap_u64 next_value(int task, const tmap_u64 *nine, tmap_u32 around, tmap_u64 index,
                            tmap_xy64 p, int t, tmap_ising_chances chances) {
    unsigned char bytes[9];
    float floats[9];
    cell_value next;
    tmap_u32 living = 0;
    int h = 0;
    for (int i = 0; i < 9; ++i) {
        next.value = nine[i];
        bytes[i] = (unsigned char)nine[i], floats[i] = next.narrow;
        if (i != 4) living += nine[i] != 0;
        if (i % 2) h += (signed char)nine[i] * (signed char)nine[4];
    }
    next.value = 0;
    switch (task) {
    case LIFE:
    case LIFE_U32: {
        const tmap_ca_rule rule = life_rule_at(t, 0);
        return (nine[4] ? rule.survive : rule.born) >> living & 1;
    }
    case CYCLIC: return cyclic_next(bytes, around);
    case HEAT_4:
    case HEAT_8: next.narrow = heat_next(floats, around, task == HEAT_8); return next.value;
    case DIFFUSION_F32:
    case DIFFUSION_F64: return diffusion_next(nine, around, task == DIFFUSION_F64);
    default:
        if ((p.x + p.y + (tmap_u64)t) % 2 == 0 &&
            tmap_ising_turns(chances, h, index, (tmap_u64)t / 2, ISING_SEED))
            return (unsigned char)-(signed char)nine[4];
        return nine[4];
    }
}

// ---- states to start from -----------------------------------------------------------------------

// One cell in four lives: word i of compact storage of bits, before idle bits are cleared.
TMAP_FN tmap_u64 start_word(tmap_u64 i) { return check_hash(i, 1) & check_hash(i, 2); }

// The value of cell number i of a task. words: of compact storage of bits.
TMAP_FN tmap_u64 start_value(int task, tmap_u64 words, tmap_u64 i) {
    const tmap_u64 h = check_hash(i, 3);
    const float fraction = (float)(h & 0xffff) * (1.0f / 65536);
    cell_value u;
    u.value = 0;
    if (task == LIFE || task == LIFE_U32) return start_word(i % words) >> i / words & 1;
    if (task == CYCLIC) return h & 7;
    if (task == ISING) return h & 1 ? 1 : 0xff;
    if (task == DIFFUSION_F64)
        u.wide = fraction;
    else
        u.narrow = fraction;
    return u.value;
}

#endif
