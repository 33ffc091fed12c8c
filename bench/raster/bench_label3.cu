// SPDX-License-Identifier: MIT
// bench_label3: labels of volumes by tmap_label3 and of batches of images by tmap_label, of masks of bytes and of
// bits, with 32-bit labels; tmap_label_measure of these labels; of volumes also the mask as values
// without 0 (label3_values), labels with gaps (label3_roots), with three periodic axes
// (label3_periodic), values of three classes (label3_classes) and of eight random ones
// (label3_greys); tmap_label_contacts of a volume of grains; and tmap_label of a picture of as many
// cells as a batch has.
//
// Every result is verified, in every cell and on the device, against components.h.
#include "components.h"
#include "../../tests/raster/flood_inputs.h"

#include <threadmap/raster/label.h>
#include <threadmap/raster/label_measure.h>
#include <threadmap/raster/label_tools.h>

enum { NOISE_50, NOISE_31, NOISE_10, BALLS, CHECKERBOARD, ALL, INPUTS };
static const char *const input_names[INPUTS] = {"noise_50", "noise_31",     "noise_10",
                                                "balls",    "checkerboard", "all"};
// ---- masks --------------------------------------------------------------------------------------

// Balls: one of radius 4 to 19 about a cell of each cube of 32^3 cells, in an image discs.
TMAP_FN int in_ball(int x, int y, int z, int flat) {
    for (int k = flat ? 9 : 0; k < (flat ? 18 : 27); ++k) {
        const int i = x / 32 + k % 3 - 1, j = y / 32 + k / 3 % 3 - 1;
        const int l = flat ? z : z / 32 + k / 9 - 1;
        const tmap_u32 h = flood_hash_cell((tmap_u32)i, (tmap_u32)j, (tmap_u32)l);
        const int dx = x - i * 32 - (int)(h % 32), dy = y - j * 32 - (int)(h / 32 % 32);
        const int dz = flat ? 0 : z - l * 32 - (int)(h / 1024 % 32), r = 4 + (int)(h >> 28);
        if (dx * dx + dy * dy + dz * dz <= r * r) return 1;
    }
    return 0;
}
TMAP_FN int cell_in(int input, tmap_u32 x, tmap_u32 y, tmap_u32 z, int flat) {
    const tmap_u32 percent = input == NOISE_50 ? 50 : input == NOISE_31 ? 31 : 10;
    switch (input) {
    case BALLS: return in_ball((int)x, (int)y, (int)z, flat);
    case CHECKERBOARD: return (int)((x ^ y ^ z) & 1);
    case ALL: return 1;
    default: return flood_hash_cell(x, y, z) % 100 < percent;
    }
}

static __global__ void make_mask(components t, int input) {
    const tmap_u64 w = t.map.width, h = t.map.height;
    BENCH_EACH(i, t.cells)
    t.mask[i] = (unsigned char)cell_in(input, (tmap_u32)(i % w), (tmap_u32)(i / w % h),
                                       (tmap_u32)(i / w / h), components_flat(t.map.neighbours));
}
// Gives the cells of the mask one of some values, by cubes of cells.
static __global__ void make_classes(components t, tmap_u32 values, tmap_u32 side) {
    const tmap_u64 w = t.map.width, h = t.map.height;
    BENCH_EACH(i, t.cells) {
        const tmap_u32 x = (tmap_u32)(i % w), y = (tmap_u32)(i / w % h), z = (tmap_u32)(i / w / h);
        const tmap_u32 h = flood_hash_cell(x / side + 1, y / side, z / side);
        t.mask[i] = (unsigned char)(t.mask[i] ? 1 + (h >> 16) % values : 0);
    }
}
static __global__ void make_bits(components t, tmap_u32 *bits) {
    const tmap_u64 w = t.map.width, words = (w + 31) / 32;
    BENCH_EACH(k, t.cells / w * words) {
        tmap_u32 word = 0;
        for (tmap_u64 x = k % words * 32; x < w && x < k % words * 32 + 32; ++x)
            word |= (tmap_u32)t.mask[k / words * w + x] << x % 32;
        bits[k] = word;
    }
}

