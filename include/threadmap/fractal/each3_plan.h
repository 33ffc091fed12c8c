// SPDX-License-Identifier: MIT
// each3_plan.h: the plans of each3.h and stencil3.h.
//
//     const tmap_pitch3 tight = {0, 0};
//     tmap_each3_plan plan;
//     tmap_each3_plan_make(TMAP_EACH_FOLD, tmap_turned_plain(f), r, tight, kernel, &plan);
//     tmap_each3_launch(&plan, &job, stream);
#ifndef TMAP_FRACTAL_EACH3_PLAN_H
#define TMAP_FRACTAL_EACH3_PLAN_H

#include "../launch.h"
#include "compact.h"
#include "turned.h"

// ---- the plan -----------------------------------------------------------------------------------

// A cell: its coordinates in the fractal, and its element `at`: offset + z * plane + y * row + x in
// a volume; in compact storage offset + tmap_nbb3_nu_linear64, or tmap_turned_nu_linear64.
typedef struct tmap_cell3 {
    tmap_u32 x, y, z;
    tmap_u64 at;
} tmap_cell3;

// Where a volume's rows and planes begin, in elements. row: from one row to the next, at least the
// width sx^r; 0: that width; TMAP_COMPACT: compact storage, without regard to `plane`. plane: from
// one plane to the next, at least row * sy^r less the unused end of its last row; 0: row * sy^r.
typedef struct tmap_pitch3 {
    tmap_u64 row, plane;
} tmap_pitch3;

// A tile of a stencil in a box of shared memory (stencil3.h): its places and those around it, in
// one layer where the fractal is one. Byte offsets in a block's shared memory; bytes 0: no boxes.
//   box     for each place the values of the tiles of a step, zeros where there is no cell; in two
//           boxes of two tiles, or one of four in a layer; `box` is the size of one
//   stage   for each cell the next values of these tiles
//   apply   for each cell its place and number in the list, and its neighbours
//   tiles   two buffers of the tiles of some steps
//   list    `entries` entries: where the value of each place that is a cell comes from; the tile's
//           own cells first; the rest write to an unused place behind the box
//   places  the place of each cell of the list in the tile, two bytes
//   table   the neighbours of each cell of the fractal of level `levels`, in 27 directions
//   count   how many cells each bank has
typedef struct tmapi_stencil3_box {
    tmap_u32 row, plane,
        all;          // places from one row of the box to the next, from plane to plane; all
    tmap_u32 entries; // of the list
    tmap_u32 levels, cells, inverse; // of the table; cells: k^levels; inverse: to divide by cells
    tmap_u32 box, stage, apply, tiles, list, places, table, count, bytes;
} tmapi_stencil3_box;

// A plan, made for one kind of work, fractal, level, pitch and kernel. A share of the work is a
// range of items: parts of `chunk` cells of the tiles of a line, line by line; cells, in the order
// of tmap_nbb3_lambda_linear, where there are few; for a stencil, tiles in that order.
typedef struct tmap_each3_plan {
    // first what a thread needs that takes a cell, in few lines of the constants' cache
    tmap_nbb3 f;
    tmap_u32 inverse; // for divisions by f.k (compact.h)
    tmap_u32 r;
    tmap_u32 tile_level, line_level; // of a tile, of a line of tiles; both 0: a thread takes a cell
    tmap_pitch3 pitch;               // row: elements, or TMAP_COMPACT
    tmap_u64 offset; // element of cell (0, 0, 0), or the first of compact storage; 0 unless you set
                     // it, for a fractal inside a larger volume
    tmap_u64 first, count;           // this launch's share of the items
    tmap_u32 turned;                 // 1: a copy is turned
    tmap_u64 items;                  // of the complete fractal
    tmap_u64 turn_a, turn_b, turn_c; // those of a tmap_turned
    tmap_u32 cells, lines;           // of a tile; lines in a box of line_level, empty ones too
    tmap_xyz tile, box;              // sides in places: of a tile, and of a box of lines
    tmap_u32 chunk, parts;           // cells of a tile that a warp takes at a time; such parts of a
                                     // tile. Of a stencil: all of a tile; 1
    tmap_u32 halo;                   // of a stencil: what a tile needs of others, at most: words of
                                     // other sheets, or cells where it has a box
    tmapi_stencil3_box boxes;        // of a stencil
    tmap_compact_word word;          // compact.h; bytes 0: elements are cells
    // the launch
    const void *kernel;           // null unless the maker received one
    tmap_u32 grid, block, shared; // blocks, threads per block, bytes of dynamic shared memory
    tmap_u32 warps;               // resident warps of the device, or those that the plan wants
    tmap_u32 tiles;               // of a stencil: that a block takes at a time; otherwise 0
    tmap_u32 type;                // as in tmap_each_plan
} tmap_each3_plan;

