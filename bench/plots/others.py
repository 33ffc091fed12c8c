# SPDX-License-Identifier: MIT
"""The library beside other libraries (bench/*/peers_*.py) and the cores of the host (bench/cpu)."""
from .ask import ASKS, ask_best
from .choosing import least, line
from .text import code, sig, table

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
}
PAIRS = {"count": "count pairs", "store_euclidean": "Euclidean distances",
         "store_chebyshev": "Chebyshev distances", "rows": "gravity"}


def rows_of(data, bench, **want):
    return [row for row in (data[bench].rows if bench in data else ())
            if all(row.get(key) == value for key, value in want.items())]


def beside(title, size, ours, others):
    """A line for each of the others, by their names."""
    for name, other in others:
        found = line(title, "", size, ours, other)
        if found:
            yield [found[0], size, found[3], name, found[4], found[5]]


def peers(rows):
    """(name, row) of the variants that have a name, each at its best."""
    for name in dict.fromkeys(PEERS.values()):
        best = least(row for row in rows if PEERS.get(row["variant"]) == name)
        if best:
            yield name, best


def host(data, **want):
    return [("the host's cores, OpenMP", row) for row in rows_of(data, "cpu", **want)]


def against_host(data, row, size, **want):
    """A row beside the host's cores at the same work and size, as a claim writes it; "-" where one of
    the two is missing."""
    cores = least(rows_of(data, "cpu", size=size, **want))
    if not row or not cores:
        return "-"
    cpu = data["cpu"].meta.get("cpu", f"the host, {cores['threads']} threads")
    return f"{sig(cores['ms'] / row['ms'])} times as fast ({cpu})"


def host_size(data, rows, **want):
    """The largest size at which both the host's cores and one of the rows (size: row) were measured."""
    return max((row["size"] for row in rows_of(data, "cpu", **want) if rows.get(row["size"])),
               default=None)


def table_others(data):
    rows = []
    for of, title in PAIRS.items():
        for size in (30720, 131072):
            ours = least(row for row in rows_of(data, "pairs", of=of, size=size)
                         if row["variant"] == of and row.get("radius", 0.0968) == 0.0968)
            rows += beside(title, f"{size:,}", ours,
                           peers(rows_of(data, "peers_pairs", of=of, size=size)))
    for n in (4096, 8192, 16384, 32768, 65536, 131072):
        ours = least(rows_of(data, "drmsd", work="drmsd", variant="pair", n=n, frames=2))
        rows += beside("dRMSD of two frames", f"{n:,}", ours, [
            *peers(rows_of(data, "peers_drmsd", of="pair", n=n)),
            *host(data, work="drmsd", size=n)])
    for work, dtype in (("flood", "i16"), ("label", "u8")):
        for size in (1024, 4096, 16384):
            ours = least(rows_of(data, "flood", work=work, variant="regions", size=size,
                                 input="terrain", connectivity=4, dtype=dtype))
            rows += beside(f"{work}, terrain", f"{size:,}²", ours, [
                *peers(rows_of(data, "peers_flood", work=work, size=size, input="terrain",
                               connectivity=4)), *host(data, work=work, size=size)])
    for size in (1024, 4096, 16384):
        ours = ask_best(data["ask"], size, ASKS) if "ask" in data else None
        rows += beside("Mandelbrot set, dwell 512", f"{size:,}²", ours,
                       host(data, work="mandelbrot", size=size))
    return table(["work ", "n", "ours, ms", "compared with ", "ms", "times as fast"], rows)


def table_versions(data):
    """What the others were."""
    rows = [[code(name), ", ".join(f"{library} {version}" for library, version
                                   in data[name].meta.get("versions", {}).items())]
            for name in ("peers_pairs", "peers_flood", "peers_drmsd") if name in data]
    if "cpu" in data:
        rows.append([code("cpu"), f"{data['cpu'].meta.get('cpu')}, commit {data['cpu'].meta.get('commit')}"])
    return table(["results ", "versions "], rows)
