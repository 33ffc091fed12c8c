#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/img: the nine fractals of the paper's table 1 with their names, pictures of samples, the figures of
docs/ideas.md (figures.py), the triangle of near pairs, and the strip of README.md.

    python3 docs/make_images.py

A small C program draws the cells, by the maps of the headers; samples/run runs the samples. Needs
what that needs, a C compiler and Pillow; users of the headers need neither this script nor Pillow.
"""
import io
import os
import subprocess
import sys
import tempfile

from PIL import Image, ImageDraw

from figures import FIGURES, PAPER, Sheet, font

# name, title, level
FRACTALS = [
    ('gasket', 'Sierpinski gasket', 7), ('carpet', 'Sierpinski carpet', 5),
    ('vicsek', 'Vicsek', 5), ('x', 'X-fractal', 5), ('h', 'H-fractal', 5),
    ('cantor', 'Cantor set', 5), ('chandelier', 'Chandelier', 5), ('candy', 'Candy', 4),
    ('bottles', 'Empty bottles', 5),
]
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threadmap/fractal/catalogue.h>
#include <threadmap/fractal/nbb.h>

int main(int argc, char **argv) { /* NAME LEVEL: a portable graymap, cells black */
    tmap_nbb f;
    if (argc != 3 || tmap_fractal_from_text(argv[1], &f)) return 2;
    const tmap_u32 r = (tmap_u32)atoi(argv[2]);
    const size_t width = tmap_nbb_side_x(f, r), height = tmap_nbb_side_y(f, r);
    unsigned char *out = memset(malloc(width * height), 255, width * height);
    for (tmap_u32 i = 0; i < tmap_nbb_cells(f, r); ++i) {
        const tmap_xy cell = tmap_nbb_lambda_linear(f, i, r);
        out[cell.y * width + cell.x] = 0;
    }
    printf("P5\n%zu %zu\n255\n", width, height);
    return fwrite(out, 1, width * height, stdout) != width * height;
}
"""
NEAR = r"""
#include <stdio.h>
#include <stdlib.h>
#include <threadmap/triangle/near_key.h>

enum { N = 8192, LEAF = 32, SPAN = 1024, LEAVES = N / LEAF };
typedef struct point { float x[2]; tmap_u64 key; } point;
typedef struct box { float low[2], high[2]; } box;
static point points[N];

static int compare(const void *a, const void *b) {
    const tmap_u64 x = ((const point *)a)->key, y = ((const point *)b)->key;
    return x < y ? -1 : x > y;
}
static box box_of(int first, int count) {
    box b = {{1, 1}, {0, 0}};
    for (int i = first; i < first + count; ++i)
        for (int k = 0; k < 2; ++k) {
            if (points[i].x[k] < b.low[k]) b.low[k] = points[i].x[k];
            if (points[i].x[k] > b.high[k]) b.high[k] = points[i].x[k];
        }
    return b;
}
/* 0: no pair of two boxes is nearer than 0.2; 1: some may be; 2: all are. */
static int reach(box a, box b) {
    float least = 0, most = 0;
    for (int k = 0; k < 2; ++k) {
        const float p = a.low[k] - b.high[k], q = b.low[k] - a.high[k], gap = p > q ? p : q;
        if (gap > 0) least += gap * gap;
        most += p < q ? p * p : q * q;
    }
    return least > 0.04f ? 0 : most < 0.04f ? 2 : 1;
}

int main(int argc, char **argv) { /* SORTED: a graymap of blocks of 32 x 32 pairs, 0 to 4 */
    const double sides[2] = {1, 1};
    const tmap_near_key_grid grid = tmap_near_key_grid_make(sides, 2, 20);
    const float low[2] = {0, 0};
    tmap_u32 random = 1;
    for (int i = 0; i < N; ++i) {
        for (int k = 0; k < 2; ++k) {
            random = random * 1664525u + 1013904223u;
            points[i].x[k] = (float)(random >> 8) / 16777216;
        }
        points[i].key = tmap_near_key_point_f32(points[i].x, low, 1024, &grid);
    }
    if (argc > 1 && atoi(argv[1])) qsort(points, N, sizeof *points, compare);
    printf("P5\n%d %d\n255\n", LEAVES, LEAVES);
    for (int i = 0; i < LEAVES; ++i)
        for (int j = 0; j < LEAVES; ++j) {
            const box a = box_of(i * LEAF, LEAF);
            const int coarse = reach(a, box_of(j * LEAF / SPAN * SPAN, SPAN));
            const int fine = reach(a, box_of(j * LEAF, LEAF));
            putchar(j > i ? 0 : coarse == 0 ? 1 : fine + 2);
        }
    return 0;
}
"""
# Colours of its blocks: none; empty in a box of 1024 points, empty, looked at, full. And their names.
NEAR_COLOURS = ((255, 255, 255), (226, 232, 240), (178, 192, 208), (240, 150, 60), (23, 63, 95))
NEAR_NAMES = ('no pair: box of 1024', 'no pair: box of 32', 'some pairs: looked at', 'all pairs near')
# Their pictures: those of docs/img, and those of the strip alone.
SAMPLES = {'19': 'molecule', '20': 'flood', '21': 'compact_life', '30': 'sponge', '31': 'life3', '32': 'render',
           '33': 'turned'}
