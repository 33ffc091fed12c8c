#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times functions of the module threadmap on CuPy arrays beside what a user of Python calls today, where it
can be imported: CuPy and PyTorch on the same GPU, SciPy on the host.

    peers_python.py [--scale N] [--only TEXT] [--seconds S] [--out FILE]

All times are from the caller's arrays to the results, with what a call allocates. THREADMAP_LIBRARY names the
folder of libthreadmap.so. Prints a Markdown table of medians, and writes the same as JSON in the form of the other
results. Each result is compared with the other's, or with SciPy's. (KDTree.query_pairs of cupyx 14.2 ends with an illegal
address at 131072 points, which ends the program's use of the GPU, so it is not called.) --scale 8 makes sizes smaller, to try it out.
`mitems` is 10^6 points, cells or frames per second.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
import threadmap  # noqa: E402  # pylint: disable=wrong-import-position

parser = common.parser(__doc__, 120)
parser.add_argument("--scale", type=int, default=1, help="divides sizes (%(default)s)")
args = parser.parse_args()
np, cupy, torch = common.module("numpy"), common.cupy_on_gpu(), common.torch_on("cuda")
if np is None or cupy is None or threadmap.device() != "gpu":
    print("SKIP: no GPU, no CuPy, or no library for the GPU")
    sys.exit(77)
spatial, graphs = common.module("scipy.spatial"), common.module("scipy.sparse.csgraph")
sparse, images = common.module("scipy.sparse"), common.module("cupyx.scipy.ndimage")
trees = common.module("cupyx.scipy.spatial")

table = common.Table(args, ("work", "variant", "size", "device"), "mitems")
random = np.random.default_rng(1)
known = {}  # work: what the first variant found


def host(x):
    return x.get() if hasattr(x, "get") else x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


def same(work, summary, rounding=0):
    """The check that a result's summary is that of the first variant."""
    def check(result):
        got = np.asarray(host(summary(result)), float)
        want = known.setdefault(work, got)
        if got.shape != want.shape or not np.allclose(got, want, rounding, rounding):
            raise ValueError(f"wrong: {got.ravel()[:3]} instead of {want.ravel()[:3]}")
    return check


def time(work, size, variant, call, check, items=None):
    """call: (module or None for the host, function)"""
    gpu, function = call
    if gpu is not None or spatial is not None:
        table.time({"work": work, "variant": variant, "size": size,
                    "device": "cpu" if gpu is None else "gpu"}, lambda: function, gpu, check,
                   (items or size) / 1e3, once=True)


def on_torch(x):
    return torch.as_tensor(x, device="cuda") if torch is not None else None


def distances():
    n = 30720 // args.scale
    x = random.random((n, 3), np.float32)
    a, b = cupy.asarray(x), on_torch(x)
    check = same("pdist", lambda out: out[:5000] if len(out.shape) == 1 else out[0, 1:5001], 1e-3)
    time("pdist", n, "threadmap", (cupy, lambda: threadmap.pdist(a)), check)
    if torch is not None:
        time("pdist", n, "torch.pdist", (torch, lambda: torch.pdist(b)), check)
        time("pdist", n, "torch.cdist", (torch, lambda: torch.cdist(b, b)), check)


def near():
    n, radius = 131072 // args.scale, 0.02
    x = random.random((n, 3), np.float32)
    a = cupy.asarray(x)
    count = same("pairs_within", lambda out: (out[0] if isinstance(out, tuple) else out).shape[0], 1e-5)
    time("pairs_within", n, "threadmap", (cupy, lambda: threadmap.pairs_within(a, radius, both=False)), count)
    time("pairs_within", n, "scipy KDTree",
         (None, lambda: spatial.cKDTree(x).query_pairs(radius, output_type="ndarray")), count)
    nearest = same("nearest", lambda out: out[0][:1000], 1e-4)
    time("nearest", n, "threadmap", (cupy, lambda: threadmap.nearest(a, 16)), nearest)
    if trees is not None:
        time("nearest", n, "cupyx KDTree", (cupy, lambda: trees.KDTree(a).query(a, 16)), nearest)
    time("nearest", n, "scipy KDTree", (None, lambda: spatial.cKDTree(x).query(x, 16, workers=-1)), nearest)

    def components():
        pairs = spatial.cKDTree(x).query_pairs(radius, output_type="ndarray")
        links = sparse.coo_matrix((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), (n, n))
        return graphs.connected_components(links, directed=False)
    number = same("groups", lambda out: out[0], 1e-3)
    time("groups", n, "threadmap", (cupy, lambda: threadmap.groups(a, radius)), number)
    time("groups", n, "scipy KDTree, components", (None, components), number)


def maps():
    for work, shape in ("label", (8192 // args.scale,) * 2), ("label, volume", (512 // args.scale,) * 3):
        mask = cupy.asarray(random.random(shape, np.float32) < 0.5)
        structure = np.ones((3,) * len(shape))
        number = same(work, lambda out: out[1])
        time(work, shape[0], "threadmap", (cupy, lambda mask=mask, shape=shape: threadmap.label(
            mask, len(shape))), number, mask.size)
        if images is not None:
            time(work, shape[0], "cupyx label", (cupy, lambda mask=mask, structure=structure: images.label(
                mask, structure)), number, mask.size)


def molecules():
    frames, n = 1024 // args.scale, 200
    xyz = random.random((frames, n, 3), np.float32)
    a, b = cupy.asarray(xyz), on_torch(xyz)
    i, j = (torch.triu_indices(n, n, 1, device="cuda") if torch is not None else (None, None))

    def all_pairs():
        apart = torch.cdist(b, b)[:, i, j]
        return torch.pdist(apart) / len(i) ** 0.5
    check = same("drmsd", lambda out: out[:1000], 1e-3)
    time("drmsd", frames, "threadmap", (cupy, lambda: threadmap.drmsd(a)), check)
    if torch is not None:
        time("drmsd", frames, "torch.cdist, torch.pdist", (torch, all_pairs), check)

    def superposed():
        c = b - b.mean(1, keepdim=True)
        k, l = torch.triu_indices(frames, frames, 1, device="cuda")
        norms = (c * c).sum((1, 2))
        out = []
        for begin in range(0, len(k), 1 << 16):
            p, q = k[begin:begin + (1 << 16)], l[begin:begin + (1 << 16)]
            r = c[p].transpose(1, 2) @ c[q]
            s = torch.linalg.svdvals(r)
            s[:, 2] *= torch.sign(torch.linalg.det(r))
            out.append(torch.sqrt((norms[p] + norms[q] - 2 * s.sum(1)).clamp(min=0) / n))
        return torch.cat(out)
    check = same("rmsd", lambda out: out[:1000], 1e-3)
    time("rmsd", frames, "threadmap", (cupy, lambda: threadmap.rmsd(a)), check)
    if torch is not None:
        time("rmsd", frames, "torch.linalg.svdvals", (torch, superposed), check)


for part in distances, near, maps, molecules:
    part()
table.write("peers_python", ("numpy", "scipy", "cupy", "torch"))