// The number of elements from the first place of the fractal to its last, both included, counted
// from plan->offset. In compact storage: the number of cells, or of words. Saturates at 2^64 - 1.
TMAP_FN tmap_u64 tmap_each3_plan_places(const tmap_each3_plan *plan) {
    const tmap_u32 r = plan->r;
    tmap_u64 places = tmap_nbb3_side_x(plan->f, r);
    if (plan->pitch.row == TMAP_COMPACT) return tmap_nbb3_cells(plan->f, r);
    for (int axis = 0; axis < 2; ++axis) {
        const tmap_u64 side = axis ? tmap_nbb3_side_z(plan->f, r) : tmap_nbb3_side_y(plan->f, r);
        const tmap_u64 more =
            tmap_mul_saturate(side - 1, axis ? plan->pitch.plane : plan->pitch.row);
        places = more > ~0ull - places ? ~0ull : places + more;
    }
    return places;
}

// ---- words of one bit per cell ------------------------------------------------------------------
//
// As in two dimensions (compact.h): the top levels of the fractal are the bits of a word. A fractal
// of level r is k^j copies (sheets) of one of level r - j, and bit b of word i is cell i of sheet
// b. A word has 2, 4, 8, 16, 32 or 64 bytes, whichever leaves the smallest part idle, and the
// largest of several; idle bits are 0. Bit b is bit b % 8 of byte b / 8.

// Chooses the word for fractal f of level r. At a low level one word holds all cells.
// Example: tetrahedron, r = 18: 4 levels, 256 cells, 32 bytes; sponge: 2 levels, 400 cells, 64
// bytes.
TMAP_FN tmap_compact_word tmap_compact3_word_of(tmap_nbb3 f, tmap_u32 r) {
    return tmapi_compact_word(f.k, r, 512);
}

// The bytes that a rule gets of a word at a time: a slice of 16 bytes, or all of a smaller one.
TMAP_FN tmap_u32 tmap_compact3_slice(tmap_compact_word word) {
    return word.bytes < 16 ? word.bytes : 16;
}

// The number of words of fractal f of level r. Saturates at 2^64 - 1.
TMAP_FN tmap_u64 tmap_compact3_words(tmap_nbb3 f, tmap_u32 r) {
    return tmap_nbb3_cells(f, r - tmap_compact3_word_of(f, r).level);
}

// Bytes of a state with one bit per cell. Saturates at 2^64 - 1.
// Example: tetrahedron, r = 18: 8589934592.
TMAP_FN tmap_u64 tmap_compact3_words_bytes(tmap_nbb3 f, tmap_u32 r) {
    return tmap_mul_saturate(tmap_compact3_words(f, r), tmap_compact3_word_of(f, r).bytes);
}

// Finds the bit of cell number i (tmap_nbb3_nu_linear64) of level r: bit *bit of word *word. An f
// of zeros counts as one cell.
TMAP_FN void tmap_compact3_bit(tmap_nbb3 f, tmap_u32 r, tmap_u64 i, tmap_u64 *word, tmap_u32 *bit) {
    const tmap_u64 words = tmap_compact3_words(tmapi_nbb3_total(f), r);
    *bit = (tmap_u32)(i / words), *word = i % words;
}

// ---- shared memory ------------------------------------------------------------------------------

// The widest tile: a place of a tile has 15 bits, and a row of a tile is a word.
#define TMAPI_EACH3_SIDE 32u
// The most cells of a tile in compact storage.
#define TMAPI_EACH3_COMPACT 1024u

// The rows of a tile of level m: y fastest, then z.
TMAP_FN tmap_u32 tmapi_each3_row_count(tmap_nbb3 f, tmap_u32 m) {
    return (tmap_u32)(tmap_nbb3_side_y(f, m) * tmap_nbb3_side_z(f, m));
}

