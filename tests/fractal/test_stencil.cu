// SPDX-License-Identifier: MIT
// test_stencil: tmap_each_stencil by every loop with a rule that tells all nine places apart, for
// elements of 1 to 16 bytes, and with one that looks at four places only.
#include "fractal/engine.h"

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
    tmap_u32 size, salt; // of an element
} stencil_job;

static __device__ void rule(void *p, tmap_cell cell, tmap_u32 around, const void *nine,
                            void *next) {
    const stencil_job *job = (const stencil_job *)p;
    tmap_u64 value[9];
    for (int i = 0; i < 9; ++i) value[i] = engine_get(nine, i, job->size);
    engine_set(next, 0, job->size, next_of(cell.x, cell.y, around, value) + job->salt);
}

// The kernel of one type of element.
#define STENCIL(type) \
    static __global__ void __launch_bounds__(512, 1) \
        step_##type(tmap_each_plan plan, stencil_job j) { \
        const tmap_array in = {j.in, sizeof(type)}; \
        j.size = sizeof(type), j.salt = 5; \
        tmap_each_stencil(&plan, in, rule, j.out, &j); \
    }
typedef unsigned char u8;
typedef unsigned short u16;
STENCIL(u8)
STENCIL(u16)
STENCIL(tmap_u32)
STENCIL(tmap_u64)
STENCIL(engine_big)
static const struct kernel_of {
    tmap_u32 size;
    const void *step;
} kernels[] = {{1, (const void *)step_u8},
               {2, (const void *)step_u16},
               {4, (const void *)step_tmap_u32},
               {8, (const void *)step_tmap_u64},
               {16, (const void *)step_engine_big}};

static __global__ void fill(tmap_u64 n, tmap_u32 size, void *a) {
    ENGINE_EACH_PLACE(i, n)
    engine_set(a, i, size, check_hash(i, 2) | (tmap_u64)check_hash(i, 3) << 32);
}

static __global__ void compare(tmap_each_plan plan, tmap_u64 n, stencil_job j, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        tmap_u32 around = 0;
        tmap_u64 value[9];
        if (!engine_cell(&plan, i, &cell)) {
            mine += !engine_is_poison(j.out, i, j.size);
            continue;
        }
        for (tmap_u32 p = 0; p < 9; ++p) {
            const tmap_u64 x = cell.x + p % 3 - 1, y = cell.y + p / 3 - 1;
            const int is = tmap_nbb_contains64(plan.f, x, y, plan.r);
            around |= (tmap_u32)is << p;
            value[p] = is ? engine_get(j.in, engine_at(&plan, x, y), j.size) : 0;
        }
        mine += engine_get(j.out, i, j.size) !=
                engine_word(next_of(cell.x, cell.y, around, value) + 5, j.size);
    }
    if (mine) atomicAdd(wrong, mine);
}

static void run(const tmap_each_plan *like, const struct kernel_of *k) {
    tmap_each_plan plan, share;
    const tmap_u64 room = engine_room(like);
    void *in = engine_memory(0, room * k->size);
    stencil_job j = {0, engine_memory(1, room * k->size), k->size, 5};
    CHECK(tmap_each_stencil_plan_make(like->f, like->r, like->pitch, k->step, &plan));
    if (tmap_each_plan_loop(&plan, (int)like->loop)) return;
    plan.offset = like->offset;
    fill<<<ENGINE_GRID>>>(room, k->size, in);
    CHECK(cudaGetLastError());
    for (int dense = 0; dense < 2; ++dense) {
        j.in = engine_exact(&plan, in, k->size);
        plan.dense = (tmap_u32)dense;
        CHECK(cudaMemset(j.out, 0x5a, room * k->size));
        for (int i = 0; i < 2; ++i) { // in two shares
            const tmap_u64 half = plan.items / 3;
            share = plan;
            CHECK(tmap_each_plan_share(&share, i ? half : 0, i ? plan.items - half : half));
            CHECK(tmap_each_launch(&share, &j, 0));
        }
        compare<<<ENGINE_GRID>>>(plan, room, j, engine_counter);
        of_plan(&plan);
        EXPECT(engine_counted() == 0, "a stencil of elements of %u bytes", k->size);
    }
    kit_release(0);
}

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
            run(&like, &kernels[n % 5]);
        }
}

int main(void) {
    engine_begin();
    engine_memory(0, 64);
    for (int i = 0; i < ENGINE_COUNT; ++i)
        if ((!kit_tiny || i % 4 == 0) && check_turn()) run_fractal(i, engine_fractal(i));
    return kit_end("test_stencil");
}
