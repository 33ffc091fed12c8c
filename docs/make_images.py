#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/img: a picture of each fractal of the catalogue, and all of them with their names.

    python3 docs/make_images.py PROGRAM

PROGRAM is sample 02 built with libpng, for the GPU or the CPU machine; every cell drawn is one that
it wrote and checked. Needs Pillow. Users of the headers need neither this script nor Pillow.
"""
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
INK, PAPER, TEXT = (23, 63, 95), (255, 255, 255), (40, 40, 40)
SIZE, GAP, LABEL = 256, 36, 40  # of a picture in the grid, in pixels


def drawn(program, folder, name, level):
    path = os.path.join(folder, f'{name}{level}.png')
    subprocess.run([program, '--fractal', name, '--level', str(level), '--picture', path],
                   check=True, stdout=subprocess.DEVNULL)
    return Image.open(path).convert('RGB')


def picture(program, folder, name, level):
    """One picture, at most 768 wide."""
    if name != 'cantor':
        return drawn(program, folder, name, level)
    # One place high: the usual picture has a row for each level.
    sheet = Image.new('RGB', (729, 81 * (level + 1) - 41), PAPER)
    for r in range(level + 1):
        row = drawn(program, folder, name, r)
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


def main(program):
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
        for i, (name, title, level) in enumerate(FRACTALS):
            image = picture(program, folder, name, level)
            save(image, os.path.join(out, name + '.png'))
            little = small(image, name, level)
            x = GAP + i % 3 * cell[0]
            y = GAP // 2 + i // 3 * cell[1]
            grid.paste(little, (x + (SIZE - little.width) // 2, y + (SIZE - little.height) // 2))
            draw.text((x + SIZE // 2, y + SIZE + LABEL // 2 + 2), title, TEXT, font, anchor='mm')
    save(grid, os.path.join(out, 'fractals.png'))


def save(image, path):
    image.quantize(16, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
