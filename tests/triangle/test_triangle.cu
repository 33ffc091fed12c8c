// SPDX-License-Identifier: MIT
// test_triangle: the maps of triangles and of the simplex by exhaustion. On a GPU all 2^32 numbers
// of the 32-bit maps, 10^9 random 64-bit ones, and both ends of every row and layer that 64 bits
// can count; a sample of them on the CPU machine. A cell is right by its defining inequality,
// i(i+1)/2 <= lambda < (i+1)(i+2)/2. Then where the paper's maps first go wrong, and the grids of
// all maps, cell by cell.
#include "triangle/triangle_forms.h"

#include <threadmap/triangle/condensed.h>
#include <threadmap/triangle/simplex.h>

#define NONE (~0ull)

// Each number from `first` to `last`, both included, by the whole grid. last < 2^63.
#define EACH(l, first, last) \
    for (tmap_u64 l = (first) + blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; l <= (last); \
         l += (tmap_u64)gridDim.x * blockDim.x)

// ---- what right means ---------------------------------------------------------------------------

TMAP_FN tmap_u64 half_product(tmap_u64 n) { // n(n+1)/2, n < 2^33
    return n % 2 ? (n + 1) / 2 * n : n / 2 * (n + 1);
}

TMAP_FN tmap_u64 sixth_product(tmap_u64 n) { // n(n+1)(n+2)/6, n <= 4801278
    tmap_u64 a = half_product(n), b = n + 2;
    return a % 3 ? b / 3 * a : a / 3 * b;
}

TMAP_FN int right(tmap_u64 lambda, tmap_u64 i, tmap_u64 j) {
    tmap_u64 first = i <= TMAP_TRIANGLE_ROWS_MAX64 ? half_product(i) : NONE;
    return first <= lambda && lambda - first <= i && j == lambda - first;
}

TMAP_FN int right32(tmap_u32 lambda) {
    tmap_pair p = tmap_triangle_map(lambda), s = tmap_triangle_map_strict(lambda);
    return right(lambda, p.i, p.j) && right(lambda, s.i - 1ull, s.j) && s.i >= 1 &&
           tmap_triangle_index(p.i, p.j) == lambda &&
           tmap_triangle_index_strict(s.i, s.j) == lambda;
}

TMAP_FN int right64(tmap_u64 lambda) {
    tmap_pair64 p = tmap_triangle_map64(lambda), s = tmap_triangle_map_strict64(lambda);
    return right(lambda, p.i, p.j) && s.i == p.i + 1 && s.j == p.j &&
           tmap_triangle_index(p.i, p.j) == lambda &&
           tmap_triangle_index_strict(s.i, s.j) == lambda;
}

TMAP_FN int right_triple(tmap_u64 lambda, tmap_triple t) {
    tmap_u64 first = t.i <= TMAP_SIMPLEX_LAYERS_MAX64 ? sixth_product(t.i) : NONE;
    return first <= lambda && lambda - first < half_product(t.i + 1ull) &&
           right(lambda - first, t.j, t.k) && t.j <= t.i &&
           tmap_simplex_index(t.i, t.j, t.k) == lambda;
}

TMAP_FN tmap_u64 random64(tmap_u64 i) { // splitmix64
    tmap_u64 h = (i + 1) * 0x9e3779b97f4a7c15ull;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ h >> 27) * 0x94d049bb133111ebull;
    return h ^ h >> 31;
}

// ---- exhaustion ---------------------------------------------------------------------------------

// How many maps are wrong at a number: of the numbers of 32 bits, of random ones of up to 64, of
// rows and of layers, and of the pairs a < n of UTM.
enum { ALL32, RANDOM, ROWS, LAYERS, PAIRS };

TMAP_FN tmap_u64 wrong_triple(tmap_u64 l) { return !right_triple(l, tmap_simplex_map64(l)); }

// Row i: the first and the last number, and those beside them.
TMAP_FN tmap_u64 wrong_row(tmap_u64 i) {
    const tmap_u64 l = half_product(i), end = l + i;
    tmap_u64 wrong = !right64(l - (l > 0)) + !right64(l) + !right64(l + 1);
    wrong += !right64(end - (end > 0));
    if (end >= l) wrong += !right64(end) + !right64(end + (end < NONE));
    return wrong;
}

// Layer i: the first and the last number, the one before it, and some inside.
TMAP_FN tmap_u64 wrong_layer(tmap_u64 i) {
    const tmap_u64 l = sixth_product(i), size = half_product(i + 1), end = l + (size - 1);
    tmap_u64 wrong = wrong_triple(l - (l > 0)) + wrong_triple(l);
    for (tmap_u64 n = 0; n < 8; ++n) {
        const tmap_u64 inside = l + random64(8 * i + n) % size;
        if (inside >= l) wrong += wrong_triple(inside);
    }
    return wrong + (end >= l ? wrong_triple(end) : 0);
}

