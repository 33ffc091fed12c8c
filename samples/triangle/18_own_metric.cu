// SPDX-License-Identifier: MIT
// 18_own_metric.cu: a metric of one's own for all pairs by tmap_pairs_store: ways over the globe.
// nvcc -O3 -arch=native -I include samples/triangle/18_own_metric.cu -o own_metric
#include <stdio.h>
#include <threadmap/triangle.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { CITIES = 5, N = 700 }; // the others are on a spiral from pole to pole
// [snippet: own-metric]
typedef struct globe {
    float *points, *out; // unit vectors; kilometres
} globe;
// By the lengths of u - v and u + v: as exact for near points and opposite ones, where acos is not.
TMAP_FN float kilometres(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    const float p = u[0] + v[0], q = u[1] + v[1], r = u[2] + v[2];
    return 2 * 6371.0f * atan2f(sqrtf(x * x + y * y + z * z), sqrtf(p * p + q * q + r * r));
}
TMAP_DEVICE void metric(void *, tmap_pair, const void *a, const void *b, void *value) {
    *(float *)value = kilometres((const float *)a, (const float *)b);
}
__global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS)
    distances(tmap_pairs_plan plan, globe g) {
    const tmap_points points = {g.points, 0, sizeof(float), 3};
    tmap_pairs_store(&plan, points, metric, sizeof(float), g.out, &g);
}
// [/snippet]
int main(void) {
    static const char *const names[CITIES] = {"Oslo", "Lima", "Cairo", "Tokyo", "Auckland"};
    static const double degrees[] = {59.91, 10.75,  -12.05, -77.05, 30.04, 31.24, // north, east
                                     35.68, 139.69, -36.85, 174.76};
    tmap_pairs_plan plan;
    globe g;
    int devices, wrong = 0;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    CHECK(cudaMallocManaged((void **)&g.points, 3 * N * sizeof(float)));
    for (int i = 0; i < N; ++i) {
        const double turn = 3.14159265358979 / 180, t = (i + 0.5) / N;
        const double north = i < CITIES ? turn * degrees[2 * i] : asin(2 * t - 1);
        const double east = i < CITIES ? turn * degrees[2 * i + 1] : 100 * t;
        g.points[3 * i] = (float)(cos(north) * cos(east));
        g.points[3 * i + 1] = (float)(cos(north) * sin(east));
        g.points[3 * i + 2] = (float)sin(north);
    }
    // [snippet: own-metric-launch]
    const tmap_pairs_store_shape shape = {N, 3, sizeof(float), TMAP_PAIRS_CONDENSED, sizeof(float)};
    CHECK(tmap_pairs_store_plan_make(shape, (const void *)distances, &plan)); // once
    CHECK(cudaMallocManaged((void **)&g.out, tmap_pairs_store_bytes(&plan)));
    CHECK(tmap_pairs_store_launch(&plan, &g, 0) || cudaDeviceSynchronize());
    // [/snippet]
    for (tmap_u32 i = 0; i < N; ++i)
        for (tmap_u32 j = i + 1; j < N; ++j) {
            const float got = g.out[tmap_condensed_index(i, j, N)]; // scipy's order
            wrong += !(fabsf(got - kilometres(g.points + 3 * i, g.points + 3 * j)) <= 0.05f);
            if (j < CITIES) printf("%-5s - %-8s %6.0f km\n", names[i], names[j], (double)got);
        }
    printf("distances over the globe: %s\n", wrong ? "WRONG" : "ok");
    return cudaFree(g.points) || cudaFree(g.out) || wrong;
}
