// SPDX-License-Identifier: MIT
// fill_rows.h: one value for all pixels of a rectangle of a picture, by a team of threads.
#ifndef TMAP_ADAPTIVE_FILL_ROWS_H
#define TMAP_ADAPTIVE_FILL_ROWS_H

#include "ask_work.h"

#if TMAP_CUDA

// Rows of at least so many vectors of 16 bytes are written by asynchronous copies from shared
// memory, so many vectors by each at most (compute capability 9.0 or more).
#define TMAPI_FILL_BULK_LEAST 16
#define TMAPI_FILL_BULK_MOST  128

// Thread rank's part in writing `value` to `count` columns of `height` rows: as many threads as fit
// into a row side by side, several rows at a time.
#define TMAPI_FILL_COLUMNS(type, corner, step, count, height, rank, size, value) \
    do { \
        const tmap_u32 side = (count) < (size) ? (count) : (size), rows = (size) / side; \
        const tmap_u32 row = (rank) / side, first = (rank)-row * side; \
        if (row < rows) \
            for (tmap_u32 x = first; x < (count); x += side) { \
                type *at = (type *)((corner) + (step)*row) + x; \
                for (tmap_u32 y = row; y < (height); y += rows) { \
                    *at = (value); \
                    at = (type *)((int *)at + (step)*rows); \
                } \
            } \
    } while (0)

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// The same for vectors, without their passing through registers: a lane writes a row, or a part of
// one, by one instruction, and the threads that compute keep their way to memory. All warps of the
// team are full ones.
TMAP_DEVICE void tmapi_fill_bulk(int *corner, tmap_u64 step, tmap_u32 count, tmap_u32 height,
                                 tmap_u32 rank, tmap_u32 size, int4 value) {
    __shared__ int4 buffers[TMAPI_ASK_WARPS][TMAPI_FILL_BULK_MOST];
    const tmap_u32 lane = rank % 32, warps = size / 32;
    const tmap_u32 parts = (count + TMAPI_FILL_BULK_MOST - 1) / TMAPI_FILL_BULK_MOST; // of a row
    const tmap_u32 all = height * parts, each = (all + warps - 1) / warps;
    const tmap_u32 first = rank / 32 * each, end = first + each < all ? first + each : all;
    int4 *buffer = buffers[threadIdx.x / 32];
    const tmap_u32 from = (tmap_u32)__cvta_generic_to_shared(buffer);
    if (first >= end) return;
    for (tmap_u32 i = lane; i < TMAPI_FILL_BULK_MOST && i < count; i += 32) buffer[i] = value;
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

// Thread rank's part in writing a value to columns x0 to x1 - 1 of rows y0 to y1 - 1 of a picture
// with nx columns; 16 bytes at a time where rows of the picture allow it. size: of the team, whole
// warps or less than one; all threads of a warp call it together if it is 32 or more.
TMAP_DEVICE void tmapi_fill_rows(int *out, tmap_u32 nx, tmap_u32 x0, tmap_u32 x1, tmap_u32 y0,
                                 tmap_u32 y1, int value, tmap_u32 rank, tmap_u32 size) {
    const tmap_u32 width = x1 - x0, height = y1 - y0;
    const int wide = nx % 4 == 0 && (tmap_u64)out % 16 == 0;
    const tmap_u64 step = nx;
    tmap_u32 head = wide ? (0 - x0) & 3u : width, vectors, tail;
    int *corner = out + (tmap_u64)y0 * nx + x0;
    if (head > width) head = width;
    vectors = (width - head) / 4;
    tail = width - head - 4 * vectors;
    if (vectors) {
        const int4 four = make_int4(value, value, value, value);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if (vectors >= TMAPI_FILL_BULK_LEAST && size % 32 == 0)
            tmapi_fill_bulk(corner + head, step, vectors, height, rank, size, four);
        else
#endif
            TMAPI_FILL_COLUMNS(int4, corner + head, step, vectors, height, rank, size, four);
    }
    if (head) TMAPI_FILL_COLUMNS(int, corner, step, head, height, rank, size, value);
    if (tail) TMAPI_FILL_COLUMNS(int, corner + width - tail, step, tail, height, rank, size, value);
}

#endif // TMAP_CUDA

#endif
