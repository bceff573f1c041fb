"""Answers about searches that do not learn, in the form that all runtimes have.

`search_runtime` is what `runtime` asks for a `Search`: any start, any target f >= a, the method
of the search's class, named in the answer. Beyond the sizes that fractions take, answers are
enclosures of at least nineteen digits.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from math import comb
from typing import Literal, TypeAlias

from flint import fmpq

from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.quantity import Approximate, Infinite, Quantity, Trap
from markov_lrsao.exact.rationals import RationalLike, integer, rational, to_float
from markov_lrsao.memoryless.methods import METHODS, Name
from markov_lrsao.memoryless.times import NARROW, Found, hitting_time
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes, LevelLaw
from markov_lrsao.model.search import Search
from markov_lrsao.model.search_law import SearchLaw

__all__ = [
    "Start",
    "enclosed_or_float",
    "mean_time",
    "positions_at_least",
    "search_law",
    "search_runtime",
    "start_law",
    "start_positions",
]

Start: TypeAlias = Literal["zero", "random"] | int | str | Mapping[int, RationalLike]
"""Where runs begin: 0^n, a uniformly random bit string, |x| = P, or a distribution of |x|."""
_GUARD = 12  # digits beyond those asked for, so that rounding to them is decided


def search_law(landscape: Landscape | LeadingOnes, search: Search) -> SearchLaw:
    """Return the law of a search on a landscape, of |x| or by levels."""
    if isinstance(landscape, LeadingOnes):
        return LevelLaw.leading_ones(landscape.n, search)
    return SearchLaw.of(landscape, search)


def start_law(law: SearchLaw, start: Start | None) -> dict[int, fmpq]:
    """Return position -> probability at the start.

    Raises
    ------
    ParameterError
        There is no such start.
    """
    if isinstance(law, LevelLaw):
        if start not in (None, "random"):
            raise ParameterError(
                f"start = {start!r} is not known for LeadingOnes: by levels only random starts "
                f"are solved"
            )
        return dict(enumerate(law.start()))
    return start_positions(law.n, start)


def start_positions(n: int, start: Start | None) -> dict[int, fmpq]:
    """Return number of ones -> probability at the start; see `start_law`."""
    if start == "random":
        return {x: fmpq(comb(n, x), 2**n) for x in range(n + 1)}
    if start in (None, "zero"):
        return {0: fmpq(1)}
    if isinstance(start, Mapping):
        found = {integer(x, "start"): rational(w, "start") for x, w in start.items()}
    elif isinstance(start, str) and ":" in start:
        found = _written(start)
    else:
        if isinstance(start, str) and not re.fullmatch(r"[0-9]{1,18}", start.strip()):
            raise ParameterError(
                f"start = {start[:40]!r} is not known: choose zero, random or a position 0..{n}"
            )
        found = {integer(int(start), "start"): fmpq(1)}
    if any(not 0 <= x <= n or w < 0 for x, w in found.items()) or sum(found.values(), fmpq(0)) != 1:
        raise ParameterError(f"start = {start!r} is no distribution over the positions 0..{n}")
    return found


def _written(text: str) -> dict[int, fmpq]:
    """Read a law of positions, POSITION:PROBABILITY with commas between them.

    >>> _written("0:1/3,4:2/3")
    {0: 1/3, 4: 2/3}
    """
    found: dict[int, fmpq] = {}
    for item in text.split(","):
        place, _, weight = (part.strip() for part in item.partition(":"))
        if not re.fullmatch(r"[0-9]{1,18}", place) or int(place) in found:
            raise ParameterError(
                f"start = {text[:40]!r} is not a law of positions: write e.g. 0:1/2,3:1/2"
            )
        found[int(place)] = rational(weight, "start")
    return found


def positions_at_least(
    law: SearchLaw | Sequence[fmpq], value: RationalLike | None
) -> frozenset[int]:
    """Return the positions whose value is at least `value`; default: the largest there is.

    Parameters
    ----------
    law : a law, or the target's values

    Raises
    ------
    ParameterError
        No position has such a value.
    """
    values = law.values if isinstance(law, SearchLaw) else law
    largest = max(values)
    least = largest if value is None else rational(value, "at_least")
    if least > largest:
        raise ParameterError(
            f"at_least = {least} is out of range: the largest value of the target is {largest}"
        )
    return frozenset(x for x, v in enumerate(values) if v >= least)


def mean_time(
    landscape: Landscape | LeadingOnes,
    search: Search,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    field: Literal["exact", "float", "enclosed"] = "exact",
) -> tuple[Quantity, str]:
    """Return E[T] alone, and how it was found; see `search_runtime`.

    Parameters
    ----------
    field : "enclosed": between two rationals, at least nineteen digits
    """
    law = search_law(landscape, search)
    found = hitting_time(
        law,
        start_law(law, start),
        positions_at_least(law, at_least),
        moments=1,
        exact=field == "exact",
    )
    return _quantities(found, field, 1)[0], found.method


def search_runtime(
    landscape: Landscape | LeadingOnes,
    search: Search,
    *,
    start: Start | None = None,
    at_least: RationalLike | None = None,
    field: Literal["exact", "float"] = "exact",
    moments: int = 2,
    method: str = "auto",
    digits: int | None = None,
) -> RuntimeResult:
    """Return E[T] and central moments of the time until f >= `at_least`.

    Parameters
    ----------
    start : "zero" (default), "random", a position, or position -> probability
    at_least : the target value at which a run ends; default: the optimum's
    field : "float": balls, rounded to floats with a bound of their error
    method : "auto": that of the search's class; "dense" solves any of them as one system
    digits : significant digits, each certain, instead of fractions

    Raises
    ------
    ParameterError, StateSpaceTooLargeError
    """
    begun = time.perf_counter()
    if method not in ("auto", *METHODS):
        raise ParameterError(
            f"method = {method!r} does not apply to {search.name}, which does not learn: choose "
            f"auto, {', '.join(METHODS)}"
        )
    law = search_law(landscape, search)
    found = hitting_time(
        law,
        start_law(law, start),
        positions_at_least(law, at_least),
        moments=moments,
        exact=field == "exact",
        method=None if method == "auto" else _applicable(method, law),
        narrow=NARROW if digits is None else min(NARROW, fmpq(1, 10 ** (digits + _GUARD))),
    )
    result = RuntimeResult.of(
        landscape,
        search,
        [_quantities(found, field, moments)],
        hypothesis_h=None,
        method=found.method,
        merged=False,
        states=found.states,
        seconds=time.perf_counter() - begun,
        trap=None if found.stuck is None else Trap(*found.stuck),
    )
    return result if digits is None else result.to_digits(digits)


def _applicable(method: str, law: SearchLaw) -> Name:
    """Return a method that was asked for, if it solves the search's class."""
    one_step, one_mode = law.steps_of_one, law.modes == 1
    fits = {
        "birth-death": one_step and one_mode,
        "block-tridiagonal": one_step,
        "back-substitution": law.search.elitist,
        "dense": True,
    }
    for name in METHODS:
        if name == method and fits[name]:
            return name
    raise ParameterError(
        f'method = {method!r} does not solve {law.search.name}; use `method="auto"`'
    )


def _quantities(found: Found, field: str, moments: int) -> list[Quantity]:
    if found.moments is None:
        return [Infinite()] * moments
    return [enclosed_or_float(bounds, field) for bounds in found.moments]


def enclosed_or_float(bounds: tuple[fmpq, fmpq], field: str) -> Quantity:
    """Return a number by its bounds; as a float with a bound of its error if floats are asked for.

    What exceeds all floats stays enclosed.
    """
    low, high = bounds
    if field != "float":
        return Quantity.enclosed(low, high)
    try:
        middle = to_float((low + high) / 2)
        exact = fmpq(*middle.as_integer_ratio())
        error = to_float(max(high - exact, exact - low)) * (1 + 2.0**-50)
    except OverflowError:
        return Quantity.enclosed(low, high)
    return Approximate(middle, error)
