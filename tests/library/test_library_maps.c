// SPDX-License-Identifier: MIT
// test_library_maps.c: the functions of library.h for maps of cells and for fractals, called from
// plain C, on random input of random shapes, against their definitions by brute force.
#include "library_check.h"

#include <math.h>

// ---- maps ---------------------------------------------------------------------------------------

enum { SIDE = 80, DEEP = 5, CELLS = SIDE * SIDE };
static int cell[CELLS], want[CELLS], width, height, depth;
static int wrap[3], none; // axes that are periodic; the value of cells of no component, -1: of none

// The sum of the differences of two cells' places along each axis, 9 where one is more than 1.
static int apart(int a, int b) {
    const int dx = abs(a % width - b % width), dz = abs(a / width / height - b / width / height);
    const int dy = abs(a / width % height - b / width % height);
    return dx > 1 || dy > 1 || dz > 1 ? 9 : dx + dy + dz;
}

// The place that is (dx, dy, dz) from a cell; -1 if there is none.
static int beside(int from, int dx, int dy, int dz) {
    const int side[3] = {width, height, depth};
    int at[3] = {from % width + dx, from / width % height + dy, from / width / height + dz};
    for (int k = 0; k < 3; ++k) {
        if (wrap[k]) at[k] = (at[k] + side[k]) % side[k];
        if (at[k] < 0 || at[k] >= side[k]) return -1;
    }
    return (at[2] * height + at[1]) * width + at[0];
}

// Sets `want` to the components of equal cells; counts: of each slice that begins some. sums: the
// largest sum of steps to a neighbour. batch: slices are images.
static void components(int cells, int sums, int batch, tmap_u64 *counts) {
    static int todo[CELLS];
    int labels = 0;
    memset(want, 0, sizeof want);
    for (int i = 0; i < cells; ++i) {
        int many = 1;
        const int z = i / (width * height);
        if (i % (width * height) == 0 && batch) labels = 0, counts[z] = 0;
        if (cell[i] == none || want[i]) continue;
        want[i] = ++labels, todo[0] = i, counts[batch ? z : 0] = (tmap_u64)labels;
        while (many) {
            const int from = todo[--many];
            for (int dz = -1; dz <= 1; ++dz)
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx) {
                        const int to = batch && dz ? -1 : beside(from, dx, dy, dz);
                        if (to < 0 || want[to] || cell[to] != cell[from]) continue;
                        if (abs(dx) + abs(dy) + abs(dz) > sums) continue;
                        want[to] = labels, todo[many++] = to;
                    }
        }
    }
}

// Cells on the device: with a pitch, in a type of library.h.
static void *put_cells(int type, int pitch, int rows) {
    char *image = (char *)kit_zeroed((tmap_u64)(pitch * rows) * 4 + 4);
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < width; ++x) {
            const int v = cell[y * width + x], at = y * pitch + x;
            if (type == THREADMAP_I16) ((short *)(void *)image)[at] = (short)v;
            if (type == THREADMAP_I32) ((int *)(void *)image)[at] = v;
            if (type == THREADMAP_FLOAT) ((float *)(void *)image)[at] = (float)v;
            if (type == THREADMAP_U8 || type == THREADMAP_MASK) image[at] = (char)v;
            if (type == THREADMAP_BITS && v)
                ((tmap_u32 *)(void *)image)[y * pitch + x / 32] |= 1u << x % 32;
        }
    return put(image,
               (tmap_u64)(pitch * rows) * (type == THREADMAP_I16                            ? 2
                                           : type == THREADMAP_U8 || type == THREADMAP_MASK ? 1
                                                                                            : 4));
}

static void check_labels(const void *labels, int cells, int wide) {
    tmap_u64 *got = (tmap_u64 *)kit_host((tmap_u64)cells * 8);
    get(got, labels, (tmap_u64)cells * (wide ? 8 : 4));
    for (int i = 0; i < cells; ++i)
        EXPECT(index_of(got, wide, (tmap_u64)i) == (tmap_u64)want[i], "cell %d", i);
}

