// SPDX-License-Identifier: MIT
// bench_ask3: a quaternion Julia set (julia3.h) in n^3 voxels, over sizes and (g, r, B):
//
//     exhaustive  a thread for each voxel, in blocks of several shapes
//     ask         the library: adaptive serial kernels, all warps share the work of a level
//     ask_sbr     a block for each region, the host reads the count of each level (papers/ask_sbr.h)
//     dp          a block for each region, which launches a kernel for its children (ask3_dp.h)
//
// And the bytes of lookup tables (OLT): the entries of equation 27 of Quezada et al., FGCS 145
// (2023), section 7.2, beside those that the library has.
//
// Verified before it is timed: samples of the exhaustive volume against the host's dwells; all
// others against each other in every voxel, and their counts; up to n = 256 against the same rule
// run serially on the host, counts of all levels included. Differences from the exhaustive volume
// are counted.
#include "../driver.h"
#include "ask3_dp.h"
#include "ask_tally.h"

#include <threadmap/papers/ask_sbr.h>

enum { EXHAUSTIVE, ASK, ASK_SBR, DP };
static const char *const variant_names[] = {"exhaustive", "ask", "ask_sbr", "dp"};
enum { SHAPES = 4, SERIAL_N = 256, ENTRY = 8, PENDING = 1 << 17 }; // ENTRY: bytes of a scalar
static const tmap_u32 shapes[SHAPES][3] = {{32, 8, 1}, {32, 4, 2}, {16, 4, 4}, {8, 8, 4}};

// ---- the kernels --------------------------------------------------------------------------------

static __global__ void __launch_bounds__(256) julia3_exhaustive(julia3 p) {
    const tmap_xyz at = {blockIdx.x * blockDim.x + threadIdx.x,
                         blockIdx.y * blockDim.y + threadIdx.y,
                         blockIdx.z * blockDim.z + threadIdx.z};
    if (at.x < p.n && at.y < p.n && at.z < p.n) *julia3_at(&p, at) = julia3_dwell(&p, at);
}

// Three blocks of a multiprocessor: with the registers for four it would spill.
static __global__ void __launch_bounds__(256, 3) julia3_ask(tmap_ask_run run, julia3 job) {
    run.workspace.domain.dims = 3; // a constant
    tmap_ask_query(&run, julia3_query, julia3_terminal, tmap_ask_every_element, julia3_leaf, &job);
}
static __global__ void __launch_bounds__(256) julia3_finish(tmap_ask_run run, julia3 job) {
    run.workspace.domain.dims = 3;
    tmap_ask_finish(&run, julia3_terminal, tmap_ask_every_element, julia3_leaf, &job);
}
static __global__ void __launch_bounds__(256) julia3_sbr(tmap_ask_run run, julia3 job) {
    run.workspace.domain.dims = 3;
    const tmap_ask_pass leaves = {tmap_ask_every_element, julia3_leaf}, none = {0, 0};
    tmap_ask_sbr(&run, julia3_query, julia3_terminal, leaves, none, &job);
}

// ---- a job --------------------------------------------------------------------------------------

typedef struct sweep {
    bench_driver d;
    bench_numbers n, g, r, b, threads;
    tmap_u64 dwell;
    int *out, *truth; // n^3 each
    int *host[2];     // the serial algorithm's: the exhaustive volume, and what it makes of it
    ask_tally *tally; // on the device
    tmap_u64 *lost;   // on the device
} sweep;

typedef struct job {
    sweep *s;
    int variant, shape;
    tmap_u32 threads;
    tmap_ask_params a;
    julia3 problem;
    tmap_ask_workspace workspace;
    tmap_ask_plan plan;
    tmap_u64 lost; // launches of the last drawing
    bench_row row;
} job;

static void job_run(void *context) {
    job *j = (job *)context;
    const tmap_u32 n = j->problem.n, *shape = shapes[j->shape];
    if (j->variant == EXHAUSTIVE) {
        const dim3 block(shape[0], shape[1], shape[2]);
        const dim3 grid((n - 1) / block.x + 1, (n - 1) / block.y + 1, (n - 1) / block.z + 1);
        julia3_exhaustive<<<grid, block>>>(j->problem);
        CHECK(cudaGetLastError());
    } else if (j->variant == ASK) {
        CHECK(tmap_ask_stream(&j->plan, &j->problem, 0));
    } else if (j->variant == ASK_SBR) {
        CHECK(tmap_ask_host(&j->plan, &j->problem, 0));
    } else {
#if BENCH_DP
        const ask3_dp dp = {j->problem, j->workspace.domain, 0, j->s->lost};
        CHECK(ask3_dp_run(&dp, j->threads));
#endif
    }
}

