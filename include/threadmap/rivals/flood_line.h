// SPDX-License-Identifier: MIT
// flood_line.h: the moving line of the lecture slides: a line of threads goes through the whole map
// in each of four directions, and carries water on through wet cells.
//
// A line that goes down or up lies along a row, so that its threads read words next to each other;
// a thread has four columns. A line that goes right or left lies along a column: a warp has 32
// rows, and brings 128 columns of them at a time to shared memory, whence each thread takes its own
// row. Either line goes there and back in a launch.
//
// With 8 neighbours the lines along rows look at the three cells behind each cell; the other two
// are the lines' along columns. What a warp sees of its neighbours' words may be older than what
// they hold. No round that changes anything is the last one, and in one that changes nothing all
// that is seen is up to date.
#ifndef TMAP_RIVALS_FLOOD_LINE_H
#define TMAP_RIVALS_FLOOD_LINE_H

#include "flood_state.h"

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_SLIDES_LINE_ROWS 32u // that a warp reads ahead

// The columns that four flooded cells, bits 0 of the bytes of c, reach in the next row by edges and
// corners. left, right: the words beside theirs.
TMAP_DEVICE tmap_u32 tmapi_slides_line_spread(tmap_u32 c, tmap_u32 left, tmap_u32 right) {
    const tmap_u32 spread = c | c << 8 | c >> 8 | left >> 24 | right << 24;
    return spread & TMAPI_SLIDES_ONES;
}

// What becomes of four cells where water comes to those whose bytes are 1 in c.
TMAP_DEVICE tmap_u32 tmapi_slides_line_wet(tmap_u32 word, tmap_u32 c) {
    return word | (c & word >> 1);
}

// The same for cells of a row one after the other, to the right (to higher bytes) or to the left.
// carry: 1 if there is water before the first one.
TMAP_DEVICE tmap_u32 tmapi_slides_line_right(tmap_u32 word, tmap_u32 carry) {
    const tmap_u32 wet = word >> 1 & TMAPI_SLIDES_ONES, two = wet & wet << 8;
    tmap_u32 f = (word & TMAPI_SLIDES_ONES) | (carry & wet);
    f |= f << 8 & wet;
    f |= f << 16 & two;
    return word | f;
}
TMAP_DEVICE tmap_u32 tmapi_slides_line_left(tmap_u32 word, tmap_u32 carry) {
    const tmap_u32 wet = word >> 1 & TMAPI_SLIDES_ONES, two = wet & wet >> 8;
    tmap_u32 f = (word & TMAPI_SLIDES_ONES) | (carry << 24 & wet);
    f |= f >> 8 & wet;
    f |= f >> 16 & two;
    return word | f;
}

// ---- down and up --------------------------------------------------------------------------------

// Some rows of a thread's four columns. side: the word beside them, for the first and the last
// thread of a warp with 8 neighbours.
typedef struct tmapi_slides_line_piece {
    tmap_u32 word[TMAPI_SLIDES_LINE_ROWS], side[TMAPI_SLIDES_LINE_ROWS];
} tmapi_slides_line_piece;

// Reads the rows from `at` on, `step` words apart, if there are any. beside: the offset of the word
// beside, or 0.
TMAP_DEVICE void tmapi_slides_line_read(const tmap_u32 *at, tmap_i64 step, tmap_i64 beside, int any,
                                        tmapi_slides_line_piece *piece) {
    if (!any) return;
#pragma unroll
    for (tmap_u32 k = 0; k < TMAPI_SLIDES_LINE_ROWS; ++k, at += step) {
        piece->word[k] = *at;
        piece->side[k] = beside ? ((volatile const tmap_u32 *)at)[beside] : 0;
    }
}

// The whole way of a line in one of two directions. up, eight: constants. Returns 1 if any cell
// of the thread's was flooded. Collective for the warp.
TMAP_DEVICE int tmapi_slides_line_go(const tmapi_slides_state *s, tmap_u64 column, int up,
                                     int eight) {
    const tmap_u64 height = s->tiles_y * TMAPI_SLIDES_SIDE; // a multiple of TMAPI_SLIDES_LINE_ROWS
    const tmap_i64 step = up ? -(tmap_i64)s->pitch : (tmap_i64)s->pitch;
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 *at = s->words + (up ? height - 1 : 0) * s->pitch + column;
    tmap_u32 c = 0, aside = 0, changed = 0; // aside: flooded cells of the word beside, a row before
    tmap_i64 beside = 0;
    tmapi_slides_line_piece now, next;
    if (eight && lane == 0 && column > 0) beside = -1;
    if (eight && lane == 31 && column + 1 < s->pitch) beside = 1;
    tmapi_slides_line_read(at, step, beside, 1, &next);
#pragma unroll 1
    for (tmap_u64 from = TMAPI_SLIDES_LINE_ROWS; from <= height; from += TMAPI_SLIDES_LINE_ROWS) {
        now = next;
        tmapi_slides_line_read(at + TMAPI_SLIDES_LINE_ROWS * step, step, beside, from < height,
                               &next);
#pragma unroll
        for (tmap_u32 k = 0; k < TMAPI_SLIDES_LINE_ROWS; ++k, at += step) {
            tmap_u32 word;
            if (eight) {
                tmap_u32 left = __shfl_up_sync(0xffffffffu, c, 1);
                tmap_u32 right = __shfl_down_sync(0xffffffffu, c, 1);
                if (lane == 0) left = aside;
                if (lane == 31) right = aside;
                c = tmapi_slides_line_spread(c, left, right);
                aside = now.side[k] & TMAPI_SLIDES_ONES;
            }
            word = tmapi_slides_line_wet(now.word[k], c);
            if (word != now.word[k]) *at = word, changed = 1;
            c = word & TMAPI_SLIDES_ONES;
        }
    }
    return (int)changed;
}

