// SPDX-License-Identifier: MIT
// test_compact: compact storage: its tables of neighbours; bytes to words of one bit a cell and
// back; and windows of states at all zooms and many places, against sums over cells. Cells from and
// to a matrix: test_ready.
#include "fractal/engine.h"
#include <math.h>
#include <threadmap/fractal/compact_move.h>

// The case: a fractal, its level, and the level of a pixel.
static void of_level(tmap_nbb f, tmap_u32 r, tmap_u32 z) {
    kit_case("fractal k=%u s=%ux%u tau %llx %llx, r=%u, z=%u", f.k, f.sx, f.sy, f.tau_x, f.tau_y, r,
             z);
}

// ---- tables -------------------------------------------------------------------------------------

#define LOOKUP_CELLS 128u // the most of a level that are asked: all of a small one, else any

static __global__ void ask(tmap_nbb f, tmap_u32 last, tmap_u64 *wrong) {
    __shared__ tmap_u64 shared[sizeof(tmapi_compact_lookup) / 8 + 3 * 128];
    tmapi_compact_lookup *t = (tmapi_compact_lookup *)shared;
    tmap_u64 mine = 0;
    tmapi_compact_lookup_fill(f, t, threadIdx.x, blockDim.x);
    __syncthreads();
    for (tmap_u32 r = 0; r <= last; ++r) {
        const tmap_u32 cells = tmapi_pow32(f.k, r), n = cells < LOOKUP_CELLS ? cells : LOOKUP_CELLS;
        for (tmap_u32 i = threadIdx.x; i < n; i += blockDim.x) {
            const tmap_u32 any = check_hash(i, r), index = n == cells ? i
                                                           : i % 2    ? any % cells
                                                                      : cells - 1 - any % 64;
            const tmap_xy want = tmap_nbb_lambda_linear(f, index, r);
            const tmap_xy got = tmapi_compact_lookup_corner(t, index, r, 1, 1);
            mine += got.x != want.x || got.y != want.y;
            for (tmap_u32 d = 0; d < 8; ++d) {
                const tmap_compact_place p =
                    tmap_compact_beside(f, index, r, tmapi_compact_dx(d), tmapi_compact_dy(d));
                const tmapi_compact_neighbour q = tmapi_compact_lookup_beside(t, index, r, d);
                const tmap_u32 to = p.none       ? TMAPI_COMPACT_NONE
                                    : p.x || p.y ? tmapi_compact_direction(p.x, p.y)
                                                 : TMAPI_COMPACT_WITHIN;
                mine += q.to != to || (!p.none && q.index != p.index);
            }
        }
    }
    if (mine) atomicAdd(wrong, mine);
}

// What lies beside a cell and where a cell is, by the tables that take several levels at a time, at
// all levels whose cells have numbers of 32 bits, against the same digit by digit
// (tmap_compact_beside and tmap_nbb_lambda_linear, which compact_places and nbb_maps hold against
// brute force).
static void run_lookup(tmap_nbb f) {
    tmap_u32 last = tmap_nbb_level_max32(f);
    tmap_u64 *wrong = (tmap_u64 *)kit_to_device(kit_zeroed(8), 8);
    while (tmap_nbb_cells(f, last) > 0xffffffffull) --last;
    ask<<<1, kit_tiny ? 32 : 96>>>(f, last, wrong);
    CHECK(cudaGetLastError());
    of_level(f, last, 0);
    expect(*(const tmap_u64 *)kit_to_host(wrong, 8) == 0, "the tables");
    expect(24 * tmapi_compact_few_cells(f) <= 3 * 128 * sizeof(tmap_u64), "their room");
    kit_release(0);
}

// ---- bits ---------------------------------------------------------------------------------------

static void run_bits(tmap_nbb f, tmap_u32 r) {
    const tmap_u64 cells = tmap_nbb_cells(f, r), bytes = tmap_compact_words_bytes(f, r);
    const tmap_compact_word word = tmap_compact_word_of(f, r);
    unsigned char *host = (unsigned char *)kit_host(cells);
    unsigned char *want = (unsigned char *)kit_zeroed(bytes);
    unsigned char *a = (unsigned char *)kit_guarded(cells);
    unsigned char *b = (unsigned char *)kit_guarded(bytes);
    for (tmap_u64 i = 0; i < cells; ++i) {
        tmap_u64 w;
        tmap_u32 bit;
        host[i] = (unsigned char)(check_hash(i, r) % 3 ? 0 : check_hash(i, 12) | 1);
        tmap_compact_bit(f, r, i, &w, &bit);
        want[w * word.bytes + bit / 8] |= (unsigned char)((host[i] != 0) << bit % 8);
    }
    of_level(f, r, 0);
    CHECK(cudaMemcpy(a, host, cells, cudaMemcpyHostToDevice));
    CHECK(tmap_compact_bits_pack(f, r, a, b, 0));
    expect(memcmp(kit_to_host(b, bytes), want, bytes) == 0, "to bits");
    CHECK(cudaMemset(a, 0x5a, cells));
    CHECK(tmap_compact_bits_unpack(f, r, b, a, 0));
    for (tmap_u64 i = 0; i < cells; ++i) host[i] = host[i] != 0;
    expect(memcmp(kit_to_host(a, cells), host, cells) == 0, "from bits");
    kit_release(0);
}

// ---- windows ------------------------------------------------------------------------------------

// Value of cell i for each type of state; of bytes and words living ones, a share of each pixel's
// own. run: the cells of a pixel.
static double value_of(int type, tmap_u64 i, tmap_u64 run) {
    if (type == TMAP_COMPACT_WINDOW_F32) return (double)(int)(check_hash(i, 13) % 2001) / 8 - 100;
    return check_hash(i, 17) % 7 < 1 + i / run % 6;
}

