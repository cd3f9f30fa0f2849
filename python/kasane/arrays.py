"""Arrays from NumPy, and from every library with DLPack or the array interface, without copies where the layout allows it."""

from __future__ import annotations

import warnings
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from .errors import InputError

_HOST = (1, 3)  # DLPack: kDLCPU, kDLCUDAHost


class CopyWarning(UserWarning):
    """An array was copied because its type or layout is not that of the library. Pass a contiguous array of the type that is named."""


def _shape_text(shape: Sequence[Any]) -> str:
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def _as_numpy(value: Any, name: str) -> np.ndarray:
    if hasattr(value, "__dlpack_device__"):
        device = value.__dlpack_device__()
        if int(device[0]) not in _HOST:
            raise InputError(f"is in the memory of a device (DLPack type {int(device[0])}): copy it to the host first", name)
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as reason:
            raise InputError(f"cannot be read through DLPack: {reason}", name) from reason
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as reason:
        raise InputError(f"cannot be made an array: {reason}", name) from reason


def as_array(value: Any, dtype: Any, shape: Sequence[Any], name: str, writable: bool = False) -> np.ndarray:
    """A C-contiguous array of this type: `value` itself where it is one, else a copy, which a CopyWarning reports.

    shape: a number, or a letter for any number, for each dimension. writable: the caller writes into it, so that a copy is an error.
    """
    dtype = np.dtype(dtype)
    is_array = isinstance(value, np.ndarray) or hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    array = value if isinstance(value, np.ndarray) else _as_numpy(value, name)
    if array.ndim != len(shape) or any(isinstance(want, int) and want != have for want, have in zip(shape, array.shape)):
        raise InputError(f"has the shape {_shape_text(array.shape)}: {_shape_text(shape)} is expected", name)
    if array.dtype != dtype:
        numeric = array.dtype.kind in ("biuf" if dtype.kind == "f" else "biufc" if dtype.kind == "c" else "biu")
        if not numeric and not (array.size == 0 and not is_array):
            raise InputError(f"has the type {array.dtype}: {dtype} is expected", name)
    if array.dtype == dtype and array.flags.c_contiguous and (array.flags.aligned and (not writable or array.flags.writeable)):
        return array
    if writable:
        raise InputError(f"must be a contiguous, writable array of {dtype}: the result is written into it", name)
    if is_array:
        why = f"has the type {array.dtype}" if array.dtype != dtype else "is not contiguous"
        warnings.warn(f"{name} {why} and was copied: pass a contiguous array of {dtype}", CopyWarning, stacklevel=3)
    return np.ascontiguousarray(array, dtype=dtype)


def check_finite(array: np.ndarray, name: str) -> None:
    """Raises InputError with the first index where the array is not finite."""
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"is {array[at]} at index {at if len(at) > 1 else at[0]}: all values must be finite", name)


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


class NotPickled:
    """Objects that own memory of the library or of a device are not pickled; each says what to store instead."""

    _instead = "store the arrays that it was made from"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"{type(self).__name__} cannot be pickled or copied: it owns memory of the library; {self._instead}")
