# SPDX-License-Identifier: MIT
"""threadmap from Python: ready kernels on arrays, the headers, plans, and kernels of your own
compiled at run time.

Ready kernels are in arrays.py, and need the library (spaces.py): threadmap.pdist(points). Your own:

    import cupy, threadmap
    kernel = threadmap.Kernel('''
        #include <threadmap/fractal.h>
        struct job { int *out; };
        static __device__ void dab(void *j, tmap_cell cell) { ((job *)j)->out[cell.at] = 1; }
        extern "C" __global__ void draw(tmap_each_plan plan, int *out) {
            job j = {out};
            tmap_each(&plan, dab, &j);
        }''', "draw")
    plan = kernel.each(threadmap.gasket, r=10, pitch=1024)
    out = cupy.zeros((1024, 1024), cupy.int32)
    kernel(plan, out)

Arrays of CuPy, PyTorch, numba and whatever has __cuda_array_interface__ are passed by their
address, plans and ctypes objects by value; numbers must be ctypes objects, as ctypes.c_uint32(5).
Kernels are compiled by NVRTC and launched by the CUDA driver in the current context, else in the
primary context of device 0, which those libraries use. Plans are made by the C functions
tmap_X_plan_of, compiled once into ~/.cache/threadmap. Needs the standard library, libcuda, libnvrtc
and the host's C compiler ($CC, else cc). Whatever is missing or refused is a threadmap.Error.
"""
import ctypes
import glob
import hashlib
import os
import re
import subprocess
import tempfile

__all__ = ["include", "version", "Fractal", "Kernel", "Planner", "Plan", "Error", "FRACTALS",
           "PAIRS_ANY_ORDER", "PAIRS_FIXED_ORDER"]
ARRAYS = ["device", "release", "pdist", "pairs_within", "graph_within", "nearest", "near_set", "groups",
          "histogram", "label", "shapes", "contacts", "remove_small_objects", "binary_fill_holes",
          "spill", "flood", "drmsd", "rmsd", "gromos", "linkage", "life", "mandelbrot"]
__all__ += ARRAYS
HERE = os.path.dirname(os.path.abspath(__file__))


class Error(RuntimeError):
    """What NVRTC, the driver, a maker of plans or the library says."""


def __getattr__(name):  # what is not asked for costs nothing
    if name not in ARRAYS:
        raise AttributeError(f"module 'threadmap' has no attribute {name!r}")
    from . import arrays
    globals()[name] = getattr(arrays, name)  # the next call finds it at once
    return globals()[name]


def include():
    """The folder to give to a compiler: -I threadmap.include()."""
    for folder in os.path.join(HERE, "include"), os.path.join(HERE, "..", "..", "include"):
        if os.path.isfile(os.path.join(folder, "threadmap", "core.h")):
            return os.path.normpath(folder)
    raise Error("the headers of threadmap are not beside this module")


def version():
    """The version of the headers, as "0.1.0"."""
    with open(os.path.join(include(), "threadmap", "version.h"), encoding="utf-8") as file:
        return ".".join(re.findall(r"#define TMAP_VERSION_[A-Z]+ (\d+)\n", file.read()))


# ---- plans, made by the C functions -------------------------------------------------------------

