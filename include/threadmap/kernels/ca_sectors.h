// SPDX-License-Identifier: MIT
// ca_sectors.h: the cellular automaton of ca.h by whole sectors of memory: of any fractal whose
// tiles are at least a sector wide.
//
// A cell written alone changes a part of a sector, 32 bytes, which memory reads, merges and writes
// back. A step may write 0 beside cells; so here each touched sector is written whole, once, and
// the places in it are computed four at a time.
//
// A warp takes a tile: first its lanes list the sectors that hold a cell, which depends on where in
// a sector each row begins; then eight lanes take a sector each time. A sector across the border of
// two tiles belongs to the left one. Places in words that reach beyond a row of the matrix are
// taken one by one.
#ifndef TMAP_KERNELS_CA_SECTORS_H
#define TMAP_KERNELS_CA_SECTORS_H

#include "ca_cell.h"
#include "launch.h"

#if TMAP_CUDA

// A tile is 32 to 97 places wide, so that it touches four sectors at most and a sector two tiles at
// most, and up to 97 high.
#define TMAPI_CA_SIDE_MOST 97
// Words of a row's bits: 32 places before the tile, which are no cells, the tile, and the first 32
// of the tile beside it.
#define TMAPI_CA_ROW_WORDS 6

TMAP_FN tmap_u32 tmapi_ca_sectors_level(tmap_nbb f, tmap_u32 r) {
    return tmap_nbb_tile_level(f, r, TMAPI_CA_SIDE_MOST);
}

// 1 if a step goes by sectors: tiles are wide enough and, as for SW by rows of bits, dense, rows
// begin anywhere in a sector, those of a tile lie within 2^31 places, and words of both matrices
// begin together. (r = 10, by sectors and by the table: carpet 4.34 and 4.98 ms, bottles 1.41 and
// 1.66, H 1.90 and 2.04; sparse Vicsek 0.185 and 0.179, even Candy, r = 7, 0.258 and 0.203.)
TMAP_FN int tmapi_ca_by_sectors(tmap_nbb f, tmap_u32 r, const void *in, const void *out) {
    tmap_u32 m = tmapi_ca_sectors_level(f, r);
    tmap_u64 places = tmap_nbb_side_x(f, m) * tmap_nbb_side_y(f, m);
    return f.sx % 2 && tmap_nbb_side_x(f, m) >= 32 && 4 * tmap_nbb_cells(f, m) >= places &&
           tmap_nbb_side_x(f, r) < 0x80000000ull / (TMAPI_CA_SIDE_MOST + 1) &&
           (((tmap_u64)in ^ (tmap_u64)out) & 3) == 0;
}

// The bits of 32 places of a row from place `first` >= -32 of the tile on.
TMAP_DEVICE tmap_u32 tmapi_ca_row_bits(const tmap_u32 *row, int first) {
    tmap_u32 at = (tmap_u32)(first + 32), i = at >> 5;
    return (tmap_u32)((((tmap_u64)row[i + 1] << 32) | row[i]) >> (at & 31));
}

// Four places of a row of the matrix from x on, 0 where there are none. p: that of x in this row.
TMAP_DEVICE tmap_u32 tmapi_ca_four_edge(const unsigned char *p, tmap_i64 x, tmap_u64 width) {
    tmap_u32 v = 0;
    for (int j = 0; j < 4; ++j)
        if (x + j >= 0 && (tmap_u64)(x + j) < width) v |= (tmap_u32)p[j] << (8 * j);
    return v;
}

// The same for places whose words lie in the row.
TMAP_DEVICE tmap_u32 tmapi_ca_four(const unsigned char *p) {
    const tmap_u32 *word = (const tmap_u32 *)((tmap_u64)p & ~3ull);
    tmap_u32 shift = (tmap_u32)(tmap_u64)p & 3, low = word[0], high = 0;
    if (shift) high = word[1];
    return (tmap_u32)((((tmap_u64)high << 32) | low) >> (8 * shift));
}

// Three rows of four places, each byte 0 or not, as the sums of their live places by column. *c:
// the row in the middle, from then on with bytes of 0 and 1.
TMAP_DEVICE tmap_u32 tmapi_ca_columns(tmap_u32 up, tmap_u32 *c, tmap_u32 down) {
    if ((up | *c | down) & 0xfefefefeu) { // never in what a step wrote
        up = tmapi_ca_alive4(up), down = tmapi_ca_alive4(down);
        *c = tmapi_ca_alive4(*c);
    }
    return up + *c + down;
}

