"""`markov-lrsao sites`: where the time goes, position by position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
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
    instance,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from markov_lrsao.answers.profile import Profile

__all__ = ["sites"]

_ROWS, _DIGITS = 40, 12


def sites(
    n: NOption = None,
    ell: EllOption = None,
    digits: DigitsOption = None,
    plot: PlotOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    as_json: JsonOption = False,
) -> None:
    """Print expected steps, expected visits and the law of visits per position.

    They are fractions up to n = 300, and beyond it decimals whose digits are all certain. With
    --digits so many are asked for; where some are not certain, the exit code is 3. Where the order
    of Q-values stays open they are enclosed between two ends.
    """
    from markov_lrsao.answers.profile import EXACT_PROFILE_LIMIT, profile
    from markov_lrsao.cli.distribution import check_plot

    check_plot(plot)
    chosen = instance(n, ell, alpha, gamma, r, landscape, helpers)
    wanted = digits
    if wanted is None and chosen.landscape.n > EXACT_PROFILE_LIMIT:
        wanted = _DIGITS
    found = profile(chosen.landscape, chosen.algorithm, digits=wanted, outside_h=outside_h)
    if plot is not None:
        _draw(found, plot)
    emit(
        as_json,
        lambda: {
            "n": chosen.landscape.n,
            "ell": chosen.landscape.ell,
            **_object(found, digits is not None),
        },
        lambda: _text(found) + ("" if plot is None else f"\n\nwritten: {plot}"),
    )
    promised = digits is not None or (wanted is not None and found.decided)
    if promised and not found.certified:
        raise typer.Exit(NOT_CERTIFIED)


def _object(found: Profile, asked: bool) -> dict[str, Any]:
    from markov_lrsao.exact.rationals import rational_text

    def text(value: Any) -> Any:
        if found.exact:
            return rational_text(value)
        return value.to_dict() if asked or not found.decided else value.decimal

    positions = []
    for p, (steps, visits) in enumerate(zip(found.steps, found.visits, strict=True)):
        row: dict[str, Any] = {"position": p, "steps": text(steps), "visits": text(visits)}
        if p in found.visit_laws:
            row["visit_law"] = [text(w) for w in found.visit_laws[p]]
        positions.append(row)
    certain = {} if found.digits is None else {"digits": found.digits, "certified": found.certified}
    return {"exact": found.exact, "decided": found.decided, **certain, "positions": positions}


def _text(found: Profile) -> str:
    from markov_lrsao.exact.digits import Digits, with_digits

    def short(value: Any) -> str:
        """Return the digits that were asked for, else six; both ends where they are not certain."""
        few: Any = Digits(value, value, 6) if found.exact else with_digits(value, 6)
        if not few.certified and not found.decided:
            return str(few)
        return str(few.decimal) if found.digits is not None else f"{float(few.decimal):.6g}"

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