static __global__ void __launch_bounds__(32)
    tmapi_slides_line_columns(tmapi_slides_state s, tmap_u32 round) {
    const tmap_u64 column = blockIdx.x * 32ull + threadIdx.x;
    int changed;
    if (!tmapi_slides_round(&s, round, 1)) return;
    if (s.map.connectivity == 8) {
        changed = tmapi_slides_line_go(&s, column, 0, 1);
        changed |= tmapi_slides_line_go(&s, column, 1, 1);
    } else {
        changed = tmapi_slides_line_go(&s, column, 0, 0);
        changed |= tmapi_slides_line_go(&s, column, 1, 0);
    }
    if (changed) tmapi_slides_again(&s, round);
}

// ---- right and left -----------------------------------------------------------------------------

// Reads 32 words of each of 32 rows, a lane the same word of all.
TMAP_DEVICE void tmapi_slides_line_fetch(const tmapi_slides_state *s, tmap_u64 y, tmap_u64 tile,
                                         tmap_u32 *words) {
    const tmap_u32 *at = s->words + y * s->pitch + tile * 32 + threadIdx.x;
    if (tile >= s->tiles_x) return; // also tiles before the first one
#pragma unroll
    for (tmap_u32 k = 0; k < 32; ++k) words[k] = at[k * s->pitch];
}

// The whole way of the 32 rows from y on. left: a constant. Collective for the warp.
TMAP_DEVICE int tmapi_slides_line_sweep(const tmapi_slides_state *s, tmap_u64 y, int left,
                                        tmap_u32 shared[32][33]) {
    const tmap_u32 lane = threadIdx.x;
    tmap_u32 ahead[32], carry = 0, changed = 0;
    tmapi_slides_line_fetch(s, y, left ? s->tiles_x - 1 : 0, ahead);
#pragma unroll 1
    for (tmap_u64 i = 0; i < s->tiles_x; ++i) {
        const tmap_u64 tile = left ? s->tiles_x - 1 - i : i;
        tmap_u32 here = 0, rows;
#pragma unroll
        for (tmap_u32 k = 0; k < 32; ++k) shared[k][lane] = ahead[k];
        __syncwarp();
        tmapi_slides_line_fetch(s, y, left ? tile - 1 : tile + 1, ahead);
#pragma unroll 8
        for (tmap_u32 k = 0; k < 32; ++k) {
            tmap_u32 *const at = &shared[lane][left ? 31 - k : k];
            const tmap_u32 before = *at;
            const tmap_u32 word = left ? tmapi_slides_line_left(before, carry)
                                       : tmapi_slides_line_right(before, carry);
            *at = word, here |= word ^ before;
            carry = left ? word & 1 : word >> 24 & 1;
        }
        rows = __ballot_sync(0xffffffffu, here != 0); // that have changed
        changed |= rows;
        for (; rows; rows &= rows - 1) {
            const tmap_u32 k = (tmap_u32)__ffs((int)rows) - 1;
            s->words[(y + k) * s->pitch + tile * 32 + lane] = shared[k][lane];
        }
        __syncwarp();
    }
    return changed != 0;
}

static __global__ void __launch_bounds__(32)
    tmapi_slides_line_rows(tmapi_slides_state s, tmap_u32 round) {
    __shared__ tmap_u32 shared[32][33];
    int changed;
    if (!tmapi_slides_round(&s, round, 0)) return;
    changed = tmapi_slides_line_sweep(&s, blockIdx.x * 32ull, 0, shared);
    changed |= tmapi_slides_line_sweep(&s, blockIdx.x * 32ull, 1, shared);
    if (changed && threadIdx.x == 0) tmapi_slides_again(&s, round);
}

// Launches a round: both lines, there and back.
static inline cudaError_t tmapi_slides_line_round(const tmapi_slides_state *s, tmap_u32 round,
                                                  cudaStream_t stream) {
    void *arguments[] = {(void *)s, &round};
    cudaError_t error =
        cudaLaunchKernel((const void *)tmapi_slides_line_columns, dim3((unsigned)s->tiles_x),
                         dim3(32), arguments, 0, stream);
    if (error) return error;
    return cudaLaunchKernel((const void *)tmapi_slides_line_rows, dim3((unsigned)(s->tiles_y * 4)),
                            dim3(32), arguments, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
