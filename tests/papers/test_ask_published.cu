// SPDX-License-Identifier: MIT
// test_ask_published: the Mandelbrot set in the forms that the paper describes, and by dynamic
// parallelism, against the serial subdivision on the host, pixel by pixel: of regions with borders
// of their own, and with shared ones; on a GPU also with too few pending launches, where each lost
// one must be counted.
#if !defined(__CUDACC_VER_MAJOR__)
#define TMAP_DP 1 // the CPU machine launches from kernels
#endif
#include "adaptive/ask_check.h"
#include <threadmap/papers/mandelbrot_dp.h>
#include <threadmap/papers/mandelbrot_published.h>

enum { POISON = 0x5a5a5a5a };
static tmap_u64 *lost_d;

// A picture, and how it is cut.
typedef struct picture {
    tmap_u32 nx, ny, dwell;
    tmap_ask_params a;
    tmap_u32 threads;
} picture;

// The case of the checks that follow.
static void of_case(int form, tmap_u32 nx, tmap_ask_params a) {
    kit_case("%s, n = %u, (%u, %u, %u)", tmap_published_name(form), nx, a.g, a.r, a.b);
}

// Draws by a form. Returns its error.
static cudaError_t draw(const tmap_mandelbrot *m, const tmap_published_call *how, int *out) {
#if TMAPI_PUBLISHED_GRAPHS
    if (how->form == TMAP_PUBLISHED_GRAPH) {
        tmap_published_graph graph;
        cudaError_t status = tmap_published_graph_make(m, how, out, &graph);
        if (status) return status;
        status = cudaGraphLaunch(graph.exec, 0);
        if (!status) status = cudaGraphLaunch(graph.exec, 0); // again: it starts afresh
        CHECK(cudaDeviceSynchronize());
        tmap_published_graph_free(&graph);
        return status;
    }
#endif
    return tmap_mandelbrot_published_f32(m, how, out, 0);
}

static void run(picture of) {
    if (!check_turn()) return;
    const tmap_u32 nx = of.nx, ny = of.ny;
    const tmap_ask_params a = of.a;
    const tmap_mandelbrot m = tmap_mandelbrot_make(nx, ny, of.dwell);
    const size_t pixels = (size_t)nx * ny;
    int *want = (int *)kit_host(pixels * sizeof(int));
    int *exhaustive = (int *)kit_host(pixels * sizeof(int));
    (void)ask_serial(&m, a, 0, NULL, want);
    ask_exhaustive(nx, ny, ask_mandelbrot_dwell, &m, exhaustive);
    for (int form = 0; form < TMAP_PUBLISHED_COUNT; ++form) {
        const tmap_published_call how = {form, a, of.threads, lost_d};
        int *out = (int *)kit_guarded(pixels * sizeof(int));
        of_case(form, nx, a);
        CHECK(cudaMemset(lost_d, 0, sizeof *lost_d));
        if (form == TMAP_PUBLISHED_GRAPH && !TMAPI_PUBLISHED_GRAPHS) {
            RETURNS(draw(&m, &how, out), cudaErrorNotSupported);
            continue;
        }
        CHECK(draw(&m, &how, out));
        CHECK(cudaDeviceSynchronize());
        const int *got = (const int *)kit_to_host(out, pixels * sizeof(int));
        expect(kit_number(lost_d) == 0, "lost launches");
        expect(ask_difference(got, form ? want : exhaustive, pixels) == 0, "pixels");
    }
    kit_release(0);
}

// By dynamic parallelism. pending: the most launches that wait.
static void run_dp(picture of, tmap_u64 pending) {
    if (!check_turn()) return;
    tmap_mandelbrot m = tmap_mandelbrot_make(of.nx, of.ny, of.dwell);
    const tmap_ask_params a = of.a;
    const size_t pixels = (size_t)of.nx * of.ny;
    int *want = (int *)kit_host(pixels * sizeof(int));
    int *columns = (int *)kit_device(tmap_mandelbrot_dp_columns_bytes(&m, a) + 4);
    for (int turn = 0; turn < 4; ++turn) {
        tmap_mandelbrot_dp how = {0, a, of.threads, pending, NULL, lost_d};
        m.options = turn & 1 ? TMAP_MANDELBROT_F64 : 0;
        (void)ask_serial(&m, a, 1, NULL, want);
        if (turn & 2) how.columns = columns; // where columns of borders are kept
        for (int form = 0; form < TMAP_ASK_FORM_COUNT; ++form) {
            int *out = (int *)kit_guarded(pixels * sizeof(int));
            tmap_u64 wrong = 0, missing = 0;
            how.form = form;
            kit_case("%ux%u dwell %u, (%u,%u,%u), %s, %s, %llu pending", of.nx, of.ny, of.dwell,
                     a.g, a.r, a.b, tmap_ask_form_name(form), m.options ? "f64" : "f32", pending);
            puts(kit_text), fflush(stdout); // where a device stops for ever
            CHECK(tmap_mandelbrot_dp_run(&m, &how, out, 0));
            CHECK(cudaDeviceSynchronize());
            const tmap_u64 lost = kit_number(lost_d);
            const int *got = (const int *)kit_to_host(out, pixels * sizeof(int));
            for (size_t i = 0; i < pixels; ++i) {
                missing += got[i] == POISON;
                wrong += got[i] != POISON && got[i] != want[i];
            }
            expect(wrong == 0, "pixels");
            expect((missing != 0) == (lost != 0), "lost launches and missing pixels");
            if (pending > 100000) expect(lost == 0, "enough pending launches");
            if (lost) printf("%llu launches lost, %llu pixels missing\n", lost, missing);
        }
    }
    kit_release(0);
}

