// SPDX-License-Identifier: MIT
// test_drmsd_pair: tmap_drmsd_pair against the definition in double precision: few and many atoms,
// chosen atoms, weights, boxes, bounds, each alone and together; frames that are the same, atoms in
// one place, differences of 1.4, 0.14 and 0.014 in frames of some tens; what is no number; what the
// plan refuses; an error that an earlier call has left, and the facts of other devices; and, on a
// GPU, results that are the same in every bit over launch shapes.
#include "molecules/drmsd_check.h"

#include <threadmap/molecules/drmsd_pair.h>

// The dRMSD by the library, of two frames in host memory. blocks: of the fold; 0: the plan's own.
static float run(const drmsd_frames *f, const tmap_drmsd_atoms *which, tmap_u32 blocks) {
    const tmap_drmsd_shape shape = {f->n, 1, TMAP_DRMSD_PAIR, which, 0};
    tmap_drmsd_plan plan;
    float *frames = (float *)kit_to_device(f->xyz, (tmap_u64)f->n * 2 * 12), *out, got;
    void *workspace;
    earlier_error();
    CHECK(tmap_drmsd_pair_plan_make(shape, &plan));
    drmsd_expect(earlier_error_is_there(), "an earlier error of a plan", f->n, 0, 0, 0);
    if (blocks) plan.pairs.grid = blocks;
    const tmap_u64 planned = plan.workspace;
    tmapi_drmsd_arrange(&plan);
    const tmap_u64 bytes = plan.workspace;
    const tmap_drmsd_in in = {frames + (tmap_u64)f->n * 3, frames, 0};
    if (!blocks) drmsd_expect(planned == bytes, "bytes", f->n, 0, 0, 0);
    workspace = kit_device(bytes);
    CHECK(cudaMemset(workspace, 0xff, bytes)); // NaN, and counters that are not 0
    out = (float *)kit_device(4);
    for (int again = 0; again < 2; ++again) {
        CHECK(cudaMemset(out, 0xff, 4));
        earlier_error();
        CHECK(tmap_drmsd_pair(&plan, in, workspace, out, 0));
        drmsd_expect(earlier_error_is_there(), "an earlier error", f->n, 0, 0, 0);
    }
    CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
    return got;
}

// The first atom of `count` frames that has no place, by the library.
static tmap_u64 first_of(const float *xyz, tmap_u32 n, tmap_u32 count) {
    float *frames = (float *)kit_to_device(xyz, (tmap_u64)n * count * 12);
    tmap_u64 *device = (tmap_u64 *)kit_device(8), first;
    earlier_error();
    CHECK(tmap_drmsd_finite(frames, n, count, device, 0));
    drmsd_expect(earlier_error_is_there(), "an earlier error of the search", n, 0, 0, 0);
    CHECK(cudaMemcpy(&first, device, 8, cudaMemcpyDeviceToHost));
    return first;
}

static void check(const drmsd_frames *f, int options, const char *what) {
    drmsd_options o = drmsd_options_make(f, options, 2);
    const double want = drmsd_of(f, &o, 0, 1, 0);
    const float got = run(f, &o.device, 0);
    drmsd_expect(fabs(got - want) <= drmsd_tolerance(f, &o, want), what, f->n, options, got, want);
    if (options == 0) { // the grid is of no account
        const float one = run(f, &o.device, 1), three = run(f, &o.device, 3);
        drmsd_expect(one == got && three == got, "launch shapes", f->n, options, one, three);
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
            drmsd_expect(!tmap_drmsd_plan_of(shape, &facts, &of) && of.pairs.n == made.pairs.n &&
                             of.pairs.d == made.pairs.d && of.pairs.items == made.pairs.items &&
                             of.pairs.grid == made.pairs.grid &&
                             of.pairs.shared == made.pairs.shared &&
                             of.pairs.resident == made.pairs.resident && !of.pairs.kernel &&
                             of.which.boxes == made.which.boxes && of.workspace == made.workspace &&
                             of.form == made.form && of.n == n,
                         "a plan of facts", n, k, 0, 0);
        }
}

// The same result in every bit on any device, whatever it holds at once.
static void run_device(const char *) {
    static float first[2];
    static int turn;
    const tmap_u32 sizes[] = {600, 1100};
    const char *const processors[] = {"1", "16", "132"};
    check_plans();
    for (int k = 0; k < 2; ++k) {
        drmsd_frames f = drmsd_frames_make(sizes[k], 2, 0.14f, 0);
        setenv("SIMT_MULTIPROCESSORS", processors[turn++ % 3], 1);
        const float got = run(&f, 0, 0);
        if (!first[k]) check(&f, 0, "devices"), first[k] = got;
        drmsd_expect(got == first[k], "another device", f.n, 0, got, first[k]);
        if (k == 0) check(&f, DRMSD_BOXES | DRMSD_WEIGHTS, "devices");
        unsetenv("SIMT_MULTIPROCESSORS");
    }
    kit_release(0);
}

