#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/run, tests/sanitize, samples/run and bench/run, in a small checkout made here.

The checkout has the scripts, two wings of programs that are built in a second, and commands that
play an nvcc and a GPU. Nothing is installed.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get('TMAP_ROOT') or \
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = ['tests/run', 'tests/sanitize', 'samples/run', 'bench/run']
errors = []

MESON_BUILD = '''
project('small', 'c')
option_cuda = get_option('cuda') ? '1' : '0'
configure_file(output: 'threadmap-build.txt', configuration: {'cuda': option_cuda.to_int()},
  output_format: 'c')
foreach name : ['good', 'bad', 'skips', 'broken']
  if name != 'broken' or get_option('broken')
    test(name, executable(name, 'tests/fractal' / name + '.c'), suite: 'map')
  endif
endforeach
test('spaced name', find_program('tests/script.sh'), suite: 'tool')
subdir('tests')
subdir('samples')
subdir('bench')
'''
OPTIONS = '''
option('cuda', type: 'boolean', value: false)
option('broken', type: 'boolean', value: false)
option('gpu_arch', type: 'string')
option('gpu_check', type: 'boolean', value: false)
option('tests', type: 'boolean', value: true)
option('samples', type: 'boolean', value: true)
'''
# A sample tells its name and its arguments, and writes a file into the folder where it runs.
SAMPLE = '''#include <stdio.h>
int main(int count, char **words) {
    FILE *file = fopen("NAME.ppm", "w");
    printf("I am NAME");
    for (int i = 1; i < count; i++) printf(" %s", words[i]);
    puts("");
    return fclose(file);
}
'''
# A benchmark tells its options, and with another argument fails after it has begun its result.
BENCH = '''#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    if (count == 2 && !strcmp(words[1], "--help")) return puts("options of NAME") < 0;
    if (count < 3 || strcmp(words[1], "--out")) return 2;
    FILE *file = fopen(words[2], "w");
    fprintf(file, "result of NAME%s%s", getenv("CUDA_VISIBLE_DEVICES") ? " on GPU " : "",
            getenv("CUDA_VISIBLE_DEVICES") ? getenv("CUDA_VISIBLE_DEVICES") : "");
    fclose(file);
    return count > 3;
}
'''
FILES = {
    'meson.build': MESON_BUILD,
    'meson.options': OPTIONS,
    'tests/fractal/good.c': 'int main(void) { return 0; }\n',
    'tests/fractal/bad.c': '#include <stdio.h>\n'
                           'int main(void) { puts("this is why"); return 1; }\n',
    'tests/fractal/skips.c': '#include <stdio.h>\n'
                             'int main(void) { puts("SKIP: no moon"); return 77; }\n',
    'tests/fractal/broken.c': 'this is no C\n',
    'tests/script.sh': '#!/bin/sh\n',
    'tests/meson.build': '''
foreach name : ['test_pdist', 'test_warp', 'test_ask_published']
  executable(name + '-gpu', 'fractal/good.c', build_by_default: false)
endforeach
''',
    'samples/meson.build': '''
foreach name : ['01_one', '02_two']
  executable(name + '-cpu', (name == '01_one' ? 'triangle' : 'fractal') / name + '.c')
endforeach
executable('explore-cpu', 'explore/main.c')
''',
    'samples/triangle/01_one.cu': '// int main(int argc, char **argv)',
    'samples/fractal/02_two.cu': '// int main(void)',
    'samples/explore/explore.cu': '// int main(int argc, char **argv)',
    'samples/triangle/01_one.c': SAMPLE.replace('NAME', '01_one'),
    'samples/fractal/02_two.c': SAMPLE.replace('NAME', '02_two'),
    'samples/explore/main.c': SAMPLE.replace('NAME', 'explore'),
    'bench/meson.build': '''
foreach wing, name : {'fractal': 'bench_one', 'triangle': 'bench_two'}
  executable(name, wing / name + '.c', build_by_default: false)
endforeach
''',
    'bench/fractal/bench_one.cu': '',
    'bench/triangle/bench_two.cu': '',
    'bench/fractal/bench_one.c': BENCH.replace('NAME', 'one'),
    'bench/triangle/bench_two.c': BENCH.replace('NAME', 'two'),
}
# Commands that answer as on a machine with a GPU.
COMMANDS = {
    'nvidia-smi': 'case $* in -L) echo "GPU 0: here" ;; *=name*) echo "NVIDIA Moon 9" ;;'
                  ' *=compute_cap*) echo 9.0 ;; *) echo 580 ;; esac',
    'nvcc': 'case $1 in --list-gpu-arch) echo compute_90 ;;'
            ' *) echo "Cuda compilation tools, release 13.0, V13.0.88" ;; esac',
}
# Plays a C++ compiler: the scripts only try whether there is one, which takes most of their time. It
# reads a program that it is given, so that whoever writes that does not fail.
CXX = '#!/bin/sh\nfor last; do :; done\n[ "$last" != - ] || cat >/dev/null\necho "c++ 9"\n'