// ---- variants -----------------------------------------------------------------------------------

enum {
    LABEL3,
    LABEL3_MEASURE,
    LABEL3_BITS,
    LABEL3_VALUES,
    LABEL3_ROOTS,
    LABEL3_PERIODIC,
    LABEL3_CLASSES,
    LABEL3_GREYS,
    PICTURE,
    VARIANTS
};

typedef struct job {
    components t;
    int input, variant;
    tmap_u32 *bits;
    tmap_label3_plan plan;   // of a volume
    tmap_label_plan picture; // of a picture or of a batch
    tmap_label_array array;  // of the labels
    void *workspace;
    int *labels;
    tmap_u64 *count, most; // most: components of a volume, or of an image
    tmap_label_shape *shapes;
} job;

static void run(void *context) {
    job *j = (job *)context;
    const void *cells = j->variant == LABEL3_BITS ? (const void *)j->bits : j->t.mask;
    if (j->variant == LABEL3_MEASURE)
        CHECK(tmap_label_measure(&j->array, j->labels, j->most, j->shapes, 0));
    else if (components_flat(j->t.map.neighbours))
        CHECK(tmap_label(&j->picture, cells, j->workspace, j->labels, j->count, 0));
    else
        CHECK(tmap_label3(&j->plan, cells, j->workspace, j->labels, j->count, 0));
}

static void make(job *j) {
    tmap_label3_map map = j->t.map;
    if (j->variant == LABEL3_BITS)
        map.kind = TMAP_LABEL3_BITS, map.pitch = (map.width + 31) / 32,
        map.slice = map.pitch * map.height;
    if (j->variant == LABEL3_VALUES || j->variant >= LABEL3_CLASSES)
        map.kind = TMAP_LABEL3_U8, map.has_nodata = 1;
    const int form = TMAP_LABEL_INT32 | (j->variant == LABEL3_ROOTS ? TMAP_LABEL_ROOTS : 0);
    if (components_flat(map.neighbours)) {
        const tmap_raster_map image = {map.width,
                                       map.height,
                                       map.pitch,
                                       0,
                                       0,
                                       j->variant == LABEL3_BITS ? TMAP_RASTER_BITS
                                                                 : TMAP_RASTER_MASK,
                                       map.neighbours};
        if (j->variant == PICTURE)
            CHECK(tmap_label_plan_make(&image, form, &j->picture));
        else
            CHECK(tmap_label_images_plan_make(&image, map.depth, map.slice, form, &j->picture));
        j->array = j->picture.array, j->workspace = kit_guarded(j->picture.workspace);
    } else {
        CHECK(tmap_label3_plan_make(&map, form, &j->plan));
        j->array = j->plan.array, j->workspace = kit_guarded(j->plan.workspace);
    }
}

// Wrong cells of labels, or wrong counts.
static tmap_u64 look(job *j) {
    const int mark = kit_mark();
    const tmap_u64 counts = components_flat(j->t.map.neighbours) ? j->t.map.depth : 1;
    if (j->variant == LABEL3_ROOTS) return components_wrong_gaps(&j->t, j->labels);
    const tmap_u64 wrong = components_wrong(&j->t, j->labels);
    const tmap_u64 *count = (const tmap_u64 *)kit_to_host(j->count, counts * 8);
    tmap_u64 sum = 0;
    j->most = 0;
    for (tmap_u64 i = 0; i < counts; ++i) {
        sum += count[i];
        if (count[i] > j->most) j->most = count[i];
    }
    kit_release(mark);
    return wrong + (sum != j->t.count);
}

