// SPDX-License-Identifier: MIT
// bench_label3: labels of volumes and of batches of images by tmap_label3, of masks of bytes and of
// bits, with 32-bit labels; and tmap_label of a picture of as many cells as a batch has.
//
// Every result is verified, in every cell and on the device, against a union-find over single cells,
// and that, where it is small, against a serial flood fill on the host.
#include "../driver.h"
#include "../../tests/raster/flood_inputs.h"

#include <threadmap/raster/label.h>
#include <threadmap/raster/label3.h>
#include <threadmap/raster/label_measure.h>

enum { NOISE_50, NOISE_31, NOISE_10, BALLS, CHECKERBOARD, ALL, INPUTS };
static const char *const input_names[INPUTS] = {"noise_50", "noise_31",     "noise_10",
                                                "balls",    "checkerboard", "all"};
#define NONE  0xffffffffu
#define GUARD 64u

// 1 for neighbours of the cells of images.
TMAP_FN int is_flat(int neighbours) { return neighbours == 4 || neighbours == 8; }

// Axes along which a neighbour may differ.
TMAP_FN int axes_of(int n) { return n == 4 || n == 6 ? 1 : n == 26 ? 3 : 2; }

// A mask and its components: a cell's parent is in the end the first cell of its component.
typedef struct truth {
    tmap_label3_map map; // bytes without gaps
    int input;
    tmap_u64 cells, components;
    unsigned char *mask;
    tmap_u32 *bits, *parents, *marks;
    tmap_u64 *numbers; // wrong cells; components
} truth;

#define EACH(i, n) \
    for (tmap_u64 i = blockIdx.x * (tmap_u64)blockDim.x + threadIdx.x; i < (n); \
         i += gridDim.x * (tmap_u64)blockDim.x)
#define RUN(kernel, ...) \
    do { \
        kernel<<<2048, 256>>>(__VA_ARGS__); \
        CHECK(cudaGetLastError()); \
    } while (0)

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

static __global__ void make_mask(truth t) {
    const tmap_u64 w = t.map.width, h = t.map.height;
    EACH(i, t.cells)
    t.mask[i] = (unsigned char)cell_in(t.input, (tmap_u32)(i % w), (tmap_u32)(i / w % h),
                                       (tmap_u32)(i / w / h), is_flat(t.map.neighbours));
}
static __global__ void make_bits(truth t) {
    const tmap_u64 w = t.map.width, words = (w + 31) / 32;
    EACH(k, t.cells / w * words) {
        tmap_u32 word = 0;
        for (tmap_u64 x = k % words * 32; x < w && x < k % words * 32 + 32; ++x)
            word |= (tmap_u32)t.mask[k / words * w + x] << x % 32;
        t.bits[k] = word;
    }
}

// ---- the truth ----------------------------------------------------------------------------------

