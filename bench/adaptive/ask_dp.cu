// SPDX-License-Identifier: MIT
// ask_dp.cu: see ask_dp.h. Compiled with -rdc=true.
#include "ask_dp.h"

#include <threadmap/rivals/mandelbrot_dp.h>

cudaError_t ask_dp_run(const tmap_mandelbrot *m, int form, tmap_ask_params a, int *columns,
                       tmap_u64 *lost, int *out) {
    return tmap_mandelbrot_dp_f32(m, form, a, 0, columns, lost, out, 0);
}
