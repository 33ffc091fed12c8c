// SPDX-License-Identifier: MIT
// test_olt: the four ways of inserting into an offset lookup table, in grids and blocks of many
// shapes, with room for all and for fewer: what is stored is what was wanted, each once, without
// gaps; each refusal is told to its caller and counted; the ordered form is sorted.
#include "kit.h"
#include <threadmap/papers/olt_blocks.h>

enum { ONE, WARP, BLOCK, ORDERED, FORMS, MOST = 1 << 16 };
static const char *const names[FORMS] = {"one", "warp", "block", "ordered"};

// Candidate i wants a place if its hash says so: about one in `rarity`; rarity 0: none.
TMAP_FN int wanted(tmap_u32 i, tmap_u32 rarity) {
    tmap_u32 h = i * 2654435761u;
    return rarity && (h ^ h >> 15) % rarity == 0;
}

// Candidates are taken in turns by the whole grid; the value of candidate i is i + 2^40. told[i]: 1
// if it was stored, 0 if not.
static __global__ void insert(int form, tmap_olt t, tmap_u32 candidates, tmap_u32 rarity,
                              tmap_u32 *ticket, tmap_u64 *chain, unsigned char *told) {
    __shared__ __align__(8) tmap_u32 scratch[36];
    tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z, rank = tmap_thread_rank();
    tmap_u32 tiles = (candidates + threads - 1) / threads, tile = blockIdx.x;
    tmap_warp w = tmap_warp_self();
    if (form == ORDERED) tile = tmap_olt_tile(ticket, scratch);
    while (tile < tiles) {
        tmap_u32 i = tile * threads + rank;
        int want = i < candidates && wanted(i, rarity), stored = 0;
        tmap_u64 value = i + (1ull << 40);
        if (form == ONE && want) stored = tmap_olt_insert(t, value);
        if (form == WARP) stored = tmap_olt_insert_warp(w, t, want, value);
        if (form == BLOCK) {
            stored = tmap_olt_insert_block(t, want, value, scratch);
            __syncthreads();
        }
        if (form == ORDERED) stored = tmap_olt_insert_ordered(t, chain, tile, want, value, scratch);
        if (i < candidates) told[i] = (unsigned char)stored;
        tile = form == ORDERED ? tmap_olt_tile(ticket, scratch) : tile + gridDim.x;
    }
}

static __global__ void sizes(tmap_olt t, tmap_u64 *out) {
    out[0] = tmap_olt_stored(t);
    out[1] = tmap_olt_refused(t);
}

static void run(int form, unsigned candidates, unsigned rarity, unsigned capacity, unsigned grid,
                dim3 block) {
    static unsigned char seen[MOST];
    tmap_u64 *entries_d = (tmap_u64 *)kit_filled((capacity + 1) * sizeof(tmap_u64), 0x5a);
    tmap_u64 *chain = (tmap_u64 *)kit_filled(MOST * sizeof(tmap_u64), 0);
    tmap_u64 *count = (tmap_u64 *)kit_filled(3 * sizeof(tmap_u64), 0);
    tmap_u32 *ticket = (tmap_u32 *)kit_filled(sizeof(tmap_u32), 0);
    unsigned char *told_d = (unsigned char *)kit_filled(MOST, 0x5a);
    unsigned want = 0, bad = 0, out_of_order = 0;
    tmap_olt t;
    t.entries = entries_d, t.count = count, t.capacity = capacity;
    insert<<<grid, block>>>(form, t, candidates, rarity, ticket, chain, told_d);
    CHECK(cudaGetLastError());
    sizes<<<1, 1>>>(t, count + 1);
    CHECK(cudaGetLastError());
    const tmap_u64 *entries =
        (const tmap_u64 *)kit_to_host(entries_d, (capacity + 1) * sizeof(tmap_u64));
    const unsigned char *told = (const unsigned char *)kit_to_host(told_d, MOST);
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < candidates; ++i) want += wanted(i, rarity) != 0;
    const unsigned stored = want < capacity ? want : capacity;
    kit_case("%s, %u candidates, capacity %u, block %ux%ux%u", names[form], candidates, capacity,
             block.x, block.y, block.z);
    expect(kit_number(count + 1) == stored, "stored");
    expect(kit_number(count + 2) == want - stored, "refused");
    for (unsigned i = 0; i < stored; ++i) {
        tmap_u64 v = entries[i] - (1ull << 40);
        if (v >= candidates || !wanted((tmap_u32)v, rarity) || seen[v]++)
            ++bad;
        else
            bad += told[v] != 1;
        out_of_order += i && entries[i] <= entries[i - 1];
    }
    for (unsigned i = 0; i < candidates; ++i) bad += told[i] != seen[i];
    expect(bad == 0, "entries");
    expect(entries[capacity] == 0x5a5a5a5a5a5a5a5aull, "beyond the table");
    // The first `capacity` that are wanted, in their order: known without running anything else.
    if (form == ORDERED) {
        unsigned at = 0;
        for (unsigned i = 0; i < candidates && at < stored; ++i)
            if (wanted(i, rarity)) out_of_order += entries[at++] != i + (1ull << 40);
        expect(out_of_order == 0, "order");
    }
    kit_release(0);
}

int main(void) {
    const unsigned candidates[] = {0, 1, 31, 33, 1000, 20000};
    const unsigned rarities[] = {0, 1, 3, 40};
    const dim3 blocks[] = {dim3(32, 1, 1),  dim3(1, 1, 1),   dim3(7, 3, 2),
                           dim3(100, 1, 1), dim3(16, 16, 1), dim3(1024, 1, 1)};
    kit_begin();
    for (int form = 0; form < FORMS; ++form)
        for (unsigned c = 0; c < (kit_small ? 5u : 6u); ++c)
            for (unsigned r = 0; r < 4; ++r)
                for (unsigned b = 0; b < 6; ++b) {
                    if (!check_turn()) continue;
                    run(form, candidates[c], rarities[r], MOST, 5, blocks[b]);
                    run(form, candidates[c], rarities[r], 20, 3, blocks[b]);
                    run(form, candidates[c], rarities[r], 0, 2, blocks[b]);
                }
    return kit_end("test_olt");
}
