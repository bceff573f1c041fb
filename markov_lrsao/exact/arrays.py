"""Small helpers for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["distinct"]


def distinct(values: Any) -> Any:
    """Return the distinct numbers of an array, sorted.

    ``np.unique`` does it, too, and imports masked arrays on its first call, which a small answer
    waits for.

    >>> distinct(np.array([3, 1, 3, 2, 1])).tolist()
    [1, 2, 3]
    """
    ordered = np.sort(values, axis=None)
    keep = np.ones(len(ordered), dtype=np.bool_)
    keep[1:] = ordered[1:] != ordered[:-1]
    return ordered[keep]
