// SPDX-License-Identifier: MIT
// test_each: tmap_each, tmap_each_into and tmap_each_update by every loop: each cell once and no other
// place, in matrices of any pitch and offset, blocks of any shape, shares that add up; levels past 32
// bits; a launch in a graph; and what the plan makers refuse.
#include "fractal/engine.h"

// ---- visits -------------------------------------------------------------------------------------

// How often each place was visited, and how many visits had a wrong cell.
typedef struct tally {
    tmap_u32 *visits;
    tmap_u64 *wrong;
    tmap_each_plan plan;
} tally;

static __device__ void count_visit(void *job, tmap_cell cell) {
    tally *t = (tally *)job;
    if (!tmap_nbb_contains64(t->plan.f, cell.x, cell.y, t->plan.r) ||
        cell.at != engine_at(&t->plan, cell.x, cell.y))
        atomicAdd(t->wrong, 1ull);
    else
        atomicAdd(&t->visits[cell.at], 1u);
}

static __global__ void __launch_bounds__(512, 2) visit_cells(tmap_each_plan plan, tally t) {
    tmap_each(&plan, count_visit, &t);
}

// Adds the places that are not visited `times` times, if they are cells, else never.
static __global__ void check_visits(tmap_each_plan plan, tmap_u32 times, tmap_u64 n,
                                    const tmap_u32 *visits, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        mine += visits[i] != (engine_cell(&plan, i, &cell) ? times : 0);
    }
    if (mine) atomicAdd(wrong, mine);
}

static tally tally_of(const tmap_each_plan *plan) {
    tally t;
    const tmap_u64 room = engine_room(plan);
    t.visits = (tmap_u32 *)engine_memory(0, room * 4);
    t.wrong = engine_counter, t.plan = *plan;
    CHECK(cudaMemset(t.visits, 0, room * 4));
    return t;
}

static void run_visits(const tmap_each_plan *plan) {
    tally t = tally_of(plan);
    CHECK(tmap_each_launch(plan, &t, 0));
    check_visits<<<ENGINE_GRID>>>(*plan, 1, engine_room(plan), t.visits, t.wrong);
    of_plan(plan);
    expect(engine_counted() == 0, "visits");
}

// Shares of the items, which together are all of them.
static void run_shares(const tmap_each_plan *whole) {
    tally t = tally_of(whole);
    tmap_u64 first = 0;
    for (tmap_u32 i = 0; first < whole->items; ++i) {
        tmap_each_plan part = *whole;
        tmap_u64 count = 1 + check_hash(i, whole->loop) % (whole->items / 3 + 1);
        if (count > whole->items - first) count = whole->items - first;
        CHECK(tmap_each_plan_share(&part, first, count));
        CHECK(tmap_each_launch(&part, &t, 0));
        first += count;
    }
    check_visits<<<ENGINE_GRID>>>(*whole, 1, engine_room(whole), t.visits, t.wrong);
    of_plan(whole);
    expect(engine_counted() == 0, "shares");
}

// Blocks of other shapes than the plan's, as a user may launch them.
static void run_shapes(const tmap_each_plan *plan) {
    const dim3 shapes[] = {dim3(32), dim3(32, 8), dim3(8, 9), dim3(3, 5, 7)};
    tally t = tally_of(plan);
    const unsigned count = COUNT(shapes);
    for (unsigned i = 0; i < count; ++i) visit_cells<<<3, shapes[i], plan->shared>>>(*plan, t);
    check_visits<<<ENGINE_GRID>>>(*plan, count, engine_room(plan), t.visits, t.wrong);
    of_plan(plan);
    expect(engine_counted() == 0, "blocks of other shapes");
}

// ---- single write -------------------------------------------------------------------------------

typedef struct paint {
    tmap_u32 *out;
    tmap_u32 colour;
} paint;

static __device__ void dab(void *job, tmap_cell cell) {
    paint *p = (paint *)job;
    p->out[cell.at] = p->colour;
}

static __global__ void __launch_bounds__(512, 2) paint_cells(tmap_each_plan plan, paint p) {
    const tmap_array out = {p.out, sizeof *p.out};
    tmap_each_into(&plan, dab, out, &p);
}

