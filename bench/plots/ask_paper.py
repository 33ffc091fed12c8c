# SPDX-License-Identifier: MIT
"""The claims of the paper about adaptive subdivision beside what was measured."""
from .ask import (ASKS, ASK_NAMES, DPS, EXHAUSTIVE, FLAT, UNROLLED, ask_best, ask_energies,
                  ask_kind, ask_landscape_size, ask_levels, ask_rows, ask_sizes, parameters)
from .ask_model import predictions
from .others import against_host, host_size
from .results import ratio
from .text import (CLAIMS, NEAR, NOTHING, UNKNOWN, claim, farthest, memory, order, same, sig, stated, table,
                   up_to, whole)

# The forms as the paper describes them (papers/mandelbrot_published.h); verdicts compare these.
PUBLISHED = "published_exhaustive"
PUBLISHED_ASKS = ("published_ask_sbr", "published_ask_mbr")
PUBLISHED_DPS = ("published_dp_sbr", "published_dp_mbr")
RUN = ("published_ask_sbr_run", "published_dp_sbr_run")  # as the authors' code has them
GRAPH = "graph_conditional"
OURS = dict(zip((PUBLISHED, *PUBLISHED_ASKS, *PUBLISHED_DPS), (EXHAUSTIVE, *ASKS, *DPS)))

# The text available to us has lost the optima of each form; these are those of the two abstracts.
OPTIMA = "about (32, 2, 32); the preprint: g 2 to 16, r 2 or 4"
# Table 2's blocks: A100, TITAN RTX, TITAN V, Jetson.
BLOCKS = {"dp_sbr": "64×8, 64×8, 64×8, 16×16", "dp_mbr": "64×8, 64×8, 64×8, 16×16",
          "ask_sbr": "16×16, 16×16, 16×16, 8×8", "ask_mbr": "16×16, 64×4, 64×4, 16×16"}


def times(slow, fast):
    found = ratio(slow, fast)
    return "-" if found is None else sig(found)


def span(gains):
    return f"{sig(min(gains))} to {sig(max(gains))}"


class Claims:
    """The results, their sizes, and the rows of the table."""

    def __init__(self, data):
        self.data, self.results, self.rows = data, data["ask"], []
        results = self.results
        self.sizes = ask_sizes(results)
        self.top, self.mid = self.sizes[-1], ask_landscape_size(results)

    def best(self, n, *variants, **more):
        return ask_best(self.results, n, variants, **more)

    def ratios(self, slow, fast):
        """{n: how many times as fast} where both were measured."""
        found = {n: ratio(self.best(n, *slow), self.best(n, *fast)) for n in self.sizes
                 if self.best(n, *slow) and self.best(n, *fast)}
        return {n: gain for n, gain in found.items() if gain}

    def add(self, *parts):
        self.rows.append(claim(*parts))


def name_of(variant):
    return ASK_NAMES[OURS.get(variant, variant)]


def claims_of_speed(c):
    """Each approach over the others: as published, and ours."""
    for title, paper, published, ours in (("ASK", 12, PUBLISHED_ASKS, ASKS),
                                          ("DP", 7.5, PUBLISHED_DPS, DPS)):
        gains = c.ratios((PUBLISHED,), published)
        if not gains:
            continue
        n = max(gains, key=gains.get)
        c.add(f"{title} against exhaustive", f"up to {sig(paper, 2)} times",
              f"{sig(gains[n])} at n = {n} as published; ours {times(c.best(c.top, EXHAUSTIVE), c.best(c.top, *ours))} "
              f"at n = {c.top}, {times(c.best(c.top, UNROLLED), c.best(c.top, *ours))} against a test in 32 steps",
              up_to(gains.values(), paper))
        plain = next((n for n, gain in gains.items() if gain > 1), None)
        fair = next((n for n, gain in c.ratios((UNROLLED,), ours).items() if gain > 1), None)
        c.add(f"Fig. 8, first row: from which n on {title} gains", "-",
              f"n = {plain or '-'} as published; ours {fair or '-'} against a test in 32 steps",
              UNKNOWN, "the text has lost the number")
    gains = c.ratios(PUBLISHED_DPS, PUBLISHED_ASKS)
    if gains:
        n = max(gains, key=gains.get)
        c.add("ASK against DP", "up to 1.6 times",
              f"{span(gains.values())}, the most at n = {n}; ours {span(c.ratios(DPS, ASKS).values())}",
              up_to(gains.values(), 1.6), "the best form and the best (g, r, B) of each")
    for k, form in enumerate(("SBR", "MBR")):
        gains = c.ratios((PUBLISHED_DPS[k],), (PUBLISHED_ASKS[k],))
        if gains:
            c.add(f"Fig. 8: ASK-{form} is ahead of DP-{form}", "on all GPUs",
                  f"{span(gains.values())} times; ours "
                  f"{span(c.ratios((DPS[k],), (ASKS[k],)).values())}",
                  order((gain, 1) for gain in gains.values()))
    gains = c.ratios(RUN[1:], RUN[:1])
    if gains:
        slower = [c.ratios((run,), (published,)) for run, published in zip(RUN, (PUBLISHED_ASKS[0], PUBLISHED_DPS[0]))]
        c.add("the same, as the authors' code has both", "on all GPUs", f"{span(gains.values())} times; times as long as "
              f"the forms as described: ASK {span(slower[0].values())}, DP {span(slower[1].values())}",
              order((gain, 1) for gain in gains.values()), "each filled region and leaf of DP is a launch")
    gains = c.ratios(DPS, (FLAT,))
    if gains:
        c.add("DP against a flat grid of regions", "not compared",
              f"ours: {span(gains.values())} times as long", None,
              "one level finds most uniform regions, without launches")
    gains = c.ratios(PUBLISHED_ASKS[:1], (GRAPH,))
    if gains:
        c.add("the level loop in a conditional node of a CUDA graph", "-",
              f"{span(gains.values())} times as fast as ASK-SBR with the host's loop, "
              f"{span(c.ratios(PUBLISHED_DPS, (GRAPH,)).values())} times as fast as DP, n = {min(gains)} to "
              f"{max(gains)}", None, "no allocation, no host between levels")


