"""What a site of the slope remembers, and how row 0 is unlearnt on the right plateau.

A site of the slope is an automaton over the order of its row's entries. Orders that behave alike
are merged (`markov_lrsao.rows.lumping`): three to six classes are left of up to a dozen.

On the right plateau the walk meets row 0 and the row just below. The chain that the engine solves
has some sixty states; what a reader wants to know is how the order of row 0 changes: which entry
leads, and what its fall leaves behind. So states with the same order of row 0 are one *stage*. A
run goes through stages and never comes back to one; how likely it goes from one to the next, and
how long it stays, are sums over the states of the chain, exactly:

    P(a -> b) = sum over states i of a, j of b of F_i P_ij / sum over states i of a, j outside,

F_i being the expected number of steps begun in state i, from the law of the phase's start.
"""

from __future__ import annotations

from functools import partial
from graphlib import CycleError, TopologicalSorter

from flint import fmpq

from markov_lrsao.answers.profile import flow_of
from markov_lrsao.crossing.blocks import Block, Corridor, Exit, State
from markov_lrsao.crossing.decomposition import Decomposition, decompose
from markov_lrsao.crossing.generating import Evaluation, GeneratingFunction
from markov_lrsao.errors import VerificationError
from markov_lrsao.exact.rationals import harmonic_difference, rational_text, to_float
from markov_lrsao.figures.base import Figure, FigureData, Settings, setting_text
from markov_lrsao.figures.graphs import (
    edge,
    event_text,
    greedy_text,
    laid_out,
    node,
    order_text,
    share_text,
)
from markov_lrsao.figures.model import paper_automata, paper_law
from markov_lrsao.model.law import Share
from markov_lrsao.progress import Progress
from markov_lrsao.rows.automata import RowAutomata
from markov_lrsao.rows.lumping import merge_patterns
from markov_lrsao.rows.steps import gathered

__all__ = ["FIGURES", "stages"]

SITES = {
    "site-first": ("l+1", "just above the left plateau"),
    "site-second": ("l+2", "second above the left plateau"),
    "site-interior": ("l+3", "any site between l+2 and n-l-2"),
    "site-penultimate": ("n-l-2", "second below the right plateau"),
    "site-last": ("n-l-1", "just below the right plateau"),
}
_MOST_ORDERS = 2
"""Classes with more orders than this show their number."""


def _position(text: str, n: int, ell: int) -> int:
    return n - ell - int(text[4:]) if text.startswith("n-l-") else ell + int(text[2:])


def _site(name: str, settings: Settings, progress: Progress) -> FigureData:
    """Explore one site's automaton from a fresh row, orders that behave alike merged."""
    n, ell = settings.graph
    text, _ = SITES[name]
    p = _position(text, n, ell)
    every = paper_automata(n, ell)
    merged, classes = merge_patterns(every)
    _, row = merged.place(p)
    members: dict[int, list[int]] = {}
    for k, c in enumerate(classes[row]):
        if every.is_met(p, k):
            members.setdefault(c, []).append(k)
    seen = [0]
    edges = []
    for c in seen:
        for (moved, to), group in gathered(merged.events_at(p, c)).items():
            if to not in seen:
                seen.append(to)
            share = sum((e.share for e in group), Share(0, 0))
            events = _events(every, p, members[c], classes[row], (moved, to))
            label = f"{events}\n{share_text(every.law.unit, share)}"
            edges.append(edge(str(c), str(to), label, merged.law.probability(share, p), moved))
    nodes = [node(str(c), _class_label(every, row, members[c]), start=c == 0) for c in seen]
    nodes, edges = laid_out(nodes, edges)
    return FigureData(
        name=name,
        title=_site_title(name),
        kind="graph",
        nodes=nodes,
        edges=edges,
        caption=f"What position p = {text} remembers: the entries of its row that are largest, as "
        f"a set, and the order of all entries and 0 below it; orders that behave alike are one "
        f"box. J+ is J chosen with a proposal upwards. Probabilities are exact and hold for "
        f"every n and l; in the data they are those of p = {p}.",
        setting=setting_text(n, ell, f"p = {p}"),
        notes={
            "n": n,
            "ell": ell,
            "position": p,
            "orders": {
                str(c): [order_text(every.patterns[row][k], every.law.actions) for k in members[c]]
                for c in seen
            },
        },
    )


def _class_label(automata: RowAutomata, row: int, members: list[int]) -> str:
    """Return whom the members of a class choose from, and their orders if they are few."""
    shown = [automata.patterns[row][k] for k in members]
    names = automata.law.actions
    sets = dict.fromkeys(greedy_text(pattern, names) for pattern in shown)
    orders = dict.fromkeys(order_text(pattern, names) for pattern in shown)
    few = len(orders) <= _MOST_ORDERS
    return f"{' or '.join(sets)}\n{', '.join(orders) if few else f'{len(orders)} orders'}"


def _events(
    automata: RowAutomata, p: int, members: list[int], classes: list[int], outcome: tuple[int, int]
) -> str:
    """Return what leads to an outcome, for each member of a class that tells it differently."""
    found: dict[str, None] = {}
    for k in members:
        group = [e for e in automata.events_at(p, k) if (e.moved, classes[e.following]) == outcome]
        found[event_text(automata.law, group)] = None
    return " or ".join(found)


