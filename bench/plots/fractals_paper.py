# SPDX-License-Identifier: MIT
"""The claims of the fractals' paper beside what was measured."""
from .results import DTYPES, ENGINE, FRACTALS, RHOS, WORKS, Results, least, pick, ratio, side
from .text import CLAIMS, UNKNOWN, below, beside, between, claim, farthest, order, same, sig, stated, table, up_to

# The largest levels of the paper: RD and CA ended one earlier for want of memory.
PAPER_LEVELS = {"sw": 16, "rd": 15, "ca": 15}
PAPER_N_0 = 512
# How a block finds its tile by shuffles: a block for each tile, and by blocks that walk. Rows of the paper's own form, if
# there are any, have the verdicts.
PAPER_LAUNCHES = (("lambda_block", "tiles"), ("lambda_shuffle", "walking"))
PUBLISHED = "as published"
# Fig. 11 as the text tells it. An order: test, variant, GPU, the ρ with which it is faster than
# shuffles, and those with which it is slower.
FIG11_RHOS = (16, 32)
FIG11_ORDERS = (
    ("sw", 1, "Titan RTX", (16, 32), ()), ("sw", 3, "both GPUs", (), (16, 32)),
    ("rd", 1, "Titan V", (), (16, 32)), ("rd", 1, "Titan RTX", (16,), (32,)),
    ("rd", 3, "both GPUs", (), (16, 32)),
    ("ca", 1, "both GPUs", (), (16, 32)), ("ca", 2, "Titan V", (), (16, 32)),
    ("ca", 2, "Titan RTX", (16, 32), ()), ("ca", 3, "both GPUs", (), (16, 32)),
)
# And gains: test, variant, GPU, the most per cent over shuffles.
FIG11_GAINS = (("sw", 2, "Titan V", 20), ("sw", 2, "Titan RTX", 40), ("rd", 2, "Titan V", 20),
               ("rd", 2, "Titan RTX", 30))

# The authors' data: github.com/crinavar/gpumaps, commit d14547f (June 2019), fractals/test1-simple_write and
# test2-reduction, data/d_B3_DEV0.dat to d_B5_DEV1.dat: means for ρ = 8, 16, 32 of BB, shuffles, variant 1 and, with
# ρ = 32, variant 2, at the largest level of the paper. V: GPU 0, R: GPU 1 of Table 2.
THEIR_DATA = {
    "best ρ of BB, SW, RD, CA": "SW 32 (V), 16 (R), RD 16 (R)",
    "× BB, ρ = 32, tiles, SW": "6.16 (V), 6.16 (R)", "× BB, ρ = 32, tiles, RD": "11.7 (R)",
    "× BB, the most with one ρ for both, tiles": "SW 42.0 (V), 25.9 (R), RD 29.6 (R), ρ = 8, none smaller",
    "× BB, each with its best ρ, tiles": "SW 8.49 (V), 8.56 (R), RD 17.7 (R)",
    "best ρ of λ, tiles, SW": "16 (V), 8 (R)", "best ρ of λ, tiles, RD": "8 (R)",
    "variant 2 over shuffles, SW, Titan V": "+19.2%", "variant 2 over shuffles, SW, Titan RTX": "+36.8%",
    "variant 2 over shuffles, RD, Titan RTX": "+23.4%",
    "variant 1 over shuffles, SW, Titan RTX": "+4.8%, +7.0%", "variant 1 over shuffles, RD, Titan RTX": "+0.4%, +0.9%",
    "variant 1, in some configurations": "+7.0 to -7.8%",
}

# Where lambda gets a replica's box from, besides the arithmetic hash; and the two launches of bench_block.
HASH_OTHERS = (("table_constant", "H[] in constant memory"), ("table_shared", "H[] in shared memory"),
               ("digits", "packed digits in registers"))
HASH_PARTS = (("launch", "SW"), ("map", "map alone"))


