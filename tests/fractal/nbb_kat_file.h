// SPDX-License-Identifier: MIT
// nbb_kat_file.h: the host's half of the known answers: makes the vectors of nbb_kat.h as generate.py
// does, compares their hashes with those of tests/kat/nbb.txt and nbb3.txt, and compares what a back end answered.
#ifndef NBB_KAT_FILE_H
#define NBB_KAT_FILE_H

#include "fractal/brute.h"
#include "fractal/nbb_kat.h"
#include "kat/kat_file.h"

// A fractal of the file, and what else it says of it.
typedef struct kat_fractal {
    char name[32], rows[272];
    brute b; // by its rows
    tmap_nbb f;
    tmap_nbb3 f3;
    tmap_u32 limits[4]; // level_max32, level_max64, linear_level_max32, linear_level_max64
} kat_fractal;

typedef struct kat_size {
    const kat_fractal *of;
    tmap_u32 r;
    tmap_u64 side_x, side_y, side_z, cells, wx, wy, wz;
} kat_size;

enum { KAT_FRACTALS = 64, KAT_SIZES = 800, KAT_VECTORS = 60000 }; // at most

typedef struct kat_file {
    kat_fractal *fractals;
    kat_size *sizes;
    kat_vector *vectors;
    size_t fractal_count, size_count, vector_count;
    tmap_u64 random, hash; // the state of the generator; of the vectors so far
} kat_file;

// ---- reading ------------------------------------------------------------------------------------

// Adds v for the fractal last begun: with the fractal as a run-time value, and as a constant if it
// is one of the catalogue.
static inline void kat_add(kat_file *file, kat_vector v, int has_index) {
    const kat_fractal *now = &file->fractals[file->fractal_count - 1];
    const int cell = (v.asks & KAT_CELL) != 0, dims = now->b.dims;
    const int constants = dims == 2 ? TMAP_FRACTAL_COUNT : TMAP_FRACTAL3_COUNT;
    const tmap_u64 w[] = {v.wx, v.wy, v.wz}, at[] = {v.x, v.y, v.z};
    file->hash = kit_mix(kit_mix(file->hash, (tmap_u64)(cell + has_index)), v.r);
    for (int i = 0; cell && i < dims; ++i) file->hash = kit_mix(file->hash, w[i]);
    if (has_index) file->hash = kit_mix(file->hash, v.i);
    for (int i = 0; i < dims; ++i) file->hash = kit_mix(file->hash, at[i]);
    v.f = now->f, v.f3 = now->f3, v.dims = dims;
    if (v.r <= now->limits[0] && (v.x | v.y | v.z) >> 32 == 0) v.asks |= KAT_32;
    if (has_index) v.asks |= KAT_LINEAR64 | (v.r <= now->limits[2] ? KAT_LINEAR32 : 0);
    if ((v.asks & KAT_32) && strcmp(now->name, "gasket") == 0) v.asks |= KAT_GASKET;
    for (v.constant = -1; v.constant < constants; ++v.constant) {
        if (v.constant >= 0 && strcmp(now->name, dims == 2 ? tmap_fractal_name(v.constant)
                                                           : tmap_fractal3_name(v.constant)) != 0)
            continue;
        if (file->vector_count == KAT_VECTORS) kat_bad_line(now->name);
        file->vectors[file->vector_count++] = v;
    }
}

static inline void kat_add_place(kat_file *file, tmap_u32 r, tmap_u64 x, tmap_u64 y, tmap_u64 z) {
    kat_vector v;
    memset(&v, 0, sizeof v);
    v.r = r, v.x = x, v.y = y, v.z = z;
    kat_add(file, v, 0);
}

static inline void kat_add_size(kat_file *file, kat_size size) {
    const tmap_u64 hashed[] = {size.r,     size.side_x, size.side_y, size.side_z,
                               size.cells, size.wx,     size.wy,     size.wz};
    size.of = &file->fractals[file->fractal_count - 1];
    for (int i = 0; i < 8; ++i)
        if (size.of->b.dims == 3 || (i != 3 && i != 7)) file->hash = kit_mix(file->hash, hashed[i]);
    if (file->size_count == KAT_SIZES) kat_bad_line("size");
    file->sizes[file->size_count++] = size;
}

