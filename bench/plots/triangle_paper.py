# SPDX-License-Identifier: MIT
"""The claims of the paper about triangles beside what was measured."""
from .results import Results, pick
from .text import (CLAIMS, NOTHING, UNKNOWN, beside, between, claim, farthest, order, same, sig, span, stated, table,
                   up_to, whole)

PAPER_RHO, PAPER_N = 16, 30720  # blocks of 16 x 16, N up to 30720
PAPER_MAPS = ("ltm_sqrt", "ltm_newton", "ltm_rsqrt", "rb", "rec", "utm")  # which it gives times of
TRIANGLE_NAMES = {"ltm_sqrt": "LTM-X", "ltm_newton": "LTM-N", "ltm_rsqrt": "LTM-R",
                  "ltm_exact": "exact", "rb": "RB", "rec": "REC", "utm": "UTM", "h": "H",
                  "utm_blocks": "UTM, blocks", "utm_blocks_sqrt": "UTM, blocks, sqrt",
                  "utm_blocks_rsqrt": "UTM, blocks, rsqrt"}

# The authors' data: github.com/crinavar/gpumaps, commit 784ec1c, 2-simplex/dummy and edm1d to edm4d, full_results.dat
# and full_implementation_results.dat in results: BB's time by a map's for N = 1024, 2048, ... 30720, GPU not named.
THEIR_DATA = {
    "Fig. 3: LTM-X, dummy": "0.836", "Fig. 3: LTM-N, dummy": "0.961", "Fig. 3: LTM-R, dummy": "1.10",
    "Fig. 5: RB, dummy": "1.32 to 1.40, mean 1.33", "Fig. 5: LTM, dummy": "1.09 to 1.13, mean 1.10",
    "Fig. 5: REC, dummy": "0.519 to 0.892", "Fig. 5: UTM, dummy": "0.731 to 0.895",
    "Fig. 5: RB, EDM": "1.11 to 1.22, mean 1.14", "Fig. 5: LTM, EDM": "1.10 to 1.18, mean 1.13",
    "conclusion: LTM on average": "dummy 1.10; EDM 1.13, 1.13, 1.13, 1.14",
    "Fig. 5: REC, EDM: from where on": "5120 (d = 1, 2), 4096 (d = 3, 4)",
    "Fig. 5: REC, EDM": "0.593 to 1.08, at N = 30720 1.05 to 1.07",
    "Fig. 5: UTM, EDM": "0.620 to 1.07; the slowest from N = 4096 (d = 1, 2), 5120 (d = 3, 4) on, else REC",
}


def triangle_rows(results, d, n=None, variant=None, rho=PAPER_RHO):
    """Rows of maps: the dummy (d = 0) or EDM in d coordinates; not those of EDM as published."""
    return [row for row in results.at("edm" if d else "dummy") if row.get("d", 0) == d
            and not row["variant"].startswith("published_")
            and n in (None, row["size"]) and variant in (None, row["variant"])
            and rho in (None, row.get("rho")) and "i" in row]


def triangle_sizes(results, most=PAPER_N, d=0, steps=False):
    """The sizes at which all maps were measured; with `steps`, those of REC alone, too."""
    found, every = ({row["size"] for row in triangle_rows(results, d, variant=name)} for name in ("bb", "rb"))
    found = found if steps else found & every or found
    return sorted(n for n in found if n <= most) or sorted(found)


def triangle_gain(results, d, n, variant, rho=PAPER_RHO):
    """I of a map, or None."""
    rows = triangle_rows(results, d, n, variant, rho)
    return rows[0]["i"] if rows else None


def triangle_span(results, dims, variant, sizes):
    """The least, the mean and the greatest I of a map."""
    found = [gain for d in dims for n in sizes
             for gain in [triangle_gain(results, d, n, variant)] if gain]
    return (min(found), sum(found) / len(found), max(found)) if found else None


def block_ns(row):
    """Nanoseconds for a block that is launched."""
    return 1e6 * row["ms"] / row["blocks"]