def expect(what, holds, *more):
    if not holds:
        errors.append(what)
        print('FAILED:', what, *more, sep='\n    ')


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def everything(folder):
    return {os.path.relpath(os.path.join(where, name), folder)
            for where, folders, files in os.walk(folder) for name in folders + files}


class Checkout:
    """A checkout and the folder around it; every path is relative to that folder."""

    def __init__(self, top, with_gpu=False):
        self.top = top
        for path, text in FILES.items():
            write(self.at('co', path), text, 0o755 if text.startswith('#!') else 0o644)
        for path in SCRIPTS + ['tests/setup.sh', 'tests/summary.py']:
            os.makedirs(os.path.dirname(self.at('co', path)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), self.at('co', path))
        self.env = {name: value for name, value in os.environ.items()
                    if name not in ('TMAP_OUT', 'TMAP_COMMIT', 'CUDA_HOME', 'NINJA_STATUS', 'CXX')}
        self.env['TMAP_OFFLINE'] = '1'
        # No GPU of this machine plays a part.
        for name, text in COMMANDS.items():
            write(self.at('commands', name),
                  '#!/bin/sh\n' + (text if with_gpu else 'exit 1') + '\n', 0o755)
        write(self.at('commands/c++'), CXX, 0o755)
        self.env['PATH'] = self.at('commands') + os.pathsep + self.env['PATH']

    def at(self, *path):
        return os.path.join(self.top, *path)

    def run(self, script, *args, cwd='co', **env):
        os.makedirs(self.at(cwd), exist_ok=True)
        return subprocess.run([self.at('co', script), *args], cwd=self.at(cwd),
                              env={**self.env, **env}, capture_output=True, text=True,
                              errors='replace', check=False)

    def built(self, folder='co/build'):
        """The names of the programs that were built there."""
        return {name for name in everything(self.at(folder))
                if re.fullmatch(r'(samples/|bench/)?\w+(-cpu)?', name) and
                os.path.isfile(self.at(folder, name)) and os.access(self.at(folder, name), os.X_OK)}


def told(result):
    return f'status {result.returncode}', result.stdout, result.stderr


def refused(what, result, *words):
    """Bad input is answered with status 2, one line on standard error, nothing on the other."""
    expect(what, result.returncode == 2 and re.fullmatch(r'[^\n]+\n', result.stderr) and
           not result.stdout and all(word in result.stderr for word in words), *told(result))


def last(result):
    return result.stdout.splitlines()[-1:]


def test_bad_folders(c):
    for script in SCRIPTS:
        for empty in ['--build', ''], ['--build=']:
            before = everything(c.top)
            refused(f'{script} {empty}', c.run(script, *empty, cwd='co'))
            expect(f'{script} {empty} writes nothing', everything(c.top) == before,
                   everything(c.top) - before)
        write(c.at('foreign', 'letter.txt'), 'dear')
        write(c.at('file'), 'dear')
        for folder in 'foreign', '.', 'file':
            before = everything(c.top)
            refused(f'{script} --build {folder}', c.run(script, '--build', c.at(folder)))
            expect(f'{script} --build {folder} writes nothing', everything(c.top) == before,
                   everything(c.top) ^ before)


def test_folder_of_another(c):
    """A build folder of another checkout is foreign, even one with a note of these scripts."""
    other = Checkout(c.at('other'))
    result = other.run('tests/run', 'good')
    expect('the other checkout builds', result.returncode == 0, *told(result))
    result = c.run('tests/run', '--build', other.at('co/build'), 'good')
    refused('a folder of another checkout', result)
    result = other.run('tests/run', 'good')
    expect('the other checkout is as it was', result.returncode == 0 and
           'configuring' not in result.stdout, *told(result))


