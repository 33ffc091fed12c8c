// SPDX-License-Identifier: MIT
// flood_naive.h: the naive flood of the lecture slides: a thread for each point of the map, which
// floods it if it is wet and has a flooded neighbour, over and over until nothing changes.
//
// Water goes a cell further in a round, or a few where threads happen to run in its direction; a
// round costs a look at every cell.
#ifndef TMAP_RIVALS_FLOOD_NAIVE_H
#define TMAP_RIVALS_FLOOD_NAIVE_H

#include "flood_state.h"

#if TMAP_CUDA && !TMAP_NVRTC

// Threads of a block along a row, and rows of a block.
#define TMAPI_SLIDES_NAIVE_X 128u
#define TMAPI_SLIDES_NAIVE_Y 4u

// Whether a cell's neighbour is in the map and flooded.
TMAP_DEVICE int tmapi_slides_naive_flooded(const tmapi_slides_state *s, tmap_u64 x, tmap_u64 y) {
    // Coordinates before the first one are very large.
    return x < s->map.width && y < s->map.height &&
           (((volatile const unsigned char *)(s->words + y * s->pitch))[x] & 1);
}

TMAP_DEVICE int tmapi_slides_naive_reached(const tmapi_slides_state *s, tmap_u64 x, tmap_u64 y) {
    if (tmapi_slides_naive_flooded(s, x - 1, y) || tmapi_slides_naive_flooded(s, x + 1, y) ||
        tmapi_slides_naive_flooded(s, x, y - 1) || tmapi_slides_naive_flooded(s, x, y + 1))
        return 1;
    return s->map.connectivity == 8 && (tmapi_slides_naive_flooded(s, x - 1, y - 1) ||
                                        tmapi_slides_naive_flooded(s, x + 1, y - 1) ||
                                        tmapi_slides_naive_flooded(s, x - 1, y + 1) ||
                                        tmapi_slides_naive_flooded(s, x + 1, y + 1));
}

static __global__ void __launch_bounds__(TMAPI_SLIDES_NAIVE_X *TMAPI_SLIDES_NAIVE_Y)
    tmapi_slides_naive(tmapi_slides_state s, tmap_u32 round) {
    const tmap_u64 x = blockIdx.x * (tmap_u64)TMAPI_SLIDES_NAIVE_X + threadIdx.x % 128;
    const tmap_u64 rows = gridDim.y * (tmap_u64)TMAPI_SLIDES_NAIVE_Y;
    if (!tmapi_slides_round(&s, round, 1) || x >= s.map.width) return;
    for (tmap_u64 y = blockIdx.y * TMAPI_SLIDES_NAIVE_Y + threadIdx.x / 128; y < s.map.height;
         y += rows) {
        volatile unsigned char *const at = (volatile unsigned char *)(s.words + y * s.pitch) + x;
        if (*at != 2 || !tmapi_slides_naive_reached(&s, x, y)) continue;
        *at = 3;
        tmapi_slides_again(&s, round);
    }
}

// Launches a round.
static inline cudaError_t tmapi_slides_naive_round(const tmapi_slides_state *s, tmap_u32 round,
                                                   cudaStream_t stream) {
    const tmap_u64 rows = (s->map.height + TMAPI_SLIDES_NAIVE_Y - 1) / TMAPI_SLIDES_NAIVE_Y;
    void *arguments[] = {(void *)s, &round};
    return cudaLaunchKernel((const void *)tmapi_slides_naive,
                            dim3((unsigned)s->tiles_x, rows < 65535 ? (unsigned)rows : 65535u),
                            dim3(TMAPI_SLIDES_NAIVE_X * TMAPI_SLIDES_NAIVE_Y), arguments, 0,
                            stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
