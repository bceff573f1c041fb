"""`markov-lrsao states`: a part's labelled transition matrix."""

from __future__ import annotations

from typing import Annotated

import typer

from markov_lrsao.cli.completion import choices
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

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("states", epilog="Example: markov-lrsao states --n 9 --ell 2 --part right")(states)


def states(
    n: NOption = None,
    ell: EllOption = None,
    part: Annotated[
        str,
        typer.Option(
            "--part",
            help="left, slope, right (a phase), or all.",
            autocompletion=choices("left", "slope", "right", "all"),
        ),
    ] = "all",
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    unmerged: Annotated[
        bool, typer.Option("--unmerged", help="Keep equivalent patterns apart.")
    ] = False,
    outside_h: OutsideHOption = False,
    landscape: LandscapeOption = "jump",
    as_json: JsonOption = False,
) -> None:
    """Print the states and exact transition probabilities of a part of the chain.

    A state shows its position and, per agent state, the weak order of the Q-entries and 0;
    fresh rows (all entries 0) are left out. Entry states are marked with an arrow.
    """
    from markov_lrsao.answers.expected import check_hypothesis, check_size
    from markov_lrsao.exact.rationals import rational_text
    from markov_lrsao.joint.enumeration import enumerate_joint
    from markov_lrsao.joint.parts import part_chain
    from markov_lrsao.model.law import StepLaw
    from markov_lrsao.progress import terminal_progress
    from markov_lrsao.texts import printable

    chosen = instance(n, ell, alpha, gamma, r, landscape)
    check_size(chosen.landscape)
    check_hypothesis(chosen.landscape, chosen.algorithm, outside_h=outside_h)
    law = StepLaw.of(chosen.landscape, chosen.algorithm)
    if part == "all":
        chain = enumerate_joint(law, merge=not unmerged, progress=terminal_progress).chain
    else:
        chain = part_chain(law, part, merge=not unmerged, progress=terminal_progress)
    entries = set(chain.start.tolist())
    if as_json:
        print(
            json_text(
                {
                    "n": chosen.landscape.n,
                    "ell": chosen.landscape.ell,
                    "part": part,
                    "states": [
                        {
                            "index": i,
                            "label": chain.label(i),
                            "position": int(chain.positions[i]),
                            "entry": i in entries,
                            "transitions": {str(j): rational_text(w) for j, w in chain.row(i)},
                        }
                        for i in range(chain.size)
                    ],
                }
            )
        )
        return
    print(f"{chain.size:,} states, {chain.transitions:,} transitions")
    for i in range(chain.size):
        print(f"{'->' if i in entries else '  '} {i:>5}  {printable(chain.label(i))}")
        for j, w in chain.row(i):
            absorbing = " (absorbing)" if w == 1 and j == i else ""
            print(f"{'':12}{rational_text(w):>9} -> {j}  {printable(chain.label(j))}{absorbing}")
