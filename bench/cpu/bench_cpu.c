// SPDX-License-Identifier: MIT
// bench_cpu.c: what the cores of the host do, with OpenMP: the Mandelbrot set, dRMSD of two frames
// and the flood of a height map; baselines of docs/papers.md. Each result is checked before its time
// is written: against the definition at samples, and against a serial fill.
//
// cc -O3 -march=native -ffast-math -fopenmp -I include -I tests bench/cpu/bench_cpu.c -lm -o bench_cpu
// ./bench_cpu [--quick] [--out FILE]
#include "raster/flood_inputs.h"

#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, DWELL = 512, LANES = 16 };

static FILE *file;
static int rows;

static void *memory(size_t count, size_t size) {
    void *p = malloc(count * size);
    if (!p) {
        fprintf(stderr, "bench_cpu: no memory\n");
        exit(1);
    }
    return p;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median of RUNS runs after one that is not counted, in ms.
static double median(void (*work)(void *), void *job) {
    double ms[RUNS];
    work(job);
    for (int i = 0; i < RUNS; ++i) {
        const double begin = omp_get_wtime();
        work(job);
        ms[i] = 1e3 * (omp_get_wtime() - begin);
    }
    qsort(ms, RUNS, sizeof *ms, compare);
    return ms[RUNS / 2];
}

// A row, for the reader and for the file. more: further members of the JSON object, or "".
static void record(const char *work, unsigned size, double ms, const char *more) {
    printf("| %s | %u | %d threads | %.4f |\n", work, size, omp_get_max_threads(), ms);
    fflush(stdout);
    if (!file) return;
    fprintf(file,
            "%s\n    {\"work\": \"%s\", \"variant\": \"openmp\", \"size\": %u, \"threads\": %d, "
            "\"ms\": %.5f, %s\"verified\": true}",
            rows++ ? "," : "", work, size, omp_get_max_threads(), ms, more);
}

static void wrong(const char *work, unsigned size) {
    fprintf(stderr, "bench_cpu: %s, size %u: WRONG\n", work, size);
    exit(1);
}

// ---- the Mandelbrot set: [-1.5, 0.5] x [-1, 1], a test in 8 steps, LANES pixels at a time ---------

typedef struct mandelbrot {
    unsigned n;
    int *out;
} mandelbrot;

static float at(unsigned pixel, unsigned n, float least) {
    return least + 2.0f / (float)n * (float)pixel;
}

static int dwell(float cr, float ci) {
    float zr = cr, zi = ci;
    int d = 0;
    for (; d < DWELL && zr * zr + zi * zi < 4; ++d) {
        const float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
    }
    return d;
}

static void mandelbrot_run(void *job) {
    const mandelbrot *m = (const mandelbrot *)job;
#pragma omp parallel for schedule(dynamic, 4)
    for (unsigned y = 0; y < m->n; ++y)
        for (unsigned x0 = 0; x0 < m->n; x0 += LANES) {
            float cr[LANES], zr[LANES], zi[LANES];
            int d[LANES], alive = 1;
            const float ci = at(y, m->n, -1);
            for (int k = 0; k < LANES; ++k) {
                cr[k] = zr[k] = at(x0 + (unsigned)k, m->n, -1.5f);
                zi[k] = ci;
                d[k] = 0;
            }
            for (int step = 0; alive && step < DWELL; step += 8) {
                alive = 0;
                for (int i = 0; i < 8; ++i)
#pragma omp simd
                    for (int k = 0; k < LANES; ++k) { // what has escaped stays where it is
                        const float r2 = zr[k] * zr[k], i2 = zi[k] * zi[k];
                        const int in = r2 + i2 < 4;
                        const float next = r2 - i2 + cr[k], other = 2 * zr[k] * zi[k] + ci;
                        zr[k] = in ? next : zr[k];
                        zi[k] = in ? other : zi[k];
                        d[k] += in;
                    }
                for (int k = 0; k < LANES; ++k) alive |= zr[k] * zr[k] + zi[k] * zi[k] < 4;
            }
            for (int k = 0; k < LANES && x0 + (unsigned)k < m->n; ++k)
                m->out[(size_t)y * m->n + x0 + (unsigned)k] = d[k];
        }
}

static void bench_mandelbrot(unsigned n) {
    mandelbrot m = {n, (int *)memory((size_t)n * n, sizeof(int))};
    size_t differ = 0, samples = 0;
    const double ms = median(mandelbrot_run, &m);
    for (size_t i = 0; i < (size_t)n * n; i += 997, ++samples)
        differ += abs(m.out[i] -
                      dwell(at((unsigned)(i % n), n, -1.5f), at((unsigned)(i / n), n, -1))) > 0;
    if (differ * 50 > samples) wrong("mandelbrot", n); // fused operations move a few dwells
    record("mandelbrot", n, ms, "\"dwell\": 512, ");
    free(m.out);
}

// ---- dRMSD of two frames of n atoms: sqrt of the mean of (|a_i - a_j| - |b_i - b_j|)^2 ------------

typedef struct drmsd {
    unsigned n;
    float *a, *b; // 3 n coordinates: all x, all y, all z
    double sum;
} drmsd;

static double row_sum(const drmsd *f, unsigned i) {
    const float *a = f->a, *b = f->b;
    const unsigned n = f->n;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (unsigned j = 0; j < i; ++j) {
        const float ax = a[i] - a[j], ay = a[n + i] - a[n + j], az = a[2 * n + i] - a[2 * n + j];
        const float bx = b[i] - b[j], by = b[n + i] - b[n + j], bz = b[2 * n + i] - b[2 * n + j];
        const float d = sqrtf(ax * ax + ay * ay + az * az) - sqrtf(bx * bx + by * by + bz * bz);
        sum += d * d;
    }
    return sum;
}

static void drmsd_run(void *job) {
    drmsd *f = (drmsd *)job;
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum)
    for (unsigned i = 0; i < f->n; ++i) sum += row_sum(f, i);
    f->sum = sum;
}

