"""`markov-lrsao sites`: where the time goes, position by position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    OutsideHOption,
    PlotOption,
    ROption,
    instance,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from markov_lrsao.answers.profile import Profile

__all__ = ["sites"]

_ROWS = 40


def sites(
    n: NOption = None,
    ell: EllOption = None,
    plot: PlotOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    as_json: JsonOption = False,
) -> None:
    """Print expected steps, expected visits and the law of visits per position."""
    from markov_lrsao.answers.profile import profile
    from markov_lrsao.cli.distribution import check_plot

    check_plot(plot)
    chosen = instance(n, ell, alpha, gamma, r, landscape, helpers)
    found = profile(chosen.landscape, chosen.algorithm, outside_h=outside_h)
    if plot is not None:
        _draw(found, plot)
    emit(
        as_json,
        lambda: {"n": chosen.landscape.n, "ell": chosen.landscape.ell, **_object(found)},
        lambda: _text(found) + ("" if plot is None else f"\n\nwritten: {plot}"),
    )


def _object(found: Profile) -> dict[str, Any]:
    from markov_lrsao.exact.rationals import rational_text

    def text(value: Any) -> str:
        return rational_text(value) if found.exact else f"{value:.17g}"

    positions = []
    for p, (steps, visits) in enumerate(zip(found.steps, found.visits, strict=True)):
        row: dict[str, Any] = {"position": p, "steps": text(steps), "visits": text(visits)}
        if p in found.visit_laws:
            row["visit_law"] = [text(w) for w in found.visit_laws[p]]
        positions.append(row)
    return {"exact": found.exact, "positions": positions}


def _text(found: Profile) -> str:
    from markov_lrsao.exact.rationals import to_float

    def short(value: Any) -> str:
        return f"{to_float(value) if found.exact else value:.6g}"

    count = len(found.steps)
    shown = (
        list(range(count))
        if count <= _ROWS
        else [*range(_ROWS // 2), *range(count - _ROWS // 2, count)]
    )
    rows: list[list[str]] = []
    for k, p in enumerate(shown):
        if k and p != shown[k - 1] + 1:
            rows.append([f"{shown[k - 1] + 1}..{p - 1}", "...", "...", "... (--json has all)"])
        law = found.visit_laws.get(p, ())
        visits = " ".join(f"{k}:{short(w)}" for k, w in enumerate(law) if w != 0)
        rows.append([str(p), short(found.steps[p]), short(found.visits[p]), visits])
    header = ["position", "E[steps]", "E[visits]", "P(visits = k), before the right plateau"]
    return table(header, rows, right=[0, 1, 2])


def _draw(found: Profile, path: Path) -> None:
    """Draw expected steps above expected visits."""
    from markov_lrsao.figures import plots

    landscape = found.landscape
    with plots.saved(path, rows=2, height=2.8) as (steps, visits):
        plots.profile(found, ax=steps)
        plots.profile(found, visits=True, ax=visits)
        steps.set_title(
            f"where the time goes: {landscape.name}, {landscape.size}",
            fontsize=10,
        )
        steps.set_xlabel("")
        visits.set_xlabel("position (number of ones); dashed: phase boundaries")
