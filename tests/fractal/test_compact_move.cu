// SPDX-License-Identifier: MIT
// test_compact_move: bytes to words of one bit a cell and back; and windows of states at all zooms and
// many places, against sums over places. Cells from and to a matrix: test_ready.
#include "fractal/engine.h"
#include <math.h>
#include <threadmap/fractal/compact_move.h>

// ---- bits ---------------------------------------------------------------------------------------

static void run_bits(tmap_nbb f, tmap_u32 r) {
    const tmap_u64 cells = tmap_nbb_cells(f, r), bytes = tmap_compact_words_bytes(f, r);
    const tmap_compact_word word = tmap_compact_word_of(f, r);
    unsigned char *host = (unsigned char *)kit_host(cells), *got = (unsigned char *)kit_host(cells);
    unsigned char *want = (unsigned char *)kit_zeroed(bytes),
                  *words = (unsigned char *)kit_host(bytes);
    unsigned char *a = (unsigned char *)kit_guarded(cells);
    unsigned char *b = (unsigned char *)kit_guarded(bytes + 8);
    tmap_each_plan none;
    tmap_u64 wrong = 0;
    memset(&none, 0, sizeof none), none.f = f, none.r = r;
    for (tmap_u64 i = 0; i < cells; ++i) {
        tmap_u64 w;
        tmap_u32 bit;
        host[i] = (unsigned char)(check_hash(i, r) % 3 ? 0 : check_hash(i, 12) | 1);
        tmap_compact_bit(f, r, i, &w, &bit);
        want[w * word.bytes + bit / 8] |= (unsigned char)((host[i] != 0) << bit % 8);
    }
    CHECK(cudaMemcpy(a, host, cells, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(b, 0x5a, bytes + 8));
    CHECK(tmap_compact_bits_pack(f, r, a, b, 0));
    CHECK(cudaMemcpy(words, b, bytes, cudaMemcpyDeviceToHost));
    of_plan(&none);
    expect(memcmp(words, want, bytes) == 0, "to bits");
    CHECK(cudaMemset(a, 0x5a, cells));
    CHECK(tmap_compact_bits_unpack(f, r, b, a, 0));
    CHECK(cudaMemcpy(got, a, cells, cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0; i < cells; ++i) wrong += got[i] != (host[i] != 0);
    expect(wrong == 0, "from bits");
    kit_release(0);
}

// ---- windows ------------------------------------------------------------------------------------

// Value of cell i for each type of state.
static double value_of(int type, tmap_u64 i) {
    const tmap_u64 h = check_hash(i, 13);
    if (type == TMAP_COMPACT_WINDOW_F32) return (double)(int)(h % 2001) / 8 - 100;
    return h % 3 == 0;
}

static void run_window(tmap_nbb f, tmap_u32 r, tmap_u32 z, int type, int n) {
    const tmap_u64 cells = tmap_nbb_cells(f, r), side_x = tmap_nbb_side_x(f, z);
    const tmap_u64 side_y = tmap_nbb_side_y(f, z), words = tmap_compact_words_bytes(f, r);
    const tmap_u64 bytes = type == TMAP_COMPACT_WINDOW_F32 ? 4 * cells : cells;
    tmap_compact_window w;
    tmap_each_plan none;
    tmap_u64 wrong = 0;
    unsigned char *host = (unsigned char *)kit_host(bytes + 8);
    unsigned char *a = (unsigned char *)kit_guarded(bytes + 8);
    unsigned char *state = (unsigned char *)kit_guarded(words + 8);
    float *out, *got;
    memset(&none, 0, sizeof none), none.f = f, none.r = r, none.tile_level = z;
    of_plan(&none);
    RETURNS(tmap_compact_window_make(f, r, z, type, &w), TMAP_OK);
    if (n % 2) { // a part, which may reach over the border, or lie outside
        w.x = check_hash((tmap_u64)n, 1) % (w.width + 2), w.width = 1 + w.width / 2;
        w.y = check_hash((tmap_u64)n, 2) % (w.height + 1), w.height = 1 + w.height / 3;
    }
    if (w.width > 300) w.width = 300;
    if (w.height > 300) w.height = 300;
    got = (float *)kit_host(sizeof(float) * w.width * w.height);
    out = (float *)kit_guarded(sizeof(float) * w.width * w.height);
    for (tmap_u64 i = 0; i < cells; ++i)
        if (type == TMAP_COMPACT_WINDOW_F32)
            ((float *)host)[i] = (float)value_of(type, i);
        else
            host[i] = (unsigned char)(7 * value_of(type, i));
    CHECK(cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice));
    if (type == TMAP_COMPACT_WINDOW_WORDS)
        CHECK(tmap_compact_bits_pack(f, r, a, state, 0));
    else
        state = a;
    CHECK(tmap_compact_window_mean(&w, state, out, 0));
    CHECK(cudaMemcpy(got, out, sizeof(float) * w.width * w.height, cudaMemcpyDeviceToHost));
    for (tmap_u64 p = 0; p < (tmap_u64)w.width * w.height; ++p) {
        const tmap_u64 x0 = (w.x + p % w.width) * side_x, y0 = (w.y + p / w.width) * side_y;
        double sum = 0;
        tmap_u64 count = 0;
        for (tmap_u64 y = y0; y < y0 + side_y; ++y)
            for (tmap_u64 x = x0; x < x0 + side_x; ++x)
                if (tmap_nbb_contains64(f, x, y, r))
                    sum += value_of(type, tmap_nbb_nu_linear64(f, x, y, r)), ++count;
        wrong += count ? got[p] != (float)(sum / (double)count) : !isnan(got[p]);
    }
    expect(wrong == 0, "pixels");
    kit_release(0);
}

// A window of words that are read once for all sheets, against sums cell by cell.
static void run_sheets(tmap_nbb f, tmap_u32 r, tmap_u32 z, int part) {
    const tmap_u64 cells = tmap_nbb_cells(f, r), run = tmap_nbb_cells(f, z);
    const tmap_u64 side_x = tmap_nbb_side_x(f, z), side_y = tmap_nbb_side_y(f, z);
    const tmap_u64 bytes = tmap_compact_words_bytes(f, r);
    tmap_compact_window w;
    tmap_each_plan none;
    tmap_u64 pixels, wrong = 0, alive;
    unsigned char *host = (unsigned char *)kit_host(cells), *a, *state;
    float *out, *got;
    double *sum;
    memset(&none, 0, sizeof none), none.f = f, none.r = r, none.tile_level = z;
    of_plan(&none);
    RETURNS(tmap_compact_window_make(f, r, z, TMAP_COMPACT_WINDOW_WORDS, &w), TMAP_OK);
    if (part) w.x = 1, w.y = w.height > 1; // over the border to the right, and below
    pixels = (tmap_u64)w.width * w.height;
    a = (unsigned char *)kit_guarded(cells), state = (unsigned char *)kit_guarded(bytes);
    out = (float *)kit_guarded(sizeof(float) * pixels);
    got = (float *)kit_host(sizeof(float) * pixels),
    sum = (double *)kit_host(sizeof(double) * pixels);
    for (tmap_u64 p = 0; p < pixels; ++p) sum[p] = -1;
    for (tmap_u64 i = 0; i < cells; ++i) {
        const tmap_xy64 c = tmap_nbb_lambda_linear64(f, i, r);
        const tmap_u64 x = c.x / side_x - w.x, y = c.y / side_y - w.y, p = y * w.width + x;
        alive = check_hash(i, 17) % 7 < 1 + i / run % 6; // a share of each pixel's own
        host[i] = (unsigned char)alive;
        if (x < w.width && y < w.height) sum[p] = (sum[p] < 0 ? 0 : sum[p]) + (double)alive;
    }
    CHECK(cudaMemcpy(a, host, cells, cudaMemcpyHostToDevice));
    CHECK(tmap_compact_bits_pack(f, r, a, state, 0));
    CHECK(cudaMemset(out, 0x5a, sizeof(float) * pixels));
    CHECK(tmap_compact_window_mean(&w, state, out, 0));
    CHECK(cudaMemcpy(got, out, sizeof(float) * pixels, cudaMemcpyDeviceToHost));
    for (tmap_u64 p = 0; p < pixels; ++p)
        wrong += sum[p] < 0 ? !isnan(got[p]) : got[p] != (float)(sum[p] / (double)run);
    expect(wrong == 0, "pixels of all sheets");
    kit_release(0);
}

// So many words that a thread's counters are added up more than once.
static void run_many_words(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_u64 bytes = tmap_compact_words_bytes(f, 16);
    tmap_compact_window w;
    tmap_each_plan none;
    tmap_u64 wrong = 0;
    unsigned char *state = (unsigned char *)kit_guarded(bytes);
    float got[64], *out = (float *)kit_guarded(sizeof got);
    memset(&none, 0, sizeof none), none.f = f, none.r = 16;
    of_plan(&none);
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
        for (tmap_u32 r = 0; r <= 12 && r <= tmap_nbb_level_max32(f); ++r) {
            const tmap_u64 places = tmap_mul_saturate(tmap_nbb_side_x(f, r), tmap_nbb_side_y(f, r));
            if (!check_turn()) continue;
            if (tmap_nbb_cells(f, r) <= most) run_bits(f, r);
            if (places > 4 * most) continue;
            for (tmap_u32 z = 0; z <= r; ++z, ++n) run_window(f, r, z, n % 3, n / 3);
        }
    }
    for (int i = 0; i < ENGINE_COUNT; ++i) { // the least level with words enough, and one more
        const tmap_nbb f = engine_fractal(i);
        tmap_u32 z = 0, r;
        while (f.k > 1 && tmap_nbb_cells(f, z) < 2048) ++z;
        r = z + tmap_compact_word_of(f, 40).level;
        if (f.k == 1 || r > tmap_nbb_level_max32(f) || tmap_nbb_cells(f, r) > 300000) continue;
        if (check_turn()) run_sheets(f, r, z, 0);
        if (check_turn() && tmap_nbb_cells(f, r + 1) < 100 * most) run_sheets(f, r + 1, z, 1);
    }
    if (!kit_tiny && check_turn()) run_many_words();
    return kit_end("test_compact_move");
}
