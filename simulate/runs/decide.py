"""Exact decisions for choices that a kernel's error bounds leave open.

The kernel hands over its trace, the list of everything that happened in the run. From it the
history of each Q-entry is rebuilt as a graph: 0; lam^k times a node; keep * node + gain +
bootstrap * node; the largest of several nodes. Nodes with equal ingredients are the same node,
so entries with the same history are equal without any arithmetic. The graph is built backwards from
the entries that are asked for: most of what happened in a run does not enter a choice.

To compare nodes that are not the same, their values are enclosed by balls of growing precision
(FLINT's exponents are unbounded, so lam^k never underflows); if the balls still overlap at
`_LARGEST_PRECISION` bits, the values are computed as rationals and compared exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from simulate.runs.encoding import EncodedLaw

__all__ = ["History"]

_PRECISIONS = (128, 512, 2048)
_LARGEST_PRECISION = _PRECISIONS[-1]

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
        self._actions = encoded.law.actions
        self._free = np.array([value == 0 for value in encoded.gains])
        self._trace = np.zeros((0, 6), dtype=np.int64)
        # What happened, in order: the entry (row * actions + action; -1: none), how often it was
        # rejected (0: it was learnt from a gain), the gain, and the row whose maximum entered (-1:
        # its own). All changes of an entry stand together in `_changes`, as entry * events + event.
        self._events: tuple[IntArray, ...] = (np.zeros(0, dtype=np.int64),) * 4
        self._changes: list[int] = []
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
        return [self._before(entry, len(self._events[0])) for entry in self._of_row(row)]

    def _of_row(self, row: int) -> range:
        return range(row * self._actions, (row + 1) * self._actions)

    def _last(self, entry: int, event: int) -> int:
        """Return the last event before `event` that changed an entry, or -1."""
        first = entry * len(self._events[0])
        place = bisect_left(self._changes, first + event) - 1
        return self._changes[place] - first if place >= 0 and self._changes[place] >= first else -1

    def _before(self, entry: int, event: int) -> int:
        """Return the node of an entry before an event."""
        last = self._last(entry, event)
        if last < 0:
            return 0
        stack = [last]  # histories are long: no recursion
        while stack:
            now = stack[-1]
            if now in self._after:
                stack.pop()
                continue
            own, count, _, target = (int(column[now]) for column in self._events)
            parts = [own] if count or target < 0 else [own, *self._of_row(target)]
            needed = [self._last(part, now) for part in parts]
            missing = [part for part in needed if part >= 0 and part not in self._after]
            if missing:
                stack += missing
            else:
                self._after[now] = self._made(now, [self._after.get(part, 0) for part in needed])
                stack.pop()
        return self._after[last]

    def _made(self, event: int, parts: Sequence[int]) -> int:
        """Return the node that an event makes of an entry and of the row it looks at."""
        _, count, gain, target = (int(column[event]) for column in self._events)
        node = best = parts[0]
        if count == 0:
            if target >= 0:
                others = sorted(set(parts[1:]))
                best = others[0] if len(others) == 1 else self._node("max", *others)
            return self._node("learn", node, gain, best)
        if node == 0:
            return 0
        kind, inner = self._nodes[node]
        if kind == "decay":
            node, count = inner[0], inner[1] + count
        return self._node("decay", node, count)

    def replay(self, trace: npt.NDArray[np.int64]) -> None:
        """Add the events of a trace; see `simulate.kernels.records.Written` for its columns."""
        law = self._encoded.law
        trace = np.concatenate([self._trace, trace])
        restarts = np.flatnonzero(trace[:, 1] < 0)
        if restarts.size:  # it forgets everything
            trace = trace[restarts[-1] + 1 :]
        self._trace = trace
        _, place, mask, rejections, chosen, direction = trace.T
        made = chosen >= 0
        at = law.kind[place], np.where(made, chosen, 0), np.where(made, direction, 0)
        row, gain = law.row[place].astype(np.int64), law.gain[at].astype(np.int64)
        accepted = law.accepted[at] != 0
        after = law.row[np.clip(place + 2 * at[2] - 1, 0, law.n)]
        decays = (rejections > 0) & (mask & (mask - 1) == 0)
        only = np.log2(np.maximum(mask, 1)).astype(np.int64)  # powers of two are exact
        none, zero = np.full(len(trace), -1), np.zeros(len(trace), dtype=np.int64)
        first = row * self._actions
        # A line has two events: its rejections, and then what was proposed at last.
        pairs = (
            (np.where(decays, first + only, none), np.where(made, first + at[1], none)),
            (rejections, (made & ~accepted & self._free[gain]).astype(np.int64)),
            (zero, gain),
            (none, np.where(accepted & (after != row), after, none)),
        )
        self._events = tuple(np.stack(pair, axis=1).ravel() for pair in pairs)
        entry = self._events[0]
        changed = np.flatnonzero(entry >= 0)
        self._changes = np.sort(entry[changed] * len(entry) + changed).tolist()
        self._after.clear()

    def largest(self, candidates: Iterable[int]) -> set[int]:
        """Return those of the nodes whose values are exactly the largest."""
        nodes = set(candidates)
        for bits in _PRECISIONS:
            values = self._balls(nodes, bits)
            nodes = {i for i in nodes if not any(values[j] > values[i] for j in nodes)}
            if len(nodes) == 1:
                return nodes
        exact = self._rationals(nodes)
        best = max(exact[i] for i in nodes)
        return {i for i in nodes if exact[i] == best}

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
        row, now = int(self._encoded.law.row[position]), len(self._events[0])
        entries = {
            a: self._before(entry, now)
            for a, entry in enumerate(self._of_row(row))
            if candidates >> a & 1
        }
        best = self.largest(entries.values())
        return sum(1 << a for a, node in entries.items() if node in best)
