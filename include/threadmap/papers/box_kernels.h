// SPDX-License-Identifier: MIT
// box_kernels.h: the three tests of the paper (single write, reduction, cellular automaton) with
// each map of box.h.
//
// The bounding box has the catalogue's fractals as constants, as in a test written for one fractal;
// the forms of lambda have the gasket as a constant, as the paper's kernels do. Other fractals are
// passed at run time.
#ifndef TMAP_PAPERS_BOX_KERNELS_H
#define TMAP_PAPERS_BOX_KERNELS_H

#include "../fractal/ca_rule.h"
#include "../fractal/catalogue.h"
#include "box.h"

#if TMAP_CUDA

// ---- single write -------------------------------------------------------------------------------

TMAP_DEVICE void tmapi_box_sw_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, int value,
                                   int *out) {
    tmapi_box_walk walk = tmapi_box_walk_begin(f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_box_walk_place(&walk, map, f, b, wy, &p)) out[p.y * b.width + p.x] = value;
    }
}

typedef struct tmapi_box_write {
    int *out;
    tmap_u64 width;
    int value;
} tmapi_box_write;
TMAP_DEVICE void tmapi_box_write_visit(void *job, tmap_u32 x, tmap_u32 y, int cell) {
    const tmapi_box_write *j = (const tmapi_box_write *)job;
    if (cell) j->out[y * j->width + x] = j->value;
}

TMAP_DEVICE void tmapi_box_sw(int map, tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out) {
    tmapi_box_write job = {out, b.width, value};
    tmap_xy p;
    if (map == TMAP_BOX_BB_WALK)
        tmapi_box_walk_down(f, b, tmapi_box_write_visit, &job);
    else if (map != TMAP_BOX_BB)
        tmapi_box_full() ? tmapi_box_sw_walk(map, f, b, tmap_warp_full(), value, out)
                         : tmapi_box_sw_walk(map, f, b, tmap_warp_self(), value, out);
    else if (tmapi_box_bb_place(f, b, row, &p))
        out[p.y * b.width + p.x] = value;
}

// ---- reduction ----------------------------------------------------------------------------------

// Cells are summed in registers, then over the block, then into the total: one atomic a block. Four
// rows of a walk are loaded at a time.
TMAP_DEVICE void tmapi_box_rd_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, const int *in,
                                   tmap_i64 *sum) {
    __shared__ tmap_i64 scratch[32];
    tmapi_box_walk walk = tmapi_box_walk_begin(f, b, warp);
    tmap_i64 mine = 0;
#pragma unroll 4
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_box_walk_place(&walk, map, f, b, wy, &p)) mine += in[p.y * b.width + p.x];
    }
    mine = tmapi_block_sum(warp, tmap_warp_sum_i64(warp, mine), scratch);
    if (tmap_thread_rank() == 0 && mine) atomicAdd((tmap_u64 *)sum, (tmap_u64)mine);
}

typedef struct tmapi_box_read {
    const int *in;
    tmap_u64 width;
    tmap_i64 sum;
} tmapi_box_read;
TMAP_DEVICE void tmapi_box_read_visit(void *job, tmap_u32 x, tmap_u32 y, int cell) {
    tmapi_box_read *j = (tmapi_box_read *)job;
    j->sum += cell ? j->in[y * j->width + x] : 0;
}

