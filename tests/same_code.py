#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows which kernels became other machine code between two states of this checkout.

usage: same_code.py [--old COMMIT] [--new COMMIT] [--jobs N] [--arch 90] [--cache FOLDER] [FILE...]

Compiles each .cu file of tests/ and bench/, or FILE..., in both states for one architecture and
compares the machine code of each kernel, its registers, stack and shared memory. Names do not
matter: kernels with equal code are matched first, those left over by name, and also between files.

  --old COMMIT    a commit, or a folder that holds a checkout (HEAD)
  --new COMMIT    the same (the files of this checkout as they are now)
  --cache FOLDER  what was compiled before (build-same-code); a file whose preprocessed text, or
                  whose PTX, is there already is not compiled again

The last line is `N kernels compared, all the same`, or counts what differs. Constants in memory are not
compared. Exit status 1: a kernel differs or is gone, or a file does not compile; 77: no nvcc.
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOP = 0x918  # in the low 12 bits of an instruction of 16 bytes
REGISTERS, FRAME = 0x2f, 0x11  # records of .nv.info
Kernel = collections.namedtuple('Kernel', 'name code instructions registers stack shared')


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, check=False)


def must(command, folder):
    done = run(command, folder)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).decode(errors='replace').strip())
    return done.stdout


# --- what a compiled file holds -----------------------------------------------------------------

def sections(elf):
    """(name, type, info, bytes, size) of each section of a 64-bit ELF file."""
    at, = struct.unpack_from('<Q', elf, 40)
    count, names = struct.unpack_from('<HH', elf, 60)
    heads = [struct.unpack_from('<IIQQQQIIQQ', elf, at + 64 * i) for i in range(count)]
    for name, kind, _, _, offset, size, _, info, _, _ in heads:
        name = string(elf, heads[names][4] + name)
        yield name, kind, info, b'' if kind == 8 else elf[offset:offset + size], size


def string(elf, at):
    return elf[at:elf.index(b'\0', at)].decode()


def records(info):
    """(symbol, attribute): value of the records of .nv.info that hold one number of a symbol."""
    found, at = {}, 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from('<BBH', info, at)
        at += 4
        if form == 4:
            if size == 8:
                symbol, value = struct.unpack_from('<II', info, at)
                found[symbol, attribute] = value
            at += size
    return found


def kernels_of(elf):
    all_sections = list(sections(elf))
    of = {name: (data, size) for name, _, _, data, size in all_sections}
    symbols, strings = of['.symtab'][0], of['.strtab'][0]
    names, sizes = [], records(of['.nv.info'][0])
    for at in range(0, len(symbols), 24):
        names.append(string(strings, struct.unpack_from('<I', symbols, at)[0]))
    found = []
    for section, kind, _, code, _ in all_sections:
        if not section.startswith('.text.'):
            continue
        name = section[len('.text.'):]
        symbol = names.index(name)
        # What the loader fills in: where, how, and of which C function; other names do not matter.
        holes = []
        for entry, form in ('.rel.text.', '<QQ'), ('.rela.text.', '<QQq'):
            for hole in struct.iter_unpack(form, of.get(entry + name, (b'', 0))[0]):
                of_symbol = names[hole[1] >> 32]
                ours = of_symbol.startswith(('_Z', '$', '.', '__nv_static_'))
                holes.append((hole[0], hole[1] & 0xffffffff, *hole[2:],
                              '' if ours else of_symbol))
        instructions = sum(word & 0xfff != NOP for word, in struct.iter_unpack('<H14x', code))
        found.append(Kernel(name, hashlib.sha256(code + repr(sorted(holes)).encode()).hexdigest(),
                            instructions, sizes.get((symbol, REGISTERS), 0),
                            sizes.get((symbol, FRAME), 0),
                            of.get('.nv.shared.' + name, (b'', 0))[1]))
    return found


# --- compiling ----------------------------------------------------------------------------------

class Compiler:
    def __init__(self, arch, cache):
        self.arch, self.cache = arch, cache
        self.version = must(['nvcc', '--version'], ROOT)
        os.makedirs(cache, exist_ok=True)

    def words(self, path, code):
        words = ['-std=c++17', '-O3', '-Iinclude', '-Itests', '-Wno-deprecated-gpu-targets',
                 f'-gencode=arch=compute_{self.arch},code={code}_{self.arch}']
        if path.endswith('_dp.cu'):  # kernels that launch kernels
            words += ['-rdc=true', '-DBENCH_DP=1']
        return words

    def key(self, path, text):
        salt = self.version + ' '.join(self.words(path, 'sm')).encode()
        return hashlib.sha256(salt + text).hexdigest()

    def text(self, tree, path):
        """The key of the preprocessed text, without marks of lines; None where there is no file."""
        if not os.path.exists(os.path.join(tree, path)):
            return None
        text = must(['nvcc', '-E', *self.words(path, 'sm'), path], tree)
        return self.key(path, re.sub(rb'(?m)^(# \d+ .*)?\n', b'', text))

    def kernels(self, tree, path, key):
        found = self.load(key)
        if found is None:
            with tempfile.TemporaryDirectory() as folder:
                ptx, cubin = os.path.join(folder, 'ptx'), os.path.join(folder, 'cubin')
                must(['nvcc', '-ptx', *self.words(path, 'compute'), '-o', ptx, path], tree)
                with open(ptx, 'rb') as file:
                    ptx_key = self.key(path, file.read())
                found = self.load(ptx_key)
                if found is None:
                    rdc = ['-c'] if path.endswith('_dp.cu') else []
                    must(['ptxas', f'-arch=sm_{self.arch}', *rdc, '-o', cubin, ptx], tree)
                    with open(cubin, 'rb') as file:
                        found = kernels_of(file.read())
                    self.store(ptx_key, found)
            self.store(key, found)
        return found

    def load(self, key):
        try:
            with open(os.path.join(self.cache, key), encoding='utf-8') as file:
                return [Kernel(*words) for words in json.load(file)]
        except FileNotFoundError:
            return None

    def store(self, key, found):
        with tempfile.NamedTemporaryFile('w', dir=self.cache, delete=False) as file:
            json.dump(found, file)
        os.replace(file.name, os.path.join(self.cache, key))


