"""`markov-lrsao distribution`: P(T <= t), quantiles and tails."""

from __future__ import annotations

from enum import StrEnum
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
    from markov_lrsao.answers.distribution import Distribution, Quantile
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

    Only digits that are certain are printed. With --digits so many are asked for of E[T], its
    deviation and every P(T <= t); where some are not certain, the exit code is 3.
    """
    from markov_lrsao.answers.distribution import distribution as law_of
    from markov_lrsao.exact.digits import check_digits
    from markov_lrsao.exact.ranges import integers

    if digits is not None:
        check_digits(digits)
    levels = _levels(quantiles)
    times = [] if at is None else integers(at, "at")
    check_plot(plot)
    shape = searched(n, ell, landscape, helpers)
    law = law_of(
        shape,
        chosen_algorithm(algorithm, shape, alpha, gamma, r),
        phase=phase,
        method=method.value,
        outside_h=outside_h,
        start=start,
        at_least=at_least,
        progress=terminal_progress,
    )
    found = [law.quantile_range(level) for level in levels]
    name = "T" if phase is None else f"T{phase}"
    if plot is not None:
        from markov_lrsao.figures import plots

        with plots.saved(plot) as axes:
            plots.distribution(law, quantiles=levels, name=name, ax=axes)
            axes.set_title(f"{shape.name}, {shape.size}", fontsize=10)
    emit(
        as_json,
        lambda: {"n": shape.n, "ell": shape.ell, **_as_dict(name, law, found, times, digits)},
        lambda: (
            _text(shape.size, name, law, found, times, digits)
            + ("" if plot is None else f"\n\nwritten: {plot}")
        ),
    )
    if digits is not None and not _certified(law, times, digits):
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


def _tails(law: Distribution) -> list[tuple[float, float, float]]:
    """Return (c, low, high) with P(T > c m) in [low, high], m the mean of the runs that end.

    Where only an enclosure of the mean is known, m may be anything in it.
    """
    from markov_lrsao.exact.quantity import Enclosed
    from markov_lrsao.exact.rationals import to_float

    low = high = law.finite_mean
    match law.expectation:
        case Enclosed(lower, upper) if upper is not None:
            low, high = to_float(lower), to_float(upper)
    return [
        (c, 1 - law.bounds(int(c * high))[1], 1 - law.bounds(int(c * low))[0]) for c in _FACTORS
    ]


def _moments(law: Distribution, digits: int | None) -> list[Quantity]:
    """Return mean, variance and deviation, by their digits where these are asked for."""
    from markov_lrsao.exact.digits import with_digits

    found = [law.expectation, law.variance, law.standard_deviation]
    return found if digits is None else [with_digits(x, digits) for x in found]


def _certified(law: Distribution, times: list[int], digits: int) -> bool:
    """Whether all digits of moments and probabilities are certain; infinite moments are."""
    from markov_lrsao.exact.digits import Digits

    moments = _moments(law, digits)
    return all(x.infinite or (isinstance(x, Digits) and x.certified) for x in moments) and all(
        Digits.between(*law.bounds(t), digits).certified for t in times
    )


def _probability(law: Distribution, t: int, digits: int | None) -> dict[str, Any]:
    """Return P(T <= t) with its certain digits; without a wish twelve are enough."""
    from markov_lrsao.exact.digits import Digits

    low, high = law.bounds(t)
    found = Digits.between(low, high, digits or _MOST_DIGITS)
    data = found.to_dict()
    return {
        "t": t,
        "probability": float(law.cdf(t)),
        "lower": low,
        "upper": high,
        "decimal": data["decimal"],
        "error": data["error"],
        "certified": found.certified if digits else found.certain > 0,
    }


def _as_dict(
    name: str, law: Distribution, found: list[Quantile], times: list[int], digits: int | None
) -> dict[str, Any]:

    from markov_lrsao.exact.quantity import Enclosed, Infinite

    known = not isinstance(law.expectation, Enclosed | Infinite)
    expectation, variance, deviation = _moments(law, digits)
    asked: dict[str, Any] = {}
    if digits is not None:
        asked = {"digits": digits, "certified": _certified(law, times, digits)}
        asked["deviation"] = deviation.to_dict()
    return {
        "quantity": name,
        "method": law.method,
        "error_bound": law.error,
        "mean": law.mean if known else None,
        "standard_deviation": law.deviation if known else None,
        **asked,
        "expectation": expectation.to_dict(),
        "variance": variance.to_dict(),
        "never": law.never.to_dict(),
        "mean_if_finite": law.finite_mean if isfinite(law.finite_mean) else None,
        "quantiles": [q.to_dict() for q in found],
        "tails": []
        if not isfinite(law.finite_mean)
        else [
            {"factor": c, "probability": (low + high) / 2, "lower": low, "upper": high}
            for c, low, high in _tails(law)
        ],
        "cdf": [_probability(law, t, digits) for t in times],
    }


def _text(
    size: str,
    name: str,
    law: Distribution,
    found: list[Quantile],
    times: list[int],
    digits: int | None,
) -> str:

    mean = f"E[{name}]" if law.always_ends else "m"
    blocks = [
        law.describe(name, f", {size}"),
        table(["level", "quantile"], [[f"{q.level:g}", str(q)] for q in found], right=[1]),
    ]
    if digits is not None:
        named = zip(
            (f"E[{name}]", f"Var[{name}]", f"sd[{name}]"), _moments(law, digits), strict=True
        )
        blocks.insert(1, table(["quantity", "decimal", "error"], [[x, *q.cells] for x, q in named]))
    if isfinite(law.finite_mean):
        blocks.append(
            table(
                ["c", f"P({name} > c {mean})"],
                [[f"{c:g}", _between(low, high)] for c, low, high in _tails(law)],
                right=[0],
            )
        )
    if times:
        blocks.append(
            table(
                ["t", f"P({name} <= t)"],
                [
                    [f"{t:,}", _between(*law.bounds(t), digits=digits or _MOST_DIGITS)]
                    for t in times
                ],
                right=[0],
            )
        )
    return "\n\n".join(blocks)


def _between(low: float, high: float, digits: int = _DIGITS) -> str:
    """Return a number known to lie between two, by its digits or by its ends.

    >>> _between(0.123456, 0.123458), _between(0.1, 0.2), _between(0.0, 1e-9)
    ('0.12346', '0.1 to 0.2', '0 to 1e-09')
    """
    from markov_lrsao.exact.digits import Digits

    found = Digits.between(low, high, digits)
    if found.certain >= min(3, digits):
        return found.decimal
    return f"{_outwards(low, -1)} to {_outwards(high, 1)}"


def _outwards(x: float, side: int) -> str:
    """Return three digits of a number in [0, 1], rounded down or up."""
    if x <= 0:
        return "0"
    unit = 10.0 ** (floor(log10(x)) - 2)
    rounded = (floor(x / unit + 1e-9) if side < 0 else ceil(x / unit - 1e-9)) * unit
    return f"{min(rounded, 1.0):.3g}"
