# SPDX-License-Identifier: MIT
"""Tables and pictures of compact storage."""
from .results import FRACTALS, TOP_SIDE, least, ratio, side
from .style import COLOURS, GREY, MARKERS, curve, legend_below, plain_ticks, title_of
from .text import CLAIMS, NOTHING, bold, claim, memory, ms, percent, sig, table, up_to

COMPACT_LIFE = {"bb": "BB walking, bytes", "bb_bits": "BB, bits", "embedded": "embedded, bytes",
                "compact": "compact, bytes", "compact_bits": "compact, bits"}
COMPACT_WORKS = (("life", "life", "u32", "`tmap_ca`, u32"),
                 ("stencil", "cyclic", "u8", "cyclic automaton, u8"),
                 ("stencil", "heat_4", "f32", "heat, own rule, 4 neighbours, f32"),
                 ("stencil", "heat_8", "f32", "heat, own rule, 8 neighbours, f32"),
                 ("diffusion", "heat_4", "f32", "`tmap_diffusion`, f32"),
                 ("diffusion", "heat_4", "f64", "`tmap_diffusion`, f64"),
                 ("ising", "metropolis", "i8", "`tmap_ising`, a sweep, i8"))


def compact_life(results, domain, variant, **want):
    """Rows of life by a variant of COMPACT_LIFE, of bytes or bits."""
    return results.pick(work="life", domain=domain, variant=variant,
                        dtype="bit" if "bits" in variant else "u8", **want)


def compact_domains(results, **want):
    found = {row["domain"] for row in results.pick(**want)}
    return [name for name in FRACTALS if name in found]


def compact_middle(results, domain, **want):
    """The largest level of a side of at most TOP_SIDE, or None."""
    return max((row["size"] for row in results.pick(domain=domain, **want)
                if side(domain, row["size"]) <= TOP_SIDE), default=None)


def compact_top(results, **want):
    """The row of the largest level."""
    return max(results.pick(**want), key=lambda row: row["size"], default=None)


def places(domain, size):
    """Of the matrix."""
    _, _, sx, sy = FRACTALS[domain]
    return (sx * sy)**size


def table_compact(data):
    """Life on all fractals at their largest level of a side up to TOP_SIDE."""
    results, rows = data["compact"], []
    for domain in compact_domains(results, work="life"):
        size = compact_middle(results, domain, work="life", variant="embedded")
        found = {name: least(compact_life(results, domain, name, size=size)) for name in COMPACT_LIFE}
        bits = found["compact_bits"]
        if not bits:
            continue
        rows.append([FRACTALS[domain][0], str(size), f"{bits['cells']:,}",
                     *(bold(ms(row)) if row is bits else ms(row) for row in found.values()),
                     *(sig(ratio(found[name], bits)) for name in ("bb", "bb_bits", "embedded")),
                     sig(bits["gcells"]), percent(bits)])
    return table(["fractal", "r", "cells", *COMPACT_LIFE.values(), "× BB walking", "× BB, bits",
                  "× embedded", "10^9 cells/s", "% of limit"], rows)


def table_compact_levels(data):
    """Life on the gasket at every level that was run."""
    results, rows = data["compact"], []
    for size in results.sizes("life", "gasket"):
        found = [least(compact_life(results, "gasket", name, size=size)) for name in COMPACT_LIFE]
        if not any(found):
            continue
        bits = found[-1]
        cells = next(row["cells"] for row in found if row)
        rows.append([str(size), str(side("gasket", size)), f"{cells:,}", *(ms(row) for row in found),
                     sig(bits["gcells"]) if bits else "-", percent(bits)])
    return table(["r", "n", "cells", *COMPACT_LIFE.values(), "10^9 cells/s, bits",
                  "% of limit, bits"], rows)


def table_compact_top(data):
    """The largest level of each fractal and element of which two states fit the memory."""
    results, rows = data["compact"], []
    kinds = (("life", "life", "bit", "compact_bits"), ("stencil", "cyclic", "u8", "compact"),
             ("stencil", "heat_8", "f32", "compact"))
    for domain in compact_domains(results, work="life"):
        for work, rule, dtype, variant in kinds:
            row = compact_top(results, work=work, rule=rule, domain=domain, dtype=dtype, variant=variant)
            if row:
                size = row["bytes_per_cell"] if dtype != "bit" else 1 / 8
                rows.append([FRACTALS[domain][0], dtype, str(row["size"]),
                             str(side(domain, row["size"])), f"{row['cells']:,}",
                             memory(row["bytes"]), memory(places(domain, row["size"]) * size),
                             sig(row["n2_bytes"] / row["bytes"]), ms(row), sig(row["gcells"]),
                             percent(row)])
    return table(["fractal", "element ", "r", "n", "cells", "a state", "a matrix", "matrix / state",
                  "ms a step", "10^9 cells/s", "% of limit"], rows)


