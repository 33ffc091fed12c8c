// SPDX-License-Identifier: MIT
// test_drmsd_slides_reads: tmap_drmsd_slides_reads against a count of the atoms that the threads of
// a launch load, for every form and number of atoms of a thread, in blocks of many sizes.
#include "kit.h"

static __device__ unsigned long long loaded;
#define TMAPI_DRMSD_SLIDES_LOADED() atomicAdd(&loaded, 1ull)
#include <threadmap/papers/drmsd_slides.h>

template <int FORM, int U>
static __global__ void __launch_bounds__(TMAP_DRMSD_SLIDES_BLOCK_MAX)
    terms(const float *a, const float *b, tmap_u32 n, double *sum) {
    const tmap_drmsd_slides_how how = {FORM, TMAP_DRMSD_SLIDES_APPROX, U};
    tmap_drmsd_slides(how, a, b, n, sum);
}

enum { US = 4 };
static const tmap_u32 atoms_each[US] = {1, 2, 4, 8};
#define OF_FORM(form) \
    { \
        (const void *)terms<form, 1>, (const void *)terms<form, 2>, (const void *)terms<form, 4>, \
            (const void *)terms<form, 8> \
    }
static const void *const kernels[TMAP_DRMSD_SLIDES_FORMS][US] = {OF_FORM(0), OF_FORM(1), OF_FORM(2),
                                                                 OF_FORM(3)};

static void check(const float *a, double *sum, tmap_u32 n, int form, int u, tmap_u32 block) {
    const float *b = a + 3ull * n;
    const tmap_u64 blocks = tmap_drmsd_slides_blocks(form, n, block, atoms_each[u]);
    const tmap_u64 want = tmap_drmsd_slides_reads(form, n, block, atoms_each[u]);
    const tmap_u32 shared = tmap_drmsd_slides_bytes(form, block, atoms_each[u]);
    void *arguments[] = {(void *)&a, (void *)&b, (void *)&n, (void *)&sum};
    unsigned long long count = 0;
    if (shared > 48000) return;
    CHECK(cudaMemcpyToSymbol(loaded, &count, sizeof count));
    CHECK(cudaLaunchKernel(kernels[form][u], dim3(blocks ? (unsigned)blocks : 1), dim3(block),
                           arguments, shared, 0));
    CHECK(cudaMemcpyFromSymbol(&count, loaded, sizeof count));
    EXPECT(24 * count == want, "%s, u = %u, %u threads, n = %u: %llu bytes, not %llu",
           tmap_drmsd_slides_form_name(form), atoms_each[u], block, n, 24 * count, want);
}

int main(void) {
    const tmap_u32 sizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 64, 65, 127, 129, 256, 257, 520, 1000};
    const tmap_u32 blocks[] = {32, 64, 96, 512};
    kit_begin();
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const tmap_u64 bytes = 24ull * sizes[i] + 4;
        float *atoms;
        double *sum;
        CHECK(cudaMalloc((void **)&atoms, bytes));
        CHECK(cudaMalloc((void **)&sum, sizeof *sum));
        CHECK(cudaMemset(atoms, 0, bytes));
        CHECK(cudaMemset(sum, 0, sizeof *sum));
        for (int form = 0; form < TMAP_DRMSD_SLIDES_FORMS; ++form)
            for (int u = 0; u < US; ++u)
                for (int k = 0; k < 4; ++k)
                    if ((!kit_tiny || (i + (unsigned)u + (unsigned)k) % 4 == 0) && check_turn())
                        check(atoms, sum, sizes[i], form, u, blocks[k]);
        CHECK(cudaFree(atoms));
        CHECK(cudaFree(sum));
    }
    return kit_end("drmsd_slides_reads");
}
