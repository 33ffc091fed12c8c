// SPDX-License-Identifier: MIT
// test_ask_own: the user's own problems through ask.h, against every element by itself: the elements
// of a ball or disc, each written once; slabs whose regions share their faces in 3D; both forms and
// drivers, blocks of many sizes, few blocks, numbers of tuning at their ends and at random, tables
// without places; that each level has the children of those that the level before subdivided; that
// plans of one kernel do not disturb each other; devices of many compute capabilities; that an error
// of the caller's stays the caller's; and what must be refused.
#include "adaptive/ask_check.h"

#include <threadmap/papers/ask_sbr.h>

static const char *const driver_names[] = {"host", "stream"};

static cudaError_t drive(const tmap_ask_plan *plan, int driver, const void *job) {
    return driver ? tmap_ask_stream(plan, job, 0) : tmap_ask_host(plan, job, 0);
}

// ---- a ball or disc: no shared borders ----------------------------------------------------------

// The elements within `radius` of the middle of an nx x ny x nz box, in halves of an element.
typedef struct solid {
    int nx, ny, nz, radius;
    unsigned char *out;
} solid;

TMAP_FN int solid_inside(const solid *p, tmap_u32 x, tmap_u32 y, tmap_u32 z) {
    tmap_i64 dx = 2 * (tmap_i64)x + 1 - p->nx, dy = 2 * (tmap_i64)y + 1 - p->ny;
    tmap_i64 dz = 2 * (tmap_i64)z + 1 - p->nz;
    return dx * dx + dy * dy + dz * dz <= (tmap_i64)p->radius * p->radius;
}

TMAP_DEVICE unsigned char *solid_at(const solid *p, tmap_xyz at) {
    return p->out + ((tmap_u64)at.z * (tmap_u32)p->ny + at.y) * (tmap_u32)p->nx + at.x;
}

// Asks every element: the query is exact.
TMAP_DEVICE tmap_ask_range solid_query(const void *job, const tmap_ask_region *t,
                                       tmap_ask_team team) {
    const solid *p = (const solid *)job;
    tmap_ask_range range = tmap_ask_range_none();
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size) {
        tmap_xyz at = tmap_ask_region_at(t, i);
        range = tmap_ask_range_add(range, (tmap_u32)solid_inside(p, at.x, at.y, at.z));
    }
    return range;
}

// 1 if a team is what tmap_ask_team promises: lanes of one warp, or full warps.
TMAP_DEVICE int solid_team(tmap_ask_team team) {
    return team.rank < team.size &&
           (team.size % 32 ? (tmap_u32)__popc(team.lanes) == team.size : team.lanes == 0xffffffffu);
}

// Adds, so that an element that is written twice shows, and more where the team is none.
TMAP_DEVICE void solid_terminal(const void *job, const tmap_ask_region *t, tmap_u32 value,
                                tmap_ask_team team) {
    const solid *p = (const solid *)job;
    const tmap_u32 more = solid_team(team) ? 1 : 100;
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size)
        *solid_at(p, tmap_ask_region_at(t, i)) += (unsigned char)(more + value);
}

