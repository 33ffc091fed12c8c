#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every sample: each verifies its result, shows something, and leaves no file but its picture.

    samples_test.py PROGRAM...
"""
import os
import subprocess
import sys
import tempfile

from pictures import PICTURE_PROBLEMS, pixels_of

# Without an ending: PNG or PPM.
PICTURES = {'12_mandelbrot': 'mandelbrot.pgm', '20_flood': 'flood', '21_compact_life': 'life.pgm'}


def grey(path, data):
    """What is wrong with a grey picture that has a scale in its last lines."""
    magic, _, size, most, pixels = data.split(b'\n', 4)
    width, height = map(int, size.split())
    if magic != b'P5' or most != b'255' or len(pixels) != width * height:
        return f'{path} is no whole picture'
    scale = pixels[-width:]
    if scale[0] != 255 or scale[-1] != 0 or len(set(pixels[:width * width])) < 50:
        return f'{path} has no scale, or nothing above it'
    return ''


def sparse(path, data):
    """What is wrong with a grey picture of a gasket: three replicas at each of eight levels."""
    magic, _, most, pixels = data.split(b'\n', 3)
    if magic != b'P5' or most != b'255' or len(pixels) != 256 * 256:
        return f'{path} is no whole picture'
    cells = [i for i, grey in enumerate(pixels) if grey != 255]
    if len(cells) != 3 ** 8 or any(i % 256 & ~(i // 256) for i in cells):
        return f'{path} is not the gasket'
    return '' if len({pixels[i] for i in cells}) > 4 else f'{path} is of one grey'


def coloured(path, data):
    """What is wrong with a picture of hills and water."""
    try:
        pixels = pixels_of(data)[2]
    except PICTURE_PROBLEMS as problem:
        return f'{path}: {problem}'
    if data[:2] != (b'P6' if path.endswith('.ppm') else b'\x89P'):
        return f'{path} is of another kind'
    colours = [pixels[i:i + 3] for i in range(0, len(pixels), 3)]
    water = sum(red + 30 < blue for red, _, blue in colours)
    if len(set(colours)) < 500 or not len(colours) / 50 < water < len(colours) / 2:
        return f'{path} has no hills, or no lake among them'
    return ''


def check(program):
    """What is wrong with a program of a sample; None if it cannot run here."""
    name = os.path.basename(program).split('-')[0]
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([program], cwd=folder, capture_output=True, text=True,
                           check=False)
        lines = r.stdout.splitlines()
        if r.returncode == 77:
            return None
        if r.returncode or r.stderr:
            return f'status {r.returncode}\n{r.stdout}{r.stderr}'
        if len(lines) < 5 or not lines[-1].endswith(': ok') or 'WRONG' in r.stdout:
            return f'shows too little, or no ": ok" in its last line\n{r.stdout}'
        if max(map(len, lines)) > 120:
            return 'lines of more than 120 characters'
        wanted = PICTURES.get(name, '')
        endings = ('',) if '.' in wanted else ('.png', '.ppm')
        left = os.listdir(folder)
        if left not in ([[wanted + ending] for ending in endings] if wanted else [[]]):
            return f'leaves {left}'
        for path in left:
            with open(os.path.join(folder, path), 'rb') as file:
                look = grey if path == 'mandelbrot.pgm' else sparse if '.' in wanted else coloured
                answer = look(path, file.read())
            if answer:
                return answer
    return ''


answers = {program: check(os.path.abspath(program)) for program in sys.argv[1:]}
for program, answer in answers.items():
    if answer:
        print(f'{program}: {answer}')
errors = sum(bool(answer) for answer in answers.values())
if not errors and None in answers.values():
    print('SKIP: there is no GPU')
    sys.exit(77)
print(f'{len(answers)} samples, {errors} wrong')
sys.exit(1 if errors or not answers else 0)
