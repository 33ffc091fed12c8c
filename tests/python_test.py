#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module: its plans and fractals are those of the C functions, byte for byte; errors are
errors; a wheel holds the headers and the module, where `build` and `hatchling` are at hand."""
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
    if (tmap_each_plan_of(TMAP_EACH_VISIT, tmap_fractal_gasket(), 12, 4096, &facts, cells) ||
        tmap_each_plan_of(TMAP_EACH_UPDATE, tmap_fractal_carpet(), 7, 0, &facts, cells + 1) ||
        tmap_each_plan_of(TMAP_EACH_FOLD, tmap_fractal_vicsek(), 6, 0, &facts, cells + 2) ||
        tmap_each_plan_of(TMAP_EACH_STENCIL, tmap_fractal_gasket(), 9, 0, &facts, cells + 3) ||
        tmap_pairs_plan_of(3001, 3, 4, &facts, pairs) ||
        tmap_pairs_rows_plan_of(70000, 2, 8, 16, &facts, pairs + 1)) return 1;
    printf("%%llu %%llu %%llu %%llu %%llu ", tmap_each_fold_bytes(cells + 2, 8),
           tmap_pairs_fold_bytes(pairs, 8), tmap_pairs_rows_bytes(pairs + 1, 16),
           tmap_pairs_select_bytes(pairs, TMAP_PAIRS_ANY_ORDER),
           tmap_pairs_select_bytes(pairs, TMAP_PAIRS_FIXED_ORDER));
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) {
        const tmap_nbb f = tmap_fractal_at(i);
        printf("%%s:%%u,%%u,%%u,%%llu,%%llu ", tmap_fractal_name(i), f.k, f.sx, f.sy, f.tau_x, f.tau_y);
    }
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
    got = [str(plan.workspace(size)) for plan, size in zip((made[2], made[4], made[5]), (8, 8, 16))]
    got += [str(made[4].select_workspace(order))
            for order in (threadmap.PAIRS_ANY_ORDER, threadmap.PAIRS_FIXED_ORDER)]
    got += [f"{name}:{','.join(map(str, getattr(threadmap, name).numbers))}"
            for name in threadmap.FRACTALS]
    cells, pairs = ("".join(plan.data.raw.hex() for plan in some) for some in (made[:4], made[4:]))
    return f"{' '.join(got)} {cells} {pairs}"


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
    cells, pairs = kernel.stencil(threadmap.gasket, 9), kernel.pairs(3001, 3)
    bad = {"a level too high": lambda: kernel.each(threadmap.gasket, 99),
           "a level of 2^32 + 3": lambda: kernel.each(threadmap.gasket, 2 ** 32 + 3),
           "a pitch of -1": lambda: kernel.each(threadmap.gasket, 3, -1),
           "2^32 + 10 points": lambda: kernel.pairs(2 ** 32 + 10, 3),
           "no replica": lambda: threadmap.Fractal("..", ".."),
           "no row": threadmap.Fractal,
           "an empty row": lambda: threadmap.Fractal(""),
           "a row of 20": lambda: threadmap.Fractal("#" * 20),
           "17 rows": lambda: threadmap.Fractal(*17 * "#"),
           "17 replicas": lambda: threadmap.Fractal(*5 * ["####"]),
           "unequal rows": lambda: threadmap.Fractal("##", "#"),
           "another character": lambda: threadmap.Fractal("#x"),
           "no coordinates": lambda: kernel.pairs(10, 0),
           "an accumulator of 6 bytes": lambda: kernel.rows(10, 3, 6),
           "the workspace of a stencil": lambda: cells.workspace(8),
           "the list of a stencil": lambda: cells.select_workspace(threadmap.PAIRS_ANY_ORDER),
           "another order": lambda: pairs.select_workspace(7)}
    for what, call in bad.items():
        try:
            call()
        except threadmap.Error:
            continue
        except Exception as error:
            yield f"{what}: {error!r}"
        else:
            yield f"{what} is taken"


def compilers(threadmap, folder):
    """Without a C compiler, and with a cache that cannot be written, the module says so."""
    before, loaded, threadmap._library.loaded = dict(os.environ), threadmap._library.loaded, None
    for cc, cache in (("no-such-compiler", "empty"), ("false", "empty"), ("cc", "plans.c")):  # a file
        os.environ |= {"CC": cc, "XDG_CACHE_HOME": os.path.join(folder, cache)}
        try:
            threadmap._library()
            yield f"CC={cc}, cache {cache}: makes plans"
        except threadmap.Error:
            pass
        except Exception as error:
            yield f"CC={cc}, cache {cache}: {error!r}"
    os.environ.clear()
    os.environ |= before
    threadmap._library.loaded = loaded


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
        problems += compilers(threadmap, folder)
        problems += wheel(threadmap, os.path.join(folder, "wheel"))
    print("\n".join(problems) or "plans, refusals and package: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
