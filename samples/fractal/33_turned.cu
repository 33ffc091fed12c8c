// SPDX-License-Identifier: MIT
// 33_turned.cu: fractals with turned copies: the Hilbert and the Peano curve, the Sierpinski
// arrowhead, a Koch curve of boxes, a Vicsek fractal whose arms are turned, and a Hilbert curve in
// three dimensions. In compact storage the element of a cell is its position on the curve; so one
// kernel writes the cells of each in the order of its curve.
// nvcc -O3 -arch=native -I include samples/fractal/33_turned.cu -o turned
#include "../check.h"
#include "../picture.h"

#include <math.h>
#include <threadmap/fractal3.h>

enum {
    PANELS = 6,
    PANEL = 300, // pixels a side
    GAP = 24
};
static const char *const names[PANELS] = {"hilbert",   "peano", "hilbert3",
                                          "arrowhead", "koch",  "vicsek"};
static const tmap_u32 levels[PANELS] = {5, 3, 3, 5, 3, 4};
static const int touches[PANELS] = {1, 1, 1, 0, 1, 0}; // 1: successive cells share a side

typedef struct curve {
    tmap_xyz *path; // the cells in the order of the curve
} curve;

static __device__ void note(void *job, tmap_cell3 cell) {
    const tmap_xyz c = {cell.x, cell.y, cell.z};
    ((curve *)job)->path[cell.at] = c;
}

__global__ void __launch_bounds__(512, 2) note_cells(tmap_each3_plan plan, curve c) {
    tmap_each3_turned(&plan, note, &c);
}

static tmap_u32 apart(tmap_u32 a, tmap_u32 b) { return a < b ? b - a : a - b; }

// Counts the cells that are wrong, and the steps of a curve that are no steps to a neighbour.
static tmap_u64 check_path(int panel, tmap_turned t, const tmap_xyz *path, tmap_u32 cells) {
    tmap_u64 wrong = 0;
    for (tmap_u32 i = 0; i < cells; ++i) {
        const tmap_xyz c = tmap_turned_lambda_linear(t, i, levels[panel]);
        wrong += path[i].x != c.x || path[i].y != c.y || path[i].z != c.z;
        if (!touches[panel] || i == 0) continue;

        const tmap_xyz b = path[i - 1];
        wrong += apart(b.x, c.x) + apart(b.y, c.y) + apart(b.z, c.z) != 1;
    }
    return wrong;
}

// A colour from blue over red to yellow for a position of the curve, 0 to 1.
static unsigned colour_of(double at) {
    const double red = fmin(1, 2 * at);
    const double green = fmax(0.12, 1.7 * at - 0.9);
    const double blue = fmax(0.15, 0.65 - 0.6 * at);
    return (unsigned)(225 * red + 20) << 16 | (unsigned)(220 * green + 20) << 8 |
           (unsigned)(235 * blue);
}

// Where a cell is drawn, in cells. The arrowhead lies on a triangular grid, and a cube is seen from
// above a corner.
static void place_of(int panel, tmap_xyz c, double *x, double *y) {
    const double half = sqrt(0.75);
    *x = c.x, *y = c.y;
    if (!strcmp(names[panel], "koch")) *y = -*y;
    if (!strcmp(names[panel], "arrowhead")) *x = c.x + 0.5 * c.y, *y = -half * c.y;
    if (!strcmp(names[panel], "hilbert3")) {
        *x = half * ((double)c.x - c.y);
        *y = 0.5 * ((double)c.x + c.y) - c.z;
    }
}

typedef struct panel_view {
    double left, top, scale; // of the cells; pixels of a cell
    unsigned x, y;           // of the panel in the picture
} panel_view;

