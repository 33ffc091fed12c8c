// SPDX-License-Identifier: MIT
// 28_epistasis.cu: contingency tables of all triples of n variables (tmap_triples_tables_fold). Here
// the variables are places in the genome with 0, 1 or 2 rare alleles, the samples are cases of a
// disease and controls, and the search is for the three places that together tell them apart best.
//
// The score is that of multifactor dimensionality reduction (Ritchie et al. 2001): a cell of the
// table predicts the class that has the larger part of its samples there. The balanced accuracy is
// half the sum over cells of max(cases / all cases, controls / all controls).
// nvcc -O3 -arch=native -I include samples/triangle/28_epistasis.cu -o epistasis
#include "../check.h"

#include <threadmap/triangle.h>

enum { N = 36, PEOPLE = 900, CONTROL = 0, CASE = 1, CELLS = 27 };
enum { FIRST = 30, SECOND = 17, THIRD = 4 }; // the places that matter

typedef struct best { // the accumulator: the best triple so far
    tmap_u32 score;
    tmap_triple triple;
} best;

typedef struct study {
    tmap_triples_samples samples;
    tmap_fold_to to; // the result, and workspace for the engine
} study;

// Twice the balanced accuracy times the numbers of cases and of controls. table: the number of
// samples of class c in a cell is table[2 * cell + c].
TMAP_FN tmap_u32 score_of(const tmap_u32 *table, const tmap_u32 *count) {
    tmap_u32 sum = 0;
    for (int cell = 0; cell < CELLS; ++cell) {
        const tmap_u32 controls = table[2 * cell + CONTROL] * count[CASE];
        const tmap_u32 cases = table[2 * cell + CASE] * count[CONTROL];
        sum += cases > controls ? cases : controls;
    }
    return sum;
}

TMAP_DEVICE void join(void *, void *mine, const void *other) {
    if (((const best *)other)->score > ((best *)mine)->score) *(best *)mine = *(const best *)other;
}

// [snippet: epistasis]
TMAP_DEVICE void look(void *job, void *mine, tmap_triple triple, const tmap_u32 *table) {
    const best here = {score_of(table, ((const study *)job)->samples.count), triple};
    join(NULL, mine, &here);
}

__global__ void __launch_bounds__(TMAP_TRIPLES_TABLES_THREADS, 2)
    search(tmap_triples_plan plan, study s) {
    const best none = {0, {0, 0, 0}}; // less than any triple
    const tmap_fold better = {&none, sizeof none, join};
    tmap_triples_tables_fold(&plan, &s.samples, look, better, s.to, &s);
}
// [/snippet]

// Numbers below 2^16 that look random.
static tmap_u32 hash(tmap_u32 a, tmap_u32 b) {
    tmap_u32 h = (a * 2654435769u ^ b) * 2246822519u;
    h = (h ^ h >> 15) * 3266489917u;
    return h >> 16;
}

// The best score of all triples, counted person by person.
static tmap_u32 best_on_host(const tmap_u32 value[PEOPLE][N], const int *is_case,
                             const tmap_u32 *count) {
    tmap_u32 most = 0;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < i; ++j)
            for (int k = 0; k < j; ++k) {
                tmap_u32 table[2 * CELLS] = {0};
                for (int p = 0; p < PEOPLE; ++p)
                    ++table[2 * (9 * value[p][i] + 3 * value[p][j] + value[p][k]) + is_case[p]];
                most = max(most, score_of(table, count));
            }
    return most;
}

int main(void) {
    static tmap_u32 value[PEOPLE][N];
    static int is_case[PEOPLE];
    check_gpu();

    // People whose three places have an odd sum are cases three times in four, others once in four.
    study s = {{NULL, N, {0, 0}}, {NULL, NULL}};
    for (tmap_u32 p = 0; p < PEOPLE; ++p) {
        for (tmap_u32 i = 0; i < N; ++i) value[p][i] = hash(p, i) % 3;
        const tmap_u32 odd = (value[p][FIRST] + value[p][SECOND] + value[p][THIRD]) % 2;
        is_case[p] = (hash(p, N) % 4 == 0) != odd;
        ++s.samples.count[is_case[p]];
    }

    const tmap_u64 bytes = tmap_triples_tables_words(&s.samples) * sizeof(tmap_u32);
    tmap_u32 *bits = (tmap_u32 *)calloc(1, bytes);
    tmap_u32 number[2] = {0, 0}; // of the next person of each class
    for (int p = 0; p < PEOPLE; ++p) {
        const tmap_u32 c = (tmap_u32)is_case[p], at = number[c]++;
        for (tmap_u32 i = 0; i < N; ++i)
            if (value[p][i] < 2) // a bit for 0 or for 1, and none for 2
                bits[tmap_triples_tables_word(&s.samples, i, c, at, value[p][i])] |= 1u << at % 32;
    }
    CHECK(cudaMalloc((void **)&s.samples.bits, bytes));
    CHECK(cudaMemcpy((void *)s.samples.bits, bits, bytes, cudaMemcpyHostToDevice));

    tmap_triples_plan plan;
    CHECK(tmap_triples_tables_plan_make(N, (const void *)search, &plan)); // once
    CHECK(cudaMalloc(&s.to.workspace, plan.workspace));
    CHECK(cudaMemset(s.to.workspace, 0, plan.workspace)); // once
    CHECK(cudaMalloc(&s.to.result, sizeof(best)));

    best found;
    CHECK(tmap_triples_tables_launch(&plan, &s, 0));
    CHECK(cudaMemcpy(&found, s.to.result, sizeof found, cudaMemcpyDeviceToHost));

    const tmap_u32 *count = s.samples.count;
    printf("%u cases, %u controls, %llu triples\n", count[CASE], count[CONTROL],
           tmap_triples_cells(N));
    printf("%d places of each person, %llu bytes of bits\n", N, bytes);
    printf("hidden: places %d, %d and %d\n", FIRST, SECOND, THIRD);
    printf("best: places %u, %u and %u, balanced accuracy %.3f\n", found.triple.i, found.triple.j,
           found.triple.k, 0.5 * found.score / count[CASE] / count[CONTROL]);
    const int wrong =
        (found.score != best_on_host(value, is_case, count)) +
        (found.triple.i != FIRST || found.triple.j != SECOND || found.triple.k != THIRD);
    free(bits);
    CHECK(cudaFree((void *)s.samples.bits));
    CHECK(cudaFree(s.to.workspace));
    CHECK(cudaFree(s.to.result));
    return check_result("the best triple", wrong);
}
