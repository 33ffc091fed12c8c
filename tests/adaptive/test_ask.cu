// SPDX-License-Identifier: MIT
// test_ask: adaptive subdivision of the Mandelbrot set against the serial one on the host, pixel by
// pixel and count by count: both forms, all drivers, domains and parameters that divide each other
// or do not, tables that are too small, and what must be refused.
#include "adaptive/ask_reference.h"
#include <threadmap/adaptive/mandelbrot.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) \
    do { \
        cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

enum { POISON = 0x5a5a5a5a, PIXELS_MOST = 1 << 24 };

static int failures, cases, on_gpu, small;
static int *device_out, *got, *want, *exhaustive;

typedef struct problem {
    tmap_mandelbrot m;
    tmap_ask_params a;
    int wide; // double
} problem;

static void expect(int ok, const char *what, const problem *p, int approach, int driver) {
    ++cases;
    if (!ok && ++failures <= 20)
        printf("FAIL %s: %ux%u dwell %u options %u, (%u,%u,%u), %s, %s, %s\n", what, p->m.nx,
               p->m.ny, p->m.dwell, p->m.options, p->a.g, p->a.r, p->a.B, p->wide ? "f64" : "f32",
               tmap_mandelbrot_approach_name(approach), tmap_ask_driver_name(driver));
}

// The definition, written anew.
static int brute_dwell(const void *context, tmap_u32 x, tmap_u32 y) {
    const problem *p = (const problem *)context;
    int d = 0, dwell = (int)p->m.dwell;
    if (p->wide) {
        double dx = (p->m.x1 - p->m.x0) / p->m.nx, dy = (p->m.y1 - p->m.y0) / p->m.ny;
        double cr = fma((double)x, dx, p->m.x0), ci = fma((double)y, dy, p->m.y0);
        double zr = cr, zi = ci;
        for (; d < dwell && fma(zr, zr, zi * zi) < 4; ++d) {
            double next = fma(-zi, zi, fma(zr, zr, cr));
            zi = fma(2 * zr, zi, ci);
            zr = next;
        }
    } else {
        float dx = (float)((p->m.x1 - p->m.x0) / p->m.nx);
        float dy = (float)((p->m.y1 - p->m.y0) / p->m.ny);
        float cr = fmaf((float)x, dx, (float)p->m.x0), ci = fmaf((float)y, dy, (float)p->m.y0);
        float zr = cr, zi = ci;
        for (; d < dwell && fmaf(zr, zr, zi * zi) < 4; ++d) {
            float next = fmaf(-zi, zi, fmaf(zr, zr, cr));
            zi = fmaf(2 * zr, zi, ci);
            zr = next;
        }
    }
    return d;
}

static int library_dwell(const void *context, tmap_u32 x, tmap_u32 y) {
    const problem *p = (const problem *)context;
    return p->wide ? tmap_mandelbrot_dwell_f64(&p->m, x, y)
                   : tmap_mandelbrot_dwell_f32(&p->m, x, y);
}

static cudaError_t launch(const problem *p, int approach, int driver, const tmap_ask_workspace *s,
                          int *out) {
    return p->wide ? tmap_mandelbrot_f64(&p->m, approach, p->a, driver, s, out, 0)
                   : tmap_mandelbrot_f32(&p->m, approach, p->a, driver, s, out, 0);
}

// Runs an approach on a poisoned picture and fetches it. Pixels around it must stay poisoned.
static cudaError_t run(const problem *p, int approach, int driver, const tmap_ask_workspace *s) {
    size_t pixels = (size_t)p->m.nx * p->m.ny;
    cudaError_t status;
    CHECK(cudaMemset(device_out, 0x5a, (pixels + 64) * sizeof(int)));
    status = launch(p, approach, driver, s, device_out + 32);
    if (status != cudaSuccess) return status;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, device_out, (pixels + 64) * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i)
        expect(got[i] == POISON && got[32 + pixels + i] == POISON, "outside the picture", p,
               approach, driver);
    return cudaSuccess;
}

static void compare_counts(const problem *p, int approach, int driver, const ask_counts *reference,
                           const tmap_ask_counts *counts) {
    int same = reference->levels == counts->levels;
    for (tmap_u32 l = 0; l < counts->levels; ++l) {
        const ask_level *a = &reference->level[l];
        const tmap_ask_level_counts *b = &counts->level[l];
        same &= a->regions == b->regions && a->empty == b->empty &&
                a->subdivided == b->subdivided && a->filled == b->filled && a->leaves == b->leaves;
    }
    expect(same, "counts", p, approach, driver);
}

