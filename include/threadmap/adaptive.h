// SPDX-License-Identifier: MIT
// adaptive.h: domains whose regions are found at run time: their maps, and the engine (ASK) that
// subdivides a domain with your functions.
//
// It has no ready kernels: the Mandelbrot set is in adaptive/mandelbrot.h.
#ifndef TMAP_ADAPTIVE_H
#define TMAP_ADAPTIVE_H

#include "adaptive/ask.h"
#include "adaptive/ask_plan.h"
#include "adaptive/olt.h"
#include "adaptive/region.h"

#endif
