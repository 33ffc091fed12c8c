// SPDX-License-Identifier: MIT
// flood_inputs.h: maps to flood and to label, as functions of a cell that give the same heights on
// any machine. All are meant for the level 0: a cell is wet where its height is negative.
#ifndef TESTS_RASTER_FLOOD_INPUTS_H
#define TESTS_RASTER_FLOOD_INPUTS_H

#include <threadmap/core.h>

enum {
    FLOOD_TERRAIN,      // hills around a basin, about half of which is one lake
    FLOOD_SERPENTINE_H, // a corridor to and fro, row by row
    FLOOD_SERPENTINE_V, // column by column
    FLOOD_SPIRAL,       // a corridor to the middle
    FLOOD_NOISE_593,    // cells wet by chance, 0.5927: where regions grow as large as the map
    FLOOD_NOISE_650,    // 0.65: one large region with holes
    FLOOD_CHECKERBOARD, // every other cell; one region if connected by corners, else each its own
    FLOOD_WET,          // all cells
    FLOOD_DRY,          // none
    FLOOD_MAZE,         // a tree of corridors of one cell
    FLOOD_INPUTS
};

TMAP_FN const char *flood_input_name(int input) {
    switch (input) {
    case FLOOD_TERRAIN: return "terrain";
    case FLOOD_SERPENTINE_H: return "serpentine_h";
    case FLOOD_SERPENTINE_V: return "serpentine_v";
    case FLOOD_SPIRAL: return "spiral";
    case FLOOD_NOISE_593: return "noise_593";
    case FLOOD_NOISE_650: return "noise_650";
    case FLOOD_CHECKERBOARD: return "checkerboard";
    case FLOOD_WET: return "wet";
    case FLOOD_DRY: return "dry";
    case FLOOD_MAZE: return "maze";
    default: return "?";
    }
}

TMAP_FN tmap_u32 flood_hash(tmap_u32 x) {
    x ^= x >> 16, x *= 0x7feb352du;
    x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}
TMAP_FN tmap_u32 flood_hash_cell(tmap_u32 x, tmap_u32 y, tmap_u32 salt) {
    return flood_hash(x + flood_hash(y + 0x9e3779b9u * salt + 12345u));
}

// ---- terrain ------------------------------------------------------------------------------------

// The height of a corner of a lattice, -32768 to 32767.
TMAP_FN int flood_corner(tmap_u32 x, tmap_u32 y, tmap_u32 octave) {
    return (int)(flood_hash_cell(x, y, octave + 1) & 0xffff) - 32768;
}

// a to b as t goes from 0 to 4096, |a|, |b| <= 2^16.
TMAP_FN int flood_between(int a, int b, int t) { return a + (b - a) * t / 4096; }

// How far along a step of a lattice, 0 to 4096, eased at both ends: 3t^2 - 2t^3.
TMAP_FN int flood_ease(tmap_u32 at, tmap_u32 log_step) {
    const tmap_u32 part = at & ((1u << log_step) - 1);
    const int t = (int)(log_step > 12 ? part >> (log_step - 12) : part << (12 - log_step));
    return (t * t / 4096) * (3 * 4096 - 2 * t) / 4096;
}

// Value noise of one octave, -32768 to 32767.
TMAP_FN int flood_octave(tmap_u32 x, tmap_u32 y, tmap_u32 octave, tmap_u32 log_step) {
    const tmap_u32 i = x >> log_step, j = y >> log_step;
    const int u = flood_ease(x, log_step), v = flood_ease(y, log_step);
    const int above = flood_between(flood_corner(i, j, octave), flood_corner(i + 1, j, octave), u);
    const int below =
        flood_between(flood_corner(i, j + 1, octave), flood_corner(i + 1, j + 1, octave), u);
    return flood_between(above, below, v);
}

// -1024 in the middle of an axis to 1024 at its ends, as a parabola.
TMAP_FN int flood_bowl(tmap_u32 x, tmap_u32 width) {
    const int t = (int)((tmap_u64)x * 2048 / width) - 1024;
    return t * t / 512 - 1024;
}

// Octaves from an eighth of the map down to two cells, each of half the last one's height, in a
// shallow bowl. About -4000 to 4000.
TMAP_FN int flood_terrain(tmap_u32 x, tmap_u32 y, tmap_u32 width, tmap_u32 height) {
    const tmap_u32 side = width > height ? width : height;
    tmap_u32 log_step = 1, octave = 0;
    int sum = (flood_bowl(x, width) + flood_bowl(y, height)) / 2 + 200;
    while ((8u << log_step) < side && log_step < 27) ++log_step;
    for (; log_step >= 1 && octave < 11; --log_step, ++octave)
        sum += flood_octave(x, y, octave, log_step) / (1 << (4 + octave));
    return sum;
}

// ---- corridors ----------------------------------------------------------------------------------

// Rows y of even number are wet; those between have one wet cell, at their ends by turns.
TMAP_FN int flood_serpentine(tmap_u32 x, tmap_u32 y, tmap_u32 width) {
    return y % 2 == 0 || x == (y / 2 % 2 ? 0 : width - 1) ? -1 : 0;
}

// Rings by their distance from the border: even ones are wet but for one cell, through which the
// ring within would be too short a way; odd ones are dry but for the passage inwards.
TMAP_FN int flood_spiral(tmap_u32 x, tmap_u32 y, tmap_u32 width, tmap_u32 height) {
    const tmap_u32 a = x < width - 1 - x ? x : width - 1 - x;
    const tmap_u32 b = y < height - 1 - y ? y : height - 1 - y, ring = a < b ? a : b;
    const int gate = x == ring && y == ring + 1;
    return (ring % 2 == 0) != gate ? -1 : 0;
}

// Cells of even x and y are rooms. Each has a door to the east or to the south, whichever there is,
// which makes a tree of all of them.
TMAP_FN int flood_maze(tmap_u32 x, tmap_u32 y, tmap_u32 width, tmap_u32 height) {
    const tmap_u32 i = x & ~1u, j = y & ~1u; // the room to the west or north
    const int east = i + 2 < width, south = j + 2 < height;
    const int to_east = east && (!south || (flood_hash_cell(i, j, 99) & 1));
    if (x % 2 == 0 && y % 2 == 0) return -1;
    if (x % 2 && y % 2) return 0;
    return x % 2 ? (to_east ? -1 : 0) : (south && !to_east ? -1 : 0);
}

// ---- all of them --------------------------------------------------------------------------------

// The height of column x and row y of a map of width x height cells, within a 16-bit integer.
TMAP_FN int flood_input(int input, tmap_u32 x, tmap_u32 y, tmap_u32 width, tmap_u32 height) {
    switch (input) {
    case FLOOD_TERRAIN: return flood_terrain(x, y, width, height);
    case FLOOD_SERPENTINE_H: return flood_serpentine(x, y, width);
    case FLOOD_SERPENTINE_V: return flood_serpentine(y, x, height);
    case FLOOD_SPIRAL: return flood_spiral(x, y, width, height);
    case FLOOD_NOISE_593: return (flood_hash_cell(x, y, 0) & 0xffff) < 38846 ? -5 : 5;
    case FLOOD_NOISE_650: return (flood_hash_cell(x, y, 0) & 0xffff) < 42598 ? -5 : 5;
    case FLOOD_CHECKERBOARD: return (x ^ y) & 1 ? -1 : 0;
    case FLOOD_WET: return -7;
    case FLOOD_DRY: return 7;
    default: return flood_maze(x, y, width, height);
    }
}

#endif
