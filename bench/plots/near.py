# SPDX-License-Identifier: MIT
"""Tables of docs/maps/near.md: near pairs beside other libraries, a list of cells and all pairs."""
from .baselines import baseline, called
from .results import least
from .text import bold, ms, sig, table

# Title, what the rows have.
WORKS = (
    ("count, r = 0.03", {"work": "count", "radius": 0.03}),
    ("list, r = 0.03", {"work": "list", "radius": 0.03}),
    ("list, r = 0.003", {"work": "list", "radius": 0.003}),
    ("compressed rows, r = 0.03", {"work": "csr", "radius": 0.03}),
    ("compressed rows, r = 0.003", {"work": "csr", "radius": 0.003}),
    ("forces, r = 0.03", {"work": "rows", "radius": 0.03}),
    ("friends of friends", {"work": "groups", "radius": (0.00394, 0.002, 0.000928)}),
    ("8 nearest", {"work": "nearest", "k": 8}),
    ("16 nearest", {"work": "nearest", "k": 16}),
)
SIZES = (131072, 1000000, 10000000)


def row_of(data, variant, domain, size, want):
    return least(row for row in data["near"].pick(variant=variant, domain=domain, size=size, **want)
                 if row.get("bits", 0) != 63 or want["work"] in ("groups", "nearest"))


def times(domain):
    """The table of a domain: each work at each size, beside the quickest other way on a GPU."""
    def make(data):
        rows = []
        for title, want in WORKS:
            for size in SIZES:
                row = row_of(data, "near", domain, size, want)
                if row:
                    base = baseline(data, row)
                    rows.append([title, f"{size:,}", bold(ms(row)),
                                 ms(row_of(data, "near_prepared", domain, size, want)),
                                 called(base) if base else "-", ms(base),
                                 sig(base["ms"] / row["ms"]) if base else "-"])
        return table(["work ", "n", "ms", "prepared, ms", "quickest other way ", "ms", "times as fast"], rows)
    return make


table_near = times("uniform")
table_near_clusters = times("clusters")


def table_near_count(data):
    """The count of near pairs by n and radius: the engine, a list of cells, all pairs."""
    rows = []
    for size in (3000, 30720, 131072, 1000000):
        for radius in (0.003, 0.03, 0.097, 0.2, 0.333):
            found = [data["near"].least(work="count", variant=variant, domain="uniform", size=size, radius=radius)
                     for variant in ("near", "near_prepared", "cell_list", "pairs")]
            if found[0]:
                rows.append([f"{size:,}", str(radius), *(ms(row) for row in found)])
    return table(["n ", "radius", "near, ms", "prepared, ms", "list of cells, ms", "all pairs, ms"], rows)