static void wrong(const job *j, const char *what, tmap_u64 count) {
    bench_wrong(&j->row, "%s: %llu", what, count);
}

static tmap_u64 voxels_of(const job *j) {
    return (tmap_u64)j->problem.n * j->problem.n * j->problem.n;
}

// Runs a job once on poisoned memory; ends the run if a voxel was not written, although no launch was
// lost.
static ask_tally job_draw(job *j, const int *truth) {
    ask_tally t;
    CHECK(cudaMemset(j->problem.out, ASK_POISON_BYTE, voxels_of(j) * sizeof(int)));
    CHECK(cudaMemset(j->s->lost, 0, sizeof j->lost));
    job_run(j);
    t = ask_tally_of(j->problem.out, truth, voxels_of(j), j->s->tally);
    CHECK(cudaMemcpy(&j->lost, j->s->lost, sizeof j->lost, cudaMemcpyDeviceToHost));
    if (t.poison && !j->lost) wrong(j, "voxels not written", t.poison);
    return t;
}

// ---- the serial algorithm -----------------------------------------------------------------------

// Writes what the rule makes of the dwells in `truth` to `out`; counts the regions of each level.
typedef struct serial {
    const int *truth;
    int *out;
    tmap_u32 n;
    tmap_ask_params a;
    tmap_u32 levels;
    tmap_ask_level_counts level[TMAP_ASK_LEVELS_MAX];
} serial;

static void serial_region(serial *s, tmap_u32 level, const tmap_u64 part[3]) {
    const tmap_u64 parts = tmap_region_parts(s->a.g, s->a.r, level);
    tmap_ask_level_counts *count = &s->level[level];
    tmap_u32 from[3], to[3];
    int value = -1, same = 1;
    for (int k = 0; k < 3; ++k) {
        from[k] = (tmap_u32)tmap_region_edge(s->n, parts, part[k]);
        to[k] = (tmap_u32)tmap_region_edge(s->n, parts, part[k] + 1);
        if (from[k] == to[k]) {
            ++count->empty;
            return;
        }
    }
    ++count->regions;
    for (tmap_u32 z = from[2]; z < to[2]; ++z)
        for (tmap_u32 y = from[1]; y < to[1]; ++y) {
            const int ends = z > from[2] && z + 1 < to[2] && y > from[1] && y + 1 < to[1];
            const tmap_u32 step = ends && to[0] - from[0] > 1 ? to[0] - from[0] - 1 : 1;
            for (tmap_u32 x = from[0]; x < to[0]; x += step) {
                const int here = s->truth[((size_t)z * s->n + y) * s->n + x];
                if (value < 0) value = here;
                same &= here == value;
            }
        }
    if (!same && level + 1 < s->levels) {
        ++count->subdivided;
        for (tmap_u32 c = 0; c < s->a.r * s->a.r * s->a.r; ++c) {
            const tmap_u64 child[3] = {part[0] * s->a.r + c % s->a.r,
                                       part[1] * s->a.r + c / s->a.r % s->a.r,
                                       part[2] * s->a.r + c / s->a.r / s->a.r};
            serial_region(s, level + 1, child);
        }
        return;
    }
    ++*(same ? &count->filled : &count->leaves);
    for (tmap_u32 z = from[2]; z < to[2]; ++z)
        for (tmap_u32 y = from[1]; y < to[1]; ++y)
            for (tmap_u32 x = from[0]; x < to[0]; ++x) {
                const size_t at = ((size_t)z * s->n + y) * s->n + x;
                s->out[at] = same ? value : s->truth[at];
            }
}

