#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ways.py: one kernel of a user's own by every way in of docs/porting.md, and what each costs.

    bench/ways.py            builds all ways for this GPU, runs them, prints a table
    bench/ways.py --build    builds them for compute capability 9.0 and runs nothing: needs no GPU

The kernel counts the pairs of N points that are nearer than a radius. Coordinates are whole numbers,
so that no rounding depends on the compiler and counts are equal or wrong. Each way is a process of
its own; its time is the best of two rounds of 20 launches, by CUDA events. Results go to
$TMAP_OUT/ways.json. Exit status: 1 where a count differs, a time is more than 3% off that of nvcc or
a way fails; 77 without a GPU or nvcc. A way whose tool is missing is a row that says so.
"""
import argparse
import concurrent.futures
import ctypes
import datetime
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = os.path.join(ROOT, "include")
sys.path.insert(0, os.path.join(ROOT, "python"))
N, WARM, LAUNCHES, ROUNDS, ALLOWED = 81920, 100, 20, 2, 0.03
RADIUS2 = 10000.0

# The kernel in C, for all compilers; its parameters are the plan and a struct.
KERNEL = """
typedef struct near_job { const float *xyz; float radius2; void *workspace; tmap_u64 *out; } near_job;
static __device__ void count(void *job, void *sum, tmap_pair, const void *a, const void *b) {
    const float *u = (const float *)a, *v = (const float *)b;
    const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    *(tmap_u64 *)sum += x * x + y * y + z * z < ((near_job *)job)->radius2;
}
static __device__ void join(void *, void *sum, const void *other) {
    *(tmap_u64 *)sum += *(const tmap_u64 *)other;
}
extern "C" __global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 12)
near_pairs(tmap_pairs_plan plan, near_job j) {
    const tmap_u64 zero = 0;
    const tmap_points points = {j.xyz, 0, sizeof(float), 3};
    const tmap_fold fold = {&zero, sizeof zero, join};
    const tmap_fold_to to = {j.workspace, j.out};
    tmap_pairs_fold(&plan, points, count, fold, to, &j);
}
"""
LAMBDAS = """
typedef struct near_job { const float *xyz; float radius2; void *workspace; tmap_u64 *out; } near_job;
extern "C" __global__ void __launch_bounds__(TMAP_PAIRS_THREADS, 12)
near_pairs(tmap_pairs_plan plan, near_job j) {
    const float radius2 = j.radius2;
    tmap::pairs_fold(
        plan, tmap::points<float, 3>{j.xyz}, tmap_u64(0),
        [=](tmap_u64 &sum, tmap_pair, const float *u, const float *v) {
            const float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
            sum += x * x + y * y + z * z < radius2;
        },
        [](tmap_u64 &sum, const tmap_u64 &other) { sum += other; }, {j.workspace, j.out});
}
"""
# The host's part: the plan, the launches, the best time in ms, -1 after an error.
TIMED = """
static double timed(const float *xyz, tmap_u64 *result) {
    tmap_pairs_plan plan;
    near_job job = {xyz, RADIUS2, 0, 0};
    cudaEvent_t begin, end;
    float ms, best = 1e30f;
    if (tmap_pairs_plan_make(N, 3, sizeof(float), (const void *)near_pairs, &plan)) return -1;
    const size_t bytes = tmap_pairs_fold_bytes(&plan, sizeof(tmap_u64));
    cudaEventCreate(&begin), cudaEventCreate(&end);
    if (cudaMalloc(&job.workspace, bytes) || cudaMemset(job.workspace, 0, bytes) ||
        cudaMalloc((void **)&job.out, sizeof(tmap_u64))) return -1;
    for (int i = 0; i < WARM + LAUNCHES; ++i) {
        cudaEventRecord(begin, 0);
        if (tmap_pairs_launch(&plan, &job, 0)) return -1;
        cudaEventRecord(end, 0);
        if (cudaEventSynchronize(end) || cudaEventElapsedTime(&ms, begin, end)) return -1;
        if (i >= WARM && ms < best) best = ms;
    }
    if (cudaMemcpy(result, job.out, sizeof *result, cudaMemcpyDeviceToHost)) return -1;
    return best;
}
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(int, char **argv) { // argv[1]: a file of points
    float *host = (float *)malloc(12ull * N), *xyz = 0;
    tmap_u64 result = 0;
    FILE *file = fopen(argv[1], "rb");
    if (!file || fread(host, 12, N, file) != N) return 1;
    if (cudaMalloc((void **)&xyz, 12ull * N) ||
        cudaMemcpy(xyz, host, 12ull * N, cudaMemcpyHostToDevice)) return 1;
    const double ms = timed(xyz, &result);
    printf("%.6f %llu\\n", ms, (unsigned long long)result);
    return ms < 0;
}
"""
TORCH = """
std::vector<double> near(torch::Tensor points) {
    tmap_u64 result = 0;
    const double ms = timed(points.data_ptr<float>(), &result);
    return {ms, (double)result};
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.19)
project(ways LANGUAGES CXX CUDA)
add_subdirectory(${ROOT} threadmap)
add_executable(ways nvcc.cu)
target_link_libraries(ways PRIVATE threadmap::threadmap)
target_compile_features(ways PRIVATE cuda_std_17)
"""


class Missing(Exception):
    """The tool that a way needs is not here."""


def numbers():
    return f"enum {{ N = {N}, WARM = {WARM}, LAUNCHES = {LAUNCHES} }};\nstatic const float RADIUS2 = {RADIUS2}f;\n"


def program(include="<threadmap/triangle.h>", kernel=KERNEL, rest=MAIN):
    return f"#include {include}\n" + numbers() + kernel + TIMED + rest


def need(*names):
    """The first of these programs that is here."""
    for name in names:
        if shutil.which(name):
            return shutil.which(name)
    raise Missing(f"no {names[-1]}")


def module(*names):
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise Missing(f"no {name}")


def must(*command):
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=300, check=False)
    if said.returncode:
        raise RuntimeError(f"{' '.join(command)}: status {said.returncode}\n{said.stdout[-2000:]}")
    return said.stdout


# ---- ways: each builds in a folder for a capability, and gives the command that runs it ---------


def compiled(folder, name, text, *command, libraries=()):
    path = os.path.join(folder, name)
    with open(path + ".cu", "w", encoding="utf-8") as file:
        file.write(text)
    must(*command, path + ".cu", "-o", path, *libraries)
    return [path]


def nvcc_line(capability):
    return [need("nvcc"), "-std=c++17", "-O3", f"-arch=sm_{capability}"]


def by_nvcc(folder, capability):
    return compiled(folder, "nvcc", program(), *nvcc_line(capability), "-I", INCLUDE)


def by_single_file(folder, capability):
    must(sys.executable, os.path.join(INCLUDE, "amalgamate.py"), folder)
    return compiled(folder, "single", program('"threadmap-triangle.h"'), *nvcc_line(capability))


def by_cmake(folder, capability):
    cmake, build = need("cmake"), os.path.join(folder, "cmake")
    need("nvcc")
    os.makedirs(build)
    for name, text in ("CMakeLists.txt", CMAKE), ("nvcc.cu", program()):
        with open(os.path.join(build, name), "w", encoding="utf-8") as file:
            file.write(text)
    must(cmake, "-S", build, "-B", build + "/b", f"-DROOT={ROOT}", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_CUDA_ARCHITECTURES={capability}")
    must(cmake, "--build", build + "/b")
    return [build + "/b/ways"]


def by_clang(folder, capability):
    clang = need(*(f"clang++-{version}" for version in range(39, 19, -1)),
                 *(f"clang-{version}" for version in range(39, 19, -1)), "clang++")
    version = re.search(r"clang version (\d+)", must(clang, "--version"))
    if not version or int(version.group(1)) < 20:
        raise Missing("no clang from version 20 on")
    cuda = os.path.dirname(os.path.dirname(os.path.realpath(need("nvcc"))))
    library = next((path for path in (cuda + "/lib64", cuda + "/lib") if os.path.isdir(path)), cuda)
    return compiled(folder, "clang", program(), clang, "-x", "cuda", "-std=c++17", "-O3",
                    "-Wno-unknown-cuda-version", f"--cuda-gpu-arch=sm_{capability}",
                    f"--cuda-path={cuda}", "-I", INCLUDE,
                    libraries=("-L" + library, "-lcudart_static", "-ldl", "-lrt", "-lpthread",
                               "-lstdc++", "-lm"))


def by_lambdas(folder, capability):
    return compiled(folder, "lambdas", program("<threadmap/cxx.h>", LAMBDAS),
                    *nvcc_line(capability), "-I", INCLUDE)


SOURCE = "#include <threadmap/triangle.h>\n" + KERNEL


def in_python(name, *modules):
    """A way that is a function of this script, in a process of its own."""
    def build(folder, capability):
        import threadmap
        module(*modules)
        try:
            threadmap._nvrtc(SOURCE, "near_pairs.cu",
                             [f"-I{INCLUDE}", f"-arch=sm_{capability}", "-std=c++17"])
        except threadmap.Error as error:
            if str(error) == "no libnvrtc":
                raise Missing("no libnvrtc")
            raise
        threadmap._library()
        return [sys.executable, os.path.abspath(__file__), "--way", name]
    return build


def by_load_inline(folder, capability):
    module("torch")
    need("nvcc")
    need("ninja")
    os.environ["TORCH_EXTENSIONS_DIR"] = folder
    os.environ["TORCH_CUDA_ARCH_LIST"] = f"{capability // 10}.{capability % 10}"
    command = [sys.executable, os.path.abspath(__file__), "--way", "load_inline"]
    must(*command, "--build")
    return command


class Job(ctypes.Structure):
    """near_job."""
    _fields_ = [("xyz", ctypes.c_void_p), ("radius2", ctypes.c_float),
                ("workspace", ctypes.c_void_p), ("out", ctypes.c_void_p)]


def best_of(launch, events, ms):
    """The best time of LAUNCHES launches. events(): two events; ms(begin, end): waits, the time."""
    best = float("inf")
    begin, end = events()
    for i in range(WARM + LAUNCHES):
        begin.record()
        launch()
        end.record()
        end.synchronize()
        if i >= WARM:
            best = min(best, ms(begin, end))
    return best


def run_driver(points):
    """The module alone: memory and events by the CUDA driver."""
    import threadmap
    kernel = threadmap.Kernel(SOURCE, "near_pairs")
    call, plan = threadmap._call, kernel.pairs(N, d=3)

    def memory(size):
        address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        call("cuMemsetD8_v2", address, 0, ctypes.c_size_t(size))
        return address

    class Event:
        def __init__(self):
            self.at = ctypes.c_void_p()
            call("cuEventCreate", ctypes.byref(self.at), 0)

        def record(self):
            call("cuEventRecord", self.at, None)

        def synchronize(self):
            call("cuEventSynchronize", self.at)

    def elapsed(begin, end):
        value = ctypes.c_float()
        call("cuEventElapsedTime", ctypes.byref(value), begin.at, end.at)
        return value.value

    xyz, workspace, out = memory(len(points)), memory(plan.workspace(8)), memory(8)
    call("cuMemcpyHtoD_v2", xyz, points, ctypes.c_size_t(len(points)))
    job = Job(xyz.value, RADIUS2, workspace.value, out.value)
    ms, count = best_of(lambda: kernel(plan, job), lambda: (Event(), Event()), elapsed), ctypes.c_uint64()
    call("cuMemcpyDtoH_v2", ctypes.byref(count), out, ctypes.c_size_t(8))
    return ms, count.value


def on_cupy(points):
    import cupy
    import numpy
    import threadmap
    kernel = threadmap.Kernel(SOURCE, "near_pairs")
    plan = kernel.pairs(N, d=3)
    xyz = cupy.asarray(numpy.frombuffer(points, numpy.float32))
    workspace, out = cupy.zeros(plan.workspace(8), cupy.uint8), cupy.zeros(1, cupy.uint64)
    job = Job(xyz.data.ptr, RADIUS2, workspace.data.ptr, out.data.ptr)
    keep = xyz, workspace, out

    def timed(launch):
        return best_of(launch, lambda: (cupy.cuda.Event(), cupy.cuda.Event()),
                       cupy.cuda.get_elapsed_time), int(keep[2][0])
    return kernel, plan, job, timed


def run_cupy(points):
    kernel, plan, job, timed = on_cupy(points)
    return timed(lambda: kernel(plan, job))


def run_raw_module(points):
    import cupy
    import numpy
    _, plan, job, timed = on_cupy(points)
    raw = cupy.RawModule(code=SOURCE, options=("-std=c++17", f"-I{INCLUDE}")).get_function("near_pairs")
    values = tuple(numpy.frombuffer(bytes(value), f"V{len(bytes(value))}") for value in (plan.data, job))
    return timed(lambda: raw((plan.grid,), (plan.block,), values, shared_mem=plan.shared))


def torch_points(points):
    import torch
    return torch.frombuffer(bytearray(points), dtype=torch.float32).cuda()


def run_torch(points):
    import torch
    import threadmap
    xyz = torch_points(points)
    kernel = threadmap.Kernel(SOURCE, "near_pairs")
    plan = kernel.pairs(N, d=3)
    workspace = torch.zeros(plan.workspace(8), dtype=torch.uint8, device="cuda")
    out = torch.zeros(1, dtype=torch.int64, device="cuda")
    job, stream = Job(xyz.data_ptr(), RADIUS2, workspace.data_ptr(), out.data_ptr()), torch.cuda.current_stream()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    return best_of(lambda: kernel(plan, job, stream=stream), lambda: events,
                   lambda begin, end: begin.elapsed_time(end)), int(out)


def load_inline():
    from torch.utils import cpp_extension
    import threadmap
    return cpp_extension.load_inline(
        "threadmap_ways", cpp_sources="#include <vector>\nstd::vector<double> near(torch::Tensor points);",
        cuda_sources="#include <torch/extension.h>\n" + program(rest=TORCH), functions=["near"], extra_include_paths=[threadmap.include()],
        extra_cuda_cflags=["-O3"])


def run_load_inline(points):
    ms, count = load_inline().near(torch_points(points))
    return ms, int(count)


RUNS = {"driver": run_driver, "cupy": run_cupy, "raw_module": run_raw_module, "torch": run_torch,
        "load_inline": run_load_inline}
WAYS = {  # the first is what the others are compared with
    "nvcc -I include (pkg-config, Meson: the same line)": by_nvcc,
    "nvcc, single file": by_single_file,
    "CMake add_subdirectory": by_cmake,
    "clang CUDA mode": by_clang,
    "C++ lambdas, nvcc": by_lambdas,
    "Python module, NVRTC": in_python("driver"),
    "Python module, CuPy arrays": in_python("cupy", "cupy"),
    "CuPy RawModule": in_python("raw_module", "cupy"),
    "Python module, PyTorch tensors": in_python("torch", "torch"),
    "PyTorch load_inline": by_load_inline,
}


# ---- all of them --------------------------------------------------------------------------------


def write_points(path):
    """N points of whole coordinates from 0 to 1023, by a linear congruential generator."""
    state, values = 1, []
    for _ in range(3 * N):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        values.append(float(state >> 54))
    with open(path, "wb") as file:
        file.write((ctypes.c_float * len(values))(*values))


def gpu():
    """Compute capability and name of GPU 0, or None."""
    import threadmap
    try:
        threadmap._driver()
        name = ctypes.create_string_buffer(100)
        threadmap._call("cuDeviceGetName", name, 100, 0)
        return threadmap._capability(), name.value.decode()
    except threadmap.Error as error:
        print(f"SKIP: {error}")
        return None


def row(way, note="", **known):
    return {"way": way, "ms": None, "ratio": None, "equal": None, **known, "note": note}


def build_all(folder, capability):
    """The commands of the ways that could be built, and rows for the others."""
    commands, rows = {}, {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = {way: pool.submit(build, folder, capability) for way, build in WAYS.items()}
        for way, future in made.items():
            try:
                commands[way] = future.result()
            except Missing as missing:
                rows[way] = row(way, str(missing), failed=False)
            except Exception as error:  # one way's failure is a row of its own
                rows[way] = row(way, f"{type(error).__name__}: {error}", failed=True)
    return commands, rows


def run_all(commands, rows, points):
    """Rows of the ways that run, in rounds, as a GPU's clock changes."""
    best, counts = {}, {}
    for _ in range(ROUNDS):
        for way, command in commands.items():
            if way in rows:
                continue
            try:
                ms, count = must(*command, points).split()[-2:]
                best[way] = min(float(ms), best.get(way, float("inf")))
                counts.setdefault(way, set()).add(int(count))
            except Exception as error:
                rows[way] = row(way, f"{type(error).__name__}: {error}", failed=True)
    first = next(iter(WAYS))
    for way in commands:
        if way in rows:
            continue
        ratio = best[way] / best[first] if first in best else None
        equal = way in counts and first in counts and counts[way] == counts[first] and len(counts[way]) == 1
        wrong = ratio is None or not equal or abs(ratio - 1) > ALLOWED
        rows[way] = {"way": way, "ms": best[way], "ratio": ratio, "equal": equal, "failed": wrong,
                     "note": f"count {', '.join(map(str, sorted(counts[way])))}"}


