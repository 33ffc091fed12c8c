// SPDX-License-Identifier: MIT
// test_mma: lambda on tensor cores, every form at every level of every fractal, against the
// plain maps: random omega with the first and the last, whole and partial warps; then all tiles of
// small levels, and on a GPU of large ones.
#include "map_check.h"
#include <threadmap/papers/mma.h>

enum { MOST = 64 };

typedef struct query {
    tmap_u32 wx[MOST], wy[MOST]; // by thread
    tmap_u32 tx[MOST], ty[MOST];
    tmap_u32 first, step, linear; // linear: indices fit 32 bits
} query;

typedef struct answer {
    tmap_xy one, sub, own, column[TMAP_MMA_TILES], lane; // orthotope
    tmap_xy tiles[TMAP_MMA_TILES], lane_linear;
} answer;

static __global__ void __launch_bounds__(MOST)
    ask(tmap_nbb f, tmap_u32 r, tmap_u32 m, int full, const query *in, answer *out) {
    tmap_warp w = full ? tmap_warp_full() : tmap_warp_self();
    tmap_u32 rank = tmap_thread_rank(), own = (rank * 5 + 3) & 7u, sub = (rank & ~31u) + w.lane / 4;
    tmap_u32 wx = in->wx[rank & ~31u], wy = in->wy[rank & ~31u];
    tmap_u32 tx = in->tx[rank], ty = in->ty[rank];
    tmap_mma s = tmap_mma_make(w, f, r, m);
    tmap_mma_tiles t = tmap_mma_tiles_make_column(w, f, r, m, wx);
    tmap_mma_batch batch;
    answer *a = &out[rank];
    a->one = tmap_mma1_lambda(&s, f, wx, wy);
    a->sub = tmap_mma2_lambda(&s, f, in->wx[sub], in->wy[sub], own);
    a->own = tmap_mma3_lambda(&s, f, wx, wy, tx, ty);
    batch = tmap_mma_tiles_map(&t, f, in->first, in->step);
    for (tmap_u32 j = 0; j < TMAP_MMA_TILES; ++j)
        a->column[j] = tmap_mma_tiles_cell(&t, f, batch, j);
    a->lane = tmap_mma_tiles_own(&t, f, in->first, in->step);
    if (in->linear) {
        t = tmap_mma_tiles_make_linear(w, f, r, m);
        batch = tmap_mma_tiles_map(&t, f, in->first, in->step);
        for (tmap_u32 j = 0; j < TMAP_MMA_TILES; ++j)
            a->tiles[j] = tmap_mma_tiles_cell(&t, f, batch, j);
        a->lane_linear = tmap_mma_tiles_own(&t, f, in->first, in->step);
    }
}

static query q, *q_d;
static answer answers[MOST], *answers_d;

