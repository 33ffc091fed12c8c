# SPDX-License-Identifier: MIT
"""Pictures of adaptive subdivision."""
import math

from .ask import (ASKS, ASK_NAMES, DPS, EXHAUSTIVE, FLAT, UNROLLED, ask_best, ask_landscape_size,
                  ask_levels, ask_rows, ask_searched)
from .ask_model import predictions
from .results import ratio
from .style import (BLUE, COLOURS, GREEN, GREY, INK, MARKERS, ORANGE, RED, SKY, curve, legend_below,
                    note, plain_ticks, title_of)
from .text import sig

ASK_STYLES = {"ask_mbr": (RED, "o", "-"), "ask_sbr": (ORANGE, "s", "-"),
              "dp_mbr": (BLUE, "^", "--"), "dp_sbr": (SKY, "v", "--"),
              FLAT: (GREEN, "P", "-."), UNROLLED: (GREY, "D", ":")}


ASK_TITLES = {"ask_mbr": "ASK-MBR: blocks share a region", "ask_sbr": "ASK-SBR: a block a region",
              "dp_mbr": "DP-MBR: launches by kernels", "dp_sbr": "DP-SBR: launches by kernels",
              FLAT: "a flat grid of regions", UNROLLED: "every pixel, unrolled"}


def draw_ask_speedup(pyplot, data, form=""):
    """The paper's Fig. 8: speedup against n, g, r and B, the other parameters at their best. form: before the names
    of variants."""
    results, base = data["ask"], (form + EXHAUSTIVE,)
    size = ask_landscape_size(results)
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 8))
    for axes, key in zip(grid.flat, ("size", "g", "r", "B")):
        for variant, (colour, marker, line) in ASK_STYLES.items():
            rows = [row for row in ask_rows(results, None if key == "size" else size, (form + variant,))
                    if key in row and (variant != FLAT or key in ("size", "g"))]
            points = [(x, ratio(ask_best(results, x if key == "size" else size, base),
                                min((row for row in rows if row[key] == x),
                                    key=lambda row: row["ms"])))
                      for x in sorted({row[key] for row in rows})]
            if not curve(axes, points, color=colour, marker=marker, linestyle=line,
                         label=ASK_TITLES[variant]) and (key == "size" or variant not in (
                             FLAT, UNROLLED)):
                note(f"ask_speedup: no curve against {key} for {form}{variant}")
        axes.axhline(1, color=GREY, linewidth=1.2)
        axes.set_xscale("log", base=2)
        plain_ticks(axes.xaxis)
        axes.set_xlabel("n" if key == "size" else key)
        axes.set_ylabel("times faster than exhaustive")
        axes.set_ylim(bottom=0)
        axes.set_title("against n" if key == "size" else f"n = {size}, against {key}")
    gain = ratio(ask_best(results, size, base), ask_best(results, size, [form + variant for variant in ASKS]))
    title_of(figure, f"Mandelbrot set{', as published' if form else ''}: subdivision without launches from kernels gains "
             f"{sig(gain)} times at n = {size}\nother parameters at their best", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_ask_published(pyplot, data):
    """The same of the forms as published."""
    return draw_ask_speedup(pyplot, data, "published_")


def draw_ask_landscape(pyplot, data):
    """The paper's Fig. 7: speedup over (g, B) for each r."""
    results = data["ask"]
    size = ask_landscape_size(results)
    base = ask_best(results, size, (EXHAUSTIVE,))
    rows = {v: ask_rows(results, size, (v,), "landscape") or ask_rows(results, size, (v,))
            for v in ASKS}
    every = [row for v in ASKS for row in rows[v]]
    for v in DPS:  # where all of the landscape was searched; plans of as many levels are the same
        if ask_searched(results, size, (v,)):
            searched = [row for row in ask_rows(results, size, (v,)) if
                        row.get("part") != "blocks"]
            rows[v] = [{**row, "B": place["B"]} for place in rows[ASKS[0]]
                       for row in searched if
                       (row["g"], row["r"], ask_levels(row)) ==
                       (place["g"], place["r"], ask_levels(place))]
    gs, rs, bs = (sorted({row[key] for row in every}) for key in ("g", "r", "B"))
    top = max(ratio(base, row) for row in every)
    figure, grid = pyplot.subplots(len(rows), len(rs), squeeze=False, sharex=True, sharey=True,
                                   figsize=(2.2 * len(rs) + 1.4, 3.3 * len(rows)))
    for line, variant in zip(grid, rows):
        best = min(rows[variant], key=lambda row: row["ms"], default=None)
        for axes, r in zip(line, rs):
            cells = [[None] * len(gs) for _ in bs]
            for row in (row for row in rows[variant] if row["r"] == r):
                cells[bs.index(row["B"])][gs.index(row["g"])] = ratio(base, row)
            shown = axes.imshow([[math.nan if c is None else c for c in line] for line in cells],
                                cmap="viridis", vmin=0, vmax=top, origin="lower", aspect="auto")
            for y, cell_line in enumerate(cells):
                for x, gain in enumerate(cell_line):
                    if gain is not None:
                        axes.text(x, y, f"{gain:.1f}", ha="center", va="center", fontsize=6.5,
                                  color="white" if gain < 0.6 * top else "black")
            if best and best["r"] == r:
                axes.add_patch(pyplot.Rectangle((gs.index(best["g"]) - 0.5,
                                                 bs.index(best["B"]) - 0.5), 1, 1, fill=False,
                                                edgecolor=RED, linewidth=2.2))
            axes.set_xticks(range(len(gs)), gs, fontsize=8.5)
            axes.set_yticks(range(len(bs)), bs, fontsize=8.5)
            axes.grid(visible=False)
            axes.set_title(f"{ASK_NAMES[variant]}, r = {r}", fontsize=10.5)
            if variant == list(rows)[-1]:
                axes.set_xlabel("g")
        line[0].set_ylabel("B")
    figure.colorbar(shown, ax=list(grid.flat), label="times faster than exhaustive", shrink=0.7)
    title_of(figure, f"Mandelbrot set, n = {size}: speedup over exhaustive", results)
    return figure


def draw_ask_model(pyplot, data):
    """Predicted against measured times of all subdivisions."""
    results = data["ask"]
    figure, grid = pyplot.subplots(1, len(ASKS), figsize=(9, 5.6), squeeze=False)
    for axes, variant in zip(grid[0], ASKS):
        found = [row for row in predictions(results) if row["variant"] == variant]
        for i, row in enumerate(found):
            axes.plot(row["measured"], row["predicted"], MARKERS[i % len(MARKERS)], markersize=4,
                      color=COLOURS[i % len(COLOURS)], alpha=0.7, label=f"n = {row['size']}")
            axes.plot([row["best_ms"]], [row["best_ms"]], "+", color=INK, markersize=11)
        ends = [x for row in found for x in row["measured"] + row["predicted"] if x > 0]
        if ends:
            axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color=GREY, linewidth=1.2)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            plain_ticks(axis)
            axis.set_minor_formatter("")
        axes.set_xlabel("measured, ms")
        axes.set_ylabel("predicted, ms")
        axes.set_title(ASK_NAMES[variant])
    title_of(figure, "Times of all (g, r, B): predicted and measured; +: the measured best", results)
    legend_below(figure, grid.flat, 4)
    return figure


