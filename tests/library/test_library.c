// SPDX-License-Identifier: MIT
// test_library.c: the functions of library.h for points and frames, called from plain C, on random
// input of random shapes, against their definitions by brute force; errors.
#include "library_check.h"
#include "molecules/rmsd_check.h"

// ---- points -------------------------------------------------------------------------------------

enum { POINTS = 160 };
static double point[POINTS][3];

// The coordinates on the device, in the type.
static void *put_points(int n, int d, int type) {
    double doubles[POINTS * 3];
    float floats[POINTS * 3];
    for (int i = 0; i < n * d; ++i)
        floats[i] = (float)point[i / d][i % d], doubles[i] = point[i / d][i % d];
    return type ? put(doubles, (tmap_u64)(n * d) * 8) : put(floats, (tmap_u64)(n * d) * 4);
}

// Value i of an array on the host.
static double value(const void *array, int type, tmap_u64 i) {
    return type ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static double metric_of(int metric, const double *a, const double *b, int d) {
    double sum = 0, most = 0, ab = 0, aa = 0, bb = 0, ma = 0, mb = 0;
    for (int k = 0; k < d; ++k) ma += a[k] / d, mb += b[k] / d;
    if (metric != THREADMAP_CORRELATION) ma = mb = 0;
    for (int k = 0; k < d; ++k) {
        const double t = fabs(a[k] - b[k]);
        sum += metric == THREADMAP_CITYBLOCK ? t : t * t, most = t > most ? t : most;
        ab += (a[k] - ma) * (b[k] - mb);
        aa += (a[k] - ma) * (a[k] - ma), bb += (b[k] - mb) * (b[k] - mb);
    }
    if (metric == THREADMAP_COSINE || metric == THREADMAP_CORRELATION)
        return 1 - ab / sqrt(aa * bb);
    return metric == THREADMAP_EUCLIDEAN ? sqrt(sum) : metric == THREADMAP_CHEBYSHEV ? most : sum;
}

static void test_pdist(void) {
    const int n = 2 + below(60), d = 2 + below(30), type = below(2), layout = below(3);
    const int metric = below(6), values = layout ? n * n : n * (n - 1) / 2;
    double *x = (double *)kit_host((tmap_u64)(n * d) * 8), close = type ? 1e-12 : 1e-5;
    float *floats = (float *)kit_host((tmap_u64)(n * d) * 4);
    char *got = (char *)kit_host((tmap_u64)values * 8);
    kit_case("pdist n = %d, d = %d, type %d, layout %d, metric %d", n, d, type, layout, metric);
    for (int i = 0; i < n * d; ++i) floats[i] = (float)uniform(), x[i] = (double)floats[i];
    const tmap_u64 bytes = (tmap_u64)values * (type ? 8 : 4);
    const threadmap_pdist_job job = {
        put(type ? (void *)x : (void *)floats, (tmap_u64)(n * d) * (type ? 8 : 4)),
        put(0, bytes),
        (tmap_u64)n,
        (tmap_u64)d,
        type,
        metric,
        layout,
        below(2)};
    RETURNS(RUN(pdist, &job), 0);
    get(got, job.out, bytes);
    for (int i = 0, at = 0; i < n; ++i)
        for (int j = layout ? 0 : i + 1; j < n; ++j) {
            const tmap_u64 place = layout ? (tmap_u64)(i * n + j) : (tmap_u64)at++;
            const double want = i == j ? 0 : metric_of(metric, x + i * d, x + j * d, d);
            if (layout == THREADMAP_LOWER && i < j) continue;
            expect(fabs(value(got, type, place) - want) <= close * (1 + want), "a distance");
        }
}

// A search of whole numbers, whose squares are exact. sets: 2: there may be a second set.
static double other[POINTS][3]; // the points j: of the second set, or of the first
static int others;              // their number
static threadmap_near near_case(int n, int sets) {
    static const double radii[] = {0, 3, 7.5, 20, 60};
    threadmap_near by = {0, (tmap_u64)n, 2 + below(2), below(2), radii[below(5)], {0, 0, 0}, {0}, 0,
                         0};
    const int boxed = below(3), m = sets == 2 && below(2) ? 1 + below(POINTS - 1) : 0;
    for (int k = 0; k < by.d && boxed == 1; ++k)
        if (below(4)) by.box[k] = 16 + below(60);
    for (int i = 0; i < 9 && boxed == 2 && by.d == 3; ++i)
        by.cell[i] = i % 4 ? (i % 3 < i / 3 ? below(41) - 20 : 0) : 40 + below(30);
    if (by.cell[0] > 0 && below(3) == 0) by.cell[6] = by.cell[7] = by.cell[8] = 0; // a film
    for (int i = 0; i < n + m; ++i)
        for (int k = 0; k < 3; ++k)
            point[i % POINTS][k] = below(i % 3 ? 16 : boxed == 2 ? 40 : 80) - (boxed == 1 ? 40 : 0);
    if (m) {
        by.m = (tmap_u64)m, by.others = put_points(m, by.d, by.type);
        memcpy(other, point, sizeof other);
        for (int i = 0; i < n; ++i) point[i][0] += below(3) - 1;
    }
    by.points = put_points(n, by.d, by.type);
    if (!m) memcpy(other, point, sizeof other);
    others = m ? m : n;
    return by;
}

// Of the nearest image, for points in a cube of 40. It moves a difference d by 2 |d| at most, which
// limits the multiples of the vectors: sides are 40 or more, the others' parts along them up to 20.
static double square_in_cell(const double *cell, const double *d) {
    double best = 1e30;
    for (int at = 0; at < 385; ++at) {
        const int of[3] = {at % 11 - 5, at / 11 % 7 - 3, at / 77 - 2};
        double sum = 0;
        for (int k = 0; k < 3; ++k) {
            const double t = d[k] + of[0] * cell[k] + of[1] * cell[3 + k] + of[2] * cell[6 + k];
            sum += t * t;
        }
        best = sum < best ? sum : best;
    }
    return best;
}

static double square_of(const threadmap_near *by, int i, int j) {
    double d[3], sum = 0;
    for (int k = 0; k < 3; ++k) d[k] = point[i][k] - other[j][k];
    if (by->cell[0] > 0) return square_in_cell(by->cell, d);
    for (int k = 0; k < by->d; ++k) {
        if (by->box[k] > 0) d[k] -= by->box[k] * rint(d[k] / by->box[k]);
        sum += d[k] * d[k];
    }
    return sum;
}
static int near_pair(const threadmap_near *by, int i, int j) {
    return (by->m || i != j) && square_of(by, i, j) <= by->radius * by->radius;
}
static void near_more(const threadmap_near *by) {
    kit_more(", radius %g, box %g %g %g, cell of %g, second set of %llu", by->radius, by->box[0],
             by->box[1], by->box[2], by->cell[0], by->m);
}
static int is_distance(const threadmap_near *by, const void *values, tmap_u64 at, int i, int j) {
    const double got = value(values, by->type, at), want = sqrt(square_of(by, i, j));
    return fabs(got - want) <= (by->type ? 1e-15 : 1e-6) * want;
}

static void test_pairs(int n) {
    static unsigned char seen[POINTS][POINTS];
    threadmap_pairs_job job = {near_case(n, 2), 0, 0, 0, 0, 0, below(2), below(2)};
    const threadmap_near *by = &job.near_by;
    const tmap_u64 room = POINTS * POINTS, size = job.wide ? 8 : 4;
    tmap_u64 want = 0, count, *i = (tmap_u64 *)kit_host(room * 8),
             *j = (tmap_u64 *)kit_host(room * 8);
    double *values = (double *)kit_host(room * 8);
    kit_case("pairs n = %d, d = %d, type %d, wide %d, both %d", n, by->d, by->type, job.wide,
             job.both);
    near_more(by);
    memset(seen, 0, sizeof seen);
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < others; ++b)
            want += near_pair(by, a, b) && (job.both || by->m || a < b);
    job.count = (tmap_u64 *)put(0, 8), job.capacity = below(2) ? want : want / 2;
    if (job.capacity) {
        job.i = put(0, job.capacity * size), job.j = put(0, job.capacity * size);
        if (below(4)) job.values = put(0, job.capacity * (by->type ? 8 : 4));
    }
    RETURNS(RUN(pairs, &job), 0);
    get(&count, job.count, 8);
    EXPECT(count == want, "%llu pairs, not %llu", count, want);
    get(i, job.i ? job.i : job.count, job.i ? job.capacity * size : 0);
    get(j, job.i ? job.j : job.count, job.i ? job.capacity * size : 0);
    if (job.values) get(values, job.values, job.capacity * (by->type ? 8 : 4));
    for (tmap_u64 e = 0; e < job.capacity; ++e) {
        const tmap_u64 a = index_of(i, job.wide, e), b = index_of(j, job.wide, e);
        const int in = a < (tmap_u64)n && b < (tmap_u64)others && (job.both || by->m || a < b);
        expect(in && near_pair(by, (int)a, (int)b) && !seen[a][b]++, "a pair of the list");
        if (job.values && in) expect(is_distance(by, values, e, (int)a, (int)b), "a distance");
    }
}

