// SPDX-License-Identifier: MIT
// label_write.h: the last kernel of label.h: from what slots say to labels of cells.
#ifndef TMAP_ADAPTIVE_LABEL_WRITE_H
#define TMAP_ADAPTIVE_LABEL_WRITE_H

#include "label_graph.h"

#define TMAPI_LABEL_WRITE_WARPS      16u
#define TMAPI_LABEL_WRITE_WARPS_WIDE 8u

#if TMAP_CUDA

// Arrays of labels; wide: of 64 bits.
TMAP_DEVICE tmap_u64 tmapi_label_get(const void *from, tmap_u32 i, const int wide) {
    return wide ? ((const tmap_u64 *)from)[i] : ((const tmap_u32 *)from)[i];
}
TMAP_DEVICE void tmapi_label_put(void *to, tmap_u32 i, tmap_u64 label, const int wide) {
    if (wide)
        ((tmap_u64 *)to)[i] = label;
    else
        ((tmap_u32 *)to)[i] = (tmap_u32)label;
}

// Where things are in shared memory. dead: tmapi_label_dead. base: of 32 components of a row, one
// after the other, the label that the first one would have. nodes: labels of the block's nodes. Of
// a warp: line: words of its row: in, starts, slot. names: labels of its row's slots.
typedef struct tmapi_label_room {
    tmap_u32 *dead;
    void *base, *nodes;
    uint4 *line;
    void *names;
} tmapi_label_room;

TMAP_DEVICE tmapi_label_room tmapi_label_rooms(const tmapi_label_job *job, uint4 *memory,
                                               const int wide) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32, size = wide ? 8 : 4;
    char *at = (char *)memory;
    tmapi_label_room room;
    room.dead = (tmap_u32 *)at, at += 4 * TMAPI_LABEL_PARTS;
    room.base = at, at += size * TMAPI_LABEL_PARTS;
    room.nodes = at, at += size * job->nodes;
    room.line = (uint4 *)at + warp * TMAPI_LABEL_WORDS, at += warps * TMAPI_LABEL_WORDS * 16;
    room.names = at + warp * size * job->slots;
    return room;
}

// Labels of nodes, and of components that lie in the block, row by row.
TMAP_DEVICE void tmapi_label_bases(const tmapi_label_job *job, const tmapi_label_room *room,
                                   const int wide) {
    const tmap_u32 block = blockIdx.x, column = block % job->bx, used = job->used[block];
    const tmap_u64 y0 = (tmap_u64)(block / job->bx) * job->rows;
    const tmap_u32 parts = 1u << job->shift >> 5;
    for (tmap_u32 i = threadIdx.x; i < used; i += blockDim.x) {
        const tmap_u32 root = job->parent[block * job->nodes + i];
        const tmap_u64 label = wide ? ((const tmap_u64 *)job->node_label)[root]
                                    : ((const tmap_u32 *)job->node_label)[root];
        tmapi_label_put(room->nodes, i, label, wide);
    }
    for (tmap_u32 r = threadIdx.x; r < job->rows && y0 + r < job->height; r += blockDim.x) {
        tmap_u64 label = tmapi_label_before(job, y0 + r, column) + 1;
        for (tmap_u32 k = 0; k < parts; ++k) {
            tmapi_label_put(room->base, r * parts + k, label, wide);
            label += 32 - (tmap_u32)__popc((int)room->dead[r * parts + k]);
        }
    }
}

// Labels of a row's slots.
TMAP_DEVICE void tmapi_label_names(const tmapi_label_room *room, const tmap_u32 *codes,
                                   tmap_u32 total, const int wide) {
    for (tmap_u32 i = threadIdx.x % 32; 2 * i < total; i += 32) {
        const tmap_u32 pair = codes[i];
#pragma unroll
        for (tmap_u32 k = 0; k < 2; ++k) {
            const tmap_u32 code = k ? pair >> 16 : pair & 0xffff, part = code / 32;
            tmap_u64 label;
            if (2 * i + k == 0 || 2 * i + k >= total) continue;
            if (code & TMAPI_LABEL_NODE)
                label = tmapi_label_get(room->nodes, code & ~TMAPI_LABEL_NODE, wide);
            else
                label = tmapi_label_get(room->base, part, wide) + code % 32 -
                        (tmap_u32)__popc((int)(room->dead[part] & ((1u << code % 32) - 1)));
            tmapi_label_put(room->names, 2 * i + k, label, wide);
        }
    }
}

