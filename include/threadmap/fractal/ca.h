// SPDX-License-Identifier: MIT
// ca.h: cellular automata (CA) on a fractal embedded in a matrix, with any rule of the family of
// Conway's Life. In the Moore neighbourhood only cells of the fractal count.
//
// The third test of Navarro et al., FGCS 113 (2020), section 6.2. Cells have one or four bytes;
// cells of one byte are processed in complete sectors where the matrices allow it.
//
//     tmap_ca_plan plan;
//     cudaError_t error = tmap_ca_plan_make(tmap_fractal_carpet(), 6, 0, 1, &plan);
//     if (!error) error = tmap_ca(&plan, tmap_ca_life(), a, b, stream);
//
// The matrix holds 0 outside the fractal. A step writes cells, and may write 0 beside them.
#ifndef TMAP_FRACTAL_CA_H
#define TMAP_FRACTAL_CA_H

#include "ca_rule.h"
#include "ready.h"
#include "stencil.h"

// ---- by complete sectors ------------------------------------------------------------------------
//
// For bytes, in matrices as wide as the fractal that begin at the same offset in a sector (32
// bytes). A store to one cell makes memory read, merge and write back its sector. Here each tile
// reads a sector once, completely, and writes it once, completely. In between a place is one bit,
// and a thread computes the 32 places of a sector with operations on words.
//
// A block takes a tile of up to 254 x 254 places. It lists the sectors that may hold a cell of the
// tile or around it, reads them, and computes those that hold a cell. A sector across the border of
// two tiles belongs to the left one. At the borders of the matrix cells are written one by one.

// The sides of a tile and of what a block keeps of it. Bit c + 1 of a row is column c: bit 0 is the
// last column of the tile to the left, and the bits past the tile are the first 32 columns of the
// tile to the right.
typedef struct tmapi_life_tile {
    tmap_u32 m, width, height; // its level; places
    tmap_u32 sectors;          // the most that a row with the places around it touches
    tmap_u32 mask, live;       // words per row: of its cells; of its living cells
} tmapi_life_tile;

TMAP_FN tmapi_life_tile tmapi_life_tile_make(tmap_nbb f) {
    tmapi_life_tile t;
    t.m = tmap_nbb_tile_level(f, TMAP_LEVEL_MAX, 254);
    t.width = tmapi_pow32(f.sx, t.m), t.height = tmapi_pow32(f.sy, t.m);
    t.sectors = (31 + t.width + 33 + 31) / 32;
    t.mask = t.sectors + 3; // one before, for bits from -32 on
    t.live = t.sectors + 3; // one before, two after
    return t;
}

// A tile's position among the tiles, and whether the tiles to its left and right belong to the
// fractal: two bits of `beside`.
typedef struct tmapi_life_place {
    tmap_u32 x, y, beside;
} tmapi_life_place;

// The most warps of a block; each finds the position of one tile in turn.
#define TMAPI_LIFE_WARPS_MOST 16

// 1 if sectors can run this fractal and level: tiles are at least 32 places wide and of level r
// or less, the matrix's sides fit 32 bits, and the number of tiles fits 31 bits.
TMAP_FN int tmapi_life_fits(tmap_nbb f, tmap_u32 r) {
    const tmapi_life_tile t = tmapi_life_tile_make(f);
    return tmap_nbb_check(f) == TMAP_OK && t.width >= 32 && r >= t.m &&
           tmap_nbb_side_x(f, r) <= 0xffffffffull && tmap_nbb_side_y(f, r) <= 0xffffffffull &&
           tmap_nbb_cells(f, r - t.m) <= 0x7fffffffull;
}

// The launch for one fractal and level, passed to the kernel by value.
typedef struct tmapi_life_plan {
    tmap_nbb f;
    tmap_u32 r, width, height; // of the fractal
    tmapi_life_tile tile;
    tmap_u32 tiles;
    tmap_u32 grid, block, shared;
} tmapi_life_plan;

