// SPDX-License-Identifier: MIT
// dummy.h: kernels that map all tiles of a level and do nothing with them, so that their time is
// the map's: one for each form of lambda.
//
// Warps walk the tiles as the kernels of the library do; each lane adds up the coordinates it gets,
// and stores them if the sums are two odd numbers, which the compiler cannot rule out. Verified by
// the sums, which have a closed form. A launch may walk all tiles several times over, since a GPU
// maps the tiles of a level that fits its memory in the time of a launch.
#ifndef BENCH_DUMMY_H
#define BENCH_DUMMY_H

#include "../timing.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/papers/group.h>
#include <threadmap/papers/mma.h>
#include <threadmap/fractal/nbb.h>

// X(name, kind, lanes): a form of lambda. Kinds: a tile for the warp at a time; groups of `lanes`
// lanes, each with a tile of its own; the same, whose tiles then go to the whole warp one by one,
// by two shuffles or, packed, by one; batches of 16 tiles, which go to the whole warp one by one.
#define DUMMY_FORMS(X) \
    X(lambda, PLAIN, 32) \
    X(shuffle, SHUFFLE, 32) \
    X(redux, REDUX, 32) \
    X(ballot, BALLOT, 32) \
    X(group1, GROUP, 1) \
    X(group2, GROUP, 2) \
    X(group4, GROUP, 4) \
    X(group8, GROUP, 8) \
    X(group16, GROUP, 16) \
    X(group32, GROUP, 32) \
    X(group4_ballot, GROUP_BALLOT, 4) \
    X(group8_ballot, GROUP_BALLOT, 8) \
    X(group16_ballot, GROUP_BALLOT, 16) \
    X(group1_tiles, GROUP_TILES, 1) \
    X(group1_packed, GROUP_PACKED, 1) \
    X(group2_tiles, GROUP_TILES, 2) \
    X(group4_tiles, GROUP_TILES, 4) \
    X(group8_tiles, GROUP_TILES, 8) \
    X(group16_tiles, GROUP_TILES, 16) \
    X(mma1, MMA1, 32) \
    X(mma2, MMA2, 4) \
    X(mma3, MMA3, 32) \
    X(mma_column, MMA_COLUMN, 32) \
    X(mma_linear, MMA_LINEAR, 32)

enum {
    DUMMY_PLAIN,
    DUMMY_SHUFFLE,
    DUMMY_REDUX,
    DUMMY_BALLOT,
    DUMMY_GROUP,
    DUMMY_GROUP_BALLOT,
    DUMMY_GROUP_TILES,
    DUMMY_GROUP_PACKED,
    DUMMY_MMA1,
    DUMMY_MMA2,
    DUMMY_MMA3,
    DUMMY_MMA_COLUMN,
    DUMMY_MMA_LINEAR
};

enum {
#define DUMMY_ENUM(name, kind, lanes) dummy_form_##name,
    DUMMY_FORMS(DUMMY_ENUM) DUMMY_FORM_COUNT
#undef DUMMY_ENUM
};

static inline const char *dummy_form_name(int form) {
    static const char *const names[] = {
#define DUMMY_NAME(name, kind, lanes) #name,
        DUMMY_FORMS(DUMMY_NAME)
#undef DUMMY_NAME
    };
    return names[form];
}

// A launch: level, the orthotope's sides, how often all tiles are mapped.
typedef struct dummy_size {
    tmap_u32 r, columns, rows, times;
    int verify;
} dummy_size;

typedef struct dummy_sums {
    tmap_u32 x, y;
} dummy_sums;

TMAP_DEVICE void dummy_add(dummy_sums *s, tmap_xy c) {
    s->x += c.x;
    s->y += c.y;
}

// This warp's rows of one column, by 32 / lanes of them at a time: `first`, `first + step`, ...
TMAP_DEVICE void dummy_groups(int kind, tmap_u32 lanes, const tmap_group *g, const tmap_mma *m,
                              tmap_nbb f, dummy_size size, tmap_u32 wx, tmap_u32 first,
                              tmap_u32 step, dummy_sums *sums) {
    tmap_u32 groups = 32 / lanes, own = (tmap_thread_rank() & 31u) / lanes;
    for (; first < size.rows; first += groups * step) {
        tmap_u32 wy = first + own * step;
        tmap_xy c;
        if (kind == DUMMY_GROUP_BALLOT)
            c = tmap_group_lambda_ballot(g, f, wx, wy);
        else if (kind == DUMMY_MMA2)
            c = tmap_mma2_lambda(m, f, wx, wy, own);
        else
            c = tmap_group_lambda(g, f, wx, wy);
        if (kind == DUMMY_GROUP_TILES) {
#pragma unroll
            for (tmap_u32 j = 0; j < groups; ++j)
                if (first + j * step < size.rows) {
                    sums->x += __shfl_sync(0xffffffffu, c.x, (int)(j * lanes));
                    sums->y += __shfl_sync(0xffffffffu, c.y, (int)(j * lanes));
                }
        } else if (kind == DUMMY_GROUP_PACKED) {
            c.x |= c.y << 16;
#pragma unroll
            for (tmap_u32 j = 0; j < groups; ++j)
                if (first + j * step < size.rows) {
                    tmap_u32 v = __shfl_sync(0xffffffffu, c.x, (int)(j * lanes));
                    sums->x += v & 0xffffu;
                    sums->y += v >> 16;
                }
        } else if (wy < size.rows) {
            dummy_add(sums, c);
        }
    }
}

