// SPDX-License-Identifier: MIT
// halo.h: a fractal in compact storage that several GPUs step together: which tiles of others each
// GPU reads, memory for its own tiles and these alone, and copies of tiles for sending.
//
// GPU number `rank` steps the tiles tmap_share_of(plan.items, rank, ranks). A stencil reads the
// tiles around a tile, and some of these belong to other GPUs: the halo. Every GPU finds by the
// same rule which tiles it reads of others and which of its own others read:
//
//     GPU 0 has tiles 0 to 9, GPU 1 has 10 to 19; tile 8 lies beside 10, tile 9 beside 10 and 12:
//     GPU 0 sends 8, 9 and receives 10, 12; GPU 1 sends 10, 12 and receives 8, 9
//
// A state has the addresses of the complete fractal, but only the pages that hold own tiles or the
// halo have memory. So all kernels of stencil.h, stencil3.h, compact_life.h and life3.h run as on
// one GPU, and cell.at has the same numbers.
//
//     tmap_compact_life_plan_make(f, r, &plan);
//     tmap_halo_make(&plan, plan.word.bytes, gpus.rank, gpus.ranks, &halo); // sets plan's share
//     tmap_halo_state_create(&halo, &a); // and b
//     const tmap_share_exchange x = tmap_halo_exchange(&halo);
//     ... for each step:
//     tmap_halo_pack(&halo, a, stream);
//     tmap_nccl_exchange(&gpus, &x, stream); // nccl.h
//     tmap_halo_unpack(&halo, a, stream);
//     tmap_compact_life(&plan, rule, a, b, stream);
//
// halo.run divides the own tiles into three runs. The first one reads no tile of others: it can be
// stepped while the tiles are exchanged on another stream, and the other two when they are there.
// Blocks of a step fill all multiprocessors; a smaller grid leaves some to NCCL.
//
//     tmap_each_plan part = plan; // for i = 0, 1, 2, with a cudaStreamWaitEvent before 1
//     tmap_each_plan_share(&part, halo.run[i].first, halo.run[i].count);
//     if (i == 0) part.grid -= part.grid / 8;
//     tmap_compact_life(&part, rule, a, b, stream);
//
// States are of share_memory.h: link with -lcuda.
#ifndef TMAP_FRACTAL_HALO_H
#define TMAP_FRACTAL_HALO_H

#include "../share_memory.h"
#include "stencil.h"
#include "stencil3.h"

#if TMAP_CUDA && !TMAP_NVRTC
#include <stdlib.h>
#include <string.h>

// ---- which tiles cross --------------------------------------------------------------------------

// A GPU's share of a fractal and its halo. Its members are read-only for you.
typedef struct tmap_halo {
    tmap_u32 rank, ranks;
    tmap_share own;    // tiles of this GPU
    tmap_share run[3]; // of these: the longest run of tiles that read none of other GPUs, which may
                       // be empty; the tiles before it; the tiles after it
    tmap_u64 tiles, bytes, offset;  // of the fractal; of a tile; bytes before its first tile
    tmap_u64 *out, *in;             // on the host: tiles to send and to receive, rank by rank
    tmap_u64 *out_first, *in_first; // where each rank's begin in these lists, ranks + 1 numbers
    tmap_u64 *device;               // both lists, then packed tiles, first those to send
} tmap_halo;

// The fractal whose cells are the tiles, in two dimensions (f) or three (f3).
typedef struct tmapi_halo_search {
    const tmap_nbb *f;
    const tmap_nbb3 *f3;
    tmap_u64 tiles;
    tmap_u32 k, levels, around; // around: 8 or 26
    int words;                  // 1: tiles in other sheets are read, too
} tmapi_halo_search;

// The block number n around block `block` of a fractal of `levels` levels, or the block itself if
// there is none.
static inline tmap_u64 tmapi_halo_beside(const tmapi_halo_search *s, tmap_u64 block,
                                         tmap_u32 levels, tmap_u32 n) {
    if (s->f) {
        const tmap_compact_place p = tmap_compact_beside(*s->f, (tmap_u32)block, levels,
                                                         tmapi_compact_dx(n), tmapi_compact_dy(n));
        return p.none || (!s->words && (p.x || p.y)) ? block : p.index;
    }
    const tmap_compact3_place p =
        tmap_compact3_beside(*s->f3, (tmap_u32)block, levels, n + (n >= TMAP_HERE3));
    return p.none || (!s->words && p.to != TMAP_HERE3) ? block : p.index;
}

