// SPDX-License-Identifier: MIT
// triples_tables.h: the engine for contingency tables of all triples i > j > k of n variables with
// the values 0, 1 and 2, over samples of two classes: interactions of three genetic variants in
// cases and controls. Your function receives the 27 x 2 counts of a triple:
//
//     static __device__ void add(void *job, void *best, tmap_triple triple,
//                                const tmap_u32 *table) { // table[(9 a + 3 b + c) * 2 + class]
//         const tmap_u32 score = score_of(table);
//         if (score > ((found *)best)->score) ...
//     }
//     const tmap_fold most = {&none, sizeof none, join};
//     tmap_triples_tables_fold(&plan, &j.samples, add, most, j.to, &j); // in your kernel
//     ... tmap_triples_tables_plan_make(n, (const void *)find, &plan);
//     ... tmap_triples_tables_launch(&plan, &j, stream);
//
// samples/triangle/28_epistasis.cu is the complete program.
//
// A variable has two planes of bits, of the samples with value 0 and with value 1. The counts of
// (a, b, c) with values 0 and 1 are the bits of the AND of three planes. They are a product of
// matrices of bits: a row is the AND of planes of i and j, a column a plane of k, and AND and
// population count take the places of multiplication and addition (mma.sync m16n8k256). The other
// 19 counts follow from those of pairs and of single variables, which a block counts first, in the
// same way, for its three tiles of 16 variables.
#ifndef TMAP_TRIANGLE_TRIPLES_TABLES_H
#define TMAP_TRIANGLE_TRIPLES_TABLES_H

#include "triples.h"

// Variables of a tile, threads of a block, counts of a table.
#define TMAP_TRIPLES_TABLES_SIDE    16u
#define TMAP_TRIPLES_TABLES_THREADS 256u
#define TMAP_TRIPLES_TABLES_COUNTS  54u

// ---- samples ------------------------------------------------------------------------------------

// The values of n variables in two classes of samples, in chunks of 256 samples of one class; those
// of the first class come first. A chunk has 16 words for each variable.
typedef struct tmap_triples_samples {
    const tmap_u32 *bits; // tmap_triples_tables_words words of device memory, at a multiple of 16
    tmap_u32 n;           // variables: the plan's
    tmap_u32 count[2];    // samples of each class, below 2^31
} tmap_triples_samples;

TMAP_FN tmap_u64 tmapi_triples_tables_chunks(tmap_u32 samples) {
    return samples / 256 + (samples % 256 != 0);
}

// Words of `bits`. Example: 1000 variables, 2000 and 2100 samples: 272000.
TMAP_FN tmap_u64 tmap_triples_tables_words(const tmap_triples_samples *samples) {
    return 16ull * samples->n *
           (tmapi_triples_tables_chunks(samples->count[0]) +
            tmapi_triples_tables_chunks(samples->count[1]));
}

// The word of `bits` that holds, as bit sample % 32, whether variable i has this value in a sample.
// of_class: 0 or 1. sample: below count[of_class]. value: 0 or 1; a sample with value 2 has neither
// bit. All other bits are 0.
TMAP_FN tmap_u64 tmap_triples_tables_word(const tmap_triples_samples *samples, tmap_u32 i,
                                          tmap_u32 of_class, tmap_u32 sample, tmap_u32 value) {
    const tmap_u32 word = sample / 32 % 8;
    tmap_u64 chunk = sample / 256;
    if (of_class) chunk += tmapi_triples_tables_chunks(samples->count[0]);
    return ((chunk * samples->n + i) * 4 + word % 4) * 4 + value * 2 + word / 4;
}

// ---- plans --------------------------------------------------------------------------------------

// Makes the plan of tmap_triples_tables_plan_make from facts, without a CUDA call. Errors: as
// tmap_triples_plan_of.
TMAP_FN int tmap_triples_tables_plan_of(tmap_u32 n, const tmap_facts *facts,
                                        tmap_triples_plan *out) {
    tmap_triples_plan p;
    if (!out || !facts || n > TMAP_TRIPLES_N_MAX) return TMAP_EINVAL;
    p.n = n, p.d = p.size = p.shared = 0;
    p.side = TMAP_TRIPLES_TABLES_SIDE, p.block = TMAP_TRIPLES_TABLES_THREADS;
    return tmapi_triples_plan_end(&p, facts, 0, out);
}

