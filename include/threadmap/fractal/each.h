// SPDX-License-Identifier: MIT
// each.h: work of the user's own on every cell of a fractal.
//
//     typedef struct paint { int *out; int colour; } paint;
//     static __device__ void dab(void *job, tmap_cell cell) {
//         paint *p = (paint *)job;
//         p->out[cell.at] = p->colour;
//     }
//     __global__ void __launch_bounds__(512, 2) paint_cells(tmap_each_plan plan, paint p) {
//         tmap_each(&plan, dab, &p);
//     }
//     ... tmap_each_plan_make(f, r, 0, (const void *)paint_cells, &plan);
//     ... tmap_each_launch(&plan, &p, stream);
//
// A fractal of level r lies in a matrix whose rows are `pitch` elements apart, or in compact
// storage (compact.h): TMAP_COMPACT in place of a pitch. A plan is made on the host for one
// fractal, level, pitch and kernel of the user's, and passed to that kernel by value. There one
// call goes by it:
//
//     tmap_each          does something at every cell; for what only stores
//     tmap_each_update   reads, and then uses or writes: quicker where memory is read
//     tmap_each_fold     makes one value of all cells (fold.h)
//     tmap_each_stencil  needs a cell's neighbours (stencil.h)
//
// Each of the four has a plan maker of its own, which chooses what is quick for it. Any of them is
// right by any plan, and every cell of the plan's share is visited exactly once.
//
// The engine uses the first plan.shared bytes of the block's dynamic shared memory. A kernel that
// wants some for itself launches with more and takes what lies behind them.
#ifndef TMAP_FRACTAL_EACH_H
#define TMAP_FRACTAL_EACH_H

#include "../fold.h"
#include "../launch.h"
#include "rows.h"
#include "compact_stencil.h"

// ---- the plan -----------------------------------------------------------------------------------

// The loops. A plan maker chooses one; tmap_each_plan_loop takes another one.
typedef enum tmap_each_loop {
    TMAP_EACH_LINEAR,  // a thread for each cell, by tmap_nbb_lambda_linear
    TMAP_EACH_COLUMNS, // a warp for each tile of up to 32 x 32 places, a lane for each column
    TMAP_EACH_ROWS,    // all warps along the rows, by two tables in shared memory (rows.h)
    TMAP_EACH_GROUPS,  // for folds: a warp for each tile of up to 64 x 64 places, 16 bytes a lane
    TMAP_EACH_COMPACT  // compact storage, tile by tile: the only one for it beside _LINEAR
} tmap_each_loop;

#define TMAP_EACH_LOOP_COUNT 5

// The kinds of work, whose plan makers differ in what they prefer.
typedef enum tmap_each_work {
    TMAP_EACH_VISIT,   // tmap_each
    TMAP_EACH_UPDATE,  // tmap_each_update
    TMAP_EACH_FOLD,    // tmap_each_fold
    TMAP_EACH_STENCIL, // tmap_each_stencil
    TMAP_EACH_WORDS    // tmap_each_stencil_words
} tmap_each_work;

// A plan. Items are what a share of the work is counted in: cells by _LINEAR, in the order of
// tmap_nbb_lambda_linear, and by _ROWS, row by row; tiles by the others, in the order of
// tmap_nbb_lambda_linear of level r - tile_level.
typedef struct tmap_each_plan {
    tmap_nbb f;
    tmap_u32 r;
    tmap_u32 loop;       // a tmap_each_loop
    tmap_u32 tile_level; // of the tiles; 0 where items are cells
    tmap_u32 chunk; // _ROWS: the cells that a warp takes at a time; _COMPACT, of a stencil: the
                    // tiles that a block has side by side; else 0
    tmap_u32 halo;  // the same: values that a tile has from those beside it
    tmap_compact_word word; // compact.h; bytes 0: elements are cells
    tmap_u32 dense;  // 1: memory is asked for a cell's sector some time before it is stored to, by
                     // tmap_each_stencil and, with elements of 4 bytes and more, by tmap_each_into
    tmap_u32 holes;  // 1: the same by tmap_each_into with smaller elements in the loop _COLUMNS
    tmap_u64 pitch;  // elements from a row to the next, or TMAP_COMPACT
    tmap_u64 offset; // element of cell (0, 0), or the first of compact storage; 0 unless the
                     // user sets it: the fractal may lie anywhere in a larger matrix
    tmap_u64 items;  // of the whole fractal
    tmap_u64 first, count; // this launch's share of them
    // the launch
    const void *kernel;           // null unless the maker was given one
    tmap_u32 grid, block, shared; // blocks, threads of a block, bytes
    tmap_u32 warps;               // that the device holds at once, of those that pay
    tmap_u32 work;                // a tmap_each_work: what the plan was made for
    tmap_u32 type;                // of elements, where a client has several; else 0
} tmap_each_plan;

