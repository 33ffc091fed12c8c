#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the text of each public header: licence line, width, guard, includes, floor (floors.py)."""
import os
import re

from common import INCLUDE, each, headers
from floors import floor

# CUDA's own headers: cooperative ones need these two; a kernel with its launcher needs the runtime.
SYSTEM = {2: {"mma.h", "cooperative_groups.h"}}
SYSTEM[3] = SYSTEM[2] | {"cuda_runtime.h", "cuda_fp16.h"}


def check(header):
    with open(os.path.join(INCLUDE, header), encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    wrong = []
    if not re.match(r"(//|/\*) SPDX-License-Identifier: MIT$", lines[0]):
        wrong.append("line 1 is not the SPDX line")
    if os.path.basename(header) not in lines[1]:
        wrong.append("line 2 does not begin with the file's name and what it is for")
    if not text.endswith("\n") or text.endswith("\n\n"):
        wrong.append("does not end with one line feed")
    guard = "TMAP_" + re.sub(r"\W", "_", header.split("/", 1)[1]).upper()
    if f"#ifndef {guard}\n#define {guard}\n" not in text:
        wrong.append(f"no include guard {guard}")
    for number, line in enumerate(lines, 1):
        if len(line) > 100:
            wrong.append(f"line {number}: {len(line)} columns")
        if line != line.rstrip() or "\t" in line:
            wrong.append(f"line {number}: a tab, or a blank at its end")
        if match := re.match(r'\s*#\s*include\s*(["<])([^">]*)[">]', line):
            wrong += [f"line {number}: {what}" for what in check_include(header, *match.groups())]
    return "\n".join(wrong)


def check_include(header, quote, name):
    if quote == "<":
        if name not in SYSTEM.get(floor(header), ()):
            yield f"<{name}>: not on this floor"
        return
    target = os.path.normpath(os.path.join(os.path.dirname(header), name))
    if target not in headers():
        yield f'"{name}": no such header'
    elif floor(target) > floor(header):
        yield f'"{name}": floor {floor(target)} from floor {floor(header)}'


each(headers(), check)