#if TMAP_CUDA && !TMAP_NVRTC

// Makes the plan of a kernel that calls tmap_triples_tables_fold, a __global__ function of
// TMAP_TRIPLES_TABLES_THREADS threads. n: variables, 0 to TMAP_TRIPLES_N_MAX. plan.workspace,
// tmap_triples_plan_share and errors: as tmap_triples_plan_make.
static inline cudaError_t tmap_triples_tables_plan_make(tmap_u32 n, const void *kernel,
                                                        tmap_triples_plan *out) {
    tmap_triples_plan p;
    tmap_facts facts;
    cudaError_t error = out ? tmap_facts_get(kernel, &facts) : cudaErrorInvalidValue;
    if (!error) error = tmapi_launch_error(tmap_triples_tables_plan_of(n, &facts, &p));
    if (!error) p.kernel = kernel, *out = p;
    return error;
}

// Launches the plan's kernel, as tmap_triples_launch does.
static inline cudaError_t tmap_triples_tables_launch(const tmap_triples_plan *plan, tmap_job job,
                                                     cudaStream_t stream) {
    return tmapi_triples_launch_as(plan, TMAP_TRIPLES_TABLES_SIDE, job, stream);
}

#endif

#if TMAP_CUDA

// ---- a product of two small matrices of bits by a warp ------------------------------------------

// D += A B of a full warp; A 16 x 256 and B 256 x 8 bits, D 16 x 8 counts of the bits that a row
// and a column have in common. With g = lane / 4 and q = lane % 4, a lane holds
//   a[0] = A[g], word q     a[1] = A[g + 8], word q     a[2], a[3]: the same of word q + 4
//   b[0] = B[g], word q     b[1] = B[g], word q + 4, words down column g
//   d[0], d[1] = D[g][2q], D[g][2q + 1]                 d[2], d[3] = D[g + 8][2q], [2q + 1]
TMAP_DEVICE void tmapi_triples_tables_mma(tmap_u32 *d, const tmap_u32 *a, const tmap_u32 *b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    const int row = (int)(threadIdx.x % 32 & ~3u), column = (int)(threadIdx.x % 4 * 8);
    for (int word = 0; word < 8; ++word) {
        const int from = word % 4, high = word / 4;
        const tmap_u32 r0 = __shfl_sync(0xffffffffu, a[high * 2], row + from);
        const tmap_u32 r1 = __shfl_sync(0xffffffffu, a[high * 2 + 1], row + from);
        const tmap_u32 c0 = __shfl_sync(0xffffffffu, b[high], column + from);
        const tmap_u32 c1 = __shfl_sync(0xffffffffu, b[high], column + 4 + from);
        d[0] += (tmap_u32)__popc(r0 & c0), d[1] += (tmap_u32)__popc(r0 & c1);
        d[2] += (tmap_u32)__popc(r1 & c0), d[3] += (tmap_u32)__popc(r1 & c1);
    }
#endif
}

// ---- counts of pairs and of single variables ----------------------------------------------------

enum { TMAPI_TRIPLES_IJ, TMAPI_TRIPLES_IK, TMAPI_TRIPLES_JK, TMAPI_TRIPLES_KINDS };

// Counts in the block's tiles, by class and values 0 and 1.
typedef struct tmapi_triples_tables {
    tmapi_value_u128 pair[TMAPI_TRIPLES_KINDS][2][TMAP_TRIPLES_TABLES_SIDE]
                         [TMAP_TRIPLES_TABLES_SIDE]; // of (0,0), (0,1), (1,0), (1,1)
    tmap_u32 one[3][2][TMAP_TRIPLES_TABLES_SIDE][2]; // of the tiles I, J, K
} tmapi_triples_tables;

// Bytes from the beginning of a chunk to the words of variable i that a lane reads: words q and
// q + 4 of value 0 and of value 1. Variables that do not exist are read as the last one.
TMAP_DEVICE tmap_u32 tmapi_triples_tables_at(const tmap_triples_samples *samples, tmap_u32 i) {
    return ((i < samples->n ? i : samples->n - 1) * 4 + threadIdx.x % 4) * 16;
}

