# SPDX-License-Identifier: MIT
"""Tables and a picture of molecules and dRMSD."""
from .others import against_host, host_size
from .results import least, ratio
from .style import COLOURS, INK, MARKERS, curve, log_sides, note, plain_ticks, title_of
from .text import CLAIMS, NOTHING, UNKNOWN, between, claim, ms, order, sig, stated, table

DRMSD_FORMS = {"naive_1d": "1D, from global memory", "shared_1d": "1D, by tiles",
               "triangle_2d": "2D, by tiles", "sliding_1d": "1D, by a sliding window",
               "cached_2d": "2D, by caches"}
DRMSD_ROOTS = {"sqrt": "as IEEE 754 rounds it", "reciprocal": "1 / rsqrt(x)",
               "rsqrt": "x rsqrt(x)", "approx": "`sqrt.approx`"}
DRMSD_OTHERS = {"pair": "the library", "thread_a_pair": "a thread for each pair",
                "host": "a loop on one core of the host"}


def drmsd_pairs(results, **want):
    """Rows of one pair of frames."""
    return results.pick(work="drmsd", frames=2,
                        **{"variant": (*DRMSD_FORMS, *DRMSD_OTHERS), **want})


def drmsd_best(results, n, **more):
    return least(drmsd_pairs(results, n=n, **more))


def drmsd_sizes(results):
    return sorted({row["n"] for row in drmsd_pairs(results)})


def table_drmsd(data):
    """One pair of frames at the largest n: every form and root at its best u."""
    results, rows = data["drmsd"], []
    n = max(drmsd_sizes(results), default=None)
    naive = drmsd_best(results, n, variant="naive_1d")
    found = [drmsd_best(results, n, variant=name) for name in DRMSD_OTHERS]
    found += [drmsd_best(results, n, variant=form, root=root)
              for form in DRMSD_FORMS for root in DRMSD_ROOTS]
    for row in (row for row in found if row):
        name = row["variant"]
        rows.append([DRMSD_FORMS.get(name) or DRMSD_OTHERS[name],
                     DRMSD_ROOTS.get(row.get("root"), "-"), str(row.get("u", "-")),
                     str(row.get("block", "-")), ms(row), sig(row["tpairs"]),
                     *(sig(row.get(key)) for key in ("instructions", "float_pct", "issue_pct",
                                                     "mufu_pct", "picojoules")),
                     sig(ratio(naive, row))])
    return table([f"n = {n}", "root ", "u", "block", "ms", "10^12 pairs/s", "instructions a pair",
                  "% floating point", "% of issue slots", "% of special functions", "pJ a pair",
                  "× best naive"], rows)


def table_molecules(data):
    """Frames and clusters by the library: works of many sizes in one table."""
    results, rows = data["drmsd"], []
    pick = {("pair", n, 2) for n in (4096, 32768, 100000, 131072)}
    pick |= {(name, 200, 4096)
             for name in ("frames", "frames_close", "matrix", "matrix_mma_half", "matrix_mma_split")}
    for row in results.rows:
        if (row["variant"], row.get("n"), row.get("frames")) in pick:
            rows.append([f"`{row['variant']}`", str(row["n"]), str(row["frames"]), ms(row),
                         f"{sig(row['tpairs'])} · 10^12 pairs/s",
                         sig(row["error"]) if "error" in row else "-"])
        if row["work"] == "cluster" and row["size"] == 32768 and row["variant"] != "read":
            rows.append([f"`{row['variant']}`, {row['data']}", "-", str(row["size"]), ms(row),
                         f"{row['clusters']} clusters", "0"])
    return table(["work", "n", "frames", "ms", "", "relative error"], rows)


def table_drmsd_u(data):
    """Forms by u, roots by sqrt.approx: 10^12 pairs a second against n."""
    results, rows = data["drmsd"], []
    sizes = drmsd_sizes(results)
    for form in DRMSD_FORMS:
        for u in (1, 2, 4, 8):
            found = [drmsd_best(results, n, variant=form, root="approx", u=u) for n in sizes]
            if any(found):
                rows.append([DRMSD_FORMS[form], str(u),
                             *(sig(row["tpairs"]) if row else "-" for row in found)])
    return table(["form", "u", *(f"n = {n}" for n in sizes)], rows)


