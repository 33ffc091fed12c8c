// SPDX-License-Identifier: MIT
// sw.h: single write (SW): a value written to every cell of a fractal embedded in a matrix.
//
// The first of the three tests of Navarro et al., FGCS 113 (2020), section 6.2: nothing but the map
// and one store.
#ifndef TMAP_FRACTAL_SW_H
#define TMAP_FRACTAL_SW_H

#include "../rivals/box.h"

#if TMAP_CUDA

TMAP_DEVICE void tmapi_sw_walk(int map, tmap_nbb f, tmap_box b, tmap_warp warp, int value,
                               int *out) {
    tmapi_walk walk = tmapi_walk_begin(map, f, b, warp);
    for (tmap_u32 wy = blockIdx.y; wy < b.rows; wy += gridDim.y) {
        tmap_xy64 p;
        if (tmapi_walk_place(&walk, map, f, b, wy, &p)) out[p.y * b.width + p.x] = value;
    }
}

// A warp's tiles, a lane for each column; whole rows are stored at once, so that each touched
// sector of memory is written by one instruction (gasket, r = 16: 0.34 ms; cell by cell in the
// order of the map 0.65).
TMAP_DEVICE void tmapi_sw_rows(tmap_nbb f, tmap_box b, int value, int *out) {
    const tmap_u32 width = tmapi_tile_width(f), height = tmapi_tile_height(f);
    const tmap_u32 r = tmapi_box_level(b), m = tmap_tile_level(f, r);
    tmap_tiles tiles = tmap_tiles_begin(f, r, m);
    tmap_u32 lane = tiles.level.warp.lane, rows = tmap_tile_column(f, m, height, lane);
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        int *p = out + (tmap_u64)tile.y * height * b.width + (tmap_u64)tile.x * width + lane;
#pragma unroll
        for (tmap_u32 y = 0; y < height; ++y, p += b.width)
            if (rows >> y & 1) *p = value;
    }
}

// A warp's tiles, a lane for each cell of a tile's table: of fractals whose rows do not begin with
// a sector, a wide tile has fewer sectors that two warps write.
TMAP_DEVICE void tmapi_sw_table(tmap_nbb f, tmap_box b, int value, int *out) {
    __shared__ tmap_u32 offsets[TMAP_TILE_TABLE_WORDS(TMAPI_TABLE_MOST)];
    tmap_u32 m = b.tile_level, cells = b.bx;
    tmap_u64 width = tmap_nbb_side_x(f, m), height = tmap_nbb_side_y(f, m);
    tmap_tiles tiles = tmap_tiles_begin(f, tmapi_box_level(b), m);
    tmap_tile_table_make(f, m, (tmap_u32)b.width, offsets);
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        int *p = out + tile.y * height * b.width + tile.x * width;
#pragma unroll 4
        for (tmap_u32 i = tiles.level.warp.lane; i < cells; i += 32) p[offsets[i]] = value;
    }
}

// All cells row by row, the lanes side by side in a row. Where rows begin anywhere in a sector,
// memory is asked for each sector before: what is written of it then finds the rest in the cache,
// and does not leave in pieces. (r = 10, ms, without and with: carpet 4.46 and 3.87, H 2.02 and
// 1.95; but gasket, r = 16: 0.37 and 0.41.)
TMAP_DEVICE void tmapi_sw_by_rows(tmap_nbb f, tmap_box b, int value, int *out) {
    TMAPI_ROWS_TABLES(rows, f, b);
    const tmapi_share share = tmapi_share_make(b);
    for (tmap_u64 first = share.first; first < share.end; first += share.stride) {
        tmap_row row = tmap_rows_seek(&rows, (tmap_u32)first);
        tmap_u32 left = tmapi_share_count(&share, b, first);
        for (;;) {
            tmap_u32 run = tmapi_rows_run(&row, left);
            int *p = out + row.y * b.width;
#pragma unroll 4
            for (tmap_u32 i = threadIdx.x % 32; i < run; i += 32) {
                int *at = p + tmap_rows_x(&rows, &row, i);
                if (f.sx % 2) tmapi_prefetch(at);
                *at = value;
            }
            if (!(left -= run)) break;
            tmap_rows_skip(&rows, run, &row);
        }
    }
}

