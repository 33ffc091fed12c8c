// SPDX-License-Identifier: MIT
// flood_tiles.h: the tiled moving line of the lecture slides: tiles that water has come to since
// they were last looked at are brought to shared memory, where the moving line goes through them
// until nothing changes; tiles without newly flooded neighbours are left out.
//
// A round reads the tiles from an offset lookup table (adaptive/olt.h), and those that they have
// sent water to are put into the table of the next round. With the special code for tiles wholly
// above or under the level, none of the former is put into a table, and one of the latter is
// flooded as a whole as soon as water comes to it, without being read.
#ifndef TMAP_RIVALS_FLOOD_TILES_H
#define TMAP_RIVALS_FLOOD_TILES_H

#include "flood_line.h"

#if TMAP_CUDA && !TMAP_NVRTC

#define TMAPI_SLIDES_TILES_THREADS 128u // one for each row; a warp for each 32 rows of columns

// A tile in shared memory with what is around it: row 0 is the last one of the tile above, word 0
// of a row the last one of the tile to the left. 35 words, so that 32 rows are in as many banks.
typedef struct tmapi_slides_tile {
    tmap_u32 row[TMAPI_SLIDES_SIDE + 2][35];
    tmap_u32 reached; // a bit for each tile around that water has been sent to, by rows
} tmapi_slides_tile;

// Fetches a tile and what is around it.
TMAP_DEVICE void tmapi_slides_tiles_fetch(const tmapi_slides_state *s, tmap_u64 tile_x,
                                          tmap_u64 tile_y, tmapi_slides_tile *tile) {
    const tmap_u32 lane = threadIdx.x % 32;
    const tmap_u64 column = tile_x * 32 + lane;
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE + 2; row += 4) {
        const int there =
            (row > 0 || tile_y > 0) && (row <= TMAPI_SLIDES_SIDE || tile_y + 1 < s->tiles_y);
        const tmap_u32 *at = s->words;
        if (there) at += (tile_y * TMAPI_SLIDES_SIDE + row - 1) * s->pitch + column;
        tile->row[row][lane + 1] = there ? *(volatile const tmap_u32 *)at : 0;
        if (lane == 0)
            tile->row[row][0] = there && tile_x > 0 ? *(volatile const tmap_u32 *)(at - 1) : 0;
        if (lane == 31)
            tile->row[row][33] =
                there && tile_x + 1 < s->tiles_x ? *(volatile const tmap_u32 *)(at + 1) : 0;
    }
}

// A warp's line goes down or up through its 32 rows. up, eight: constants. Returns 1 if a cell was
// flooded. Collective for the block.
TMAP_DEVICE int tmapi_slides_tiles_rows(tmapi_slides_tile *tile, int up, int eight) {
    const tmap_u32 lane = threadIdx.x % 32, first = threadIdx.x / 32 * 32 + (up ? 32 : 1);
    const tmap_u32 before = up ? first + 1 : first - 1, edge = lane == 31 ? 33 : 0;
    tmap_u32 c = tile->row[before][lane + 1] & TMAPI_SLIDES_ONES, changed = 0;
    tmap_u32 aside = tile->row[before][edge] & TMAPI_SLIDES_ONES;
    __syncthreads(); // all know what is before their rows
#pragma unroll 8
    for (tmap_u32 k = 0; k < 32; ++k) {
        const tmap_u32 row = up ? first - k : first + k, old = tile->row[row][lane + 1];
        tmap_u32 word;
        if (eight) {
            tmap_u32 left = __shfl_up_sync(0xffffffffu, c, 1);
            tmap_u32 right = __shfl_down_sync(0xffffffffu, c, 1);
            if (lane == 0) left = aside;
            if (lane == 31) right = aside;
            c = tmapi_slides_line_spread(c, left, right);
            aside = tile->row[row][edge] & TMAPI_SLIDES_ONES;
        }
        word = tmapi_slides_line_wet(old, c);
        if (word != old) tile->row[row][lane + 1] = word, changed = 1;
        c = word & TMAPI_SLIDES_ONES;
    }
    __syncthreads();
    return (int)changed;
}