static void test_graph(int n) {
    threadmap_graph_job job = {near_case(n, 2), 0, 0, 0, 0, below(2)};
    const threadmap_near *by = &job.near_by;
    const tmap_u64 room = POINTS * POINTS, size = job.wide ? 8 : 4;
    tmap_u64 starts[POINTS + 1], at = 0, all = 0, *columns = (tmap_u64 *)kit_host(room * 8);
    double *values = (double *)kit_host(room * 8);
    kit_case("graph n = %d, d = %d, type %d, wide %d", n, by->d, by->type, job.wide);
    near_more(by);
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < others; ++b) all += (tmap_u64)near_pair(by, a, b);
    job.capacity = below(2) ? all : all / 2;
    job.starts = (tmap_u64 *)put(0, ((tmap_u64)n + 1) * 8);
    if (job.capacity) job.columns = put(0, job.capacity * size);
    if (job.capacity && below(2)) job.values = put(0, job.capacity * (by->type ? 8 : 4));
    RETURNS(RUN(graph, &job), 0);
    get(starts, job.starts, ((tmap_u64)n + 1) * 8);
    if (job.capacity) get(columns, job.columns, job.capacity * size);
    if (job.values) get(values, job.values, job.capacity * (by->type ? 8 : 4));
    for (int a = 0; a < n; ++a) {
        tmap_u64 end = at;
        expect(starts[a] == at, "a row's start");
        for (int b = 0; b < others; ++b) end += (tmap_u64)near_pair(by, a, b);
        for (int b = 0; b < others && end <= job.capacity; ++b) {
            if (!near_pair(by, a, b)) continue;
            expect(index_of(columns, job.wide, at) == (tmap_u64)b, "a column");
            if (job.values) expect(is_distance(by, values, at, a, b), "a distance");
            ++at;
        }
        at = end;
    }
    expect(starts[n] == all, "the number of neighbours");
}

