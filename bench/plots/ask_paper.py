# SPDX-License-Identifier: MIT
"""The claims of the paper about adaptive subdivision beside what was measured."""
from .ask import (ASKS, ASK_NAMES, DPS, EXHAUSTIVE, FLAT, UNROLLED, ask_best, ask_energies,
                  ask_kind, ask_landscape_size, ask_levels, ask_rows, ask_sizes, at_most,
                  parameters)
from .results import ratio
from .text import CLAIMS, NOTHING, UNKNOWN, sig, table, verdict, whole


def shape_of(row):
    return row["block"].replace("x", " × ") if row and "block" in row else "-"


def table_ask_claims(data):
    """Paper 003: what it says, beside what was measured at the largest size, and at the size of the
    landscape."""
    results, rows = data.get("ask"), []
    sizes = ask_sizes(results) if results else []
    if not sizes or not ask_best(results, sizes[-1], ASKS):
        return NOTHING
    top, mid = sizes[-1], ask_landscape_size(results)

    def best(n, *variants, **more):
        return ask_best(results, n, variants, **more)

    def add(claim, paper, here, holds, why):
        rows.append([claim, paper, here, holds if isinstance(holds, str) else verdict(holds), why])

    def times(slow, fast):
        found = ratio(slow, fast)
        return "-" if found is None else sig(found)
    base, unrolled, ask = (best(top, *v) for v in ((EXHAUSTIVE,), (UNROLLED,), ASKS))
    deep = [n for n in sizes if best(n, *DPS)]
    gains = [(n, ratio(best(n, EXHAUSTIVE), best(n, *ASKS))) for n in sizes]
    add("ASK against exhaustive", "up to 12 times",
        f"{times(base, ask)} at n = {top}; {times(unrolled, ask)} against a test in 32 steps",
        (ratio(base, ask) or 0) >= 12, "ASK too tests once in 32 steps: about half of the first ratio "
        "is that")
    if deep:
        base, unrolled, dp = (best(deep[-1], *v) for v in ((EXHAUSTIVE,), (UNROLLED,), DPS))
        add("DP against exhaustive", "up to 7.5 times",
            f"{times(base, dp)} at n = {deep[-1]}; {times(unrolled, dp)} against a test in 32 steps",
            (ratio(base, dp) or 0) >= 7.5, "the same")
        more = [(n, ratio(best(n, *DPS), best(n, *ASKS))) for n in deep]
        add("ASK against DP", "up to 1.6 times",
            f"{sig(min(g for _, g in more))} to {sig(max(g for _, g in more))}; "
            f"{at_most(results, more[-1][0], DPS, sig(more[-1][1]))} at n = {more[-1][0]}",
            min(g for _, g in more) > 1,
            "launches of DP take their time, most of all where the picture is small")
        flats = [(n, ratio(best(n, FLAT), best(n, *DPS))) for n in sizes
                 if best(n, FLAT) and best(n, *DPS)]
        if flats:
            gain = [n for n, g in flats if g > 1]
            add("DP pays for itself", "taken for granted",
                f"a flat grid of regions is faster up to n = {max(n for n, g in flats if g <= 1)}"
                if any(g <= 1 for _, g in flats) else "at every n",
                len(gain) == len(flats), "one level finds most of what is uniform, without launches")
    take = next((n for n, g in gains if g and g > 1), None)
    add("Fig. 8, first row: from which n on subdivision gains", "the number is lost in the text",
        f"n = {take} or less" if take == sizes[0] else f"n = {take}", UNKNOWN, "-")
    for forms, title in ((ASKS, "ASK"), (DPS, "DP")):
        sbr, mbr = (best(top, v) for v in forms)
        if sbr and mbr:
            ahead = sbr["ms"] < mbr["ms"]
            add(f"Fig. 8: {title}: SBR is ahead of MBR", "on all GPUs",
                f"{times(mbr, sbr)} times at n = {top}", ahead,
                "each MBR child is a launch more" if title == "DP" else
                "MBR here gives all warps the pixels of all regions, not blocks to each region")
    add("Fig. 4: the model has MBR ahead of SBR", "by the model alone",
        f"ASK: {times(best(top, 'ask_sbr'), best(top, 'ask_mbr'))} times at n = {top}",
        (ratio(best(top, "ask_sbr"), best(top, "ask_mbr")) or 0) > 1,
        "as the paper's model has it, and its measurements have not")
    for variant in (*DPS, *ASKS):
        row = best(mid, variant)
        same = best(mid, variant)
        given = [r for r in ask_rows(results, mid, (variant,))
                 if (r["g"], r["r"], r["B"]) == (32, 2, 32)]
        if row:
            loss = f"; (32, 2, 32): {sig(min(r['ms'] for r in given) / same['ms'])} times as long" \
                if given else ""
            inside = 2 <= row["g"] <= 32 and row["r"] in (2, 4) and 16 <= row["B"] <= 64
            add(f"Fig. 7: the best (g, r, B), {ASK_NAMES[variant]}", "g 2 to 32, r 2 or 4, B about 32",
                f"{parameters(row)} at n = {mid}{loss}", inside,
                f"leaves have a side of {sig(mid / (row['g'] * row['r']**(ask_levels(row) - 1)))}, "
                f"which is r B or more ([errata](errata.md#c1-the-side-of-the-last-regions-"
                "assumption-iii))")
    landscape = ask_rows(results, mid, ASKS)
    by_r = {r: min(row["ms"] for row in landscape if row["r"] == r)
            for r in sorted({row["r"] for row in landscape})}
    add("Figs. 3, 4 and 8: the best r is small", "2 to 4", f"r = {min(by_r, key=by_r.get)} at n = "
        f"{mid}", min(by_r, key=by_r.get) <= 4, "few levels, and leaves that fit")
    by_g = {g: min(row["ms"] for row in landscape if row["g"] == g)
            for g in sorted({row["g"] for row in landscape})}
    flat = [g for g, t in by_g.items() if t < 1.1 * min(by_g.values())]
    add("Figs. 3 and 8: g hardly matters for large n", "a wide optimum",
        f"within 10% of the best: g = {', '.join(map(str, flat))}", len(flat) >= 4,
        "the first levels are a small part of all regions")
    found = [row for row in results.at("levels") if row["variant"] == "ask_mbr"
             and row["size"] == top and len(row["P"]) > 1]
    if found:
        p = found[0]["P"]
        add("section 4.2.1: P is the same at all levels", "constant",
            f"{', '.join(sig(v) for v in p)} at n = {top}", max(p) - min(p) < 0.1,
            "level 0 has the whole domain, the others only children of what was not uniform; "
            "from there on it changes little")
    omegas = [row for row in results.at("levels") if "omega" in row]
    if omegas:
        most = max(omegas, key=lambda row: row["omega"])
        add("Fig. 3: the work saved is at most A", "Ω <= A = 512",
            f"Ω = {sig(most['omega'])} at n = {most['size']}, counted", True,
            "borders and leaves cost less than the mean pixel, and the mean is 200, not 512")
        add("section 4.3: the speedup S is below A", "S <= 512",
            f"{times(best(top, EXHAUSTIVE), ask)} at n = {top}",
            (ratio(best(top, EXHAUSTIVE), ask) or 0) < 512, "-")
    predicted = [row for row in results.at("predict") if row.get("paper_ratio")]
    if predicted:
        add("Figs. 3, 4 against 8: the model finds the best (g, r, B)", "confirmed",
            f"its best takes {sig(min(r['paper_ratio'] for r in predicted))} to "
            f"{sig(max(r['paper_ratio'] for r in predicted))} times as long as the best measured",
            max(r["paper_ratio"] for r in predicted) < 1.1,
            "with one cost A for all pixels; with three, `ask_predict.h`, "
            f"{sig(max(r['ratio'] for r in predicted))} at most")
    shapes = [(n, best(n, EXHAUSTIVE)) for n in (mid, top) if best(n, EXHAUSTIVE)]
    every = [row["ms"] for row in ask_rows(results, mid, (EXHAUSTIVE,))]
    add("Table 2: the best block, exhaustive", "16 × 16 (A100, TITAN V), 8 × 8 (TITAN RTX)",
        ", ".join(f"{shape_of(row)} at n = {n}" for n, row in dict(shapes).items()),
        all(row.get("block") in ("16x16", "8x8") for _, row in shapes),
        f"{len(every)} shapes take up to {sig(max(every) / min(every))} times as long as the best at "
        f"n = {mid}")
    blocks = ask_rows(results, mid, part="blocks")
    for variant, said in (("dp_sbr", 512), ("dp_mbr", 512), ("ask_sbr", 256), ("ask_mbr", 256)):
        row = min((r for r in blocks if ask_kind(r) == variant), key=lambda r: r["ms"],
                  default=None)
        if row:
            add(f"Table 2: the best block, {ASK_NAMES[variant]}", f"{said} threads (A100)",
                f"{row['threads']} at n = {mid}", row["threads"] == said, "-")
    by = ask_energies(results, top)
    mine = min((by[v] for v in ASKS if v in by), default=None)
    if mine and EXHAUSTIVE in by:
        add("energy, ASK against exhaustive", "about 20 times",
            f"{sig(by[EXHAUSTIVE] / mine)} at n = {top}" + (
                f"; {sig(by[UNROLLED] / mine)} against a test in 32 steps" if UNROLLED in by else ""),
            15 <= by[EXHAUSTIVE] / mine, "by NVML's counter, where the paper has its own")
        other = min((by[v] for v in DPS if v in by), default=None)
        if other:
            add("energy, ASK against DP", "about 2 times", f"{sig(other / mine)} at n = {top}",
                1.5 < other / mine < 2.5, "near to the ratio of the times")
    inserted = {row["variant"]: row for row in results.at("insert")
                if row["size"] == max(r["size"] for r in results.at("insert"))}
    if len(inserted) == 5:
        atomic, block = inserted["insert_atomic"], inserted["insert_block"]
        full = min(inserted["insert_chain"]["ms"], inserted["insert_scan"]["ms"])
        add("section 5.3.1: an atomic for each region is quick enough", "prefix sums of blocks as a "
            "way out, a full one not preferred",
            f"by blocks {times(atomic, block)} times as fast, by a full prefix sum "
            f"{sig(atomic['ms'] / full)} times, {whole(atomic['size'])} regions",
            atomic["ms"] < 1.5 * min(block["ms"], full), "-")
    orders = {row["variant"]: row for row in results.at("order") if row["what"] == "copy"
              and row["size"] == max(r["size"] for r in results.at("order"))}
    if "order_hilbert" in orders:
        add("section 7: other orders of regions", "space-filling curves named",
            f"Hilbert {times(orders['order_canonical'], orders['order_hilbert'])} times, Morton "
            f"{times(orders['order_canonical'], orders['order_morton'])} times as fast as canonical",
            UNKNOWN, "the paper gives no number; leaves of side 16 are copied")
    add("embedded GPUs: MBR falls behind", "Jetson Xavier NX", "-", UNKNOWN,
        "one GPU is measured here")
    return table(CLAIMS, rows)
