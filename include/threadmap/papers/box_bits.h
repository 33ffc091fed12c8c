// SPDX-License-Identifier: MIT
// box_bits.h: a cellular automaton of two states on the bounding box with one bit a place: the best
// case of an embedding if a state has no other data. The baseline of fractal/ca.h.
//
// The embedding is rows of 32-bit words. A word holds the row of one tile, or of several tiles side
// by side if they fit, so that the mask of its cells is that of a tile's row, once for each tile in
// it that the fractal has. All 32 bits of the gasket's and the Candy's words are places, 27 of the
// carpet's. The words of a row are a multiple of 8: full sectors.
//
// Warps walk down the box, each lane on one of 32 neighbouring words. They determine the sectors in
// some rows of tiles that contain a cell's word, and process only the tiles of these, eight lanes a
// sector, contiguous or not. Down a tile a lane holds three rows of words and of their neighbours,
// has four rows in flight, and computes the places of a word at once by sums of words. Sectors are
// written in full.
#ifndef TMAP_PAPERS_BOX_BITS_H
#define TMAP_PAPERS_BOX_BITS_H

#include "../fractal/ca_rule.h"
#include "../fractal/rows.h"
#include "box.h"

// An embedding of bits. Place (x, y) is bit x % places of word y * pitch + x / places.
typedef struct tmap_box_bits {
    tmap_nbb f;
    tmap_u32 r;
    tmap_u32 tile_level, tile_width, tile_height; // of a tile; places
    tmap_u32 tiles, places;                       // of a word
    tmap_u32 words, pitch;                        // of a row: with places, and in all
    tmap_u64 tile_rows, height;                   // rows of tiles; rows
} tmap_box_bits;

// The most rows of a tile.
#define TMAPI_BOX_BITS_ROWS 256u
// The rows that a lane reads at once.
#define TMAPI_BOX_BITS_BATCH 4u

// Makes the embedding of fractal f of level r. Returns TMAP_OK, TMAP_EINVAL for a null pointer, the
// result of tmap_nbb_check, or TMAP_ERANGE for a level whose coordinates do not fit 32 bits. Writes
// *out only on success. Example: gasket, r = 16: tiles of level 5, a word each; 2048 words a row.
TMAP_FN int tmap_box_bits_make(tmap_nbb f, tmap_u32 r, tmap_box_bits *out) {
    tmap_box_bits b;
    const int error = tmap_nbb_check(f);
    if (error) return error;
    if (!out) return TMAP_EINVAL;
    if (r > tmap_nbb_level_max32(f)) return TMAP_ERANGE;
    b.f = f, b.r = r;
    b.tile_level = 0, b.tile_width = b.tile_height = 1;
    while (b.tile_level < r && b.tile_width * f.sx <= 32 &&
           b.tile_height * f.sy <= TMAPI_BOX_BITS_ROWS)
        ++b.tile_level, b.tile_width *= f.sx, b.tile_height *= f.sy;
    b.tiles = 32 / b.tile_width, b.places = b.tiles * b.tile_width;
    b.words = (tmap_u32)((tmap_nbb_side_x(f, r) + b.places - 1) / b.places);
    b.pitch = (b.words + 7) / 8 * 8;
    b.tile_rows = tmap_nbb_side_y(f, r - b.tile_level), b.height = tmap_nbb_side_y(f, r);
    *out = b;
    return TMAP_OK;
}

// Bytes of a state; saturates. Example: gasket, r = 16: 536870912.
TMAP_FN tmap_u64 tmap_box_bits_bytes(const tmap_box_bits *b) {
    return tmap_mul_saturate(tmap_mul_saturate(b->pitch, b->height), 4);
}

// The word of place (x, y), and its bit in *bit. A struct of zeros has words of one place.
// Example: gasket, r = 6: (40, 3) -> 25, bit 8.
TMAP_FN tmap_u64 tmap_box_bits_place(const tmap_box_bits *b, tmap_u64 x, tmap_u64 y,
                                     tmap_u32 *bit) {
    const tmap_u32 places = b->places ? b->places : 1;
    *bit = (tmap_u32)(x % places);
    return y * b->pitch + x / places;
}

#if TMAP_CUDA

