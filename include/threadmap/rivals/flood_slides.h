// SPDX-License-Identifier: MIT
// flood_slides.h: the flood of a map (adaptive/flood_map.h), step by step as the lecture slides
// about it go:
//
//   naive     a thread for each point, until nothing changes (flood_naive.h)
//   line      a line moves through the map in four directions (flood_line.h)
//   tiles     the moving line in tiles; those without newly flooded neighbours are left out
//             (flood_tiles.h)
//   uniform   the same, with special code for tiles wholly above or under the level
//
// Their last step, the construction of regions, is what the library does.
//
// A flood goes on by rounds until one changes nothing, which the host has to look at: it launches
// some rounds ahead, twice as many each time, and then waits for the device. Rounds that are too
// many return at once. So tmap_flood_slides_run is not for a stream that is being captured; its
// parts are, but for tmap_flood_slides_look.
//
// Source: Filipovic, lecture slides "Flood maps, dRMSD computation".
#ifndef TMAP_RIVALS_FLOOD_SLIDES_H
#define TMAP_RIVALS_FLOOD_SLIDES_H

#include "flood_naive.h"
#include "flood_tiles.h"

// The forms.
enum {
    TMAP_FLOOD_SLIDES_NAIVE,
    TMAP_FLOOD_SLIDES_LINE,
    TMAP_FLOOD_SLIDES_TILES,
    TMAP_FLOOD_SLIDES_UNIFORM,
    TMAP_FLOOD_SLIDES_FORMS
};

// The name of a form, "naive", "line", "tiles", "uniform"; "?" for any other number.
TMAP_FN const char *tmap_flood_slides_name(int form) {
    return form == TMAP_FLOOD_SLIDES_NAIVE     ? "naive"
           : form == TMAP_FLOOD_SLIDES_LINE    ? "line"
           : form == TMAP_FLOOD_SLIDES_TILES   ? "tiles"
           : form == TMAP_FLOOD_SLIDES_UNIFORM ? "uniform"
                                               : "?";
}

#if TMAP_CUDA && !TMAP_NVRTC

// A flood that is ready to run. No field is for others to use.
typedef struct tmap_flood_slides {
    tmapi_slides_state state;
    int form;
    unsigned blocks;
} tmap_flood_slides;

static inline int tmapi_slides_valid(const tmap_flood_map *map) {
    return map && map->width >= 1 && map->width < 1ull << 31 && map->height >= 1 &&
           map->height < 1ull << 31 && map->pitch >= map->width && map->pitch < 1ull << 32 &&
           map->type >= TMAP_FLOOD_I16 && map->type <= TMAP_FLOOD_F32 &&
           (map->connectivity == 4 || map->connectivity == 8);
}

// The workspace of a map, in bytes; 0 for one that tmap_flood_slides_make refuses. Some 1.002 for
// each cell of the map's tiles of 128 x 128.
// Example: width = height = 1000: 64 tiles, 1050048.
static inline tmap_u64 tmap_flood_slides_bytes(const tmap_flood_map *map) {
    tmap_u64 tiles;
    if (!tmapi_slides_valid(map)) return 0;
    tiles = ((map->width + 127) / 128) * ((map->height + 127) / 128);
    return tiles * (128 * 128 + 2 * 8 + 4 + 1) / 16 * 16 + 16 + 64;
}

// Makes a flood.
// form: as above. map: width and height 1 to 2^31 - 1, pitch below 2^32. heights, out, workspace:
// in device memory; heights at a multiple of its type, out of width * height bytes, and workspace
// of tmap_flood_slides_bytes(map) bytes at a multiple of 16. level: cells below it are wet.
// Returns cudaErrorInvalidValue where an argument is none of these, or what the device says.
static inline cudaError_t tmap_flood_slides_make(int form, const tmap_flood_map *map,
                                                 const void *heights, double level, void *workspace,
                                                 unsigned char *out, tmap_flood_slides *flood) {
    const tmap_u64 bytes = map && map->type == TMAP_FLOOD_I16 ? 2 : 4;
    tmap_flood_slides f;
    tmapi_slides_state *s = &f.state;
    int device, processors;
    cudaError_t error;
    if (form < 0 || form >= TMAP_FLOOD_SLIDES_FORMS || !tmapi_slides_valid(map) || !heights ||
        (tmap_u64)heights % bytes || !workspace || (tmap_u64)workspace % 16 || !out || !flood)
        return cudaErrorInvalidValue;
    error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    f.form = form, f.blocks = (unsigned)processors * 8;
    s->map = *map, s->test = tmapi_slides_test_make(map, level);
    s->heights = heights, s->out = out;
    s->tiles_x = (map->width + 127) / 128, s->tiles_y = (map->height + 127) / 128;
    s->tiles = s->tiles_x * s->tiles_y, s->pitch = s->tiles_x * TMAPI_SLIDES_WORDS;
    s->counts = (tmap_u64 *)workspace;
    s->queues[0] = s->counts + 8, s->queues[1] = s->queues[0] + s->tiles;
    // Words are at a multiple of 16 bytes: each tile has 16384 of them.
    s->words = (tmap_u32 *)(s->queues[1] + s->tiles);
    s->stamps = s->words + s->tiles * 4096;
    s->kinds = (unsigned char *)(s->stamps + s->tiles);
    s->by_kinds = form == TMAP_FLOOD_SLIDES_UNIFORM;
    s->aligned = (tmap_u64)heights % (4 * bytes) == 0 && map->pitch % 4 == 0;
    *flood = f;
    return cudaSuccess;
}

