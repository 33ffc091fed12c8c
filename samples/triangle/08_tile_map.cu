// SPDX-License-Identifier: MIT
// 08_tile_map.cu: a block for each tile of a triangle, by the map g(lambda) of LTM, in a kernel of
// one's own that reads each point once for all pairs of a tile.
//
// A lower triangle of n rows, cut into tiles of RHO x RHO, is a triangle of tiles: block lambda
// takes tile g(lambda) = (i, j), j <= i, and no block lies above the diagonal.
// nvcc -O3 -arch=native -I include samples/triangle/08_tile_map.cu -o tile_map
#include <threadmap/triangle.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

enum { RHO = 16 };
// [snippet: tile-map]
// out[i][j] = |points[i] - points[j]| for j <= i
__global__ void distances(const int *points, tmap_u32 n, int *out) {
    __shared__ int rows[RHO], columns[RHO];
    tmap_triangle_tile t = tmap_triangle_tile_map(blockIdx.x, n, RHO);
    tmap_u32 x = threadIdx.x, y = threadIdx.y;
    if (x == 0 && y < t.rows) rows[y] = points[t.i + y];
    if (y == 0 && x < t.columns) columns[x] = points[t.j + x];
    __syncthreads();
    if (tmap_triangle_tile_contains(t, x, y)) // not above the diagonal, nor beyond row n
        out[(t.i + y) * (tmap_u64)n + t.j + x] = abs(rows[y] - columns[x]);
}
// [/snippet]

int main(void) {
    enum { N = 60, POISON = -1 }; // no multiple of RHO
    static int host[N], got[N][N];
    int *points, *out, devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int i = 0; i < N; ++i) host[i] = i * i % 97 / 10;
    CHECK(cudaMalloc((void **)&points, sizeof host));
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemcpy(points, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, POISON, sizeof got));
    // [snippet: tile-launch]
    unsigned tiles = (unsigned)tmap_triangle_tiles(N, RHO); // a triangle of them, too
    distances<<<tiles, dim3(RHO, RHO)>>>(points, N, out);
    // [/snippet]
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            const int d = got[i][j];
            wrong += d != (j <= i ? abs(host[i] - host[j]) : POISON);
            putchar(d == POISON ? '.' : d >= 0 && d < 10 ? '0' + d : '?');
            if (j % RHO == RHO - 1) putchar(' '); // between tiles
        }
        puts(i % RHO == RHO - 1 ? "\n" : "");
    }
    printf("%u blocks of %d x %d threads: %s\n", tiles, RHO, RHO, wrong ? "WRONG" : "ok");
    return cudaFree(points) || cudaFree(out) || wrong;
}
