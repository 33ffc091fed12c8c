// SPDX-License-Identifier: MIT
// ask_share.h: borders of a run of ask.h, for problems whose queries read what others have written:
// what the children of a region share is computed once, when the region is subdivided.
#ifndef TMAP_ADAPTIVE_ASK_SHARE_H
#define TMAP_ADAPTIVE_ASK_SHARE_H

#include "ask_work.h"

#if TMAP_CUDA

// Calls `share` for the regions that the run's level subdivides, before their children are asked:
// it writes what queries read of the children and what is not there yet. At level TMAP_ASK_WHOLE,
// which comes before level 0, that is all that queries read of level 0: work->region is the whole
// domain, its children are the g parts of level 0 along each axis. Elsewhere the region's own
// border is there already. tmap_ask_child_x, _y and _z tell where children begin.
// All threads of the grid call it, in blocks of one axis with full warps. share_elements and share:
// names of functions, which the compiler then writes in place.
TMAP_DEVICE void tmap_ask_share(const tmap_ask_run *run, tmap_ask_elements_fn share_elements,
                                tmap_ask_work_fn share, const void *job) {
    const tmap_ask_workspace *s = &run->workspace;
    const tmap_u32 level = tmapi_ask_level_of(run);
    const int whole = level == TMAP_ASK_WHOLE;
    const tmap_olt table = tmapi_ask_table(run, whole ? 0 : level);
    const tmap_u32 count = whole ? 1 : (tmap_u32)tmap_olt_stored(table);
    tmap_u64 *ticket = whole ? &s->control->whole_ticket : &s->control->level[level].ticket;
    tmap_ask_work work;
    if (!count || (!whole && level + 1 >= s->domain.levels)) return;
    tmapi_ask_work_begin(&work, run, level, whole ? 0 : table.entries, 0, count,
                         whole ? s->domain.g : s->domain.r, tmapi_ask_all_workers(ticket),
                         share_elements, job);
    share(job, &work);
}

#endif // TMAP_CUDA
#endif
