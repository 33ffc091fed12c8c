#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the figures of the papers, and makes the tables of documents, from results.

    plot.py [--results DIR] [--out DIR] [--format png|svg]   draws (needs matplotlib)
    plot.py --tables [--results DIR]                         prints all tables as Markdown
    plot.py --update [FILE...] [--results DIR]               refills the tables of documents

DIR of results is bench/results/h200, or the only folder in bench/results; --out is docs/img. In a
document, what stands between `<!-- table: NAME -->` and `<!-- /table -->` is replaced by the table
of that name, and likewise `<!-- picture: NAME -->` and `<!-- /picture -->`. What results lack is
left out of tables and pictures, and said. All tables stand in tables.md beside the results, some in
documents; --update without a file refills all of these. Exit status: 0, 1 (no matplotlib), 2 (bad input).
"""
import argparse
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOTHING = "Not measured yet."
DOCUMENTS = ("README.md", "docs/performance.md", "docs/notebook.md", "docs/papers.md",
             "docs/maps/molecules.md", "docs/maps/floods.md",
             "bench/results/h200/tables.md")

# The catalogue of catalogue.h: title, k, sx, sy.
FRACTALS = {
    "gasket": ("Sierpinski gasket", 3, 2, 2), "carpet": ("Sierpinski carpet", 8, 3, 3),
    "vicsek": ("Vicsek fractal", 5, 3, 3), "x": ("X-fractal", 5, 3, 3),
    "h": ("H-fractal", 7, 3, 3), "cantor": ("Cantor set", 2, 3, 1),
    "chandelier": ("Chandelier", 4, 3, 2), "candy": ("Candy", 12, 4, 4),
    "bottles": ("Empty bottles", 7, 3, 3),
}
WORKS = {"sw": "Single write (SW)", "rd": "Reduction (RD)", "ca": "Cellular automaton (CA)"}
DTYPES = {"sw": "i32", "rd": "i32", "ca": "u8"}  # of the paper's three tests
BASES = {"bb": "BB", "bb_walk": "BB walking", "list": "list"}
PLAIN = "lambda_linear"   # a kernel of one's own on the plain map
ENGINE = ("each", "update", "fold", "life", "stencil")
# What the engine is measured with: work, dtype, title.
TASKS = (("sw", "i32", "write, i32"), ("sw", "u8", "write, u8"), ("update", "f32", "update, f32"),
         ("rd", "i32", "sum, i32"), ("rd", "f32", "sum, f32"), ("rd", "u8", "sum, u8"),
         ("ca", "u8", "life, u8"), ("ca", "f32", "heat, f32"))
MAPS_ONLY = ("tile_shuffle", "tile_redux", "tile_ballot", "tile_mma")  # of the benchmark alone
TOP_SIDE = 65536          # the side up to which fractals are compared, as in the paper
RHOS = (1, 2, 4, 8, 16, 32)


# ---- results ------------------------------------------------------------------------------------

class Results:
    """The rows of one JSON file."""

    def __init__(self, data):
        self.meta, self.rows = data.get("meta", {}), data.get("rows", [])
        self.places = {}  # rows of a work, of a work and domain, of a work, domain and size
        for row in self.rows:
            work = row.get("work")
            if row.get("dtype", DTYPES.get(work)) != DTYPES.get(work, row.get("dtype")):
                continue  # not one of the paper's tests: the engine's alone
            key = row.get("work"), row.get("domain"), row.get("size")
            for length in (1, 2, 3):
                self.places.setdefault(key[:length], []).append(row)

    def at(self, *place):
        """The rows of a work; of a work and domain; of a work, domain and size."""
        return self.places.get(place, [])

    def domains(self, work):
        found = {row.get("domain") for row in self.at(work)}
        return [name for name in FRACTALS if name in found]

    def sizes(self, work, domain):
        return sorted({row["size"] for row in self.at(work, domain)})

    def variants(self, work, domain=None):
        """In order of appearance."""
        return list(dict.fromkeys(row["variant"] for row in
                                  (self.at(work, domain) if domain else self.at(work))))

    def best(self, work, domain, size, variants, rho=None):
        """The fastest row of these variants (with this rho), or None."""
        rows = [row for row in self.at(work, domain, size)
                if row["variant"] in variants and rho in (None, row.get("rho"))]
        return min(rows, key=lambda row: row["ms"], default=None)

    def forms(self, work):
        """The forms of lambda, the engine's among them."""
        return [v for v in self.variants(work) if v not in BASES and v not in MAPS_ONLY]

    def best_form(self, work, domain, size):
        """What a user of the engine gets; without one, the best form."""
        return self.best(work, domain, size, ENGINE) or \
            self.best(work, domain, size, self.forms(work))

    def task(self, work, dtype, domain, size):
        """The engine's row of a task, or None."""
        rows = [row for row in self.rows if row.get("work") == work and row.get("dtype") == dtype
                and row.get("domain") == domain and row.get("size") == size
                and row.get("variant") in ENGINE]
        return min(rows, key=lambda row: row["ms"], default=None)

    def top(self, work, domain):
        """The largest level that the bounding box could do, of a side of at most TOP_SIDE."""
        sizes = [size for size in self.sizes(work, domain) if side(domain, size) <= TOP_SIDE
                 and (work == "dummy" or (self.best(work, domain, size, ("bb", "bb_walk"))
                                          and self.best_form(work, domain, size)))]
        return max(sizes, default=None)

    def where(self):
        m = self.meta
        commit = str(m.get("commit", "unknown"))[:12]
        return f"{m.get('gpu', 'unknown GPU')}, commit {commit}"


def side(domain, size):
    return FRACTALS[domain][2]**size


def ratio(slow, fast):
    """How many times faster `fast` is, or None."""
    return slow["ms"] / fast["ms"] if slow and fast and fast["ms"] > 0 else None


def n_0(results, work, domain):
    """(n_0, largest n): the smallest measured n from which on the engine is faster than the best
    bounding box at every larger measured n. n_0 is None where the largest n is not."""
    found = largest = None
    for size in reversed(results.sizes(work, domain)):
        gain = ratio(results.best(work, domain, size, ("bb", "bb_walk")),
                     results.best_form(work, domain, size))
        if gain is None:
            continue
        largest = largest or side(domain, size)
        if gain <= 1:
            break
        found = side(domain, size)
    return found, largest


def load(folder):
    """{bench: Results} of a folder."""
    found = {}
    for name in ("fractal", "fig11", "block", "compact", "triangle", "pairs", "drmsd", "flood", "ask"):
        path = os.path.join(folder, name + ".json") if folder else ""
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                found[name] = Results(json.load(file))
    return found


def default_results():
    base = os.path.join(ROOT, "bench", "results")
    folders = sorted(os.listdir(base)) if os.path.isdir(base) else []
    if "h200" in folders:
        return os.path.join(base, "h200")
    return os.path.join(base, folders[0]) if len(folders) == 1 else None


# ---- theory: equations 10 to 13 of the paper ----------------------------------------------------

def space_improvement(domain, n):
    """Threads of the bounding box over cells: n^2 / n^H for a square, here for any sx and sy."""
    _, k, sx, sy = FRACTALS[domain]
    return (sx * sy / k)**(math.log(n) / math.log(sx))


def theory_speedup(domain, n):
    """Equation 10: the same, over a map that costs log2 log2 n; n > 2."""
    return space_improvement(domain, n) / math.log2(math.log2(n))


def theory_n_0(domain):
    """Where equation 10 begins to grow: its derivative is 0 at a * ln n * ln(log2 n) = 1, for an
    improvement of n^a."""
    _, k, sx, sy = FRACTALS[domain]
    a = math.log(sx * sy / k) / math.log(sx)
    low, high = 2.0, 1e9
    for _ in range(200):
        n = math.sqrt(low * high)
        low, high = (low, n) if a * math.log(n) * math.log(math.log2(n)) > 1 else (n, high)
    return high


# ---- tables -------------------------------------------------------------------------------------

def sig(value, digits=3):
    """A number with so many significant digits, never with an exponent; - for None."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(decimals, 0)}f}"


def ms(row):
    return sig(row["ms"]) if row else "-"


def percent(row):
    """The percentage of the limit of a row."""
    value = row.get("limit_pct") if row else None
    return "-" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def bold(text):
    return text if text == "-" else f"**{text}**"


def memory(size):
    if not size:
        return "-"
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= scale:
            return f"{sig(size / scale)} {unit}"
    return f"{size:.0f} B"


def code(name):
    return f"`{name}`"


def table(header, rows):
    """Markdown; the first column is text, so are those whose header ends with a space."""
    if not rows:
        return NOTHING
    marks = [":---" if i == 0 or title.endswith(" ") else "---:" for i, title in enumerate(header)]
    lines = [[title.strip() for title in header], marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def captioned(caption, header, rows):
    """A table with a line above it; nothing at all where there are no rows."""
    return f"{caption}\n\n{table(header, rows)}" if rows else ""


def table_meta(data):
    rows = []
    for name, results in data.items():
        m = results.meta
        rows.append([code(name), m.get("gpu", "-"), str(m.get("commit", "-"))[:12],
                     m.get("date", "-"), m.get("driver", "-"), m.get("cuda", "-"),
                     str(m.get("sm_clock_mhz", "-")),
                     *(sig(m.get(key)) for key in ("copy_tbs", "fill_tbs", "read_tbs"))])
    return table(["bench", "GPU ", "commit ", "date ", "driver ", "nvcc ", "SM clock, MHz",
                  "copy, TB/s", "fill, TB/s", "read, TB/s"], rows)


def gains(results, work, domain, size, row):
    """Times faster than BB, BB walking and the list."""
    return [ratio(results.best(work, domain, size, (base,)), row) for base in BASES]


def table_summary(data):
    """The gasket at its top level: each task by the engine."""
    results, rows = data.get("fractal"), []
    size = results.top("sw", "gasket") if results else None
    for work, dtype, title in TASKS if size is not None else ():
        row = results.task(work, dtype, "gasket", size)
        if row:
            others = (*BASES, PLAIN) if DTYPES.get(work) == dtype else ()
            found = {v: results.best(work, "gasket", size, (v,)) for v in others}
            rows.append([title, code(row["variant"]), bold(ms(row)), percent(row),
                         *(sig(ratio(found.get(v), row)) for v in (*BASES, PLAIN))])
    return table(["work", "engine ", "ms", "% of limit", "× BB", "× BB walking", "× list",
                  "× plain map"], rows)


def table_engine(data):
    """All fractals at their top level: each task by the engine, with its percentage of the limit."""
    results, rows = data.get("fractal"), []
    for domain in results.domains("sw") if results else ():
        size = results.top("sw", domain)
        found = [results.task(work, dtype, domain, size) for work, dtype, _ in TASKS]
        if size is not None and any(found):
            rows.append([FRACTALS[domain][0], str(size), str(side(domain, size)),
                         *(f"{ms(row)} ({percent(row)})" if row else "-" for row in found)])
    return table(["fractal", "r", "n", *(title for _, _, title in TASKS)], rows)


def table_gasket(work):
    """Every level of the gasket: each variant at its best rho."""
    def make(data):
        results = data.get("fractal")
        if not results:
            return NOTHING
        names = results.variants(work, "gasket")
        names = [v for v in BASES if v in names] + [v for v in names if v not in BASES]
        rows = []
        for size in results.sizes(work, "gasket"):
            best = results.best_form(work, "gasket", size)
            cells = []
            for name in names:
                row = results.best(work, "gasket", size, (name,))
                cells.append(bold(ms(row)) if row and row is best else ms(row))
            rows.append([str(size), str(side("gasket", size)), *cells,
                         *(sig(g) for g in gains(results, work, "gasket", size, best)),
                         percent(best)])
        return table(["r", "n", *(BASES.get(v, code(v)) for v in names),
                      "× BB", "× BB walking", "× list", "% of limit"], rows)
    return make


def table_rho(data):
    """The gasket at its top level, each block size; lambda with a block for each tile."""
    results, rows = data.get("fractal"), []
    for work in WORKS if results else ():
        size = results.top(work, "gasket")
        for rho in RHOS if size is not None else ():
            bb, walk = (results.best(work, "gasket", size, (v,), rho=rho)
                        for v in ("bb", "bb_walk"))
            form = results.best(work, "gasket", size, block_forms(results, work), rho=rho)
            if bb or walk or form:
                rows.append([work.upper(), str(size), str(rho), ms(bb), ms(walk), ms(form),
                             code(form["variant"]) if form else "-", sig(ratio(bb, form)),
                             sig(ratio(walk, form))])
    return table(["work", "r", "rho", "BB", "BB walking", "lambda", "form ", "× BB",
                  "× BB walking"], rows)


def table_fractals(work):
    """All fractals at their top level."""
    def make(data):
        results, rows = data.get("fractal"), []
        for domain in results.domains(work) if results else ():
            size = results.top(work, domain)
            if size is None:
                continue
            bases = [results.best(work, domain, size, (base,)) for base in (*BASES, PLAIN)]
            best = results.best_form(work, domain, size)
            rows.append([FRACTALS[domain][0], str(size), str(side(domain, size)),
                         f"{FRACTALS[domain][1]**size:,}", *(ms(row) for row in bases),
                         code(best["variant"]), bold(ms(best)),
                         *(sig(ratio(row, best)) for row in bases), percent(best),
                         memory(bases[2].get("extra_bytes")) if bases[2] else "-"])
        return table(["fractal", "r", "n", "cells", "BB", "BB walking", "list", "plain map",
                      "engine ", "ms", "× BB", "× BB walking", "× list", "× plain map",
                      "% of limit", "list's memory"], rows)
    return make


def table_n_0(data):
    results, rows = data.get("fractal"), []
    domains = {d for work in WORKS for d in results.domains(work)} if results else ()
    for domain in (name for name in FRACTALS if name in domains):
        title, k, sx, _ = FRACTALS[domain]
        found = [n_0(results, work, domain) for work in WORKS]
        rows.append([title, sig(math.log(k) / math.log(sx), 4), sig(theory_n_0(domain)),
                     *("-" if not last else f"none up to {last}" if not n else str(n)
                       for n, last in found),
                     str(max(last or 0 for _, last in found))])
    return table(["fractal", "H", "theory", "SW", "RD", "CA", "largest n"], rows)


def table_dummy(data):
    """The map alone, each form; levels of blocks, of which the highest three of each fractal."""
    results = data.get("fractal")
    header, rows, places = ["form"], [], []
    for domain in results.domains("dummy") if results else ():
        for size in results.sizes("dummy", domain)[-3:]:
            times = results.at("dummy", domain, size)[0].get("times", 1)
            places.append((domain, size))
            header += [f"{domain}, {size} levels" + (f", {times} times" if times > 1 else "")
                       + ": ms", "× shuffle"]
    for form in results.variants("dummy") if results else ():
        line = [code(form)]
        for domain, size in places:
            base, row = (results.best("dummy", domain, size, (v,)) for v in ("shuffle", form))
            line += [ms(row), sig(ratio(base, row))]
        rows.append(line)
    return table(header, rows)


def triangle_groups(results):
    """{(work, d): rows}: runs of other dimension are other work."""
    groups = {}
    for row in results.rows:
        groups.setdefault((row["work"], row.get("d")), []).append(row)
    return groups


def group_title(key):
    return key[0] + (f", d = {key[1]}" if key[1] is not None else "")


def table_triangle(data):
    """Each work at its largest n."""
    rows = []
    for key, group in triangle_groups(data["triangle"]).items() if "triangle" in data else ():
        n = max(row["size"] for row in group)
        best = {}
        for row in (row for row in group if row["size"] == n):
            if row["variant"] not in best or row["ms"] < best[row["variant"]]["ms"]:
                best[row["variant"]] = row
        for name, row in best.items():
            rows.append([group_title(key), str(n), code(name), str(row.get("rho", "-")), ms(row),
                         sig(ratio(best.get("bb"), row)), percent(row)])
    return table(["work", "n", "map ", "rho", "ms", "× BB", "% of limit"], rows)


def largest(rows, keys):
    """Of rows that differ in their size alone, the largest one."""
    best = {}
    for row in rows:
        key = tuple(row.get(name) for name in keys)
        if key not in best or row["size"] > best[key]["size"]:
            best[key] = row
    return list(best.values())


def table_pdist(data):
    """The library's distances, each at its largest n."""
    found = data["triangle"].at("pdist") if "triangle" in data else []
    rows = largest(found, ("metric", "products", "d", "variant", "dtype"))
    return table(["metric ", "coordinates", "output ", "type ", "n", "ms", "% of limit"],
                 [[row.get("metric", "-") + (", by products" if row.get("products") else ""),
                   str(row.get("d", "-")), code(row["variant"]), row.get("dtype", "-"),
                   str(row["size"]), ms(row), percent(row)] for row in rows])


