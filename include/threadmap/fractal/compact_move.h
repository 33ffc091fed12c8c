// SPDX-License-Identifier: MIT
// compact_move.h: ready kernels that copy states between compact storage (compact.h) and a matrix,
// convert bytes to bits and back, and compute pictures.
//
//     tmap_compact_matrix_plan plan; // of a matrix whose rows are as long as the fractal is wide
//     cudaError_t error = tmap_compact_matrix_plan_make(f, r, 0, sizeof(float), &plan);
//     if (!error) error = tmap_compact_matrix_load(&plan, matrix, cells, stream);
//     ... error = tmap_compact_matrix_store(&plan, cells, matrix, stream);
//
//     tmap_compact_bits_pack(f, r, bytes, words, stream);   // alive where a byte is not 0
//     tmap_compact_bits_unpack(f, r, words, bytes, stream); // bytes of 0 and 1
//
//     tmap_compact_window w;
//     tmap_compact_window_make(f, 20, 10, TMAP_COMPACT_WINDOW_WORDS, &w); // 1024 x 1024 pixels
//     w.x = 256, w.width = w.height = 512; // a part of them
//     tmap_compact_window_mean(&w, state, pixels, stream); // 512 * 512 floats
#ifndef TMAP_FRACTAL_COMPACT_MOVE_H
#define TMAP_FRACTAL_COMPACT_MOVE_H

#include "each.h"
#include "ready.h"

#if TMAP_CUDA && !TMAP_NVRTC

// ---- from and to a matrix -----------------------------------------------------------------------
//
// Made with each.h, for elements of 1, 2, 4, 8 or 16 bytes.

// A plan for tmap_compact_matrix_load and tmap_compact_matrix_store.
typedef struct tmap_compact_matrix_plan {
    tmap_each_plan each; // for compact storage; each.offset is its first element
    tmap_u64 pitch;      // of the matrix, in elements
    tmap_u64 offset;     // the matrix's element of cell (0, 0); 0 unless you set it
    tmap_u32 size;       // bytes of an element
} tmap_compact_matrix_plan;

typedef struct tmapi_compact_matrix {
    const unsigned char *from;
    unsigned char *to;
    tmap_u64 pitch, offset;
    int store;
} tmapi_compact_matrix;

TMAP_DEVICE tmap_u64 tmapi_compact_matrix_at(const tmapi_compact_matrix *j, tmap_cell cell,
                                             int matrix) {
    return matrix ? j->offset + cell.y * j->pitch + cell.x : cell.at;
}

