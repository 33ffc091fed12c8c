# SPDX-License-Identifier: MIT
"""What the scripts peers_*.py share: libraries that may be missing, times of calls, and the file of
results."""
import argparse
import importlib
import json
import statistics
import sys
import time

BEGUN = time.monotonic()


def parser(doc, seconds):
    made = argparse.ArgumentParser(description=doc,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--only", default="", help="only variants with this text in their names")
    made.add_argument("--seconds", type=float, default=seconds, help="for all together (%(default)s)")
    made.add_argument("--out", help="file for the results")
    return made


def add_torch(made):
    made.add_argument("--torch", default="cuda", choices=("cuda", "cpu"), help="torch's device")


def reason(error):
    return f"{type(error).__name__}: {error}".split("\n", maxsplit=1)[0][:90]


def module(name):
    """A module, or None after a line that says why."""
    try:
        return importlib.import_module(name)
    except Exception as error:  # pylint: disable=broad-except  # half of one raises others
        print(f"{name}: cannot be imported: {reason(error)}", flush=True)
        return None


def skip():
    print("SKIP: no library can be imported")
    sys.exit(77)


def torch_on(device):
    """torch, or None without it or its device."""
    torch = module("torch")
    if torch is not None and device == "cuda" and not torch.cuda.is_available():
        print("torch: sees no GPU")
        return None
    return torch


def cupy_on_gpu():
    cupy = module("cupy")
    try:
        return cupy if cupy is not None and cupy.cuda.runtime.getDeviceCount() else None
    except Exception as failure:  # pylint: disable=broad-except
        print(f"cupy: {reason(failure)}")
        return None


def over(seconds):
    return time.monotonic() - BEGUN > seconds


def timed(call, gpu):
    """(result, milliseconds) of a call. gpu: torch or cupy, in whose stream it runs; None: the host."""
    if gpu is None:
        begin = time.perf_counter()
        result = call()
        return result, 1e3 * (time.perf_counter() - begin)
    by_cupy = hasattr(gpu.cuda, "get_elapsed_time")
    begin, end = (gpu.cuda.Event() if by_cupy else gpu.cuda.Event(enable_timing=True)
                  for _ in range(2))
    begin.record()
    result = call()
    end.record()
    end.synchronize()
    return result, gpu.cuda.get_elapsed_time(begin, end) if by_cupy else begin.elapsed_time(end)


def measure(call, gpu, check, once, most=1000):
    """(median, noise in percent); the first call warms up, and what it gives is checked. Where
    there is nothing to warm up (once) it is the only one if it takes more than a second. most: the
    milliseconds after which no other call begins."""
    result, first = timed(call, gpu)
    check(result)
    del result
    times = [first] if once and first > 1000 else []
    while len(times) < 5 and sum(times) < most:
        result, ms = timed(call, gpu)
        del result
        times.append(ms)
    times.sort()
    median = statistics.median(times)
    return median, 100 * (times[len(times) * 3 // 4] - times[len(times) // 4]) / median


def free(gpu):
    if gpu is None:
        return
    if hasattr(gpu.cuda, "empty_cache"):
        gpu.cuda.empty_cache()
    else:
        gpu.get_default_memory_pool().free_all_blocks()


class Table:
    """The lines that a script prints and the rows that it writes. keys: of a row that has its time, in the
    first columns (-: a row without it); rate: the key of what is done in a second."""

    def __init__(self, args, keys, rate):
        self.args, self.keys, self.rate, self.rows = args, keys, rate, []
        print("| " + " | ".join([*keys, "ms", "noise", rate]) + " |\n|" + " --- |" * (len(keys) + 3))

    def time(self, row, make, gpu, check, each, once=False, most=1000):
        """Times the call that make() makes and keeps its row, with the rate each / ms, unless --only leaves
        it out or time is over. What fails says why on its line. Returns the time, or None."""
        if self.args.only not in row["variant"]:
            return None
        line = "".join(f"| {row.get(key, '-')} " for key in self.keys) + "|"
        if over(self.args.seconds):
            print(f"{line} skipped: {self.args.seconds:g} seconds are over | | |", flush=True)
            return None
        try:
            ms, noise = measure(make(), gpu, check, once, most)
        except Exception as failure:  # pylint: disable=broad-except  # a limit is a result too
            print(f"{line} {reason(failure)} | | |", flush=True)
            return None
        finally:
            free(gpu)
        print(f"{line} {ms:.4f} | {noise:.1f}% | {each / ms:.6g} |", flush=True)
        self.rows.append({**row, "ms": round(ms, 5), "noise_pct": round(noise, 2),
                          self.rate: float(f"{each / ms:.7g}"), "verified": True})
        return ms

    def write(self, bench, names):
        """The results in the form of the others, with the versions of what was imported of `names`."""
        versions = {name: sys.modules[name].__version__ for name in names
                    if hasattr(sys.modules.get(name), "__version__")}
        if self.args.out:
            with open(self.args.out, "w", encoding="utf-8") as file:
                json.dump({"meta": {"bench": bench, "versions": versions}, "rows": self.rows}, file,
                          indent=1)


# ---- of points and frames -----------------------------------------------------------------------

def hashed(numbers):
    """A hash of numbers of 32 bits, as floats in [0, 1), multiples of 2^-24: points of pairs_sweep.h and
    drmsd_random of drmsd_sweep.h."""
    np = module("numpy")
    h = numbers * 2654435769 & 0xffffffff
    h ^= h >> np.uint64(15)
    h = h * 2246822519 & 0xffffffff
    h ^= h >> np.uint64(13)
    return (h >> np.uint64(8)).astype(np.float32) / np.float32(16777216)


def chunks(n, most):
    """Slices of rows that have at most `most` elements each, n in a row; equal ones where n
    is a multiple of their number."""
    rows = n
    while rows > 1 and rows * n > most:
        rows = (rows + 1) // 2
    return [slice(i, min(n, i + rows)) for i in range(0, n, rows)]


def apart2(a, b):
    """Squared distances of all points of two sets."""
    return ((a[:, None] - b[None]) ** 2).sum(-1)
