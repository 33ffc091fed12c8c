// SPDX-License-Identifier: MIT
// flood_label.h: the components of a block of 512 columns, for floods: of bits in shared memory, by
// 16 threads for every 8 rows, each of which has 32 columns of them.
//
// Two rows are taken at a time, a double row. The cells of a column are joined in it, so that its
// components are intervals of columns, found by arithmetic on words. Each has a slot, which holds
// the slot of another component that it is joined with, or its own: a root. Slots of higher
// components hold lower numbers.
//     1  each component points to the first one above that it touches: no two write the same
//     2  rounds: all jump until they point to roots; then, for all other contacts, one of the two
//        roots is put below the other. If two do so with one root, one of them gets its way, and
//        the other one comes again in the next round
// Loops run over words with four loads in flight at a time, since what a thread waits for is shared
// memory. Chains of loads that end at different times in the lanes of a warp are what to avoid.
#ifndef TMAP_ADAPTIVE_FLOOD_LABEL_H
#define TMAP_ADAPTIVE_FLOOD_LABEL_H

#include "flood_run.h"

#if TMAP_CUDA

#define TMAPI_FLOOD_STRIP  8u // rows of a thread
#define TMAPI_FLOOD_DOUBLE 4u // double rows of a thread

// A block's shared memory: 576 bytes a row, and 64.
typedef struct tmapi_flood_block {
    tmap_u32 rows;
    tmap_u32 *bits;                 // tmapi_flood_place
    tmap_u32 *scan;                 // a word for each warp, 8 at most
    volatile unsigned short *slots; // tmapi_flood_slot
} tmapi_flood_block;

TMAP_FN tmap_u32 tmapi_flood_block_bytes(tmap_u32 rows) { return 576 * rows + 64; }

// memory: at a multiple of 16. Slots come first, so that their addresses have a constant base.
TMAP_DEVICE tmapi_flood_block tmapi_flood_block_at(void *memory, tmap_u32 rows) {
    tmapi_flood_block b;
    b.rows = rows, b.slots = (unsigned short *)memory;
    b.bits = (tmap_u32 *)memory + 128 * rows, b.scan = b.bits + TMAPI_FLOOD_WORDS * rows;
    return b;
}

// Where a row's word is: lanes of a warp, which have 16 words of rows 8 apart, read from 32 banks.
TMAP_DEVICE tmap_u32 tmapi_flood_place(tmap_u32 row, tmap_u32 word) {
    return (row * TMAPI_FLOOD_WORDS + word) ^ (row >> 3 & 1) << 4;
}

// The slot of component k of a word of a double row, up to 32 of them; banks as above.
TMAP_DEVICE tmap_u32 tmapi_flood_slot(tmap_u32 pair, tmap_u32 word, tmap_u32 k) {
    return pair * 512 + ((k >> 1) ^ (pair >> 2 & 1)) * 32 + word * 2 + (k & 1);
}

// The first columns of the components of a double row. eight: connectivity.
TMAP_DEVICE tmap_u32 tmapi_flood_firsts(tmap_u32 a, tmap_u32 b, int eight) {
    const tmap_u32 both = a | b;
    return both & ~(eight ? both << 1 : (a & a << 1) | (b & b << 1));
}

// The number of the component that column `bit`, a power of two, lies in.
TMAP_DEVICE tmap_u32 tmapi_flood_rank(tmap_u32 firsts, tmap_u32 bit) {
    return (tmap_u32)__popc(firsts & tmapi_flood_upto(bit)) - 1;
}

// The slot of a cell's component, or TMAPI_FLOOD_NONE.
TMAP_DEVICE tmap_u32 tmapi_flood_cell_slot(const tmapi_flood_block *b, tmap_u32 x, tmap_u32 y,
                                           int eight) {
    const tmap_u32 word = x / 32, bit = 1u << x % 32;
    const tmap_u32 upper = b->bits[tmapi_flood_place(y & ~1u, word)];
    const tmap_u32 lower = b->bits[tmapi_flood_place(y | 1, word)];
    if (!((y & 1 ? lower : upper) & bit)) return TMAPI_FLOOD_NONE;
    return tmapi_flood_slot(y / 2, word,
                            tmapi_flood_rank(tmapi_flood_firsts(upper, lower, eight), bit));
}

// The root of a slot: one that holds itself or a node's number.
TMAP_DEVICE tmap_u32 tmapi_flood_root(const tmapi_flood_block *b, tmap_u32 slot) {
    tmap_u32 next;
    while ((next = b->slots[slot]) != slot && !(next & TMAPI_FLOOD_BORDER)) slot = next;
    return slot;
}

// ---- cells that no way leads through ------------------------------------------------------------

