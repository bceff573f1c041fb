"""A limit of memory, in one place: so many bytes for the process, or one line that says so.

The system enforces it (RLIMIT_DATA, Linux): what asks for more gets a MemoryError, or a native
library ends the process; the waiting parent knows of the limit then (`markov_lrsao.interrupts`).
Solvers that run out of it are left for others that need less, see `chains.solvers._wide`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from markov_lrsao import interrupts
from markov_lrsao.errors import MemoryLimitError, ParameterError

__all__ = ["at_most"]

_STATUS = Path("/proc/self/status")
_UNITS = ((2**30, "G"), (2**20, "M"), (2**10, "K"))


def _now(name: str) -> int:
    """Return a number of bytes that the system has of this process."""
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ParameterError("`max_memory` is not known on this system")


def _shown(size: int) -> str:
    """Return a size as a user writes it.

    >>> _shown(2 * 2**30), _shown(1500 * 2**20), _shown(12)
    ('2G', '1500M', '12')
    """
    for unit, letter in _UNITS:
        if size >= unit and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


@contextmanager
def at_most(most: int | None) -> Iterator[None]:
    """Let this process take at most so many bytes inside the block; None: as many as there are.

    Raises
    ------
    ParameterError
        The process takes more already, or the system cannot be asked.
    MemoryLimitError
        More was needed.
    """
    if most is None:
        yield
        return
    if sys.platform != "linux":
        raise ParameterError("`max_memory` is known on Linux only")
    import resource

    taken = _now("VmRSS")
    if most <= taken:
        raise ParameterError(
            f"`max_memory` = {_shown(most)} is less than the {taken / 2**20:,.0f} MB that the "
            f"program itself takes"
        )
    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _now("VmData") + most - taken
    if before[1] != resource.RLIM_INFINITY:
        limit = min(limit, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    interrupts.memory_is_limited(True)
    try:
        yield
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_DATA, before)
        raise MemoryLimitError(
            f"more memory than `max_memory` = {_shown(most)} is needed; allow more, or ask for less"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
        interrupts.memory_is_limited(False)
