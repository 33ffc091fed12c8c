// SPDX-License-Identifier: MIT
// fractal.h: fractals in two dimensions: their maps, and the engine that calls your device
// functions for every cell. fractal3.h has those in three dimensions.
//
// It has no ready kernels. They are in fractal/sw.h, fractal/rd.h, fractal/ca.h,
// fractal/diffusion.h, fractal/ising.h, fractal/compact_life.h and fractal/compact_move.h.
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
