#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what other libraries offer for one dRMSD of bench_drmsd, where they can be imported: torch and
CuPy on the GPU, NumPy and MDTraj on the CPU.

    peers_drmsd.py [--n N,N,...] [--only TEXT] [--seconds S] [--torch cuda|cpu] [--out FILE]

Frames are those of bench_drmsd. Prints a Markdown table of medians, and writes the same as JSON in
the form of the other results: variant torch_cdist and so on, `of` pair, `device` where. Each result
is compared with the definition in double before its time is listed. What fails says why on its line,
and so does what takes more than a sixth of the seconds on the CPU; what has not begun at the limit
of seconds is left out. `tpairs` counts each pair of atoms once.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
from peers import apart2, chunks, module  # noqa: E402  # pylint: disable=wrong-import-position

parser = common.parser(__doc__, 120)
parser.add_argument("--n", default="8192,32768,131072", help="numbers of atoms (%(default)s)")
common.add_torch(parser)
args = parser.parse_args()

np = module("numpy")
if np is None:
    common.skip()
torch = common.torch_on(args.torch)
cupy = common.cupy_on_gpu()
mdtraj = module("mdtraj")


# ---- frames, and what is known of them -----------------------------------------------------------

def make_frames(n):
    """Two of drmsd_sweep.h: a cube of side 100, and up to 1.5 off in the second."""
    number = np.arange(6 * n, dtype=np.uint64)
    move = common.hashed((number + 0x40000000) & np.uint64(0xffffffff)) - np.float32(0.5)
    move[:3 * n] = 0
    at = np.tile(np.float32(100) * common.hashed(number[:3 * n]), 2)
    return (at + np.float32(3) * move).reshape(2, n, 3)


def distances(x, i):
    """From atom i to those behind it."""
    return np.sqrt(((x[i + 1:] - x[i]) ** 2).sum(1))


def definition(a, b):
    """The sum of the terms of two frames, in double."""
    if torch is not None:
        a, b = (torch.from_numpy(x).to(args.torch).double() for x in (a, b))
        return sum(float(((apart2(a[rows], a).sqrt_() - apart2(b[rows], b).sqrt_()) ** 2).sum()) / 2
                   for rows in chunks(len(a), 1 << 25))
    a, b = a.astype(np.float64), b.astype(np.float64)
    return sum(float(((distances(a, i) - distances(b, i)) ** 2).sum()) for i in range(len(a) - 1))


class Case:
    """Two frames of n atoms, how many pairs of atoms there are, and what is to come of them."""

    def __init__(self, n):
        self.n, self.cells, self.x, self.want = n, n * (n - 1) / 2, make_frames(n), None

    def check(self, got):
        if self.want is None:
            self.want = (definition(*self.x) / self.cells) ** .5
        if not abs(float(got) - self.want) <= 1e-3 * self.want:
            raise ValueError(f"wrong: {float(got)} instead of {self.want}")


# ---- on the GPU ----------------------------------------------------------------------------------

def torch_cdist(case, differences):
    a, b = (torch.from_numpy(x).to(args.torch) for x in case.x)
    mode = "donot_use_mm_for_euclid_dist" if differences else "use_mm_for_euclid_dist"

    def call():
        total = torch.zeros((), dtype=torch.float64, device=args.torch)
        for rows in chunks(case.n, 1 << 29):
            off = (torch.cdist(a[rows], a[rows.start:], compute_mode=mode) -
                   torch.cdist(b[rows], b[rows.start:], compute_mode=mode)) ** 2
            total += off.sum(dtype=torch.float64)
            total -= off[:, :rows.stop - rows.start].sum(dtype=torch.float64) / 2
        return (total / case.cells).sqrt()
    return call


