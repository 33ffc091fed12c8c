# SPDX-License-Identifier: MIT
"""What subdivisions should take: by the paper's cost model, and by one that is fed with what
bench_ask measured.

The paper's model (papers/ask_model.h) has one cost A for all elements and one P. The other one rests
on two facts. Whether a region has several values is a property of the picture and not of the way
down to it, so that below N(D) regions of side D that are cut there are r^2 N(D) regions, of which
N(D / r) are cut. And the borders of these are elements of the N(D) regions as good as any, so that
they cost M(D) on average, as leaves of side d cost M(d). So one curve of N and M over the side of a
region (the rows "curve") says what any (g, r, B) counts; between its sides N is a straight line of
logarithms, the box-counting law, and M a straight line against the logarithm of the side.

A time is a sum of eleven rates times what is counted. The rates are fitted, by least squares on
relative errors with no rate below 0, to the few subdivisions that are run at every size.
"""
import functools
import math
from operator import mul

from .ask import ASK_NAMES, ASKS, ask_levels, ask_rows, parameters
from .text import bold, ms, sig, table

# Of bench/adaptive/ask_search.h: the candidates that every size runs.
FEW = {(2, 2, 16), (4, 4, 16), (8, 2, 16), (8, 4, 8), (8, 8, 16), (16, 2, 8), (16, 4, 16),
       (16, 4, 32), (32, 2, 16), (32, 2, 32), (32, 4, 16), (64, 2, 16), (64, 2, 32), (64, 4, 8),
       (32, 2, 8), (32, 4, 8), (128, 2, 16), (16, 4, 4), (64, 4, 4)}
SEARCHED = ("landscape", "sizes", "around")  # parts whose times are compared
SWEEPS = 20000  # how often the fit sets all rates
# What is counted: work and elements on borders, elements that are filled, elements and work of
# leaves, regions looked at, regions cut, levels, runs; and the elements of one region of each level
# and of one leaf, as a level ends no sooner than its slowest region.
KINDS = ("border_work", "leaf_work", "border_elements", "fill_elements", "leaf_elements", "regions",
         "cut", "levels", "once", "border_depth", "leaf_depth")


def place(row, side):
    """Points k - 1 and k of a curve, -1 being the whole domain, that have this side between them, or the
    last two; and where it lies, 0 at the first and 1 at the second, in the logarithm."""
    sides, k = row["side"], 0
    while k + 1 < len(sides) and side < sides[k]:
        k += 1
    left = sides[k - 1] if k else row["n"]
    if side == sides[k] or left <= sides[k]:
        return k, 1
    return k, math.log(left / side) / math.log(left / sides[k])


def regions_of(row, side):
    """N: how many regions of that side have several values."""
    if side >= row["n"]:
        return 1 if row["side"][0] < row["n"] else row["count"][0]
    k, t = place(row, side)
    a, b = row["count"][k - 1] if k else 1, row["count"][k]
    if t == 1:
        return b
    if a > 0 and b > 0:
        return a**(1 - t) * b**t
    return max(a * (1 - t) + b * t, 0)  # a line through a count of 0


def cost_of(row, side):
    """M: the mean work of an element in those regions."""
    if side >= row["n"]:
        return row["whole"] if row["side"][0] < row["n"] else row["mean"][0]
    k, t = place(row, side)
    if t >= 1:
        return row["mean"][k]
    return (row["mean"][k - 1] if k else row["whole"]) * (1 - t) + row["mean"][k] * t


def count(row, g, r, levels):
    """What a subdivision of n x n elements counts, by kind, where regions share the line between them and
    know the border of the one that they are cut from; and the part of all regions that is not
    uniform."""
    n, out = row["n"], dict.fromkeys(KINDS, 0)
    regions, cost, leaves = g * g, row["whole"], 0
    for level in range(levels):
        side = n / (g * r**level)
        several = min(regions_of(row, side), regions)
        inside = max(side - 1, 0)**2
        elements = (max(side * r - 1, 0)**2 / r**2 if level else side**2) - inside
        if regions > 0:
            out["regions"] += regions
            out["border_elements"] += regions * elements
            out["border_work"] += regions * elements * cost
            out["border_depth"] += elements
            out["fill_elements"] += (regions - several) * inside
            if level + 1 < levels:
                out["cut"] += several
            else:
                leaves = several
                out["leaf_elements"] = several * inside
                out["leaf_work"] = several * inside * cost_of(row, side)
                out["leaf_depth"] = inside if several > 0 else 0
        regions, cost = several * r * r, cost_of(row, side)
    out["levels"], out["once"] = levels, 1
    return [out[kind] for kind in KINDS], (out["cut"] + leaves) / out["regions"]


