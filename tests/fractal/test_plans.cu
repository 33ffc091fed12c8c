// SPDX-License-Identifier: MIT
// test_plans: plans of every maker with the facts of many devices, their numbers alone: a launch
// fits the device, and a share needs no more than its whole; plans from facts; the last levels, and
// levels past 32 bits, of which a share is visited; a planned launch in a graph; and what is
// refused. What launches by these plans compute: test_ready, test_engines.
//
// A GPU has the facts that it has, and goes through the cases once.
#include "fractal/plans.h"
#include <stddef.h>

// Plans need the attributes of a kernel alone.
static __global__ void __launch_bounds__(512, 2) any_kernel(tmap_each_plan plan, int job) {
    (void)plan, (void)job;
}
static const void *const kernel = (const void *)any_kernel;

// The same as engine_plan from facts.
static int engine_plan_of(int maker, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                          const tmap_facts *facts, tmap_each_plan *plan) {
    if (maker < ENGINES) return tmap_each_plan_of(maker, f, r, pitch, facts, plan);
    return tmap_each_plan_of(TMAP_EACH_WORDS, f, r + tmap_compact_word_of(f, 64).level,
                             TMAP_COMPACT, facts, plan);
}

// ---- numbers ------------------------------------------------------------------------------------

// A share needs no more than its whole: not more blocks, for which a fold's memory is counted.
static void check_share(const tmap_each_plan *whole, tmap_u64 first, tmap_u64 count) {
    tmap_each_plan share = *whole;
    CHECK(tmap_each_plan_share(&share, first, count));
    of_plan(&share);
    expect(share.grid >= 1 && share.grid <= whole->grid && share.block == whole->block &&
               share.shared == whole->shared &&
               tmap_each_fold_bytes(&share, 8) <= tmap_each_fold_bytes(whole, 8),
           "a share that needs more than its whole");
    expect(share.loop != TMAP_EACH_ROWS || share.chunk % 32 == 0, "a share's chunk");
    CHECK(tmap_each_plan_share(&share, 0, whole->items));
    expect(share.grid == whole->grid && share.chunk == whole->chunk, "the whole again");
}

static void check_plan(const tmap_each_plan *plan) {
    struct cudaFuncAttributes attributes;
    int most, resident;
    CHECK(cudaFuncGetAttributes(&attributes, plan->kernel));
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    of_plan(plan);
    expect(plan->shared + attributes.sharedSizeBytes <= (size_t)most &&
               (int)plan->shared <= attributes.maxDynamicSharedSizeBytes,
           "shared memory");
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, plan->kernel, (int)plan->block,
                                                        plan->shared));
    expect(resident >= 1 && plan->block % 32 == 0 && plan->grid >= 1, "a block that fits");
    expect(plan->items == tmap_nbb_cells(plan->f, plan->r - plan->tile_level), "items");
    check_share(plan, plan->items, 0);
    for (int i = 0; i < 5; ++i) {
        const tmap_u64 first = below(plan->items), some = 1 + below(plan->items - first);
        check_share(plan, first, some);
        check_share(plan, 0, 1 + (some - 1) / (1 + below(100)));
    }
}

static void run_numbers(tmap_nbb f, tmap_u32 r) {
    static const tmap_u32 works[MAKERS] = {TMAP_EACH_VISIT,   TMAP_EACH_UPDATE,  TMAP_EACH_FOLD,
                                           TMAP_EACH_STENCIL, TMAP_EACH_VISIT,   TMAP_EACH_STENCIL,
                                           TMAP_EACH_STENCIL, TMAP_EACH_STENCIL, TMAP_EACH_UPDATE,
                                           TMAP_EACH_UPDATE,  TMAP_EACH_FOLD,    TMAP_EACH_STENCIL,
                                           TMAP_EACH_WORDS};
    for (int maker = 0; maker < MAKERS; ++maker) {
        client c;
        const cudaError_t error =
            client_make(maker, (tmap_u32)below(30), f, r, random_pitch(f, r), kernel, &c);
        if (error == cudaErrorInvalidConfiguration) continue; // the level
        CHECK(error);
        check_plan(c.plan);
        EXPECT(c.plan->work == works[maker], "maker %d", maker);
        if (maker < ENGINES || maker == RD || maker == SW)
            for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT; ++loop)
                if (!tmap_each_plan_loop(c.plan, loop)) check_plan(c.plan);
    }
}

// What is expected of a level, with the level in the message.
static void expect_level(int ok, const char *what, tmap_nbb f, tmap_u32 r) {
    if (!ok)
        kit_case("fractal k=%u s=%ux%u tau %llx %llx, r=%u", f.k, f.sx, f.sy, f.tau_x, f.tau_y, r);
    expect(ok, what);
}