// Bytes of shared memory: the bits of each line and of each row of a tile of level m, and the
// places of the tile.
TMAP_FN tmap_u64 tmapi_each3_list_bytes(tmap_nbb3 f, tmap_u32 m, tmap_u32 lines) {
    const tmap_u64 places = tmap_mul_saturate(2, tmap_nbb3_cells(f, m));
    return 4 * (lines + tmapi_each3_row_count(f, m)) + (places > ~0ull - 3 ? places : places + 3);
}

// The place (dx, dy, dz) beside a cell has number 13 + dx + 3 dy + 9 dz: a bit of `around` and an
// index of `places` in the rule of a stencil (stencil3.h).
#define TMAP_HERE3   13
#define TMAP_AROUND3 27

// The most cells in a tile: an entry of the table has nine bits for a cell.
#define TMAPI_STENCIL3_CELLS 512u

// What a block knows of a tile's surroundings: for each of 27 tiles its first element, and the
// sheet that holds it (TMAP_HERE3: the same). at: the tile's own first element. corner: its first
// place. is, other: bit n: tile n exists; it is in another sheet.
typedef struct tmapi_stencil3_tile {
    const unsigned char *from[TMAP_AROUND3];
    tmap_u64 at;
    tmap_xyz corner;
    tmap_u32 is, other;
    unsigned char sheet[TMAP_AROUND3 + 1];
} tmapi_stencil3_tile;

// Byte offsets in a block's shared memory, after two buffers of tiles.
//   places  the place of each cell of a tile, two bytes
//   nearby  27 entries for each cell: the cell of the neighbour | its tile << 10
// For words:
//   turns, valid  for each of 27 directions, the sheet beside each sheet, and a bit if there is one
//   slot          for each cell of the 27 tiles, its number in the halo
//   cell          the same list the other way
//   halo          words of other sheets, turned
typedef struct tmapi_stencil3_shared {
    tmap_u32 places, nearby, turns, valid, slot, count, cell, halo, bytes;
} tmapi_stencil3_shared;

// No tile: its bit of `is` is 0.
#define TMAPI_STENCIL3_NONE 31u

// The bits of a word, and for each direction the entries of `turns`, a multiple of 32.
TMAP_FN tmap_u32 tmapi_stencil3_bits(tmap_compact_word word) {
    return word.bytes ? (8 * word.bytes + 31) / 32 * 32 : 0;
}

// 1 if digit t of an axis with `side` boxes is at the border that the tile in direction d, one more
// than -1, 0 or 1, turns to this one.
TMAP_FN int tmapi_stencil3_facing(tmap_u32 t, tmap_u32 side, tmap_u32 d) {
    return d == 1 || (side > 1 && t == (d ? 0 : side - 1)); // no copies along an axis of one box
}

// The most cells of the tiles around a tile of level m that can be neighbours of its cells.
TMAP_FN tmap_u32 tmapi_stencil3_halo(tmap_nbb3 f, tmap_u32 m) {
    tmap_u32 sum = 0;
    for (tmap_u32 n = 0; n < TMAP_AROUND3; ++n) {
        tmap_u32 k = 0;
        for (tmap_u32 beta = 0; beta < f.k; ++beta) {
            const tmap_xyz t = tmap_nbb3_tau(f, beta);
            k += tmapi_stencil3_facing(t.x, f.sx, n % 3) &&
                 tmapi_stencil3_facing(t.y, f.sy, n / 3 % 3) &&
                 tmapi_stencil3_facing(t.z, f.sz, n / 9);
        }
        if (n != TMAP_HERE3) sum += tmapi_pow32(k, m);
    }
    return sum;
}

// chunk: the tiles that a block takes at a time.
TMAP_FN tmapi_stencil3_shared tmapi_stencil3_shared_at(const tmap_each3_plan *plan,
                                                       tmap_u32 chunk) {
    const tmap_u32 bits = TMAP_AROUND3 * tmapi_stencil3_bits(plan->word), cells = plan->cells;
    const tmap_u32 halo = plan->halo;
    tmapi_stencil3_shared s;
    s.places = 2 * chunk * (tmap_u32)sizeof(tmapi_stencil3_tile);
    s.nearby = s.places + (2 * cells + 3) / 4 * 4;
    s.bytes = s.nearby + (2 * TMAP_AROUND3 * cells + 15) / 16 * 16;
    s.turns = s.valid = s.slot = s.count = s.cell = s.halo = s.bytes;
    if (!plan->word.bytes) return s;
    s.valid = s.turns + 2 * bits, s.slot = s.valid + bits / 8;
    s.count = s.slot + (2 * TMAP_AROUND3 * cells + 3) / 4 * 4;
    s.cell = s.count + 4, s.halo = (s.cell + 2 * halo + 15) / 16 * 16;
    s.bytes = s.halo + halo * plan->word.bytes;
    return s;
}

