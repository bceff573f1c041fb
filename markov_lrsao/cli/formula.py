"""`markov-lrsao formula`: closed forms and asymptotic expansions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import json_text

__all__ = ["register"]


class Which(StrEnum):
    """The quantity whose formula is wanted."""

    phase1 = "phase1"
    phase2 = "phase2"
    phase3 = "phase3"
    total = "total"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("formula", epilog="Example: markov-lrsao formula phase3 --latex")(formula)


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

    lines = formulas(which.value)
    texts = [
        (f.name, to_latex(f.expression) if latex else str(f.expression), f.range) for f in lines
    ]
    if as_json:
        print(json_text([{"name": a, "expression": b, "range": c} for a, b, c in texts]))
        return
    for name, text, valid in texts:
        print(f"{name}   [{valid}]\n    {text}\n")
