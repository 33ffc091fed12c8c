// SPDX-License-Identifier: MIT
// image.c: nearest images against all images that can be nearer, for random cells of all shapes,
// skewed far, periodic along none to three vectors, in floats and doubles; images along
// one axis; what makes no cell.
#include "kit.h"
#include <threadmap/triangle/image.h>

#include <math.h>

static tmap_u64 state = 1;
static double uniform(double low, double high) {
    return low + (high - low) * ((double)(kit_random(&state) >> 11) / 9007199254740992.0);
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Rows of the inverse of three vectors.
static void invert(double (*b)[3], double (*to)[3]) {
    for (int i = 0; i < 3; ++i) {
        const double *u = b[(i + 1) % 3], *v = b[(i + 2) % 3];
        double volume;
        for (int j = 0; j < 3; ++j)
            to[i][j] = u[(j + 1) % 3] * v[(j + 2) % 3] - u[(j + 2) % 3] * v[(j + 1) % 3];
        volume = dot(b[i], to[i]);
        for (int j = 0; j < 3; ++j) to[i][j] /= volume;
    }
}

// A lattice of `rank` vectors b; the others are at right angles, and only complete the inverse.
typedef struct lattice {
    double b[3][3], inverse[3][3];
    int rank;
} lattice;

// The length of the nearest image of d, by all that are not longer than a first one.
static double nearest(const lattice *l, const double *d) {
    double r[3] = {d[0], d[1], d[2]}, best, most;
    int range[3] = {0, 0, 0};
    for (int i = 0; i < l->rank; ++i) {
        const double k = floor(dot(l->inverse[i], d) + 0.5);
        for (int j = 0; j < 3; ++j) r[j] -= k * l->b[i][j];
    }
    best = dot(r, r), most = 2 * sqrt(best); // |v| <= |r| + |r - v|
    for (int i = 0; i < l->rank; ++i)
        range[i] = (int)(most * sqrt(dot(l->inverse[i], l->inverse[i])) + 1e-9);
    for (int x = -range[0]; x <= range[0]; ++x)
        for (int y = -range[1]; y <= range[1]; ++y)
            for (int z = -range[2]; z <= range[2]; ++z) {
                double v[3];
                for (int j = 0; j < 3; ++j)
                    v[j] = r[j] - x * l->b[0][j] - y * l->b[1][j] - z * l->b[2][j];
                if (dot(v, v) < best) best = dot(v, v);
            }
    return sqrt(best);
}

// 1 if got is d less a lattice vector, up to an error.
static int is_image(const lattice *l, const double *d, const double *got, double error) {
    double v[3] = {d[0] - got[0], d[1] - got[1], d[2] - got[2]};
    for (int i = 0; i < l->rank; ++i) {
        const double k = floor(dot(l->inverse[i], v) + 0.5);
        for (int j = 0; j < 3; ++j) v[j] -= k * l->b[i][j];
    }
    return sqrt(dot(v, v)) <= error;
}

// A point of a lattice: the cell of doubles and that of floats give its nearest image.
static void check_point(const lattice *l, const tmap_image_cell_f64 *cell,
                        const tmap_image_cell_f32 *cell32, const double *d) {
    double exact[3], got[3], back[3], size = 0, want;
    float got32[3], back32[3];
    for (int j = 0; j < 3; ++j) {
        got32[j] = (float)d[j], back32[j] = -got32[j];
        exact[j] = got[j] = (double)got32[j], back[j] = -got[j];
        size += sqrt(dot(cell->vector[j], cell->vector[j]));
    }
    size += sqrt(dot(got, got));
    want = nearest(l, got);
    kit_more(", d = %.9g %.9g %.9g: %.9g", got[0], got[1], got[2], want);
    tmap_image_f64(cell, got), tmap_image_f64(cell, back);
    tmap_image_f32(cell32, got32), tmap_image_f32(cell32, back32);
    for (int j = 0; j < 3; ++j) {
        expect(got[j] == -back[j], "odd");
        expect(got32[j] == -back32[j], "odd, f32");
        back[j] = (double)got32[j];
    }
    EXPECT(fabs(sqrt(dot(got, got)) - want) <= 1e-11 * size, "f64: %.17g, want %.17g",
           sqrt(dot(got, got)), want);
    EXPECT(fabs(sqrt(dot(back, back)) - want) <= 9.5e-7 * size, "f32: %.9g, want %.9g",
           sqrt(dot(back, back)), want);
    expect(is_image(l, exact, got, 1e-11 * size), "f64: an image");
    expect(is_image(l, exact, back, 9.5e-7 * size), "f32: an image");
}

static int seen[14], squares; // cells by their numbers of shifts

// A cell of the lattice, of its vectors after some turns that skew them; zeros for missing ones.
static void check_lattice(lattice *l, const char *name, int turns, int points) {
    double vectors[9] = {0}, given[3][3];
    tmap_image_cell_f64 cell;
    tmap_image_cell_f32 cell32;
    double worse = 1;
    invert(l->b, l->inverse);
    memcpy(given, l->b, sizeof given);
    for (int turn = 0; l->rank > 1 && worse < 1e5 && turn < turns; ++turn) {
        const int i = (int)kit_below(&state, (tmap_u64)l->rank);
        const int j = (i + 1 + (int)kit_below(&state, (tmap_u64)l->rank - 1)) % l->rank;
        const double q = floor(uniform(-5, 6)), before = dot(given[i], given[i]);
        for (int k = 0; k < 3; ++k) given[i][k] += q * given[j][k];
        worse *= sqrt(dot(given[i], given[i]) / before);
    }
    for (int i = 0, at = (int)kit_below(&state, 3); i < l->rank; ++i)
        memcpy(vectors + 3 * ((at + i) % 3), given[i], sizeof given[i]);
    kit_case("%s, %d vectors: %.17g %.17g %.17g, %.17g %.17g %.17g, %.17g %.17g %.17g", name,
             l->rank, vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5],
             vectors[6], vectors[7], vectors[8]);
    RETURNS(tmap_image_make_f64(vectors, &cell), TMAP_OK);
    RETURNS(tmap_image_make_f32(vectors, &cell32), TMAP_OK);
    expect(cell.shifts <= 13 && cell32.shifts <= cell.shifts, "13 shifts at most");
    ++seen[cell.shifts], squares += (int)cell.square;
    for (int n = 0; n < points; ++n) {
        double d[3] = {0, 0, 0}, fraction;
        const double most = n % 3 ? 1 : 4;
        for (int i = 0; i < 3; ++i) { // some at halves, corners, and on the faces
            fraction = uniform(-most, most);
            if (kit_below(&state, 4) == 0) fraction = floor(2 * fraction) / 2;
            for (int j = 0; j < 3; ++j) d[j] += fraction * l->b[i][j];
        }
        check_point(l, &cell, &cell32, d);
    }
    if (l->rank == 0) expect(cell.radius2 == 0, "radius2 of none");
    if (l->rank < 3) return;
    double least = 1e300; // of the lattice's vectors, and of those that have vector i
    for (int x = -2; x <= 2; ++x)
        for (int y = -2; y <= 2; ++y)
            for (int z = -2; z <= 2; ++z) {
                const int of[3] = {x, y, z};
                double v[3] = {0, 0, 0};
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) v[j] += of[i] * cell.vector[i][j];
                for (int i = 0; i < 3; ++i)
                    if (of[i] == 1)
                        expect(dot(v, v) >= (1 - 1e-9) * dot(cell.vector[i], cell.vector[i]),
                               "none is made shorter by others");
                if ((x || y || z) && dot(v, v) < least) least = dot(v, v);
            }
    expect(fabs(cell.radius2 - least / 4) <= 1e-9 * least, "radius2");
}