def test_files_survive(c):
    """The compiler changes: the folder is configured anew, and what is not Meson's stays."""
    compiler = shlex.split(c.env.get('CC') or 'cc')[0]
    result = c.run('tests/run', '--build', '../kept', 'good')
    expect('a folder that is not there', result.returncode == 0, *told(result))
    for path in 'letter.txt', 'folder/letter.txt', 'samples/letter.txt':
        write(c.at('kept', path), 'dear')
    command = f'#!/bin/sh\nexec {shlex.quote(shutil.which(compiler) or compiler)} -DOTHER "$@"\n'
    write(c.at('commands/other-cc'), command, 0o755)
    result = c.run('tests/run', '--build', '../kept', 'good', CC=c.at('commands/other-cc'))
    expect('another compiler', result.returncode == 0 and last(result) ==
           ['1 passed, 0 failed, 0 skipped'], *told(result))
    expect('another compiler is used', 'other-cc' in read(c.at('kept/build.ninja')))
    for path in 'letter.txt', 'folder/letter.txt', 'samples/letter.txt':
        expect(f'{path} survives', os.path.exists(c.at('kept', path)))
    result = c.run('tests/run', '--build', '../kept', 'good', CC=c.at('commands/other-cc'))
    expect('configured once', 'configuring' not in result.stdout and result.returncode == 0,
           *told(result))


def test_failed_setup(c):
    """Where Meson fails, a second attempt takes the folder that the first one left."""
    write(c.at('co/meson.build'), "project('small', 'no language of Meson')")
    result = c.run('tests/run', '--build', '../half')
    expect('Meson fails', result.returncode == 1 and os.path.exists(c.at('half')), *told(result))
    write(c.at('co/meson.build'), MESON_BUILD)
    result = c.run('tests/run', '--build', '../half', 'good')
    expect('the second attempt', result.returncode == 0, *told(result))


def test_no_scratch_folder(c):
    """Without a scratch folder nothing goes on: its files would land in the root of the machine."""
    before = set(os.listdir('/'))
    for script in SCRIPTS:
        result = c.run(script, TMPDIR=c.at('none'))
        expect(f'{script} without a scratch folder', result.returncode == 1 and
               not result.stdout and 'cannot make a scratch folder' in result.stderr,
               *told(result))
    expect('nothing is written to /', set(os.listdir('/')) == before, set(os.listdir('/')) - before)
    expect('nothing is configured', not os.path.exists(c.at('co/build')))


def test_by_hand(c):
    """A folder that was configured by hand is used as it is."""
    meson = shlex.split(os.environ.get('MESON') or 'meson')
    subprocess.run([*meson, 'setup', c.at('hand'), c.at('co'), '-Dgpu_arch=7'], check=True,
                   capture_output=True, env=c.env)
    result = c.run('tests/run', '--build', '../hand', 'good')
    expect('a folder configured by hand', result.returncode == 0 and
           'configuring' not in result.stdout, *told(result))


def test_foreign_venv(c):
    """Without Ninja, a .venv that was not made here is neither removed nor installed into."""
    for name in 'ninja', 'ninja-build', 'samu':
        write(c.at('commands', name), '#!/bin/sh\nexit 1\n', 0o755)
    write(c.at('co/.venv/letter.txt'), 'dear')
    result = c.run('tests/run', NINJA='', TMAP_OFFLINE='')
    expect('a foreign .venv', result.returncode == 1 and '.venv was not made here' in result.stderr,
           *told(result))
    expect('a foreign .venv stays', everything(c.at('co/.venv')) == {'letter.txt'})


def test_no_limits(_):
    """On a machine that is busy a test takes long: none has a limit of time but the one of all."""
    for folder in '', 'bench', 'samples', 'tests':
        for path in glob.glob(os.path.join(ROOT, folder, '**' if folder else '', '*'),
                              recursive=True):
            if path.endswith('meson.build') or (folder == 'tests' and path.endswith('.py')):
                limits = re.findall(r'.*\btimeout *[:=] *\d.*|.*time\.(?:time|monotonic)\(.*',
                                    read(path))
                expect(f'a limit of time in {path}', not limits, *limits)


def test_names(c):
    result = c.run('tests/run', '--list')
    expect('--list', result.returncode == 0 and sorted(result.stdout.splitlines()) ==
           ['bad', 'good', 'skips', 'spaced name'], *told(result))
    expect('--list builds nothing', not c.built(), c.built())
    result = c.run('tests/run', 'no_such_test')
    expect('an unknown test', result.returncode == 2 and 'no_such_test' in result.stderr,
           *told(result))
    expect('an unknown test builds nothing', not c.built(), c.built())
    expect('an unknown option', c.run('tests/run', '--no-such-option').returncode == 2)
    result = c.run('tests/run', 'go*')
    expect('a test by name', result.returncode == 0 and
           last(result) == ['1 passed, 0 failed, 0 skipped'], *told(result))
    expect('a test by name builds itself', c.built() == {'good'}, c.built())


