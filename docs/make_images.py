#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/img: a picture of each fractal of the catalogue, all of them with their names, and those
of the samples in three dimensions.

    python3 docs/make_images.py

A small C program draws the cells, by the maps of the headers; samples/run runs the samples. Needs
what that needs, a C compiler and Pillow; users of the headers need neither this script nor Pillow.
"""
import io
import os
import subprocess
import sys
import tempfile

from PIL import Image, ImageDraw, ImageFont

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
SAMPLES = {'30': 'sponge', '31': 'life3', '32': 'render', '33': 'turned'}  # their pictures
INK, PAPER, TEXT = (23, 63, 95), (255, 255, 255), (40, 40, 40)
SIZE, GAP, LABEL = 256, 36, 40  # of a picture in the grid, in pixels


def build(folder):
    """The program, compiled."""
    here = os.path.dirname(os.path.abspath(__file__))
    source, program = os.path.join(folder, 'draw.c'), os.path.join(folder, 'draw')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(PROGRAM)
    subprocess.run(['cc', '-std=c11', '-I', os.path.join(here, '..', 'include'), source,
                    '-o', program], check=True)
    return program


def drawn(program, name, level):
    """A fractal, each place magnified by whole numbers to 512 pixels or some more a side."""
    done = subprocess.run([program, name, str(level)], check=True, stdout=subprocess.PIPE)
    cells = Image.open(io.BytesIO(done.stdout))
    image = Image.new('RGB', cells.size, PAPER)
    image.paste(INK, mask=cells.point(lambda v: 255 - v))
    return image.resize(tuple(side * -(-512 // side) for side in cells.size), Image.NEAREST)


def picture(program, name, level):
    """One picture, at most 768 wide."""
    if name != 'cantor':
        return drawn(program, name, level)
    # One place high: the usual picture has a row for each level.
    sheet = Image.new('RGB', (729, 81 * (level + 1) - 41), PAPER)
    for r in range(level + 1):
        row = drawn(program, name, r)
        sheet.paste(row.resize((729, 40), Image.NEAREST), (0, 81 * r))
    return sheet


def small(image, name, level):
    """The same for the grid, in whole pixels."""
    if name == 'cantor':
        return image.resize((243, 26 * (level + 1) - 13), Image.NEAREST)
    if name == 'chandelier':
        return image.resize((243, 160), Image.NEAREST)
    side = {'gasket': 2, 'candy': 4}.get(name, 3)**level
    return image.resize((SIZE // side * side,) * 2, Image.NEAREST)


def samples(folder, out):
    """The pictures of samples, by the machine on the CPU."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    subprocess.run([os.path.join(root, 'samples', 'run'), *SAMPLES, '--device', 'cpu'], check=True,
                   env=dict(os.environ, TMAP_OUT=folder), stdout=subprocess.DEVNULL)
    for name in SAMPLES.values():
        with Image.open(os.path.join(folder, name + '.png')) as image:
            save(image.convert('RGB'), os.path.join(out, name + '.png'), 256)


def main():
    out = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'img')
    os.makedirs(out, exist_ok=True)
    try:
        font = ImageFont.truetype('DejaVuSans.ttf', 20)
    except OSError:
        font = ImageFont.load_default(20)
    cell = (SIZE + GAP, SIZE + LABEL + GAP)
    grid = Image.new('RGB', (3 * cell[0] + GAP, 3 * cell[1] + GAP // 2), PAPER)
    draw = ImageDraw.Draw(grid)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        for i, (name, title, level) in enumerate(FRACTALS):
            image = picture(program, name, level)
            save(image, os.path.join(out, name + '.png'))
            little = small(image, name, level)
            x = GAP + i % 3 * cell[0]
            y = GAP // 2 + i // 3 * cell[1]
            grid.paste(little, (x + (SIZE - little.width) // 2, y + (SIZE - little.height) // 2))
            draw.text((x + SIZE // 2, y + SIZE + LABEL // 2 + 2), title, TEXT, font, anchor='mm')
        samples(folder, out)
    save(grid, os.path.join(out, 'fractals.png'))


def save(image, path, colours=16):
    image.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == '__main__':
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    main()
