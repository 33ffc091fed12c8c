# SPDX-License-Identifier: MIT
"""The claims of the paper about triangles beside what was measured."""
from .text import AGREES, CLAIMS, NOTHING, UNKNOWN, sig, span, table, verdict, whole

PAPER_RHO, PAPER_N = 16, 30720  # blocks of 16 x 16, N up to 30720
TRIANGLE_NAMES = {"ltm_sqrt": "LTM-X", "ltm_newton": "LTM-N", "ltm_rsqrt": "LTM-R",
                  "ltm_exact": "exact", "rb": "RB", "rec": "REC", "utm": "UTM",
                  "utm_blocks": "UTM, blocks", "utm_blocks_sqrt": "UTM, blocks, sqrt",
                  "utm_blocks_rsqrt": "UTM, blocks, rsqrt"}


def triangle_rows(results, d, n=None, variant=None, rho=PAPER_RHO):
    """Rows of maps: the dummy (d = 0) or EDM in d coordinates."""
    return [row for row in results.at("edm" if d else "dummy") if row.get("d", 0) == d
            and n in (None, row["size"]) and variant in (None, row["variant"])
            and rho in (None, row.get("rho")) and "i" in row]


def triangle_sizes(results, most=PAPER_N):
    found = {row["size"] for row in triangle_rows(results, 0, variant="bb")}
    return sorted(n for n in found if n <= most) or sorted(found)


def triangle_gain(results, d, n, variant):
    """I of a map, or None."""
    rows = triangle_rows(results, d, n, variant)
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
    results, rows = data.get("triangle"), []
    for n in triangle_sizes(results, 1 << 20) if results else ():
        line = [str(n)]
        for variant in ("bb", "rec", "ltm_sqrt", "ltm_newton", "ltm_rsqrt", "ltm_exact", "rb",
                        "utm"):
            found = triangle_rows(results, 0, n, variant)
            line.append(f"{whole(found[0]['wasted_blocks'])}" if found else "-")
        rows.append(line)
    return table(["n", "BB", "REC", "LTM-X", "LTM-N", "LTM-R", "exact", "RB", "UTM"], rows)


def table_triangle_k(data):
    """What a block costs, by BB and by the exact map, and the k of the model."""
    results, rows = data.get("triangle"), []
    n = triangle_sizes(results, 1 << 20)[-1] if results and triangle_sizes(results) else 0
    for d in (0, 1, 4):
        for rho in (8, 16, 32):
            base, row = ((triangle_rows(results, d, n, v, rho) if results else [])[:1]
                         for v in ("bb", "ltm_exact"))
            if base and row:
                rows.append([f"EDM, d = {d}" if d else "dummy", str(rho), sig(block_ns(base[0])),
                             sig(block_ns(row[0])), sig(row[0]["i"]), sig(row[0]["k"])])
    return table([f"n = {n}", "rho", "BB, ns a block", "exact map, ns a block", "I", "k"], rows)