def table_triangle_waste(data):
    """Blocks without a cell, as the paper counts them, and blocks with some idle threads."""
    results, rows = data["triangle"], []
    for n in triangle_sizes(results, 1 << 20):
        line = [str(n)]
        for variant in ("bb", "rec", "ltm_sqrt", "ltm_newton", "ltm_rsqrt", "ltm_exact", "rb",
                        "utm"):
            found = triangle_rows(results, 0, n, variant)
            line.append(f"{whole(found[0]['wasted_blocks'])}" if found else "-")
        rows.append(line)
    return table(["n", "BB", "REC", "LTM-X", "LTM-N", "LTM-R", "exact", "RB", "UTM"], rows)


def table_triangle_k(data):
    """What a block costs, by BB and by the exact map, and the k of the model."""
    results, rows = data["triangle"], []
    n = max(triangle_sizes(results, 1 << 20), default=0)
    for d in (0, 1, 4):
        for rho in (8, 16, 32):
            base, row = (triangle_rows(results, d, n, v, rho)[:1] for v in ("bb", "ltm_exact"))
            if base and row:
                rows.append([f"EDM, d = {d}" if d else "dummy", str(rho), sig(block_ns(base[0])),
                             sig(block_ns(row[0])), sig(row[0]["i"]), sig(row[0]["k"])])
    return table([f"n = {n}", "rho", "BB, ns a block", "exact map, ns a block", "I", "k"], rows)


class Claims:
    """The results in the paper's set-up, and the rows of the table."""

    def __init__(self, results, d=0):
        self.results, self.rows = results, []
        self.sizes, self.steps = (triangle_sizes(results, d=d, steps=steps) for steps in (False, True))
        self.n, self.edm = self.sizes[-1], (1, 2, 3, 4)

    def gain(self, variant, d=0, at=None):
        return triangle_gain(self.results, d, at or self.n, variant)

    def span(self, dims, variant):
        return triangle_span(self.results, dims, variant, self.sizes)

    def ahead(self, variant, dims):
        """The first N from which on a map is ahead of BB in all of these, where it was measured."""
        known = [n for n in self.steps if all(self.gain(variant, d, n) for d in dims)]
        return next((m for m in known if all(self.gain(variant, d, k) > 1
                                             for k in known if k >= m for d in dims)), None)

    def crossings(self, variant):
        """Between which N a map overtakes BB in EDM: {(last N behind, first N ahead): [d]}."""
        found = {}
        for d in self.edm:
            ahead = self.ahead(variant, (d,))
            if ahead and ahead > self.sizes[0]:
                before = max(n for n in self.steps if n < ahead and self.gain(variant, d, n))
                found.setdefault((before, ahead), []).append(d)
        return found

    def at_all(self, *maps, dims=(0,), sizes=None):
        """The gains of maps at all sizes and in all of these works, where all of them are known."""
        found = [tuple(self.gain(variant, d, n) for variant in maps)
                 for n in sizes or self.sizes for d in dims]
        return [gains for gains in found if all(gains)]

    def add(self, what, paper, here, judged, why="-"):
        """A row; "" for `here` says that it is not measured yet, None leaves it out."""
        if here == "":
            here, judged = NOTHING.rstrip(".").lower(), None
        if here is not None and "None" not in here:
            self.rows.append(claim(what, paper, here, judged, why))


def means_of(found):
    """The mean of a span."""
    return found[1] if found else None


def factors(results):
    """Cholesky factors by the exact map, at the largest n, as the end of a cell."""
    row = max(results.pick(work="cholesky", variant="ltm_exact"), key=lambda row: row["size"], default=None)
    return f"; Cholesky by tiles, exact map {sig(row['i'])} (N = {row['size']})" if row else ""


