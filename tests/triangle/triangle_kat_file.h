// SPDX-License-Identifier: MIT
// triangle_kat_file.h: the host's half of the known answers: reads tests/kat/triangle.txt (which
// explains its lines) and compares what a back end answered.
#ifndef TRIANGLE_KAT_FILE_H
#define TRIANGLE_KAT_FILE_H

#include "check.h"
#include "triangle/triangle_kat.h"

#include <stdlib.h>
#include <string.h>

// Counts and tiles are asked of the host alone, while the file is read.
typedef struct kat_file {
    kat_vector *vectors;
    size_t vector_count, hash_count;
    kat_hash hashes[32];
} kat_file;

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

// The next word of a line as an order.
static inline tmap_u32 kat_read_order(char **p) {
    static const char *const names[KAT_ORDERS] = {"lower", "strict", "upper", "condensed",
                                                  "simplex"};
    char *start = *p + strspn(*p, " ");
    size_t n = strcspn(start, " \n");
    for (tmap_u32 order = 0; order < KAT_ORDERS; ++order)
        if (strlen(names[order]) == n && memcmp(names[order], start, n) == 0) {
            *p = start + n;
            return order;
        }
    kat_bad_line(start);
    return 0;
}

static inline void kat_add(kat_file *file, kat_vector v) {
    size_t n = file->vector_count;
    if ((n & (n - 1)) == 0) {
        file->vectors = (kat_vector *)realloc(file->vectors, (n ? 2 * n : 1) * sizeof v);
        if (!file->vectors) exit(2);
    }
    file->vectors[file->vector_count++] = v;
}

static inline void kat_read_cells(kat_file *file, char *p) {
    kat_vector v;
    memset(&v, 0, sizeof v);
    v.order = kat_read_order(&p);
    v.n = kat_number(&p);
    if (v.order != KAT_UPPER && v.order != KAT_CONDENSED) v.n = 0;
    for (; kat_more(p); ++v.number) {
        v.i = kat_number(&p);
        v.j = kat_number(&p);
        if (v.order == KAT_SIMPLEX) v.k = kat_number(&p);
        kat_add(file, v);
    }
}

static inline void kat_read_cell(kat_file *file, char *p) {
    kat_vector v;
    v.order = kat_read_order(&p);
    v.n = kat_number(&p);
    v.number = kat_number(&p);
    v.i = kat_number(&p);
    v.j = kat_number(&p);
    v.k = kat_number(&p);
    kat_add(file, v);
}

static inline void kat_check_count(char *p) {
    tmap_u64 n = kat_number(&p), lower = kat_number(&p), strict = kat_number(&p);
    CHECK(tmap_triangle_cells(n) == lower, "n=%llu", n);
    CHECK(tmap_triangle_cells_strict(n) == strict, "n=%llu", n);
    CHECK(tmap_condensed_cells(n) == strict, "n=%llu", n);
    CHECK(tmap_simplex_cells(n) == kat_number(&p), "n=%llu", n);
}

// The tiles of one triangle, and the cells of each, thread by thread.
static inline void kat_check_tiles(char *p) {
    tmap_u32 n = (tmap_u32)kat_number(&p), rho = (tmap_u32)kat_number(&p), lambda = 0;
    for (; kat_more(p); ++lambda) {
        tmap_triangle_tile t = tmap_triangle_tile_map(lambda, n, rho);
        tmap_triangle_tile u = tmap_triangle_tile_map64(lambda, n, rho);
        tmap_u64 cells = 0, strict = 0;
        CHECK(memcmp(&t, &u, sizeof t) == 0, "n=%u rho=%u lambda=%u", n, rho, lambda);
        CHECK(t.i == kat_number(&p), "n=%u rho=%u lambda=%u", n, rho, lambda);
        CHECK(t.j == kat_number(&p), "n=%u rho=%u lambda=%u", n, rho, lambda);
        CHECK(t.rows == kat_number(&p), "n=%u rho=%u lambda=%u", n, rho, lambda);
        CHECK(t.columns == kat_number(&p), "n=%u rho=%u lambda=%u", n, rho, lambda);
        CHECK(t.diagonal == (int)kat_number(&p), "n=%u rho=%u lambda=%u", n, rho, lambda);
        for (tmap_u32 y = 0; y < rho + 2; ++y)
            for (tmap_u32 x = 0; x < rho + 2; ++x) {
                tmap_u32 i = t.i + y, j = t.j + x;
                int in = x < rho && y < rho && i < n && j < n;
                CHECK(tmap_triangle_tile_contains(t, x, y) == (in && j <= i), "(%u,%u)", i, j);
                CHECK(tmap_triangle_tile_contains_strict(t, x, y) == (in && j < i), "(%u,%u)", i,
                      j);
                cells += (tmap_u64)tmap_triangle_tile_contains(t, x, y);
                strict += (tmap_u64)tmap_triangle_tile_contains_strict(t, x, y);
            }
        CHECK(tmap_triangle_tile_cells(t) == cells && cells == kat_number(&p), "lambda=%u", lambda);
        CHECK(tmap_triangle_tile_cells_strict(t) == strict && strict == kat_number(&p), "lambda=%u",
              lambda);
    }
    CHECK(tmap_triangle_tiles(n, rho) == lambda, "n=%u rho=%u", n, rho);
    CHECK(tmap_triangle_tile_map(lambda, n, rho).rows == 0, "n=%u rho=%u", n, rho);
}