static void run_case(tmap_nbb f, tmap_u32 r, tmap_u32 m, unsigned threads) {
    tmap_xy64 box = tmap_nbb_orthotope(f, r);
    tmap_u64 cells = tmap_nbb_cells(f, r);
    tmap_u32 mx = (tmap_u32)tmap_nbb_side_x(f, m), my = (tmap_u32)tmap_nbb_side_y(f, m);
    q.linear = r <= tmap_nbb_linear_level_max32(f);
    q.first = (tmap_u32)(q.linear ? map_random_below(cells) : map_random_below(box.y));
    q.step = (tmap_u32)(map_random() % 3 ? map_random() % 1000 : map_random());
    for (unsigned t = 0; t < threads; ++t) {
        q.wx[t] = (tmap_u32)map_random_below(box.x), q.wy[t] = (tmap_u32)map_random_below(box.y);
        q.tx[t] = (tmap_u32)map_random_below(mx ? mx : 1);
        q.ty[t] = (tmap_u32)map_random_below(my ? my : 1);
    }
    CHECK(cudaMemcpy(q_d, &q, sizeof q, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(answers_d, 0x5a, sizeof answers));
    ask<<<1, threads>>>(f, r, m, threads % 32 == 0, q_d, answers_d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(answers, answers_d, sizeof answers, cudaMemcpyDeviceToHost));
    for (unsigned t = 0; t < threads; ++t) {
        const answer *a = &answers[t];
        unsigned warp = t & ~31u, lanes = threads - warp < 32 ? threads - warp : 32;
        unsigned own = (t * 5 + 3) & 7, sub = 4 * own < lanes ? own : (lanes - 1) / 4;
        tmap_u32 wx = q.wx[warp], wy = q.wy[warp];
        // Its own maps are held against brute force elsewhere.
        tmap_xy one = tmap_nbb_lambda(f, wx, wy, r), c;
        one.x *= mx, one.y *= my;
        map_expect(map_same(a->one, one), "mma1", f, r, threads, t);
        c = tmap_nbb_lambda(f, q.wx[warp + sub], q.wy[warp + sub], r);
        c.x *= mx, c.y *= my;
        map_expect(map_same(a->sub, c), "mma2", f, r, threads, t);
        c.x = one.x + q.tx[t], c.y = one.y + q.ty[t];
        map_expect(map_same(a->own, c), "mma3", f, r, threads, t);
        for (int linear = 0; linear <= (int)q.linear; ++linear) {
#define MAP(i) (linear ? tmap_nbb_lambda_linear(f, (i), r) : tmap_nbb_lambda(f, wx, (i), r))
            for (tmap_u32 j = 0; j < TMAP_MMA_TILES; ++j) {
                c = MAP(q.first + j * q.step);
                c.x *= mx, c.y *= my;
                map_expect(map_same(linear ? a->tiles[j] : a->column[j], c), "tiles", f, r, threads,
                           t);
            }
            c = MAP(q.first + t % 32 * q.step);
            c.x *= mx, c.y *= my;
            map_expect(map_same(linear ? a->lane_linear : a->lane, c), "lane", f, r, threads, t);
#undef MAP
        }
    }
}

// ---- all tiles of a level -----------------------------------------------------------------------

// Counts the wrong tiles of all linear indices, and of all columns, and the tiles looked at. Warps
// take turns with tiles; the last batch of each is partial.
static __global__ void __launch_bounds__(256)
    each_tile(tmap_nbb f, tmap_u32 r, tmap_u32 tiles, tmap_u32 columns, tmap_u32 rows,
              tmap_u64 *wrong, tmap_u64 *looked_at) {
    tmap_warp w = tmap_warp_full();
    tmap_u32 warps = gridDim.x * (blockDim.x / 32);
    tmap_u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    tmap_u64 bad = 0, seen = 0;
    tmap_mma_tiles t = tmap_mma_tiles_make_linear(w, f, r, 0);
    for (tmap_u64 first = warp; first < tiles; first += 16ull * warps) {
        tmap_mma_batch b = tmap_mma_tiles_map(&t, f, (tmap_u32)first, warps);
        for (tmap_u32 j = 0; j < TMAP_MMA_TILES && first + (tmap_u64)j * warps < tiles; ++j) {
            tmap_u32 i = (tmap_u32)first + j * warps;
            tmap_xy c = tmap_mma_tiles_cell(&t, f, b, j), d = tmap_nbb_lambda_linear(f, i, r);
            bad += c.x != d.x || c.y != d.y;
            ++seen;
        }
    }
    for (tmap_u32 wx = warp; wx < columns; wx += warps) {
        t = tmap_mma_tiles_make_column(w, f, r, 0, wx);
        for (tmap_u32 wy = 0; wy < rows; wy += TMAP_MMA_TILES) {
            tmap_mma_batch b = tmap_mma_tiles_map(&t, f, wy, 1);
            for (tmap_u32 j = 0; j < TMAP_MMA_TILES && wy + j < rows; ++j) {
                tmap_xy c = tmap_mma_tiles_cell(&t, f, b, j), d = tmap_nbb_lambda(f, wx, wy + j, r);
                bad += c.x != d.x || c.y != d.y;
                ++seen;
            }
        }
    }
    if (bad) atomicAdd(wrong, bad);
    if (w.lane == 0) atomicAdd(looked_at, seen);
}

static void run_level(tmap_nbb f, tmap_u32 r) {
    tmap_xy64 box = tmap_nbb_orthotope(f, r);
    tmap_u64 tiles = tmap_nbb_cells(f, r), counts[2];
    tmap_u64 *counts_d = (tmap_u64 *)kit_filled(sizeof counts, 0);
    each_tile<<<kit_full ? 1024 : 1, kit_full ? 256 : 64>>>(
        f, r, (tmap_u32)tiles, (tmap_u32)box.x, (tmap_u32)box.y, counts_d, counts_d + 1);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(counts, counts_d, sizeof counts, cudaMemcpyDeviceToHost));
    map_expect(counts[0] == 0, "a tile of all", f, r, 0, (unsigned)counts[0]);
    map_expect(counts[1] == 2 * tiles, "tiles left out", f, r, 0, (unsigned)counts[1]);
    kit_release(0);
}

int main(void) {
    const unsigned blocks[] = {32, 20, 35, 64, 1};
    kit_begin();
    CHECK(cudaMalloc((void **)&q_d, sizeof q));
    CHECK(cudaMalloc((void **)&answers_d, sizeof answers));
    memset(&q, 0, sizeof q);
    for (int i = 0; i < MAP_FRACTALS; ++i) {
        tmap_nbb f = map_fractal(i);
        tmap_u32 most = tmap_nbb_level_max32(f);
        tmap_u64 all = kit_full ? f.k == 3 ? 130000000 : 3000000 : 250;
        for (tmap_u32 r = 0; r <= most; ++r) {
            tmap_u32 m = (r + i) % 3 == 0 ? 0 : (most - r) / ((r + i) % 3);
            for (unsigned b = 0; b < COUNT(blocks); ++b)
                if (kit_full || b == 0 || (r + i + b) % 3 == 0)
                    for (int n = kit_full ? 8 : 1; n && check_turn(); --n)
                        run_case(f, r, n & 1 ? m : 0, blocks[b]);
            if (f.k > 1 && tmap_nbb_cells(f, r) <= all && check_turn()) run_level(f, r);
        }
    }
    return kit_end("test_mma");
}
