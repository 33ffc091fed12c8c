// SPDX-License-Identifier: MIT
// pairs_plans.c: plans of the engine for pairs from facts of devices, without CUDA: what is known of
// them by hand, on the H200 and on small devices; what the makers refuse.
#include "kit.h"

#include <threadmap/triangle.h>

#include <string.h>

// Compute capability 9.0 with the multiprocessors of an H200.
static tmap_facts facts_of(tmap_u32 registers, tmap_u32 fixed, tmap_u32 threads) {
    tmap_facts f;
    f.device.capability = 90, f.device.processors = 132;
    f.device.threads = 2048, f.device.blocks = 32;
    f.device.registers = f.device.block_registers = 65536;
    f.device.shared = 228 << 10, f.device.block_shared = 227 << 10;
    f.device.reserved_shared = 1024, f.device.floats_per_double = 2;
    f.kernel.registers = registers, f.kernel.shared = fixed, f.kernel.threads = threads;
    f.kernel.ptx = 90;
    return f;
}

static void pairs(void) {
    const tmap_facts f = facts_of(32, 0, 1024), full = facts_of(255, 40000, 128);
    tmap_pairs_plan p;
    expect(tmap_pairs_plan_of(131072, 3, 4, &f, &p) == TMAP_OK, "a plan");
    EXPECT(p.items == 32896 && p.cut == 0 && p.band == 512, "%llu items", p.items);
    EXPECT(p.shared == 6144 && p.block == 128 && !p.kernel, "%u bytes", p.shared);
    EXPECT(p.resident == 16 * 132 && p.grid == 32896, "%u blocks of %u", p.grid, p.resident);
    expect(tmap_pairs_fold_bytes(&p, 8) == 16 + 8 * 32896, "a workspace");
    expect(tmap_pairs_select_bytes(&p, TMAP_PAIRS_FIXED_ORDER) == 263184, "a workspace");
    p.count = 1ull << 61; // two sets of 2^32 points, 65536 times
    expect(tmap_pairs_fold_bytes(&p, 64) == ~0ull, "a workspace beyond 64 bits");
    expect(tmap_pairs_select_bytes(&p, TMAP_PAIRS_FIXED_ORDER) == ~0ull, "the same of a list");
    expect(tmap_pairs_select_bytes(&p, TMAP_PAIRS_ANY_ORDER) == 16, "the same in any order");
    // Few tiles are cut into bands of 16 rows.
    expect(tmap_pairs_plan_of(3000, 8, 8, &f, &p) == TMAP_OK, "a plan");
    EXPECT(p.items == 21 * 32 && p.cut == 5 && p.band == 16, "%llu items", p.items);
    EXPECT(p.shared == 32768 && p.resident == 6 * 132, "%u of %u bytes", p.resident, p.shared);
    // Two blocks by registers, and three by shared memory.
    expect(tmap_pairs_plan_of(3000, 8, 8, &full, &p) == TMAP_OK, "a plan");
    EXPECT(p.resident == 2 * 132 && p.grid == 21 * 32, "%u", p.resident);
}

static void rows(void) {
    const tmap_facts f = facts_of(124, 0, 128);
    tmap_pairs_plan p;
    expect(tmap_pairs_rows_plan_of(131072, 4, 4, 12, &f, &p) == TMAP_OK, "a plan");
    EXPECT(p.items == 8256 && p.side == 1024 && p.cut == 0, "%llu items", p.items);
    EXPECT(p.shared == 6144 && p.resident == 4 * 132, "%u of %u bytes", p.resident, p.shared);
    EXPECT(tmap_pairs_rows_bytes(&p, 12) == 202900480, "%llu", tmap_pairs_rows_bytes(&p, 12));
    expect(tmap_pairs_rows_plan_of(3000, 4, 4, 12, &f, &p) == TMAP_OK, "a plan");
    EXPECT(p.items == 24 * 25 / 2 && p.side == 128, "%llu items", p.items);
}