static void bench_drmsd(unsigned n) {
    drmsd f = {n, (float *)memory(n, 3 * sizeof(float)), (float *)memory(n, 3 * sizeof(float)), 0};
    unsigned state = 1;
    double want = 0;
    for (unsigned i = 0; i < 3 * n; ++i) {
        state = state * 1664525u + 1013904223u;
        f.a[i] = 50 * (float)(state >> 8) / 16777216.0f;
        state = state * 1664525u + 1013904223u;
        f.b[i] = f.a[i] + (float)(state >> 8) / 16777216.0f;
    }
    const double ms = median(drmsd_run, &f);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : want)
    for (unsigned i = 0; i < n; ++i)
        for (unsigned j = 0; j < i; ++j) {
            double da = 0, db = 0;
            for (unsigned k = 0; k < 3 * n; k += n) {
                da += pow(f.a[k + i] - f.a[k + j], 2);
                db += pow(f.b[k + i] - f.b[k + j], 2);
            }
            want += pow(sqrt(da) - sqrt(db), 2);
        }
    if (!(fabs(f.sum - want) < 1e-4 * want)) wrong("drmsd", n);
    record("drmsd", n, ms, "");
    free(f.a), free(f.b);
}

// ---- a flood: union-find by strips of rows, then over their borders -------------------------------

typedef struct flood {
    unsigned n;
    int16_t *height;
    uint32_t *parent;
    unsigned char *out;
    size_t source;
} flood;

