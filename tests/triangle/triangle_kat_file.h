// SPDX-License-Identifier: MIT
// triangle_kat_file.h: the host's half of the known answers: makes the vectors as generate_triangle.py
// does, compares their hashes with those of tests/kat/triangle.txt, and compares what a back end
// answered.
#ifndef TRIANGLE_KAT_FILE_H
#define TRIANGLE_KAT_FILE_H

#include "kat/kat_file.h"
#include "triangle/triangle_kat.h"

__extension__ typedef unsigned __int128 kat_u128;

// Counts and tiles are asked of the host alone, while the file is read.
enum { KAT_VECTORS = 4000 }; // at most

typedef struct kat_file {
    kat_vector *vectors;
    size_t vector_count, hash_count;
    tmap_u64 small[KAT_ORDERS], large[KAT_ORDERS]; // hashes of the vectors
    kat_hash hashes[32];
} kat_file;

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
    if (file->vector_count == KAT_VECTORS) kat_bad_line("cell");
    file->vectors[file->vector_count++] = v;
}

// The counts of a triangle of side n, its strict half and a simplex.
static inline void kat_check_count(tmap_u64 n, tmap_u64 lower, tmap_u64 strict, tmap_u64 simplex) {
    EXPECT(tmap_triangle_cells(n) == lower, "n=%llu", n);
    EXPECT(tmap_triangle_cells_strict(n) == strict, "n=%llu", n);
    EXPECT(tmap_condensed_cells(n) == strict, "n=%llu", n);
    EXPECT(tmap_simplex_cells(n) == simplex, "n=%llu", n);
}

// Number lambda of the tiles of a triangle, (ti, tj), cell by cell. Returns the hash so far.
static inline tmap_u64 kat_check_tile(tmap_u32 n, tmap_u32 rho, tmap_u32 lambda, tmap_u32 ti,
                                      tmap_u32 tj, tmap_u64 hash) {
    const tmap_triangle_tile t = tmap_triangle_tile_map(lambda, n, rho);
    const tmap_triangle_tile u = tmap_triangle_tile_map64(lambda, n, rho);
    tmap_u64 want[7] = {ti * rho, tj * rho, 0, 0, ti == tj, 0, 0}, cells = 0, strict = 0;
    kit_case("n=%u rho=%u lambda=%u", n, rho, lambda);
    expect(memcmp(&t, &u, sizeof t) == 0, "both forms");
    for (tmap_u32 y = 0; y < rho + 2; ++y)
        for (tmap_u32 x = 0; x < rho + 2; ++x) {
            const tmap_u32 i = ti * rho + y, j = tj * rho + x;
            const int in = x < rho && y < rho && i < n && j < n;
            EXPECT(tmap_triangle_tile_contains(t, x, y) == (in && j <= i), "(%u,%u)", i, j);
            EXPECT(tmap_triangle_tile_contains_strict(t, x, y) == (in && j < i), "(%u,%u)", i, j);
            want[5] += in && j <= i, want[6] += in && j < i;
            if (in && j <= i && want[2] <= y) want[2] = y + 1; // rows and columns with a cell
            if (in && j <= i && want[3] <= x) want[3] = x + 1;
            cells += (tmap_u64)tmap_triangle_tile_contains(t, x, y);
            strict += (tmap_u64)tmap_triangle_tile_contains_strict(t, x, y);
        }
    expect(t.i == want[0] && t.j == want[1], "the corner of a tile");
    expect(t.rows == want[2] && t.columns == want[3], "the sides of a tile");
    expect((tmap_u64)t.diagonal == want[4], "the diagonal");
    expect(tmap_triangle_tile_cells(t) == cells && cells == want[5], "cells of a tile");
    expect(strict == want[6], "without diagonal");
    kit_case("%s", "");
    for (int k = 0; k < 7; ++k) hash = kit_mix(hash, want[k]);
    return hash;
}

static inline tmap_u64 kat_check_tiles(void) {
    static const tmap_u32 sizes[][2] = {{0, 4},  {1, 1},  {1, 16},  {5, 1},   {7, 3},
                                        {16, 4}, {17, 4}, {33, 32}, {100, 16}};
    tmap_u64 hash = 0;
    for (size_t at = 0; at < COUNT(sizes); ++at) {
        const tmap_u32 n = sizes[at][0], rho = sizes[at][1];
        tmap_u32 lambda = 0;
        hash = kit_mix(kit_mix(hash, n), rho);
        for (tmap_u32 ti = 0; ti * rho < n; ++ti)
            for (tmap_u32 tj = 0; tj <= ti; ++tj, ++lambda)
                hash = kat_check_tile(n, rho, lambda, ti, tj, hash);
        EXPECT(tmap_triangle_tiles(n, rho) == lambda, "n=%u rho=%u", n, rho);
        EXPECT(tmap_triangle_tile_map(lambda, n, rho).rows == 0, "n=%u rho=%u", n, rho);
    }
    return hash;
}