// Three vectors of length 1 at right angles.
static void turn_axes(double (*e)[3]) {
    double size = 0;
    for (int i = 0; i<3; i += size> 0.1) { // what is left of a random one, if that is enough
        for (int j = 0; j < 3; ++j) e[i][j] = uniform(-1, 1);
        for (int k = 0; k < i; ++k) {
            const double part = dot(e[i], e[k]);
            for (int j = 0; j < 3; ++j) e[i][j] -= part * e[k][j];
        }
        size = sqrt(dot(e[i], e[i]));
        for (int j = 0; j < 3; ++j) e[i][j] /= size;
    }
}

// Random vectors, some ten times as long as others, not too close to a plane: those that this test
// gives to the library are made worse by check_lattice.
static void check_random(int number, int points) {
    lattice l;
    double e[3][3], open, all = 1;
    l.rank = number % 8 ? 3 : number / 8 % 3;
    turn_axes(e);
    do {
        all = 1, memcpy(l.b, e, sizeof e);
        for (int i = 0; i < l.rank; ++i) {
            const double scale = pow(10, uniform(-1.2, 0.3));
            for (int j = 0; j < 3; ++j) l.b[i][j] = 0;
            for (int k = 0; k < l.rank; ++k) {
                const double part = scale * uniform(-1, 1);
                for (int j = 0; j < 3; ++j) l.b[i][j] += part * e[k][j];
            }
            if (l.rank == 3 && number % 5 == 0) // integers: several images are equally near
                for (int j = 0; j < 3; ++j) l.b[i][j] = floor(uniform(-3, 4));
            // Few binary places, so that sums of multiples are exact.
            for (int j = 0; j < 3; ++j) l.b[i][j] = floor(l.b[i][j] * 1048576) / 1048576;
        }
        for (int i = 0; i < 3; ++i) all *= sqrt(dot(l.b[i], l.b[i]));
        invert(l.b, l.inverse);
        open = 1 / sqrt(dot(l.inverse[0], l.inverse[0])) / sqrt(dot(l.b[0], l.b[0]));
        for (int i = 1; i < 3; ++i) {
            const double next = 1 / sqrt(dot(l.inverse[i], l.inverse[i]) * dot(l.b[i], l.b[i]));
            open = next < open ? next : open;
        }
    } while (!(all > 0 && open > 0.1));
    check_lattice(&l, "random", number % 7, points);
}

