// SPDX-License-Identifier: MIT
// each.h: calls your device functions for every cell of a fractal.
//
//     typedef struct paint { int *out; int colour; } paint;
//     static __device__ void dab(void *job, tmap_cell cell) {
//         paint *p = (paint *)job;
//         p->out[cell.at] = p->colour;
//     }
//     __global__ void __launch_bounds__(512, 2) paint_cells(tmap_each_plan plan, paint p) {
//         tmap_each(&plan, dab, &p);
//     }
//     ... tmap_each_plan_make(TMAP_EACH_VISIT, f, r, 0, (const void *)paint_cells, &plan);
//     ... tmap_each_launch(&plan, &p, stream);
//
// The fractal of level r lies in a matrix whose rows are `pitch` elements apart, or in compact
// storage (compact.h), with TMAP_COMPACT in place of the pitch. The host makes a plan once, for one
// kind of work, fractal, level, pitch and kernel, and passes it to the kernel by value. The kernel
// makes one call, whose kind of work the plan is made for:
//
//     tmap_each                TMAP_EACH_VISIT    a visitor at every cell; only stores
//     tmap_each_into           TMAP_EACH_VISIT    the same, with prefetches of what it stores to
//     tmap_each_update         TMAP_EACH_UPDATE   reads, and then uses or writes; faster where a
//                                                 kernel reads memory
//     tmap_each_fold           TMAP_EACH_FOLD     folds all cells into one value (fold.h)
//     tmap_each_stencil        TMAP_EACH_STENCIL  a cell from its neighbours (stencil.h)
//     tmap_each_stencil_words  TMAP_EACH_WORDS    the same, one bit per cell
//
// The kind of work chooses a fast loop. The last call needs a plan for words, and plans for words
// are for it alone. Every other call is correct with any other plan, and visits every cell of the
// plan's share exactly once.
//
// The engine uses the first plan.shared bytes of the block's dynamic shared memory, which can be
// any multiple of 4. Launch a kernel that needs more with more bytes (cudaLaunchKernel in place of
// tmap_each_launch), after you have raised its limit if they are more than 48 KB. The kernel's part
// begins at plan.shared, rounded up to its alignment:
//
//     extern __shared__ uint4 all[];
//     float4 *own = (float4 *)((unsigned char *)all + (plan.shared + 15) / 16 * 16);
//
// All threads of a block return from every call: __syncthreads() may follow it, and is needed
// between two calls in one kernel, and before the kernel reuses these bytes: threads that have
// returned would write to what others still read.
#ifndef TMAP_FRACTAL_EACH_H
#define TMAP_FRACTAL_EACH_H

#include "../fold.h"
#include "../launch.h"
#include "rows.h"
#include "compact_stencil.h"

// ---- the plan -----------------------------------------------------------------------------------

// The loops over cells. The plan maker chooses one; tmap_each_plan_loop sets another.
typedef enum tmap_each_loop {
    TMAP_EACH_LINEAR,  // one thread per cell, by tmap_nbb_lambda_linear
    TMAP_EACH_COLUMNS, // one warp per tile of up to 32 x 32 places, one lane per column
    TMAP_EACH_ROWS,    // all warps along the rows, with two tables in shared memory (rows.h)
    TMAP_EACH_GROUPS,  // for folds: one warp per tile of up to 64 x 64 places, 16 bytes per lane
    TMAP_EACH_COMPACT  // compact storage, tile by tile; it has no other loop except _LINEAR
} tmap_each_loop;

#define TMAP_EACH_LOOP_COUNT 5

