// SPDX-License-Identifier: MIT
// test_label_tools: contacts of labels, dust and holes, against loops over cells: pictures, volumes and
// batches, labels of both widths, tables that are too small, no cells, and what is refused.
#include "label_check.h"
#include <math.h>
#include <threadmap/raster/label3.h>
#include <threadmap/raster/label_tools.h>

// ---- contacts -----------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    const tmap_u64 p = *(const tmap_u64 *)a, q = *(const tmap_u64 *)b;
    return p < q ? -1 : p > q;
}

// A label of a cell: of boxes, with noise; or of all cells another one.
static tmap_u64 label_at(tmap_u64 seed, tmap_u64 x, tmap_u64 y, tmap_u64 z, int wide) {
    const tmap_u32 r = label_hash(seed * 1000003 + (z << 42) + (y << 21) + x);
    if (seed % 5 == 0) return r;
    if (r % 13 == 0) return wide && r % 2 ? (1ull << 32) + r % 3 : r % 40; // above 32 bits: none
    return (x / 9 + 3 * (y / 6) + 5 * (z / 4)) % 11 * (seed % 2 ? 1 : 0x17000001u);
}

static void check_contacts(tmap_u64 w, tmap_u64 h, tmap_u64 d, tmap_u64 seed) {
    const int wide = (int)(seed / 8 % 2);
    const tmap_label_array of = {w, h, d, wide, 0};
    const tmap_u64 cells = w * h * d;
    tmap_u64 *labels = (tmap_u64 *)kit_host(cells * 8), *faces = (tmap_u64 *)kit_host(cells * 24);
    tmap_u64 *found = (tmap_u64 *)kit_guarded(8), count = 0, pairs = 0, at = 0, wrong = 0, n = 0;
    tmap_u32 *narrow = (tmap_u32 *)kit_host(cells * 4);
    kit_case("contacts, %llu x %llu x %llu, seed %llu", w, h, d, seed);
    for (tmap_u64 i = 0; i < cells; ++i) {
        labels[i] = label_at(seed, i % w, i / w % h, i / w / h, wide);
        narrow[i] = (tmap_u32)labels[i];
    }
    for (tmap_u64 i = 0; i < cells; ++i)
        for (int axis = 0; axis < 3; ++axis) {
            const tmap_u64 on = axis == 0 ? 1 : axis == 1 ? w : w * h;
            const tmap_u64 place = axis == 0 ? i % w : axis == 1 ? i / w % h : i / w / h;
            if (place + 1 == (axis == 0 ? w : axis == 1 ? h : d)) continue;
            const tmap_u64 a = labels[i], b = labels[i + on];
            if (a == b || !a || !b || a >> 32 || b >> 32) continue;
            faces[count++] = a < b ? a << 32 | b : b << 32 | a;
        }
    qsort(faces, count, 8, compare);
    for (tmap_u64 i = 0; i < count; ++i) pairs += i == 0 || faces[i] != faces[i - 1];
    const tmap_u64 room = 1 + pairs + (pairs + 3) / 4 + seed % 3 * 20;
    tmap_label_contact *table = (tmap_label_contact *)kit_guarded(room * sizeof *table), *got,
                       *again;
    const void *in = wide ? kit_to_device(labels, cells * 8) : kit_to_device(narrow, cells * 4);
    CHECK(tmap_label_contacts(&of, in, table, room, found, 0));
    again = (tmap_label_contact *)kit_to_host(table, room * sizeof *table);
    CHECK(tmap_label_contacts(&of, in, table, room, found, 0));
    got = (tmap_label_contact *)kit_to_host(table, room * sizeof *table);
    n = *(tmap_u64 *)kit_to_host(found, 8);
    EXPECT(n == pairs, "%llu pairs, not %llu", n, pairs);
    expect(memcmp(got, again, room * sizeof *got) == 0, "another table");
    qsort(got, room, sizeof *got, compare); // by pairs, those of no area first
    for (n = 0; n < room && !got[n].pair; ++n) wrong += got[n].area != 0;
    for (; n < room && at < count; ++n) {
        const tmap_u64 pair = faces[at];
        tmap_u64 area = 0;
        for (; at < count && faces[at] == pair; ++at) ++area;
        wrong += got[n].pair != pair || got[n].area != area;
    }
    EXPECT(!wrong && n == room && at == count, "contacts: %llu are wrong", wrong);
    if (pairs > 1) { // a table that is too small says so
        const tmap_u64 few = 1 + pairs / 3;
        table = (tmap_label_contact *)kit_guarded(few * sizeof *table);
        CHECK(tmap_label_contacts(&of, in, table, few, found, 0));
        EXPECT(*(tmap_u64 *)kit_to_host(found, 8) > few, "%llu pairs in %llu entries", pairs, few);
    }
    kit_release(0);
}

