// SPDX-License-Identifier: MIT
// test_drmsd_frames: tmap_drmsd_frames, by plans for any frames and for those that are close,
// against the definition in double precision: chosen atoms, weights, boxes and bounds, each alone
// and together; a frame equal to the reference, frames that are turned, moved and mirrored, atoms
// in the same place, in a line or in a plane, coordinates that are not numbers; several cuts into
// tiles and groups; nothing to do, what is refused, an error that an earlier call has left, and the
// facts of other devices.
#include "molecules/drmsd_check.h"

#include <threadmap/launch.h>
#include <threadmap/molecules/drmsd_frames.h>

static const float spreads[4] = {1.4f, 0.14f, 0.014f, 0.0001f}; // of frame f: number f % 4
static const float side_of_box = 25;

// A problem on the host: a set whose frame 0 is the reference, and what is in it. Frame 1 of those
// that are compared equals the reference; of others atoms are apart from it by a spread.
typedef struct problem {
    drmsd_set s;
    tmap_u32 n, frames;
    float *box, *reference, *frame, *boxes;
    double counted; // pairs that count, where they count alike
} problem;

// The case: a problem.
static void of_problem(const problem *p) {
    kit_case("n = %u, %u frames, options %d", p->n, p->frames, p->s.options);
}

static float uniform(tmap_u64 *state) {
    return (float)(check_hash((*state)++, 77) >> 40) / (float)(1 << 24);
}
static float normal(tmap_u64 *state) { // a sum of four is near enough
    return (uniform(state) + uniform(state) + uniform(state) + uniform(state) - 2) * 1.732f;
}

static problem make(tmap_u32 n, tmap_u32 frames, int options, tmap_u64 seed) {
    const tmap_u64 floats = (tmap_u64)n * 3;
    tmap_u64 state = seed * 1000003;
    problem p;
    p.s = drmsd_set_make(n, frames + 1, options);
    p.n = n, p.frames = frames;
    p.reference = p.s.xyz, p.frame = p.s.xyz + floats, p.box = p.s.boxes, p.boxes = p.box + 3;
    for (tmap_u64 x = 0; x < floats; ++x) p.reference[x] = 40 * uniform(&state) - 8;
    if (n > 1) memcpy(p.reference + 3, p.reference, 12); // atoms 0 and 1 in one place
    for (int k = 0; k < 3; ++k) p.box[k] = side_of_box + 0.1f * uniform(&state);
    for (tmap_u32 f = 0; f < frames; ++f) {
        float *to = p.frame + f * floats;
        for (tmap_u64 x = 0; x < floats; ++x)
            to[x] = p.reference[x] + (f == 1 ? 0 : spreads[f % 4] * normal(&state));
        if (f == 2 && n > 3) memcpy(to + 9, to + 6, 12);
        for (int k = 0; k < 3; ++k)
            p.boxes[3 * f + k] = p.box[k] + (f == 1 ? 0 : spreads[f % 4] * uniform(&state));
        if (f == 4) p.boxes[3 * f + 1] = 0; // not periodic along y
    }
    p.s.lower = options & BOUNDS ? n % 2 ? 0.0f : 5.0f : 0;
    p.s.upper = options & BOUNDS ? n % 2 ? 12.0f : 20.0f : 0;
    of_problem(&p);
    return p;
}

// What every frame should have.
static void solve(problem *p, double *want) {
    drmsd_move_bounds(&p->s, 0);
    p->counted = 1;
    for (tmap_u32 f = 0; f < p->frames; ++f) want[f] = drmsd_of(&p->s, 0, f + 1, &p->counted);
}

static tmap_drmsd_shape shape_for(tmap_u32 n, tmap_u64 frames, const tmap_drmsd_atoms *which,
                                  int close) {
    const tmap_drmsd_shape s = {n, frames, close ? TMAP_DRMSD_CLOSE : TMAP_DRMSD_FRAMES, which, 0};
    return s;
}

