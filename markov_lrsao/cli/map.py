"""`markov-lrsao map`: E[T] over a grid of hyper-parameters, and the regimes it falls into."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.completion import choices
from markov_lrsao.cli.options import EllOption, GammaOption, JsonOption, NOption, OutsideHOption
from markov_lrsao.cli.output import json_text

if TYPE_CHECKING:
    from markov_lrsao.regimes.grid import RegimeMap

__all__ = ["register"]

_ENDINGS = (".png", ".svg", ".csv", ".json")
_MOST_LISTED = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "map",
        epilog="Example: markov-lrsao map --n 9 --ell 2 --alpha 0.5:0.99:5 "
        "--r-relative 0.1:0.9:3 --out map.png",
    )(map_)


def map_(
    n: NOption = None,
    ell: EllOption = None,
    alpha: Annotated[
        str, typer.Option("--alpha", help="Learning rates low:high:count, ends included.")
    ] = "0.01:0.99:99",
    r_relative: Annotated[
        str | None,
        typer.Option(
            "--r-relative",
            help="Penalties by their place in (H): 0 and 1 are its ends.",
            show_default="0.005:0.995:100",
        ),
    ] = None,
    r: Annotated[
        str | None, typer.Option("--r", help="Penalties themselves, low:high:count.")
    ] = None,
    gamma: GammaOption = None,
    quantity: Annotated[
        str,
        typer.Option(
            "--quantity",
            help="total, phase1, phase2, phase3 or stddev.",
            autocompletion=choices("total", "phase1", "phase2", "phase3", "stddev"),
        ),
    ] = "total",
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
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Processes.", min=1, max=1024, show_default="one per core"),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            help="Relative width at which an enclosure is narrow enough.",
            show_default="1/2000",
        ),
    ] = None,
    max_states: Annotated[
        int,
        typer.Option(
            "--max-states", help="States per point; more make enclosures narrower.", min=1
        ),
    ] = 3000,
    outside_h: OutsideHOption = False,
    as_json: JsonOption = False,
) -> None:
    """Map E[T], a phase or the standard deviation over alpha and r, with the regimes' borders.

    Exact where the regime is decided, a rigorous enclosure elsewhere. An interrupted map with a
    state file is finished by starting it again.
    """
    from markov_lrsao.errors import ParameterError
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.regimes.grid import MapPlan, regime_map
    from markov_lrsao.regimes.points import QUANTITIES
    from markov_lrsao.storage import write_whole

    if n is None or ell is None:
        raise ParameterError("--n and --ell are missing: give both, e.g. --n 30 --ell 5")
    if quantity not in QUANTITIES:
        raise ParameterError(f"--quantity {quantity!r} is unknown: choose {', '.join(QUANTITIES)}")
    files = out or []
    for path in files:
        if path.suffix.lower() not in _ENDINGS:
            raise ParameterError(f"--out {path}: the ending must be {', '.join(_ENDINGS)}")
        if not path.parent.is_dir():
            raise ParameterError(f"--out {path}: the folder does not exist; make it first")
    if r is None and r_relative is None:
        r_relative = "0.005:0.995:100"
    plan = MapPlan.of(
        n,
        ell,
        alpha,
        r_relative=r_relative,
        r=r,
        gamma=gamma,
        outside_h=outside_h,
        tolerance=tolerance,
        max_states=max_states,
    )
    if state is None and files:
        state = files[0].with_suffix(".sqlite")
    found = regime_map(plan, state=state, workers=workers, progress=terminal_progress)
    words = [
        f"markov-lrsao map --n {n} --ell {ell} --alpha {alpha}",
        f"--r {r}" if r is not None else f"--r-relative {r_relative}",
        *([f"--gamma {gamma}"] if gamma is not None else []),
        *([f"--quantity {quantity}"] if quantity != "total" else []),
        *(["--outside-h"] if outside_h else []),
    ]
    for path in files:
        write_whole(path, _content(path, found, quantity, " ".join(words)))
    if as_json:
        print(json_text(found.to_dict(quantity)))
    else:
        _print(found, quantity, files)


def _content(path: Path, found: RegimeMap, quantity: str, command: str) -> bytes:
    ending = path.suffix.lower()
    if ending == ".csv":
        return found.to_csv(quantity).encode()
    if ending == ".json":
        return (json_text(found.to_dict(quantity), indent=1) + "\n").encode()
    from markov_lrsao.figures.canvas import pictures
    from markov_lrsao.figures.maps import map_figure

    return pictures(map_figure(found, quantity, command=command, settings={}))[ending[1:]]


def _print(found: RegimeMap, quantity: str, files: list[Path]) -> None:
    from markov_lrsao.exact.quantity import Enclosed
    from markov_lrsao.regimes.grid import widest
    from markov_lrsao.tables import show, table

    name = {"total": "E[T]", "stddev": "std. dev."}.get(quantity, f"E[T{quantity[-1]}]")
    total = len(found.values)
    rows = []
    for regime in found.regimes[:_MOST_LISTED]:
        points = [found.plan.points[i] for i in regime.points]
        rows.append(
            [
                str(regime.number),
                f"{len(points):,}",
                f"{100 * len(points) / total:.1f}%",
                "exact",
                f"{float(regime.values.quantity(quantity)):.10g}",
                "0",
                _range([p.alpha for p in points]),
            ]
        )
    if len(found.regimes) > _MOST_LISTED:
        rest = found.regimes[_MOST_LISTED:]
        values = [float(g.values.quantity(quantity)) for g in rest]
        chosen = [found.plan.points[i] for g in rest for i in g.points]
        rows.append(
            [
                f"{len(rest)} more",
                f"{len(chosen):,}",
                f"{100 * len(chosen) / total:.1f}%",
                "exact",
                f"{min(values):.10g}..{max(values):.10g}",
                "0",
                _range([p.alpha for p in chosen]),
            ]
        )
    for kind in ("enclosure", "infinite", "open"):
        at = [i for i, v in enumerate(found.values) if v.kind == kind]
        if not at:
            continue
        quantities = [found.values[i].quantity(quantity) for i in at]
        enclosed = [q for q in quantities if isinstance(q, Enclosed) and kind == "enclosure"]
        values = [float(end) for q in enclosed for end in q.ends]
        rows.append(
            [
                "-",
                f"{len(at):,}",
                f"{100 * len(at) / total:.1f}%",
                kind,
                f"{min(values):.10g}..{max(values):.10g}"
                if values
                else "inf"
                if kind == "infinite"
                else "?",
                f"{widest(quantities):.2g}" if values else "-",
                _range([found.plan.points[i].alpha for i in at]),
            ]
        )
    show(
        table(
            ["regime", "points", "share", "kind", name, "widest", "alpha"], rows, right=[1, 2, 4, 5]
        )
    )
    exact = found.count("exact")
    print(
        f"\n{exact:,} of {total:,} points exact, in {len(found.regimes)} regimes; "
        f"widest: relative width of the enclosures"
    )
    for path in files:
        print(f"written: {path}")


def _range(values: list[object]) -> str:
    from markov_lrsao.exact.rationals import to_float

    floats = [to_float(v) for v in values]  # type: ignore[arg-type]
    return f"{min(floats):.4g}..{max(floats):.4g}"
