// SPDX-License-Identifier: MIT
// label_local.h: of label.h: runs and the forest, cells to words of rows, and the components of a
// block.
#ifndef TMAP_RASTER_LABEL_LOCAL_H
#define TMAP_RASTER_LABEL_LOCAL_H

#include "label_plan.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- runs ---------------------------------------------------------------------------------------
//
// A run is a stretch of equal neighbouring cells in a row, across words. The runs of a block are
// nodes of a forest in shared memory, whose trees become the block's components.
//
// A warp takes a row of 1024 cells, a lane a word of 32 cells. A word has a slot for the run that
// continues from the left, which points to the run's start, and one for each run that starts in it.
// Slots are in raster order of where runs start, and a parent is a lower slot: the root of a tree
// is the run with its first cell, whatever the order of unions.
//
// Nearly all of the forest is built without an atomic: the parent of a run is the run above at its
// leftmost touch in the word where it starts. Only the other touches have to be united. In
// 4-connected noise of density 0.593 these are 1.6 of the 7.3 touches of a word.

// Where runs of a word touch runs of the word above, one bit for each pair of runs. straight: the
// first cell of the lower run that lies below the upper one. left, right: over a corner; the lower
// run starts just after the upper one, or ends just before it. first: first touches of runs that
// start in this word; a bit with two touches is not `right`.
typedef struct tmapi_label_touch {
    tmap_u32 straight, left, right, first;
} tmapi_label_touch;

// For each cell of a word its neighbour to the left, or to the right; 0 outside the row. last: the
// last word of an image's row.
TMAP_DEVICE tmap_u32 tmapi_label_from_left(tmap_u32 word, tmap_u32 last) {
    const tmap_u32 left = __shfl_up_sync(~0u, word, 1);
    return word << 1 | (threadIdx.x & last ? left >> 31 : 0);
}
TMAP_DEVICE tmap_u32 tmapi_label_from_right(tmap_u32 word, tmap_u32 last) {
    const tmap_u32 right = __shfl_down_sync(~0u, word, 1);
    return word >> 1 | (~threadIdx.x & last ? right << 31 : 0);
}

// Numbers the slots of two rows from first_a and first_b on. Returns their counts, that of a in the
// lower 16 bits.
TMAP_DEVICE tmap_u32 tmapi_label_slots(tmapi_label_row *a, tmapi_label_row *b, tmap_u32 first_a,
                                       tmap_u32 first_b) {
    const tmap_u32 own =
        (tmapi_raster_count(b->starts) + 1) << 16 | (tmapi_raster_count(a->starts) + 1);
    const tmap_u32 sum = tmapi_warp_scan(threadIdx.x % 32, own);
    a->slot = first_a + ((sum - own) & 0xffff), b->slot = first_b + ((sum - own) >> 16);
    return __shfl_sync(~0u, sum, 31);
}

// The slot of the run that contains cell `bit` of a word, a power of two.
TMAP_DEVICE tmap_u32 tmapi_label_slot(const tmapi_label_row *row, tmap_u32 bit) {
    return row->slot + tmapi_raster_count(row->starts & (bit | (bit - 1)));
}

// Touches of two rows of a mask. eight: also over corners.
TMAP_DEVICE tmapi_label_touch tmapi_label_touch_mask(const tmapi_label_row *up,
                                                     const tmapi_label_row *low, int eight,
                                                     tmap_u32 last) {
    tmapi_label_touch t;
    tmap_u32 all = up->in & low->in;
    t.straight = all & ~tmapi_label_from_left(all, last), t.left = 0, t.right = 0;
    if (eight) {
        t.left = low->starts & tmapi_label_from_left(up->in, last) & ~up->in;
        t.right = tmapi_label_from_right(up->in, last);
        t.right &= low->in & ~tmapi_label_from_right(low->in, last);
        t.right &= ~up->in;
        all |= t.left | t.right;
    }
    // a carry goes from a run's start through the cells that do not touch
    t.first = (low->starts + (low->in & ~all)) & all;
    return t;
}