#if TMAP_CUDA

// 32 bits of a row from bit `first` >= -32 on.
TMAP_DEVICE tmap_u32 tmapi_life_bits(const tmap_u32 *row, int first) {
    tmap_u32 at = (tmap_u32)(first + 32), i = at >> 5;
    return __funnelshift_r(row[i], row[i + 1], at & 31);
}

// A mask of those of the 32 bits from bit `first` on that lie below bit `end`.
TMAP_DEVICE tmap_u32 tmapi_life_below(int first, tmap_u32 end) {
    int n = (int)end - first;
    return n >= 32 ? ~0u : n <= 0 ? 0u : (1u << n) - 1;
}

// 32 bits of a row of `width` bits from any bit on; 0 outside.
TMAP_DEVICE tmap_u32 tmapi_life_take(const tmap_u32 *row, int first, tmap_u32 width) {
    return first > -32 && first < (int)width ? tmapi_life_bits(row, first) : 0;
}

// Writes the tile's cells to mask[0..height+1]. Rows 0 and height + 1 are those of the tiles above
// and below; bit 0 of a row is the last column of the tile to the left, and the first 32 columns
// of the tile to the right follow the tile's own. The mask grows level by level, in `mask` and
// `other` in turn; each row has a word of zeros before it and some behind. Collective for the
// block, with barriers.
TMAPI_DEVICE_CALL void tmapi_life_mask(tmap_nbb f, tmapi_life_tile t, tmap_u32 *mask,
                                       tmap_u32 *other) {
    const tmap_u32 words = t.mask; // of a row
    tmap_u32 width = 1, height = 1, *from = mask, *to = t.m & 1 ? mask : other;
    for (tmap_u32 i = threadIdx.x; i < words; i += blockDim.x) to[i] = i == 1;
    __syncthreads();
    TMAPI_NO_UNROLL
    for (tmap_u32 level = 0; level < t.m; ++level) {
        tmap_u32 *last = to;
        to = last == mask ? other : mask, from = last;
        TMAPI_NO_UNROLL
        for (tmap_u32 i = threadIdx.x; i < height * f.sy * words; i += blockDim.x) {
            const tmap_u32 y = i / words, w = i - y * words, strip = y / height;
            const tmap_u32 *row = from + (y - strip * height) * words;
            tmap_u32 bits = 0;
            TMAPI_NO_UNROLL
            for (tmap_u32 beta = 0; beta < f.k; ++beta) {
                const tmap_xy tau = tmap_nbb_tau(f, beta);
                if (tau.y == strip)
                    bits |= tmapi_life_take(row, (int)(32 * w) - 32 - (int)(tau.x * width), width);
            }
            to[i] = bits;
        }
        width *= f.sx, height *= f.sy;
        __syncthreads();
    }
    TMAPI_NO_UNROLL
    for (tmap_u32 i = threadIdx.x; i < (height + 2) * words; i += blockDim.x) {
        const tmap_u32 y = i / words, w = i - y * words;
        const tmap_u32 *row = to + (y == 0 ? height - 1 : y == height + 1 ? 0 : y - 1) * words;
        const int first = (int)(32 * w) - 32; // bit of the mask
        tmap_u32 bits = tmapi_life_take(row, first - 1, width);
        bits |= tmapi_life_take(row, first - 1 - (int)width, width) &
                tmapi_life_below(first, width + 33);
        if (first == 0) bits |= tmapi_life_take(row, (int)width - 1, width) & 1;
        mask[i] = bits;
    }
    __syncthreads();
}

// Sets each byte that is not 0 to 1.
TMAP_DEVICE tmap_u32 tmapi_life_alive4(tmap_u32 v) {
    v |= v >> 4 & 0x0f0f0f0fu;
    v |= v >> 2 & 0x03030303u;
    return (v | (v >> 1 & 0x01010101u)) & 0x01010101u;
}

