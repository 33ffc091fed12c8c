#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times functions of the module threadmap on CuPy arrays beside what a user of Python calls today, where it
can be imported: CuPy and PyTorch on the same GPU; SciPy, scikit-learn and scikit-image on the host.

    peers_python.py [--scale N] [--only TEXT] [--work TEXT] [--limit S] [--seconds S] [--out FILE]

All times are from the caller's arrays to the results, with what a call allocates. THREADMAP_LIBRARY names the
folder of libthreadmap.so. Each variant runs in a process of its own, of at most --limit seconds, because one may end
a process's use of the GPU (KDTree.query_pairs of cupyx 14.2, at 131072 points). Prints a Markdown table of medians, and
writes the same as JSON in the form of the other results. Each result is compared with that of the first variant of
its work. --scale 8 makes sizes smaller, to try it out. `mitems` is 10^6 points, cells or frames per second.
"""
import importlib
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
import threadmap  # noqa: E402  # pylint: disable=wrong-import-position

parser = common.parser(__doc__, 420)
parser.add_argument("--scale", type=int, default=1, help="divides sizes (%(default)s)")
parser.add_argument("--work", default="", help="only works with this text in their names")
parser.add_argument("--limit", type=float, default=60, help="seconds of a variant (%(default)s)")
parser.add_argument("--one", nargs=2, help="folder and variant, in a process of its own: its result is checked "
                                           "by what is there")
args = parser.parse_args()
np = common.module("numpy")
if np is None:
    common.skip()
module = importlib.import_module  # where a variant needs it


# ---- where a function is called: input on the host -> (module of the clock, call) -----------------

def cupy(function):
    def made(x):
        x = module("cupy").asarray(x)
        return module("cupy"), lambda: function(x)
    return made


def torch(function):
    def made(x):
        x = module("torch").as_tensor(x, device="cuda")
        return module("torch"), lambda: function(x)
    return made


def cpu(function):
    return lambda x: (None, lambda: function(x))


# ---- works --------------------------------------------------------------------------------------

RADIUS, LEAST, K = 0.02, 8, 16


def cube(*shape):
    return np.random.default_rng(1).random(shape, np.float32)


def nearest_by_cdist(x):
    rows = [module("torch").cdist(part, x, compute_mode="donot_use_mm_for_euclid_dist").topk(K, largest=False)
            for part in x.split(8192)]
    return [module("torch").cat(parts) for parts in zip(*rows)]


def tree_pairs(x):
    return module("scipy.spatial").cKDTree(x).query_pairs(RADIUS, output_type="ndarray")


def tree_groups(x):
    pairs, n = tree_pairs(x), len(x)
    links = module("scipy.sparse").coo_matrix((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), (n, n))
    return module("scipy.sparse.csgraph").connected_components(links, directed=False)


def dbscan(x):
    found = module("sklearn.cluster").DBSCAN(eps=RADIUS, min_samples=LEAST, n_jobs=-1).fit(x).labels_
    return found.max() + 1, found


def drmsd_by_pdist(x):
    of = module("torch")
    i, j = of.triu_indices(x.shape[1], x.shape[1], 1, device="cuda")
    return of.pdist(of.cdist(x, x)[:, i, j]) / len(i) ** 0.5


def rmsd_by_svd(x):
    of, (frames, n) = module("torch"), x.shape[:2]
    c = x - x.mean(1, keepdim=True)
    k, l = of.triu_indices(frames, frames, 1, device="cuda")
    norms = (c * c).sum((1, 2))
    out = []
    for p, q in zip(k.split(1 << 16), l.split(1 << 16)):
        r = c[p].transpose(1, 2) @ c[q]
        s = of.linalg.svdvals(r)
        s[:, 2] *= of.sign(of.linalg.det(r))
        out.append(of.sqrt((norms[p] + norms[q] - 2 * s.sum(1)).clamp(min=0) / n))
    return of.cat(out)


def labels(axes):
    structure = np.ones((3,) * axes)
    return {"threadmap": cupy(lambda x: threadmap.label(x, axes)),
            "cupyx label": cupy(lambda x: module("cupyx.scipy.ndimage").label(x, structure)),
            "scipy label": cpu(lambda x: module("scipy.ndimage").label(x, structure)),
            "skimage label": cpu(lambda x: module("skimage.measure").label(x, connectivity=axes, return_num=True))}


N, FRAMES = 131072 // args.scale, 1024 // args.scale
# work: (size, input, what of a result is compared, rounding, variants)
WORKS = {
    "pdist": (30720 // args.scale, lambda n: cube(n, 3),
              lambda out: out[:5000] if len(out.shape) == 1 else out[0, 1:5001], 1e-3, {
                  "threadmap": cupy(threadmap.pdist), "torch.pdist": torch(lambda x: module("torch").pdist(x)),
                  "torch.cdist": torch(lambda x: module("torch").cdist(x, x))}),
    "pairs_within": (N, lambda n: cube(n, 3), lambda out: len(out[0] if isinstance(out, tuple) else out), 1e-5, {
        "threadmap": cupy(lambda x: threadmap.pairs_within(x, RADIUS, both=False)), "scipy KDTree": cpu(tree_pairs),
        "cupyx KDTree": cupy(lambda x: module("cupyx.scipy.spatial").KDTree(x).query_pairs(
            RADIUS, output_type="ndarray"))}),
    "nearest": (N, lambda n: cube(n, 3), lambda out: out[0][:1000], 1e-4, {
        "threadmap": cupy(lambda x: threadmap.nearest(x, K)), "torch.cdist, topk": torch(nearest_by_cdist),
        "cupyx KDTree": cupy(lambda x: module("cupyx.scipy.spatial").KDTree(x).query(x, K)),
        "scipy KDTree": cpu(lambda x: module("scipy.spatial").cKDTree(x).query(x, K, workers=-1)),
        "sklearn NearestNeighbors": cpu(lambda x: module("sklearn.neighbors").NearestNeighbors(
            n_neighbors=K, algorithm="kd_tree", n_jobs=-1).fit(x).kneighbors(x))}),
    "groups": (N, lambda n: cube(n, 3), lambda out: out[0], 1e-3, {
        "threadmap": cupy(lambda x: threadmap.groups(x, RADIUS)), "scipy KDTree, components": cpu(tree_groups)}),
    "groups, min_points": (N, lambda n: cube(n, 3), lambda out: out[0], 1e-3, {
        "threadmap": cupy(lambda x: threadmap.groups(x, RADIUS, min_points=LEAST)), "sklearn DBSCAN": cpu(dbscan)}),
    "label": (8192 // args.scale, lambda n: cube(n, n) < 0.5, lambda out: out[1], 0, labels(2)),
    "label, volume": (512 // args.scale, lambda n: cube(n, n, n) < 0.5, lambda out: out[1], 0, labels(3)),
    "drmsd": (FRAMES, lambda n: cube(n, 200, 3), lambda out: out[:1000], 1e-3, {
        "threadmap": cupy(threadmap.drmsd), "torch.cdist, torch.pdist": torch(drmsd_by_pdist)}),
    "rmsd": (FRAMES, lambda n: cube(n, 200, 3), lambda out: out[:1000], 1e-3, {
        "threadmap": cupy(threadmap.rmsd), "torch.linalg.svdvals": torch(rmsd_by_svd)}),
}


# What tells a work from those of other benchmarks.
FACTS = {"pdist": {"d": 3, "metric": "euclidean", "domain": "triangle"}, "nearest": {"domain": "uniform", "k": K},
         "groups": {"domain": "uniform", "radius": RADIUS}, "label": {"domain": "map", "connectivity": 8},
         "drmsd": {"domain": "molecule"}, "rmsd": {"domain": "molecule"}}

# ---- one variant, and all -----------------------------------------------------------------------

KEYS = ("work", "variant", "size", "device"), "mitems"
LIBRARIES = "numpy", "scipy", "sklearn", "skimage", "cupy", "torch"


def host(x):
    return x.get() if hasattr(x, "get") else x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


def one(folder, variant):
    size, made, summary, rounding, variants = WORKS[args.work]
    known = os.path.join(folder, args.work + ".npy")

    def check(result):
        got = np.asarray(host(summary(result)), float)
        if not os.path.exists(known):
            np.save(known, got)
        want = np.load(known)
        if got.shape != want.shape or not np.allclose(got, want, rounding, rounding):
            raise ValueError(f"wrong: {got.ravel()[:3]} instead of {want.ravel()[:3]}")
    x, table = made(size), common.Table(args, *KEYS)
    gpu, call = variants[variant](x)
    items = x.size if x.dtype == bool else len(x)
    table.time({"work": args.work, "variant": variant, "size": size, "device": "cpu" if gpu is None else "gpu",
                **FACTS.get(args.work, {})}, lambda: call, gpu, check, items / 1e3, once=True)
    table.write("peers_python", LIBRARIES)


def every(folder):
    table, versions, out = common.Table(args, *KEYS), {}, os.path.join(folder, "out.json")
    for work, (*_, variants) in WORKS.items():
        for variant in variants if args.work in work else ():
            if args.only not in variant or common.over(args.seconds):
                continue
            command = [sys.executable, __file__, "--one", folder, variant, "--work", work, "--scale", str(args.scale),
                       "--out", out]
            try:
                said = subprocess.run(command, capture_output=True, text=True, timeout=args.limit, check=False)
                lines = [line for line in said.stdout.splitlines()[2:] if line.startswith("|")]
                print("\n".join(lines) or f"| {work} | {variant} | {said.stderr.splitlines()[-1:]}", flush=True)
            except subprocess.TimeoutExpired:
                print(f"| {work} | {variant} | more than {args.limit:g} seconds", flush=True)
            if os.path.exists(out):
                with open(out, encoding="utf-8") as file:
                    written = json.load(file)
                table.rows += written["rows"]
                versions |= written["meta"]["versions"]
                os.remove(out)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump({"meta": {"bench": "peers_python", "versions": versions}, "rows": table.rows}, file, indent=1)


if args.one:
    one(*args.one)
elif threadmap.device() != "gpu":
    print("SKIP: no GPU, or no library for it")
    sys.exit(77)
else:
    with tempfile.TemporaryDirectory() as temporary:
        every(temporary)