// Both ends of row a of the pairs of n, which are pair number l of all n. utm: a map of pairs.
typedef tmap_pair (*pair_map)(tmap_u32 k, tmap_u32 n);
TMAP_FN tmap_u64 wrong_pairs(tmap_u64 l, pair_map map, tmap_u32 *of) {
    const tmap_pair64 p = tmap_triangle_map_strict64(l);
    const tmap_u32 n = (tmap_u32)p.i + 1, a = (tmap_u32)p.j;
    const tmap_pair u = map((tmap_u32)tmap_condensed_index(a, a + 1, n), n);
    const tmap_pair v = map((tmap_u32)tmap_condensed_index(a, n - 1, n), n);
    *of = n;
    return u.i != a || u.j != a + 1 || v.i != a || v.j != n - 1;
}

static __global__ void count_wrong(int kind, tmap_u32 narrow, tmap_u64 first, tmap_u64 last,
                                   tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    tmap_u32 n;
    EACH(l, first, last) {
        const tmap_u64 random = random64(l) >> narrow;
        if (kind == ALL32)
            mine += !right32((tmap_u32)l) + !right_triple(l, tmap_simplex_map((tmap_u32)l));
        if (kind == RANDOM) mine += !right64(random) + wrong_triple(random);
        if (kind == ROWS) mine += wrong_row(l);
        if (kind == LAYERS) mine += wrong_layer(l);
        if (kind == PAIRS)
            mine +=
                wrong_pairs(l, tmap_triangle_utm_map, &n) + wrong_pairs(l, tmap_condensed_map, &n);
    }
    if (mine) atomicAdd(wrong, mine);
}

// ---- the paper's maps: the first number that each gets wrong ------------------------------------

enum { PAPER_MAPS = 6 };
static const char *const paper_names[PAPER_MAPS] = {"LTM-X",        "LTM-N",        "LTM-R",
                                                    "LTM-X strict", "LTM-N strict", "LTM-R strict"};

static __global__ void paper_first_wrong(tmap_u64 first, tmap_u64 last, tmap_u64 *where) {
    tmap_u64 mine[PAPER_MAPS] = {NONE, NONE, NONE, NONE, NONE, NONE};
    EACH(l, first, last) {
        tmap_u32 lambda = (tmap_u32)l;
        tmap_pair want = tmap_triangle_map(lambda); // found right above
        tmap_pair p[PAPER_MAPS] = {
            tmap_triangle_map_sqrt(lambda),          tmap_triangle_map_newton(lambda),
            tmap_triangle_map_rsqrt(lambda),         tmap_triangle_map_strict_sqrt(lambda),
            tmap_triangle_map_strict_newton(lambda), tmap_triangle_map_strict_rsqrt(lambda)};
        for (int m = 0; m < PAPER_MAPS; ++m)
            if (l < mine[m] && (p[m].i != want.i + (m >= 3) || p[m].j != want.j)) mine[m] = l;
    }
    for (int m = 0; m < PAPER_MAPS; ++m)
        if (mine[m] != NONE) atomicMin(&where[m], mine[m]);
}

// The smallest n for which UTM as printed is wrong at some end of a row.
static __global__ void utm_first_wrong(tmap_u64 first, tmap_u64 last, tmap_u64 *where) {
    tmap_u64 mine = NONE;
    tmap_u32 n;
    EACH(l, first, last) {
        if (wrong_pairs(l, tmap_triangle_utm_sqrt, &n) && n < mine) mine = n;
    }
    if (mine != NONE) atomicMin(where, mine);
}

// ---- grids: every map marks its cells -----------------------------------------------------------

static __global__ void mark(int form, tmap_u32 n, tmap_u32 more, tmap_u32 *cells) {
    EACH(place, 0, form_places(form, n, more) - 1) {
        tmap_pair cell;
        if (form_at(form, n, more, place, &cell)) atomicAdd(&cells[cell.i * n + cell.j], 1u);
    }
}

enum { SIDE_MAX = 96 };

static void run_grid(int form, tmap_u32 n, tmap_u32 more) {
    tmap_u32 *cells = (tmap_u32 *)kit_filled(n * n * sizeof *cells, 0), bad = 0;
    const tmap_u32 *got;
    if (form_places(form, n, more)) mark<<<3, 64>>>(form, n, more, cells);
    CHECK(cudaGetLastError());
    got = (const tmap_u32 *)kit_to_host(cells, n * n * sizeof *cells);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j) bad += !form_right(form, i, j, got[i * n + j]);
    EXPECT(!bad, "%s: n = %u, %u: %u cells", form_names[form], n, more, bad);
    kit_release(0);
}

