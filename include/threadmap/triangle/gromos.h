// SPDX-License-Identifier: MIT
// gromos.h: clusters of n frames by the greedy algorithm of Daura et al. 1999 (Angewandte Chemie
// International Edition 38, 236), `gmx cluster -method gromos`, from a condensed distance matrix.
//
// The frame with the most neighbours, d(i, j) <= cutoff, of those that are left is the centre of
// the next cluster; it and its neighbours leave; and so on. Of frames with as many neighbours the
// lowest comes first. A frame counts itself, so that one without neighbours is a cluster of its
// own. (gmx cluster takes d < cutoff, and leaves the order of equals to its sort.)
//
// The matrix is read once, and becomes a bit matrix of an eighth of a byte for each of n x n pairs.
// What follows (gromos_rounds.h) finds many clusters at a time, and gives what the serial algorithm
// would.
#ifndef TMAP_TRIANGLE_GROMOS_H
#define TMAP_TRIANGLE_GROMOS_H

#include "gromos_rounds.h"

// Bytes of the workspace of tmap_gromos_of_bits, for n frames; saturates.
// Example: n = 32768: 1318976.
TMAP_FN tmap_u64 tmap_gromos_of_bits_bytes(tmap_u64 n) {
    const tmap_u64 words = tmap_gromos_bits_words(n);
    const tmap_u64 a_word = 32 * (6 * 4 + TMAPI_CLUSTER_KEY_BYTES) + 2 * 4;
    const tmap_u64 bytes = tmap_mul_saturate(words, a_word);
    return bytes > ~0ull - 64 ? ~0ull : bytes + 64;
}

// Bytes of the workspace of tmap_gromos: with the bit matrix in it. Saturates.
// Example: n = 32768: 135536704.
TMAP_FN tmap_u64 tmap_gromos_bytes(tmap_u64 n) {
    const tmap_u64 bits = tmap_gromos_bits_bytes(n), bytes = tmap_gromos_of_bits_bytes(n);
    return bits > ~0ull - bytes ? ~0ull : bits + bytes;
}

#if TMAP_CUDA && !TMAP_NVRTC
#include <cuda_runtime.h>

static __global__ void __launch_bounds__(TMAPI_CLUSTER_THREADS, 1)
    tmapi_gromos_clusters(tmapi_gromos g) {
    __shared__ tmapi_cluster_key chunk[TMAPI_CLUSTER_CHUNK];
    tmapi_gromos_run(&g, chunk);
}

// Clusters n frames whose neighbours are in a bit matrix.
// bits: as tmap_gromos_bits writes it, n rows of tmap_gromos_bits_words(n) words at a multiple of
// 16: symmetric, with a diagonal of 1, and 0 in columns from n on; it is not changed. Of another
// matrix come some numbers below n.
// labels: n numbers, the cluster of each frame; clusters are numbered in the order in which the
// greedy algorithm finds them. centres, sizes: room for n numbers each, of which the first
// *clusters are written: the centre of each cluster, and its number of frames, which falls or
// stays. clusters: how many there are. workspace: tmap_gromos_of_bits_bytes(n) bytes at a multiple
// of 16, which need not be set to anything. All are device memory and do not overlap. Launches that
// run at the same time need workspaces of their own. n: up to TMAP_GROMOS_MAX; n = 0 writes
// *clusters alone.
// Returns cudaErrorInvalidValue for a null or misaligned pointer (labels, centres and sizes of n =
// 0 may be null), cudaErrorInvalidConfiguration for a larger n, else the first error of its own
// calls. The call allocates nothing, does not wait, and can be captured. The launch is a
// cooperative one.
// Results are the same in every run.
// Cost: each row of the bits is read three times, and once more whenever its frame chooses anew.
// Rounds: at most one for each cluster, but many clusters are found in one; a round of few changes
// takes three barriers of the device.
// Example: n = 4, neighbours 0-1, 1-2, 2-3: labels 0, 0, 0, 1; centres 1, 3; sizes 3, 1.
static inline cudaError_t tmap_gromos_of_bits(const tmap_u32 *bits, tmap_u64 n, tmap_u32 *labels,
                                              tmap_u32 *centres, tmap_u32 *sizes,
                                              tmap_u64 *clusters, void *workspace,
                                              cudaStream_t stream) {
    const tmap_u64 words = tmap_gromos_bits_words(n), frames = words * 32;
    unsigned char *at = (unsigned char *)workspace;
    tmapi_gromos g;
    void *arguments[1];
    cudaError_t error;
    if (!clusters || (tmap_u64)clusters % 8) return cudaErrorInvalidValue;
    if (n == 0) return cudaMemsetAsync(clusters, 0, sizeof *clusters, stream);
    if (!bits || !labels || !centres || !sizes || !workspace || (tmap_u64)bits % 16 ||
        (tmap_u64)labels % 4 || (tmap_u64)centres % 4 || (tmap_u64)sizes % 4 ||
        (tmap_u64)workspace % 16)
        return cudaErrorInvalidValue;
    if (n > TMAP_GROMOS_MAX) return cudaErrorInvalidConfiguration;
    g.bits = bits, g.n = (tmap_u32)n, g.words = (tmap_u32)words;
    g.labels = labels, g.centres = centres, g.sizes = sizes, g.clusters = clusters;
    g.control = (tmapi_gromos_control *)at, at += 64;
    g.found = (tmapi_cluster_key *)at, at += frames * sizeof *g.found;
    g.counts = (tmap_u32 *)at;
    g.best = g.counts + frames, g.seen = g.best + frames, g.votes = g.seen + frames;
    g.gone = g.votes + frames, g.ranks = g.gone + frames;
    g.left = g.ranks + frames, g.bounds = g.left + words;
    error = cudaMemsetAsync(g.control, 0, sizeof *g.control, stream);
    if (error) return error;
    arguments[0] = &g;
    return tmapi_cluster_launch((const void *)tmapi_gromos_clusters, n, arguments, stream);
}

// Clusters n frames from their distances: tmap_gromos_bits, and then the above.
// distances: condensed, tmap_condensed_cells(n) floats, at any multiple of 4; of n < 2 it may be
// null. cutoff: of neighbours, d <= cutoff; a NaN, as distance or as cutoff, is none. workspace:
// tmap_gromos_bytes(n) bytes at a multiple of 16. All else as above.
// Cost: each distance is read once.
// Example: n = 3, distances 1, 5, 2, cutoff 1: labels 0, 0, 1; centres 0, 2; sizes 2, 1.
static inline cudaError_t tmap_gromos(const float *distances, tmap_u64 n, float cutoff,
                                      tmap_u32 *labels, tmap_u32 *centres, tmap_u32 *sizes,
                                      tmap_u64 *clusters, void *workspace, cudaStream_t stream) {
    tmap_u32 *bits = (tmap_u32 *)workspace;
    cudaError_t error;
    if (!clusters || (tmap_u64)clusters % 8) return cudaErrorInvalidValue;
    if (n && (!labels || !centres || !sizes || !workspace || (tmap_u64)workspace % 16 ||
              (tmap_u64)labels % 4 || (tmap_u64)centres % 4 || (tmap_u64)sizes % 4))
        return cudaErrorInvalidValue; // before anything is launched
    error = tmap_gromos_bits(distances, n, cutoff, bits, stream);
    if (error) return error;
    return tmap_gromos_of_bits(bits, n, labels, centres, sizes, clusters,
                               (unsigned char *)workspace + tmap_gromos_bits_bytes(n), stream);
}

#endif
#endif
