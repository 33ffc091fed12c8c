// SPDX-License-Identifier: MIT
// test_ca: tmap_sw for every size of element, and the automata: tmap_ca with cells of one and four
// bytes and any rule, by the stencil and by whole sectors of memory (life.h), whose matrices begin
// anywhere in a sector; rules as text; and what is refused.
#include "fractal/engine.h"
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/sw.h>

static const tmap_ca_rule rules[3] = {{8, 12}, // Life
                                      {1u << 1 | 1u << 2, 1u << 0 | 1u << 8 | 1u << 3},
                                      {1u << 1 | 1u << 2 | 1u << 4, 1u << 0 | 1u << 3 | 1u << 8}};

// ---- single write -------------------------------------------------------------------------------

// Adds the bytes that are not those of `value` (cells) or poison (elsewhere).
static __global__ void check_written(tmap_each_plan plan, tmap_u64 n, tmap_u32 size, tmap_u64 value,
                                     const unsigned char *out, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        const int is = engine_cell(&plan, i, &cell);
        for (tmap_u32 b = 0; b < size; ++b)
            mine += out[i * size + b] != (is ? (unsigned char)(value >> 8 * (b & 7)) : 0x5a);
    }
    if (mine) atomicAdd(wrong, mine);
}

static void run_sw(tmap_nbb f, tmap_u32 r, int n) {
    const tmap_u32 size = 1u << n % 5;
    const tmap_u64 value[2] = {0x0123456789abcdefull, 0x0123456789abcdefull};
    tmap_each_plan plan;
    tmap_u64 room;
    unsigned char *out;
    CHECK(tmap_sw_plan_make(
        f, r, engine_pitch(n, tmap_nbb_side_x(f, r), n % 6 == 4 ? TMAP_EACH_COMPACT : -1), size,
        &plan));
    plan.offset = engine_offset(n), room = engine_room(&plan);
    out = (unsigned char *)engine_memory(0, (room + 1) * size) + (n % 2 ? size : 0);
    CHECK(cudaMemset(out, 0x5a, room * size));
    CHECK(tmap_sw(&plan, value, out, 0));
    check_written<<<ENGINE_GRID>>>(plan, room, size, value[0], out, engine_counter);
    of_plan(&plan);
    expect(engine_counted() == 0, "sw");
}

// ---- automata -----------------------------------------------------------------------------------

// Cells: alive or not at random, as 1, or as any number but 0 where `wide`; elsewhere 0.
static __global__ void fill(tmap_each_plan plan, tmap_u64 n, int wide, void *a, tmap_u32 size) {
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        const tmap_u32 h = (tmap_u32)check_hash(i, 4);
        const int lives = engine_cell(&plan, i, &cell) && h % 2 == 0;
        engine_set(a, i, size, !lives ? 0 : wide ? 1 + h % 255 : 1);
    }
}

static __global__ void compare(tmap_each_plan plan, tmap_u64 n, tmap_ca_rule rule, const void *in,
                               const void *out, tmap_u32 size, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    ENGINE_EACH_PLACE(i, n) {
        tmap_xy64 cell;
        tmap_u32 neighbours = 0;
        const tmap_u64 got = engine_get(out, i, size);
        if (!engine_cell(&plan, i, &cell)) {
            mine += !engine_is_poison(out, i, size) && got != 0;
            continue;
        }
        for (tmap_u32 p = 0; p < 9; ++p) {
            const tmap_u64 x = cell.x + p % 3 - 1, y = cell.y + p / 3 - 1;
            neighbours += p != 4 && tmap_nbb_contains64(plan.f, x, y, plan.r) &&
                          engine_get(in, engine_at(&plan, x, y), size) != 0;
        }
        mine += got != ((engine_get(in, i, size) ? rule.survive : rule.born) >> neighbours & 1);
    }
    if (mine) atomicAdd(wrong, mine);
}

// A step of cells of `size` bytes.
static void run(const tmap_ca_plan *plan, tmap_u32 size, int wide, tmap_ca_rule rule, void *in,
                void *out) {
    const tmap_u64 n = tmap_each_plan_places(&plan->each);
    fill<<<ENGINE_GRID>>>(plan->each, n, wide, in, size);
    CHECK(cudaMemset(out, 0x5a, n * size));
    CHECK(tmap_ca(plan, rule, in, out, 0));
    compare<<<ENGINE_GRID>>>(plan->each, n, rule, in, out, size, engine_counter);
    of_plan(&plan->each);
    expect(engine_counted() == 0, plan->by_sectors ? "ca by sectors" : "ca");
}

