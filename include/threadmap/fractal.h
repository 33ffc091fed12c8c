// SPDX-License-Identifier: MIT
// fractal.h: fractals: their maps, and the engine that calls your device functions for every cell.
//
// It has no ready kernels. They are in fractal/sw.h, fractal/rd.h, fractal/ca.h,
// fractal/diffusion.h, fractal/ising.h, fractal/compact_life.h, fractal/compact_move.h and
// fractal/life3.h.
#ifndef TMAP_FRACTAL_H
#define TMAP_FRACTAL_H

#include "fractal/catalogue.h"
#include "fractal/catalogue3.h"
#include "fractal/compact.h"
#include "fractal/stencil.h"
#include "fractal/stencil3.h"
#include "fractal/each.h"
#include "fractal/each3.h"
#include "fractal/fold.h"
#include "fractal/nbb.h"
#include "fractal/nbb3.h"
#include "fractal/philox.h"
#include "fractal/rows.h"
#include "fractal/turned.h"
#include "fractal/warp.h"

#endif
