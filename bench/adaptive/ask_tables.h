// SPDX-License-Identifier: MIT
// ask_tables.h: two smaller questions of the paper in bench_ask: how regions are put into a table
// (by an atomic each, by prefix sums of blocks, by one of all), and whether the order of the
// leaves, canonical, Morton or Hilbert, changes the traffic of the kernel that finishes them.
#ifndef BENCH_ASK_TABLES_H
#define BENCH_ASK_TABLES_H

#include "ask_curve.h"

#include <threadmap/papers/olt_blocks.h>
#include <threadmap/papers/region_hilbert.h>

// ---- insertion ----------------------------------------------------------------------------------

enum { INSERT_ATOMIC, INSERT_WARP, INSERT_BLOCK, INSERT_CHAIN, INSERT_SCAN, INSERTS };
static const char *const insert_names[INSERTS] = {"insert_atomic", "insert_warp", "insert_block",
                                                  "insert_chain", "insert_scan"};
enum { INSERT_THREADS = 256 };

typedef struct insertion {
    int form;
    tmap_u32 regions, tiles; // that ask; blocks of them
    tmap_olt table;
    tmap_u64 *words; // count, ticket, then a word for each tile
    tmap_u32 resident;
} insertion;

// Of 100 regions 57 are cut, about what the Mandelbrot set has.
TMAP_FN int insert_wanted(tmap_u32 region) { return (region * 2654435761u >> 8) % 100 < 57; }

// form: a constant.
static __device__ __forceinline__ void insert_by(const int form, insertion p) {
    __shared__ __align__(8) tmap_u32 scratch[36];
    const tmap_warp warp = tmap_warp_self();
    tmap_u32 *ticket = (tmap_u32 *)(p.words + 1), tile = blockIdx.x;
    for (;; tile += gridDim.x) {
        tmap_u32 region;
        int want;
        if (form == INSERT_CHAIN) tile = tmap_olt_tile(ticket, scratch);
        if (tile >= p.tiles) return; // the same in all threads
        region = tile * blockDim.x + threadIdx.x;
        want = region < p.regions && insert_wanted(region);
        if (form == INSERT_ATOMIC && want) tmap_olt_insert(p.table, region);
        if (form == INSERT_WARP) tmap_olt_insert_warp(warp, p.table, want, region);
        if (form == INSERT_BLOCK) {
            __syncthreads(); // the block's words
            tmap_olt_insert_block(p.table, want, region, scratch);
        }
        if (form == INSERT_CHAIN)
            tmap_olt_insert_ordered(p.table, p.words + 2, tile, want, region, scratch);
    }
}

static __global__ void insert_atomic(insertion p) { insert_by(INSERT_ATOMIC, p); }
static __global__ void insert_warp(insertion p) { insert_by(INSERT_WARP, p); }
static __global__ void insert_block(insertion p) { insert_by(INSERT_BLOCK, p); }
static __global__ void insert_chain(insertion p) { insert_by(INSERT_CHAIN, p); }

// The full prefix sum in three launches: numbers of tiles; their sums, by one block; the regions.
static __global__ void insert_count(insertion p) {
    for (tmap_u32 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
        const tmap_u32 region = tile * blockDim.x + threadIdx.x;
        int count = __syncthreads_count(region < p.regions && insert_wanted(region));
        if (threadIdx.x == 0) p.words[2 + tile] = (tmap_u64)count;
    }
}

