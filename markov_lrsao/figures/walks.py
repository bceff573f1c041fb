"""Graphs to walk on: the automaton of one row, and what can happen in the next step.

Both are laid out here, for pictures and for the explorer's page alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.figures.base import FigureData
from markov_lrsao.figures.graphs import edge, event_text, laid_out, node, order_text
from markov_lrsao.model.law import StepLaw
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.derived import automata_of
from markov_lrsao.rows.steps import gathered

__all__ = ["MOST_NODES", "Way", "automaton_figure", "automaton_graph", "next_steps"]

MOST_NODES = 60
"""Larger automata are not drawn."""


def automaton_graph(law: StepLaw, position: int) -> dict[str, Any]:
    """Return the automaton of the row shown at a position as a graph; nodes are patterns' numbers.

    Patterns whose greedy choice the bounds leave open are ends. Too large a graph is left empty.
    """
    automata = automata_of(law)
    _, c = automata.place(position)
    met = [k for k in range(len(automata.patterns[c])) if automata.is_met(position, k)]
    edges = []
    targets: dict[int, None] = dict.fromkeys(met)
    for k in met:
        for (moved, to), events in _outcomes(automata, position, c, k).items():
            probability = sum((law.probability(e.share, position) for e in events), fmpq(0))
            label = f"{event_text(law, events)}\n{probability}"
            edges.append(edge(str(k), str(to), label, probability, moved))
            targets.setdefault(to)
    if len(targets) > MOST_NODES:
        return {"nodes": [], "edges": []}
    going = {e["source"] for e in edges}
    nodes = [
        node(
            str(k),
            order_text(automata.patterns[c][k], law.actions),
            start=k == 0,
            end=str(k) not in going,
        )
        for k in targets
    ]
    placed, drawn = laid_out(nodes, edges)
    return {"nodes": placed, "edges": drawn}


def _outcomes(automata: RowAutomata, position: int, c: int, k: int) -> dict[Any, Any]:
    if automata.patterns[c][k].undecided is not None:
        return {}
    return gathered(automata.events_at(position, k))


def automaton_figure(law: StepLaw, position: int, command: str) -> FigureData:
    """Return the automaton of a row as a figure.

    Raises
    ------
    ParameterError
        It is too large to be drawn.
    """
    graph = automaton_graph(law, position)
    if not graph["nodes"]:
        raise ParameterError(
            f"the automaton at position {position} has more than {MOST_NODES} patterns: too many "
            f"to be drawn; without `plot` it is listed"
        )
    shape, parameters = law.landscape, law.algorithm.parameters
    values = (
        ""
        if parameters is None
        else (f"alpha = {parameters.alpha}, gamma = {parameters.gamma}, r = {parameters.r}; ")
    )
    size = f"n = {shape.n}" + (f", l = {shape.ell}" if shape.ell else "")
    return FigureData(
        name=f"row-{position}",
        title=f"The row shown at position {position} of {shape.name}",
        kind="graph",
        command=command,
        nodes=graph["nodes"],
        edges=graph["edges"],
        caption="Orders of the row's entries and 0, and what a step at this position makes of "
        "them: J+ is J chosen with a proposal upwards. Probabilities are exact.",
        setting=f"{law.algorithm.name}: {values}{size}, position {position}; exact, no runs",
    )


@dataclass(frozen=True)
class Way:
    """One step that can follow: what is chosen, how likely, and where it leads.

    Attributes
    ----------
    step : e.g. "L+"
    order : of the row that is shown at the next position, after the step
    """

    step: str
    probability: fmpq
    moved: int
    position: int
    order: str


def next_steps(position: int, order: str, ways: Sequence[Way]) -> dict[str, Any]:
    """Return a state of the chain, position and order of the row shown, with all that can follow.

    Every way is an edge of its own, so that it can be chosen; `step` names it.
    """
    here = f"{position}|{order}"
    reached = dict.fromkeys((w.position, w.order) for w in ways)
    names = {(p, o): f"{p}|{o}" for p, o in reached}
    nodes = [node(here, f"position {position}\n{order}")]
    nodes += [node(name, f"position {p}\n{o}") for (p, o), name in names.items() if name != here]
    edges = [
        edge(here, names[w.position, w.order], f"{w.step}\n{w.probability}", w.probability, w.moved)
        for w in ways
    ]
    placed, drawn = laid_out(nodes, edges)
    steps = [w.step for w in ways]
    return {
        "nodes": placed,
        "edges": [{**e, "step": s} for e, s in zip(drawn, steps, strict=True)],
    }
