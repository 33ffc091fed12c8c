# SPDX-License-Identifier: MIT
"""The figures of docs/ideas.md, drawn by make_images.py.

Each function here returns a picture. Coordinates are pixels of the picture; a sheet has SCALE times as
many along each axis until it is finished, so that lines and letters have smooth edges.
"""
import colorsys
import math

from PIL import Image, ImageDraw, ImageFont

SCALE = 3
PAPER, TEXT, INK, IDLE, MARK, PALE = '#ffffff', '#202020', '#173f5f', '#dfe4e8', '#d1372c', '#8a939b'
GASKET = ((0, 0), (0, 1), (1, 1))  # the boxes (column, row) of the replicas


def font(size):
    """DejaVu Sans, or what Pillow has."""
    try:
        return ImageFont.truetype('DejaVuSans.ttf', size)
    except OSError:
        return ImageFont.load_default(size)


class Sheet:
    """A picture to draw on."""

    def __init__(self, wide, high):
        self.image = Image.new('RGB', (wide * SCALE, high * SCALE), PAPER)
        self.draw = ImageDraw.Draw(self.image)

    def box(self, x, y, wide, high, fill=None, line=None, width=1.0):
        corners = [round(v * SCALE) for v in (x, y, x + wide, y + high)]
        if fill:
            self.draw.rectangle([corners[0], corners[1], corners[2] - 1, corners[3] - 1], fill)
        if line:
            self.draw.rectangle(corners, None, line, round(width * SCALE))

    def line(self, points, colour=TEXT, width=1.5):
        self.draw.line([(x * SCALE, y * SCALE) for x, y in points], colour, round(width * SCALE), 'curve')

    def dot(self, x, y, radius, colour):
        corners = x - radius, y - radius, x + radius, y + radius
        self.draw.ellipse([v * SCALE for v in corners], colour)

    def text(self, x, y, words, size=20, anchor='lm', colour=TEXT):
        self.draw.text((x * SCALE, y * SCALE), words, colour, font(size * SCALE), anchor=anchor)

    def paste(self, image, x, y, wide):
        """An image whose pixels become squares, `wide` pixels wide."""
        size = round(wide * SCALE), round(wide * SCALE * image.height / image.width)
        self.image.paste(image.resize(size, Image.NEAREST), (round(x * SCALE), round(y * SCALE)))

    def done(self):
        return self.image.resize((self.image.width // SCALE, self.image.height // SCALE), Image.BOX)


# ---- the box and its idle threads -----------------------------------------------------------------

def idle():
    """A gasket and a triangle in boxes of threads, and the part of the threads that has work."""
    sheet, side, cell = Sheet(1240, 510), 16, 22
    panels = (('gasket', 40, lambda x, y: x & (side - 1 - y) == 0),
              ('pairs (i, j), j < i', 440, lambda x, y: x < y))
    for title, left, busy in panels:
        for y in range(side):
            for x in range(side):
                sheet.box(left + x * cell, 60 + y * cell, cell - 1.5, cell - 1.5,
                          INK if busy(x, y) else IDLE)
        count = sum(busy(x, y) for x in range(side) for y in range(side))
        sheet.text(left + 8 * cell, 32, title, 22, 'mm')
        sheet.text(left + 8 * cell, 440, f'{count} of {side * side} threads have work', 20, 'mm')
    left, top, wide, high = 900, 60, 260, 352
    sheet.text(left + wide / 2, 32, 'threads with work, of n × n', 22, 'mm')
    for percent in (0, 10, 20, 30, 40, 50):
        y = top + high * (1 - percent / 50)
        sheet.line([(left, y), (left + wide, y)], IDLE, 1)
        sheet.text(left - 8, y, f'{percent}%', 16, 'rm')
    at = lambda r: left + wide * (r - 4) / 12  # noqa: E731  n = 2^r
    for r in (4, 8, 12, 16):
        sheet.text(at(r), top + high + 18, f'{2**r:,}', 16, 'mm')
    sheet.text(left + wide / 2, top + high + 46, 'n', 20, 'mm')
    for colour, share in ((PALE, lambda r: (1 - 2.0**-r) / 2), (INK, lambda r: 0.75**r)):
        points = [(at(r), top + high * (1 - 2 * share(r))) for r in range(4, 17)]
        sheet.line(points, colour, 3)
        for point in points:
            sheet.dot(*point, 4.5, colour)
    sheet.text(at(9), top + 26, 'pairs', 20, 'mm', PALE)
    sheet.text(at(8.2), top + 228, 'gasket', 20, 'lm', INK)
    sheet.text(at(16), top + high - 26, '1%', 18, 'mm', INK)
    for x, colour, words in ((40, INK, 'a thread with work'), (300, IDLE, 'an idle thread')):
        sheet.box(x, 478, 16, 16, colour)
        sheet.text(x + 26, 486, words, 18)
    return sheet.done()


# ---- lambda: a grid of threads, and the gasket in the threads' colours ----------------------------

def digits(wx, wy):
    """The replicas of levels 1 to 5: odd levels are digits of wx, even ones of wy."""
    return wx % 3, wy % 3, wx // 3 % 3, wy // 3, wx // 9


def thread_colour(wx, wy):
    """A hue for the replica of level 5, shades of it for levels 4 and 3."""
    _, _, third, fourth, fifth = digits(wx, wy)
    hue = (0.58, 0.10, 0.40)[fifth] + (fourth - 1) * 0.055
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.85 - 0.25 * third, 0.55 + 0.2 * third)
    return round(255 * red), round(255 * green), round(255 * blue)


def replicas():
    """27 x 9 threads, the cells that lambda gives them, and one thread's levels."""
    sheet, cell, grid = Sheet(1240, 620), 16, 21
    left, top, right, high = 30, 70, 640, 104
    chosen = (11, 7)
    sheet.text(right, 32, '27 × 9 threads', 22)
    sheet.text(left, 32, 'the 243 cells of the gasket of level 5', 22)
    marks = []
    for wy in range(9):
        for wx in range(27):
            colour = thread_colour(wx, wy)
            x = y = 0
            for level, digit in enumerate(digits(wx, wy)):
                x, y = x + (GASKET[digit][0] << level), y + (GASKET[digit][1] << level)
            thread = right + wx * grid, high + wy * grid
            place = left + x * cell, top + y * cell
            sheet.box(*thread, grid - 1.5, grid - 1.5, colour)
            sheet.box(*place, cell - 1, cell - 1, colour)
            if (wx, wy) == chosen:
                marks = [(*thread, grid - 1.5), (*place, cell - 1)]
                found = x, y
    for x, y, size in marks:
        sheet.box(x - 2.5, y - 2.5, size + 5, size + 5, None, PAPER, 5)
        sheet.box(x - 3, y - 3, size + 6, size + 6, None, MARK, 3)
    for wx in (0, 9, 18, 26):
        sheet.text(right + (wx + 0.5) * grid, high - 16, str(wx), 16, 'mm')
    for wy in (0, 3, 6, 8):
        sheet.text(right - 8, high + (wy + 0.5) * grid, str(wy), 16, 'rm')
    sheet.box(left - 4, top - 4, 32 * cell + 7, 32 * cell + 7, None, PALE)

    below = high + 9 * grid + 46
    sheet.text(right, below, f'thread (wx, wy) = {chosen}: 102 and 21 in base 3', 20, 'lm', MARK)
    columns = right, right + 90, right + 270, right + 380
    for x, words in zip(columns, ('level', 'digit', 'copy', 'moves by')):
        sheet.text(x, below + 38, words, 18, 'lm', PALE)
    for row, level in enumerate(range(5, 0, -1)):
        digit = digits(*chosen)[level - 1]
        step = tuple(part << level - 1 for part in GASKET[digit])
        axis = 'wx' if level % 2 else 'wy'
        order = ('first', 'first', 'second', 'second', 'third')[row]
        cells = str(level), f'{order} of {axis}: {digit}', '', f'({step[0]}, {step[1]})'
        for x, words in zip(columns, cells):
            sheet.text(x, below + 70 + 30 * row, words, 18)
        for number, (column, down) in enumerate(GASKET):
            sheet.box(columns[2] + column * 13, below + 57 + 30 * row + down * 13, 12, 12,
                      MARK if number == digit else IDLE)
    sheet.text(right, below + 70 + 30 * 5 + 8, f'cell (x, y) = {found}, the sum', 20, 'lm', MARK)
    return sheet.done()


# ---- g(lambda): the tiles of a triangle, and the curve --------------------------------------------

def row_colour(row):
    red, green, blue = colorsys.hsv_to_rgb(0.57 - 0.02 * row, 0.25 + 0.09 * row, 0.95 - 0.06 * row)
    return round(255 * red), round(255 * green), round(255 * blue)


def triangle():
    """Tiles of a triangle with their numbers; the same tiles in one line of blocks, with the root."""
    sheet, rows, cell = Sheet(1240, 600), 8, 56
    left, top, right, unit = 60, 70, 620, 16
    chosen = 24
    sheet.text(left, 30, '8 × 8 tiles: 36 are launched', 22)
    sheet.text(right, 30, 'block λ works on row i = ⌊√(1/4 + 2λ) - 1/2⌋', 22)
    for i in range(rows):
        sheet.text(left - 12, top + (i + 0.5) * cell, str(i), 18, 'rm')
        sheet.text(left + (i + 0.5) * cell, top + rows * cell + 20, str(i), 18, 'mm')
        for j in range(rows):
            x, y = left + j * cell, top + i * cell
            if j > i:
                for part in range(0, cell - 4, 8):  # dashes
                    sheet.line([(x + part, y + 1), (x + part + 4, y + 1)], PALE, 1)
                    sheet.line([(x + cell - 2, y + part), (x + cell - 2, y + part + 4)], PALE, 1)
                continue
            number = i * (i + 1) // 2 + j
            colour = TEXT if i < 4 else PAPER
            sheet.box(x, y, cell - 2, cell - 2, row_colour(i))
            sheet.text(x + cell / 2 - 1, y + cell / 2 - 1, str(number), 20, 'mm', colour)
            sheet.box(right + number * unit, y, unit - 1, cell - 2, row_colour(i))
            if number == chosen:
                sheet.box(x, y, cell - 2, cell - 2, None, MARK, 4)
    sheet.box(left + 4.6 * cell, top + 1.25 * cell, 2.8 * cell, 0.5 * cell, PAPER)
    sheet.text(left + 6 * cell, top + 1.5 * cell, 'not launched', 22, 'mm', PALE)
    curve = lambda number: math.sqrt(0.25 + 2 * number) - 0.5  # noqa: E731
    sheet.line([(right + number / 8 * unit, top + curve(number / 8) * cell) for number in range(36 * 8 + 1)],
               MARK, 3)
    at = right + chosen * unit, top + curve(chosen) * cell
    sheet.line([(at[0], top + rows * cell), at], MARK, 1.5)
    sheet.line([(right - 4, at[1]), at], MARK, 1.5)
    sheet.dot(*at, 6, MARK)
    sheet.line([(right, top), (right, top + rows * cell), (right + 36 * unit, top + rows * cell)], TEXT, 1.5)
    for i in range(rows):
        sheet.text(right - 10, top + (i + 0.5) * cell, str(i), 18, 'rm')
    for number in (0, 6, 12, 18, 24, 30, 36):
        sheet.text(right + number * unit, top + rows * cell + 20, str(number), 18, 'mm',
                   MARK if number == chosen else TEXT)
    sheet.text(right + 18 * unit, top + rows * cell + 50, 'λ', 20, 'mm')
    sheet.text(left - 48, top + rows * cell / 2, 'i', 20, 'mm')
    sheet.text(left + rows * cell / 2, top + rows * cell + 50, 'j', 20, 'mm')
    sheet.text(right + 11 * unit, top + 34, 'λ = 24: the root is 6.45,', 20, 'lm', MARK)
    sheet.text(right + 11 * unit, top + 62, 'i = 6, j = 24 - 21 = 3', 20, 'lm', MARK)
    return sheet.done()


# ---- subdivision of the Mandelbrot set --------------------------------------------------------------

SIDE, DWELL, FIRST, LEVELS = 256, 256, 64, 4  # pixels; steps at most; side of a region; levels


def dwell(x, y, known={}):  # pylint: disable=dangerous-default-value
    """Steps of a pixel until |z| >= 2. Keeps the pixels that it was asked for."""
    if (x, y) not in known:
        c = complex(-2 + 2.5 * x / SIDE, -1.25 + 2.5 * y / SIDE)
        z, steps = c, 0
        while steps < DWELL and z.real * z.real + z.imag * z.imag < 4:
            z, steps = z * z + c, steps + 1
        known[x, y] = steps
    return known[x, y]


def dwell_colour(steps):
    """Pale to dark, by the logarithm."""
    v = math.log2(steps + 1) / math.log2(DWELL + 1)
    return round(250 - 225 * v), round(248 - 205 * v * v), round(225 - 130 * v * v)


def subdivision():
    """A panel for each level: regions that are filled, those that are cut; the last one computes pixels."""
    sheet, panel, gap = Sheet(1240, 480), 290, 20
    picture = Image.new('RGB', (SIDE, SIDE), PAPER)
    pixels, asked = picture.load(), set()
    regions = [(x, y) for y in range(0, SIDE, FIRST) for x in range(0, SIDE, FIRST)]
    for level in range(LEVELS):
        side, cut = FIRST >> level, []
        last = level == LEVELS - 1
        for x, y in regions:
            ring = {(x + a, y + b) for a in range(side + 1) for b in range(side + 1)
                    if a in (0, side) or b in (0, side)}
            found = {dwell(*at) for at in ring}
            asked |= ring
            if len(found) > 1:
                cut.append((x, y))
                if not last:
                    continue
            for b in range(side):
                for a in range(side):
                    pixels[x + a, y + b] = dwell_colour(dwell(x + a, y + b) if len(found) > 1 else max(found))
                    asked |= {(x + a, y + b)} if len(found) > 1 else set()
        left, zoom = 10 + level * (panel + gap), panel / SIDE
        sheet.paste(picture, left, 50, panel)
        for x, y in regions:
            sheet.box(left + x * zoom, 50 + y * zoom, side * zoom, side * zoom, None,
                      MARK if (x, y) in cut else INK, 0.7 if last else 1.2)
        sheet.box(left, 50, panel, panel, None, INK, 1.2)
        sheet.text(left + panel / 2, 26, f'level {level}: sides of {side}', 20, 'mm')
        for row, (colour, words) in enumerate((
                (TEXT, f'{len(regions)} regions:'), (INK, f'{len(regions) - len(cut)} filled,'),
                (MARK, f'{len(cut)} ' + ('computed pixel by pixel' if last else 'cut into four')))):
            sheet.text(left + panel / 2, 362 + 26 * row, words, 18, 'mm', colour)
        half = side // 2
        regions = [(x + a, y + b) for x, y in cut for b in (0, half) for a in (0, half)]
    inside = sum(x < SIDE and y < SIDE for x, y in asked)
    words = f'{inside:,} of {SIDE * SIDE:,} pixels are computed, on borders or one by one'
    sheet.text(620, 456, words, 20, 'mm')
    return sheet.done()


FIGURES = {'idle': idle, 'replicas': replicas, 'tiles': triangle, 'subdivision': subdivision}
