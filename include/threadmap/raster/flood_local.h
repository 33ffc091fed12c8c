// SPDX-License-Identifier: MIT
// flood_local.h: the first pass of a flood: heights to bits, and bits to the components of a block.
#ifndef TMAP_RASTER_FLOOD_LOCAL_H
#define TMAP_RASTER_FLOOD_LOCAL_H

#include "flood_map.h"

// ---- flood bits ---------------------------------------------------------------------------------
//
// Which cells of a map lie below a level, as bits: word w of a row has columns 32 w
// to 32 w + 31, the lowest in bit 0.
//
// Heights of all types have keys: 32-bit integers in the order of heights. Ranges of heights are
// ranges of keys. A single height is compared as the bits that it has in memory, by one comparison
// for all types: wet heights are a range of bits.

#define TMAPI_FLOOD_KEY_MIN (-2147483647 - 1)
#define TMAPI_FLOOD_KEY_MAX 2147483647

// A level, for heights of a type: cells of keys <= last are wet, but for those of key `nodata`.
// Of the bits of a height in memory, those of 16 bits extended by their sign: the wet ones are
// first, first + 1, ..., first + span, which may wrap around, except for those above `top`, which
// are NaN. Bits that equal `dry` where `mask` is set are NODATA.
typedef struct tmapi_flood_level {
    int last, none; // none: 1 if no height is below the level
    int nodata, has_nodata;
    tmap_u32 first, span, top, dry, mask;
} tmapi_flood_level;

// The key of a float, of its bits: the largest one for NaN, which no level reaches; -0 is 0.
TMAP_FN int tmapi_flood_float_key(tmap_u32 bits) {
    if ((bits & 0x7fffffffu) > 0x7f800000u) return TMAPI_FLOOD_KEY_MAX;
    if (bits == 0x80000000u) return 0;
    return (int)(bits ^ (bits >> 31 ? 0x7fffffffu : 0));
}

// The key of the largest integer below a level, at least `low` and at most `high`; *none: 1 if it
// is less.
TMAP_FN int tmapi_flood_integer_last(double level, int low, int high, int *none) {
    int last;
    *none = !(level > low);
    if (*none) return low;
    if (level > high) return high;
    last = (int)level; // towards 0
    return (double)last < level ? last : last - 1;
}

#if TMAP_CUDA

// The bits of cell number `at`. size: bytes of a height, 2 or 4; a constant.
TMAP_DEVICE tmap_u32 tmapi_flood_cell(const void *heights, tmap_u64 at, const tmap_u32 size) {
    return size == 2 ? (tmap_u32)((const short *)heights)[at] : ((const tmap_u32 *)heights)[at];
}

// 1 if a height of these bits is below the level, which is not `none`; 1 if it is NODATA, where the
// level has that.
TMAP_DEVICE int tmapi_flood_cell_below(const tmapi_flood_level *l, tmap_u32 bits) {
    return bits - l->first <= l->span && bits <= l->top;
}
TMAP_DEVICE int tmapi_flood_cell_dry(const tmapi_flood_level *l, tmap_u32 bits) {
    return ((bits ^ l->dry) & l->mask) == 0;
}

// A bit for each of 8 heights of 16 bits. last: of the level; nodata: a height that is dry.
TMAP_DEVICE tmap_u32 tmapi_flood_byte(uint4 v, const tmapi_flood_level *l) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    // 1 where dry: min(max(h, last) - last, 1), two at a time
    const tmap_u32 one = 0x00010001u, last = (tmap_u32)(l->last & 0xffff) * one;
    const tmap_u32 less = (tmap_u32)(-l->last & 0xffff) * one;
    tmap_u32 a = __viaddmin_u16x2(__vmaxs2(v.x, last), less, one);
    tmap_u32 b = __viaddmin_u16x2(__vmaxs2(v.y, last), less, one);
    tmap_u32 c = __viaddmin_u16x2(__vmaxs2(v.z, last), less, one);
    tmap_u32 d = __viaddmin_u16x2(__vmaxs2(v.w, last), less, one), all;
    if (l->has_nodata) {
        const tmap_u32 nodata = (tmap_u32)(l->nodata & 0xffff) * one;
        a |= one ^ __viaddmin_u16x2(v.x ^ nodata, 0, one);
        b |= one ^ __viaddmin_u16x2(v.y ^ nodata, 0, one);
        c |= one ^ __viaddmin_u16x2(v.z ^ nodata, 0, one);
        d |= one ^ __viaddmin_u16x2(v.w ^ nodata, 0, one);
    }
    all = ((d * 4 + c) * 4 + b) * 4 + a;
    return ~(all | all >> 15) & 255u;
#else
    const tmap_u32 two[4] = {v.x, v.y, v.z, v.w};
    tmap_u32 bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int low = (short)(two[i] & 0xffff), high = (short)(two[i] >> 16);
        bits |= (tmap_u32)(low <= l->last && !(l->has_nodata && low == l->nodata)) << 2 * i;
        bits |= (tmap_u32)(high <= l->last && !(l->has_nodata && high == l->nodata)) << (2 * i + 1);
    }
    return bits;
#endif
}

// A bit for each of 4 heights of 32 bits: of those below the level, or those of NODATA.
TMAP_DEVICE tmap_u32 tmapi_flood_below4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_below(l, v.x) |
           (tmap_u32)tmapi_flood_cell_below(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_below(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_below(l, v.w) << 3;
}
TMAP_DEVICE tmap_u32 tmapi_flood_dry4(const tmapi_flood_level *l, uint4 v) {
    return (tmap_u32)tmapi_flood_cell_dry(l, v.x) | (tmap_u32)tmapi_flood_cell_dry(l, v.y) << 1 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.z) << 2 |
           (tmap_u32)tmapi_flood_cell_dry(l, v.w) << 3;
}

