// SPDX-License-Identifier: MIT
// test_drmsd_matrix: the dRMSD of all frames, of drmsd_matrix.h and drmsd_mma.h, against the
// definition in double precision: many numbers of frames and atoms, every choice of atoms, weights,
// boxes and bounds, random structures and helices that differ by much, little and next to nothing;
// equal frames and atoms in one place; workspaces that hold all columns or few of them, with what
// is around them and around the output compared; then what must be refused, an error
// that an earlier call has left, and the facts of other devices.
#include "molecules/drmsd_check.h"

#include <threadmap/molecules/drmsd_mma.h>

enum { EXACT, HALF, SPLIT, FORMS };
enum { ROOMY, ONE_SLICE, TIGHT, SIZES };
static const char *const form_names[] = {"exact", "half", "split"};

// A trajectory on the host. apart: the Angstroms by which frames differ.
typedef struct problem {
    tmap_u32 frames, n, options;
    int helix;
    double apart;
} problem;

static double worst[FORMS];

// The case: a problem, a form, a size of the workspace.
static void of_case(problem p, int form, int size) {
    kit_case("%s, %u frames of %u atoms, options %u, %s, %g apart, workspace %d", form_names[form],
             p.frames, p.n, p.options, p.helix ? "helix" : "random", p.apart, size);
}

// ---- trajectories -------------------------------------------------------------------------------

static tmap_u32 reference_of(const drmsd_set *set) { return set->frames > 2 ? 2 : 0; }

// Frames are turned and moved: dRMSD does not see it. Every seventh frame, from the eighth on, is
// the first one again; atoms 3 and 4 are in one place. Boxes are not periodic along y.
static drmsd_set make(problem p) {
    drmsd_set set = drmsd_set_make(p.n, p.frames, (int)p.options);
    for (tmap_u32 f = 0; f < p.frames; ++f) {
        const tmap_u64 seed = f && f % 7 == 0 ? 0 : f;
        const double turn = 3 * drmsd_random(seed, 1), c = cos(turn), s = sin(turn);
        for (tmap_u32 k = 0; k < p.n; ++k) {
            const tmap_u32 i = k == 4 ? 3 : k;
            double x[3] = {12 * drmsd_random(i, 11), 12 * drmsd_random(i, 12),
                           12 * drmsd_random(i, 13)};
            if (p.helix) x[0] = 2.3 * cos(1.745 * i), x[1] = 2.3 * sin(1.745 * i), x[2] = 1.5 * i;
            for (int a = 0; a < 3; ++a)
                x[a] += p.apart * drmsd_random(seed * 1000003 + i, 20 + (tmap_u64)a);
            float *to = set.xyz + ((tmap_u64)f * p.n + k) * 3;
            to[0] = (float)(c * x[0] - s * x[1] + 30 * drmsd_random(seed, 2));
            to[1] = (float)(s * x[0] + c * x[1] + 30 * drmsd_random(seed, 3));
            to[2] = (float)(x[2] + 30 * drmsd_random(seed, 4));
        }
        for (tmap_u32 x = 0; x < 3; ++x)
            set.boxes[3 * f + x] = x == 1 ? 0 : 15 + 0.01f * (float)(seed % 7 % 3);
    }
    if (p.options & BOUNDS && p.frames) set.lower = 5, set.upper = 11;
    if (p.frames) drmsd_move_bounds(&set, reference_of(&set));
    return set;
}

// ---- the definition -----------------------------------------------------------------------------

// All distances of pairs that count, times the roots of their weights; their number; and all dRMSD.
typedef struct vectors {
    double *of, *norms, *wants; // norms: dRMSD from the medians of some frames, at most
    tmap_u64 count;
    double weight, length; // length: the root of the mean square of a distance
} vectors;

static double drmsd(const vectors *v, const double *a, const double *b) {
    double sum = 0;
    for (tmap_u64 k = 0; k < v->count; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum / v->weight);
}