def table_compact_works(data):
    """Other work at the largest level of a side up to TOP_SIDE, in a matrix and in compact storage,
    and at the largest level that fits."""
    results, rows = data["compact"], []
    for domain in compact_domains(results):
        for work, rule, dtype, title in COMPACT_WORKS:
            want = {"work": work, "rule": rule, "dtype": dtype, "domain": domain}
            size = compact_middle(results, domain, work=work, rule=rule, dtype=dtype,
                                  variant="compact")
            matrix, compact = (results.least(variant=name, size=size, **want)
                               for name in ("embedded", "compact"))
            top = compact_top(results, variant="compact", **want)
            if compact:
                rows.append([FRACTALS[domain][0], title, str(size), ms(matrix), bold(ms(compact)),
                             sig(ratio(matrix, compact)), percent(compact), str(top["size"]),
                             sig(top["gcells"]), percent(top)])
    return table(["fractal", "work ", "r", "matrix, ms", "compact, ms", "× matrix", "% of limit",
                  "largest r", "10^9 cells/s there", "% of limit there"], rows)


def table_compact_moves(data):
    """States from one storage to another."""
    results = data["compact"]
    titles = {"load": "matrix to compact", "store": "compact to matrix", "pack": "bytes to bits",
              "unpack": "bits to bytes"}
    rows = [[FRACTALS[row["domain"]][0], str(row["size"]), titles[row["variant"]], row["dtype"],
             ms(row), sig(row["gcells"]), percent(row)]
            for row in results.pick(work="move") if row["domain"] in FRACTALS]
    return table(["fractal", "r", "from, to ", "element ", "ms", "10^9 cells/s", "% of limit"], rows)


def table_compact_claims(data):
    """What is published of compact fractals, beside what was measured here; all of the gasket."""
    results = data["compact"]
    if not results.pick(work="life", domain="gasket"):
        return NOTHING

    def life(variant, dtype=None):
        return results.least(work="life", domain="gasket", variant=variant, size=15,
                           dtype=dtype or ("bit" if "bits" in variant else "u8"))

    def gain(slow, fast):
        found = ratio(slow, fast)
        return "-" if found is None else f"{sig(found)} times"

    def each(**rows):
        return ", ".join(f"{ms(row)} {name}" for name, row in rows.items() if row) or "-"

    def squeeze(slow, *forms):
        """Times of Squeeze's program here in blocks of 16 x 16, in brackets of 32 x 32; with `slow` how many times as
        fast they are. "" where it was not measured."""
        def number(form, rho):
            row, base = (data["peers_compact"].least(variant=f"squeeze_{name}", rho=rho) for name in (form, slow))
            return row and (sig(ratio(base, row)) if slow else ms(row))
        found = [[number(form, rho) for rho in (16, 32)] for form in forms]
        return f"; Squeeze {', '.join(f'{a} ({b})' for a, b in found)}" if all(map(all, found)) else ""

    words = {name: life(name, "u32") for name in ("embedded", "compact")}
    box, compact, bits = life("bb"), life("compact"), life("compact_bits")
    top = compact_top(results, work="life", domain="gasket", variant="compact_bits")
    small = results.least(work="life", domain="gasket", variant="compact", dtype="u8",
                        size=20)
    packed = results.least(work="life", domain="gasket", variant="compact_bits", dtype="bit", size=20)
    saved = small["n2_bytes"] / small["bytes"] if small else None
    rows = [
        claim("r = 15: a step by BB, ms", "6.80 on a Titan V, 5.04 on a Titan RTX",
              each(bytes=box) + squeeze(None, "bb"), None, "theirs are words"),
        claim("on the embedding by λ, ms", "1.76; 1.89",
              each(words=words["embedded"], bytes=life("embedded")) + squeeze(None, "lambda")),
        claim("on compact storage, ms", "by shuffles 1.99; 3.11, by tensor cores 1.49; 2.25",
              each(words=words["compact"], bytes=compact, bits=bits) + squeeze(None, "compact", "compact_mma"), None,
              "no tensor cores; neighbours take 2 or 3 levels on average, theirs all"),
        claim("the embedding by compact storage", "data: by shuffles 0.884; 0.608, by tensor cores 1.18; 0.840",
              f"{gain(words['embedded'], words['compact'])} with words" + squeeze("lambda", "compact", "compact_mma"),
              up_to([ratio(words["embedded"], words["compact"])], 1.18), "neighbours, as above"),
        claim("BB by compact storage", "up to about 12 times; data: by shuffles 3.41; 1.62, by tensor cores 4.56; 2.23",
              f"{gain(box, compact)} with bytes; bits: {gain(box, bits)} BB with bytes, "
              f"{gain(life('bb_bits'), bits)} BB with bits" + squeeze("bb", "compact", "compact_mma"),
              up_to([ratio(box, compact)], 12),
              "ours of bytes, where threads walk down columns; theirs of words"),
        claim("r = 20: a matrix by compact storage, bytes", "up to about 315 times",
              (f"{sig(saved)} times with an element a cell" if small else "-")
              + (f", {sig(packed['n2_bytes'] / packed['bytes'])} times with bits" if packed else ""),
              up_to([saved], 315), "(4 / 3)^20; 27 bits take a word of 32"),
        claim("the largest level", "-",
              f"r = {top['size']}: {top['cells']:,} cells of a bit, {memory(top['bytes'])} a state, "
              f"{ms(top)} ms a step" if top else "-"),
    ]
    return table(["Sierpinski gasket", "published ", *CLAIMS[2:]], rows)


