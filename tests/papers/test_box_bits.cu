// SPDX-License-Identifier: MIT
// test_box_bits: automata on an embedding of one bit a place (papers/box_bits.h) against pictures
// that grow by replication and steps that the host takes place by place, of all fractals, levels
// and several rules; that nothing outside the state is written, and no bit that is no cell's
// becomes 1; and what is refused.
#include "fractal/engine.h"
#include <threadmap/papers/box_bits.h>

enum { GUARD = 64 }; // bytes before and behind a state
static const tmap_ca_rule rules[4] = {{1u << 3, 1u << 2 | 1u << 3}, // Life
                                      {0x1, 0x1ff},                 // the lonely are born, all stay
                                      {0x0aa, 0x155},
                                      {0x1d5, 0x02f}};

// An embedding on the host, a byte a place.
typedef struct picture {
    tmap_nbb f;
    tmap_u32 r;
    tmap_u64 width, height;
    unsigned char *cell, *now, *next;
} picture;

// The cells of level r: a copy of those of the level below for each replica.
static picture picture_make(tmap_nbb f, tmap_u32 r) {
    picture p = {f, r, 1, 1, NULL, NULL, NULL};
    for (tmap_u32 i = 0; i < r; ++i) p.width *= f.sx, p.height *= f.sy;
    p.cell = (unsigned char *)kit_zeroed(3 * p.width * p.height);
    p.now = p.cell + p.width * p.height, p.next = p.now + p.width * p.height;
    p.cell[0] = 1;
    for (tmap_u64 i = 0, w = 1, h = 1; i < r; ++i, w *= f.sx, h *= f.sy) {
        memset(p.now, 0, p.width * p.height);
        for (tmap_u32 beta = 0; beta < f.k; ++beta)
            for (tmap_u64 y = 0; y < h; ++y)
                memcpy(p.now + ((f.tau_y >> 4 * beta & 15) * h + y) * p.width +
                           (f.tau_x >> 4 * beta & 15) * w,
                       p.cell + y * p.width, w);
        memcpy(p.cell, p.now, p.width * p.height);
    }
    return p;
}

static void picture_step(picture *p, tmap_ca_rule rule) {
    unsigned char *old = p->now;
    for (tmap_u64 y = 0; y < p->height; ++y)
        for (tmap_u64 x = 0; x < p->width; ++x) {
            tmap_u32 living = 0;
            for (tmap_u32 n = 0; n < 9; ++n) {
                const tmap_u64 u = x + n % 3 - 1, v = y + n / 3 - 1;
                living += n != 4 && u < p->width && v < p->height && p->now[v * p->width + u];
            }
            const tmap_u64 at = y * p->width + x;
            p->next[at] = p->cell[at] && ((p->now[at] ? rule.survive : rule.born) >> living & 1);
        }
    p->now = p->next, p->next = old;
}

// The state as words; holds[i]: word i has a cell.
static void pack(const tmap_box_bits *b, const picture *p, tmap_u32 *words, unsigned char *holds) {
    memset(words, 0, tmap_box_bits_bytes(b));
    memset(holds, 0, tmap_box_bits_bytes(b) / 4);
    for (tmap_u64 y = 0; y < p->height; ++y)
        for (tmap_u64 x = 0; x < p->width; ++x) {
            tmap_u32 bit;
            const tmap_u64 word = tmap_box_bits_place(b, x, y, &bit);
            words[word] |= (tmap_u32)p->now[y * p->width + x] << bit;
            holds[word] |= p->cell[y * p->width + x];
        }
}

// The case: a level.
static void of_level(const tmap_box_bits *b) {
    kit_case("fractal k=%u s=%ux%u tau %llx %llx, r=%u", b->f.k, b->f.sx, b->f.sy, b->f.tau_x,
             b->f.tau_y, b->r);
}