static void run_refusals(void) {
    const tmap_mandelbrot good = tmap_mandelbrot_make(64, 64, 100);
    const tmap_ask_params a = {4, 2, 4}, no_parts = {4, 1, 4};
    tmap_mandelbrot no_dwell = good, in_double = good;
    int *out = (int *)lost_d; // not written
    no_dwell.dwell = 0, in_double.options = TMAP_MANDELBROT_F64;
    const tmap_published_call fine = {TMAP_PUBLISHED_ASK_SBR, a, 64, lost_d};
    const tmap_published_call bad[] = {{-1, a, 64, lost_d},
                                       {TMAP_PUBLISHED_COUNT, a, 64, lost_d},
                                       {TMAP_PUBLISHED_ASK_SBR, no_parts, 64, lost_d},
                                       {TMAP_PUBLISHED_ASK_SBR, a, 0, lost_d},
                                       {TMAP_PUBLISHED_ASK_SBR, a, 48, lost_d},
                                       {TMAP_PUBLISHED_ASK_SBR, a, 544, lost_d},
                                       {TMAP_PUBLISHED_DP_SBR, a, 64, NULL}};
    for (size_t i = 0; i < COUNT(bad); ++i) {
        kit_case("refusal %u", (unsigned)i);
        REFUSED(tmap_mandelbrot_published_f32(&good, &bad[i], out, 0));
    }
    kit_case("%s", "refusals");
#if TMAPI_PUBLISHED_GRAPHS
    // A graph has one form: of another one it would draw nothing.
    tmap_published_graph graph;
    for (int form = 0; form < TMAP_PUBLISHED_GRAPH; ++form) {
        const tmap_published_call other = {form, a, 64, lost_d};
        REFUSED(tmap_published_graph_make(&good, &other, out, &graph));
    }
#endif
    REFUSED(tmap_mandelbrot_published_f32(&no_dwell, &fine, out, 0));
    REFUSED(tmap_mandelbrot_published_f32(&in_double, &fine, out, 0));
    REFUSED(tmap_mandelbrot_published_f32(&good, &fine, NULL, 0));
    REFUSED(tmap_mandelbrot_published_f32(&good, NULL, out, 0));
    const tmap_ask_params large = {4, 2, 17};
    const tmap_mandelbrot_dp how = {0, a, 0, 0, NULL, lost_d};
    REFUSED(tmap_mandelbrot_dp_run(&no_dwell, &how, out, 0));
    for (int i = 0; i < 6; ++i) {
        tmap_mandelbrot_dp h = how;
        if (i == 0) h.form = 2;
        if (i == 1) h.a = no_parts;
        if (i == 2) h.a = large;
        if (i == 3) h.threads = 48;
        if (i == 4) h.threads = 544;
        if (i == 5) h.lost = NULL;
        kit_case("refusal %d by dynamic parallelism", i);
        REFUSED(tmap_mandelbrot_dp_run(&good, &h, out, 0));
        REFUSED(tmap_mandelbrot_dp_run(&in_double, &h, out, 0));
    }
    REFUSED(tmap_mandelbrot_dp_run(&good, NULL, out, 0));
    REFUSED(tmap_mandelbrot_dp_run(&good, &how, NULL, 0));
}

int main(void) {
    kit_begin();
    if (!TMAP_DP) {
        printf("SKIP: compiled without -rdc=true\n");
        return 77;
    }
    CHECK(cudaMalloc((void **)&lost_d, sizeof *lost_d)); // to the end
    run_refusals();
    const picture pictures[] = {{64, 64, 100, {4, 2, 4}, 64},
                                {37, 53, 60, {3, 2, 2}, 32},
                                {100, 100, 60, {3, 3, 2}, 512},
                                {5, 90, 70, {8, 3, 1}, 96},
                                {96, 96, 80, {1, 2, 4}, 128}};
    const picture fine = {2048, 2048, 512, {16, 4, 4}, 0},
                  wide = {1024, 1024, 512, {32, 2, 8}, 256};
    // The low limit first: lowered after launches, it has stopped a run for ever (H200, CUDA 13.0).
    if (kit_gpu) run_dp(fine, 16);
    for (unsigned i = 0; i < COUNT(pictures); ++i) {
        picture p = pictures[i];
        if (i == 0) p.threads = 0; // as many as the library takes
        // First, since its limit of pending launches holds for the published forms as well.
        if (p.a.g > 1) run_dp(p, 200000);
        run(pictures[i]);
    }
    if (kit_gpu) run(wide), run_dp(wide, 200000);
    return kit_end("test_ask_published");
}
