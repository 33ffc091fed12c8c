// SPDX-License-Identifier: MIT
// block.h: from a block's threads to the cells of its tile, by the paper's three intra-block maps.
//
// A block takes one tile, the fractal of level m; one lambda of level r - m gives its position
// (warp.h, mma.h). The intra-block map assigns the threads to the cells of the tile. A kernel
// selects one of three by a constant:
//
//     form                   threads of a tile    i-th thread                    costs
//     TMAP_BLOCK_UNROLL      k^m                  lambda once more               m digits
//     TMAP_BLOCK_TABLE       k^m                  looked up in shared memory     k^m + 49 words
//     TMAP_BLOCK_SUBBOX      sx^m * sy^m          its own position, if a cell    idle threads
//
//     enum { FORM = TMAP_BLOCK_TABLE, M = 4, CELLS = 81, SIDE = 16 }; // gasket: 3^4, 2^4
//     __global__ void write_ones(tmap_u32 r, tmap_u32 pitch, int *out) {
//         __shared__ tmap_u32 table[TMAP_BLOCK_TABLE_WORDS(CELLS)];
//         tmap_nbb f = tmap_fractal_gasket();
//         tmap_xy tile = tmap_nbb_lambda(f, blockIdx.x, blockIdx.y, r - M);
//         tmap_block_begin(FORM, f, M, table);
//         tmap_block_place p = tmap_block_at(FORM, f, M, threadIdx.x, table);
//         if (p.cell) out[(tile.y * SIDE + p.y) * pitch + tile.x * SIDE + p.x] = 1;
//     }
//     tmap_xy64 tiles = tmap_nbb_orthotope(f, r - M);
//     ... a grid of dim3(tiles.x, tiles.y), blocks of tmap_block_threads(FORM, f, M) threads
//
// The sides of a tile may be any powers of sx and sy (3, 9, 27; 27 x 8). A block may have more
// threads than its tile needs, such as the next multiple of 32; the additional threads get no cell.
// With fewer threads, let each take i, i + threads, ... below tmap_block_threads.
//
// Source: Navarro et al., FGCS 113 (2020), section 5.
//
// With a constant form, fractal and level, the compiler removes the other forms, and digits and
// positions need no division. Functions return a value for all arguments. Ranges: m <=
// tmap_nbb_linear_level_max32(f), and sx^m * sy^m < 2^32 for sub-boxes; above, some position.
#ifndef TMAP_PAPERS_BLOCK_H
#define TMAP_PAPERS_BLOCK_H

#include "../fractal/rows.h"
#include "../fractal/nbb.h"
#include "../warp.h"

// The three maps: sections 5.1, 5.2 and 5.3 of the paper.
typedef enum tmap_block_form {
    TMAP_BLOCK_UNROLL, // further unrolling
    TMAP_BLOCK_TABLE,  // a lookup table in shared memory
    TMAP_BLOCK_SUBBOX  // bounding sub-boxes
} tmap_block_form;

#define TMAP_BLOCK_FORM_COUNT 3

// The name of a form in tables and results: "block_unroll", ...; "?" for any other number.
TMAP_FN const char *tmap_block_form_name(int form) {
    switch (form) {
    case TMAP_BLOCK_UNROLL: return "block_unroll";
    case TMAP_BLOCK_TABLE: return "block_table";
    case TMAP_BLOCK_SUBBOX: return "block_subbox";
    default: return "?";
    }
}

// The position of a thread in its tile: x to the right, y downwards.
typedef struct tmap_block_place {
    tmap_u32 x, y;
    int cell; // 1: a cell, of this thread only; 0: x and y are undefined
} tmap_block_place;

TMAP_FN tmap_block_place tmapi_block_place(tmap_u32 x, tmap_u32 y, int cell) {
    tmap_block_place p;
    p.x = x, p.y = y, p.cell = cell;
    return p;
}

