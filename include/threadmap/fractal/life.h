// SPDX-License-Identifier: MIT
// life.h: the cellular automaton of ca.h by whole sectors of memory and by bits: of any fractal
// with tiles at least a sector wide, for matrices that begin in the same place of a sector.
//
// A cell written alone changes a part of a sector, 32 bytes, which memory reads, merges and writes
// back. A step may write 0 beside cells; so here each touched sector is read whole, once for each
// tile, and written whole, once. In between a place is a bit, and a thread computes the 32 places
// of a sector by sums of words.
//
// A block takes a tile of up to 254 x 254 places: it lists the sectors that may hold a cell of the
// tile or of the places around it, which depends on where in a sector each row begins, reads them,
// and computes those that hold a cell. A sector across the border of two tiles belongs to the left
// one. Only at the borders of the matrix, where a sector has places of two rows, cells are written
// alone.
//
// (H200, r = 10, ms: carpet 1.43, four places a lane 4.34; H 0.785, 1.89; bottles 0.636, 1.41;
// Vicsek 0.0917, single cells 0.170; X 0.119, 0.216.)
#ifndef TMAP_FRACTAL_LIFE_H
#define TMAP_FRACTAL_LIFE_H

#include "size.h"
#include "warp.h"
#include "ca_cell.h"

// The sides of a tile and of what a block keeps of it. Bit c + 1 of a row is column c: bit 0 is the
// last column of a tile to the left, and those past the tile are the first 32 of one to the right.
typedef struct tmapi_ca_tile {
    tmap_u32 m, width, height; // its level; places
    tmap_u32 sectors;          // that a row with the places around it can touch
    tmap_u32 mask, live;       // words of a row: its cells; its living ones
} tmapi_ca_tile;

TMAP_FN tmapi_ca_tile tmapi_ca_tile_make(tmap_nbb f) {
    tmapi_ca_tile t;
    t.m = tmap_nbb_tile_level(f, TMAP_LEVEL_MAX, 254);
    t.width = tmapi_pow32(f.sx, t.m), t.height = tmapi_pow32(f.sy, t.m);
    t.sectors = (31 + t.width + 33 + 31) / 32;
    t.mask = t.sectors + 3; // one before, for bits from -32 on
    t.live = t.sectors + 3; // one before, two after
    return t;
}

// Bytes of shared memory, less than 32 KB.
TMAP_FN tmap_u32 tmapi_ca_bits_bytes(tmapi_ca_tile t) {
    return (t.height + 2) * (4 * (t.mask + t.live) + 2 * t.sectors) + 16;
}

// 1 if a step goes by bits: the fractal has such a tile, sides and tiles fit 32 bits, and sectors
// of both matrices begin together.
TMAP_FN int tmapi_ca_bits_fit(tmap_nbb f, tmap_u32 r, const void *in, const void *out) {
    tmapi_ca_tile t = tmapi_ca_tile_make(f);
    return t.width >= 32 && r >= t.m && tmap_nbb_side_x(f, r) <= 0xffffffffull &&
           tmap_nbb_side_y(f, r) <= 0xffffffffull && tmap_nbb_cells(f, r - t.m) <= 0x7fffffffull &&
           (((tmap_u64)in ^ (tmap_u64)out) & 31) == 0;
}

#if TMAP_CUDA

// 32 bits of a row from bit `first` >= -32 on.
TMAP_DEVICE tmap_u32 tmapi_ca_bits(const tmap_u32 *row, int first) {
    tmap_u32 at = (tmap_u32)(first + 32), i = at >> 5;
    return __funnelshift_r(row[i], row[i + 1], at & 31);
}

// Up to 32 bits from bit `first` >= -32 on become set where `bits` has them.
TMAP_DEVICE void tmapi_ca_bits_set(tmap_u32 *row, tmap_u32 first, tmap_u32 bits) {
    tmap_u32 at = first + 32;
    row[at >> 5] |= bits << (at & 31);
    if (at & 31) row[(at >> 5) + 1] |= bits >> (32 - (at & 31));
}

