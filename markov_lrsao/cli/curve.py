"""`markov-lrsao curve` and `markov-lrsao reference`: E[T] over many instances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markov_lrsao.cli.options import (
    ELLS,
    HELPERS,
    LANDSCAPE,
    NOT_CERTIFIED,
    NS,
    DigitsOption,
    JsonOption,
    SchedulerOption,
    WorkersOption,
    helper_names,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.interrupts import available_cores
from markov_lrsao.progress import answered, terminal_progress
from markov_lrsao.storage import check_writable, write_whole
from markov_lrsao.tables import table

if TYPE_CHECKING:
    from markov_lrsao.answers.curves import CurvePoint
    from markov_lrsao.exact.quantity import Quantity

__all__ = ["curve", "reference"]


def curve(
    ell: Annotated[str | None, ELLS] = None,
    n: Annotated[str, NS] = "50:1000:50",
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Exact fractions (slower).")] = False,
    digits: DigitsOption = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print E[T], its phases and its ratio to n H_n over n, at the paper's hyper-parameters.

    On Jump l is 2 unless --ell gives another number or a schedule. Only digits that are certain
    are printed. With --digits so many are; where some are not certain, the exit code is 3.
    """
    from markov_lrsao.answers.curves import curve as points
    from markov_lrsao.exact.ranges import integers
    from markov_lrsao.model.catalogue import entry

    if exact and digits is not None:
        raise ParameterError(f"--digits {digits} excludes --exact: give one of them")
    sizes = integers(n, "n")
    named = entry(landscape, helper_names(helpers))
    if named.fixed is not None:
        raise ParameterError(f"--landscape {landscape} has one n only: use `markov-lrsao exact`")
    gap = named.gap
    own = gap(sizes[0]) is not None
    if ell is not None and (own or not named.family(sizes[0]).has_ell):
        raise ParameterError(f"--ell {ell} has no meaning for {landscape}; omit it")
    chosen = points(
        sizes,
        (lambda size: gap(size) or 0) if own else ell or "2",
        family=named.family,
        field="exact" if exact else None,
        digits=digits,
        workers=workers or available_cores(),
        scheduler=scheduler,
        progress=terminal_progress,
    )
    emit(as_json, lambda: {"points": [p.result.to_dict() for p in chosen]}, lambda: _text(chosen))
    if digits is not None and not all(p.result.certified for p in chosen):
        raise typer.Exit(NOT_CERTIFIED)


def _text(points: Sequence[CurvePoint]) -> str:
    from markov_lrsao.exact.digits import Digits, with_digits

    def shown(quantity: Quantity, most: int) -> str:
        """Return the digits that were asked for, else a few that are certain."""
        if isinstance(quantity, Digits):
            return quantity.decimal
        few = with_digits(quantity, most)
        if not isinstance(few, Digits) or few.decimal == "-":
            return few.decimal
        return f"{float(few.decimal):.{most}g}"

    phases = max(len(p.result.phases) for p in points)
    rows = [
        [
            str(p.n),
            str(p.ell),
            *(shown(q, 8) for q in (p.result.total, *p.result.phases)),
            shown(p.result.std, 6),
            shown(p.result.coupon_collector, 8),
            f"{float(p.result.total) / p.coupon_collector:.4f}",
        ]
        for p in points
    ]
    numbered = [f"E[T{k}]" for k in range(1, phases + 1)]
    header = ["n", "l", "E[T]", *numbered, "sd[T]", "n H_n", "ratio"]
    return table(header, rows, right=range(len(header)))


def reference(
    out: Annotated[
        Path | None, typer.Option("--out", help="Write to this file instead of printing.")
    ] = None,
) -> None:
    """Print exact E[T], phases and variance for a grid of (n, l), as CSV to cite."""
    from markov_lrsao.answers.curves import reference_csv, reference_instances

    if out is not None:
        check_writable(out)
    text = reference_csv(reference_instances(), terminal_progress)
    answered()
    if out is None:
        print(text, end="")
        return
    write_whole(out, text)
    print(f"written: {out}")
