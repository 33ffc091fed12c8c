// SPDX-License-Identifier: MIT
// nbb_kat_file.h: the host's half of the known answers: reads tests/kat/nbb.txt (which explains its
// lines), turns them into the vectors of nbb_kat.h, and compares what a back end answered.
#ifndef NBB_KAT_FILE_H
#define NBB_KAT_FILE_H

#include "check.h"
#include "fractal/nbb_kat.h"

#include <stdlib.h>
#include <string.h>

// A fractal of the file, and what else it says of it.
typedef struct kat_fractal {
    char name[32], rows[300];
    tmap_nbb f;
    tmap_u32 limits[4]; // level_max32, level_max64, linear_level_max32, linear_level_max64
} kat_fractal;

typedef struct kat_size {
    tmap_nbb f;
    tmap_u32 r;
    tmap_u64 side_x, side_y, cells, wx, wy;
} kat_size;

typedef struct kat_file {
    kat_fractal *fractals;
    kat_size *sizes;
    kat_vector *vectors;
    size_t fractal_count, size_count, vector_count;
} kat_file;

// ---- reading ------------------------------------------------------------------------------------

// Room for one more element: *items, of *count elements of `size` bytes, doubles at powers of two.
static inline void *kat_grow(void *items, size_t count, size_t size) {
    if ((count & (count - 1)) == 0) items = realloc(items, (count ? 2 * count : 1) * size);
    if (!items) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return items;
}

static inline void kat_bad_line(const char *line) {
    fprintf(stderr, "the known answers: cannot read \"%.60s\"\n", line);
    exit(2);
}

// The next number of a line; the characters ' ' and ',' part them. A bad one ends the test.
static inline tmap_u64 kat_number(char **p) {
    char *start = *p + strspn(*p, " ,");
    tmap_u64 n = strtoull(start, p, 10);
    if (*p == start) kat_bad_line(start);
    return n;
}

static inline int kat_more(const char *p) { return p[strspn(p, " \n")] != 0; }

// Adds v for the fractal last begun: with the fractal as a run-time value, and as a constant if it
// is one of the catalogue.
static inline void kat_add(kat_file *file, kat_vector v, int has_index) {
    const kat_fractal *now = &file->fractals[file->fractal_count - 1];
    v.f = now->f;
    v.constant = -1;
    if (v.r <= now->limits[0] && v.x >> 32 == 0 && v.y >> 32 == 0) v.asks |= KAT_32;
    if ((v.asks & KAT_CELL) && has_index)
        v.asks |= KAT_LINEAR64 | (v.r <= now->limits[2] ? KAT_LINEAR32 : 0);
    if ((v.asks & KAT_32) && strcmp(now->name, "gasket") == 0) v.asks |= KAT_GASKET;
    for (int constant = -1; constant < TMAP_FRACTAL_COUNT; ++constant) {
        if (constant >= 0 && strcmp(now->name, tmap_fractal_name(constant)) != 0) continue;
        v.constant = constant;
        file->vectors = (kat_vector *)kat_grow(file->vectors, file->vector_count, sizeof v);
        file->vectors[file->vector_count++] = v;
    }
}

static inline void kat_read_fractal(kat_file *file, const char *line) {
    kat_fractal next;
    memset(&next, 0, sizeof next);
    if (sscanf(line, "%31s %299s %u %u %u", next.name, next.rows, &next.f.k, &next.f.sx,
               &next.f.sy) != 5)
        kat_bad_line(line);
    file->fractals = (kat_fractal *)kat_grow(file->fractals, file->fractal_count, sizeof next);
    file->fractals[file->fractal_count++] = next;
}

static inline void kat_read_tau(tmap_nbb *f, char *p) {
    for (tmap_u32 beta = 0; beta < f->k; ++beta) {
        f->tau_x |= kat_number(&p) << 4 * beta;
        f->tau_y |= kat_number(&p) << 4 * beta;
    }
}

static inline void kat_read_size(kat_file *file, char *p) {
    kat_size size;
    size.f = file->fractals[file->fractal_count - 1].f;
    size.r = (tmap_u32)kat_number(&p);
    size.side_x = kat_number(&p);
    size.side_y = kat_number(&p);
    size.cells = kat_number(&p);
    size.wx = kat_number(&p);
    size.wy = kat_number(&p);
    file->sizes = (kat_size *)kat_grow(file->sizes, file->size_count, sizeof size);
    file->sizes[file->size_count++] = size;
}

// Of a picture only the blanks become vectors: its cells are those of the `cells` line.
static inline void kat_read_picture(kat_file *file, char *p) {
    kat_vector v;
    memset(&v, 0, sizeof v);
    v.r = (tmap_u32)kat_number(&p);
    for (++p; *p && *p != '\n'; ++p) {
        if (*p == '/') {
            v.x = 0;
            ++v.y;
            continue;
        }
        if (*p == '.') kat_add(file, v, 0);
        ++v.x;
    }
}

static inline void kat_read_cells(kat_file *file, char *p) {
    kat_vector v;
    memset(&v, 0, sizeof v);
    v.r = (tmap_u32)kat_number(&p);
    v.asks = KAT_CELL;
    for (; kat_more(p); ++v.i) {
        v.wx = kat_number(&p);
        v.wy = kat_number(&p);
        v.x = kat_number(&p);
        v.y = kat_number(&p);
        kat_add(file, v, 1);
    }
}

static inline void kat_read_cell(kat_file *file, char *p) {
    kat_vector v;
    int has_index;
    memset(&v, 0, sizeof v);
    v.asks = KAT_CELL;
    v.r = (tmap_u32)kat_number(&p);
    v.wx = kat_number(&p);
    v.wy = kat_number(&p);
    p += strspn(p, " ");
    has_index = *p != '-';
    if (has_index)
        v.i = kat_number(&p);
    else
        ++p;
    v.x = kat_number(&p);
    v.y = kat_number(&p);
    kat_add(file, v, has_index);
}