def table_pairs(data):
    """Work on all pairs at the largest n, beside a thread for each pair or, of rows, n x n tiles."""
    found = data["pairs"].at("pairs") if "pairs" in data else []
    found = [row for row in found if row.get("radius", 0.0968) == 0.0968]
    rows = largest(found, ("of", "variant", "order", "copies"))
    rivals = {row["of"]: row for row in rows if row["variant"] in ("thread_a_pair", "rows_nxn")}
    rows = [row for row in rows if row is not rivals.get(row["of"]) and row.get("copies", 1) == 1]
    return table(["work ", "n", "d", "ms", "10^12 pairs/s", "% of limit", "× the other form"],
                 [[code(row["variant"]) + (f", {row['order']} order" if "order" in row else ""),
                   str(row["size"]), str(row["d"]), ms(row), sig(row["tpairs"]), percent(row),
                   sig(ratio(rivals.get(row["of"]), row))] for row in rows])


def table_block(data):
    """The three mappings inside a block, and the tiles that a block takes in turn."""
    rows = [[f"{row['domain']}, r = {row['size']}", str(row["rho"]), code(row["variant"]),
             str(row["tiles_per_block"]), sig(row["useful"]), ms(row), percent(row)]
            for row in (data["block"].at("sw") if "block" in data else ())]
    return table(["fractal", "rho", "mapping ", "tiles a block", "useful threads", "ms",
                  "% of limit"], rows)


def table_reduce(data):
    """Sums over a block."""
    rows = [[row["dtype"], str(row["size"]), code(row["variant"]), sig(row["ns_per_sum_and_sm"]),
             sig(row["error_units"])]
            for row in (data["block"].at("reduce") if "block" in data else ())]
    return table(["numbers", "threads", "form ", "ns a sum", "error, 2^-24"], rows)


# ---- tables of dRMSD ----------------------------------------------------------------------------

DRMSD_FORMS = {"naive_1d": "1D, from global memory", "shared_1d": "1D, by tiles",
               "triangle_2d": "2D, by tiles"}
DRMSD_ROOTS = {"sqrt": "as IEEE 754 rounds it", "reciprocal": "1 / rsqrt(x)",
               "rsqrt": "x rsqrt(x)", "approx": "`sqrt.approx`"}
DRMSD_OTHERS = {"pair": "the library", "thread_a_pair": "a thread for each pair",
                "host": "a loop on one core of the host"}


def drmsd_pairs(results, n=None, **more):
    """Rows of one pair of frames."""
    return [row for row in results.at("drmsd") if row["frames"] == 2 and n in (None, row["n"])
            and (row["variant"] in DRMSD_FORMS or row["variant"] in DRMSD_OTHERS)
            and all(row.get(key) == value for key, value in more.items())]


def drmsd_best(results, n, **more):
    return min(drmsd_pairs(results, n, **more), key=lambda row: row["ms"], default=None)


def drmsd_sizes(results):
    return sorted({row["n"] for row in drmsd_pairs(results)})


def table_drmsd(data):
    """One pair of frames at the largest n: every form and root at its best u."""
    results, rows = data.get("drmsd"), []
    n = max(drmsd_sizes(results), default=None) if results else None
    naive = drmsd_best(results, n, variant="naive_1d") if n else None
    found = [drmsd_best(results, n, variant=name) for name in DRMSD_OTHERS] if n else []
    found += [drmsd_best(results, n, variant=form, root=root)
              for form in DRMSD_FORMS for root in DRMSD_ROOTS] if n else []
    for row in (row for row in found if row):
        name = row["variant"]
        rows.append([DRMSD_FORMS.get(name) or DRMSD_OTHERS[name],
                     DRMSD_ROOTS.get(row.get("root"), "-"), str(row.get("u", "-")),
                     str(row.get("block", "-")), ms(row), sig(row["tpairs"]),
                     *(sig(row.get(key)) for key in ("instructions", "float_pct", "issue_pct",
                                                     "mufu_pct", "picojoules")),
                     sig(ratio(naive, row))])
    return table([f"n = {n}", "root ", "u", "block", "ms", "10^12 pairs/s", "instructions a pair",
                  "% floating point", "% of issue slots", "% of special functions", "pJ a pair",
                  "× best naive"], rows)


def table_molecules(data):
    """Frames and clusters by the library: works of many sizes in one table."""
    results, rows = data.get("drmsd"), []
    pick = {("pair", n, 2) for n in (4096, 32768, 100000, 131072)}
    pick |= {(name, 200, 4096)
             for name in ("frames", "matrix", "matrix_mma_half", "matrix_mma_split")}
    for row in results.rows if results else ():
        if (row["variant"], row.get("n"), row.get("frames")) in pick:
            rows.append([f"`{row['variant']}`", str(row["n"]), str(row["frames"]), ms(row),
                         f"{sig(row['tpairs'])} · 10^12 pairs/s",
                         sig(row["error"]) if "error" in row else "-"])
        if row["work"] == "cluster" and row["size"] == 32768 and row["variant"] != "read":
            rows.append([f"`{row['variant']}`, {row['data']}", "-", str(row["size"]), ms(row),
                         f"{row['clusters']} clusters", "0"])
    return table(["work", "n", "frames", "ms", "", "relative error"], rows)


def table_drmsd_u(data):
    """Forms by u, roots by sqrt.approx: 10^12 pairs a second against n."""
    results, rows = data.get("drmsd"), []
    sizes = drmsd_sizes(results) if results else []
    for form in DRMSD_FORMS:
        for u in (1, 2, 4, 8):
            found = [drmsd_best(results, n, variant=form, root="approx", u=u) for n in sizes]
            if any(found):
                rows.append([DRMSD_FORMS[form], str(u),
                             *(sig(row["tpairs"]) if row else "-" for row in found)])
    return table(["form", "u", *(f"n = {n}" for n in sizes)], rows)


def table_drmsd_claims(data):
    """What the slides say, beside what was measured here."""
    results, rows = data.get("drmsd"), []
    sizes = drmsd_sizes(results) if results else []
    if not sizes:
        return NOTHING
    n, few = sizes[-1], sizes[0]

    def best(**more):
        return drmsd_best(results, n, **more)

    def gain(slow, fast):
        found = ratio(slow, fast)
        return "-" if found is None else f"{sig(found)} times as fast"

    def share(key, row):
        return f"{row[key]:.0f}%" if row and key in row else "-"

    def fastest_u(size, form):
        row = drmsd_best(results, size, variant=form, root="approx")
        return f"u = {row['u']}" if row else "-"
    top, tiled = best(root="rsqrt"), {"variant": "triangle_2d"}
    plain = best(root="rsqrt", u=1, variant="shared_1d")
    rows += [
        ["ALUs in use", "95%", share("issue_pct", top)],
        ["of the instructions, floating point", "95%", share("float_pct", top)],
        ["the same before the outer loop is unrolled", "90%", share("float_pct", plain)],
        ["the best u, large n", "4 on Maxwell, 2 on Fermi", fastest_u(n, "triangle_2d")],
        [f"the best u, n = {few}", "u costs strong scaling", fastest_u(few, "triangle_2d")],
        ["x rsqrt(x) against 1 / rsqrt(x)", "faster on Fermi, the same on Maxwell",
         gain(best(root="reciprocal", **tiled), best(root="rsqrt", **tiled))],
        ["`sqrt.approx` against x rsqrt(x)", "-",
         gain(best(root="rsqrt", **tiled), best(root="approx", **tiled))],
        ["`sqrt.approx` against a root that IEEE 754 rounds", "-",
         gain(best(root="sqrt", **tiled), best(root="approx", **tiled))],
        ["tiles in shared memory against none, 1D", "naive works well",
         gain(best(variant="naive_1d"), best(variant="shared_1d"))],
        [f"2D against 1D, n = {few}", "better strong scaling",
         gain(drmsd_best(results, few, variant="shared_1d"),
              drmsd_best(results, few, variant="triangle_2d"))],
        [f"2D against 1D, n = {n}", "-", gain(best(variant="shared_1d"),
                                              best(variant="triangle_2d"))],
    ]
    host = [size for size in sizes if drmsd_best(results, size, variant="host")]
    if host:
        core, gpu = (drmsd_best(results, host[-1], variant=name) for name in ("host", "pair"))
        rows.append([f"one dRMSD against a CPU, n = {host[-1]}",
                     "62.7 times ClusCo on a Core i7-3820",
                     gain(core, gpu) + f" (one core of {core.get('cpu', 'the host')})"])
    return table([f"n = {n} where nothing else is said", "the slides ", "here "], rows)


# ---- the claims of the fractals' paper ----------------------------------------------------------

# The largest levels of the paper: RD and CA ended one earlier for want of memory.
PAPER_LEVELS = {"sw": 16, "rd": 15, "ca": 15}
# How a block finds its tile by shuffles: as published, and by blocks that walk.
PAPER_LAUNCHES = (("lambda_block", "a block for each tile"), ("lambda_shuffle", "blocks that walk"))
# Fig. 11 as the text tells it, times faster than by shuffles: variant, work -> Titan V, Titan RTX.
FIG11 = {
    (1, "sw"): ("-", "> 1"), (2, "sw"): ("up to 1.2", "up to 1.4"), (3, "sw"): ("< 1", "< 1"),
    (1, "rd"): ("< 1", "> 1 at ρ = 16"), (2, "rd"): ("up to 1.2", "up to 1.3"),
    (3, "rd"): ("< 1", "< 1"),
    (1, "ca"): ("< 1", "< 1"), (2, "ca"): ("< 1", "> 1"), (3, "ca"): ("< 1", "< 1"),
}


def box_row(results, work, size, rho, variant, **more):
    """The gasket's row of a launch of blocks of side rho, or None."""
    rows = [row for row in results.at(work, "gasket", size)
            if row["variant"] == variant and row.get("rho") == rho
            and all(row.get(key) == value for key, value in more.items())]
    return min(rows, key=lambda row: row["ms"], default=None)


def box_gains(results, work, size, form):
    """{rho: times faster than BB with the same rho}."""
    gains_of = {rho: ratio(box_row(results, work, size, rho, "bb"),
                           box_row(results, work, size, rho, form)) for rho in RHOS}
    return {rho: gain for rho, gain in gains_of.items() if gain}


def box_best(results, work, size, variant):
    """(rho, row) of the fastest."""
    rows = [(rho, box_row(results, work, size, rho, variant)) for rho in RHOS]
    return min(((rho, row) for rho, row in rows if row), key=lambda pair: pair[1]["ms"],
               default=(None, None))


def compared(value, least, most):
    return "agrees" if least <= value <= most else "less" if value < least else "more"


def box_n_0(results, work, form):
    """{rho: the smallest n from which on lambda is faster than BB with the same rho}."""
    found = {}
    for rho in RHOS:
        for size in reversed(results.sizes(work, "gasket")):
            gain = box_gains(results, work, size, form).get(rho)
            if gain is None:
                continue
            if gain <= 1:
                break
            found[rho] = side("gasket", size)
    return found


def claims_fig7(results, form, launch):
    """The rows of Fig. 7 for one way to launch lambda."""
    rows = []

    def add(what, work, size, paper, here, verdict):
        rows.append([f"{what}, {launch}", work.upper(), str(side("gasket", size)), paper, here,
                     verdict])
    for work, size in PAPER_LEVELS.items():
        gains_of = box_gains(results, work, size, form)
        if not gains_of:
            continue
        bb_rho, bb = box_best(results, work, size, "bb")
        rho, best = box_best(results, work, size, form)
        if 32 in gains_of:
            add("× BB, both with ρ = 32", work, size, "6 to 12", sig(gains_of[32]),
                compared(gains_of[32], 6, 12))
        most = max(gains_of, key=gains_of.get)
        add("× BB, the most with one ρ for both", work, size, "up to 75",
            f"{sig(gains_of[most])} (ρ = {most})", compared(gains_of[most], 0, 75))
        add("× BB, each with its best ρ", work, size, "up to 9", sig(ratio(bb, best)),
            compared(ratio(bb, best), 0, 9))
        add("best ρ of BB, of lambda", work, size, "32, 16", f"{bb_rho}, {rho}",
            "agrees" if (bb_rho, rho) == (32, 16) else "differs")
        starts = box_n_0(results, work, form)
        if starts:
            last = max(starts, key=starts.get)
            add("faster than BB with every ρ from n on", work, size, "512",
                f"{starts[last]} (ρ = {last})", "agrees" if starts[last] <= 512 else "differs")
    return rows


def claims_fig11(results):
    """The rows of Fig. 11: its variants by WMMA, and in exact integers, over shuffles, a block each."""
    rows = []
    for (form, work), (volta, turing) in FIG11.items():
        size = PAPER_LEVELS[work]
        for rho in (16, 32):
            base = box_row(results, work, size, rho, "lambda_block")
            half = ratio(base, box_row(results, work, size, rho, "wmma_fp16", form=form,
                                       tiles_per_block=1))
            exact = ratio(base, box_row(results, work, size, rho, f"mma{form}", tiles_per_block=1))
            if half:
                rows.append([f"× shuffles, variant {form}, ρ = {rho}", work.upper(),
                             str(side("gasket", size)), f"V {volta}, RTX {turing}",
                             f"{sig(half)}, in integers {sig(exact)}",
                             "faster" if half > 1 else "slower"])
    return rows


def claims_block(block):
    """Section 5, of which the paper measures one form: times of the others by that one's."""
    rows = []
    for work, tiles in ((work, tiles) for work in WORKS for tiles in (1, 16)):
        for size in block.sizes(work, "gasket")[-1:]:
            place = {"tiles_per_block": tiles}
            base = box_row(block, work, size, 16, "block_subbox", **place)
            others = [ratio(base, box_row(block, work, size, 16, name, **place))
                      for name in ("block_unroll", "block_table")]
            if all(others):
                many = "a block for each tile" if tiles == 1 else f"{tiles} tiles a block"
                rows.append([f"unrolling, table × sub-boxes, ρ = 16, {many}", work.upper(),
                             str(side("gasket", size)), "-",
                             ", ".join(sig(gain) for gain in others), "-"])
    return rows


def paper_results(data):
    """The run of the paper's launches alone, or that of everything."""
    return data.get("fig11") or data.get("fractal")


