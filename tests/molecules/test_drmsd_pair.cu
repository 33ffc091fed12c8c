// SPDX-License-Identifier: MIT
// test_drmsd_pair: tmap_drmsd_pair against the definition in double precision: few and many atoms,
// chosen atoms, weights, boxes, bounds, each alone and together; frames that are the same, atoms in
// one place, differences of 1.4, 0.14 and 0.014 in frames of some tens; what is no number; what the
// plan refuses; an error that an earlier call has left, and the facts of other devices; and, on a
// GPU, results that are the same in every bit over launch shapes.
#include "molecules/drmsd_check.h"

#include <threadmap/molecules/drmsd_pair.h>

// A check of a number.
static void expect_of(const drmsd_set *s, int ok, const char *what, double got, double want) {
    if (!ok) kit_case("n = %u, options %d: %.9g instead of %.9g", s->n, s->options, got, want);
    expect(ok, what);
}

// Two frames of atoms in a ball as dense as proteins are, or of a helix; those of the second one
// are moved by up to `scale` in each direction. Boxes are not periodic along z.
static drmsd_set make(tmap_u32 n, float scale, int options, int helix) {
    const double radius = 1.4 * cbrt((double)n);
    drmsd_set s = drmsd_set_make(n, 2, options);
    for (tmap_u32 i = 0; i < n; ++i) {
        double c[3] = {2.3 * cos(i * 1.7), 2.3 * sin(i * 1.7), 1.5 * i};
        for (tmap_u64 k = 0; !helix; ++k) {
            for (int x = 0; x < 3; ++x) c[x] = radius * drmsd_random(i * 3ull + x, k);
            if (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] <= radius * radius) break;
        }
        for (tmap_u32 x = 0; x < 3; ++x) {
            s.xyz[i * 3 + x] = (float)c[x];
            s.xyz[(n + i) * 3 + x] = (float)(c[x] + scale * drmsd_random(i * 3ull + x, 1001));
        }
    }
    for (int x = 0; x < 6; ++x)
        if (x % 3 != 2) s.boxes[x] = (float)(5 + 1.5 * cbrt((double)n) + 0.25 * (x / 3));
    if (options & BOUNDS) s.lower = 1.5f, s.upper = 9.5f;
    drmsd_move_bounds(&s, 0);
    return s;
}

// What a result may be off by: one part in a million, and what distances that are floats are, each
// by itself (which the number of pairs makes less of) and squared.
static double tolerance(const drmsd_set *s, double want, double pairs) {
    double reach = 0;
    for (tmap_u32 i = 1; i < s->count; ++i) reach = fmax(reach, drmsd_distance(s, 0, 0, i));
    reach *= 2.4e-7;
    return want > 0 ? 1e-6 * want + 3 * reach / sqrt(pairs + 1) + reach * reach / want : 0;
}

// The dRMSD by the library. blocks: of the fold; 0: the plan's own.
static float run(const drmsd_set *f, tmap_u32 blocks) {
    const tmap_drmsd_atoms which = drmsd_device(f, 0);
    const tmap_drmsd_shape shape = {f->n, 1, TMAP_DRMSD_PAIR, f->options ? &which : 0, 0};
    tmap_drmsd_plan plan;
    float *frames = (float *)kit_to_device(f->xyz, (tmap_u64)f->n * 2 * 12), got = 0;
    kit_case("n = %u, options %d", f->n, f->options);
    earlier_error();
    CHECK(tmap_drmsd_pair_plan_make(shape, &plan));
    expect(earlier_error_is_there(), "an earlier error of a plan");
    if (blocks) plan.pairs.grid = blocks;
    const tmap_u64 planned = plan.workspace;
    tmapi_drmsd_arrange(&plan);
    const tmap_u64 bytes = plan.workspace;
    const tmap_drmsd_in in = {frames + (tmap_u64)f->n * 3, frames, 0};
    if (!blocks) expect(planned == bytes, "bytes");
    void *workspace = kit_filled(bytes, 0xff); // NaN, and counters that are not 0
    for (int again = 0; again < 2; ++again) {
        float *out = (float *)kit_filled(4, 0xff);
        earlier_error();
        CHECK(tmap_drmsd_pair(&plan, in, workspace, out, 0));
        expect(earlier_error_is_there(), "an earlier error");
        CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
    }
    return got;
}

// The first atom of `count` frames that has no place, by the library.
static tmap_u64 first_of(const float *xyz, tmap_u32 n, tmap_u32 count) {
    float *frames = (float *)kit_to_device(xyz, (tmap_u64)n * count * 12);
    tmap_u64 *device = (tmap_u64 *)kit_device(8);
    earlier_error();
    CHECK(tmap_drmsd_finite(frames, n, count, device, 0));
    expect(earlier_error_is_there(), "an earlier error of the search");
    return kit_number(device);
}

