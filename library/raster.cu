// SPDX-License-Identifier: MIT
// raster.cu: components, spill levels and floods of maps.
#include "base.h"

#include <threadmap/raster/flood.h>
#include <threadmap/raster/label3.h>
#include <threadmap/raster/spill.h>

static_assert(THREADMAP_I16 == TMAP_RASTER_I16 && THREADMAP_I32 == TMAP_RASTER_I32 &&
                  THREADMAP_FLOAT == TMAP_RASTER_F32 && THREADMAP_U8 == TMAP_RASTER_U8 &&
                  THREADMAP_MASK == TMAP_RASTER_MASK && THREADMAP_BITS == TMAP_RASTER_BITS &&
                  THREADMAP_FLOOD_U8 == TMAP_FLOOD_U8 && THREADMAP_FLOOD_BITS == TMAP_FLOOD_BITS &&
                  THREADMAP_FLOOD_DEPTH == TMAP_FLOOD_DEPTH &&
                  THREADMAP_SPILL_BORDER == TMAP_SPILL_BORDER &&
                  THREADMAP_SPILL_NODATA == TMAP_SPILL_NODATA &&
                  sizeof(tmap_flood_seed) == 2 * sizeof(tmap_u64),
              "library.h has the numbers of the headers");

static tmap_raster_map map_of(const threadmap_map *m) {
    const tmap_u64 row = m->type == THREADMAP_BITS ? tmap_flood_words(m->width) : m->width;
    const tmap_raster_map map = {m->width,       m->height,     m->pitch ? m->pitch : row,
                                 m->nodata,      m->has_nodata, m->type,
                                 m->connectivity};
    return map;
}

int threadmap_label(const threadmap_label_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_label_plan plan;
    if (!job) return TMAP_EINVAL;
    const tmap_raster_map map = map_of(&job->map);
    int error = base_error(
        tmap_label_plan_make(&map, job->wide ? TMAP_LABEL_INT64 : TMAP_LABEL_INT32, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    const int some = map.width && map.height;
    error = base_wrong({{job->count, 8, 1},
                        {job->map.cells, tmap_raster_size(map.type), some},
                        {job->labels, job->wide ? 8u : 4u, some}});
    if (error) return error;
    return base_error(tmap_label(&plan, job->map.cells, workspace, job->labels, job->count,
                                 (cudaStream_t)stream));
}

int threadmap_label3(const threadmap_label3_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream) {
    tmap_label3_plan plan;
    if (!job) return TMAP_EINVAL;
    const tmap_u64 row = job->bits ? tmap_flood_words(job->width) : job->width;
    const tmap_u64 pitch = job->pitch ? job->pitch : row;
    const tmap_label3_map map = {job->width,
                                 job->height,
                                 job->depth,
                                 pitch,
                                 job->slice ? job->slice : tmap_mul_saturate(pitch, job->height),
                                 job->bits ? TMAP_LABEL3_BITS : TMAP_LABEL3_BYTES,
                                 job->neighbours};
    int error = base_error(
        tmap_label3_plan_make(&map, job->wide ? TMAP_LABEL_INT64 : TMAP_LABEL_INT32, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    const int some = map.width && map.height && map.depth;
    error = base_wrong({{job->count, 8, map.depth != 0},
                        {job->cells, job->bits ? 4u : 1u, some},
                        {job->labels, job->wide ? 8u : 4u, some}});
    if (error) return error;
    return base_error(
        tmap_label3(&plan, job->cells, workspace, job->labels, job->count, (cudaStream_t)stream));
}

int threadmap_spill(const threadmap_spill_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_spill_plan plan;
    if (!job) return TMAP_EINVAL;
    const tmap_raster_map map = map_of(&job->map);
    int error = base_error(tmap_spill_plan_make(
        &map, job->depth ? TMAP_SPILL_DEPTH : TMAP_SPILL_LEVEL, job->outlets, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    const tmap_u64 size = tmap_raster_size(map.type);
    const int some = map.width && map.height;
    error = base_wrong({{job->map.cells, size, some}, {job->out, job->depth ? 4 : size, some}});
    if (error) return error;
    return base_error(
        tmap_spill(&plan, job->map.cells, job->mask, workspace, job->out, (cudaStream_t)stream));
}

int threadmap_flood(const threadmap_flood_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_flood_plan plan;
    if (!job) return TMAP_EINVAL;
    const tmap_raster_map map = map_of(&job->map);
    int error = base_error(tmap_flood_plan_make(&map, job->form, job->count, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    const int some = map.width && map.height;
    error = base_wrong({{job->map.cells, tmap_raster_size(map.type), some},
                        {job->out, job->form == THREADMAP_FLOOD_U8 ? 1u : 4u, some},
                        {job->seeds, 8, job->count != 0}});
    if (error) return error;
    const tmap_flood_heights heights = {job->map.cells, 0};
    const tmap_flood_sources sources = {(const tmap_flood_seed *)job->seeds, job->count,
                                        job->level};
    return base_error(
        tmap_flood(&plan, heights, sources, workspace, job->out, (cudaStream_t)stream));
}
