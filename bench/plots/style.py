# SPDX-License-Identifier: MIT
"""How pictures look."""
import sys

# Okabe and Ito's colours, without their yellow, which is too pale for lines.
INK, ORANGE, SKY, GREEN, BLUE, RED, PINK = (
    "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7")
GREY = "#808080"
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY, INK, GREY)
MARKERS = "osD^vPX*"


def note(text):
    print(f"plot.py: {text}", file=sys.stderr)


def start():
    """matplotlib.pyplot, set up."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    pyplot.rcParams.update({
        "font.size": 11, "axes.titlesize": 12, "axes.grid": True, "grid.color": "#dddddd",
        "grid.linewidth": 0.6, "axes.axisbelow": True, "axes.spines.top": False,
        "axes.spines.right": False, "figure.facecolor": "white", "legend.frameon": False,
        "lines.linewidth": 1.6, "lines.markersize": 4.5, "savefig.dpi": 150,
        "svg.hashsalt": "threadmap", "figure.constrained_layout.use": True,
    })
    return pyplot


def title_of(figure, title, results):
    figure.suptitle(f"{title}\n{results.where()}" if results else title, fontsize=12)


def log_sides(axes, ends=None):
    axes.set_xscale("log", base=2)
    axes.set_xlabel("n")
    if ends:
        axes.set_xlim(*ends)


def curve(axes, points, **style):
    """A line through [(x, y)], those without y left out; says whether there was one."""
    points = [(x, y) for x, y in points if y is not None]
    if points:
        axes.plot(*zip(*points), **style)
    return bool(points)


def plain_ticks(axis):
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def legend_below(figure, axes_list, columns, heads=()):
    """One legend of all labels, each once; with heads, a column for those that begin with each,
    without it."""
    handles = {}
    for axes in axes_list:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    entries = [(handle, label) for label, handle in handles.items()]
    if heads:
        groups = [[(h, label) for h, label in entries if label.startswith(head)] for head in heads]
        rows = max(map(len, groups)) + 1
        empty = figure.add_artist(figure.patch.__class__((0, 0), 0, 0, visible=False))
        entries = []
        for head, group in zip(heads, groups):
            group = [(empty, head.strip(": "))] + [(h, label[len(head):]) for h, label in group]
            entries += group + [(empty, "")] * (rows - len(group))
        columns = len(heads)
    figure.legend(*zip(*entries), loc="outside lower center", ncols=columns, fontsize=10.5,
                  handlelength=2.6, columnspacing=1.5)