// An entry of the list: the first byte of its place in the box, from bit 16 on the byte of its tile
// in `from` (tmapi_stencil3_boxed), and from bit 32 on its element, counted from the tile's first,
// which may be below 0.
typedef tmap_u64 tmapi_stencil3_entry;

// The most bytes of a place, tiles of a step times bytes of an element: of a layer, or else.
TMAP_FN tmap_u32 tmapi_stencil3_place(int layer) { return layer ? 16 : 8; }

// What a block knows of the four tiles of a step, or fewer. from: for each of 27 tiles around each,
// or of nine in a layer, where its elements begin in memory, the four side by side; ~0: it does not
// exist. around: for each position at a tile's border (one more than -1, 0 or 1 along each axis),
// the bits of the neighbours that are in existing tiles. at: a tile's first element.
typedef struct tmapi_stencil3_boxed {
    tmap_u64 from[4 * TMAP_AROUND3]; // at a multiple of 16 bytes
    tmap_u64 at[4];
    tmap_u32 around[4 * TMAP_AROUND3];
    tmap_xyz corner[4];
} tmapi_stencil3_boxed;

// The steps for which a block finds tiles at a time. Together they have a task for each of four
// warps: the tiles around one, or around three of a layer.
TMAP_FN tmap_u32 tmapi_stencil3_steps(int layer) { return layer ? 3 : 1; }

// The boxes of a step: a layer's box has four tiles side by side, another two.
TMAP_FN tmap_u32 tmapi_stencil3_boxes_of(int layer) { return layer ? 1 : 2; }

// The tiles in a box; 0 for elements that are larger than a place.
TMAP_FN tmap_u32 tmapi_stencil3_deep(int layer, tmap_u32 size) {
    const tmap_u32 most = layer ? 4 : 2, deep = tmapi_stencil3_place(layer) / (size ? size : 1);
    return deep > most ? most : deep;
}

// The entries of the list that a thread has in flight, and the threads of a block, at most.
#define TMAPI_STENCIL3_FLIGHT  4u
#define TMAPI_STENCIL3_THREADS 128u

#if !TMAP_NVRTC

// ---- a plan from facts --------------------------------------------------------------------------

// The sides of a box of level `level`.
static inline tmap_xyz tmapi_each3_sides(tmap_nbb3 f, tmap_u32 level) {
    const tmap_xyz sides = {tmapi_pow32(f.sx, level), tmapi_pow32(f.sy, level),
                            tmapi_pow32(f.sz, level)};
    return sides;
}

// Up to this number of cells a list of places costs more than the cells, and a thread takes a cell.
#define TMAPI_EACH3_SMALL (1u << 18)

// Sets the tile of a walk, the largest that fits 32 places an axis and 48 KB of shared memory, and
// its line, the largest that fits 32 tiles an axis. few: cells, up to which a thread takes one.
static inline void tmapi_each3_plan_tile(tmap_each3_plan *p, tmap_u64 few) {
    const int volume = p->pitch.row != TMAP_COMPACT;
    const int lines = volume && !p->turned; // tiles of a line are turned alike
    const tmap_xyz one = {1, 1, 1};
    p->tile_level = p->line_level = p->shared = 0, p->cells = p->lines = 1, p->tile = p->box = one;
    if (tmap_nbb3_cells(p->f, p->r) <= few) return;
    p->tile_level = tmap_nbb3_tile_level(p->f, p->r, TMAPI_EACH3_SIDE) + 1;
    while (!volume && tmap_nbb3_cells(p->f, p->tile_level - 1) > TMAPI_EACH3_COMPACT)
        --p->tile_level;
    do {
        --p->tile_level;
        p->line_level =
            lines ? tmap_nbb3_tile_level(p->f, p->r - p->tile_level, TMAPI_EACH3_SIDE) : 0;
        p->lines = tmapi_each3_row_count(p->f, p->line_level);
    } while (tmapi_each3_list_bytes(p->f, p->tile_level, p->lines) > 48 * 1024);
    p->cells = (tmap_u32)tmap_nbb3_cells(p->f, p->tile_level);
    p->tile = tmapi_each3_sides(p->f, p->tile_level);
    p->box = tmapi_each3_sides(p->f, p->tile_level + p->line_level);
    p->shared = (tmap_u32)tmapi_each3_list_bytes(p->f, p->tile_level, p->lines) / 4 * 4;
}

