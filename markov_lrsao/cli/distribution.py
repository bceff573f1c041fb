"""`markov-lrsao distribution`: P(T <= t), quantiles and tails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.completion import choices
from markov_lrsao.cli.options import (
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    LandscapeOption,
    NOption,
    OutsideHOption,
    ROption,
    instance,
    numbers,
)

if TYPE_CHECKING:
    from markov_lrsao.distribution import Distribution

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "distribution",
        epilog="Example: markov-lrsao distribution --n 1000 --ell 10 --quantiles 0.5,0.9,0.99",
    )(distribution)


def distribution(
    n: NOption = None,
    ell: EllOption = None,
    quantiles: Annotated[
        str, typer.Option("--quantiles", help="Comma-separated levels in (0,1).")] =
        "0.05,0.25,0.5,0.75,0.95,0.99",
    at: Annotated[
        str | None, typer.Option("--at", help="Comma-separated times t for P(T <= t).")] = None,
    phase: Annotated[
        int | None, typer.Option("--phase", help="One phase (1, 2, ..) instead of T.")] = None,
    method: Annotated[
        str, typer.Option("--method", help="auto, powers (small n), inversion (any n).",
                          autocompletion=choices("auto", "powers", "inversion"))] = "auto",
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the distribution function (png, svg, pdf).")
    ] = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    outside_h: OutsideHOption = False,
    landscape: LandscapeOption = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print quantiles of the runtime, P(T <= t), and the tails P(T > c E[T])."""
    from markov_lrsao.distribution import distribution as law_of
    from markov_lrsao.errors import ParameterError
    from markov_lrsao.progress import terminal_progress

    if method not in ("auto", "powers", "inversion"):
        raise ParameterError(f"method = {method!r}: choose auto, powers or inversion")
    levels = numbers(quantiles, "quantiles", float)
    times = numbers(at, "at", int) if at else []
    for level in levels:
        if not 0 < level < 1:
            raise ParameterError(f"quantiles: {level} is out of range, 0 < q < 1 is needed")
    if plot is not None:
        _check_plot(plot)
    chosen = instance(n, ell, alpha, gamma, r, landscape)
    law = law_of(chosen.landscape, chosen.algorithm, phase=phase, method=method,  # type: ignore[arg-type]
                 outside_h=outside_h, progress=terminal_progress)
    found = [(level, *law.quantile_bracket(level)) for level in levels]
    tails = [(c, 1 - float(law.cdf(int(c * law.mean)))) for c in (1.0, 1.5, 2.0, 3.0, 5.0)]
    name = "T" if phase is None else f"T{phase}"
    if plot is not None:
        from markov_lrsao.plots import plot_distribution

        title = f"{chosen.landscape.name}, n = {chosen.landscape.n}, l = {chosen.landscape.ell}"
        plot_distribution(law, found, name, title, plot)
    if as_json:
        print(json.dumps(_as_dict(chosen.landscape.n, chosen.landscape.ell, name, law, found,
                                  tails, times)))
    else:
        from markov_lrsao.cli.tables import show

        show(_text(chosen.landscape.n, chosen.landscape.ell, name, law, found, tails, times))
        if plot is not None:
            print(f"\nwritten: {plot}")


def _check_plot(plot: Path) -> None:
    from markov_lrsao.errors import ParameterError

    if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ParameterError(f"--plot {plot}: the name must end in .png, .svg or .pdf")
    if not plot.resolve().parent.is_dir():
        raise ParameterError(f"--plot {plot}: the folder does not exist")


def _as_dict(
    n: int, ell: int, name: str, law: Distribution, found: list[tuple[float, int, bool]],
    tails: list[tuple[float, float]], times: list[int],
) -> dict[str, Any]:
    return {
        "n": n, "ell": ell, "quantity": name, "method": law.method, "error_bound": law.error,
        "mean": law.mean, "standard_deviation": law.deviation,
        "quantiles": [{"level": q, "value": t, "certain": c} for q, t, c in found],
        "tails": [{"factor": c, "probability": p} for c, p in tails],
        "cdf": [{"t": t, "probability": float(law.cdf(t))} for t in times],
    }


def _text(
    n: int, ell: int, name: str, law: Distribution, found: list[tuple[float, int, bool]],
    tails: list[tuple[float, float]], times: list[int],
) -> str:
    from markov_lrsao.cli.tables import table

    blocks = [
        f"distribution of {name}, n = {n}, l = {ell}: mean {law.mean:.6g}, "
        f"standard deviation {law.deviation:.6g}\n"
        f"method: {law.method}; every P({name} <= t) is within {law.error:.1e} of the truth",
        table(["level", "quantile"],
              [[f"{q:g}", f"{t:,}" + ("" if sure else " (or next to it)")]
               for q, t, sure in found], right=[1]),
        table(["c", f"P({name} > c E[{name}])"], [[f"{c:g}", f"{p:.6g}"] for c, p in tails],
              right=[0]),
    ]
    if times:
        blocks.append(table(
            ["t", f"P({name} <= t)"], [[f"{t:,}", f"{float(law.cdf(t)):.12f}"] for t in times],
            right=[0]))
    return "\n\n".join(blocks)
