// SPDX-License-Identifier: MIT
// 07_distance_matrix.cu: the distances between all pairs of n points, with the ready kernel of
// triangle/pdist.h. It draws them as a matrix.
//
// The n(n-1)/2 distances are in the order of scipy.spatial.distance.pdist:
//     (0,1) (0,2) ... (0,n-1) (1,2) (1,3) ...
// nvcc -O3 -arch=native -I include samples/triangle/07_distance_matrix.cu -o distance_matrix
#include "../check.h"
#include "../picture.h"

#include <threadmap/triangle/pdist.h>

#include <math.h>

enum {
    N = 200, // points
    D = 3,   // coordinates of a point
    PAIRS = N * (N - 1) / 2
};

// Puts the points on a circle of radius 3 that goes up and down four times.
static void place_points(float points[N][D]) {
    for (int i = 0; i < N; ++i) {
        const float angle = 6.2831853f * i / N;
        points[i][0] = 3 * cosf(angle);
        points[i][1] = 3 * sinf(angle);
        points[i][2] = sinf(4 * angle);
    }
}

// Element (i, j) of the full matrix.
static float element(const float *distances, int i, int j) {
    if (i == j) return 0;
    return distances[i < j ? tmap_condensed_index(i, j, N) : tmap_condensed_index(j, i, N)];
}

// Counts the distances that differ from those computed in double precision.
static int check_distances(float points[N][D], const float *got) {
    const double tolerance = 1e-6; // relative
    int wrong = 0;
    int k = 0;
    for (int i = 0; i < N; ++i)
        for (int j = i + 1; j < N; ++j) {
            double sum = 0;
            for (int c = 0; c < D; ++c) sum += pow((double)points[i][c] - points[j][c], 2);
            const double want = sqrt(sum);
            wrong += !(fabs(got[k] - want) <= tolerance * want);
            ++k;
        }
    return wrong;
}

static void draw(const float *distances, float longest) {
    picture p = picture_make(N, N, 3, "Distance between points i and j of a closed curve");
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            picture_set(&p, j, i, canvas_shade(element(distances, i, j) / longest));
    picture_scale(&p, 0, longest);
    picture_save(&p, "distance_matrix");
}

int main(void) {
    static float host[N][D];
    static float got[PAIRS];
    check_gpu();

    place_points(host);
    float *points;
    float *out;
    CHECK(cudaMalloc((void **)&points, sizeof host));
    CHECK(cudaMalloc((void **)&out, sizeof got));
    CHECK(cudaMemcpy(points, host, sizeof host, cudaMemcpyHostToDevice));

    // [snippet: distances]
    // points: n x d floats; out: tmap_condensed_cells(n) floats; both in device memory
    const tmap_pdist_points all = {points, N, D};
    CHECK(tmap_pdist_f32(all, TMAP_PDIST_EUCLIDEAN, TMAP_PAIRS_CONDENSED, out, 0));
    // [/snippet]
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(points));
    CHECK(cudaFree(out));

    float longest = 0;
    for (int k = 0; k < PAIRS; ++k) longest = fmaxf(longest, got[k]);
    for (int j = 1; j < N; j += 33)
        printf("from point 0 to point %3d: %.4f\n", j, element(got, 0, j));
    printf("the longest of %d distances: %.4f\n", PAIRS, longest);
    draw(got, longest);
    return check_result("distances between all pairs", check_distances(host, got));
}
