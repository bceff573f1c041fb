"""`markov-lrsao relax`: E[T] for penalties below and above hypothesis (H), over n."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import inf, isinf, log, nextafter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from markov_lrsao.cli.options import (
    NS,
    RUNS,
    SEED,
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError, Refused
from markov_lrsao.progress import terminal_progress
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.parameters import Parameters

__all__ = ["relax"]

_LIMIT = 10**9
_STUCK_LIMIT = 10**6
_FEW_STATES = 3000
"""Largest chain with values that is tried at every n: seconds per cell."""


@dataclass(frozen=True)
class Line:
    """One cell of the table.

    Attributes
    ----------
    kind : exact, float, enclosure, infinite or simulated
    low, value, high : E[T] with its enclosure or 95% interval; equal where it is exact
    stuck : the probability of getting stuck: its bounds or 95% interval
    """

    n: int
    factor: str
    r: str
    penalties: int | None
    kind: str
    low: float
    value: float
    high: float
    stuck: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; infinity is null."""
        numbers = {
            name: None if isinf(x) else x
            for name, x in (("low", self.low), ("value", self.value), ("high", self.high))
        }
        return {
            "n": self.n,
            "factor": self.factor,
            "r": self.r,
            "penalties": self.penalties,
            "kind": self.kind,
            "exact": self.kind == "exact",
            **numbers,
            "stuck": self.stuck,
        }


def relax(
    n: Annotated[str, NS] = "9:12",
    ell: EllOption = None,
    factors: Annotated[
        str,
        typer.Option("--factors", help="r in units of (H)'s lower bound; 0+ is the limit r -> 0."),
    ] = "0,0+,0.01,0.1,0.5,0.9,1.05",
    upper_factors: Annotated[
        str,
        typer.Option("--upper-factors", help="r in units of (H)'s upper bound, e.g. 1,1.01,2,10."),
    ] = "",
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    engine_n: Annotated[
        int,
        typer.Option(
            "--engine-n",
            help="Up to this n let the exact engine take minutes per cell, not seconds.",
        ),
    ] = 0,
    simulated: Annotated[
        bool,
        typer.Option(
            "--simulated", help="Simulate also where the exact engine has an answer (r > 0)."
        ),
    ] = False,
    runs: Annotated[int, RUNS] = 2000,
    seed: Annotated[int, SEED] = 1,
    as_json: JsonOption = False,
) -> None:
    """Print how E[T] changes over n when r leaves hypothesis (H).

    r = 0 and the limit r -> 0+ come from chains of their own (exact up to n = 10, then floats).
    Other cells are exact or enclosed where the exact engine has an answer within seconds (inside
    (H) always); else simulated, each with random streams of its own. Every line says which.
    """
    from markov_lrsao.exact.ranges import integers
    from markov_lrsao.exact.rationals import rational
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.parameters import Parameters

    gap = 2 if ell is None else ell
    chosen: list[tuple[str, Literal["lower", "upper"]]] = [
        (text.strip(), "lower") for text in factors.split(",") if text.strip()
    ]
    chosen += [(text.strip(), "upper") for text in upper_factors.split(",") if text.strip()]
    if not chosen:
        raise ParameterError(
            "--factors and --upper-factors are both empty: give one, e.g. --factors 0.5,0.9"
        )
    for text, _ in chosen:
        rational(text.removesuffix("+"), "factor")
    sizes = integers(n, "n")
    lines = []
    for text, bound in chosen:
        for size in sizes:
            landscape = Landscape.jump(size, gap)
            parameters = Parameters.paper(size, alpha, gamma)
            patience = None if simulated else size <= engine_n
            lines.append(_line(landscape, parameters, text, bound, patience, runs, seed))
    emit(
        as_json,
        lambda: {"lines": [line.to_dict() for line in lines]},
        lambda: _text(lines, gap, runs, seed),
    )


def _line(
    landscape: Landscape,
    parameters: Parameters,
    text: str,
    bound: Literal["lower", "upper"],
    patient: bool | None,
    runs: int,
    seed: int,
) -> Line:
    """Return one line; `patient` is how the exact engine is asked, None: not at all."""
    from markov_lrsao.exact.rationals import rational, rational_text, shorten
    from markov_lrsao.regimes.penalties import penalties, relative_penalty
    from markov_lrsao.regimes.vanishing import expected_time, vanishing_law

    n, factor = landscape.n, rational(text.removesuffix("+"), "factor")
    if factor == 0:
        found = expected_time(
            vanishing_law(landscape, parameters),
            limit=text.endswith("+"),
            field="exact" if n <= 10 else "float",
            progress=terminal_progress,
        )
        value = float(found)
        return Line(n, text, text, None, "exact" if found.exact else "float", value, value, value)
    if text.endswith("+"):
        raise ParameterError(f"factor = {text} is not a number; only 0+ denotes a limit")
    given = relative_penalty(landscape, parameters, factor, bound)
    name = text if bound == "lower" else f"{text} upper"
    known = (n, name, shorten(rational_text(given.r), 20), penalties(landscape, given))
    solved = None if patient is None else _solved(known, landscape, given, patient)
    return solved or _simulated(known, landscape, given, bound, runs, seed)


