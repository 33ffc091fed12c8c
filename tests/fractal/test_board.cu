// SPDX-License-Identifier: MIT
// test_board: a rule of all nine values, all bits of `around` and the cell, and automata, on boards
// of random sides, pitches, axes and sizes of elements, against the host; lanes, bands and tiles at
// their edges; plans of huge boards and of none; and what is refused.
#include "kit.h"
#include <threadmap/fractal/board_ca.h>

static tmap_u64 random_state = 1;
static tmap_u64 below(tmap_u64 n) { return kit_below(&random_state, n); }

// A board, and element (x + dx, y + dy) of it: its number, or ~0 beyond an edge.
static tmap_u64 beside(const tmap_board *b, tmap_u64 x, tmap_u64 y, int dx, int dy) {
    const tmap_i64 w = (tmap_i64)b->width, h = (tmap_i64)b->height;
    tmap_i64 to_x = (tmap_i64)x + dx, to_y = (tmap_i64)y + dy;
    if (b->periodic & TMAP_BOARD_PERIODIC_X) to_x = (to_x + w) % w;
    if (b->periodic & TMAP_BOARD_PERIODIC_Y) to_y = (to_y + h) % h;
    if (to_x < 0 || to_x >= w || to_y < 0 || to_y >= h) return ~0ull;
    return (tmap_u64)to_y * (b->pitch ? b->pitch : b->width) + (tmap_u64)to_x;
}

static tmap_board board_of(tmap_u64 width, tmap_u64 height) {
    tmap_board b = {width, height, 0, (tmap_u32)below(4)};
    if (below(2)) b.pitch = width + below(9);
    if (b.pitch && below(2)) b.pitch = (b.pitch + 3) / 4 * 4;
    return b;
}
static tmap_u64 room_of(const tmap_board *b) {
    return b->height * (b->pitch ? b->pitch : b->width);
}

// ---- any rule -----------------------------------------------------------------------------------

typedef struct mixing {
    const void *in;
    void *out;
    tmap_u32 *visits; // of each element
} mixing;

// Mixes all that the rule is given into `size` bytes. Host and device.
static __host__ __device__ void mix(tmap_u32 size, tmap_cell cell, tmap_u32 around,
                                    const unsigned char *nine, unsigned char *next) {
    tmap_u64 h = cell.x * 31ull + cell.y * 17ull + cell.at * 7 + around;
    for (tmap_u32 i = 0; i < 9 * size; ++i) h = h * 1099511628211ull + nine[i];
    for (tmap_u32 i = 0; i < size; ++i) next[i] = (unsigned char)(h >> (8 + 3 * i));
}

#define MIX_KERNEL(size) \
    static __device__ void mix_##size(void *job, tmap_cell cell, tmap_u32 around, \
                                      const void *nine, void *next) { \
        atomicAdd(((mixing *)job)->visits + cell.at, 1u); \
        mix(size, cell, around, (const unsigned char *)nine, (unsigned char *)next); \
    } \
    __global__ void mix_kernel_##size(tmap_board_plan plan, mixing j) { \
        const tmap_array in = {j.in, size}; \
        tmap_board_stencil(&plan, in, mix_##size, j.out, &j); \
    }
MIX_KERNEL(1)
MIX_KERNEL(2)
MIX_KERNEL(4)
MIX_KERNEL(8)
MIX_KERNEL(16)

