// SPDX-License-Identifier: MIT
// test_drmsd_slides: the sum of dRMSD by every form, root and number of atoms of a thread, in
// blocks of many sizes, against a sum in double over the pairs, and tmap_drmsd_slides_reads against
// a count of the atoms that threads load; then pairs of atoms at one place.
#include "kit.h"

static __device__ unsigned long long loaded;
#define TMAPI_DRMSD_SLIDES_LOADED() atomicAdd(&loaded, 1ull)
#include <threadmap/papers/drmsd_slides.h>

#include <math.h>

template <int FORM, int ROOT, int U>
static __global__ void __launch_bounds__(TMAP_DRMSD_SLIDES_BLOCK_MAX)
    terms(const float *a, const float *b, tmap_u32 n, double *sum) {
    const tmap_drmsd_slides_how how = {FORM, ROOT, U};
    tmap_drmsd_slides(how, a, b, n, sum);
}

enum { US = 4 };
static const tmap_u32 atoms_each[US] = {1, 2, 4, 8};
#define OF_ROOT(form, root) \
    { \
        (const void *)terms<form, root, 1>, (const void *)terms<form, root, 2>, \
            (const void *)terms<form, root, 4>, (const void *)terms<form, root, 8> \
    }
#define OF_FORM(form) \
    { OF_ROOT(form, 0), OF_ROOT(form, 1), OF_ROOT(form, 2), OF_ROOT(form, 3) }
static const void *const kernels[TMAP_DRMSD_SLIDES_FORMS][TMAP_DRMSD_SLIDES_ROOTS][US] = {
    OF_FORM(0), OF_FORM(1), OF_FORM(2), OF_FORM(3), OF_FORM(4)};

// Two frames of n atoms within 40 of each other, not alike; and what is to come of them.
typedef struct problem {
    tmap_u32 n;
    float *host, *device; // of one frame, then of the other
    double want, off;     // off: what single precision may be off by
    double *sum;          // of the device
} problem;

static double distance(const float *u, const float *v) {
    const double x = (double)u[0] - v[0], y = (double)u[1] - v[1], z = (double)u[2] - v[2];
    return sqrt(x * x + y * y + z * z);
}

// twins: each atom of odd number is where the one before it is.
static problem problem_make(tmap_u32 n, int twins) {
    problem p = {n, (float *)kit_host(24ull * n), 0, 0, 0, 0};
    const float *a = p.host, *b = p.host + 3 * n;
    double most = 0;
    for (tmap_u32 i = 0; i < 2 * n; ++i)
        for (tmap_u32 k = 0; k < 3; ++k) {
            const tmap_u32 as = twins && i % n % 2 ? i - 1 : i;
            p.host[3 * i + k] = (float)(check_hash(3 * as + k, n) % 40000) * 1e-3f;
        }
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = i + 1; j < n; ++j) {
            const double u = distance(a + 3 * i, a + 3 * j), v = distance(b + 3 * i, b + 3 * j);
            p.want += (u - v) * (u - v);
            most += fabs(u - v) * (u + v) * 0x1p-21;
        }
    p.off = n < 64 ? most : 1e-6 * p.want; // errors are as often above as below
    p.device = (float *)kit_to_device(p.host, 24ull * n);
    p.sum = (double *)kit_device(sizeof *p.sum);
    return p;
}

// What a launch adds to a sum that is not 0 before; checks what it reads.
static double run(const problem *p, int form, int root, int u, tmap_u32 block) {
    const float *b = p->device + 3ull * p->n;
    void *arguments[] = {(void *)&p->device, (void *)&b, (void *)&p->n, (void *)&p->sum};
    const tmap_u64 blocks = tmap_drmsd_slides_blocks(form, p->n, block, atoms_each[u]);
    const tmap_u64 reads = tmap_drmsd_slides_reads(form, p->n, block, atoms_each[u]);
    unsigned long long count = 0;
    double sum = 0.5;
    CHECK(cudaMemcpyToSymbol(loaded, &count, sizeof count));
    CHECK(cudaMemcpy(p->sum, &sum, sizeof sum, cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernel(kernels[form][root][u], dim3(blocks ? (unsigned)blocks : 1), dim3(block),
                           arguments, tmap_drmsd_slides_bytes(form, block, atoms_each[u]), 0));
    CHECK(cudaMemcpy(&sum, p->sum, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&count, loaded, sizeof count));
    EXPECT(24 * count == reads, "%s, u = %u, %u threads, n = %u: %llu bytes, not %llu",
           tmap_drmsd_slides_form_name(form), atoms_each[u], block, p->n, 24 * count, reads);
    return sum - 0.5;
}

static void check(const problem *p, const char *what, int form, int root, int u, tmap_u32 block) {
    double got;
    if (tmap_drmsd_slides_bytes(form, block, atoms_each[u]) > 48000) return;
    got = run(p, form, root, u, block);
    EXPECT(fabs(got - p->want) <= p->off + 0x1p-50,
           "%s %s, %s, u = %u, %u threads, n = %u: %.17g, not %.17g", what,
           tmap_drmsd_slides_form_name(form), tmap_drmsd_slides_root_name(root), atoms_each[u],
           block, p->n, got, p->want);
}

// All variants; every `some`-th of them on slow machines.
static void check_all(const problem *p, unsigned some) {
    static unsigned number;
    const tmap_u32 blocks[] = {32, 64, 96, 128, 256, 512};
    for (int form = 0; form < TMAP_DRMSD_SLIDES_FORMS; ++form)
        for (int root = 0; root < TMAP_DRMSD_SLIDES_ROOTS; ++root)
            for (int u = 0; u < US; ++u)
                for (int b = 0; b < 6; ++b)
                    if (++number % some == 0) check(p, "sum", form, root, u, blocks[b]);
}

// Two atoms at one place have the distance 0, but not by x rsqrt(x).
static void check_twins(void) {
    const problem p = problem_make(70, 1);
    for (int form = 0; form < TMAP_DRMSD_SLIDES_FORMS; ++form)
        for (int root = 0; root < TMAP_DRMSD_SLIDES_ROOTS; ++root) {
            if (root != TMAP_DRMSD_SLIDES_RSQRT) {
                check(&p, "twins", form, root, 1, 64);
                continue;
            }
            const double got = run(&p, form, root, 1, 64);
            EXPECT(got != got, "x rsqrt(x) of 0 is %.17g", got);
        }
    kit_release(0);
}

int main(void) {
    const tmap_u32 sizes[] = {0,   1,   2,   3,   7,   8,   9,    31,   64,  65,
                              127, 129, 200, 256, 257, 520, 1000, 1030, 4099};
    kit_begin();
    for (unsigned i = 0; i < COUNT(sizes); ++i) {
        problem p;
        if (!kit_full && sizes[i] > 1030) continue;
        p = problem_make(sizes[i], 0);
        check_all(&p, kit_full ? 1 : sizes[i] > 300 ? 17 : kit_small ? 5 : 1);
        kit_release(0);
    }
    check_twins();
    return kit_end("test_drmsd_slides");
}