def draw_theory_of(pyplot, data, goals, title):
    """The model's curves: a row for each variable, a column for each parameter that differs."""
    rows = [row for row in data["ask"].at("theory") if row["variant"] in goals]
    columns = [name for name in ("P", "A", "lambda") if any(row["parameter"] == name for row in rows)]
    figure, grid = pyplot.subplots(4, len(columns), figsize=(9, 10.5), squeeze=False, sharey="row")
    for line, axis in zip(grid, ("n", "g", "r", "B")):
        for axes, parameter in zip(line, columns):
            values = sorted({row["value"] for row in rows if row["parameter"] == parameter})[-3:]
            for row in rows:
                if row["axis"] == axis and row["parameter"] == parameter and row["value"] in values:
                    i, first = values.index(row["value"]), row["variant"] == goals[0]
                    name = "λ" if parameter == "lambda" else parameter
                    axes.plot(row["x"], row["y"], "-" if first else "--", color=COLOURS[i],
                              label=f"{name} = {row['value']:.7g}" if first else None)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            plain_ticks(axes.yaxis)
            if axis != "n":
                plain_ticks(axes.xaxis)
            axes.set_xlabel(axis)
            axes.legend(fontsize=8.5)
    for line in grid:
        line[0].set_ylabel("Ω" if goals == ("omega",) else "times faster")
    figure.suptitle(title, fontsize=12)
    return figure


def draw_ask_omega(pyplot, data):
    """The paper's Fig. 3."""
    return draw_theory_of(pyplot, data, ("omega",), "The model: subdivision leaves more work out the larger n "
                          "and the smaller P\nΩ: work of all places by the work done; "
                          "not varied: A = 8, P = 0.7, λ = 100, n = 2^24")


def draw_ask_theory(pyplot, data):
    """The paper's Fig. 4."""
    return draw_theory_of(pyplot, data, ("sbr", "mbr"), "The model: several blocks a region (MBR, dashed) gain "
                          "over one (SBR), most where g is small\nnot varied: A = 8, P = 0.7, λ = 100, "
                          "n = 2^24, 128 multiprocessors of 64 cores")
