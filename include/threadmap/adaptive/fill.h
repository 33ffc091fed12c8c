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

// The thread's part in writing `width` pixels of `height` rows, `step` pixels apart: 16 bytes at a
// time at multiples of 16 bytes, wherever a row begins. As many threads as fit into a row side by
// side, several rows at a time.
TMAP_DEVICE void tmapi_fill_rows(int *corner, tmap_u64 step, tmap_u32 width, tmap_u32 height,
                                 int value, tmap_u32 rank, tmap_u32 size) {
    // Four pixels each; one more where rows begin at different places.
    const tmap_u32 before = step % 4 ? 3 : (tmap_u32)((tmap_u64)corner / sizeof(int)) & 3u;
    const tmap_u32 count = (before + width + 3) / 4, side = count < size ? count : size;
    const tmap_u32 rows = size / side, row = rank / side, first = rank - row * side;
    int *at = corner + step * row;
    if (row >= rows) return;
    for (tmap_u32 y = row; y < height; y += rows, at += step * rows) {
        const tmap_u32 over = (tmap_u32)((tmap_u64)at / sizeof(int)) & 3u;
        for (tmap_u32 x = 4 * first; x < width + over; x += 4 * side) {
            if (x >= over && x + 4 <= width + over) {
                *(int4 *)(at + x - over) = make_int4(value, value, value, value);
            } else {
                for (tmap_u32 i = x; i < x + 4; ++i)
                    if (i >= over && i < width + over) at[i - over] = value;
            }
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
// picture with nx columns, row after row; 16 bytes at a time. team: full warps, which call it
// together, or lanes of one warp; team.scratch has TMAP_FILL_SCRATCH bytes.
TMAP_DEVICE void tmap_fill_i32(int *out, tmap_u32 nx, const tmap_ask_region *region, int value,
                               tmap_ask_team team) {
    const tmap_u32 width = region->x1 - region->x0, height = region->y1 - region->y0;
    const tmap_u64 step = nx;
    int *corner = out + (tmap_u64)region->y0 * nx + region->x0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const tmap_u32 over = (tmap_u32)((tmap_u64)corner / sizeof(int)) & 3u, head = (4 - over) & 3u;
    const tmap_u32 vectors = width > head ? (width - head) / 4 : 0;
    if (nx % 4 == 0 && vectors >= TMAPI_FILL_BULK_LEAST && team.size % 32 == 0) {
        const tmap_u32 end = head + 4 * vectors;
        tmapi_fill_bulk(corner + head, step, vectors, height, value, team);
        if (head) tmapi_fill_rows(corner, step, head, height, value, team.rank, team.size);
        if (end < width)
            tmapi_fill_rows(corner + end, step, width - end, height, value, team.rank, team.size);
        return;
    }
#endif
    tmapi_fill_rows(corner, step, width, height, value, team.rank, team.size);
}

#endif // TMAP_CUDA
#endif