SHIM = """
#include <threadmap/fractal.h>
#include <threadmap/triangle.h>
#include <threadmap/triangle/near_nearest.h>
#include <threadmap/triangle/near_rows.h>
#include <threadmap/triangle/near_select.h>
enum { STENCIL = 3, PAIRS, ROWS, STORE, SUMS, FRAMES, TRIPLES, NEAR, NEAR_ROWS, NEAREST };
enum { OTHERS, SETS, SHARE };
unsigned threadmap_size(int kind) {
    return kind <= STENCIL   ? sizeof(tmap_each_plan)
           : kind <= SUMS    ? sizeof(tmap_pairs_plan)
           : kind == FRAMES  ? sizeof(tmap_pairs_frames_plan)
           : kind == TRIPLES ? sizeof(tmap_triples_plan)
                             : sizeof(tmap_near_plan);
}
#define LAUNCH(type, number) { \
    const type *p = (const type *)plan; \
    to[0] = p->grid, to[1] = p->block, to[2] = p->shared, to[3] = number; \
}
static int told(int code, int kind, const void *plan, tmap_u64 *to) {
    if (code) return code;
    if (kind <= STENCIL) LAUNCH(tmap_each_plan, p->items)
    else if (kind <= SUMS) LAUNCH(tmap_pairs_plan, p->items)
    else if (kind == FRAMES) LAUNCH(tmap_pairs_frames_plan, 0)
    else if (kind == TRIPLES) LAUNCH(tmap_triples_plan, p->items)
    else LAUNCH(tmap_near_plan, p->items)
    return 0;
}
static int cells(int kind, const tmap_u64 *a, const tmap_facts *facts, tmap_each_plan *plan) {
    const tmap_nbb nbb = tmap_nbb_make((tmap_u32)a[0], (tmap_u32)a[1], (tmap_u32)a[2], a[3], a[4]);
    const int code = tmap_nbb_check(nbb);
    return code ? code : tmap_each_plan_of(kind, nbb, (tmap_u32)a[5], a[6], facts, plan);
}
int threadmap_plan(int kind, const tmap_u64 *a, const tmap_facts *facts, void *plan, tmap_u64 *to) {
    const tmap_u32 n = (tmap_u32)a[0], d = (tmap_u32)a[1], size = (tmap_u32)a[2];
    const tmap_u32 fourth = (tmap_u32)a[3]; // bytes of an accumulator; the layout of a matrix
    const tmap_near_shape set = {n, d, size};
    const tmap_pairs_store_shape store = {n, d, size, fourth, (tmap_u32)a[4]};
    const int code =
        kind <= STENCIL     ? cells(kind, a, facts, plan)
        : kind == PAIRS     ? tmap_pairs_plan_of(n, d, size, facts, plan)
        : kind == ROWS      ? tmap_pairs_rows_plan_of(n, d, size, fourth, facts, plan)
        : kind == STORE     ? tmap_pairs_store_plan_of(store, plan)
        : kind == SUMS      ? tmap_pairs_store_sums_plan_of(store, plan)
        : kind == FRAMES    ? tmap_pairs_frames_plan_of(n, a[1], size, fourth, facts, plan)
        : kind == TRIPLES   ? tmap_triples_plan_of(n, d, size, facts, plan)
        : kind == NEAR      ? tmap_near_plan_of(set, facts, plan)
        : kind == NEAR_ROWS ? tmap_near_rows_plan_of(set, fourth, facts, plan)
                            : tmap_near_nearest_plan_of(set, facts, plan);
    return told(code, kind, plan, to);
}
int threadmap_change(int kind, int what, tmap_u64 a, tmap_u64 b, void *plan, tmap_u64 *to) {
    const int pairs = kind >= PAIRS && kind <= SUMS, near = kind >= NEAR;
    int code = TMAP_EINVAL;
    if (what == OTHERS)
        code = pairs  ? tmap_pairs_plan_others_of(plan, (tmap_u32)a)
               : near ? tmap_near_plan_others_of(plan, (tmap_u32)a)
                      : code;
    else if (what == SETS && pairs)
        code = tmap_pairs_plan_sets_of(plan, (tmap_u32)a);
    else if (what == SHARE && a < b && kind != FRAMES) {
        const tmap_share s = tmap_share_of(to[3], a, b);
        code = kind <= STENCIL   ? tmap_each_plan_share_of(plan, s.first, s.count)
               : pairs           ? tmap_pairs_plan_share_of(plan, s.first, s.count)
               : kind == TRIPLES ? tmap_triples_plan_share_of(plan, s.first, s.count)
                                 : tmap_near_plan_share_of(plan, s.first, s.count);
    }
    return told(code, kind, plan, to);
}
tmap_u64 threadmap_bytes(int kind, const void *plan, tmap_u32 bytes) {
    return kind <= STENCIL   ? tmap_each_fold_bytes(plan, bytes)
           : kind == PAIRS   ? tmap_pairs_fold_bytes(plan, bytes)
           : kind == ROWS    ? tmap_pairs_rows_bytes(plan, bytes)
           : kind == FRAMES  ? tmap_pairs_frames_bytes(plan)
           : kind == TRIPLES ? ((const tmap_triples_plan *)plan)->workspace
                             : tmap_near_fold_bytes(plan, bytes);
}
tmap_u64 threadmap_select_bytes(int kind, const void *plan, int order) {
    return kind == PAIRS ? tmap_pairs_select_bytes(plan, order) : tmap_near_select_bytes(plan);
}
"""

# What plans are for: the kinds of the shim, which begin as tmap_each_work; what is changed of one.
(EACH, UPDATE, FOLD, STENCIL, PAIRS, ROWS, STORE, SUMS, FRAMES, TRIPLES, NEAR, NEAR_ROWS,
 NEAREST) = range(13)
