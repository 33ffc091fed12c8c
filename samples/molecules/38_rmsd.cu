// SPDX-License-Identifier: MIT
// 38_rmsd.cu: left and right: the RMSD after superposition of all pairs of frames, which tells a
// molecule from its mirror image, and clusters of frames by it.
//
//     ./rmsd [FILE [ATOMS]]
//
// FILE, ATOMS: as for 19_molecule.cu; without them, it makes frames of a helix that unfolds.
// After the frames come their mirror images. The RMSD of two frames is the root of the mean of
// |R A_i + t - B_i|^2 over the atoms, with the rotation R and the shift t that make it the least.
// A molecule and its mirror image have the same distances inside, so their dRMSD is 0.
// nvcc -O3 -arch=native -I include samples/molecules/38_rmsd.cu -o rmsd
#include "../check.h"
#include "../files/frames_options.h"
#include "../picture.h"

#include <threadmap/molecules/gromos.h>
#include <threadmap/molecules/rmsd.h>

#define CUTOFF 1.5f // Angstrom

enum {
    ATOMS = 60,  // of the helix
    FRAMES = 48, // of the helix: a third in each of its three shapes
    VIEW = 600,  // pixels along a side of the picture
    LISTED = 8   // clusters that are printed at most
};

// The largest eigenvalue of the 4 x 4 key matrix of M. With h added to its diagonal, none is
// negative; the matrix is squared until only the eigenvector of the largest one is left.
static double largest(const double m[3][3], double h) {
    const double x = m[1][2] - m[2][1], y = m[2][0] - m[0][2], z = m[0][1] - m[1][0];
    const double xy = m[0][1] + m[1][0], yz = m[1][2] + m[2][1], zx = m[2][0] + m[0][2];
    const double k[4][4] = {{m[0][0] + m[1][1] + m[2][2], x, y, z},
                            {x, m[0][0] - m[1][1] - m[2][2], xy, zx},
                            {y, xy, m[1][1] - m[0][0] - m[2][2], yz},
                            {z, zx, yz, m[2][2] - m[0][0] - m[1][1]}};
    double p[4][4], value = 0;
    for (int i = 0; i < 16; ++i) p[i / 4][i % 4] = k[i / 4][i % 4] + (i % 5 ? 0 : h);
    for (int turn = 0; turn < 40; ++turn) {
        double q[4][4] = {{0}};
        for (int i = 0; i < 64; ++i) q[i / 16][i % 4] += p[i / 16][i / 4 % 4] * p[i / 4 % 4][i % 4];
        const double trace = q[0][0] + q[1][1] + q[2][2] + q[3][3];
        for (int i = 0; i < 16; ++i) p[i / 4][i % 4] = q[i / 4][i % 4] / trace;
    }
    for (int i = 0; i < 16; ++i) value += p[i / 4][i % 4] * k[i / 4][i % 4];
    return value;
}

// The RMSD of two frames of n atoms.
static double rmsd_of(const float *a, const float *b, tmap_u64 n) {
    double mean[2][3] = {{0}}, m[3][3] = {{0}}, h = 0;
    for (tmap_u64 k = 0; k < 3 * n; ++k) mean[0][k % 3] += a[k] / n, mean[1][k % 3] += b[k] / n;
    for (tmap_u64 i = 0; i < n; ++i)
        for (int r = 0; r < 3; ++r) {
            const double u = a[3 * i + r] - mean[0][r], w = b[3 * i + r] - mean[1][r];
            h += (u * u + w * w) / 2;
            for (int c = 0; c < 3; ++c) m[r][c] += u * (b[3 * i + c] - mean[1][c]);
        }
    return sqrt(fmax(0, 2 * (h - largest(m, h)) / n));
}

