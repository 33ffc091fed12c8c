# SPDX-License-Identifier: MIT
"""Tables of triangles and of pairs of points."""
from .baselines import OURS, baseline, called
from .results import largest, least, pick, ratio
from .text import bold, code, ms, percent, sig, table


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
    for key, group in triangle_groups(data["triangle"]).items():
        n = max(row["size"] for row in group)
        names = dict.fromkeys(row["variant"] for row in group if row["size"] == n)
        best = {name: least(pick(group, size=n, variant=name)) for name in names}
        for name, row in best.items():
            rows.append([group_title(key), str(n), code(name), str(row.get("rho", "-")), ms(row),
                         sig(ratio(best.get("bb"), row)), percent(row)])
    return table(["work", "n", "map ", "rho", "ms", "× BB", "% of limit"], rows)


def table_pdist(data):
    """The library's distances, each at its largest n."""
    rows = largest(data["triangle"].at("pdist"), ("metric", "products", "d", "variant", "dtype"))
    return table(["metric ", "coordinates", "output ", "type ", "n", "ms", "% of limit"],
                 [[row.get("metric", "-") + (", by products" if row.get("products") else ""),
                   str(row.get("d", "-")), code(row["variant"]), row.get("dtype", "-"),
                   str(row["size"]), ms(row), percent(row)] for row in rows])


def table_pairs(data):
    """Work on all pairs by the engine at the largest n, beside the quickest other way."""
    found = [row for row in data["pairs"].at("pairs") if row["variant"] in OURS
             and row.get("radius", 0.333) == 0.333 and row.get("copies", 1) == 1]
    rows = []
    for row in largest(found, ("variant", "order")):
        base = baseline(data, row)
        rows.append([code(row["variant"]) + (f", {row['order']} order" if "order" in row else ""),
                     str(row["size"]), str(row["d"]), ms(row), sig(row["tpairs"]), percent(row),
                     called(base) if base else "-", ms(base), sig(ratio(base, row))])
    return table(["work ", "n", "d", "ms", "10^12 pairs/s", "% of limit", "quickest other way ", "ms",
                  "times as fast"], rows)


def by_place(results, work, *keys):
    """{(values of keys): {variant: row}} of a work, in order of appearance."""
    found = {}
    for row in results.at(work):
        found.setdefault(tuple(row[key] for key in keys), {})[row["variant"]] = row
    return found


def table_triples(data):
    """The energy of Axilrod and Teller, beside a thread for each triple and a bounding box."""
    rows = []
    for (n,), found in by_place(data["pairs"], "triples", "size").items():
        ours, threads, box = (found.get("axilrod_teller" + end) for end in ("", "_map", "_bb"))
        rows.append([f"{n:,}", bold(ms(ours)), sig(ours["ttriples"]) if ours else "-", percent(ours),
                     ms(threads), ms(box), sig(ratio(threads, ours)), sig(ratio(box, ours))])
    return table(["n", "engine, ms", "10^12 triples/s", "% of limit", "a thread for each triple, ms",
                  "bounding box, ms", "× a thread", "× bounding box"], rows)


def table_triple_tables(data):
    """Contingency tables of all triples on tensor cores, beside population counts."""
    rows = []
    for (n, samples), found in by_place(data["pairs"], "triple_tables", "size", "samples").items():
        ours, popc = found.get("tables"), found.get("tables_popc")
        rows.append([f"{n:,}", f"{samples:,}", bold(ms(ours)), sig(ours["tsets"]) if ours else "-",
                     ms(popc), sig(ratio(popc, ours))])
    return table(["variables", "samples", "engine, ms", "10^12 triples · samples/s",
                  "population counts, ms", "× population counts"], rows)
