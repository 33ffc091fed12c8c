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

// The error of a map's cells and of the result, which may be null only without cells.
static int map_wrong(tmap_u64 cells, const void *from, tmap_u64 size, const void *out,
                     tmap_u64 align) {
    if (!cells) return TMAP_OK;
    const int error = base_pointer(from, size);
    return error ? error : base_pointer(out, align);
}

int threadmap_label(const threadmap_label_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    tmap_label_plan plan;
    if (!job) return TMAP_EINVAL;
    const tmap_raster_map map = map_of(&job->map);
    int error = base_error(
        tmap_label_plan_make(&map, job->wide ? TMAP_LABEL_INT64 : TMAP_LABEL_INT32, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    if ((error = base_pointer(job->count, 8)) != TMAP_OK) return error;
    error = map_wrong(map.width * map.height, job->map.cells, tmap_raster_size(map.type),
                      job->labels, job->wide ? 8 : 4);
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
    if ((error = base_pointer(job->count, 8)) != TMAP_OK) return error;
    error = map_wrong(tmap_mul_saturate(map.width * map.height, map.depth), job->cells,
                      job->bits ? 4 : 1, job->labels, job->wide ? 8 : 4);
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
    error =
        map_wrong(map.width * map.height, job->map.cells, size, job->out, job->depth ? 4 : size);
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
    error = map_wrong(map.width * map.height, job->map.cells, tmap_raster_size(map.type), job->out,
                      job->form == THREADMAP_FLOOD_U8 ? 1 : 4);
    if (!error && job->count) error = base_pointer(job->seeds, 8);
    if (error) return error;
    const tmap_flood_heights heights = {job->map.cells, 0};
    const tmap_flood_sources sources = {(const tmap_flood_seed *)job->seeds, job->count,
                                        job->level};
    return base_error(
        tmap_flood(&plan, heights, sources, workspace, job->out, (cudaStream_t)stream));
}