// A bit for each of `count` groups of such heights, up to 8, four for each. One branch for all, so
// that the groups can be in flight together.
TMAP_DEVICE tmap_u32 tmapi_flood_nibbles(const tmapi_flood_level *l, const uint4 *v,
                                         const tmap_u32 count) {
    tmap_u32 bits = 0;
#pragma unroll
    for (tmap_u32 i = 0; i < count; ++i) bits |= tmapi_flood_below4(l, v[i]) << 4 * i;
    if (l->has_nodata)
#pragma unroll
        for (tmap_u32 i = 0; i < count; ++i) bits &= ~(tmapi_flood_dry4(l, v[i]) << 4 * i);
    return bits;
}

#endif // TMAP_CUDA

#if !TMAP_NVRTC
// The key of a float.
static inline int tmapi_flood_key_of(float value) {
    tmap_u32 bits;
    for (int i = 0; i < 4; ++i) ((unsigned char *)&bits)[i] = ((const unsigned char *)&value)[i];
    return tmapi_flood_float_key(bits);
}

// The bits of the float of a key.
static inline tmap_u32 tmapi_flood_key_bits(int key) {
    return (tmap_u32)key ^ (key < 0 ? 0x7fffffffu : 0);
}

// A level of a map. Below NaN there is nothing.
static inline tmapi_flood_level tmapi_flood_level_of(const tmap_flood_map *map, double level) {
    tmapi_flood_level l = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    const double largest = 3.4028234663852886e38; // a float's
    if (map->type == TMAP_FLOOD_F32) {
        l.none = !(level - level == 0 || level > 0); // NaN and -infinity
        if (level > largest)
            l.last = 0x7f7fffff;
        else if (!(level >= -largest))
            l.last = (int)0x807fffffu; // of -infinity
        else
            l.last = tmapi_flood_key_of((float)level) - ((double)(float)level >= level);
    } else if (map->type == TMAP_FLOOD_I16)
        l.last = tmapi_flood_integer_last(level, -32768, 32767, &l.none);
    else
        l.last = tmapi_flood_integer_last(level, TMAPI_FLOOD_KEY_MIN, TMAPI_FLOOD_KEY_MAX, &l.none);
    if (map->has_nodata && map->type == TMAP_FLOOD_F32 && map->nodata == map->nodata) {
        l.nodata = tmapi_flood_key_of((float)map->nodata);
        l.has_nodata = (double)(float)map->nodata == map->nodata;
    } else if (map->has_nodata && map->type != TMAP_FLOOD_F32 && map->nodata >= -2147483648.0 &&
               map->nodata <= 2147483647.0) {
        l.nodata = (int)map->nodata;
        l.has_nodata = (double)l.nodata == map->nodata;
    }
    if (map->type == TMAP_FLOOD_I16 && (l.nodata < -32768 || l.nodata > 32767)) l.has_nodata = 0;
    // negative numbers come first; of floats, those nearest to 0
    l.first = 0x80000000u, l.span = (tmap_u32)l.last - l.first, l.top = l.mask = ~0u;
    l.dry = (tmap_u32)l.nodata;
    if (map->type == TMAP_FLOOD_F32) {
        l.top = 0xff800000u; // -infinity
        if (l.last < 0) {    // the key -1 is no float's
            l.first = l.last == -1 ? 0x80000001u : tmapi_flood_key_bits(l.last);
            l.span = l.top - l.first;
        }
        l.dry = tmapi_flood_key_bits(l.nodata);
        if (l.nodata == 0) l.mask = 0x7fffffffu; // 0 and -0
    }
    return l;
}
#endif

// ---- flood run ----------------------------------------------------------------------------------
//
// What the kernels of a flood share: how a map is divided, and what stands in the
// workspace.
//
// A map is cut into blocks of 512 columns and 128 (or 64) rows, a block of threads each; a block
// into tiles of 32 x 16 cells. The flood is found on the blocks' borders: a node stands for the
// cells of a block that are joined inside of it and lie, among others, at a place of its border.
// Places, and so nodes, of a block are
//     0 to 255     its first row: two columns each, which hold the beginning of one run at most
//     256 to 511   its last row
//     512 to 575   its first column: two rows each
//     576 to 639   its last column

#define TMAPI_FLOOD_WORDS  16u  // of a block's row
#define TMAPI_FLOOD_NODES  640u // of a block
#define TMAPI_FLOOD_EDGES  40u  // words of a block's border: rows 16 and 16, columns 4 and 4
#define TMAPI_FLOOD_NONE   0xffffffffu
#define TMAPI_FLOOD_MARK   0x80000000u // at the root of a flooded region
#define TMAPI_FLOOD_BORDER 0x8000u     // a component is numbered by a node of its block
// 8-byte words of the table of runs, for each row of a block, at most
#define TMAPI_FLOOD_QUADS 12u

// What a block holds.
#define TMAPI_FLOOD_MIXED 0u
#define TMAPI_FLOOD_DRY   1u // no wet cell
#define TMAPI_FLOOD_FULL  2u // wet cells alone

// The lowest and highest keys of a tile's cells. Cells that are never wet count for `high` alone,
// as the highest of all.
typedef struct tmap_flood_range {
    int low, high;
} tmap_flood_range;

