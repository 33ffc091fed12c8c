// SPDX-License-Identifier: MIT
// core.h: function qualifiers, integer and coordinate types, error codes.
//
// It includes nothing. So it compiles as C11, as C++, under nvcc, under clang's CUDA mode with or
// without its wrapper headers, and under NVRTC, which has no <stdint.h>.
#ifndef TMAP_CORE_H
#define TMAP_CORE_H

// ---- the compiler; always defined, 0 or 1: test with #if ----------------------------------------

// 1 where CUDA device code can be written (nvcc, clang CUDA, NVRTC).
#if defined(__CUDACC__) || defined(__CUDA__) || defined(__CUDACC_RTC__)
#define TMAP_CUDA 1
#else
#define TMAP_CUDA 0
#endif

// 1 under NVRTC: device code only, no host functions and no system headers.
#if defined(__CUDACC_RTC__)
#define TMAP_NVRTC 1
#else
#define TMAP_NVRTC 0
#endif

// TMAP_FN: a pure function for host and device. TMAP_DEVICE: a function for device code only.
// TMAPI_DEVICE_CALL: a device function that is not inlined, for long code that runs once in a
// launch. The qualifiers do not depend on __CUDA_ARCH__, because host and device passes must agree
// on them; function bodies may.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TMAP_FN           static __inline__ __host__ __device__
#define TMAP_DEVICE       static __inline__ __device__
#define TMAPI_DEVICE_CALL static __inline__ __noinline__ __device__
#elif TMAP_CUDA
#define TMAP_FN           static __inline__ __attribute__((host)) __attribute__((device))
#define TMAP_DEVICE       static __inline__ __attribute__((device))
#define TMAPI_DEVICE_CALL static __inline__ __attribute__((noinline)) __attribute__((device))
#else
#define TMAP_FN           static inline
#define TMAP_DEVICE       static inline
#define TMAPI_DEVICE_CALL static inline
#endif

// For a loop that runs once in a launch: unrolling it would cost instruction fetches. And for one
// over levels that the compiler would leave as it is.
#if defined(__CUDA_ARCH__)
#define TMAPI_NO_UNROLL _Pragma("unroll 1")
#define TMAPI_UNROLL_4  _Pragma("unroll 4")
#else
#define TMAPI_NO_UNROLL
#define TMAPI_UNROLL_4
#endif

// ---- types --------------------------------------------------------------------------------------

typedef unsigned int tmap_u32;
typedef unsigned long long tmap_u64;
typedef long long tmap_i64;

// A negative array size here means: this compiler's integers lack the widths that the maps need.
typedef char tmapi_u32_is_32_bits[sizeof(tmap_u32) == 4 ? 1 : -1];
typedef char tmapi_u64_is_64_bits[sizeof(tmap_u64) == 8 ? 1 : -1];

// A cell, a tile or a thread: x increases to the right, y downwards.
typedef struct tmap_xy {
    tmap_u32 x, y;
} tmap_xy;

// A cell, a tile or a thread, with 64-bit coordinates.
typedef struct tmap_xy64 {
    tmap_u64 x, y;
} tmap_xy64;

// The same in three dimensions.
typedef struct tmap_xyz {
    tmap_u32 x, y, z;
} tmap_xyz;

// In three dimensions, with 64-bit coordinates.
typedef struct tmap_xyz64 {
    tmap_u64 x, y, z;
} tmap_xyz64;

// ---- numbers ------------------------------------------------------------------------------------

// a * b, or 2^64 - 1 where the product does not fit.
TMAP_FN tmap_u64 tmap_mul_saturate(tmap_u64 a, tmap_u64 b) {
    if (!((a | b) >> 32)) return a * b; // without a division, because launchers call this often
    return b && a > ~0ull / b ? ~0ull : a * b;
}

// ---- errors of host helpers: 0 or a negative code; outputs are written only on success ----------

#define TMAP_OK         0
#define TMAP_EINVAL     (-1) // a null pointer, or an argument outside its documented range
#define TMAP_ERANGE     (-2) // a level or size whose coordinates or counts do not fit their type
#define TMAP_EUNEQUAL   (-3) // rows of a fractal that differ in length
#define TMAP_ECHARACTER (-4) // a character that a fractal's rows do not have
#define TMAP_EEMPTY     (-5) // a fractal without a single '#'
#define TMAP_EREPLICAS  (-6) // a fractal of more than 16 replicas, or 32 in three dimensions
#define TMAP_ESIDE      (-7) // a fractal more than 16 wide or high; 4 in three dimensions
#define TMAP_EOUTSIDE   (-8) // a replica outside the fractal's grid
#define TMAP_ETWICE     (-9) // two replicas in one box of the fractal's grid

// The text of an error code, a lower-case clause without a full stop ("rows differ in length"). Any
// other code: "unknown error code".
TMAP_FN const char *tmap_strerror(int code) {
    switch (code) {
    case TMAP_OK: return "no error";
    case TMAP_EINVAL: return "invalid argument";
    case TMAP_ERANGE: return "level or size out of range";
    case TMAP_EUNEQUAL: return "rows differ in length";
    case TMAP_ECHARACTER: return "a character other than '#' and '.' (turned copies: A to v)";
    case TMAP_EEMPTY: return "no '#' in the rows";
    case TMAP_EREPLICAS: return "more than 16 replicas, or 32 in 3D";
    case TMAP_ESIDE: return "more than 16 wide or high, or 4 in 3D";
    case TMAP_EOUTSIDE: return "a replica outside the grid";
    case TMAP_ETWICE: return "two replicas in one box";
    default: return "unknown error code";
    }
}

#endif
