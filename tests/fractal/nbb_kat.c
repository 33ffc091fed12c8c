// SPDX-License-Identifier: MIT
// nbb_kat.c: the known answers on the host, and those that only a host asks: rows, limits and
// sizes.
#include "fractal/nbb_kat_file.h"

#include <threadmap/fractal/nbb.h>
#include <threadmap/fractal/nbb3.h>

static void check_fractal3(const kat_fractal *want) {
    tmap_nbb3 f;
    const int code = tmap_nbb3_from_layers(want->rows, &f);
    EXPECT(code == TMAP_OK, "%s: %s", want->name, tmap_strerror(code));
    if (code != TMAP_OK) return;
    EXPECT(tmap_nbb3_equal(f, want->f3), "%s", want->name);
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        const tmap_xyz t = tmap_nbb3_tau(f, beta);
        EXPECT(t.x == (tmap_u32)want->b.tau_x[beta] && t.y == (tmap_u32)want->b.tau_y[beta] &&
                   t.z == (tmap_u32)want->b.tau_z[beta],
               "%s beta=%u", want->name, beta);
    }
    EXPECT(tmap_nbb3_level_max32(f) == want->limits[0], "%s", want->name);
    EXPECT(tmap_nbb3_level_max64(f) == want->limits[1], "%s", want->name);
    EXPECT(tmap_nbb3_linear_level_max32(f) == want->limits[2], "%s", want->name);
    EXPECT(tmap_nbb3_linear_level_max64(f) == want->limits[3], "%s", want->name);
}

static void check_size3(const kat_size *want) {
    const tmap_nbb3 f = want->of->f3;
    const tmap_xyz64 box = tmap_nbb3_orthotope(f, want->r);
    EXPECT(tmap_nbb3_side_x(f, want->r) == want->side_x, "r=%u", want->r);
    EXPECT(tmap_nbb3_side_y(f, want->r) == want->side_y, "r=%u", want->r);
    EXPECT(tmap_nbb3_side_z(f, want->r) == want->side_z, "r=%u", want->r);
    EXPECT(tmap_nbb3_cells(f, want->r) == want->cells, "r=%u", want->r);
    EXPECT(box.x == want->wx && box.y == want->wy && box.z == want->wz, "r=%u", want->r);
}

static void check_fractal(const kat_fractal *want) {
    tmap_nbb f;
    int code = tmap_nbb_from_rows(want->rows, &f);
    EXPECT(code == TMAP_OK, "%s: %s", want->name, tmap_strerror(code));
    if (code != TMAP_OK) return;
    EXPECT(tmap_nbb_equal(f, want->f), "%s", want->name);
    for (tmap_u32 beta = 0; beta < f.k; ++beta) {
        tmap_xy t = tmap_nbb_tau(f, beta);
        EXPECT(t.x == (want->f.tau_x >> 4 * beta & 15), "%s beta=%u", want->name, beta);
        EXPECT(t.y == (want->f.tau_y >> 4 * beta & 15), "%s beta=%u", want->name, beta);
    }
    EXPECT(tmap_nbb_level_max32(f) == want->limits[0], "%s", want->name);
    EXPECT(tmap_nbb_level_max64(f) == want->limits[1], "%s", want->name);
    EXPECT(tmap_nbb_linear_level_max32(f) == want->limits[2], "%s", want->name);
    EXPECT(tmap_nbb_linear_level_max64(f) == want->limits[3], "%s", want->name);
}

static void check_size(const kat_size *want) {
    const tmap_nbb f = want->of->f;
    tmap_xy64 box = tmap_nbb_orthotope(f, want->r);
    EXPECT(tmap_nbb_side_x(f, want->r) == want->side_x, "r=%u", want->r);
    EXPECT(tmap_nbb_side_y(f, want->r) == want->side_y, "r=%u", want->r);
    EXPECT(tmap_nbb_cells(f, want->r) == want->cells, "r=%u", want->r);
    EXPECT(box.x == want->wx && box.y == want->wy, "r=%u", want->r);
}

int main(void) {
    kat_file file = kat_read();
    kat_answer *answers = (kat_answer *)kit_host(file.vector_count * sizeof *answers);
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) {
        EXPECT(strcmp(file.fractals[i].name, tmap_fractal_name(i)) == 0, "number %d", i);
        EXPECT(tmap_nbb_equal(file.fractals[i].f, tmap_fractal_at(i)), "number %d", i);
    }
    const kat_fractal *deep = file.fractals; // the first in three dimensions
    while (deep->b.dims == 2) ++deep;
    for (int i = 0; i < TMAP_FRACTAL3_COUNT; ++i) {
        EXPECT(strcmp(deep[i].name, tmap_fractal3_name(i)) == 0, "number %d", i);
        EXPECT(tmap_nbb3_equal(deep[i].f3, tmap_fractal3_at(i)), "number %d", i);
    }
    for (size_t i = 0; i < file.fractal_count; ++i)
        (file.fractals[i].b.dims == 2 ? check_fractal : check_fractal3)(&file.fractals[i]);
    for (size_t i = 0; i < file.size_count; ++i)
        (file.sizes[i].of->b.dims == 2 ? check_size : check_size3)(&file.sizes[i]);
    for (size_t i = 0; i < file.vector_count; ++i) kat_ask(&file.vectors[i], &answers[i]);
    kat_compare(&file, answers);
    return kit_end("nbb_kat");
}