def table_triangle_claims(data):
    """Paper 002: what it says, beside its set-up here: blocks of 16 x 16, N up to 30720."""
    results, rows = data.get("triangle"), []
    sizes = triangle_sizes(results) if results else []
    if not sizes or not triangle_rows(results, 0, variant="ltm_rsqrt"):
        return NOTHING
    n, edm = sizes[-1], (1, 2, 3, 4)

    def gain(variant, d=0, at=n):
        return triangle_gain(results, d, at, variant)

    def add(claim, paper, here, holds, why):
        if here is not None and "None" not in here:
            rows.append([claim, paper, here.replace("None", "-"),
                         holds if isinstance(holds, str) else verdict(holds), why])
    for variant, said in (("ltm_sqrt", 0.7), ("ltm_newton", 1.03), ("ltm_rsqrt", 1.15)):
        found = gain(variant)
        if found:
            add(f"Fig. 3: {TRIANGLE_NAMES[variant]}, dummy", f"I = {said}", f"{sig(found)}",
                abs(found - said) < 0.1,
                "a map is hidden behind the start of blocks, and the root is a few instructions")
    order = [gain(v) for v in ("ltm_sqrt", "ltm_newton", "ltm_rsqrt")]
    if all(order):
        add("Fig. 3: only LTM-R is ahead of BB", "yes", ", ".join(
            f"{TRIANGLE_NAMES[v]} {sig(i)}" for v, i in zip(("ltm_sqrt", "ltm_newton", "ltm_rsqrt"),
                                                          order)),
            order[0] < 1.02 < order[2], "LTM-R is the first here, too, by little")
    bb = triangle_rows(results, 0, n, "bb")
    ltm = triangle_rows(results, 0, n, "ltm_rsqrt")
    add("Fig. 3: blocks above the diagonal", "O(n²) by BB, O(n) by LTM",
        f"{whole(bb[0]['wasted_blocks'])} of {whole(bb[0]['blocks'])} by BB, "
        f"{whole(ltm[0]['wasted_blocks'])} by LTM", ltm[0]["wasted_blocks"] * 100 <
        bb[0]["wasted_blocks"], "the launch has no block above the diagonal; those on it, one a row, "
        "have threads that idle")
    rb, over = triangle_span(results, (0,), "rb", sizes), triangle_span(results, (0,), "ltm_rsqrt",
                                                                       sizes)
    add("Fig. 5: RB, dummy", "the fastest, up to 1.25", span(rb),
        bool(rb and over and rb[2] > over[2] and abs(rb[2] - 1.25) < 0.1),
        "RB and LTM spare the same blocks")
    add("Fig. 5: LTM, dummy", "about 1.13", span(over), bool(over and abs(over[1] - 1.13) < 0.1),
        "up to 2 where the start of blocks is all that is left")
    rec = triangle_span(results, (0,), "rec", sizes)
    ahead = [m for m in sizes if (gain("rec", 0, m) or 0) > 1]
    add("Fig. 5: REC, dummy", "behind BB at every N",
        f"{span(rec)}" + (f", ahead from N = {ahead[0]} on" if ahead else ""), not ahead,
        "its launches follow each other in the stream and cost some µs each, which counts while the "
        "work is small")
    utm = triangle_span(results, (0,), "utm", sizes)
    add("Fig. 5: UTM, dummy", "behind BB at every N", span(utm), bool(utm and utm[2] < 1),
        "no thread has memory of its own there, so the order of threads does not matter")
    rb, over = (triangle_span(results, edm, v, sizes) for v in ("rb", "ltm_rsqrt"))
    add("Fig. 5: RB, EDM", "1.14 on average", span(rb), bool(rb and abs(rb[1] - 1.14) < 0.1),
        "as in the dummy")
    add("Fig. 5: LTM, EDM", "1.12 to 1.15", span(over),
        bool(over and over[0] > 1.1 and over[2] < 1.2), "more: half of the blocks are not started")
    ahead = next((m for m in sizes if all((gain("rec", d, k) or 0) > 1 for k in sizes if k >= m
                                          for d in edm)), None)
    add("Fig. 5: REC, EDM", "ahead of BB from N = 5000 on, up to 1.05",
        f"ahead from N = {ahead} on, {span(triangle_span(results, edm, 'rec', sizes))}"
        if ahead else span(triangle_span(results, edm, "rec", sizes)),
        bool(ahead and 4000 <= ahead <= 8192), "the crossing is where it was, the gain is larger")
    last = all((gain("utm", d, m) or 9) <= min(gain(v, d, m) or 9 for v in (
        "ltm_rsqrt", "rb", "rec")) for d in edm for m in sizes if m >= 4096)
    add("Fig. 5: UTM, EDM", "the slowest of all",
        f"{span(triangle_span(results, edm, 'utm', sizes))}", last,
        "its threads run along rows of the upper triangle and write down columns of the lower one")
    ends = {v: (gain(v, 1), gain(v, 4)) for v in ("ltm_rsqrt", "rb", "rec", "utm")}
    add(f"Fig. 5: I against features, N = {n}", "LTM and RB do not change, REC and UTM do; UTM gains",
        "; ".join(f"{TRIANGLE_NAMES[v]} {sig(a)} to {sig(b)}" for v, (a, b) in ends.items()
                  if a and b),
        all(a and b for a, b in ends.values()) and ends["utm"][1] > ends["utm"][0] and
        all(abs(ends[v][1] / ends[v][0] - 1) < 0.1 for v in ("ltm_rsqrt", "rb", "rec")),
        "all fall by some per cent, as work on cells counts more with every feature; UTM gains by as "
        "much")
    every = [row for d in (0, *edm) for row in triangle_rows(results, d, rho=None)
             if row["variant"] != "bb"]
    low = [row for row in every if row["k"] < 1]
    add("equations 13 to 15: I < 2, k >= 1", "0 < I < 2",
        f"I up to {max(row['i'] for row in every):.3f}; k < 1 in {len(low)} of {len(every)} rows, "
        f"least {min(row['k'] for row in every):.3f}", min(row["k"] for row in every) > 0.985,
        "k is 1 where the start of blocks is the limit: a block of BB that has nothing to do then "
        "costs as much as one that has, or some tenths of a per cent more")
    ks = [row["k"] for d in (0, *edm) for row in triangle_rows(results, d, n, "ltm_rsqrt")]
    add(f"hypothesis: k of LTM, N = {n}", "1.5 to 2", f"{sig(min(ks))} to {sig(max(ks))}",
        min(ks) >= 1.45 and max(ks) < 2, "the map costs less than a block's start")
    add("conclusion: UTM by blocks would be faster", "expected",
        f"EDM, d = 1: {sig(gain('utm', 1))} by threads, {sig(gain('utm_blocks', 1))} by blocks",
        (gain("utm_blocks", 1) or 0) > (gain("utm", 1) or 9), "its cells are written by rows then")
    plain = [(name, gain(name, 1)) for name in ("utm_blocks_sqrt", "utm_blocks_rsqrt")]
    if any(found for _, found in plain):
        add("conclusion: and needs no conditionals", "expected up to N = 30720",
            "EDM, d = 1: " + ", ".join(f"{TRIANGLE_NAMES[name]} {sig(found)}"
                                       for name, found in plain if found),
            any((found or 0) > (gain("utm_blocks", 1) or 9) for _, found in plain),
            "the paper's 1e-4 is too small there, 2.5e-4 is right")
    add("conclusion: faster special functions will let LTM-X gain", "expected",
        f"{sig(gain('ltm_sqrt'))} in the dummy, {sig(gain('ltm_sqrt', 1))} in EDM, d = 1",
        (gain("ltm_sqrt", 1) or 0) > 1, "the root is hidden")
    rows.append(["LTM-N and LTM-R are exact", "N up to 30720", "1949 and 2055 rows of blocks: N = "
                 "31184 and 32880", AGREES, "the root's rounding, "
                 "[errata](errata.md#b4-how-far-the-papers-roots-are-exact-section-iiia)"])
    rows.append(["maps by a table, maps on Fermi", "as slow as LTM-X; I < 1", "-", UNKNOWN,
                 "no table and no such GPU is measured here"])
    return table(CLAIMS, rows)
