// SPDX-License-Identifier: MIT
// triangle_kat.c: the known answers of the triangle and simplex maps on the host, and the counts
// and tiles that only a host asks for.
#include "triangle/triangle_kat_file.h"

int main(void) {
    kat_file file = kat_read();
    kat_answer *answers = (kat_answer *)kit_host(file.vector_count * sizeof *answers);
    tmap_u64 sums[32];
    for (size_t i = 0; i < file.vector_count; ++i) kat_ask(&file.vectors[i], &answers[i]);
    kat_compare(&file, answers);
    for (size_t i = 0; i < file.hash_count; ++i) sums[i] = kat_hash_host(&file.hashes[i]);
    kat_compare_hashes(&file, sums);
    return kit_end("triangle_kat");
}
