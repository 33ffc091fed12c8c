// SPDX-License-Identifier: MIT
// 06_pairs.cu: one thread for each pair of n points, by the map g. Here the threads count the pairs
// that are closer than a cutoff.
//
// The pairs (i, j) with j < i form a triangle of n(n-1)/2 cells; n x n threads would visit every
// pair twice. Thread lambda takes the pair
//     g(lambda) = (i, lambda - i(i-1)/2),     i = floor(1/2 + sqrt(1/4 + 2 lambda)).
// The library computes g exactly for every lambda below 2^64.
// nvcc -O3 -arch=native -I include samples/triangle/06_pairs.cu -o pairs
#include "../check.h"

#include <threadmap/triangle.h>

enum {
    N = 1000,     // points
    SIDE = 1024,  // of the square that they lie in
    CUTOFF = 32,  // a distance
    THREADS = 256 // of a block
};

typedef struct point {
    int x;
    int y;
} point;

TMAP_FN int squared_distance(point a, point b) {
    const int x = a.x - b.x;
    const int y = a.y - b.y;
    return x * x + y * y;
}

// [snippet: pairs]
__global__ void count_close_pairs(const point *points, tmap_u64 pairs, tmap_u64 *count) {
    const tmap_u64 lambda = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    if (lambda >= pairs) return; // the last block may have more threads than pairs remain

    const tmap_pair64 pair = tmap_triangle_map_strict64(lambda); // (i, j) with j < i
    const int squared = squared_distance(points[pair.i], points[pair.j]);
    if (squared < CUTOFF * CUTOFF) atomicAdd(count, 1ull);
}
// [/snippet]

// Spreads the points over the square.
static void place_points(point *points) {
    for (tmap_u32 i = 0; i < N; ++i) {
        points[i].x = (int)(i * 2654435769u >> 22); // the upper 10 bits of a hash
        points[i].y = (int)(i * i * 2246822519u >> 22);
    }
}

// Counts the lambdas that the map sends to a wrong pair. The order is (1,0) (2,0) (2,1) (3,0) ...
static int check_map(void) {
    int wrong = 0;
    tmap_u64 lambda = 0;
    for (tmap_u64 i = 0; i < N; ++i)
        for (tmap_u64 j = 0; j < i; ++j) {
            const tmap_pair64 pair = tmap_triangle_map_strict64(lambda);
            wrong += pair.i != i || pair.j != j;
            ++lambda;
        }
    return wrong;
}

static tmap_u64 count_on_host(const point *points) {
    tmap_u64 count = 0;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < i; ++j)
            count += squared_distance(points[i], points[j]) < CUTOFF * CUTOFF;
    return count;
}

int main(void) {
    static point host[N];
    check_gpu();

    place_points(host);
    point *points;
    tmap_u64 *count;
    CHECK(cudaMalloc((void **)&points, sizeof host));
    CHECK(cudaMalloc((void **)&count, sizeof *count));
    CHECK(cudaMemcpy(points, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(count, 0, sizeof *count));

    // [snippet: pairs-launch]
    const tmap_u64 pairs = tmap_triangle_cells_strict(N); // n(n-1)/2
    const unsigned blocks = (unsigned)((pairs + THREADS - 1) / THREADS);
    count_close_pairs<<<blocks, THREADS>>>(points, pairs, count);
    // [/snippet]
    CHECK(cudaGetLastError());
    tmap_u64 got;
    CHECK(cudaMemcpy(&got, count, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(points));
    CHECK(cudaFree(count));

    for (tmap_u64 lambda = 0; lambda < 6; ++lambda) {
        const tmap_pair64 pair = tmap_triangle_map_strict64(lambda);
        printf("thread %llu: pair (%llu, %llu)\n", lambda, pair.i, pair.j);
    }
    printf("... %llu threads in all\n", pairs);
    printf("%llu pairs are closer than %d in a square of side %d\n", got, CUTOFF, SIDE);

    const int wrong = check_map() + (got != count_on_host(host));
    return check_result("a thread for each pair", wrong);
}
