# SPDX-License-Identifier: MIT
"""Tables of docs/choosing.md and README.md: each engine beside the kernel that one would write without it,
at three sizes.
"""
from .ask import ASKS, UNROLLED, ask_best
from .results import side
from .text import bold, code, ms, sig, table

# Work on pairs: title, call, how the bench names the engine's row, rows to compare with.
PAIRS = (
    ("count pairs", "tmap_pairs_fold", {"variant": "count", "radius": 0.0968}),
    ("histogram of distances", "tmap_pairs_each", {"variant": "histogram", "copies": 1}),
    ("list of near pairs", "tmap_pairs_select", {"variant": "select", "order": "any"}),
    ("sum for each point (gravity)", "tmap_pairs_rows", {"variant": "rows"}),
    ("distance matrix, own metric", "tmap_pairs_store", {"variant": "store_chebyshev"}),
)
PAIRS_SIZES = (3000, 30720, 131072)
PAIRS_BASES = ("thread_a_pair", "rows_nxn")

# Work on fractals: title, call, work, element, engine's variant; sizes by domain.
FRACTALS_WORK = (
    ("write", "tmap_each", "sw", "each"),
    ("sum", "tmap_each_fold", "rd", "fold"),
    ("life", "tmap_ca", "ca", "life"),
)
FRACTALS_SIZES = {"gasket": (10, 13, 16), "carpet": (6, 8, 10)}

INPUTS = ("terrain", "noise_593")
INPUT_NAMES = {"terrain": "flood, terrain", "noise_593": "flood, noise, 59.3% wet"}
MAP_SIZES = (1024, 4096, 16384)
ASK_SIZES = (1024, 4096, 16384, 65536)


def least(rows):
    return min(rows, key=lambda row: row["ms"], default=None)


def line(title, call, size, row, base):
    """A row of a table, or None where one of the two is missing."""
    if not row or not base:
        return None
    return [title, code(call), size, bold(ms(row)), ms(base), sig(base["ms"] / row["ms"])]


def present(lines):
    return [found for found in lines if found]


def pairs_lines(data, sizes):
    found = data["pairs"].at("pairs") if "pairs" in data else []
    for title, call, want in PAIRS:
        for size in sizes:
            here = [row for row in found if row["size"] == size]
            row = least(r for r in here if all(r.get(key) == value for key, value in want.items()))
            base = least(r for r in here if row and r["variant"] in PAIRS_BASES
                         and r.get("of") == row.get("of"))
            yield line(title, call, f"{size:,}", row, base)


def molecules_lines(data, sizes):
    rows = data["drmsd"].at("drmsd") if "drmsd" in data else []
    for size in sizes:
        here = [row for row in rows if row["n"] == size and row["frames"] == 2]
        yield line("dRMSD of two frames", "tmap_drmsd_pair", f"{size:,}",
                   least(row for row in here if row["variant"] == "pair"),
                   least(row for row in here if row["variant"] == "thread_a_pair"))


def fractal_lines(data, domain, sizes):
    """Beside the best of BB, BB walking, and the plain map."""
    results = data.get("fractal")
    for title, call, work, variant in FRACTALS_WORK:
        for size in sizes:
            here = results.at(work, domain, size) if results else []
            n = side(domain, size)
            yield line(f"{domain}: {title}", call, f"{n:,}²",
                       least(row for row in here if row["variant"] == variant),
                       least(row for row in here if row["variant"] in ("bb", "bb_walk")))


def compact_lines(data, sizes):
    rows = data["compact"].rows if "compact" in data else []
    for size in sizes:
        here = [row for row in rows if row["work"] == "life" and row["domain"] == "gasket"
                and row["size"] == size and row["dtype"] == "bit"]
        yield line("gasket: life, a bit a cell", "tmap_compact_life", f"{2**size:,}²",
                   least(row for row in here if row["variant"] == "compact_bits"),
                   least(row for row in here if row["variant"] == "bb_bits"))


