// SPDX-License-Identifier: MIT
// test_pairs_frames: tmap_pairs_frames against serial loops: each pair of each frame once and no
// other, with its own points, with what the pair and the frame have of their own, for all cuts of
// small numbers of points into tiles and of frames into groups, and for what the plan maker takes;
// chosen points; what it refuses.
#include "kit.h"

#include <threadmap/triangle/pairs_frames.h>

// Coordinate k of point p in frame f: a number that no other has, exact in a float; the reference
// is frame -1.
TMAP_FN float place(long long f, tmap_u32 p, tmap_u32 k) {
    return (float)((f + 1) * 2048 + p * 4 + k);
}

// What is accumulated: pairs seen, a hash of which ones, and what was wrong with them.
typedef struct seen {
    tmap_u64 hash;
    tmap_u32 pairs, wrong;
} seen;

typedef struct seen_job {
    const float *reference, *frames;
    const tmap_u32 *numbers;
    tmap_u32 points, own;
    tmap_u64 first; // number of frame 0
    void *workspace;
    seen *out, *of_pairs; // frames; those of the pairs themselves as each frame was told
    tmap_u32 *times;      // that a frame was finished
} seen_job;

TMAP_FN tmap_u64 hash_of(tmap_u32 i, tmap_u32 j) {
    tmap_u64 h = ((tmap_u64)i << 32 | j) * 0x9e3779b97f4a7c15ull;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    return h ^ h >> 29;
}

// Whether a pair's points are those of frame f.
static __device__ int right(const seen_job *j, long long f, tmap_pair pair, const float *a,
                            const float *b) {
    const tmap_u32 p = j->numbers ? j->numbers[pair.i] : pair.i;
    const tmap_u32 q = j->numbers ? j->numbers[pair.j] : pair.j;
    int yes = pair.i < pair.j;
    for (tmap_u32 k = 0; k < 3; ++k) yes = yes && a[k] == place(f, p, k) && b[k] == place(f, q, k);
    return yes;
}
static __device__ void see(void *sum, tmap_pair pair, int yes) {
    seen *s = (seen *)sum;
    s->hash += hash_of(pair.i, pair.j), ++s->pairs, s->wrong += !yes;
}
static __device__ void of_pair(void *job, void *sum, tmap_pair pair, const float *a, const float *b,
                               float *own) {
    const seen_job *j = (const seen_job *)job;
    see(sum, pair, right(j, -1, pair, a, b));
    for (tmap_u32 k = 0; k < j->own; ++k)
        own[k] = (float)(pair.i * 512 + pair.j) + (float)k * 0.25f;
}
static __device__ void of_frame(void *, tmap_u64 frame, float *own) {
    own[0] = (float)frame, own[TMAP_PAIRS_FRAMES_FRAME_MAX - 1] = (float)(2 * frame);
}
static __device__ void add(void *job, void *sum, tmap_pair pair, const float *a, const float *b,
                           const float *own, const float *frame) {
    const seen_job *j = (const seen_job *)job;
    int yes = frame[TMAP_PAIRS_FRAMES_FRAME_MAX - 1] == 2 * frame[0];
    yes = yes && right(j, (long long)frame[0], pair, a, b);
    for (tmap_u32 k = 0; k < j->own; ++k)
        yes = yes && own[k] == (float)(pair.i * 512 + pair.j) + (float)k * 0.25f;
    see(sum, pair, yes);
}
// Without anything of the frame's own it is told from the first coordinate.
static __device__ void add_alone(void *job, void *sum, tmap_pair pair, const float *a,
                                 const float *b, const float *, const float *) {
    const long long f = (long long)(a[0] / 2048) - 1;
    see(sum, pair, right((const seen_job *)job, f, pair, a, b));
}
static __device__ void join(void *, void *sum, const void *other) {
    seen *s = (seen *)sum;
    const seen *o = (const seen *)other;
    s->hash += o->hash, s->pairs += o->pairs, s->wrong += o->wrong;
}
static __device__ void finish(void *job, tmap_u64 frame, const void *sum, const void *pairs) {
    const seen_job *j = (const seen_job *)job;
    j->out[frame] = *(const seen *)sum, j->of_pairs[frame] = *(const seen *)pairs;
    atomicAdd(&j->times[frame], 1u);
}