// Touches of two rows of values. same: cells with the value of the cell above them, of the one to
// its left, and of the one to its right.
TMAP_DEVICE tmapi_label_touch tmapi_label_touch_values(const tmapi_label_row *low,
                                                       const tmap_u32 *same, int eight) {
    const tmap_u32 before = (low->starts & (0u - low->starts)) - 1;
    tmap_u32 go = low->in & ~low->starts, seen;
    tmapi_label_touch t;
    t.straight = same[0] & ~(tmapi_label_from_left(same[0], 31) & go), t.left = 0, t.right = 0;
    if (eight) {
        t.left = same[1] & low->starts & ~same[0];
        t.right = same[2] & ~tmapi_label_from_right(go, 31) & ~same[0];
    }
    seen = same[0] | t.left | t.right;
    t.first = seen & ~before;
#pragma unroll
    for (tmap_u32 d = 1; d < 32; d *= 2) seen |= seen << d & go, go &= go << d;
    go = low->in & ~low->starts;
    t.first &= ~(seen << 1 & go);
    return t;
}

// The slot above a touch. left, right: which kind of touch.
TMAP_DEVICE tmap_u32 tmapi_label_above(const tmapi_label_row *up, tmap_u32 bit, int left,
                                       int right) {
    const tmap_u32 to = (bit - 1) | (left ? 0 : bit);
    tmap_u32 slot = up->slot + tmapi_raster_count(up->starts & to);
    if (right) slot += 1 + (bit >> 31); // the first slot of the next word is not a start
    return slot;
}

// ---- the forest ---------------------------------------------------------------------------------

// Makes each of the `count` slots from `first` (even) on its own parent. Collective for the warp.
TMAP_DEVICE void tmapi_label_alone(unsigned short *parents, tmap_u32 first, tmap_u32 count) {
    tmap_u32 *pairs = (tmap_u32 *)(parents + first);
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < count; i += 32)
        pairs[i] = (first + 2 * i) | (first + 2 * i + 1) << 16;
}

// Makes the runs above the first touches `rest` the parents of the runs below. left, right: touches
// of these kinds. through: 1: uses the parents of the runs above; 0: other warps may write these.
TMAP_DEVICE void tmapi_label_first(unsigned short *parents, const tmapi_label_row *up,
                                   const tmapi_label_row *low, tmap_u32 rest, tmap_u32 left,
                                   tmap_u32 right, const int through) {
    while (rest) {
        const tmap_u32 bit = rest & (0u - rest);
        const tmap_u32 to = tmapi_label_above(up, bit, (left & bit) != 0, (right & bit) != 0);
        parents[tmapi_label_slot(low, bit)] = through ? parents[to] : (unsigned short)to;
        rest &= rest - 1;
    }
}

// Gives slots of continued runs the parents of their runs. Collective for the warp.
TMAP_DEVICE void tmapi_label_join(unsigned short *parents, const tmapi_label_row *row) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 lanes = __ballot_sync(~0u, row->starts != 0) & ((1u << lane) - 1);
    const int from = lanes ? 31 - __clz((int)lanes) : 0; // the last word that starts a run
    const tmap_u32 last = row->slot + tmapi_raster_count(row->starts);
    const tmap_u32 run = __shfl_sync(~0u, last, from);
    __syncwarp();
    if (lane) parents[row->slot] = lanes ? parents[run] : (unsigned short)run;
}

// Joins the trees of two slots. Climbs from the one with the higher parent, and shortens its path,
// until that one is a root, which then points to the other one's parent.
TMAP_DEVICE void tmapi_label_unite(unsigned short *parents, tmap_u32 a, tmap_u32 b) {
    volatile unsigned short *p = parents;
    for (;;) {
        const tmap_u32 of_a = p[a], of_b = p[b], up = of_a > of_b ? of_a : of_b;
        const tmap_u32 low = of_a ^ of_b ^ up, high = of_a > of_b ? a : b;
        if (of_a == of_b) return;
        if (up == high) {
            tmap_u32 *pair = (tmap_u32 *)parents + up / 2, old = *(volatile tmap_u32 *)pair;
            const tmap_u32 shift = up % 2 * 16;
            if ((old >> shift & 0xffff) == up &&
                atomicCAS(pair, old, old ^ (up ^ low) << shift) == old)
                return;
            a = up, b = low;
        } else {
            const tmap_u32 next = p[up];
            if (next != up) p[high] = (unsigned short)next;
            a = next, b = low;
        }
    }
}