def table_fractal_claims(data):
    """What the paper says of the gasket, beside what was measured here."""
    results, rows = paper_results(data), []
    if results:
        for form, launch in PAPER_LAUNCHES:
            rows += claims_fig7(results, form, launch)
        rows += claims_fig11(results)
    if "block" in data:
        rows += claims_block(data["block"])
    return table(["gasket", "test ", "n", "the paper ", "here ", "compared "], rows)


# ---- tables of compact storage ------------------------------------------------------------------

COMPACT_LIFE = {"bb": "BB walking, bytes", "bb_bits": "BB, bits", "embedded": "embedded, bytes",
                "compact": "compact, bytes", "compact_bits": "compact, bits"}
COMPACT_WORKS = (("life", "life", "u32", "`tmap_ca`, u32"),
                 ("stencil", "cyclic", "u8", "cyclic automaton, u8"),
                 ("stencil", "heat_4", "f32", "heat of one's own, 4 neighbours, f32"),
                 ("stencil", "heat_8", "f32", "heat of one's own, 8 neighbours, f32"),
                 ("diffusion", "heat_4", "f32", "`tmap_diffusion`, f32"),
                 ("diffusion", "heat_4", "f64", "`tmap_diffusion`, f64"),
                 ("ising", "metropolis", "i8", "`tmap_ising`, a sweep, i8"))


def compact_rows(results, **want):
    return [row for row in (results.rows if results else ())
            if all(row.get(key) == value for key, value in want.items())]


def compact_life(results, domain, variant):
    """Rows of life by a variant of COMPACT_LIFE, of bytes or bits."""
    return compact_rows(results, work="life", domain=domain, variant=variant,
                        dtype="bit" if "bits" in variant else "u8")


def compact_life_row(results, domain, variant, size):
    return next((row for row in compact_life(results, domain, variant) if row["size"] == size),
                None)


def compact_row(results, **want):
    found = compact_rows(results, **want)
    return min(found, key=lambda row: row["ms"], default=None)


def compact_domains(results, **want):
    found = {row["domain"] for row in compact_rows(results, **want)}
    return [name for name in FRACTALS if name in found]


def compact_sizes(results, **want):
    return sorted({row["size"] for row in compact_rows(results, **want)})


def compact_middle(results, domain, **want):
    """The largest level of a side of at most TOP_SIDE, or None."""
    return max((size for size in compact_sizes(results, domain=domain, **want)
                if side(domain, size) <= TOP_SIDE), default=None)


def compact_top(results, **want):
    """The row of the largest level."""
    return max(compact_rows(results, **want), key=lambda row: row["size"], default=None)


def places(domain, size):
    """Of the matrix."""
    _, _, sx, sy = FRACTALS[domain]
    return (sx * sy)**size


def table_compact(data):
    """Life on all fractals at their largest level of a side up to TOP_SIDE."""
    results, rows = data.get("compact"), []
    for domain in compact_domains(results, work="life"):
        size = compact_middle(results, domain, work="life", variant="embedded")
        found = {name: compact_life_row(results, domain, name, size) for name in COMPACT_LIFE} \
            if size is not None else {}
        bits = found.get("compact_bits")
        if not bits:
            continue
        rows.append([FRACTALS[domain][0], str(size), f"{bits['cells']:,}",
                     *(bold(ms(row)) if row is bits else ms(row) for row in found.values()),
                     *(sig(ratio(found[name], bits)) for name in ("bb", "bb_bits", "embedded")),
                     sig(bits["gcells"]), percent(bits)])
    return table(["fractal", "r", "cells", *COMPACT_LIFE.values(), "× BB walking", "× BB, bits",
                  "× embedded", "10^9 cells/s", "% of limit"], rows)


def table_compact_levels(data):
    """Life on the gasket at every level that was run."""
    results, rows = data.get("compact"), []
    for size in compact_sizes(results, work="life", domain="gasket"):
        found = [compact_life_row(results, "gasket", name, size) for name in COMPACT_LIFE]
        if not any(found):
            continue
        bits = found[-1]
        cells = next(row["cells"] for row in found if row)
        rows.append([str(size), str(side("gasket", size)), f"{cells:,}", *(ms(row) for row in found),
                     sig(bits["gcells"]) if bits else "-", percent(bits)])
    return table(["r", "n", "cells", *COMPACT_LIFE.values(), "10^9 cells/s, bits",
                  "% of limit, bits"], rows)


def table_compact_top(data):
    """The largest level of each fractal and element of which two states fit the memory."""
    results, rows = data.get("compact"), []
    kinds = (("life", None, "bit", "compact_bits"), ("stencil", "cyclic", "u8", "compact"),
             ("stencil", "heat_8", "f32", "compact"))
    for domain in compact_domains(results, work="life"):
        for work, rule, dtype, variant in kinds:
            want = {"rule": rule} if rule else {}
            row = compact_top(results, work=work, domain=domain, dtype=dtype, variant=variant,
                              **want)
            if row:
                size = row["bytes_per_cell"] if dtype != "bit" else 1 / 8
                rows.append([FRACTALS[domain][0], dtype, str(row["size"]),
                             str(side(domain, row["size"])), f"{row['cells']:,}",
                             memory(row["bytes"]), memory(places(domain, row["size"]) * size),
                             sig(row["n2_bytes"] / row["bytes"]), ms(row), sig(row["gcells"]),
                             percent(row)])
    return table(["fractal", "element ", "r", "n", "cells", "a state", "a matrix", "matrix / state",
                  "ms a step", "10^9 cells/s", "% of limit"], rows)


def table_compact_works(data):
    """Other work at the largest level of a side up to TOP_SIDE, in a matrix and in compact storage,
    and at the largest level that fits."""
    results, rows = data.get("compact"), []
    for domain in compact_domains(results):
        for work, rule, dtype, title in COMPACT_WORKS:
            want = {"work": work, "rule": rule, "dtype": dtype, "domain": domain}
            size = compact_middle(results, domain, work=work, rule=rule, dtype=dtype,
                                  variant="compact")
            matrix, compact = (compact_row(results, variant=name, size=size, **want)
                               for name in ("embedded", "compact"))
            top = compact_top(results, variant="compact", **want)
            if compact:
                rows.append([FRACTALS[domain][0], title, str(size), ms(matrix), bold(ms(compact)),
                             sig(ratio(matrix, compact)), percent(compact), str(top["size"]),
                             sig(top["gcells"]), percent(top)])
    return table(["fractal", "work ", "r", "matrix, ms", "compact, ms", "× matrix", "% of limit",
                  "largest r", "10^9 cells/s there", "% of limit there"], rows)


def table_compact_moves(data):
    """States from one storage to another."""
    results = data.get("compact")
    titles = {"load": "matrix to compact", "store": "compact to matrix", "pack": "bytes to bits",
              "unpack": "bits to bytes"}
    rows = [[FRACTALS[row["domain"]][0], str(row["size"]), titles[row["variant"]], row["dtype"],
             ms(row), sig(row["gcells"]), percent(row)]
            for row in compact_rows(results, work="move") if row["domain"] in FRACTALS]
    return table(["fractal", "r", "from, to ", "element ", "ms", "10^9 cells/s", "% of limit"], rows)


def table_compact_claims(data):
    """What is published of compact fractals, beside what was measured here; all of the gasket."""
    results = data.get("compact")
    if not compact_rows(results, work="life", domain="gasket"):
        return NOTHING

    def life(variant, dtype=None):
        return compact_row(results, work="life", domain="gasket", variant=variant, size=15,
                           dtype=dtype or ("bit" if "bits" in variant else "u8"))

    def gain(slow, fast):
        found = ratio(slow, fast)
        return "-" if found is None else f"{sig(found)} times"

    def each(**rows):
        return ", ".join(f"{ms(row)} {name}" for name, row in rows.items() if row) or "-"
    words = {name: life(name, "u32") for name in ("embedded", "compact")}
    box, compact, bits = life("bb"), life("compact"), life("compact_bits")
    top = compact_top(results, work="life", domain="gasket", variant="compact_bits")
    small = compact_row(results, work="life", domain="gasket", variant="compact", dtype="u8",
                        size=20)
    lines = [
        ["r = 15: a step by BB, ms", "6.80 on a Titan V, 5.04 on a Titan RTX", each(bytes=box)],
        ["on the embedding by λ, ms", "1.76; 1.89",
         each(words=words["embedded"], bytes=life("embedded"))],
        ["on compact storage, ms", "1.99; 3.11",
         each(words=words["compact"], bytes=compact, bits=bits)],
        ["the same by tensor cores, ms", "1.49; 2.25", "-"],
        ["BB by compact storage", "up to about 12 times",
         f"{gain(box, compact)} with bytes, {gain(box, bits)} with bits"],
        ["r = 20: a matrix by compact storage, bytes", "up to about 315 times",
         f"{sig(small['n2_bytes'] / small['bytes'])} times" if small else "-"],
        ["the largest level", "-",
         f"r = {top['size']}: {top['cells']:,} cells of a bit, {memory(top['bytes'])} a state, "
         f"{ms(top)} ms a step" if top else "-"],
    ]
    return table(["Sierpinski gasket", "published ", "here "], lines)


# ---- tables of floods ---------------------------------------------------------------------------

def flood_row(results, variant, given, size, work="flood"):
    found = [row for row in results.at(work) if row["variant"] == variant
             and row["input"] == given and row["size"] == size and row["connectivity"] == 4]
    return found[0] if found else None


def flood_inputs(results):
    return list(dict.fromkeys(row["input"] for row in results.at("flood")))


def table_floods(data):
    """Floods and labels by the library."""
    results, rows = data.get("flood"), []
    sizes = (1024, 16384, 32768, 46341)
    for given in flood_inputs(results) if results else ():
        found = [flood_row(results, "regions", given, size) for size in sizes]
        again = [flood_row(results, name, given, 16384) for name in ("first_bits", "again_bits")]
        label = flood_row(results, "regions", given, 16384, "label")
        rows.append([given.replace("_", " "), *(ms(row) for row in found), percent(found[1]),
                     percent(found[2]), *(ms(row) for row in again), ms(label)])
    return table(["input", *(f"{size}²" for size in sizes), "% of copying, 16384²",
                  "% of copying, 32768²", "first, to bits", "again, to bits", "labels"], rows)


def table_flood_claims(data):
    """What the slides say of floods, beside what was measured here."""
    results = data.get("flood")
    if not results:
        return NOTHING
    flood = [row for row in results.at("flood") if row["connectivity"] == 4
             and row["input"] != "dry"]

    def pick(best, **want):
        rows = [row for row in flood if all(row[key] == value for key, value in want.items())]
        return best(rows, key=lambda row: row["mpix_s"]) if rows else None

    def line(text, slides, row):
        if not row:
            return [text, slides, "-", "-", "-"]
        return [text, slides, f"{row['mpix_s']:.0f}", f"{row['input']}, {row['size']}²".replace(
            "_", " "), sig(row["limit_pct"], 2)]
    last = pick(max, variant="regions")
    slow = pick(min, variant="naive", input="terrain")
    fast = flood_row(results, "regions", "terrain", slow["size"]) if slow else None
    rows = [
        line("the fastest of all", "up to 2500 Mpix/s, GTX 480", last),
        line("the fastest, on its worst input of 16384²", "-",
             pick(min, variant="regions", size=16384)),
        line("moving line, coalesced", "more than the 250 Mpix/s that the project asks for",
             pick(max, variant="line", input="terrain")),
        line("the same, on its worst input", "low if the map is complicated",
             pick(min, variant="line")),
        line("tiles", "better", pick(max, variant="tiles", input="terrain")),
        line("with special code for uniform tiles", "better still",
             pick(max, variant="uniform", input="terrain")),
        line("naive", "extremely inefficient", slow),
    ]
    if slow and fast:
        rows.append([f"the fastest by the slowest, terrain, {slow['size']}²",
                     "4 orders of magnitude", f"{fast['mpix_s'] / slow['mpix_s']:.0f} times", "-",
                     "-"])
    return table(["", "the slides ", "here, Mpix/s", "input, size ", "% of the memory's limit"],
                 rows)


# ---- tables of the paper about triangles ------------------------------------------------------------

AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot be known"
CLAIMS = ["claim", "the paper ", "here ", "verdict ", "why "]
PAPER_RHO, PAPER_N = 16, 30720  # blocks of 16 x 16, N up to 30720
TRIANGLE_NAMES = {"ltm_sqrt": "LTM-X", "ltm_newton": "LTM-N", "ltm_rsqrt": "LTM-R",
                  "ltm_exact": "exact", "rb": "RB", "rec": "REC", "utm": "UTM",
                  "utm_blocks": "UTM, blocks", "utm_blocks_sqrt": "UTM, blocks, sqrt",
                  "utm_blocks_rsqrt": "UTM, blocks, rsqrt"}


def triangle_rows(results, d, n=None, variant=None, rho=PAPER_RHO):
    """Rows of maps: the dummy (d = 0) or EDM in d coordinates."""
    return [row for row in results.at("edm" if d else "dummy") if row.get("d", 0) == d
            and n in (None, row["size"]) and variant in (None, row["variant"])
            and rho in (None, row.get("rho")) and "i" in row]


def triangle_sizes(results, most=PAPER_N):
    found = {row["size"] for row in triangle_rows(results, 0, variant="bb")}
    return sorted(n for n in found if n <= most) or sorted(found)


def triangle_gain(results, d, n, variant):
    """I of a map, or None."""
    rows = triangle_rows(results, d, n, variant)
    return rows[0]["i"] if rows else None


def triangle_span(results, dims, variant, sizes):
    """The least, the mean and the greatest I of a map."""
    found = [gain for d in dims for n in sizes
             for gain in [triangle_gain(results, d, n, variant)] if gain]
    return (min(found), sum(found) / len(found), max(found)) if found else None


def span(found):
    return f"{sig(found[0])} to {sig(found[2])}, mean {sig(found[1])}" if found else "-"


def verdict(holds):
    return AGREES if holds else DIFFERS


def block_ns(row):
    """Nanoseconds for a block that is launched."""
    return 1e6 * row["ms"] / row["blocks"]


def table_triangle_waste(data):
    """Blocks without a cell, as the paper counts them, and blocks with some idle threads."""
    results, rows = data.get("triangle"), []
    for n in triangle_sizes(results, 1 << 20) if results else ():
        line = [str(n)]
        for variant in ("bb", "rec", "ltm_sqrt", "ltm_newton", "ltm_rsqrt", "ltm_exact", "rb",
                        "utm"):
            found = triangle_rows(results, 0, n, variant)
            line.append(f"{whole(found[0]['wasted_blocks'])}" if found else "-")
        rows.append(line)
    return table(["n", "BB", "REC", "LTM-X", "LTM-N", "LTM-R", "exact", "RB", "UTM"], rows)


def table_triangle_k(data):
    """What a block costs, by BB and by the exact map, and the k of the model."""
    results, rows = data.get("triangle"), []
    n = triangle_sizes(results, 1 << 20)[-1] if results and triangle_sizes(results) else 0
    for d in (0, 1, 4):
        for rho in (8, 16, 32):
            base, row = ((triangle_rows(results, d, n, v, rho) if results else [])[:1]
                         for v in ("bb", "ltm_exact"))
            if base and row:
                rows.append([f"EDM, d = {d}" if d else "dummy", str(rho), sig(block_ns(base[0])),
                             sig(block_ns(row[0])), sig(row[0]["i"]), sig(row[0]["k"])])
    return table([f"n = {n}", "rho", "BB, ns a block", "exact map, ns a block", "I", "k"], rows)