STRIP = {'12': 'mandelbrot_ask', '16': 'radius_graph'}
INK, TEXT = (23, 63, 95), (40, 40, 40)
SIZE, GAP, LABEL = 256, 36, 40  # of a picture in the grid, in pixels


def build(folder, text):
    """A program, compiled."""
    here = os.path.dirname(os.path.abspath(__file__))
    source, program = os.path.join(folder, 'draw.c'), os.path.join(folder, 'draw')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(text)
    subprocess.run(['cc', '-std=c11', '-I', os.path.join(here, '..', 'include'), source,
                    '-o', program], check=True)
    return program


def drawn(program, name, level):
    """A fractal, a pixel for each place."""
    done = subprocess.run([program, name, str(level)], check=True, stdout=subprocess.PIPE)
    cells = Image.open(io.BytesIO(done.stdout))
    image = Image.new('RGB', cells.size, PAPER)
    image.paste(INK, mask=cells.point(lambda v: 255 - v))
    return image


def small(program, name, level):
    """The same for the grid, each place magnified by whole numbers, those of the flat chandelier upwards."""
    if name == 'cantor':  # one place high: the usual picture has a row for each level
        sheet = Image.new('RGB', (243, 26 * (level + 1) - 13), PAPER)
        for r in range(level + 1):
            sheet.paste(drawn(program, name, r).resize((243, 13), Image.NEAREST), (0, 26 * r))
        return sheet
    image = drawn(program, name, level)
    zoom = SIZE // max(image.size)
    return image.resize((image.width * zoom, image.height * (5 if name == 'chandelier' else zoom)),
                        Image.NEAREST)