// The number of elements from that of cell (0, 0) to that of the last cell, both included: what a
// matrix of this plan has at least; of compact storage the number of cells. Saturates.
TMAP_FN tmap_u64 tmap_each_plan_places(const tmap_each_plan *plan) {
    if (plan->pitch == TMAP_COMPACT) return tmap_nbb_cells(plan->f, plan->r);
    tmap_u64 rows = tmap_mul_saturate(tmap_nbb_side_y(plan->f, plan->r) - 1, plan->pitch);
    tmap_u64 width = tmap_nbb_side_x(plan->f, plan->r);
    return rows > ~0ull - width ? ~0ull : rows + width;
}

#if !TMAP_NVRTC

// The name of a loop in tables and results, as "linear"; "?" for any other number.
static inline const char *tmap_each_loop_name(int loop) {
    static const char *const names[] = {"linear", "columns", "rows", "groups", "compact"};
    return loop >= 0 && loop < TMAP_EACH_LOOP_COUNT ? names[loop] : "?";
}

// ---- a plan from facts --------------------------------------------------------------------------

// What a kind of work likes: warps of a multiprocessor, cells of a warp's chunk by _ROWS, places
// for each cell up to which sectors are asked for before they are stored to, and the loops in the
// order in which they are tried.
typedef struct tmapi_each_wish {
    tmap_u32 warps, chunk, sparse;
    int loops[3];
} tmapi_each_wish;

// Up to that many cells a launch takes some microseconds, and the shortest code is the best.
#define TMAPI_EACH_SMALL (1u << 16)

// Stores: few warps, in the order of the rows. Reads: many, and long chunks. Lanes on the columns
// of a tile make whole lines of memory where it is 32 wide; elsewhere rows are better.
static inline tmapi_each_wish tmapi_each_wish_of(tmap_u32 work, tmap_nbb f, tmap_u32 r,
                                                 tmap_u64 pitch) {
    const int small = tmap_nbb_cells(f, r) <= TMAPI_EACH_SMALL;
    const int whole = tmap_nbb_side_x(f, tmap_tile_level(f, TMAP_LEVEL_MAX)) == 32;
    const int first = small ? TMAP_EACH_LINEAR : whole ? TMAP_EACH_COLUMNS : TMAP_EACH_ROWS;
    const int fold = small ? TMAP_EACH_LINEAR : f.sx % 2 ? TMAP_EACH_ROWS : TMAP_EACH_GROUPS;
    const int compact = work == TMAP_EACH_WORDS ? TMAP_EACH_COMPACT : TMAP_EACH_LINEAR;
    const tmapi_each_wish of_compact = {32, 0, 0, {TMAP_EACH_COMPACT, compact, compact}};
    const tmapi_each_wish of_matrix[4] = {
        {16, 1024, 4, {first, TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR}},
        {32, 2048, 4, {first, TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR}},
        {32, 4096, 4, {fold, TMAP_EACH_GROUPS, TMAP_EACH_LINEAR}},
        {32, 2048, 16, {TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR, TMAP_EACH_LINEAR}},
    };
    return pitch == TMAP_COMPACT ? of_compact : of_matrix[work & 3];
}

// 1 if the loop exists for this fractal and level. *tile_level, *shared: what it takes then. The
// groups of _GROUPS are at most as many as cells: 8 bytes for each of 64 rows, 4 for each of 128
// counts, 8 for each group, and what four reads of a warp may see behind them.
static inline int tmapi_each_loop_fits(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, int loop,
                                       tmap_u32 *tile_level, tmap_u32 *shared) {
    *tile_level = *shared = 0;
    if (loop != TMAP_EACH_LINEAR && (loop == TMAP_EACH_COMPACT) != (pitch == TMAP_COMPACT))
        return 0;
    switch (loop) {
    case TMAP_EACH_LINEAR: return r <= tmap_nbb_linear_level_max64(f);
    case TMAP_EACH_COLUMNS: *tile_level = tmap_tile_level(f, r); break;
    case TMAP_EACH_ROWS: return (*shared = tmap_rows_bytes(f, r)) != 0;
    case TMAP_EACH_GROUPS:
        *tile_level = tmap_nbb_tile_level(f, r, 64);
        *shared = 8 * 64 + 4 * 128 + 8 * ((tmap_u32)tmap_nbb_cells(f, *tile_level) + 32 * 4);
        break;
    case TMAP_EACH_COMPACT:
        *tile_level = tmapi_compact_tile_level(f, r);
        *shared = 4 * (tmap_u32)tmap_nbb_cells(f, *tile_level);
        break;
    default: return 0;
    }
    return tmap_nbb_cells(f, r - *tile_level) <= 0xffffffffull; // tiles have 32-bit numbers
}

