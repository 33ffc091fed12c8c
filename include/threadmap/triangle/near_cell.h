// SPDX-License-Identifier: MIT
// near_cell.h: what is known of the distance of two boxes of points in a periodic cell of any shape,
// for the functions of two boxes of near.h. Right-angled cells need no more than tmap_near_periodic.
#ifndef TMAP_TRIANGLE_NEAR_CELL_H
#define TMAP_TRIANGLE_NEAR_CELL_H

#include "image.h"
#include "near_set.h"

#if TMAP_CUDA

// Points within a radius of the nearest image in a cell (image.h). Coordinates 0 to 2 are the
// position; points may lie outside the cell. The function for a pair takes differences that
// tmap_image_f32 or tmap_image_f64 has replaced. Bounds are those of balls around the boxes, so they
// leave more to look at than tmap_near_periodic does.
// Cost: that of tmap_image_f32, and 40 instructions.
// Example: return tmap_near_in_cell(a, b, &job->cell, job->radius);
TMAP_DEVICE int tmap_near_in_cell(const tmap_near_box *a, const tmap_near_box *b,
                                  const tmap_image_cell_f32 *cell, float radius) {
    float d[3], extent = 0, size = 0, centre = 0, least, most;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const float half = 0.5f * (a->high[k] - a->low[k] + (b->high[k] - b->low[k]));
        d[k] = 0.5f * (a->high[k] + a->low[k]) - 0.5f * (b->high[k] + b->low[k]);
        extent = fmaf(half, half, extent);
        size += fabsf(a->high[k]) + fabsf(b->high[k]) + half + fabsf(d[k]);
        for (int i = 0; i < 3; ++i) size += fabsf(cell->vector[i][k]);
    }
    tmap_image_f32(cell, d);
#pragma unroll
    for (int k = 0; k < 3; ++k) centre = fmaf(d[k], d[k], centre);
    // The nearest image of a difference moves no further than the difference.
    centre = sqrtf(centre), extent = sqrtf(extent) + 0x1p-19f * size;
    least = fmaxf(0.0f, centre - extent), most = centre + extent;
    return tmapi_near_say(least * least, most * most, radius * radius, radius * radius);
}

#endif // TMAP_CUDA
#endif
