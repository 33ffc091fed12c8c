// SPDX-License-Identifier: MIT
// Two translation units share one machine: see units_other.cu.
#include "kit.h"

cudaError_t launch_elsewhere(int *p);
const void *kernel_elsewhere(void);

__global__ void here(int *p) { *p += 1; }
static __global__ void twin(int *p) { *p = 1; } // and another one of this name there

int main(void) {
    int *p, v = 0;
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    here<<<1, 1>>>(p);
    CHECK(launch_elsewhere(p));
    here<<<3, 1>>>(p);
    CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    RETURNS(v, 4 + 64 * 63 / 2);
    here<<<1, 2000>>>(p); // the error is seen there
    RETURNS(launch_elsewhere(p), cudaErrorInvalidValue);

    void *arguments[] = {&p};
    CHECK(cudaLaunchKernel(kernel_elsewhere(), dim3(1), dim3(1), arguments, 0, 0));
    CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    RETURNS(v, 2);
    CHECK(cudaLaunchKernel((const void *)twin, dim3(1), dim3(1), arguments, 0, 0));
    CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    RETURNS(v, 1);
    CHECK(cudaFree(p));
    return kit_end("simt units");
}