// Appends the touches other than the first to the queue of `count` pairs, and unites 32 pairs
// whenever the queue has them. Returns the number of pairs left. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_label_others(unsigned short *parents, tmap_u32 *queue, tmap_u32 count,
                                        const tmapi_label_row *up, const tmapi_label_row *low,
                                        const tmapi_label_touch *t, int eight) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 rest = t->straight, lanes;
#pragma unroll 1
    for (int kind = 0;; ++kind) { // straight, left, right
        while ((lanes = __ballot_sync(~0u, rest != 0)) != 0) {
            if (rest) {
                const tmap_u32 bit = rest & (0u - rest);
                queue[count + tmapi_raster_count(lanes & ((1u << lane) - 1))] =
                    tmapi_label_slot(low, bit) | tmapi_label_above(up, bit, kind == 1, kind == 2)
                                                     << 16;
                rest &= rest - 1;
            }
            count += tmapi_raster_count(lanes);
            if (count >= 32) {
                tmap_u32 pair;
                __syncwarp();
                count -= 32, pair = queue[count + lane];
                tmapi_label_unite(parents, pair & 0xffff, pair >> 16);
                __syncwarp();
            }
        }
        if (!eight || kind == 2) return count;
        rest = kind ? t->right : t->left;
    }
}

// Unites the pairs left in the queue. Collective for the warp.
TMAP_DEVICE void tmapi_label_rest(unsigned short *parents, tmap_u32 *queue, tmap_u32 count) {
    __syncwarp();
    if (threadIdx.x % 32 < count) {
        const tmap_u32 pair = queue[threadIdx.x % 32];
        tmapi_label_unite(parents, pair & 0xffff, pair >> 16);
    }
}

// Replaces the parents of a warp's slots by their parents, until all slots of the block point to
// roots, or for `rounds` rounds; each halves the paths. total: slots of the rows, which begin at
// `first` and are `pitch` apart; pairs of four rows are in flight at a time. Collective for the
// block, with a barrier at the end.
TMAP_DEVICE void tmapi_label_flatten(unsigned short *parents, tmap_u32 first, const tmap_u32 pitch,
                                     const tmap_u32 *total, const tmap_u32 each, tmap_u32 rounds) {
    volatile tmap_u32 *pairs = (volatile tmap_u32 *)(parents + first);
    volatile const unsigned short *p = parents;
    tmap_u32 most = 0, open = 0xffffffffu; // a bit for 32 pairs of each row: some had no root yet
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) most = total[r] > most ? total[r] : most;
    do {
        tmap_u32 left = 0, bit = 1;
#pragma unroll 1
        for (tmap_u32 i = threadIdx.x % 32; 2 * i < most; i += 32, bit <<= 1) {
            tmap_u32 old[4], up[4], changed = 0;
            if (!(open & bit)) continue;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r) // the block's first slot is a root
                old[r] = 2 * i < total[r] ? pairs[r * (pitch / 2) + i] : 0;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r)
                up[r] = (tmap_u32)p[old[r] & 0xffff] | (tmap_u32)p[old[r] >> 16] << 16;
#pragma unroll
            for (tmap_u32 r = 0; r < each; ++r)
                if (up[r] != old[r]) pairs[r * (pitch / 2) + i] = up[r], changed = bit;
            left |= changed;
        }
        open = left;
    } while (__syncthreads_or(open != 0) && --rounds);
}

// ---- local: cells to words of rows --------------------------------------------------------------
//
// A warp reads a row of 1024 cells; each lane receives a word of it.

// The first byte of row y of a block.
TMAP_DEVICE const unsigned char *tmapi_label_bytes(const tmapi_label_job *job,
                                                   const tmapi_label_area *a, tmap_u64 y) {
    return (const unsigned char *)job->cells + a->image * job->slice + y * job->pitch + a->x;
}

