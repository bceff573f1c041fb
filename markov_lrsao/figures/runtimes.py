"""Average runtime over n: simulated points with their bars, the exact curve, the paper's bounds.

The bounds are read from the statements of `proofs_check`, where they are checked, not typed in
again. Theorem 1 gives an order without a constant; its order is drawn with the constant 1, and
the range of the quotient E[T] / order is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from markov_lrsao.answers.curves import SCHEDULES, CurvePoint, ell_of
from markov_lrsao.figures.base import (
    Axis,
    Figure,
    FigureData,
    Series,
    Settings,
    numbers,
    setting_text,
)
from markov_lrsao.figures.sampling import (
    Experiment,
    coupon_collector,
    curve_sizes,
    exact_points,
    grid,
    play,
    range_text,
    schedule_text,
)
from markov_lrsao.progress import Progress

if TYPE_CHECKING:
    from markov_lrsao.exact.quantity import Simulated

__all__ = ["FIGURES", "paper_term"]


@cache
def paper_term(statement: str, term: str) -> tuple[Callable[[int, int], float], str]:
    """Return a term of a statement as a function of (n, l), and the statement's claim."""
    import sympy

    from proofs_check.claims.expressions import to_sympy
    from proofs_check.verification.registry import find

    found = find(statement)
    compiled = sympy.lambdify(
        sympy.symbols("n l", positive=True), to_sympy(found.terms[term]), "math"
    )
    return (lambda n, ell: float(compiled(n, ell))), f"{found.id}: {found.claim}"


def _runtime(schedule: str, large: bool, settings: Settings, progress: Progress) -> FigureData:
    ns = grid(settings.large if large else settings.small)
    sizes = curve_sizes(settings, ns[-1], ns, schedule)
    order, claim = paper_term("Theorem 1", "order")
    _, coupons = paper_term("Optimal order", "factor")
    points = exact_points(schedule, sizes, progress)
    found = []
    with progress("simulated", total=sum(ns)) as bar:
        for n in ns:
            experiment = Experiment(
                n=n, ell=ell_of(schedule, n), runs=settings.runs, seed=settings.seed
            )
            mean = play(experiment, settings.level).total
            assert mean is not None  # no limit: every run ends
            found.append(mean)
            bar.advance(n)
    exact = {p.n: float(p.result.total) for p in points}
    inside = sum(e.low <= exact[n] <= e.high for e, n in zip(found, ns, strict=True))
    ratios = [exact[p.n] / order(p.n, p.ell) for p in points]
    name = _name(schedule, large)
    return FigureData(
        name=name,
        title=FIGURE_TITLES[name],
        kind="chart",
        x=Axis("n"),
        y=Axis("T (function evaluations)"),
        caption=f"The line is the exact E[T], at {len(points)} values of n; points are means of "
        f"{settings.runs:,} simulated runs with the true semantics, bars their "
        f"{100 * settings.level:g}% confidence intervals (not seen where they are shorter than "
        f"a point is high); {inside} of {len(ns)} hold E[T]. Theorem 1 states the order only, "
        f"drawn with the constant 1.",
        setting=setting_text(
            range_text(sizes),
            schedule_text(schedule).removeprefix("l = "),
            runs=settings.runs,
            seed=settings.seed,
            level=settings.level,
        ),
        series=_runtime_series(points, ns, found, order, settings),
        notes={
            "ell": [p.ell for p in points],
            "runs": settings.runs,
            "seed": settings.seed,
            "confidence": settings.level,
            "bars_with_the_exact_mean": f"{inside} of {len(ns)}",
            "ratio_to_order": [min(ratios), max(ratios)],
            "statement": claim,
            "lower_bound": coupons,
        },
    )


def _runtime_series(
    points: Sequence[CurvePoint],
    ns: Sequence[int],
    found: Sequence[Simulated],
    order: Callable[[int, int], float],
    settings: Settings,
) -> tuple[Series, ...]:
    x, simulated = numbers(p.n for p in points), numbers(ns)
    return (
        Series(
            name="E[T], exact",
            kind="line",
            x=x,
            y=numbers(float(p.result.total) for p in points),
            colour=0,
        ),
        Series(
            name=f"simulated mean, {settings.runs:,} runs each",
            kind="points",
            x=simulated,
            y=numbers(e.point for e in found),
            low=numbers(e.low for e in found),
            high=numbers(e.high for e in found),
            colour=1,
            marker="o",
        ),
        Series(
            name="Theorem 1: order n^2/l^2 + n ln n, constant 1",
            kind="line",
            x=x,
            y=numbers(order(p.n, p.ell) for p in points),
            colour=2,
            style="dashed",
        ),
        coupon_collector(points),
    )


def _phases(settings: Settings, progress: Progress) -> FigureData:
    """Hold the exact phases against what the paper states about each, for l = sqrt(n)."""
    schedule = "sqrt"
    ns = curve_sizes(settings, grid(settings.large)[-1], [], schedule)
    points = exact_points(schedule, ns, progress)
    stated = [
        ("Theorem 7", "bound", "2(l+1) ln 2"),
        ("Theorem 11", "bound", "5n ln((n-l-3)/(l+1)) + 2n/l, O(1) left out"),
        ("Theorem 16", "order", "order n^2/l^2 + n ln l, constant 1"),
    ]
    series: list[Series] = []
    notes: dict[str, Any] = {}
    for k, (statement, term, text) in enumerate(stated):
        bound, claim = paper_term(statement, term)
        exact = [float(p.result.phases[k]) for p in points]
        series += [
            Series(
                name=f"E[T{k + 1}], exact",
                kind="line",
                x=numbers(ns),
                y=numbers(exact),
                colour=k,
                marker="os^"[k],
            ),
            Series(
                name=f"{statement}: {text}",
                kind="line",
                x=numbers(ns),
                colour=k,
                y=numbers(bound(p.n, p.ell) for p in points),
                style="dashed",
                marker="os^"[k],
            ),
        ]
        notes[statement] = claim
        notes[f"E[T{k + 1}] over it, largest"] = max(
            t / bound(p.n, p.ell) for t, p in zip(exact, points, strict=True)
        )
    name = "phase-bounds"
    return FigureData(
        name=name,
        title=FIGURE_TITLES[name],
        kind="chart",
        x=Axis("n", "log"),
        y=Axis("steps in the phase", "log"),
        series=tuple(series),
        notes=notes,
        caption=f"Solid lines are exact expectations of the three phases, at {len(ns)} values of "
        f"n; dashed lines are the paper's bounds (Theorem 16 states an order, drawn with the "
        f"constant 1). Markers only tell the lines apart.",
        setting=setting_text(range_text(ns), schedule_text(schedule).removeprefix("l = ")),
    )


def _name(schedule: str, large: bool) -> str:
    return f"runtime-{schedule}-{10_000 if large else 1000}"


FIGURE_TITLES = {
    _name(s, large): f"Average runtime, {schedule_text(s)}, n <= {10_000 if large else 1000:,}"
    for s in SCHEDULES
    for large in (False, True)
} | {"phase-bounds": f"The three phases and the paper's bounds, {schedule_text('sqrt')}"}

FIGURES = (
    *(
        Figure(_name(s, large), FIGURE_TITLES[_name(s, large)], partial(_runtime, s, large))
        for s in SCHEDULES
        for large in (False, True)
    ),
    Figure("phase-bounds", FIGURE_TITLES["phase-bounds"], _phases),
)