def table_triangle_claims(data):
    """Paper 002: what it says, beside its set-up here: blocks of 16 x 16, N up to 30720."""
    results, rows = data.get("triangle"), []
    sizes = triangle_sizes(results) if results else []
    if not sizes or not triangle_rows(results, 0, variant="ltm_rsqrt"):
        return NOTHING
    n, edm = sizes[-1], (1, 2, 3, 4)

    def gain(variant, d=0, at=n):
        return triangle_gain(results, d, at, variant)

    def add(claim, paper, here, holds, why):
        if here is not None and "None" not in here:
            rows.append([claim, paper, here.replace("None", "-"),
                         holds if isinstance(holds, str) else verdict(holds), why])
    for variant, said in (("ltm_sqrt", 0.7), ("ltm_newton", 1.03), ("ltm_rsqrt", 1.15)):
        found = gain(variant)
        if found:
            add(f"Fig. 3: {TRIANGLE_NAMES[variant]}, dummy", f"I = {said}", f"{sig(found)}",
                abs(found - said) < 0.1,
                "a map is hidden behind the start of blocks, and the root is a few instructions")
    order = [gain(v) for v in ("ltm_sqrt", "ltm_newton", "ltm_rsqrt")]
    if all(order):
        add("Fig. 3: only LTM-R is ahead of BB", "yes", ", ".join(
            f"{TRIANGLE_NAMES[v]} {sig(i)}" for v, i in zip(("ltm_sqrt", "ltm_newton", "ltm_rsqrt"),
                                                          order)),
            order[0] < 1.02 < order[2], "LTM-R is the first here, too, by little")
    bb = triangle_rows(results, 0, n, "bb")
    ltm = triangle_rows(results, 0, n, "ltm_rsqrt")
    add("Fig. 3: blocks above the diagonal", "O(n²) by BB, O(n) by LTM",
        f"{whole(bb[0]['wasted_blocks'])} of {whole(bb[0]['blocks'])} by BB, "
        f"{whole(ltm[0]['wasted_blocks'])} by LTM", ltm[0]["wasted_blocks"] * 100 <
        bb[0]["wasted_blocks"], "the launch has no block above the diagonal; those on it, one a row, "
        "have threads that idle")
    rb, over = triangle_span(results, (0,), "rb", sizes), triangle_span(results, (0,), "ltm_rsqrt",
                                                                       sizes)
    add("Fig. 5: RB, dummy", "the fastest, up to 1.25", span(rb),
        bool(rb and over and rb[2] > over[2] and abs(rb[2] - 1.25) < 0.1),
        "RB and LTM spare the same blocks")
    add("Fig. 5: LTM, dummy", "about 1.13", span(over), bool(over and abs(over[1] - 1.13) < 0.1),
        "up to 2 where the start of blocks is all that is left")
    rec = triangle_span(results, (0,), "rec", sizes)
    ahead = [m for m in sizes if (gain("rec", 0, m) or 0) > 1]
    add("Fig. 5: REC, dummy", "behind BB at every N",
        f"{span(rec)}" + (f", ahead from N = {ahead[0]} on" if ahead else ""), not ahead,
        "its launches follow each other in the stream and cost some µs each, which counts while the "
        "work is small")
    utm = triangle_span(results, (0,), "utm", sizes)
    add("Fig. 5: UTM, dummy", "behind BB at every N", span(utm), bool(utm and utm[2] < 1),
        "no thread has memory of its own there, so the order of threads does not matter")
    rb, over = (triangle_span(results, edm, v, sizes) for v in ("rb", "ltm_rsqrt"))
    add("Fig. 5: RB, EDM", "1.14 on average", span(rb), bool(rb and abs(rb[1] - 1.14) < 0.1),
        "as in the dummy")
    add("Fig. 5: LTM, EDM", "1.12 to 1.15", span(over),
        bool(over and over[0] > 1.1 and over[2] < 1.2), "more: half of the blocks are not started")
    ahead = next((m for m in sizes if all((gain("rec", d, k) or 0) > 1 for k in sizes if k >= m
                                          for d in edm)), None)
    add("Fig. 5: REC, EDM", "ahead of BB from N = 5000 on, up to 1.05",
        f"ahead from N = {ahead} on, {span(triangle_span(results, edm, 'rec', sizes))}"
        if ahead else span(triangle_span(results, edm, "rec", sizes)),
        bool(ahead and 4000 <= ahead <= 8192), "the crossing is where it was, the gain is larger")
    last = all((gain("utm", d, m) or 9) <= min(gain(v, d, m) or 9 for v in (
        "ltm_rsqrt", "rb", "rec")) for d in edm for m in sizes if m >= 4096)
    add("Fig. 5: UTM, EDM", "the slowest of all",
        f"{span(triangle_span(results, edm, 'utm', sizes))}", last,
        "its threads run along rows of the upper triangle and write down columns of the lower one")
    ends = {v: (gain(v, 1), gain(v, 4)) for v in ("ltm_rsqrt", "rb", "rec", "utm")}
    add(f"Fig. 5: I against features, N = {n}", "LTM and RB do not change, REC and UTM do; UTM gains",
        "; ".join(f"{TRIANGLE_NAMES[v]} {sig(a)} to {sig(b)}" for v, (a, b) in ends.items()
                  if a and b),
        all(a and b for a, b in ends.values()) and ends["utm"][1] > ends["utm"][0] and
        all(abs(ends[v][1] / ends[v][0] - 1) < 0.1 for v in ("ltm_rsqrt", "rb", "rec")),
        "all fall by some per cent, as work on cells counts more with every feature; UTM gains by as "
        "much")
    every = [row for d in (0, *edm) for row in triangle_rows(results, d, rho=None)
             if row["variant"] != "bb"]
    low = [row for row in every if row["k"] < 1]
    add("equations 13 to 15: I < 2, k >= 1", "0 < I < 2",
        f"I up to {max(row['i'] for row in every):.3f}; k < 1 in {len(low)} of {len(every)} rows, "
        f"least {min(row['k'] for row in every):.3f}", min(row["k"] for row in every) > 0.985,
        "k is 1 where the start of blocks is the limit: a block of BB that has nothing to do then "
        "costs as much as one that has, or some tenths of a per cent more")
    ks = [row["k"] for d in (0, *edm) for row in triangle_rows(results, d, n, "ltm_rsqrt")]
    add(f"hypothesis: k of LTM, N = {n}", "1.5 to 2", f"{sig(min(ks))} to {sig(max(ks))}",
        min(ks) >= 1.45 and max(ks) < 2, "the map costs less than a block's start")
    add("conclusion: UTM by blocks would be faster", "expected",
        f"EDM, d = 1: {sig(gain('utm', 1))} by threads, {sig(gain('utm_blocks', 1))} by blocks",
        (gain("utm_blocks", 1) or 0) > (gain("utm", 1) or 9), "its cells are written by rows then")
    plain = [(name, gain(name, 1)) for name in ("utm_blocks_sqrt", "utm_blocks_rsqrt")]
    if any(found for _, found in plain):
        add("conclusion: and needs no conditionals", "expected up to N = 30720",
            "EDM, d = 1: " + ", ".join(f"{TRIANGLE_NAMES[name]} {sig(found)}"
                                       for name, found in plain if found),
            any((found or 0) > (gain("utm_blocks", 1) or 9) for _, found in plain),
            "the paper's 1e-4 is too small there, 2.5e-4 is right")
    add("conclusion: faster special functions will let LTM-X gain", "expected",
        f"{sig(gain('ltm_sqrt'))} in the dummy, {sig(gain('ltm_sqrt', 1))} in EDM, d = 1",
        (gain("ltm_sqrt", 1) or 0) > 1, "the root is hidden")
    rows.append(["LTM-N and LTM-R are exact", "N up to 30720", "1949 and 2055 rows of blocks: N = "
                 "31184 and 32880", AGREES, "the root's rounding, "
                 "[errata](errata.md#b4-how-far-the-papers-roots-are-exact-section-iiia)"])
    rows.append(["maps by a table, maps on Fermi", "as slow as LTM-X; I < 1", "-", UNKNOWN,
                 "no table and no such GPU is measured here"])
    return table(CLAIMS, rows)


# ---- tables of adaptive subdivision -------------------------------------------------------------

EXHAUSTIVE, UNROLLED, FLAT = "exhaustive", "unrolled", "flat"
ASKS, DPS = ("ask_sbr", "ask_mbr"), ("dp_sbr", "dp_mbr")
ASK_NAMES = {EXHAUSTIVE: "exhaustive", UNROLLED: "unrolled", FLAT: "flat grid",
             "ask_sbr": "ASK-SBR", "ask_mbr": "ASK-MBR", "dp_sbr": "DP-SBR", "dp_mbr": "DP-MBR"}
ASK_DRIVERS = ("host", "stream", "captured", "graph", "cooperative")


def ask_levels(row):
    """The levels of a subdivision: log_r(n / (g B)), rounded down, and at least 1."""
    if "levels" in row:
        return row["levels"]
    left, levels = row["size"] // row["g"] // row["B"] // row["r"], 0
    while left:
        left, levels = left // row["r"], levels + 1
    return max(levels, 1)


def ask_kind(row):
    """The variant of a row. DP of one level subdivides nothing: it is a flat grid of regions."""
    if row["variant"] in DPS and ask_levels(row) == 1:
        return FLAT if row["variant"] == "dp_sbr" else "flat_mbr"
    return row["variant"]


def ask_rows(results, n=None, variants=None, part=None, bulbs=False):
    """Timed pictures. Those with the formula of the bulbs are apart."""
    return [row for row in results.at("mandelbrot") if n in (None, row["size"])
            and (variants is None or ask_kind(row) in variants)
            and part in (None, row.get("part")) and row.get("part") != "energy"
            and (row.get("options", "none") != "none") == bulbs]


def ask_best(results, n, variants, **more):
    return min(ask_rows(results, n, variants, **more), key=lambda row: row["ms"], default=None)


def ask_sizes(results):
    return sorted({row["size"] for row in ask_rows(results)})


def parameters(row):
    return f"({row['g']}, {row['r']}, {row['B']})" if row and "g" in row else "-"


def whole(number):
    return "-" if number is None else f"{number:,.0f}"


def ask_searched(results, n, kinds):
    """Whether the best plan of one of these kinds is better than all of its neighbours."""
    return any(row["size"] == n and row["variant"] in kinds for row in results.at("optimum"))


def at_most(results, n, kinds, text):
    """Marks what a finer search may lower."""
    return text if text == "-" or ask_searched(results, n, kinds) else f"≤ {text}"


def table_ask(data):
    """Each size: the best of every approach."""
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        base, unrolled, flat = (ask_best(results, n, (v,)) for v in (EXHAUSTIVE, UNROLLED, FLAT))
        ask, dp = ask_best(results, n, ASKS), ask_best(results, n, DPS)
        rows.append([str(n), ms(base), ms(unrolled), at_most(results, n, (FLAT,), ms(flat)),
                     *(at_most(results, n, (v,), ms(ask_best(results, n, (v,)))) for v in DPS),
                     *(bold(ms(row)) if row and row is ask else ms(row)
                       for row in (ask_best(results, n, (v,)) for v in ASKS)),
                     parameters(ask), ask.get("driver", "-") if ask else "-",
                     bold(sig(ratio(base, ask))), bold(sig(ratio(unrolled, ask))),
                     at_most(results, n, (FLAT,), sig(ratio(flat, ask))),
                     at_most(results, n, DPS, sig(ratio(dp, ask))), sig(ratio(base, dp)),
                     sig(ratio(unrolled, dp)), percent(ask)])
    return table(["n", "exhaustive", "unrolled", "flat grid", "DP-SBR", "DP-MBR", "ASK-SBR",
                  "ASK-MBR", "(g, r, B) ", "driver ", "exhaustive / ASK", "unrolled / ASK",
                  "flat / ASK", "DP / ASK", "exhaustive / DP", "unrolled / DP", "% of limit"],
                 rows)


def table_ask_dp(data):
    """The best plan of DP that recurses, in both forms, beside the best flat grid."""
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        line = [str(n)]
        for variant in DPS:
            row = ask_best(results, n, (variant,))
            line += [parameters(row), str(ask_levels(row)) if row else "-",
                     whole(row.get("children")) if row else "-",
                     at_most(results, n, (variant,), ms(row))]
        flat = ask_best(results, n, (FLAT,))
        line += [f"{flat['g']} × {flat['g']}" if flat and "g" in flat else "-",
                 at_most(results, n, (FLAT,), ms(flat)),
                 sig(ratio(ask_best(results, n, DPS), flat))]
        if any(cell != "-" for cell in line[1:]):
            rows.append(line)
    return table(["n", "DP-SBR ", "levels", "launches", "ms", "DP-MBR ", "levels", "launches", "ms",
                  "flat grid ", "ms", "DP / flat"], rows)


def table_ask_optima(data):
    """From where on nothing beside a plan is better."""
    results, rows = data.get("ask"), []
    names = {**ASK_NAMES, "flat_mbr": "flat grid, finished by launches"}
    for row in results.at("optimum") if results else ():
        rows.append([str(row["size"]), names[row["variant"]], parameters(row), str(row["levels"]),
                     ms(row), str(row["tried"]), f"{row['measured']} of {row['neighbours']}"])
    return captioned("The search for the best subdivision: it ends where all neighbours of a plan (g "
                     "or r doubled or halved, a level more or less) have been tried and none is "
                     "better.", ["n", "form ", "(g, r, B) ", "levels", "ms", "plans tried",
                                 "neighbours measured"], rows)


def table_ask_blocks(data):
    """Table 2 of the paper: the best block of each approach."""
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        found = ask_rows(results, n, part="blocks")
        if not found:
            continue
        base = ask_best(results, n, (EXHAUSTIVE,))
        line = [str(n), f"{base['block'].replace('x', ' × ')} ({ms(base)})"
                if base and "block" in base else "-"]
        for variant in (FLAT, *DPS, *ASKS):
            row = min((r for r in found if ask_kind(r) == variant), key=lambda r: r["ms"],
                      default=None)
            line.append(f"{row['threads']} ({ms(row)})" if row else "-")
        rows.append(line)
    return captioned("Threads of a block, the best of 32 to 768 (DP: 512), and ms; of the exhaustive "
                     "picture the best of 19 shapes:",
                     ["n", *(ASK_NAMES[v] for v in (EXHAUSTIVE, FLAT, *DPS, *ASKS))], rows)


def table_ask_p(data):
    """P by level, which the model takes for one number."""
    results, rows = data.get("ask"), []
    found = [row for row in results.at("levels") if row["variant"] == "ask_mbr"] if results else []
    most = max((len(row["P"]) for row in found), default=0)
    for row in found:
        several = [p * count for p, count in zip(row["P"], row["regions"])]
        rows.append([str(row["size"]), parameters(row), sig(row["size"] / row["g"]), str(row["r"]),
                     *(sig(p) for p in row["P"]), *["-"] * (most - len(row["P"])),
                     bold(sig(sum(several) / sum(row["regions"])))])
    return table(["n", "(g, r, B) ", "side at level 0", "r", *(f"level {i}" for i in range(most)),
                  "one P"], rows)


def table_ask_differ(data):
    """Pixels in which the best picture of each form is not the exhaustive one."""
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        for variant in ASKS:
            row = ask_best(results, n, (variant,))
            if row and row.get("differ") is not None:
                rows.append([str(n), ASK_NAMES[variant], parameters(row), whole(row["differ"]),
                             sig(1e6 * row["differ"] / n**2)])
    return table(["n", "form ", "(g, r, B) ", "pixels that differ", "of a million"], rows)


