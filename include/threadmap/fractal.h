// SPDX-License-Identifier: MIT
// fractal.h: fractals: their maps, and the engine that runs a function of the user's on every cell.
//
// No ready kernel is in it: those have headers of their own, fractal/sw.h, fractal/rd.h,
// fractal/ca.h, fractal/diffusion.h, fractal/ising.h.
#ifndef TMAP_FRACTAL_H
#define TMAP_FRACTAL_H

#include "fractal/catalogue.h"
#include "fractal/compact.h"
#include "fractal/stencil.h"
#include "fractal/each.h"
#include "fractal/fold.h"
#include "fractal/nbb.h"
#include "fractal/philox.h"
#include "fractal/rows.h"
#include "fractal/warp.h"

#endif
