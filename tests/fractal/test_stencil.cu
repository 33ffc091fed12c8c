// SPDX-License-Identifier: MIT
// test_stencil: tmap_each_stencil by every loop with a rule that tells all nine places apart, for
// elements of 1 to 16 bytes, and with one that looks at four places only.
#include "fractal/engine.h"

typedef struct big {
    tmap_u64 low, high;
} big;

// A cell's next value: of its coordinates, of which places around it are cells, and of their
// values.
TMAP_FN tmap_u64 mixed(tmap_u64 sum, tmap_u64 value) {
    return (sum ^ value) * 0x9e3779b97f4a7c15ull + (sum >> 29);
}
TMAP_FN tmap_u64 next_of(tmap_u64 x, tmap_u64 y, tmap_u32 around, const tmap_u64 *nine) {
    tmap_u64 sum = mixed(x << 20 ^ y, around);
    for (int i = 0; i < 9; ++i) sum = mixed(sum, nine[i]);
    return sum;
}

typedef struct stencil_job {
    const void *in;
    void *out;
} stencil_job;

#define SET_WORD(type, word, value) (word) = (type)(value)
#define GET_WORD(word)              ((tmap_u64)(word))
#define SAME_WORD(a, b)             ((a) == (b))
#define SET_BIG(type, word, value)  (word).low = (value), (word).high = (value) + 1
#define GET_BIG(word)               ((word).low * 3 + (word).high)
#define SAME_BIG(a, b)              ((a).low == (b).low && (a).high == (b).high)