// Launches the beginning: which cells are wet, and the sources. seeds: seed_count of them in device
// memory; null if there is none. Returns cudaErrorInvalidValue, or what the launches do.
static inline cudaError_t tmap_flood_slides_begin(const tmap_flood_slides *flood,
                                                  const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                                  cudaStream_t stream) {
    const tmapi_slides_state *s;
    void *arguments[3];
    cudaError_t error;
    if (!flood || (seed_count && (!seeds || (tmap_u64)seeds % 8))) return cudaErrorInvalidValue;
    s = &flood->state;
    arguments[0] = (void *)s, arguments[1] = &seeds, arguments[2] = &seed_count;
    error = cudaMemsetAsync(s->counts, 0, 64, stream);
    if (error) return error;
    error = cudaLaunchKernel((const void *)tmapi_slides_begin, dim3(tmapi_slides_blocks(s->tiles)),
                             dim3(256), arguments, 0, stream);
    if (error || !seed_count) return error;
    return cudaLaunchKernel((const void *)tmapi_slides_sources,
                            dim3(tmapi_slides_blocks((seed_count + 255) / 256)), dim3(256),
                            arguments, 0, stream);
}

// Launches rounds number `first` to first + count - 1; the first one of a flood is 0, and each has
// its turn once, up to 2^32 - 2.
static inline cudaError_t tmap_flood_slides_rounds(const tmap_flood_slides *flood, tmap_u32 first,
                                                   tmap_u32 count, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    if (!flood || count > 0xffffffffu - first) return cudaErrorInvalidValue;
    for (tmap_u32 round = first; round < first + count && !error; ++round)
        error = flood->form == TMAP_FLOOD_SLIDES_NAIVE
                    ? tmapi_slides_naive_round(&flood->state, round, stream)
                : flood->form == TMAP_FLOOD_SLIDES_LINE
                    ? tmapi_slides_line_round(&flood->state, round, stream)
                    : tmapi_slides_tiles_round(&flood->state, round, flood->blocks, stream);
    return error;
}

// Waits for the rounds below number `next`, and sets *done to 1 if there is nothing left to do, and
// *rounds, unless it is null, to the number of those that there was something to do in.
static inline cudaError_t tmap_flood_slides_look(const tmap_flood_slides *flood, tmap_u32 next,
                                                 int *done, tmap_u64 *rounds, cudaStream_t stream) {
    tmap_u64 counts[4];
    cudaError_t error;
    if (!flood || !done) return cudaErrorInvalidValue;
    error =
        cudaMemcpyAsync(counts, flood->state.counts, sizeof counts, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    if (error) return error;
    *done = counts[next % 3] == 0;
    if (rounds) *rounds = counts[3];
    return cudaSuccess;
}

// Launches the end, which writes the result: 1 for a flooded cell, 0 for any other.
static inline cudaError_t tmap_flood_slides_end(const tmap_flood_slides *flood,
                                                cudaStream_t stream) {
    void *arguments[1];
    if (!flood) return cudaErrorInvalidValue;
    arguments[0] = (void *)&flood->state;
    return cudaLaunchKernel((const void *)tmapi_slides_end,
                            dim3(tmapi_slides_blocks(flood->state.tiles)), dim3(256), arguments, 0,
                            stream);
}

// All of it. The host waits for the device some log2 of the number of rounds times, later once in
// 256 rounds.
// seeds, seed_count: as above. rounds_max: the most rounds that are launched; when there are no
// more, nothing is written to `out`. rounds: null, or where the number of rounds goes.
// Returns cudaSuccess; cudaErrorNotReady where rounds_max is too few; or as its parts.
// Cost: the heights are read, a byte for each cell is written at the beginning and read at the end;
// and the rounds. naive: each round reads a byte for each cell; a flood takes as many as the
// longest way of the water has cells. line: a round reads four bytes for each cell; as many rounds
// as the way turns, about. tiles: a round is a launch and what its tiles take; as many as tiles are
// on the longest way.
// Example: 3 x 1 cells of heights 1, 1, 5, level 2, a source at (0, 0): 1, 1, 0.
static inline cudaError_t tmap_flood_slides_run(const tmap_flood_slides *flood,
                                                const tmap_flood_seed *seeds, tmap_u64 seed_count,
                                                tmap_u32 rounds_max, tmap_u64 *rounds,
                                                cudaStream_t stream) {
    cudaError_t error = tmap_flood_slides_begin(flood, seeds, seed_count, stream);
    tmap_u32 next = 0, step = 4;
    int done = 0;
    while (!error && !done) {
        if (step > rounds_max - next) step = rounds_max - next;
        error = tmap_flood_slides_rounds(flood, next, step, stream);
        if (error) return error;
        next += step;
        error = tmap_flood_slides_look(flood, next, &done, rounds, stream);
        if (!error && !done && next == rounds_max) return cudaErrorNotReady;
        if (step < 256) step *= 2;
    }
    return error ? error : tmap_flood_slides_end(flood, stream);
}

#endif // TMAP_CUDA && !TMAP_NVRTC
#endif