// Restricts a plan to `count` of its items, from item `first` on: one GPU's share, or one batch.
// The grid of a share is at most that of the complete plan, so a fold's workspace sized for all
// items is large enough for each share.
// Returns TMAP_OK, or TMAP_EINVAL for a null pointer, a plan of zeros, which no maker has made, and
// items that the plan does not have.
// Example: the second half: (&plan, plan.items / 2, plan.items - plan.items / 2).
static inline int tmap_each3_plan_share_of(tmap_each3_plan *plan, tmap_u64 first, tmap_u64 count) {
    tmap_u64 blocks, in_block, most;
    if (!plan || !plan->items || first > plan->items || count > plan->items - first)
        return TMAP_EINVAL;
    in_block = plan->tiles ? plan->tiles : plan->block / 32;
    most = plan->warps / (plan->block / 32);
    if (!plan->tiles && !plan->tile_level && !plan->line_level) // a thread takes a cell
        in_block = plan->block;
    blocks = count / in_block + (count % in_block != 0);
    if (blocks > most) blocks = most;
    plan->first = first, plan->count = count;
    plan->grid = blocks ? (tmap_u32)blocks : 1;
    return TMAP_OK;
}

// Chooses the block of a walk: of 512, 256, ... 32 threads the most resident warps; ties go to the
// larger block, whose threads share the list. Without a list the blocks are small, so that all
// multiprocessors have some. A warp's chunk is such that each warp has about 24 in a volume, four
// in compact storage, whose chunks cost alike; at least 32 cells. Where a thread takes a cell, it
// takes one, but for a fold there are few blocks, because each adds to the time of their join.
static inline int tmapi_each3_plan_block(tmap_each3_plan *p, int work, const tmap_facts *facts) {
    const tmap_u64 boxes = tmap_nbb3_cells(p->f, p->r - p->tile_level - p->line_level);
    const tmap_u64 lines = tmap_mul_saturate(boxes, p->lines);
    const tmap_u64 many = p->pitch.row == TMAP_COMPACT ? 4 : 24;
    tmap_u64 turns;
    p->warps = 0;
    for (tmap_u32 block = p->tile_level || work == TMAP_EACH_FOLD ? 512 : 256; block >= 32;
         block /= 2) {
        const tmap_u32 warps = tmap_resident_blocks(facts, block, p->shared) * (block / 32);
        if (warps * facts->device.processors <= p->warps) continue;
        p->block = block, p->warps = warps * facts->device.processors;
    }
    if (!p->warps) return TMAP_ERANGE;
    if (!p->tile_level && !p->line_level && work != TMAP_EACH_FOLD) p->warps = 0xffffffff;
    turns = many * p->warps / lines + 1; // parts of a tile
    p->chunk = p->cells / (turns < p->cells ? (tmap_u32)turns : p->cells);
    if (p->tile_level) p->chunk = (p->chunk + 31) / 32 * 32;
    p->parts = (p->cells + p->chunk - 1) / p->chunk;
    p->items = tmap_mul_saturate(lines, p->parts);
    return boxes > 0xffffffffull || p->items == ~0ull ? TMAP_ERANGE : TMAP_OK;
}

// Chooses the tile and the block of a walk.
static inline int tmapi_each3_plan_walk(tmap_each3_plan *p, int work, tmap_u64 few,
                                        const tmap_facts *facts) {
    tmapi_each3_plan_tile(p, few);
    return tmapi_each3_plan_block(p, work, facts);
}

