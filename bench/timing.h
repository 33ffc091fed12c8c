// SPDX-License-Identifier: MIT
// timing.h: times of device work by CUDA events, and what the memory of this GPU can do at best.
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "../tests/kit.h"

// A time in milliseconds: the median, and the spread of the middle half of the samples in percent
// of it.
typedef struct bench_time {
    double ms, noise_pct;
    int samples;
} bench_time;

typedef void (*bench_body)(void *context);

// Every number below n, by the whole grid.
#define BENCH_EACH(i, n) \
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < (n); \
         i += gridDim.x * (tmap_u64)blockDim.x)

static int bench_compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// The milliseconds of one run.
static inline float bench_once(bench_body body, void *context) {
    cudaEvent_t begin, end;
    float ms;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin, 0));
    body(context);
    CHECK(cudaEventRecord(end, 0));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return ms;
}

// Holds the stream until the host sets *go, or for about a second.
static __global__ void bench_hold_kernel(const volatile int *go) {
    for (long long begin = clock64(); !*go && clock64() - begin < 2000000000;) continue;
}

// Runs body once to warm up, then as often as `budget_ms` allows, 3 to 25 times (once above a
// second), each between two events of the default stream. Short work is repeated inside a sample,
// as the events and the way to the device take two or three microseconds of it. go: NULL, or memory
// of the host that the device reads: then all work of a sample is queued before any of it begins,
// so that no time of the host is in it; the body must not wait for the device.
static bench_time bench_measure_go(bench_body body, void *context, double budget_ms,
                                   volatile int *go) {
    enum { MOST = 25 };
    float samples[MOST], warm;
    cudaEvent_t begin, end;
    bench_time t;
    int n, inner = 1;
    body(context);
    CHECK(cudaDeviceSynchronize());
    warm = bench_once(body, context);
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    if (warm < 0.2f) inner = warm < 0.05f ? 20 : 5;
    n = warm > 0 ? (int)(budget_ms / (warm * inner)) : MOST;
    n = warm > 1000 ? 1 : n < 3 ? 3 : n > MOST ? MOST : n;
    for (int i = 0; i < n; ++i) {
        if (go) {
            *go = 0;
            bench_hold_kernel<<<1, 1>>>(go);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaEventRecord(begin, 0));
        for (int j = 0; j < inner; ++j) body(context);
        CHECK(cudaEventRecord(end, 0));
        if (go) *go = 1;
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&samples[i], begin, end));
        samples[i] /= (float)inner;
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    qsort(samples, (size_t)n, sizeof *samples, bench_compare);
    t.ms = samples[n / 2];
    t.noise_pct = t.ms > 0 ? 100.0 * (samples[n * 3 / 4] - samples[n / 4]) / t.ms : 0;
    t.samples = n;
    return t;
}

// Single calls, the host's part in each.
static inline bench_time bench_measure(bench_body body, void *context, double budget_ms) {
    return bench_measure_go(body, context, budget_ms, NULL);
}

// Queued calls: the device's time alone. (The CPU machine of the tests, which is no device that does
// things side by side, runs a launch before it goes on.)
static inline bench_time bench_measure_queued(bench_body body, void *context, double budget_ms) {
    void *go;
    int device, concurrent;
    bench_time t;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentKernels, device));
    if (!concurrent) return bench_measure(body, context, budget_ms);
    CHECK(cudaHostAlloc(&go, sizeof(int), cudaHostAllocMapped));
    t = bench_measure_go(body, context, budget_ms, (volatile int *)go);
    CHECK(cudaFreeHost(go));
    return t;
}

// ---- ceilings -----------------------------------------------------------------------------------

// Bandwidths in TB/s: of a copy (bytes read and written), a fill and a read of `bytes` bytes.
typedef struct bench_ceilings {
    double copy_tbs, fill_tbs, read_tbs;
} bench_ceilings;

typedef struct bench_buffers {
    uint4 *a, *b;
    size_t bytes;
} bench_buffers;

static void bench_copy(void *p) {
    bench_buffers *t = (bench_buffers *)p;
    CHECK(cudaMemcpyAsync(t->b, t->a, t->bytes, cudaMemcpyDeviceToDevice, 0));
}

static void bench_fill(void *p) {
    bench_buffers *t = (bench_buffers *)p;
    CHECK(cudaMemsetAsync(t->b, 0x5a, t->bytes, 0));
}

// Reads everything, four 16-byte loads in flight a thread; the condition never holds, which the
// compiler cannot know.
static __global__ void bench_read_kernel(const uint4 *in, size_t n, unsigned *out) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (; i + 3 * stride < n; i += 4 * stride) {
        uint4 a = in[i], b = in[i + stride], c = in[i + 2 * stride], d = in[i + 3 * stride];
        sum += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) +
               (d.x ^ d.y ^ d.z ^ d.w);
    }
    for (; i < n; i += stride) sum += in[i].x;
    if (sum == 0x12345678u) *out = sum;
}

static void bench_read(void *p) {
    bench_buffers *t = (bench_buffers *)p;
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    bench_read_kernel<<<(unsigned)processors * 8, 256>>>(t->a, t->bytes / sizeof(uint4),
                                                         (unsigned *)t->b);
    CHECK(cudaGetLastError());
}

// Each size is far above the cache; random content, since zeros can move faster.
static __global__ void bench_scramble_kernel(uint4 *out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (size_t)gridDim.x * blockDim.x) {
        unsigned h = (unsigned)i * 2654435761u;
        out[i] = make_uint4(h, h ^ h >> 15, h * 2246822519u, ~h);
    }
}

static bench_ceilings bench_measure_ceilings(size_t bytes) {
    bench_ceilings c;
    bench_buffers t;
    t.bytes = bytes;
    CHECK(cudaMalloc((void **)&t.a, bytes));
    CHECK(cudaMalloc((void **)&t.b, bytes));
    bench_scramble_kernel<<<1024, 256>>>(t.a, bytes / sizeof(uint4));
    CHECK(cudaGetLastError());
    c.copy_tbs = 2e-9 * (double)bytes / bench_measure(bench_copy, &t, 200).ms;
    c.fill_tbs = 1e-9 * (double)bytes / bench_measure(bench_fill, &t, 200).ms;
    c.read_tbs = 1e-9 * (double)bytes / bench_measure(bench_read, &t, 200).ms;
    CHECK(cudaFree(t.a));
    CHECK(cudaFree(t.b));
    return c;
}

#endif
