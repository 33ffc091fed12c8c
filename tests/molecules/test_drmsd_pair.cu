// SPDX-License-Identifier: MIT
// test_drmsd_pair: tmap_drmsd_pair against the definition in double precision: few and many atoms,
// chosen atoms, weights, boxes, bounds, each alone and together; all cuts into units; frames that
// are the same, mirrored or turned, atoms in one place, differences of 1.4, 0.14 and 0.014 in
// frames of some tens; what is no number; workspaces with any content; what is refused before a launch; an
// error that an earlier call has left, and the facts of other devices.
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

// The dRMSD by the library. columns, cut: of its units; 0: the plan's own. counter: what the
// workspace begins with.
static float run_cut(const drmsd_set *f, tmap_u32 columns, tmap_u32 cut, tmap_u64 counter) {
    const tmap_drmsd_atoms which = drmsd_device(f, 1);
    const tmap_drmsd_shape shape = {f->n, 1, TMAP_DRMSD_PAIR, f->options ? &which : 0, 0};
    const float *box = (const float *)kit_to_device(f->boxes, 12);
    tmap_drmsd_plan plan;
    float *reference = (float *)kit_to_device(f->xyz, f->n * 12ull), got = 0;
    float *frame = (float *)kit_to_device(f->xyz + f->n * 3ull, f->n * 12ull);
    kit_case("n = %u, options %d, columns %u, cut %u", f->n, f->options, columns, cut);
    earlier_error();
    CHECK(tmap_drmsd_pair_plan_make(shape, &plan));
    expect(earlier_error_is_there(), "an earlier error of a plan");
    const tmap_u64 planned = plan.workspace;
    if (columns) tmapi_drmsd_pair_cut(&plan.pair, columns, cut);
    tmapi_drmsd_arrange(&plan);
    const tmap_drmsd_in in = {frame, reference, f->options & BOXES ? box : 0};
    if (!columns) expect(planned == plan.workspace, "bytes");
    void *workspace = kit_filled(plan.workspace, 0xff); // NaN
    CHECK(cudaMemcpy(workspace, &counter, 8, cudaMemcpyHostToDevice));
    for (int again = 0; again < 2; ++again) {
        float *out = (float *)kit_filled(4, 0xff), before = got;
        earlier_error();
        CHECK(tmap_drmsd_pair(&plan, in, workspace, out, 0));
        expect(earlier_error_is_there(), "an earlier error");
        CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
        if (again) expect(!memcmp(&before, &got, 4), "two runs of a plan");
    }
    return got;
}
static float run(const drmsd_set *f) { return run_cut(f, 0, 0, ~0ull); }

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
    const float got = run(s);
    expect_of(s, fabs(got - want) <= tolerance(s, want, pairs), what, got, want);
}

// Every cut into units, most of them for more atoms than these.
static void cuts(void) {
    const tmap_u32 shapes[][2] = {{512, 2}, {256, 1}, {128, 0}, {128, 1}, {128, 2}, {128, 3}};
    for (int k = 0; k < 6; ++k)
        for (int options = 0; options < OPTIONS; options += 5) {
            const drmsd_set s = make(kit_small ? 391 : 700, 1.4f, options, 0);
            double pairs;
            if (!check_turn()) continue;
            const double want = drmsd_of(&s, 0, 1, &pairs);
            const float got = run_cut(&s, shapes[k][0], shapes[k][1], ~0ull);
            expect_of(&s, fabs(got - want) <= tolerance(&s, want, pairs), "a cut", got, want);
            kit_release(0);
        }
}

// Blocks take all units in a row, none twice, each at least one, however many there are.
static void shares(void) {
    for (tmap_u64 n = 0; n < 0xffffffff - 512; n = 2 * n + 1 + n / 3) {
        tmapi_drmsd_pair_plan p;
        tmap_u64 most = ~0ull;
        int wrong = 0;
        tmapi_drmsd_pair_cut_all(&p, (tmap_u32)n);
        kit_case("n = %llu, columns %u, cut %u", n, p.columns, p.cut);
        for (tmap_u32 b = 0; b < p.grid; ++b) {
            const tmap_u64 units =
                tmapi_drmsd_pair_begin(&p, b + 1) - tmapi_drmsd_pair_begin(&p, b);
            wrong += units - 1 > most; // one more than the block before at most, by rounding
            most = units;
        }
        expect(tmapi_drmsd_pair_begin(&p, 0) == 0, "the first unit");
        expect(tmapi_drmsd_pair_begin(&p, p.grid) == p.units, "the last unit");
        expect(!wrong && p.columns >> p.cut >= 16 && p.columns >> p.cut <= 128, "units");
    }
}

// A workspace may hold anything: the counter of another launch, what is next to it, or no number.
static void any_content(void) {
    const drmsd_set s = make(300, 1.4f, 0, 0);
    const tmap_u64 none = TMAPI_DRMSD_PAIR_KEY << 16,
                   contents[] = {0, none, none - 1, none - 2, none - 9, none + 65536, ~0ull};
    const float want = run(&s);
    for (unsigned k = 0; k < COUNT(contents); ++k)
        expect(run_cut(&s, 0, 0, contents[k]) == want, "any content of a workspace");
    kit_release(0);
}

// What is no number shows, be its pairs excluded.
static void no_numbers(void) {
    const float broken[] = {NAN, INFINITY, -INFINITY};
    for (int kind = 0; kind < DRMSD_NO_NUMBERS; ++kind)
        for (int k = 0; k < 6; ++k) {
            drmsd_set s = make(40, 1.4f, drmsd_no_number_options(kind), 0);
            drmsd_no_number(&s, kind, (tmap_u32)k / 3, broken[k % 3]);
            const float got = run(&s);
            expect_of(&s, isnan(got), "no number", got, NAN);
        }
    kit_release(0);
}

