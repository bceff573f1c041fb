r"""E[T] at one point of a map of hyper-parameters.

Within a regime all comparisons turn out alike: the greedy actions after every history are the
same, and with them the law of T. That is the *course* of `markov_lrsao.values.courses`, by which
solved values are kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flint import fmpq

from markov_lrsao.answers.counting import exact_moments
from markov_lrsao.answers.expected import seek_runtime
from markov_lrsao.answers.plan import Bounded, Counted, Options, after_cut
from markov_lrsao.crossing.decomposition import Decomposition
from markov_lrsao.errors import ParameterError, Refused
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Exact, Infinite, Quantity
from markov_lrsao.exact.rationals import decimal_text, rational
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters, hypothesis_h
from markov_lrsao.values.enclosure import enclose_moments

__all__ = [
    "KINDS",
    "QUANTITIES",
    "Point",
    "Solved",
    "Values",
    "quantity_text",
    "read_quantity",
    "solve_point",
]

KINDS = ("exact", "enclosure", "infinite", "open")
"""What an answer can be; "open": neither patterns nor values settle it within the limits."""
QUANTITIES = ("total", "phase1", "phase2", "phase3", "stddev")


@dataclass(frozen=True)
class Values:
    """What is known at one point.

    Attributes
    ----------
    kind : one of `KINDS`
    means : E[T], E[T_1], E[T_2], E[T_3]; empty where nothing is known
    variance : Var[T]
    undecided : a bound of the probability that an open comparison is ever met, as a decimal
    reason : for kind "open", why
    """

    kind: str
    means: tuple[Quantity, ...] = ()
    variance: Quantity = UNKNOWN
    undecided: str | None = None
    reason: str | None = None

    def quantity(self, name: str) -> Quantity:
        """Return one of `QUANTITIES`; the standard deviation as an enclosure.

        Raises
        ------
        ParameterError
            There is no such quantity.
        """
        if name not in QUANTITIES:
            raise ParameterError(f"quantity {name!r} is unknown: choose {', '.join(QUANTITIES)}")
        if not self.means:
            return UNKNOWN
        return self.variance.sqrt() if name == "stddev" else self.means[QUANTITIES.index(name)]

    @property
    def regime(self) -> tuple[str, str] | None:
        """What all points of a regime share: exact E[T] and Var[T]; None where not decided."""
        if self.kind != "exact":
            return None
        return quantity_text(self.means[0]), quantity_text(self.variance)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form; enclosures are rounded outwards."""
        return {
            "kind": self.kind,
            "means": [quantity_text(q) for q in self.means],
            "variance": quantity_text(self.variance),
            "undecided": self.undecided,
            "reason": self.reason,
        }

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> Values:
        """Read the JSON form back."""
        means, undecided, reason = data["means"], data["undecided"], data["reason"]
        assert isinstance(means, list)
        return cls(
            str(data["kind"]),
            tuple(read_quantity(q) for q in means),
            read_quantity(str(data["variance"])),
            None if undecided is None else str(undecided),
            None if reason is None else str(reason),
        )


@dataclass(frozen=True)
class Point:
    """One point of the grid.

    Attributes
    ----------
    relative : (r - lower) / (upper - lower) for the bounds of (H); None where (H) allows no r
    """

    alpha: fmpq
    gamma: fmpq
    r: fmpq
    relative: fmpq | None

    @property
    def inside(self) -> bool:
        """Whether (H) holds."""
        return self.relative is not None and bool(0 < self.relative < 1)


def quantity_text(q: Quantity) -> str:
    """Return "p/q", "inf" or "[lower, upper]" with decimals rounded outwards.

    >>> quantity_text(Exact(fmpq(1, 3))), quantity_text(Enclosed(fmpq(1), fmpq(2)))
    ('1/3', '[1.0000000000000000000, 2.0000000000000000000]')
    """
    return "inf" if q.infinite else str(q)


def read_quantity(text: str) -> Quantity:
    """Read what `quantity_text` writes."""
    if text == "inf":
        return Infinite()
    if not text.startswith("["):
        return Exact(rational(text))
    low, high = text[1:-1].split(", ")
    return Enclosed(rational(low), None if high == "inf" else rational(high))


# -- solving ------------------------------------------------------------------------------

_solved: dict[Hashable, Values] = {}
_OUTSIDE = 10
"""Outside (H) whole runs are followed, not only what comes after the cut: more states."""


@dataclass(frozen=True)
class Solved:
    """What was found at a point, and the course of its runs where that is known."""

    values: Values
    course: Hashable | None = None


@lru_cache(maxsize=4)
def _landscape(n: int, ell: int) -> Landscape:
    return Landscape.jump(n, ell)


def solve_point(
    n: int, ell: int, alpha: fmpq, gamma: fmpq, r: fmpq, *, tolerance: fmpq, max_states: int
) -> Solved:
    """Return what can be said at one point; within a process each course is solved once.

    Parameters
    ----------
    tolerance : relative width at which an enclosure is narrow enough
    max_states : how many states may be followed after the cut, ten times as many outside (H)
    """
    landscape = _landscape(n, ell)
    algorithm = Algorithm.lrsao(Parameters(alpha, gamma, r))
    assert algorithm.parameters is not None
    if hypothesis_h(landscape, algorithm.parameters).holds:
        # Values after the cut settle all of (H).
        match after_cut(StepLaw.of(landscape, algorithm), tolerance=tolerance, largest=max_states):
            case Counted(d):
                return _solved_once(d)
            case Bounded(d):
                enclosed = enclose_moments(d, 2)
                return Solved(_values(enclosed.values, _probability(enclosed.undecided)))
    options = Options(method="crossing", tolerance=tolerance, max_states=_OUTSIDE * max_states)
    found = seek_runtime(landscape, algorithm, options, outside_h=True)
    if isinstance(found, Refused):
        return Solved(Values("open", reason=str(found.reason)))
    return Solved(
        Values(
            found.kind,
            (found.total, *found.phases),
            found.variance,
            None if found.undecided is None else _probability(found.undecided.upper),
        )
    )


def _solved_once(d: Decomposition) -> Solved:
    course = None if d.course is None else d.course()
    if course is None:
        return Solved(_values(exact_moments(d, 2), None))
    if course not in _solved:
        _solved[course] = _values(exact_moments(d, 2), None)
    return Solved(_solved[course], course)


def _values(found: Sequence[Sequence[Quantity]], undecided: str | None) -> Values:
    means = tuple(q[0] for q in found)
    exact = all(q.exact for q in (*means, found[0][1]))
    # An enclosure may close up by chance; it is not called decided then.
    return Values(
        "exact" if exact and undecided is None else "enclosure", means, found[0][1], undecided
    )


def _probability(bound: fmpq | None) -> str | None:
    return None if bound is None else decimal_text(bound, 6, towards=1)