// A fractal has padding, the rest of a plan has none.
static int same_plan(const tmap_each_plan *a, const tmap_each_plan *b) {
    return tmap_nbb_equal(a->f, b->f) &&
           memcmp(&a->r, &b->r, sizeof *a - offsetof(tmap_each_plan, r)) == 0;
}

// A plan from facts is the plan of the kernel that they are of; so are its loops and shares, and
// what is refused.
static void run_facts(tmap_nbb f, tmap_u32 r) {
    for (int maker = 0; maker <= ENGINES; ++maker) {
        const tmap_u64 pitch = random_pitch(f, r);
        tmap_each_plan made, of;
        tmap_facts facts;
        cudaError_t error;
        CHECK(tmap_facts_get(kernel, &facts));
        memset(&made, 0x77, sizeof made);
        of = made;
        error = engine_plan(maker, f, r, pitch, kernel, &made);
        expect_level(tmapi_launch_error(engine_plan_of(maker, f, r, pitch, &facts, &of)) == error,
                     "the error of a plan from facts", f, r);
        of_plan(&of);
        if (!error) expect(of.kernel == NULL, "a kernel from nowhere"), of.kernel = kernel;
        expect_level(same_plan(&made, &of), "a plan from facts", f, r);
        for (int loop = 0; loop < TMAP_EACH_LOOP_COUNT && !error; ++loop) {
            const tmap_u64 first = below(made.items), count = below(made.items - first + 1);
            const cudaError_t same = tmapi_launch_error(tmap_each_plan_loop_of(&of, loop, &facts));
            of_plan(&made);
            expect(tmap_each_plan_loop(&made, loop) == same, "the error of a loop");
            if (first <= made.items && count <= made.items - first) {
                CHECK(tmap_each_plan_share(&made, first, count));
                RETURNS(tmap_each_plan_share_of(&of, first, count), TMAP_OK);
            }
            expect(same_plan(&made, &of), "a loop from facts");
        }
    }
}

// What was seen on an H200: 255 blocks for all and 256 for a share.
static void run_fold_share(void) {
    const tmap_nbb f = tmap_fractal_vicsek();
    tmap_each_plan plan;
    device_set(4, 132); // 9.0
    CHECK(tmap_each_plan_make(TMAP_EACH_FOLD, f, 8, 0, kernel, &plan));
    CHECK(tmap_each_plan_loop(&plan, TMAP_EACH_ROWS));
    check_share(&plan, 0, 130561);
    device_reset();
}

// ---- what does not fit --------------------------------------------------------------------------

// The last levels: of words, which go by tiles alone; and of plans, which go by a thread for each
// cell beyond the levels of tiles, in a matrix up to 2^64 places.
static void run_levels(void) {
    const struct {
        tmap_nbb f;
        tmap_u32 tiles, words, words_few, matrix, compact; // few: with 64 KB of shared memory
    } last[] = {{tmap_fractal_gasket(), 25, 28, 28, 31, 32},
                {tmap_fractal_carpet(), 13, 15, 14, 20, 20}};
    int most;
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    for (unsigned i = 0; i < COUNT(last); ++i) {
        const tmap_nbb f = last[i].f;
        tmap_compact_matrix_plan move;
        tmap_each_plan plan, same;
        cudaError_t matrix;
        memset(&same, 0x77, sizeof same);
        for (tmap_u32 r = 1; r <= last[i].compact + 1; ++r) {
            const int fits = r <= (most > 65536 ? last[i].words : last[i].words_few);
            for (int client = 0; client < 2; ++client) {
                cudaError_t error;
                plan = same;
                error = client ? tmap_compact_life_plan_make(f, r, &plan)
                               : tmap_each_plan_make(TMAP_EACH_WORDS, f, r, TMAP_COMPACT, kernel,
                                                     &plan);
                expect_level(error == (fits ? cudaSuccess : cudaErrorInvalidConfiguration),
                             "the last level of words", f, r);
                expect_level(error ? memcmp(&plan, &same, sizeof same) == 0
                                   : plan.loop == TMAP_EACH_COMPACT,
                             "a plan of words", f, r);
            }
            matrix = r <= last[i].tiles ? cudaSuccess : cudaErrorInvalidConfiguration;
            expect_level(tmap_compact_matrix_plan_make(f, r, 0, 4, &move) == matrix,
                         "the last level from and to a matrix", f, r);
            for (int maker = 0; maker < ENGINES; ++maker)
                for (int compact = 0; compact < 2; ++compact) {
                    const int has = r <= (compact ? last[i].compact : last[i].matrix);
                    const cudaError_t error =
                        engine_plan(maker, f, r, compact ? TMAP_COMPACT : 0, kernel, &plan);
                    expect_level(error == (has ? cudaSuccess : cudaErrorInvalidConfiguration),
                                 "the last level of a plan", f, r);
                    if (error) continue;
                    of_plan(&plan);
                    expect(r <= last[i].tiles || plan.loop == TMAP_EACH_LINEAR ||
                               plan.loop == TMAP_EACH_GROUPS, // larger tiles
                           "a loop beyond the last level of tiles");
                    expect(plan.items == tmap_nbb_cells(f, r - plan.tile_level), "items");
                }
        }
    }
}

