// SPDX-License-Identifier: MIT
// each_plans.c: plans from facts in plain C, without CUDA: what tmap_each_plan_of and the others
// choose for an H200, by hand; shares and other loops of these plans; and what is refused.
// test_plans holds them against the plans of kernels.
#include "kit.h"

#include <string.h>
#include <threadmap/fractal.h>

// Of an H200, and of a kernel with __launch_bounds__(512, 2) that takes all 64 registers.
static tmap_facts facts_of(tmap_u32 registers) {
    const tmap_device_facts h200 = {90,        132,       2048, 32, 65536, 65536,
                                    228 << 10, 227 << 10, 1024, 2,  1};
    tmap_facts facts;
    facts.device = h200;
    facts.kernel.registers = registers, facts.kernel.shared = 0;
    facts.kernel.threads = 512, facts.kernel.ptx = 90;
    return facts;
}

static void check_plan(const tmap_each_plan *p, int loop, tmap_u32 grid, tmap_u32 block,
                       tmap_u64 items, const char *what) {
    EXPECT(p->loop == (tmap_u32)loop, "%s: loop %s", what, tmap_each_loop_name((int)p->loop));
    EXPECT(p->grid == grid && p->block == block, "%s: %u blocks of %u", what, p->grid, p->block);
    EXPECT(p->items == items && p->first == 0 && p->count == items, "%s: %llu items", what,
           p->items);
    EXPECT(p->kernel == NULL && p->offset == 0, "%s: more than facts", what);
}

int main(void) {
    const tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet();
    const tmap_facts facts = facts_of(64);
    tmap_facts none = facts;
    tmap_each_plan p, same;

    // Visits: 16 warps of a multiprocessor, one block of 512 threads; tiles of 32 x 32.
    expect(tmap_each_plan_of(TMAP_EACH_VISIT, gasket, 16, 0, &facts, &p) == TMAP_OK, "gasket");
    check_plan(&p, TMAP_EACH_COLUMNS, 132, 512, 177147, "gasket"); // 3^11
    expect(p.pitch == 65536 && p.tile_level == 5 && p.shared == 0 && p.holes, "gasket");
    // Half of them.
    expect(tmap_each_plan_share_of(&p, 0, 1000) == TMAP_OK, "a share");
    EXPECT(p.grid == 63 && p.count == 1000, "a share of %u blocks", p.grid); // 16 tiles each
    expect(tmap_each_plan_share_of(&p, 1, p.items) == TMAP_EINVAL, "a share too large");

    // Updates: 32 warps, which are two blocks.
    expect(tmap_each_plan_of(TMAP_EACH_UPDATE, gasket, 16, 70000, &facts, &p) == TMAP_OK, "update");
    check_plan(&p, TMAP_EACH_COLUMNS, 264, 512, 177147, "update");
    expect(tmap_each_plan_loop_of(&p, TMAP_EACH_LINEAR, &facts) == TMAP_OK, "linear");
    check_plan(&p, TMAP_EACH_LINEAR, 84076, 512, 43046721, "linear"); // 3^16 / 512, rounded up
    same = p;
    expect(tmap_each_plan_loop_of(&p, TMAP_EACH_COMPACT, &facts) == TMAP_ERANGE, "loop");
    expect(memcmp(&p, &same, sizeof p) == 0, "a plan is left alone");

    // Folds of a fractal of odd sides go by rows, in whole chunks for all warps.
    expect(tmap_each_plan_of(TMAP_EACH_FOLD, carpet, 9, 0, &facts, &p) == TMAP_OK, "fold");
    check_plan(&p, TMAP_EACH_ROWS, 264, 512, 134217728, "fold"); // 8^9
    EXPECT(p.shared == tmap_rows_bytes(carpet, 9) && p.chunk % 32 == 0, "chunk %u", p.chunk);
    expect(tmap_each_fold_bytes(&p, 8) == 16 + 264 * 8, "bytes of a fold");

    // Stencils on compact storage: a thread for each of 512 cells of a tile.
    expect(tmap_each_plan_of(TMAP_EACH_STENCIL, carpet, 9, TMAP_COMPACT, &facts, &p) == TMAP_OK,
           "compact");
    check_plan(&p, TMAP_EACH_COMPACT, 264, 512, 262144, "compact"); // 8^6 tiles
    EXPECT(p.tile_level == 3 && p.chunk == 1, "%u side by side", p.chunk);
    expect(tmap_each_plan_of(TMAP_EACH_WORDS, carpet, 11, TMAP_COMPACT, &facts, &p) == TMAP_OK,
           "words");
    expect(p.r == 9 && p.word.cells == 64 && p.word.bytes == 8, "words");

    // Refusals, which write nothing.
    memset(&p, 0x77, sizeof p);
    same = p;
    none.kernel.registers = 255, none.device.block_registers = 1024;
    expect(tmap_each_plan_of(TMAP_EACH_VISIT, gasket, 16, 0, &none, &p) == TMAP_ERANGE,
           "no block fits");
    expect(tmap_each_plan_of(TMAP_EACH_VISIT, gasket, 33, 0, &facts, &p) == TMAP_ERANGE, "level");
    expect(tmap_each_plan_of(TMAP_EACH_VISIT, gasket, 5, 31, &facts, &p) == TMAP_EINVAL, "pitch");
    expect(tmap_each_plan_of(TMAP_EACH_WORDS, gasket, 5, 32, &facts, &p) == TMAP_EINVAL, "words");
    expect(tmap_each_plan_of(5, gasket, 5, 0, &facts, &p) == TMAP_EINVAL, "no work");
    expect(tmap_each_plan_of(TMAP_EACH_VISIT, gasket, 5, 0, NULL, &p) == TMAP_EINVAL, "no facts");
    expect(tmap_each_plan_of(TMAP_EACH_VISIT, gasket, 5, 0, &facts, NULL) == TMAP_EINVAL,
           "no plan");
    expect(tmap_each_plan_of(TMAP_EACH_VISIT, tmap_nbb_make(0, 1, 1, 0, 0), 5, 0, &facts, &p) ==
               TMAP_EINVAL,
           "no fractal");
    expect(tmap_each_plan_of(TMAP_EACH_WORDS, gasket, 29, TMAP_COMPACT, &facts, &p) == TMAP_ERANGE,
           "words");
    expect(memcmp(&p, &same, sizeof p) == 0, "a refusal made a plan");
    return kit_end("each_plans");
}
