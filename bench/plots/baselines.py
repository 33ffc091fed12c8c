# SPDX-License-Identifier: MIT
"""Which rows of the results are calls of the library, and the quickest of all others that do the same.

OURS is the only list that tells them apart: a variant that it lacks is a baseline, whether it is a kernel by
hand, a published method of papers/ or another library.
"""
from .others import PEERS
from .results import least
from .text import code

OURS = {
    # fractals: the engine and ready kernels, in a matrix (`embedded` in bench_compact) and in compact storage
    "each", "update", "fold", "life", "stencil", "embedded", "compact", "compact_bits",
    "load", "store", "pack", "unpack",
    # pairs and triples
    "count", "drmsd", "histogram", "select", "rows", "store_chebyshev", "store_euclidean", "axilrod_teller",
    "tables", "condensed", "lower", "square", "near", "near_prepared", "near_periodic",
    "near_visits", "pairs",
    # molecules
    "pair", "frames", "frames_close", "matrix", "matrix_mma_half", "matrix_mma_split", "gromos", "linkage",
    "rmsd_matrix", "rmsd_frames",
    # height maps and masks
    "regions", "regions_bits", "regions_depth", "again", "again_bits", "first_bits", "levels", "spill", "tmap_label",
    "label3", "label3_bits", "label3_measure", "label3_values", "label3_roots", "label3_periodic", "label3_classes",
    "label3_greys",
    "label_contacts", "tmap_label_roots", "picture",
    # regions found at run time
    "ask", "ask_sbr", "ask_mbr", "chosen",
    # functions of the Python module
    "threadmap",
}

# What tells one work from another, beside work and size. A key that a row lacks tells nothing.
KEYS = ("domain", "dtype", "d", "frames", "radius", "order", "bins", "input", "connectivity", "granularity",
        "density", "depth", "rule", "metric", "samples", "k")

NAMES = {
    "bb": "bounding box", "bb_walk": "bounding box, walking", "bb_bits": "bounding box on bits",
    "list": "list of all cells in memory", "lambda_linear": "the plain map", "lambda_block": "λ, a block a tile",
    "block_unroll": "the paper's tiles, unrolled", "block_table": "the paper's tiles, by a table",
    "block_subbox": "the paper's tiles, by sub-boxes",
    "thread_a_pair": "a thread for each pair", "rows_nxn": "n × n tiles", "cell_list": "cell list",
    "triangle_2d": "the slides' tiles, 2D", "shared_1d": "the slides' tiles, 1D",
    "line": "the slides' moving line", "tiles": "the slides' tiles", "uniform": "the slides' uniform tiles",
    "unrolled": "a thread for each pixel", "flat": "a block for each region", **PEERS,
}


def called(row):
    """What a table calls the variant of a row."""
    variant = row["variant"]
    if variant.startswith("tile_"):
        return "tiles of the gasket, by hand"
    if variant.startswith("yacclab_"):
        return f"YACCLAB's {variant[8:].upper()}"
    bulbs = ", bulbs by a formula" if row.get("options") == "bulbs" else ""
    return (NAMES.get(variant) or code(variant)) + bulbs


def place(row):
    """(work, size), and the values of KEYS: what a row computes, whichever benchmark has measured it."""
    work, more = row.get("of", row["work"]), {key: row[key] for key in KEYS if key in row}
    if work in ("life", "ca"):
        work = "ca"
        if row["work"] == "ca" and row["dtype"] == "u8":
            more["rule"] = "life"
    if work == "pair":
        work = "drmsd"
    if work == "drmsd":  # the same terms, by frames or by pairs of six coordinates
        more.pop("d", None)
        more.setdefault("frames", 2)
    if row["variant"] == "thread_a_pair":
        more.pop("radius", None)  # it compares all pairs, whatever the radius
    if work in ("mandelbrot", "triples", "julia3"):
        more.pop("samples", None)  # of the time
    return (work, row.get("size", row.get("n"))), more


def elsewhere(row):
    """Not on one GPU."""
    return row.get("device") == "cpu" or row["variant"] in ("host", "openmp") or "gpus" in row


def baselines(data, row):
    """All baselines on the GPU of the work of a row, in all benchmarks."""
    if data.baselines is None:
        data.baselines = {}
        for results in data.values():
            for other in results.rows:
                if "ms" in other and "variant" in other and other["variant"] not in OURS \
                        and not elsewhere(other) and other.get("part") != "energy":
                    where, more = place(other)
                    data.baselines.setdefault(where, []).append((more, other))
    where, mine = place(row)
    return [other for more, other in data.baselines.get(where, ())
            if all(more[key] == value for key, value in mine.items() if key in more)]


def baseline(data, row):
    """The quickest of them, or None."""
    return least(baselines(data, row)) if row else None
