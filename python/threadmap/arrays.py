# SPDX-License-Identifier: MIT
"""Ready kernels on arrays: what threadmap/library.h has, as functions.

CuPy arrays, PyTorch tensors of a GPU, and anything else there with DLPack or
__cuda_array_interface__ (results are then CuPy's) go to libthreadmap.so, on the caller's current
stream. All else becomes a NumPy array and goes to libthreadmap-cpu.so, the CPU machine of the
tests: right and very slow. Floats of 32 bits are computed and returned as such, all other numbers
as doubles. Mistakes raise ValueError or TypeError; what the library reports raises threadmap.Error.
"""
import contextlib
import ctypes
import functools
import importlib.util
import math
import os
import re
import struct
import threading
import warnings

from . import Error, include, version

METRICS = ("euclidean", "sqeuclidean", "cityblock", "cosine", "chebyshev", "correlation")

# ---- the library --------------------------------------------------------------------------------

_TYPES = {"int": ctypes.c_int, "float": ctypes.c_float, "double": ctypes.c_double,
          "tmap_u32": ctypes.c_uint32, "tmap_u64": ctypes.c_uint64}


def _structures(text):
    """The structs of library.h: name -> ctypes.Structure, in which a pointer is an address."""
    found = {}
    for body, name in re.findall(r"^typedef struct \w+ \{\n(.*?)^\} (\w+);", text, re.M | re.S):
        fields = []
        for kind, members in re.findall(r"(?:const |unsigned )?(\w+) ([^;]+);", re.sub(r"//.*", "", body)):
            for star, member, count in re.findall(r"(\*?)(\w+)(?:\[(\d+)\])?", members):
                of = ctypes.c_void_p if star else _TYPES.get(kind) or found[kind]
                fields.append((member, of * int(count) if count else of))
        found[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return found


def _numbers(job, begin=0):
    """(name, offset, format of struct) of each number of a struct, those of structs in it too."""
    for name, of in job._fields_:
        at = begin + getattr(job, name).offset
        if issubclass(of, ctypes.Structure):
            yield from _numbers(of, at)
        else:
            size, of = ctypes.sizeof(of), getattr(of, "_type_", of)
            code = getattr(of, "_type_", of)
            yield from ((name, at + k, code) for k in range(0, size, struct.calcsize(code)))


class _Call:
    """A function of the library: `pack` makes its job from all numbers of it, of which `at` has the
    place of each name and `zeros` the defaults."""

    def __init__(self, function, job):
        form, end, self.at, self.zeros, self.function = "@", 0, {}, [], function
        for name, begin, code in _numbers(job):
            form, end = f"{form}{begin - end}x{code}", begin + struct.calcsize(code)
            self.at.setdefault(name, len(self.zeros))
            self.zeros.append(0)
        self.pack = struct.Struct(f"{form}{ctypes.sizeof(job) - end}x").pack
        function.argtypes = [ctypes.c_void_p] * 4


def _calls(library, structures):
    """The functions of a library by name."""
    library.threadmap_error_text.restype = ctypes.c_char_p
    library.threadmap_bits_bytes.restype = ctypes.c_uint64
    library.threadmap_near_set_bytes.restype = ctypes.c_uint64
    library.threadmap_wait.argtypes = [ctypes.c_void_p]
    library.threadmap_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64,
                                       ctypes.c_void_p]
    calls = {}
    for name, job in structures.items():
        if name.endswith("_job"):
            name = name.removesuffix("_job")
            calls[name.removeprefix("threadmap_")] = _Call(getattr(library, name), job)
    return calls


def _library(cpu):
    """The library of the CPU machine, or that of the GPU."""
    if cpu not in _library.loaded:
        name = "libthreadmap-cpu.so" if cpu else "libthreadmap.so"
        folders = [os.environ.get("THREADMAP_LIBRARY"), os.path.dirname(os.path.abspath(__file__))]
        wheels = map(importlib.util.find_spec, ("threadmap_cu13", "threadmap_cu12"))
        folders += [os.path.dirname(wheel.origin) for wheel in wheels if wheel and wheel.origin]
        paths = [os.path.join(folder, name) for folder in folders if folder]
        paths = [path for path in paths if os.path.exists(path)] + [f"{name}.0"]
        try:
            library = ctypes.CDLL(paths[0])
        except OSError as error:
            raise Error(f"{error}. docs/python.md has the commands that build it; name its folder in "
                        "THREADMAP_LIBRARY") from error
        major, minor, patch = map(int, version().split("."))
        if library.threadmap_version() != major * 1000000 + minor * 1000 + patch:
            raise Error(f"{library._name} is of another version than this module, {version()}")
        with open(os.path.join(include(), "threadmap", "library.h"), encoding="utf-8") as file:
            library.calls = _calls(library, _structures(file.read()))
        if cpu:
            warnings.warn("threadmap computes these arrays on the CPU machine of its tests, which "
                          "is very slow; arrays of CuPy or PyTorch on a GPU go to the GPU",
                          stacklevel=4)
        _library.loaded[cpu] = library
    return _library.loaded[cpu]