def _site_title(name: str) -> str:
    text, where = SITES[name]
    return f"What position {text} remembers, {where}"


# -- the right plateau ---------------------------------------------------------------------------


def stages(d: Decomposition) -> tuple[dict[str, tuple[fmpq, fmpq]], dict[tuple[str, str], fmpq]]:
    """Return how row 0 changes in phase 3.

    Returns
    -------
    stage -> (probability of ever being there, expected steps there), and (stage, next stage) ->
    probability that a run makes this change; "optimum" is the last stage.
    """
    tail = d.tail
    assert tail is not None  # Jump's right plateau always has one
    function = GeneratingFunction(d, Evaluation(exact=True, order=0))
    source: dict[int, fmpq] = {}
    for key, i in d.tail_start.items():
        source[i] = source.get(i, fmpq(0)) + function.probability_of_ends({key})
    flow = flow_of(tail, source, back=False)
    name = [_stage(tail, state) for state in tail.states]
    steps: dict[str, fmpq] = {}
    changes: dict[tuple[str, str], fmpq] = {}
    entered: dict[str, fmpq] = {}
    for i, amount in source.items():
        entered[name[i]] = entered.get(name[i], fmpq(0)) + amount
    for i, amount in enumerate(flow):
        for target, weight in tail.edges[i]:
            part = amount * tail.probability(i, weight)
            long = _corridor_steps(weight, d.law.n) if isinstance(weight, Corridor) else fmpq(1)
            steps[name[i]] = steps.get(name[i], fmpq(0)) + part * long
            to = "optimum" if isinstance(target, Exit) else name[target]
            if to != name[i] and part != 0:
                changes[name[i], to] = changes.get((name[i], to), fmpq(0)) + part
                entered[to] = entered.get(to, fmpq(0)) + part
    try:
        order = tuple(
            TopologicalSorter(
                {b: [a for a, other in changes if other == b] for b in entered}
            ).static_order()
        )
    except CycleError as error:  # the numbers would be means of numbers of changes then
        raise VerificationError("a run can come back to a stage of row 0") from error
    return {s: (entered[s], steps.get(s, fmpq(0))) for s in order}, changes


def _corridor_steps(corridor: Corridor, n: int) -> fmpq:
    """Return the mean number of steps up a corridor: n (1/(n-first) + .. + 1/(n-last))."""
    return fmpq(n) * harmonic_difference(n - corridor.last - 1, n - corridor.first)


def _stage(block: Block, state: State) -> str:
    """Return the order of row 0; where RightBridge leads alone, it does so for good."""
    automata, rows = block.stretch.automata, block.stretch.rows
    shared = int(automata.law.row[block.law.n - 1])
    pattern = automata.patterns[automata.class_of(shared)][state.patterns[rows.index(shared)]]
    if [automata.law.actions[i] for i in pattern.maximal] == ["R"]:
        return "R leads"
    return order_text(pattern, automata.law.actions)


def _right(settings: Settings, progress: Progress) -> FigureData:
    n, ell = settings.graph
    with progress("right plateau", total=1) as bar:
        d = decompose(paper_law(n, ell), paper_automata(n, ell))
        found, changes = stages(d)
        bar.advance()
    starts = {_stage(d.tail, d.tail.states[i]) for i in d.tail_start.values()} if d.tail else set()
    nodes = [
        node(
            name,
            name if name == "optimum" else _stage_label(name, *found[name]),
            start=name in starts,
            end=name == "optimum",
        )
        for name in found
    ]
    leaving = {a: sum((w for (s, _), w in changes.items() if s == a), fmpq(0)) for a in found}
    edges = [
        edge(a, b, _decimal(to_float(w / leaving[a])), w / leaving[a])
        for (a, b), w in changes.items()
    ]
    nodes, edges = laid_out(nodes, edges)
    total = sum((steps for _, steps in found.values()), fmpq(0))
    return FigureData(
        name="right-plateau",
        title=TITLE,
        kind="graph",
        nodes=nodes,
        edges=edges,
        caption=f"The order of row 0 in phase 3, from the first hit of n-l to the optimum: what "
        f"share of the runs is ever there, and the expected number of steps there; they add up "
        f"to E[T3] = {to_float(total):.6g}. An arrow has the probability that the order changes "
        f"so next. No order comes back. All exact; fractions are in the data.",
        setting=setting_text(n, ell),
        notes={
            "n": n,
            "ell": ell,
            "states": len(d.tail.states) if d.tail else 0,
            "E[T3]": rational_text(total),
            "stages": {
                name: {"probability": rational_text(p), "steps": rational_text(steps)}
                for name, (p, steps) in found.items()
            },
        },
    )


def _stage_label(name: str, probability: fmpq, steps: fmpq) -> str:
    share = f"{100 * to_float(probability):.3g}% of runs"
    return f"{name}\n{share}\n{to_float(steps):.3g} steps"


def _decimal(value: float) -> str:
    """Return a probability in three digits.

    >>> _decimal(1.0), _decimal(0.23456), _decimal(0.01234)
    ('1', '0.235', '0.0123')
    """
    return f"{value:.3g}"


TITLE = "Unlearning on the right plateau: how the order of row 0 changes"

FIGURES = (
    *(Figure(name, _site_title(name), partial(_site, name)) for name in SITES),
    Figure("right-plateau", TITLE, _right),
)
