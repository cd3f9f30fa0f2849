"""Arrays from NumPy, and from every library with DLPack or the array interfaces, without copies where the layout allows it: on the host as
NumPy arrays, in the memory of a CUDA device as DeviceArray."""

from __future__ import annotations

import operator
import sys
import warnings
from typing import Any, Optional, Sequence, Tuple, TypeVar

import numpy as np

from ._core import DeviceArray
from .errors import InputError

_HOST = (1, 3)  # DLPack: kDLCPU, kDLCUDAHost
_CUDA = 2  # kDLCUDA
_LEGACY_STREAM = 1  # of CUDA, on which the library works: the array is ready there


class CopyWarning(UserWarning):
    """An array was copied because its type or layout is not that of the library. Pass a contiguous array of the type that is named."""


def _shape_text(shape: Sequence[Any]) -> str:
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def _elsewhere(how: str, name: str) -> InputError:
    return InputError(f"is in the memory of a device ({how}): copy it to the host first", name)


def require_host(value: Any, name: str) -> None:
    """Raises InputError for an array in the memory of a CUDA device: where a call is repeated, kasane does not copy it."""
    if is_on_device(value):
        raise InputError("is in the memory of a device: copy it to the host first (.get() of CuPy, .cpu() of torch)", name)


def _check_shape(have: Sequence[int], want: Sequence[Any], name: str) -> None:
    if len(have) != len(want) or any(isinstance(w, int) and w != h for w, h in zip(want, have)):
        raise InputError(f"has the shape {_shape_text(have)}: {_shape_text(want)} is expected", name)


def _check_range(array: np.ndarray, dtype: np.dtype, name: str) -> None:
    """Raises InputError with the first index where a whole number is not one of this type."""
    if dtype.kind not in "iu" or array.dtype.kind not in "iu" or array.size == 0:
        return
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    if int(array.min()) < least or int(array.max()) > most:
        at = next(i for i in np.ndindex(*array.shape) if not least <= int(array[i]) <= most)
        raise InputError(f"is {array[at]} at index {at if len(at) > 1 else at[0]}: {dtype} has {least} to {most}", name)


def _as_numpy(value: Any, name: str) -> np.ndarray:
    if hasattr(value, "__dlpack_device__"):
        device = value.__dlpack_device__()
        if int(device[0]) not in _HOST:
            raise _elsewhere(f"DLPack type {int(device[0])}", name)
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as reason:
            raise InputError(f"cannot be read through DLPack: {reason}", name) from reason
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as reason:
        raise InputError(f"cannot be made an array: {reason}", name) from reason


def as_array(value: Any, dtype: Any, shape: Sequence[Any], name: str, writable: bool = False) -> np.ndarray:
    """A C-contiguous array of this type: `value` itself where it is one, else a copy, which a CopyWarning reports. Of an array in the memory
    of a CUDA device a copy on the host.

    shape: a number, or a letter for any number, for each dimension. writable: the caller writes into it, so that a copy is an error.
    """
    dtype = np.dtype(dtype)
    there = is_on_device(value)
    if there:
        if writable:
            require_host(value, name)
        value = _copied_to_host(value, name)
    is_array = isinstance(value, np.ndarray) or hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    array = value if isinstance(value, np.ndarray) else _as_numpy(value, name)
    _check_shape(array.shape, shape, name)
    if array.dtype != dtype:
        numeric = array.dtype.kind in ("biuf" if dtype.kind == "f" else "biufc" if dtype.kind == "c" else "biu")
        if not numeric and not (array.size == 0 and not is_array):
            raise InputError(f"has the type {array.dtype}: {dtype} is expected", name)
        _check_range(array, dtype, name)
    if array.dtype == dtype and array.flags.c_contiguous and (array.flags.aligned and (not writable or array.flags.writeable)):
        return array
    if writable:
        raise InputError(f"must be a contiguous, writable array of {dtype}: the result is written into it", name)
    if is_array and not there:  # of an array on a device a copy is reported already
        why = f"has the type {array.dtype}" if array.dtype != dtype else "is not contiguous"
        warnings.warn(f"{name} {why} and was copied: pass a contiguous array of {dtype}", CopyWarning, stacklevel=3)
    return np.ascontiguousarray(array, dtype=dtype)


def is_on_device(value: Any) -> bool:
    """Whether an array of another library is in the memory of a CUDA device."""
    if isinstance(value, np.ndarray):
        return False
    if hasattr(value, "__dlpack_device__"):
        return int(value.__dlpack_device__()[0]) == _CUDA
    return hasattr(value, "__cuda_array_interface__")


