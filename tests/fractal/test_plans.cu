// SPDX-License-Identifier: MIT
// test_plans: plans of every maker with the facts of many devices. Their numbers alone: a launch fits
// the device, and a share needs no more than its whole. And small launches of every ready kernel, in
// two shares and at random offsets, pitches, types and loops, against the host; every engine by
// every plan; and that what does not fit is refused.
//
// A GPU has the facts that it has, and goes through the cases once.
#include "fractal/cells.h"
#include <math.h>
#include <stddef.h>
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/compact_move.h>
#include <threadmap/fractal/diffusion.h>
#include <threadmap/fractal/ising.h>
#include <threadmap/fractal/rd.h>
#include <threadmap/fractal/sw.h>

// ---- devices ------------------------------------------------------------------------------------

#define DEVICE_COUNT 7

static void device_set(int i, int processors) {
    static const char *const names[DEVICE_COUNT] = {"9.0", "7.5",  "8.0", "8.6",
                                                    "8.9", "10.0", "12.0"};
    char text[16];
    snprintf(text, sizeof text, "%d", processors);
    setenv("SIMT_DEVICE", names[i], 1);
    setenv("SIMT_MULTIPROCESSORS", text, 1);
}
static void device_reset(void) {
    unsetenv("SIMT_DEVICE");
    unsetenv("SIMT_MULTIPROCESSORS");
}
static int device_count(void) { return !kit_gpu ? DEVICE_COUNT : 1; }

static tmap_u64 random_state = 1;
static tmap_u64 below(tmap_u64 n) { return check_hash(random_state++, 77) % n; }

// ---- engines ------------------------------------------------------------------------------------

// What a user's kernels do here: count a visit; 3 v + 1; the sum of v; the sum of nine.
typedef struct job {
    tmap_u32 *in, *out;
    tmap_fold_to to;
} job;