// Runs a problem into poisoned memory. close: by a plan for such frames. side, group: a cut, or 0.
static void compute(const problem *p, int close, tmap_u32 side, tmap_u32 group, float *out) {
    const tmap_drmsd_atoms which = drmsd_device(&p->s, 1);
    const tmap_drmsd_shape made_for = shape_for(p->n, p->frames, &which, close);
    tmap_drmsd_plan plan;
    tmap_u64 bytes;
    const float *reference = (const float *)kit_to_device(p->reference, p->n * 12ull);
    const float *frames = (const float *)kit_to_device(p->frame, p->n * 12ull * p->frames);
    const float *box = (const float *)kit_to_device(p->box, 12);
    const tmap_drmsd_in in = {frames, reference, box};
    earlier_error();
    CHECK(tmap_drmsd_frames_plan_make(made_for, &plan));
    expect(earlier_error_is_there(), "an earlier error of a plan");
    if (side) {
        expect(tmapi_frames_choose(&plan.pairs_frames, side, group), "a cut");
        CHECK(tmapi_launch_shared(plan.pairs_frames.kernel, plan.pairs_frames.shared));
    }
    bytes = plan.workspace, tmapi_drmsd_arrange(&plan);
    if (!side) expect(plan.workspace == bytes, "bytes");
    void *workspace = plan.workspace ? kit_filled(plan.workspace, 0xff) : 0;
    for (int run = 0; run < 2; ++run) { // with the same results in every bit
        float *to = (float *)kit_guarded(p->frames * 4ull);
        earlier_error();
        CHECK(tmap_drmsd_frames(&plan, in, workspace, to, 0));
        expect(earlier_error_is_there(), "an earlier error");
        const void *got = kit_to_host(to, p->frames * 4ull);
        if (run) expect(!memcmp(out, got, p->frames * 4ull), "two runs of a plan");
        memcpy(out, got, p->frames * 4ull);
    }
}

// ---- what comes out -----------------------------------------------------------------------------

// A distance is off by some 10^-6; the errors of many pairs cancel. Where frames are close, what is
// off is a part of the result.
static double worst[2], worst_share;
static int near(const problem *p, int close, double want, float got) {
    const double off = fabs(got - want);
    if (want == 0) return got == 0;
    if (p->n >= 200 && p->s.options == 0 && off / want > worst[close]) worst[close] = off / want;
    return off <= 1e-6 * want + (close ? 0 : 1e-5 / sqrt(p->counted));
}

static void run(tmap_u32 n, tmap_u32 frames, int options, tmap_u32 side, tmap_u32 group) {
    if (!check_turn()) return;
    problem p = make(n, frames, options, n + 7 * frames + 31 * (tmap_u32)options);
    double *want = (double *)kit_host(frames * sizeof *want + 8);
    float *got = (float *)kit_host(frames * sizeof *got + 4);
    solve(&p, want);
    if (frames > 1) want[1] = 0; // exactly
    for (int close = 0; close <= !(options & BOXES); ++close) {
        tmap_u32 bad = 0;
        compute(&p, close, side, group, got);
        for (tmap_u32 f = 0; f < frames; ++f)
            if (!near(&p, close, want[f], got[f]) && !bad++)
                kit_more(", close %d, side %u, group %u: frame %u: %.9g is not %.9g", close, side,
                         group, f, (double)got[f], want[f]);
        expect(!bad, "a frame");
    }
    kit_release(0);
}

// What a plan for frames that are close may be off by: a part of the result, and one of the longest
// way of an atom that counts from the reference to the frame.
static double granted(const problem *p, tmap_u32 f, double want) {
    double longest = 0;
    for (tmap_u32 k = 0; k < p->s.count; ++k) {
        double way = 0;
        for (int x = 0; x < 3; ++x) {
            const tmap_u32 at = p->s.atoms[k] * 3 + (tmap_u32)x;
            way += pow((double)p->frame[(tmap_u64)f * p->n * 3 + at] - p->reference[at], 2);
        }
        longest = way > longest ? way : longest;
    }
    return 1e-6 * want + sqrt(longest) * 0x1p-22;
}

// Frames of a problem by a plan for those that are close, and by one for any frames.
static void check_close(problem *p, const char *what) {
    double *want = (double *)kit_host(p->frames * sizeof *want);
    float *got = (float *)kit_host(p->frames * sizeof *got);
    solve(p, want);
    compute(p, 1, 0, 0, got);
    for (tmap_u32 f = 0; f < p->frames; ++f)
        expect(fabs(got[f] - want[f]) <= granted(p, f, want[f]), what);
    compute(p, 0, 0, 0, got);
    for (tmap_u32 f = 0; f < p->frames && p->s.options == 0; ++f)
        if (want[f] > 1e-3) {
            const double share = fabs(got[f] / want[f] - 1) / drmsd_exactness(&p->s, want[f]);
            worst_share = share > worst_share ? share : worst_share;
            expect(share < 1, what);
        }
    kit_release(0);
}

