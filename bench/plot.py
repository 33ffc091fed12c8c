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
    for name in ("fractal", "block", "compact", "triangle", "pairs", "drmsd", "flood", "ask"):
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


# ---- tables of adaptive subdivision -------------------------------------------------------------

EXHAUSTIVE, UNROLLED, ASKS, DPS = "exhaustive", "unrolled", ("ask_sbr", "ask_mbr"), ("dp_sbr",
                                                                                       "dp_mbr")
ASK_NAMES = {EXHAUSTIVE: "exhaustive", UNROLLED: "unrolled", "ask_sbr": "ASK-SBR",
             "ask_mbr": "ASK-MBR", "dp_sbr": "DP-SBR", "dp_mbr": "DP-MBR"}
ASK_DRIVERS = ("host", "stream", "captured", "graph", "cooperative")


def ask_rows(results, n=None, variants=None, part=None, bulbs=False):
    """Timed pictures. Those with the formula of the bulbs are apart."""
    return [row for row in results.at("mandelbrot") if n in (None, row["size"])
            and (variants is None or row["variant"] in variants)
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


def table_ask(data):
    """Each size: the best of every approach."""
    results, rows = data.get("ask"), []
    for n in ask_sizes(results) if results else ():
        base, unrolled = (ask_best(results, n, (v,)) for v in (EXHAUSTIVE, UNROLLED))
        ask, dp = ask_best(results, n, ASKS), ask_best(results, n, DPS)
        rows.append([str(n), ms(base), ms(unrolled), *(ms(ask_best(results, n, (v,))) for v in DPS),
                     *(bold(ms(row)) if row and row is ask else ms(row)
                       for row in (ask_best(results, n, (v,)) for v in ASKS)),
                     parameters(ask), ask.get("driver", "-") if ask else "-",
                     bold(sig(ratio(base, ask))), sig(ratio(dp, ask)),
                     sig(ratio(base, dp)), percent(ask)])
    return table(["n", "exhaustive", "unrolled", "DP-SBR", "DP-MBR", "ASK-SBR", "ASK-MBR",
                  "(g, r, B) ", "driver ", "exhaustive / ASK", "DP / ASK", "exhaustive / DP",
                  "% of limit"], rows)


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
                         sig(row["leaf"]), sig(row["omega"])])
    return table(["n", "(g, r, B) ", "whole picture", "borders", "leaves", "Ω"], rows)


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
    """What DP loses at the default limit of pending launches."""
    results, rows = data.get("ask"), []
    for n in sorted({row["size"] for row in results.at("dp_lost")}) if results else ():
        for variant in DPS:
            best = ask_best(results, n, (variant,))
            group = [row for row in results.at("dp_lost") if row["size"] == n
                     and row["variant"] == variant]
            for row in group:
                if best and parameters(row) == parameters(best):
                    rows.append([str(n), ASK_NAMES[variant], parameters(row), ms(best),
                                 whole(row["launches_lost"]), whole(row["pixels_lost"]),
                                 f"{sum(r['pixels_lost'] > 0 for r in group)} of {len(group)}"])
    return table(["n", "form ", "(g, r, B) ", "ms at a raised limit", "launches lost",
                  "pixels not written", "subdivisions that lose some"], rows)


def table_ask_energy(data):
    results, rows = data.get("ask"), []
    found = [row for row in results.at("mandelbrot") if row.get("millijoules")] if results else []
    for n in sorted({row["size"] for row in found}):
        by = {row["variant"]: row["millijoules"] for row in found if row["size"] == n}
        ask = min((by[v] for v in ASKS if v in by), default=None)
        rows.append([str(n), *(sig(by.get(v)) for v in ASK_NAMES),
                     sig(by[EXHAUSTIVE] / ask if ask and EXHAUSTIVE in by else None)])
    return table(["n", *ASK_NAMES.values(), "exhaustive / ASK"], rows)


def table_ask_summary(data):
    """For the README: three sizes."""
    results, rows = data.get("ask"), []
    sizes = ask_sizes(results) if results else []
    for n in [n for n in (4096, 16384, 65536) if n in sizes] or sizes[-3:]:
        base, unrolled, dp, ask = (ask_best(results, n, v)
                                   for v in ((EXHAUSTIVE,), (UNROLLED,), DPS, ASKS))
        rows.append([f"{n} × {n}", ms(base), ms(unrolled), ms(dp), bold(ms(ask)),
                     sig(ratio(unrolled, ask)), sig(ratio(dp, ask))])
    return table(["pixels", "exhaustive, ms", "a test in 32 steps, ms", "dynamic parallelism, ms",
                  "ASK, ms", "× a test in 32 steps", "× dynamic parallelism"], rows)


ASK_TABLES = {
    "ask": table_ask, "ask-differ": table_ask_differ, "ask-drivers": table_ask_drivers,
    "ask-bulbs": table_ask_bulbs, "ask-levels": table_ask_levels, "ask-costs": table_ask_costs,
    "ask-predict": table_ask_predict, "ask-lost": table_ask_lost, "ask-energy": table_ask_energy,
    "ask-summary": table_ask_summary,
}

TABLES = {
    **ASK_TABLES,
    "meta": table_meta, "summary": table_summary, "engine": table_engine,
    **{f"gasket-{work}": table_gasket(work) for work in WORKS},
    "rho": table_rho,
    **{f"fractals-{work}": table_fractals(work) for work in WORKS},
    "n0": table_n_0, "dummy": table_dummy, "triangle": table_triangle, "pdist": table_pdist,
    "pairs": table_pairs,
    "molecules": table_molecules,
    "drmsd": table_drmsd, "drmsd-u": table_drmsd_u, "drmsd-claims": table_drmsd_claims,
    "floods": table_floods, "flood-claims": table_flood_claims,
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
              "dp_mbr": (BLUE, "^", "--"), "dp_sbr": (SKY, "v", "--"), UNROLLED: (GREY, "D", ":")}


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
                    if key in row]
            points = [(x, ratio(ask_best(results, x if key == "size" else size, (EXHAUSTIVE,)),
                                min((row for row in rows if row[key] == x),
                                    key=lambda row: row["ms"])))
                      for x in sorted({row[key] for row in rows})]
            if not curve(axes, points, color=colour, marker=marker, linestyle=line,
                         label=ASK_NAMES[variant]) and (key == "size" or variant != UNROLLED):
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
    gs, rs, bs = (sorted({row[key] for row in every}) for key in ("g", "r", "B"))
    top = max(ratio(base, row) for row in every)
    figure, grid = pyplot.subplots(len(ASKS), len(rs), figsize=(2.2 * len(rs) + 1.4, 6.6),
                                   squeeze=False, sharex=True, sharey=True)
    for line, variant in zip(grid, ASKS):
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
            if variant == ASKS[-1]:
                axes.set_xlabel("g")
        line[0].set_ylabel("B")
    figure.colorbar(shown, ax=list(grid.flat), label="times faster than exhaustive", shrink=0.7)
    title_of(figure, f"Mandelbrot set, n = {size}: speedup over exhaustive", results)
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
    columns = ("P", "A", "lambda")
    figure, grid = pyplot.subplots(4, 3, figsize=(9, 11))
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
                                      label=f"{name} = {value:g}" if style == "-" else None)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            plain_ticks(axes.yaxis)
            axes.yaxis.set_minor_formatter("")
            if axis != "n":
                plain_ticks(axes.xaxis)
            axes.set_xlabel(axis)
            axes.legend(fontsize=7.5)
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
