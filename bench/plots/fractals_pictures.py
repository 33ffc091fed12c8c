# SPDX-License-Identifier: MIT
"""Pictures of fractals, the paper's figures among them."""
from .fractals import block_forms, gains
from .fractals_paper import box_row, paper_results
from .results import (BASES, FRACTALS, TOP_SIDE, WORKS, ratio, side, space_improvement, theory_n_0,
                      theory_speedup)
from .style import (BLUE, COLOURS, GREEN, GREY, INK, MARKERS, ORANGE, PINK, RED, SKY, curve,
                    legend_below, log_sides, note, plain_ticks, title_of)
from .text import NOTHING, ms, sig

DUMMY_CURVES = {  # of Fig. 11: colour, marker, line
    "lambda": (GREY, "o", "-"), "redux": (ORANGE, "s", "-"), "ballot": (GREEN, "D", "-"),
    "group1": (BLUE, "^", "-"), "group4": (BLUE, "v", "--"), "group16": (BLUE, "<", ":"),
    "mma1": (RED, "o", "--"), "mma2": (PINK, "P", "--"), "mma3": (RED, "X", ":"),
    "mma_linear": (RED, "*", "-"), "tile_redux": (ORANGE, "^", "--"),
    "tile_ballot": (GREEN, "v", "--"), "tile_mma": (RED, "P", "-"),
}


def gaskets(data):
    """The works that were measured on the gasket."""
    return [work for work in WORKS if data["fractal"].sizes(work, "gasket")]


def draw_speedup(pyplot, data):
    """The paper's Fig. 7, each at its best block."""
    results = data["fractal"]
    works = gaskets(data)
    figure, grid = pyplot.subplots(len(works), 2, figsize=(9, 2.9 * len(works) + 1.3), squeeze=False)
    gains = []
    for (left, right), work in zip(grid, works):
        sizes = results.sizes(work, "gasket")
        sides = [side("gasket", size) for size in sizes]
        engine = [results.best_form(work, "gasket", size) for size in sizes]
        others = [([results.best(work, "gasket", size, (name,)) for size in sizes], *style) for name, *style in (
            ("bb", RED, "s", "the bounding box, a thread a place"), ("bb_walk", ORANGE, "D", "the same, walking"),
            ("list", SKY, "^", "a list of the cells in memory"))]
        for rows, colour, marker, label in (*others, (engine, INK, "o", "the engine")):
            style = {"color": colour, "marker": marker, "label": label}
            if not curve(right, [(n, row and row["ms"]) for n, row in zip(sides, rows)], **style):
                note(f"{work}: no curve for {label}")
            if rows is not engine:
                curve(left, zip(sides, map(ratio, rows, engine)), **style)
        gains.append(ratio(others[0][0][sides.index(TOP_SIDE)], engine[sides.index(TOP_SIDE)])
                     if TOP_SIDE in sides else None)
        curve(right, [(n, row and row.get("limit_ms")) for n, row in zip(sides, engine)], color=GREY,
              linestyle=":", linewidth=2, label="the memory's limit")
        left.axhline(1, color=GREY, linewidth=1)
        for axes in (left, right):
            log_sides(axes)
            axes.set_yscale("log")
            plain_ticks(axes.yaxis)
            axes.set_title(WORKS[work])
        left.set_ylabel("the engine is times faster")
        right.set_ylabel("ms")
        right.set_ylim(bottom=min(row["ms"] for row in engine if row) / 4)
    title_of(figure, "Sierpinski gasket: against the bounding box the engine gains "
             + ", ".join(sig(gain) for gain in gains if gain) + f" times at n = {TOP_SIDE}", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_theory(pyplot, data):
    """The paper's Fig. 5, beside what was measured."""
    results = data["fractal"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 6))
    for axes in (left, right):
        log_sides(axes)
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
        axes.axhline(1, color=GREY, linewidth=1)
    sides = [2**(i / 4) for i in range(6, 69)]
    left.plot(sides, [space_improvement("gasket", n) for n in sides], color=INK, linestyle="--",
              label="parallel space, $n^2 / n^H$")
    left.plot(sides, [theory_speedup("gasket", n) for n in sides], color=INK, linewidth=2.2,
              label="theory, $n^{2-H} / \\log_2 \\log_2 n$")
    first = theory_n_0("gasket")
    left.plot([first], [theory_speedup("gasket", first)], "o", color=INK, markersize=7)
    left.plot([first, first], [0.1, theory_speedup("gasket", first)], color=INK, linestyle=":")
    left.annotate(f"$n_0$ = {first:.1f}", (first, theory_speedup("gasket", first)), (4, -42),
                  textcoords="offset points")
    for work, colour, marker in zip(WORKS, (BLUE, RED, GREEN), "sD^"):
        gains_of = [(side("gasket", size),
                     ratio(results.best(work, "gasket", size, ("bb",)),
                           results.best_form(work, "gasket", size)))
                    for size in results.sizes(work, "gasket")]
        if not curve(left, gains_of, color=colour, marker=marker, linewidth=1,
                     label=f"{WORKS[work]}, measured"):
            note(f"theory: nothing measured for {work}")
    left.set_title("Sierpinski gasket, theory and measured")
    left.set_ylabel("times less, times faster")
    left.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    left.set_ylim(0.1, 300)
    groups = {}  # fractals of the same curve
    for name, (_, k, sx, sy) in FRACTALS.items():
        groups.setdefault((sx, sx * sy / k), []).append(name)
    order = sorted(groups.values(), key=lambda names: -theory_speedup(names[0], 65536))
    for names, colour, marker in zip(order, COLOURS, MARKERS):
        points = [(n, theory_speedup(names[0], n)) for n in sides if n >= 2.9]
        right.plot(*zip(*points), color=colour, marker=marker, markevery=8,
                   label=", ".join(FRACTALS[name][0] for name in names))
    right.set_title("The catalogue, theory")
    right.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    right.set_ylim(0.1, 300)
    title_of(figure, "The gain of λ over the bounding box grows with n, in theory and measured", results)
    return figure


