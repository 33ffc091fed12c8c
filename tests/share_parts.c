// SPDX-License-Identifier: MIT
// share_parts: the parts of items (share.h) against counting, and their laws at the largest numbers.
#include "kit.h"

#include <threadmap/share.h>

// Every item is in one part, parts follow one another, and their sizes differ by at most 1.
static void run_small(tmap_u64 items, tmap_u64 parts) {
    tmap_u64 next = 0;
    for (tmap_u64 p = 0; p < parts; ++p) {
        const tmap_share s = tmap_share_of(items, p, parts);
        kit_case("items %llu, part %llu of %llu", items, p, parts);
        expect(s.first == next, "first");
        expect(s.count * parts <= items + parts - 1 && (s.count + 1) * parts > items, "count");
        for (tmap_u64 i = s.first; i < s.first + s.count; ++i)
            expect(tmap_share_part(items, i, parts) == p, "part of an item");
        next = s.first + s.count;
    }
    kit_case("items %llu, %llu parts", items, parts);
    if (parts) expect(next == items, "all items");
    expect(tmap_share_part(items, items, parts) == parts, "no such item");
    const tmap_share past = tmap_share_of(items, parts, parts);
    expect(past.first == items && past.count == 0, "no such part");
}

static void run_large(tmap_u64 items, tmap_u64 parts, tmap_u64 p) {
    const tmap_share s = tmap_share_of(items, p, parts);
    kit_case("items %llu, part %llu of %llu", items, p, parts);
    expect(s.count == items / parts + (p < items % parts), "count");
    expect(s.first + s.count <= items && s.first <= items, "within the items");
    expect(tmap_share_of(items, p + 1, parts).first == s.first + s.count, "the next part");
    if (s.count) {
        expect(tmap_share_part(items, s.first, parts) == p, "part of the first item");
        expect(tmap_share_part(items, s.first + s.count - 1, parts) == p, "part of the last item");
    }
}

int main(void) {
    const tmap_u64 numbers[] = {1, 2, 3, 63, 64, 65, 1u << 31, 0xffffffffu, 1ull << 63, ~0ull};
    tmap_u64 state = 7;
    for (tmap_u64 items = 0; items <= 70; ++items)
        for (tmap_u64 parts = 0; parts <= 70; ++parts) run_small(items, parts);
    for (tmap_u32 i = 0; i < COUNT(numbers); ++i)
        for (tmap_u32 j = 0; j < COUNT(numbers); ++j)
            for (int k = 0; k < 50; ++k)
                run_large(numbers[i], numbers[j], kit_edge_below(&state, numbers[j]));
    return kit_end("share_parts");
}
