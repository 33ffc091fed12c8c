// SPDX-License-Identifier: MIT
// 19_molecule.cu: frames of a molecule that are alike: the dRMSD of all against all, which is the
// root of the mean of (d_ij^A - d_ij^B)^2 over all pairs of atoms i < j, and clusters of frames.
// nvcc -O3 -arch=native -I include samples/molecules/19_molecule.cu -o molecule
#include "../files/frames.h" // of ./molecule FILE.pdb, or .xyz, .dcd, .npy
#include "../files/helix.h"  // where no file is named
#include <threadmap/molecules/drmsd_matrix.h>
#include <threadmap/molecules/gromos.h>

#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1

// ---- on the host --------------------------------------------------------------------------------

static double distance(const float *u, const float *v) {
    return sqrt(pow(u[0] - v[0], 2) + pow(u[1] - v[1], 2) + pow(u[2] - v[2], 2));
}

// The dRMSD of two frames of n atoms, by the definition.
static double define(const float *a, const float *b, tmap_u64 n) {
    double sum = 0;
    for (tmap_u64 i = 0; i < n; ++i)
        for (tmap_u64 j = i + 1; j < n; ++j)
            sum += pow(distance(a + 3 * i, a + 3 * j) - distance(b + 3 * i, b + 3 * j), 2);
    return sqrt(sum / (double)tmap_condensed_cells(n));
}

// The matrix as a picture of 48 x 24 letters, which are twice as high as wide.
static void draw(const float *drmsd, tmap_u64 count) {
    for (tmap_u64 row = 0; row < 24; ++row) {
        for (tmap_u64 column = 0; column < 48; ++column) {
            const tmap_u64 y = 2 * row * count / 48, x = column * count / 48;
            const tmap_u64 a = x < y ? x : y, b = x < y ? y : x;
            const float d = a == b ? 0 : drmsd[tmap_condensed_index(a, b, count)];
            putchar(" .:-=+*#%@"[d < 18 ? (int)d / 2 : 9]);
        }
        putchar('\n');
    }
    printf("dRMSD of all frames, a step of ' .:-=+*#%%@' is 2 A\n");
}

// Compares the first frame with all others; prints some of the results.
static int check(const frames *f, const float *drmsd) {
    int wrong = 0;
    printf("from the first one:");
    for (tmap_u64 b = 1; b < f->count; ++b) {
        const float got = drmsd[tmap_condensed_index(0, b, f->count)];
        wrong += !(fabs(define(f->xyz, f->xyz + 3 * f->n * b, f->n) - got) < 1e-5);
        if (b % (f->count / 12 + 1) == 0) printf(" %.2f", got);
    }
    return wrong;
}

// ---- on the GPU ---------------------------------------------------------------------------------

int main(int argc, char **argv) {
    char error[200];
    int devices, wrong;
    frames f;
    if (argc > 1 ? frames_read(argv[1], &f, error, sizeof error)
                 : helix_make(60, 96, &f, error, sizeof error))
        return fprintf(stderr, "%s\n", error), 2;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;

    const tmap_u64 count = f.count, bytes = 12 * f.n * count;
    float *xyz, *drmsd; // drmsd: of frames a < b at tmap_condensed_index(a, b, count)
    tmap_u32 *labels;   // of frames; behind them the centres of clusters, then their sizes
    tmap_u64 *found;
    CHECK(cudaMalloc((void **)&xyz, bytes));
    CHECK(cudaMallocManaged((void **)&drmsd, 4 * tmap_condensed_cells(count) + 4));
    CHECK(cudaMallocManaged((void **)&labels, 3 * 4 * count));
    CHECK(cudaMallocManaged((void **)&found, sizeof *found));
    CHECK(cudaMemcpy(xyz, f.xyz, bytes, cudaMemcpyHostToDevice));

    // [snippet: matrix-and-clusters]
    const tmap_drmsd_matrix_in in = {xyz, 0, 0}; // all atoms, all pairs
    const tmap_distances distances = {drmsd, count};
    const tmap_clusters clusters = {labels, labels + count, labels + 2 * count, found};
    tmap_drmsd_matrix_plan plan;
    void *work; // of one call, then of the other
    CHECK(tmap_drmsd_matrix_plan_make((tmap_u32)f.n, count, 0, TMAP_DRMSD_EXACT, 0, &plan));
    CHECK(cudaMalloc(&work, plan.workspace + tmap_gromos_bytes(count)));
    CHECK(tmap_drmsd_matrix(&plan, in, work, drmsd, 0));
    CHECK(tmap_gromos(distances, 1.5f, clusters, work, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    draw(drmsd, count);
    wrong = check(&f, drmsd);
    for (tmap_u64 c = 0; c < *found; ++c)
        printf("\ncluster %llu: %u frames around %u", c, clusters.sizes[c], clusters.centres[c]);
    printf("\n%llu clusters of %llu frames: %s\n", *found, count, wrong ? "WRONG" : "ok");
    frames_free(&f);
    CHECK(cudaFree(xyz));
    CHECK(cudaFree(drmsd));
    CHECK(cudaFree(labels));
    CHECK(cudaFree(found));
    CHECK(cudaFree(work));
    return wrong != 0;
}
