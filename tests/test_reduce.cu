// SPDX-License-Identifier: MIT
// test_reduce: the sums of reduce.h over warps and blocks of many shapes, down to one thread:
// integers exactly, floats within their stated error of a sum in double, with and without flushing
// what is below the normal floats to 0, and what NaN, infinities and extreme values must give. And
// accumulators of all sizes over warps, blocks and launches, by fold.h, and one fold after another.
#include "kit.h"

// Lane 1 leaves each barrier late: the other threads run ahead as far as the code lets them.
static __device__ void late_barrier(void) {
    __syncthreads();
    for (int i = 0; i < 30 && threadIdx.x % 32 == 1; ++i) __nanosleep(100);
}
#define __syncthreads() late_barrier()
#include <threadmap/fold.h>
#include <threadmap/reduce.h>

#include <math.h>

enum { MOST = 1024 };
static tmap_u64 state = 1;

// The sums by each function of reduce.h.
enum { SUMS = 6, FLOATS = 4 };
static const char *const sum_names[SUMS] = {"warp_sum_i32_shuffle", "warp_sum_i32_mma",
                                            "warp_sum_i64_mma",     "block_sum_i32_shuffle",
                                            "block_sum_i32_mma",    "block_sum_i64_mma"};
static const char *const float_names[FLOATS] = {"warp_sum_f32_shuffle", "warp_sum_f32_mma",
                                                "block_sum_f32_shuffle", "block_sum_f32_mma"};
typedef struct answer {
    tmap_i64 sums[SUMS];
    float floats[FLOATS];
} answer;

static __global__ void __launch_bounds__(MOST)
    ask(int full, const int *narrow, const tmap_i64 *wide, const float *real, answer *out) {
    __shared__ tmap_i64 scratch[32];
    tmap_warp w = full ? tmap_warp_full() : tmap_warp_self();
    tmap_u32 rank = tmap_thread_rank();
    answer a;
    a.sums[0] = tmap_warp_sum_i32_shuffle(w, narrow[rank]);
    a.sums[1] = tmap_warp_sum_i32_mma(w, narrow[rank]);
    a.sums[2] = tmap_warp_sum_i64_mma(w, wide[rank]);
    a.floats[0] = tmap_warp_sum_f32_shuffle(w, real[rank]);
    a.floats[1] = tmap_warp_sum_f32_mma(w, real[rank]);
    a.sums[3] = tmap_block_sum_i32_shuffle(narrow[rank], scratch);
    __syncthreads();
    a.sums[4] = tmap_block_sum_i32_mma(narrow[rank], scratch);
    __syncthreads();
    a.sums[5] = tmap_block_sum_i64_mma(wide[rank], scratch);
    __syncthreads();
    a.floats[2] = tmap_block_sum_f32_shuffle(real[rank], scratch);
    __syncthreads();
    a.floats[3] = tmap_block_sum_f32_mma(real[rank], scratch);
    out[rank] = a;
}

static int narrow[MOST], *narrow_d;
static tmap_i64 wide[MOST], *wide_d;
static float real[MOST], *real_d;
static answer answers[MOST], *answers_d;

static int flushed; // whether a case counts numbers below the normal ones as 0

