// SPDX-License-Identifier: MIT
// compact_window.h: a window of a state in compact storage, at any place and zoom, for pictures:
// the mean of what each pixel holds, without unpacking the rest.
//
// At zoom z a pixel is a box of sx^z x sy^z places, as the fractal of level r - z has it: a cell of
// that fractal holds a fractal of level z, whose k^z elements lie side by side; any other pixel
// holds no cell. So a picture costs the reading of the cells that are in it, once.
//
//     tmap_compact_window w;
//     tmap_compact_window_make(f, 20, 10, TMAP_COMPACT_WINDOW_WORDS, &w); // 1024 x 1024 pixels
//     w.x = 256, w.width = w.height = 512; // a part of them
//     tmap_compact_window_mean(&w, state, pixels, stream); // 512 * 512 floats
#ifndef TMAP_FRACTAL_COMPACT_WINDOW_H
#define TMAP_FRACTAL_COMPACT_WINDOW_H

#include "compact_words.h"

#if TMAP_CUDA && !TMAP_NVRTC

// Elements of a state: bits (compact_words.h), which count 0 or 1; bytes, which count as 1 where
// they are not 0; floats.
typedef enum tmap_compact_window_type {
    TMAP_COMPACT_WINDOW_WORDS,
    TMAP_COMPACT_WINDOW_BYTES,
    TMAP_COMPACT_WINDOW_F32
} tmap_compact_window_type;

// A window: `width` x `height` pixels from pixel (x, y) of the picture of the whole fractal, which
// is sx^(r-z) wide and sy^(r-z) high. Pixels outside of it hold no cell.
typedef struct tmap_compact_window {
    tmap_nbb f;
    tmap_u32 r, z;
    int type;
    tmap_u64 x, y;
    tmap_u32 width, height;
} tmap_compact_window;

// The window of the whole fractal of level r at zoom z <= r. Returns TMAP_OK; TMAP_EINVAL for a
// null pointer, an unknown type, and z > r; an error of tmap_nbb_check; TMAP_ERANGE for a level
// past tmap_nbb_linear_level_max64(f), and for a picture of more than 2^32 - 1 pixels a side. *out
// is written only on success.
static inline int tmap_compact_window_make(tmap_nbb f, tmap_u32 r, tmap_u32 z, int type,
                                           tmap_compact_window *out) {
    tmap_compact_window w;
    const int code = tmap_nbb_check(f);
    if (!out || z > r || type < TMAP_COMPACT_WINDOW_WORDS || type > TMAP_COMPACT_WINDOW_F32)
        return TMAP_EINVAL;
    if (code != TMAP_OK) return code;
    if (r > tmap_nbb_linear_level_max64(f) || tmap_nbb_side_x(f, r - z) > 0xffffffffull ||
        tmap_nbb_side_y(f, r - z) > 0xffffffffull)
        return TMAP_ERANGE;
    w.f = f, w.r = r, w.z = z, w.type = type, w.x = w.y = 0;
    w.width = (tmap_u32)tmap_nbb_side_x(f, r - z), w.height = (tmap_u32)tmap_nbb_side_y(f, r - z);
    *out = w;
    return TMAP_OK;
}

typedef struct tmapi_compact_window {
    tmap_compact_window w;
    const void *state;
    float *out;
    tmap_compact_word word;
    tmap_u64 words, run; // in the state; elements of a pixel
    tmap_u32 threads;    // of a pixel: 1, 32 or all of a block
} tmapi_compact_window;

