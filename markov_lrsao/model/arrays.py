"""Values of objectives as integer arrays: lists of integers or fractions over one denominator.

>>> arrays, scale = scaled({"A": [0, "1/2", 2]})
>>> arrays["A"].tolist(), scale
([0, 1, 4], 2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm
from numbers import Integral, Rational

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import RationalLike, rational

__all__ = ["LARGEST_VALUE", "IntArray", "scaled", "too_large", "whole_numbers"]

IntArray = npt.NDArray[np.int64]
LARGEST_VALUE = 2**40
"""Differences of values, and their combinations with n, must stay far from 64 bits."""


def too_large(name: str) -> ParameterError:
    """Return the error that an objective has a value out of bounds."""
    return ParameterError(f"objective {name} has a value beyond {LARGEST_VALUE:,}; scale it down")


def scaled(
    objectives: Mapping[str, Sequence[RationalLike] | IntArray],
) -> tuple[dict[str, IntArray], int]:
    """Return the values times a common denominator, and that."""
    lists: dict[str, list[fmpq]] = {}
    for key, values in objectives.items():
        if isinstance(values, list | tuple) and any(_is_fraction(v) for v in values):
            lists[key] = [_fraction(v, f"objective {key}") for v in values]
    scale = lcm(*(int(v.q) for values in lists.values() for v in values)) if lists else 1
    if scale > LARGEST_VALUE:
        raise ParameterError(f"the common denominator of all values exceeds {LARGEST_VALUE:,}")
    arrays: dict[str, IntArray] = {}
    for key, given in objectives.items():
        if key in lists:
            numbers = [int((v * scale).p) for v in lists[key]]
            if max(map(abs, numbers)) > LARGEST_VALUE:
                raise too_large(key)
            arrays[key] = np.array(numbers, dtype=np.int64)
        else:
            array = whole_numbers(given, f"objective {key}")
            if scale > 1 and array.size and int(np.abs(array).max()) > LARGEST_VALUE // scale:
                raise too_large(key)
            arrays[key] = array * scale
    return arrays, scale


def _is_fraction(value: object) -> bool:
    if isinstance(value, str):
        return "/" in value  # 1 is a number already, "1/2" has no other way into a file
    return isinstance(value, fmpq) or (
        isinstance(value, Rational) and not isinstance(value, Integral)
    )


def _fraction(value: object, name: str) -> fmpq:
    if isinstance(value, float | bool) or (isinstance(value, str) and "/" not in value):
        raise _not_numbers(name)
    return rational(value, name)


def _not_numbers(name: str) -> ParameterError:
    return ParameterError(
        f'{name} must be a flat list of integers (of at most 63 bits) or fractions such as "1/2"'
    )


def whole_numbers(values: object, name: str) -> IntArray:
    """Return a flat list of integers as an array, or raise ParameterError."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        array = np.empty(0)
    flags = isinstance(values, list | tuple) and any(isinstance(v, bool) for v in values)
    if flags or array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise _not_numbers(name)
    return array.astype(np.int64)