static void stores(void) {
    const tmap_pairs_store_shape condensed = {30720, 3, 4, TMAP_PAIRS_CONDENSED, 4};
    const tmap_pairs_store_shape bits = {1000, 8, 8, TMAP_PAIRS_SQUARE, TMAP_PAIRS_BIT};
    const tmap_pairs_store_shape sums = {4096, 300, 4, TMAP_PAIRS_LOWER, 4};
    const tmap_pairs_store_shape large = {8192, 16, 4, TMAP_PAIRS_LOWER, 4};
    tmap_pairs_plan p;
    expect(tmap_pairs_store_plan_of(condensed, &p) == TMAP_OK, "a plan");
    // 241 tiles across, as rows begin up to 8 values before a tile; the last row of them has none.
    EXPECT(p.items == 241 * 242 / 2 - 1 && p.grid == p.items, "%llu items", p.items);
    EXPECT(tmap_pairs_store_bytes(&p) == 1887375360, "%llu", tmap_pairs_store_bytes(&p));
    EXPECT(p.shared == (2 * 128 + 8 + 1) * 16 && p.block == 512, "%u bytes", p.shared);
    expect(tmap_pairs_store_plan_of(bits, &p) == TMAP_OK, "a plan");
    EXPECT(p.items == 64 && p.step == 32 && tmap_pairs_store_bytes(&p) == 128000, "%llu", p.step);
    expect(tmap_pairs_store_sums_plan_of(sums, &p) == TMAP_OK, "a plan");
    EXPECT(p.side == 128 && p.block == 256 && p.shared == 10 * 265 * 16, "%u bytes", p.shared);
    expect(tmap_pairs_store_sums_plan_of(large, &p) == TMAP_OK, "a plan");
    EXPECT(p.side == 256 && p.shared == 4 * (2 * 256 + 9) * 16, "%u bytes", p.shared);
    for (tmap_u32 bytes = 0; bytes < 300; ++bytes) { // of a sum
        const tmap_pairs_plan before = p;
        const int fits = bytes >= 4 && bytes <= 256 && bytes % 4 == 0;
        RETURNS(tmap_pairs_store_plan_sum_of(&p, bytes), fits ? TMAP_OK : TMAP_EINVAL);
        expect(fits || !memcmp(&p, &before, sizeof p), "a refusal changed the plan");
        EXPECT(p.side == (bytes >= 20 ? 64u : 256u), "%u bytes: %u", bytes, p.side);
    }
    EXPECT(p.items == 129ull * 130 / 2 - 1 && p.shared == 4 * (2 * 64 + 9) * 16, "%llu", p.items);
}