static void run_ca(tmap_nbb f, tmap_u32 r, int n) {
    const tmap_u64 pitch =
        engine_pitch(n, tmap_nbb_side_x(f, r), n % 5 == 3 ? TMAP_EACH_COMPACT : -1);
    tmap_ca_plan plan;
    tmap_u64 places;
    CHECK(tmap_ca_plan_make(f, r, pitch, 4, &plan));
    places = tmap_each_plan_places(&plan.each);
    run(&plan, 4, n % 2, rules[n % 3], engine_memory(0, places * 4), engine_memory(1, places * 4));
    CHECK(tmap_ca_plan_make(f, r, pitch, 1, &plan));
    of_plan(&plan.each);
    expect(plan.by_sectors == (pitch == tmap_nbb_side_x(f, r) && tmap_life_fits(f, r)),
           "ca by sectors");
    // Matrices that begin anywhere in a sector, in the same place of one or not, and end with their
    // memory.
    for (int i = 0; i < 3; ++i) {
        const tmap_u64 room = places + 64, before = i ? room - places : 0,
                       after = i == 1 ? room - places : i;
        run(&plan, 1, i == 1, rules[(n + i) % 3], (unsigned char *)engine_memory(0, room) + before,
            (unsigned char *)engine_memory(1, room) + after);
    }
}

// By whole sectors: the smallest matrix of one tile and of several, with tiles of up to 256 places.
static void run_life(tmap_nbb f) {
    const tmap_u64 most = kit_tiny ? 1u << 16 : 1u << 20;
    const tmap_u32 m = tmapi_life_tile_make(f).m;
    for (tmap_u32 r = m; r <= m + 1; ++r) {
        tmap_ca_plan plan;
        const tmap_u64 places = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
        const tmap_u64 shift = r == m ? 5 : 64;
        if (!tmap_life_fits(f, r) || places > most || (!kit_gpu && r > m && places > 1u << 18))
            break;
        CHECK(tmap_ca_plan_make(f, r, 0, 1, &plan));
        of_plan(&plan.each);
        expect(plan.by_sectors, "ca by sectors");
        run(&plan, 1, r == m, rules[2], (unsigned char *)engine_memory(0, places + 64) + shift,
            (unsigned char *)engine_memory(1, places + 64) + shift);
    }
}

// ---- rules and refusals -------------------------------------------------------------------------

static void run_rules(const tmap_each_plan *plan) {
    const struct {
        const char *text;
        int code;
        tmap_u32 born, survive;
    } texts[] = {{"B3/S23", TMAP_OK, 8, 12},
                 {"b36/s23", TMAP_OK, 0x48, 12},
                 {"B/S012345678", TMAP_OK, 0, 0x1ff},
                 {"B/S", TMAP_OK, 0, 0},
                 {"", TMAP_EINVAL, 0, 0},
                 {"B3", TMAP_EINVAL, 0, 0},
                 {"B3/S23x", TMAP_EINVAL, 0, 0},
                 {"B9/S2", TMAP_EINVAL, 0, 0},
                 {"B33/S2", TMAP_EINVAL, 0, 0},
                 {"S23/B3", TMAP_EINVAL, 0, 0},
                 {"B3S23", TMAP_EINVAL, 0, 0},
                 {NULL, TMAP_EINVAL, 0, 0}};
    for (unsigned i = 0; i < COUNT(texts); ++i) {
        tmap_ca_rule rule = {77, 77};
        const int code = tmap_ca_rule_from_text(texts[i].text, &rule);
        const int same = code == TMAP_OK
                             ? rule.born == texts[i].born && rule.survive == texts[i].survive
                             : rule.born == 77 && rule.survive == 77;
        of_plan(plan);
        expect(code == texts[i].code && same, "a rule's text");
    }
}