static vectors define(const drmsd_set *set) {
    const tmap_u64 most = (tmap_u64)set->count * (set->count + 1) / 2 + 1;
    const tmap_u32 frames = set->frames;
    double all = 0;
    vectors v;
    v.of = (double *)kit_host(most * (frames + 1ull) * sizeof *v.of);
    v.norms = (double *)kit_zeroed((frames + 1) * sizeof *v.norms);
    v.count = 0, v.weight = v.length = 0;
    for (tmap_u32 i = 0; i < set->count && frames; ++i)
        for (tmap_u32 j = i + 1; j < set->count; ++j) {
            const double w = drmsd_weight(set, reference_of(set), i, j);
            double mean = 0;
            if (w == 0) continue;
            for (tmap_u32 f = 0; f < frames; ++f) {
                const double x = drmsd_distance(set, f, i, j) * sqrt(w);
                v.of[f * most + v.count] = x, mean += x / frames, v.length += x * x;
            }
            for (tmap_u32 f = 0; f < frames; ++f)
                v.norms[f] += pow(v.of[f * most + v.count] - mean, 2);
            ++v.count, v.weight += w;
        }
    v.wants = (double *)kit_zeroed(((tmap_u64)frames * frames / 2 + 1) * sizeof *v.wants);
    if (!v.count) return v;
    for (tmap_u32 f = 0; f < frames; ++f) all += v.norms[f] / v.weight / frames;
    // A median is about as far from the mean as frames are.
    for (tmap_u32 f = 0; f < frames; ++f)
        v.norms[f] = sqrt(v.norms[f] / v.weight) + 1.5 * sqrt(all);
    v.length = sqrt(v.length / v.weight / frames);
    for (tmap_u32 a = 0, at = 0; a < frames; ++a)
        for (tmap_u32 b = a + 1; b < frames; ++b, ++at)
            v.wants[at] = drmsd(&v, v.of + a * most, v.of + b * most);
    return v;
}

// What a result may be off by. norms: of both frames. Distances are rounded, and then what is left
// of them, and these errors cancel where there are many pairs; then come those of the squares.
static double granted(int form, int options, double want, double norms, const vectors *v) {
    const double places[] = {0x1p-23, 0x1p-11, 0x1p-21}, distances[] = {0, 0x1p-21, 0x1p-21};
    const double share = form && v->count > 36 ? 6 / sqrt((double)v->count) : 1;
    const double each = places[form] * norms + distances[form] * v->length;
    double square = form ? 0x1p-22 * norms * norms : 0, rest; // what is cut off, second halves
    if (form == HALF) square += each * each;
    rest = sqrt(square);
    if (want > 0 && square / want < rest) rest = square / want;
    // The nearest image is a rounding more.
    return (options & BOXES ? 1e-6 : 4e-7) * want + share * each + rest;
}

// ---- runs ---------------------------------------------------------------------------------------

static tmap_drmsd_shape shape_for(tmap_u32 n, tmap_u64 frames, const tmap_drmsd_atoms *which,
                                  int form, tmap_u64 most) {
    const tmap_drmsd_shape s = {n, frames, TMAP_DRMSD_EXACT + form, which, most};
    return s;
}

static cudaError_t plan_of(int form, problem p, const tmap_drmsd_atoms *which, tmap_u64 most,
                           tmap_drmsd_plan *plan) {
    return tmap_drmsd_matrix_plan_make(shape_for(p.n, p.frames, which, form, most), plan);
}

// A plan of one slice, or with the smallest workspace that there is.
static void resize(int size, int form, problem p, const tmap_drmsd_atoms *which,
                   tmap_drmsd_plan *plan) {
    tmapi_matrix_plan *m = &plan->matrix;
    if (!m->slices) return;
    if (size == ONE_SLICE) {
        m->slice *= m->slices, m->slices = m->round = 1;
        tmapi_matrix_arrange(m);
        plan->workspace = m->workspace;
    } else if (size == TIGHT) {
        const tmap_u64 roomy = plan->workspace;
        tmapi_matrix_plan least = *m;
        tmap_drmsd_plan none;
        least.slice = 1, least.round = 1;
        least.slices = (tmap_u32)((m->groups + 63) / 64);
        tmapi_matrix_arrange(&least);
        CHECK(plan_of(form, p, which, least.workspace, plan));
        expect(plan->workspace <= least.workspace || plan->workspace == roomy, "most");
        if (m->slices > 1)
            RETURNS(plan_of(form, p, which, least.workspace - 1, &none), cudaErrorMemoryAllocation);
    }
}

