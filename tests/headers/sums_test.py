#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sums over a block (warp.h, reduce.h) have code of their own for blocks of full warps, whose
collectives have constant masks: any other mask costs a test for divergence. Reads their PTX."""
import re
import sys
import tempfile

from common import INCLUDE, find, run, write

# The type of a value, and the least number of collectives with a constant mask.
SUMS = {"i32": ("int", 5), "i64": ("tmap_i64", 6), "i32_shuffle": ("int", 20),
        "f32_shuffle": ("float", 10)}
KERNEL = """extern "C" __global__ void %s(const %s *in, %s *out) {
    __shared__ tmap_i64 scratch[32];
    out[threadIdx.x] = (%s)tmap_block_sum_%s(in[threadIdx.x], scratch);
}
"""
# The mask is the last operand.
COLLECTIVE = re.compile(r"\b(?:redux|shfl|vote)\.sync\S*\s[^;]*?([^\s,;]+);")


def constant_masks(body):
    """The number of a kernel's collectives whose mask is a constant."""
    constant = set(re.findall(r"mov\.[bu]32\s+(%r\d+), (?:-1|0xffffffff|4294967295);", body))
    return sum(mask in constant | {"-1", "0xffffffff", "4294967295"}
               for mask in COLLECTIVE.findall(body))


def main():
    nvcc, wrong = find("nvcc"), []
    source = "#include <threadmap/reduce.h>\n" + "".join(
        KERNEL % (name, of, of, of, name) for name, (of, _) in SUMS.items())
    if constant_masks("mov.b32 %r1, -1;\nredux.sync.add.u32 %r3, %r2, %r1;\n"
                      "redux.sync.add.u32 %r3, %r2, %r4;\n") != 1:
        sys.exit("the test itself is wrong")
    with tempfile.TemporaryDirectory(prefix="headers-") as folder:
        path = write(f"{folder}/sums.cu", source)
        for arch in "75", "90":
            code, text = run([nvcc, "-std=c++17", f"-arch=sm_{arch}", "-I", INCLUDE, "-ptx", path,
                              "-o", f"{folder}/sums.ptx"])
            if code:
                sys.exit(text)
            with open(f"{folder}/sums.ptx", encoding="utf-8") as file:
                kernels = re.findall(r"\.entry (\w+)\((.*?)^}", file.read(), re.S | re.M)
            if {name for name, _ in kernels} != set(SUMS):
                sys.exit("kernels are missing")
            wrong += [f"sm_{arch}, tmap_block_sum_{name}: {constant_masks(body)} constant masks"
                      for name, body in kernels if constant_masks(body) < SUMS[name][1]]
    print("\n".join(wrong + [f"{2 * len(SUMS)} checked, {len(wrong)} wrong"]))
    sys.exit(1 if wrong else 0)


main()
