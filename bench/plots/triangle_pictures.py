# SPDX-License-Identifier: MIT
"""Pictures of the maps of triangles."""
from .results import least, pick, ratio
from .style import (BLUE, COLOURS, GREEN, GREY, MARKERS, ORANGE, PINK, RED, SKY, curve, legend_below, log_sides,
                    note, title_of)
from .text import sig
from .triangle import group_title, triangle_groups
from .triangle_paper import PAPER_N, TRIANGLE_NAMES, triangle_gain, triangle_rows, triangle_sizes


# The maps that are drawn: variant, name, colour and marker in all pictures. The forms that are left out
# differ from these by a root; the tables have them.
DRAWN = (
    ("ltm_exact", "LTM, exact", BLUE, "o"), ("ltm_rsqrt", "LTM, rsqrt", GREEN, "^"),
    ("rb", "RB, a folded rectangle", ORANGE, "s"), ("rec", "REC, recursive halves", PINK, "D"),
    ("utm_blocks_sqrt", "UTM, a root a block", SKY, "v"), ("utm", "UTM, a root a thread", RED, "X"),
)


def span_of(found):
    found = [x for x in found if x]
    return f"{sig(min(found))} to {sig(max(found))}" if found else "-"


def draw_triangle(pyplot, data):
    """Each map over the bounding box, against n."""
    results = data["triangle"]
    groups = {key: rows for key, rows in triangle_groups(results).items()
              if key[0] in ("dummy", "edm")}
    columns = min(len(groups), 3)
    lines = -(-len(groups) // columns)
    figure, grid = pyplot.subplots(lines, columns, figsize=(9, 2.9 * lines + 1.2), squeeze=False, sharey=True)
    for axes in list(grid.flat)[len(groups):]:
        axes.set_axis_off()
    gains = []
    for axes, (key, rows) in zip(grid.flat, groups.items()):
        def best(n, variant, among=rows):
            return least(pick(among, size=n, variant=variant))
        sizes = triangle_sizes(results, 1 << 20) or sorted({row["size"] for row in rows})
        for name, title, colour, marker in DRAWN:
            curve(axes, [(n, ratio(best(n, "bb"), best(n, name))) for n in sizes], label=title,
                  color=colour, marker=marker)
        gains.append(ratio(best(sizes[-1], "bb"), best(sizes[-1], "ltm_exact")))
        axes.axhline(1, color=GREY, linewidth=1.2)
        log_sides(axes)
        axes.set_ylim(0, 1.7)
        axes.set_title(group_title(key))
    for line in grid:
        line[0].set_ylabel("times faster than BB")
    title_of(figure, f"LTM does the work of the bounding box (BB) {span_of(gains)} times as fast", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_triangle_published(pyplot, data):
    """The paper's Figs. 3 and 5: I against n with blocks of 16 x 16, and against the features."""
    results = data["triangle"]
    figure, grid = pyplot.subplots(2, 2, figsize=(9, 7.6))
    panels = ((0, "dummy"), (1, "EDM, one feature"), (4, "EDM, four features"))
    n = triangle_sizes(results)[-1]
    for name, title, colour, marker in DRAWN:
        style = {"label": title, "color": colour, "marker": marker}
        for axes, (d, _) in zip(grid.flat, panels):
            if not curve(axes, [(m, triangle_gain(results, d, m, name))
                                for m in triangle_sizes(results, 1 << 20)], **style):
                note(f"triangle_published: no curve for {name}, d = {d}")
        curve(grid[1][1], [(d, triangle_gain(results, d, n, name)) for d in range(5)], **style)
    for axes, (_, title) in zip(grid.flat, panels):
        log_sides(axes)
        axes.axvline(PAPER_N, color=GREY, linewidth=0.8, linestyle=":")
        axes.set_title(title)
    grid[1][1].set_title(f"n = {n}")
    grid[1][1].set_xticks(range(5))
    grid[1][1].set_xlabel("features (0: dummy)")
    for axes in grid.flat:
        axes.axhline(1, color=GREY, linewidth=1.2)
        axes.set_ylim(0, 2.1)
        axes.set_ylabel("I, times faster than BB")
    gains = [triangle_gain(results, d, n, "ltm_rsqrt") for d in range(5)]
    title_of(figure, f"Blocks of 16 × 16: LTM's I is {span_of(gains)} at n = {n}; the limit is 2\n"
             "dotted: the paper's largest N", results)
    legend_below(figure, grid.flat, 3)
    return figure


def draw_triangle_k(pyplot, data):
    """k of the model, and blocks without a cell (the paper's Fig. 3, right)."""
    results = data["triangle"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4.8))
    sizes = triangle_sizes(results, 1 << 20)
    for i, (d, rho) in enumerate((d, rho) for d in (0, 4) for rho in (8, 16, 32)):
        points = [(n, rows[0]["k"]) for n in sizes
                  for rows in [triangle_rows(results, d, n, "ltm_exact", rho)] if rows]
        curve(left, points, color=COLOURS[i], marker=MARKERS[i], linestyle="--" if d else "-",
              label=f"{'EDM, d = 4' if d else 'dummy'}, ρ = {rho}")
    left.axhline(1, color=GREY, linewidth=1.2)
    left.set_title("k of the exact map")
    left.set_ylabel("2n / (n + 1) by I")
    for i, (name, key) in enumerate((("bb", "wasted_blocks"), ("rec", "wasted_blocks"),
                                     ("ltm_rsqrt", "partial_blocks"))):
        points = [(n, rows[0].get(key) or None) for n in sizes
                  for rows in [triangle_rows(results, 0, n, name)] if rows]
        curve(right, points, color=COLOURS[i], marker=MARKERS[i],
              label=f"{'BB' if name == 'bb' else TRIANGLE_NAMES[name]}, "
                    + ("without a cell" if key == "wasted_blocks" else "with idle threads"))
    right.set_yscale("log")
    right.set_title("blocks of 16 × 16 without a cell\n(LTM-X, -N, -R: none)")
    right.legend(fontsize=9)
    for axes in (left, right):
        log_sides(axes)
    left.legend(fontsize=9)
    title_of(figure, "Triangle: the model's k, and blocks that are wasted", results)
    return figure

