// SPDX-License-Identifier: MIT
// distances.cu: explore distances: the distances of all pairs of points, by a thread a pair and by
// the ready kernel, as an .npy file that scipy.spatial.distance.squareform opens, and a heat map.
#include "picture.h"
#include "points.h"

#include <threadmap/triangle/pdist.h>

static const char help[] =
    "usage: explore distances [OPTION VALUE]...\n"
    "Writes the distances of all pairs of points, (0,1) (0,2) ... (1,2) ..., and checks each.\n"
    "  --input    .npy of float32 or float64, or text with a point a line (auto: a coil)\n"
    "  --metric   euclidean, sqeuclidean, cityblock, cosine, chebyshev or correlation (euclidean)\n"
    "  --out      .npy file for n(n-1)/2 float32 distances, or none (distances.npy)\n"
    "  --picture  file of the heat map, or none (distances." IMAGE_TYPE ")\n"
    "Exit status: 0 verified, 1 wrong result, 2 bad input, 77 no GPU.\n";

enum { INPUT, METRIC, OUT, PICTURE };
enum { THREADS, READY, WAYS };

typedef struct distances_task {
    int way, metric;
    tmap_u64 n, d, pairs;
    const float *points;
    float *out;
} distances_task;

// The mean that a metric subtracts from the coordinates of a point.
TMAP_FN double mean_of(int metric, const float *point, tmap_u64 d) {
    double sum = 0;
    if (metric != TMAP_PDIST_CORRELATION) return 0;
    for (tmap_u64 c = 0; c < d; ++c) sum += (double)point[c];
    return sum / (double)d;
}

// Cosines and correlations: 1 - cos of the angle between two points, each less its mean. *noise:
// what rounding the means does to points of length 1.
TMAP_FN double angle_of(int metric, const float *u, const float *v, tmap_u64 d, double *noise) {
    const double of_u = mean_of(metric, u, d), of_v = mean_of(metric, v, d);
    double uv = 0, uu = 0, vv = 0;
    for (tmap_u64 c = 0; c < d; ++c) {
        const double a = (double)u[c] - of_u, b = (double)v[c] - of_v;
        uv += a * b, uu += a * a, vv += b * b;
    }
    *noise = 1e-15 * (double)d * sqrt((double)d) * (fabs(of_u) / sqrt(uu) + fabs(of_v) / sqrt(vv));
    return 1 - uv / sqrt(uu * vv);
}

// What a user would write first: a thread for each pair.
static __global__ void a_thread_a_pair(distances_task t) {
    const tmap_u64 k = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x;
    float sum = 0;
    double noise;
    if (k >= t.pairs) return;
    const tmap_pair64 p = tmap_condensed_map64(k, t.n);
    const float *u = t.points + p.i * t.d, *v = t.points + p.j * t.d;
    if (t.metric == TMAP_PDIST_COSINE || t.metric == TMAP_PDIST_CORRELATION) {
        t.out[k] = (float)angle_of(t.metric, u, v, t.d, &noise);
        return;
    }
    for (tmap_u64 c = 0; c < t.d; ++c) {
        const float gap = fabsf(u[c] - v[c]);
        if (t.metric == TMAP_PDIST_CHEBYSHEV)
            sum = fmaxf(sum, gap);
        else
            sum += t.metric == TMAP_PDIST_CITYBLOCK ? gap : gap * gap;
    }
    t.out[k] = t.metric == TMAP_PDIST_EUCLIDEAN ? sqrtf(sum) : sum;
}

static void task_run(void *job) {
    const distances_task *t = (const distances_task *)job;
    if (t->way == READY) {
        const tmap_pdist_points points = {t->points, t->n, t->d};
        CHECK(tmap_pdist_f32(points, t->metric, TMAP_PAIRS_CONDENSED, t->out, 0));
    } else {
        a_thread_a_pair<<<(unsigned)((t->pairs + 255) / 256), 256>>>(*t);
        CHECK(cudaGetLastError());
    }
}

// 1 if `got` is near the distance of points i and j, computed in double precision.
static int right(int metric, const points *p, tmap_u64 i, tmap_u64 j, double got) {
    const float *a = p->at + i * p->d, *b = p->at + j * p->d;
    const double u = 6e-8; // rounding of a float
    double sum = 0, slack = 0, noise = 0;
    for (tmap_u64 k = 0; k < p->d; ++k) {
        const double gap = fabs((double)a[k] - (double)b[k]);
        if (metric == TMAP_PDIST_CHEBYSHEV)
            sum = gap > sum ? gap : sum;
        else
            sum += metric == TMAP_PDIST_CITYBLOCK ? gap : gap * gap;
    }
    if (metric == TMAP_PDIST_EUCLIDEAN) sum = sqrt(sum);
    if (metric == TMAP_PDIST_COSINE || metric == TMAP_PDIST_CORRELATION) {
        sum = angle_of(metric, a, b, p->d, &noise);
        // A point whose coordinates are all the same has no direction left.
        if (metric == TMAP_PDIST_CORRELATION && !(noise < 1)) return 1;
        slack = 4 * sqrt(fabs(sum));
    }
    if (sum != sum) return got != got; // the cosine of a point at 0
    return fabs(got - sum) <= u * (sum * ((double)p->d + 8) + slack) + 1e-15 * (double)p->d +
                                  noise * (2 * sqrt(fabs(sum)) + noise);
}