// The blocks for `count` of the plan's items, at most `most`; by _ROWS also the chunk, which has at
// most the wished number of cells.
static inline tmap_u32 tmapi_each_plan_blocks(tmap_each_plan *plan, tmap_u64 count, tmap_u64 most) {
    const tmap_u64 in_block = plan->block / 32;
    tmap_u64 unit = in_block, blocks; // unit: items of a block
    if (plan->loop == TMAP_EACH_LINEAR) unit = plan->block;
    if (plan->loop == TMAP_EACH_ROWS) { // chunks that end together
        const tmap_u32 chunk = tmapi_each_wish_of(plan->work, plan->f, plan->r, plan->pitch).chunk;
        const tmap_u64 warps = most * in_block, turn = warps * chunk;
        const tmap_u64 chunks = (count / turn + (count % turn != 0)) * warps;
        const tmap_u64 share = chunks ? count / chunks + (count % chunks != 0) : 1;
        plan->chunk = (tmap_u32)((share + 31) / 32 * 32);
        unit = in_block * plan->chunk;
    }
    if (plan->loop == TMAP_EACH_COMPACT && plan->chunk) unit = plan->chunk;
    blocks = count / unit + (count % unit != 0);
    if (blocks > most) blocks = most;
    return blocks ? (tmap_u32)blocks : 1;
}

// Restricts a plan to `count` of its items from item `first` on: one GPU's share of the work, or a
// batch of it. Shares that together are all items visit every cell once. Returns TMAP_OK, or
// TMAP_EINVAL for a null pointer and for items that the plan does not have. A share has at most the
// blocks of the whole: a fold's memory, a part for each block, may have been counted for these.
// Example: the second half: (&plan, plan.items / 2, plan.items - plan.items / 2).
static inline int tmap_each_plan_share_of(tmap_each_plan *plan, tmap_u64 first, tmap_u64 count) {
    tmap_u64 most;
    if (!plan || first > plan->items || count > plan->items - first) return TMAP_EINVAL;
    most = plan->loop == TMAP_EACH_LINEAR ? 0x7fffffff : plan->warps / (plan->block / 32);
    plan->first = first, plan->count = count;
    plan->grid = tmapi_each_plan_blocks(plan, plan->items, most);
    plan->grid = tmapi_each_plan_blocks(plan, plan->count, plan->grid);
    return TMAP_OK;
}

// The block of 32 to 512 threads with which a multiprocessor holds most warps, up to those wished:
// of equally good ones the largest, as blocks share tables.
static inline int tmapi_each_plan_block(tmap_each_plan *plan, const tmap_facts *facts) {
    const tmap_u32 warps = tmapi_each_wish_of(plan->work, plan->f, plan->r, plan->pitch).warps;
    tmap_u32 best = 0;
    for (tmap_u32 block = 512; block >= 32; block /= 2) {
        const tmap_u32 in_block = block / 32, wished = (warps + in_block - 1) / in_block;
        tmap_u32 blocks = tmap_resident_blocks(facts, block, plan->shared);
        if (blocks > wished) blocks = wished;
        if (blocks * in_block <= best) continue;
        best = blocks * in_block;
        plan->block = block, plan->warps = best * facts->device.processors;
    }
    return best ? TMAP_OK : TMAP_ERANGE;
}

// The block of a stencil on compact storage for tiles of the plan's level: a thread for each cell
// of as many tiles side by side as let a multiprocessor hold most cells; the smallest of those that
// are as good, as a block's threads wait for each other. TMAP_ERANGE if no block fits.
static inline int tmapi_each_plan_side_by_side(tmap_each_plan *plan, const tmap_facts *facts) {
    const tmap_u32 cells = (tmap_u32)tmap_nbb_cells(plan->f, plan->tile_level);
    tmap_each_plan p = *plan;
    tmap_u32 best = 0;
    p.halo = tmapi_compact_halo(p.f, p.tile_level);
    for (p.chunk = 1; p.chunk <= TMAPI_COMPACT_SIDE_BY_SIDE; ++p.chunk) {
        tmap_u32 resident;
        p.block = (p.chunk * cells + 31) / 32 * 32;
        p.shared = tmapi_compact_shared_bytes(p.f, cells, p.chunk, p.halo, p.word.bytes != 0);
        resident = tmap_resident_blocks(facts, p.block, p.shared);
        if (!resident) break; // nor do larger ones fit
        if (resident * p.chunk * cells <= best) continue;
        best = resident * p.chunk * cells;
        p.warps = resident * (p.block / 32) * facts->device.processors;
        *plan = p;
    }
    return best ? TMAP_OK : TMAP_ERANGE;
}

