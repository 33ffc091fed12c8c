// SPDX-License-Identifier: MIT
// nbb_kat.cu: the known answers in a kernel, one thread a vector. On the CPU machine and through
// nvcc main below launches it; NVRTC compiles the kernel alone, for kat_nvrtc.c.
#include "fractal/nbb_kat.h"

extern "C" __global__ void nbb_kat(const kat_vector *vectors, kat_answer *answers, tmap_u32 n) {
    tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) kat_ask(&vectors[i], &answers[i]);
}

#if !TMAP_NVRTC
#include "fractal/nbb_kat_file.h"

#include <cuda_runtime.h>

static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
        printf("SKIP: no GPU (%s)\n", cudaGetErrorString(error));
        exit(77);
    }
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

int main(void) {
    int devices = 0;
    must(cudaGetDeviceCount(&devices), "device count");
    kat_file file = kat_read();
    size_t n = file.vector_count;
    kat_answer *answers = (kat_answer *)malloc(n * sizeof *answers), *answers_gpu;
    kat_vector *vectors_gpu;
    if (!answers) return 2;
    kat_poison(answers, n);
    must(cudaMalloc((void **)&vectors_gpu, n * sizeof *vectors_gpu), "vectors");
    must(cudaMalloc((void **)&answers_gpu, n * sizeof *answers_gpu), "answers");
    must(cudaMemcpy(vectors_gpu, file.vectors, n * sizeof *vectors_gpu, cudaMemcpyHostToDevice),
         "copy");
    must(cudaMemcpy(answers_gpu, answers, n * sizeof *answers, cudaMemcpyHostToDevice), "poison");
    nbb_kat<<<(unsigned)((n + 127) / 128), 128>>>(vectors_gpu, answers_gpu, (tmap_u32)n);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(answers, answers_gpu, n * sizeof *answers, cudaMemcpyDeviceToHost), "kernel");
    kat_compare(&file, answers);
    must(cudaFree(vectors_gpu), "free");
    must(cudaFree(answers_gpu), "free");
    free(answers);
    kat_free(&file);
    return check_result("nbb_kat");
}
#endif
