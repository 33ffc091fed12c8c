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
//
// bench_ask3 --help lists the options.
#include "../options.h"
#include "../results.h"
#include "ask3_dp.h"
#include "ask_tally.h"

#include <threadmap/papers/ask_sbr.h>

static const char usage[] =
    "usage: bench_ask3 [--n N,N,...] [--g G,...] [--r R,...] [--B B,...] [--threads T,...]\n"
    "                  [--dwell D] [--budget MS] [--bytes N] [--out FILE] [--quick]\n"
    "  --n        sides of the volume (256,512,1024)\n"
    "  --g, --r, --B  subdivisions (4,8,16; 2,4; 4,8)\n"
    "  --threads  of a block of ask_sbr and dp, up to 256 (64,128,256)\n"
    "  --dwell    the most steps of a voxel (256)\n"
    "  --budget   milliseconds of samples of a time (20)\n"
    "  --bytes    memory for the bandwidths\n"
    "  --quick    --n 128,256 --g 4,8 --threads 128 --budget 10, where these are not given\n";

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
    bench_numbers n, g, r, b, threads;
    tmap_u32 dwell;
    double budget_ms;
    bench_ceilings ceilings;
    bench_results results;
    int *out, *truth; // n^3 each
    int *host[2];     // the serial algorithm's: the exhaustive volume, and what it makes of it
    ask_tally *tally; // on the device
    tmap_u64 *lost;   // on the device
    double plain_ms;  // the exhaustive volume of this size
    int done, all;
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
    fprintf(stderr, "%s n=%u (%u,%u,%u): WRONG, %s: %llu\n", variant_names[j->variant],
            j->problem.n, j->a.g, j->a.r, j->a.b, what, count);
    exit(1);
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
    sweep *s = j->s;
    serial want;
    int *copy = (int *)malloc(voxels_of(j) * sizeof *copy);
    tmap_u64 differ = 0;
    if (!copy) wrong(j, "no memory of the host", 1);
    memset(&want, 0, sizeof want);
    want.truth = s->host[0], want.out = s->host[1], want.n = j->problem.n, want.a = j->a;
    want.levels = tmap_region_levels(want.n, j->a.g, j->a.r, j->a.b);
    for (tmap_u32 c = 0; c < j->a.g * j->a.g * j->a.g; ++c) {
        const tmap_u64 part[3] = {c % j->a.g, c / j->a.g % j->a.g, c / j->a.g / j->a.g};
        serial_region(&want, 0, part);
    }
    CHECK(cudaMemcpy(copy, j->problem.out, voxels_of(j) * sizeof *copy, cudaMemcpyDeviceToHost));
    for (tmap_u64 i = 0; i < voxels_of(j); ++i) differ += copy[i] != want.out[i];
    free(copy);
    if (differ) wrong(j, "voxels differ from the serial volume", differ);
    if (got->levels != want.levels || memcmp(got->level, want.level, sizeof want.level))
        wrong(j, "counts of levels", 1);
}

// ---- rows ---------------------------------------------------------------------------------------

// Writes a row of a timed job; the line of the table is the same.
static void job_row(job *j, bench_time t, tmap_u64 differ) {
    sweep *s = j->s;
    char row[640], plan[128] = "";
    const double limit = 1e-9 * 4 * (double)voxels_of(j) / s->ceilings.fill_tbs;
    if (j->variant == EXHAUSTIVE)
        snprintf(plan, sizeof plan, ", \"block\": \"%ux%ux%u\"", shapes[j->shape][0],
                 shapes[j->shape][1], shapes[j->shape][2]);
    else
        snprintf(plan, sizeof plan,
                 ", \"g\": %u, \"r\": %u, \"B\": %u, \"levels\": %u, \"threads\": %u, \"differ\": "
                 "%llu",
                 j->a.g, j->a.r, j->a.b, j->workspace.domain.levels, j->threads, differ);
    snprintf(row, sizeof row,
             "\"work\": \"julia3\", \"variant\": \"%s\", \"domain\": \"julia3\", \"size\": %u, "
             "\"n\": %u, \"dwell\": %u, \"dtype\": \"f32\", \"ms\": %.5f, \"noise_pct\": %.2f, "
             "\"limit_ms\": %.5f, \"limit_pct\": %.1f, \"verified\": true%s",
             variant_names[j->variant], j->problem.n, j->problem.n, s->dwell, t.ms, t.noise_pct,
             limit, 100 * limit / t.ms, plan);
    bench_results_row(&s->results, row);
    printf("| %u | %s | (%u, %u, %u) | %u | %.4f | %.2f | %llu |\n", j->problem.n,
           variant_names[j->variant], j->a.g, j->a.r, j->a.b, j->threads, t.ms, s->plain_ms / t.ms,
           differ);
    fflush(stdout);
}