static void check_known(int points) {
    static const struct {
        const char *name;
        int shifts; // -1: the number depends on which of several equal vectors are taken
        double b[3][3];
    } known[] = {
        {"cubic", 0, {{10, 0, 0}, {0, 10, 0}, {0, 0, 10}}},
        {"orthorhombic", 0, {{0, 0, 3}, {-5, 0, 0}, {0, 700, 0}}},
        {"hexagonal", -1, {{4, 0, 0}, {-2, 3.4641016151377546, 0}, {0, 0, 5}}},
        {"face-centred", -1, {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}},
        {"body-centred", -1, {{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}}},
        {"dodecahedron", -1, {{1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 0.70710678118654752}}},
        {"needle", -1, {{0.02, 0.9, 0}, {0.01, 0, 1}, {0.1, 0, 0}}},
        {"a plane, nearly", -1, {{1, 0, 0.1}, {-0.5, 0.866, 0.1}, {-0.5, -0.866, 0.1}}},
        {"right angles, but for rounding", 0, {{10, 0, 0}, {6e-16, 10, 0}, {6e-16, 6e-16, 10}}},
    };
    for (tmap_u32 i = 0; i < COUNT(known); ++i)
        for (int turn = 0; turn < 8; ++turn) {
            lattice l;
            tmap_image_cell_f64 cell;
            l.rank = 3, memcpy(l.b, known[i].b, sizeof l.b);
            check_lattice(&l, known[i].name, turn, points);
            RETURNS(tmap_image_make_f64(&l.b[0][0], &cell), TMAP_OK);
            if (known[i].shifts < 0) continue;
            expect((int)cell.shifts == known[i].shifts && cell.square, "right-angled, no shifts");
        }
}