#define TMAPI_COMPACT_MATRIX_KERNEL(bytes) \
    TMAP_DEVICE void tmapi_compact_matrix_read_##bytes(void *job, tmap_cell cell, void *value) { \
        const tmapi_compact_matrix *j = (const tmapi_compact_matrix *)job; \
        tmapi_value_copy(value, j->from + tmapi_compact_matrix_at(j, cell, !j->store) * bytes, \
                         bytes); \
    } \
    TMAP_DEVICE void tmapi_compact_matrix_use_##bytes(void *job, tmap_cell cell, \
                                                      const void *value) { \
        const tmapi_compact_matrix *j = (const tmapi_compact_matrix *)job; \
        tmapi_value_copy(j->to + tmapi_compact_matrix_at(j, cell, j->store) * bytes, value, \
                         bytes); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_compact_matrix_kernel_##bytes(tmap_each_plan plan, tmapi_compact_matrix job) { \
        const tmapi_each_calls calls = { \
            0, tmapi_compact_matrix_read_##bytes, tmapi_compact_matrix_use_##bytes, &job, {0, 0}}; \
        tmapi_each_compact(&plan, calls); /* tmap_each_update without the loops over matrices */ \
    }
TMAPI_COMPACT_MATRIX_KERNEL(1)
TMAPI_COMPACT_MATRIX_KERNEL(2)
TMAPI_COMPACT_MATRIX_KERNEL(4)
TMAPI_COMPACT_MATRIX_KERNEL(8)
TMAPI_COMPACT_MATRIX_KERNEL(16)
#undef TMAPI_COMPACT_MATRIX_KERNEL

static inline const void *tmapi_compact_matrix_kernel(tmap_u32 size) {
    const void *const kernels[] = {
        (const void *)tmapi_compact_matrix_kernel_1, (const void *)tmapi_compact_matrix_kernel_2,
        (const void *)tmapi_compact_matrix_kernel_4, (const void *)tmapi_compact_matrix_kernel_8,
        (const void *)tmapi_compact_matrix_kernel_16};
    return tmapi_value_kernel(size, kernels);
}

// Makes a plan for copies between a matrix and compact storage, for fractal f of level r and
// elements of `size` bytes: 1, 2, 4, 8 or 16. pitch: that of the matrix. Parameters and errors
// otherwise as tmap_each_plan_make; also cudaErrorInvalidValue for another size and for
// TMAP_COMPACT, and cudaErrorInvalidConfiguration for a level of more than 2^32 - 1 tiles (from
// gasket 26 and carpet 14 on).
static inline cudaError_t tmap_compact_matrix_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                                        tmap_u32 size,
                                                        tmap_compact_matrix_plan *out) {
    tmap_compact_matrix_plan p;
    tmap_each_plan matrix; // checks the pitch
    const void *kernel = tmapi_compact_matrix_kernel(size);
    cudaError_t error;
    if (!out || pitch == TMAP_COMPACT) return cudaErrorInvalidValue;
    error = tmap_each_plan_make(TMAP_EACH_UPDATE, f, r, pitch, kernel, &matrix);
    if (!error) error = tmap_each_plan_make(TMAP_EACH_UPDATE, f, r, TMAP_COMPACT, kernel, &p.each);
    if (!error) error = tmap_each_plan_loop(&p.each, TMAP_EACH_COMPACT);
    if (error) return error;
    p.each.type = TMAPI_READY_COMPACT_MATRIX | size;
    p.pitch = matrix.pitch, p.offset = 0, p.size = size;
    *out = p;
    return cudaSuccess;
}

static inline cudaError_t tmapi_compact_matrix_move(const tmap_compact_matrix_plan *plan, int store,
                                                    const void *from, void *to,
                                                    cudaStream_t stream) {
    tmapi_compact_matrix job;
    if (!plan || !from || !to || from == to || plan->each.loop != TMAP_EACH_COMPACT ||
        plan->each.type != (TMAPI_READY_COMPACT_MATRIX | plan->size) ||
        !tmapi_value_size_fits(plan->size, from) || !tmapi_value_size_fits(plan->size, to))
        return cudaErrorInvalidValue;
    job.from = (const unsigned char *)from, job.to = (unsigned char *)to;
    job.pitch = plan->pitch, job.offset = plan->offset, job.store = store;
    return tmap_each_launch(&plan->each, &job, stream);
}

// Copies every cell of the plan's share from a matrix to compact storage. matrix, cells: in device
// memory, at multiples of an element's size, not overlapping.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, equal pointers, and a plan of
// another maker or with another loop; otherwise the launch's own error. Cost: reads the sectors of
// the matrix that hold cells, and writes the cells.
static inline cudaError_t tmap_compact_matrix_load(const tmap_compact_matrix_plan *plan,
                                                   const void *matrix, void *cells,
                                                   cudaStream_t stream) {
    return tmapi_compact_matrix_move(plan, 0, matrix, cells, stream);
}

// Copies every cell of the plan's share from compact storage to a matrix, whose other places keep
// their values. Parameters and errors: as tmap_compact_matrix_load. Cost: reads the cells, and
// writes the sectors of the matrix that hold them.
static inline cudaError_t tmap_compact_matrix_store(const tmap_compact_matrix_plan *plan,
                                                    const void *cells, void *matrix,
                                                    cudaStream_t stream) {
    return tmapi_compact_matrix_move(plan, 1, cells, matrix, stream);
}

// ---- bytes and bits -----------------------------------------------------------------------------

typedef struct tmapi_compact_bits {
    unsigned char *bytes, *words;
    tmap_u64 count;         // of words
    tmap_compact_word word; // what one holds
} tmapi_compact_bits;