def near(folder, out, font):
    """The triangle of pairs of points without an order, and sorted along a Hilbert curve."""
    program, side = build(folder, NEAR), 512
    sheet = Image.new('RGB', (2 * side + 3 * GAP, side + 2 * LABEL + GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    for i, title in enumerate(('in no order', 'along a Hilbert curve')):
        done = subprocess.run([program, str(i)], check=True, stdout=subprocess.PIPE)
        blocks = Image.open(io.BytesIO(done.stdout))
        blocks.putpalette([part for colour in NEAR_COLOURS for part in colour])
        x = GAP + i * (side + GAP)
        sheet.paste(blocks.convert('RGB').resize((side, side), Image.NEAREST), (x, GAP))
        draw.text((x + side, GAP), '8192 points, ' + title, TEXT, font, anchor='rt')
    for i, name in enumerate(NEAR_NAMES):
        x, y = GAP + i * (2 * side + GAP) // 4, side + LABEL + GAP
        draw.rectangle((x, y - 9, x + 18, y + 9), NEAR_COLOURS[i + 1], TEXT)
        draw.text((x + 28, y), name, TEXT, font, anchor='lm')
    save(sheet, os.path.join(out, 'near.png'))


def samples(folder, out):
    """The pictures of samples, by the machine on the CPU."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    subprocess.run([os.path.join(root, 'samples', 'run'), *SAMPLES, *STRIP, '--device', 'cpu'], check=True,
                   env=dict(os.environ, TMAP_OUT=folder), stdout=subprocess.DEVNULL)
    for name in SAMPLES.values():
        with Image.open(os.path.join(folder, name + '.png')) as image:
            save(image.convert('RGB'), os.path.join(out, name + '.png'), 256)


def scripts(folder):
    """The pictures of the samples in Python for arrays. THREADMAP_LIBRARY names the library's folder."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    grid = Image.new('RGB', (1240, 1080), PAPER)
    for i, (name, size) in enumerate((('radius_graph', 600), ('halos', 4000), ('lakes', 200), ('scan', 72))):
        path = os.path.join(folder, name + '.png')
        subprocess.run([sys.executable, os.path.join(root, 'samples', 'python', name + '.py'), str(size), path],
                       check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, PYTHONPATH=os.path.join(root, 'python'), PYTHONWARNINGS='ignore'))
        with Image.open(path) as image:
            image = image.convert('RGB')
            image.thumbnail((600, 520), Image.LANCZOS)
            grid.paste(image, (i % 2 * 620 + (620 - image.width) // 2, i // 2 * 540 + (540 - image.height) // 2))
    return grid


def strip(folder, program):
    """The domains side by side, for README.md."""
    def part(name, *corners):  # of a sample's picture, without its title and legend
        with Image.open(os.path.join(folder, name + '.png')) as image:
            return image.convert('RGB').crop(corners)

    fractals = Image.new('RGB', (2 * 243 + 26, 2 * 243 + 26), PAPER)
    for i, (name, _, level) in enumerate(FRACTALS[:4]):
        image = small(program, name, level).resize((243, 243), Image.LANCZOS)
        fractals.paste(image, (i % 2 * 269, i // 2 * 269))
    parts = (('pairs of points', part('radius_graph', 12, 28, 312, 328)), ('fractals', fractals),
             ('in three dimensions', part('render', 12, 28, 492, 508)),
             ('lakes of height maps', part('flood', 12, 28, 783, 799)),
             ('regions found at run time', part('mandelbrot_ask', 12, 28, 524, 540)))
    sheet = Sheet(1240, 272)
    for i, (title, image) in enumerate(parts):
        image = image.resize((708, 708), Image.LANCZOS)
        sheet.image.paste(image, ((4 + 249 * i) * 3, 0))
        sheet.text(4 + 249 * i + 118, 255, title, 17, 'mm')
    return sheet.done()


def main():
    out = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'img')
    os.makedirs(out, exist_ok=True)
    cell = (SIZE + GAP, SIZE + LABEL + GAP)
    grid = Image.new('RGB', (3 * cell[0] + GAP, 3 * cell[1] + GAP // 2), PAPER)
    draw = ImageDraw.Draw(grid)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, PROGRAM)
        for i, (name, title, level) in enumerate(FRACTALS):
            little = small(program, name, level)
            x = GAP + i % 3 * cell[0]
            y = GAP // 2 + i // 3 * cell[1]
            grid.paste(little, (x + (SIZE - little.width) // 2, y + (SIZE - little.height) // 2))
            draw.text((x + SIZE // 2, y + SIZE + LABEL // 2 + 2), title, TEXT, font(20), anchor='mm')
        samples(folder, out)
        save(scripts(folder), os.path.join(out, 'python.png'), 256)
        save(strip(folder, program), os.path.join(out, 'strip.png'), 256)
        near(folder, out, font(20))
    for name, figure in FIGURES.items():
        save(figure(), os.path.join(out, name + '.png'), 64)
    save(grid, os.path.join(out, 'fractals.png'))


def save(image, path, colours=16):
    method = Image.Quantize.MAXCOVERAGE  # keeps colours of few pixels, as of a mark
    image.quantize(colours, method, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == '__main__':
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    main()
