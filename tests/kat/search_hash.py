#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Searches arithmetic hashes of the catalogue's fractals: beta -> (tau_x, tau_y) without a table.

    search_hash.py [NAME...]    for each fractal the cheapest hash found, two minutes for all

The replicas are read off the rows of generate.py. Expressions have the operators + - * & | ^ >>
and small constants, on values that are never negative; a division by a constant is a product and a
shift. The cost of a hash is its number of operators. A result may be used again: y in x, x in y, or
a step p before both, the box's number sx * y + x or one of two operators. Each of them takes at most
MOST operators. All expressions of two are tried; of longer ones those whose last steps are a sum, a
difference or an exclusive or of shorter ones, an invertible step, a shift or mask of two, or a join
with beta or a result.

A table of small digits in a constant, (0x110 >> 4 * beta) & 15, is no arithmetic hash: constants
are at most 31.
"""
import os
import runpy
import sys

MOST, ADDED, FACTORS, SHIFTS, LARGEST = 5, range(1, 32), range(2, 32), range(1, 8), 1024
LANE = 16  # bits of a value; the values for all beta are one number, so that an operator takes one step


class Search:
    def __init__(self, k):
        self.k, self.ones = k, sum(1 << LANE * i for i in range(k))
        self.high = self.ones << LANE - 1
        self.low = [self.ones * ((1 << LANE - n) - 1) for n in range(LANE)]

    def pack(self, values):
        return sum(value << LANE * i for i, value in enumerate(values))

    def minus(self, u, v):
        """u - v, or -1 where a value would be negative."""
        r = (u | self.high) - v
        return r ^ self.high if r & self.high == self.high else -1

    def largest(self, v):
        return max(v >> LANE * i & (1 << LANE) - 1 for i in range(self.k))

    def cut(self, v):
        for n in SHIFTS:
            yield v >> n & self.low[n], f"({{}} >> {n})"
        for c in range(1, 16):
            yield v & c * self.ones, f"({{}} & {c})"

    def unary(self, v):
        for c in ADDED:
            yield v + c * self.ones, f"({{}} + {c})"
            yield self.minus(v, c * self.ones), f"({{}} - {c})"
            yield self.minus(c * self.ones, v), f"({c} - {{}})"
            if c < 16:
                yield v ^ c * self.ones, f"({{}} ^ {c})"
                yield v | c * self.ones, f"({{}} | {c})"
        most = LARGEST // max(self.largest(v), 1)
        yield from ((v * c, f"({{}} * {c})") for c in FACTORS if c <= most)
        yield from self.cut(v)

    def inverse(self, t):
        """(v, f): t is f of v."""
        for c in ADDED:
            yield self.minus(t, c * self.ones), f"({{}} + {c})"
            yield t + c * self.ones, f"({{}} - {c})"
            yield self.minus(c * self.ones, t), f"({c} - {{}})"
            if c < 16:
                yield t ^ c * self.ones, f"({{}} ^ {c})"
        for c in FACTORS:
            v = self.pack([(t >> LANE * i & (1 << LANE) - 1) // c for i in range(self.k)])
            if v * c == t:
                yield v, f"({{}} * {c})"

    def binary(self, u, v):
        yield u + v, "({} + {})"
        yield self.minus(u, v), "({} - {})"
        yield self.minus(v, u), "({1} - {0})"
        yield u & v, "({} & {})"
        yield u | v, "({} | {})"
        yield u ^ v, "({} ^ {})"

    def partners(self, t, u):
        """(v, f): t is f of u and v."""
        yield self.minus(t, u), "({} + {})"
        yield self.minus(u, t), "({} - {})"
        yield t + u, "({1} - {0})"
        yield t ^ u, "({} ^ {})"

    def levels(self, leaves, whole=2):
        """Level n: values -> expression of n operators. The last one, whole + 1, lacks most of unary()."""
        found, known = [dict(leaves)], set(leaves)
        for n in range(1, whole + 2):
            new = {}
            for v, e in found[-1].items():
                steps = [(r, f.format(e)) for r, f in (self.unary(v) if n <= whole else self.cut(v))]
                steps += [(r, f.format(g, e)) for u, g in leaves.items()
                          for r, f in self.binary(u, v)]
                for r, text in steps:
                    if r >= 0 and r not in known and not r & self.high:
                        known.add(r)
                        new[r] = text
            found.append(new)
        return found

    def reach(self, found, t, n):
        """An expression of n operators for t, or None."""
        if n < len(found) and t in found[n]:
            return found[n][t]
        if n < len(found) - 1:
            return None
        for v, f in self.inverse(t):
            e = self.reach(found, v, n - 1) if v >= 0 else None
            if e:
                return f.format(e)
        for i in range((n + 1) // 2):  # two parts with i and n - 1 - i operators
            for u, e in found[i].items():
                for v, f in self.partners(t, u):
                    if v < 0:
                        continue
                    g = found[n - 1 - i].get(v) if n - 1 - i < len(found) else self.reach(found, v, n - 1)
                    if g:
                        return f.format(e, g)
        return None

    def least(self, found, t, most=MOST):
        """(operators, expression) of t, or None."""
        for n in range(most + 1):
            e = self.reach(found, t, n)
            if e:
                return n, e
        return None

    def chain(self, leaves, wanted, most, whole=2):
        """(operators, [(name, expression)]) of the wanted names in this order, or None."""
        total, lines, leaves = 0, [], dict(leaves)
        for name, t in wanted:
            got = self.least(self.levels(leaves, whole), t, min(MOST if whole > 1 else 2, most - total))
            if not got:
                return None
            total += got[0]
            lines.append((name, got[1]))
            leaves.setdefault(t, name)
        return total, lines


def search(rows):
    rows = rows.split("/")
    tau = [(x, y) for y, row in enumerate(rows) for x, c in enumerate(row) if c == "#"]
    s = Search(len(tau))
    x, y, box = (s.pack(v) for v in ([x for x, _ in tau], [y for _, y in tau],
                                     [len(rows[0]) * y + x for x, y in tau]))
    start = {s.pack(range(s.k)): "beta", 0: "0"}
    best = None

    def better(got, before=0, first=None):
        nonlocal best
        if got and (best is None or got[0] + before < best[0]):
            best = got[0] + before, ([("p", first)] if first else []) + got[1]

    def limit():
        return best[0] - 1 if best else 3 * MOST
    better(s.chain(start, [("y", y), ("x", x)], limit()))
    better(s.chain(start, [("x", x), ("y", y)], limit()))
    better(s.chain(start, [("p", box), ("y", y), ("x", x)], limit()))
    steps = s.levels(start)
    for n in (1, 2):  # a step that serves both, and gives one of them by one operator more
        for p, e in steps[n].items():
            one = {r for r, _ in s.unary(p)}
            for order in ([("y", y), ("x", x)], [("x", x), ("y", y)]):
                if order[0][1] in one:
                    better(s.chain({**start, p: "p"}, order, limit() - n, 1), n, e)
    return best


def main():
    catalogue = dict(runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                 "generate.py"), run_name="generate")["CATALOGUE"])
    for name in sys.argv[1:] or catalogue:
        if name not in catalogue:
            sys.exit(__doc__)
        best = search(catalogue[name])
        print(f"{name}: " + (f"{best[0]} operators: " + "; ".join(
            f"{n} = {e[1:-1] if e[0] == '(' else e}" for n, e in best[1])
            if best else "none"), flush=True)


if __name__ == "__main__":
    main()