def table_ask_drivers(data):
    """The best subdivision of each form by each driver."""
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        for variant in ASKS:
            found = {row.get("driver"): row for part in ("best", "drivers")
                     for row in ask_rows(results, n, (variant,), part)}
            if len(found) > 1:
                least = min(row["ms"] for row in found.values())
                rows.append([str(n), ASK_NAMES[variant], parameters(next(iter(found.values()))),
                             *(bold(ms(found[d])) if d in found and found[d]["ms"] == least
                               else ms(found.get(d)) for d in ASK_DRIVERS)])
    return table(["n", "form ", "(g, r, B) ", *ASK_DRIVERS], rows)


def table_ask_bulbs(data):
    """With the main cardioid and the disc of period 2 told by a formula."""
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        base, ask = (ask_best(results, n, v, bulbs=True) for v in ((UNROLLED,), ASKS))
        if base and ask:
            rows.append([str(n), ms(base), ms(ask), ASK_NAMES[ask["variant"]], parameters(ask),
                         sig(ratio(base, ask))])
    return table(["n", "unrolled", "ASK", "form ", "(g, r, B) ", "unrolled / ASK"], rows)


def table_ask_levels(data):
    """What the best run of the better form at the largest size did at each level."""
    results = data.get("ask")
    found = [row for row in results.at("levels")] if results else []
    if not found:
        return NOTHING
    n = max(row["size"] for row in found)
    best = ask_best(results, n, ASKS)
    row = next((r for r in found if r["size"] == n and best and r["variant"] == best["variant"]),
               found[-1])
    return table(["level", "side", "regions", "subdivided", "uniform", "P"],
                 [[str(level), sig(n / (row["g"] * row["r"]**level)), whole(regions), whole(cut),
                   whole(filled), sig(p)]
                  for level, (regions, cut, filled, p) in enumerate(zip(
                      row["regions"], row["subdivided"], row["filled"], row["P"]))])


def table_ask_costs(data):
    """Mean iterations of a pixel, and the work that subdivision saves."""
    results, rows = data.get("ask"), []
    for row in results.at("levels") if results else ():
        if "omega" in row and row["variant"] == "ask_mbr":
            rows.append([str(row["size"]), parameters(row), sig(row["whole"]), sig(row["border"]),
                         sig(row["leaf"]), sig(row["omega"]),
                         *(sig(row.get(f"own_{key}")) for key in ("border", "leaf", "omega"))])
    if all(row[-1] == "-" for row in rows):
        rows = [row[:6] for row in rows]
    header = ["n", "(g, r, B) ", "whole picture", "borders", "leaves", "Ω", "own borders",
              "their leaves", "their Ω"]
    return table(header[:len(rows[0])] if rows else header, rows)


def table_ask_insert(data):
    """Insertion into a table of regions, by each way that the paper names."""
    results, rows = data.get("ask"), []
    names = {"insert_atomic": "an atomic a region", "insert_warp": "one a warp",
             "insert_block": "one a block, prefix sums in it", "insert_chain": "full prefix sum, a "
             "chain of blocks", "insert_scan": "full prefix sum, three launches"}
    found = results.at("insert") if results else []
    for n in sorted({row["size"] for row in found}):
        by = {row["variant"]: row for row in found if row["size"] == n}
        least = min(row["ms"] for row in by.values())
        rows.append([whole(n), *(bold(ms(by[v])) if v in by and by[v]["ms"] == least
                                 else ms(by.get(v)) for v in names)])
    return captioned("Insertion of the 57% of regions that are cut into a table, ms:",
                     ["regions", *names.values()], rows)


def table_ask_order(data):
    """The order of leaves against the traffic of the kernel that writes them."""
    results, rows = data.get("ask"), []
    names = {"order_canonical": "canonical", "order_morton": "Morton", "order_hilbert": "Hilbert",
             "order_shuffled": "at random"}
    found = results.at("order") if results else []
    for n, what in sorted({(row["size"], row["what"]) for row in found}):
        by = {row["variant"]: row for row in found if (row["size"], row["what"]) == (n, what)}
        rows.append([str(n), {"copy": "copied", "compute": "computed"}[what],
                     whole(next(iter(by.values()))["leaves"]), *(ms(by.get(v)) for v in names)])
    return captioned("Leaves of side 16 in several orders, a warp each, ms:",
                     ["n", "pixels are ", "leaves", *names.values()], rows)


def table_ask_predict(data):
    """Predicted and measured best (g, r, B)."""
    results, rows = data.get("ask"), []
    for row in results.at("predict") if results else ():
        rows.append([str(row["size"]), ASK_NAMES[row["variant"]], str(row["candidates"]),
                     parameters(row), sig(row["predicted_ms"]), ms(row),
                     f"({row['best_g']}, {row['best_r']}, {row['best_B']})", sig(row["best_ms"]),
                     bold(sig(row["ratio"])), f"{row['mean_error_pct']:.0f}",
                     f"({row['paper_g']}, {row['paper_r']}, {row['paper_B']})",
                     sig(row["paper_ratio"])])
    return table(["n", "form ", "candidates", "predicted best ", "predicted ms", "measured ms",
                  "measured best ", "its ms", "ratio", "mean error, %", "best of equations 23, 24 ",
                  "its ratio"], rows)


def table_ask_lost(data):
    """What DP loses at the default limit of pending launches: of the plans that were tried those that
    lose, and the one that loses most."""
    results, rows = data.get("ask"), []
    lost = [row for row in results.at("dp_lost") if ask_kind(row) in DPS] if results else []
    for n in sorted({row["size"] for row in lost}):
        for variant in DPS:
            group = [row for row in lost if row["size"] == n and ask_kind(row) == variant]
            if not group:
                continue
            worst = max(group, key=lambda row: row["pixels_lost"])
            losing = sum(row["pixels_lost"] > 0 for row in group)
            rows.append([str(n), ASK_NAMES[variant], f"{losing} of {len(group)}",
                         *((parameters(worst), whole(worst["launches_lost"]),
                            whole(worst["pixels_lost"])) if losing else "---")])
    return table(["n", "form ", "plans that lose regions", "the worst ", "launches lost",
                  "pixels not written"], rows)


def ask_energies(results, n):
    """{approach: millijoules}"""
    return {ask_kind(row): row["millijoules"] for row in results.at("mandelbrot")
            if row["size"] == n and row.get("millijoules")}


def table_ask_energy(data):
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        by = ask_energies(results, n)
        ask = min((by[v] for v in ASKS if v in by), default=None)
        if ask:
            rows.append([str(n), *(sig(by.get(v)) for v in ASK_NAMES),
                         *(sig(by[v] / ask if v in by else None) for v in (EXHAUSTIVE, UNROLLED))])
    return table(["n", *ASK_NAMES.values(), "exhaustive / ASK", "unrolled / ASK"], rows)


def table_ask_summary(data):
    """For the README: three sizes."""
    results, rows = data.get("ask"), []
    sizes = ask_sizes(results) if results else []
    for n in [n for n in (4096, 16384, 65536) if n in sizes] or sizes[-3:]:
        base, unrolled, flat, dp, ask = (ask_best(results, n, v) for v in (
            (EXHAUSTIVE,), (UNROLLED,), (FLAT,), DPS, ASKS))
        rows.append([f"{n} × {n}", ms(base), ms(unrolled), at_most(results, n, (FLAT,), ms(flat)),
                     at_most(results, n, DPS, ms(dp)), bold(ms(ask)),
                     *(sig(ratio(row, ask)) for row in (base, unrolled)),
                     at_most(results, n, (FLAT,), sig(ratio(flat, ask))),
                     at_most(results, n, DPS, sig(ratio(dp, ask)))])
    return table(["pixels", "exhaustive, ms", "a test in 32 steps, ms", "flat grid, ms",
                  "dynamic parallelism, ms", "ASK, ms", "× exhaustive", "× a test in 32 steps",
                  "× flat grid", "× dynamic parallelism"], rows)


def shape_of(row):
    return row["block"].replace("x", " × ") if row and "block" in row else "-"


def table_ask_claims(data):
    """Paper 003: what it says, beside what was measured at the largest size, and at the size of the
    landscape."""
    results, rows = data.get("ask"), []
    sizes = ask_sizes(results) if results else []
    if not sizes or not ask_best(results, sizes[-1], ASKS):
        return NOTHING
    top, mid = sizes[-1], ask_landscape_size(results)

    def best(n, *variants, **more):
        return ask_best(results, n, variants, **more)

    def add(claim, paper, here, holds, why):
        rows.append([claim, paper, here, holds if isinstance(holds, str) else verdict(holds), why])

    def times(slow, fast):
        found = ratio(slow, fast)
        return "-" if found is None else sig(found)
    base, unrolled, ask = (best(top, *v) for v in ((EXHAUSTIVE,), (UNROLLED,), ASKS))
    deep = [n for n in sizes if best(n, *DPS)]
    gains = [(n, ratio(best(n, EXHAUSTIVE), best(n, *ASKS))) for n in sizes]
    add("ASK against exhaustive", "up to 12 times",
        f"{times(base, ask)} at n = {top}; {times(unrolled, ask)} against a test in 32 steps",
        (ratio(base, ask) or 0) >= 12, "ASK too tests once in 32 steps: about half of the first ratio "
        "is that")
    if deep:
        base, unrolled, dp = (best(deep[-1], *v) for v in ((EXHAUSTIVE,), (UNROLLED,), DPS))
        add("DP against exhaustive", "up to 7.5 times",
            f"{times(base, dp)} at n = {deep[-1]}; {times(unrolled, dp)} against a test in 32 steps",
            (ratio(base, dp) or 0) >= 7.5, "the same")
        more = [(n, ratio(best(n, *DPS), best(n, *ASKS))) for n in deep]
        add("ASK against DP", "up to 1.6 times",
            f"{sig(min(g for _, g in more))} to {sig(max(g for _, g in more))}; "
            f"{at_most(results, more[-1][0], DPS, sig(more[-1][1]))} at n = {more[-1][0]}",
            min(g for _, g in more) > 1,
            "launches of DP take their time, most of all where the picture is small")
        flats = [(n, ratio(best(n, FLAT), best(n, *DPS))) for n in sizes
                 if best(n, FLAT) and best(n, *DPS)]
        if flats:
            gain = [n for n, g in flats if g > 1]
            add("DP pays for itself", "taken for granted",
                f"a flat grid of regions is faster up to n = {max(n for n, g in flats if g <= 1)}"
                if any(g <= 1 for _, g in flats) else "at every n",
                len(gain) == len(flats), "one level finds most of what is uniform, without launches")
    take = next((n for n, g in gains if g and g > 1), None)
    add("Fig. 8, first row: from which n on subdivision gains", "the number is lost in the text",
        f"n = {take} or less" if take == sizes[0] else f"n = {take}", UNKNOWN, "-")
    for forms, title in ((ASKS, "ASK"), (DPS, "DP")):
        sbr, mbr = (best(top, v) for v in forms)
        if sbr and mbr:
            ahead = sbr["ms"] < mbr["ms"]
            add(f"Fig. 8: {title}: SBR is ahead of MBR", "on all GPUs",
                f"{times(mbr, sbr)} times at n = {top}", ahead,
                "each MBR child is a launch more" if title == "DP" else
                "MBR here gives all warps the pixels of all regions, not blocks to each region")
    add("Fig. 4: the model has MBR ahead of SBR", "by the model alone",
        f"ASK: {times(best(top, 'ask_sbr'), best(top, 'ask_mbr'))} times at n = {top}",
        (ratio(best(top, "ask_sbr"), best(top, "ask_mbr")) or 0) > 1,
        "as the paper's model has it, and its measurements have not")
    for variant in (*DPS, *ASKS):
        row = best(mid, variant)
        same = best(mid, variant)
        given = [r for r in ask_rows(results, mid, (variant,))
                 if (r["g"], r["r"], r["B"]) == (32, 2, 32)]
        if row:
            loss = f"; (32, 2, 32): {sig(min(r['ms'] for r in given) / same['ms'])} times as long" \
                if given else ""
            inside = 2 <= row["g"] <= 32 and row["r"] in (2, 4) and 16 <= row["B"] <= 64
            add(f"Fig. 7: the best (g, r, B), {ASK_NAMES[variant]}", "g 2 to 32, r 2 or 4, B about 32",
                f"{parameters(row)} at n = {mid}{loss}", inside,
                f"leaves have a side of {sig(mid / (row['g'] * row['r']**(ask_levels(row) - 1)))}, "
                f"which is r B or more ([errata](errata.md#c1-the-side-of-the-last-regions-"
                "assumption-iii))")
    landscape = ask_rows(results, mid, ASKS)
    by_r = {r: min(row["ms"] for row in landscape if row["r"] == r)
            for r in sorted({row["r"] for row in landscape})}
    add("Figs. 3, 4 and 8: the best r is small", "2 to 4", f"r = {min(by_r, key=by_r.get)} at n = "
        f"{mid}", min(by_r, key=by_r.get) <= 4, "few levels, and leaves that fit")
    by_g = {g: min(row["ms"] for row in landscape if row["g"] == g)
            for g in sorted({row["g"] for row in landscape})}
    flat = [g for g, t in by_g.items() if t < 1.1 * min(by_g.values())]
    add("Figs. 3 and 8: g hardly matters for large n", "a wide optimum",
        f"within 10% of the best: g = {', '.join(map(str, flat))}", len(flat) >= 4,
        "the first levels are a small part of all regions")
    found = [row for row in results.at("levels") if row["variant"] == "ask_mbr"
             and row["size"] == top and len(row["P"]) > 1]
    if found:
        p = found[0]["P"]
        add("section 4.2.1: P is the same at all levels", "constant",
            f"{', '.join(sig(v) for v in p)} at n = {top}", max(p) - min(p) < 0.1,
            "level 0 has the whole domain, the others only children of what was not uniform; "
            "from there on it changes little")
    omegas = [row for row in results.at("levels") if "omega" in row]
    if omegas:
        most = max(omegas, key=lambda row: row["omega"])
        add("Fig. 3: the work saved is at most A", "Ω <= A = 512",
            f"Ω = {sig(most['omega'])} at n = {most['size']}, counted", True,
            "borders and leaves cost less than the mean pixel, and the mean is 200, not 512")
        add("section 4.3: the speedup S is below A", "S <= 512",
            f"{times(best(top, EXHAUSTIVE), ask)} at n = {top}",
            (ratio(best(top, EXHAUSTIVE), ask) or 0) < 512, "-")
    predicted = [row for row in results.at("predict") if row.get("paper_ratio")]
    if predicted:
        add("Figs. 3, 4 against 8: the model finds the best (g, r, B)", "confirmed",
            f"its best takes {sig(min(r['paper_ratio'] for r in predicted))} to "
            f"{sig(max(r['paper_ratio'] for r in predicted))} times as long as the best measured",
            max(r["paper_ratio"] for r in predicted) < 1.1,
            "with one cost A for all pixels; with three, `ask_predict.h`, "
            f"{sig(max(r['ratio'] for r in predicted))} at most")
    shapes = [(n, best(n, EXHAUSTIVE)) for n in (mid, top) if best(n, EXHAUSTIVE)]
    every = [row["ms"] for row in ask_rows(results, mid, (EXHAUSTIVE,))]
    add("Table 2: the best block, exhaustive", "16 × 16 (A100, TITAN V), 8 × 8 (TITAN RTX)",
        ", ".join(f"{shape_of(row)} at n = {n}" for n, row in dict(shapes).items()),
        all(row.get("block") in ("16x16", "8x8") for _, row in shapes),
        f"{len(every)} shapes take up to {sig(max(every) / min(every))} times as long as the best at "
        f"n = {mid}")
    blocks = ask_rows(results, mid, part="blocks")
    for variant, said in (("dp_sbr", 512), ("dp_mbr", 512), ("ask_sbr", 256), ("ask_mbr", 256)):
        row = min((r for r in blocks if ask_kind(r) == variant), key=lambda r: r["ms"],
                  default=None)
        if row:
            add(f"Table 2: the best block, {ASK_NAMES[variant]}", f"{said} threads (A100)",
                f"{row['threads']} at n = {mid}", row["threads"] == said, "-")
    by = ask_energies(results, top)
    mine = min((by[v] for v in ASKS if v in by), default=None)
    if mine and EXHAUSTIVE in by:
        add("energy, ASK against exhaustive", "about 20 times",
            f"{sig(by[EXHAUSTIVE] / mine)} at n = {top}" + (
                f"; {sig(by[UNROLLED] / mine)} against a test in 32 steps" if UNROLLED in by else ""),
            15 <= by[EXHAUSTIVE] / mine, "by NVML's counter, where the paper has its own")
        other = min((by[v] for v in DPS if v in by), default=None)
        if other:
            add("energy, ASK against DP", "about 2 times", f"{sig(other / mine)} at n = {top}",
                1.5 < other / mine < 2.5, "near to the ratio of the times")
    inserted = {row["variant"]: row for row in results.at("insert")
                if row["size"] == max(r["size"] for r in results.at("insert"))}
    if len(inserted) == 5:
        atomic, block = inserted["insert_atomic"], inserted["insert_block"]
        full = min(inserted["insert_chain"]["ms"], inserted["insert_scan"]["ms"])
        add("section 5.3.1: an atomic for each region is quick enough", "prefix sums of blocks as a "
            "way out, a full one not preferred",
            f"by blocks {times(atomic, block)} times as fast, by a full prefix sum "
            f"{sig(atomic['ms'] / full)} times, {whole(atomic['size'])} regions",
            atomic["ms"] < 1.5 * min(block["ms"], full), "-")
    orders = {row["variant"]: row for row in results.at("order") if row["what"] == "copy"
              and row["size"] == max(r["size"] for r in results.at("order"))}
    if "order_hilbert" in orders:
        add("section 7: other orders of regions", "space-filling curves named",
            f"Hilbert {times(orders['order_canonical'], orders['order_hilbert'])} times, Morton "
            f"{times(orders['order_canonical'], orders['order_morton'])} times as fast as canonical",
            UNKNOWN, "the paper gives no number; leaves of side 16 are copied")
    add("embedded GPUs: MBR falls behind", "Jetson Xavier NX", "-", UNKNOWN,
        "one GPU is measured here")
    return table(CLAIMS, rows)


