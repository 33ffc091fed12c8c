#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module: its plans and fractals are those of the C functions, byte for byte; errors are
errors; a wheel holds the headers and the module, where `build` and `hatchling` are at hand."""
import functools
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.environ.get("TMAP_ROOT") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of each kind of plan: how many the program makes, and the bytes of no member.
MADE = {"each": (5, [(12, 16)]), "pairs": (7, [(116, 120)]),
        "frames": (1, [(36, 40), (68, 72), (108, 112)]), "triples": (2, [(92, 96)]), "near": (5, [])}
FACTS = (90, 132, 2048, 32, 65536, 65536, 233472, 232448, 1024, 2, 1, 40, 0, 1024, 90)
PROGRAM = """
#include <stdio.h>
#include <string.h>
#include <threadmap/fractal.h>
#include <threadmap/triangle.h>
#include <threadmap/triangle/near_nearest.h>
#include <threadmap/triangle/near_rows.h>
#include <threadmap/triangle/near_select.h>
static tmap_share part(tmap_u64 items) { return tmap_share_of(items, 1, 3); }
int main(void) {
    const tmap_facts facts = {{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d}, {%d, %d, %d, %d}};
    const tmap_pairs_store_shape stored = {5000, 3, 8, TMAP_PAIRS_CONDENSED, 8};
    const tmap_pairs_store_shape bits = {700, 9, 4, TMAP_PAIRS_SQUARE, TMAP_PAIRS_BIT};
    const tmap_pairs_store_shape hollow = {70, 2, 4, TMAP_PAIRS_LOWER + TMAP_PAIRS_HOLLOW, 4};
    const tmap_near_shape set = {100000, 3, 4}, doubles = {900, 2, 8};
    tmap_each_plan cells[5];
    tmap_pairs_plan pairs[7];
    tmap_pairs_frames_plan frames[1];
    tmap_triples_plan triples[2];
    tmap_near_plan near[5];
    memset(cells, 0, sizeof cells), memset(pairs, 0, sizeof pairs);
    if (tmap_each_plan_of(TMAP_EACH_VISIT, tmap_fractal_gasket(), 12, 4096, &facts, cells) ||
        tmap_each_plan_of(TMAP_EACH_UPDATE, tmap_fractal_carpet(), 7, 0, &facts, cells + 1) ||
        tmap_each_plan_of(TMAP_EACH_FOLD, tmap_fractal_vicsek(), 6, 0, &facts, cells + 2) ||
        tmap_each_plan_of(TMAP_EACH_STENCIL, tmap_fractal_gasket(), 9, 0, &facts, cells + 3) ||
        tmap_each_plan_of(TMAP_EACH_VISIT, tmap_fractal_gasket(), 12, 0, &facts, cells + 4) ||
        tmap_each_plan_share_of(cells + 4, part(cells[4].items).first, part(cells[4].items).count) ||
        tmap_pairs_plan_of(3001, 3, 4, &facts, pairs) ||
        tmap_pairs_rows_plan_of(70000, 2, 8, 16, &facts, pairs + 1) ||
        tmap_pairs_store_plan_of(stored, pairs + 2) ||
        tmap_pairs_store_sums_plan_of(bits, pairs + 3) ||
        tmap_pairs_plan_others_of(pairs + 3, 99) || tmap_pairs_store_plan_of(hollow, pairs + 4) ||
        tmap_pairs_plan_of(301, 5, 8, &facts, pairs + 5) ||
        tmap_pairs_plan_sets_of(pairs + 5, 7) || tmap_pairs_plan_of(301, 5, 8, &facts, pairs + 6) ||
        tmap_pairs_plan_share_of(pairs + 6, part(pairs[6].items).first, part(pairs[6].items).count) ||
        tmap_pairs_frames_plan_of(200, 4096, 1, 8, &facts, frames) ||
        tmap_triples_plan_of(500, 3, 4, &facts, triples) ||
        tmap_triples_plan_of(50, 2, 8, &facts, triples + 1) ||
        tmap_triples_plan_share_of(triples + 1, part(triples[1].items).first,
                                   part(triples[1].items).count) ||
        tmap_near_plan_of(set, &facts, near) || tmap_near_plan_of(doubles, &facts, near + 1) ||
        tmap_near_plan_others_of(near + 1, 3000) ||
        tmap_near_rows_plan_of(set, 12, &facts, near + 2) ||
        tmap_near_nearest_plan_of(doubles, &facts, near + 3) ||
        tmap_near_plan_of(set, &facts, near + 4) ||
        tmap_near_plan_share_of(near + 4, part(near[4].items).first, part(near[4].items).count))
        return 1;
    printf("%%llu %%llu %%llu %%llu %%llu %%llu ", tmap_pairs_frames_bytes(frames),
           triples[0].workspace, tmap_near_fold_bytes(near + 1, 8), tmap_near_select_bytes(near),
           tmap_near_fold_bytes(near + 4, 8), tmap_each_fold_bytes(cells + 2, 8));
    printf("%%llu %%llu %%llu %%llu ",
           tmap_pairs_fold_bytes(pairs, 8), tmap_pairs_rows_bytes(pairs + 1, 16),
           tmap_pairs_select_bytes(pairs, TMAP_PAIRS_ANY_ORDER),
           tmap_pairs_select_bytes(pairs, TMAP_PAIRS_FIXED_ORDER));
    for (int i = 0; i < TMAP_FRACTAL_COUNT; ++i) {
        const tmap_nbb f = tmap_fractal_at(i);
        printf("%%s:%%u,%%u,%%u,%%llu,%%llu ", tmap_fractal_name(i), f.k, f.sx, f.sy, f.tau_x, f.tau_y);
    }
#define HEX(some) \\
    for (size_t i = 0; i < sizeof some; ++i) printf("%%02x", ((unsigned char *)some)[i]); \\
    printf(" ")
    HEX(cells);
    HEX(pairs);
    HEX(frames);
    HEX(triples);
    HEX(near);
    return 0;
}
"""


def plans(threadmap):
    """What the C functions make of these facts, and what the module makes of them."""
    kernel = threadmap.Kernel.__new__(threadmap.Kernel)  # without a GPU
    kernel.facts = threadmap._Facts(*FACTS)
    near = functools.partial(kernel.near, 100000, 3)
    made = {"each": [kernel.each(threadmap.gasket, 12, 4096), kernel.update(threadmap.carpet, 7),
                     kernel.fold(threadmap.vicsek, 6), kernel.stencil(threadmap.gasket, 9),
                     kernel.each(threadmap.gasket, 12).share(0, 2).share(1, 3)],
            "pairs": [kernel.pairs(3001, 3), kernel.rows(70000, 2, 16, size=8),
                      kernel.store(5000, 3, value=8, size=8),
                      kernel.store_sums(700, 9, threadmap.SQUARE, 0).others(99),
                      kernel.store(70, 2, threadmap.LOWER + threadmap.HOLLOW),
                      kernel.pairs(301, 5, 8).sets(7), kernel.pairs(301, 5, 8).share(1, 3)],
            "frames": [kernel.frames(200, 4096, 1, 8)],
            "triples": [kernel.triples(500, 3), kernel.triples(50, 2, 8).share(1, 3)],
            "near": [near(), kernel.near(900, 2, 8).others(3000), kernel.near_rows(100000, 3, 12),
                     kernel.near_nearest(900, 2, 8), near().share(1, 3)]}
    got = [made["frames"][0].workspace(), made["triples"][0].workspace(),
           made["near"][1].workspace(8), made["near"][0].select_workspace(),
           made["near"][4].workspace(8), made["each"][2].workspace(8), made["pairs"][0].workspace(8),
           made["pairs"][1].workspace(16)]
    got += [made["pairs"][0].select_workspace(order)
            for order in (threadmap.PAIRS_ANY_ORDER, threadmap.PAIRS_FIXED_ORDER)]
    got += [f"{name}:{','.join(map(str, getattr(threadmap, name).numbers))}"
            for name in threadmap.FRACTALS]
    got += ["".join(plan.data.raw.hex() for plan in some) for some in made.values()]
    return " ".join(map(str, got))


def without_padding(text):
    """The same with 0 in the padding of each plan."""
    words = text.split()
    for word, (count, padding) in enumerate(MADE.values(), len(words) - len(MADE)):
        data = bytearray.fromhex(words[word])
        size = len(data) // count
        for plan in range(count):
            for begin, end in padding:
                data[plan * size + begin:plan * size + end] = bytes(end - begin)
        words[word] = data.hex()
    return words


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
           "another order": lambda: pairs.select_workspace(7),
           "sets of near points": lambda: kernel.near(9, 3).sets(2),
           "others of a fractal": lambda: cells.others(2),
           "others of a condensed matrix": lambda: kernel.store(9, 3).others(2),
           "part 3 of 3": lambda: pairs.share(3, 3),
           "a share of frames": lambda: kernel.frames(9, 9, 0, 4).share(0, 2),
           "bits in a condensed matrix": lambda: kernel.store(9, 3, value=0),
           "layout 0": lambda: kernel.store(9, 3, 0),
           "the workspace of a matrix": lambda: kernel.store(9, 3).workspace(4),
           "a list of rows": lambda: kernel.near_rows(9, 3, 4).select_workspace()}
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
