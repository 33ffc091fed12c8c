// SPDX-License-Identifier: MIT
// 08_tile_map.cu: one block for each tile of a triangle of pairs, by the map g(lambda) of LTM. The
// kernel is your own; a block reads each point of its tile once for all pairs of the tile.
//
// The pairs (i, j), j <= i, of n points form a lower triangle of n rows. Cut into tiles of
// RHO x RHO pairs, it is a triangle of tiles: block lambda takes tile g(lambda). No block is
// launched for a tile above the diagonal.
// nvcc -O3 -arch=native -I include samples/triangle/08_tile_map.cu -o tile_map
#include "../check.h"
#include "../picture.h"

#include <threadmap/triangle.h>

enum {
    N = 60,          // points; not a multiple of RHO, so that the last tiles have fewer rows
    RHO = 16,        // side of a tile
    ROWS = 4,        // of tiles
    UNWRITTEN = -1,  // a place that no thread writes
    ZOOM = 8,        // pixels of a place in the picture
    PAIR = 0x9cc3e4, // colours
    IDLE = 0xe6e2da
};

// out[i][j] = |points[i] - points[j]| for j <= i
__global__ void distances(const int *points, tmap_u32 n, int *out) {
    __shared__ int rows[RHO];
    __shared__ int columns[RHO];
    const tmap_triangle_tile tile = tmap_triangle_tile_map(blockIdx.x, n, RHO);
    const tmap_u32 x = threadIdx.x;
    const tmap_u32 y = threadIdx.y;

    if (x == 0 && y < tile.rows) rows[y] = points[tile.i + y];
    if (y == 0 && x < tile.columns) columns[x] = points[tile.j + x];
    __syncthreads();

    if (tmap_triangle_tile_contains(tile, x, y)) { // not above the diagonal or below row n
        const tmap_u64 i = tile.i + y;
        const tmap_u64 j = tile.j + x;
        out[i * n + j] = abs(rows[y] - columns[x]);
    }
}

// Counts the places that differ from what the host computes, above the diagonal too.
static int check_distances(const int *points, int got[N][N]) {
    int wrong = 0;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
            const int want = j <= i ? abs(points[i] - points[j]) : UNWRITTEN;
            wrong += got[i][j] != want;
        }
    return wrong;
}

// Draws one square for each thread of each block, at its place in the matrix.
static void draw(unsigned blocks, int got[N][N]) {
    const tmap_u32 side = ROWS * (RHO + 1); // with a gap between tiles
    picture p = picture_make(side, side, ZOOM, "Blocks 0 to 9 and their 16 x 16 threads");
    for (unsigned block = 0; block < blocks; ++block) {
        const tmap_triangle_tile tile = tmap_triangle_tile_map(block, N, RHO);
        const tmap_u32 left = tile.j / RHO * (RHO + 1);
        const tmap_u32 top = tile.i / RHO * (RHO + 1);
        for (tmap_u32 y = 0; y < RHO; ++y)
            for (tmap_u32 x = 0; x < RHO; ++x) {
                const int in_matrix = tile.i + y < N && tile.j + x < N;
                const int idle = !in_matrix || got[tile.i + y][tile.j + x] == UNWRITTEN;
                picture_set(&p, left + x, top + y, idle ? IDLE : PAIR);
            }
        char number[16];
        snprintf(number, sizeof number, "%u", block);
        canvas_text(&p.all, PICTURE_MARGIN + (left + 4) * ZOOM, PICTURE_TOP + (top + 10) * ZOOM,
                    number);
    }
    picture_key(&p, PAIR, "thread with a pair");
    picture_key(&p, IDLE, "idle thread");
    picture_save(&p, "tile_map");
}

int main(void) {
    static int host[N];
    static int got[N][N];
    check_gpu();

    for (int i = 0; i < N; ++i) host[i] = i * i % 97;
    int *points;
    int *out;
    CHECK(cudaMalloc((void **)&points, sizeof host));
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemcpy(points, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, UNWRITTEN, sizeof got));

    const unsigned blocks = (unsigned)tmap_triangle_tiles(N, RHO); // one for each tile
    distances<<<blocks, dim3(RHO, RHO)>>>(points, N, out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(points));
    CHECK(cudaFree(out));

    for (unsigned block = 0; block < blocks; ++block) {
        const tmap_triangle_tile tile = tmap_triangle_tile_map(block, N, RHO);
        printf("block %u: rows from %2u, columns from %2u, %3llu pairs\n", block, tile.i, tile.j,
               tmap_triangle_tile_cells(tile));
    }
    draw(blocks, got);
    return check_result("a block for each tile", check_distances(host, got));
}