// The number of tiles of the largest block of `from` that begins with `tile` and has no tile of
// `to` in the blocks around it; 0 if the tile itself has one around it. `to` may go on from tile
// 2^64 - 1 to tile 0.
static inline tmap_u64 tmapi_halo_apart(const tmapi_halo_search *s, tmap_share from, tmap_share to,
                                        tmap_u64 tile) {
    tmap_u64 apart = 0, size = 1;
    for (tmap_u32 level = 0; level <= s->levels && tile % size == 0; ++level, size *= s->k) {
        if (tile + size > from.first + from.count) break;
        for (tmap_u32 n = 0; n < s->around; ++n) {
            const tmap_u64 at = tmapi_halo_beside(s, tile / size, s->levels - level, n) * size;
            if (at - to.first < to.count || to.first - at < size) return apart;
        }
        apart = size;
    }
    return apart;
}

// Finds the tiles of `from` that have tiles of `to` around them. Writes them to a list, in order,
// unless it is null, and the longest run of others to *rest. Returns the number of tiles found.
// Blocks without such tiles are skipped, so this takes about as long as the list.
static inline tmap_u64 tmapi_halo_find(const tmapi_halo_search *s, tmap_share from, tmap_share to,
                                       tmap_u64 *list, tmap_share *rest) {
    tmap_u64 count = 0, first = from.first, apart;
    rest->first = first, rest->count = 0;
    for (tmap_u64 tile = first; tile < from.first + from.count; tile += apart ? apart : 1) {
        apart = tmapi_halo_apart(s, from, to, tile);
        if (!apart) {
            if (list) list[count] = tile;
            ++count, first = tile + 1;
        }
        if (tile + apart > first + rest->count)
            rest->first = first, rest->count = tile + apart - first;
    }
    return count;
}

// Fills the lists, or finds their lengths if they have no memory.
static inline void tmapi_halo_lists(const tmapi_halo_search *s, tmap_halo *h) {
    tmap_u64 sent = 0, received = 0;
    tmap_share rest;
    for (tmap_u32 q = 0; q <= h->ranks; ++q) {
        const tmap_share others = tmap_share_of(h->tiles, q, h->ranks);
        h->out_first[q] = sent, h->in_first[q] = received;
        if (q == h->rank) continue;
        sent += tmapi_halo_find(s, h->own, others, h->out ? h->out + sent : 0, &rest);
        received += tmapi_halo_find(s, others, h->own, h->in ? h->in + received : 0, &rest);
    }
}

// The tiles to send, and those to receive; and where these are packed.
static inline tmap_u64 tmapi_halo_sent(const tmap_halo *h) { return h->out_first[h->ranks]; }
static inline tmap_u64 tmapi_halo_received(const tmap_halo *h) { return h->in_first[h->ranks]; }
static inline unsigned char *tmapi_halo_packed(const tmap_halo *h, int in) {
    return (unsigned char *)(h->device + tmapi_halo_sent(h) + tmapi_halo_received(h)) +
           (in ? tmapi_halo_sent(h) * h->bytes : 0);
}

// Frees what tmap_halo_make has allocated; states are yours to destroy before. Zeros are ignored.
static inline void tmap_halo_destroy(tmap_halo *h) {
    if (!h) return;
    free(h->out), free(h->out_first);
    cudaFree(h->device);
    memset(h, 0, sizeof *h);
}