// The cells of row y - 1 of a tile, by one thread; the rows above and below it as those of a tile
// there. The lowest levels, up to 32 places, are a word; the upper ones say where it stands.
TMAP_DEVICE void tmapi_ca_mask_row(tmap_nbb f, tmapi_ca_tile t, tmap_u32 y, tmap_u32 *row) {
    tmap_u32 bits = 1, side = 1, low = 0, rest = (y + t.height - 1) % t.height;
    for (tmap_u32 i = 0; i < t.mask; ++i) row[i] = 0;
    for (; side * f.sx <= 32 && low < t.m; ++low, side *= f.sx, rest /= f.sy) {
        tmap_u32 next = 0;
        for (tmap_u32 beta = 0; beta < f.k; ++beta) {
            tmap_xy tau = tmap_nbb_tau(f, beta);
            if (tau.y == rest % f.sy) next |= bits << tau.x * side;
        }
        bits = next;
    }
    for (tmap_u32 i = 0; i < tmapi_pow32(f.k, t.m - low); ++i) {
        tmap_xy p = tmap_nbb_lambda_linear(f, i, t.m - low);
        if (p.y == rest) tmapi_ca_bits_set(row, 1 + p.x * side, bits);
    }
    bits = tmapi_ca_bits(row, 1); // before bit 0 may become part of it
    row[1] |= tmapi_ca_bits(row, (int)t.width) & 1;
    tmapi_ca_bits_set(row, t.width + 1, bits);
}

// The bits of 32 bytes, each 1 where a byte is not 0.
TMAP_DEVICE tmap_u32 tmapi_ca_pack4(tmap_u32 v) { return v * 0x10204080u >> 28; }
TMAP_DEVICE tmap_u32 tmapi_ca_pack(uint4 a, uint4 b) {
    if ((a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w) & 0xfefefefeu) { // never after a step
        a.x = tmapi_ca_alive4(a.x), a.y = tmapi_ca_alive4(a.y), a.z = tmapi_ca_alive4(a.z);
        a.w = tmapi_ca_alive4(a.w), b.x = tmapi_ca_alive4(b.x), b.y = tmapi_ca_alive4(b.y);
        b.z = tmapi_ca_alive4(b.z), b.w = tmapi_ca_alive4(b.w);
    }
    return tmapi_ca_pack4(a.x) | tmapi_ca_pack4(a.y) << 4 | tmapi_ca_pack4(a.z) << 8 |
           tmapi_ca_pack4(a.w) << 12 | tmapi_ca_pack4(b.x) << 16 | tmapi_ca_pack4(b.y) << 20 |
           tmapi_ca_pack4(b.z) << 24 | tmapi_ca_pack4(b.w) << 28;
}

// Bits 4 * i .. 4 * i + 3 as bytes.
TMAP_DEVICE tmap_u32 tmapi_ca_spread(tmap_u32 bits, int i) {
    return (bits >> (4 * i) & 15) * 0x00204081u & 0x01010101u;
}

// 32 places of a row, and those to the left and to the right of each.
typedef struct tmapi_ca_three {
    tmap_u32 left, here, right;
} tmapi_ca_three;
TMAP_DEVICE tmapi_ca_three tmapi_ca_window(const tmap_u32 *row, int first) { // first >= -31
    tmap_u32 at = (tmap_u32)(first + 31), i = at >> 5, high;
    tmapi_ca_three t;
    high = __funnelshift_r(row[i + 1], row[i + 2], at & 31);
    t.left = __funnelshift_r(row[i], row[i + 1], at & 31);
    t.here = __funnelshift_r(t.left, high, 1), t.right = __funnelshift_r(t.left, high, 2);
    return t;
}

TMAP_DEVICE tmap_u32 tmapi_ca_carry(tmap_u32 a, tmap_u32 b, tmap_u32 c) {
    return (a & b) | (a & c) | (b & c);
}
TMAP_DEVICE tmap_u32 tmapi_ca_pick(tmap_u32 s, tmap_u32 one, tmap_u32 zero) {
    return (s & one) | (~s & zero);
}

// The next states of 32 places from three rows: the neighbours of each are added up as four-bit
// numbers, bit by bit of all places at once, and pick one of nine answers. next: born | survive <<
// 16.
TMAP_DEVICE tmap_u32 tmapi_ca_next32(tmapi_ca_three u, tmapi_ca_three c, tmapi_ca_three d,
                                     tmap_u32 next) {
    tmap_u32 u0 = u.left ^ u.here ^ u.right, u1 = tmapi_ca_carry(u.left, u.here, u.right);
    tmap_u32 d0 = d.left ^ d.here ^ d.right, d1 = tmapi_ca_carry(d.left, d.here, d.right);
    tmap_u32 c0 = c.left ^ c.right, c1 = c.left & c.right;
    tmap_u32 n0 = u0 ^ d0 ^ c0, carry0 = tmapi_ca_carry(u0, d0, c0);
    tmap_u32 sum = u1 ^ d1 ^ c1, carry = tmapi_ca_carry(u1, d1, c1);
    tmap_u32 n1 = sum ^ carry0, carry1 = sum & carry0, n2 = carry ^ carry1, n3 = carry & carry1;
    tmap_u32 v[9];
#pragma unroll
    for (int n = 0; n < 9; ++n)
        v[n] = tmapi_ca_pick(c.here, 0u - (next >> (16 + n) & 1), 0u - (next >> n & 1));
    v[0] = tmapi_ca_pick(n0, v[1], v[0]), v[2] = tmapi_ca_pick(n0, v[3], v[2]);
    v[4] = tmapi_ca_pick(n0, v[5], v[4]), v[6] = tmapi_ca_pick(n0, v[7], v[6]);
    v[0] = tmapi_ca_pick(n1, v[2], v[0]), v[4] = tmapi_ca_pick(n1, v[6], v[4]);
    return tmapi_ca_pick(n3, v[8], tmapi_ca_pick(n2, v[4], v[0]));
}

