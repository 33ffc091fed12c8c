// SPDX-License-Identifier: MIT
#include "../simt.h"

#include "../half.h"