// Number of threads that a form needs for a tile of level m: k^m, or sx^m * sy^m for sub-boxes.
// Saturates at 2^64 - 1; 0 for an unknown form. A block has at most 1024. Example: carpet, m = 2:
// 64, 64, 81; gasket, m = 5: 243, 243, 1024.
TMAP_FN tmap_u64 tmap_block_threads(int form, tmap_nbb f, tmap_u32 m) {
    if (form == TMAP_BLOCK_SUBBOX)
        return tmap_mul_saturate(tmap_nbb_side_x(f, m), tmap_nbb_side_y(f, m));
    return form == TMAP_BLOCK_UNROLL || form == TMAP_BLOCK_TABLE ? tmap_nbb_cells(f, m) : 0;
}

// Further unrolling: lambda of the local index, so that each run of k^j threads fills one box of
// level j. i: any; i >= k^m gives no cell. Law: 0..k^m-1 map to the cells of the tile, one to one.
// Cost: that of tmap_nbb_lambda_linear.
// Example: gasket, m = 2: i = 0..8 -> (0,0)(0,1)(1,1)(0,2)(0,3)(1,3)(2,2)(2,3)(3,3).
TMAP_FN tmap_block_place tmap_block_unroll(tmap_nbb f, tmap_u32 m, tmap_u32 i) {
    tmap_xy p = tmap_nbb_lambda_linear(f, i, m);
    return tmapi_block_place(p.x, p.y, i < tmapi_pow64(f.k, m));
}

// Bounding sub-boxes: the i-th position of the box row by row, and whether it is a cell. With s =
// 2, positions and membership are found by bits, without a division for any m. i: any; i >= sx^m *
// sy^m gives no cell. With blocks of sx^m x sy^m threads, i = tmap_thread_rank() makes (x, y) =
// (threadIdx.x, threadIdx.y). Law: of 0..sx^m*sy^m-1, k^m are cells. Cost: s = 2: a few bit
// operations; else a division, and two more for each level.
// Example: carpet, m = 1: i = 0..8 -> (0,0)(1,0)(2,0)(0,1) none (2,1)(0,2)(1,2)(2,2).
TMAP_FN tmap_block_place tmap_block_subbox(tmap_nbb f, tmap_u32 m, tmap_u32 i) {
    tmap_u32 x, y;
    if (f.sx == 2) {
        x = m < 32 ? i & ((1u << m) - 1) : i;
        y = m < 32 ? i >> m : 0;
    } else {
        tmap_u32 width = tmapi_pow32(f.sx, m);
        y = width ? i / width : 0; // 0: the width is out of range
        x = i - y * width;
    }
    return tmapi_block_place(x, y, tmap_nbb_contains(f, x, y, m));
}

// ---- the lookup table ---------------------------------------------------------------------------

// Words of shared memory for the table of a tile with `cells` = k^m cells.
#define TMAP_BLOCK_TABLE_WORDS(cells) ((cells) + TMAP_ROWS_WORDS)

// A row of the table in units of positions; an entry is y * this + x.
#define TMAPI_BLOCK_PITCH 0x10000u

// Shared lookup table: the cells of the tile row by row, so that neighbouring threads access
// neighbouring memory. table: filled by tmap_block_table_make for the same f and m. i: any; i >=
// k^m is not looked up and gives no cell. Law: 0..k^m-1 map to the cells of the tile, one to one.
// Cost: one read of shared memory.
// Example: gasket, m = 2: i = 0..8 -> (0,0)(0,1)(1,1)(0,2)(2,2)(0,3)(1,3)(2,3)(3,3).
TMAP_FN tmap_block_place tmap_block_table(tmap_nbb f, tmap_u32 m, tmap_u32 i,
                                          const tmap_u32 *table) {
    int inside = i < tmapi_pow64(f.k, m);
    tmap_u32 entry = inside ? table[i] : 0;
    return tmapi_block_place(entry % TMAPI_BLOCK_PITCH, entry / TMAPI_BLOCK_PITCH, inside);
}