def tree_of(state, folder):
    """A folder with the files of `state`: a folder, or a commit, which is unpacked into `folder`."""
    if os.path.isdir(state):
        return os.path.abspath(state)
    archive = must(['git', 'archive', state, 'include', 'tests', 'bench', 'samples'], ROOT)
    os.mkdir(folder)
    subprocess.run(['tar', 'x'], cwd=folder, input=archive, check=True)
    return folder


# --- comparing ----------------------------------------------------------------------------------

def base_names(names):
    """Names as in the source: c++filt's, without arguments, namespaces and types."""
    # Relocatable code has static functions with the file's name and a number in front.
    plain = [re.sub(r'^__nv_static_\d+__\w*?__Z', '_Z', name) for name in names]
    if shutil.which('c++filt'):
        plain = subprocess.run(['c++filt'], input='\n'.join(plain), capture_output=True, text=True,
                               check=True).stdout.split('\n')
    plain = [re.split(r'[(<]', name.replace('(anonymous namespace)::', ''))[0] for name in plain]
    return dict(zip(names, [re.split(r'[ :]', name)[-1] for name in plain]))


def without_equal(old, new, of):
    """Both lists without what has an equal partner, by of((path, kernel)), in the other; pairs."""
    left = collections.defaultdict(list)
    for item in old:
        left[of(item)].append(item)
    rest, pairs = [], []
    for item in new:
        if left[of(item)]:
            pairs.append((left[of(item)].pop(0), item))
        else:
            rest.append(item)
    return [item for items in left.values() for item in items], rest, pairs


def told(pair):
    words = []
    for what in 'instructions', 'registers', 'stack', 'shared':
        old, new = (getattr(kernel, what) for _, kernel in pair)
        if what == 'instructions' or old != new:
            words.append(f'{old} -> {new} {what}')
    return ', '.join(words)


def compare(old, new):
    """Prints what differs between lists of (path, kernel); returns counts of what does."""
    base = base_names(sorted({kernel.name for _, kernel in old + new}))
    keys = [lambda item: (item[0], item[1][1:]), lambda item: item[1][1:]]
    for key in keys:
        old, new, _ = without_equal(old, new, key)
    differ = []
    for key in [lambda item: (item[0], item[1].name), lambda item: (item[0], base[item[1].name]),
                lambda item: base[item[1].name]]:
        old, new, pairs = without_equal(old, new, key)
        differ += pairs
    for before, after in sorted(differ, key=lambda pair: (pair[1][0], pair[1][1].name)):
        print(f'differs: {after[0]}: {base[after[1].name]}: {told((before, after))}')
    for word, items in ('gone', old), ('new', new):
        for path, kernel in sorted(items):
            print(f'{word}: {path}: {base[kernel.name]}: {kernel.instructions} instructions, '
                  f'{kernel.registers} registers')
    return {'differ': len(differ), 'gone': len(old), 'new': len(new)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument('--old', default='HEAD')
    parser.add_argument('--new', default=ROOT)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--arch', default='90')
    parser.add_argument('--cache', default=os.path.join(ROOT, 'build-same-code'))
    parser.add_argument('files', nargs='*')
    options = parser.parse_args()
    if not shutil.which('nvcc') or not shutil.which('ptxas'):
        print('SKIP: there is no nvcc')
        return 77

    compiler = Compiler(options.arch, os.path.abspath(options.cache))
    found = {'old': [], 'new': []}
    failed = untouched = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        trees = {state: tree_of(getattr(options, state), os.path.join(folder, state))
                 for state in found}
        files = options.files or sorted({
            os.path.relpath(path, tree) for tree in trees.values()
            for pattern in ('tests/*.cu', 'tests/*/*.cu', 'bench/*/*.cu')
            for path in glob.glob(os.path.join(tree, pattern))})

        def kernels(path):
            keys = {state: compiler.text(tree, path) for state, tree in trees.items()}
            if keys['old'] == keys['new']:
                if keys['old'] is None:
                    raise RuntimeError('there is no such file in either state')
                return None
            return {state: compiler.kernels(trees[state], path, key)
                    for state, key in keys.items() if key}

        work = {path: pool.submit(kernels, path) for path in files}
        for path, future in work.items():
            try:
                result = future.result()
            except RuntimeError as error:
                failed += 1
                print(f'failed: {path}: {error}')
                continue
            if result is None:
                untouched += 1
            for state, items in (result or {}).items():
                found[state] += [(path, kernel) for kernel in items]
    print(f'{len(files)} files, {untouched} of them with the same preprocessed text'
          + f', {failed} failed' * bool(failed))
    counts = compare(found['old'], found['new'])
    told_counts = [f'{number} {word}' for word, number in counts.items() if number]
    print(f'{len(found["new"])} kernels compared, {", ".join(told_counts) or "all the same"}')
    return int(bool(failed or counts['differ'] or counts['gone']))


if __name__ == '__main__':
    sys.exit(main())