// A coordinate that is no number shows in its frame alone, if its atom counts, be all its pairs
// excluded; and in the reference, in all.
static void no_numbers(void) {
    const float broken[] = {(float)NAN, (float)INFINITY, -(float)INFINITY};
    float got[40];
    for (int kind = 0; kind < DRMSD_NO_NUMBERS; ++kind)
        for (int k = 0; k < 12; ++k) {
            const int close = k >= 6, in = k / 3 % 2;
            problem p = make(20, 40, drmsd_no_number_options(kind), 3);
            drmsd_no_number(&p.s, kind, in ? 0 : 8, broken[k % 3]);
            compute(&p, close, 0, 0, got);
            for (int f = 0; f < 40; ++f) expect((got[f] != got[f]) == (in || f == 7), "no number");
            kit_release(0);
        }
    for (int close = 0; close < 2; ++close) {
        problem p = make(20, 40, ATOMS, 3);
        const tmap_u32 out = 19; // of 18, 17, 15, 14, ...
        p.frame[(11 * 20 + out) * 3] = p.reference[out * 3] = (float)NAN;
        compute(&p, close, 0, 0, got);
        for (int f = 0; f < 40; ++f) expect(got[f] == got[f], "no number that does not count");
        kit_release(0);
    }
}

// Nothing counts: 0.
static void nothing(void) {
    problem p = make(20, 3, 0, 5);
    float got[3];
    for (int close = 0; close < 2; ++close) {
        p.s.lower = 0, p.s.upper = 1e-3f, p.s.options = 0;
        compute(&p, close, 0, 0, got);
        expect(got[0] == 0 && got[1] == 0 && got[2] == 0, "no pair within bounds");
        p.s.options = WEIGHTS, p.s.upper = 0;
        memset(p.s.weights, 0, 20 * 4);
        compute(&p, close, 0, 0, got);
        expect(got[0] == 0 && got[1] == 0 && got[2] == 0, "no weight");
    }
    kit_release(0);
}

// Frames that are turned, moved and mirrored, as those of a simulation are, and hardly differ
// beyond that. kind: 0: atoms in space, 1: in a plane, 2: in a line, 3: of two sizes. axes: frames
// are turned by halves alone and not moved.
static void turned(tmap_u32 n, int kind, int options, int axes) {
    if (!check_turn()) return;
    problem p = make(n, 12, options, 1000 + n + (tmap_u32)kind);
    const double sizes[4] = {1, 0, 0, 0.01};
    tmap_u64 state = n * 77 + (tmap_u64)kind;
    for (tmap_u32 x = 0; x < 3 * n; ++x) {
        if (x % 3 == 1 && kind == 2) p.reference[x] = 3;
        if (x % 3 == 2) p.reference[x] = (float)(sizes[kind] * p.reference[x]);
    }
    for (tmap_u32 f = 0; f < 12; ++f) {
        double q[4] = {1, 0, 0, 0}, turn[3][3], length = 0, to[3];
        const double spread = f >= 10 ? 0 : spreads[f % 4] * (kind ? 0.03 : 1);
        for (int k = 0; k < 4; ++k) q[k] = axes ? k == (int)f % 4 : (double)normal(&state);
        for (int k = 0; k < 4; ++k) length += q[k] * q[k];
        for (int k = 0; k < 4; ++k) q[k] /= sqrt(length);
        for (int k = 0; k < 3; ++k) to[k] = axes ? 0 : 30 * normal(&state);
        for (int x = 0; x < 3; ++x)
            for (int y = 0; y < 3; ++y) {
                const int z = 3 - x - y;
                turn[x][y] = 2 * q[1 + x] * q[1 + y];
                if (x == y) turn[x][y] += 2 * q[0] * q[0] - 1;
                if (x != y) turn[x][y] += 2 * q[0] * q[1 + z] * ((y - x + 3) % 3 == 1 ? -1 : 1);
                if (f % 3 == 1) turn[x][y] = -turn[x][y]; // mirrored
            }
        for (tmap_u32 k = 0; k < n; ++k) {
            float *at = p.frame + (f * n + k) * 3;
            double place[3];
            for (int x = 0; x < 3; ++x)
                place[x] = p.reference[3 * k + x] + spread * (double)normal(&state);
            for (int x = 0; x < 3; ++x)
                at[x] = (float)(turn[x][0] * place[0] + turn[x][1] * place[1] +
                                turn[x][2] * place[2] + to[x]);
        }
    }
    check_close(&p, "a frame that is turned");
}