// A thread's row, to the right and back.
TMAP_DEVICE int tmapi_slides_tiles_columns(tmapi_slides_tile *tile) {
    tmap_u32 *const row = tile->row[threadIdx.x + 1];
    tmap_u32 carry = row[0] >> 24 & 1, changed = 0;
#pragma unroll 8
    for (tmap_u32 k = 1; k <= 32; ++k) {
        const tmap_u32 word = tmapi_slides_line_right(row[k], carry);
        changed |= word ^ row[k], row[k] = word;
        carry = word >> 24 & 1;
    }
    carry = row[33] & 1;
#pragma unroll 8
    for (tmap_u32 k = 32; k >= 1; --k) {
        const tmap_u32 word = tmapi_slides_line_left(row[k], carry);
        changed |= word ^ row[k], row[k] = word;
        carry = word & 1;
    }
    return changed != 0;
}

// The moving line until nothing changes. Returns 1 if anything did. Collective for the block.
TMAP_DEVICE int tmapi_slides_tiles_settle(tmapi_slides_tile *tile, int eight) {
    int changed, any = 0;
    do {
        if (eight) {
            changed = tmapi_slides_tiles_rows(tile, 0, 1);
            changed |= tmapi_slides_tiles_rows(tile, 1, 1);
        } else {
            changed = tmapi_slides_tiles_rows(tile, 0, 0);
            changed |= tmapi_slides_tiles_rows(tile, 1, 0);
        }
        changed |= tmapi_slides_tiles_columns(tile);
        changed = __syncthreads_or(changed);
        any |= changed;
    } while (changed);
    return any;
}

// A bit for each tile around, bit 3 (dy + 1) + dx + 1, that touches newly flooded cells of a word:
// bits 0 of the bytes of `news`.
TMAP_DEVICE tmap_u32 tmapi_slides_tiles_reached(tmap_u32 row, tmap_u32 lane, tmap_u32 news) {
    const int left = lane == 0 && (news & 1), right = lane == 31 && news >> 24;
    tmap_u32 reached = (left ? 1u << 3 : 0) | (right ? 1u << 5 : 0);
    if (!news) return 0;
    if (row == 0) reached |= 1u << 1 | (left ? 1u << 0 : 0) | (right ? 1u << 2 : 0);
    if (row == TMAPI_SLIDES_SIDE - 1)
        reached |= 1u << 7 | (left ? 1u << 6 : 0) | (right ? 1u << 8 : 0);
    return reached;
}

// Stores what has changed in a tile; tile->reached gets the tiles around that this concerns. In the
// first round cells of sources count as newly flooded. Collective for the block.
TMAP_DEVICE void tmapi_slides_tiles_store(const tmapi_slides_state *s, tmap_u64 tile_x,
                                          tmap_u64 tile_y, int sources, tmapi_slides_tile *tile) {
    const tmap_u32 lane = threadIdx.x % 32;
    tmap_u32 reached = 0;
    if (threadIdx.x == 0) tile->reached = 0;
    __syncthreads();
#pragma unroll 4
    for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE; row += 4) {
        tmap_u32 *const at =
            s->words + (tile_y * TMAPI_SLIDES_SIDE + row) * s->pitch + tile_x * 32 + lane;
        const tmap_u32 word = tile->row[row + 1][lane + 1];
        tmap_u32 old = *at;
        if (sources) old &= 2 * TMAPI_SLIDES_ONES;
        if (word == old) continue;
        *at = word;
        reached |= tmapi_slides_tiles_reached(row, lane, word ^ old);
    }
    if (reached) atomicOr(&tile->reached, reached);
    __syncthreads();
}