static __device__ void look(const tmap_pairs_frames_plan *plan, seen_job *j,
                            tmap_pairs_frames_calls calls) {
    const tmap_pairs_frames_points points = {j->reference, j->frames, j->points, j->numbers};
    const seen zero = {0, 0, 0};
    const tmap_fold fold = {&zero, sizeof zero, join};
    tmap_pairs_frames(plan, points, calls, fold, j->workspace, j);
}
#define LOOK(own_, sums) \
    static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS) \
        look_##own_(tmap_pairs_frames_plan plan, seen_job j) { \
        const tmap_pairs_frames_calls calls = {own_, of_pair, sums, of_frame, add, finish}; \
        j.own = own_; \
        look(&plan, &j, calls); \
    }
LOOK(1, 1)
LOOK(2, 1)
LOOK(4, 0)
static __global__ void __launch_bounds__(TMAP_PAIRS_FRAMES_THREADS)
    look_0(tmap_pairs_frames_plan plan, seen_job j) {
    const tmap_pairs_frames_calls calls = {0, 0, 0, 0, add_alone, finish};
    look(&plan, &j, calls);
}
static const void *const kernel_of[] = {(const void *)look_0, (const void *)look_1,
                                        (const void *)look_2, 0, (const void *)look_4};

// side, group: a cut; 0: what the plan maker takes. numbers: every second point counts, backwards.
static void run(tmap_u32 n, tmap_u32 frames, tmap_u32 own, tmap_u32 side, tmap_u32 group,
                int numbers) {
    if (!check_turn()) return;
    const tmap_u32 points = numbers ? 2 * n + 1 : n;
    const tmap_u64 floats = (tmap_u64)frames * points * 3;
    float *host = (float *)kit_host(floats * 4 + 4),
          *reference = (float *)kit_host(points * 12 + 4);
    tmap_u32 *chosen = (tmap_u32 *)kit_host(n * 4 + 4), bad = 0;
    seen want = {0, 0, 0};
    tmap_pairs_frames_plan plan;
    seen_job j;
    for (tmap_u64 x = 0; x < floats; ++x)
        host[x] = place((long long)(x / 3 / points), x / 3 % points, x % 3);
    for (tmap_u32 x = 0; x < 3 * points; ++x) reference[x] = place(-1, x / 3, x % 3);
    for (tmap_u32 k = 0; k < n; ++k) chosen[k] = 2 * (n - k);
    for (tmap_u32 b = 1; b < n; ++b)
        for (tmap_u32 a = 0; a < b; ++a) want.hash += hash_of(a, b), ++want.pairs;
    memset(&j, 0, sizeof j);
    j.frames = (const float *)kit_to_device(host, floats * 4);
    if (own) j.reference = (const float *)kit_to_device(reference, points * 12);
    if (numbers) j.numbers = (const tmap_u32 *)kit_to_device(chosen, n * 4);
    j.points = points, j.own = own;
    CHECK(tmap_pairs_frames_plan_make(n, frames, own, sizeof(seen), kernel_of[own], &plan));
    kit_case("n = %u, %u frames, own %u, side %u, group %u%s", n, frames, own, side, group,
             numbers ? ", chosen" : "");
    expect(!side || tmapi_frames_choose(&plan, side, group), "a cut that fits");
    j.workspace = kit_filled(tmap_pairs_frames_bytes(&plan) + 16, 0xa5);
    CHECK(cudaMemset(j.workspace, 0, tmap_pairs_frames_clear(&plan)));
    for (tmap_u32 launch = 0; launch < 2; ++launch) { // counters are left as they were
        j.out = (seen *)kit_filled(frames * sizeof(seen), 0xa5);
        j.of_pairs = (seen *)kit_filled(frames * sizeof(seen), 0xa5);
        j.times = (tmap_u32 *)kit_filled(frames * 4, 0);
        CHECK(tmap_pairs_frames_launch(&plan, &j, 0));
        const seen *out = (const seen *)kit_to_host(j.out, frames * sizeof *out);
        const seen *pairs = (const seen *)kit_to_host(j.of_pairs, frames * sizeof *out);
        const tmap_u32 *times = (const tmap_u32 *)kit_to_host(j.times, frames * 4);
        const seen none = {0, 0, 0}, *of_pairs = own == 1 || own == 2 ? &want : &none;
        for (tmap_u32 f = 0; f < frames; ++f) {
            bad += times[f] != 1 || memcmp(&out[f], &want, sizeof want) != 0;
            bad += memcmp(&pairs[f], of_pairs, sizeof want) != 0;
        }
        if (plan.splits == 1) break;
    }
    EXPECT(!bad, "%u splits: %u frames", plan.splits, bad);
    kit_release(0);
}