// The tables of a subdivision: entries that equation 27 has for a level, G_i r^3; children that
// there are; and regions in the library's table, which are those that subdivide. Level tau - 1
// writes no table.
static void olt_row(const job *j, const tmap_ask_counts *c) {
    char row[1024], list[4][160] = {"", "", "", ""};
    const tmap_u64 children = (tmap_u64)j->a.r * j->a.r * j->a.r;
    tmap_u64 sum[3] = {0, 0, 0};
    for (tmap_u32 l = 0; l < c->levels; ++l) {
        const tmap_u64 regions = c->level[l].regions + c->level[l].empty;
        const tmap_u64 cut = c->level[l].subdivided;
        const tmap_u64 bytes[3] = {regions * children * ENTRY, cut * children * ENTRY, cut * ENTRY};
        if (strlen(list[0]) + 48 > sizeof list[0]) return;
        sprintf(list[0] + strlen(list[0]), "%s%llu", l ? ", " : "", regions);
        for (int k = 0; k < 3 && l + 1 < c->levels; ++k) {
            sprintf(list[1 + k] + strlen(list[1 + k]), "%s%llu", l ? ", " : "", bytes[k]);
            sum[k] += bytes[k];
        }
    }
    snprintf(
        row, sizeof row,
        "\"work\": \"olt3\", \"variant\": \"ask\", \"domain\": \"julia3\", \"size\": %u, \"n\": "
        "%u, \"dwell\": %u, \"g\": %u, \"r\": %u, \"B\": %u, \"levels\": %u, \"regions\": [%s], "
        "\"equation_bytes\": [%s], \"children_bytes\": [%s], \"table_bytes\": [%s], "
        "\"olt_bytes_equation\": %llu, \"olt_bytes_children\": %llu, \"olt_bytes_here\": %llu, "
        "\"workspace_bytes\": %llu, \"verified\": true",
        j->problem.n, j->problem.n, j->s->dwell, j->a.g, j->a.r, j->a.b, c->levels, list[0],
        list[1], list[2], list[3], sum[0], sum[1], sum[2], j->workspace.memory.bytes);
    bench_results_row(&j->s->results, row);
}

// ---- a size -------------------------------------------------------------------------------------

// The exhaustive volume: the baseline in its best block shape, and the truth of this size.
static void sweep_exhaustive(sweep *s, tmap_u32 n) {
    job j;
    tmap_u64 hash = 0, state = 1, bad = 0;
    memset(&j, 0, sizeof j);
    j.s = s, j.problem = julia3_make(n, s->dwell, s->truth), j.threads = 256;
    s->plain_ms = 0;
    for (j.shape = 0; j.shape < SHAPES; ++j.shape) {
        bench_time t;
        ask_tally tally = job_draw(&j, NULL);
        if (hash && tally.hash != hash) wrong(&j, "not the volume of the others", 1);
        hash = tally.hash;
        t = bench_measure(job_run, &j, s->budget_ms);
        if (s->plain_ms == 0 || t.ms < s->plain_ms) s->plain_ms = t.ms;
        job_row(&j, t, 0);
    }
    for (int i = 0; i < 4000; ++i) {
        tmap_u64 at;
        int value;
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        at = (state >> 11) % voxels_of(&j);
        const tmap_xyz where = {(tmap_u32)(at % n), (tmap_u32)(at / n % n), (tmap_u32)(at / n / n)};
        CHECK(cudaMemcpy(&value, s->truth + at, sizeof value, cudaMemcpyDeviceToHost));
        bad += value != julia3_dwell(&j.problem, where);
    }
    if (bad) wrong(&j, "voxels that are not the host's", bad);
    if (n <= SERIAL_N)
        CHECK(
            cudaMemcpy(s->host[0], s->truth, voxels_of(&j) * sizeof(int), cudaMemcpyDeviceToHost));
}