static __device__ void visit(void *j, tmap_cell cell) { atomicAdd(&((job *)j)->out[cell.at], 1u); }
static __device__ void read(void *j, tmap_cell cell, void *value) {
    *(tmap_u32 *)value = ((job *)j)->in[cell.at];
}
static __device__ void use(void *j, tmap_cell cell, const void *value) {
    ((job *)j)->out[cell.at] = 3 * *(const tmap_u32 *)value + 1;
}
static __device__ void add(void *j, void *sum, tmap_cell cell, const void *value) {
    (void)j, (void)cell;
    *(tmap_u64 *)sum += *(const tmap_u32 *)value;
}
static __device__ void join(void *j, void *sum, const void *other) {
    (void)j;
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
static __device__ void nine_of(void *j, tmap_cell cell, tmap_u32 around, const void *nine,
                               void *next) {
    tmap_u32 sum = 0;
    (void)j, (void)cell;
    for (int i = 0; i < 9; ++i)
        if (around >> i & 1) sum += ((const tmap_u32 *)nine)[i];
    *(tmap_u32 *)next = sum;
}
static __global__ void __launch_bounds__(512, 2) visit_cells(tmap_each_plan plan, job j) {
    const tmap_array out = {j.out, 4};
    tmap_each_into(&plan, visit, out, &j);
}
static __global__ void __launch_bounds__(512, 2) update_cells(tmap_each_plan plan, job j) {
    tmap_each_update(&plan, read, use, &j);
}
static __global__ void __launch_bounds__(512, 2) fold_cells(tmap_each_plan plan, job j) {
    const tmap_u64 zero = 0;
    const tmap_array in = {j.in, 4};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_each_fold(&plan, in, add, fold, j.to, 0);
}
static __global__ void __launch_bounds__(512, 2) stencil_cells(tmap_each_plan plan, job j) {
    const tmap_array in = {j.in, 4};
    tmap_each_stencil(&plan, in, nine_of, j.out, &j);
}
static __global__ void __launch_bounds__(512, 2) stencil_words(tmap_each_plan plan, job j) {
    const tmap_array in = {j.in, 4};
    tmap_each_stencil_words(&plan, in, nine_of, j.out, &j);
}

enum { VISIT, UPDATE, FOLD, STENCIL, ENGINES };

static const void *engine_kernel(int engine) {
    static const void *const kernels[ENGINES] = {
        (const void *)visit_cells, (const void *)update_cells, (const void *)fold_cells,
        (const void *)stencil_cells};
    return kernels[engine];
}
static cudaError_t engine_plan(int maker, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                               const void *kernel, tmap_each_plan *plan) {
    switch (maker) {
    case VISIT: return tmap_each_plan_make(f, r, pitch, kernel, plan);
    case UPDATE: return tmap_each_update_plan_make(f, r, pitch, kernel, plan);
    case FOLD: return tmap_each_fold_plan_make(f, r, pitch, kernel, plan);
    case STENCIL: return tmap_each_stencil_plan_make(f, r, pitch, kernel, plan);
    default: // of words, whose sheets are of level r
        return tmap_each_stencil_words_plan_make(f, r + tmap_compact_word_of(f, 64).level, kernel,
                                                 plan);
    }
}

// The same from facts.
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

// ---- ready kernels ------------------------------------------------------------------------------

enum { SW = ENGINES, CA, DIFFUSION, ISING, LOAD, STORE, RD, MEASURE, LIFE, WORDS, MAKERS };

// The plan of one of them, and the plan of the engine in it.
typedef struct client {
    int maker;
    tmap_u32 type, size; // as the maker counts types; bytes of an element
    tmap_each_plan each;
    tmap_ca_plan ca;
    tmap_ising_plan ising;
    tmap_compact_matrix_plan matrix;
    tmap_each_plan *plan;
} client;

static cudaError_t client_make(int maker, tmap_u32 turn, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                               client *c) {
    static const tmap_u32 rd_bytes[TMAP_RD_TYPE_COUNT] = {1, 1, 4, 4, 4, 8};
    c->maker = maker, c->plan = &c->each, c->type = 0, c->size = 4;
    switch (maker) {
    case SW: c->size = 1u << turn % 5; return tmap_sw_plan_make(f, r, pitch, c->size, &c->each);
    case CA:
        c->size = turn % 2 ? 4 : 1, c->plan = &c->ca.each;
        return tmap_ca_plan_make(f, r, pitch, c->size, &c->ca);
    case DIFFUSION:
        c->type = turn % 2, c->size = c->type == TMAP_DIFFUSION_F64 ? 8 : 4;
        return tmap_diffusion_plan_make(f, r, pitch, (int)c->type, &c->each);
    case RD:
        c->type = turn % TMAP_RD_TYPE_COUNT, c->size = rd_bytes[c->type];
        return tmap_rd_plan_make(f, r, pitch, (int)c->type, &c->each);
    case ISING:
    case MEASURE:
        c->size = 1, c->plan = maker == ISING ? &c->ising.sweep : &c->ising.measure;
        return tmap_ising_plan_make(f, r, pitch, &c->ising);
    case LOAD:
    case STORE:
        c->size = 1u << turn % 5, c->plan = &c->matrix.each;
        if (pitch == TMAP_COMPACT) pitch = 0;
        return tmap_compact_matrix_plan_make(f, r, pitch, c->size, &c->matrix);
    case LIFE: return tmap_compact_life_plan_make(f, r, &c->each);
    case WORDS:
        return tmap_each_stencil_words_plan_make(f, r, (const void *)stencil_words, &c->each);
    default: return engine_plan(maker, f, r, pitch, engine_kernel(maker), &c->each);
    }
}

static int has_shares(const client *c) { return c->maker != WORDS || c->plan->word.bytes == 4; }

// ---- numbers ------------------------------------------------------------------------------------

static tmap_u64 random_pitch(tmap_nbb f, tmap_u32 r) {
    const tmap_u64 more[4] = {0, 0, 3, 16}, width = tmap_nbb_side_x(f, r);
    const tmap_u64 pitch = width + more[below(4)];
    return below(3) == 0 ? TMAP_COMPACT : pitch < width ? width : pitch;
}

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
            client_make(maker, (tmap_u32)below(30), f, r, random_pitch(f, r), &c);
        if (error == cudaErrorInvalidConfiguration) continue; // the level
        CHECK(error);
        if (!has_shares(&c)) continue;
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
        const void *kernel = maker == ENGINES ? (const void *)stencil_words : engine_kernel(maker);
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
    device_set(0, 132);
    CHECK(tmap_each_fold_plan_make(f, 8, 0, (const void *)fold_cells, &plan));
    CHECK(tmap_each_plan_loop(&plan, TMAP_EACH_ROWS));
    check_share(&plan, 0, 130561);
    device_reset();
}

// ---- runs ---------------------------------------------------------------------------------------

// A case: the cells in the order of the plan's items. Some shares of them have been launched.
typedef struct round_of {
    const cells *c;
    const tmap_each_plan *plan;
    int *order;
    unsigned char *done; // of each cell
    tmap_u64 room;       // elements
} round_of;

