// SPDX-License-Identifier: MIT
// share.h: divides the items of a plan into parts, and the parts among GPUs.
//
// Work is always cut into the same number of parts, whatever the number of GPUs, and each GPU takes
// a run of consecutive parts. A fold writes one accumulator for each part, and these are joined in
// the order of the parts. So its result has the same bits on 1, 2, 3 or 4 GPUs.
//
//     const tmap_share mine = tmap_share_of(TMAP_SHARE_PARTS, rank, ranks); // parts of this GPU
//     for (tmap_u64 p = mine.first; p < mine.first + mine.count; ++p) {
//         const tmap_share part = tmap_share_of(plan.items, p, TMAP_SHARE_PARTS);
//         tmap_pairs_plan_share(&plan, part.first, part.count);
//         ... tmap_pairs_launch(&plan, &job, stream); // job.to.result: accumulator number p
//     }
//
// nccl.h exchanges the accumulators; docs/scale.md has complete programs.
#ifndef TMAP_SHARE_H
#define TMAP_SHARE_H

#include "core.h"

// The number of parts unless you have a reason for another one: enough for 64 GPUs, and few enough
// that a part of a large problem keeps a GPU busy.
#define TMAP_SHARE_PARTS 64u

// Consecutive items.
typedef struct tmap_share {
    tmap_u64 first, count;
} tmap_share;

// Part number `part` of `parts` parts of `items` items. The parts cover all items in order, and the
// first items % parts of them have one item more than the others. With fewer items than parts, the
// last parts are empty. part >= parts: no items, first = items.
// Laws: first of part 0 is 0; first + count is the first of the next part, items for the last one.
// Cost: a division in 64 bits.
// Examples: 10 items, 4 parts: (0, 3) (3, 3) (6, 2) (8, 2). 2 items, 3 parts: (0, 1) (1, 1) (2, 0).
TMAP_FN tmap_share tmap_share_of(tmap_u64 items, tmap_u64 part, tmap_u64 parts) {
    tmap_share s = {items, 0};
    if (part < parts) {
        const tmap_u64 least = items / parts, more = items % parts;
        s.first = part * least + (part < more ? part : more);
        s.count = least + (part < more);
    }
    return s;
}

// The part that has item number `item`, in tmap_share_of; `parts` if there is no such item.
// Law: item is in tmap_share_of(items, tmap_share_part(items, item, parts), parts).
// Examples: 10 items, 4 parts: items 0, 3, 9 are in parts 0, 1, 3.
TMAP_FN tmap_u64 tmap_share_part(tmap_u64 items, tmap_u64 item, tmap_u64 parts) {
    tmap_u64 least, more;
    if (item >= items || !parts) return parts;
    least = items / parts, more = items % parts;
    return item < more * (least + 1) ? item / (least + 1)
                                     : more + (item - more * (least + 1)) / least;
}

// What a GPU sends to each rank and receives from it, in device memory: rank q gets the elements
// out_first[q] to out_first[q + 1] - 1 of `out`, and sends those of `in`.
typedef struct tmap_share_exchange {
    const void *out;
    void *in;
    const tmap_u64 *out_first, *in_first; // on the host, ranks + 1 numbers each
    tmap_u64 bytes;                       // of an element
} tmap_share_exchange;

#endif
