# SPDX-License-Identifier: MIT
"""What the tests of samples share: running a sample, in a folder that must be empty in the end.

    NAME_test.py FOLDER SUFFIX [--quick]

FOLDER holds the samples with SUFFIX added to their names. --quick, for sanitized builds, is a
handful of small runs.
"""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

QUICK = '--quick' in sys.argv
folder, suffix = os.path.abspath(sys.argv[1]), sys.argv[2]
errors = []
runs = 0


def fail(what, *more):
    errors.append(what)
    print('FAILED:', what, *more, sep='\n    ')


def run(sample, *args):
    global runs
    runs += 1
    return subprocess.run([os.path.join(folder, sample + suffix), *args], capture_output=True,
                          text=True, timeout=120, errors='replace', check=False)


def good(sample, *args):
    """The lines of numbers, as words; [] where the run failed, or its first row is not verified."""
    r = run(sample, *args)
    if r.returncode == 77:
        print(r.stdout.strip() or 'SKIP: cannot run here')
        sys.exit(77)
    rows = [line.split() for line in r.stdout.splitlines()]
    if r.returncode or r.stderr or len(rows) < 2 or rows[1][-1] != 'yes':
        fail(' '.join([sample, *args]), f'status {r.returncode}', r.stdout, r.stderr)
        return []
    return rows[1:]


def files():
    return {path for path in glob.glob('**', recursive=True) if not os.path.isdir(path)}


def bad(sample, *args):
    """Must end with 2 after one line, and leave no file."""
    before = files()
    r = run(sample, *args)
    name = ' '.join([sample, *map(repr, args)])
    if r.returncode != 2 or r.stdout or not re.fullmatch(r'[^\n]+\n', r.stderr):
        fail(name, f'status {r.returncode}', r.stdout, r.stderr)
    left = files() - before
    if left:
        fail(f'{name}: leaves {left}')
        for path in left:
            os.remove(path)


def bad_options(sample, *wrong):
    """Options that do not exist, one without its value, and --help."""
    bad(sample, '--no-such-option', '1')
    bad(sample, 'x')
    for option in wrong:
        bad(sample, option)
    r = run(sample, '--help')
    if r.returncode or not r.stdout.startswith('usage: ' + sample):
        fail(f'{sample} --help')


# What a picture that is no whole one of its kind raises.
PICTURE_PROBLEMS = (OSError, AssertionError, ValueError, KeyError, struct.error, zlib.error)


def picture(path):
    """Width, height and kind ('grey', 'rgb', 'palette') of a whole PGM, PPM, or PNG with right sums."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:3] in (b'P5\n', b'P6\n'):
        kind, channels = ('grey', 1) if data[1:2] == b'5' else ('rgb', 3)
        size, most, pixels = data[3:].split(b'\n', 2)
        width, height = map(int, size.split())
        assert most == b'255' and len(pixels) == channels * width * height, 'pixels'
        return width, height, kind
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'signature'
    at, pixels, last = 8, b'', b''
    while at < len(data):
        length, last = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        crc, = struct.unpack('>I', data[at + 8 + length:at + 12 + length])
        assert crc == zlib.crc32(last + body), 'check sum'
        if last == b'IHDR':
            width, height, depth, colour, _, _, interlace = struct.unpack('>IIBBBBB', body)
        elif last == b'IDAT':
            pixels += body
        at += 12 + length
    kind, channels = {0: ('grey', 1), 2: ('rgb', 3), 3: ('palette', 1)}[colour]
    assert last == b'IEND' and interlace == 0 and (depth == 8 or kind == 'palette'), 'kind'
    row = 1 + (width * depth * channels + 7) // 8
    assert len(zlib.decompress(pixels)) == height * row, 'pixels'
    return width, height, kind


def test(main):
    """Runs main in an empty folder, which it must leave empty, and ends the program."""
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        main()
        if os.listdir():
            fail(f'unexpected {os.listdir()}')
        os.chdir('/')
    print(f'{runs} runs, {len(errors)} wrong')
    sys.exit(1 if errors else 0)
