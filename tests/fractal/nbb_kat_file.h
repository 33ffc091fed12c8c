// SPDX-License-Identifier: MIT
// nbb_kat_file.h: the host's half of the known answers: makes the vectors of maps.h as generate.py
// does, compares their hashes with those of tests/kat/nbb.txt and nbb3.txt, and adds cells of
// fractals with turned copies, by brute force alone.
#ifndef NBB_KAT_FILE_H
#define NBB_KAT_FILE_H

#include "fractal/vectors.h"
#include "kat/kat_file.h"

enum { KAT_VECTORS = 1600000 }; // at most

typedef struct kat_file {
    kat_vector *vectors;
    size_t vector_count;
    tmap_u64 random, hash; // the state of the generator; of the vectors so far
} kat_file;

// ---- the vectors of generate.py, in its order ---------------------------------------------------

// Adds v: with the fractal as a run-time value, and as a constant if it is one of the catalogue.
static inline void kat_add(kat_file *file, const map_subject *s, map_vector v) {
    const int cell = (v.asks & MAPS_CELL) != 0, has_index = (v.asks & MAPS_LINEAR64) != 0;
    const tmap_u64 w[] = {v.w.x, v.w.y, v.w.z}, at[] = {v.at.x, v.at.y, v.at.z};
    file->hash = kit_mix(kit_mix(file->hash, (tmap_u64)(cell + has_index)), v.r);
    for (int a = 0; cell && a < s->b.axes; ++a) file->hash = kit_mix(file->hash, w[a]);
    if (has_index) file->hash = kit_mix(file->hash, v.i);
    for (int a = 0; a < s->b.axes; ++a) file->hash = kit_mix(file->hash, at[a]);
    for (int as_constant = 0; as_constant <= (s->m.constant >= 0); ++as_constant) {
        kat_vector next = {s->m, v};
        if (!as_constant) next.fractal.constant = -1;
        next.v.asks |= MAPS_PIECES;
        if (file->vector_count == KAT_VECTORS) kat_bad_line(s->b.text);
        file->vectors[file->vector_count++] = next;
    }
}

// The boxes of the replicas, and sizes.
static inline void kat_sizes(kat_file *file, const map_subject *s) {
    static const tmap_u64 some = 1ull | 1ull << 1 | 1ull << 2 | 1ull << 3 | 1ull << 7 | 1ull << 16 |
                                 1ull << 21 | 1ull << 40 | 1ull << 63;
    const int flat = s->m.kind == BRUTE_PLAIN;
    for (int i = 0; i < s->b.k; ++i)
        for (int a = 0; a < s->b.axes; ++a)
            file->hash = kit_mix(file->hash, (tmap_u64)s->b.box[i][a]);
    for (tmap_u32 r = 0; r <= 64; ++r) {
        tmap_u64 sizes[7];
        if (r < 64 && !(some >> r & 1) && r != s->last[0] && r != s->last[1] && r != s->last[2] &&
            r != s->last[3])
            continue;
        subject_sizes(s, r, sizes);
        file->hash = kit_mix(file->hash, r);
        for (int i = 0; i < 7; ++i)
            if (!flat || i % 4 != 2) file->hash = kit_mix(file->hash, sizes[i]);
    }
}

// All places of levels of up to 800 that are no cells, all cells of levels of up to 260.
static inline void kat_small(kat_file *file, const map_subject *s, tmap_u64 places_most,
                             size_t cells_most) {
    const brute *b = &s->b;
    brute_cell *cells = (brute_cell *)kit_zeroed(800 * sizeof *cells);
    char *picture = (char *)kit_host(places_most);
    size_t n = 1;
    for (int r = 0; r <= 9; ++r) {
        const tmap_u64 width = brute_pow(b->s[0], r), height = brute_pow(b->s[1], r);
        const tmap_u64 places = width * height * brute_pow(b->s[2], r);
        if (places > places_most && n * (size_t)b->k > cells_most && r) break;
        if (r) n = brute_grow(b, r, cells, n);
        if (places <= places_most) {
            memset(picture, 0, (size_t)places);
            for (size_t i = 0; i < n; ++i)
                picture[(cells[i].at[2] * height + cells[i].at[1]) * width + cells[i].at[0]] = 1;
            for (tmap_u64 i = 0; i < places; ++i) {
                const tmap_u64 at[] = {i % width, i / width % height, i / width / height};
                if (!picture[i]) kat_add(file, s, vector_of(s, (tmap_u32)r, at, NULL, NULL));
            }
        }
        for (tmap_u64 i = 0; i < n && n <= cells_most; ++i)
            kat_add(file, s, vector_of(s, (tmap_u32)r, cells[i].at, cells[i].w, &i));
    }
}

