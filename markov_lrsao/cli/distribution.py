"""`markov-lrsao distribution`: P(T <= t), quantiles and tails."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from markov_lrsao.cli.law_tables import LawTable

__all__ = ["check_plot", "distribution"]


class Method(StrEnum):
    """How the distribution is computed."""

    auto = "auto"
    powers = "powers"
    inversion = "inversion"
    forward = "forward"


_QuantilesOption = Annotated[str, typer.Option("--quantiles", help=f"Levels in (0,1): {LIST}.")]
_AtOption = Annotated[str | None, typer.Option("--at", help="Times t for P(T <= t).")]
_PhaseOption = Annotated[
    int | None, typer.Option("--phase", help="One phase (1, 2, ..) instead of T.")
]
_MethodOption = Annotated[
    Method,
    typer.Option(
        "--method", help="powers: small n; inversion: any n; forward: tables, with bounds."
    ),
]


def distribution(
    n: NOption = None,
    ell: EllOption = None,
    quantiles: _QuantilesOption = "0.05,0.25,0.5,0.75,0.95,0.99",
    at: _AtOption = None,
    phase: _PhaseOption = None,
    method: _MethodOption = Method.auto,
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
    from markov_lrsao.cli.law_tables import LawTable
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
    moments = partial(
        runtime, shape, chosen, digits=digits, outside_h=True, start=start, at_least=at_least
    )
    found = LawTable.of(law, moments, levels, times, phase, digits)
    if plot is not None:
        _draw(found, f"{shape.name}, {shape.size}", plot)
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


def _draw(found: LawTable, title: str, plot: Path) -> None:
    """Write a figure of a law with its quantiles."""
    from markov_lrsao.figures import plots

    levels = [quantile.level for quantile in found.quantiles]
    with plots.saved(plot) as axes:
        plots.distribution(found.law, quantiles=levels, name=found.name, ax=axes)
        axes.set_title(title, fontsize=10)


def check_plot(plot: Path | None) -> None:
    """Raise ParameterError if a plot could not be written."""
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ParameterError(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    if plot is not None and not plot.resolve().parent.is_dir():
        raise ParameterError(f"--plot {plot}: the folder does not exist")