ASK_TABLES = {
    "ask": table_ask, "ask-differ": table_ask_differ, "ask-drivers": table_ask_drivers,
    "ask-bulbs": table_ask_bulbs, "ask-levels": table_ask_levels, "ask-costs": table_ask_costs,
    "ask-predict": table_ask_predict, "ask-lost": table_ask_lost, "ask-energy": table_ask_energy,
    "ask-summary": table_ask_summary, "ask-dp": table_ask_dp, "ask-p": table_ask_p,
    "ask-optima": table_ask_optima, "ask-blocks": table_ask_blocks,
    "ask-insert": table_ask_insert, "ask-order": table_ask_order,
    "ask-claims": table_ask_claims,
}

TABLES = {
    **ASK_TABLES,
    "meta": table_meta, "summary": table_summary, "engine": table_engine,
    **{f"gasket-{work}": table_gasket(work) for work in WORKS},
    "rho": table_rho,
    **{f"fractals-{work}": table_fractals(work) for work in WORKS},
    "n0": table_n_0, "dummy": table_dummy, "triangle": table_triangle, "pdist": table_pdist,
    "triangle-claims": table_triangle_claims, "triangle-k": table_triangle_k,
    "triangle-waste": table_triangle_waste,
    "pairs": table_pairs,
    "molecules": table_molecules,
    "drmsd": table_drmsd, "drmsd-u": table_drmsd_u, "drmsd-claims": table_drmsd_claims,
    "floods": table_floods, "flood-claims": table_flood_claims,
    "fractal-claims": table_fractal_claims,
    "block": table_block, "reduce": table_reduce,
    "compact": table_compact, "compact-levels": table_compact_levels,
    "compact-top": table_compact_top, "compact-works": table_compact_works,
    "compact-moves": table_compact_moves, "compact-claims": table_compact_claims,
}


def block_forms(results, work):
    """Forms that map a block for each tile, as the paper does."""
    return [v for v in results.forms(work) if v.startswith("lambda") and v != "lambda_linear"]


# ---- documents ----------------------------------------------------------------------------------

def refill(text, data, images="img", suffix="png"):
    """A document with its tables and pictures made anew. Raises ValueError for an unknown name or a
    block without an end."""
    def fill(match):
        kind, name = match[1], match[2]
        if kind == "table" and name in TABLES:
            body = TABLES[name](data)
        elif kind == "picture" and name in PICTURES:
            title, has, _ = PICTURES[name]
            body = f"![{title}]({images}/{name}.{suffix})" if has(data) else NOTHING
        else:
            raise ValueError(f"no {kind} is called {name}")
        return f"<!-- {kind}: {name} -->\n{body}\n<!-- /{kind} -->"

    # The body may hold no other marker: a missing end must not swallow what follows.
    block = r"<!-- (table|picture): (\S+) -->\n(?:(?!<!-- /?(?:table|picture)).*\n)*?<!-- /\1 -->"
    marker = r"<!-- (?:table|picture):"
    if len(re.findall(block, text)) != len(re.findall(marker, text)):
        raise ValueError("a table or picture without an end")
    return re.sub(block, fill, text)


# ---- pictures -----------------------------------------------------------------------------------

# Okabe and Ito's colours, without their yellow, which is too pale for lines.
INK, ORANGE, SKY, GREEN, BLUE, RED, PINK = (
    "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7")
GREY = "#808080"
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY, INK, GREY)
MARKERS = "osD^vPX*"
DUMMY_CURVES = {  # of Fig. 11: colour, marker, line
    "lambda": (GREY, "o", "-"), "redux": (ORANGE, "s", "-"), "ballot": (GREEN, "D", "-"),
    "group1": (BLUE, "^", "-"), "group4": (BLUE, "v", "--"), "group16": (BLUE, "<", ":"),
    "mma1": (RED, "o", "--"), "mma2": (PINK, "P", "--"), "mma3": (RED, "X", ":"),
    "mma_linear": (RED, "*", "-"), "tile_redux": (ORANGE, "^", "--"),
    "tile_ballot": (GREEN, "v", "--"), "tile_mma": (RED, "P", "-"),
}


def note(text):
    print(f"plot.py: {text}", file=sys.stderr)


def start():
    """matplotlib.pyplot, set up."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    pyplot.rcParams.update({
        "font.size": 11, "axes.titlesize": 12, "axes.grid": True, "grid.color": "#dddddd",
        "grid.linewidth": 0.6, "axes.axisbelow": True, "axes.spines.top": False,
        "axes.spines.right": False, "figure.facecolor": "white", "legend.frameon": False,
        "lines.linewidth": 1.6, "lines.markersize": 4.5, "savefig.dpi": 150,
        "svg.hashsalt": "threadmap", "figure.constrained_layout.use": True,
    })
    return pyplot


def title_of(figure, title, results):
    figure.suptitle(f"{title}\n{results.where()}" if results else title, fontsize=12)


def log_sides(axes, ends=None):
    axes.set_xscale("log", base=2)
    axes.set_xlabel("n")
    if ends:
        axes.set_xlim(*ends)


def curve(axes, points, **style):
    """A line through [(x, y)], those without y left out; says whether there was one."""
    points = [(x, y) for x, y in points if y is not None]
    if points:
        axes.plot(*zip(*points), **style)
    return bool(points)


def plain_ticks(axis):
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def legend_below(figure, axes_list, columns, heads=()):
    """One legend of all labels, each once; with heads, a column for those that begin with each,
    without it."""
    handles = {}
    for axes in axes_list:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    entries = [(handle, label) for label, handle in handles.items()]
    if heads:
        groups = [[(h, label) for h, label in entries if label.startswith(head)] for head in heads]
        rows = max(map(len, groups)) + 1
        empty = figure.add_artist(figure.patch.__class__((0, 0), 0, 0, visible=False))
        entries = []
        for head, group in zip(heads, groups):
            group = [(empty, head.strip(": "))] + [(h, label[len(head):]) for h, label in group]
            entries += group + [(empty, "")] * (rows - len(group))
        columns = len(heads)
    figure.legend(*zip(*entries), loc="outside lower center", ncols=columns, fontsize=10.5,
                  handlelength=2.6, columnspacing=1.5)


def draw_speedup(pyplot, data):
    """The paper's Fig. 7."""
    results = data["fractal"]
    works = [work for work in WORKS if results.sizes(work, "gasket")]
    figure, grid = pyplot.subplots(len(works), 2, figsize=(9, 3.35 * len(works) + 1.3),
                                   squeeze=False)
    shades = [pyplot.get_cmap("viridis")(i / 5.5) for i in range(len(RHOS))]
    for (left, right), work in zip(grid, works):
        sizes = results.sizes(work, "gasket")
        sides = [side("gasket", size) for size in sizes]

        def line(variants, rho=None, sizes=sizes, work=work):
            return [results.best(work, "gasket", size, variants, rho) for size in sizes]
        best, forms = line(results.forms(work)), block_forms(results, work)
        for rho, shade in zip(RHOS, shades):
            thin = {"color": shade, "linewidth": 1.3, "zorder": 2}
            box, form = line(("bb",), rho), line(forms, rho)
            if not curve(left, zip(sides, map(ratio, box, form)), **thin, marker=".",
                         label=f"blocks of ρ × ρ: ρ = {rho}"):
                note(f"{work}: no curve for rho = {rho}")
            curve(right, [(n, row and row["ms"]) for n, row in zip(sides, box)], **thin,
                  linestyle=(0, (2, 1.5)))
            curve(right, [(n, row and row["ms"]) for n, row in zip(sides, form)], **thin)
        bold_lines = (
            (best, INK, "-", "o", "the engine"),
            (line(("bb",)), RED, "-", None, "best BB"),
            (line(("bb_walk",)), RED, (0, (4, 2)), None, "BB walking"),
            (line(("list",)), SKY, "-", None, "list"),
        )
        for rows, colour, style, marker, label in bold_lines:
            heavy = {"color": colour, "linestyle": style, "linewidth": 2.4,
                     "zorder": 4 if rows is best else 3}
            if not curve(right, [(n, row and row["ms"]) for n, row in zip(sides, rows)], **heavy,
                         marker=marker, label=f"time (right): {label}"):
                note(f"{work}: no curve for {label}")
            if rows is not best:
                curve(left, zip(sides, map(ratio, rows, best)), **heavy,
                      label=f"times faster (left): the engine over {label}")
        curve(right, [(n, row and row.get("limit_ms")) for n, row in zip(sides, best)], color=GREY,
              linestyle=":", linewidth=2, label="time (right): the memory's limit")
        left.axhline(1, color=GREY, linewidth=1)
        for axes in (left, right):
            log_sides(axes)
            axes.set_yscale("log")
            plain_ticks(axes.yaxis)
            axes.set_title(WORKS[work])
        left.set_ylabel("times faster")
        right.set_ylabel("ms")
        times = [row["limit_ms"] for row in results.at(work, "gasket")
                 if row.get("limit_ms")]
        fastest = min(row["ms"] for row in results.at(work, "gasket"))
        if times:  # limits of small levels lie far below any launch
            right.set_ylim(bottom=fastest / 4)
    title_of(figure, "Sierpinski gasket: speedup over the bounding box, and times\n"
             "thin: left, lambda over BB at the same ρ; right, lambda solid and BB dashed",
             results)
    legend_below(figure, grid.flat, 3,
                 ("blocks of ρ × ρ: ", "times faster (left): ", "time (right): "))
    return figure


def draw_theory(pyplot, data):
    """The paper's Fig. 5, beside what was measured."""
    results = data.get("fractal")
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 5.6))
    for axes in (left, right):
        log_sides(axes)
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
        axes.axhline(1, color=GREY, linewidth=1)
    sides = [2**(i / 4) for i in range(6, 69)]
    left.plot(sides, [space_improvement("gasket", n) for n in sides], color=INK, linestyle="--",
              label="parallel space, $n^2 / n^H$")
    left.plot(sides, [theory_speedup("gasket", n) for n in sides], color=INK, linewidth=2.2,
              label="theory, $n^{2-H} / \\log_2 \\log_2 n$")
    first = theory_n_0("gasket")
    left.plot([first], [theory_speedup("gasket", first)], "o", color=INK, markersize=7)
    left.plot([first, first], [0.4, theory_speedup("gasket", first)], color=INK, linestyle=":")
    left.annotate(f"$n_0$ = {first:.1f}", (first, theory_speedup("gasket", first)), (4, -42),
                  textcoords="offset points")
    for work, colour, marker in zip(WORKS, (BLUE, RED, GREEN), "sD^"):
        gains_of = [(side("gasket", size),
                     ratio(results.best(work, "gasket", size, ("bb",)),
                           results.best_form(work, "gasket", size)))
                    for size in results.sizes(work, "gasket")] if results else []
        if not curve(left, gains_of, color=colour, marker=marker, linewidth=1,
                     label=f"measured, {work.upper()}: the engine over best BB"):
            note(f"theory: nothing measured for {work}")
    left.set_title("Sierpinski gasket")
    left.set_ylabel("times less, times faster")
    left.legend(fontsize=9, loc="upper left")
    left.set_ylim(0.4, left.get_ylim()[1] * 12)
    groups = {}  # fractals of the same curve
    for name, (_, k, sx, sy) in FRACTALS.items():
        groups.setdefault((sx, sx * sy / k), []).append(name)
    order = sorted(groups.values(), key=lambda names: -theory_speedup(names[0], 65536))
    for names, colour, marker in zip(order, COLOURS, MARKERS):
        points = [(n, theory_speedup(names[0], n)) for n in sides if n >= 2.9]
        right.plot(*zip(*points), color=colour, marker=marker, markevery=8,
                   label=", ".join(names))
    right.set_title("Theory, the catalogue")
    right.legend(fontsize=9, loc="upper left")
    right.set_ylim(top=right.get_ylim()[1] * 25)
    title_of(figure, "Speedup of lambda over the bounding box, equations 10 to 13", results)
    return figure


def bars_of_forms(axes, results, pairs):
    """The map alone where too few levels were measured for a curve."""
    size = results.top("dummy", "gasket")
    got = [(form, ratio(results.best("dummy", "gasket", size, (base,)),
                        results.best("dummy", "gasket", size, (form,)))) for form, base in pairs]
    got = [(form, gain) for form, gain in got if gain]
    for i, (form, gain) in enumerate(reversed(got)):
        axes.barh(i, gain, color=DUMMY_CURVES[form][0])
        axes.text(max(gain, 1), i, f" {sig(gain)}", va="center", fontsize=9.5)
    axes.set_yticks(range(len(got)), [form for form, _ in reversed(got)], fontsize=10)
    axes.set_xlim(0, 1.15 * max((gain for _, gain in got), default=1))
    axes.axvline(1, color=INK, linewidth=1.2)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("times faster than shuffle")
    axes.set_title(f"The map alone, {size} levels")