// A plan, made for one kind of work, fractal, level, pitch and kernel. A share of the work is a
// range of items: cells for _LINEAR, in the order of tmap_nbb_lambda_linear, and for _ROWS, row by
// row; tiles for the other loops, in the order of tmap_nbb_lambda_linear of level r - tile_level.
typedef struct tmap_each_plan {
    tmap_nbb f;
    tmap_u32 r;
    tmap_u32 loop;       // a tmap_each_loop
    tmap_u32 tile_level; // level of a tile; 0 where items are cells
    tmap_u32 chunk; // _ROWS: cells that a warp takes at a time; stencil in _COMPACT: tiles that a
                    // block has side by side; otherwise 0
    tmap_u32 halo;  // stencil in _COMPACT: halo values of a tile; otherwise 0
    tmap_compact_word word; // compact.h; bytes 0: elements are cells
    tmap_u32 dense;  // 1: tmap_each_stencil, and tmap_each_into with elements of 4 bytes or more,
                     // prefetch a cell's sector before they store to it
    tmap_u32 holes;  // 1: tmap_each_into does so for smaller elements, in the loop _COLUMNS
    tmap_u64 pitch;  // elements from one row to the next, or TMAP_COMPACT
    tmap_u64 offset; // element of cell (0, 0), or the first of compact storage; 0 unless you set
                     // it, for a fractal inside a larger matrix
    tmap_u64 items;  // of the complete fractal
    tmap_u64 first, count; // this launch's share of them
    // the launch
    const void *kernel;           // null unless the maker received one
    tmap_u32 grid, block, shared; // blocks, threads per block, bytes of dynamic shared memory
    tmap_u32 warps;               // resident warps of the device, up to the preferred number
    tmap_u32 work;                // a tmap_each_work: what the plan was made for
    tmap_u32 type;                // in plans of ready kernels: which, and its elements; else 0
} tmap_each_plan;

// The number of elements from the first place of the fractal to its last, both included: the least
// size of a matrix for this plan, counted from plan->offset. In compact storage: the number of
// cells. Saturates at 2^64 - 1.
TMAP_FN tmap_u64 tmap_each_plan_places(const tmap_each_plan *plan) {
    if (plan->pitch == TMAP_COMPACT) return tmap_nbb_cells(plan->f, plan->r);
    tmap_u64 rows = tmap_mul_saturate(tmap_nbb_side_y(plan->f, plan->r) - 1, plan->pitch);
    tmap_u64 width = tmap_nbb_side_x(plan->f, plan->r);
    return rows > ~0ull - width ? ~0ull : rows + width;
}

#if !TMAP_NVRTC

// The name of a loop in tables and results, such as "linear"; "?" for any other number.
static inline const char *tmap_each_loop_name(int loop) {
    static const char *const names[] = {"linear", "columns", "rows", "groups", "compact"};
    return loop >= 0 && loop < TMAP_EACH_LOOP_COUNT ? names[loop] : "?";
}

// ---- a plan from facts --------------------------------------------------------------------------

// What a kind of work prefers.
typedef struct tmapi_each_wish {
    tmap_u32 warps;  // resident warps per multiprocessor, at most
    tmap_u32 chunk;  // cells that a warp takes at a time in _ROWS, at most
    tmap_u32 sparse; // places per cell, up to which a prefetch before a store pays
    int loops[3];    // in the order in which the maker tries them
} tmapi_each_wish;

// Up to this number of cells a launch takes a few microseconds, and the shortest code is fastest.
#define TMAPI_EACH_SMALL (1u << 16)

