// SPDX-License-Identifier: MIT
// test_pdist: the distances of pdist.h: scipy's known answers; then every metric, layout and type
// over many n and d, unaligned buffers among them, each value compared with double precision and
// the bytes around the output with what they were; points that are hard for a product of points.
// On a GPU up to n = 65537, every pair. Then what the launchers must refuse, and an error that an
// earlier call has left.
#define TMAPI_STORE_LARGE 129 // so that small sizes take large tiles
#include "triangle/pdist_check.h"
#include "kat/kat_file.h"

static double worst[2][TMAP_PDIST_METRIC_COUNT];
static int tensor; // whether tensor cores are used where they can be
static double worst_tensor;

typedef struct problem {
    tmap_u64 n, d;
    int wide, metric, layout, shift; // shift: by how many values points and output begin later
    int products;                    // 1: by tmap_pdist_f32_products, however few points there
                                     // are; 2: by that function where it uses no products
} problem;

static const char *const layouts[] = {"?", "condensed", "square", "lower"};

// The case: a problem.
static void of_problem(problem p) {
    kit_case("n = %llu, d = %llu, %s, %s, %s, shift %d%s", p.n, p.d, p.wide ? "f64" : "f32",
             tmap_pdist_metric_name(p.metric), layouts[p.layout & 3], p.shift,
             p.products == 2 ? ", without products"
             : p.products    ? ", by products"
                             : "");
}

// The form of pdist_check.h.
static int form_of(problem p) {
    return p.products == 1 ? CHECK_PRODUCTS : p.wide ? CHECK_F64 : CHECK_F32;
}

// In floats the error, in places of the last bit, does not grow with d. Up to 2.2 places of a square
// and 1.4 of an absolute value come from differences rounded to floats, the rest from their sum; a
// root has half of a square's and its own. These are less than pdist.h states.
static void expect_places(double error, problem p) {
    const tmapi_pdist_rule rule = tmapi_pdist_rule_of(p.metric);
    const double most[] = {rule.root ? 3.0 : 5.0, 4, p.wide ? 1 : 0.5};
    if (rule.sum == TMAPI_PDIST_MOST || (!p.wide && !rule.scaled))
        expect(error <= most[rule.sum], "error");
}

static void *offset(const void *base, int wide, tmap_u64 values) {
    return (char *)base + (values << (2 + wide));
}

// Points on the device, `shift` coordinates behind its allocation: these, or random ones.
static void *points_of(problem p, const double *coordinates, tmap_u32 seed) {
    const tmap_u64 count = p.n * p.d;
    void *points =
        offset(kit_device((count + (tmap_u64)p.shift) << (2 + p.wide)), p.wide, (tmap_u64)p.shift);
    if (!coordinates) {
        check_points<<<kit_full ? 1024 : 1, 64>>>(p.n, p.d, p.wide, seed, points);
        CHECK(cudaGetLastError());
        return points;
    }
    void *host = kit_host(count << (2 + p.wide));
    for (tmap_u64 at = 0; at < count; ++at)
        if (p.wide)
            ((double *)host)[at] = coordinates[at];
        else
            ((float *)host)[at] = (float)coordinates[at];
    CHECK(cudaMemcpy(points, host, count << (2 + p.wide), cudaMemcpyHostToDevice));
    return points;
}

// By products: in a workspace as large as it has to be, behind which nothing is written. The public
// function leaves few points to the other kernels.
static cudaError_t launch_products(problem p, const void *points, void *out) {
    const tmap_u64 bytes = tmapi_products_workspace(p.n, p.d);
    const tmap_pdist_points at = {points, p.n, p.d};
    void *workspace = kit_guarded(bytes);
    if (p.products == 2)
        return tmap_pdist_f32_products(at, p.metric, p.layout, workspace, (float *)out, 0);
    if (!tmap_pdist_workspace(p.n, p.d))
        return tmapi_products_launch(at, p.metric, p.layout, workspace, out, 0);
    expect(tmap_pdist_workspace(p.n, p.d) == bytes, "bytes of the workspace");
    return tmap_pdist_f32_products(at, p.metric, p.layout, workspace, (float *)out, 0);
}

static cudaError_t launch(problem p, const void *points, void *out) {
    const tmap_pdist_points at = {points, p.n, p.d};
    if (p.products) return launch_products(p, points, out);
    if (p.wide) return tmap_pdist_f64(at, p.metric, p.layout, (double *)out, 0);
    return tmap_pdist_f32(at, p.metric, p.layout, (float *)out, 0);
}