// How a map is divided, and where things are in the workspace.
typedef struct tmap_flood_plan {
    tmap_flood_map map;
    int form;
    tmap_u32 rows, blocks_x, blocks_y; // rows of a block, blocks
    tmap_u64 seeds;                    // at most
    tmap_u64 at_parent, at_edges, at_offsets, at_table, at_flags, at_entries, at_kinds, at_sums;
    tmap_u64 workspace; // bytes
} tmap_flood_plan;

// The argument of all kernels.
typedef struct tmapi_flood {
    tmap_flood_plan plan;
    tmapi_flood_level level;
    double surface; // the level
    const void *heights;
    const tmap_flood_seed *seeds;
    tmap_u32 seed_count;
    const tmap_flood_range *tiles; // of all tiles of all blocks, or null
    const double *tile_sums;       // of the heights of each tile, if sums are asked for
    tmap_u32 *bits;                // blocks_x * 16 words a row
    tmap_u32 *parent;              // of the nodes
    tmap_u32 *edges;
    unsigned short *offsets; // 2 rows + 1 a block: where a tile's lists are in its table
    tmap_u64 *table;         // of the components of runs on tiles' borders, four in a word
    tmap_u32 *flags;         // 20 words a block: its flooded nodes
    tmap_u32 *entries;       // two words a seed: its node, and its component as in tables
    unsigned char *kinds;
    tmap_u64 *areas; // of each block
    double *sums;
    void *out;
} tmapi_flood;

// The blocks of a plan.
TMAP_FN tmap_u64 tmapi_flood_blocks(const tmap_flood_plan *p) {
    return (tmap_u64)p->blocks_x * p->blocks_y;
}

#if TMAP_CUDA

TMAP_DEVICE tmap_u32 tmapi_flood_starts(tmap_u32 row) { return row & ~(row << 1); }
// The lowest bit of `bits` and all below it; all of them if there is none.
TMAP_DEVICE tmap_u32 tmapi_flood_upto(tmap_u32 bits) { return bits ^ (bits - 1); }
TMAP_DEVICE tmap_u32 tmapi_flood_wide(tmap_u32 row) { return row | row << 1 | row >> 1; }
// Of the runs of `row`: what lies in a run at or above one of its `seeds`. A carry goes up from
// the lowest seed of a run to its end.
TMAP_DEVICE tmap_u32 tmapi_flood_up(tmap_u32 row, tmap_u32 seeds) {
    return row & (~(row + seeds) | seeds);
}
// The runs of `row` with a seed in them. back: row, its bits in reverse.
TMAP_DEVICE tmap_u32 tmapi_flood_whole(tmap_u32 row, tmap_u32 back, tmap_u32 seeds) {
    return __brev(tmapi_flood_up(back, __brev(tmapi_flood_up(row, seeds))));
}

// The part of the map that is a block of threads' own.
typedef struct tmapi_flood_area {
    tmap_u64 block; // its number, row by row
    tmap_u64 x, y;  // its first column and row
} tmapi_flood_area;

TMAP_DEVICE tmapi_flood_area tmapi_flood_area_here(const tmapi_flood *f) {
    tmapi_flood_area a;
    a.block = blockIdx.x;
    a.x = (tmap_u64)(blockIdx.x % f->plan.blocks_x) * 512;
    a.y = (tmap_u64)(blockIdx.x / f->plan.blocks_x) * f->plan.rows;
    return a;
}

// Where a seed lies in an area; 0 if elsewhere or outside of the map.
TMAP_DEVICE int tmapi_flood_seed_here(const tmapi_flood *f, const tmapi_flood_area *a,
                                      tmap_u32 seed, tmap_u32 *x, tmap_u32 *y) {
    const tmap_flood_seed s = f->seeds[seed];
    *x = (tmap_u32)(s.x - a->x), *y = (tmap_u32)(s.y - a->y);
    return s.x < f->plan.map.width && s.y < f->plan.map.height && s.x >= a->x && s.y >= a->y &&
           s.x - a->x < 512 && s.y - a->y < f->plan.rows;
}

// Whether any seed lies in the area. A barrier of the block.
TMAP_DEVICE int tmapi_flood_seeds_here(const tmapi_flood *f, const tmapi_flood_area *a) {
    int here = 0;
    tmap_u32 x, y;
    for (tmap_u32 i = threadIdx.x; i < f->seed_count; i += blockDim.x)
        here |= tmapi_flood_seed_here(f, a, i, &x, &y);
    return __syncthreads_or(here);
}

// ---- flood label --------------------------------------------------------------------------------
//
// The components of a block of 512 columns, for floods: of bits in shared memory, by
// 16 threads for every 8 rows, each of which has 32 columns of them.
//
// Two rows are taken at a time, a double row. The cells of a column are joined in it, so that its
// components are intervals of columns, found by arithmetic on words. Each has a slot, which holds
// the slot of another component that it is joined with, or its own: a root. Slots of higher
// components hold lower numbers.
//     1  each component points to the first one above that it touches: no two write the same
//     2  rounds: all jump until they point to roots; then, for all other contacts, one of the two
//        roots is put below the other. If two do so with one root, one of them gets its way, and
//        the other one comes again in the next round
// Loops run over words with four loads in flight at a time, since what a thread waits for is shared
// memory. Chains of loads that end at different times in the lanes of a warp are what to avoid.

#define TMAPI_FLOOD_STRIP  8u // rows of a thread
#define TMAPI_FLOOD_DOUBLE 4u // double rows of a thread