// 1 if `rows` rows of bytes from row y on can be read in pieces of 16 bytes.
TMAP_DEVICE int tmapi_label_whole(const tmapi_label_job *job, const tmapi_label_area *a, tmap_u64 y,
                                  tmap_u32 rows) {
    const tmap_u64 from = (tmap_u64)tmapi_label_bytes(job, a, y);
    const tmap_u64 steps = job->pitch | (job->beside ? job->slice : 0);
    return !job->bits && y + rows <= job->height && (from | steps) % 16 == 0 &&
           a->x + (TMAPI_LABEL_CELLS >> job->beside) <= job->width &&
           a->image + (1u << job->beside) <= job->images;
}

// Reads the halves of such a row; converts them to words.
TMAP_DEVICE void tmapi_label_read(const tmapi_label_job *job, const tmapi_label_area *a, tmap_u64 y,
                                  uint4 *halves) {
    const unsigned char *from = tmapi_label_bytes(job, a, y);
    const tmap_u32 log = 6 - job->beside;
#pragma unroll
    for (tmap_u32 k = 0; k < 2; ++k) {
        const tmap_u32 piece = threadIdx.x % 32 + 32 * k;
        const tmap_u64 at = (piece >> log) * job->slice + (piece & ((1u << log) - 1)) * 16;
        halves[k] = __ldcs((const uint4 *)(from + at));
    }
}
TMAP_DEVICE tmap_u32 tmapi_label_word(const uint4 *halves) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u32 both = tmapi_label_pack16(halves[0]) | tmapi_label_pack16(halves[1]) << 16;
    const tmap_u32 low = __shfl_sync(~0u, both, 2 * lane % 32);
    const tmap_u32 high = __shfl_sync(~0u, both, 2 * lane % 32 + 1);
    return __byte_perm(low, high, lane < 16 ? 0x5410 : 0x7632);
}

// The words of any row y of a block: as they are, or converted byte by byte; 0 outside the images.
TMAP_DEVICE tmap_u32 tmapi_label_word_slow(const tmapi_label_job *job, const tmapi_label_area *a,
                                           tmap_u64 y) {
    const tmap_u32 lane = threadIdx.x % 32;
    const unsigned char *row =
        (const unsigned char *)job->cells + (y * job->pitch << job->bits * 2);
    tmap_u32 word = 0, x;
    if (y >= job->height) return 0;
    if (job->bits) {
        const tmap_u64 image = tmapi_label_word_at(job, a, lane, &x);
        if (image >= job->images || x >= job->width) return 0;
        word = ((const tmap_u32 *)row)[image * job->slice + x / 32];
        return job->width - x < 32 ? word & ((1u << (job->width - x)) - 1) : word;
    }
    if (!job->beside) {
        row += a->image * job->slice + a->x;
#pragma unroll 8
        for (tmap_u32 k = 0; k < 32; ++k) {
            const tmap_u32 at = k * 32 + lane;
            tmapi_raster_ballot(a->x + at < job->width && row[at] != 0, k, &word);
        }
        return word;
    }
#pragma unroll 4
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u64 image = tmapi_label_word_at(job, a, k, &x);
        const int in = image < job->images && x + lane < job->width;
        tmapi_raster_ballot(in && row[image * job->slice + x + lane] != 0, k, &word);
    }
    return word;
}

// A value as bits, equal for equal values. *ok: 0 if it belongs to no component.
TMAP_DEVICE int tmapi_label_value(const tmapi_label_job *job, tmap_u64 at, const int type,
                                  int *ok) {
    int v;
    *ok = 1;
    switch (type) {
    case TMAP_RASTER_U8: v = ((const unsigned char *)job->cells)[at]; break;
    case TMAP_RASTER_I16: v = ((const short *)job->cells)[at]; break;
    case TMAP_RASTER_I32: v = ((const int *)job->cells)[at]; break;
    default: { // by bits: comparisons of floats under -ftz=true take subnormal numbers for 0
        const tmap_u32 bits = ((const tmap_u32 *)job->cells)[at];
        v = bits == 0x80000000u ? 0 : (int)bits;   // -0 is 0
        *ok = (bits & 0x7fffffffu) <= 0x7f800000u; // not NaN
    }
    }
    if (job->has_nodata && v == job->nodata) *ok = 0;
    return v;
}