// A frame and its mirror image have equal distances: 0. Turned frames that also differ by 0.01 are
// as exact as the header says.
static void mirrored_and_turned(void) {
    drmsd_set s = make(200, 0, 0, 0);
    double pairs, worst = 0;
    for (int axis = 0; axis < 3; ++axis) {
        for (int x = 0; x < 600; ++x) s.xyz[600 + x] = x % 3 == axis ? -s.xyz[x] : s.xyz[x];
        const float got = run(&s);
        expect_of(&s, got == 0, "the mirror image", got, 0);
    }
    for (tmap_u64 k = 0; k < (kit_small ? 6 : 60); ++k) {
        const double a = 3 * drmsd_random(k, 1), b = 3 * drmsd_random(k, 2), size = k % 2 ? 20 : 8;
        for (tmap_u32 i = 0; i < 200; ++i) {
            double at[3];
            for (tmap_u32 x = 0; x < 3; ++x) {
                s.xyz[3 * i + x] = (float)(size * drmsd_random(3 * i + x, 7));
                at[x] = (double)s.xyz[3 * i + x] + 0.01 * drmsd_random(3 * i + x, 77 + k);
            }
            const double x = cos(a) * at[0] - sin(a) * at[1], y = sin(a) * at[0] + cos(a) * at[1];
            s.xyz[600 + 3 * i] = (float)x;
            s.xyz[601 + 3 * i] = (float)(cos(b) * y - sin(b) * at[2]);
            s.xyz[602 + 3 * i] = (float)(sin(b) * y + cos(b) * at[2]);
        }
        const double want = drmsd_of(&s, 0, 1, &pairs), off = fabs(run(&s) / want - 1);
        const double share = off / drmsd_exactness(&s, want);
        worst = share > worst ? share : worst;
        expect_of(&s, share < 1, "a turned frame", share, 1);
    }
    printf("largest error of turned frames: %.2g of what is granted\n", worst);
    kit_release(0);
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
            CHECK(tmap_facts_get(made.pair.kernel, &facts));
            kit_case("n = %u, plan %d", n, k);
            expect(!tmap_drmsd_plan_of(shape, &facts, &of) && of.pair.atoms == made.pair.atoms &&
                       of.pair.columns == made.pair.columns && of.pair.cut == made.pair.cut &&
                       of.pair.units == made.pair.units && of.pair.grid == made.pair.grid &&
                       !of.pair.kernel && of.which.boxes == made.which.boxes &&
                       of.workspace == made.workspace && of.form == made.form && of.n == n,
                   "a plan of facts");
            facts.kernel.threads = 64;
            RETURNS(tmap_drmsd_plan_of(shape, &facts, &of), TMAP_ERANGE);
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
        const float got = run(&s);
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
        const float got = run(&scaled);
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
            expect(run(&same) == 0, "the same frame");
        }
        expect(first_of(s.xyz, 200, 2) == ~0ull, "all are numbers");
        s.xyz[600 + 3 * 7 + 1] = NAN;
        expect(first_of(s.xyz, 200, 2) == 207, "the first that is none");
        s.xyz[3 * 199 + 2] = -INFINITY;
        expect(first_of(s.xyz, 200, 2) == 199, "the first that is none");
        expect(first_of(s.xyz, 0, 2) == ~0ull, "no atom");
        float *odd = (float *)kit_filled(64, 0);
        REFUSED(tmap_drmsd_finite(0, 2, 2, (tmap_u64 *)odd, 0));
        REFUSED(tmap_drmsd_finite((float *)((char *)odd + 2), 2, 2, (tmap_u64 *)odd, 0));
        REFUSED(tmap_drmsd_finite(odd, 2, 2, (tmap_u64 *)(odd + 1), 0));
        s.xyz[3 * 199 + 2] = 1;
        expect(isnan(run(&s)), "not a number");
        s.xyz[600 + 3 * 7 + 1] = INFINITY;
        expect(isnan(run(&s)), "infinite");
    }
    { // atoms 0, 1, 2 at 3, 4, 5 and 3, 4, 6 from each other
        const float xyz[18] = {
            0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 3, 0, 0, -11.f / 6, sqrtf(16 - 121.f / 36), 0};
        const drmsd_set s = make(3, 0, 0, 0);
        memcpy(s.xyz, xyz, sizeof xyz);
        const float got = run(&s);
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
        plan.form = TMAP_DRMSD_PAIR;
        for (int k = 0; k < 5; ++k) {
            float *const askew = (float *)((char *)memory + 2);
            const tmap_drmsd_in off = {k == 0 ? askew : memory, k == 1 ? askew : memory,
                                       k == 2 ? askew : 0};
            kit_case("misaligned: %d", k);
            REFUSED(tmap_drmsd_pair(&plan, off, k == 3 ? memory + 1 : memory,
                                    k == 4 ? askew : memory, 0));
        }
        drmsd_refuse_atoms(TMAP_DRMSD_PAIR, memory, tmap_drmsd_pair_plan_make);
        expect(kit_device_all(memory, 4096, KIT_POISON), "a refused call wrote");
    }
    run_units();
    cuts();
    shares();
    any_content();
    mirrored_and_turned();
    no_numbers();
    on_all_devices(run_device);
    return kit_end("test_drmsd_pair");
}
