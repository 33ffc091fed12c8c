# SPDX-License-Identifier: MIT
"""What the tests of explore share: running a command, in a folder that must be empty in the end.

    NAME_test.py FOLDER SUFFIX [--quick]

FOLDER holds explore with SUFFIX added to its name. --quick, for sanitized builds, is a handful of
small runs.
"""
import os
import re
import subprocess
import sys
import tempfile

from pictures import PICTURE_PROBLEMS, picture

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'kat'))
from generate import CATALOGUE  # [(name, rows)]

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
    return subprocess.run([explore, *args], capture_output=True, text=True,
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