def draw_forms(pyplot, data):
    """The paper's Fig. 11: each form over the shuffle form."""
    results = data["fractal"]
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 8.6))
    for axes, kind in zip(grid.flat, ("dummy", *WORKS)):
        names = results.variants(kind, "gasket")
        if kind == "dummy":
            pairs = [(name, "shuffle") for name in DUMMY_CURVES if name in names]
            axes.set_title("The map alone")
        else:
            pairs = [(name, "lambda_shuffle") for name in names
                     if name in ("lambda", "lambda_redux", "lambda_ballot")]
            pairs += [(name, "tile_shuffle") for name in names
                      if name in ("tile_redux", "tile_ballot", "tile_mma")]
            axes.set_title(WORKS[kind])
        if kind == "dummy" and 0 < len(results.sizes("dummy", "gasket")) < 3:
            bars_of_forms(axes, results, pairs)
            continue
        drawn = False
        for form, base in pairs:
            short = form.replace("lambda_", "")
            colour, marker, line = DUMMY_CURVES[short]
            drawn |= curve(axes, [(side("gasket", size),
                                   ratio(results.best(kind, "gasket", size, (base,)),
                                         results.best(kind, "gasket", size, (form,))))
                                  for size in results.sizes(kind, "gasket")],
                           color=colour, marker=marker, linestyle=line,
                           label=short + (" over tile_shuffle" if base[0] == "t" else ""))
        if not drawn:
            note(f"forms: nothing measured for {kind}")
            axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center")
        axes.axhline(1, color=GREY, linewidth=1.2)
        log_sides(axes)
        if kind == "dummy":
            axes.set_yscale("log", base=2)
            plain_ticks(axes.yaxis)
        axes.set_ylabel("times faster than shuffle")
    title_of(figure, "Sierpinski gasket: each form of lambda over warp shuffles", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_fig11(pyplot, data):
    """The paper's Fig. 11: its tensor-core variants over shuffles, a block for each tile."""
    results = paper_results(data)
    figure, grid = pyplot.subplots(len(WORKS), 2, figsize=(9, 9.8))
    for places, work in zip(grid, WORKS):
        for axes, rho in zip(places, (16, 32)):
            sizes, drawn = results.sizes(work, "gasket"), False
            for form, marker in ((1, "o"), (2, "P"), (3, "X")):
                for name, colour, more in (("wmma_fp16", RED, {"form": form}),
                                           (f"mma{form}", BLUE, {})):
                    drawn |= curve(axes, [
                        (side("gasket", size),
                         ratio(box_row(results, work, size, rho, "lambda_block"),
                               box_row(results, work, size, rho, name, tiles_per_block=1, **more)))
                        for size in sizes], color=colour, marker=marker,
                        label=f"variant {form}, " + ("WMMA" if more else "integers"))
            if not drawn:
                note(f"fig11: nothing measured for {work}, rho = {rho}")
                axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center")
            axes.axhline(1, color=GREY, linewidth=1.2)
            log_sides(axes)
            axes.set_title(f"{WORKS[work]}, ρ = {rho}")
            axes.set_ylabel("times faster than shuffles")
    title_of(figure, "Sierpinski gasket: tensor cores over warp shuffles, a block for each tile",
             results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_dummy(pyplot, data):
    """Every form of the map alone at the top level."""
    results = data["fractal"]
    domains = results.domains("dummy")[:2]
    forms = results.variants("dummy")
    figure, grid = pyplot.subplots(1, len(domains), figsize=(9, 0.29 * len(forms) + 1.5),
                                   squeeze=False)
    families = (("mma", RED, "tensor cores"), ("group", BLUE, "groups of lanes"),
                ("", GREY, "a whole warp for a tile"))
    for axes, domain in zip(grid[0], domains):
        size = results.top("dummy", domain)
        rows = [results.best("dummy", domain, size, (form,)) for form in forms]
        rows = sorted((row for row in rows if row), key=lambda row: -row["ms"])
        base = results.best("dummy", domain, size, ("shuffle",))
        widest = max(row["ms"] for row in rows)
        seen = set()
        for i, row in enumerate(rows):
            prefix, colour, label = next(f for f in families if row["variant"].startswith(f[0]))
            axes.barh(i, row["ms"], color=colour, label=None if prefix in seen else label)
            seen.add(prefix)
            gain = ratio(base, row)
            axes.text(row["ms"] + widest * 0.02, i, f"{ms(row)}" + (f"  ({sig(gain)}×)"
                      if gain else ""), va="center", fontsize=9)
        axes.set_yticks(range(len(rows)), [row["variant"] for row in rows], fontsize=10)
        axes.set_xlim(0, widest * 1.45)
        axes.set_ylim(-0.7, len(rows) - 0.3)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("ms")
        axes.set_title(f"{FRACTALS[domain][0]}, {size} levels")
    title_of(figure, "The map alone; in brackets, times faster than shuffle", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_fractals(pyplot, data):
    """All fractals at their top level."""
    results = data["fractal"]
    works = [work for work in WORKS if results.domains(work)]
    figure, grid = pyplot.subplots(len(works), 2, figsize=(9, 3.1 * len(works) + 1),
                                   squeeze=False, width_ratios=(2.1, 1))
    for (left, right), work in zip(grid, works):
        domains = [d for d in results.domains(work) if results.top(work, d) is not None]
        places = range(len(domains))
        names = [f"{d}\nr = {results.top(work, d)}" for d in domains]
        for i, (base, colour) in enumerate(zip(BASES, (RED, ORANGE, BLUE))):
            got = [gains(results, work, d, results.top(work, d),
                         results.best_form(work, d, results.top(work, d)))[i] for d in domains]
            if not any(got):
                note(f"fractals: no {base} for {work}")
            left.bar([p + (i - 1) * 0.27 for p in places], [g and g - 1 or 0 for g in got], 0.27,
                     bottom=1, color=colour, label=f"the engine over {BASES[base]}")
        left.set_yscale("log")
        plain_ticks(left.yaxis)
        left.axhline(1, color=INK, linewidth=1)
        left.set_ylabel("times faster")
        rows = [results.best_form(work, d, results.top(work, d)) for d in domains]
        reached = [row.get("limit_pct") or 0 for row in rows]
        right.bar(places, reached, 0.7, color=GREEN, label="percent of the memory's limit")
        for p, value in zip(places, reached):
            right.text(p, value, f"{value:.0f}", ha="center", va="bottom", fontsize=9)
        right.set_ylim(0, max(105, *(value * 1.12 for value in reached)))
        right.set_ylabel("% of limit")
        left.set_title(WORKS[work])
        left.set_xticks(places, names, fontsize=8.5, rotation=35)
        right.set_xticks(places, domains, fontsize=8.5, rotation=60)
        for axes in (left, right):
            axes.grid(axis="x", visible=False)
    title_of(figure, "Nine fractals at their largest side up to 65536", results)
    legend_below(figure, grid.flat, 2)
    return figure


def draw_triangle(pyplot, data):
    """Each map over the bounding box, against n."""
    results = data["triangle"]
    groups = {key: rows for key, rows in triangle_groups(results).items()
              if any(row["variant"] == "bb" for row in rows)}  # the others have no bounding box
    columns = min(len(groups), 2)
    lines = -(-len(groups) // columns)
    figure, grid = pyplot.subplots(lines, columns, figsize=(9, 3.6 * lines + 1.2), squeeze=False)
    names = list(dict.fromkeys(row["variant"] for rows in groups.values() for row in rows
                               if row["variant"] != "bb"))
    for axes in list(grid.flat)[len(groups):]:
        axes.set_axis_off()
    for axes, (key, rows) in zip(grid.flat, groups.items()):
        def best(n, variant, among=rows):
            return min((row for row in among if row["size"] == n and row["variant"] == variant),
                       key=lambda row: row["ms"], default=None)
        for i, name in enumerate(names):
            curve(axes, [(n, ratio(best(n, "bb"), best(n, name)))
                         for n in sorted({row["size"] for row in rows})], label=name,
                  color=COLOURS[i % len(COLOURS)],
                  marker=MARKERS[(i + i // len(COLOURS)) % len(MARKERS)])
        axes.axhline(1, color=GREY, linewidth=1.2)
        log_sides(axes)
        axes.set_title(group_title(key))
        axes.set_ylabel("times faster than BB")
    title_of(figure, "Triangle: each map over the bounding box", results)
    legend_below(figure, grid.flat, 4)
    return figure


def draw_triangle_published(pyplot, data):
    """The paper's Figs. 3 and 5: I against n with blocks of 16 x 16, and against the features."""
    results = data["triangle"]
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 8.2))
    panels = ((0, "dummy"), (1, "EDM, one feature"), (4, "EDM, four features"))
    names = [v for v in TRIANGLE_NAMES if triangle_rows(results, 0, variant=v)]
    n = triangle_sizes(results)[-1]
    for i, name in enumerate(names):
        style = {"label": TRIANGLE_NAMES[name], "color": COLOURS[i % len(COLOURS)],
                 "marker": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]}
        for axes, (d, _) in zip(grid.flat, panels):
            if not curve(axes, [(m, triangle_gain(results, d, m, name))
                                for m in triangle_sizes(results, 1 << 20)], **style):
                note(f"triangle_published: no curve for {name}, d = {d}")
        curve(grid[1][1], [(d, triangle_gain(results, d, n, name)) for d in range(5)], **style)
    for axes, (_, title) in zip(grid.flat, panels):
        log_sides(axes)
        axes.axvline(PAPER_N, color=GREY, linewidth=0.8, linestyle=":")
        axes.set_title(title)
    grid[1][1].set_title(f"n = {n}, against features (0: dummy)")
    grid[1][1].set_xticks(range(5))
    for axes in grid.flat:
        axes.axhline(1, color=GREY, linewidth=1.2)
        axes.set_ylim(0, 2.1)
        axes.set_ylabel("I, times faster than BB")
    title_of(figure, "Triangle, blocks of 16 × 16: I as the paper has it (dotted: its largest N)",
             results)
    legend_below(figure, grid.flat, 5)
    return figure


def draw_triangle_k(pyplot, data):
    """k of the model, and blocks without a cell (the paper's Fig. 3, right)."""
    results = data["triangle"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4.8))
    sizes = triangle_sizes(results, 1 << 20)
    for i, (d, rho) in enumerate((d, rho) for d in (0, 4) for rho in (8, 16, 32)):
        points = [(n, rows[0]["k"]) for n in sizes
                  for rows in [triangle_rows(results, d, n, "ltm_exact", rho)] if rows]
        curve(left, points, color=COLOURS[i], marker=MARKERS[i], linestyle="--" if d else "-",
              label=f"{'EDM, d = 4' if d else 'dummy'}, ρ = {rho}")
    left.axhline(1, color=GREY, linewidth=1.2)
    left.set_title("k of the exact map")
    left.set_ylabel("2n / (n + 1) by I")
    for i, (name, key) in enumerate((("bb", "wasted_blocks"), ("rec", "wasted_blocks"),
                                     ("ltm_rsqrt", "partial_blocks"))):
        points = [(n, rows[0].get(key) or None) for n in sizes
                  for rows in [triangle_rows(results, 0, n, name)] if rows]
        curve(right, points, color=COLOURS[i], marker=MARKERS[i],
              label=f"{'BB' if name == 'bb' else TRIANGLE_NAMES[name]}, "
                    + ("without a cell" if key == "wasted_blocks" else "with idle threads"))
    right.set_yscale("log")
    right.set_title("blocks of 16 × 16 without a cell\n(LTM-X, -N, -R: none)")
    right.legend(fontsize=9)
    for axes in (left, right):
        log_sides(axes)
    left.legend(fontsize=9)
    title_of(figure, "Triangle: the model's k, and blocks that are wasted", results)
    return figure


def draw_drmsd(pyplot, data):
    """Pairs a second against n: each form at its best, and the roots of the best form."""
    results = data["drmsd"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4.8), sharey=True)
    sizes = drmsd_sizes(results)

    def rates(**more):
        found = [(n, drmsd_best(results, n, **more)) for n in sizes]
        return [(n, row and row["tpairs"]) for n, row in found]
    lines = [({"variant": name}, title) for name, title in (*DRMSD_OTHERS.items(),
                                                            *DRMSD_FORMS.items())
             if name != "host"]  # which is far below
    for axes, entries in ((left, lines), (right, [({"variant": "triangle_2d", "root": root}, title)
                                                  for root, title in DRMSD_ROOTS.items()])):
        for i, (what, title) in enumerate(entries):
            if not curve(axes, rates(**what), color=COLOURS[i], marker=MARKERS[i],
                         linestyle="--" if axes is right else "-", label=title.replace("`", "")):
                note(f"drmsd_rates: no curve for {title}")
        log_sides(axes)
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
        limits = [row["tpairs"] * 100 / row["mufu_pct"] for row in drmsd_pairs(results, sizes[-1])
                  if row.get("mufu_pct") and row.get("root") in ("rsqrt", "approx")]
        if limits:
            axes.axhline(min(limits), color=INK, linestyle=":",
                         label="special functions, two a pair")
        axes.legend(fontsize=9, loc="lower right")
    left.set_ylabel("10^12 pairs of atoms a second")
    left.set_title("Each form, at its best root and u")
    right.set_title("2D by tiles: roots, each at its best u")
    title_of(figure, "dRMSD of one pair of frames of n atoms", results)
    return figure


def compact_grid(pyplot, results):
    """Axes for each fractal, three a row: (figure, [(axes, domain)])."""
    domains = compact_domains(results, work="life")
    columns = min(len(domains), 3)
    lines = -(-len(domains) // columns)
    figure, grid = pyplot.subplots(lines, columns, figsize=(9, 2.7 * lines + 1.2), squeeze=False)
    for axes in list(grid.flat)[len(domains):]:
        axes.set_axis_off()
    for axes, domain in zip(grid.flat, domains):
        axes.set_title(FRACTALS[domain][0])
        axes.set_yscale("log")
        axes.set_xlabel("r")
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure, list(zip(grid.flat, domains))


def draw_compact_speed(pyplot, data):
    """Cells a second against the level, each variant of life."""
    results = data["compact"]
    figure, grid = compact_grid(pyplot, results)
    for axes, domain in grid:
        for i, (name, title) in enumerate(COMPACT_LIFE.items()):
            points = [(row["size"], row["gcells"]) for row in compact_life(results, domain, name)]
            curve(axes, sorted(points), color=COLOURS[i], marker=MARKERS[i], label=title)
        axes.set_ylabel("10^9 cells/s")
    title_of(figure, "A step of life: cells a second against the level", results)
    legend_below(figure, [axes for axes, _ in grid], 5)
    return figure


def draw_compact_memory(pyplot, data):
    """Bytes of a state that was run against those of a matrix."""
    results = data["compact"]
    figure, grid = compact_grid(pyplot, results)
    for axes, domain in grid:
        sizes = compact_sizes(results, work="life", domain=domain)
        for factor, title, style in ((1, "a matrix of bytes", "--"), (1 / 8, "a matrix of bits", ":")):
            curve(axes, [(size, places(domain, size) * factor) for size in sizes], color=GREY,
                  linestyle=style, label=title)
        for i, (name, title) in list(enumerate(COMPACT_LIFE.items()))[-2:]:
            points = [(row["size"], row["bytes"]) for row in compact_life(results, domain, name)]
            curve(axes, sorted(points), color=COLOURS[i], marker=MARKERS[i], label=title)
        axes.set_ylabel("bytes")
    title_of(figure, "Memory of a state against that of a matrix", results)
    legend_below(figure, [axes for axes, _ in grid], 4)
    return figure


# ---- pictures of adaptive subdivision -----------------------------------------------------------

ASK_STYLES = {"ask_mbr": (RED, "o", "-"), "ask_sbr": (ORANGE, "s", "-"),
              "dp_mbr": (BLUE, "^", "--"), "dp_sbr": (SKY, "v", "--"),
              FLAT: (GREEN, "P", "-."), UNROLLED: (GREY, "D", ":")}


def ask_landscape_size(results):
    """The largest size at which all (g, r, B) were run, else the largest."""
    sizes = sorted({row["size"] for row in ask_rows(results, part="landscape")})
    return (sizes or ask_sizes(results))[-1]


def draw_ask_speedup(pyplot, data):
    """The paper's Fig. 8: speedup against n, g, r and B, the other parameters at their best."""
    results = data["ask"]
    size = ask_landscape_size(results)
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 8))
    for axes, key in zip(grid.flat, ("size", "g", "r", "B")):
        for variant, (colour, marker, line) in ASK_STYLES.items():
            rows = [row for row in ask_rows(results, None if key == "size" else size, (variant,))
                    if key in row and (variant != FLAT or key in ("size", "g"))]
            points = [(x, ratio(ask_best(results, x if key == "size" else size, (EXHAUSTIVE,)),
                                min((row for row in rows if row[key] == x),
                                    key=lambda row: row["ms"])))
                      for x in sorted({row[key] for row in rows})]
            if not curve(axes, points, color=colour, marker=marker, linestyle=line,
                         label=ASK_NAMES[variant]) and (key == "size" or variant not in (
                             FLAT, UNROLLED)):
                note(f"ask_speedup: no curve against {key} for {variant}")
        axes.axhline(1, color=GREY, linewidth=1.2)
        axes.set_xscale("log", base=2)
        plain_ticks(axes.xaxis)
        axes.set_xlabel("n" if key == "size" else key)
        axes.set_ylabel("times faster than exhaustive")
        axes.set_ylim(bottom=0)
        axes.set_title("against n" if key == "size" else f"n = {size}, against {key}")
    title_of(figure, "Mandelbrot set: speedup over exhaustive, other parameters at their best",
             results)
    legend_below(figure, grid.flat, 5)
    return figure


def draw_ask_landscape(pyplot, data):
    """The paper's Fig. 7: speedup over (g, B) for each r."""
    results = data["ask"]
    size = ask_landscape_size(results)
    base = ask_best(results, size, (EXHAUSTIVE,))
    rows = {v: ask_rows(results, size, (v,), "landscape") or ask_rows(results, size, (v,))
            for v in ASKS}
    every = [row for v in ASKS for row in rows[v]]
    for v in DPS:  # where all of the landscape was searched; plans of as many levels are the same
        if ask_searched(results, size, (v,)):
            rows[v] = [{**row, "B": place["B"]} for place in rows[ASKS[0]]
                       for row in ask_rows(results, size, (v,)) if
                       (row["g"], row["r"], ask_levels(row)) ==
                       (place["g"], place["r"], ask_levels(place))]
    gs, rs, bs = (sorted({row[key] for row in every}) for key in ("g", "r", "B"))
    top = max(ratio(base, row) for row in every)
    figure, grid = pyplot.subplots(len(rows), len(rs), squeeze=False, sharex=True, sharey=True,
                                   figsize=(2.2 * len(rs) + 1.4, 3.3 * len(rows)))
    for line, variant in zip(grid, rows):
        best = min(rows[variant], key=lambda row: row["ms"], default=None)
        for axes, r in zip(line, rs):
            cells = [[None] * len(gs) for _ in bs]
            for row in (row for row in rows[variant] if row["r"] == r):
                cells[bs.index(row["B"])][gs.index(row["g"])] = ratio(base, row)
            shown = axes.imshow([[math.nan if c is None else c for c in line] for line in cells],
                                cmap="viridis", vmin=0, vmax=top, origin="lower", aspect="auto")
            for y, cell_line in enumerate(cells):
                for x, gain in enumerate(cell_line):
                    if gain is not None:
                        axes.text(x, y, f"{gain:.1f}", ha="center", va="center", fontsize=6.5,
                                  color="white" if gain < 0.6 * top else "black")
            if best and best["r"] == r:
                axes.add_patch(pyplot.Rectangle((gs.index(best["g"]) - 0.5,
                                                 bs.index(best["B"]) - 0.5), 1, 1, fill=False,
                                                edgecolor=RED, linewidth=2.2))
            axes.set_xticks(range(len(gs)), gs, fontsize=8.5)
            axes.set_yticks(range(len(bs)), bs, fontsize=8.5)
            axes.grid(visible=False)
            axes.set_title(f"{ASK_NAMES[variant]}, r = {r}", fontsize=10.5)
            if variant == list(rows)[-1]:
                axes.set_xlabel("g")
        line[0].set_ylabel("B")
    figure.colorbar(shown, ax=list(grid.flat), label="times faster than exhaustive", shrink=0.7)
    title_of(figure, f"Mandelbrot set, n = {size}: speedup over exhaustive", results)
    return figure


def draw_ask_p(pyplot, data):
    """P of every level against the side of its regions; the model has one number."""
    results = data["ask"]
    figure, axes = pyplot.subplots(1, 1, figsize=(7, 4.8))
    found = [row for row in results.at("levels") if row["variant"] == "ask_mbr"
             and len(row["P"]) > 1]
    for i, row in enumerate(found):
        curve(axes, [(row["size"] / (row["g"] * row["r"]**level), p)
                     for level, p in enumerate(row["P"])],
              color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
              label=f"n = {row['size']}, {parameters(row)}")
        one = sum(p * c for p, c in zip(row["P"], row["regions"])) / sum(row["regions"])
        axes.axhline(one, color=COLOURS[i % len(COLOURS)], linewidth=0.9, linestyle=":")
    axes.set_xscale("log", base=2)
    plain_ticks(axes.xaxis)
    axes.set_ylim(0, 1)
    axes.set_xlabel("side of a region, pixels")
    axes.set_ylabel("P: regions that are not uniform")
    axes.legend(fontsize=9)
    title_of(figure, "Mandelbrot set: P by level; dotted: all levels as one", results)
    return figure


def draw_ask_model(pyplot, data):
    """Predicted against measured times of all subdivisions."""
    results = data["ask"]
    figure, grid = pyplot.subplots(1, len(ASKS), figsize=(9, 5.6), squeeze=False)
    for axes, variant in zip(grid[0], ASKS):
        found = [row for row in results.at("predict") if row["variant"] == variant]
        for i, row in enumerate(found):
            axes.plot(row["measured"], row["predicted"], MARKERS[i % len(MARKERS)], markersize=4,
                      color=COLOURS[i % len(COLOURS)], alpha=0.7, label=f"n = {row['size']}")
            axes.plot([row["best_ms"]], [row["best_ms"]], "+", color=INK, markersize=11)
        ends = [x for row in found for x in row["measured"] + row["predicted"] if x > 0]
        if ends:
            axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color=GREY, linewidth=1.2)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            plain_ticks(axis)
            axis.set_minor_formatter("")
        axes.set_xlabel("measured, ms")
        axes.set_ylabel("predicted, ms")
        axes.set_title(ASK_NAMES[variant])
    title_of(figure, "Times of all (g, r, B): predicted and measured; +: the measured best", results)
    legend_below(figure, grid.flat, 4)
    return figure