// One bit per byte, for 4 bytes that are 0 or 1, and for 32 of any values: 1 where it is not 0.
TMAP_DEVICE tmap_u32 tmapi_life_pack4(tmap_u32 v) { return v * 0x10204080u >> 28; }
TMAP_DEVICE tmap_u32 tmapi_life_pack(uint4 a, uint4 b) {
    if ((a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w) & 0xfefefefeu) { // not after a step
        a.x = tmapi_life_alive4(a.x), a.y = tmapi_life_alive4(a.y), a.z = tmapi_life_alive4(a.z);
        a.w = tmapi_life_alive4(a.w), b.x = tmapi_life_alive4(b.x), b.y = tmapi_life_alive4(b.y);
        b.z = tmapi_life_alive4(b.z), b.w = tmapi_life_alive4(b.w);
    }
    return tmapi_life_pack4(a.x) | tmapi_life_pack4(a.y) << 4 | tmapi_life_pack4(a.z) << 8 |
           tmapi_life_pack4(a.w) << 12 | tmapi_life_pack4(b.x) << 16 | tmapi_life_pack4(b.y) << 20 |
           tmapi_life_pack4(b.z) << 24 | tmapi_life_pack4(b.w) << 28;
}

// Bits 4 * i .. 4 * i + 3 as bytes.
TMAP_DEVICE tmap_u32 tmapi_life_spread(tmap_u32 bits, int i) {
    return (bits >> (4 * i) & 15) * 0x00204081u & 0x01010101u;
}

// Bits first .. first + 31 of a row.
TMAP_DEVICE tmapi_life_three tmapi_life_window(const tmap_u32 *row, int first) { // first >= -31
    tmap_u32 at = (tmap_u32)(first + 31), i = at >> 5, high;
    tmapi_life_three t;
    high = __funnelshift_r(row[i + 1], row[i + 2], at & 31);
    t.left = __funnelshift_r(row[i], row[i + 1], at & 31);
    t.here = __funnelshift_r(t.left, high, 1), t.right = __funnelshift_r(t.left, high, 2);
    return t;
}

// Where a tile is, and what the code for a sector needs.
typedef struct tmapi_life_here {
    tmap_i64 begin;               // the place of bit 0 of row 0, one left of and above the tile
    tmap_u32 start, width, rows;  // its address modulo 32; sides of the matrix
    int west, east, north, south; // 1 at a border of the matrix
    int left, right;              // 1 if the tile beside belongs to the fractal
} tmapi_life_here;

// The bit of a row at which sector s of it begins.
TMAP_DEVICE int tmapi_life_first(const tmapi_life_here *h, tmap_u32 row, tmap_u32 s) {
    return (int)(32 * s) - (int)((h->start + row * h->width) & 31);
}

// 1 if a cell that the tile writes lies next to a sector that begins behind the tile. None does
// where the last column of a tile is nearly empty, as in the gasket.
TMAP_DEVICE int tmapi_life_near(tmapi_life_tile t, const tmapi_life_here *h, tmap_u32 row,
                                int first, const tmap_u32 *mask) {
    tmap_u32 cells = 0, skew;
    for (int y = -1; y <= 1; ++y) {
        const tmap_u32 beside = row + (tmap_u32)y; // its cells are written if it is of the tile
        if (beside == 0 || beside > t.height) continue;
        skew = (h->start + beside * h->width) & 31;
        cells |= tmapi_life_bits(mask + y * (int)t.mask, first - 1) &
                 tmapi_life_below(first - 1, (t.width + skew) / 32 * 32 + 32 - skew);
    }
    return cells != 0;
}