// A lane's value of a row, 32 cells at a time; the value to its left (for lane 0 the last of the 32
// cells before); and whether it belongs to a component.
typedef struct tmapi_label_line {
    int value, left, last, in;
} tmapi_label_line;

// Bits of `rows` rows from the cell at0 on, and the cells with the value of the cell above or over
// corners. above: 0: there is no row above. Loads of TMAPI_LABEL_AHEAD * 32 cells of all rows are
// in flight at a time.
#define TMAPI_LABEL_AHEAD 4
TMAP_DEVICE void tmapi_label_values_of(const tmapi_label_job *job, tmap_xy64 at0, int above,
                                       tmapi_label_row *row, tmap_u32 (*same)[3], const int rows,
                                       const int type) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u64 x = at0.x, y = at0.y;
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
                const int turned = __shfl_sync(~0u, value[a][r], (int)(lane + 31) % 32);
                line[r].left = lane ? turned : line[r].last, line[r].last = turned;
                line[r].value = value[a][r], line[r].in = in[a][r];
            }
#pragma unroll
            for (int r = 1; r <= rows; ++r) {
                const tmapi_label_line *me = line + r, *up = me - 1;
                const int begins = me->in && (me->value != me->left || (k == 0 && lane == 0));
                tmapi_raster_ballot(me->in, k, &row[r - 1].in);
                tmapi_raster_ballot(begins, k, &row[r - 1].starts);
                tmapi_raster_ballot(me->in && up->in && me->value == up->value, k, same[r - 1]);
                if (!job->eight) continue;
                tmapi_raster_ballot(me->in && me->value == up->left, k, same[r - 1] + 1);
                tmapi_raster_ballot(up->in && up->value == me->left, k, skew + r - 1);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const tmap_u32 ends = tmapi_label_from_right(skew[r], 31);
        if (!there[r]) same[r][1] = 0;
        if (lane == 0) same[r][1] &= ~1u; // that corner belongs to the block to the left
        same[r][2] = ends & row[r].in;
    }
}
TMAP_DEVICE void tmapi_label_values(const tmapi_label_job *job, tmap_xy64 at, int above,
                                    tmapi_label_row *row, tmap_u32 (*same)[3], const int rows) {
    switch (job->type) {
    case TMAP_RASTER_U8:
        tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_U8);
        break;
    case TMAP_RASTER_I16:
        tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_I16);
        break;
    case TMAP_RASTER_I32:
        tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_I32);
        break;
    default: tmapi_label_values_of(job, at, above, row, same, rows, TMAP_RASTER_F32);
    }
}

// ---- local: the components of a block -----------------------------------------------------------

// A block of threads: its shared memory, and constants of its kernel.
typedef struct tmapi_label_block {
    unsigned short *parents; // of slots
    tmapi_label_local *local;
    tmap_u32 each;         // rows of a warp
    tmap_u32 pitch;        // slots of a row
    tmap_u32 shift;        // bits of a component's number in its row
    int values;            // 1: cells are values
    tmap_u32 beside, last; // of the job
} tmapi_label_block;

TMAP_DEVICE tmapi_label_block tmapi_label_block_at(const tmapi_label_job *job, void *memory,
                                                   const int values) {
    tmapi_label_block b;
    b.beside = values ? 0 : job->beside, b.last = job->last;
    b.values = values, b.shift = values ? 10 : 9;
    b.each = (values ? TMAPI_LABEL_ROWS_VALUES : TMAPI_LABEL_ROWS_MASK) / TMAPI_LABEL_WARPS;
    b.pitch = values ? TMAPI_LABEL_SLOTS_VALUES : TMAPI_LABEL_SLOTS_MASK;
    b.parents = (unsigned short *)memory;
    b.local = (tmapi_label_local *)(b.parents + job->rows * b.pitch);
    return b;
}

