// SPDX-License-Identifier: MIT
// test_page3: the calls of docs/maps/fractal3.md that no sample makes, against the host.
#include "kit.h"

#include <threadmap/fractal3.h>

static const tmap_u32 R = 3;

// ---- read, then write ---------------------------------------------------------------------------

typedef struct scaling {
    float *a;
    float factor;
} scaling;

static __device__ void read(void *job, tmap_cell3 cell, void *value) {
    const scaling *s = (const scaling *)job;
    *(float *)value = s->a[cell.at];
}

static __device__ void scale(void *job, tmap_cell3 cell, const void *value) {
    scaling *s = (scaling *)job;
    s->a[cell.at] = s->factor * *(const float *)value;
}

__global__ void __launch_bounds__(512, 2) scale_cells(tmap_each3_plan plan, scaling s) {
    tmap_each3_update(&plan, read, scale, &s);
}

// The first place of the sponge is (5, 6, 7) of a volume of `wide` x `high` x ... floats.
static void run_update(void) {
    const tmap_nbb3 f = tmap_fractal3_menger();
    const tmap_u64 wide = 40, high = 50, deep = 36, places = wide * high * deep;
    float *host = (float *)kit_host(places * sizeof *host);
    for (tmap_u64 i = 0; i < places; ++i) host[i] = (float)(i % 1000);
    float *a = (float *)kit_to_device(host, places * sizeof *host);
    const scaling s = {a, 4};
    const tmap_pitch3 pitch = {wide, wide * high}; // of a volume of wide x high x deep floats
    tmap_each3_plan plan;
    CHECK(tmap_each3_plan_make(TMAP_EACH_UPDATE, tmap_turned_plain(f), R, pitch,
                               (const void *)scale_cells, &plan));
    plan.offset = (7 * high + 6) * wide + 5; // the fractal begins at place (5, 6, 7) of the volume
    CHECK(tmap_each3_launch(&plan, &s, 0));
    const float *got = (const float *)kit_to_host(a, places * sizeof *got);
    tmap_u64 wrong = 0, cells = 0;
    for (tmap_u64 i = 0; i < places; ++i) {
        const tmap_u64 x = i % wide - 5, y = i / wide % high - 6, z = i / wide / high - 7;
        const tmap_xyz64 c = {x, y, z};
        const int cell = tmap_nbb3_contains64(f, c, R);
        cells += (tmap_u64)cell;
        wrong += got[i] != (cell ? 4 * host[i] : host[i]);
    }
    kit_case("update");
    expect(!wrong && cells == 8000, "cells are scaled, and nothing else");
}

// ---- a cell and its neighbours, in a volume and in compact storage ------------------------------

typedef struct heat {
    const float *in;
    float *out;
    float rate;
} heat;

// [snippet: stencil]
// around: a bit for each of the 27 places, 1 if it is a cell. places: their values.
static __device__ void flow(void *job, tmap_cell3, tmap_u32 around, const void *places,
                            void *next) {
    const float *v = (const float *)places;
    const float here = v[TMAP_HERE3];
    float sum = 0;
    for (int step = 1; step <= 9; step *= 3) { // 1, 3, 9: along x, y, z
        if (around >> (TMAP_HERE3 - step) & 1) sum += v[TMAP_HERE3 - step] - here;
        if (around >> (TMAP_HERE3 + step) & 1) sum += v[TMAP_HERE3 + step] - here;
    }
    *(float *)next = here + ((const heat *)job)->rate * sum;
}
// [/snippet]

__global__ void __launch_bounds__(512, 1) flow_cells(tmap_each3_plan plan, heat h) {
    const tmap_array in = {h.in, sizeof *h.in};
    tmap_each3_stencil(&plan, in, flow, h.out, &h);
}

// One step by the definition. in, out: elements of compact storage.
static void flow_on_host(tmap_nbb3 f, const float *in, float *out, float rate) {
    for (tmap_u32 i = 0; i < tmap_nbb3_cells(f, R); ++i) {
        const tmap_xyz c = tmap_nbb3_lambda_linear(f, i, R);
        float sum = 0;
        for (int k = 0; k < 6; ++k) { // in the order of the kernel
            const tmap_u32 step = k % 2 ? 1 : ~0u;
            const tmap_xyz d = {c.x + (k / 2 == 0 ? step : 0), c.y + (k / 2 == 1 ? step : 0),
                                c.z + (k / 2 == 2 ? step : 0)};
            if (tmap_nbb3_contains(f, d, R)) sum += in[tmap_nbb3_nu_linear(f, d, R)] - in[i];
        }
        out[i] = in[i] + rate * sum;
    }
}