static void refusals(void) {
    const void *kernel = (const void *)look_1;
    tmap_pairs_frames_plan plan, before;
    seen_job j;
    memset(&plan, 0xa5, sizeof plan), before = plan;
    kit_case("%s", "refusals");
    REFUSED(tmap_pairs_frames_plan_make(8, 8, 1, 16, kernel, 0));
    REFUSED(tmap_pairs_frames_plan_make(8, 8, 1, 16, 0, &plan));
    REFUSED(tmap_pairs_frames_plan_make(8, 8, 5, 16, kernel, &plan)); // others: pairs_plans.c
    expect(!memcmp(&plan, &before, sizeof plan), "a plan written on failure");
    memset(&j, 0, sizeof j);
    CHECK(tmap_pairs_frames_plan_make(8, 0, 1, sizeof(seen), kernel, &plan));
    CHECK(tmap_pairs_frames_launch(&plan, &j, 0)); // no frame, nothing happens
    REFUSED(tmap_pairs_frames_launch(&plan, 0, 0));
    REFUSED(tmap_pairs_frames_launch(0, &j, 0));
    // A plan that its maker has not made. That tmap_pairs_launch refuses this kind: test_pairs.
    CHECK(tmap_pairs_frames_plan_make(8, 8, 1, sizeof(seen), kernel, &plan));
    plan.kind = TMAP_PAIRS_KIND_EACH;
    REFUSED(tmap_pairs_frames_launch(&plan, &j, 0));
    memset(&plan, 0, sizeof plan);
    REFUSED(tmap_pairs_frames_launch(&plan, &j, 0));
#ifndef TMAP_CHECK // the kernel would end the program: test_check.cu
    look_0<<<1, TMAP_PAIRS_FRAMES_THREADS>>>(plan, j); // by a plan of zeros nothing happens
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
#endif
    // Plans of large numbers are made, and their workspace stays small.
    for (tmap_u32 n = 200; n <= 1u << 17; n *= 3)
        for (tmap_u64 frames = 1; frames <= 1ull << 31; frames *= 64) {
            const cudaError_t error = tmap_pairs_frames_plan_make(n, frames, 2, 16, kernel, &plan);
            const tmap_u64 items = plan.ranges * plan.splits;
            kit_case("n = %u, %llu frames", n, frames);
            expect(!error && items == plan.grid && items && items < 0x80000000ull &&
                       plan.ranges * plan.range >= frames &&
                       (plan.ranges - 1) * plan.range < frames && plan.splits <= plan.tiles &&
                       (plan.bands > 1 || plan.splits == 1) &&
                       (tmap_u64)plan.bands * plan.side >= n,
                   "a large plan");
            expect(tmap_pairs_frames_bytes(&plan) <=
                       (64ull << 20) + frames * 32 * (plan.splits > 1),
                   "a large workspace");
        }
}

static void run_device(const char *) {
    for (tmap_u32 own = 0; own <= 4; own += own ? own : 1) run(70, 20, own, 0, 0, 0);
}

int main(void) {
    const tmap_u32 some[] = {1, 32, 8, 31, 33, 70};
    kit_begin();
    refusals();
    for (tmap_u32 n = 0; n <= (kit_small ? 20 : 34); ++n)
        for (tmap_u32 s = 8; s == 8 || s < n + 8; s += 8)
            run(n, some[n % 6], n % 3, s, 8u << (n + s / 8) % 3, n % 5 == 4);
    for (tmap_u32 k = 0; k < 6; ++k)
        for (tmap_u32 own = 0; own <= 4; own += own ? own : 1) {
            run(40 + 7 * k, some[k], own, 0, 0, (int)(own == 2));
            if (!kit_small) run(61 + k, some[5 - k], own, 24, 8u << k % 3, (int)(own == 1));
        }
    run(3, 1000, 1, 0, 0, 0);
    run(kit_small ? 66 : 200, 33, 1, 0, 0, 0);
    on_all_devices(run_device);
    return kit_end("test_pairs_frames");
}