static void check(const drmsd_set *s, const char *what) {
    double pairs;
    const double want = drmsd_of(s, 0, 1, &pairs);
    const float got = run(s, 0);
    expect_of(s, fabs(got - want) <= tolerance(s, want, pairs), what, got, want);
    if (s->options == 0) { // the grid is of no account
        const float one = run(s, 1), three = run(s, 3);
        expect_of(s, one == got && three == got, "launch shapes", one, three);
    }
}

// The plan that is made from the facts of this device and of the kernel is that of the maker.
static void check_plans(void) {
    const float some[2] = {1, 1}; // which no plan reads
    for (tmap_u32 n = 0; n < 1u << 20; n = 3 * n + 2)
        for (int k = 0; k < 4; ++k) {
            const tmap_drmsd_atoms which = {0, k == 1 ? some : 0,   k == 2 ? some : 0, 0,
                                            0, k == 3 ? 5.0f : 0.0f};
            const tmap_drmsd_shape shape = {n, 1, TMAP_DRMSD_PAIR, k ? &which : 0, 0};
            tmap_drmsd_plan made, of;
            tmap_facts facts;
            CHECK(tmap_drmsd_pair_plan_make(shape, &made));
            CHECK(tmap_facts_get(made.pairs.kernel, &facts));
            kit_case("n = %u, plan %d", n, k);
            expect(!tmap_drmsd_plan_of(shape, &facts, &of) && of.pairs.n == made.pairs.n &&
                       of.pairs.d == made.pairs.d && of.pairs.items == made.pairs.items &&
                       of.pairs.grid == made.pairs.grid && of.pairs.shared == made.pairs.shared &&
                       of.pairs.resident == made.pairs.resident && !of.pairs.kernel &&
                       of.which.boxes == made.which.boxes && of.workspace == made.workspace &&
                       of.form == made.form && of.n == n,
                   "a plan of facts");
        }
}

// The same result in every bit on any device, whatever it holds at once.
static void run_device(const char *) {
    static float first[2];
    static int turn;
    const tmap_u32 sizes[] = {kit_small ? 300u : 600u, kit_small ? 600u : 1100u};
    const char *const processors[] = {"1", "16", "132"};
    check_plans();
    for (int k = 0; k < 2; ++k) {
        const drmsd_set s = make(sizes[k], 0.14f, 0, 0);
        setenv("SIMT_MULTIPROCESSORS", processors[turn++ % 3], 1);
        const float got = run(&s, 0);
        if (!first[k]) check(&s, "devices"), first[k] = got;
        expect_of(&s, got == first[k], "another device", got, first[k]);
        if (k == 0) {
            const drmsd_set other = make(sizes[k], 0.14f, BOXES | WEIGHTS, 0);
            check(&other, "devices");
        }
        unsetenv("SIMT_MULTIPROCESSORS");
    }
    kit_release(0);
}

// Coordinates in other units: the same by a factor. Distances are up to 30 times as large,
// differences are from a hundredth on.
static void run_units(void) {
    const float factors[] = {1e-16f, 1e-6f, 1e6f, 1e17f};
    const drmsd_set s = make(300, 0.5f, 0, 0), scaled = make(300, 0.5f, 0, 0);
    for (int k = 0; k < 4; ++k) {
        double pairs;
        for (tmap_u32 x = 0; x < 1800; ++x) scaled.xyz[x] = s.xyz[x] * factors[k];
        const double want = drmsd_of(&scaled, 0, 1, &pairs);
        const float got = run(&scaled, 0);
        expect_of(&s, fabs(got - want) <= 2e-6 * want, "units", got, want);
    }
    kit_release(0);
}

