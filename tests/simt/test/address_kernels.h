// SPDX-License-Identifier: MIT
// A kernel of a header, for address.cu.
#ifndef ADDRESS_KERNELS_H
#define ADDRESS_KERNELS_H

static __global__ void of_header(int *p) { *p = 12; }

#endif