static const cells *sorted; // for comparisons
static int by_rows(const void *a, const void *b) {
    const int i = *(const int *)a, j = *(const int *)b;
    const int y = sorted->y[i] - sorted->y[j];
    return y ? y : sorted->x[i] - sorted->x[j];
}

static round_of round_make(const cells *c, const tmap_each_plan *plan, tmap_u64 room) {
    round_of o;
    o.c = c, o.plan = plan, o.room = room;
    o.order = (int *)kit_host((tmap_u64)c->count * sizeof(int));
    o.done = (unsigned char *)kit_zeroed((tmap_u64)c->count);
    for (int i = 0; i < c->count; ++i) o.order[i] = i;
    sorted = c;
    if (plan->loop == TMAP_EACH_ROWS) qsort(o.order, (size_t)c->count, sizeof(int), by_rows);
    return o;
}
static void round_share(round_of *o, tmap_u64 first, tmap_u64 count) {
    const tmap_u64 of_item = tmap_nbb_cells(o->plan->f, o->plan->tile_level);
    for (tmap_u64 i = first * of_item; i < (first + count) * of_item; ++i) o->done[o->order[i]] = 1;
}

// The place of cell i in a matrix.
static tmap_u64 matrix_at(const cells *c, tmap_u64 offset, tmap_u64 pitch, int i) {
    return offset + (tmap_u64)c->y[i] * pitch + (tmap_u64)c->x[i];
}

// Counts what the launches of the shares have not left: `want` in their cells, poison elsewhere, or
// 0 where it is allowed (zero_from to zero_to). at: the places of the cells.
static int round_wrong(const round_of *o, const tmap_u64 *at, const unsigned char *want,
                       tmap_u32 size, tmap_u64 zero_from, tmap_u64 zero_to,
                       const unsigned char *got) {
    unsigned char *right = (unsigned char *)kit_host(o->room * size);
    unsigned char *cell = (unsigned char *)kit_zeroed(o->room * 1);
    int wrong = 0;
    if (!right || !cell) exit(1);
    memset(right, 0x5a, o->room * size);
    for (int i = 0; i < o->c->count; ++i) {
        cell[at[i]] = 1;
        if (o->done[i]) memcpy(right + at[i] * size, want + (tmap_u64)i * size, size);
    }
    for (tmap_u64 i = 0; i < o->room; ++i)
        for (tmap_u32 b = 0; b < size; ++b) {
            const int free_place = i >= zero_from && i < zero_to && !cell[i];
            wrong +=
                got[i * size + b] != right[i * size + b] && !(free_place && got[i * size + b] == 0);
        }
    return wrong;
}

// The eight neighbours of cell i that live: by a search for each, which small cases can pay.
static int number_at(const cells *c, const int *number, int x, int y) {
    return x < 0 || y < 0 || x >= c->width || y >= c->height ? -1 : number[y * c->width + x];
}

static double value_of(const unsigned char *cell, int type_f64) {
    double d;
    float s;
    if (type_f64) return memcpy(&d, cell, sizeof d), d;
    return memcpy(&s, cell, sizeof s), (double)s;
}

// What a cell holds before, at random, and after.
static void cell_before(const client *c, tmap_u64 i, unsigned char *bytes) {
    const float single = (float)(check_hash(i, 21) % 2001) / 8 - 100;
    const double twice = single;
    for (tmap_u32 b = 0; b < c->size; ++b) bytes[b] = (unsigned char)check_hash(8 * i + b, 22);
    if (c->maker == CA) memset(bytes, 0, c->size), bytes[0] = check_hash(i, 23) % 3 == 0;
    if (c->maker == ISING || c->maker == MEASURE) bytes[0] = check_hash(i, 24) % 3 ? 1 : 0xff;
    if (c->maker == DIFFUSION || (c->maker == RD && c->type >= TMAP_RD_F32))
        memcpy(bytes, c->size == 8 ? (const void *)&twice : (const void *)&single, c->size);
}
static void cell_after(const client *c, const cells *all, const int *number, int i, int odd,
                       const unsigned char *before, unsigned char *after) {
    const unsigned char *here = before + (tmap_u64)i * c->size;
    memcpy(after, here, c->size);
    if (c->maker == SW) memset(after, 0xc3, c->size);
    if (c->maker == CA) {
        int living = 0;
        for (int p = 0; p < 9; ++p) {
            const int n = number_at(all, number, all->x[i] + p % 3 - 1, all->y[i] + p / 3 - 1);
            living += p != 4 && n >= 0 && before[(tmap_u64)n * c->size];
        }
        after[0] = (unsigned char)tmap_ca_next(tmap_ca_life(), here[0], (tmap_u32)living);
    }
    if (c->maker == ISING) { // at temperature 0
        int h = 0;
        for (int n = 0; n < 4; ++n)
            if (all->near[i][n] >= 0) h += (signed char)before[all->near[i][n]];
        if ((all->x[i] + all->y[i]) % 2 == odd && h * (signed char)here[0] <= 0)
            after[0] = (unsigned char)-here[0];
    }
    if (c->maker == DIFFUSION) { // multiples of 1/32 here: exact
        const double value = value_of(here, c->size == 8);
        double sum = 0;
        float single;
        for (int n = 0; n < 4; ++n)
            if (all->near[i][n] >= 0)
                sum += value_of(before + (tmap_u64)all->near[i][n] * c->size, c->size == 8) - value;
        sum = value + 0.25 * sum, single = (float)sum;
        memcpy(after, c->size == 8 ? (const void *)&sum : (const void *)&single, c->size);
    }
}

