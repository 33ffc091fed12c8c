// SPDX-License-Identifier: MIT
// test_block: the three intra-block maps, on every fractal and every level whose tile fits a block,
// in blocks that are just large enough, larger, and smaller: every cell of the tile once, nothing
// else, as the picture of the tile by brute force has it.
#include "map_check.h"
#include <threadmap/papers/block.h>

enum { MOST = 1024, MOST_PLACES = 1 << 16, FORMS = TMAP_BLOCK_FORM_COUNT };

// Counts how often each place is taken. The table is filled twice, for two levels, so that a
// missing barrier shows. strange: threads whose place lies outside the tile.
TMAP_DEVICE void count_places(int form, tmap_nbb f, tmap_u32 m, tmap_u32 less, unsigned *hits,
                              unsigned *hits_less, unsigned *strange) {
    __shared__ tmap_u32 table[TMAP_BLOCK_TABLE_WORDS(MOST)];
    tmap_u32 threads = blockDim.x * blockDim.y * blockDim.z;
    for (int pass = 0; pass < 2; ++pass) {
        tmap_u32 level = pass ? less : m;
        tmap_u32 width = (tmap_u32)tmap_nbb_side_x(f, level);
        tmap_u32 height = (tmap_u32)tmap_nbb_side_y(f, level);
        tmap_u32 need = (tmap_u32)tmap_block_threads(form, f, level);
        if (pass) __syncthreads();
        tmap_block_begin(form, f, level, table);
        // Past the end too, a few threads more than are needed; and from the end, so that no thread
        // reads the entries that it filled itself.
        for (tmap_u32 n = tmap_thread_rank(), all = need + threads; n < all; n += threads) {
            tmap_u32 i = all - 1 - n;
            tmap_block_place p = tmap_block_at(form, f, level, i, table);
            if (!p.cell) continue;
            if (p.x >= width || p.y >= height)
                atomicAdd(strange, 1u);
            else
                atomicAdd(&(pass ? hits_less : hits)[p.y * width + p.x], 1u);
        }
    }
}

static __global__ void __launch_bounds__(MOST)
    count_own(int form, tmap_nbb f, tmap_u32 m, tmap_u32 less, unsigned *hits, unsigned *hits_less,
              unsigned *strange) {
    count_places(form, f, m, less, hits, hits_less, strange);
}

// The same with constants: the code that a user's kernel gets.
#define COUNT_CONSTANT(name, form, fractal) \
    static __global__ void __launch_bounds__(MOST) count_##name( \
        tmap_u32 m, tmap_u32 less, unsigned *hits, unsigned *hits_less, unsigned *strange) { \
        count_places(form, tmap_fractal_##fractal(), m, less, hits, hits_less, strange); \
    }
COUNT_CONSTANT(gasket_unroll, TMAP_BLOCK_UNROLL, gasket)
COUNT_CONSTANT(gasket_table, TMAP_BLOCK_TABLE, gasket)
COUNT_CONSTANT(gasket_subbox, TMAP_BLOCK_SUBBOX, gasket)
COUNT_CONSTANT(chandelier_unroll, TMAP_BLOCK_UNROLL, chandelier)
COUNT_CONSTANT(chandelier_table, TMAP_BLOCK_TABLE, chandelier)
COUNT_CONSTANT(chandelier_subbox, TMAP_BLOCK_SUBBOX, chandelier)

typedef void (*constant_kernel)(tmap_u32, tmap_u32, unsigned *, unsigned *, unsigned *);

// The kernel of a constant fractal, or null.
static constant_kernel constant_of(int form, tmap_nbb f) {
    static const constant_kernel gasket[FORMS] = {count_gasket_unroll, count_gasket_table,
                                                  count_gasket_subbox};
    static const constant_kernel chandelier[FORMS] = {
        count_chandelier_unroll, count_chandelier_table, count_chandelier_subbox};
    if (tmap_nbb_equal(f, tmap_fractal_gasket())) return gasket[form];
    return tmap_nbb_equal(f, tmap_fractal_chandelier()) ? chandelier[form] : NULL;
}

static unsigned *hits_d, hits[2 * MOST_PLACES + 1];

// How many places of a tile are not taken once (cells) or never (others).
static unsigned wrong_places(const brute *b, int m, const unsigned *taken) {
    unsigned wrong = 0;
    unsigned width = (unsigned)brute_pow(b->s[0], m), height = (unsigned)brute_pow(b->s[1], m);
    for (unsigned y = 0; y < height; ++y)
        for (unsigned x = 0; x < width; ++x)
            wrong += taken[y * width + x] != (unsigned)brute_contains(b, x, y, m);
    return wrong;
}

static void run_case(tmap_nbb f, const brute *b, int form, tmap_u32 m, dim3 block) {
    tmap_u32 less = m ? m - 1 : 0;
    unsigned threads = block.x * block.y * block.z;
    constant_kernel constant = constant_of(form, f);
    for (int constants = 0; constants < (constant ? 2 : 1); ++constants) {
        CHECK(cudaMemset(hits_d, 0, sizeof hits));
        if (constants)
            constant<<<1, block>>>(m, less, hits_d, hits_d + MOST_PLACES, hits_d + 2 * MOST_PLACES);
        else
            count_own<<<1, block>>>(form, f, m, less, hits_d, hits_d + MOST_PLACES,
                                    hits_d + 2 * MOST_PLACES);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(hits, hits_d, sizeof hits, cudaMemcpyDeviceToHost));
        map_expect(wrong_places(b, (int)m, hits) == 0, tmap_block_form_name(form), f, m, threads,
                   0);
        map_expect(wrong_places(b, (int)less, hits + MOST_PLACES) == 0, tmap_block_form_name(form),
                   f, less, threads, 0);
        map_expect(hits[2 * MOST_PLACES] == 0, "outside the tile", f, m, threads, 0);
    }
}