// The tuning table, a row for each kind of work: warps, chunk, sparse, loops. One lane per column
// fills complete memory lines where a tile is 32 places wide; elsewhere rows are faster.
static inline tmapi_each_wish tmapi_each_wish_of(tmap_u32 work, tmap_nbb f, tmap_u32 r,
                                                 tmap_u64 pitch) {
    const int tiny = tmap_nbb_cells(f, r) <= TMAPI_EACH_SMALL;
    const int whole = tmap_nbb_side_x(f, tmap_tile_level(f, TMAP_LEVEL_MAX)) == 32;
    const int first = tiny ? TMAP_EACH_LINEAR : whole ? TMAP_EACH_COLUMNS : TMAP_EACH_ROWS;
    const int groups = tiny ? TMAP_EACH_LINEAR : f.sx % 2 ? TMAP_EACH_ROWS : TMAP_EACH_GROUPS;
    // Few warps in row order: of too many open rows the cache evicts unfinished sectors.
    const tmapi_each_wish visit = {16, 1024, 4, {first, TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR}};
    // Reads take many warps, and chunks long enough to hide the search for their first cell.
    const tmapi_each_wish update = {32, 2048, 4, {first, TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR}};
    // Only reads, so still longer chunks. Groups of 16 bytes need sides that are powers of two.
    const tmapi_each_wish fold = {32, 4096, 4, {groups, TMAP_EACH_GROUPS, TMAP_EACH_LINEAR}};
    // Neighbours come from the lanes beside, in columns. A lane prefetches all of its column before
    // it reads, which pays with one cell in 16 places.
    const tmapi_each_wish stencil = {32, 2048, 16, {TMAP_EACH_COLUMNS, TMAP_EACH_LINEAR}};
    // Tile by tile; cell by cell where tiles have too many numbers, but not for words.
    const tmapi_each_wish compact = {32, 0, 0, {TMAP_EACH_COMPACT, TMAP_EACH_LINEAR}};
    const tmapi_each_wish words = {32, 0, 0, {TMAP_EACH_COMPACT, TMAP_EACH_COMPACT}};
    if (pitch == TMAP_COMPACT) return work == TMAP_EACH_WORDS ? words : compact;
    switch (work) {
    case TMAP_EACH_VISIT: return visit;
    case TMAP_EACH_UPDATE: return update;
    case TMAP_EACH_FOLD: return fold;
    default: return stencil;
    }
}

// 1 if this fractal and level have the loop. Sets *tile_level and *shared to what the loop needs.
// _GROUPS has at most one group per cell; it needs 8 bytes for each of 64 rows, 4 for each of 128
// counts, 8 for each group, and space for the four reads of a warp past the last group.
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

// The number of blocks for `count` of the plan's items, 1 to `most`. For _ROWS it also sets the
// chunk, at most the preferred number of cells.
static inline tmap_u32 tmapi_each_plan_blocks(tmap_each_plan *plan, tmap_u64 count, tmap_u64 most) {
    const tmap_u64 in_block = plan->block / 32;
    tmap_u64 unit = in_block, blocks; // unit: items per block
    if (plan->loop == TMAP_EACH_LINEAR) unit = plan->block;
    if (plan->loop == TMAP_EACH_ROWS) { // equal chunks, so that warps end together
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

// Restricts a plan to `count` of its items, from item `first` on: one GPU's share, or one batch. If
// the shares cover all items and their plans have the same loop, every cell is visited once. The
// grid of a share is at most that of the complete plan, so a fold's workspace sized for all items
// is large enough for each share.
// Returns TMAP_OK, or TMAP_EINVAL for a null pointer, a plan of zeros, which no maker has made, and
// items that the plan does not have.
// Example: the second half: (&plan, plan.items / 2, plan.items - plan.items / 2).
static inline int tmap_each_plan_share_of(tmap_each_plan *plan, tmap_u64 first, tmap_u64 count) {
    tmap_u64 most;
    if (!plan || !plan->items || first > plan->items || count > plan->items - first)
        return TMAP_EINVAL;
    most = plan->loop == TMAP_EACH_LINEAR ? 0x7fffffff : plan->warps / (plan->block / 32);
    plan->first = first, plan->count = count;
    plan->grid = tmapi_each_plan_blocks(plan, plan->items, most);
    plan->grid = tmapi_each_plan_blocks(plan, plan->count, plan->grid);
    return TMAP_OK;
}

// Chooses the block size, 32 to 512 threads, that gives the most resident warps, counted up to the
// preferred number. Ties go to the larger block, whose threads share the tables.
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

// Chooses the block of a stencil on compact storage, for tiles of the plan's level: n tiles side by
// side, one thread per cell. Takes the n that gives the most resident cells. Ties go to the smaller
// block, because the threads of a block wait for each other. Returns TMAP_ERANGE if no block fits.
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
        if (!resident) break; // larger ones do not fit either
        if (resident * p.chunk * cells <= best) continue;
        best = resident * p.chunk * cells;
        p.warps = resident * (p.block / 32) * facts->device.processors;
        *plan = p;
    }
    return best ? TMAP_OK : TMAP_ERANGE;
}