// Adds up the areas of all components; counts cells outside their component's box.
static __global__ void shapes_cells(job j, unsigned long long *areas, tmap_u64 *count) {
    const tmap_u64 w = j.t.map.width, h = j.t.map.height;
    tmap_u64 wrong = 0;
    BENCH_EACH(i, j.t.cells) {
        const tmap_u64 x = i % w, y = i / w % h, z = i / w / h;
        if (!j.t.mask[i]) continue;
        const tmap_u64 at =
            (components_flat(j.t.map.neighbours) ? z * j.most : 0) + (tmap_u64)j.labels[i] - 1;
        const tmap_label_shape *s = j.shapes + at;
        atomicAdd(areas + at, 1ull);
        wrong += x < s->left || x > s->right || y < s->top || y > s->bottom || z < s->front ||
                 z > s->back;
    }
    if (wrong) atomicAdd(count, wrong);
}
// Counts shapes whose area or first cell is wrong.
static __global__ void shapes_wrong(job j, tmap_u64 shapes, const unsigned long long *areas,
                                    tmap_u64 *count) {
    tmap_u64 wrong = 0;
    BENCH_EACH(i, shapes) {
        const tmap_label_shape s = j.shapes[i];
        wrong += s.area != areas[i];
        if (s.area)
            wrong += s.first >= j.t.cells || j.t.parents[s.first] != s.first ||
                     j.labels[s.first] != (int)(i % j.most + 1);
    }
    if (wrong) atomicAdd(count, wrong);
}

typedef struct sweep {
    bench_driver d;
    tmap_u64 n, images, image;
    const char *inputs;
    bench_numbers neighbours;
} sweep;

static bench_row row_of(const sweep *s, const job *j, int variant) {
    static const char *const names[] = {"label3",         "label3_measure", "label3_bits",
                                        "label3_values",  "label3_roots",   "label3_periodic",
                                        "label3_classes", "label3_greys",   "picture"};
    const tmap_label3_map *map = &j->t.map;
    bench_row row = bench_row_begin(&s->d, "label", names[variant],
                                    variant == PICTURE                 ? "map"
                                    : components_flat(map->neighbours) ? "batch"
                                                                       : "volume");
    bench_key_text(&row, "input", input_names[j->input]);
    bench_key(&row, "size", "%llu", map->width);
    bench_key(&row, "depth", "%llu", map->depth);
    bench_key(&row, "connectivity", "%d", map->neighbours);
    bench_key_text(&row, "dtype", variant == LABEL3_BITS ? "bits" : "u8");
    return row;
}

// Times a job that has been verified, and writes its row. The limit is the bytes in and out.
static void record(sweep *s, bench_row *row, job *j) {
    const double cells = (double)j->t.cells;
    const double each = j->variant == LABEL3_MEASURE ? 4 : j->variant == LABEL3_BITS ? 4.125 : 5;
    bench_key(row, "components", "%llu", j->t.count);
    row->rate = "mpix_s", row->unit = "Mpix/s", row->each = 1e-3 * cells;
    row->limit_ms = 1e-9 * each * cells / s->d.ceilings.copy_tbs;
    bench_row_run(&s->d, row, run, j);
}

// The shapes of labels that have been verified.
static void measure(sweep *s, bench_row *row, job *j) {
    const tmap_u64 shapes = j->most * (components_flat(j->t.map.neighbours) ? j->t.map.depth : 1);
    unsigned long long *areas = (unsigned long long *)kit_device(shapes * 8);
    tmap_u64 *count = bench_counter();
    j->shapes = (tmap_label_shape *)kit_guarded(shapes * sizeof *j->shapes);
    j->variant = LABEL3_MEASURE;
    run(j);
    CHECK(cudaMemset(areas, 0, shapes * 8));
    COMPONENTS_RUN(shapes_cells, *j, areas, count);
    COMPONENTS_RUN(shapes_wrong, *j, shapes, areas, count);
    bench_verify(row, bench_count(), "shapes or cells");
    record(s, row, j);
}