def fit(counted, times, sweeps=SWEEPS):
    """The rates by which these counts take these times: one after the other is set to its best value, over
    and over, which is a convex problem. Rates that the subdivisions cannot tell apart come out in
    some mixture."""
    scaled = [[c / time for c in row] for row, time in zip(counted, times)]
    columns = list(zip(*scaled))
    normal = [[sum(map(mul, a, b)) for b in columns] for a in columns]
    right = [sum(a) for a in columns]
    rates = [0.0] * len(columns)
    counting = [k for k in range(len(columns)) if normal[k][k] > 0]
    for _ in range(sweeps):
        for k in counting:
            left = right[k] - sum(map(mul, normal[k], rates)) + normal[k][k] * rates[k]
            rates[k] = max(left / normal[k][k], 0)
    return rates


def paper_steps(form, n, g, r, levels, cost, chance, cut=10, q=132, c=128):
    """Equations 23 (SBR) and 24 (MBR): the steps of q multiprocessors of c cores. cost: A; chance: P; cut:
    lambda."""
    reach, steps, parts, flat = 1, 0, g, math.ceil(n * n / (q * c))
    for _ in range(levels - 1):
        waves = math.ceil(parts * parts / q)
        if form == "ask_sbr":
            fill = math.ceil(n * n / (parts * parts * c))
            steps += reach * waves * (math.ceil(4 * cost * n / (parts * c)) + chance * cut * cost +
                                      (1 - chance) * fill)
        else:
            query = cost * math.ceil(4 * n / (parts * c))
            steps += reach * (waves * (query + chance * cut * cost) + (1 - chance) * flat)
        parts *= r
        reach *= chance
    if form == "ask_mbr":
        return steps + cost * reach * flat
    return steps + cost * reach * math.ceil(n * n / (parts * parts * c)) * math.ceil(
        parts * parts / q)


def prediction(form, curve, runs, rates, samples):
    """The subdivision of a size that should be the best, beside the best."""
    n, best = curve["size"], min(runs, key=lambda row: row["ms"])
    counted = [count(curve, row["g"], row["r"], ask_levels(row)) for row in runs]
    times = [sum(map(mul, rates, kinds)) for kinds, _ in counted]
    steps = [paper_steps(form, n, row["g"], row["r"], ask_levels(row), curve["whole"], chance)
             for row, (_, chance) in zip(runs, counted)]
    chosen, paper = (runs[values.index(min(values))] for values in (times, steps))
    errors = [max(time / row["ms"], 2 - time / row["ms"]) - 1 for time, row in zip(times, runs)]
    named = {f"{name}{key}": row[key] for name, row in (("", chosen), ("best_", best),
                                                        ("paper_", paper)) for key in "grB"}
    return {"work": "predict", "variant": form, "size": n, "candidates": len(runs),
            "samples": samples, "mean_error_pct": 100 * sum(errors) / len(errors),
            "predicted_ms": min(times), "ms": chosen["ms"], "best_ms": best["ms"],
            "ratio": chosen["ms"] / best["ms"], "paper_ratio": paper["ms"] / best["ms"],
            "measured": [row["ms"] for row in runs], "predicted": times, **named}


@functools.cache
def predictions(results):
    """Of both forms at each size; those that older results have are theirs."""
    if results.at("predict"):
        return results.at("predict")
    found, curves = [], {row["size"]: row for row in results.at("curve")}
    for form in ASKS:
        runs = [row for row in ask_rows(results, None, (form,))
                if row.get("part") in SEARCHED and row["size"] in curves]
        few = [row for row in runs if (row["g"], row["r"], row["B"]) in FEW]
        if not few:
            continue
        rates = fit([count(curves[row["size"]], row["g"], row["r"], ask_levels(row))[0]
                     for row in few], [row["ms"] for row in few])
        found += [prediction(form, curve, here, rates, len(few)) for n, curve in curves.items()
                  if (here := [row for row in runs if row["size"] == n])]
    return found


def table_ask_predict(data):
    """Predicted and measured best (g, r, B)."""
    rows = []
    for row in predictions(data["ask"]):
        rows.append([str(row["size"]), ASK_NAMES[row["variant"]], str(row["candidates"]),
                     parameters(row), sig(row["predicted_ms"]), ms(row),
                     f"({row['best_g']}, {row['best_r']}, {row['best_B']})", sig(row["best_ms"]),
                     bold(sig(row["ratio"])), f"{row['mean_error_pct']:.0f}",
                     f"({row['paper_g']}, {row['paper_r']}, {row['paper_B']})",
                     sig(row["paper_ratio"])])
    return table(["n", "form ", "candidates", "predicted best ", "predicted ms", "measured ms",
                  "measured best ", "its ms", "ratio", "mean error, %", "best of equations 23, 24 ",
                  "its ratio"], rows)
