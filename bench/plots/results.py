# SPDX-License-Identifier: MIT
"""Results of the benchmarks: the rows of JSON files, what is read out of them, and equations 10 to 13 of
the fractals' paper.
"""
import json
import math
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ("docs/python.md", "README.md", "docs/choosing.md", "docs/performance.md", "docs/notebook.md",
             "docs/papers.md", "docs/maps/molecules.md", "docs/maps/floods.md", "docs/maps/fractal3.md", "docs/maps/near.md",
             "bench/results/h200/tables.md")

with open(os.path.join(ROOT, "include/threadmap/fractal/catalogue.h"), encoding="utf-8") as header:
    FRACTALS = {name: (title, *map(int, sizes)) for name, title, *sizes in  # title, k, sx, sy
                re.findall(r'X\((\w+), "(.*?)", ".*?", (\d+), (\d+), (\d+)', header.read())}
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


def pick(rows, **want):
    """The rows that have all of these values, or one of each tuple of values."""
    return [row for row in rows
            if all(row.get(key) in value if isinstance(value, tuple) else row.get(key) == value
                   for key, value in want.items())]


def least(rows):
    """The row of the least time, or None."""
    return min(rows, key=lambda row: row["ms"], default=None)


class Data(dict):
    """{bench: Results}; a bench that is missing has no rows."""

    def __init__(self, *rows, **more):
        super().__init__(*rows, **more)
        self.texts = {}  # of tables
        self.baselines = None  # baselines.py finds them once

    def __missing__(self, name):
        return Results({})

    def text(self, table):
        """What a function that makes a table of these results returns; called once."""
        if table not in self.texts:
            self.texts[table] = table(self)
        return self.texts[table]


class Results:
    """The rows of one JSON file."""

    def __init__(self, data):
        self.meta, self.rows = data.get("meta", {}), data.get("rows", [])
        self.places = {}  # rows of a work, of a work and domain, of a work, domain and size
        for row in self.rows:
            work = row.get("work")
            if row.get("dtype", DTYPES.get(work)) != DTYPES.get(work, row.get("dtype")):
                continue  # not one of the paper's tests: the engine's alone
            if work in WORKS and row.get("variant", "").startswith("published_"):
                continue  # for the paper's claims alone
            key = row.get("work"), row.get("domain"), row.get("size")
            for length in (1, 2, 3):
                self.places.setdefault(key[:length], []).append(row)

    def at(self, *place):
        """The rows of a work; of a work and domain; of a work, domain and size."""
        return self.places.get(place, [])

    def pick(self, **want):
        return pick(self.rows, **want)

    def least(self, **want):
        return least(self.pick(**want))

    def domains(self, work):
        found = {row.get("domain") for row in self.at(work)}
        return [name for name in FRACTALS if name in found]

    def sizes(self, work, domain):
        return sorted({row["size"] for row in self.at(work, domain)})

    def variants(self, work, domain=None):
        """In order of appearance."""
        return list(dict.fromkeys(row["variant"] for row in self.at(*filter(None, (work, domain)))))

    def best(self, work, domain, size, variants, rho=None):
        """The fastest row of these variants (with this rho), or None."""
        return least(row for row in self.at(work, domain, size)
                     if row["variant"] in variants and rho in (None, row.get("rho")))

    def forms(self, work):
        """The forms of lambda, the engine's among them."""
        return [v for v in self.variants(work) if v not in BASES and v not in MAPS_ONLY]

    def best_form(self, work, domain, size):
        """What a user of the engine gets; without one, the best form."""
        return self.best(work, domain, size, ENGINE) or \
            self.best(work, domain, size, self.forms(work))

    def task(self, work, dtype, domain, size):
        """The engine's row of a task, or None."""
        return self.least(work=work, dtype=dtype, domain=domain, size=size, variant=ENGINE)

    def top(self, work, domain):
        """The largest level that the bounding box could do, of a side of at most TOP_SIDE."""
        sizes = [size for size in self.sizes(work, domain) if side(domain, size) <= TOP_SIDE
                 and (work == "dummy" or (self.best(work, domain, size, ("bb", "bb_walk"))
                                          and self.best_form(work, domain, size)))]
        return max(sizes, default=None)

    def where(self):
        m = self.meta
        commit = str(m.get("commit", "unknown"))[:12]
        later = sorted({row["commit"] for row in self.rows if row.get("commit")})  # rows of another run
        others = f" (some rows {', '.join(later)})" if later else ""
        return f"{m.get('gpu', 'unknown GPU')}, commit {commit}{others}"


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
    found = Data()
    for name in ("fractal", "fractal3", "fig11", "boxes", "ltl", "block", "compact", "triangle", "simplex", "pairs", "drmsd",
                 "flood", "label3", "granularity", "ask", "ask3", "near", "cpu", "peers_pairs",
                 "peers_compact", "peers_ltl", "peers_flood", "peers_drmsd", "peers_label3", "peers_granularity", "peers_near",
                 "peers_python"):
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


def largest(rows, keys):
    """Of rows that differ in their size alone, the largest one."""
    best = {}
    for row in rows:
        key = tuple(row.get(name) for name in keys)
        if key not in best or row["size"] > best[key]["size"]:
            best[key] = row
    return list(best.values())
