// SPDX-License-Identifier: MIT
// compact_window_sheets.h: the living cells of a run of words (compact_words.h), bit by bit: of all
// sheets at once, by a block.
//
// Words are added up as numbers of one bit in 32 columns (Harley and Seal; Warren, Hacker's
// Delight, 5-1): three words become two by a full adder, which is two instructions on a GPU. Eight
// words leave one, whose bits count eight; it is added to twelve planes, which count to 4095. So a
// word costs about five instructions for all of its 32 columns.
#ifndef TMAP_FRACTAL_COMPACT_WINDOW_SHEETS_H
#define TMAP_FRACTAL_COMPACT_WINDOW_SHEETS_H

#include "../warp.h"

#if TMAP_CUDA

// Plane p holds bit p of the count of each of 32 columns.
#define TMAPI_SHEETS_PLANES 15
// What a thread adds up before its planes would overflow: 8 * 4095 words.
#define TMAPI_SHEETS_TURNS 4095u

// a + b + *c, bit by bit: the sum goes to *c, the carry is returned.
TMAP_DEVICE tmap_u32 tmapi_sheets_carry(tmap_u32 a, tmap_u32 b, tmap_u32 *c) {
    const tmap_u32 one = a ^ b, carry = (a & b) | (one & *c);
    *c ^= one;
    return carry;
}

// Adds eight words to the planes.
TMAP_DEVICE void tmapi_sheets_add(tmap_u32 *plane, const tmap_u32 *w) {
    const tmap_u32 two0 = tmapi_sheets_carry(w[0], w[1], &plane[0]);
    const tmap_u32 two1 = tmapi_sheets_carry(w[2], w[3], &plane[0]);
    const tmap_u32 two2 = tmapi_sheets_carry(w[4], w[5], &plane[0]);
    const tmap_u32 two3 = tmapi_sheets_carry(w[6], w[7], &plane[0]);
    const tmap_u32 four0 = tmapi_sheets_carry(two0, two1, &plane[1]);
    const tmap_u32 four1 = tmapi_sheets_carry(two2, two3, &plane[1]);
    tmap_u32 carry = tmapi_sheets_carry(four0, four1, &plane[2]);
#pragma unroll
    for (int p = 3; p < TMAPI_SHEETS_PLANES; ++p) {
        const tmap_u32 next = plane[p] & carry;
        plane[p] ^= carry, carry = next;
    }
}

// Adds a warp's counts of columns 0 to `columns` - 1 to count[], in shared memory.
TMAP_DEVICE void tmapi_sheets_finish(const tmap_u32 *plane, tmap_u32 columns, tmap_u64 *count) {
    const tmap_warp warp = tmap_warp_self();
    for (tmap_u32 b = 0; b < columns; ++b) {
        tmap_u32 sum = 0;
#pragma unroll
        for (int p = 0; p < TMAPI_SHEETS_PLANES; ++p) sum += (plane[p] >> b & 1) << p;
        sum = tmap_warp_sum_redux(warp, sum);
        if (warp.lane == 0 && sum) atomicAdd(&count[b], sum);
    }
}

// Word i of a state, of `bytes` bytes.
TMAP_DEVICE tmap_u64 tmapi_sheets_word(const void *state, tmap_u32 bytes, tmap_u64 i) {
    return bytes == 2   ? ((const unsigned short *)state)[i]
           : bytes == 4 ? ((const tmap_u32 *)state)[i]
                        : ((const tmap_u64 *)state)[i];
}

// Adds to count[b], in shared memory, how many of the words begin .. begin + run - 1 have bit b,
// for b < cells. bytes: of a word, a constant: 2, 4 or 8. All threads of a block of 256 call it;
// barriers before and after are the caller's. Exact; the order of sums does not matter.
TMAP_DEVICE void tmapi_sheets_count(const void *state, tmap_u32 bytes, tmap_u32 cells,
                                    tmap_u64 begin, tmap_u64 run, tmap_u64 *count) {
    const tmap_u64 turn = 8 * 256;
    for (tmap_u64 done = 0; done < run; done += turn * TMAPI_SHEETS_TURNS) {
        const tmap_u64 left = run - done;
        const tmap_u64 end =
            left < turn * TMAPI_SHEETS_TURNS ? run : done + turn * TMAPI_SHEETS_TURNS;
        tmap_u32 low[TMAPI_SHEETS_PLANES] = {0}, high[TMAPI_SHEETS_PLANES] = {0};
        for (tmap_u64 at = done + threadIdx.x; at < end; at += turn) {
            tmap_u32 a[8], b[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const tmap_u64 from = at + i * 256;
                const tmap_u64 word =
                    from < end ? tmapi_sheets_word(state, bytes, begin + from) : 0;
                a[i] = (tmap_u32)word, b[i] = (tmap_u32)(word >> 32);
            }
            tmapi_sheets_add(low, a);
            if (bytes == 8) tmapi_sheets_add(high, b);
        }
        tmapi_sheets_finish(low, cells < 32 ? cells : 32, count);
        if (bytes == 8 && cells > 32) tmapi_sheets_finish(high, cells - 32, count + 32);
    }
}

#endif
#endif
