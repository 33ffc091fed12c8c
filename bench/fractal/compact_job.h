// SPDX-License-Identifier: MIT
// compact_job.h: one variant of bench_compact: a task, a storage of its states, a fractal and a
// level; its memory, its plan, a step of it, and where a cell's element or bit is.
#ifndef BENCH_FRACTAL_COMPACT_JOB_H
#define BENCH_FRACTAL_COMPACT_JOB_H

#include "compact_rules.h"

#include <threadmap/papers/box_bits.h>
#include <threadmap/papers/box_kernels.h>

// Storages: variants of the results. The bounding box and bits are of life alone.
enum { BB, BB_BITS, EMBEDDED, COMPACT, COMPACT_BITS, FORMS };
static const char *const form_names[FORMS] = {"bb", "bb_bits", "embedded", "compact",
                                              "compact_bits"};

static inline int form_is_bits(int form) { return form == BB_BITS || form == COMPACT_BITS; }
static inline int form_has(int form, int task) {
    return task == LIFE || form == EMBEDDED || form == COMPACT;
}

// Where a form has its cells.
typedef struct layout {
    tmap_nbb f;
    tmap_u32 r;
    int task, form;
    tmap_u32 size;                // of an element; of a word of compact bits
    tmap_compact_word word;       // of compact bits
    tmap_u64 words, width, cells; // words: of compact bits
    tmap_box_bits box;
} layout;

typedef struct compact_job {
    layout at;
    void *a, *b; // the states; a step goes from one to the other
    tmap_each_plan plan;
    tmap_ca_plan ca;
    tmap_ising_plan ising;
} compact_job;

// Returns 0 where the form does not go up to this level.
static inline int layout_make(tmap_nbb f, tmap_u32 r, int task, int form, layout *out) {
    layout l;
    memset(&l, 0, sizeof l);
    if (r > tmap_nbb_level_max32(f) || r > tmap_nbb_linear_level_max64(f)) return 0;
    l.f = f, l.r = r, l.task = task, l.form = form;
    l.word = tmap_compact_word_of(f, r), l.words = tmap_compact_words(f, r);
    l.size = form == COMPACT_BITS ? l.word.bytes : tasks[task].size;
    l.width = tmap_nbb_side_x(f, r), l.cells = tmap_nbb_cells(f, r);
    if (tmap_box_bits_make(f, r, &l.box) != TMAP_OK) return 0;
    *out = l;
    return 1;
}

// Bytes of a state; saturates.
static inline tmap_u64 layout_bytes(const layout *l) {
    if (l->form == BB_BITS) return tmap_box_bits_bytes(&l->box);
    if (l->form == COMPACT_BITS) return tmap_mul_saturate(l->words, l->size);
    return tmap_mul_saturate(
        l->form == COMPACT ? l->cells : tmap_mul_saturate(l->width, tmap_nbb_side_y(l->f, l->r)),
        l->size);
}

// The element of cell number i, which is (x, y); of bits the bit, counted from the state's first.
TMAP_FN tmap_u64 layout_place(const layout *l, tmap_u64 i, tmap_u64 x, tmap_u64 y) {
    if (l->form == COMPACT) return i;
    if (l->form == COMPACT_BITS) return i % l->words * (8 * l->size) + i / l->words;
    if (l->form == BB_BITS) {
        tmap_u32 bit;
        const tmap_u64 word = tmap_box_bits_place(&l->box, x, y, &bit);
        return word * 32 + bit;
    }
    return y * l->width + x;
}

// A state's value at a place. Bytes of words come lowest first.
TMAP_DEVICE tmap_u64 layout_value(const layout *l, const void *state, tmap_u64 place) {
    if (l->form == BB_BITS || l->form == COMPACT_BITS)
        return ((const unsigned char *)state)[place / 8] >> place % 8 & 1;
    if (l->size == 1) return ((const unsigned char *)state)[place];
    if (l->size == 4) return ((const tmap_u32 *)state)[place];
    return ((const tmap_u64 *)state)[place];
}

// ---- steps --------------------------------------------------------------------------------------

