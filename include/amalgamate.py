#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the headers of threadmap as single files, to be copied alone.

    amalgamate.py FOLDER               threadmap-fractal.h, threadmap-triangle.h,
                                       threadmap-adaptive.h, threadmap-all.h
    amalgamate.py FOLDER HEADER...     threadmap-HEADER.h of any headers, as fractal/each
    amalgamate.py --list HEADER        the files that a header needs, to be copied as they are

A file holds its headers in the order of their includes, each once. Includes of CUDA stay. Several
files may be included in one program: the guards of the headers are kept. papers/ is in none, and
those that need NCCL, CUB, a library of the driver or of ours only where they are named.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "threadmap")
OPTIONAL = ("library.h", "nccl.h", "share_memory.h", os.path.join("fractal", "halo.h"),
            os.path.join("triangle", "near_sort.h"),
            *(os.path.join("raster", name) for name in ("stripes_base.h", "stripes.h", "stripes_flood.h")))
INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def every():
    """All headers outside papers/ that need nothing but CUDA, as fractal/each.h."""
    found = []
    for folder, _, names in os.walk(ROOT):
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(path for path in found
                  if not path.startswith("papers" + os.sep) and path not in OPTIONAL)


def included(path):
    """What a header includes, as paths from threadmap/."""
    return [os.path.normpath(os.path.join(os.path.dirname(path), other))
            for other in INCLUDE.findall(read(path))]


def needed(path, found):
    """Adds to the list what the header includes, and then the header itself."""
    if path not in found:
        for other in included(path):
            needed(other, found)
        found.append(path)
    return found


def body(path):
    """A header without its includes."""
    text = read(path).replace("// SPDX-License-Identifier: MIT\n", "", 1)
    return f"\n// ==== {path} {'=' * (91 - len(path))}\n\n" + INCLUDE.sub("", text)


def single(name, paths):
    found = []
    for path in paths:
        needed(path, found)
    version = ".".join(re.findall(r"#define TMAP_VERSION_[A-Z]+ (\d+)\n", read("version.h")))
    return (f"// SPDX-License-Identifier: MIT\n"
            f"// threadmap-{name}.h: threadmap {version} in one file, made by include/amalgamate.py.\n"
            "// It holds\n" + "".join(f"//     {path}\n" for path in found) +
            "".join(body(path) for path in found))


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 1 or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    names = [name.removesuffix(".h") for name in arguments[1:]]
    unknown = [name for name in names if not os.path.isfile(os.path.join(ROOT, name + ".h"))]
    if unknown:
        sys.exit(f"there is no threadmap/{unknown[0]}.h")
    if arguments[0] == "--list":
        print("\n".join(sorted({path for name in names for path in needed(name + ".h", [])})))
        return 0
    wanted = {name.replace("/", "-"): [name + ".h"] for name in names} or {
        "fractal": ["fractal.h"], "triangle": ["triangle.h"], "adaptive": ["adaptive.h"],
        "all": every()}
    os.makedirs(arguments[0], exist_ok=True)
    for name, paths in wanted.items():
        with open(os.path.join(arguments[0], f"threadmap-{name}.h"), "w", encoding="utf-8") as file:
            file.write(single(name, paths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