// BB sums by warps: most have no cell and end at once, while a barrier would hold them all.
TMAP_DEVICE void tmapi_box_rd(int map, tmap_nbb f, tmap_box b, tmap_u32 row, const int *in,
                              tmap_i64 *sum) {
    if (map == TMAP_BOX_BB_WALK) {
        __shared__ tmap_i64 scratch[32];
        tmapi_box_read job = {in, b.width, 0};
        tmapi_box_walk_down(f, b, tmapi_box_read_visit, &job);
        job.sum = tmap_block_sum_i64(job.sum, scratch);
        if (tmap_thread_rank() == 0 && job.sum) atomicAdd((tmap_u64 *)sum, (tmap_u64)job.sum);
    } else if (map != TMAP_BOX_BB) {
        tmapi_box_full() ? tmapi_box_rd_walk(map, f, b, tmap_warp_full(), in, sum)
                         : tmapi_box_rd_walk(map, f, b, tmap_warp_self(), in, sum);
    } else {
        tmap_xy p;
        int cell = tmapi_box_bb_place(f, b, row, &p);
        if (__any_sync(0xffffffffu, cell)) { // lanes after the block's last thread count as exited
            tmap_warp warp = tmap_warp_self();
            tmap_i64 part = tmap_warp_sum_i32(warp, cell ? in[p.y * b.width + p.x] : 0);
            if (warp.lane == 0) atomicAdd((tmap_u64 *)sum, (tmap_u64)part);
        }
    }
}

// ---- cellular automaton -------------------------------------------------------------------------

TMAP_DEVICE void tmapi_box_ca_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp,
                                   tmap_ca_rule rule, const unsigned char *in, unsigned char *out) {
    tmapi_box_walk walk = tmapi_box_walk_begin(f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_box_walk_place(&walk, map, f, b, wy, &p))
            out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
    }
}

typedef struct tmapi_box_life {
    const unsigned char *in;
    unsigned char *out;
    tmap_u64 width, height;
    tmap_ca_rule rule;
} tmapi_box_life;
TMAP_DEVICE void tmapi_box_life_visit(void *job, tmap_u32 x, tmap_u32 y, int cell) {
    const tmapi_box_life *j = (const tmapi_box_life *)job;
    if (cell) j->out[y * j->width + x] = tmap_ca_cell(j->in, j->width, j->height, x, y, j->rule);
}

TMAP_DEVICE void tmapi_box_ca(int map, tmap_nbb f, tmap_box b, tmap_u32 row, tmap_ca_rule rule,
                              const unsigned char *in, unsigned char *out) {
    tmapi_box_life job = {in, out, b.width, b.height, rule};
    tmap_xy p;
    if (map == TMAP_BOX_BB_WALK)
        tmapi_box_walk_down(f, b, tmapi_box_life_visit, &job);
    else if (map != TMAP_BOX_BB)
        tmapi_box_full() ? tmapi_box_ca_walk(map, f, b, tmap_warp_full(), rule, in, out)
                         : tmapi_box_ca_walk(map, f, b, tmap_warp_self(), rule, in, out);
    else if (tmapi_box_bb_place(f, b, row, &p))
        out[p.y * b.width + p.x] = tmap_ca_cell(in, b.width, b.height, p.x, p.y, rule);
}

// ---- kernels ------------------------------------------------------------------------------------

// The kernels of a map and a fractal: tmapi_box_sw_bb_gasket, ... Blocks have up to 1024 threads.
#define TMAPI_BOX_KERNEL(map, name, which, fractal) \
    static __global__ void __launch_bounds__(1024) \
        tmapi_box_sw_##name##_##which(tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out) { \
        f = fractal; \
        tmapi_box_sw(map, f, b, row, value, out); \
    } \
    static __global__ void __launch_bounds__(1024) tmapi_box_rd_##name##_##which( \
        tmap_nbb f, tmap_box b, tmap_u32 row, const int *in, tmap_i64 *sum) { \
        f = fractal; \
        tmapi_box_rd(map, f, b, row, in, sum); \
    } \
    static __global__ void __launch_bounds__(1024) tmapi_box_ca_##name##_##which( \
        tmap_nbb f, tmap_box b, tmap_u32 row, tmap_ca_rule rule, \
        const unsigned char *__restrict__ in, unsigned char *__restrict__ out) { \
        f = fractal; \
        tmapi_box_ca(map, f, b, row, rule, in, out); \
    }
