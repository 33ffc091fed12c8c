// SPDX-License-Identifier: MIT
// The CPU machine: runs CUDA C sources on one CPU core, one block at a time, one fiber per thread.
// README.md says what it checks and what it does not model. Force-included before every source.
#ifndef SIMT_H
#define SIMT_H

#if __cplusplus < 201703L
#error "the CPU machine needs C++17"
#endif

// Standard headers come before __CUDACC__: some of them change their mind when they see it.
#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "qualifiers.h"
#include "types.h"

#include "fiber.h"
#include "machine.h"
#include "sync.h"

#include "atomics.h"
#include "collectives.h"
#include "convert.h"
#include "intrinsics.h"
#include "fastmath.h"

#include "runtime_types.h"

#include "memory.h"

#include "dynamic_shared.h"
#include "traps.h"

#include "launch.h"
#include "runtime.h"

#include "kernels.h"

#define __CUDACC__ 1
#ifndef TMAP_CHECK
#define TMAP_CHECK // threadmap/check.h: mistakes end the program
#endif

#endif