def claims_of_roots(c):
    """Figure 3: the three roots of LTM."""
    roots = (("ltm_sqrt", 0.7), ("ltm_newton", 1.03), ("ltm_rsqrt", 1.15))
    for variant, said in roots:
        found = c.gain(variant)
        if found:
            c.add(f"Fig. 3: {TRIANGLE_NAMES[variant]}, dummy", f"I = {said}", sig(found),
                  stated(found, said), "the start of blocks hides the map" if variant == "ltm_sqrt" else "the same")
    found = [c.gain(v) for v, _ in roots]
    if all(found):
        c.add("Fig. 3: LTM-R is ahead of BB, LTM-X behind", "yes", ", ".join(
            f"{TRIANGLE_NAMES[v]} {sig(i)}" for (v, _), i in zip(roots, found)),
              order([(found[2], 1), (1, found[0])]), "which of the three is the first changes with N")
    bb, ltm = (triangle_rows(c.results, 0, c.n, v)[0] for v in ("bb", "ltm_rsqrt"))
    c.add("Fig. 3: blocks above the diagonal", "O(n²) by BB, O(n) by LTM",
          f"{whole(bb['wasted_blocks'])} of {whole(bb['blocks'])} by BB, "
          f"{whole(ltm['wasted_blocks'])} by LTM",
          order([(bb["wasted_blocks"], ltm["wasted_blocks"])]),
          "blocks on the diagonal, one a row, have idle threads")


def claims_of_dummy(c):
    """Figure 5: the dummy kernel."""
    rb, ltm, rec, utm = (c.span((0,), v) for v in ("rb", "ltm_rsqrt", "rec", "utm"))
    c.add("Fig. 5: RB, dummy", "up to 1.25", span(rb), up_to(rb[2:] if rb else (), 1.25),
          "up to N = 8192 the writes to one place take longer than EDM and hide what is spared")
    found = c.at_all("rb", "ltm_rsqrt", "rec", "utm")
    if found:
        c.add("Fig. 5: RB is the fastest, dummy", "yes",
              f"{sig(min(rb / ltm for rb, ltm, *_ in found))} to "
              f"{sig(max(rb / ltm for rb, ltm, *_ in found))} times the speed of LTM-R",
              order((rb, other) for rb, *others in found for other in others),
              f"RB is behind LTM-R at {sum(rb < ltm for rb, ltm, *_ in found)} of {len(found)} N")
    c.add("Fig. 5: LTM, dummy", "about 1.13", span(ltm), stated(means_of(ltm), 1.13),
          "up to 2 where only the start of blocks is left")
    ahead = c.ahead("rec", (0,))
    c.add("Fig. 5: REC, dummy", "behind BB at every N",
          span(rec) + (f", ahead from N = {ahead} on" if ahead else ""),
          order((1, gain) for gain, in c.at_all("rec")),
          "7 to 13 launches in turn, some 3 µs each, up to N = 2048")
    ns = {v: block_ns(found[0]) for v in ("utm", "ltm_exact")
          for found in [triangle_rows(c.results, 0, c.n, v)] if found}
    ahead = c.ahead("utm", (0,))
    c.add("Fig. 5: UTM, dummy", "behind BB at every N",
          span(utm) + (f", ahead from N = {ahead} on" if ahead else ""),
          order((1, gain) for gain, in c.at_all("utm")),
          "products of 64 bits and conditionals" + (
              f": {sig(ns['utm'])} ns a block, LTM {sig(ns['ltm_exact'])}" if len(ns) == 2 else ""))