// Compares the volume that a job has just drawn, and what ASK counted, with the serial algorithm.
static void job_verify_serially(job *j, const tmap_ask_counts *got) {
    const int mark = kit_mark();
    sweep *s = j->s;
    serial want;
    const int *got_out = (const int *)kit_to_host(j->problem.out, voxels_of(j) * sizeof(int));
    tmap_u64 differ = 0;
    memset(&want, 0, sizeof want);
    want.truth = s->host[0], want.out = s->host[1], want.n = j->problem.n, want.a = j->a;
    want.levels = tmap_region_levels(want.n, j->a.g, j->a.r, j->a.b);
    for (tmap_u32 c = 0; c < j->a.g * j->a.g * j->a.g; ++c) {
        const tmap_u64 part[3] = {c % j->a.g, c / j->a.g % j->a.g, c / j->a.g / j->a.g};
        serial_region(&want, 0, part);
    }
    for (tmap_u64 i = 0; i < voxels_of(j); ++i) differ += got_out[i] != want.out[i];
    kit_release(mark);
    if (differ) wrong(j, "voxels differ from the serial volume", differ);
    if (got->levels != want.levels || memcmp(got->level, want.level, sizeof want.level))
        wrong(j, "counts of levels", 1);
}

// ---- rows ---------------------------------------------------------------------------------------

// A row of a job's size and subdivision.
static bench_row job_row_of(const job *j, const char *work) {
    bench_row row = bench_row_begin(&j->s->d, work, variant_names[j->variant], "julia3");
    bench_key(&row, "size", "%u", j->problem.n);
    if (j->variant == EXHAUSTIVE) {
        bench_key(&row, "block", "\"%ux%ux%u\"", shapes[j->shape][0], shapes[j->shape][1],
                  shapes[j->shape][2]);
        return row;
    }
    bench_key(&row, "g", "%u", j->a.g);
    bench_key(&row, "r", "%u", j->a.r);
    bench_key(&row, "B", "%u", j->a.b);
    return row;
}

// Begins the row of a volume. Returns 1 if it is wanted.
static int job_wants(job *j) {
    j->row = job_row_of(j, "julia3");
    if (j->variant != EXHAUSTIVE) bench_key(&j->row, "threads", "%u", j->threads);
    return bench_wants(&j->s->d, &j->row);
}

// Times a job that has been verified, and writes its row.
static void job_row(job *j, tmap_u64 differ) {
    bench_row *row = &j->row;
    row->verified = 1;
    row->limit_ms = 1e-9 * 4 * (double)voxels_of(j) / j->s->d.ceilings.fill_tbs;
    bench_time_row(row, job_run, j);
    bench_key(row, "n", "%u", j->problem.n);
    bench_key(row, "dwell", "%llu", j->s->dwell);
    bench_key_text(row, "dtype", "f32");
    if (j->variant != EXHAUSTIVE) {
        bench_key(row, "levels", "%u", j->workspace.domain.levels);
        bench_key(row, "differ", "%llu", differ);
    }
    bench_row_end(&j->s->d, row);
}

// The tables of a subdivision: entries that equation 27 has for a level, G_i r^3; children that
// there are; and regions in the library's table, which are those that subdivide. Level tau - 1
// writes no table.
static void olt_row(const job *j, bench_row *row, const tmap_ask_counts *c) {
    static const char *const keys[] = {"regions", "equation_bytes", "children_bytes",
                                       "table_bytes"};
    static const char *const sums[] = {"olt_bytes_equation", "olt_bytes_children",
                                       "olt_bytes_here"};
    char list[4][160] = {"", "", "", ""};
    const tmap_u64 children = (tmap_u64)j->a.r * j->a.r * j->a.r;
    tmap_u64 sum[3] = {0, 0, 0};
    for (tmap_u32 l = 0; l < c->levels; ++l) {
        const tmap_u64 regions = c->level[l].regions + c->level[l].empty;
        const tmap_u64 cut = c->level[l].subdivided;
        const tmap_u64 bytes[3] = {regions * children * ENTRY, cut * children * ENTRY, cut * ENTRY};
        if (strlen(list[0]) + 48 > sizeof list[0]) return;
        sprintf(list[0] + strlen(list[0]), "%s%llu", l ? "," : "", regions);
        for (int k = 0; k < 3 && l + 1 < c->levels; ++k) {
            sprintf(list[1 + k] + strlen(list[1 + k]), "%s%llu", l ? "," : "", bytes[k]);
            sum[k] += bytes[k];
        }
    }
    bench_key(row, "n", "%u", j->problem.n);
    bench_key(row, "dwell", "%llu", j->s->dwell);
    bench_key(row, "levels", "%u", c->levels);
    for (int k = 0; k < 4; ++k) bench_key(row, keys[k], "[%s]", list[k]);
    for (int k = 0; k < 3; ++k) bench_key(row, sums[k], "%llu", sum[k]);
    bench_key(row, "workspace_bytes", "%llu", j->workspace.memory.bytes);
    row->verified = 1; // as the counts are
    bench_row_end(&j->s->d, row);
}

