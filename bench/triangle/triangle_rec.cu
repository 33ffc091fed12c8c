// SPDX-License-Identifier: MIT
// triangle_rec.cu: see triangle_rec.h. Compiled with -rdc=true.
#define BENCH_DP_HERE 1
#include "triangle_rec.h"
