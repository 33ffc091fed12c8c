// SPDX-License-Identifier: MIT
// test_gromos: tmap_gromos, tmap_gromos_bits and tmap_gromos_of_bits against the definition, a
// serial loop that takes one cluster after the other: distances of eleven kinds with many ties,
// NaN, infinities and numbers below the normal ones among them, with and without flushing the
// latter to 0; cut-offs from none to all, every n up to 40 and some larger ones; the same results
// again; nothing written beyond them; matrices that are not symmetric; bad arguments, an error that
// an earlier call has left, and the facts of other devices.
#include <threadmap/molecules/gromos.h>

#include "molecules/cluster_check.h"
#include "triangle/devices_check.h"
#include "triangle/earlier_check.h"

// ---- the definition -----------------------------------------------------------------------------

typedef struct clustering {
    tmap_u32 *labels, *centres, *sizes;
    tmap_u64 clusters;
} clustering;

static void clustering_free(clustering *c) { free(c->labels), free(c->centres), free(c->sizes); }

// The bit matrix of distances.
static tmap_u32 *define_bits(const float *d, tmap_u32 n, float cutoff) {
    const tmap_u64 words = tmap_gromos_bits_words(n);
    tmap_u32 *bits = (tmap_u32 *)calloc(n * words + 1, 4);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j)
            if (i == j || cluster_at(d, n, i, j) <= cutoff)
                bits[i * words + j / 32] |= 1u << j % 32;
    return bits;
}

static int are_near(const tmap_u32 *bits, tmap_u32 n, tmap_u32 i, tmap_u32 j) {
    return bits[i * tmap_gromos_bits_words(n) + j / 32] >> j % 32 & 1;
}

static clustering define(const tmap_u32 *bits, tmap_u32 n) {
    tmap_u32 *counts = (tmap_u32 *)calloc(n + 1, 4), left = n;
    clustering c;
    c.labels = (tmap_u32 *)malloc(n * 4ull + 4), c.centres = (tmap_u32 *)malloc(n * 4ull + 4);
    c.sizes = (tmap_u32 *)malloc(n * 4ull + 4), c.clusters = 0;
    for (tmap_u32 i = 0; i < n; ++i) {
        c.labels[i] = ~0u; // it is left
        for (tmap_u32 j = 0; j < n; ++j) counts[i] += (tmap_u32)are_near(bits, n, i, j);
    }
    while (left) {
        const tmap_u32 number = (tmap_u32)c.clusters++;
        tmap_u32 centre = ~0u;
        for (tmap_u32 i = 0; i < n; ++i)
            if (c.labels[i] == ~0u && (centre == ~0u || counts[i] > counts[centre])) centre = i;
        c.centres[number] = centre, c.sizes[number] = 0;
        for (tmap_u32 i = 0; i < n; ++i)
            if (c.labels[i] == ~0u && are_near(bits, n, centre, i))
                c.labels[i] = number, ++c.sizes[number], --left;
        for (tmap_u32 i = 0; i < n; ++i)
            for (tmap_u32 j = 0; c.labels[i] == number && j < n; ++j)
                counts[j] -= (tmap_u32)are_near(bits, n, i, j);
    }
    free(counts);
    return c;
}

// ---- one problem --------------------------------------------------------------------------------

static void check_result(const clustering *want, tmap_u32 n, tmap_clusters got, shape s) {
    const tmap_u64 used = want->clusters * 4;
    tmap_u64 *count = (tmap_u64 *)cluster_fetch(got.count, 8, 8, s);
    tmap_u32 *l = (tmap_u32 *)cluster_fetch(got.labels, n * 4ull, n * 4ull, s);
    tmap_u32 *c = (tmap_u32 *)cluster_fetch(got.centres, n * 4ull, used, s);
    tmap_u32 *z = (tmap_u32 *)cluster_fetch(got.sizes, n * 4ull, used, s);
    expect(*count == want->clusters, "number of clusters", s);
    expect(!memcmp(l, want->labels, n * 4ull), "labels", s);
    expect(!memcmp(c, want->centres, used), "centres", s);
    expect(!memcmp(z, want->sizes, used), "sizes", s);
    free(count), free(l), free(c), free(z);
}

