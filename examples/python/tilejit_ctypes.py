"""libtilejit for Python by its C interface (tilejit/tilejit.h), with the standard library alone.

    compiler = tilejit_ctypes.Compiler()
    artifact = compiler.compile(spec, "sm_90a")      # bytes of a cubin; needs no GPU
    kernel = tilejit_ctypes.Runtime().compile(spec)  # on a GPU
    kernel.launch(a, b, c)                           # anything with __dlpack__, and numbers

A spec is a dict as docs/spec.md describes it. The library is libtilejit.so, or what the variable
TILEJIT_LIBRARY names.
"""

import ctypes
import json
import os

ABI_VERSION = 1
POINTER, TENSOR, INTEGER, UNSIGNED, FLOATING = range(5)
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # DLPack's device types


class Error(RuntimeError):
    """A call that failed: `status` is its name ("invalid_spec"), `where` a place in the spec or a
    driver call, `log` the compiler's."""

    def __init__(self, status, message, where, log):
        super().__init__(message)
        self.status, self.where, self.log = status, where, log


class _Argument(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("integer", ctypes.c_int64),
        ("floating", ctypes.c_double),
    ]


class _Symbol(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_int64)]


class _ArtifactInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("registers", ctypes.c_int32),
        ("spill_bytes", ctypes.c_int32),
        ("shared_bytes", ctypes.c_int32),
    ]


_handle, _text, _size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
_out = ctypes.POINTER(ctypes.c_void_p)
_status = ctypes.c_int32
_arguments = (ctypes.POINTER(_Argument), _size, ctypes.POINTER(_Symbol), _size)
_FUNCTIONS = {
    "tj_abi_version": (ctypes.c_uint32,),
    "tj_version": (_text,),
    "tj_status_name": (_text, _status),
    "tj_last_error": (_text,),
    "tj_last_error_where": (_text,),
    "tj_last_error_log": (_text,),
    "tj_free": (None, _handle),
    "tj_validate": (_status, _text),
    "tj_render_source": (_status, _text, _text, _out),
    "tj_evaluate": (_status, _text, *_arguments),
    "tj_print_tensor": (_status, ctypes.POINTER(_Argument), _handle, _out),
    "tj_compiler_create": (_status, _text, _out),
    "tj_compiler_destroy": (None, _handle),
    "tj_compiler_compile": (_status, _handle, _text, _text, _out),
    "tj_compiler_nvrtc": (_status, _handle, _out),
    "tj_compiler_explain": (_status, _handle, _text, _text, _out),
    "tj_compiler_why": (_status, _handle, _text, _text, _text, _out),
    "tj_compiler_cache_stats": (_status, _handle, _out),
    "tj_artifact_destroy": (None, _handle),
    "tj_artifact_key": (_text, _handle),
    "tj_artifact_kernel_name": (_text, _handle),
    "tj_artifact_tier": (_text, _handle),
    "tj_artifact_metadata": (_text, _handle),
    "tj_artifact_cubin": (_handle, _handle, ctypes.POINTER(_size)),
    "tj_artifact_get_info": (_status, _handle, ctypes.POINTER(_ArtifactInfo)),
    "tj_devices": (_status, _out),
    "tj_runtime_create": (_status, _text, _out),
    "tj_runtime_destroy": (None, _handle),
    "tj_runtime_device": (_status, _handle, _out),
    "tj_runtime_compile": (_status, _handle, _text, _out),
    "tj_kernel_destroy": (None, _handle),
    "tj_kernel_artifact": (_status, _handle, _out),
    "tj_kernel_launch": (_status, _handle, _handle, *_arguments),
    "tj_runtime_print_tensor": (
        _status, _handle, _handle, ctypes.POINTER(_Argument), _handle, _out,
    ),
    "tj_tensor_from_dlpack": (_status, _handle, ctypes.c_int32, _out),
    "tj_tensor_destroy": (None, _handle),
    "tj_tensor_argument": (
        _status, _handle, _handle, ctypes.c_int32, ctypes.POINTER(_Argument),
    ),
}  # fmt: skip