// The same for sparse fractals: each cell alone. One block at a time for each multiprocessor, since
// more warps write more rows at a time, whose sectors leave the cache unfinished.
TMAP_DEVICE void tmapi_sw_by_cells(tmap_nbb f, tmap_box b, int value, int *out) {
    TMAPI_ROWS_EACH(tables, f, b);
    const tmapi_share share = tmapi_share_make(b);
    const tmap_u32 end = (tmap_u32)share.end;
    for (tmap_u32 i = (tmap_u32)share.first + threadIdx.x % 32; i < end; i += share.stride) {
        tmap_xy p = tmap_rows_at(&tables, i);
        out[p.y * b.width + p.x] = value;
    }
}

// A map for k cells, from a linear index.
TMAP_DEVICE void tmapi_sw_linear(tmap_nbb f, tmap_box b, int value, int *out) {
    tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    for (; i < b.columns; i += gridDim.x * (tmap_u64)blockDim.x) {
        tmap_xy p = tmap_nbb_lambda_linear(f, (tmap_u32)i, b.level);
#pragma unroll
        for (tmap_u32 copy = 0; copy < TMAP_REPLICAS_MAX; ++copy)
            if (copy < tmapi_linear_copies(f, b)) out[tmapi_linear_copy(f, b, p, copy)] = value;
    }
}

// Small fractals: small.h.
TMAP_DEVICE void tmapi_sw_small(tmap_nbb f, const tmapi_small *s, int value, int *out) {
    const tmap_u32 top = tmapi_small_top(f, 2, tmapi_small_copies(f, 16));
    const tmap_u64 down = tmapi_small_down(s);
    tmap_xy p;
    if (!tmapi_small_place(f, s, &p)) return;
    out += (tmap_u64)p.y * s->width + p.x;
    if (gridDim.y > 1) { // a copy for each row of blocks
        out[tmapi_small_copy(f, s, down, top, blockIdx.y)] = value;
        return;
    }
#pragma unroll
    for (tmap_u32 copy = 0; copy < TMAP_REPLICAS_MAX; ++copy)
        if (copy < tmapi_pow32(f.k, top)) out[tmapi_small_copy(f, s, down, top, copy)] = value;
}

// Words of shared memory for a tile's rows as bits: up to 256 rows of 256 places, and one word more
// in each row, so that rows begin in different banks.
#define TMAPI_SW_ROW_WORDS 9
#define TMAPI_SW_BITS_MOST 256

// The level of a tile whose rows are bits: as large as fits.
TMAP_FN tmap_u32 tmapi_sw_bits_level(tmap_nbb f, tmap_u32 r) {
    return tmap_nbb_tile_level(f, r, TMAPI_SW_BITS_MOST);
}

// 1 for fractals that are written by rows of bits: dense ones, at least a quarter of such a tile,
// of odd width, whose rows begin anywhere in a sector. Others have too few cells in a row (Vicsek,
// r = 10: 0.22 ms and more, 0.17 by the table) or rows that begin with a sector.
TMAP_FN int tmapi_sw_by_bits(tmap_nbb f, tmap_u32 r) {
    tmap_u32 m = tmapi_sw_bits_level(f, r);
    tmap_u64 places = tmap_nbb_side_x(f, m) * tmap_nbb_side_y(f, m);
    return f.sx % 2 && tmap_nbb_side_x(f, m) > 32 && 4 * tmap_nbb_cells(f, m) >= places;
}

