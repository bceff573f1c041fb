"""The one decorator of compiled kernels: cached on disk where that works, uncached where not.

Numba's own ``cache=True`` refuses to decorate where neither the installation nor the home folder
can be written, fails where the disk is full, and looks at the file of the outermost function only,
so that a change of a kernel that others call is not seen. Here

* without a place for the cache, kernels are compiled anew in every process;
* a cache that cannot be read or written (full disk, damaged file) is left aside;
* the cache is fresh only if no module of the same folder has changed: kernels live in
  folders of their own, called `kernels`, and call only what stands there.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["compiled"]


def compiled(*, allocates: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return `numba.njit` with the given options and a cache that never stands in the way.

    A kernel that allocates nothing says so: references to its arrays need no counting then,
    which in short loops costs as much as the arithmetic. An allocation in it, or in a kernel it
    calls, is refused when it is compiled.

    >>> @compiled()
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    import numba

    options["no_cfunc_wrapper"] = True  # only Python and other kernels call them
    if not allocates:
        options |= _UNCOUNTED if _has_private_option() else {}

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            kernel = numba.njit(cache=True, **options)(function)
        except (RuntimeError, OSError):  # there is no place that can be written
            return numba.njit(**options)(function)
        _loosen(kernel, function)
        return kernel

    return decorate


_UNCOUNTED = {"_nrt": False}


def _has_private_option() -> bool:
    """Whether Numba still has the option; without it kernels are slower, and no less right."""
    from numba.core import options

    return hasattr(getattr(options, "DefaultOptions", None), "_nrt")


def _loosen(kernel: Any, function: Callable[..., Any]) -> None:
    """Make a cache forgiving, and fresh only with all the folder's kernels.

    These are private parts of Numba; where it has changed them, its own behaviour remains.
    """
    cache = getattr(kernel, "_cache", None)
    if cache is None or getattr(cache, "cache_path", None) is None:
        return  # compilation is switched off
    for name in ("load_overload", "save_overload"):
        setattr(cache, name, _forgiving(getattr(cache, name)))
    index: Any = getattr(cache, "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = _digest(Path(inspect.getfile(function)).parent)


def _forgiving(method: Callable[..., Any]) -> Callable[..., Any]:
    def attempt(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        except Exception:  # whatever is wrong with the cache, compiling is the answer
            return None

    return attempt


@lru_cache
def _digest(folder: Path) -> bytes:
    """Return a digest of the files of compiled code in a folder, and of this one."""
    digest = hashlib.sha256()
    for file in (*sorted(folder.glob("*.py")), Path(__file__)):
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.digest()
