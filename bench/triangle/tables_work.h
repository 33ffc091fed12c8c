// SPDX-License-Identifier: MIT
// tables_work.h: the best of all triples of n variables by their contingency tables, as searches for
// interactions of three genetic variants are measured, in triples times samples per second: through
// the engine for tables (tables), and through the engine for triples with a function that counts all
// 27 cells by AND and population count (tables_popc). The score is that of
// samples/triangle/28_epistasis.cu.
//
// Verified before it is timed: best score and sum of all scores against the host's for the first
// variables, and against the other kernel's for all.
#ifndef BENCH_TRIANGLE_TABLES_WORK_H
#define BENCH_TRIANGLE_TABLES_WORK_H

#include "pairs_sweep.h"

#include <threadmap/triangle/triples_tables.h>

enum {
    TABLES_ENGINE,
    TABLES_POPC,
    TABLES_VARIANTS,
    TABLES_FEW = 40 // variables whose tables the host counts
};
static const char *const tables_names[TABLES_VARIANTS] = {"tables", "tables_popc"};

typedef struct tables_job {
    tmap_triples_samples samples;
    const tmap_u32 *numbers; // 0, 1, 2, ...: points of tables_popc
    tmap_fold_to to;
} tables_job;

typedef struct tables_best {
    tmap_u32 score;
    tmap_triple triple;
    tmap_u64 sum;
} tables_best;

TMAP_FN tmap_u32 tables_score(const tmap_u32 *table, const tmap_u32 *count) {
    tmap_u32 sum = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int cell = 0; cell < 27; ++cell) {
        const tmap_u32 a = table[2 * cell] * count[1], b = table[2 * cell + 1] * count[0];
        sum += a > b ? a : b;
    }
    return sum;
}

// ---- the kernels --------------------------------------------------------------------------------

TMAP_DEVICE void tables_join(void *, void *mine, const void *other) {
    tables_best *m = (tables_best *)mine;
    const tables_best *o = (const tables_best *)other;
    if (o->score > m->score) m->score = o->score, m->triple = o->triple;
    m->sum += o->sum;
}
TMAP_DEVICE void tables_look(void *job, void *mine, tmap_triple triple, const tmap_u32 *table) {
    const tmap_u32 score = tables_score(table, ((const tables_job *)job)->samples.count);
    const tables_best here = {score, triple, score};
    tables_join(0, mine, &here);
}
static __global__ void __launch_bounds__(TMAP_TRIPLES_TABLES_THREADS, 2)
    tables_engine(tmap_triples_plan plan, tables_job j) {
    const tables_best none = {0, {0, 0, 0}, 0};
    const tmap_fold better = {&none, sizeof none, tables_join};
    tmap_triples_tables_fold(&plan, &j.samples, tables_look, better, j.to, &j);
}

// Two words of each of the three values of a variable.
typedef struct tables_words {
    tmap_u32 word[3][2];
} tables_words;
TMAP_DEVICE tables_words tables_read(const tmap_u32 *from, tmap_u32 first, tmap_u32 samples) {
    const uint4 v = __ldg((const uint4 *)from);
    tables_words w = {{{v.x, v.y}, {v.z, v.w}, {0, 0}}};
#pragma unroll
    for (tmap_u32 h = 0; h < 2; ++h) {
        const tmap_u32 at = first + h * 128, left = samples > at ? samples - at : 0;
        w.word[2][h] = (left < 32 ? (1u << left) - 1 : ~0u) & ~(w.word[0][h] | w.word[1][h]);
    }
    return w;
}
// A function that is called: copies of it for all triples of a thread would take minutes to compile.
static __device__ __noinline__ tmap_u32 tables_popc_score(const tables_job *j, tmap_triple t) {
    const tmap_u32 *chunk = j->samples.bits;
    tmap_u32 table[54] = {0};
#pragma unroll
    for (tmap_u32 c = 0; c < 2; ++c) {
        const tmap_u32 samples = j->samples.count[c];
        for (tmap_u32 at = 0; at < samples; at += 256, chunk += 16ull * j->samples.n)
            for (tmap_u32 q = 0; q < 4; ++q) {
                const tables_words x = tables_read(chunk + 16 * t.i + 4 * q, at + 32 * q, samples);
                const tables_words y = tables_read(chunk + 16 * t.j + 4 * q, at + 32 * q, samples);
                const tables_words z = tables_read(chunk + 16 * t.k + 4 * q, at + 32 * q, samples);
#pragma unroll
                for (tmap_u32 cell = 0; cell < 27; ++cell)
#pragma unroll
                    for (tmap_u32 h = 0; h < 2; ++h)
                        table[2 * cell + c] +=
                            (tmap_u32)__popc((int)(x.word[cell / 9][h] & y.word[cell / 3 % 3][h] &
                                                   z.word[cell % 3][h]));
            }
    }
    return tables_score(table, j->samples.count);
}
TMAP_DEVICE void tables_popc_look(void *job, void *mine, tmap_triple t, const void *, const void *,
                                  const void *) {
    const tmap_u32 score = tables_popc_score((const tables_job *)job, t);
    const tables_best here = {score, t, score};
    tables_join(0, mine, &here);
}
static __global__ void __launch_bounds__(TMAP_TRIPLES_THREADS)
    tables_popc(tmap_triples_plan plan, tables_job j) {
    const tmap_points points = {j.numbers, 0, sizeof(tmap_u32), 1};
    const tables_best none = {0, {0, 0, 0}, 0};
    const tmap_fold better = {&none, sizeof none, tables_join};
    tmap_triples_fold(&plan, points, tables_popc_look, better, j.to, &j);
}

