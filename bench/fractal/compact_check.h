// SPDX-License-Identifier: MIT
// compact_check.h: how bench_compact verifies: the start and steps in every cell or, at large levels,
// in 2^26 of them, against the rule on the cells around it, which nu finds; and the sectors of memory
// that a step has to move.
#ifndef BENCH_FRACTAL_COMPACT_CHECK_H
#define BENCH_FRACTAL_COMPACT_CHECK_H

#include "compact_job.h"

enum { STEPS = 6, RUN_OF_CELLS = 64 };
#define CHECKED_CELLS (1ull << 26)

// Number k of the cells that are checked: all of them, or else runs of cells: the first, one across the
// end of each sheet of bits, the others anywhere.
TMAP_DEVICE tmap_u64 checked_cell(const layout *l, tmap_u64 k) {
    const tmap_u64 run = k / RUN_OF_CELLS;
    const tmap_u64 at = run == 0               ? 0
                        : run <= l->word.cells ? run * l->words - RUN_OF_CELLS / 2
                                               : check_hash(run, 5) % l->cells;
    return l->cells <= CHECKED_CELLS ? k : at + k % RUN_OF_CELLS;
}

// Counts cells whose value in `state` is not that of the start.
static __global__ void check_start(layout l, const void *state, tmap_u64 *wrong) {
    BENCH_EACH(k, l.cells < CHECKED_CELLS ? l.cells : CHECKED_CELLS) {
        const tmap_u64 i = checked_cell(&l, k);
        const tmap_xy64 p = tmap_nbb_lambda_linear64(l.f, i < l.cells ? i : 0, l.r);
        if (i < l.cells && layout_value(&l, state, layout_place(&l, i, p.x, p.y)) !=
                               start_value(l.task, l.words, i))
            atomicAdd(wrong, 1ull);
    }
}

// Counts cells of `out` that are not what the rule of step t makes of `in`.
static __global__ void check_step(layout l, rule_step s, tmap_ising_chances chances, int t,
                                  tmap_u64 *wrong) {
    BENCH_EACH(k, l.cells < CHECKED_CELLS ? l.cells : CHECKED_CELLS) {
        const tmap_u64 i = checked_cell(&l, k);
        if (i >= l.cells) continue;
        const tmap_xy64 p = tmap_nbb_lambda_linear64(l.f, i, l.r);
        tmap_u64 nine[9];
        tmap_u32 around = 0;
        for (tmap_u32 n = 0; n < 9; ++n) {
            const tmap_u64 x = p.x + n % 3 - 1, y = p.y + n / 3 - 1;
            const int is = tmap_nbb_contains64(l.f, x, y, l.r) != 0;
            const tmap_u64 number = is ? tmap_nbb_nu_linear64(l.f, x, y, l.r) : 0;
            nine[n] = is ? layout_value(&l, s.in, layout_place(&l, number, x, y)) : 0;
            around |= (tmap_u32)is << n;
        }
        if (layout_value(&l, s.out, layout_place(&l, i, p.x, p.y)) !=
            next_value(l.task, nine, around, i, p, t, chances))
            atomicAdd(wrong, 1ull);
    }
}

// The number of cells that are wrong at the start and after each of STEPS steps.
static inline tmap_u64 job_wrong(compact_job *j) {
    const unsigned grid = grid_of(j->at.cells);
    tmap_u64 *wrong;
    job_fill(j);
    wrong = bench_counter();
    check_start<<<grid, 256>>>(j->at, j->a, wrong);
    for (int t = 0; t < STEPS; ++t) {
        const rule_step step = {t % 2 ? j->b : j->a, t % 2 ? j->a : j->b};
        job_step(j, t, 0);
        check_step<<<grid, 256>>>(j->at, step, tmap_ising_chances_at(ISING_T), t, wrong);
    }
    return bench_count();
}

// Counts the cells that differ between two states.
static __global__ void check_same(layout l, const void *state, layout m, const void *truth,
                                  tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    BENCH_EACH(i, l.cells) {
        const tmap_xy64 p = tmap_nbb_lambda_linear64(l.f, i, l.r);
        mine += layout_value(&l, state, layout_place(&l, i, p.x, p.y)) !=
                layout_value(&m, truth, layout_place(&m, i, p.x, p.y));
    }
    if (mine) atomicAdd(wrong, mine);
}

// ---- the bytes of a step ------------------------------------------------------------------------

// 1 if there may be a cell among `per` places from (x, y) on, or beside them: by tiles.
TMAP_DEVICE int granule_may(const layout *l, tmap_u64 x, tmap_u64 y, tmap_u32 per) {
    const tmap_box_bits *b = &l->box;
    const tmap_u64 first = (x ? x - 1 : 0) / b->tile_width, last = (x + per) / b->tile_width;
    const tmap_u64 top = (y ? y - 1 : 0) / b->tile_height, low = (y + 1) / b->tile_height;
    for (tmap_u64 v = top; v <= low; ++v)
        for (tmap_u64 u = first; u <= last; ++u)
            if (tmapi_box_contains(l->f, (tmap_u32)u, (tmap_u32)v, l->r - b->tile_level)) return 1;
    return 0;
}

// Adds the granules of `per` places of a matrix, `width` wide, that hold a cell or, with reach 1, a
// neighbour of one.
static __global__ void count_granules(layout l, tmap_u64 width, tmap_u64 height, tmap_u32 per,
                                      int reach, tmap_u64 *count) {
    const tmap_u64 all = (width * height + per - 1) / per;
    tmap_u64 mine = 0;
    BENCH_EACH(g, all) {
        tmap_u64 y = g * per / width, x = g * per - y * width;
        const int may = x + per > width || granule_may(&l, x, y, per);
        int touched = 0;
        for (tmap_u32 i = 0; may && i < per && y < height && !touched; ++i) {
            for (int n = 0; n < 9 && !touched; ++n) {
                const tmap_u64 u = x + (tmap_u64)(n % 3) - 1, v = y + (tmap_u64)(n / 3) - 1;
                if (!reach && n != 4) continue;
                touched = u < l.width && v < height &&
                          tmapi_box_contains(l.f, (tmap_u32)u, (tmap_u32)v, l.r);
            }
            if (++x == width) x = 0, ++y;
        }
        mine += (tmap_u64)touched;
    }
    if (mine) atomicAdd(count, mine);
}

static inline double granules(const layout *l, tmap_u32 bytes, int reach) {
    const int bits = l->form == BB_BITS;
    const tmap_u64 width = bits ? (tmap_u64)l->box.pitch * l->box.places : l->width;
    const tmap_u32 per = bits ? bytes / 4 * l->box.places : bytes / l->size;
    count_granules<<<grid_of(layout_bytes(l) / bytes), 256>>>(
        *l, width, tmap_nbb_side_y(l->f, l->r), per, reach, bench_counter());
    return (double)bytes * (double)bench_count();
}

// The bytes that a step has to move at least: of compact storage both states; of a matrix the
// granules of 64 bytes to read, of bits those of 32, and the sectors of 32 bytes to write.
static inline double layout_moved(const layout *l) {
    double bytes;
    if (l->form == COMPACT || l->form == COMPACT_BITS) return 2 * (double)layout_bytes(l);
    bytes = granules(l, l->form == BB_BITS ? 32 : 64, 1);
    return bytes + granules(l, 32, 0);
}

#endif
