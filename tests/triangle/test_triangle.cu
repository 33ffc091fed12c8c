// SPDX-License-Identifier: MIT
// test_triangle: the maps of triangles and of the simplex by exhaustion. On a GPU all 2^32 numbers
// of the 32-bit maps, 10^9 random 64-bit ones, and both ends of every row and layer that 64 bits
// can count; a sample of them on the CPU machine. A cell is right by its defining inequality,
// i(i+1)/2 <= lambda < (i+1)(i+2)/2. Then where the paper's maps first go wrong, and the grids of
// all maps, cell by cell.
#include "kit.h"
#include <threadmap/triangle/condensed.h>
#include <threadmap/triangle/simplex.h>
#include <threadmap/papers/triangle_maps.h>

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

// Of [first, last]: the lambdas that the 32-bit maps get wrong.
static __global__ void check_all32(tmap_u64 first, tmap_u64 last, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    EACH(l, first, last) {
        mine += !right32((tmap_u32)l);
        mine += !right_triple(l, tmap_simplex_map((tmap_u32)l));
    }
    if (mine) atomicAdd(wrong, mine);
}

// Random numbers of 64 - narrow bits.
static __global__ void check_random(tmap_u64 first, tmap_u64 last, tmap_u32 narrow,
                                    tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    EACH(n, first, last) {
        tmap_u64 l = random64(n) >> narrow;
        mine += !right64(l);
        mine += !right_triple(l, tmap_simplex_map64(l));
    }
    if (mine) atomicAdd(wrong, mine);
}

// Rows: the first and the last number, and those beside them.
static __global__ void check_rows(tmap_u64 first, tmap_u64 last, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    EACH(i, first, last) {
        tmap_u64 l = half_product(i), end = l + i;
        mine += !right64(l - (l > 0)) + !right64(l) + !right64(l + 1);
        mine += !right64(end - (end > 0));
        if (end >= l) mine += !right64(end) + !right64(end + (end < NONE));
    }
    if (mine) atomicAdd(wrong, mine);
}

// Layers: the first and the last number, those beside them, and some inside.
static __global__ void check_layers(tmap_u64 first, tmap_u64 last, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    EACH(i, first, last) {
        tmap_u64 l = sixth_product(i), size = half_product(i + 1), end = l + (size - 1);
        mine += !right_triple(l - (l > 0), tmap_simplex_map64(l - (l > 0)));
        mine += !right_triple(l, tmap_simplex_map64(l));
        for (tmap_u64 n = 0; n < 8; ++n) {
            tmap_u64 inside = l + random64(8 * i + n) % size;
            if (inside >= l) mine += !right_triple(inside, tmap_simplex_map64(inside));
        }
        if (end >= l) mine += !right_triple(end, tmap_simplex_map64(end));
    }
    if (mine) atomicAdd(wrong, mine);
}

// Pairs of UTM: both ends of every row of every n. l counts pairs a < n.
static __global__ void check_utm(tmap_u64 first, tmap_u64 last, tmap_u64 *wrong) {
    tmap_u64 mine = 0;
    EACH(l, first, last) {
        tmap_pair64 p = tmap_triangle_map_strict64(l);
        tmap_u32 n = (tmap_u32)p.i + 1, a = (tmap_u32)p.j;
        tmap_u64 begin = tmap_condensed_index(a, a + 1, n), end = tmap_condensed_index(a, n - 1, n);
        tmap_pair u = tmap_triangle_utm_map((tmap_u32)begin, n);
        tmap_pair v = tmap_triangle_utm_map((tmap_u32)end, n);
        tmap_pair c = tmap_condensed_map((tmap_u32)begin, n);
        tmap_pair d = tmap_condensed_map((tmap_u32)end, n);
        mine += u.i != a || u.j != a + 1 || v.i != a || v.j != n - 1;
        mine += c.i != a || c.j != a + 1 || d.i != a || d.j != n - 1;
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
    EACH(l, first, last) {
        tmap_pair64 p = tmap_triangle_map_strict64(l);
        tmap_u32 n = (tmap_u32)p.i + 1, a = (tmap_u32)p.j;
        tmap_u64 begin = tmap_condensed_index(a, a + 1, n), end = tmap_condensed_index(a, n - 1, n);
        tmap_pair u = tmap_triangle_utm_sqrt((tmap_u32)begin, n);
        tmap_pair v = tmap_triangle_utm_sqrt((tmap_u32)end, n);
        if (u.i != a || u.j != a + 1 || v.i != a || v.j != n - 1) mine = n < mine ? n : mine;
    }
    if (mine != NONE) atomicMin(where, mine);
}

// ---- grids: every map marks its cells -----------------------------------------------------------

static __global__ void mark_ltm(tmap_u32 n, int strict, tmap_u32 *cells) {
    tmap_u32 l = blockIdx.x * blockDim.x + threadIdx.x;
    if (l >= (strict ? tmap_triangle_cells_strict(n) : tmap_triangle_cells(n))) return;
    tmap_pair p = strict ? tmap_triangle_map_strict(l) : tmap_triangle_map(l);
    atomicAdd(&cells[p.i * n + p.j], 1u);
}

static __global__ void mark_tiles(tmap_u32 n, tmap_u32 *cells) { // one block a tile, rho = blockDim
    tmap_triangle_tile t = tmap_triangle_tile_map(blockIdx.x, n, blockDim.x);
    if (tmap_triangle_tile_contains(t, threadIdx.x, threadIdx.y))
        atomicAdd(&cells[(t.i + threadIdx.y) * n + t.j + threadIdx.x], 1u);
}

static __global__ void mark_bb(tmap_u32 n, tmap_u32 *cells) {
    if (!tmap_triangle_bb_contains(blockIdx.x, blockIdx.y)) return; // the whole block
    tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n && tmap_triangle_bb_contains(x, y)) atomicAdd(&cells[y * n + x], 1u);
}

