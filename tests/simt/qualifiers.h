// SPDX-License-Identifier: MIT
// The words CUDA adds to C++, and the two helpers that delaunch.py writes into sources.
#ifndef SIMT_QUALIFIERS_H
#define SIMT_QUALIFIERS_H

#define __host__
#define __device__
#define __global__ __attribute__((unused)) // nvcc does not mind either
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))

// No macro __noinline__: the C++ library writes __attribute__((__noinline__)). delaunch.py puts
// this in its place instead.
#define SIMT_NOINLINE __attribute__((noinline))

// For the machine itself: what runs at every barrier and collective is not slowed by sanitizers.
#define SIMT_UNCHECKED __attribute__((no_sanitize("address", "undefined")))

// One block runs at a time, so its shared variables can be statics. As globals they get red zones
// from AddressSanitizer. delaunch.py follows each declaration by SIMT_POISON.
#define __shared__ static

// Fills a shared variable with 0xA5 when the first thread of a block comes by: what an earlier
// block left, or the zeros of a fresh static, must not look like a result.
#define SIMT_POISON(variable)                                                                      \
    do {                                                                                           \
        static unsigned long long simt_block;                                                      \
        if (simt_block != simt::machine.block_serial) {                                            \
            simt_block = simt::machine.block_serial;                                               \
            memset((void *)&(variable), 0xA5, sizeof(variable));                                   \
        }                                                                                          \
    } while (0)

// Promises to the optimiser are checked here.
#define __builtin_assume(x) ((x) ? (void)0 : simt::fail("the assumption %s does not hold", #x))
#define __assume(x) __builtin_assume(x)

#endif
