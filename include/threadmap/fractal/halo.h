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
    tmap_share own;                 // tiles of this GPU
    tmap_u64 tiles, bytes, offset;  // of the fractal; of a tile; bytes before its first tile
    tmap_u64 *out, *in;             // on the host: rank << 32 | tile, ascending
    tmap_u64 *out_first, *in_first; // where each rank's begin in these lists, ranks + 1 numbers
    unsigned char *device;          // packed tiles, first those to send; then both lists
} tmap_halo;

// The fractal, in two dimensions (f) or three (f3), and a list of rank << 32 | tile for each
// direction: 0 to send, 1 to receive.
typedef struct tmapi_halo_search {
    tmap_nbb f;
    tmap_nbb3 f3;
    tmap_u32 dims, levels; // levels: of the fractal whose cells are the tiles
    int words;             // 1: tiles in other sheets are read, too
    tmap_u64 tiles;
    tmap_share own;
    tmap_u32 ranks;
    tmap_u64 *list[2], room; // room: elements of each list
    tmap_u64 *count;         // of each list
} tmapi_halo_search;

// The tile number n around a tile, or the tile itself where there is none.
TMAP_DEVICE tmap_u32 tmapi_halo_beside(const tmapi_halo_search *s, tmap_u32 tile, tmap_u32 n) {
    if (s->dims == 2) {
        const tmap_compact_place p =
            tmap_compact_beside(s->f, tile, s->levels, tmapi_compact_dx(n), tmapi_compact_dy(n));
        return p.none || (!s->words && (p.x || p.y)) ? tile : p.index;
    }
    const tmap_compact3_place p =
        tmap_compact3_beside(s->f3, tile, s->levels, n + (n >= TMAP_HERE3));
    return p.none || (!s->words && p.to != TMAP_HERE3) ? tile : p.index;
}

static __global__ void tmapi_halo_find(tmapi_halo_search s) {
    const tmap_u64 stride = gridDim.x * (tmap_u64)blockDim.x;
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < s.own.count; i += stride)
        for (tmap_u32 n = 0; n < (s.dims == 2 ? 8u : TMAP_AROUND3 - 1u); ++n) {
            const tmap_u32 tile = (tmap_u32)(s.own.first + i);
            const tmap_u32 other = tmapi_halo_beside(&s, tile, n);
            if (other - s.own.first < s.own.count) continue;
            const tmap_u64 rank = tmap_share_part(s.tiles, other, s.ranks) << 32;
            for (int in = 0; in < 2; ++in) {
                const tmap_u64 at = atomicAdd(&s.count[in], 1ull);
                if (at < s.room) s.list[in][at] = rank | (in ? other : tile);
            }
        }
}

// Copies tiles between a state and a buffer, a block for some tiles.
static __global__ void tmapi_halo_copy(unsigned char *state, unsigned char *buffer,
                                       const tmap_u64 *list, tmap_u64 count, tmap_u64 bytes,
                                       int in) {
    const int words = bytes % 4 == 0 && ((tmap_u64)state | (tmap_u64)buffer) % 4 == 0;
    for (tmap_u64 i = blockIdx.x; i < count; i += gridDim.x) {
        unsigned char *tile = state + (list[i] & 0xffffffffu) * bytes, *packed = buffer + i * bytes;
        unsigned char *to = in ? tile : packed;
        const unsigned char *from = in ? packed : tile;
        if (words)
            for (tmap_u64 k = threadIdx.x; k < bytes / 4; k += blockDim.x)
                ((tmap_u32 *)to)[k] = ((const tmap_u32 *)from)[k];
        else
            for (tmap_u64 k = threadIdx.x; k < bytes; k += blockDim.x) to[k] = from[k];
    }
}

static inline int tmapi_halo_before(const void *a, const void *b) {
    const tmap_u64 x = *(const tmap_u64 *)a, y = *(const tmap_u64 *)b;
    return (x > y) - (x < y);
}

// Sorts a list, leaves each number once, and finds where each rank's begin.
static inline void tmapi_halo_order(tmap_u64 *list, tmap_u64 count, tmap_u32 ranks,
                                    tmap_u64 *first) {
    tmap_u64 kept = 0;
    if (count) qsort(list, count, sizeof *list, tmapi_halo_before);
    for (tmap_u64 i = 0; i < count; ++i)
        if (!kept || list[i] != list[kept - 1]) list[kept++] = list[i];
    for (tmap_u64 rank = 0, i = 0; rank <= ranks; ++rank) {
        while (i < kept && list[i] >> 32 < rank) ++i;
        first[rank] = i;
    }
}