def test_counts(c):
    result = c.run('tests/run', TMAP_OUT=c.at('logs'))
    expect('all tests', result.returncode == 1 and
           last(result) == ['2 passed, 1 failed, 1 skipped'], *told(result))
    expect('a reason to skip', 'skipped: skips: no moon\n' in result.stdout, *told(result))
    expect('why a test failed', 'this is why' in result.stdout, *told(result))
    expect('logs', os.path.exists(c.at('logs/testlog.json')))
    result = c.run('tests/run', 'skips', 'good')
    expect('some tests', result.returncode == 0 and
           last(result) == ['1 passed, 0 failed, 1 skipped'], *told(result))
    write(c.at('co/meson.options'), OPTIONS.replace("'broken', type: 'boolean', value: false",
                                                    "'broken', type: 'boolean', value: true"))
    for names in [], ['broken']:
        result = c.run('tests/run', '--build', '../broken', *names)
        expect('a build that fails', result.returncode == 1 and
               last(result) == ['0 passed, 1 failed, 0 skipped'], *told(result))
    result = c.run('tests/run', '--build', '../broken', 'good')
    expect('a test beside one that does not compile', result.returncode == 0, *told(result))


def test_samples(c):
    result = c.run('samples/run')
    ran = re.findall('I am (.*)', result.stdout)
    expect('all samples by number', result.returncode == 0 and ran == ['01_one', '02_two'],
           *told(result))
    expect('pictures', everything(c.at('co/out')) == {'01_one.ppm', '02_two.ppm'})
    names = {'02': '02_two', '2': '02_two', '01_one': '01_one', 'fractal': '02_two',
             'samples/triangle/01_one.cu': '01_one', 'explore': 'explore'}
    result = c.run('samples/run', *names)
    expect('samples by name', result.returncode == 0 and re.findall('I am (.*)', result.stdout) ==
           list(names.values()), *told(result))
    result = c.run('samples/run', '1', 'explore', '--', '--level', '5', TMAP_OUT=c.at('pictures'))
    expect('arguments', result.returncode == 0 and re.findall('I am (.*)', result.stdout) ==
           ['01_one --level 5', 'explore --level 5'], *told(result))
    refused('arguments that a sample ignores', c.run('samples/run', '2', '--', '--help'), '--help')
    expect('pictures elsewhere', os.path.exists(c.at('pictures/explore.ppm')))
    shutil.rmtree(c.at('co/build'), ignore_errors=True)
    refused('an unknown sample', c.run('samples/run', '09'), '09')
    expect('an unknown sample configures nothing', not os.path.exists(c.at('co/build')))


def test_bench_without_gpu(c):
    result = c.run('bench/run')
    expect('no GPU', result.returncode == 77 and last(result)[0].startswith('SKIP: '),
           *told(result))


def test_bench(c):
    write(c.at('co/meson.options'), OPTIONS.replace("'cuda', type: 'boolean', value: false",
                                                    "'cuda', type: 'boolean', value: true"))
    refused('an unknown benchmark', c.run('bench/run', 'three'), 'three')
    result = c.run('bench/run')
    where = 'co/bench/results/moon-9'
    expect('all benchmarks', result.returncode == 0 and
           everything(c.at(where)) == {'one.json', 'two.json'}, *told(result))
    result = c.run('bench/run', 'triangle/bench_two.cu', TMAP_OUT=c.at('results'))
    expect('one benchmark', result.returncode == 0 and
           everything(c.at('results')) == {'two.json'} and
           read(c.at('results/two.json')) == 'result of two', *told(result))
    write(c.at('results/two.json'), 'the last good result')
    result = c.run('bench/run', 'two', '--', '--more', TMAP_OUT=c.at('results'))
    expect('a benchmark that fails', result.returncode == 1 and
           everything(c.at('results')) == {'two.json'} and
           read(c.at('results/two.json')) == 'the last good result', *told(result))
    result = c.run('bench/run', 'two', '--', '--help', TMAP_OUT=c.at('results'))
    expect('options of a benchmark', result.returncode == 0 and
           'options of two' in result.stdout and
           read(c.at('results/two.json')) == 'the last good result', *told(result))