static void test_label(void) {
    const int batch = below(3) == 0, type = batch ? THREADMAP_MASK + below(2) : below(6);
    const int eight = below(2), gap = below(2) * below(9);
    tmap_u64 count[DEEP] = {0}, found[DEEP];
    width = 1 + below(batch ? 40 : SIDE), height = 1 + below(batch ? 30 : SIDE);
    depth = batch ? 1 + below(DEEP) : 1;
    const int masked = type >= THREADMAP_MASK, dense = 1 + below(6), cells = width * height * depth;
    for (int i = 0; i < cells; ++i)
        cell[i] = masked ? below(dense) > 0 : 1 + below(3); // a map of values has no 0
    const int pitch = (type == THREADMAP_BITS ? (width + 31) / 32 : width) + gap;
    threadmap_label_job job = {{put_cells(type, pitch, height * depth), (tmap_u64)width,
                                (tmap_u64)height, gap ? (tmap_u64)pitch : 0, 0, 0, type,
                                eight ? 8 : 4},
                               0,
                               (tmap_u64 *)put(0, 8 * (tmap_u64)depth),
                               below(2),
                               batch,
                               batch ? (tmap_u64)depth : 0,
                               batch && below(2) ? (tmap_u64)(pitch * height) : 0};
    kit_case("label %d x %d, type %d, pitch %d, %d neighbours, %d images", width, height, type,
             pitch, job.map.connectivity, batch ? depth : 0);
    job.labels = put(0, (tmap_u64)cells * (job.wide ? 8 : 4));
    components(cells, eight ? 2 : 1, batch, count);
    RETURNS(RUN(label, &job), 0);
    get(found, job.count, 8 * (tmap_u64)depth);
    for (int z = 0; z < depth; ++z)
        EXPECT(found[z] == count[z], "%llu components, not %llu", found[z], count[z]);
    check_labels(job.labels, cells, job.wide);
}

static void test_label3(void) {
    static const int neighbours[] = {6, 18, 26};
    static const int types[] = {THREADMAP_MASK, THREADMAP_BITS, THREADMAP_U8,
                                THREADMAP_I16,  THREADMAP_I32,  THREADMAP_FLOAT};
    const int n = below(3), kind = below(6), dense = 2 + below(4);
    const int values = kind > THREADMAP_LABEL3_BITS;
    tmap_u64 count = 0, found;
    width = 1 + below(40), height = 1 + below(30), depth = 1 + below(DEEP);
    const int cells = width * height * depth;
    none = values ? below(dense + 1) - 1 : 0;
    for (int k = 0; k < 3; ++k) wrap[k] = below(4) == 0;
    for (int i = 0; i < cells; ++i) cell[i] = values ? below(dense) : below(dense) == 0;
    const int bits = kind == THREADMAP_LABEL3_BITS;
    threadmap_label3_job job = {
        put_cells(types[kind], bits ? (width + 31) / 32 : width, height * depth),
        (tmap_u64)width,
        (tmap_u64)height,
        (tmap_u64)depth,
        0,
        0,
        values && none > 0 ? none : 0,
        values && none >= 0,
        kind,
        neighbours[n] + wrap[0] * THREADMAP_PERIODIC_X + wrap[1] * THREADMAP_PERIODIC_Y +
            wrap[2] * THREADMAP_PERIODIC_Z,
        0,
        (tmap_u64 *)put(0, 8),
        below(2)};
    kit_case("label3 %d x %d x %d, kind %d, %#x neighbours", width, height, depth, job.kind,
             (unsigned)job.neighbours);
    job.labels = put(0, (tmap_u64)cells * (job.wide ? 8 : 4));
    components(cells, n + 1, 0, &count);
    RETURNS(RUN(label3, &job), 0);
    get(&found, job.count, 8);
    expect(found == count, "the count");
    check_labels(job.labels, cells, job.wide);
    wrap[0] = wrap[1] = wrap[2] = none = 0;
}

