// SPDX-License-Identifier: MIT
// label_map.h: what labels are made of: the map and its runs, the job of the kernels, and the plan.
#ifndef TMAP_RASTER_LABEL_MAP_H
#define TMAP_RASTER_LABEL_MAP_H

#include "../core.h"

// ---- label runs ---------------------------------------------------------------------------------
//
// The runs of a block of rows as nodes of a forest in shared memory, whose trees grow
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

// ---- label job ----------------------------------------------------------------------------------
//
// What the kernels of label.h share: the map, the labels, and the workspace.
//
// The map is cut into blocks of 1024 columns and 64 or 32 rows, or half as many. Components that
// reach an inner edge of their block are nodes of a graph over all blocks.

// Rows of a block, and its warps; half as many of both on a device that lacks the shared memory.
#ifndef TMAPI_LABEL_ROWS_MASK
#define TMAPI_LABEL_ROWS_MASK 64u
#endif
#ifndef TMAPI_LABEL_ROWS_VALUES
#define TMAPI_LABEL_ROWS_VALUES 32u
#endif
#ifndef TMAPI_LABEL_WARPS
#define TMAPI_LABEL_WARPS 16u
#endif
#ifndef TMAPI_LABEL_JUMPS
#define TMAPI_LABEL_JUMPS 2 // rounds of tmapi_label_flatten before slots are united
#endif

// What a slot of a finished block says of its component: its number in its block, where it is a
// node; else the row in the block in which its first cell lies, and how many components of the
// block have their first cells to the left in that row.
#define TMAPI_LABEL_NODE 0x8000u
#define TMAPI_LABEL_NONE 0xffffu // no component

#define TMAPI_LABEL_PARTS 1024u // 32 components of a row: of a block at most
#define TMAPI_LABEL_CHUNK 4096u // counts that a block scans

typedef struct tmapi_label_job {
    const void *cells;
    tmap_u64 width, height, pitch;
    int type, eight, has_background;
    int wide;         // 1: labels of 64 bits
    int background;   // bits of the value
    tmap_u32 bx;      // blocks side by side
    tmap_u64 by;      // and one above the other
    tmap_u32 rows;    // of a block
    tmap_u32 slots;   // of a row
    tmap_u32 shift;   // bits of a component's number in its row
    tmap_u32 nodes;   // of a block, at most
    tmap_u64 words;   // of a row of bits
    tmap_u64 counts;  // by * rows * bx
    tmap_u32 *in;     // a bit a cell
    tmap_u32 *starts; // of values: a bit a cell
    tmap_u32 *count;  // first cells in a block's row, row by row over the whole map; then the sum
                      // of those before in the chunk
    tmap_u64 *chunk;  // those before a chunk
    tmap_u32 *used;   // nodes of a block
    tmap_u32 *parent; // of a node: a node of the same component
    tmap_u64 *key;    // of a node: where its first cell lies: row, block and number in the row
    unsigned short *edge; // what the first and the last cell of a block's row belong to
    tmap_u32 *ticket;
    void *labels;     // until the last kernel, what a block's slots say stands at a row's first
    void *node_label; // as labels
    tmap_u64 *found;  // the count of components, for the user
} tmapi_label_job;

#if TMAP_CUDA

// Shared memory of a block behind its forest.
typedef struct tmapi_label_local {
    tmapi_label_row last[TMAPI_LABEL_WARPS][32]; // of each warp's rows
    tmapi_label_queue queue[TMAPI_LABEL_WARPS];
    tmap_u32 nodes;
    tmap_u32 marks[1]; // a bit a slot: the root of a component that reaches an inner edge
} tmapi_label_local;

// Bytes of shared memory of the first kernel, for so many slots in a block.
TMAP_FN tmap_u32 tmapi_label_shared_local(tmap_u32 slots) {
    return slots * 2 + (tmap_u32)sizeof(tmapi_label_local) + slots / 8;
}

TMAP_DEVICE tmap_u64 tmapi_label_key(tmap_u64 row, tmap_u32 column, tmap_u32 rank) {
    return row << 32 | (column * 1024u + rank);
}

