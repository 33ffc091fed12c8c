// SPDX-License-Identifier: MIT
// tensor_forms.h: the paper's three tests on the gasket by each form of papers/tensor.h: a block
// for each tile, as the paper launches it, or blocks that walk down `walk` tiles; and by shuffles,
// a block for each tile, on any fractal.
#ifndef BENCH_TENSOR_FORMS_H
#define BENCH_TENSOR_FORMS_H

#include <threadmap/fractal/ca_rule.h>
#include <threadmap/fractal/catalogue.h>
#include <threadmap/papers/tensor.h>

#include <cuda_runtime.h>

TMAP_DEVICE void tensor_sw_walk(int form, tmap_nbb f, tmap_box b, tmap_warp warp, void *shared,
                                int value, int *out) {
    const tmap_tensor t = tmap_tensor_begin(form, f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmap_tensor_place(&t, form, f, b, wy, shared, &p)) out[p.y * b.width + p.x] = value;
    }
}

TMAP_DEVICE void tensor_rd_walk(int form, tmap_nbb f, tmap_box b, tmap_warp warp, void *shared,
                                const int *in, tmap_i64 *sum) {
    __shared__ tmap_i64 scratch[32];
    const tmap_tensor t = tmap_tensor_begin(form, f, b, warp);
    tmap_i64 mine = 0;
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmap_tensor_place(&t, form, f, b, wy, shared, &p)) mine += in[p.y * b.width + p.x];
    }
    mine = tmapi_block_sum(warp, tmap_warp_sum_i64(warp, mine), scratch);
    if (tmap_thread_rank() == 0 && mine) atomicAdd((tmap_u64 *)sum, (tmap_u64)mine);
}

TMAP_DEVICE void tensor_ca_walk(int form, tmap_nbb f, tmap_box b, tmap_warp warp, void *shared,
                                tmap_ca_rule rule, const unsigned char *in, unsigned char *out) {
    const tmap_tensor t = tmap_tensor_begin(form, f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmap_tensor_place(&t, form, f, b, wy, shared, &p))
            out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
    }
}

// Two blocks of 1024 threads at once where a multiprocessor holds 2048 threads.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
                               __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030)
#define TENSOR_BLOCKS 2
#else
#define TENSOR_BLOCKS 1
#endif

// The kernels of a form and a fractal. Each walk is compiled twice, as in box.h.
#define TENSOR_BOTH(walk, ...) \
    __shared__ SHARED shared; \
    if (tmapi_box_full()) \
        walk(FORM, f, b, tmap_warp_full(), &shared, __VA_ARGS__); \
    else \
        walk(FORM, f, b, tmap_warp_self(), &shared, __VA_ARGS__);
#define TENSOR_KERNELS(name, fractal) \
    static __global__ void __launch_bounds__(1024, TENSOR_BLOCKS) \
        tensor_sw_##name(tmap_nbb f, tmap_box b, int value, int *out) { \
        f = fractal; \
        TENSOR_BOTH(tensor_sw_walk, value, out) \
    } \
    static __global__ void __launch_bounds__(1024, TENSOR_BLOCKS) \
        tensor_rd_##name(tmap_nbb f, tmap_box b, const int *in, tmap_i64 *sum) { \
        f = fractal; \
        TENSOR_BOTH(tensor_rd_walk, in, sum) \
    } \
    static __global__ void __launch_bounds__(1024, TENSOR_BLOCKS) \
        tensor_ca_##name(tmap_nbb f, tmap_box b, tmap_ca_rule rule, \
                         const unsigned char *__restrict__ in, unsigned char *__restrict__ out) { \
        f = fractal; \
        TENSOR_BOTH(tensor_ca_walk, rule, in, out) \
    }
#define SHARED tmap_tensor_tiles
#define FORM   TMAP_TENSOR_SHUFFLE
TENSOR_KERNELS(shuffle_any, f)
TENSOR_KERNELS(shuffle, tmap_fractal_gasket())
#undef FORM
#define FORM TMAP_TENSOR_MMA1
TENSOR_KERNELS(mma1, tmap_fractal_gasket())
#undef FORM
#define FORM TMAP_TENSOR_MMA2
TENSOR_KERNELS(mma2, tmap_fractal_gasket())
#undef FORM
#define FORM TMAP_TENSOR_MMA3
TENSOR_KERNELS(mma3, tmap_fractal_gasket())
#undef FORM
#undef SHARED
#define SHARED tmap_wmma_shared
#define FORM   TMAP_TENSOR_WMMA1
TENSOR_KERNELS(wmma1, tmap_fractal_gasket())
#undef FORM
#define FORM TMAP_TENSOR_WMMA2
TENSOR_KERNELS(wmma2, tmap_fractal_gasket())
#undef FORM
#undef SHARED
#define SHARED tmap_wmma3_shared
#define FORM   TMAP_TENSOR_WMMA3
TENSOR_KERNELS(wmma3, tmap_fractal_gasket())
#undef FORM
#undef SHARED
#undef TENSOR_KERNELS
#undef TENSOR_BOTH
#undef TENSOR_BLOCKS

// 1 if there are kernels of this form for the fractal.
static inline int tensor_has(int form, tmap_nbb f) {
    return form == TMAP_TENSOR_SHUFFLE || tmap_nbb_equal(f, tmap_fractal_gasket());
}

// Launches a kernel over its box, with `walk` rows of it for each block.
static inline cudaError_t tensor_launch(const void *kernel, tmap_box b, tmap_u32 walk,
                                        void **arguments) {
    tmap_u64 rows = (b.rows + walk - 1) / walk;
    if (rows > 65535) rows = 65535; // the most that a grid has: blocks walk over the rest
    return cudaLaunchKernel(kernel, dim3((unsigned)b.columns, (unsigned)rows, 1),
                            dim3(b.bx, b.by, 1), arguments, 0, 0);
}

// The kernel of a form and of test 0 (SW), 1 (RD) or 2 (CA): the gasket's, or that of any fractal.
static inline const void *tensor_find(int test, int form, tmap_nbb f) {
#define TENSOR_ROW(name) \
    { \
        (const void *)tensor_sw_##name, (const void *)tensor_rd_##name, \
            (const void *)tensor_ca_##name \
    }
    static const void *const any[3] = TENSOR_ROW(shuffle_any);
    static const void *const gasket[TMAP_TENSOR_FORM_COUNT][3] = {
        TENSOR_ROW(shuffle), TENSOR_ROW(mma1),  TENSOR_ROW(mma2), TENSOR_ROW(mma3),
        TENSOR_ROW(wmma1),   TENSOR_ROW(wmma2), TENSOR_ROW(wmma3)};
#undef TENSOR_ROW
    return tmap_nbb_equal(f, tmap_fractal_gasket()) ? gasket[form][test] : any[test];
}

#endif
