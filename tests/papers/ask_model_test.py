#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plots/ask_model.py: counts of a subdivision by hand, rates from times of which they are known,
the paper's equations against figures of another program, and what the committed results have."""
import json
import math
import os
import sys

ROOT = os.environ.get("TMAP_ROOT") or \
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "bench"))

from plots.ask_model import (KINDS, cost_of, count, fit, paper_steps,  # noqa: E402
                             predictions, regions_of)
from plots.results import Results  # noqa: E402

FAULTS = []


def near(what, got, want, grant=1e-12):
    if not abs(got - want) <= grant * abs(want):
        FAULTS.append(f"{what}: {got!r}, not {want!r}")


def check_curve():
    """A power law, N = (n / d)^3, at every octave."""
    row = {"n": 1024, "whole": 100, "side": [512 / 2**k for k in range(10)],
           "count": [8**(k + 1) for k in range(10)], "mean": [95 - 5 * k for k in range(10)]}
    for side, regions, mean in zip(row["side"], row["count"], row["mean"]):
        near("N", regions_of(row, side), regions, 0)
        near("M", cost_of(row, side), mean, 0)
        near("N between", regions_of(row, side * math.sqrt(2)), regions / math.sqrt(8))
        near("M between", cost_of(row, side * math.sqrt(2)), mean + 2.5)
    near("N of the domain", regions_of(row, 1024), 1, 0)
    near("N below the last", regions_of(row, 0.25), row["count"][9] * 64)
    near("M below the last", cost_of(row, 0.25), row["mean"][9], 0)
    row["count"][9] = 0
    near("half way to nothing", regions_of(row, math.sqrt(2)), row["count"][8] / 2)
    near("nothing", regions_of(row, 0.5), 0, 0)


def check_counts():
    """All regions are cut, and the lines between them marked one by one; then one of four."""
    row = {"n": 96, "whole": 1, "side": [48, 16], "count": [4, 36], "mean": [1, 1]}
    lines = sum(x % 16 == 0 or y % 16 == 0 for y in range(96) for x in range(96))
    kinds, several = count(row, 2, 3, 2)
    got = dict(zip(KINDS, kinds))
    near("lines", got["border_elements"], lines)
    near("leaves", got["leaf_elements"], 96 * 96 - lines)
    near("all are cut", several, 1)
    row.update(count=[1, 5], whole=20, mean=[10, 4])
    got = dict(zip(KINDS, count(row, 2, 3, 2)[0]))
    for kind, want in (("regions", 4 + 9), ("cut", 1), ("levels", 2), ("once", 1),
                       ("fill_elements", 3 * 47**2 + 4 * 15**2), ("leaf_elements", 5 * 15**2),
                       ("leaf_work", 5 * 15**2 * 4), ("leaf_depth", 15**2),
                       ("border_elements", 4 * (48**2 - 47**2) + 47**2 - 9 * 15**2),
                       ("border_work", 20 * 4 * (48**2 - 47**2) + 10 * (47**2 - 9 * 15**2))):
        near(kind, got[kind], want)


def check_fit():
    """Times that are exactly of the form."""
    row = {"n": 1024, "whole": 200, "side": [512, 64, 8], "count": [3, 90, 1100],
           "mean": [180, 110, 50]}
    rates = [2e-3, 3e-3, 0, 1e-4, 0, 0.5, 30, 40, 100, 0, 0.02]
    counted = [count(row, g, r, levels)[0] for g in (2, 4, 8, 16) for r in (2, 4, 8)
               for levels in range(1, 5)]
    times = [sum(a * b for a, b in zip(kinds, rates)) for kinds in counted]
    fitted = fit(counted, times)
    for kinds, time in zip(counted, times):
        near("a fitted time", sum(a * b for a, b in zip(kinds, fitted)), time, 1e-3)


def check_paper():
    """Equations 22 to 25 with the figures that tests/kat/ask.txt has."""
    for form, n, g, r, levels, want in (
            ("ask_sbr", 65536, 32, 2, 6, 2.53183), ("ask_mbr", 65536, 32, 2, 6, 2.53183),
            ("ask_sbr", 1 << 24, 8, 2, 18, 5.30213), ("ask_mbr", 1 << 24, 8, 2, 18, 6.61798)):
        steps = paper_steps(form, n, g, r, levels, 8, 0.7, 100, 128, 64)
        near(form, 8 * math.ceil(n * n / (128 * 64)) / steps, want, 5e-6)


def check_results():
    """Older results have predictions of their own: the same."""
    with open(os.path.join(ROOT, "bench/results/h200/ask.json"), encoding="utf-8") as file:
        data = json.load(file)
    stored = [row for row in data["rows"] if row["work"] == "predict"]
    data["rows"] = [row for row in data["rows"] if row["work"] != "predict"]
    found = {(row["variant"], row["size"]): row for row in predictions(Results(data))}
    if not found:
        FAULTS.append("the committed results have no prediction")
    for row in stored:
        got = found[row["variant"], row["size"]]
        for key in ("g", "r", "B", "best_ms", "ms", "paper_g", "paper_r", "paper_B"):
            near(f"{key} of {row['variant']}, n = {row['size']}", got[key], row[key], 0)
        for a, b in zip(got["predicted"], row["predicted"]):
            near("a predicted time", a, b, 1e-3)


check_curve()
check_counts()
check_fit()
check_paper()
check_results()
print("\n".join(FAULTS) or "passed")
sys.exit(bool(FAULTS))
