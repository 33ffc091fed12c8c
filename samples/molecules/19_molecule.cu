// SPDX-License-Identifier: MIT
// 19_molecule.cu: which frames of a molecule are alike: the dRMSD of all pairs of frames, and
// clusters of frames by the GROMOS algorithm.
//
//     ./molecule [FILE [ATOMS]]
//
// FILE: .pdb, .ent, .xyz, .dcd or .npy; without it, the sample makes frames of a helix that
// unfolds. ATOMS: the atoms that count, as 1-20,25, by their number in the file: those of a
// protein, without the water around it. The dRMSD of frames A and B is the root of the mean of
// (d_ij^A - d_ij^B)^2 over all pairs of atoms i < j, where d_ij is the distance of two atoms. The
// centre of the next cluster is the frame with the most neighbours, dRMSD <= CUTOFF, among the
// frames in no cluster yet.
// nvcc -O3 -arch=native -I include samples/molecules/19_molecule.cu -o molecule
#include "../check.h"
#include "../files/frames_options.h"
#include "../picture.h"

#include <threadmap/molecules/drmsd_matrix.h>
#include <threadmap/molecules/gromos.h>

#define CUTOFF 1.5f // Angstrom

enum {
    ATOMS = 60,  // of the helix
    FRAMES = 96, // of the helix: a third in each of its three shapes
    VIEW = 600,  // pixels along a side of the picture
    LISTED = 8   // clusters that are printed at most
};

static double distance(const float *u, const float *v) {
    return sqrt(pow(u[0] - v[0], 2) + pow(u[1] - v[1], 2) + pow(u[2] - v[2], 2));
}

// The dRMSD of two frames of n atoms, by the definition.
static double drmsd_of(const float *a, const float *b, tmap_u64 n) {
    double sum = 0;
    for (tmap_u64 i = 0; i < n; ++i)
        for (tmap_u64 j = i + 1; j < n; ++j)
            sum += pow(distance(a + 3 * i, a + 3 * j) - distance(b + 3 * i, b + 3 * j), 2);
    return n > 1 ? sqrt(sum / (double)tmap_condensed_cells(n)) : 0;
}

// Counts the wrong values among the dRMSDs of the first `rows` frames with all later ones.
static tmap_u64 check_matrix(const frames *f, const float *drmsd, tmap_u64 rows) {
    tmap_u64 wrong = 0;
    for (tmap_u64 a = 0; a < rows; ++a)
        for (tmap_u64 b = a + 1; b < f->count; ++b) {
            const double want = drmsd_of(f->xyz + 3 * f->n * a, f->xyz + 3 * f->n * b, f->n);
            const float got = drmsd[tmap_condensed_index(a, b, f->count)];
            wrong += !(fabs(got - want) < 1e-5 * (1 + want));
        }
    return wrong;
}

static void draw(const float *drmsd, tmap_u64 count) {
    float most = 0;
    for (tmap_u64 i = 0; i < tmap_condensed_cells(count); ++i) most = fmaxf(most, drmsd[i]);
    most = ceilf(most);

    const unsigned side = count > VIEW ? (unsigned)VIEW : (unsigned)count;
    picture p = picture_make(side, side, VIEW / side, "dRMSD of all pairs of frames, Angstrom");
    for (unsigned y = 0; y < side; ++y)
        for (unsigned x = 0; x < side; ++x) {
            const tmap_u64 a = (x < y ? x : y) * count / side;
            const tmap_u64 b = (x < y ? y : x) * count / side;
            const float d = a == b ? 0 : drmsd[tmap_condensed_index(a, b, count)];
            picture_set(&p, x, y, canvas_shade(d / most));
        }
    picture_scale(&p, 0, most);
    picture_save(&p, "molecule");
}

int main(int argc, char **argv) {
    frames f = frames_options_read(argc, argv, ATOMS, FRAMES);
    check_gpu();
    const tmap_u64 count = f.count;
    const tmap_u64 bytes = 12 * f.n * count;
    float *xyz;
    float *drmsd;     // of frames a < b at tmap_condensed_index(a, b, count)
    tmap_u32 *labels; // the cluster of each frame, the centres, the sizes
    tmap_u64 *found;  // number of clusters
    CHECK(cudaMalloc((void **)&xyz, bytes));
    CHECK(cudaMemcpy(xyz, f.xyz, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMallocManaged((void **)&drmsd, 4 * tmap_condensed_cells(count) + 4));
    CHECK(cudaMallocManaged((void **)&labels, 3 * 4 * count));
    CHECK(cudaMallocManaged((void **)&found, sizeof *found));

    // [snippet: matrix-and-clusters]
    const tmap_drmsd_shape shape = {(tmap_u32)f.n, count, TMAP_DRMSD_EXACT, 0, 0}; // all atoms
    const tmap_drmsd_in in = {xyz, 0, 0};
    const tmap_clusters clusters = {labels, labels + count, labels + 2 * count, found};
    tmap_drmsd_plan pairs;
    tmap_cluster_plan gromos;
    void *work; // both calls use it, one after the other
    CHECK(tmap_drmsd_matrix_plan_make(shape, &pairs));
    CHECK(tmap_gromos_plan_make(count, &gromos));
    CHECK(cudaMalloc(&work, pairs.workspace + gromos.workspace));
    CHECK(tmap_drmsd_matrix(&pairs, in, work, drmsd, 0));
    CHECK(tmap_gromos(&gromos, drmsd, CUTOFF, work, clusters, 0));
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    printf("%llu frames of %llu atoms in %llu clusters\n", count, f.n, *found);
    for (tmap_u64 c = 0; c < *found && c < LISTED; ++c)
        printf("cluster %llu: %u frames around %u\n", c, clusters.sizes[c], clusters.centres[c]);

    const int helix = argc == 1; // its clusters are its shapes; for a file, check one row
    tmap_u64 wrong = check_matrix(&f, drmsd, helix ? count : 1);
    for (tmap_u64 k = 0; helix && k < count; ++k) wrong += labels[k] != k / (FRAMES / 3);
    draw(drmsd, count);
    frames_free(&f);
    CHECK(cudaFree(xyz));
    CHECK(cudaFree(drmsd));
    CHECK(cudaFree(labels));
    CHECK(cudaFree(found));
    CHECK(cudaFree(work));
    return check_result("dRMSD of frames, and their clusters", wrong);
}