// The tiles to send, and those to receive.
static inline tmap_u64 tmapi_halo_sent(const tmap_halo *h) { return h->out_first[h->ranks]; }
static inline tmap_u64 tmapi_halo_received(const tmap_halo *h) { return h->in_first[h->ranks]; }
// Bytes of the packed tiles, at a multiple of 8.
static inline tmap_u64 tmapi_halo_packed(const tmap_halo *h) {
    return ((tmapi_halo_sent(h) + tmapi_halo_received(h)) * h->bytes + 7) / 8 * 8;
}

// Frees what tmap_halo_make has allocated; states are yours to destroy before. Zeros are ignored.
static inline void tmap_halo_destroy(tmap_halo *h) {
    if (!h) return;
    free(h->out);
    cudaFree(h->device);
    memset(h, 0, sizeof *h);
}

// Finds the lists and allocates. h: its numbers are set.
static inline cudaError_t tmapi_halo_search_run(tmapi_halo_search *s, tmap_halo *h) {
    const tmapi_launch_shape shape = {
        s->own.count / 256 + 1 < 65536 ? s->own.count / 256 + 1 : 65536, 256, 0};
    void *arguments[] = {s};
    tmap_u64 counts[2] = {0, 0}, sent;
    cudaError_t error = cudaSuccess;
    s->room = 0;
    for (int fill = 0; fill < 2 && !error; ++fill) { // counts, then lists
        s->list[0] = s->list[1] = 0;
        error = cudaMalloc((void **)&s->count, 16 + 16 * s->room);
        if (error) break;
        s->list[0] = s->count + 2, s->list[1] = s->list[0] + s->room;
        error = cudaMemset(s->count, 0, sizeof counts);
        if (!error) error = tmapi_launch((const void *)tmapi_halo_find, shape, arguments, 0);
        if (!error) error = cudaMemcpy(counts, s->count, sizeof counts, cudaMemcpyDefault);
        if (!error && fill) {
            h->out = (tmap_u64 *)malloc((2 * s->room + 2 * (h->ranks + 1ull)) * sizeof *h->out);
            if (!h->out) error = cudaErrorMemoryAllocation;
        }
        if (!error && fill) {
            h->in = h->out + s->room, h->out_first = h->in + s->room;
            h->in_first = h->out_first + h->ranks + 1;
            error = cudaMemcpy(h->out, s->list[0], 16 * s->room, cudaMemcpyDefault);
        }
        if (error)
            cudaFree(s->count);
        else
            error = cudaFree(s->count);
        s->room = counts[0];
    }
    if (error) return error;
    tmapi_halo_order(h->out, s->room, h->ranks, h->out_first);
    tmapi_halo_order(h->in, s->room, h->ranks, h->in_first);
    sent = tmapi_halo_sent(h);
    error = cudaMalloc((void **)&h->device,
                       tmapi_halo_packed(h) + 8 * (sent + tmapi_halo_received(h)) + 8);
    if (error) return error;
    tmap_u64 *lists = (tmap_u64 *)(h->device + tmapi_halo_packed(h));
    error = cudaMemcpy(lists, h->out, 8 * sent, cudaMemcpyDefault);
    if (error) return error;
    return cudaMemcpy(lists + sent, h->in, 8 * tmapi_halo_received(h), cudaMemcpyDefault);
}

static inline cudaError_t tmapi_halo_make(tmapi_halo_search *s, tmap_u64 bytes, tmap_u64 offset,
                                          tmap_u32 rank, tmap_halo *out) {
    tmap_halo h;
    cudaError_t error;
    memset(&h, 0, sizeof h);
    h.rank = rank, h.ranks = s->ranks, h.tiles = s->tiles, h.bytes = bytes, h.offset = offset;
    h.own = s->own = tmap_share_of(s->tiles, rank, s->ranks);
    error = tmapi_halo_search_run(s, &h);
    if (error)
        tmap_halo_destroy(&h);
    else
        *out = h;
    return error;
}

// Finds the halo of a GPU and sets the share of the plan. plan: of tmap_each_stencil_plan_make with
// TMAP_COMPACT, or of tmap_each_stencil_words_plan_make or a ready kernel with one of them, the
// same on all GPUs. size: bytes of an element; of words plan->word.bytes. It waits for the device.
// Returns cudaErrorInvalidValue for a null pointer, another plan, and rank >= ranks, else the error
// of a CUDA call; on an error the plan is unchanged and nothing remains allocated.
// Cost: eight neighbours of each own tile, about as long as a few steps.
static inline cudaError_t tmap_halo_make(tmap_each_plan *plan, tmap_u32 size, tmap_u32 rank,
                                         tmap_u32 ranks, tmap_halo *out) {
    tmapi_halo_search s;
    cudaError_t error;
    if (!plan || !out || !size || rank >= ranks || plan->loop != TMAP_EACH_COMPACT ||
        plan->work < TMAP_EACH_STENCIL || (plan->word.bytes && size != plan->word.bytes))
        return cudaErrorInvalidValue;
    memset(&s, 0, sizeof s);
    s.f = plan->f, s.dims = 2, s.levels = plan->r - plan->tile_level;
    s.words = plan->word.bytes != 0, s.tiles = plan->items, s.ranks = ranks;
    error = tmapi_halo_make(&s, tmap_nbb_cells(plan->f, plan->tile_level) * size,
                            plan->offset * size, rank, out);
    if (!error) (void)tmap_each_plan_share_of(plan, out->own.first, out->own.count);
    return error;
}