// The parts of a matrix: consecutive bytes and items, all of them once, and the part of each row.
static void parts_of(tmap_pairs_plan plan, tmap_u64 parts) {
    tmap_u64 byte = 0, item = 0, most = 0;
    tmap_share bytes;
    for (tmap_u64 part = 0; part < parts; ++part) {
        tmap_pairs_plan p = plan;
        kit_case("n = %u, layout %u, value %u, %u others, part %llu of %llu", plan.n, plan.layout,
                 plan.value, plan.others, part, parts);
        expect(tmap_pairs_store_plan_part(&p, part, parts, &bytes) == TMAP_OK, "a part");
        expect(bytes.first == byte && p.first == item, "begins where the one before ends");
        byte += bytes.count, item += p.count;
        if (p.count > most) most = p.count;
        for (tmap_u32 row = 0; row < plan.rows; row += 1 + row / 40) {
            const tmap_u64 at = tmapi_store_bytes_before(&plan, row);
            const int here = at >= bytes.first && at < bytes.first + bytes.count;
            if (tmapi_store_bytes_before(&plan, row + 1) > at) // not the empty last row
                expect((tmap_pairs_store_part_of(&plan, row, parts) == part) == here,
                       "a row's part");
        }
    }
    expect(byte == tmap_pairs_store_bytes(&plan) && item == plan.items, "all of the matrix");
    expect(most <= plan.items / parts + plan.across + 1, "equal parts");
    expect(tmap_pairs_store_plan_part(&plan, parts, parts, &bytes) == TMAP_EINVAL, "no such part");
}
static void parts(void) {
    const tmap_u32 sizes[] = {0, 1, 2, 127, 128, 129, 1000, 5000, 300000};
    tmap_pairs_plan p, sets;
    tmap_share bytes;
    for (tmap_u32 i = 0; i < COUNT(sizes); ++i)
        for (tmap_u32 kind = 0; kind < 5; ++kind)
            for (tmap_u64 n = 1; n <= 9; ++n) {
                const tmap_u32 layout =
                    kind < 2 ? TMAP_PAIRS_CONDENSED : TMAP_PAIRS_SQUARE + (kind > 3);
                const tmap_pairs_store_shape shape = {sizes[i], 3, 4, layout,
                                                      kind == 1   ? 8u
                                                      : kind == 3 ? TMAP_PAIRS_BIT
                                                                  : 4u};
                expect(tmap_pairs_store_plan_of(shape, &p) == TMAP_OK, "a plan");
                parts_of(p, n);
                if (kind != 2 || !p.n) continue;
                expect(tmap_pairs_store_plan_pitch_of(&p, p.n + 64) == TMAP_OK, "a pitch");
                expect(tmap_pairs_plan_rows_of(&p, p.n / 2) == TMAP_OK, "fewer rows");
                parts_of(p, n);
                expect(tmap_pairs_plan_others_of(&p, p.n / 3 + 1) == TMAP_OK, "a second set");
                parts_of(p, n);
            }
    sets = p;
    expect(tmap_pairs_plan_sets_of(&sets, 2) == TMAP_OK, "two sets");
    expect(tmap_pairs_store_plan_part(&sets, 0, 2, &bytes) == TMAP_EINVAL,
           "two sets have no parts");
    expect(tmap_pairs_store_plan_part(0, 0, 2, &bytes) == TMAP_EINVAL, "no plan");
    expect(tmap_pairs_store_plan_part(&p, 0, 2, 0) == TMAP_EINVAL, "no bytes");
    memset(&p, 0, sizeof p);
    expect(tmap_pairs_store_plan_part(&p, 0, 2, &bytes) == TMAP_EINVAL, "a plan of zeros");
    expect(tmap_pairs_plan_share_of(&p, 0, 0) == TMAP_EINVAL, "a plan of zeros");
}

static void frames(void) {
    const tmap_facts f = facts_of(124, 0, 512), none = facts_of(129, 0, 512);
    tmap_pairs_frames_plan p;
    // All pairs of 200 points are one tile, and 128 blocks take 32 frames each.
    expect(tmap_pairs_frames_plan_of(200, 4096, 1, 24, &f, &p) == TMAP_OK, "a plan");
    EXPECT(p.bands == 1 && p.side == 200 && p.splits == 1, "%u x %u", p.bands, p.side);
    EXPECT(p.range == 32 && p.grid == 128, "%u frames, %u blocks", p.range, p.grid);
    EXPECT(p.shared <= f.device.block_shared && !tmap_pairs_frames_bytes(&p), "%u", p.shared);
    expect(tmap_pairs_frames_plan_of(1000, 1024, 1, 24, &f, &p) == TMAP_OK, "a plan");
    EXPECT(p.bands > 1 && p.tiles == tmap_triangle_cells(p.bands), "%u bands", p.bands);
    EXPECT(p.ranges * p.splits == p.grid && p.ranges * p.range >= 1024, "%u blocks", p.grid);
    expect(tmap_pairs_frames_plan_of(200, 4096, 1, 24, &none, &p) == TMAP_ERANGE,
           "more registers than there are");
}