static void run_fractal(tmap_nbb f) {
    brute b = map_brute(f);
    for (tmap_u32 m = 0; m <= 10; ++m) {
        tmap_u64 width = tmap_nbb_side_x(f, m), height = tmap_nbb_side_y(f, m);
        if (tmap_mul_saturate(width, height) > MOST_PLACES) break;
        for (int form = 0; form < FORMS; ++form) {
            tmap_u64 need = tmap_block_threads(form, f, m);
            unsigned threads = (unsigned)need, whole = (threads + 31) / 32 * 32;
            map_expect(need == (form == TMAP_BLOCK_SUBBOX ? width * height
                                                          : (tmap_u64)brute_pow((int)f.k, (int)m)),
                       "threads", f, m, threads, 0);
            if (need > MOST) continue;
            run_case(f, &b, form, m, dim3(threads));
            if (whole != threads && (kit_full || whole <= 128))
                run_case(f, &b, form, m, dim3(whole));
            if (threads > 5) // fewer threads than the tile needs
                run_case(f, &b, form, m, dim3(1 + (unsigned)map_random_below(threads - 1)));
            if (kit_full && threads > 96) run_case(f, &b, form, m, dim3(8, 4, 3));
            if (form == TMAP_BLOCK_SUBBOX)
                run_case(f, &b, form, m, dim3((unsigned)width, (unsigned)height));
        }
    }
}

// The lines of data in block.h's comments, and what is outside the range.
static void run_examples(void) {
    const tmap_xy unrolled[9] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {0, 3},
                                 {1, 3}, {2, 2}, {2, 3}, {3, 3}};
    tmap_nbb gasket = tmap_fractal_gasket(), carpet = tmap_fractal_carpet(), full = gasket;
    tmap_block_place p;
    for (tmap_u32 i = 0; i < 9; ++i) {
        p = tmap_block_unroll(gasket, 2, i);
        map_expect(p.cell && p.x == unrolled[i].x && p.y == unrolled[i].y, "unroll", gasket, 2, 9,
                   i);
        p = tmap_block_subbox(carpet, 1, i);
        map_expect(p.cell == (i != 4) && p.x == i % 3 && p.y == i / 3, "subbox", carpet, 1, 9, i);
    }
    map_expect(!tmap_block_unroll(gasket, 2, 9).cell, "past the end", gasket, 2, 9, 9);
    map_expect(!tmap_block_subbox(gasket, 2, 0xffffffffu).cell, "past the end", gasket, 2, 9, 0);
    map_expect(tmap_nbb_from_rows("####/####/####/####", &full) == TMAP_OK, "rows", full, 8, 0, 0);
    p = tmap_block_unroll(full, 8, 0xffffffffu); // 16^8 = 2^32 cells: every i is one
    map_expect(p.cell && p.x == 0xffff && p.y == 0xffff, "2^32 cells", full, 8, 0, 0xffffffffu);
    map_expect(tmap_block_unroll(full, 8, 0).cell, "2^32 cells", full, 8, 0, 0);
    map_expect(tmap_block_threads(-1, gasket, 2) == 0, "unknown form", gasket, 2, 0, 0);
    map_expect(tmap_block_threads(FORMS, gasket, 2) == 0, "unknown form", gasket, 2, 0, 0);
    map_expect(tmap_block_threads(TMAP_BLOCK_TABLE, carpet, 2) == 64, "64", carpet, 2, 0, 0);
    map_expect(tmap_block_threads(TMAP_BLOCK_SUBBOX, gasket, 5) == 1024, "1024", gasket, 5, 0, 0);
    map_expect(tmap_block_threads(TMAP_BLOCK_SUBBOX, carpet, 64) == ~0ull, "saturates", carpet, 64,
               0, 0);
}

int main(void) {
    kit_begin();
    CHECK(cudaMalloc((void **)&hits_d, sizeof hits));
    for (int i = 0; i < MAP_FRACTALS; ++i) run_fractal(map_fractal(i));
    run_examples();
    return kit_end("test_block");
}
