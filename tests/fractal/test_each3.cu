// SPDX-License-Identifier: MIT
// test_each3: the engine in three dimensions (each3.h, stencil3.h, life3.h) against the host, which
// takes cells and their numbers from replication: random fractals of all sides and levels, and
// others with turned copies, in volumes with pitches and an offset and in compact storage, whole
// and in shares; each cell visited once and nothing written beside it; folds; stencils; words of
// one bit per cell; and what is refused.
#include "fractal/brute.h"

#include <threadmap/fractal/life3.h>

// ---- cells --------------------------------------------------------------------------------------

// A fractal, a level and where its cells lie.
typedef struct scene {
    tmap_turned t;
    tmap_u32 r;
    tmap_u64 side[3]; // in places
    tmap_pitch3 pitch;
    tmap_u64 offset, cells, elements; // of an array that holds the fractal, and some more
    brute_cell *cell;                 // by their numbers
    int *number;                      // of each place, or -1
} scene;

// The number of the cell at a place; -1 for what is no cell, outside too.
static int number_at(const scene *s, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    if (x >= s->side[0] || y >= s->side[1] || z >= s->side[2]) return -1;
    return s->number[(z * s->side[1] + y) * s->side[0] + x];
}

// The number of place n = 0..26 around cell i, or -1.
static int beside(const scene *s, tmap_u64 i, tmap_u32 n) {
    const tmap_u64 *at = s->cell[i].at;
    return number_at(s, at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1);
}

// The element of cell i.
static tmap_u64 element_of(const scene *s, tmap_u64 i) {
    const tmap_u64 *at = s->cell[i].at;
    if (s->pitch.row == TMAP_COMPACT) return s->offset + i;
    return s->offset + at[0] + at[1] * s->pitch.row + at[2] * s->pitch.plane;
}

// 0 if the fractal of this level has too many places.
static int scene_make(scene *s, int kind, tmap_u32 r, tmap_u64 most, tmap_u64 *state) {
    const brute b = brute_random(state, kind);
    const tmap_nbb3 f = brute_turned(&b).f;
    tmap_u64 places = 1;
    size_t n = 1;
    for (tmap_u32 level = 0; level < r; ++level)
        places = tmap_mul_saturate(places, (tmap_u64)(b.s[0] * b.s[1] * b.s[2]));
    if (places > most) return 0;
    s->t = brute_turned(&b), s->r = r, s->cells = brute_pow(b.k, (int)r);
    for (int a = 0; a < 3; ++a) s->side[a] = brute_pow(b.s[a], (int)r);
    s->cell = (brute_cell *)kit_zeroed(s->cells * sizeof *s->cell);
    s->number = (int *)memset(kit_host(places * sizeof(int)), 0xff, places * sizeof(int));
    for (int level = 1; level <= (int)r; ++level) n = brute_grow(&b, level, s->cell, n);
    for (tmap_u64 i = 0; i < n; ++i) {
        const tmap_u64 *at = s->cell[i].at;
        s->number[(at[2] * s->side[1] + at[1]) * s->side[0] + at[0]] = (int)i;
    }
    s->offset = kit_below(state, 3) * kit_below(state, 40);
    if (kit_below(state, 3) == 0) {
        s->pitch.row = TMAP_COMPACT, s->pitch.plane = 0;
        s->elements = s->offset + s->cells + 5;
    } else {
        s->pitch.row = s->side[0] + kit_below(state, 2) * kit_below(state, 9);
        s->pitch.plane = s->pitch.row * (s->side[1] - 1) + s->side[0] + kit_below(state, 20);
        s->elements = s->offset + s->pitch.plane * s->side[2] + 7;
    }
    kit_case("%s, k %u, %u x %u x %u, level %u, row %lld, plane %llu, offset %llu", b.text, f.k,
             f.sx, f.sy, f.sz, r, (tmap_i64)s->pitch.row, s->pitch.plane, s->offset);
    return 1;
}