static void run_paint(const tmap_each_plan *visits) {
    tmap_each_plan plan;
    paint p;
    const tmap_u64 room = engine_room(visits);
    CHECK(
        tmap_each_plan_make(visits->f, visits->r, visits->pitch, (const void *)paint_cells, &plan));
    if (tmap_each_plan_loop(&plan, (int)visits->loop)) return;
    plan.offset = visits->offset;
    p.out = (tmap_u32 *)engine_memory(0, room * 4), p.colour = 1;
    CHECK(cudaMemset(p.out, 0, room * 4));
    CHECK(tmap_each_launch(&plan, &p, 0));
    check_visits<<<ENGINE_GRID>>>(plan, 1, room, p.out, engine_counter);
    of_plan(&plan);
    expect(engine_counted() == 0, "single write");
}

// ---- update -------------------------------------------------------------------------------------

// What place i holds before, and a cell after.
TMAP_FN tmap_u64 before(tmap_u64 i) { return check_hash(i, 3) | (tmap_u64)check_hash(i, 4) << 32; }
TMAP_FN tmap_u64 after(tmap_u64 value, tmap_u64 x, tmap_u64 y) { return value * 5 + 3 * x + y; }

typedef struct update_job {
    void *a;
    tmap_u32 size; // of an element
} update_job;

static __device__ void use(void *p, tmap_cell cell, const void *value) {
    const update_job *j = (const update_job *)p;
    engine_set(j->a, cell.at, j->size, after(engine_get(value, 0, j->size), cell.x, cell.y));
}

// The kernel of one type of element.
#define UPDATE(type) \
    static __device__ void read_##type(void *job, tmap_cell cell, void *value) { \
        *(type *)value = ((const type *)((update_job *)job)->a)[cell.at]; \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        update_##type(tmap_each_plan plan, update_job j) { \
        j.size = sizeof(type); \
        tmap_each_update(&plan, read_##type, use, &j); \
    }
typedef unsigned char u8;
typedef unsigned short u16;
UPDATE(u8)
UPDATE(u16)
UPDATE(tmap_u32)
UPDATE(tmap_u64)
UPDATE(engine_big)
static const struct update_of {
    tmap_u32 size;
    const void *kernel;
} updates[] = {{1, (const void *)update_u8},
               {2, (const void *)update_u16},
               {8, (const void *)update_tmap_u64},
               {16, (const void *)update_engine_big},
               {4, (const void *)update_tmap_u32}};

static __global__ void fill_update(tmap_u64 n, update_job j) {
    ENGINE_EACH_PLACE(i, n) engine_set(j.a, i, j.size, before(i));
}

static __global__ void check_update(tmap_each_plan plan, tmap_u64 n, update_job j,
                                    tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        tmap_u64 want = engine_word(before(i), j.size);
        if (engine_cell(&plan, i, &cell)) want = engine_word(after(want, cell.x, cell.y), j.size);
        mine += engine_get(j.a, i, j.size) != want;
    }
    if (mine) atomicAdd(wrong, mine);
}

static void run_update(const tmap_each_plan *visits, const struct update_of *u) {
    tmap_each_plan plan;
    const tmap_u64 room = engine_room(visits);
    const update_job j = {engine_memory(0, room * u->size), u->size};
    CHECK(tmap_each_update_plan_make(visits->f, visits->r, visits->pitch, u->kernel, &plan));
    if (tmap_each_plan_loop(&plan, (int)visits->loop)) return;
    plan.offset = visits->offset;
    fill_update<<<ENGINE_GRID>>>(room, j);
    CHECK(cudaGetLastError());
    CHECK(tmap_each_launch(&plan, &j, 0));
    check_update<<<ENGINE_GRID>>>(plan, room, j, engine_counter);
    of_plan(&plan);
    EXPECT(engine_counted() == 0, "an update of elements of %u bytes", u->size);
}

// ---- all of it ----------------------------------------------------------------------------------

static void run_fractal(int n, tmap_nbb f) {
    for (tmap_u32 r = 0; engine_fits(f, r); ++r)
        for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop, ++n) {
            tmap_each_plan plan;
            CHECK(tmap_each_plan_make(f, r, engine_pitch(n, tmap_nbb_side_x(f, r), loop),
                                      (const void *)visit_cells, &plan));
            if (tmap_each_plan_loop(&plan, loop)) {
                of_plan(&plan);
                expect(loop == TMAP_EACH_ROWS && r > tmap_rows_level_max(f), "a loop");
                continue;
            }
            of_plan(&plan);
            expect(plan.loop == (tmap_u32)loop && plan.count == plan.items, "a loop");
            plan.offset = engine_offset(n);
            run_visits(&plan);
            run_paint(&plan);
            run_update(&plan, &updates[4]);
            if (n % 3 == 0) run_shares(&plan);
            if (n % 3 == 1) run_shapes(&plan);
            run_update(&plan, &updates[n % 4]);
        }
}

