# SPDX-License-Identifier: MIT
"""Tables of docs/choosing.md and README.md: each engine beside the kernel that one would write without it,
at three sizes.
"""
from .ask import ASKS, UNROLLED, ask_best
from .results import side
from .text import bold, code, ms, sig, table

# Work on pairs: title, call, how the bench names the engine's row.
PAIRS = (
    ("count pairs", "tmap_pairs_fold", {"variant": "count", "radius": 0.0968}),
    ("histogram of distances", "tmap_pairs_each", {"variant": "histogram", "copies": 1}),
    ("list of near pairs", "tmap_pairs_select", {"variant": "select", "order": "any"}),
    ("sum for each point (gravity)", "tmap_pairs_rows", {"variant": "rows"}),
    ("distance matrix, own metric", "tmap_pairs_store", {"variant": "store_chebyshev"}),
)
# Work on fractals: title, call, work, engine's variant; sizes by domain.
FRACTALS_WORK = (
    ("write", "tmap_each", "sw", "each"),
    ("sum", "tmap_each_fold", "rd", "fold"),
    ("life", "tmap_ca", "ca", "life"),
)
FRACTALS_SIZES = {"gasket": (10, 13, 16), "carpet": (6, 8, 10)}
INPUTS = {"terrain": "flood, terrain", "noise_593": "flood, noise, 59.3% wet"}
MAP_SIZES = (1024, 4096, 16384)


def lines(title, call, sizes, find, shown="{:,}²".format):
    """Rows of a table. find(size): the engine's row, and the one to compare it with; where one of them is
    missing there is no row."""
    for size in sizes:
        row, base = find(size)
        if row and base:
            yield [title, code(call), shown(size), bold(ms(row)), ms(base), sig(base["ms"] / row["ms"])]


def pairs_lines(data, sizes):
    for title, call, want in PAIRS:
        def find(size, want=want):
            row = data["pairs"].least(size=size, **want)
            return row, row and data["pairs"].least(size=size, variant=("thread_a_pair", "rows_nxn"),
                                                    of=row.get("of"))
        yield from lines(title, call, sizes, find, "{:,}".format)


def molecules_lines(data, sizes):
    return lines("dRMSD of two frames", "tmap_drmsd_pair", sizes, lambda size: [
        data["drmsd"].least(work="drmsd", n=size, frames=2, variant=variant)
        for variant in ("pair", "thread_a_pair")], "{:,}".format)


def fractal_lines(data, domain, sizes):
    """Beside the best of BB and BB walking."""
    for title, call, work, variant in FRACTALS_WORK:
        yield from lines(f"{domain}: {title}", call, sizes, lambda size, work=work, variant=variant: [
            data["fractal"].best(work, domain, size, variants)
            for variants in ((variant,), ("bb", "bb_walk"))], lambda size: f"{side(domain, size):,}²")


def compact_lines(data, sizes):
    return lines("gasket: life, a bit a cell", "tmap_compact_life", sizes, lambda size: [
        data["compact"].least(work="life", domain="gasket", size=size, dtype="bit", variant=variant)
        for variant in ("compact_bits", "bb_bits")], lambda size: f"{2**size:,}²")


def flood_lines(data, sizes, inputs=tuple(INPUTS)):
    """Beside the form of the slides that is quickest."""
    for given in inputs:
        yield from lines(INPUTS[given], "tmap_flood", sizes, lambda size, given=given: [
            data["flood"].least(work="flood", input=given, size=size, connectivity=4, dtype="i16",
                                variant=variant)
            for variant in ("regions", ("uniform", "tiles", "line", "naive"))])


def label_lines(data, sizes):
    """Beside CuPy's ndimage.label."""
    return lines("labels, terrain", "tmap_label", sizes, lambda size: [
        data[bench].least(work="label", input="terrain", size=size, connectivity=4, variant=variant)
        for bench, variant in (("flood", "regions"), ("peers_flood", "cupy_label"))])


def ask_lines(data, sizes):
    """Beside a thread for each pixel with an escape test in 32 steps."""
    return lines("Mandelbrot set, dwell 512", "tmap_mandelbrot_stream", sizes, lambda size: [
        ask_best(data["ask"], size, variants) for variants in (ASKS, (UNROLLED,))])


HEADER = ["work ", "call ", "n", "engine, ms", "compared with, ms", "times as fast"]


def table_choose_pairs(data):
    return table(HEADER, [*pairs_lines(data, (3000, 30720, 131072)),
                          *molecules_lines(data, (4096, 32768, 131072))])


def table_choose_fractals(data):
    return table(HEADER, [found for domain, sizes in FRACTALS_SIZES.items()
                          for found in fractal_lines(data, domain, sizes)])


def table_choose_compact(data):
    return table(HEADER, list(compact_lines(data, (10, 14, 16, 18))))


def table_choose_maps(data):
    return table(HEADER, [*flood_lines(data, MAP_SIZES), *label_lines(data, MAP_SIZES)])


def table_choose_ask(data):
    return table(HEADER, list(ask_lines(data, (*MAP_SIZES, 65536))))


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
    for domain, make, unless in CHOOSE:
        for work, call, size, engine, base, times in make(data):
            rows.append([domain, work, call, size, engine, base, bold(times), unless])
            domain = unless = ""
    return table(["your domain ", "work ", "call ", "n", "ms", "without, ms", "times as fast",
                  "when not "], rows)
