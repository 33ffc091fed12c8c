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

# The samples that draw, with the fewest colours of their pictures.
PICTURES = {'02_single_write': 2, '04_automaton': 4, '05_heat': 20, '07_distance_matrix': 50,
            '08_tile_map': 4, '11_ask': 4, '12_mandelbrot_ask': 50, '13_implicit_surface': 20,
            '16_radius_graph': 3, '17_gravity': 4, '19_molecule': 50, '20_flood': 500,
            '21_compact_life': 20, '22_walk_dimension': 3, '23_ising': 4,
            '26_components': 6, '30_sponge': 30, '31_life3': 100, '32_render': 100,
            '33_turned': 100, '35_lennard_jones': 3, '36_friends_of_friends': 5, '38_rmsd': 50,
            '39_spill': 100, '41_segmentation': 6, '43_torus': 100}


def look(path, data, colours):
    """What is wrong with a picture."""
    try:
        width, height, pixels = pixels_of(data)
    except PICTURE_PROBLEMS as problem:
        return f'{path}: {problem}'
    if data[:2] != (b'P6' if path.endswith('.ppm') else b'\x89P'):
        return f'{path} is of another kind'
    if not 200 <= width <= 1400 or not 100 <= height <= 1400:
        return f'{path} has {width} x {height} pixels'
    found = len({pixels[i:i + 3] for i in range(0, len(pixels), 3)})
    paper = sum(pixels[i:i + 3] == b'\xff\xff\xff' for i in range(0, 3 * width * 28, 3))
    if not width * 14 < paper < width * 28:
        return f'{path} has no title'
    return '' if found >= colours else f'{path} has {found} colours'


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
        left = os.listdir(folder)
        wanted = [name[3:] + ending for ending in ('.png', '.ppm')]
        if not (len(left) == 1 and left[0] in wanted if name in PICTURES else left == []):
            return f'leaves {left}'
        for path in left:
            with open(os.path.join(folder, path), 'rb') as file:
                answer = look(path, file.read(), PICTURES[name])
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