def _device_array(value: Any, name: str) -> DeviceArray:
    """Through DLPack, or else the CUDA array interface. Raises InputError."""
    try:
        if hasattr(value, "__dlpack__"):
            return DeviceArray(value.__dlpack__(stream=_LEGACY_STREAM))
        facts = value.__cuda_array_interface__
        if facts.get("stream") not in (None, _LEGACY_STREAM):
            raise InputError("belongs to a stream of its own: synchronise it and pass an array of the default stream", name)
        return DeviceArray(facts["data"][0], list(facts["shape"]), facts.get("strides"), facts["typestr"], value)
    except InputError as error:
        raise InputError(error.problems[0].message, name) from error
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as reason:
        raise InputError(f"cannot be read on its device: {reason}", name) from reason


def _copied_to_host(value: Any, name: str) -> np.ndarray:
    """A copy on the host, which a CopyWarning reports."""
    array = _device_array(value, name)
    there = f"cuda:{array.device}"
    if not array.contiguous:
        array = _device_array(_converted(value, np.dtype(array.type), name), name)
    warnings.warn(f"{name} is in the memory of {there} and was copied to the host", CopyWarning, stacklevel=4)
    return array.bytes().view(array.type).reshape(array.shape)


def on_host(value: Any, name: str) -> Any:
    """`value`, or of an array in the memory of a CUDA device a copy on the host, which a CopyWarning reports."""
    return _copied_to_host(value, name) if is_on_device(value) else value


def _is_read_only(value: Any) -> bool:
    """What the CUDA array interface says; DLPack has no flag for it in older versions."""
    try:
        return bool(value.__cuda_array_interface__["data"][1])
    except (AttributeError, KeyError, IndexError, RuntimeError, TypeError):  # torch raises RuntimeError for tensors that need gradients
        return False


def _library(value: Any) -> Any:
    """The module of an array's library: cupy, torch, jax.numpy; None where it is not known."""
    root = type(value).__module__.split(".")[0]
    if root in ("jax", "jaxlib"):
        return getattr(sys.modules.get("jax"), "numpy", None)
    return sys.modules.get(root)


def _converted(value: Any, dtype: np.dtype, name: str) -> Any:
    """A contiguous copy of this type, made by the library of the array on its device."""
    module = _library(value)
    if hasattr(value, "contiguous") and hasattr(module, dtype.name):  # torch
        return value.to(getattr(module, dtype.name)).contiguous()
    if hasattr(module, "ascontiguousarray"):  # CuPy
        return module.ascontiguousarray(value, dtype=dtype)
    if hasattr(module, "from_dlpack"):  # JAX, whose arrays are contiguous
        return module.asarray(value, dtype=dtype)
    raise InputError(f"is not a contiguous array of {dtype}: convert it first", name)


def as_device_array(value: Any, dtype: Any, shape: Sequence[Any], name: str, writable: bool = False) -> DeviceArray:
    """As as_array() for an array in the memory of a CUDA device: `value` itself where it is contiguous and of this type, else a copy
    on that device, which a CopyWarning reports."""
    dtype = np.dtype(dtype)
    if not is_on_device(value):
        raise InputError("is in the memory of the host, and other arguments are on a device: copy it there", name)
    array = _device_array(value, name)
    _check_shape(array.shape, shape, name)
    if array.type == dtype.name and array.contiguous and not (writable and _is_read_only(value)):
        return array
    if writable:
        raise InputError(f"must be a contiguous, writable array of {dtype}: the result is written into it", name)
    if array.type[:1] not in {"f": "fiub", "c": "fiubc"}.get(dtype.kind, "iub"):
        raise InputError(f"has the type {array.type}: {dtype} is expected", name)
    why = f"has the type {array.type}" if array.type != dtype.name else "is not contiguous"
    warnings.warn(f"{name} {why} and was copied on its device: pass a contiguous array of {dtype}", CopyWarning, stacklevel=3)
    return _device_array(_converted(value, dtype, name), name)


class _Export:
    """A DeviceArray for other libraries."""

    def __init__(self, array: DeviceArray) -> None:
        self._array = array

    def __dlpack__(self, **_: Any) -> Any:
        return self._array.dlpack()

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _CUDA, self._array.device