static void job_plan(job *j) {
    const tmap_ask_kernels kernels = {(const void *)(j->variant == ASK ? julia3_ask : julia3_sbr),
                                      (const void *)julia3_finish, 0, j->threads, 0};
    CHECK(j->variant == ASK ? tmap_ask_plan_make(&j->workspace, &kernels, &j->plan)
                            : tmap_ask_sbr_plan_make(&j->workspace, &kernels, &j->plan));
}

// One variant of a subdivision: verified against the others' volume, and timed. *c: of the levels,
// if counted; *hash: 0 for the first.
static void sweep_variant(job *j, tmap_u64 *hash, tmap_ask_counts *c) {
    sweep *s = j->s;
    tmap_ask_counts got;
    ask_tally t;
    bench_progress(s->done, s->all, variant_names[j->variant]);
    if (j->variant != DP) job_plan(j);
    t = job_draw(j, s->truth);
    if (j->lost) {
        printf("| %u | dp | (%u, %u, %u) | %u | %llu launches lost: no time |\n", j->problem.n,
               j->a.g, j->a.r, j->a.b, j->threads, j->lost);
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
    job_row(j, bench_measure(job_run, j, s->budget_ms), t.differ);
}

static void sweep_subdivision(sweep *s, tmap_u32 n, tmap_ask_params a) {
    const tmap_ask_box box = {n, n, n};
    tmap_ask_domain domain;
    tmap_ask_counts c;
    tmap_u64 hash = 0, children = 0;
    job j;
    ++s->done;
    if (tmap_ask_domain_make(box, a, &domain) || domain.levels < 2) return;
    memset(&j, 0, sizeof j);
    memset(&c, 0, sizeof c);
    j.s = s, j.a = a, j.problem = julia3_make(n, s->dwell, s->out), j.threads = 256;
    CHECK(tmap_ask_workspace_create(box, a, 0, &j.workspace));
    j.variant = ASK;
    sweep_variant(&j, &hash, &c);
    olt_row(&j, &c);
    for (tmap_u32 l = 0; l < c.levels; ++l) children += c.level[l].subdivided;
    for (j.variant = ASK_SBR; j.variant <= (BENCH_DP ? DP : ASK_SBR); ++j.variant)
        for (int i = 0; i < s->threads.count; ++i) {
            j.threads = s->threads.value[i];
            if (j.variant == DP && children > PENDING) continue; // the most of the paper's scripts
            sweep_variant(&j, &hash, &c);
        }
    CHECK(tmap_ask_workspace_destroy(&j.workspace));
}

// ---- the command line ---------------------------------------------------------------------------

int main(int argc, char **argv) {
    static sweep s;
    const bench_numbers n = {{256, 512, 1024}, 3}, g = {{4, 8, 16}, 3}, r = {{2, 4}, 2};
    const bench_numbers b = {{4, 8}, 2}, threads = {{64, 128, 256}, 3};
    const bench_numbers few_n = {{128, 256}, 2}, few_g = {{4, 8}, 2}, one = {{128}, 1};
    const int quick = bench_quick(&argc, argv, usage);
    const char *out = NULL;
    tmap_u64 bytes = 4ull << 30, most = 0, serial_most = 0;
    size_t pending = PENDING;
    int devices = 0;
    bench_program = "bench_ask3";
    s.n = quick ? few_n : n, s.g = quick ? few_g : g, s.r = r, s.b = b;
    s.threads = quick ? one : threads, s.dwell = 256, s.budget_ms = quick ? 10 : 20;
    for (int i = 1; i < argc; i += 2) {
        const char *option = argv[i], *p = i + 1 < argc ? argv[i + 1] : NULL;
        if (!p) bench_bad(option, p);
        if (!strcmp(option, "--n"))
            s.n = bench_numbers_of(option, p, 4, 2048);
        else if (!strcmp(option, "--g"))
            s.g = bench_numbers_of(option, p, 1, 256);
        else if (!strcmp(option, "--r"))
            s.r = bench_numbers_of(option, p, 2, 64);
        else if (!strcmp(option, "--B"))
            s.b = bench_numbers_of(option, p, 1, 1024);
        else if (!strcmp(option, "--threads"))
            s.threads = bench_numbers_of(option, p, 32, 256);
        else if (!strcmp(option, "--dwell"))
            s.dwell = (tmap_u32)bench_number(option, p, 1, 1u << 30);
        else if (!strcmp(option, "--budget"))
            s.budget_ms = (double)bench_number(option, p, 1, 100000);
        else if (!strcmp(option, "--bytes"))
            bytes = bench_number(option, p, 1 << 16, 1ull << 40);
        else if (!strcmp(option, "--out"))
            out = p;
        else
            bench_bad(option, p);
    }
    for (int i = 0; i < s.threads.count; ++i)
        if (s.threads.value[i] % 32) bench_bad("--threads", "not a multiple of 32");
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    s.ceilings = bench_measure_ceilings((size_t)bytes);
    if (bench_results_open(&s.results, out, "ask3", s.ceilings)) bench_bad("--out", out);
    for (int i = 0; i < s.n.count; ++i) {
        const tmap_u64 side = s.n.value[i], all = side * side * side * sizeof(int);
        if (all > most) most = all;
        if (side <= SERIAL_N && all > serial_most) serial_most = all;
    }
    CHECK(cudaMalloc((void **)&s.out, most));
    CHECK(cudaMalloc((void **)&s.truth, most));
    CHECK(cudaMalloc((void **)&s.tally, sizeof *s.tally));
    CHECK(cudaMalloc((void **)&s.lost, sizeof *s.lost));
    for (int i = 0; i < 2; ++i)
        if (serial_most && !(s.host[i] = (int *)malloc(serial_most))) {
            fprintf(stderr, "out of memory\n");
            return 1;
        }
    while (BENCH_DP && pending > 2048 &&
           cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending) != cudaSuccess) {
        (void)cudaGetLastError();
        pending /= 2;
    }
    s.all = s.n.count * s.g.count * s.r.count * s.b.count;
    puts("| n | approach | (g, r, B) | threads | ms | x exhaustive | differ |\n"
         "| --- | --- | --- | --- | --- | --- | --- |");
    for (int i = 0; i < s.n.count; ++i) {
        sweep_exhaustive(&s, s.n.value[i]);
        for (int k = 0; k < s.g.count; ++k)
            for (int l = 0; l < s.r.count; ++l)
                for (int m = 0; m < s.b.count; ++m) {
                    const tmap_ask_params a = {s.g.value[k], s.r.value[l], s.b.value[m]};
                    sweep_subdivision(&s, s.n.value[i], a);
                }
    }
    for (int i = 0; i < 2; ++i) free(s.host[i]);
    CHECK(cudaFree(s.out));
    CHECK(cudaFree(s.truth));
    CHECK(cudaFree(s.tally));
    CHECK(cudaFree(s.lost));
    if (bench_results_close(&s.results)) bench_bad("--out", out);
    return 0;
}
