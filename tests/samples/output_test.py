#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What explore and the benchmarks do to the files that they are told to write: they replace regular
files alone, as a whole, write through to pipes and devices, and refuse a file that has another use.

    output_test.py FOLDER SUFFIX [--quick] [--bench PROGRAM ARGUMENT...]
"""
import functools
import json
import os
import select
import signal
import stat
import subprocess
import sys
import time

bench = []
if '--bench' in sys.argv:
    at = sys.argv.index('--bench')
    bench = [os.path.abspath(sys.argv[at + 1]), *sys.argv[at + 2:]]
    sys.argv = sys.argv[:at]

from harness import bad, explore, fail, good, run, test  # noqa: E402
from pictures import PICTURE_PROBLEMS, picture, picture_of  # noqa: E402

FRACTAL = ('fractal', '--level', '3', '--picture')
POINTS = '0 0\n3 4\n6 8\n'
OLD = b'what was there before'


def write(path, content=OLD):
    with open(path, 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def whole(data, what):
    try:
        picture_of(data)
    except PICTURE_PROBLEMS as problem:
        fail(f'{what}: {problem}')


def through(path, command, what):
    """What arrives at a pipe's other end; it must still be a pipe afterwards."""
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    process = subprocess.Popen([*command, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    arrived, ended = b'', False
    while not ended:
        ended = process.poll() is not None  # what it has written by then is read once more
        while select.select([end], [], [], 0 if ended else 0.05)[0]:
            part = os.read(end, 1 << 20)
            arrived += part
            if not part:  # nothing writes there now
                break
    os.close(end)
    if not stat.S_ISFIFO(os.lstat(path).st_mode):
        fail(f'{what}: a pipe has become something else')
    os.remove(path)
    if process.returncode or not arrived:
        fail(f'{what}: status {process.returncode}, or nothing in the pipe',
             process.stderr.read().decode())
    process.stderr.close()
    return arrived


def device(name, minor):
    """A device of our own, for root, who could lose the machine's; else that. None: neither."""
    if os.geteuid():
        return '/dev/' + name
    try:
        os.mknod(name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        with open(name, 'wb'):
            return name
    except OSError:  # a container without devices
        if os.path.lexists(name):
            os.remove(name)
        return None


def device_end(path):
    if path and not stat.S_ISCHR(os.lstat(path).st_mode):
        fail(f'{path} is no device any more')
    if path and '/' not in path:
        os.remove(path)


def devices():
    whole(through('pipe', [explore, *FRACTAL], 'a picture'), 'a picture through a pipe')
    null, full = device('null', 3), device('full', 7)
    if null:
        good(*FRACTAL, null)
        good('distances', '--out', null, '--picture', null)
    if full:  # all rows, and then one line
        r = run(*FRACTAL, full)
        if r.returncode != 2 or r.stderr.count('\n') != 1:
            fail('a full device', r.returncode, r.stderr)
    device_end(null)
    device_end(full)


def links():
    """A link stays; what it leads to is replaced. A link to nothing, and itself, are refused."""
    write('file')
    os.chmod('file', 0o640)
    os.symlink('file', 'link')
    good(*FRACTAL, 'link')
    if not os.path.islink('link') or stat.S_IMODE(os.stat('file').st_mode) != 0o640:
        fail('the link, or the rights of its file, are gone')
    picture('file')
    os.remove('file')
    bad(*FRACTAL, 'link')
    os.remove('link')
    os.symlink('link', 'link')
    bad(*FRACTAL, 'link')
    os.remove('link')


def equal():
    """Two options that name one file, by any name of it."""
    os.mkdir('folder')
    write('points', POINTS)
    os.link('points', 'hard')
    os.symlink('points', 'soft')
    for name in ('points', './points', 'folder/../points', 'hard', 'soft'):
        bad('distances', '--input', 'points', '--out', name, '--picture', 'none')
        bad('distances', '--input', 'points', '--out', 'none', '--picture', name)
        if read('points') != POINTS.encode() or not os.path.islink('soft'):
            fail(f'{name}: the input is gone')
    for name in ('new', './new', os.path.abspath('new'), 'folder/../new'):
        bad('distances', '--input', 'points', '--out', 'new', '--picture', name)
        bad('mandelbrot', '--n', '16', '--g', '2', '--picture', 'new', '--regions', name)
    write('new')
    os.link('new', 'other')
    bad('distances', '--input', 'points', '--out', 'new', '--picture', 'other')
    if read('new') != OLD:
        fail('a refused file was changed')
    with open('table', 'wb') as table:  # where the rows go, too
        r = subprocess.run([explore, *FRACTAL, 'table'], stdout=table, stderr=subprocess.PIPE,
                           check=False)
    if r.returncode != 2 or read('table'):
        fail('the file that standard output goes to', r.returncode, r.stderr)
    for name in ('points', 'hard', 'soft', 'new', 'other', 'table'):
        os.remove(name)
    os.rmdir('folder')


def refused():
    """What cannot be a file leaves no trace, and a run that fails leaves the old one."""
    os.mkdir('folder')
    for path in ('none/such', 'folder', 'folder/', '', 'a' * 300, 'a' * 2000, 'a/' * 3000 + 'a'):
        bad(*FRACTAL, path)
        bad('distances', '--out', path, '--picture', 'none')
        bad('distances', '--picture', path, '--out', 'none')
        bad('mandelbrot', '--n', '16', '--g', '2', '--regions', path, '--picture', 'none')
        bad('mandelbrot', '--n', '16', '--g', '2', '--picture', path, '--regions', 'none')
    os.rmdir('folder')
    write('points', '1,2\n3,x\n')
    write('out.npy')
    bad('distances', '--input', 'points', '--out', 'out.npy', '--picture', 'none')
    bad(*FRACTAL, 'out.npy', '--level', '40')
    if read('out.npy') != OLD:
        fail('a run that failed has changed its file')
    write('points', POINTS)
    good('distances', '--input', 'points', '--out', 'out.npy', '--picture', 'none')
    if not read('out.npy').startswith(b'\x93NUMPY'):
        fail('a run did not replace its file')
    os.remove('points')
    os.remove('out.npy')


def stopped():
    """A program that is ended in the middle leaves nothing of its files."""
    write('set')
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        args = ['mandelbrot', '--n', '1024', '--dwell', '1048576', '--picture', 'set']
        process = subprocess.Popen(  # nohup would have it ignore the signal
            [explore, *args], stdout=subprocess.DEVNULL,
            preexec_fn=functools.partial(signal.signal, number, signal.SIG_DFL))
        while len(os.listdir()) < 2 and process.poll() is None:
            time.sleep(0.01)
        begun = len(os.listdir()) > 1
        process.send_signal(number)
        status = process.wait()
        if not begun or status != -number or os.listdir() != ['set'] or read('set') != OLD:
            fail(f'signal {number}: begun {begun}, status {status}, left {os.listdir()}')
    os.remove('set')


def benches():
    """The results of a benchmark, by the same rules."""
    command = [*bench, '--out']
    if b'"rows"' not in through('pipe', command, 'a benchmark'):
        fail('no results in the pipe')
    os.mkdir('folder')
    for path in ('folder', 'none/such', 'a' * 2000):
        r = subprocess.run([*command, path], capture_output=True, check=False)
        if r.returncode != 2:
            fail(f'a benchmark takes --out {path}', r.returncode)
    os.rmdir('folder')
    write('file')
    os.symlink('file', 'link')
    subprocess.run([*command, 'link'], capture_output=True, check=True)
    if not os.path.islink('link') or b'"rows"' not in read('file'):
        fail('a benchmark replaces a link')
    os.remove('link')
    rows_of_bench()
    os.remove('file')


def rows_of_bench():
    """--list has the rows that a run has, --filter those with all its texts; without a row there is
    no file."""
    def result(*more):
        r = subprocess.run([*bench, *more], capture_output=True, text=True, check=False)
        return r.returncode, r.stdout.splitlines()

    rows = json.loads(read('file'))['rows']
    status, names = result('--list')
    if status or [n.split('/')[:3] for n in names] != \
            [[row['work'], row['variant'], row['domain']] for row in rows]:
        fail('--list has other rows than a run', status, names[:3], len(names), len(rows))
    if not all(row['verified'] is True and row['ms'] >= 0 for row in rows):
        fail('a row without a verified time')
    texts = ['/edm/', '/8/8/']
    want = [n for n in names if all(text in f'/{n}/' for text in texts)]
    status, found = result('--filter', ','.join(texts), '--out', 'file')
    found = [line.split()[1] for line in found if line.startswith('| edm/')]
    if status or not 0 < len(want) < len(names) or found != want:
        fail('--filter', status, found, want)
    if len(json.loads(read('file'))['rows']) != len(want):
        fail('--filter and --out have other rows')
    write('file')
    for more in (('--filter', '/edm/,none'), ('--work', 'ed'), ('--variants', 'none'),
                 ('--budget', 'x'), ('--n', '0'), ('--none', '1'), ('--out',)):
        status, _ = result('--out', 'file', *more)
        if status != 2 or read('file') != OLD:
            fail(f'{more}: status {status}, or the file has changed')


def main():
    if bench:
        return benches()
    devices()
    links()
    equal()
    refused()
    return stopped()


test(main)
