// SPDX-License-Identifier: MIT
// bench_ltl: a step of a Larger-than-Life automaton of radius r on n x n bytes: a cell's next state
// depends on the count of living cells in the (2r + 1) x (2r + 1) places around it, itself included.
// The library's stencils read the eight neighbours; this is what a small program does for more.
//
//     box    a thread for each cell reads all places
//     sums   sums of columns by additions, four to a word, and of rows by dot products of bytes
//
// In `sums` a thread has four columns of a tile and walks down its rows. A word has the sums of the
// 2r + 1 places above each other in four columns: they are 33 at most, so bytes do not overflow, and
// a row costs an addition and a subtraction. r = 4, cell j of word 0, and the bytes that it adds up:
//
//     word        -1          0           1
//     byte     0 1 2 3     0 1 2 3     0 1 2 3
//     j = 0    + + + +     + + + +     +
//     j = 1      + + +     + + + +     + +
//
// The board has 16 rows and columns of dead places around it, which no step writes.
//
// Source of the problem: Navarro and others, "CAT: Cellular Automata on Tensor Cores", arXiv
// 2406.17284, whose baseline is `box`; the intervals of the rule are those of Evans' Bugs, scaled
// by area. Every variant is verified, place by place, before it is timed.
#include "../driver.h"

enum {
    LTL_MOST = 16,     // the greatest radius; the dead places on each side
    LTL_THREADS = 128, // of a block of sums, with four columns each
    LTL_ROWS = 128     // of its tile
};

// Rows are `words` words apart; column 0 is byte LTL_MOST of row LTL_MOST.
typedef struct ltl_board {
    tmap_u32 n, words;
    tmap_u32 *in, *out;
} ltl_board;

// A count of living cells with which a cell is born, or survives: least, and by how much the most
// exceeds it.
typedef struct ltl_rule {
    tmap_u32 born, born_more, live, live_more;
} ltl_rule;

TMAP_FN tmap_u32 ltl_next(ltl_rule rule, tmap_u32 alive, tmap_u32 count) {
    const tmap_u32 least = alive ? rule.live : rule.born;
    return count - least <= (alive ? rule.live_more : rule.born_more);
}

TMAP_FN tmap_u64 ltl_at(ltl_board b, tmap_u32 x, tmap_u32 y) {
    return (y + LTL_MOST) * 4ull * b.words + x + LTL_MOST;
}

// ---- the kernels --------------------------------------------------------------------------------

static __global__ void __launch_bounds__(256) ltl_box(ltl_board b, int r, ltl_rule rule) {
    const tmap_u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const unsigned char *in = (const unsigned char *)b.in + ltl_at(b, x, y);
    tmap_u32 count = 0;
    if (x >= b.n || y >= b.n) return;
    for (int i = -r; i <= r; ++i)
        for (int j = -r; j <= r; ++j) count += in[i * 4ll * b.words + j];
    ((unsigned char *)b.out)[ltl_at(b, x, y)] = (unsigned char)ltl_next(rule, *in, count);
}

// The bytes of word w that count for cell j of word 0, as a word of ones; r: a constant.
TMAP_FN tmap_u32 ltl_mask(int r, int w, int j) {
    tmap_u32 mask = 0;
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) {
        const int off = 4 * w + byte - j;
        if (off <= r && off >= -r) mask |= 1u << 8 * byte;
    }
    return mask;
}

