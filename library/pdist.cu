// SPDX-License-Identifier: MIT
// pdist.cu: distances of all pairs.
#include "base.h"

#include <threadmap/triangle/pdist.h>

static_assert((int)THREADMAP_EUCLIDEAN == (int)TMAP_PDIST_EUCLIDEAN &&
                  (int)THREADMAP_CORRELATION == (int)TMAP_PDIST_CORRELATION &&
                  (int)THREADMAP_LOWER == (int)TMAP_PAIRS_LOWER - (int)TMAP_PAIRS_CONDENSED,
              "library.h has the order of pdist.h");

int threadmap_pdist(const threadmap_pdist_job *job, void *workspace, tmap_u64 *bytes,
                    void *stream) {
    int error;
    if (!job || job->type < THREADMAP_F32 || job->type > THREADMAP_F64 ||
        job->layout < THREADMAP_CONDENSED || job->layout > THREADMAP_LOWER)
        return TMAP_EINVAL;
    const int floats = job->type == THREADMAP_F32, products = floats && job->products;
    const int layout = job->layout + TMAP_PAIRS_CONDENSED;
    const tmap_pdist_points points = {job->points, job->n, job->d};
    const tmap_u64 align = floats ? 4 : 8;
    if (base_ends(workspace, bytes, products ? tmap_pdist_workspace(job->n, job->d) : 0, &error))
        return error;
    const int some = tmap_pdist_values(job->n, layout) != 0;
    if ((error = base_wrong({{job->points, align, some}, {job->out, align, some}})) != TMAP_OK)
        return error;
    return base_error(floats ? tmap_pdist_f32_products(points, job->metric, layout,
                                                       products ? workspace : 0, (float *)job->out,
                                                       (cudaStream_t)stream)
                             : tmap_pdist_f64(points, job->metric, layout, (double *)job->out,
                                              (cudaStream_t)stream));
}