def claims_of_forms(c):
    """One block for each region, or several."""
    for forms, title in ((PUBLISHED_ASKS, "ASK"), (PUBLISHED_DPS, "DP")):
        gains = c.ratios((forms[1],), (forms[0],))
        ours = c.ratios((OURS[forms[1]],), (OURS[forms[0]],))
        if gains:
            c.add(f"Fig. 8: {title}: SBR is ahead of MBR", "on all GPUs" + (
                ", but in the second row" if title == "ASK" else ""),
                  f"{span(gains.values())} times; ours {span(ours.values())}",
                  order((gain, 1) for gain in gains.values()),
                  "each filled region and leaf of DP-MBR is a launch" if title == "DP" else
                  "our MBR gives all warps the pixels of all regions")
    gains = c.ratios(PUBLISHED_ASKS[:1], PUBLISHED_ASKS[1:])
    if gains:
        c.add("Fig. 4: the model has MBR ahead of SBR", "by the model alone",
              f"ASK as published: {span(gains.values())} times; ours "
              f"{span(c.ratios((ASKS[0],), (ASKS[1],)).values())}",
              order((gain, 1) for gain in gains.values()), "the model has no cost of a launch")


def landscape_best(c, variant, key):
    """The least time for each value of a parameter at the size of the landscape."""
    rows = [row for row in ask_rows(c.results, c.mid, (variant,)) if row.get("part") != "blocks"]
    return {value: min(row["ms"] for row in rows if row[key] == value)
            for value in sorted({row[key] for row in rows})}


def claims_of_optima(c):
    """The best (g, r, B) of the published forms, and of ours."""
    optima, why = OPTIMA, "the verdict compares times"
    for variant in (*PUBLISHED_DPS, *PUBLISHED_ASKS):
        row, ours = c.best(c.mid, variant), c.best(c.mid, OURS[variant])
        given = [r for r in ask_rows(c.results, c.mid, (variant,))
                 if (r["g"], r["r"], r["B"]) == (32, 2, 32)]
        if row and given:
            loss = min(r["ms"] for r in given) / row["ms"]
            side = c.mid / (row["g"] * row["r"]**(ask_levels(row) - 1))
            c.add(f"Fig. 7: the best (g, r, B), {name_of(variant)}", optima,
                  f"{parameters(row)}, leaves of {sig(side)}; (32, 2, 32): {sig(loss)} times as long; ours "
                  f"{parameters(ours)}", stated(loss, 1), why)
            optima, why = "the same", "-"
    for key, what, paper, said, why in (
            ("r", "Fig. 8, third row: the best r is small", "about 2 for all", 2,
             "a level costs DP launches, ASK a synchronization"),
            ("B", "Fig. 8, fourth row: the best B", "about 32", 32,
             "B only sets the number of levels")):
        best = {}
        for variant in (*PUBLISHED_DPS, *PUBLISHED_ASKS):
            found = landscape_best(c, variant, key)
            if found:
                best[variant] = min(found, key=found.get)
        if best:
            c.add(what, paper, ", ".join(f"{name_of(v)} {value}" for v, value in best.items())
                  , stated(farthest(best.values(), said), said), why)
    flat = {}
    for variant in PUBLISHED_ASKS:
        found = landscape_best(c, variant, "g")
        flat[variant] = [g for g, t in found.items() if t < 1.1 * min(found.values())]
    if all(flat.values()):
        c.add("Fig. 8, second row: ASK-MBR hardly depends on g, SBR does", "a wide optimum, "
              "smoother for MBR", "; ".join(
                  f"{name_of(v)} g = {', '.join(map(str, gs))}" for v, gs in flat.items())
              + " within 10% of the best",
              order([(len(flat[PUBLISHED_ASKS[1]]), len(flat[PUBLISHED_ASKS[0]]))]),
              "a block a region: a small g leaves multiprocessors idle")