static panel_view view_of(int panel, const tmap_xyz *path, tmap_u32 cells) {
    double low_x = 1e9, high_x = -1e9, low_y = 1e9, high_y = -1e9;
    for (tmap_u32 i = 0; i < cells; ++i) {
        double x, y;
        place_of(panel, path[i], &x, &y);
        low_x = fmin(low_x, x), high_x = fmax(high_x, x);
        low_y = fmin(low_y, y), high_y = fmax(high_y, y);
    }
    const double cells_wide = fmax(high_x - low_x, high_y - low_y) + 1;
    const panel_view v = {0.5 * (low_x + high_x - cells_wide), 0.5 * (low_y + high_y - cells_wide),
                          PANEL / cells_wide, (unsigned)(panel % 3 * (PANEL + GAP)),
                          (unsigned)(panel / 3 * (PANEL + GAP))};
    return v;
}

// A square of `side` pixels around a point of a panel.
static void dot(picture *p, panel_view v, double x, double y, unsigned side, unsigned colour) {
    const double left = PICTURE_MARGIN + v.x + (x - v.left) * v.scale - 0.5 * side;
    const double top = PICTURE_TOP + GAP + v.y + (y - v.top) * v.scale - 0.5 * side;
    canvas_fill(&p->all, (unsigned)(left + 0.5), (unsigned)(top + 0.5), side, side, colour);
}

// Draws a curve as a line from cell to cell, and the cells of a fractal that is none as squares.
static void draw(picture *p, int panel, const tmap_xyz *path, tmap_u32 cells) {
    const panel_view v = view_of(panel, path, cells);
    const int squares = !strcmp(names[panel], "vicsek");
    canvas_text(&p->all, PICTURE_MARGIN + v.x, PICTURE_TOP + v.y + 4, names[panel]);
    for (tmap_u32 i = 0; i < cells; ++i) {
        const unsigned colour = colour_of((double)i / cells);
        const int steps = squares || i == 0 ? 1 : (int)v.scale + 1;
        double x, y, from_x, from_y;
        place_of(panel, path[i], &x, &y);
        place_of(panel, path[i ? i - 1 : 0], &from_x, &from_y);
        for (int k = 1; k <= steps; ++k) {
            const double part = squares ? 1 : (double)k / steps;
            dot(p, v, from_x + part * (x - from_x), from_y + part * (y - from_y),
                squares ? (unsigned)v.scale : 3, colour);
        }
    }
}

int main(void) {
    check_gpu();
    picture p = picture_make(
        3 * PANEL + 2 * GAP, 2 * (PANEL + GAP), 1,
        "Fractals with turned copies, from the first cell (blue) to the last (yellow)");
    tmap_u64 wrong = 0;
    for (int panel = 0; panel < PANELS; ++panel) {
        tmap_turned t;
        if (tmap_turned_from_text(names[panel], &t)) return 1;
        const tmap_u32 r = levels[panel];

        // [snippet: turned-launch]
        const tmap_pitch3 compact = {TMAP_COMPACT, 0};
        const tmap_u64 cells = tmap_nbb3_cells(t.f, r);
        curve c;
        const void *kernel = (const void *)note_cells;
        tmap_each3_plan plan;
        CHECK(cudaMallocManaged((void **)&c.path, cells * sizeof *c.path));
        CHECK(tmap_each3_plan_make(TMAP_EACH_VISIT, t, r, compact, kernel, &plan));
        CHECK(tmap_each3_launch(&plan, &c, 0));
        // [/snippet]
        CHECK(cudaDeviceSynchronize());

        const tmap_xyz last = c.path[cells - 1];
        printf("%s: %llu cells, from (%u,%u,%u) to (%u,%u,%u)\n", names[panel], cells, c.path[0].x,
               c.path[0].y, c.path[0].z, last.x, last.y, last.z);
        wrong += check_path(panel, t, c.path, (tmap_u32)cells);
        draw(&p, panel, c.path, (tmap_u32)cells);
        CHECK(cudaFree(c.path));
    }
    picture_save(&p, "turned");
    return check_result("cells in the order of curves", wrong);
}