static void run_level(tmap_nbb f, tmap_u32 r, int n) {
    picture p = picture_make(f, r);
    tmap_box_bits b;
    tmap_u64 bytes, places = 0;
    tmap_u32 *want, *got;
    unsigned char *holds, *a, *o, *swap;
    if (tmap_box_bits_make(f, r, &b) != TMAP_OK) exit(1);
    bytes = tmap_box_bits_bytes(&b);
    want = (tmap_u32 *)kit_host(2 * bytes + 2 * GUARD), got = want + bytes / 4;
    holds = (unsigned char *)kit_host(bytes / 4);
    a = (unsigned char *)kit_guarded(bytes + 2 * GUARD) + GUARD;
    o = (unsigned char *)kit_guarded(bytes + 2 * GUARD) + GUARD;
    for (tmap_u64 i = 0; i < p.width * p.height; ++i)
        places += p.cell[i], p.now[i] = p.cell[i] && (check_hash(i, (tmap_u64)n) & 3) == 0;
    of_level(&b);
    expect(places == tmap_nbb_cells(f, r), "cells");
    pack(&b, &p, want, holds);
    CHECK(cudaMemset(a - GUARD, 0xff, bytes + 2 * GUARD)); // living neighbours that are none
    CHECK(cudaMemcpy(a, want, bytes, cudaMemcpyHostToDevice));
    for (int t = 0; t < 3; ++t) {
        const tmap_ca_rule rule = rules[(n + t / 2) % 4];
        // The second step goes on from a memory of zeros, as a user's does; others find poison.
        const int poison = t == 1 ? 0 : 0xa5;
        tmap_u64 wrong = 0;
        CHECK(cudaMemset(o - GUARD, 0xff, bytes + 2 * GUARD));
        CHECK(cudaMemset(o, poison, bytes));
        CHECK(tmap_box_bits_life(&b, rule, a, o, 0));
        picture_step(&p, rule);
        pack(&b, &p, want, holds);
        CHECK(cudaMemcpy(got, o - GUARD, bytes + 2 * GUARD, cudaMemcpyDeviceToHost));
        for (tmap_u64 i = 0; i < GUARD / 4; ++i)
            wrong += got[i] != ~0u || got[(bytes + GUARD) / 4 + i] != ~0u;
        for (tmap_u64 i = 0; i < bytes / 4; ++i) {
            const tmap_u32 word = got[GUARD / 4 + i];
            wrong += word != want[i] && (holds[i] || word != 0x01010101u * (tmap_u32)poison);
        }
        expect(wrong == 0, "a step");
        CHECK(cudaMemcpy(o, want, bytes, cudaMemcpyHostToDevice)); // without the poison
        swap = a, a = o, o = swap;
    }
    kit_release(0);
}

static void run_refusals(void) {
    const tmap_nbb f = tmap_fractal_gasket();
    const tmap_ca_rule wide = {1u << 9, 0};
    char *a = (char *)kit_guarded(1024), *o = (char *)kit_guarded(1024);
    tmap_box_bits b, old;
    tmap_u32 bit;
    if (tmap_box_bits_make(f, 6, &b) != TMAP_OK) exit(1);
    of_level(&b);
    expect(tmap_box_bits_place(&b, 40, 3, &bit) == 25 && bit == 8, "place");
    REFUSED(tmap_box_bits_life(NULL, rules[0], a, o, 0));
    REFUSED(tmap_box_bits_life(&b, rules[0], NULL, o, 0));
    REFUSED(tmap_box_bits_life(&b, rules[0], a, NULL, 0));
    REFUSED(tmap_box_bits_life(&b, rules[0], a, a, 0));
    REFUSED(tmap_box_bits_life(&b, rules[0], a + 2, o, 0));
    REFUSED(tmap_box_bits_life(&b, wide, a, o, 0));
    old = b;
    RETURNS(tmap_box_bits_make(f, 33, &b), TMAP_ERANGE);
    RETURNS(tmap_box_bits_make(f, 3, NULL), TMAP_EINVAL);
    expect(tmap_box_bits_make(tmap_nbb_make(17, 2, 2, 0, 0), 1, &b) != TMAP_OK, "fractal");
    expect(memcmp(&old, &b, sizeof b) == 0, "left alone");
    if (tmap_box_bits_make(f, 16, &b) != TMAP_OK) exit(1);
    expect(tmap_box_bits_bytes(&b) == 536870912 && b.tile_level == 5, "bytes");
}

int main(void) {
    engine_begin();
    const tmap_u64 most = kit_tiny ? 600 : !kit_gpu ? 70000 : 1u << 21;
    for (int i = 0; i < ENGINE_COUNT; ++i) {
        const tmap_nbb f = engine_fractal(i);
        for (tmap_u32 r = 0; r <= 12; ++r) {
            // Rows of more words than a block of threads has, too.
            const tmap_u64 x = tmap_nbb_side_x(f, r), y = tmap_nbb_side_y(f, r);
            const int large = i == 0 && r <= 11 && !kit_tiny;
            if ((large || tmap_mul_saturate(x, y) <= most) && check_turn())
                run_level(f, r, i + (int)r);
        }
    }
    // Of so many rows of tiles that a warp takes several at once.
    for (int i = 0; i < 2 && !kit_tiny; ++i) {
        tmap_nbb f;
        if (tmap_nbb_from_rows(i ? "#/./#/#/#/././#/#/./#/./#/././#"
                                 : "#.##...#.##.#..#/.##..#.#.#..#..#",
                               &f) != TMAP_OK)
            exit(1);
        if (check_turn()) run_level(f, i ? 5 : 4, i);
    }
    run_refusals();
    return kit_end("test_box_bits");
}