// One type of element.
#define STENCIL(name, type, set, get, same) \
    static __device__ void rule_##name(void *job, tmap_cell cell, tmap_u32 around, \
                                       const void *nine, void *next) { \
        const type *v = (const type *)nine; \
        tmap_u64 value[9], sum; \
        for (int i = 0; i < 9; ++i) value[i] = get(v[i]); \
        sum = next_of(cell.x, cell.y, around, value); \
        set(type, *(type *)next, sum + *(const tmap_u32 *)job); \
    } \
    static __global__ void __launch_bounds__(512, 1) \
        step_##name(tmap_each_plan plan, stencil_job j) { \
        tmap_u32 salt = 5; \
        const tmap_array in = {j.in, sizeof(type)}; \
        tmap_each_stencil(&plan, in, rule_##name, j.out, &salt); \
    } \
    static __global__ void fill_##name(tmap_u64 n, type *a) { \
        ENGINE_EACH_PLACE(i, n) { \
            const tmap_u64 value = check_hash(i, 2) | (tmap_u64)check_hash(i, 3) << 32; \
            set(type, a[i], value); \
        } \
    } \
    static __global__ void check_##name(tmap_each_plan plan, tmap_u64 n, const type *in, \
                                        const type *out, tmap_u64 *wrong) { \
        tmap_u64 mine = 0; \
        ENGINE_EACH_PLACE(i, n) { \
            tmap_xy64 cell; \
            type want; \
            memset(&want, 0x5a, sizeof want); \
            if (engine_cell(&plan, i, &cell)) { \
                tmap_u32 around = 0; \
                tmap_u64 value[9], sum; \
                for (tmap_u32 p = 0; p < 9; ++p) { \
                    const int is = tmap_nbb_contains64(plan.f, cell.x + p % 3 - 1, \
                                                       cell.y + p / 3 - 1, plan.r); \
                    around |= (tmap_u32)is << p; \
                    value[p] = \
                        is ? get(in[engine_at(&plan, cell.x + p % 3 - 1, cell.y + p / 3 - 1)]) \
                           : 0; \
                } \
                sum = next_of(cell.x, cell.y, around, value); \
                set(type, want, sum + 5); \
            } \
            mine += !same(want, out[i]); \
        } \
        if (mine) atomicAdd(wrong, mine); \
    } \
    static void run_##name(const tmap_each_plan *like) { \
        tmap_each_plan plan, share; \
        const tmap_u64 room = engine_room(like); \
        type *in = (type *)engine_memory(0, room * sizeof(type)); \
        type *out = (type *)engine_memory(1, room * sizeof(type)), *exact; \
        stencil_job j; \
        CHECK(tmap_each_stencil_plan_make(like->f, like->r, like->pitch, \
                                          (const void *)step_##name, &plan)); \
        if (tmap_each_plan_loop(&plan, (int)like->loop)) return; \
        plan.offset = like->offset; \
        { \
            void *arguments[] = {(void *)&room, (void *)&in}; \
            engine_launch((const void *)fill_##name, arguments); \
        } \
        exact = (type *)engine_exact(&plan, in, sizeof(type)); \
        j.in = exact, j.out = out; \
        for (int dense = 0; dense < 2; ++dense) { \
            plan.dense = (tmap_u32)dense; \
            CHECK(cudaMemset(out, 0x5a, room * sizeof(type))); \
            for (int i = 0; i < 2; ++i) { /* in two shares */ \
                const tmap_u64 half = plan.items / 3; \
                share = plan; \
                CHECK(tmap_each_plan_share(&share, i ? half : 0, i ? plan.items - half : half)); \
                CHECK(tmap_each_launch(&share, &j, 0)); \
            } \
            { \
                void *arguments[] = {(void *)&plan, (void *)&room, (void *)&in, (void *)&out, \
                                     (void *)&engine_counter}; \
                engine_launch((const void *)check_##name, arguments); \
            } \
            of_plan(&plan); \
\
            expect(engine_counted() == 0, "stencil of " #name); \
        } \
        kit_release(0); \
    }

typedef unsigned char u8;
typedef unsigned short u16;
typedef tmap_u32 u32;
typedef tmap_u64 u64;
STENCIL(u8, u8, SET_WORD, GET_WORD, SAME_WORD)
STENCIL(u16, u16, SET_WORD, GET_WORD, SAME_WORD)
STENCIL(u32, u32, SET_WORD, GET_WORD, SAME_WORD)
STENCIL(u64, u64, SET_WORD, GET_WORD, SAME_WORD)
STENCIL(big, big, SET_BIG, GET_BIG, SAME_BIG)

// ---- four neighbours ----------------------------------------------------------------------------

// Heat in whole numbers, which every order of additions gives alike; as the example of stencil.h.
static __device__ void flow(void *job, tmap_cell cell, tmap_u32 around, const void *nine,
                            void *next) {
    const int *v = (const int *)nine, here = v[TMAP_HERE];
    int sum = 0;
    (void)cell;
    if (around >> TMAP_NORTH & 1) sum += v[TMAP_NORTH] - here;
    if (around >> TMAP_WEST & 1) sum += v[TMAP_WEST] - here;
    if (around >> TMAP_EAST & 1) sum += v[TMAP_EAST] - here;
    if (around >> TMAP_SOUTH & 1) sum += v[TMAP_SOUTH] - here;
    *(int *)next = here * *(const int *)job + sum;
}

static __global__ void __launch_bounds__(512, 2) step_heat(tmap_each_plan plan, stencil_job j) {
    int factor = 8;
    const tmap_array in = {j.in, sizeof(int)};
    tmap_each_stencil(&plan, in, flow, j.out, &factor);
}

static __global__ void fill_heat(tmap_u64 n, int *a) {
    ENGINE_EACH_PLACE(i, n) a[i] = (int)(check_hash(i, 7) % 1000);
}

static __global__ void check_heat(tmap_each_plan plan, tmap_u64 n, const int *in, const int *out,
                                  tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        int want = 0x5a5a5a5a;
        if (engine_cell(&plan, i, &cell)) {
            want = 8 * in[i];
            for (tmap_u32 p = 1; p < 9; p += 2)
                if (tmap_nbb_contains64(plan.f, cell.x + p % 3 - 1, cell.y + p / 3 - 1, plan.r))
                    want += in[engine_at(&plan, cell.x + p % 3 - 1, cell.y + p / 3 - 1)] - in[i];
        }
        mine += out[i] != want;
    }
    if (mine) atomicAdd(wrong, mine);
}

static void run_heat(const tmap_each_plan *like) {
    tmap_each_plan plan;
    const tmap_u64 room = engine_room(like);
    int *in = (int *)engine_memory(0, room * sizeof(int));
    int *out = (int *)engine_memory(1, room * sizeof(int));
    stencil_job j;
    CHECK(
        tmap_each_stencil_plan_make(like->f, like->r, like->pitch, (const void *)step_heat, &plan));
    if (tmap_each_plan_loop(&plan, (int)like->loop)) return;
    plan.offset = like->offset;
    j.in = in, j.out = out;
    fill_heat<<<ENGINE_GRID>>>(room, in);
    CHECK(cudaMemset(out, 0x5a, room * sizeof(int)));
    CHECK(tmap_each_launch(&plan, &j, 0));
    check_heat<<<ENGINE_GRID>>>(plan, room, in, out, engine_counter);
    of_plan(&plan);
    expect(engine_counted() == 0, "heat");
}

// ---- all of it ----------------------------------------------------------------------------------

static __global__ void any_kernel(tmap_each_plan plan, int job) { (void)plan, (void)job; }

static void run_fractal(int n, tmap_nbb f) {
    for (tmap_u32 r = 0; engine_fits(f, r); ++r)
        for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop, ++n) {
            tmap_each_plan like;
            // By other loops than that of tiles a rule is called cell by cell: three levels will
            // do.
            if (loop != TMAP_EACH_COLUMNS && loop != TMAP_EACH_COMPACT && r > 2) continue;
            CHECK(tmap_each_stencil_plan_make(f, r, engine_pitch(n, tmap_nbb_side_x(f, r), loop),
                                              (const void *)any_kernel, &like));
            of_plan(&like);
            expect(like.loop ==
                       (like.pitch == TMAP_COMPACT ? TMAP_EACH_COMPACT : TMAP_EACH_COLUMNS),
                   "the loop of a stencil");
            if (tmap_each_plan_loop(&like, loop)) continue;
            like.offset = engine_offset(n);
            run_heat(&like);
            switch (n % 5) {
            case 0: run_u8(&like); break;
            case 1: run_u16(&like); break;
            case 2: run_u32(&like); break;
            case 3: run_u64(&like); break;
            default: run_big(&like);
            }
        }
}

int main(void) {
    engine_begin();
    engine_memory(0, 64);
    for (int i = 0; i < ENGINE_COUNT; ++i)
        if ((!kit_tiny || i % 4 == 0) && check_turn()) run_fractal(i, engine_fractal(i));
    return kit_end("test_stencil");
}