static void test_groups(int n) {
    threadmap_groups_job job = {near_case(n, 1), 0, 0, below(2), (tmap_u32)(below(2) * below(9))};
    const threadmap_near *by = &job.near_by;
    tmap_u32 want[POINTS], dense[POINTS], got[POINTS], count, groups = 0;
    int moved = 1, core[POINTS];
    kit_case("groups n = %d, d = %d, type %d, dense %d, min_points %u", n, by->d, by->type,
             job.dense, job.min_points);
    near_more(by);
    for (int i = 0; i < n; ++i) {
        tmap_u32 points = 1;
        for (int j = 0; j < n; ++j) points += (tmap_u32)near_pair(by, i, j);
        core[i] = points >= job.min_points, want[i] = core[i] ? (tmap_u32)i : ~0u;
    }
    while (moved) {
        moved = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                if (core[j] && want[j] < want[i] && near_pair(by, i, j))
                    want[i] = want[j], moved = 1;
    }
    job.labels = (tmap_u32 *)put(0, (tmap_u64)n * 4), job.count = (tmap_u32 *)put(0, 4);
    RETURNS(RUN(groups, &job), 0);
    get(got, job.labels, (tmap_u64)n * 4), get(&count, job.count, 4);
    for (int i = 0; i < n; ++i) {
        if (want[i] == (tmap_u32)i) dense[i] = groups++;
    }
    for (int i = 0; i < n; ++i)
        expect(got[i] == (job.dense && want[i] != ~0u ? dense[want[i]] : want[i]), "a label");
    EXPECT(count == groups, "%u groups, not %u", count, groups);
}