// Checks what all plans need, and sets the fractal and its pitch.
static inline int tmapi_each3_plan_begin(tmap_turned t, tmap_u32 r, tmap_pitch3 pitch,
                                         tmap_each3_plan *p) {
    const tmap_compact_word cells_alone = {0, 1, 0};
    const tmap_nbb3 f = t.f;
    tmap_u64 width, plane;
    if (tmap_turned_check(t) != TMAP_OK) return TMAP_EINVAL;
    if (r > tmap_nbb3_level_max32(f)) return TMAP_ERANGE;
    width = tmap_nbb3_side_x(f, r);
    if (pitch.row == TMAP_COMPACT) {
        if (r > tmap_nbb3_linear_level_max64(f)) return TMAP_ERANGE;
        pitch.plane = 0;
    } else {
        if (pitch.row && pitch.row < width) return TMAP_EINVAL;
        if (!pitch.row) pitch.row = width;
        plane = tmap_mul_saturate(pitch.row, tmap_nbb3_side_y(f, r));
        if (plane == ~0ull) return TMAP_ERANGE;
        if (pitch.plane && pitch.plane < plane - (pitch.row - width)) return TMAP_EINVAL;
        if (!pitch.plane) pitch.plane = plane;
    }
    p->f = f, p->turn_a = t.turn_a, p->turn_b = t.turn_b, p->turn_c = t.turn_c;
    p->turned = !tmap_turned_equal(t, tmap_turned_plain(f));
    p->inverse = tmapi_compact_inverse(f.k);
    p->r = r, p->pitch = pitch, p->offset = 0;
    p->word = cells_alone, p->kernel = 0, p->tiles = p->halo = p->boxes.bytes = p->type = 0;
    return tmap_each3_plan_places(p) == ~0ull ? TMAP_ERANGE : TMAP_OK;
}

// Chooses a block of about 512 threads, or fewer where few tiles or registers are left: of 512,
// 256, ... 32 threads the most resident ones. A block takes tiles until each of its threads has two
// cells or slices, but no more than leave a step for each block of the device.
static inline int tmapi_stencil3_plan_block(tmap_each3_plan *p, const tmap_facts *facts) {
    const tmap_u32 slices = p->word.bytes > 16 ? p->word.bytes / 16 : 1;
    tmap_u64 tiles;
    p->block = p->warps = 0;
    for (tmap_u32 block = 512; block >= 32; block /= 2) {
        const tmap_u32 chunk = 2 * block / (p->cells * slices) + 1;
        const tmap_u32 shared = tmapi_stencil3_shared_at(p, chunk).bytes;
        const tmap_u32 warps = tmap_resident_blocks(facts, block, shared) * (block / 32);
        if (warps * facts->device.processors <= p->warps) continue;
        p->block = block, p->tiles = chunk, p->shared = shared;
        p->warps = warps * facts->device.processors;
    }
    if (!p->warps) return TMAP_ERANGE;
    tiles = p->items / (p->warps / (p->block / 32)) + 1; // of a block of the device
    if (p->tiles > tiles) p->tiles = (tmap_u32)tiles;
    p->shared = tmapi_stencil3_shared_at(p, p->tiles).bytes;
    return TMAP_OK;
}

static inline tmapi_stencil3_box tmapi_stencil3_box_of(const tmap_each3_plan *plan) {
    const tmap_u32 place = tmapi_stencil3_place(plan->f.sz == 1);
    const tmap_u32 boxes = tmapi_stencil3_boxes_of(plan->f.sz == 1);
    tmapi_stencil3_box b;
    b.row = plan->tile.x + 2, b.plane = b.row * (plan->tile.y + 2);
    b.all = b.plane * (plan->f.sz == 1 ? 1 : plan->tile.z + 2);
    b.levels = 1, b.cells = plan->f.k;
    while (b.levels < 6 && b.cells * plan->f.k <= 64) ++b.levels, b.cells *= plan->f.k;
    b.entries = TMAPI_STENCIL3_FLIGHT * TMAPI_STENCIL3_THREADS;
    b.entries = (plan->cells + plan->halo + b.entries - 1) / b.entries * b.entries;
    b.inverse = tmapi_compact_inverse(b.cells);
    b.box = (place * (b.all + 1) + 15) / 16 * 16;
    b.stage = boxes * b.box;
    b.apply = (b.stage + boxes * place * plan->cells + 15) / 16 * 16;
    b.tiles = (b.apply + 8 * plan->cells + 15) / 16 * 16;
    b.list = b.tiles +
             2 * tmapi_stencil3_steps(plan->f.sz == 1) * (tmap_u32)sizeof(tmapi_stencil3_boxed);
    b.places = b.list + (tmap_u32)sizeof(tmapi_stencil3_entry) * b.entries;
    b.table = b.places + 2 * plan->cells;
    b.count = (b.table + 2 * TMAP_AROUND3 * b.cells + 3) / 4 * 4;
    b.bytes = b.count + 4 * 33;
    return b;
}

