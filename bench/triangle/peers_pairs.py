#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what other libraries offer for the works of bench_pairs, where they can be imported: torch,
also compiled, CuPy, KeOps and torch_cluster or PyG on the GPU, SciPy and scikit-learn on the CPU.

    peers_pairs.py [--n N,N,...] [--only TEXT] [--seconds S] [--torch cuda|cpu] [--out FILE]

Points, bodies and the radius are those of bench_pairs. Prints a Markdown table of medians, and
writes the same as JSON in the form of the other results: variant torch_count and so on, `of` the
work that it does, `device` where. Each result is checked before its time is listed: a count against
another implementation, distances and pulls against some in double. What fails says why on its line;
what has not begun after so many seconds is left out. `tpairs` counts each pair once, also where a
library looks at it twice.
"""
import importlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
from peers import module, reason  # noqa: E402  # pylint: disable=wrong-import-position

parser = common.parser(__doc__, 60)
parser.add_argument("--n", default="30720,131072", help="numbers of points (%(default)s)")
common.add_torch(parser)
args = parser.parse_args()

np = module("numpy")
if np is None:
    common.skip()
torch = common.torch_on(args.torch)
cupy = common.cupy_on_gpu()
scipy = module("scipy.spatial")
sklearn = module("sklearn.neighbors")
keops = module("pykeops.torch") if torch is not None else None
cluster = module("torch_cluster") if torch is not None else None
geometric = module("torch_geometric.nn") if torch is not None else None
if torch is None and cupy is None and scipy is None and sklearn is None:
    common.skip()

RADIUS = float(np.float32(0.0968))
EPS2 = float(np.float32(1e-4))


# ---- points and what is known of them ------------------------------------------------------------

def make_points(n, d):
    """Those of pairs_sweep.h: multiples of 2^-24 in [0, 1)."""
    h = np.arange(n * d, dtype=np.uint64) * 2654435769 & 0xffffffff
    h ^= h >> np.uint64(15)
    h = h * 2246822519 & 0xffffffff
    h ^= h >> np.uint64(13)
    return ((h >> np.uint64(8)).astype(np.float32) / np.float32(16777216)).reshape(n, d)


class Size:
    """Points of one size, and results to compare with, computed when they are asked for."""

    def __init__(self, n):
        self.n = n
        self.x, self.frames, self.bodies = (make_points(n, d) for d in (3, 6, 4))
        self.known = {}

    def once(self, key, compute):
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]

    def hits(self, but):
        """Pairs within the radius, by an implementation that is not the library `but`."""
        ways = {
            "scipy": scipy is not None and (lambda: scipy_count(self)()),
            "torch": torch is not None and (lambda: torch_brute(
                self, lambda a, b: (apart2(a, b) < RADIUS * RADIUS).sum(), self.x, 1)),
            "sklearn": sklearn is not None and (lambda: sklearn_count(self)()),
        }
        if args.torch == "cpu":  # there a tree is quicker
            ways["torch"] = ways.pop("torch")
        for library, compute in ways.items():
            if compute and library != but:
                return self.once(library, compute)
        raise ValueError("there is nothing to compare the count with")

    def terms(self):
        """The sum of dRMSD in double, from differences."""
        def add(a, b):
            return ((apart2(a[:, :3], b[:, :3]).sqrt() - apart2(a[:, 3:], b[:, 3:]).sqrt())
                    ** 2).sum()
        return self.once("terms", lambda: torch_brute(self, add, self.frames, 0))

    def pull(self, body):
        def compute():
            x = self.bodies.astype(np.float64)
            apart = x[:, :3] - x[body, :3]
            r2 = (apart ** 2).sum(1) + EPS2
            return (x[:, 3:] * apart / (r2 * np.sqrt(r2))[:, None]).sum(0)
        return self.once(("pull", body), compute)


def expect(got, want, tolerance):
    if not abs(got - want) <= tolerance * abs(want):
        raise ValueError(f"wrong: {got} instead of {want}")


def is_count(size, library, tolerance=1e-5):
    """The check of a count; tolerance: the part of it that may be rounded to the other side."""
    return lambda got: expect(int(got), size.hits(library), tolerance)


def is_terms(size):
    return lambda got: expect(float(got), size.terms(), 1e-3)


def is_matrix(size, distance):
    """The check of distances, condensed or square, by some of them in double."""
    def check(got):
        n = size.n
        some = np.random.default_rng(1).integers(0, n, (100, 2)).tolist()
        for i, j in [(0, 1), (0, n - 1), (n - 2, n - 1)] + some:
            i, j = min(i, j), max(i, j)
            if i == j:
                continue
            u, v = size.x[i].astype(np.float64), size.x[j].astype(np.float64)
            at = i * (2 * n - i - 1) // 2 + j - i - 1
            value = float(got[i, j] if got.ndim == 2 else got[at])
            # Those of a matrix product are less exact where points are near.
            if abs(value - distance(u - v)) > 1e-3 * distance(u - v) + 1e-3:
                raise ValueError(f"wrong: {value} instead of {distance(u - v)}")
    return check


def is_list(size, library):
    """The check of a list of pairs, each once: their number, and whether some of them are near."""
    def check(pairs):
        expect(len(pairs), size.hits(library), 1e-5)
        some = pairs[:: max(1, len(pairs) // 1000)]
        some = np.asarray(some.cpu() if hasattr(some, "cpu") else some)
        apart = (size.x[some[:, 0]] - size.x[some[:, 1]]).astype(np.float64)
        if not (np.sqrt((apart ** 2).sum(1)) < RADIUS * (1 + 1e-6)).all():
            raise ValueError("wrong: a pair that is not near")
    return check


def is_pulls(size):
    def check(got):
        for body in (0, size.n // 3, size.n - 1):
            want = size.pull(body)
            error = abs(np.asarray(got[body].cpu(), dtype=np.float64) - want).max()
            if not error <= 1e-4 * abs(want).max() + 1e-5 * size.n:
                raise ValueError(f"wrong by {error}")
    return check


# ---- works ---------------------------------------------------------------------------------------

def euclidean(v):
    return float((v ** 2).sum()) ** .5


def chebyshev(v):
    return float(abs(v).max())


def chunks(n, most):
    """Slices of so many rows that they have at most `most` elements, n of a row; equal ones where n
    is a multiple of their number."""
    rows = n
    while rows > 1 and rows * n > most:
        rows = (rows + 1) // 2
    return [slice(i, min(n, i + rows)) for i in range(0, n, rows)]


def on_device(x):
    return torch.from_numpy(x).to(args.torch)


def apart2(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(-1)


def torch_brute(size, what, points, own):
    """The sum of `what` over all pairs in double; own: what a point gives with itself."""
    x, total = on_device(points).double(), 0.0
    for rows in chunks(size.n, 1 << 26):
        total += float(what(x[rows], x))
    return (total - own * size.n) / 2


def torch_count(size, mode):
    x = on_device(size.x)

    def call():
        total = torch.zeros((), dtype=torch.int64, device=args.torch)
        for rows in chunks(size.n, 1 << 30):
            near = torch.cdist(x[rows], x[rows.start:], compute_mode=mode) < RADIUS
            count = rows.stop - rows.start  # the first columns have each pair twice
            total += near.sum() - (near[:, :count].sum() + count) // 2
        return total
    return call


def torch_drmsd(size):
    x = on_device(size.frames)

    def call():
        total = torch.zeros((), dtype=torch.float64, device=args.torch)
        for rows in chunks(size.n, 1 << 29):
            off = (torch.cdist(x[rows, :3], x[rows.start:, :3]) -
                   torch.cdist(x[rows, 3:], x[rows.start:, 3:])) ** 2
            total += off.sum(dtype=torch.float64)
            total -= off[:, :rows.stop - rows.start].sum(dtype=torch.float64) / 2
        return total
    return call


def torch_gravity(size, most, compiled):
    bodies = on_device(size.bodies)

    def pull(mine, all_bodies):
        apart = all_bodies[None, :, :3] - mine[:, None, :3]
        r = ((apart ** 2).sum(-1) + EPS2).rsqrt()
        return ((all_bodies[:, 3] * r * r * r)[..., None] * apart).sum(1)
    function = torch.compile(pull, dynamic=False) if compiled else pull
    return lambda: torch.cat([function(bodies[rows], bodies) for rows in chunks(size.n, most)])


def torch_compiled(size, points, function, most, ordered):
    """The sum of a function of all ordered pairs of points, compiled; from it what is asked for."""
    x, compiled = on_device(points), torch.compile(function, dynamic=False)

    def call():
        return ordered(sum(compiled(x[rows], x) for rows in chunks(size.n, most)))
    return call


def near_sum(a, b):
    return (apart2(a, b) < RADIUS * RADIUS).sum()


def terms_sum(a, b):
    off = apart2(a[:, :3], b[:, :3]).sqrt() - apart2(a[:, 3:], b[:, 3:]).sqrt()
    return (off ** 2).sum(dtype=torch.float64)


def torch_matrix(size, function):
    x = on_device(size.x)
    return lambda: function(x)


def keops_bodies(size):
    bodies = on_device(size.bodies)
    where, mass = bodies[:, :3].contiguous(), bodies[:, 3:].contiguous()
    return (keops.LazyTensor(where[:, None, :]), keops.LazyTensor(where[None, :, :]),
            keops.LazyTensor(mass[None, :, :]))


def keops_gravity(size):
    x, y, mass = keops_bodies(size)

    def call():
        apart = y - x
        r = ((apart ** 2).sum(-1) + EPS2).rsqrt()
        return (mass * r * r * r * apart).sum(dim=1)
    return call


def keops_count(size):
    x = on_device(size.x)
    a, b = keops.LazyTensor(x[:, None, :]), keops.LazyTensor(x[None, :, :])

    def call():  # a row's sum of floats is exact
        near = (RADIUS * RADIUS - ((a - b) ** 2).sum(-1)).step().sum(dim=1)
        return (near.sum(dtype=torch.float64) - size.n) / 2
    return call


def radius_graph(size, library):
    x = on_device(size.x)

    def call():
        edges = library.radius_graph(x, RADIUS, loop=False, max_num_neighbors=1024)
        return edges[:, edges[0] < edges[1]].T
    return call


CUPY_COUNT = r"""
extern "C" __global__ void near_pairs(const float *x, int n, float r2, unsigned long long *total) {
    __shared__ float tile[256][3];
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int at = i < n ? i : 0;
    const float a = x[3 * at], b = x[3 * at + 1], c = x[3 * at + 2];
    unsigned count = 0;
    for (int from = blockIdx.x * 256; from < n; from += 256) {
        __syncthreads();
        for (int k = 0; k < 3; ++k)
            if (from + threadIdx.x < n) tile[threadIdx.x][k] = x[3 * (from + threadIdx.x) + k];
        __syncthreads();
        const int end = n - from < 256 ? n - from : 256;
        for (int k = 0; k < end; ++k) {
            const float u = a - tile[k][0], v = b - tile[k][1], w = c - tile[k][2];
            count += from + k > i && u * u + v * v + w * w < r2;
        }
    }
    if (count && i < n) atomicAdd(total, (unsigned long long)count);
}
"""


def cupy_count(size):
    x, kernel = cupy.asarray(size.x), cupy.RawKernel(CUPY_COUNT, "near_pairs")
    total = cupy.zeros(1, dtype=cupy.uint64)

    def call():
        total.fill(0)
        kernel(((size.n + 255) // 256,), (256,),
               (x, np.int32(size.n), np.float32(RADIUS * RADIUS), total))
        return total[0]
    return call


def cupy_matrix(size, value):
    """An elementwise kernel for the square matrix."""
    x = cupy.asarray(size.x)
    kernel = cupy.ElementwiseKernel(
        "raw float32 x, int64 n", "float32 out",
        "const float *u = &x[i / n * 3], *v = &x[i % n * 3];"
        "const float a = u[0] - v[0], b = u[1] - v[1], c = u[2] - v[2];"
        f"out = {value};", "pairs_" + value.split("(", maxsplit=1)[0])
    return lambda: kernel(x, size.n, cupy.empty((size.n, size.n), dtype=cupy.float32))


def cupy_pdist(size, metric):
    x, distance = cupy.asarray(size.x), importlib.import_module("cupyx.scipy.spatial.distance")
    return lambda: distance.pdist(x, metric)


def scipy_count(size):
    def call():  # the tree included, as everywhere on the CPU
        tree = scipy.cKDTree(size.x)
        return (int(tree.count_neighbors(tree, RADIUS)) - size.n) // 2
    return call


def sklearn_count(size):
    def call():
        tree = sklearn.KDTree(size.x)
        return (int(tree.query_radius(size.x, RADIUS, count_only=True).sum()) - size.n) // 2
    return call


def sklearn_list(size):
    def call():
        neighbours = sklearn.NearestNeighbors(radius=RADIUS, algorithm="kd_tree", n_jobs=-1)
        lists = neighbours.fit(size.x).radius_neighbors(size.x, return_distance=False)
        counts = [len(row) for row in lists]
        pairs = np.stack([np.repeat(np.arange(size.n), counts), np.concatenate(lists)], axis=1)
        return pairs[pairs[:, 0] < pairs[:, 1]]
    return call


# ---- the peers -----------------------------------------------------------------------------------

def peers(size):
    """(variant, of, d, device, function that makes the call, check)"""
    n, gpu = size.n, args.torch
    gram, differences = "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"
    if torch is not None:
        def half(total):
            return (total - n) // 2
        yield ("torch_count", "count", 3, gpu, lambda: torch_count(size, gram),
               is_count(size, "torch", 1e-3))
        yield ("torch_count_differences", "count", 3, gpu,
               lambda: torch_count(size, differences), is_count(size, "torch"))
        yield ("torch_compile_count", "count", 3, gpu,
               lambda: torch_compiled(size, size.x, near_sum, 1 << 29, half),
               is_count(size, "torch"))
        yield "torch_drmsd", "drmsd", 6, gpu, lambda: torch_drmsd(size), is_terms(size)
        yield ("torch_compile_drmsd", "drmsd", 6, gpu,
               lambda: torch_compiled(size, size.frames, terms_sum, 1 << 29,
                                      lambda total: total / 2), is_terms(size))
        yield ("torch_pdist", "store_euclidean", 3, gpu,
               lambda: torch_matrix(size, torch.pdist), is_matrix(size, euclidean))
        yield ("torch_cdist", "store_euclidean", 3, gpu,
               lambda: torch_matrix(size, lambda x: torch.cdist(x, x)),
               is_matrix(size, euclidean))
        yield ("torch_pdist_chebyshev", "store_chebyshev", 3, gpu,
               lambda: torch_matrix(size, lambda x: torch.pdist(x, p=float("inf"))),
               is_matrix(size, chebyshev))
        yield ("torch_cdist_chebyshev", "store_chebyshev", 3, gpu,
               lambda: torch_matrix(size, lambda x: torch.cdist(x, x, p=float("inf"))),
               is_matrix(size, chebyshev))
        yield ("torch_gravity", "rows", 4, gpu, lambda: torch_gravity(size, 1 << 28, False),
               is_pulls(size))
        yield ("torch_compile_gravity", "rows", 4, gpu,
               lambda: torch_gravity(size, 1 << 29, True), is_pulls(size))
    if cupy is not None:
        yield "cupy_count", "count", 3, "cuda", lambda: cupy_count(size), is_count(size, "cupy")
        yield ("cupy_chebyshev", "store_chebyshev", 3, "cuda",
               lambda: cupy_matrix(size, "fmaxf(fmaxf(fabsf(a), fabsf(b)), fabsf(c))"),
               is_matrix(size, chebyshev))
        yield ("cupy_euclidean", "store_euclidean", 3, "cuda",
               lambda: cupy_matrix(size, "sqrtf(a * a + b * b + c * c)"),
               is_matrix(size, euclidean))
        yield ("cupy_pdist_chebyshev", "store_chebyshev", 3, "cuda",
               lambda: cupy_pdist(size, "chebyshev"), is_matrix(size, chebyshev))
        yield ("cupy_pdist", "store_euclidean", 3, "cuda",
               lambda: cupy_pdist(size, "euclidean"), is_matrix(size, euclidean))
    if keops is not None:
        yield "keops_gravity", "rows", 4, gpu, lambda: keops_gravity(size), is_pulls(size)
        yield "keops_count", "count", 3, gpu, lambda: keops_count(size), is_count(size, "keops")
    if cluster is not None:
        yield ("torch_cluster_radius_graph", "select", 3, gpu,
               lambda: radius_graph(size, cluster), is_list(size, "cluster"))
    if geometric is not None:
        yield ("torch_geometric_radius_graph", "select", 3, gpu,
               lambda: radius_graph(size, geometric), is_list(size, "geometric"))
    if scipy is not None:
        yield "scipy_count", "count", 3, "cpu", lambda: scipy_count(size), is_count(size, "scipy")
        yield ("scipy_query_pairs", "select", 3, "cpu",
               lambda: lambda: scipy.cKDTree(size.x).query_pairs(RADIUS, output_type="ndarray"),
               is_list(size, "scipy"))
        distance = module("scipy.spatial.distance")
        for metric, value in (("chebyshev", chebyshev), ("euclidean", euclidean)):
            if n <= 40000:  # doubles
                yield (f"scipy_pdist_{metric}", f"store_{metric}", 3, "cpu",
                       lambda metric=metric: lambda: distance.pdist(size.x, metric),
                       is_matrix(size, value))
    if sklearn is not None:
        yield ("sklearn_count", "count", 3, "cpu", lambda: sklearn_count(size),
               is_count(size, "sklearn"))
        yield ("sklearn_radius_neighbors", "select", 3, "cpu", lambda: sklearn_list(size),
               is_list(size, "sklearn"))
        metrics = module("sklearn.metrics")
        if n <= 40000:
            yield ("sklearn_pairwise_distances", "store_euclidean", 3, "cpu",
                   lambda: lambda: metrics.pairwise_distances(size.x, n_jobs=-1),
                   is_matrix(size, euclidean))


# ---- times ---------------------------------------------------------------------------------------

AT_ONCE = ("scipy", "sklearn")
AT_LAST = ("torch_compile", "keops", *AT_ONCE)  # compilers and the CPU, which take seconds


def gpu_of(variant, device):
    """Whose events time a variant."""
    if device == "cpu":
        return None
    return cupy if variant.startswith("cupy") else torch


rows_out = []
print("| n | variant | of | device | ms | noise | Tpair/s |\n"
      "| --- | --- | --- | --- | --- | --- | --- |")
sizes = [Size(int(text)) for text in args.n.split(",")]
for last in (False, True):
    for size_ in sizes:
        for name, of, d_, where, make, correct in peers(size_):
            if args.only not in name or name.startswith(AT_LAST) != last:
                continue
            line = f"| {size_.n} | {name} | {of} | {where} |"
            if common.over(args.seconds):
                print(f"{line} skipped: {args.seconds:g} seconds are over | | |", flush=True)
                continue
            try:
                milliseconds, noise = common.measure(
                    make(), gpu_of(name, where), correct, name.startswith(AT_ONCE))
            except Exception as failure:  # pylint: disable=broad-except  # a limit is a result too
                print(f"{line} {reason(failure)} | | |", flush=True)
                continue
            finally:
                common.free(torch if args.torch == "cuda" else None, cupy)
            tpairs = size_.n * (size_.n - 1) / 2e9 / milliseconds
            print(f"{line} {milliseconds:.4f} | {noise:.1f}% | {tpairs:.4f} |", flush=True)
            rows_out.append({"work": "pairs", "variant": name, "of": of, "domain": "triangle",
                             "size": size_.n, "d": d_, "dtype": "f32", "device": where,
                             "ms": round(milliseconds, 5), "noise_pct": round(noise, 2),
                             "tpairs": round(tpairs, 6), "verified": True})
if args.out:
    common.write(args.out, "peers_pairs",
                 ("numpy", "scipy", "sklearn", "torch", "cupy", "MDAnalysis", "mdtraj"), rows_out)