def flood_lines(data, sizes, inputs=INPUTS):
    """Beside the form of the slides that is quickest."""
    rows = data["flood"].at("flood") if "flood" in data else []
    for given in inputs:
        for size in sizes:
            here = [row for row in rows if row["input"] == given and row["size"] == size
                    and row["connectivity"] == 4 and row["dtype"] == "i16"]
            yield line(INPUT_NAMES[given], "tmap_flood", f"{size:,}²",
                       least(row for row in here if row["variant"] == "regions"),
                       least(row for row in here
                             if row["variant"] in ("uniform", "tiles", "line", "naive")))


def label_lines(data, sizes):
    """Beside CuPy's ndimage.label."""
    rows = data["flood"].at("label") if "flood" in data else []
    others = data["peers_flood"].at("label") if "peers_flood" in data else []
    for size in sizes:
        yield line("labels, terrain", "tmap_label", f"{size:,}²",
                   least(row for row in rows if row["input"] == "terrain" and row["size"] == size
                         and row["connectivity"] == 4 and row["variant"] == "regions"),
                   least(row for row in others if row["input"] == "terrain" and row["size"] == size
                         and row["variant"] == "cupy_label"))


def ask_lines(data, sizes):
    """Beside a thread for each pixel with an escape test in 32 steps."""
    results = data.get("ask")
    for size in sizes if results else ():
        yield line("Mandelbrot set, dwell 512", "tmap_mandelbrot_stream", f"{size:,}²",
                   ask_best(results, size, ASKS), ask_best(results, size, (UNROLLED,)))


HEADER = ["work ", "call ", "n", "engine, ms", "compared with, ms", "times as fast"]


def table_choose_pairs(data):
    return table(HEADER, present([*pairs_lines(data, PAIRS_SIZES),
                                  *molecules_lines(data, (4096, 32768, 131072))]))


def table_choose_fractals(data):
    return table(HEADER, present(found for domain, sizes in FRACTALS_SIZES.items()
                                 for found in fractal_lines(data, domain, sizes)))


def table_choose_compact(data):
    return table(HEADER, present(compact_lines(data, (10, 14, 16, 18))))


def table_choose_maps(data):
    return table(HEADER, present([*flood_lines(data, MAP_SIZES), *label_lines(data, MAP_SIZES)]))


def table_choose_ask(data):
    return table(HEADER, present(ask_lines(data, ASK_SIZES)))


# README.md: domain and its page, lines at one size, when to take something else.
CHOOSE = (
    ("[pairs of points](docs/maps/triangle.md)", lambda data: pairs_lines(data, (30720,)),
     "short cutoffs: use cell lists"),
    ("[molecules](docs/maps/molecules.md)", lambda data: molecules_lines(data, (32768,)),
     "n < 2048: the time of a launch"),
    ("[fractals](docs/maps/fractal.md)", lambda data: fractal_lines(data, "gasket", (16,)),
     "n < 2048: the plain map; up to 3 million cells: a list"),
    ("[fractals, compact](docs/maps/compact.md)", lambda data: compact_lines(data, (18,)),
     "n < 8192: bits of the matrix"),
    ("[height maps, masks](docs/maps/floods.md)",
     lambda data: [*flood_lines(data, (16384,), ("terrain",)), *label_lines(data, (4096,))],
     "small maps one by one: 0.04 ms each"),
    ("[regions found at run time](docs/maps/adaptive.md)",
     lambda data: ask_lines(data, (16384,)), "n < 2048, or every region differs"),
)


def table_choose(data):
    """One line a call, for README.md: at a large size."""
    rows = []
    for domain, lines, unless in CHOOSE:
        for work, call, size, engine, base, times in present(lines(data)):
            rows.append([domain, work, call, size, engine, base, bold(times), unless])
            domain = unless = ""
    return table(["your domain ", "work ", "call ", "n", "ms", "without, ms", "times as fast",
                  "when not "], rows)