// ---- kernels ------------------------------------------------------------------------------------

typedef struct marks {
    tmap_u32 *seen;
} marks;

static __device__ void mark(void *job, tmap_cell3 cell) {
    const marks *m = (const marks *)job;
    atomicAdd(&m->seen[cell.at], 1 + (cell.x << 8) + (cell.y << 16) + (cell.z << 24));
}
static __global__ void __launch_bounds__(512, 2) mark_cells(tmap_each3_plan plan, marks m) {
    tmap_each3(&plan, mark, &m);
}
static __global__ void __launch_bounds__(512, 2) mark_turned(tmap_each3_plan plan, marks m) {
    tmap_each3_turned(&plan, mark, &m);
}

static __device__ void twice_read(void *job, tmap_cell3 cell, void *value) {
    *(tmap_u32 *)value = ((const marks *)job)->seen[cell.at];
}
static __device__ void twice_use(void *job, tmap_cell3 cell, const void *value) {
    ((const marks *)job)->seen[cell.at] = 2 * *(const tmap_u32 *)value + cell.z;
}
static __global__ void __launch_bounds__(512, 2) twice_cells(tmap_each3_plan plan, marks m) {
    tmap_each3_update(&plan, twice_read, twice_use, &m);
}
static __global__ void __launch_bounds__(512, 2) twice_turned(tmap_each3_plan plan, marks m) {
    tmap_each3_update_turned(&plan, twice_read, twice_use, &m);
}

typedef struct summing {
    const unsigned short *in;
    tmap_fold_to to;
} summing;
static __device__ void sum_add(void *job, void *sum, tmap_cell3 cell, const void *value) {
    (void)job;
    *(tmap_u64 *)sum += *(const unsigned short *)value * (1ull + cell.x + 3 * cell.y + 7 * cell.z);
}
static __device__ void sum_join(void *job, void *sum, const void *other) {
    (void)job;
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
static __global__ void __launch_bounds__(512, 2) sum_cells(tmap_each3_plan plan, summing s) {
    const tmap_u64 zero = 0;
    const tmap_array in = {s.in, sizeof *s.in};
    const tmap_fold fold = {&zero, sizeof zero, sum_join};
    tmap_each3_fold(&plan, in, sum_add, fold, s.to, 0);
}
static __global__ void __launch_bounds__(512, 2) sum_turned(tmap_each3_plan plan, summing s) {
    const tmap_u64 zero = 0;
    const tmap_array in = {s.in, sizeof *s.in};
    const tmap_fold fold = {&zero, sizeof zero, sum_join};
    tmap_each3_fold_turned(&plan, in, sum_add, fold, s.to, 0);
}

typedef struct blend {
    const tmap_u32 *in;
    tmap_u32 *out;
} blend;
// A byte of a value or of a slice of a word from those of 27 places, none of which can be exchanged,
// and from where it is.
TMAP_FN unsigned char slice_byte(const unsigned char *places, tmap_u32 size, tmap_u32 i,
                                 tmap_u64 at) {
    tmap_u32 sum = (tmap_u32)at * 37 + i;
    for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) sum = sum * 31 + places[n * size + i];
    return (unsigned char)(sum >> 7);
}
#define BLEND_OF(size) \
    static __device__ void blend_rule_##size(void *, tmap_cell3 cell, tmap_u32 around, \
                                             const void *places, void *next) { \
        const tmap_u64 at = around + cell.at + cell.x + 3 * cell.y + 5 * cell.z; \
        for (tmap_u32 i = 0; i < size; ++i) \
            ((unsigned char *)next)[i] = slice_byte((const unsigned char *)places, size, i, at); \
    } \
    static __global__ void __launch_bounds__(512, 1) blend_##size(tmap_each3_plan plan, blend b) { \
        const tmap_array in = {b.in, size}; \
        tmap_each3_stencil(&plan, in, blend_rule_##size, b.out, &b); \
    }
