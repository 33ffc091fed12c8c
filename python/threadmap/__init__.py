# SPDX-License-Identifier: MIT
"""threadmap from Python: ready kernels on arrays, the headers, plans, and kernels of your own
compiled at run time.

Ready kernels are in arrays.py, and need the library: threadmap.pdist(points). Your own:

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
ARRAYS = ["device", "release", "pdist", "pairs_within", "graph_within", "nearest", "groups",
          "histogram", "label", "contacts", "remove_small_objects", "binary_fill_holes", "spill",
          "drmsd", "rmsd", "gromos", "linkage", "life", "mandelbrot"]
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
#define LAUNCH(plan, out) (out[0] = plan->grid, out[1] = plan->block, out[2] = plan->shared)
unsigned threadmap_each_size(void) { return sizeof(tmap_each_plan); }
unsigned threadmap_pairs_size(void) { return sizeof(tmap_pairs_plan); }
int threadmap_each(int kind, const tmap_u64 *f, tmap_u32 r, tmap_u64 pitch,
                   const tmap_facts *facts, tmap_each_plan *plan, tmap_u32 *launch) {
    const tmap_nbb nbb = tmap_nbb_make((tmap_u32)f[0], (tmap_u32)f[1], (tmap_u32)f[2], f[3], f[4]);
    int code = tmap_nbb_check(nbb);
    if (code) return code;
    code = tmap_each_plan_of(kind, nbb, r, pitch, facts, plan);
    if (!code) LAUNCH(plan, launch);
    return code;
}
int threadmap_pairs(int kind, tmap_u32 n, tmap_u32 d, tmap_u32 size, tmap_u32 bytes,
                    const tmap_facts *facts, tmap_pairs_plan *plan, tmap_u32 *launch) {
    const int code = kind == 4 ? tmap_pairs_plan_of(n, d, size, facts, plan)
                               : tmap_pairs_rows_plan_of(n, d, size, bytes, facts, plan);
    if (!code) LAUNCH(plan, launch);
    return code;
}
tmap_u64 threadmap_bytes(int kind, const void *plan, tmap_u32 bytes) {
    return kind == 2   ? tmap_each_fold_bytes((const tmap_each_plan *)plan, bytes)
           : kind == 4 ? tmap_pairs_fold_bytes((const tmap_pairs_plan *)plan, bytes)
                       : tmap_pairs_rows_bytes((const tmap_pairs_plan *)plan, bytes);
}
tmap_u64 threadmap_select_bytes(const tmap_pairs_plan *plan, int order) {
    return tmap_pairs_select_bytes(plan, order);
}
"""

# What plans are for: the kinds of the shim, which begin as tmap_each_work.
EACH, UPDATE, FOLD, STENCIL, PAIRS, ROWS = range(6)
# Orders of a list of pairs, as TMAP_PAIRS_ANY_ORDER and TMAP_PAIRS_FIXED_ORDER.
PAIRS_ANY_ORDER, PAIRS_FIXED_ORDER = range(2)


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
    """A plan of a launch. It is passed to a kernel by value; grid, block and shared say how."""

    def __init__(self, kind, size, make):
        self.kind, self.data = kind, (ctypes.c_char * size)()
        launch = (ctypes.c_uint32 * 3)()
        code = make(self.data, launch)
        if code:
            raise Error(f"no plan for these numbers: error {code} of core.h (TMAP_E...)")
        self.grid, self.block, self.shared = launch

    def workspace(self, size):
        """Bytes of the workspace of a fold or of rows with accumulators of `size` bytes; clear it
        before the first launch. A list of pairs has another one: select_workspace."""
        if self.kind not in (FOLD, PAIRS, ROWS):
            raise Error("a plan of neither a fold nor rows: it has no workspace")
        return _library().threadmap_bytes(self.kind, self.data, _number(size))

    def select_workspace(self, order):
        """Bytes of the workspace of tmap_pairs_select in that order, PAIRS_ANY_ORDER or
        PAIRS_FIXED_ORDER; clear it before the first launch."""
        if self.kind != PAIRS or order not in (PAIRS_ANY_ORDER, PAIRS_FIXED_ORDER):
            raise Error("not a plan of Planner.pairs, or an unknown order")
        return _library().threadmap_select_bytes(self.data, order)


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

    def _cells(self, kind, fractal, r, pitch):
        library = _library()
        numbers = fractal.numbers, _number(r), _number(pitch, ctypes.c_uint64)
        return Plan(kind, library.threadmap_each_size(), lambda plan, launch: library.threadmap_each(
            kind, *numbers, ctypes.byref(self.facts), plan, launch))

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

    def _pairs(self, kind, n, d, size, accumulator):
        library = _library()
        numbers = [_number(number) for number in (n, d, size, accumulator)]
        return Plan(kind, library.threadmap_pairs_size(),
                    lambda plan, launch: library.threadmap_pairs(
                        kind, *numbers, ctypes.byref(self.facts), plan, launch))

    def pairs(self, n, d, size=4):
        """A plan for tmap_pairs_each, _fold and _select: n points of d coordinates of `size` bytes."""
        return self._pairs(PAIRS, n, d, size, 0)

    def rows(self, n, d, accumulator, size=4):
        """A plan for tmap_pairs_rows with accumulators of that many bytes."""
        return self._pairs(ROWS, n, d, size, accumulator)


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
            if hasattr(argument, "__cuda_array_interface__"):
                argument = ctypes.c_void_p(argument.__cuda_array_interface__["data"][0])
            values.append(argument)
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = getattr(stream, "ptr", getattr(stream, "cuda_stream", stream)) or 0
        _call("cuLaunchKernel", self.function, plan.grid, 1, 1, plan.block, 1, 1, plan.shared,
              ctypes.c_void_p(stream), pointers, None)
