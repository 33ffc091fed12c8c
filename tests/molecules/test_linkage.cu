// SPDX-License-Identifier: MIT
// test_linkage: tmap_linkage against Prim's algorithm, a serial loop with the same order of edges:
// distances of eleven kinds with many ties, NaN, infinities and numbers below the normal ones among
// them, with and without flushing the latter to 0; every n up to 40 and some larger ones;
// components below cut-offs against a flood over all pairs; scipy's matrix against clusters that
// are merged one by one; the same results again; nothing written beyond them; bad arguments, an
// error that an earlier call has left, and the facts of other devices.
#include <threadmap/molecules/gromos.h>
#include <threadmap/molecules/linkage.h>

#include "molecules/cluster_check.h"

static tmap_cluster_plan plan_of(tmap_u64 n) {
    tmap_cluster_plan plan;
    CHECK(tmap_linkage_plan_make(n, &plan));
    return plan;
}

// ---- the definition -----------------------------------------------------------------------------

// A distance as it counts: a NaN is infinity, and -0 is 0.
static float distance(const float *d, tmap_u32 n, tmap_u32 i, tmap_u32 j) {
    const float value = cluster_at(d, n, i, j);
    if (value == 0) return 0;
    return value == value ? value : INFINITY;
}

static int edge_below(tmap_linkage_edge a, tmap_linkage_edge b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return a.i != b.i ? a.i < b.i : a.j < b.j;
}
static int edge_compare(const void *a, const void *b) {
    const tmap_linkage_edge *u = (const tmap_linkage_edge *)a, *v = (const tmap_linkage_edge *)b;
    return edge_below(*u, *v) ? -1 : edge_below(*v, *u);
}
static tmap_linkage_edge edge_of(const float *d, tmap_u32 n, tmap_u32 u, tmap_u32 v) {
    tmap_linkage_edge e;
    e.i = u < v ? u : v, e.j = u < v ? v : u, e.distance = distance(d, n, u, v);
    return e;
}

// Prim: the tree grows from vertex 0 by the least edge that leaves it.
static tmap_linkage_edge *define(const float *d, tmap_u32 n) {
    tmap_linkage_edge *tree = (tmap_linkage_edge *)kit_host((n + 1ull) * sizeof *tree);
    tmap_linkage_edge *to = (tmap_linkage_edge *)kit_host((n + 1ull) * sizeof *to);
    unsigned char *in = (unsigned char *)kit_zeroed((n + 1ull) * 1);
    for (tmap_u32 v = 1; v < n; ++v) to[v] = edge_of(d, n, 0, v);
    for (tmap_u32 k = 0; k + 1 < n; ++k) {
        tmap_u32 next = 0;
        for (tmap_u32 v = 1; v < n; ++v)
            if (!in[v] && (!next || edge_below(to[v], to[next]))) next = v;
        in[next] = 1, tree[k] = to[next];
        for (tmap_u32 v = 1; v < n; ++v) {
            tmap_linkage_edge e;
            if (in[v]) continue;
            e = edge_of(d, n, next, v);
            if (edge_below(e, to[v])) to[v] = e;
        }
    }
    if (n > 1) qsort(tree, n - 1, sizeof *tree, edge_compare);
    return tree;
}

// Components of all pairs up to the cut-off, numbered by their lowest vertices.
static tmap_u64 define_labels(const float *d, tmap_u32 n, float cutoff, tmap_u32 *labels) {
    tmap_u32 *queue = (tmap_u32 *)kit_host(n * 4ull + 4), count = 0;
    for (tmap_u32 v = 0; v < n; ++v) labels[v] = ~0u;
    for (tmap_u32 v = 0; v < n; ++v) {
        tmap_u32 begin = 0, end = 0;
        if (labels[v] != ~0u) continue;
        queue[end++] = v, labels[v] = count++;
        while (begin < end) {
            const tmap_u32 at = queue[begin++];
            for (tmap_u32 u = 0; u < n; ++u)
                if (labels[u] == ~0u && distance(d, n, at, u) <= cutoff)
                    labels[u] = labels[at], queue[end++] = u;
        }
    }
    return count;
}

// ---- scipy's matrix -----------------------------------------------------------------------------

// Row by row against the number of the cluster that each vertex is in.
static void check_z(const tmap_linkage_edge *edges, tmap_u32 n) {
    double *z = (double *)kit_host(32ull * n + 32);
    tmap_u32 *scratch = (tmap_u32 *)kit_host(8ull * n + 8);
    tmap_u32 *in = (tmap_u32 *)kit_host(4ull * n + 4);
    tmap_u64 wrong = 0;
    for (tmap_u64 k = 0; k < 4ull * n + 4; ++k) z[k] = -7;
    RETURNS(tmap_linkage_z(edges, n, scratch, z), TMAP_OK);
    for (tmap_u32 v = 0; v < n; ++v) in[v] = v;
    for (tmap_u32 k = 0; k + 1 < n; ++k) {
        const tmap_u32 a = in[edges[k].i], b = in[edges[k].j];
        tmap_u32 size = 0;
        for (tmap_u32 v = 0; v < n; ++v)
            if (in[v] == a || in[v] == b) in[v] = n + k, ++size;
        wrong += z[4 * k] != (a < b ? a : b) || z[4 * k + 1] != (a < b ? b : a);
        wrong += z[4 * k + 2] != (double)edges[k].distance || z[4 * k + 3] != size || a == b;
    }
    for (tmap_u64 k = n ? 4ull * (n - 1) : 0; k < 4ull * n + 4; ++k) wrong += z[k] != -7;
    expect(!wrong, "rows of z");
}

