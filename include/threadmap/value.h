// SPDX-License-Identifier: MIT
// value.h: values of the user's types as the engines handle them: so many bytes.
//
// Private to the library. A value on its way is a few bytes of a local variable, which the compiler
// turns into registers, as sizes and places are constants.
#ifndef TMAP_VALUE_H
#define TMAP_VALUE_H

#include "core.h"

#if TMAP_CUDA

// Room for one value of any type up to 16 bytes.
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

// Copies a value of 1, 2, 4, 8 or 16 bytes at a multiple of its size; of any other size, nothing.
TMAP_DEVICE void tmapi_value_copy(void *to, const void *from, tmap_u32 size) {
    if (size == 1) *(tmapi_value_u8 *)to = *(const tmapi_value_u8 *)from;
    if (size == 2) *(tmapi_value_u16 *)to = *(const tmapi_value_u16 *)from;
    if (size == 4) *(tmapi_value_u32 *)to = *(const tmapi_value_u32 *)from;
    if (size == 8) *(tmapi_value_u64 *)to = *(const tmapi_value_u64 *)from;
    if (size == 16) *(tmapi_value_u128 *)to = *(const tmapi_value_u128 *)from;
}

// Sets a value to zero bytes.
TMAP_DEVICE void tmapi_value_zero(void *to, tmap_u32 size) {
    const tmapi_value_u128 zeros = {0, 0, 0, 0};
    tmapi_value_copy(to, &zeros, size);
}

TMAP_DEVICE tmap_u32 tmapi_value_shuffle_word(tmap_u32 word, int right) {
    return right ? __shfl_down_sync(0xffffffffu, word, 1) : __shfl_up_sync(0xffffffffu, word, 1);
}

// The value of the lane to the right, or else to the left, of this one; of any lane where there is
// none. right: a constant. Collective for the warp.
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

#endif // TMAP_CUDA

// 1 if `size` is one that these functions know, and a pointer a multiple of it.
TMAP_FN int tmapi_value_size_fits(tmap_u32 size, const void *pointer) {
    const int known = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
    return known && (tmap_u64)pointer % size == 0;
}

#endif
