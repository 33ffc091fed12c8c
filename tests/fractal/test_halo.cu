// SPDX-License-Identifier: MIT
// test_halo: fractals in compact storage divided among 1 to 9 GPUs (halo.h), all of them this one:
// steps of floats, bytes and bits in two and three dimensions against those without a division, at
// once and with the inner tiles before the exchange; the lists against each other and against those
// of every tile's neighbours, and the runs against the lists; states, and what is refused.
#include "../kit.h"

#include <cuda.h>

// What the library holds of the driver: reserved addresses, handles of memory, mappings. Free memory
// of the device would tell of other processes, too.
static int held[3];
static CUresult told(CUresult error, int what, int change) {
    if (!error) held[what] += change;
    return error;
}
#define cuMemAddressReserve(...) told(cuMemAddressReserve(__VA_ARGS__), 0, 1)
#define cuMemAddressFree(...)    told(cuMemAddressFree(__VA_ARGS__), 0, -1)
#define cuMemCreate(...)         told(cuMemCreate(__VA_ARGS__), 1, 1)
#define cuMemRelease(...)        told(cuMemRelease(__VA_ARGS__), 1, -1)
#define cuMemMap(...)            told(cuMemMap(__VA_ARGS__), 2, 1)
#define cuMemUnmap(...)          told(cuMemUnmap(__VA_ARGS__), 2, -1)

#include <threadmap/fractal.h>
#include <threadmap/fractal3.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/halo.h>
#include <threadmap/fractal/life3.h>

enum { STEPS = 3, MOST = 9 };

typedef struct job {
    const void *in;
    void *out;
} job;

// Rules that mix all places: any wrong value shows.
TMAP_DEVICE float mixed(tmap_u32 around, const float *places, int count) {
    tmap_u32 sum = around;
    for (int i = 0; i < count; ++i) sum = sum * 31 + (tmap_u32)places[i];
    return (float)(sum & 0xff);
}
TMAP_DEVICE void rule_f32(void *, tmap_cell, tmap_u32 around, const void *nine, void *next) {
    *(float *)next = mixed(around, (const float *)nine, 9);
}
TMAP_DEVICE void rule3_f32(void *, tmap_cell3, tmap_u32 around, const void *places, void *next) {
    *(float *)next = mixed(around, (const float *)places, 27);
}
TMAP_DEVICE void rule_u8(void *, tmap_cell, tmap_u32 around, const void *nine, void *next) {
    tmap_u32 sum = around;
    for (int i = 0; i < 9; ++i) sum = sum * 31 + ((const unsigned char *)nine)[i];
    *(unsigned char *)next = (unsigned char)sum;
}
__global__ void __launch_bounds__(512, 2) step_u8(tmap_each_plan plan, job j) {
    const tmap_array in = {j.in, 1};
    tmap_each_stencil(&plan, in, rule_u8, j.out, 0);
}
__global__ void __launch_bounds__(512, 2) step_f32(tmap_each_plan plan, job j) {
    const tmap_array in = {j.in, 4};
    tmap_each_stencil(&plan, in, rule_f32, j.out, 0);
}
__global__ void __launch_bounds__(512, 1) step3_f32(tmap_each3_plan plan, job j) {
    const tmap_array in = {j.in, 4};
    tmap_each3_stencil(&plan, in, rule3_f32, j.out, 0);
}

// What is stepped: a fractal of two dimensions or three, and the kind of elements.
typedef struct world {
    tmap_nbb f;
    tmap_nbb3 f3;
    int dims;
    tmap_u32 r, kind; // 0: bits, 1: bytes, 4: floats
    tmap_u64 bytes;   // of a state
    tmap_each_plan plan;
    tmap_each3_plan plan3;
} world;

static tmap_u32 size_of(const world *w) {
    return w->kind ? w->kind : w->dims == 2 ? w->plan.word.bytes : w->plan3.word.bytes;
}