// Widths of bins are powers of two and squares exact, so that each distance has one right bin.
static void test_histogram(int n) {
    threadmap_histogram_job job = {near_case(n, 2), 0, 0};
    threadmap_near *by = &job.near_by;
    const double wide = below(2) ? 4 : 1.0 / 32;
    tmap_u64 want[4096] = {0}, got[4096];
    job.bins = 1 + (tmap_u32)below(below(3) ? 20 : 4096), by->radius = job.bins * wide;
    kit_case("histogram n = %d, d = %d, type %d, %u bins", n, by->d, by->type, job.bins);
    near_more(by);
    for (int i = 0; i < n; ++i)
        for (int j = by->m ? 0 : i + 1; j < others; ++j) {
            const double square = square_of(by, i, j);
            tmap_u32 bin = 0;
            if (square > by->radius * by->radius) continue;
            while (bin + 1 < job.bins && square >= (bin + 1) * wide * (bin + 1) * wide) ++bin;
            ++want[bin];
        }
    job.counts = (tmap_u64 *)put(0, job.bins * 8ull);
    RETURNS(RUN(histogram, &job), 0);
    get(got, job.counts, job.bins * 8ull);
    for (tmap_u32 bin = 0; bin < job.bins; ++bin)
        EXPECT(got[bin] == want[bin], "bin %u: %llu, not %llu", bin, got[bin], want[bin]);
}

static void test_nearest(int n) {
    threadmap_nearest_job job = {near_case(n, 2), 0,       0, 1 + below(below(2) ? 64 : 12),
                                 below(2),        below(2)};
    const threadmap_near *by = &job.near_by;
    const int rows = n * job.k;
    tmap_u64 *got = (tmap_u64 *)kit_host((tmap_u64)rows * 8);
    double *distances = (double *)kit_host((tmap_u64)rows * 8);
    kit_case("nearest n = %d, d = %d, type %d, k = %d, self %d, wide %d", n, by->d, by->type, job.k,
             job.self, job.wide);
    near_more(by);
    job.numbers = put(0, (tmap_u64)rows * (job.wide ? 8 : 4));
    job.distances = put(0, (tmap_u64)rows * (by->type ? 8 : 4));
    RETURNS(RUN(nearest, &job), 0);
    get(got, job.numbers, (tmap_u64)rows * (job.wide ? 8 : 4));
    get(distances, job.distances, (tmap_u64)rows * (by->type ? 8 : 4));
    for (int i = 0; i < n; ++i) {
        unsigned char used[POINTS] = {0};
        for (int x = 0; x < job.k; ++x) {
            const tmap_u64 at = (tmap_u64)(i * job.k + x);
            int best = -1; // of equal distances the smaller number
            for (int j = 0; j < others; ++j) {
                const double square = square_of(by, i, j);
                if (used[j] || (i == j && !job.self && !by->m)) continue;
                if (by->radius > 0 && square >= by->radius * by->radius) continue;
                if (best < 0 || square < square_of(by, i, best)) best = j;
            }
            const tmap_u64 want = best >= 0 ? (tmap_u64)best : job.wide ? (tmap_u64)others : ~0u;
            EXPECT(index_of(got, job.wide, at) == want, "point %d, entry %d", i, x);
            if (best < 0)
                expect(value(distances, by->type, at) > 1e38, "infinity");
            else
                used[best] = 1, expect(is_distance(by, distances, at, i, best), "a distance");
        }
    }
}