// A bit for the first place of each tile of word `column` that the fractal has in tile row `row`.
TMAP_DEVICE tmap_u32 tmapi_box_bits_tiles(const tmap_box_bits *b, tmap_u32 column, tmap_u32 row) {
    tmap_u32 bits = 0;
    if (column >= b->words) return 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < b->tiles; ++i)
        bits |= (tmap_u32)tmapi_box_contains(b->f, column * b->tiles + i, row, b->r - b->tile_level)
                << i * b->tile_width;
    return bits;
}

// A lane's state in a row of tiles. in: its word of the row that is read next.
typedef struct tmapi_box_bits_lane {
    const tmap_u32 *in;
    tmap_u64 pitch;
    tmap_u32 top;          // the highest place of a word
    int here, left, right; // 1: its word, and the neighbouring ones, must be read
} tmapi_box_bits_lane;

// Reads a row; is: 0 if the row does not exist.
TMAP_DEVICE tmapi_life_three tmapi_box_bits_read(tmapi_box_bits_lane *l, int is) {
    tmapi_life_three words = {0, 0, 0};
    if (is && l->here) words.here = l->in[0];
    if (is && l->left) words.left = l->in[-1];
    if (is && l->right) words.right = l->in[1];
    l->in += l->pitch;
    return words;
}

// From three words of a row, the neighbours of the places of the middle one.
TMAP_DEVICE tmapi_life_three tmapi_box_bits_beside(const tmapi_box_bits_lane *l,
                                                   tmapi_life_three words) {
    words.left = words.here << 1 | words.left >> l->top;
    words.right = words.here >> 1 | words.right << l->top;
    return words;
}

// Processes the tiles of word `column` in row `row` of tiles, for one lane. masks: the rows of a
// tile, in shared memory.
TMAP_DEVICE void tmapi_box_bits_step(const tmap_box_bits *b, const tmapi_life_rule *rule,
                                     const tmap_u32 *masks, tmap_u32 column, tmap_u32 row,
                                     const tmap_u32 *in, tmap_u32 *out) {
    const tmap_u32 tiles = tmapi_box_bits_tiles(b, column, row), height = b->tile_height;
    const tmap_u64 at = row * (tmap_u64)height * b->pitch + column;
    // The number of the tile's rows whose next row can be read without a test.
    const tmap_u32 sure = height - (row + 1 == b->tile_rows);
    tmapi_box_bits_lane l;
    tmapi_life_three up, centre, down[TMAPI_BOX_BITS_BATCH];
    tmap_u32 i = 0;
    l.in = in + at - b->pitch, l.pitch = b->pitch, l.top = b->places - 1;
    l.here = tiles != 0, l.left = tiles && column > 0, l.right = tiles && column + 1 < b->pitch;
    out += at;
    up = tmapi_box_bits_beside(&l, tmapi_box_bits_read(&l, row > 0));
    centre = tmapi_box_bits_beside(&l, tmapi_box_bits_read(&l, 1));
    TMAPI_NO_UNROLL
    for (; i + TMAPI_BOX_BITS_BATCH <= sure; i += TMAPI_BOX_BITS_BATCH) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_BOX_BITS_BATCH; ++j) down[j] = tmapi_box_bits_read(&l, 1);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_BOX_BITS_BATCH; ++j) {
            const tmap_u32 mask = masks[i + j] * tiles; // the row, once for each tile
            down[j] = tmapi_box_bits_beside(&l, down[j]);
            *out = tmapi_life_next32(up, centre, down[j], rule) & mask;
            out += b->pitch, up = centre, centre = down[j];
        }
    }
    TMAPI_NO_UNROLL
    for (; i < height; ++i) {
        down[0] = tmapi_box_bits_beside(&l, tmapi_box_bits_read(&l, i < sure));
        *out = tmapi_life_next32(up, centre, down[0], rule) & (masks[i] * tiles);
        out += b->pitch, up = centre, centre = down[0];
    }
}

// The sectors of a row, 8 words each, that contain a cell's word: bit 4 i + j is sector j of the
// warp's four in row `row` + i of tiles, i < rows <= 8. Collective for the warp.
TMAP_DEVICE tmap_u32 tmapi_box_bits_sectors(const tmap_box_bits *b, tmap_u32 row, tmap_u32 rows) {
    tmap_u32 sectors = 0;
    TMAPI_NO_UNROLL
    for (tmap_u32 i = 0; i < rows && row + i < b->tile_rows; ++i) {
        const tmap_u32 live = __ballot_sync(
            0xffffffffu, tmapi_box_bits_tiles(b, blockIdx.x * 32 + threadIdx.x, row + i) != 0);
#pragma unroll
        for (tmap_u32 j = 0; j < 4; ++j)
            sectors |= (tmap_u32)((live >> 8 * j & 0xff) != 0) << (4 * i + j);
    }
    return sectors;
}

