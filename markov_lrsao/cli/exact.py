"""`markov-lrsao exact`: E[T], its phases and its variance."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

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
)

if TYPE_CHECKING:
    from markov_lrsao.results import RuntimeResult

__all__ = ["register"]


class Method(StrEnum):
    """How the expectation is computed."""

    auto = "auto"
    joint = "joint"
    crossing = "crossing"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "exact", epilog="Example: markov-lrsao exact --n 9 --ell 2 --alpha 0.8 --gamma 1/10 --r 7/2"
    )(exact)


def exact(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    method: Annotated[Method, typer.Option(help="How to compute; see docs/architecture.md.")] =
        Method.auto,
    floats: Annotated[bool, typer.Option("--float", help="Solve in floats (faster).")] = False,
    moments: Annotated[
        int, typer.Option("--moments", help="2, 3 or 4: central moments to compute.")] = 2,
    unmerged: Annotated[
        bool, typer.Option("--unmerged", help="Keep equivalent patterns apart (joint).")] = False,
    max_states: Annotated[
        int | None, typer.Option("--max-states", help="Refuse joint chains larger than this.")] =
        None,
    outside_h: OutsideHOption = False,
    landscape: LandscapeOption = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print the exact expected runtime, in total and phase by phase."""
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.runtime import runtime

    chosen = instance(n, ell, alpha, gamma, r, landscape)
    result = runtime(
        chosen.landscape, chosen.algorithm, method=method.value,
        field="float" if floats else "exact", moments=moments, merge=not unmerged,
        outside_h=outside_h,
        max_states=max_states, progress=terminal_progress,
    )
    print(json.dumps(result.to_dict()) if as_json else _text(result))


def _text(result: RuntimeResult) -> str:
    from markov_lrsao.cli.tables import table
    from markov_lrsao.rationals import rational_text, shorten

    parameters = result.parameters
    values = "" if parameters is None else ", ".join(
        f"{name} = {shorten(rational_text(value), 30)}"
        for name, value in (("alpha", parameters.alpha), ("gamma", parameters.gamma),
                            ("r", parameters.r))
    )
    size = f"n = {result.n}" + (f", l = {result.ell}" if result.ell else "")
    head = f"{result.algorithm} on {result.landscape}, {size}"
    if values:
        holds = "(H) holds" if result.hypothesis_h else "(H) does not hold"
        head += f"\n{values}; {holds}"
    named = [("T", result.total, result.variance)]
    if len(result.phases) > 1:
        named += [
            (f"T{k}", mean, variance)
            for k, (mean, variance) in enumerate(
                zip(result.phases, result.phase_variances, strict=True), start=1)
        ]
    rows = []
    for name, mean, _ in named:
        rows.append([f"E[{name}]", mean.decimal, shorten(mean.rational or "(float)")])
    for name, _, variance in named:
        rows.append([f"Var[{name}]", variance.decimal, shorten(variance.rational or "(float)")])
    names = [name for name, _, _ in named]
    higher = [result.higher, *result.phase_higher][: len(named)]
    for k in range(len(result.higher)):
        for name, central in zip(names, higher, strict=True):
            rows.append([f"mu{k + 3}[{name}]", central[k].decimal,
                         shorten(central[k].rational or "(float)")])
    body = table(["quantity", "decimal", "fraction"], rows)
    merged = ", equivalent patterns merged" if result.merged and result.method == "joint" else ""
    ratio = float(result.total) / float(result.coupon_collector)
    bound = f"E[T] is {ratio:.4g} times the coupon collector's {float(result.coupon_collector):.6g}"
    foot = (f"{bound}\nmethod: {result.method}{merged}; {result.states:,} states; "
            f"{result.seconds:.3f} s")
    return f"{head}\n\n{body}\n\n{foot}"