#define WORDS_OF(size) \
    static __device__ void slice_##size(void *, tmap_cell3 cell, tmap_u32, const void *places, \
                                        void *next) { \
        const tmap_u64 at = cell.at + cell.x + 3 * cell.y + 5 * cell.z; \
        for (tmap_u32 i = 0; i < size; ++i) \
            ((unsigned char *)next)[i] = slice_byte((const unsigned char *)places, size, i, at); \
    } \
    static __global__ void __launch_bounds__(512, 1) words_##size(tmap_each3_plan plan, blend b) { \
        const tmap_array in = {b.in, size}; \
        tmap_each3_words(&plan, in, slice_##size, b.out, &b); \
    }
BLEND_OF(1)
BLEND_OF(2)
BLEND_OF(4)
BLEND_OF(8)
BLEND_OF(16)
WORDS_OF(2)
WORDS_OF(4)
WORDS_OF(8)
WORDS_OF(16)
static const void *words_kernel(tmap_u32 size) {
    return size == 2   ? (const void *)words_2
           : size == 4 ? (const void *)words_4
           : size == 8 ? (const void *)words_8
                       : (const void *)words_16;
}

// ---- cases --------------------------------------------------------------------------------------

// What mark adds for cell i.
static tmap_u32 marked(const scene *s, tmap_u64 i) {
    const tmap_u64 *at = s->cell[i].at;
    return (tmap_u32)(1 + (at[0] << 8) + (at[1] << 16) + (at[2] << 24));
}

// Launches a plan whole, or in shares.
static void launch(const tmap_each3_plan *plan, tmap_job job, tmap_u64 *state) {
    tmap_u64 first = 0;
    while (first < plan->items) {
        const tmap_u64 left = plan->items - first;
        const tmap_u64 count = kit_below(state, 3) ? left : 1 + kit_below(state, left);
        tmap_each3_plan share = *plan;
        CHECK(tmap_each3_plan_share(&share, first, count));
        CHECK(tmap_each3_launch(&share, job, 0));
        first += count;
    }
}

// 1: by the calls for turned copies, which are right for all fractals.
static int by_turned(const scene *s, tmap_u64 *state) {
    return !tmap_turned_equal(s->t, tmap_turned_plain(s->t.f)) || kit_below(state, 4) == 0;
}

// Makes a plan; at random one whose blocks take tiles although the cells are few.
static tmap_each3_plan plan_of(int work, const scene *s, const void *kernel, tmap_u64 *state) {
    tmap_each3_plan plan;
    tmap_facts facts;
    CHECK(tmap_each3_plan_make(work, s->t, s->r, s->pitch, kernel, &plan));
    if (kit_below(state, 3)) {
        CHECK(tmap_facts_get(kernel, &facts));
        expect(tmapi_each3_plan_walk(&plan, work, 0, &facts) == TMAP_OK, "a plan for tiles");
        CHECK(tmap_each3_plan_share(&plan, 0, plan.items));
    }
    plan.offset = s->offset;
    return plan;
}

static void run_walks(const scene *s, tmap_u64 *state) {
    const int turned = by_turned(s, state);
    const void *first = turned ? (const void *)mark_turned : (const void *)mark_cells;
    const void *second = turned ? (const void *)twice_turned : (const void *)twice_cells;
    const tmap_u64 bytes = s->elements * 4;
    tmap_u32 *want = (tmap_u32 *)kit_host(bytes);
    marks m = {(tmap_u32 *)kit_guarded(bytes)};
    tmap_each3_plan plan;
    plan = plan_of(TMAP_EACH_VISIT, s, first, state);
    expect(tmap_each3_plan_places(&plan) <= s->elements, "places");
    launch(&plan, &m, state);
    plan = plan_of(TMAP_EACH_UPDATE, s, second, state);
    launch(&plan, &m, state);
    for (tmap_u64 i = 0; i < s->cells; ++i) {
        tmap_u32 *w = &want[element_of(s, i)];
        *w = 2 * (*w + marked(s, i)) + (tmap_u32)s->cell[i].at[2];
    }
    expect(memcmp(kit_to_host(m.seen, bytes), want, bytes) == 0, "every cell is visited once");
}

