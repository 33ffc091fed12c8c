// SPDX-License-Identifier: MIT
// ask_dp.cu: see ask_dp.h. Compiled with -rdc=true.
#define BENCH_DP_HERE 1
#include "ask_dp.h"
