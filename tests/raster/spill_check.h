// SPDX-License-Identifier: MIT
// spill_check.h: what tests and benchmarks of spill levels compare with: a serial priority flood.
#ifndef TESTS_RASTER_SPILL_CHECK_H
#define TESTS_RASTER_SPILL_CHECK_H

#include "flood_check.h"

#include <threadmap/raster/spill.h>

// A heap of cells, the lowest first.
typedef struct spill_cell {
    double level;
    tmap_u64 at;
} spill_cell;
typedef struct spill_heap {
    spill_cell *cells;
    size_t count;
} spill_heap;

static inline void spill_push(spill_heap *h, double level, tmap_u64 at) {
    size_t i = h->count++;
    for (; i && h->cells[(i - 1) / 2].level > level; i = (i - 1) / 2)
        h->cells[i] = h->cells[(i - 1) / 2];
    h->cells[i].level = level, h->cells[i].at = at;
}
static inline spill_cell spill_pop(spill_heap *h) {
    const spill_cell top = h->cells[0], last = h->cells[--h->count];
    size_t i = 0, k;
    for (; (k = 2 * i + 1) < h->count; i = k) {
        k += k + 1 < h->count && h->cells[k + 1].level < h->cells[k].level;
        if (h->cells[k].level >= last.level) break;
        h->cells[i] = h->cells[k];
    }
    if (h->count) h->cells[i] = last;
    return top;
}

static inline int spill_missing(const tmap_raster_map *map, double height) {
    return height != height || (map->has_nodata && height == map->nodata);
}

// The neighbour k, 0 to 7, of a cell: 1 if the map has it; those over corners are last.
static inline int spill_neighbour(const tmap_raster_map *map, tmap_u64 at, int k, tmap_u64 *x,
                                  tmap_u64 *y) {
    static const int dx[8] = {1, -1, 0, 0, 1, 1, -1, -1}, dy[8] = {0, 0, 1, -1, 1, -1, 1, -1};
    *x = at % map->width + (tmap_u64)dx[k], *y = at / map->width + (tmap_u64)dy[k];
    return k < map->connectivity && *x < map->width && *y < map->height;
}

// 1 for an outlet by the definition of spill.h. mask: null, or bytes.
static inline int spill_outlet(const tmap_raster_map *map, const void *heights,
                               const unsigned char *mask, int outlets, tmap_u64 at) {
    const tmap_u64 w = map->width, x = at % w, y = at / w;
    tmap_u64 i, j;
    if (spill_missing(map, tmap_raster_value(map, heights, x, y))) return 0;
    if (mask && mask[at]) return 1;
    if (outlets & TMAP_SPILL_BORDER && (!x || !y || x == w - 1 || y == map->height - 1)) return 1;
    for (int k = 0; outlets & TMAP_SPILL_NODATA && k < 8; ++k)
        if (spill_neighbour(map, at, k, &i, &j) &&
            spill_missing(map, tmap_raster_value(map, heights, i, j)))
            return 1;
    return 0;
}

// The levels by a priority flood: cells are visited in the order of their levels. levels: a double
// a cell; infinity where no water comes, NaN at NODATA. Needs 25 bytes a cell beside.
static inline void spill_serial(const tmap_raster_map *map, const void *heights,
                                const unsigned char *mask, int outlets, double *levels) {
    const tmap_u64 cells = map->width * map->height;
    spill_heap heap = {(spill_cell *)malloc((size_t)(cells + 1) * sizeof(spill_cell)), 0};
    unsigned char *seen = (unsigned char *)calloc((size_t)cells + 1, 1);
    if (!heap.cells || !seen) fprintf(stderr, "no memory\n"), exit(1);
    for (tmap_u64 i = 0; i < cells; ++i) {
        const double height = tmap_raster_value(map, heights, i % map->width, i / map->width);
        levels[i] = spill_missing(map, height) ? (double)NAN : (double)INFINITY;
        seen[i] = levels[i] != levels[i];
        if (spill_outlet(map, heights, mask, outlets, i))
            seen[i] = 1, levels[i] = height, spill_push(&heap, height, i);
    }
    while (heap.count) {
        const spill_cell c = spill_pop(&heap);
        tmap_u64 x, y;
        for (int k = 0; k < 8; ++k) {
            if (!spill_neighbour(map, c.at, k, &x, &y) || seen[y * map->width + x]) continue;
            const tmap_u64 i = y * map->width + x;
            const double height = tmap_raster_value(map, heights, x, y);
            seen[i] = 1, levels[i] = height > c.level ? height : c.level;
            spill_push(&heap, levels[i], i);
        }
    }
    free(heap.cells), free(seen);
}

#endif