// The set of near_set.h: leaves of 32 points, their coordinates axis by axis and their numbers; then
// the boxes of leaves: 32 least values of each axis, 32 greatest, and of all axes the counts.
static void test_near_set(int n) {
    threadmap_near_set_job job = {0, 0, (tmap_u64)n, 2 + below(7), below(2)};
    const int d = job.d, size = job.type ? 8 : 4, leaves = (n + 31) / 32;
    double *x = (double *)kit_host((tmap_u64)(n * d) * 8);
    float *floats = (float *)kit_host((tmap_u64)(n * d) * 4);
    unsigned char used[POINTS] = {0};
    kit_case("near_set n = %d, d = %d, type %d", n, d, job.type);
    for (int i = 0; i < n * d; ++i) floats[i] = (float)uniform(), x[i] = (double)floats[i];
    const tmap_u64 bytes = threadmap_near_set_bytes(&job);
    char *got = (char *)kit_host(bytes);
    expect(bytes == (tmap_u64)(leaves * 32 * (d * size + 4) + 3 * (2 * d + 1) * 128), "bytes");
    job.points = put(job.type ? (void *)x : (void *)floats, (tmap_u64)(n * d * size));
    job.set = put(0, bytes);
    RETURNS(RUN(near_set, &job), 0);
    get(got, job.set, bytes);
    for (int leaf = 0; leaf < leaves; ++leaf) {
        const char *from = got + leaf * 32 * (d * size + 4);
        const float *box = (const float *)(got + leaves * 32 * (d * size + 4)) + leaf;
        const int count = n - leaf * 32 < 32 ? n - leaf * 32 : 32;
        HOLDS(((const tmap_u32 *)box)[64 * d] == (tmap_u32)count);
        for (int p = 0; p < count; ++p) {
            const tmap_u64 i = index_of(from + 32 * d * size, 0, (tmap_u64)p);
            if (expect(i < (tmap_u64)n && !used[i]++, "a number"), i >= (tmap_u64)n) continue;
            for (int k = 0; k < d; ++k) {
                const double c = x[i * (tmap_u64)d + (tmap_u64)k];
                expect(value(from + 32 * k * size, job.type, (tmap_u64)p) == c, "a coordinate");
                expect(box[64 * k] <= c && c <= box[64 * k + 32], "a box");
            }
        }
    }
}

// ---- frames -------------------------------------------------------------------------------------

// The distance of two atoms of a frame, to the nearest image with a box.
static double atoms_apart(const float *frame, const float *box, tmap_u32 i, tmap_u32 j) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
        double t = (double)frame[3 * i + k] - (double)frame[3 * j + k];
        if (box) t -= (double)box[k] * rint(t / (double)box[k]);
        sum += t * t;
    }
    return sqrt(sum);
}

