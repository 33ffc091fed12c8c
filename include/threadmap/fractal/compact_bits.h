// SPDX-License-Identifier: MIT
// compact_bits.h: states of one byte a cell in compact storage to one bit a cell (compact_words.h)
// and back.
//
//     tmap_compact_bits_pack(f, r, bytes, words, stream);   // alive where a byte is not 0
//     tmap_compact_bits_unpack(f, r, words, bytes, stream); // bytes of 0 and 1
#ifndef TMAP_FRACTAL_COMPACT_BITS_H
#define TMAP_FRACTAL_COMPACT_BITS_H

#include "compact_words.h"

#if TMAP_CUDA && !TMAP_NVRTC

typedef struct tmapi_compact_bits {
    unsigned char *bytes, *words;
    tmap_u64 count;         // of words
    tmap_compact_word word; // what one holds
} tmapi_compact_bits;

// A thread for each word: byte b * count + i is bit b of word i, so that a warp's bytes lie side by
// side. Eight are on their way at a time.
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
        const tmap_u64 word = j.word.bytes == 2   ? ((const unsigned short *)j.words)[i]
                              : j.word.bytes == 4 ? ((const tmap_u32 *)j.words)[i]
                                                  : ((const tmap_u64 *)j.words)[i];
        for (tmap_u32 b = 0; b < j.word.cells; ++b)
            j.bytes[b * j.count + i] = (unsigned char)(word >> b & 1);
    }
}

static inline cudaError_t tmapi_compact_bits_launch(tmap_nbb f, tmap_u32 r, const void *kernel,
                                                    const void *bytes, const void *words,
                                                    cudaStream_t stream) {
    tmapi_compact_bits job;
    void *arguments[1];
    tmap_u64 blocks;
    if (!bytes || !words || tmap_nbb_check(f) != TMAP_OK || (tmap_u64)words % 8)
        return cudaErrorInvalidValue;
    if (r > tmap_nbb_linear_level_max64(f)) return cudaErrorInvalidConfiguration;
    job.bytes = (unsigned char *)bytes, job.words = (unsigned char *)words;
    job.word = tmap_compact_word_of(f, r), job.count = tmap_compact_words(f, r);
    blocks = job.count / 256 + (job.count % 256 != 0);
    arguments[0] = &job;
    return cudaLaunchKernel(kernel, dim3(blocks < 0x7fffffff ? (tmap_u32)blocks : 0x7fffffff),
                            dim3(256), arguments, 0, stream);
}

// Packs the k^r bytes of a state into tmap_compact_words_bytes(f, r) bytes of words: a cell is
// alive where its byte is not 0. Idle bits become 0. bytes, words: in device memory, not
// overlapping; words at a multiple of 8. Returns cudaErrorInvalidValue for a null pointer, words
// elsewhere, and what tmap_nbb_check refuses; cudaErrorInvalidConfiguration for a level past
// tmap_nbb_linear_level_max64(f); else the launch's own error. Can be captured. Cost: what memory
// takes for a byte and a bit of each cell.
static inline cudaError_t tmap_compact_bits_pack(tmap_nbb f, tmap_u32 r, const unsigned char *bytes,
                                                 void *words, cudaStream_t stream) {
    return tmapi_compact_bits_launch(f, r, (const void *)tmapi_compact_bits_pack_kernel, bytes,
                                     words, stream);
}

// The way back: bytes of 0 and 1. Errors and cost: the same.
static inline cudaError_t tmap_compact_bits_unpack(tmap_nbb f, tmap_u32 r, const void *words,
                                                   unsigned char *bytes, cudaStream_t stream) {
    return tmapi_compact_bits_launch(f, r, (const void *)tmapi_compact_bits_unpack_kernel, bytes,
                                     words, stream);
}

#endif
#endif