// Words of a row of a block that lie beyond the map: their slots are not stored.
TMAP_DEVICE tmap_u32 tmapi_label_blank(const tmapi_label_job *job, tmap_u32 column) {
    const tmap_u64 x = (tmap_u64)column * TMAPI_LABEL_CELLS;
    if (x + TMAPI_LABEL_CELLS <= job->width) return 0;
    return TMAPI_LABEL_WORDS - (tmap_u32)((job->width - x + 31) / 32);
}

// Where the slots of a row of the map and a column of blocks are.
TMAP_DEVICE tmap_u32 *tmapi_label_codes(const tmapi_label_job *job, tmap_u64 y, tmap_u32 column) {
    const tmap_u64 at = y * job->width + (tmap_u64)column * TMAPI_LABEL_CELLS;
    return (tmap_u32 *)((char *)job->labels + (at << (job->wide ? 3 : 2)));
}

#endif

// ---- label input --------------------------------------------------------------------------------
//
// Cells of a map as bits: a warp reads a row of 1024 cells, and each lane gets a
// word of it.

#define TMAP_LABEL_MASK 0 // bytes: cells that are not 0 belong to components
#define TMAP_LABEL_U8   1 // values: neighbours of equal values belong together
#define TMAP_LABEL_I16  2
#define TMAP_LABEL_I32  3
#define TMAP_LABEL_F32  4 // a NaN belongs to no component

#if TMAP_CUDA

// ---- masks --------------------------------------------------------------------------------------

// 16 bits: which of 16 bytes are not 0.
TMAP_DEVICE tmap_u32 tmapi_label_pack4(tmap_u32 x, tmap_u32 bits) {
    const tmap_u32 top = (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
    return __funnelshift_l(top * 0x00204081u, bits, 4); // four bits come together at the top
}
TMAP_DEVICE tmap_u32 tmapi_label_pack16(uint4 x) {
    tmap_u32 bits = tmapi_label_pack4(x.w, 0);
    bits = tmapi_label_pack4(x.z, bits);
    bits = tmapi_label_pack4(x.y, bits);
    return tmapi_label_pack4(x.x, bits);
}

// Half rows of 512 bytes as they come from memory.
typedef struct tmapi_label_bytes {
    uint4 half[2];
} tmapi_label_bytes;

// 1 if a row can be read by 16 bytes.
TMAP_DEVICE int tmapi_label_whole(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y) {
    const unsigned char *row = (const unsigned char *)job->cells + y * job->pitch + x;
    return y < job->height && x + TMAPI_LABEL_CELLS <= job->width && (tmap_u64)row % 16 == 0;
}
TMAP_DEVICE void tmapi_label_read(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y,
                                  tmapi_label_bytes *to) {
    const uint4 *row = (const uint4 *)((const unsigned char *)job->cells + y * job->pitch + x);
    to->half[0] = __ldcs(row + threadIdx.x % 32), to->half[1] = __ldcs(row + threadIdx.x % 32 + 32);
}
TMAP_DEVICE tmap_u32 tmapi_label_word(const tmapi_label_bytes *from) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 both = tmapi_label_pack16(from->half[0]) | tmapi_label_pack16(from->half[1])
                                                                  << 16;
    const tmap_u32 low = __shfl_sync(0xffffffffu, both, 2 * lane % 32);
    const tmap_u32 high = __shfl_sync(0xffffffffu, both, 2 * lane % 32 + 1);
    return __byte_perm(low, high, lane < 16 ? 0x5410 : 0x7632);
}

// The same of any row, byte by byte; 0 beyond the map.
TMAP_DEVICE tmap_u32 tmapi_label_word_slow(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y) {
    const tmap_u32 lane = threadIdx.x % 32;
    const unsigned char *row = (const unsigned char *)job->cells + y * job->pitch + x;
    tmap_u32 word = 0;
    if (y >= job->height) return 0;
#pragma unroll 8
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u32 at = k * 32 + lane;
        const tmap_u32 bits = __ballot_sync(0xffffffffu, x + at < job->width && row[at] != 0);
        if (k == lane) word = bits;
    }
    return word;
}

// ---- values -------------------------------------------------------------------------------------

