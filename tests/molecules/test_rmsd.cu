// SPDX-License-Identifier: MIT
// test_rmsd: tmap_rmsd_matrix and tmap_rmsd_frames against the definition in extended precision:
// a singular value decomposition of the products (Kabsch) gives the rotation, and the rotated atoms
// the distance. 1 to 40 atoms, 200 and 1000; 1 to 130 frames, which are turned, moved far away and
// differ by much, little and nothing; mirror images; atoms in a plane, on a line, in one place;
// chosen atoms and weights; NaN and infinities; clusters by tmap_gromos; what must be refused, with
// what is around the output and the workspace compared.
#include "molecules/rmsd_check.h"

#include <threadmap/molecules/gromos.h>
#include <threadmap/molecules/rmsd.h>

// Shapes of a molecule; and bits of what is chosen.
enum { BLOB, HELIX, NEEDLE, PLANE, LINE, POINT, SHAPES };
enum { ATOMS = 1, WEIGHTS = 2, OPTIONS = 4 };

typedef struct problem {
    tmap_u32 n, frames, options;
    int shape;
    double apart, offset; // how much atoms differ between frames; where frames are
} problem;

// Frames on the host. count: atoms that count.
typedef struct set {
    tmap_u32 n, frames, count, *atoms, options;
    float *xyz, *weights;
} set;

static double worst; // error over radius of gyration

static double unit(tmap_u64 a, tmap_u64 b) { // in [-1, 1)
    return (double)(check_hash(a, b) >> 11) / 4503599627370496.0 - 1;
}

// ---- frames -------------------------------------------------------------------------------------

static void place(int shape, tmap_u32 i, double *x) {
    for (int c = 0; c < 3; ++c) x[c] = unit(i, 10 + (tmap_u64)c);
    if (shape == HELIX) x[0] = 0.23 * cos(1.745 * i), x[1] = 0.23 * sin(1.745 * i), x[2] = 0.15 * i;
    if (shape == NEEDLE) x[0] *= 1e-3, x[1] *= 1e-4;
    if (shape == PLANE || shape == LINE) x[0] = 0;
    if (shape == LINE) x[1] = 0;
    if (shape == POINT) x[0] = x[1] = x[2] = 0.25;
}

// A turn by a unit quaternion.
static void turn(tmap_u64 seed, double *x) {
    double q[4], v[3], length = 0;
    for (int k = 0; k < 4; ++k) q[k] = unit(seed, 30 + (tmap_u64)k), length += q[k] * q[k];
    for (int k = 0; k < 4; ++k) q[k] /= sqrt(length);
    for (int k = 0; k < 3; ++k) { // x + 2 w (u x) + 2 u (u x): first u x
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        v[k] = 2 * (q[1 + a] * x[b] - q[1 + b] * x[a]);
    }
    for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        x[k] += q[0] * v[k] + (q[1 + a] * v[b] - q[1 + b] * v[a]);
    }
}

// Every fifth frame is as the first one, every seventh the mirror image of what it would be.
static set make(problem p) {
    set s = {p.n, p.frames, 0, (tmap_u32 *)kit_host(p.n * 4ull), p.options, 0, 0};
    s.xyz = (float *)kit_host((tmap_u64)p.n * p.frames * 12 + 4);
    s.weights = (float *)kit_host(p.n * 4ull);
    for (tmap_u32 i = 0; i < p.n; ++i)
        if (!(p.options & ATOMS) || (p.n - i) % 3 != 2) s.atoms[s.count++] = p.n - 1 - i;
    for (tmap_u32 i = 0; i < s.count && !(p.options & ATOMS); ++i) s.atoms[i] = i;
    for (tmap_u32 i = 0; i < s.count; ++i) s.weights[i] = (float)((i + 1) % 5) * 3.7f;
    for (tmap_u32 f = 0; f < p.frames; ++f)
        for (tmap_u32 i = 0; i < p.n; ++i) {
            double x[3];
            place(p.shape, i, x);
            for (int c = 0; c < 3 && f % 5; ++c)
                x[c] += p.apart * unit(f * 1000003ull + i, 20 + (tmap_u64)c) *
                        (p.shape == NEEDLE && c < 2 ? 1e-3 : 1);
            if (f % 7 == 3) x[1] = -x[1];
            turn(f, x);
            for (int c = 0; c < 3; ++c)
                s.xyz[((tmap_u64)f * p.n + i) * 3 + c] =
                    (float)(x[c] + p.offset * unit(f, 40 + (tmap_u64)c));
        }
    return s;
}