static uint32_t find(uint32_t *parent, uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(uint32_t *parent, uint32_t i, uint32_t j) {
    i = find(parent, i);
    j = find(parent, j);
    if (i < j)
        parent[j] = i;
    else
        parent[i] = j;
}

static void flood_run(void *job) {
    const flood *f = (const flood *)job;
    const unsigned n = f->n;
    uint32_t *parent = f->parent;
    const int16_t *h = f->height;
    const int strips = omp_get_max_threads();
#pragma omp parallel for schedule(static, 1)
    for (int s = 0; s < strips; ++s) {
        const unsigned first = (unsigned)((uint64_t)n * s / strips);
        const unsigned end = (unsigned)((uint64_t)n * (s + 1) / strips);
        for (unsigned y = first; y < end; ++y)
            for (unsigned x = 0; x < n; ++x) {
                const uint32_t i = y * n + x;
                if (h[i] >= 0) continue;
                parent[i] = x && h[i - 1] < 0 ? parent[i - 1] : i;
                if (y > first && h[i - n] < 0 && !(x && h[i - 1] < 0 && h[i - n - 1] < 0))
                    unite(parent, i, i - n);
            }
    }
    for (int s = 1; s < strips; ++s) {
        const unsigned y = (unsigned)((uint64_t)n * s / strips);
        if (y == 0 || y == (unsigned)((uint64_t)n * (s - 1) / strips)) continue;
        for (unsigned x = 0; x < n; ++x) {
            const uint32_t i = y * n + x;
            if (h[i] < 0 && h[i - n] < 0) unite(parent, i, i - n);
        }
    }
    const uint32_t root = find(parent, (uint32_t)f->source);
#pragma omp parallel for schedule(static)
    for (unsigned y = 0; y < n; ++y) {
        uint32_t last = UINT32_MAX, last_root = UINT32_MAX; // most of a run has one parent
        for (unsigned x = 0; x < n; ++x) {
            const uint32_t i = y * n + x;
            uint32_t up;
            if (h[i] >= 0) {
                f->out[i] = 0;
                continue;
            }
            if (parent[i] != last) {
                last = parent[i];
                for (up = last; parent[up] != up;) up = parent[up];
                last_root = up;
            }
            f->out[i] = last_root == root;
        }
    }
}

// A serial fill from the source. Returns how many cells of f->out are wrong.
static size_t flood_wrong(const flood *f) {
    const unsigned n = f->n;
    const size_t cells = (size_t)n * n;
    unsigned char *want = (unsigned char *)memory(cells, 1);
    uint32_t *stack = (uint32_t *)memory(cells, sizeof *stack);
    size_t count = 0, differ = 0;
    memset(want, 0, cells);
    stack[count++] = (uint32_t)f->source;
    want[f->source] = 1;
    while (count) {
        const uint32_t i = stack[--count], x = i % n, y = i / n;
        const uint32_t near[4] = {x ? i - 1 : i, x + 1 < n ? i + 1 : i, y ? i - n : i,
                                  y + 1 < n ? i + n : i};
        for (int k = 0; k < 4; ++k)
            if (f->height[near[k]] < 0 && !want[near[k]]) {
                want[near[k]] = 1;
                stack[count++] = near[k];
            }
    }
    for (size_t i = 0; i < cells; ++i) differ += want[i] != f->out[i];
    free(want), free(stack);
    return differ;
}

static void bench_flood(unsigned n) {
    const size_t cells = (size_t)n * n;
    flood f = {n, (int16_t *)memory(cells, sizeof(int16_t)),
               (uint32_t *)memory(cells, sizeof(uint32_t)), (unsigned char *)memory(cells, 1), 0};
#pragma omp parallel for schedule(static)
    for (unsigned y = 0; y < n; ++y)
        for (unsigned x = 0; x < n; ++x)
            f.height[(size_t)y * n + x] = (int16_t)flood_input(FLOOD_TERRAIN, x, y, n, n);
    while (f.height[f.source] >= 0) ++f.source;
    const double ms = median(flood_run, &f);
    if (flood_wrong(&f)) wrong("flood", n);
    record("flood", n, ms, "\"input\": \"terrain\", \"dtype\": \"i16\", \"connectivity\": 4, ");
    free(f.height), free(f.parent), free(f.out);
}

int main(int argc, char **argv) {
    int quick = 0;
    for (int i = 1; i < argc; ++i)
        if (!strcmp(argv[i], "--quick")) {
            quick = 1;
        } else if (!strcmp(argv[i], "--out") && i + 1 < argc && !file) {
            file = fopen(argv[++i], "w");
            if (!file) return fprintf(stderr, "bench_cpu: cannot write %s\n", argv[i]), 2;
        } else {
            return fprintf(stderr, "usage: bench_cpu [--quick] [--out FILE]\n"), 2;
        }
    const char *cpu = getenv("TMAP_CPU"), *commit = getenv("TMAP_COMMIT");
    if (file)
        fprintf(file,
                "{\n  \"meta\": {\"bench\": \"cpu\", \"cpu\": \"%s\", \"commit\": \"%s\"},\n"
                "  \"rows\": [",
                cpu ? cpu : "unknown", commit ? commit : "unknown");
    puts("| work | size | | ms |\n| --- | --- | --- | --- |");
    for (unsigned n = quick ? 128 : 1024; n <= (quick ? 256 : 16384); n *= quick ? 2 : 4)
        bench_mandelbrot(n);
    for (unsigned n = quick ? 100 : 4096; n <= (quick ? 1000 : 65536); n *= quick ? 10 : 4)
        bench_drmsd(n);
    for (unsigned n = quick ? 64 : 1024; n <= (quick ? 256 : 16384); n *= 4) bench_flood(n);
    if (file && (fputs("\n  ]\n}\n", file) < 0 || fclose(file))) return 2;
    return 0;
}