// The plan. Returns 0 where there is none for this level.
static inline int job_plan(compact_job *j) {
    static const void *const rules[3] = {(const void *)cyclic_step, (const void *)heat_4_step,
                                         (const void *)heat_8_step};
    const tmap_u64 pitch = j->at.form == COMPACT ? TMAP_COMPACT : 0;
    const tmap_nbb f = j->at.f;
    const tmap_u32 r = j->at.r;
    const int task = j->at.task;
    cudaError_t error = cudaSuccess;
    if (j->at.form == COMPACT_BITS)
        error = tmap_compact_life_plan_make(f, r, &j->plan);
    else if (task <= LIFE_U32 && j->at.form != BB && j->at.form != BB_BITS)
        error = tmap_ca_plan_make(f, r, pitch, tasks[task].size, &j->ca);
    else if (task == CYCLIC || task == HEAT_4 || task == HEAT_8)
        error = tmap_each_plan_make(TMAP_EACH_STENCIL, f, r, pitch, rules[task - CYCLIC], &j->plan);
    else if (task == DIFFUSION_F32 || task == DIFFUSION_F64)
        error = tmap_diffusion_plan_make(
            f, r, pitch, task == DIFFUSION_F64 ? TMAP_DIFFUSION_F64 : TMAP_DIFFUSION_F32, &j->plan);
    else if (task == ISING)
        error = tmap_ising_plan_make(f, r, pitch, &j->ising);
    if (error == cudaErrorInvalidConfiguration) return 0;
    CHECK(error);
    return 1;
}

// Step t, from a to b where t is even, else back. timed: by the rule that is timed.
static inline void job_step(compact_job *j, int t, int timed) {
    void *in = t % 2 ? j->b : j->a, *out = t % 2 ? j->a : j->b;
    const tmap_ca_rule rule = life_rule_at(t, timed);
    const rule_step step = {in, out};
    const tmap_ising_sweep sweep = {ISING_T, ISING_SEED, (tmap_u64)t / 2};
    switch (j->at.task) {
    case LIFE:
    case LIFE_U32:
        if (j->at.form == COMPACT_BITS)
            CHECK(tmap_compact_life(&j->plan, rule, in, out, 0));
        else if (j->at.form == BB_BITS)
            CHECK(tmap_box_bits_life(&j->at.box, rule, in, out, 0));
        else if (j->at.form == BB)
            CHECK(tmap_box_ca_u8(j->at.f, j->at.r, 32, TMAP_BOX_BB_WALK, rule,
                                 (const unsigned char *)in, (unsigned char *)out, 0));
        else
            CHECK(tmap_ca(&j->ca, rule, in, out, 0));
        break;
    case DIFFUSION_F32:
    case DIFFUSION_F64: CHECK(tmap_diffusion(&j->plan, HEAT_RATE, in, out, 0)); break;
    case ISING: CHECK(tmap_ising_half(&j->ising, sweep, t % 2, in, out, 0)); break;
    default: CHECK(tmap_each_launch(&j->plan, &step, 0));
    }
}

// What is timed.
static inline void job_run(void *context) {
    compact_job *j = (compact_job *)context;
    for (int t = 0; t < tasks[j->at.task].once; ++t) job_step(j, t, 1);
}

// ---- states to start from -----------------------------------------------------------------------

// Blocks of 256 threads for so many elements, which take several each where there are many.
static inline unsigned grid_of(tmap_u64 n) { return n < 1u << 21 ? (unsigned)(n / 256 + 1) : 8192; }

TMAP_DEVICE void fill_one(void *state, tmap_u32 size, tmap_u64 place, tmap_u64 value) {
    if (size == 1) ((unsigned char *)state)[place] = (unsigned char)value;
    if (size == 2) ((unsigned short *)state)[place] = (unsigned short)value;
    if (size == 4) ((tmap_u32 *)state)[place] = (tmap_u32)value;
    if (size == 8) ((tmap_u64 *)state)[place] = value;
}

// Cells of all storages but compact bits; bits are set in a state of zeros.
static __global__ void fill_cells(layout l, void *state) {
    BENCH_EACH(i, l.cells) {
        const tmap_u64 value = start_value(l.task, l.words, i);
        tmap_xy64 p = {0, 0};
        if (l.form != COMPACT) p = tmap_nbb_lambda_linear64(l.f, i, l.r);
        const tmap_u64 place = layout_place(&l, i, p.x, p.y);
        if (l.form != BB_BITS)
            fill_one(state, l.size, place, value);
        else if (value)
            atomicOr((tmap_u32 *)state + place / 32, 1u << place % 32);
    }
}

static __global__ void fill_words(layout l, void *state) {
    BENCH_EACH(i, l.words)
    fill_one(state, l.size, i, start_word(i) & ~0ull >> (64 - l.word.cells));
}

// The start in a, and in b, if there is one, what a step may find there: zeros where it counts on them, else
// anything.
static inline void job_fill(compact_job *j) {
    const tmap_u64 bytes = layout_bytes(&j->at);
    const int compact = j->at.form == COMPACT || j->at.form == COMPACT_BITS;
    if (j->b) CHECK(cudaMemset(j->b, compact ? 0xa5 : 0, bytes));
    if (!compact) CHECK(cudaMemset(j->a, 0, bytes));
    if (j->at.form == COMPACT_BITS)
        fill_words<<<grid_of(j->at.words), 256>>>(j->at, j->a);
    else
        fill_cells<<<grid_of(j->at.cells), 256>>>(j->at, j->a);
    CHECK(cudaGetLastError());
}

#endif
