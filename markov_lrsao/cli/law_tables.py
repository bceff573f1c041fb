"""What `markov-lrsao distribution` prints of a law: moments, quantiles, tails and P(T <= t)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Any

from markov_lrsao.answers.laws import Distribution, Quantile
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.errors import LrsaoError, Refused, attempt
from markov_lrsao.exact.digits import Digits, with_digits
from markov_lrsao.exact.quantity import Approximate, Enclosed, Infinite, Quantity
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import table

__all__ = ["LawTable"]

_FACTORS = (1.0, 1.5, 2.0, 3.0, 5.0)
_DIGITS, _MOST_DIGITS = 6, 12


@dataclass(frozen=True)
class LawTable:
    """All that is printed of a law.

    Attributes
    ----------
    name : "T", or "T2" of the second phase
    moments : mean, variance and deviation, by their digits where these were asked for
    cdf : t -> P(T <= t)
    tails : (c, P(T > c m)), m the mean of the runs that end
    digits : how many were asked for, of every number
    """

    name: str
    law: Distribution
    quantiles: tuple[Quantile, ...]
    moments: tuple[Quantity, ...]
    cdf: dict[int, Digits]
    tails: list[tuple[float, Digits]]
    digits: int | None

    @classmethod
    def of(
        cls,
        law: Distribution,
        asked: Callable[[], RuntimeResult],
        levels: Sequence[float],
        times: Sequence[int],
        phase: int | None,
        digits: int | None,
    ) -> LawTable:
        """Return the quantiles at some levels and the law at some times, to so many digits.

        Parameters
        ----------
        asked : finds the moments to so many digits; called only if some were asked for
        """
        moments = [law.expectation, law.variance, law.standard_deviation]
        if digits is not None:
            moments = _moments(asked, law, phase, digits)
        return cls(
            "T" if phase is None else f"T{phase}",
            law,
            tuple(law.quantile_range(level) for level in levels),
            tuple(moments),
            _cdf(law, times, digits),
            _tails(law, digits),
            digits,
        )

    @property
    def certified(self) -> bool:
        """Whether all digits that were asked for are certain; infinite moments are."""
        numbers = (*self.moments, *self.cdf.values(), *(x for _, x in self.tails))
        return self.digits is None or all(
            x.infinite or (isinstance(x, Digits) and x.certified) for x in numbers
        )

    def _probability(self, x: Digits) -> dict[str, Any]:
        """Return the JSON form of a probability; ends are floats where no digits were asked for."""
        data = x.to_dict()
        found = {"probability": float(x), **{key: data[key] for key in ("decimal", "error")}}
        if self.digits is not None:
            return found | {key: data[key] for key in ("lower", "upper", "certified")}
        assert x.upper is not None
        ends = {"lower": to_float(x.lower), "upper": to_float(x.upper)}
        return found | ends | {"certified": x.certain > 0}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        law = self.law
        known = not isinstance(law.expectation, Enclosed | Infinite)
        expectation, variance, deviation = self.moments
        asked: dict[str, Any] = {}
        if self.digits is not None:
            asked = {"digits": self.digits, "certified": self.certified}
        return {
            "quantity": self.name,
            "method": law.method,
            "error_bound": law.error,
            "mean": law.mean if known else None,
            "standard_deviation": law.deviation if known else None,
            **asked,
            "expectation": expectation.to_dict(),
            "variance": variance.to_dict(),
            "deviation": deviation.to_dict(),
            "never": law.never.to_dict(),
            "mean_if_finite": law.finite_mean if isfinite(law.finite_mean) else None,
            "expectation_if_finite": law.ending.to_dict(),
            "quantiles": [q.to_dict() for q in self.quantiles],
            "tails": [{"factor": c, **self._probability(x)} for c, x in self.tails],
            "cdf": [{"t": t, **self._probability(x)} for t, x in self.cdf.items()],
        }

    def text(self, size: str) -> str:
        """Return tables for people."""
        name, law = self.name, self.law
        mean = f"E[{name}]" if law.always_ends else "m"
        rows = [[f"{q.level:g}", str(q)] for q in self.quantiles]
        blocks = [law.describe(name, f", {size}"), table(["level", "quantile"], rows, right=[1])]
        if self.digits is not None:
            named = zip((f"E[{name}]", f"Var[{name}]", f"sd[{name}]"), self.moments, strict=True)
            blocks.insert(
                1, table(["quantity", "decimal", "error"], [[x, *q.cells] for x, q in named])
            )
        for title, lines in (
            (["c", f"P({name} > c {mean})"], [[f"{c:g}", _shown(x)] for c, x in self.tails]),
            (["t", f"P({name} <= t)"], [[f"{t:,}", _shown(x)] for t, x in self.cdf.items()]),
        ):
            if lines:
                blocks.append(table(title, lines, right=[0]))
        return "\n\n".join(blocks)


def _moments(
    asked: Callable[[], RuntimeResult], law: Distribution, phase: int | None, digits: int
) -> list[Quantity]:
    """Return mean, variance and deviation by their digits, of an answer of their own."""
    mean, variance = law.expectation, law.variance
    if isinstance(mean, Approximate):  # else nothing better is known
        found = attempt(asked, (LrsaoError,))
        if not isinstance(found, Refused):
            mean, variance = found.total, found.variance
            if phase is not None:
                mean, variance = found.phases[phase - 1], found.phase_variances[phase - 1]
    variance = with_digits(variance, digits)
    return [with_digits(mean, digits), variance, with_digits(variance.sqrt(), digits)]


def _cdf(law: Distribution, times: Sequence[int], digits: int | None) -> dict[int, Digits]:
    """Return P(T <= t) at some times; without a wish twelve digits are enough."""
    if digits is None:
        return {t: Digits.between(*law.bounds(t), _MOST_DIGITS) for t in times}
    found = law.digits(times, digits, progress=terminal_progress) if times else []
    return dict(zip(times, found, strict=True))


def _tails(law: Distribution, digits: int | None) -> list[tuple[float, Digits]]:
    """Return (c, P(T > c m)), m the mean of the runs that end.

    Where only an enclosure of the mean is known, m may be anything in it.
    """
    low = high = law.finite_mean
    if not isfinite(low):
        return []
    match law.expectation:
        case Enclosed(lower, upper) if upper is not None:
            low, high = to_float(lower), to_float(upper)
    first, last = ([int(c * m) for c in _FACTORS] for m in (low, high))
    if digits is not None and first == last:
        found = law.digits(first, digits, above=True, progress=terminal_progress)
    else:
        ends = (
            (1 - law.bounds(b)[1], 1 - law.bounds(a)[0]) for a, b in zip(first, last, strict=True)
        )
        found = [Digits.between(*pair, digits or _DIGITS) for pair in ends]
    return list(zip(_FACTORS, found, strict=True))


def _shown(x: Digits) -> str:
    """Return a probability by its digits, or by its ends where few are certain.

    >>> from markov_lrsao.exact.digits import Digits
    >>> ends = (0.123456, 0.123458), (0.1, 0.2), (0.0, 1e-9)
    >>> [_shown(Digits.between(*pair, 6)) for pair in ends]
    ['0.12346', '0.1 to 0.2', '0 to 1e-09']
    """
    if x.certain >= min(3, x.digits):
        return x.decimal
    assert x.upper is not None
    return f"{_outwards(to_float(x.lower), -1)} to {_outwards(to_float(x.upper), 1)}"


def _outwards(x: float, side: int) -> str:
    """Return three digits of a number in [0, 1], rounded down or up."""
    if x <= 0:
        return "0"
    unit = 10.0 ** (floor(log10(x)) - 2)
    rounded = (floor(x / unit + 1e-9) if side < 0 else ceil(x / unit - 1e-9)) * unit
    return f"{min(rounded, 1.0):.3g}"
