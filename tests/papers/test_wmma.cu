// SPDX-License-Identifier: MIT
// test_wmma: lambda in half precision (wmma.h) at every level at which it is exact, every variant,
// against the plain map; on a GPU each omega of every level of up to 10^8 cells. One level more has
// the wrong cell that docs/maps/papers.md names, and on a GPU none before it. Then every form of
// tensor.h in whole launches: each cell of the picture by brute force once, and nothing else; and
// what tmap_tensor_box refuses.
#include "map_check.h"
#include <threadmap/papers/tensor.h>

#include <string>

// ---- the functions ------------------------------------------------------------------------------

typedef struct question {
    tmap_u32 wx, wy, r, m;
} question;

typedef struct answer {
    tmap_xy one, own[4], cell[3];
} answer;

enum { MOST = 70 };

// Where a thread says that it stands in its tile of level m.
TMAP_FN tmap_xy place_of(tmap_nbb f, tmap_u32 m, tmap_u32 n, tmap_u32 thread) {
    const tmap_u32 side_x = tmapi_pow32(f.sx, m), side_y = tmapi_pow32(f.sy, m);
    const tmap_xy p = {(thread * 7 + n * 13) % side_x, (thread * 5 + n * 29) % side_y};
    return p;
}

// All variants, each twice with other omega between, so that a missing barrier shows.
static __global__ void __launch_bounds__(MOST) ask(tmap_nbb f, question q, answer *out) {
    __shared__ tmap_wmma_shared tiles;
    __shared__ tmap_wmma3_shared cells;
    answer *a = &out[tmap_thread_rank()];
    a->one = tmap_wmma1_lambda(&tiles, f, q.wx, q.wy, q.r, q.m);
    for (tmap_u32 n = 0; n < 4; ++n) {
        __syncthreads();
        a->own[n] = tmap_wmma2_lambda(&tiles, f, q.wx, q.wy, q.r, q.m, threadIdx.x + n);
    }
    if (tmapi_pow32(f.sx, q.m) <= 32 && tmapi_pow32(f.sy, q.m) <= 32)
        for (tmap_u32 n = 0; n < 3; ++n) {
            const tmap_xy p = place_of(f, q.m, n, threadIdx.x);
            a->cell[n] = tmap_wmma3_lambda(&cells, f, q.wx + n, q.wy, q.r, q.m, p.x, p.y);
            __syncthreads();
        }
}

static answer answers[MOST], *answers_d;

static tmap_xy tile_at(tmap_nbb f, tmap_u32 wx, tmap_u32 wy, tmap_u32 r, tmap_u32 m) {
    tmap_xy c = tmap_nbb_lambda(f, wx, wy, r);
    c.x *= tmapi_pow32(f.sx, m), c.y *= tmapi_pow32(f.sy, m);
    return c;
}

static void run_case(tmap_nbb f, tmap_u32 r, tmap_u32 m, unsigned threads) {
    const tmap_xy64 box = tmap_nbb_orthotope(f, r);
    const question q = {(tmap_u32)map_random_below(box.x), (tmap_u32)map_random_below(box.y), r, m};
    const int cells = tmapi_pow32(f.sx, m) <= 32 && tmapi_pow32(f.sy, m) <= 32;
    CHECK(cudaMemset(answers_d, 0x5a, sizeof answers));
    ask<<<1, threads>>>(f, q, answers_d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(answers, answers_d, sizeof answers, cudaMemcpyDeviceToHost));
    for (unsigned t = 0; t < threads; ++t) {
        const answer *a = &answers[t];
        map_expect(map_same(a->one, tile_at(f, q.wx, q.wy, r, m)), "wmma1", f, r, threads, t);
        for (unsigned n = 0; n < 4; ++n) {
            const unsigned own = (t + n) % 4;
            map_expect(map_same(a->own[n], tile_at(f, q.wx + own % 2, q.wy + own / 2, r, m)),
                       "wmma2", f, r, threads, t);
        }
        for (unsigned n = 0; cells && n < 3; ++n) {
            const tmap_xy p = place_of(f, m, n, t);
            tmap_xy c = tile_at(f, q.wx + n, q.wy, r, m);
            c.x += p.x, c.y += p.y;
            map_expect(map_same(a->cell[n], c), "wmma3", f, r, threads, t);
        }
    }
}

