// SPDX-License-Identifier: MIT
// test_each3: the engine in three dimensions (each3.h, stencil3.h, life3.h) against the host, which
// finds cells and their numbers by the definition, digit by digit: random fractals of all sides and
// levels, and their copies turned at random, in volumes with pitches and an offset and in compact storage, whole and in shares; each
// cell visited once and nothing written beside it; folds; stencils; words of one bit per cell; and
// what is refused.
#include "kit.h"

#include <threadmap/fractal/life3.h>

// ---- the definition -----------------------------------------------------------------------------

// The number of cell (x, y, z) of level r, or -1.
static tmap_i64 number_of(tmap_nbb3 f, tmap_i64 x, tmap_i64 y, tmap_i64 z, tmap_u32 r) {
    tmap_i64 number = 0, power = 1;
    if (x < 0 || y < 0 || z < 0) return -1;
    for (tmap_u32 level = 0; level < r; ++level, power *= f.k) {
        tmap_u32 beta = 0;
        while (beta < f.k && !((f.tau_x >> 2 * beta & 3) == (tmap_u64)x % f.sx &&
                               (f.tau_y >> 2 * beta & 3) == (tmap_u64)y % f.sy &&
                               (f.tau_z >> 2 * beta & 3) == (tmap_u64)z % f.sz))
            ++beta;
        if (beta == f.k) return -1;
        number += beta * power;
        x /= f.sx, y /= f.sy, z /= f.sz;
    }
    return x || y || z ? -1 : number;
}

// A fractal of 1 to 4 boxes an axis with k of them, in random order.
static tmap_nbb3 random_fractal(tmap_u64 *state) {
    tmap_u32 box[64], boxes;
    tmap_nbb3 f = {0, 0, 0, 0, 0, 0, 0};
    f.sx = 1 + (tmap_u32)kit_below(state, 4), f.sy = 1 + (tmap_u32)kit_below(state, 4);
    f.sz = 1 + (tmap_u32)kit_below(state, 4);
    boxes = f.sx * f.sy * f.sz;
    f.k = 1 + (tmap_u32)kit_edge_below(state, boxes < 32 ? boxes : 32);
    for (tmap_u32 i = 0; i < boxes; ++i) box[i] = i;
    for (tmap_u32 i = 0; i < f.k; ++i) {
        const tmap_u32 j = i + (tmap_u32)kit_below(state, boxes - i), b = box[j];
        box[j] = box[i];
        f.tau_x |= (tmap_u64)(b % f.sx) << 2 * i;
        f.tau_y |= (tmap_u64)(b / f.sx % f.sy) << 2 * i;
        f.tau_z |= (tmap_u64)(b / f.sx / f.sy) << 2 * i;
    }
    return f;
}

// The fractal with copies that are turned at random, as its sides allow.
static tmap_turned random_turns(tmap_nbb3 f, tmap_u64 *state) {
    tmap_turned t = tmap_turned_make(f, 0, 0, 0);
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        tmap_turned u = t;
        do u = tmap_turned_set(t, beta, (tmap_u32)kit_below(state, 48));
        while (tmap_turned_check(u) != TMAP_OK);
        t = u;
    }
    return t;
}

// A fractal, a level and where its cells lie.
typedef struct scene {
    tmap_nbb3 f;
    tmap_turned t;          // the same with turned copies, or without
    tmap_u32 r, sx, sy, sz; // sides in places
    tmap_pitch3 pitch;
    tmap_u64 offset, cells, elements; // of an array that holds the fractal, and some more
    tmap_i64 *number;                 // of each place, or -1
} scene;

static tmap_i64 *number_at(const scene *s, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    return &s->number[(z * s->sy + y) * s->sx + x];
}

static tmap_u64 element_of(const scene *s, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    if (s->pitch.row == TMAP_COMPACT) return s->offset + (tmap_u64)*number_at(s, x, y, z);
    return s->offset + x + y * s->pitch.row + z * s->pitch.plane;
}