// All results of a form, on the host.
static float *run(const drmsd_set *set, problem p, int form, int size) {
    const tmap_u64 cells = p.frames ? (tmap_u64)p.frames * (p.frames - 1) / 2 : 0;
    const tmap_u32 reference = reference_of(set);
    const tmap_drmsd_atoms which = drmsd_device(set, 0), *given = p.options ? &which : 0;
    const float *device = (const float *)kit_to_device(set->xyz, 12ull * p.frames * p.n);
    const tmap_drmsd_in in = {device, reference || p.n % 2 ? device + 3ull * p.n * reference : 0,
                              0};
    tmap_drmsd_plan plan;
    of_case(p, form, size);
    earlier_error();
    CHECK(plan_of(form, p, given, 0, &plan));
    expect(earlier_error_is_there(), "an earlier error of a plan");
    resize(size, form, p, given, &plan);
    float *out = (float *)kit_guarded(4 * cells);
    void *workspace = kit_guarded(plan.workspace);
    earlier_error();
    cudaError_t error = (form ? tmap_drmsd_mma : tmap_drmsd_matrix)(&plan, in, workspace, out, 0);
    expect(error == cudaSuccess, "the launch");
    expect(earlier_error_is_there(), "an earlier error");
    return (float *)kit_to_host(out, 4 * cells);
}

// Compares every result with the definition; equal frames have 0.
static void compare(const float *results, problem p, const vectors *v, int form) {
    tmap_u64 at = 0;
    int wrong = 0;
    for (tmap_u32 a = 0; a < p.frames; ++a)
        for (tmap_u32 b = a + 1; b < p.frames; ++b, ++at) {
            const double got = (double)results[at], want = v->wants[at];
            const int equal = a % 7 == 0 && b % 7 == 0;
            if (equal || want == 0)
                wrong += got != 0;
            else
                wrong += !(fabs(got - want) <=
                           granted(form, p.options, want, v->norms[a] + v->norms[b], v));
            if (v->count > 500 && want > 0.5 * v->norms[a] && fabs(got / want - 1) > worst[form])
                worst[form] = fabs(got / want - 1);
        }
    expect(wrong == 0, "values");
}

// forms, sizes: a bit for each that is run.
static void solve(problem p, int forms, int sizes) {
    if (!check_turn()) return;
    const drmsd_set set = make(p);
    const vectors v = define(&set);
    const int mark = kit_mark();
    for (int form = 0; form < FORMS; ++form)
        for (int size = 0; size < SIZES; ++size) {
            if (!(forms >> form & 1) || !(sizes >> size & 1)) continue;
            compare(run(&set, p, form, size), p, &v, form);
            kit_release(mark);
        }
    kit_release(0);
}

// ---- hard frames --------------------------------------------------------------------------------

// Compares all results but those of a frame, which are NaN if it has what is no number.
static void compare_but(drmsd_set set, problem p, int form, tmap_u32 but, int none,
                        const char *what) {
    set.options = (int)p.options;
    const vectors v = define(&set);
    const float *results = run(&set, p, form, ROOMY);
    int wrong = 0;
    for (tmap_u32 a = 0, at = 0; a < p.frames; ++a)
        for (tmap_u32 b = a + 1; b < p.frames; ++b, ++at) {
            const double got = (double)results[at], want = v.wants[at];
            if (a != but && b != but)
                wrong += !(fabs(got - want) <= 3e-3 * (form == HALF ? 1 : 0.01));
            else
                wrong += none ? got == got : !(fabs(got / want - 1) < 1e-2);
        }
    expect(wrong == 0, what);
}

// A NaN or an infinite coordinate makes all results of its frame NaN and no other, be it in the
// reference or in a sampled frame, and be all pairs of its atom excluded; an atom far away costs
// the other frames nothing.
static void run_hard(int form) {
    const problem plain = {9, 12, 0, 0, 1.4};
    const float broken[] = {NAN, INFINITY, -INFINITY};
    for (int kind = 0; kind < DRMSD_NO_NUMBERS; ++kind)
        for (int k = 0; k < 6; ++k) {
            const problem p = {9, 12, (tmap_u32)drmsd_no_number_options(kind), 0, 1.4};
            const tmap_u32 frame = k < 3 ? 2 : 7; // 2: the reference
            drmsd_set set = make(p);
            drmsd_no_number(&set, kind, frame, broken[k % 3]);
            compare_but(set, p, form, frame, 1, "no number");
            kit_release(0);
        }
    const drmsd_set set = make(plain);
    set.xyz[(2 * 12 + 9) * 3] = 3e4f;
    compare_but(set, plain, form, 2, 0, "an atom far away");
    kit_release(0);
}