static cudaError_t client_launch(const client *c, int odd, const void *in, void *out) {
    const tmap_ising_sweep cold = {0, 1, 2};
    unsigned char value[16];
    memset(value, 0xc3, sizeof value);
    switch (c->maker) {
    case SW: return tmap_sw(c->plan, value, out, 0);
    case CA: return tmap_ca(&c->ca, tmap_ca_life(), in, out, 0);
    case DIFFUSION: return tmap_diffusion(c->plan, 0.25, in, out, 0);
    case ISING: return tmap_ising_half(&c->ising, cold, odd, in, out, 0);
    case LOAD: return tmap_compact_matrix_load(&c->matrix, in, out, 0);
    default: return tmap_compact_matrix_store(&c->matrix, in, out, 0);
    }
}

static int *numbers_of(const cells *c) {
    int *number = (int *)kit_host((tmap_u64)c->width * (tmap_u64)c->height * 4);
    for (int i = 0; i < c->width * c->height; ++i) number[i] = -1;
    for (int i = 0; i < c->count; ++i) number[c->y[i] * c->width + c->x[i]] = i;
    return number;
}

// A client of states, of one or two matrices or compact states, at random places: one share, which
// is to leave the rest alone, and the other.
static void run_states(int maker, tmap_u32 turn, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                       const cells *all) {
    client c;
    const int compact_in = maker == STORE, odd = (int)below(2);
    const tmap_u64 skip = below(3), other_offset = below(7);
    const tmap_u64 compact_room = (tmap_u64)all->count + 80;
    tmap_u64 in_room, room, cut, *at_in, *at_out, zero_from = 0, zero_to = 0;
    unsigned char *in, *out, *host, *before, *want;
    int *number = numbers_of(all);
    round_of o;
    CHECK(client_make(maker, turn, f, r, pitch, &c));
    if (maker == SW) (void)tmap_each_plan_loop(c.plan, (int)below(TMAP_EACH_LOOP_COUNT));
    c.plan->offset = below(2) ? below(70) : 0;
    room = engine_room(c.plan) + 80, in_room = room;
    if (maker == LOAD || maker == STORE) {
        const tmap_u64 matrix_room = other_offset + c.matrix.pitch * (tmap_u64)all->height + 80;
        c.matrix.offset = other_offset;
        in_room = compact_in ? compact_room : matrix_room;
        room = compact_in ? matrix_room : compact_room;
    }
    at_in = (tmap_u64 *)kit_host((size_t)all->count * 8);
    at_out = (tmap_u64 *)kit_host((size_t)all->count * 8);
    before = (unsigned char *)kit_host((size_t)all->count * c.size);
    want = (unsigned char *)kit_host((size_t)all->count * c.size);
    host = (unsigned char *)engine_host((in_room + room) * c.size);
    if (!at_in || !at_out || !before || !want) exit(1);
    for (int i = 0; i < all->count; ++i) {
        at_in[i] = at_out[i] = cells_at(all, c.plan, i);
        if (maker == LOAD) at_in[i] = matrix_at(all, c.matrix.offset, c.matrix.pitch, i);
        if (maker == STORE) at_out[i] = matrix_at(all, c.matrix.offset, c.matrix.pitch, i);
        cell_before(&c, (tmap_u64)i, before + (tmap_u64)i * c.size);
    }
    for (int i = 0; i < all->count; ++i)
        cell_after(&c, all, number, i, odd, before, want + (tmap_u64)i * c.size);
    if (maker == CA && c.plan->pitch != TMAP_COMPACT)
        zero_from = c.plan->offset, zero_to = zero_from + tmap_each_plan_places(c.plan);
    memset(host, maker == CA ? 0 : 0xff, in_room * c.size);
    for (int i = 0; i < all->count; ++i)
        memcpy(host + at_in[i] * c.size, before + (tmap_u64)i * c.size, c.size);
    in = (unsigned char *)engine_memory(0, (in_room + 2) * c.size) + skip * c.size;
    out = (unsigned char *)engine_memory(1, (room + 2) * c.size) + skip * c.size;
    CHECK(cudaMemcpy(in, host, in_room * c.size, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0x5a, room * c.size));
    o = round_make(all, c.plan, room);
    cut = below(c.plan->items + 1);
    for (int part = 0; part < 2; ++part) {
        const tmap_u64 first = part ? cut : 0, count = part ? c.plan->items - cut : cut;
        CHECK(tmap_each_plan_share(c.plan, first, count));
        CHECK(client_launch(&c, odd, in, out));
        CHECK(cudaMemcpy(host, out, room * c.size, cudaMemcpyDeviceToHost));
        round_share(&o, first, count);
        of_plan(c.plan);
        expect(round_wrong(&o, at_out, want, c.size, zero_from, zero_to, host) == 0,
               part ? "a state in two shares" : "a share of a state");
    }
    // And the whole at once.
    CHECK(tmap_each_plan_share(c.plan, 0, c.plan->items));
    CHECK(cudaMemset(out, 0x5a, room * c.size));
    CHECK(client_launch(&c, odd, in, out));
    CHECK(cudaMemcpy(host, out, room * c.size, cudaMemcpyDeviceToHost));
    of_plan(c.plan);
    expect(round_wrong(&o, at_out, want, c.size, zero_from, zero_to, host) == 0, "a whole state");
    kit_release(0);
}