static void run_refusals(void) {
    const tmap_nbb f = tmap_fractal_gasket(), outside = tmap_nbb_make(3, 2, 2, 0x300, 0x110);
    const tmap_ca_rule life = tmap_ca_life(), nine = {1u << 9, 0}, ten = {0, 1u << 10};
    unsigned char *a = (unsigned char *)engine_memory(0, 1 << 16),
                  *b = (unsigned char *)engine_memory(1, 1 << 16);
    const tmap_u32 value = 1;
    tmap_ca_plan plan, words, untouched, same;
    tmap_life_plan by_life;
    tmap_each_plan sw, other;
    unsigned char bytes[4096];
    int touched = 0;
    memset(&untouched, 0x77, sizeof untouched);
    same = untouched;
    CHECK(tmap_ca_plan_make(f, 3, 0, 1, &plan));
    CHECK(tmap_ca_plan_make(f, 3, 0, 4, &words));
    CHECK(tmap_sw_plan_make(f, 3, 0, 4, &sw));
    CHECK(cudaMemset(b, 0x5a, sizeof bytes));
    REFUSED(tmap_ca_plan_make(f, 3, 0, 2, &untouched));
    REFUSED(tmap_ca_plan_make(f, 3, 0, 0, &untouched));
    REFUSED(tmap_ca_plan_make(f, 3, 7, 1, &untouched));
    REFUSED(tmap_ca_plan_make(outside, 3, 0, 1, &untouched));
    REFUSED(tmap_ca_plan_make(f, 3, 0, 1, NULL));
    REFUSED(tmap_sw_plan_make(outside, 3, 0, 4, &untouched.each));
    for (tmap_u32 r = 21; r <= 22; ++r) { // few cells, but 3^21 columns do not fit 32 bits
        const tmap_nbb wide = tmap_fractal_cantor();
        of_plan(&plan.each);
        expect(tmap_sw_plan_make(wide, r, 0, 4, &untouched.each) == cudaErrorInvalidConfiguration &&
                   tmap_ca_plan_make(wide, r, 0, 1, &untouched) == cudaErrorInvalidConfiguration,
               "a width past 32 bits");
        REFUSED(tmap_life_plan_make(wide, r, &by_life));
    }
    of_plan(&plan.each);
    expect(memcmp(&untouched, &same, sizeof same) == 0, "a refusal made a plan");
    REFUSED(tmap_ca(NULL, life, a, b, 0));
    REFUSED(tmap_ca(&plan, life, NULL, b, 0));
    REFUSED(tmap_ca(&plan, life, a, NULL, 0));
    REFUSED(tmap_ca(&plan, life, b, b, 0));
    REFUSED(tmap_ca(&plan, nine, a, b, 0));
    REFUSED(tmap_ca(&plan, ten, a, b, 0));
    REFUSED(tmap_ca(&words, life, a + 1, b, 0));
    REFUSED(tmap_ca(&words, life, a, b + 2, 0));
    REFUSED(tmap_life_plan_make(f, 3, &by_life)); // smaller than a tile
    REFUSED(tmap_life_plan_make(outside, 9, &by_life));
    REFUSED(tmap_life_plan_make(f, 9, NULL));
    CHECK(tmap_life_plan_make(f, 7, &by_life));
    REFUSED(tmap_life(NULL, life, a, b, 0));
    REFUSED(tmap_life(&by_life, life, NULL, b, 0));
    REFUSED(tmap_life(&by_life, life, a, NULL, 0));
    REFUSED(tmap_life(&by_life, life, b, b, 0));
    REFUSED(tmap_life(&by_life, life, a + 1, b, 0));
    REFUSED(tmap_life(&by_life, nine, a, b, 0));
    REFUSED(tmap_sw_plan_make(f, 3, 0, 3, &other));
    REFUSED(tmap_sw_plan_make(f, 3, 0, 0, &other));
    REFUSED(tmap_sw_plan_make(f, 3, 0, 32, &other));
    REFUSED(tmap_sw(NULL, &value, b, 0));
    REFUSED(tmap_sw(&sw, NULL, b, 0));
    REFUSED(tmap_sw(&sw, &value, NULL, 0));
    REFUSED(tmap_sw(&sw, &value, b + 1, 0));
    REFUSED(tmap_sw(&plan.each, &value, b, 0)); // another maker's plan
    CHECK(cudaMemcpy(bytes, b, sizeof bytes, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < sizeof bytes; ++i) touched += bytes[i] != 0x5a;
    expect(touched == 0, "a refused launch wrote");
    run_rules(&plan.each);
}

int main(void) {
    const char *own[] = {"###/###/##.", "##.##/#####/#.#.#", "###/###/###"};
    engine_begin();
    engine_memory(0, 64);
    for (int i = 0, n = 0; i < ENGINE_COUNT; ++i) {
        const tmap_nbb f = engine_fractal(i);
        if (kit_tiny && i % 4) continue;
        const int taken = check_turn();
        for (tmap_u32 r = 0; engine_fits(f, r); ++r, ++n)
            if (taken) run_sw(f, r, n), run_ca(f, r, n);
        if (taken) run_life(f);
    }
    for (int i = 0; i < 3; ++i) {
        tmap_nbb f;
        if (tmap_nbb_from_rows(own[i], &f) != TMAP_OK) return 1;
        run_life(f);
    }
    run_refusals();
    return kit_end("test_ca");
}
