#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who includes whom, directly or through others: no header outside papers/ includes one of papers/,
and the include of a wing (fractal.h, ...) has every map and engine of its folder and no client; those of
three dimensions are in fractal3.h, not in fractal.h.

What it leaves out is listed once, in layers.py: CLIENTS and SERVING. That it compiles alone is shown
by compile_test.py, as for every header.
"""
import sys

from common import each, graph, headers, reached
from layers import CLIENTS, COOPERATIVE, ENGINES, GROUND, SERVING, THREE, WINGS, is_published


def check(edges, header):
    ways = reached(edges, header)
    wrong = []
    if not is_published(header):
        wrong += [f"of papers/: {way}" for target, way in sorted(ways.items()) if is_published(target)]
    if header in WINGS:
        three = header == "threadmap/fractal3.h"
        folder = "threadmap/fractal/" if three else header[:-len(".h")] + "/"
        for target in sorted(edges):
            aside = target in CLIENTS or target in SERVING
            if aside and target in ways:
                wrong.append(f"a client: {ways[target]}")
            if target.startswith(folder) and not aside and (target in THREE) == three and target not in ways:
                wrong.append(f"does not include {target}")
    return "\n".join(wrong)


def self_test():
    """What must be seen: a published form behind another header, a client, and a header left out."""
    edges = {"threadmap/triangle.h": ["threadmap/triangle/a.h"],
             "threadmap/triangle/a.h": ["threadmap/core.h", "threadmap/papers/b.h"],
             "threadmap/papers/b.h": ["threadmap/triangle/pdist.h"],
             "threadmap/triangle/pdist.h": [], "threadmap/triangle/c.h": []}
    seen = check(edges, "threadmap/triangle.h")
    for what in ("of papers/: threadmap/triangle.h > threadmap/triangle/a.h > threadmap/papers/b.h",
                 "a client: ", "does not include threadmap/triangle/c.h"):
        if what not in seen:
            sys.exit(f"the test itself is wrong: it does not see '{what}'")


def main():
    self_test()
    listed = THREE | GROUND | COOPERATIVE | ENGINES | WINGS | CLIENTS | SERVING
    gone = sorted(listed - set(headers()))
    if gone:
        sys.exit(f"layers.py lists headers that are gone: {gone}")
    edges = graph()
    each(headers(), lambda header: check(edges, header))


main()