// A block's shared memory: 576 bytes a row, and 64.
typedef struct tmapi_flood_block {
    tmap_u32 rows;
    tmap_u32 *bits;                 // tmapi_flood_place
    tmap_u32 *scan;                 // a word for each warp, 8 at most
    volatile unsigned short *slots; // tmapi_flood_slot
} tmapi_flood_block;

TMAP_FN tmap_u32 tmapi_flood_block_bytes(tmap_u32 rows) { return 576 * rows + 64; }

// memory: at a multiple of 16. Slots come first, so that their addresses have a constant base.
TMAP_DEVICE tmapi_flood_block tmapi_flood_block_at(void *memory, tmap_u32 rows) {
    tmapi_flood_block b;
    b.rows = rows, b.slots = (unsigned short *)memory;
    b.bits = (tmap_u32 *)memory + 128 * rows, b.scan = b.bits + TMAPI_FLOOD_WORDS * rows;
    return b;
}

// Where a row's word is: lanes of a warp, which have 16 words of rows 8 apart, read from 32 banks.
TMAP_DEVICE tmap_u32 tmapi_flood_place(tmap_u32 row, tmap_u32 word) {
    return (row * TMAPI_FLOOD_WORDS + word) ^ (row >> 3 & 1) << 4;
}

// The slot of component k of a word of a double row, up to 32 of them; banks as above.
TMAP_DEVICE tmap_u32 tmapi_flood_slot(tmap_u32 pair, tmap_u32 word, tmap_u32 k) {
    return pair * 512 + ((k >> 1) ^ (pair >> 2 & 1)) * 32 + word * 2 + (k & 1);
}

// The first columns of the components of a double row. eight: connectivity.
TMAP_DEVICE tmap_u32 tmapi_flood_firsts(tmap_u32 a, tmap_u32 b, int eight) {
    const tmap_u32 both = a | b;
    return both & ~(eight ? both << 1 : (a & a << 1) | (b & b << 1));
}

// The number of the component that column `bit`, a power of two, lies in.
TMAP_DEVICE tmap_u32 tmapi_flood_rank(tmap_u32 firsts, tmap_u32 bit) {
    return (tmap_u32)__popc(firsts & tmapi_flood_upto(bit)) - 1;
}

// The slot of a cell's component, or TMAPI_FLOOD_NONE.
TMAP_DEVICE tmap_u32 tmapi_flood_cell_slot(const tmapi_flood_block *b, tmap_u32 x, tmap_u32 y,
                                           int eight) {
    const tmap_u32 word = x / 32, bit = 1u << x % 32;
    const tmap_u32 upper = b->bits[tmapi_flood_place(y & ~1u, word)];
    const tmap_u32 lower = b->bits[tmapi_flood_place(y | 1, word)];
    if (!((y & 1 ? lower : upper) & bit)) return TMAPI_FLOOD_NONE;
    return tmapi_flood_slot(y / 2, word,
                            tmapi_flood_rank(tmapi_flood_firsts(upper, lower, eight), bit));
}

// The root of a slot: one that holds itself or a node's number.
TMAP_DEVICE tmap_u32 tmapi_flood_root(const tmapi_flood_block *b, tmap_u32 slot) {
    tmap_u32 next;
    while ((next = b->slots[slot]) != slot && !(next & TMAPI_FLOOD_BORDER)) slot = next;
    return slot;
}

// ---- cells that no way leads through ------------------------------------------------------------

// Takes runs away that hang on one run, again and again: the rest is joined as before, and floods
// come back to them when tiles are filled. What lies on the border of a tile stays. Up to half of
// the components go. For 4-connected cells. Barriers of the block.
TMAP_DEVICE void tmapi_flood_prune(const tmapi_flood_block *b) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 first = strip * TMAPI_FLOOD_STRIP;
    tmap_u32 m[TMAPI_FLOOD_STRIP + 2];
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP + 2; ++r) {
        const tmap_u32 row = first + r - 1;
        m[r] = row < b->rows ? b->bits[tmapi_flood_place(row, word)] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < 2; ++turn) // upwards, then downwards
#pragma unroll
        for (tmap_u32 i = 1; i <= TMAPI_FLOOD_STRIP; ++i) {
            const tmap_u32 r = turn ? i : TMAPI_FLOOD_STRIP + 1 - i;
            const tmap_u32 behind = m[turn ? r - 1 : r + 1], ahead = m[turn ? r + 1 : r - 1];
            const tmap_u32 row = m[r], touch = tmapi_flood_starts(row & ahead);
            // a run stays for a contact behind, or for a second one ahead: in row + touch, the
            // carry of the first contact ends at the run's end, and so the second stays set
            tmap_u32 stay = (row & (behind | 0x80000001u)) | (touch & (row + touch));
            if ((r == 1 && strip % 2 == 0) || (r == TMAPI_FLOOD_STRIP && strip % 2)) stay = row;
            m[r] = tmapi_flood_whole(row, __brev(row), stay);
        }
#pragma unroll
    for (tmap_u32 r = 0; r < TMAPI_FLOOD_STRIP; ++r)
        b->bits[tmapi_flood_place(first + r, word)] = m[r + 1];
    __syncthreads();
}

// ---- components ---------------------------------------------------------------------------------

// What a thread remembers of its double rows, and the last one above them.
typedef struct tmapi_flood_strip {
    tmap_u32 firsts[TMAPI_FLOOD_DOUBLE + 1];
    tmap_u32 others[TMAPI_FLOOD_DOUBLE]; // columns of further contacts with the double row above
    tmap_u32 left[TMAPI_FLOOD_DOUBLE];   // the component to the left of the first one, or NONE
    tmap_u32 above_left[TMAPI_FLOOD_DOUBLE], above_right; // by corners; a bit each
} tmapi_flood_strip;

