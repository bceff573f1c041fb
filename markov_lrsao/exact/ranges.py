"""Lists of exact numbers as a user writes them: one grammar for every option and plan.

A list is its items with commas between them; an item is

    7, 4/5, 0.8         a number
    9:12                9, 10, 11, 12
    50:1000:50          first:last:step; the last one is included if a step meets it
    0.01:0.99@99        first:last@count: evenly spaced, both ends included

>>> integers("9,12,20:22"), integers("50:200:50"), rationals("0.1:0.5@3", "alpha")
([9, 12, 20, 21, 22], [50, 100, 150, 200], [1/10, 3/10, 1/2])
>>> integers("14:9")
Traceback (most recent call last):
    ...
markov_lrsao.errors.ParameterError: n = '14:9' is empty: write the smaller number first
"""

from __future__ import annotations

import re
from collections.abc import Callable
from numbers import Integral

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational

__all__ = ["LONGEST", "integers", "rationals"]

LONGEST = 1_000_000
"""Numbers in one list: more are a slip."""
_LARGEST = 2**62
"""Beyond this, integers leave the range of the machine's."""
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,30}\s*")
Reader = Callable[[object, str], fmpq]


def rationals(value: object, name: str) -> list[fmpq]:
    """Read exact numbers: a text, a number, or a list of both.

    Parameters
    ----------
    name : the argument's name, for the error message

    Raises
    ------
    ParameterError
        Something is not a number, a range is empty or too long, or there is nothing at all.
    """
    return _read(value, name, rational)


def integers(value: object, name: str = "n") -> list[int]:
    """Read integers between -2^62 and 2^62; see `rationals`."""
    found = _read(value, name, _integer)
    if any(x.q != 1 for x in found):  # of evenly spaced ones
        raise _wrong(value, name, "has numbers between integers: choose another count")
    return [int(x.p) for x in found]


def _integer(value: object, name: str) -> fmpq:
    text = str(value)
    if (
        isinstance(value, Integral | str)
        and _INTEGER.fullmatch(text)
        and abs(int(text)) <= _LARGEST
    ):
        return fmpq(int(text))
    raise _wrong(value, name, "is not a list of integers up to 2^62: write e.g. 9,12 or 50:1000:50")


def _read(value: object, name: str, number: Reader) -> list[fmpq]:
    if isinstance(value, str):
        found = [x for item in value.split(",") for x in _item(item, name, number)]
    elif isinstance(value, list | tuple):
        found = [x for item in value for x in _read(item, name, number)]
    else:
        found = [number(value, name)]
    if not found:
        raise _wrong(value, name, "is empty: give at least one number")
    if len(found) > LONGEST:
        raise _too_long(value, name)
    return found


def _item(text: str, name: str, number: Reader) -> list[fmpq]:
    """Return the numbers that one item between commas stands for."""
    bounds, at, count = text.partition("@")
    parts = bounds.split(":")
    if len(parts) == 1 and not at:
        return [number(text, name)]
    if len(parts) not in ((2,) if at else (2, 3)):
        raise _wrong(
            text, name, "is not a range: write first:last, first:last:step or first:last@count"
        )
    first, last, *given = (number(part, name) for part in parts)
    if at:
        return _spaced(first, last, count, text, name)
    step = given[0] if given else fmpq(1)
    if step <= 0:
        raise _wrong(text, name, "has no positive step")
    if last < first:
        raise _wrong(text, name, "is empty: write the smaller number first")
    if given and step > last - first > 0:
        raise _wrong(
            text, name, "has a step beyond its end: a number of points is written first:last@count"
        )
    steps = int(((last - first) / step).floor())
    if steps >= LONGEST:
        raise _too_long(text, name)
    return [first + step * k for k in range(steps + 1)]


def _spaced(first: fmpq, last: fmpq, count: str, text: str, name: str) -> list[fmpq]:
    """Return so many evenly spaced numbers, both ends included."""
    if not _INTEGER.fullmatch(count) or int(count) < 2 or first >= last:
        raise _wrong(
            text, name, "needs a count of at least 2 after the @, and the smaller number first"
        )
    if int(count) > LONGEST:
        raise _too_long(text, name)
    return [first + (last - first) * fmpq(k, int(count) - 1) for k in range(int(count))]


def _wrong(value: object, name: str, what: str) -> ParameterError:
    shown = repr(value)
    return ParameterError(f"{name} = {shown if len(shown) <= 60 else shown[:57] + '...'} {what}")


def _too_long(value: object, name: str) -> ParameterError:
    return _wrong(value, name, f"has more than {LONGEST:,} numbers: take a larger step")