// Makes the plan; 0 where there is none.
static int world_begin(world *w) {
    const tmap_pitch3 compact = {TMAP_COMPACT, 0};
    cudaError_t error;
    kit_case("%u axes, k=%u, r=%u, kind %u", w->dims, w->dims == 2 ? w->f.k : w->f3.k, w->r,
             w->kind);
    if (w->dims == 2 && !w->kind)
        error = tmap_compact_life_plan_make(w->f, w->r, &w->plan);
    else if (w->dims == 2)
        error = tmap_each_plan_make(TMAP_EACH_STENCIL, w->f, w->r, TMAP_COMPACT,
                                    w->kind == 1 ? (const void *)step_u8 : (const void *)step_f32,
                                    &w->plan);
    else if (!w->kind)
        error = tmap_life3_plan_make(w->f3, w->r, &w->plan3);
    else
        error = tmap_each3_plan_make(TMAP_EACH_STENCIL, tmap_turned_plain(w->f3), w->r, compact,
                                     (const void *)step3_f32, &w->plan3);
    if (error) return 0;
    w->bytes = w->kind ? tmap_mul_saturate(w->dims == 2 ? tmap_nbb_cells(w->f, w->r)
                                                        : tmap_nbb3_cells(w->f3, w->r),
                                           w->kind)
               : w->dims == 2 ? tmap_compact_words_bytes(w->f, w->r)
                              : tmap_compact3_words_bytes(w->f3, w->r);
    return 1;
}

static cudaError_t world_step(const world *w, const tmap_each_plan *plan,
                              const tmap_each3_plan *plan3, const void *in, void *out) {
    const job j = {in, out};
    if (w->kind)
        return w->dims == 2 ? tmap_each_launch(plan, &j, 0) : tmap_each3_launch(plan3, &j, 0);
    return w->dims == 2 ? tmap_compact_life(plan, tmap_ca_life(), in, out, 0)
                        : tmap_life3(plan3, tmap_life3_4555(), in, out, 0);
}

// Random values; idle bits of words are 0.
static void world_fill(const world *w, unsigned char *state) {
    const tmap_u32 size = size_of(w),
                   cells = w->dims == 2 ? w->plan.word.cells : w->plan3.word.cells;
    for (tmap_u64 i = 0; i < w->bytes / size; ++i) {
        if (w->kind == 4) {
            const float value = (float)(check_hash(i, 3) & 0xff);
            memcpy(state + 4 * i, &value, 4);
        } else if (w->kind == 1) {
            state[i] = (unsigned char)check_hash(i, 3);
        } else {
            for (tmap_u32 b = 0; b < 8 * size; ++b)
                if (b < cells && check_hash(i * 512 + b, 4) % 3 == 0)
                    state[i * size + b / 8] |= (unsigned char)(1u << b % 8);
        }
    }
}

// Every tile of the lists is where its rank's share says, in order, and once; and who sends to whom
// agrees with who receives from whom.
static void check_lists(const tmap_halo *halos, tmap_u32 ranks) {
    for (tmap_u32 a = 0; a < ranks; ++a) {
        const tmap_halo *h = &halos[a];
        expect(h->in_first[0] == 0 && h->out_first[0] == 0, "lists begin");
        expect(h->in_first[a] == h->in_first[a + 1] && h->out_first[a] == h->out_first[a + 1],
               "nothing from a rank to itself");
        for (tmap_u32 b = 0; b < ranks; ++b) {
            const tmap_u64 count = h->in_first[b + 1] - h->in_first[b];
            expect(count == halos[b].out_first[a + 1] - halos[b].out_first[a], "as many are sent");
            for (tmap_u64 i = 0; i < count; ++i) {
                const tmap_u64 tile = h->in[h->in_first[b] + i];
                expect(tile == halos[b].out[halos[b].out_first[a] + i], "the same tile");
                expect(tile - halos[b].own.first < halos[b].own.count, "a tile of its rank");
            }
        }
    }
}