_library.loaded = {}


def _check(library, code, name):
    if code:
        raise Error(f"threadmap.{name}: {library.threadmap_error_text(code).decode()} ({code})")


def device():
    """Where arrays of a GPU are computed: "gpu"; or "cpu", if there is no GPU or no library for it,
    so that NumPy arrays alone can be."""
    with contextlib.suppress(Error):
        library, memory = _library(False), ctypes.c_void_p()
        if not library.threadmap_allocate(ctypes.byref(memory), ctypes.c_uint64(256)):
            library.threadmap_release(memory)
            return "gpu"
    return "cpu"


# ---- arrays -------------------------------------------------------------------------------------


@functools.lru_cache(None)
def _name(dtype):
    """The name of a dtype, without PyTorch's "torch."."""
    return str(dtype).rpartition(".")[2]


_EWORKSPACE = -102  # of library.h
_KEPT = 2**26  # bytes of the largest workspace that is kept


class _Memory:
    """What a thread keeps for a stream: a workspace, whose address and packed size these are; a
    number there; and the address of one in memory of the host that the GPU can reach. The work of
    two threads may come into a stream in any order, so they share none."""
    room = at = size = number = host = None


class _Space:
    """Arrays of NumPy: how they are made, and calls of the library on them. The classes below do the
    same for arrays of a GPU."""
    cpu, module = True, "numpy"

    def __init__(self, device):
        self.module, self.device = importlib.import_module(self.module), device
        self.kept = threading.local()

    def array(self, x):
        """An array of anything, here."""
        return self.module.asarray(x)

    def cast(self, x, dtype):
        """The array, contiguous, of that dtype."""
        x = self.array(x)
        if _name(x.dtype) == dtype and x.flags.c_contiguous:
            return x
        return self.module.ascontiguousarray(x, dtype)

    def empty(self, shape, dtype):
        return self.module.empty(shape, dtype)

    def host(self):
        """(what has to be kept, its address): 8 bytes of the host, which the GPU can reach."""
        number = self.module.empty(1, "int64")
        return number, number.ctypes.data

    def address(self, x):
        return x.ctypes.data

    def stream(self):
        """(the current stream, whether its calls are recorded for a graph)"""
        return 0, False

    def switch(self):
        """None, or a context in which the arrays' device is the current one."""
        return None

    def memory(self, stream, recorded):
        """What is kept for the stream. For a graph, which may be launched at any time: new memory."""
        kept = {} if recorded else self.kept.__dict__
        if stream not in kept:
            kept[stream] = _Memory()
        return kept[stream]

    def counter(self):
        """The address of an int64 for the result of one store, read by counted(); all calls of a
        stream have the same. That it is the host's saves a copy, and two thirds of its time."""
        memory = self.memory(*self.stream())
        if memory.host is None:
            memory.host = self.host()
        return memory.host[1]

    def sum(self):
        """An array of an int64 for a result of atomic operations, read by last(); the same."""
        memory = self.memory(*self.stream())
        if memory.number is None:
            memory.number = self.empty((1,), "int64")
        return memory.number

    def job(self, call, members):
        """A job: its members that are not 0, which are numbers, arrays, tuples of floats."""
        at, values = call.at, call.zeros.copy()
        for member, value in members.items():
            kind = type(value)
            if kind is int or kind is float:
                values[at[member]] = value
            elif kind is tuple:
                values[at[member]:at[member] + len(value)] = value
            elif value is not None:
                values[at[member]] = self.address(value)
        try:
            return call.pack(*values)
        except (struct.error, OverflowError) as error:
            raise ValueError(f"a number that is too large: {error}") from error

    def run(self, name, /, **members):
        """Calls a function of the library: with the workspace that is kept; if that is too small,
        for the size that is needed, and with one of that size."""
        library = _library(self.cpu)
        call = library.calls[name]
        job, function, (stream, recorded) = self.job(call, members), call.function, self.stream()
        memory = self.memory(stream, recorded)
        code = function(job, memory.at, memory.size, stream) if memory.size else _EWORKSPACE
        if code == _EWORKSPACE:
            need = ctypes.c_uint64()
            code = function(job, None, ctypes.byref(need), stream)
            if not code:
                kept = need.value <= _KEPT
                size = max(2**16, 1 << need.value.bit_length()) if kept else need.value
                room = self.empty((size + 256,), "uint8")
                begin, size = (self.address(room) + 255) // 256 * 256, struct.pack("Q", size)
                if kept:
                    memory.room, memory.at, memory.size = room, begin, size
                code = function(job, begin, size, stream)
        _check(library, code, name)

    def counted(self, at):
        """The number of counter(), once the stream's work is done."""
        library = _library(self.cpu)
        _check(library, library.threadmap_wait(self.stream()[0]), "wait")
        return ctypes.c_int64.from_address(at).value

    def last(self, x, kind=ctypes.c_int64):
        """The last number of an array, once the stream's work is done."""
        library, size, at = _library(self.cpu), ctypes.sizeof(kind), self.counter()
        begin = self.address(x) + (len(x) - 1) * size
        _check(library, library.threadmap_copy(at, begin, size, self.stream()[0]), "copy")
        return kind.from_address(at).value


