"""UMFPACK as a peer, called through its C interface; there is no wheel that contains it.

The shared library is found where the system has it (Debian: `libumfpack5` or `libumfpack6`), or
where LD_LIBRARY_PATH points. Without it the benchmarks leave the column out.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

__all__ = ["available", "solve"]

_NAMES = ("libumfpack.so.6", "libumfpack.so.5", "libumfpack.so")
_A_X_IS_B = 0


@cache
def _library() -> Any:
    """Return the loaded library, or None."""
    found = ctypes.util.find_library("umfpack")
    for name in (*_NAMES, *([found] if found else [])):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def available() -> bool:
    """Whether UMFPACK can be called here."""
    return _library() is not None


def solve(system: Any, right: Any) -> Any:
    """Return x with system x = right, by UMFPACK's default ordering and pivoting.

    Raises
    ------
    ArithmeticError
        UMFPACK reports an error, or that the matrix is singular.
    """
    import numpy as np
    from scipy.sparse import csc_array

    matrix = csc_array(system)
    matrix.sort_indices()
    pointer, rows = (np.ascontiguousarray(a, np.int32) for a in (matrix.indptr, matrix.indices))
    data, given = (np.ascontiguousarray(a, np.float64) for a in (matrix.data, right))
    found = np.empty_like(given)
    umfpack, size = _library(), len(given)
    csc = tuple(a.ctypes.data_as(ctypes.c_void_p) for a in (pointer, rows, data))
    symbolic, numeric = ctypes.c_void_p(), ctypes.c_void_p()
    nothing = (None, None)  # default settings, no statistics
    _check(umfpack.umfpack_di_symbolic(size, size, *csc, ctypes.byref(symbolic), *nothing))
    try:
        _check(umfpack.umfpack_di_numeric(*csc, symbolic, ctypes.byref(numeric), *nothing))
    finally:
        umfpack.umfpack_di_free_symbolic(ctypes.byref(symbolic))
    try:
        ends = (a.ctypes.data_as(ctypes.c_void_p) for a in (found, given))
        _check(umfpack.umfpack_di_solve(_A_X_IS_B, *csc, *ends, numeric, *nothing))
    finally:
        umfpack.umfpack_di_free_numeric(ctypes.byref(numeric))
    return found


def _check(status: int) -> None:
    if status != 0:
        raise ArithmeticError(f"UMFPACK returned {status}")