// ---- the vectors of generate_triangle.py, in its order ------------------------------------------

static inline kat_u128 kat_lower(kat_u128 n) { return n * (n + 1) / 2; }
static inline kat_u128 kat_layers(kat_u128 n) {
    return n >> 40 ? ~(kat_u128)0 : n * (n + 1) * (n + 2) / 6;
}

// The largest n whose function is at most value.
static inline tmap_u64 kat_root(kat_u128 (*function)(kat_u128), tmap_u64 value) {
    tmap_u64 low = 0;
    for (int bit = 34; bit >= 0; --bit)
        if (function(low + (1ull << bit)) <= value) low += 1ull << bit;
    return low;
}

static inline int kat_below(const void *a, const void *b) {
    const tmap_u64 u = *(const tmap_u64 *)a, v = *(const tmap_u64 *)b;
    return u < v ? -1 : u > v;
}
// Sorts numbers; each once. Returns how many there are.
static inline size_t kat_set(tmap_u64 *x, size_t n) {
    size_t count = 0;
    qsort(x, n, sizeof *x, kat_below);
    for (size_t i = 0; i < n; ++i)
        if (!count || x[i] != x[count - 1]) x[count++] = x[i];
    return count;
}
// Adds 2^b - 1, 2^b and 2^b + 1.
static inline size_t kat_powers(tmap_u64 *x, size_t n, int first, int last) {
    for (int b = first; b <= last; ++b)
        x[n] = (1ull << b) - 1, x[n + 1] = 1ull << b, x[n + 2] = (1ull << b) + 1, n += 3;
    return n;
}

static inline kat_vector kat_vector_of(tmap_u32 order, tmap_u64 n, tmap_u64 i, tmap_u64 j,
                                       tmap_u64 k) {
    const kat_u128 rows = order == KAT_UPPER ? n + (kat_u128)1 : n, before = i;
    kat_vector v = {order, n, 0, i, j, k};
    if (order == KAT_LOWER) v.number = (tmap_u64)kat_lower(i) + j;
    if (order == KAT_STRICT) v.number = (tmap_u64)kat_lower(i - 1) + j;
    if (order == KAT_UPPER || order == KAT_CONDENSED) // rows of rows - 1, rows - 2, ... cells
        v.number = (tmap_u64)(before * (2 * (rows - 1) - before + 1) / 2) + j - i -
                   (order == KAT_CONDENSED);
    if (order == KAT_SIMPLEX) v.number = (tmap_u64)kat_layers(i) + (tmap_u64)kat_lower(j) + k;
    return v;
}

static inline void kat_add_large(kat_file *file, tmap_u32 order, tmap_u64 n, tmap_u64 i, tmap_u64 j,
                                 tmap_u64 k) {
    const kat_vector v = kat_vector_of(order, n, i, j, k);
    const tmap_u64 hashed[] = {n, v.number, i, j, k};
    for (int at = 0; at < 5; ++at) file->large[order] = kit_mix(file->large[order], hashed[at]);
    kat_add(file, v);
}

// The cell of a number, for orders without n.
static inline void kat_add_number(kat_file *file, tmap_u32 order, tmap_u64 number) {
    const tmap_u64 layer = order == KAT_SIMPLEX ? kat_root(kat_layers, number) : 0;
    const tmap_u64 rest = number - (tmap_u64)kat_layers(layer), row = kat_root(kat_lower, rest);
    const tmap_u64 column = rest - (tmap_u64)kat_lower(row);
    if (order == KAT_SIMPLEX)
        kat_add_large(file, order, 0, layer, row, column);
    else
        kat_add_large(file, order, 0, row + (order == KAT_STRICT), column, 0);
}