// skew: floats that the matrix begins behind a multiple of 256 bytes. s.rows: the kind.
static void run(int kind, tmap_u32 n, float cutoff, tmap_u32 skew) {
    const tmap_u64 cells = tmap_condensed_cells(n), bytes = tmap_gromos_bytes(n);
    const tmap_u64 of_bits = tmap_gromos_of_bits_bytes(n), matrix = tmap_gromos_bits_bytes(n);
    shape s = shape_of(n);
    float *d = cluster_matrix(kind, n), *distances;
    tmap_u32 *want_bits = define_bits(d, n, cutoff);
    clustering want = define(want_bits, n);
    tmap_u32 *bits, *host;
    unsigned char *workspace;
    s.rows = (tmap_u32)kind;
    CHECK(cudaMalloc((void **)&distances, (cells + skew) * 4 + 4));
    if (cells) CHECK(cudaMemcpy(distances + skew, d, cells * 4, cudaMemcpyHostToDevice));
    workspace = (unsigned char *)cluster_alloc(bytes);
    bits = (tmap_u32 *)cluster_alloc(matrix);
    const tmap_distances all = {distances + skew, n};
    for (int again = 0; again < 2; ++again) {
        const tmap_clusters to = clusters_alloc(n);
        cluster_flush(again);
        earlier_error();
        if (again) { // by two steps
            CHECK(tmap_gromos_bits(all, cutoff, bits, 0));
            CHECK(tmap_gromos_of_bits(bits, n, to, workspace, 0));
        } else {
            CHECK(tmap_gromos(all, cutoff, to, workspace, 0));
        }
        expect(earlier_error_is_there(), "an earlier error", s);
        cluster_flush(0);
        check_result(&want, n, to, s);
        clusters_free(&to);
        host = (tmap_u32 *)cluster_fetch(again ? (void *)bits : workspace, again ? matrix : bytes,
                                         again ? matrix : bytes, s);
        expect(!memcmp(host, want_bits, matrix), "bits", s);
        free(host);
        if (again) continue;
        CHECK(cudaMemset(workspace, 0xc3, of_bits)); // whatever is in it
        CHECK(cudaMemset(workspace + of_bits, 0x55, bytes + 64 - of_bits));
    }
    free(cluster_fetch(workspace, bytes, of_bits, s)); // of the second run
    clustering_free(&want);
    free(d), free(want_bits);
    CHECK(cudaFree(distances));
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(bits));
}

// Cut-offs from one that few pairs are below to one that nearly all are.
static float cutoff_of(int kind, tmap_u32 n, tmap_u32 turn) {
    const float plane[] = {0.3f, 0.05f, 0.15f, 2.0f}, groups[] = {0.03f, 0.01f, 1.02f, 9.0f};
    const float integers[] = {1, 2, 0.5f, 5}, line[] = {1, 3, 7, 40}, odd[] = {1, 0, NAN, -0.5f};
    const float tiny[] = {0, 5e-43f, -3e-45f, 1.17549435e-38f};
    turn %= 4;
    switch (kind) {
    case CLUSTER_PLANE: return plane[turn];
    case CLUSTER_GROUPS: return groups[turn];
    case CLUSTER_LINE: return line[turn];
    case CLUSTER_FALLING: return (float)(2 * n * turn);
    case CLUSTER_EQUAL: return turn % 2 ? 3.0f : 2.99f;
    case CLUSTER_STAR: return turn % 2 ? 1.0f : 4.0f;
    case CLUSTER_BLOCKS: return turn == 3 ? INFINITY : 3 * (float)turn;
    case CLUSTER_INFINITE: return turn % 2 ? INFINITY : 1e30f;
    case CLUSTER_ODD: return odd[turn];
    case CLUSTER_TINY: return tiny[turn];
    default: return integers[turn];
    }
}

// ---- bad arguments ------------------------------------------------------------------------------

