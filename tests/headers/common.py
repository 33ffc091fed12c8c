# SPDX-License-Identifier: MIT
"""What the header tests share: the list of public headers, found at each run, and compilers."""
import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import sys

from layers import OPTIONAL

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "include")
# What no header may show in a program of a user's who asks for it.
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wsign-conversion", "-Wdouble-promotion"]
STRICT = [*WARNINGS, "-Wpedantic", "-Werror"]
# The same for the host's compiler behind nvcc. It gets code of nvcc's own, which is not pedantic.
STRICT_HOST = [*WARNINGS, "-Werror"]


@functools.lru_cache(maxsize=None)
def headers():
    """All public headers, as a user includes them: threadmap/core.h, threadmap/fractal/sw.h, ..."""
    found = [os.path.relpath(os.path.join(folder, name), INCLUDE)
             for folder, _, names in os.walk(os.path.join(INCLUDE, "threadmap"))
             for name in names]
    strange = [path for path in found if not path.endswith(".h")]
    if strange or len(found) < 5:
        sys.exit(f"not a header, or too few of them: {strange or found}")
    return sorted(found)


def compiled():
    """The headers that need nothing but CUDA."""
    return [header for header in headers() if header not in OPTIONAL]


def included(text):
    """(line number, '"' or '<', name) of each #include in a text."""
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r'\s*#\s*include\s*(["<])([^">]*)[">]', line):
            yield number, *match.groups()


def twice(names):
    """The text of a file that includes each header twice."""
    return "".join(f"#include <{header}>\n#include <{header}>\n" for header in names)


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def find(name):
    """The path of a compiler; the test is skipped where there is none."""
    return shutil.which(name) or skip(f"no {name}")


def run(command, **kwargs):
    """(exit status, output) of a command; stdout and stderr together."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **kwargs)
    return done.returncode, done.stdout


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def each(items, check):
    """check(item) returns what is wrong, '' for nothing; runs two at a time and ends the test."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(check, items))
    wrong = [f"{item}:\n{answer}" for item, answer in zip(items, answers) if answer]
    print("\n".join(wrong + [f"{len(items)} checked, {len(wrong)} wrong"]))
    sys.exit(1 if wrong else 0)


def graph():
    """header -> the headers of ours that it includes."""
    found = {}
    for header in headers():
        with open(os.path.join(INCLUDE, header), encoding="utf-8") as file:
            found[header] = [os.path.normpath(os.path.join(os.path.dirname(header), name))
                             for _, quote, name in included(file.read()) if quote == '"']
    return found


def reached(edges, start):
    """{header: the way to it} for all that `start` includes."""
    ways, todo = {start: start}, [start]
    while todo:
        header = todo.pop()
        for target in edges.get(header, ()):
            if target not in ways:
                ways[target] = f"{ways[header]} > {target}"
                todo.append(target)
    return ways


def inner(edges, some):
    """Those of some headers that another one of them includes."""
    return {target for header in some for target in reached(edges, header)
            if target in some and target != header}
