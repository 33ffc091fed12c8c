// SPDX-License-Identifier: MIT
// tensor.h: a block for each tile of a fractal, located on tensor cores: the launches of the
// paper's section 6.3, and the one with warp shuffles of section 6.2.
//
//     form                   the tile of a block is found by                        exact
//     TMAP_TENSOR_SHUFFLE    each warp, a level for each lane, by shuffles          everywhere
//     TMAP_TENSOR_MMA1       a warp for the block, by a product of bytes (mma.h)    everywhere
//     TMAP_TENSOR_MMA2       the same for 2 x 2 sub-blocks, each a tile             everywhere
//     TMAP_TENSOR_MMA3       each warp, plus the position in the tile: cells        in 32 bits
//     TMAP_TENSOR_WMMA1      a warp for the block, in half precision (wmma.h)       to a level
//     TMAP_TENSOR_WMMA2      the same for 2 x 2 sub-blocks                          to a level
//     TMAP_TENSOR_WMMA3      two to eight warps, plus the position in the tile      to a level
//
// The threads of a block cover all positions of a tile; those outside the fractal are idle: the
// paper's bounding sub-boxes. In your own kernel a constant selects the form:
//
//     enum { FORM = TMAP_TENSOR_WMMA1 };
//     __global__ void write_ones(tmap_box b, int *out) {
//         __shared__ tmap_wmma_shared shared;
//         tmap_nbb f = tmap_fractal_gasket();
//         tmap_tensor t = tmap_tensor_begin(FORM, f, b, tmap_warp_full());
//         for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
//             tmap_xy64 p;
//             if (tmap_tensor_place(&t, FORM, f, b, wy, &shared, &p))
//                 out[p.y * b.width + p.x] = 1;
//         }
//     }
//     tmap_tensor_box(tmap_fractal_gasket(), r, 16, FORM, &b);
//     ... a grid of dim3(b.columns, min(b.rows, 65535)), blocks of dim3(b.bx, b.by)
//
// With a grid of fewer rows each block takes several tiles; the forms of mma.h then prepare once.
//
// Source: Navarro et al., FGCS 113 (2020), sections 6.2 and 6.3.
#ifndef TMAP_PAPERS_TENSOR_H
#define TMAP_PAPERS_TENSOR_H

#include "box.h"
#include "mma.h"
#include "wmma.h"

// How a block finds its tile; see above.
typedef enum tmap_tensor_form {
    TMAP_TENSOR_SHUFFLE,
    TMAP_TENSOR_MMA1,
    TMAP_TENSOR_MMA2,
    TMAP_TENSOR_MMA3,
    TMAP_TENSOR_WMMA1,
    TMAP_TENSOR_WMMA2,
    TMAP_TENSOR_WMMA3
} tmap_tensor_form;

#define TMAP_TENSOR_FORM_COUNT 7

// The name of a form in tables and results; "?" for any other number.
TMAP_FN const char *tmap_tensor_form_name(int form) {
    switch (form) {
    case TMAP_TENSOR_SHUFFLE: return "lambda_block";
    case TMAP_TENSOR_MMA1: return "mma1";
    case TMAP_TENSOR_MMA2: return "mma2";
    case TMAP_TENSOR_MMA3: return "mma3";
    case TMAP_TENSOR_WMMA1: return "wmma1_fp16";
    case TMAP_TENSOR_WMMA2: return "wmma2_fp16";
    case TMAP_TENSOR_WMMA3: return "wmma3_fp16";
    default: return "?";
    }
}

// 1 for the forms in half precision; 1 for those of 2 x 2 sub-blocks.
TMAP_FN int tmap_tensor_is_half(int form) { return form >= TMAP_TENSOR_WMMA1; }
TMAP_FN int tmap_tensor_is_split(int form) {
    return form == TMAP_TENSOR_MMA2 || form == TMAP_TENSOR_WMMA2;
}

