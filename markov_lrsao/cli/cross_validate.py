"""`markov-lrsao cross-validate`: exact against simulated runtimes, one error level for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from markov_lrsao.cli.algorithms import AtLeastOption, StartOption
from markov_lrsao.cli.completion import algorithms
from markov_lrsao.cli.options import (
    ARITHMETIC,
    HELPERS,
    KERNEL,
    LANDSCAPE,
    SEED,
    AlphaOption,
    ArithmeticName,
    GammaOption,
    JsonOption,
    KernelName,
    OutsideHOption,
    ROption,
    helper_names,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import VERDICT_COLOURS, table

if TYPE_CHECKING:
    from simulate.statistics.agreement import Agreement
    from simulate.statistics.named import Case

__all__ = ["cross_validate"]

_RUNS = typer.Option(
    "--runs", help="Runs of every instance.", show_default="100000; with --algorithm 20000"
)
_ALGORITHM = typer.Option(
    "--algorithm",
    help="NAME:key=value,.. as in `exact`, or all: every named algorithm on its own instance.",
    metavar="<name>",
    autocompletion=algorithms,
)


def cross_validate(
    n_max: Annotated[int, typer.Option("--n-max", help="Largest n of the grid.")] = 12,
    n_min: Annotated[int, typer.Option("--n-min", help="Smallest n of the grid.")] = 9,
    ell: Annotated[
        int | None, typer.Option("--ell", "-l", help="Only this l.", show_default="all")
    ] = None,
    runs: Annotated[int | None, _RUNS] = None,
    seed: Annotated[int, SEED] = 1,
    level: Annotated[
        float,
        typer.Option("--level", help="Probability that any test fails although all is right."),
    ] = 0.001,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    means_only: Annotated[
        bool,
        typer.Option("--moments-only", "--means-only", help="Do not compare whole distributions."),
    ] = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    kernel: Annotated[KernelName, KERNEL] = KernelName.event,
    arithmetic: Annotated[ArithmeticName, ARITHMETIC] = ArithmeticName.exact,
    algorithm: Annotated[str | None, _ALGORITHM] = None,
    start: StartOption = None,
    at_least: AtLeastOption = None,
    outside_h: OutsideHOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare exact with simulated runtimes; exit code 1 if they disagree, naming the experiment.

    Without --alpha, --gamma and --r the comparison is made at three points of (H), the paper's
    and two others. Choices are compared with the paper's algorithm on bit strings, too. Where
    E[T] is enclosed rather than known, the simulated mean is compared with the enclosure; where it
    is infinite, the share of stuck runs with its probability.

    With --algorithm NAME:key=value that algorithm is compared instead, also with runs on bit
    strings that share no law with the engine; `--algorithm all` compares every one that has a name.
    """
    from simulate.statistics.named import cross_validate_named

    where = _Where(landscape, helpers, ell, n_min, n_max)
    common: dict[str, Any] = {
        "seed": seed,
        "level": level,
        "distributions": not means_only,
        "progress": terminal_progress,
    }
    values = {"alpha": alpha, "gamma": gamma, "r": r}
    if algorithm is not None:
        _check_values(algorithm, values)
        cases = _cases(algorithm, where, start, at_least, outside_h)
        agreement = cross_validate_named(cases, runs=20_000 if runs is None else runs, **common)
    else:
        if start is not None or at_least is not None:
            raise ParameterError(
                "--start and --at-least need --algorithm: LRSAO runs from 0^n here"
            )
        agreement = _at_points(
            where,
            values,
            runs=100_000 if runs is None else runs,
            kernel=kernel.value,
            arithmetic=arithmetic.value,
            **common,
        )
    emit(as_json, agreement.to_dict, lambda: _text(agreement), VERDICT_COLOURS)
    if not agreement.agrees:
        raise typer.Exit(1)


class _Where(NamedTuple):
    """The instances asked for."""

    landscape: str
    helpers: str | None
    ell: int | None
    n_min: int
    n_max: int