def claims_of_edm(c):
    """Figure 5: distances."""
    rb, ltm, rec, utm = (c.span(c.edm, v) for v in ("rb", "ltm_rsqrt", "rec", "utm"))
    beside = [100 * (this / other - 1) for this, other in c.at_all(
        "rb", "ltm_rsqrt", dims=c.edm, sizes=[n for n in c.sizes if n >= 4096])]
    c.add("Fig. 5: RB, EDM", "1.14 on average, about half of the dummy's gain", span(rb),
          stated(means_of(rb), 1.14), "LTM-R's blocks" + (
              f", {sig(min(beside), 2)} to {sig(max(beside), 2)}% faster from N = 4096 on, cause not measured"
              if beside else ""))
    c.add("Fig. 5: LTM, EDM", "1.12 to 1.15", span(ltm),
          between(means_of(ltm), 1.12, 1.15), "half the blocks; at N = 1024 a launch takes 4 µs "
          "whatever it does")
    means = [(d, c.span((d,), "ltm_rsqrt")) for d in (0, *c.edm)]
    if all(mean for _, mean in means):
        c.add("conclusion: LTM on average", "1.15, in EDM as in the dummy",
              f"dummy {sig(means[0][1][1])}; EDM "
              + ", ".join(sig(mean[1]) for _, mean in means[1:]) + " for d = 1 to 4",
              stated(sum(mean[1] for _, mean in means) / len(means), 1.15),
              "work on cells counts more with every feature")
    found = c.crossings("rec")
    c.add("Fig. 5: REC, EDM: from where on", "N = 5000", "; ".join(
        f"between N = {before} and {ahead} (d = {', '.join(map(str, dims))})"
        for (before, ahead), dims in found.items()) or "nowhere",
          stated(max((min(max(5000, before), ahead) for before, ahead in found),
                     key=lambda n: max(n / 5000, 5000 / n), default=None), 5000),
          "only these N measured; the nearer one is compared")
    c.add("Fig. 5: REC, EDM", "up to 1.05", span(rec), up_to(rec[2:] if rec else (), 1.05),
          "half the blocks")
    last = all((c.gain("utm", d, m) or 9) <= min(c.gain(v, d, m) or 9 for v in (
        "ltm_rsqrt", "rb", "rec")) for d in c.edm for m in c.sizes if m >= 4096)
    slower = {n: [d for d in c.edm if (c.gain("rec", d, n) or 9) < (c.gain("utm", d, n) or 0)]
              for n in c.sizes}
    slower = "; ".join(f"N = {n}, d = {', '.join(map(str, dims))}" for n, dims in slower.items() if dims)
    c.add("Fig. 5: UTM, EDM", "the slowest of all", span(utm) + ("; the slowest from N = 4096 on" if last else "")
          + (f"; REC is slower at {slower}" if slower else ""),
          order((min(others), slow) for slow, *others in c.at_all(
              "utm", "ltm_rsqrt", "rb", "rec", dims=c.edm)),
          "its threads run along rows and write down columns; REC is slower by its launches")
    ends = {v: (c.gain(v, 1), c.gain(v, 4)) for v in ("ltm_rsqrt", "rb", "rec", "utm")}
    if all(a and b for a, b in ends.values()):
        said = {v: f"{TRIANGLE_NAMES[v]} {sig(a)} to {sig(b)}" for v, (a, b) in ends.items()}
        title = f"Fig. 5: I from one feature to four, N = {c.n}"
        c.add(title, "LTM and RB do not change", f"{said['ltm_rsqrt']}; {said['rb']}",
              same((1, *(ends[v][1] / ends[v][0] for v in ("ltm_rsqrt", "rb")))))
        c.add(title, "UTM gains; data 13.6%", said["utm"], stated(100 * (ends["utm"][1] / ends["utm"][0] - 1), 13.6),
              "in percent; scattered writes take its time")
        c.add(title, "REC changes; data +1.7%", said["rec"], None, "no direction or number stated")
        best = sorted(ends, key=lambda v: -ends[v][0])
        c.add("conclusion: LTM and RB are the fastest", "LTM as fast as RB, far ahead of UTM",
              ", ".join(f"{TRIANGLE_NAMES[v]} {sig(ends[v][0])}" for v in best)
              + " in EDM, d = 1",
              order((ends[fast][0], ends[slow][0]) for fast in ("ltm_rsqrt", "rb")
                    for slow in ("rec", "utm")))