static __global__ void insert_sums(insertion p) {
    __shared__ tmap_u64 sums[INSERT_THREADS];
    const tmap_u32 each = (p.tiles + blockDim.x - 1) / blockDim.x, first = threadIdx.x * each;
    tmap_u64 sum = 0, before = 0;
    for (tmap_u32 i = first; i < first + each && i < p.tiles; ++i) sum += p.words[2 + i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (tmap_u32 i = 0; i < threadIdx.x; ++i) before += sums[i];
    for (tmap_u32 i = first; i < first + each && i < p.tiles; ++i) {
        sum = p.words[2 + i];
        p.words[2 + i] = before;
        before += sum;
    }
    if (threadIdx.x + 1 == blockDim.x) p.words[0] = before;
}

static __global__ void insert_write(insertion p) {
    __shared__ tmap_u32 scratch[36];
    for (tmap_u32 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
        const tmap_u32 region = tile * blockDim.x + threadIdx.x;
        const int want = region < p.regions && insert_wanted(region);
        tmap_u32 all, rank;
        __syncthreads();
        rank = tmap_olt_rank_block(want, scratch, &all);
        if (want) p.table.entries[p.words[2 + tile] + rank] = region;
    }
}

static void insert_run(void *context) {
    insertion *p = (insertion *)context;
    const unsigned blocks = p->tiles < p->resident ? p->tiles : p->resident;
    CHECK(cudaMemsetAsync(p->words, 0, (p->form == INSERT_CHAIN ? 2 + p->tiles : 2) * 8ull, 0));
    switch (p->form) {
    case INSERT_ATOMIC: insert_atomic<<<blocks, INSERT_THREADS>>>(*p); break;
    case INSERT_WARP: insert_warp<<<blocks, INSERT_THREADS>>>(*p); break;
    case INSERT_BLOCK: insert_block<<<blocks, INSERT_THREADS>>>(*p); break;
    case INSERT_CHAIN: insert_chain<<<blocks, INSERT_THREADS>>>(*p); break;
    default:
        insert_count<<<blocks, INSERT_THREADS>>>(*p);
        insert_sums<<<1, INSERT_THREADS>>>(*p);
        insert_write<<<blocks, INSERT_THREADS>>>(*p);
    }
    CHECK(cudaGetLastError());
}

// Every region that is wanted is in the table once, in the forms by one prefix sum in order. Returns
// how much is wrong.
static tmap_u64 insert_verify(insertion *p) {
    const int ordered = p->form >= INSERT_CHAIN, mark = kit_mark();
    tmap_u64 count, want = 0, bad = 0;
    unsigned char *seen = (unsigned char *)kit_zeroed(p->regions);
    const tmap_u64 *entries;
    CHECK(cudaMemset(p->table.entries, 0xff, p->regions * 8ull));
    insert_run(p);
    CHECK(cudaMemcpy(&count, p->words, 8, cudaMemcpyDeviceToHost));
    entries = (const tmap_u64 *)kit_to_host(p->table.entries, p->regions * 8ull);
    for (tmap_u32 i = 0; i < p->regions; ++i) want += (tmap_u64)insert_wanted(i);
    for (tmap_u64 i = 0; i < want && !bad; ++i) {
        bad += entries[i] >= p->regions || !insert_wanted((tmap_u32)entries[i]) ||
               seen[entries[i]]++ || (ordered && i && entries[i] <= entries[i - 1]);
    }
    kit_release(mark);
    return bad + (count != want);
}

static void sweep_insert(sweep *s) {
    const int mark = kit_mark();
    insertion p;
    struct cudaDeviceProp device;
    const tmap_u32 most = s->cpu ? 1u << 12 : 1u << 24;
    memset(&p, 0, sizeof p);
    CHECK(cudaGetDeviceProperties(&device, 0));
    // All blocks of a chain must be able to run: a tile waits for the one before it.
    p.resident = (tmap_u32)device.multiProcessorCount * (s->cpu ? 1 : 8);
    p.table.entries = (tmap_u64 *)kit_device(most * 8ull);
    p.words = (tmap_u64 *)kit_device((most / INSERT_THREADS + 3) * 8ull);
    p.table.count = p.words, p.table.capacity = most;
    for (p.regions = s->cpu ? 1000 : 1u << 10; p.regions <= most; p.regions *= 4)
        for (p.form = 0; p.form < INSERTS; ++p.form) {
            bench_row row = bench_row_begin(&s->d, "insert", insert_names[p.form], "table");
            bench_key(&row, "size", "%u", p.regions);
            if (!bench_wants(&s->d, &row)) continue;
            p.tiles = (p.regions + INSERT_THREADS - 1) / INSERT_THREADS;
            bench_verify(&row, insert_verify(&p), "regions");
            bench_key(&row, "n", "%u", p.regions);
            bench_key(&row, "P", "0.57");
            bench_row_run(&s->d, &row, insert_run, &p);
        }
    kit_release(mark);
}

// ---- the order of leaves ------------------------------------------------------------------------

enum { ORDER_CANONICAL, ORDER_MORTON, ORDER_HILBERT, ORDER_SHUFFLED, ORDERS };
static const char *const order_names[ORDERS] = {"order_canonical", "order_morton", "order_hilbert",
                                                "order_shuffled"};

typedef struct leaves {
    const int *truth;
    int *out;
    tmap_u64 *list; // y << 32 | x of a region, in order
    tmap_u32 n, side, count;
    int compute;
    tmapi_mandelbrot_job job;
} leaves;

// A warp a leaf, in the order of the list: its pixels are read and written (traffic alone), or
// computed and written, a row of `side` after the other.
static __global__ void order_kernel(leaves p) {
    const tmap_u32 lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    p.job.f64 = 0; // a constant
    for (tmap_u32 at = (blockIdx.x * blockDim.x + threadIdx.x) / 32; at < p.count; at += warps) {
        const tmap_u64 where = p.list[at];
        const tmap_u32 x0 = (tmap_u32)where * p.side, y0 = (tmap_u32)(where >> 32) * p.side;
        for (tmap_u32 i = lane; i < p.side * p.side; i += 32) {
            const tmap_u32 x = x0 + i % p.side, y = y0 + i / p.side;
            const tmap_u64 pixel = (tmap_u64)y * p.n + x;
            p.out[pixel] = p.compute ? tmapi_mandelbrot_dwell(&p.job, x, y) : p.truth[pixel];
        }
    }
}

static void order_run(void *context) {
    leaves *p = (leaves *)context;
    const unsigned need = (p->count + 7) / 8, blocks = need < 1056 ? need : 1056;
    order_kernel<<<blocks, 256>>>(*p);
    CHECK(cudaGetLastError());
}

typedef struct order_place {
    tmap_u64 key, where;
} order_place;

static int order_compare(const void *a, const void *b) {
    tmap_u64 x = ((const order_place *)a)->key, y = ((const order_place *)b)->key;
    return (x > y) - (x < y);
}

// The regions of side 16 with several dwells on their border, which are what leaves are, in each
// order.
static void sweep_order(sweep *s, const size *z) {
    enum { SIDE = 16 };
    const tmap_u32 parts = z->n / SIDE;
    const unsigned blocks = parts < 1056 ? parts : 1056;
    const tmap_u64 regions = (tmap_u64)parts * parts, pixels = (tmap_u64)z->n * z->n;
    unsigned char *several = (unsigned char *)kit_device(regions);
    const unsigned char *flags;
    order_place *places = (order_place *)kit_host(regions * sizeof *places);
    tmap_u64 *list = (tmap_u64 *)kit_host(regions * 8), state = 1;
    tmap_mandelbrot m = tmap_mandelbrot_make(z->n, z->n, s->o.dwell);
    ask_curve_sums *sums;
    tmap_u32 bits = 1;
    leaves p;
    memset(&p, 0, sizeof p);
    if (z->n % SIDE) return;
    while (1u << bits < parts) ++bits;
    sums = (ask_curve_sums *)kit_device(sizeof *sums);
    p.list = (tmap_u64 *)kit_device(regions * 8);
    ask_curve_borders<<<blocks, 256>>>(s->truth, z->n, parts, several, sums);
    CHECK(cudaGetLastError());
    flags = (const unsigned char *)kit_to_host(several, regions);
    p.truth = s->truth, p.out = s->out, p.n = z->n, p.side = SIDE;
    p.job = tmapi_mandelbrot_job_make(&m);
    for (int order = 0; order < ORDERS; ++order) {
        p.count = 0;
        for (tmap_u64 i = 0; i < regions; ++i) {
            tmap_xy at = {(tmap_u32)(i % parts), (tmap_u32)(i / parts)};
            order_place *o = &places[p.count];
            if (!flags[i]) continue;
            ++p.count;
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            o->where = (tmap_u64)at.y << 32 | at.x;
            o->key = order == ORDER_CANONICAL ? i
                     : order == ORDER_MORTON  ? tmap_region_morton2(at)
                     : order == ORDER_HILBERT ? tmap_region_hilbert2(at, bits)
                                              : state >> 16;
        }
        qsort(places, p.count, sizeof *places, order_compare);
        for (tmap_u32 i = 0; i < p.count; ++i) list[i] = places[i].where;
        CHECK(cudaMemcpy(p.list, list, p.count * 8ull, cudaMemcpyHostToDevice));
        for (p.compute = 0; p.count && p.compute < 2; ++p.compute) {
            bench_row row = bench_row_begin(&s->d, "order", order_names[order], "mandelbrot");
            ask_tally t;
            bench_key(&row, "size", "%u", z->n);
            bench_key_text(&row, "what", p.compute ? "compute" : "copy");
            if (!bench_wants(&s->d, &row)) continue;
            CHECK(cudaMemset(s->out, ASK_POISON_BYTE, pixels * sizeof(int)));
            order_run(&p);
            t = ask_tally_of(s->out, s->truth, pixels, s->tally);
            if (t.poison != pixels - (tmap_u64)p.count * SIDE * SIDE || t.differ != t.poison)
                bench_wrong(&row, "%llu pixels", t.differ);
            row.verified = 1;
            row_size(&row, z->n, s->o.dwell);
            bench_key(&row, "side", "%d", SIDE);
            bench_key(&row, "leaves", "%u", p.count);
            bench_row_run(&s->d, &row, order_run, &p);
        }
    }
}

#endif