// Values go through the warp's scratch, so that two warps that share one show.
TMAP_DEVICE void solid_leaf(const void *job, tmap_ask_work *work) {
    const solid *p = (const solid *)job;
    tmap_u32 *scratch = (tmap_u32 *)work->scratch, i, lane = threadIdx.x % 32;
    tmap_xyz at;
    while (tmap_ask_take(work, &i)) {
        const int mine = tmap_ask_element(work, i, &at);
        scratch[lane] = mine ? 1 + (tmap_u32)solid_inside(p, at.x, at.y, at.z) : 0;
        __syncwarp();
        if (mine) *solid_at(p, at) += (unsigned char)scratch[lane];
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(1024) solid_ask(tmap_ask_run run, solid job) {
    tmap_ask_query(&run, solid_query, solid_terminal, tmap_ask_every_element, solid_leaf, &job);
}
static __global__ void __launch_bounds__(1024) solid_end(tmap_ask_run run, solid job) {
    tmap_ask_finish(&run, solid_terminal, tmap_ask_every_element, solid_leaf, &job);
}
static __global__ void solid_blocks(tmap_ask_run run, solid job) {
    const tmap_ask_pass leaves = {tmap_ask_every_element, solid_leaf}, none = {0, 0};
    tmap_ask_sbr(&run, solid_query, solid_terminal, leaves, none, &job);
}

static const tmap_ask_kernels solid_kernels = {(const void *)solid_ask, (const void *)solid_end, 0,
                                               0, 32 * sizeof(tmap_u32)};

// The plans of both forms.
static void plans_make(const tmap_ask_workspace *s, const tmap_ask_kernels *kernels,
                       const void *blocks, tmap_ask_plan plans[TMAP_ASK_FORM_COUNT]) {
    tmap_ask_kernels sbr = *kernels;
    sbr.query = blocks;
    CHECK(tmap_ask_plan_make(s, kernels, &plans[TMAP_ASK_MBR]));
    CHECK(tmap_ask_sbr_plan_make(s, &sbr, &plans[TMAP_ASK_SBR]));
}

static void solid_compare(const solid *p) {
    const tmap_u64 count = (tmap_u64)p->nx * (tmap_u64)p->ny * (tmap_u64)p->nz;
    const unsigned char *got = (const unsigned char *)kit_to_host(p->out, count);
    tmap_u64 wrong = 0;
    for (tmap_u32 z = 0; z < (tmap_u32)p->nz; ++z)
        for (tmap_u32 y = 0; y < (tmap_u32)p->ny; ++y)
            for (tmap_u32 x = 0; x < (tmap_u32)p->nx; ++x)
                wrong += *got++ != 1 + solid_inside(p, x, y, z);
    expect(wrong == 0, "elements, each once");
}

// The elements of the last run, and what it counted at its levels.
static void solid_check(const solid *p, const tmap_ask_workspace *s, int refused) {
    const tmap_ask_domain *d = &s->domain;
    const tmap_u64 axes = d->dims == 3 ? 3 : 2;
    tmap_ask_counts c;
    solid_compare(p);
    CHECK(tmap_ask_counts_read(s, &c, 0));
    expect(c.levels == d->levels, "levels");
    expect(c.level[0].regions + c.level[0].empty == tmap_region_olt_size(1, d->g, (tmap_u32)axes),
           "regions of level 0");
    for (tmap_u32 l = 0; l + 1 < c.levels; ++l)
        expect(c.level[l].subdivided * tmap_region_olt_size(1, d->r, (tmap_u32)axes) ==
                   c.level[l + 1].regions + c.level[l + 1].empty,
               "regions of a level");
    expect((c.refused != 0) == refused, "refused");
}

static void solid_clear(const solid *p) {
    CHECK(cudaMemset(p->out, 0, (size_t)p->nx * p->ny * p->nz));
}

// A ball in a box, or a disc (nz = 0), and how it is cut. capacity: of tables, 0: as much as helps.
typedef struct solid_case {
    int nx, ny, nz, radius;
    tmap_ask_params a;
    tmap_u64 capacity;
} solid_case;

static solid solid_make(solid_case c, tmap_ask_workspace *s) {
    const tmap_ask_box box = {(tmap_u64)c.nx, (tmap_u64)c.ny, (tmap_u64)c.nz};
    solid p = {c.nx, c.ny, c.nz ? c.nz : 1, c.radius, NULL};
    p.out = (unsigned char *)kit_device((tmap_u64)p.nx * (tmap_u64)p.ny * (tmap_u64)p.nz);
    CHECK(tmap_ask_workspace_create(box, c.a, c.capacity, s));
    CHECK(cudaMemset(s->memory.data, 0xa5, s->memory.bytes));
    kit_case("%dx%dx%d, (%u,%u,%u), capacity %llu", c.nx, c.ny, c.nz, c.a.g, c.a.r, c.a.b,
             c.capacity);
    return p;
}

static void solid_free(tmap_ask_workspace *s) {
    CHECK(tmap_ask_workspace_destroy(s));
    kit_release(0);
}

// Both forms, by both drivers. c.capacity: 0, or so little that regions are refused.
static void run_drivers(solid_case c) {
    if (!check_turn()) return;
    tmap_ask_workspace s;
    solid p = solid_make(c, &s);
    tmap_ask_plan plans[TMAP_ASK_FORM_COUNT];
    plans_make(&s, &solid_kernels, (const void *)solid_blocks, plans);
    for (int form = 0; form < TMAP_ASK_FORM_COUNT; ++form)
        for (int driver = 0; driver < 2; ++driver) {
            kit_more(", %s, %s", tmap_ask_form_name(form), driver_names[driver]);
            solid_clear(&p);
            CHECK(drive(&plans[form], driver, &p));
            solid_check(&p, &s, c.capacity != 0);
        }
    solid_free(&s);
}

// Blocks of all sizes, as many as there are and one; the numbers of tuning at their ends. None may
// change what comes out.
static void run_tuning(solid_case c) {
    if (!check_turn()) return;
    static const tmap_u32 threads[] = {32, 96, 256, 1024};
    enum { BLOCKS = COUNT(threads), TUNINGS = 9 };
    tmap_ask_workspace s;
    solid p = solid_make(c, &s);
    tmap_ask_tuning *t;
    tmap_ask_plan plan;
    for (int i = 0; i < 2 * BLOCKS + TUNINGS; ++i) {
        tmap_ask_kernels kernels = solid_kernels;
        if (i < 2 * BLOCKS) kernels.threads = threads[i / 2];
        CHECK(tmap_ask_plan_make(&s, &kernels, &plan));
        if (i < 2 * BLOCKS && i % 2) plan.query.blocks = plan.finish.blocks = 1;
        t = &plan.run.tuning;
        switch (i - 2 * BLOCKS) {
        case 0: t->chunk = t->chunks = t->chunks_last = 1; break;
        case 1: t->chunk = t->chunks = t->chunks_last = 0xffffffffu; break;
        case 2: t->fill_elements = t->fill_warps = 1, t->fill_eight = 0; break;
        case 3: t->fill_elements = t->fill_warps = t->fill_eight = 0xffffffffu; break;
        case 4: t->warp_sides = 0; break; // a block for each region
        case 5: t->warp_sides = t->four_sides = 0xffffffffu; break;
        case 6: t->warp_sides = t->eight_sides = 0xffffffffu, t->four_sides = 0; break;
        case 7: t->warp_sides = 0xffffffffu, t->four_sides = t->eight_sides = 0; break;
        case 8: t->fill_elements = 50, t->fill_eight = 20, t->fill_warps = 3; break;
        default: break;
        }
        kit_more(", %u threads, %u blocks, tuning %d", plan.query.threads, plan.query.blocks,
                 i - 2 * BLOCKS);
        solid_clear(&p);
        CHECK(tmap_ask_stream(&plan, &p, 0));
        solid_check(&p, &s, 0);
    }
    solid_free(&s);
}

// Numbers of tuning at random, each with each: none may change what comes out, and every team is one.
static void run_tuning_random(solid_case c, int runs) {
    if (!check_turn()) return;
    tmap_u64 state = 12345 + (tmap_u64)c.nx;
    tmap_ask_workspace s;
    tmap_ask_plan plan;
    solid p = solid_make(c, &s);
    CHECK(tmap_ask_plan_make(&s, &solid_kernels, &plan));
    for (int i = 0; i < runs; ++i) {
        plan.run.tuning = ask_random_tuning(&state);
        solid_clear(&p);
        CHECK(tmap_ask_stream(&plan, &p, 0));
        solid_check(&p, &s, 0);
    }
    solid_free(&s);
}

static const solid_case usual = {40, 50, 0, 33, {3, 2, 2}, 0};

// Plans with more shared memory and with less, of the same kernels: the first one runs after the
// second was made. Where a device has too little for a plan, it is refused.
static void run_plans(void) {
    tmap_ask_workspace s;
    solid p = solid_make(usual, &s);
    tmap_ask_kernels kernels = solid_kernels;
    tmap_ask_plan plans[3];
    kernels.threads = 1024;
    for (int i = 0; i < 3; ++i) {
        static const tmap_u32 scratch[] = {2048, 1664, 128}; // of a warp: 64 KiB of a block, 52, 4
        cudaError_t status;
        kernels.scratch = scratch[i];
        status = tmap_ask_plan_make(&s, &kernels, &plans[i]);
        if (status == cudaErrorInvalidConfiguration)
            plans[i].query.kernel = NULL;
        else
            CHECK(status);
    }
    for (int i = 0; i < 3; ++i) {
        if (!plans[i].query.kernel) continue;
        kit_case("plan %d of three", i);
        solid_clear(&p);
        RETURNS(tmap_ask_stream(&plans[i], &p, 0), cudaSuccess);
        solid_check(&p, &s, 0);
    }
    solid_free(&s);
}

static void check_facts(const tmap_ask_workspace *s, const tmap_ask_kernels *kernels,
                        cudaError_t status, const tmap_ask_plan *here) {
    tmap_ask_facts facts;
    tmap_ask_plan there;
    CHECK(tmap_ask_facts_get(kernels, &facts));
    RETURNS(tmap_ask_plan_of(s, kernels, &facts, &there), status ? TMAP_ERANGE : TMAP_OK);
    if (!status) ask_same_plan(here, &there);
}

// Blocks of all sizes on devices of many compute capabilities and of one multiprocessor to many.
static void run_devices(void) {
    static const char *const processors[] = {"1", "132"};
    int turn = 0;
    for (int i = 0; i < (kit_gpu && kit_small ? 1 : 14);
         ++i) { // a GPU is the same device each time
        tmap_ask_workspace s;
        solid p = solid_make(usual, &s);
        kit_set_device(kit_devices[i / 2]);
        setenv("SIMT_MULTIPROCESSORS", processors[i % 2], 1);
        for (tmap_u32 threads = 32; threads <= 1024; threads *= 2)
            for (tmap_u32 scratch = 128; scratch <= 4096; scratch *= 32) {
                tmap_ask_kernels kernels = solid_kernels;
                tmap_ask_plan plan;
                cudaError_t status;
                kernels.threads = threads, kernels.scratch = scratch;
                kit_case("device %s, %s processors, %u threads, %u", kit_devices[i / 2],
                         processors[i % 2], threads, scratch);
                status = tmap_ask_plan_make(&s, &kernels, &plan);
                expect(status == cudaSuccess ||
                           (status == cudaErrorInvalidConfiguration && threads * scratch > 1 << 20),
                       "a plan");
                check_facts(&s, &kernels, status, &plan);
                if (status != cudaSuccess) continue;
                expect(plan.query.blocks > 0 && plan.finish.blocks > 0, "blocks");
                if (!kit_full && (turn++ + i) % 3) continue; // the CPU machine makes many threads
                solid_clear(&p);
                CHECK(tmap_ask_stream(&plan, &p, 0));
                solid_check(&p, &s, 0);
            }
        solid_free(&s);
    }
    kit_set_device(NULL);
    unsetenv("SIMT_MULTIPROCESSORS");
}

// (0, 0, 0): the library chooses a subdivision, which is one for every domain, and not a large one.
static void run_chosen(void) {
    const tmap_ask_params none = {0, 0, 0};
    tmap_u64 state = 99;
    const int last = kit_gpu && kit_small ? 24 : 70;
    const int sides[][3] = {{100, 80, 0}, {33, 17, 40}, {1, 1, 1}, {300, 2, 0}, {last, last, last}};
    for (int i = 0; i < 5; ++i) {
        const solid_case c = {sides[i][0], sides[i][1], sides[i][2], 45, {0, 0, 0}, 0};
        tmap_ask_workspace s;
        solid p = solid_make(c, &s);
        tmap_ask_plan plan;
        CHECK(tmap_ask_plan_make(&s, &solid_kernels, &plan));
        solid_clear(&p);
        CHECK(tmap_ask_stream(&plan, &p, 0));
        solid_compare(&p);
        solid_free(&s);
    }
    for (int i = 0; i < 20000; ++i) {
        tmap_u64 n[3], parts;
        tmap_ask_box box;
        tmap_ask_domain d;
        const tmap_u32 dims = 2 + (tmap_u32)i % 2;
        for (int k = 0; k < 3; ++k) {
            n[k] = 1 + kit_below(&state, 1ull << kit_below(&state, dims == 2 ? 25 : 12));
        }
        kit_case("%llux%llux%llu, %u axes", n[0], n[1], n[2], dims);
        box.nx = n[0], box.ny = n[1], box.nz = dims == 2 ? 0 : n[2];
        RETURNS(tmap_ask_domain_make(box, none, &d), TMAP_OK);
        parts = tmap_region_parts(d.g, d.r, d.levels - 1);
        expect(d.r == 4 && d.g >= 1 && d.levels >= 1 && d.levels < 5 && d.b == 0, "parameters");
        if (n[0] > 1 << 21 || n[1] > 1 << 21) continue; // more, for regions below 2^31 elements
        expect(parts <= (dims == 2 ? 2048 : 128), "parts of the last level");
        expect(tmap_ask_workspace_bytes(box, none, 0) < 256 << 20, "bytes");
    }
    kit_release(0);
}

// As many regions as a level can have: a warp's share of them is not 0.
static __global__ void most_regions(tmap_ask_run run, tmap_u32 *batch) {
    const tmapi_ask_grid grid = tmapi_ask_grid_make(&run.workspace.domain, 0);
    *batch = tmapi_ask_askers_make(&run, &grid, 0xffffffffu).batch;
}

static void run_most_regions(void) {
    const tmap_ask_params a = {65535, 2, 1};
    const tmap_ask_box box = {1 << 17, 1 << 17, 0};
    tmap_u32 *device_batch, batch = 0;
    tmap_ask_run run;
    void *arguments[2] = {&run, &device_batch};
    memset(&run, 0, sizeof run);
    run.tuning = tmap_ask_tuning_make();
    device_batch = (tmap_u32 *)kit_device(sizeof batch);
    RETURNS(tmap_ask_domain_make(box, a, &run.workspace.domain), TMAP_OK);
    CHECK(cudaLaunchKernel((const void *)most_regions, dim3(3, 1, 1), dim3(64, 1, 1), arguments,
                           8192, 0));
    CHECK(cudaMemcpy(&batch, device_batch, sizeof batch, cudaMemcpyDeviceToHost));
    expect(batch == 32, "a warp's share of 2^32 regions");
    kit_release(0);
}

// An error of the caller's before a run, which it does not know about: the run is right all the
// same, and the error is still there.
static void run_error(void) {
    tmap_ask_workspace s;
    solid p = solid_make(usual, &s);
    tmap_ask_kernels large = solid_kernels; // more shared memory than a kernel has unasked
    tmap_ask_plan plans[TMAP_ASK_FORM_COUNT], of_large;
    large.threads = 512, large.scratch = 3072;
    earlier_error();
    CHECK(tmap_ask_plan_make(&s, &large, &of_large));
    expect(earlier_error_is_there(), "a plan clears the caller's error");
    for (int form = 0; form < TMAP_ASK_FORM_COUNT; ++form)
        for (int driver = 0; driver < 2; ++driver) {
            kit_more(", an error before, %s, %s", tmap_ask_form_name(form), driver_names[driver]);
            solid_clear(&p);
            earlier_error();
            plans_make(&s, &solid_kernels, (const void *)solid_blocks, plans);
            RETURNS(drive(&plans[form], driver, &p), cudaSuccess);
            solid_check(&p, &s, 0);
            expect(earlier_error_is_there(), "the caller's error is gone");
        }
    solid_free(&s);
}

static void run_refusals(void) {
    tmap_ask_workspace s, none;
    solid p = solid_make(usual, &s);
    const tmap_ask_kernels good = solid_kernels;
    tmap_ask_kernels bad;
    tmap_ask_plan plan, other;
    tmap_ask_domain d;
    const tmap_ask_params a = {4, 2, 4};
    const tmap_ask_box box = {64, 64, 0}, flat = {64, 0, 64}, long_side = {1ull << 31, 1, 0},
                       thin = {(1ull << 31) - 1, 1, 0}, fits = {4 * 46309, 4 * 46309, 0},
                       large = {4 * 46310, 4 * 46310, 0};
    none = s;
    none.memory.data = NULL;
    solid_clear(&p);
    RETURNS(tmap_ask_plan_make(&s, &good, &plan), cudaSuccess);
    REFUSED(tmap_ask_plan_make(NULL, &good, &other));
    REFUSED(tmap_ask_plan_make(&none, &good, &other));
    REFUSED(tmap_ask_plan_make(&s, NULL, &other));
    REFUSED(tmap_ask_plan_make(&s, &good, NULL));
    for (int i = 0; i < 5; ++i) {
        bad = good;
        if (i == 0) bad.query = NULL;
        if (i == 1) bad.finish = NULL;
        if (i == 2) bad.threads = 33;
        if (i == 3) bad.threads = 1056;
        if (i == 4) bad.scratch = 4097;
        kit_more(", bad kernels %d", i);
        REFUSED(tmap_ask_plan_make(&s, &bad, &other));
    }
    for (int driver = 0; driver < 2; ++driver)
        for (int i = 0; i < 8; ++i) {
            other = plan;
            if (i == 0) other.run.tuning.chunk = 0;
            if (i == 1) other.run.tuning.chunks = 0;
            if (i == 2) other.run.tuning.chunks_last = 0;
            if (i == 3) other.run.tuning.fill_elements = 0;
            if (i == 4) other.run.tuning.fill_warps = 0;
            if (i == 7) other.query.kernel = NULL; // of no plan
            kit_more(", bad plan %d, %s", i, driver_names[driver]);
            REFUSED(drive(i == 5 ? NULL : &other, driver, i == 6 ? NULL : &p));
        }
    RETURNS(tmap_ask_domain_make(box, a, NULL), TMAP_EINVAL);
    RETURNS(tmap_ask_domain_make(flat, a, &d), TMAP_EINVAL);
    RETURNS(tmap_ask_domain_make(long_side, a, &d), TMAP_ERANGE);
    RETURNS(tmap_ask_domain_make(thin, a, &d), TMAP_ERANGE);
    expect(tmap_ask_domain_make(fits, a, &d) == TMAP_OK &&
               tmap_ask_domain_make(large, a, &d) == TMAP_ERANGE,
           "regions of 46340^2 elements with their frames");
    solid_free(&s);
}

// ---- slabs: regions share their faces -----------------------------------------------------------

// Elements of three axes have value (3 x + 5 y + 2 z) / thick, so that a region whose faces have one
// value has no other inside. Neighbours share the face between them: the faces of [x0, x1) are x0
// and x1, or the box's last one.
typedef struct slabs {
    tmap_u32 n[3];
    tmap_u32 thick;
    int *out;
    tmap_u32 *unwritten; // elements that a query found unwritten
} slabs;

enum { POISON = 0x5a5a5a5a };

TMAP_FN int slabs_value(const slabs *p, tmap_u32 x, tmap_u32 y, tmap_u32 z) {
    return (int)((3 * x + 5 * y + 2 * z) / p->thick);
}

TMAP_DEVICE int *slabs_at(const slabs *p, tmap_u32 x, tmap_u32 y, tmap_u32 z) {
    return p->out + ((tmap_u64)z * p->n[1] + y) * p->n[0] + x;
}

// The last element of a region's border along an axis.
TMAP_DEVICE tmap_u32 slabs_last(tmap_u32 end, tmap_u32 n) { return end < n ? end : n - 1; }

TMAP_DEVICE tmap_ask_range slabs_query(const void *job, const tmap_ask_region *t,
                                       tmap_ask_team team) {
    const slabs *p = (const slabs *)job;
    tmap_ask_region closed = *t;
    tmap_ask_range range = tmap_ask_range_none();
    closed.x1 = slabs_last(t->x1, p->n[0]) + 1, closed.y1 = slabs_last(t->y1, p->n[1]) + 1;
    closed.z1 = slabs_last(t->z1, p->n[2]) + 1;
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(&closed); i += team.size) {
        const tmap_xyz at = tmap_ask_region_at(&closed, i);
        int value;
        if (at.x > closed.x0 && at.x + 1 < closed.x1 && at.y > closed.y0 && at.y + 1 < closed.y1 &&
            at.z > closed.z0 && at.z + 1 < closed.z1)
            continue;
        value = *slabs_at(p, at.x, at.y, at.z);
        if (value == POISON) atomicAdd(p->unwritten, 1u);
        range = tmap_ask_range_add(range, (tmap_u32)value);
    }
    return range;
}

TMAP_DEVICE void slabs_terminal(const void *job, const tmap_ask_region *t, tmap_u32 value,
                                tmap_ask_team team) {
    const slabs *p = (const slabs *)job;
    for (tmap_u32 i = team.rank; i < tmap_ask_region_elements(t); i += team.size) {
        const tmap_xyz at = tmap_ask_region_at(t, i);
        *slabs_at(p, at.x, at.y, at.z) = (int)value;
    }
}

TMAP_DEVICE void slabs_leaf(const void *job, tmap_ask_work *work) {
    const slabs *p = (const slabs *)job;
    tmap_xyz at;
    tmap_u32 i;
    while (tmap_ask_take(work, &i))
        if (tmap_ask_element(work, i, &at))
            *slabs_at(p, at.x, at.y, at.z) = slabs_value(p, at.x, at.y, at.z);
}

// Faces between children, and the first and last ones of the box: `parts` + 1 along each axis, as if
// a region of the most sides had one element more along each.
TMAP_DEVICE tmap_u32 slabs_face(const tmap_xyz *s, int axis) {
    return axis == 0   ? (s->y + 1) * (s->z + 1)
           : axis == 1 ? (s->x + 1) * (s->z + 1)
                       : (s->x + 1) * (s->y + 1);
}

TMAP_DEVICE tmap_u32 slabs_share_elements(const void *, const tmap_ask_extent *e) {
    return (e->parts + 1) *
           (slabs_face(&e->sides, 0) + slabs_face(&e->sides, 1) + slabs_face(&e->sides, 2));
}

TMAP_DEVICE void slabs_share(const void *job, tmap_ask_work *work) {
    const slabs *p = (const slabs *)job;
    const tmap_xyz *s = &work->extent.sides;
    const tmap_u32 parts = work->extent.parts;
    tmap_u32 i;
    while (tmap_ask_take(work, &i)) {
        const tmap_ask_region *t = &work->region;
        tmap_u32 at[3], cut, wide;
        int axis = 0;
        if (i == TMAP_ASK_NO_ELEMENT) continue;
        for (; axis < 2 && i >= (parts + 1) * slabs_face(s, axis); ++axis)
            i -= (parts + 1) * slabs_face(s, axis);
        cut = i / slabs_face(s, axis), i %= slabs_face(s, axis);
        if (t->level != TMAP_ASK_WHOLE && (cut == 0 || cut == parts)) continue; // there already
        wide = axis == 0 ? s->y + 1 : s->x + 1;
        at[0] = t->x0 + (axis == 0 ? 0 : i % wide);
        at[1] = t->y0 + (axis == 0 ? i % wide : axis == 1 ? 0 : i / wide);
        at[2] = t->z0 + (axis == 2 ? 0 : i / wide);
        if (at[0] > slabs_last(t->x1, p->n[0]) || at[1] > slabs_last(t->y1, p->n[1]) ||
            at[2] > slabs_last(t->z1, p->n[2]))
            continue;
        at[axis] = slabs_last(axis == 0   ? tmap_ask_child_x(work, cut)
                              : axis == 1 ? tmap_ask_child_y(work, cut)
                                          : tmap_ask_child_z(work, cut),
                              p->n[axis]);
        *slabs_at(p, at[0], at[1], at[2]) = slabs_value(p, at[0], at[1], at[2]);
    }
}

static __global__ void slabs_ask(tmap_ask_run run, slabs job) {
    tmap_ask_query(&run, slabs_query, slabs_terminal, tmap_ask_every_element, slabs_leaf, &job);
}
static __global__ void slabs_end(tmap_ask_run run, slabs job) {
    tmap_ask_finish(&run, slabs_terminal, tmap_ask_every_element, slabs_leaf, &job);
}
static __global__ void slabs_faces(tmap_ask_run run, slabs job) {
    tmap_ask_share(&run, slabs_share_elements, slabs_share, &job);
}
static __global__ void slabs_blocks(tmap_ask_run run, slabs job) {
    const tmap_ask_pass leaves = {tmap_ask_every_element, slabs_leaf};
    const tmap_ask_pass faces = {slabs_share_elements, slabs_share};
    tmap_ask_sbr(&run, slabs_query, slabs_terminal, leaves, faces, &job);
}

typedef struct slabs_case {
    tmap_u32 nx, ny, nz, thick;
    tmap_ask_params a;
    tmap_u64 capacity;
} slabs_case;

static void run_slabs(slabs_case of) {
    if (!check_turn()) return;
    const tmap_ask_kernels kernels = {(const void *)slabs_ask, (const void *)slabs_end,
                                      (const void *)slabs_faces, 0, 0};
    const tmap_u32 nx = of.nx, ny = of.ny, nz = of.nz;
    const tmap_ask_box box = {nx, ny, nz};
    const size_t count = (size_t)nx * ny * nz;
    slabs p = {{nx, ny, nz}, of.thick, NULL, NULL};
    int *got = (int *)kit_host(count * sizeof(int));
    tmap_ask_plan plans[TMAP_ASK_FORM_COUNT];
    tmap_ask_workspace s;
    p.out = (int *)kit_device(count * sizeof(int));
    p.unwritten = (tmap_u32 *)kit_filled(8, 0);
    CHECK(tmap_ask_workspace_create(box, of.a, of.capacity, &s));
    CHECK(cudaMemset(s.memory.data, 0xa5, s.memory.bytes));
    plans_make(&s, &kernels, (const void *)slabs_blocks, plans);
    for (int form = 0; form < TMAP_ASK_FORM_COUNT; ++form)
        for (int driver = 0; driver < 2; ++driver) {
            size_t wrong = 0, i = 0;
            tmap_ask_counts c;
            kit_case("slabs %ux%ux%u, (%u,%u,%u), %llu, %s, %s", nx, ny, nz, of.a.g, of.a.r, of.a.b,
                     of.capacity, tmap_ask_form_name(form), driver_names[driver]);
            CHECK(cudaMemset(p.out, 0x5a, count * sizeof(int)));
            CHECK(drive(&plans[form], driver, &p));
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(got, p.out, count * sizeof(int), cudaMemcpyDeviceToHost));
            for (tmap_u32 z = 0; z < nz; ++z)
                for (tmap_u32 y = 0; y < ny; ++y)
                    for (tmap_u32 x = 0; x < nx; ++x, ++i)
                        wrong += got[i] != slabs_value(&p, x, y, z);
            expect(wrong == 0, "elements");
            expect(kit_number(p.unwritten) == 0, "faces that were asked and not written");
            CHECK(tmap_ask_counts_read(&s, &c, 0));
            expect((c.refused != 0) == (of.capacity != 0), "refused");
        }
    CHECK(tmap_ask_workspace_destroy(&s));
    kit_release(0);
}