def claims_of_model(c):
    """Equations 11 to 15 and the hypothesis."""
    every = [row for d in (0, *c.edm) for row in triangle_rows(c.results, d, rho=None)
             if row["variant"] not in ("bb", "bb_by_threads") and not row.get("missed_cells")]
    theirs = [row["k"] for row in every if row["rho"] == PAPER_RHO and row["size"] <= PAPER_N
              and row["variant"] in PAPER_MAPS]
    table_k = [row for row in every if row["rho"] == PAPER_RHO and row["size"] <= PAPER_N
               and row["variant"] == "ltm_table" and row["k"] < 1]
    low = [row for row in every if row["k"] < 1]
    least = min(row["k"] for row in every)
    c.add("equations 13 to 15: I < 2, k >= 1", "0 < I < 2",
          f"ρ = {PAPER_RHO}, N <= {PAPER_N}: k from {min(theirs):.3f} on; all: I up to "
          f"{max(row['i'] for row in every):.3f}, k < 1 in {len(low)} of {len(every)} rows, "
          f"{sum(row['rho'] == 8 for row in low)} of them with ρ = 8, least {least:.3f}",
          order((k, 1) for k in theirs),
          "verdict of the paper's set-up and maps" + "".join(
              f" (its table, untimed there, has {row['k']:.3f} at N = {row['size']}, {work_of(row['d'])})"
              for row in table_k))
    found = {d: [triangle_gain(c.results, d, c.n, "ltm_exact", rho) for rho in (8, 16, 32)] for d in (0, 4)}
    if all(gain for gains in found.values() for gain in gains):
        c.add("equation 11: I does not depend on ρ", "yes", "exact map, ρ = 8, 16, 32: " + "; ".join(
            f"{work_of(d)}: {', '.join(map(sig, gains))}" for d, gains in found.items()),
              same(min(found.values(), key=lambda gains: min(gains) / max(gains))),
              "verdict of the worst; only a large block costs more with work")
    ks = {rho: [row["k"] for d in (0, *c.edm) for row in triangle_rows(c.results, d, c.n, "ltm_rsqrt",
                                                                       rho)] for rho in (16, 32)}
    if ks[16]:
        c.add(f"hypothesis: k of LTM-R, N = {c.n}", "1.5 to 2, I up to 1.33; k = 1 will not occur",
              "; ".join(f"ρ = {rho}: {sig(min(found))} to {sig(max(found))}"
                        for rho, found in ks.items() if found),
              between(sum(ks[16]) / len(ks[16]), 1.5, 2),
              "verdict of the mean with ρ = 16")


def claims_of_outlook(c):
    """What the conclusion expects, and what only other GPUs could tell."""
    blocks = "utm_blocks_rsqrt" if c.gain("utm_blocks_rsqrt", 1) else "utm_blocks"
    for title, dims, why in (("EDM", (1, 4), "its cells are written by rows then"),
                             ("the dummy", (0,), "it writes to one place")):
        found = [(d, c.gain("utm", d), c.gain(blocks, d)) for d in dims]
        if all(threads and by for _, threads, by in found):
            c.add(f"conclusion: UTM by blocks and the inverse root would be faster, {title}",
                  "considerably", "; ".join(f"{work_of(d)}: {sig(threads)} by threads, {sig(by)} by "
                                            "blocks" for d, threads, by in found),
                  order((by, threads) for _, threads, by in found), why)
    plain = [(name, c.gain(name, 1)) for name in ("utm_blocks_sqrt", "utm_blocks_rsqrt")]
    if any(found for _, found in plain):
        exact = {name: max(row["size"] for row in triangle_rows(c.results, 1, variant=name))
                 for name, found in plain if found}
        c.add("conclusion: and needs no conditionals", "expected up to N = 30720", "exact at every N measured: "
              + "; ".join(f"{TRIANGLE_NAMES[name]} up to {exact[name]}, I = {sig(found)}"
                          for name, found in plain if found) + " in EDM, d = 1",
              order((n, PAPER_N) for n in exact.values()), "ε = 2.5e-4; the paper's 1e-4 is too small")
    c.add("conclusion: faster special functions will let LTM-X gain", "expected",
          f"{sig(c.gain('ltm_sqrt'))} in the dummy, {sig(c.gain('ltm_sqrt', 1))} in EDM, d = 1",
          order([(c.gain("ltm_sqrt"), 1), (c.gain("ltm_sqrt", 1), 1)]), "the root is hidden")
    if c.gain("ltm_exact") and c.gain("ltm_rsqrt"):
        c.add("an error of one can be repaired by blocks", "expected",
              f"exact map {sig(c.gain('ltm_exact'))}, LTM-R {sig(c.gain('ltm_rsqrt'))}, dummy",
              stated(c.gain("ltm_exact") / c.gain("ltm_rsqrt"), 1), "a step of integers, for all indices of "
              "32 bits")
    newton, rsqrt = 1949 * PAPER_RHO, 2055 * PAPER_RHO  # TMAP_TRIANGLE_ROWS_NEWTON, _RSQRT
    c.add("LTM-N and LTM-R are exact", "N up to 30720", f"N up to {newton} and {rsqrt}, 1949 and 2055 "
          "rows of blocks", order([(newton, 30720), (rsqrt, 30720)]), "LTM-N if products and sums are fused: "
          "[B4](errata.md#b4-how-far-the-papers-roots-are-exact-section-iiia)")
    c.add("maps on Fermi", "I < 1", "-", UNKNOWN, "no such GPU is measured here")