// A value as bits, equal for equal values. ok: 0 if it belongs to no component.
TMAP_DEVICE int tmapi_label_value(const tmapi_label_job *job, tmap_u64 at, const int type,
                                  int *ok) {
    int v;
    *ok = 1;
    switch (type) {
    case TMAP_LABEL_U8: v = ((const unsigned char *)job->cells)[at]; break;
    case TMAP_LABEL_I16: v = ((const short *)job->cells)[at]; break;
    case TMAP_LABEL_I32: v = ((const int *)job->cells)[at]; break;
    default: {
        const float f = ((const float *)job->cells)[at];
        v = f == 0 ? 0 : __float_as_int(f);
        *ok = f == f;
    }
    }
    if (job->has_background && v == job->background) *ok = 0;
    return v;
}

// A row of cells, 32 at a time: a lane's value and whether it belongs to a component; the values of
// the lanes to the left, lane 0's from the 32 cells before.
typedef struct tmapi_label_line {
    int value, left, last;
    int in;
} tmapi_label_line;

// rows + 1 rows of the map, the first of which is the row above, from row y - 1 on: bits of `rows`
// rows, and which cells have the value of the cell above; across corners too where eight. above: 0:
// there is no row above that counts. Loads of TMAPI_LABEL_AHEAD * 32 cells of all rows are under
// way at a time.
#define TMAPI_LABEL_AHEAD 4
TMAP_DEVICE void tmapi_label_values_of(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y,
                                       int above, tmapi_label_row *row, tmap_u32 (*same)[3],
                                       const int rows, const int type) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmapi_label_line line[3];
    tmap_u32 skew[2] = {0, 0};
    int there[3];
    const tmap_u64 base = y * job->pitch + x;
    if (y == 0) above = 0;
    there[0] = above && y <= job->height;
#pragma unroll
    for (int r = 0; r <= rows; ++r) {
        if (r) there[r] = y + (tmap_u64)r <= job->height;
        if (r) row[r - 1].in = row[r - 1].starts = 0;
        if (r) same[r - 1][0] = same[r - 1][1] = same[r - 1][2] = 0;
        line[r].value = line[r].left = line[r].last = line[r].in = 0;
    }
#pragma unroll 1
    for (tmap_u32 k0 = 0; k0 < 32 && x + k0 * 32 < job->width; k0 += TMAPI_LABEL_AHEAD) {
        int value[TMAPI_LABEL_AHEAD][3], in[TMAPI_LABEL_AHEAD][3];
#pragma unroll
        for (tmap_u32 a = 0; a < TMAPI_LABEL_AHEAD; ++a) {
            const tmap_u32 at = (k0 + a) * 32 + lane;
            const int inside = x + at < job->width;
#pragma unroll
            for (int r = 0; r <= rows; ++r) {
                value[a][r] = in[a][r] = 0;
                if (inside && there[r])
                    value[a][r] = tmapi_label_value(
                        job, base + (tmap_u64)r * job->pitch - job->pitch + at, type, &in[a][r]);
            }
        }
#pragma unroll
        for (tmap_u32 a = 0; a < TMAPI_LABEL_AHEAD; ++a) {
            const tmap_u32 k = k0 + a;
#pragma unroll
            for (int r = 0; r <= rows; ++r) {
                const int turned = __shfl_sync(0xffffffffu, value[a][r], (int)(lane + 31) % 32);
                line[r].left = lane ? turned : line[r].last;
                line[r].last = turned;
                line[r].value = value[a][r], line[r].in = in[a][r];
            }
#pragma unroll
            for (int r = 1; r <= rows; ++r) {
                const tmapi_label_line *me = line + r, *up = me - 1;
                const int begins = me->in && (me->value != me->left || (k == 0 && lane == 0));
                tmap_u32 bits = __ballot_sync(0xffffffffu, me->in);
                if (k == lane) row[r - 1].in = bits;
                bits = __ballot_sync(0xffffffffu, begins);
                if (k == lane) row[r - 1].starts = bits;
                bits = __ballot_sync(0xffffffffu, me->in && up->in && me->value == up->value);
                if (k == lane) same[r - 1][0] = bits;
                if (!job->eight) continue;
                bits = __ballot_sync(0xffffffffu, me->in && me->value == up->left);
                if (k == lane) same[r - 1][1] = bits;
                bits = __ballot_sync(0xffffffffu, up->in && up->value == me->left);
                if (k == lane) skew[r - 1] = bits;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const tmap_u32 ends = tmapi_label_from_right(skew[r]);
        if (!there[r]) same[r][1] = 0;
        if (lane == 0) same[r][1] &= ~1u; // the block to the left has that corner
        same[r][2] = ends & row[r].in;
    }
}
TMAP_DEVICE void tmapi_label_values(const tmapi_label_job *job, tmap_u64 x, tmap_u64 y, int above,
                                    tmapi_label_row *row, tmap_u32 (*same)[3], const int rows) {
    switch (job->type) {
    case TMAP_LABEL_U8:
        tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_U8);
        break;
    case TMAP_LABEL_I16:
        tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_I16);
        break;
    case TMAP_LABEL_I32:
        tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_I32);
        break;
    default: tmapi_label_values_of(job, x, y, above, row, same, rows, TMAP_LABEL_F32);
    }
}

