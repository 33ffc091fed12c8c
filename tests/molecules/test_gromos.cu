// SPDX-License-Identifier: MIT
// test_gromos: tmap_gromos, tmap_gromos_bits and tmap_gromos_of_bits against the definition, a
// serial loop that takes one cluster after the other: distances of eleven kinds with many ties,
// NaN, infinities and numbers below the normal ones among them, with and without flushing the
// latter to 0; cut-offs from none to all, every n up to 40 and some larger ones; the same results
// again; nothing written beyond them; matrices that are not symmetric; bad arguments, an error that
// an earlier call has left, and the facts of other devices.
#include <threadmap/molecules/gromos.h>
#include <threadmap/molecules/linkage.h>

#include "molecules/cluster_check.h"

static tmap_cluster_plan plan_of(tmap_u64 n) {
    tmap_cluster_plan plan;
    CHECK(tmap_gromos_plan_make(n, &plan));
    return plan;
}

// Words of a row of the bits, by the definition.
static tmap_u64 words_of(tmap_u64 n) { return (n + 255) / 256 * 8; }

// ---- the definition -----------------------------------------------------------------------------

typedef struct clustering {
    tmap_u32 *labels, *centres, *sizes;
    tmap_u64 clusters;
} clustering;

// The bit matrix of distances.
static tmap_u32 *define_bits(const float *d, tmap_u32 n, float cutoff) {
    const tmap_u64 words = words_of(n);
    tmap_u32 *bits = (tmap_u32 *)kit_zeroed((n * words + 1) * 4);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j)
            if (i == j || cluster_at(d, n, i, j) <= cutoff)
                bits[i * words + j / 32] |= 1u << j % 32;
    return bits;
}

static int are_near(const tmap_u32 *bits, tmap_u32 n, tmap_u32 i, tmap_u32 j) {
    return bits[i * words_of(n) + j / 32] >> j % 32 & 1;
}

static clustering define(const tmap_u32 *bits, tmap_u32 n) {
    tmap_u32 *counts = (tmap_u32 *)kit_zeroed((n + 1) * 4), left = n;
    clustering c;
    c.labels = (tmap_u32 *)kit_host(n * 4ull), c.centres = (tmap_u32 *)kit_host(n * 4ull);
    c.sizes = (tmap_u32 *)kit_host(n * 4ull), c.clusters = 0;
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
    return c;
}

// ---- one problem --------------------------------------------------------------------------------

static void check_result(const clustering *want, tmap_u32 n, tmap_clusters got) {
    const tmap_u64 used = want->clusters * 4;
    tmap_u64 *count = (tmap_u64 *)cluster_fetch(got.count, 8, 8);
    tmap_u32 *l = (tmap_u32 *)cluster_fetch(got.labels, n * 4ull, n * 4ull);
    tmap_u32 *c = (tmap_u32 *)cluster_fetch(got.centres, n * 4ull, used);
    tmap_u32 *z = (tmap_u32 *)cluster_fetch(got.sizes, n * 4ull, used);
    expect(*count == want->clusters, "number of clusters");
    expect(!memcmp(l, want->labels, n * 4ull), "labels");
    expect(!memcmp(c, want->centres, used), "centres");
    expect(!memcmp(z, want->sizes, used), "sizes");
}

