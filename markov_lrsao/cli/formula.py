"""`markov-lrsao formula`: closed forms and asymptotic expansions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import emit
from markov_lrsao.progress import terminal_progress

__all__ = ["formula"]


class Which(StrEnum):
    """The quantity whose formula is wanted."""

    phase1 = "phase1"
    phase2 = "phase2"
    phase3 = "phase3"
    total = "total"


def formula(
    which: Annotated[Which, typer.Argument(help="phase1, phase2, phase3 or total.")],
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print formulas for LRSAO on Jump with the paper's hyper-parameters.

    They are derived from the chain each time, not stored, and hold in the range stated.
    """
    from sympy import latex as to_latex

    from markov_lrsao.forms.catalogue import formulas

    found = [
        {
            "name": f.name,
            "expression": to_latex(f.expression) if latex else str(f.expression),
            "range": f.range,
        }
        for f in formulas(which.value, terminal_progress)
    ]
    emit(
        as_json,
        lambda: {"formulas": found},
        lambda: "\n".join(f"{f['name']}   [{f['range']}]\n    {f['expression']}\n" for f in found),
    )
