# SPDX-License-Identifier: MIT
"""Tables of docs/choosing.md and README.md: each call beside the quickest other way (baselines.py), at
several sizes.
"""
from .ask import ASKS, ask_best
from .baselines import baseline, baselines, called
from .results import least, side
from .text import bold, code, ms, sig, table

# Work on pairs: title, call, how the bench names the engine's row.
PAIRS = (
    ("count pairs within a third of the box", "tmap_pairs_fold", {"variant": "count", "radius": 0.333}),
    ("histogram of distances", "tmap_pairs_each", {"variant": "histogram", "copies": 1}),
    ("list of near pairs", "tmap_pairs_select", {"variant": "select", "order": "any"}),
    ("sum for each point (gravity)", "tmap_pairs_rows", {"variant": "rows"}),
    ("distance matrix, own metric", "tmap_pairs_store", {"variant": "store_chebyshev"}),
)
# Work on near pairs of uniform points in a cube of side 1, from unsorted points on.
NEAR = (
    ("count of pairs within 0.333", "tmap_near_fold", {"work": "count", "radius": 0.333}),
    ("list of pairs within 0.03", "tmap_near_select", {"work": "list", "radius": 0.03}),
    ("neighbours within 0.03, compressed rows", "tmap_near_graph", {"work": "csr", "radius": 0.03}),
    ("friends of friends", "tmap_near_groups", {"work": "groups", "radius": 0.00394}),
    ("16 nearest", "tmap_near_nearest", {"work": "nearest", "k": 16}),
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


def lines(data, title, call, sizes, find, shown="{:,}²".format):
    """(title, call, size as text, row, baseline) of each size. find(size): the call's row. Where it or a
    baseline is missing there is no line."""
    for size in sizes:
        row = find(size)
        base = baseline(data, row)
        if base:
            yield title, call, shown(size), row, base


def pairs_lines(data, sizes):
    for title, call, want in PAIRS:
        yield from lines(data, title, call, sizes,
                         lambda size, want=want: data["pairs"].least(size=size, **want), "{:,}".format)


def near_lines(data, sizes):
    for title, call, want in NEAR:
        yield from lines(data, title, call, sizes, lambda size, want=want: data["near"].least(
            variant="near", domain="uniform", size=size, **want), "{:,}".format)


def molecules_lines(data, sizes):
    return lines(data, "dRMSD of two frames", "tmap_drmsd_pair", sizes, lambda size: data["drmsd"].least(
        work="drmsd", n=size, frames=2, variant="pair"), "{:,}".format)


def fractal_lines(data, domain, sizes):
    for title, call, work, variant in FRACTALS_WORK:
        yield from lines(data, f"{domain}: {title}", call, sizes, lambda size, work=work, variant=variant:
                         data["fractal"].best(work, domain, size, (variant,)),
                         lambda size: f"{side(domain, size):,}²")


def compact_lines(data, sizes):
    return lines(data, "gasket: life, a bit a cell", "tmap_compact_life", sizes, lambda size: data[
        "compact"].least(work="life", domain="gasket", size=size, dtype="bit", variant="compact_bits"),
                 lambda size: f"{2**size:,}²")


def flood_lines(data, sizes, inputs=tuple(INPUTS)):
    for given in inputs:
        yield from lines(data, INPUTS[given], "tmap_flood", sizes, lambda size, given=given: data[
            "flood"].least(work="flood", input=given, size=size, connectivity=4, dtype="i16",
                           variant="regions"))


def label_lines(data, sizes):
    return lines(data, "labels, terrain", "tmap_label", sizes, lambda size: data["flood"].least(
        work="label", input="terrain", size=size, connectivity=4, variant="regions"))


def blocks_lines(data):
    """Labels of pictures of random blocks, mean times, beside the labeller that has the least."""
    rows = data["granularity"].pick(variant="tmap_label")
    times = {}
    for row in rows:
        for other in baselines(data, row):
            times.setdefault(other["variant"], []).append(other["ms"])
    base = least({"variant": variant, "ms": sum(found) / len(found)}
                 for variant, found in times.items() if len(found) == len(rows))
    if base:
        yield (f"labels, {len(rows)} pictures of random blocks", "tmap_label", f"{rows[0]['size']:,}²",
               {"ms": sum(row["ms"] for row in rows) / len(rows)}, base)


def ask_lines(data, sizes):
    return lines(data, "Mandelbrot set, dwell 512", "tmap_mandelbrot_stream", sizes,
                 lambda size: least(row for row in (ask_best(data["ask"], size, ASKS, bulbs=bulbs)
                                                    for bulbs in (False, True)) if row))


def cells(found):
    """A line as cells: the call's time and the baseline's name and time."""
    return [[title, code(call), size, bold(ms(row)), called(base), ms(base), sig(base["ms"] / row["ms"])]
            for title, call, size, row, base in found]


HEADER = ["work ", "call ", "n", "engine, ms", "quickest other way ", "ms", "times as fast"]
# The tables of docs/choosing.md: {name: lines}.
CHOOSING = {
    "choose-pairs": lambda data: [*near_lines(data, (131072,)),
                                  *pairs_lines(data, (3000, 30720, 131072)),
                                  *molecules_lines(data, (4096, 32768, 131072))],
    "choose-fractals": lambda data: [found for domain, sizes in FRACTALS_SIZES.items()
                                     for found in fractal_lines(data, domain, sizes)],
    "choose-compact": lambda data: list(compact_lines(data, (10, 14, 16, 18))),
    "choose-maps": lambda data: [*flood_lines(data, MAP_SIZES), *label_lines(data, MAP_SIZES),
                                 *blocks_lines(data)],
    "choose-ask": lambda data: list(ask_lines(data, (*MAP_SIZES, 65536))),
}


def table_choose_pairs(data):
    return table(HEADER, cells(CHOOSING["choose-pairs"](data)))


def table_choose_fractals(data):
    return table(HEADER, cells(CHOOSING["choose-fractals"](data)))


def table_choose_compact(data):
    return table(HEADER, cells(CHOOSING["choose-compact"](data)))


def table_choose_maps(data):
    return table(HEADER, cells(CHOOSING["choose-maps"](data)))


def table_choose_ask(data):
    return table(HEADER, cells(CHOOSING["choose-ask"](data)))


def of(found, *calls):
    """The lines of these calls."""
    return [line for line in found if line[1] in calls]


# README.md: the page of a domain, and lines at one size.
CHOOSE = (
    ("near", lambda data: of(near_lines(data, (131072,)), "tmap_near_fold", "tmap_near_select",
                             "tmap_near_nearest")),
    ("triangle", lambda data: of(pairs_lines(data, (30720,)), "tmap_pairs_fold", "tmap_pairs_store")),
    ("molecules", lambda data: molecules_lines(data, (32768,))),
    ("fractal", lambda data: of(fractal_lines(data, "gasket", (16,)), "tmap_each", "tmap_ca")),
    ("compact", lambda data: compact_lines(data, (18,))),
    ("floods", lambda data: [*flood_lines(data, (16384,), ("terrain",)), *blocks_lines(data)]),
    ("adaptive", lambda data: ask_lines(data, (16384,))),
)


def table_choose(data):
    """One line a call, for README.md: at a large size."""
    return table(["your problem ", "call ", "n", "ms", "times as fast as what you use now "],
                 [[f"[{work}](docs/maps/{page}.md)", code(call), size, bold(ms(row)),
                   f"{bold(sig(base['ms'] / row['ms']))}: {called(base)}"]
                  for page, make in CHOOSE for work, call, size, row, base in make(data)])
