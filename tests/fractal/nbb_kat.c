// SPDX-License-Identifier: MIT
// nbb_kat.c: the known answers on the host.
#include "fractal/nbb_kat_file.h"

int main(void) {
    kat_file file = kat_read();
    kat_answer *answers = (kat_answer *)kit_host(file.vector_count * sizeof *answers);
    for (size_t i = 0; i < file.vector_count; ++i) kat_ask(&file.vectors[i], &answers[i]);
    kat_compare(&file, answers);
    return kit_end("nbb_kat");
}
