// SPDX-License-Identifier: MIT
// philox_kat.cu: the known answers of Philox4x32-10 in a kernel, one thread a vector.
#include "fractal/philox_kat.h"

#include <cuda_runtime.h>
#include <stdlib.h>

extern "C" __global__ void philox_kat(const philox_vector *vectors, philox_answer *answers,
                                      tmap_u32 n) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) philox_ask(&vectors[i], &answers[i]);
}

static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

int main(void) {
    static philox_vector vectors[PHILOX_COUNT], *vectors_gpu;
    static philox_answer answers[PHILOX_COUNT], *answers_gpu;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    philox_vectors(vectors);
    must(cudaMalloc((void **)&vectors_gpu, sizeof vectors), "vectors");
    must(cudaMalloc((void **)&answers_gpu, sizeof answers), "answers");
    must(cudaMemcpy(vectors_gpu, vectors, sizeof vectors, cudaMemcpyHostToDevice), "copy");
    must(cudaMemset(answers_gpu, 0xa5, sizeof answers), "poison");
    philox_kat<<<(PHILOX_COUNT + 127) / 128, 128>>>(vectors_gpu, answers_gpu, PHILOX_COUNT);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(answers, answers_gpu, sizeof answers, cudaMemcpyDeviceToHost), "kernel");
    philox_compare(vectors, answers);
    must(cudaFree(vectors_gpu), "free");
    must(cudaFree(answers_gpu), "free");
    return check_result("philox_kat");
}
