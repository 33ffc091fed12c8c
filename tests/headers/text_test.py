#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the text of each public header: licence line, title, width, guard, includes, layer
(layers.py), whether the headers that it speaks of exist, how it launches, and that it tells no
times of one machine."""
import os
import re

from common import INCLUDE, each, headers, included
from layers import OPTIONAL, layer

# CUDA's own headers: cooperative ones need these two; a plan or a launcher needs the runtime.
SYSTEM = {2: {"mma.h", "cooperative_groups.h"}}
PRINTS = ("threadmap/check.h", "stdio.h")  # under TMAP_CHECK alone
SYSTEM[3] = SYSTEM[4] = SYSTEM[2] | {"cuda_runtime.h", "cuda_fp16.h"}
# Headers of others that a comment may name.
FOREIGN = {"stdint.h", "math.h", "cuda_runtime.h", "cuda_fp16.h"}

# A launch returns its own error only through cudaLaunchKernel and similar calls; <<<...>>> leaves it
# where cudaGetLastError finds the user's earlier ones, too, and clears them. Kernels have nothing
# else.
LAUNCH = re.compile(r"<<<|\bcuda(GetLast|PeekAtLast)Error\b")
LAUNCHES_FROM_KERNELS = {"threadmap/papers/mandelbrot_dp.h",
                         "threadmap/papers/mandelbrot_published.h",
                         "threadmap/papers/triangle_published.h"}
# Times belong to a machine and a day, and so to docs/; a header says why.
TIME = re.compile(r"\d ?(ms|us|ns)\b")


def check(header):
    with open(os.path.join(INCLUDE, header), encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    wrong = []
    if not re.match(r"(//|/\*) SPDX-License-Identifier: MIT$", lines[0]):
        wrong.append("line 1 is not the SPDX line")
    path = header.split("/", 1)[1]
    if not re.match(rf"(//| \*) ({path}|{os.path.basename(path)})(:| -) ", lines[1]):
        wrong.append("line 2 does not begin with the file's name and what it is for")
    if not text.endswith("\n") or text.endswith("\n\n"):
        wrong.append("does not end with one line feed")
    guard = "TMAP_" + re.sub(r"\W", "_", path).upper()
    if f"#ifndef {guard}\n#define {guard}\n" not in text:
        wrong.append(f"no include guard {guard}")
    for number, line in enumerate(lines, 1):
        if len(line) > 100:
            wrong.append(f"line {number}: {len(line)} columns")
        if line != line.rstrip() or "\t" in line:
            wrong.append(f"line {number}: a tab, or a blank at its end")
        comment = line.partition("//")[2]
        launch = LAUNCH.search(line)
        if launch and header not in LAUNCHES_FROM_KERNELS:
            wrong.append(f"line {number}: {launch.group()}")
        if TIME.search(comment):
            wrong.append(f"line {number}: a time")
        if not re.match(r"\s*#\s*include|//    ", line):  # nor code in a comment
            wrong += [f"line {number}: there is no {name}"
                      for name in re.findall(r"[\w./]*\w\.h\b", comment)
                      if not exists(header, name)]
    wrong += [f"line {number}: {what}" for number, quote, name in included(text)
              for what in check_include(header, quote, name)]
    return "\n".join(wrong)


def exists(header, name):
    """A name in a comment: from the header's own folder, or from include/threadmap."""
    beside = os.path.normpath(os.path.join(os.path.dirname(header), name))
    return name in FOREIGN or name in OPTIONAL.get(header, ()) or not {beside, f"threadmap/{name}", name}.isdisjoint(headers())


def check_include(header, quote, name):
    if quote == "<":
        if name not in SYSTEM.get(layer(header), ()) and (header, name) != PRINTS and \
                name not in OPTIONAL.get(header, ()):
            yield f"<{name}>: not on this layer"
        return
    target = os.path.normpath(os.path.join(os.path.dirname(header), name))
    if target not in headers():
        yield f'"{name}": no such header'
    elif layer(target) > layer(header):
        yield f'"{name}": layer {layer(target)} from layer {layer(header)}'


each(headers(), check)
