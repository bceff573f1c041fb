"""The model: the objectives, and transition diagrams drawn from the chain.

Nodes and probabilities are read from the row automata: an arrow stands for the events of one
outcome, and its formula is their share (a p + b (n - p)) / (g n) of the probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markov_lrsao.crossing.blocks import Stretch, corridor_end
from markov_lrsao.errors import VerificationError
from markov_lrsao.figures.base import (
    Axis,
    Figure,
    FigureData,
    Series,
    Settings,
    numbers,
    setting_text,
)
from markov_lrsao.figures.graphs import edge, event_text, laid_out, node, order_text, share_at
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.law import Share, StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import Progress
from markov_lrsao.rows.automata import RowAutomata, derive_automata
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.rows.steps import Event, gathered

__all__ = ["FIGURES", "paper_automata", "paper_law"]


def paper_law(n: int, ell: int) -> StepLaw:
    """Return LRSAO on Jump with the paper's hyper-parameters."""
    return StepLaw.of(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)))


@lru_cache(maxsize=4)
def paper_automata(n: int, ell: int) -> RowAutomata:
    """Return the row automata of that law, patterns not merged."""
    return derive_automata(paper_law(n, ell))


def _objectives(settings: Settings, progress: Progress) -> FigureData:
    n, ell = settings.objectives
    landscape = Landscape.jump(n, ell)
    assert landscape.family is not None
    titles = dict(landscape.family.titles)
    name = "objectives"
    return FigureData(
        name=name,
        title=f"The three objectives, n = {n}, l = {ell}",
        kind="chart",
        x=Axis("position (number of ones)"),
        y=Axis("value"),
        caption="Values over the number of ones, from the landscape that every computation reads. "
        "All exact.",
        series=tuple(
            Series(
                name=f"{titles[a]} ({a})",
                kind="line",
                x=numbers(range(n + 1)),
                y=numbers(values.tolist()),
                exact=[str(v) for v in values.tolist()],
                colour=k,
                marker="osD"[k],
                panel=k,
            )
            for k, (a, values) in enumerate(landscape.objectives.items())
        ),
        setting=f"n = {n}, l = {ell}; the objectives do not depend on alpha, gamma and r",
        notes={"phases end at": list(landscape.milestones), "target": landscape.target},
    )


def _step(
    law: StepLaw, source: str, target: str, position: int, group: Sequence[Event]
) -> dict[str, Any]:
    """Return the edge of events with one outcome, its probability in terms of n."""
    share = sum((e.share for e in group), Share(0, 0))
    return edge(
        source,
        target,
        f"{event_text(law, group)}\n{share_at(position, law.unit, share)}",
        law.probability(share, position),
        group[0].moved,
    )


def _start(settings: Settings, progress: Progress) -> FigureData:
    """Explore positions 0, 1, 2 from the start; position 2 is where the diagram ends."""
    n, ell = settings.graph
    automata = paper_automata(n, ell)
    _, row = automata.place(0)
    seen: dict[tuple[int, int], None] = {(0, 0): None}
    edges = []
    queue = [(0, 0)]
    for position, pattern in queue:
        if position == 2:
            continue
        events = automata.events_at(position, pattern)
        for (moved, following), group in gathered(events).items():
            target = (position + moved, following)
            if target not in seen:
                seen[target] = None
                queue.append(target)
            ends = (_key(position, pattern), _key(*target))
            edges.append(_step(automata.law, *ends, position, group))
    row_patterns = automata.patterns[row]
    nodes = [
        node(
            _key(position, k),
            f"{position}\n{order_text(row_patterns[k], automata.law.actions)}",
            start=(position, k) == (0, 0),
            end=position == 2,
        )
        for position, k in seen
    ]
    nodes, edges = laid_out(nodes, edges, {_key(p, k): p for p, k in seen})
    name = "transitions-start"
    return FigureData(
        name=name,
        title=TITLES[name],
        kind="graph",
        nodes=nodes,
        edges=edges,
        caption=f"Position and order of the entries of row 0, explored from the start (n = {n}, "
        f"l = {ell}; the formulas hold for every n). All exact. After a first step J+ or "
        f"R+ position 1 has the probabilities of the paper's figure.",
        setting=setting_text(n, ell),
        notes={
            "n": n,
            "ell": ell,
            "reading": "L+ is LeftBridge chosen with a proposal upwards; "
            "0=L=R>J means that Q[0,J] is negative and the others are 0",
        },
    )


def _key(position: int, pattern: int) -> str:
    return f"{position}/{pattern}"


def _plateau(settings: Settings, progress: Progress) -> FigureData:
    """Walk the two plateaus with the objective learnt that climbs them."""
    n, ell = settings.objectives
    # Patterns that behave alike are merged: what is learnt then is one pattern that stays.
    automata, _ = merge_patterns(paper_automata(n, ell))
    nodes: list[dict[str, Any]] = []
    edges = []
    ranks = {}
    for action, begin, last in (("L", 0, ell), ("R", n - ell, n - 1)):
        first, pattern = _corridor(automata, action, begin, last)
        for p in range(first, last + 2):
            label = f"{p}\n{action} learnt" if p <= last else f"{p}"
            nodes.append(node(f"{action}{p}", label, start=p == first, end=p > last))
            ranks[f"{action}{p}"] = p - first
            if p <= last:
                for (moved, _), group in gathered(automata.events_at(p, pattern)).items():
                    ends = (f"{action}{p}", f"{action}{p + moved}")
                    edges.append(_step(automata.law, *ends, p, group))
    nodes, edges = laid_out(nodes, edges, ranks)
    name = "transitions-plateau"
    return FigureData(
        name=name,
        title=TITLES[name],
        kind="graph",
        nodes=nodes,
        edges=edges,
        caption=f"Left plateau with LeftBridge learnt (above) and right plateau with RightBridge "
        f"learnt (below), n = {n}, l = {ell}: from m the walk goes up with probability "
        f"(n-m)/n and never down. All exact.",
        setting=setting_text(n, ell),
        notes={"n": n, "ell": ell, "statement": "Lemma 5 (2), the paper's figure of m and m + 1"},
    )


def _corridor(automata: RowAutomata, action: str, begin: int, last: int) -> tuple[int, int]:
    """Return the first position, and the pattern, from which one objective climbs to the end."""
    stretch = Stretch(automata, begin, last, ())
    wanted = automata.law.actions.index(action)
    _, row = automata.place(begin)
    for p in range(begin, last + 1):
        for k, shown in enumerate(automata.patterns[row]):
            if shown.maximal == (wanted,) and corridor_end(stretch, p, k) == last:
                return p, k
    raise VerificationError(f"{action} is never learnt for good on the positions {begin}..{last}")


TITLES = {
    "objectives": "The three objectives",
    "transitions-start": "Transitions between the positions 0, 1 and 2",
    "transitions-plateau": "Transitions on a plateau whose objective is learnt",
}

FIGURES = (
    Figure("objectives", TITLES["objectives"], _objectives),
    Figure("transitions-start", TITLES["transitions-start"], _start),
    Figure("transitions-plateau", TITLES["transitions-plateau"], _plateau),
)