static inline void kat_large(kat_file *file, const map_subject *s) {
    const tmap_u32 *last = s->last;
    const tmap_u32 any = 1 + (tmap_u32)kit_below(&file->random, last[1]);
    for (tmap_u32 r = 1; r <= last[1]; ++r) {
        map_vector v[VECTORS_LARGE];
        if (r != last[0] && r != last[1] && r != last[2] && r != last[3] && r != last[0] - 1 &&
            r != last[1] - 1 && r != 5 && r != 6 && r != 11 && r != any)
            continue;
        const int n = vectors_large(s, r, &file->random, v);
        for (int i = 0; i < n; ++i) kat_add(file, s, v[i]);
    }
}

// ---- the files ----------------------------------------------------------------------------------

static inline int kat_constant(int kind, const char *name) {
    for (int i = 0; i < brute_catalogue(kind); ++i)
        if (!strcmp(name, kind == BRUTE_PLAIN ? tmap_fractal_name(i) : tmap_fractal3_name(i)))
            return i;
    return -1;
}

// Makes the vectors of each fractal of a file: its name, its text, its last levels, and the hashes
// of its sizes and of its vectors of small and of large levels.
static inline void kat_read_more(kat_file *file, const char *name, int kind) {
    FILE *in = kat_open(name);
    const size_t before = file->vector_count;
    int count = 0, known = 0;
    char *word, *p, text[272];
    for (; (p = kat_line(in, &word)) != NULL; ++count) {
        if (sscanf(p, "%271s", text) != 1) kat_bad_line(word);
        const brute b = brute_read(text, kind);
        const map_subject s = subject_of(&b, kat_constant(kind, word));
        known += s.m.constant == known;
        kit_case("%s: the vectors of %s are not those of generate.py", name, word);
        p += strcspn(p, " ");
        file->random = 0; // each fractal has its own random numbers
        for (const char *c = word; *c; ++c) file->random = kit_mix(file->random, (tmap_u64)*c);
        for (int i = 0; i < 4; ++i) expect(kat_number(&p) == s.last[i], "a last level");
        for (int group = 0; group < 3; ++group) {
            file->hash = 0;
            if (group == 0) kat_sizes(file, &s);
            if (group == 1) kat_small(file, &s, 800, 260);
            if (group == 2) kat_large(file, &s);
            expect(kat_number(&p) == file->hash, group == 0   ? "sizes"
                                                 : group == 1 ? "small levels"
                                                              : "large levels");
        }
    }
    // a file cut short must not pass
    EXPECT(count >= 18 && known == brute_catalogue(kind) &&
               file->vector_count - before > (kind == BRUTE_PLAIN ? 20000u : 10000u),
           "%d fractals, %d of the catalogue, %zu vectors", count, known,
           file->vector_count - before);
}

static inline kat_file kat_read(void) {
    kat_file file;
    memset(&file, 0, sizeof file);
    file.vectors = (kat_vector *)kit_host(KAT_VECTORS * sizeof *file.vectors);
    kat_read_more(&file, "nbb.txt", BRUTE_PLAIN);
    kat_read_more(&file, "nbb3.txt", BRUTE_DEEP);
    for (int i = 0; i < TMAP_TURNED_COUNT + 200; ++i) {
        const int own = i >= TMAP_TURNED_COUNT;
        const brute b = brute_at(BRUTE_TURNED, own ? brute_known(BRUTE_TURNED) + i : i);
        const map_subject s = subject_of(&b, own ? -1 : i);
        kat_small(&file, &s, 200, 260);
        kat_large(&file, &s);
    }
    return file;
}

// What a back end answered.
static inline void kat_compare(const kat_file *file, const kat_answer *answers) {
    kit_case("%s", "");
    for (size_t n = 0; n < file->vector_count; ++n) {
        const map_fractal *m = &file->vectors[n].fractal;
        const map_vector *v = &file->vectors[n].v;
        EXPECT(!answers[n],
               "kind %d, k=%u constant=%d r=%u w=(%llu,%llu,%llu) i=%llu (%llu,%llu,%llu):%s",
               m->kind, m->kind == BRUTE_PLAIN ? m->f.k : m->t.f.k, m->constant, v->r, v->w.x,
               v->w.y, v->w.z, v->i, v->at.x, v->at.y, v->at.z, maps_names(answers[n]));
    }
    printf("%zu vectors\n", file->vector_count);
}

#endif