// The fractal, its replicas by its rows.
static inline void kat_read_fractal(kat_file *file, const char *line, int dims) {
    kat_fractal next;
    tmap_nbb *f = &next.f;
    tmap_nbb3 *f3 = &next.f3;
    memset(&next, 0, sizeof next);
    if (sscanf(line, "%31s %271s %u %u %u %u", next.name, next.rows, &f3->k, &f3->sx, &f3->sy,
               &f3->sz) != 3 + dims)
        kat_bad_line(line);
    next.b = brute_read(next.rows, dims);
    if (dims == 2) f->k = f3->k, f->sx = f3->sx, f->sy = f3->sy;
    for (int beta = 0; beta < next.b.k; ++beta) {
        const tmap_u64 x = (tmap_u64)next.b.tau_x[beta], y = (tmap_u64)next.b.tau_y[beta];
        if (dims == 2)
            f->tau_x |= x << 4 * beta, f->tau_y |= y << 4 * beta;
        else
            f3->tau_x |= x << 2 * beta, f3->tau_y |= y << 2 * beta,
                f3->tau_z |= (tmap_u64)next.b.tau_z[beta] << 2 * beta;
    }
    if (file->fractal_count == KAT_FRACTALS) kat_bad_line(line);
    file->fractals[file->fractal_count++] = next;
}

static inline void kat_read_size(kat_file *file, char *p) {
    const int deep = file->fractals[file->fractal_count - 1].b.dims == 3;
    kat_size size;
    size.r = (tmap_u32)kat_number(&p);
    size.side_x = kat_number(&p), size.side_y = kat_number(&p);
    size.side_z = deep ? kat_number(&p) : 1, size.cells = kat_number(&p);
    size.wx = kat_number(&p), size.wy = kat_number(&p), size.wz = deep ? kat_number(&p) : 1;
    kat_add_size(file, size);
}

static inline void kat_read_cell(kat_file *file, char *p) {
    const int deep = file->fractals[file->fractal_count - 1].b.dims == 3;
    kat_vector v;
    int has_index;
    memset(&v, 0, sizeof v);
    v.asks = KAT_CELL, v.r = (tmap_u32)kat_number(&p);
    v.wx = kat_number(&p), v.wy = kat_number(&p), v.wz = deep ? kat_number(&p) : 0;
    has_index = p[1] != '-';
    if (has_index)
        v.i = kat_number(&p);
    else
        p += 2;
    v.x = kat_number(&p), v.y = kat_number(&p), v.z = deep ? kat_number(&p) : 0;
    kat_add(file, v, has_index);
}

static inline void kat_read_hole(kat_file *file, char *p) {
    const tmap_u32 r = (tmap_u32)kat_number(&p);
    const tmap_u64 x = kat_number(&p), y = kat_number(&p);
    const int deep = file->fractals[file->fractal_count - 1].b.dims == 3;
    kat_add_place(file, r, x, y, deep ? kat_number(&p) : 0);
}

// ---- the vectors of generate.py, in its order ---------------------------------------------------

// base^e, or 2^64 - 1 where that does not fit.
static inline tmap_u64 kat_power(int base, tmap_u32 e) {
    tmap_u64 p = 1;
    while (e--) p = p > ~0ull / (tmap_u64)base ? ~0ull : p * (tmap_u64)base;
    return p;
}

// Levels in ascending order, each once. Returns their number.
static inline int kat_sorted(tmap_u32 *levels, int n) {
    int count = 0;
    for (tmap_u32 r = 0; r <= 64; ++r) {
        int found = 0;
        for (int i = count; i < n; ++i)
            if (levels[i] == r) levels[i] = levels[count], found = 1, levels[count] = r;
        count += found;
    }
    return count;
}