// Shapes, contacts and dust of labels that are no components.
static void test_labels(void) {
    enum { MOST = 40 };
    static tmap_u64 touch[MOST + 1][MOST + 1];
    const int images = below(2), wide = below(2), most = 1 + below(MOST), count = most - below(2);
    const int least = below(20);
    width = 1 + below(40), height = 1 + below(30), depth = 1 + below(DEEP);
    const int cells = width * height * depth, all = count * (images ? depth : 1);
    tmap_u64 *labels = (tmap_u64 *)kit_zeroed((tmap_u64)cells * 8), pairs = 0, found;
    threadmap_shape *shapes = (threadmap_shape *)kit_zeroed((tmap_u64)all * sizeof *shapes), *got;
    kit_case("labels %d x %d x %d, images %d, wide %d, %d of %d", width, height, depth, images,
             wide, count, most);
    for (int i = 0; i < cells; ++i) {
        cell[i] = below(3) ? below(most + 1) : i ? cell[i - 1] : 0;
        if (wide)
            labels[i] = (tmap_u64)cell[i];
        else
            ((tmap_u32 *)labels)[i] = (tmap_u32)cell[i];
    }
    const threadmap_labels of = {put(labels, (tmap_u64)cells * (wide ? 8 : 4)),
                                 (tmap_u64)width,
                                 (tmap_u64)height,
                                 (tmap_u64)depth,
                                 (tmap_u64)count,
                                 images,
                                 wide};
    for (int i = 0; i < cells; ++i) {
        const tmap_u32 x = (tmap_u32)(i % width), y = (tmap_u32)(i / width % height),
                       z = (tmap_u32)(i / width / height);
        threadmap_shape *t = shapes + (images ? (int)z * count : 0) + cell[i] - 1;
        if (!cell[i] || cell[i] > count) continue;
        if (!t->area++) *t = (threadmap_shape){1, (tmap_u64)i, x, y, z, x, y, z};
        t->left = x < t->left ? x : t->left, t->right = x > t->right ? x : t->right;
        t->top = y < t->top ? y : t->top, t->bottom = y > t->bottom ? y : t->bottom;
        t->back = z;
    }
    const threadmap_shapes_job measure = {
        of, (threadmap_shape *)put(0, (tmap_u64)all * sizeof *shapes)};
    RETURNS(RUN(shapes, &measure), 0);
    got = (threadmap_shape *)kit_host((tmap_u64)all * sizeof *shapes);
    get(got, measure.shapes, (tmap_u64)all * sizeof *shapes);
    for (int i = 0; i < all; ++i)
        expect(shapes[i].area ? !memcmp(got + i, shapes + i, sizeof *got) : !got[i].area,
               "a shape");

    memset(touch, 0, sizeof touch);
    for (int i = 0; i < cells; ++i)
        for (int k = 0; k < 3; ++k) {
            const int to = beside(i, k == 0, k == 1, k == 2), a = cell[i],
                      b = cell[to < 0 ? i : to];
            if (a && b && a != b) pairs += !touch[a < b ? a : b][a < b ? b : a]++;
        }
    threadmap_contacts_job contacts = {of, 0, below(3) ? pairs + pairs / 4 + 1 : 1,
                                       (tmap_u64 *)put(0, 8)};
    const tmap_u64 bytes = contacts.room * sizeof(threadmap_contact);
    threadmap_contact *table = (threadmap_contact *)kit_host(bytes);
    contacts.contacts = (threadmap_contact *)put(0, bytes);
    RETURNS(RUN(contacts, &contacts), images ? TMAP_EINVAL : 0);
    get(&found, contacts.count, 8), get(table, contacts.contacts, bytes);
    if (!images && pairs > contacts.room) expect(found > contacts.room, "the table is too small");
    if (!images && pairs <= contacts.room) {
        expect(found == pairs, "the number of pairs");
        for (tmap_u64 i = 0; i < contacts.room; ++i) {
            const tmap_u64 a = table[i].pair >> 32, b = table[i].pair & 0xffffffff;
            if (!table[i].area) continue;
            HOLDS(a < b && b <= MOST);
            expect(table[i].area == touch[a][b], "an area"), touch[a][b] = 0, --pairs;
        }
        expect(!pairs, "each pair");
    }

    const threadmap_dust_job dust = {of, (tmap_u64)least};
    RETURNS(RUN(dust, &dust), 0);
    for (int i = 0; i < cells; ++i) {
        const int at = (images ? i / width / height * count : 0) + cell[i] - 1;
        want[i] = cell[i] && cell[i] <= count && shapes[at].area < dust.least ? 0 : cell[i];
    }
    check_labels(of.labels, cells, wide);
}

