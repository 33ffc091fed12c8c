// SPDX-License-Identifier: MIT
// philox_kat.c: the known answers of Philox4x32-10 on the host.
#include "fractal/philox_kat.h"

int main(void) {
    static philox_vector vectors[PHILOX_COUNT];
    static philox_answer answers[PHILOX_COUNT];
    philox_vectors(vectors);
    memset(answers, 0xa5, sizeof answers);
    for (int i = 0; i < PHILOX_COUNT; ++i) philox_ask(&vectors[i], &answers[i]);
    philox_compare(vectors, answers);
    return kit_end("philox_kat");
}
