# SPDX-License-Identifier: MIT
"""The library beside other libraries (bench/*/peers_*.py) and the cores of the host (bench/cpu)."""
from .ask import ASKS, ask_best
from .results import least
from .text import bold, code, ms, sig, table

# What a variant of the results is called, and where it ran.
PEERS = {
    "torch_count": "torch.cdist by pieces", "cupy_count": "CuPy, a kernel over n × n",
    "torch_pdist": "torch.pdist", "torch_cdist": "torch.cdist, both halves",
    "cupy_euclidean": "CuPy, n × n", "torch_pdist_chebyshev": "torch.pdist",
    "cupy_chebyshev": "CuPy, n × n", "torch_gravity": "torch, n × n",
    "cupy_raw_fast_math": "CuPy, a kernel over n × n",
    "cupy_label": "CuPy, `ndimage.label`",
    "opencv_flood_fill": "OpenCV, CPU", "opencv_components": "OpenCV, CPU",  # a flood by the faster
    "scipy_label": "SciPy, CPU",
    "vesin_half": "vesin", "vesin_full": "vesin", "jztree_fof": "jztree", "jztree_knn": "jztree",
}
PAIRS = {"count": "count pairs", "store_euclidean": "Euclidean distances",
         "store_chebyshev": "Chebyshev distances", "rows": "gravity"}


def beside(title, size, ours, peers, cores=()):
    """A line for each of the peers that has a name, at its best, and for the host's cores."""
    others = [(name, least(row for row in peers if PEERS.get(row["variant"]) == name))
              for name in dict.fromkeys(PEERS.values())]
    others += [("the host's cores, OpenMP", row) for row in cores]
    return [[title, size, bold(ms(ours)), name, ms(other), sig(other["ms"] / ours["ms"])]
            for name, other in others if ours and other]


def against_host(data, row, size, **want):
    """A row beside the host's cores at the same work and size, as a claim writes it; "-" where one of
    the two is missing."""
    cores = data["cpu"].least(size=size, **want)
    if not row or not cores:
        return "-"
    cpu = data["cpu"].meta.get("cpu", f"the host, {cores['threads']} threads")
    return f"{sig(cores['ms'] / row['ms'])} times as fast ({cpu})"


def host_size(data, rows, **want):
    """The largest size at which both the host's cores and one of the rows (size: row) were measured."""
    return max((row["size"] for row in data["cpu"].pick(**want) if rows.get(row["size"])), default=None)


def table_others(data):
    rows = []
    for of, title in PAIRS.items():
        for size in (30720, 131072):
            ours = least(row for row in data["pairs"].pick(of=of, variant=of, size=size)
                         if row.get("radius", 0.0968) == 0.0968)
            rows += beside(title, f"{size:,}", ours, data["peers_pairs"].pick(of=of, size=size))
    for n in (4096, 8192, 16384, 32768, 65536, 131072):
        ours = data["drmsd"].least(work="drmsd", variant="pair", n=n, frames=2)
        rows += beside("dRMSD of two frames", f"{n:,}", ours, data["peers_drmsd"].pick(of="pair", n=n),
                       data["cpu"].pick(work="drmsd", size=n))
    for work, dtype in (("flood", "i16"), ("label", "u8")):
        for size in (1024, 4096, 16384):
            want = {"work": work, "size": size, "input": "terrain", "connectivity": 4}
            rows += beside(f"{work}, terrain", f"{size:,}²",
                           data["flood"].least(variant="regions", dtype=dtype, **want),
                           data["peers_flood"].pick(**want), data["cpu"].pick(work=work, size=size))
    for size in (1024, 4096, 16384):
        rows += beside("Mandelbrot set, dwell 512", f"{size:,}²", ask_best(data["ask"], size, ASKS), (),
                       data["cpu"].pick(work="mandelbrot", size=size))
    return table(["work ", "n", "ours, ms", "compared with ", "ms", "times as fast"], rows)


def table_versions(data):
    """What the others were."""
    rows = [[code(name), ", ".join(f"{library} {version}" for library, version
                                   in data[name].meta.get("versions", {}).items())]
            for name in ("peers_pairs", "peers_flood", "peers_drmsd", "peers_near") if name in data]
    if "cpu" in data:
        rows.append([code("cpu"), f"{data['cpu'].meta.get('cpu')}, commit {data['cpu'].meta.get('commit')}"])
    return table(["results ", "versions "], rows)


def table_python(data):
    """Functions of the Python module beside the quickest that users call today."""
    rows = []
    for ours in data["peers_python"].pick(variant="threadmap"):
        others = [row for row in data["peers_python"].pick(work=ours["work"], size=ours["size"]) if row is not ours]
        if others:
            row = least(others)
            where = "" if row["device"] == "gpu" else ", CPU"
            rows.append([code(ours["work"]), f"{ours['size']:,}", bold(ms(ours)), row["variant"] + where, ms(row),
                         sig(row["ms"] / ours["ms"])])
    return table(["function", "n", "ms", "you use today ", "ms", "times as fast"], rows)