static void test_fill(void) {
    static const int neighbours[] = {6, 18, 26};
    const int n = below(3), dense = 2 + below(6);
    tmap_u64 count, found;
    width = 1 + below(40), height = 1 + below(30), depth = 1 + below(DEEP);
    const int cells = width * height * depth;
    int inside[CELLS];
    kit_case("fill %d x %d x %d, %d neighbours", width, height, depth, neighbours[n]);
    for (int i = 0; i < cells; ++i) cell[i] = below(dense) ? below(2) + 1 : 0;
    unsigned char *mask = (unsigned char *)put_cells(THREADMAP_U8, width, height * depth), *got;
    const threadmap_label3_job label = {mask,
                                        (tmap_u64)width,
                                        (tmap_u64)height,
                                        (tmap_u64)depth,
                                        0,
                                        0,
                                        0,
                                        0,
                                        THREADMAP_LABEL3_U8,
                                        neighbours[n],
                                        put(0, (tmap_u64)cells * 4),
                                        (tmap_u64 *)put(0, 8),
                                        0};
    RETURNS(RUN(label3, &label), 0);
    get(&found, label.count, 8);
    const threadmap_fill_job fill = {
        {label.labels, (tmap_u64)width, (tmap_u64)height, (tmap_u64)depth, found, 0, 0}, mask};
    RETURNS(RUN(fill, &fill), 0);
    got = (unsigned char *)kit_host((tmap_u64)cells), get(got, mask, (tmap_u64)cells);
    none = -1, components(cells, n + 1, 0, &count), none = 0;
    for (int i = 0; i < cells; ++i) inside[want[i] - 1] = 1;
    for (int i = 0; i < cells; ++i)
        for (int k = 0; k < (depth > 1 ? 6 : 4); ++k)
            if (beside(i, (k == 0) - (k == 1), (k == 2) - (k == 3), (k == 4) - (k == 5)) < 0)
                inside[want[i] - 1] = 0;
    for (int i = 0; i < cells; ++i)
        EXPECT(got[i] == (cell[i] ? cell[i] : inside[want[i] - 1]), "cell %d", i);
}

// Lowers `want` to the least over neighbours of the greater of their level and the cell's height.
static void relax(int sums, int limit) {
    for (int moved = 1; moved;) {
        moved = 0;
        for (int i = 0; i < width * height; ++i)
            for (int n = 0; n < 9; ++n) {
                const int to = i + (n / 3 - 1) * width + n % 3 - 1;
                if (to < 0 || to >= width * height || apart(i, to) > sums) continue;
                const int level = want[to] > cell[i] ? want[to] : cell[i];
                if (level < want[i] && level < limit) want[i] = level, moved = 1;
            }
    }
}

static void test_water(int flood) {
    static const int types[] = {THREADMAP_I16, THREADMAP_I32, THREADMAP_FLOAT};
    const int type = types[below(3)], eight = below(2), high = 1000000, deep = below(2);
    width = 1 + below(SIDE), height = 1 + below(SIDE), depth = 1;
    const int cells = width * height, level = flood ? 5 : high;
    unsigned char *mask = (unsigned char *)kit_zeroed((tmap_u64)cells);
    tmap_u64 seeds[6];
    for (int i = 0; i < cells; ++i) cell[i] = below(10), want[i] = high;
    for (int k = 0; k < 3; ++k) {
        const int at = below(cells);
        seeds[2 * k] = (tmap_u64)(at % width), seeds[2 * k + 1] = (tmap_u64)(at / width);
        mask[at] = 1;
        if (cell[at] < level) want[at] = cell[at];
    }
    const threadmap_map map = {put_cells(type, width, height),
                               (tmap_u64)width,
                               (tmap_u64)height,
                               0,
                               0,
                               0,
                               type,
                               eight ? 8 : 4};
    const int outlets = flood ? 0 : below(2), bytes = flood ? (deep ? 4 : 1) : deep || type ? 4 : 2;
    for (int i = 0; i < cells; ++i)
        if (outlets &&
            (i % width == 0 || i % width == width - 1 || i < width || i >= cells - width))
            want[i] = cell[i];
    relax(eight ? 2 : 1, level);
    kit_case("%s %d x %d, type %d, %d neighbours, depth %d, outlets %d", flood ? "flood" : "spill",
             width, height, type, map.connectivity, deep, outlets);
    void *out = put(0, (tmap_u64)(cells * bytes)), *got = kit_host((tmap_u64)(cells * bytes));
    const threadmap_spill_job spill = {map, put(mask, (tmap_u64)cells), out, deep, outlets};
    const threadmap_flood_job wet = {map, (tmap_u64 *)put(seeds, sizeof seeds),
                                     3,   level,
                                     out, deep ? THREADMAP_FLOOD_DEPTH : THREADMAP_FLOOD_U8};
    RETURNS(flood ? RUN(flood, &wet) : RUN(spill, &spill), 0);
    get(got, out, (tmap_u64)(cells * bytes));
    for (int i = 0; i < cells; ++i) {
        const double v = bytes == 1                        ? ((unsigned char *)got)[i]
                         : bytes == 2                      ? ((short *)got)[i]
                         : deep || type == THREADMAP_FLOAT ? (double)((float *)got)[i]
                                                           : ((int *)got)[i];
        const int in = want[i] < high;
        const double right =
            flood ? (deep ? (in ? level - cell[i] : 0) : in) : (deep ? want[i] - cell[i] : want[i]);
        EXPECT(v == right, "cell %d: %g, not %g", i, v, right);
    }
}

