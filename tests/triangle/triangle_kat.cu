// SPDX-License-Identifier: MIT
// triangle_kat.cu: the known answers of the triangle and simplex maps in a kernel, one thread a
// vector, and their hashes. On the CPU machine and through nvcc main below launches it; NVRTC
// compiles the kernels alone, for kat_nvrtc.c.
#include "triangle/triangle_kat.h"

extern "C" __global__ void triangle_kat(const kat_vector *vectors, kat_answer *answers,
                                        tmap_u32 n) {
    tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) kat_ask(&vectors[i], &answers[i]);
}

extern "C" __global__ void triangle_hash(kat_hash h, int wide, tmap_u64 *sum) {
    tmap_u64 state = h.bits, mine = 0;
    for (tmap_u32 i = 0; i < h.count; ++i) { // every thread draws all numbers and maps its own
        tmap_u64 number = kat_random(&state, h.bits);
        if (i % blockDim.x == threadIdx.x) mine += kat_cell_hash(h.order, number, wide);
    }
    atomicAdd(sum, mine);
}

#if !TMAP_NVRTC
#include "triangle/triangle_kat_file.h"

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

static tmap_u64 hash_device(kat_hash h, int wide) {
    tmap_u64 *sum_gpu, sum = 0;
    must(cudaMalloc((void **)&sum_gpu, sizeof sum), "sum");
    must(cudaMemcpy(sum_gpu, &sum, sizeof sum, cudaMemcpyHostToDevice), "zero");
    triangle_hash<<<1, 32>>>(h, wide, sum_gpu);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(&sum, sum_gpu, sizeof sum, cudaMemcpyDeviceToHost), "hash");
    must(cudaFree(sum_gpu), "free");
    return sum;
}

int main(void) {
    int devices = 0;
    must(cudaGetDeviceCount(&devices), "device count");
    kat_file file = kat_read();
    size_t n = file.vector_count;
    kat_answer *answers = (kat_answer *)malloc(n * sizeof *answers), *answers_gpu;
    kat_vector *vectors_gpu;
    tmap_u64 sums[32];
    if (!answers) return 2;
    kat_poison(answers, n);
    must(cudaMalloc((void **)&vectors_gpu, n * sizeof *vectors_gpu), "vectors");
    must(cudaMalloc((void **)&answers_gpu, n * sizeof *answers_gpu), "answers");
    must(cudaMemcpy(vectors_gpu, file.vectors, n * sizeof *vectors_gpu, cudaMemcpyHostToDevice),
         "copy");
    must(cudaMemcpy(answers_gpu, answers, n * sizeof *answers, cudaMemcpyHostToDevice), "poison");
    triangle_kat<<<(unsigned)((n + 127) / 128), 128>>>(vectors_gpu, answers_gpu, (tmap_u32)n);
    must(cudaGetLastError(), "launch");
    must(cudaMemcpy(answers, answers_gpu, n * sizeof *answers, cudaMemcpyDeviceToHost), "kernel");
    kat_compare(&file, answers);
    for (size_t i = 0; i < file.hash_count; ++i) {
        const kat_hash *h = &file.hashes[i];
        sums[i] = hash_device(*h, 1);
        CHECK(sums[i] == kat_hash_host(h), "order %u, %u bits", h->order, h->bits);
        if (h->bits <= 32)
            CHECK(sums[i] == hash_device(*h, 0), "order %u, %u bits", h->order, h->bits);
    }
    kat_compare_hashes(&file, sums);
    must(cudaFree(vectors_gpu), "free");
    must(cudaFree(answers_gpu), "free");
    free(answers);
    kat_free(&file);
    return check_result("triangle_kat");
}
#endif