// The same in three dimensions: of tmap_each3_stencil_plan_make with TMAP_COMPACT, or of
// tmap_each3_words_plan_make or a ready kernel.
static inline cudaError_t tmap_halo3_make(tmap_each3_plan *plan, tmap_u32 size, tmap_u32 rank,
                                          tmap_u32 ranks, tmap_halo *out) {
    tmapi_halo_search s;
    cudaError_t error;
    if (!plan || !out || !size || rank >= ranks || plan->pitch.row != TMAP_COMPACT ||
        !plan->tiles || (plan->word.bytes && size != plan->word.bytes))
        return cudaErrorInvalidValue;
    memset(&s, 0, sizeof s);
    s.f3 = plan->f, s.dims = 3, s.levels = plan->r - plan->tile_level;
    s.words = plan->word.bytes != 0, s.tiles = plan->items, s.ranks = ranks;
    error = tmapi_halo_make(&s, (tmap_u64)plan->cells * size, plan->offset * size, rank, out);
    if (!error) (void)tmap_each3_plan_share_of(plan, out->own.first, out->own.count);
    return error;
}

// ---- states -------------------------------------------------------------------------------------

// The bytes of a state that have memory: a range for each tile of the halo, in order, and one for
// the own tiles. The caller frees it.
static inline tmap_share *tmapi_halo_ranges(const tmap_halo *h) {
    const tmap_u64 before = h->in_first[h->rank], all = tmapi_halo_received(h) + 1;
    tmap_share *ranges = (tmap_share *)malloc(all * sizeof *ranges);
    for (tmap_u64 k = 0; ranges && k < all; ++k) {
        const tmap_u64 tile = k == before ? h->own.first : h->in[k - (k > before)] & 0xffffffffu;
        ranges[k].first = h->offset + tile * h->bytes;
        ranges[k].count = (k == before ? h->own.count : 1) * h->bytes;
    }
    return ranges;
}

// Allocates a state on the current device: the addresses of a complete one, with memory for own
// tiles and the halo alone (share_memory.h). *state is the address of element 0; the content is
// anything. Returns cudaErrorInvalidValue for a null pointer, else the error of a call of CUDA or
// its driver; nothing remains allocated then.
static inline cudaError_t tmap_halo_state_create(const tmap_halo *h, void **state) {
    tmap_share *ranges;
    cudaError_t error;
    if (!h || !h->out || !state) return cudaErrorInvalidValue;
    if (!(ranges = tmapi_halo_ranges(h))) return cudaErrorMemoryAllocation;
    error = tmap_share_memory_create(h->offset + h->tiles * h->bytes, ranges,
                                     tmapi_halo_received(h) + 1, state);
    free(ranges);
    return error;
}

// Frees a state of tmap_halo_state_create with the same halo. Returns the error of a CUDA call.
static inline cudaError_t tmap_halo_state_destroy(const tmap_halo *h, void *state) {
    tmap_share *ranges;
    cudaError_t error;
    if (!h || !h->out || !state) return cudaErrorInvalidValue;
    if (!(ranges = tmapi_halo_ranges(h))) return cudaErrorMemoryAllocation;
    error = tmap_share_memory_destroy(h->offset + h->tiles * h->bytes, ranges,
                                      tmapi_halo_received(h) + 1, state);
    free(ranges);
    return error;
}

// ---- a step -------------------------------------------------------------------------------------

// What to send and to receive between tmap_halo_pack and tmap_halo_unpack. Valid as long as h.
static inline tmap_share_exchange tmap_halo_exchange(const tmap_halo *h) {
    const tmap_share_exchange x = {h->device, h->device + tmapi_halo_sent(h) * h->bytes,
                                   h->out_first, h->in_first, h->bytes};
    return x;
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
    buffer = h->device + (in ? tmapi_halo_sent(h) * bytes : 0);
    list = (const tmap_u64 *)(h->device + tmapi_halo_packed(h)) + (in ? tmapi_halo_sent(h) : 0);
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