static void run(int kind, tmap_u32 n, float cutoff, tmap_u32 skew) {
    const tmap_cluster_plan plan = plan_of(n);
    const tmap_u64 bytes = plan.workspace, of_bits = bytes - plan.bits, matrix = plan.bits;
    const float *d = cluster_matrix(kind, n), *distances = cluster_on_device(d, n, skew);
    const tmap_u32 *want_bits = define_bits(d, n, cutoff);
    const clustering want = define(want_bits, n);
    unsigned char *workspace = (unsigned char *)kit_guarded(bytes);
    tmap_u32 *bits = (tmap_u32 *)kit_guarded(matrix), *host;
    kit_case("kind %d, n = %u, cut-off %g, skew %u", kind, n, (double)cutoff, skew);
    for (int again = 0; again < 2; ++again) {
        const tmap_clusters to = clusters_alloc(n);
        kit_flush(again);
        earlier_error();
        if (again) { // by two steps
            CHECK(tmap_gromos_bits(&plan, distances, cutoff, bits, 0));
            CHECK(tmap_gromos_of_bits(&plan, bits, workspace, to, 0));
        } else {
            CHECK(tmap_gromos(&plan, distances, cutoff, workspace, to, 0));
        }
        expect(earlier_error_is_there(), "an earlier error");
        kit_flush(0);
        check_result(&want, n, to);
        host = (tmap_u32 *)cluster_fetch(again ? (void *)bits : workspace, again ? matrix : bytes,
                                         again ? matrix : bytes);
        expect(!memcmp(host, want_bits, matrix), "bits");
        if (again) continue;
        CHECK(cudaMemset(workspace, 0xc3, of_bits)); // whatever is in it
        CHECK(cudaMemset(workspace + of_bits, KIT_POISON, bytes - of_bits));
    }
    (void)cluster_fetch(workspace, bytes, of_bits); // of the second run
    kit_release(0);
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
    const tmap_cluster_plan plan = plan_of(100), of_0 = plan_of(0);
    const tmap_u64 bytes = plan.workspace;
    tmap_cluster_plan tree, same;
    float *d = (float *)kit_guarded(4950 * 4);
    unsigned char *out = (unsigned char *)kit_guarded(3 * 512 + 8 + bytes);
    tmap_u32 *a = (tmap_u32 *)out, *b = a + 128, *c = b + 128;
    tmap_u64 *count = (tmap_u64 *)(c + 128);
    unsigned char *w = out + 1536 + 64;
    const float *at_2 = (float *)((char *)d + 2);
    const tmap_clusters to = {a, b, c, count};
    const tmap_clusters no_labels = {0, b, c, count}, no_centres = {a, 0, c, count};
    const tmap_clusters no_sizes = {a, b, 0, count}, no_count = {a, b, c, 0};
    const tmap_clusters at_4 = {a, b, c, (tmap_u64 *)(c + 1)};
    kit_case("%s", "bad arguments");
    REFUSED(tmap_gromos_plan_make(9, 0));
    memset(&tree, 0x5a, sizeof tree), same = tree;
    RETURNS(tmap_gromos_plan_make(TMAP_GROMOS_MAX + 1ull, &tree), cudaErrorInvalidConfiguration);
    expect(!memcmp(&tree, &same, sizeof tree), "a refusal wrote a plan");
    CHECK(tmap_gromos_plan_make(TMAP_GROMOS_MAX, &tree));
    CHECK(tmap_linkage_plan_make(100, &tree));
    REFUSED(tmap_gromos(0, d, 1, w, to, 0));
    REFUSED(tmap_gromos(&tree, d, 1, w, to, 0));
    REFUSED(tmap_gromos(&plan, 0, 1, w, to, 0));
    REFUSED(tmap_gromos(&plan, at_2, 1, w, to, 0));
    REFUSED(tmap_gromos(&plan, d, 1, w, no_labels, 0));
    REFUSED(tmap_gromos(&plan, d, 1, w, no_centres, 0));
    REFUSED(tmap_gromos(&plan, d, 1, w, no_sizes, 0));
    REFUSED(tmap_gromos(&plan, d, 1, w, no_count, 0));
    REFUSED(tmap_gromos(&of_0, d, 1, w, no_count, 0));
    REFUSED(tmap_gromos(&plan, d, 1, w, at_4, 0));
    REFUSED(tmap_gromos(&plan, d, 1, 0, to, 0));
    REFUSED(tmap_gromos(&plan, d, 1, w + 8, to, 0));
    REFUSED(tmap_gromos_bits(0, d, 1, a, 0));
    REFUSED(tmap_gromos_bits(&tree, d, 1, a, 0));
    REFUSED(tmap_gromos_bits(&plan, d, 1, 0, 0));
    REFUSED(tmap_gromos_bits(&plan, d, 1, a + 1, 0));
    REFUSED(tmap_gromos_of_bits(0, a, w, to, 0));
    REFUSED(tmap_gromos_of_bits(&tree, a, w, to, 0));
    REFUSED(tmap_gromos_of_bits(&plan, 0, w, to, 0));
    REFUSED(tmap_gromos_of_bits(&plan, a, w + 4, to, 0));
    REFUSED(tmap_gromos_of_bits(&plan, a + 1, w, to, 0));
    RETURNS(tmap_gromos_bits(&of_0, 0, 1, 0, 0), cudaSuccess);
    expect(kit_device_all(out, 1544 + bytes, KIT_POISON), "a refused call wrote");
    kit_release(0);
}

