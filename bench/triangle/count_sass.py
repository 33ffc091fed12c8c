#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of a pair of atoms in the innermost loops of dRMSD kernels.

    cuobjdump -sass FILE | count_sass.py [TEXT]

TEXT: of functions with it in their names alone. Of each function the innermost loop with the most
roots is looked at, of several ones the shortest. A pair has two roots, each with one MUFU.SQRT or
MUFU.RSQ, and so roots tell how many pairs a trip has. Not counted is what a branch leaps over in
order to avoid a call: the way of a correctly rounded root for numbers that are not normal. Prints,
for a pair: all instructions, special functions, and those of floating point (FADD, FMUL, FFMA,
MUFU); then how many of which kind a trip has.
"""
import collections
import re
import sys

LINE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)\s*(.*?);")


def instructions(text):
    """[(address, name, where a branch leads to or None)] of a function."""
    found = []
    for line in text.split("\n"):
        if match := LINE.match(line):
            target = re.search(r"0x([0-9a-f]+)", match[3]) if match[2].startswith("BRA") else None
            found.append((int(match[1], 16), match[2], int(target[1], 16) if target else None))
    return found


def executed(loop):
    """The names of a loop's instructions, without those that avoid a call."""
    names, until = [], 0
    for address, name, target in loop:
        if address < until:
            continue
        names.append(name)
        if target and target > address and any(
                n.startswith("CALL") and address < a < target for a, n, _ in loop):
            until = target
    return names


def loops(code):
    """The instructions of each innermost loop."""
    ends = [(target, address) for address, _, target in code if target and target < address]
    for first, last in ends:
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in ends):
            yield [line for line in code if first <= line[0] <= last]


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    for part in sys.stdin.read().split("Function : ")[1:]:
        name = part.split()[0]
        if wanted not in name:
            continue
        best = None
        for loop in loops(instructions(part)):
            kinds = collections.Counter(executed(loop))
            roots = max(kinds["MUFU.SQRT"], kinds["MUFU.RSQ"])
            length = sum(kinds.values())
            if roots and (best is None or (roots, -length) > (best[0], -best[1])):
                best = roots, length, kinds
        if best is None:
            continue
        pairs, length, kinds = best[0] / 2, *best[1:]
        special = sum(n for kind, n in kinds.items() if kind.startswith("MUFU"))
        floating = special + sum(n for kind, n in kinds.items()
                                 if kind.split(".")[0] in ("FADD", "FMUL", "FFMA"))
        print(f"{name}: {pairs:g} pairs; {length / pairs:.3f}f, "
              f"{special / pairs:.0f}, {floating / pairs:.2f}f;",
              *(f"{kind} {n}" for kind, n in kinds.most_common(8)))


main()