def claims_of_model(c):
    """The cost model's assumptions and bounds."""
    found = sorted((row for row in c.results.at("levels") if len(row["P"]) > 1),
                   key=lambda row: min(row["P"]) / max(row["P"]))
    if found:
        kept = [row for row in found if min(row["P"]) >= (1 - NEAR) * max(row["P"])]
        c.add("section 4.2.1: P is the same at all levels", "equal or highly similar", "ours: " + "; ".join(
            f"{', '.join(sig(v) for v in row['P'])} at n = {row['size']}, {parameters(row)}"
            for row in (found[0], *kept[-1:])) + f"; within 20% in {len(kept)} of {len(found)} settings",
              same(found[0]["P"]), "verdict of the first; the first level's P falls with g, the others' with r; the "
              "[authors' README](https://github.com/temporal-hpc/GPU-dynamic-parallelism) (commit a905ba7): 1.00 to "
              "0.704, (2, 2, 1), n = 1024")
    omegas = [row for row in c.results.at("levels") if "omega" in row]
    if omegas:
        most = max(omegas, key=lambda row: row["omega"])
        own = f", {sig(most['own_omega'])} with borders of their own" if "own_omega" in most else ""
        c.add("Fig. 3: the work saved is at most A", "Ω <= A",
              f"ours Ω = {sig(most['omega'])} at n = {most['size']}, counted{own}",
              order([(512, most["omega"])]),
              "the mean pixel's A is 200 of a dwell of 512; the count charges a shared line to both regions")
    base, ask = c.best(c.top, EXHAUSTIVE), c.best(c.top, *ASKS)
    fill = ask["ms"] * ask["limit_pct"] / 100 if ask.get("limit_pct") else None
    c.add("section 4.3: the speedup S is below A", "S <= A <= 512", f"ours {times(base, ask)} at n = {c.top}",
          order([(512, ratio(base, ask))]),
          f"filling the picture takes {sig(fill)} ms, so no form gains more than {base['ms'] / fill:.0f} times"
          if fill and base else "-")
    predicted = [row for row in predictions(c.results) if row.get("paper_ratio")]
    if predicted:
        losses = {v: [r["paper_ratio"] for r in predicted if r["variant"] == v] for v in ASKS}
        every = [r["paper_ratio"] for r in predicted]
        c.add("Figs. 3, 4 against 8: the model finds the best (g, r, B)", "confirmed",
              "of ours its best takes " + ", ".join(f"{span(found)} times ({ASK_NAMES[v]})"
                                            for v, found in losses.items() if found)
              + " as long as the best measured", same((1, *every)),
              f"one cost A; with three, `bench/plots/ask_model.py`, {sig(max(r['ratio'] for r in predicted))} at most")


def claims_of_blocks(c):
    """Table 2: the time of the paper's block, relative to the best one."""
    every = {row["block"]: row["ms"] for row in ask_rows(c.results, c.mid, (EXHAUSTIVE,))
             if "block" in row}
    if every:
        least = min(every.values())
        best = min(every, key=every.get)
        said = {b: every[b] / least for b in ("16x16", "64x4") if b in every}
        c.add("Table 2: the best block, exhaustive", "16×16, 8×8, 16×16, 64×4",
              f"ours {best.replace('x', '×')}" + "".join(
                  f"; {b.replace('x', '×')}: {loss:.3f} times as long" for b, loss in said.items()),
              stated(min(said.values(), default=None), 1),
              f"{len(every)} shapes take up to {sig(max(every.values()) / least)} times as long; the TITANs: "
              "[C9](errata.md#c9-the-best-blocks-of-the-titans-table-2)")
    blocks = [row for row in ask_rows(c.results, c.mid, part="blocks")
              if row.get("driver") != "captured"]
    for variant, paper in BLOCKS.items():
        found = {r["threads"]: r["ms"] for r in blocks if ask_kind(r) == variant}
        said = 512 if variant in DPS else 256
        if found and said in found:
            best = min(found, key=found.get)
            loss = found[said] / found[best]
            c.add(f"Table 2: the best block, {ASK_NAMES[variant]}", paper,
                  f"ours {best} threads" + (
                      f"; {said}: {loss:.3f} times as long" if said != best else ""), stated(loss, 1),
                  {"ask_mbr": "warps share the work", "dp_sbr": "more regions in work at once"}.get(variant, "the same"))