static rmsd_frame centre(const set *s, const float *frame) {
    return rmsd_centre(frame, s->atoms, s->options & WEIGHTS ? s->weights : 0, s->count);
}

// ---- runs ---------------------------------------------------------------------------------------

static tmap_rmsd_shape shape_for(const set *s) {
    tmap_rmsd_shape shape = {s->n, s->frames, 0, 0, s->count};
    if (s->options & ATOMS)
        shape.atoms = (const tmap_u32 *)kit_to_device(s->atoms, s->count * 4ull);
    if (s->options & WEIGHTS)
        shape.weights = (const float *)kit_to_device(s->weights, s->count * 4ull);
    return shape;
}

// All results, on the host and on the device.
static float *matrix(const set *s, float **device) {
    const tmap_u64 bytes = 4 * tmap_condensed_cells(s->frames);
    const float *xyz = (const float *)kit_to_device(s->xyz, 12ull * s->n * s->frames);
    const tmap_rmsd_shape shape = shape_for(s);
    void *workspace = kit_guarded(tmap_rmsd_matrix_bytes(&shape));
    float *out = (float *)kit_guarded(bytes);
    earlier_error();
    const cudaError_t error = tmap_rmsd_matrix(shape, xyz, workspace, out, 0);
    expect(error == cudaSuccess, "the launch");
    expect(earlier_error_is_there(), "an earlier error");
    if (device) *device = out;
    return (float *)kit_to_host(out, bytes);
}
static float *from_reference(const set *s, const float *reference) {
    const float *xyz = (const float *)kit_to_device(s->xyz, 12ull * s->n * s->frames);
    const float *of = (const float *)kit_to_device(reference, 12ull * s->n);
    float *out = (float *)kit_guarded(4ull * s->frames);
    CHECK(tmap_rmsd_frames(shape_for(s), of, xyz, out, 0));
    return (float *)kit_to_host(out, 4ull * s->frames);
}

// 1 if a result is further from the definition than granted, in radii.
static int differs(double got, double want, const rmsd_frame *a, const rmsd_frame *b,
                   double granted) {
    const double size = (double)sqrtl((a->size * a->size + b->size * b->size) / 2);
    const double error = fabs(got - want);
    if (size > 0 && !(error / size <= worst)) worst = error / size;
    return !(error <= granted * size);
}

static void solve(problem p) {
    if (!check_turn()) return;
    const set s = make(p);
    rmsd_frame *all = (rmsd_frame *)kit_host((p.frames + 1) * sizeof *all);
    const float *got, *first;
    tmap_u64 at = 0;
    int wrong = 0;
    kit_case("%u frames of %u atoms, options %u, shape %d, %g apart, offset %g", p.frames, p.n,
             p.options, p.shape, p.apart, p.offset);
    for (tmap_u32 f = 0; f < p.frames; ++f) all[f] = centre(&s, s.xyz + 3ull * f * p.n);
    got = matrix(&s, 0);
    for (tmap_u32 a = 0; a < p.frames; ++a)
        for (tmap_u32 b = a + 1; b < p.frames; ++b, ++at)
            wrong +=
                differs((double)got[at], rmsd_define(&all[a], &all[b]), &all[a], &all[b], 1e-5);
    expect(wrong == 0, "the matrix");
    wrong = 0, first = from_reference(&s, s.xyz + 3ull * p.n * (p.frames / 2));
    for (tmap_u32 f = 0; f < p.frames; ++f)
        wrong += differs((double)first[f], rmsd_define(&all[f], &all[p.frames / 2]), &all[f],
                         &all[p.frames / 2], 1e-6);
    expect(wrong == 0, "from a reference");
    kit_release(0);
}

// ---- known answers, NaN, clusters, refusals -----------------------------------------------------