// Coordinates in other units, to the ends of what both functions promise: the same by a factor.
// Distances are up to 70 times as large, differences from a thousandth of the factor on.
static void units(void) {
    const float factors[2][4] = {{1e-16f, 1e-4f, 1e6f, 1e17f}, {1e-8f, 1e-4f, 1e6f, 1e17f}};
    problem p = make(40, 8, 0, 9), q = make(40, 8, 0, 9);
    double want[8];
    float got[8];
    for (int k = 0; k < 8; ++k) {
        const float factor = factors[k / 4][k % 4];
        for (tmap_u32 x = 0; x < 40 * 3; ++x) q.reference[x] = p.reference[x] * factor;
        for (tmap_u32 x = 0; x < 40 * 3 * 8; ++x) q.frame[x] = p.frame[x] * factor;
        solve(&q, want);
        compute(&q, k / 4, 0, 0, got);
        for (int f = 0; f < 8; ++f) {
            const double rounded = k / 4 || f % 4 == 3 ? 0 : 1e-5 * factor / sqrt(780.);
            if (k < 4 && f % 4 == 3) continue; // differences that floats do not have
            expect(fabs(got[f] - want[f]) <= 1e-6 * want[f] + rounded, "units");
        }
    }
    kit_release(0);
}

// Two halves of a molecule turn against each other while only pairs within them count: ways are
// long.
static void hinged(void) {
    problem p = make(40, 8, BOUNDS, 17);
    p.s.lower = 0, p.s.upper = 80;
    for (tmap_u32 k = 20; k < 40; ++k) p.reference[3 * k] += 200;
    for (tmap_u32 f = 0; f < 8; ++f)
        for (tmap_u32 k = 0; k < 40; ++k) {
            float *at = p.frame + (f * 40 + k) * 3, *from = p.reference + 3 * k;
            const double angle = k < 20 ? 0 : 0.1 * f, spread = spreads[f % 4];
            const double x = from[0] - 150 + 0.3 * spread * (k % 3), y = from[1];
            at[0] = (float)(150 + cos(angle) * x - sin(angle) * y);
            at[1] = (float)(sin(angle) * x + cos(angle) * y), at[2] = from[2];
        }
    check_close(&p, "a hinge");
}

static void refusals(int close) {
    tmap_drmsd_plan plan, before;
    tmap_drmsd_atoms which;
    float *some = (float *)kit_to_device(0, 0);
    const tmap_drmsd_in in = {some, some, 0}, no_reference = {some, 0, 0};
    const tmap_drmsd_in no_frames = {0, some, 0}, nothing = {0, 0, 0};
    const tmap_drmsd_shape four = shape_for(4, 4, 0, close),
                           chosen = shape_for(4, 4, &which, close);
    tmap_drmsd_shape other = four;
    kit_case("refusals, close %d", close);
    memset(&plan, 0xa5, sizeof plan), before = plan;
    memset(&which, 0, sizeof which);
    REFUSED(tmap_drmsd_frames_plan_make(four, 0));
    which.boxes = some;
    if (close) REFUSED(tmap_drmsd_frames_plan_make(chosen, &plan));
    which.boxes = 0, which.lower = -1;
    REFUSED(tmap_drmsd_frames_plan_make(chosen, &plan));
    which.lower = 0, which.upper = -1;
    REFUSED(tmap_drmsd_frames_plan_make(chosen, &plan));
    which.upper = (float)NAN;
    REFUSED(tmap_drmsd_frames_plan_make(chosen, &plan));
    REFUSED(tmap_drmsd_frames_plan_make(shape_for((1u << 24) + 1, 4, 0, close), &plan));
    REFUSED(tmap_drmsd_frames_plan_make(shape_for(4, (1ull << 31) + 1, 0, close), &plan));
    other.form = TMAP_DRMSD_PAIR;
    REFUSED(tmap_drmsd_frames_plan_make(other, &plan));
    other.form = TMAP_DRMSD_EXACT;
    REFUSED(tmap_drmsd_frames_plan_make(other, &plan));
    expect(!memcmp(&plan, &before, sizeof plan), "a plan written on failure");
    CHECK(tmap_drmsd_frames_plan_make(four, &plan));
    REFUSED(tmap_drmsd_frames(0, in, some, some, 0));
    REFUSED(tmap_drmsd_frames(&plan, no_reference, some, some, 0));
    REFUSED(tmap_drmsd_frames(&plan, no_frames, some, some, 0));
    REFUSED(tmap_drmsd_frames(&plan, in, some, 0, 0));
    REFUSED(tmap_drmsd_frames(&plan, in, some + 1, some, 0));
    for (int k = 0; k < 4; ++k) {
        float *const askew = (float *)((char *)some + 2);
        const tmap_drmsd_in off = {k == 0 ? askew : some, k == 1 ? askew : some,
                                   k == 2 ? askew : 0};
        kit_more(", misaligned: %d", k);
        REFUSED(tmap_drmsd_frames(&plan, off, some, k == 3 ? askew : some, 0));
    }
    if (!close) drmsd_refuse_atoms(TMAP_DRMSD_FRAMES, some, tmap_drmsd_frames_plan_make);
    kit_case("refusals, close %d", close);
    expect(tmapi_frames_choose(&plan.pairs_frames, 8, 8), "a cut");
    plan.form = TMAP_DRMSD_EXACT;
    REFUSED(tmap_drmsd_frames(&plan, in, some, some, 0));
    CHECK(tmap_drmsd_frames_plan_make(shape_for(100, 4, 0, close), &plan));
    expect(tmapi_frames_choose(&plan.pairs_frames, 16, 8), "a cut");
    tmapi_drmsd_arrange(&plan);
    expect(plan.workspace != 0, "the workspace of a cut");
    REFUSED(tmap_drmsd_frames(&plan, in, 0, some, 0));
    CHECK(tmap_drmsd_frames_plan_make(shape_for(4, 0, 0, close), &plan));
    CHECK(tmap_drmsd_frames(&plan, nothing, 0, 0, 0)); // no frame
    kit_release(0);
}