// ---- levels past what a matrix of this machine holds ---------------------------------------------

// Marks the cell's number by tmap_nbb_nu_linear64, less `first`.
typedef struct marks {
    tmap_u32 *mark;
    tmap_u64 first, count, *wrong;
    tmap_each_plan plan;
} marks;

static __device__ void mark_cell(void *job, tmap_cell cell) {
    marks *m = (marks *)job;
    tmap_u64 i = ~0ull;
    if (tmap_nbb_contains64(m->plan.f, cell.x, cell.y, m->plan.r) &&
        cell.at == engine_at(&m->plan, cell.x, cell.y))
        i = tmap_nbb_nu_linear64(m->plan.f, cell.x, cell.y, m->plan.r) - m->first;
    if (i < m->count)
        atomicAdd(&m->mark[i], 1u);
    else
        atomicAdd(m->wrong, 1ull);
}

static __global__ void __launch_bounds__(512, 2) mark_cells(tmap_each_plan plan, marks m) {
    tmap_each(&plan, mark_cell, &m);
}

static __global__ void check_marks(tmap_u64 n, const tmap_u32 *mark, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) mine += mark[i] != 1;
    if (mine) atomicAdd(wrong, mine);
}

// The last `count` items, or all, of a loop that numbers cells as the linear index does.
static void run_marks(tmap_nbb f, tmap_u32 r, int loop, tmap_u64 count) {
    tmap_each_plan plan;
    marks m;
    tmap_u64 of_item;
    CHECK(tmap_each_plan_make(f, r, loop == TMAP_EACH_COMPACT ? TMAP_COMPACT : 0,
                              (const void *)mark_cells, &plan));
    CHECK(tmap_each_plan_loop(&plan, loop));
    if (count > plan.items) count = plan.items;
    CHECK(tmap_each_plan_share(&plan, plan.items - count, count));
    of_item = tmap_nbb_cells(f, plan.tile_level);
    m.first = plan.first * of_item, m.count = plan.count * of_item, m.plan = plan;
    m.mark = (tmap_u32 *)engine_memory(0, m.count * 4), m.wrong = engine_counter;
    CHECK(cudaMemset(m.mark, 0, m.count * 4));
    CHECK(tmap_each_launch(&plan, &m, 0));
    check_marks<<<ENGINE_GRID>>>(m.count, m.mark, m.wrong);
    of_plan(&plan);
    expect(engine_counted() == 0, "a large level");
}

static void run_large(void) {
    const tmap_u64 some = kit_tiny ? 40 : !kit_gpu ? 300 : 100000;
    const tmap_u64 all = !kit_gpu ? some : ~0ull;
    // The Cantor set's last level, 3^20 wide: all 2^20 cells.
    for (int loop = 0; loop < 2; ++loop) run_marks(tmap_fractal_cantor(), 20, loop, all);
    // More than 2^32 cells, and matrices of more than 2^32 places.
    run_marks(tmap_fractal_gasket(), 21, TMAP_EACH_LINEAR, some);
    run_marks(tmap_fractal_gasket(), 25, TMAP_EACH_COLUMNS, some / 32);
    run_marks(tmap_fractal_gasket(), 31, TMAP_EACH_LINEAR, some);
    run_marks(tmap_fractal_carpet(), 13, TMAP_EACH_COLUMNS, some / 32);
    run_marks(tmap_fractal_carpet(), 20, TMAP_EACH_LINEAR, some);
    run_marks(tmap_fractal_gasket(), 25, TMAP_EACH_COMPACT, some / 32);
    run_marks(tmap_fractal_carpet(), 13, TMAP_EACH_COMPACT, some / 32);
}

// ---- graphs -------------------------------------------------------------------------------------