def _at_points(where: _Where, values: Mapping[str, str | None], **options: Any) -> Agreement:
    """Compare LRSAO at points of (H), or with the values that were given."""
    from markov_lrsao.model.catalogue import entry
    from simulate.statistics.crossval import cross_validate as compare
    from simulate.statistics.crossval import grid
    from simulate.sweeps.plan import build_algorithm

    if where.n_min > where.n_max:
        raise ParameterError(
            f"--n-min {where.n_min} is larger than --n-max {where.n_max}: the range is "
            f"empty; the smallest instance is n = 9"
        )
    given = any(value is not None for value in values.values())
    named = entry(where.landscape, helper_names(where.helpers))
    sizes = grid(where.n_max, where.n_min, named)
    return compare(
        [(n, k) for n, k in sizes if where.ell is None or k == where.ell],
        algorithm=(lambda n: build_algorithm("lrsao", n, *values.values())) if given else None,
        landscape=lambda n, k: named.at(n, k or None),
        **options,
    )


def _check_values(algorithm: str, values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is not None:
            raise ParameterError(f"--{name} {value} belongs into --algorithm {algorithm}:{name}=..")


def _cases(
    algorithm: str, where: _Where, start: str | None, at_least: str | None, outside_h: bool
) -> Sequence[Case]:
    """Return a named algorithm on a landscape, or all of them on their own."""
    from markov_lrsao.model.named import NamedAlgorithm
    from simulate.statistics.named import STANDARD, Case

    if algorithm == "all":
        return STANDARD
    NamedAlgorithm.of(algorithm)
    helpers = tuple(helper_names(where.helpers))
    return [
        Case(where.landscape, n, algorithm, start, at_least, k, helpers, outside_h)
        for n, k in _sizes(*where)
    ]


def _sizes(
    landscape: str, helpers: str | None, ell: int | None, n_min: int, n_max: int
) -> list[tuple[int, int | None]]:
    """Return the (n, l) of the range that a landscape admits."""
    from markov_lrsao.model.catalogue import entry
    from markov_lrsao.model.levels import LEADING_ONES
    from simulate.statistics.crossval import grid

    if landscape.strip() == LEADING_ONES:
        return [(n, ell) for n in range(n_min, n_max + 1)]
    named = entry(landscape, helper_names(helpers))
    return [(n, k or None) for n, k in grid(n_max, n_min, named) if ell is None or k == ell]


def _text(agreement: Agreement) -> str:

    rows = []
    for experiment in agreement.experiments:
        for test in experiment.comparisons:
            rows.append(
                [
                    str(experiment.n),
                    str(experiment.ell),
                    experiment.point,
                    f"{experiment.runs:,}",
                    test.quantity,
                    test.test,
                    "" if test.exact is None else f"{test.exact:,.4f}",
                    "" if test.simulated is None else f"{test.simulated:,.4f}",
                    f"{test.statistic:.2f}",
                    f"{test.p_value:.2g}",
                    "agrees" if test.p_value >= agreement.threshold else "FAILS",
                ]
            )
    header = [
        "n",
        "l",
        "point",
        "runs",
        "quantity",
        "test",
        "exact",
        "simulated",
        "statistic",
        "p",
        "verdict",
    ]
    body = table(header, rows, right=[0, 1, 3, 6, 7, 8, 9])
    verdict = (
        "all agree"
        if agreement.agrees
        else "DISAGREE: "
        + "; ".join(
            f"n = {e.n}, l = {e.ell}, {e.point}, {test.quantity} (p = {test.p_value:.2g})"
            for e, test in agreement.failures
        )
    )
    missing = "".join(
        f"\nnot compared at n = {e.n}, l = {e.ell}, {e.point}: {e.omitted}"
        for e in agreement.experiments
        if e.omitted
    )
    return (
        f"{body}\n{missing}\n{agreement.tests} tests, family-wise error level "
        f"{agreement.level:g}: each at {agreement.threshold:.2g}, |z| up to "
        f"{agreement.largest_z:.2f}\n{verdict}"
    )