static inline void kat_read_hole(kat_file *file, char *p) {
    kat_vector v;
    memset(&v, 0, sizeof v);
    v.r = (tmap_u32)kat_number(&p);
    v.x = kat_number(&p);
    v.y = kat_number(&p);
    kat_add(file, v, 0);
}

static inline void kat_read_line(kat_file *file, char *line) {
    char *p = line + strcspn(line, " ");
    size_t n = (size_t)(p - line);
    kat_fractal *now = file->fractal_count ? &file->fractals[file->fractal_count - 1] : NULL;
#define KAT_IS(word) (n == sizeof(word) - 1 && memcmp(line, word, n) == 0)
    if (*line == '#' || *line == '\n') return;
    if (KAT_IS("fractal"))
        kat_read_fractal(file, p);
    else if (!now)
        kat_bad_line(line);
    else if (KAT_IS("tau"))
        kat_read_tau(&now->f, p);
    else if (KAT_IS("limits"))
        for (int i = 0; i < 4; ++i) now->limits[i] = (tmap_u32)kat_number(&p);
    else if (KAT_IS("size"))
        kat_read_size(file, p);
    else if (KAT_IS("picture"))
        kat_read_picture(file, p);
    else if (KAT_IS("cells"))
        kat_read_cells(file, p);
    else if (KAT_IS("cell"))
        kat_read_cell(file, p);
    else if (KAT_IS("hole"))
        kat_read_hole(file, p);
    else
        kat_bad_line(line);
#undef KAT_IS
}

// Reads $TMAP_KAT/nbb.txt; ends the test with 2 where it cannot be read.
static inline kat_file kat_read(void) {
    static char path[1000], line[1 << 14];
    const char *folder = getenv("TMAP_KAT");
    kat_file file;
    FILE *in;
    memset(&file, 0, sizeof file);
    snprintf(path, sizeof path, "%s/nbb.txt", folder ? folder : "tests/kat");
    in = fopen(path, "r");
    if (!in) {
        fprintf(stderr, "cannot open %s (set TMAP_KAT to the folder tests/kat)\n", path);
        exit(2);
    }
    while (fgets(line, sizeof line, in)) {
        if (!strchr(line, '\n')) kat_bad_line("a line that is too long");
        kat_read_line(&file, line);
    }
    fclose(in);
    // a file cut short must not pass
    CHECK(file.fractal_count >= 20 && file.vector_count > 20000, "%zu fractals, %zu vectors",
          file.fractal_count, file.vector_count);
    return file;
}

static inline void kat_free(kat_file *file) {
    free(file->fractals);
    free(file->sizes);
    free(file->vectors);
}

// ---- comparing ----------------------------------------------------------------------------------

// What the definition says about v: each map gives the other side of the pair, or contains says no.
static inline kat_answer kat_expected(const kat_vector *v) {
    kat_answer a;
    int cell = (v->asks & KAT_CELL) != 0;
    kat_nothing(&a);
    if (v->constant >= 0) a.hash_x = v->f.tau_x, a.hash_y = v->f.tau_y;
    if (!cell) return a; // not a cell: every contains says 0
    a.contains64 = 1;
    a.lambda64_x = a.delta64_x = v->x;
    a.lambda64_y = a.delta64_y = v->y;
    a.nu64_x = v->wx;
    a.nu64_y = v->wy;
    if (v->asks & KAT_32) {
        a.contains = 1;
        a.lambda_x = a.delta_x = v->x;
        a.lambda_y = a.delta_y = v->y;
        a.nu_x = v->wx;
        a.nu_y = v->wy;
    }
    if (v->asks & KAT_LINEAR64) {
        a.lambda_linear64_x = v->x;
        a.lambda_linear64_y = v->y;
        a.nu_linear64 = v->i;
    }
    if (v->asks & KAT_LINEAR32) {
        a.lambda_linear_x = v->x;
        a.lambda_linear_y = v->y;
        a.nu_linear = v->i;
    }
    if (v->asks & KAT_GASKET) {
        a.gasket_contains = v->r < 32; // its side n = 2^r is a 32-bit argument
        a.gasket_lambda_x = v->x;
        a.gasket_lambda_y = v->y;
        a.gasket_nu_x = v->wx;
        a.gasket_nu_y = v->wy;
        if (v->asks & KAT_LINEAR32) {
            a.gasket_linear_x = v->x;
            a.gasket_linear_y = v->y;
            a.gasket_nu_linear = v->i;
        }
    }
    return a;
}

// Fills answers with what no map gives, before a back end writes them.
static inline void kat_poison(kat_answer *answers, size_t n) {
    memset(answers, 0xa5, n * sizeof *answers);
}

static inline void kat_compare(const kat_file *file, const kat_answer *answers) {
    for (size_t n = 0; n < file->vector_count; ++n) {
        const kat_vector *v = &file->vectors[n];
        kat_answer want = kat_expected(v);
#define KAT_COMPARE(name) \
    CHECK(answers[n].name == want.name, \
          "%llu, not %llu; k=%u %ux%u constant=%d r=%u w=(%llu,%llu) i=%llu (%llu,%llu)", \
          answers[n].name, want.name, v->f.k, v->f.sx, v->f.sy, v->constant, v->r, v->wx, v->wy, \
          v->i, v->x, v->y);
        KAT_ANSWERS(KAT_COMPARE)
#undef KAT_COMPARE
    }
    printf("%zu vectors of %zu answers\n", file->vector_count, KAT_ANSWER_COUNT);
}

#endif