// Coordinates in other units, to the ends of what the headers promise: the same by a factor.
static void run_units(int form) {
    const problem p = {9, 12, 0, 0, 0.14};
    const float factors[] = {1e-17f, 1e-9f, 1e9f, 1e16f};
    const drmsd_set set = make(p), scaled = make(p);
    for (int k = 0; k < 4; ++k) {
        for (tmap_u32 x = 0; x < 9 * 12 * 3; ++x) scaled.xyz[x] = set.xyz[x] * factors[k];
        const vectors v = define(&scaled);
        compare(run(&scaled, p, form, ROOMY), p, &v, form);
    }
    kit_release(0);
}

// Frames of two atoms at distances 1, 3, 6; then all pairs out of bounds.
static void run_example(int form) {
    const problem p = {3, 2, 0, 0, 0};
    const float frames[18] = {0, 0, 0, 1, 0, 0, 5, 5, 5, 5, 8, 5, 1, 2, 3, 1, 2, -3};
    drmsd_set set = make(p);
    memcpy(set.xyz, frames, sizeof frames);
    const float *results = run(&set, p, form, ROOMY);
    expect(results[0] == 2 && results[1] == 5 && results[2] == 3, "the example");
    problem none = p;
    none.options = BOUNDS, set.options = BOUNDS, set.lower = 100, set.upper = 200;
    results = run(&set, none, form, ROOMY);
    expect(results[0] == 0 && results[1] == 0 && results[2] == 0, "no pair");
    kit_release(0);
}

// The parts of a matrix together are the matrix: each pair is in one of them, within its bytes.
static void run_parts(int form) {
    const problem p = {2100, 3, 0, 0, 1.4};
    const tmap_u64 cells = tmap_condensed_cells(p.frames);
    if (!check_turn()) return;
    const drmsd_set set = make(p);
    const float *want = run(&set, p, form, ONE_SLICE);
    const float *device = (const float *)kit_to_device(set.xyz, 12ull * p.frames * p.n);
    const tmap_drmsd_in in = {device, 0, 0};
    float *out = (float *)kit_guarded(4 * cells);
    tmap_drmsd_plan plan;
    tmap_share bytes;
    CHECK(plan_of(form, p, 0, 0, &plan));
    if (plan.matrix.slices > 1)
        RETURNS(tmap_drmsd_matrix_plan_part(&plan, 0, 1, &bytes), TMAP_EINVAL);
    resize(ONE_SLICE, form, p, 0, &plan);
    void *workspace = kit_guarded(plan.workspace);
    for (tmap_u64 parts = 1; parts <= (kit_full ? 7 : 3); ++parts) {
        tmap_u64 wrong = 0, mine = 0;
        for (tmap_u64 part = 0; part < parts; ++part) {
            tmap_u64 at = 0;
            of_case(p, form, ONE_SLICE);
            kit_more(", part %llu of %llu", part, parts);
            RETURNS(tmap_drmsd_matrix_plan_part(&plan, part, parts, &bytes), TMAP_OK);
            CHECK(cudaMemset(out, 0x5a, 4 * cells));
            CHECK((form ? tmap_drmsd_mma : tmap_drmsd_matrix)(&plan, in, workspace, out, 0));
            const float *got = (const float *)kit_to_host(out, 4 * cells);
            for (tmap_u32 a = 0; a < p.frames; ++a)
                for (tmap_u32 b = a + 1; b < p.frames; ++b, ++at) {
                    const int here = tmap_drmsd_matrix_part_of(&plan, a, b, parts) == part;
                    tmap_u32 bits;
                    memcpy(&bits, got + at, 4);
                    mine += (tmap_u64)here;
                    wrong += here ? got[at] != want[at] || 4 * at - bytes.first >= bytes.count
                                  : bits != 0x5a5a5a5a;
                }
        }
        expect(mine == cells, "each pair is in one part");
        expect(wrong == 0, "the matrix of one part");
    }
    RETURNS(tmap_drmsd_matrix_plan_part(&plan, 3, 3, &bytes), TMAP_EINVAL);
    RETURNS(tmap_drmsd_matrix_plan_part(&plan, 0, 1, 0), TMAP_EINVAL);
    RETURNS(tmap_drmsd_matrix_plan_part(0, 0, 1, &bytes), TMAP_EINVAL);
    kit_release(0);
}