// The sectors of a row that the step has to read, one bit each. The others have no living places:
// their words of `live` become 0.
TMAP_DEVICE tmap_u32 tmapi_life_list(tmapi_life_tile t, const tmapi_life_here *h, tmap_u32 row,
                                     const tmap_u32 *cells, tmap_u32 *live) {
    const int none = (row == 0 && h->north) || (row == t.height + 1 && h->south);
    const tmap_u32 end = h->right ? 1u << 30 : t.width + 2;
    int first = tmapi_life_first(h, row, 0);
    const tmap_u32 at = (tmap_u32)(first + 32), shift = at & 31;
    const tmap_u32 *mask = cells + (at >> 5);
    tmap_u32 found = 0, word = *mask;
    for (tmap_u32 s = 0; s < t.sectors; ++s, first += 32) {
        const tmap_u32 next = mask[s + 1];
        const tmap_u32 bits = __funnelshift_r(word, next, shift) & tmapi_life_below(first, end);
        if (bits && !none && (first <= (int)t.width || tmapi_life_near(t, h, row, first, cells)))
            found |= 1u << s;
        else
            live[1 + s] = 0;
        word = next;
    }
    return found;
}

// The living places of a sector, as bits.
TMAP_DEVICE tmap_u32 tmapi_life_read(tmapi_life_tile t, const tmapi_life_here *h, tmap_u32 row,
                                     int first, const unsigned char *in) {
    const tmap_i64 at = h->begin + (tmap_i64)((tmap_u64)row * h->width) + first;
    const tmap_u64 places = (tmap_u64)h->width * h->rows;
    tmap_u32 bits = 0;
    if (at >= 0 && (tmap_u64)at + 32 <= places) {
        const uint4 *p = (const uint4 *)(in + at);
        bits = tmapi_life_pack(p[0], p[1]);
    } else {
        TMAPI_NO_UNROLL
        for (int b = 0; b < 32; ++b)
            if (at + b >= 0 && (tmap_u64)(at + b) < places) bits |= (in[at + b] ? 1u : 0u) << b;
    }
    // The columns before the first and after the last belong to other rows.
    if (h->west && first <= 0) bits &= ~(1u << -first);
    if (h->east) bits &= tmapi_life_below(first, t.width + 1);
    return bits;
}

// Writes the next states of a sector, unless the tile to the left writes them.
TMAP_DEVICE void tmapi_life_write(tmapi_life_tile t, const tmapi_life_here *h, tmap_u32 row,
                                  tmap_u32 s, const tmap_u32 *mask, const tmap_u32 *live,
                                  const tmapi_life_rule *rule, unsigned char *out) {
    const tmap_u32 skew = (h->start + row * h->width) & 31;
    const int first = (int)(32 * s) - (int)skew;
    tmap_u32 cells, now;
    if (row == 0 || row == t.height + 1 || first > (int)t.width || (first <= 0 && h->left)) return;
    cells = tmapi_life_bits(mask, first);
    if (first <= 0) cells &= ~(1u << -first);
    if (!h->right) cells &= tmapi_life_below(first, t.width + 1);
    if (!cells) return;
    now = tmapi_life_next32(tmapi_life_window(live - t.live, first + (int)((skew - h->width) & 31)),
                            tmapi_life_window(live, (int)(32 * s)),
                            tmapi_life_window(live + t.live, first + (int)((skew + h->width) & 31)),
                            rule) &
          cells;
    out += h->begin + (tmap_i64)((tmap_u64)row * h->width) + first;
    if ((h->west && first <= 0) || (h->east && first + 32 > (int)t.width + 1)) {
        for (; cells; cells &= cells - 1) {
            int b = __ffs((int)cells) - 1;
            out[b] = (unsigned char)(now >> b & 1);
        }
    } else {
        ((uint4 *)out)[0] = make_uint4(tmapi_life_spread(now, 0), tmapi_life_spread(now, 1),
                                       tmapi_life_spread(now, 2), tmapi_life_spread(now, 3));
        ((uint4 *)out)[1] = make_uint4(tmapi_life_spread(now, 4), tmapi_life_spread(now, 5),
                                       tmapi_life_spread(now, 6), tmapi_life_spread(now, 7));
    }
}