def claims_of_energy(c):
    """Energies by NVML's counter; best against best."""
    by = {n: ask_energies(c.results, n) for n in c.sizes}
    by = {n: energy for n, energy in by.items() if any(v in energy for v in ASKS)}
    mine = {n: min(energy[v] for v in ASKS if v in energy) for n, energy in by.items()}

    def published(n, variants):
        """Their energy by that of ASK, all as published, or None."""
        found = [min((by[n][v] for v in names if v in by[n]), default=None) for names in (variants, PUBLISHED_ASKS)]
        return found[0] / found[1] if all(found) else None

    def first(gain):
        return f"{sig(gain)} as published; " if gain else ""
    if mine and EXHAUSTIVE in by[max(mine)]:
        n = max(mine)
        gain = published(n, (PUBLISHED,))
        c.add("energy, ASK against exhaustive", "about 20 times",
              first(gain) + f"ours {sig(by[n][EXHAUSTIVE] / mine[n])} at n = {n}" + (
                  f"; {sig(by[n][UNROLLED] / mine[n])} against a test in 32 steps"
                  if UNROLLED in by[n] else ""), stated(gain or by[n][EXHAUSTIVE] / mine[n], 20),
              "the abstract's number, without set-up; NVML's energy here, summed power there")
    gains = {n: min(by[n][v] for v in DPS if v in by[n]) / mine[n] for n in mine
             if any(v in by[n] for v in DPS)}
    if gains:
        top = max(gains)
        gain = published(top, PUBLISHED_DPS)
        c.add(f"energy, ASK against DP, n = {top}", "about 2 times", first(gain) + "ours " + ", ".join(
            sig(gain) if n == top else f"{sig(gain)} at n = {n}" for n, gain in sorted(gains.items(), reverse=True)),
              stated(gain or gains[top], 2))


def claims_of_lists(c):
    """Insertion into the lookup table, and orders of regions."""
    inserted = {row["variant"]: row for row in c.results.at("insert")
                if row["size"] == max(r["size"] for r in c.results.at("insert"))}
    if len(inserted) == 5:
        atomic, block = inserted["insert_atomic"], inserted["insert_block"]
        full, chain = inserted["insert_scan"]["ms"], inserted["insert_chain"]
        small = {row["variant"]: sig(row["ms"]) for row in c.results.at("insert") if row["size"] == 65536}
        c.add("section 5.3.1: an atomic for each region", "else prefix sums of blocks, a full one last",
              f"blocks {times(atomic, block)} times as fast, a prefix sum in three launches "
              f"{sig(atomic['ms'] / full)}, block after block {times(atomic, chain)}; {whole(atomic['size'])} regions",
              order([(full, block["ms"])]), "one counter" + (
                  f"; ms with 65536 regions: atomic {small['insert_atomic']}, blocks {small['insert_block']}, three "
                  f"launches {small['insert_scan']}, block after block {small['insert_chain']}"
                  if len(small) == 5 else ""))
    n = max((row["size"] for row in c.results.at("order")), default=None)
    gains = {}
    for what, name in (("copy", "copied"), ("compute", "computed")):
        rows = {row["variant"]: row for row in c.results.at("order")
                if row["what"] == what and row["size"] == n}
        if "order_hilbert" in rows:
            gains[name] = [ratio(rows["order_canonical"], rows[curve])
                           for curve in ("order_hilbert", "order_morton")]
    if gains:
        c.add("section 7: the canonical order misses caches", "Hilbert and Morton can be better",
              "; ".join(f"leaves {name}: Hilbert {sig(g[0])}, Morton {sig(g[1])} times as fast"
                                     for name, g in gains.items()) + f", n = {n}",
              order((gain, 1) for pair in gains.values() for gain in pair),
              "not measured there; it speaks of more than two dimensions")


OLT_ENTRY = 8  # bytes of a scalar