static __global__ void mark_rb(tmap_u32 n, tmap_u32 *cells) {
    tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    tmap_xy grid = tmap_triangle_rb_grid(n);
    if (x >= grid.x || y >= grid.y) return;
    tmap_pair p = tmap_triangle_rb_map(x, y, n);
    atomicAdd(&cells[p.i * n + p.j], 1u);
}

static __global__ void mark_rec(tmap_triangle_rec rec, tmap_u32 l, tmap_u32 n, tmap_u32 *cells) {
    tmap_u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    tmap_pair p;
    if (l == rec.k) { // the diagonal pass
        if (x >= rec.m || y >= rec.m || !tmap_triangle_bb_contains(x, y)) return;
        p = tmap_triangle_rec_diagonal(rec, x, y, blockIdx.z);
    } else {
        tmap_u32 side = tmap_triangle_rec_grid(rec, l).x;
        if (x >= side || y >= side) return;
        p = tmap_triangle_rec_map(rec, l, x, y, blockIdx.z);
    }
    atomicAdd(&cells[p.i * n + p.j], 1u);
}

static __global__ void mark_utm(tmap_u32 n, tmap_u32 *cells) { // its cells transposed: j < i
    tmap_u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= tmap_condensed_cells(n)) return;
    tmap_pair p = tmap_triangle_utm_map(k, n);
    atomicAdd(&cells[p.j * n + p.i], 1u);
}

// UTM of blocks of one thread, and its cells transposed.
static __global__ void mark_utm_blocks(tmap_u32 n, tmap_u32 *cells) {
    tmap_pair p = tmap_triangle_utm_blocks(blockIdx.x, n);
    atomicAdd(&cells[p.j * n + p.i], 1u);
}

enum { SIDE_MAX = 96 };
static tmap_u64 *counter;
static tmap_u32 *cells_gpu, cells[SIDE_MAX * SIDE_MAX];

static void expect_marks(tmap_u32 n, int strict, const char *what) {
    tmap_u32 bad = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(cells, cells_gpu, n * n * sizeof *cells, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(cells_gpu, 0, sizeof cells));
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j) bad += cells[i * n + j] != (strict ? j < i : j <= i);
    EXPECT(!bad, "%s: n = %u: %u cells", what, n, bad);
}

