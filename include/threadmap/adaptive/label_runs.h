// SPDX-License-Identifier: MIT
// label_runs.h: the runs of a block of rows as nodes of a forest in shared memory, whose trees grow
// into the block's connected components.
//
// A warp has a row of 1024 cells, a word of 32 cells in each lane. A run is a stretch of cells of a
// row that belong together, over words too. Slots are its nodes: first those of a row's first word,
// and so on; a word has a slot for the run that comes from the left, if there is one, and then one
// for each run that starts in it. Those of the first kind point to the run's start. Slots are in
// raster order of where runs start, and a parent is a lower slot: a tree's root is the run in which
// its first cell lies, whatever the order of unions.
//
// Nearly all of the forest is built without an atomic: of the runs above that a run touches, that
// of the leftmost touch in the word where the run starts is its parent. Only the other touches are
// left to unite. At 4-connected noise of 0.593 that is 1.6 of 7.3 touches a word.
#ifndef TMAP_ADAPTIVE_LABEL_RUNS_H
#define TMAP_ADAPTIVE_LABEL_RUNS_H

#include "../core.h"

// Cells and words of a row of a block; slots of a row of a mask, whose runs have gaps between them,
// and of values, where each cell may start a run.
#define TMAPI_LABEL_CELLS        1024u
#define TMAPI_LABEL_WORDS        32u
#define TMAPI_LABEL_SLOTS_MASK   (17 * TMAPI_LABEL_WORDS)
#define TMAPI_LABEL_SLOTS_VALUES (33 * TMAPI_LABEL_WORDS)

#if TMAP_CUDA

// A word of a row. in: the cells that belong to runs. starts: where runs start; the first cell of a
// row starts one, if it belongs to a run. slot: of the run that comes from the left.
typedef struct tmapi_label_row {
    tmap_u32 in, starts, slot;
} tmapi_label_row;

// Where runs of a word touch runs of the word above, one bit a pair of runs. straight: the first
// cell of the lower run that is below a cell of the upper one. left: the lower run starts where the
// upper one has ended, across a corner. right: it ends where the upper one starts. first: those
// that make the first touch of a run that starts in this word; at a bit that has two it is not
// `right`.
typedef struct tmapi_label_touch {
    tmap_u32 straight, left, right, first;
} tmapi_label_touch;

// A word with the neighbour of each of its cells to the left, or to the right; 0 beyond the row.
TMAP_DEVICE tmap_u32 tmapi_label_from_left(tmap_u32 word) {
    const tmap_u32 left = __shfl_up_sync(0xffffffffu, word, 1);
    return word << 1 | (threadIdx.x % 32 ? left >> 31 : 0);
}
TMAP_DEVICE tmap_u32 tmapi_label_from_right(tmap_u32 word) {
    const tmap_u32 right = __shfl_down_sync(0xffffffffu, word, 1);
    return word >> 1 | (threadIdx.x % 32 < 31 ? right << 31 : 0);
}

// Slots of two rows, whose first ones are given. Returns how many: of a in the lower 16 bits, of b
// in the upper ones.
TMAP_DEVICE tmap_u32 tmapi_label_slots(tmapi_label_row *a, tmapi_label_row *b, tmap_u32 first_a,
                                       tmap_u32 first_b) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 own =
        ((tmap_u32)__popc((int)b->starts) + 1) << 16 | ((tmap_u32)__popc((int)a->starts) + 1);
    tmap_u32 sum = own;
#pragma unroll
    for (tmap_u32 d = 1; d < 32; d *= 2) {
        const tmap_u32 other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += other;
    }
    a->slot = first_a + ((sum - own) & 0xffff), b->slot = first_b + ((sum - own) >> 16);
    return __shfl_sync(0xffffffffu, sum, 31);
}

// The slot of the run that has cell `bit` of the word (one bit).
TMAP_DEVICE tmap_u32 tmapi_label_slot(const tmapi_label_row *row, tmap_u32 bit) {
    return row->slot + (tmap_u32)__popc((int)(row->starts & (bit | (bit - 1))));
}