// ---- fractals -----------------------------------------------------------------------------------

// 1 for a cell: each digit of x and y is the place of a replica.
static int is_cell(const threadmap_fractal *f, int x, int y) {
    for (tmap_u32 m = 0; m < f->r; ++m, x /= (int)f->sx, y /= (int)f->sy) {
        int found = 0;
        for (tmap_u32 b = 0; b < f->k; ++b)
            found |= x % (int)f->sx == (int)(f->tau_x >> 4 * b & 15) &&
                     y % (int)f->sy == (int)(f->tau_y >> 4 * b & 15);
        if (!found) return 0;
    }
    return 1;
}

static void test_life(void) {
    threadmap_fractal f = {0, 1 + (tmap_u32)below(4), 1 + (tmap_u32)below(4), 0, 0, 0};
    const int steps = 1 + below(5), board = below(3) == 0, compact = !board && below(2);
    const tmap_u32 born = (tmap_u32)below(512) & ~1u, survive = (tmap_u32)below(512);
    tmap_u64 bytes, at = 0;
    for (int i = 0; i < (int)(f.sx * f.sy); ++i)
        if (below(3) && f.k < 15) {
            f.tau_x |= (tmap_u64)(i % (int)f.sx) << 4 * f.k;
            f.tau_y |= (tmap_u64)(i / (int)f.sx) << 4 * f.k++;
        }
    if (!f.k) f.k = 1;
    for (width = height = 1; f.r < 8 && width * (int)f.sx * height * (int)f.sy <= CELLS; ++f.r)
        width *= (int)f.sx, height *= (int)f.sy;
    if (board) f.k = 0, width = 1 + below(60), height = 1 + below(CELLS / 60);
    depth = 1, wrap[0] = board && below(2), wrap[1] = board && below(2);
    kit_case("life k = %u, %u x %u, r = %u, %d steps, compact %d, %d x %d, axes %d %d", f.k, f.sx,
             f.sy, f.r, steps, compact, width, height, wrap[0], wrap[1]);
    const int places = width * height;
    unsigned char *state = (unsigned char *)kit_zeroed((tmap_u64)places), *got;
    for (int i = 0; i < places; ++i) {
        cell[i] = board || is_cell(&f, i % width, i / width);
        want[i] = cell[i] && below(2), at += (tmap_u64)cell[i];
        state[i] = (unsigned char)(want[i] * (1 + below(255)));
    }
    const tmap_u64 cells = at;
    got = (unsigned char *)kit_zeroed((tmap_u64)places + 1);
    if (compact) { // cell i of the order: digit m of i, in base k, is the replica of level m
        for (tmap_u64 i = 0; i < cells; ++i) {
            tmap_u64 left = i, x = 0, y = 0, px = 1, py = 1;
            for (tmap_u32 m = 0; m < f.r; ++m, left /= f.k, px *= f.sx, py *= f.sy)
                x += (f.tau_x >> 4 * (left % f.k) & 15) * px,
                    y += (f.tau_y >> 4 * (left % f.k) & 15) * py;
            got[i] = state[y * (tmap_u64)width + x];
        }
        bytes = threadmap_bits_bytes(&f);
    } else
        memcpy(got, state, (size_t)places), bytes = (tmap_u64)places;
    void *in = put(got, compact ? cells : bytes), *words = compact ? put(0, bytes) : in;
    threadmap_bits_job bits = {f, (unsigned char *)in, words, 0};
    if (compact) RETURNS(RUN(bits, &bits), 0);
    const threadmap_life_job life = {f,
                                     words,
                                     put(0, bytes),
                                     (tmap_u64)steps,
                                     born,
                                     survive,
                                     compact,
                                     board ? (tmap_u64)width : 0,
                                     board ? (tmap_u64)height : 0,
                                     wrap[0] * THREADMAP_PERIODIC_X +
                                         wrap[1] * THREADMAP_PERIODIC_Y};
    RETURNS(RUN(life, &life), 0);
    bits.words = life.out, bits.unpack = 1;
    if (compact) RETURNS(RUN(bits, &bits), 0);
    get(got, compact ? in : life.out, compact ? cells : bytes);
    for (int k = 0; k < steps; ++k) {
        for (int i = 0; i < places; ++i) {
            int near = 0;
            for (int n = 0; n < 9; ++n) {
                const int to = beside(i, n % 3 - 1, n / 3 - 1, 0);
                near += n != 4 && to >= 0 && want[to];
            }
            state[i] = (unsigned char)(cell[i] && ((want[i] ? survive : born) >> near & 1));
        }
        for (int i = 0; i < places; ++i) want[i] = state[i];
    }
    for (tmap_u64 i = 0; i < (compact ? cells : bytes); ++i) {
        tmap_u64 left = i, x = i % (tmap_u64)width, y = i / (tmap_u64)width, px = 1, py = 1;
        if (compact) x = y = 0;
        for (tmap_u32 m = 0; m < f.r && compact; ++m, left /= f.k, px *= f.sx, py *= f.sy)
            x += (f.tau_x >> 4 * (left % f.k) & 15) * px,
                y += (f.tau_y >> 4 * (left % f.k) & 15) * py;
        EXPECT(got[i] == want[y * (tmap_u64)width + x], "cell %llu", i);
    }
    wrap[0] = wrap[1] = 0;
}

