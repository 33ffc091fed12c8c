// SPDX-License-Identifier: MIT
// 07_distance_matrix.cu: the distances of all pairs of n points, by the ready kernel of pdist.h, in
// the order of scipy.spatial.distance.pdist: (0,1) (0,2) ... (0,n-1) (1,2) ..., n(n-1)/2 floats.
// nvcc -O3 -arch=native -I include samples/triangle/07_distance_matrix.cu -o distance_matrix
#include <threadmap/triangle/pdist.h>
#include <math.h>
#include <stdio.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

int main(void) {
    enum { N = 200, D = 3, PAIRS = N * (N - 1) / 2 };
    static float host[N][D], distance[PAIRS], most;
    float *points, *out;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    for (int i = 0; i < N; ++i) { // a coil that closes
        const float t = 6.2831853f * i / N;
        host[i][0] = 3 * cosf(t), host[i][1] = 3 * sinf(t), host[i][2] = sinf(4 * t);
    }
    CHECK(cudaMalloc((void **)&points, sizeof host));
    CHECK(cudaMalloc((void **)&out, sizeof distance));
    CHECK(cudaMemcpy(points, host, sizeof host, cudaMemcpyHostToDevice));
    // [snippet: distances]
    // points: n x d floats, out: tmap_condensed_cells(n) floats, both in device memory
    const tmap_pdist_points all = {points, N, D};
    CHECK(tmap_pdist_f32(all, TMAP_PDIST_EUCLIDEAN, TMAP_PAIRS_CONDENSED, out, 0));
    // [/snippet]
    CHECK(cudaMemcpy(distance, out, sizeof distance, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(points));
    CHECK(cudaFree(out));

    for (int i = 0, k = 0; i < N; ++i)
        for (int j = i + 1; j < N; ++j, ++k) {
            double sum = 0;
            for (int c = 0; c < D; ++c) sum += pow((double)host[i][c] - host[j][c], 2);
            wrong += !(fabs(distance[k] - sqrt(sum)) <= 1e-6 * sqrt(sum));
            most = distance[k] > most ? distance[k] : most;
        }
    for (int y = 0; y < N; y += 8) // a heat map of the whole matrix
        for (int x = 0; x < N; x += 4) {
            const int i = x < y ? x : y, j = x < y ? y : x;
            const float d = i == j ? 0 : distance[tmap_condensed_index(i, j, N)];
            putchar(" .:-=+*#%@"[(int)(9.99f * d / most)]);
            if (x + 4 >= N) putchar('\n');
        }
    printf("distances: blank 0 to @ %.2f\n%d pairs of %d points: %s\n", most, PAIRS, N,
           wrong ? "WRONG" : "ok");
    return wrong != 0;
}