// A planned launch captured into a graph, which runs twice. Not on the CPU machine, which has none.
static void run_graph(void) {
#if defined(__CUDACC_VER_MAJOR__)
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    tmap_each_plan plan;
    tally t;
    CHECK(tmap_each_plan_make(tmap_fractal_carpet(), 6, 0, (const void *)visit_cells, &plan));
    t = tally_of(&plan);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(tmap_each_launch(&plan, &t, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    check_visits<<<ENGINE_GRID>>>(plan, 2, engine_room(&plan), t.visits, t.wrong);
    of_plan(&plan);
    expect(engine_counted() == 0, "a graph, launched twice");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
#endif
}

// ---- refusals -----------------------------------------------------------------------------------

static __global__ void never(tmap_each_plan plan, int job) { (void)plan, (void)job; }

static void run_refusals(void) {
    const tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet();
    const void *kernel = (const void *)never;
    const struct {
        tmap_nbb f;
        tmap_u32 r;
        tmap_u64 pitch;
        cudaError_t want;
    } bad[] = {
        {gasket, 3, 7, cudaErrorInvalidValue}, // below the width
        {gasket, 33, 0, cudaErrorInvalidConfiguration},
        {gasket, 32, 1ull << 62, cudaErrorInvalidConfiguration},
        {carpet, 21, 0, cudaErrorInvalidConfiguration},
        {tmap_fractal_cantor(), 21, 0, cudaErrorInvalidConfiguration}, // few cells, too wide
        {tmap_fractal_cantor(), 22, 0, cudaErrorInvalidConfiguration},
        {gasket, ~0u, 0, cudaErrorInvalidConfiguration},
        {tmap_nbb_make(0, 2, 2, 0, 0), 3, 0, cudaErrorInvalidValue},
        {tmap_nbb_make(3, 0, 2, 0, 0), 3, 0, cudaErrorInvalidValue},
        {tmap_nbb_make(17, 2, 2, 0, 0), 3, 0, cudaErrorInvalidValue},
        {tmap_nbb_make(3, 2, 2, 0x300, 0x110), 3, 0, cudaErrorInvalidValue}, // outside the grid
        {tmap_nbb_make(3, 2, 2, 0x100, 0x410), 3, 0, cudaErrorInvalidValue},
        {tmap_nbb_make(3, 2, 2, 0x110, 0x110), 3, 0, cudaErrorInvalidValue}, // a replica twice
        {tmap_nbb_make(3, 17, 17, 0x100, 0x110), 3, 0, cudaErrorInvalidValue},
    };
    tmap_each_plan plan, same, good;
    int job = 0;
    memset(&plan, 0x77, sizeof plan);
    same = plan;
    for (unsigned i = 0; i < COUNT(bad); ++i) {
        kit_case("refusal %u", i);
        RETURNS(tmap_each_plan_make(bad[i].f, bad[i].r, bad[i].pitch, kernel, &plan), bad[i].want);
        expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal wrote the plan");
    }
    CHECK(tmap_each_plan_make(gasket, 3, 0, kernel, &good));
    of_plan(&good);
    REFUSED(tmap_each_plan_make(gasket, 3, 0, NULL, &plan));
    REFUSED(tmap_each_plan_make(gasket, 3, 0, kernel, NULL));
    REFUSED(tmap_each_plan_share(NULL, 0, 1));
    REFUSED(tmap_each_plan_loop(NULL, 0));
    REFUSED(tmap_each_launch(NULL, &job, 0));
    REFUSED(tmap_each_launch(&good, NULL, 0));
    plan = good;
    of_plan(&plan);
    REFUSED(tmap_each_plan_share(&plan, plan.items, 1));
    REFUSED(tmap_each_plan_share(&plan, 1, plan.items));
    REFUSED(tmap_each_plan_share(&plan, 1, ~0ull));
    RETURNS(tmap_each_plan_loop(&plan, -1), cudaErrorInvalidConfiguration);
    RETURNS(tmap_each_plan_loop(&plan, TMAP_EACH_LOOP_COUNT), cudaErrorInvalidConfiguration);
    expect(memcmp(&plan, &good, sizeof plan) == 0, "a refusal changed the plan");
    CHECK(tmap_each_plan_make(gasket, 27, 0, kernel, &plan)); // more tiles than 32 bits can count
    expect(plan.loop == TMAP_EACH_LINEAR && plan.items == 7625597484987ull, "many cells");
    RETURNS(tmap_each_plan_loop(&plan, TMAP_EACH_COLUMNS), cudaErrorInvalidConfiguration);
    plan = good;
    // No items: no launch, and no error.
    CHECK(tmap_each_plan_share(&plan, 5, 0));
    CHECK(tmap_each_launch(&plan, &job, 0));
    // What else went wrong before is not this launch's error, and stays to be asked for.
    earlier_error();
    RETURNS(tmap_each_launch(&good, &job, 0), cudaSuccess);
    expect(earlier_error_is_there(), "an earlier error");
}

int main(void) {
    engine_begin();
    engine_memory(0, 64);
    for (int i = 0; i < ENGINE_COUNT; ++i)
        if ((!kit_tiny || i % 4 == 0) && check_turn()) run_fractal(i, engine_fractal(i));
    run_large();
    run_graph();
    run_refusals();
    return kit_end("test_each");
}
