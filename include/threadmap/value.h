// SPDX-License-Identifier: MIT
// value.h: arrays and values of your types, as bytes: copies, shuffles, and asynchronous copies to
// shared memory.
//
// A value is held in a few bytes of a local variable. Sizes and positions are constants, so that
// the compiler keeps it in registers.
#ifndef TMAP_VALUE_H
#define TMAP_VALUE_H

#include "core.h"

// An array in device memory. In a kernel `size` is a constant, which nvcc folds.
//     const tmap_array in = {job.in, sizeof *job.in};
typedef struct tmap_array {
    const void *data; // element 0, at a multiple of an element's size
    tmap_u32 size;    // of an element, in bytes
} tmap_array;

// Stores by __stcs and __stcg, which clang's CUDA mode does not have.
#if defined(__clang__) && defined(__CUDA__)
#define TMAPI_STCS(to, value) (*(to) = (value))
#define TMAPI_STCG(to, value) (*(volatile tmap_u32 *)(to) = (value))
#else
#define TMAPI_STCS(to, value) __stcs(to, value)
#define TMAPI_STCG(to, value) __stcg(to, value)
#endif

// 1 if `size` is one that the functions below know, and `pointer` is a multiple of it.
TMAP_FN int tmapi_value_size_fits(tmap_u32 size, const void *pointer) {
    const int known = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
    return known && (tmap_u64)pointer % size == 0;
}

// The kernel for elements of `size` bytes, from five kernels for 1, 2, 4, 8 and 16 bytes; null for
// any other size.
TMAP_FN const void *tmapi_value_kernel(tmap_u32 size, const void *const *kernels) {
    for (tmap_u32 i = 0; i < 5; ++i)
        if (size == 1u << i) return kernels[i];
    return 0;
}

#if TMAP_CUDA

// Space for one value of any type up to 16 bytes.
typedef struct tmapi_value {
    alignas(16) unsigned char bytes[16];
} tmapi_value;

// Integers through which values of any type may be copied.
#if defined(__GNUC__)
#define TMAPI_ALIAS __attribute__((__may_alias__))
#else
#define TMAPI_ALIAS
#endif
typedef unsigned char TMAPI_ALIAS tmapi_value_u8;
typedef unsigned short TMAPI_ALIAS tmapi_value_u16;
typedef tmap_u32 TMAPI_ALIAS tmapi_value_u32;
typedef tmap_u64 TMAPI_ALIAS tmapi_value_u64;
typedef struct TMAPI_ALIAS tmapi_value_u128 {
    alignas(16) tmap_u32 a;
    tmap_u32 b, c, d;
} tmapi_value_u128;
#undef TMAPI_ALIAS

// Copies a value of 1, 2, 4, 8 or 16 bytes at a multiple of its size; does nothing for other sizes.
TMAP_DEVICE void tmapi_value_copy(void *to, const void *from, tmap_u32 size) {
    if (size == 1) *(tmapi_value_u8 *)to = *(const tmapi_value_u8 *)from;
    if (size == 2) *(tmapi_value_u16 *)to = *(const tmapi_value_u16 *)from;
    if (size == 4) *(tmapi_value_u32 *)to = *(const tmapi_value_u32 *)from;
    if (size == 8) *(tmapi_value_u64 *)to = *(const tmapi_value_u64 *)from;
    if (size == 16) *(tmapi_value_u128 *)to = *(const tmapi_value_u128 *)from;
}

// Sets the bytes of a value to zero.
TMAP_DEVICE void tmapi_value_zero(void *to, tmap_u32 size) {
    const tmapi_value_u128 zeros = {0, 0, 0, 0};
    tmapi_value_copy(to, &zeros, size);
}

TMAP_DEVICE tmap_u32 tmapi_value_shuffle_word(tmap_u32 word, int right) {
    return right ? __shfl_down_sync(0xffffffffu, word, 1) : __shfl_up_sync(0xffffffffu, word, 1);
}

// Takes the value of the lane to the right, or else to the left; meaningless where there is no
// lane. right: a constant. Collective for the warp.
TMAP_DEVICE void tmapi_value_shuffle(void *to, const void *from, tmap_u32 size, int right) {
    if (size == 1)
        *(tmapi_value_u8 *)to =
            (unsigned char)tmapi_value_shuffle_word(*(const tmapi_value_u8 *)from, right);
    if (size == 2)
        *(tmapi_value_u16 *)to =
            (unsigned short)tmapi_value_shuffle_word(*(const tmapi_value_u16 *)from, right);
#pragma unroll
    for (tmap_u32 i = 0; i < 4; ++i)
        if (i < size / 4)
            ((tmapi_value_u32 *)to)[i] =
                tmapi_value_shuffle_word(((const tmapi_value_u32 *)from)[i], right);
}

// *a where `first` is 1, else *b.
TMAP_DEVICE void tmapi_value_pick(void *to, int first, const void *a, const void *b,
                                  tmap_u32 size) {
    if (first)
        tmapi_value_copy(to, a, size);
    else
        tmapi_value_copy(to, b, size);
}

// ---- asynchronous copies ------------------------------------------------------------------------
//
// From device memory to shared memory: in the background from compute capability 8.0 on, immediate
// before. A thread waits for its own copies; a barrier then makes them visible to other threads.

// Copies 4, 8 or 16 bytes, a constant.
TMAP_DEVICE void tmapi_async_copy(void *to, const void *from, tmap_u32 bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const tmap_u32 at = (tmap_u32)__cvta_generic_to_shared(to);
    if (bytes == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
    if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(from) : "memory");
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
    tmapi_value_copy(to, from, bytes);
#endif
}

// Does the same with a global address, which needs fewer registers than a generic one in
// some loops.
TMAP_DEVICE void tmapi_async_send(void *to, const void *from, tmap_u32 bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    from = (const void *)__cvta_generic_to_global(from);
#endif
    tmapi_async_copy(to, from, bytes);
}

// Copies 4, 8 or 16 bytes, or writes zeros where the source does not exist. L1 caches them, and L2
// evicts them last: the points of a matrix that is larger than L2 are read again for each of its
// rows of tiles.
TMAP_DEVICE void tmapi_async_copy_or_zero(void *to, const void *from, tmap_u32 bytes, int exists) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const tmap_u32 at = (tmap_u32)__cvta_generic_to_shared(to), read = exists ? bytes : 0;
    tmap_u64 last;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
#define TMAPI_COPY_LAST(bytes) \
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], " #bytes \
                 ", %2, %3;" ::"r"(at), \
                 "l"(from), "r"(read), "l"(last) \
                 : "memory")
    if (bytes == 4) TMAPI_COPY_LAST(4);
    if (bytes == 8) TMAPI_COPY_LAST(8);
    if (bytes == 16) TMAPI_COPY_LAST(16);
#undef TMAPI_COPY_LAST
#else
    if (exists)
        tmapi_value_copy(to, from, bytes);
    else
        tmapi_value_zero(to, bytes);
#endif
}

// Ends a batch of the thread's copies.
TMAP_DEVICE void tmapi_async_commit(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for the thread's batches: all of them, or all except the last one. but_last: a constant.
TMAP_DEVICE void tmapi_async_wait(int but_last) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (but_last)
        asm volatile("cp.async.wait_group 1;" ::: "memory");
    else
        asm volatile("cp.async.wait_group 0;" ::: "memory");
#else
    (void)but_last;
#endif
}

// Waits for all of the thread's copies, in a batch or not.
TMAP_DEVICE void tmapi_async_wait_all(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#endif // TMAP_CUDA
#endif
