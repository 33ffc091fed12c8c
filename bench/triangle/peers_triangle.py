#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what other libraries offer for all pairs of points, where they can be imported: torch.pdist
and torch.cdist, and cupyx.scipy.spatial.distance.pdist.

    peers_triangle.py [--n N,N,...] [--d D,D,...] [--out FILE]

Prints a Markdown table of medians of event times, and writes the same as JSON in the form of the
other results: work pdist, variant torch_pdist and so on. A call that fails or whose last distances
are wrong is listed as such. cdist writes the full matrix, twice the pairs.
"""
import argparse
import json
import statistics
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--n", default="4096,30720,65537")
parser.add_argument("--d", default="3,16")
parser.add_argument("--out")
args = parser.parse_args()
try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
    from cupyx.scipy.spatial import distance
except ImportError:
    cupy = None
if torch is not None and not torch.cuda.is_available():
    torch = None
if torch is None and cupy is None:
    print("SKIP: neither torch with a GPU nor cupy can be imported")
    sys.exit(77)


def near(got, x):
    """Checks the distances of the last two points, and of one of them and point 0."""
    a, b, c = (row.double() if hasattr(row, "double") else row.astype("f8")
               for row in (x[-1], x[-2], x[0]))
    last, far = float(((a - b) ** 2).sum()) ** .5, float(((a - c) ** 2).sum()) ** .5
    n = len(x)
    last_got, far_got = (got[-1, -2], got[-1, 0]) if got.ndim == 2 else (got[-1], got[n - 2])
    if abs(float(last_got) - last) > 1e-2 * last or abs(float(far_got) - far) > 1e-2 * far:
        raise ValueError("wrong distances")


def torch_ms(call, x):
    times = []
    for turn in range(6):  # the first warms up
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = call()
        end.record()
        torch.cuda.synchronize()
        if not turn:
            near(result, x)
        del result
        times.append(begin.elapsed_time(end))
        if turn and times[-1] > 1000:
            break
    return statistics.median(times[1:])


def cupy_ms(call, x):
    times = []
    for turn in range(6):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        result = call()
        end.record()
        end.synchronize()
        if not turn:
            near(result, x)
        del result
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return statistics.median(times[1:])


def cases(n, d):
    """(variant, function that times it)"""
    if torch is not None:
        x = torch.randn(n, d, device="cuda")
        for name, mode in (("torch_cdist_gram", "use_mm_for_euclid_dist"),
                           ("torch_cdist_differences", "donot_use_mm_for_euclid_dist")):
            yield name, lambda mode=mode: torch_ms(
                lambda: torch.cdist(x, x, compute_mode=mode), x)
        yield "torch_pdist", lambda: torch_ms(lambda: torch.pdist(x), x)
    if cupy is not None:
        y = cupy.random.standard_normal((n, d), dtype=cupy.float32)
        yield "cupy_pdist", lambda: cupy_ms(lambda: distance.pdist(y), y)


rows = []
print("| n | d | variant | ms | Gpair/s |\n| --- | --- | --- | --- | --- |")
for n in map(int, args.n.split(",")):
    for d in map(int, args.d.split(",")):
        for variant, run in cases(n, d):
            try:
                ms = run()
            except Exception as error:  # a size that the library cannot do is a result too
                text = str(error).split("\n", maxsplit=1)[0][:60]
                print(f"| {n} | {d} | {variant} | {type(error).__name__}: {text} | |", flush=True)
                continue
            print(f"| {n} | {d} | {variant} | {ms:.4f} | {n * (n - 1) / 2e6 / ms:.3f} |",
                  flush=True)
            rows.append({"work": "pdist", "variant": variant, "domain": "triangle", "size": n,
                         "d": d, "dtype": "f32", "ms": round(ms, 5)})
        if torch is not None:
            torch.cuda.empty_cache()
        if cupy is not None:
            cupy.get_default_memory_pool().free_all_blocks()
if args.out:
    with open(args.out, "w", encoding="utf-8") as file:
        json.dump({"meta": {"bench": "peers_triangle"}, "rows": rows}, file, indent=1)