def _cupy(cupy, x):
    if isinstance(x, cupy.ndarray):
        return x
    if _on_gpu(x) and not hasattr(x, "__cuda_array_interface__"):
        return cupy.from_dlpack(x)
    return cupy.asarray(x)


class _CuPy(_Space):
    cpu, module = False, "cupy"

    def __init__(self, device):
        super().__init__(device)
        self.current = self.module.cuda.runtime.getDevice

    def array(self, x):
        return _cupy(self.module, x)

    def address(self, x):
        return x.data.ptr

    def stream(self):
        stream = self.module.cuda.get_current_stream()
        return stream.ptr, stream.ptr and stream.is_capturing()

    def host(self):
        memory = self.module.cuda.alloc_pinned_memory(8)
        return memory, memory.ptr

    def switch(self):
        return None if self.current() == self.device else self.module.cuda.Device(self.device)


class _Torch(_Space):
    cpu, module = False, "torch"

    def __init__(self, number):
        super().__init__(number)
        self.number, torch = number, self.module
        self.device, self.likes = torch.device("cuda", number), {}
        # What torch.cuda has, without its checks: a fifth of the time.
        self.current = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
        self.raw = getattr(torch._C, "_cuda_getCurrentRawStream",
                           lambda number: torch.cuda.current_stream(number).cuda_stream)

    def array(self, x):
        if isinstance(x, self.module.Tensor) and x.device == self.device:
            return x
        return self.module.as_tensor(x, device=self.device)

    def cast(self, x, dtype):
        x, dtype = self.array(x), getattr(self.module, dtype)
        x = x if x.dtype == dtype else x.to(dtype)
        return x if x.is_contiguous() else x.contiguous()

    def empty(self, shape, dtype):
        like = self.likes.get(dtype)  # what there is to know but the shape
        if like is None:
            like = self.module.empty((0,), dtype=getattr(self.module, dtype), device=self.device)
            self.likes[dtype] = like
        return like.new_empty(shape)

    def address(self, x):
        return x.data_ptr()

    def stream(self):
        stream = self.raw(self.number)
        return stream, stream and self.module.cuda.is_current_stream_capturing()

    def host(self):
        number = self.module.empty(1, dtype=self.module.int64, pin_memory=True)
        return number, number.data_ptr()

    def switch(self):
        return None if self.current() == self.number else self.module.cuda.device(self.number)


def release():
    """Frees the workspaces, of up to 64 MiB each, that this thread's calls keep for later ones."""
    for space in _at.spaces.values():
        space.kept.__dict__.clear()


class _at:
    """with _at(x) as (space, x): where x is, and an array of it; its device is the current one."""
    spaces = {}

    def __init__(self, x):
        self.x, self.switched = x, None

    def __enter__(self):
        x = self.x
        of = type(x).__module__.partition(".")[0]
        if of == "torch" and x.is_cuda:
            kind, device = _Torch, x.get_device()
        elif of == "cupy" or of != "torch" and _on_gpu(x):
            x = x if of == "cupy" else _cupy(importlib.import_module("cupy"), x)
            kind, device = _CuPy, x.data.device_id
        else:
            kind, device = _Space, None
        space = self.spaces.get((kind, device))
        if space is None:
            space = self.spaces[kind, device] = kind(device)
        self.switched = space.switch()
        if self.switched is not None:
            self.switched.__enter__()
        return space, space.array(x) if kind is _Space else x

    def __exit__(self, *error):
        if self.switched is not None:
            self.switched.__exit__(*error)


def _on_gpu(x):
    where = getattr(x, "__dlpack_device__", None)
    return where()[0] in (2, 13) if where else hasattr(x, "__cuda_array_interface__")


def _reals(space, x, axes):
    """(points as floats or doubles, their dtype, the library's number of it)"""
    if len(x.shape) != 2 or axes and x.shape[1] not in axes:
        wanted = " or ".join(f"(n, {axis})" for axis in axes or "d")
        raise ValueError(f"points of shape {wanted}, not {tuple(x.shape)}")
    dtype = _name(x.dtype)
    if "complex" in dtype:
        raise TypeError(f"real numbers, not {dtype}")
    dtype = "float32" if dtype in ("float16", "bfloat16", "float32") else "float64"
    return space.cast(x, dtype), dtype, int(dtype == "float64")


def _box(box, d):
    """Members of a job: of a box of d lengths, or of 3 vectors of 3."""
    if box is None:
        return {}
    rows = [row.tolist() if hasattr(row, "tolist") else row
            for row in (box.tolist() if hasattr(box, "tolist") else box)]
    cell = d == 3 and len(rows) == 3 and all(isinstance(row, (list, tuple)) and len(row) == 3
                                             for row in rows)
    if not cell and (len(rows) != d or any(isinstance(row, (list, tuple)) for row in rows)):
        raise ValueError("a box: a length for each coordinate, or 3 vectors of 3 coordinates")
    if cell:
        return {"cell": tuple(float(number) for row in rows for number in row)}
    return {"box": (*map(float, rows), 0.0)[:3]}