// The sum of some cells of a pixel, from number `first` of the fractal on: a thread's own.
TMAP_DEVICE double tmapi_compact_window_sum(const tmapi_compact_window *j, tmap_u64 first,
                                            tmap_u32 lane) {
    double sum = 0;
    if (j->w.type == TMAP_COMPACT_WINDOW_WORDS) {
        // A part of a sheet, or several whole ones.
        const int part = j->run <= j->words;
        const tmap_u32 bit = (tmap_u32)(first / j->words);
        const tmap_u32 bits = part ? 1 : (tmap_u32)(j->run / j->words);
        const tmap_u64 begin = part ? first % j->words : 0, count = part ? j->run : j->words;
        const tmap_u64 mask = (bits < 64 ? (1ull << bits) - 1 : ~0ull) << bit;
        tmap_u64 living = 0;
#pragma unroll 4
        for (tmap_u64 i = lane; i < count; i += j->threads) {
            const tmap_u64 at = begin + i;
            const tmap_u64 word = j->word.bytes == 2   ? ((const unsigned short *)j->state)[at]
                                  : j->word.bytes == 4 ? ((const tmap_u32 *)j->state)[at]
                                                       : ((const tmap_u64 *)j->state)[at];
            living += (tmap_u64)__popcll((long long)(word & mask));
        }
        return (double)living;
    }
#pragma unroll 4
    for (tmap_u64 i = lane; i < j->run; i += j->threads)
        sum += j->w.type == TMAP_COMPACT_WINDOW_BYTES
                   ? (double)(((const unsigned char *)j->state)[first + i] != 0)
                   : (double)((const float *)j->state)[first + i];
    return sum;
}

// Blocks of 256 threads, which take pixels by one, 32 or all of them.
static __global__ void __launch_bounds__(256) tmapi_compact_window_kernel(tmapi_compact_window j) {
    __shared__ double part[8];
    const tmap_u32 levels = j.w.r - j.w.z, lane = threadIdx.x % j.threads;
    const tmap_u64 pixels = (tmap_u64)j.w.width * j.w.height, in_block = blockDim.x / j.threads;
    for (tmap_u64 turn = blockIdx.x; turn * in_block < pixels; turn += gridDim.x) {
        const tmap_u64 pixel = turn * in_block + threadIdx.x / j.threads;
        const tmap_u64 x = j.w.x + pixel % j.w.width, y = j.w.y + pixel / j.w.width;
        const tmap_u64 index = pixel < pixels ? tmap_compact_index(j.w.f, x, y, levels) : ~0ull;
        double sum = index == ~0ull ? 0 : tmapi_compact_window_sum(&j, index * j.run, lane);
        if (j.threads >= 32)
            for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (j.threads > 32) {
            __syncthreads();
            if (lane % 32 == 0) part[lane / 32] = sum;
            __syncthreads();
            sum = 0;
            for (tmap_u32 i = 0; i < j.threads / 32; ++i) sum += part[i];
        }
        if (lane == 0 && pixel < pixels)
            j.out[pixel] = index == ~0ull ? nanf("") : (float)(sum / (double)j.run);
    }
}

// The mean of each pixel's cells, row by row: the share of living ones for bits and bytes; NaN
// where a pixel holds no cell. state: in device memory, at a multiple of 8. out: width * height
// floats in device memory. Exactness: sums are taken in float64 in an order that hangs on the
// window alone, so that it is the same picture in every run; counts below 2^53 are exact. Returns
// cudaErrorInvalidValue for a null or misaligned pointer, a window without a pixel, and what
// tmap_compact_window_make refuses; else the launch's own error. Can be captured. Cost: reading the
// window's elements once; of words the whole word for each bit.
static inline cudaError_t tmap_compact_window_mean(const tmap_compact_window *window,
                                                   const void *state, float *out,
                                                   cudaStream_t stream) {
    tmapi_compact_window job;
    tmap_compact_window whole;
    void *arguments[1];
    tmap_u64 pixels, blocks;
    if (!window || !state || !out || (tmap_u64)state % 8 || (tmap_u64)out % 4)
        return cudaErrorInvalidValue;
    if (!window->width || !window->height ||
        tmap_compact_window_make(window->f, window->r, window->z, window->type, &whole) != TMAP_OK)
        return cudaErrorInvalidValue;
    job.w = *window, job.state = state, job.out = out;
    job.word = tmap_compact_word_of(window->f, window->r);
    job.words = tmap_compact_words(window->f, window->r);
    job.run = tmap_nbb_cells(window->f, window->z);
    job.threads = job.run <= 8 ? 1 : job.run <= 4096 ? 32 : 256;
    pixels = (tmap_u64)window->width * window->height;
    blocks = pixels / (256 / job.threads) + (pixels % (256 / job.threads) != 0);
    if (blocks > 1u << 20) blocks = 1u << 20;
    arguments[0] = &job;
    return cudaLaunchKernel((const void *)tmapi_compact_window_kernel, dim3((tmap_u32)blocks),
                            dim3(256), arguments, 0, stream);
}

#endif
#endif
