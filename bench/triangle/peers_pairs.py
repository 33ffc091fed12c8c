#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what torch, also compiled, and CuPy offer for the works of bench_pairs, where they can be
imported.

    peers_pairs.py [--n N,N,...] [--only TEXT] [--seconds S] [--torch cuda|cpu] [--out FILE]

Points, bodies and the radius are those of bench_pairs. Prints a Markdown table of medians, and
writes the same as JSON in the form of the other results: variant torch_count and so on, `of` the
work that it does, `device` where. Each result is checked before its time is listed: a count against
SciPy's tree or a sum in double, distances and pulls against some in double. What fails says why on
its line; what has not begun at the limit of seconds is left out. `tpairs` counts each pair once, also
where a library looks at it twice.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
from peers import apart2, chunks, module  # noqa: E402  # pylint: disable=wrong-import-position

parser = common.parser(__doc__, 60)
parser.add_argument("--n", default="30720,131072", help="numbers of points (%(default)s)")
common.add_torch(parser)
args = parser.parse_args()

np = module("numpy")
torch = common.torch_on(args.torch) if np is not None else None
cupy = common.cupy_on_gpu() if np is not None else None
if torch is None and cupy is None:
    common.skip()
spatial = module("scipy.spatial")

RADIUS = float(np.float32(0.0968))
EPS2 = float(np.float32(1e-4))


# ---- points and what is known of them ------------------------------------------------------------

def make_points(n, d):
    """Those of pairs_sweep.h."""
    return common.hashed(np.arange(n * d, dtype=np.uint64)).reshape(n, d)


def near_sum(a, b):
    return (apart2(a, b) < RADIUS * RADIUS).sum()


def terms_sum(a, b):
    return ((apart2(a[:, :3], b[:, :3]).sqrt() - apart2(a[:, 3:], b[:, 3:]).sqrt()) ** 2).sum()


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

    def brute(self, what, points, own):
        """The sum of `what` over all pairs in double; own: what a point gives with itself."""
        x, total = on_device(points).double(), 0.0
        for rows in chunks(self.n, 1 << 26):
            total += float(what(x[rows], x))
        return (total - own * self.n) / 2

    def hits(self):
        """Pairs within the radius."""
        if spatial is None:
            return self.once("hits", lambda: self.brute(near_sum, self.x, 1))
        tree = spatial.cKDTree(self.x)
        return self.once("hits", lambda: (int(tree.count_neighbors(tree, RADIUS)) - self.n) // 2)

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


def is_count(size, tolerance=1e-5):
    """The check of a count; tolerance: the part of it that may be rounded to the other side."""
    return lambda got: expect(int(got), size.hits(), tolerance)


def is_terms(size):
    return lambda got: expect(
        float(got), size.once("terms", lambda: size.brute(terms_sum, size.frames, 0)), 1e-3)


def is_matrix(size, distance):
    """The check of distances, condensed or square, by some of them in double."""
    def check(got):
        n = size.n
        some = np.random.default_rng(1).integers(0, n, (100, 2)).tolist()
        for i, j in [(0, 1), (0, n - 1), (n - 2, n - 1)] + some:
            i, j = min(i, j), max(i, j)
            if i == j:
                continue
            want = float(distance(size.x[i].astype(np.float64) - size.x[j].astype(np.float64)))
            value = float(got[i, j] if got.ndim == 2 else got[i * (2 * n - i - 1) // 2 + j - i - 1])
            # Those of a matrix product are less exact where points are near.
            if abs(value - want) > 1e-3 * want + 1e-3:
                raise ValueError(f"wrong: {value} instead of {want}")
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
    return (v ** 2).sum() ** .5


def chebyshev(v):
    return abs(v).max()


def on_device(x):
    return torch.from_numpy(x).to(args.torch)


def torch_count(size):
    x = on_device(size.x)

    def call():
        total = torch.zeros((), dtype=torch.int64, device=args.torch)
        for rows in chunks(size.n, 1 << 30):
            near = torch.cdist(x[rows], x[rows.start:]) < RADIUS
            count = rows.stop - rows.start  # the first columns have each pair twice
            total += near.sum() - (near[:, :count].sum() + count) // 2
        return total
    return call


def torch_compile_count(size):
    x, compiled = on_device(size.x), torch.compile(near_sum, dynamic=False)
    return lambda: (sum(compiled(x[rows], x) for rows in chunks(size.n, 1 << 29)) - size.n) // 2


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


def torch_gravity(size):
    bodies = on_device(size.bodies)

    def pull(mine):
        apart = bodies[None, :, :3] - mine[:, None, :3]
        r = ((apart ** 2).sum(-1) + EPS2).rsqrt()
        return ((bodies[:, 3] * r * r * r)[..., None] * apart).sum(1)
    return lambda: torch.cat([pull(bodies[rows]) for rows in chunks(size.n, 1 << 28)])


def torch_matrix(size, function):
    x = on_device(size.x)
    return lambda: function(x)


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


# ---- the peers -----------------------------------------------------------------------------------

def peers(size):
    """(variant, of, d, function that makes the call, check)"""
    if torch is not None:
        yield "torch_count", "count", 3, torch_count, is_count(size, 1e-3)
        yield "torch_compile_count", "count", 3, torch_compile_count, is_count(size)
        yield "torch_drmsd", "drmsd", 6, torch_drmsd, is_terms(size)
        yield ("torch_pdist", "store_euclidean", 3, lambda s: torch_matrix(s, torch.pdist),
               is_matrix(size, euclidean))
        yield ("torch_cdist", "store_euclidean", 3,
               lambda s: torch_matrix(s, lambda x: torch.cdist(x, x)), is_matrix(size, euclidean))
        yield ("torch_pdist_chebyshev", "store_chebyshev", 3,
               lambda s: torch_matrix(s, lambda x: torch.pdist(x, p=float("inf"))),
               is_matrix(size, chebyshev))
        yield "torch_gravity", "rows", 4, torch_gravity, is_pulls(size)
    if cupy is not None:
        yield "cupy_count", "count", 3, cupy_count, is_count(size)
        yield ("cupy_chebyshev", "store_chebyshev", 3,
               lambda s: cupy_matrix(s, "fmaxf(fmaxf(fabsf(a), fabsf(b)), fabsf(c))"),
               is_matrix(size, chebyshev))
        yield ("cupy_euclidean", "store_euclidean", 3,
               lambda s: cupy_matrix(s, "sqrtf(a * a + b * b + c * c)"), is_matrix(size, euclidean))


table = common.Table(args, ("size", "variant", "of", "device"), "tpairs")
for size_ in [Size(int(text)) for text in args.n.split(",")]:
    for name, of, d_, make, correct in peers(size_):
        by_torch = name.startswith("torch")
        row = {"work": "pairs", "variant": name, "of": of, "domain": "triangle", "size": size_.n,
               "d": d_, "dtype": "f32", "device": args.torch if by_torch else "cuda"}
        table.time(row, lambda: make(size_), (torch if args.torch == "cuda" else None) if by_torch
                   else cupy, correct, size_.n * (size_.n - 1) / 2e9)
table.write("peers_pairs", ("numpy", "scipy", "torch", "cupy"))