// Chooses the block of a stencil whose tiles have boxes: of 128, 64 and 32 threads the most
// resident ones. The blocks are small and many, because each waits for its memory.
static inline int tmapi_stencil3_plan_boxes(tmap_each3_plan *p, const tmap_facts *facts) {
    p->tiles = 4;
    p->shared = tmapi_stencil3_shared_at(p, p->tiles).bytes; // for elements of 16 bytes
    if (p->shared < p->boxes.bytes) p->shared = p->boxes.bytes;
    p->block = p->warps = 0;
    for (tmap_u32 block = TMAPI_STENCIL3_THREADS; block >= 32; block /= 2) {
        const tmap_u32 warps = tmap_resident_blocks(facts, block, p->shared) * (block / 32);
        if (warps * facts->device.processors <= p->warps) continue;
        p->block = block, p->warps = warps * facts->device.processors;
    }
    return p->warps ? TMAP_OK : TMAP_ERANGE;
}

// Gives a tile a box if at least one in eight of its places is a cell, so that the box pays, if an
// entry of the list has bits enough for its elements, and if divisions of tile numbers are exact.
static inline void tmapi_stencil3_plan_box(tmap_each3_plan *p) {
    const tmap_u64 deep = tmap_mul_saturate(p->tile.z, p->f.sz > 1 ? p->pitch.plane : 0);
    const tmap_u64 high = tmap_mul_saturate(p->tile.y, p->pitch.row), most = 1u << 29;
    const int fits = p->pitch.row == TMAP_COMPACT || (deep < most && high < most);
    p->halo = tmapi_stencil3_halo(p->f, p->tile_level);
    p->boxes = tmapi_stencil3_box_of(p);
    if (!fits || 8 * p->cells < p->boxes.all || p->items * p->boxes.cells >> 32)
        p->halo = p->boxes.bytes = 0;
}

// Chooses the tile of a stencil: the largest whose tables a block of this device has memory for.
static inline int tmapi_stencil3_plan_tile(tmap_each3_plan *p, int words, const tmap_facts *facts) {
    int code = TMAP_ERANGE;
    if (words) p->word = tmap_compact3_word_of(p->f, p->r), p->r -= p->word.level;
    p->parts = p->lines = 1, p->line_level = 0;
    p->tile_level = tmap_nbb3_tile_level(p->f, p->r, TMAPI_EACH3_SIDE) + 1;
    while (code != TMAP_OK) {
        if (!p->tile_level) return code;
        while (tmap_nbb3_cells(p->f, --p->tile_level) > TMAPI_STENCIL3_CELLS) {
        }
        p->cells = p->chunk = (tmap_u32)tmap_nbb3_cells(p->f, p->tile_level);
        p->halo = words ? tmapi_stencil3_halo(p->f, p->tile_level) : 0;
        p->items = tmap_nbb3_cells(p->f, p->r - p->tile_level);
        if (p->items > 0xffffffffull) return TMAP_ERANGE;
        p->tile = p->box = tmapi_each3_sides(p->f, p->tile_level);
        if (!words) tmapi_stencil3_plan_box(p);
        code = p->boxes.bytes ? tmapi_stencil3_plan_boxes(p, facts)
                              : tmapi_stencil3_plan_block(p, facts);
    }
    if (p->shared < tmapi_each3_list_bytes(p->f, p->tile_level, 1)) // for a walk by this plan
        p->shared = (tmap_u32)tmapi_each3_list_bytes(p->f, p->tile_level, 1);
    return TMAP_OK;
}

