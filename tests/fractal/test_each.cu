// SPDX-License-Identifier: MIT
// test_each: levels past 32 bits, of which a share is visited; a planned launch in a graph; and what the
// makers of plans refuse. Levels that a matrix of this machine holds: test_engines.
#include "fractal/engine.h"

// ---- levels past what a matrix of this machine holds ---------------------------------------------

// The element of a cell.
TMAP_FN tmap_u64 element_of(const tmap_each_plan *plan, tmap_u64 x, tmap_u64 y) {
    if (plan->pitch == TMAP_COMPACT)
        return plan->offset + tmap_nbb_nu_linear64(plan->f, x, y, plan->r);
    return plan->offset + y * plan->pitch + x;
}

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
        cell.at == element_of(&m->plan, cell.x, cell.y))
        i = tmap_nbb_nu_linear64(m->plan.f, cell.x, cell.y, m->plan.r) - m->first;
    if (i < m->count)
        atomicAdd(&m->mark[i], 1u);
    else
        atomicAdd(m->wrong, 1ull);
}

static __global__ void __launch_bounds__(512, 2) mark_cells(tmap_each_plan plan, marks m) {
    tmap_each(&plan, mark_cell, &m);
}

// Memory for the cells of the plan's share.
static marks marks_of(const tmap_each_plan *plan) {
    const tmap_u64 of_item = tmap_nbb_cells(plan->f, plan->tile_level);
    const marks m = {(tmap_u32 *)kit_guarded(plan->count * of_item * 4), plan->first * of_item,
                     plan->count * of_item, (tmap_u64 *)kit_guarded(8), *plan};
    CHECK(cudaMemset(m.mark, 0, m.count * 4));
    CHECK(cudaMemset(m.wrong, 0, 8));
    return m;
}

// Each cell of the share was visited so often, and no other.
static void check_marks(const marks *m, tmap_u32 times, const char *what) {
    const tmap_u32 *mark = (const tmap_u32 *)kit_to_host(m->mark, m->count * 4);
    tmap_u64 wrong = *(const tmap_u64 *)kit_to_host(m->wrong, 8);
    for (tmap_u64 i = 0; i < m->count; ++i) wrong += mark[i] != times;
    of_plan(&m->plan);
    expect(wrong == 0, what);
    kit_release(0);
}

// The last `count` items, or all, of a loop that numbers cells as the linear index does.
static void run_marks(tmap_nbb f, tmap_u32 r, int loop, tmap_u64 count) {
    tmap_each_plan plan;
    CHECK(tmap_each_plan_make(f, r, loop == TMAP_EACH_COMPACT ? TMAP_COMPACT : 0,
                              (const void *)mark_cells, &plan));
    CHECK(tmap_each_plan_loop(&plan, loop));
    if (count > plan.items) count = plan.items;
    CHECK(tmap_each_plan_share(&plan, plan.items - count, count));
    const marks m = marks_of(&plan);
    CHECK(tmap_each_launch(&plan, &m, 0));
    check_marks(&m, 1, "a large level");
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
    CHECK(tmap_each_plan_make(tmap_fractal_carpet(), 6, 0, (const void *)mark_cells, &plan));
    const marks m = marks_of(&plan);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(tmap_each_launch(&plan, &m, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    check_marks(&m, 2, "a graph, launched twice");
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
    kit_begin();
    run_large();
    run_graph();
    run_refusals();
    return kit_end("test_each");
}