CUPY = r"""
__device__ float apart(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return sqrtf(x * x + y * y + z * z);
}
extern "C" __global__ void one_pair(const float *a, const float *b, int n, double *total) {
    __shared__ float p[256 * 3], q[256 * 3];
    const int i = blockIdx.x * 256 + threadIdx.x, at = i < n ? i : 0;
    const float u[3] = {a[3 * at], a[3 * at + 1], a[3 * at + 2]};
    const float v[3] = {b[3 * at], b[3 * at + 1], b[3 * at + 2]};
    double sum = 0;
    for (int from = blockIdx.x * 256; from < n; from += 256) {
        float part = 0;
        __syncthreads();
        for (int k = threadIdx.x; k < 768; k += 256)
            if (3 * from + k < 3 * n) p[k] = a[3 * from + k], q[k] = b[3 * from + k];
        __syncthreads();
        const int end = n - from < 256 ? n - from : 256;
        for (int k = 0; k < end; ++k) {
            const float d = apart(u, p + 3 * k) - apart(v, q + 3 * k);
            if (from + k > i) part += d * d;
        }
        sum += part;
    }
    if (i >= n) sum = 0;
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}
"""


def cupy_raw(case, fast):
    a, b = (cupy.asarray(x) for x in case.x)
    kernel = cupy.RawKernel(CUPY, "one_pair", options=("-std=c++17",) + ("-use_fast_math",) * fast)
    total = cupy.zeros(1, dtype=cupy.float64)

    def call():
        total.fill(0)
        kernel(((case.n + 255) // 256,), (256,), (a, b, np.int32(case.n), total))
        return (total[0] / case.cells) ** .5
    return call


# ---- on the CPU ----------------------------------------------------------------------------------

def watch():
    """A function that ends a call on the CPU that takes more than a sixth of the time of all."""
    end = time.monotonic() + args.seconds / 6

    def look():
        if time.monotonic() > end:
            raise TimeoutError(f"more than {args.seconds / 6:g} s")
    return look


def numpy_pair(case):
    def call():
        look, total = watch(), 0.0
        for i in range(case.n - 1):
            look()
            off = distances(case.x[0], i) - distances(case.x[1], i)
            total += float((off ** 2).sum(dtype=np.float64))
        return (total / case.cells) ** .5
    return call


def mdtraj_pair(case):
    """All distances of both frames, in nanometres of any length."""
    topology, pairs = mdtraj.Topology(), np.stack(np.triu_indices(case.n, 1), axis=1)
    chain = topology.add_chain()
    for _ in range(case.n):
        topology.add_atom("CA", mdtraj.element.carbon, topology.add_residue("ALA", chain))
    frames = mdtraj.Trajectory(case.x, topology)

    def call():
        a, b = mdtraj.compute_distances(frames, pairs, periodic=False, opt=True)
        return np.sqrt(((a - b) ** 2).mean(dtype=np.float64))
    return call


def peers(case):
    """(variant, device, library, function that makes the call)"""
    if torch is not None:
        for differences in (False, True):
            yield ("torch_cdist" + "_differences" * differences, args.torch, torch,
                   lambda d=differences: torch_cdist(case, d))
    if cupy is not None:
        for fast in (False, True):
            yield "cupy_raw" + "_fast_math" * fast, "cuda", cupy, lambda f=fast: cupy_raw(case, f)
    yield "numpy", "cpu", None, lambda: numpy_pair(case)
    if mdtraj is not None and case.n <= 10000:  # pairs are listed, 16 bytes each
        yield "mdtraj", "cpu", None, lambda: mdtraj_pair(case)


table = common.Table(args, ("of", "n", "variant", "device"), "tpairs")
for case_ in [Case(int(text)) for text in args.n.split(",")]:
    for name, where, library, make in peers(case_):
        row = {"work": "drmsd", "variant": name, "of": "pair", "domain": "triangle", "n": case_.n,
               "frames": 2, "dtype": "f32", "device": where}
        table.time(row, make, library if where == "cuda" else None, case_.check, case_.cells / 1e9,
                   where == "cpu")
table.write("peers_drmsd", ("numpy", "torch", "cupy", "mdtraj"))