// ---- all omega of a level -----------------------------------------------------------------------

// omega of linear index i: its digits in turn to x and y.
TMAP_FN tmap_xy omega_of(tmap_nbb f, tmap_u64 i) {
    tmap_xy w = {0, 0};
    tmap_u32 power = 1;
    while (i) {
        w.x += (tmap_u32)(i % f.k) * power, i /= f.k;
        w.y += (tmap_u32)(i % f.k) * power, i /= f.k;
        power *= f.k;
    }
    return w;
}

// Counts the wrong tiles of linear indices below `count`, and those looked at; *least: the least
// wrong one. A block of one warp takes each. Variant 3 where a tile has at most 32 a side.
static __global__ void __launch_bounds__(32)
    each_tile(tmap_nbb f, tmap_u32 r, tmap_u32 m, int variant, tmap_u64 count,
              tmap_u64 *wrong_seen_least) {
    __shared__ tmap_wmma_shared tiles;
    __shared__ tmap_wmma3_shared cells;
    tmap_u64 wrong = 0, seen = 0, least = ~0ull;
    for (tmap_u64 i = blockIdx.x; i < count; i += gridDim.x) {
        const tmap_xy w = omega_of(f, i), p = place_of(f, m, (tmap_u32)i, threadIdx.x);
        const tmap_u32 own = threadIdx.x % 4, dx = variant == 2 ? own % 2 : 0,
                       dy = variant == 2 ? own / 2 : 0;
        tmap_xy want = tmap_nbb_lambda(f, w.x + dx, w.y + dy, r), got;
        want.x *= tmapi_pow32(f.sx, m), want.y *= tmapi_pow32(f.sy, m);
        if (variant == 1) got = tmap_wmma1_lambda(&tiles, f, w.x, w.y, r, m);
        if (variant == 2) got = tmap_wmma2_lambda(&tiles, f, w.x, w.y, r, m, own);
        if (variant == 3) {
            got = tmap_wmma3_lambda(&cells, f, w.x, w.y, r, m, p.x, p.y);
            want.x += p.x, want.y += p.y;
        }
        __syncthreads();
        if (__any_sync(0xffffffffu, got.x != want.x || got.y != want.y)) {
            ++wrong;
            if (i < least) least = i;
        }
        ++seen;
    }
    if (threadIdx.x == 0) {
        atomicAdd(&wrong_seen_least[0], wrong);
        atomicAdd(&wrong_seen_least[1], seen);
        atomicMin(&wrong_seen_least[2], least);
    }
}

static tmap_u64 counts[3], *counts_d;

static void count_tiles(tmap_nbb f, tmap_u32 r, tmap_u32 m, int variant, tmap_u64 count) {
    const tmap_u64 zero[3] = {0, 0, ~0ull};
    CHECK(cudaMemcpy(counts_d, zero, sizeof zero, cudaMemcpyHostToDevice));
    each_tile<<<kit_full ? 132 * 32 : 3, 32>>>(f, r, m, variant, count, counts_d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(counts, counts_d, sizeof counts, cudaMemcpyDeviceToHost));
}

static void run_level(tmap_nbb f, tmap_u32 r) {
    const tmap_u64 tiles = tmap_nbb_cells(f, r);
    const tmap_u32 level = tmap_wmma_level_max(f);
    for (int variant = 1; variant <= 3; ++variant)
        for (tmap_u32 m = 0; m <= (variant == 3 && r < level); ++m) {
            count_tiles(f, r, m, variant, tiles);
            map_expect(counts[0] == 0, "a tile of all", f, r, 0, (unsigned)counts[2]);
            map_expect(counts[1] == tiles, "tiles left out", f, r, 0, (unsigned)counts[1]);
        }
}

// ---- one level more -----------------------------------------------------------------------------