// Touches of two rows of a mask; eight: across corners too.
TMAP_DEVICE tmapi_label_touch tmapi_label_touch_mask(const tmapi_label_row *up,
                                                     const tmapi_label_row *low, int eight) {
    tmapi_label_touch t;
    tmap_u32 all = up->in & low->in;
    t.straight = all & ~tmapi_label_from_left(all), t.left = 0, t.right = 0;
    if (eight) {
        t.left = low->starts & tmapi_label_from_left(up->in) & ~up->in;
        t.right = low->in & ~tmapi_label_from_right(low->in) & tmapi_label_from_right(up->in);
        t.right &= ~up->in;
        all |= t.left | t.right;
    }
    // a carry goes from a run's start through the cells that do not touch
    t.first = (low->starts + (low->in & ~all)) & all;
    return t;
}

// The same of values. same, same_left, same_right: the cells whose value is that of the cell above
// them, of the one to the left of that, and of the one to its right.
TMAP_DEVICE tmapi_label_touch tmapi_label_touch_values(const tmapi_label_row *low, tmap_u32 same,
                                                       tmap_u32 same_left, tmap_u32 same_right,
                                                       int eight) {
    const tmap_u32 before = (low->starts & (0u - low->starts)) - 1;
    tmap_u32 go = low->in & ~low->starts, seen;
    tmapi_label_touch t;
    t.straight = same & ~(tmapi_label_from_left(same) & go), t.left = 0, t.right = 0;
    if (eight) {
        t.left = same_left & low->starts & ~same;
        t.right = same_right & ~tmapi_label_from_right(go) & ~same;
    }
    seen = same | t.left | t.right;
    t.first = seen & ~before;
#pragma unroll
    for (tmap_u32 d = 1; d < 32; d *= 2) seen |= seen << d & go, go &= go << d;
    go = low->in & ~low->starts;
    t.first &= ~(seen << 1 & go);
    return t;
}

// The slot above a touch. left, right: which kind.
TMAP_DEVICE tmap_u32 tmapi_label_above(const tmapi_label_row *up, tmap_u32 bit, int left,
                                       int right) {
    const tmap_u32 to = (bit - 1) | (left ? 0 : bit);
    tmap_u32 slot = up->slot + (tmap_u32)__popc((int)(up->starts & to));
    if (right) slot += 1 + (bit >> 31); // the next word's first slot is not a start's
    return slot;
}

// ---- the forest ---------------------------------------------------------------------------------

// Each of the `count` slots from `first` (even) on becomes its own parent. Collective for a warp.
TMAP_DEVICE void tmapi_label_alone(unsigned short *parents, tmap_u32 first, tmap_u32 count) {
    tmap_u32 *pairs = (tmap_u32 *)(parents + first);
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < count; i += 32)
        pairs[i] = (first + 2 * i) | (first + 2 * i + 1) << 16;
}

// First touches become parents. through: 1: of the upper run's parent; 0: the upper run itself,
// whose parent other warps may be writing.
TMAP_DEVICE void tmapi_label_first(unsigned short *parents, const tmapi_label_row *up,
                                   const tmapi_label_row *low, const tmapi_label_touch *t,
                                   int eight, const int through) {
    tmap_u32 rest = t->first;
    if (!eight) {
        while (rest) {
            const tmap_u32 bit = rest & (0u - rest), to = tmapi_label_above(up, bit, 0, 0);
            parents[tmapi_label_slot(low, bit)] = through ? parents[to] : (unsigned short)to;
            rest &= rest - 1;
        }
    } else {
        const tmap_u32 right = t->right & ~(t->straight | t->left);
        while (rest) {
            const tmap_u32 bit = rest & (0u - rest);
            const tmap_u32 to =
                tmapi_label_above(up, bit, (t->left & bit) != 0, (right & bit) != 0);
            parents[tmapi_label_slot(low, bit)] = through ? parents[to] : (unsigned short)to;
            rest &= rest - 1;
        }
    }
}