// The next states of a lane's four places, 0 where it has no cell. sum: by column; beside: of the
// column next to the sector for the first and the last of its eight lanes. Collective.
TMAP_DEVICE tmap_u32 tmapi_ca_states(tmap_u32 next, tmap_u32 c, tmap_u32 sum, tmap_u32 beside,
                                     tmap_u32 word, tmap_u32 cells) {
    tmap_u32 left = __shfl_up_sync(0xffffffffu, sum, 1) >> 24;
    tmap_u32 right = __shfl_down_sync(0xffffffffu, sum, 1) << 24;
    if (word == 0) left = beside;
    if (word == 7) right = beside << 24;
    return tmapi_ca_next4(next, c, sum + (sum << 8 | left) + (sum >> 8 | right)) &
           (cells * 0x00204081u & 0x01010101u) * 255;
}

// Eight lanes of a warp, side by side on the 32 places of a sector; the lane's four are at p, to be
// written to q; `cells` says which of them are cells. For sectors whose surroundings lie in the
// matrix. Collective.
TMAP_DEVICE void tmapi_ca_sector(const unsigned char *p, unsigned char *q, tmap_u64 width,
                                 tmap_u32 word, tmap_u32 cells, tmap_u32 next, int listed) {
    const unsigned char *end = p + (word ? 4 : -1);
    tmap_u32 up = 0, c = 0, down = 0, beside = 0, sum;
    if (listed) up = tmapi_ca_four(p - width), c = *(const tmap_u32 *)p;
    if (listed) down = tmapi_ca_four(p + width);
    if ((word == 0 && (cells & 1)) || (word == 7 && (cells & 8)))
        beside = (end[0] != 0) + (*(end - width) != 0) + (end[width] != 0);
    sum = tmapi_ca_columns(up, &c, down);
    c = tmapi_ca_states(next, c, sum, beside, word, cells);
    if (listed) *(tmap_u32 *)q = c;
}

// The same for any sector of the matrix; the lane's places are (x, y) and the three to the right.
typedef struct tmapi_ca_matrix {
    const unsigned char *in;
    unsigned char *out;
    tmap_u64 width, height;
} tmapi_ca_matrix;
TMAP_DEVICE void tmapi_ca_sector_edge(tmapi_ca_matrix m, tmap_i64 x, tmap_u64 y, tmap_u32 word,
                                      tmap_u32 cells, tmap_u32 next, int listed) {
    const tmap_i64 at = (tmap_i64)(y * m.width) + x, width = (tmap_i64)m.width;
    const unsigned char *p = m.in + at;
    const int above = listed && y > 0, below = listed && y + 1 < m.height;
    tmap_u32 up = 0, c = 0, down = 0, beside = 0, sum;
    if (listed) c = tmapi_ca_four_edge(p, x, m.width);
    if (above) up = tmapi_ca_four_edge(p - width, x, m.width);
    if (below) down = tmapi_ca_four_edge(p + width, x, m.width);
    if ((word == 0 && (cells & 1)) || (word == 7 && (cells & 8))) {
        tmap_i64 step = word ? 4 : -1;
        const unsigned char *end = p + step;
        if (x + step >= 0 && x + step < width)
            beside = (end[0] != 0) + (above && end[-width]) + (below && end[width]);
    }
    sum = tmapi_ca_columns(up, &c, down);
    c = tmapi_ca_states(next, c, sum, beside, word, cells);
    if (!listed) return;
    if (x >= 0 && x + 4 <= width) {
        *(tmap_u32 *)(m.out + at) = c;
    } else {
        for (int j = 0; j < 4; ++j)
            if (cells >> j & 1) m.out[at + j] = (unsigned char)(c >> (8 * j));
    }
}