// The tiles to receive are those around each own tile, found one by one.
static void check_needed(const world *w, const tmap_halo *h) {
    const tmap_u32 around = w->dims == 2 ? 8 : 26;
    const tmap_u32 levels =
        w->dims == 2 ? w->plan.r - w->plan.tile_level : w->plan3.r - w->plan3.tile_level;
    unsigned char *needed = (unsigned char *)kit_zeroed(h->tiles);
    tmap_u64 count = 0;
    for (tmap_u64 i = 0; i < h->own.count * around; ++i) {
        const tmap_u32 tile = (tmap_u32)(h->own.first + i / around), n = (tmap_u32)(i % around);
        tmap_u32 other;
        if (w->dims == 2) {
            const tmap_u32 place = n + (n >= TMAP_HERE);
            const tmap_compact_place p =
                tmap_compact_beside(w->f, tile, levels, (int)(place % 3) - 1, (int)(place / 3) - 1);
            if (p.none || (w->kind && (p.x || p.y))) continue;
            other = p.index;
        } else {
            const tmap_compact3_place p =
                tmap_compact3_beside(w->f3, tile, levels, n + (n >= TMAP_HERE3));
            if (p.none || (w->kind && p.to != TMAP_HERE3)) continue;
            other = p.index;
        }
        if (other - h->own.first >= h->own.count) count += !needed[other], needed[other] = 1;
    }
    expect(count == h->in_first[h->ranks], "as many as are needed");
    for (tmap_u64 i = 0; i < h->in_first[h->ranks]; ++i) expect(needed[h->in[i]], "a needed tile");
}

// The runs are all own tiles, and the first is the longest one without tiles that others read, which
// are those that read tiles of others.
static void check_runs(const tmap_halo *h) {
    const tmap_share inner = h->run[0];
    tmap_u64 longest = 0, run = 0;
    unsigned char *sent = (unsigned char *)kit_zeroed(h->own.count + 1);
    for (tmap_u64 i = 0; i < h->out_first[h->ranks]; ++i) sent[h->out[i] - h->own.first] = 1;
    for (tmap_u64 i = 0; i < h->own.count; ++i) {
        run = sent[i] ? 0 : run + 1;
        if (run > longest) longest = run;
        if (h->own.first + i - inner.first < inner.count) expect(!sent[i], "an inner tile");
    }
    expect(inner.count == longest, "the longest run");
    expect(h->run[1].first == h->own.first && h->run[1].first + h->run[1].count == inner.first &&
               inner.first + inner.count == h->run[2].first &&
               h->run[2].first + h->run[2].count == h->own.first + h->own.count,
           "runs cover the own tiles");
}

// A step of run number i of this GPU's tiles.
static cudaError_t run_step(const world *w, const tmap_halo *h, int i, const void *in, void *out) {
    tmap_each_plan plan = w->plan;
    tmap_each3_plan plan3 = w->plan3;
    const cudaError_t error = w->dims == 2
                                  ? tmap_each_plan_share(&plan, h->run[i].first, h->run[i].count)
                                  : tmap_each3_plan_share(&plan3, h->run[i].first, h->run[i].count);
    if (i == 0) plan.grid -= plan.grid / 8, plan3.grid -= plan3.grid / 8; // as beside NCCL
    return error ? error : world_step(w, &plan, &plan3, in, out);
}