// What a fractal of table 1 is exact to, and the first wrong tile, by linear index, of one
// level more: the level of the tiles, or the last of 17 as the one of the cells in a tile.
static const struct {
    const char *name;
    tmap_u32 level, first;
    tmap_xy right, found;
} first_wrong[] = {
    {"gasket", 16, 1, {0, 2}, {0, 0}},          {"carpet", 7, 2097152, {2187, 0}, {2188, 0}},
    {"vicsek", 7, 0, {3280, 0}, {3281, 0}},     {"x", 7, 78125, {4374, 0}, {4376, 0}},
    {"h", 7, 823543, {4374, 0}, {4376, 0}},     {"cantor", 7, 128, {4374, 0}, {4376, 0}},
    {"chandelier", 7, 0, {3280, 0}, {3281, 0}}, {"candy", 8, 1, {3, 0}, {0, 0}},
    {"bottles", 7, 0, {3280, 0}, {3281, 0}},
};

static std::string text_of(const char *path) {
    const char *root = getenv("TMAP_ROOT");
    FILE *file = fopen(((root ? root : ".") + std::string("/") + path).c_str(), "r");
    std::string text;
    if (!file) return text;
    for (int c; (c = fgetc(file)) != EOF;) text += (char)c;
    fclose(file);
    return text;
}

static void run_first_wrong(void) {
    const std::string text = text_of("docs/maps/papers.md");
    for (int i = 0; i < (int)COUNT(first_wrong); ++i) {
        const tmap_nbb f = tmap_fractal_at(i);
        const tmap_u32 level = first_wrong[i].level + 1, r = level < 16 ? level : 16, m = level - r;
        const tmap_xy w = omega_of(f, first_wrong[i].first);
        const question q = {w.x, w.y, r, m};
        char line[200];
        map_expect(tmap_wmma_level_max(f) == first_wrong[i].level, "level", f, level, 0, 0);
        map_expect(map_same(tile_at(f, w.x, w.y, r, m), first_wrong[i].right), "right", f, level, 0,
                   0);
        ask<<<1, 32>>>(f, q, answers_d);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(answers, answers_d, sizeof answers, cudaMemcpyDeviceToHost));
        for (unsigned t = 0; t < 32; ++t) {
            const tmap_xy p = place_of(f, m, 0, t);
            tmap_xy own = answers[t].own[(4 - t % 4) % 4], cell = first_wrong[i].found;
            if (m == 0) cell.x += p.x, cell.y += p.y; // else an infinite power, and no place left
            map_expect(map_same(answers[t].one, first_wrong[i].found), "wrong 1", f, level, 32, t);
            map_expect(map_same(own, first_wrong[i].found), "wrong 2", f, level, 32, t);
            map_expect(map_same(answers[t].cell[0], cell), "wrong 3", f, level, 32, t);
        }
        if (kit_full) { // none before it
            count_tiles(f, r, m, 1, first_wrong[i].first + 1ull);
            map_expect(counts[0] == 1 && counts[2] == first_wrong[i].first, "the first wrong one",
                       f, level, 0, (unsigned)counts[2]);
        }
        snprintf(line, sizeof line, "| %s | %u | %u | (%u, %u) | (%u, %u) |\n", first_wrong[i].name,
                 first_wrong[i].level, first_wrong[i].first, first_wrong[i].right.x,
                 first_wrong[i].right.y, first_wrong[i].found.x, first_wrong[i].found.y);
        if (!text.empty() && text.find(line) == std::string::npos)
            map_expect(0, line, f, level, 0, 0); // docs/maps/papers.md has another one
    }
}

// Which numbers are numbers of half precision: by conversion, all up to 2^17, and fractals' own.
static __global__ void is_half(unsigned *wrong) {
    for (tmap_u32 n = threadIdx.x; n < 1u << 17; n += blockDim.x) {
        const float back = __half2float(__float2half((float)n));
        if ((back == (float)n) != tmapi_wmma_is_half(n)) atomicAdd(wrong, 1u);
    }
}

// ---- whole launches -----------------------------------------------------------------------------