// The block for the largest tiles that fit one. Where there are few tiles, a multiprocessor gets
// fewer blocks, but two, as a block takes as long to begin as it does for about 24 tiles.
static inline int tmapi_each_plan_tiles(tmap_each_plan *plan, const tmap_facts *facts) {
    for (;; --plan->tile_level) {
        const tmap_u64 tiles = tmap_nbb_cells(plan->f, plan->r - plan->tile_level);
        tmap_u32 in_block, of_all;
        if (tiles > 0xffffffffull) return TMAP_ERANGE;
        if (tmapi_each_plan_side_by_side(plan, facts) != TMAP_OK) {
            if (!plan->tile_level) return TMAP_ERANGE;
            continue;
        }
        in_block = plan->block / 32, of_all = in_block * facts->device.processors;
        while (plan->warps > 2 * of_all &&
               tiles / (24 * (tmap_u64)plan->chunk) < plan->warps / in_block)
            plan->warps -= of_all;
        return TMAP_OK;
    }
}

// Another loop than the maker chose, through all of the plan's cells; for tests and measurements.
// facts: those that the plan was made from. Returns TMAP_EINVAL for a null pointer, TMAP_ERANGE for
// a loop that this fractal and level do not have or this kernel has no room for; the plan is then
// what it was.
static inline int tmap_each_plan_loop_of(tmap_each_plan *plan, int loop, const tmap_facts *facts) {
    tmap_each_plan p;
    int code;
    if (!plan || !facts) return TMAP_EINVAL;
    p = *plan;
    if (!tmapi_each_loop_fits(p.f, p.r, p.pitch, loop, &p.tile_level, &p.shared))
        return TMAP_ERANGE;
    p.loop = (tmap_u32)loop, p.chunk = p.halo = 0;
    code = loop == TMAP_EACH_COMPACT && p.work >= TMAP_EACH_STENCIL
               ? tmapi_each_plan_tiles(&p, facts)
               : tmapi_each_plan_block(&p, facts);
    if (code != TMAP_OK) return code;
    p.items = tmap_nbb_cells(p.f, p.r - p.tile_level);
    (void)tmap_each_plan_share_of(&p, 0, p.items);
    *plan = p;
    return TMAP_OK;
}

// The plan of one kind of work: see tmap_each_plan_of. A plan of words is one of their sheets,
// whose level is lower by that of the words.
static inline int tmapi_each_plan_of(tmap_u32 work, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                     const tmap_facts *facts, tmap_each_plan *out) {
    const tmap_compact_word cells_alone = {0, 1, 0};
    tmap_each_plan p;
    tmapi_each_wish wish;
    tmap_u64 width, cells, places;
    int code = TMAP_ERANGE;
    if (!out || !facts || tmap_nbb_check(f) != TMAP_OK) return TMAP_EINVAL;
    if (r > tmap_nbb_level_max32(f)) return TMAP_ERANGE;
    if (pitch == TMAP_COMPACT && r > tmap_nbb_linear_level_max64(f)) return TMAP_ERANGE;
    p.word = work == TMAP_EACH_WORDS ? tmap_compact_word_of(f, r) : cells_alone;
    r -= p.word.level;
    width = tmap_nbb_side_x(f, r), cells = tmap_nbb_cells(f, r);
    places = tmap_mul_saturate(width, tmap_nbb_side_y(f, r));
    if (pitch && pitch < width) return TMAP_EINVAL;
    p.f = f, p.r = r, p.pitch = pitch ? pitch : width, p.offset = 0;
    p.kernel = 0, p.work = work, p.type = 0;
    if (tmap_each_plan_places(&p) == ~0ull) return TMAP_ERANGE;
    wish = tmapi_each_wish_of(work, f, r, p.pitch);
    // A sector that is written in part is read: where many are, it pays to ask for them beforehand.
    p.holes = pitch != TMAP_COMPACT && cells <= places / 4 * 3;
    p.dense = p.holes && cells >= places / wish.sparse;
    for (int i = 0; i < 3 && code == TMAP_ERANGE; ++i)
        code = tmap_each_plan_loop_of(&p, wish.loops[i], facts);
    if (code == TMAP_OK) *out = p;
    return code;
}

// tmap_each_plan_make from facts (launch.h); calls nothing of CUDA. The plan's kernel is null; who
// launches it raises the kernel's limit of dynamic shared memory where plan.shared needs that.
// Returns TMAP_OK, TMAP_EINVAL or TMAP_ERANGE where tmap_each_plan_make has cudaErrorInvalidValue
// or cudaErrorInvalidConfiguration. The makers for other work are alike.
static inline int tmap_each_plan_of(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, const tmap_facts *facts,
                                    tmap_each_plan *out) {
    return tmapi_each_plan_of(TMAP_EACH_VISIT, f, r, pitch, facts, out);
}
static inline int tmap_each_update_plan_of(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                           const tmap_facts *facts, tmap_each_plan *out) {
    return tmapi_each_plan_of(TMAP_EACH_UPDATE, f, r, pitch, facts, out);
}

#endif // !TMAP_NVRTC

#if TMAP_CUDA && !TMAP_NVRTC

// ---- a plan from a kernel, and its launch -------------------------------------------------------

