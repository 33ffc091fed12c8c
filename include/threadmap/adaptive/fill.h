// SPDX-License-Identifier: MIT
// fill.h: one value for all pixels of a rectangle of a picture, by a team of threads.
#ifndef TMAP_ADAPTIVE_FILL_H
#define TMAP_ADAPTIVE_FILL_H

#include "ask_region.h"

#if TMAP_CUDA

// The scratch that tmap_fill_i32 wants for each warp, in bytes.
#define TMAP_FILL_SCRATCH 2048

// Rows of at least so many vectors of 16 bytes are written by asynchronous copies from shared
// memory, so many vectors by each at most (compute capability 9.0 or more).
#define TMAPI_FILL_BULK_LEAST 16
#define TMAPI_FILL_BULK_MOST  (TMAP_FILL_SCRATCH / 16)

// The thread's part in writing `count` columns of `height` rows, of one pixel, or of four where
// `wide`, a constant: as many threads as fit into a row side by side, several rows at a time.
TMAP_DEVICE void tmapi_fill_columns(int *corner, tmap_u64 step, tmap_u32 count, tmap_u32 height,
                                    int value, tmap_u32 rank, tmap_u32 size, const int wide) {
    const tmap_u32 side = count < size ? count : size, rows = size / side;
    const tmap_u32 row = rank / side, first = rank - row * side;
    if (row >= rows) return;
    for (tmap_u32 x = first; x < count; x += side) {
        int *at = corner + step * row + (wide ? 4 : 1) * x;
        for (tmap_u32 y = row; y < height; y += rows, at += step * rows) {
            if (wide)
                *(int4 *)at = make_int4(value, value, value, value);
            else
                *at = value;
        }
    }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// The same for vectors, without their passing through registers: a lane writes a row, or a part of
// one, by one instruction, and the threads that compute keep their way to memory. All warps of the
// team are full ones.
TMAP_DEVICE void tmapi_fill_bulk(int *corner, tmap_u64 step, tmap_u32 count, tmap_u32 height,
                                 int value, tmap_ask_team team) {
    const tmap_u32 lane = team.rank % 32, warps = team.size / 32;
    const tmap_u32 parts = (count + TMAPI_FILL_BULK_MOST - 1) / TMAPI_FILL_BULK_MOST; // of a row
    const tmap_u32 all = height * parts, each = (all + warps - 1) / warps;
    const tmap_u32 first = team.rank / 32 * each, end = first + each < all ? first + each : all;
    int4 *buffer = (int4 *)team.scratch;
    const tmap_u32 from = (tmap_u32)__cvta_generic_to_shared(buffer);
    if (first >= end) return;
    for (tmap_u32 i = lane; i < TMAPI_FILL_BULK_MOST && i < count; i += 32)
        buffer[i] = make_int4(value, value, value, value);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    for (tmap_u32 i = first + lane; i < end; i += 32) {
        const tmap_u32 row = parts == 1 ? i : i / parts,
                       x = (i - row * parts) * TMAPI_FILL_BULK_MOST;
        const tmap_u32 here = count - x < TMAPI_FILL_BULK_MOST ? count - x : TMAPI_FILL_BULK_MOST;
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                         __cvta_generic_to_global((int4 *)(corner + step * row) + x)),
                     "r"(from), "r"(here * 16)
                     : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncwarp(); // the buffer is free again
}
#endif

// The calling thread's part in writing `value` to the pixels [x0, x1) x [y0, y1) of a region in a
// picture with nx columns, row after row; 16 bytes at a time where `out` is at a multiple of 16
// bytes and nx a multiple of 4. team: full warps, which call it together, or lanes of one warp;
// team.scratch has TMAP_FILL_SCRATCH bytes.
TMAP_DEVICE void tmap_fill_i32(int *out, tmap_u32 nx, const tmap_ask_region *region, int value,
                               tmap_ask_team team) {
    const tmap_u32 width = region->x1 - region->x0, height = region->y1 - region->y0;
    const int wide = nx % 4 == 0 && (tmap_u64)out % 16 == 0;
    const tmap_u64 step = nx;
    tmap_u32 head = wide ? (0 - region->x0) & 3u : width, vectors, tail;
    int *corner = out + (tmap_u64)region->y0 * nx + region->x0;
    if (head > width) head = width;
    vectors = (width - head) / 4;
    tail = width - head - 4 * vectors;
    if (vectors) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if (vectors >= TMAPI_FILL_BULK_LEAST && team.size % 32 == 0)
            tmapi_fill_bulk(corner + head, step, vectors, height, value, team);
        else
#endif
            tmapi_fill_columns(corner + head, step, vectors, height, value, team.rank, team.size,
                               1);
    }
    if (head) tmapi_fill_columns(corner, step, head, height, value, team.rank, team.size, 0);
    if (tail)
        tmapi_fill_columns(corner + width - tail, step, tail, height, value, team.rank, team.size,
                           0);
}

#endif // TMAP_CUDA
#endif