def _solved(
    known: tuple[int, str, str, int | None],
    landscape: Landscape,
    parameters: Parameters,
    patient: bool,
) -> Line | None:
    """Ask the exact engine; None where it has no answer, or no finite enclosure."""
    from markov_lrsao.answers.expected import seek_runtime
    from markov_lrsao.answers.plan import Options
    from markov_lrsao.exact.quantity import Enclosed
    from markov_lrsao.exact.rationals import to_float
    from markov_lrsao.model.algorithm import Algorithm

    options = Options(
        max_states=None if patient else _FEW_STATES,
        progress=terminal_progress,
    )
    result = seek_runtime(landscape, Algorithm.lrsao(parameters), options, outside_h=True)
    if isinstance(result, Refused):
        return None
    total, trap = result.total, result.trap
    low = high = float(total)
    match total:
        case Enclosed(lower, upper):
            if upper is None:
                return None
            low, high = nextafter(to_float(lower), 0), nextafter(to_float(upper), inf)
    stuck = None if trap is None else (to_float(trap.lower), to_float(trap.upper))
    return Line(*known, result.kind, low, float(total), high, stuck)


def _simulated(
    known: tuple[int, str, str, int | None],
    landscape: Landscape,
    parameters: Parameters,
    bound: str,
    runs: int,
    seed: int,
) -> Line:
    """Simulate; censored runs enter through ERT, and above (H) count as stuck."""
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.law import StepLaw
    from simulate.runs.runner import simulate
    from simulate.statistics.estimates import summary

    law = StepLaw.of(landscape, Algorithm.lrsao(parameters))
    limit = _STUCK_LIMIT if bound == "upper" else _LIMIT
    samples = simulate(
        law,
        runs=runs,
        seed=seed,
        limit=limit,
        path=_path(landscape, parameters),
        progress=terminal_progress,
    )
    found = summary(samples)
    if bound == "upper" and found.censored:
        stuck = (1 - found.success.high, 1 - found.success.low)
        endless = float("inf")
        return Line(*known, "simulated", endless, endless, endless, stuck)
    return Line(*known, "simulated", found.ert.low, found.ert.point, found.ert.high)


def _path(landscape: Landscape, parameters: Parameters) -> tuple[int, ...]:
    """Return numbers that give every cell random streams of its own, wherever it stands."""
    from markov_lrsao.exact.rationals import rational_text

    words = (
        str(landscape.n),
        str(landscape.ell),
        *(rational_text(x) for x in (parameters.alpha, parameters.gamma, parameters.r)),
    )
    digest = hashlib.sha256(" ".join(("relax", *words)).encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "big") for i in (0, 4, 8, 12))


def _text(lines: list[Line], ell: int, runs: int, seed: int) -> str:
    from markov_lrsao.regimes.penalties import plateau_degree

    rows, before = [], None
    for line in lines:
        ratio = exponent = ""
        if (
            before is not None
            and before.factor == line.factor
            and before.n < line.n
            and not (isinf(line.value) or isinf(before.value))
        ):
            growth = line.value / before.value
            ratio = f"{growth ** (1 / (line.n - before.n)):.4f}"
            exponent = f"{log(growth) / log(line.n / before.n):.2f}"
        if line.kind in ("exact", "float"):
            shown = f"{line.value:.8g}"
        elif isinf(line.value):
            shown = "infinite" if line.kind == "infinite" else "runs get stuck"
        else:
            shown = f"{line.value:.6g} [{line.low:.6g}, {line.high:.6g}]"
        stuck = "" if line.stuck is None else f"[{line.stuck[0]:.4g}, {line.stuck[1]:.4g}]"
        k = line.penalties
        rows.append(
            [
                line.factor,
                str(line.n),
                line.r,
                str(k) if k else "",
                line.kind,
                shown,
                ratio,
                exponent,
                str(plateau_degree(ell, k)) if k else "",
                stuck,
            ]
        )
        before = line
    header = ["factor", "n", "r", "k", "kind", "E[T]", "growth", "exponent", "degree", "P(stuck)"]
    notes = [
        "factor: r in units of (H)'s bound; k: penalties in a row that unlearn any entry; "
        "growth: per unit of n;",
        "exponent: of n, from one line to the next; degree: expected for n -> infinity at fixed l",
    ]
    if any(line.kind == "simulated" for line in lines):
        notes.append(
            f"simulated: {runs:,} runs per cell, seed {seed}, independent streams, ERT "
            f"with 95% interval, limit "
            f"{_LIMIT:,} steps ({_STUCK_LIMIT:,} above (H), where a run that reaches "
            f"it counts as stuck)"
        )
    return "\n".join([table(header, rows, right=[1, 3, 6, 7, 8]), "", *notes])