// A warp's bands of tiles, a lane for each place from the beginning of a sector on, so that no
// store ends inside one. A sector across the border of two tiles belongs to the left one, whose
// warp also writes the cells of the right one there: in a row, all tiles of the fractal are alike.
// (Carpet, r = 10: 4.85 ms; each tile its own cells, 5.2; by the table, 6.4.)
TMAP_DEVICE void tmapi_sw_bits(tmap_nbb f, tmap_box b, int value, int *out) {
    __shared__ tmap_u32 bits[TMAPI_SW_BITS_MOST * TMAPI_SW_ROW_WORDS];
    const tmap_u32 r = tmapi_box_level(b), m = tmapi_sw_bits_level(f, r), band = 4;
    const tmap_u32 width = tmapi_pow32(f.sx, m), height = tmapi_pow32(f.sy, m);
    tmap_u32 cells = tmapi_pow32(f.k, m), bands = (height + band - 1) / band;
    tmap_tiles tiles = tmap_tiles_begin(f, r, m);
    tmap_u32 lane = tiles.level.warp.lane;
    for (tmap_u32 i = threadIdx.x; i < height * TMAPI_SW_ROW_WORDS; i += blockDim.x) bits[i] = 0;
    __syncthreads();
    for (tmap_u32 i = threadIdx.x; i < cells; i += blockDim.x) {
        tmap_xy p = tmap_nbb_lambda_linear(f, i, m);
        atomicOr(&bits[p.y * TMAPI_SW_ROW_WORDS + p.x / 32], 1u << (p.x % 32));
    }
    __syncthreads();
    for (tmap_u64 item = tiles.first; item < (tmap_u64)tiles.count * bands; item += tiles.stride) {
        tmap_u32 t = (tmap_u32)(item / bands), first = (tmap_u32)(item % bands) * band;
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        tmap_u32 beside = __ballot_sync(
            0xffffffffu, lane < 2 && tmap_nbb_contains(f, tile.x + 2 * lane - 1, tile.y, r - m));
        tmap_u64 at = ((tmap_u64)tile.y * height + first) * b.width + (tmap_u64)tile.x * width;
        for (tmap_u32 y = first; y < first + band && y < height; ++y, at += b.width) {
            const tmap_u32 *row = bits + y * TMAPI_SW_ROW_WORDS;
            tmap_u32 skew = (tmap_u32)(((tmap_u64)out / sizeof(int) + at) & 7);
            tmap_u32 end = skew + width, begin = skew; // places from the beginning of the sector
            if ((beside & 1) && skew) begin = 8;
            if (beside & 2) end = (end + 7) & ~7u;
#pragma unroll 4
            for (tmap_u32 i = lane; i < end; i += 32) {
                tmap_u32 x = i - skew, cell = x < width ? x : x - width;
                if (i >= begin && (row[cell / 32] >> (cell % 32) & 1)) out[at + x] = value;
            }
        }
    }
}

// Whole sectors, by groups of four columns: two lanes share the 32 bytes of one.
TMAP_DEVICE void tmapi_sw_sectors_groups(tmap_nbb f, tmap_box b, int value, int *out) {
    const tmap_u32 m = tmap_group_level(f), side = tmapi_pow32(f.sx, m), groups = side / 4;
    const tmap_u32 rows = side * side / 128;
    tmap_tiles tiles = tmap_tiles_begin(f, tmapi_box_level(b), m);
    tmap_u32 lane = tiles.level.warp.lane, group = lane % groups, band = lane / groups * rows;
    tmap_groups cells = tmap_groups_make(f, m, group, band, rows);
    tmap_u32 touched = 0; // bit i: row i of the band, in this lane's sector
    for (tmap_u32 i = 0; i < rows; ++i) touched |= (tmap_groups_row(&cells, i) ? 1u : 0u) << i;
    touched |= __shfl_xor_sync(0xffffffffu, touched, 1);
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        int *p =
            out + ((tmap_u64)tile.y * side + band) * b.width + (tmap_u64)tile.x * side + 4 * group;
#pragma unroll
        for (tmap_u32 i = 0; i < rows; ++i, p += b.width)
            if (touched >> i & 1) *(int4 *)p = make_int4(value, value, value, value);
    }
}

