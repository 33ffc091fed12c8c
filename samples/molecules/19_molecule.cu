// SPDX-License-Identifier: MIT
// 19_molecule.cu: frames of a molecule that are alike: the dRMSD of all against all, and clusters.
// nvcc -O3 -arch=native -I include samples/molecules/19_molecule.cu -o molecule
#include "../files/frames.h" // of ./molecule FILE.pdb, or .xyz, .dcd, .npy
#include "../files/helix.h"  // where no file is named
#include <threadmap/molecules/drmsd_matrix.h>
#include <threadmap/molecules/gromos.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
static double between(const float *u, const float *v) {
    return sqrt(pow(u[0] - v[0], 2) + pow(u[1] - v[1], 2) + pow(u[2] - v[2], 2));
}
int main(int argc, char **argv) {
    char error[200];
    int devices, wrong = 0;
    frames f;
    if (argc > 1 ? frames_read(argv[1], &f, error, sizeof error)
                 : helix_make(60, 96, &f, error, sizeof error))
        return fprintf(stderr, "%s\n", error), 2;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    // [snippet: matrix-and-clusters]
    const tmap_u64 n = f.n, count = f.count, bytes = 12 * n * count;
    tmap_drmsd_matrix_plan plan;
    tmap_u64 *clusters;
    tmap_u32 *labels;   // of frames; behind them the centres of clusters, then their sizes
    float *xyz, *drmsd; // drmsd: of frames a < b at tmap_condensed_index(a, b, count)
    void *work;
    CHECK(tmap_drmsd_matrix_plan_make(count, (tmap_u32)n, 0, 0, &plan));
    CHECK(cudaMalloc(&work, plan.workspace + tmap_gromos_bytes(count)));
    CHECK(cudaMalloc((void **)&xyz, bytes) || cudaMallocManaged((void **)&clusters, 8));
    CHECK(cudaMallocManaged((void **)&drmsd, 4 * tmap_condensed_cells(count) + 4));
    CHECK(cudaMallocManaged((void **)&labels, 3 * 4 * count));
    CHECK(cudaMemcpy(xyz, f.xyz, bytes, cudaMemcpyHostToDevice));
    CHECK(tmap_drmsd_matrix(&plan, xyz, 0, 0, work, drmsd, 0));
    CHECK(tmap_gromos(drmsd, count, 1.5f, labels, labels + count, labels + 2 * count, clusters,
                      work, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    for (tmap_u64 k = 0, x, y; k < 48 * 24; ++k) { // every second row: letters are high
        y = k / 48 * 2 * count / 48, x = k % 48 * count / 48;
        const tmap_u64 at = tmap_condensed_index(x < y ? x : y, x < y ? y : x, count);
        const float d = x == y ? 0 : drmsd[at];
        printf("%c%s", " .:-=+*#%@"[d < 18 ? (int)d / 2 : 9], (k + 1) % 48 ? "" : "\n");
    }
    printf("dRMSD of all frames, a step of ' .:-=+*#%%@' is 2 A\nfrom the first one:");
    for (tmap_u64 b = 1; b < count; ++b) {
        double sum = 0; // the definition
        for (const float *u = f.xyz, *v = u + 3 * n * b; u < f.xyz + 3 * n; u += 3, v += 3)
            for (tmap_u64 k = 0; k < 3 * n; k += 3)
                sum += pow(between(u, f.xyz + k) - between(v, f.xyz + 3 * n * b + k), 2);
        wrong += !(fabs(sqrt(sum / (double)(n * (n - 1))) - drmsd[b - 1]) < 1e-5);
        if (b % (count / 12 + 1) == 0) printf(" %.2f", drmsd[b - 1]);
    }
    for (tmap_u64 c = 0; c < *clusters; ++c)
        printf("\ncluster %llu: %u frames around %u", c, labels[2 * count + c], labels[count + c]);
    printf("\n%llu clusters of %llu frames: %s\n", *clusters, count, wrong ? "WRONG" : "ok");
    frames_free(&f);
    return cudaFree(xyz) || cudaFree(clusters) || cudaFree(work) || cudaFree(drmsd) ||
           cudaFree(labels) || wrong;
}