// One input: labels by each variant, verified, then timed; those of bytes are measured.
static void sweep_input(sweep *s, job *j, int picture) {
    bench_row rows[VARIANTS];
    int wanted[VARIANTS] = {0}, any = 0;
    const int last = components_flat(j->t.map.neighbours) ? LABEL3_BITS : LABEL3_GREYS;
    for (int v = picture ? PICTURE : LABEL3; v <= (picture ? PICTURE : last); ++v) {
        rows[v] = row_of(s, j, v);
        any |= wanted[v] = bench_wants(&s->d, &rows[v]);
    }
    if (!any) return;
    COMPONENTS_RUN(make_mask, j->t, j->input);
    COMPONENTS_RUN(make_bits, j->t, j->bits);
    components_find(&j->t);
    components_verify(&j->t);
    for (int v = 0; v < VARIANTS; ++v) {
        const int mark = kit_mark();
        if (v == LABEL3_MEASURE || (!wanted[v] && !(v == LABEL3 && wanted[LABEL3_MEASURE])))
            continue;
        j->variant = v;
        if (v == LABEL3_PERIODIC)
            j->t.map.neighbours |=
                TMAP_LABEL3_PERIODIC_X | TMAP_LABEL3_PERIODIC_Y | TMAP_LABEL3_PERIODIC_Z;
        if (v == LABEL3_CLASSES) COMPONENTS_RUN(make_classes, j->t, 3, 20);
        if (v == LABEL3_GREYS) COMPONENTS_RUN(make_classes, j->t, 8, 1);
        if (v >= LABEL3_PERIODIC && v <= LABEL3_GREYS) { // other components
            components_find(&j->t);
            components_verify(&j->t);
        }
        CHECK(cudaMemset(j->labels, 0xa5, (size_t)j->t.cells * 4));
        make(j);
        run(j);
        bench_verify(&rows[v], look(j), "cells");
        if (wanted[v]) record(s, &rows[v], j);
        if (v == LABEL3 && wanted[LABEL3_MEASURE] && j->most) measure(s, &rows[LABEL3_MEASURE], j);
        j->t.map.neighbours &= 0xff;
        kit_release(mark);
    }
}

// All inputs at one size. picture: by tmap_label, a map of depth 1.
static void sweep_size(sweep *s, tmap_u64 width, tmap_u64 depth, int neighbours, int picture) {
    const int mark = kit_mark();
    static job j;
    memset(&j, 0, sizeof j);
    j.t = components_alloc(width, width, depth, neighbours);
    j.bits = (tmap_u32 *)kit_device((width + 31) / 32 * width * depth * 4);
    j.labels = (int *)kit_guarded(j.t.cells * sizeof *j.labels);
    j.count = (tmap_u64 *)kit_device(depth * 8);
    for (j.input = 0; j.input < INPUTS; ++j.input)
        if (bench_listed(s->inputs, input_names[j.input])) sweep_input(s, &j, picture);
    kit_release(mark);
}

// ---- contacts -----------------------------------------------------------------------------------

enum { GRAIN = 11 }; // the mean width of a grain

typedef struct grains {
    tmap_label_array of;
    int *labels;
    tmap_label_contact *contacts;
    tmap_u64 *found, room;
} grains;

// Grains with rough sides: each cell has the label of a block of cells about a place near it.
TMAP_DEVICE int grain_of(const grains *g, tmap_u64 i) {
    const tmap_u64 n = g->of.width, side = n / GRAIN + 2;
    const tmap_u64 x = i % n, y = i / n % n, z = i / n / n;
    const tmap_u32 h = flood_hash_cell((tmap_u32)(x / 3), (tmap_u32)(y / 3), (tmap_u32)(z / 3));
    const tmap_u64 a = (x + h % 4) / GRAIN, b = (y + h / 4 % 4) / GRAIN,
                   c = (z + h / 16 % 4) / GRAIN;
    return (int)((c * side + b) * side + a + 1);
}
static __global__ void make_grains(grains g) {
    BENCH_EACH(i, g.of.width * g.of.width * g.of.width) g.labels[i] = grain_of(&g, i);
}

TMAP_FN tmap_u64 pair_hash(tmap_u64 pair) {
    pair = (pair ^ pair >> 31) * 0x9e3779b97f4a7c15ull;
    return (pair ^ pair >> 29) * 0xbf58476d1ce4e5b9ull;
}
// Adds up a hash of the pair of each face between grains; subtracts those of the contacts.
static __global__ void sum_faces(grains g, tmap_u64 *sum) {
    const tmap_u64 n = g.of.width;
    tmap_u64 mine = 0;
    BENCH_EACH(i, n * n * n) {
        const tmap_u64 at[3] = {i % n, i / n % n, i / n / n}, on[3] = {1, n, n * n};
        const tmap_u64 a = (tmap_u64)grain_of(&g, i);
        for (int k = 0; k < 3; ++k) {
            const tmap_u64 b = at[k] + 1 < n ? (tmap_u64)grain_of(&g, i + on[k]) : a;
            if (a != b) mine += pair_hash(a < b ? a << 32 | b : b << 32 | a);
        }
    }
    BENCH_EACH(i, g.room) mine -= g.contacts[i].area * pair_hash(g.contacts[i].pair);
    atomicAdd(sum, mine);
}