// The tiles around that are marked in `reached` go into the table of the next round, each by one of
// the first nine threads.
TMAP_DEVICE void tmapi_slides_tiles_send(const tmapi_slides_state *s, tmap_u64 tile_x,
                                         tmap_u64 tile_y, tmap_u32 reached, tmap_u32 round) {
    const tmap_u32 k = threadIdx.x;
    const tmap_u64 x = tile_x + k % 3 - 1, y = tile_y + k / 3 - 1;
    const int corner = k % 2 == 0; // and the tile itself
    if (k >= 9 || k == 4 || !(reached >> k & 1) || x >= s->tiles_x || y >= s->tiles_y) return;
    if (corner && s->map.connectivity == 4) return;
    if (s->by_kinds) {
        const unsigned char kind = ((volatile const unsigned char *)s->kinds)[y * s->tiles_x + x];
        if (kind == TMAPI_SLIDES_ALL_DRY || kind == TMAPI_SLIDES_ALL_FLOODED) return;
    }
    tmapi_slides_queue(s, round + 1, y * s->tiles_x + x);
}

// Floods a tile that is wet all over.
TMAP_DEVICE void tmapi_slides_tiles_whole(const tmapi_slides_state *s, tmap_u64 tile_x,
                                          tmap_u64 tile_y) {
#pragma unroll 8
    for (tmap_u32 row = threadIdx.x / 32; row < TMAPI_SLIDES_SIDE; row += 4)
        s->words[(tile_y * TMAPI_SLIDES_SIDE + row) * s->pitch + tile_x * 32 + threadIdx.x % 32] =
            3 * TMAPI_SLIDES_ONES;
    if (threadIdx.x == 0)
        ((volatile unsigned char *)s->kinds)[tile_y * s->tiles_x + tile_x] =
            TMAPI_SLIDES_ALL_FLOODED;
}

static __global__ void __launch_bounds__(TMAPI_SLIDES_TILES_THREADS)
    tmapi_slides_tiles(tmapi_slides_state s, tmap_u32 round) {
    __shared__ tmapi_slides_tile tile;
    const tmap_olt table = tmapi_slides_table(&s, round);
    const tmap_u64 count = tmap_olt_stored(table);
    if (!tmapi_slides_round(&s, round, 1)) return;
    for (tmap_u64 i = blockIdx.x; i < count; i += gridDim.x) {
        const tmap_u64 number = table.entries[i], y = number / s.tiles_x;
        const tmap_u64 x = number - y * s.tiles_x;
        const unsigned char kind = s.by_kinds ? s.kinds[number] : (unsigned char)TMAPI_SLIDES_MIXED;
        if (kind == TMAPI_SLIDES_ALL_FLOODED) continue; // in the round in which it was sent for
        if (kind == TMAPI_SLIDES_ALL_WET) {
            __syncthreads(); // all have read the kind
            tmapi_slides_tiles_whole(&s, x, y);
            tmapi_slides_tiles_send(&s, x, y, 0x1ffu, round);
            continue;
        }
        tmapi_slides_tiles_fetch(&s, x, y, &tile);
        __syncthreads();
        // Either ends with a barrier behind the last look at the tile's rows.
        if (tmapi_slides_tiles_settle(&tile, s.map.connectivity == 8) || round == 0) {
            tmapi_slides_tiles_store(&s, x, y, round == 0, &tile);
            tmapi_slides_tiles_send(&s, x, y, tile.reached, round);
        }
    }
}

// Launches a round: blocks that take tiles by turns, `blocks` of them or fewer.
static inline cudaError_t tmapi_slides_tiles_round(const tmapi_slides_state *s, tmap_u32 round,
                                                   unsigned blocks, cudaStream_t stream) {
    void *arguments[] = {(void *)s, &round};
    return cudaLaunchKernel((const void *)tmapi_slides_tiles,
                            dim3(s->tiles < blocks ? (unsigned)s->tiles : blocks),
                            dim3(TMAPI_SLIDES_TILES_THREADS), arguments, 0, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
