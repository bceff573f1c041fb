"""`markov-lrsao map`: E[T] over a grid of hyper-parameters, and the regimes it falls into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.options import (
    ALPHAS,
    MAX_STATES,
    RS,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    OutsideHOption,
    SchedulerOption,
    ToleranceOption,
    WorkersOption,
)
from markov_lrsao.cli.output import emit, json_text
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress
from markov_lrsao.release import SCHEMA
from markov_lrsao.storage import write_whole
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from flint import fmpq

    from markov_lrsao.regimes.grid import MapPlan, RegimeMap

__all__ = ["map_"]

_ENDINGS = (".png", ".svg", ".csv", ".json")
_MOST_LISTED = 20
_PLACES = "0.005:0.995@100"


class QuantityName(StrEnum):
    """What is mapped."""

    total = "total"
    phase1 = "phase1"
    phase2 = "phase2"
    phase3 = "phase3"
    stddev = "stddev"


PlacesOption = Annotated[
    str | None,
    typer.Option(
        "--r-relative",
        help="Penalties by their place in (H): 0 and 1 are its ends.",
        show_default=_PLACES,
    ),
]
BordersOption = Annotated[
    bool,
    typer.Option(
        "--borders",
        help="Solve nothing: print the borders at each alpha, and in which area each r lies.",
    ),
]


def map_(
    n: NOption = None,
    ell: EllOption = None,
    alpha: Annotated[str, ALPHAS] = "0.01:0.99@99",
    r_relative: PlacesOption = None,
    r: Annotated[str | None, RS] = None,
    gamma: GammaOption = None,
    quantity: Annotated[
        QuantityName, typer.Option("--quantity", help="What to map.")
    ] = QuantityName.total,
    out: Annotated[
        list[Path] | None,
        typer.Option("--out", help="Picture (.png, .svg) or table (.csv, .json); may be repeated."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            help="File of solved points; an existing one is continued.",
            show_default="--out with the ending .sqlite",
        ),
    ] = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    tolerance: ToleranceOption = None,
    max_states: Annotated[int, MAX_STATES] = 3000,
    outside_h: OutsideHOption = False,
    only_borders: BordersOption = False,
    as_json: JsonOption = False,
) -> None:
    """Map E[T], a phase or the standard deviation over alpha and r, with the regimes' borders.

    Exact where the regime is decided, a rigorous enclosure elsewhere; more states per point
    make it narrower. An interrupted map with a state file is finished by starting it again.
    """
    from markov_lrsao.regimes.grid import MapPlan, regime_map

    files = out or []
    _check(n, ell, files)
    asked = r is not None or r_relative is not None
    plan = MapPlan.of(
        n or 0,
        ell or 0,
        alpha,
        r_relative=r_relative if asked else _PLACES,
        r=r,
        gamma=gamma,
        outside_h=outside_h,
        tolerance=tolerance,
        max_states=max_states,
    )
    if only_borders:
        _print_borders(plan, asked, as_json)
        return
    if state is None and files:
        state = files[0].with_suffix(".sqlite")
    found = regime_map(
        plan, state=state, workers=workers, scheduler=scheduler, progress=terminal_progress
    )
    name = quantity.value
    chosen = {"n": n, "ell": ell, "alpha": alpha, "r": r, "r-relative": r_relative, "gamma": gamma}
    command = _command(chosen | {"quantity": None if name == "total" else name}, outside_h)
    for path in files:
        with terminal_progress(f"writing {path.name}"):
            write_whole(path, _content(path, found, name, command))
    emit(as_json, lambda: _object(found, name), lambda: _text(found, name, files))


def _object(found: RegimeMap, quantity: str) -> dict[str, Any]:
    """Return the map, and its picture's data: areas, borders, points."""
    from markov_lrsao.figures.maps import map_figure

    return found.to_dict(quantity) | {"figure": map_figure(found, quantity).to_dict()}


def _print_borders(plan: MapPlan, asked: bool, as_json: bool) -> None:
    """Print the borders at each alpha, and the areas of penalties that were asked for."""
    listed = [_borders_at(plan, alpha, asked) for alpha in plan.alphas]
    head = {"n": plan.n, "ell": plan.ell}
    emit(as_json, lambda: {**head, "alphas": listed}, lambda: _borders_text(listed))


def _borders_at(plan: MapPlan, alpha: fmpq, asked: bool) -> dict[str, Any]:
    """Return the borders at an alpha, and the areas of the plan's penalties there."""
    from markov_lrsao.exact.rationals import decimal_text, rational_text
    from markov_lrsao.regimes.areas import areas
    from markov_lrsao.regimes.borders import borders

    here = areas(plan.n, plan.ell, [alpha], plan.gamma) if plan.ell >= 2 else ()
    exits = 1 + sum(area.name.startswith("k") for area in here)
    points = []
    for p in plan.points if asked else ():
        if p.alpha != alpha:
            continue
        area = next((a for a in here if a.contains(alpha, p.r)), None)
        ends = None if area is None else area.interval(alpha)
        points.append(
            {
                "r": rational_text(p.r),
                "inside_h": p.inside,
                "area": None if area is None else area.name,
                "decided": area is not None and area.decided,
                "interval": None if ends is None else [decimal_text(e, 10) for e in ends],
            }
        )
    return {
        "alpha": rational_text(alpha),
        "gamma": rational_text(plan.gamma),
        "borders": [
            {"name": b.name, "condition": b.condition, "r": decimal_text(b.r(alpha), 10)}
            for b in borders(plan.n, plan.ell, plan.gamma, exits=exits)
        ],
        "points": points,
    }