static void draw(const float *rmsd, tmap_u64 count, float most) {
    const unsigned side = count > VIEW ? (unsigned)VIEW : (unsigned)count;
    picture p = picture_make(side, side, VIEW / side, "RMSD of frames and mirror images, Angstrom");
    for (unsigned k = 0; k < side * side; ++k) {
        const tmap_u64 a = k / side * count / side, b = k % side * count / side;
        const tmap_u64 at =
            a < b ? tmap_condensed_index(a, b, count) : tmap_condensed_index(b, a, count);
        picture_set(&p, k % side, k / side, canvas_shade(a == b ? 0 : rmsd[at] / most));
    }
    picture_scale(&p, 0, most);
    picture_save(&p, "rmsd");
}

int main(int argc, char **argv) {
    frames f = frames_options_read(argc, argv, ATOMS, FRAMES);
    check_gpu();
    const tmap_u64 floats = 3 * f.n * f.count, count = 2 * f.count; // floats: without the mirror
    float *xyz, *rmsd, *first; // rmsd: of frames a < b at tmap_condensed_index(a, b, count)
    tmap_u32 *labels;          // the cluster of each frame, the centres, the sizes
    tmap_u64 *found;           // number of clusters
    CHECK(cudaMallocManaged((void **)&xyz, 2 * floats * sizeof *xyz));
    CHECK(cudaMallocManaged((void **)&rmsd, 4 * tmap_condensed_cells(count)));
    CHECK(cudaMallocManaged((void **)&first, 4 * count));
    CHECK(cudaMallocManaged((void **)&labels, 3 * 4 * count));
    CHECK(cudaMallocManaged((void **)&found, sizeof *found));
    for (tmap_u64 k = 0; k < floats; ++k) {
        xyz[k] = f.xyz[k];
        xyz[floats + k] = k % 3 ? f.xyz[k] : -f.xyz[k];
    }

    // [snippet: rmsd-and-clusters]
    const tmap_rmsd_shape shape = {(tmap_u32)f.n, count, NULL, NULL, 0}; // all atoms, weights of 1
    const tmap_clusters clusters = {labels, labels + count, labels + 2 * count, found};
    tmap_cluster_plan gromos;
    void *work; // both calls use it, one after the other
    CHECK(tmap_gromos_plan_make(count, &gromos));
    CHECK(cudaMalloc(&work, tmap_rmsd_matrix_bytes(&shape) + gromos.workspace));
    CHECK(tmap_rmsd_matrix(shape, xyz, work, rmsd, 0));
    CHECK(tmap_gromos(&gromos, rmsd, CUTOFF, work, clusters, 0));
    CHECK(tmap_rmsd_frames(shape, xyz, xyz, first, 0)); // of all frames from the first one
    // [/snippet]
    CHECK(cudaDeviceSynchronize());

    printf("%llu frames and their mirror images in %llu clusters; the first two: %.2f Angstrom\n",
           f.count, *found, first[f.count]);
    for (tmap_u64 c = 0; c < *found && c < LISTED; ++c)
        printf("cluster %llu: %u frames around %u\n", c, clusters.sizes[c], clusters.centres[c]);

    const tmap_u64 rows = argc == 1 ? count : 1; // for a file, check one row
    tmap_u64 wrong = argc == 1 && *found != 6;   // three shapes, left and right
    float most = 0;
    for (tmap_u64 a = 0; a < rows; ++a)
        for (tmap_u64 b = a + 1; b < count; ++b) {
            const float want = (float)rmsd_of(xyz + 3 * f.n * a, xyz + 3 * f.n * b, f.n);
            const float got = rmsd[tmap_condensed_index(a, b, count)];
            wrong += !(fabsf(got - want) < 1e-3f * (1 + want)) ||
                     (a == 0 && !(fabsf(first[b] - want) < 1e-3f));
            most = fmaxf(most, want);
        }
    draw(rmsd, count, most);
    frames_free(&f);
    void *const memory[] = {xyz, rmsd, first, labels, found, work};
    for (int k = 0; k < 6; ++k) CHECK(cudaFree(memory[k]));
    return check_result("RMSD of frames, and their clusters", wrong);
}