// The same for the planes of four variables from i on, two words of a column of B.
TMAP_DEVICE tmap_u32 tmapi_triples_tables_column(const tmap_triples_samples *samples, tmap_u32 i) {
    const tmap_u32 g = threadIdx.x % 32 / 4;
    return tmapi_triples_tables_at(samples, i + g / 2) + g % 2 * 8;
}

// Reads four words by one instruction; nvcc reads the members of a struct one by one.
TMAP_DEVICE void tmapi_triples_tables_load(tmap_u32 *to, const unsigned char *from) {
    const uint4 v = __ldg((const uint4 *)from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// The chunks of a class.
TMAP_DEVICE const unsigned char *tmapi_triples_tables_begin(const tmap_triples_samples *samples,
                                                            tmap_u32 of_class) {
    const tmap_u64 before = of_class ? tmapi_triples_tables_chunks(samples->count[0]) : 0;
    return (const unsigned char *)samples->bits + before * samples->n * 64;
}

// Counts the pairs and the values of the tiles I, J, K. A warp takes a kind of pair, or the tile K
// alone, and 8 variables of its first tile. Collective for the block, with a barrier.
TMAP_DEVICE void tmapi_triples_tables_count(const tmap_triples_samples *samples, tmap_triple tile,
                                            tmapi_triples_tables *to) {
    const tmap_u32 lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, side = 16;
    const tmap_u32 kind = threadIdx.x / 64, x = threadIdx.x / 32 % 2 * 8 + g;
    const tmap_u32 row = kind < TMAPI_TRIPLES_JK    ? tile.i
                         : kind == TMAPI_TRIPLES_JK ? tile.j
                                                    : tile.k;
    const tmap_u32 column = kind == TMAPI_TRIPLES_IJ ? tile.j : tile.k;
    const tmap_u32 all[2] = {0xffffffffu, 0xffffffffu};
    const tmap_u32 row_at = tmapi_triples_tables_at(samples, row * side + x);
    tmap_u32 column_at[4];
#pragma unroll
    for (tmap_u32 y = 0; y < 4; ++y)
        column_at[y] = tmapi_triples_tables_column(samples, column * side + 4 * y);
    for (tmap_u32 of_class = 0; of_class < 2; ++of_class) {
        const unsigned char *chunk = tmapi_triples_tables_begin(samples, of_class);
        tmap_u64 chunks = tmapi_triples_tables_chunks(samples->count[of_class]);
        tmap_u32 d[5][4] = {};
        for (; chunks; --chunks, chunk += samples->n * 64ull) {
            tmap_u32 v[4], b[2];
            tmapi_triples_tables_load(v, chunk + row_at);
            const tmap_u32 a[4] = {v[0], v[2], v[1], v[3]};
            tmapi_triples_tables_mma(d[4], a, all);
#pragma unroll
            for (tmap_u32 y = 0; y < 4; ++y) {
                tmapi_value_copy(b, chunk + column_at[y], 8);
                tmapi_triples_tables_mma(d[y], a, b);
            }
        }
        if (kind != TMAPI_TRIPLES_IK && q == 0) {
            tmap_u32 *one = to->one[kind ? kind - 1 : 0][of_class][x];
            one[0] = d[4][0], one[1] = d[4][2];
        }
#pragma unroll
        for (tmap_u32 y = 0; y < 4; ++y)
            if (kind < TMAPI_TRIPLES_KINDS) {
                const tmapi_value_u128 counts = {d[y][0], d[y][1], d[y][2], d[y][3]};
                to->pair[kind][of_class][x][4 * y + q] = counts;
            }
    }
    __syncthreads();
}

// ---- tables -------------------------------------------------------------------------------------

// Fills a table's counts of one class. m: those of values 0 and 1, m[4 a + 2 b + c]. x, y, z: the
// triple's places in its tiles.
TMAP_DEVICE void tmapi_triples_tables_fill(const tmapi_triples_tables *of, tmap_triple at,
                                           tmap_u32 samples, tmap_u32 of_class, const tmap_u32 *m,
                                           tmap_u32 *table) {
    const tmap_u32 *i = of->one[0][of_class][at.i], *j = of->one[1][of_class][at.j];
    const tmap_u32 *k = of->one[2][of_class][at.k];
    tmap_u32 ij[4], ik[4], jk[4], n[27], rest = samples - i[0] - i[1];
    tmapi_value_copy(ij, &of->pair[TMAPI_TRIPLES_IJ][of_class][at.i][at.j], 16);
    tmapi_value_copy(ik, &of->pair[TMAPI_TRIPLES_IK][of_class][at.i][at.k], 16);
    tmapi_value_copy(jk, &of->pair[TMAPI_TRIPLES_JK][of_class][at.j][at.k], 16);
#pragma unroll
    for (tmap_u32 v = 0; v < 8; ++v) n[v / 4 * 9 + v / 2 % 2 * 3 + v % 2] = m[v];
#pragma unroll
    for (tmap_u32 v = 0; v < 4; ++v) { // one of the three values is 2
        const tmap_u32 a = v / 2, b = v % 2;
        n[a * 9 + b * 3 + 2] = ij[v] - m[4 * a + 2 * b] - m[4 * a + 2 * b + 1];
        n[a * 9 + 6 + b] = ik[v] - m[4 * a + b] - m[4 * a + 2 + b];
        n[18 + a * 3 + b] = jk[v] - m[2 * a + b] - m[4 + 2 * a + b];
    }
#pragma unroll
    for (tmap_u32 a = 0; a < 2; ++a) { // two are
        n[a * 9 + 8] = i[a] - ij[2 * a] - ij[2 * a + 1] - n[a * 9 + 6] - n[a * 9 + 7];
        n[18 + a * 3 + 2] = j[a] - ij[a] - ij[2 + a] - n[18 + a * 3] - n[18 + a * 3 + 1];
        n[24 + a] = k[a] - ik[a] - ik[2 + a] - n[18 + a] - n[21 + a];
    }
#pragma unroll
    for (tmap_u32 v = 18; v < 26; ++v) rest -= n[v];
    n[26] = rest;
#pragma unroll
    for (tmap_u32 v = 0; v < 27; ++v) table[2 * v + of_class] = n[v];
}

// Your function for a triple. triple: i > j > k. table: the number of samples of class s with the
// values a of i, b of j and c of k is table[(9 a + 3 b + c) * 2 + s]. It is in registers if your
// function reads it at constants only, in loops that the compiler unrolls.
typedef void (*tmap_triples_tables_add)(void *job, void *accumulator, tmap_triple triple,
                                        const tmap_u32 *table);

// What is constant in a launch.
typedef struct tmapi_triples_tables_call {
    const tmap_triples_samples *samples;
    tmap_triples_tables_add add;
    void *accumulator, *job;
} tmapi_triples_tables_call;

// Visits the triples of variable x of the tile I, 8 of the tile J from y on, and all of the tile K.
// A lane has those of y + lane / 4, and of k = lane % 4 and every fourth. Collective for the warp.
TMAP_DEVICE void tmapi_triples_tables_step(const tmapi_triples_tables_call *p, tmap_triple tile,
                                           const tmapi_triples_tables *of, tmap_u32 x, tmap_u32 y) {
    const tmap_u32 lane = threadIdx.x % 32, side = TMAP_TRIPLES_TABLES_SIDE;
    const tmap_u32 i = tile.i * side + x, j = tile.j * side + y + lane / 4;
    const tmap_u32 i_at = tmapi_triples_tables_at(p->samples, i);
    const tmap_u32 j_at = tmapi_triples_tables_at(p->samples, j);
    tmap_u32 k_at[4], d[2][4][8] = {};
    if (i >= p->samples->n || tile.j * side + y >= i) return; // the same for the warp
#pragma unroll
    for (tmap_u32 z = 0; z < 4; ++z)
        k_at[z] = tmapi_triples_tables_column(p->samples, tile.k * side + 4 * z);
#pragma unroll
    for (tmap_u32 of_class = 0; of_class < 2; ++of_class) {
        const unsigned char *chunk = tmapi_triples_tables_begin(p->samples, of_class);
        tmap_u64 chunks = tmapi_triples_tables_chunks(p->samples->count[of_class]);
        for (; chunks; --chunks, chunk += p->samples->n * 64ull) {
            tmap_u32 u[4], v[4], b[2];
            tmapi_triples_tables_load(u, chunk + i_at);
            tmapi_triples_tables_load(v, chunk + j_at);
            const tmap_u32 zero[4] = {u[0] & v[0], u[0] & v[2], u[1] & v[1], u[1] & v[3]};
            const tmap_u32 one[4] = {u[2] & v[0], u[2] & v[2], u[3] & v[1], u[3] & v[3]};
#pragma unroll
            for (tmap_u32 z = 0; z < 4; ++z) {
                tmapi_value_copy(b, chunk + k_at[z], 8);
                tmapi_triples_tables_mma(d[of_class][z], zero, b);
                tmapi_triples_tables_mma(d[of_class][z] + 4, one, b);
            }
        }
    }
#pragma unroll
    for (tmap_u32 z = 0; z < 4; ++z) {
        const tmap_triple at = {x, y + lane / 4, 4 * z + lane % 4};
        const tmap_triple triple = {i, j, tile.k * side + at.k};
        tmap_u32 table[TMAP_TRIPLES_TABLES_COUNTS];
        if (triple.k >= j || j >= i) continue;
#pragma unroll
        for (tmap_u32 of_class = 0; of_class < 2; ++of_class)
            tmapi_triples_tables_fill(of, at, p->samples->count[of_class], of_class, d[of_class][z],
                                      table);
        p->add(p->job, p->accumulator, triple, table);
    }
}

// Accumulates add(job, accumulator, triple, table) over all triples of the plan's share and writes
// one accumulator to to.result. samples: the same for all threads. fold, to, job, shares and
// exactness: as tmap_triples_fold. An accumulator begins again at fold.zero after at most 16
// triples. All threads of all blocks call it, once in a launch, in blocks of
// TMAP_TRIPLES_TABLES_THREADS threads.
// Errors: none are returned; a program compiled with -DTMAP_CHECK stops if the call does not fit
// the plan.
// Cost: for 16 triples and 256 samples of a class, a product of matrices by a warp; for a triple,
// 58 additions and add. Tensor cores of compute capability 8.0 to 9.0 multiply bits; others take
// some 130 instructions in place of a product.
// Shared memory: 25 KiB.
TMAP_DEVICE void tmap_triples_tables_fold(const tmap_triples_plan *plan,
                                          const tmap_triples_samples *samples,
                                          tmap_triples_tables_add add, tmap_fold fold,
                                          tmap_fold_to to, void *job) {
    __shared__ tmapi_triples_tables tables;
    tmapi_fold_words sum, all;
    tmapi_triples_tables_call p;
    p.samples = samples, p.add = add, p.accumulator = &sum, p.job = job;
    if (!tmapi_pairs_check_plan(plan->side, TMAP_TRIPLES_TABLES_SIDE, "tmap_triples_tables_fold") ||
        !TMAPI_CHECK(plan->n == samples->n, "tmap_triples_tables_fold",
                     "samples.n is not the plan's") ||
        !TMAPI_CHECK(blockDim.x == plan->block, "tmap_triples_tables_fold",
                     "blocks have other threads") ||
        !tmapi_fold_check(fold, "tmap_triples_tables_fold"))
        return;
    for (tmap_u64 part = blockIdx.x; part < plan->parts; part += gridDim.x) {
        tmap_u64 left, item = tmapi_triples_part(plan, part, &left);
        tmapi_fold_move(&all, fold.zero, fold.bytes);
        for (; left; --left, ++item) {
            const tmap_triple tile = tmap_simplex_map64(item);
            tmapi_fold_move(&sum, fold.zero, fold.bytes);
            tmapi_triples_tables_count(samples, tile, &tables);
#pragma unroll 1
            for (tmap_u32 step = 0; step < 4; ++step) // all warps read the same variables j and k
                tmapi_triples_tables_step(&p, tile, &tables, step / 2 * 8 + threadIdx.x / 32,
                                          step % 2 * 8);
            fold.join(job, &all, &sum);
            __syncthreads(); // before the next item's counts arrive
        }
        tmapi_triples_join(plan, part, &all, fold, to, job);
    }
    if (!plan->parts && blockIdx.x == 0 && threadIdx.x == 0)
        tmapi_fold_move(to.result, fold.zero, fold.bytes);
}

#endif // TMAP_CUDA
#endif