static inline void kat_sizes(kat_file *file, const kat_fractal *now) {
    const brute *b = &now->b;
    tmap_u32 levels[14] = {0, 1, 2, 3, 7, 16, 21, 40, 63, 64};
    memcpy(levels + 10, now->limits, sizeof now->limits);
    for (int beta = 0; beta < b->k; ++beta) {
        const int tau[] = {b->tau_x[beta], b->tau_y[beta], b->tau_z[beta]};
        for (int i = 0; i < b->dims; ++i) file->hash = kit_mix(file->hash, (tmap_u64)tau[i]);
    }
    for (int i = 0, n = kat_sorted(levels, 14); i < n; ++i) {
        const tmap_u32 r = levels[i], dims = (tmap_u32)b->dims;
        const kat_size size = {now,
                               r,
                               kat_power(b->sx, r),
                               kat_power(b->sy, r),
                               kat_power(b->sz, r),
                               kat_power(b->k, r),
                               kat_power(b->k, (r + dims - 1) / dims),
                               kat_power(b->k, (r + dims - 2) / dims),
                               dims == 3 ? kat_power(b->k, r / 3) : 1};
        kat_add_size(file, size);
    }
}

// All blanks of pictures of up to 800 places, all cells of lists of up to 260.
static inline void kat_small(kat_file *file, const brute *b) {
    static char small[801], picture[800 * 256 + 1];
    static brute_cell cells[260 * 32];
    size_t n = 1;
    int drawn = 1, listed = 1;
    memset(cells, 0, sizeof *cells), picture[0] = 1;
    for (tmap_u32 r = 0; r <= 9; ++r) {
        const tmap_u64 width = kat_power(b->sx, r), height = kat_power(b->sy, r);
        const tmap_u64 places = width * height * kat_power(b->sz, r);
        if (r && drawn) {
            memcpy(small, picture, (size_t)places / (size_t)(b->sx * b->sy * b->sz));
            brute_grow_picture(b, (int)r, small, picture);
        }
        if (r && listed) n = brute_grow_cells(b, (int)r, cells, n);
        drawn &= places <= 800, listed &= n <= 260;
        for (tmap_u64 i = 0; drawn && i < places; ++i)
            if (!picture[i])
                kat_add_place(file, r, i % width, i / width % height, i / width / height);
        for (size_t i = 0; listed && i < n; ++i) {
            kat_vector v;
            memset(&v, 0, sizeof v);
            v.r = r, v.asks = KAT_CELL, v.wx = cells[i].wx, v.wy = cells[i].wy, v.wz = cells[i].wz;
            v.i = i, v.x = cells[i].x, v.y = cells[i].y, v.z = cells[i].z;
            kat_add(file, v, 1);
        }
        if (!drawn && !listed) break;
    }
}

// The cell of digits beta_1 .. beta_r.
static inline void kat_add_digits(kat_file *file, const brute *b, tmap_u32 r, const int *digits) {
    const tmap_u64 k = (tmap_u64)b->k;
    kat_vector v;
    int has_index = 1;
    memset(&v, 0, sizeof v);
    v.asks = KAT_CELL, v.r = r;
    for (tmap_u32 mu = r; mu-- > 0;) { // the coarsest level first
        const tmap_u64 beta = (tmap_u64)digits[mu];
        const tmap_u32 axis = mu % (tmap_u32)b->dims;
        tmap_u64 *w = axis == 0 ? &v.wx : axis == 1 ? &v.wy : &v.wz;
        has_index = has_index && v.i <= (~0ull - beta) / k;
        *w = *w * k + beta, v.i = v.i * k + beta;
        v.x = v.x * (tmap_u64)b->sx + (tmap_u64)b->tau_x[beta];
        v.y = v.y * (tmap_u64)b->sy + (tmap_u64)b->tau_y[beta];
        v.z = v.z * (tmap_u64)b->sz + (tmap_u64)b->tau_z[beta];
    }
    kat_add(file, v, has_index);
}