// Takes runs away that hang on one run, again and again: the rest is joined as before, and floods
// come back to them when tiles are filled. What lies on the border of a tile stays. Up to half of
// the components go. For 4-connected cells. Barriers of the block.
TMAP_DEVICE void tmapi_flood_prune(const tmapi_flood_block *b) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 first = strip * TMAPI_FLOOD_STRIP;
    tmap_u32 m[TMAPI_FLOOD_STRIP + 2];
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP + 2; ++r) {
        const tmap_u32 row = first + r - 1;
        m[r] = row < b->rows ? b->bits[tmapi_flood_place(row, word)] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < 2; ++turn) // upwards, then downwards
#pragma unroll
        for (tmap_u32 i = 1; i <= TMAPI_FLOOD_STRIP; ++i) {
            const tmap_u32 r = turn ? i : TMAPI_FLOOD_STRIP + 1 - i;
            const tmap_u32 behind = m[turn ? r - 1 : r + 1], ahead = m[turn ? r + 1 : r - 1];
            const tmap_u32 row = m[r], touch = tmapi_flood_starts(row & ahead);
            // a run stays for a contact behind, or for a second one ahead: in row + touch, the
            // carry of the first contact ends at the run's end, and so the second stays set
            tmap_u32 stay = (row & (behind | 0x80000001u)) | (touch & (row + touch));
            if ((r == 1 && strip % 2 == 0) || (r == TMAPI_FLOOD_STRIP && strip % 2)) stay = row;
            m[r] = tmapi_flood_whole(row, __brev(row), stay);
        }
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP; ++r)
        b->bits[tmapi_flood_place(first + r, word)] = m[r + 1];
    __syncthreads();
}

// ---- components ---------------------------------------------------------------------------------

// What a thread remembers of its double rows, and the last one above them.
typedef struct tmapi_flood_strip {
    tmap_u32 firsts[TMAPI_FLOOD_DOUBLE + 1];
    tmap_u32 others[TMAPI_FLOOD_DOUBLE]; // columns of further contacts with the double row above
    tmap_u32 left[TMAPI_FLOOD_DOUBLE];   // the component to the left of the first one, or NONE
    tmap_u32 above_left[TMAPI_FLOOD_DOUBLE], above_right; // by corners; a bit each
} tmapi_flood_strip;

// Makes components and lets them point to the first one above. No two threads write the same slot.
TMAP_DEVICE void tmapi_flood_point(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 above = 0;
    s->firsts[0] = s->above_right = 0;
    if (strip) {
        above = b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 1, word)];
        s->firsts[0] = tmapi_flood_firsts(
            b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 2, word)], above, eight);
    }
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 row = strip * TMAPI_FLOOD_STRIP + 2 * j, pair = row / 2;
        const tmap_u32 upper = b->bits[tmapi_flood_place(row, word)];
        const tmap_u32 lower = b->bits[tmapi_flood_place(row + 1, word)];
        const tmap_u32 firsts = tmapi_flood_firsts(upper, lower, eight);
        const tmap_u32 last = (tmap_u32)__popc(firsts) - 1;
        // the word to the left: its last column and its last component
        const tmap_u32 edge = upper >> 31 | lower >> 31 << 1 | (last & 31) << 2;
        const tmap_u32 beside = __shfl_up_sync(~0u, edge, 1);
        const int joined = eight ? (upper | lower) & 1 && beside & 3
                                 : (upper & beside & 1) || (lower & beside >> 1 & 1);
        tmap_u32 left = firsts, low = firsts & (0u - firsts), others = 0, k = 0;
        s->left[j] = word && joined ? beside >> 2 : TMAPI_FLOOD_NONE;
        if (eight) {
            const tmap_u32 rank = ((tmap_u32)__popc(s->firsts[j]) - 1) & 31;
            const tmap_u32 before = __shfl_up_sync(~0u, above >> 31 | rank << 1, 1);
            const tmap_u32 after = __shfl_down_sync(~0u, above & 1, 1);
            s->above_left[j] = word && upper & 1 && before & 1 ? before >> 1 : TMAPI_FLOOD_NONE;
            if (word < TMAPI_FLOOD_WORDS - 1 && upper >> 31 && after) s->above_right |= 1u << j;
        }
#pragma unroll 1
        while (left) {
            tmap_u32 next, touch, parent = tmapi_flood_slot(pair, word, k);
            const tmap_u32 slot = parent;
            left &= left - 1;
            next = left & (0u - left);
            touch = upper & (next - low); // the component's columns: from low to below next
            touch = above & (eight ? tmapi_flood_wide(touch) : touch);
            low = next;
            if (touch) {
                parent = tmapi_flood_slot(pair - 1, word,
                                          tmapi_flood_rank(s->firsts[j], touch & (0u - touch)));
                if (j) parent = b->slots[parent];
            }
            b->slots[slot] = (unsigned short)parent;
            // 8-connected contacts of a gap of one column belong to the component to their left
            others |= tmapi_flood_starts(touch) & touch & (touch - 1);
            ++k;
        }
        if (k & 1) { // the other half of its word of memory: a root, so that jumps find one
            const tmap_u32 slot = tmapi_flood_slot(pair, word, k);
            b->slots[slot] = (unsigned short)slot;
        }
        s->others[j] = others, s->firsts[j + 1] = firsts;
        above = lower;
    }
    __syncthreads();
}