// Marks the component of a slot.
TMAP_DEVICE void tmapi_label_mark(const unsigned short *parents, tmap_u32 *marks, tmap_u32 slot) {
    const tmap_u32 root = parents[slot], bit = 1u << root % 32;
    if (!(*(volatile tmap_u32 *)(marks + root / 32) & bit)) atomicOr(marks + root / 32, bit);
}

// Row r of a block with several images, where the numbers of components begin anew in each: images
// that it has so far, and the number of components before the last of them.
typedef struct tmapi_label_begun {
    tmap_u32 r, images, components;
} tmapi_label_begun;

// Marks the first slot of each image of a row: that of no run, and so never a root.
TMAP_DEVICE void tmapi_label_heads(tmap_u32 *marks, tmap_u32 slot, tmap_u32 last) {
    if ((threadIdx.x & last) == 0) atomicOr(marks + slot / 32, 1u << slot % 32);
}

// Numbers the roots among a lane's two slots from `slot` on, ~0 beyond the row: in each image from
// 0 on, and above it the image. mine: roots of the row before the slots; receives these numbers.
// Counts the roots of images that end. Collective for the warp.
TMAP_DEVICE void tmapi_label_number(const tmapi_label_job *job, const tmapi_label_local *s,
                                    tmapi_label_begun *begun, tmap_u32 slot, const int *root,
                                    tmap_u32 *mine) {
    const tmap_u32 lane = threadIdx.x % 32, log = job->shift - job->beside;
    const tmap_u32 marked = ~slot ? s->marks[slot / 32] >> slot % 32 & 3 : 0; // slot is even
    const int head[2] = {(marked & 1) && !root[0], marked >> 1 && !root[1]};
    const tmap_u32 heads = __ballot_sync(~0u, head[0] || head[1]);
    const tmap_u32 before = heads & ((1u << lane) - 1), own = mine[0] + (head[1] && root[0]);
    const tmap_u32 from = __shfl_sync(~0u, own, before ? 31 - __clz((int)before) : 0);
    tmap_u32 images = begun->images + tmapi_raster_count(before);
    tmap_u32 first = before ? from : begun->components;
#pragma unroll
    for (tmap_u32 k = 0; k < 2; ++k) {
        if (head[k]) {
            if (images)
                job->scan.count[tmapi_label_count_at(job, &s->area, begun->r, images - 1)] =
                    mine[k] - first;
            ++images, first = mine[k];
        }
        mine[k] = (images - 1) << log | (mine[k] - first);
    }
    if (heads) begun->components = __shfl_sync(~0u, own, 31 - __clz((int)heads));
    begun->images += tmapi_raster_count(heads);
}

