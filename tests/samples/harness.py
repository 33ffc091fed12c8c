# SPDX-License-Identifier: MIT
"""What the tests of explore share: running a command, in a folder that must be empty in the end.

    NAME_test.py FOLDER SUFFIX [--quick]

FOLDER holds explore with SUFFIX added to its name. --quick, for sanitized builds, is a handful of
small runs.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

QUICK = '--quick' in sys.argv
folder, suffix = os.path.abspath(sys.argv[1]), sys.argv[2]
explore = os.path.join(folder, 'explore' + suffix)
errors = []
runs = 0


def fail(what, *more):
    errors.append(what)
    print('FAILED:', what, *more, sep='\n    ')


def run(*args):
    global runs
    runs += 1
    return subprocess.run([explore, *args], capture_output=True, text=True, timeout=120,
                          errors='replace', check=False)


def good(*args):
    """The lines of a run's output, as words; [] where it failed, or a row is not verified."""
    r = run(*args)
    if r.returncode == 77:
        print(r.stdout.strip() or 'SKIP: cannot run here')
        sys.exit(77)
    lines = [line.split() for line in r.stdout.splitlines()]
    rows = rows_of(lines)
    if r.returncode or r.stderr or not rows or any(row[-1] != 'yes' for row in rows):
        fail(' '.join(args), f'status {r.returncode}', r.stdout, r.stderr)
        return []
    if 'CPU' in lines[0] and any(row[-3:-1] != ['-', '-'] for row in rows):
        fail(' '.join(args), 'the CPU machine has times', r.stdout)
    return lines


def rows_of(lines):
    """The rows of the first table: ... threads, items a thread, ms, speedup, verified."""
    return [line for line in lines if line and line[-1] in ('yes', 'NO')]


def files():
    return {os.path.join(at, name) for at, _, names in os.walk('.') for name in names}


def bad(*args):
    """Must end with 2 after one line, and leave no file."""
    before = files()
    r = run(*args)
    name = ' '.join(map(repr, args))
    if r.returncode != 2 or r.stdout or not re.fullmatch(r'[^\n]+\n', r.stderr):
        fail(name, f'status {r.returncode}', r.stdout, r.stderr)
    left = files() - before
    if left:
        fail(f'{name}: leaves {left}')
        for path in left:
            os.remove(path)


def bad_options(command, *wrong):
    """Options that do not exist, one without its value, and --help."""
    bad(command, '--no-such-option', '1')
    bad(command, 'x')
    for option in wrong:
        bad(command, option)
    r = run(command, '--help')
    if r.returncode or not r.stdout.startswith('usage: explore ' + command):
        fail(f'{command} --help')


# What a picture that is no whole one raises.
PICTURE_PROBLEMS = (OSError, AssertionError, ValueError, KeyError, struct.error, zlib.error)


def picture(path):
    """Width and height of a whole PPM, or of a PNG of RGB with right sums."""
    with open(path, 'rb') as file:
        return picture_of(file.read())


def picture_of(data):
    if data[:3] in (b'P5\n', b'P6\n'):
        channels = 3 if data[1:2] == b'6' else 1
        head = [line for line in data.split(b'\n', 4) if not line.startswith(b'#')]
        width, height = map(int, head[1].split())
        assert head[2] == b'255', 'depth'
        start = data.index(b'\n255\n') + 5
        assert len(data) - start == channels * width * height, 'pixels'
        return width, height
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
    assert last == b'IEND' and interlace == 0 and depth == 8 and colour == 2, 'kind'
    assert len(zlib.decompress(pixels)) == height * (1 + 3 * width), 'pixels'
    return width, height


def check_picture(path, fits, what):
    """Removes the picture, whose width and height must make fits(width, height) true."""
    try:
        size = picture(path)
        if not fits(*size):
            fail(f'{what}: a picture of {size}')
        os.remove(path)
    except PICTURE_PROBLEMS as problem:
        fail(f'{what}: {path}: {problem}')


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
