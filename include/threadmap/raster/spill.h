// SPDX-License-Identifier: MIT
// spill.h: the level at which each cell of a height map floods: the lowest level at which water
// from the outlets reaches it. One call answers all levels. Hydrologists call it filling of
// depressions.
//
//     level(c) = min over paths from an outlet to c of the path's highest cell, both ends counted
//
// A path goes from a cell to one of its 4 neighbours (over edges), or of its 8 (over corners too).
// Outlets are cells of the map's border, cells that touch NODATA, and cells of a mask. A cell is
// part of the flood of flood.h from all outlets at a level L if level(c) < L.
//
//     const tmap_raster_map map = {width, height, width, 0, 0, TMAP_RASTER_F32, 8};
//     tmap_spill_plan plan;
//     tmap_spill_plan_make(&map, TMAP_SPILL_LEVEL, TMAP_SPILL_BORDER, &plan);
//     cudaMalloc(&workspace, plan.workspace);
//     tmap_spill(&plan, heights, 0, workspace, levels, stream);
//
// Sources: the division into tiles whose borders a graph of their own joins is that of R.
// Barnes, "Parallel priority-flood depression filling for trillion cell digital elevation models
// on desktops or clusters", Computers & Geosciences 96, 2016. Here a tile is solved by the
// rounds of O. Boruvka, 1926, as all tiles together are: each basin joins the neighbour over its
// lowest saddle.
//
// Launches: one that solves tiles, three for each round, and one that writes. Launches of rounds
// that have nothing to join return at once.
#ifndef TMAP_RASTER_SPILL_H
#define TMAP_RASTER_SPILL_H

#include "spill_tile.h"

// Makes the plan of tmap_spill_plan_make from the facts of a device.
// map: its ranges are in raster/map.h; type: TMAP_RASTER_I16, _I32 or _F32. form: TMAP_SPILL_LEVEL
// or _DEPTH. outlets: a sum of TMAP_SPILL_BORDER and _NODATA, or 0 for a mask alone.
// plan->workspace: about 2.2 bytes a cell; 16384 x 16384 cells: 596 MB. Writes *plan only on
// success. Returns TMAP_EINVAL for a null pointer and an argument outside its range, or a device
// whose blocks have less than 49200 bytes of shared memory; TMAP_ERANGE for a map of 2^25 tiles of
// 64 x 64 cells or more, about 10^11 cells.
TMAP_FN int tmap_spill_plan_of(const tmap_raster_map *map, int form, int outlets,
                               const tmap_facts *facts, tmap_spill_plan *plan) {
    tmap_spill_plan p;
    tmap_u64 tiles, end = 0;
    if (!tmapi_raster_valid(map, TMAP_RASTER_I16, TMAP_RASTER_F32) || form < TMAP_SPILL_LEVEL ||
        form > TMAP_SPILL_DEPTH || outlets < 0 ||
        outlets > (TMAP_SPILL_BORDER | TMAP_SPILL_NODATA) || !facts || !plan ||
        facts->device.block_shared < tmapi_spill_bytes(map->connectivity))
        return TMAP_EINVAL;
    p.map = *map, p.form = form, p.outlets = outlets;
    p.tiles_x = (tmap_u32)((map->width + TMAPI_SPILL_SIDE - 1) / TMAPI_SPILL_SIDE);
    p.tiles_y = (tmap_u32)((map->height + TMAPI_SPILL_SIDE - 1) / TMAPI_SPILL_SIDE);
    tiles = tmapi_spill_tiles(&p);
    if (tiles >= 1u << 25) return TMAP_ERANGE; // nodes have numbers of 32 bits
    // A round leaves half of the components at most.
    for (p.rounds = 1; tiles * TMAPI_SPILL_NODES >> p.rounds; ++p.rounds) {
    }
    p.blocks = facts->device.processors * 16;
    tmapi_raster_part(&end, tiles * TMAPI_SPILL_CELLS); // nodes
    p.at_keys = tmapi_raster_part(&end, tiles * TMAPI_SPILL_RING * 4);
    p.at_numbers = tmapi_raster_part(&end, tiles * TMAPI_SPILL_RING);
    p.at_saddles = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 4);
    p.at_links = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES);
    p.at_parent = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 4);
    p.at_level = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 4);
    p.at_exits = tmapi_raster_part(&end, tiles * TMAPI_SPILL_NODES * 16);
    p.at_counts = tmapi_raster_part(&end, tiles);
    p.at_done = tmapi_raster_part(&end, tiles);
    p.at_hooked = tmapi_raster_part(&end, p.rounds * 4ull);
    p.workspace = end;
    *plan = p;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// ---- all tiles ----------------------------------------------------------------------------------