// Makes the plan of tmap_each3_plan_make from facts (launch.h), without a call of CUDA. out->kernel
// becomes null. Returns TMAP_OK; TMAP_EINVAL and TMAP_ERANGE where tmap_each3_plan_make returns
// cudaErrorInvalidValue and cudaErrorInvalidConfiguration.
static inline int tmap_each3_plan_of(int work, tmap_turned t, tmap_u32 r, tmap_pitch3 pitch,
                                     const tmap_facts *facts, tmap_each3_plan *out) {
    const int words = work == TMAP_EACH_WORDS;
    tmap_each3_plan p;
    int code;
    if (!out || !facts || work < 0 || work >= TMAP_EACH_WORK_COUNT) return TMAP_EINVAL;
    if (words && pitch.row != TMAP_COMPACT) return TMAP_EINVAL;
    if ((code = tmapi_each3_plan_begin(t, r, pitch, &p)) != TMAP_OK) return code;
    if (words && p.turned) return TMAP_EINVAL;
    if (work >= TMAP_EACH_STENCIL && !p.turned) {
        code = tmapi_stencil3_plan_tile(&p, words, facts);
    } else { // a stencil of turned copies goes cell by cell
        code = tmapi_each3_plan_walk(&p, work, TMAPI_EACH3_SMALL, facts);
    }
    if (code != TMAP_OK) return code;
    (void)tmap_each3_plan_share_of(&p, 0, p.items);
    *out = p;
    return TMAP_OK;
}

#endif // !TMAP_NVRTC

#if TMAP_CUDA && !TMAP_NVRTC

// ---- a plan from a kernel, and its launch -------------------------------------------------------

// Makes the plan of a kernel, for fractal t of level r. A plan serves any number of launches on the
// device that was current when it was made. work: a tmap_each_work, what the kernel calls. t: with
// turned copies, or tmap_turned_plain(f); in two dimensions sz is 1. kernel: a __global__ function,
// cast to const void *.
// With TMAP_EACH_WORDS a state has tmap_compact3_words_bytes(t.f, r) bytes, pitch.row is
// TMAP_COMPACT, no copy is turned, out->r is the level of a sheet, and out->word says what a word
// holds. With turned copies a stencil is slow, since it goes cell by cell. In a volume lanes go
// along the rows of a tile as it was before it was turned: where x is exchanged for another axis,
// neighbouring lanes access different rows.
// Returns cudaErrorInvalidValue for a null pointer, another `work`, a fractal that
// tmap_turned_check refuses, a pitch below the width or the plane, and words with a pitch or with
// turned copies; cudaErrorInvalidConfiguration for a level whose coordinates do not fit 32 bits,
// whose elements do not fit 64, or of more than 2^32 - 1 boxes of lines (of tiles for a stencil and
// for words), and for a kernel whose block does not fit the device; otherwise a CUDA error. *out is
// written only on success.
// Cost: some calls of the CUDA runtime, which do not wait for the device.
// Example: tmap_each3_plan_make(TMAP_EACH_VISIT, tmap_turned_plain(tmap_fractal3_menger()), 6,
// tight, (const void *)draw, &plan).
static inline cudaError_t tmap_each3_plan_make(int work, tmap_turned t, tmap_u32 r,
                                               tmap_pitch3 pitch, const void *kernel,
                                               tmap_each3_plan *out) {
    tmap_facts facts;
    tmap_each3_plan p;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmap_each3_plan_of(work, t, r, pitch, &facts, &p));
    if (!error) error = tmapi_launch_shared(kernel, p.shared);
    if (!error) p.kernel = kernel, *out = p;
    return error;
}

// tmap_each3_plan_share_of with CUDA's error codes: cudaErrorInvalidValue for TMAP_EINVAL.
static inline cudaError_t tmap_each3_plan_share(tmap_each3_plan *plan, tmap_u64 first,
                                                tmap_u64 count) {
    return tmapi_launch_error(tmap_each3_plan_share_of(plan, first, count));
}

// Launches the plan's kernel, whose parameters are the plan and your struct, both by value:
// (tmap_each3_plan, JOB). job: the address of that struct. A share without items is launched as one
// block.
// Returns cudaErrorInvalidValue for a null pointer and for a plan without a kernel, otherwise the
// launch's own error. It neither reports nor clears an error that an earlier call left.
static inline cudaError_t tmap_each3_launch(const tmap_each3_plan *plan, tmap_job job,
                                            cudaStream_t stream) {
    if (!plan || !plan->kernel || !job) return cudaErrorInvalidValue;
    const tmapi_launch_shape shape = {plan->grid, plan->block, plan->shared};
    return tmapi_launch_plan(plan->kernel, shape, plan, sizeof *plan, job, stream);
}

#endif
#endif
