"""Site automata and the chain of the right plateau as graphs, read from the engine.

A site of the slope is an automaton over the order of its row's entries: every step at the site
leads to a pattern and moves up, down or not at all. The right plateau is the block of
(position, pattern of the row below it, pattern of row 0) that the engine solves for phase 3.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from markov_lrsao.crossing.blocks import Block, Corridor, Exit, State, Weight
from markov_lrsao.crossing.decomposition import decompose
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.figures.base import Figure, FigureData, Settings
from markov_lrsao.figures.model import (
    edge,
    node,
    paper_automata,
    paper_law,
)
from markov_lrsao.progress import Progress
from markov_lrsao.rows.steps import gathered

__all__ = ["FIGURES"]

SITES = {
    "site-first": ("l+1", "just above the left plateau"),
    "site-second": ("l+2", "second above the left plateau"),
    "site-interior": ("l+3", "any site between l+2 and n-l-2"),
    "site-penultimate": ("n-l-2", "second below the right plateau"),
    "site-last": ("n-l-1", "just below the right plateau"),
}


def _position(text: str, n: int, ell: int) -> int:
    return n - ell - int(text[4:]) if text.startswith("n-l-") else ell + int(text[2:])


def _site(name: str, settings: Settings, progress: Progress) -> FigureData:
    """Explore one site's automaton from a fresh row, breadth first."""
    n, ell = settings.graph
    text, where = SITES[name]
    p = _position(text, n, ell)
    automata = paper_automata(n, ell)
    _, row = automata.place(p)
    depth = {0: 0}
    edges = []
    queue = [0]
    for k in queue:
        if not automata.is_met(p, k):
            continue
        for (_, following), group in gathered(automata.events_at(p, k)).items():
            if following not in depth:
                depth[following] = depth[k] + 1
                queue.append(following)
            made = edge(automata.law, str(k), str(following), p, group)
            events = made["label"].split("\n")[0]
            edges.append(made | {"label": f"{events}\n{made['probability']}"})
    columns: dict[int, list[int]] = {}
    for k, d in depth.items():
        columns.setdefault(d, []).append(k)
    untangle(columns, [(int(e["source"]), int(e["target"])) for e in edges])
    nodes = [
        node(
            str(k),
            automata.label(row, k).replace(", ", "\n"),
            2.3 * d,
            1.35 * ((len(column) - 1) / 2 - i),
            end=not automata.is_met(p, k),
        )
        for d, column in columns.items()
        for i, k in enumerate(column)
    ]
    return FigureData(
        name=name,
        title=_site_title(name),
        kind="graph",
        nodes=nodes,
        edges=edges,
        caption=f"The automaton of position {text} ({where}): order of the row's entries, and what "
        f"a step does. Probabilities are exact, for n = {n}, l = {ell}, position {p}.",
        notes={
            "n": n,
            "ell": ell,
            "position": p,
            "ends": "patterns with which the site is never met again",
        },
    )


def _site_title(name: str) -> str:
    text, where = SITES[name]
    return f"Automaton of position {text}, {where}"


def _right(settings: Settings, progress: Progress) -> FigureData:
    n, ell = settings.graph
    with progress("right plateau", total=1) as bar:
        d = decompose(paper_law(n, ell), paper_automata(n, ell))
        bar.advance()
    tail = d.tail
    assert tail is not None  # Jump's right plateau always has one
    columns: dict[int, list[int]] = {}
    for i, state in enumerate(tail.states):
        columns.setdefault(state.position, []).append(i)
    untangle(
        columns, [(i, t) for i, row in enumerate(tail.edges) for t, _ in row if isinstance(t, int)]
    )
    nodes = [
        node(
            str(i),
            _state_label(tail, tail.states[i]),
            3.0 * (position - tail.stretch.first),
            0.8 * ((len(column) - 1) / 2 - k),
        )
        for position, column in sorted(columns.items())
        for k, i in enumerate(column)
    ]
    nodes.append(node("optimum", f"{n}\noptimum", 3.0 * (n - tail.stretch.first), 0.0, end=True))
    edges = [
        _tail_edge(tail, i, target, weight)
        for i, row in enumerate(tail.edges)
        for target, weight in row
    ]
    name = "right-plateau"
    return FigureData(
        name=name,
        title=TITLE,
        kind="graph",
        nodes=nodes,
        edges=edges,
        caption=f"The chain of phase 3 (n = {n}, l = {ell}), {len(tail.states)} states: position, "
        f"pattern of the row of n-l-1, pattern of row 0. Exact. An arrow of probability "
        f"one to the optimum is a corridor: RightBridge is learnt and only climbs.",
        notes={
            "n": n,
            "ell": ell,
            "states": len(tail.states),
            "starts": [str(i) for i in tail.start],
            "edges": "labels and probabilities of all edges are in the data",
        },
    )


def untangle(columns: dict[int, list[int]], pairs: list[tuple[int, int]]) -> None:
    """Sort each column by where the nodes next to a node lie: fewer arrows cross."""
    near: dict[int, list[int]] = {}
    for a, b in pairs:
        if a != b:
            near.setdefault(a, []).append(b)
            near.setdefault(b, []).append(a)
    for _ in range(12):
        height = {
            i: (k + 0.5) / len(column) for column in columns.values() for k, i in enumerate(column)
        }
        for column in columns.values():
            column.sort(
                key=lambda i: sum(height[j] for j in near.get(i, [i])) / len(near.get(i, [i]))
            )


def _state_label(block: Block, state: State) -> str:
    automata, rows = block.stretch.automata, block.stretch.rows
    shown = [
        automata.label(automata.class_of(r), k) for r, k in zip(rows, state.patterns, strict=True)
    ]
    below = int(automata.law.row[block.stretch.first])
    words = [
        s
        for r, s in sorted(zip(rows, shown, strict=True), key=lambda pair: pair[0] != below)
        if r != int(automata.law.row[automata.law.optimum])
    ]
    return f"{state.position}  " + "\n".join(words)


def _tail_edge(block: Block, source: int, target: int | Exit, weight: Weight) -> dict[str, Any]:
    to = "optimum" if isinstance(target, Exit) else str(target)
    if isinstance(weight, Corridor):
        return {
            "source": str(source),
            "target": to,
            "probability": "1",
            "moved": 1,
            "label": f"corridor {weight.first}..{weight.last}",
        }
    end = block.law.n if isinstance(target, Exit) else block.states[target].position
    probability = rational_text(block.probability(source, weight))
    return {
        "source": str(source),
        "target": to,
        "label": probability,
        "probability": probability,
        "moved": end - block.states[source].position,
    }


TITLE = "The chain of the right plateau"

FIGURES = (
    *(Figure(name, _site_title(name), partial(_site, name)) for name in SITES),
    Figure("right-plateau", TITLE, _right),
)
