# SPDX-License-Identifier: MIT
"""The claims of the paper about adaptive subdivision beside what was measured."""
from .ask import (ASKS, ASK_NAMES, DPS, EXHAUSTIVE, FLAT, UNROLLED, ask_best, ask_energies,
                  ask_kind, ask_landscape_size, ask_levels, ask_rows, ask_sizes, parameters)
from .ask_model import predictions
from .results import ratio
from .text import CLAIMS, NOTHING, UNKNOWN, sig, table, verdict, whole

# The text at hand has lost the optima of each form; these are those of the two abstracts.
OPTIMA = "g about 32, r about 2, B about 32; the preprint: g 2 to 16, r 2 or 4"
# Why the best subdivision here is another one.
WHY_OPTIMUM = {
    "dp_sbr": "large r saves levels, and so launches",
    "dp_mbr": "large leaves save launches, of which each leaf is one",
    "ask_sbr": "two levels less, and leaves half as wide",
    "ask_mbr": "warps take the pixels of all leaves, so that small ones cost little",
}
# Table 2's blocks: A100, TITAN RTX, TITAN V, Jetson.
BLOCKS = {"dp_sbr": "64 × 8, 64 × 8, 64 × 8, 16 × 16", "dp_mbr": "64 × 8, 64 × 8, 64 × 8, 16 × 16",
          "ask_sbr": "16 × 16, 16 × 16, 16 × 16, 8 × 8",
          "ask_mbr": "16 × 16, 64 × 4, 64 × 4, 16 × 16"}


def times(slow, fast):
    found = ratio(slow, fast)
    return "-" if found is None else sig(found)


def span(gains):
    return f"{sig(min(gains))} to {sig(max(gains))}"


class Claims:
    """The results, their sizes, and the rows of the table."""

    def __init__(self, results):
        self.results, self.rows = results, []
        self.sizes = ask_sizes(results)
        self.top, self.mid = self.sizes[-1], ask_landscape_size(results)

    def best(self, n, *variants, **more):
        return ask_best(self.results, n, variants, **more)

    def ratios(self, slow, fast):
        """{n: how many times as fast} where both were measured."""
        found = {n: ratio(self.best(n, *slow), self.best(n, *fast)) for n in self.sizes
                 if self.best(n, *slow) and self.best(n, *fast)}
        return {n: gain for n, gain in found.items() if gain}

    def add(self, claim, paper, here, holds, why):
        self.rows.append([claim, paper, here,
                          holds if isinstance(holds, str) else verdict(holds), why])


def claims_of_speed(c):
    """Each approach over the others."""
    for title, paper, forms, why in (
            ("ASK", 12, ASKS, "ASK too tests once in 32 steps: about half of the first ratio is "
             "that"),
            ("DP", 7.5, DPS, "the same; and in the authors' code each region that is filled or "
             "computed is a launch, where here its block does it")):
        gains = c.ratios((EXHAUSTIVE,), forms)
        if gains:
            n = max(gains)
            c.add(f"{title} against exhaustive", f"up to {sig(paper, 2)} times",
                  f"{sig(gains[n])} at n = {n}; {times(c.best(n, UNROLLED), c.best(n, *forms))} "
                  "against a test in 32 steps", gains[n] >= paper, why)
            plain, fair = (next((n for n, gain in c.ratios((base,), forms).items() if gain > 1), None)
                           for base in (EXHAUSTIVE, UNROLLED))
            c.add(f"Fig. 8, first row: from which n on {title} gains", "the number is lost in the "
                  "text", f"n = {plain or '-'}; {fair or '-'} against a test in 32 steps", UNKNOWN,
                  "the model with the parameters of the authors' scripts gains from n = 2048 on")
    gains = c.ratios(DPS, ASKS)
    if gains:
        c.add("ASK against DP", "up to 1.6 times",
              f"{span(gains.values())}; {sig(gains[max(gains)])} at n = {max(gains)}",
              min(gains.values()) > 1, "the best form of each: ASK-MBR, which here shares the "
              "pixels of all regions among all warps")
    for k, form in enumerate(("SBR", "MBR")):
        gains = c.ratios((DPS[k],), (ASKS[k],))
        if gains:
            c.add(f"Fig. 8: ASK-{form} is ahead of DP-{form}", "on all GPUs",
                  f"{sig(gains[min(gains)])} times at n = {min(gains)}, {sig(gains[max(gains)])} at "
                  f"n = {max(gains)}", min(gains.values()) > 1,
                  "no child of DP waits for another region, ASK-SBR waits for the longest of each "
                  "level" if form == "SBR" else "DP-MBR launches a kernel for each region that is "
                  "filled or computed")
    gains = c.ratios(DPS, (FLAT,))
    if gains:
        c.add("DP against a flat grid of regions", "not compared; section 1 names slowdowns that "
              "others report", f"{span(gains.values())} times as long", UNKNOWN,
              "the paper has no flat grid; one level finds most of what is uniform, without "
              "launches")


