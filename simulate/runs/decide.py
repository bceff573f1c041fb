"""Exact decisions for choices that a kernel's error bounds leave open.

The kernel hands over its trace, the list of everything that happened in the run. From it the
history of each Q-entry is rebuilt as a graph: 0; lam^k times a node; keep * node + gain +
bootstrap * node; the largest of several nodes. Nodes with equal ingredients are the same node,
so entries with the same history are equal without any arithmetic. A run that needs several
decisions is followed once: of a longer trace only the new lines are read.

To compare nodes that are not the same, their values are enclosed by balls of growing precision
(FLINT's exponents are unbounded, so lam^k never underflows); if the balls still overlap at
`_LARGEST_PRECISION` bits, the values are computed as rationals and compared exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from simulate.runs.encoding import EncodedLaw

__all__ = ["History"]

_PRECISIONS = (128, 512, 2048)
_LARGEST_PRECISION = _PRECISIONS[-1]

HowMade = tuple[str, tuple[int, ...]]


class History:
    """The Q-table of a run as a graph of how its entries came about."""

    def __init__(self, encoded: EncodedLaw) -> None:
        self._encoded = encoded
        algorithm = encoded.step_law.algorithm
        self._keep, self._boot = algorithm.keep, algorithm.bootstrap
        self._nodes: list[HowMade] = [("zero", ())]
        self._index: dict[HowMade, int] = {self._nodes[0]: 0}
        actions = len(encoded.law.each)
        self._rows: dict[int, list[int]] = defaultdict(lambda: [0] * actions)
        self._read = 0  # lines of the trace that are settled
        self._undo: tuple[int, list[int]] | None = None
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
        return list(self._rows[int(self._encoded.law.row[position])])

    def _reject(self, row: list[int], action: int, count: int) -> None:
        node = row[action]
        if node == 0 or count == 0:
            return
        kind, parts = self._nodes[node]
        if kind == "decay":
            node, count = parts[0], parts[1] + count
        row[action] = self._node("decay", node, count)

    def _learn(self, row: list[int], action: int, gain: int, target: list[int]) -> None:
        best = node = row[action]
        if target is not row:
            others = set(target)
            best = target[0] if len(others) == 1 else self._node("max", *sorted(others))
        row[action] = self._node("learn", node, gain, best)

    def follow(self, trace: npt.NDArray[np.int64]) -> None:
        """Apply the events of a run's trace, which may have been followed before, up to a line.

        The last line may have grown since, as rejections share a line: it is read again.
        """
        if self._undo is not None:
            row, entries = self._undo
            self._rows[row] = entries
        self.replay(trace[self._read : -1])
        position = int(trace[-1, 1]) if len(trace) else -1
        self._undo, self._read = None, len(trace)
        if position >= 0:
            row = int(self._encoded.law.row[position])
            self._undo, self._read = (row, list(self._rows[row])), len(trace) - 1
        self.replay(trace[-1:])

    def replay(self, trace: npt.NDArray[np.int64]) -> None:
        """Apply events; see `simulate.kernels.records.Written` for their columns."""
        law, rows = self._encoded.law, self._rows
        place, action, direction = trace[:, 1], trace[:, 4], trace[:, 5]
        made = (place >= 0) & (action >= 0)
        at = np.where(made, place, 0), np.where(made, action, 0), np.where(made, direction, 0)
        after = law.row[np.clip(at[0] + 2 * at[2] - 1, 0, law.n)]
        gain, accepted = law.gain[at], law.accepted[at]
        free = np.array([value == 0 for value in self._encoded.gains])[gain]
        columns = (law.row[np.maximum(place, 0)], trace[:, 2], trace[:, 3], action, gain, after)
        for p, taken, quiet, row, mask, rejections, chosen, gained, target in zip(
            *(column.tolist() for column in (place, accepted, free, *columns)), strict=True
        ):
            if p < 0:  # a restart forgets everything
                rows.clear()
                continue
            here = rows[row]
            if rejections and mask & (mask - 1) == 0:
                self._reject(here, mask.bit_length() - 1, rejections)
            if chosen < 0:
                continue
            if taken:
                self._learn(here, chosen, gained, rows[target])
            elif quiet:
                self._reject(here, chosen, 1)
            else:
                self._learn(here, chosen, gained, here)

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
        entries = self.entries(position)
        open_ = [a for a in range(len(entries)) if candidates >> a & 1]
        best = self.largest(entries[a] for a in open_)
        return sum(1 << a for a in open_ if entries[a] in best)
