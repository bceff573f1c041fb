"""`markov-lrsao exact`: E[T], its phases and its variance."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.options import (
    LANDSCAPE,
    MAX_STATES,
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    OutsideHOption,
    ROption,
    ToleranceOption,
    UnmergedOption,
    instance,
)
from markov_lrsao.cli.output import emit

if TYPE_CHECKING:
    from markov_lrsao.answers.results import RuntimeResult
    from markov_lrsao.exact.quantity import Quantity

__all__ = ["exact"]


class Method(StrEnum):
    """How the expectation is computed."""

    auto = "auto"
    joint = "joint"
    crossing = "crossing"


def exact(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    method: Annotated[
        Method, typer.Option(help="How to compute; see docs/architecture.md.")
    ] = Method.auto,
    floats: Annotated[bool, typer.Option("--float", help="Solve in floats (faster).")] = False,
    moments: Annotated[
        int, typer.Option("--moments", help="2, 3 or 4: central moments to compute.")
    ] = 2,
    unmerged: UnmergedOption = False,
    max_states: Annotated[int | None, MAX_STATES] = None,
    tolerance: ToleranceOption = None,
    runs: Annotated[
        int, typer.Option("--runs", help="Runs to simulate where nothing else answers; 0: none.")
    ] = 10_000,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print the expected runtime, in total and phase by phase.

    It is exact where every comparison of Q-entries is decided, else a rigorous enclosure. Where
    runs can get stuck it is infinite, and the trap is shown. Where not even an enclosure is
    found within the limits, the answer is a simulation's, and says so.
    """
    from markov_lrsao.answers.expected import runtime
    from markov_lrsao.cli.estimate import estimate
    from markov_lrsao.errors import ParameterError, UndecidedComparisonError
    from markov_lrsao.progress import terminal_progress

    if runs < 0:
        raise ParameterError(f"--runs {runs} is negative; give 0 for no simulation")
    chosen = instance(n, ell, alpha, gamma, r, landscape)
    try:
        result = runtime(
            chosen.landscape,
            chosen.algorithm,
            method=method.value,
            field="float" if floats else "exact",
            moments=moments,
            merge=not unmerged,
            outside_h=outside_h,
            max_states=max_states,
            tolerance=tolerance,
            progress=terminal_progress,
        )
    except UndecidedComparisonError as error:
        if runs == 0:
            raise
        found = estimate(chosen, runs, str(error), terminal_progress)
        emit(as_json, found.to_dict, found.text)
    else:
        emit(as_json, result.to_dict, lambda: _text(result))


def _text(result: RuntimeResult) -> str:
    from markov_lrsao.exact.rationals import rational_text, shorten
    from markov_lrsao.tables import table

    parameters = result.parameters
    values = (
        ""
        if parameters is None
        else ", ".join(
            f"{name} = {shorten(rational_text(value), 30)}"
            for name, value in (
                ("alpha", parameters.alpha),
                ("gamma", parameters.gamma),
                ("r", parameters.r),
            )
        )
    )
    size = f"n = {result.n}" + (f", l = {result.ell}" if result.ell else "")
    head = f"{result.algorithm} on {result.landscape}, {size}"
    if values:
        holds = "(H) holds" if result.hypothesis_h else "(H) does not hold"
        head += f"\n{values}; {holds}"
    named = [("T", result.total, result.variance, result.higher)]
    if len(result.phases) > 1:
        higher = result.phase_higher or ((),) * len(result.phases)
        named += [
            (f"T{k}", *of_phase)
            for k, of_phase in enumerate(
                zip(result.phases, result.phase_variances, higher, strict=True), start=1
            )
        ]
    rows = [[f"E[{name}]", *_cells(mean)] for name, mean, _, _ in named]
    rows += [[f"Var[{name}]", *_cells(variance)] for name, _, variance, _ in named]
    for k in range(len(result.higher)):
        rows += [[f"mu{k + 3}[{name}]", *_cells(central[k])] for name, _, _, central in named]
    body = table(["quantity", "decimal", "fraction or enclosure"], rows)
    return f"{head}\n\n{body}\n\n{_foot(result)}"


def _cells(quantity: Quantity) -> list[str]:
    """Return a decimal, and the fraction or the enclosure."""
    from markov_lrsao.exact.rationals import shorten

    if quantity.infinite:
        return ["infinite", "-"]
    if (ends := quantity.ends) is not None:
        middle = "-" if quantity.upper is None else f"{float(quantity):.6g} (about)"
        return [middle, f"[{ends[0]}, {ends[1]}]"]
    if quantity.rational is not None:
        return [quantity.decimal, shorten(quantity.rational)]
    return [
        quantity.decimal,
        "(float)" if quantity.error is None else f"(float, within {quantity.error:.1e})",
    ]


def _foot(result: RuntimeResult) -> str:
    """Return what kind of answer it is, and how it was found."""
    lines = []
    if result.undecided is not None and result.undecided.upper is not None:
        from markov_lrsao.exact.rationals import to_float

        width = result.total.width
        relative = (
            ""
            if not width or not result.total.lower
            else (f" of relative width {to_float(width / result.total.lower):.1e}")
        )
        kind = "infinite" if result.total.infinite else f"an enclosure{relative}"
        met = to_float(result.undecided.upper)
        lines.append(
            f"E[T] is {kind}; a run meets an undecided comparison with probability "
            f"at most {met:.3g}"
        )
    if result.trap is not None:
        probability = result.trap.probability
        ends = probability.ends
        text = f"in [{ends[0]}, {ends[1]}]" if ends else f"{float(probability):.6g}"
        lines.append(
            f"a run gets stuck for ever with probability {text}, e.g. in the state\n"
            f"  {result.trap.state}"
        )
    bound = float(result.coupon_collector)
    if result.total.value is not None and not result.total.infinite:
        lines.append(
            f"E[T] is {float(result.total) / bound:.4g} times the coupon collector's {bound:.6g}"
        )
    merged = ", equivalent patterns merged" if result.merged and result.method == "joint" else ""
    lines.append(
        f"method: {result.method}{merged}; {result.states:,} states; {result.seconds:.3f} s"
    )
    return "\n".join(lines)