TMAP_DEVICE tmap_u32 truth_root(tmap_u32 *parents, tmap_u32 cell) {
    volatile tmap_u32 *p = parents;
    for (;;) {
        const tmap_u32 up = p[cell], upper = p[up];
        if (up == upper) return up;
        p[cell] = upper, cell = upper;
    }
}
static __global__ void truth_runs(truth t) {
    EACH(i, t.cells) {
        const tmap_u64 x = i % t.map.width;
        tmap_u32 back = 0;
        while (t.mask[i] && back < x && back < 64 && t.mask[i - back - 1]) ++back;
        t.parents[i] = t.mask[i] ? (tmap_u32)i - back : NONE;
    }
}
// Unites a cell with its neighbours of smaller numbers, unless the cells to the left of both do so.
static __global__ void truth_link(truth t) {
    const tmap_i64 w = (tmap_i64)t.map.width, h = (tmap_i64)t.map.height;
    const int n = t.map.neighbours, flat = is_flat(n), most = axes_of(n);
    EACH(i, t.cells) {
        const tmap_i64 x = (tmap_i64)i % w, y = (tmap_i64)i / w % h, z = (tmap_i64)i / w / h;
        if (!t.mask[i]) continue;
        for (int k = flat ? 9 : 0; k < 13; ++k) {
            const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
            const tmap_u64 to = i + (tmap_u64)((dz * h + dy) * w + dx);
            tmap_u32 a = (tmap_u32)i, b = (tmap_u32)to;
            if (abs(dx) + abs(dy) + abs(dz) > most || x + dx < 0 || x + dx >= w || y + dy < 0 ||
                y + dy >= h || z + dz < 0 || !t.mask[to])
                continue;
            if (k != 12 && x > 0 && x + dx > 0 && t.mask[i - 1] && t.mask[to - 1]) continue;
            for (;;) {
                tmap_u32 high;
                a = truth_root(t.parents, a), b = truth_root(t.parents, b);
                if (a == b) break;
                high = a > b ? a : b, b = a > b ? b : a, a = high;
                if (atomicCAS(t.parents + a, a, b) == a) break;
            }
        }
    }
}
static __global__ void truth_flatten(truth t) {
    volatile tmap_u32 *p = t.parents;
    EACH(i, t.cells) { // without shorter paths, which could put an old parent in place of a root
        tmap_u32 root = (tmap_u32)i;
        if (!t.mask[i]) continue;
        while (p[root] != root) root = p[root];
        p[i] = root;
    }
}
// Counts components: of an image that of its own.
static __global__ void truth_count(truth t) {
    tmap_u64 count = 0;
    EACH(i, t.cells) count += t.mask[i] && t.parents[i] == (tmap_u32)i;
    if (count) atomicAdd(t.numbers + 1, count);
}

// Labels: that of a cell is that of its component's first cell; first cells mark their labels, from
// the image's first cell on.
static __global__ void truth_labels(truth t, const int *labels) {
    const tmap_u64 part =
        t.map.neighbours == 4 || t.map.neighbours == 8 ? t.map.width * t.map.height : t.cells;
    tmap_u64 wrong = 0;
    EACH(i, t.cells) {
        const int label = labels[i];
        if (!t.mask[i])
            wrong += label != 0;
        else if (label < 1 || (tmap_u64)label > part || label != labels[t.parents[i]])
            ++wrong;
        else if (t.parents[i] == (tmap_u32)i)
            wrong += atomicExch(t.marks + i / part * part + label - 1, (tmap_u32)i) != NONE;
    }
    if (wrong) atomicAdd(t.numbers, wrong);
}
// Marks of labels 1, 2, ... are first cells in their order; then there are none.
static __global__ void truth_order(truth t) {
    const tmap_u64 part =
        t.map.neighbours == 4 || t.map.neighbours == 8 ? t.map.width * t.map.height : t.cells;
    tmap_u64 wrong = 0;
    EACH(i, t.cells)
    wrong +=
        i % part && t.marks[i] != NONE && (t.marks[i - 1] == NONE || t.marks[i - 1] >= t.marks[i]);
    if (wrong) atomicAdd(t.numbers, wrong);
}