// All cells of small domains, in their order.
static inline void kat_small(kat_file *file, tmap_u32 order) {
    const tmap_u64 sides[] = {1, 2, 3, 4, 9, 17};
    for (int at = 0; at < (order == KAT_LOWER ? 6 : 5); ++at) {
        const tmap_u64 n = sides[at];
        const int upper = order == KAT_UPPER || order == KAT_CONDENSED;
        kat_vector v = {order, upper ? n : 0, 0, 0, 0, 0};
        for (v.i = 0; v.i < n; ++v.i)
            for (v.j = upper ? v.i + (order == KAT_CONDENSED) : 0;
                 v.j < (upper ? n : v.i + (order != KAT_STRICT)); ++v.j)
                for (v.k = 0; v.k <= (order == KAT_SIMPLEX ? v.j : 0); ++v.k, ++v.number) {
                    const tmap_u64 hashed[] = {n, v.number, v.i, v.j, v.k};
                    for (int h = 0; h < (order == KAT_SIMPLEX ? 5 : 4); ++h)
                        file->small[order] = kit_mix(file->small[order], hashed[h]);
                    kat_add(file, v);
                }
    }
}

// Both ends of rows around every power of two and around each type's last row.
static inline void kat_large(kat_file *file) {
    const tmap_u64 u32 = ~0u, u64 = ~0ull, most = kat_root(kat_lower, u64);
    const tmap_u64 sides[] = {92681, 92682, 131072, 1ull << 31, u32, most, most + 1};
    const tmap_u64 numbers[] = {u32 - 1, u32, u32 + 1, u64 >> 1, (u64 >> 1) + 1, u64 - 1, u64};
    tmap_u64 state = 20140501, rows[100];
    for (tmap_u32 order = KAT_LOWER; order <= KAT_STRICT; ++order) {
        const tmap_u64 first = order == KAT_STRICT;
        const tmap_u64 more[] = {
            kat_root(kat_lower, u32) + first, 92680, 2055, 4096, 46341, 65537, most + first - 1};
        size_t n = kat_powers(rows, 0, 4, 32);
        memcpy(rows + n, more, sizeof more), n = kat_set(rows, n + COUNT(more));
        for (size_t r = 0; r < n; ++r) {
            const tmap_u64 i = rows[r];
            tmap_u64 columns[] = {0, (kit_random(&state) >> 32) % i, i - first};
            for (size_t c = 0, m = kat_set(columns, 3); c < m; ++c)
                kat_add_large(file, order, 0, i, columns[c], 0);
        }
        for (size_t at = 0; at < COUNT(numbers); ++at) kat_add_number(file, order, numbers[at]);
    }
    for (size_t at = 0; at < COUNT(sides); ++at)
        for (tmap_u64 gap = 0; gap < 2; ++gap) {
            const tmap_u64 n = sides[at];
            if (kat_lower(n - gap) - 1 > u64) continue; // the number of the last cell
            tmap_u64 some[] = {0,     1,           (kit_random(&state) >> 1) % n,
                               n / 2, n - 2 - gap, n - 1 - gap};
            for (size_t r = 0, m = kat_set(some, 6); r < m; ++r) {
                const tmap_u64 i = some[r];
                tmap_u64 columns[] = {i + gap, (i + gap + n) / 2, n - 1};
                for (size_t c = 0, count = kat_set(columns, 3); c < count; ++c)
                    if (columns[c] < n)
                        kat_add_large(file, gap ? KAT_CONDENSED : KAT_UPPER, n, i, columns[c], 0);
            }
        }
    size_t n = kat_powers(rows, 0, 4, 22);
    rows[n++] = kat_root(kat_layers, u32), rows[n++] = kat_root(kat_layers, u64) - 1;
    n = kat_set(rows, n);
    for (size_t r = 0; r < n; ++r) {
        tmap_u64 columns[] = {0, (kit_random(&state) >> 32) % rows[r], rows[r]};
        for (size_t c = 0, m = kat_set(columns, 3); c < m; ++c) {
            kat_add_large(file, KAT_SIMPLEX, 0, rows[r], columns[c], 0);
            kat_add_large(file, KAT_SIMPLEX, 0, rows[r], columns[c], columns[c]);
        }
    }
    for (size_t at = 0; at < COUNT(numbers); ++at)
        if (at != 4) kat_add_number(file, KAT_SIMPLEX, numbers[at]);
}