def table_drmsd_claims(data):
    """What the slides say, beside what was measured here."""
    results, rows = data["drmsd"], []
    sizes = drmsd_sizes(results)
    if not sizes:
        return NOTHING
    n, few = sizes[-1], sizes[0]

    def best(size=n, **more):
        return drmsd_best(results, size, **more)

    def gain(slow, fast):
        found = ratio(slow, fast)
        return "-" if found is None else f"{sig(found)} times as fast"

    def value(key, row):
        return row.get(key) if row else None

    def share(key, row):
        return f"{row[key]:.0f}%" if value(key, row) is not None else "-"

    def fastest_u(row):
        return f"u = {row['u']}" if row else "-"

    def pair(more, less):
        """Two ratios at the smallest n and at the largest, as text."""
        return f"{sig(more)} times as fast at n = {few}, {sig(less)} at n = {n}" \
            if more and less else "-"

    def most():
        """2D by 1D: the size at which it gains most, as text."""
        found = {size: ratio(best(size, variant="shared_1d"), best(size, **tiled)) for size in sizes}
        found = {size: times for size, times in found.items() if times}
        top = max(found, key=found.get, default=None)
        return f"; at most {sig(found[top])}, at n = {top}" if found else ""

    def by_root(slow, fast):
        """How many times as fast one form is as another with the same root, each in its best block and u."""
        found = {root: ratio(best(variant=slow, root=root), best(variant=fast, root=root))
                 for root in ("approx", "rsqrt")}
        return ", ".join(f"{sig(times)} times as fast with {DRMSD_ROOTS[root]}"
                         for root, times in found.items() if times) or "-"

    def reads():
        """2D by 1D at the largest n: [(u, bytes of 2D, bytes of 1D)]."""
        found = [(u, best(variant="triangle_2d", root="approx", u=u),
                  best(variant="shared_1d", root="approx", u=u)) for u in (1, 2, 4, 8)]
        return [(u, square["read_bytes"], row["read_bytes"]) for u, square, row in found
                if value("read_bytes", square) and value("read_bytes", row)]
    tiled = {"variant": "triangle_2d"}
    tuned = best(root="rsqrt", u=4, **tiled)
    plain = best(root="rsqrt", u=1, variant="shared_1d")
    roots = {root: best(root=root, **tiled) for root in DRMSD_ROOTS}
    cached = {root: ratio(roots[root], best(root=root, variant="cached_2d")) for root in ("approx", "rsqrt")}
    rsqrt = ratio(roots["reciprocal"], roots["rsqrt"])
    flat, unrolled = ([ratio(drmsd_best(results, size, **slow), drmsd_best(results, size, **fast))
                       for size in (few, n)] for slow, fast in (
        ({"variant": "shared_1d"}, tiled),
        ({"root": "rsqrt", "u": 1, **tiled}, {"root": "rsqrt", "u": 4, **tiled})))
    rows += [
        claim("ALUs in use, unrolled", "95%", share("issue_pct", tuned),
              stated(value("issue_pct", tuned), 95),
              "roots take as long as the arithmetic, and each waits for the other"),
        claim("of the instructions, floating point", "95%", share("float_pct", tuned),
              stated(value("float_pct", tuned), 95), "u = 4 and x rsqrt(x)"),
        claim("the same before the outer loop is unrolled", "90%", share("float_pct", plain),
              stated(value("float_pct", plain), 90),
              "a multiplication of the root is fused"),
        claim("the best u, x rsqrt(x)", "4 on Maxwell, 2 on Fermi", fastest_u(roots["rsqrt"]),
              between(value("u", roots["rsqrt"]), 2, 4),
              "roots hide loads; the four differ by some 3%"),
        claim("u = 4 against u = 1, x rsqrt(x)", "u reduces strong scaling", pair(*unrolled),
              order([(unrolled[1], unrolled[0])]), "fewer threads have work"),
        claim("x rsqrt(x) against 1 / rsqrt(x)", "faster on Fermi",
              gain(roots["reciprocal"], roots["rsqrt"]), order([(rsqrt, 1)]),
              "a special function unit for 8 ALUs, as on Fermi"),
        claim("the same", "no effect on Maxwell", gain(roots["reciprocal"], roots["rsqrt"]),
              stated(rsqrt, 1), "Maxwell has one for 4"),
        claim("`sqrt.approx` against x rsqrt(x)", "-", gain(roots["rsqrt"], roots["approx"])),
        claim("tiles in shared memory against none, 1D", "even naive works well", by_root("naive_1d", "shared_1d"), None,
              f"without tiles {share('issue_pct', best(variant='naive_1d', root='approx'))} and "
              f"{share('issue_pct', best(variant='naive_1d', root='rsqrt'))} of the issue slots are in use"),
        claim("tiles by caches against shared memory, 2D", "96.5% (Fermi), 91.6% (Maxwell) of the speed, by the abstract",
              ", ".join(f"{100 * times:.1f}% with {DRMSD_ROOTS[root]}" for root, times in cached.items() if times) or "-",
              between(cached["approx"] and 100 * cached["approx"], 91.6, 96.5), "the paper's forms are not stated"),
        claim("sliding window against tiles in shared memory, 1D", "not efficient",
              by_root("shared_1d", "sliding_1d"),
              order((best(variant="sliding_1d", root=root)["ms"],
                     best(variant="shared_1d", root=root)["ms"]) for root in DRMSD_ROOTS
                    if best(variant="sliding_1d", root=root)
                    and best(variant="shared_1d", root=root)),
              "no load serves a whole warp"),
        claim("2D against 1D", "better strong scaling", pair(*flat) + most(),
              order([(flat[0], 1), tuple(flat)]),
              "more threads have work; each with its best root, block and u"),
        claim("2D against 1D: bytes read from global memory, `sqrt.approx`", "a higher memory workload",
              ", ".join(f"{sig(square / row)} times (u = {u})" for u, square, row in reads()) or "-",
              order((square, row) for _, square, row in reads()),
              "twice in equal blocks; here each form has its fastest block with that u"),
    ]
    size = host_size(data, {n: best(n, variant="pair") for n in sizes}, work="drmsd")
    if size:
        rows.append(claim(f"one dRMSD against the cores of a CPU, n = {size}",
                          "62.7 times ClusCo on a Core i7-3820",
                          against_host(data, best(size, variant="pair"), size, work="drmsd"),
                          UNKNOWN, "another program, multithreaded by the paper's abstract; ours has OpenMP and vectors"))
    rows.append(claim("clustering", "13.4 times ClusCo's", "-", UNKNOWN,
                      "ClusCo is not measured here"))
    return table([f"claim, n = {n} where nothing else is said", "the slides ", *CLAIMS[2:]], rows)


