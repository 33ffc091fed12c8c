#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot.py on results written here: speedups, n_0, gaps, markers, pictures.

Also: the rules of verdicts, and that the scripts of claims use them; the tables of documents are those
of the committed results. Tables need only the
standard library; pictures need matplotlib, and without it the test ends with 77 after the rest has
passed.
"""
import ast
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ.get("TMAP_ROOT") or \
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLOT = os.path.join(ROOT, "bench", "plot.py")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(PLOT))

import plot  # noqa: E402
from plots.baselines import OURS, baseline, called, elsewhere, place  # noqa: E402
from plots.choosing import CHOOSE, CHOOSING  # noqa: E402
from plots.fractals import table_meta, table_n0  # noqa: E402
from plots.results import (FRACTALS, Data, Results, n_0, space_improvement,  # noqa: E402
                           theory_n_0, theory_speedup)
from plots.sentences import SENTENCES, refresh, unknown  # noqa: E402
from plots.text import (NOTHING, UNKNOWN, below, between, claim, farthest, order, same, sig,  # noqa: E402
                        stated, up_to)

FAULTS = []


def expect(what, got, want):
    if got != want:
        FAULTS.append(f"{what}:\n  got  {got!r}\n  want {want!r}")


def row(work, variant, domain, size, ms, rho=32, limit_pct=50.0, **more):
    return {"work": work, "variant": variant, "domain": domain, "size": size, "rho": rho,
            "dtype": "u8" if work == "ca" else "i32",
            "ms": ms, "limit_ms": ms * limit_pct / 100, "limit_pct": limit_pct, "verified": True,
            **more}


# Of the gasket, SW: lambda is faster at r = 2, slower at 3, the engine faster from 4 on; BB walking has
# no row at r = 5, CA none at all. The vicsek is slower at its top. Other dtypes than i32 are no part
# of SW and RD, but of the engine's tasks.
ROWS = [
    row("sw", "bb", "gasket", 2, 2.0), row("sw", "lambda_shuffle", "gasket", 2, 1.0),
    row("sw", "bb", "gasket", 3, 4.0), row("sw", "bb_walk", "gasket", 3, 1.5),
    row("sw", "lambda_shuffle", "gasket", 3, 2.0),
    row("sw", "bb", "gasket", 4, 8.0), row("sw", "bb_walk", "gasket", 4, 4.0),
    row("sw", "list", "gasket", 4, 6.0, extra_bytes=324),
    row("sw", "lambda_shuffle", "gasket", 4, 2.5),
    row("sw", "lambda_shuffle", "gasket", 4, 2.0, 16),
    row("sw", "each", "gasket", 4, 2.2), row("sw", "each", "gasket", 4, 1.0, dtype="u8"),
    row("sw", "bb", "gasket", 5, 64.0, 1), row("sw", "bb", "gasket", 5, 32.0),
    row("sw", "each", "gasket", 5, 2.0, limit_pct=25.0),
    row("sw", "each", "gasket", 5, 0.5, limit_pct=40.0, dtype="u8"),
    row("update", "update", "gasket", 5, 3.0, dtype="f32"),
    row("rd", "fold", "gasket", 5, 1.5, dtype="f32"),
    row("rd", "fold", "gasket", 5, 1.25), row("rd", "list", "gasket", 5, 2.5),
    row("sw", "lambda_linear", "gasket", 5, 5.0),
    row("sw", "lambda_ballot", "gasket", 5, 8.0, 1),
    row("rd", "bb", "gasket", 4, 3.0), row("rd", "fold", "gasket", 4, 1.0, limit_pct=8.4),
    row("sw", "bb", "vicsek", 2, 1.0), row("sw", "each", "vicsek", 2, 4.0),
    row("sw", "list", "vicsek", 2, 2.0, extra_bytes=2000000),
    {"work": "dummy", "variant": "shuffle", "domain": "gasket", "size": 11, "ms": 0.2, "times": 64},
    {"work": "dummy", "variant": "shuffle", "domain": "gasket", "size": 16, "ms": 2.5},
    {"work": "dummy", "variant": "mma_linear", "domain": "gasket", "size": 16, "ms": 0.5},
    {"work": "dummy", "variant": "mma1", "domain": "gasket", "size": 16, "ms": 5.0},
]
META = {"bench": "fractal", "commit": "0123456789abcdef", "date": "2026-01-02", "gpu": "a GPU",
        "driver": "1", "cuda": "13.0", "sm_clock_mhz": 1000, "copy_tbs": 4.0, "fill_tbs": 4.5,
        "read_tbs": 4.25}
BLOCK = [
    row("sw", "block_table", "gasket", 4, 2.0, tiles_per_block=16, useful=0.5),
    {"work": "reduce", "variant": "shuffle", "domain": "block", "size": 256, "dtype": "f32",
     "ns_per_sum_and_sm": 61.26, "error_units": 0.014},
]
TRIANGLE = [
    {"work": "edm", "variant": "bb", "domain": "triangle", "size": 1024, "rho": 16, "ms": 2.0},
    {"work": "edm", "variant": "bb", "domain": "triangle", "size": 2048, "rho": 16, "ms": 9.0},
    {"work": "edm", "variant": "bb", "domain": "triangle", "size": 2048, "rho": 32, "ms": 8.0},
    {"work": "edm", "variant": "ltm_sqrt", "domain": "triangle", "size": 2048, "rho": 16, "ms": 4.0,
     "limit_pct": 90.0},
    {"work": "pdist", "variant": "ltm_sqrt", "domain": "triangle", "size": 4096, "ms": 1.0},
]


def mapped(variant, n, ms, d=0, rho=16, wasted=0):
    """A map with all that the paper's claims are read from; n / 16 rows of blocks, BB takes n / 1024."""
    gain, blocks = n / 1024 / ms, (n // rho)**2 if variant == "bb" else n // rho * (n // rho + 1) // 2
    return {"work": "edm" if d else "dummy", "variant": variant, "domain": "triangle", "size": n,
            "rho": rho, "d": d, "ms": ms, "blocks": blocks, "wasted_blocks": wasted,
            "partial_blocks": n // rho, "i": gain, "k": 2 / gain}


# LTM-R: I = 1.15 in the dummy, as in the paper, and 1.25 in EDM, where it says 1.12 to 1.15.
MAPS = [mapped(variant, n, n / 1024 / gain, d, wasted=7 if variant == "bb" else 0)
        for n in (1024, 8192, 65536) for d in range(5)
        for variant, gain in (("bb", 1), ("ltm_sqrt", 0.7), ("ltm_rsqrt", 1.25 if d else 1.15),
                              ("ltm_exact", 1.6), ("rb", 1.2), ("rec", n / 6000 if d else 0.5),
                              ("utm", 0.4), ("utm_blocks", 0.9))]


def terms(variant, n, ms, root=None, u=None, frames=2, **more):
    """A dRMSD of one pair of frames."""
    made = {"work": "drmsd", "variant": variant, "n": n, "frames": frames, "dtype": "f32", "ms": ms,
            "tpairs": n * (n - 1) / 2e9 / ms, "verified": True, **more}
    return {**made, "root": root, "u": u, "block": 128} if root else made


# 2D is best with u = 8 at the largest n and u = 1 at the smallest; many frames are other work.
DRMSD = [
    terms("pair", 1001, 0.01), terms("pair", 4001, 0.05, issue_pct=80.0, mufu_pct=75.0),
    terms("thread_a_pair", 4001, 1.0), terms("host", 1001, 0.5, cpu="a CPU", cores=1),
    terms("naive_1d", 4001, 0.4, "rsqrt", 2),
    terms("shared_1d", 1001, 0.02, "rsqrt", 1),
    terms("shared_1d", 4001, 0.1, "rsqrt", 1, float_pct=86.1, issue_pct=60.0),
    terms("triangle_2d", 1001, 0.01, "approx", 1), terms("triangle_2d", 1001, 0.02, "approx", 8),
    terms("triangle_2d", 1001, 0.02, "rsqrt", 1), terms("triangle_2d", 1001, 0.04, "rsqrt", 4),
    terms("triangle_2d", 4001, 0.075, "rsqrt", 1),
    terms("triangle_2d", 4001, 0.08, "approx", 4, read_bytes=5000),
    terms("shared_1d", 4001, 0.12, "approx", 4, read_bytes=2000),
    terms("sliding_1d", 4001, 0.2, "rsqrt", 1), terms("cached_2d", 4001, 0.1, "approx", 8),
    terms("triangle_2d", 4001, 0.04, "approx", 8, instructions=16.31, float_pct=98.1,
          issue_pct=90.0, mufu_pct=80.0, picojoules=400.0),
    terms("triangle_2d", 4001, 0.05, "rsqrt", 4, float_pct=96.1, issue_pct=85.0),
    terms("triangle_2d", 4001, 0.1, "reciprocal", 4), terms("triangle_2d", 4001, 0.2, "sqrt", 4),
    terms("frames", 8000, 0.001, frames=100),
]


def drawn(variant, n, ms, g=None, r=None, B=None, part="sizes", **more):
    """A picture of the Mandelbrot set."""
    made = {"work": "mandelbrot", "part": part, "variant": variant, "domain": "mandelbrot",
            "size": n, "ms": ms, "limit_pct": 40.0, "options": "none", "verified": True, **more}
    return {**made, "g": g, "r": r, "B": B, "differ": n // 64} if g else made


# DP is slower than ASK; the best ASK is by the captured driver at 1024; bulbs and energies are apart.
ASK = [
    drawn("exhaustive", 1024, 2.0, block="8x8"), drawn("exhaustive", 1024, 2.5, block="32x8"),
    drawn("unrolled", 1024, 1.0),
    drawn("ask_sbr", 1024, 0.5, 16, 2, 8, "landscape", driver="stream"),
    drawn("ask_sbr", 1024, 0.9, 8, 4, 8, "landscape", driver="stream"),
    drawn("ask_mbr", 1024, 0.6, 16, 2, 8, "landscape", driver="stream"),
    drawn("ask_mbr", 1024, 0.8, 8, 2, 16, "landscape", driver="stream"),
    drawn("ask_sbr", 1024, 0.55, 16, 2, 8, "best", driver="stream"),
    drawn("ask_sbr", 1024, 0.4, 16, 2, 8, "drivers", driver="captured"),
    drawn("ask_sbr", 1024, 0.1, 16, 2, 8, "options", driver="stream", options="bulbs"),
    drawn("unrolled", 1024, 0.3, part="options", options="bulbs"),
    drawn("dp_sbr", 1024, 1.6, 8, 2, 32, "dp"), drawn("dp_mbr", 1024, 1.2, 8, 2, 32, "dp"),
    drawn("dp_sbr", 1024, 0.7, 32, 2, 32, "dp"),  # one level: a flat grid
    drawn("dp_mbr", 1024, 0.75, 16, 4, 32, "dp"),
    drawn("exhaustive", 4096, 30.0), drawn("unrolled", 4096, 20.0),
    drawn("ask_mbr", 4096, 3.0, 16, 2, 8, driver="stream"),
    drawn("exhaustive", 4096, 0.01, part="energy", millijoules=9000.0),
    drawn("ask_mbr", 4096, 0.01, 16, 2, 8, "energy", millijoules=500.0),
    {"work": "dp_lost", "variant": "dp_mbr", "domain": "mandelbrot", "size": 1024, "g": 8, "r": 2,
     "B": 32, "launches_lost": 7, "pixels_lost": 1234567},
    {"work": "dp_lost", "variant": "dp_mbr", "domain": "mandelbrot", "size": 1024, "g": 4, "r": 2,
     "B": 32, "launches_lost": 0, "pixels_lost": 0},
    {"work": "levels", "variant": "ask_mbr", "domain": "mandelbrot", "size": 4096, "g": 16, "r": 2,
     "B": 64, "regions": [256, 400], "subdivided": [100, 0], "filled": [156, 90],
     "P": [0.390625, 0.775], "whole": 200.0, "border": 95.7, "leaf": 60.9, "omega": 11.0},
    {"work": "dp_lost", "variant": "dp_mbr", "domain": "mandelbrot", "size": 1024, "g": 32, "r": 2,
     "B": 32, "launches_lost": 9, "pixels_lost": 9999999},
    {"work": "predict", "variant": "ask_mbr", "domain": "mandelbrot", "size": 1024, "candidates": 2,
     "g": 16, "r": 2, "B": 8, "predicted_ms": 0.62, "ms": 0.6, "best_g": 16, "best_r": 2,
     "best_B": 8, "best_ms": 0.6, "ratio": 1.0, "mean_error_pct": 4.4, "paper_g": 8, "paper_r": 2,
     "paper_B": 16, "paper_ratio": 1.3333, "measured": [0.6, 0.8], "predicted": [0.62, 0.79]},
    *({"work": "theory", "variant": goal, "domain": "mandelbrot", "axis": axis, "parameter": name,
       "value": value, "x": [2, 4, 8], "y": [1, 2 * value, 3]}
      for goal in ("omega", "sbr", "mbr") for axis in "ngrB"
      for name, value in (("P", 0.5), ("A", 8), ("lambda", 10))),
]


def compacted(variant, size, ms, work="life", rule="life", dtype="u8", domain="gasket", **more):
    cells, width = 3**size, 2**size
    bits = dtype == "bit"
    bytes_of = {"u8": 1, "f32": 4, "u32": 4}.get(dtype)
    state = cells // 27 * 4 if bits else cells * bytes_of
    return {"work": work, "rule": rule, "variant": variant, "domain": domain, "size": size,
            "n": width, "dtype": dtype, "cells": cells, "ms": ms, "gcells": 1e-6 * cells / ms,
            "bytes": state, "n2_bytes": width**2 // 8 if bits else width**2 * bytes_of,
            "bytes_per_cell": state / cells, "limit_ms": ms / 4, "limit_pct": 25.0,
            "verified": True, **more}


# Levels 16, with all variants of life, and 20; heat in both storages at 16, compact alone at 18.
COMPACT = [
    compacted("bb", 16, 6.0), compacted("bb_bits", 16, 0.3, dtype="bit"),
    compacted("embedded", 16, 0.2), compacted("compact", 16, 0.15),
    compacted("compact_bits", 16, 0.03, dtype="bit"),
    compacted("bb", 15, 1.5), compacted("bb_bits", 15, 0.04, dtype="bit"), compacted("compact", 15, 0.05),
    compacted("compact", 15, 0.1, dtype="u32"), compacted("compact_bits", 15, 0.01, dtype="bit"),
    compacted("compact", 20, 12.0), compacted("compact_bits", 20, 2.0, dtype="bit"),
    compacted("embedded", 16, 0.5, "stencil", "heat_8", "f32"),
    compacted("compact", 16, 0.25, "stencil", "heat_8", "f32"),
    compacted("compact", 18, 2.0, "stencil", "heat_8", "f32"),
    {"work": "move", "variant": "pack", "domain": "gasket", "size": 16, "dtype": "bit",
     "cells": 43046721, "ms": 0.1, "gcells": 430.5, "limit_pct": 50.0, "verified": True},
]


def flooded(variant, given, mpix_s):
    return {"work": "flood", "variant": variant, "input": given, "size": 1024, "connectivity": 4,
            "dtype": "i16", "mpix_s": mpix_s, "limit_ms": 0.01, "ms": 1.0}


def blocks(variant, g, density, ms, domain="granularity", **more):
    return {"work": "label", "variant": variant, "domain": domain, "size": 2048, "granularity": g,
            "density": density, "connectivity": 8, "ms": ms, **more}


# Ours is the fastest in blocks of 1, on the mean of two densities, and BUF in blocks of 2. BKE has no row
# of one density. The peers' own row of ours is a control, and no row of the table.
GRANULARITY = [blocks("tmap_label", 1, 0, 0.1), blocks("tmap_label", 1, 50, 0.3),
               blocks("tmap_label", 2, 0, 0.1), blocks("tmap_label", 2, 50, 0.1)]
PEERS_GRANULARITY = [blocks("yacclab_bke", 1, 0, 0.01), blocks("yacclab_bke", 2, 0, 0.4),
                     blocks("yacclab_bke", 2, 50, 0.2), blocks("yacclab_buf", 1, 0, 0.05),
                     blocks("yacclab_buf", 1, 50, 0.45), blocks("yacclab_buf", 2, 0, 0.06),
                     blocks("yacclab_buf", 2, 50, 0.06), blocks("tmap_label", 1, 0, 0.001),
                     blocks("yacclab_buf_3d", 0, 0, 8.0, "volume", input="noise_50"),
                     blocks("yacclab_buf_3d", 0, 0, 7.0, "volume", input="balls")]
for volume in PEERS_GRANULARITY[-2:]:
    volume["connectivity"] = 26


# The line is slower on a map that is all wet than on terrain, and faster than in a maze.
FLOOD = [flooded("naive", "terrain", 1.0), flooded("line", "terrain", 300.0),
         flooded("line", "wet", 200.0), flooded("line", "maze", 20.0),
         flooded("tiles", "terrain", 450.0), flooded("uniform", "terrain", 225.0),
         flooded("regions", "terrain", 9000.0)]


def of(**benches):
    """Results from rows."""
    return Data((name, Results({"meta": META, "rows": rows})) for name, rows in benches.items())


def lines(name, data):
    """The rows of a table, as lists of cells."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in
            plot.TABLES[name](data).split("\n")[2:]]


def check_numbers(data):
    results = data["fractal"]
    expect("n_0, SW", n_0(results, "sw", "gasket"), (16, 32))
    expect("n_0, RD", n_0(results, "rd", "gasket"), (16, 16))
    expect("n_0, CA", n_0(results, "ca", "gasket"), (None, None))
    expect("n_0, vicsek", n_0(results, "sw", "vicsek"), (None, 9))
    claims = lines("drmsd-claims", data)
    expect("drmsd-claims", [line[2] for line in claims], [
        "85%", "96%", "86%", "u = 4",
        "0.500 times as fast at n = 1001, 1.50 at n = 4001", "2.00 times as fast",
        "2.00 times as fast", "1.25 times as fast",
        "4.00 times as fast with x rsqrt(x)", "40.0% with `sqrt.approx`", "0.500 times as fast with x rsqrt(x)",
        "2.00 times as fast at n = 1001, 2.50 at n = 4001; at most 2.50, at n = 4001",
        "2.50 times (u = 4)",
        "-"])
    expect("drmsd-claims, verdicts", [line[3] for line in claims], [
        "agrees", "agrees", "agrees", "agrees", "agrees", "agrees", "more", "-",
        "-", "less", "agrees", "differs", "agrees", UNKNOWN])
    cpu = {"cpu": Results({"meta": {"cpu": "a CPU, 8 threads"}, "rows": [
        {"work": "drmsd", "variant": "openmp", "size": size, "threads": 8, "ms": 2.0}
        for size in (1001, 4001, 9000)]})}
    expect("the host's cores", [line[1:4] for line in lines("drmsd-claims", Data({**data, **cpu}))
                                if line[0] == "one dRMSD against the cores of a CPU, n = 4001"],
           [["62.7 times ClusCo on a Core i7-3820", "40.0 times as fast (a CPU, 8 threads)", UNKNOWN]])
    beside = of(flood=[flooded("regions", "terrain", 9000.0)], peers_flood=[
        {**flooded(name, "terrain", 1.0), "ms": time}
        for name, time in (("opencv_components", 5.0), ("opencv_flood_fill", 2.0), ("unnamed", 1.0))])
    expect("others", lines("others", beside), [
        ["flood, terrain", "1,024²", "**1.00**", "OpenCV, CPU", "2.00", "2.00"]])
    check_search(data)
    expect("compact-claims", [line[2] for line in lines("compact-claims", data)], [
        "1.50 bytes", "-", "0.100 words, 0.0500 bytes, 0.0100 bits", "- with words",
        "30.0 times with bytes; bits: 150 times BB with bytes, 4.00 times BB with bits",
        "315 times with an element a cell, 266 times with bits",
        "r = 20: 3,486,784,401 cells of a bit, 517 MB a state, 2.00 ms a step"])
    expect("compact-claims, verdicts",
           [line[3] for line in lines("compact-claims", data)],
           ["-", "-", "-", "-", "more", "agrees", "-"])
    squeeze = of(compact=COMPACT, peers_compact=[
        compacted(f"squeeze_{form}", 15, time * rho, rho=rho) for rho in (16, 32)
        for form, time in (("bb", 0.5), ("lambda", 0.05), ("compact", 0.1), ("compact_mma", 0.025))])
    expect("Squeeze", [line[2].rpartition("; ")[2] for line in lines("compact-claims", squeeze)][:5], [
        "Squeeze 8.00 (16.0)", "Squeeze 0.800 (1.60)", "Squeeze 1.60 (3.20), 0.400 (0.800)",
        "Squeeze 0.500 (0.500), 2.00 (2.00)", "Squeeze 5.00 (5.00), 20.0 (20.0)"])
    expect("flood-claims", [line[2:4] for line in lines("flood-claims", of(flood=FLOOD))], [
        ["9000 Mpix/s (terrain, 1024²), 1.0% of the memory's limit", UNKNOWN], ["-", "-"],
        ["300 Mpix/s (terrain, 1024²), 1.0% of the memory's limit", "agrees"],
        ["20 Mpix/s (maze, 1024²), 1.0% of the memory's limit", "differs"],
        ["1.50 times (terrain, 1024²)", "agrees"], ["0.50 times (terrain, 1024²)", "differs"],
        ["-", "-"],
        ["1 Mpix/s (terrain, 1024²), 1.0% of the memory's limit", "agrees"],
        ["9000 times: `regions` from scratch by naive, terrain, 1024²", "agrees"]])
    counted = [{**flooded(name, "terrain", 300.0), "size": 16384, "read_bytes": 2**28 * cells}
               for name, cells in (("line", 20), ("tiles", 5), ("regions", 2))]
    for more, judged in (([], "agrees"), ([{**counted[0], "variant": "uniform", "read_bytes": 2**34}],
                                          "differs")):
        expect("bytes of floods", [line[2:4] for line in lines("flood-claims", of(
            flood=FLOOD + counted + more)) if line[0].startswith("bytes")], [
            ["line 20.0, tiles 5.00, " + ("uniform 64.0, " if more else "")
             + "regions 2.00 bytes a cell", judged]])
    ours = of(granularity=GRANULARITY)
    both = of(granularity=GRANULARITY, peers_granularity=PEERS_GRANULARITY)
    expect("granularity, ours", lines("granularity", ours),
           [["`tmap_label`", "**0.200**", "**0.100**", "**0.150**"]])
    expect("granularity", lines("granularity", both), [
        ["`tmap_label`", "**0.200**", "0.100", "**0.150**"], ["BUF", "0.250", "**0.0600**", "0.155"],
        ["BKE", "-", "0.300", "-"]])
    expect("granularity, theirs alone", plot.TABLES["granularity"](
        of(peers_granularity=PEERS_GRANULARITY)), NOTHING)
    volumes = [{**blocks("label3", 0, 0, 1.0, "volume", input=given), "connectivity": 26}
               for given in ("noise_50", "noise_31", "balls")]
    expect("label3", [line for line in lines("label3", of(
        peers_granularity=PEERS_GRANULARITY, label3=volumes)) if "26" in line], [
        ["512³", "26", "1.00", "1.00", "1.00"], ["512³, YACCLAB's BUF_3D", "26", "8.00", "-", "7.00"]])
    # Equation 10: parallel space 4^r / 3^r, and the least speedup where theory_n_0 says.
    expect("parallel space", round(space_improvement("gasket", 2**10), 9),
           round((4 / 3)**10, 9))
    expect("speedup in theory", round(theory_speedup("gasket", 2**16), 9),
           round((4 / 3)**16 / 4, 9))
    for domain in FRACTALS:
        n = theory_n_0(domain)
        at, below, above = (theory_speedup(domain, n * f) for f in (1, 0.99, 1.01))
        if not at < min(below, above):
            FAULTS.append(f"theory_n_0 of {domain} is no minimum: {n}")
    expect("digits", [sig(v) for v in (None, 0, 1234.5, 99.96, 0.0123456, math.pi)],
           ["-", "0", "1234", "100.0", "0.0123", "3.14"])


def check_search(data):
    """What a search adds: no bounds any more, tables of their own. And the claims of both papers."""
    rows = data["ask"].rows + [
        {"work": "optimum", "variant": variant, "domain": "mandelbrot", "size": 1024, "g": 8, "r": 2,
         "B": 32, "levels": 2, "ms": 1.5, "tried": 30, "neighbours": 9, "measured": 8}
        for variant in ("dp_sbr", "flat")] + [
        drawn("dp_sbr", 1024, 1.5, 8, 2, 32, "blocks", levels=2, children=46, threads=512),
        drawn("flat", 1024, 0.65, 32, 2, 16, "blocks", levels=1, children=0, threads=64)]
    rows += [
        drawn("published_exhaustive", 1024, 4.0, part="published"),
        drawn("published_ask_sbr", 1024, 0.4, 32, 2, 32, "published"),
        drawn("published_ask_sbr", 1024, 0.5, 16, 4, 16, "published"),
        drawn("published_ask_mbr", 1024, 0.8, 32, 2, 32, "published"),
        drawn("published_dp_sbr", 1024, 1.0, 8, 4, 32, "published"),
        drawn("published_dp_sbr", 1024, 2.0, 32, 2, 32, "published"),
        drawn("published_dp_mbr", 1024, 0.5, 8, 2, 32, "published"),
        drawn("published_ask_sbr_run", 1024, 0.6, 32, 2, 32, "published"),
        drawn("published_dp_sbr_run", 1024, 1.5, 8, 4, 32, "published"),
        drawn("graph_conditional", 1024, 0.2, 32, 2, 32, "published")]
    searched = of(ask=rows)
    expect("searched", lines("ask", searched)[0][3:6], ["0.650", "1.50", "≤ 1.20"])
    expect("ask-dp, searched", lines("ask-dp", searched)[0],
           ["1024", "(8, 2, 32)", "2", "46", "1.50", "(8, 2, 32)", "2", "-", "≤ 1.20", "32 × 32",
            "0.650", "1.85"])
    expect("ask-optima", plot.TABLES["ask-optima"](searched).split("\n")[-2:], [
        "| 1024 | DP-SBR | (8, 2, 32) | 2 | 1.50 | 30 | 8 of 9 |",
        "| 1024 | flat grid | (8, 2, 32) | 2 | 1.50 | 30 | 8 of 9 |"])
    expect("ask-blocks", plot.TABLES["ask-blocks"](searched).split("\n")[-1],
           "| 1024 | 8 × 8 (2.00) | 64 (0.650) | 512 (1.50) | - | - | - |")
    claims = {line[0]: line for line in lines("ask-claims", searched)}
    expect("ASK against exhaustive", claims["ASK against exhaustive"][2:4],
           ["10.0 at n = 1024 as published; ours 10.0 at n = 4096, 6.67 against a test in 32 steps",
            "agrees"])
    expect("DP against exhaustive", claims["DP against exhaustive"][3], "agrees")  # 8.00 of 7.5
    expect("ASK against DP", claims["ASK against DP"][3], "less")  # 1.25
    expect("SBR", claims["Fig. 8: ASK-SBR is ahead of DP-SBR"][3], "agrees")
    expect("the authors' code", claims["the same, as the authors' code has both"][2:4],
           ["2.50 to 2.50 times; times as long as the forms as described: ASK 1.50 to 1.50, DP 1.50 to 1.50", "agrees"])
    expect("MBR", claims["Fig. 8: ASK-MBR is ahead of DP-MBR"][3], "differs")  # 0.625
    expect("optimum", claims["Fig. 7: the best (g, r, B), ASK-SBR"][3], "agrees")
    expect("optimum of DP", claims["Fig. 7: the best (g, r, B), DP-SBR"][3], "more")
    expect("r", claims["Fig. 8, third row: the best r is small"][3], "more")
    expect("graph", claims["the level loop in a conditional node of a CUDA graph"][2:4],
           ["2.00 to 2.00 times as fast as ASK-SBR with the host's loop, "
            "2.50 to 2.50 times as fast as DP, n = 1024 to 1024", "-"])
    expect("block of DP", claims["Table 2: the best block, DP-SBR"][2:4], ["ours 512 threads", "agrees"])
    expect("P", claims["section 4.2.1: P is the same at all levels"][3], "differs")
    expect("model", claims["Figs. 3, 4 against 8: the model finds the best (g, r, B)"][3], "differs")
    data = of(triangle=MAPS)
    claims = {line[0]: line for line in lines("triangle-claims", data)}
    expect("LTM-X", claims["Fig. 3: LTM-X, dummy"][1:4], ["I = 0.7; data 0.836", "0.700", "agrees"])
    expect("LTM, dummy", claims["Fig. 5: LTM, dummy"][2:4], ["1.15 to 1.15, mean 1.15", "agrees"])
    expect("LTM, EDM", claims["Fig. 5: LTM, EDM"][2:4], ["1.25 to 1.25, mean 1.25", "agrees"])
    expect("REC, EDM", claims["Fig. 5: REC, EDM"][2:4], ["0.171 to 1.37, mean 0.768", "more"])
    expect("REC, crossing", claims["Fig. 5: REC, EDM: from where on"][2:4],
           ["between N = 1024 and 8192 (d = 1, 2, 3, 4)", "agrees"])
    expect("UTM, EDM", claims["Fig. 5: UTM, EDM"][2:4],
           ["0.400 to 0.400, mean 0.400; the slowest from N = 4096 on; REC is slower at N = 1024, d = 1, 2, 3, 4",
            "differs"])
    expect("RB, dummy", [claims[f"Fig. 5: RB{name}"][2:4] for name in (", dummy", " is the fastest, dummy")],
           [["1.20 to 1.20, mean 1.20", "agrees"], ["1.04 to 1.04 times the speed of LTM-R", "agrees"]])
    title = "Fig. 5: I from one feature to four, N = 8192"
    expect("features", [line[3] for line in lines("triangle-claims", data) if line[0] == title],
           ["agrees", "less", "-"])
    own = [{**found, "variant": f"published_{found['variant']}", "i": found["i"] * (2 if found["variant"] == "utm" else 1)}
           for found in MAPS if found["d"] and found["variant"] in ("bb", "ltm_rsqrt", "rb", "rec", "utm")]
    theirs = {line[0]: line for line in lines("triangle-claims", of(triangle=MAPS + own))}
    expect("UTM, EDM, as published", [theirs["Fig. 5: UTM, EDM, as published"][2:4], "Fig. 5: UTM, EDM" in theirs], [
        ["0.800 to 0.800, mean 0.800; the slowest from N = 4096 on; REC is slower at N = 1024, d = 1, 2, 3, 4",
         "differs"], False])
    expect("rows as published", [len(theirs) - len(claims), theirs["Fig. 5: RB, dummy"] == claims["Fig. 5: RB, dummy"],
                                 theirs["Fig. 5: LTM, EDM, as published"][1].split("; ")[1]],
           [0, True, "data 1.10 to 1.18, mean 1.13"])
    more = [{**mapped(variant, 8192, 8 / gain), "work": work} for work in ("zero", "edm_shared")
            for variant, gain in (("h", 1.7), ("ltm_rsqrt", 1.4), ("rb", 1.5), ("rec", 1.2))]
    more += [mapped("h", 8192, 8 / 3.0)]
    theirs = {line[0]: line for line in lines("triangle-claims", of(triangle=MAPS + more))}
    expect("map H", [theirs[name][2:4] for name in theirs if "map H" in name or "I of" in name or "shared" in name], [
        ["1.70 (the map alone) to 3.00 (dummy)", "more"],
        ["1.13 to 1.88 times the speed of the fastest other map", "differs"],
        ["the map alone 1.40, 1.50, 1.20, -", "-"], ["LTM-R 1.40, RB 1.50, REC 1.20", "differs"]])
    expect("k", claims["equations 13 to 15: I < 2, k >= 1"][3], "agrees")  # in their set-up
    expect("no map without conditionals", "conclusion: and needs no conditionals" in claims, False)
    expect("triangle-waste", lines("triangle-waste", data)[0],
           ["1024", "7", "0", "0", "-", "0", "0", "0", "0"])
    expect("triangle-k", lines("triangle-k", data)[0],
           ["dummy", "16", "3.81", "4.77", "1.60", "1.25"])


def check_documents(data):
    text = "a\n<!-- table: n0 -->\nold\nold\n<!-- /table -->\nb\n" \
           "<!-- picture: theory -->\n<!-- /picture -->\n<!-- picture: triangle_speedup -->\n" \
           "<!-- /picture -->\n"
    filled = plot.refill(text, Data(fractal=data["fractal"]))
    expect("refilled", filled, "a\n<!-- table: n0 -->\n" + table_n0(data) +
           "\n<!-- /table -->\nb\n<!-- picture: theory -->\n"
           "![Speedup in theory, and measured](img/theory.png)\n<!-- /picture -->\n"
           f"<!-- picture: triangle_speedup -->\n{NOTHING}\n<!-- /picture -->\n")
    expect("refilled twice", plot.refill(filled, Data(fractal=data["fractal"])), filled)
    for wrong in ("<!-- table: none -->\n<!-- /table -->\n", "<!-- table: n0 -->\nrest\n",
                  "<!-- table: n0 -->\n<!-- table: n0 -->\n<!-- /table -->\n"):
        try:
            plot.refill(wrong, data)
            FAULTS.append(f"refilled: {wrong!r}")
        except ValueError:
            pass
    for name, make in plot.TABLES.items():
        expect(f"{name} of nothing", make(Data()),
               "" if name in (
                   "ask-optima", "ask-blocks", "ask-insert", "ask-order") else NOTHING)
    committed = plot.load(os.path.join(ROOT, "bench", "results", "h200"))
    for name in plot.DOCUMENTS:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        images = os.path.relpath(os.path.join(ROOT, "docs", "img"),
                                 os.path.dirname(os.path.join(ROOT, name)))
        if plot.refill(text, committed, images) != text:
            FAULTS.append(f"{name} is not up to date: bench/plot.py --update")


def quickest(rows, row):
    """The time of the quickest of these rows that is no call of the library and does the work of `row`."""
    where, mine = place(row)
    return min((other["ms"] for other in rows if "ms" in other and other.get("variant") not in (None, *OURS)
                and not elsewhere(other) and other.get("part") != "energy" and place(other)[0] == where
                and all(mine[key] == value for key, value in place(other)[1].items() if key in mine)),
               default=None)


def check_baselines():
    """README.md and docs/choosing.md compare with the quickest row of all committed results of one GPU."""
    made = of(
        fractal=[row("sw", "each", "gasket", 4, 1.0), row("sw", "bb", "gasket", 4, 5.0),
                 row("sw", "bb_walk", "gasket", 4, 0.1, dtype="u8"), row("sw", "list", "gasket", 5, 0.1),
                 row("ca", "life", "gasket", 4, 1.0), row("ca", "list", "gasket", 4, 6.0)],
        fig11=[row("sw", "bb", "gasket", 4, 4.0)], block=[row("sw", "block_unroll", "gasket", 4, 3.0)],
        compact=[compacted("bb", 4, 5.0), compacted("embedded", 4, 0.1)],
        drmsd=[terms("pair", 64, 1.0), terms("thread_a_pair", 64, 9.0), terms("triangle_2d", 64, 0.5, "approx", 4),
               terms("frames", 64, 0.1, frames=9), terms("host", 64, 0.1, cpu="a CPU", cores=1)],
        flood=[flooded("regions", "terrain", 9000.0), {**flooded("line", "terrain", 1.0), "ms": 3.0}],
        peers_flood=[{**flooded("cupy_label", "terrain", 1.0), "ms": 2.0, "device": "cuda"},
                     {**flooded("opencv_flood_fill", "terrain", 1.0), "ms": 0.1, "device": "cpu"},
                     {**flooded("cupy_label", "maze", 1.0), "ms": 0.1}])
    expect("quickest baselines", [called(baseline(made, made[bench].rows[index])) for bench, index in (
        ("fractal", 0), ("fractal", 4), ("drmsd", 0), ("flood", 0))], [
        "the paper's tiles, unrolled", "bounding box", "the slides' tiles, 2D", "CuPy, `ndimage.label`"])

    folder, rows = os.path.join(ROOT, "bench", "results", "h200"), []
    committed = plot.load(folder)
    for file in sorted(os.listdir(folder)):
        if file.endswith(".json"):
            with open(os.path.join(folder, file), encoding="utf-8") as results:
                rows += json.load(results).get("rows", [])
    for page, makers in (("README.md", [make for _, make in CHOOSE]),
                         ("docs/choosing.md", CHOOSING.values())):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = file.read()
        for title, call, size, ours, base in (found for make in makers for found in make(committed)):
            least = quickest(rows, ours) if "work" in ours else base["ms"]
            # README.md has the ratio and the other way's name, docs/choosing.md its time.
            start, end = (rf"\| \[{re.escape(title)}\]\(\S+\)", f"**{sig(least / ours['ms'])}**: {called(base)}") \
                if page == "README.md" else (rf"\| {re.escape(title)}", sig(least))
            line = next((line for line in text.split("\n")
                         if re.match(rf"{start} \| `{call}` \| {re.escape(size)} \|", line)), "")
            if f"| {end} |" not in line:
                FAULTS.append(f"{page}: the quickest other way than `{call}`, {title}, {size}, takes "
                              f"{sig(least)} ms: {line or 'no such line'}")


def check_sentences():
    """The measured numbers in sentences are those of the committed results, and docs/papers.md has no
    other ones."""
    committed = plot.load(os.path.join(ROOT, "bench", "results", "h200"))
    for page in SENTENCES:
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = file.read()
        try:
            if refresh(page, text, committed, plot.TABLES) != text:
                FAULTS.append(f"{page} has sentences with old numbers: bench/plot.py --update")
        except ValueError as error:
            FAULTS.append(str(error))
        if page == "docs/papers.md":
            expect("numbers of docs/papers.md without a source", unknown(page, text), [])
            changed = re.sub(r"published \S+ \(SW\)", "published 0.01 (SW)", text) + "It is 3.25."
            expect("an old number is found", refresh(page, changed, committed, plot.TABLES) != changed, True)
            expect("a new number is found", len(unknown(page, changed)), 1)


def command(*args):
    done = subprocess.run([sys.executable, PLOT, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_command(data, folder):
    status, out, _ = command("--tables", "--results", folder)
    expect("--tables", (status, all(f"{name}:\n\n{make(data)}\n" in out
                                    for name, make in plot.TABLES.items())), (0, True))
    page = os.path.join(folder, "docs", "page.md")
    os.mkdir(os.path.dirname(page))
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!-- table: meta -->\n<!-- /table -->\n")
    expect("--update", command("--results", folder, "--update", page)[0], 0)
    with open(page, encoding="utf-8") as file:
        expect("page", file.read(), f"<!-- table: meta -->\n{table_meta(data)}\n"
               "<!-- /table -->\n")
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!-- table: meta -->\n<!-- /table -->\n")
    pictures = os.path.join(folder, "img")
    status, out, _ = command("--results", folder, "--out", pictures, "--all", "--update", page)
    drawn = sorted(os.listdir(pictures)) if os.path.isdir(pictures) else []
    expect("--all draws",
           (status, sorted(os.path.basename(path) for path in out.split()), bool(drawn)),
           (0, drawn, True) if importlib.util.find_spec("matplotlib") else (1, [], False))
    with open(page, encoding="utf-8") as file:
        expect("--all refills", table_meta(data) in file.read(), True)
    status, _, said = command("--results", os.path.join(folder, "missing"))
    expect("no results", (status, said.startswith("plot.py: no results")), (2, True))
    with open(os.path.join(folder, "docs", "fractal.json"), "w", encoding="utf-8") as file:
        file.write("{")
    expect("broken results", command("--tables", "--results", os.path.join(folder, "docs"))[0], 2)


def check_claims():
    """Of the fractals' paper: a block for each tile is faster from r = 9 on with rho = 32, but not at 10,
    and from 8 on with rho = 4; no row of CA; variant 2 in half precision, and of variant 1 none. The
    published launch of section 5 is in the other run."""
    tiles = {"tiles_per_block": 1}
    rows = [row("sw", name, "gasket", size, time, rho) for name, size, time, rho in (
        ("bb", 8, 2.0, 4), ("lambda_block", 8, 1.0, 4), ("bb", 9, 2.0, 32),
        ("lambda_block", 9, 1.0, 32), ("bb", 10, 2.0, 32), ("lambda_block", 10, 2.5, 32),
        ("bb", 16, 80.0, 4), ("lambda_block", 16, 1.0, 4), ("bb", 16, 7.0, 32),
        ("lambda_block", 16, 1.4, 32), ("lambda_block", 16, 0.8, 16), ("lambda_shuffle", 16, 0.5, 16))]
    rows += [row("sw", "wmma_fp16", "gasket", 16, 0.64, 16, form=2, **tiles),
             row("sw", "wmma_fp16", "gasket", 16, 0.1, 16, form=2, tiles_per_block=16),
             row("sw", "wmma_fp16", "gasket", 16, 1.6, 16, form=3, **tiles),
             row("sw", "mma2", "gasket", 16, 0.5, 16, **tiles),
             row("sw", "mma1", "gasket", 16, 0.5, 16, **tiles),
             row("rd", "lambda_block", "gasket", 7, 1.5, 16)]
    block = [row("rd", f"block_{name}", "gasket", 7, time, 16, **tiles)
             for name, time in (("unroll", 1.0), ("table", 2.0), ("subbox", 3.0))]
    hashes = [row("hash", variant, domain, 7, time, 16, part=part)
              for domain, part, variant, time in (
                  ("gasket", "launch", "arithmetic", 2.0), ("gasket", "launch", "table_constant", 3.0),
                  ("gasket", "map", "arithmetic", 1.0), ("gasket", "map", "table_constant", 2.0),
                  ("gasket", "map", "table_shared", 0.5), ("candy", "map", "arithmetic", 1.0),
                  ("candy", "map", "table_constant", 4.0))]
    expect("hashes", lines("fractal-forms", of(block=hashes)), [
        ["arithmetic hash × H[] in constant memory, SW", "gasket 1.50"],
        ["arithmetic hash × H[] in constant memory, map alone", "gasket 2.00, candy 4.00"],
        ["arithmetic hash × H[] in shared memory, map alone", "gasket 0.500"]])
    expect("section 5", lines("fractal-forms", of(fractal=rows, block=block)), [
        ["unrolling, table × the published launch, ρ = 16, 1 tile a block, RD, n = 128",
         "1.50, 0.750 (× sub-boxes in the same kernel: 3.00, 1.50)"]])
    got = lines("fractal-claims", of(fractal=rows))
    expect("their data", got[1][1], "6 to 12; data 6.16 (V), 6.16 (R)")
    expect("fractal-claims", [[line[1].split("; data ")[0], *line[2:4]] for line in got], [
        ["32", "32", "agrees"], ["6 to 12", "5.00", "agrees"], ["up to 75", "SW 80.0 (ρ = 4)", "agrees"],
        ["up to 9", "SW 8.75", "agrees"], ["16", "16", "agrees"],
        ["with some ρ only", "from n = SW -, -, 256, -, -, 65536", "differs"],
        ["yes", "SW 256 to 65536", "agrees"], ["512", "SW 1024", "differs"],
        ["up to 20%", "+25.0%, - (+60.0%, -)", "more"],
        ["up to 40%", "+25.0%, - (+60.0%, -)", "less"],
        ["slower", "-50.0%, -", "agrees"],
        ["up to 40%", "+25.0 to +25.0%, faster in 1 of 1", "less"]])
    own = [row("sw", f"published_{name}", "gasket", 16, time, rho, dtype="u8") for name, time, rho in (
        ("bb", 9.0, 32), ("lambda", 1.0, 32), ("bb", 8.0, 16), ("lambda", 4.0, 16))]
    one = [row("sw", "published_wmma1", "gasket", 16, 3.2, 16, dtype="u8")]
    expect("variant 1, as published", [line[:4] for line in lines("fractal-claims", of(fractal=own + one, fig11=rows))
                                       if "variant 1 over" in line[0]], [
        ["variant 1 over shuffles, SW, Titan RTX, as published", "faster; data +4.8%, +7.0%", "+25.0%, -", "agrees"]])
    expect("fractal-claims, as published", [[line[0], *line[1].split("; data ")[1:], *line[2:4]] for line in lines(
        "fractal-claims", of(fractal=own, fig11=rows)) if "best ρ" in line[0] or "ρ = 32" in line[0] or "most" in line[0]], [
        ["best ρ of BB, SW, as published", "16", "less"],
        ["× BB, ρ = 32, as published, SW", "6.16 (V), 6.16 (R)", "9.00", "agrees"],
        ["× BB, the most with one ρ for both, as published",
         "SW 42.0 (V), 25.9 (R), RD 29.6 (R), ρ = 8, none smaller", "SW 9.00 (ρ = 32)", "-"],
        ["× BB, each with its best ρ, as published", "SW 8.49 (V), 8.56 (R), RD 17.7 (R)", "SW 8.00", "agrees"],
        ["best ρ of λ, as published, SW", "16 (V), 8 (R)", "32", "more"],
        ["× BB, ρ = 32, tiles, SW", "5.00", "-"],
        ["× BB, the most with one ρ for both, tiles", "SW 80.0 (ρ = 4)", "agrees"],
        ["× BB, each with its best ρ, tiles", "SW 8.75", "-"]])
    volume = [row("sw", "bb", "dust", 4, 9.0, 0, millijoules=80.0), row("sw", "each", "dust", 4, 0.5, 0, millijoules=10.0),
              row("sw", "each", "dust", 5, 0.1, 0), row("rd", "bb", "dust", 4, 6.0, 0), row("rd", "fold", "dust", 4, 0.5, 0),
              row("sw", "bb", "menger", 1, 0.01, 0), row("sw", "each", "menger", 1, 0.01, 0)]
    expect("the box, a thread for each place", [line[2:4] for line in lines("fractal-claims", of(fractal3=volume))], [
        ["dust 18.0/12.0 (write/sum; energy 8.00 to 8.00)", "cannot be known"]])
    ltl = [{**row("ltl", variant, "board", 64, time), "radius": r} for variant, r, time in (
        ("box", 1, 2.0), ("box", 16, 300.0), ("sums", 1, 1.0), ("sums", 16, 3.0))]
    expect("our automata", [line[2:4] for line in lines("fractal-claims", of(ltl=ltl))], [
        ["ours 2.00 (r = 1), 100 (r = 16), n = 64", "agrees"], ["ours 1.00 to 3.00 ms", "differs"]])
    cat = [{**row("ltl", variant, "board", size, time), "radius": r} for variant, size, r, time in (
        ("base_2024", 15360, 1, 3.0), ("base_2024", 15360, 16, 60.0), ("cat_2024", 15360, 1, 1.5),
        ("cat_2024", 15360, 16, 1.5), ("cat", 64, 16, 2.0))]
    expect("CAT", [line[2:4] for line in lines("fractal-claims", of(ltl=ltl, peers_ltl=cat))], [
        ["CAT 2.00 (r = 1), 40.0 (r = 16), n = 15360; ours 2.00 (r = 1), 100 (r = 16), n = 64", "less"],
        ["CAT 1.50 to 1.50 ms; today's library 2.00 to 2.00; ours 1.00 to 3.00 ms", "agrees"]])
    simplex = [row(work, variant, "simplex", 64, time, 8, threads=1) for work in ("dummy3", "write3")
               for variant, time in (("bb", 6.0), ("simplex_blocks", 2.0), ("simplex_h", 4.0))]
    expect("map H, 3-simplices", [line[1:4] for line in lines("simplex-claims", of(simplex=simplex)) if "map H" in line[0]], [
        ["1.3 to 6.0", "the map alone 1.50; a write to each cell 1.50", "agrees"],
        ["yes", "0.500 to 0.500 times the speed of the fastest other map", "differs"]])


RULES = ("stated", "up_to", "between", "order", "same", "below")
CLAIM_SCRIPTS = ("fractals_paper", "compact", "drmsd", "floods", "ask_paper", "triangle_paper")


def check_rules():
    """The six rules of verdicts, and that a reason is needed where one cannot be known."""
    expect("stated", [stated(value, 10) for value in (7.9, 8, 10, 12, 12.1, None)],
           ["less", "agrees", "agrees", "agrees", "more", "-"])
    expect("up to", [up_to(values, 10) for values in ((1, 7.9), (1, 8), (12, 1), (12.1, 1), (None,), ())],
           ["less", "agrees", "agrees", "more", "-", "-"])
    expect("between", [between(value, 6, 12) for value in (4.7, 4.8, 6, 9, 12, 14.4, 14.5, None)],
           ["less", "agrees", "agrees", "agrees", "agrees", "agrees", "more", "-"])
    expect("a gain is no loss", [between(-7.5, 5, 10), up_to((-7.5, -1), 20)], ["less", "less"])
    expect("order", [order(pairs) for pairs in ([(2, 1), (3, 3)], [(2, 1), (1, 2)], [(2, None)], [])],
           ["agrees", "differs", "-", "-"])
    expect("same", [same(values) for values in ((8, 10, 9), (7.9, 10), (3,), (), (1, None))],
           ["agrees", "differs", "agrees", "-", "-"])
    expect("below", [below(*pair) for pair in ((7.9, 10), (8, 10), (10, 7.9), (None, 1))],
           ["agrees", "differs", "differs", "-"])
    expect("farthest", farthest((8, 16, 64), 32), 8)
    expect("claim", [claim("a", "b", "c"), claim("a", "b", "c", UNKNOWN, "no such GPU")],
           [["a", "b", "c", "-", "-"], ["a", "b", "c", "cannot be known", "no such GPU"]])
    try:
        FAULTS.append(f"no reason, but {claim('a', 'b', 'c', UNKNOWN)}")
    except ValueError:
        pass


def wrong_verdicts(source):
    """The lines whose claims do not take their verdict from a rule: it is a call of one of them, UNKNOWN,
    or None where the paper claims nothing. And the lines that write a verdict themselves."""
    found = set()
    tree = ast.parse(source)
    adders = {part for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
              and node.name == "add" for part in ast.walk(node)}  # claim(*parts): its callers are checked
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node not in adders and (
                isinstance(node.func, ast.Name) and node.func.id == "claim"
                or isinstance(node.func, ast.Attribute) and node.func.attr == "add"):
            given = node.args[3:4] + [word.value for word in node.keywords if word.arg == "judged"]
            for verdict in given:
                if not (isinstance(verdict, ast.Call) and isinstance(verdict.func, ast.Name)
                        and verdict.func.id in RULES
                        or isinstance(verdict, ast.Name) and verdict.id == "UNKNOWN"
                        or isinstance(verdict, ast.Constant) and verdict.value is None) \
                        or any(isinstance(part, ast.Constant) and isinstance(part.value, bool)
                               for part in ast.walk(verdict)):
                    found.add(node.lineno)
            if any(isinstance(part, ast.Starred) for part in node.args):
                found.add(node.lineno)
        if isinstance(node, ast.Name) and node.id in ("AGREES", "DIFFERS", "LESS", "MORE", "verdict"):
            found.add(node.lineno)
        if isinstance(node, ast.Constant) and node.value in ("agrees", "differs", "less", "more",
                                                             UNKNOWN):
            found.add(node.lineno)
    return sorted(found)


def check_scripts():
    """No verdict is a constant, or a condition, of the script that makes a table of claims."""
    wrong = ("claim('a', 'b', 'c', True)", "claim('a', 'b', 'c', 'agrees', 'd')",
             "claim('a', 'b', 'c', judged='fits')", "claim('a', 'b', 'c', gain > 1.02)",
             "claim('a', 'b', 'c', AGREES)", "claim('a', 'b', 'c', 'less' if gain < 1 else order(found))",
             "claim(*row)", "rows.append(['a', 'b', 'c', 'differs', 'd'])",
             "rows.append(['a', 'b', 'c', verdict(True), 'd'])", "c.add('a', 'b', 'c', holds, 'd')",
             "claim('a', 'b', 'c', order([(True, 0)]))")
    right = ("claim('a', 'b', 'c', stated(gain, 2))", "claim('a', 'b', 'c', UNKNOWN, 'd')",
             "claim('a', 'b', 'c', None, 'd')", "claim('a', 'more than 250', 'c')")
    expect("wrong verdicts", [wrong_verdicts(line) for line in wrong], [[1]] * len(wrong))
    expect("right verdicts", [wrong_verdicts(line) for line in right], [[]] * len(right))
    for name in CLAIM_SCRIPTS:
        with open(os.path.join(ROOT, "bench", "plots", name + ".py"), encoding="utf-8") as file:
            source = file.read()
        expect(f"{name}.py: lines of verdicts that no rule made", wrong_verdicts(source), [])
        expect(f"{name}.py: claims", "claim(" in source, True)


def check_pictures(folder):
    with open(os.path.join(folder, "fractal.json"), "w", encoding="utf-8") as file:
        more = [row("sw", "lambda_block", "gasket", 4, 1.0, 16),
                row("sw", "wmma_fp16", "gasket", 4, 2.0, 16, form=1, tiles_per_block=1)]
        json.dump({"meta": dict(META, bench="fractal"), "rows": ROWS + more}, file)
    with open(os.path.join(folder, "ask.json"), "w", encoding="utf-8") as file:
        published = [{**row, "variant": "published_" + row["variant"]} for row in ASK if row["work"] == "mandelbrot"]
        json.dump({"meta": dict(META, bench="ask"), "rows": ASK + published}, file)
    for suffix, head in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        out = os.path.join(folder, suffix)
        again = os.path.join(folder, suffix + "-again")
        for place in (out, again):
            status, _, said = command("--results", folder, "--out", place, "--format", suffix)
            expect(f"pictures, {suffix}: {said}", status, 0)
            if "ca: " not in said and "for ca" not in said:
                FAULTS.append(f"pictures: a missing curve is not mentioned: {said}")
        for name in plot.PICTURES:
            pair = []
            for place in (out, again):
                with open(os.path.join(place, f"{name}.{suffix}"), "rb") as file:
                    pair.append(file.read())
            expect(f"{name}.{suffix}", (pair[0][:len(head)], pair[0] == pair[1]), (head, True))


def main():
    with tempfile.TemporaryDirectory(prefix="plot-") as folder:
        for name, rows in (("fractal", ROWS), ("block", BLOCK), ("triangle", TRIANGLE),
                           ("compact", COMPACT), ("drmsd", DRMSD), ("ask", ASK)):
            with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
                json.dump({"meta": dict(META, bench=name), "rows": rows}, file)
        data = plot.load(folder)
        check_numbers(data)
        check_claims()
        check_rules()
        check_scripts()
        check_documents(data)
        check_baselines()
        check_sentences()
        check_command(data, folder)
        pictures = importlib.util.find_spec("matplotlib") is not None
        if pictures:
            with open(os.path.join(folder, "triangle.json"), "w", encoding="utf-8") as file:
                json.dump({"meta": META, "rows": TRIANGLE + MAPS}, file)
            check_pictures(folder)
    if FAULTS:
        print("\n".join(FAULTS))
        sys.exit(1)
    if not pictures:
        print("tables passed\nSKIP: no matplotlib")
        sys.exit(77)
    print("tables and pictures passed")


main()
