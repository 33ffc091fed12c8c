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


def free(*gpus):
    for gpu in gpus:
        if gpu is not None and hasattr(gpu.cuda, "empty_cache"):
            gpu.cuda.empty_cache()
        elif gpu is not None:
            gpu.get_default_memory_pool().free_all_blocks()


def write(path, bench, names, rows):
    """The results in the form of the others, with the versions of what was imported of `names`."""
    versions = {name: sys.modules[name].__version__ for name in names
                if hasattr(sys.modules.get(name), "__version__")}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"meta": {"bench": bench, "versions": versions}, "rows": rows}, file, indent=1)