static inline cudaError_t tmapi_each_plan_make(tmap_u32 work, tmap_nbb f, tmap_u32 r,
                                               tmap_u64 pitch, const void *kernel,
                                               tmap_each_plan *out) {
    tmap_facts facts;
    tmap_each_plan p;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmapi_each_plan_of(work, f, r, pitch, &facts, &p));
    if (!error) error = tmapi_launch_shared(kernel, p.shared);
    if (error) return error;
    *out = p, out->kernel = kernel;
    return cudaSuccess;
}

// The plan of a kernel that calls tmap_each, for fractal f of level r in a matrix with `pitch`
// elements from a row to the next; 0: as many as the fractal is wide. kernel: a __global__
// function, cast to const void *. Made once, a plan serves any number of launches on the device
// that was the current one.
// Returns cudaErrorInvalidValue for a null pointer, for what tmap_nbb_check refuses, and for a
// pitch below the fractal's width; cudaErrorInvalidConfiguration for a level whose coordinates do
// not fit 32 bits or whose places do not fit 64, and for a kernel whose block does not fit the
// device; else a CUDA error. *out is written only on success. A level of more than 2^32 - 1 tiles
// goes by _LINEAR. Examples: the gasket's levels 26 to 31, the carpet's 14 to 20.
// Cost: some calls of the CUDA runtime, which do not wait for the device.
// Example: tmap_each_plan_make(tmap_fractal_carpet(), 10, 0, (const void *)draw_cells, &plan).
static inline cudaError_t tmap_each_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                              const void *kernel, tmap_each_plan *out) {
    return tmapi_each_plan_make(TMAP_EACH_VISIT, f, r, pitch, kernel, out);
}

// The plan of a kernel that calls tmap_each_update. Parameters and errors: as tmap_each_plan_make.
static inline cudaError_t tmap_each_update_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                                     const void *kernel, tmap_each_plan *out) {
    return tmapi_each_plan_make(TMAP_EACH_UPDATE, f, r, pitch, kernel, out);
}

// tmap_each_plan_loop_of and tmap_each_plan_share_of of a plan with a kernel, for the current
// device. TMAP_EINVAL becomes cudaErrorInvalidValue, TMAP_ERANGE cudaErrorInvalidConfiguration;
// else a CUDA error.
static inline cudaError_t tmap_each_plan_loop(tmap_each_plan *plan, int loop) {
    tmap_facts facts;
    cudaError_t error = plan ? tmap_facts_get(plan->kernel, &facts) : cudaErrorInvalidValue;
    if (error) return error;
    tmap_each_plan p = *plan;
    error = tmapi_launch_error(tmap_each_plan_loop_of(&p, loop, &facts));
    if (!error) error = tmapi_launch_shared(p.kernel, p.shared);
    if (!error) *plan = p;
    return error;
}
static inline cudaError_t tmap_each_plan_share(tmap_each_plan *plan, tmap_u64 first,
                                               tmap_u64 count) {
    return tmapi_launch_error(tmap_each_plan_share_of(plan, first, count));
}