def published_results(data):
    """BB and λ in the paper's own form, as results of their own: variants `bb` and `lambda`."""
    rows = data["fractal"].pick(work=tuple(WORKS), variant=("published_bb", "published_lambda"))
    return Results({"rows": [{**row, "variant": row["variant"].removeprefix("published_"), "dtype": DTYPES[row["work"]]}
                             for row in rows]})


def published_tensor(data):
    """The same for figure 11: shuffles and variants 1 and 2 on tensor cores, under the names of a block for each tile."""
    names = {"published_lambda": {"variant": "lambda_block"},
             **{f"published_wmma{form}": {"variant": "wmma_fp16", "form": form, "tiles_per_block": 1} for form in (1, 2)}}
    return Results({"rows": [{**row, **names[row["variant"]], "dtype": DTYPES[row["work"]]}
                             for row in data["fractal"].pick(work=tuple(WORKS), variant=tuple(names))]})


def box_row(results, work, size, rho, variant, **more):
    """The gasket's row of a launch of blocks of side rho, or None."""
    return least(pick(results.at(work, "gasket", size), variant=variant, rho=rho, **more))


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


def box_curves(results, work, form):
    """{rho: [(n, times faster than BB with the same rho)]}, by n."""
    found = {}
    for size in results.sizes(work, "gasket"):
        for rho, gain in box_gains(results, work, size, form).items():
            found.setdefault(rho, []).append((side("gasket", size), gain))
    return found


