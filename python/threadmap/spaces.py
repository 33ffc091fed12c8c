# SPDX-License-Identifier: MIT
"""What arrays.py stands on: the libraries, and arrays of NumPy, CuPy and PyTorch, as spaces."""
import contextlib
import copy
import ctypes
import functools
import importlib.util
import operator
import os
import re
import struct
import threading
import warnings

from . import Error, include, version

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
    """(name, offset, format of struct) of each number of a struct, those of structs in it too;
    the names of an array's: box0, box1, ..."""
    for name, of in job._fields_:
        at = begin + getattr(job, name).offset
        if issubclass(of, ctypes.Structure):
            yield from _numbers(of, at)
        else:
            count, of = getattr(of, "_length_", 0), getattr(of, "_type_", of)
            code = getattr(of, "_type_", of)
            for k in range(count or 1):
                yield f"{name}{k}" if count else name, at + k * struct.calcsize(code), code


class _Call:
    """A function of the library, and its jobs: how one is packed of the members that are not 0 is
    the same for all calls that give the same ones."""

    def __init__(self, function, job):
        self.function, self.size, self.fields, self.layouts = function, ctypes.sizeof(job), {}, {}
        for name, begin, code in _numbers(job):
            self.fields.setdefault(name, (begin, code))
        function.argtypes = [ctypes.c_void_p] * 4

    def layout(self, members):
        """(which members are pointers, what takes all from the dict in their order, what packs
        them)"""
        form, end, names = "@", 0, sorted(members, key=self.fields.get)
        for begin, code in map(self.fields.get, names):
            form, end = f"{form}{begin - end}x{code}", begin + struct.calcsize(code)
        made = (tuple(name for name in names if self.fields[name][1] == "P"),
                operator.itemgetter(*names), struct.Struct(f"{form}{self.size - end}x").pack)
        return self.layouts.setdefault(tuple(members), made)


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
                          stacklevel=5)
        _library.loaded[cpu] = library
    return _library.loaded[cpu]


_library.loaded = {}


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


