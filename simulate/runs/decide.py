"""Exact decisions for choices that a kernel's error bounds leave open.

The kernel hands over its trace, the list of everything that happened in the run (`events`). What
happened last decides most choices (`recent`). For the others the history of each Q-entry is rebuilt
as a graph: 0; lam^k times a node; keep * node + gain + bootstrap * node; the largest of several
nodes. Nodes with equal ingredients are the same node, so entries with the same history are equal
without any arithmetic. The graph is built backwards from the entries that are asked for: most of
what happened in a run does not enter a choice.

To compare nodes that are not the same, their values are enclosed by balls of growing precision
(FLINT's exponents are unbounded, so lam^k never underflows). Balls that still overlap may belong to
histories that differ only in what a maximum passed over: with the largest in the place of every
maximum (`_settled`) they become the same node. If not, the values are computed as rationals and
compared exactly.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from simulate.runs.encoding import EncodedLaw
from simulate.runs.events import Events, since_restart
from simulate.runs.recent import enclosed

__all__ = ["History"]

_PRECISIONS = (128, 512, 2048)
_RECENT = (128, 512)

IntArray = npt.NDArray[np.int64]
HowMade = tuple[str, tuple[int, ...]]


class History:
    """The Q-table of a run as a graph of how its entries came about."""

    def __init__(self, encoded: EncodedLaw) -> None:
        self._encoded = encoded
        algorithm = encoded.step_law.algorithm
        self._keep, self._boot = algorithm.keep, algorithm.bootstrap
        self._nodes: list[HowMade] = [("zero", ())]
        self._index: dict[HowMade, int] = {self._nodes[0]: 0}
        self._trace = np.zeros((0, 6), dtype=np.int64)
        self._events = Events.of(encoded, self._trace)
        self._after: dict[int, int] = {}
        self._enclosed: dict[int, dict[int, arb]] = {}

    def _node(self, kind: str, *parts: int) -> int:
        node = (kind, parts)
        index = self._index.get(node)
        if index is None:
            index = self._index[node] = len(self._nodes)
            self._nodes.append(node)
        return index

    def entries(self, position: int) -> list[int]:
        """Return the nodes of the row that the agent sees at a position."""
        row = int(self._encoded.law.row[position])
        events = self._events
        return [self._node_of(events.last(e, len(events))) for e in events.of_row(row)]

    def _node_of(self, event: int) -> int:
        """Return the node of the value that an event made (-1: 0)."""
        if event < 0:
            return 0
        stack = [event]  # histories are long: no recursion
        while stack:
            now = stack[-1]
            if now in self._after:
                stack.pop()
                continue
            own, others = self._events.made_of(now)
            needed = [own, *others]
            missing = [part for part in needed if part >= 0 and part not in self._after]
            if missing:
                stack += missing
            else:
                self._after[now] = self._made(now, [self._after.get(part, 0) for part in needed])
                stack.pop()
        return self._after[event]

    def _made(self, event: int, parts: Sequence[int]) -> int:
        """Return the node that an event makes of an entry and of the row it looks at."""
        count = int(self._events.count[event])
        node = parts[0]
        if count == 0:
            best = self._largest_node(parts[1:]) if len(parts) > 1 else node
            return self._node("learn", node, int(self._events.gain[event]), best)
        return self._decayed(node, count)

    def _largest_node(self, parts: Iterable[int]) -> int:
        nodes = sorted(set(parts))
        return nodes[0] if len(nodes) == 1 else self._node("max", *nodes)

    def _decayed(self, node: int, count: int) -> int:
        if node == 0:
            return 0
        kind, inner = self._nodes[node]
        if kind == "decay":
            node, count = inner[0], inner[1] + count
        return self._node("decay", node, count)

    def replay(self, trace: IntArray) -> None:
        """Add the events of a trace; see `simulate.kernels.records.Written` for its columns."""
        self.follow(np.concatenate([self._trace, trace]))

    def follow(self, trace: IntArray) -> None:
        """Take a trace in the place of the one so far, and keep what both begin with."""
        trace = since_restart(trace)
        shared = min(len(trace), len(self._trace))
        differ = np.flatnonzero((trace[:shared] != self._trace[:shared]).any(axis=1))
        common = 2 * int(differ[0] if differ.size else shared)
        self._trace, self._events = trace, Events.of(self._encoded, trace)
        self._after = {event: node for event, node in self._after.items() if event < common}

    def largest(self, candidates: Iterable[int]) -> set[int]:
        """Return those of the nodes whose values are exactly the largest."""
        nodes = set(candidates)
        for bits in _PRECISIONS:
            nodes = _not_beaten(nodes, self._balls(nodes, bits))
            if len(nodes) == 1:
                return nodes
        settled = self._settled(nodes, _PRECISIONS[-1])
        if len(set(settled.values())) == 1:
            return nodes
        exact = self._rationals(set(settled.values()))
        best = max(exact[node] for node in settled.values())
        return {node for node in nodes if exact[settled[node]] == best}

    def _settled(self, nodes: set[int], bits: int) -> dict[int, int]:
        """Return nodes of the same values, with the largest in the place of every maximum."""
        values = self._balls(nodes, bits)
        same = {0: 0}
        for index in self._ancestors(nodes, same):
            kind, parts = self._nodes[index]
            if kind == "decay":
                same[index] = self._decayed(same[parts[0]], parts[1])
            elif kind == "learn":
                same[index] = self._node("learn", same[parts[0]], parts[1], same[parts[2]])
            else:
                same[index] = self._largest_node(same[i] for i in _not_beaten(set(parts), values))
        return {node: same[node] for node in nodes}

    def _ancestors(self, nodes: set[int], known: Container[int]) -> list[int]:
        """Return everything the nodes are made of but what is known, ingredients first."""
        seen = {node for node in nodes if node not in known}
        stack = list(seen)
        while stack:
            for part in self._ingredients(stack.pop()):
                if part not in seen and part not in known:
                    seen.add(part)
                    stack.append(part)
        return sorted(seen)  # a node is numbered after its ingredients

    def _ingredients(self, index: int) -> tuple[int, ...]:
        kind, parts = self._nodes[index]
        if kind == "decay":
            return parts[:1]
        return (parts[0], parts[2]) if kind == "learn" else parts

    def _balls(self, nodes: set[int], bits: int) -> dict[int, arb]:
        before = ctx.prec
        ctx.prec = bits
        try:
            values = self._enclosed.setdefault(bits, {0: arb(0)})
            keep, boot, lam = arb(self._keep), arb(self._boot), arb(self._keep + self._boot)
            for index in self._ancestors(nodes, values):
                kind, parts = self._nodes[index]
                if kind == "decay":
                    values[index] = values[parts[0]] * lam ** parts[1]
                elif kind == "learn":
                    gain = arb(self._encoded.gains[parts[1]])
                    values[index] = keep * values[parts[0]] + gain + boot * values[parts[2]]
                elif kind == "max":
                    best = values[parts[0]]
                    for part in parts[1:]:
                        best = best.max(values[part])
                    values[index] = best
            return values
        finally:
            ctx.prec = before

    def _rationals(self, nodes: set[int]) -> dict[int, fmpq]:
        values: dict[int, fmpq] = {0: fmpq(0)}
        lam = self._keep + self._boot
        for index in self._ancestors(nodes, values):
            kind, parts = self._nodes[index]
            if kind == "decay":
                values[index] = values[parts[0]] * lam ** parts[1]
            elif kind == "learn":
                values[index] = (
                    self._keep * values[parts[0]]
                    + self._encoded.gains[parts[1]]
                    + self._boot * values[parts[2]]
                )
            elif kind == "max":
                values[index] = max(values[part] for part in parts)
        return values

    def decide(self, position: int, candidates: int) -> int:
        """Return the mask of the largest entries at a position.

        Parameters
        ----------
        candidates : mask of the entries that may be largest; a proven superset of the answer
        """
        events, row = self._events, int(self._encoded.law.row[position])
        made = {
            a: events.last(entry, len(events))
            for a, entry in enumerate(events.of_row(row))
            if candidates >> a & 1
        }
        open_ = set(made.values())
        for bits in _RECENT:
            open_ = _not_beaten(open_, enclosed(self._encoded, events, open_, bits))
            if len(open_) == 1:
                return sum(1 << a for a, event in made.items() if event in open_)
        nodes = {event: self._node_of(event) for event in open_}
        best = self.largest(nodes.values())
        return sum(1 << a for a, event in made.items() if nodes.get(event) in best)


def _not_beaten(places: set[int], values: Mapping[int, arb]) -> set[int]:
    """Return the places that no other surely exceeds."""
    return {i for i in places if not any(values[j] > values[i] for j in places)}