// Makes components and lets them point to the first one above. No two threads write the same slot.
TMAP_DEVICE void tmapi_flood_point(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 above = 0;
    s->firsts[0] = s->above_right = 0;
    if (strip) {
        above = b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 1, word)];
        s->firsts[0] = tmapi_flood_firsts(
            b->bits[tmapi_flood_place(strip * TMAPI_FLOOD_STRIP - 2, word)], above, eight);
    }
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 row = strip * TMAPI_FLOOD_STRIP + 2 * j, pair = row / 2;
        const tmap_u32 upper = b->bits[tmapi_flood_place(row, word)];
        const tmap_u32 lower = b->bits[tmapi_flood_place(row + 1, word)];
        const tmap_u32 firsts = tmapi_flood_firsts(upper, lower, eight);
        const tmap_u32 last = (tmap_u32)__popc(firsts) - 1;
        // the word to the left: its last column and its last component
        const tmap_u32 edge = upper >> 31 | lower >> 31 << 1 | (last & 31) << 2;
        const tmap_u32 beside = __shfl_up_sync(~0u, edge, 1);
        const int joined = eight ? (upper | lower) & 1 && beside & 3
                                 : (upper & beside & 1) || (lower & beside >> 1 & 1);
        tmap_u32 left = firsts, low = firsts & (0u - firsts), others = 0, k = 0;
        s->left[j] = word && joined ? beside >> 2 : TMAPI_FLOOD_NONE;
        if (eight) {
            const tmap_u32 rank = ((tmap_u32)__popc(s->firsts[j]) - 1) & 31;
            const tmap_u32 before = __shfl_up_sync(~0u, above >> 31 | rank << 1, 1);
            const tmap_u32 after = __shfl_down_sync(~0u, above & 1, 1);
            s->above_left[j] = word && upper & 1 && before & 1 ? before >> 1 : TMAPI_FLOOD_NONE;
            if (word < TMAPI_FLOOD_WORDS - 1 && upper >> 31 && after) s->above_right |= 1u << j;
        }
#pragma unroll 1
        while (left) {
            tmap_u32 next, touch, parent = tmapi_flood_slot(pair, word, k);
            const tmap_u32 slot = parent;
            left &= left - 1;
            next = left & (0u - left);
            touch = upper & (next - low); // the component's columns: from low to below next
            touch = above & (eight ? tmapi_flood_wide(touch) : touch);
            low = next;
            if (touch) {
                parent = tmapi_flood_slot(pair - 1, word,
                                          tmapi_flood_rank(s->firsts[j], touch & (0u - touch)));
                if (j) parent = b->slots[parent];
            }
            b->slots[slot] = (unsigned short)parent;
            // 8-connected contacts of a gap of one column belong to the component to their left
            others |= tmapi_flood_starts(touch) & touch & (touch - 1);
            ++k;
        }
        if (k & 1) { // the other half of its word of memory: a root, so that jumps find one
            const tmap_u32 slot = tmapi_flood_slot(pair, word, k);
            b->slots[slot] = (unsigned short)slot;
        }
        s->others[j] = others, s->firsts[j + 1] = firsts;
        above = lower;
    }
    __syncthreads();
}

// Lets all components point to roots, two of each double row at a time. most: components of a word
// of the thread, at most.
TMAP_DEVICE void tmapi_flood_jump(const tmapi_flood_block *b, const tmapi_flood_strip *s,
                                  tmap_u32 most) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    tmap_u32 counts[TMAPI_FLOOD_DOUBLE];
    int changed;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        counts[j] = (tmap_u32)__popc(s->firsts[j + 1]);
    do {
        changed = 0;
#pragma unroll 1
        for (tmap_u32 k = 0; k < most; k += 2) {
            volatile tmap_u32 *twos = (volatile tmap_u32 *)b->slots +
                                      tmapi_flood_slot(strip * TMAPI_FLOOD_DOUBLE, word, k) / 2;
            tmap_u32 up[TMAPI_FLOOD_DOUBLE], top[TMAPI_FLOOD_DOUBLE];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j]) up[j] = twos[j * 256];
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j])
                    top[j] = b->slots[up[j] & 0xffff] | (tmap_u32)b->slots[up[j] >> 16] << 16;
#pragma unroll
            for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
                if (k < counts[j] && up[j] != top[j]) twos[j * 256] = top[j], changed = 1;
        }
    } while (__syncthreads_or(changed));
}

// For each pair of slots (x[j], y[j]), which point to roots: puts the higher root below the lower.
// Returns a bit j for each pair whose roots were different. A pair of equal slots is none.
TMAP_DEVICE tmap_u32 tmapi_flood_hook(const tmapi_flood_block *b, tmap_u32 *x, tmap_u32 *y) {
    tmap_u32 different = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) x[j] = b->slots[x[j]], y[j] = b->slots[y[j]];
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (x[j] != y[j]) {
            const tmap_u32 high = x[j] > y[j] ? x[j] : y[j];
            b->slots[high] = (unsigned short)(x[j] ^ y[j] ^ high);
            different |= 1u << j;
        }
    return different;
}

