// SPDX-License-Identifier: MIT
// fractal.cu: cellular automata on fractals, and the Mandelbrot set.
#include "base.h"

#include <threadmap/adaptive/mandelbrot.h>
#include <threadmap/fractal/board_ca.h>
#include <threadmap/fractal/ca.h>
#include <threadmap/fractal/compact_life.h>
#include <threadmap/fractal/compact_move.h>

static_assert(THREADMAP_MANDELBROT_BULBS == TMAP_MANDELBROT_BULBS &&
                  THREADMAP_MANDELBROT_F64 == TMAP_MANDELBROT_F64 &&
                  THREADMAP_PERIODIC_X >> 8 == TMAP_BOARD_PERIODIC_X &&
                  THREADMAP_PERIODIC_Y >> 8 == TMAP_BOARD_PERIODIC_Y,
              "library.h has the numbers of the headers");

static tmap_nbb fractal_of(const threadmap_fractal *f) {
    return tmap_nbb_make(f->k, f->sx, f->sy, f->tau_x, f->tau_y);
}

int threadmap_life(const threadmap_life_job *job, void *workspace, tmap_u64 *bytes, void *stream) {
    tmap_board_ca_plan board;
    tmap_ca_plan matrix;
    tmap_each_plan compact;
    cudaStream_t on = (cudaStream_t)stream;
    if (!job || !job->steps || job->born > 0x1ff || job->survive > 0x1ff) return TMAP_EINVAL;
    const int full = !job->of.k;
    if (job->periodic & 0xff || (full ? job->compact : job->periodic)) return TMAP_EINVAL;
    const tmap_nbb f = fractal_of(&job->of);
    const tmap_u32 r = job->of.r;
    const tmap_board sides = {job->width, job->height, 0, (tmap_u32)job->periodic >> 8};
    int error = base_error(full           ? tmap_board_ca_plan_make(&sides, 1, &board)
                           : job->compact ? tmap_compact_life_plan_make(f, r, &compact)
                                          : tmap_ca_plan_make(f, r, 0, 1, &matrix));
    if (error) return error;
    const tmap_u64 state = full ? job->width * job->height
                           : job->compact
                               ? tmap_compact_words_bytes(f, r)
                               : tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
    if (base_ends(workspace, bytes, job->steps > 1 ? state : 0, &error) || !state) return error;
    const tmap_u64 align = job->compact ? 8 : 1;
    if ((error = base_wrong({{job->in, align, 1}, {job->out, align, 1}})) != TMAP_OK) return error;
    if (job->in == job->out) return TMAP_EINVAL;
    if (!full) error = (int)cudaMemsetAsync(job->out, 0, state, on); // also beside the cells
    if (!full && !error && job->steps > 1) error = (int)cudaMemsetAsync(workspace, 0, state, on);
    const tmap_ca_rule rule = {job->born, job->survive};
    const void *from = job->in;
    for (tmap_u64 left = job->steps; left && !error; --left) { // the last step writes `out`
        void *to = left % 2 ? job->out : workspace;
        error = base_error(full           ? tmap_board_ca(&board, rule, from, to, on)
                           : job->compact ? tmap_compact_life(&compact, rule, from, to, on)
                                          : tmap_ca(&matrix, rule, from, to, on));
        from = to;
    }
    return error;
}

int threadmap_bits(const threadmap_bits_job *job, void *workspace, tmap_u64 *bytes, void *stream) {
    int error = TMAP_OK;
    if (!job) return TMAP_EINVAL;
    const tmap_nbb f = fractal_of(&job->of);
    const tmap_u32 r = job->of.r;
    if (tmap_nbb_check(f) != TMAP_OK) return TMAP_EINVAL;
    if (r > tmap_nbb_linear_level_max64(f)) return TMAP_ERANGE;
    if (base_ends(workspace, bytes, 0, &error)) return error;
    error = base_wrong({{job->bytes, 1, 1}, {job->words, 8, 1}});
    if (error) return error;
    return base_error(
        job->unpack ? tmap_compact_bits_unpack(f, r, job->words, job->bytes, (cudaStream_t)stream)
                    : tmap_compact_bits_pack(f, r, job->bytes, job->words, (cudaStream_t)stream));
}

tmap_u64 threadmap_bits_bytes(const threadmap_fractal *of) {
    const tmap_nbb f = of ? fractal_of(of) : tmap_nbb_make(0, 0, 0, 0, 0);
    return tmap_nbb_check(f) == TMAP_OK ? tmap_compact_words_bytes(f, of->r) : 0;
}

int threadmap_mandelbrot(const threadmap_mandelbrot_job *job, void *workspace, tmap_u64 *bytes,
                         void *stream) {
    const tmap_ask_params chosen = {0, 0, 0};
    tmap_ask_workspace memory;
    tmap_mandelbrot_plan plan;
    int error = TMAP_OK;
    if (!job) return TMAP_EINVAL;
    const tmap_mandelbrot m = {job->nx, job->ny, job->x0,    job->x1,
                               job->y0, job->y1, job->dwell, job->options};
    if (tmap_mandelbrot_check(&m) != TMAP_OK) return TMAP_EINVAL;
    const tmap_u64 need = tmap_mandelbrot_workspace_bytes(&m, chosen, 0);
    if (base_ends(workspace, bytes, need, &error)) return error;
    if ((error = base_wrong({{job->out, 4, 1}})) != TMAP_OK) return error;
    if ((error = tmap_mandelbrot_workspace_set(&m, chosen, 0, {workspace, need}, &memory)))
        return error;
    error = base_error(tmap_mandelbrot_plan_make(&m, &memory, &plan));
    return error ? error
                 : base_error(tmap_mandelbrot_stream(&plan, job->out, (cudaStream_t)stream));
}