static void check_bad_z(void) {
    const tmap_linkage_edge circle[2] = {{0, 1, 1}, {0, 1, 2}}, far[2] = {{0, 1, 1}, {1, 3, 2}};
    const tmap_linkage_edge tree[2] = {{0, 1, 1}, {1, 2, 2}};
    const double want[8] = {0, 1, 1, 2, 2, 3, 2, 3};
    double z[8] = {-7, -7, -7, -7, -7, -7, -7, -7};
    tmap_u32 scratch[6];
    kit_case("%s", "bad edges");
    RETURNS(tmap_linkage_z(circle, 3, scratch, z), TMAP_EINVAL);
    RETURNS(tmap_linkage_z(far, 3, scratch, z), TMAP_EINVAL);
    RETURNS(tmap_linkage_z(0, 3, scratch, z), TMAP_EINVAL);
    RETURNS(tmap_linkage_z(tree, 3, scratch, 0), TMAP_EINVAL);
    RETURNS(tmap_linkage_z(tree, 3, 0, z), TMAP_EINVAL);
    RETURNS(tmap_linkage_z(tree, 0x80000000u, scratch, z), TMAP_ERANGE);
    for (int k = 0; k < 8; ++k) expect(z[k] == -7, "z of an error");
    RETURNS(tmap_linkage_z(tree, 3, scratch, z), TMAP_OK);
    expect(!memcmp(z, want, sizeof want), "rows of three");
    RETURNS(tmap_linkage_z(0, 1, 0, 0), TMAP_OK);
}

// ---- one problem --------------------------------------------------------------------------------

static void check_labels(const float *d, const tmap_linkage_edge *edges, tmap_u32 n, float cutoff) {
    const tmap_cluster_plan plan = plan_of(n);
    tmap_u32 *want = (tmap_u32 *)kit_host(n * 4ull + 4), *got;
    const tmap_clusters to = {(tmap_u32 *)kit_guarded(n * 4ull), 0, 0, (tmap_u64 *)kit_guarded(8)};
    tmap_u64 *count;
    const tmap_u64 all = define_labels(d, n, cutoff, want);
    void *workspace = kit_guarded(plan.workspace);
    kit_flush(1);
    earlier_error();
    CHECK(tmap_linkage_labels(&plan, edges, cutoff, workspace, to, 0));
    kit_more(", cut-off %g", (double)cutoff);
    expect(earlier_error_is_there(), "an earlier error of labels");
    kit_flush(0);
    got = (tmap_u32 *)cluster_fetch(to.labels, n * 4ull, n * 4ull);
    count = (tmap_u64 *)cluster_fetch(to.count, 8, 8);
    expect(*count == all, "number of components");
    expect(!memcmp(got, want, n * 4ull), "labels");
}

static void run(int kind, tmap_u32 n, tmap_u32 skew) {
    const tmap_cluster_plan plan = plan_of(n);
    const tmap_u64 bytes = plan.workspace, used = n ? (n - 1) * sizeof(tmap_linkage_edge) : 0;
    const float *d = cluster_matrix(kind, n), *distances = cluster_on_device(d, n, skew);
    tmap_linkage_edge *want = define(d, n), *edges, *got = 0;
    unsigned char *workspace = (unsigned char *)kit_guarded(bytes);
    kit_case("kind %d, n = %u, skew %u", kind, n, skew);
    for (int again = 0; again < 2; ++again) {
        tmap_u64 wrong = 0;
        if (again) CHECK(cudaMemset(workspace, 0xc3, bytes)); // whatever is in it
        edges = (tmap_linkage_edge *)kit_guarded(used);
        kit_flush(again);
        earlier_error();
        CHECK(tmap_linkage(&plan, distances, workspace, edges, 0));
        expect(earlier_error_is_there(), "an earlier error");
        kit_flush(0);
        got = (tmap_linkage_edge *)cluster_fetch(edges, used, used);
        for (tmap_u32 k = 0; k + 1 < n; ++k) wrong += memcmp(got + k, want + k, sizeof *got) != 0;
        expect(!wrong, "edges");
    }
    if (n < 2000) {
        const float cutoffs[] = {-INFINITY, n > 2 ? want[n / 2].distance : 0, INFINITY};
        for (int k = 0; k < 3; ++k) {
            if (kit_small && k != 1 && n % 8) continue;
            if (k == 1 && n > 20) {
                check_labels(d, edges, n, want[n / 7].distance);
                check_labels(d, edges, n, want[n - 5].distance);
            }
            check_labels(d, edges, n, cutoffs[k]);
        }
        check_labels(d, edges, n, NAN);
        check_z(got, n);
        for (tmap_u32 k = 0; k + 1 < n; ++k) want[k] = got[n - 2 - k]; // in another order
        if (used) CHECK(cudaMemcpy(edges, want, used, cudaMemcpyHostToDevice));
        if (n > 1) check_labels(d, edges, n, want[n / 3].distance);
    }
    kit_release(0);
}