def _borders_text(listed: list[dict[str, Any]]) -> str:
    """Return a table of borders for each alpha, and a line for each point."""
    parts = []
    for at in listed:
        rows = [[b["name"], b["r"], b["condition"]] for b in at["borders"]]
        parts.append(f"alpha = {at['alpha']}, gamma = {at['gamma']}")
        parts.append(table(["border", "r", "condition"], rows, right=[1]))
        for p in at["points"]:
            if p["area"] is None:
                where = "on a border" if p["inside_h"] else "outside (H)"
            else:
                low, high = p["interval"]
                law = "one law of T" if p["decided"] else "the borders leave the law open"
                where = f"in the area {p['area']}: {low} < r < {high}, {law}"
            parts.append(f"r = {p['r']} is {where}")
    return "\n\n".join(parts)


def _command(options: Mapping[str, object], outside_h: bool) -> str:
    """Return the command line that makes the same map."""
    given = "".join(f" --{name} {value}" for name, value in options.items() if value is not None)
    return f"markov-lrsao map{given}{' --outside-h' if outside_h else ''}"


def _check(n: int | None, ell: int | None, files: list[Path]) -> None:
    """Refuse what is missing, and files that could not be written."""
    if n is None or ell is None:
        raise ParameterError("--n and --ell are missing: give both, e.g. --n 30 --ell 5")
    for path in files:
        if path.suffix.lower() not in _ENDINGS:
            raise ParameterError(f"--out {path}: the ending must be {', '.join(_ENDINGS)}")
        if not path.parent.is_dir():
            raise ParameterError(f"--out {path}: the folder does not exist; make it first")


def _content(path: Path, found: RegimeMap, quantity: str, command: str) -> bytes:
    ending = path.suffix.lower()
    if ending == ".csv":
        return found.to_csv(quantity).encode()
    if ending == ".json":
        table = {"schema": SCHEMA, **_object(found, quantity)}
        return (json_text(table, indent=1) + "\n").encode()
    from markov_lrsao.figures.canvas import pictures
    from markov_lrsao.figures.maps import map_figure

    return pictures(map_figure(found, quantity, command))[ending[1:]]


def _text(found: RegimeMap, quantity: str, files: list[Path]) -> str:

    name = {"total": "E[T]", "stddev": "std. dev."}.get(quantity, f"E[T{quantity[-1]}]")
    rows = [*_decided(found, quantity), *_undecided(found, quantity)]
    header = ["regime", "points", "share", "kind", name, "widest", "alpha"]
    return "\n".join(
        [
            table(header, rows, right=[1, 2, 4, 5]),
            "",
            f"{found.count('exact'):,} of {len(found.values):,} points exact, in "
            f"{len(found.regimes)} regimes; widest: relative width of the enclosures",
            *(f"written: {path}" for path in files),
        ]
    )


def _decided(found: RegimeMap, quantity: str) -> Iterator[list[str]]:
    """Yield a row for every regime, the small ones together."""
    values = [float(regime.values.quantity(quantity)) for regime in found.regimes]
    for regime, value in zip(found.regimes[:_MOST_LISTED], values, strict=False):
        yield _row(found, str(regime.number), regime.points, "exact", [value], "0")
    if rest := found.regimes[_MOST_LISTED:]:
        at = [i for regime in rest for i in regime.points]
        yield _row(found, f"{len(rest)} more", at, "exact", values[_MOST_LISTED:], "0")


def _undecided(found: RegimeMap, quantity: str) -> Iterator[list[str]]:
    """Yield a row for every other kind of answer."""
    from markov_lrsao.exact.quantity import Enclosed
    from markov_lrsao.regimes.grid import widest

    for kind in ("enclosure", "infinite", "open"):
        at = [i for i, v in enumerate(found.values) if v.kind == kind]
        if not at:
            continue
        quantities = [found.values[i].quantity(quantity) for i in at]
        enclosed = [q for q in quantities if isinstance(q, Enclosed) and kind == "enclosure"]
        values = [float(end) for q in enclosed for end in q.ends]
        width = f"{widest(quantities):.2g}" if values else "-"
        yield _row(found, "-", at, kind, values, width)


def _row(
    found: RegimeMap, name: str, at: Sequence[int], kind: str, values: list[float], width: str
) -> list[str]:
    """Return the row of some points; `values` are their values, or ends of enclosures."""
    if not values:
        shown = "inf" if kind == "infinite" else "?"
    elif kind == "exact" and len(values) == 1:
        shown = f"{values[0]:.10g}"
    else:
        shown = f"{min(values):.10g}..{max(values):.10g}"
    share = f"{100 * len(at) / len(found.values):.1f}%"
    alphas = _range([found.plan.points[i].alpha for i in at])
    return [name, f"{len(at):,}", share, kind, shown, width, alphas]


def _range(values: list[fmpq]) -> str:
    from markov_lrsao.exact.rationals import to_float

    return f"{to_float(min(values)):.4g}..{to_float(max(values)):.4g}"