static inline void kat_large(kat_file *file, const kat_fractal *now) {
    const brute *b = &now->b;
    const tmap_u32 *limits = now->limits;
    tmap_u32 levels[10] = {limits[0],
                           limits[1],
                           limits[2],
                           limits[3],
                           limits[0] - 1,
                           limits[1] - 1,
                           5,
                           6,
                           11,
                           1 + (tmap_u32)kit_below(&file->random, limits[1])};
    int empty_x[256], empty_y[256], empty_z[256], empty = 0;
    for (int i = 0; i < b->sx * b->sy * b->sz; ++i)
        if (b->row[i / b->sx][i % b->sx] != '#') {
            empty_x[empty] = i % b->sx, empty_y[empty] = i / b->sx % b->sy;
            empty_z[empty++] = i / b->sx / b->sy;
        }
    for (int i = 0, n = kat_sorted(levels, 10); i < n; ++i) {
        const tmap_u32 r = levels[i];
        int draws[9][64] = {{0}}; // three that are special, and six at random
        if (r > limits[1]) continue;
        for (int d = 0; d < 9; ++d)
            for (tmap_u32 mu = 0; mu < r; ++mu)
                draws[d][mu] = d > 2 ? (int)kit_below(&file->random, (tmap_u64)b->k)
                               : d == 0 || mu == (d == 1 ? 0 : r - 1) ? b->k - 1
                                                                      : 0;
        for (int d = 0; d < 9; ++d) kat_add_digits(file, b, r, draws[d]);
        for (int d = 3; d < 7; ++d) { // one empty box makes a hole; the last one is a place outside
            const int hole = d < 6 && empty;
            const int box = hole ? (int)kit_below(&file->random, (tmap_u64)empty) : 0;
            const tmap_u32 at = hole ? (tmap_u32)kit_below(&file->random, r) : r;
            tmap_u64 x = 0, y = 0, z = 0, width = kat_power(b->sx, r), height = kat_power(b->sy, r);
            const tmap_u64 depth = kat_power(b->sz, r);
            for (tmap_u32 mu = r; mu-- > 0;) {
                const int beta = draws[d < 6 ? d : 3][mu];
                const int tx = mu == at ? empty_x[box] : b->tau_x[beta];
                const int ty = mu == at ? empty_y[box] : b->tau_y[beta];
                const int tz = mu == at ? empty_z[box] : b->tau_z[beta];
                x = x * (tmap_u64)b->sx + (tmap_u64)tx, y = y * (tmap_u64)b->sy + (tmap_u64)ty;
                z = z * (tmap_u64)b->sz + (tmap_u64)tz;
            }
            if (hole) kat_add_place(file, r, x, y, z);
            if (d == 6 && width < ~0ull && x <= ~0ull - width)
                kat_add_place(file, r, x + width, y, z);
            if (d == 6 && height < ~0ull && y <= ~0ull - height)
                kat_add_place(file, r, x, y + height, z);
            if (d == 6 && b->dims == 3 && depth < ~0ull && z <= ~0ull - depth)
                kat_add_place(file, r, x, y, z + depth);
        }
    }
}

// Makes all vectors of the fractal last begun, whose hashes the line has.
static inline void kat_read_hash(kat_file *file, char *p) {
    static const char *const names[] = {"sizes", "small levels", "large levels"};
    const kat_fractal *now = &file->fractals[file->fractal_count - 1];
    for (int group = 0; group < 3; ++group) {
        const tmap_u64 want = kat_number(&p);
        file->hash = 0;
        if (group == 0) kat_sizes(file, now);
        if (group == 1) kat_small(file, &now->b);
        if (group == 2) kat_large(file, now);
        EXPECT(file->hash == want, "%s: the vectors of %s are not those of generate.py", now->name,
               names[group]);
    }
}

// ---- the file -----------------------------------------------------------------------------------

