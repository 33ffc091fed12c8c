#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""abi_test.py LIBRARY: the library exports the functions of library.h, each with a version, and no
other name; library.h compiles as C99 and as C++11 alone."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get("TMAP_ROOT") or \
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wstrict-prototypes"]


def main():
    if not shutil.which("nm"):
        print("SKIP: no nm")
        return 77
    with open(os.path.join(ROOT, "include/threadmap/library.h"), encoding="utf-8") as file:
        text = re.sub(r"//.*", "", file.read())
    want = set(re.findall(r"^(?:int|tmap_u64|const char \*)\s*(threadmap_\w+)\(", text, re.M))
    said = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True,
                          capture_output=True, text=True).stdout
    got = {line.split()[-1] for line in said.splitlines()} - {"THREADMAP_0"}
    problems = [f"not exported: {name}" for name in sorted(want)
                if not {f"{name}@@THREADMAP_0", name} & got]
    problems += [f"exported: {name}" for name in sorted(got)
                 if name.removesuffix("@@THREADMAP_0") not in want]
    with tempfile.TemporaryDirectory() as folder:
        for ending, compiler, standard in ("c", "CC", "c99"), ("cpp", "CXX", "c++11"):
            source = os.path.join(folder, f"alone.{ending}")
            with open(source, "w", encoding="utf-8") as file:
                file.write("#include <threadmap/library.h>\nint main(void) { return 0; }\n")
            command = [*(os.environ.get(compiler) or ("cc" if ending == "c" else "c++")).split(),
                       f"-std={standard}", *WARNINGS[:4 if ending == "cpp" else 5], "-I",
                       os.path.join(ROOT, "include"), "-c", source, "-o", source + ".o"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            problems += [f"{standard}: {done.stderr}"] if done.returncode else []
    print("\n".join(problems) or f"{len(want)} functions: ok")
    return 1 if problems or len(want) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