static inline cudaError_t tmapi_halo_make(const tmapi_halo_search *s, tmap_u64 bytes,
                                          tmap_u64 offset, tmap_u32 rank, tmap_u32 ranks,
                                          tmap_halo *out) {
    tmap_halo h;
    tmap_share others;
    tmap_u64 all;
    cudaError_t error = cudaErrorMemoryAllocation;
    memset(&h, 0, sizeof h);
    h.rank = rank, h.ranks = ranks, h.tiles = s->tiles, h.bytes = bytes, h.offset = offset;
    h.own = tmap_share_of(s->tiles, rank, ranks);
    h.out_first = (tmap_u64 *)malloc(2 * (ranks + 1ull) * sizeof *h.out_first);
    if (!h.out_first) return error;
    h.in_first = h.out_first + ranks + 1;
    tmapi_halo_lists(s, &h);
    all = tmapi_halo_sent(&h) + tmapi_halo_received(&h);
    h.out = (tmap_u64 *)malloc((all + 1) * sizeof *h.out);
    if (h.out) {
        h.in = h.out + tmapi_halo_sent(&h);
        tmapi_halo_lists(s, &h);
        error = cudaMalloc((void **)&h.device, (all + 1) * (sizeof *h.out + bytes));
        if (!error) error = cudaMemcpy(h.device, h.out, all * sizeof *h.out, cudaMemcpyDefault);
    }
    others.first = h.own.first + h.own.count, others.count = 0 - h.own.count; // all but own ones
    (void)tmapi_halo_find(s, h.own, others, 0, &h.run[0]);
    h.run[1].first = h.own.first, h.run[1].count = h.run[0].first - h.own.first;
    h.run[2].first = h.run[0].first + h.run[0].count;
    h.run[2].count = others.first - h.run[2].first;
    if (error)
        tmap_halo_destroy(&h);
    else
        *out = h;
    return error;
}

// Finds the halo of a GPU and sets the share of the plan. plan: for TMAP_EACH_STENCIL or
// TMAP_EACH_WORDS in compact storage, of the engine or of a ready kernel, the same on all GPUs.
// size: bytes of an element; of words plan->word.bytes. Returns cudaErrorInvalidValue for a null
// pointer, another plan, and rank >= ranks, else cudaErrorMemoryAllocation or the error of a CUDA
// call; on an error the plan is unchanged and nothing remains allocated. Cost: some ten thousand
// instructions of the host for each tile that crosses.
static inline cudaError_t tmap_halo_make(tmap_each_plan *plan, tmap_u32 size, tmap_u32 rank,
                                         tmap_u32 ranks, tmap_halo *out) {
    if (!plan || !out || !size || rank >= ranks || plan->loop != TMAP_EACH_COMPACT ||
        plan->work < TMAP_EACH_STENCIL || (plan->word.bytes && size != plan->word.bytes))
        return cudaErrorInvalidValue;
    const tmapi_halo_search s = {
        &plan->f, 0, plan->items, plan->f.k, plan->r - plan->tile_level, 8, plan->word.bytes != 0};
    const tmap_u64 cells = tmap_nbb_cells(plan->f, plan->tile_level);
    const cudaError_t error =
        tmapi_halo_make(&s, cells * size, plan->offset * size, rank, ranks, out);
    return error ? error : tmap_each_plan_share(plan, out->own.first, out->own.count);
}

// The same in three dimensions, for fractals without turned copies.
static inline cudaError_t tmap_halo3_make(tmap_each3_plan *plan, tmap_u32 size, tmap_u32 rank,
                                          tmap_u32 ranks, tmap_halo *out) {
    if (!plan || !out || !size || rank >= ranks || plan->pitch.row != TMAP_COMPACT ||
        !plan->tiles || (plan->word.bytes && size != plan->word.bytes))
        return cudaErrorInvalidValue;
    const tmapi_halo_search s = {
        0, &plan->f, plan->items, plan->f.k, plan->r - plan->tile_level, 26, plan->word.bytes != 0};
    const tmap_u64 cells = plan->cells;
    const cudaError_t error =
        tmapi_halo_make(&s, cells * size, plan->offset * size, rank, ranks, out);
    return error ? error : tmap_each3_plan_share(plan, out->own.first, out->own.count);
}

// ---- states -------------------------------------------------------------------------------------