static void run_refusals(void) {
    const tmap_u64 most = TMAPI_MATRIX_FRAMES_MAX;
    tmap_drmsd_atoms which = {0, 0, 0, 0, -1, 0};
    const tmap_drmsd_shape five = shape_for(9, 5, 0, EXACT, 0);
    tmap_drmsd_plan plan, other;
    float *memory = (float *)kit_guarded(1 << 20), *out = memory, *frames = memory + 64;
    void *workspace = memory + 1024;
    const tmap_drmsd_in in = {frames, 0, 0}, no_frames = {0, 0, 0};
    const tmap_drmsd_in far = {frames, frames + 5 * 27, 0}, before = {frames, frames - 27, 0};
    const tmap_drmsd_in askew = {frames, frames + 26, 0};
    REFUSED(tmap_drmsd_matrix_plan_make(five, 0));
    RETURNS(tmap_drmsd_matrix_plan_make(shape_for(9, 1ull << 33, 0, EXACT, 0), &plan),
            cudaErrorInvalidConfiguration);
    RETURNS(tmap_drmsd_matrix_plan_make(shape_for(92682, 5, 0, EXACT, 0), &plan),
            cudaErrorInvalidConfiguration);
    RETURNS(tmap_drmsd_matrix_plan_make(shape_for(2, most + 1, 0, EXACT, 0), &plan),
            cudaErrorInvalidConfiguration);
    RETURNS(tmap_drmsd_matrix_plan_make(shape_for(2, most, 0, EXACT, 0), &plan), cudaSuccess);
    kit_case("%s", "refusals");
    expect(plan.matrix.tiles * (TMAPI_MATRIX_SIDE / 32) <= 65535 && // an axis of a grid each
               tmapi_matrix_blocks(&plan.matrix) <= 0x7fffffff,
           "grids of as many frames");
    RETURNS(tmap_drmsd_matrix_plan_make(shape_for(9, 5, 0, EXACT, 100), &plan),
            cudaErrorMemoryAllocation);
    REFUSED(tmap_drmsd_matrix_plan_make(shape_for(9, 5, 0, -1, 0), &plan));
    REFUSED(tmap_drmsd_matrix_plan_make(shape_for(9, 5, 0, FORMS, 0), &plan));
    REFUSED(tmap_drmsd_matrix_plan_make(shape_for(9, 5, &which, EXACT, 0), &plan));
    RETURNS(tmap_drmsd_matrix_plan_of(shape_for(9, 5, 0, FORMS, 0), &plan), TMAP_EINVAL);
    RETURNS(tmap_drmsd_matrix_plan_of(shape_for(9, 5, &which, EXACT, 0), &plan), TMAP_EINVAL);
    RETURNS(tmap_drmsd_matrix_plan_of(five, 0), TMAP_EINVAL);
    RETURNS(tmap_drmsd_matrix_plan_of(shape_for(9, 5, 0, EXACT, 100), &plan), TMAP_ERANGE);
    RETURNS(tmap_drmsd_matrix_plan_make(five, &plan), cudaSuccess);
    RETURNS(tmap_drmsd_matrix_plan_make(shape_for(9, 5, 0, HALF, 0), &other), cudaSuccess);
    REFUSED(tmap_drmsd_matrix(0, in, workspace, out, 0));
    REFUSED(tmap_drmsd_matrix(&other, in, workspace, out, 0));
    REFUSED(tmap_drmsd_mma(0, in, workspace, out, 0));
    REFUSED(tmap_drmsd_mma(&plan, in, workspace, out, 0));
    REFUSED(tmap_drmsd_matrix(&plan, no_frames, workspace, out, 0));
    REFUSED(tmap_drmsd_matrix(&plan, in, 0, out, 0));
    REFUSED(tmap_drmsd_matrix(&plan, in, workspace, 0, 0));
    REFUSED(tmap_drmsd_matrix(&plan, in, (char *)workspace + 8, out, 0));
    REFUSED(tmap_drmsd_matrix(&plan, far, workspace, out, 0));
    REFUSED(tmap_drmsd_matrix(&plan, before, workspace, out, 0));
    REFUSED(tmap_drmsd_matrix(&plan, askew, workspace, out, 0));
    const tmap_drmsd_in odd = {(float *)((char *)frames + 2), 0, 0};
    REFUSED(tmap_drmsd_matrix(&plan, odd, workspace, out, 0));
    REFUSED(tmap_drmsd_matrix(&plan, in, workspace, (float *)((char *)out + 2), 0));
    drmsd_refuse_atoms(TMAP_DRMSD_EXACT, memory, tmap_drmsd_matrix_plan_make);
    kit_case("%s", "no atoms, and a reference");
    RETURNS(tmap_drmsd_matrix_plan_make(shape_for(0, 5, 0, EXACT, 0), &other), cudaSuccess);
    const tmap_drmsd_in none = {frames, frames, 0};
    float *zeros = (float *)kit_guarded(40);
    CHECK(tmap_drmsd_matrix(&other, none, 0, zeros, 0));
    expect(kit_device_all(zeros, 40, 0), "no atoms");
    expect(kit_device_all(memory, 1 << 20, KIT_POISON), "wrote though refused");
    kit_release(0);
}