#define TMAPI_BOX_BOXES(which, fractal) \
    TMAPI_BOX_KERNEL(TMAP_BOX_BB, bb, which, fractal) \
    TMAPI_BOX_KERNEL(TMAP_BOX_BB_WALK, bb_walk, which, fractal)
#define TMAPI_BOX_LAMBDAS(which, fractal) \
    TMAPI_BOX_KERNEL(TMAP_BOX_LAMBDA, lambda, which, fractal) \
    TMAPI_BOX_KERNEL(TMAP_BOX_LAMBDA_SHUFFLE, shuffle, which, fractal) \
    TMAPI_BOX_KERNEL(TMAP_BOX_LAMBDA_REDUX, redux, which, fractal) \
    TMAPI_BOX_KERNEL(TMAP_BOX_LAMBDA_BALLOT, ballot, which, fractal)
#define TMAPI_BOX_FRACTAL(name, title, rows, k, sx, sy, tau_x, tau_y) \
    TMAPI_BOX_BOXES(name, tmap_fractal_##name())
TMAP_FRACTALS_TABLE1(TMAPI_BOX_FRACTAL)
#undef TMAPI_BOX_FRACTAL
TMAPI_BOX_BOXES(any, f)
TMAPI_BOX_LAMBDAS(gasket, tmap_fractal_gasket())
TMAPI_BOX_LAMBDAS(any, f)

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The kernel of a test for a map and a fractal: tmapi_box_find_sw, ...
#define TMAPI_BOX_SAME(work, name) \
    if (tmap_nbb_equal(f, tmap_fractal_##name())) \
        return map == TMAP_BOX_BB ? (const void *)tmapi_box_##work##_bb_##name \
                                  : (const void *)tmapi_box_##work##_bb_walk_##name;
#define TMAPI_BOX_SAME_sw(name, title, rows, k, sx, sy, tau_x, tau_y) TMAPI_BOX_SAME(sw, name)
#define TMAPI_BOX_SAME_rd(name, title, rows, k, sx, sy, tau_x, tau_y) TMAPI_BOX_SAME(rd, name)
#define TMAPI_BOX_SAME_ca(name, title, rows, k, sx, sy, tau_x, tau_y) TMAPI_BOX_SAME(ca, name)
#define TMAPI_BOX_ROW(work, which) \
    { \
        (const void *)tmapi_box_##work##_lambda_##which, \
            (const void *)tmapi_box_##work##_shuffle_##which, \
            (const void *)tmapi_box_##work##_redux_##which, \
            (const void *)tmapi_box_##work##_ballot_##which \
    }
#define TMAPI_BOX_FIND(work) \
    static inline const void *tmapi_box_find_##work(tmap_nbb f, int map) { \
        static const void *const lambdas[2][TMAP_BOX_MAP_COUNT - TMAP_BOX_LAMBDA] = { \
            TMAPI_BOX_ROW(work, gasket), TMAPI_BOX_ROW(work, any)}; \
        if (map >= TMAP_BOX_LAMBDA) \
            return lambdas[!tmap_nbb_equal(f, tmap_fractal_gasket())][map - TMAP_BOX_LAMBDA]; \
        TMAP_FRACTALS_TABLE1(TMAPI_BOX_SAME_##work) \
        TMAPI_BOX_ANY(work) \
    }
#define TMAPI_BOX_ANY(work) \
    return map == TMAP_BOX_BB ? (const void *)tmapi_box_##work##_bb_any \
                              : (const void *)tmapi_box_##work##_bb_walk_any;
TMAPI_BOX_FIND(sw)
TMAPI_BOX_FIND(rd)
TMAPI_BOX_FIND(ca)

// Launches a kernel over its box: BB once for each 65535 rows of blocks, the most of a grid; the
// others once, with rows of blocks for `waves` times the blocks that a device of 2048 threads a
// multiprocessor holds. behind: the kernel's arguments after the fractal, the box and the row, up
// to three.
static inline cudaError_t tmapi_box_launch(const void *kernel, tmap_nbb f, tmap_box b, int map,
                                           tmap_u64 waves, void *const behind[3],
                                           cudaStream_t stream) {
    const dim3 block(b.bx, b.by, 1);
    tmap_u64 rows = b.rows;
    tmap_u32 row = 0;
    void *arguments[6] = {&f, &b, &row, behind[0], behind[1], behind[2]};
    cudaError_t error = cudaSuccess;
    if (map != TMAP_BOX_BB) {
        int device, processors;
        const tmap_u64 threads = (tmap_u64)b.bx * b.by;
        if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        if (error) return error;
        rows = waves * (tmap_u64)processors * (threads > 64 ? 2048 / threads : 32) / b.columns;
        if (rows > b.rows) rows = b.rows;
        if (rows > 65535) rows = 65535;
        if (rows < 1) rows = 1;
        return cudaLaunchKernel(kernel, dim3((unsigned)b.columns, (unsigned)rows, 1), block,
                                arguments, 0, stream);
    }
    for (; row < b.rows && !error; row += 65535) {
        rows = b.rows - row < 65535 ? b.rows - row : 65535;
        error = cudaLaunchKernel(kernel, dim3((unsigned)b.columns, (unsigned)rows, 1), block,
                                 arguments, 0, stream);
    }
    return error;
}

// The CUDA error for a refused box.
static inline cudaError_t tmapi_box_error(int code) {
    return code == TMAP_ERANGE ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
}

// Writes `value` to every cell of fractal f of level r and to no other place, in blocks of side
// rho. map: a tmap_box_map. out: sx^r x sy^r integers in device memory, row by row. Returns
// cudaErrorInvalidValue or cudaErrorInvalidConfiguration for arguments that tmap_box_make refuses,
// else the launch's error.
static inline cudaError_t tmap_box_sw_i32(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, int value,
                                          int *out, cudaStream_t stream) {
    void *const behind[3] = {&value, &out, 0};
    tmap_box b;
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !out) return tmapi_box_error(error ? error : TMAP_EINVAL);
    return tmapi_box_launch(tmapi_box_find_sw(f, map), f, b, map, 4, behind, stream);
}

// Sets *sum, in device memory, to the sum of the cells, modulo 2^64. Other parameters and errors:
// as for tmap_box_sw_i32.
static inline cudaError_t tmap_box_rd_i32(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map,
                                          const int *in, tmap_i64 *sum, cudaStream_t stream) {
    void *const behind[3] = {&in, &sum, 0};
    tmap_box b;
    cudaError_t status;
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !in || !sum) return tmapi_box_error(error ? error : TMAP_EINVAL);
    status = cudaMemsetAsync(sum, 0, sizeof *sum, stream);
    return status ? status
                  : tmapi_box_launch(tmapi_box_find_rd(f, map), f, b, map, 4, behind, stream);
}

// Computes one step of the automaton: out = rule(in) for every cell; other places of `out` are
// unchanged. in, out: bytes in device memory, not overlapping; `in` is 0 outside the fractal. Other
// parameters and errors: as for tmap_box_sw_i32; also cudaErrorInvalidValue for equal or null
// buffers and rules of more than nine bits.
static inline cudaError_t tmap_box_ca_u8(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map,
                                         tmap_ca_rule rule, const unsigned char *in,
                                         unsigned char *out, cudaStream_t stream) {
    const int fits = in && out && in != out && rule.born <= 0x1ff && rule.survive <= 0x1ff;
    void *const behind[3] = {&rule, &in, &out};
    tmap_box b;
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !fits) return tmapi_box_error(error ? error : TMAP_EINVAL);
    return tmapi_box_launch(tmapi_box_find_ca(f, map), f, b, map, 4, behind, stream);
}

#endif
#endif