// Finds a tile's position. Collective for a full warp.
TMAP_DEVICE tmapi_life_place tmapi_life_find(const tmapi_life_plan *plan,
                                             const tmap_warp_level *level, tmap_u32 tile) {
    const tmap_u32 lane = threadIdx.x % 32, levels = plan->r - plan->tile.m;
    const tmap_xy p = tmap_nbb_has_ballot(plan->f)
                          ? tmap_warp_level_ballot(level, plan->f, tile, tile)
                          : tmap_warp_level_redux(level, plan->f, tile, tile);
    tmapi_life_place place;
    place.x = p.x, place.y = p.y;
    place.beside = __ballot_sync(
        0xffffffffu, lane < 2 && tmap_nbb_contains(plan->f, p.x + 2 * lane - 1, p.y, levels));
    return place;
}

// One step, in blocks of full warps and grids of one axis.
TMAP_DEVICE void tmapi_life_step(const tmapi_life_plan *plan, const tmapi_life_rule *rule,
                                 const unsigned char *in, unsigned char *out) {
    extern __shared__ tmap_u32 tmapi_life_shared[];
    const tmapi_life_tile t = plan->tile;
    const tmap_u32 width = plan->width, height = plan->height, lane = threadIdx.x % 32;
    const tmap_u32 warps = blockDim.x / 32, warp = threadIdx.x / 32;
    const tmap_warp_level level =
        tmap_warp_level_make_linear(tmap_warp_full(), plan->f, plan->r - t.m);
    tmap_u32 *mask = tmapi_life_shared, *live = mask + (t.height + 2) * t.mask;
    tmap_u32 *count = live + (t.height + 2) * t.live, turn = 0;
    tmapi_life_place *places = (tmapi_life_place *)(count + 4);
    unsigned short *list = (unsigned short *)(places + TMAPI_LIFE_WARPS_MOST); // 16 * row + sector
    tmapi_life_mask(plan->f, t, mask, live);
    for (tmap_u32 i = threadIdx.x; i < (t.height + 2) * t.live; i += blockDim.x) live[i] = 0;
    for (tmap_u32 tile = blockIdx.x; tile < plan->tiles; tile += gridDim.x, ++turn) {
        tmapi_life_place place;
        tmapi_life_here h;
        tmap_u32 x0, y0;
        __syncthreads(); // the previous tile's list has been read
        if (threadIdx.x == 0) *count = 0;
        if (turn == warps) turn = 0;
        if (turn == 0) { // each warp finds the position of one tile
            place = tmapi_life_find(plan, &level, tile + warp * gridDim.x);
            if (lane == 0) places[warp] = place;
        }
        __syncthreads();
        place = places[turn], x0 = place.x * t.width, y0 = place.y * t.height;
        h.begin = ((tmap_i64)y0 - 1) * width + x0 - 1;
        h.start = (tmap_u32)((tmap_u64)in + (tmap_u64)h.begin), h.width = width, h.rows = height;
        h.west = x0 == 0, h.east = x0 + t.width == width;
        h.north = y0 == 0, h.south = y0 + t.height == height;
        h.left = place.beside & 1, h.right = place.beside >> 1 & 1;
        for (tmap_u32 row = threadIdx.x; row < t.height + 2; row += blockDim.x) {
            tmap_u32 found = tmapi_life_list(t, &h, row, mask + row * t.mask, live + row * t.live);
            tmap_u32 at = atomicAdd(count, (tmap_u32)__popc((int)found));
            for (; found; found &= found - 1)
                list[at++] = (unsigned short)(row * 16 + (tmap_u32)__ffs((int)found) - 1);
        }
        __syncthreads();
        const tmap_u32 listed = *count;
#pragma unroll 2
        for (tmap_u32 j = threadIdx.x; j < listed; j += blockDim.x) {
            tmap_u32 row = list[j] / 16, s = list[j] % 16;
            live[row * t.live + 1 + s] =
                tmapi_life_read(t, &h, row, tmapi_life_first(&h, row, s), in);
        }
        __syncthreads();
        for (tmap_u32 j = threadIdx.x; j < listed; j += blockDim.x) {
            tmap_u32 row = list[j] / 16, s = list[j] % 16;
            tmapi_life_write(t, &h, row, s, mask + row * t.mask, live + row * t.live, rule, out);
        }
    }
}

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Blocks that fill a multiprocessor's 2048, 1536 or 1024 threads; ptxas warns of more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define TMAPI_LIFE_RESIDENT 2
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ / 100 != 9 && \
    __CUDA_ARCH__ / 100 != 10