OTHERS, SETS, SHARE = range(3)
# Orders of a list of pairs, as TMAP_PAIRS_ANY_ORDER and TMAP_PAIRS_FIXED_ORDER.
PAIRS_ANY_ORDER, PAIRS_FIXED_ORDER = range(2)
# What is stored of a matrix of pairs, as TMAP_PAIRS_CONDENSED, _SQUARE and _LOWER; added to the
# latter two as TMAP_PAIRS_HOLLOW.
CONDENSED, SQUARE, LOWER, HOLLOW = range(1, 5)


def _build(path):
    """Compiles the shim to `path`."""
    cache = os.path.dirname(path)
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        source, built = os.path.join(folder, "plans.c"), os.path.join(folder, "plans.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SHIM)
        command = [*(os.environ.get("CC") or "cc").split(), "-std=c11", "-O1", "-fPIC", "-shared",
                   "-I", include(), source, "-o", built]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.returncode:
            raise Error(f"{' '.join(command)}:\n{said.stderr}")
        os.replace(built, path)  # whole or not at all


def _library():
    """The shim, compiled once for each state of the headers."""
    if _library.loaded is None:
        digest = hashlib.sha256(SHIM.encode())
        for path in sorted(glob.glob(os.path.join(include(), "threadmap", "**", "*.h"),
                                     recursive=True)):
            with open(path, "rb") as file:
                digest.update(file.read())
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        path = os.path.join(cache, "threadmap", f"plans-{digest.hexdigest()[:16]}.so")
        try:
            if not os.path.exists(path):
                _build(path)
            _library.loaded = ctypes.CDLL(path)
        except OSError as error:
            raise Error(f"the C compiler ($CC, cc) or the cache of plans: {error}") from error
        _library.loaded.threadmap_bytes.restype = ctypes.c_uint64
        _library.loaded.threadmap_select_bytes.restype = ctypes.c_uint64
    return _library.loaded


_library.loaded = None


def _number(value, kind=ctypes.c_uint32):
    """A ctypes number, which alone would drop the bits that do not fit."""
    number = kind(value)
    if number.value != value:
        raise Error(f"{value} does not fit {8 * ctypes.sizeof(kind)} bits")
    return number


class Fractal:
    """An NBB fractal from 1 to 16 rows of a picture, equally long, up to 16, with 1 to 16 replicas:
    Fractal("#.", "##") is the gasket."""

    def __init__(self, *rows):
        if len({len(row) for row in rows}) != 1 or set("".join(rows)) - {"#", "."}:
            raise Error(f"no equally long rows of '#' and '.': {rows}")
        cells = [(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "#"]
        if not 1 <= len(cells) <= 16 or len(rows) > 16 or len(rows[0]) > 16:
            raise Error(f"not 1 to 16 '#', or more than 16 wide or high: {rows}")
        tau = [sum(cell[axis] << 4 * beta for beta, cell in enumerate(cells)) for axis in (0, 1)]
        self.rows = rows
        self.numbers = (ctypes.c_uint64 * 5)(len(cells), len(rows[0]), len(rows), *tau)


def _catalogue():
    """The fractals of catalogue.h by name."""
    path = os.path.join(include(), "threadmap", "fractal", "catalogue.h")
    with open(path, encoding="utf-8") as file:
        found = re.findall(r'X\((\w+), "[^"]*", "([#.\\n]*)"', file.read())
    return {name: Fractal(*rows.split(r"\n")) for name, rows in found}


FRACTALS = _catalogue()
globals().update(FRACTALS)  # threadmap.gasket, threadmap.carpet, ...
__all__ += FRACTALS


class Plan:
    """A plan of a launch. It is passed to a kernel by value; grid, block and shared say how. items:
    of all shares."""

    def __init__(self, kind, numbers, facts):
        library, numbers = _library(), (ctypes.c_uint64 * 8)(*(number.value for number in numbers))
        self.kind, self.data = kind, (ctypes.c_char * library.threadmap_size(kind))()
        self._made(library.threadmap_plan, numbers, ctypes.byref(facts))

    def _made(self, function, *arguments):
        launch = (ctypes.c_uint64 * 4)(0, 0, 0, getattr(self, "items", 0))
        code = function(self.kind, *arguments, self.data, launch)
        if code:
            raise Error(f"no plan for these numbers: error {code} of core.h (TMAP_E...)")
        self.grid, self.block, self.shared, self.items = launch
        return self

    def _changed(self, what, number, second=0):
        return self._made(_library().threadmap_change, what, _number(number, ctypes.c_uint64),
                          _number(second, ctypes.c_uint64))

    def others(self, n):
        """Gives a plan of pairs, of rows, of a square matrix or of near pairs a second set of
        n points: pairs are of a point of each. Returns the plan, as the next two do."""
        return self._changed(OTHERS, _number(n).value)

    def sets(self, count):
        """Makes a plan of pairs process that many sets of n points in a launch."""
        return self._changed(SETS, _number(count).value)

    def share(self, part, parts):
        """Restricts a plan, but not one of frames, to a part of its work, 0 to parts - 1."""
        return self._changed(SHARE, part, parts)

    def workspace(self, size=0):
        """Bytes of the workspace of a fold, of rows, of frames or of triples, with accumulators of
        `size` bytes; clear it before the first launch. A list has another one: select_workspace."""
        if self.kind not in (FOLD, PAIRS, ROWS, FRAMES, TRIPLES, NEAR):
            raise Error("a plan of work without a workspace")
        return _library().threadmap_bytes(self.kind, self.data, _number(size))

    def select_workspace(self, order=PAIRS_ANY_ORDER):
        """Bytes of the workspace of tmap_pairs_select in that order, PAIRS_ANY_ORDER or
        PAIRS_FIXED_ORDER, or of tmap_near_select; clear it before the first launch."""
        if self.kind not in (PAIRS, NEAR) or order not in (PAIRS_ANY_ORDER, PAIRS_FIXED_ORDER):
            raise Error("neither a plan of Planner.pairs nor of near, or an unknown order")
        return _library().threadmap_select_bytes(self.kind, self.data, order)


# ---- the driver ---------------------------------------------------------------------------------


def _driver():
    if _driver.loaded is None:
        try:
            _driver.loaded = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Error(f"no CUDA driver: {error}") from error
        _call("cuInit", 0)
    context = ctypes.c_void_p()
    _call("cuCtxGetCurrent", ctypes.byref(context))
    if not context.value:
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        _call("cuCtxSetCurrent", context)
    return _driver.loaded


_driver.loaded = None


def _call(name, *arguments):
    code = getattr(_driver.loaded, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _driver.loaded.cuGetErrorString(code, ctypes.byref(text))
        raise Error(f"{name}: {(text.value or b'error').decode()} ({code})")


def _attribute(number):
    device, value = ctypes.c_int(), ctypes.c_int()
    _call("cuCtxGetDevice", ctypes.byref(device))
    _call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
    return value.value


def _capability():
    """Of the current device, as 90."""
    _driver()
    return 10 * _attribute(75) + _attribute(76)


def _nvrtc(source, name, options):
    """Machine code by NVRTC for the current device."""
    names = [f"libnvrtc.so{ending}" for ending in ("", ".13", ".12")]
    names += glob.glob("/usr/local/cuda*/lib64/libnvrtc.so*")
    try:  # where pip puts it
        import nvidia
        for folder in nvidia.__path__:
            names += glob.glob(os.path.join(folder, "**", "libnvrtc.so*"), recursive=True)
    except ImportError:
        pass
    for path in names:
        try:
            library = ctypes.CDLL(path)
            break
        except OSError:
            continue
    else:
        raise Error("no libnvrtc")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [option.encode() for option in options]
    code = library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0,
                                      None, None)
    code = code or library.nvrtcCompileProgram(program, len(options),
                                               (ctypes.c_char_p * len(options))(*options))
    if code:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        raise Error(log.value.decode())
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, image)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return image


class _Facts(ctypes.Structure):
    """tmap_facts of launch.h."""
    _fields_ = [(name, ctypes.c_uint32) for name in (
        "capability", "processors", "device_threads", "blocks", "device_registers",
        "block_registers", "device_shared", "block_shared", "reserved_shared",
        "floats_per_double", "concurrent", "registers", "shared", "threads", "ptx")]


class Planner:
    """Makes plans for a kernel that something else compiled, for the current device: its registers
    a thread, its bytes of static shared memory, its most threads a block and the PTX version that
    it was compiled from, all as cudaFuncGetAttributes names them."""

    def __init__(self, registers, shared=0, threads=1024, ptx=0):
        capability = _capability()
        self.facts = _Facts(capability, *(_attribute(number) for number in
                                          (16, 39, 106, 82, 12, 81, 97, 111, 87, 31)),
                            registers, shared, threads, ptx or capability)

    def _plan(self, kind, *numbers):
        return Plan(kind, [number if isinstance(number, ctypes.c_uint64) else _number(number)
                           for number in numbers], self.facts)

    def _cells(self, kind, fractal, r, pitch):
        return self._plan(kind, *map(ctypes.c_uint64, fractal.numbers), r,
                          _number(pitch, ctypes.c_uint64))

    def each(self, fractal, r, pitch=0):
        """A plan for tmap_each. pitch: elements from a row to the next; 0: the fractal's width."""
        return self._cells(EACH, fractal, r, pitch)

    def update(self, fractal, r, pitch=0):
        """A plan for tmap_each_update."""
        return self._cells(UPDATE, fractal, r, pitch)

    def fold(self, fractal, r, pitch=0):
        """A plan for tmap_each_fold."""
        return self._cells(FOLD, fractal, r, pitch)

    def stencil(self, fractal, r, pitch=0):
        """A plan for tmap_each_stencil."""
        return self._cells(STENCIL, fractal, r, pitch)

    def pairs(self, n, d, size=4):
        """A plan for tmap_pairs_each, _fold and _select: n points of d coordinates of `size` bytes."""
        return self._plan(PAIRS, n, d, size)

    def rows(self, n, d, accumulator, size=4):
        """A plan for tmap_pairs_rows with accumulators of that many bytes."""
        return self._plan(ROWS, n, d, size, accumulator)

    def store(self, n, d, layout=CONDENSED, value=4, size=4):
        """A plan for tmap_pairs_store. layout: CONDENSED, SQUARE, LOWER; of the latter two also with
        + HOLLOW. value: its bytes; 0: bits."""
        return self._plan(STORE, n, d, size, layout, value)

    def store_sums(self, n, d, layout=CONDENSED, value=4, size=4):
        """The same for tmap_pairs_store_sums, with sums of at most 16 bytes."""
        return self._plan(SUMS, n, d, size, layout, value)

    def frames(self, n, frames, own, accumulator):
        """A plan for tmap_pairs_frames: n points in each frame, `own` floats of a pair's own data."""
        return self._plan(FRAMES, n, _number(frames, ctypes.c_uint64), own, accumulator)

    def triples(self, n, d, size=4):
        """A plan for tmap_triples_each, _fold and _select."""
        return self._plan(TRIPLES, n, d, size)

    def near(self, n, d, size=4):
        """A plan for tmap_near_each, _fold and _select on a set of threadmap.near_set."""
        return self._plan(NEAR, n, d, size)

    def near_rows(self, n, d, accumulator, size=4):
        """A plan for tmap_near_rows with accumulators of that many bytes."""
        return self._plan(NEAR_ROWS, n, d, size, accumulator)

    def near_nearest(self, n, d, size=4):
        """A plan for tmap_near_nearest."""
        return self._plan(NEAREST, n, d, size)


class Kernel(Planner):
    """An extern "C" kernel of a source, compiled for the current device."""

    def __init__(self, source, name, options=()):
        image = _nvrtc(source, f"{name}.cu", [f"-I{include()}", f"-arch=sm_{_capability()}",
                                              "-std=c++17", *options])
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        _call("cuModuleLoadData", ctypes.byref(self.module), image)
        _call("cuModuleGetFunction", ctypes.byref(self.function), self.module, name.encode())
        super().__init__(*(self._attribute(number) for number in (4, 1, 0, 5)))

    def _attribute(self, number):
        value = ctypes.c_int()
        _call("cuFuncGetAttribute", ctypes.byref(value), number, self.function)
        return value.value

    def __call__(self, plan, *arguments, stream=None):
        """Launches the kernel by the plan, with the plan as its first parameter. stream: of CuPy,
        of PyTorch, or a number; the default stream else."""
        _driver()
        if plan.shared:
            _call("cuFuncSetAttribute", self.function, 8, plan.shared)
        values = [plan.data]
        for argument in arguments:
            of = getattr(argument, "__cuda_array_interface__", None)  # CuPy makes it at each look
            values.append(ctypes.c_void_p(of["data"][0]) if of else argument)
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = getattr(stream, "ptr", getattr(stream, "cuda_stream", stream)) or 0
        _call("cuLaunchKernel", self.function, plan.grid, 1, 1, plan.block, 1, 1, plan.shared,
              ctypes.c_void_p(stream), pointers, None)