def box_growth(results, work, form):
    """The smallest n from which on the gain over BB grows with n, whatever rho."""
    latest = 0
    for gains in box_curves(results, work, form).values():
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
    rows, most, best = [], {}, {}
    levels = {work: size for work, size in PAPER_LEVELS.items()
              if box_gains(results, work, size, form)}
    for work, size in levels.items():
        gains_of = box_gains(results, work, size, form)
        if 32 in gains_of:
            rows.append(claim(f"× BB, ρ = 32, {launch}, {work.upper()}", "6 to 12",
                              sig(gains_of[32]), between(gains_of[32], 6, 12),
                              "our BB reads cells only, theirs all places"
                              if work == "rd" and launch != PUBLISHED else "-"))
        most[work] = max((gain, rho) for rho, gain in gains_of.items())
        best[work] = ratio(box_best(results, work, size, "bb")[1],
                           box_best(results, work, size, form)[1])
    if most:
        title = f"× BB, the most with one ρ for both, {launch}"
        here = ", ".join(f"{work.upper()} {sig(gain)} (ρ = {rho})" for work, (gain, rho) in most.items())
        if launch == PUBLISHED:
            rows.append(claim(title, "up to 75", here, None, "ρ = 8, 16, 32 alone; 75 is of small blocks"))
        else:
            rows.append(claim(title, "up to 75", here, up_to((gain for gain, _ in most.values()), 75)))
        compared = [best["sw"]] if launch == PUBLISHED and "sw" in best else best.values()
        rows.append(claim(f"× BB, each with its best ρ, {launch}", "up to 9", ", ".join(
            f"{work.upper()} {sig(gain)}" for work, gain in best.items()), up_to(compared, 9),
            "SW's alone: [A10](errata.md#a10-two-gains-over-the-bounding-box-sections-62-and-7)"))
    for work, size in levels.items():
        rho = box_best(results, work, size, form)[0]
        rows.append(claim(f"best ρ of λ, {launch}, {work.upper()}", "16", str(rho), stated(rho, 16)))
    starts = {work: box_n_0(results, work, form) for work in levels}
    early = [[gain for gains in box_curves(results, work, form).values() for n, gain in gains if n == PAPER_N_0 // 2]
             for work in levels]
    if levels:
        rows.append(claim(f"ahead of BB below n = {PAPER_N_0}, {launch}", "with some ρ only", "from n = " + "; ".join(
            f"{work.upper()} {', '.join(str(starts[work].get(rho, '-')) for rho in RHOS)}" for work in levels),
            order(pair for gains in early if gains for pair in ((max(gains), 1), (1, min(gains))))))
    pairs = [(more, less) for found in starts.values()
             for less, more in zip(found.values(), list(found.values())[1:])]
    if pairs:
        rows.append(claim(f"the smaller ρ, the smaller that n, {launch}", "yes", "; ".join(
            f"{work.upper()} {min(found.values())} to {max(found.values())}"
            for work, found in starts.items()), order(pairs), "equal ones contradict nothing"))
    growth = {work: box_growth(results, work, form) for work in levels}
    if any(growth.values()):
        rows.append(claim(f"gain grows from n, {launch}", str(PAPER_N_0), ", ".join(
            f"{work.upper()} {n}" for work, n in growth.items() if n), order(
                (more, gain) for work in levels for gains in box_curves(results, work, form).values()
                for (n, gain), (_, more) in zip(gains, gains[1:]) if n >= PAPER_N_0)))
    return rows


def claims_bb(results, launch=""):
    """BB's best blocks, which do not depend on lambda's launch."""
    best = {work.upper(): box_best(results, work, size, "bb")[0] for work, size in PAPER_LEVELS.items()}
    best = {work: rho for work, rho in best.items() if rho}
    return [claim(f"best ρ of BB, {', '.join(best)}{launch}", "32", ", ".join(map(str, best.values())),
                  stated(farthest(best.values(), 32), 32))] if best else []


def tensor_gains(results, work, variant, exact=False):
    """{rho: per cent over shuffles} of a variant by WMMA or in exact integers, a block for each tile."""
    what = {"variant": f"mma{variant}"} if exact else {"variant": "wmma_fp16", "form": variant}
    found = {rho: ratio(box_row(results, work, PAPER_LEVELS[work], rho, "lambda_block"),
                        box_row(results, work, PAPER_LEVELS[work], rho, tiles_per_block=1, **what))
             for rho in FIG11_RHOS}
    return {rho: 100 * (gain - 1) for rho, gain in found.items() if gain}


def percents(gains):
    return ", ".join(f"{gains[rho]:+.1f}%" if rho in gains else "-" for rho in FIG11_RHOS)


def claims_fig11(results):
    """The rows of Fig. 11: its variants over shuffles, a block for each tile."""
    rows = []
    found = {(work, variant): tensor_gains(results, work, variant)
             for work in PAPER_LEVELS for variant in (1, 2, 3)}

    def title(work, variant, gpus):
        return f"variant {variant} over shuffles, {work.upper()}, {gpus}"

    def here(work, variant):
        exact = tensor_gains(results, work, variant, exact=True)
        return percents(found[work, variant]) + (f" ({percents(exact)})" if exact else "")
    for work, variant, gpus, percent in FIG11_GAINS:
        if found[work, variant]:
            rows.append(claim(title(work, variant, gpus), f"up to {percent}%", here(work, variant),
                              up_to(found[work, variant].values(), percent)))
    for work, variant, gpus, faster, slower in FIG11_ORDERS:
        gains = found[work, variant]
        if gains:
            said = [word if rhos == FIG11_RHOS else f"{word} with ρ = {', '.join(map(str, rhos))}"
                    for word, rhos in (("faster", faster), ("slower", slower)) if rhos]
            rows.append(claim(title(work, variant, gpus), ", ".join(said), here(work, variant),
                              order([(gains[rho], 0) for rho in faster if rho in gains]
                                    + [(0, gains[rho]) for rho in slower if rho in gains])))
    ones, twos = ([gain for work in PAPER_LEVELS for gain in found[work, variant].values()]
                  for variant in (1, 2))
    if ones:
        rows.append(claim("variant 1, in some configurations", "5 to 10%",
                          f"{max(ones):+.1f} to {min(ones):+.1f}%, faster in "
                          f"{sum(gain > 0 for gain in ones)} of {len(ones)}",
                          between(min(ones, key=lambda gain: max(5 - gain, gain - 10)), 5, 10),
                          "configurations not named; verdict of ours nearest to the range"))
    if twos:
        rows.append(claim("variant 2, overall", "up to 40%",
                          f"{max(twos):+.1f} to {min(twos):+.1f}%, faster in "
                          f"{sum(gain > 0 for gain in twos)} of {len(twos)}", up_to(twos, 40)))
    return rows


def rows_of_block(block, *others):
    """Section 5: the paper measures sub-boxes. The other two forms are compared with its launch, and with
    sub-boxes in their own kernel. The launch is looked up in `block`, then in `others`. Rows of a title
    and ratios."""
    rows = []
    for work, tiles in ((work, tiles) for work in WORKS for tiles in (1, 16)):
        for size in block.sizes(work, "gasket")[-1:]:
            launch = next((row for results in (block, *others)
                           for row in [box_row(results, work, size, 16, "lambda_block")] if row),
                          None)
            same, *forms = (box_row(block, work, size, 16, name, tiles_per_block=tiles)
                            for name in ("block_subbox", "block_unroll", "block_table"))
            if same and all(forms):
                many = "1 tile a block" if tiles == 1 else f"{tiles} tiles a block"
                rows.append([f"unrolling, table × the published launch, ρ = 16, {many}, {work.upper()}, "
                             f"n = {side('gasket', size)}", ", ".join(sig(ratio(launch, row)) for row in forms)
                             + " (× sub-boxes in the same kernel: "
                             f"{', '.join(sig(ratio(same, row)) for row in forms)})"])
    return rows


def rows_of_hash(block):
    """Section 4 and equation 15: how many times faster lambda is with arithmetic than with the table H[]."""
    found = block.domains("hash")
    def row(domain, part, variant):
        return next((row for row in block.at("hash", domain)
                     if row["part"] == part and row["variant"] == variant), None)
    rows = []
    for part, launch in HASH_PARTS:
        for variant, title in HASH_OTHERS:
            gains = {domain: ratio(row(domain, part, variant), row(domain, part, "arithmetic"))
                     for domain in found}
            if any(gains.values()):
                rows.append([f"arithmetic hash × {title}, {launch}", ", ".join(
                    f"{domain} {sig(gain)}" for domain, gain in gains.items() if gain)])
    return rows


def paper_results(data):
    """The run of the paper's launches alone, or that of everything."""
    return data["fig11" if "fig11" in data else "fractal"]


def beside_published(rows, published, launch):
    """Rows of a launch of ours, without those whose claim has a verdict by the paper's own form; the gains of tiles
    stay, without a verdict."""
    theirs = {row[0].replace(f", {PUBLISHED}", launch) for row in published if row[3] != "-"}
    return [[*row[:3], "-", row[4]] if row[0] in theirs else row for row in rows
            if row[0] not in theirs or row[0].startswith("× BB") and "tiles" in row[0]]


def claims_box(data):
    """The engine against a thread for each place of the box in its best blocks, where that takes 20 µs or more: a write
    and a sum of integers at the largest level, and energies. `boxes`, if present, has these rows of both benches."""
    rows, boxes = [], data["boxes"].rows
    for bench, title in (("fractal", "two"), ("fractal3", "three")):
        results, gains, energy = data[bench], {}, []
        if boxes:
            results = Results({"rows": [row for row in boxes if (row["domain"] in FRACTALS) == (bench == "fractal")]})
        for work in ("sw", "rd"):
            for domain in dict.fromkeys(row["domain"] for row in results.at(work)):
                top = max((row["size"] for row in results.at(work, domain) if row["variant"] == "bb"), default=None)
                bb, ours = (results.best(work, domain, top, names) for names in (("bb",), ENGINE))
                if bb and ours and bb["ms"] >= 0.02:
                    gains.setdefault(domain, []).append(sig(ratio(bb, ours)))
                    if "millijoules" in bb and "millijoules" in ours:
                        energy.append(bb["millijoules"] / ours["millijoules"])
        if gains:
            rows.append(claim(
                "maps by language models (arXiv 2604.10387): × a thread for each place, two dimensions" if title == "two"
                else "the same, three dimensions",
                "up to 4833, energy 2890 times", ", ".join(f"{domain} {'/'.join(found)}" for domain, found in gains.items())
                + f" (write/sum{f'; energy {sig(min(energy))} to {sig(max(energy))}' if energy else ''})", UNKNOWN,
                "the abstract has no domains, sizes or blocks" if title == "two" else "the same"))
    return rows


CAT_SIDE = 15360  # of the boards of CAT's program, as in its authors' data


def claims_ltl(data):
    """Automata of radius r on a board: CAT's program as of its paper, its library, and bench_ltl."""
    n = max((row["size"] for row in data["ltl"].rows), default=None)
    ms = {name: {row["radius"]: row["ms"] for row in data[bench].pick(variant=name, size=size)}
          for bench, size, names in (("ltl", n, ("box", "sums")), ("peers_ltl", n, ("cat",)),
                                     ("peers_ltl", CAT_SIDE, ("base_2024", "cat_2024"))) for name in names}

    def gains(slow, fast):
        return {r: ms[slow][r] / ms[fast][r] for r in ms[fast] if r in ms[slow]}

    def listed(found, size):
        return ", ".join(f"{sig(gain)} (r = {r})" for r, gain in found.items() if r in (1, 4, 8, 16)) + f", n = {size}"

    def span(name):
        return f"{sig(min(ms[name].values()))} to {sig(max(ms[name].values()))}"
    theirs, ours = gains("base_2024", "cat_2024"), gains("box", "sums")
    if not ours:
        return []
    return [claim("Larger than Life (CAT, arXiv 2406.17284: tensor cores): × a thread for each cell",
                  "up to 101 times; data (H100) 101, r = 16",
                  (f"CAT {listed(theirs, CAT_SIDE)}; " if theirs else "") + f"ours {listed(ours, n)}",
                  up_to((theirs or ours).values(), 101), "ours: sums of bytes, no tensor cores"),
            claim("the same: constant time", "r = 1 to 16",
                  (f"CAT {span('cat_2024')} ms; today's library {span('cat')}; " if theirs and ms["cat"] else "")
                  + f"ours {span('sums')} ms", same(ms["cat_2024" if theirs else "sums"].values()))]


def table_fractal_claims(data):
    """What the paper says of the gasket, beside what was measured here."""
    results, published = paper_results(data), published_results(data)
    rows = claims_bb(published, f", {PUBLISHED}") + claims_fig7(published, "lambda", PUBLISHED)
    ours = beside_published(claims_bb(results), rows, "")
    for form, launch in PAPER_LAUNCHES:
        ours += beside_published(claims_fig7(results, form, launch), rows, f", {launch}")
    theirs = {title.replace(", tiles", f", {PUBLISHED}"): said for title, said in THEIR_DATA.items()}
    theirs[f"best ρ of BB, SW, RD, CA, {PUBLISHED}"] = THEIR_DATA["best ρ of BB, SW, RD, CA"]
    data_of = {title: said for title, said in {**theirs, **THEIR_DATA}.items()
               if not rows or not title.startswith("× BB") or PUBLISHED in title}  # once
    tensor = claims_fig11(published_tensor(data))
    theirs_too = {row[0] for row in tensor}
    tensor = [[f"{row[0]}, {PUBLISHED}", *beside([row], data_of)[0][1:]] for row in tensor]
    tensor += beside([row for row in claims_fig11(results) if row[0] not in theirs_too], data_of)
    return table(["gasket", *CLAIMS[1:]], beside(rows + ours, data_of) + tensor + claims_box(data)
                 + claims_ltl(data))


def table_fractal_forms(data):
    """Sections 4 and 5: forms that the paper has no times of."""
    return table(["times as fast", "here "], rows_of_block(
        data["block"], data["fractal"], paper_results(data)) + rows_of_hash(data["block"]))


# ---- the 3-simplex, which the paper cites ----

SIMPLEX_WORKS = {"dummy3": "the map alone", "write3": "a write to each cell"}
ROOTS = ("simplex_published", "simplex_published_f64")


def simplex_best(results, work, n, *variants, **more):
    """The fastest row of these variants, whatever the side of its tiles, or None."""
    return results.best(work, "simplex", n, variants, **more)


def simplex_spans(results, work, variants, **more):
    """{n: times as fast as the bounding box, each with its best ρ, or all with that of `more`}."""
    gains = {n: ratio(simplex_best(results, work, n, "bb", **more),
                      simplex_best(results, work, n, *variants, **more))
             for n in results.sizes(work, "simplex")}
    return {n: gain for n, gain in gains.items() if gain}


def values(gains):
    return ", ".join(map(sig, gains.values()))


def claims_simplex(results):
    """Section 2: what a map of the 3-simplex gains over the bounding box, in threads and in time."""
    rows = []
    space = {(row["size"], row["rho"]): row["threads"] for row in results.at("dummy3")
             if row["variant"] == "bb"}
    space = {(row["size"], row["rho"]): space[row["size"], row["rho"]] / row["threads"]
             for row in results.at("dummy3") if row["variant"] == "simplex_blocks"
             and (row["size"], row["rho"]) in space}
    if space:
        n, rho = max(space, key=space.get)
        rows.append(claim("threads of the bounding box over those of the map", "up to 6 times",
                          f"{sig(space[n, rho])} at n = {n}, ρ = {rho}", up_to(space.values(), 6),
                          "6m²/((m + 1)(m + 2)), m = n / ρ"))
    for work, title in SIMPLEX_WORKS.items():
        gains = {name: simplex_spans(results, work, variants) for name, variants in (
            ("published", ROOTS), ("blocks", ("simplex_blocks",)), ("threads", ("simplex_threads",)))}
        if not all(gains.values()):
            continue
        n = max(gains["blocks"])
        rows.append(claim(
            f"× the bounding box in time, published roots, {title}",
            "less than in threads, by the roots", values(gains["published"])
            + (f"; n = {', '.join(map(str, gains['published']))}" if work == "dummy3" else ""),
            below(max(gains["published"].values()), max(space.values(), default=None))))
        rows.append(claim(
            f"× the bounding box in time, the exact map, {title}", "-",
            f"by blocks {values(gains['blocks'])}; by threads {values(gains['threads'])}"))
    gains = {title: simplex_spans(results, work, ("simplex_h",)) for work, title in SIMPLEX_WORKS.items()}
    if all(gains.values()):
        best = [ratio(simplex_best(results, work, n, *ROOTS, "simplex_blocks", "simplex_threads"),
                      simplex_best(results, work, n, "simplex_h")) for work in SIMPLEX_WORKS for n in gains[title]]
        most = [max(found.values()) for found in gains.values()]
        small = [gain for work in SIMPLEX_WORKS for gain in simplex_spans(results, work, ("simplex_h",), rho=4).values()]
        rows.append(claim("× the bounding box in time, map H (FGCS 2023, arXiv 2208.11617)", "1.3 to 6.0",
                          "; ".join(f"{title} {values(found)}" for title, found in gains.items())
                          + (f"; ρ = 4 for both, at most {sig(max(small))}" if small else ""),
                          between(farthest(most, 3), 1.3, 6), "1536 / ρ is no power of two: the grid is that of 2048"))
        rows.append(claim("map H is the fastest, 3-simplices", "yes", f"{sig(min(best))} to {sig(max(best))} times the "
                          "speed of the fastest other map", order((gain, 1) for gain in best)))
    gains = {title: simplex_spans(results, work, ROOTS, rho=4) for work, title in SIMPLEX_WORKS.items()}
    if all(gains.values()):
        n = max(max(found) for found in gains.values())
        slow, fast = (results.best("dummy3", "simplex", n, ("bb",), rho=rho) for rho in (4, 8))
        rows.append(claim("× the bounding box in time, published roots, ρ = 4 for both",
                          "less than in threads, by the roots",
                          "; ".join(f"{title} {values(found)}" for title, found in gains.items()),
                          below(max(max(found.values()) for found in gains.values()), space.get((n, 4))),
                          "blocks of 64 threads: the bounding box alone takes "
                          f"{sig(ratio(slow, fast))} times as long as with ρ = 8"))
    return rows


def table_simplex_claims(data):
    """What the paper says of 3-simplices, beside what was measured here."""
    return table(["3-simplex", *CLAIMS[1:]], claims_simplex(data["simplex"]))
