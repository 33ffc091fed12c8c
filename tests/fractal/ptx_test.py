#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The maps of a constant fractal cost no division, no table and no local memory: reads their PTX.

    ptx_test.py nvcc              compile ptx_kernels.cu with nvcc
    ptx_test.py nvrtc COMMAND     compile it with NVRTC, through the command nvrtc_compile

The controls at the end of ptx_kernels.cu must break each rule, so that a change of the compiler's
output cannot make this test blind.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "ptx_kernels.cu")
INCLUDE = os.path.join(HERE, "..", "..", "include")
ARCHS = ["75", "90"]
RULES = {
    "div": re.compile(r"\bdiv\."),
    "rem": re.compile(r"\brem\."),
    "load": re.compile(r"\bldu?\.(?!param\b)\S*"),  # only kernel arguments may be loaded
    "local": re.compile(r"\.local\b"),
    "call": re.compile(r"\bcall\b"),  # nothing hides in a function
}
MAPS = 9 * 15 + 7 * 14 + 6 * 11 + 6


def compile_ptx(mode, arch):
    if mode == "nvcc":
        nvcc = shutil.which("nvcc")
        if not nvcc:
            print("SKIP: no nvcc")
            sys.exit(77)
        command = [nvcc, "-std=c++17", "-ptx", f"-arch=sm_{arch}", "-I", INCLUDE, SOURCE, "-o", "-"]
    else:
        command = [sys.argv[2], SOURCE, f"--include-path={INCLUDE}",
                   f"--gpu-architecture=compute_{arch}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stdout if done.returncode == 77 else f"{mode} failed with {done.returncode}")
        sys.exit(done.returncode)
    return done.stdout


def broken_rules(body):
    found = {rule: pattern.search(body) for rule, pattern in RULES.items()}
    return {rule: match.group(0) for rule, match in found.items() if match}


def check(mode, arch):
    ptx = re.sub(r"//.*", "", compile_ptx(mode, arch))
    bodies = re.findall(r"\.entry\s+(\w+)\s*\([^)]*\)[^{]*(\{.*?^\})", ptx, re.S | re.M)
    errors, maps = [], 0
    controls = set()
    for name, body in bodies:
        broken = broken_rules(body)
        kind, rest = name.split("_", 1)
        if kind == "control":
            controls.add(rest)
            if rest not in broken:
                errors.append(f"{name}: the rule sees nothing where it must")
        else:
            maps += 1
            errors += [f"{name}: {what}" for what in broken.values()]
    if maps != MAPS or controls != set(RULES):
        errors.append(f"{maps} maps and controls {sorted(controls)}: some are missing")
    print(f"{mode} sm_{arch}: {maps} maps, {len(errors)} errors")
    for error in errors:
        print(f"  {error}")
    return not errors


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("nvcc", "nvrtc") or \
            len(sys.argv) != (2 if sys.argv[1] == "nvcc" else 3):
        sys.exit(__doc__)
    sys.exit(0 if all([check(sys.argv[1], arch) for arch in ARCHS]) else 1)


main()
