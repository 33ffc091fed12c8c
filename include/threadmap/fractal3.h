// SPDX-License-Identifier: MIT
// fractal3.h: fractals in three dimensions, and fractals with turned copies: their maps, and the
// engine that calls your device functions for every cell.
//
// The ready kernel, life by bits, is in fractal/life3.h.
#ifndef TMAP_FRACTAL3_H
#define TMAP_FRACTAL3_H

#include "fractal/catalogue3.h"
#include "fractal/each3.h"
#include "fractal/each3_plan.h"
#include "fractal/nbb3.h"
#include "fractal/stencil3.h"
#include "fractal/turned.h"

#endif
