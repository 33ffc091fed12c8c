#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles each public header alone, twice in a file, and all of them in two files of a program,
without a warning.

    compile_test.py c11 COMPILER       as C11: gcc, clang
    compile_test.py cpp17 COMPILER     as C++17: g++, clang++; likewise cpp11 and cpp20
    compile_test.py nvcc               with nvcc, to PTX: what cost_test.py leaves out; the program;
                                       and a function with two calls, whose host code is optimized
    compile_test.py clang              all headers in clang's CUDA mode with CUDA's headers, host and
                                       device side, by the newest clang from 20 on
    compile_test.py msvc               as C11 and C++17 for Windows, by a clang that takes what
                                       Microsoft's compiler takes
    compile_test.py clang-cuda         in clang's CUDA mode without its wrapper headers, host and
                                       device side; pure map headers only (a header that needs
                                       CUDA's own ones cannot be compiled so)
"""
import os
import re
import shutil
import sys
import tempfile

from common import INCLUDE, STRICT, STRICT_HOST, compiled, each, find, run, skip, twice, write
from layers import HEAVY, layer, is_published


MANY = 16  # headers of a call of the compiler
STANDARDS = {"c11": "-std=c11", "cpp11": "-std=c++11", "cpp17": "-std=c++17", "cpp20": "-std=c++20"}

# Host code that a compiler does not inline, so that it sees what a refused plan leaves unwritten.
TWO_CALLS = """#include <threadmap/triangle/pdist.h>
cudaError_t two_calls(tmap_pdist_points p, int metric, float *out)
{
    const cudaError_t error = tmap_pdist_f32(p, metric, TMAP_PAIRS_LOWER, out, 0);
    return error ? error : tmap_pdist_f32(p, metric, TMAP_PAIRS_CONDENSED, out, 0);
}
"""


def program(folder, suffix, included):
    """Two files that include the headers twice each; linked, they show external linkage."""
    stem = os.path.join(folder, "_".join(included).replace("/", "_")[:60])
    return [write(f"{stem}_main{suffix}", twice(included) + "int other(void);\n"
                  "int main(void)\n{\n    return other();\n}\n"),
            write(f"{stem}_other{suffix}", twice(included) + "int other(void);\n"
                  "int other(void)\n{\n    return 0;\n}\n")]


def check_program(command, folder, suffix, included):
    files = program(folder, suffix, included)
    out = files[0] + ".out"
    code, text = run(command + ["-I", INCLUDE, *files, "-o", out])
    if code == 0:
        code, text = run([out])
    return text or f"exit status {code}" if code else ""


def check_alone(command, folder, suffix, *some):
    """A file for each header, compiled only. Many in one call spare the time of the driver."""
    files = [write(os.path.join(folder, header.replace("/", "_") + suffix),
                   twice([header]) + "int other(void);\n")  # C allows no empty file
             for header in some]
    code, text = run([*command, *files])
    return text or f"exit status {code}" if code else ""


def clang_version(name):
    match = re.search(r"clang version (\d+)", run([name, "--version"])[1])
    return int(match.group(1)) if match else 0


def main():
    mode, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if len(rest) != {**dict.fromkeys(STANDARDS, 1), "nvcc": 0, "clang": 0, "clang-cuda": 0, "msvc": 0}.get(mode, -1):
        sys.exit(__doc__)
    folder = tempfile.mkdtemp(prefix="headers-")
    try:
        test(mode, rest, folder)
    finally:
        run(["rm", "-rf", folder])


def test(mode, rest, folder):
    if mode in STANDARDS:
        suffix = ".c" if mode == "c11" else ".cpp"
        command = [find(rest[0]), STANDARDS[mode], *STRICT]
        alone = [*command, "-fsyntax-only", "-I", INCLUDE]
        each([compiled(), *(compiled()[at:at + MANY] for at in range(0, len(compiled()), MANY))],
             lambda some: check_program(command, folder, suffix, some) if len(some) > MANY else
             check_alone(alone, folder, suffix, *some))
    if mode == "nvcc":
        # PTX, and no optimizer: names, types and warnings are the front end's, and it is 6 x faster
        command = [find("nvcc"), "-std=c++17", "-Werror", "all-warnings", "-Xcicc", "-O0",
                   f"-Xcompiler={','.join(STRICT_HOST)}",
                   "-gencode=arch=compute_75,code=compute_75"]
        everything = " and ".join(compiled())

        def check(item):
            if item == "two calls":
                file = write(os.path.join(folder, "two_calls.cu"), TWO_CALLS)
                code, text = run([command[0], "-std=c++17", "-O2", "-Xcicc", "-O0", "-arch=sm_75", "-I", INCLUDE,
                                  "-Xcompiler=-Wall,-fno-ipa-cp", "-c", file, "-o", os.devnull])
                return text if code or "maybe-uninitialized" in text else ""
            if item == everything:  # host code too, and linked
                return check_program(command, folder, ".cu", compiled())
            return check_alone([*command, "-ptx", "-I", INCLUDE, "-o", os.devnull], folder, ".cu",
                               item)
        each([everything, "two calls", *(header for header in compiled() if is_published(header) or header in HEAVY)],
             check)
    if mode == "clang":
        names = ["clang++", *(f"clang++-{version}" for version in range(20, 40))]
        found = {clang_version(name): name for name in names if shutil.which(name)}
        if not found or max(found) < 20:
            skip("no clang from version 20 on")
        if not shutil.which("nvcc"):
            skip("no CUDA headers")
        cuda = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("nvcc"))))
        base = [found[max(found)], "-x", "cuda", "-std=c++17", "-fsyntax-only",
                "-Wno-unknown-cuda-version", "--cuda-gpu-arch=sm_75", f"--cuda-path={cuda}",
                "-Werror", "-Wall", "-Wextra", "-Wno-unused-function", "-I", INCLUDE]
        every = write(os.path.join(folder, "every.cu"), twice(compiled()))
        each(["all headers in one file"], lambda _: run([*base, every])[1])
    if mode == "msvc":
        base = [find("clang"), "--target=x86_64-pc-windows-msvc", "-fms-compatibility-version=19.40",
                "-fsyntax-only", "-I", INCLUDE, *STRICT]
        languages = [(".c", ["-std=c11"]), (".cpp", ["-std=c++17"])]
        each([(header, *language) for header in compiled() for language in languages],
             lambda item: check_alone([*base, *item[2]], folder, item[1], item[0]))
    if mode == "clang-cuda":
        # clang looks at the installed CUDA even where it is told to use none of it
        base = [find("clang"), "-x", "cuda", "-std=c++17", "-fsyntax-only", "-nocudainc",
                "-nocudalib", "-Wno-unknown-cuda-version", "--cuda-gpu-arch=sm_75", "-I", INCLUDE,
                *STRICT]
        each([header for header in compiled() if layer(header) <= 1],
             lambda header: check_alone([*base, "--cuda-host-only"], folder, ".cu", header) or
             check_alone([*base, "--cuda-device-only"], folder, ".cu", header))


main()