// ---- sums ---------------------------------------------------------------------------------------

// The sums of a share: those of the cells that are done in `o` and not in `earlier`.
static void sums_of(const client *c, const round_of *o, const unsigned char *earlier,
                    const int *number, const unsigned char *before, unsigned char *sums) {
    double floats = 0;
    tmap_i64 whole = 0, bonds = 0;
    memset(sums, 0, 16);
    for (int i = 0; i < o->c->count; ++i) {
        const unsigned char *here = before + (tmap_u64)i * c->size;
        const int x = o->c->x[i], y = o->c->y[i];
        tmap_u32 word;
        if (!o->done[i] || earlier[i]) continue;
        memcpy(&word, here, c->size < 4 ? 1 : 4);
        if (c->maker == MEASURE) {
            const int east = number_at(o->c, number, x + 1, y);
            const int south = number_at(o->c, number, x, y + 1);
            whole += (signed char)here[0];
            if (east >= 0) bonds += (signed char)here[0] * (signed char)before[east];
            if (south >= 0) bonds += (signed char)here[0] * (signed char)before[south];
        } else {
            switch (c->type) {
            case TMAP_RD_I8: whole += (signed char)here[0]; break;
            case TMAP_RD_U8: whole += here[0]; break;
            case TMAP_RD_I32: whole += (int)word; break;
            case TMAP_RD_U32: whole += word; break;
            default: floats += value_of(here, c->size == 8); // multiples of 1/8
            }
        }
    }
    if (c->maker == RD && c->type >= TMAP_RD_F32)
        memcpy(sums, &floats, 8);
    else
        memcpy(sums, &whole, 8);
    memcpy(sums + 8, &bonds, 8);
}

