// SPDX-License-Identifier: MIT
// nbb_places.c: contains on every place of every embedding up to 4 million places (half a million
// for own fractals) and on a frame around it, against pictures drawn by replication; on random
// places of the larger levels; and lambda a bijection: it marks each cell of the picture once and
// nothing else.
//
// Usage: nbb_places [PLACES]   with another bound than 4 million, for slow builds.
#include "fractal/brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

// Both forms, where the 32-bit one is asked.
static void check_place(const brute *b, tmap_nbb f, tmap_u32 r, tmap_u64 x, tmap_u64 y, int want,
                        int is_32) {
    EXPECT(tmap_nbb_contains64(f, x, y, r) == want, "%s r=%u (%llu,%llu)", b->text, r, x, y);
    if (is_32)
        EXPECT(tmap_nbb_contains(f, (tmap_u32)x, (tmap_u32)y, r) == want, "%s r=%u (%llu,%llu)",
               b->text, r, x, y);
}

static void check_picture(const brute *b, tmap_nbb f, tmap_u32 r, const char *picture) {
    tmap_u64 width = brute_pow(b->sx, (int)r), height = brute_pow(b->sy, (int)r);
    EXPECT(tmap_nbb_side_x(f, r) == width && tmap_nbb_side_y(f, r) == height, "%s r=%u", b->text,
           r);
    for (tmap_u64 y = 0; y < height; ++y)
        for (tmap_u64 x = 0; x < width; ++x) check_place(b, f, r, x, y, picture[y * width + x], 1);
    for (tmap_u64 x = 0; x <= width; ++x) { // the frame: below, and far below
        check_place(b, f, r, x, height, 0, 1);
        check_place(b, f, r, x, 0xffffffffu, 0, 1);
        check_place(b, f, r, x, height << 32, 0, 0);
    }
    for (tmap_u64 y = 0; y <= height; ++y) {
        check_place(b, f, r, width, y, 0, 1);
        check_place(b, f, r, 0xffffffffu, y, 0, 1);
        check_place(b, f, r, width << 32, y, 0, 0);
    }
}

// Marks what lambda reaches; afterwards exactly the cells of the picture carry a mark.
static void check_bijection(const brute *b, tmap_nbb f, tmap_u32 r, char *picture) {
    tmap_u64 width = tmap_nbb_side_x(f, r), places = width * tmap_nbb_side_y(f, r);
    tmap_xy64 box = tmap_nbb_orthotope(f, r);
    EXPECT(box.x * box.y == tmap_nbb_cells(f, r), "%s r=%u", b->text, r);
    for (tmap_u32 wy = 0; wy < box.y; ++wy)
        for (tmap_u32 wx = 0; wx < box.x; ++wx) {
            tmap_xy c = tmap_nbb_lambda(f, wx, wy, r);
            tmap_u64 at = c.y * width + c.x;
            EXPECT(c.x < width && at < places && picture[at] == 1, "%s r=%u w=(%u,%u)", b->text, r,
                   wx, wy);
            if (at < places) picture[at] = 2;
        }
    for (tmap_u64 at = 0; at < places; ++at)
        EXPECT(picture[at] != 1, "%s r=%u place %llu has no thread", b->text, r, at);
}

// Random places of a level too large to draw. Boxes are drawn one by one, all but a few of them
// cells: of places drawn uniformly, a sparse fractal would hold none.
static void check_samples(const brute *b, tmap_nbb f, tmap_u32 r, tmap_u64 *state) {
    for (int sample = 0; sample < 400; ++sample) {
        tmap_u64 x = 0, y = 0;
        int is_32 = r <= tmap_nbb_level_max32(f), holes = sample % 3 ? 0 : 1 + (int)r / 4;
        for (tmap_u32 mu = 0; mu < r; ++mu) {
            int beta = (int)kit_below(state, (unsigned)b->k);
            int any = (tmap_u32)kit_below(state, r) < (unsigned)holes;
            int dx = any ? (int)kit_below(state, (unsigned)b->sx) : b->tau_x[beta];
            int dy = any ? (int)kit_below(state, (unsigned)b->sy) : b->tau_y[beta];
            x = x * (tmap_u64)b->sx + (tmap_u64)dx;
            y = y * (tmap_u64)b->sy + (tmap_u64)dy;
        }
        check_place(b, f, r, x, y, brute_contains(b, x, y, (int)r), is_32);
    }
}

// small and large: two buffers of places_max bytes.
static size_t check_fractal(const brute *b, char *small, char *large, size_t places_max) {
    const tmap_nbb f = brute_nbb(b);
    tmap_u64 places = 1, all = 0, box = (tmap_u64)b->sx * (tmap_u64)b->sy, state = 7;
    large[0] = 1;
    for (tmap_u32 r = 0; r <= tmap_nbb_level_max64(f); ++r) {
        if (r > 0) places = tmap_mul_saturate(places, box);
        if (places > places_max) {
            check_samples(b, f, r, &state);
            continue;
        }
        if (r > 0) {
            memcpy(small, large, (size_t)(places / box));
            brute_grow_picture(b, (int)r, small, large);
        }
        check_picture(b, f, r, large);
        memcpy(small, large, (size_t)places);
        check_bijection(b, f, r, small);
        all += places;
    }
    return (size_t)all;
}

int main(int argc, char **argv) {
    size_t places_max = argc > 1 ? (size_t)atol(argv[1]) : 4 << 20, all = 0;
    char *small = (char *)malloc(places_max), *large = (char *)malloc(places_max);
    if (!small || !large) return 2;
    for (int i = 0; i < BRUTE_COUNT; ++i) {
        const brute b = brute_at(i);
        all += check_fractal(&b, small, large, places_max / (i < TMAP_FRACTAL_COUNT ? 1 : 8));
    }
    printf("%d fractals, %zu places\n", BRUTE_COUNT, all);
    free(small);
    free(large);
    return kit_end("nbb_places");
}
