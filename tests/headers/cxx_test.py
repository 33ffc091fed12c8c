#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cxx.h, cxx_near.h: a kernel with lambdas has the machine code of the C form with a copy of its job: each pair
of kernels X_c and X_cxx of tests/test_cxx.cu, compiled for compute capability 9.0."""
import os
import re
import sys
import tempfile

from common import INCLUDE, ROOT, find, run

sys.path.insert(0, os.path.join(ROOT, "tests"))
from same_code import kernels_of


def same(name, one, other):
    """Near pairs have two lambdas with a copy each of what they capture, which is loaded in another order, by
    up to two instructions more; registers, spills and shared memory are the same."""
    if not name.startswith("near"):
        return one[1:] == other[1:]
    return one[3:] == other[3:] and abs(one[2] - other[2]) <= 2


def main():
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "cubin")
        code, said = run([find("nvcc"), "-std=c++17", "-O3", "-arch=sm_90", "-I", INCLUDE, "-I",
                          os.path.join(ROOT, "tests"), "-cubin", "-o", cubin,
                          os.path.join(ROOT, "tests/test_cxx.cu")])
        if code:
            sys.exit(said)
        with open(cubin, "rb") as file:
            kernels = {name: kernel for kernel in kernels_of(file.read())
                       for name in re.findall(r"^_Z\d+(\w+?_c(?:xx)?)\d+tmap", kernel.name)}
    names = [name.removesuffix("_cxx") for name in kernels if name.endswith("_cxx")]
    differ = [name for name in names if not same(name, kernels[name + "_c"], kernels[name + "_cxx"])]
    for name in differ:
        print(f"{name}: {kernels[name + '_c'][2:]} in C, {kernels[name + '_cxx'][2:]} with lambdas")
    print(f"{len(names)} kernels, {len(differ)} with other machine code")
    return 1 if differ or len(names) < 14 else 0


if __name__ == "__main__":
    sys.exit(main())