// The tiles of a batch that exist, one by one.
TMAP_DEVICE void dummy_batch(const tmap_mma_tiles *t, tmap_nbb f, tmap_u32 first, tmap_u32 step,
                             tmap_u32 end, dummy_sums *sums) {
    tmap_mma_batch b = tmap_mma_tiles_map(t, f, first, step);
    if (first + (TMAP_MMA_TILES - 1) * (tmap_u64)step < end) { // no test for each tile
#pragma unroll
        for (tmap_u32 j = 0; j < TMAP_MMA_TILES; ++j)
            dummy_add(sums, tmap_mma_tiles_cell(t, f, b, j));
    } else {
        for (tmap_u32 j = 0; first + j * (tmap_u64)step < end; ++j)
            dummy_add(sums, tmap_mma_tiles_cell(t, f, b, j));
    }
}

TMAP_DEVICE void dummy_walk(int kind, tmap_u32 lanes, tmap_nbb f, dummy_size size, tmap_u32 *out) {
    tmap_warp w = tmap_warp_full();
    // From a shuffle the compiler sees that it is the same in all lanes: collectives in loops that
    // it bounds then need no test for divergence.
    tmap_u32 warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), warps = blockDim.x / 32;
    tmap_u32 first = blockIdx.y * warps + warp, step = gridDim.y * warps;
    tmap_warp_level level = tmap_warp_level_make(w, f, size.r);
    tmap_group group = tmap_group_make(w, f, size.r, lanes);
    tmap_mma mma = tmap_mma_make(w, f, size.r, 0);
    tmap_mma_tiles linear = tmap_mma_tiles_make_linear(w, f, size.r, 0);
    dummy_sums sums = {0, 0};
    for (tmap_u32 time = 0; time < size.times; ++time) {
        if (kind == DUMMY_MMA_LINEAR) {
            tmap_u32 all = gridDim.x * step, tiles = size.columns * size.rows;
            for (tmap_u32 i = blockIdx.x * step + first; i < tiles; i += TMAP_MMA_TILES * all)
                dummy_batch(&linear, f, i, all, tiles, &sums);
            continue;
        }
        for (tmap_u32 wx = blockIdx.x; wx < size.columns; wx += gridDim.x) {
            if (kind == DUMMY_GROUP || kind == DUMMY_GROUP_BALLOT || kind == DUMMY_GROUP_TILES ||
                kind == DUMMY_GROUP_PACKED || kind == DUMMY_MMA2) {
                dummy_groups(kind, lanes, &group, &mma, f, size, wx, first, step, &sums);
            } else if (kind == DUMMY_MMA_COLUMN) {
                tmap_mma_tiles column = tmap_mma_tiles_make_column(w, f, size.r, 0, wx);
                for (tmap_u32 wy = first; wy < size.rows; wy += TMAP_MMA_TILES * step)
                    dummy_batch(&column, f, wy, step, size.rows, &sums);
            } else {
                for (tmap_u32 wy = first; wy < size.rows; wy += step) {
                    tmap_xy c;
                    if (kind == DUMMY_PLAIN)
                        c = tmap_nbb_lambda(f, wx, wy, size.r);
                    else if (kind == DUMMY_SHUFFLE)
                        c = tmap_warp_level_shuffle(&level, f, wx, wy);
                    else if (kind == DUMMY_REDUX)
                        c = tmap_warp_level_redux(&level, f, wx, wy);
                    else if (kind == DUMMY_BALLOT)
                        c = tmap_warp_level_ballot(&level, f, wx, wy);
                    else if (kind == DUMMY_MMA1)
                        c = tmap_mma1_lambda(&mma, f, wx, wy);
                    else
                        c = tmap_mma3_lambda(&mma, f, wx, wy, w.lane & 7u, w.lane / 8);
                    dummy_add(&sums, c);
                }
            }
        }
    }
    if (size.verify) { // one lane of those that share a tile
        int tiles = kind == DUMMY_GROUP_TILES || kind == DUMMY_GROUP_PACKED,
            shares = tiles ? 32 : (int)lanes;
        if (w.lane % (tmap_u32)shares == 0) {
            atomicAdd(&out[0], sums.x);
            atomicAdd(&out[1], sums.y);
        }
    } else if (sums.x == 0x9e3779b9u && sums.y == 0x7f4a7c15u) {
        out[0] = 1;
    }
}