// By the formulas of mandelbrot.h, whose roundings these are.
static void test_mandelbrot(void) {
    threadmap_mandelbrot_job job = {0, 1 + (tmap_u32)below(90), 1 + (tmap_u32)below(90), 0, 0, 0,
                                    0, 1 + (tmap_u32)below(60), (tmap_u32)below(4)};
    const int f64 = (job.options & THREADMAP_MANDELBROT_F64) != 0;
    const double side = below(2) ? 2 : 1.0 / 64;
    int wrong = 0, *got = (int *)kit_host((tmap_u64)job.nx * job.ny * 4);
    job.x0 = side < 1 ? -0.75 : -1.5, job.y0 = side < 1 ? 0.09375 : -1;
    job.x1 = job.x0 + side, job.y1 = job.y0 + side;
    kit_case("mandelbrot %u x %u, dwell %u, options %u, side %g", job.nx, job.ny, job.dwell,
             job.options, side);
    job.out = (int *)put(0, (tmap_u64)job.nx * job.ny * 4);
    RETURNS(RUN(mandelbrot, &job), 0);
    get(got, job.out, (tmap_u64)job.nx * job.ny * 4);
    for (tmap_u32 i = 0; i < job.nx * job.ny; ++i) {
        const double dx = (job.x1 - job.x0) / job.nx, dy = (job.y1 - job.y0) / job.ny;
        const double x = i % job.nx, y = i / job.nx;
        const double cr = fma(x, dx, job.x0), ci = fma(y, dy, job.y0);
        const float fr = fmaf((float)x, (float)dx, (float)job.x0);
        const float fi = fmaf((float)y, (float)dy, (float)job.y0);
        double zr = cr, zi = ci;
        float wr = fr, wi = fi;
        tmap_u32 d = 0;
        for (; d < job.dwell && (f64 ? fma(zr, zr, zi * zi) : (double)fmaf(wr, wr, wi * wi)) < 4;
             ++d) {
            const double t = fma(zr, zr, cr), s = fma(zr + zr, zi, ci);
            const float u = fmaf(wr, wr, fr), v = fmaf(wr + wr, wi, fi);
            zr = fma(-zi, zi, t), zi = s, wr = fmaf(-wi, wi, u), wi = v;
        }
        if (got[i] == (int)d) continue;
        ++wrong;
        expect(got[i] == (int)job.dwell, "a pixel"); // of a channel thinner than a pixel
    }
    expect(wrong <= (int)(job.nx * job.ny) / 200, "few pixels of channels");
}