// The program ends where the truth of a small mask is not that of a serial fill.
static void truth_verify(const truth *t) {
    const tmap_i64 w = (tmap_i64)t->map.width, h = (tmap_i64)t->map.height;
    const tmap_i64 d = (tmap_i64)t->map.depth;
    const int n = t->map.neighbours, flat = is_flat(n), most = axes_of(n);
    unsigned char *mask = (unsigned char *)malloc((size_t)t->cells);
    tmap_u32 *parents = (tmap_u32 *)malloc((size_t)t->cells * 4);
    tmap_u32 *stack = (tmap_u32 *)malloc((size_t)t->cells * 4);
    tmap_u64 wrong = 0;
    CHECK(cudaMemcpy(mask, t->mask, (size_t)t->cells, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(parents, t->parents, (size_t)t->cells * 4, cudaMemcpyDeviceToHost));
    for (tmap_u32 first = 0; first < t->cells; ++first) {
        tmap_u64 depth = 1;
        if (!mask[first]) continue;
        stack[0] = first, mask[first] = 0;
        while (depth) {
            const tmap_i64 at = stack[--depth], x = at % w, y = at / w % h, z = at / w / h;
            wrong += parents[at] != first;
            for (int k = flat ? 9 : 0; k < (flat ? 18 : 27); ++k) {
                const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
                const tmap_i64 to = at + (dz * h + dy) * w + dx;
                if (abs(dx) + abs(dy) + abs(dz) > most || x + dx < 0 || x + dx >= w || y + dy < 0 ||
                    y + dy >= h || z + dz < 0 || z + dz >= d || !mask[to])
                    continue;
                mask[to] = 0, stack[depth++] = (tmap_u32)to;
            }
        }
    }
    free(mask), free(parents), free(stack);
    if (!wrong) return;
    fflush(stdout);
    fprintf(stderr, "%s, %d neighbours: the truth is WRONG in %llu cells\n", input_names[t->input],
            n, wrong);
    exit(1);
}

static void truth_make(truth *t) {
    tmap_u64 numbers[2];
    CHECK(cudaMemset(t->numbers, 0, 16));
    RUN(make_mask, *t);
    RUN(make_bits, *t);
    RUN(truth_runs, *t);
    RUN(truth_link, *t);
    RUN(truth_flatten, *t);
    RUN(truth_count, *t);
    CHECK(cudaMemcpy(numbers, t->numbers, 16, cudaMemcpyDeviceToHost));
    t->components = numbers[1];
    if (t->cells <= 1 << 20) truth_verify(t);
}

// ---- variants -----------------------------------------------------------------------------------

enum { LABEL3, MEASURE, LABEL3_BITS, PICTURE, VARIANTS };

typedef struct job {
    truth t;
    int variant;
    tmap_label3_plan plan;
    tmap_label_plan picture;
    void *workspace;
    int *labels;              // with a guard
    tmap_u64 *count, most;    // most: components of a volume, or of an image
    tmap_label_shape *shapes; // of MEASURE
} job;

static void run(void *context) {
    job *j = (job *)context;
    if (j->variant == PICTURE)
        CHECK(tmap_label(&j->picture, j->t.mask, j->workspace, j->labels, j->count, 0));
    else if (j->variant == MEASURE)
        CHECK(tmap_label_measure(&j->plan.array, j->labels, j->most, j->shapes, 0));
    else
        CHECK(tmap_label3(&j->plan, j->variant == LABEL3_BITS ? (const void *)j->t.bits : j->t.mask,
                          j->workspace, j->labels, j->count, 0));
}

static void make(job *j) {
    tmap_u64 bytes;
    if (j->variant == PICTURE) {
        const tmap_raster_map map = {j->t.map.width,   j->t.map.height,    j->t.map.width, 0, 0,
                                     TMAP_RASTER_MASK, j->t.map.neighbours};
        CHECK(tmap_label_plan_make(&map, TMAP_LABEL_INT32, &j->picture));
        bytes = j->picture.workspace;
    } else {
        tmap_label3_map map = j->t.map;
        if (j->variant == LABEL3_BITS)
            map.kind = TMAP_LABEL3_BITS, map.pitch = (map.width + 31) / 32,
            map.slice = map.pitch * map.height;
        CHECK(tmap_label3_plan_make(&map, TMAP_LABEL_INT32, &j->plan));
        bytes = j->plan.workspace;
    }
    CHECK(cudaMalloc(&j->workspace, (size_t)bytes));
    CHECK(cudaMemset(j->workspace, 0xa5, (size_t)bytes));
}

// Wrong cells of labels, or wrong counts.
static tmap_u64 look(job *j) {
    const tmap_u64 counts = is_flat(j->t.map.neighbours) ? j->t.map.depth : 1;
    tmap_u64 *count = (tmap_u64 *)malloc((size_t)counts * 8), wrong, sum = 0;
    unsigned char guard[GUARD];
    CHECK(cudaMemset(j->t.numbers, 0, 8));
    CHECK(cudaMemset(j->t.marks, 0xff, (size_t)j->t.cells * 4));
    RUN(truth_labels, j->t, j->labels);
    RUN(truth_order, j->t);
    CHECK(cudaMemcpy(&wrong, j->t.numbers, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(count, j->count, (size_t)counts * 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(guard, j->labels + j->t.cells, GUARD, cudaMemcpyDeviceToHost));
    for (tmap_u32 i = 0; i < GUARD; ++i) wrong += guard[i] != 0xa5;
    j->most = 0;
    for (tmap_u64 i = 0; i < counts; ++i) {
        sum += count[i];
        if (count[i] > j->most) j->most = count[i];
    }
    free(count);
    return wrong + (sum != j->t.components);
}

// Shapes: their areas are all cells, and each first cell has its component's label.
static __global__ void shapes_look(truth t, const int *labels, const tmap_label_shape *shapes,
                                   tmap_u64 most, tmap_u64 all) {
    tmap_u64 wrong = 0, area = 0;
    EACH(i, all) {
        const tmap_label_shape s = shapes[i];
        if (s.area == 0) continue;
        area += s.area;
        wrong += s.first >= t.cells || t.parents[s.first] != s.first ||
                 labels[s.first] != (int)(i % most + 1);
    }
    if (wrong) atomicAdd(t.numbers, wrong);
    atomicAdd(t.numbers + 1, area);
}
// Cells outside their component's box.
static __global__ void shapes_boxes(truth t, const int *labels, const tmap_label_shape *shapes,
                                    tmap_u64 most) {
    const tmap_u64 w = t.map.width, h = t.map.height;
    const int flat = is_flat(t.map.neighbours);
    tmap_u64 wrong = 0, cells = 0;
    EACH(i, t.cells) {
        const tmap_u64 x = i % w, y = i / w % h, z = i / w / h;
        if (!t.mask[i]) continue;
        const tmap_label_shape *s = shapes + (flat ? z * most : 0) + labels[i] - 1;
        ++cells;
        wrong += x < s->left || x > s->right || y < s->top || y > s->bottom || z < s->front ||
                 z > s->back;
    }
    if (wrong) atomicAdd(t.numbers, wrong);
    atomicAdd(t.numbers + 1, 0ull - cells);
}

typedef struct sweep {
    bench_driver d;
    tmap_u64 n, images, image;
    const char *inputs;
    bench_numbers neighbours;
} sweep;

static bench_row row_of(const sweep *s, const job *j, int variant) {
    static const char *const names[] = {"label3", "label3_measure", "label3_bits", "picture"};
    const tmap_label3_map *map = &j->t.map;
    bench_row row = bench_row_begin(&s->d, "label", names[variant],
                                    variant == PICTURE         ? "map"
                                    : is_flat(map->neighbours) ? "batch"
                                                               : "volume");
    bench_key_text(&row, "input", input_names[j->t.input]);
    bench_key(&row, "size", "%llu", map->width);
    bench_key(&row, "depth", "%llu", map->depth);
    bench_key(&row, "connectivity", "%d", map->neighbours);
    bench_key_text(&row, "dtype", variant == LABEL3_BITS ? "bits" : "u8");
    return row;
}

// Times a job that has been verified, and writes its row. The limit is the bytes in and out.
static void record(sweep *s, bench_row *row, job *j) {
    const double cells = (double)j->t.cells;
    const double each = j->variant == MEASURE ? 4 : j->variant == LABEL3_BITS ? 4.125 : 5;
    bench_key(row, "components", "%llu", j->t.components);
    row->rate = "mpix_s", row->unit = "Mpix/s", row->each = 1e-3 * cells;
    row->limit_ms = 1e-9 * each * cells / s->d.ceilings.copy_tbs;
    bench_time_row(row, run, j);
    bench_row_end(&s->d, row);
}

// The shapes of labels that have been verified.
static void sweep_shapes(sweep *s, bench_row *row, job *j) {
    const tmap_u64 all = j->most * (is_flat(j->t.map.neighbours) ? j->t.map.depth : 1);
    tmap_u64 numbers[2];
    CHECK(cudaMalloc((void **)&j->shapes, (size_t)all * sizeof *j->shapes));
    CHECK(cudaMemset(j->shapes, 0xa5, (size_t)all * sizeof *j->shapes));
    j->variant = MEASURE;
    run(j);
    CHECK(cudaMemset(j->t.numbers, 0, 16));
    RUN(shapes_look, j->t, j->labels, j->shapes, j->most, all);
    RUN(shapes_boxes, j->t, j->labels, j->shapes, j->most);
    CHECK(cudaMemcpy(numbers, j->t.numbers, 16, cudaMemcpyDeviceToHost));
    bench_verify(row, numbers[0] + numbers[1], "shapes");
    record(s, row, j);
    CHECK(cudaFree(j->shapes));
}

// One input: labels by each variant, verified, then timed; after those of bytes their shapes.
static void sweep_input(sweep *s, job *j, int picture) {
    bench_row rows[VARIANTS];
    int wanted[VARIANTS] = {0}, any = 0;
    for (int v = picture ? PICTURE : LABEL3; v <= (picture ? PICTURE : LABEL3_BITS); ++v) {
        rows[v] = row_of(s, j, v);
        any |= wanted[v] = bench_wants(&s->d, &rows[v]);
    }
    if (!any) return;
    truth_make(&j->t);
    for (int v = 0; v < VARIANTS; ++v) {
        if (v == MEASURE || (!wanted[v] && !(v == LABEL3 && wanted[MEASURE]))) continue;
        j->variant = v;
        CHECK(cudaMemset(j->labels, 0xa5, (size_t)j->t.cells * 4 + GUARD));
        make(j);
        run(j);
        bench_verify(&rows[v], look(j), "cells");
        if (wanted[v]) record(s, &rows[v], j);
        if (v == LABEL3 && wanted[MEASURE] && j->most) sweep_shapes(s, &rows[MEASURE], j);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(j->workspace));
    }
}

// All inputs at one size. picture: by tmap_label, a map of depth 1.
static void sweep_size(sweep *s, tmap_u64 width, tmap_u64 depth, int neighbours, int picture) {
    const tmap_label3_map map = {width,     width, depth, width, width * width, TMAP_LABEL3_BYTES,
                                 neighbours};
    const tmap_u64 cells = width * width * depth;
    static job j;
    memset(&j, 0, sizeof j);
    j.t.map = map, j.t.cells = cells;
    CHECK(cudaMalloc((void **)&j.t.mask, (size_t)cells));
    CHECK(cudaMalloc((void **)&j.t.bits, (size_t)((width + 31) / 32 * width * depth * 4)));
    CHECK(cudaMalloc((void **)&j.t.parents, (size_t)cells * 4));
    CHECK(cudaMalloc((void **)&j.t.marks, (size_t)cells * 4));
    CHECK(cudaMalloc((void **)&j.t.numbers, 16));
    CHECK(cudaMalloc((void **)&j.labels, (size_t)cells * 4 + GUARD));
    CHECK(cudaMalloc((void **)&j.count, (size_t)depth * 8));
    for (j.t.input = 0; j.t.input < INPUTS; ++j.t.input)
        if (bench_listed(s->inputs, input_names[j.t.input])) sweep_input(s, &j, picture);
    CHECK(cudaFree(j.t.mask));
    CHECK(cudaFree(j.t.bits));
    CHECK(cudaFree(j.t.parents));
    CHECK(cudaFree(j.t.marks));
    CHECK(cudaFree(j.t.numbers));
    CHECK(cudaFree(j.labels));
    CHECK(cudaFree(j.count));
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
    s.d.name = "label3", s.d.options = options, s.d.option_count = 6;
    s.d.budget = "40", s.d.quick_budget = "10";
    bench_begin(&s.d, argc, argv);
    if (s.images * s.image * s.image > NONE - 1) bench_bad("--images", "too many");
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
    return bench_end(&s.d);
}