//
// The same rounds for the nodes of all tiles. Node 0 is outside: it joins no other one. Edges
// are the links in tiles, and neighbours of two tiles' rings, which are compared anew in each
// round until all of a tile's are within a component. An exit is one word of 64 bits: the saddle
// above and the neighbour below, so that one minimum finds both.

// The round's exits.
TMAP_DEVICE tmap_u64 *tmapi_spill_exits_of(const tmapi_spill *f, tmap_u32 round) {
    return f->exits + (round % 2 ? tmapi_spill_tiles(&f->plan) * TMAPI_SPILL_NODES : 0);
}

// 1 if the last round joined nothing.
TMAP_DEVICE int tmapi_spill_over(const tmapi_spill *f) {
    return f->round && !f->hooked[f->round - 1];
}

// The node of a number in a tile.
TMAP_DEVICE tmap_u32 tmapi_spill_node(tmap_u64 tile, tmap_u32 number) {
    return number ? (tmap_u32)(tile * TMAPI_SPILL_NODES) + number : 0;
}

// An edge between two nodes: lowers the exits of their components. Returns 0 within a component.
TMAP_DEVICE int tmapi_spill_edge(const tmapi_spill *f, tmap_u32 a, tmap_u32 b, tmap_u32 saddle) {
    tmap_u64 *exits = tmapi_spill_exits_of(f, f->round);
    const tmap_u32 up[2] = {f->parent[a], f->parent[b]};
    if (up[0] == up[1]) return 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const tmap_u64 exit = (tmap_u64)saddle << 32 | up[1 - i];
        if (up[i] && exit < *(volatile tmap_u64 *)(exits + up[i])) atomicMin(exits + up[i], exit);
    }
    return 1;
}

// The same between position p of a tile's ring and position q of another one's.
TMAP_DEVICE int tmapi_spill_seam(const tmapi_spill *f, tmap_u64 tile, tmap_u32 p, tmap_u64 other,
                                 tmap_u32 q) {
    const tmap_u64 i = tile * TMAPI_SPILL_RING + p, k = other * TMAPI_SPILL_RING + q;
    const tmap_u32 a = f->numbers[i], b = f->numbers[k];
    if (a >= TMAPI_SPILL_DRY || b >= TMAPI_SPILL_DRY) return 0;
    return tmapi_spill_edge(f, tmapi_spill_node(tile, a), tmapi_spill_node(other, b),
                            f->keys[i] > f->keys[k] ? f->keys[i] : f->keys[k]);
}

// The edges of a thread of 128 for a tile: the link of a node; a cell of the last column or row
// and its neighbours in the next tile; two corners. Returns 0 if all are within a component.
TMAP_DEVICE int tmapi_spill_tile_edges(const tmapi_spill *f, tmap_u64 tile) {
    const tmap_u32 across = f->plan.tiles_x, tx = (tmap_u32)(tile % across);
    const tmap_u32 last = TMAPI_SPILL_LAST, i = threadIdx.x % TMAPI_SPILL_SIDE;
    const tmap_u64 node = tile * TMAPI_SPILL_NODES + threadIdx.x;
    const int down = threadIdx.x >= TMAPI_SPILL_SIDE, eight = f->plan.map.connectivity == 8;
    const int right = tx + 1 < across, below = tile / across + 1 < f->plan.tiles_y;
    int open = 0;
    if (threadIdx.x && threadIdx.x <= f->counts[tile] && f->links[node] != TMAPI_SPILL_DRY)
        open = tmapi_spill_edge(f, tmapi_spill_node(tile, threadIdx.x),
                                tmapi_spill_node(tile, f->links[node]), f->saddles[node]);
    if (down ? below : right)
        for (tmap_u32 k = i - (eight && i); k <= i + (eight && i < last); ++k)
            open |=
                down ? tmapi_spill_seam(f, tile, 3 * last - i, tile + across, k)
                     : tmapi_spill_seam(f, tile, last + i, tile + 1, (4 * last - k) % (4 * last));
    if (eight && below && threadIdx.x == 0 && right)
        open |= tmapi_spill_seam(f, tile, 2 * last, tile + across + 1, 0);
    if (eight && below && threadIdx.x == TMAPI_SPILL_SIDE && tx)
        open |= tmapi_spill_seam(f, tile, 3 * last, tile + across - 1, last);
    return open;
}