// Where a tile stands, and what a sector of it needs to know.
typedef struct tmapi_ca_here {
    tmap_i64 begin;               // the place of bit 0 of row 0, the corner of what is around it
    tmap_u32 start, width, rows;  // its address modulo 32; of the matrix
    int west, east, north, south; // 1 at a border of the matrix
    int left, right;              // 1 if the tile beside belongs to the fractal
} tmapi_ca_here;

// The bit of a row at which its sector s begins.
TMAP_DEVICE int tmapi_ca_first(const tmapi_ca_here *h, tmap_u32 row, tmap_u32 s) {
    return (int)(32 * s) - (int)((h->start + row * h->width) & 31);
}

// Those of 32 bits from bit `first` on that lie below bit `end`.
TMAP_DEVICE tmap_u32 tmapi_ca_below(int first, tmap_u32 end) {
    int n = (int)end - first;
    return n >= 32 ? ~0u : n <= 0 ? 0u : (1u << n) - 1;
}

// The living places of a sector, as bits.
TMAP_DEVICE tmap_u32 tmapi_ca_read(tmapi_ca_tile t, const tmapi_ca_here *h, tmap_u32 row, int first,
                                   const unsigned char *in) {
    const tmap_i64 at = h->begin + (tmap_i64)((tmap_u64)row * h->width) + first;
    const tmap_u64 places = (tmap_u64)h->width * h->rows;
    tmap_u32 bits = 0;
    if (at >= 0 && (tmap_u64)at + 32 <= places) {
        const uint4 *p = (const uint4 *)(in + at);
        bits = tmapi_ca_pack(p[0], p[1]);
    } else {
        for (int b = 0; b < 32; ++b)
            if (at + b >= 0 && (tmap_u64)(at + b) < places) bits |= (in[at + b] ? 1u : 0u) << b;
    }
    // The column before the first one and that after the last one are of other rows.
    if (h->west && first <= 0) bits &= ~(1u << -first);
    if (h->east) bits &= tmapi_ca_below(first, t.width + 1);
    return bits;
}

// The next states of a sector, unless the tile to the left writes them.
TMAP_DEVICE void tmapi_ca_write(tmapi_ca_tile t, const tmapi_ca_here *h, tmap_u32 row, tmap_u32 s,
                                const tmap_u32 *mask, const tmap_u32 *live, tmap_u32 next,
                                unsigned char *out) {
    const tmap_u32 skew = (h->start + row * h->width) & 31;
    const int first = (int)(32 * s) - (int)skew;
    tmap_u32 cells, now;
    if (row == 0 || row == t.height + 1 || first > (int)t.width || (first <= 0 && h->left)) return;
    cells = tmapi_ca_bits(mask, first);
    if (first <= 0) cells &= ~(1u << -first);
    if (!h->right) cells &= tmapi_ca_below(first, t.width + 1);
    if (!cells) return;
    now = tmapi_ca_next32(tmapi_ca_window(live - t.live, first + (int)((skew - h->width) & 31)),
                          tmapi_ca_window(live, (int)(32 * s)),
                          tmapi_ca_window(live + t.live, first + (int)((skew + h->width) & 31)),
                          next) &
          cells;
    out += h->begin + (tmap_i64)((tmap_u64)row * h->width) + first;
    if ((h->west && first <= 0) || (h->east && first + 32 > (int)t.width + 1)) {
        for (; cells; cells &= cells - 1) {
            int b = __ffs((int)cells) - 1;
            out[b] = (unsigned char)(now >> b & 1);
        }
    } else {
        ((uint4 *)out)[0] = make_uint4(tmapi_ca_spread(now, 0), tmapi_ca_spread(now, 1),
                                       tmapi_ca_spread(now, 2), tmapi_ca_spread(now, 3));
        ((uint4 *)out)[1] = make_uint4(tmapi_ca_spread(now, 4), tmapi_ca_spread(now, 5),
                                       tmapi_ca_spread(now, 6), tmapi_ca_spread(now, 7));
    }
}