// Whole sectors of any fractal: a row of a tile begins somewhere in a sector, `skew` places in, and
// the lanes stand on the places from the beginning of that sector on.
TMAP_DEVICE void tmapi_sw_sectors_tile(tmap_nbb f, tmap_box b, int value, int *out) {
    const tmap_u32 width = tmapi_tile_width(f), height = tmapi_tile_height(f);
    const tmap_u32 r = tmapi_box_level(b), m = tmap_tile_level(f, r);
    tmap_tiles tiles = tmap_tiles_begin(f, r, m);
    tmap_u32 lane = tiles.level.warp.lane, rows = tmap_tile_column(f, m, height, lane);
    tmap_u32 columns = 0; // of row `lane` of a tile that are cells
    for (tmap_u32 y = 0; y < height; ++y) {
        tmap_u32 row = __ballot_sync(0xffffffffu, rows >> y & 1);
        if (lane == y) columns = row;
    }
    for (tmap_u32 t = tiles.first; t < tiles.count; t += tiles.stride) {
        tmap_xy tile = tmap_tiles_at(&tiles, f, t);
        tmap_u64 begin = (tmap_u64)tile.y * height * b.width + (tmap_u64)tile.x * width;
        for (tmap_u32 y = 0; y < height; ++y, begin += b.width) {
            tmap_u32 skew = (tmap_u32)(((tmap_u64)out / sizeof(int) + begin) & 7);
            tmap_u64 cells = (tmap_u64)__shfl_sync(0xffffffffu, columns, y) << skew;
            for (tmap_u32 c = lane; c < width + 8; c += 32) { // skew + width, up to a sector's end
                tmap_u64 place = begin + c - skew;
                if ((cells >> (c & ~7u) & 255) && begin + c >= skew && place < b.width * b.height)
                    out[place] = value;
            }
        }
    }
}

TMAP_DEVICE void tmapi_sw_sectors(int map, int constant, tmap_nbb f, tmap_box b, int value,
                                  int *out) {
    (void)map;
    if (constant && tmap_nbb_has_groups(f) && tmapi_groups_fit(f, b, out, 32))
        tmapi_sw_sectors_groups(f, b, value, out);
    else
        tmapi_sw_sectors_tile(f, b, value, out);
}

TMAP_DEVICE void tmapi_sw(int map, tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out) {
    tmap_xy p;
    if (map == TMAP_MAP_TILE && tmap_nbb_has_ballot(f)) {
        tmapi_sw_rows(f, b, value, out);
    } else if (map == TMAP_MAP_TILE && tmapi_sw_by_bits(f, tmapi_box_level(b))) {
        tmapi_sw_bits(f, b, value, out);
    } else if (map == TMAP_MAP_TILE) {
        tmapi_sw_table(f, b, value, out);
    } else if (map == TMAP_MAP_LAMBDA_LINEAR) {
        tmapi_sw_linear(f, b, value, out);
    } else if (map == TMAP_MAP_ROWS) {
        tmapi_rows_sparse(f) && b.each ? tmapi_sw_by_cells(f, b, value, out)
                                       : tmapi_sw_by_rows(f, b, value, out);
    } else if (map != TMAP_MAP_BB)
        tmapi_walk_full() ? tmapi_sw_walk(map, f, b, tmap_warp_full(), value, out)
                          : tmapi_sw_walk(map, f, b, tmap_warp_self(), value, out);
    else if (tmapi_bb_place(f, b, row, &p))
        out[p.y * b.width + p.x] = value;
}

#define TMAPI_SW(name, ...) \
    TMAPI_STAMP(tmapi_sw, name, 1, tmap_fractal_##name(), \
                (tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out), \
                (map, f, b, row, value, out)) \
    TMAPI_STAMP_KERNEL(tmapi_sw_sectors, all, , TMAP_MAP_TILE, name, 1, tmap_fractal_##name(), \
                       (tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out), \
                       (map, constant, f, b, value, out)) \
    TMAPI_SMALL_STAMP(tmapi_sw_small, name, (tmapi_small s, int value, int *out), \
                      (f, &s, value, out))
TMAP_FRACTALS(TMAPI_SW)
TMAPI_STAMP(tmapi_sw, own, 0, f, (tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out),
            (map, f, b, row, value, out))
TMAPI_STAMP_KERNEL(tmapi_sw_sectors, all, , TMAP_MAP_TILE, own, 0, f,
                   (tmap_nbb f, tmap_box b, tmap_u32 row, int value, int *out),
                   (map, constant, f, b, value, out))
#undef TMAPI_SW

#endif // TMAP_CUDA

#if TMAP_CUDA && !TMAP_NVRTC

