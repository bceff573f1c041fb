"""Results: frozen records that know how to write themselves for machines.

A `Quantity` is an exact rational, a rigorous enclosure, or a float with a bound of its error.
JSON carries exact values as "p/q" text beside a decimal of 20 digits; an enclosure has ``lower``
and ``upper`` instead, decimals rounded outwards, and is marked ``"exact": false`` like a float.
A float has the digits that its ``error`` supports, and no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, fsum, inf, isfinite, isinf, log10
from typing import Any

from flint import fmpq

from markov_lrsao.balls import Ball
from markov_lrsao.errors import VerificationError
from markov_lrsao.parameters import Parameters
from markov_lrsao.rationals import decimal_text, harmonic_difference, rational_text, to_float

__all__ = ["Quantity", "RuntimeResult", "Trap", "known_digits"]

_EXACT_HARMONIC_LIMIT = 20_000


@dataclass(frozen=True)
class Quantity:
    """One number: exact (a rational), enclosed (two rationals), or approximate (a float).

    Attributes
    ----------
    value : the number itself; None where only an enclosure is known; infinity is a float
    lower, upper : the ends of a rigorous enclosure; an upper end None means that no finite one
        is known
    error : for a float, a bound of its error; None where no bound is known
    """

    value: fmpq | float | None
    lower: fmpq | None = None
    upper: fmpq | None = None
    error: float | None = None

    @classmethod
    def of(cls, number: fmpq | Ball | float) -> Quantity:
        """Return an exact number, or a float with the error it carries.

        A float of which not even the sign is known becomes 0, with an error to match.
        """
        if isinstance(number, Ball):
            value, error = float(number.mid), number.error
            return (
                cls(0.0, error=error + abs(value))
                if error >= abs(value)
                else cls(value, error=error)
            )
        return cls(number if isinstance(number, fmpq) else float(number))

    @classmethod
    def enclosed(cls, lower: fmpq, upper: fmpq | None) -> Quantity:
        """Return a number known to lie between two rationals; exact where they are equal."""
        if upper is not None and lower > upper:
            raise VerificationError(f"an enclosure is empty: {lower} > {upper}")
        return cls(lower) if lower == upper else cls(None, lower, upper)

    @property
    def exact(self) -> bool:
        """Whether the number is exact."""
        return isinstance(self.value, fmpq)

    @property
    def infinite(self) -> bool:
        """Whether the number is known to be infinite."""
        return isinstance(self.value, float) and isinf(self.value)

    @property
    def width(self) -> fmpq | None:
        """Width of the enclosure; None where it has no finite upper end."""
        if self.lower is None:
            return fmpq(0)
        return None if self.upper is None else self.upper - self.lower

    def __float__(self) -> float:
        """Return the number, or the middle of its enclosure."""
        if self.value is not None:
            return to_float(self.value) if isinstance(self.value, fmpq) else self.value
        assert self.lower is not None
        return inf if self.upper is None else to_float((self.lower + self.upper) / 2)

    @property
    def decimal(self) -> str:
        """Twenty significant digits of an exact value, of a float those that are known."""
        if isinstance(self.value, fmpq):
            return decimal_text(self.value)
        return f"{float(self):.{known_digits(float(self), self.error)}g}"

    @property
    def ends(self) -> tuple[str, str] | None:
        """The ends of an enclosure as decimals rounded outwards, or None."""
        if self.lower is None:
            return None
        upper = "inf" if self.upper is None else decimal_text(self.upper, towards=1)
        return decimal_text(self.lower, towards=-1), upper

    @property
    def rational(self) -> str | None:
        """The text "p/q", or None where the number is not an exact rational."""
        return rational_text(self.value) if isinstance(self.value, fmpq) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        if self.infinite:
            return {"rational": None, "decimal": "inf", "infinite": True, "exact": True}
        if self.exact:
            return {"rational": self.rational, "decimal": self.decimal}
        if (ends := self.ends) is not None:
            return {"lower": ends[0], "upper": ends[1], "exact": False}
        data = {"rational": None, "decimal": self.decimal, "exact": False}
        return data if self.error is None else data | {"error": f"{self.error:.2e}"}


def known_digits(value: float, error: float | None) -> int:
    """Return how many significant digits of a float its error leaves.

    The text is then within one unit of its last digit of the truth.

    >>> [known_digits(1234.5678, error) for error in (0.0, 1e-3, 0.4, 90.0, 1e5)]
    [17, 6, 4, 1, 1]
    """
    if error is None or error == 0 or value == 0 or not isfinite(value):
        return 17
    return min(max(floor(log10(abs(value))) - floor(log10(2 * error)), 1), 17)


@dataclass(frozen=True)
class Trap:
    """A set of states that is entered with positive probability and never left.

    Attributes
    ----------
    state : one of them, in words
    lower, upper : bounds of the probability of entering the set; equal where it is exact
    """

    state: str
    lower: fmpq
    upper: fmpq

    @property
    def probability(self) -> Quantity:
        """The probability of getting stuck."""
        return Quantity.enclosed(self.lower, self.upper)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"state": self.state, "probability": self.probability.to_dict()}


@dataclass(frozen=True, kw_only=True)
class RuntimeResult:
    """Expected runtime of one instance, in total and per phase.

    Attributes
    ----------
    total, phases : E[T] and E[T_1], E[T_2], ...; the phases end at the milestones
    variance, phase_variances : Var[T] and Var[T_k]; phases are dependent, so the variances
        do not add up
    higher, phase_higher : third and fourth central moments, if asked for
    optimum : position of the optimum, for the coupon collector's bound
    undecided : where the answer is an enclosure, a bound of the probability that a run ever
        meets a comparison that is not decided
    trap : where a run can get stuck for ever, if it can
    method : "joint" or "crossing"
    states : number of states solved
    merged : whether equivalent patterns were merged
    seconds : wall-clock time of deriving, enumerating and solving
    """

    landscape: str
    algorithm: str
    n: int
    ell: int
    parameters: Parameters | None
    hypothesis_h: bool | None
    method: str
    merged: bool
    states: int
    seconds: float
    total: Quantity
    phases: tuple[Quantity, ...]
    variance: Quantity
    phase_variances: tuple[Quantity, ...]
    higher: tuple[Quantity, ...] = ()
    phase_higher: tuple[tuple[Quantity, ...], ...] = ()
    optimum: int | None = None
    undecided: Quantity | None = None
    trap: Trap | None = None

    @property
    def kind(self) -> str:
        """What the answer is: "exact", "float", "enclosure" or "infinite"."""
        if self.total.infinite:
            return "infinite"
        if self.total.lower is not None:
            return "enclosure"
        return "exact" if self.exact else "float"

    @property
    def coupon_collector(self) -> Quantity:
        """The time n (H_n - H_{n-m}) in which m = optimum ones are collected, none being lost.

        No local search from 0 that flips one bit at a time is faster on average.
        """
        found = self.n if self.optimum is None else self.optimum
        if self.n <= _EXACT_HARMONIC_LIMIT:
            return Quantity(self.n * harmonic_difference(self.n - found, self.n))
        return Quantity(self.n * fsum(1 / k for k in range(self.n - found + 1, self.n + 1)))

    @property
    def exact(self) -> bool:
        """Whether E[T] and its phases are known exactly; infinite ones are."""
        return all(q.exact or q.infinite for q in (self.total, *self.phases))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form that `markov-lrsao exact --json` prints."""
        parameters = self.parameters
        result: dict[str, Any] = {
            "landscape": self.landscape,
            "algorithm": self.algorithm,
            "n": self.n,
            "ell": self.ell,
            "alpha": rational_text(parameters.alpha) if parameters else None,
            "gamma": rational_text(parameters.gamma) if parameters else None,
            "r": rational_text(parameters.r) if parameters else None,
            "hypothesis_h": self.hypothesis_h,
            "method": self.method,
            "kind": self.kind,
            "exact": self.exact,
            "merged": self.merged,
            "states": self.states,
            "seconds": round(self.seconds, 6),
            "total": self.total.to_dict(),
        }
        for k, (mean, variance) in enumerate(
            zip(self.phases, self.phase_variances, strict=True), start=1
        ):
            result[f"phase{k}"] = mean.to_dict() | {"variance": variance.to_dict()}
            if self.phase_higher:
                result[f"phase{k}"] |= _named(self.phase_higher[k - 1])
        result["variance"] = self.variance.to_dict()
        if self.undecided is not None:
            result["undecided_probability"] = self.undecided.to_dict()
            width = self.total.width
            result["relative_width"] = (
                to_float(width / self.total.lower)
                if width is not None and self.total.lower
                else None
            )
        if self.trap is not None:
            result["trap"] = self.trap.to_dict()
        bound = self.coupon_collector
        ratio = float(self.total) / float(bound)
        return (
            result
            | _named(self.higher)
            | {
                "coupon_collector": bound.to_dict() | {"ratio": ratio if isfinite(ratio) else None},
            }
        )


def _named(higher: tuple[Quantity, ...]) -> dict[str, Any]:
    names = ("third_central_moment", "fourth_central_moment")
    return {name: moment.to_dict() for name, moment in zip(names, higher, strict=False)}