// ---- dust and holes -----------------------------------------------------------------------------

// The holes of a mask become 2: cells of 0 that no path of cells of 0 joins to a border.
static void fill_holes(const label_cells *c, unsigned char *mask) {
    const tmap_i64 w = (tmap_i64)c->width, h = (tmap_i64)c->height, d = (tmap_i64)c->depth;
    const int n = c->neighbours, images = n == 4 || n == 8;
    const int axes = n == 4 || n == 6 ? 1 : n == 8 || n == 18 ? 2 : 3;
    for (int more = 1; more;) { // 3: outside
        more = 0;
        for (tmap_i64 i = 0; i < w * h * d; ++i) {
            const tmap_i64 x = i % w, y = i / w % h, z = i / w / h;
            int out = x == 0 || y == 0 || x == w - 1 || y == h - 1;
            if (!images && d > 1 && (z == 0 || z == d - 1)) out = 1;
            for (int k = images ? 9 : 0; k < (images ? 18 : 27); ++k) {
                const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
                const tmap_i64 to = ((z + dz) * h + y + dy) * w + x + dx;
                if (abs(dx) + abs(dy) + abs(dz) > axes || x + dx < 0 || y + dy < 0 || z + dz < 0 ||
                    x + dx >= w || y + dy >= h || z + dz >= d)
                    continue;
                out |= mask[to] == 3;
            }
            if (mask[i] == 0 && out) mask[i] = 3, more = 1;
        }
    }
    for (tmap_i64 i = 0; i < w * h * d; ++i) mask[i] = mask[i] == 3 ? 0 : mask[i] == 0 ? 2 : 1;
}

// The values of a mask, labelled by the definition; then dust and holes.
static void check_edits(tmap_u64 w, tmap_u64 h, tmap_u64 d, int neighbours, tmap_u64 seed) {
    const int wide = (int)(seed / 8 % 2), images = neighbours == 4 || neighbours == 8;
    const tmap_label_array of = {w, h, d, wide, images};
    const tmap_u64 cells = w * h * d, size = wide ? 8 : 4, least = 1 + seed % 9;
    unsigned char *mask = (unsigned char *)kit_host(cells),
                  *want = (unsigned char *)kit_host(cells);
    double *values = (double *)kit_host(cells * sizeof *values);
    const label_cells c = {w, h, d, neighbours, values};
    tmap_u64 wrong = 0;
    kit_case("edits, %llu x %llu x %llu, neighbours %d, seed %llu", w, h, d, neighbours, seed);
    for (tmap_u64 i = 0; i < cells; ++i) {
        mask[i] = label_hash(seed * 77777 + i) % 100 < (seed % 3 + 1) * 25 ? 1 : 0;
        want[i] = mask[i], values[i] = mask[i];
    }
    const label_truth t = label_truth_of(&c);
    const tmap_u64 most = t.most, bytes = t.parts * most * sizeof(tmap_label_shape);
    tmap_u32 *narrow = (tmap_u32 *)kit_host(cells * 4);
    for (tmap_u64 i = 0; i < cells; ++i) narrow[i] = (tmap_u32)t.labels[i];
    void *labels = kit_guarded(cells * size);
    tmap_label_shape *shapes = (tmap_label_shape *)kit_guarded(bytes);
    CHECK(cudaMemcpy(labels, wide ? (void *)t.labels : (void *)narrow, cells * size,
                     cudaMemcpyHostToDevice));
    CHECK(tmap_label_measure(&of, labels, most, shapes, 0));

    fill_holes(&c, want);
    unsigned char *filled = (unsigned char *)kit_guarded(cells);
    CHECK(cudaMemcpy(filled, mask, cells, cudaMemcpyHostToDevice));
    CHECK(tmap_label_fill(&of, labels, shapes, most, filled, 0));
    const unsigned char *got = (const unsigned char *)kit_to_host(filled, cells);
    for (tmap_u64 i = 0; i < cells; ++i) wrong += got[i] != (want[i] ? 1 : 0);
    EXPECT(!wrong, "holes: %llu cells are wrong", wrong);

    const tmap_u64 measured = seed % 4 ? most : most / 2; // others stay
    if (t.parts == 1 || measured == most) {
        CHECK(tmap_label_dust(&of, labels, shapes, measured, least, 0));
        const void *kept = kit_to_host(labels, cells * size);
        const tmap_label_shape *s = t.shapes;
        for (tmap_u64 part = 0, i = 0; part < t.parts; s += t.counts[part++])
            for (; i < (part + 1) * (cells / t.parts); ++i) {
                const tmap_u64 label = t.labels[i];
                const int dust = label <= measured && s[label - 1].area < least;
                wrong += (wide ? ((const tmap_u64 *)kept)[i] : ((const tmap_u32 *)kept)[i]) !=
                         (dust ? 0 : label);
            }
        EXPECT(!wrong, "dust: %llu labels are wrong", wrong);
    }
    kit_release(0);
}