#endif

// ---- label plan ---------------------------------------------------------------------------------
//
// The plan of label.h: sizes, the workspace, what is refused.

// Forms of labels.
#define TMAP_LABEL_INT32 0 // for maps that cannot have more than 2^31 - 1 components
#define TMAP_LABEL_INT64 1

// A map. The cell of column x and row y stands at cells[y * pitch + x]. width, height: columns and
// rows, 1 to 2^31 - 1. pitch: cells from a row to the next, at least width, below 2^32. type: of
// cells, TMAP_LABEL_MASK and so on (label_map.h). connectivity: 4: neighbours share an edge; 8:
// an edge or a corner. background: cells of this value belong to no component, if has_background;
// one that no cell can have is none. A mask's background is 0 always.
typedef struct tmap_label_map {
    tmap_u64 width, height, pitch;
    double background;
    int has_background;
    int type;
    int connectivity;
} tmap_label_map;

// What tmap_label_plan_make makes. workspace: the bytes that tmap_label needs for it. The other
// fields are for tmap_label.
typedef struct tmap_label_plan {
    tmap_label_map map;
    int form;
    tmap_u64 workspace;
    tmap_u32 blocks;
    tmap_u32 threads;    // of a block of the first kernel
    tmap_u32 shared;     // bytes of shared memory that a block can have on the device
    tmapi_label_job job; // without addresses
} tmap_label_plan;

// The most components that a map of this size, type and connectivity can have.
TMAP_FN tmap_u64 tmapi_label_most(const tmap_label_map *map) {
    const tmap_u64 cells = tmap_mul_saturate(map->width, map->height);
    if (map->type != TMAP_LABEL_MASK) return cells;
    if (map->connectivity == 8) return (map->width + 1) / 2 * ((map->height + 1) / 2);
    return cells / 2 + cells % 2;
}