// The square matrix, pale for near pairs, at most 1024 pixels wide, above a scale.
static void picture_matrix(const float *distances, const points *p, const char *metric, output *o,
                           const option *to) {
    const unsigned side = p->n < 1024 ? (unsigned)p->n : 1024, grow = side < 512 ? 512 / side : 1;
    const unsigned wide = side * grow;
    canvas c = canvas_make(wide, wide + 3 * CANVAS_STRIP, to);
    float most = 1e-30f;
    char text[128];
    for (tmap_u64 k = 0; k < p->n * (p->n - 1) / 2; ++k)
        if (distances[k] > most) most = distances[k];
    for (tmap_u64 y = 0; y < side; ++y)
        for (tmap_u64 x = 0; x < side; ++x) {
            const tmap_u64 i = (x < y ? x : y) * p->n / side, j = (x < y ? y : x) * p->n / side;
            const float value = i == j ? 0 : distances[tmap_condensed_index(i, j, p->n)] / most;
            canvas_fill(&c, (unsigned)x * grow, CANVAS_STRIP + (unsigned)y * grow, grow, grow,
                        canvas_shade(value));
        }
    snprintf(text, sizeof text, "%s distances of %llu points", metric, p->n);
    canvas_text(&c, 6, 6, text);
    const double ends[2] = {0, most};
    canvas_scale(&c, 6, c.high - 34, wide - 12, ends, 0);
    canvas_end(&c, o, to);
}

int explore_distances(int count, char **words) {
    static const char *const ways[WAYS] = {"a thread a pair", "tmap_pdist_f32"};
    option o[] = {{"--input", "auto"},
                  {"--metric", "euclidean"},
                  {"--out", "distances.npy"},
                  {"--picture", "distances." IMAGE_TYPE},
                  {NULL, NULL}};
    float ms[WAYS];
    int verified = 1;
    output out, picture;
    distances_task t;
    options_read(o, count, words, help);
    for (t.metric = 0; strcmp(o[METRIC].value, tmap_pdist_metric_name(t.metric)); ++t.metric)
        if (t.metric == TMAP_PDIST_CORRELATION) bad("no such --metric", o[METRIC].value);
    if (strcmp(o[INPUT].value, "auto")) {
        files_differ(&o[INPUT], &o[OUT]);
        files_differ(&o[INPUT], &o[PICTURE]);
    }
    files_differ(&o[OUT], &o[PICTURE]);
    const machine m = machine_get();
    points p = strcmp(o[INPUT].value, "auto") ? points_read(o[INPUT].value)
                                              : points_coil(m.cpu ? 300 : 4096, 3);
    if (p.n < 2) bad("fewer than two points in", o[INPUT].value);
    file_begin(&out, &o[OUT]);
    file_begin(&picture, &o[PICTURE]);
    t.n = p.n, t.d = p.d, t.pairs = tmap_condensed_cells(p.n);
    float *in = (float *)device_memory(p.values * sizeof(float), &o[INPUT]);
    t.out = (float *)device_memory(t.pairs * sizeof(float), &o[INPUT]);
    float *distances = (float *)host_memory(t.pairs * sizeof(float), &o[INPUT]);
    CHECK(cudaMemcpy(in, p.at, p.values * sizeof(float), cudaMemcpyHostToDevice));
    t.points = in;
    printf("%llu points of %llu coordinates, %llu pairs, %s, on the %s\n", p.n, p.d, t.pairs,
           o[METRIC].value, m.name);
    rows_begin("pairs");
    for (t.way = THREADS; t.way < WAYS; ++t.way) {
        tmap_u64 wrong = 0;
        CHECK(cudaMemset(t.out, 0x5a, t.pairs * sizeof(float)));
        ms[t.way] = time_of(&m, task_run, &t);
        CHECK(cudaMemcpy(distances, t.out, t.pairs * sizeof(float), cudaMemcpyDeviceToHost));
        for (tmap_u64 i = 0, k = 0; i < p.n; ++i)
            for (tmap_u64 j = i + 1; j < p.n; ++j, ++k)
                wrong += !right(t.metric, &p, i, j, distances[k]);
        rows_add(ways[t.way], t.way == THREADS ? (double)t.pairs : 0, (double)t.pairs, ms[t.way],
                 ms[THREADS], !wrong);
        verified &= !wrong;
    }
    rows_end(&m);
    if (verified && out.file)
        file_end(&out, npy_write(out.file, "f4", 1, &t.pairs, distances) == 0, &o[OUT]);
    if (verified && picture.file)
        picture_matrix(distances, &p, o[METRIC].value, &picture, &o[PICTURE]);
    CHECK(cudaFree(in));
    CHECK(cudaFree(t.out));
    free(distances);
    free(p.at);
    return verified ? 0 : 1;
}
