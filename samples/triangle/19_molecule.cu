// SPDX-License-Identifier: MIT
// 19_molecule.cu: which frames of a molecule are alike: the dRMSD of all against all, and clusters.
// nvcc -O3 -arch=native -I include samples/triangle/19_molecule.cu -o molecule; ./molecule [FILE]
#include "../files/frames.h"
#include <threadmap/triangle/drmsd_matrix.h>
#include <threadmap/triangle/gromos.h>
#define CHECK(call) \
    if ((call) != cudaSuccess) return fprintf(stderr, "failed: %s\n", #call), 1
enum { ATOMS = 60, FRAMES = 96, WIDTH = 48 };
static const float apart = 1.5f; // Angstrom: how far frames of a cluster are from its centre at most
// An ideal helix that unfolds from its end in three steps, with noise. Returns 0.
static int unfold(frames *f) {
    unsigned noise = 1;
    f->n = ATOMS, f->count = FRAMES, f->box = NULL;
    f->xyz = (float *)malloc(FRAMES * ATOMS * 3 * sizeof(float));
    for (int k = 0; f->xyz && k < FRAMES * ATOMS * 3; ++k) {
        const int i = k / 3 % ATOMS, step = k / 3 / ATOMS * 3 / FRAMES, kept = ATOMS - 18 * step;
        const int loose = i < kept ? 0 : i - kept; // of the helix every atom rises by 1.5
        const float angle = (float)(i - loose) * 1.745f, at[3] = {
            2.3f * cosf(angle) + 2.1f * (float)loose, 2.3f * sinf(angle), 1.5f * (float)(i - loose)
        };
        noise = noise * 1664525u + 1013904223u;
        f->xyz[k] = at[k % 3] + (float)(noise >> 8) / 16777216.f - 0.5f;
    }
    return !f->xyz;
}
static double distance(const float *u, const float *v) {
    return sqrt(pow(u[0] - v[0], 2) + pow(u[1] - v[1], 2) + pow(u[2] - v[2], 2));
}
int main(int argc, char **argv) {
    char error[200] = "there is no memory";
    int devices, wrong = 0;
    frames f;
    if (argc > 1 ? frames_read(argv[1], &f, error, sizeof error) : unfold(&f))
        return fprintf(stderr, "%s\n", error), 2;
    if (cudaGetDeviceCount(&devices) || !devices) return puts("SKIP: no NVIDIA GPU here"), 77;
    // [snippet: matrix-and-clusters]
    const tmap_u64 count = f.count, cells = tmap_condensed_cells(count), bytes = count * f.n * 12;
    tmap_drmsd_matrix_plan plan;
    float *xyz, *drmsd;             // on the device; drmsd: for frames a < b at
    void *matrix_work, *gromos_work; // tmap_condensed_index(a, b, count)
    tmap_u64 *clusters;
    tmap_u32 *labels; // of frames; then centres of clusters and their sizes
    CHECK(tmap_drmsd_matrix_plan_make(count, (tmap_u32)f.n, 0, 0, &plan));
    CHECK(cudaMalloc((void **)&xyz, bytes) || cudaMalloc(&matrix_work, plan.workspace));
    CHECK(cudaMallocManaged((void **)&drmsd, 4 * cells + 4));
    CHECK(cudaMallocManaged((void **)&labels, 12 * count));
    CHECK(cudaMallocManaged((void **)&clusters, sizeof *clusters));
    CHECK(cudaMalloc(&gromos_work, tmap_gromos_bytes(count)));
    CHECK(cudaMemcpy(xyz, f.xyz, bytes, cudaMemcpyHostToDevice));
    CHECK(tmap_drmsd_matrix(&plan, xyz, 0, 0, matrix_work, drmsd, 0));
    CHECK(tmap_gromos(drmsd, count, apart, labels, labels + count, labels + 2 * count, clusters,
                      gromos_work, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());
    float most = 0;
    for (tmap_u64 k = 0; k < cells; ++k) most = drmsd[k] > most ? drmsd[k] : most;
#define DRMSD(a, b) ((a) == (b) ? 0 : drmsd[tmap_condensed_index((a) < (b) ? a : b, (a) < (b) ? b : a, count)])
    for (tmap_u64 y = 0; y < WIDTH / 2; ++y, puts(""))
        for (tmap_u64 x = 0; x < WIDTH; ++x)
            putchar(" .:-=+*#%@"[(int)(9.9f * DRMSD(2 * y * count / WIDTH, x * count / WIDTH) / most)]);
    printf("frames by frames, dRMSD from ' ', 0, to '@', %.2f A\nfrom frame 0:", most);
    for (tmap_u64 b = 0; b < count; b += count / 12 + 1) printf(" %.2f", DRMSD(0u, b));
    for (tmap_u64 c = 0; c < *clusters; ++c)
        printf("%scluster %llu: %u frames around frame %u", c ? "\n" : "\n", c, labels[2 * count + c], labels[count + c]);
    for (tmap_u64 b = 1; b < count; ++b) { // the definition, and that clusters are within their reach
        double sum = 0;
        for (tmap_u64 i = 0; i < f.n; ++i)
            for (tmap_u64 j = 0; j < i; ++j)
                sum += pow(distance(f.xyz + 3 * i, f.xyz + 3 * j) - distance(f.xyz + 3 * (b * f.n + i), f.xyz + 3 * (b * f.n + j)), 2);
        wrong += fabs(sqrt(2 * sum / (double)(f.n * (f.n - 1))) - DRMSD(0u, b)) > 1e-5;
        wrong += DRMSD(b, labels[count + labels[b]]) > apart;
    }
    printf("\n%llu clusters of %llu frames: %s\n", *clusters, count, wrong ? "WRONG" : "ok");
    frames_free(&f);
    return cudaFree(xyz) || cudaFree(drmsd) || cudaFree(labels) || cudaFree(clusters) || cudaFree(matrix_work) || cudaFree(gromos_work) || wrong;
}