def bars_of_forms(axes, results, pairs):
    """The map alone where too few levels were measured for a curve."""
    size = results.top("dummy", "gasket")
    got = [(form, ratio(results.best("dummy", "gasket", size, (base,)),
                        results.best("dummy", "gasket", size, (form,)))) for form, base in pairs]
    got = [(form, gain) for form, gain in got if gain]
    for i, (form, gain) in enumerate(reversed(got)):
        axes.barh(i, gain, color=DUMMY_CURVES[form][0])
        axes.text(max(gain, 1), i, f" {sig(gain)}", va="center", fontsize=9.5)
    axes.set_yticks(range(len(got)), [form for form, _ in reversed(got)], fontsize=10)
    axes.set_xlim(0, 1.15 * max((gain for _, gain in got), default=1))
    axes.axvline(1, color=INK, linewidth=1.2)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("times faster than shuffle")
    axes.set_title(f"The map alone, {size} levels")


def draw_forms(pyplot, data):
    """The paper's Fig. 11: each form over the shuffle form."""
    results = data["fractal"]
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 8.6))
    for axes, kind in zip(grid.flat, ("dummy", *WORKS)):
        names = results.variants(kind, "gasket")
        if kind == "dummy":
            pairs = [(name, "shuffle") for name in DUMMY_CURVES if name in names]
            axes.set_title("The map alone")
        else:
            pairs = [(name, "lambda_shuffle") for name in names
                     if name in ("lambda", "lambda_redux", "lambda_ballot")]
            pairs += [(name, "tile_shuffle") for name in names
                      if name in ("tile_redux", "tile_ballot", "tile_mma")]
            axes.set_title(WORKS[kind])
        if kind == "dummy" and 0 < len(results.sizes("dummy", "gasket")) < 3:
            bars_of_forms(axes, results, pairs)
            continue
        drawn = False
        for form, base in pairs:
            short = form.replace("lambda_", "")
            colour, marker, line = DUMMY_CURVES[short]
            drawn |= curve(axes, [(side("gasket", size),
                                   ratio(results.best(kind, "gasket", size, (base,)),
                                         results.best(kind, "gasket", size, (form,))))
                                  for size in results.sizes(kind, "gasket")],
                           color=colour, marker=marker, linestyle=line,
                           label=short + (" over tile_shuffle" if base[0] == "t" else ""))
        if not drawn:
            note(f"forms: nothing measured for {kind}")
            axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center")
        axes.axhline(1, color=GREY, linewidth=1.2)
        log_sides(axes)
        if kind == "dummy":
            axes.set_yscale("log", base=2)
            plain_ticks(axes.yaxis)
        axes.set_ylabel("times faster than shuffle")
    title_of(figure, "Sierpinski gasket: each form of lambda over warp shuffles", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_fig11(pyplot, data):
    """The paper's Fig. 11: its tensor-core variants over shuffles, a block for each tile."""
    results = paper_results(data)
    figure, grid = pyplot.subplots(len(WORKS), 2, figsize=(9, 9.8))
    for places, work in zip(grid, WORKS):
        for axes, rho in zip(places, (16, 32)):
            sizes, drawn = results.sizes(work, "gasket"), False
            for form, marker, dashes in ((1, "o", "-"), (2, "P", "--"), (3, "X", ":")):
                for name, colour, more in (("wmma_fp16", RED, {"form": form}),
                                           (f"mma{form}", BLUE, {})):
                    drawn |= curve(axes, [
                        (side("gasket", size),
                         ratio(box_row(results, work, size, rho, "lambda_block"),
                               box_row(results, work, size, rho, name, tiles_per_block=1, **more)))
                        for size in sizes], color=colour, marker=marker, linestyle=dashes,
                        label=f"variant {form}, " + ("WMMA" if more else "integers"))
            if not drawn:
                note(f"fig11: nothing measured for {work}, rho = {rho}")
                axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center")
            axes.axhline(1, color=GREY, linewidth=1.2)
            log_sides(axes)
            axes.set_title(f"{WORKS[work]}, ρ = {rho}")
            axes.set_ylabel("times faster than shuffles")
    title_of(figure, "Sierpinski gasket: tensor cores over warp shuffles, a block for each tile",
             results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_dummy(pyplot, data):
    """Every form of the map alone at the top level."""
    results = data["fractal"]
    domains = results.domains("dummy")[:2]
    forms = results.variants("dummy")
    figure, grid = pyplot.subplots(1, len(domains), figsize=(9, 0.29 * len(forms) + 1.5),
                                   squeeze=False)
    families = (("mma", RED, "tensor cores"), ("group", BLUE, "groups of lanes"),
                ("", GREY, "a whole warp for a tile"))
    for axes, domain in zip(grid[0], domains):
        size = results.top("dummy", domain)
        rows = [results.best("dummy", domain, size, (form,)) for form in forms]
        rows = sorted((row for row in rows if row), key=lambda row: -row["ms"])
        base = results.best("dummy", domain, size, ("shuffle",))
        widest = max(row["ms"] for row in rows)
        seen = set()
        for i, row in enumerate(rows):
            prefix, colour, label = next(f for f in families if row["variant"].startswith(f[0]))
            axes.barh(i, row["ms"], color=colour, label=None if prefix in seen else label)
            seen.add(prefix)
            gain = ratio(base, row)
            axes.text(row["ms"] + widest * 0.02, i, f"{ms(row)}" + (f"  ({sig(gain)}×)"
                      if gain else ""), va="center", fontsize=9)
        axes.set_yticks(range(len(rows)), [row["variant"] for row in rows], fontsize=10)
        axes.set_xlim(0, widest * 1.45)
        axes.set_ylim(-0.7, len(rows) - 0.3)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("ms")
        axes.set_title(f"{FRACTALS[domain][0]}, {size} levels")
    title_of(figure, "The map alone; in brackets, times faster than shuffle", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_fractals(pyplot, data):
    """All fractals at their top level."""
    results = data["fractal"]
    works = [work for work in WORKS if results.domains(work)]
    figure, grid = pyplot.subplots(len(works), 2, figsize=(9, 3.1 * len(works) + 1),
                                   squeeze=False, width_ratios=(2.1, 1))
    for (left, right), work in zip(grid, works):
        domains = [d for d in results.domains(work) if results.top(work, d) is not None]
        places = range(len(domains))
        names = [f"{d}\nr = {results.top(work, d)}" for d in domains]
        for i, (base, colour) in enumerate(zip(BASES, (RED, ORANGE, BLUE))):
            got = [gains(results, work, d, results.top(work, d),
                         results.best_form(work, d, results.top(work, d)))[i] for d in domains]
            if not any(got):
                note(f"fractals: no {base} for {work}")
            left.bar([p + (i - 1) * 0.27 for p in places], [g and g - 1 or 0 for g in got], 0.27,
                     bottom=1, color=colour, label=f"the engine over {BASES[base]}")
        left.set_yscale("log")
        plain_ticks(left.yaxis)
        left.axhline(1, color=INK, linewidth=1)
        left.set_ylabel("times faster")
        rows = [results.best_form(work, d, results.top(work, d)) for d in domains]
        reached = [row.get("limit_pct") or 0 for row in rows]
        right.bar(places, reached, 0.7, color=GREEN, label="percent of the memory's limit")
        for p, value in zip(places, reached):
            right.text(p, value, f"{value:.0f}", ha="center", va="bottom", fontsize=9)
        right.set_ylim(0, max(105, *(value * 1.12 for value in reached)))
        right.set_ylabel("% of limit")
        left.set_title(WORKS[work])
        left.set_xticks(places, names, fontsize=8.5, rotation=35)
        right.set_xticks(places, domains, fontsize=8.5, rotation=60)
        for axes in (left, right):
            axes.grid(axis="x", visible=False)
    title_of(figure, "Nine fractals at their largest side up to 65536", results)
    legend_below(figure, grid.flat, 2)
    return figure

