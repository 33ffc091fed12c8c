// SPDX-License-Identifier: MIT
// bench/raster/granularity.h: the generator against its published 10000th number and std::mt19937's
// first ones, and pictures against their definition: equal cells in a block, and the density.
#include "../bench/raster/granularity.h"
#include "kit.h"

enum { MOST = 301 };
static unsigned char cells[MOST * MOST + 1];

static void check_numbers(void) {
    static const tmap_u32 first[] = {3499211612u, 581869302u, 3890346734u};
    mt19937 mt;
    tmap_u32 last = 0;
    mt19937_seed(&mt, 5489);
    for (int i = 0; i < 10000; ++i) {
        last = mt19937_next(&mt);
        EXPECT(i > 2 || last == first[i], "number %d is %u", i, last);
    }
    EXPECT(last == 4123659995u, "the 10000th number is %u", last);
}

static void check_picture(tmap_u32 size, tmap_u32 g, tmap_u32 percent) {
    tmap_u32 ones = 0, blocks = 0;
    memset(cells, 0xa5, sizeof cells);
    granularity_picture(cells, size, g, percent);
    EXPECT(cells[size * size] == 0xa5, "size %u, g %u: a byte after the picture", size, g);
    for (tmap_u32 y = 0; y < size; ++y)
        for (tmap_u32 x = 0; x < size; ++x) {
            const unsigned char here = cells[y * size + x];
            EXPECT(here <= 1, "size %u, g %u: (%u, %u) is %u", size, g, x, y, here);
            EXPECT(here == cells[y / g * g * size + x / g * g],
                   "size %u, g %u: (%u, %u) is not like the first cell of its block", size, g, x,
                   y);
            if (x % g || y % g) continue;
            ++blocks, ones += here;
        }
    // five standard deviations of a binomial distribution, at most 2.5 sqrt(blocks)
    if (percent % 100 == 0)
        EXPECT(ones == blocks * (percent / 100), "%u%%: %u of %u blocks", percent, ones, blocks);
    else
        EXPECT((100.0 * ones - 1.0 * percent * blocks) * (100.0 * ones - 1.0 * percent * blocks) <
                   250.0 * 250.0 * blocks,
               "%u%%: %u of %u blocks", percent, ones, blocks);
}

// Pictures of other g or densities are others, not the same numbers once more.
static void check_others(void) {
    static unsigned char other[MOST * MOST];
    tmap_u32 same = 0;
    granularity_picture(cells, MOST, 1, 50);
    granularity_picture(other, MOST, 1, 51);
    for (tmap_u32 i = 0; i < MOST * MOST; ++i) same += cells[i] == other[i];
    EXPECT(same < MOST * MOST * 11 / 20, "%u cells of two pictures are the same", same);
}

int main(void) {
    check_numbers();
    for (tmap_u32 g = 1; g <= 16; ++g)
        for (tmap_u32 percent = 0; percent <= 100; percent += 10) check_picture(MOST, g, percent);
    check_picture(1, 16, 100);
    check_others();
    return kit_end("granularity");
}