// Groups: every pair once, in the order of places, and as many groups as are counted.
static void run_groups(void) {
    static unsigned char seen[200][200];
    for (tmap_u32 n = 0; n < 200; n += n < 42 ? 1 : 13) {
        const problem p = {0, n, 0, 0, 0};
        const tmap_u64 groups = tmapi_matrix_groups(n);
        tmapi_matrix_place place = {0, 0};
        int wrong = 0;
        memset(seen, 0, sizeof seen);
        for (tmap_u64 g = 0; g < groups; ++g, place = tmapi_matrix_place_next(n, place)) {
            const tmapi_matrix_place again = tmapi_matrix_place_of(n, g);
            const tmapi_matrix_group group = tmapi_matrix_group_at(n, place);
            wrong += again.block != place.block || again.group != place.group;
            for (tmap_u32 s = 0; s < 8; ++s) {
                const tmap_u32 j = s < group.split ? group.j : group.k;
                const tmap_u32 i = group.i + (s < group.split ? s : s - group.split);
                if (j < n) wrong += i >= j || seen[i][j]++;
            }
        }
        for (tmap_u32 i = 0; i < n; ++i)
            for (tmap_u32 j = i + 1; j < n; ++j) wrong += !seen[i][j];
        wrong += 8 * groups > n * (n + 0ull) / 2 + 32;
        of_case(p, EXACT, ROOMY);
        expect(wrong == 0, "groups");
    }
    for (tmap_u32 n = 92681; n > 92600; --n) { // places of both ends of blocks
        const problem p = {0, n, 0, 0, 0};
        int wrong = 0;
        for (tmap_u64 block = 0; block < n / 8; block += 97) {
            const tmap_u64 begin = block * (n - 4 * block);
            const tmapi_matrix_place here = tmapi_matrix_place_of(n, begin);
            wrong += here.block != block || here.group != 0;
            if (begin) wrong += tmapi_matrix_place_of(n, begin - 1).block != block - 1;
        }
        of_case(p, EXACT, ROOMY);
        expect(wrong == 0, "places");
    }
}