// Makes the box of a launch for fractal f of level r, with blocks of side rho: one tile, of side
// rho rounded down to a power of s, or 2 x 2 tiles of side rho / 2. Its `level` is that of the
// tiles, its tile_level that of a tile or of a sub-block.
// Returns the result of tmap_box_make; TMAP_EINVAL for an unknown form, for sub-blocks with rho = 1
// and for half precision in blocks of fewer than 32 threads; TMAP_ERANGE for levels at which the
// form is not exact: half precision above tmap_wmma_level_max, of the tiles or in TMAP_TENSOR_WMMA3
// of the cells, and TMAP_TENSOR_MMA3 above tmap_nbb_level_max32.
// Example: gasket, r = 16, rho = 16: tiles of level 4, 729 x 729 blocks; TMAP_TENSOR_MMA2: of level
// 3, 1094 x 365 blocks of 16 x 16 threads for 2187 x 729 sub-blocks.
TMAP_FN int tmap_tensor_box(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int form, tmap_box *out) {
    const int split = tmap_tensor_is_split(form);
    tmap_box b;
    int error;
    if (!out || form < 0 || form >= TMAP_TENSOR_FORM_COUNT || rho > 32) return TMAP_EINVAL;
    error = tmap_box_make(f, r, split ? rho / 2 : rho, TMAP_BOX_LAMBDA_SHUFFLE, &b);
    if (error) return error;
    if (split) {
        b.bx *= 2, b.columns = (b.columns + 1) / 2;
        b.by *= 2, b.rows = (b.rows + 1) / 2;
    }
    if (form == TMAP_TENSOR_MMA3 && r > tmap_nbb_level_max32(f)) return TMAP_ERANGE;
    if (tmap_tensor_is_half(form)) {
        if (b.bx * b.by < 32) return TMAP_EINVAL;
        if ((form == TMAP_TENSOR_WMMA3 ? r : b.level) > tmap_wmma_level_max(f)) return TMAP_ERANGE;
    }
    *out = b;
    return TMAP_OK;
}

#if TMAP_CUDA && !TMAP_NVRTC

// Shared memory of TMAP_TENSOR_MMA1 and _MMA2: the positions of a block's tiles.
typedef struct tmap_tensor_tiles {
    tmap_xy at[4];
} tmap_tensor_tiles;

// A thread's data, prepared once before its tiles.
typedef struct tmap_tensor {
    tmap_mma mma; // of the forms of mma.h, in the warps that use them
    tmap_warp warp;
    tmap_xy at;      // the thread's position in its tile
    tmap_xy side;    // of a tile
    tmap_xy tiles;   // in the orthotope
    tmap_u32 own;    // the thread's sub-block, 0..3
    tmap_u32 inside; // 1: its position is a cell of the tile
} tmap_tensor;

// Prepares this thread for a form and the box that tmap_tensor_box made for it, in blocks of
// dim3(b.bx, b.by) threads. warp: tmap_warp_full() if these are full warps, else tmap_warp_self().
TMAP_DEVICE tmap_tensor tmap_tensor_begin(int form, tmap_nbb f, tmap_box b, tmap_warp warp) {
    const tmap_u32 split = (tmap_u32)tmap_tensor_is_split(form);
    tmap_tensor t;
    t.warp = warp;
    t.side.x = b.bx >> split, t.side.y = b.by >> split;
    t.own = split && threadIdx.y >= t.side.y ? 2 : 0;
    t.own += split && threadIdx.x >= t.side.x;
    t.at.x = threadIdx.x - (t.own & 1u) * t.side.x;
    t.at.y = threadIdx.y - (t.own >> 1) * t.side.y;
    t.tiles.x = tmapi_pow32(f.k, (b.level + 1) / 2), t.tiles.y = tmapi_pow32(f.k, b.level / 2);
    t.inside = (tmap_u32)tmap_nbb_contains(f, t.at.x, t.at.y, b.tile_level);
    if (form == TMAP_TENSOR_MMA3)
        t.mma = tmap_mma_make(warp, f, b.level, b.tile_level);
    else if ((form == TMAP_TENSOR_MMA1 || form == TMAP_TENSOR_MMA2) && tmap_thread_rank() < 32)
        t.mma = tmap_mma_make(warp, f, b.level, 0);
    return t;
}