int main(void) {
    const solid_case solids[] = {
        {32, 32, 32, 24, {2, 2, 2}, 0},
        {33, 17, 40, 24, {3, 2, 1}, 0},
        {27, 27, 27, 20, {3, 3, 1}, 0},
        {20, 3, 9, 8, {4, 2, 1}, 0},
        {40, 40, 40, 30, {2, 2, 1}, 2},
        {100, 80, 0, 60, {3, 2, 2}, 0},
        {128, 128, 0, 300, {4, 2, 4}, 0}, // uniform: empty levels
        {65, 200, 0, 90, {5, 3, 2}, 1},
        {70000, 3, 0, 69000, {5, 4, 7}, 0}, // squares of sides beyond 32 bits
    };
    const slabs_case slabs[] = {{24, 24, 24, 40, {2, 2, 2}, 0},
                                {23, 9, 31, 50, {3, 2, 1}, 0},
                                {19, 26, 7, 30, {2, 3, 1}, 3}};
    const solid_case small = {17, 9, 24, 14, {2, 2, 2}, 0};
    kit_begin();
    const int runs = !kit_small ? 100 : kit_gpu ? 3 : 20;
    for (unsigned i = 0; i < COUNT(solids); ++i) run_drivers(solids[i]);
    run_tuning(kit_gpu && kit_small ? small : solids[1]);
    run_tuning(solids[5]);
    run_tuning_random(solids[1], runs);
    run_tuning_random(solids[5], runs);
    run_plans();
    if (check_turn()) run_devices();
    run_most_regions();
    if (check_turn()) run_chosen();
    for (unsigned i = 0; i < COUNT(slabs); ++i) run_slabs(slabs[i]);
    if (!kit_gpu || !kit_small) run_error(); // a sanitizer reports the error, too
    run_refusals();
    if (kit_full) {
        const solid_case large = {256, 200, 300, 180, {4, 2, 4}, 0};
        const solid_case tuned = {300, 257, 190, 200, {3, 2, 2}, 0};
        const slabs_case wide = {200, 150, 170, 300, {4, 2, 2}, 0};
        run_drivers(large), run_tuning(tuned), run_slabs(wide);
    }
    return kit_end("test_ask_own");
}