static void run_ranks(const world *w, const unsigned char *begin, const unsigned char *want,
                      tmap_u32 ranks) {
    static tmap_halo halos[MOST];
    tmap_each_plan plan[MOST];
    tmap_each3_plan plan3[MOST];
    void *state[MOST][2];
    unsigned char *got = (unsigned char *)kit_host(w->bytes);
    const tmap_u32 size = size_of(w);
    kit_case("%u axes, k=%u, r=%u, kind %u, %u ranks", w->dims, w->dims == 2 ? w->f.k : w->f3.k,
             w->r, w->kind, ranks);
    for (tmap_u32 a = 0; a < ranks; ++a) {
        plan[a] = w->plan, plan3[a] = w->plan3;
        CHECK(w->dims == 2 ? tmap_halo_make(&plan[a], size, a, ranks, &halos[a])
                           : tmap_halo3_make(&plan3[a], size, a, ranks, &halos[a]));
        for (int i = 0; i < 2; ++i) CHECK(tmap_halo_state_create(&halos[a], &state[a][i]));
        const tmap_u64 first = halos[a].own.first * halos[a].bytes;
        if (halos[a].own.count)
            CHECK(cudaMemcpy((char *)state[a][0] + first, begin + first,
                             halos[a].own.count * halos[a].bytes, cudaMemcpyHostToDevice));
    }
    check_lists(halos, ranks);
    for (tmap_u32 a = 0; a < ranks; ++a) check_needed(w, &halos[a]), check_runs(&halos[a]);
    for (int t = 0; t < STEPS; ++t) {
        for (tmap_u32 a = 0; a < ranks; ++a) {
            CHECK(tmap_halo_pack(&halos[a], state[a][t % 2], 0));
            if (t) { // before the tiles of others are there
                for (tmap_u64 i = 0; i < halos[a].in_first[ranks]; ++i)
                    CHECK(cudaMemset((char *)state[a][t % 2] + halos[a].in[i] * halos[a].bytes,
                                     0x4a, halos[a].bytes));
                CHECK(run_step(w, &halos[a], 0, state[a][t % 2], state[a][(t + 1) % 2]));
            }
        }
        for (tmap_u32 a = 0; a < ranks; ++a)
            for (tmap_u32 b = 0; b < ranks; ++b) { // what NCCL does
                const tmap_share_exchange x = tmap_halo_exchange(&halos[a]);
                const tmap_share_exchange y = tmap_halo_exchange(&halos[b]);
                const tmap_u64 count = x.out_first[b + 1] - x.out_first[b];
                if (count)
                    CHECK(cudaMemcpy((char *)y.in + y.in_first[a] * y.bytes,
                                     (const char *)x.out + x.out_first[b] * x.bytes,
                                     count * x.bytes, cudaMemcpyDeviceToDevice));
            }
        for (tmap_u32 a = 0; a < ranks; ++a) {
            CHECK(tmap_halo_unpack(&halos[a], state[a][t % 2], 0));
            for (int i = 1; t && i < 3; ++i)
                CHECK(run_step(w, &halos[a], i, state[a][t % 2], state[a][(t + 1) % 2]));
            if (t == 0) CHECK(world_step(w, &plan[a], &plan3[a], state[a][0], state[a][1]));
        }
    }
    for (tmap_u32 a = 0; a < ranks; ++a) {
        const tmap_u64 first = halos[a].own.first * halos[a].bytes;
        if (halos[a].own.count)
            CHECK(cudaMemcpy(got + first, (char *)state[a][STEPS % 2] + first,
                             halos[a].own.count * halos[a].bytes, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 2; ++i) CHECK(tmap_halo_state_destroy(&halos[a], state[a][i]));
        tmap_halo_destroy(&halos[a]);
    }
    expect(memcmp(got, want, w->bytes) == 0, "the steps of one GPU");
}

static void run_world(world *w) {
    if (!check_turn() || !world_begin(w)) return;
    unsigned char *begin = (unsigned char *)kit_zeroed(w->bytes);
    unsigned char *want = (unsigned char *)kit_host(w->bytes);
    unsigned char *state[2];
    world_fill(w, begin);
    for (int i = 0; i < 2; ++i) state[i] = (unsigned char *)kit_guarded(w->bytes);
    CHECK(cudaMemcpy(state[0], begin, w->bytes, cudaMemcpyHostToDevice));
    for (int t = 0; t < STEPS; ++t)
        CHECK(world_step(w, &w->plan, &w->plan3, state[t % 2], state[(t + 1) % 2]));
    CHECK(cudaMemcpy(want, state[STEPS % 2], w->bytes, cudaMemcpyDeviceToHost));
    for (tmap_u32 ranks = 1; ranks <= MOST; ranks += ranks < 4 ? 1 : ranks < 7 ? 3 : 2)
        run_ranks(w, begin, want, ranks);
    kit_release(0);
}

static void run_refused(void) {
    tmap_each_plan plan, matrix, sums;
    tmap_halo h;
    void *state;
    kit_case("what is refused");
    CHECK(tmap_compact_life_plan_make(tmap_fractal_gasket(), 6, &plan));
    CHECK(tmap_each_plan_make(TMAP_EACH_STENCIL, tmap_fractal_gasket(), 6, 0,
                              (const void *)step_f32, &matrix));
    CHECK(tmap_each_plan_make(TMAP_EACH_VISIT, tmap_fractal_gasket(), 6, TMAP_COMPACT,
                              (const void *)step_f32, &sums));
    const tmap_u32 size = plan.word.bytes;
    RETURNS(tmap_halo_make(0, size, 0, 1, &h), cudaErrorInvalidValue);
    RETURNS(tmap_halo_make(&plan, size, 0, 1, 0), cudaErrorInvalidValue);
    RETURNS(tmap_halo_make(&plan, size + 1, 0, 1, &h), cudaErrorInvalidValue);
    RETURNS(tmap_halo_make(&plan, size, 1, 1, &h), cudaErrorInvalidValue);
    RETURNS(tmap_halo_make(&plan, size, 0, 0, &h), cudaErrorInvalidValue);
    RETURNS(tmap_halo_make(&matrix, 4, 0, 1, &h), cudaErrorInvalidValue);
    RETURNS(tmap_halo_make(&sums, 4, 0, 1, &h), cudaErrorInvalidValue);
    CHECK(tmap_halo_make(&plan, size, 0, 1, &h));
    RETURNS(tmap_halo_state_create(0, &state), cudaErrorInvalidValue);
    RETURNS(tmap_halo_state_create(&h, 0), cudaErrorInvalidValue);
    RETURNS(tmap_halo_pack(&h, 0, 0), cudaErrorInvalidValue);
    RETURNS(tmap_halo_unpack(0, &h, 0), cudaErrorInvalidValue);
    tmap_halo_destroy(&h);
    tmap_halo_destroy(&h);
    tmap_halo_destroy(0);
    RETURNS(tmap_halo_state_create(&h, &state), cudaErrorInvalidValue);

    kit_case("more than there is");
    size_t some, all;
    CHECK(cudaMemGetInfo(&some, &all));
    const tmap_share runs[] = {{5, 1}, {all, 0}, {all, all}};
    RETURNS(tmap_share_memory_create(2 * all, runs, COUNT(runs), &state),
            cudaErrorMemoryAllocation);
    expect(!held[0] && !held[1] && !held[2], "nothing remains");
    CHECK(tmap_share_memory_create(2 * all, runs, 2, &state));
    expect(held[0] == 1 && !held[1] && held[2] == 1, "what there is");
    CHECK(cudaMemset((char *)state + 5, 1, 1)); // may run until the call that frees the memory
    CHECK(tmap_share_memory_destroy(2 * all, runs, 2, state));
    expect(!held[0] && !held[1] && !held[2], "nothing remains");
    CHECK(cudaDeviceSynchronize());
}

int main(void) {
    world w;
    memset(&w, 0, sizeof w);
    kit_begin();
    run_refused();
    const tmap_u64 most = kit_full ? 300000 : kit_tiny ? 300 : 4000;
    w.dims = 2;
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i)
        for (w.kind = 0; w.kind <= 4; w.kind = w.kind ? w.kind * 4 : 1)
            for (w.r = 0; (w.f = tmap_fractal_at(i), tmap_nbb_cells(w.f, w.r)) <=
                          (w.kind ? most : 20 * most);
                 ++w.r)
                run_world(&w);
    w.dims = 3;
    for (int i = 0; i < TMAP_FRACTAL3_COUNT; ++i)
        for (w.kind = 0; w.kind <= 4; w.kind += 4)
            for (w.r = 0; (w.f3 = tmap_fractal3_at(i), tmap_nbb3_cells(w.f3, w.r)) <=
                          (w.kind ? most : 20 * most);
                 ++w.r)
                run_world(&w);
    expect(!held[0] && !held[1] && !held[2], "nothing remains of states");
    return kit_end("test_halo");
}