// Chooses the block for the largest tiles that fit one. With few tiles it lowers the number
// of blocks per multiprocessor, to two at the least: a block takes as long to start as to process
// about 24 tiles.
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

// Sets another loop than the maker chose, and the share to all items; for tests and measurements.
// facts: those that the plan was made from. Returns TMAP_OK; TMAP_EINVAL for a null pointer and a
// plan of zeros; TMAP_ERANGE for a loop that this fractal and level do not have, and if no block of
// the kernel fits the device. On an error the plan is unchanged.
static inline int tmap_each_plan_loop_of(tmap_each_plan *plan, int loop, const tmap_facts *facts) {
    tmap_each_plan p;
    int code;
    if (!plan || !plan->items || !facts) return TMAP_EINVAL;
    p = *plan;
    if (!tmapi_each_loop_fits(p.f, p.r, p.pitch, loop, &p.tile_level, &p.shared) ||
        (p.word.bytes && loop != TMAP_EACH_COMPACT))
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

// Makes the plan of tmap_each_plan_make from facts (launch.h), without a call of CUDA. out->kernel
// becomes null. The code that launches the kernel must raise its limit of dynamic shared memory if
// plan.shared exceeds 48 KB. Returns TMAP_OK; TMAP_EINVAL and TMAP_ERANGE where tmap_each_plan_make
// returns cudaErrorInvalidValue and cudaErrorInvalidConfiguration.
static inline int tmap_each_plan_of(int work, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                    const tmap_facts *facts, tmap_each_plan *out) {
    const tmap_compact_word cells_alone = {0, 1, 0};
    tmap_each_plan p;
    tmapi_each_wish wish;
    tmap_u64 width, cells, places;
    int code = TMAP_ERANGE;
    if (!out || !facts || tmap_nbb_check(f) != TMAP_OK) return TMAP_EINVAL;
    if (work < 0 || work >= TMAP_EACH_WORK_COUNT) return TMAP_EINVAL;
    if (work == TMAP_EACH_WORDS && pitch != TMAP_COMPACT) return TMAP_EINVAL;
    if (r > tmap_nbb_level_max32(f)) return TMAP_ERANGE;
    if (pitch == TMAP_COMPACT && r > tmap_nbb_linear_level_max64(f)) return TMAP_ERANGE;
    p.word = work == TMAP_EACH_WORDS ? tmap_compact_word_of(f, r) : cells_alone;
    r -= p.word.level;
    width = tmap_nbb_side_x(f, r), cells = tmap_nbb_cells(f, r);
    places = tmap_mul_saturate(width, tmap_nbb_side_y(f, r));
    if (pitch && pitch < width) return TMAP_EINVAL;
    p.f = f, p.r = r, p.pitch = pitch ? pitch : width, p.offset = 0;
    p.kernel = 0, p.work = (tmap_u32)work, p.type = 0, p.items = cells;
    if (tmap_each_plan_places(&p) == ~0ull) return TMAP_ERANGE;
    wish = tmapi_each_wish_of(p.work, f, r, p.pitch);
    // Memory reads a sector before a partial write: if there are many, a prefetch pays.
    p.holes = pitch != TMAP_COMPACT && cells <= places / 4 * 3;
    p.dense = p.holes && cells >= places / wish.sparse;
    for (int i = 0; i < 3 && code == TMAP_ERANGE; ++i)
        code = tmap_each_plan_loop_of(&p, wish.loops[i], facts);
    if (code == TMAP_OK) *out = p;
    return code;
}

#endif // !TMAP_NVRTC

#if TMAP_CUDA && !TMAP_NVRTC

// ---- a plan from a kernel, and its launch -------------------------------------------------------

// Makes the plan of a kernel, for fractal f of level r. A plan serves any number of launches on the
// device that was current when it was made. work: a tmap_each_work, what the kernel calls. pitch:
// elements from one row of the matrix to the next, at least the width sx^r; 0: that width;
// TMAP_COMPACT: compact storage, which words need. kernel: a __global__ function, cast to const
// void *. A level of more than 2^32 - 1 tiles gets the loop _LINEAR: gasket 26 to 31 (32 in compact
// storage), carpet 14 to 20.
// With TMAP_EACH_WORDS elements have tmap_compact_word_of(f, r).bytes bytes, out->r is the level of
// a sheet, and out->word says what a word holds. The last levels are gasket 28 and carpet 15;
// carpet 14 where a block has 64 KB of shared memory.
// Returns cudaErrorInvalidValue for a null pointer, another `work`, a fractal that tmap_nbb_check
// refuses, and a pitch below the width, or of words; cudaErrorInvalidConfiguration for a level
// whose coordinates do not fit 32 bits or whose elements do not fit 64, for words with more than
// 2^32 - 1 tiles in a sheet, and for a kernel whose block does not fit the device; otherwise a CUDA
// error. *out is written only on success.
// Cost: some calls of the CUDA runtime, which do not wait for the device.
// Example: tmap_each_plan_make(TMAP_EACH_VISIT, tmap_fractal_carpet(), 10, 0,
// (const void *)draw_cells, &plan).
static inline cudaError_t tmap_each_plan_make(int work, tmap_nbb f, tmap_u32 r, tmap_u64 pitch,
                                              const void *kernel, tmap_each_plan *out) {
    tmap_facts facts;
    tmap_each_plan p;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmap_each_plan_of(work, f, r, pitch, &facts, &p));
    if (!error) error = tmapi_launch_shared(kernel, p.shared);
    if (!error) p.kernel = kernel, *out = p;
    return error;
}