static __global__ void __launch_bounds__(1024)
    count_cells(int form, tmap_nbb f, tmap_box b, int full, unsigned *hits, unsigned *strange) {
    __shared__ tmap_tensor_tiles four;
    __shared__ tmap_wmma_shared tiles;
    __shared__ tmap_wmma3_shared cells;
    void *shared = form == TMAP_TENSOR_WMMA3                              ? (void *)&cells
                   : tmap_tensor_is_half(form)                            ? (void *)&tiles
                   : form == TMAP_TENSOR_MMA1 || form == TMAP_TENSOR_MMA2 ? (void *)&four
                                                                          : NULL;
    const tmap_tensor t = tmap_tensor_begin(form, f, b, full ? tmap_warp_full() : tmap_warp_self());
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (!tmap_tensor_place(&t, form, f, b, wy, shared, &p)) continue;
        if (p.x >= b.width || p.y >= b.height)
            atomicAdd(strange, 1u);
        else
            atomicAdd(&hits[p.y * b.width + p.x], 1u);
    }
}

enum { MOST_PLACES = 1 << 13 };
static unsigned hits[MOST_PLACES + 1], *hits_d;
static unsigned char picture[MOST_PLACES]; // 1: a cell, by brute force

// A launch with a block for each tile, and one of fewer rows of blocks, which walk.
static void run_launch(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int form) {
    tmap_box b;
    if (tmap_tensor_box(f, r, rho, form, &b)) return;
    for (int walk = 0; walk < 2; ++walk) {
        const tmap_u64 rows = walk ? (b.rows + 2) / 3 : b.rows;
        const dim3 grid((unsigned)b.columns, (unsigned)rows), block(b.bx, b.by);
        unsigned wrong = 0;
        CHECK(cudaMemset(hits_d, 0, sizeof hits));
        count_cells<<<grid, block>>>(form, f, b, b.bx * b.by % 32 == 0, hits_d,
                                     hits_d + MOST_PLACES);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(hits, hits_d, sizeof hits, cudaMemcpyDeviceToHost));
        for (tmap_u64 i = 0; i < b.width * b.height; ++i) wrong += hits[i] != picture[i];
        map_expect(wrong == 0, tmap_tensor_form_name(form), f, r, b.bx * b.by, wrong);
        map_expect(hits[MOST_PLACES] == 0, "outside the matrix", f, r, b.bx * b.by, 0);
    }
}

static void run_launches(tmap_nbb f) {
    const tmap_u32 sides[] = {16, 32, 1, 2, 8, 9, 27};
    const brute b = map_brute(f);
    const tmap_u64 places = kit_full ? MOST_PLACES : getenv("TMAP_TEST_SMALL") ? 300 : 1100;
    for (tmap_u32 r = 0; r <= 16; ++r) {
        const tmap_u64 width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r);
        if (tmap_mul_saturate(width, height) > places) break;
        for (tmap_u64 i = 0; i < width * height; ++i)
            picture[i] = (unsigned char)brute_contains(&b, i % width, i / width, (int)r);
        for (unsigned i = 0; i < (kit_full ? 7 : 3); ++i)
            for (int form = 0; form < TMAP_TENSOR_FORM_COUNT; ++form)
                run_launch(f, r, sides[i], form);
    }
}