// Launches the plan's kernel, whose parameters are the plan and one struct of the user's, both by
// value: (tmap_each_plan, JOB). job: the address of that struct. Returns the launch's own error;
// one that an earlier call has left is neither reported nor cleared. Can be captured. A share
// without an item is launched too, as one block: what the kernel does beside the cells, such as
// writing a sum, is done by every share.
static inline cudaError_t tmap_each_launch(const tmap_each_plan *plan, tmap_job job,
                                           cudaStream_t stream) {
    if (!plan || !plan->kernel || !job) return cudaErrorInvalidValue;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

#endif

// ---- the loops ----------------------------------------------------------------------------------
//
// A loop that reads has its reads in flight before it uses the first of them, in two steps for a
// batch of cells. Function pointers that are constants are folded, and their calls inlined.

#if TMAP_CUDA

// 1 if a plan is one that a maker has made. size: of an element; 1 where it is unknown.
TMAP_DEVICE int tmapi_each_check(const tmap_each_plan *plan, tmap_u32 size, const char *function) {
    const int made = plan->loop < TMAP_EACH_LOOP_COUNT && plan->first <= plan->items &&
                     plan->count <= plan->items - plan->first;
    return TMAPI_CHECK(made, function, "no maker of plans has made the plan") &&
           TMAPI_CHECK(tmapi_value_size_fits(size, 0), function,
                       "elements do not have 1, 2, 4, 8 or 16 bytes");
}

// What a user hands to tmap_each, and the two steps of tmap_each_update.
typedef void (*tmap_each_visit)(void *job, tmap_cell cell);
typedef void (*tmap_each_read)(void *job, tmap_cell cell, void *value);
typedef void (*tmap_each_use)(void *job, tmap_cell cell, const void *value);

// The functions of a walk: `visit` alone, or `read` and `use`; the others are null. into: the
// matrix that is stored to; size 0: unknown.
typedef struct tmapi_each_calls {
    tmap_each_visit visit;
    tmap_each_read read;
    tmap_each_use use;
    void *job;
    tmap_array into;
} tmapi_each_calls;

// Asks memory for the sector of *place.
TMAP_DEVICE void tmapi_each_fetch(const void *place) {
#if defined(__CUDA_ARCH__)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(place)));
#else
    (void)place;
#endif
}

// Up to this size a sector holds many elements: it pays to ask by _COLUMNS even where cells are
// few, and never by _ROWS.
#define TMAPI_EACH_SIZE_SMALL 2u

// The first step at a cell, and the second.
TMAP_DEVICE void tmapi_each_first(const tmap_each_plan *plan, tmapi_each_calls calls,
                                  tmap_cell cell, void *value) {
    const tmap_u32 size = calls.into.size;
    if (calls.read) calls.read(calls.job, cell, value);
    if (size && (size <= TMAPI_EACH_SIZE_SMALL ? plan->holes : plan->dense))
        tmapi_each_fetch((const unsigned char *)calls.into.data + cell.at * size);
}
TMAP_DEVICE void tmapi_each_second(tmapi_each_calls calls, tmap_cell cell, const void *value) {
    if (calls.visit)
        calls.visit(calls.job, cell);
    else
        calls.use(calls.job, cell, value);
}

// Cells of a batch.
#define TMAPI_EACH_BATCH 8

TMAP_DEVICE tmap_cell tmapi_each_cell(const tmap_each_plan *plan, tmap_u32 x, tmap_u32 y) {
    const tmap_cell cell = {x, y, plan->offset + y * plan->pitch + x};
    return cell;
}

// Cell number i by tmap_nbb_lambda_linear.
TMAP_DEVICE tmap_cell tmapi_each_linear_cell(const tmap_each_plan *plan, tmap_u64 i) {
    tmap_cell cell;
    if (i >> 32) {
        const tmap_xy64 p = tmap_nbb_lambda_linear64(plan->f, i, plan->r);
        cell = tmapi_each_cell(plan, (tmap_u32)p.x, (tmap_u32)p.y);
    } else {
        const tmap_xy p = tmap_nbb_lambda_linear(plan->f, (tmap_u32)i, plan->r);
        cell = tmapi_each_cell(plan, p.x, p.y);
    }
    if (plan->pitch == TMAP_COMPACT) cell.at = plan->offset + i;
    return cell;
}

// A thread for each cell. The share may be one of tiles: tile t has the cells from t k^m on.
TMAP_DEVICE void tmapi_each_linear(const tmap_each_plan *plan, tmapi_each_calls calls) {
    const tmap_u64 threads = (tmap_u64)blockDim.x * blockDim.y * blockDim.z;
    const tmap_u64 of_item = tmapi_pow64(plan->f.k, plan->tile_level);
    const tmap_u64 end = (plan->first + plan->count) * of_item;
    tmap_u64 i = plan->first * of_item + blockIdx.x * threads + tmap_thread_rank();
    for (; i < end; i += gridDim.x * threads) {
        const tmap_cell cell = tmapi_each_linear_cell(plan, i);
        tmapi_value value;
        if (calls.read) calls.read(calls.job, cell, &value);
        tmapi_each_second(calls, cell, &value);
    }
}

// A warp's tiles, a lane for each column; in narrow tiles several lanes share one, a band of rows
// each. cells: the rows of the column that are cells; bits: those of the lane's band, from its
// first.
typedef struct tmapi_each_tile {
    tmap_tiles tiles;
    tmap_u32 width, height; // of a tile
    tmap_u32 column, row;   // of the lane's first place
    tmap_u32 rows;          // of a band
    tmap_u32 cells, bits;
} tmapi_each_tile;

TMAP_DEVICE tmapi_each_tile tmapi_each_tile_begin(const tmap_each_plan *plan) {
    const tmap_u32 m = plan->tile_level, lane = tmap_thread_rank() % 32;
    tmapi_each_tile t;
    tmap_u32 bands, band;
    t.tiles = tmap_tiles_begin(plan->f, plan->r, m);
    t.width = tmapi_pow32(plan->f.sx, m), t.height = tmapi_pow32(plan->f.sy, m);
    bands = 32 / t.width, band = lane / t.width;
    t.rows = (t.height + bands - 1) / bands;
    t.column = lane - band * t.width, t.row = band * t.rows;
    t.cells = tmap_tile_column(plan->f, m, t.height, t.column);
    t.bits = band < bands && t.row < t.height ? t.cells >> t.row : 0;
    if (t.rows < 32) t.bits &= (1u << t.rows) - 1;
    return t;
}

TMAP_DEVICE void tmapi_each_columns(const tmap_each_plan *plan, tmapi_each_calls calls) {
    tmapi_each_tile t;
    tmap_u64 i;
    if (tmap_thread_rank() / 32 >= tmapi_fold_warps()) return;
    t = tmapi_each_tile_begin(plan);
    for (i = plan->first + t.tiles.first; i < plan->first + plan->count; i += t.tiles.stride) {
        const tmap_xy tile = tmap_tiles_at(&t.tiles, plan->f, (tmap_u32)i);
        tmap_cell cell =
            tmapi_each_cell(plan, tile.x * t.width + t.column, tile.y * t.height + t.row);
        tmap_u32 bits = t.bits;
        for (tmap_u32 y = 0; y < t.rows; y += TMAPI_EACH_BATCH, bits >>= TMAPI_EACH_BATCH) {
            tmapi_value value[TMAPI_EACH_BATCH];
            if (calls.read || calls.into.size) {
                tmap_cell ahead = cell;
#pragma unroll
                for (int j = 0; j < TMAPI_EACH_BATCH; ++j, ++ahead.y, ahead.at += plan->pitch)
                    if (bits >> j & 1) tmapi_each_first(plan, calls, ahead, &value[j]);
                __syncwarp(); // keeps reads and uses apart
            }
#pragma unroll
            for (int j = 0; j < TMAPI_EACH_BATCH; ++j, ++cell.y, cell.at += plan->pitch)
                if (bits >> j & 1) tmapi_each_second(calls, cell, &value[j]);
        }
    }
}

// The tables of a plan's rows. Collective for the block.
TMAP_DEVICE tmap_rows tmapi_each_rows_make(const tmap_each_plan *plan) {
    extern __shared__ uint4 tmapi_each_shared[];
    return tmap_rows_make(plan->f, plan->r, (tmap_u32 *)tmapi_each_shared);
}

// All warps along the rows, each lane on a way of its own through its warp's chunk.
TMAP_DEVICE void tmapi_each_rows(const tmap_each_plan *plan, tmapi_each_calls calls) {
    const tmap_rows rows = tmapi_each_rows_make(plan);
    const tmap_u32 warps = tmapi_fold_warps(), rank = tmap_thread_rank(), lane = rank % 32;
    const tmap_u64 end = plan->first + plan->count, chunk = plan->chunk;
    tmap_u64 first = plan->first + (blockIdx.x * (tmap_u64)warps + rank / 32) * chunk;
    if (calls.into.size <= TMAPI_EACH_SIZE_SMALL) calls.into.size = 0;
    if (rank / 32 >= warps) return;
    for (; first < end; first += gridDim.x * (tmap_u64)warps * chunk) {
        const tmap_u32 count = end - first < chunk ? (tmap_u32)(end - first) : (tmap_u32)chunk;
        tmap_row row = tmap_rows_seek(&rows, (tmap_u32)first + lane);
        for (tmap_u32 i = lane; i - lane < count; i += 32 * TMAPI_EACH_BATCH) {
            tmapi_value value[TMAPI_EACH_BATCH];
            tmap_cell cell[TMAPI_EACH_BATCH];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j, tmap_rows_skip(&rows, 32, &row))
                if (i + 32 * j < count) {
                    cell[j] = tmapi_each_cell(plan, tmap_rows_x(&rows, &row, 0), row.y);
                    tmapi_each_first(plan, calls, cell[j], &value[j]);
                }
            __syncwarp(); // keeps coordinates and reads apart from uses
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j)
                if (i + 32 * j < count) tmapi_each_second(calls, cell[j], &value[j]);
        }
    }
}

