#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The maps of triangles and of the simplex cost no division, no double precision, no table, no
local memory and no branch: reads their PTX. Under -use_fast_math they are the same instructions, but
for .ftz, which changes subnormal numbers alone, and no map meets one.

    ptx_triangle_test.py nvcc              compile ptx_triangle.cu with nvcc
    ptx_triangle_test.py nvrtc COMMAND     compile it with NVRTC, through the command nvrtc_compile

The controls at the end of ptx_triangle.cu must break each rule, so that a change of the compiler's
output cannot make this test blind.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "ptx_triangle.cu")
INCLUDE = os.path.join(HERE, "..", "..", "include")
ARCHS = ["75", "90"]
RULES = {
    "div": re.compile(r"\bdiv\."),
    "rem": re.compile(r"\brem\."),
    "double": re.compile(r"\.f64\b"),
    "load": re.compile(r"\bldu?\.(?!param\b)\S*"),  # only kernel arguments may be loaded
    "local": re.compile(r"\.local\b"),
    "call": re.compile(r"\bcall\b"),  # nothing hides in a function
    "branch": re.compile(r"\bbra\b"),
}
BRANCHES = {"utm", "utm_blocks"}  # the conditionals that repair UTM are part of it
MAPS = 21


def compile_ptx(mode, arch, *flags):
    if mode == "nvcc":
        nvcc = shutil.which("nvcc")
        if not nvcc:
            print("SKIP: no nvcc")
            sys.exit(77)
        command = [nvcc, "-std=c++17", "-ptx", f"-arch=sm_{arch}", *flags, "-I", INCLUDE, SOURCE,
                   "-o", "-"]
    else:
        command = [sys.argv[2], SOURCE, f"--include-path={INCLUDE}",
                   f"--gpu-architecture=compute_{arch}", *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stdout if done.returncode == 77 else f"{mode} failed with {done.returncode}")
        sys.exit(done.returncode)
    return done.stdout


def entries(ptx):
    """(name, body) of each kernel."""
    return re.findall(r"\.entry\s+(\w+)\s*\([^)]*\)[^{]*(\{.*?^\})", re.sub(r"//.*", "", ptx),
                      re.S | re.M)


def broken_rules(body):
    found = {rule: pattern.search(body) for rule, pattern in RULES.items()}
    return {rule: match.group(0) for rule, match in found.items() if match}


def instructions(body):
    """How many PTX instructions, without those that read arguments, store and return."""
    lines = [line.strip() for line in body.splitlines()]
    return sum(line.endswith(";") and not re.match(r"\.|ld\.param|cvta|st\.|ret", line)
               for line in lines)


def check(mode, arch):
    fast = dict(entries(compile_ptx(mode, arch, "-use_fast_math")))
    errors, counts = [], {}
    controls = set()
    for name, body in entries(compile_ptx(mode, arch)):
        if fast[name].replace(".ftz", "") != body.replace(".ftz", ""):
            errors.append(f"{name}: other instructions with -use_fast_math")
        broken = broken_rules(body)
        kind, rest = name.split("_", 1)
        if kind == "control":
            controls.add(rest)
            if rest not in broken:
                errors.append(f"{name}: the rule sees nothing where it must")
            continue
        counts[rest] = instructions(body)
        if rest in BRANCHES:
            broken.pop("branch", None)
        errors += [f"{name}: {what}" for what in broken.values()]
    if len(counts) != MAPS or controls != set(RULES):
        errors.append(f"{len(counts)} maps and controls {sorted(controls)}: some are missing")
    print(f"{mode} sm_{arch}: {len(counts)} maps, {len(errors)} errors; instructions of PTX: " +
          ", ".join(f"{name} {count}" for name, count in counts.items()))
    for error in errors:
        print(f"  {error}")
    return not errors


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("nvcc", "nvrtc") or \
            len(sys.argv) != (2 if sys.argv[1] == "nvcc" else 3):
        sys.exit(__doc__)
    sys.exit(0 if all([check(sys.argv[1], arch) for arch in ARCHS]) else 1)


main()
