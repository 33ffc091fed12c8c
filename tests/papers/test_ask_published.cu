// SPDX-License-Identifier: MIT
// test_ask_published: the Mandelbrot set in the forms that the paper describes against the serial
// subdivision on the host whose regions have borders of their own, pixel by pixel.
#if !defined(__CUDACC_VER_MAJOR__)
#define TMAP_DP 1 // the CPU machine launches from kernels
#endif
#include "adaptive/ask_check.h"
#include <threadmap/papers/mandelbrot_published.h>

static tmap_u64 *lost_d;

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

static void run(tmap_u32 nx, tmap_u32 ny, tmap_u32 steps, tmap_ask_params a, tmap_u32 threads) {
    if (!check_turn()) return;
    const tmap_mandelbrot m = tmap_mandelbrot_make(nx, ny, steps);
    const size_t pixels = (size_t)nx * ny;
    int *want = (int *)kit_host(pixels * sizeof(int));
    int *exhaustive = (int *)kit_host(pixels * sizeof(int));
    (void)ask_serial(&m, a, 0, NULL, want);
    ask_exhaustive(nx, ny, ask_mandelbrot_dwell, &m, exhaustive);
    for (int form = 0; form < TMAP_PUBLISHED_COUNT; ++form) {
        const tmap_published_call how = {form, a, threads, lost_d};
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
    REFUSED(tmap_mandelbrot_published_f32(&no_dwell, &fine, out, 0));
    REFUSED(tmap_mandelbrot_published_f32(&in_double, &fine, out, 0));
    REFUSED(tmap_mandelbrot_published_f32(&good, &fine, NULL, 0));
    REFUSED(tmap_mandelbrot_published_f32(&good, NULL, out, 0));
}

int main(void) {
    kit_begin();
    if (!TMAP_DP) {
        printf("SKIP: compiled without -rdc=true\n");
        return 77;
    }
    CHECK(cudaMalloc((void **)&lost_d, sizeof *lost_d)); // to the end
    run_refusals();
    const tmap_ask_params a[] = {{4, 2, 4}, {3, 2, 2}, {3, 3, 2}, {8, 3, 1}, {1, 2, 4}};
    run(64, 64, 100, a[0], 64);
    run(37, 53, 60, a[1], 32);
    run(100, 100, 60, a[2], 512);
    run(5, 90, 70, a[3], 96);
    run(96, 96, 80, a[4], 128);
    if (kit_gpu) {
        const tmap_ask_params wide = {32, 2, 8};
        run(1024, 1024, 512, wide, 256);
    }
    return kit_end("test_ask_published");
}