static void run_fold(const scene *s, tmap_u64 *state) {
    unsigned short *host = (unsigned short *)kit_host(s->elements * 2);
    tmap_u64 want = 0, sum = 0;
    tmap_each3_plan plan;
    summing j;
    for (tmap_u64 i = 0; i < s->elements; ++i) host[i] = (unsigned short)check_hash(i, s->cells);
    for (tmap_u64 i = 0; i < s->cells; ++i) {
        const tmap_u64 *at = s->cell[i].at;
        want += host[element_of(s, i)] * (1 + at[0] + 3 * at[1] + 7 * at[2]);
    }
    const void *kernel = by_turned(s, state) ? (const void *)sum_turned : (const void *)sum_cells;
    plan = plan_of(TMAP_EACH_FOLD, s, kernel, state);
    j.in = (const unsigned short *)kit_to_device(host, s->elements * 2);
    j.to.workspace = kit_guarded(tmap_each3_fold_bytes(&plan, 8));
    j.to.result = kit_guarded(8);
    CHECK(cudaMemset(j.to.workspace, 0, 16));
    for (tmap_u64 first = 0, count; first < plan.items; first += count) {
        tmap_each3_plan share = plan;
        count = kit_below(state, 2) ? plan.items - first : 1 + kit_below(state, plan.items - first);
        CHECK(tmap_each3_plan_share(&share, first, count));
        CHECK(tmap_each3_launch(&share, &j, 0));
        sum += *(const tmap_u64 *)kit_to_host(j.to.result, 8);
    }
    expect(sum == want, "the fold of all shares");
}

// own: by a plan for a stencil, which goes cell by cell where copies are turned; otherwise by one
// for other work, which always does.
static void run_stencil(const scene *s, int own, tmap_u64 *state) {
    static const void *const kernels[5] = {(const void *)blend_1, (const void *)blend_2,
                                           (const void *)blend_4, (const void *)blend_8,
                                           (const void *)blend_16};
    const tmap_u32 which = (tmap_u32)kit_below(state, 5), size = 1u << which;
    const tmap_u64 bytes = s->elements * size;
    unsigned char *in = (unsigned char *)kit_host(bytes);
    unsigned char *want = (unsigned char *)memset(kit_host(bytes), KIT_POISON, bytes);
    tmap_each3_plan plan;
    blend b;
    for (tmap_u64 i = 0; i < bytes; ++i) in[i] = (unsigned char)check_hash(i, s->r);
    for (tmap_u64 i = 0; i < s->cells; ++i) {
        const tmap_u64 *at = s->cell[i].at, element = element_of(s, i);
        unsigned char places[TMAP_AROUND3 * 16] = {0};
        tmap_u32 around = 0;
        for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
            const int other = beside(s, i, n);
            if (other < 0) continue;
            around |= 1u << n;
            memcpy(places + n * size, in + element_of(s, (tmap_u64)other) * size, size);
        }
        for (tmap_u32 k = 0; k < size; ++k)
            want[element * size + k] =
                slice_byte(places, size, k, around + element + at[0] + 3 * at[1] + 5 * at[2]);
    }
    kit_more(", %u bytes", size);
    if (own) {
        CHECK(tmap_each3_plan_make(TMAP_EACH_STENCIL, s->t, s->r, s->pitch, kernels[which], &plan));
        plan.offset = s->offset;
    } else {
        plan = plan_of(TMAP_EACH_UPDATE, s, kernels[which], state);
    }
    b.in = (const tmap_u32 *)kit_to_device(in, bytes), b.out = (tmap_u32 *)kit_guarded(bytes);
    launch(&plan, &b, state);
    expect(memcmp(kit_to_host(b.out, bytes), want, bytes) == 0,
           own ? "a stencil" : "a stencil by a plan for other work");
    if (!own) return;

    // A walk by a stencil's plan.
    marks m = {(tmap_u32 *)kit_guarded(s->elements * 4)};
    tmap_u64 wrong = 0;
    CHECK(tmap_each3_plan_make(TMAP_EACH_STENCIL, s->t, s->r, s->pitch, (const void *)mark_turned,
                               &plan));
    plan.offset = s->offset;
    launch(&plan, &m, state);
    const tmap_u32 *got = (const tmap_u32 *)kit_to_host(m.seen, s->elements * 4);
    for (tmap_u64 i = 0; i < s->cells; ++i)
        wrong += got[element_of(s, i)] != 0x5a5a5a5a + marked(s, i);
    expect(!wrong, "every cell is visited once by a stencil's plan");
}

