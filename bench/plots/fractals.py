# SPDX-License-Identifier: MIT
"""Tables of fractals: the engine beside what it is compared with."""
import math

from .results import (BASES, DTYPES, FRACTALS, PLAIN, RHOS, TASKS, WORKS, n_0, ratio, side,
                      theory_n_0)
from .text import bold, code, memory, ms, percent, sig, table


def table_meta(data):
    rows = []
    for name, results in data.items():
        m = results.meta
        if name == "cpu" or name.startswith("peers"):
            continue  # they have a table of versions
        rows.append([code(name), m.get("gpu", "-"), str(m.get("commit", "-"))[:12],
                     m.get("date", "-"), m.get("driver", "-"), m.get("cuda", "-"),
                     str(m.get("sm_clock_mhz", "-")),
                     *(sig(m.get(key)) for key in ("copy_tbs", "fill_tbs", "read_tbs"))])
    return table(["bench", "GPU ", "commit ", "date ", "driver ", "nvcc ", "SM clock, MHz",
                  "copy, TB/s", "fill, TB/s", "read, TB/s"], rows)


def gains(results, work, domain, size, row):
    """Times faster than BB, BB walking and the list."""
    return [ratio(results.best(work, domain, size, (base,)), row) for base in BASES]


def table_summary(data):
    """The gasket at its top level: each task by the engine."""
    results, rows = data["fractal"], []
    size = results.top("sw", "gasket")
    for work, dtype, title in TASKS:
        row = results.task(work, dtype, "gasket", size)
        if row:
            others = (*BASES, PLAIN) if DTYPES.get(work) == dtype else ()
            found = {v: results.best(work, "gasket", size, (v,)) for v in others}
            rows.append([title, code(row["variant"]), bold(ms(row)), percent(row),
                         *(sig(ratio(found.get(v), row)) for v in (*BASES, PLAIN))])
    return table(["work", "engine ", "ms", "% of limit", "× BB", "× BB walking", "× list",
                  "× plain map"], rows)


def table_engine(data):
    """All fractals at their top level: each task by the engine, with its percentage of the limit."""
    results, rows = data["fractal"], []
    for domain in results.domains("sw"):
        size = results.top("sw", domain)
        found = [results.task(work, dtype, domain, size) for work, dtype, _ in TASKS]
        if size is not None and any(found):
            rows.append([FRACTALS[domain][0], str(size), str(side(domain, size)),
                         *(f"{ms(row)} ({percent(row)})" if row else "-" for row in found)])
    return table(["fractal", "r", "n", *(title for _, _, title in TASKS)], rows)


def gasket(work):
    """Every level of the gasket: each variant at its best rho."""
    def make(data):
        results = data["fractal"]
        names = results.variants(work, "gasket")
        names = [v for v in BASES if v in names] + [v for v in names if v not in BASES]
        rows = []
        for size in results.sizes(work, "gasket"):
            best = results.best_form(work, "gasket", size)
            cells = []
            for name in names:
                row = results.best(work, "gasket", size, (name,))
                cells.append(bold(ms(row)) if row and row is best else ms(row))
            rows.append([str(size), str(side("gasket", size)), *cells,
                         *(sig(g) for g in gains(results, work, "gasket", size, best)),
                         percent(best)])
        return table(["r", "n", *(BASES.get(v, code(v)) for v in names),
                      "× BB", "× BB walking", "× list", "% of limit"], rows)
    return make


def table_rho(data):
    """The gasket at its top level, each block size; lambda with a block for each tile."""
    results, rows = data["fractal"], []
    for work in WORKS:
        size = results.top(work, "gasket")
        for rho in RHOS if size is not None else ():
            bb = results.best(work, "gasket", size, ("bb",), rho=rho)
            form = results.best(work, "gasket", size, block_forms(results, work), rho=rho)
            if bb or form:
                rows.append([work.upper(), str(size), str(rho), ms(bb), ms(form),
                             code(form["variant"]) if form else "-", sig(ratio(bb, form))])
    return table(["work", "r", "rho", "BB", "lambda", "form ", "× BB"], rows)


def all_fractals(work):
    """All fractals at their top level."""
    def make(data):
        results, rows = data["fractal"], []
        for domain in results.domains(work):
            size = results.top(work, domain)
            if size is None:
                continue
            bases = [results.best(work, domain, size, (base,)) for base in (*BASES, PLAIN)]
            best = results.best_form(work, domain, size)
            rows.append([FRACTALS[domain][0], str(size), str(side(domain, size)),
                         f"{FRACTALS[domain][1]**size:,}", *(ms(row) for row in bases),
                         code(best["variant"]), bold(ms(best)),
                         *(sig(ratio(row, best)) for row in bases), percent(best),
                         memory(bases[2].get("extra_bytes")) if bases[2] else "-"])
        return table(["fractal", "r", "n", "cells", "BB", "BB walking", "list", "plain map",
                      "engine ", "ms", "× BB", "× BB walking", "× list", "× plain map",
                      "% of limit", "list's memory"], rows)
    return make


def table_n0(data):
    results, rows = data["fractal"], []
    domains = {d for work in WORKS for d in results.domains(work)}
    for domain in (name for name in FRACTALS if name in domains):
        title, k, sx, _ = FRACTALS[domain]
        found = [n_0(results, work, domain) for work in WORKS]
        rows.append([title, sig(math.log(k) / math.log(sx), 4), sig(theory_n_0(domain)),
                     *("-" if not last else f"none up to {last}" if not n else str(n)
                       for n, last in found),
                     str(max(last or 0 for _, last in found))])
    return table(["fractal", "H", "theory", "SW", "RD", "CA", "largest n"], rows)


def table_dummy(data):
    """The map alone, each form; levels of blocks, of which the highest three of each fractal."""
    results = data["fractal"]
    header, rows, places = ["form"], [], []
    for domain in results.domains("dummy"):
        for size in results.sizes("dummy", domain)[-3:]:
            times = results.at("dummy", domain, size)[0].get("times", 1)
            places.append((domain, size))
            header += [f"{domain}, {size} levels" + (f", {times} times" if times > 1 else "")
                       + ": ms", "× shuffle"]
    for form in results.variants("dummy"):
        line = [code(form)]
        for domain, size in places:
            base, row = (results.best("dummy", domain, size, (v,)) for v in ("shuffle", form))
            line += [ms(row), sig(ratio(base, row))]
        rows.append(line)
    return table(header, rows)


def table_block(data):
    """The three mappings inside a block, and the tiles that a block takes in turn."""
    rows = [[f"{row['domain']}, r = {row['size']}", str(row["rho"]), code(row["variant"]),
             str(row["tiles_per_block"]), sig(row["useful"]), ms(row), percent(row)]
            for row in data["block"].at("sw")]
    return table(["fractal", "rho", "mapping ", "tiles a block", "useful threads", "ms",
                  "% of limit"], rows)


def table_reduce(data):
    """Sums over a block."""
    rows = [[row["dtype"], str(row["size"]), code(row["variant"]), sig(row["ns_per_sum_and_sm"]),
             sig(row["error_units"])]
            for row in data["block"].at("reduce")]
    return table(["numbers", "threads", "form ", "ns a sum", "error, 2^-24"], rows)


def block_forms(results, work):
    """Forms that map a block for each tile, as the paper does."""
    return [v for v in results.forms(work) if v.startswith("lambda") and v != "lambda_linear"]
