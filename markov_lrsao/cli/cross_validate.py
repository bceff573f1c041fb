"""`markov-lrsao cross-validate`: exact against simulated runtimes, one error level for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.options import (
    ARITHMETIC,
    HELPERS,
    KERNEL,
    LANDSCAPE,
    RUNS,
    SEED,
    AlphaOption,
    ArithmeticName,
    GammaOption,
    JsonOption,
    KernelName,
    ROption,
    helper_names,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import VERDICT_COLOURS, table

if TYPE_CHECKING:
    from simulate.statistics.agreement import Agreement

__all__ = ["cross_validate"]


def cross_validate(
    n_max: Annotated[int, typer.Option("--n-max", help="Largest n of the grid.")] = 12,
    n_min: Annotated[int, typer.Option("--n-min", help="Smallest n of the grid.")] = 9,
    ell: Annotated[
        int | None, typer.Option("--ell", "-l", help="Only this l.", show_default="all")
    ] = None,
    runs: Annotated[int, RUNS] = 100_000,
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
    as_json: JsonOption = False,
) -> None:
    """Compare exact with simulated runtimes; exit code 1 if they disagree, naming the experiment.

    Without --alpha, --gamma and --r the comparison is made at three points of (H), the paper's
    and two others. Choices are compared with the paper's algorithm on bit strings, too. Where
    E[T] is enclosed rather than known, the simulated mean is compared with the enclosure; where it
    is infinite, the share of stuck runs with its probability.
    """
    from markov_lrsao.model.catalogue import entry
    from simulate.statistics.crossval import cross_validate as compare
    from simulate.statistics.crossval import grid
    from simulate.sweeps.plan import build_algorithm

    if n_min > n_max:
        raise ParameterError(
            f"--n-min {n_min} is larger than --n-max {n_max}: the range is "
            f"empty; the smallest instance is n = 9"
        )
    given = alpha is not None or gamma is not None or r is not None
    named = entry(landscape, helper_names(helpers))
    experiments = [(n, k) for n, k in grid(n_max, n_min, named) if ell is None or k == ell]
    agreement = compare(
        experiments,
        runs=runs,
        seed=seed,
        level=level,
        distributions=not means_only,
        algorithm=(lambda n: build_algorithm("lrsao", n, alpha, gamma, r)) if given else None,
        landscape=lambda n, k: named.at(n, k or None),
        kernel=kernel.value,
        arithmetic=arithmetic.value,
        progress=terminal_progress,
    )
    emit(as_json, agreement.to_dict, lambda: _text(agreement), VERDICT_COLOURS)
    if not agreement.agrees:
        raise typer.Exit(1)


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