def claims_of_forms(c):
    """One block for each region, or several."""
    for forms, title in ((ASKS, "ASK"), (DPS, "DP")):
        gains = c.ratios((forms[1],), (forms[0],))
        if gains:
            c.add(f"Fig. 8: {title}: SBR is ahead of MBR", "on all GPUs" + (
                ", but for the second row, where ASK-MBR is the highest" if title == "ASK" else ""),
                  f"{sig(gains[max(gains)])} times at n = {max(gains)}", gains[max(gains)] > 1,
                  "each MBR child is a launch more" if title == "DP" else
                  "MBR here gives all warps the pixels of all regions; in the authors' code it "
                  "launches blocks for each region, and waits for the host between levels")
    gains = c.ratios((ASKS[0],), (ASKS[1],))
    if gains:
        c.add("Fig. 4: the model has MBR ahead of SBR", "by the model alone",
              f"ASK: {span(gains.values())} times", min(gains.values()) > 1,
              "as the paper's model has it, and its measurements have not")


def landscape_best(c, variant, key):
    """The least time for each value of a parameter at the size of the landscape."""
    rows = [row for row in ask_rows(c.results, c.mid, (variant,)) if row.get("part") != "blocks"]
    return {value: min(row["ms"] for row in rows if row[key] == value)
            for value in sorted({row[key] for row in rows})}


def claims_of_optima(c):
    """The best (g, r, B)."""
    for variant in (*DPS, *ASKS):
        row = c.best(c.mid, variant)
        given = [r for r in ask_rows(c.results, c.mid, (variant,))
                 if (r["g"], r["r"], r["B"]) == (32, 2, 32)]
        if row:
            loss = min(r["ms"] for r in given) / row["ms"] if given else None
            side = c.mid / (row["g"] * row["r"]**(ask_levels(row) - 1))
            c.add(f"Fig. 7: the best (g, r, B), {ASK_NAMES[variant]}", OPTIMA,
                  f"{parameters(row)} at n = {c.mid}, leaves of {sig(side)}" + (
                      f"; (32, 2, 32), leaves of {sig(c.mid / 256)}: {sig(loss)} times as long"
                      if loss and c.mid == 16384 else ""),
                  loss is not None and loss < 1.1, WHY_OPTIMUM[variant])
    for key, claim, paper, fits, why in (
            ("r", "Fig. 8, third row: the best r is small", "about 2, for all approaches",
             lambda best: max(best.values()) <= 4, "each level more is launches more, which DP feels "
             "most"),
            ("B", "Fig. 8, fourth row: the best B", "about 32", lambda best: min(best.values()) >= 16,
             "shared borders make small regions cheap; B only tells how many levels there are")):
        best = {}
        for variant in (*DPS, *ASKS):
            found = landscape_best(c, variant, key)
            if found:
                best[variant] = min(found, key=found.get)
        if best:
            c.add(claim, paper, ", ".join(f"{ASK_NAMES[v]} {value}" for v, value in best.items())
                  + f" at n = {c.mid}", fits(best), why)
    flat = {}
    for variant in ASKS:
        found = landscape_best(c, variant, "g")
        flat[variant] = [g for g, t in found.items() if t < 1.1 * min(found.values())]
    if all(flat.values()):
        c.add("Fig. 8, second row: ASK-MBR hardly depends on g, SBR does", "a wide optimum, "
              "smoother for MBR", "; ".join(
                  f"{ASK_NAMES[v]} within 10% of its best: g = {', '.join(map(str, gs))}"
                  for v, gs in flat.items()),
              len(flat["ask_mbr"]) >= max(4, len(flat["ask_sbr"])),
              "the first levels are a small part of all regions; with one block for each region a "
              "small g leaves the GPU empty")