// Word i of a state with words of 2, 4 or 8 bytes.
TMAP_DEVICE tmap_u64 tmapi_compact_word_at(const void *words, tmap_u32 bytes, tmap_u64 i) {
    return bytes == 2   ? ((const unsigned short *)words)[i]
           : bytes == 4 ? ((const tmap_u32 *)words)[i]
                        : ((const tmap_u64 *)words)[i];
}

// One thread per word: byte b * count + i is bit b of word i.
static __global__ void __launch_bounds__(256) tmapi_compact_bits_pack_kernel(tmapi_compact_bits j) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    for (; i < j.count; i += gridDim.x * (tmap_u64)blockDim.x) {
        tmap_u64 word = 0;
#pragma unroll 8
        for (tmap_u32 b = 0; b < j.word.cells; ++b)
            word |= (tmap_u64)(j.bytes[b * j.count + i] != 0) << b;
        if (j.word.bytes == 2) ((unsigned short *)j.words)[i] = (unsigned short)word;
        if (j.word.bytes == 4) ((tmap_u32 *)j.words)[i] = (tmap_u32)word;
        if (j.word.bytes == 8) ((tmap_u64 *)j.words)[i] = word;
    }
}

static __global__ void __launch_bounds__(256)
    tmapi_compact_bits_unpack_kernel(tmapi_compact_bits j) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    for (; i < j.count; i += gridDim.x * (tmap_u64)blockDim.x) {
        const tmap_u64 word = tmapi_compact_word_at(j.words, j.word.bytes, i);
        for (tmap_u32 b = 0; b < j.word.cells; ++b)
            j.bytes[b * j.count + i] = (unsigned char)(word >> b & 1);
    }
}

static inline cudaError_t tmapi_compact_bits_launch(tmap_nbb f, tmap_u32 r, const void *kernel,
                                                    const void *bytes, const void *words,
                                                    cudaStream_t stream) {
    tmapi_compact_bits job;
    tmapi_launch_shape shape = {0, 256, 0};
    void *arguments[1] = {&job};
    if (!bytes || !words || bytes == words || tmap_nbb_check(f) != TMAP_OK || (tmap_u64)words % 8)
        return cudaErrorInvalidValue;
    if (r > tmap_nbb_linear_level_max64(f)) return cudaErrorInvalidConfiguration;
    job.bytes = (unsigned char *)bytes, job.words = (unsigned char *)words;
    job.word = tmap_compact_word_of(f, r), job.count = tmap_compact_words(f, r);
    shape.grid = job.count / 256 + (job.count % 256 != 0);
    if (shape.grid > 0x7fffffff) shape.grid = 0x7fffffff;
    return tmapi_launch(kernel, shape, arguments, stream);
}

// Packs the k^r bytes of a state into tmap_compact_words_bytes(f, r) bytes of words: a cell is
// alive where its byte is not 0. Idle bits become 0. bytes, words: in device memory, not
// overlapping; words at a multiple of 8. Returns cudaErrorInvalidValue for a null or misaligned
// pointer, equal pointers, and what tmap_nbb_check refuses; cudaErrorInvalidConfiguration for a
// level above tmap_nbb_linear_level_max64(f); otherwise the launch's own error. Cost: memory
// traffic of a byte and a bit for each cell.
static inline cudaError_t tmap_compact_bits_pack(tmap_nbb f, tmap_u32 r, const unsigned char *bytes,
                                                 void *words, cudaStream_t stream) {
    return tmapi_compact_bits_launch(f, r, (const void *)tmapi_compact_bits_pack_kernel, bytes,
                                     words, stream);
}

// Unpacks the words of a state into k^r bytes of 0 and 1. Parameters, errors and cost:
// as tmap_compact_bits_pack.
static inline cudaError_t tmap_compact_bits_unpack(tmap_nbb f, tmap_u32 r, const void *words,
                                                   unsigned char *bytes, cudaStream_t stream) {
    return tmapi_compact_bits_launch(f, r, (const void *)tmapi_compact_bits_unpack_kernel, bytes,
                                     words, stream);
}

