#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what SciPy, vesin and jztree offer for the works of bench_near, where they can be imported.

    peers_near.py [--n N,N,...] [--radii N,N,...] [--domains NAME,...] [--room N] [--only TEXT]
                  [--seconds S] [--torch cuda|cpu] [--out FILE]

Points (near_points.h), radii and keys are those of bench_near. All times are from unsorted points on,
as those of its variant `near`. SciPy needs its cKDTree on the host, which takes one core where the
call has no `workers`; vesin runs on torch's device, or on the host's cores without torch; jztree on the
GPU, timed from the host. SciPy and vesin compute in double.

Prints a Markdown table of medians, and writes the same as JSON in the form of the other results.
Each result is checked before its time is listed: the tree's count by all distances of some points, lists
by their number and their longest pair, groups against those that SciPy finds in the tree's list, the
nearest by all distances of some points. What fails says why on its line; what has not begun at the
limit of seconds is left out, and so are lists, and groups that are checked by one, of more than --room
pairs. `mpoints` is 10^6 points per second,
`version` that of the library.
"""
import importlib.metadata
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
from peers import module  # noqa: E402  # pylint: disable=wrong-import-position

parser = common.parser(__doc__, 300)
parser.add_argument("--n", default="131072,1000000", help="numbers of points (%(default)s)")
parser.add_argument("--radii", default="3,30", help="thousandths of the cube's side (%(default)s)")
parser.add_argument("--domains", default="uniform,clusters",
                    help="uniform, clusters, shell, line (%(default)s)")
parser.add_argument("--room", type=int, default=100000000,
                    help="pairs of a list, at most (%(default)s)")
common.add_torch(parser)
args = parser.parse_args()

np = module("numpy")
spatial, graphs = module("scipy.spatial"), module("scipy.sparse.csgraph")
if np is None or spatial is None or graphs is None:  # nothing could be checked
    common.skip()
sparse = module("scipy.sparse")
vesin, jztree = module("vesin"), module("jztree")
torch = common.torch_on(args.torch) if vesin is not None else None
jax = module("jax") if jztree is not None else None

SAMPLE = 50


# ---- points and what is known of them ------------------------------------------------------------

def uniform(number):
    """Those of near_points.h, in [0, 1)."""
    z = (number + np.uint64(1)) * np.uint64(0x9e3779b97f4a7c15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
    return ((z ^ z >> np.uint64(31)) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53


def normal(number):
    return (np.sqrt(-2 * np.log(1 - uniform(number))) *
            np.cos(6.283185307179586 * uniform(number + np.uint64(1))))


def make_points(domain, n):
    """Those of near_points.h; a logarithm or a cosine may be rounded otherwise."""
    at = np.uint64(120) + np.uint64(8) * np.arange(n, dtype=np.uint64)
    numbers = [at + np.uint64(k) for k in (1, 3, 5)]
    if domain == "uniform":
        v = [uniform(number) for number in numbers]
    elif domain == "line":
        v = [uniform(at + np.uint64(1)), np.full(n, 0.5), np.full(n, 0.5)]
    elif domain == "shell":
        v = [normal(number) for number in numbers]
        scale = (0.45 + 0.01 * uniform(at + np.uint64(7))) / np.sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
        v = [0.5 + scale * x for x in v]
    else:
        c = np.uint64(4) * (30 * uniform(at)).astype(np.uint64)
        wide = 0.002 * 50 ** uniform(c + np.uint64(3))
        v = [uniform(c + np.uint64(k)) + wide * normal(number) for k, number in enumerate(numbers)]
        v = [x - np.floor(x) for x in v]
    return np.minimum(np.stack(v, 1).astype(np.float32), np.float32(1 - 2.0 ** -24))


class Points:
    """Points, and results to compare with, computed when they are asked for."""

    def __init__(self, domain, n):
        self.domain, self.n, self.x = domain, n, make_points(domain, n)
        self.double = self.x.astype(np.float64)
        self.tree = spatial.cKDTree(self.double)
        self.some = np.random.default_rng(1).integers(0, n, SAMPLE)
        self.known = {}

    def once(self, key, compute):
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]

    def apart(self, i):
        """From a point to all."""
        return np.sqrt(((self.double - self.double[i]) ** 2).sum(1))

    def hits(self, radius):
        """Pairs within the radius, by the tree; the same count of some points must be right."""
        def compute():
            some = spatial.cKDTree(self.double[self.some])
            expect(some.count_neighbors(self.tree, radius),
                   sum(int((self.apart(i) <= radius).sum()) for i in self.some), "pairs")
            return (int(self.tree.count_neighbors(self.tree, radius)) - self.n) // 2
        return self.once(("hits", radius), compute)

    def groups(self, radius):
        """(number, labels)."""
        return self.once(("groups", radius), lambda: components(self.tree, radius))

    def nearest(self, k):
        """Distances of some points to their nearest."""
        return self.once(("nearest", k), lambda: np.array(
            [np.sort(np.partition(self.apart(i), k)[:k + 1])[1:] for i in self.some]))


def components(tree, radius):
    pairs = tree.query_pairs(radius, output_type="ndarray")
    links = sparse.coo_matrix((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), (tree.n, tree.n))
    return graphs.connected_components(links, directed=False)


def expect(got, want, what):
    """A pair may be rounded to the other side of the radius."""
    if abs(got - want) > 1e-6 * want:
        raise ValueError(f"wrong: {got} {what} instead of {want}")


def is_list(points, radius, times):
    """The check of a list that has each pair once, or twice and in the order of its first points."""
    def check(got):
        i, j = (np.asarray(a.cpu() if hasattr(a, "cpu") else a).astype(np.int64) for a in got)
        expect(len(i), times * points.hits(radius), "pairs")
        for begin in range(0, len(i), 1 << 24):
            rows = slice(begin, begin + (1 << 24))
            apart2 = ((points.double[i[rows]] - points.double[j[rows]]) ** 2).sum(1)
            if (i[rows] == j[rows]).any() or apart2.max() > (radius * (1 + 1e-6)) ** 2:
                raise ValueError("wrong: what is no near pair")
        if times == 2 and (np.diff(i) < 0).any():
            raise ValueError("wrong: not in order")
        if len(np.unique(np.minimum(i, j) * points.n + np.maximum(i, j))) * times != len(i):
            raise ValueError("wrong: a pair is listed again")
    return check


def is_groups(points, radius):
    def check(labels):
        count, known = points.groups(radius)
        labels = np.asarray(labels).astype(np.int64)
        expect(len(np.unique(labels)), count, "groups")
        expect(len(np.unique(labels * points.n + known)), count, "groups")
    return check


def is_nearest(points, k):
    """The check of distances, of which the first is that of a point to itself."""
    def check(got):
        some = np.asarray(got)[points.some, 1:].astype(np.float64)
        if not np.allclose(some, points.nearest(k), rtol=1e-5, atol=1e-9):
            raise ValueError(f"wrong by {abs(some - points.nearest(k)).max()}")
    return check


# ---- the peers -----------------------------------------------------------------------------------

def scipy_ball(points, radius):
    def call():
        tree = spatial.cKDTree(points.x)
        near = tree.query_ball_point(points.x, radius, workers=-1, return_length=True)
        return (int(near.sum()) - points.n) // 2
    return call


def scipy_tree(points, radius):
    def call():
        tree = spatial.cKDTree(points.x)
        return (int(tree.count_neighbors(tree, radius)) - points.n) // 2
    return call


def vesin_list(points, radius, full):
    x, box = points.x, np.zeros((3, 3), np.float32)
    if torch is not None:
        x, box = (torch.from_numpy(a).to(args.torch) for a in (x, box))
    # `sorted`: by the first of the two
    search = vesin.NeighborList(cutoff=radius, full_list=full, sorted=full)
    return lambda: search.compute(x, box, False, "ij", copy=False)


def jztree_call(points, call):
    x = jax.device_put(points.x)
    return lambda: jax.block_until_ready(call(x))


def left_out(points, radius, what):
    print(f"| {what} | left out: {points.hits(radius)} pairs | {points.domain} | {points.n} | {radius:.3g} |")


def of_radius(points, radius):
    """(work, variant, device, function that makes the call, check)"""
    is_count = lambda got: expect(got, points.hits(radius), "pairs")  # noqa: E731
    on_gpu = torch is not None and args.torch == "cuda"
    yield "count", "scipy_tree", "cpu", lambda: scipy_tree(points, radius), is_count
    yield "count", "scipy_ball", "cpu", lambda: scipy_ball(points, radius), is_count
    if points.hits(radius) > args.room:
        left_out(points, radius, "lists")
        return
    yield ("list", "scipy_pairs", "cpu",
           lambda: lambda: spatial.cKDTree(points.x).query_pairs(radius, output_type="ndarray").T,
           is_list(points, radius, 1))
    if vesin is not None:
        for work, full in (("list", False), ("csr", True)):
            yield (work, "vesin_full" if full else "vesin_half", "cuda" if on_gpu else "cpu",
                   lambda full=full: vesin_list(points, radius, full),
                   is_list(points, radius, 1 + full))


def of_length(points, radius):
    if points.hits(radius) > args.room:
        left_out(points, radius, "groups")
        return
    yield ("groups", "scipy_components", "cpu",
           lambda: lambda: components(spatial.cKDTree(points.x), radius)[1], is_groups(points, radius))
    if jax is not None:
        yield ("groups", "jztree_fof", "cuda", lambda: jztree_call(
            points, lambda x: jztree.fof.fof_labels.jit(x, rlink=radius, output_order="input")[1]),
               is_groups(points, radius))


def of_k(points, k):
    yield ("nearest", "scipy_query", "cpu",
           lambda: lambda: spatial.cKDTree(points.x).query(points.x, k + 1, workers=-1)[0],
           is_nearest(points, k))
    if jax is not None:
        yield ("nearest", "jztree_knn", "cuda", lambda: jztree_call(
            points, lambda x: jztree.knn.knn.jit(x, k=k + 1)[0]), is_nearest(points, k))


table = common.Table(args, ("work", "variant", "domain", "size", "radius", "k", "device"), "mpoints")
for points_ in (Points(domain_, int(n_)) for n_ in args.n.split(",") for domain_ in args.domains.split(",")):
    radii = [float(np.float32(0.9999e-3) * np.float32(r)) for r in args.radii.split(",")]
    length = float(np.float32(0.2) / np.cbrt(np.float32(points_.n)))
    for key, values, offers in (("radius", radii, of_radius), ("radius", [length], of_length),
                                ("k", (8, 16), of_k)):
        for value in values:
            if common.over(args.seconds):
                break
            for work_, variant_, device_, make_, check_ in offers(points_, value):
                library = variant_.split("_", maxsplit=1)[0]
                row = {"work": work_, "variant": variant_, "domain": points_.domain, "size": points_.n,
                       key: value if key == "k" else float(f"{value:.3g}"), "dtype": "f32", "device": device_,
                       "version": f"{library} {importlib.metadata.version(library)}"}
                if work_ == "groups":
                    row["groups"] = int(points_.groups(value)[0])
                elif key == "radius":
                    row["hits"] = points_.hits(value)
                gpu = torch if library == "vesin" and device_ == "cuda" else None
                table.time(row, make_, gpu, check_, points_.n / 1e3, once=device_ == "cpu")
table.write("peers_near", ("numpy", "scipy", "torch", "vesin", "jax"))