class DeviceResult:
    """Memory for a result, an array of the library of `like` on its device and of its shape.

    memory: what the library writes into; array(): the array of that library, when it is written. Where arrays can be changed
    (CuPy, torch) the library makes it; of others (JAX) kasane owns the memory and hands it over through DLPack.
    """

    memory: DeviceArray

    def __init__(self, like: Any, dtype: Any, name: str, start: Any = None) -> None:
        """start: an array on the same device whose values it begins with; None: zeros."""
        module, dtype = _library(like), np.dtype(dtype)
        size = tuple(int(n) for n in like.shape)
        self._array: Any = None
        self._module = module
        if hasattr(module, "empty") and hasattr(like, "device") and not hasattr(like, "at"):
            library_type = getattr(module, dtype.name)
            if isinstance(library_type, type):  # CuPy, which makes arrays on the current device; torch has instances of torch.dtype
                with like.device:
                    self._array = module.zeros(size, dtype=library_type)
            else:
                self._array = module.zeros(size, dtype=library_type, device=like.device)
            self.memory = as_device_array(self._array, dtype, size, name, writable=True)
        elif hasattr(module, "from_dlpack"):
            self.memory = DeviceArray.zeros(list(size), dtype.name, f"cuda:{_device_array(like, name).device}")
        else:
            raise InputError(f"is {type(like).__name__}: pass an array of CuPy, torch or JAX, whose library makes the result", name)
        if start is not None:
            self.memory.assign(as_device_array(start, dtype, size, "x0"))

    def array(self) -> Any:
        """The result."""
        return self._module.from_dlpack(_Export(self.memory)) if self._array is None else self._array


def check_finite(array: np.ndarray, name: str) -> None:
    """Raises InputError with the first index where the array is not finite."""
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"is {array[at]} at index {at if len(at) > 1 else at[0]}: all values must be finite", name)


def number(value: Any, name: str) -> float:
    """One number. Raises InputError."""
    try:
        return float(value)
    except (TypeError, ValueError) as reason:
        raise InputError(f"is {value!r}: a number is expected", name) from reason


def whole(value: Any, name: str, least: int) -> int:
    """One whole number from `least` on. Raises InputError."""
    try:
        count = operator.index(value)
    except TypeError as reason:
        raise InputError(f"is {value!r}: a whole number is expected", name) from reason
    if count < least:
        raise InputError(f"is {count}: it must be at least {least}", name)
    return count


def vector3(value: Any, name: str) -> Tuple[float, float, float]:
    """Three numbers."""
    array = np.asarray(value, dtype=float)
    if array.shape != (3,):
        raise InputError(f"has the shape {_shape_text(array.shape)}: three numbers are expected", name)
    return float(array[0]), float(array[1]), float(array[2])


def html_table(title: str, rows: Sequence[Tuple[str, Any]], note: Optional[str] = None) -> str:
    """The HTML of an object in a notebook: its name and a table of its properties."""
    from html import escape

    body = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th><td>{escape(str(v))}</td></tr>" for k, v in rows)
    return f"<b>{escape(title)}</b>{'<br>' + escape(note) if note else ''}<table>{body}</table>"


def fields_html(own: Any) -> str:
    """The HTML of an object whose fields or properties describe it; of a long array the type and the shape."""
    names: Any = getattr(own, "_fields", None) or getattr(own, "__dataclass_fields__", None)
    rows = []
    for name in names or [name for name in dir(own) if not name.startswith("_")]:
        value = getattr(own, name)
        if isinstance(value, np.ndarray) and value.size > 8:
            rows.append((name, f"{value.dtype} {_shape_text(value.shape)}"))
        elif isinstance(value, (list, tuple)) and len(value) > 8:
            rows.append((name, f"{len(value)} values"))
        elif not callable(value):
            rows.append((name, value))
    return html_table(type(own).__name__, rows)


_Kind = TypeVar("_Kind", bound=type)


def shows_fields(kind: _Kind) -> _Kind:
    """A class whose objects a notebook shows by fields_html()."""
    setattr(kind, "_repr_html_", fields_html)
    return kind


class NotPickled:
    """Objects that own memory of the library or of a device are not pickled; each says what to store instead."""

    _instead = "store the arrays that it was made from"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"{type(self).__name__} cannot be pickled or copied: it owns memory of the library; {self._instead}")


def not_pickled(kind: type, instead: str) -> None:
    """The same for a class of the extension."""
    setattr(kind, "_instead", instead)
    setattr(kind, "__reduce_ex__", NotPickled.__reduce_ex__)
