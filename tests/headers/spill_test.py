#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the engines, in kernels of the samples, for the kinds of GPUs from 7.5 to 12.0, and asks
that none spills registers.

The front end runs for 7.5 and 8.0, as the engines differ there: from 8.0 on they copy
asynchronously. ptxas makes machine code of that PTX for the other kinds: the newest of each front
end, or with --all each. Ready kernels are not asked: some of them are faster with a few registers spilled.
"""
import os
import re
import sys
import tempfile

from common import INCLUDE, ROOT, each, find, run

SAMPLES = os.path.join(ROOT, "samples")
# One for each engine: update and fold, stencil, pairs, select, rows, triples, ASK.
PROGRAMS = ["fractal/03_reduction.cu", "fractal/05_heat.cu", "triangle/06_pairs.cu",
            "triangle/16_radius_graph.cu", "triangle/17_gravity.cu",
            "triangle/27_axilrod_teller.cu", "adaptive/11_ask.cu"]
GPUS = {75: (75,), 80: (90,)}  # whose PTX: for which
if "--all" in sys.argv:
    GPUS[80] = (80, 86, 89, 90, 100, 120)
SPILLS = re.compile(r"Function properties for (\w+)\n[^\n]*?(\d+) bytes spill stores")


def spills(text):
    """The kernels that spill, by what ptxas -v says."""
    return [f"{name}: {count} bytes" for name, count in SPILLS.findall(text) if int(count)]


def main():
    text = ("ptxas info    : Function properties for a\n    8 bytes stack frame, 4 bytes spill "
            "stores, 4 bytes spill loads\nptxas info    : Function properties for b\n    0 bytes "
            "stack frame, 0 bytes spill stores, 0 bytes spill loads\n")
    if spills(text) != ["a: 4 bytes"]:
        sys.exit("the test itself is wrong")
    nvcc, ptxas = find("nvcc"), find("ptxas")
    with tempfile.TemporaryDirectory(prefix="headers-") as folder:
        def check(item):
            program, virtual = item
            ptx = os.path.join(folder, f"{os.path.basename(program)}.{virtual}.ptx")
            code, text = run([nvcc, "-std=c++17", f"-arch=compute_{virtual}", "-I", INCLUDE, "-I",
                              SAMPLES, "-ptx", os.path.join(SAMPLES, program), "-o", ptx])
            if code:
                return text
            wrong = []
            for gpu in GPUS[virtual]:
                code, text = run([ptxas, "-v", f"-arch=sm_{gpu}", ptx, "-o", os.devnull])
                wrong += [f"sm_{gpu}: {text}"] if code else [f"sm_{gpu}: {of}" for of in spills(text)]
            return "\n".join(wrong)
        each([(program, virtual) for program in PROGRAMS for virtual in GPUS], check)


main()