// Plans of facts are those of this device. Where there are no such tensor cores, a plan of halves is
// refused, and nothing is launched.
static void check_plans(int none) {
    tmap_facts facts;
    CHECK(tmap_facts_get((const void *)tmapi_drmsd_mma_half, &facts));
    for (tmap_u32 n = 2; n < 3000; n = 3 * n + 1)
        for (tmap_u32 frames = 2; frames < 200000; frames = 5 * frames + 3)
            for (int form = EXACT; form < FORMS; ++form) {
                const problem p = {frames, n, 0, 0, 0};
                const tmap_drmsd_shape one = shape_for(n, frames, 0, form, 0);
                tmap_drmsd_plan made = {}, of;
                const cudaError_t error = plan_of(form, p, 0, 0, &made);
                of_case(p, form, 0);
                expect(tmap_drmsd_matrix_runs(one.form, &facts) == (!none || !form),
                       "tensor cores of facts");
                if (none && form) expect(error == cudaErrorNotSupported, "no tensor cores");
                if (error) continue;
                expect(!tmap_drmsd_matrix_plan_of(one, &of) && of.workspace == made.workspace &&
                           of.form == made.form && of.matrix.slice == made.matrix.slice &&
                           of.matrix.slices == made.matrix.slices &&
                           of.matrix.round == made.matrix.round &&
                           of.matrix.at_rest == made.matrix.at_rest,
                       "a plan of facts");
            }
}
static void run_device(const char *device) {
    const problem p = {40, 17, 0, 0, 0.14};
    tmap_drmsd_plan plan;
    const int none = !kit_gpu && !strcmp(device, "7.5");
    solve(p, none ? 1 : 7, 1);
    check_plans(none);
    for (int form = HALF; form < FORMS && none; ++form)
        RETURNS(plan_of(form, p, 0, 0, &plan), cudaErrorNotSupported);
}

int main(void) {
    const tmap_u32 frames[] = {0, 1, 2, 3, 17, 64, 127, 128, 129, 200};
    const tmap_u32 atoms[] = {0, 1, 2, 3, 5, 8, 9, 17, 40, 57};
    const double apart[] = {1.4, 0.14, 0.014};
    kit_begin();
    unsigned turn = 0;
    run_groups();
    run_refusals();
    for (int form = 0; form < FORMS; ++form) run_example(form), run_hard(form), run_units(form);
    for (int form = 0; form < (kit_full ? FORMS : 1); ++form) run_parts(form);
    for (unsigned a = 0; a < COUNT(frames); ++a)
        for (unsigned b = 0; b < COUNT(atoms); ++b)
            for (tmap_u32 options = 0; options < OPTIONS; ++options, ++turn) {
                const problem p = {frames[a], atoms[b], options, (int)(turn / 16 % 2),
                                   apart[turn % 3]};
                const unsigned cost = (p.frames / 128 + 1) * (p.n + 4);
                // The CPU machine and sanitizers take threads one by one: some of the larger ones.
                if (kit_full || p.frames < 2 || p.n < 2)
                    solve(p, 7, kit_full ? 7 : 1 << turn % 3);
                else if (turn % (cost < 10 ? 7 : cost < 20 ? 29 : 97) == 0)
                    solve(p, cost < 60 ? 1 << turn % 3 | 1 : 1, 1 << turn / 3 % 3);
            }
    for (int k = 0; k < 6; ++k) { // the larger ones of the forms, at each distance
        const problem p = {k < 3 ? 33u : 20u, 40, 0, k % 2, apart[k % 3]};
        if (kit_full || k % 3 == 0) solve(p, k % 2 ? 5 : 3, kit_full ? 7 : k ? 4 : 2);
    }
    for (int k = 0; k < 2; ++k) { // where halves have what is off of a distance that is a float
        const problem p = {kit_full ? 90u : 20u, kit_full ? 57u : 30u, 0, k, 0.001};
        solve(p, kit_full ? 7 : 4, kit_full ? 7 : 1);
    }
    for (int k = 0; k < 2; ++k) { // images of atoms, to the last digit
        const problem p = {12, 40, (tmap_u32)(k ? BOXES : BOXES | WEIGHTS), k, 0.014};
        solve(p, kit_full ? 7 : 1, kit_full ? 7 : 1);
    }
    if (kit_full) {
        const problem large[] = {{1000, 57, 0, 1, 0.014},
                                 {1500, 64, 15, 0, 0.14},
                                 {2100, 57, 3, 0, 1.4},
                                 {1030, 63, 12, 1, 0.14},
                                 {900, 64, 0, 1, 0.014}};
        for (unsigned k = 0; k < COUNT(large); ++k) solve(large[k], 7, 7);
    }
    on_all_devices(run_device);
    for (int form = 0; form < FORMS; ++form)
        printf("%s: worst relative error %.1e\n", form_names[form], worst[form]);
    return kit_end("test_drmsd_matrix");
}
