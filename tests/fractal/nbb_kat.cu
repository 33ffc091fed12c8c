// SPDX-License-Identifier: MIT
// nbb_kat.cu: the known answers in a kernel, one thread a vector. On the CPU machine and through
// nvcc main below launches it; NVRTC compiles the kernel alone, for kat_nvrtc.c.
#include "fractal/maps.h"

extern "C" __global__ void nbb_kat(const kat_vector *vectors, kat_answer *answers, tmap_u32 n) {
    tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) kat_ask(&vectors[i], &answers[i]);
}

#if !TMAP_NVRTC
#include "fractal/nbb_kat_file.h"

int main(void) {
    kit_begin();
    kat_file file = kat_read();
    const size_t n = file.vector_count;
    const kat_vector *vectors =
        (const kat_vector *)kit_to_device(file.vectors, n * sizeof *file.vectors);
    kat_answer *answers = (kat_answer *)kit_guarded(n * sizeof *answers);
    nbb_kat<<<(unsigned)((n + 127) / 128), 128>>>(vectors, answers, (tmap_u32)n);
    CHECK(cudaGetLastError());
    kat_compare(&file, (const kat_answer *)kit_to_host(answers, n * sizeof *answers));
    return kit_end("nbb_kat");
}
#endif