#define TMAPI_LIFE_RESIDENT 3
#else
#define TMAPI_LIFE_RESIDENT 4
#endif

static __global__ void __launch_bounds__(512, TMAPI_LIFE_RESIDENT)
    tmapi_life_kernel(tmapi_life_plan plan, tmapi_life_rule rule,
                      const unsigned char *__restrict__ in, unsigned char *__restrict__ out) {
    tmapi_life_step(&plan, &rule, in, out);
}

// Makes a plan where tmapi_life_fits, in matrices without gaps between rows. Returns a CUDA error;
// *out is written only on success.
static inline cudaError_t tmapi_life_plan_make(tmap_nbb f, tmap_u32 r, tmapi_life_plan *out) {
    tmap_facts facts;
    tmapi_life_plan p;
    tmap_u64 held, waves;
    cudaError_t error;
    error = tmap_facts_get((const void *)tmapi_life_kernel, &facts);
    if (error) return error;
    p.f = f, p.r = r, p.tile = tmapi_life_tile_make(f);
    p.width = (tmap_u32)tmap_nbb_side_x(f, r), p.height = (tmap_u32)tmap_nbb_side_y(f, r);
    p.tiles = (tmap_u32)tmap_nbb_cells(f, r - p.tile.m);
    p.block = p.tile.width <= 128 ? 256 : 512; // small tiles have fewer sectors than 512
    p.shared = (p.tile.height + 2) * (4 * (p.tile.mask + p.tile.live) + 2 * p.tile.sectors) + 16 +
               TMAPI_LIFE_WARPS_MOST * (tmap_u32)sizeof(tmapi_life_place); // less than 32 KB
    held = (tmap_u64)facts.device.processors * tmap_resident_blocks(&facts, p.block, p.shared);
    // More blocks than fit at once, because multiprocessors differ in speed; at most 8 times as
    // many, because every block makes a mask.
    waves = held ? p.tiles / (16 * held) : 0;
    held *= waves < 1 ? 1 : waves > 8 ? 8 : waves;
    p.grid = (tmap_u32)(p.tiles < held ? p.tiles : held);
    if (!p.grid) return cudaErrorInvalidConfiguration;
    *out = p;
    return cudaSuccess;
}

// ---- by the stencil engine, or by sectors where possible ----------------------------------------

typedef struct tmapi_ca {
    const void *in;
    void *out;
    tmap_ca_rule rule;
} tmapi_ca;

// The rule and the kernel for one type of cell. Places that are no cells hold 0.
#define TMAPI_CA_KERNEL(name, type) \
    TMAP_DEVICE void tmapi_ca_rule_##name(void *job, tmap_cell cell, tmap_u32 around, \
                                          const void *nine, void *next) { \
        const type *v = (const type *)nine; \
        tmap_u32 neighbours = 0; \
        (void)cell, (void)around; \
        for (int i = 0; i < 9; ++i) neighbours += i != TMAP_HERE && v[i]; \
        *(type *)next = \
            (type)tmap_ca_next(((const tmapi_ca *)job)->rule, v[TMAP_HERE] != 0, neighbours); \
    } \
    static __global__ void __launch_bounds__(512, 2) \
        tmapi_ca_##name##_kernel(tmap_each_plan plan, tmapi_ca job) { \
        const tmap_array in = {job.in, sizeof(type)}; \
        tmap_each_stencil(&plan, in, tmapi_ca_rule_##name, job.out, &job); \
    }