// Reads one of the files, and makes the vectors of each of its fractals.
static inline void kat_read_more(kat_file *file, const char *name, int dims) {
    FILE *in = kat_open(name);
    const size_t fractals = file->fractal_count, vectors = file->vector_count;
    kat_fractal *now = NULL;
    char *word, *p;
    file->random = 20240229;
    while ((p = kat_line(in, &word)) != NULL) {
        if (!strcmp(word, "fractal"))
            kat_read_fractal(file, p, dims), now = &file->fractals[file->fractal_count - 1];
        else if (!now)
            kat_bad_line(word);
        else if (!strcmp(word, "limits"))
            for (int i = 0; i < 4; ++i) now->limits[i] = (tmap_u32)kat_number(&p);
        else if (!strcmp(word, "size"))
            kat_read_size(file, p);
        else if (!strcmp(word, "hash"))
            kat_read_hash(file, p);
        else if (!strcmp(word, "cell"))
            kat_read_cell(file, p);
        else if (!strcmp(word, "hole"))
            kat_read_hole(file, p);
        else
            kat_bad_line(word);
    }
    // a file cut short must not pass
    EXPECT(file->fractal_count - fractals >= 18 &&
               file->vector_count - vectors > (dims == 2 ? 20000u : 10000u),
           "%s: %zu fractals, %zu vectors", name, file->fractal_count - fractals,
           file->vector_count - vectors);
}

static inline kat_file kat_read(void) {
    kat_file file;
    memset(&file, 0, sizeof file);
    file.fractals = (kat_fractal *)kit_host(KAT_FRACTALS * sizeof *file.fractals);
    file.sizes = (kat_size *)kit_host(KAT_SIZES * sizeof *file.sizes);
    file.vectors = (kat_vector *)kit_host(KAT_VECTORS * sizeof *file.vectors);
    kat_read_more(&file, "nbb.txt", 2);
    kat_read_more(&file, "nbb3.txt", 3);
    return file;
}

// ---- comparing ----------------------------------------------------------------------------------

// What the definition says about v: each map gives the other side of the pair, or contains says no.
static inline kat_answer kat_expected(const kat_vector *v) {
    kat_answer a;
    int cell = (v->asks & KAT_CELL) != 0;
    kat_nothing(&a);
    if (v->constant >= 0 && v->dims == 2) a.hash_x = v->f.tau_x, a.hash_y = v->f.tau_y;
    if (!cell) return a; // not a cell: every contains says 0
    a.contains64 = 1;
    a.lambda64_x = a.delta64_x = v->x;
    a.lambda64_y = a.delta64_y = v->y;
    a.lambda64_z = a.delta64_z = v->z;
    a.nu64_x = v->wx;
    a.nu64_y = v->wy;
    a.nu64_z = v->wz;
    if (v->asks & KAT_32) {
        a.contains = 1;
        a.lambda_x = a.delta_x = v->x;
        a.lambda_y = a.delta_y = v->y;
        a.lambda_z = a.delta_z = v->z;
        a.nu_x = v->wx;
        a.nu_y = v->wy;
        a.nu_z = v->wz;
    }
    if (v->asks & KAT_LINEAR64) {
        a.lambda_linear64_x = v->x;
        a.lambda_linear64_y = v->y;
        a.lambda_linear64_z = v->z;
        a.nu_linear64 = v->i;
    }
    if (v->asks & KAT_LINEAR32) {
        a.lambda_linear_x = v->x;
        a.lambda_linear_y = v->y;
        a.lambda_linear_z = v->z;
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

static inline void kat_compare(const kat_file *file, const kat_answer *answers) {
    for (size_t n = 0; n < file->vector_count; ++n) {
        const kat_vector *v = &file->vectors[n];
        kat_answer want = kat_expected(v);
#define KAT_COMPARE(name) \
    EXPECT(answers[n].name == want.name, \
           "%llu, not %llu; %dD k=%u constant=%d r=%u w=(%llu,%llu,%llu) i=%llu " \
           "(%llu,%llu,%llu)", \
           answers[n].name, want.name, v->dims, v->dims == 2 ? v->f.k : v->f3.k, v->constant, \
           v->r, v->wx, v->wy, v->wz, v->i, v->x, v->y, v->z);
        KAT_ANSWERS(KAT_COMPARE)
#undef KAT_COMPARE
    }
    printf("%zu vectors of %zu answers\n", file->vector_count, KAT_ANSWER_COUNT);
}

#endif