// Coordinates in other units: the same by a factor. Distances are up to 30 times as large,
// differences are from a hundredth on.
static void run_units(void) {
    const float factors[] = {1e-16f, 1e-6f, 1e6f, 1e17f};
    drmsd_frames f = drmsd_frames_make(300, 2, 0.5f, 0), g = drmsd_frames_make(300, 2, 0.5f, 0);
    drmsd_options o = drmsd_options_make(&f, 0, 2);
    for (int k = 0; k < 4; ++k) {
        for (tmap_u32 x = 0; x < 1800; ++x) g.xyz[x] = f.xyz[x] * factors[k];
        const double want = drmsd_of(&g, &o, 0, 1, 0);
        const float got = run(&g, 0, 0);
        drmsd_expect(fabs(got - want) <= 2e-6 * want, "units", 300, k, got, want);
    }
    kit_release(0);
}

int main(void) {
    const float scales[] = {1.4f, 0.14f, 0.014f};
    const tmap_u32 sizes[] = {6, 31, 64, 65, 127, 128, 129, 300, 513, 700, 1100};
    const tmap_u32 many[] = {4096, 16384, 30001};
    kit_begin();
    for (tmap_u32 n = 0; n < 6; ++n)
        for (int options = 0; options < DRMSD_OPTIONS; ++options) {
            drmsd_frames f = drmsd_frames_make(n, 2, 1.4f, options % 2);
            check(&f, options, "few atoms");
        }
    for (int i = 0; i < (kit_full ? 11 : 9); ++i)
        for (int k = 0; k < 3; ++k) {
            drmsd_frames f = drmsd_frames_make(sizes[i], 2, scales[k], (i + k) % 2);
            for (int options = 0; options < DRMSD_OPTIONS; ++options)
                if ((kit_full || (options + i + k) % (sizes[i] > 200 || kit_small ? 7 : 2) == 0) &&
                    check_turn())
                    check(&f, options, "options");
        }
    for (int i = 0; i < (kit_full ? 3 : 0); ++i)
        for (int k = 0; k < 3; ++k) {
            drmsd_frames f = drmsd_frames_make(many[i], 2, scales[k], 0);
            check(&f, 0, "many atoms");
        }
    { // the same frame twice, many atoms in one place, and what is not a number
        drmsd_frames f = drmsd_frames_make(200, 2, 0.0f, 0);
        for (int i = 0; i < 30; ++i) memcpy(f.xyz + 3 * i, f.xyz, 12);
        memcpy(f.xyz + 600, f.xyz, 2400);
        for (int options = 0; options < DRMSD_OPTIONS; ++options) {
            drmsd_options o = drmsd_options_make(&f, options, 2);
            if (o.boxes) memcpy(o.boxes + 3, o.boxes, 12), drmsd_options_copy(&o, &f, 2);
            drmsd_expect(run(&f, &o.device, 0) == 0, "the same frame", 200, options, 0, 0);
        }
        drmsd_expect(first_of(f.xyz, 200, 2) == ~0ull, "all are numbers", 200, 0, 0, 0);
        f.xyz[600 + 3 * 7 + 1] = NAN;
        drmsd_expect(first_of(f.xyz, 200, 2) == 207, "the first that is none", 200, 0, 0, 0);
        f.xyz[3 * 199 + 2] = -INFINITY;
        drmsd_expect(first_of(f.xyz, 200, 2) == 199, "the first that is none", 200, 0, 0, 0);
        drmsd_expect(first_of(f.xyz, 0, 2) == ~0ull, "no atom", 0, 0, 0, 0);
        f.xyz[3 * 199 + 2] = 1;
        drmsd_expect(isnan(run(&f, 0, 0)), "not a number", 200, 0, 0, 0);
        f.xyz[600 + 3 * 7 + 1] = INFINITY;
        drmsd_expect(isnan(run(&f, 0, 0)), "infinite", 200, 0, 0, 0);
    }
    { // atoms 0, 1, 2 at 3, 4, 5 and 3, 4, 6 from each other
        float xyz[18] = {0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 3, 0, 0, -11.f / 6, 0, 0};
        drmsd_frames f = {3, 2, xyz};
        xyz[16] = sqrtf(16 - 121.f / 36);
        const float got = run(&f, 0, 0);
        drmsd_expect(fabs(got - sqrt(1. / 3)) < 1e-6, "three atoms", 3, 0, got, sqrt(1. / 3));
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
