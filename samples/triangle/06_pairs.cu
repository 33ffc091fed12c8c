// SPDX-License-Identifier: MIT
// 06_pairs.cu: a thread for each pair of n things, by the map g. Here it counts the pairs of points
// that are nearer to each other than a cutoff.
//
// The pairs (i, j), j < i, of n things are a triangle of n(n-1)/2 cells, where a launch over n x n
// would do every pair twice. Thread lambda goes to
//     g(lambda) = (i, lambda - i(i-1)/2),     i = floor(1/2 + sqrt(1/4 + 2 lambda)),
// which is exact for every lambda below 2^64.
// nvcc -O3 -arch=native -I include samples/triangle/06_pairs.cu -o pairs
#include <threadmap/triangle.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

typedef struct point {
    int x, y;
} point;
TMAP_FN int squared(point a, point b) {
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// [snippet: pairs]
__global__ void near_pairs(const point *points, tmap_u64 pairs, int cutoff, tmap_u64 *count) {
    tmap_u64 lambda = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (lambda >= pairs) return;                             // the last block overlaps the end
    tmap_pair64 p = tmap_triangle_map_strict64(lambda);      // thread lambda -> pair (i, j), j < i
    if (squared(points[p.i], points[p.j]) < cutoff * cutoff) // whatever you want to do with it
        atomicAdd(count, 1ull);
}
// [/snippet]

int main(void) {
    enum { N = 1000, SIDE = 1024, CUTOFF = 32 };
    static point host[N], *points;
    tmap_u64 *count, got, want = 0;
    int devices;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (tmap_u32 i = 0; i < N; ++i) // spread over a square
        host[i].x = (int)(i * 2654435769u >> 22), host[i].y = (int)(i * i * 2246822519u >> 22);
    CHECK(cudaMalloc((void **)&points, sizeof host));
    CHECK(cudaMalloc((void **)&count, sizeof *count));
    CHECK(cudaMemcpy(points, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(count, 0, sizeof *count));
    // [snippet: pairs-launch]
    tmap_u64 pairs = tmap_triangle_cells_strict(N); // n(n-1)/2
    near_pairs<<<(unsigned)((pairs + 255) / 256), 256>>>(points, pairs, CUTOFF, count);
    // [/snippet]
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&got, count, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < i; ++j) want += squared(host[i], host[j]) < CUTOFF * CUTOFF;
    for (tmap_u64 lambda = 0; lambda < 6; ++lambda) {
        tmap_pair64 p = tmap_triangle_map_strict64(lambda);
        printf("thread %llu: pair (%llu, %llu)\n", lambda, p.i, p.j);
    }
    printf("... and %llu more; %llu pairs nearer than %d in a square of %d: %s\n", pairs - 6, got,
           CUTOFF, SIDE, got == want ? "ok" : "WRONG");
    return cudaFree(points) || cudaFree(count) || got != want;
}