def claims_of_model(c):
    """The cost model's assumptions and bounds."""
    found = [row for row in c.results.at("levels") if row["variant"] == "ask_mbr"
             and row["size"] == c.top and len(row["P"]) > 1]
    if found:
        p = found[0]["P"]
        c.add("section 4.2.1: P is the same at all levels", "equal or highly similar",
              f"{', '.join(sig(v) for v in p)} at n = {c.top}", max(p) - min(p) < 0.1,
              "more of the large regions touch the set's edge; from level 2 on P changes little. It "
              "belongs to r: about 0.57 for r = 4, 0.42 for r = 8")
    omegas = [row for row in c.results.at("levels") if "omega" in row]
    if omegas:
        most = max(omegas, key=lambda row: row["omega"])
        own = f", {sig(most['own_omega'])} with borders of their own" if "own_omega" in most else ""
        c.add("Fig. 3: the work saved is at most A", "Ω <= A",
              f"Ω = {sig(most['omega'])} at n = {most['size']}, counted{own}", True,
              "borders and leaves cost less than the mean pixel, whose A is 200 of a dwell of 512; "
              "the count charges a shared line to both regions, the kernels compute it once")
    base, ask = c.best(c.top, EXHAUSTIVE), c.best(c.top, *ASKS)
    fill = ask["ms"] * ask["limit_pct"] / 100 if ask.get("limit_pct") else None
    c.add("section 4.3: the speedup S is below A", "S <= A <= 512", f"{times(base, ask)} at n = {c.top}",
          (ratio(base, ask) or 0) < 512,
          f"to fill the picture alone takes {sig(fill)} ms, so no form gains more than "
          f"{base['ms'] / fill:.0f} times" if fill and base else "-")
    predicted = [row for row in predictions(c.results) if row.get("paper_ratio")]
    if predicted:
        losses = {v: [r["paper_ratio"] for r in predicted if r["variant"] == v] for v in ASKS}
        every = [r["paper_ratio"] for r in predicted]
        c.add("Figs. 3, 4 against 8: the model finds the best (g, r, B)", "confirmed",
              "its best takes " + ", ".join(f"{span(found)} times ({ASK_NAMES[v]})"
                                            for v, found in losses.items() if found)
              + " as long as the best measured", max(every) < 1.1,
              "with one cost A for all pixels; with three, `bench/plots/ask_model.py`, "
              f"{sig(max(r['ratio'] for r in predicted))} at most")


def claims_of_blocks(c):
    """Table 2: a block agrees that takes no more than 2% longer than the best one."""
    every = {row["block"]: row["ms"] for row in ask_rows(c.results, c.mid, (EXHAUSTIVE,))
             if "block" in row}
    if every:
        least = min(every.values())
        best = min(every, key=every.get)
        said = {b: every[b] / least for b in ("16x16", "64x4") if b in every}
        c.add("Table 2: the best block, exhaustive", "16 × 16, 8 × 8, 16 × 16, 64 × 4",
              f"{best.replace('x', ' × ')} at n = {c.mid}" + "".join(
                  f"; {b.replace('x', ' × ')}: {loss:.3f} times as long" for b, loss in said.items()),
              bool(said) and min(said.values()) < 1.02,
              f"{len(every)} shapes take up to {sig(max(every.values()) / least)} times as long")
    blocks = [row for row in ask_rows(c.results, c.mid, part="blocks")
              if row.get("driver") != "captured"]
    for variant, paper in BLOCKS.items():
        found = {r["threads"]: r["ms"] for r in blocks if ask_kind(r) == variant}
        said = 512 if variant in DPS else 256
        if found and said in found:
            best = min(found, key=found.get)
            loss = found[said] / found[best]
            c.add(f"Table 2: the best block, {ASK_NAMES[variant]}", paper,
                  f"{best} threads at n = {c.mid}" + (
                      f"; {said}: {loss:.3f} times as long" if said != best else ""), loss < 1.02,
                  "any block does, as warps share the work" if variant == "ask_mbr" else
                  "small blocks let more regions be in work at once")


