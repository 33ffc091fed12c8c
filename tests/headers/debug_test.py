#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the clients, and kernels as a user writes them, with nvcc -G for the GPU with the least
room, and asks how much static shared memory the kernels take.

Under -G a kernel keeps what every one of its branches has, taken or not. What a plan asks for comes
on top: up to 48 KB for the tables of fractal/rows.h, of the 64 KB that a block of compute
capability 7.5 may have. A kernel with more than the rest would be refused on the larger levels, and
only there.
"""
import os
import re
import sys
import tempfile

from common import INCLUDE, ROOT, STRICT_HOST, each, find, graph, inner, run, twice, write
from layers import CLIENTS, HEAVY, is_published

MOST = (64 - 48) * 1024  # bytes
# ptxas, of a file with much code, depending on the lengths of its paths: nothing of ours is wrong.
LARGE = "warning: Function too large, generated debug information may not be accurate."
KERNEL = re.compile(r"Compiling entry function '(\w+)'.*?Used ([^\n]*)", re.S)
# Tests whose kernels call every function of the engines.
PROGRAMS = ["fractal/test_engines.cu", "adaptive/test_ask_own.cu"]


def static_bytes(text):
    """{kernel: bytes of static shared memory} of what ptxas -v says of our kernels."""
    found = {}
    for name, used in KERNEL.findall(text):
        if name.startswith("_ZN3cub"):  # CUB's own, which no plan of ours launches
            continue
        match = re.search(r"(\d+) bytes smem", used)
        found[name] = int(match.group(1)) if match else 0
    return found


def warnings(text):
    """The lines of a compiler's output that warn, but for the one that is not about our code."""
    return [line for line in text.splitlines() if "warning" in line and line.strip() != LARGE]


def self_test():
    text = ("ptxas info    : Compiling entry function 'a' for 'sm_75'\n"
            "ptxas info    : Used 20 registers, 25808 bytes smem, 400 bytes cmem[0]\n"
            "ptxas info    : Compiling entry function 'b' for 'sm_75'\n"
            "ptxas info    : Used 20 registers, 400 bytes cmem[0]\n")
    if (static_bytes(text) != {"a": 25808, "b": 0} or warnings(f"{LARGE}\n{text}")
            or not warnings(f"{LARGE}\nx.h(1): warning #177-D: unused")):
        sys.exit("the test itself is wrong")


def main():
    self_test()
    tests = os.path.join(ROOT, "tests")
    nvcc = [find("nvcc"), "-G", "-std=c++17", "-gencode=arch=compute_75,code=sm_75", "-Xptxas",
            "-v", "-I", INCLUDE, "-cubin"]  # host code has no shared memory
    strict = f"-Xcompiler={','.join(STRICT_HOST)}"
    with tempfile.TemporaryDirectory(prefix="headers-") as folder:
        def check(item):
            stem = os.path.join(folder, item.replace("/", "_"))
            if item in PROGRAMS:
                code, text = run([*nvcc, "-I", tests, os.path.join(tests, item), "-o", stem + ".cubin"])
            else:
                code, text = run([*nvcc, strict, write(stem + ".cu", twice([item])),
                                  "-o", stem + ".cubin"])
            if code or (item not in PROGRAMS and warnings(text)):
                return text
            kernels = static_bytes(text)
            if item in PROGRAMS and not kernels:
                return "no kernel"
            return "\n".join(f"{name}: {size} bytes of static shared memory, more than {MOST}"
                             for name, size in kernels.items() if size > MOST)

        # A client that another one includes is compiled with that one.
        clients = {client for client in CLIENTS if not is_published(client)} - HEAVY
        each([*PROGRAMS, *sorted(clients - inner(graph(), clients))], check)


main()