def draw_drmsd(pyplot, data):
    """Pairs a second against n: each form at its best, and the roots of the best form."""
    results = data["drmsd"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4.8), sharey=True)
    sizes = drmsd_sizes(results)

    def rates(**more):
        found = [(n, drmsd_best(results, n, **more)) for n in sizes]
        return [(n, row and row["tpairs"]) for n, row in found]
    lines = [({"variant": name}, title) for name, title in (*DRMSD_OTHERS.items(),
                                                            *DRMSD_FORMS.items())
             if name not in ("host", "sliding_1d", "cached_2d")]  # far below; near forms by tiles
    for axes, entries in ((left, lines), (right, [({"variant": "triangle_2d", "root": root}, title)
                                                  for root, title in DRMSD_ROOTS.items()])):
        for i, (what, title) in enumerate(entries):
            if not curve(axes, rates(**what), color=COLOURS[i], marker=MARKERS[i],
                         linestyle="--" if axes is right else "-", label=title.replace("`", "")):
                note(f"drmsd_rates: no curve for {title}")
        log_sides(axes)
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
        limits = [row["tpairs"] * 100 / row["mufu_pct"] for row in drmsd_pairs(results, n=sizes[-1])
                  if row.get("mufu_pct") and row.get("root") in ("rsqrt", "approx")]
        if limits:
            axes.axhline(min(limits), color=INK, linestyle=":",
                         label="special functions, two a pair")
        axes.legend(fontsize=9, loc="lower right")
    left.set_ylabel("10^12 pairs of atoms a second")
    left.set_title("Each form, at its best root and u")
    right.set_title("2D by tiles: roots, each at its best u")
    top = drmsd_best(results, sizes[-1], variant="pair")
    title_of(figure, f"dRMSD of two frames: {sig(top['tpairs'])} × 10^12 pairs of atoms a second at n = {sizes[-1]}",
             results)
    return figure

