// SPDX-License-Identifier: MIT
// 32_render.cu: a Menger sponge and a Sierpinski tetrahedron, seen by a ray for each pixel, without
// a volume in memory. At each place a ray asks tmap_nbb3_contains level by level, about the largest
// box first, and leaves an empty box as a whole. All rays have the direction (36, 25, 48) / 65, so
// that every step is exact. The host goes from place to place, and must hit the same cells.
// nvcc -O3 -arch=native -I include samples/fractal/32_render.cu -o render
#include "../check.h"
#include "../picture.h"

#include <threadmap/fractal3.h>

enum {
    PIXELS = 480, // a side of a view
    VIEWS = 2,
    DX = 36, // of the direction
    DY = 25,
    DZ = 48,
    UNIT = 65000 // of a place, in which points are given
};

typedef struct view {
    tmap_nbb3 f;
    tmap_u32 r;
    tmap_i64 side;       // of the fractal, in places
    tmap_i64 half_pixel; // in 1/1000 of a place; below 0: upside down
} view;

typedef struct vec {
    tmap_i64 x, y, z;
} vec;

typedef struct hit {
    tmap_i64 cell; // (z * side + y) * side + x, or -1
    tmap_i64 time; // when the ray enters it, or leaves the volume
    int axis;      // 0, 1, 2: through its face x, y, z
    int steps;     // empty boxes that the ray went through
} hit;

TMAP_FN tmap_i64 floor_div(tmap_i64 a, tmap_i64 b) { return a / b - (a % b < 0); }

// When a ray from `from` reaches the planes x = c.x, y = c.y and z = c.z, in places. A ray takes
// DX * DY * DZ units of time for one direction vector.
TMAP_FN vec times_to(vec from, vec c) {
    const vec t = {(c.x * UNIT - from.x) * DY * DZ, (c.y * UNIT - from.y) * DX * DZ,
                   (c.z * UNIT - from.z) * DX * DY};
    return t;
}

// The place where the ray is at this time; from there on, if that is between two places.
TMAP_FN vec place_at(vec from, tmap_i64 time) {
    const vec c = {floor_div(from.x * DY * DZ + time, (tmap_i64)UNIT * DY * DZ),
                   floor_div(from.y * DX * DZ + time, (tmap_i64)UNIT * DX * DZ),
                   floor_div(from.z * DX * DY + time, (tmap_i64)UNIT * DX * DY)};
    return c;
}

TMAP_FN tmap_i64 earliest(vec t) {
    const tmap_i64 xy = t.x < t.y ? t.x : t.y;
    return xy < t.z ? xy : t.z;
}

TMAP_FN tmap_i64 latest(vec t) {
    const vec minus = {-t.x, -t.y, -t.z};
    return -earliest(minus);
}

// The side of the largest empty box around place c, of those of `level` and below; 0 for a cell.
TMAP_FN tmap_i64 empty_side(view v, vec c, tmap_u32 level) {
    tmap_i64 side = 1;
    for (tmap_u32 i = 0; i < level; ++i) side *= v.f.sx;
    for (tmap_u32 r = v.r - level; r <= v.r; ++r, side /= v.f.sx) {
        const tmap_xyz box = {(tmap_u32)(c.x / side), (tmap_u32)(c.y / side),
                              (tmap_u32)(c.z / side)};
        if (!tmap_nbb3_contains(v.f, box, r)) return side;
    }
    return 0;
}

