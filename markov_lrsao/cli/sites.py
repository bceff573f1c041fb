"""`markov-lrsao sites`: where the time goes, position by position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from markov_lrsao.cli.output import json_text

if TYPE_CHECKING:
    from markov_lrsao.answers.profile import Profile

__all__ = ["register"]

_ROWS = 40


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sites", epilog="Example: markov-lrsao sites --n 30 --ell 5")(sites)


def sites(
    n: NOption = None,
    ell: EllOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the profile (png, svg, pdf).")
    ] = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    outside_h: OutsideHOption = False,
    landscape: LandscapeOption = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print expected steps, expected visits and the law of visits per position."""
    from markov_lrsao.answers.profile import profile
    from markov_lrsao.cli.distribution import _check_plot
    from markov_lrsao.exact.rationals import rational_text, to_float
    from markov_lrsao.tables import show, table

    if plot is not None:
        _check_plot(plot)
    chosen = instance(n, ell, alpha, gamma, r, landscape)
    found = profile(chosen.landscape, chosen.algorithm, outside_h=outside_h)
    if plot is not None:
        _draw(found, plot)

    def text(value: Any) -> str:
        return rational_text(value) if found.exact else f"{value:.17g}"

    def short(value: Any) -> str:
        return f"{to_float(value) if found.exact else value:.6g}"

    if as_json:
        print(
            json_text(
                {
                    "n": chosen.landscape.n,
                    "ell": chosen.landscape.ell,
                    "exact": found.exact,
                    "positions": [
                        {
                            "position": p,
                            "steps": text(found.steps[p]),
                            "visits": text(found.visits[p]),
                        }
                        | (
                            {"visit_law": [text(w) for w in found.visit_laws[p]]}
                            if p in found.visit_laws
                            else {}
                        )
                        for p in range(chosen.landscape.n + 1)
                    ],
                }
            )
        )
        return
    count = chosen.landscape.n + 1
    shown = (
        list(range(count))
        if count <= _ROWS
        else [*range(_ROWS // 2), *range(count - _ROWS // 2, count)]
    )
    rows: list[list[str]] = []
    for k, p in enumerate(shown):
        if k and p != shown[k - 1] + 1:
            rows.append([f"{shown[k - 1] + 1}..{p - 1}", "...", "...", "... (--json has all)"])
        law = found.visit_laws.get(p)
        rows.append(
            [
                str(p),
                short(found.steps[p]),
                short(found.visits[p]),
                " ".join(f"{k}:{short(w)}" for k, w in enumerate(law) if w != 0) if law else "",
            ]
        )
    show(
        table(
            ["position", "E[steps]", "E[visits]", "P(visits = k), before the right plateau"],
            rows,
            right=[0, 1, 2],
        )
    )
    if plot is not None:
        print(f"\nwritten: {plot}")


def _draw(found: Profile, path: Path) -> None:
    """Draw expected steps above expected visits."""
    from markov_lrsao.figures import plots

    landscape = found.landscape
    with plots.saved(path, rows=2, height=2.8) as (steps, visits):
        plots.profile(found, ax=steps)
        plots.profile(found, visits=True, ax=visits)
        steps.set_title(
            f"where the time goes: {landscape.name}, n = {landscape.n}, l = {landscape.ell}",
            fontsize=10,
        )
        steps.set_xlabel("")
        visits.set_xlabel("position (number of ones); dashed: phase boundaries")