// Writes `value` to every cell of fractal f of level r and to no other place.
// rho: side of the blocks, 1..32; a rho that is not a power of s is rounded down to one for the
// lambda maps.
// map: a tmap_map; ballot for fractals with s = 2. out: sx^r x sy^r integers in device memory, row
// by row.
// Returns what tmap_box_make refuses as cudaErrorInvalidValue or cudaErrorInvalidConfiguration,
// else the launch's error. Cost: one store a cell; BB also launches the threads of the whole
// embedding.
// Example: tmap_sw_i32(tmap_fractal_gasket(), 10, 16, TMAP_MAP_LAMBDA_BALLOT, 1, out, 0).
static inline cudaError_t tmap_sw_i32(tmap_nbb f, tmap_u32 r, tmap_u32 rho, int map, int value,
                                      int *out, cudaStream_t stream) {
    typedef void (*kernel)(tmap_nbb, tmap_box, tmap_u32, int, int *);
    static const kernel kernels[TMAP_FRACTAL_COUNT + 1][TMAP_MAP_COUNT] = {
#define TMAPI_SW(name, ...) TMAPI_STAMP_ROW(tmapi_sw, name)
        TMAP_FRACTALS(TMAPI_SW) TMAPI_STAMP_ROW(tmapi_sw, own)
#undef TMAPI_SW
    };
    tmap_box b;
    dim3 grid, block;
    cudaError_t status;
    if (map == TMAP_MAP_LAMBDA_LINEAR && rho == 32 && out) {
#define TMAPI_SW(name, ...) \
    TMAPI_SMALL_LAUNCH(tmapi_sw_small_##name, name, 2, tmapi_small_copies(same, 16), 0, 0, , \
                       value, out)
        TMAP_FRACTALS(TMAPI_SW)
#undef TMAPI_SW
    }
    int error = tmap_box_make(f, r, rho, map, &b);
    if (error || !out) return tmapi_box_error(error ? error : TMAP_EINVAL);
    if (map == TMAP_MAP_ROWS) f = tmap_nbb_by_rows(f);
    tmapi_box_rows(f, r, map, 1, 1, &b);
    // By tiles, few warps do best: their stores stay in order. (Gasket, r = 16: 0.339 ms; 128 warps
    // for each multiprocessor in blocks of 256 threads 0.348.)
    const int bits = map == TMAP_MAP_TILE && tmapi_sw_by_bits(f, r);
    const tmapi_tuning tuning = {4, 16, bits ? 24u : 16u, bits ? 256u : 512u, 1, 512};
    if ((status = tmapi_box_grid(&b, map, tuning, &grid, &block)) != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)][map], f, value, out);
    return status;
}

// The same, but whole sectors: `value` also goes to the places beside a cell that share its 32
// bytes of memory, which may be empty ones, or beyond the fractal's rows and columns but inside the
// matrix. For callers to whom those places do not matter: memory takes part of a sector at the
// price of a read and a write (gasket, r = 16: 0.20 ms against 0.34).
// Parameters, errors and cost otherwise as for tmap_sw_i32 with TMAP_MAP_TILE.
static inline cudaError_t tmap_sw_sectors_i32(tmap_nbb f, tmap_u32 r, int value, int *out,
                                              cudaStream_t stream) {
    typedef void (*kernel)(tmap_nbb, tmap_box, tmap_u32, int, int *);
    static const kernel kernels[TMAP_FRACTAL_COUNT + 1] = {
#define TMAPI_SW(name, ...) tmapi_sw_sectors_all_##name,
        TMAP_FRACTALS(TMAPI_SW) tmapi_sw_sectors_all_own
#undef TMAPI_SW
    };
    const int map = TMAP_MAP_TILE;
    tmap_box b;
    dim3 grid, block;
    cudaError_t status;
    int error = tmap_box_make(f, r, 32, map, &b);
    if (error || !out) return tmapi_box_error(error ? error : TMAP_EINVAL);
    const tmapi_tuning tuning = {0, 0, 128, 256, 0, 0};
    if ((status = tmapi_box_grid(&b, map, tuning, &grid, &block)) != cudaSuccess) return status;
    TMAPI_LAUNCH(kernels[tmapi_table_index(f)], f, value, out);
    return status;
}

#endif
#endif