def _near(space, x, radius, box, y=None):
    """(dtype, members of the job)"""
    x, dtype, number = _reals(space, x, (2, 3))
    n, d = x.shape
    if not radius >= 0:
        raise ValueError(f"a radius of 0 or more, not {radius}")
    members = {"points": x, "n": n, "d": d, "type": number, "radius": float(radius),
               **_box(box, d)}
    if y is not None:
        y, other, _ = _reals(space, space.array(y), (d,))
        if other != dtype:
            dtype = "float64"
            members.update(points=space.cast(x, dtype), type=1)
        # no set is empty: a point that is not finite is near nothing
        y = space.cast(y if len(y) else [[float("nan")] * d], dtype)
        members.update(others=y, m=len(y))
    return dtype, members


def _choice(value, choices, what):
    if value not in choices:
        raise ValueError(f"{what} {value!r}: one of {', '.join(map(str, choices))}")
    return choices.index(value)


# ---- points -------------------------------------------------------------------------------------


def pdist(x, metric="euclidean", square=False):
    """Distances of all pairs of n points, x of shape (n, d), as scipy.spatial.distance.pdist: n (n
    - 1) / 2 of them, or (n, n) with square."""
    metric = _choice(metric, METRICS, "metric")
    with _at(x) as (space, x):
        x, dtype, number = _reals(space, x, ())
        n, d = x.shape
        out = space.empty((n, n) if square else (n * (n - 1) // 2,), dtype)
        space.run("pdist", points=x, out=out, n=n, d=d, type=number, metric=metric,
                  layout=int(square))
        return out


def _listed(space, near, name, lists, values, found, **more):
    """Calls a function that lists pairs, and again with more room if there are more: the arrays of
    the job's members `lists` and, with values, distances. found: gives their number after a call."""
    dtype, members = near
    room = 16 * members["n"] + 1024
    while True:
        table = space.empty((len(lists), room), "int64")
        begin = space.address(table)
        arrays = {member: begin + 8 * room * row for row, member in enumerate(lists)}
        if values:
            arrays["values"] = distances = space.empty((room,), dtype)
        space.run(name, **members, capacity=room, wide=1, **arrays, **more)
        count = found()
        if count <= room:
            rows = [table[row, :count] for row in range(len(lists))]
            return [*rows, distances[:count]] if values else rows
        room = count


def pairs_within(x, radius, box=None, both=True, values=True, y=None):
    """Pairs of points, x of shape (n, 2) or (n, 3), at most a radius apart: i, j and, with values,
    distances. both: (i, j) and (j, i), else i < j. box: of periodic space: its lengths, 0: an open
    axis; or its three vectors, of any shape. y: other points: the pairs of an i of x and a j of
    y."""
    with _at(x) as (space, x):
        count = space.counter()
        return tuple(_listed(space, _near(space, x, radius, box, y), "pairs", ("i", "j"), values,
                             lambda: space.counted(count), count=count, both=int(both)))


def graph_within(x, radius, box=None, values=True, y=None):
    """The same pairs, both ways, in compressed rows: starts (n + 1), columns, ascending in a row,
    and, with values, distances: scipy.sparse.csr_array((distances, columns, starts))."""
    with _at(x) as (space, x):
        near = _near(space, x, radius, box, y)
        starts = space.empty((near[1]["n"] + 1,), "int64")
        return (starts, *_listed(space, near, "graph", ("columns",), values,
                                 lambda: space.last(starts), starts=starts))


def nearest(x, k, radius=0, include_self=True, box=None, y=None):
    """Distances and numbers, (n, k), of the k nearest (1 to 64) of each point, as
    scipy.spatial.KDTree(x).query(x, k): nearest first, itself included, infinity and n where there
    is none. radius: only nearer points; 0: any. y: other points: the nearest of these, as
    KDTree(y).query(x, k). box: as of pairs_within."""
    if not 1 <= k <= 64:
        raise ValueError(f"k from 1 to 64, not {k}")
    with _at(x) as (space, x):
        dtype, members = _near(space, x, radius, box, y)
        numbers = space.empty((members["n"], int(k)), "int64")
        distances = space.empty((members["n"], int(k)), dtype)
        space.run("nearest", **members, numbers=numbers, distances=distances, k=int(k),
                  self=int(include_self), wide=1)
        return distances, numbers if y is None or len(y) else numbers * 0


def near_set(x):
    """A prepared set of points, x of shape (n, 2) to (n, 8), for kernels of your own that call
    tmap_near_each and others with Planner.near: uint8, at a multiple of 128."""
    with _at(x) as (space, x):
        x, _, number = _reals(space, x, range(2, 9))
        members = {"points": x, "n": x.shape[0], "d": x.shape[1], "type": number}
        library = _library(space.cpu)
        job = space.job(library.calls["near_set"], members)
        size = library.threadmap_near_set_bytes(job)
        room = space.empty((size + 128,), "uint8")
        begin = -space.address(room) % 128
        out = room[begin:begin + size]
        if size:
            space.run("near_set", **members, set=out)
        return out


def groups(x, radius, box=None, min_points=1):
    """Groups of points that are linked by pairs at most a radius apart, friends of friends: their
    number, and int32 labels 0, 1, ... as scipy.sparse.csgraph.connected_components. With
    min_points more than 1: clusters as of sklearn.cluster.DBSCAN(radius, min_samples=min_points),
    and the label -1 for noise."""
    with _at(x) as (space, x):
        _, members = _near(space, x, radius, box)
        if not 1 <= min_points < 2**32:
            raise ValueError(f"min_points from 1 to 2^32 - 1, not {min_points}")
        labels, count = space.empty((members["n"],), "int32"), space.sum()
        space.run("groups", **members, labels=labels, count=count, dense=1,
                  min_points=int(min_points))
        return space.last(count, ctypes.c_int32), labels


def histogram(x, bins, maximum, box=None, y=None):
    """How many pairs lie at which distance, each pair once: int64 counts of equal bins from 0 up to
    the maximum, as numpy.histogram(pdist(x), bins, (0, maximum)); a distance within rounding of two
    bins may be in either. In a periodic box of volume V, g(r) is V / (n (n - 1) / 2) times the
    counts divided by the volumes of the bins' shells, up to half of the shortest length. y: other
    points: the pairs of one of x and one of y."""
    with _at(x) as (space, x):
        _, members = _near(space, x, maximum, box, y)
        if not 1 <= bins <= 2**31 or not 0 < maximum < 1e30:
            raise ValueError(f"bins from 1 to 2^31 and a maximum above 0, not {bins} and {maximum}")
        counts = space.empty((int(bins),), "int64")
        space.run("histogram", **members, counts=counts, bins=int(bins))
        return counts


# ---- maps ---------------------------------------------------------------------------------------


def _bytes(space, mask):
    """A contiguous mask of bytes: those of the mask itself, if it has bytes."""
    mask = space.array(mask)
    if _name(mask.dtype) in ("bool", "uint8", "int8"):
        return space.cast(mask, _name(mask.dtype))
    return space.cast(mask != 0, "bool")


# THREADMAP_LABEL3_U8 to _F32 by dtype.
_VALUES = {"bool": 2, "uint8": 2, "int8": 2, "int16": 3, "uint16": 3, "int32": 4, "uint32": 4,
           "float32": 5}
_MASK = 4  # THREADMAP_MASK


def _axes(x, wanted=(2, 3)):
    """The number of axes of a map."""
    if len(x.shape) not in wanted:
        raise ValueError(f"cells of {' or '.join(map(str, wanted))} axes, not {tuple(x.shape)}")
    return len(x.shape)


def _periodic(periodic, axes):
    """The sum of THREADMAP_PERIODIC_X, ... for numbers of axes; True: all."""
    wrapped = range(axes) if periodic is True else periodic or ()
    if not set(wrapped) <= set(range(-axes, axes)):
        raise ValueError(f"periodic {periodic}: numbers of {axes} axes")
    return sum(0x100 << axis for axis in {axes - 1 - int(axis) % axes for axis in wrapped})


def _extents(x):
    """Members of a job."""
    return {"width": x.shape[-1], "height": x.shape[-2], "depth": x.shape[0] if len(x.shape) > 2
            else 1}


def _components(space, cells, kind, connectivity, images=False, flags=0, nodata=None,
                dtype="int32"):
    """Labels of cells, and their number: of each image, if slices are images. kind: 0, a mask, or
    of values, of which nodata belongs to none. flags: of periodic axes."""
    axes = _axes(cells) - images
    at = _choice(connectivity, tuple(range(1, axes + 1)), "connectivity")
    picture = axes == 2 and not kind and not flags  # or an image, which is quicker than a volume
    wide = _choice(dtype, ("int32", "int64"), "labels of dtype")
    labels = space.empty(tuple(cells.shape), dtype)
    count = space.empty((cells.shape[0],), "int64") if images else space.counter()
    if picture:
        space.run("label", cells=cells, width=cells.shape[-1], height=cells.shape[-2], type=_MASK,
                  connectivity=(4, 8)[at], labels=labels, count=count, wide=wide,
                  batch=int(images), images=cells.shape[0] if images else 0)
    else:
        space.run("label3", cells=cells, **_extents(cells), kind=kind, labels=labels, count=count,
                  wide=wide, neighbours=(6, 18, 26)[at] + flags,
                  has_nodata=int(nodata is not None), nodata=float(nodata or 0))
    return labels, count


def _holds(name, value):
    """1 if a cell of a dtype can be a number."""
    bits = name.strip("uint")
    low = 0 if name[0] == "u" else -2 ** (int(bits) - 1) if bits.isdigit() else 0
    return not bits.isdigit() or low <= value < low + 2 ** int(bits)


def label(mask, connectivity=1, images=False, values=False, periodic=(), nodata=0, dtype="int32"):
    """Connected components of cells that are not 0, of 2 or 3 axes, as scipy.ndimage.label: labels
    from 1 on, int32 or int64, and their number. connectivity: as in generate_binary_structure, 1 to
    the number of axes. images: the slices of three axes are images of their own, with an int64
    number each. values: components are of one value each, as skimage.measure.label, and none of
    nodata; None: of all. periodic: numbers of the axes whose ends are neighbours; True: all."""
    with _at(mask) as (space, mask):
        axes = _axes(mask, (3,) if images else (2, 3))
        flags = _periodic(periodic, axes)
        if images and (values or flags):
            raise ValueError("images have neither periodic axes nor values")
        if values:
            kind = _VALUES.get(_name(mask.dtype))
            if not kind:
                raise ValueError(f"values of dtype {', '.join(_VALUES)}, not {_name(mask.dtype)}")
            cells = space.cast(mask, _name(mask.dtype))
            if nodata is not None and not _holds(_name(mask.dtype), nodata):
                nodata = None
        else:
            kind, cells = 0, _bytes(space, mask)
        labels, count = _components(space, cells, kind, connectivity, bool(images), flags, nodata,
                                    dtype)
        return labels, count if images else space.counted(count)


def _labels(space, labels):
    """Members of a job: labels of int32 or int64."""
    _axes(labels)
    wide = _name(labels.dtype) != "int32"
    labels = space.cast(labels, "int64" if wide else "int32")
    return {"labels": labels, **_extents(labels), "components": 0, "images": 0, "wide": int(wide)}


def shapes(labels):
    """The cells of each label 1, 2, ... of 2 or 3 axes, and its box: int64, and int64 of shape (n,
    4) or (n, 6): the first cell of each axis, then the one behind the last, as skimage.measure's
    regionprops. Labels of no cell have boxes without a meaning."""
    with _at(labels) as (space, labels):
        of, axes = _labels(space, labels), _axes(labels)
        number = of["components"] = max(0, int(labels.max())) if 0 not in labels.shape else 0
        table = space.empty((number, 5), "int64")
        space.run("shapes", **of, shapes=table)
        ends = [part for k in (2, 3, 4) for part in (table[:, k] & 0xffffffff, table[:, k] >> 32)]
        boxes = space.empty((number, 2 * axes), "int64")
        for axis in range(axes):  # left, top, front, right, bottom, back
            boxes[:, axis] = ends[axes - 1 - axis]
            boxes[:, axes + axis] = ends[3 + axes - 1 - axis] + 1
        return table[:, 0], boxes


def contacts(labels):
    """Which labels of 2 or 3 axes touch over faces of cells, 0 with none: int64 i < j of each pair,
    in ascending order, and the number of faces between them."""
    with _at(labels) as (space, labels):
        of, count, room = _labels(space, labels), space.sum(), 4096
        while True:
            table = space.empty((room, 2), "int64")
            space.run("contacts", **of, contacts=table, room=room, count=count)
            found = space.last(count)
            if found <= room:
                break
            room = min(8 * room, 2**32 - 1)
        table = table[table[:, 1] > 0]
        table = table[table[:, 0].argsort()]
        return table[:, 0] >> 32, table[:, 0] & 0xffffffff, table[:, 1]


def remove_small_objects(x, min_size, connectivity=1):
    """Labels without the components of fewer than min_size cells, whose cells become 0; or a mask
    of bool without its own such components: as skimage.morphology.remove_small_objects."""
    with _at(x) as (space, x):
        mask = _name(x.dtype) == "bool"
        if mask:
            labels, count = _components(space, _bytes(space, x), 0, connectivity)
            of = {**_labels(space, labels), "components": space.counted(count)}
        else:
            of = _labels(space, x)
            of["labels"] = labels = of["labels"] + 0  # a copy
            of["components"] = max(0, int(labels.max())) if 0 not in labels.shape else 0
        space.run("dust", **of, least=max(0, int(min_size)))
        return of["labels"] != 0 if mask else of["labels"]


def binary_fill_holes(mask, connectivity=1):
    """A mask of bool, of 2 or 3 axes, whose holes are filled, as scipy.ndimage.binary_fill_holes:
    cells of 0 from which no path of cells of 0 leads to a border. connectivity: of such paths. A
    volume of one slice is filled as a picture."""
    with _at(mask) as (space, mask):
        cells = space.cast(mask != 0, "uint8")
        labels, count = _components(space, cells, _VALUES["uint8"], connectivity)
        of = {**_labels(space, labels), "components": space.counted(count)}
        space.run("fill", **of, mask=cells)
        return cells != 0


def _heights(space, heights, connectivity, nodata):
    """(heights, their dtype, members of a job)"""
    if len(heights.shape) != 2:
        raise ValueError(f"heights of two axes, not {tuple(heights.shape)}")
    dtype = _name(heights.dtype)
    number = _choice(dtype, ("int16", "int32", "float32"), "heights of dtype")
    heights, (height, width) = space.cast(heights, dtype), heights.shape
    return heights, dtype, {
        "cells": heights, "width": width, "height": height, "type": number,
        "connectivity": 4 * (1 + _choice(connectivity, (1, 2), "connectivity")),
        "has_nodata": int(nodata is not None), "nodata": float(nodata or 0)}


def spill(heights, connectivity=2, outlets=None, border=True, nodata=None, depth=False):
    """The level at which water from the outlets reaches each cell of a map of int16, int32 or
    float32: filled depressions. connectivity: 1: 4 neighbours, 2: 8. outlets: a mask of cells;
    border: those of the map's border and beside cells of the value nodata, too. depth: float32,
    level - height."""
    with _at(heights) as (space, heights):
        heights, dtype, members = _heights(space, heights, connectivity, nodata)
        if outlets is not None:
            outlets = _bytes(space, outlets)
            if outlets.shape != heights.shape:
                raise ValueError("outlets: a mask of the shape of the heights")
        out = space.empty(tuple(heights.shape), "float32" if depth else dtype)
        space.run("spill", **members, mask=outlets, out=out, depth=int(depth),
                  outlets=3 if border else 0)
        return out


def flood(heights, seeds, level, connectivity=2, nodata=None, depth=False):
    """The cells below a level that water from the seeds reaches, a mask of bool; heights as of
    spill. seeds: row and column of each. depth: float32, level - height there, 0 elsewhere."""
    with _at(heights) as (space, heights):
        heights, _, members = _heights(space, heights, connectivity, nodata)
        rows = seeds.tolist() if hasattr(seeds, "tolist") else [*map(list, seeds)]
        height, width = heights.shape
        if not all(len(row) == 2 and 0 <= row[0] < height and 0 <= row[1] < width for row in rows):
            raise ValueError("seeds: row and column of cells of the map")
        out = space.empty(tuple(heights.shape), "float32" if depth else "bool")
        cells = space.cast([[x, y] for y, x in rows], "int64")
        space.run("flood", **members, seeds=cells, count=len(rows), level=float(level), out=out,
                  form=2 if depth else 0)
        return out


# ---- frames -------------------------------------------------------------------------------------


def _frames(name, frames, reference, atoms, weights):
    """The result of drmsd or rmsd."""
    with _at(frames) as (space, frames):
        frames = space.cast(frames, "float32")
        if len(frames.shape) != 3 or frames.shape[2] != 3:
            raise ValueError(f"frames of shape (frames, atoms, 3), not {tuple(frames.shape)}")
        count, n, _ = frames.shape
        if reference is not None:
            reference = space.cast(reference, "float32")
            if tuple(reference.shape) != (n, 3):
                raise ValueError(f"a reference of shape ({n}, 3), not {tuple(reference.shape)}")
        if atoms is not None:
            atoms = space.cast(atoms, "int32")
            if len(atoms.shape) != 1 or len(atoms) and not (0 <= atoms.min() and atoms.max() < n):
                raise ValueError(f"numbers of atoms from 0 to {n - 1}")
        if weights is not None:
            weights = space.cast(weights, "float32")
            if tuple(weights.shape) != (n if atoms is None else len(atoms),):
                raise ValueError("a weight of each atom that counts")
        values = count if reference is not None else count * (count - 1) // 2
        out = space.empty((values,), "float32")
        space.run(name, reference=reference, out=out, **{
            "xyz": frames, "frames": count, "n": n, "atoms": atoms, "weights": weights,
            "atom_count": 0 if atoms is None else len(atoms)})
        return out


def drmsd(frames, reference=None, atoms=None, weights=None):
    """The dRMSD of all pairs of frames, of shape (frames, atoms, 3), in scipy's condensed order, or
    of each frame and a reference (atoms, 3). atoms: numbers of those that count; weights: of
    these."""
    return _frames("drmsd", frames, reference, atoms, weights)


def rmsd(frames, reference=None, atoms=None, weights=None):
    """The RMSD after superposition, else as drmsd."""
    return _frames("rmsd", frames, reference, atoms, weights)


# ---- clusters -----------------------------------------------------------------------------------


def _condensed(space, distances):
    """(members of a job, n): distances of all pairs of n in scipy's condensed order, as floats."""
    distances = space.cast(distances, "float32")
    n = (1 + math.isqrt(1 + 8 * len(distances))) // 2
    if len(distances.shape) != 1 or n * (n - 1) // 2 != len(distances):
        raise ValueError(f"n (n - 1) / 2 distances, condensed; not {tuple(distances.shape)}")
    return {"distances": distances, "n": n}, n


def gromos(distances, cutoff):
    """Clusters by the greedy algorithm of Daura et al., gmx cluster -method gromos, from condensed
    distances, in the order in which it finds them: the cluster of each frame, from 0 on, and each
    cluster's centre and size, all int32. Neighbours: distance <= cutoff."""
    with _at(distances) as (space, distances):
        members, n = _condensed(space, distances)
        labels, centres, sizes = (space.empty((n,), "int32") for _ in range(3))
        count = space.counter()
        space.run("gromos", **members, labels=labels, centres=centres, sizes=sizes, count=count,
                  cutoff=float(cutoff))
        found = space.counted(count)
        return labels, centres[:found], sizes[:found]


def linkage(distances):
    """scipy.cluster.hierarchy.linkage(distances, "single") of condensed distances: float64 (n - 1,
    4). The minimum spanning tree is found there, its matrix is made on the host. With equal
    distances scipy may join in another order."""
    with _at(distances) as (space, distances):
        members, n = _condensed(space, distances)
        numpy, library = importlib.import_module("numpy"), _library(space.cpu)
        edges = space.empty((n - 1, 3), "int32")
        space.run("linkage", **members, edges=edges)
        host = numpy.empty((n - 1, 3), "int32")
        scratch, matrix = numpy.empty(2 * n, "uint32"), numpy.empty((n - 1, 4))
        code = library.threadmap_copy(host.ctypes.data, space.address(edges), host.nbytes,
                                      space.stream()[0])
        _check(library, code or library.threadmap_linkage_matrix(
            *map(ctypes.c_void_p, (host.ctypes.data, n, scratch.ctypes.data, matrix.ctypes.data))),
            "linkage")
        return space.cast(matrix, "float64")


# ---- fractals -----------------------------------------------------------------------------------


def _level(sides, extents):
    """The level at which a fractal of these sides has these extents."""
    level = 0
    while level < 64 and any(side ** level < extent for side, extent in zip(sides, extents)):
        level += 1
    if any(side ** level != extent for side, extent in zip(sides, extents)):
        raise ValueError(f"a state of {tuple(extents)}: powers of {tuple(sides)}")
    return level


def life(state, fractal=None, steps=1, rule="B3/S23", periodic=()):
    """A state after steps of a cellular automaton: uint8, 0 and 1. state: alive where it is not 0;
    of any shape of two axes, of which those of `periodic` (True: both) have neighbouring ends. With
    a threadmap.Fractal only its cells count: of shape (sy^r, sx^r) and 0 outside the fractal; or of
    k^r cells in the order of tmap_nbb_lambda_linear, which is computed with a bit a cell. rule: as
    that of Conway's Life."""
    said = re.fullmatch("[Bb]([0-8]*)/[Ss]([0-8]*)", rule)
    if not said or steps < 1:
        raise ValueError(f"a rule as B3/S23 and 1 step or more, not {rule!r} and {steps}")
    born, survive = (sum(1 << int(digit) for digit in set(digits)) for digits in said.groups())
    with _at(state) as (space, state):
        state = _bytes(space, state)
        axes = _axes(state, (1, 2) if fractal else (2,))
        flags, compact = _periodic(periodic, axes), axes == 1
        if fractal and flags:
            raise ValueError("a fractal has no periodic axes")
        out = words = space.empty(tuple(state.shape), "uint8")
        if fractal:
            k, sx, sy, tau_x, tau_y = fractal.numbers
            members = {"k": k, "sx": sx, "sy": sy, "tau_x": tau_x, "tau_y": tau_y,
                       "r": _level((k,) if compact else (sy, sx), state.shape)}
        else:
            members = {"height": state.shape[0], "width": state.shape[1], "periodic": flags}
        if compact:
            library = _library(space.cpu)
            job = space.job(library.calls["bits"], members)  # begins with the fractal
            size = library.threadmap_bits_bytes(job) // 2
            words, new = space.empty((size,), "int16"), space.empty((size,), "int16")
            space.run("bits", **members, bytes=state, words=words)
            state, words = words, new
        space.run("life", **members, out=words, steps=int(steps), born=born, survive=survive,
                  compact=int(compact), **{"in": state})
        if compact:
            space.run("bits", **members, bytes=out, words=words, unpack=1)
        return out


def mandelbrot(shape, window=(-1.5, 0.5, -1.0, 1.0), dwell=512, doubles=False, like=None):
    """The dwells of a picture of the Mandelbrot set by adaptive subdivision, int32 of that shape:
    steps before |z| >= 2, at most `dwell`. Pixel [y, x] is c = x0 + (x1 - x0) / width x, and
    likewise y, in the window (x0, x1, y0, y1). doubles: for small windows. like: an array where it
    is computed; None: NumPy's."""
    height, width = shape
    if not (1 <= height <= 2**24 and 1 <= width <= 2**24 and 1 <= dwell <= 2**30):
        raise ValueError(f"sides from 1 to 2^24, dwell from 1 to 2^30; not {shape} and {dwell}")
    x0, x1, y0, y1 = map(float, window)
    with _at(() if like is None else like) as (space, _):
        out = space.empty((height, width), "int32")
        space.run("mandelbrot", out=out, nx=int(width), ny=int(height), x0=x0, x1=x1, y0=y0, y1=y1,
                  dwell=int(dwell), options=2 if doubles else 0)
        return out
