// SPDX-License-Identifier: MIT
// ask3_dp.cu: see ask3_dp.h. Compiled with -rdc=true.
#define BENCH_DP_HERE 1
#include "ask3_dp.h"
