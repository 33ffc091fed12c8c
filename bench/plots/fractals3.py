# SPDX-License-Identifier: MIT
"""Tables of fractals in three dimensions."""
from .results import least, ratio
from .text import bold, code, memory, ms, percent, sig, table

# The catalogue of catalogue3.h.
FRACTALS3 = {
    "menger": "Menger sponge", "tetrahedron": "Sierpinski tetrahedron", "dust": "Cantor dust",
    "vicsek3": "3D Vicsek fractal", "octahedron": "octahedron of six boxes",
    "mosely": "Mosely snowflake", "mosely_heavy": "heavier Mosely snowflake",
}
WORKS3 = (("sw", "write", "each"), ("rd", "sum", "fold"))


def tops(results, work):
    """(domain, title, {variant or rule: row}) of each fractal at its largest level."""
    for domain, title in FRACTALS3.items():
        size = max((row["size"] for row in results.at(work, domain)), default=None)
        if size is not None:
            yield domain, title, {row.get("rule", row["variant"]): row
                                  for row in results.at(work, domain, size)}


def table_fractal3(data):
    """A write and a sum by the engine, beside bounding boxes and the plain map."""
    rows = []
    for work, name, engine in WORKS3:
        for _, title, found in tops(data["fractal3"], work):
            bb, walk, plain, ours = (found.get(v) for v in ("bb", "bb_walk", "lambda", engine))
            some = next(iter(found.values()))
            box = least(row for row in (bb, walk) if row)
            rows.append([f"{title}: {name}", str(some["size"]), str(some["n"]),
                         f"{some['cells']:,}", *(ms(row) for row in (bb, walk, plain)),
                         bold(ms(ours)), sig(ratio(box, ours)), sig(ratio(plain, ours)), percent(ours)])
    return table(["fractal and work", "r", "n", "cells", "BB, ms", "BB walking", "plain map", "engine",
                  "× BB", "× plain map", "% of limit"], rows)


def table_fractal3_storages(data):
    """Work on floats in compact storage and in a volume, of flat fractals also by the engine in two dimensions."""
    rows = []
    for domain, title in {"gasket": "gasket, a layer", "carpet": "carpet, a layer", **FRACTALS3}.items():
        for suffix, name in ("", title), ("_2d", "by the engine in 2D"):
            found = {(row["work"], row["variant"]): row for row in data["fractal3"].rows
                     if row["domain"] == domain and row["variant"] in (f"compact{suffix}", f"matrix{suffix}")}
            if found:
                rows.append([name, str(next(iter(found.values()))["n"]), *(
                    ms(found.get((work, f"{storage}{suffix}")))
                    for storage in ("compact", "matrix") for work in ("write", "sum", "heat"))])
    return table(["fractal", "n", "compact: write", "sum", "heat", "volume: write", "sum", "heat"], rows)


def table_fractal3_life(data):
    """Life by bits in compact storage, by Bays' two rules."""
    rows = []
    for _, title, found in tops(data["fractal3"], "life"):
        some = next(iter(found.values()))
        rows.append([title, str(some["size"]), str(some["n"]), f"{some['cells']:,}",
                     memory(some["bytes"]),
                     *(text for rule in ("4555", "5766") for row in [found.get(rule)]
                       for text in (ms(row), sig(row["gcells"]) if row else "-", percent(row)))])
    return table(["fractal", "r", "n", "cells", "a state", "4555, ms", "10^9 cells/s", "% of limit",
                  "5766, ms", "10^9 cells/s", "% of limit"], rows)


def table_fractal3_turned(data):
    """The map alone, with turned copies and without."""
    results, rows = data["fractal3"], []
    for domain in dict.fromkeys(row["domain"] for row in results.at("lambda")):
        found = {row["variant"]: row for row in results.at("lambda", domain)}
        plain, turned = found.get("plain"), found.get("turned")
        rows.append([code(domain), ms(plain), ms(turned),
                     *(sig(row["gcells"]) if row else "-" for row in (plain, turned)),
                     sig(ratio(turned, plain))])
    return table(["fractal", "plain, ms", "turned, ms", "10^9 cells/s, plain", "turned", "turned / plain"],
                 rows)
