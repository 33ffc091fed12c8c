# SPDX-License-Identifier: MIT
"""Pictures that samples and explore write: PPM, PGM, and PNG of RGB without interlacing."""
import struct
import zlib

# What a picture that is no whole one raises.
PICTURE_PROBLEMS = (OSError, AssertionError, ValueError, KeyError, struct.error, zlib.error)


def picture(path):
    """Width and height of a whole picture; of a PNG, with right sums."""
    with open(path, 'rb') as file:
        return picture_of(file.read())


def picture_of(data):
    return parts(data)[:2]


def pixels_of(data):
    """Width, height, and its bytes: one a pixel of a PGM, else three."""
    width, height, rows = parts(data)
    if data[:1] == b'P':
        return width, height, rows
    size, above, pixels = 3 * width, bytearray(3 * width), b''
    for start in range(0, len(rows), 1 + size):
        row = bytearray(rows[start + 1:start + 1 + size])
        kind = rows[start]
        for i in range(size) if kind else ():
            left, corner = (row[i - 3], above[i - 3]) if i > 2 else (0, 0)
            row[i] = row[i] + filtered(kind, left, above[i], corner) & 255
        pixels, above = pixels + row, row
    return width, height, pixels


def filtered(kind, left, above, corner):
    """What a filter of PNG has taken from a byte."""
    if kind < 4:
        return (0, left, above, (left + above) // 2)[kind]
    guess = left + above - corner
    return min((abs(guess - left), 0, left), (abs(guess - above), 1, above),
               (abs(guess - corner), 2, corner))[2]


def parts(data):
    """Width, height, and pixels; of a PNG as they are filtered."""
    if data[:3] in (b'P5\n', b'P6\n'):
        channels = 3 if data[1:2] == b'6' else 1
        head = [line for line in data.split(b'\n', 4) if not line.startswith(b'#')]
        width, height = map(int, head[1].split())
        assert head[2] == b'255', 'depth'
        start = data.index(b'\n255\n') + 5
        assert len(data) - start == channels * width * height, 'pixels'
        return width, height, data[start:]
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'signature'
    at, packed, last = 8, b'', b''
    while at < len(data):
        length, last = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        crc, = struct.unpack('>I', data[at + 8 + length:at + 12 + length])
        assert crc == zlib.crc32(last + body), 'check sum'
        if last == b'IHDR':
            width, height, depth, colour, _, _, interlace = struct.unpack('>IIBBBBB', body)
        elif last == b'IDAT':
            packed += body
        at += 12 + length
    assert last == b'IEND' and interlace == 0 and depth == 8 and colour == 2, 'kind'
    rows = zlib.decompress(packed)
    assert len(rows) == height * (1 + 3 * width), 'pixels'
    return width, height, rows