// Maps without columns, rows, slices or images (none: a bit each) need no memory but counts, which
// become 0.
static void test_empty(int none) {
    const tmap_u64 w = none & 1 ? 0 : 7, h = none & 2 ? 0 : 5, d = none & 4 ? 0 : 3;
    static const int neighbours[] = {6, 18, 26};
    const tmap_u64 poison[3] = {9, 9, 9};
    tmap_u64 *count, got[3];
    kit_case("%llu x %llu x %llu", w, h, d);
    for (int k = 0; k < 6 * 8; ++k) { // types or kinds, neighbours, widths, batches
        clear(), count = (tmap_u64 *)put(poison, sizeof poison);
        const int type = k % 6, batch = k / 24;
        threadmap_label_job of_map = {{0, w, h, 0, 0, k % 2, type, k / 6 % 2 ? 8 : 4},
                                      0,
                                      count,
                                      k / 12 % 2,
                                      batch,
                                      batch ? d : 0,
                                      0};
        const threadmap_label3_job of_volume = {
            0, w, h, d, 0, 0, 0, k / 6 % 2, type, neighbours[k / 6 % 3], 0, count, k / 24};
        RETURNS(RUN(label3, &of_volume), 0), get(got, count, 8), expect(got[0] == 0, "a count");
        if (!batch && !(none & 3)) continue; // a picture with cells
        if (batch && type < THREADMAP_MASK) of_map.map.type = THREADMAP_BITS;
        RETURNS(threadmap_copy(count, poison, sizeof poison, 0), 0);
        RETURNS(RUN(label, &of_map), 0), get(got, count, sizeof got);
        for (tmap_u64 z = 0; z < 3; ++z)
            expect(got[z] == (z < (batch ? d : 1) ? 0 : 9), "counts of no cells");
    }
    clear(), count = (tmap_u64 *)put(poison, sizeof poison);
    const threadmap_labels of = {0, w, h, d, 2, 0, 0};
    threadmap_shape shape[2];
    memset(shape, 5, sizeof shape);
    const threadmap_shapes_job shapes = {of, (threadmap_shape *)put(shape, sizeof shape)};
    RETURNS(RUN(shapes, &shapes), 0), get(shape, shapes.shapes, sizeof shape);
    expect(shape[0].area == 0 && shape[1].area == 0, "shapes of no cells");
    const threadmap_contacts_job contacts = {of, (threadmap_contact *)put(0, 64), 4, count};
    RETURNS(RUN(contacts, &contacts), 0), get(got, count, 8), expect(got[0] == 0, "contacts");
    const threadmap_dust_job dust = {of, 3};
    RETURNS(RUN(dust, &dust), 0);
    const threadmap_fill_job filled = {of, 0};
    RETURNS(RUN(fill, &filled), 0);
    clear();
    if (!(none & 3)) return;
    for (int type = 0; type < 3; ++type) {
        const threadmap_map map = {0, w, h, 0, 0, 0, type, 8};
        const threadmap_spill_job spill = {map, 0, 0, type % 2, THREADMAP_SPILL_BORDER};
        RETURNS(RUN(spill, &spill), 0), clear();
        const threadmap_flood_job flood = {map, 0, 0, 1, 0, type};
        RETURNS(RUN(flood, &flood), 0), clear();
    }
    const threadmap_life_job life = {
        {0, 0, 0, 0, 0, 0}, 0, 0, 3, 8, 12, 0, w, h, THREADMAP_PERIODIC_X | THREADMAP_PERIODIC_Y};
    RETURNS(RUN(life, &life), 0), clear();
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 12;
    if (no_device()) return 77;
    for (int none = 1; none < 8; ++none) test_empty(none);
    for (int round = 0; round < rounds; ++round) {
        test_label(), clear(), test_label3(), clear(), test_labels(), clear();
        test_fill(), clear(), test_water(0), clear(), test_water(1), clear();
        test_life(), clear(), test_mandelbrot(), clear();
    }
    return kit_end("test_library_maps");
}
