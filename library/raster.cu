// SPDX-License-Identifier: MIT
// raster.cu: components, spill levels and floods of maps.
#include "base.h"

#include <threadmap/raster/flood.h>
#include <threadmap/raster/label.h>
#include <threadmap/raster/label3.h>
#include <threadmap/raster/label_tools.h>
#include <threadmap/raster/spill.h>

static_assert(THREADMAP_I16 == TMAP_RASTER_I16 && THREADMAP_I32 == TMAP_RASTER_I32 &&
                  THREADMAP_FLOAT == TMAP_RASTER_F32 && THREADMAP_U8 == TMAP_RASTER_U8 &&
                  THREADMAP_MASK == TMAP_RASTER_MASK && THREADMAP_BITS == TMAP_RASTER_BITS &&
                  (int)THREADMAP_LABEL3_BITS == TMAP_LABEL3_BITS &&
                  (int)THREADMAP_LABEL3_F32 == TMAP_LABEL3_F32 &&
                  THREADMAP_PERIODIC_X == TMAP_LABEL3_PERIODIC_X &&
                  THREADMAP_PERIODIC_Z == TMAP_LABEL3_PERIODIC_Z &&
                  sizeof(threadmap_shape) == sizeof(tmap_label_shape) &&
                  sizeof(threadmap_contact) == sizeof(tmap_label_contact) &&
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
    const int form = job->wide ? TMAP_LABEL_INT64 : TMAP_LABEL_INT32;
    const tmap_u64 images = job->batch ? job->images : 1;
    const tmap_u64 slice = job->slice ? job->slice : tmap_mul_saturate(map.pitch, map.height);
    int error =
        base_error(job->batch ? tmap_label_images_plan_make(&map, images, slice, form, &plan)
                              : tmap_label_plan_make(&map, form, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    const int some = map.width && map.height && images;
    error = base_wrong({{job->count, 8, images != 0},
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
    const tmap_u64 row =
        job->kind == THREADMAP_LABEL3_BITS ? tmap_flood_words(job->width) : job->width;
    const tmap_u64 pitch = job->pitch ? job->pitch : row;
    const tmap_label3_map map = {job->width,
                                 job->height,
                                 job->depth,
                                 pitch,
                                 job->slice ? job->slice : tmap_mul_saturate(pitch, job->height),
                                 job->nodata,
                                 job->has_nodata,
                                 job->kind,
                                 job->neighbours};
    int error = base_error(
        tmap_label3_plan_make(&map, job->wide ? TMAP_LABEL_INT64 : TMAP_LABEL_INT32, &plan));
    if (error || base_ends(workspace, bytes, plan.workspace, &error)) return error;
    const int some = map.width && map.height && map.depth;
    error = base_wrong({{job->count, 8, 1},
                        {job->cells, tmap_label3_size(job->kind), some},
                        {job->labels, job->wide ? 8u : 4u, some}});
    if (error) return error;
    return base_error(
        tmap_label3(&plan, job->cells, workspace, job->labels, job->count, (cudaStream_t)stream));
}

// ---- labels -------------------------------------------------------------------------------------

static tmap_label_array labels_array(const threadmap_labels *of) {
    const tmap_label_array array = {of->width, of->height, of->depth,
                                    of->wide ? TMAP_LABEL_INT64 : TMAP_LABEL_INT32,
                                    of->images != 0};
    return array;
}

// The error of labels: of their extents and numbers, before the workspace is asked for.
static int labels_begin(const threadmap_labels *of, tmap_u64 *shapes) {
    const tmap_label_array array = labels_array(of);
    if (!tmapi_label_is_array(&array)) return TMAP_EINVAL;
    *shapes = tmap_mul_saturate(of->components, of->images ? of->depth : 1);
    return *shapes >> 40 ? TMAP_EINVAL : TMAP_OK;
}
static int labels_wrong(const threadmap_labels *of) {
    return base_wrong({{of->labels, of->wide ? 8u : 4u, of->width && of->height && of->depth}});
}

int threadmap_shapes(const threadmap_shapes_job *job, void *workspace, tmap_u64 *bytes,
                     void *stream) {
    tmap_u64 shapes;
    int error = job ? labels_begin(&job->of, &shapes) : TMAP_EINVAL;
    if (error || base_ends(workspace, bytes, 0, &error)) return error;
    const tmap_label_array array = labels_array(&job->of);
    if ((error = labels_wrong(&job->of)) == TMAP_OK)
        error = base_wrong({{job->shapes, 8, shapes != 0}});
    if (error) return error;
    return base_error(tmap_label_measure(&array, job->of.labels, job->of.components,
                                         (tmap_label_shape *)job->shapes, (cudaStream_t)stream));
}

int threadmap_contacts(const threadmap_contacts_job *job, void *workspace, tmap_u64 *bytes,
                       void *stream) {
    tmap_u64 shapes;
    int error = job ? labels_begin(&job->of, &shapes) : TMAP_EINVAL;
    if (!error && (job->of.images || !job->room || job->room >> 32)) error = TMAP_EINVAL;
    if (error || base_ends(workspace, bytes, 0, &error)) return error;
    const tmap_label_array array = labels_array(&job->of);
    if ((error = labels_wrong(&job->of)) == TMAP_OK)
        error = base_wrong({{job->contacts, 8, 1}, {job->count, 8, 1}});
    if (error) return error;
    return base_error(tmap_label_contacts(&array, job->of.labels,
                                          (tmap_label_contact *)job->contacts, job->room,
                                          job->count, (cudaStream_t)stream));
}

// Measures components, and removes or fills. mask: 0: removes.
static int labels_edit(const threadmap_labels *of, tmap_u64 least, unsigned char *mask,
                       tmap_label_shape *shapes, cudaStream_t stream) {
    const tmap_label_array array = labels_array(of);
    int error = labels_wrong(of);
    if (!error)
        error = base_error(tmap_label_measure(&array, of->labels, of->components, shapes, stream));
    if (error) return error;
    return base_error(
        mask ? tmap_label_fill(&array, of->labels, shapes, of->components, mask, stream)
             : tmap_label_dust(&array, of->labels, shapes, of->components, least, stream));
}

int threadmap_dust(const threadmap_dust_job *job, void *workspace, tmap_u64 *bytes, void *stream) {
    tmap_u64 shapes;
    int error = job ? labels_begin(&job->of, &shapes) : TMAP_EINVAL;
    if (error || base_ends(workspace, bytes, shapes * sizeof(tmap_label_shape), &error))
        return error;
    return labels_edit(&job->of, job->least, 0, (tmap_label_shape *)workspace,
                       (cudaStream_t)stream);
}

int threadmap_fill(const threadmap_fill_job *job, void *workspace, tmap_u64 *bytes, void *stream) {
    tmap_u64 shapes;
    int error = job ? labels_begin(&job->of, &shapes) : TMAP_EINVAL;
    if (error || base_ends(workspace, bytes, shapes * sizeof(tmap_label_shape), &error))
        return error;
    if (!job->of.width || !job->of.height || !job->of.depth) return TMAP_OK;
    if (!job->mask) return TMAP_EINVAL;
    return labels_edit(&job->of, 0, job->mask, (tmap_label_shape *)workspace, (cudaStream_t)stream);
}

// ---- water --------------------------------------------------------------------------------------

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