// columns: 1 where columns of borders have memory of their own.
static void run_ask(const problem *problem_, tmap_u64 capacity, int columns,
                    const ask_counts *reference) {
    const tmap_u64 bytes = tmap_mandelbrot_columns_bytes(&problem_->m, problem_->a);
    problem own = *problem_;
    const problem *p = &own;
    size_t pixels = (size_t)p->m.nx * p->m.ny;
    tmap_ask_workspace s;
    if (columns) {
        CHECK(cudaMalloc((void **)&own.m.columns, bytes + 256));
        CHECK(cudaMemset(own.m.columns, 0x5a, bytes + 256));
    }
    CHECK(tmap_ask_workspace_create(p->m.nx, p->m.ny, 0, p->a, capacity, &s));
    CHECK(cudaMemset(s.memory, 0xa5, s.bytes));
    if (!on_gpu) s.cooperative_blocks = 1;
    if (on_gpu && small) s.cooperative_blocks = 16; // a sanitizer's code needs more registers
    for (int approach = TMAP_MANDELBROT_ASK_SBR; approach <= TMAP_MANDELBROT_ASK_MBR; ++approach)
        for (int driver = 0; driver < TMAP_ASK_DRIVER_COUNT; ++driver) {
            float ms[TMAP_ASK_LEVELS_MAX + 1];
            tmap_ask_counts counts;
            cudaError_t status;
            if (driver == TMAP_ASK_GRAPH && on_gpu && small) continue; // racecheck crashes on loops
            s.level_ms = driver == TMAP_ASK_HOST ? ms : NULL;
            status = run(p, approach, driver, &s);
            if (driver == TMAP_ASK_GRAPH && !TMAP_ASK_GRAPHS) {
                expect(status == cudaErrorNotSupported, "no graphs", p, approach, driver);
                continue;
            }
            CHECK(status);
            CHECK(tmap_ask_counts_read(&s, &counts, 0));
            if (counts.refused == 0) {
                expect(ask_difference(got + 32, want, pixels) == 0, "pixels", p, approach, driver);
                compare_counts(p, approach, driver, reference, &counts);
            } else {
                // Computed by brute force where there was no place: right in either sense.
                size_t wrong = 0;
                for (size_t i = 0; i < pixels; ++i)
                    wrong += got[32 + i] != want[i] && got[32 + i] != exhaustive[i];
                expect(wrong == 0, "pixels of refused regions", p, approach, driver);
                expect(capacity != 0, "refused without a limit", p, approach, driver);
            }
            if (capacity == 1)
                expect((counts.refused != 0) == (reference->level[0].subdivided > 1),
                       "refusals are counted", p, approach, driver);
        }
    if (columns) {
        CHECK(cudaMemcpy(got, (char *)own.m.columns + bytes, 256, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 64; ++i) expect(got[i] == POISON, "beyond the columns", p, 0, 0);
        CHECK(cudaFree(own.m.columns));
    }
    CHECK(tmap_ask_workspace_destroy(&s));
}

// The stream driver captured into a graph, which is launched twice; and a graph with a loop.
static void run_graphs(const problem *p) {
#if TMAP_ASK_GRAPHS
    size_t pixels = (size_t)p->m.nx * p->m.ny;
    const tmapi_mandelbrot_f32_params params = tmapi_mandelbrot_f32_make(&p->m, device_out);
    tmap_ask_workspace s;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(tmap_ask_workspace_create(p->m.nx, p->m.ny, 0, p->a, 0, &s));
    CHECK(cudaStreamCreate(&stream));
    for (int form = 0; form < TMAP_ASK_FORM_COUNT; ++form)
        for (int loop = 0; loop < 2; ++loop) {
            if (loop) {
                CHECK(tmapi_mandelbrot_f32_ask_graph_make(&params, form, &s, &exec));
            } else {
                CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
                CHECK(tmapi_mandelbrot_f32_ask_stream(&params, form, &s, stream));
                CHECK(cudaStreamEndCapture(stream, &graph));
                CHECK(cudaGraphInstantiate(&exec, graph, 0));
                CHECK(cudaGraphDestroy(graph));
            }
            for (int turn = 0; turn < 2; ++turn) {
                CHECK(cudaMemsetAsync(device_out, 0x5a, pixels * sizeof(int), stream));
                CHECK(cudaGraphLaunch(exec, stream));
                CHECK(cudaStreamSynchronize(stream));
                CHECK(cudaMemcpy(got, device_out, pixels * sizeof(int), cudaMemcpyDeviceToHost));
                expect(ask_difference(got, want, pixels) == 0, "a graph, launched twice", p,
                       TMAP_MANDELBROT_ASK_SBR + form, loop ? TMAP_ASK_GRAPH : TMAP_ASK_STREAM);
            }
            CHECK(cudaGraphExecDestroy(exec));
        }
    CHECK(cudaStreamDestroy(stream));
    CHECK(tmap_ask_workspace_destroy(&s));
#else
    (void)p;
#endif
}

static void run_problem(const problem *p) {
    size_t pixels = (size_t)p->m.nx * p->m.ny;
    ask_split split;
    ask_counts counts;
    const ask_dwell dwell = p->m.options & TMAP_MANDELBROT_BULBS ? library_dwell : brute_dwell;
    if (ask_split_make(p->m.nx, p->m.ny, p->a.g, p->a.r, p->a.B, &split)) {
        expect(0, "refused", p, 0, 0);
        return;
    }
    split.shared = 1;
    ask_reference(split, dwell, p, want, &counts);
    ask_exhaustive(p->m.nx, p->m.ny, dwell, p, exhaustive);
    for (int approach = 0; approach <= TMAP_MANDELBROT_EXHAUSTIVE_UNROLLED; ++approach) {
        CHECK(run(p, approach, 0, NULL));
        expect(ask_difference(got + 32, exhaustive, pixels) == 0, "pixels", p, approach, 0);
    }
    run_ask(p, 0, 0, &counts);
    run_ask(p, 0, 1, &counts);
    run_ask(p, 1, 0, &counts);
    run_ask(p, 7, 1, &counts);
    if (on_gpu && !small && !p->wide) run_graphs(p);
}

static problem make(tmap_u32 nx, tmap_u32 ny, tmap_u32 dwell, tmap_u32 g, tmap_u32 r, tmap_u32 B,
                    tmap_u32 options, int wide) {
    problem p;
    p.m = tmap_mandelbrot_make(nx, ny, dwell);
    p.m.options = options;
    p.a.g = g, p.a.r = r, p.a.B = B;
    p.wide = wide;
    return p;
}

// Everything that must be refused; nothing may be written.
static void run_refusals(void) {
    const problem good = make(64, 64, 100, 4, 2, 4, 0, 0);
    const double nan = strtod("nan", NULL), inf = strtod("inf", NULL);
    tmap_ask_workspace s, other;
    tmap_ask_counts counts;
    problem bad;
    CHECK(tmap_ask_workspace_create(64, 64, 0, good.a, 0, &s));
    CHECK(cudaMemset(device_out, 0x5a, 4096 * sizeof(int)));
#define REFUSED(change) \
    do { \
        bad = good; \
        change; \
        for (int approach = 0; approach < TMAP_MANDELBROT_APPROACH_COUNT; ++approach) \
            expect(launch(&bad, approach, TMAP_ASK_STREAM, &s, device_out) == \
                       cudaErrorInvalidValue, \
                   #change, &bad, approach, TMAP_ASK_STREAM); \
    } while (0)
    REFUSED(bad.m.nx = 0);
    REFUSED(bad.m.ny = 0);
    REFUSED(bad.m.nx = (1u << 24) + 1);
    REFUSED(bad.m.dwell = 0);
    REFUSED(bad.m.dwell = (1u << 30) + 1);
    REFUSED(bad.m.options = 2);
    REFUSED((bad.m.x0 = 0.5, bad.m.x1 = -1.5));
    REFUSED((bad.m.y0 = 1, bad.m.y1 = -1));
    REFUSED(bad.m.x1 = bad.m.x0);
    REFUSED(bad.m.x0 = nan);
    REFUSED(bad.m.y1 = nan);
    REFUSED(bad.m.x1 = inf);
    REFUSED(bad.m.columns = (int *)((char *)device_out + 2));
#undef REFUSED
    for (int approach = TMAP_MANDELBROT_ASK_SBR; approach <= TMAP_MANDELBROT_ASK_MBR; ++approach) {
        const tmap_ask_params wrong[] = {{4, 2, 17}, {4, 1, 4},  {4, 0, 4}, {0, 2, 4},
                                         {4, 2, 0},  {65, 2, 1}, {8, 2, 4}};
        for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
            bad = good;
            bad.a = wrong[i]; // the last is right, but the workspace is for another
            expect(launch(&bad, approach, TMAP_ASK_STREAM, &s, device_out) == cudaErrorInvalidValue,
                   "subdivision", &bad, approach, TMAP_ASK_STREAM);
        }
        expect(launch(&good, approach, 4, &s, device_out) == cudaErrorInvalidValue, "driver", &good,
               approach, 4);
        expect(launch(&good, approach, -1, &s, device_out) == cudaErrorInvalidValue, "driver",
               &good, approach, -1);
        expect(launch(&good, approach, 0, NULL, device_out) == cudaErrorInvalidValue, "workspace",
               &good, approach, 0);
        expect(launch(&good, approach, 0, &s, NULL) == cudaErrorInvalidValue, "out", &good,
               approach, 0);
    }
    expect(launch(&good, TMAP_MANDELBROT_APPROACH_COUNT, 0, &s, device_out) ==
               cudaErrorInvalidValue,
           "approach", &good, 4, 0);
    expect(launch(&good, -1, 0, &s, device_out) == cudaErrorInvalidValue, "approach", &good, -1, 0);
    expect(tmap_ask_workspace_bytes(64, 64, 0, bad.a, 0) != 0, "bytes", &good, 0, 0);
    bad.a.r = 1;
    expect(tmap_ask_workspace_bytes(64, 64, 0, bad.a, 0) == 0, "bytes", &bad, 0, 0);
    expect(tmap_ask_workspace_create(64, 64, 0, bad.a, 0, &other) == cudaErrorInvalidValue,
           "workspace", &bad, 0, 0);
    expect(tmap_ask_workspace_set(64, 64, 0, good.a, 0, s.memory, s.bytes - 1, &other) ==
               TMAP_EINVAL,
           "bytes of a workspace", &good, 0, 0);
    expect(tmap_ask_counts_read(NULL, &counts, 0) == cudaErrorInvalidValue, "counts", &good, 0, 0);
    CHECK(cudaMemcpy(got, device_out, 4096 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4096; ++i) expect(got[i] == POISON, "a refused launch wrote", &good, 0, 0);
    CHECK(tmap_ask_workspace_destroy(&s));
}

int main(void) {
    struct cudaDeviceProp device;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    on_gpu = strstr(device.name, "CPU") == NULL;
    small = getenv("TMAP_TEST_SMALL") != NULL || getenv("SIMT_SEED") != NULL;
    CHECK(cudaMalloc((void **)&device_out, ((size_t)PIXELS_MOST + 64) * sizeof(int)));
    got = (int *)malloc(((size_t)PIXELS_MOST + 64) * sizeof(int));
    want = (int *)malloc((size_t)PIXELS_MOST * sizeof(int));
    exhaustive = (int *)malloc((size_t)PIXELS_MOST * sizeof(int));

    {
        const problem few[] = {
            make(1, 1, 1, 1, 2, 1, 0, 0),      make(2, 2, 50, 1, 2, 1, 0, 0),
            make(7, 5, 50, 2, 2, 1, 0, 0),     make(37, 53, 60, 3, 2, 2, 0, 0),
            make(100, 100, 60, 3, 3, 2, 0, 0), make(64, 64, 100, 4, 2, 4, 0, 1),
            make(128, 32, 64, 8, 2, 2, 0, 0),  make(5, 90, 70, 8, 3, 1, 0, 1),
            make(96, 96, 33, 2, 4, 3, 1, 0),   make(63, 65, 5, 1, 5, 1, 1, 0),
            make(40, 2, 30, 20, 2, 1, 0, 0),   make(3, 70, 40, 5, 2, 2, 1, 1),
        };
        for (unsigned i = 0; i < sizeof few / sizeof *few; ++i) run_problem(&few[i]);
    }
    {
        // Around c = -2, where what has escaped may come back within 2 by rounding; points beyond
        // 2; numbers so large that z becomes infinite and NaN.
        const double windows[][4] = {{-2.0000005, -1.9999995, -0.0005, 0.0005},
                                     {-2.01, -1.97, -0.02, 0.02},
                                     {-3, 3, -3, 3},
                                     {-1e30, 1e30, -1e30, 1e30},
                                     {0.2, 0.3, -0.05, 0.05}};
        for (unsigned i = 0; i < 2 * sizeof windows / sizeof *windows; ++i) {
            problem p = make(64, 64, 150, 4, 2, 4, 0, i & 1);
            p.m.x0 = windows[i / 2][0], p.m.x1 = windows[i / 2][1];
            p.m.y0 = windows[i / 2][2], p.m.y1 = windows[i / 2][3];
            run_problem(&p);
        }
    }
    run_refusals();
    if (!small) {
        const problem some[] = {
            make(512, 512, 512, 8, 2, 8, 0, 0),
            make(512, 512, 512, 4, 4, 16, 0, 0),
            make(500, 300, 200, 7, 3, 5, 0, 1),
        };
        for (unsigned i = 0; i < sizeof some / sizeof *some; ++i) run_problem(&some[i]);
    }
    if (on_gpu && !small) {
        const problem large[] = {
            make(4096, 4096, 512, 16, 4, 16, 0, 0),
            make(4096, 4096, 512, 32, 2, 32, 0, 0),
            make(3001, 2003, 512, 13, 3, 7, 0, 1),
        };
        for (unsigned i = 0; i < sizeof large / sizeof *large; ++i) run_problem(&large[i]);
    }
    free(got), free(want), free(exhaustive);
    CHECK(cudaFree(device_out));
    printf("%s: %d cases, %d failures\n", device.name, cases, failures);
    return failures != 0;
}