static __device__ __forceinline__ void ltl_sums(ltl_board b, const int r, ltl_rule rule) {
    __shared__ tmap_u32 sums[2][LTL_THREADS + 8];
    const tmap_u32 first = blockIdx.x * LTL_THREADS, t = threadIdx.x, y0 = blockIdx.y * LTL_ROWS;
    const int q = (r + 3) / 4;
    // The word of sums[..][t], and that of t + LTL_THREADS in the first eight threads.
    const tmap_u32 *in = b.in + (tmap_u64)(y0 + LTL_MOST) * b.words + first + t;
    const int extra = t < 8;
    const tmap_i64 above = -(tmap_i64)r * b.words, below = (tmap_i64)r * b.words;
    const tmap_u32 x = 4 * (first + t), cells = x + 4 <= b.n ? ~0u : (1u << 8 * (b.n & 3)) - 1;
    tmap_u32 column = 0, more = 0;
    for (int i = -r; i < r; ++i) {
        column += in[(tmap_i64)i * b.words];
        if (extra) more += in[(tmap_i64)i * b.words + LTL_THREADS];
    }
    for (tmap_u32 y = y0; y < y0 + LTL_ROWS && y < b.n; ++y, in += b.words) {
        tmap_u32 *row = sums[y & 1]; // the other one may still be read
        tmap_u32 whole = 0, count[4] = {0, 0, 0, 0}, next = 0;
        row[t] = column += in[below];
        if (extra) row[t + LTL_THREADS] = more += in[below + LTL_THREADS];
        __syncthreads();
#pragma unroll
        for (int w = -q; w <= q; ++w) {
            const tmap_u32 word = row[t + 4 + w];
            if (4 * w - 3 >= -r && 4 * w + 3 <= r) {
                whole = __dp4a(word, 0x01010101u, whole);
                continue;
            }
#pragma unroll
            for (int j = 0; j < 4; ++j) count[j] = __dp4a(word, ltl_mask(r, w, j), count[j]);
        }
        const tmap_u32 own = in[4];
#pragma unroll
        for (tmap_u32 j = 0; j < 4; ++j)
            next |= ltl_next(rule, own >> 8 * j & 1, whole + count[j]) << 8 * j;
        if (x < b.n) b.out[(tmap_u64)(y + LTL_MOST) * b.words + first + t + 4] = next & cells;
        column -= in[above];
        if (extra) more -= in[above + LTL_THREADS];
    }
}

#define LTL_RADII(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#define LTL_KERNEL(r) \
    static __global__ void __launch_bounds__(LTL_THREADS) \
        ltl_sums_##r(ltl_board b, int, ltl_rule rule) { \
        ltl_sums(b, r, rule); \
    }
LTL_RADII(LTL_KERNEL)
#undef LTL_KERNEL

// The definition; places that are no cells keep what they have. Counts those that are wrong.
static __global__ void ltl_check(ltl_board b, int r, ltl_rule rule, unsigned char poison,
                                 tmap_u64 *wrong) {
    const tmap_u32 side = b.n + 2 * LTL_MOST;
    tmap_u64 bad = 0;
    BENCH_EACH(at, (tmap_u64)side * side) {
        const tmap_i64 y = (tmap_i64)(at / side) - LTL_MOST, x = (tmap_i64)(at % side) - LTL_MOST;
        const tmap_i64 place = (y + LTL_MOST) * 4 * b.words + x + LTL_MOST;
        tmap_u32 want = poison, count = 0;
        if (y >= 0 && y < b.n && x >= 0 && x < b.n) {
            for (tmap_i64 v = y - r < 0 ? 0 : y - r; v <= y + r && v < b.n; ++v)
                for (tmap_i64 u = x - r < 0 ? 0 : x - r; u <= x + r && u < b.n; ++u)
                    count += ((unsigned char *)b.in)[(v + LTL_MOST) * 4 * b.words + u + LTL_MOST];
            want = ((unsigned char *)b.in)[place]
                       ? count >= rule.live && count <= rule.live + rule.live_more
                       : count >= rule.born && count <= rule.born + rule.born_more;
        } else if (y >= 0 && y < b.n && x < (tmap_i64)(b.n + 3) / 4 * 4) {
            continue; // of the last word of a row, whose places beyond the board may become 0
        }
        bad += ((unsigned char *)b.out)[place] != want;
    }
    if (bad) atomicAdd(wrong, bad);
}