// The words of a state of one byte per cell.
static void pack(const scene *s, const unsigned char *cells, unsigned char *words) {
    const tmap_u32 size = tmap_compact3_word_of(s->t.f, s->r).bytes;
    memset(words, 0, tmap_compact3_words_bytes(s->t.f, s->r));
    for (tmap_u64 i = 0; i < s->cells; ++i) {
        tmap_u64 word;
        tmap_u32 bit;
        tmap_compact3_bit(s->t.f, s->r, i, &word, &bit);
        words[word * size + bit / 8] |= (unsigned char)(cells[i] << bit % 8); // little-endian
    }
}

// Words by a rule of one's own.
static void run_words(const scene *s, tmap_u64 *state) {
    const tmap_compact_word word = tmap_compact3_word_of(s->t.f, s->r);
    const tmap_u32 size = tmap_compact3_slice(word);
    const tmap_u64 words = s->cells / word.cells, all = (s->offset + words) * word.bytes;
    const void *kernel = words_kernel(size);
    unsigned char *cells = (unsigned char *)kit_zeroed(s->cells);
    unsigned char *in = (unsigned char *)kit_zeroed(all + 15);
    unsigned char *want = (unsigned char *)memset(kit_host(all), KIT_POISON, all);
    unsigned char *places = (unsigned char *)kit_host(TMAP_AROUND3 * word.bytes);
    const tmap_pitch3 compact = {TMAP_COMPACT, 0};
    tmap_each3_plan plan;
    CHECK(tmap_each3_plan_make(TMAP_EACH_WORDS, s->t, s->r, compact, kernel, &plan));
    plan.offset = s->offset;
    for (tmap_u64 i = 0; i < s->cells; ++i) cells[i] = kit_below(state, 3) == 0;
    pack(s, cells, in + s->offset * word.bytes);
    for (tmap_u64 w = 0; w < words; ++w) {
        const tmap_xyz64 at = tmap_turned_lambda_linear64(s->t, w, s->r - word.level);
        const tmap_u64 number = s->offset + w, hash = number + at.x + 3 * at.y + 5 * at.z;
        memset(places, 0, TMAP_AROUND3 * word.bytes);
        for (tmap_u32 b = 0; b < word.cells; ++b)
            for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
                const int other = beside(s, b * words + w, n);
                if (other < 0 || !cells[other]) continue; // slice after slice
                places[b / 8 / size * TMAP_AROUND3 * size + n * size + b / 8 % size] |=
                    (unsigned char)(1u << b % 8);
            }
        for (tmap_u32 i = 0; i < word.bytes; ++i) {
            const int left = (int)word.cells - 8 * (int)i; // idle bits are cleared
            const unsigned char *slice = places + i / size * TMAP_AROUND3 * size;
            want[number * word.bytes + i] =
                (unsigned char)(slice_byte(slice, size, i % size, hash) &
                                (left >= 8  ? 0xff
                                 : left > 0 ? (1 << left) - 1
                                            : 0));
        }
    }
    const blend b = {(const tmap_u32 *)kit_to_device(in, all), (tmap_u32 *)kit_guarded(all)};
    launch(&plan, &b, state);
    kit_more(", words of %u cells", word.cells);
    expect(memcmp(kit_to_host(b.out, all), want, all) == 0, "every word once");
}

