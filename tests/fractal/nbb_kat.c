// SPDX-License-Identifier: MIT
// nbb_kat.c: the known answers on the host, and those that only a host asks: rows, limits and
// sizes.
#include "fractal/nbb_kat_file.h"

#include <threadmap/fractal/nbb.h>

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
    tmap_xy64 box = tmap_nbb_orthotope(want->f, want->r);
    EXPECT(tmap_nbb_side_x(want->f, want->r) == want->side_x, "r=%u", want->r);
    EXPECT(tmap_nbb_side_y(want->f, want->r) == want->side_y, "r=%u", want->r);
    EXPECT(tmap_nbb_cells(want->f, want->r) == want->cells, "r=%u", want->r);
    EXPECT(box.x == want->wx && box.y == want->wy, "r=%u", want->r);
}

int main(void) {
    kat_file file = kat_read();
    kat_answer *answers = (kat_answer *)kit_host(file.vector_count * sizeof *answers);
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) {
        EXPECT(strcmp(file.fractals[i].name, tmap_fractal_name(i)) == 0, "number %d", i);
        EXPECT(tmap_nbb_equal(file.fractals[i].f, tmap_fractal_at(i)), "number %d", i);
    }
    for (size_t i = 0; i < file.fractal_count; ++i) check_fractal(&file.fractals[i]);
    for (size_t i = 0; i < file.size_count; ++i) check_size(&file.sizes[i]);
    for (size_t i = 0; i < file.vector_count; ++i) kat_ask(&file.vectors[i], &answers[i]);
    kat_compare(&file, answers);
    return kit_end("nbb_kat");
}
