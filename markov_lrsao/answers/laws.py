r"""What the law of a runtime tells: P(T <= t), P(T = t), quantiles, digits, with error bounds.

A `Distribution` is made from powers of the transition matrix (`markov_lrsao.answers.powers`) or by
inversion of the generating function (`markov_lrsao.answers.inversion`). Every P(T <= t) is
within `error` of the truth, and nothing is claimed that this does not support: a quantile is a
range of integers, single where the bound separates it from its neighbours, without an upper end
where the bound exceeds 1 - q.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import fsum, inf, isinf, nextafter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.answers.law_digits import ChainLaw, PointLaw, cumulated, inverted, refined_law
from markov_lrsao.errors import ParameterError, StateSpaceTooLargeError
from markov_lrsao.exact.digits import Digits
from markov_lrsao.exact.disks import Circle, Disk
from markov_lrsao.exact.frames import data_frame
from markov_lrsao.exact.quantity import UNKNOWN, Enclosed, Infinite, Quantity
from markov_lrsao.exact.rationals import decimal_text, to_float
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.tables import html_table, table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Distribution", "Inversion", "Powers", "Quantile"]

FloatArray = npt.NDArray[np.float64]
_SHOWN_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_HEADER = ["level", "quantile"]
_DIGITS = 6
_UNIT = 2.0**-53
_LARGEST_TRANSFORM = 2**25


@dataclass(frozen=True)
class Quantile:
    """The smallest t with P(T <= t) >= level, as far as the error bound tells.

    Attributes
    ----------
    value : the best guess; infinity where the level is never reached
    low, high : ends that are certain; high is infinite where no finite one is known
    """

    level: float
    value: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether the error bound leaves no other value."""
        return self.low == self.high

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; an infinite quantile has no value, an unknown end is null."""
        number = {
            name: None if isinf(x) else int(x)
            for name, x in (("value", self.value), ("lower", self.low), ("upper", self.high))
        }
        return {"level": self.level, **number, "certain": self.certain, "infinite": isinf(self.low)}

    def __str__(self) -> str:
        """Return a number, a range, an open range or "infinite"."""
        if isinf(self.low):
            return "infinite"
        if self.certain:
            return f"{int(self.low):,}"
        return (
            f"{int(self.low):,} or more"
            if isinf(self.high)
            else (f"{int(self.low):,} to {int(self.high):,}")
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Distribution(ABC):
    """The law of a runtime.

    Attributes
    ----------
    expectation, variance : of the runtime: a float with its error, an enclosure, or infinite
    finite_mean : E[T | T < infinity], of the way of resolving that was evaluated
    never : P(T = infinity), exact or enclosed
    error : every P(T <= t) is within this of the truth
    horizon : finite times beyond it have a probability below `error`
    ending : E[T | T < infinity] with both ends, where tables were carried forwards that show them
    method : "powers", "inversion" or "forward"
    """

    expectation: Quantity
    variance: Quantity
    finite_mean: float
    never: Quantity
    error: float
    horizon: int
    ending: Quantity = UNKNOWN
    method: ClassVar[str]

    @property
    def mean(self) -> float:
        """E[T], or the middle of its enclosure."""
        return float(self.expectation)

    @property
    def deviation(self) -> float:
        """The standard deviation of T, or about that where it is enclosed."""
        return float(self.standard_deviation)

    @property
    def standard_deviation(self) -> Quantity:
        """The standard deviation of T, as far as it is known."""
        return self.variance.sqrt()

    @property
    def reached(self) -> tuple[fmpq, fmpq]:
        """Bounds of P(T < infinity)."""
        most = self.never.upper
        return fmpq(0) if most is None else 1 - most, 1 - self.never.lower

    @property
    def always_ends(self) -> bool:
        """Whether P(T = infinity) is known to be 0."""
        return self.never.exact and bool(self.never.value == 0)

    @abstractmethod
    def cdf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T <= t)."""

    def until(self, horizon: int) -> tuple[FloatArray, FloatArray]:
        """Return P(T <= t) for t = 0 .. horizon, and a bound of the error of each."""
        values = np.asarray(self.cdf(np.arange(horizon + 1)), dtype=float)
        return values, np.full(horizon + 1, self.error)

    def _times(self, t: int | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return times as an array, those beyond the horizon as the first beyond it."""
        least, most = -1, self.horizon + 1
        if isinstance(t, int):
            return np.asarray(min(max(t, least), most), dtype=np.int64)
        return np.clip(np.asarray(t, dtype=np.int64), least, most)

    def bounds(self, t: int) -> tuple[float, float]:
        """Return what P(T <= t) is certain to lie between."""
        found = float(self.cdf(t))
        most = nextafter(to_float(self.reached[1]), 2.0)
        low, high = found - self.error, found + self.error
        if _exact(low) > _exact(found) - _exact(self.error):  # it was rounded the wrong way
            low = nextafter(low, -1.0)
        if _exact(high) < _exact(found) + _exact(self.error):
            high = nextafter(high, 2.0)
        return max(low, 0.0), min(high, most, 1.0)

    def digits(
        self,
        times: Sequence[int],
        digits: int,
        *,
        above: bool = False,
        progress: Progress = no_progress,
    ) -> list[Digits]:
        """Return P(T <= t), or P(T > t), at some times to so many digits, each certain.

        The law is evaluated again, in balls or in integers. Where that would take too long, or
        comparisons are open, what is known is returned, and is not certified.
        """

        def ends(wanted: int) -> list[tuple[fmpq, fmpq]]:
            try:
                return self._ends(times, wanted, progress)
            except StateSpaceTooLargeError:
                return Distribution._ends(self, times, wanted, progress)

        return refined_law(ends, digits, above=above)

    def _ends(
        self, times: Sequence[int], digits: int, progress: Progress
    ) -> list[tuple[fmpq, fmpq]]:
        """Return ends of P(T <= t) that are some 10^-digits apart, or as near as they can be."""
        found = [self.bounds(t) for t in times]
        return [(_exact(low), _exact(high)) for low, high in found]

    def pmf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T = t)."""
        times = self._times(t)
        values = np.maximum(np.asarray(self.cdf(times)) - np.asarray(self.cdf(times - 1)), 0.0)
        return float(values) if np.ndim(t) == 0 else values

    def quantile(self, q: float) -> int:
        """Return the smallest t with P(T <= t) >= q, the best guess where it is not certain.

        Raises
        ------
        ParameterError
            q is not in (0, 1), or is not reached: the quantile is infinite.
        """
        found = self.quantile_range(q).value
        if isinf(found):
            raise ParameterError(
                f"quantile = {q} is infinite: a run ends with probability "
                f"{to_float(self.reached[1]):.6g} at most"
            )
        return int(found)

    def quantile_range(self, q: float) -> Quantile:
        """Return the quantile with the ends that the error bound supports.

        Raises
        ------
        ParameterError
            q is not in (0, 1).
        """
        if not 0 < q < 1:
            raise ParameterError(f"quantile = {q} is out of range: 0 < q < 1 is needed")
        if fmpq(*q.as_integer_ratio()) > self.reached[1]:
            return Quantile(q, inf, inf, inf)
        low = self._first(lambda t: self.bounds(t)[1] >= q)
        value = self._first(lambda t: float(self.cdf(t)) >= q)
        high = self._first(lambda t: self.bounds(t)[0] >= q)
        return Quantile(q, min(max(low, value), high), min(low, self.horizon + 1), high)

    def times(self, count: int = 400) -> npt.NDArray[np.int64]:
        """Return up to `count` times over which P(T <= t) rises, evenly spaced in log t.

        Raises
        ------
        ParameterError
            No run is known to end.
        """
        reached = to_float(self.reached[0])
        if reached <= 2 * self.error:
            raise ParameterError("there are no times to show: no run is known to end")
        ends = [self.quantile_range(q * reached).value for q in (1e-4, 1 - 1e-4)]
        low, high = (min(t, self.horizon) for t in ends)
        spaced = np.geomspace(max(low * 0.9, 1), max(high * 1.1, 2), count)
        return np.unique(spaced.astype(np.int64))

    def to_frame(self, times: Sequence[int] | npt.NDArray[np.int64] | None = None) -> DataFrame:
        """Return a table of P(T <= t) and P(T = t); default: at `self.times()`."""
        t = self.times() if times is None else np.asarray(times, dtype=np.int64)
        return data_frame({"t": t, "cdf": self.cdf(t), "pmf": self.pmf(t), "error": self.error})

    def describe(self, name: str = "T", where: str = "") -> str:
        """Return mean, deviation and error in words; `where` says of which instance."""
        lines = [
            f"distribution of {name}{where}: mean {_few_digits(self.expectation)}, "
            f"standard deviation {_few_digits(self.standard_deviation)}",
            f"method: {self.method}; every P({name} <= t) is within {self.error:.1e} of the truth",
        ]
        if not self.always_ends:
            share = str(self.never) if self.never.exact else f"in {self.never}"
            about = "" if self.never.exact else "about "
            mean = f"; m = {about}E[{name} | {name} < inf] = {self.finite_mean:.6g}"
            if self.ending.upper is not None:
                mean = f"; E[{name} | {name} < inf] is {_few_digits(self.ending)}, m its middle"
            lines.append(f"P({name} = inf) is {share}{'' if isinf(self.finite_mean) else mean}")
        return "\n".join(lines)

    def _quantile_rows(self) -> list[list[str]]:
        return [[f"{q:g}", str(self.quantile_range(q))] for q in _SHOWN_LEVELS]

    def __str__(self) -> str:
        """Return mean, deviation, error and quantiles."""
        return f"{self.describe()}\n\n{table(_HEADER, self._quantile_rows(), right=[1])}"

    def _repr_html_(self) -> str:
        """Return the same as HTML, for notebooks."""
        lines = escape(self.describe()).replace("\n", "<br>")
        return f"<p>{lines}</p>{html_table(_HEADER, self._quantile_rows())}"

    def _first(self, holds: Any) -> float:
        """Return a t at which a condition holds, and at t - 1 it does not; or infinity."""
        low, high = -1, self.horizon
        if not holds(high):
            return inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high


def _exact(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def _few_digits(quantity: Quantity) -> str:
    """Return a few digits of a number, as many as are known; or its enclosure."""
    match quantity:
        case Infinite():
            return "infinite"
        case Enclosed(low, high) if high is not None:
            return f"in [{decimal_text(low, 8, towards=-1)}, {decimal_text(high, 8, towards=1)}]"
        case Enclosed():
            return "unknown"
    return f"{float(quantity.decimal):.{_DIGITS}g}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Powers(Distribution):
    """From powers of the transition matrix: the probabilities themselves are stored.

    Attributes
    ----------
    source : what more digits are found from, where nothing is open
    """

    probabilities: FloatArray
    source: ChainLaw | None = None
    method: ClassVar[str] = "powers"

    def _ends(
        self, times: Sequence[int], digits: int, progress: Progress
    ) -> list[tuple[fmpq, fmpq]]:
        if self.source is None:
            return super()._ends(times, digits, progress)
        return cumulated(self.source, times, digits, progress)

    @cached_property
    def cumulative(self) -> FloatArray:
        """P(T <= t) at t = 0, 1, .."""
        return np.cumsum(self.probabilities)

    def cdf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T <= t)."""
        cumulative, times = self.cumulative, self._times(t)
        values = np.where(times < 0, 0.0, cumulative[np.clip(times, 0, len(cumulative) - 1)])
        return float(values) if np.ndim(t) == 0 else values


@dataclass(frozen=True, eq=False, kw_only=True)
class Inversion(Distribution):
    """From values of the generating function on part of the unit circle.

    P(T <= t) is the real part of

        1/N sum over j of w_j G(z_j) (1 - z_j^-(t+1)) / (1 - 1/z_j),    w_j = 2, but w_0 = 1,

    where the term of j = 0 is (t+1) G(1), and 1 / (1 - 1/z_j) = 1/2 - i/2 cot(pi j/N).

    Attributes
    ----------
    points : N
    values : G(z_j) for j = 0, 1, .. up to the truncation
    radii : bounds of their errors
    source : what more digits are found from, where nothing is open
    """

    points: int
    values: npt.NDArray[np.complex128]
    radii: FloatArray
    source: PointLaw | None = None
    method: ClassVar[str] = "inversion"

    def _ends(
        self, times: Sequence[int], digits: int, progress: Progress
    ) -> list[tuple[fmpq, fmpq]]:
        if self.source is None:
            return super()._ends(times, digits, progress)
        return inverted(self.source, times, digits, progress)

    @cached_property
    def _circle(self) -> Circle:
        return Circle(self.points)

    @cached_property
    def _terms(self) -> Disk:
        """w_j G(z_j) / (1 - 1/z_j), j = 1, 2, .."""
        count = len(self.values) - 1
        cot = self._circle.half_cotangents(count)
        weight = np.where(2 * np.arange(1, count + 1) == self.points, 1.0, 2.0)
        return Disk(0.5 - 1j * cot.mid, cot.rad) * (Disk(self.values, self.radii)[1:] * weight)

    @cached_property
    def rounding(self) -> float:
        """What rounding contributes to the error, at any t.

        The terms' radii count twice, as |1 - z| <= 2. The factor 1 - z^-(t+1) is within 20u of the
        truth, a product within 6u of its size, at most twice that of the term. Their sum is
        rounded once (`fsum`); and the term of j = 0, the quotient and the last sum a few times.
        """
        terms = self._terms
        products = 2 * float(np.sum(terms.rad)) + 32 * _UNIT * float(np.sum(terms.size))
        first = float(self.radii[0]) + 8 * _UNIT
        return (products / self.points + first) * (1 + 1e-6)  # sums of radii are rounded, too

    def cdf(self, t: int | npt.NDArray[np.int64]) -> Any:
        """Return P(T <= t), clipped to [0, P(T < infinity)]."""
        times = np.atleast_1d(self._times(t))
        most = self.values[0].real
        wide = self.points * len(self.values) >= 2**62  # j (t+1) leaves the machine's integers
        j = np.arange(1, len(self.values), dtype=object if wide else np.int64)
        terms = self._terms.mid
        result = np.empty(len(times))
        for index, time in enumerate(times.tolist()):
            turns = (-j * (time + 1) % self.points).astype(np.int64)
            turned = 1 - self._circle(turns).mid
            total = (time + 1) * most + fsum((terms * turned).real.tolist())
            result[index] = min(max(total / self.points, 0.0), most) if time >= 0 else 0.0
            if time >= self.points:
                result[index] = most
        return float(result[0]) if np.ndim(t) == 0 else result

    def until(self, horizon: int) -> tuple[FloatArray, FloatArray]:
        """Return P(T <= t) for all t up to a horizon at once, by one Fourier transform.

        Its rounding, relative to the norm of all terms, is far below 16 u log2 N; see `Higham`,
        Accuracy and Stability of Numerical Algorithms, theorem 24.2.
        """
        last = min(horizon, self.points - 2)  # the transform has as many places as points
        if self.points > _LARGEST_TRANSFORM:
            return super().until(horizon)
        from scipy.fft import irfft

        terms = self._terms.mid
        padded = np.zeros(self.points // 2 + 1, dtype=np.complex128)
        padded[1 : len(terms) + 1] = np.conj(terms) / 2
        if self.points % 2 == 0 and len(terms) == self.points // 2:
            padded[-1] *= 2  # irfft counts the middle term once
        turned = irfft(padded, self.points)[1 : last + 2]
        times = np.arange(1, last + 2)
        most = self.values[0].real
        found = (times * most + fsum(terms.real.tolist())) / self.points - turned
        norm = float(np.linalg.norm(terms)) / self.points**0.5
        more = 16 * _UNIT * np.log2(self.points) * norm + 8 * _UNIT
        beyond = np.asarray(self.cdf(np.arange(last + 1, horizon + 1)), dtype=float)
        values = np.concatenate([np.clip(found, 0.0, most), beyond])
        return values, np.full(len(values), self.error + float(more))