// ---- a size -------------------------------------------------------------------------------------

// The exhaustive volume: the baseline in its best block shape, and the truth of this size.
static void sweep_exhaustive(sweep *s, tmap_u32 n) {
    static job j;
    tmap_u64 hash = 0, state = 1, bad = 0;
    memset(&j, 0, sizeof j);
    j.s = s, j.problem = julia3_make(n, (tmap_u32)s->dwell, s->truth), j.threads = 256;
    j.row = job_row_of(&j, "julia3");
    if (!s->d.list) hash = job_draw(&j, NULL).hash;
    for (int i = 0; i < 4000 && !s->d.list; ++i) {
        tmap_u64 at;
        int value;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        at = (state >> 11) % voxels_of(&j);
        const tmap_xyz where = {(tmap_u32)(at % n), (tmap_u32)(at / n % n), (tmap_u32)(at / n / n)};
        CHECK(cudaMemcpy(&value, s->truth + at, sizeof value, cudaMemcpyDeviceToHost));
        bad += value != julia3_dwell(&j.problem, where);
    }
    bench_verify(&j.row, bad, "voxels that are not the host's");
    if (n <= SERIAL_N)
        CHECK(
            cudaMemcpy(s->host[0], s->truth, voxels_of(&j) * sizeof(int), cudaMemcpyDeviceToHost));
    for (j.shape = 0; j.shape < SHAPES; ++j.shape) {
        if (!job_wants(&j)) continue;
        if (job_draw(&j, NULL).hash != hash) wrong(&j, "not the volume of the others", 1);
        job_row(&j, 0);
    }
}

static void job_plan(job *j) {
    const tmap_ask_kernels kernels = {(const void *)(j->variant == ASK ? julia3_ask : julia3_sbr),
                                      (const void *)julia3_finish, 0, j->threads, 0};
    CHECK(j->variant == ASK ? tmap_ask_plan_make(&j->workspace, &kernels, &j->plan)
                            : tmap_ask_sbr_plan_make(&j->workspace, &kernels, &j->plan));
}

// One variant of a subdivision, whose row has begun: verified against the others' volume, and timed,
// if that is wanted. *c: of the levels, if counted; *hash: 0 for the first.
static void sweep_variant(job *j, int wanted, tmap_u64 *hash, tmap_ask_counts *c) {
    sweep *s = j->s;
    tmap_ask_counts got;
    ask_tally t;
    if (j->variant != DP) job_plan(j);
    t = job_draw(j, s->truth);
    if (j->lost) {
        bench_left_out(&j->row, "%llu launches lost", j->lost);
        return;
    }
    if (*hash && t.hash != *hash) wrong(j, "not the volume of the others", 1);
    if (t.differ > voxels_of(j) / 1000)
        wrong(j, "voxels differ from the exhaustive volume", t.differ);
    if (j->variant != DP) {
        CHECK(tmap_ask_counts_read(&j->workspace, &got, 0));
        if (!*hash && j->problem.n <= SERIAL_N) job_verify_serially(j, &got);
        if (!*hash) *c = got;
        if (got.levels != c->levels || memcmp(got.level, c->level, sizeof got.level))
            wrong(j, "counts of levels", 1);
    }
    *hash = t.hash;
    if (wanted) job_row(j, t.differ);
}