// The plan that is made from the facts of this device and of the kernel is that of the maker.
static void check_plans(void) {
    const float some[2] = {1, 1}; // which no plan reads
    for (tmap_u32 n = 20; n < 2000; n *= 8)
        for (tmap_u64 frames = 9; frames < 10000; frames *= 400)
            for (int k = 0; k < 5; ++k) {
                const tmap_drmsd_atoms which = {0, k == 1 ? some : 0,   k == 2 ? some : 0, 0,
                                                0, k == 3 ? 5.0f : 0.0f};
                const tmap_drmsd_shape one = shape_for(n, frames, &which, k == 4);
                tmap_drmsd_plan made, of;
                tmap_facts facts;
                CHECK(tmap_drmsd_frames_plan_make(one, &made));
                CHECK(tmap_facts_get(made.pairs_frames.kernel, &facts));
                kit_case("n = %u, %llu frames, plan %d", n, frames, k);
                expect(!tmap_drmsd_plan_of(one, &facts, &of), "a plan of facts");
                expect(of.pairs_frames.side == made.pairs_frames.side &&
                           of.pairs_frames.group == made.pairs_frames.group &&
                           of.pairs_frames.range == made.pairs_frames.range &&
                           of.pairs_frames.splits == made.pairs_frames.splits &&
                           of.pairs_frames.grid == made.pairs_frames.grid &&
                           of.pairs_frames.shared == made.pairs_frames.shared &&
                           of.pairs_frames.own == made.pairs_frames.own && of.form == made.form &&
                           of.n == made.n && !of.pairs_frames.kernel &&
                           of.workspace == made.workspace,
                       "members of a plan of facts");
            }
}

static void run_device(const char *) {
    check_plans();
    run(100, 40, 0, 0, 0);
    run(65, 9, BOXES | WEIGHTS | BOUNDS, 0, 0);
}

int main(void) {
    const tmap_u32 counts[] = {1, 2, 31, 32, 33, 100};
    int options = 1;
    kit_begin();
    const tmap_u32 sizes[] = {0, 1, 2, 3, 4, 5, 8, 17, 31, 64, 65, kit_small ? 130u : 200u};
    refusals(0);
    refusals(1);
    units();
    hinged();
    nothing();
    no_numbers();
    for (int kind = 0; kind < 4; ++kind)
        for (int axes = 0; axes < 2; ++axes) {
            turned(kit_small ? 60 : 200, kind, 0, axes);
            turned(40, kind, WEIGHTS | ATOMS, axes);
            turned(2 + (tmap_u32)kind, kind, 0, axes);
        }
    for (int i = 0; i < 12; ++i)
        for (int k = 0; k < 6; ++k) {
            if (kit_small && sizes[i] > 100 && counts[k] > 33) continue;
            run(sizes[i], counts[k], 0, 0, 0);
            if (sizes[i] > 100 && counts[k] > 33) continue;
            run(sizes[i], counts[k], options, 0, 0);
            options = options % (OPTIONS - 1) + 1;
        }
    for (int o = 0; o < OPTIONS; ++o) {
        run(kit_small ? 30 : 50, 5, o, 0, 0);
        run(53 + (tmap_u32)o, 9, o, o % 2 ? 24 : 16, 8u << o % 3);
    }
    on_all_devices(run_device);
    printf(
        "largest relative error of many atoms: %.2g, close %.2g; of turned frames: %.2g of what is "
        "granted\n",
        worst[0], worst[1], worst_share);
    return kit_end("test_drmsd_frames");
}
