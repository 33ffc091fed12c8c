// SPDX-License-Identifier: MIT
#include "../simt.h"
