// SPDX-License-Identifier: MIT
// test_plans: plans of every maker with the facts of many devices, their numbers alone: a launch fits
// the device, and a share needs no more than its whole; plans from facts; the last levels; and that what
// does not fit is refused. What launches by these plans compute: test_ready, test_engines.
//
// A GPU has the facts that it has, and goes through the cases once.
#include "fractal/plans.h"
#include <stddef.h>

// Plans need the attributes of a kernel alone.
static __global__ void __launch_bounds__(512, 2) any_kernel(tmap_each_plan plan, int job) {
    (void)plan, (void)job;
}
static const void *const any = (const void *)any_kernel;

// The same as engine_plan from facts.
static int engine_plan_of(int maker, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                          const tmap_facts *facts, tmap_each_plan *plan) {
    switch (maker) {
    case VISIT: return tmap_each_plan_of(f, r, pitch, facts, plan);
    case UPDATE: return tmap_each_update_plan_of(f, r, pitch, facts, plan);
    case FOLD: return tmap_each_fold_plan_of(f, r, pitch, facts, plan);
    case STENCIL: return tmap_each_stencil_plan_of(f, r, pitch, facts, plan);
    default:
        return tmap_each_stencil_words_plan_of(f, r + tmap_compact_word_of(f, 64).level, facts,
                                               plan);
    }
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
    for (int maker = 0; maker < MAKERS; ++maker) {
        client c;
        const cudaError_t error =
            client_make(maker, (tmap_u32)below(30), f, r, random_pitch(f, r), any, &c);
        if (error == cudaErrorInvalidConfiguration) continue; // the level
        CHECK(error);
        check_plan(c.plan);
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

// A plan from facts is the plan of the kernel that they are of; so are its loops and shares, and what
// is refused.
static void run_facts(tmap_nbb f, tmap_u32 r) {
    for (int maker = 0; maker <= ENGINES; ++maker) {
        const tmap_u64 pitch = random_pitch(f, r);
        tmap_each_plan made, of;
        tmap_facts facts;
        cudaError_t error;
        CHECK(tmap_facts_get(any, &facts));
        memset(&made, 0x77, sizeof made);
        of = made;
        error = engine_plan(maker, f, r, pitch, any, &made);
        expect_level(tmapi_launch_error(engine_plan_of(maker, f, r, pitch, &facts, &of)) == error,
                     "the error of a plan from facts", f, r);
        of_plan(&of);
        if (!error) expect(of.kernel == NULL, "a kernel from nowhere"), of.kernel = any;
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
    CHECK(tmap_each_fold_plan_make(f, 8, 0, any, &plan));
    CHECK(tmap_each_plan_loop(&plan, TMAP_EACH_ROWS));
    check_share(&plan, 0, 130561);
    device_reset();
}

// ---- what does not fit --------------------------------------------------------------------------

// The last levels: of words, which go by tiles alone; and of plans, which go by a thread for each cell
// beyond the levels of tiles, in a matrix up to 2^64 places.
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
                               : tmap_each_stencil_words_plan_make(f, r, any, &plan);
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
                        engine_plan(maker, f, r, compact ? TMAP_COMPACT : 0, any, &plan);
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
        CHECK(cudaFuncGetAttributes(&before, any));
        CHECK(tmap_each_stencil_plan_make(tmap_fractal_at(i), 6, TMAP_COMPACT, any, &plan));
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

// ---- all of it ----------------------------------------------------------------------------------

int main(void) {
    static const int processors[] = {132, 3, 1, 24, 80};
    int n = 0;
    engine_begin();
    if (check_turn()) run_fold_share();
    if (check_turn()) run_limits();
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
