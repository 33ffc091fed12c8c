// SPDX-License-Identifier: MIT
// test_pairs_plans: the plans of tmap_pairs_*_plan_of are those of tmap_pairs_*_plan_make, member by
// member, on every device that the CPU machine knows.
#include "triangle/pairs_store_check.h"

static __global__ void nothing(tmap_pairs_plan, int) {}
static const void *const kernel = (const void *)nothing;

static int same_plan(const tmap_pairs_plan *a, const tmap_pairs_plan *b) {
#define SAME(member) (a->member == b->member)
    return SAME(n) && SAME(rows) && SAME(others) && SAME(d) && SAME(size) && SAME(sets) &&
           SAME(across) && SAME(kind) && SAME(tiles) && SAME(items) && SAME(first) && SAME(count) &&
           SAME(grid) && SAME(block) && SAME(shared) && SAME(resident) && SAME(side) && SAME(cut) &&
           SAME(cut_most) && SAME(band) && SAME(layout) && SAME(value) && SAME(before) &&
           SAME(pitch) && SAME(step) && SAME(values);
}
static int same_frames_plan(const tmap_pairs_frames_plan *a, const tmap_pairs_frames_plan *b) {
    return SAME(n) && SAME(kind) && SAME(frames) && SAME(own) && SAME(bytes) && SAME(side) &&
           SAME(bands) && SAME(pitch) && SAME(tiles) && SAME(ranges) && SAME(group) &&
           SAME(range) && SAME(splits) && SAME(grid) && SAME(block) && SAME(shared) &&
           SAME(processors) && SAME(resident) && SAME(room) && SAME(room_of_all);
#undef SAME
}

static void run_device(const char *device) {
    static const tmap_u32 points[] = {0, 1, 200, 3000, 6145, 30720, 131072, 4000000};
    tmap_pairs_plan made, of;
    tmap_pairs_frames_plan frames_made, frames_of;
    tmap_facts facts;
    CHECK(tmap_facts_get(kernel, &facts));
    for (int i = 0; i < 8; ++i)
        for (tmap_u32 d = 1; d <= TMAP_PAIRS_D_MAX; ++d)
            for (tmap_u32 size = 4; size <= 8; size += 4) {
                const shape s = {points[i], points[i], 0, 1, d, size};
                const tmap_pairs_store_shape few = {points[i], d, size, 1 + d % 3,
                                                    4 + d / 4 % 2 * 4};
                const tmap_pairs_store_shape any = {points[i], d * d * d, size, 1 + d % 3, size};
                const tmap_u32 bytes = 4 * (1 + (d * 5 + size) % 16);
                CHECK(tmap_pairs_plan_make(s.n, d, size, kernel, &made));
                of_shape(s);
                expect(!tmap_pairs_plan_of(s.n, d, size, &facts, &of) && same_plan(&made, &of),
                       device);
                expect(made.kernel == kernel && !of.kernel, device);
                CHECK(tmap_pairs_rows_plan_make(s.n, d, size, bytes, kernel, &made));
                expect(!tmap_pairs_rows_plan_of(s.n, d, size, bytes, &facts, &of) &&
                           same_plan(&made, &of),
                       device);
                CHECK(tmap_pairs_store_plan_make(few, kernel, &made));
                expect(!tmap_pairs_store_plan_of(few, &of) && same_plan(&made, &of), device);
                CHECK(tmap_pairs_store_sums_plan_make(any, kernel, &made));
                expect(!tmap_pairs_store_sums_plan_of(any, &of) && same_plan(&made, &of), device);
                CHECK(tmap_pairs_frames_plan_make(s.n, 1ull << 3 * (d - 1), d % 5, bytes, kernel,
                                                  &frames_made));
                expect(!tmap_pairs_frames_plan_of(s.n, 1ull << 3 * (d - 1), d % 5, bytes, &facts,
                                                  &frames_of) &&
                           same_frames_plan(&frames_made, &frames_of),
                       device);
            }
    of_shape(shape_of(0));
    expect(facts.device.capability >= 75 && facts.device.processors >= 1, device);
}

int main(void) {
    kit_begin();
    on_all_devices(run_device);
    return kit_end("test_pairs_plans");
}