static void sweep_subdivision(sweep *s, tmap_u32 n, tmap_ask_params a) {
    enum { VARIANTS = BENCH_DP ? 2 : 1 }; // beside ASK, in blocks of several sizes
    static bench_row rows[VARIANTS * BENCH_NUMBERS];
    const tmap_ask_box box = {n, n, n};
    const int all = VARIANTS * s->threads.count;
    int wanted[VARIANTS * BENCH_NUMBERS], first, tables, any;
    tmap_ask_domain domain;
    tmap_ask_counts c;
    tmap_u64 hash = 0, children = 0;
    bench_row ask, olt;
    static job j;
    if (tmap_ask_domain_make(box, a, &domain) || domain.levels < 2) return;
    memset(&j, 0, sizeof j);
    memset(&c, 0, sizeof c);
    j.s = s, j.a = a, j.problem = julia3_make(n, (tmap_u32)s->dwell, s->out), j.threads = 256;
    j.variant = ASK;
    first = job_wants(&j), ask = j.row;
    olt = job_row_of(&j, "olt3"), tables = bench_wants(&s->d, &olt);
    any = first || tables;
    for (int k = 0; k < all; ++k) {
        j.variant = ASK_SBR + k / s->threads.count;
        j.threads = s->threads.value[k % s->threads.count];
        any |= wanted[k] = job_wants(&j);
        rows[k] = j.row;
    }
    if (!any) return;
    CHECK(tmap_ask_workspace_create(box, a, 0, &j.workspace));
    j.variant = ASK, j.threads = 256, j.row = ask;
    sweep_variant(&j, first, &hash, &c);
    if (tables) olt_row(&j, &olt, &c);
    for (tmap_u32 l = 0; l < c.levels; ++l) children += c.level[l].subdivided;
    for (int k = 0; k < all; ++k) {
        j.variant = ASK_SBR + k / s->threads.count;
        j.threads = s->threads.value[k % s->threads.count], j.row = rows[k];
        if (!wanted[k] || (j.variant == DP && children > PENDING)) continue; // as in the scripts
        sweep_variant(&j, 1, &hash, &c);
    }
    CHECK(tmap_ask_workspace_destroy(&j.workspace));
}

// Memory for the largest volume, and as many launches of launches as there may be.
static void sweep_begin(sweep *s) {
    tmap_u64 most = 0, serial_most = 0;
    size_t pending = PENDING;
    for (int i = 0; i < s->n.count; ++i) {
        const tmap_u64 side = s->n.value[i], all = side * side * side * sizeof(int);
        if (all > most) most = all;
        if (side <= SERIAL_N && all > serial_most) serial_most = all;
    }
    s->out = (int *)kit_device(most), s->truth = (int *)kit_device(most);
    s->tally = (ask_tally *)kit_device(sizeof *s->tally);
    s->lost = (tmap_u64 *)kit_device(sizeof *s->lost);
    for (int i = 0; i < 2; ++i) s->host[i] = (int *)kit_host(serial_most);
    while (BENCH_DP && pending > 2048 &&
           cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending) != cudaSuccess) {
        (void)cudaGetLastError();
        pending /= 2;
    }
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--n", "sides of the volume", "256,512,1024", "128,256", BENCH_LIST, &s.n, 4, 2048},
        {"--g", "parts of the volume's side", "4,8,16", "4,8", BENCH_LIST, &s.g, 1, 256},
        {"--r", "parts of a region's side", "2,4", 0, BENCH_LIST, &s.r, 2, 64},
        {"--B", "sides of regions that are not cut", "4,8", 0, BENCH_LIST, &s.b, 1, 1024},
        {"--threads", "of a block of ask_sbr and dp", "64,128,256", "128", BENCH_LIST, &s.threads,
         32, 256},
        {"--dwell", "most steps of a voxel", "256", 0, BENCH_NUMBER, &s.dwell, 1, 1u << 30}};
    s.d.name = "ask3", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "20", s.d.quick_budget = "10";
    bench_begin(&s.d, argc, argv);
    for (int i = 0; i < s.threads.count; ++i)
        if (s.threads.value[i] % 32) bench_bad("--threads", "not a multiple of 32");
    sweep_begin(&s);
    for (int i = 0; i < s.n.count; ++i) {
        sweep_exhaustive(&s, s.n.value[i]);
        for (int k = 0; k < s.g.count; ++k)
            for (int l = 0; l < s.r.count; ++l)
                for (int m = 0; m < s.b.count; ++m) {
                    const tmap_ask_params a = {s.g.value[k], s.r.value[l], s.b.value[m]};
                    sweep_subdivision(&s, s.n.value[i], a);
                }
    }
    return bench_end(&s.d);
}