// Two atoms 2, 3 and 2 apart; a corner and its mirror image.
static void run_known(void) {
    float two[3][2][3] = {{{0, 0, 0}, {2, 0, 0}}, {{7, 0, 0}, {7, 3, 0}}, {{0, 0, 5}, {0, 0, 7}}};
    float cube[2][8][3], weights[8];
    float corner[2][4][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}},
                             {{0, 0, 0}, {-1, 0, 0}, {0, 2, 0}, {0, 0, 3}}};
    const set pair = {2, 3, 2, 0, 0, &two[0][0][0], 0},
              mirror = {4, 2, 4, 0, 0, &corner[0][0][0], 0};
    set opposite = {8, 2, 8, 0, 0, &cube[0][0][0], weights};
    const float *got = matrix(&pair, 0);
    kit_case("%s", "known answers");
    expect(got[0] == 0.5f && fabsf(got[1]) < 1e-6f && got[2] == 0.5f, "two atoms");
    got = from_reference(&pair, two[0][0]);
    expect(fabsf(got[0]) < 1e-6f && got[1] == 0.5f && fabsf(got[2]) < 1e-6f, "from the first");
    expect(matrix(&mirror, 0)[0] > 0.3f, "a mirror image");
    // The corners of a cube and the opposite ones, the furthest from any rotation: sum of squares 3
    // each, L = 1 (a triple root), so 2 (3 - 1).
    for (int i = 0; i < 8; ++i)
        for (int c = 0; c < 3; ++c)
            cube[0][i][c] = i >> c & 1 ? 1 : -1, cube[1][i][c] = -cube[0][i][c] + 100;
    got = matrix(&opposite, 0);
    expect(fabsf(got[0] - 2) < 1e-5f, "a cube turned inside out");
    expect(fabsf(from_reference(&opposite, cube[0][0])[1] - 2) < 1e-5f, "from the first");
    for (int i = 0; i < 8; ++i) cube[0][i][0] = NAN, weights[i] = 0;
    opposite.options = WEIGHTS;
    expect(matrix(&opposite, 0)[0] == 0, "no weight at all");
    kit_release(0);
}

static void run_no_numbers(void) {
    static const float no[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k)
        for (tmap_u32 atom = 0; atom < 9; atom += 4) {
            const problem p = {9, 70, 0, BLOB, k ? 1e-3 : 0.5, 0};
            set s = make(p);
            tmap_u64 at = 0;
            int wrong = 0;
            kit_case("no number %d of atom %u", k, atom);
            s.xyz[(66 * 9 + atom) * 3 + 1] = no[k];
            const float *got = matrix(&s, 0), *first = from_reference(&s, s.xyz);
            for (tmap_u32 a = 0; a < 70; ++a)
                for (tmap_u32 b = a + 1; b < 70; ++b, ++at)
                    wrong += (got[at] != got[at]) != (a == 66 || b == 66);
            for (tmap_u32 f = 0; f < 70; ++f) wrong += (first[f] != first[f]) != (f == 66);
            expect(wrong == 0, "NaN where a frame has no number, and only there");
            kit_release(0);
        }
}

// Three shapes and the mirror image of the first, each 10 times with small changes: four clusters.
static void run_clusters(void) {
    const tmap_u32 n = 30, frames = 40;
    set s = {n, frames, n, 0, 0, (float *)kit_host(n * frames * 12ull), 0};
    kit_case("%s", "clusters");
    for (tmap_u32 f = 0; f < frames; ++f)
        for (tmap_u32 i = 0; i < n; ++i) {
            double x[3];
            for (int c = 0; c < 3; ++c)
                x[c] = unit(f % 4 % 3 * 100 + i, 50 + (tmap_u64)c) +
                       0.01 * unit(f * 100 + i, 60 + (tmap_u64)c);
            if (f % 4 == 3) x[2] = -x[2];
            turn(f, x);
            for (int c = 0; c < 3; ++c) s.xyz[(f * n + i) * 3 + c] = (float)x[c];
        }
    float *device;
    tmap_cluster_plan plan;
    (void)matrix(&s, &device);
    CHECK(tmap_gromos_plan_make(frames, &plan));
    void *workspace = kit_device(plan.workspace);
    const tmap_clusters clusters = {(tmap_u32 *)kit_device(frames * 4),
                                    (tmap_u32 *)kit_device(frames * 4),
                                    (tmap_u32 *)kit_device(frames * 4), (tmap_u64 *)kit_device(8)};
    CHECK(tmap_gromos(&plan, device, 0.1f, workspace, clusters, 0));
    const tmap_u32 *labels = (const tmap_u32 *)kit_to_host(clusters.labels, frames * 4);
    expect(kit_number(clusters.count) == 4, "the number of clusters");
    int wrong = 0;
    for (tmap_u32 f = 0; f < frames; ++f) wrong += labels[f] != labels[f % 4];
    for (tmap_u32 f = 1; f < 4; ++f)
        for (tmap_u32 g = 0; g < f; ++g) wrong += labels[f] == labels[g];
    expect(wrong == 0, "a mirror image has a cluster of its own");
    kit_release(0);
}

