// SPDX-License-Identifier: MIT
// compact_moves.h: what bench_compact times of states that go from one storage to another: floats
// and bytes of a matrix to compact storage and back, bytes to bits and back.
#ifndef BENCH_FRACTAL_COMPACT_MOVES_H
#define BENCH_FRACTAL_COMPACT_MOVES_H

#include "compact_check.h"

#include <threadmap/fractal/compact_move.h>

// from, to: the forms.
enum { LOAD_F32, STORE_F32, LOAD_U8, STORE_U8, PACK, UNPACK, MOVES };
static const struct {
    const char *name, *dtype;
    int task, from, to;
} moves[MOVES] = {
    {"load", "f32", HEAT_4, EMBEDDED, COMPACT},   {"store", "f32", HEAT_4, COMPACT, EMBEDDED},
    {"load", "u8", CYCLIC, EMBEDDED, COMPACT},    {"store", "u8", CYCLIC, COMPACT, EMBEDDED},
    {"pack", "bit", LIFE, COMPACT, COMPACT_BITS}, {"unpack", "bit", LIFE, COMPACT_BITS, COMPACT},
};

// matrix: the storage that the state comes from or goes to beside compact storage: of words for
// packs.
typedef struct move_job {
    int move;
    layout matrix, cells;
    compact_job from, to;
    tmap_compact_matrix_plan plan;
} move_job;

static inline int move_fits(tmap_nbb f, tmap_u32 r, int move, tmap_u64 room) {
    layout from, to;
    if (!layout_make(f, r, moves[move].task, moves[move].from, &from)) return 0;
    if (!layout_make(f, r, moves[move].task, moves[move].to, &to)) return 0;
    return layout_bytes(&from) <= room / 2 && layout_bytes(&to) <= room / 2;
}

static inline void move_run(void *context) {
    const move_job *j = (const move_job *)context;
    const tmap_nbb f = j->cells.f;
    const tmap_u32 r = j->cells.r;
    if (j->move == PACK)
        CHECK(tmap_compact_bits_pack(f, r, (const unsigned char *)j->from.a, j->to.a, 0));
    else if (j->move == UNPACK)
        CHECK(tmap_compact_bits_unpack(f, r, j->from.a, (unsigned char *)j->to.a, 0));
    else if (moves[j->move].to == COMPACT)
        CHECK(tmap_compact_matrix_load(&j->plan, j->from.a, j->to.a, 0));
    else
        CHECK(tmap_compact_matrix_store(&j->plan, j->from.a, j->to.a, 0));
}

// The state in `from`, anything in `to`, in memory of kit.h.
static inline void move_make(move_job *j, tmap_nbb f, tmap_u32 r, int move) {
    memset(j, 0, sizeof *j);
    j->move = move;
    layout_make(f, r, moves[move].task, moves[move].from, &j->from.at);
    layout_make(f, r, moves[move].task, moves[move].to, &j->to.at);
    j->cells = moves[move].to == COMPACT ? j->to.at : j->from.at;
    j->matrix = moves[move].to == COMPACT ? j->from.at : j->to.at;
    j->from.a = kit_device(layout_bytes(&j->from.at) + 64);
    j->to.a = kit_device(layout_bytes(&j->to.at) + 64);
    job_fill(&j->from);
    CHECK(cudaMemset(j->to.a, 0xa5, layout_bytes(&j->to.at)));
    if (move < PACK)
        CHECK(tmap_compact_matrix_plan_make(f, r, 0, tasks[moves[move].task].size, &j->plan));
}

// Moves once. The number of cells that are wrong.
static inline tmap_u64 move_check(move_job *j) {
    move_run(j);
    check_same<<<grid_of(j->to.at.cells), 256>>>(j->to.at, j->to.a, j->from.at, j->from.a,
                                                 bench_counter());
    return bench_count();
}

// Bytes that have to be read and written at least.
static inline double move_moved(const move_job *j) {
    const double cells = (double)layout_bytes(&j->cells);
    if (j->move >= PACK) return cells + (double)layout_bytes(&j->matrix);
    return cells + granules(&j->matrix, moves[j->move].to == COMPACT ? 64 : 32, 0);
}

#endif