// Cells at random, about 0.4 of them living, in squares of 8 x 8 with different densities.
static __global__ void ltl_fill(ltl_board b) {
    BENCH_EACH(at, (tmap_u64)b.n * b.n) {
        const tmap_u32 y = (tmap_u32)(at / b.n), x = (tmap_u32)(at % b.n);
        tmap_u64 h = at * 0x9e3779b97f4a7c15ull,
                 g = (y / 8 * 65536ull + x / 8) * 0xc4ceb9fe1a85ec53ull;
        h = (h ^ h >> 29) * 0xff51afd7ed558ccdull;
        ((unsigned char *)b.in)[ltl_at(b, x, y)] = (h >> 56) < 50 + (g >> 57);
    }
}

// ---- the sweep ----------------------------------------------------------------------------------

typedef struct sweep {
    bench_driver d;
    bench_numbers n, radius;
    ltl_board board;
    ltl_rule rule;
    int r, sums;
} sweep;

static void run(void *context) {
#define LTL_ENTRY(r) ltl_sums_##r,
    static void (*const kernels[])(ltl_board, int, ltl_rule) = {LTL_RADII(LTL_ENTRY)};
#undef LTL_ENTRY
    const sweep *s = (const sweep *)context;
    const tmap_u32 n = s->board.n, columns = 4 * LTL_THREADS;
    if (s->sums)
        kernels[s->r - 1]<<<dim3((n + columns - 1) / columns, (n + LTL_ROWS - 1) / LTL_ROWS),
                            LTL_THREADS>>>(s->board, s->r, s->rule);
    else
        ltl_box<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(s->board, s->r, s->rule);
    CHECK(cudaGetLastError());
}

static void sweep_one(sweep *s, tmap_u32 n, tmap_u32 r) {
    const tmap_u32 area = (2 * r + 1) * (2 * r + 1), columns = 4 * LTL_THREADS;
    const size_t bytes =
        4ull * ((n + columns - 1) / columns * LTL_THREADS + 8) * (n + 2 * LTL_MOST);
    const ltl_rule rule = {(34 * area + 60) / 121, 11 * area / 121, (34 * area + 60) / 121,
                           24 * area / 121};
    const int poison = 0x5a;
    s->board.n = n, s->board.words = (n + columns - 1) / columns * LTL_THREADS + 8;
    s->r = (int)r, s->rule = rule;
    for (s->sums = 0; s->sums < 2; ++s->sums) {
        bench_row row = bench_row_begin(&s->d, "ltl", s->sums ? "sums" : "box", "board");
        bench_key(&row, "size", "%u", n);
        bench_key(&row, "radius", "%u", r);
        bench_key_text(&row, "dtype", "u8");
        if (!bench_wants(&s->d, &row)) continue;
        s->board.in = (tmap_u32 *)kit_device(bytes), s->board.out = (tmap_u32 *)kit_guarded(bytes);
        CHECK(cudaMemset(s->board.in, 0, bytes));
        CHECK(cudaMemset(s->board.out, poison, bytes));
        ltl_fill<<<1024, 256>>>(s->board);
        run(s);
        ltl_check<<<4096, 256>>>(s->board, s->r, rule, (unsigned char)poison, bench_counter());
        bench_verify(&row, bench_count(), "places");
        row.rate = "gcells", row.unit = "Gcell/s", row.each = 1e-6 * (double)n * n;
        row.limit_ms = 2e-9 * (double)n * n / s->d.ceilings.copy_tbs;
        bench_row_run(&s->d, &row, run, s);
        kit_release(0);
    }
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--n", "sides of the board", "8192,16384", "8192", BENCH_LIST, &s.n, 1, 1 << 16},
        {"--radius", "of the neighbourhood", "1,2,4,8,16", "1,4,16", BENCH_LIST, &s.radius, 1,
         LTL_MOST}};
    s.d.name = "ltl", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "40", s.d.quick_budget = "10", s.d.queued = 1;
    bench_begin(&s.d, argc, argv);
    for (int i = 0; i < s.n.count; ++i)
        for (int k = 0; k < s.radius.count; ++k) sweep_one(&s, s.n.value[i], s.radius.value[k]);
    return bench_end(&s.d);
}