// ---- windows ------------------------------------------------------------------------------------
//
// A window of a state, at any position and zoom, for pictures: each pixel is the mean of its
// cells. At zoom z a pixel is a box of sx^z x sy^z places. A pixel that is a cell of the fractal
// of level r - z holds a fractal of level z, whose k^z elements are contiguous; any other pixel
// holds no cell.

// Elements of a state: bits (compact.h), which count 0 or 1; bytes, which count 1 where they are
// not 0; floats.
typedef enum tmap_compact_window_type {
    TMAP_COMPACT_WINDOW_WORDS,
    TMAP_COMPACT_WINDOW_BYTES,
    TMAP_COMPACT_WINDOW_F32
} tmap_compact_window_type;

// A window: `width` x `height` pixels from pixel (x, y) of the picture of the complete fractal,
// which is sx^(r-z) wide and sy^(r-z) high. Pixels outside the picture hold no cell.
typedef struct tmap_compact_window {
    tmap_nbb f;
    tmap_u32 r, z;
    int type;
    tmap_u64 x, y;
    tmap_u32 width, height;
} tmap_compact_window;

// Makes the window of the complete fractal of level r at zoom z <= r; you may then change x, y,
// width and height. type: a tmap_compact_window_type. Returns TMAP_OK; TMAP_EINVAL for a null
// pointer, an unknown type, and z > r; an error of tmap_nbb_check; TMAP_ERANGE for a level above
// tmap_nbb_linear_level_max64(f), and for a picture of more than 2^32 - 1 pixels a side. *out is
// written only on success.
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
    tmap_u64 words, run; // words of the state; elements of a pixel
    tmap_u32 threads;    // for a pixel: 1, 32 or all of a block
} tmapi_compact_window;