static void run_refusals(void) {
    float *memory = (float *)kit_guarded(4096), *askew = (float *)((char *)memory + 4 + 2);
    const tmap_rmsd_shape good = {5, 4, 0, 0, 0};
    tmap_rmsd_shape bad[5] = {good, good, good, good, good};
    kit_case("%s", "refusals");
    expect(tmap_rmsd_matrix_bytes(&good) == 5 * (16 * 5 + 8), "the workspace");
    bad[0].n = TMAP_RMSD_ATOMS_MAX + 1u;
    bad[1].atoms = (const tmap_u32 *)memory, bad[1].atom_count = 6;
    bad[2].atoms = (const tmap_u32 *)askew, bad[2].atom_count = 2;
    bad[3].weights = askew;
    bad[4].frames = TMAP_PAIRS_STORE_MAX + 1ull;
    for (int k = 0; k < 5; ++k) REFUSED(tmap_rmsd_matrix(bad[k], memory, memory, memory, 0));
    for (int k = 0; k < 4; ++k) REFUSED(tmap_rmsd_frames(bad[k], memory, memory, memory, 0));
    for (int k = 0; k < 2; ++k) { // null and misaligned
        float *none = k ? askew : NULL;
        REFUSED(tmap_rmsd_matrix(good, none, memory, memory, 0));
        REFUSED(tmap_rmsd_matrix(good, memory, none, memory, 0));
        REFUSED(tmap_rmsd_matrix(good, memory, memory, none, 0));
        REFUSED(tmap_rmsd_frames(good, none, memory, memory, 0));
        REFUSED(tmap_rmsd_frames(good, memory, none, memory, 0));
        REFUSED(tmap_rmsd_frames(good, memory, memory, none, 0));
    }
    REFUSED(tmap_rmsd_matrix(good, memory, memory + 1, memory, 0));
    expect(kit_device_all(memory, 4096, KIT_POISON), "nothing is written");
    // No atoms, one frame or none.
    tmap_rmsd_shape few = good;
    few.n = 0;
    CHECK(tmap_rmsd_matrix(few, NULL, NULL, memory, 0));
    CHECK(tmap_rmsd_frames(few, NULL, NULL, memory + 64, 0));
    expect(kit_device_all(memory, 24, 0) && kit_device_all(memory + 6, 232, KIT_POISON), "zeros");
    expect(kit_device_all(memory + 64, 16, 0), "zeros");
    few = good, few.frames = 1;
    CHECK(tmap_rmsd_matrix(few, NULL, NULL, NULL, 0));
    few.frames = 0;
    CHECK(tmap_rmsd_matrix(few, NULL, NULL, NULL, 0));
    CHECK(tmap_rmsd_frames(few, NULL, NULL, NULL, 0));
    kit_release(0);
}

int main(void) {
    static const double aparts[] = {1, 0.3, 0.08, 0.03, 1e-3, 1e-5, 0};
    static const tmap_u32 large[][2] = {{200, 65}, {200, 3}, {7, 130}, {129, 9}, {1000, 5}};
    tmap_u64 state = 1;
    kit_begin();
    run_known();
    for (tmap_u32 n = 1; n <= 40; ++n)
        for (int shape = 0; shape < SHAPES; ++shape) {
            const problem p = {n,     1 + (tmap_u32)kit_below(&state, 12),      n % OPTIONS,
                               shape, aparts[kit_below(&state, COUNT(aparts))], n % 3 ? 0 : 1000.0};
            solve(p);
        }
    for (size_t k = 0; k < COUNT(large); ++k)
        for (size_t a = 0; a < COUNT(aparts); ++a) {
            const problem p = {large[k][0],  large[k][1], (tmap_u32)(a + k) % OPTIONS,
                               (int)(k % 2), aparts[a],   a % 2 ? 0 : 30.0};
            if (!kit_small || p.n * p.frames < 3000) solve(p);
        }
    for (tmap_u32 f = 1; f <= 130; f += kit_small ? 43 : 3) {
        const problem p = {5, f, 0, BLOB, 0.3, 0};
        solve(p);
    }
    printf("largest error over radius of gyration: %.3g\n", worst);
    run_no_numbers();
    run_clusters();
    run_refusals();
    return kit_end("test_rmsd");
}