// Some steps of an automaton of one bit per cell.
static void run_life(const scene *s, int steps, tmap_u64 *state) {
    const tmap_u64 bytes = tmap_compact3_words_bytes(s->t.f, s->r);
    const tmap_ca_rule own = {(tmap_u32)kit_random(state) & 0x7ffffff,
                              (tmap_u32)kit_random(state) & 0x7ffffff};
    const tmap_u64 which = kit_below(state, 3);
    const tmap_ca_rule rule = which == 0 ? tmap_life3_4555() : which == 1 ? tmap_life3_5766() : own;
    unsigned char *now = (unsigned char *)kit_zeroed(s->cells);
    unsigned char *next = (unsigned char *)kit_zeroed(s->cells);
    unsigned char *words = (unsigned char *)kit_zeroed(bytes), *a, *b;
    tmap_each3_plan plan;
    int wrong = 0;
    CHECK(tmap_life3_plan_make(s->t.f, s->r, &plan));
    for (tmap_u64 i = 0; i < s->cells; ++i) now[i] = kit_below(state, 3) == 0;
    pack(s, now, words);
    a = (unsigned char *)kit_guarded(bytes), b = (unsigned char *)kit_guarded(bytes);
    CHECK(cudaMemcpy(a, words, bytes, cudaMemcpyHostToDevice));
    for (int step = 0; step < steps; ++step) {
        unsigned char *swap = a;
        const int mark = kit_mark();
        for (tmap_u64 i = 0; i < s->cells; ++i) {
            tmap_u32 living = 0;
            for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
                const int other = n == TMAP_HERE3 ? -1 : beside(s, i, n);
                if (other >= 0) living += now[other];
            }
            next[i] = (unsigned char)((now[i] ? rule.survive : rule.born) >> living & 1);
        }
        for (tmap_u64 first = 0, count; first < plan.items; first += count) {
            tmap_each3_plan share = plan;
            count = 1 + kit_edge_below(state, plan.items - first);
            CHECK(tmap_each3_plan_share(&share, first, count));
            CHECK(tmap_life3(&share, rule, a, b, 0));
        }
        const unsigned char *got = (const unsigned char *)kit_to_host(b, bytes);
        pack(s, next, words);
        wrong += memcmp(got, words, bytes) != 0;
        a = b, b = swap;
        swap = now, now = next, next = swap;
        kit_release(mark);
    }
    expect(!wrong, "steps of an automaton");
}