TMAP_DEVICE void tmapi_ca_sectors(tmap_nbb f, tmap_box b, tmap_ca_rule rule,
                                  const unsigned char *in, unsigned char *out) {
    // The bits of a tile's rows, without and with a tile to the right; each warp's list of sectors,
    // 4 * row + sector.
    __shared__ tmap_u32 bits[2][TMAPI_CA_SIDE_MOST * TMAPI_CA_ROW_WORDS];
    __shared__ unsigned short lists[8][4 * TMAPI_CA_SIDE_MOST];
    const tmap_u32 r = tmapi_box_level(b), m = tmapi_ca_sectors_level(f, r);
    const tmap_u32 width = tmapi_pow32(f.sx, m), height = tmapi_pow32(f.sy, m);
    const tmap_u32 next = rule.born | rule.survive << 16, cells = tmapi_pow32(f.k, m);
    const tmap_u32 pitch = (tmap_u32)b.width; // a tile's rows are less than 2^31 places
    const tmapi_ca_matrix matrix = {in, out, b.width, b.height};
    tmap_tiles tiles = tmap_tiles_begin(f, r, m);
    tmap_u32 lane = tiles.level.warp.lane, word = lane % 8;
    unsigned short *list = lists[threadIdx.x / 32];
    for (tmap_u32 i = threadIdx.x; i < height * TMAPI_CA_ROW_WORDS; i += blockDim.x)
        bits[0][i] = bits[1][i] = 0;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < cells; i += blockDim.x) {
        tmap_xy p = tmap_nbb_lambda_linear(f, i, m);
        tmap_u32 *row = bits[0] + p.y * TMAPI_CA_ROW_WORDS, at = p.x + 32;
        atomicOr(&row[at / 32], 1u << (at % 32));
        row = bits[1] + p.y * TMAPI_CA_ROW_WORDS;
        atomicOr(&row[at / 32], 1u << (at % 32));
        at += width;
        if (p.x < 32) atomicOr(&row[at / 32], 1u << (at % 32));
    }
    __syncthreads();
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        tmap_u32 beside = __ballot_sync(
            0xffffffffu, lane < 2 && tmap_nbb_contains(f, tile.x + 2 * lane - 1, tile.y, r - m));
        const tmap_u32 *rows = bits[beside >> 1];
        const tmap_u64 x0 = (tmap_u64)tile.x * width, y0 = (tmap_u64)tile.y * height;
        const tmap_u64 begin = y0 * b.width + x0;
        const tmap_u32 start = (tmap_u32)((tmap_u64)out + begin); // modulo 32
        const int inner = x0 >= 64 && x0 + width + 64 <= b.width && y0 && y0 + height < b.height;
        tmap_u32 count = 0;
        for (tmap_u32 first = 0; first < height;
             first += 32) { // lanes list the sectors of a row each
            tmap_u32 row = first + lane, skew = (start + row * pitch) & 31, touched = 0;
            tmap_u32 before, total;
#pragma unroll
            for (tmap_u32 s = 0; s < 4; ++s)
                if (row < height && 32 * s < skew + width && !(s == 0 && skew && (beside & 1)) &&
                    tmapi_ca_row_bits(rows + row * TMAPI_CA_ROW_WORDS, (int)(32 * s) - (int)skew))
                    touched |= 1u << s;
            before = (tmap_u32)__popc(touched);
#pragma unroll
            for (tmap_u32 d = 1; d < 32; d *= 2) {
                tmap_u32 below = __shfl_up_sync(0xffffffffu, before, d);
                if (lane >= d) before += below;
            }
            total = __shfl_sync(0xffffffffu, before, 31);
            before += count - (tmap_u32)__popc(touched);
#pragma unroll
            for (tmap_u32 s = 0; s < 4; ++s)
                if (touched >> s & 1) list[before++] = (unsigned short)(4 * row + s);
            count += total;
        }
        __syncwarp();
        for (tmap_u32 base = 0; base < count; base += 4) {
            tmap_u32 at = base + lane / 8, item = list[at < count ? at : base], row = item / 4;
            int first = (int)(32 * (item % 4)) - (int)((start + row * pitch) & 31); // in the tile
            tmap_u32 four = tmapi_ca_row_bits(rows + row * TMAPI_CA_ROW_WORDS, first);
            int x = first + (int)(4 * word);
            four = four >> (4 * word) & (at < count ? 15 : 0);
            if (inner) {
                int step = (int)(row * pitch) + x;
                tmapi_ca_sector(in + begin + step, out + begin + step, b.width, word, four, next,
                                at < count);
            } else {
                tmapi_ca_sector_edge(matrix, (tmap_i64)x0 + x, y0 + row, word, four, next,
                                     at < count);
            }
        }
        __syncwarp();
    }
}

#endif // TMAP_CUDA
#endif