static void run_grids(tmap_u32 n) {
    for (int form = 0; form < FORMS; ++form)
        if (form == FORM_TILES)
            for (tmap_u32 rho = 1; rho <= 16; rho += 5) run_grid(form, n, rho);
        else
            for (tmap_u32 m0 = 0; m0 <= (form == FORM_REC ? 4 : 0); ++m0) run_grid(form, n, m0);
}

// ---- main ---------------------------------------------------------------------------------------

static unsigned grid_blocks;

static void expect_none(const char *what, int kind, tmap_u32 narrow, tmap_u64 first,
                        tmap_u64 last) {
    tmap_u64 *wrong = (tmap_u64 *)kit_filled(8, 0), n;
    count_wrong<<<grid_blocks, 256>>>(kind, narrow, first, last, wrong);
    CHECK(cudaGetLastError());
    n = kit_number(wrong);
    printf("%-28s %12llu tried, %llu wrong\n", what, last - first + 1, n);
    expect(n == 0, what);
    kit_release(0);
}

static void run_exact(void) {
    const tmap_u64 top = 0xffffffffull, rows = TMAP_TRIANGLE_ROWS_MAX64;
    const tmap_u64 few = 1 << 14, layers = TMAP_SIMPLEX_LAYERS_MAX64;
    const tmap_u64 pairs = kit_full ? tmap_condensed_cells(TMAP_TRIANGLE_ROWS_MAX32 + 1) : few;
    expect_none("32-bit numbers", ALL32, 0, 0, kit_full ? top : few);
    expect_none("the last of them", ALL32, 0, top - few, top);
    for (tmap_u32 narrow = 0; narrow < 40; narrow = narrow ? 2 * narrow : 1) {
        char what[40];
        snprintf(what, sizeof what, "random %u-bit numbers", 64 - narrow);
        expect_none(what, RANDOM, narrow, 1, kit_full ? 1000000000 : few);
    }
    expect_none("rows, both ends", ROWS, 0, 0, kit_full ? rows : few);
    for (tmap_u64 last = 1ull << 31; last < 2 * rows; last *= 2) { // 2^31, 2^32, the last of all
        const tmap_u64 end = last < rows ? last + few / 2 : rows;
        expect_none("rows, the last", ROWS, 0, end - few, end);
    }
    expect_none("layers", LAYERS, 0, 0, kit_full ? layers : few);
    expect_none("layers, the last", LAYERS, 0, layers - few, layers);
    expect_none("UTM and condensed, rows", PAIRS, 0, 0, pairs - 1);
}

static void run_paper(void) {
    const tmap_u32 stated[3] = {TMAP_TRIANGLE_ROWS_SQRT, TMAP_TRIANGLE_ROWS_NEWTON,
                                TMAP_TRIANGLE_ROWS_RSQRT};
    tmap_u64 where[PAPER_MAPS], *where_gpu = (tmap_u64 *)kit_filled(sizeof where, 0xff);
    tmap_u64 last = kit_full ? 0xffffffffull : tmap_triangle_cells(300);
    paper_first_wrong<<<grid_blocks, 256>>>(0, last, where_gpu);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(where, where_gpu, sizeof where, cudaMemcpyDeviceToHost));
    for (int m = 0; m < PAPER_MAPS; ++m) {
        tmap_u32 strict = m >= 3, rows = tmap_triangle_map((tmap_u32)where[m]).i + strict;
        if (where[m] == NONE) {
            printf("%-14s right up to %llu\n", paper_names[m], last);
            continue;
        }
        printf("%-14s first wrong: %llu, so right for %u rows (stated: %u)\n", paper_names[m],
               where[m], rows, stated[m % 3] + strict);
        expect(rows >= stated[m % 3] + strict, paper_names[m]);
    }
    CHECK(cudaMemset(where_gpu, 0xff, sizeof where));
    last = tmap_condensed_cells(kit_full ? 65536 : 300) - 1;
    utm_first_wrong<<<grid_blocks, 256>>>(0, last, where_gpu);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(where, where_gpu, sizeof where, cudaMemcpyDeviceToHost));
    if (where[0] == NONE)
        printf("UTM as printed right for all n tried\n");
    else
        printf("UTM as printed first wrong: n = %llu (stated: right up to %u)\n", where[0],
               TMAP_TRIANGLE_UTM_SQRT_MAX);
    expect(where[0] > TMAP_TRIANGLE_UTM_SQRT_MAX, "UTM as printed");
    kit_release(0);
}

int main(void) {
    int processors;
    kit_begin();
    // The CPU machine runs some million threads a second; a GPU does all of it in a second.
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    grid_blocks = kit_full ? (unsigned)processors * 8 : 8;
    run_exact();
    run_paper();
    for (tmap_u32 n = 1; n <= (kit_full ? SIDE_MAX : 40); ++n) run_grids(n);
    return kit_end("test_triangle");
}