// Blocks of whole warps.
TMAP_DEVICE void tmapi_ca_by_bits(tmap_nbb f, tmap_u32 r, tmap_u32 width, tmap_u32 height,
                                  tmap_u32 next, const unsigned char *in, unsigned char *out) {
    extern __shared__ tmap_u32 tmapi_ca_shared[];
    const tmapi_ca_tile t = tmapi_ca_tile_make(f);
    const tmap_u32 tiles = (tmap_u32)tmap_nbb_cells(f, r - t.m), lane = threadIdx.x % 32;
    const tmap_u32 tasks = (t.height + 2) * t.sectors;
    tmap_u32 *mask = tmapi_ca_shared, *live = mask + (t.height + 2) * t.mask;
    tmap_u32 *count = live + (t.height + 2) * t.live;
    unsigned short *list = (unsigned short *)(count + 4); // 16 * row + sector
    for (tmap_u32 i = threadIdx.x; i < t.height + 2; i += blockDim.x)
        tmapi_ca_mask_row(f, t, i, mask + i * t.mask);
    for (tmap_u32 i = threadIdx.x; i < (t.height + 2) * t.live; i += blockDim.x) live[i] = 0;
    for (tmap_u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        tmap_xy p = tmap_nbb_lambda_linear(f, tile, r - t.m);
        tmap_u32 beside = __ballot_sync(
            0xffffffffu, lane < 2 && tmap_nbb_contains(f, p.x + 2 * lane - 1, p.y, r - t.m));
        const tmap_u32 x0 = p.x * t.width, y0 = p.y * t.height;
        tmapi_ca_here h;
        h.begin = ((tmap_i64)y0 - 1) * width + x0 - 1;
        h.start = (tmap_u32)((tmap_u64)in + (tmap_u64)h.begin), h.width = width, h.rows = height;
        h.west = x0 == 0, h.east = x0 + t.width == width;
        h.north = y0 == 0, h.south = y0 + t.height == height;
        h.left = beside & 1, h.right = beside >> 1 & 1;
        __syncthreads(); // the last tile's list is read
        if (threadIdx.x == 0) *count = 0;
        __syncthreads();
        for (tmap_u32 base = 0; base < tasks; base += blockDim.x) {
            tmap_u32 i = base + threadIdx.x, row = i / t.sectors, s = i - row * t.sectors;
            tmap_u32 bits = 0, all, at = 0;
            if (i < tasks) {
                int first = tmapi_ca_first(&h, row, s);
                bits = tmapi_ca_bits(mask + row * t.mask, first);
                if (!h.right) bits &= tmapi_ca_below(first, t.width + 2);
                if ((row == 0 && h.north) || (row == t.height + 1 && h.south)) bits = 0;
                if (!bits) live[row * t.live + 1 + s] = 0;
            }
            all = __ballot_sync(0xffffffffu, bits != 0);
            if (lane == 0 && all) at = atomicAdd(count, (tmap_u32)__popc((int)all));
            at =
                __shfl_sync(0xffffffffu, at, 0) + (tmap_u32)__popc((int)(all & ((1u << lane) - 1)));
            if (bits) list[at] = (unsigned short)(row * 16 + s);
        }
        __syncthreads();
        const tmap_u32 listed = *count;
#pragma unroll 2
        for (tmap_u32 j = threadIdx.x; j < listed; j += blockDim.x) {
            tmap_u32 row = list[j] / 16, s = list[j] % 16;
            live[row * t.live + 1 + s] = tmapi_ca_read(t, &h, row, tmapi_ca_first(&h, row, s), in);
        }
        __syncthreads();
        for (tmap_u32 j = threadIdx.x; j < listed; j += blockDim.x) {
            tmap_u32 row = list[j] / 16, s = list[j] % 16;
            tmapi_ca_write(t, &h, row, s, mask + row * t.mask, live + row * t.live, next, out);
        }
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

// The launch: blocks of 512 threads, or where tiles are small of 256 (gasket 0.216 ms, of 512
// 0.316), and eight times as many as a multiprocessor holds, so that the quicker ones take more of
// them (r = 10, once and eight times as many, ms: carpet 1.91 and 1.54, H 0.940 and 0.826, X 0.127
// and 0.120).
static inline void tmapi_ca_bits_grid(tmap_nbb f, tmap_u32 r, tmap_u64 processors, dim3 *grid,
                                      dim3 *block) {
    const tmapi_ca_tile t = tmapi_ca_tile_make(f);
    const int small = t.width <= 128, dense = 4 * tmap_nbb_cells(f, t.m) >= t.width * t.height;
    const tmap_u64 tiles = tmap_nbb_cells(f, r - t.m);
    const tmap_u64 most = 8 * processors * (small ? 8 : dense ? 2 : 3);
    *block = dim3(small ? 256 : 512, 1, 1);
    *grid = dim3((unsigned)(tiles < most ? tiles : most), 1, 1);
}

#endif
#endif
