#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cxx.h: a kernel with lambdas has the machine code of the C form with a copy of its job: each pair
of kernels X_c and X_cxx of tests/test_cxx.cu, compiled for compute capability 9.0."""
import os
import re
import sys
import tempfile

from common import INCLUDE, ROOT, find, run

sys.path.insert(0, os.path.join(ROOT, "tests"))
from same_code import kernels_of


def main():
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "cubin")
        code, said = run([find("nvcc"), "-std=c++17", "-O3", "-arch=sm_90", "-I", INCLUDE, "-I",
                          os.path.join(ROOT, "tests"), "-cubin", "-o", cubin,
                          os.path.join(ROOT, "tests/test_cxx.cu")])
        if code:
            sys.exit(said)
        with open(cubin, "rb") as file:
            kernels = {re.search(r"(\w+?_c(?:xx)?)\d+tmap", re.sub(r"^_Z\d+", "", kernel.name))[1]: kernel
                       for kernel in kernels_of(file.read())}
    names = [name.removesuffix("_cxx") for name in kernels if name.endswith("_cxx")]
    differ = [name for name in names if kernels[name + "_c"].code != kernels[name + "_cxx"].code]
    for name in differ:
        print(f"{name}: {kernels[name + '_c'][2:]} in C, {kernels[name + '_cxx'][2:]} with lambdas")
    print(f"{len(names)} kernels, {len(differ)} with other machine code")
    return 1 if differ or len(names) < 9 else 0


if __name__ == "__main__":
    sys.exit(main())