def draw_theory_of(pyplot, data, goals, title):
    """The model's curves: a row for each variable, a column for each parameter that differs."""
    results = data["ask"]
    rows = results.at("theory")
    columns = [name for name in ("P", "A", "lambda", "n", "q", "c")
               if any(row["parameter"] == name and row["variant"] in goals for row in rows)]
    figure, grid = pyplot.subplots(4, len(columns), figsize=(3 * len(columns), 11), squeeze=False)
    for line, axis in zip(grid, ("n", "g", "r", "B")):
        for axes, parameter in zip(line, columns):
            values = sorted({row["value"] for row in rows if row["parameter"] == parameter})
            for goal, style in zip(goals, ("-", "--")):
                for i, value in enumerate(values):
                    for row in rows:
                        if (row["variant"], row["axis"], row["parameter"], row["value"]) == \
                                (goal, axis, parameter, value):
                            name = "λ" if parameter == "lambda" else parameter
                            axes.plot(row["x"], row["y"], style, color=COLOURS[i], marker=".",
                                      label=f"{name} = {value:.7g}" if style == "-" else None)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            plain_ticks(axes.yaxis)
            axes.yaxis.set_minor_formatter("")
            if axis != "n":
                plain_ticks(axes.xaxis)
            axes.set_xlabel(axis)
            if axes.lines:
                axes.legend(fontsize=7.5)
            else:
                axes.set_axis_off()  # n against n
    for line in grid:
        line[0].set_ylabel("Ω" if goals == ("omega",) else "times faster")
    figure.suptitle(title, fontsize=12)
    return figure


def draw_ask_omega(pyplot, data):
    """The paper's Fig. 3."""
    return draw_theory_of(pyplot, data, ("omega",), "The model's work reduction Ω, "
                          "other parameters at their best\n"
                          "not varied: A = 512, P = 0.7, λ = 100, n = 65536")


def draw_ask_theory(pyplot, data):
    """The paper's Fig. 4."""
    return draw_theory_of(pyplot, data, ("sbr", "mbr"), "The model's speedups: SBR solid, MBR "
                          "dashed\nnot varied: A = 512, P = 0.7, λ = 100, n = 65536, "
                          "128 multiprocessors of 64 cores")


def has_ask(data):
    return "ask" in data and any(ask_rows(data["ask"], None, (v,)) for v in ASKS) and \
        bool(ask_rows(data["ask"], None, (EXHAUSTIVE,)))


def has_ask_model(data):
    return "ask" in data and bool(data["ask"].at("predict"))


def has_ask_theory(data):
    return "ask" in data and bool(data["ask"].at("theory"))


def has_gasket(data):
    return "fractal" in data and any(data["fractal"].sizes(work, "gasket") for work in WORKS)


def has_fig11(data):
    results = paper_results(data)
    return bool(results) and any(row["variant"] == "wmma_fp16" for row in results.rows)


def has_dummy(data):
    return "fractal" in data and bool(data["fractal"].domains("dummy"))


def has_forms(data):
    return has_gasket(data) or has_dummy(data)


def has_tops(data):
    return "fractal" in data and any(
        data["fractal"].top(work, domain) is not None
        for work in WORKS for domain in data["fractal"].domains(work))


def has_triangle(data):
    return "triangle" in data and any(row["variant"] == "bb" for row in data["triangle"].rows)


def has_triangle_maps(data):
    return "triangle" in data and bool(triangle_rows(data["triangle"], 0, variant="ltm_rsqrt"))


def has_ask_levels(data):
    return "ask" in data and any(len(row["P"]) > 1 for row in data["ask"].at("levels"))


def has_drmsd(data):
    return "drmsd" in data and bool(drmsd_pairs(data["drmsd"]))


def has_compact(data):
    return bool(compact_rows(data.get("compact"), work="life"))


# name: title, whether the results have it, how it is drawn
PICTURES = {
    "gasket_speedup": ("Speedup over the bounding box, and times, against n", has_gasket,
                       draw_speedup),
    "theory": ("Speedup in theory, and measured", has_gasket, draw_theory),
    "forms": ("Each form of lambda over warp shuffles, against n", has_forms, draw_forms),
    "fig11": ("Tensor-core variants over warp shuffles, against n", has_fig11, draw_fig11),
    "map_only": ("Times of the map alone", has_dummy, draw_dummy),
    "fractals_speedup": ("Nine fractals: speedup and percent of the limit", has_tops,
                         draw_fractals),
    "ask_speedup": ("Mandelbrot set: speedup over exhaustive against n, g, r and B", has_ask,
                    draw_ask_speedup),
    "ask_landscape": ("Mandelbrot set: speedup over (g, r, B)", has_ask, draw_ask_landscape),
    "ask_model": ("Predicted and measured times of subdivisions", has_ask_model, draw_ask_model),
    "ask_omega": ("Work reduction by the cost model", has_ask_theory, draw_ask_omega),
    "ask_theory": ("Speedups by the cost model", has_ask_theory, draw_ask_theory),
    "triangle_speedup": ("Maps of the triangle over the bounding box, against n", has_triangle,
                         draw_triangle),
    "triangle_published": ("Triangle: I against n with blocks of 16 x 16, and against features",
                           has_triangle_maps, draw_triangle_published),
    "triangle_k": ("Triangle: the model's k, and blocks without a cell", has_triangle_maps,
                   draw_triangle_k),
    "ask_p": ("Mandelbrot set: P by level", has_ask_levels, draw_ask_p),
    "compact_speed": ("Life on compact storage: cells a second against the level", has_compact,
                      draw_compact_speed),
    "compact_memory": ("Memory of a state against that of a matrix", has_compact,
                       draw_compact_memory),
    "drmsd_rates": ("dRMSD of one pair of frames: pairs a second against n", has_drmsd, draw_drmsd),
}


def draw(data, out, suffix):
    """Draws what there are results for. Returns an exit status."""
    try:
        pyplot = start()
    except ImportError:
        note("no matplotlib: python3 -m pip install matplotlib")
        return 1
    os.makedirs(out, exist_ok=True)
    for name, (_, has, make) in PICTURES.items():
        if not has(data):
            note(f"{name}: no results for it, left out")
            continue
        figure = make(pyplot, data)
        path = os.path.join(out, f"{name}.{suffix}")
        # Without a date or a version in it, the same results give the same file.
        figure.savefig(path, metadata={"Software": None} if suffix == "png" else {"Date": None})
        if suffix == "png":  # 256 colours are enough, and a third of the bytes
            from PIL import Image  # pylint: disable=import-outside-toplevel
            with Image.open(path) as image:
                image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path,
                                                                                  optimize=True)
        pyplot.close(figure)
        print(path)
    return 0


# ---- the command line ---------------------------------------------------------------------------

def main(argv):
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", metavar="DIR", help="folder of JSON files")
    parser.add_argument("--out", metavar="DIR", default=os.path.join(ROOT, "docs", "img"))
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    parser.add_argument("--tables", action="store_true", help="print all tables")
    parser.add_argument("--update", metavar="FILE", nargs="*", help="refill these documents")
    options = parser.parse_args(argv)
    folder = options.results or default_results()
    try:
        data = load(folder)
    except (OSError, ValueError) as error:
        note(f"{folder}: {error}")
        return 2
    if not data and options.update is None:
        note(f"no results in {folder or os.path.join(ROOT, 'bench', 'results')}"
             " (bench/run makes them)")
        return 2
    if options.tables:
        print("\n\n".join(f"{name}:\n\n{make(data)}" for name, make in TABLES.items()))
    if options.update == []:
        options.update = [os.path.join(ROOT, name) for name in DOCUMENTS]
    for path in options.update or ():
        images = os.path.relpath(options.out, os.path.dirname(os.path.abspath(path)))
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            filled = refill(text, data, images, options.format)
            if filled != text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(filled)
        except (OSError, ValueError) as error:
            note(f"{path}: {error}")
            return 2
    if options.tables or options.update:
        return 0
    return draw(data, options.out, options.format)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
