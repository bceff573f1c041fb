"""Exact decisions for choices that a kernel's error bounds leave open.

The kernel hands over its trace, the list of everything that happened in the run. From it the
history of each Q-entry is rebuilt as a graph: 0; lam^k times a node; keep * node + gain +
bootstrap * node; the largest of several nodes. Nodes with equal ingredients are the same node,
so entries with the same history are equal without any arithmetic.

To compare nodes that are not the same, their values are enclosed by balls of growing precision
(FLINT's exponents are unbounded, so lam^k never underflows); if the balls still overlap at
`_LARGEST_PRECISION` bits, the values are computed as rationals and compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterable

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
        law = encoded.law
        self._rows = np.zeros((law.rows, len(law.each)), dtype=np.int64)

    def _node(self, kind: str, *parts: int) -> int:
        node = (kind, parts)
        index = self._index.get(node)
        if index is None:
            index = self._index[node] = len(self._nodes)
            self._nodes.append(node)
        return index

    def entries(self, position: int) -> list[int]:
        """Return the nodes of the row that the agent sees at a position."""
        return [int(node) for node in self._rows[self._encoded.law.row[position]]]

    def _reject(self, row: int, action: int, count: int) -> None:
        node = int(self._rows[row, action])
        if node == 0 or count == 0:
            return
        kind, parts = self._nodes[node]
        if kind == "decay":
            node, count = parts[0], parts[1] + count
        self._rows[row, action] = self._node("decay", node, count)

    def _learn(self, row: int, action: int, gain: int, target: int) -> None:
        node = int(self._rows[row, action])
        if target == row:
            best = node
        else:
            others = sorted({int(other) for other in self._rows[target]})
            best = others[0] if len(others) == 1 else self._node("max", *others)
        self._rows[row, action] = self._node("learn", node, gain, best)

    def replay(self, trace: npt.NDArray[np.int64]) -> None:
        """Apply the events of a trace; see `simulate.kernels.records.Written` for its columns."""
        law = self._encoded.law
        gains = self._encoded.gains
        for _, p, mask, rejections, action, direction in trace.tolist():
            if p < 0:  # a restart forgets everything
                self._rows[:] = 0
                continue
            row = int(law.row[p])
            if rejections and mask & (mask - 1) == 0:
                self._reject(row, mask.bit_length() - 1, rejections)
            if action < 0:
                continue
            gain = int(law.gain[p, action, direction])
            if law.accepted[p, action, direction]:
                self._learn(row, action, gain, int(law.row[p + 2 * direction - 1]))
            elif gains[gain] == 0:
                self._reject(row, action, 1)
            else:
                self._learn(row, action, gain, row)

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

    def _ancestors(self, nodes: set[int]) -> list[int]:
        """Return everything the nodes are made of, ingredients first."""
        seen, stack = set(nodes), list(nodes)
        while stack:
            for part in self._ingredients(stack.pop()):
                if part not in seen:
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
            values: dict[int, arb] = {0: arb(0)}
            keep, boot, lam = arb(self._keep), arb(self._boot), arb(self._keep + self._boot)
            for index in self._ancestors(nodes):
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
        for index in self._ancestors(nodes):
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