#define DUMMY_KERNEL(fractal, value, name, kind, lanes) \
    static __global__ void __launch_bounds__(256) \
        dummy_##name##_##fractal(tmap_nbb f, dummy_size size, tmap_u32 *out) { \
        f = value; \
        dummy_walk(DUMMY_##kind, lanes, f, size, out); \
    }
#define DUMMY_gasket(name, kind, lanes) \
    DUMMY_KERNEL(gasket, tmap_fractal_gasket(), name, kind, lanes)
#define DUMMY_carpet(name, kind, lanes) \
    DUMMY_KERNEL(carpet, tmap_fractal_carpet(), name, kind, lanes)
DUMMY_FORMS(DUMMY_gasket)
DUMMY_FORMS(DUMMY_carpet)

// 1 if a form exists for fractal f of level r: ballots need s = 2, linear indices 32 bits, packed
// coordinates 16, and the orthotope a grid.
static inline int dummy_has(int form, tmap_nbb f, tmap_u32 r) {
    tmap_xy64 box = tmap_nbb_orthotope(f, r);
    if (r > tmap_nbb_level_max32(f) || box.x > 0x7fffffffull) return 0;
    if (form == dummy_form_mma_linear) return tmap_nbb_cells(f, r) <= 0x7fffffffull;
    if (form == dummy_form_group1_packed) // both coordinates in a word
        return tmap_nbb_side_x(f, r) <= 65536 && tmap_nbb_side_y(f, r) <= 65536;
    if (form == dummy_form_ballot || form == dummy_form_group4_ballot ||
        form == dummy_form_group8_ballot || form == dummy_form_group16_ballot)
        return tmap_nbb_has_ballot(f);
    return 1;
}

// A launch that maps all tiles of level r of the gasket or the carpet, `times` times over. out: two
// words in device memory; with `verify` the sums of x and of y modulo 2^32 are added to them.
typedef struct dummy_job {
    tmap_nbb f;
    tmap_u32 r, times;
    int form, verify;
    tmap_u32 *out;
} dummy_job;

static void dummy_run(void *context) {
    typedef void (*kernel)(tmap_nbb, dummy_size, tmap_u32 *);
#define DUMMY_ENTRY_gasket(name, kind, lanes) dummy_##name##_gasket,
#define DUMMY_ENTRY_carpet(name, kind, lanes) dummy_##name##_carpet,
    static const kernel gasket[] = {DUMMY_FORMS(DUMMY_ENTRY_gasket)};
    static const kernel carpet[] = {DUMMY_FORMS(DUMMY_ENTRY_carpet)};
    const dummy_job *j = (const dummy_job *)context;
    const tmap_xy64 box = tmap_nbb_orthotope(j->f, j->r);
    const dummy_size size = {j->r, (tmap_u32)box.x, (tmap_u32)box.y, j->times, j->verify};
    const int is_gasket = tmap_nbb_equal(j->f, tmap_fractal_gasket());
    int processors;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    // As many blocks as the device holds at once: columns first, the rest of them rows.
    const tmap_u64 blocks = (tmap_u64)processors * 8, most = (box.y + 7) / 8;
    const unsigned columns = (unsigned)(box.x < blocks ? box.x : blocks);
    const unsigned rows = (unsigned)(blocks / columns < most ? blocks / columns : most);
    (is_gasket ? gasket : carpet)[j->form]<<<dim3(columns, rows ? rows : 1), 256>>>(j->f, size,
                                                                                    j->out);
    CHECK(cudaGetLastError());
}

// How many of the sums of a form are wrong, twice over.
// The closed form: each replica holds k^(r-1) of the k^r tiles at each level, so that the sum of x
// is sum(tau_x) * k^(r-1) * sum(sx^(mu-1)).
static inline int dummy_wrong(dummy_job j) {
    const tmap_nbb f = j.f;
    const tmap_u32 each = j.r ? tmapi_pow32(f.k, j.r - 1) : 0;
    tmap_u32 got[2], x = 0, y = 0, tau_x = 0, tau_y = 0;
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        tau_x += tmap_nbb_tau(f, beta).x;
        tau_y += tmap_nbb_tau(f, beta).y;
    }
    for (tmap_u32 mu = 1; mu <= j.r; ++mu) {
        x += tau_x * tmapi_pow32(f.sx, mu - 1) * each;
        y += tau_y * tmapi_pow32(f.sy, mu - 1) * each;
    }
    j.times = 2, j.verify = 1;
    CHECK(cudaMemset(j.out, 0, sizeof got));
    dummy_run(&j);
    CHECK(cudaMemcpy(got, j.out, sizeof got, cudaMemcpyDeviceToHost));
    return (got[0] != 2 * x) + (got[1] != 2 * y);
}

#endif