// The i-th cell of a fractal of level m in raster order. i < k^m < 2^32, m <= tmap_nbb_level_max32;
// larger i give some cell. rows: filled by tmapi_rows_fill. The rows of a level are strips of n
// replicas side by side with n times the cells of a row of the level below. So the strips of all
// levels are found from the top, then the replica in each strip.
// Example: gasket, m = 2: 0..8 -> (0,0)(0,1)(1,1)(0,2)(2,2)(0,3)(1,3)(2,3)(3,3).
TMAP_FN tmap_xy tmapi_block_cell_by_rows(tmap_nbb f, tmap_u32 m, tmap_u32 i, const tmap_u32 *rows) {
    tmap_u32 copies = 1, power = tmapi_pow32(f.k, m), side_x = 1, side_y = 1;
    tmap_u64 strips =
        0; // a row of the grid for each level, in the number of bits that the levels leave
    tmap_u32 bits = f.sy <= 2 ? 1 : f.sy <= 4 ? 2 : 4, mask = (1u << bits) - 1;
    tmap_xy cell = {0, 0};
    for (tmap_u32 mu = m; mu >= 1; --mu) {
        tmap_u32 unit, place, strip;
        power /= f.k;
        unit = copies * power;
        place = i / unit;
        strip = rows[16 + (place < f.k ? place : f.k - 1)];
        i -= rows[32 + strip] * unit;
        copies *= rows[33 + strip] - rows[32 + strip];
        strips = strips << bits | strip;
    }
    // From the bottom, whose strip is the last: the cells of a row count through the levels, the
    // lowest one fastest.
    for (tmap_u32 mu = 1; mu <= m; ++mu, strips >>= bits) {
        tmap_u32 strip = (tmap_u32)strips & mask, first = rows[32 + strip];
        tmap_u32 n = rows[33 + strip] - first, rest = i / n;
        cell.x += rows[first + (i - rest * n)] * side_x;
        cell.y += strip * side_y;
        side_x *= f.sx, side_y *= f.sy;
        i = rest;
    }
    return cell;
}

#if TMAP_CUDA

// Fills the table of a tile of level m, once for a block. Collective for the block, any number of
// threads, with a barrier at its end. Call a barrier before filling it again. table:
// TMAP_BLOCK_TABLE_WORDS(k^m) words of shared memory. sx^m and sy^m <= 65536. Cost: k comparisons
// for each replica, then 2 m divisions for each cell, shared by the threads.
TMAP_DEVICE void tmap_block_table_make(tmap_nbb f, tmap_u32 m, tmap_u32 *table) {
    tmap_u32 cells = tmapi_pow32(f.k, m), *rows = table + cells;
    tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    for (tmap_u32 i = rank; i < TMAP_ROWS_WORDS; i += threads) tmapi_rows_fill(f, i, rows);
    __syncthreads();
    for (tmap_u32 i = rank; i < cells; i += threads) {
        tmap_xy p = tmapi_block_cell_by_rows(f, m, i, rows);
        table[i] = p.y * TMAPI_BLOCK_PITCH + p.x;
    }
    __syncthreads();
}

// ---- one call for all forms ---------------------------------------------------------------------

// Prepares a form: fills the table, or does nothing. Collective for the block. table: as for
// tmap_block_table_make; unused for the other forms.
TMAP_DEVICE void tmap_block_begin(int form, tmap_nbb f, tmap_u32 m, tmap_u32 *table) {
    if (form == TMAP_BLOCK_TABLE) tmap_block_table_make(f, m, table);
}

// The position of the i-th thread in one of the forms; no cell for an unknown form, or for i >=
// tmap_block_threads(form, f, m). Law: over all i, each cell of the tile once, in every form.
TMAP_DEVICE tmap_block_place tmap_block_at(int form, tmap_nbb f, tmap_u32 m, tmap_u32 i,
                                           const tmap_u32 *table) {
    if (form == TMAP_BLOCK_UNROLL) return tmap_block_unroll(f, m, i);
    if (form == TMAP_BLOCK_TABLE) return tmap_block_table(f, m, i, table);
    if (form == TMAP_BLOCK_SUBBOX) return tmap_block_subbox(f, m, i);
    return tmapi_block_place(0, 0, 0);
}

#endif // TMAP_CUDA
#endif