// Nothing is launched, and nothing is written.
static void run_bad(void) {
    const shape s = shape_of(100);
    const tmap_u64 bytes = tmap_gromos_bytes(100);
    float *d = (float *)cluster_alloc(4950 * 4);
    unsigned char *out = (unsigned char *)cluster_alloc(3 * 512 + 8 + bytes);
    tmap_u32 *a = (tmap_u32 *)out, *b = a + 128, *c = b + 128;
    tmap_u64 *count = (tmap_u64 *)(c + 128);
    unsigned char *w = out + 1536 + 64;
    const cudaError_t bad = cudaErrorInvalidValue, large = cudaErrorInvalidConfiguration;
    const tmap_distances all = {d, 100}, none = {0, 100}, at_2 = {(float *)((char *)d + 2), 100};
    const tmap_distances of_0 = {d, 0}, nothing = {0, 0}, too_many = {d, TMAP_GROMOS_MAX + 1ull};
    const tmap_clusters to = {a, b, c, count};
    const tmap_clusters no_labels = {0, b, c, count}, no_centres = {a, 0, c, count};
    const tmap_clusters no_sizes = {a, b, 0, count}, no_count = {a, b, c, 0};
    const tmap_clusters at_4 = {a, b, c, (tmap_u64 *)(c + 1)};
    expect(tmap_gromos(none, 1, to, w, 0) == bad, "no distances", s);
    expect(tmap_gromos(at_2, 1, to, w, 0) == bad, "at 2", s);
    expect(tmap_gromos(all, 1, no_labels, w, 0) == bad, "no labels", s);
    expect(tmap_gromos(all, 1, no_centres, w, 0) == bad, "no centres", s);
    expect(tmap_gromos(all, 1, no_sizes, w, 0) == bad, "no sizes", s);
    expect(tmap_gromos(all, 1, no_count, w, 0) == bad, "no clusters", s);
    expect(tmap_gromos(of_0, 1, no_count, w, 0) == bad, "no clusters of none", s);
    expect(tmap_gromos(all, 1, at_4, w, 0) == bad, "clusters at 4", s);
    expect(tmap_gromos(all, 1, to, 0, 0) == bad, "no workspace", s);
    expect(tmap_gromos(all, 1, to, w + 8, 0) == bad, "workspace at 8", s);
    expect(tmap_gromos_bits(all, 1, 0, 0) == bad, "no bits", s);
    expect(tmap_gromos_bits(all, 1, a + 1, 0) == bad, "bits at 4", s);
    expect(tmap_gromos_bits(too_many, 1, a, 0) == large, "too many", s);
    expect(tmap_gromos_of_bits(0, 100, to, w, 0) == bad, "no bits to cluster", s);
    expect(tmap_gromos_of_bits(a, 100, to, w + 4, 0) == bad, "workspace at 4", s);
    expect(tmap_gromos_of_bits(a, TMAP_GROMOS_MAX + 1ull, to, w, 0) == large, "too many to cluster",
           s);
    expect(tmap_gromos_bits(nothing, 1, 0, 0) == cudaSuccess, "bits of none", s);
    free(cluster_fetch(out, 1544 + bytes, 0, s));
    CHECK(cudaFree(d));
    CHECK(cudaFree(out));
}

// A row is read in parts of 4096 frames: some parts of a sparse matrix that is made here.
static void run_long(tmap_u32 n) {
    const shape s = shape_of(n);
    const tmap_u64 words = tmap_gromos_bits_words(n);
    tmap_u32 *host = (tmap_u32 *)calloc(n * words, 4), *bits;
    const tmap_clusters to = clusters_alloc(n);
    clustering want;
    void *workspace = cluster_alloc(tmap_gromos_of_bits_bytes(n));
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 k = 0; k < 3; ++k) {
            const tmap_u32 j = k ? (tmap_u32)(check_hash(i / k, k) % n) : i;
            host[i * words + j / 32] |= 1u << j % 32, host[j * words + i / 32] |= 1u << i % 32;
        }
    want = define(host, n);
    bits = (tmap_u32 *)to_device(host, n * words * 4);
    CHECK(tmap_gromos_of_bits(bits, n, to, workspace, 0));
    check_result(&want, n, to, s);
    clustering_free(&want);
    free(host);
    clusters_free(&to);
    CHECK(cudaFree(bits));
    CHECK(cudaFree(workspace));
}

