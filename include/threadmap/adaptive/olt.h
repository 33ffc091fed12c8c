// SPDX-License-Identifier: MIT
// olt.h: offset lookup tables (OLT): the regions of a level, one 64-bit scalar each (region.h),
// into which all threads of a grid insert at once and without gaps.
//
//     slot = count++                                stored if slot < capacity, else refused
//     stored = min(count, capacity)     refused = max(count - capacity, 0)
//
// The count stays on the device, so that no level waits for the host. A refused insertion returns
// 0; its caller must do the region's work by other means. Four ways to insert store the same set:
//
//                                    atomics                  order of the entries
//     tmap_olt_insert                one a region             any
//     tmap_olt_insert_warp           one a warp               any; by lanes within a warp
//     tmap_olt_insert_block          one a block              any; by threads within a block
//     tmap_olt_insert_ordered        none, a chain of blocks  that of the threads: deterministic
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5.3: the first is the paper's, the third the
// per-block prefix sum that it suggests, the fourth its full prefix sum.
#ifndef TMAP_ADAPTIVE_OLT_H
#define TMAP_ADAPTIVE_OLT_H

#include "region.h"
#include "../warp.h"

#if TMAP_CUDA

// One table; all pointers to device memory.
typedef struct tmap_olt {
    tmap_u64 *entries;
    tmap_u64 *count; // insertions asked for, refused ones too; 0 before the first
    tmap_u64 capacity;
} tmap_olt;

// The entries in a table. For kernels launched after the one that filled it.
TMAP_DEVICE tmap_u64 tmap_olt_stored(tmap_olt t) {
    const tmap_u64 count = *(volatile const tmap_u64 *)t.count;
    return count < t.capacity ? count : t.capacity;
}

// The insertions that a table refused.
TMAP_DEVICE tmap_u64 tmap_olt_refused(tmap_olt t) {
    tmap_u64 count = *(volatile const tmap_u64 *)t.count;
    return count < t.capacity ? 0 : count - t.capacity;
}

// ---- slots --------------------------------------------------------------------------------------

// The next slot of a counter for each lane with want != 0, in the order of lanes; another lane gets
// some number. Collective for the warp.
TMAP_DEVICE tmap_u64 tmap_olt_slot_warp(tmap_warp w, tmap_u64 *count, int want) {
    tmap_u32 wanting = __ballot_sync(w.mask, want);
    tmap_u64 first = 0;
    if (w.lane == 0 && wanting) first = atomicAdd(count, (tmap_u64)__popc(wanting));
    first = __shfl_sync(w.mask, first, 0);
    return first + (tmap_u32)__popc(wanting & ((1u << w.lane) - 1));
}

// How many threads of the block before this one have want != 0; *all becomes how many of the whole
// block do. Collective for the block, of any shape. scratch: 33 words of shared memory, free again
// after the next __syncthreads(). Cost: a ballot and two barriers.
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

TMAP_DEVICE int tmapi_olt_store(tmap_olt t, tmap_u64 slot, int want, tmap_u64 value) {
    int fits = want && slot < t.capacity;
    if (fits) t.entries[slot] = value;
    return fits;
}

// ---- insertion ----------------------------------------------------------------------------------
//
// value: any scalar. want: 0 for a thread that has nothing to insert. All return 1 if the value was
// stored, 0 if it was refused or not wanted.

// By the calling thread alone.
// Example: an empty table of capacity 2, values 7, 8, 9: stored {7, 8}; the third call returns 0;
// count = 3.
TMAP_DEVICE int tmap_olt_insert(tmap_olt t, tmap_u64 value) {
    return tmapi_olt_store(t, atomicAdd(t.count, 1ull), 1, value);
}

// By all lanes of a warp together.
TMAP_DEVICE int tmap_olt_insert_warp(tmap_warp w, tmap_olt t, int want, tmap_u64 value) {
    return tmapi_olt_store(t, tmap_olt_slot_warp(w, t.count, want), want, value);
}

// By all threads of a block together. scratch: 36 words of shared memory at a multiple of 8 bytes,
// free again after the next __syncthreads().
TMAP_DEVICE int tmap_olt_insert_block(tmap_olt t, int want, tmap_u64 value, tmap_u32 *scratch) {
    tmap_u64 *first = (tmap_u64 *)(scratch + 34);
    tmap_u32 all, rank = tmap_olt_rank_block(want, scratch, &all);
    if (tmap_thread_rank() == 0) *first = all ? atomicAdd(t.count, (tmap_u64)all) : 0;
    __syncthreads();
    return tmapi_olt_store(t, *first + rank, want, value);
}

// ---- ordered insertion --------------------------------------------------------------------------
//
// Candidates come in tiles, one for each turn of a block. The entries have the order of the tiles,
// and of the threads within a tile, in whatever order blocks run. A block takes its tiles from a
// ticket, so that the block of the tile before has begun, and adds its count to a running total:
//
//     while ((tile = tmap_olt_tile(ticket, scratch)) < tiles)
//         tmap_olt_insert_ordered(t, chain, tile, want, value, scratch);

// The number of the next tile, in all threads of the block; a barrier before and after. ticket: a
// word of device memory, 0 at first. scratch: as below.
TMAP_DEVICE tmap_u32 tmap_olt_tile(tmap_u32 *ticket, tmap_u32 *scratch) {
    __syncthreads();
    if (tmap_thread_rank() == 0) scratch[33] = atomicAdd(ticket, 1u);
    __syncthreads();
    return scratch[33];
}

// By all threads of a block together, each tile once. chain: a word of device memory for each tile,
// 0 at first; fewer than 2^63 insertions. scratch: as for tmap_olt_insert_block, whose cost is this
// one's, too; besides, the tiles wait for each other one by one.
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