static void run_refusals(void) {
    const tmap_xyz two = {2, 2, 2};
    const tmap_nbb3 f = tmap_nbb3_make(4, two, 0x04, 0x10, 0x40);
    const tmap_turned t = tmap_turned_plain(f), turned = tmap_turned_set(t, 1, 9);
    const tmap_turned none = tmap_turned_plain(tmap_nbb3_make(33, two, 0, 0, 0));
    const tmap_pitch3 tight = {0, 0}, narrow = {7, 0}, flat = {8, 63}, compact = {TMAP_COMPACT, 0};
    const void *kernel = (const void *)mark_cells;
    const tmap_ca_rule wide = {1u << 27, 0};
    tmap_each3_plan plan, before;
    char *a = (char *)kit_guarded(1024), *b = (char *)kit_guarded(1024);
    kit_case("refusals");
    memset(&plan, 0, sizeof plan), before = plan;
    REFUSED(tmap_each3_plan_make(TMAP_EACH_VISIT, t, 3, narrow, kernel, &plan));
    REFUSED(tmap_each3_plan_make(TMAP_EACH_VISIT, t, 3, flat, kernel, &plan));
    for (int work = 0; work < TMAP_EACH_WORK_COUNT; ++work) {
        REFUSED(tmap_each3_plan_make(work, t, 3, compact, kernel, NULL));
        REFUSED(tmap_each3_plan_make(work, t, 3, compact, NULL, &plan));
        REFUSED(tmap_each3_plan_make(work, none, 1, compact, kernel, &plan));
        RETURNS(tmap_each3_plan_make(work, t, 40, compact, kernel, &plan),
                cudaErrorInvalidConfiguration);
    }
    RETURNS(tmap_each3_plan_make(TMAP_EACH_VISIT, t, 22, tight, kernel, &plan),
            cudaErrorInvalidConfiguration);
    REFUSED(tmap_each3_plan_make(-1, t, 3, tight, kernel, &plan));
    REFUSED(tmap_each3_plan_make(TMAP_EACH_WORK_COUNT, t, 3, tight, kernel, &plan));
    REFUSED(tmap_each3_plan_make(TMAP_EACH_WORDS, t, 3, tight, kernel, &plan));
    REFUSED(tmap_each3_plan_make(TMAP_EACH_WORDS, turned, 3, compact, kernel, &plan));
    RETURNS(tmap_life3_plan_make(f, 30, &plan), cudaErrorInvalidConfiguration);
    REFUSED(tmap_each3_launch(&plan, a, 0));
    REFUSED(tmap_each3_plan_share(&plan, 0, 0));
    expect(!memcmp(&plan, &before, sizeof plan), "a plan is left alone");
    CHECK(tmap_each3_plan_make(TMAP_EACH_VISIT, t, 3, tight, kernel, &plan));
    REFUSED(tmap_each3_plan_share(&plan, 1, plan.items));
    REFUSED(tmap_each3_plan_share(&plan, plan.items + 1, 0));
    REFUSED(tmap_each3_launch(&plan, NULL, 0));
    REFUSED(tmap_life3(&plan, tmap_life3_4555(), a, b, 0));
    CHECK(tmap_life3_plan_make(f, 4, &plan));
    REFUSED(tmap_life3(&plan, wide, a, b, 0));
    REFUSED(tmap_life3(&plan, tmap_life3_4555(), a, a, 0));
    REFUSED(tmap_life3(&plan, tmap_life3_4555(), a + 8, b, 0));
    REFUSED(tmap_life3(&plan, tmap_life3_4555(), NULL, b, 0));
    REFUSED(tmap_life3(NULL, tmap_life3_4555(), a, b, 0));
}

int main(void) {
    kit_begin();
    const tmap_u64 most = kit_tiny ? 700 : kit_small ? 30000 : !kit_gpu ? 60000 : 300000;
    const int cases = kit_tiny ? 40 : kit_small ? 400 : !kit_gpu ? 600 : 800;
    tmap_u64 state = 0x3d;
    run_refusals();
    kit_release(0);
    for (int i = 0; i < cases; ++i) {
        const tmap_u32 r = (tmap_u32)kit_below(&state, 8);
        scene s;
        if (!check_turn()) continue;
        if (scene_make(&s, BRUTE_TURNED, r, most, &state)) {
            run_walks(&s, &state);
            run_fold(&s, &state);
            if (s.cells < 3000) run_stencil(&s, i % 2, &state);
        }
        if (scene_make(&s, BRUTE_DEEP, r, most, &state)) {
            run_walks(&s, &state);
            run_fold(&s, &state);
            run_stencil(&s, 1, &state);
            if (s.cells < 3000) run_stencil(&s, 0, &state);
            if (s.cells < 3000) run_words(&s, &state);
            run_life(&s, i % 50 ? 2 : 100, &state);
        }
        kit_release(0);
    }
    return kit_end("test_each3");
}