// ---- errors -------------------------------------------------------------------------------------

static void check_errors(void) {
    const tmap_label_array good = {5, 4, 3, TMAP_LABEL_INT32, 0};
    const tmap_label_array images = {5, 4, 3, TMAP_LABEL_INT32, 1};
    const tmap_label_array bad = {5, 4, 1ull << 31, TMAP_LABEL_INT32, 0};
    const tmap_label_array none[3] = {{0, 4, 3, 0, 0}, {5, 0, 3, 0, 0}, {5, 4, 0, 0, 0}};
    char *at = (char *)kit_guarded(4096);
    char *labels = at, *shapes = at + 1024, *mask = at + 3900;
    tmap_label_contact *table = (tmap_label_contact *)(at + 2048);
    tmap_u64 *found = (tmap_u64 *)(at + 3072);
    const tmap_label_shape *s = (const tmap_label_shape *)shapes;
    unsigned char *m = (unsigned char *)mask;
    kit_case("%s", "errors");
    REFUSED(tmap_label_contacts(0, labels, table, 8, found, 0));
    REFUSED(tmap_label_contacts(&bad, labels, table, 8, found, 0));
    REFUSED(tmap_label_contacts(&images, labels, table, 8, found, 0));
    REFUSED(tmap_label_contacts(&good, 0, table, 8, found, 0));
    REFUSED(tmap_label_contacts(&good, labels + 2, table, 8, found, 0));
    REFUSED(tmap_label_contacts(&good, labels, 0, 8, found, 0));
    REFUSED(tmap_label_contacts(&good, labels, table, 0, found, 0));
    REFUSED(tmap_label_contacts(&good, labels, table, 1ull << 32, found, 0));
    REFUSED(tmap_label_contacts(&good, labels, table, 8, 0, 0));
    REFUSED(tmap_label_contacts(&good, labels, (tmap_label_contact *)(labels + 232), 8, found, 0));
    REFUSED(tmap_label_contacts(&good, labels, table, 8, (tmap_u64 *)(table + 7), 0));
    REFUSED(tmap_label_dust(0, labels, s, 3, 2, 0));
    REFUSED(tmap_label_dust(&bad, labels, s, 3, 2, 0));
    REFUSED(tmap_label_dust(&good, 0, s, 3, 2, 0));
    REFUSED(tmap_label_dust(&good, labels, 0, 3, 2, 0));
    REFUSED(tmap_label_dust(&good, labels, s, 1ull << 41, 2, 0));
    REFUSED(tmap_label_dust(&good, labels, (const tmap_label_shape *)(labels + 232), 3, 2, 0));
    REFUSED(tmap_label_fill(&good, labels, s, 3, 0, 0));
    REFUSED(tmap_label_fill(&good, labels, s, 3, (unsigned char *)labels + 239, 0));
    REFUSED(tmap_label_fill(0, labels, s, 3, m, 0));
    CHECK(cudaDeviceSynchronize());
    HOLDS(kit_device_all(at, 4096, KIT_POISON));
    for (int i = 0; i < 3; ++i) {
        RETURNS(tmap_label_contacts(none + i, 0, table, 8, found, 0), cudaSuccess);
        RETURNS(tmap_label_dust(none + i, 0, s, 3, 2, 0), cudaSuccess);
        RETURNS(tmap_label_fill(none + i, 0, s, 3, 0, 0), cudaSuccess);
        HOLDS(kit_device_all(found, 8, 0) && kit_device_all(table, 8 * sizeof *table, 0));
    }
    kit_release(0);
}

int main(void) {
    static const int neighbours[] = {4, 8, 6, 18, 26};
    tmap_u64 random = 1;
    kit_begin();
    check_errors();
    for (int i = 0; i < (kit_full ? 600 : 60); ++i) {
        const int flat = i % 3 == 0;
        const tmap_u64 w = 1 + kit_edge_below(&random, 70), h = 1 + kit_edge_below(&random, 40);
        const tmap_u64 d = flat ? 1 : 1 + kit_edge_below(&random, 20);
        const tmap_u64 seed = kit_below(&random, 1000000);
        if (!check_turn()) continue;
        check_contacts(w, h, d, seed);
        check_edits(w, h, d, neighbours[i % 5], seed);
    }
    check_contacts(200, 150, 9, 6); // several boxes
    check_edits(70, 50, 20, 6, 2);
    return kit_end("test_label_tools");
}
