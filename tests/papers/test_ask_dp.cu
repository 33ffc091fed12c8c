// SPDX-License-Identifier: MIT
// test_ask_dp: the Mandelbrot set by dynamic parallelism against the serial subdivision on the
// host, pixel by pixel; on a GPU also with too few pending launches, where each lost one must be
// counted.
#if !defined(__CUDACC_VER_MAJOR__)
#define TMAP_DP 1 // the CPU machine launches from kernels
#endif
#include "adaptive/ask_check.h"
#include <threadmap/papers/mandelbrot_dp.h>

enum { POISON = 0x5a5a5a5a };

static tmap_u64 *lost_d;

// The case of the checks that follow.
static void of_case(const tmap_mandelbrot *m, tmap_ask_params a, int form) {
    kit_case("%ux%u dwell %u, (%u,%u,%u), %s, %s", m->nx, m->ny, m->dwell, a.g, a.r, a.b,
             tmap_ask_form_name(form), m->options ? "f64" : "f32");
}

static void run(tmap_u32 nx, tmap_u32 ny, tmap_u32 dwell, tmap_u32 g, tmap_u32 r, tmap_u32 b,
                tmap_u32 threads, tmap_u64 pending) {
    if (!check_turn()) return;
    printf("%u x %u, g %u r %u B %u, %u threads, %llu pending\n", nx, ny, g, r, b, threads,
           pending);
    fflush(stdout); // where a device stops for ever, its last line says at what
    tmap_mandelbrot m = tmap_mandelbrot_make(nx, ny, dwell);
    const tmap_ask_params a = {g, r, b};
    size_t pixels = (size_t)nx * ny;
    int *want = (int *)kit_host(pixels * sizeof(int));
    int *columns = (int *)kit_device(tmap_mandelbrot_dp_columns_bytes(&m, a) + 4);
    for (int turn = 0; turn < 4; ++turn) {
        tmap_mandelbrot_dp how = {0, a, threads, pending, NULL, lost_d};
        m.options = turn & 1 ? TMAP_MANDELBROT_F64 : 0;
        (void)ask_serial(&m, a, 1, NULL, want);
        if (turn & 2) how.columns = columns; // where columns of borders are kept
        for (int form = 0; form < TMAP_ASK_FORM_COUNT; ++form) {
            int *out = (int *)kit_guarded(pixels * sizeof(int));
            tmap_u64 wrong = 0, missing = 0;
            how.form = form;
            CHECK(tmap_mandelbrot_dp_run(&m, &how, out, 0));
            CHECK(cudaDeviceSynchronize());
            const tmap_u64 lost = kit_number(lost_d);
            const int *got = (const int *)kit_to_host(out, pixels * sizeof(int));
            for (size_t i = 0; i < pixels; ++i) {
                missing += got[i] == POISON;
                wrong += got[i] != POISON && got[i] != want[i];
            }
            of_case(&m, a, form);
            expect(wrong == 0, "pixels");
            expect((missing != 0) == (lost != 0), "lost launches and missing pixels");
            if (pending > 100000) expect(lost == 0, "enough pending launches");
            if (lost)
                printf("%ux%u, %s: %llu launches lost, %llu pixels missing\n", nx, ny,
                       tmap_ask_form_name(form), lost, missing);
        }
    }
    kit_release(0);
}

static void run_refusals(void) {
    const tmap_mandelbrot good = tmap_mandelbrot_make(64, 64, 100);
    const tmap_ask_params a = {4, 2, 4}, wrong = {4, 1, 4}, large = {4, 2, 17};
    const tmap_mandelbrot_dp how = {0, a, 0, 0, NULL, lost_d};
    tmap_mandelbrot bad = good, in_double = good;
    int *out = (int *)lost_d; // not written
    bad.dwell = 0, in_double.options = TMAP_MANDELBROT_F64;
    of_case(&bad, a, 0);
    REFUSED(tmap_mandelbrot_dp_run(&bad, &how, out, 0));
    for (int i = 0; i < 6; ++i) {
        tmap_mandelbrot_dp h = how;
        if (i == 0) h.form = 2;
        if (i == 1) h.a = wrong;
        if (i == 2) h.a = large;
        if (i == 3) h.threads = 48;
        if (i == 4) h.threads = 544;
        if (i == 5) h.lost = NULL;
        kit_case("refusal %d", i);
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
    CHECK(cudaMalloc((void **)&lost_d, sizeof *lost_d));
    run_refusals();
    // The low limit first: lowered after launches, it has stopped a run for ever (H200, CUDA 13.0).
    if (kit_gpu) run(2048, 2048, 512, 16, 4, 4, 0, 16);
    run(64, 64, 100, 4, 2, 4, 0, 200000);
    run(37, 53, 60, 3, 2, 2, 32, 200000);
    run(100, 100, 60, 3, 3, 2, 512, 200000);
    run(5, 90, 70, 8, 3, 1, 96, 200000);
    if (kit_gpu) run(1024, 1024, 512, 32, 2, 8, 64, 200000);
    return kit_end("test_ask_dp");
}