// A row is read in parts of 4096 frames: some parts of a sparse matrix that is made here.
static void run_long(tmap_u32 n) {
    const tmap_u64 words = words_of(n);
    tmap_u32 *host = (tmap_u32 *)kit_zeroed((n * words) * 4), *bits;
    const tmap_clusters to = clusters_alloc(n);
    clustering want;
    const tmap_cluster_plan plan = plan_of(n);
    void *workspace = kit_guarded(plan.workspace - plan.bits);
    for (tmap_u32 i = 0; i < n; ++i)
        for (tmap_u32 k = 0; k < 3; ++k) {
            const tmap_u32 j = k ? (tmap_u32)(check_hash(i / k, k) % n) : i;
            host[i * words + j / 32] |= 1u << j % 32, host[j * words + i / 32] |= 1u << i % 32;
        }
    want = define(host, n);
    kit_case("a long row, n = %u", n);
    bits = (tmap_u32 *)kit_to_device(host, n * words * 4);
    CHECK(tmap_gromos_of_bits(&plan, bits, workspace, to, 0));
    check_result(&want, n, to);
    kit_release(0);
}

// Another matrix than a symmetric one with a full diagonal ends as well, with numbers below n.
// star: all frames are near to frame 0, which is near to frame 1 alone; else at random.
static void run_lopsided(tmap_u32 n, int star) {
    const tmap_u64 words = words_of(n);
    tmap_u32 *host = (tmap_u32 *)kit_zeroed((n * words) * 4), *bits, *rest;
    tmap_clusters to;
    tmap_u64 wrong = 0;
    const tmap_cluster_plan plan = plan_of(n);
    void *workspace = kit_guarded(plan.workspace - plan.bits);
    for (tmap_u64 i = 0; i < n; ++i)
        for (tmap_u32 j = 0; j < n; ++j)
            if (star ? j == 0 || i + j == 1 : check_hash(i, j) % 3 == 0)
                host[i * words + j / 32] |= 1u << j % 32;
    bits = (tmap_u32 *)kit_to_device(host, n * words * 4);
    to.labels = (tmap_u32 *)kit_guarded(3 * n * 4), to.centres = to.labels + n;
    to.sizes = to.centres + n, to.count = (tmap_u64 *)kit_guarded(8);
    CHECK(tmap_gromos_of_bits(&plan, bits, workspace, to, 0));
    rest = (tmap_u32 *)cluster_fetch(to.labels, 3 * n * 4, 3 * n * 4);
    for (tmap_u32 i = 0; i < n; ++i) wrong += rest[i] >= n;
    kit_case("n = %u", n);
    expect(!wrong, star ? "a star of one direction" : "lopsided");
    kit_release(0);
}

static void run_device(const char *) {
    cluster_check_plans((const void *)tmapi_gromos_clusters);
    run(CLUSTER_PLANE, 600, 0.15f, 1);
    run(CLUSTER_INTEGERS, 257, 1, 0);
}

// The examples of the comments.
static void check_examples(void) {
    kit_case("%s", "of the comments");
    const tmap_cluster_plan plan = plan_of(32768);
    expect(plan_of(1000).words == 32 && plan.words == 1024, "words of a row");
    expect(plan.bits == 134217728, "bytes of bits");
    expect(plan.workspace == 135536704, "bytes of a workspace");
}

int main(void) {
    const tmap_u32 some[] = {63, 64, 65, 255, 256, 257, 300, 513, 600};
    const tmap_u32 many[] = {1000, 2049, 5003};
    tmap_u32 turn = 0;
    kit_begin();
    kit_small |= !kit_gpu;
    for (tmap_u32 n = 0; n <= 40; ++n)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind)
            for (tmap_u32 k = 0; k < 4; ++k, ++turn)
                if (!kit_small || (turn % 3 == 0 && check_turn()))
                    run(kind, n, cutoff_of(kind, n, k), k);
    for (tmap_u32 i = 0; i < COUNT(some); ++i)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind, ++turn)
            if (!kit_small || (turn % 2 == 0 && check_turn()))
                run(kind, some[i], cutoff_of(kind, some[i], turn), turn % 8);
    for (tmap_u32 i = 0; i < COUNT(many) && !kit_small; ++i)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind, ++turn)
            run(kind, many[i], cutoff_of(kind, many[i], turn), 0);
    run_long(kit_small ? 4403 : 17001);
    on_all_devices(run_device);
    check_examples();
    run_bad();
    for (tmap_u32 n = 1; n < 100; n += 23) run_lopsided(n, 0), run_lopsided(n, 1);
    return kit_end("test_gromos");
}