class _Space:
    """Arrays of NumPy: how they are made, and calls of the library on them. The classes below do
    the same for arrays of a GPU. Of the space of a device each thread keeps a copy for each stream,
    here(): with a workspace, whose address and packed size are `at` and `size`; a number there; and
    one in memory of the host that the GPU can reach. The work of two threads may come into a stream
    in any order, so they share none.

    A call costs as much as there are Python functions and operations of CuPy or PyTorch in it, and
    launches in between take their code from the caches. So there are few."""
    cpu, module = True, "numpy"
    room = at = size = sums = host = found = None

    def __init__(self, number):
        self.module, self.number = importlib.import_module(self.module), number
        self.library, self.kept = _library(self.cpu), threading.local()

    def here(self):
        """The space of the current stream. For a graph, which may be launched at any time: a new
        one."""
        stream, recorded = self.current()
        kept = {} if recorded else self.kept.__dict__
        space = kept.get(stream)
        if space is None:
            space = kept[stream] = copy.copy(self)
            space.stream = stream
        return space

    def current(self):
        """(the current stream, whether its calls are recorded for a graph)"""
        return 0, False

    def now(self):
        """The number of the current device."""
        return self.number

    def switch(self):
        """A context in which the arrays' device is the current one."""

    def array(self, x):
        """An array of anything, here."""
        return self.module.asarray(x)

    def cast(self, x, dtype):
        """The array, contiguous and aligned, of that dtype."""
        if _name(x.dtype) == dtype and x.flags.c_contiguous and (not self.cpu or x.flags.aligned):
            return x
        x = self.module.ascontiguousarray(x, dtype)
        return x if not self.cpu or x.flags.aligned else x.copy()

    def empty(self, shape, dtype):
        return self.module.ndarray(shape, dtype)

    def address(self, x):
        return x.ctypes.data

    def block(self, size):
        """(memory of a multiple of 8 bytes, its address)"""
        block = self.module.ndarray((size // 8,), "int64")
        return block, block.ctypes.data

    def part(self, block, begin, count, dtype):
        """An array of one axis in a block, from a byte on."""
        return self.module.ndarray((count,), dtype, block, begin)

    def pinned(self):
        """(what has to be kept, its address): 8 bytes of the host, which the GPU can reach."""
        return self.block(8)

    def counter(self):
        """The address of an int64 for the result of one store, read by counted(). That it is the
        host's saves a copy, and two thirds of its time."""
        if self.host is None:
            self.host, at = self.pinned()
            self.found = ctypes.c_int64.from_address(at)
        return ctypes.addressof(self.found)

    def sum(self):
        """An array of an int64 for a result of atomic operations, read by last()."""
        if self.sums is None:
            self.sums = self.empty((1,), "int64")
        return self.sums

    def check(self, code, name):
        if code:
            text = self.library.threadmap_error_text(code).decode()
            raise Error(f"threadmap.{name}: {text} ({code})")

    def job(self, call, members):
        """A job of its members that are not 0: numbers, and pointers as arrays, addresses or None, of
        which the dict keeps the addresses."""
        pointers, values, pack = call.layouts.get(tuple(members)) or call.layout(members)
        for name in pointers:
            value = members[name]
            if type(value) is not int:
                members[name] = 0 if value is None else self.address(value)
        try:
            return pack(*values(members))
        except (struct.error, OverflowError) as error:
            raise ValueError(f"a number that is too large: {error}") from error

    def run(self, name, members):
        """Calls a function of the library, with members of job(): with the workspace that is kept;
        if that is too small, for the size that is needed, and with one of that size."""
        call = self.library.calls[name]
        job, function = self.job(call, members), call.function
        code = function(job, self.at, self.size, self.stream) if self.size else _EWORKSPACE
        if code == _EWORKSPACE:
            need = ctypes.c_uint64()
            code = function(job, None, ctypes.byref(need), self.stream)
            if not code:
                kept = need.value <= _KEPT
                size = max(2**16, 1 << need.value.bit_length()) if kept else need.value
                room, begin = self.block((size + 263) // 8 * 8)
                begin, size = (begin + 255) // 256 * 256, struct.pack("Q", size)
                if kept:
                    self.room, self.at, self.size = room, begin, size
                code = function(job, begin, size, self.stream)
        self.check(code, name)

    def counted(self):
        """The number of counter(), once the stream's work is done."""
        self.check(self.library.threadmap_wait(self.stream), "wait")
        return self.found.value

    def last(self, x, kind=ctypes.c_int64):
        """The last number of an array, once the stream's work is done."""
        size, at = ctypes.sizeof(kind), self.counter()
        begin = self.address(x) + (len(x) - 1) * size
        self.check(self.library.threadmap_copy(at, begin, size, self.stream), "copy")
        return kind.from_address(at).value


def _cupy(cupy, x):
    if isinstance(x, cupy.ndarray):
        return x
    if _on_gpu(x) and not hasattr(x, "__cuda_array_interface__"):
        return cupy.from_dlpack(x)
    return cupy.asarray(x)


class _CuPy(_Space):
    cpu, module = False, "cupy"

    def __init__(self, number):
        super().__init__(number)
        cuda = self.module.cuda
        self.alloc, self.now, self.queue = cuda.alloc, cuda.runtime.getDevice, cuda.get_current_stream

    def current(self):
        stream = self.queue()
        at = stream.ptr
        return at, at and stream.is_capturing()

    def switch(self):
        return self.module.cuda.Device(self.number)

    def array(self, x):
        x = _cupy(self.module, x)
        return x if x.data.device_id == self.number else self.module.asarray(x)  # a copy, here

    def address(self, x):
        return x.data.ptr

    def block(self, size):
        block = self.alloc(size)
        return block, block.ptr

    def part(self, block, begin, count, dtype):
        return self.module.ndarray((count,), dtype, block + begin)

    def pinned(self):
        memory = self.module.cuda.alloc_pinned_memory(8)
        return memory, memory.ptr


class _Torch(_Space):
    cpu, module = False, "torch"

    def __init__(self, number):
        super().__init__(number)
        torch = self.module
        self.device, self.likes = torch.device("cuda", number), {}
        # What torch.cuda has, without its checks: a fifth of the time.
        self.now = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
        self.raw = getattr(torch._C, "_cuda_getCurrentRawStream",
                           lambda number: torch.cuda.current_stream(number).cuda_stream)

    def current(self):
        stream = self.raw(self.number)
        return stream, stream and self.module.cuda.is_current_stream_capturing()

    def switch(self):
        return self.module.cuda.device(self.number)

    def array(self, x):
        if isinstance(x, self.module.Tensor) and x.device == self.device:
            return x
        return self.module.as_tensor(x, device=self.device)

    def cast(self, x, dtype):
        if _name(x.dtype) != dtype:
            x = x.to(getattr(self.module, dtype))
        return x if x.is_contiguous() else x.contiguous()

    def empty(self, shape, dtype):
        like = self.likes.get(dtype)  # what there is to know but the shape
        if like is None:
            like = self.module.empty((0,), dtype=getattr(self.module, dtype), device=self.device)
            self.likes[dtype] = like
        return like.new_empty(shape)

    def address(self, x):
        return x.data_ptr()

    def block(self, size):
        block = self.empty((size // 8,), "int64")
        return block, block.data_ptr()

    def part(self, block, begin, count, dtype):
        if dtype != "int64":
            block = block.view(getattr(self.module, dtype))
        begin //= block.element_size()
        return block[begin:begin + count]

    def pinned(self):
        number = self.module.empty(1, dtype=self.module.int64, pin_memory=True)
        return number, number.data_ptr()


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
            key = _Torch, x.get_device()
        elif of == "cupy" or of != "torch" and _on_gpu(x):
            x = x if of == "cupy" else _cupy(importlib.import_module("cupy"), x)
            key = _CuPy, x.data.device_id
        else:
            key = _Space, None
        space = self.spaces.get(key)
        if space is None:
            space = self.spaces[key] = key[0](key[1])
        if space.now() != space.number:
            self.switched = space.switch()
            self.switched.__enter__()
        return space.here(), space.array(x) if space.cpu else x

    def __exit__(self, *error):
        if self.switched is not None:
            self.switched.__exit__(*error)


def _on_gpu(x):
    where = getattr(x, "__dlpack_device__", None)
    return where()[0] in (2, 13) if where else hasattr(x, "__cuda_array_interface__")