// One round for all contacts but the first ones; returns 1 if the thread has found different roots.
// What has one root is forgotten: whoever has joined it comes again if others undid that.
TMAP_DEVICE int tmapi_flood_join(const tmapi_flood_block *b, tmapi_flood_strip *s, int eight) {
    const tmap_u32 word = threadIdx.x % TMAPI_FLOOD_WORDS, strip = threadIdx.x / TMAPI_FLOOD_WORDS;
    const tmap_u32 pair = strip * TMAPI_FLOOD_DOUBLE;
    tmap_u32 others[TMAPI_FLOOD_DOUBLE], x[TMAPI_FLOOD_DOUBLE], y[TMAPI_FLOOD_DOUBLE];
    tmap_u32 different, any = 0;
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
        others[j] = s->others[j];
        x[j] = y[j] = 0;
        if (s->left[j] != TMAPI_FLOOD_NONE)
            x[j] = tmapi_flood_slot(pair + j, word, 0),
            y[j] = tmapi_flood_slot(pair + j, word - 1, s->left[j]);
    }
    any = different = tmapi_flood_hook(b, x, y);
#pragma unroll
    for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j)
        if (!(different >> j & 1)) s->left[j] = TMAPI_FLOOD_NONE;
    if (eight) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_left[j] != TMAPI_FLOOD_NONE)
                x[j] = tmapi_flood_slot(pair + j, word, 0),
                y[j] = tmapi_flood_slot(pair + j - 1, word - 1, s->above_left[j]);
        }
        any |= tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            x[j] = y[j] = 0;
            if (s->above_right >> j & 1)
                x[j] = tmapi_flood_slot(pair + j, word, (tmap_u32)__popc(s->firsts[j + 1]) - 1),
                y[j] = tmapi_flood_slot(pair + j - 1, word + 1, 0);
        }
        any |= tmapi_flood_hook(b, x, y);
    }
    while (others[0] | others[1] | others[2] | others[3]) {
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            x[j] = y[j] = 0;
            if (bit)
                x[j] = tmapi_flood_slot(pair + j - 1, word, tmapi_flood_rank(s->firsts[j], bit)),
                y[j] = tmapi_flood_slot(pair + j, word, tmapi_flood_rank(s->firsts[j + 1], bit));
        }
        any |= different = tmapi_flood_hook(b, x, y);
#pragma unroll
        for (tmap_u32 j = 0; j < TMAPI_FLOOD_DOUBLE; ++j) {
            const tmap_u32 bit = others[j] & (0u - others[j]);
            others[j] ^= bit;
            if (!(different >> j & 1)) s->others[j] &= ~bit;
        }
    }
    return any != 0;
}

// Labels the bits of a block. After it all slots point to roots. Barriers of the block.
TMAP_DEVICE void tmapi_flood_label(const tmapi_flood_block *b, int eight) {
    tmapi_flood_strip s;
    tmap_u32 most = 0;
    tmapi_flood_point(b, &s, eight);
#pragma unroll
    for (tmap_u32 j = 1; j <= TMAPI_FLOOD_DOUBLE; ++j) {
        const tmap_u32 count = (tmap_u32)__popc(s.firsts[j]);
        most = count > most ? count : most;
    }
    do tmapi_flood_jump(b, &s, most);
    while (__syncthreads_or(tmapi_flood_join(b, &s, eight)));
}

// ---- flood load ---------------------------------------------------------------------------------
//
// The bits of a block, from heights: all of them, or those alone of tiles that a
// level goes through.

#define TMAPI_FLOOD_ALL 0xffffffffu // all tiles of a block are read

// size: here and below, the bytes of a height, 2 or 4; a constant.

// Loads a tile of 32 x 16 cells: a row a load of the warp, 16 of them in flight. Any alignment.
TMAP_DEVICE void tmapi_flood_load_tile(const tmapi_flood *f, const tmapi_flood_block *b,
                                       const tmapi_flood_area *a, tmap_u32 tile,
                                       const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, word = tile % TMAPI_FLOOD_WORDS;
    const tmap_u32 row = tile / TMAPI_FLOOD_WORDS * 16;
    const tmap_u64 x = a->x + word * 32 + lane, y = a->y + row;
    const tmap_flood_map *map = &f->plan.map;
    tmap_u32 mine = 0, cells[16];
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r)
        cells[r] = x < map->width && y + r < map->height
                       ? tmapi_flood_cell(f->heights, (y + r) * map->pitch + x, size)
                       : 0;
#pragma unroll
    for (tmap_u32 r = 0; r < 16; ++r) {
        const int inside = x < map->width && y + r < map->height;
        const int wet = inside && tmapi_flood_cell_below(&f->level, cells[r]) &&
                        !(f->level.has_nodata && tmapi_flood_cell_dry(&f->level, cells[r]));
        const tmap_u32 bits = __ballot_sync(~0u, wet);
        if (lane == r) mine = bits;
    }
    if (lane < 16) b->bits[tmapi_flood_place(row + lane, word)] = mine;
}

// 1 if rows of a block can be read 16 bytes at a time, wherever they begin. What is read beyond a
// row's end lies in the map.
TMAP_DEVICE int tmapi_flood_whole(const tmapi_flood *f, const tmapi_flood_area *a,
                                  const tmap_u32 size) {
    const tmap_flood_map *map = &f->plan.map;
    return a->x + 512 <= map->width &&
           a->y + f->plan.rows + (map->pitch % (16 / size) != 0) <= map->height &&
           (tmap_u64)f->heights % 16 == 0;
}