def work_of(d):
    return f"EDM, d = {d}" if d else "dummy"


def claims_of_forms(c):
    """What the paper tries, expects or rejects without a figure."""
    works = (0, 1, 4)
    bytes_of_table = 2 * -(-c.n // PAPER_RHO) * (-(-c.n // PAPER_RHO) + 1)
    for d in works[:2]:
        by_table, root = c.gain("ltm_table", d), c.gain("ltm_sqrt", d)
        c.add(f"maps by a table, {work_of(d)}", "as slow as LTM-X",
              f"{sig(by_table)}, LTM-X {sig(root)}" if by_table and root else "",
              stated(by_table / root if by_table and root else None, 1),
              "-" if d else f"a load a block from {bytes_of_table / 1e6:.1f} MB, made before the time begins")
    found = {d: [(c.gain("rec_recursive", d, n), c.gain("rec", d, n)) for n in (c.sizes[0], c.n)] for d in works}
    c.add("REC by recursive launches", "would be faster", f"N = {c.sizes[0]}, {c.n} (from the host): " + "; ".join(
        f"{work_of(d)} " + ", ".join(f"{sig(recursive)} ({sig(host)})" for recursive, host in gains)
        for d, gains in found.items())
                if all(gain for gains in found.values() for pair in gains for gain in pair) else "",
                order(c.at_all("rec_recursive", "rec", dims=works)),
                "a kernel launches the next level's, the largest squares first; no level waits")
    found = [(d, c.gain("bb_by_threads", d), c.span((d,), "bb_by_threads")) for d in works]
    c.add("BB that leaves by blocks", "faster than by threads", "times as fast (at all N): " + "; ".join(
        f"{work_of(d)}: {sig(1 / gain)} ({sig(1 / most)} to {sig(1 / least)})"
        for d, gain, (least, _, most) in found)
                if all(gain for _, gain, _ in found) else "",
                order((1, gain) for gain, in c.at_all("bb_by_threads", dims=works)),
                "ends blocks before threads compute their cells")
    missed = next((row["missed_cells"] for row in triangle_rows(c.results, 1, c.n, "utm_printed")),
                  None)
    found = [(d, c.gain("utm_printed", d), c.gain("utm", d)) for d in works]
    if missed is not None and all(printed and repaired for _, printed, repaired in found):
        c.add("hypothesis: UTM is slow by its root and the conditionals that repair it",
              "the cause", "without (with) conditionals: " + "; ".join(
                  f"{work_of(d)}: {sig(printed)} ({sig(repaired)})" for d, printed, repaired in found)
              + f"; without, {whole(missed)} of {whole(c.n * (c.n + 1) // 2)} cells are missed",
              None, "scattered writes take EDM's time")


# Works of bench/triangle/triangle_works.h. The authors' V100: commit 45e2dc3, 2-simplex/test0-map/data/
# 2s-test0-map-teslav100_B32.dat, N = 32768, ρ = 32: BB 1.489 ms, UTM 0.749, RB 0.750, LTM by any root 0.751.
MORE_WORKS = {"zero": "the map alone", "life": "the Game of Life", "collide": "collisions",
              "edm_shared": "EDM-4D in shared memory"}


def claims_of_works(c):
    """Works that a td-problem may be, and the map of 2023 in all works; at N = c.n."""
    gains = {title: {row["variant"]: row["i"] for row in pick(c.results.at(work), size=c.n, rho=PAPER_RHO) if "i" in row}
             for work, title in MORE_WORKS.items()}
    gains = {title: found for title, found in gains.items() if {"h", "ltm_rsqrt", "rb"} <= set(found)}
    for d in (0, *c.edm):
        found = {v: c.gain(v, d) for v in (*PAPER_MAPS, "ltm_exact", "h")}
        if found["h"]:
            gains[work_of(d)] = {v: i for v, i in found.items() if i}
    if not gains:
        return
    h = {work: found["h"] for work, found in gains.items()}
    ends = [pick_of(h, key=h.get) for pick_of in (min, max)]
    c.add("map H (FGCS 2023, arXiv 2208.11617), 2-simplices", "1.2 to 2.0", " to ".join(
        f"{sig(h[work])} ({work})" for work in ends), between(farthest(h.values(), 1.5), 1.2, 2.0),
          "a launch for each bit of N / ρ")
    best = {work: found["h"] / max(i for v, i in found.items() if v != "h") for work, found in gains.items()}
    c.add("map H is on par with the fastest", "on par", f"{sig(min(best.values()))} to {sig(max(best.values()))} times "
          "the speed of the fastest other map", same([1, *best.values()]))
    shared = gains.pop(MORE_WORKS["edm_shared"], None)
    more = {title: found for title, found in gains.items() if title in MORE_WORKS.values()}
    if more:
        c.add("I of LTM-R, RB, REC, UTM", "-; data (V100): the map alone 1.98, 1.99, -, 1.99", "; ".join(
            f"{title} " + ", ".join(sig(found.get(v)) for v in ("ltm_rsqrt", "rb", "rec", "utm"))
            for title, found in more.items()) + factors(c.results), None)
    if shared:
        c.add("EDM-4D in shared memory: LTM is the fastest (arXiv 1609.01490)", "yes", ", ".join(
            f"{TRIANGLE_NAMES[v]} {sig(shared[v])}" for v in ("ltm_rsqrt", "rb", "rec") if v in shared),
              order((shared["ltm_rsqrt"], shared[v]) for v in ("rb", "rec") if v in shared),
              "a block of RB may have cells of both halves")


def measured(data):
    """Whether the paper's map was, in its set-up."""
    return triangle_rows(data["triangle"], 0, variant="ltm_rsqrt")


def claims_as_published(results):
    """What claims_of_edm says of EDM as its authors ran it: their data are beside these rows."""
    rows = [{**row, "variant": row["variant"].removeprefix("published_")} for row in results.at("edm")
            if row["variant"].startswith("published_")]
    if not rows:
        return []
    c = Claims(Results({"rows": rows}), d=1)
    claims_of_edm(c)
    return [[f"{row[0]}, as published", *row[1:4], "-"] for row in beside(c.rows, THEIR_DATA)]


def table_triangle_claims(data):
    """Paper 002: what it says, beside its set-up here: blocks of 16 x 16, N up to 30720. Where EDM as published has a
    verdict of a claim, ours has no row."""
    results = data["triangle"]
    if not triangle_sizes(results) or not measured(data):
        return NOTHING
    c, published = Claims(results), claims_as_published(results)
    for claims in (claims_of_roots, claims_of_dummy, claims_of_edm, claims_of_model,
                   claims_of_outlook, claims_of_forms, claims_of_works):
        claims(c)
    theirs = {row[0] for row in published if row[3] != "-"}
    ours = [row for row in c.rows if f"{row[0]}, as published" not in theirs]
    return table(CLAIMS, beside(ours, THEIR_DATA) + published)