// ---- launches -----------------------------------------------------------------------------------

typedef struct tables_call {
    tmap_triples_plan plan;
    int variant;
    tables_job job;
} tables_call;

static void tables_run(void *context) {
    tables_call *c = (tables_call *)context;
    if (c->variant == TABLES_ENGINE)
        CHECK(tmap_triples_tables_launch(&c->plan, &c->job, 0));
    else
        CHECK(tmap_triples_launch(&c->plan, &c->job, 0));
}

static tables_best tables_result(tables_call *c) {
    tables_best best;
    tables_run(c);
    CHECK(cudaMemcpy(&best, c->job.to.result, sizeof best, cudaMemcpyDeviceToHost));
    return best;
}

// The value of a variable in a sample.
static tmap_u32 tables_value(tmap_u32 i, tmap_u32 of_class, tmap_u32 sample) {
    tmap_u32 h = (i * 2654435769u ^ (2 * sample + of_class)) * 2246822519u;
    h = (h ^ h >> 15) * 3266489917u;
    return h % 10 < 5 ? 0 : h % 10 < 8 ? 1 : 2;
}

// A call of a variant for n variables, with memory of its own.
static tables_call tables_begin(int variant, tmap_u32 n, tmap_u32 samples) {
    tables_call c;
    c.variant = variant;
    c.job.samples.n = n, c.job.samples.count[0] = samples / 2;
    c.job.samples.count[1] = samples - samples / 2;
    const tmap_u64 bytes = 4 * tmap_triples_tables_words(&c.job.samples);
    tmap_u32 *bits = (tmap_u32 *)kit_zeroed(bytes);
    tmap_u32 *numbers = (tmap_u32 *)kit_host(n * sizeof *numbers);
    for (tmap_u32 of_class = 0; of_class < 2; ++of_class)
        for (tmap_u32 at = 0; at < c.job.samples.count[of_class]; ++at)
            for (tmap_u32 i = 0; i < n; ++i) {
                const tmap_u32 value = tables_value(i, of_class, at);
                if (value < 2)
                    bits[tmap_triples_tables_word(&c.job.samples, i, of_class, at, value)] |=
                        1u << at % 32;
            }
    for (tmap_u32 i = 0; i < n; ++i) numbers[i] = i;
    c.job.samples.bits = (const tmap_u32 *)kit_to_device(bits, bytes);
    c.job.numbers = (const tmap_u32 *)kit_to_device(numbers, n * sizeof *numbers);
    if (variant == TABLES_ENGINE)
        CHECK(tmap_triples_tables_plan_make(n, (const void *)tables_engine, &c.plan));
    else
        CHECK(tmap_triples_plan_make(n, 1, sizeof(tmap_u32), (const void *)tables_popc, &c.plan));
    c.job.to.workspace = kit_device(c.plan.workspace);
    c.job.to.result = kit_device(sizeof(tables_best));
    CHECK(cudaMemset(c.job.to.workspace, 0, c.plan.workspace));
    return c;
}

// Best score and sum of the first n variables, counted sample by sample.
static tables_best tables_host(tmap_u32 n, const tmap_u32 *count) {
    tables_best best = {0, {0, 0, 0}, 0};
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < i; ++j)
            for (tmap_u32 k = 0; k < j; ++k) {
                tmap_u32 table[54] = {0}, score;
                for (tmap_u32 c = 0; c < 2; ++c)
                    for (tmap_u32 at = 0; at < count[c]; ++at)
                        ++table[2 * (9 * tables_value(i, c, at) + 3 * tables_value(j, c, at) +
                                     tables_value(k, c, at)) +
                                c];
                score = tables_score(table, count);
                if (score > best.score) best.score = score;
                best.sum += score;
            }
    return best;
}

static void tables_compare(bench_row *row, tables_best got, tables_best want) {
    pairs_verify(row, got.score == want.score, got.score, want.score);
    pairs_verify(row, got.sum == want.sum, (double)got.sum, (double)want.sum);
}

// ---- in a size ----------------------------------------------------------------------------------

static void tables_verify(bench_row *row, tables_call *call, tmap_u32 n, tmap_u32 samples) {
    const int other = call->variant == TABLES_ENGINE ? TABLES_POPC : TABLES_ENGINE;
    const tmap_u32 most = TABLES_FEW;
    tables_call few = tables_begin(call->variant, n < most ? n : most, samples);
    tables_call all = tables_begin(other, n, samples);
    tables_compare(row, tables_result(&few), tables_host(few.plan.n, few.job.samples.count));
    tables_compare(row, tables_result(call), tables_result(&all));
}

static void pairs_sweep_tables(pairs_sweep *s, tmap_u32 n, tmap_u32 samples) {
    const double work = (double)tmap_triples_cells(n) * samples;
    for (int variant = 0; variant < TABLES_VARIANTS; ++variant) {
        bench_row row = bench_row_begin(&s->d, "triple_tables", tables_names[variant], "simplex");
        tables_call call;
        bench_key(&row, "size", "%u", n);
        bench_key(&row, "samples", "%u", samples);
        bench_key_text(&row, "dtype", "bits");
        row.rate = "tsets", row.unit = "Tset/s", row.each = 1e-9 * work;
        if (variant == TABLES_POPC) // 27 counts for 32 samples, 16 lanes of 128 count
            row.limit_ms = work / 32 * 27 * 8 / s->instructions_a_ms;
        if (!bench_wants(&s->d, &row)) continue;
        call = tables_begin(variant, n, samples);
        tables_verify(&row, &call, n, samples);
        bench_row_run(&s->d, &row, tables_run, &call);
        kit_release(0);
    }
}

#endif