def _load():
    library = ctypes.CDLL(os.environ.get("TILEJIT_LIBRARY", "libtilejit.so"))
    for name, (result, *parameters) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    if library.tj_abi_version() < ABI_VERSION:
        raise ImportError(f"libtilejit {library.tj_version().decode()} is too old for this module")
    return library


_library = _load()


def _call(name, *arguments):
    """Calls a function that returns a status; the errors are exceptions."""
    status = getattr(_library, name)(*arguments)
    if status != 0:
        texts = (_library.tj_last_error, _library.tj_last_error_where, _library.tj_last_error_log)
        name = _library.tj_status_name(status).decode()
        raise Error(name, *(text().decode(errors="replace") for text in texts))


def _made(name, *arguments):
    """The handle that a function makes through its last parameter."""
    handle = ctypes.c_void_p()
    _call(name, *arguments, ctypes.byref(handle))
    return handle


def _text_of(name, *arguments):
    """The text that a function gives through its last parameter."""
    pointer = _made(name, *arguments)
    try:
        return ctypes.string_at(pointer).decode()
    finally:
        _library.tj_free(pointer)


def _json_of(name, *arguments):
    return json.loads(_text_of(name, *arguments))


def _document(value):
    """A dict as the JSON that the library reads; None stays."""
    return None if value is None else json.dumps(value).encode()


class _Owner:
    """A handle that is destroyed with its Python object."""

    def __init__(self, handle, destroy):
        self._handle, self._destroy = handle, getattr(_library, destroy)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._destroy(self._handle)


def version():
    return _library.tj_version().decode()


def validate(spec):
    _call("tj_validate", _document(spec))


def render_source(spec, target):
    return _text_of("tj_render_source", _document(spec), target.encode())


def devices():
    """{"version": ..., "devices": [...]}; raises Error where there is no driver."""
    return _json_of("tj_devices")


class Artifact(_Owner):
    """A compiled operation."""

    def __init__(self, handle):
        super().__init__(handle, "tj_artifact_destroy")
        read = lambda name: getattr(_library, "tj_artifact_" + name)(handle).decode()
        self.key, self.kernel_name, self.tier = map(read, ("key", "kernel_name", "tier"))
        self.metadata = json.loads(read("metadata"))
        info = _ArtifactInfo(struct_size=ctypes.sizeof(_ArtifactInfo))
        _call("tj_artifact_get_info", handle, ctypes.byref(info))
        self.registers, self.spill_bytes = info.registers, info.spill_bytes

    @property
    def cubin(self):
        size = ctypes.c_size_t()
        data = _library.tj_artifact_cubin(self._handle, ctypes.byref(size))
        return ctypes.string_at(data, size.value)


class Compiler(_Owner):
    """spec -> cubin, through the cache; needs no GPU. `options`: a dict, docs/c-api.md."""

    def __init__(self, options=None):
        super().__init__(_made("tj_compiler_create", _document(options)), "tj_compiler_destroy")

    def compile(self, spec, target):
        arguments = (self._handle, _document(spec), target.encode())
        return Artifact(_made("tj_compiler_compile", *arguments))

    def nvrtc(self):
        return _json_of("tj_compiler_nvrtc", self._handle)

    def explain(self, spec, target):
        return _json_of("tj_compiler_explain", self._handle, _document(spec), target.encode())

    def why(self, spec, target, other=None):
        arguments = (self._handle, _document(spec), target.encode(), _document(other))
        return _json_of("tj_compiler_why", *arguments)

    def cache_stats(self):
        return _json_of("tj_compiler_cache_stats", self._handle)


# Capsules and their names; the strings must live as long as the capsules.
_python = ctypes.pythonapi
_python.PyCapsule_IsValid.argtypes = (ctypes.py_object, ctypes.c_char_p)
_python.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_SetName.argtypes = (ctypes.py_object, ctypes.c_char_p)
_CAPSULES = ((b"dltensor_versioned", b"used_dltensor_versioned"), (b"dltensor", b"used_dltensor"))


def _capsule_of(array):
    """The array's DLPack capsule, by the newest version that it offers. Nobody waits: launches are
    in the order of the stream that the caller gives."""
    no_wait = {} if array.__dlpack_device__()[0] == CPU else {"stream": -1}
    try:
        return array.__dlpack__(max_version=(1, 1), **no_wait)
    except TypeError:
        return array.__dlpack__(**no_wait)