// Finds the exits of components.
static __global__ void __launch_bounds__(TMAPI_SPILL_NODES)
    tmapi_spill_edges_kernel(tmapi_spill f) {
    const tmap_u64 tiles = tmapi_spill_tiles(&f.plan);
    if (tmapi_spill_over(&f)) return;
    for (tmap_u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (f.done[tile]) continue;
        const int open = __syncthreads_or(tmapi_spill_tile_edges(&f, tile));
        if (!open && threadIdx.x == 0) f.done[tile] = 1;
    }
}

// Joins components to the neighbours of their exits. Here and below a warp takes a tile.
static __global__ void __launch_bounds__(256) tmapi_spill_hook_kernel(tmapi_spill f) {
    const tmap_u64 tiles = tmapi_spill_tiles(&f.plan), *exits = tmapi_spill_exits_of(&f, f.round);
    int hooked = 0;
    if (tmapi_spill_over(&f)) return;
    for (tmap_u64 tile = (blockIdx.x * 256ull + threadIdx.x) / 32; tile < tiles;
         tile += gridDim.x * 8ull)
        for (tmap_u32 k = 1 + threadIdx.x % 32; k <= f.counts[tile]; k += 32) {
            const tmap_u32 node = tmapi_spill_node(tile, k), to = (tmap_u32)exits[node];
            if (exits[node] == ~0ull || (node < to && (tmap_u32)exits[to] == node)) continue;
            f.parent[node] = to, hooked = 1;
        }
    if (hooked) f.hooked[f.round] = 1;
}

// Raises the levels of nodes to the exits of their components, moves them to those that these were
// joined to, and clears the exits of the next round.
static __global__ void __launch_bounds__(256) tmapi_spill_move_kernel(tmapi_spill f) {
    const tmap_u64 tiles = tmapi_spill_tiles(&f.plan), *exits = tmapi_spill_exits_of(&f, f.round);
    tmap_u64 *next = tmapi_spill_exits_of(&f, f.round + 1);
    if (tmapi_spill_over(&f)) return;
    for (tmap_u64 tile = (blockIdx.x * 256ull + threadIdx.x) / 32; tile < tiles;
         tile += gridDim.x * 8ull)
        for (tmap_u32 k = 1 + threadIdx.x % 32; k <= f.counts[tile]; k += 32) {
            const tmap_u32 node = tmapi_spill_node(tile, k);
            // a component's own parent may be new already
            const tmap_u32 from = exits[node] != ~0ull ? node : __ldcg(f.parent + node);
            const tmap_u64 exit = exits[from];
            next[node] = ~0ull;
            if (exit == ~0ull) continue;
            if ((tmap_u32)(exit >> 32) > f.level[node]) f.level[node] = (tmap_u32)(exit >> 32);
            tmapi_forest_root(f.parent, node);
        }
}

