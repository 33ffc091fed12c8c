# SPDX-License-Identifier: MIT
"""Tables of adaptive subdivision."""
from .results import least, ratio
from .text import NOTHING, bold, captioned, ms, percent, sig, table, whole

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
    return least(ask_rows(results, n, variants, **more))


def ask_sizes(results):
    return sorted({row["size"] for row in ask_rows(results)})


def compared(data):
    """Whether there are pictures by ASK, and one to compare them with."""
    return all(ask_rows(data["ask"], None, variants) for variants in (ASKS, (EXHAUSTIVE,)))


def parameters(row):
    return f"({row['g']}, {row['r']}, {row['B']})" if row and "g" in row else "-"


def ask_searched(results, n, kinds):
    """Whether the best plan of one of these kinds is better than all of its neighbours."""
    return any(row["size"] == n and row["variant"] in kinds for row in results.at("optimum"))


def at_most(results, n, kinds, text):
    """Marks what a finer search may lower."""
    return text if text == "-" or ask_searched(results, n, kinds) else f"≤ {text}"


def table_ask(data):
    """Each size: the best of every approach."""
    results, rows = data["ask"], []
    for n in ask_sizes(results):
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
    results, rows = data["ask"], []
    for n in ask_sizes(results):
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
    """The best plan of each form, and how far the search went around it."""
    results, rows = data["ask"], []
    names = {**ASK_NAMES, "flat_mbr": "flat grid, finished by launches"}
    for row in results.at("optimum"):
        rows.append([str(row["size"]), names[row["variant"]], parameters(row), str(row["levels"]),
                     ms(row), str(row["tried"]), f"{row['measured']} of {row['neighbours']}"])
    return captioned(
        "The best plan of each form. A search goes on from the best plan so far to its neighbours (g or "
        "r doubled or\nhalved, one level more or less) and ends when it finds no faster one. The last "
        "column says how many of the\nneighbours of the best plan have a time:",
        ["n", "form ", "(g, r, B) ", "levels", "ms", "plans tried", "neighbours measured"], rows)


def table_ask_blocks(data):
    """Table 2 of the paper: the best block of each approach."""
    results, rows = data["ask"], []
    for n in ask_sizes(results):
        found = ask_rows(results, n, part="blocks")
        if not found:
            continue
        base = ask_best(results, n, (EXHAUSTIVE,))
        line = [str(n), f"{base['block'].replace('x', ' × ')} ({ms(base)})"
                if base and "block" in base else "-"]
        for variant in (FLAT, *DPS, *ASKS):
            row = least(r for r in found if ask_kind(r) == variant)
            line.append(f"{row['threads']} ({ms(row)})" if row else "-")
        rows.append(line)
    return captioned(
        "The fastest number of threads per block, from 32 to 768 (DP: to 512), with the time in ms in "
        "brackets; for\nexhaustive, the fastest of 19 block shapes. ASK has the faster of two drivers, "
        "one of them `captured`:",
        ["n", *(ASK_NAMES[v] for v in (EXHAUSTIVE, FLAT, *DPS, *ASKS))], rows)


def table_ask_p(data):
    """P of each level; the model has one P for all levels."""
    results, rows = data["ask"], []
    found = results.pick(work="levels", variant="ask_mbr")
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
    results, rows = data["ask"], []
    for n in ask_sizes(results):
        for variant in ASKS:
            row = ask_best(results, n, (variant,))
            if row and row.get("differ") is not None:
                rows.append([str(n), ASK_NAMES[variant], parameters(row), whole(row["differ"]),
                             sig(1e6 * row["differ"] / n**2)])
    return table(["n", "form ", "(g, r, B) ", "pixels that differ", "of a million"], rows)


def table_ask_drivers(data):
    """The best subdivision of each form by each driver."""
    results, rows = data["ask"], []
    for n in ask_sizes(results):
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
    """With the main cardioid and the disc of period 2 found by a formula."""
    results, rows = data["ask"], []
    for n in ask_sizes(results):
        base, ask = (ask_best(results, n, v, bulbs=True) for v in ((UNROLLED,), ASKS))
        if base and ask:
            rows.append([str(n), ms(base), ms(ask), ASK_NAMES[ask["variant"]], parameters(ask),
                         sig(ratio(base, ask))])
    return table(["n", "unrolled", "ASK", "form ", "(g, r, B) ", "unrolled / ASK"], rows)


def table_ask_levels(data):
    """What the best run of the better form at the largest size did at each level."""
    results = data["ask"]
    found = results.at("levels")
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
    results, rows = data["ask"], []
    for row in results.at("levels"):
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
    results, rows = data["ask"], []
    names = {"insert_atomic": "one atomic per region", "insert_warp": "one per warp",
             "insert_block": "one per block, with a prefix sum", "insert_chain": "full prefix sum, "
             "a chain of blocks", "insert_scan": "full prefix sum, three launches"}
    found = results.at("insert")
    for n in sorted({row["size"] for row in found}):
        by = {row["variant"]: row for row in found if row["size"] == n}
        least = min(row["ms"] for row in by.values())
        rows.append([whole(n), *(bold(ms(by[v])) if v in by and by[v]["ms"] == least
                                 else ms(by.get(v)) for v in names)])
    return captioned("Times in ms of adding regions to a table; 57% of the regions are added:",
                     ["regions", *names.values()], rows)


def table_ask_order(data):
    """The order of leaves against the traffic of the kernel that writes them."""
    results, rows = data["ask"], []
    names = {"order_canonical": "canonical", "order_morton": "Morton", "order_hilbert": "Hilbert",
             "order_shuffled": "at random"}
    found = results.at("order")
    for n, what in sorted({(row["size"], row["what"]) for row in found}):
        by = {row["variant"]: row for row in found if (row["size"], row["what"]) == (n, what)}
        rows.append([str(n), {"copy": "copied", "compute": "computed"}[what],
                     whole(next(iter(by.values()))["leaves"]), *(ms(by.get(v)) for v in names)])
    return captioned("Times in ms of a kernel that writes leaves of side 16 in several orders, one "
                     "warp per leaf:",
                     ["n", "pixels are ", "leaves", *names.values()], rows)


def table_ask_lost(data):
    """What DP loses at the default limit of pending launches: of the plans that were tried those that
    lose, and the one that loses most."""
    results, rows = data["ask"], []
    lost = [row for row in results.at("dp_lost") if ask_kind(row) in DPS]
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
    results, rows = data["ask"], []
    for n in ask_sizes(results):
        by = ask_energies(results, n)
        ask = min((by[v] for v in ASKS if v in by), default=None)
        if ask:
            rows.append([str(n), *(sig(by.get(v)) for v in ASK_NAMES),
                         *(sig(by[v] / ask if v in by else None) for v in (EXHAUSTIVE, UNROLLED))])
    return table(["n", *ASK_NAMES.values(), "exhaustive / ASK", "unrolled / ASK"], rows)


def ask_landscape_size(results):
    """The largest size at which all (g, r, B) were run, else the largest."""
    sizes = sorted({row["size"] for row in ask_rows(results, part="landscape")})
    return (sizes or ask_sizes(results))[-1]
