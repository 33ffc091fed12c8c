// SPDX-License-Identifier: MIT
// Two translation units share one machine: see units_other.cu.
#include "check.h"

cudaError_t launch_elsewhere(int *p);
const void *kernel_elsewhere(void);

__global__ void here(int *p) { *p += 1; }
static __global__ void twin(int *p) { *p = 1; } // and another one of this name there

int main(void) {
    int *p, v = 0;
    CHECK_CUDA(cudaMalloc(&p, sizeof *p));
    CHECK_CUDA(cudaMemset(p, 0, sizeof *p));
    here<<<1, 1>>>(p);
    CHECK_CUDA(launch_elsewhere(p));
    here<<<3, 1>>>(p);
    CHECK_CUDA(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    CHECK_EQUAL(v, 4 + 64 * 63 / 2);
    here<<<1, 2000>>>(p); // the error is seen there
    CHECK_EQUAL(launch_elsewhere(p), cudaErrorInvalidValue);

    void *arguments[] = {&p};
    CHECK_CUDA(cudaLaunchKernel(kernel_elsewhere(), dim3(1), dim3(1), arguments, 0, 0));
    CHECK_CUDA(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    CHECK_EQUAL(v, 2);
    CHECK_CUDA(cudaLaunchKernel((const void *)twin, dim3(1), dim3(1), arguments, 0, 0));
    CHECK_CUDA(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
    CHECK_EQUAL(v, 1);
    CHECK_CUDA(cudaFree(p));
    return check_result();
}