// The output on the device, poisoned, with guards; the launch.
static void *run_launch(problem p, const void *points) {
    const tmap_u64 bytes = (tmap_pdist_values(p.n, p.layout) + (tmap_u64)p.shift) << (2 + p.wide);
    char *base = (char *)kit_guarded(bytes);
    void *out = offset(base, p.wide, (tmap_u64)p.shift);
    of_problem(p);
    CHECK(launch(p, points, out));
    expect(kit_device_all(base, (tmap_u64)p.shift << (2 + p.wide), KIT_POISON), "wrote before");
    return out;
}

static void *values_of(problem p, const void *out) {
    return kit_to_host(out, tmap_pdist_values(p.n, p.layout) << (2 + p.wide));
}

// Every value compared on the device.
static check_result compare(problem p, const void *points, const void *out) {
    const dim3 grid((unsigned)(p.n < 1 ? 1 : p.n < 65536 ? p.n : 65536), p.n > 8192 ? 4 : 1);
    check_result result, *device = (check_result *)kit_filled(sizeof *device, 0);
    tmap_u64 pairs = p.layout == TMAP_PAIRS_CONDENSED ? p.n * (p.n - (p.n > 0)) / 2 : p.n * p.n;
    check_pdist<<<grid, 128>>>(points, form_of(p), p.n, p.d, out, p.metric, p.layout, device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
    expect(result.checked == pairs && result.wrong == 0, "values");
    return result;
}

// Random points.
static void run_random(problem p) {
    if (!check_turn()) return;
    const void *points = points_of(p, NULL, (tmap_u32)(p.n + p.d)), *out = run_launch(p, points);
    const check_result result = compare(p, points, out);
    if ((double)result.worst / 1000 > worst[p.wide][p.metric])
        worst[p.wide][p.metric] = (double)result.worst / 1000;
    if (p.products == 1) worst_tensor = fmax(worst_tensor, (double)result.worst / 1000);
    expect_places((double)result.worst / 1000, p);
    if (p.n > 1024)
        printf("n = %llu, d = %llu, %s, %s, %s: %llu values, %llu wrong, worst error %.2f ulp\n",
               p.n, p.d, p.wide ? "f64" : "f32", tmap_pdist_metric_name(p.metric),
               layouts[p.layout], result.checked, result.wrong, (double)result.worst / 1000);
    kit_release(0);
}

// ---- hard points --------------------------------------------------------------------------------

enum { HARD_N = 203, HARD_FEW = 149, HARD_MOST = 40, HARD_KINDS = 6 };

// Coordinate c of point i. kind 0: NaN and infinity here and there; 1: every fifth point is there
// twice; 2: scales from 1e-22 to 1e25; 3: a small cloud far from the origin; 4: points at 1e-6 of
// each other in a wide cloud; 5: differences whose squares are not normal floats; 6: points in one
// direction, as near as floats allow.
static float hard_value(int kind, int i, int c) {
    tmap_u32 h = (tmap_u32)(kind == 1 && i % 5 == 0 && i >= 7 ? i - 7 : i) * 1000003u + (tmap_u32)c;
    float v, w;
    h = (h ^ h >> 15) * 0x2c1b3c6du, h = (h ^ h >> 12) * 0x297a2d39u, h ^= h >> 15;
    v = (float)(h >> 8) / 16777216.0f, w = (float)((i % 9 + 1) * (c % 7 + 1) % 11);
    switch (kind) {
    case 0: return h % 797 == 0 ? INFINITY : h % 797 == 1 ? NAN : h % 797 == 2 ? -INFINITY : v;
    case 2: return v * (i % 3 == 0 ? 1e-22f : i % 3 == 1 ? 1e18f : 1e25f);
    case 3: return v * 1e-3f + 1000;
    case 4: return w + v * 1e-6f;
    case 5: return v * 3e-20f;
    case 6: return (float)(i % 13 + 1) / 7 * (float)(c * 5 % 11 + 1);
    default: return v;
    }
}

// Every value compared on the host; (i, j) and (j, i) bit for bit.
static void run_hard(int kind, problem p) {
    static double points[HARD_N * HARD_MOST];
    tmap_u64 n = p.n, d = p.d;
    int wrong = 0;
    if (!check_turn()) return;
    for (tmap_u64 at = 0; at < n * d; ++at)
        points[at] = hard_value(kind, (int)(at / d), (int)(at % d));
    const void *out = run_launch(p, points_of(p, points, 0));
    const float *values = (const float *)values_of(p, out);
    for (tmap_u64 i = 0; i < n; ++i)
        for (tmap_u64 j = 0; j < n; ++j) {
            int condensed = p.layout == TMAP_PAIRS_CONDENSED;
            if (condensed ? j <= i : p.layout == TMAP_PAIRS_LOWER && j > i) continue;
            double got = values[condensed ? i * n + j - (i + 1) * (i + 2) / 2 : i * n + j];
            double slack, want = check_distance_slack(points, 1, d, p.metric, i, j, &slack);
            if (p.layout == TMAP_PAIRS_SQUARE && got == got)
                wrong += memcmp(values + i * n + j, values + j * n + i, sizeof *values) != 0;
            if (i == j || (want == 0 && !tmapi_pdist_rule_of(p.metric).scaled))
                wrong += got != 0;
            else
                wrong += !check_right(form_of(p), d, p.metric, got, want, slack);
        }
    expect(wrong == 0, "hard points");
    kit_release(0);
}

// ---- squares, and Chebyshev distances of what is no number ----------------------------------------

// Of a square matrix (i, j) and (j, i), bit for bit: pairs in whole rows of values, and pairs at the
// edges of a tile, which other code computes.
static void run_symmetric(problem p) {
    const tmap_u64 size = (tmap_u64)4 << p.wide;
    tmap_u64 wrong = 0;
    if (!check_turn()) return;
    p.layout = TMAP_PAIRS_SQUARE;
    const char *values = (const char *)values_of(p, run_launch(p, points_of(p, NULL, 5)));
    for (tmap_u64 i = 0; i < p.n; ++i)
        for (tmap_u64 j = 0; j < i; ++j)
            wrong +=
                memcmp(values + (i * p.n + j) * size, values + (j * p.n + i) * size, size) != 0;
    expect(wrong == 0, "symmetric bit for bit");
    kit_release(0);
}

// Every third point has a NaN, and every ninth one has nothing else: no coordinate of it counts.
static void run_no_numbers(problem p) {
    if (!check_turn()) return;
    double *coordinates = (double *)kit_host(p.n * p.d * sizeof *coordinates);
    p.metric = TMAP_PDIST_CHEBYSHEV;
    for (tmap_u64 at = 0; at < p.n * p.d; ++at) {
        const tmap_u64 i = at / p.d, k = at % p.d;
        const int none = i % 9 == 4 || (i % 3 == 1 && k == i % p.d);
        coordinates[at] = none ? NAN : (double)(check_hash(i, k) % 1024) / 32;
    }
    const void *points = points_of(p, coordinates, 0);
    compare(p, points, run_launch(p, points));
    kit_release(0);
}

// Every third point has equal coordinates: its correlation with any other is NaN, as in scipy.
static void run_constant(problem p) {
    if (!check_turn()) return;
    double *coordinates = (double *)kit_host(p.n * p.d * sizeof *coordinates);
    p.metric = TMAP_PDIST_CORRELATION;
    for (tmap_u64 at = 0; at < p.n * p.d; ++at) {
        const tmap_u64 i = at / p.d;
        coordinates[at] = (double)(1000 + check_hash(i, i % 3 == 1 ? 0 : at) % 4096 / 4096.0f);
    }
    const void *points = points_of(p, coordinates, 0);
    compare(p, points, run_launch(p, points));
    kit_release(0);
}

// ---- the range of floats ------------------------------------------------------------------------

// Two points so far from each other in their last coordinate: where the square of the distance is
// no normal float, a Euclidean distance of two coordinates or more is as far off as pdist.h says,
// and no other distance is, nor is one by products. products: 2: by the function for products,
// which takes none for two points.
static void run_range(float distance, tmap_u64 d, int products) {
    double points[2 * 20] = {0};
    points[2 * d - 1] = (double)distance;
    for (int metric = 0; metric < TMAP_PDIST_METRIC_COUNT; ++metric) {
        problem p = {2, d, 0, metric, TMAP_PAIRS_CONDENSED, 0, products};
        const double want = check_distance(points, 1, d, metric, 0, 1);
        if (tmapi_pdist_rule_of(metric).scaled) continue;
        if (products == 1 && !tmapi_pdist_multiplies(metric)) continue;
        const float got = *(float *)values_of(p, run_launch(p, points_of(p, points, 0)));
        expect(check_right(form_of(p), d, metric, got, want, 0), "the range of a distance");
    }
    kit_release(0);
}

// ---- scipy's answers ----------------------------------------------------------------------------

static double kat_points[4096], kat_want[4096];

// All layouts of one line of distances. scipy's cosine is 1 - cos, off by some places of 1; so is
// its correlation, and by more where the coordinates of a point are near each other.
static void run_known(problem p) {
    int wrong = 0;
    if (!check_turn()) return;
    const void *values = values_of(p, run_launch(p, points_of(p, kat_points, 0)));
    for (tmap_u64 i = 0, k = 0; i < p.n; ++i)
        for (tmap_u64 j = i + 1; j < p.n; ++j, ++k) {
            tmap_u64 at = p.layout == TMAP_PAIRS_CONDENSED ? k : j * p.n + i;
            double got = check_value(values, p.wide, at), slack = 0;
            (void)check_distance_slack(kat_points, 1, p.d, p.metric, i, j, &slack);
            wrong += !check_right(form_of(p), p.d, p.metric, got, kat_want[k], slack) &&
                     !(fabs(got - kat_want[k]) <= 2 * slack);
            if (p.layout == TMAP_PAIRS_SQUARE && got == got) // bit for bit the same
                wrong += memcmp(offset(values, p.wide, at), offset(values, p.wide, i * p.n + j),
                                (size_t)4 << p.wide) != 0;
        }
    for (tmap_u64 i = 0; i < p.n && p.layout != TMAP_PAIRS_CONDENSED; ++i)
        wrong += check_value(values, p.wide, i * p.n + i) != 0;
    expect(wrong == 0, "scipy's answers");
    kit_release(0);
}

static int read_numbers(char *text, double *out, int most) {
    int n = 0;
    for (char *end = text; n < most; text = end, ++n) {
        out[n] = strtod(text, &end);
        if (end == text) break;
    }
    return n;
}

// ---- metrics of one's own -----------------------------------------------------------------------

enum { CANBERRA, BRAYCURTIS, OWN_METRICS };
static const char *const own_names[OWN_METRICS] = {"canberra", "braycurtis"};

typedef struct own_job {
    const void *points;
    void *out;
} own_job;

// sum |u - v| / (|u| + |v|), where both are 0 without the term: one sum, here of floats.
static __device__ void canberra_start(void *, void *sum) { *(float *)sum = 0; }
static __device__ void canberra_add(void *, void *sum, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    for (int k = 0; k < 4; ++k) {
        const float whole = fabsf(u[k]) + fabsf(v[k]);
        if (whole != 0) *(float *)sum += fabsf(u[k] - v[k]) / whole;
    }
}
static __device__ void canberra_finish(void *, tmap_pair, const void *sum, void *value) {
    *(float *)value = *(const float *)sum;
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS)
    canberra(tmap_pairs_plan plan, own_job j) {
    const tmap_points points = {j.points, 0, sizeof(float), 0};
    const tmap_pairs_sum sum = {canberra_start, canberra_add, 0, canberra_finish, sizeof(float), 0};
    tmap_pairs_store_sums(&plan, points, sum, sizeof(float), j.out, &j);
}

// sum |u - v| / sum |u + v|: two sums, here of doubles.
static __device__ void braycurtis_start(void *, void *sum) {
    ((double *)sum)[0] = ((double *)sum)[1] = 0;
}
static __device__ void braycurtis_add(void *, void *sum, const void *a, const void *b) {
    const double *u = (const double *)a, *v = (const double *)b;
    for (int k = 0; k < 2; ++k)
        ((double *)sum)[0] += fabs(u[k] - v[k]), ((double *)sum)[1] += fabs(u[k] + v[k]);
}
static __device__ void braycurtis_finish(void *, tmap_pair, const void *sum, void *value) {
    *(double *)value = ((const double *)sum)[0] / ((const double *)sum)[1];
}
static __global__ void __launch_bounds__(TMAP_PAIRS_SUMS_THREADS)
    braycurtis(tmap_pairs_plan plan, own_job j) {
    const tmap_points points = {j.points, 0, sizeof(double), 0};
    const tmap_pairs_sum sum = {braycurtis_start,  braycurtis_add,     0,
                                braycurtis_finish, 2 * sizeof(double), 0};
    tmap_pairs_store_sums(&plan, points, sum, sizeof(double), j.out, &j);
}

// One line of distances by a kernel of this file.
static void run_own(problem p) {
    const tmap_u32 size = p.wide ? 8 : 4;
    const void *kernel = p.metric == CANBERRA ? (const void *)canberra : (const void *)braycurtis;
    const tmap_pairs_store_shape shape = {(tmap_u32)p.n, (tmap_u32)p.d, size, TMAP_PAIRS_CONDENSED,
                                          size};
    tmap_pairs_plan plan;
    own_job j;
    int wrong = 0;
    if (p.wide != (p.metric == BRAYCURTIS)) return;
    j.points = points_of(p, kat_points, 0);
    j.out = kit_guarded(p.n * (p.n - 1) / 2 * size);
    CHECK(tmap_pairs_store_sums_plan_make(shape, kernel, &plan));
    CHECK(tmap_pairs_store_launch(&plan, &j, 0));
    const void *values = kit_to_host(j.out, p.n * (p.n - 1) / 2 * size);
    for (tmap_u64 k = 0; k < p.n * (p.n - 1) / 2; ++k) {
        const double got = check_value(values, p.wide, k), want = kat_want[k];
        const double away = (p.wide ? 1e-13 : 1e-5) * want;
        wrong += !(fabs(got - want) <= away || got == want || (want != want && got != got));
    }
    expect(wrong == 0, own_names[p.metric]);
    kit_release(0);
}

static void run_kat(void) {
    problem p = {0, 0, 0, 0, 1, 0, 0};
    int lines = 0;
    FILE *in = kat_open("pdist.txt");
    char *word, *text;
    while ((text = kat_line(in, &word)) != NULL) {
        of_problem(p);
        if (strcmp(word, "points") == 0) {
            p.n = kat_number(&text), p.d = kat_number(&text);
            expect(read_numbers(text, kat_points, 4096) == (int)(p.n * p.d), "known points");
            continue;
        }
        expect(read_numbers(text, kat_want, 4096) == (int)(p.n * (p.n - 1) / 2), "answers");
        ++lines;
        for (p.metric = 0; p.metric < OWN_METRICS && strcmp(word, own_names[p.metric]);) ++p.metric;
        if (p.metric < OWN_METRICS) {
            for (p.wide = 0; p.wide < 2; ++p.wide) run_own(p);
            continue;
        }
        for (p.metric = 0; strcmp(word, tmap_pdist_metric_name(p.metric)); ++p.metric)
            if (p.metric == TMAP_PDIST_METRIC_COUNT) exit(2);
        for (p.layout = TMAP_PAIRS_CONDENSED; p.layout <= TMAP_PAIRS_LOWER; ++p.layout)
            for (p.wide = 0; p.wide < 2; ++p.wide)
                for (p.shift = 0; p.shift < 2; ++p.shift) {
                    run_known(p);
                    if (p.wide || p.shift || !tensor || !tmapi_pdist_multiplies(p.metric)) continue;
                    p.products = 1;
                    run_known(p);
                    p.products = 0;
                }
    }
    expect(lines == 11 * (TMAP_PDIST_METRIC_COUNT + OWN_METRICS), "lines of known answers");
}

// ---- refusals -----------------------------------------------------------------------------------

static void run_refusals(void) {
    const struct {
        problem p;
        int points, out; // 0: null, 1: right, 2: one byte on
        cudaError_t want;
    } bad[] = {
        {{4, 0, 0, 0, 1, 0, 0}, 1, 1, cudaErrorInvalidValue},
        {{4, 3, 0, -1, 1, 0, 0}, 1, 1, cudaErrorInvalidValue},
        {{4, 3, 0, TMAP_PDIST_METRIC_COUNT, 1, 0, 0}, 1, 1, cudaErrorInvalidValue},
        {{4, 3, 0, 0, 0, 0, 0}, 1, 1, cudaErrorInvalidValue},
        {{4, 3, 0, 0, TMAP_PAIRS_LOWER + 1, 0, 0}, 1, 1, cudaErrorInvalidValue},
        {{4, 3, 0, 0, 1, 0, 0}, 0, 1, cudaErrorInvalidValue},
        {{4, 3, 0, 0, 1, 0, 0}, 1, 0, cudaErrorInvalidValue},
        {{4, 3, 1, 0, 1, 0, 0}, 2, 1, cudaErrorInvalidValue},
        {{4, 3, 1, 0, 1, 0, 0}, 1, 2, cudaErrorInvalidValue},
        {{8388480, 3, 0, 0, TMAP_PAIRS_CONDENSED, 0, 0}, 1, 1, cudaErrorInvalidConfiguration},
        {{8388608, 3, 0, 0, TMAP_PAIRS_LOWER, 0, 0}, 1, 1, cudaErrorInvalidConfiguration},
        {{5931642, 3, 0, 0, TMAP_PAIRS_SQUARE, 0, 0}, 1, 1, cudaErrorInvalidConfiguration},
        {{1ull << 31, 3, 0, 0, TMAP_PAIRS_CONDENSED, 0, 0}, 1, 1, cudaErrorInvalidConfiguration},
        {{1ull << 32, 3, 0, 0, TMAP_PAIRS_CONDENSED, 0, 0}, 1, 1, cudaErrorInvalidConfiguration},
        {{1ull << 63, 3, 1, 0, TMAP_PAIRS_SQUARE, 0, 0}, 1, 1, cudaErrorInvalidConfiguration},
        {{0, 3, 0, 0, 1, 0, 0}, 0, 0, cudaSuccess},
        {{0, 3, 0, 0, TMAP_PAIRS_LOWER, 0, 0}, 0, 0, cudaSuccess},
        {{1, 3, 0, 0, 1, 0, 0}, 0, 0, cudaSuccess},
    };
    char *memory = (char *)kit_guarded(1024);
    for (unsigned i = 0; i < COUNT(bad); ++i) {
        const void *points = bad[i].points ? memory + bad[i].points - 1 : NULL;
        void *out = bad[i].out ? memory + 512 + bad[i].out - 1 : NULL;
        of_problem(bad[i].p);
        expect(launch(bad[i].p, points, out) == bad[i].want, "refusal");
    }
    const tmap_pdist_points four = {memory, 4, 3};
    of_problem(bad[0].p);
    REFUSED(tmap_pdist_f32_products(four, 0, 1, memory + 8, (float *)memory + 128, 0));
    expect(kit_device_all(memory, 1024, KIT_POISON), "a refused launch wrote");
    // Few points need no workspace, and none is looked at.
    CHECK(tmap_pdist_f32_products(four, 0, 1, (void *)(tmap_u64)16, (float *)memory + 128, 0));
    CHECK(tmap_pdist_f32_products(four, 0, 1, NULL, (float *)memory + 128, 0));
    CHECK(cudaDeviceSynchronize());
    expect(tmap_pdist_workspace(30720, 64) == 15974400 && !tmap_pdist_workspace(1023, 64) &&
               !tmap_pdist_workspace(30720, 16) && !tmap_pdist_workspace(1ull << 40, 64) &&
               !tmap_pdist_workspace(30720, 1ull << 40) &&
               tmap_pdist_workspace(1000001, 1u << 20) == 8ull * 1000064 * 1048577,
           "bytes of a workspace");
    expect(tmap_pdist_values(1ull << 32, TMAP_PAIRS_SQUARE) == ~0ull &&
               tmap_pdist_values(131072, TMAP_PAIRS_CONDENSED) == 8589869056ull &&
               tmap_pdist_values(46341, TMAP_PAIRS_LOWER) == 2147488281ull &&
               tmap_pdist_values(0, TMAP_PAIRS_CONDENSED) == 0,
           "values of a layout");
    kit_release(0);
}

// What went wrong before a launch is not its error: it runs, and leaves the other to be asked for.
static void run_after_error(problem p) {
    const void *points = points_of(p, NULL, 7);
    void *out = kit_filled(tmap_pdist_values(p.n, p.layout) << (2 + p.wide), KIT_POISON);
    of_problem(p);
    earlier_error();
    RETURNS(launch(p, points, out), cudaSuccess);
    expect(earlier_error_is_there(), "an earlier error is gone, or another one is there");
    compare(p, points, out);
    kit_release(0);
}

static void run_device(const char *) {
    const tmap_u64 dims[] = {1, 3, 4, 5, 16, 17, 100};
    static int turn;
    tensor = tmapi_pdist_has_tensor();
    for (int k = 0; k < 7; ++k)
        for (int metric = 0; metric < TMAP_PDIST_METRIC_COUNT; metric += 1 + k % 2) {
            problem p = {130, dims[k], 0, metric, 1 + (metric + k) % 3, k % 3, 0};
            if (!kit_full && turn++ % 3) continue;
            run_random(p);
            p.wide = 1;
            run_random(p);
        }
    if (tensor) { // by the public function, which leaves few points to the other kernels
        problem p = {65, 17, 0, 0, 1, 0, 1};
        run_random(p);
    }
}

int main(void) {
    const problem after_error[] = {{3, 1, 0, 0, 1, 0, 0},
                                   {3, 3, 1, 2, 2, 0, 0},
                                   {140, 9, 0, 3, 3, 0, 0},
                                   {203, 8, 0, 0, 1, 0, 0},
                                   {65, 17, 0, 0, 1, 0, 1}};
    const tmap_u64 sizes[] = {0, 1, 2, 3, 5, 31, 32, 33, 127, 128, 129, 136, 255, 257, 300};
    const tmap_u64 dims[] = {1, 2, 3, 4, 5, 8, 16, 17, 100, 300};
    const tmap_u64 band_sizes[] = {200, 257, 263, 513};
    const tmap_u64 band_dims[] = {5, 8, 9, 12, 15, 16, 17, 32, 33, 64, 100};
    const tmap_u64 products_sizes[] = {1, 2, 63, 64, 65, 129, 200, 1025};
    const tmap_u64 products_dims[] = {1, 15, 16, 17, 31, 32, 33, 48, 49, 64, 100, 300};
    const problem large[] = {
        {4096, 3, 0, 0, 1, 1, 0},    {4096, 16, 1, 0, 1, 0, 0},  {4097, 100, 0, 3, 2, 1, 0},
        {30720, 1, 0, 0, 3, 0, 0},   {30720, 4, 0, 0, 3, 0, 0},  {30720, 3, 0, 0, 1, 0, 0},
        {30720, 16, 0, 0, 1, 0, 0},  {30720, 16, 0, 2, 1, 0, 0}, {20000, 100, 0, 0, 2, 0, 0},
        {30720, 9, 0, 1, 1, 1, 0},   {30720, 33, 0, 0, 1, 0, 0}, {20001, 64, 0, 0, 3, 1, 0},
        {46341, 3, 0, 0, 2, 0, 0},   {46341, 2, 1, 1, 3, 1, 0},  {65537, 3, 0, 0, 1, 0, 0},
        {65537, 5, 1, 0, 1, 1, 0},   {65537, 3, 0, 3, 3, 0, 0},  {30720, 64, 0, 0, 1, 0, 1},
        {20001, 300, 0, 3, 1, 1, 1}, {20001, 33, 0, 1, 2, 2, 1}, {65537, 17, 0, 5, 3, 3, 1},
    };
    int turn = 0;
    kit_begin();
    tensor = tmapi_pdist_has_tensor();
    run_kat();
    for (unsigned a = 0; a < COUNT(sizes); ++a)
        for (unsigned b = 0; b < COUNT(dims); ++b)
            for (int c = 0; c < 2 * TMAP_PDIST_METRIC_COUNT * TMAP_PAIRS_LOWER; ++c) {
                problem p = {sizes[a], dims[b], c & 1, c / 6, 1 + c / 2 % 3, turn++ % 5 % 4, 0};
                // The CPU machine and sanitizers take threads one by one: some of the larger ones.
                if (kit_full || turn % (p.n < 100 ? 5 : p.d < 300 ? 23 : 67) == 0) run_random(p);
            }
    for (unsigned a = 0; a < COUNT(band_sizes); ++a)
        for (unsigned b = 0; b < COUNT(band_dims); ++b)
            for (int c = 0; c < 2 * TMAP_PAIRS_LOWER; ++c) {
                problem p = {band_sizes[a], band_dims[b], 0, c % 2, 1 + c / 2, turn++ % 5 % 4, 0};
                int some = p.n == 200 && (p.d < 64 ? turn % 17 == 0 : p.d == 100 && c == 2);
                if (kit_full || some) run_random(p);
            }
    for (unsigned a = 0; tensor && a < COUNT(products_sizes); ++a)
        for (unsigned b = 0; b < COUNT(products_dims); ++b)
            for (int c = 0; c < TMAP_PDIST_METRIC_COUNT * TMAP_PAIRS_LOWER; ++c) {
                problem p = {products_sizes[a], products_dims[b], 0, c / 3,
                             1 + c % 3,         turn++ % 5 % 4,   1};
                if (!tmapi_pdist_multiplies(p.metric)) continue;
                // The CPU machine multiplies matrices by hand: some of the smaller ones.
                int some = turn % (p.n < 3 ? 5 : 41) == 0 && p.n * p.d < 5000;
                if (kit_full || some) run_random(p);
            }
    // Sums so long that parts of them must carry what is lost.
    for (int metric = 0; metric < TMAP_PDIST_COSINE; ++metric) {
        problem p = {20, 6000, 0, metric, 1, 0, 0};
        run_random(p);
    }
    for (int kind = 0; kind < HARD_KINDS; ++kind)
        for (int c = 0; c < 4 * TMAP_PAIRS_LOWER; ++c) {
            problem p = {HARD_N, c % 4 < 2 ? 11u : 37u, 0, c % 2, 1 + c / 4, turn++ % 4, 0};
            int some = c == 4 + kind % 2 || (c == 7 && kind % 4 == 0) || turn % 41 == 0;
            if (kit_full || some) run_hard(kind, p);
            p.products = tensor;
            if (kit_full || c == (kind % 2 ? 5 : 10)) run_hard(kind, p);
            p.n = HARD_FEW, p.products = 0;
            if (kit_full || c == 7 - kind % 2) run_hard(kind, p);
        }
    for (tmap_u64 d = 3; d <= 50; d = 4 * d - 1)
        for (int c = 0; c < 4 && (c < 2 || tensor); ++c) {
            problem p = {HARD_FEW, d, 0, c % 2 ? 5 : 3, 1, 0, c / 2};
            run_hard(6, p);
        }
    for (tmap_u64 d = 2; d <= 100; d += 1 + d / 3) {
        problem p = {40, d, 0, 0, 1, 0, 0};
        run_constant(p);
        p.products = tensor;
        if (d > 16) run_constant(p);
    }
    for (tmap_u64 d = 1; d <= 17; d += d < 4 ? 1 : 13) {
        const float distances[] = {1e-30f, 1e-20f,  1.2e-19f, 1e-10f, 1,
                                   1e15f,  1.8e19f, 3e19f,    1e38f};
        for (int i = 0; i < 9; ++i) run_range(distances[i], d, 0);
        if (d == 17 && tensor)
            for (int i = 0; i < 9; ++i) run_range(distances[i], d, 1);
        for (int i = 0; i < 9; ++i) run_range(distances[i], d, 2);
    }
    for (int c = 0; c < 2 * TMAP_PDIST_METRIC_COUNT; ++c) { // few points, or few coordinates
        problem p = {c % 2 ? 300u : kit_full ? 8192u : 200u, c % 2 ? 20u : 16u, 0, c / 2, 1, 0, 2};
        run_random(p);
    }
    run_refusals();
    for (unsigned i = 0; i < COUNT(after_error); ++i)
        if (tensor || !after_error[i].products) run_after_error(after_error[i]);
    for (tmap_u64 d = 1; d <= 17; d += d < 5 ? 1 : d < 9 ? 4 : 8)
        for (int c = 0; c < 2 * TMAP_PDIST_METRIC_COUNT; ++c) {
            problem p = {kit_full ? 1000u : 200u, d, c & 1, c / 2, 1, (int)(d % 3), 0};
            if (kit_full || d <= 4 || c % 4 == 0) run_symmetric(p);
        }
    for (tmap_u64 d = 1; d <= 17; d += d < 5 ? 1 : d < 9 ? 4 : 8)
        for (int c = 0; c < 2 * TMAP_PAIRS_LOWER; ++c) {
            problem p = {kit_full ? 300u : 200u, d, c & 1, 0, 1 + c / 2, 0, 0};
            run_no_numbers(p);
        }
    on_all_devices(run_device);
    if (kit_full)
        for (unsigned i = 0; i < COUNT(large); ++i) run_random(large[i]);
    CHECK(cudaDeviceSynchronize());
    for (int m = 0; m < TMAP_PDIST_METRIC_COUNT; ++m)
        printf("%s: worst error %.2f ulp in f32, %.2f in f64\n", tmap_pdist_metric_name(m),
               worst[0][m], worst[1][m]);
    if (worst_tensor > 0)
        printf("in double precision on tensor cores: worst error %.2f ulp in f32\n", worst_tensor);
    return kit_end("test_pdist");
}
