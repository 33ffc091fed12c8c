// SPDX-License-Identifier: MIT
// olt.h: offset lookup tables (OLT): the regions of a level, one 64-bit scalar each (region.h),
// which all threads of a grid insert concurrently and without gaps.
//
//     slot = count++                                stored if slot < capacity, else refused
//     stored = min(count, capacity)     refused = max(count - capacity, 0)
//
// The count remains on the device, so no level waits for the host. A refused insertion returns 0;
// the caller must then do the region's work in another way. Functions for a warp use no shared
// memory. papers/olt_blocks.h inserts by blocks.
//
// Source: Quezada, Navarro, Romero, Aguilera, "Modeling GPU dynamic parallelism for self similar
// density workloads", FGCS 145 (2023), section 5.3.
#ifndef TMAP_ADAPTIVE_OLT_H
#define TMAP_ADAPTIVE_OLT_H

#include "region.h"
#include "../warp.h"

#if TMAP_CUDA

// An offset lookup table. All pointers are device memory.
typedef struct tmap_olt {
    tmap_u64 *entries;
    tmap_u64 *count; // requested insertions, refused ones included; 0 before the first
    tmap_u64 capacity;
} tmap_olt;

// Number of entries in a table, for kernels launched after the one that filled it.
TMAP_DEVICE tmap_u64 tmap_olt_stored(tmap_olt t) {
    const tmap_u64 count = *(volatile const tmap_u64 *)t.count;
    return count < t.capacity ? count : t.capacity;
}

// Number of insertions that a table refused.
TMAP_DEVICE tmap_u64 tmap_olt_refused(tmap_olt t) {
    tmap_u64 count = *(volatile const tmap_u64 *)t.count;
    return count < t.capacity ? 0 : count - t.capacity;
}

// ---- slots --------------------------------------------------------------------------------------

// Returns the next slot of a counter for each lane with want != 0, in the order of lanes; other
// lanes get an unspecified number. Collective for the warp. Cost: an atomic.
TMAP_DEVICE tmap_u64 tmap_olt_slot_warp(tmap_warp w, tmap_u64 *count, int want) {
    tmap_u32 wanting = __ballot_sync(w.mask, want);
    tmap_u64 first = 0;
    if (w.lane == 0 && wanting) first = atomicAdd(count, (tmap_u64)__popc(wanting));
    first = __shfl_sync(w.mask, first, 0);
    return first + (tmap_u32)__popc(wanting & ((1u << w.lane) - 1));
}

TMAP_DEVICE int tmapi_olt_store(tmap_olt t, tmap_u64 slot, int want, tmap_u64 value) {
    int fits = want && slot < t.capacity;
    if (fits) t.entries[slot] = value;
    return fits;
}

// ---- insertion ----------------------------------------------------------------------------------
//
// value: any scalar. want: 0 for a thread that has nothing to insert. Both functions return 1 if
// the value was stored, 0 if it was refused or not wanted.

// Inserts a value from the calling thread alone, as in the paper. Cost: an atomic. Example: an
// empty table of capacity 2, values 7, 8, 9: stored {7, 8}; the third call returns 0; count = 3.
TMAP_DEVICE int tmap_olt_insert(tmap_olt t, tmap_u64 value) {
    return tmapi_olt_store(t, atomicAdd(t.count, 1ull), 1, value);
}

// Inserts the values of all lanes of a warp with want != 0, in their order. Collective for the
// warp. Cost: an atomic.
TMAP_DEVICE int tmap_olt_insert_warp(tmap_warp w, tmap_olt t, int want, tmap_u64 value) {
    return tmapi_olt_store(t, tmap_olt_slot_warp(w, t.count, want), want, value);
}

#endif // TMAP_CUDA
#endif