// The bits of 8 groups of 16 bytes of a row each, or of two rows, as bytes that the lanes have in
// the order of cells. v: group by group, 32 * 16 bytes apart, one of each lane.
TMAP_DEVICE void tmapi_flood_bytes_of(const tmapi_flood_level *l, const uint4 *v, tmap_u32 *bytes,
                                      const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, upper = lane / 16 * 4; // lanes 16 to 31: odd groups
    tmap_u32 own, low, high;
    if (size == 2) {
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) bytes[i] = tmapi_flood_byte(v[i], l);
        return;
    }
    own = tmapi_flood_nibbles(l, v, 8);
    low = __shfl_sync(~0u, own, (int)(2 * lane % 32)) >> upper & 0x0f0f0f0fu;
    high = __shfl_sync(~0u, own, (int)(2 * lane % 32 + 1)) >> upper & 0x0f0f0f0fu;
    low |= high << 4;
#pragma unroll
    for (tmap_u32 i = 0; i < 4; ++i) bytes[i] = low >> 8 * i & 255;
}

// Loads such a block: 8 loads of 16 bytes in flight. Of a row that begins between multiples of 16
// bytes, lanes load from the multiple before, and take what lacks from the next lane.
TMAP_DEVICE void tmapi_flood_load_rows(const tmapi_flood *f, const tmapi_flood_block *b,
                                       const tmapi_flood_area *a, const tmap_u32 size) {
    const tmap_u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const tmap_u32 each = 16 / size, rows = 8 / size; // cells of a group; rows at a time
    const tmap_u64 pitch = f->plan.map.pitch;
    unsigned char *bytes = (unsigned char *)b->bits;
#pragma unroll 1
    for (tmap_u32 row = warp; row < b->rows; row += rows * warps) {
        const tmap_u64 from = (a->y + row) * pitch + a->x;
        tmap_u32 halves[8];
        uint4 v[8], more[4];
#pragma unroll
        for (tmap_u32 i = 0; i < 8; ++i) {
            const uint4 *groups = (const uint4 *)f->heights +
                                  (from + i / size * warps * pitch) / each + i % size * 32;
            v[i] = __ldcs(groups + lane);
            if (i % size == size - 1 && pitch % each && lane == 0)
                more[i / size] = __ldcs(groups + 32);
        }
        tmapi_flood_bytes_of(&f->level, v, halves, size);
#pragma unroll
        for (tmap_u32 i = 0; i < rows; ++i) {
            tmap_u32 left = halves[2 * i], right = halves[2 * i + 1];
            if (pitch % each) {
                const tmap_u32 skip = (tmap_u32)((from + i * warps * pitch) % each);
                const tmap_u32 last = lane        ? 0
                                      : size == 2 ? tmapi_flood_byte(more[i], &f->level)
                                                  : tmapi_flood_nibbles(&f->level, more + i, 1);
                const tmap_u32 middle = __shfl_sync(~0u, right, 0);
                const tmap_u32 end = __shfl_sync(~0u, last, 0);
                const tmap_u32 after_left = __shfl_down_sync(~0u, left, 1);
                const tmap_u32 after_right = __shfl_down_sync(~0u, right, 1);
                left |= (lane < 31 ? after_left : middle) << 8;
                right |= (lane < 31 ? after_right : end) << 8;
                left >>= skip, right >>= skip;
            }
            bytes[tmapi_flood_place(row + i * warps, 0) * 4 + lane] = (unsigned char)left;
            bytes[tmapi_flood_place(row + i * warps, 8) * 4 + lane] = (unsigned char)right;
        }
    }
}

// 1 if tiles can be read by 16 bytes. Those of a whole area.
TMAP_DEVICE int tmapi_flood_quick(const tmapi_flood *f, const tmapi_flood_area *a,
                                  const tmap_u32 size) {
    const tmap_flood_map *map = &f->plan.map;
    return a->x + 512 <= map->width && a->y + f->plan.rows <= map->height &&
           map->pitch % (16 / size) == 0 && (tmap_u64)f->heights % 16 == 0;
}

// A tile's heights, if they can be read so: 2 * size lanes have a row, each of them 16 bytes.
TMAP_DEVICE void tmapi_flood_read_tile(const tmapi_flood *f, const tmapi_flood_area *a,
                                       tmap_u32 tile, uint4 *v, const tmap_u32 size) {
    const tmap_u64 pitch = f->plan.map.pitch;
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, rows = 16 / size;
    const char *from =
        (const char *)f->heights + ((a->y + tile / TMAPI_FLOOD_WORDS * 16 + lane / lanes) * pitch +
                                    a->x + tile % TMAPI_FLOOD_WORDS * 32 + lane % lanes * rows) *
                                       size;
#pragma unroll
    for (tmap_u32 i = 0; i < size; ++i)
        v[i] = __ldcs((const uint4 *)(from + i * rows * pitch * size));
}

// Loads up to 8 / size tiles of a list so, 8 loads in flight.
TMAP_DEVICE void tmapi_flood_load_quick(const tmapi_flood *f, const tmapi_flood_block *b,
                                        const tmapi_flood_area *a, const tmap_u32 *tiles,
                                        tmap_u32 count, const tmap_u32 size) {
    const tmap_u32 lane = threadIdx.x % 32, lanes = 2 * size, odd = lane % 2;
    tmap_u32 own = 0, other;
    uint4 v[8];
#pragma unroll
    for (tmap_u32 i = 0; i < 8 / size; ++i)
        if (i < count) tmapi_flood_read_tile(f, a, tiles[i], v + i * size, size);
    if (size == 4) {
        // a byte of two lanes: of groups 0, 2, 4, 6 in the even lane, of the others in the odd
        own = tmapi_flood_nibbles(&f->level, v, 4);
        if (count > 1) own |= tmapi_flood_nibbles(&f->level, v + 4, 4) << 16;
        other = __shfl_xor_sync(~0u, (odd ? own : own >> 4) & 0x0f0f0f0fu, 1);
        own = odd ? other | (own & 0xf0f0f0f0u) : (own & 0x0f0f0f0fu) | other << 4;
    }
#pragma unroll
    for (tmap_u32 i = 0; i < 16 / size; ++i) { // bytes of the lane, two a tile
        const tmap_u32 tile = tiles[i / 2], group = size == 4 ? 2 * i + odd : i;
        const tmap_u32 row =
            tile / TMAPI_FLOOD_WORDS * 16 + group % size * 16 / size + lane / lanes;
        const tmap_u32 at = tmapi_flood_place(row, tile % TMAPI_FLOOD_WORDS) * 4;
        if (i / 2 < count)
            ((unsigned char *)b->bits)[at + lane % lanes * 2 / size] =
                (unsigned char)(size == 4 ? own >> 8 * i : tmapi_flood_byte(v[i], &f->level));
    }
}

