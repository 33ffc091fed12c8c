# SPDX-License-Identifier: MIT
"""The claims of the fractals' paper beside what was measured."""
from .results import RHOS, WORKS, ratio, side
from .text import compared, sig, table

# The largest levels of the paper: RD and CA ended one earlier for want of memory.
PAPER_LEVELS = {"sw": 16, "rd": 15, "ca": 15}
# How a block finds its tile by shuffles: as published, and by blocks that walk.
PAPER_LAUNCHES = (("lambda_block", "a block for each tile"), ("lambda_shuffle", "blocks that walk"))
# Fig. 11 as the text tells it, times faster than by shuffles: variant, work -> Titan V, Titan RTX.
FIG11 = {
    (1, "sw"): ("-", "> 1"), (2, "sw"): ("up to 1.2", "up to 1.4"), (3, "sw"): ("< 1", "< 1"),
    (1, "rd"): ("< 1", "> 1 at ρ = 16"), (2, "rd"): ("up to 1.2", "up to 1.3"),
    (3, "rd"): ("< 1", "< 1"),
    (1, "ca"): ("< 1", "< 1"), (2, "ca"): ("< 1", "> 1"), (3, "ca"): ("< 1", "< 1"),
}


def box_row(results, work, size, rho, variant, **more):
    """The gasket's row of a launch of blocks of side rho, or None."""
    rows = [row for row in results.at(work, "gasket", size)
            if row["variant"] == variant and row.get("rho") == rho
            and all(row.get(key) == value for key, value in more.items())]
    return min(rows, key=lambda row: row["ms"], default=None)


def box_gains(results, work, size, form):
    """{rho: times faster than BB with the same rho}."""
    gains_of = {rho: ratio(box_row(results, work, size, rho, "bb"),
                           box_row(results, work, size, rho, form)) for rho in RHOS}
    return {rho: gain for rho, gain in gains_of.items() if gain}


def box_best(results, work, size, variant):
    """(rho, row) of the fastest."""
    rows = [(rho, box_row(results, work, size, rho, variant)) for rho in RHOS]
    return min(((rho, row) for rho, row in rows if row), key=lambda pair: pair[1]["ms"],
               default=(None, None))


def box_n_0(results, work, form):
    """{rho: the smallest n from which on lambda is faster than BB with the same rho}."""
    found = {}
    for rho in RHOS:
        for size in reversed(results.sizes(work, "gasket")):
            gain = box_gains(results, work, size, form).get(rho)
            if gain is None:
                continue
            if gain <= 1:
                break
            found[rho] = side("gasket", size)
    return found


def box_growth(results, work, form):
    """The smallest n from which on the gain over BB grows with n, whatever rho."""
    latest = 0
    for rho in RHOS:
        gains = [(side("gasket", size), box_gains(results, work, size, form).get(rho))
                 for size in results.sizes(work, "gasket")]
        gains = [(n, gain) for n, gain in gains if gain]
        if len(gains) < 2:
            return None
        start = gains[-1][0]
        for (n, gain), (_, more) in reversed(list(zip(gains, gains[1:]))):
            if gain >= more:
                break
            start = n
        latest = max(latest, start)
    return latest


def claims_fig7(results, form, launch):
    """The rows of Fig. 7 for one way to launch lambda."""
    rows = []

    def add(what, work, size, paper, here, verdict):
        rows.append([f"{what}, {launch}", work.upper(), str(side("gasket", size)), paper, here,
                     verdict])
    for work, size in PAPER_LEVELS.items():
        gains_of = box_gains(results, work, size, form)
        if not gains_of:
            continue
        bb_rho, bb = box_best(results, work, size, "bb")
        rho, best = box_best(results, work, size, form)
        if 32 in gains_of:
            add("× BB, both with ρ = 32", work, size, "6 to 12", sig(gains_of[32]),
                compared(gains_of[32], 6, 12))
        most = max(gains_of, key=gains_of.get)
        add("× BB, the most with one ρ for both", work, size, "up to 75",
            f"{sig(gains_of[most])} (ρ = {most})", compared(gains_of[most], 0, 75))
        add("× BB, each with its best ρ", work, size, "up to 9", sig(ratio(bb, best)),
            compared(ratio(bb, best), 0, 9))
        add("best ρ of BB, of lambda", work, size, "32, 16", f"{bb_rho}, {rho}",
            "agrees" if (bb_rho, rho) == (32, 16) else "differs")
        starts = box_n_0(results, work, form)
        if starts:
            late = [rho for rho, n in starts.items() if n > 512]
            add(f"ahead of BB with ρ = {', '.join(map(str, starts))} from n on", work, size,
                "512 at the latest, sooner with small blocks", ", ".join(map(str, starts.values())),
                "agrees" if not late else f"agrees but for ρ = {', '.join(map(str, late))}")
        growth = box_growth(results, work, form)
        if growth:
            add("the gain grows with every ρ from n on", work, size, "512", str(growth),
                "agrees" if growth <= 512 else "differs")
    return rows


def claims_fig11(results):
    """The rows of Fig. 11: its variants by WMMA, and in exact integers, over shuffles, a block each."""
    rows = []
    for (form, work), (volta, turing) in FIG11.items():
        size = PAPER_LEVELS[work]
        for rho in (16, 32):
            base = box_row(results, work, size, rho, "lambda_block")
            half = ratio(base, box_row(results, work, size, rho, "wmma_fp16", form=form,
                                       tiles_per_block=1))
            exact = ratio(base, box_row(results, work, size, rho, f"mma{form}", tiles_per_block=1))
            if half:
                rows.append([f"× shuffles, variant {form}, ρ = {rho}", work.upper(),
                             str(side("gasket", size)), f"V {volta}, RTX {turing}",
                             f"{sig(half)}, in integers {sig(exact)}",
                             "faster" if half > 1 else "slower"])
    return rows


def claims_block(block):
    """Section 5, of which the paper measures one form: times of the others by that one's."""
    rows = []
    for work, tiles in ((work, tiles) for work in WORKS for tiles in (1, 16)):
        for size in block.sizes(work, "gasket")[-1:]:
            place = {"tiles_per_block": tiles}
            base = box_row(block, work, size, 16, "block_subbox", **place)
            others = [ratio(base, box_row(block, work, size, 16, name, **place))
                      for name in ("block_unroll", "block_table")]
            if all(others):
                many = "a block for each tile" if tiles == 1 else f"{tiles} tiles a block"
                rows.append([f"unrolling, table × sub-boxes, ρ = 16, {many}", work.upper(),
                             str(side("gasket", size)), "-",
                             ", ".join(sig(gain) for gain in others), "-"])
    return rows


def paper_results(data):
    """The run of the paper's launches alone, or that of everything."""
    return data.get("fig11") or data.get("fractal")


def table_fractal_claims(data):
    """What the paper says of the gasket, beside what was measured here."""
    results, rows = paper_results(data), []
    if results:
        for form, launch in PAPER_LAUNCHES:
            rows += claims_fig7(results, form, launch)
        rows += claims_fig11(results)
    if "block" in data:
        rows += claims_block(data["block"])
    return table(["gasket", "test ", "n", "the paper ", "here ", "compared "], rows)