// Lets all components point to roots, two of each double row at a time. most: components of a word
// of the thread, at most.
TMAP_DEVICE void tmapi_flood_jump(const tmapi_flood_block *b, const tmapi_flood_strip *s,
                                  tmap_u32 most) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 counts[TMAPI_FLOOD_DOUBLE];
    int changed;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        counts[j] = (tmap_u32)__popc(s->firsts[j + 1]);
    do {
        changed = 0;
#pragma unroll 1
        for (tmap_u32 k = 0; k < most; k += 2) {
            volatile tmap_u32 *twos = (volatile tmap_u32 *)b->slots +
                                      tmapi_flood_slot(strip * TMAPI_FLOOD_DOUBLE, word, k) / 2;
            tmap_u32 up[TMAPI_FLOOD_DOUBLE], top[TMAPI_FLOOD_DOUBLE];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j]) up[j] = twos[j * 256];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j])
                    top[j] = b->slots[up[j] & 0xffff] | (tmap_u32)b->slots[up[j] >> 16] << 16;
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j] && up[j] != top[j]) twos[j * 256] = top[j], changed = 1;
        }
    } while (__syncthreads_or(changed));
}

// For each pair of slots (x[j], y[j]), which point to roots: puts the higher root below the lower.
// Returns a bit j for each pair whose roots were different. A pair of equal slots is none.
TMAP_DEVICE tmap_u32 tmapi_flood_hook(const tmapi_flood_block *b, tmap_u32 *x, tmap_u32 *y) {
    tmap_u32 different = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) x[j] = b->slots[x[j]], y[j] = b->slots[y[j]];
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) {
            const tmap_u32 high = x[j] > y[j] ? x[j] : y[j];
            b->slots[high] = (unsigned short)(x[j] ^ y[j] ^ high);
            different |= 1u << j;
        }
    return different;
}

// One round for all contacts but the first ones; returns 1 if the thread has found different roots.
// What has one root is forgotten: whoever has joined it comes again if others undid that.
TMAP_DEVICE int tmapi_flood_join(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 pair = strip * TMAPI_FLOOD_DOUBLE;
    tmap_u32 others[TMAPI_FLOOD_DOUBLE], x[TMAPI_FLOOD_DOUBLE], y[TMAPI_FLOOD_DOUBLE];
    tmap_u32 different, any = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        others[j] = s->others[j];
        x[j] = y[j] = 0;
        if (s->left[j] != TMAPI_FLOOD_NONE)
            x[j] = tmapi_flood_slot(pair + j, word, 0),
            y[j] = tmapi_flood_slot(pair + j, word - 1, s->left[j]);
    }
    any = different = tmapi_flood_hook(b, x, y);
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (!(different >> j & 1)) s->left[j] = TMAPI_FLOOD_NONE;
    if (eight) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_left[j] != TMAPI_FLOOD_NONE)
                x[j] = tmapi_flood_slot(pair + j, word, 0),
                y[j] = tmapi_flood_slot(pair + j - 1, word - 1, s->above_left[j]);
        }
        any |= tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_right >> j & 1)
                x[j] = tmapi_flood_slot(pair + j, word, (tmap_u32)__popc(s->firsts[j + 1]) - 1),
                y[j] = tmapi_flood_slot(pair + j - 1, word + 1, 0);
        }
        any |= tmapi_flood_hook(b, x, y);
    }
    while (others[0] | others[1] | others[2] | others[3]) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            x[j] = y[j] = 0;
            if (bit)
                x[j] = tmapi_flood_slot(pair + j - 1, word, tmapi_flood_rank(s->firsts[j], bit)),
                y[j] = tmapi_flood_slot(pair + j, word, tmapi_flood_rank(s->firsts[j + 1], bit));
        }
        any |= different = tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            others[j] ^= bit;
            if (!(different >> j & 1)) s->others[j] &= ~bit;
        }
    }
    return any != 0;
}

// Labels the bits of a block. After it all slots point to roots. Barriers of the block.
TMAP_DEVICE void tmapi_flood_label(const tmapi_flood_block *b, int eight) {
    tmapi_flood_strip s;
    tmap_u32 most = 0;
    tmapi_flood_point(b, &s, eight);
#pragma unroll
    for (tmap_u32 j = 1; j <= TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 count = (tmap_u32)__popc(s.firsts[j]);
        most = count > most ? count : most;
    }
    do tmapi_flood_jump(b, &s, most);
    while (__syncthreads_or(tmapi_flood_join(b, &s, eight)));
}

#endif // TMAP_CUDA
#endif