// tmap_each_plan_loop_of for a plan with a kernel, on the current device. Returns
// cudaErrorInvalidValue for TMAP_EINVAL, cudaErrorInvalidConfiguration for TMAP_ERANGE, or a CUDA
// error; the plan is then unchanged.
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
// tmap_each_plan_share_of with CUDA's error codes: cudaErrorInvalidValue for TMAP_EINVAL.
static inline cudaError_t tmap_each_plan_share(tmap_each_plan *plan, tmap_u64 first,
                                               tmap_u64 count) {
    return tmapi_launch_error(tmap_each_plan_share_of(plan, first, count));
}

// Launches the plan's kernel, whose parameters are the plan and your struct, both by value:
// (tmap_each_plan, JOB). job: the address of that struct. The launch can be captured into a graph.
// A share without items is launched as one block, so that what the kernel does besides the cells,
// such as writing a sum, is done for every share.
// Returns cudaErrorInvalidValue for a null pointer and for a plan without a kernel, otherwise the
// launch's own error. It neither reports nor clears an error that an earlier call left.
static inline cudaError_t tmap_each_launch(const tmap_each_plan *plan, tmap_job job,
                                           cudaStream_t stream) {
    if (!plan || !plan->kernel || !job) return cudaErrorInvalidValue;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

#endif

// ---- the loops ----------------------------------------------------------------------------------
//
// A loop that reads issues the reads of a batch of cells before it uses the first value. The
// compiler folds constant function pointers and inlines their calls.

#if TMAP_CUDA

// 1 if a plan maker made the plan.
TMAP_DEVICE int tmapi_each_made(const tmap_each_plan *plan, const char *function) {
    const int made = plan->loop < TMAP_EACH_LOOP_COUNT && plan->items &&
                     plan->first <= plan->items && plan->count <= plan->items - plan->first;
    return TMAPI_CHECK(made, function, "no maker of plans has made the plan");
}

// 1 if a plan maker made the plan, for cells. size: of an element; 1 where it is unknown.
TMAP_DEVICE int tmapi_each_check(const tmap_each_plan *plan, tmap_u32 size, const char *function) {
    return tmapi_each_made(plan, function) &&
           TMAPI_CHECK(!plan->word.bytes, function, "the plan is for words of one bit per cell") &&
           TMAPI_CHECK(tmapi_value_size_fits(size, 0), function,
                       "elements do not have 1, 2, 4, 8 or 16 bytes");
}

// The visitor of tmap_each: work at one cell.
typedef void (*tmap_each_visit)(void *job, tmap_cell cell);
// The first step of tmap_each_update: reads what the cell needs into *value, up to 16 bytes.
typedef void (*tmap_each_read)(void *job, tmap_cell cell, void *value);
// The second step of tmap_each_update: uses *value, and may write.
typedef void (*tmap_each_use)(void *job, tmap_cell cell, const void *value);

// The functions of a walk: `visit` alone, or `read` and `use`; the others are null. into: the
// matrix that the visitor stores to; size 0: unknown.
typedef struct tmapi_each_calls {
    tmap_each_visit visit;
    tmap_each_read read;
    tmap_each_use use;
    void *job;
    tmap_array into;
} tmapi_each_calls;

// Up to this size a sector holds many elements: a prefetch pays in _COLUMNS even where cells are
// few, and never in _ROWS.
#define TMAPI_EACH_SIZE_SMALL 2u

// The first and the second step at a cell.
TMAP_DEVICE void tmapi_each_first(const tmap_each_plan *plan, tmapi_each_calls calls,
                                  tmap_cell cell, void *value) {
    const tmap_u32 size = calls.into.size;
    if (calls.read) calls.read(calls.job, cell, value);
    if (size && (size <= TMAPI_EACH_SIZE_SMALL ? plan->holes : plan->dense))
        tmapi_compact_prefetch((const unsigned char *)calls.into.data + cell.at * size);
}
TMAP_DEVICE void tmapi_each_second(tmapi_each_calls calls, tmap_cell cell, const void *value) {
    if (calls.visit)
        calls.visit(calls.job, cell);
    else
        calls.use(calls.job, cell, value);
}

// Cells per batch.
#define TMAPI_EACH_BATCH 8

TMAP_DEVICE tmap_cell tmapi_each_cell(const tmap_each_plan *plan, tmap_u32 x, tmap_u32 y) {
    const tmap_cell cell = {x, y, plan->offset + y * plan->pitch + x};
    return cell;
}

// Cell number i in the order of tmap_nbb_lambda_linear.
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

// One thread per cell. The share may count tiles: tile t has the k^m cells from number t k^m on.
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

// A warp's tiles, one lane per column; in narrow tiles several lanes share a column, a band of rows
// each. cells: the rows of the column that are cells, one bit each; bits: those of the lane's band,
// its first row in bit 0.
typedef struct tmapi_each_tile {
    tmap_tiles tiles;
    tmap_u32 width, height; // of a tile
    tmap_u32 column, row;   // of the lane's first place
    tmap_u32 rows;          // in a band
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

// Makes the row tables of a plan. Collective for the block.
TMAP_DEVICE tmap_rows tmapi_each_rows_make(const tmap_each_plan *plan) {
    extern __shared__ uint4 tmapi_each_shared[];
    return tmap_rows_make(plan->f, plan->r, (tmap_u32 *)tmapi_each_shared);
}

// All warps along the rows: a lane takes every 32nd cell of its warp's chunk.
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

// Cell i of a tile in compact storage. place: the place of each cell in a tile, x | y << 16.
TMAP_DEVICE tmap_cell tmapi_each_compact_cell(tmap_xy corner, tmap_u64 at, const tmap_u32 *place,
                                              tmap_u32 i) {
    const tmap_u32 p = place[i];
    const tmap_cell cell = {corner.x + (p & 0xffff), corner.y + (p >> 16), at + i};
    return cell;
}

// Compact storage: one warp per tile, whose elements are contiguous.
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

// Visits every cell of the plan's share. All threads of all blocks call it.
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

// Calls visit(job, cell) exactly once for every cell of the plan's share, in no particular order.
// All threads of all blocks call it with the same arguments, and all return from it. visit: a
// __device__ function without barriers and collectives, because other lanes may have no cell. job:
// any pointer; the address of the kernel's parameter costs nothing. Another call in the kernel
// needs a __syncthreads() before it.
// Cost: a few instructions per cell. Registers: about 48 with a visitor that stores a number.
// Example: gasket, r = 1, pitch 2: visits (0,0,at 0) (0,1,at 2) (1,1,at 3).
TMAP_DEVICE void tmap_each(const tmap_each_plan *plan, tmap_each_visit visit, void *job) {
    const tmapi_each_calls calls = {visit, 0, 0, job, {0, 0}};
    if (!tmapi_each_check(plan, 1, "tmap_each")) return;
    tmapi_each_walk(plan, calls);
}

// Does the work of tmap_each for a visitor that stores to element cell.at of `into`, with
// prefetches of the sectors that it stores to. The engine prefetches elements of 4 bytes or more
// where sectors hold several cells (plan->dense: at least one place in 4, and at most three in 4,
// are cells; one in 16 in a stencil's plan), and smaller elements in the loop _COLUMNS unless more
// than three places in 4 are cells (plan->holes). Otherwise it runs as tmap_each. into.data: the
// matrix's element 0, whatever plan->offset is. Another call needs a __syncthreads() before it.
// Cost compared with tmap_each: up to 36% less on large levels; up to a third more on small
// fractals; 50% more where nearly all places are cells. Use tmap_each for the last two.
// Example: const tmap_array out = {p.out, sizeof *p.out}; tmap_each_into(&plan, dab, out, &p).
TMAP_DEVICE void tmap_each_into(const tmap_each_plan *plan, tmap_each_visit visit, tmap_array into,
                                void *job) {
    const tmapi_each_calls calls = {visit, 0, 0, job, into};
    if (!tmapi_each_check(plan, into.size, "tmap_each_into")) return;
    tmapi_each_walk(plan, calls);
}

// Calls read(job, cell, value) and later use(job, cell, value) once for every cell of the plan's
// share, with up to eight reads per lane in flight. The same thread makes both calls. value: 16
// bytes, aligned to 16, which belong to the cell between the two; read writes there what use needs,
// of any type. A cell's use must not write what another cell's read reads. Otherwise as tmap_each:
// all threads of all blocks call it, read and use have no barriers and no collectives, and another
// call needs a __syncthreads() before it.
//     static __device__ void fade_read(void *job, tmap_cell cell, void *value) {
//         *(float *)value = ((fade *)job)->a[cell.at];
//     }
//     static __device__ void fade_use(void *job, tmap_cell cell, const void *value) {
//         ((fade *)job)->a[cell.at] = ((fade *)job)->s * *(const float *)value;
//     }
//     __global__ void __launch_bounds__(512, 2) fade_cells(tmap_each_plan plan, fade j) {
//         tmap_each_update(&plan, fade_read, fade_use, &j);
//     }
// Cost: as tmap_each. Registers: about 56 with values of 4 bytes; __launch_bounds__(512, 2) limits
// a kernel to 64.
TMAP_DEVICE void tmap_each_update(const tmap_each_plan *plan, tmap_each_read read,
                                  tmap_each_use use, void *job) {
    const tmapi_each_calls calls = {0, read, use, job, {0, 0}};
    if (!tmapi_each_check(plan, 1, "tmap_each_update")) return;
    tmapi_each_walk(plan, calls);
}

#endif // TMAP_CUDA
#endif
