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
        tmap_u64 number = kit_random(&state) >> (64 - h.bits);
        if (i % blockDim.x == threadIdx.x) mine += kat_cell_hash(h.order, number, wide);
    }
    atomicAdd(sum, mine);
}

#if !TMAP_NVRTC
#include "triangle/triangle_kat_file.h"

static tmap_u64 hash_device(kat_hash h, int wide) {
    tmap_u64 sum = 0, *sum_gpu = (tmap_u64 *)kit_to_device(&sum, sizeof sum);
    triangle_hash<<<1, 32>>>(h, wide, sum_gpu);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, sum_gpu, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
}

int main(void) {
    kit_begin();
    kat_file file = kat_read();
    const size_t n = file.vector_count;
    const kat_vector *vectors =
        (const kat_vector *)kit_to_device(file.vectors, n * sizeof *file.vectors);
    kat_answer *answers = (kat_answer *)kit_guarded(n * sizeof *answers);
    tmap_u64 sums[32];
    triangle_kat<<<(unsigned)((n + 127) / 128), 128>>>(vectors, answers, (tmap_u32)n);
    CHECK(cudaGetLastError());
    kat_compare(&file, (const kat_answer *)kit_to_host(answers, n * sizeof *answers));
    for (size_t i = 0; i < file.hash_count; ++i) {
        const kat_hash *h = &file.hashes[i];
        sums[i] = hash_device(*h, 1);
        EXPECT(sums[i] == kat_hash_host(h), "order %u, %u bits", h->order, h->bits);
        if (h->bits <= 32)
            EXPECT(sums[i] == hash_device(*h, 0), "order %u, %u bits", h->order, h->bits);
    }
    kat_compare_hashes(&file, sums);
    return kit_end("triangle_kat");
}
#endif