static inline void kat_read_hash(kat_file *file, char *p) {
    kat_hash h;
    h.order = kat_read_order(&p);
    h.bits = (tmap_u32)kat_number(&p);
    h.count = (tmap_u32)kat_number(&p);
    h.sum = kat_number(&p);
    if (file->hash_count == sizeof file->hashes / sizeof *file->hashes) kat_bad_line("hash");
    file->hashes[file->hash_count++] = h;
}

// Reads $TMAP_KAT/triangle.txt; ends the test with 2 where it cannot be read.
static inline kat_file kat_read(void) {
    static char path[1000], line[1 << 14];
    const char *folder = getenv("TMAP_KAT");
    kat_file file;
    FILE *in;
    memset(&file, 0, sizeof file);
    snprintf(path, sizeof path, "%s/triangle.txt", folder ? folder : "tests/kat");
    in = fopen(path, "r");
    if (!in) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, in)) {
        char *p = line + strcspn(line, " \n");
        size_t n = (size_t)(p - line);
        if (*line == '#' || *line == '\n') continue;
        if (n == 5 && memcmp(line, "cells", 5) == 0)
            kat_read_cells(&file, p);
        else if (n == 4 && memcmp(line, "cell", 4) == 0)
            kat_read_cell(&file, p);
        else if (n == 5 && memcmp(line, "count", 5) == 0)
            kat_check_count(p);
        else if (n == 5 && memcmp(line, "tiles", 5) == 0)
            kat_check_tiles(p);
        else if (n == 4 && memcmp(line, "hash", 4) == 0)
            kat_read_hash(&file, p);
        else
            kat_bad_line(line);
    }
    fclose(in);
    CHECK(file.vector_count > 1500 && file.hash_count == 15, "%zu vectors", file.vector_count);
    return file;
}

static inline void kat_poison(kat_answer *answers, size_t n) {
    memset(answers, 0x5a, n * sizeof *answers);
}

static inline void kat_compare(const kat_file *file, const kat_answer *answers) {
    for (size_t at = 0; at < file->vector_count; ++at) {
        const kat_vector *v = &file->vectors[at];
        const kat_answer *a = &answers[at];
#define KAT_SAME(field, want) \
    CHECK(a->field == v->want, "order %u, n=%llu, number %llu: %llu, not %llu", v->order, v->n, \
          v->number, a->field, v->want)
        KAT_SAME(i, i);
        KAT_SAME(j, j);
        KAT_SAME(k, k);
        KAT_SAME(number, number);
        KAT_SAME(i32, i);
        KAT_SAME(j32, j);
        KAT_SAME(k32, k);
        KAT_SAME(number32, number);
        KAT_SAME(other_i, i);
        KAT_SAME(other_j, j);
#undef KAT_SAME
    }
}

// sums[i]: what a back end made of hash i. Prints the hashes, so that logs of machines can be
// compared.
static inline void kat_compare_hashes(const kat_file *file, const tmap_u64 *sums) {
    for (size_t i = 0; i < file->hash_count; ++i) {
        const kat_hash *h = &file->hashes[i];
        printf("hash: order %u, %u bits, %u numbers: %llu\n", h->order, h->bits, h->count, sums[i]);
        CHECK(sums[i] == h->sum, "order %u, %u bits: %llu, not %llu", h->order, h->bits, sums[i],
              h->sum);
    }
}

// Sum of the cell hashes of one line, on the host; the 32-bit form must agree where it applies.
static inline tmap_u64 kat_hash_host(const kat_hash *h) {
    tmap_u64 state = h->bits, sum = 0;
    for (tmap_u32 i = 0; i < h->count; ++i) {
        tmap_u64 number = kat_random(&state, h->bits);
        sum += kat_cell_hash(h->order, number, 1);
        if (h->bits <= 32)
            CHECK(kat_cell_hash(h->order, number, 0) == kat_cell_hash(h->order, number, 1),
                  "order %u, number %llu", h->order, number);
    }
    return sum;
}

static inline void kat_free(kat_file *file) { free(file->vectors); }

#endif