static void check_rule(tmap_u64 width, tmap_u64 height) {
    static const void *const kernels[] = {(const void *)mix_kernel_1, (const void *)mix_kernel_2,
                                          (const void *)mix_kernel_4, (const void *)mix_kernel_8,
                                          (const void *)mix_kernel_16};
    const int mark = kit_mark(), which = (int)below(5);
    const tmap_u32 size = 1u << which;
    const tmap_board b = board_of(width, height);
    const tmap_u64 room = room_of(&b), pitch = b.pitch ? b.pitch : width;
    tmap_board_plan plan;
    kit_case("%llu x %llu, pitch %llu, axes %u, %u bytes", width, height, b.pitch, b.periodic,
             size);
    CHECK(tmap_board_plan_make(&b, kernels[which], &plan));
    if (below(2)) { // other tiles and launches than the maker's
        plan.rows = 8u << below(3);
        plan.tiles = plan.columns * ((height + plan.rows - 1) / plan.rows);
        plan.block = 32 * (1 + (tmap_u32)below(4)), plan.grid = 1 + (tmap_u32)below(3);
    }
    unsigned char *in = (unsigned char *)kit_host(room * size);
    unsigned char *want = (unsigned char *)kit_host(room * size);
    tmap_u32 *visits = (tmap_u32 *)kit_zeroed(room * 4);
    for (tmap_u64 i = 0; i < room * size; ++i) in[i] = (unsigned char)below(256);
    void *out = kit_guarded(room * size), *counted = kit_to_device(visits, room * 4);
    memset(want, KIT_POISON, room * size);
    for (tmap_u64 y = 0; y < height; ++y)
        for (tmap_u64 x = 0; x < width; ++x) {
            const tmap_cell cell = {(tmap_u32)x, (tmap_u32)y, y * pitch + x};
            unsigned char nine[9 * 16] = {0};
            tmap_u32 around = 0;
            for (int i = 0; i < 9; ++i) {
                const tmap_u64 at = beside(&b, x, y, i % 3 - 1, i / 3 - 1);
                if (at == ~0ull) continue;
                around |= 1u << i, memcpy(nine + (tmap_u32)i * size, in + at * size, size);
            }
            mix(size, cell, around, nine, want + cell.at * size);
            visits[cell.at] = 1;
        }
    const mixing job = {kit_to_device(in, room * size), out, (tmap_u32 *)counted};
    CHECK(tmap_board_launch(&plan, &job, 0));
    expect(memcmp(kit_to_host(out, room * size), want, room * size) == 0, "elements");
    expect(memcmp(kit_to_host(counted, room * 4), visits, room * 4) == 0, "each one once");
    kit_release(mark);
}

// ---- automata -----------------------------------------------------------------------------------

static void check_ca(tmap_u64 width, tmap_u64 height) {
    static const tmap_ca_rule rules[] = {{8, 12}, {0x1, 0x1ff}, {0x0aa, 0x155}, {0x1d5, 0x02f}};
    const int mark = kit_mark();
    const tmap_board b = board_of(width, height);
    const tmap_u32 size = below(4) ? 1 : 4;
    const tmap_u64 room = room_of(&b), offset = below(2) ? below(4) * size : 0;
    const tmap_u64 pitch = b.pitch ? b.pitch : width;
    const tmap_ca_rule rule = rules[below(COUNT(rules))];
    unsigned char *in = (unsigned char *)kit_zeroed(offset + room * size);
    unsigned char *want = (unsigned char *)kit_host(offset + room * size);
    char *from, *to = (char *)kit_guarded(offset + room * size);
    tmap_board_ca_plan plan;
    kit_case("automaton %x %x, %llu x %llu, pitch %llu, axes %u, %u bytes, offset %llu", rule.born,
             rule.survive, width, height, b.pitch, b.periodic, size, offset);
    CHECK(tmap_board_ca_plan_make(&b, size, &plan));
    expect((plan.words.tiles != 0) == (size == 1 && width % 4 == 0 && b.pitch % 4 == 0), "words");
    for (tmap_u64 i = 0; i < room; ++i) // any value but 0 is alive
        in[offset + i * size + below(size)] = (unsigned char)(below(2) ? 1 + below(255) : 0);
    from = (char *)kit_to_device(in, offset + room * size);
    memset(want, KIT_POISON, offset + room * size);
    for (tmap_u64 y = 0; y < height; ++y)
        for (tmap_u64 x = 0; x < width; ++x) {
            tmap_u32 alive[9], n = 0;
            for (int i = 0; i < 9; ++i) {
                const tmap_u64 at = beside(&b, x, y, i % 3 - 1, i / 3 - 1);
                alive[i] = at != ~0ull && !kit_all(in + offset + at * size, size, 0);
                n += i == 4 ? 0 : alive[i];
            }
            unsigned char *cell = want + offset + (y * pitch + x) * size;
            memset(cell, 0, size);
            cell[0] = (unsigned char)((alive[4] ? rule.survive : rule.born) >> n & 1);
        }
    CHECK(tmap_board_ca(&plan, rule, from + offset, to + offset, 0));
    expect(memcmp(kit_to_host(to, offset + room * size), want, offset + room * size) == 0, "cells");
    kit_release(mark);
}