int main(void) {
    const float scales[] = {1.4f, 0.14f, 0.014f};
    const tmap_u32 sizes[] = {6, 31, 64, 65, 127, 128, 129, 300, 513, 700, 1100};
    const tmap_u32 many[] = {4096, 16384, 30001};
    kit_begin();
    for (tmap_u32 n = 0; n < 6; ++n)
        for (int options = 0; options < OPTIONS; ++options) {
            const drmsd_set s = make(n, 1.4f, options, options % 2);
            check(&s, "few atoms");
        }
    for (int i = 0; i < (kit_full ? 11 : 9); ++i)
        for (int k = 0; k < 3; ++k)
            for (int options = 0; options < OPTIONS; ++options)
                if ((kit_full || (options + i + k) % (sizes[i] > 200 || kit_small ? 7 : 2) == 0) &&
                    check_turn()) {
                    const drmsd_set s = make(sizes[i], scales[k], options, (i + k) % 2);
                    check(&s, "options");
                }
    for (int i = 0; i < (kit_full ? 3 : 0); ++i)
        for (int k = 0; k < 3; ++k) {
            const drmsd_set s = make(many[i], scales[k], 0, 0);
            check(&s, "many atoms");
        }
    { // the same frame twice, many atoms in one place, and what is not a number
        drmsd_set s = make(200, 0, 0, 0);
        for (int i = 0; i < 30; ++i) memcpy(s.xyz + 3 * i, s.xyz, 12);
        memcpy(s.xyz + 600, s.xyz, 2400);
        for (int options = OPTIONS; options-- > 0;) {
            drmsd_set same = make(200, 0, options, 0);
            memcpy(same.xyz, s.xyz, 4800), memcpy(same.boxes + 3, same.boxes, 12);
            expect(run(&same, 0) == 0, "the same frame");
        }
        expect(first_of(s.xyz, 200, 2) == ~0ull, "all are numbers");
        s.xyz[600 + 3 * 7 + 1] = NAN;
        expect(first_of(s.xyz, 200, 2) == 207, "the first that is none");
        s.xyz[3 * 199 + 2] = -INFINITY;
        expect(first_of(s.xyz, 200, 2) == 199, "the first that is none");
        expect(first_of(s.xyz, 0, 2) == ~0ull, "no atom");
        s.xyz[3 * 199 + 2] = 1;
        expect(isnan(run(&s, 0)), "not a number");
        s.xyz[600 + 3 * 7 + 1] = INFINITY;
        expect(isnan(run(&s, 0)), "infinite");
    }
    { // atoms 0, 1, 2 at 3, 4, 5 and 3, 4, 6 from each other
        const float xyz[18] = {
            0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 3, 0, 0, -11.f / 6, sqrtf(16 - 121.f / 36), 0};
        const drmsd_set s = make(3, 0, 0, 0);
        memcpy(s.xyz, xyz, sizeof xyz);
        const float got = run(&s, 0);
        expect_of(&s, fabs(got - sqrt(1. / 3)) < 1e-6, "three atoms", got, sqrt(1. / 3));
    }
    { // refusals
        tmap_drmsd_atoms bad;
        const tmap_drmsd_shape nine = {9, 1, TMAP_DRMSD_PAIR, 0, 0};
        const tmap_drmsd_shape two = {9, 2, TMAP_DRMSD_PAIR, 0, 0};
        const tmap_drmsd_shape other = {9, 1, TMAP_DRMSD_FRAMES, 0, 0};
        const tmap_drmsd_shape all = {~0u, 1, TMAP_DRMSD_PAIR, 0, 0};
        const tmap_drmsd_shape bounds = {9, 1, TMAP_DRMSD_PAIR, &bad, 0};
        tmap_drmsd_plan plan, same;
        float *memory = (float *)kit_guarded(4096);
        const tmap_drmsd_in in = {memory, memory, 0}, no_frame = {0, memory, 0};
        const tmap_drmsd_in no_reference = {memory, 0, 0};
        CHECK(tmap_drmsd_pair_plan_make(nine, &plan));
        same = plan;
        memset(&bad, 0, sizeof bad);
        bad.lower = -1;
        REFUSED(tmap_drmsd_pair_plan_make(bounds, &plan));
        bad.lower = 0, bad.upper = NAN;
        REFUSED(tmap_drmsd_pair_plan_make(bounds, &plan));
        REFUSED(tmap_drmsd_pair_plan_make(nine, 0));
        REFUSED(tmap_drmsd_pair_plan_make(two, &plan));
        REFUSED(tmap_drmsd_pair_plan_make(other, &plan));
        REFUSED(tmap_drmsd_pair_plan_make(all, &plan));
        expect(!memcmp(&plan, &same, sizeof plan), "a refusal wrote a plan");
        REFUSED(tmap_drmsd_pair(0, in, memory, memory, 0));
        REFUSED(tmap_drmsd_pair(&plan, no_frame, memory, memory, 0));
        REFUSED(tmap_drmsd_pair(&plan, no_reference, memory, memory, 0));
        REFUSED(tmap_drmsd_pair(&plan, in, 0, memory, 0));
        REFUSED(tmap_drmsd_pair(&plan, in, memory, 0, 0));
        plan.form = TMAP_DRMSD_FRAMES;
        REFUSED(tmap_drmsd_pair(&plan, in, memory, memory, 0));
        expect(kit_device_all(memory, 4096, KIT_POISON), "a refused call wrote");
    }
    run_units();
    on_all_devices(run_device);
    return kit_end("test_drmsd_pair");
}
