// SPDX-License-Identifier: MIT
// gasket_maps.c: catalogue.h equal to nbb.h on tmap_fractal_gasket(): every thread up to r = 12, every
// place up to r = 10, and random threads up to r = 32.
#include "fractal/brute.h"
#include "kit.h"

#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

static void check_thread(tmap_u32 wx, tmap_u32 wy, tmap_u32 r) {
    tmap_nbb f = tmap_fractal_gasket();
    tmap_xy want = tmap_nbb_lambda(f, wx, wy, r), cell = tmap_gasket_lambda(wx, wy, r);
    tmap_xy w = tmap_gasket_nu(want.x, want.y, r);
    EXPECT(cell.x == want.x && cell.y == want.y, "r=%u w=(%u,%u)", r, wx, wy);
    EXPECT(w.x == wx && w.y == wy, "r=%u (%u,%u)", r, want.x, want.y);
    if (r < 32) EXPECT(tmap_gasket_contains(cell.x, cell.y, 1u << r), "r=%u w=(%u,%u)", r, wx, wy);
}

static void check_index(tmap_u32 i, tmap_u32 r) {
    tmap_nbb f = tmap_fractal_gasket();
    tmap_xy want = tmap_nbb_lambda_linear(f, i, r), cell = tmap_gasket_lambda_linear(i, r);
    EXPECT(cell.x == want.x && cell.y == want.y, "r=%u i=%u", r, i);
    EXPECT(tmap_gasket_nu_linear(want.x, want.y, r) == i, "r=%u i=%u", r, i);
}

int main(void) {
    tmap_nbb f = tmap_fractal_gasket();
    tmap_u64 state = 3;
    tmap_u32 sum = 0;
    for (tmap_u32 beta = 0; beta < 3; ++beta) {
        tmap_xy tau = tmap_nbb_tau(f, beta), h = tmap_fractal_gasket_hash(beta);
        EXPECT(h.x == tau.x && h.y == tau.y, "h(%u) = (%u,%u)", beta, h.x, h.y);
    }
    for (tmap_u32 r = 0; r <= 12; ++r) {
        tmap_xy64 box = tmap_nbb_orthotope(f, r);
        for (tmap_u32 wy = 0; wy < box.y; ++wy)
            for (tmap_u32 wx = 0; wx < box.x; ++wx) check_thread(wx, wy, r);
        for (tmap_u32 i = 0; i < tmap_nbb_cells(f, r); ++i) check_index(i, r);
    }
    for (tmap_u32 r = 0; r <= 10; ++r)
        for (tmap_u32 y = 0; y < 1u << r; ++y)
            for (tmap_u32 x = 0; x < 1u << r; ++x)
                EXPECT(tmap_gasket_contains(x, y, 1u << r) == tmap_nbb_contains(f, x, y, r),
                       "r=%u (%u,%u)", r, x, y);
    for (tmap_u32 r = 13; r <= 32; ++r)
        for (int sample = 0; sample < 5000; ++sample) {
            tmap_u32 x = (tmap_u32)kit_random(&state), y = (tmap_u32)kit_random(&state);
            tmap_xy64 box = tmap_nbb_orthotope(f, r);
            check_thread(x % (tmap_u32)box.x, y % (tmap_u32)box.y, r);
            if (r <= 20) check_index(x % (tmap_u32)tmap_nbb_cells(f, r), r);
            if (r < 32) {
                tmap_u32 n = 1u << r, px = x & (n - 1), py = y & (n - 1);
                py |= sample % 2 ? px : 0; // a random place alone is hardly ever a cell
                EXPECT(tmap_gasket_contains(px, py, n) == tmap_nbb_contains(f, px, py, r),
                       "r=%u (%u,%u)", r, px, py);
            }
        }
    // total: arguments outside their range return something
    for (tmap_u32 r = 0; r <= 70; ++r)
        for (tmap_u32 a = 0; a <= 8; ++a) {
            tmap_u32 u = a * 0x1fffffffu, v = ~u;
            tmap_xy p = tmap_gasket_lambda(u, v, r), q = tmap_gasket_lambda_linear(u, r);
            tmap_xy w = tmap_gasket_nu(u, v, r), h = tmap_fractal_gasket_hash(u);
            sum += p.x + p.y + q.x + q.y + w.x + w.y + h.x + h.y + tmap_gasket_nu_linear(u, v, r);
            sum += (tmap_u32)tmap_gasket_contains(u, v, r);
        }
    printf("every call returned (%x)\n", sum);
    return kit_end("gasket_maps");
}