static void run_stencil(void) {
    const tmap_nbb3 f = tmap_fractal3_menger();
    const float rate = 0.125f; // with integers below 2^20 every step is exact
    tmap_u64 wrong = 0;
    const tmap_pitch3 compact = {TMAP_COMPACT, 0};
    const tmap_u64 bytes = tmap_nbb3_cells(f, R) * sizeof(float);
    float *a;
    float *b;
    CHECK(cudaMalloc((void **)&a, bytes));
    CHECK(cudaMalloc((void **)&b, bytes));
    float *host = (float *)kit_host(bytes);
    float *want = (float *)kit_host(bytes);
    float *got = (float *)kit_host(bytes);
    for (tmap_u64 i = 0; i < bytes / sizeof *host; ++i)
        host[i] = (float)(check_hash(i, 1) % 1000 * 64);
    CHECK(cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice));
    tmap_each3_plan plan;
    CHECK(tmap_each3_plan_make(TMAP_EACH_STENCIL, tmap_turned_plain(f), R, compact,
                               (const void *)flow_cells, &plan));
    const heat there = {a, b, rate};
    const heat back = {b, a, rate};
    CHECK(tmap_each3_launch(&plan, &there, 0));
    CHECK(tmap_each3_launch(&plan, &back, 0));
    CHECK(cudaMemcpy(got, a, bytes, cudaMemcpyDeviceToHost));
    flow_on_host(f, host, want, rate);
    flow_on_host(f, want, host, rate);
    for (tmap_u64 i = 0; i < bytes / sizeof *host; ++i) wrong += got[i] != host[i];
    kit_case("stencil");
    expect(!wrong, "two steps of heat");
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

// ---- words of one bit per cell ------------------------------------------------------------------

typedef struct fire {
    const tmap_u32 *in;
    tmap_u32 *out;
} fire;

// [snippet: words]
// A cell burns if it or one of its neighbours does. places: 27 slices of four words.
static __device__ void spread(void *, tmap_cell3, tmap_u32, const void *places, void *next) {
    const tmap_u32 *slice = (const tmap_u32 *)places;
    for (int w = 0; w < 4; ++w) {
        tmap_u32 any = 0;
        for (int i = 0; i < TMAP_AROUND3; ++i) any |= slice[4 * i + w];
        ((tmap_u32 *)next)[w] = any;
    }
}

__global__ void __launch_bounds__(512, 1) spread_cells(tmap_each3_plan plan, fire s) {
    const tmap_array in = {s.in, 16}; // tmap_compact3_slice of the sponge's words
    tmap_each3_words(&plan, in, spread, s.out, &s);
}
// [/snippet]

// From one burning cell, number `start`, the fire reaches after two steps what is at most two
// steps away. `burns`: bits, `words` words of `bytes` bytes.
static void check_fire(tmap_nbb3 f, tmap_u64 start, const unsigned char *burns, tmap_u32 bytes) {
    const tmap_u32 cells = (tmap_u32)tmap_nbb3_cells(f, R);
    unsigned char *now = (unsigned char *)kit_zeroed(cells);
    unsigned char *next = (unsigned char *)kit_zeroed(cells);
    tmap_u64 wrong = 0, word;
    tmap_u32 bit;
    now[start] = 1;
    for (int t = 0; t < 2; ++t) {
        for (tmap_u32 i = 0; i < cells; ++i) {
            const tmap_xyz c = tmap_nbb3_lambda_linear(f, i, R);
            next[i] = 0;
            for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
                const tmap_xyz d = {c.x + n % 3 - 1, c.y + n / 3 % 3 - 1, c.z + n / 9 - 1};
                if (tmap_nbb3_contains(f, d, R)) next[i] |= now[tmap_nbb3_nu_linear(f, d, R)];
            }
        }
        memcpy(now, next, cells);
    }
    for (tmap_u32 i = 0; i < cells; ++i) {
        tmap_compact3_bit(f, R, i, &word, &bit);
        wrong += (burns[word * bytes + bit / 8] >> bit % 8 & 1) != now[i];
    }
    kit_case("words, from cell %llu", start);
    expect(!wrong, "the fire after two steps");
}

static void run_words(void) {
    const tmap_pitch3 compact = {TMAP_COMPACT, 0};
    const tmap_nbb3 f = tmap_fractal3_menger();
    for (tmap_u64 start = 7; start < 8000; start += 3001) {
        const tmap_u64 bytes = tmap_compact3_words_bytes(f, R);
        tmap_u32 *state[2];
        for (int i = 0; i < 2; ++i) CHECK(cudaMalloc((void **)&state[i], bytes));
        CHECK(cudaMemset(state[0], 0, bytes)); // no cell burns; idle bits are 0

        tmap_each3_plan plan;
        CHECK(tmap_each3_plan_make(TMAP_EACH_WORDS, tmap_turned_plain(f), R, compact,
                                   (const void *)spread_cells, &plan));
        tmap_u64 word;
        tmap_u32 bit;
        tmap_compact3_bit(f, R, start, &word, &bit); // of cell number `start`
        const unsigned char one = (unsigned char)(1u << bit % 8);
        unsigned char *first = (unsigned char *)state[0] + word * plan.word.bytes + bit / 8;
        CHECK(cudaMemcpy(first, &one, 1, cudaMemcpyHostToDevice));

        for (int t = 0; t < 2; ++t) {
            const fire s = {state[t % 2], state[(t + 1) % 2]};
            CHECK(tmap_each3_launch(&plan, &s, 0));
        }
        unsigned char *got = (unsigned char *)kit_host(bytes);
        CHECK(cudaMemcpy(got, state[0], bytes, cudaMemcpyDeviceToHost));
        check_fire(f, start, got, plan.word.bytes);
        for (int i = 0; i < 2; ++i) CHECK(cudaFree(state[i]));
        kit_release(0);
    }
}

int main(void) {
    kit_begin();
    run_update();
    run_stencil();
    kit_release(0);
    run_words();
    return kit_end("test_page3");
}