// Cell i of a tile in compact storage. place: of each cell in a tile, x | y << 16.
TMAP_DEVICE tmap_cell tmapi_each_compact_cell(tmap_xy corner, tmap_u64 at, const tmap_u32 *place,
                                              tmap_u32 i) {
    const tmap_u32 p = place[i];
    const tmap_cell cell = {corner.x + (p & 0xffff), corner.y + (p >> 16), at + i};
    return cell;
}

// Compact storage: a warp for each tile, whose elements lie side by side.
TMAP_DEVICE void tmapi_each_compact(const tmap_each_plan *plan, tmapi_each_calls calls) {
    extern __shared__ uint4 tmapi_each_shared[];
    tmap_u32 *place = (tmap_u32 *)tmapi_each_shared;
    const tmap_u32 m = plan->tile_level, cells = tmapi_pow32(plan->f.k, m);
    const tmap_u32 width = tmapi_pow32(plan->f.sx, m), height = tmapi_pow32(plan->f.sy, m);
    const tmap_u32 rank = tmap_thread_rank(), lane = rank % 32;
    tmap_tiles tiles;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = rank; i < cells; i += blockDim.x * blockDim.y * blockDim.z) {
        const tmap_xy p = tmap_nbb_lambda_linear(plan->f, i, m);
        place[i] = p.x | p.y << 16;
    }
    __syncthreads();
    if (rank / 32 >= tmapi_fold_warps()) return;
    tiles = tmap_tiles_begin(plan->f, plan->r, m);
    for (tmap_u64 t = plan->first + tiles.first; t < plan->first + plan->count; t += tiles.stride) {
        tmap_xy corner = tmap_tiles_at(&tiles, plan->f, (tmap_u32)t);
        const tmap_u64 at = plan->offset + t * cells;
        corner.x *= width, corner.y *= height;
        for (tmap_u32 i = lane; i - lane < cells; i += 32 * TMAPI_EACH_BATCH) {
            tmapi_value value[TMAPI_EACH_BATCH];
            if (calls.read) {
#pragma unroll
                for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j)
                    if (i + 32 * j < cells)
                        calls.read(calls.job,
                                   tmapi_each_compact_cell(corner, at, place, i + 32 * j),
                                   &value[j]);
                __syncwarp(); // keeps reads and uses apart
            }
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_EACH_BATCH; ++j)
                if (i + 32 * j < cells)
                    tmapi_each_second(calls, tmapi_each_compact_cell(corner, at, place, i + 32 * j),
                                      &value[j]);
        }
    }
}

