// SPDX-License-Identifier: MIT
// philox_kat.cu: the known answers of Philox4x32-10 in a kernel, one thread a vector.
#include "fractal/philox_kat.h"

extern "C" __global__ void philox_kat(const philox_vector *vectors, philox_answer *answers,
                                      tmap_u32 n) {
    const tmap_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) philox_ask(&vectors[i], &answers[i]);
}

int main(void) {
    static philox_vector vectors[PHILOX_COUNT];
    kit_begin();
    philox_vectors(vectors);
    const philox_vector *asked = (const philox_vector *)kit_to_device(vectors, sizeof vectors);
    philox_answer *answers = (philox_answer *)kit_guarded(PHILOX_COUNT * sizeof *answers);
    philox_kat<<<(PHILOX_COUNT + 127) / 128, 128>>>(asked, answers, PHILOX_COUNT);
    CHECK(cudaGetLastError());
    philox_compare(vectors,
                   (const philox_answer *)kit_to_host(answers, PHILOX_COUNT * sizeof *answers));
    return kit_end("philox_kat");
}