// 0 if the fractal of this level has too many places.
static int scene_make(scene *s, tmap_turned t, tmap_u32 r, tmap_u64 most, tmap_u64 *state) {
    const tmap_nbb3 f = t.f;
    const int turned = !tmap_turned_equal(t, tmap_turned_make(f, 0, 0, 0));
    const tmap_u64 width = tmap_nbb3_side_x(f, r), height = tmap_nbb3_side_y(f, r),
                   depth = tmap_nbb3_side_z(f, r);
    if (tmap_mul_saturate(tmap_mul_saturate(width, height), depth) > most) return 0;
    s->f = f, s->t = t, s->r = r, s->sx = (tmap_u32)width, s->sy = (tmap_u32)height,
    s->sz = (tmap_u32)depth;
    s->cells = 0;
    s->number = (tmap_i64 *)kit_host(width * height * depth * sizeof *s->number);
    for (tmap_u64 z = 0; z < depth; ++z)
        for (tmap_u64 y = 0; y < height; ++y)
            for (tmap_u64 x = 0; x < width; ++x)
                s->cells += (*number_at(s, x, y, z) =
                                 number_of(f, (tmap_i64)x, (tmap_i64)y, (tmap_i64)z, r)) >= 0;
    for (tmap_u64 i = 0; turned && i < width * height * depth; ++i) s->number[i] = -1;
    for (tmap_u32 i = 0; turned && i < s->cells; ++i) { // turned_cells.c proves this map
        const tmap_xyz c = tmap_turned_lambda_linear(t, i, r);
        *number_at(s, c.x, c.y, c.z) = i;
    }
    s->offset = kit_below(state, 3) * kit_below(state, 40);
    if (kit_below(state, 3) == 0) {
        s->pitch.row = TMAP_COMPACT, s->pitch.plane = 0;
        s->elements = s->offset + s->cells + 5;
    } else {
        s->pitch.row = width + kit_below(state, 2) * kit_below(state, 9);
        s->pitch.plane = s->pitch.row * height - (s->pitch.row - width) + kit_below(state, 20);
        s->elements = s->offset + s->pitch.plane * depth + 7;
    }
    kit_case("k %u, %u x %u x %u, tau %llx %llx %llx, turn %llx %llx %llx, level %u, row %lld, "
             "plane %llu, offset %llu",
             f.k, f.sx, f.sy, f.sz, f.tau_x, f.tau_y, f.tau_z, t.turn_a, t.turn_b, t.turn_c, r,
             (tmap_i64)s->pitch.row, s->pitch.plane, s->offset);
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

static __device__ void twice_read(void *job, tmap_cell3 cell, void *value) {
    *(tmap_u32 *)value = ((const marks *)job)->seen[cell.at];
}
static __device__ void twice_use(void *job, tmap_cell3 cell, const void *value) {
    ((const marks *)job)->seen[cell.at] = 2 * *(const tmap_u32 *)value + cell.z;
}
static __global__ void __launch_bounds__(512, 2) twice_cells(tmap_each3_plan plan, marks m) {
    tmap_each3_update(&plan, twice_read, twice_use, &m);
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

typedef struct blend {
    const tmap_u32 *in;
    tmap_u32 *out;
} blend;
// Of all places and of their values, none of which can be exchanged.
TMAP_FN tmap_u32 blended(tmap_u32 around, const tmap_u32 *v, tmap_u32 z) {
    tmap_u32 sum = around * 2654435761u + z;
    for (tmap_u32 i = 0; i < TMAP_AROUND3; ++i) sum = sum * 31 + v[i];
    return sum;
}
static __device__ void blend_rule(void *job, tmap_cell3 cell, tmap_u32 around, const void *places,
                                  void *next) {
    (void)job;
    *(tmap_u32 *)next = blended(around, (const tmap_u32 *)places, cell.z + 5 * cell.y);
}
static __global__ void __launch_bounds__(512, 1) blend_cells(tmap_each3_plan plan, blend b) {
    const tmap_array in = {b.in, sizeof *b.in};
    tmap_each3_stencil(&plan, in, blend_rule, b.out, &b);
}

// ---- cases --------------------------------------------------------------------------------------

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

static void run_walks(const scene *s, tmap_u64 *state) {
    const tmap_u64 bytes = s->elements * 4;
    tmap_u32 *want = (tmap_u32 *)kit_host(bytes);
    marks m = {(tmap_u32 *)kit_guarded(bytes)};
    tmap_each3_plan plan;
    CHECK(tmap_each3_turned_plan_make(s->t, s->r, s->pitch, (const void *)mark_cells, &plan));
    plan.offset = s->offset;
    expect(tmap_each3_plan_places(&plan) <= s->elements, "places");
    launch(&plan, &m, state);
    CHECK(tmap_each3_turned_plan_make(s->t, s->r, s->pitch, (const void *)twice_cells, &plan));
    plan.offset = s->offset;
    launch(&plan, &m, state);
    for (tmap_u32 z = 0; z < s->sz; ++z)
        for (tmap_u32 y = 0; y < s->sy; ++y)
            for (tmap_u32 x = 0; x < s->sx; ++x) {
                tmap_u32 *w;
                if (*number_at(s, x, y, z) < 0) continue;
                w = &want[element_of(s, x, y, z)];
                *w = 2 * (*w + 1 + (x << 8) + (y << 16) + (z << 24)) + z;
            }
    expect(memcmp(kit_to_host(m.seen, bytes), want, bytes) == 0, "every cell is visited once");
}

static void run_fold(const scene *s, tmap_u64 *state) {
    unsigned short *host = (unsigned short *)kit_host(s->elements * 2);
    tmap_u64 want = 0, sum = 0;
    tmap_each3_plan plan;
    summing j;
    for (tmap_u64 i = 0; i < s->elements; ++i) host[i] = (unsigned short)check_hash(i, s->cells);
    for (tmap_u32 z = 0; z < s->sz; ++z)
        for (tmap_u32 y = 0; y < s->sy; ++y)
            for (tmap_u32 x = 0; x < s->sx; ++x)
                if (*number_at(s, x, y, z) >= 0)
                    want += host[element_of(s, x, y, z)] * (1ull + x + 3 * y + 7 * z);
    CHECK(tmap_each3_turned_plan_make(s->t, s->r, s->pitch, (const void *)sum_cells, &plan));
    plan.offset = s->offset;
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

static void run_stencil(const scene *s, tmap_u64 *state) {
    const tmap_u64 bytes = s->elements * 4;
    tmap_u32 *in = (tmap_u32 *)kit_host(bytes), *want = (tmap_u32 *)kit_host(bytes);
    tmap_each3_plan plan;
    blend b;
    for (tmap_u64 i = 0; i < s->elements; ++i) in[i] = (tmap_u32)check_hash(i, s->r);
    for (tmap_u32 z = 0; z < s->sz; ++z)
        for (tmap_u32 y = 0; y < s->sy; ++y)
            for (tmap_u32 x = 0; x < s->sx; ++x) {
                tmap_u32 v[TMAP_AROUND3] = {0}, around = 0;
                if (*number_at(s, x, y, z) < 0) continue;
                for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
                    const tmap_u32 px = x + n % 3 - 1, py = y + n / 3 % 3 - 1, pz = z + n / 9 - 1;
                    if (px >= s->sx || py >= s->sy || pz >= s->sz || *number_at(s, px, py, pz) < 0)
                        continue;
                    around |= 1u << n, v[n] = in[element_of(s, px, py, pz)];
                }
                want[element_of(s, x, y, z)] = blended(around, v, z + 5 * y);
            }
    CHECK(tmap_each3_stencil_plan_make(s->f, s->r, s->pitch, (const void *)blend_cells, &plan));
    plan.offset = s->offset;
    b.in = (const tmap_u32 *)kit_to_device(in, bytes), b.out = (tmap_u32 *)kit_guarded(bytes);
    launch(&plan, &b, state);
    expect(memcmp(kit_to_host(b.out, bytes), want, bytes) == 0, "a stencil");

    // A walk by a stencil's plan.
    const tmap_u64 mark = 0x5a5a5a5a;
    marks m = {(tmap_u32 *)kit_guarded(bytes)};
    tmap_u64 wrong = 0;
    CHECK(tmap_each3_stencil_plan_make(s->f, s->r, s->pitch, (const void *)mark_cells, &plan));
    plan.offset = s->offset;
    launch(&plan, &m, state);
    const tmap_u32 *got = (const tmap_u32 *)kit_to_host(m.seen, bytes);
    for (tmap_u32 z = 0; z < s->sz; ++z)
        for (tmap_u32 y = 0; y < s->sy; ++y)
            for (tmap_u32 x = 0; x < s->sx; ++x)
                if (*number_at(s, x, y, z) >= 0)
                    wrong += got[element_of(s, x, y, z)] !=
                             (tmap_u32)(mark + 1 + (x << 8) + (y << 16) + (z << 24));
    expect(!wrong, "every cell is visited once by a stencil's plan");
}

// Some steps of an automaton of one bit per cell.
static void run_life(const scene *s, int steps, tmap_u64 *state) {
    const tmap_u64 bytes = tmap_compact3_words_bytes(s->f, s->r);
    const tmap_u32 size = tmap_compact3_word_of(s->f, s->r).bytes;
    const tmap_ca_rule own = {(tmap_u32)kit_random(state) & 0x7ffffff,
                              (tmap_u32)kit_random(state) & 0x7ffffff};
    const tmap_u64 which = kit_below(state, 3);
    const tmap_ca_rule rule = which == 0 ? tmap_life3_4555() : which == 1 ? tmap_life3_5766() : own;
    unsigned char *now = (unsigned char *)kit_zeroed(s->cells);
    unsigned char *next = (unsigned char *)kit_zeroed(s->cells);
    unsigned char *words = (unsigned char *)kit_zeroed(bytes), *a, *b;
    tmap_each3_plan plan;
    int wrong = 0;
    CHECK(tmap_life3_plan_make(s->f, s->r, &plan));
    for (tmap_u64 i = 0; i < s->cells; ++i) {
        tmap_u64 word;
        tmap_u32 bit;
        now[i] = kit_below(state, 3) == 0;
        tmap_compact3_bit(s->f, s->r, i, &word, &bit);
        words[word * size + bit / 8] |= (unsigned char)(now[i] << bit % 8); // little-endian
    }
    a = (unsigned char *)kit_guarded(bytes), b = (unsigned char *)kit_guarded(bytes);
    CHECK(cudaMemcpy(a, words, bytes, cudaMemcpyHostToDevice));
    for (int step = 0; step < steps; ++step) {
        unsigned char *swap = a;
        const int mark = kit_mark();
        for (tmap_u32 z = 0; z < s->sz; ++z)
            for (tmap_u32 y = 0; y < s->sy; ++y)
                for (tmap_u32 x = 0; x < s->sx; ++x) {
                    const tmap_i64 i = *number_at(s, x, y, z);
                    tmap_u32 living = 0;
                    if (i < 0) continue;
                    for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
                        const tmap_u32 px = x + n % 3 - 1, py = y + n / 3 % 3 - 1,
                                       pz = z + n / 9 - 1;
                        if (n != TMAP_HERE3 && px < s->sx && py < s->sy && pz < s->sz &&
                            *number_at(s, px, py, pz) >= 0)
                            living += now[*number_at(s, px, py, pz)];
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
        memset(words, 0, bytes);
        for (tmap_u64 i = 0; i < s->cells; ++i) {
            tmap_u64 word;
            tmap_u32 bit;
            tmap_compact3_bit(s->f, s->r, i, &word, &bit);
            words[word * size + bit / 8] |= (unsigned char)(next[i] << bit % 8);
        }
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
    const tmap_pitch3 tight = {0, 0}, narrow = {7, 0}, flat = {8, 63}, compact = {TMAP_COMPACT, 0};
    const void *kernel = (const void *)mark_cells;
    const tmap_ca_rule wide = {1u << 27, 0};
    tmap_each3_plan plan, before;
    char *a = (char *)kit_guarded(1024), *b = (char *)kit_guarded(1024);
    kit_case("refusals");
    memset(&plan, 0, sizeof plan), before = plan;
    REFUSED(tmap_each3_plan_make(f, 3, narrow, kernel, &plan));
    REFUSED(tmap_each3_plan_make(f, 3, flat, kernel, &plan));
    REFUSED(tmap_each3_plan_make(f, 3, tight, kernel, NULL));
    REFUSED(tmap_each3_plan_make(f, 3, tight, NULL, &plan));
    REFUSED(tmap_each3_plan_make(tmap_nbb3_make(33, two, 0, 0, 0), 1, tight, kernel, &plan));
    RETURNS(tmap_each3_plan_make(f, 22, tight, kernel, &plan), cudaErrorInvalidConfiguration);
    RETURNS(tmap_each3_plan_make(f, 40, compact, kernel, &plan), cudaErrorInvalidConfiguration);
    RETURNS(tmap_life3_plan_make(f, 30, &plan), cudaErrorInvalidConfiguration);
    REFUSED(tmap_each3_launch(&plan, a, 0));
    expect(!memcmp(&plan, &before, sizeof plan), "a plan is left alone");
    CHECK(tmap_each3_plan_make(f, 3, tight, kernel, &plan));
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
    const tmap_u64 most = kit_tiny ? 700 : !kit_gpu ? 60000 : 300000;
    const int cases = kit_tiny ? 40 : !kit_gpu ? 600 : 800;
    tmap_u64 state = 0x3d;
    run_refusals();
    kit_release(0);
    for (int i = 0; i < cases; ++i) {
        const tmap_nbb3 f = random_fractal(&state);
        const tmap_u32 r = (tmap_u32)kit_below(&state, 8);
        scene s;
        if (!check_turn()) continue;
        if (scene_make(&s, random_turns(f, &state), r, most, &state)) {
            run_walks(&s, &state);
            run_fold(&s, &state);
        }
        if (scene_make(&s, tmap_turned_make(f, 0, 0, 0), r, most, &state)) {
            run_walks(&s, &state);
            run_fold(&s, &state);
            run_stencil(&s, &state);
            run_life(&s, i % 50 ? 2 : 100, &state);
        }
        kit_release(0);
    }
    return kit_end("test_each3");
}