def compact_grid(pyplot, results):
    """Axes for the first three fractals; the others look like one of them: (figure, [(axes, domain)])."""
    domains = compact_domains(results, work="life")[:3]
    figure, grid = pyplot.subplots(1, len(domains), figsize=(9, 4.4), squeeze=False, sharey=True)
    for axes, domain in zip(grid.flat, domains):
        axes.set_title(FRACTALS[domain][0])
        axes.set_yscale("log")
        axes.set_xlabel("r")
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure, list(zip(grid.flat, domains))


def draw_compact_speed(pyplot, data):
    """Cells a second against the level, each variant of life."""
    results = data["compact"]
    figure, grid = compact_grid(pyplot, results)
    for axes, domain in grid:
        for i, (name, title) in enumerate(COMPACT_LIFE.items()):
            points = [(row["size"], row["gcells"]) for row in compact_life(results, domain, name)]
            curve(axes, sorted(points), color=COLOURS[i], marker=MARKERS[i], label=title)
    grid[0][0].set_ylabel("10^9 cells a second")
    plain_ticks(grid[0][0].yaxis)
    most = max(row["gcells"] for _, domain in grid for row in compact_life(results, domain, "compact_bits"))
    title_of(figure, f"A step of life on the bits of compact storage: up to {sig(most / 1000)} × 10^12 cells a second",
             results)
    legend_below(figure, [axes for axes, _ in grid], 5)
    return figure


def draw_compact_memory(pyplot, data):
    """Bytes of a state that was run against those of a matrix."""
    results = data["compact"]
    figure, grid = compact_grid(pyplot, results)
    for axes, domain in grid:
        sizes = results.sizes("life", domain)
        for factor, title, style in ((1, "a matrix of bytes", "--"), (1 / 8, "a matrix of bits", ":")):
            curve(axes, [(size, places(domain, size) * factor) for size in sizes], color=GREY,
                  linestyle=style, label=title)
        for i, (name, title) in list(enumerate(COMPACT_LIFE.items()))[-2:]:
            points = [(row["size"], row["bytes"]) for row in compact_life(results, domain, name)]
            curve(axes, sorted(points), color=COLOURS[i], marker=MARKERS[i], label=title)
    grid[0][0].set_ylabel("bytes of a state")
    grid[0][0].yaxis.set_major_formatter(lambda value, _: memory(value))
    title_of(figure, "Compact storage needs less the higher the level: memory of a state", results)
    legend_below(figure, [axes for axes, _ in grid], 4)
    return figure