static void test_frames(int turned) {
    const int n = 2 + below(40), frames = 1 + below(20), some = below(2), all = below(2);
    const int count = some ? 2 + below(n - 1) : n, weighted = below(2);
    float *xyz = (float *)kit_host((tmap_u64)(n * 3 * (frames + 1)) * 4), *got, *weights = 0;
    tmap_u32 *atoms = 0;
    kit_case("%s n = %d, %d frames, %d count, weights %d, all %d", turned ? "rmsd" : "drmsd", n,
             frames, count, weighted, all);
    for (int i = 0; i < n * 3 * (frames + 1); ++i) xyz[i] = (float)(10 * uniform());
    if (some) {
        atoms = (tmap_u32 *)kit_host((tmap_u64)count * 4);
        for (int i = 0; i < count; ++i) atoms[i] = (tmap_u32)(n - 1 - i);
    }
    if (weighted) {
        weights = (float *)kit_host((tmap_u64)count * 4);
        for (int i = 0; i < count; ++i) weights[i] = (float)(0.5 + uniform());
    }
    const int values = all ? frames * (frames - 1) / 2 : frames;
    const float *reference = xyz + n * 3 * frames;
    const threadmap_frames of = {(float *)put(xyz, (tmap_u64)(n * 3 * frames) * 4),
                                 (tmap_u64)frames,
                                 (tmap_u32)n,
                                 (tmap_u32)(some ? count : 0),
                                 some ? (tmap_u32 *)put(atoms, (tmap_u64)count * 4) : 0,
                                 weighted ? (float *)put(weights, (tmap_u64)count * 4) : 0};
    const int boxed = !turned && below(2), bounded = !turned && below(2);
    float *boxes = (float *)kit_host((tmap_u64)(frames + 1) * 12);
    for (int i = 0; i < 3 * (frames + 1); ++i) boxes[i] = (float)(8 + 4 * uniform());
    kit_more(", boxes %d, bounds %d", boxed, bounded);
    float *to = (float *)put(all ? 0 : reference, (tmap_u64)n * 3 * 4), *from = all ? 0 : to;
    float *out = (float *)put(0, (tmap_u64)values * 4);
    const threadmap_rmsd_job rmsd = {of, from, out};
    const threadmap_drmsd_job drmsd = {of,
                                       boxed ? (float *)put(boxes, (tmap_u64)frames * 12) : 0,
                                       from,
                                       boxed ? (float *)put(boxes + 3 * frames, 12) : 0,
                                       out,
                                       bounded ? 2.5f : 0,
                                       bounded ? 6.5f : 0,
                                       0};
    RETURNS(turned ? RUN(rmsd, &rmsd) : RUN(drmsd, &drmsd), 0);
    got = (float *)kit_host((tmap_u64)values * 4 + 4), get(got, out, (tmap_u64)values * 4);
    for (int a = 0, at = 0; a < frames; ++a)
        for (int b = all ? a + 1 : frames; b < (all ? frames : frames + 1); ++b, ++at) {
            const float *p = xyz + n * 3 * a, *q = xyz + n * 3 * b;
            const rmsd_frame u = rmsd_centre(p, atoms, weights, (tmap_u32)count);
            const rmsd_frame v = rmsd_centre(q, atoms, weights, (tmap_u32)count);
            double terms = 0, sums = 0;
            for (int i = 0; i < count; ++i)
                for (int j = 0; j < i; ++j) {
                    const tmap_u32 x = atoms ? atoms[i] : (tmap_u32)i,
                                   y = atoms ? atoms[j] : (tmap_u32)j;
                    const int of_bounds = all ? 0 : frames;
                    const double d = atoms_apart(xyz + n * 3 * of_bounds,
                                                 boxed ? boxes + 3 * of_bounds : 0, x, y);
                    const double w = (double)(u.w[i] * u.w[j]);
                    const double t = atoms_apart(p, boxed ? boxes + 3 * a : 0, x, y) -
                                     atoms_apart(q, boxed ? boxes + 3 * b : 0, x, y);
                    if (bounded && !(2.5 < d && d < 6.5)) continue;
                    terms += w * t * t, sums += w;
                }
            const double right = turned ? rmsd_define(&u, &v) : sums > 0 ? sqrt(terms / sums) : 0;
            EXPECT(fabs((double)got[at] - right) <= 1e-4 * (1 + right), "frames %d, %d: %g, not %g",
                   a, b, (double)got[at], right);
        }
}