def test_bench_gpus(c):
    """Several GPUs: one benchmark on each, each with its result or its failure."""
    write(c.at('co/meson.options'), OPTIONS.replace("'cuda', type: 'boolean', value: false",
                                                    "'cuda', type: 'boolean', value: true"))
    write(c.at('commands/nvidia-smi'), '#!/bin/sh\n' + COMMANDS['nvidia-smi'].replace(
        'echo "GPU 0: here"', 'echo "GPU 0: here"; echo "GPU 1: there"'), 0o755)
    for wrong in ('0', 'two', '3'):
        refused(f'--gpus {wrong}', c.run('bench/run', '--gpus', wrong), '--gpus')
    result = c.run('bench/run', '--gpus', '2', TMAP_OUT=c.at('results'))
    expect('one benchmark on each GPU', result.returncode == 0 and
           [read(c.at(f'results/{name}.json')) for name in ('one', 'two')] ==
           ['result of one on GPU 0', 'result of two on GPU 1'] and
           everything(c.at('results')) == {'one.json', 'two.json'} and
           'two: --- two' in result.stdout, *told(result))
    result = c.run('bench/run', '--gpus', '2', '--', '--more', TMAP_OUT=c.at('results'))
    expect('benchmarks that fail on two GPUs', result.returncode == 1 and
           everything(c.at('results')) == {'one.json', 'two.json'} and
           read(c.at('results/two.json')) == 'result of two on GPU 1', *told(result))


# Plays compute-sanitizer: notes what it is given; what $WAIT names goes on until it is ended.
SANITIZER = '''#!/bin/sh
for program; do :; done
echo "$2 ${program##*/}" >>"$SEEN"
[ "$2 ${program##*/}" != "$WAIT" ] || exec sleep 300 >"$SEEN.fifo"
echo good
'''


def sanitizing(c, cores, wait=''):
    """A running tests/sanitize on a machine with a GPU and that compute-sanitizer."""
    write(c.at('commands/compute-sanitizer'), SANITIZER, 0o755)
    write(c.at('commands/nproc'), f'#!/bin/sh\necho {cores}\n', 0o755)
    write(c.at('co/meson.options'), OPTIONS.replace("'cuda', type: 'boolean', value: false",
                                                    "'cuda', type: 'boolean', value: true"))
    return subprocess.Popen([c.at('co/tests/sanitize')], cwd=c.at('co'), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True,
                            env={**c.env, 'SEEN': c.at('seen'), 'WAIT': wait})


def test_sanitize(c):
    """Each test under each tool, the longest first, and how long each took."""
    text = sanitizing(c, 1).communicate()[0]
    tools = ['racecheck', 'memcheck', 'initcheck', 'synccheck']
    expect('the counts', text.endswith('\n8 passed, 0 failed, 0 skipped\n'), text)
    seen = read(c.at('seen')).splitlines()
    expect('the longest first', seen == [f'{tool} {name}-gpu' for tool in tools
                                         for name in ('test_pdist', 'test_warp')], seen)
    told_seconds = re.findall(r'(?m)^\d+ (\w+ \w+)$', text.partition('seconds of each:')[2])
    expect('the seconds of each', sorted(told_seconds) == sorted(
        f'{tool} {name}' for tool in tools for name in ('test_pdist', 'test_warp')), text)


def test_sanitize_ended(c):
    """One that is ended before its time tells how long each took that far, and ends them."""
    os.mkfifo(c.at('seen.fifo'))
    running, text = sanitizing(c, 4, 'initcheck test_pdist-gpu'), ''
    waiting = open(c.at('seen.fifo'), encoding='utf-8')  # once that one is there
    while running.poll() is None and text.count(': good') < 7:
        text += running.stdout.readline()
    running.terminate()
    text += running.communicate()[0]
    expect('the seconds of what did not end', running.returncode == 143 and
           re.search(r'(?m)^\d+ initcheck test_pdist, not ended$', text) and
           len(re.findall(r'(?m)^\d+ \w+ test_\w+$', text)) == 7, running.returncode, text)
    with waiting:
        waiting.read()  # until that one has ended


TESTS = [test_bad_folders, test_folder_of_another, test_files_survive, test_failed_setup,
         test_no_scratch_folder, test_by_hand, test_foreign_venv, test_no_limits, test_names,
         test_counts, test_samples, test_bench_without_gpu, test_bench, test_bench_gpus, test_sanitize,
         test_sanitize_ended]
WITH_GPU = [test_bench, test_bench_gpus, test_sanitize, test_sanitize_ended]

for test in TESTS:
    with tempfile.TemporaryDirectory() as folder:
        test(Checkout(os.path.realpath(folder), with_gpu=test in WITH_GPU))
print(f'{len(TESTS)} tests, {len(errors)} failures')
sys.exit(1 if errors else 0)