static void check_axis(void) {
    const double nan = (1e308 * 10) * 0;
    kit_case("one axis");
    HOLDS(tmap_image_axis_f32(7, 10, 0.1f) == -3 && tmap_image_axis_f64(7, 10, 0.1) == -3);
    HOLDS(tmap_image_axis_f32(-7, 10, 0.1f) == 3 && tmap_image_axis_f64(-7, 10, 0.1) == 3);
    HOLDS(tmap_image_axis_f32(4, 10, 0.1f) == 4 && tmap_image_axis_f64(4, 10, 0.1) == 4);
    HOLDS(tmap_image_axis_f32(1e30f, 0, 0) == 1e30f && tmap_image_axis_f64(1e300, 0, 0) == 1e300);
    HOLDS(tmap_image_axis_f32((float)nan, 10, 0.1f) != tmap_image_axis_f32((float)nan, 10, 0.1f));
    HOLDS(tmap_image_axis_f64(nan, 10, 0.1) != tmap_image_axis_f64(nan, 10, 0.1));
    for (int i = 0; i < 200000; ++i) {
        const double length = pow(10, uniform(-5, 5)), inverse = 1 / length;
        const float length32 = (float)length, inverse32 = 1 / length32;
        const double part = uniform(-1.5, 1.5), d = part * length;
        const double far_away = pow(2, uniform(0, 21)) * part;
        const float d32 = (float)part * length32, far32 = (float)far_away * length32;
        const double got = tmap_image_axis_f64(d, length, inverse);
        const float got32 = tmap_image_axis_f32(d32, length32, inverse32);
        const double want32 =
            (double)d32 - floor((double)d32 / (double)length32 + 0.5) * (double)length32;
        kit_case("length %.17g, d %.17g", length, d);
        expect(fabs(got) <= length / 2 + 4.5e-16 * fabs(d), "f64: short");
        expect(got == d || got == d - length || got == d + length, "f64: an image");
        expect(fabs((double)got32) <= (double)length32 / 2 + 2.4e-7 * fabs((double)d32), "short");
        expect(fabs((double)got32 - want32) <= 2.4e-7 * (double)length32 ||
                   fabs(fabs(want32) - (double)length32 / 2) <= 2.4e-7 * (double)length32,
               "f32: the nearest");
        expect(fabs((double)tmap_image_axis_f32(far32, length32, inverse32)) <=
                   (double)length32 / 2 + 2.4e-7 * fabs((double)far32),
               "f32, far away");
    }
}

static void check_refused(void) {
    const double inf = 1e308 * 10;
    const double bad[][9] = {{1, 0, 0, 2, 0, 0, 0, 0, 1},
                             {1, 2, 3, 4, 5, 6, 7, 8, 9},
                             {1, 0, 0, 0, 1, 0, 1, 1, 1e-12},
                             {0, 0, 0, 1, 1, 1, -3, -3, -3},
                             {1, 0, 0, 0, 1, 0, 0, 0, inf * 0}};
    const double range[][9] = {{1, 0, 0, 0, 1, 0, 0, 0, inf},
                               {1, 0, 0, 0, 1, 0, 0, 0, 1e31},
                               {1, 0, 0, 0, 1, 0, 0, 1e-31, 0}};
    const double only64[9] = {1e13, 0, 0, 0, 1e13, 0, 0, 0, 1e13};
    tmap_image_cell_f64 cell, poison;
    tmap_image_cell_f32 cell32, poison32;
    memset(&cell, KIT_POISON, sizeof cell), poison = cell;
    memset(&cell32, KIT_POISON, sizeof cell32), poison32 = cell32;
    for (tmap_u32 i = 0; i < COUNT(bad); ++i) {
        kit_case("bad cell %u", i);
        RETURNS(tmap_image_make_f64(bad[i], &cell), TMAP_EINVAL);
        RETURNS(tmap_image_make_f32(bad[i], &cell32), TMAP_EINVAL);
    }
    for (tmap_u32 i = 0; i < COUNT(range); ++i) {
        kit_case("length out of range %u", i);
        RETURNS(tmap_image_make_f64(range[i], &cell), TMAP_ERANGE);
        RETURNS(tmap_image_make_f32(range[i], &cell32), TMAP_ERANGE);
    }
    RETURNS(tmap_image_make_f32(only64, &cell32), TMAP_ERANGE);
    RETURNS(tmap_image_make_f64(NULL, &cell), TMAP_EINVAL);
    RETURNS(tmap_image_make_f32(NULL, &cell32), TMAP_EINVAL);
    HOLDS(!memcmp(&cell, &poison, sizeof cell) && !memcmp(&cell32, &poison32, sizeof cell32));
    RETURNS(tmap_image_make_f64(only64, &cell), TMAP_OK);
    RETURNS(tmap_image_make_f64(only64, NULL), TMAP_EINVAL);
    RETURNS(tmap_image_make_f32(bad[0], NULL), TMAP_EINVAL);
}

int main(int argc, char **argv) {
    const int cells = argc > 1 ? atoi(argv[1]) : 20000;
    check_axis();
    check_refused();
    check_known(100);
    for (int i = 0; i < cells; ++i) check_random(i, 20);
    printf("%d right-angled; cells by shifts:", squares);
    for (int i = 0; i < 14; ++i) printf(" %d", seen[i]);
    putchar('\n');
    return kit_end("image");
}