def claims_of_energy(c):
    """Energies by NVML's counter; best against best."""
    by = {n: ask_energies(c.results, n) for n in c.sizes}
    by = {n: energy for n, energy in by.items() if any(v in energy for v in ASKS)}
    mine = {n: min(energy[v] for v in ASKS if v in energy) for n, energy in by.items()}
    if mine and EXHAUSTIVE in by[max(mine)]:
        n = max(mine)
        c.add("energy, ASK against exhaustive", "about 20 times",
              f"{sig(by[n][EXHAUSTIVE] / mine[n])} at n = {n}" + (
                  f"; {sig(by[n][UNROLLED] / mine[n])} against a test in 32 steps"
                  if UNROLLED in by[n] else ""), 15 <= by[n][EXHAUSTIVE] / mine[n],
              "the number is the abstract's, its set-up is not in the text; NVML counts energy "
              "here, the authors' code adds up power")
    gains = {n: min(by[n][v] for v in DPS if v in by[n]) / mine[n] for n in mine
             if any(v in by[n] for v in DPS)}
    if gains:
        c.add("energy, ASK against DP", "about 2 times",
              ", ".join(f"{sig(gain)} at n = {n}" for n, gain in gains.items()),
              1.5 < max(gains.values()) < 2.5, "ASK-MBR is ahead by more in time, at a higher power")


def claims_of_lists(c):
    """Insertion into the lookup table, and orders of regions."""
    inserted = {row["variant"]: row for row in c.results.at("insert")
                if row["size"] == max(r["size"] for r in c.results.at("insert"))}
    if len(inserted) == 5:
        atomic, block = inserted["insert_atomic"], inserted["insert_block"]
        full = min(inserted["insert_chain"]["ms"], inserted["insert_scan"]["ms"])
        c.add("section 5.3.1: an atomic for each region", "prefix sums of blocks where it is not as "
              "fast as expected, a full one less preferred",
              f"by blocks {times(atomic, block)} times as fast, by a full prefix sum "
              f"{sig(atomic['ms'] / full)} times, {whole(atomic['size'])} regions",
              block["ms"] <= full, "all atomics meet in one counter; up to 65536 regions a launch "
              "is all that counts")
    n = max((row["size"] for row in c.results.at("order")), default=None)
    gains = {}
    for what, name in (("copy", "copied"), ("compute", "computed")):
        rows = {row["variant"]: row for row in c.results.at("order")
                if row["what"] == what and row["size"] == n}
        if "order_hilbert" in rows:
            gains[name] = [times(rows["order_canonical"], rows[order])
                           for order in ("order_hilbert", "order_morton")]
    if gains:
        c.add("section 7: the canonical order misses caches", "Hilbert and Morton order can be more "
              "efficient", "; ".join(f"leaves {name}: Hilbert {g[0]}, Morton {g[1]} times as fast"
                                     for name, g in gains.items()) + f", n = {n}",
              any(float(g) > 1.02 for pair in gains.values() for g in pair),
              "the paper measures none; it speaks of more than two dimensions")


def claims_of_gpus(c):
    """What only other GPUs could tell."""
    for claim, paper in (("Fig. 8: the A100 gains most, then both TITANs", "by figure"),
                         ("embedded GPUs: MBR falls behind", "Jetson Xavier NX, 6 multiprocessors"),
                         ("section 7: up to 128 kernels at once", "a limit for DP")):
        c.add(claim, paper, "-", UNKNOWN, "one GPU is measured here")


def table_ask_claims(data):
    """Paper 003: what it says, beside what was measured at the largest size, and at the size of the
    landscape."""
    results = data.get("ask")
    sizes = ask_sizes(results) if results else []
    if not sizes or not ask_best(results, sizes[-1], ASKS):
        return NOTHING
    c = Claims(results)
    for claims in (claims_of_speed, claims_of_forms, claims_of_optima, claims_of_model,
                   claims_of_blocks, claims_of_energy, claims_of_lists, claims_of_gpus):
        claims(c)
    return table(CLAIMS, c.rows)