TMAPI_CA_KERNEL(u8, unsigned char)
TMAPI_CA_KERNEL(u32, tmap_u32)
#undef TMAPI_CA_KERNEL

static inline const void *tmapi_ca_kernel(tmap_u32 size) {
    return size == 1 ? (const void *)tmapi_ca_u8_kernel : (const void *)tmapi_ca_u32_kernel;
}

// A plan for tmap_ca. Set an offset and take a share in `each`.
typedef struct tmap_ca_plan {
    tmap_each_plan each;
    tmapi_life_plan life;
    int by_sectors; // 1: `life` runs where the matrices' addresses allow it, `each` for a share
    tmap_u32 size;  // of a cell
} tmap_ca_plan;

// Makes a plan for tmap_ca. size: bytes of a cell, 1 or 4. Returns cudaErrorInvalidValue for
// another size; other parameters and errors as for tmap_each_plan_make.
static inline cudaError_t tmap_ca_plan_make(tmap_nbb f, tmap_u32 r, tmap_u64 pitch, tmap_u32 size,
                                            tmap_ca_plan *out) {
    tmap_ca_plan p;
    cudaError_t error;
    if (!out || (size != 1 && size != 4)) return cudaErrorInvalidValue;
    p.size = size;
    error = tmap_each_plan_make(TMAP_EACH_STENCIL, f, r, pitch, tmapi_ca_kernel(size), &p.each);
    p.each.type = TMAPI_READY_CA | size;
    p.by_sectors =
        !error && size == 1 && p.each.pitch == tmap_nbb_side_x(f, r) && tmapi_life_fits(f, r);
    if (p.by_sectors) error = tmapi_life_plan_make(f, r, &p.life);
    if (!error) *out = p;
    return error;
}

// Computes one step of the automaton, out = rule(in), for every cell of the plan's share; other
// places of `out` keep their values or become 0. A cell is alive where `in` is not 0; `in` holds 0
// outside the fractal. Live cells are written as 1, dead ones as 0. in, out: matrices with cells of
// the plan's size, each at a multiple of it, not overlapping, at any distance from each other.
// Returns cudaErrorInvalidValue for a null or misaligned pointer, equal matrices, a rule with more
// than nine bits and a plan of another maker; otherwise the launch's own error.
static inline cudaError_t tmap_ca(const tmap_ca_plan *plan, tmap_ca_rule rule, const void *in,
                                  void *out, cudaStream_t stream) {
    const tmapi_ca job = {in, out, rule};
    if (!plan || !in || !out || in == out || plan->each.type != (TMAPI_READY_CA | plan->size) ||
        !tmapi_value_size_fits(plan->size, in) || !tmapi_value_size_fits(plan->size, out) ||
        rule.born > 0x1ff || rule.survive > 0x1ff)
        return cudaErrorInvalidValue;
    if (!plan->by_sectors || plan->each.count != plan->each.items ||
        (((tmap_u64)in ^ (tmap_u64)out) & 31))
        return tmap_each_launch(&plan->each, &job, stream);
    const unsigned char *from = (const unsigned char *)in + plan->each.offset;
    unsigned char *to = (unsigned char *)out + plan->each.offset;
    const tmapi_launch_shape shape = {plan->life.grid, plan->life.block, plan->life.shared};
    tmapi_life_rule masks = tmapi_life_rule_make(rule);
    void *arguments[4] = {(void *)&plan->life, &masks, &from, &to};
    return tmapi_launch((const void *)tmapi_life_kernel, shape, arguments, stream);
}

#endif
#endif