// A window, or with `part` 1 one that reaches over the border to the right and below, or by another
// number a part of one, which may lie outside; against sums cell by cell. Of many words, these are
// read once for all sheets.
static void run_window(tmap_nbb f, tmap_u32 r, tmap_u32 z, int type, tmap_u64 part) {
    const tmap_u64 cells = tmap_nbb_cells(f, r), run = tmap_nbb_cells(f, z);
    const tmap_u64 side_x = tmap_nbb_side_x(f, z), side_y = tmap_nbb_side_y(f, z);
    const tmap_u64 bytes = type == TMAP_COMPACT_WINDOW_F32 ? 4 * cells : cells;
    tmap_compact_window w;
    tmap_u64 wrong = 0;
    of_level(f, r, z);
    RETURNS(tmap_compact_window_make(f, r, z, type, &w), TMAP_OK);
    if (part == 1) {
        w.x = 1, w.y = w.height > 1;
    } else if (part) {
        w.x = check_hash(part, 1) % (w.width + 2), w.width = 1 + w.width / 2;
        w.y = check_hash(part, 2) % (w.height + 1), w.height = 1 + w.height / 3;
    }
    if (w.width > 300) w.width = 300;
    if (w.height > 300) w.height = 300;
    const tmap_u64 pixels = (tmap_u64)w.width * w.height;
    unsigned char *host = (unsigned char *)kit_host(bytes), *state;
    double *sum = (double *)kit_zeroed(sizeof(double) * pixels);
    tmap_u64 *count = (tmap_u64 *)kit_zeroed(sizeof *count * pixels);
    float *out = (float *)kit_guarded(sizeof(float) * pixels);
    for (tmap_u64 i = 0; i < cells; ++i) {
        const tmap_xy64 c = tmap_nbb_lambda_linear64(f, i, r);
        const tmap_u64 x = c.x / side_x - w.x, y = c.y / side_y - w.y, p = y * w.width + x;
        const double value = value_of(type, i, run);
        if (type == TMAP_COMPACT_WINDOW_F32)
            ((float *)host)[i] = (float)value;
        else
            host[i] = (unsigned char)(7 * value);
        if (x < w.width && y < w.height) sum[p] += value, ++count[p];
    }
    state = (unsigned char *)kit_to_device(host, bytes);
    if (type == TMAP_COMPACT_WINDOW_WORDS) {
        unsigned char *living = state;
        state = (unsigned char *)kit_guarded(tmap_compact_words_bytes(f, r));
        CHECK(tmap_compact_bits_pack(f, r, living, state, 0));
    }
    CHECK(tmap_compact_window_mean(&w, state, out, 0));
    const float *got = (const float *)kit_to_host(out, sizeof(float) * pixels);
    for (tmap_u64 p = 0; p < pixels; ++p)
        wrong += count[p] ? got[p] != (float)(sum[p] / (double)count[p]) : !isnan(got[p]);
    expect(wrong == 0, "pixels");
    kit_release(0);
}

// So many words that a thread's counters are added up more than once.
static void run_many_words(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_u64 bytes = tmap_compact_words_bytes(f, 16);
    tmap_compact_window w;
    tmap_u64 wrong = 0;
    unsigned char *state = (unsigned char *)kit_guarded(bytes);
    float got[64], *out = (float *)kit_guarded(sizeof got);
    of_level(f, 16, 13);
    RETURNS(tmap_compact_window_make(f, 16, 13, TMAP_COMPACT_WINDOW_WORDS, &w), TMAP_OK);
    CHECK(cudaMemset(state, 0xff, bytes)); // idle bits as well, which are not counted
    CHECK(tmap_compact_window_mean(&w, state, out, 0));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (tmap_u32 p = 0; p < 64; ++p)
        wrong += tmap_nbb_contains64(f, p % 8, p / 8, 3) ? got[p] != 1 : !isnan(got[p]);
    expect(wrong == 0, "pixels of many words");
}

int main(void) {
    int n = 0;
    engine_begin();
    const tmap_u64 most = kit_tiny ? 600 : !kit_gpu ? 3000 : 60000;
    for (int i = 0; i < ENGINE_COUNT; ++i) {
        const tmap_nbb f = engine_fractal(i);
        run_lookup(f);
        for (tmap_u32 r = 0; r <= 12 && r <= tmap_nbb_level_max32(f); ++r) {
            const tmap_u64 places = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
            if (!check_turn()) continue;
            if (tmap_nbb_cells(f, r) <= most) run_bits(f, r);
            if (places > 4 * most) continue;
            for (tmap_u32 z = 0; z <= r; ++z, ++n)
                run_window(f, r, z, n % 3, n / 3 % 2 ? (tmap_u64)n : 0);
        }
    }
    for (int i = 0; i < ENGINE_COUNT; ++i) { // the least level with words enough, and one more
        const tmap_nbb f = engine_fractal(i);
        tmap_u32 z = 0, r;
        while (f.k > 1 && tmap_nbb_cells(f, z) < 2048) ++z;
        r = z + tmap_compact_word_of(f, 40).level;
        if (f.k == 1 || r > tmap_nbb_level_max32(f) || tmap_nbb_cells(f, r) > 300000) continue;
        if (check_turn()) run_window(f, r, z, TMAP_COMPACT_WINDOW_WORDS, 0);
        if (check_turn() && tmap_nbb_cells(f, r + 1) < 100 * most)
            run_window(f, r + 1, z, TMAP_COMPACT_WINDOW_WORDS, 1);
    }
    if (!kit_tiny && check_turn()) run_many_words();
    return kit_end("test_compact");
}