// Another matrix than a symmetric one with a full diagonal ends as well, with numbers below n.
// star: all frames are near to frame 0, which is near to frame 1 alone; else at random.
static void run_lopsided(tmap_u32 n, int star) {
    const shape s = shape_of(n);
    const tmap_u64 words = tmap_gromos_bits_words(n);
    tmap_u32 *host = (tmap_u32 *)calloc(n * words, 4), *bits, *rest;
    tmap_clusters to;
    tmap_u64 wrong = 0;
    void *workspace = cluster_alloc(tmap_gromos_of_bits_bytes(n));
    for (tmap_u64 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j)
            if (star ? j == 0 || i + j == 1 : check_hash(i, j) % 3 == 0)
                host[i * words + j / 32] |= 1u << j % 32;
    bits = (tmap_u32 *)to_device(host, n * words * 4);
    to.labels = (tmap_u32 *)cluster_alloc(3 * n * 4), to.centres = to.labels + n;
    to.sizes = to.centres + n, to.count = (tmap_u64 *)cluster_alloc(8);
    CHECK(tmap_gromos_of_bits(bits, n, to, workspace, 0));
    rest = (tmap_u32 *)cluster_fetch(to.labels, 3 * n * 4, 3 * n * 4, s);
    for (tmap_u32 i = 0; i < n; ++i) wrong += rest[i] >= n;
    expect(!wrong, star ? "a star of one direction" : "lopsided", s);
    free(host), free(rest);
    CHECK(cudaFree(bits));
    CHECK(cudaFree(to.labels));
    CHECK(cudaFree(to.count));
    CHECK(cudaFree(workspace));
}

static void run_device(const char *) {
    cluster_check_plans((const void *)tmapi_gromos_clusters);
    run(CLUSTER_PLANE, 600, 0.15f, 1);
    run(CLUSTER_INTEGERS, 257, 1, 0);
}

// The examples of the comments.
static void check_examples(void) {
    const shape s = shape_of(0);
    expect(tmap_gromos_bits_words(1000) == 32, "words of 1000", s);
    expect(tmap_gromos_bits_bytes(32768) == 134217728, "bytes of bits", s);
    expect(tmap_gromos_of_bits_bytes(32768) == 1318976, "bytes of a workspace", s);
    expect(tmap_gromos_bytes(32768) == 135536704, "bytes of both", s);
    expect(tmap_gromos_bytes(~0ull) == ~0ull && tmap_gromos_of_bits_bytes(~0ull - 9) == ~0ull,
           "bytes that do not fit", s);
}

int main(void) {
    const tmap_u32 some[] = {63, 64, 65, 255, 256, 257, 300, 513, 600};
    const tmap_u32 many[] = {1000, 2049, 5003};
    const int skip = pairs_begin();
    tmap_u32 turn = 0;
    if (skip) return skip;
    if (strstr(pairs_machine, "CPU")) pairs_small = 1;
    for (tmap_u32 n = 0; n <= 40; ++n)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind)
            for (tmap_u32 k = 0; k < 4; ++k, ++turn)
                if (!pairs_small || (turn % 3 == 0 && check_turn()))
                    run(kind, n, cutoff_of(kind, n, k), k);
    for (tmap_u32 i = 0; i < sizeof some / sizeof *some; ++i)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind, ++turn)
            if (!pairs_small || (turn % 2 == 0 && check_turn()))
                run(kind, some[i], cutoff_of(kind, some[i], turn), turn % 8);
    for (tmap_u32 i = 0; i < sizeof many / sizeof *many && !pairs_small; ++i)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind, ++turn)
            run(kind, many[i], cutoff_of(kind, many[i], turn), 0);
    run_long(pairs_small ? 4403 : 17001);
    on_all_devices(run_device);
    check_examples();
    run_bad();
    for (tmap_u32 n = 1; n < 100; n += 23) run_lopsided(n, 0), run_lopsided(n, 1);
    return pairs_end("test_gromos");
}