// Parts of the workspace, one after the other. Returns the end.
TMAP_FN tmap_u64 tmapi_label_part(tmap_u64 *end, tmap_u64 bytes) {
    const tmap_u64 at = *end;
    *end += (bytes + 255) / 256 * 256;
    return at;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Sets the addresses of a workspace's parts. bytes: how many they have.
static inline void tmapi_label_place_all(tmapi_label_job *job, tmap_u64 w, tmap_u64 *bytes) {
    const tmap_u64 blocks = job->bx * job->by, rows = job->by * job->rows;
    tmap_u64 end = 0;
    job->in = (tmap_u32 *)(w + tmapi_label_part(&end, rows * job->words * 4));
    job->starts = job->in;
    if (job->type != TMAP_LABEL_MASK)
        job->starts = (tmap_u32 *)(w + tmapi_label_part(&end, rows * job->words * 4));
    job->count = (tmap_u32 *)(w + tmapi_label_part(&end, job->counts * 4));
    job->chunk = (tmap_u64 *)(w + tmapi_label_part(&end, (job->counts + TMAPI_LABEL_CHUNK - 1) /
                                                             TMAPI_LABEL_CHUNK * 8));
    job->used = (tmap_u32 *)(w + tmapi_label_part(&end, blocks * 4));
    job->parent = (tmap_u32 *)(w + tmapi_label_part(&end, blocks * job->nodes * 4));
    job->key = (tmap_u64 *)(w + tmapi_label_part(&end, blocks * job->nodes * 8));
    job->edge = (unsigned short *)(w + tmapi_label_part(&end, rows * job->bx * 4));
    job->node_label =
        (void *)(w + tmapi_label_part(&end, blocks * job->nodes * (job->wide ? 8 : 4)));
    job->ticket = (tmap_u32 *)(w + tmapi_label_part(&end, 4));
    *bytes = end;
}

// A background as the bits of a value; 0 if there is none.
static inline int tmapi_label_background(const tmap_label_map *map, int *bits) {
    const double b = map->background;
    *bits = 0;
    if (!map->has_background || map->type == TMAP_LABEL_MASK) return 0;
    if (map->type == TMAP_LABEL_F32) {
        union {
            float f;
            int i;
        } u;
        if (b == b && !(b - b) && !(b >= -3.4028234663852886e38 && b <= 3.4028234663852886e38))
            return 0;
        u.f = (float)b, *bits = u.f == 0 ? 0 : u.i;
        return (double)u.f == b;
    }
    if (!(b >= -2147483648. && b <= 2147483647.)) return 0;
    *bits = (int)b;
    return (double)*bits == b;
}

// Makes a plan for the current device.
// map: as above. form: of labels, TMAP_LABEL_INT32 or TMAP_LABEL_INT64.
// Returns cudaErrorInvalidValue, and leaves the plan as it is, where an argument is none of these,
// where 32 bits may be too few for labels, or where the map has more than 3 * 10^10 cells; else the
// error of asking the device.
// Cost: none on the device. A workspace has 0.4 bytes a cell for a mask and 1.3 for values, more
// for a map that is narrower than 1024.
static inline cudaError_t tmap_label_plan_make(const tmap_label_map *map, int form,
                                               tmap_label_plan *plan) {
    const tmap_u64 side = 0x7fffffffull;
    tmap_label_plan p;
    tmapi_label_job *job = &p.job;
    tmap_u32 columns;
    int mask, device = 0, shared = 0;
    cudaError_t error;
    if (!map || !plan || map->width < 1 || map->height < 1 || map->width > side ||
        map->height > side || map->pitch < map->width || map->pitch >> 32 ||
        (unsigned)map->type > TMAP_LABEL_F32 ||
        (map->connectivity != 4 && map->connectivity != 8) || (unsigned)form > TMAP_LABEL_INT64)
        return cudaErrorInvalidValue;
    if (form == TMAP_LABEL_INT32 && tmapi_label_most(map) > side) return cudaErrorInvalidValue;
    error = cudaGetDevice(&device);
    if (!error)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error) return error;
    mask = map->type == TMAP_LABEL_MASK;
    p.map = *map, p.form = form;
    job->cells = 0, job->labels = 0, job->found = 0;
    job->width = map->width, job->height = map->height, job->pitch = map->pitch;
    job->type = map->type, job->eight = map->connectivity == 8, job->wide = form;
    job->has_background = tmapi_label_background(map, &job->background);
    job->rows = mask ? TMAPI_LABEL_ROWS_MASK : TMAPI_LABEL_ROWS_VALUES;
    job->slots = mask ? TMAPI_LABEL_SLOTS_MASK : TMAPI_LABEL_SLOTS_VALUES;
    p.threads = TMAPI_LABEL_WARPS * 32, p.shared = (tmap_u32)shared;
    if (tmapi_label_shared_local(job->rows * job->slots) > p.shared) job->rows /= 2, p.threads /= 2;
    job->shift = mask ? 9 : 10;
    job->bx = (tmap_u32)((map->width + TMAPI_LABEL_CELLS - 1) / TMAPI_LABEL_CELLS);
    job->by = (map->height + job->rows - 1) / job->rows;
    job->words = (tmap_u64)job->bx * TMAPI_LABEL_WORDS;
    columns = map->width < TMAPI_LABEL_CELLS ? (tmap_u32)map->width : TMAPI_LABEL_CELLS;
    job->nodes = mask ? (columns + 1) / 2 * 2 : columns * 2; // of the first and the last row
    if (job->bx > 1) job->nodes += mask ? job->rows : 2 * job->rows;
    job->nodes = (job->nodes + 3) / 4 * 4; // so many labels are a multiple of 16 bytes
    job->counts = job->by * job->rows * job->bx;
    if (tmap_mul_saturate(job->bx * job->by, job->nodes) > 0xffffffffull)
        return cudaErrorInvalidValue;
    p.blocks = (tmap_u32)(job->bx * job->by);
    tmapi_label_place_all(job, 0, &p.workspace);
    *plan = p;
    return cudaSuccess;
}

#endif

#endif