static void run_grids(tmap_u32 n) {
    const dim3 block(8, 8);
    const unsigned tiles = (n + 7) / 8, pairs = (unsigned)tmap_triangle_cells(n);
    tmap_xy rb = tmap_triangle_rb_grid(n);
    CHECK(cudaMemset(cells_gpu, 0, sizeof cells));
    mark_ltm<<<(pairs + 63) / 64, 64>>>(n, 0, cells_gpu);
    expect_marks(n, 0, "LTM");
    mark_ltm<<<(pairs + 63) / 64, 64>>>(n, 1, cells_gpu);
    expect_marks(n, 1, "LTM strict");
    for (unsigned rho = 1; rho <= 16; rho += 5) {
        mark_tiles<<<(unsigned)tmap_triangle_tiles(n, rho), dim3(rho, rho)>>>(n, cells_gpu);
        expect_marks(n, 0, "tiles");
    }
    mark_bb<<<dim3(tiles, tiles), block>>>(n, cells_gpu);
    expect_marks(n, 0, "BB");
    mark_rb<<<dim3((rb.x + 7) / 8, (rb.y + 7) / 8), block>>>(n, cells_gpu);
    expect_marks(n, 0, "RB");
    for (tmap_u32 m0 = 0; m0 <= 4; ++m0) {
        tmap_triangle_rec rec = tmap_triangle_rec_make(n, m0);
        unsigned side = (rec.m + 7) / 8;
        mark_rec<<<dim3(side, side, tmap_triangle_rec_triangles(rec)), block>>>(rec, rec.k, n,
                                                                                cells_gpu);
        for (tmap_u32 l = 0; l < rec.k; ++l) {
            tmap_xy grid = tmap_triangle_rec_grid(rec, l);
            side = (grid.x + 7) / 8;
            mark_rec<<<dim3(side, side, grid.y), block>>>(rec, l, n, cells_gpu);
        }
        expect_marks(n, 0, "REC");
    }
    mark_utm<<<(pairs + 63) / 64, 64>>>(n, cells_gpu);
    expect_marks(n, 1, "UTM");
    mark_utm_blocks<<<pairs, 1>>>(n, cells_gpu);
    expect_marks(n, 0, "UTM blocks");
}

// ---- main ---------------------------------------------------------------------------------------

static unsigned grid_blocks;

static void expect_none(const char *what, tmap_u64 count) {
    tmap_u64 n;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&n, counter, sizeof n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(counter, 0, sizeof n));
    printf("%-28s %12llu tried, %llu wrong\n", what, count, n);
    expect(n == 0, what);
}

static void run_exact(void) {
    const tmap_u64 top = 0xffffffffull, rows = TMAP_TRIANGLE_ROWS_MAX64;
    const tmap_u64 few = 1 << 14, layers = TMAP_SIMPLEX_LAYERS_MAX64;
    const tmap_u64 all = kit_full ? top : few, randoms = kit_full ? 1000000000 : few;
    const tmap_u64 edges = kit_full ? rows : few, shells = kit_full ? layers : few;
    const tmap_u64 pairs = kit_full ? tmap_condensed_cells(TMAP_TRIANGLE_ROWS_MAX32 + 1) : few;
    check_all32<<<grid_blocks, 256>>>(0, all, counter);
    expect_none("32-bit numbers", all + 1);
    check_all32<<<grid_blocks, 256>>>(top - few, top, counter);
    expect_none("the last of them", few + 1);
    for (tmap_u32 narrow = 0; narrow < 40; narrow = narrow ? 2 * narrow : 1) {
        char what[40];
        snprintf(what, sizeof what, "random %u-bit numbers", 64 - narrow);
        check_random<<<grid_blocks, 256>>>(1, randoms, narrow, counter);
        expect_none(what, randoms);
    }
    check_rows<<<grid_blocks, 256>>>(0, edges, counter);
    expect_none("rows, both ends", edges + 1);
    for (tmap_u64 last = 1ull << 31; last < 2 * rows; last *= 2) { // 2^31, 2^32, the last of all
        tmap_u64 end = (last < rows ? last + few / 2 : rows);
        check_rows<<<grid_blocks, 256>>>(end - few, end, counter);
        expect_none("rows, the last", few + 1);
    }
    check_layers<<<grid_blocks, 256>>>(0, shells, counter);
    expect_none("layers", shells + 1);
    check_layers<<<grid_blocks, 256>>>(layers - few, layers, counter);
    expect_none("layers, the last", few + 1);
    check_utm<<<grid_blocks, 256>>>(0, pairs - 1, counter);
    expect_none("UTM and condensed, rows", pairs);
}

static void run_paper(void) {
    const tmap_u32 stated[3] = {TMAP_TRIANGLE_ROWS_SQRT, TMAP_TRIANGLE_ROWS_NEWTON,
                                TMAP_TRIANGLE_ROWS_RSQRT};
    tmap_u64 where[PAPER_MAPS], *where_gpu;
    tmap_u64 last = kit_full ? 0xffffffffull : tmap_triangle_cells(300);
    where_gpu = (tmap_u64 *)kit_device(sizeof where);
    CHECK(cudaMemset(where_gpu, 0xff, sizeof where));
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
    CHECK(cudaMalloc((void **)&counter, sizeof *counter));
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    CHECK(cudaMalloc((void **)&cells_gpu, sizeof cells));
    run_exact();
    run_paper();
    for (tmap_u32 n = 1; n <= (kit_full ? SIDE_MAX : 40); ++n) run_grids(n);
    return kit_end("test_triangle");
}
