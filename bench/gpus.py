#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the samples for several GPUs on 1, 2, 3 and 4 GPUs of this machine, as many as it has, and
writes their times beside those of one GPU.

usage: gpus.py BUILD [--out FILE] [--quick]

BUILD is a build folder with samples/gpus_energy and so on (meson setup; it needs MPI and NCCL). Each
sample checks its result and ends with another status than 0 if that is wrong; then this script ends
with 1 and writes nothing. Exit status 77: fewer than two GPUs, no mpirun, or no samples.

A row has `gpus`, `ms`, `scaling` (strong: the same work on all numbers of GPUs; weak: as much work
a GPU) and `efficiency_pct`, of as many times the speed of one GPU in the same run.
"""
import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys

# work, sample, its arguments, size, the number of GPUs of a weak row, or 0: strong, on 1, 2 and 4
RUNS = (
    ("fold", "gpus_energy", ("1000000",), 1000000, 0),
    ("life", "gpus_life", ("18", "100"), 18, 0),
    ("life", "gpus_life", ("22", "20"), 22, 0),
    ("life", "gpus_life", ("20", "20"), 20, 1),
    ("life", "gpus_life", ("21", "20"), 21, 3),
    ("life", "gpus_life", ("25", "8"), 25, 4),
    ("store", "gpus_matrix", ("150000",), 150000, 0),
    ("store", "gpus_matrix", ("300000",), 300000, 4),
    ("labels", "gpus_labels", ("32768",), 32768, 0),
    ("labels", "gpus_labels", ("65536",), 65536, 1),
    ("labels", "gpus_labels", ("131072",), 131072, 4),
)
QUICK = ("gpus_energy", "gpus_life")
AMOUNT = {"fold": lambda n: n * n, "store": lambda n: n * n, "labels": lambda n: n * n,
          "life": lambda r: 3 ** r}  # of work, by size
MS = re.compile(r"(\d+) GPUs: ([\d.]+) ms|: ([\d.]+) ms on (\d+) GPUs")


def time_of(text, gpus):
    """Milliseconds in the output of a sample that has run on this number of GPUs."""
    for match in MS.finditer(text):
        if int(match.group(1) or match.group(4)) == gpus:
            return float(match.group(2) or match.group(3))
    return None


def row_of(run, gpus, text):
    work, sample, _, size, weak = run
    return {"work": work, "variant": sample, "domain": "gasket" if work == "life" else "points" if
            work in ("fold", "store") else "terrain", "size": size, "gpus": gpus,
            "scaling": "weak" if weak else "strong", "ms": time_of(text, gpus), "verified": True}


def efficiencies(rows):
    """Sets efficiency_pct where one GPU has a row of the same size, or of another in weak scaling."""
    for row in rows:
        ones = [one for one in rows if one["gpus"] == 1 and one["work"] == row["work"] and
                one["scaling"] == row["scaling"] and
                (row["scaling"] == "weak" or one["size"] == row["size"])]
        if ones:
            amount = AMOUNT[row["work"]]
            same = ones[0]["ms"] * amount(row["size"]) / amount(ones[0]["size"])
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
    options = parser.parse_args()
    names = smi("name") if shutil.which("nvidia-smi") else []
    mpirun = shutil.which("mpirun")
    found = {name for name in {run[1] for run in RUNS}
             if os.access(os.path.join(options.build, "samples", name), os.X_OK)}
    if len(names) < 2 or not mpirun or not found:
        print(f"SKIP: {len(names)} GPUs, {'an' if mpirun else 'no'} mpirun, samples {sorted(found)}")
        return 77
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    rows = []
    for run in RUNS:
        if run[1] not in found or options.quick and run[1] not in QUICK:
            continue
        for gpus in (run[4],) if run[4] else (1, 2, 4):
            if gpus > len(names):
                continue
            command = [mpirun, "--bind-to", "none", "-n", str(gpus),
                       os.path.join(options.build, "samples", run[1]), *run[2]]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            if done.returncode or time_of(done.stdout, gpus) is None:
                print(done.stdout, done.stderr, f"status {done.returncode}: {' '.join(command)}")
                return 1
            rows.append(row_of(run, gpus, done.stdout))
    for row in efficiencies(rows):
        print(f"{row['work']:7}{row['size']:>9}{row['gpus']:>3} GPUs {row['ms']:>10.3f} ms "
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