// Finds the components of a block. Each warp has its rows and their touches above in registers.
TMAP_DEVICE void tmapi_label_components(const tmapi_label_job *job, const tmapi_label_block b,
                                        tmapi_label_row *row, tmap_u32 (*same)[3]) {
    const tmap_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, under = (1u << lane) - 1;
    const tmap_u32 each = b.each, pitch = b.pitch, rows = job->rows, r0 = warp * each;
    const tmapi_label_area a = tmapi_label_area_here(job);
    const tmap_u32 column = a.column;
    unsigned short *parents = b.parents;
    tmapi_label_local *s = b.local;
    tmap_u32 total[4], roots[4], more[4], waiting;
    tmapi_label_touch touch[4];
    const tmap_u32 blank = tmapi_label_blank(job, column);
#pragma unroll
    for (tmap_u32 r = 0; r < each; r += 2) {
        const tmap_u32 both =
            tmapi_label_slots(row + r, row + r + 1, (r0 + r) * pitch, (r0 + r + 1) * pitch);
        total[r] = (both & 0xffff) - blank, total[r + 1] = (both >> 16) - blank;
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u64 at =
            tmapi_label_row_of(job, &a, r0 + r) * job->words + column * TMAPI_LABEL_WORDS + lane;
        tmapi_label_alone(parents, (r0 + r) * pitch, total[r]);
        job->in[at] = row[r].in; // 0 below the map
        if (b.values) job->starts[at] = row[r].starts;
    }
    s->last[warp][lane] = row[each - 1];
    for (tmap_u32 i = threadIdx.x; i < rows * pitch / 32; i += blockDim.x) s->marks[i] = 0;
    if (threadIdx.x == 0) s->nodes = 0, s->area = a;
    __syncthreads();
    tmapi_label_row up;
    up.in = up.starts = up.slot = 0;
    if (warp) up = s->last[warp - 1][lane];
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmapi_label_row *above = r ? row + r - 1 : &up;
        tmapi_label_touch *t = touch + r;
        *t = b.values ? tmapi_label_touch_values(row + r, same[r], job->eight)
                      : tmapi_label_touch_mask(above, row + r, job->eight, b.last);
        const tmap_u32 corner = t->right & ~(t->straight | t->left);
        if (!job->eight)
            tmapi_label_first(parents, above, row + r, t->first, 0, 0, r > 0);
        else
            tmapi_label_first(parents, above, row + r, t->first, t->left, corner, r > 0);
        t->straight &= ~t->first, t->left &= ~t->first, t->right &= ~(t->first & corner);
        tmapi_label_join(parents, row + r);
        if (b.beside) tmapi_label_heads(s->marks, row[r].slot, b.last);
        __syncwarp();
    }
    __syncthreads();
    tmapi_label_flatten(parents, r0 * pitch, pitch, total, each, 2); // shortens paths for unions
    waiting = 0;
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r)
        waiting = tmapi_label_others(parents, s->queue[warp], waiting, r ? row + r - 1 : &up,
                                     row + r, touch + r, job->eight);
    tmapi_label_rest(parents, s->queue[warp], waiting);
    __syncthreads();
    tmapi_label_flatten(parents, r0 * pitch, pitch, total, each, 32);
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 inner = r0 + r, first = inner * pitch;
        const int cut = (inner == 0 && s->area.y != job->top) ||
                        (inner == rows - 1 && s->area.y + rows < job->bottom);
        if (cut)
            for (tmap_u32 i = lane; i < total[r]; i += 32)
                if (i) tmapi_label_mark(parents, s->marks, first + i);
        if (s->area.column && lane == 0 && (row[r].in & 1))
            tmapi_label_mark(parents, s->marks, first + 1);
        if (s->area.column + 1 < job->bx && lane == 31 && row[r].in >> 31)
            tmapi_label_mark(parents, s->marks, first + total[r] - 1);
    }
    __syncthreads();
    // roots receive their codes; the other slots still point to them
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 first = (r0 + r) * pitch;
        tmap_u32 *pairs = (tmap_u32 *)(parents + first), rank = 0, bits = 0, end = 0;
        tmapi_label_begun begun = {r0 + r, b.beside ? 0u : 1u, 0};
        for (tmap_u32 i = lane, n = 0; 2 * n < total[r]; i += 32, n += 32) {
            const tmap_u32 slot = first + 2 * i, pair = 2 * i < total[r] ? pairs[i] : 0xffffffffu;
            const int root[2] = {(pair & 0xffff) == slot && i > 0 && 2 * i < total[r],
                                 pair >> 16 == slot + 1 && 2 * i + 1 < total[r]};
            const tmap_u32 as = __ballot_sync(~0u, root[0]), bs = __ballot_sync(~0u, root[1]);
            const tmap_u32 before =
                rank + tmapi_raster_count(as & under) + tmapi_raster_count(bs & under);
            tmap_u32 mine[2] = {before, before + (tmap_u32)root[0]};
            if (b.beside)
                tmapi_label_number(job, s, &begun, 2 * i < total[r] ? slot : ~0u, root, mine);
#pragma unroll
            for (tmap_u32 k = 0; k < 2; ++k) {
                const tmap_u32 at = slot + k;
                tmap_u32 code = (r0 + r) << b.shift | mine[k];
                if (!root[k]) continue;
                if (b.values && n == 512)
                    end |= 1u << k;
                else
                    bits |= 1u << (n / 16 + k);
                if (s->marks[at / 32] >> at % 32 & 1) {
                    const tmap_u32 node = atomicAdd(&s->nodes, 1u);
                    const tmap_u64 to = (tmap_u64)blockIdx.x * job->nodes + node;
                    job->parent[to] = (tmap_u32)to;
                    job->key[to] = tmapi_label_row_of(job, &s->area, r0 + r) << 32 |
                                   (s->area.column * 1024u + mine[k]);
                    code = TMAPI_LABEL_NODE | node;
                }
                parents[at] = (unsigned short)code;
            }
            rank += tmapi_raster_count(as) + tmapi_raster_count(bs);
        }
        roots[r] = bits, more[r] = end;
        if (lane == 0)
            job->scan.count[tmapi_label_count_at(job, &s->area, r0 + r, begun.images - 1)] =
                rank - begun.components;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        job->used[blockIdx.x] = s->nodes;
        if (blockIdx.x == 0) *job->scan.counter = 0;
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) {
        const tmap_u32 first = (r0 + r) * pitch, *pairs = (const tmap_u32 *)(parents + first);
        tmap_u32 bits = roots[r];
        if (s->area.y + r0 + r >= job->height) continue;
        tmap_u32 *codes = tmapi_label_codes(job, &s->area, r0 + r);
        for (tmap_u32 i = lane; 2 * i < total[r]; i += 32, bits >>= 2) {
            tmap_u32 low = pairs[i] & 0xffff, high = pairs[i] >> 16;
            if (b.values && i >= 512) bits = more[r];
            if (i > 0 && !(bits & 1)) low = parents[low];
            if (!(bits & 2) && 2 * i + 1 < total[r]) high = parents[high];
            codes[i] = low | high << 16;
        }
        if (job->bx > 1) {
            unsigned short *edge = job->edge + ((tmap_u64)blockIdx.x * 2) * job->rows + r0 + r;
            __syncwarp();
            if (lane == 0)
                edge[0] = row[r].in & 1 ? ((const unsigned short *)codes)[1] : TMAPI_LABEL_NONE;
            if (lane == 31)
                edge[job->rows] = row[r].in >> 31 ? ((const unsigned short *)codes)[total[r] - 1]
                                                  : TMAPI_LABEL_NONE;
        }
    }
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, 2)
    tmapi_label_mask_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    const tmapi_label_block b = tmapi_label_block_at(&job, tmapi_label_memory, 0);
    const tmap_u32 each = b.each, r0 = threadIdx.x / 32 * each;
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_u64 y = a.y + r0;
    tmapi_label_row row[4];
    uint4 bytes[4][2];
    if (tmapi_label_whole(&job, &a, y, each)) {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) tmapi_label_read(&job, &a, y + r, bytes[r]);
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word(bytes[r]);
    } else {
#pragma unroll
        for (tmap_u32 r = 0; r < each; ++r) row[r].in = tmapi_label_word_slow(&job, &a, y + r);
    }
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r)
        row[r].starts = row[r].in & ~tmapi_label_from_left(row[r].in, job.last), row[r].slot = 0;
    tmapi_label_components(&job, b, row, 0);
}

static __global__ void __launch_bounds__(TMAPI_LABEL_WARPS * 32, 2)
    tmapi_label_values_kernel(tmapi_label_job job) {
    extern __shared__ uint4 tmapi_label_memory[];
    const tmapi_label_block b = tmapi_label_block_at(&job, tmapi_label_memory, 1);
    const tmap_u32 each = b.each, r0 = threadIdx.x / 32 * each;
    const tmapi_label_area a = tmapi_label_area_here(&job);
    const tmap_xy64 at = {a.x, a.y + r0};
    tmapi_label_row row[4];
    tmap_u32 same[TMAPI_LABEL_ROWS_VALUES / TMAPI_LABEL_WARPS][3];
#pragma unroll
    for (tmap_u32 r = 0; r < each; ++r) row[r].slot = 0;
    tmapi_label_values(&job, at, r0 > 0, row, same, (int)each);
    tmapi_label_components(&job, b, row, same);
}

#endif

#endif