// Once raised, a limit is all that the device has: no later plan and no other thread lowers it.
static void run_limits(void) {
    struct cudaFuncAttributes before, after;
    int most, raised = 0;
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) {
        tmap_each_plan plan;
        CHECK(cudaFuncGetAttributes(&before, kernel));
        CHECK(tmap_each_plan_make(TMAP_EACH_STENCIL, tmap_fractal_at(i), 6, TMAP_COMPACT, kernel,
                                  &plan));
        CHECK(cudaFuncGetAttributes(&after, plan.kernel));
        if (after.maxDynamicSharedSizeBytes == before.maxDynamicSharedSizeBytes) continue;
        raised = 1;
        of_plan(&plan);
        expect(after.maxDynamicSharedSizeBytes == most - (int)after.sharedSizeBytes,
               "a limit of shared memory");
    }
    if (!kit_gpu) {
        tmap_each_plan none;
        memset(&none, 0, sizeof none);
        of_plan(&none);
        expect(raised, "no plan needs the limit to be raised");
    }
}

static void run_refusals(void) {
    const tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet();
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
    tmap_facts facts;
    int job = 0;
    memset(&plan, 0x77, sizeof plan);
    same = plan;
    for (unsigned i = 0; i < COUNT(bad); ++i) {
        kit_case("refusal %u", i);
        for (int work = 0; work < TMAP_EACH_WORDS; ++work)
            RETURNS(tmap_each_plan_make(work, bad[i].f, bad[i].r, bad[i].pitch, kernel, &plan),
                    bad[i].want);
        expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal wrote the plan");
    }
    REFUSED(tmap_each_plan_make(-1, gasket, 3, 0, kernel, &plan));
    REFUSED(tmap_each_plan_make(TMAP_EACH_WORK_COUNT, gasket, 3, 0, kernel, &plan));
    REFUSED(tmap_each_plan_make(TMAP_EACH_WORDS, gasket, 3, 0, kernel, &plan));
    expect(memcmp(&plan, &same, sizeof plan) == 0, "a refusal wrote the plan");
    CHECK(tmap_each_plan_make(TMAP_EACH_VISIT, gasket, 3, 0, kernel, &good));
    of_plan(&good);
    REFUSED(tmap_each_plan_make(TMAP_EACH_VISIT, gasket, 3, 0, NULL, &plan));
    REFUSED(tmap_each_plan_make(TMAP_EACH_VISIT, gasket, 3, 0, kernel, NULL));
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
    memset(&plan, 0, sizeof plan); // that no maker has made
    CHECK(tmap_facts_get(kernel, &facts));
    REFUSED(tmap_each_plan_share(&plan, 0, 0));
    RETURNS(tmap_each_plan_loop_of(&plan, TMAP_EACH_LINEAR, &facts), TMAP_EINVAL);
    REFUSED(tmap_each_launch(&plan, &job, 0));
    // more tiles than 32 bits can count
    CHECK(tmap_each_plan_make(TMAP_EACH_VISIT, gasket, 27, 0, kernel, &plan));
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

// ---- levels past what a matrix of this machine holds --------------------------------------------

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
    CHECK(tmap_each_plan_make(TMAP_EACH_VISIT, f, r, loop == TMAP_EACH_COMPACT ? TMAP_COMPACT : 0,
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
    CHECK(tmap_each_plan_make(TMAP_EACH_VISIT, tmap_fractal_carpet(), 6, 0,
                              (const void *)mark_cells, &plan));
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

// ---- all of it ----------------------------------------------------------------------------------

int main(void) {
    static const int processors[] = {132, 3, 1, 24, 80};
    int n = 0;
    engine_begin();
    if (check_turn()) run_fold_share();
    if (check_turn()) run_limits();
    run_large();
    run_graph();
    run_refusals();
    for (size_t device = 0; device < device_count(); ++device) {
        for (unsigned p = 0; p < COUNT(processors); ++p, ++n) {
            if (!check_turn() || (kit_gpu && p > 0)) continue;
            device_set(device, processors[p]);
            for (int i = n % 3; i < ENGINE_COUNT; i += 3) {
                const tmap_nbb f = engine_fractal(i);
                run_numbers(f, (tmap_u32)below(tmap_nbb_level_max32(f) % 64 + 2));
                run_facts(f, (tmap_u32)below(tmap_nbb_level_max32(f) % 64 + 2));
            }
        }
        device_set(device, 3);
        if (check_turn()) run_levels();
    }
    device_reset();
    return kit_end("test_plans");
}
