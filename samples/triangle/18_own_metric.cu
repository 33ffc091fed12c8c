// SPDX-License-Identifier: MIT
// 18_own_metric.cu: a value for each pair of n points, by a metric of your own (tmap_pairs_store).
// Here it is the distance along the surface of the earth, in kilometres.
//
// The points are unit vectors. The angle between u and v is 2 atan(|u - v| / |u + v|). In single
// precision, acos(u . v) would be inexact for points that are near or opposite to each other.
// nvcc -O3 -arch=native -I include samples/triangle/18_own_metric.cu -o own_metric
#include "../check.h"

#include <threadmap/triangle.h>

#include <math.h>

#define EARTH_RADIUS 6371.0f // kilometres

enum {
    CITIES = 5, // the first points
    N = 700     // points; those after the cities are on a spiral from pole to pole
};

typedef struct globe {
    const float *points; // unit vectors: x, y, z of each
    float *out;          // kilometres
} globe;

TMAP_FN float length(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }

TMAP_FN float kilometres(const float *u, const float *v) {
    const float apart = length(u[0] - v[0], u[1] - v[1], u[2] - v[2]);
    const float together = length(u[0] + v[0], u[1] + v[1], u[2] + v[2]);
    return EARTH_RADIUS * 2 * atan2f(apart, together);
}

// [snippet: own-metric]
TMAP_DEVICE void metric(void *, tmap_pair, const void *a, const void *b, void *value) {
    *(float *)value = kilometres((const float *)a, (const float *)b);
}

__global__ void __launch_bounds__(TMAP_PAIRS_STORE_THREADS)
    distances(tmap_pairs_plan plan, globe g) {
    const tmap_points points = {g.points, 0, sizeof(float), 3}; // one set, 3 coordinates
    tmap_pairs_store(&plan, points, metric, sizeof(float), g.out, &g);
}
// [/snippet]

static const char *const names[CITIES] = {"Oslo", "Lima", "Cairo", "Tokyo", "Auckland"};
static const double degrees[CITIES][2] = {
    {59.91, 10.75}, {-12.05, -77.05}, {30.04, 31.24}, {35.68, 139.69}, {-36.85, 174.76}};
static double north[N]; // latitudes and longitudes of all points in radians
static double east[N];

static void place_points(float *points) {
    const double degree = 3.14159265358979 / 180;
    for (int i = 0; i < N; ++i) {
        const double part = (i + 0.5) / N; // of the way along the spiral
        north[i] = i < CITIES ? degree * degrees[i][0] : asin(2 * part - 1);
        east[i] = i < CITIES ? degree * degrees[i][1] : 100 * part;
        points[3 * i] = (float)(cos(north[i]) * cos(east[i]));
        points[3 * i + 1] = (float)(cos(north[i]) * sin(east[i]));
        points[3 * i + 2] = (float)sin(north[i]);
    }
}

// The distance by the haversine formula, in double precision.
static double haversine(int i, int j) {
    const double up = sin((north[i] - north[j]) / 2);
    const double across = sin((east[i] - east[j]) / 2);
    const double h = up * up + cos(north[i]) * cos(north[j]) * across * across;
    return 2 * EARTH_RADIUS * asin(sqrt(h));
}

// Counts the distances that differ from the host's.
static int check_distances(const float *got) {
    const double tolerance = 0.05; // kilometres
    int wrong = 0;
    for (int i = 0; i < N; ++i)
        for (int j = i + 1; j < N; ++j) {
            const tmap_u64 k = tmap_condensed_index(i, j, N); // scipy's order
            wrong += !(fabs(got[k] - haversine(i, j)) <= tolerance);
        }
    return wrong;
}

int main(void) {
    check_gpu();

    float *points;
    CHECK(cudaMallocManaged((void **)&points, 3 * N * sizeof(float)));
    place_points(points);

    globe g;
    g.points = points;
    // [snippet: own-metric-launch]
    // The members: n, d, size (bytes of a coordinate), layout, value (bytes of a value).
    const tmap_pairs_store_shape shape = {N, 3, sizeof(float), TMAP_PAIRS_CONDENSED, sizeof(float)};
    tmap_pairs_plan plan;
    CHECK(tmap_pairs_store_plan_make(shape, (const void *)distances, &plan)); // once
    CHECK(cudaMallocManaged((void **)&g.out, tmap_pairs_store_bytes(&plan)));
    CHECK(tmap_pairs_store_launch(&plan, &g, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < CITIES; ++i)
        for (int j = i + 1; j < CITIES; ++j) {
            const float distance = g.out[tmap_condensed_index(i, j, N)];
            printf("%-5s - %-8s %6.0f km\n", names[i], names[j], distance);
        }
    const int wrong = check_distances(g.out);
    CHECK(cudaFree(points));
    CHECK(cudaFree(g.out));
    return check_result("distances over the globe", wrong);
}
