"""`markov-lrsao distribution`: P(T <= t), quantiles and tails."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.algorithms import (
    AlgorithmOption,
    AtLeastOption,
    StartOption,
    chosen_algorithm,
    searched,
)
from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    LIST,
    NOT_CERTIFIED,
    AlphaOption,
    DigitsOption,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    OutsideHOption,
    PlotOption,
    ROption,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from markov_lrsao.answers.distribution import Distribution, Quantile
    from markov_lrsao.answers.results import RuntimeResult
    from markov_lrsao.exact.digits import Digits
    from markov_lrsao.exact.quantity import Quantity

__all__ = ["check_plot", "distribution"]

_FACTORS = (1.0, 1.5, 2.0, 3.0, 5.0)
_DIGITS, _MOST_DIGITS = 6, 12


class Method(StrEnum):
    """How the distribution is computed."""

    auto = "auto"
    powers = "powers"
    inversion = "inversion"


def distribution(
    n: NOption = None,
    ell: EllOption = None,
    quantiles: Annotated[
        str, typer.Option("--quantiles", help=f"Levels in (0,1): {LIST}.")
    ] = "0.05,0.25,0.5,0.75,0.95,0.99",
    at: Annotated[str | None, typer.Option("--at", help="Times t for P(T <= t).")] = None,
    phase: Annotated[
        int | None, typer.Option("--phase", help="One phase (1, 2, ..) instead of T.")
    ] = None,
    method: Annotated[
        Method, typer.Option("--method", help="powers: small n; inversion: any n.")
    ] = Method.auto,
    digits: DigitsOption = None,
    plot: PlotOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    algorithm: AlgorithmOption = "lrsao",
    start: StartOption = None,
    at_least: AtLeastOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print quantiles of the runtime, P(T <= t), and the tails P(T > c E[T]).

    Only digits that are certain are printed. With --digits so many are computed of E[T], Var[T],
    the deviation, every P(T <= t) and every tail; if some are not certain, the exit code is 3.
    """
    from markov_lrsao.answers.distribution import distribution as law_of
    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.exact.digits import check_digits
    from markov_lrsao.exact.ranges import integers

    if digits is not None:
        check_digits(digits)
    levels = _levels(quantiles)
    times = [] if at is None else integers(at, "at")
    check_plot(plot)
    shape = searched(n, ell, landscape, helpers)
    chosen = chosen_algorithm(algorithm, shape, alpha, gamma, r)
    law = law_of(
        shape,
        chosen,
        phase=phase,
        method=method.value,
        outside_h=outside_h,
        start=start,
        at_least=at_least,
        progress=terminal_progress,
    )
    name = "T" if phase is None else f"T{phase}"
    if plot is not None:
        from markov_lrsao.figures import plots

        with plots.saved(plot) as axes:
            plots.distribution(law, quantiles=levels, name=name, ax=axes)
            axes.set_title(f"{shape.name}, {shape.size}", fontsize=10)
    moments = [law.expectation, law.variance, law.standard_deviation]
    if digits is not None:
        asked = partial(
            runtime, shape, chosen, digits=digits, outside_h=True, start=start, at_least=at_least
        )
        moments = _moments(asked, law, phase, digits)
    found = _Found(
        name,
        law,
        tuple(law.quantile_range(level) for level in levels),
        tuple(moments),
        _cdf(law, times, digits),
        _tails(law, digits),
        digits,
    )
    emit(
        as_json,
        lambda: {"n": shape.n, "ell": shape.ell, **found.to_dict()},
        lambda: found.text(shape.size) + ("" if plot is None else f"\n\nwritten: {plot}"),
    )
    if not found.certified:
        raise typer.Exit(NOT_CERTIFIED)


def _levels(text: str) -> list[float]:
    """Read levels of quantiles."""
    from markov_lrsao.exact.ranges import rationals
    from markov_lrsao.exact.rationals import rational_text, shorten, to_float

    levels = []
    for exact in rationals(text, "quantiles"):
        level = to_float(exact) if 0 < exact < 1 else 0.0
        if not 0 < level < 1:  # a float may round to either end
            raise ParameterError(
                f"quantiles: {shorten(rational_text(exact), 30)} is out of range, "
                f"0 < q < 1 is needed"
            )
        levels.append(level)
    return levels