// What each maker refuses. d: coordinates, of frames: numbers of a pair's own.
static void refusals(void) {
    enum { PAIRS, ROWS, STORE, SUMS, FRAMES };
    const tmap_u32 c = TMAP_PAIRS_CONDENSED, square = TMAP_PAIRS_SQUARE;
    const tmap_u32 hollow = TMAP_PAIRS_HOLLOW;
    const struct {
        int maker;
        tmap_u32 n, d, size, layout, bytes;
    } bad[] = {
        {PAIRS, 5, 0, 4, 0, 0},
        {PAIRS, 5, 9, 4, 0, 0},
        {PAIRS, 5, 2, 3, 0, 0},
        {PAIRS, 5, 2, 16, 0, 0},
        {PAIRS, ~0u, 2, 4, 0, 0},
        {ROWS, 5, 0, 4, 0, 4},
        {ROWS, 5, 9, 4, 0, 4},
        {ROWS, 5, 2, 3, 0, 4},
        {ROWS, ~0u, 2, 4, 0, 4},
        {ROWS, 5, 2, 4, 0, 0},
        {ROWS, 5, 2, 4, 0, 6},
        {ROWS, 5, 2, 4, 0, 260},
        {STORE, 5, 0, 4, c, 4},
        {STORE, 5, 9, 4, c, 4},
        {STORE, 5, 3, 2, c, 4},
        {STORE, 5, 3, 4, 0, 4},
        {STORE, 5, 3, 4, hollow, 4},
        {STORE, 5, 3, 4, 8 + square, 4},
        {STORE, 5, 3, 4, c, 2},
        {STORE, 5, 3, 4, c, 16},
        {STORE, 5, 3, 4, c, TMAP_PAIRS_BIT},
        {STORE, 5, 3, 4, c + hollow, 4},
        {SUMS, 5, 3, 4, c + hollow, 4},
        {STORE, 1u << 27, 3, 4, c, 4},
        {SUMS, 5, 0, 4, c, 4},
        {SUMS, 5, 1u << 31, 4, c, 4},
        {SUMS, 5, 3, 4, 0, 4},
        {FRAMES, 8, 5, 0, 0, 16},
        {FRAMES, (1u << 24) + 1, 1, 0, 0, 16},
    };
    const tmap_facts f = facts_of(32, 0, 1024), small = facts_of(32, 0, 64);
    const tmap_pairs_store_shape shape = {5, 3, 4, TMAP_PAIRS_CONDENSED, 4};
    tmap_pairs_plan p, same;
    tmap_pairs_frames_plan frames_plan, same_frames;
    memset(&p, 0x77, sizeof p), same = p;
    memset(&frames_plan, 0x77, sizeof frames_plan), same_frames = frames_plan;
    for (size_t i = 0; i < COUNT(bad); ++i) {
        const tmap_u32 n = bad[i].n, d = bad[i].d, size = bad[i].size, bytes = bad[i].bytes;
        const tmap_pairs_store_shape s = {n, d, size, bad[i].layout, bytes};
        const int code = bad[i].maker == PAIRS  ? tmap_pairs_plan_of(n, d, size, &f, &p)
                         : bad[i].maker == ROWS ? tmap_pairs_rows_plan_of(n, d, size, bytes, &f, &p)
                         : bad[i].maker == STORE ? tmap_pairs_store_plan_of(s, &p)
                         : bad[i].maker == SUMS
                             ? tmap_pairs_store_sums_plan_of(s, &p)
                             : tmap_pairs_frames_plan_of(n, 8, d, bytes, &f, &frames_plan);
        EXPECT(code == TMAP_EINVAL, "refusal %d: %d", (int)i, code);
    }
    for (tmap_u32 bytes = 0; bytes < 80; ++bytes)
        if (bytes < 4 || bytes % 4 || bytes > TMAP_FOLD_BYTES_MAX)
            RETURNS(tmap_pairs_frames_plan_of(8, 8, 1, bytes, &f, &frames_plan), TMAP_EINVAL);
    RETURNS(tmap_pairs_frames_plan_of(8, (1ull << 31) + 1, 1, 16, &f, &frames_plan), TMAP_EINVAL);
    RETURNS(tmap_pairs_frames_plan_of(8, 8, 1, 16, 0, &frames_plan), TMAP_EINVAL);
    RETURNS(tmap_pairs_plan_of(5, 2, 4, &f, 0), TMAP_EINVAL);
    RETURNS(tmap_pairs_plan_of(5, 2, 4, 0, &p), TMAP_EINVAL);
    RETURNS(tmap_pairs_store_plan_of(shape, 0), TMAP_EINVAL);
    RETURNS(tmap_pairs_plan_of(5, 2, 4, &small, &p), TMAP_ERANGE);
    RETURNS(tmap_pairs_rows_plan_of(5, 2, 4, 4, &small, &p), TMAP_ERANGE);
    expect(!memcmp(&p, &same, sizeof p), "a refusal wrote the plan");
    expect(!memcmp(&frames_plan, &same_frames, sizeof frames_plan), "a refusal wrote the plan");
}

int main(void) {
    pairs();
    rows();
    stores();
    parts();
    frames();
    refusals();
    return kit_end("pairs_plans");
}