// The first cell that a ray hits. level: of empty_side; with 0 the ray goes from place to place.
TMAP_FN hit trace(view v, vec from, tmap_u32 level) {
    const vec low = {0, 0, 0};
    const vec high = {v.side, v.side, v.side};
    const tmap_i64 end = earliest(times_to(from, high));
    hit h = {-1, latest(times_to(from, low)), 0, 0};
    for (; h.time < end; ++h.steps) {
        const vec c = place_at(from, h.time);
        const tmap_i64 side = empty_side(v, c, level);
        if (side == 0) {
            const vec enter = times_to(from, c);
            h.cell = (c.z * v.side + c.y) * v.side + c.x;
            h.time = latest(enter);
            h.axis = h.time == enter.x ? 0 : h.time == enter.y ? 1 : 2;
            return h;
        }
        const vec next = {(c.x / side + 1) * side, (c.y / side + 1) * side,
                          (c.z / side + 1) * side};
        h.time = earliest(times_to(from, next));
    }
    return h;
}

// The ray of a pixel. (52, 0, -39) / 65 is to the right and (-15, 60, -20) / 65 downwards.
TMAP_FN hit trace_pixel(view v, tmap_u32 pixel, tmap_u32 level) {
    const tmap_i64 right = (2 * (tmap_i64)(pixel % PIXELS) + 1 - PIXELS) * v.half_pixel;
    const tmap_i64 down = (2 * (tmap_i64)(pixel / PIXELS) + 1 - PIXELS) * v.half_pixel;
    const tmap_i64 middle = v.side * UNIT / 2;
    const vec from = {middle + 52 * right - 15 * down, middle + 60 * down,
                      middle - 39 * right - 20 * down};
    return trace(v, from, level);
}

__global__ void trace_all(view v, hit *hits) {
    const tmap_u32 pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < PIXELS * PIXELS) hits[pixel] = trace_pixel(v, pixel, v.r - 1);
}

// Counts what differs from the host's pixels, and prints how many steps each takes.
static int check_hits(view v, const hit *hits) {
    int wrong = 0, boxes = 0, places = 0;
    for (tmap_u32 i = 0; i < PIXELS * PIXELS; ++i) {
        const hit want = trace_pixel(v, i, 0);
        wrong += hits[i].cell != want.cell;
        wrong += want.cell >= 0 && (hits[i].time != want.time || hits[i].axis != want.axis);
        boxes += hits[i].steps;
        places += want.steps;
    }
    printf("level %u, %lld places a side, %d rays\n", v.r, v.side, PIXELS * PIXELS);
    printf("they leave %d empty boxes, or %d empty places\n", boxes, places);
    return wrong;
}

// By the face that the ray hits, and darker the farther away.
static unsigned shade_of(view v, hit h) {
    const double face[] = {0.55, 1, 0.8};
    const double far = (double)h.time / DX / DY / DZ / 1000 / v.side; // about -0.8 to 0.8
    const double light = face[h.axis] * (0.62 - 0.5 * far);
    const double kept = light < 1 ? light : 1;
    return (unsigned)(250 * kept) << 16 | (unsigned)(226 * kept) << 8 | (unsigned)(176 * kept + 24);
}

int main(void) {
    const view views[VIEWS] = {{tmap_fractal3_menger(), 4, 81, 132},
                               {tmap_fractal3_tetrahedron(), 7, 128, -208}};
    picture p = picture_make(VIEWS * PIXELS, PIXELS, 1,
                             "A Menger sponge and a Sierpinski tetrahedron by rays");
    int wrong = 0;
    check_gpu();
    hit *hits;
    CHECK(cudaMallocManaged((void **)&hits, PIXELS * PIXELS * sizeof *hits));
    for (int n = 0; n < VIEWS; ++n) {
        trace_all<<<(PIXELS * PIXELS + 127) / 128, 128>>>(views[n], hits);
        CHECK(cudaDeviceSynchronize());
        wrong += check_hits(views[n], hits);
        for (tmap_u32 i = 0; i < PIXELS * PIXELS; ++i)
            if (hits[i].cell >= 0)
                picture_set(&p, i % PIXELS + (unsigned)n * PIXELS, i / PIXELS,
                            shade_of(views[n], hits[i]));
    }
    picture_save(&p, "render");
    CHECK(cudaFree(hits));
    return check_result("cells that the rays hit", wrong);
}
