// SPDX-License-Identifier: MIT
// olt_blocks.h: insertion into an offset lookup table (adaptive/olt.h) by prefix sums:
//
//                                    atomics                  order of the entries
//     tmap_olt_insert_block          one a block              any; by threads within a block
//     tmap_olt_insert_ordered        none, a chain of blocks  that of the threads: deterministic
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5.3: the per-block prefix sum that it suggests, and
// its full prefix sum. They store and return the same as tmap_olt_insert_warp.
#ifndef TMAP_PAPERS_OLT_BLOCKS_H
#define TMAP_PAPERS_OLT_BLOCKS_H

#include "../adaptive/olt.h"

#if TMAP_CUDA

// Returns the number of threads of the block before this one with want != 0, and in *all the number
// in the block. Collective for the block, of any shape. scratch: 33 words of shared memory, free
// again after the next __syncthreads(). Cost: a ballot and two barriers.
TMAP_DEVICE tmap_u32 tmap_olt_rank_block(int want, tmap_u32 *scratch, tmap_u32 *all) {
    const tmap_warp w = tmap_warp_self();
    const tmap_u32 warp = tmap_thread_rank() / 32;
    const tmap_u32 warps = tmapi_block_warps();
    tmap_u32 wanting = __ballot_sync(w.mask, want);
    if (w.lane == 0) scratch[warp] = (tmap_u32)__popc(wanting);
    __syncthreads();
    if (warp == 0 && w.lane == 0) { // at most 32 warps
        tmap_u32 sum = 0;
        for (tmap_u32 i = 0; i < warps; ++i) {
            const tmap_u32 n = scratch[i];
            scratch[i] = sum, sum += n;
        }
        scratch[32] = sum;
    }
    __syncthreads();
    *all = scratch[32];
    return scratch[warp] + (tmap_u32)__popc(wanting & ((1u << w.lane) - 1));
}

// Inserts the values of a block's threads with want != 0. Collective for the block. scratch: 36
// words of shared memory at a multiple of 8 bytes, free again after the next __syncthreads(). Cost:
// tmap_olt_rank_block, an atomic and a barrier.
TMAP_DEVICE int tmap_olt_insert_block(tmap_olt t, int want, tmap_u64 value, tmap_u32 *scratch) {
    tmap_u64 *first = (tmap_u64 *)(scratch + 34);
    tmap_u32 all, rank = tmap_olt_rank_block(want, scratch, &all);
    if (tmap_thread_rank() == 0) *first = all ? atomicAdd(t.count, (tmap_u64)all) : 0;
    __syncthreads();
    return tmapi_olt_store(t, *first + rank, want, value);
}

// ---- ordered insertion --------------------------------------------------------------------------
//
// Candidates are processed in tiles, one for each turn of a block. The entries are in the order of
// the tiles, and of the threads within a tile, in any order of blocks. A block takes its tiles from
// a ticket, so the block of the previous tile has begun, and adds its count to a running total:
//
//     while ((tile = tmap_olt_tile(ticket, scratch)) < tiles)
//         tmap_olt_insert_ordered(t, chain, tile, want, value, scratch);

// Returns the number of the next tile, in all threads of the block; a barrier before and after.
// ticket: a word of device memory, 0 at first. scratch: as below.
TMAP_DEVICE tmap_u32 tmap_olt_tile(tmap_u32 *ticket, tmap_u32 *scratch) {
    __syncthreads();
    if (tmap_thread_rank() == 0) scratch[33] = atomicAdd(ticket, 1u);
    __syncthreads();
    return scratch[33];
}

// Inserts the values of a block's threads, in order of tiles. Collective for the block; each tile
// once. chain: a word of device memory for each tile, 0 at first; fewer than 2^63 insertions.
// scratch: as for tmap_olt_insert_block. Cost: as tmap_olt_insert_block; also, each tile waits for
// the previous one.
TMAP_DEVICE int tmap_olt_insert_ordered(tmap_olt t, tmap_u64 *chain, tmap_u32 tile, int want,
                                        tmap_u64 value, tmap_u32 *scratch) {
    const tmap_u64 known = 1ull << 63;
    tmap_u64 *first = (tmap_u64 *)(scratch + 34);
    tmap_u32 all, rank = tmap_olt_rank_block(want, scratch, &all);
    if (tmap_thread_rank() == 0) {
        tmap_u64 before = known;
        while (tile && !((before = atomicAdd(&chain[tile - 1], 0ull)) & known)) {
        }
        *first = before & ~known;
        atomicExch(&chain[tile], before + all);
        if (all) atomicAdd(t.count, (tmap_u64)all);
    }
    __syncthreads();
    return tmapi_olt_store(t, *first + rank, want, value);
}

#endif // TMAP_CUDA
#endif