// Every cell of the plan's share. All threads of all blocks call it.
TMAP_DEVICE void tmapi_each_walk(const tmap_each_plan *plan, tmapi_each_calls calls) {
    if (plan->loop == TMAP_EACH_COLUMNS)
        tmapi_each_columns(plan, calls);
    else if (plan->loop == TMAP_EACH_ROWS)
        tmapi_each_rows(plan, calls);
    else if (plan->loop == TMAP_EACH_COMPACT)
        tmapi_each_compact(plan, calls);
    else
        tmapi_each_linear(plan, calls);
}

// ---- tmap_each ----------------------------------------------------------------------------------

// Calls visit(job, cell) once for every cell of the plan's share, by some thread of the launch, in
// no particular order. All threads of all blocks call it, with the same arguments. visit: a
// __device__ function, which must not hold a barrier or a collective, as other lanes may have no
// cell. job: anything; `&parameter` of the kernel is free of cost.
// Cost: a few instructions for each cell. Registers: about 40 and the visitor's.
// Example: gasket, r = 1, pitch 2: visits (0,0,at 0) (0,1,at 2) (1,1,at 3).
TMAP_DEVICE void tmap_each(const tmap_each_plan *plan, tmap_each_visit visit, void *job) {
    const tmapi_each_calls calls = {visit, 0, 0, job, {0, 0}};
    if (!tmapi_each_check(plan, 1, "tmap_each")) return;
    tmapi_each_walk(plan, calls);
}

// The same for a visitor that stores to element cell.at of `into`: the engine asks memory for
// cells' sectors some time before. It does so for elements of 4 bytes and more where the plan finds
// sectors that many cells share (plan->dense), and for smaller ones in the loop _COLUMNS unless
// nearly all places are cells (plan->holes); else it goes as tmap_each. into.data: the matrix's
// element 0, whatever plan->offset is.
// Cost beside tmap_each: up to 36% less on large levels; up to a third more on small fractals, and
// half as much again where nearly all places are cells: tmap_each is the choice there.
// Example: const tmap_array out = {p.out, sizeof *p.out}; tmap_each_into(&plan, dab, out, &p).
TMAP_DEVICE void tmap_each_into(const tmap_each_plan *plan, tmap_each_visit visit, tmap_array into,
                                void *job) {
    const tmapi_each_calls calls = {visit, 0, 0, job, into};
    if (!tmapi_each_check(plan, into.size, "tmap_each_into")) return;
    tmapi_each_walk(plan, calls);
}

// Calls read(job, cell, value) and later use(job, cell, value) once for every cell of the plan's
// share, both by the same thread, with the reads of eight cells of each lane in between. value: 16
// bytes at a multiple of 16, which belong to the cell between the two; read writes there what use
// will need, of whatever type. Otherwise as tmap_each: all threads of all blocks call it, without
// collectives in read and use. What one cell's use writes must not be what another cell's read
// reads.
//     static __device__ void fade_read(void *job, tmap_cell cell, void *value) {
//         *(float *)value = ((fade *)job)->a[cell.at];
//     }
//     static __device__ void fade_use(void *job, tmap_cell cell, const void *value) {
//         ((fade *)job)->a[cell.at] = ((fade *)job)->s * *(const float *)value;
//     }
//     __global__ void __launch_bounds__(512, 2) fade_cells(tmap_each_plan plan, fade j) {
//         tmap_each_update(&plan, fade_read, fade_use, &j);
//     }
// Cost: as tmap_each. Registers: about 64 with values of 4 bytes; __launch_bounds__(512, 2) holds a
// kernel to that.
TMAP_DEVICE void tmap_each_update(const tmap_each_plan *plan, tmap_each_read read,
                                  tmap_each_use use, void *job) {
    const tmapi_each_calls calls = {0, read, use, job, {0, 0}};
    if (!tmapi_each_check(plan, 1, "tmap_each_update")) return;
    tmapi_each_walk(plan, calls);
}

#endif // TMAP_CUDA
#endif