def check_plot(plot: Path | None) -> None:
    """Raise ParameterError if a plot could not be written."""
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ParameterError(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    if plot is not None and not plot.resolve().parent.is_dir():
        raise ParameterError(f"--plot {plot}: the folder does not exist")


def _moments(
    asked: Callable[[], RuntimeResult], law: Distribution, phase: int | None, digits: int
) -> list[Quantity]:
    """Return mean, variance and deviation by their digits, of an answer of their own."""
    from markov_lrsao.errors import LrsaoError, Refused, attempt
    from markov_lrsao.exact.digits import with_digits
    from markov_lrsao.exact.quantity import Approximate

    mean, variance = law.expectation, law.variance
    if isinstance(mean, Approximate):  # else nothing better is known
        found = attempt(asked, (LrsaoError,))
        if not isinstance(found, Refused):
            mean, variance = found.total, found.variance
            if phase is not None:
                mean, variance = found.phases[phase - 1], found.phase_variances[phase - 1]
    variance = with_digits(variance, digits)
    return [with_digits(mean, digits), variance, with_digits(variance.sqrt(), digits)]


def _cdf(law: Distribution, times: list[int], digits: int | None) -> dict[int, Digits]:
    """Return P(T <= t) at some times; without a wish twelve digits are enough."""
    from markov_lrsao.exact.digits import Digits

    if digits is None:
        return {t: Digits.between(*law.bounds(t), _MOST_DIGITS) for t in times}
    found = law.digits(times, digits, progress=terminal_progress) if times else []
    return dict(zip(times, found, strict=True))


def _tails(law: Distribution, digits: int | None) -> list[tuple[float, Digits]]:
    """Return (c, P(T > c m)), m the mean of the runs that end.

    Where only an enclosure of the mean is known, m may be anything in it.
    """
    from markov_lrsao.exact.digits import Digits
    from markov_lrsao.exact.quantity import Enclosed
    from markov_lrsao.exact.rationals import to_float

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


@dataclass(frozen=True)
class _Found:
    """All that is printed; see `_moments`, `_cdf` and `_tails`."""

    name: str
    law: Distribution
    quantiles: tuple[Quantile, ...]
    moments: tuple[Quantity, ...]
    cdf: dict[int, Digits]
    tails: list[tuple[float, Digits]]
    digits: int | None

    @property
    def certified(self) -> bool:
        """Whether all digits that were asked for are certain; infinite moments are."""
        from markov_lrsao.exact.digits import Digits

        numbers = (*self.moments, *self.cdf.values(), *(x for _, x in self.tails))
        return self.digits is None or all(
            x.infinite or (isinstance(x, Digits) and x.certified) for x in numbers
        )

    def _probability(self, x: Digits) -> dict[str, Any]:
        """Return the JSON form of a probability; ends are floats where no digits were asked for."""
        from markov_lrsao.exact.rationals import to_float

        data = x.to_dict()
        found = {"probability": float(x), **{key: data[key] for key in ("decimal", "error")}}
        if self.digits is not None:
            return found | {key: data[key] for key in ("lower", "upper", "certified")}
        assert x.upper is not None
        ends = {"lower": to_float(x.lower), "upper": to_float(x.upper)}
        return found | ends | {"certified": x.certain > 0}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        from markov_lrsao.exact.quantity import Enclosed, Infinite

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


def _shown(x: Digits) -> str:
    """Return a probability by its digits, or by its ends where few are certain.

    >>> from markov_lrsao.exact.digits import Digits
    >>> ends = (0.123456, 0.123458), (0.1, 0.2), (0.0, 1e-9)
    >>> [_shown(Digits.between(*pair, 6)) for pair in ends]
    ['0.12346', '0.1 to 0.2', '0 to 1e-09']
    """
    from markov_lrsao.exact.rationals import to_float

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