// Of tiles whose ranges are known: writes the bits of those that are dry or full, and lists the
// others where slots will be. Returns how many are listed, or TMAPI_FLOOD_ALL, and writes nothing,
// where so many are mixed that reading the whole block by rows is faster. Barriers of the block.
TMAP_DEVICE tmap_u32 tmapi_flood_sort_tiles(const tmapi_flood *f, const tmapi_flood_block *b,
                                            const tmapi_flood_area *a) {
    const tmap_u32 tile = threadIdx.x / 2, half = threadIdx.x % 2;
    const tmap_flood_range range = f->tiles[a->block * b->rows + tile];
    const int dry = range.low > f->level.last;
    const int full = !dry && range.high <= f->level.last && range.high < TMAPI_FLOOD_KEY_MAX;
    tmap_u32 mixed;
    if (threadIdx.x == 0) b->scan[0] = 0;
    mixed = (tmap_u32)__syncthreads_count(half == 0 && !dry && !full);
    if (mixed > b->rows / 4 * 3)
        mixed = TMAPI_FLOOD_ALL;
    else if (dry || full) {
#pragma unroll
        for (tmap_u32 r = 0; r < 8; ++r)
            b->bits[tmapi_flood_place(tile / TMAPI_FLOOD_WORDS * 16 + half * 8 + r,
                                      tile % TMAPI_FLOOD_WORDS)] = full ? ~0u : 0;
    } else if (half == 0)
        b->slots[atomicAdd(b->scan, 1u)] = (unsigned short)tile;
    __syncthreads();
    return mixed;
}

// Loads a block, or the tiles of the list. listed: what tmapi_flood_sort_tiles returned.
TMAP_DEVICE void tmapi_flood_load_cells(const tmapi_flood *f, const tmapi_flood_block *b,
                                        const tmapi_flood_area *a, tmap_u32 listed,
                                        const tmap_u32 size) {
    const tmap_u32 warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int all = listed == TMAPI_FLOOD_ALL;
    const tmap_u32 count = all ? b->rows : listed;
    if (all && tmapi_flood_whole(f, a, size))
        tmapi_flood_load_rows(f, b, a, size);
    else if (!all && tmapi_flood_quick(f, a, size))
        for (tmap_u32 i = warp; i < count; i += 8 / size * warps) {
            tmap_u32 tiles[4] = {0, 0, 0, 0}, some = 0;
#pragma unroll
            for (tmap_u32 k = 0; k < 8 / size; ++k)
                if (i + k * warps < count) tiles[k] = b->slots[i + k * warps], ++some;
            tmapi_flood_load_quick(f, b, a, tiles, some, size);
        }
    else
        for (tmap_u32 i = warp; i < count; i += warps)
            tmapi_flood_load_tile(f, b, a, all ? i : b->slots[i], size);
}

// Loads a block's bits and stores them in the workspace. Returns what it holds, in all threads.
TMAP_DEVICE tmap_u32 tmapi_flood_load(const tmapi_flood *f, const tmapi_flood_block *b,
                                      const tmapi_flood_area *a) {
    const tmap_u64 words = (tmap_u64)f->plan.blocks_x * TMAPI_FLOOD_WORDS;
    tmap_u32 any = 0, all = ~0u, kind;
    if (f->level.none)
        for (tmap_u32 i = threadIdx.x; i < b->rows * TMAPI_FLOOD_WORDS; i += blockDim.x)
            b->bits[i] = 0;
    else {
        const tmap_u32 listed = f->tiles ? tmapi_flood_sort_tiles(f, b, a) : TMAPI_FLOOD_ALL;
        if (f->plan.map.type == TMAP_FLOOD_I16)
            tmapi_flood_load_cells(f, b, a, listed, 2);
        else
            tmapi_flood_load_cells(f, b, a, listed, 4);
    }
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x) {
        const uint4 v = *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
        any |= v.x | v.y | v.z | v.w, all &= v.x & v.y & v.z & v.w;
    }
    kind = __syncthreads_and(!any)         ? TMAPI_FLOOD_DRY
           : __syncthreads_and(all == ~0u) ? TMAPI_FLOOD_FULL
                                           : TMAPI_FLOOD_MIXED;
    if (threadIdx.x == 0) f->kinds[a->block] = (unsigned char)kind;
    if (kind == TMAPI_FLOOD_MIXED)
        for (tmap_u32 i = threadIdx.x; i < b->rows * 4; i += blockDim.x)
            *(uint4 *)(f->bits + (a->y + i / 4) * words + a->x / 32 + i % 4 * 4) =
                *(const uint4 *)(b->bits + tmapi_flood_place(i / 4, i % 4 * 4));
    return kind;
}

#endif // TMAP_CUDA

#endif
