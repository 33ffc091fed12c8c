#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the samples for several GPUs on 1, 2, 3 and 4 GPUs of this machine, as many as it has, and
writes their times beside those of one GPU.

usage: gpus.py BUILD [--out FILE] [--quick] [--work NAME,...]

BUILD is a build folder with samples/gpus_energy and so on (meson setup; it needs MPI and NCCL). Each
sample checks its result and ends with another status than 0 if that is wrong; then this script ends
with 1 and writes nothing. Exit status 77: fewer than two GPUs, no mpirun, or no samples.

A row has `work`, `size`, `gpus`, `ms`, `scaling` and `efficiency_pct`, the speed in percent of
`gpus` times that of one GPU in the same run:

    100 * (ms of one GPU) * (amount of work / amount of its work) / gpus / ms

`scaling` is strong for the same work on all numbers of GPUs; one GPU then has a row of this size. It
is weak for work that grows with the GPUs; the one GPU's row is that with the nearest amount a GPU.
Amounts: pairs of points (fold, pdist), pairs of frames (drmsd), cells (life, labels), pixels
(mandelbrot). pdist has `fill_pct`: the rate of writing the matrix, in percent of that of cudaMemset
to the same bytes on the same GPUs.
"""
import argparse
import datetime
import json
import math
import os
import re
import shutil
import subprocess
import sys

WORKS = {  # by name: the sample, what it works on, and the amount of work by size
    "fold": ("gpus_energy", "points", lambda n: n * n),
    "pdist": ("gpus_matrix", "points", lambda n: n * n),
    "life": ("gpus_life", "gasket", lambda r: 3 ** r),
    "labels": ("gpus_labels", "terrain", lambda n: n * n),
    "drmsd": ("gpus_frames", "frames", lambda n: n * n),
    "mandelbrot": ("gpus_mandelbrot", "plane", lambda n: n * n),
}
# work, size, more arguments, the number of GPUs of a weak row, or 0: strong, on 1, 2 and 4
RUNS = (
    ("fold", 1000000, (), 0),
    ("life", 18, (100,), 0),
    ("life", 22, (20,), 0),
    ("life", 20, (20,), 1),
    ("life", 21, (20,), 3),
    ("life", 25, (8,), 4),
    ("pdist", 150000, (), 0),
    ("pdist", 300000, (), 2),
    ("pdist", 300000, (), 4),
    ("labels", 32768, (), 0),
    ("labels", 65536, (), 1),
    ("labels", 131072, (), 2),
    ("labels", 131072, (), 4),
    ("drmsd", 100000, (200,), 0),
    ("mandelbrot", 65536, (), 1),
    ("mandelbrot", 131072, (), 0),
)
QUICK = ("fold", "life")


def time_of(text, gpus):
    """Milliseconds in the output of a sample that has run on this number of GPUs."""
    for match in re.finditer(r"^(\d+) GPUs?: ([\d.]+) ms", text, re.MULTILINE):
        if int(match.group(1)) == gpus:
            return float(match.group(2))
    return None


def row_of(run, gpus, text):
    work, size, _, weak = run
    sample, domain, _ = WORKS[work]
    row = {"work": work, "variant": sample, "domain": domain, "size": size, "gpus": gpus,
           "scaling": "weak" if weak else "strong", "ms": time_of(text, gpus), "verified": True}
    fill = re.search(r"([\d.]+)% of a fill", text)
    return row | {"fill_pct": float(fill.group(1))} if fill else row


def efficiencies(rows):
    """Sets efficiency_pct where one GPU has a row to compare with."""
    for row in rows:
        amount = WORKS[row["work"]][2]
        ones = {one["size"]: one for one in rows if one["gpus"] == 1 and one["work"] == row["work"]}
        if row["scaling"] == "strong":
            one = ones.get(row["size"])
        else:
            one = min(ones.values(), default=None, key=lambda one, row=row:
                      abs(math.log(amount(row["size"]) / row["gpus"] / amount(one["size"]))))
        if one:
            same = one["ms"] * amount(row["size"]) / amount(one["size"])
            row["efficiency_pct"] = round(100 * same / row["gpus"] / row["ms"], 1)
    return rows


def smi(field):
    done = subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--out")
    parser.add_argument("--quick", action="store_true", help="two samples")
    parser.add_argument("--work", default=",".join(WORKS), help="only these works")
    options = parser.parse_args()
    names = smi("name") if shutil.which("nvidia-smi") else []
    mpirun = shutil.which("mpirun")
    found = {name for name, _, _ in WORKS.values()
             if os.access(os.path.join(options.build, "samples", name), os.X_OK)}
    if len(names) < 2 or not mpirun or not found:
        print(f"SKIP: {len(names)} GPUs, {'an' if mpirun else 'no'} mpirun, samples {sorted(found)}")
        return 77
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    rows = []
    for run in RUNS:
        work, size, more, weak = run
        sample = WORKS[work][0]
        if (sample not in found or options.quick and work not in QUICK
                or work not in options.work.split(",")):
            continue
        for gpus in (weak,) if weak else (1, 2, 4):
            if gpus > len(names):
                continue
            command = [mpirun, "--bind-to", "none", "-n", str(gpus),
                       os.path.join(options.build, "samples", sample), str(size), *map(str, more)]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            if done.returncode or time_of(done.stdout, gpus) is None:
                print(done.stdout, done.stderr, f"status {done.returncode}: {' '.join(command)}")
                return 1
            rows.append(row_of(run, gpus, done.stdout))
    for row in efficiencies(rows):
        print(f"{row['work']:10}{row['size']:>9}{row['gpus']:>3} GPU {row['ms']:>10.3f} ms "
              f"{row.get('efficiency_pct', 0):>6.1f}% {row['scaling']}")
    if options.out:
        meta = {"bench": "gpus", "commit": os.environ.get("TMAP_COMMIT", "unknown"),
                "date": datetime.date.today().isoformat(), "gpu": names[0],
                "driver": smi("driver_version")[0]}
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"meta": meta, "rows": rows}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
