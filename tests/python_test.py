#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module: its plans are those of the C functions, byte for byte; errors are errors; a
wheel holds the headers and the module, where `build` and `hatchling` are at hand."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.environ.get("TMAP_ROOT") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PADDING = {"each": (12, 16), "pairs": (116, 120)}  # bytes of no member
FACTS = (90, 132, 2048, 32, 65536, 65536, 233472, 232448, 1024, 2, 1, 40, 0, 128, 90)
PROGRAM = """
#include <stdio.h>
#include <string.h>
#include <threadmap/fractal.h>
#include <threadmap/triangle.h>
int main(void) {
    const tmap_facts facts = {{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d}, {%d, %d, %d, %d}};
    tmap_each_plan cells[4];
    tmap_pairs_plan pairs[2];
    memset(cells, 0, sizeof cells), memset(pairs, 0, sizeof pairs);
    if (tmap_each_plan_of(tmap_fractal_gasket(), 12, 4096, &facts, cells) ||
        tmap_each_update_plan_of(tmap_fractal_carpet(), 7, 0, &facts, cells + 1) ||
        tmap_each_fold_plan_of(tmap_fractal_vicsek(), 6, 0, &facts, cells + 2) ||
        tmap_each_stencil_plan_of(tmap_fractal_gasket(), 9, 0, &facts, cells + 3) ||
        tmap_pairs_plan_of(3001, 3, 4, &facts, pairs) ||
        tmap_pairs_rows_plan_of(70000, 2, 8, 16, &facts, pairs + 1)) return 1;
    printf("%%llu %%llu %%llu ", tmap_each_fold_bytes(cells + 2, 8),
           tmap_pairs_fold_bytes(pairs, 8), tmap_pairs_rows_bytes(pairs + 1, 16));
    for (size_t i = 0; i < sizeof cells; ++i) printf("%%02x", ((unsigned char *)cells)[i]);
    printf(" ");
    for (size_t i = 0; i < sizeof pairs; ++i) printf("%%02x", ((unsigned char *)pairs)[i]);
    return 0;
}
"""


def plans(threadmap):
    """What the C functions make of these facts, and what the module makes of them."""
    kernel = threadmap.Kernel.__new__(threadmap.Kernel)  # without a GPU
    kernel.facts = threadmap._Facts(*FACTS)
    made = [kernel.each(threadmap.gasket, 12, 4096), kernel.update(threadmap.carpet, 7),
            kernel.fold(threadmap.vicsek, 6), kernel.stencil(threadmap.gasket, 9),
            kernel.pairs(3001, 3), kernel.rows(70000, 2, 16, size=8)]
    got = " ".join(str(plan.workspace(size)) for plan, size in
                   zip((made[2], made[4], made[5]), (8, 8, 16)))
    cells, pairs = ("".join(plan.data.raw.hex() for plan in some) for some in (made[:4], made[4:]))
    return f"{got} {cells} {pairs}"


def without_padding(text):
    """The same with 0 in the padding of each plan."""
    *numbers, cells, pairs = text.split()
    for plans_of, count, (begin, end) in ((cells, 4, PADDING["each"]), (pairs, 2, PADDING["pairs"])):
        data, size = bytearray.fromhex(plans_of), len(plans_of) // 2 // count
        for plan in range(count):
            data[plan * size + begin:plan * size + end] = bytes(end - begin)
        numbers.append(data.hex())
    return numbers


def refusals(threadmap):
    kernel = threadmap.Kernel.__new__(threadmap.Kernel)
    kernel.facts = threadmap._Facts(*FACTS)
    bad = {"a level too high": lambda: kernel.each(threadmap.gasket, 99),
           "no replica": lambda: kernel.each(threadmap.Fractal("..", ".."), 3),
           "no coordinates": lambda: kernel.pairs(10, 0),
           "an accumulator of 6 bytes": lambda: kernel.rows(10, 3, 6)}
    for what, call in bad.items():
        try:
            call()
        except threadmap.Error:
            continue
        yield f"{what} is taken"


def wheel(threadmap, folder):
    if not all(map(importlib.util.find_spec, ("build", "hatchling"))):
        print("without build and hatchling: no wheel")
        return
    subprocess.run([sys.executable, "-m", "build", "-n", "--wheel", "-o", folder, ROOT], check=True,
                   stdout=subprocess.DEVNULL)
    path, = (os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".whl"))
    names = zipfile.ZipFile(path).namelist()
    for header in "core.h", "fractal/each.h", "papers/wmma.h":
        if f"threadmap/include/threadmap/{header}" not in names:
            yield f"the wheel has no {header}"
    if os.path.getsize(path) > 1_000_000 or threadmap.version() not in os.path.basename(path):
        yield f"{path}: {os.path.getsize(path)} bytes"


def main():
    sys.path.insert(0, os.path.join(ROOT, "python"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        import threadmap
        source, program = os.path.join(folder, "plans.c"), os.path.join(folder, "plans")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM % FACTS)
        subprocess.run([*(os.environ.get("CC") or "cc").split(), "-std=c11", "-I",
                        threadmap.include(), source, "-o", program], check=True)
        want = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        problems = [] if without_padding(plans(threadmap)) == without_padding(want) else ["plans differ from those of C"]
        problems += refusals(threadmap)
        problems += wheel(threadmap, os.path.join(folder, "wheel"))
    print("\n".join(problems) or "plans, refusals and package: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