static inline tmap_u64 kat_check_counts(void) {
    const tmap_u64 more[] = {0, 46341, 65537, ~0ull};
    tmap_u64 sides[300], hash = 0;
    size_t n = kat_powers(sides, 0, 1, 63);
    memcpy(sides + n, more, sizeof more), n += COUNT(more);
    for (int k = 0; k < 4; ++k)
        for (tmap_u64 d = 0; d < 4; ++d)
            sides[n++] =
                kat_root(k < 2 ? kat_lower : kat_layers, k % 2 ? ~0ull : (tmap_u64)~0u) + d - 1;
    n = kat_set(sides, n);
    for (size_t at = 0; at < n; ++at) {
        const tmap_u64 side = sides[at];
        const kat_u128 counts[] = {kat_lower(side), side ? kat_lower(side - 1) : 0,
                                   kat_layers(side)};
        tmap_u64 want[3];
        hash = kit_mix(hash, side);
        for (int k = 0; k < 3; ++k) {
            want[k] = counts[k] > ~0ull ? ~0ull : (tmap_u64)counts[k];
            hash = kit_mix(hash, want[k]);
        }
        kat_check_count(side, want[0], want[1], want[2]);
    }
    return hash;
}

// ---- the file -----------------------------------------------------------------------------------

// The hashes of a line are those of the vectors that were made here.
static inline void kat_same_hash(char **p, tmap_u64 hash, const char *what) {
    EXPECT(kat_number(p) == hash, "the vectors are not those of generate_triangle.py: %s", what);
}

// Makes all vectors and reads triangle.txt.
static inline kat_file kat_read(void) {
    FILE *in = kat_open("triangle.txt");
    kat_file file;
    char *word, *p;
    int lines = 0;
    memset(&file, 0, sizeof file);
    file.vectors = (kat_vector *)kit_host(KAT_VECTORS * sizeof *file.vectors);
    for (tmap_u32 order = 0; order < KAT_ORDERS; ++order) kat_small(&file, order);
    kat_large(&file);
    for (; (p = kat_line(in, &word)) != NULL; ++lines)
        if (!strcmp(word, "vectors")) {
            const tmap_u32 order = kat_read_order(&p);
            kat_same_hash(&p, file.small[order], "small domains");
            kat_same_hash(&p, file.large[order], "large domains");
        } else if (!strcmp(word, "counts")) {
            kat_same_hash(&p, kat_check_counts(), word);
        } else if (!strcmp(word, "tiles")) {
            kat_same_hash(&p, kat_check_tiles(), word);
        } else if (!strcmp(word, "random") && file.hash_count < COUNT(file.hashes)) {
            kat_hash *h = &file.hashes[file.hash_count++];
            h->order = kat_read_order(&p), h->bits = (tmap_u32)kat_number(&p);
            h->count = (tmap_u32)kat_number(&p), h->sum = kat_number(&p);
        } else {
            kat_bad_line(word);
        }
    EXPECT(file.vector_count > 1500 && file.hash_count == 15 && lines == 22, "%zu vectors",
           file.vector_count);
    return file;
}

static inline void kat_compare(const kat_file *file, const kat_answer *answers) {
    for (size_t at = 0; at < file->vector_count; ++at) {
        const kat_vector *v = &file->vectors[at];
        EXPECT(!answers[at], "order %u, n=%llu, number %llu, (%llu,%llu,%llu): answers %x",
               v->order, v->n, v->number, v->i, v->j, v->k, answers[at]);
    }
}

// sums[i]: what a back end made of hash i. Prints the hashes, so that logs of machines can be
// compared.
static inline void kat_compare_hashes(const kat_file *file, const tmap_u64 *sums) {
    for (size_t i = 0; i < file->hash_count; ++i) {
        const kat_hash *h = &file->hashes[i];
        printf("hash: order %u, %u bits, %u numbers: %llu\n", h->order, h->bits, h->count, sums[i]);
        EXPECT(sums[i] == h->sum, "order %u, %u bits: %llu, not %llu", h->order, h->bits, sums[i],
               h->sum);
    }
}

// Sum of the cell hashes of one line, on the host; the 32-bit form must agree where it applies.
static inline tmap_u64 kat_hash_host(const kat_hash *h) {
    tmap_u64 state = h->bits, sum = 0;
    for (tmap_u32 i = 0; i < h->count; ++i) {
        tmap_u64 number = kit_random(&state) >> (64 - h->bits);
        sum += kat_cell_hash(h->order, number, 1);
        if (h->bits <= 32)
            EXPECT(kat_cell_hash(h->order, number, 0) == kat_cell_hash(h->order, number, 1),
                   "order %u, number %llu", h->order, number);
    }
    return sum;
}

#endif