// tmap_rd and tmap_ising_measure, in three shares, the last one empty. Their memory is what the whole
// plan asks for, between bytes that must stay.
static void run_sums(int maker, tmap_nbb f, tmap_u32 r, const cells *all) {
    client c;
    const tmap_u32 width = maker == MEASURE ? 16 : 8;
    const tmap_u64 pitch = random_pitch(f, r);
    tmap_u64 room, cut, bytes;
    unsigned char *in, *out, *blocks, *host, *before, *earlier, got[16], want[16], behind[64];
    int *number = numbers_of(all), stayed = 1;
    round_of o;
    CHECK(client_make(maker, (tmap_u32)below(30), f, r, pitch, &c));
    if (maker == RD) (void)tmap_each_plan_loop(c.plan, (int)below(TMAP_EACH_LOOP_COUNT));
    c.plan->offset = below(2) ? below(70) : 0;
    room = engine_room(c.plan), bytes = tmap_each_fold_bytes(c.plan, width);
    before = (unsigned char *)kit_host((size_t)all->count * c.size);
    earlier = (unsigned char *)kit_zeroed((size_t)all->count * 1);
    host = (unsigned char *)engine_host(room * c.size);
    if (!before || !earlier) exit(1);
    memset(host, 0xff, room * c.size);
    for (int i = 0; i < all->count; ++i) {
        unsigned char *here = before + (tmap_u64)i * c.size;
        cell_before(&c, (tmap_u64)i, here);
        memcpy(host + cells_at(all, c.plan, i) * c.size, here, c.size);
    }
    in = (unsigned char *)engine_memory(0, room * c.size);
    out = (unsigned char *)engine_memory(1, room * c.size);
    blocks = (unsigned char *)engine_memory(2, bytes + 64);
    CHECK(cudaMemcpy(in, host, room * c.size, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(blocks, 0x5a, bytes + 64));
    CHECK(cudaMemset(blocks, 0, 16));
    o = round_make(all, c.plan, room);
    cut = below(c.plan->items + 1);
    for (int part = 0; part < 3; ++part) {
        const tmap_u64 first = part ? cut : 0;
        const tmap_u64 count = part == 0 ? cut : part == 1 ? c.plan->items - cut : 0;
        const tmap_fold_to to = {blocks, engine_memory(3, 64)};
        CHECK(tmap_each_plan_share(c.plan, first, count));
        CHECK(cudaMemset(to.result, 0x5a, 16));
        CHECK(maker == RD ? tmap_rd(c.plan, in, to, 0)
                          : tmap_ising_measure(&c.ising, in, out, to, 0));
        CHECK(cudaMemcpy(got, to.result, width, cudaMemcpyDeviceToHost));
        memcpy(earlier, o.done, (size_t)all->count);
        if (part < 2) round_share(&o, first, count);
        sums_of(&c, &o, earlier, number, before, want);
        of_plan(c.plan);
        expect(memcmp(got, want, width) == 0,
               count ? "the sum of a share" : "an empty share's sum");
    }
    CHECK(cudaMemcpy(behind, blocks + bytes, sizeof behind, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < sizeof behind; ++i) stayed &= behind[i] == 0x5a;
    of_plan(c.plan);
    expect(stayed, "memory behind a sum's");
    kit_release(0);
}

// ---- words --------------------------------------------------------------------------------------

// tmap_compact_life at any offset, in two shares.
static void run_words(tmap_nbb f, tmap_u32 r, const cells *all) {
    const tmap_u64 words = tmap_compact_words(f, r), room = words + 40;
    const tmap_u32 size = tmap_compact_word_of(f, r).bytes;
    unsigned char *host = (unsigned char *)engine_host(2 * room * size), *want = host + room * size;
    unsigned char *in = (unsigned char *)engine_memory(0, room * size);
    unsigned char *out = (unsigned char *)engine_memory(1, room * size);
    unsigned char *alive = (unsigned char *)kit_host((size_t)all->count);
    int *number = numbers_of(all);
    tmap_each_plan plan, share;
    tmap_u64 cut, from, to;
    if (!alive) exit(1);
    CHECK(tmap_compact_life_plan_make(f, r, &plan));
    plan.offset = below(20);
    memset(host, 0xff, room * size);
    memset(host + plan.offset * size, 0, words * size);
    for (int i = 0; i < all->count; ++i) {
        const tmap_u64 w = (tmap_u64)i % words, b = (tmap_u64)i / words;
        alive[i] = check_hash((tmap_u64)i, 31) % 3 == 0;
        host[(plan.offset + w) * size + b / 8] |= (unsigned char)(alive[i] << b % 8);
    }
    CHECK(cudaMemcpy(in, host, room * size, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0x5a, room * size));
    memset(want, 0x5a, room * size);
    cut = below(plan.items + 1);
    for (int part = 0; part < 2; ++part) {
        share = plan;
        CHECK(tmap_each_plan_share(&share, part ? cut : 0, part ? plan.items - cut : cut));
        CHECK(tmap_compact_life(&share, tmap_ca_life(), in, out, 0));
        from = share.first * tmap_nbb_cells(f, plan.tile_level);
        to = from + share.count * tmap_nbb_cells(f, plan.tile_level);
        memset(want + (plan.offset + from) * size, 0, (to - from) * size);
        for (int i = 0; i < all->count; ++i) {
            const tmap_u64 w = (tmap_u64)i % words, b = (tmap_u64)i / words;
            int living = 0, next;
            if (w < from || w >= to) continue;
            for (int p = 0; p < 9; ++p) {
                const int n = number_at(all, number, all->x[i] + p % 3 - 1, all->y[i] + p / 3 - 1);
                living += p != 4 && n >= 0 && alive[n];
            }
            next = tmap_ca_next(tmap_ca_life(), alive[i], (tmap_u32)living);
            want[(plan.offset + w) * size + b / 8] |= (unsigned char)(next << b % 8);
        }
        CHECK(cudaMemcpy(host, out, room * size, cudaMemcpyDeviceToHost));
        of_plan(&share);
        expect(memcmp(host, want, room * size) == 0, "words in two shares");
    }
    kit_release(0);
}

// ---- every engine by every plan -----------------------------------------------------------------

static void run_engine(int engine, int maker, tmap_nbb f, tmap_u32 r, const cells *all) {
    tmap_each_plan plan, share;
    tmap_u64 room, sum = 0, got = 0, cut;
    tmap_u32 *host, *want;
    int *number = numbers_of(all);
    job j;
    CHECK(engine_plan(maker, f, r, below(2) ? TMAP_COMPACT : random_pitch(f, r),
                      engine_kernel(engine), &plan));
    if (below(2)) (void)tmap_each_plan_loop(&plan, (int)below(TMAP_EACH_LOOP_COUNT));
    plan.offset = below(40), room = engine_room(&plan);
    host = (tmap_u32 *)engine_host(8 * room), want = host + room;
    memset(host, 0xff, 4 * room);
    memset(want, 0, 4 * room);
    for (int i = 0; i < all->count; ++i) {
        const tmap_u64 at = cells_at(all, &plan, i);
        host[at] = (tmap_u32)check_hash((tmap_u64)i, 41);
    }
    for (int i = 0; i < all->count; ++i) {
        const tmap_u64 at = cells_at(all, &plan, i);
        sum += host[at];
        if (engine == VISIT) want[at] = 1;
        if (engine == UPDATE) want[at] = 3 * host[at] + 1;
        for (int p = 0; p < 9 && engine == STENCIL; ++p) {
            const int n = number_at(all, number, all->x[i] + p % 3 - 1, all->y[i] + p / 3 - 1);
            if (n >= 0) want[at] += host[cells_at(all, &plan, n)];
        }
    }
    j.in = (tmap_u32 *)engine_memory(0, 4 * room), j.out = (tmap_u32 *)engine_memory(1, 4 * room);
    j.to.workspace = engine_memory(2, tmap_each_fold_bytes(&plan, 8));
    j.to.result = engine_memory(3, 64);
    CHECK(cudaMemcpy(j.in, host, 4 * room, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(j.out, 0, 4 * room));
    CHECK(cudaMemset(j.to.workspace, 0, 16));
    cut = below(plan.items + 1);
    for (int part = 0; part < 2; ++part) {
        tmap_u64 one = 0;
        share = plan;
        CHECK(tmap_each_plan_share(&share, part ? cut : 0, part ? plan.items - cut : cut));
        CHECK(tmap_each_launch(&share, &j, 0));
        if (engine == FOLD) CHECK(cudaMemcpy(&one, j.to.result, 8, cudaMemcpyDeviceToHost));
        got += one;
    }
    CHECK(cudaMemcpy(host, j.out, 4 * room, cudaMemcpyDeviceToHost));
    of_plan(&plan);
    expect(memcmp(host, want, 4 * room) == 0, "an engine by a plan of another maker");
    if (engine == FOLD) expect(got == sum, "a fold by a plan of another maker");
    kit_release(0);
}

#ifndef TMAP_CHECK // the kernel would end the program: test_check.cu
// tmap_each_stencil_words by a plan that is none of words does nothing.
static void run_words_engine(int maker, tmap_nbb f, tmap_u32 r) {
    tmap_each_plan plan;
    tmap_u32 *host;
    tmap_u64 room;
    int same = 1;
    job j;
    CHECK(
        engine_plan(maker, f, r, below(2) ? TMAP_COMPACT : 0, (const void *)stencil_words, &plan));
    if (below(2)) (void)tmap_each_plan_loop(&plan, (int)below(TMAP_EACH_LOOP_COUNT));
    room = engine_room(&plan), host = (tmap_u32 *)engine_host(4 * room);
    j.in = (tmap_u32 *)engine_memory(0, 4 * room), j.out = (tmap_u32 *)engine_memory(1, 4 * room);
    j.to.workspace = 0, j.to.result = 0;
    CHECK(cudaMemset(j.in, 0, 4 * room));
    CHECK(cudaMemset(j.out, 0x5a, 4 * room));
    CHECK(tmap_each_launch(&plan, &j, 0));
    CHECK(cudaMemcpy(host, j.out, 4 * room, cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0; i < room; ++i) same &= host[i] == 0x5a5a5a5a;
    of_plan(&plan);
    expect(same, "words by a plan that has none");
}
#endif

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
                               : tmap_each_stencil_words_plan_make(
                                     f, r, (const void *)stencil_words, &plan);
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
                    const cudaError_t error = engine_plan(maker, f, r, compact ? TMAP_COMPACT : 0,
                                                          engine_kernel(maker), &plan);
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
        CHECK(cudaFuncGetAttributes(&before, (const void *)stencil_cells));
        CHECK(tmap_each_stencil_plan_make(tmap_fractal_at(i), 6, TMAP_COMPACT,
                                          (const void *)stencil_cells, &plan));
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

// Plans that a launcher must not take.
static void run_refusals(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    char *a = (char *)engine_memory(0, 1 << 16), *b = (char *)engine_memory(1, 1 << 16);
    client c;
    CHECK(client_make(CA, 0, f, 5, 0, &c));
    c.ca.each.kernel = (const void *)stencil_cells;
    REFUSED(tmap_ca(&c.ca, tmap_ca_life(), a, b, 0));
    CHECK(client_make(LOAD, 0, f, 5, 0, &c));
    CHECK(tmap_each_plan_loop(c.plan, TMAP_EACH_LINEAR));
    REFUSED(tmap_compact_matrix_load(&c.matrix, a, b, 0));
    REFUSED(tmap_compact_matrix_store(&c.matrix, a, b, 0));
    CHECK(client_make(LIFE, 0, f, 5, 0, &c));
    CHECK(tmap_each_plan_loop(c.plan, TMAP_EACH_LINEAR));
    REFUSED(tmap_compact_life(c.plan, tmap_ca_life(), a, b, 0));
}

// ---- all of it ----------------------------------------------------------------------------------

static void run_fractal(int i) {
    const tmap_nbb f = engine_fractal(i);
    const tmap_u64 most = kit_tiny ? 300 : !kit_gpu ? 700 : 5000;
    tmap_u32 top = 0, r;
    cells all;
    while (top < 8 && tmap_nbb_cells(f, top + 1) <= most && engine_fits(f, top + 1)) ++top;
    r = top - (tmap_u32)below(top < 2 ? 1 : 2);
    all = cells_make(f, r);
    for (int maker = SW; maker <= STORE; ++maker)
        run_states(maker, (tmap_u32)below(30), f, r, random_pitch(f, r), &all);
    run_sums(RD, f, r, &all);
    run_sums(MEASURE, f, r, &all);
    run_words(f, r, &all);
    for (int maker = 0; maker <= ENGINES; ++maker) {
        run_engine((int)below(ENGINES), maker, f, r, &all);
        run_engine(STENCIL, maker, f, r, &all);
#ifndef TMAP_CHECK
        if (maker < ENGINES) run_words_engine(maker, f, r);
#endif
    }
    cells_free(&all);
}

// Automata of bytes that go by whole sectors, at offsets and in shares: of a fractal's level that has
// one tile, or a few.
static void run_sectors(tmap_nbb f) {
    const tmap_u64 most = kit_tiny ? 1u << 12 : 1u << 16;
    const tmap_u32 r = tmapi_life_tile_make(f).m + (tmap_u32)below(2);
    tmap_ca_plan plan;
    cells all;
    if (!tmap_life_fits(f, r) || tmap_nbb_side_x(f, r) * tmap_nbb_side_y(f, r) > most) return;
    CHECK(tmap_ca_plan_make(f, r, 0, 1, &plan));
    of_plan(&plan.each);
    expect(plan.by_sectors && plan.life.shared <= 48 * 1024 && plan.life.grid >= 1,
           "an automaton by sectors");
    all = cells_make(f, r);
    run_states(CA, 0, f, r, (tmap_u64)all.width, &all);
    cells_free(&all);
}

int main(void) {
    static const int processors[] = {132, 3, 1, 24, 80};
    int n = 0;
    engine_begin();
    engine_memory(0, 64);
    if (check_turn()) run_fold_share();
    if (check_turn()) run_limits();
    if (check_turn()) run_refusals();
    for (int device = 0; device < device_count(); ++device) {
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
        for (int i = 0; i < ENGINE_COUNT; ++i)
            if (check_turn() && (!kit_tiny || i % 4 == 0))
                run_fractal(i), run_sectors(engine_fractal(i));
    }
    device_reset();
    return kit_end("test_plans");
}