// A thread's part of the sum of a pixel's cells, which begin at cell number `first` of the fractal.
TMAP_DEVICE double tmapi_compact_window_sum(const tmapi_compact_window *j, tmap_u64 first,
                                            tmap_u32 lane) {
    double sum = 0;
    if (j->w.type == TMAP_COMPACT_WINDOW_WORDS) {
        // A part of a sheet, or several complete ones.
        const int part = j->run <= j->words;
        const tmap_u32 bit = (tmap_u32)(first / j->words);
        const tmap_u32 bits = part ? 1 : (tmap_u32)(j->run / j->words);
        const tmap_u64 begin = part ? first % j->words : 0, count = part ? j->run : j->words;
        const tmap_u64 mask = (bits < 64 ? (1ull << bits) - 1 : ~0ull) << bit;
        tmap_u64 living = 0;
#pragma unroll 4
        for (tmap_u64 i = lane; i < count; i += j->threads) {
            const tmap_u64 at = begin + i;
            const tmap_u64 word = tmapi_compact_word_at(j->state, j->word.bytes, at);
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

// Blocks of 256 threads: one, 32 or all threads take a pixel.
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

// Adds to count[b], in shared memory, the number of words in a run from `begin` on that have bit b.
// All threads of a block of 256 call it, between barriers. A thread counts four bits of a word at
// once, in the four bytes of a register; each byte can count 255 words.
TMAP_DEVICE void tmapi_compact_window_count(const tmapi_compact_window *j, tmap_u64 begin,
                                            tmap_u64 *count) {
    const tmap_u64 turn = 255 * 256;
    const tmap_warp warp = tmap_warp_full();
    for (tmap_u64 done = 0; done < j->run; done += turn) {
        const tmap_u64 end = j->run - done < turn ? j->run : done + turn;
        tmap_u32 columns[2][8] = {{0}}; // byte c of [h][b]: of bit 32 h + 8 c + b
        tmap_u32 sum[2] = {0, 0};       // of the warp: of bits lane and 32 + lane
#pragma unroll 4
        for (tmap_u64 i = done + threadIdx.x; i < end; i += 256) {
            const tmap_u64 word = tmapi_compact_word_at(j->state, j->word.bytes, begin + i);
#pragma unroll
            for (int b = 0; b < 8; ++b) {
                columns[0][b] += (tmap_u32)word >> b & 0x01010101u;
                columns[1][b] += (tmap_u32)(word >> 32) >> b & 0x01010101u;
            }
        }
#pragma unroll
        for (tmap_u32 b = 0; b < 64; ++b)
            if (b < j->word.cells) {
                const tmap_u32 mine = columns[b / 32][b % 8] >> b % 32 / 8 * 8 & 255;
                const tmap_u32 all = tmap_warp_sum_redux(warp, mine);
                if (warp.lane == b % 32) sum[b / 32] = all;
            }
        for (tmap_u32 h = 0; h < 2; ++h)
            if (32 * h + warp.lane < j->word.cells)
                atomicAdd(&count[32 * h + warp.lane], (tmap_u64)sum[h]);
    }
}

// Reads words once for all sheets: a block of 256 threads takes the words of a pixel of sheet 0,
// which are those of the same pixel in all sheets.
static __global__ void __launch_bounds__(256)
    tmapi_compact_window_sheets_kernel(tmapi_compact_window j) {
    __shared__ tmap_u64 count[64];
    const tmap_u64 in_sheet = j.words / j.run, pixels = (tmap_u64)j.w.width * j.w.height;
    const tmap_u32 levels = j.w.r - j.w.z;
    tmap_u64 empty = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    for (; empty < pixels; empty += gridDim.x * (tmap_u64)blockDim.x)
        if (!tmap_nbb_contains64(j.w.f, j.w.x + empty % j.w.width, j.w.y + empty / j.w.width,
                                 levels))
            j.out[empty] = nanf("");
    for (tmap_u64 i = blockIdx.x; i < in_sheet; i += gridDim.x) {
        tmap_u64 pixel = ~0ull; // that of sheet threadIdx.x
        if (threadIdx.x < j.word.cells) {
            const tmap_xy64 at = tmap_compact_cell(j.w.f, threadIdx.x * in_sheet + i, levels);
            if (at.x - j.w.x < j.w.width && at.y - j.w.y < j.w.height)
                pixel = (at.y - j.w.y) * j.w.width + (at.x - j.w.x);
            count[threadIdx.x] = 0;
        }
        if (!__syncthreads_or(pixel != ~0ull)) continue;
        tmapi_compact_window_count(&j, i * j.run, count);
        __syncthreads();
        if (pixel != ~0ull) j.out[pixel] = (float)((double)count[threadIdx.x] / (double)j.run);
    }
}

// Writes the mean of each pixel's cells to `out`, row by row: for bits and bytes the fraction of
// living cells; NaN where a pixel holds no cell. state: in device memory, at a multiple of 8. out:
// width * height floats in device memory. Returns cudaErrorInvalidValue for a null or misaligned
// pointer, a window without pixels, and what tmap_compact_window_make refuses; otherwise the
// launch's own error.
// Exactness: sums are computed in float64, in an order that depends only on the window, so that
// every run gives the same picture; counts below 2^53 are exact.
// Cost: reads the window's elements once. With words it reads a word for each of its bits, but only
// once for all bits where the window is most of the picture.
static inline cudaError_t tmap_compact_window_mean(const tmap_compact_window *window,
                                                   const void *state, float *out,
                                                   cudaStream_t stream) {
    tmapi_compact_window job;
    tmap_compact_window whole;
    tmapi_launch_shape shape = {0, 256, 0};
    void *arguments[1] = {&job};
    const void *kernel = (const void *)tmapi_compact_window_kernel;
    tmap_u64 pixels;
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
    shape.grid = pixels / (256 / job.threads) + (pixels % (256 / job.threads) != 0);
    // Words are read once for all sheets where the complete picture has no more pixels with cells
    // than the window has pixels, and a block has enough work.
    if (window->type == TMAP_COMPACT_WINDOW_WORDS && job.run >= 2048 && job.run <= job.words &&
        tmap_nbb_cells(window->f, window->r - window->z) <= pixels) {
        kernel = (const void *)tmapi_compact_window_sheets_kernel;
        shape.grid = job.words / job.run;
    }
    if (shape.grid > 1u << 20) shape.grid = 1u << 20;
    return tmapi_launch(kernel, shape, arguments, stream);
}

#endif
#endif
