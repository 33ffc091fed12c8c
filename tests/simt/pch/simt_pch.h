// SPDX-License-Identifier: MIT
// What is compiled once for all programs of the CPU machine; where it cannot be, this is read.
#include "../simt.h"
