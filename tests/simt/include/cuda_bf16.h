// SPDX-License-Identifier: MIT
#include "../simt.h"

#include "../bfloat16.h"