def write_json(rows, name):
    folder = os.environ.get("TMAP_OUT")
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    meta = {"bench": "ways", "commit": os.environ.get("TMAP_COMMIT", "unknown"), "gpu": name,
            "date": datetime.date.today().isoformat(), "driver": os.environ.get("TMAP_DRIVER", "unknown"),
            "cuda": os.environ.get("TMAP_NVCC", "unknown"), "n": N}
    path = os.path.join(folder, "ways.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"meta": meta, "rows": rows}, file, indent=1)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="build for 9.0, run nothing")
    parser.add_argument("--way", choices=RUNS, help=argparse.SUPPRESS)
    parser.add_argument("points", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way and options.build:
        return load_inline() is None
    if options.way:
        with open(options.points, "rb") as file:
            print("%.6f %d" % RUNS[options.way](file.read()))
        return 0
    found = (90, "none") if options.build else gpu()
    if not found:
        return 77
    if not shutil.which("nvcc"):
        print("SKIP: no nvcc")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        commands, rows = build_all(folder, found[0])
        if options.build:
            rows.update({way: row(way, "built", failed=False) for way in commands})
        else:
            points = os.path.join(folder, "points")
            write_points(points)
            run_all(commands, rows, points)
    rows = [rows[way] for way in WAYS]
    print(f"{'way':52} {'ms':>8} {'ratio':>6} {'equal':>5}")
    for r in rows:
        ms, ratio = (("-" if r[key] is None else f"{r[key]:.4f}") for key in ("ms", "ratio"))
        print(f"{r['way']:52} {ms:>8} {ratio:>6} {'-' if r['equal'] is None else str(r['equal']):>5} "
              f"{'FAILED ' if r['failed'] else ''}{r['note']}")
    if not options.build:
        write_json(rows, found[1])
    return any(r["failed"] for r in rows)


if __name__ == "__main__":
    sys.exit(main())