// ---- bad arguments ------------------------------------------------------------------------------

// Nothing is launched, and nothing is written.
static void run_bad(void) {
    const tmap_cluster_plan plan = plan_of(100), one = plan_of(1);
    const tmap_u64 bytes = plan.workspace;
    tmap_cluster_plan greedy, same;
    float *d = (float *)kit_guarded(4950 * 4);
    unsigned char *out = (unsigned char *)kit_guarded(2048 + 64 + bytes), *w = out + 2048 + 64;
    tmap_linkage_edge *e = (tmap_linkage_edge *)out;
    tmap_u32 *labels = (tmap_u32 *)(out + 1536);
    tmap_u64 *count = (tmap_u64 *)(out + 2048);
    const float *at_2 = (float *)((char *)d + 2);
    const tmap_clusters to = {labels, 0, 0, count}, no_labels = {0, 0, 0, count};
    const tmap_clusters no_count = {labels, 0, 0, 0},
                        at_4 = {labels, 0, 0, (tmap_u64 *)(labels + 1)};
    kit_case("%s", "bad arguments");
    REFUSED(tmap_linkage_plan_make(9, 0));
    memset(&greedy, 0x5a, sizeof greedy), same = greedy;
    RETURNS(tmap_linkage_plan_make(TMAP_LINKAGE_MAX + 1ull, &greedy),
            cudaErrorInvalidConfiguration);
    expect(!memcmp(&greedy, &same, sizeof greedy), "a refusal wrote a plan");
    CHECK(tmap_linkage_plan_make(TMAP_LINKAGE_MAX, &greedy));
    CHECK(tmap_gromos_plan_make(100, &greedy));
    REFUSED(tmap_linkage(0, d, w, e, 0));
    REFUSED(tmap_linkage(&greedy, d, w, e, 0));
    REFUSED(tmap_linkage(&plan, 0, w, e, 0));
    REFUSED(tmap_linkage(&plan, at_2, w, e, 0));
    REFUSED(tmap_linkage(&plan, d, w, 0, 0));
    REFUSED(tmap_linkage(&plan, d, 0, e, 0));
    REFUSED(tmap_linkage(&plan, d, w + 8, e, 0));
    RETURNS(tmap_linkage(&one, 0, 0, 0, 0), cudaSuccess);
    REFUSED(tmap_linkage_labels(0, e, 1, w, to, 0));
    REFUSED(tmap_linkage_labels(&greedy, e, 1, w, to, 0));
    REFUSED(tmap_linkage_labels(&plan, 0, 1, w, to, 0));
    REFUSED(tmap_linkage_labels(&plan, e, 1, w, no_labels, 0));
    REFUSED(tmap_linkage_labels(&plan, e, 1, w, no_count, 0));
    REFUSED(tmap_linkage_labels(&plan, e, 1, w, at_4, 0));
    REFUSED(tmap_linkage_labels(&plan, e, 1, w + 4, to, 0));
    expect(kit_device_all(out, 2048 + 64 + bytes, KIT_POISON), "a refused call wrote");
    kit_release(0);
}

static void run_device(const char *) {
    cluster_check_plans((const void *)tmapi_linkage_tree);
    cluster_check_plans((const void *)tmapi_linkage_components);
    run(CLUSTER_PLANE, 300, 1);
    run(CLUSTER_INTEGERS, 129, 0);
}

// The examples of the comments.
static void check_examples(void) {
    kit_case("%s", "of the comments");
    expect(plan_of(32768).workspace == 1703952, "bytes of a workspace");
}

int main(void) {
    const tmap_u32 some[] = {63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 513, 600};
    const tmap_u32 many[] = {1000, 2049, 5003};
    tmap_u32 turn = 0;
    kit_begin();
    kit_small |= !kit_gpu;
    for (tmap_u32 n = 0; n <= 40; ++n)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind, ++turn)
            if (!kit_small || (check_turn())) run(kind, n, turn % 4);
    for (tmap_u32 i = 0; i < COUNT(some); ++i)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind, ++turn)
            if (!kit_small || (turn % 3 == 0 && check_turn())) run(kind, some[i], turn % 8);
    for (tmap_u32 i = 0; i < COUNT(many) && !kit_small; ++i)
        for (int kind = 0; kind < CLUSTER_KINDS; ++kind) run(kind, many[i], 0);
    on_all_devices(run_device);
    check_examples();
    check_bad_z();
    run_bad();
    return kit_end("test_linkage");
}