static void run_contacts(void *context) {
    const grains *g = (const grains *)context;
    CHECK(tmap_label_contacts(&g->of, g->labels, g->contacts, g->room, g->found, 0));
}

static void sweep_contacts(sweep *s, tmap_u64 n) {
    const int mark = kit_mark();
    const tmap_u64 side = n / GRAIN + 2, cells = n * n * n;
    grains g = {{n, n, n, TMAP_LABEL_INT32, 0}, 0, 0, 0, 20 * side * side * side};
    bench_row row = bench_row_begin(&s->d, "label", "label_contacts", "volume");
    bench_key(&row, "size", "%llu", n);
    bench_key(&row, "components", "%llu", side * side * side);
    if (!bench_wants(&s->d, &row)) return;
    g.labels = (int *)kit_device(cells * sizeof *g.labels);
    g.contacts = (tmap_label_contact *)kit_guarded(g.room * sizeof *g.contacts);
    g.found = (tmap_u64 *)kit_device(sizeof *g.found);
    COMPONENTS_RUN(make_grains, g);
    run_contacts(&g);
    COMPONENTS_RUN(sum_faces, g, bench_counter());
    tmap_u64 wrong = bench_count() != 0;
    wrong += *(const tmap_u64 *)kit_to_host(g.found, sizeof *g.found) > g.room;
    bench_verify(&row, wrong, "sums of faces");
    row.rate = "mpix_s", row.unit = "Mpix/s", row.each = 1e-3 * (double)cells;
    row.limit_ms = 1e-9 * 8 * (double)cells / s->d.ceilings.copy_tbs;
    bench_row_run(&s->d, &row, run_contacts, &g);
    kit_release(mark);
}

int main(int argc, char **argv) {
    static sweep s;
    const bench_option options[] = {
        {"--n", "width of a cubic volume", "512", "256", BENCH_NUMBER, &s.n, 1, 1600},
        {"--images", "images of a batch", "1024", "128", BENCH_NUMBER, &s.images, 1, 1 << 20},
        {"--image", "their width and height", "256", 0, BENCH_NUMBER, &s.image, 1, 1 << 16},
        {"--inputs", "masks", "noise_50,noise_31,noise_10,balls,checkerboard,all", 0, BENCH_TEXT,
         &s.inputs, 0, 0},
        {"--neighbours", "6, 18, 26 of volumes; 4, 8 of images", "26,18,6,8,4", 0, BENCH_LIST,
         &s.neighbours, 4, 26},
        {"--bytes", "memory for the bandwidths", "1073741824", 0, BENCH_NUMBER, &s.d.bytes, 1 << 16,
         1ull << 40}};
    s.d.name = "label3", s.d.options = options, s.d.option_count = COUNT(options);
    s.d.budget = "40", s.d.quick_budget = "10";
    bench_begin(&s.d, argc, argv);
    if (s.images * s.image * s.image >= COMPONENTS_NONE) bench_bad("--images", "too many");
    for (int i = 0; i < s.neighbours.count; ++i) {
        const int n = (int)s.neighbours.value[i];
        if (n == 6 || n == 18 || n == 26)
            sweep_size(&s, s.n, s.n, n, 0);
        else if (n == 4 || n == 8) {
            tmap_u64 side = s.image;
            while (side * side < s.images * s.image * s.image) side += s.image;
            sweep_size(&s, s.image, s.images, n, 0);
            sweep_size(&s, side, 1, n, 1);
        } else
            bench_bad("--neighbours", "4, 6, 8, 18 or 26");
    }
    sweep_contacts(&s, s.n);
    return bench_end(&s.d);
}