// A glider is itself again after 4 n steps on an n x n torus.
static void check_glider(void) {
    static const unsigned char glider[3][3] = {{0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    for (tmap_u64 n = 5; n < 40; n += 7) {
        const int mark = kit_mark();
        const tmap_board b = {n, n, 0, TMAP_BOARD_PERIODIC_X | TMAP_BOARD_PERIODIC_Y};
        unsigned char *first = (unsigned char *)kit_zeroed(n * n);
        void *state[2];
        tmap_board_ca_plan plan;
        kit_case("a glider on %llu x %llu", n, n);
        for (int i = 0; i < 9; ++i)
            first[(tmap_u64)(i / 3) * n + (tmap_u64)(i % 3)] = glider[i / 3][i % 3];
        state[0] = kit_to_device(first, n * n), state[1] = kit_guarded(n * n);
        CHECK(tmap_board_ca_plan_make(&b, 1, &plan));
        for (tmap_u64 t = 0; t < 4 * n; ++t)
            CHECK(tmap_board_ca(&plan, tmap_ca_life(), state[t % 2], state[1 - t % 2], 0));
        expect(memcmp(kit_to_host(state[0], n * n), first, n * n) == 0, "after 4 n steps");
        kit_release(mark);
    }
}

// ---- plans, errors ------------------------------------------------------------------------------

static void test_arguments(void) {
    const tmap_board good = {50, 40, 64, 3};
    const void *kernel = (const void *)mix_kernel_4;
    tmap_board_plan plan, kept;
    tmap_board_ca_plan ca, ca_kept;
    tmap_board bad;
    char *a = (char *)kit_guarded(64 * 40 + 8), *b = (char *)kit_guarded(64 * 40 + 8);
    const mixing job = {a, b, 0};
    memset(&plan, 0x3c, sizeof plan), kept = plan, memset(&ca, 0x3c, sizeof ca), ca_kept = ca;
#define BAD(field, value) \
    kit_case(#field " = " #value), bad = good, bad.field = value; \
    REFUSED(tmap_board_plan_make(&bad, kernel, &plan)); \
    REFUSED(tmap_board_ca_plan_make(&bad, 1, &ca))
    BAD(width, 1ull << 31);
    BAD(height, 1ull << 31);
    BAD(pitch, 49);
    BAD(periodic, 4);
#undef BAD
    kit_case("%s", "arguments");
    REFUSED(tmap_board_plan_make(0, kernel, &plan));
    REFUSED(tmap_board_plan_make(&good, 0, &plan));
    REFUSED(tmap_board_plan_make(&good, kernel, 0));
    REFUSED(tmap_board_ca_plan_make(0, 1, &ca));
    REFUSED(tmap_board_ca_plan_make(&good, 2, &ca));
    REFUSED(tmap_board_ca_plan_make(&good, 1, 0));
    bad = good, bad.pitch = 1ull << 55;
    RETURNS(tmap_board_plan_make(&bad, kernel, &plan), cudaErrorInvalidConfiguration);
    RETURNS(tmap_board_ca_plan_make(&bad, 1, &ca), cudaErrorInvalidConfiguration);
    expect(!memcmp(&plan, &kept, sizeof plan) && !memcmp(&ca, &ca_kept, sizeof ca),
           "plans written");
    memset(&ca, 0, sizeof ca);
    REFUSED(tmap_board_ca(&ca, tmap_ca_life(), a, b, 0));
    bad.width = bad.height = bad.pitch = 0x7fffffff; // 2^62 elements, then 2^58
    RETURNS(tmap_board_plan_make(&bad, kernel, &plan), cudaErrorInvalidConfiguration);
    bad.width = bad.pitch = 1u << 27;
    CHECK(tmap_board_plan_make(&bad, kernel, &plan));
    expect(plan.tiles == 4473925ull << 26 && plan.grid == 0x7fffffff, "a huge board");
    CHECK(tmap_board_plan_make(&good, kernel, &plan));
    REFUSED(tmap_board_launch(0, &job, 0));
    REFUSED(tmap_board_launch(&plan, 0, 0));
    plan.kernel = 0;
    REFUSED(tmap_board_launch(&plan, &job, 0));
    CHECK(tmap_board_ca_plan_make(&good, 4, &ca));
    const tmap_ca_rule life = tmap_ca_life(), born = {0x200, 0}, survive = {0, 0x200};
    REFUSED(tmap_board_ca(0, life, a, b, 0));
    REFUSED(tmap_board_ca(&ca, life, 0, b, 0));
    REFUSED(tmap_board_ca(&ca, life, a, 0, 0));
    REFUSED(tmap_board_ca(&ca, life, a, a, 0));
    REFUSED(tmap_board_ca(&ca, life, a + 2, b, 0));
    REFUSED(tmap_board_ca(&ca, life, a, b + 1, 0));
    REFUSED(tmap_board_ca(&ca, born, a, b, 0));
    REFUSED(tmap_board_ca(&ca, survive, a, b, 0));
    expect(kit_device_all(b, 64 * 40 + 8, KIT_POISON), "written by refused calls");
    for (int i = 0; i < 12; ++i) { // without rows or columns
        const tmap_board none = {i % 3 ? 0u : 7u, i % 3 == 1 ? 5u : 0u, 0, (tmap_u32)i / 3};
        kit_case("no cells %d", i);
        CHECK(tmap_board_plan_make(&none, kernel, &plan));
        RETURNS(tmap_board_launch(&plan, &job, 0), cudaSuccess);
        CHECK(tmap_board_ca_plan_make(&none, i % 2 ? 1 : 4, &ca));
        RETURNS(tmap_board_ca(&ca, life, 0, 0, 0), cudaSuccess);
    }
    kit_case("%s", "an earlier error");
    earlier_error();
    const tmap_board one = {1, 1, 0, 3};
    CHECK(tmap_board_ca_plan_make(&one, 4, &ca));
    RETURNS(tmap_board_ca(&ca, life, a, b, 0), cudaSuccess);
    expect(earlier_error_is_there(), "an earlier error");
    kit_release(0);
}

int main(void) {
    static const tmap_u64 widths[] = {1, 2, 3, 4, 29, 30, 31, 32, 33, 60, 61, 120, 124, 128};
    static const tmap_u64 heights[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 34, 65};
    kit_begin();
    test_arguments();
    check_glider();
    for (unsigned i = 0; i < COUNT(widths) * COUNT(heights); ++i) {
        check_rule(widths[i / COUNT(heights)], heights[i % COUNT(heights)]);
        check_ca(widths[i / COUNT(heights)], heights[i % COUNT(heights)]);
    }
    for (int i = 0; i < (kit_full ? 3000 : kit_small ? 60 : 400); ++i) {
        const tmap_u64 wide = i % 4 ? 1 + below(140) : 1 + below(600);
        if (i % 2)
            check_rule(wide, 1 + below(wide > 200 ? 20 : 80));
        else
            check_ca(i % 6 ? wide : 4 * wide, 1 + below(wide > 200 ? 20 : 80));
    }
    return kit_end("test_board");
}
