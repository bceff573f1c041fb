"""`markov-lrsao states`: a part's labelled transition matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    PART,
    AlphaOption,
    EllOption,
    GammaOption,
    JsonOption,
    NOption,
    OutsideHOption,
    PlotOption,
    ROption,
    UnmergedOption,
    instance,
)
from markov_lrsao.cli.output import emit
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress
from markov_lrsao.texts import printable

if TYPE_CHECKING:
    from markov_lrsao.chains.chain import MarkovChain
    from markov_lrsao.model.law import StepLaw

__all__ = ["states"]


def states(
    n: NOption = None,
    ell: EllOption = None,
    part: Annotated[str, PART] = "all",
    row: Annotated[
        int | None,
        typer.Option("--row", help="The automaton of the row shown at this position instead."),
    ] = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    plot: PlotOption = None,
    unmerged: UnmergedOption = False,
    outside_h: OutsideHOption = False,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the states and exact transition probabilities of a part of the chain, or of all.

    A state shows its position and, per agent state, the weak order of the Q-entries and 0;
    fresh rows (all entries 0) are left out. Entry states are marked with an arrow.
    """
    from markov_lrsao.answers.expected import check_hypothesis, check_size
    from markov_lrsao.joint.enumeration import enumerate_joint
    from markov_lrsao.joint.parts import part_chain
    from markov_lrsao.model.law import StepLaw

    chosen = instance(n, ell, alpha, gamma, r, landscape, helpers)
    check_size(chosen.landscape)
    check_hypothesis(chosen.landscape, chosen.algorithm, outside_h=outside_h)
    law = StepLaw.of(chosen.landscape, chosen.algorithm)
    if plot is not None and row is None:
        raise ParameterError("--plot draws the automaton of a row: give --row POSITION")
    if row is not None:
        found = _automaton(law, row)
        if plot is not None:
            _draw(law, row, plot)
        emit(as_json, lambda: found | _graph(law, row), lambda: _automaton_text(found, plot))
        return
    if part == "all":
        chain = enumerate_joint(law, merge=not unmerged, progress=terminal_progress).chain
    else:
        chain = part_chain(law, part, merge=not unmerged, progress=terminal_progress)
    head = {"n": chosen.landscape.n, "ell": chosen.landscape.ell, "part": part}
    emit(as_json, lambda: {**head, "states": _object(chain)}, lambda: _text(chain))


def _graph(law: StepLaw, position: int) -> dict[str, Any]:
    """Return the automaton as a graph with places, for those who draw it."""
    from markov_lrsao.figures.walks import automaton_graph

    return {"graph": automaton_graph(law, position)}


def _draw(law: StepLaw, position: int, plot: Path) -> None:
    from markov_lrsao.figures.canvas import pictures
    from markov_lrsao.figures.walks import automaton_figure
    from markov_lrsao.storage import write_whole

    ending = plot.suffix.lower().removeprefix(".")
    if ending not in ("png", "svg"):
        raise ParameterError(f"--plot {plot}: the ending must be .png or .svg")
    command = f"markov-lrsao states --row {position}"
    write_whole(plot, pictures(automaton_figure(law, position, command))[ending])


def _object(chain: MarkovChain) -> list[dict[str, Any]]:
    from markov_lrsao.exact.rationals import rational_text

    entries = set(chain.start.tolist())
    return [
        {
            "index": i,
            "label": chain.label(i),
            "position": int(chain.positions[i]),
            "entry": i in entries,
            "transitions": {str(j): rational_text(w) for j, w in chain.row(i)},
        }
        for i in range(chain.size)
    ]


def _text(chain: MarkovChain) -> str:
    from markov_lrsao.exact.rationals import rational_text

    entries = set(chain.start.tolist())
    lines = [f"{chain.size:,} states, {chain.transitions:,} transitions"]
    for i in range(chain.size):
        lines.append(f"{'->' if i in entries else '  '} {i:>5}  {printable(chain.label(i))}")
        for j, w in chain.row(i):
            absorbing = " (absorbing)" if w == 1 and j == i else ""
            to = f"{j}  {printable(chain.label(j))}{absorbing}"
            lines.append(f"{'':12}{rational_text(w):>9} -> {to}")
    return "\n".join(lines)


def _automaton(law: StepLaw, position: int) -> dict[str, Any]:
    """Return the patterns that a run can show at a position, and what a step there makes of them.

    A pattern whose greedy choice the bounds leave open has no transitions, and says so.
    """
    from flint import fmpq

    from markov_lrsao.exact.intervals import UNKNOWN
    from markov_lrsao.exact.rationals import rational_text
    from markov_lrsao.rows.derived import automata_of
    from markov_lrsao.rows.steps import gathered

    if not 0 <= position <= law.n or position == law.optimum:
        raise ParameterError(
            f"--row {position} is out of range: choose a position in 0..{law.n} but the optimum"
        )
    automata = automata_of(law)
    _, c = automata.place(position)
    patterns = []
    for k, pattern in enumerate(automata.patterns[c]):
        if not automata.is_met(position, k):
            continue
        decided = pattern.undecided is None
        patterns.append(
            {
                "index": k,
                "label": automata.label(c, k),
                "signs": [None if s == UNKNOWN else s for s in pattern.signs],
                "order": [None if s == UNKNOWN else s for s in pattern.order],
                "fresh": k == 0,
                "decided": decided,
                "transitions": [
                    {
                        "to": following,
                        "label": automata.label(c, following),
                        "moved": moved,
                        "events": [law.actions[e.action] + "-+"[e.direction] for e in events],
                        "probability": rational_text(
                            sum((law.probability(e.share, position) for e in events), fmpq(0))
                        ),
                    }
                    for (moved, following), events in (
                        gathered(automata.events_at(position, k)) if decided else {}
                    ).items()
                ],
            }
        )
    return {
        "n": law.n,
        "ell": law.landscape.ell,
        "position": position,
        "state": int(law.landscape.objectives[law.landscape.target][position]),
        "patterns": patterns,
    }


def _automaton_text(found: dict[str, Any], plot: Path | None) -> str:
    lines = [f"position {found['position']}: {len(found['patterns'])} patterns of its row"]
    for pattern in found["patterns"]:
        open_ = "" if pattern["decided"] else "  (which entry is largest is not decided by bounds)"
        lines.append(f"{'->' if pattern['fresh'] else '  '} {pattern['label']}{open_}")
        for t in pattern["transitions"]:
            to = f"{t['label']}, position {found['position'] + t['moved']}"
            lines.append(f"{t['probability']:>15} -> {to}   {' '.join(t['events'])}")
    return "\n".join([*lines, *([] if plot is None else [f"written: {plot}"])])