// Creates or destroys a state; what has memory are the tiles of the halo, in order, and between
// them the own tiles.
static inline cudaError_t tmapi_halo_state(const tmap_halo *h, void **state, int create) {
    tmap_u64 before, all;
    tmap_share *ranges;
    cudaError_t error;
    if (!h || !h->out || !state) return cudaErrorInvalidValue;
    before = h->in_first[h->rank], all = tmapi_halo_received(h) + 1;
    if (!(ranges = (tmap_share *)malloc(all * sizeof *ranges))) return cudaErrorMemoryAllocation;
    for (tmap_u64 k = 0; k < all; ++k) {
        const tmap_u64 tile = k == before ? h->own.first : h->in[k - (k > before)];
        ranges[k].first = h->offset + tile * h->bytes;
        ranges[k].count = (k == before ? h->own.count : 1) * h->bytes;
    }
    const tmap_u64 bytes = h->offset + h->tiles * h->bytes;
    error = create ? tmap_share_memory_create(bytes, ranges, all, state)
                   : tmap_share_memory_destroy(bytes, ranges, all, *state);
    free(ranges);
    return error;
}

// Allocates a state on the current device: the addresses of a complete one, with memory for own
// tiles and the halo alone (share_memory.h). *state is the address of element 0; the content is
// anything. Returns cudaErrorInvalidValue for a null pointer, else the error of a call of CUDA or
// its driver; nothing remains allocated then.
static inline cudaError_t tmap_halo_state_create(const tmap_halo *h, void **state) {
    return tmapi_halo_state(h, state, 1);
}

// Frees a state of tmap_halo_state_create with the same halo. Waits first for the current device,
// which is the same. Returns the error of a CUDA call.
static inline cudaError_t tmap_halo_state_destroy(const tmap_halo *h, void *state) {
    return tmapi_halo_state(h, &state, 0);
}

// ---- a step -------------------------------------------------------------------------------------

// What to send and to receive between tmap_halo_pack and tmap_halo_unpack. Valid as long as h.
static inline tmap_share_exchange tmap_halo_exchange(const tmap_halo *h) {
    const tmap_share_exchange x = {tmapi_halo_packed(h, 0), tmapi_halo_packed(h, 1), h->out_first,
                                   h->in_first, h->bytes};
    return x;
}

// Copies tiles between a state and a buffer, a block for some tiles.
static __global__ void __launch_bounds__(128)
    tmapi_halo_copy(unsigned char *state, unsigned char *buffer, const tmap_u64 *list,
                    tmap_u64 count, tmap_u64 bytes, int in) {
    const tmap_u32 size = (bytes | (tmap_u64)state | (tmap_u64)buffer) % 4 ? 1 : 4;
    for (tmap_u64 i = blockIdx.x; i < count; i += gridDim.x) {
        unsigned char *tile = state + list[i] * bytes, *packed = buffer + i * bytes;
        unsigned char *to = in ? tile : packed;
        const unsigned char *from = in ? packed : tile;
        for (tmap_u64 k = threadIdx.x * size; k < bytes; k += blockDim.x * size)
            if (size == 4)
                *(tmap_u32 *)(to + k) = *(const tmap_u32 *)(from + k);
            else
                to[k] = from[k];
    }
}

static inline cudaError_t tmapi_halo_move(const tmap_halo *h, void *state, int in,
                                          cudaStream_t stream) {
    tmapi_launch_shape shape = {1, 128, 0};
    unsigned char *first = (unsigned char *)state + (h ? h->offset : 0), *buffer;
    const tmap_u64 *list;
    tmap_u64 count, bytes;
    void *arguments[] = {&first, &buffer, &list, &count, &bytes, &in};
    if (!h || !h->out || !state) return cudaErrorInvalidValue;
    count = in ? tmapi_halo_received(h) : tmapi_halo_sent(h), bytes = h->bytes;
    if (!count) return cudaSuccess;
    buffer = tmapi_halo_packed(h, in), list = h->device + (in ? tmapi_halo_sent(h) : 0);
    shape.grid = count < 4096 ? count : 4096;
    return tmapi_launch((const void *)tmapi_halo_copy, shape, arguments, stream);
}

// Copies the tiles that others read from a state to where they are sent from. Returns
// cudaErrorInvalidValue for a null pointer, else the launch's own error. It can be captured.
static inline cudaError_t tmap_halo_pack(const tmap_halo *h, const void *state,
                                         cudaStream_t stream) {
    return tmapi_halo_move(h, (void *)state, 0, stream);
}

// Copies the tiles that were received to their places in a state. Otherwise as tmap_halo_pack.
static inline cudaError_t tmap_halo_unpack(const tmap_halo *h, void *state, cudaStream_t stream) {
    return tmapi_halo_move(h, state, 1, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