// Writes the results of a tile: the higher one of the level at which a cell's water leaves the
// tile and that of its node.
static __global__ void __launch_bounds__(256) tmapi_spill_write_kernel(tmapi_spill f) {
    __shared__ tmap_u32 level[TMAPI_SPILL_NODES];
    const tmap_raster_map *map = &f.plan.map;
    const tmap_u64 left = (tmap_u64)(blockIdx.x % f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    const tmap_u64 top = (tmap_u64)(blockIdx.x / f.plan.tiles_x) * TMAPI_SPILL_SIDE;
    const tmap_u32 most = map->type == TMAP_RASTER_I16   ? 0x80007fffu // keys of +infinity
                          : map->type == TMAP_RASTER_F32 ? 0xff800000u
                                                         : TMAPI_SPILL_NONE;
    const int depth = f.plan.form == TMAP_SPILL_DEPTH, shorts = map->type == TMAP_RASTER_I16;
    if (threadIdx.x <= f.counts[blockIdx.x]) {
        const tmap_u32 node = tmapi_spill_node(blockIdx.x, threadIdx.x);
        level[threadIdx.x] = f.parent[node] ? most : f.level[node];
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < TMAPI_SPILL_CELLS; i += 256) {
        const tmap_u64 x = left + i % TMAPI_SPILL_SIDE, y = top + i / TMAPI_SPILL_SIDE;
        const tmap_u64 at = y * map->width + x;
        if (!(x < map->width && y < map->height)) continue;
        const tmap_u32 number = f.nodes[(tmap_u64)blockIdx.x * TMAPI_SPILL_CELLS + i];
        const int missing = number == TMAPI_SPILL_MISSING;
        tmap_u32 bits = 0, key = number < TMAPI_SPILL_DRY ? level[number] : most;
        if (missing || depth) bits = tmapi_spill_bits(&f, y * map->pitch + x);
        if (!missing) {
            const tmap_u32 within = shorts && !depth
                                        ? (tmap_u32)((const short *)f.out)[at] ^ 0x80000000u
                                        : ((const tmap_u32 *)f.out)[at];
            key = within > key ? within : key;
        }
        if (depth) {
            const int floats = map->type == TMAP_RASTER_F32;
            const tmap_u32 high = tmapi_spill_unkey(&f, key);
            const double low = floats ? tmapi_raster_double(__uint_as_float(bits)) : (int)bits;
            const double up = floats ? tmapi_raster_double(__uint_as_float(high)) : (int)high;
            const float deep = key >= most ? __uint_as_float(0x7f800000) // no water comes here
                                           : tmapi_raster_float(up - low);
            ((float *)f.out)[at] = missing || up == low ? 0.0f : deep;
            continue;
        }
        if (!missing) bits = tmapi_spill_unkey(&f, key);
        if (shorts)
            ((short *)f.out)[at] = (short)bits;
        else
            ((tmap_u32 *)f.out)[at] = bits;
    }
}

// ---- calls --------------------------------------------------------------------------------------

// Makes the plan of the spill levels of a map on the current device: tmap_spill_plan_of with its
// facts. Returns cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for
// TMAP_ERANGE, or the error of a device query. Cost: calls that do not wait for the device.
static inline cudaError_t tmap_spill_plan_make(const tmap_raster_map *map, int form, int outlets,
                                               tmap_spill_plan *plan) {
    tmap_facts facts;
    const cudaError_t error = tmap_facts_get((const void *)tmapi_spill_tile_kernel, &facts);
    return error ? error : tmapi_launch_error(tmap_spill_plan_of(map, form, outlets, &facts, plan));
}

// The argument of the kernels.
static inline tmapi_spill tmapi_spill_of(const tmap_spill_plan *plan, const void *heights,
                                         const void *mask, void *workspace, void *out) {
    const tmap_raster_map *map = &plan->map;
    unsigned char *at = (unsigned char *)workspace;
    tmapi_spill f;
    int nodata;
    f.plan = *plan, f.heights = heights, f.mask = (const unsigned char *)mask, f.out = out;
    f.has_nodata = tmapi_raster_nodata(map, &nodata), f.round = 0;
    if (map->type == TMAP_RASTER_F32) nodata = tmapi_raster_float_key((tmap_u32)nodata);
    f.nodata = (tmap_u32)nodata ^ 0x80000000u;
    f.nodes = at, f.keys = (tmap_u32 *)(at + plan->at_keys), f.numbers = at + plan->at_numbers;
    f.saddles = (tmap_u32 *)(at + plan->at_saddles), f.links = at + plan->at_links;
    f.parent = (tmap_u32 *)(at + plan->at_parent), f.level = (tmap_u32 *)(at + plan->at_level);
    f.exits = (tmap_u64 *)(at + plan->at_exits), f.counts = at + plan->at_counts;
    f.done = at + plan->at_done;
    f.hooked = (tmap_u32 *)(at + plan->at_hooked);
    return f;
}

// Writes the level at which each cell of a map floods: the lowest one at which water from an
// outlet reaches it. That of an outlet is its height. A cell of NODATA gets its value again, or
// depth 0. One that no water can reach gets the largest level of its type, or +infinity; as a depth
// +infinity, unless it is that high, as any cell of this level. -0 becomes 0.
// plan: that of the map, which says what outlets are. heights: of the map, device memory. mask:
// null, or a byte for each cell, width * height of them: outlets where it is not 0, except at
// NODATA. workspace: plan->workspace bytes at a multiple of 16, with any content. out: width *
// height heights or floats; all are written. All pointers are device memory and do not overlap;
// calls that run at the same time need one workspace each. A map without cells needs none of
// them: the call does nothing.
// Returns cudaErrorInvalidValue for a null or misaligned pointer and for memory that overlaps,
// before any launch; else the first error of its calls. Allocates nothing, does not wait, and
// can be captured. Results are exact and the same in every run.
// Cost: heights are read once (twice for depths); a byte and a level a cell are written and
// read. In a tile of 64 x 64 cells each round compares cells at edges of components with their
// neighbours; rounds are at most log2 of its minima. Rounds of all tiles are at most log2 of their
// nodes, 126 a tile at most; each reads about 2000 bytes of a tile with edges between components.
// Example: heights 5 1 3 2 4, a map of one row without corners, outlet (0, 0) alone: 5 5 5 5 5;
// with the outlet (4, 0) alone: 5 4 4 4 4.
static inline cudaError_t tmap_spill(const tmap_spill_plan *plan, const void *heights,
                                     const void *mask, void *workspace, void *out,
                                     cudaStream_t stream) {
    if (!plan || !plan->map.connectivity) return cudaErrorInvalidValue;
    const tmap_raster_map *map = &plan->map;
    const tmap_u64 tiles = tmapi_spill_tiles(plan), eighth = (tiles + 7) / 8;
    const tmap_u64 cells = map->width * map->height, size = tmap_raster_size(map->type);
    const tmap_u64 of_out = plan->form == TMAP_SPILL_DEPTH ? 4 : size;
    const tmap_u64 most = plan->blocks;
    if (!tiles) return cudaSuccess;
    const tmapi_raster_memory all[4] = {
        {workspace, plan->workspace},
        {out, cells * of_out},
        {heights,
         tmap_mul_saturate(tmapi_raster_span(map->height - 1, map->pitch, map->width), size)},
        {mask, mask ? cells : 0}};
    if (!tmapi_raster_aligned(heights, size) || !tmapi_raster_aligned(workspace, 16) ||
        !tmapi_raster_aligned(out, of_out) || tmapi_raster_overlap(all, 2, 4))
        return cudaErrorInvalidValue;
    tmapi_spill f = tmapi_spill_of(plan, heights, mask, workspace, out);
    const tmapi_raster_step first = {
        (const void *)tmapi_spill_tile_kernel,
        {tiles, TMAPI_SPILL_BLOCK, tmapi_spill_bytes(map->connectivity)}};
    const tmapi_raster_step last = {(const void *)tmapi_spill_write_kernel, {tiles, 256, 0}};
    const tmapi_raster_step round[3] = {
        {(const void *)tmapi_spill_edges_kernel,
         {tiles < most ? tiles : most, TMAPI_SPILL_NODES, 0}},
        {(const void *)tmapi_spill_hook_kernel, {eighth < most ? eighth : most, 256, 0}},
        {(const void *)tmapi_spill_move_kernel, {eighth < most ? eighth : most, 256, 0}}};
    cudaError_t error = tmapi_raster_run(&first, 1, &f, stream);
    for (; f.round < plan->rounds && !error; ++f.round)
        error = tmapi_raster_run(round, 3, &f, stream);
    return error ? error : tmapi_raster_run(&last, 1, &f, stream);
}

#endif

#endif
