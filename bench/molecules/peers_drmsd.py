#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times what other libraries offer for the works of bench_drmsd, where they can be imported: torch,
also compiled, and CuPy on the GPU, NumPy and MDTraj on the CPU.

    peers_drmsd.py [--n N,N,...] [--atoms N,N,...] [--frames N,N,...] [--only TEXT] [--seconds S]
                   [--torch cuda|cpu] [--out FILE]

Frames are those of bench_drmsd. Works are one pair of frames of --n atoms, the first frame against
all others, and all frames against all, of each number of --atoms by each of --frames. Prints a
Markdown table of medians, and writes the same as JSON in the form of the other results: variant
torch_compile and so on, `of` the work that it does, `device` where. Each result is compared with
the definition in double before its time is listed: one pair wholly, of many some. What fails says
why on its line, and so does what takes more than a sixth of the seconds on the CPU; what has not
begun after so many seconds is left out. `tpairs` counts each pair of atoms once for a pair of
frames.
"""
import functools
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import peers as common  # noqa: E402  # pylint: disable=wrong-import-position
from peers import module, reason  # noqa: E402  # pylint: disable=wrong-import-position

parser = common.parser(__doc__, 120)
parser.add_argument("--n", default="8192,32768,131072", help="atoms of one pair (%(default)s)")
parser.add_argument("--atoms", default="100,500,3000", help="atoms of many frames (%(default)s)")
parser.add_argument("--frames", default="1000,10000", help="numbers of frames (%(default)s)")
common.add_torch(parser)
args = parser.parse_args()

np = module("numpy")
if np is None:
    common.skip()
torch = common.torch_on(args.torch)
cupy = common.cupy_on_gpu()
mdtraj = module("mdtraj")


# ---- frames, and what is known of them -----------------------------------------------------------

def random(numbers):
    """drmsd_random of drmsd_sweep.h, in [0, 1)."""
    h = numbers * 2654435769 & 0xffffffff
    h ^= h >> np.uint64(15)
    h = h * 2246822519 & 0xffffffff
    h ^= h >> np.uint64(13)
    return (h >> np.uint64(8)).astype(np.float32) / np.float32(16777216)


@functools.lru_cache(maxsize=1)
def make_frames(n, frames):
    """Those of drmsd_sweep.h: a cube of side 100, and up to 1.5 off in all frames but the first."""
    number = np.arange(3 * n * frames, dtype=np.uint64)
    move = random((number + 0x40000000) & np.uint64(0xffffffff)) - np.float32(0.5)
    move[:3 * n] = 0
    at = np.tile(np.float32(100) * random(number[:3 * n]), frames)
    return (at + np.float32(3) * move).reshape(frames, n, 3)


def distances(x, i):
    """From atom i to those behind it."""
    return np.sqrt(((x[i + 1:] - x[i]) ** 2).sum(1))


def definition(a, b):
    """The sum of the terms of two frames, in double."""
    if torch is not None:
        a, b = (torch.from_numpy(x).to(args.torch).double() for x in (a, b))
        total = 0.0
        for rows in chunks(len(a), len(a), 1 << 25):
            off = (apart2(a[rows], a).sqrt_() - apart2(b[rows], b).sqrt_()) ** 2
            total += float(off.sum()) / 2
        return total
    a, b = a.astype(np.float64), b.astype(np.float64)
    return sum(float(((distances(a, i) - distances(b, i)) ** 2).sum()) for i in range(len(a) - 1))


class Case:
    """One work: frames of n atoms, how many pairs of atoms there are, and what is to come of it."""

    def __init__(self, of, n, frames):
        self.of, self.n, self.frames = of, n, frames
        self.cells = n * (n - 1) / 2
        self.pairs = self.cells * {"pair": 1, "frames": frames - 1,
                                   "matrix": frames * (frames - 1) / 2}[of]
        self.known = {}

    @property
    def x(self):
        return make_frames(self.n, self.frames)

    def want(self, f, g):
        """The dRMSD of frames f and g."""
        if (f, g) not in self.known:
            self.known[f, g] = (definition(self.x[f], self.x[g]) / self.cells) ** .5
        return self.known[f, g]

    def check(self, tolerance=1e-3):
        def check(got):
            last = self.frames - 1
            some = {"pair": [(0, 1)], "frames": [(0, 1), (0, last // 2 or 1), (0, last)],
                    "matrix": [(0, 1), (1, last), (last // 2, last)]}[self.of]
            for f, g in some:
                value = float(got if self.of == "pair" else
                              got[g - 1] if self.of == "frames" else got[f, g])
                if f != g and not abs(value - self.want(f, g)) <= tolerance * self.want(f, g):
                    raise ValueError(f"wrong: {value} instead of {self.want(f, g)}")
        return check


# ---- torch ---------------------------------------------------------------------------------------

def chunks(count, each, most):
    """Slices of `count` things of `each` elements, of at most `most` elements; equal ones where
    count is a multiple of their number."""
    rows = count
    while rows > 1 and rows * each > most:
        rows = (rows + 1) // 2
    return [slice(i, min(count, i + rows)) for i in range(0, count, rows)]


def on_device(x):
    return torch.from_numpy(x).to(args.torch)


def apart2(a, b):
    return ((a[..., :, None, :] - b[..., None, :, :]) ** 2).sum(-1)


def torch_pair_cdist(case, mode):
    a, b = (on_device(x) for x in case.x)

    def call():
        total = torch.zeros((), dtype=torch.float64, device=args.torch)
        for rows in chunks(case.n, case.n, 1 << 29):
            off = (torch.cdist(a[rows], a[rows.start:], compute_mode=mode) -
                   torch.cdist(b[rows], b[rows.start:], compute_mode=mode)) ** 2
            total += off.sum(dtype=torch.float64)
            total -= off[:, :rows.stop - rows.start].sum(dtype=torch.float64) / 2
        return (total / case.cells).sqrt()
    return call


def terms_sum(a, b, c, d):
    off = apart2(a, b).sqrt() - apart2(c, d).sqrt()
    return (off ** 2).sum(dtype=torch.float64)


def torch_pair_compile(case):
    (a, b), function = (on_device(x) for x in case.x), torch.compile(terms_sum, dynamic=False)

    def call():
        total = sum(function(a[rows], a, b[rows], b) for rows in chunks(case.n, case.n, 1 << 29))
        return (total / 2 / case.cells).sqrt()
    return call


def torch_frames(case, compiled):
    """The first frame against all others, some frames at a time."""
    x, cells = on_device(case.x), case.cells

    def differences(a, frames):
        off = apart2(a, a).sqrt() - apart2(frames, frames).sqrt()
        return ((off ** 2).sum((-2, -1)) / 2 / cells).sqrt()

    def cdist(a, frames):
        return (((torch.cdist(a, a) - torch.cdist(frames, frames)) ** 2).sum((-2, -1)) / 2 /
                cells).sqrt()
    function = torch.compile(differences, dynamic=False) if compiled else cdist
    return lambda: torch.cat([function(x[0], x[1:][rows]) for rows in
                              chunks(case.frames - 1, case.n ** 2, 1 << 29)])


def torch_matrix(case, centred, tf32):
    """All against all: distances of each frame in a row, and torch.cdist of the rows."""
    x, (i, j) = on_device(case.x), torch.triu_indices(case.n, case.n, 1, device=args.torch)

    def call():
        rows = torch.cat([(x[f][:, i] - x[f][:, j]).norm(dim=2) for f in
                          chunks(case.frames, 6 * len(i), 1 << 30)])
        if centred:
            rows -= rows.mean(0)
        torch.backends.cuda.matmul.allow_tf32 = tf32
        try:
            return torch.cdist(rows, rows) / case.cells ** .5
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False
    return call


# ---- CuPy ----------------------------------------------------------------------------------------

CUPY = r"""
__device__ float apart(const float *u, const float *v) {
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return sqrtf(x * x + y * y + z * z);
}
__device__ double block_sum(double mine) {
    __shared__ double warps[8];
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(0xffffffff, mine, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    double sum = 0;
    for (int w = 0; w < 8; ++w) sum += warps[w];
    return sum;
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
    sum = block_sum(i < n ? sum : 0);
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
extern "C" __global__ void to_first(const float *x, int n, double cells, float *out) {
    const float *a = x, *b = x + 3ll * n * (blockIdx.x + 1);
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        float part = 0;
        for (int j = i + 1; j < n; ++j) {
            const float d = apart(a + 3 * i, a + 3 * j) - apart(b + 3 * i, b + 3 * j);
            part += d * d;
        }
        sum += part;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sqrt(sum / cells);
}
"""


def cupy_kernel(name, fast):
    options = ("-std=c++17",) + (("-use_fast_math",) if fast else ())
    return cupy.RawKernel(CUPY, name, options=options)


def cupy_pair(case, fast):
    (a, b), kernel = (cupy.asarray(x) for x in case.x), cupy_kernel("one_pair", fast)
    total = cupy.zeros(1, dtype=cupy.float64)

    def call():
        total.fill(0)
        kernel(((case.n + 255) // 256,), (256,), (a, b, np.int32(case.n), total))
        return (total[0] / case.cells) ** .5
    return call


def cupy_frames(case, fast):
    x, kernel = cupy.asarray(case.x), cupy_kernel("to_first", fast)
    out = cupy.zeros(case.frames - 1, dtype=cupy.float32)

    def call():
        kernel((case.frames - 1,), (256,), (x, np.int32(case.n), np.float64(case.cells), out))
        return out
    return call


# ---- the CPU -------------------------------------------------------------------------------------

class Watch:
    """Ends a call on the CPU that takes more than a sixth of the time of all."""

    def __init__(self):
        self.end = time.monotonic() + args.seconds / 6

    def look(self):
        if time.monotonic() > self.end:
            raise TimeoutError(f"more than {args.seconds / 6:g} s")


def numpy_pair(case):
    def call():
        watch, total = Watch(), 0.0
        for i in range(case.n - 1):
            watch.look()
            off = distances(case.x[0], i) - distances(case.x[1], i)
            total += float((off ** 2).sum(dtype=np.float64))
        return (total / case.cells) ** .5
    return call


def numpy_rows(case, which, watch):
    """All distances of some frames, a row each, as MDTraj's compute_distances has them."""
    i, j = np.triu_indices(case.n, 1)
    for rows in chunks(case.frames, 3 * len(i), 1 << 24):
        watch.look()
        x = case.x[rows]
        if which is None:
            yield np.sqrt(((x[:, i] - x[:, j]) ** 2).sum(2))
        else:
            yield mdtraj.compute_distances(which[rows], np.stack([i, j], axis=1), periodic=False,
                                           opt=True)


def trajectory(case):
    """The frames for MDTraj, in nanometres of any length."""
    topology = mdtraj.Topology()
    chain = topology.add_chain()
    for _ in range(case.n):
        topology.add_atom("CA", mdtraj.element.carbon, topology.add_residue("ALA", chain))
    return mdtraj.Trajectory(case.x, topology)


def cpu_first(case, which):
    def call():
        watch, first, out = Watch(), None, []
        for rows in numpy_rows(case, which, watch):
            first = rows[0].copy() if first is None else first
            out.append(np.sqrt(((rows - first) ** 2).mean(1)))
        out = np.concatenate(out)
        return out[1] if case.of == "pair" else out[1:]
    return call


def cpu_matrix(case, which):
    def call():
        watch = Watch()
        rows = np.concatenate(list(numpy_rows(case, which, watch)))
        out = np.zeros((case.frames, case.frames), dtype=np.float32)
        for f in range(case.frames):
            watch.look()
            out[f, f:] = np.sqrt(((rows[f:] - rows[f]) ** 2).mean(1))
        return out
    return call


# ---- the peers -----------------------------------------------------------------------------------

def peers(case):
    """(variant, device, function that makes the call, check) of a work."""
    gpu, of = args.torch, case.of
    if torch is not None and of == "pair":
        yield ("torch_cdist", gpu, lambda: torch_pair_cdist(case, "use_mm_for_euclid_dist"),
               case.check())
        yield ("torch_cdist_differences", gpu,
               lambda: torch_pair_cdist(case, "donot_use_mm_for_euclid_dist"), case.check())
        yield "torch_compile", gpu, lambda: torch_pair_compile(case), case.check()
    if torch is not None and of == "frames":
        yield "torch_cdist", gpu, lambda: torch_frames(case, False), case.check()
        yield "torch_compile", gpu, lambda: torch_frames(case, True), case.check()
    if torch is not None and of == "matrix":
        for tf32 in (False, True):
            for centred in (False, True):
                name = "torch_cdist" + "_centred" * centred + "_tf32" * tf32
                yield (name, gpu, lambda c=centred, t=tf32: torch_matrix(case, c, t),
                       case.check(1e-2 if tf32 else 1e-3))
    if cupy is not None and of in ("pair", "frames"):
        for fast in (False, True):
            make = cupy_pair if of == "pair" else cupy_frames
            yield ("cupy_raw" + "_fast_math" * fast, "cuda",
                   lambda m=make, f=fast: m(case, f), case.check())
    if of == "pair":
        yield "numpy", "cpu", lambda: numpy_pair(case), case.check()
    else:
        yield ("numpy", "cpu", lambda: (cpu_first if of == "frames" else cpu_matrix)(case, None),
               case.check())
    if mdtraj is not None and case.n <= 10000:  # pairs are listed, 16 bytes each
        yield ("mdtraj", "cpu", lambda: (cpu_matrix if of == "matrix" else cpu_first)(
            case, trajectory(case)), case.check())


# ---- times ---------------------------------------------------------------------------------------

AT_ONCE = ("numpy", "mdtraj")
AT_LAST = ("torch_compile", *AT_ONCE)  # a compiler and the CPU, which take seconds


def gpu_of(variant, device):
    """Whose events time a variant."""
    if device == "cpu":
        return None
    return cupy if variant.startswith("cupy") else torch


def numbers(text):
    return [int(part) for part in text.split(",") if part]


def cases():
    for n in numbers(args.n):
        yield "pair", n, 2
    for n in numbers(args.atoms):
        for frames in numbers(args.frames):
            for of in ("frames", "matrix"):
                yield of, n, frames


rows_out = []
print("| of | n | frames | variant | device | ms | noise | Tpair/s |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |")
for last in (False, True):
    for of_, n_, frames_ in cases():
        work = Case(of_, n_, frames_)
        for name_, where, make_, correct in peers(work):
            if args.only not in name_ or name_.startswith(AT_LAST) != last:
                continue
            line = f"| {of_} | {n_} | {frames_} | {name_} | {where} |"
            if common.over(args.seconds):
                print(f"{line} skipped: {args.seconds:g} seconds are over | | |", flush=True)
                continue
            try:
                milliseconds, noise = common.measure(
                    make_(), gpu_of(name_, where), correct, name_.startswith(AT_ONCE))
            except Exception as failure:  # pylint: disable=broad-except  # a limit is a result too
                print(f"{line} {reason(failure)} | | |", flush=True)
                continue
            finally:
                common.free(torch if args.torch == "cuda" else None, cupy)
            tpairs = work.pairs / 1e9 / milliseconds
            print(f"{line} {milliseconds:.4f} | {noise:.1f}% | {tpairs:.6f} |", flush=True)
            rows_out.append({"work": "drmsd", "variant": name_, "of": of_, "domain": "triangle",
                             "n": n_, "frames": frames_, "dtype": "f32", "device": where,
                             "ms": round(milliseconds, 5), "noise_pct": round(noise, 2),
                             "tpairs": round(tpairs, 9), "verified": True})
if args.out:
    common.write(args.out, "peers_drmsd",
                 ("numpy", "scipy", "sklearn", "torch", "cupy", "MDAnalysis", "mdtraj"), rows_out)