def tables_of(row):
    """(bytes by equation 26, of the children that there are, of the regions that subdivide): of all
    levels of the Mandelbrot set that write a table."""
    regions, cut = sum(row["regions"][:-1]), sum(row["subdivided"])
    children = OLT_ENTRY * row["r"]**2
    return regions * children, cut * children, OLT_ENTRY * cut


def claims_of_tables(c, three):
    """Section 7.2: the entries of tables in two and three dimensions, and a problem in three."""
    found = [row for row in c.results.at("levels") if len(row["regions"]) > 1]
    if found:
        top = max(found, key=lambda row: (row["size"], tables_of(row)[0]))
        every = [tables_of(row) for row in found]
        equation, children, ours = tables_of(top)
        c.add("equation 26: entries of a table, two dimensions", "G_i r² of each level",
              f"{memory(equation)} at n = {top['size']}, {parameters(top)}, all levels; the children that there are "
              f"{memory(children)}, ours {memory(ours)}",
              order((eq, those) for eq, those, _ in every), 
              "8 bytes a region; ours has regions that subdivide, not their children")
    rows = three.at("olt3")
    if rows:
        top = max(rows, key=lambda row: (row["size"], row["olt_bytes_equation"]))
        c.add("equations 27, 28: entries of a table, three dimensions", "G_i r³ of each level",
              f"{memory(top['olt_bytes_equation'])} at n = {top['size']}, {parameters(top)}, all levels; the children "
              f"that there are {memory(top['olt_bytes_children'])}, ours "
              f"{memory(top['olt_bytes_here'])}; the workspace of our plan {memory(top['workspace_bytes'])}",
              order((row["olt_bytes_equation"], row["olt_bytes_children"]) for row in rows),
              "the workspace also lists regions to fill and to compute")
        fractions = {n: max(max(row["equation_bytes"]) / OLT_ENTRY / n**3 for row in rows
                            if row["size"] == n) for n in sorted({row["size"] for row in rows})}
        c.add("section 7.2: tables are smaller than the domain", "asymptotically, sparse or dense",
              "the largest has " + ", ".join(f"{sig(100 * part, 2)}% (n = {n})"
                                             for n, part in fractions.items()) + " of n³ entries",
              order((1, part) for part in fractions.values()),
              "all (g, r, B); a region has sides of r B voxels or more")
    three_best = {n: {v: three.best("julia3", "julia3", n, (v,)) for v in ("exhaustive", "ask", "ask_sbr", "dp")}
                  for n in three.sizes("julia3", "julia3")}
    gains = {title: [(n, ratio(best["exhaustive"], best[variant]), best[variant])
                     for n, best in three_best.items() if best["exhaustive"] and best[variant]]
             for variant, title in (("ask", "ours"), ("ask_sbr", "ASK-SBR"), ("dp", "DP-SBR"))}
    if any(gains.values()):
        c.add("section 7.2: three dimensions, × exhaustive", "not measured", "; ".join(
            f"{title}, " + ", ".join(f"n = {n}: {sig(gain)}, {parameters(row)}" for n, gain, row in found)
            for title, found in gains.items() if found))


def claims_of_gpus(c):
    """What only other GPUs could tell."""
    c.add("Fig. 8: the A100 gains most, then both TITANs; on the Jetson MBR falls behind", "by figure", "-", UNKNOWN,
          "one GPU here")
    row = next(iter(c.results.at("concurrent")), None)
    c.add("section 7.1: up to 128 kernels at once", "a limit for DP",
          f"{row['at_once']} of {row['kernels']}" if row else "not measured", stated(row and row["at_once"], 128))


def claims_of_host(c):
    """Subdivision beside the cores of the host."""
    size = host_size(c.data, {n: c.best(n, *ASKS) for n in c.sizes}, work="mandelbrot")
    if size:
        c.add(f"ASK against the cores of a CPU, n = {size}", "-",
              against_host(c.data, c.best(size, *ASKS), size, work="mandelbrot"), None,
              "OpenMP, every pixel")


def table_ask_claims(data):
    """Paper 003: what it says, beside what was measured at the largest size, and at the size of the
    landscape."""
    sizes = ask_sizes(data["ask"])
    if not sizes or not ask_best(data["ask"], sizes[-1], ASKS):
        return NOTHING
    c = Claims(data)
    for claims in (claims_of_speed, claims_of_forms, claims_of_optima, claims_of_model,
                   claims_of_blocks, claims_of_energy, claims_of_lists, claims_of_host):
        claims(c)
    claims_of_tables(c, data["ask3"])
    claims_of_gpus(c)
    return table([f"claim; Fig. 7, the lower rows of Fig. 8 and Table 2: n = {c.mid}", *CLAIMS[1:]], c.rows)