class Tensor(_Owner):
    """An array of another library, borrowed by DLPack."""

    def __init__(self, array):
        capsule = _capsule_of(array)
        for versioned, (name, used) in zip((1, 0), _CAPSULES):
            if _python.PyCapsule_IsValid(capsule, name):
                pointer = _python.PyCapsule_GetPointer(capsule, name)
                handle = _made("tj_tensor_from_dlpack", pointer, versioned)
                _python.PyCapsule_SetName(capsule, used)
                super().__init__(handle, "tj_tensor_destroy")
                return
        raise TypeError("__dlpack__ returned no DLPack capsule")

    def argument(self, runtime=None, writes=False):
        argument = _Argument(struct_size=ctypes.sizeof(_Argument))
        reached = None if runtime is None else runtime._handle
        _call("tj_tensor_argument", self._handle, reached, int(writes), ctypes.byref(argument))
        return argument


class _Call:
    """Arguments and symbols of one call, with what they borrow."""

    def __init__(self, arguments, symbols, written=(), runtime=None):
        self.borrowed = []
        array = (_Argument * max(len(arguments), 1))()
        for i, value in enumerate(arguments):
            array[i] = self._convert(value, i in written, runtime)
        named = (_Symbol * max(len(symbols), 1))()
        for i, (name, value) in enumerate(symbols.items()):
            named[i] = _Symbol(name.encode(), value)
        self.c = (array, len(arguments), named, len(symbols))

    def _convert(self, value, writes, runtime):
        if hasattr(value, "__dlpack__"):
            tensor = Tensor(value)
            self.borrowed.append(tensor)
            return tensor.argument(runtime, writes)
        argument = _Argument(struct_size=ctypes.sizeof(_Argument))
        if isinstance(value, ctypes.c_void_p):
            argument.kind, argument.data = POINTER, value
        elif isinstance(value, float):
            argument.kind, argument.floating = FLOATING, value
        elif -(1 << 63) <= value < 1 << 63:
            argument.kind, argument.integer = INTEGER, value
        else:
            argument.kind, argument.integer = UNSIGNED, value - (1 << 64)
        return argument


def evaluate(spec, *arguments, symbols=None):
    """Runs a spec on the CPU reference over arrays in host memory, in place."""
    call = _Call(arguments, symbols or {})
    _call("tj_evaluate", _document(spec), *call.c)


def print_tensor(array):
    """An array in host memory as CuTe prints tensors."""
    tensor = Tensor(array)
    return _text_of("tj_print_tensor", ctypes.byref(tensor.argument()), None)


class Kernel(_Owner):
    """A loaded kernel."""

    def __init__(self, handle, runtime, written):
        super().__init__(handle, "tj_kernel_destroy")
        self._runtime, self._written = runtime, written

    def artifact(self):
        return Artifact(_made("tj_kernel_artifact", self._handle))

    def launch(self, *arguments, stream=None, symbols=None):
        """Asynchronous. `arguments`: tensors, then scalars, in the order of the spec: whatever has
        __dlpack__, device addresses as ctypes.c_void_p, numbers. `stream`: an address, such as
        torch.cuda.current_stream().cuda_stream; None is the legacy default stream."""
        call = _Call(arguments, symbols or {}, self._written, self._runtime)
        _call("tj_kernel_launch", self._handle, stream, *call.c)


class Runtime(_Owner):
    """Compiles, loads and launches on one device. Raises Error where there is none."""

    def __init__(self, options=None):
        super().__init__(_made("tj_runtime_create", _document(options)), "tj_runtime_destroy")

    def device(self):
        return _json_of("tj_runtime_device", self._handle)

    def compile(self, spec, written=()):
        """`written`: numbers of the arguments that the kernel writes; read-only arrays are refused
        there."""
        return Kernel(_made("tj_runtime_compile", self._handle, _document(spec)), self, written)

    def print_tensor(self, array, stream=None):
        """An array in device memory as CuTe prints tensors."""
        tensor = Tensor(array)
        argument = ctypes.byref(tensor.argument(self))
        return _text_of("tj_runtime_print_tensor", self._handle, stream, argument, None)