// Processes a warp's rows of tiles from `row` on: eight lanes for each sector that contains a
// cell's word, four sectors at a time.
TMAP_DEVICE void tmapi_box_bits_rows(const tmap_box_bits *b, const tmapi_life_rule *rule,
                                     const tmap_u32 *masks, tmap_u32 row, tmap_u32 rows,
                                     const tmap_u32 *in, tmap_u32 *out) {
    tmap_u32 sectors = tmapi_box_bits_sectors(b, row, rows);
    TMAPI_NO_UNROLL
    while (sectors) {
        tmap_u32 own = 0;
#pragma unroll
        for (tmap_u32 group = 0; group < 4; ++group, sectors &= sectors - 1)
            if (group == threadIdx.x / 8) own = sectors;
        if (own) {
            const tmap_u32 n = (tmap_u32)__ffs((int)own) - 1;
            tmapi_box_bits_step(b, rule, masks, blockIdx.x * 32 + (n & 3) * 8 + (threadIdx.x & 7),
                                row + n / 4, in, out);
        }
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// Blocks of 32 x 8 threads. turn: rows of tiles that a warp takes at once, 1 to 8.
static __global__ void __launch_bounds__(256, 4)
    tmapi_box_bits_kernel(tmap_box_bits b, tmapi_life_rule rule, tmap_u32 turn,
                          const tmap_u32 *__restrict__ in, tmap_u32 *__restrict__ out) {
    __shared__ tmap_u32 masks[TMAPI_BOX_BITS_ROWS];
    for (tmap_u32 i = threadIdx.y * 32 + threadIdx.x; i < b.tile_height; i += 256)
        masks[i] = (tmap_u32)tmap_tile_row(b.f, b.tile_level, i);
    __syncthreads();
    for (tmap_u64 row = (blockIdx.y * 8 + threadIdx.y) * (tmap_u64)turn; row < b.tile_rows;
         row += gridDim.y * 8 * (tmap_u64)turn)
        tmapi_box_bits_rows(&b, &rule, masks, (tmap_u32)row, turn, in, out);
}

// Computes one step: out = rule(in) for every cell; other bits of `out` are unchanged or set to 0.
// in, out: tmap_box_bits_bytes bytes each in device memory, at multiples of 4, not overlapping; all
// bits of `in` outside the fractal are 0. Returns cudaErrorInvalidValue for a null or misaligned
// pointer, equal states and a rule of more than nine bits; else the launch's own error. Cost: about
// 65 instructions for each row of a word.
static inline cudaError_t tmap_box_bits_life(const tmap_box_bits *b, tmap_ca_rule rule,
                                             const void *in, void *out, cudaStream_t stream) {
    tmapi_life_rule masks;
    void *arguments[5];
    tmap_u32 turn = 8;
    int device, processors;
    tmap_u64 columns, rows, most;
    cudaError_t error;
    if (!b || !in || !out || in == out || ((tmap_u64)in | (tmap_u64)out) % 4)
        return cudaErrorInvalidValue;
    if (rule.born > 0x1ff || rule.survive > 0x1ff) return cudaErrorInvalidValue;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    masks = tmapi_life_rule_make(rule);
    arguments[0] = (void *)b, arguments[1] = &masks, arguments[2] = &turn, arguments[3] = &in,
    arguments[4] = &out;
    columns = (b->pitch + 31) / 32;
    while (turn > 1 && columns * b->tile_rows < 64 * (tmap_u64)processors * turn) turn /= 2;
    // Eight times the blocks that a device holds, because some columns have more tiles than others.
    rows = (b->tile_rows + 8 * turn - 1) / (8 * turn);
    most = (64 * (tmap_u64)processors + columns - 1) / columns;
    if (rows > most) rows = most;
    if (rows > 65535) rows = 65535;
    return cudaLaunchKernel((const void *)tmapi_box_bits_kernel,
                            dim3((unsigned)columns, (unsigned)rows), dim3(32, 8), arguments, 0,
                            stream);
}

#endif
#endif
