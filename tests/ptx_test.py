#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The maps of a constant fractal cost no division, no table and no local memory; those of triangles and
of the simplex no double precision and no branch either, and under -use_fast_math they are the same
instructions, but for .ftz, which changes subnormal numbers alone, and no map meets one. Reads their PTX.

    ptx_test.py MAPS nvcc              compile fractal/ptx_kernels.cu (MAPS: fractal) or
                                       triangle/ptx_triangle.cu (MAPS: triangle) with nvcc
    ptx_test.py MAPS nvrtc COMMAND     with NVRTC, through the command nvrtc_compile

The controls at the end of the sources must break each rule, so that a change of the compiler's
output cannot make this test blind.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "kat"))
from generate import CATALOGUE, CATALOGUE3
INCLUDE = os.path.join(HERE, "..", "include")
ARCHS = ["75", "90"]
RULES = {
    "div": re.compile(r"\bdiv\."),
    "rem": re.compile(r"\brem\."),
    "load": re.compile(r"\bldu?\.(?!param\b)\S*"),  # only kernel arguments may be loaded
    "local": re.compile(r"\.local\b"),
    "call": re.compile(r"\bcall\b"),  # nothing hides in a function
}
RULES_OF_TRIANGLES = {**RULES, "double": re.compile(r"\.f64\b"), "branch": re.compile(r"\bbra\b")}
MAPS = {"fractal": ("fractal/ptx_kernels.cu", RULES,
                    13 * len(CATALOGUE + CATALOGUE3) + 9 + 6 * 11 + 6),  # 9 hashes, 6 turned, others
        "triangle": ("triangle/ptx_triangle.cu", RULES_OF_TRIANGLES, 21)}
BRANCHES = {"utm", "utm_blocks"}  # the conditionals that repair UTM are part of it


def compile_ptx(mode, source, arch, *flags):
    if mode == "nvcc":
        nvcc = shutil.which("nvcc")
        if not nvcc:
            print("SKIP: no nvcc")
            sys.exit(77)
        command = [nvcc, "-std=c++17", "-ptx", f"-arch=sm_{arch}", *flags, "-I", INCLUDE, source,
                   "-o", "-"]
    else:
        command = [sys.argv[3], source, f"--include-path={INCLUDE}",
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


def instructions(body):
    """How many PTX instructions, without those that read arguments, store and return."""
    lines = [line.strip() for line in body.splitlines()]
    return sum(line.endswith(";") and not re.match(r"\.|ld\.param|cvta|st\.|ret", line)
               for line in lines)


def check(maps, mode, arch):
    source, rules, count = MAPS[maps]
    source = os.path.join(HERE, source)
    kernels = entries(compile_ptx(mode, source, arch))
    fast = dict(entries(compile_ptx(mode, source, arch, "-use_fast_math"))
                if maps == "triangle" else kernels)
    errors, counts, controls = [], {}, set()
    for name, body in kernels:
        if fast[name].replace(".ftz", "") != body.replace(".ftz", ""):
            errors.append(f"{name}: other instructions with -use_fast_math")
        broken = {rule: pattern.search(body) for rule, pattern in rules.items()}
        broken = {rule: match.group(0) for rule, match in broken.items() if match}
        kind, rest = name.split("_", 1)
        if kind == "control":
            controls.add(rest)
            if rest not in broken:
                errors.append(f"{name}: the rule sees nothing where it must")
            continue
        counts[name] = instructions(body)
        if rest in BRANCHES:
            broken.pop("branch", None)
        errors += [f"{name}: {what}" for what in broken.values()]
    if len(counts) != count or controls != set(rules):
        errors.append(f"{len(counts)} maps and controls {sorted(controls)}: some are missing")
    print(f"{mode} sm_{arch}: {len(counts)} maps, {len(errors)} errors; instructions of PTX: " +
          ", ".join(f"{name} {count}" for name, count in counts.items()))
    for error in errors:
        print(f"  {error}")
    return not errors


def main():
    maps, mode = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
    if maps not in MAPS or len(sys.argv) != {"nvcc": 3, "nvrtc": 4}.get(mode):
        sys.exit(__doc__)
    sys.exit(0 if all([check(maps, mode, arch) for arch in ARCHS]) else 1)


main()