static void run_refusals(void) {
    const tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet();
    const tmap_nbb cantor = tmap_fractal_cantor();
    const struct {
        tmap_nbb f;
        tmap_u32 r, rho;
        int form, want;
    } cases[] = {
        {gasket, 20, 16, TMAP_TENSOR_WMMA1, TMAP_OK},
        {gasket, 21, 16, TMAP_TENSOR_WMMA1, TMAP_ERANGE},
        {gasket, 19, 16, TMAP_TENSOR_WMMA2, TMAP_OK},
        {gasket, 20, 16, TMAP_TENSOR_WMMA2, TMAP_ERANGE},
        {gasket, 16, 16, TMAP_TENSOR_WMMA3, TMAP_OK},
        {gasket, 17, 16, TMAP_TENSOR_WMMA3, TMAP_ERANGE},
        {carpet, 10, 32, TMAP_TENSOR_WMMA1, TMAP_OK},
        {carpet, 10, 16, TMAP_TENSOR_WMMA1, TMAP_ERANGE},
        {carpet, 8, 32, TMAP_TENSOR_WMMA3, TMAP_ERANGE},
        {gasket, 8, 4, TMAP_TENSOR_WMMA1, TMAP_EINVAL},  // 16 threads
        {gasket, 2, 16, TMAP_TENSOR_WMMA1, TMAP_EINVAL}, // 4 x 4 places in all
        {cantor, 5, 32, TMAP_TENSOR_WMMA1, TMAP_EINVAL}, // 27 threads
        {gasket, 8, 1, TMAP_TENSOR_MMA2, TMAP_EINVAL},
        {gasket, 8, 0, TMAP_TENSOR_SHUFFLE, TMAP_EINVAL},
        {gasket, 8, 33, TMAP_TENSOR_SHUFFLE, TMAP_EINVAL},
        {gasket, 8, 64, TMAP_TENSOR_MMA2, TMAP_EINVAL},
        {gasket, 8, 16, -1, TMAP_EINVAL},
        {gasket, 8, 16, TMAP_TENSOR_FORM_COUNT, TMAP_EINVAL},
        {gasket, 33, 32, TMAP_TENSOR_MMA3, TMAP_ERANGE},
        {gasket, 33, 32, TMAP_TENSOR_MMA1, TMAP_OK},
        {tmap_nbb_make(0, 2, 2, 0, 0), 8, 16, TMAP_TENSOR_MMA1,
         tmap_nbb_check(tmap_nbb_make(0, 2, 2, 0, 0))},
    };
    for (unsigned i = 0; i < COUNT(cases); ++i) {
        tmap_box b = {77, 0, 0, 0, 0, 0, 0, 0};
        const int got = tmap_tensor_box(cases[i].f, cases[i].r, cases[i].rho, cases[i].form, &b);
        map_expect(got == cases[i].want, "refusal", cases[i].f, cases[i].r, cases[i].rho, i);
        map_expect((b.bx == 77) == (got != TMAP_OK), "written", cases[i].f, cases[i].r, 0, i);
    }
    map_expect(tmap_tensor_box(gasket, 8, 16, 0, NULL) == TMAP_EINVAL, "null", gasket, 8, 16, 0);
}

int main(void) {
    const unsigned blocks[] = {32, 35, 70};
    kit_begin();
    unsigned wrong = 0;
    CHECK(cudaMalloc((void **)&answers_d, sizeof answers));
    CHECK(cudaMalloc((void **)&counts_d, sizeof counts));
    CHECK(cudaMalloc((void **)&hits_d, sizeof hits));
    CHECK(cudaMemset(hits_d, 0, sizeof(unsigned)));
    is_half<<<1, 32>>>(hits_d);
    CHECK(cudaMemcpy(&wrong, hits_d, sizeof wrong, cudaMemcpyDeviceToHost));
    map_expect(wrong == 0, "is_half", tmap_fractal_gasket(), 0, 0, wrong);
    for (int i = 0; i < MAP_FRACTALS; ++i) {
        const tmap_nbb f = map_fractal(i);
        const tmap_u32 most = tmap_wmma_level_max(f);
        const tmap_u64 all = !kit_full                ? kit_tiny ? 30 : 100
                             : i < TMAP_FRACTAL_COUNT ? 100000000
                                                      : 3000000;
        for (tmap_u32 r = 0; r <= most; ++r) {
            const tmap_u32 m = (r + (tmap_u32)i) % 3 ? (most - r) / ((r + (tmap_u32)i) % 3) : 0;
            for (unsigned b = 0; b < 3; ++b)
                for (int n = kit_full ? 8 : 1; n && (kit_full || (r + i + b) % 3 == 0); --n)
                    run_case(f, r, n & 1 ? m : 0, blocks[b]);
            if (f.k > 1 && tmap_nbb_cells(f, r) <= all) run_level(f, r);
        }
        if (i < TMAP_FRACTAL_COUNT || kit_full) run_launches(f);
    }
    run_first_wrong();
    run_refusals();
    return kit_end("test_wmma");
}