// The slots of runs that come from the left get the parents of their runs. Collective for a warp,
// after the row's runs have parents.
TMAP_DEVICE void tmapi_label_join(unsigned short *parents, const tmapi_label_row *row) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 lanes = __ballot_sync(0xffffffffu, row->starts != 0) & ((1u << lane) - 1);
    const int from = lanes ? 31 - __clz((int)lanes) : 0; // the last word that starts a run
    const tmap_u32 last = row->slot + (tmap_u32)__popc((int)row->starts);
    const tmap_u32 run = __shfl_sync(0xffffffffu, last, from);
    __syncwarp();
    if (lane) parents[row->slot] = lanes ? parents[run] : (unsigned short)run;
}

// The root of a slot. Parents on the way get nearer to it.
TMAP_DEVICE tmap_u32 tmapi_label_root(volatile unsigned short *parents, tmap_u32 slot) {
    for (;;) {
        const tmap_u32 parent = parents[slot];
        tmap_u32 next;
        if (parent == slot) return slot;
        next = parents[parent];
        if (next == parent) return parent;
        parents[slot] = (unsigned short)next;
        slot = next;
    }
}

// The trees of two slots become one, whose root is the lower of the two roots.
TMAP_DEVICE void tmapi_label_unite(unsigned short *parents, tmap_u32 a, tmap_u32 b) {
    for (;;) {
        tmap_u32 old, high, *pair;
        a = tmapi_label_root(parents, a), b = tmapi_label_root(parents, b);
        if (a == b) return;
        high = a > b ? a : b, b = a > b ? b : a, a = high;
        pair = (tmap_u32 *)parents + a / 2;
        old = *(volatile tmap_u32 *)pair;
        if (((a & 1 ? old >> 16 : old) & 0xffff) != a) continue;
        high = a & 1 ? (old & 0xffff) | b << 16 : (old & 0xffff0000u) | b;
        if (atomicCAS(pair, old, high) == old) return;
    }
}

// A warp's pairs of slots that wait to be united.
typedef struct tmapi_label_queue {
    tmap_u32 pairs[64];
} tmapi_label_queue;

// Puts touches besides first touches into the queue, and unites 32 pairs whenever there are as
// many. Returns how many pairs are in the queue now. Collective for a warp.
TMAP_DEVICE tmap_u32 tmapi_label_others(unsigned short *parents, tmapi_label_queue *queue,
                                        tmap_u32 count, const tmapi_label_row *up,
                                        const tmapi_label_row *low, const tmapi_label_touch *t,
                                        int eight) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 rest = t->straight & ~t->first, lanes;
#pragma unroll 1
    for (int kind = 0;; ++kind) { // straight, left, right
        while ((lanes = __ballot_sync(0xffffffffu, rest != 0)) != 0) {
            if (rest) {
                const tmap_u32 bit = rest & (0u - rest);
                queue->pairs[count + (tmap_u32)__popc((int)(lanes & ((1u << lane) - 1)))] =
                    tmapi_label_slot(low, bit) | tmapi_label_above(up, bit, kind == 1, kind == 2)
                                                     << 16;
                rest &= rest - 1;
            }
            count += (tmap_u32)__popc((int)lanes);
            if (count >= 32) {
                tmap_u32 pair;
                __syncwarp();
                count -= 32, pair = queue->pairs[count + lane];
                tmapi_label_unite(parents, pair & 0xffff, pair >> 16);
                __syncwarp();
            }
        }
        if (!eight || kind == 2) return count;
        rest = kind ? t->right & ~(t->first & ~(t->straight | t->left)) : t->left & ~t->first;
    }
}

// Unites what is left in the queue. Collective for a warp.
TMAP_DEVICE void tmapi_label_rest(unsigned short *parents, tmapi_label_queue *queue,
                                  tmap_u32 count) {
    __syncwarp();
    if (threadIdx.x % 32 < count) {
        const tmap_u32 pair = queue->pairs[threadIdx.x % 32];
        tmapi_label_unite(parents, pair & 0xffff, pair >> 16);
    }
}

#endif
#endif