// Four cells of a word, from cell `first` on: what they are, and the slot before them.
TMAP_DEVICE void tmapi_label_four(const tmapi_label_room *room, uint4 word, tmap_u32 first,
                                  void *out, const int wide) {
    const tmap_u32 in = word.x >> first, starts = word.y >> first;
    tmap_u32 slot = word.z + (tmap_u32)__popc((int)(word.y & ((1u << first) - 1)));
    tmap_u64 v[4];
#pragma unroll
    for (tmap_u32 k = 0; k < 4; ++k) {
        slot += starts >> k & 1;
        v[k] = in >> k & 1 ? tmapi_label_get(room->names, slot, wide) : 0;
    }
    if (wide) {
        __stcs((ulonglong2 *)out, make_ulonglong2(v[0], v[1]));
        __stcs((ulonglong2 *)out + 1, make_ulonglong2(v[2], v[3]));
    } else
        __stcs((uint4 *)out,
               make_uint4((tmap_u32)v[0], (tmap_u32)v[1], (tmap_u32)v[2], (tmap_u32)v[3]));
}

TMAP_DEVICE void tmapi_label_write(const tmapi_label_job *job, uint4 *memory, const int wide) {
    const tmap_u32 block = blockIdx.x, column = block % job->bx, lane = threadIdx.x % 32;
    const tmap_u64 y0 = (tmap_u64)(block / job->bx) * job->rows;
    const tmap_u64 x0 = (tmap_u64)column * TMAPI_LABEL_CELLS;
    const tmapi_label_room room = tmapi_label_rooms(job, memory, wide);
    const tmap_u32 size = wide ? 8 : 4;
    tmapi_label_dead(job, room.dead);
    tmapi_label_bases(job, &room, wide);
    __syncthreads();
    for (tmap_u32 r = threadIdx.x / 32; r < job->rows && y0 + r < job->height;
         r += blockDim.x / 32) {
        const tmap_u64 y = y0 + r, at = y * job->words + column * TMAPI_LABEL_WORDS + lane;
        char *out = (char *)job->labels + (y * job->width + x0) * size;
        tmapi_label_row row, none;
        tmap_u32 total;
        row.in = job->in[at], row.slot = none.slot = none.in = none.starts = 0;
        row.starts = job->starts[at];
        if (job->type == TMAP_LABEL_MASK) row.starts = row.in & ~tmapi_label_from_left(row.in);
        total = (tmapi_label_slots(&row, &none, 0, 0) & 0xffff) - tmapi_label_blank(job, column);
        room.line[lane] = make_uint4(row.in, row.starts, row.slot, 0);
        tmapi_label_names(&room, (const tmap_u32 *)out, total, wide);
        __syncwarp();
        if (x0 + TMAPI_LABEL_CELLS <= job->width && (tmap_u64)out % 16 == 0) {
#pragma unroll 4
            for (tmap_u32 k = lane / 8; k < 32; k += 4)
                tmapi_label_four(&room, room.line[k], lane % 8 * 4,
                                 out + (k * 32 + lane % 8 * 4) * size, wide);
        } else {
            for (tmap_u32 k = 0; k < 32 && x0 + k * 32 < job->width; ++k) {
                const uint4 word = room.line[k];
                const tmap_u32 to = 1u << lane | ((1u << lane) - 1);
                if (x0 + k * 32 + lane < job->width)
                    tmapi_label_put(
                        out, k * 32 + lane,
                        word.x >> lane & 1
                            ? tmapi_label_get(room.names,
                                              word.z + (tmap_u32)__popc((int)(word.y & to)), wide)
                            : 0,
                        wide);
            }
        }
        __syncwarp();
    }
}

#endif
#endif