static float float_of(unsigned bits) {
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static unsigned bits_of(float v) {
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// Ways to fill a block with values.
enum {
    UNIFORM,     // -1..1
    SPREAD,      // any finite exponent
    NEAR,        // exponents of some 40 binary places
    CANCEL,      // pairs v, -v, and one small value
    SUBNORMAL,   // and the smallest normal numbers
    HUGE_VALUES, // the largest floats, alternating in sign: partial sums must not overflow
    ONE_BIG,     // 2^24 and ones
    ZEROS,
    SPECIAL, // a few NaN and infinities among values
    FILLS
};

static float value_of(int fill, unsigned i, unsigned special) {
    unsigned bits = (unsigned)kit_random(&state), sign = bits & 0x80000000u,
             mantissa = bits & 0x7fffffu;
    unsigned any = (unsigned)(kit_random(&state) >> 5);
    switch (fill) {
    case SPREAD: return float_of(sign | any % 255 << 23 | mantissa);
    case NEAR: return float_of(sign | (100 + any % 40) << 23 | mantissa);
    case CANCEL:
        if (i % 2 == 0) return i % 64 == 62 ? 1e-3f : float_of(sign | 130u << 23 | mantissa);
        return 0; // the caller puts the opposite of its left neighbour here
    case SUBNORMAL: return float_of(sign | any % 3 << 23 | mantissa);
    case HUGE_VALUES: return float_of((i & 1u) << 31 | 0x7f7fffffu);
    case ONE_BIG: return i ? 1.0f : 16777216.0f;
    case ZEROS: return i % 3 ? 0.0f : -0.0f;
    case SPECIAL:
        if (any % 13 == 0 && special & 1u) return INFINITY;
        if (any % 13 == 1 && special & 2u) return -INFINITY;
        if (any % 13 == 2 && special & 4u) return float_of(0x7fc12345u);
        return float_of(sign | 254u << 23 | mantissa); // finite sums overflow
    default: return (float)((double)(int)bits / 2147483648.0);
    }
}

// What n floats add up to, and the sum of their magnitudes, in long double; and whether there are
// infinities and NaN.
typedef struct exact {
    long double sum, magnitude;
    int nan, positive, negative;
} exact;

static exact exact_sum(const float *v, unsigned n) {
    exact e = {0, 0, 0, 0, 0};
    for (unsigned i = 0; i < n; ++i) {
        if (v[i] != v[i])
            e.nan = 1;
        else if (isinf(v[i]))
            *(v[i] > 0 ? &e.positive : &e.negative) = 1;
        else
            e.sum += v[i], e.magnitude += fabsl(v[i]);
    }
    return e;
}

// `relative` of |sum| and `absolute` of the sum of magnitudes; `exact` is 64 bits of it, and its
// own error counts too. A form that may overflow on the way is not asked where it could. below: how
// many numbers below 2^-126 may be 0 where they are flushed.
static int close_to(float got, exact e, double relative, double absolute, int overflows,
                    unsigned below) {
    const long double most = 3.4028235677973366e38L; // half a step above the largest float
    if (e.nan || (e.positive && e.negative)) return got != got;
    if (e.positive || e.negative)
        return (isinf(got) && (got > 0) == e.positive) ||
               (overflows && e.magnitude >= most && got != got);
    if (overflows && e.magnitude >= most * 0.999L) return 1;
    if (fabsl(e.sum) >= most * 1.0000001L) return isinf(got) && (got > 0) == (e.sum > 0);
    if (fabsl(e.sum) >= most * 0.9999999L) return 1; // may round to infinity or not
    if (got != got || isinf(got)) return 0;
    return fabsl((long double)got - e.sum) <=
           (long double)relative * fabsl(e.sum) +
               ((long double)absolute + 1e-16L) * e.magnitude + // 1024 roundings of long double
               (flushed ? below * 0x1p-126L : 0);
}

static void run_case(dim3 block, int full, int fill, unsigned special) {
    const double unit = 1.0 / 16777216.0; // 2^-24
    unsigned threads = block.x * block.y * block.z;
    tmap_i64 total = 0;
    tmap_u64 total_wide = 0;
    exact all;
    for (unsigned i = 0; i < threads; ++i) {
        tmap_u64 any = kit_edge_below(&state, 8);
        narrow[i] = any == 0 ? (int)0x80000000 : any == 7 ? 0x7fffffff : (int)kit_random(&state);
        if (fill == HUGE_VALUES) narrow[i] = (int)0x80000000; // the extreme sums
        if (fill == ONE_BIG) narrow[i] = 0x7fffffff;
        wide[i] = fill == ZEROS ? -1 : (tmap_i64)(kit_random(&state) ^ kit_random(&state) << 20);
        real[i] = value_of(fill, i, special);
        if (fill == CANCEL && i % 2) real[i] = -real[i - 1];
        total += narrow[i];
        total_wide += (tmap_u64)wide[i];
    }
    all = exact_sum(real, threads);
    CHECK(cudaMemcpy(narrow_d, narrow, threads * sizeof *narrow, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(wide_d, wide, threads * sizeof *wide, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(real_d, real, threads * sizeof *real, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(answers_d, 0x5a, sizeof answers));
    kit_flush(flushed);
    ask<<<1, block>>>(full, narrow_d, wide_d, real_d, answers_d);
    kit_flush(0);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(answers, answers_d, threads * sizeof *answers, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < threads; ++i) {
        const answer *a = &answers[i];
        unsigned first = i & ~31u, lanes = threads - first < 32 ? threads - first : 32;
        tmap_i64 sum = 0;
        kit_case("fill %d, %u threads, thread %u", fill, threads, i);
        tmap_u64 sum_wide = 0;
        exact e = exact_sum(real + first, lanes);
        for (unsigned j = 0; j < lanes; ++j)
            sum += narrow[first + j], sum_wide += (tmap_u64)wide[first + j];
        const tmap_i64 whole = i ? 0 : total, whole_wide = i ? 0 : (tmap_i64)total_wide;
        const tmap_i64 want[SUMS] = {sum, sum, (tmap_i64)sum_wide, whole, whole, whole_wide};
        const int close[FLOATS] = {
            close_to(a->floats[0], e, 0, 5.00001 * unit, 1, 2 * lanes),
            close_to(a->floats[1], e, unit, unit / 2, 0, 1),
            i ? a->floats[2] == 0 : close_to(a->floats[2], all, 0, 10.00001 * unit, 1, 2 * threads),
            i ? a->floats[3] == 0 : close_to(a->floats[3], all, unit, unit / 2, 0, 1)};
        for (int k = 0; k < SUMS; ++k) expect(a->sums[k] == want[k], sum_names[k]);
        for (int k = 0; k < FLOATS; ++k) expect(close[k], float_names[k]);
        if (fill == ONE_BIG && lanes == 32 && first == 0)
            expect(a->floats[1] == 16777248.0f, "the example of warp_sum_f32_mma");
    }
}

// The sum by tensor cores does not depend on the order of the lanes of a warp, to the bit, and is
// the same in a partial warp (one that is a whole warp but for zeros).
static void run_order(int fill) {
    static float values[64];
    unsigned bits[3];
    for (unsigned i = 0; i < 64; ++i) values[i] = i < 20 ? value_of(fill, i, 0) : 0;
    for (int turn = 0; turn < 3; ++turn) {
        unsigned threads = turn == 2 ? 20 : 32;
        for (unsigned i = 0; i < 32; ++i)
            real[i] = turn == 1 ? values[(i * 13 + 5) % 32] : values[i];
        CHECK(cudaMemcpy(real_d, real, sizeof real, cudaMemcpyHostToDevice));
        ask<<<1, threads>>>(0, narrow_d, wide_d, real_d, answers_d);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(answers, answers_d, sizeof *answers, cudaMemcpyDeviceToHost));
        bits[turn] = bits_of(answers[0].floats[1]);
        EXPECT(bits[turn] == bits[0] && bits_of(answers[0].floats[3]) == bits[0],
               "order of lanes, fill %d, %u threads", fill, threads);
    }
}

// ---- accumulators of the user's -----------------------------------------------------------------

enum { FOLD_WORDS = TMAP_FOLD_BYTES_MAX / 4, FOLD_BLOCKS = 5 };

// Word k of the accumulator of thread t of the launch.
TMAP_FN tmap_u32 fold_word(tmap_u32 t, tmap_u32 k) { return (t + 1) * 2654435761u + k * t; }

// job: words of an accumulator. The sum of each word.
static __device__ void fold_words(void *job, void *sum, const void *other) {
    for (tmap_u32 k = 0; k < *(const tmap_u32 *)job; ++k)
        ((tmap_u32 *)sum)[k] += ((const tmap_u32 *)other)[k];
}
// out: an accumulator of each warp of block 0, one of block 0, one of the launch.
static __global__ void __launch_bounds__(MOST)
    fold_all(tmap_u32 words, tmap_u32 *blocks, tmap_u32 *out) {
    __shared__ tmap_u32 scratch[32 * FOLD_WORDS];
    const tmap_u32 rank = tmap_thread_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    const tmap_u32 warps = threads / 32;
    tmap_u32 sum[FOLD_WORDS], zero[FOLD_WORDS];
    const tmap_fold fold = {zero, words * 4, fold_words};
    const tmap_fold_to to = {blocks, out + (warps + 1) * FOLD_WORDS};
    for (tmap_u32 of = 0; of < 3; ++of) {
        for (tmap_u32 k = 0; k < FOLD_WORDS; ++k)
            sum[k] = k < words ? fold_word(blockIdx.x * threads + rank, k) : 77, zero[k] = 0;
        if (of == 0) tmap_fold_warp(sum, fold, &words);
        if (of == 1) tmap_fold_block(sum, fold, &words, scratch);
        __syncthreads();
        if (of == 2) tmap_fold_grid(sum, fold, to, &words);
        for (tmap_u32 k = 0; k < FOLD_WORDS && blockIdx.x == 0 && of < 2; ++k)
            if (of ? rank == 0 : rank % 32 == 0)
                out[(of ? warps : rank / 32) * FOLD_WORDS + k] = sum[k];
    }
}

// Two launches, the second one with the counters that the first one has left.
static void run_fold(dim3 block, tmap_u32 words) {
    const tmap_u32 threads = block.x * block.y * block.z, warps = threads / 32;
    const tmap_u64 bytes = (warps + 2) * FOLD_WORDS * 4ull, parts = 16 + FOLD_BLOCKS * words * 4ull;
    tmap_u32 *blocks = (tmap_u32 *)kit_filled(parts, 0xa5);
    CHECK(cudaMemset(blocks, 0, 16));
    for (int launch = 0; launch < 2; ++launch) {
        tmap_u32 *out = (tmap_u32 *)kit_guarded(bytes);
        fold_all<<<FOLD_BLOCKS, block>>>(words, blocks, out);
        CHECK(cudaGetLastError());
        const tmap_u32 *got = (const tmap_u32 *)kit_to_host(out, bytes);
        for (tmap_u32 a = 0; a < warps + 2; ++a) {
            const tmap_u32 first = a < warps ? 32 * a : 0;
            const tmap_u32 count = a < warps ? 32 : a == warps ? threads : FOLD_BLOCKS * threads;
            int right = 1;
            for (tmap_u32 k = 0; k < FOLD_WORDS; ++k) {
                tmap_u32 want = 0;
                for (tmap_u32 t = first; t < first + count; ++t) want += fold_word(t, k);
                if (k >= words) want = a <= warps ? 77 : 0x5a5a5a5a; // is left alone
                right = right && got[a * FOLD_WORDS + k] == want;
            }
            EXPECT(right, "fold of %u words, %u threads, accumulator %u", words, threads, a);
        }
    }
    kit_release(0);
}

// Folds `times` times without a barrier of its own in between: fold k adds thread + k.
static __global__ void __launch_bounds__(256) fold_again(tmap_u32 times, tmap_fold_to to) {
    const tmap_u32 zero = 0, words = 1;
    const tmap_fold fold = {&zero, 4, fold_words};
    for (tmap_u32 k = 0; k < times; ++k) {
        const tmap_fold_to one = {(char *)to.workspace + 64 * k, (tmap_u32 *)to.result + k};
        tmap_u32 sum = blockIdx.x * blockDim.x + threadIdx.x + k;
        tmap_fold_grid(&sum, fold, one, (void *)&words);
    }
}

// The threads of a block that have left a fold do not disturb those that still read its scratch.
static void run_again(tmap_u32 blocks) {
    enum { TIMES = 40 };
    const tmap_u32 threads = 256 * blocks, ramp = threads * (threads - 1) / 2;
    const tmap_fold_to to = {kit_filled(64 * TIMES, 0), kit_guarded(4 * TIMES)};
    tmap_u32 wrong = 0;
    fold_again<<<blocks, 256>>>(TIMES, to);
    CHECK(cudaGetLastError());
    const tmap_u32 *got = (const tmap_u32 *)kit_to_host(to.result, 4 * TIMES);
    for (tmap_u32 k = 0; k < TIMES; ++k) wrong += got[k] != ramp + k * threads;
    EXPECT(!wrong, "folds one after another in a kernel of %u blocks", blocks);
    kit_release(0);
}

// Sums of integers that halves hold: the squares of the lanes, and 2048 in 26 lanes less those of 6.
static __global__ void ask_halves(float *out) {
    const int lane = (int)threadIdx.x, large = lane % 5 == 4 ? -2048 : 2048;
    out[lane] = tmap_warp_sum_f16_mma(tmap_warp_full(), (float)(lane * lane)) +
                tmap_warp_sum_f16_mma(tmap_warp_full(), (float)large);
}

int main(void) {
    const dim3 blocks[] = {dim3(1),     dim3(2),      dim3(31),     dim3(32),    dim3(33),
                           dim3(5, 5),  dim3(9, 9),   dim3(96),     dim3(8, 8),  dim3(3, 5, 7),
                           dim3(16, 8), dim3(27, 27), dim3(32, 32), dim3(27, 8), dim3(1023)};
    kit_begin();
    CHECK(cudaMalloc((void **)&narrow_d, sizeof narrow));
    CHECK(cudaMalloc((void **)&wide_d, sizeof wide));
    CHECK(cudaMalloc((void **)&real_d, sizeof real));
    CHECK(cudaMalloc((void **)&answers_d, sizeof answers));
    CHECK(cudaMemset(narrow_d, 0, sizeof narrow));
    CHECK(cudaMemset(wide_d, 0, sizeof wide));
    for (unsigned b = 0; b < COUNT(blocks); ++b) {
        unsigned threads = blocks[b].x * blocks[b].y * blocks[b].z;
        // The CPU machine makes tensor cores of shuffles: fewer cases there.
        int times = kit_full ? 20 : threads <= 40 ? 4 : 1;
        for (int fill = 0; fill < FILLS; ++fill)
            for (int t = 0; t < times; ++t) {
                run_case(blocks[b], threads % 32 == 0 && t % 2 == 0, fill,
                         fill == SPECIAL ? (unsigned)(t + (int)b) % 8 : 0);
            }
    }
    for (unsigned b = 0; b < COUNT(blocks); ++b) {
        flushed = 1;
        run_case(blocks[b], 0, SUBNORMAL, 0), run_case(blocks[b], 0, SPREAD, 0);
        flushed = 0;
        for (tmap_u32 words = 1; words <= FOLD_WORDS; ++words)
            if (blocks[b].x * blocks[b].y * blocks[b].z % 32 == 0 && check_turn())
                run_fold(blocks[b], words);
    }
    for (tmap_u32 n = 1; n <= 3; ++n) run_again(n);
    for (unsigned special = 0; special < 8; ++special) run_case(dim3(64), 1, SPECIAL, special);
    for (int fill = 0; fill < SPECIAL; ++fill) run_order(fill);
    ask_halves<<<1, 32>>>((float *)narrow_d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(real, narrow_d, 128, cudaMemcpyDeviceToHost));
    for (int lane = 0; lane < 32; ++lane)
        expect(real[lane] == 10416 + 20 * 2048, "a sum of halves");
    return kit_end("test_reduce");
}