// Whole distances, so that many are equal.
static void test_clusters(void) {
    const int n = 1 + below(70), pairs = n * (n - 1) / 2, most = 1 + below(40);
    float *d = (float *)kit_host((tmap_u64)(n * n) * 4),
          *list = (float *)kit_host((tmap_u64)pairs * 4);
    tmap_u32 *labels = (tmap_u32 *)kit_host((tmap_u64)n * 12),
             *got = (tmap_u32 *)kit_host((tmap_u64)n * 4);
    const tmap_u64 bytes = (tmap_u64)n * 4;
    tmap_u64 count, found = 0;
    kit_case("clusters of %d, distances below %d", n, most);
    for (int i = 0, at = 0; i < n; ++i)
        for (int j = i; j < n; ++j) {
            d[i * n + j] = d[j * n + i] = i == j ? 0 : (float)below(most);
            if (i < j) list[at++] = d[i * n + j];
        }
    const float cutoff = (float)below(most) / 4;
    const float *distances = (float *)put(list, (tmap_u64)pairs * 4);
    const threadmap_gromos_job greedy = {distances,
                                         (tmap_u64)n,
                                         (tmap_u32 *)put(0, bytes),
                                         (tmap_u32 *)put(0, bytes),
                                         (tmap_u32 *)put(0, bytes),
                                         (tmap_u64 *)put(0, 8),
                                         cutoff};
    RETURNS(RUN(gromos, &greedy), 0);
    for (int i = 0; i < n; ++i) labels[i] = ~0u;
    get(got, greedy.labels, bytes), get(labels + n, greedy.centres, bytes);
    get(labels + 2 * n, greedy.sizes, bytes), get(&count, greedy.count, 8);
    for (int left = n; left; ++found) {
        tmap_u32 centre = 0, size = 0;
        for (int i = 0; i < n; ++i) {
            tmap_u32 near = 0;
            for (int j = 0; j < n; ++j) near += labels[j] == ~0u && d[i * n + j] <= cutoff;
            if (labels[i] == ~0u && near > size) size = near, centre = (tmap_u32)i;
        }
        for (int j = 0; j < n; ++j)
            if (labels[j] == ~0u && d[(int)centre * n + j] <= cutoff)
                labels[j] = (tmap_u32)found, --left;
        EXPECT(found < count && labels[n + (int)found] == centre &&
                   labels[2 * n + (int)found] == size,
               "cluster %llu", found);
    }
    expect(count == found && !memcmp(got, labels, bytes), "labels of clusters");

    threadmap_edge *edges = (threadmap_edge *)kit_host((tmap_u64)n * sizeof *edges);
    const threadmap_linkage_job single = {
        distances,     (tmap_u64)n,  (threadmap_edge *)put(0, (tmap_u64)(n - 1) * sizeof *edges),
        greedy.labels, greedy.count, cutoff};
    RETURNS(RUN(linkage, &single), 0);
    get(edges, single.edges, (tmap_u64)(n - 1) * sizeof *edges);
    get(got, single.labels, bytes), get(&count, single.count, 8);
    for (int i = 0; i < n; ++i) labels[i] = labels[n + i] = (tmap_u32)i;
    for (int pass = 0; pass < 2; ++pass) // the tree by Kruskal's algorithm; then the components
        for (int at = 0, value = 0; value < most; ++value)
            for (int i = 0; i < n; ++i)
                for (int j = i + 1; j < n; ++j) {
                    const tmap_u32 from = labels[pass * n + j], to = labels[pass * n + i];
                    if ((int)d[i * n + j] != value || from == to || (pass && (float)value > cutoff))
                        continue;
                    for (int k = 0; k < n; ++k)
                        if (labels[pass * n + k] == from || labels[pass * n + k] == to)
                            labels[pass * n + k] = from < to ? from : to;
                    if (pass) continue;
                    expect(edges[at].i == (tmap_u32)i && edges[at].j == (tmap_u32)j &&
                               edges[at].distance == (float)value,
                           "an edge");
                    ++at;
                }
    found = 0;
    for (int i = 0; i < n; ++i) {
        if (labels[n + i] == (tmap_u32)i) labels[i] = (tmap_u32)found++;
        expect(got[i] == labels[(int)labels[n + i]], "a label of linkage");
    }
    expect(count == found, "the number of components");
    double *z = (double *)kit_host((tmap_u64)n * 32);
    RETURNS(threadmap_linkage_matrix(edges, (tmap_u64)n, labels, z), 0);
    for (int i = 0; i < n - 1; ++i)
        expect(z[4 * i] < z[4 * i + 1] && z[4 * i + 2] == (double)edges[i].distance, "a row of z");
    if (n > 2) edges[n - 2] = edges[0];
    RETURNS(threadmap_linkage_matrix(edges, (tmap_u64)n, labels, z), n > 2 ? TMAP_EINVAL : 0);
}

// ---- errors -------------------------------------------------------------------------------------