// Returns the thread's tile: that of omega (wx, wy), or one of 2 x 2 sub-blocks, computed by the
// block's first warp with a product of bytes. A block of fewer than 32 threads has no product of
// four omega.
TMAP_DEVICE tmap_xy tmapi_tensor_mma(const tmap_tensor *t, int form, tmap_nbb f, tmap_box b,
                                     tmap_u32 wx, tmap_u32 wy, tmap_tensor_tiles *tiles) {
    const tmap_u32 lane = tmap_thread_rank();
    if (lane < 32) {
        const tmap_u32 j = lane / 4 % 4; // the omega that this lane passes
        tmap_xy tile;
        if (form == TMAP_TENSOR_MMA1)
            tile = tmap_mma1_lambda(&t->mma, f, wx, wy);
        else if (t->warp.lanes == 32)
            tile = tmap_mma2_lambda(&t->mma, f, wx + (j & 1u), wy + (j >> 1), lane % 4);
        else
            tile = tmap_nbb_lambda(f, wx + (lane & 1u), wy + (lane >> 1 & 1u), b.level);
        if (lane < (form == TMAP_TENSOR_MMA1 ? 1u : 4u)) tiles->at[lane] = tile;
    }
    __syncthreads();
    return tiles->at[form == TMAP_TENSOR_MMA1 ? 0 : t->own];
}

// The place of this thread in the tile of its block in row wy of the box; returns 1 if it is a
// cell. Collective for the block. wy: blockIdx.y, then gridDim.y more each time, below b.rows.
// shared: shared memory of the block, a tmap_tensor_tiles for TMAP_TENSOR_MMA1 and _MMA2, a
// tmap_wmma_shared for _WMMA1 and _WMMA2, a tmap_wmma3_shared for _WMMA3; unused by the other two,
// and may be null for them.
// Law: over all blocks and rows, each cell of the fractal once, in every form.
TMAP_DEVICE int tmap_tensor_place(const tmap_tensor *t, int form, tmap_nbb f, tmap_box b,
                                  tmap_u32 wy, void *shared, tmap_xy64 *place) {
    tmap_u32 wx = blockIdx.x, inside = t->inside;
    tmap_xy tile;
    if (form != TMAP_TENSOR_SHUFFLE && form != TMAP_TENSOR_MMA3 && wy >= gridDim.y)
        __syncthreads(); // the previous tile has been read
    if (tmap_tensor_is_split(form)) {
        wx *= 2, wy *= 2;
        inside &= wx + (t->own & 1u) < t->tiles.x && wy + (t->own >> 1) < t->tiles.y;
    }
    if (form == TMAP_TENSOR_MMA1 || form == TMAP_TENSOR_MMA2)
        tile = tmapi_tensor_mma(t, form, f, b, wx, wy, (tmap_tensor_tiles *)shared);
    else if (form == TMAP_TENSOR_MMA3)
        tile = tmap_mma3_lambda(&t->mma, f, wx, wy, t->at.x, t->at.y);
    else if (form == TMAP_TENSOR_WMMA1)
        tile = tmap_wmma1_lambda((tmap_wmma_shared *)shared, f, wx, wy, b.level, 0);
    else if (form == TMAP_TENSOR_WMMA2)
        tile = tmap_wmma2_lambda((tmap_wmma_shared *)shared, f, wx, wy, b.level, 0, t->own);
    else if (form == TMAP_TENSOR_WMMA3)
        tile = tmap_wmma3_lambda((tmap_wmma3_shared *)shared, f, wx, wy, b.level, b.tile_level,
                                 t->at.x, t->at.y);
    else
        tile = tmap_warp_lambda_shuffle(t->warp, f, wx, wy, b.level);
    if (form == TMAP_TENSOR_MMA3 || form == TMAP_TENSOR_WMMA3) { // already a cell
        place->x = tile.x, place->y = tile.y;
    } else {
        place->x = (tmap_u64)tile.x * t->side.x + t->at.x;
        place->y = (tmap_u64)tile.y * t->side.y + t->at.y;
    }
    return (int)inside;
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