static void test_errors(void) {
    tmap_u64 bytes = 0, count = 7;
    threadmap_pairs_job pairs = {{0, 10, 3, 0, 1, {0}, {0}, 0, 0}, 0, 0, 0, 0, 0, 0, 0};
    threadmap_pdist_job pdist = {0, 0, 10, 3, 0, 0, 0, 0};
    threadmap_label_job label = {{0, 5, 5, 0, 0, 0, THREADMAP_MASK, 4}, 0, 0, 0};
    threadmap_nearest_job nearest = {{0, 10, 3, 0, 0, {0}, {0}, 0, 0}, 0, 0, 65, 0, 0};
    threadmap_groups_job groups = {{0, 10, 3, 0, 1, {0}, {0}, 0, 5}, 0, 0, 0, 0};
    kit_case("errors");
    RETURNS(threadmap_pdist(0, 0, &bytes, 0), TMAP_EINVAL);
    RETURNS(threadmap_pdist(&pdist, 0, 0, 0), TMAP_EINVAL);
    RETURNS(threadmap_pdist(&pdist, 0, &bytes, 0), 0);
    RETURNS(RUN(pdist, &pdist), TMAP_EINVAL), clear(); // no points
    pdist.points = put(0, 200), pdist.out = (char *)put(0, 400) + 2;
    RETURNS(RUN(pdist, &pdist), THREADMAP_EALIGN), clear();
    pdist.metric = 99, pdist.points = put(0, 200), pdist.out = put(0, 400);
    RETURNS(RUN(pdist, &pdist), TMAP_EINVAL), clear();
    pdist.layout = 3;
    RETURNS(RUN(pdist, &pdist), TMAP_EINVAL);
    RETURNS(RUN(pairs, &pairs), TMAP_EINVAL), clear(); // no count
    pairs.near_by.d = 4;
    RETURNS(RUN(pairs, &pairs), TMAP_EINVAL);
    pairs.near_by.d = 3, pairs.near_by.radius = -1;
    RETURNS(RUN(pairs, &pairs), TMAP_EINVAL);
    pairs.near_by.radius = 1, pairs.near_by.n = 1ull << 32;
    RETURNS(RUN(pairs, &pairs), TMAP_ERANGE);
    pairs.near_by.n = 0, pairs.count = (tmap_u64 *)put(0, 8);
    RETURNS(RUN(pairs, &pairs), 0);
    get(&count, pairs.count, 8), clear();
    HOLDS(count == 0), count = 7;
    threadmap_histogram_job bins = {{0, 0, 3, 0, 1, {0}, {0}, 0, 0}, 0, 0};
    RETURNS(RUN(histogram, &bins), TMAP_EINVAL); // no bins
    bins.bins = 1, bins.near_by.radius = 0;
    RETURNS(RUN(histogram, &bins), TMAP_EINVAL);
    bins.near_by.radius = 1;
    RETURNS(RUN(histogram, &bins), TMAP_EINVAL), clear(); // no counts
    bins.counts = (tmap_u64 *)put(0, 8);
    RETURNS(RUN(histogram, &bins), 0);
    get(&count, bins.counts, 8), clear();
    HOLDS(count == 0);
    bins.bins = (1u << 31) + 1;
    RETURNS(RUN(histogram, &bins), TMAP_ERANGE);
    RETURNS(RUN(nearest, &nearest), TMAP_EINVAL);
    nearest.k = 3, nearest.near_by.cell[1] = 5, nearest.near_by.cell[4] = 1; // parallel
    RETURNS(RUN(nearest, &nearest), TMAP_EINVAL);
    nearest.near_by.d = 2, nearest.near_by.cell[1] = 0;
    RETURNS(RUN(nearest, &nearest), TMAP_EINVAL);
    RETURNS(RUN(groups, &groups), TMAP_EINVAL); // of two sets
    threadmap_near_set_job set = {0, 0, 10, 9, 0};
    RETURNS(RUN(near_set, &set), TMAP_EINVAL);
    HOLDS(threadmap_near_set_bytes(&set) == 0 && threadmap_near_set_bytes(0) == 0);
    set.d = 3, set.points = put(0, 120), set.set = (char *)put(0, 4096) + 64;
    RETURNS(RUN(near_set, &set), THREADMAP_EALIGN), clear();
    label.map.connectivity = 6;
    RETURNS(RUN(label, &label), TMAP_EINVAL);
    label.map.connectivity = 4;
    RETURNS(RUN(label, &label), TMAP_EINVAL), clear();
    const int codes[] = {0, TMAP_EINVAL, TMAP_ERANGE, THREADMAP_EALIGN, THREADMAP_EWORKSPACE, 2};
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < i; ++k)
            HOLDS(strcmp(threadmap_error_text(codes[i]), threadmap_error_text(codes[k])) != 0);
    HOLDS(strcmp(threadmap_error_text(-99), "unknown error code") == 0);
    HOLDS(threadmap_version() > 0);
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 12;
    if (no_device()) return 77;
    test_errors();
    for (int round = 0; round < rounds; ++round) {
        const int n = round % 4 ? 1 + below(POINTS - 1) : 1 + below(3);
        test_pdist(), clear(), test_pairs(n), clear(), test_graph(n), clear();
        test_groups(n), clear(), test_nearest(n), clear(), test_histogram(n), clear();
        test_near_set(n), clear();
        test_frames(0), clear(), test_frames(1), clear(), test_clusters(), clear();
    }
    return kit_end("test_library");
}
